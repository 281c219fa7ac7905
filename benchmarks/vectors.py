"""Searches by vectors, beside numpy, faiss and usearch in the same run: the whole set, neighbourhoods, masks.

    python benchmarks/vectors.py [--size XS|S|M|L] [--json FILE] [--queries N] [--graphs] [--embed]

One thread throughout. The vectors are drawn: clustered, with a spectrum that falls as that of sentence vectors does.
The truth is the ten nearest in float32. Engines take turns, three rounds; a query's time is the least of the three.
Sizes are those of the files, which a peer holds in memory and we do not. `--graphs` also builds the HNSW graphs of
faiss and usearch, which takes minutes at S and hours at L; `--embed` measures how many texts a second the local
embedder takes, by threads, and nothing else. A peer that is not installed is left out.
"""

from __future__ import annotations

import importlib.util
import math
import os
import tempfile
import time
from collections.abc import Callable, Iterator, Mapping
from functools import partial
from importlib import import_module
from pathlib import Path
from typing import Any, NamedTuple

os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")  # before numpy is loaded: one thread is one thread
os.environ.setdefault("OMP_NUM_THREADS", "1")

import numpy as np
from numpy.typing import NDArray

from orienteer.index.arrays import Folder, Rows
from orienteer.index.vectors import VectorIndex, create_halves, write_index
from report import Report, Target, command_line, timed

Floats = NDArray[np.float32]
Search = Callable[[Floats], NDArray[Any]]
"""Gives the nearest rows of a query, best first."""

SIZES = {"XS": 20_000, "S": 129_375, "M": 500_000, "L": 1_872_968}
DIMENSION = 384
K = 10
AMONG = (10, 1_000, 20_000, 200_000)
BLOCK = 50_000
MEGABYTE = 1_000_000
TEXTS = 100  # that are embedded
PROBES = 64  # lists that an inverted file looks into
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


class Engine(NamedTuple):
    """A way to search, ready for use."""

    name: str
    search: Search
    seconds: float
    """What building it took."""
    megabytes: float
    """The size of its files."""


def build(data: Data, folder: Path, report: Report) -> Engine:
    """Write our index, and open it."""
    halves = create_halves(folder, *data.vectors.shape)
    for start in range(0, len(halves), BLOCK):
        halves[start : start + BLOCK] = data.vectors[start : start + BLOCK]
    started = time.perf_counter()
    write_index(folder, np.arange(len(halves) + 1), halves)
    seconds = time.perf_counter() - started
    sizes = {file.name: file.stat().st_size / MEGABYTE for file in folder.iterdir()}
    report.add("disk that a search reads through", sizes["sign.u8"], "MB")
    started = time.perf_counter()
    index = VectorIndex(Folder(folder), DIMENSION)
    report.add("open", 1e3 * (time.perf_counter() - started), "ms")
    started = time.perf_counter()
    report.add("recall as it is measured at the making", index.measure(np.random.default_rng(0)), "share")
    report.add("measuring it", time.perf_counter() - started, "s")
    return Engine("orienteer", lambda query: index.search(query, K).rows, seconds, sum(sizes.values()))


def has(package: str) -> bool:
    """Tell whether a peer is installed."""
    return importlib.util.find_spec(package) is not None


def built(name: str, make: Callable[[], tuple[Search, float]]) -> Engine:
    """Build a peer, timed; it gives how it searches and its size in bytes."""
    started = time.perf_counter()
    search, size = make()
    return Engine(name, search, time.perf_counter() - started, size / MEGABYTE)


def peers(data: Data, *, graphs: bool) -> Iterator[Engine]:
    """Give the other engines that are installed."""
    yield Engine("numpy", lambda query: nearest(data.vectors @ query), 0.0, data.vectors.nbytes / MEGABYTE)
    if has("faiss"):
        lists = f"IVF{2 * math.isqrt(len(data.vectors))},SQ8"
        for kind in ("Flat", "SQ8", lists, *(("HNSW16,SQfp16",) if graphs else ())):
            yield built(f"faiss {kind}", partial(_faiss, data, kind))
    if has("usearch"):
        yield built("usearch exact f16", partial(_usearch_exact, data))
        if graphs:
            yield built("usearch HNSW f16", partial(_usearch_graph, data))


def _faiss(data: Data, kind: str) -> tuple[Search, float]:
    faiss: Any = import_module("faiss")  # Any: its types lack half of it
    faiss.omp_set_num_threads(1)
    index = faiss.index_factory(DIMENSION, kind, faiss.METRIC_INNER_PRODUCT)
    if kind.startswith("HNSW"):
        index.hnsw.efConstruction, index.hnsw.efSearch = 96, 128
    if kind.startswith("IVF"):
        index.nprobe = PROBES
    index.train(data.vectors[:60_000])
    for start in range(0, len(data.vectors), BLOCK):
        index.add(data.vectors[start : start + BLOCK])
    size = 0

    def count(part: bytes) -> int:
        nonlocal size
        size += len(part)
        return len(part)

    faiss.write_index(index, faiss.PyCallbackIOWriter(count))
    return lambda query: np.asarray(index.search(query[None], K)[1][0]), size


def _usearch_exact(data: Data) -> tuple[Search, float]:
    from usearch.index import search

    halves = data.vectors.astype(np.float16)

    def ask(query: Floats) -> NDArray[Any]:
        return np.asarray(search(halves, query.astype(np.float16), K, "ip", exact=True, threads=1).keys)

    return ask, halves.nbytes


def _usearch_graph(data: Data) -> tuple[Search, float]:
    from usearch.index import Index

    index = Index(ndim=DIMENSION, metric="ip", dtype="f16", connectivity=16, expansion_add=96, expansion_search=128)
    index.add(np.arange(len(data.vectors)), data.vectors, threads=1)
    return lambda query: np.asarray(index.search(query, K, threads=1).keys), index.serialized_length


class Asked(NamedTuple):
    """Queries, and what they should find."""

    queries: Floats
    truth: NDArray[Any]


def compare(name: str, engines: Mapping[str, Search], data: Asked, report: Report) -> None:
    """Report one kind of search: ours, the first, beside each of the others."""
    took = timed({label: (search, [*data.queries]) for label, search in engines.items()})
    (mine, *theirs) = took.items()
    for peer, other in theirs:
        report.add(f"{name}, p50", mine[1].p50, "ms", peer=peer, peer_value=other.p50)
        report.add(f"{name}, p95", mine[1].p95, "ms", peer=peer, peer_value=other.p95)
        missed = (_missed(one.answers, data.truth) for one in (mine[1], other))
        report.add(f"{name}, missed", next(missed), "share", peer=peer, peer_value=next(missed))
    if name == "whole set":
        report.add("of the 10 nearest missed", _missed(mine[1].answers, data.truth), "share")


def _missed(answers: list[NDArray[Any]], truth: NDArray[Any]) -> float:
    return 1 - float(np.mean([len(set(got) & set(true)) / len(true) for got, true in zip(answers, truth, strict=True)]))


def restricted(index: VectorIndex, data: Data, report: Report) -> None:
    """Compare searches among some of the rows, and under a mask."""
    random = np.random.default_rng(7)
    count = len(data.vectors)
    for size in (one for one in AMONG if one < count):
        among: Rows = np.sort(random.choice(count, size, replace=False)).astype(np.int32)
        truth = np.stack([among[nearest(data.vectors[among] @ query)] for query in data.queries])
        both: dict[str, Search] = {
            "orienteer": partial(_among, index, among),
            "numpy": partial(_gather, data.vectors, among),
        }
        compare(f"among {size:,}", both, Asked(data.queries, truth), report)
    mask = random.random(count) < 0.5
    rows = np.flatnonzero(mask)
    truth = np.stack([rows[nearest((data.vectors @ query)[rows])] for query in data.queries])
    masked: dict[str, Search] = {
        "orienteer": lambda query: index.search(query, K, mask=mask).rows,
        "numpy": lambda query: rows[nearest((data.vectors @ query)[rows])],
    }
    compare("under a mask of half", masked, Asked(data.queries, truth), report)


def _among(index: VectorIndex, among: Rows, query: Floats) -> NDArray[Any]:
    return index.search(query, K, among=among).rows


def _gather(vectors: Floats, among: Rows, query: Floats) -> NDArray[Any]:
    return np.asarray(among[nearest(vectors[among] @ query)])


def embed(report: Report) -> None:
    """Measure the local embedder on texts of some 130 tokens, and of as many as it reads."""
    from orienteer.index.embedders import open_embedder

    words = np.array(["river", "city", "people", "market", "winter", "story", "captain", "music", "paper", "silver"])
    random = np.random.default_rng(1)
    for threads in dict.fromkeys((1, 2, os.cpu_count() or 1)):
        embedder = open_embedder("minilm", threads=threads)
        for length in (125, 250):
            texts = [" ".join(random.choice(words, length)) for _ in range(TEXTS)]
            embedder.embed(texts[:3], kind="document")
            started = time.perf_counter()
            embedder.embed(texts, kind="document")
            per_second = TEXTS / (time.perf_counter() - started)
            report.add(f"minilm, texts of {length} words, threads: {threads}", per_second, "1/s")
    embedder, taken = open_embedder("minilm"), []
    for number in range(20):
        started = time.perf_counter()
        embedder.embed([f"which captain sold salt in winter {number}?"], kind="query")
        taken.append(1e3 * (time.perf_counter() - started))
    report.add("minilm, a question, p50", float(np.median(taken)), "ms")


def measure(count: int, queries: int, report: Report, *, graphs: bool) -> None:
    """Build every engine over so many vectors, and let them search in turn."""
    data = draw(count, queries)
    with tempfile.TemporaryDirectory() as folder:
        ours = build(data, Path(folder), report)
        others = list(peers(data, graphs=graphs))
        for peer in others:
            report.add("build", ours.seconds, "s", peer=peer.name, peer_value=peer.seconds)
            report.add("size", ours.megabytes, "MB", peer=peer.name, peer_value=peer.megabytes)
        asked = Asked(data.queries, data.truth)
        compare("whole set", {one.name: one.search for one in (ours, *others)}, asked, report)
        exact = VectorIndex(Folder(Path(folder)), DIMENSION, is_exact=True)
        both = {"orienteer": lambda query: exact.search(query, K).rows, "numpy": others[0].search}
        compare("every byte", both, asked, report)
        del others
        restricted(VectorIndex(Folder(Path(folder)), DIMENSION), data, report)


def main() -> None:
    parser = command_line(__doc__)
    parser.add_argument("--size", choices=SIZES, default="XS")
    parser.add_argument("--queries", type=int, default=40, metavar="N")
    parser.add_argument("--graphs", action="store_true", help="compare with HNSW graphs too: slow to build")
    parser.add_argument("--embed", action="store_true", help="measure the local embedder instead")
    options = parser.parse_args()
    report = Report(TARGETS)
    busy = getattr(os, "getloadavg", lambda: (0.0,))
    report.add("load of the machine at the start", busy()[0], "")
    if options.embed:
        embed(report)
    else:
        measure(SIZES[options.size], options.queries, report, graphs=options.graphs)
    report.add("load of the machine at the end", busy()[0], "")
    report.write(options.json)


if __name__ == "__main__":
    main()
