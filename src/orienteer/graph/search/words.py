"""What a query finds by words: what it names first, then texts, then values of properties. No method of a paper."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from orienteer.graph.arrays import GraphArrays
from orienteer.graph.search.names import Match, NameSearch, Rank
from orienteer.graph.search.query_words import QueryWords
from orienteer.graph.search.values import ValueMatch, ValueSearch
from orienteer.index.arrays import Rows
from orienteer.index.bm25 import Mask


class WordRanking(NamedTuple):
    """What a query found."""

    rows: Rows
    """(n,): the best first."""
    scores: NDArray[np.float64]
    """(n,): descending; above those by words alone stand what the query names, a step a rank."""
    words: QueryWords
    names: list[Match]
    """All nodes that the query names or quotes, best first."""
    values: list[ValueMatch]
    """What words of the query are the value of."""


class WordSearch:
    """Ranks nodes by the words of a query. Safe to share among threads."""

    def __init__(self, arrays: GraphArrays) -> None:
        self._arrays = arrays
        self._names, self._values = NameSearch(arrays), ValueSearch(arrays)

    def search(self, query: str, k: int, *, mask: Mask | None = None) -> WordRanking:
        """Return the `k` best nodes among those that a mask, (nodes,), marks.

        First stand the nodes that the words name, then those whose texts have them (BM25), then those with them as a
        value; where no text has all the words, nodes with the whole query as a value come before texts.
        """
        words = QueryWords(self._arrays, query)
        names = self._names.matches(query, mask=mask)
        values = self._values.matches(query, mask=mask)
        whole = self._names.whole_words(query)
        both = mask if whole is None else whole if mask is None else mask & whole
        ranked = self._arrays.text_index.search(words.terms, k, mask=both)
        # A step is more than any score by words, so that scores descend as ranks do.
        step = 1 + max([0.0, *ranked.scores[:1].tolist(), *(match.score for match in names[:k])])
        scores = {match.row: match.score + step * (1 + len(Rank) - match.rank) for match in names[:k]}
        if not any(coverage.is_full for coverage in words.coverages(ranked.rows)):
            for value in values:
                for row in value.rows[:k].tolist() if value.is_whole else ():
                    scores.setdefault(row, step)
        for row, score in zip(ranked.rows.tolist(), ranked.scores.tolist(), strict=True):
            scores.setdefault(row, score)
        for value in values:
            for row in value.rows[:k].tolist():
                scores.setdefault(row, 0.0)
        best = sorted(scores.items(), key=lambda item: -item[1])[:k]
        rows = np.array([row for row, _ in best], np.int32)
        return WordRanking(rows, np.array([score for _, score in best], np.float64), words, names, values)
