"""How near nodes are to a question in meaning, where the graph has been embedded."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from orienteer.errors import BadOption, BudgetExhausted, MissingExtra
from orienteer.graph.store import Graph
from orienteer.index.arrays import Rows
from orienteer.index.bm25 import Mask
from orienteer.index.searchers import HybridSearcher
from orienteer.protocols import Run
from orienteer.reading.config import AnchorConfig
from orienteer.records import Usage

_BY_MEANING = 100  # nodes that nearness alone brings in; the prototype's, not varied


class Nearness:
    """The nearness of a graph's nodes to one question."""

    def __init__(self, searcher: HybridSearcher, text: str) -> None:
        self._searcher, self._text = searcher, text

    def nearest(self, mask: Mask | None) -> Rows:
        """Return the 100 nearest nodes that the mask allows, (n,), nearest first."""
        return self._searcher.dense.search(self._text, _BY_MEANING, mask=mask).rows

    def shares(self, rows: Rows) -> NDArray[np.float64]:
        """Return the nearness of each of these ascending rows: (rows,), from 0 to 1 over the whole graph."""
        return self._searcher.shares(self._text, rows)[1]

    def cosines(self, rows: Rows) -> NDArray[np.float64]:
        """Return the cosine of each row: (rows,), -1 for a node without a vector."""
        return self._searcher.dense.scores(self._text, rows)


class EmbeddingPayment(NamedTuple):
    """What embedding a question has cost."""

    usage: Usage = Usage()
    lack: str | None = None
    """Why the question is not ranked by meaning though the graph has vectors; None where it is, or has none."""


class Meaning:
    """Nearness over one graph; where it has no vectors, or their embedder cannot be had, there is none."""

    def __init__(self, graph: Graph, config: AnchorConfig) -> None:
        self._graph = graph
        self._searcher: HybridSearcher | None = None
        self._lack: str | None = None
        if config.meaning_weight and graph.arrays.searcher.has_vectors:
            try:
                searcher = graph.arrays.searcher("hybrid")
            except (BadOption, MissingExtra) as error:  # names and edges are still worth an answer
                self._lack = f"not ranked by meaning: {error}"
            else:
                assert isinstance(searcher, HybridSearcher)  # that is what this mode gives
                self._searcher = searcher

    def pay(self, text: str, run: Run) -> EmbeddingPayment:
        """Have a question embedded before it is ranked; a server's work is charged to the run. Raises `ModelError`."""
        if self._searcher is None or not text.strip():
            return EmbeddingPayment(lack=self._lack)
        try:
            return EmbeddingPayment(self._graph.arrays.searcher.vectors.pay(run, text))
        except BudgetExhausted as error:
            return EmbeddingPayment(lack=f"not ranked by meaning, the question could not be embedded: {error}")

    def of(self, text: str) -> Nearness | None:
        """Return the nearness to a question; None where there is none."""
        return None if self._searcher is None or not text.strip() else Nearness(self._searcher, text)
