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

import tempfile
import time
from dataclasses import replace
from pathlib import Path

import numpy as np

from orienteer.graph.adjacency import EdgeWeights
from orienteer.graph.store import Graph
from rankings import FORMS, KS, Ranker, measured, opened, paper, remembering, sage, times
from report import command_line, write_json


def rankers(graph: Graph, *, is_all: bool) -> list[Ranker]:
    """Return every form of SAGE that the graph has the edges for, and the paper's recipe where it has its own."""
    k = max(KS)
    known = set(graph.arrays.types.edges)
    chosen = {**FORMS["sage"], **(FORMS["sage, further"] if is_all else {})}
    found = [sage(name, graph, k, **one) for name, one in chosen.items() if set(one.get("edge_types", ())) <= known]
    if "similar" in known:
        found += [paper("the paper's recipe", graph, k), paper("the paper's recipe, .4 BM25", graph, k, weight=0.4)]
    return found


def weights(graph: Graph) -> None:
    """Print what it takes to read the weights around fifty nodes, first and again, and of all edges."""
    rows = np.linspace(0, len(graph) - 1, 50).astype(np.int32)
    entries = graph.arrays.adjacency.entries(np.unique(rows))
    read = EdgeWeights(graph.arrays.adjacency, graph.arrays.edge_extras)
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
    parser = command_line(__doc__, ("--cache", "--json"))
    parser.add_argument("data", nargs="+", metavar="DATA[=GRAPH]")
    parser.add_argument("--all", action="store_true")
    parser.add_argument("--times", action="store_true")
    options = parser.parse_args()
    written = {}
    with tempfile.TemporaryDirectory(prefix="orienteer-") as folder:
        for one in options.data:
            asked = opened(one, Path(folder), options.cache or Path(folder) / "cache")
            if options.times:
                weights(asked.graph)
                times(asked.graph, asked.examples, max(KS))
            graph = remembering(asked.graph)
            written[asked.name] = measured(replace(asked, graph=graph), rankers(graph, is_all=options.all))
    write_json(options.json, written)


if __name__ == "__main__":
    main()
