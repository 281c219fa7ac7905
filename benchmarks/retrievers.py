"""What each retriever of a knowledge base takes, on generated corpora of several sizes, and how that grows.

    python benchmarks/retrievers.py [--sizes 5000 50000 500000] [--queries 100] [--methods NAME ...] [--json FILE]
                                    [--work FOLDER] [--extract FORM] [--threads N]

Texts are drawn from a vocabulary by Zipf's law; each passage has a title, names three others, those that are popular
more often, and three further names. They are built as any corpus is. Vectors are sums of a random direction for each
word, no model runs. Queries hold two titles, of a passage and of one that it names, and words of the first. Each size
is built in a process of its own and asked in another, so that peaks of memory are theirs; p50 and p95 are over queries
after one to warm up, the embedding of the query included, a seldom read weight or name too. The exponent is that of a
power of the size, by least squares over the logarithms of cpu, the processor's own time at the median: other work on
the machine shows in p50 and p95, hardly there. The load is printed, and how many threads numpy's products may take:
with two of them on two busy cores OpenBLAS waits actively, and every search takes several times as long.
"""

from __future__ import annotations

import argparse
import json
import os
import re
import resource
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from functools import cached_property
from pathlib import Path
from typing import Any, Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray

from orienteer.graph.embedding import give_vectors
from orienteer.graph.store import Graph
from orienteer.ingest.documents.config import BuildConfig
from orienteer.ingest.documents.run import BuildOptions, build_graph
from orienteer.llm.budget import Allowance
from orienteer.methods.table import METHODS
from orienteer.records import Usage
from orienteer.retrieval.bases.table import BASES, RankedBase, open_base
from orienteer.retrieval.query import KnowledgeBase, Query
from report import command_line, run_script, write_json

SIZES = (5_000, 50_000)
OTHERS = ("sage", "anchor")
"""Methods that are no retrievers of their own, seen through the same interface."""
MOST = {"path": 50.0, "hippo": 100.0}
"""Milliseconds at the median that a retriever may take of 50,000 passages."""
JUDGED = 50_000
DIMENSION = 384
EMBEDDER = "words"
VOCABULARY, NAMES = 30_000, 20_000
LENGTH = 60
"""Words of a passage, besides its names."""
MENTIONED = 3
_BATCH = 10_000
_WORD = re.compile(r"\w+")
_SYLLABLES = [first + second for first in "bcdfghjklmnprstvwz" for second in "aeiou"]


class Passage(NamedTuple):
    """A passage, as a line of a collection has it, and the passages that it names."""

    title: str
    text: str
    named: tuple[int, ...]


class Corpus:
    """Generated passages, by number; the same ones for the same size."""

    def __init__(self, size: int) -> None:
        self.size = size
        rng = np.random.default_rng(size)
        self._title = np.column_stack([_zipf(rng, NAMES, size, 0.6), rng.integers(0, NAMES, size)])  # (passages, 2)

    @cached_property
    def words(self) -> list[str]:
        """The vocabulary in lower case, the commonest first; names are its words with a capital."""
        return [_word(number) for number in range(max(VOCABULARY, NAMES))]

    def title(self, number: int) -> str:
        """Return the title of a passage."""
        return " ".join(self.words[word].capitalize() for word in self._title[number].tolist())

    def passages(self) -> Iterator[Passage]:
        """Return all passages, in order."""
        for low in range(0, self.size, _BATCH):
            count = min(_BATCH, self.size - low)
            rng = np.random.default_rng([self.size, low])
            words = _zipf(rng, VOCABULARY, count * LENGTH, 1.0).reshape(count, LENGTH).tolist()
            popular = _zipf(rng, self.size, count * MENTIONED, 0.5).reshape(count, MENTIONED)
            others = rng.integers(0, self.size, (count, MENTIONED))
            named = np.where(rng.random((count, MENTIONED)) < 0.5, popular, others).tolist()
            names = rng.integers(0, NAMES, (count, MENTIONED)).tolist()
            for at in range(count):
                yield self._passage(low + at, words[at], named[at], names[at])

    def _passage(self, number: int, words: list[int], named: list[int], names: list[int]) -> Passage:
        parts = [self.words[word] for word in words]
        said = [*map(self.title, named), *(self.words[name].capitalize() for name in names)]
        every = LENGTH // len(said)
        sentences = [f"{said[at].strip()} {' '.join(parts[at * every : (at + 1) * every])}." for at in range(len(said))]
        return Passage(self.title(number), " ".join(sentences), tuple(named))

    def queries(self, count: int) -> list[str]:
        """Return questions, each over a passage of the first batch and one that it names."""
        rng = np.random.default_rng([self.size, 1])
        first = [passage for passage, _ in zip(self.passages(), range(_BATCH), strict=False)]
        chosen = rng.integers(0, len(first), count).tolist()
        asked = [(first[one], self.title(first[one].named[0])) for one in chosen]
        return [f"Which {' '.join(one.text.split()[3:6])} of {one.title} has {other}?" for one, other in asked]


def _word(number: int) -> str:
    word, rest = "", number + len(_SYLLABLES)
    while rest:
        rest, at = divmod(rest, len(_SYLLABLES))
        word += _SYLLABLES[at]
    return word


def _zipf(rng: np.random.Generator, size: int, count: int, exponent: float) -> NDArray[np.int64]:
    shares = np.cumsum((np.arange(size) + 2.7) ** -exponent)
    drawn: NDArray[np.int64] = np.minimum(shares.searchsorted(rng.random(count) * shares[-1]), size - 1)
    return drawn


class Words:
    """An embedder: a text is the sum of its words, each a direction by its hash. Their spectrum falls."""

    name = fingerprint = EMBEDDER
    usage = Usage()
    concurrency = 1

    def __init__(self) -> None:
        rng = np.random.default_rng(5)
        spectrum = np.arange(1, DIMENSION + 1, dtype=np.float32) ** -0.7
        turn = np.linalg.qr(rng.standard_normal((DIMENSION, DIMENSION)))[0].astype(np.float32)
        self._directions = (rng.standard_normal((1 << 15, DIMENSION), np.float32) * spectrum) @ turn

    def embed(self, texts: Sequence[str], *, kind: Literal["query", "document"]) -> NDArray[np.float32]:
        """Return a vector of length 1 for each text."""
        vectors = np.stack([self._directions[_numbers(text)].sum(axis=0) for text in texts])
        return np.asarray(vectors / np.linalg.norm(vectors, axis=1, keepdims=True), np.float32)

    def parts(self, text: str) -> tuple[str, ...]:
        """Return the text: it is read whole."""
        return (text,)


def _numbers(text: str) -> list[int]:
    # The sum of the letters' codes by place: a hash that is the same in every process.
    words = _WORD.findall(text.casefold()) or ["?"]
    return [sum(ord(letter) * 31**at for at, letter in enumerate(word)) % (1 << 15) for word in words]


# ------------------------------------------------------------------------------------------------------------- a size


def build(size: int, work: Path, extract: str | None) -> dict[str, Any]:  # Any: JSON
    """Write a corpus, make its graph and its vectors; return what that took."""
    source = work / "corpus"
    source.mkdir(parents=True, exist_ok=True)
    with (source / "corpus.jsonl").open("w", encoding="utf-8") as file:
        for number, one in enumerate(Corpus(size).passages()):
            file.write(json.dumps({"id": f"p{number}", "title": one.title, "text": one.text}) + "\n")
    started = time.perf_counter()
    config = BuildConfig(largest_mb=10_000)  # half a million passages in one file are 205 MB
    options = BuildOptions(extract=extract, config=config)  # type: ignore[arg-type]  # checked where it is read
    report = build_graph([source], work / "graph", options=options)
    graph = Graph.open(work / "graph")
    seconds = time.perf_counter() - started
    vectors = np.empty((len(graph), DIMENSION), np.float16)
    embedder = Words()
    for low in range(0, len(graph), _BATCH):
        rows = range(low, min(low + _BATCH, len(graph)))
        vectors[low : rows.stop] = embedder.embed(
            [f"{graph.arrays.names[row]}. {graph.arrays.texts[row]}" for row in rows], kind="document"
        )
    give_vectors(graph, list(graph.node_ids()), vectors, embedder=EMBEDDER)
    return {
        "nodes": report.nodes,
        "edges": report.edges,
        "seconds": seconds,
        "with vectors": time.perf_counter() - started,
        "peak": _peak(),
    }


def ask(size: int, work: Path, methods: Sequence[str], count: int) -> dict[str, Any]:  # Any: JSON
    """Return what each method takes to open, for its first query, and for the others."""
    embedder = Words()
    graph = Graph.open(work / "graph", embedder=lambda _: embedder)
    queries = Corpus(size).queries(count + 1)
    found: dict[str, Any] = {}
    for name in methods:
        started = time.perf_counter()
        base = _opened(name, graph)
        opened = time.perf_counter() - started
        spent, busy, sizes = [], [], []
        for query in queries:
            began, at_work = time.perf_counter(), time.process_time()
            evidence = base.gather(Query(query), Allowance())
            spent.append(1000 * (time.perf_counter() - began))
            busy.append(1000 * (time.process_time() - at_work))
            sizes.append((len(evidence.nodes), len(evidence.edges), len(evidence.paths)))
        found[name] = {
            "open": opened,
            "first": spent[0],
            "p50": float(np.quantile(spent[1:], 0.5)),
            "p95": float(np.quantile(spent[1:], 0.95)),
            "cpu": float(np.quantile(busy[1:], 0.5)),
            "evidence": np.mean(sizes, axis=0).round(1).tolist(),
            "peak": _peak(),
        }
        sys.stderr.write(f"{size:,}: {name} {found[name]['p50']:.1f} ms\n")
    return found


def _opened(name: str, graph: Graph) -> KnowledgeBase:
    if name in BASES:
        return open_base(name, graph)
    return RankedBase(graph, METHODS[name].make(graph))


def _peak() -> float:
    """Return the most memory that this process has had, in MB."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024


# ------------------------------------------------------------------------------------------------------------- report


def exponent(sizes: Sequence[int], values: Sequence[float]) -> float:
    """Return the power of the size that fits some values best, by least squares over logarithms."""
    return float(np.polyfit(np.log(sizes), np.log(values), 1)[0])


def show(figures: dict[int, dict[str, Any]], methods: Sequence[str]) -> None:
    """Print what was built and what each method took."""
    sizes = list(figures)
    for size in sizes:
        built = figures[size]["build"]
        print(
            f"{size:>9,} passages, {built['nodes']:,} nodes, {built['edges']:,} edges: built in {built['seconds']:.1f} "
            f"s, {built['with vectors']:.1f} with vectors, peak {built['peak']:,.0f} MB; load {figures[size]['load']}"
        )
    heads = "".join(f"{f'p50 {size:,}':>14}{'p95':>9}{'cpu':>9}{'first':>9}" for size in sizes)
    print(f"milliseconds  {heads}   cpu grows by")
    for name in methods:
        asked = [figures[size]["ask"][name] for size in sizes]
        line = "".join(f"{one['p50']:14.1f}{one['p95']:9.1f}{one['cpu']:9.1f}{one['first']:9.0f}" for one in asked)
        power = f"n^{exponent(sizes, [one['cpu'] for one in asked]):.2f}" if len(sizes) > 1 else "-"
        print(f"{name:14}{line}   {power}")
    for name, most in MOST.items():
        if name in methods and JUDGED in figures:
            one = figures[JUDGED]["ask"][name]
            judged = f"p50 {_met(one['p50'], most)}, cpu {_met(one['cpu'], most)}"
            print(f"{name} at {JUDGED:,}, to be below {most:g} ms: {judged}")
    print("peak memory while asking, MB: " + ", ".join(f"{size:,}: {_most(figures[size]):,.0f}" for size in sizes))


def _met(value: float, most: float) -> str:
    return f"{value:.1f} ({'met' if value < most else 'MISSED'})"


def _most(figures: dict[str, Any]) -> float:
    return max(float(one["peak"]) for one in figures["ask"].values())


def main() -> None:
    """Measure every size."""
    parser = command_line(__doc__)
    parser.add_argument("--sizes", type=int, nargs="+", default=list(SIZES), metavar="N")
    parser.add_argument("--queries", type=int, default=100, metavar="N")
    parser.add_argument("--methods", nargs="+", choices=[*BASES, *OTHERS], default=[*BASES, *OTHERS], metavar="NAME")
    parser.add_argument("--threads", type=int, default=1, metavar="N", help="threads of numpy's products")
    parser.add_argument("--extract", metavar="FORM", help="extract without a model: entities, triples, hyper")
    parser.add_argument(
        "--work", type=Path, metavar="FOLDER", help="keep the graphs there; those that are there are taken"
    )
    parser.add_argument("--step", choices=["build", "ask"], help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.step:
        size, work = options.sizes[0], options.work
        done = (
            build(size, work, options.extract)
            if options.step == "build"
            else ask(size, work, options.methods, options.queries)
        )
        print(json.dumps(done))
        return
    with tempfile.TemporaryDirectory(prefix="orienteer-retrievers-") as scratch:
        figures = {
            size: _measured(size, (options.work or Path(scratch)) / str(size), options)
            for size in sorted(options.sizes)
        }
    show(figures, options.methods)
    print(f"threads of numpy's products: {options.threads}")
    write_json(options.json, figures)


def _measured(size: int, work: Path, options: argparse.Namespace) -> dict[str, Any]:  # Any: JSON
    """Build and ask one size, each in a process of its own; what was built before is taken as it is."""
    kept, limited = work / "build.json", {"OPENBLAS_NUM_THREADS": str(options.threads)}  # read when numpy is loaded
    where = ("--sizes", size, "--work", work)
    if not kept.exists():
        extract = ("--extract", options.extract) if options.extract else ()
        built = run_script("retrievers.py", "--step", "build", *where, *extract, env=limited)
        kept.write_text(json.dumps(built), encoding="utf-8")
    asked = run_script(
        "retrievers.py",
        "--step",
        "ask",
        *where,
        "--queries",
        options.queries,
        "--methods",
        *options.methods,
        env=limited,
    )
    load = ", ".join(f"{one:.1f}" for one in os.getloadavg())
    return {"build": json.loads(kept.read_text(encoding="utf-8")), "ask": asked, "load": load}


if __name__ == "__main__":
    main()
