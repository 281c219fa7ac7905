"""A bonus for rows whose title stands in the query, on top of whatever ranks them."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from orienteer.errors import BadOption
from orienteer.index.arrays import Rows
from orienteer.index.bm25 import Mask, Scored
from orienteer.index.searchers import Recent, Searcher


class Titled:
    """Another searcher's ranking, in which a row whose title stands in the query has a bonus.

    The bonus is a share of the best score that the query gives any row, so that it means the same whatever the scores
    are. Who asks for the scores of some rows gets them with it.
    """

    def __init__(self, searcher: Searcher, titled: Callable[[str], Rows], bonus: float) -> None:
        if not 0 <= bonus <= 1:
            raise BadOption(f"titles is {bonus}: it must be 0 to 1")
        self._searcher, self._bonus = searcher, bonus
        self.titled = Recent(titled)
        """The rows whose title stands in a query, sorted."""
        self._best = Recent(self._best_score)

    def search(self, query: str, k: int, *, among: Rows | None = None, mask: Mask | None = None) -> Scored:
        """Return the `k` best rows, those whose title stands in the query with the bonus."""
        found = self._searcher.search(query, k, among=among, mask=mask)
        titled = self.titled(query)
        if among is not None:
            titled = np.intersect1d(titled, among)
        if mask is not None:
            titled = titled[mask[titled]]
        if not len(titled) or k < 1:
            return found
        others = np.setdiff1d(titled, found.rows).astype(np.int32)
        rows = np.concatenate([found.rows, others])
        scores = np.concatenate([found.scores, self._searcher.scores(query, others)])
        # The best of the whole graph stands first in what was found there: it need not be searched for again.
        is_whole = among is None and len(found.scores) > 0 and (mask is None or bool(mask.all()))
        best = self._best(query, (lambda _: max(0.0, float(found.scores[0]))) if is_whole else None)
        scores += self._bonus * best * np.isin(rows, titled)
        order = np.lexsort((rows, -scores))[:k]
        return Scored(rows[order], scores[order])

    def scores(self, query: str, rows: Rows) -> NDArray[np.float64]:
        """Return the score of each of these rows, with the bonus where its title stands in the query."""
        scores = self._searcher.scores(query, rows)
        titled = self.titled(query)
        return scores + self._bonus * self._best(query) * np.isin(rows, titled) if len(titled) else scores

    def _best_score(self, query: str) -> float:
        found = self._searcher.search(query, 1)
        return max(0.0, float(found.scores[0])) if len(found.scores) else 0.0
