"""Where retrievers start in a graph: nodes that a query names, then those that words and meaning speak for."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np
from numpy.typing import NDArray

from orienteer.graph.names.titles import TitleFinder
from orienteer.graph.store import Graph
from orienteer.index.arrays import Rows
from orienteer.index.bm25 import Mask, ScoredRows
from orienteer.index.searchers import Memo, ranking_of
from orienteer.retrieval.spaces import Spaces

LEAST_COSINE = 0.2
"""Nearness below which a node does not count as found. LightRAG's cosine_better_than_threshold."""
SEEDS = 40
"""Entities, and relations, that a search gives. LightRAG's top_k."""

NONE = ScoredRows(np.zeros(0, np.int32), np.zeros(0, np.float64))


class Seeds:
    """Finds nodes for names and for texts. Safe to share among threads."""

    def __init__(self, graph: Graph, spaces: Spaces) -> None:
        self._graph, self._spaces = graph, spaces
        self._titles = TitleFinder(graph, lower=True)
        lexical = ranking_of(spaces.mode).kind == "lexical"
        self._dense = None if lexical else graph.searcher("dense")
        self._top = Memo(self._best_score)

    def search(self, text: str, k: int, mask: Mask) -> ScoredRows:
        """Return the `k` best of the marked rows for a text, the best 1, less those that are not near it at all."""
        hits = self._spaces.search(text, k, mask)
        if not len(hits.rows):
            return hits
        rows, scores = hits
        if self._dense is not None:
            order = np.argsort(rows)
            cosines = np.empty(len(rows))
            cosines[order] = self._dense.scores(text, rows[order])
            near = (cosines >= LEAST_COSINE) | (cosines <= -1)  # what has no vector was found by its words
            rows, scores = rows[near], scores[near]
        return ScoredRows(rows, _scaled(scores, float(hits.scores[0])))

    def named(self, words: Sequence[str], mask: Mask) -> Rows:
        """Return the marked rows that are named so, sorted."""
        named = [rows[mask[rows]] for rows in map(self._titles, words)]
        return np.unique(np.concatenate([np.zeros(0, np.int32), *named]))

    def find(self, words: Sequence[str], text: str, k: int, mask: Mask) -> ScoredRows:
        """Return the nodes for the names in a query, 1 for each that is named so, before others that are like them.

        Of several that are named so, those that fit the whole text come first. Without names, or where none leads
        anywhere, the text is searched for.
        """
        named = self.named(words, mask)
        order = np.lexsort((named, -self.fits(text)(named))) if len(named) else np.zeros(0, np.int64)
        named = named[order][:k]
        others = self.search(", ".join(words), k, mask) if words else NONE
        if not len(named) and not len(others.rows):
            others = self.search(text, k, mask)
        new = ~np.isin(others.rows, named)
        rows = np.concatenate([named, others.rows[new]])[:k]
        scores = np.concatenate([np.ones(len(named)), others.scores[new]])[:k]
        return ScoredRows(rows.astype(np.int32), scores)

    def fits(self, text: str) -> Callable[[Rows], NDArray[np.float64]]:
        """Return what says how well sorted rows fit a text: 0 to 1, the best of the whole graph being 1."""
        top = self._top(text)
        return lambda rows: _scaled(self._spaces.scores(text, rows), top)

    def _best_score(self, text: str) -> float:
        best = self._spaces.searcher.search(text, 1).scores
        return float(best[0]) if len(best) else 0.0


def _scaled(scores: NDArray[np.float64], top: float) -> NDArray[np.float64]:
    return (scores / top).clip(0.0, 1.0) if top > 0 else np.zeros(len(scores))
