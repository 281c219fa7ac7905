"""The words of a query: which of them a node has, and the part of its text that shows them.

A word with digits is one thing, though the index knows its parts too: `JAK1` stands in a node as it is, or as `JAK 1`;
a node with *JAK* and *1* apart from one another lacks it, and `12` does not stand in `12Z`. Nodes are read for that.
"""

from __future__ import annotations

from collections.abc import Iterable
from itertools import pairwise
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from orienteer.graph.arrays import GraphArrays
from orienteer.graph.search.names import spellings
from orienteer.graph.search.read_words import MARKS, ReadWords
from orienteer.index.arrays import Rows
from orienteer.index.bm25 import Mask, Posting
from orienteer.text.lines import snippet

SNIPPET = 160
"""Characters of the part of a text that is shown, at most."""
_COMMON = 0.4  # a word that this share of all nodes has says nothing when it is missing
_READ = 1_000  # nodes that are read for a word: of more the index alone decides
_NAMED = 3  # missing words that are named, the rarest; the others are counted


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
        common: list[str] = []
        self._words = tokenizer.words(query)
        self._pairs: dict[str, dict[tuple[str, str], None]] = {word: {} for word in self._words}
        for pair in pairwise(self._words):
            for word in pair:
                self._pairs[word][pair] = None
        for word in self._pairs:
            postings = [posting for term in tokenizer.expand(word) if (posting := index.posting(term))]
            if not postings:
                unknown.append(word)
            elif postings[0].nodes <= _COMMON * index.count:
                self.postings[word] = postings
            else:
                common.append(word)
        self.unknown, self.common = tuple(unknown), tuple(common)
        self.weights = {posting.term: posting.idf for postings in self.postings.values() for posting in postings}

    @property
    def absent(self) -> tuple[str, ...]:
        """The words that no node has: the unknown ones, and those of which the graph holds a part at the most."""
        expand = self._arrays.tokenizer.expand
        terms = {word: {posting.term for posting in postings} for word, postings in self.postings.items()}
        in_part = (word for word, of in terms.items() if expand(word)[0] not in of and not of >= {*expand(word)[1:]})
        return *self.unknown, *in_part

    def full(self, rows: Rows, *, reads: bool = True) -> Rows:
        """Return the rows that have every telling word. `rows` is (n,), ascending, as is the result.

        A text is read for words with digits; without `reads` their parts may stand apart from one another.
        """
        if self.unknown:
            return rows[:0]
        for word in self.postings:
            rows = self._having_terms(word, rows)
        return self._having_whole(self.postings, rows) if reads else rows

    def _having_terms(self, word: str, rows: Rows) -> Rows:
        """Keep the rows that have the term of a word, or those of all parts of one that mixes digits and letters."""
        index, expanded = self._arrays.text_index, self._arrays.tokenizer.expand(word)
        of = {posting.term: posting for posting in self.postings[word]}
        whole = index.having(of[expanded[0]], rows) if expanded[0] in of else rows[:0]
        if len(expanded) == 1 or not of.keys() >= set(expanded[1:]):
            return whole
        for term in expanded[1:]:
            rows = index.having(of[term], rows)
        return np.union1d(whole, rows)

    def _having_whole(self, sought: Iterable[str], rows: Rows) -> Rows:
        """Keep the rows in which all words with digits stand whole, as far as they can be read."""
        numbered = [word for word in sought if any(map(str.isdigit, word))]
        if not numbered or not 0 < len(rows) <= _READ:
            return rows
        read = ReadWords(self._arrays, rows)
        return rows[np.logical_and.reduce([self._stands(word, read) for word in numbered])]

    def _stands(self, word: str, read: ReadWords) -> Mask:
        """Mark the nodes in which a word with digits stands: as it is, parted, or joined to its neighbour."""
        around = self._pairs[word] if word.isdecimal() else ()
        joined = [mark.join(pair) for pair in around for mark in ("", *MARKS.values())]
        ways = [self._arrays.tokenizer.words(spelling) for spelling in dict.fromkeys((*spellings(word), *joined))]
        return np.asarray(np.logical_or.reduce([read.having(way) for way in ways]))

    def full_in(self, among: Rows | None, *, reads: bool = True) -> Rows:
        """Return the rows that have every telling word, of the whole graph or of `among`: ascending. As `full` does."""
        if among is not None:
            return self.full(among, reads=reads)
        index = self._arrays.text_index
        rarest = min(self.postings.values(), key=lambda postings: sum(posting.nodes for posting in postings))
        rows = np.unique(np.concatenate([index.rows_of(posting) for posting in rarest]))
        return self.full(rows, reads=reads)

    def coverages(self, rows: Rows) -> list[Coverage]:
        """Return for each row which words it has, in the order of `rows`."""
        order = np.argsort(rows)
        ascending = rows[order]
        has = {
            word: set(self._having_whole([word], self._having_terms(word, ascending)).tolist())
            for word in self.postings
        }
        rare = sorted(self.postings, key=lambda word: -self.postings[word][0].idf)
        total = len(self.postings) + len(self.unknown)
        coverages = []
        for row in rows.tolist():
            missing = (*self.unknown, *(word for word in rare if row not in has[word]))
            coverages.append(Coverage(total - len(missing), total, missing))
        return coverages

    def phrase_weights(self, rows: Rows) -> NDArray[np.float64]:
        """Return for each row what words of the query weigh that stand in it side by side, as they do there: (n,).

        It is the sum of their weights (IDF), of the heaviest such phrase; words that most nodes have weigh nothing. One
        word alone is no phrase, and weighs 0.
        """
        weights = [self.postings[word][0].idf if word in self.postings else 0.0 for word in self._words]
        return ReadWords(self._arrays, rows).heaviest_runs(self._words, weights, least=2)

    def snippet(self, row: int, *, width: int = SNIPPET) -> str:
        """Return the part of a node's text that holds the query's rarest words, at most `width` characters."""
        return snippet(self._arrays.texts[row], self.weights, self._arrays.tokenizer.terms_of, width=width)


def coverage_note(coverage: Coverage) -> str:
    """Return how much of the query a node has."""
    if not coverage.of:
        return ""
    missing = f", not: {', '.join(coverage.missing[:_NAMED])}" if coverage.missing else ""
    more = f" and {len(coverage.missing) - _NAMED} more" if len(coverage.missing) > _NAMED else ""
    return f" {coverage.number}/{coverage.of} words{missing}{more}"
