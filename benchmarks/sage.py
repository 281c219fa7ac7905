"""SAGE on passages, beside the best flat list of the same length: what one hop adds, and what each choice carries.

    python benchmarks/sage.py DATA... [--json FILE] [--cache DIR] [--all] [--times]

DATA is a folder with a corpus and questions about it, such as musique. Its chunk graph is built and embedded in a
temporary folder, or taken from `DATA=GRAPH`. Every figure is a Recall@k of the list at 20, in points. The best flat
list is the best one for each k of BM25, vectors, hybrids of .3 to .6 and reciprocal places, each with and without a
bonus of .2 for titles that stand in the question; a gain has its paired 95 % interval. `--all` adds every option;
`--times` measures what a question takes, and how fast
edge weights are read. No model is called.
"""

from __future__ import annotations

import argparse
import json
import tempfile
import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from orienteer.graph.adjacency import EdgeWeights
from orienteer.graph.embedding import embed_graph
from orienteer.graph.store import Graph
from orienteer.index.embedders import open_embedder
from orienteer.ingest.documents.run import build_graph
from orienteer.lab.evaluation.datasets import read_questions
from orienteer.lab.evaluation.examples import Example
from orienteer.retriever import Retriever
from orienteer.settings import Settings
from rankings import Ranker, ask, best_of, flats, paper, recalls, remembering, sage, show, summary

KS = (2, 5, 10, 20)
SAGE: Mapping[str, dict[str, Any]] = {
    "sage": {},
    "sage, no bonus for titles": {"titles": 0.0},
    "sage, pruned by hybrid score alone": {"pruning": "hybrid"},
}
FURTHER: Mapping[str, dict[str, Any]] = {
    "sage, .3 BM25": {"weight": 0.3},
    "sage, .5 BM25": {"weight": 0.5},
    "sage, .6 BM25": {"weight": 0.6},
    "sage, seeds first": {"order": "seeds"},
    "sage, one list by score": {"order": "joint"},
    "sage, mentions alone": {"edge_types": ("mentions",)},
    "sage, shared names alone": {"edge_types": ("shares_names",)},
    "sage, similar alone": {"edge_types": ("similar",)},
    "sage, similar as much as names": {"similar": 1.0},
    "sage, without similar": {"similar": 0.0},
    "sage, sharpness 1": {"sharpness": 1.0},
    "sage, sharpness 8": {"sharpness": 8.0},
    "sage, trust .2": {"trust": 0.2},
    "sage, trust .5": {"trust": 0.5},
    "sage, titles .1": {"titles": 0.1},
    "sage, titles .3": {"titles": 0.3},
}


def made(data: Path, folder: Path, cache: Path) -> Graph:
    """Build and embed the chunk graph of a corpus, with vectors from the cache where it has them."""
    embedder = open_embedder("minilm")
    report = build_graph([data], folder / data.name, embedder=embedder, cache=cache)
    print(f"built {report.nodes:,} nodes, {report.edges:,} edges in {report.seconds:.1f} s: {dict(report.edge_types)}")
    embed_graph(Graph.open(folder / data.name), embedder, cache=cache)
    return Graph.open(folder / data.name)


def rankers(graph: Graph, *, is_all: bool) -> list[Ranker]:
    """Return every form of SAGE that the graph has the edges for, and the paper's recipe where it has its own."""
    k = max(KS)
    known = set(graph.arrays.types.edges)
    chosen = {**SAGE, **(FURTHER if is_all else {})}
    found = [sage(name, graph, k, **one) for name, one in chosen.items() if set(one.get("edge_types", ())) <= known]
    if "similar" in known:
        found += [paper("the paper's recipe", graph, k), paper("the paper's recipe, .4 BM25", graph, k, weight=0.4)]
    return found


def measured(graph: Graph, examples: Sequence[Example], *, is_all: bool) -> dict[str, Any]:
    """Print and return the figures of one set."""
    plain, titled = flats(graph, max(KS)), flats(graph, max(KS), is_titled=True)
    found = ask(examples, [*plain, *titled, *rankers(graph, is_all=is_all)])
    tables = {one.name: recalls(graph, examples, one, KS) for one in found}
    bare = {one.name: tables[one.name] for one in plain}
    every = {one.name: tables[one.name] for one in (*plain, *titled)}
    against = {"best flat": best_of(every)[0], "best without titles": best_of(bare)[0]}
    print(f"best flat list for each k: {', '.join(best_of(every)[1])}; without titles {', '.join(best_of(bare)[1])}")
    rows = {name: summary(table, KS, against) for name, table in tables.items()}
    shown = {name: {at: row[at] for at in (f"@{k}" for k in KS)} for name, row in rows.items()}
    show(shown)
    show({name: row for name, row in shown.items() if name not in every}, gains=tuple(against), ks=(5, 20))
    return rows


def whole(graph: Graph, examples: Sequence[Example]) -> None:
    """Print what a question takes: the ranking alone, and as a person asks it, hits and trail and all."""
    alone = ask(examples[:100], [*flats(graph, max(KS)), sage("sage", graph, max(KS))])
    print("milliseconds: " + ", ".join(f"{one.name} {one.milliseconds:.1f}" for one in alone))
    for name in ("hybrid", "sage"):
        retriever = Retriever(graph, name, settings=Settings())
        seconds = []
        for example in examples[:100]:
            started = time.perf_counter()
            retriever.search(example.question.text, max(KS))
            seconds.append(time.perf_counter() - started)
        print(f"a question by {name}, with its hits: {1000 * float(np.median(seconds)):.1f} ms")


def weights(graph: Graph) -> None:
    """Print what it takes to read the weights around fifty nodes, first and again, and of all edges."""
    rows = np.linspace(0, len(graph) - 1, 50).astype(np.int32)
    entries = graph.arrays.adjacency.entries(np.unique(rows))
    read = EdgeWeights(graph.arrays.adjacency, graph.arrays._extras)
    for what, at in (
        ("first", entries.at),
        ("again", entries.at),
        ("all", np.arange(len(graph.arrays.adjacency.neighbor))),
    ):
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
    parser.add_argument("--times", action="store_true")
    options = parser.parse_args()
    written = {}
    with tempfile.TemporaryDirectory(prefix="orienteer-") as folder:
        for one in options.data:
            data, _, given = one.partition("=")
            cache = options.cache or Path(folder) / "cache"
            graph = Graph.open(given) if given else made(Path(data), Path(folder), cache)
            questions = read_questions(Path(data), graph=graph)
            examples = [example for example in questions.examples if example.gold.nodes]
            print(f"{questions.name}: {len(examples)} questions, {len(graph):,} nodes")
            if options.times:
                weights(graph)
                whole(graph, examples)
            written[questions.name] = measured(remembering(graph), examples, is_all=options.all)
    if options.json:
        options.json.write_text(json.dumps(written, indent=1), encoding="utf-8")


if __name__ == "__main__":
    main()
