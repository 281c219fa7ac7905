"""The rows of a graph by their role for a retriever, and how they are searched."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from orienteer.graph.reserved import COMMUNITY, FACT, PASSAGES, RESERVED
from orienteer.graph.store import Graph
from orienteer.index.arrays import Rows
from orienteer.index.bm25 import Mask, ScoredRows
from orienteer.index.searchers import Mode, ranking_of
from orienteer.protocols import Run
from orienteer.records import Edge, Node
from orienteer.retrieval.evidence import Scored
from orienteer.retrieval.query import AUTO


class Spaces:
    """Passages, entities, facts and communities of a graph. Safe to share among threads.

    In a graph without passages the nodes are read instead: all but facts and communities, which are made of the others,
    unless there are no others.
    """

    def __init__(self, graph: Graph, mode: Mode = AUTO, *, telling: bool = False) -> None:
        self.graph = graph
        has_vectors = graph.arrays.searcher.has_vectors
        self.mode = mode if mode != AUTO else ("hybrid" if has_vectors else "lexical")
        types = graph.arrays.types.nodes
        self.has_passages = any(name in PASSAGES for name in types)
        self.searcher = graph.arrays.searcher(self.mode, telling=telling and self.has_passages)
        """Ranks rows for a text; of passages by its telling words alone where it says so."""
        self.entities = self._of([name for name in types if name not in RESERVED])
        self.facts, self.communities = self._of([FACT]), self._of([COMMUNITY])
        others = ~(self.facts | self.communities)
        nodes = others if others.any() else np.ones(len(graph), np.bool_)
        self.passages: Mask = self._of(PASSAGES) if self.has_passages else nodes

    def answers(self, node_types: Sequence[str] = (), where: Sequence[str] = ()) -> Mask:
        """Mark the rows that may be answers: passages that meet the conditions, or nodes of the types asked for.

        Returns (nodes,) of bool. Raises `UnknownType`, `UnknownProperty`, `BadOption`.
        """
        mask = self.graph.arrays.mask(node_types or None, where)
        if mask is None:
            return self.passages
        return mask if node_types else mask & self.passages

    def _of(self, names: Collection[str]) -> Mask:
        here = [name for name in names if name in self.graph.arrays.types.nodes]
        mask = self.graph.arrays.mask(here) if here else None
        return np.zeros(len(self.graph), np.bool_) if mask is None else mask

    def pay(self, run: Run, texts: Iterable[str]) -> None:
        """Embed texts that are about to be searched for; a server's work is charged to the run.

        Raises `BudgetExhausted` before a call, `ModelError`.
        """
        if ranking_of(self.mode).kind == "lexical":
            return
        for text in texts:
            if text.strip():
                self.graph.arrays.searcher.vectors.pay(run, text)

    def nearness(self, run: Run, texts: Sequence[str], rows: Rows) -> NDArray[np.float64]:
        """Return the cosine of several short texts with each row: (texts, rows), 0 if negative or without a vector.

        A server's work is charged to the run. Raises `BudgetExhausted` before a call, `ModelError`.
        """
        vectors = self.graph.arrays.searcher.vectors
        near = [vectors.index.scores(vector, rows) for vector in vectors.encode_together(run, tuple(texts))]
        return np.array(near).reshape(len(texts), len(rows)).clip(min=0)

    def search(self, text: str, k: int, mask: Mask) -> ScoredRows:
        """Return the `k` best marked rows for a text, best first; of ties the smaller row first. `mask` is (nodes,)."""
        return self.searcher.search(text, k, mask=mask)

    def scores(self, text: str, rows: Rows) -> NDArray[np.float64]:
        """Return the scores that `search` would give rows, (n,) and ascending, for a text: (n,) float64."""
        return self.searcher.scores(text, rows)

    def node(self, row: int, score: float, why: str = "") -> Scored[Node]:
        """Return a row as evidence."""
        return Scored(self.graph.arrays.node_at(int(row)), float(score), why)

    def edge(self, owner: int, neighbor: int, kind: int, at: int, score: float, why: str = "") -> Scored[Edge]:
        """Return an entry of the adjacency arrays as evidence."""
        return Scored(self.graph.arrays.edge(int(owner), int(neighbor), int(kind), int(at)), float(score), why)

    def joining(self, rows: Rows, scores: NDArray[Any], most: int) -> tuple[Scored[Edge], ...]:
        """Return the edges among rows as evidence, best first: each has the score of its worse end.

        `rows` and `scores` are (n,) and aligned, in any order.
        """
        order = np.argsort(rows)
        rows, scores = rows[order], scores[order]
        entries = self.graph.arrays.adjacency.entries(rows)
        entries = entries.where((entries.kind & 1 == 0) & np.isin(entries.neighbor, rows))
        worse = np.minimum(scores[rows.searchsorted(entries.owner)], scores[rows.searchsorted(entries.neighbor)])
        best = np.lexsort((entries.at, -worse))[:most]
        columns = (column[best].tolist() for column in (*entries, worse))
        return tuple(
            self.edge(owner, neighbor, kind, at, score, "joins two that were found")
            for owner, neighbor, kind, at, score in zip(*columns, strict=True)
        )
