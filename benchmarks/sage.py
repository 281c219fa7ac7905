"""SAGE on passages, beside the best flat list of the same length: what one hop adds, and what each choice carries.

    python benchmarks/sage.py DATA... [--json FILE] [--cache DIR] [--all] [--weights]

DATA is a folder with a corpus and questions about it, such as musique. Its chunk graph is built and embedded in a
temporary folder, or taken from `DATA=GRAPH`. Every figure is a Recall@k of the list at 20, in points. The best flat
list is the best one for each k of BM25, vectors and hybrids of .3 to .6; a gain has its paired 95 % interval. `--all`
adds every option; `--weights` measures how fast edge weights are read. No model is called.
"""

from __future__ import annotations

import argparse
import json
import tempfile
import time
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from orienteer.build.documents.run import build_graph
from orienteer.evaluation.datasets import load
from orienteer.evaluation.examples import Example
from orienteer.evaluation.measures import recall
from orienteer.evaluation.statistics import difference_interval
from orienteer.graph.store import Graph
from orienteer.graph.vectors import embed_graph
from orienteer.graph.weights import EdgeWeights
from orienteer.index.embedders import open_embedder
from orienteer.retriever import Retriever
from orienteer.settings import Settings

KS = (2, 5, 10, 20)
FLAT: Mapping[str, tuple[str, dict[str, Any]]] = {
    "bm25": ("bm25", {}),
    "dense": ("dense", {}),
    **{f"hybrid .{tenth}": ("hybrid", {"weight": tenth / 10}) for tenth in (3, 4, 5, 6)},
}
SAGE: Mapping[str, dict[str, Any]] = {
    "sage": {},
    "sage, .5 BM25": {"weight": 0.5},
    "sage, pruned by hybrid score alone": {"pruning": "hybrid"},
    "sage, the paper's recipe": {"faithful": True},
}
FURTHER: Mapping[str, dict[str, Any]] = {
    "sage, seeds first": {"order": "seeds"},
    "sage, one list by score": {"order": "joint"},
    "sage, mentions alone": {"edge_types": ("mentions",)},
    "sage, shared names alone": {"edge_types": ("shares_names",)},
    "sage, similar alone": {"edge_types": ("similar",)},
    "sage, similar alone, by hybrid score": {"edge_types": ("similar",), "pruning": "hybrid"},
    "sage, mentions and shared names": {"edge_types": ("mentions", "shares_names")},
    "sage, sharpness 1": {"sharpness": 1.0},
    "sage, sharpness 8": {"sharpness": 8.0},
    "sage, trust .5": {"trust": 0.5},
    "extended baseline": {"policy": "none"},
}


class Column(NamedTuple):
    """What a method reached: Recall at each k by question, and its milliseconds."""

    name: str
    recalls: np.ndarray[Any, Any]  # (questions, k)
    milliseconds: float


def made(data: Path, folder: Path, cache: Path) -> Graph:
    """Build and embed the chunk graph of a corpus, with vectors from the cache where it has them."""
    embedder = open_embedder("minilm")
    report = build_graph([data], folder / data.name, embedder=embedder)
    print(f"built {report.nodes:,} nodes, {report.edges:,} edges in {report.seconds:.1f} s: {dict(report.edge_types)}")
    embed_graph(Graph.open(folder / data.name), embedder, cache=cache)
    return Graph.open(folder / data.name)


def measured(name: str, method: str, graph: Graph, examples: Sequence[Example], options: dict[str, Any]) -> Column:
    """Ask every question once."""
    retriever = Retriever(graph, method, k=max(KS), settings=Settings(), **options)
    rows, seconds = [], []
    for example in examples:
        started = time.perf_counter()
        found = [hit.id for hit in retriever.search(example.question.text).hits]
        seconds.append(time.perf_counter() - started)
        rows.append([recall(found, example.gold.nodes, k) for k in KS])
    return Column(name, 100 * np.array(rows), 1000 * float(np.median(seconds)))


def columns(graph: Graph, examples: Sequence[Example], *, is_all: bool) -> Iterator[Column]:
    """Measure the flat lists, then every form of SAGE that the graph has the edges for."""
    for name, (method, options) in FLAT.items():
        yield measured(name, method, graph, examples, options)
    for name, options in {**SAGE, **(FURTHER if is_all else {})}.items():
        if set(options.get("edge_types", ())) <= set(graph.types.edges):
            yield measured(name, "sage", graph, examples, options)


def table(found: Sequence[Column]) -> list[dict[str, Any]]:
    """Return a row for each method: Recall at each k, and what it gains over the best flat list."""
    flat = found[: len(FLAT)]
    best = [max(flat, key=lambda one: float(one.recalls[:, at].mean())) for at in range(len(KS))]
    rows = []
    for one in found:
        row: dict[str, Any] = {"method": one.name, "milliseconds": round(one.milliseconds, 1)}
        for at, k in enumerate(KS):
            gain = difference_interval(list(one.recalls[:, at]), list(best[at].recalls[:, at]))
            mean = float(one.recalls[:, at].mean())
            row[f"Recall@{k}"] = {"mean": mean, "gain": gain.mean, "low": gain.low, "high": gain.high}
            row[f"Recall@{k}"]["over"] = best[at].name
        rows.append(row)
    return rows


def show(rows: Sequence[Mapping[str, Any]]) -> None:
    """Print the table."""
    print(f"{'':36}" + "".join(f"{f'Recall@{k}':>22}" for k in KS) + f"{'ms':>8}")
    for row in rows:
        cells = [row[f"Recall@{k}"] for k in KS]
        said = "".join(
            f"{one['mean']:6.1f} {one['gain']:+5.1f} [{one['low']:+.1f}, {one['high']:+.1f}]" for one in cells
        )
        print(f"{row['method']:36}{said}{row['milliseconds']:8.1f}")


def weights(graph: Graph) -> None:
    """Print what it takes to read the weights around fifty nodes, first and again, and of all edges."""
    rows = np.linspace(0, len(graph) - 1, 50).astype(np.int32)
    entries = graph.adjacency.entries(np.unique(rows))
    read = EdgeWeights(graph.adjacency, graph._extras)
    for what, at in (("first", entries.at), ("again", entries.at), ("all", np.arange(len(graph.adjacency.neighbor)))):
        started = time.perf_counter()
        read(at)
        print(f"weights, {what}: {len(at):,} edges in {1000 * (time.perf_counter() - started):.2f} ms")


def main() -> None:
    """Measure every data set that is named."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("data", nargs="+", metavar="DATA[=GRAPH]")
    parser.add_argument("--json", type=Path)
    parser.add_argument("--cache", type=Path, default=None, help="where vectors are kept between runs")
    parser.add_argument("--all", action="store_true")
    parser.add_argument("--weights", action="store_true")
    options = parser.parse_args()
    written = {}
    with tempfile.TemporaryDirectory(prefix="orienteer-") as folder:
        for one in options.data:
            data, _, given = one.partition("=")
            cache = options.cache or Path(folder) / "cache"
            graph = Graph.open(given) if given else made(Path(data), Path(folder), cache)
            questions = load(Path(data), graph=graph)
            examples = [example for example in questions.examples if example.gold.nodes]
            print(f"{questions.name}: {len(examples)} questions, {len(graph):,} nodes")
            if options.weights:
                weights(graph)
            written[questions.name] = rows = table(list(columns(graph, examples, is_all=options.all)))
            show(rows)
    if options.json:
        options.json.write_text(json.dumps(written, indent=1), encoding="utf-8")


if __name__ == "__main__":
    main()
