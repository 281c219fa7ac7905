"""A bonus for rows whose title stands in the query, on top of whatever ranks them."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from orienteer.errors import BadOption
from orienteer.index.arrays import Rows
from orienteer.index.bm25 import Mask, ScoredRows
from orienteer.index.searchers import Memo, Searcher


class TitleBonus:
    """A searcher that adds a bonus to another searcher's score where a row's title stands in the query.

    The bonus is a share of the query's best score in the whole graph, so that it means the same on any scale of scores.
    """

    def __init__(self, searcher: Searcher, titled: Callable[[str], Rows], bonus: float) -> None:
        if not 0 <= bonus <= 1:
            raise BadOption(f"titles is {bonus}: it must be 0 to 1")
        self._searcher, self._bonus = searcher, bonus
        self.titled = Memo(titled)
        """The rows whose title stands in a query, sorted."""
        self._best = Memo(self._best_score)

    def search(self, query: str, k: int, *, among: Rows | None = None, mask: Mask | None = None) -> ScoredRows:
        """Return the `k` best rows, scored with the bonus."""
        ranked = self._searcher.search(query, k, among=among, mask=mask)
        titled = self.titled(query)
        if among is not None:
            titled = np.intersect1d(titled, among)
        if mask is not None:
            titled = titled[mask[titled]]
        if not len(titled) or k < 1:
            return ranked
        others = np.setdiff1d(titled, ranked.rows).astype(np.int32)
        rows = np.concatenate([ranked.rows, others])
        scores = np.concatenate([ranked.scores, self._searcher.scores(query, others)])
        # A search of the whole graph has its best score in front: no second search is needed.
        is_whole = among is None and len(ranked.scores) > 0 and (mask is None or bool(mask.all()))
        best = self._best(query, (lambda _: max(0.0, float(ranked.scores[0]))) if is_whole else None)
        scores += self._bonus * best * np.isin(rows, titled)
        order = np.lexsort((rows, -scores))[:k]
        return ScoredRows(rows[order], scores[order])

    def scores(self, query: str, rows: Rows) -> NDArray[np.float64]:
        """Return the score of each of these ascending rows, with the bonus where its title stands in the query."""
        scores = self._searcher.scores(query, rows)
        titled = self.titled(query)
        return scores + self._bonus * self._best(query) * np.isin(rows, titled) if len(titled) else scores

    def _best_score(self, query: str) -> float:
        """Return the best score in the whole graph, by a search of its own; at least 0."""
        ranked = self._searcher.search(query, 1)
        return max(0.0, float(ranked.scores[0])) if len(ranked.scores) else 0.0
