"""The words of a query: which of them a node has, and the part of its text that shows them."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from orienteer.graph.arrays import GraphArrays
from orienteer.index.arrays import Rows
from orienteer.index.bm25 import Posting
from orienteer.text.lines import snippet

SNIPPET = 160
"""Characters of the part of a text that is shown, at most."""
_COMMON = 0.4  # a word that this share of all nodes has says nothing when it is missing


class Coverage(NamedTuple):
    """How many of a query's words a node has, and which it lacks."""

    number: int
    of: int
    missing: tuple[str, ...]
    """Rarest first."""

    @property
    def is_full(self) -> bool:
        """No word is missing."""
        return not self.missing


class QueryWords:
    """The words of a query, which explain its hits."""

    def __init__(self, arrays: GraphArrays, query: str) -> None:
        self._arrays, self.query = arrays, query
        tokenizer, index = arrays.tokenizer, arrays.text_index
        self.terms = tokenizer.query(query)
        self.postings: dict[str, list[Posting]] = {}
        unknown: list[str] = []
        for word in dict.fromkeys(tokenizer.words(query)):
            postings = [posting for term in tokenizer.expand(word) if (posting := index.posting(term))]
            if not postings:
                unknown.append(word)
            elif postings[0].nodes <= _COMMON * index.count:
                self.postings[word] = postings
        self.unknown = tuple(unknown)
        self.weights = {posting.term: posting.idf for postings in self.postings.values() for posting in postings}

    def full(self, rows: Rows) -> Rows:
        """Return the rows that have every telling word. `rows` is (n,), ascending, as is the result."""
        if self.unknown:
            return rows[:0]
        for word in self.postings:
            rows = self._having(word, rows)
        return rows

    def _having(self, word: str, rows: Rows) -> Rows:
        """Keep the rows that have a word: as a whole, or all the parts of one that mixes digits and letters."""
        index, expanded = self._arrays.text_index, self._arrays.tokenizer.expand(word)
        of = {posting.term: posting for posting in self.postings[word]}
        whole = index.having(of[expanded[0]], rows) if expanded[0] in of else rows[:0]
        if len(expanded) == 1 or not of.keys() >= set(expanded[1:]):
            return whole
        for term in expanded[1:]:
            rows = index.having(of[term], rows)
        return np.union1d(whole, rows)

    def full_in(self, among: Rows | None) -> Rows:
        """Return the rows that have every telling word, of the whole graph or of `among`: ascending."""
        if among is not None:
            return self.full(among)
        index = self._arrays.text_index
        rarest = min(self.postings.values(), key=lambda postings: sum(posting.nodes for posting in postings))
        return self.full(np.unique(np.concatenate([index.rows_of(posting) for posting in rarest])))

    def coverages(self, rows: Rows) -> list[Coverage]:
        """Return for each row which words it has, in the order of `rows`."""
        order = np.argsort(rows)
        ascending = rows[order]
        has = {word: set(self._having(word, ascending).tolist()) for word in self.postings}
        rare = sorted(self.postings, key=lambda word: -self.postings[word][0].idf)
        total = len(self.postings) + len(self.unknown)
        coverages = []
        for row in rows.tolist():
            missing = (*self.unknown, *(word for word in rare if row not in has[word]))
            coverages.append(Coverage(total - len(missing), total, missing))
        return coverages

    def snippet(self, row: int, *, width: int = SNIPPET) -> str:
        """Return the part of a node's text that holds the query's rarest words, at most `width` characters."""
        return snippet(self._arrays.texts[row], self.weights, self._arrays.tokenizer.terms_of, width=width)


def coverage_note(coverage: Coverage) -> str:
    """Return how much of the query a node has."""
    if not coverage.of:
        return ""
    missing = f", not: {', '.join(coverage.missing[:3])}" if coverage.missing else ""
    return f" {coverage.number}/{coverage.of} words{missing}"
