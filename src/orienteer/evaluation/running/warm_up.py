"""Compiled searches for long runs over large graphs: opened and run once before the first question is timed."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from orienteer.graph.store import Graph
from orienteer.index import compiled

MANY_QUESTIONS = 50
MANY_NODES = 250_000  # with 47,000 numpy takes a millisecond longer: loading numba would not be earned back
NOTE = "searches were compiled (numba): rankings are those of numpy's, times are shorter"
_NAMES = 1_000  # that are looked at for words that the index has


def warmed(graph: Graph, questions: int, *, fewest_nodes: int = MANY_NODES) -> Graph:
    """Return the graph with compiled searches where that is worth it for so many questions, else as it is.

    It is where numba is installed, and both questions and nodes are many. Nothing is compiled or loaded after this.
    """
    if questions < MANY_QUESTIONS or len(graph) < fewest_nodes or not compiled.is_available():
        return graph
    opened = graph
    if not graph.arrays.text_index.is_compiled:
        opened = Graph.open(graph.path, compiled=True, embedder=graph.arrays.searcher.open_embedder)
    terms = _terms(opened)
    rows = np.arange(len(opened), dtype=np.int32)
    index = opened.arrays.text_index
    index.search(terms, 1)
    index.search(terms, 1, mask=opened.arrays.mask(opened.arrays.types.nodes[:1], ()))
    for among in (rows[:1], rows):  # a few nodes, and more than are looked up one by one
        index.search(terms, 1, among=among)
    return opened


def _terms(graph: Graph) -> Sequence[str]:
    """Return words that the index has, none where it has none."""
    names = (graph.arrays.tokenizer.query(graph.arrays.names[row]) for row in range(min(_NAMES, len(graph))))
    return next((terms for terms in names if graph.arrays.text_index.postings(terms)), ())
