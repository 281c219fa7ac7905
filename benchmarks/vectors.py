"""Searches by vectors, beside numpy, faiss and usearch in the same run: the whole set, neighbourhoods, masks.

    python benchmarks/vectors.py [--size XS|S|L] [--json FILE] [--queries N] [--graphs] [--embed]

One thread throughout. The vectors are drawn: clustered, with a spectrum that falls as that of sentence vectors does.
The truth is the ten nearest in float32. Engines take turns, three rounds; a query's time is the least of the three.
`--graphs` also builds the HNSW graphs of faiss and usearch, which takes a minute at S; `--embed` measures how many
texts a second the local embedder takes. A peer that is not installed is left out.
"""

from __future__ import annotations

import argparse
import importlib.util
import os
import tempfile
import time
from collections.abc import Callable, Iterator, Mapping
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")  # before numpy is loaded: one thread is one thread
os.environ.setdefault("OMP_NUM_THREADS", "1")

import numpy as np
from numpy.typing import NDArray

from orienteer.index.arrays import Folder, Rows
from orienteer.index.vectors import VectorIndex, create_halves, write_index
from report import Report, Target

Floats = NDArray[np.float32]
Search = Callable[[Floats], NDArray[Any]]
"""Gives the nearest rows of a query, best first."""

SIZES = {"XS": 20_000, "S": 129_375, "L": 1_872_968}
DIMENSION = 384
K = 10
ROUNDS = 3
AMONG = (10, 1_000, 20_000, 200_000)
BLOCK = 50_000
MEGABYTE = 1_000_000
TEXTS = 100  # that are embedded
TARGETS = {
    "of the 10 nearest missed": Target(0.03),
    "whole set, p50": Target(1, "numpy"),
}


class Data(NamedTuple):
    """Vectors and what is asked of them."""

    vectors: Floats
    queries: Floats
    truth: NDArray[np.int64]


def draw(count: int, queries: int) -> Data:
    """Draw vectors, queries from the same clusters, and find the true nearest."""
    random = np.random.default_rng(5)
    spectrum = (1 / np.arange(1, DIMENSION + 1) ** 0.35).astype(np.float32)
    turn = np.linalg.qr(random.standard_normal((DIMENSION, DIMENSION)))[0].astype(np.float32)
    centers = random.standard_normal((2_000, DIMENSION)).astype(np.float32)

    def some(number: int) -> Floats:
        own = random.standard_normal((number, DIMENSION), dtype=np.float32)
        found = ((0.75 * centers[random.integers(0, len(centers), number)] + own) * spectrum) @ turn
        return np.asarray(found / np.linalg.norm(found, axis=1, keepdims=True), np.float32)

    vectors = np.empty((count, DIMENSION), np.float32)
    for start in range(0, count, BLOCK):
        vectors[start : start + BLOCK] = some(min(BLOCK, count - start))
    asked = some(queries)
    return Data(vectors, asked, np.stack([nearest(vectors @ query) for query in asked]))


def nearest(scores: NDArray[Any]) -> NDArray[np.int64]:
    """Return where the highest scores stand, best first."""
    few = np.argpartition(scores, -K)[-K:] if len(scores) > K else np.arange(len(scores))
    return np.asarray(few[np.argsort(-scores[few])], np.int64)


def build(data: Data, folder: Path, report: Report) -> VectorIndex:
    """Write our index, and open it."""
    halves = create_halves(folder, *data.vectors.shape)
    for start in range(0, len(halves), BLOCK):
        halves[start : start + BLOCK] = data.vectors[start : start + BLOCK]
    started = time.perf_counter()
    write_index(folder, np.arange(len(halves) + 1), halves)
    report.add("build", time.perf_counter() - started, "s")
    sizes = {file.name: file.stat().st_size / MEGABYTE for file in folder.iterdir()}
    report.add("disk", sum(sizes.values()), "MB", peer="float32", peer_value=data.vectors.nbytes / MEGABYTE)
    report.add("disk that a search reads through", sizes["sign.u8"], "MB")
    started = time.perf_counter()
    index = VectorIndex(Folder(folder), DIMENSION)
    report.add("open", 1e3 * (time.perf_counter() - started), "ms")
    return index


def has(package: str) -> bool:
    """Tell whether a peer is installed."""
    return importlib.util.find_spec(package) is not None


def peers(data: Data, *, graphs: bool) -> Iterator[tuple[str, Search]]:
    """Give the other engines that are installed."""
    yield "numpy", lambda query: nearest(data.vectors @ query)
    if has("faiss"):
        yield from _faiss(data, graphs=graphs)
    if has("usearch"):
        yield from _usearch(data, graphs=graphs)


def _faiss(data: Data, *, graphs: bool) -> Iterator[tuple[str, Search]]:
    import faiss

    faiss.omp_set_num_threads(1)
    for kind in ("Flat", "SQ8", *(("HNSW16,SQfp16",) if graphs else ())):
        index: Any = faiss.index_factory(DIMENSION, kind, faiss.METRIC_INNER_PRODUCT)
        if kind.startswith("HNSW"):
            index.hnsw.efConstruction, index.hnsw.efSearch = 96, 128
        index.train(data.vectors[:60_000])
        index.add(data.vectors)
        yield f"faiss {kind}", partial(_ask_faiss, index)


def _ask_faiss(index: Any, query: Floats) -> NDArray[Any]:  # Any: a class of somebody else's
    return np.asarray(index.search(query[None], K)[1][0])


def _usearch(data: Data, *, graphs: bool) -> Iterator[tuple[str, Search]]:
    from usearch.index import Index, search

    halves = data.vectors.astype(np.float16)
    yield (
        "usearch exact f16",
        lambda query: search(halves, query.astype(np.float16), K, "ip", exact=True, threads=1).keys,
    )
    if graphs:
        index = Index(ndim=DIMENSION, metric="ip", dtype="f16", connectivity=16, expansion_add=96, expansion_search=128)
        index.add(np.arange(len(halves)), halves, threads=1)
        yield "usearch HNSW f16", lambda query: index.search(query, K, threads=1).keys


class Timed(NamedTuple):
    """What a set of searches took, and found."""

    p50: float
    p95: float
    missed: float


def timed(searches: Mapping[str, Search], queries: Floats, truth: NDArray[np.int64]) -> dict[str, Timed]:
    """Run every query by every engine in turn, three times, after one round to warm up."""
    found: dict[str, list[NDArray[Any]]] = {}
    least = {name: np.full(len(queries), np.inf) for name in searches}
    for turn in range(ROUNDS + 1):
        for name, search in searches.items():
            for place, query in enumerate(queries):
                started = time.perf_counter()
                rows = search(query)
                taken = 1e3 * (time.perf_counter() - started)
                if turn:
                    least[name][place] = min(least[name][place], taken)
                else:
                    found.setdefault(name, []).append(rows)
    return {
        name: Timed(
            float(np.percentile(least[name], 50)),
            float(np.percentile(least[name], 95)),
            1 - float(np.mean([len(set(got) & set(true)) / len(true) for got, true in zip(rows, truth, strict=True)])),
        )
        for name, rows in found.items()
    }


def compare(name: str, ours: Search, others: Mapping[str, Search], queries: Floats, truth: Any, report: Report) -> None:
    """Report one kind of search: ours beside each of the others."""
    took = timed({"orienteer": ours, **others}, queries, truth)
    mine = took.pop("orienteer")
    for peer, theirs in took.items():
        report.add(f"{name}, p50", mine.p50, "ms", peer=peer, peer_value=theirs.p50)
        report.add(f"{name}, p95", mine.p95, "ms", peer=peer, peer_value=theirs.p95)
        print(f"{'':52} missed: {mine.missed:.4f} ours, {theirs.missed:.4f} {peer}")
    report.add("of the 10 nearest missed" if name == "whole set" else f"{name}, missed", mine.missed, "share")


def restricted(index: VectorIndex, data: Data, report: Report) -> None:
    """Compare searches among some of the rows, and under a mask."""
    random = np.random.default_rng(7)
    count = len(data.vectors)
    for size in (one for one in AMONG if one < count):
        among: Rows = np.sort(random.choice(count, size, replace=False)).astype(np.int32)
        truth = np.stack([among[nearest(data.vectors[among] @ query)] for query in data.queries])
        plain = partial(_gather, data.vectors, among)
        compare(f"among {size:,}", partial(_among, index, among), {"numpy": plain}, data.queries, truth, report)
    mask = random.random(count) < 0.5
    rows = np.flatnonzero(mask)
    truth = np.stack([rows[nearest((data.vectors @ query)[rows])] for query in data.queries])
    compare(
        "under a mask of half",
        lambda query: index.search(query, K, mask=mask).rows,
        {"numpy": lambda query: rows[nearest((data.vectors @ query)[rows])]},
        data.queries,
        truth,
        report,
    )


def _among(index: VectorIndex, among: Rows, query: Floats) -> NDArray[Any]:
    return index.search(query, K, among=among).rows


def _gather(vectors: Floats, among: Rows, query: Floats) -> NDArray[Any]:
    return np.asarray(among[nearest(vectors[among] @ query)])


def embed(report: Report) -> None:
    """Measure the local embedder on texts of some 130 tokens."""
    from orienteer.index.embedders import open_embedder

    words = np.array(["river", "city", "people", "market", "winter", "story", "captain", "music", "paper", "silver"])
    random = np.random.default_rng(1)
    texts = [" ".join(random.choice(words, 125)) for _ in range(TEXTS)]
    embedder = open_embedder("minilm")
    embedder.embed(texts[:3], kind="document")
    started = time.perf_counter()
    embedder.embed(texts, kind="document")
    report.add("embedding by minilm", TEXTS / (time.perf_counter() - started), "1/s")
    started = time.perf_counter()
    embedder.embed(["which captain sold salt in winter?"], kind="query")
    report.add("embedding a question", 1e3 * (time.perf_counter() - started), "ms")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--size", choices=SIZES, default="XS")
    parser.add_argument("--json", type=Path, metavar="FILE", help="write the figures there")
    parser.add_argument("--queries", type=int, default=40, metavar="N")
    parser.add_argument("--graphs", action="store_true", help="compare with HNSW graphs too")
    parser.add_argument("--embed", action="store_true", help="measure the local embedder too")
    options = parser.parse_args()
    report = Report(TARGETS)
    data = draw(SIZES[options.size], options.queries)
    with tempfile.TemporaryDirectory() as folder:
        index = build(data, Path(folder), report)
        others = dict(peers(data, graphs=options.graphs))
        compare("whole set", lambda query: index.search(query, K).rows, others, data.queries, data.truth, report)
        exact = VectorIndex(Folder(Path(folder)), DIMENSION, is_exact=True)
        numpy = {"numpy": others["numpy"]}
        compare("every byte", lambda query: exact.search(query, K).rows, numpy, data.queries, data.truth, report)
        restricted(index, data, report)
    if options.embed:
        embed(report)
    if options.json:
        report.write(options.json)


if __name__ == "__main__":
    main()
