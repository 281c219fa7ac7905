"""What a search puts before the nodes that merely share words with it: names, beginnings and parts of names, phrases.

A query is one phrase, or several where parts of it stand in double quotes. A word that holds digits beside letters
(`JAK1`, `COVID-19`) is one term: a node that has only its parts, apart from one another, has nothing of it.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from enum import IntEnum
from itertools import pairwise
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from orienteer.graph.arrays import GraphArrays
from orienteer.graph.names import having_terms, having_words, phrase_places
from orienteer.graph.properties import Condition
from orienteer.graph.titles import TitleFinder
from orienteer.index import words
from orienteer.index.arrays import Rows
from orienteer.index.bm25 import Mask, Posting
from orienteer.index.names import Link, NameKind
from orienteer.patience import check_patience
from orienteer.text.english import STOP
from orienteer.text.sentences import single_spaced, snippet
from orienteer.text.tokenizer import plural

_QUOTED = re.compile(r'["“”„]([^"“”„]+)["“”„]')
_COMPOUND = re.compile(r"(?<!\w)\w++(?:[-\u2010-\u2013]\w++)+")
_HALVES = re.compile(
    r"(?<![^\W\d_])([^\W\d_]++)[-\u2010-\u2013 ]?(\d+)|(?<!\d)(\d++)[-\u2010-\u2013 ]?([^\W\d_]+)"
)  # begun at the first letter or digit of a run alone: from each, a word of n letters would take n * n steps
_READ = 1_000  # texts that are read for a phrase, the best by words first: bounds the time
_LISTED = 8  # nodes of one name that are listed
_LEAST_WORDS = 2  # of a phrase in a text, and of a name inside a longer query: one word alone says too little


class Rank(IntEnum):
    """Where a node stands, best first."""

    ID = 0
    EXACT = 1
    """The query is its name, to the letter."""
    SPELLED = 2
    """The query is its name, but for case."""
    NAME = 3
    """The query has the words of its name."""
    ALIAS = 4
    """The query is its identifier, an alias, or its name turned."""
    STEM = 5
    """The query has the stems of its name or of an alias."""
    BEGINS = 6
    """Its name begins with the query, word by word."""
    HOLDS = 7
    """Its name holds the query, word by word."""
    NAMED = 8
    """The query holds its name, of several words."""
    SCATTERED = 9
    """Its name has all the words of the query."""
    PHRASE = 10
    """Its text holds the query, or what is quoted in it, word by word."""


WHY = {
    Rank.ID: "its id",
    Rank.EXACT: "its name",
    Rank.SPELLED: "its name",
    Rank.NAME: "its name",
    Rank.ALIAS: "another name of it",
    Rank.STEM: "nearly its name",
    Rank.BEGINS: "its name begins so",
    Rank.HOLDS: "in its name",
    Rank.NAMED: "its name is in the query",
    Rank.SCATTERED: "all in its name",
    Rank.PHRASE: "the phrase is in its text",
}


class Match(NamedTuple):
    """A node that comes before those that merely share words."""

    row: int
    rank: Rank
    score: float
    """BM25 of the whole query."""


class NameSearch:
    """Finds what a query names. Safe to share among threads."""

    def __init__(self, arrays: GraphArrays) -> None:
        self._arrays = arrays

    def matches(self, query: str, *, among: Rows | None = None, mask: Mask | None = None) -> list[Match]:
        """Return the nodes that a query names or quotes, best first; of one rank by BM25, ties by id.

        `among`, ascending rows, and `mask`, (nodes,), restrict them.
        """
        ranks: dict[int, Rank] = {}
        for phrase in phrases(query):
            check_patience()
            for row, rank in (*self._named(phrase), *self._inside_names(phrase), *self._in_texts(phrase)):
                ranks[row] = min(rank, ranks.get(row, rank))
        for row in self._names_inside(query):
            ranks.setdefault(row, Rank.NAMED)
        rows = np.array(sorted(ranks), np.int32)
        if among is not None:
            rows = np.intersect1d(rows, among)
        if mask is not None:
            rows = rows[mask[rows]]
        scores = self._arrays.text_index.scores(self._arrays.tokenizer.query(query), rows)
        matches = [Match(row, ranks[row], score) for row, score in zip(rows.tolist(), scores.tolist(), strict=True)]
        return sorted(matches, key=lambda match: (match.rank, -match.score, match.row))

    def whole_words(self, query: str) -> Mask | None:
        """Mark the nodes that have a word of a query as a whole: (nodes,); None where none has digits and letters."""
        arrays = self._arrays
        compounds = [arrays.tokenizer.words(match[0]) for match in _compounds(query)]
        plain = arrays.tokenizer.words(_COMPOUND.sub(lambda m: " " if _is_mixed(m[0]) else m[0], query))
        groups = [*compounds, *([word] for word in plain)]
        if not any(_is_mixed("".join(group)) for group in groups):
            return None
        marked = np.zeros(len(arrays), np.bool_)
        for group in groups:
            for way in self._ways(group):
                marked[having_terms(arrays, way)] = True
        return marked

    def _ways(self, group: Sequence[str]) -> Iterator[list[str]]:
        """Yield the sets of terms of which a node needs one to have a word: the whole, or all its parts."""
        expand = self._arrays.tokenizer.expand
        terms = [expand(word) for word in group]
        yield [own[0] for own in terms]
        if len(group) > 1:
            yield [expand("".join(group))[0]]
        elif len(terms[0]) > 1:
            yield list(terms[0][1:])

    def _named(self, phrase: str) -> Iterator[tuple[int, Rank]]:
        """Yield the nodes that a phrase is the id, the name or another name of, however a number in it is joined."""
        arrays = self._arrays
        if (row := arrays.ids.find(phrase)) is not None:
            yield row, Rank.ID
        folded = phrase.casefold()
        for link in (link for spelling in spellings(phrase) for link in self._links(spelling)):
            if not link.is_exact:
                yield link.row, Rank.STEM
            elif link.kind is not NameKind.NAME:
                yield link.row, Rank.ALIAS
            elif (name := arrays.names[link.row]) == phrase:
                yield link.row, Rank.EXACT
            else:
                yield link.row, Rank.SPELLED if name.casefold() == folded else Rank.NAME

    def _links(self, phrase: str) -> list[Link]:
        index, own = self._arrays.name_index, self._arrays.tokenizer.words(phrase)
        return index.called(phrase) + (index.stem_links(own) if own else [])

    def _inside_names(self, phrase: str) -> Iterator[tuple[int, Rank]]:
        """Yield the nodes whose name begins with a phrase, holds it, or has all its words."""
        for spelling in spellings(phrase):
            own = self._arrays.tokenizer.words(spelling)
            places = phrase_places(self._arrays, self._arrays.names, having_words(self._arrays, own), own)
            for row, first in zip(places.rows.tolist(), places.first.tolist(), strict=True):
                yield row, Rank.BEGINS if first == 0 else Rank.HOLDS if first > 0 else Rank.SCATTERED

    def _in_texts(self, phrase: str) -> Iterator[tuple[int, Rank]]:
        """Yield the nodes whose text holds a phrase of several words."""
        arrays = self._arrays
        own = arrays.tokenizer.words(phrase)
        if len(own) < _LEAST_WORDS:
            return
        rows = having_words(arrays, own)
        if len(rows) > _READ:
            rows = np.sort(arrays.text_index.search(arrays.tokenizer.query(phrase), _READ, among=rows).rows)
        places = phrase_places(arrays, arrays.texts, rows, own)
        for row in places.rows[places.first >= 0].tolist():
            yield row, Rank.PHRASE

    def _names_inside(self, query: str) -> Iterator[int]:
        """Yield the nodes whose name, of several words, is a part of the query."""
        if len(self._arrays.tokenizer.words(query)) <= _LEAST_WORDS:
            return
        for place in TitleFinder(self._arrays, lower=True).places(query):
            if len(self._arrays.tokenizer.words(query[place.begin : place.end])) >= _LEAST_WORDS:
                yield from place.rows


def namesakes(arrays: GraphArrays, name: str, mask: Mask | None = None) -> list[int]:
    """Return the rows that a name, which is no id, may mean: nodes with it as name or alias, but for case; ascending.

    `mask`, (nodes,), restricts them.
    """
    if arrays.ids.find(name) is not None:
        return []
    folded = name.casefold()
    rows = {link.row for link in arrays.name_index.called(name) if mask is None or mask[link.row]}
    own = {row: (arrays.names[row], *arrays.aliases_at(row)) for row in sorted(rows)}
    return [row for row, names in own.items() if folded in map(str.casefold, names)]


def shared_name(arrays: GraphArrays, name: str, mask: Mask | None = None) -> str | None:
    """Say which nodes share a name, so that none is chosen in silence; None where no two do."""
    rows = namesakes(arrays, name, mask)
    if len(rows) < 2:
        return None
    listed = "; ".join(f"{arrays.ids[row]} ({arrays.type_at(row)})" for row in rows[:_LISTED])
    more = f"; and {len(rows) - _LISTED:,} more" if len(rows) > _LISTED else ""
    return f"{len(rows):,} nodes bear the name {name!r}: {listed}{more}"


def phrases(query: str) -> list[str]:
    """Return what is quoted in a query; where nothing is, the query."""
    quoted = [phrase.strip() for phrase in _QUOTED.findall(query)]
    return list(dict.fromkeys(filter(None, quoted))) or [query.strip()]


def _compounds(query: str) -> Iterator[re.Match[str]]:
    return (match for match in _COMPOUND.finditer(query) if _is_mixed(match[0]))


def _is_mixed(text: str) -> bool:
    """Return whether a text has digits and letters."""
    return any(map(str.isdigit, text)) and any(map(str.isalpha, text))


def spellings(phrase: str) -> list[str]:
    """Return a phrase, and as it is written where its letters and numbers are joined, or parted: `IL6`, `IL 6`."""
    joined = _HALVES.sub(lambda match: "".join(filter(None, match.groups())), phrase)
    parted = _HALVES.sub(lambda match: " ".join(filter(None, match.groups())), phrase)
    return list(dict.fromkeys((phrase, joined, parted)))


# The words of a query: which of them a node has, and the part of its text that shows them.
#
# A word with digits is one thing, though the index knows its parts too: `JAK1` stands in a node as it is, or as `JAK
# 1`; a node with *JAK* and *1* apart from one another lacks it, and `12` does not stand in `12Z`. Nodes are read for
# that.


SNIPPET = 160
"""Characters of the part of a text that is shown, at most."""
_COMMON = 0.4  # a word that this share of all nodes has says nothing when it is missing
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
        whole = index.filter_rows(of[expanded[0]], rows) if expanded[0] in of else rows[:0]
        if len(expanded) == 1 or not of.keys() >= set(expanded[1:]):
            return whole
        for term in expanded[1:]:
            rows = index.filter_rows(of[term], rows)
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


# The words of a few nodes as they stand in their names, aliases and texts: what an index of terms cannot tell.
#
# A mark between digits joins them to one word: neither 8 nor 12 stands in `8,12-dienoic`, nor 5 in `3.5`.


_MARK = re.compile(r"(?<=\d)[.,](?=\d)")
MARKS = {".": "point", ",": "comma"}
"""What stands in a joined number for its mark: `3.5` is read as the word `3point5`."""


class ReadWords:
    """Some nodes, read: which words stand in them side by side."""

    def __init__(self, arrays: GraphArrays, rows: Rows) -> None:
        """`rows` is (n,), in any order; what is told of them is in this order."""
        parts = [
            (place, text)
            for place, row in enumerate(rows.tolist())
            for text in (arrays.names[row], *arrays.aliases_at(row), arrays.texts[row])
        ]
        joined = [_MARK.sub(lambda mark: MARKS[mark[0]], text) for _, text in parts]
        split = words.split(joined, arrays.tokenizer)
        begins = split.firsts[:-1]
        self._count, self._hashes = len(rows), split.hashes
        self._begins = begins[begins < len(split.hashes)]  # (parts,): where a text's first word stands
        self._nodes = np.array([place for place, _ in parts], np.int64)[split.texts]  # (words,)

    def heaviest_runs(self, phrase: Sequence[str], weights: Sequence[float], *, least: int = 1) -> NDArray[np.float64]:
        """Return for each node the most that words of a phrase weigh which stand in it as they do there: (n,).

        They stand in a row, in one text, in the phrase's order, and at least so many of them weigh something, else it
        is 0. `weights` are those of the phrase's words, none below 0.
        """
        heaviest = np.zeros(self._count)
        run = np.zeros(len(self._hashes))  # (words,): what the run that ends here weighs
        size = np.zeros(len(self._hashes), np.int64)  # (words,): how many words of it weigh something
        for word, weight in zip(phrase, weights, strict=True):
            before, fewer = np.roll(run, 1), np.roll(size, 1)
            before[self._begins] = fewer[self._begins] = 0  # a run does not go on from one text to the next
            is_here = self._hashes == np.uint64(words.word_hash(word.encode()))
            run, size = np.where(is_here, before + weight, 0), np.where(is_here, fewer + (weight > 0), 0)
            ends = size >= least
            np.maximum.at(heaviest, self._nodes[ends], run[ends])
        return heaviest

    def having(self, phrase: Sequence[str]) -> Mask:
        """Mark the nodes in which a phrase stands, word by word: (n,)."""
        return np.asarray(self.heaviest_runs(phrase, [1] * len(phrase)) == len(phrase))


# Values of properties as words that can be searched: `Belgium` is the country of seven breweries.


_LONGEST = 6  # words of a value that is looked for inside a longer query
_MOST_WORDS = 40  # of a query: bounds the time


class ValueMatch(NamedTuple):
    """Words of a query that are the value of a property."""

    name: str
    """The property."""
    value: str
    """As the query has it."""
    rows: Rows
    """The nodes with it: (n,), ascending."""
    is_whole: bool
    """Whether the query, or what it quotes, is the value."""

    @property
    def condition(self) -> str:
        """The condition that these nodes meet, for `where`."""
        return f"{self.name}={self.value}"


class ValueSearch:
    """Finds the nodes that have the words of a query as a value. Safe to share among threads."""

    def __init__(self, arrays: GraphArrays) -> None:
        self._arrays = arrays

    def matches(self, query: str, *, among: Rows | None = None, mask: Mask | None = None) -> list[ValueMatch]:
        """Return the properties that have a query as a value, else those that have the longest parts of it.

        Exact but for case. `among`, ascending rows, and `mask`, (nodes,), restrict the nodes.
        """
        whole = [match for phrase in phrases(query) for match in self._of(phrase, among, mask, is_whole=True)]
        return whole or list(self._inside(query, among, mask))

    def _of(self, text: str, among: Rows | None, mask: Mask | None, *, is_whole: bool) -> Iterator[ValueMatch]:
        properties = self._arrays.properties
        text = single_spaced(text)
        for name in properties.having(text) if text else ():
            rows = np.flatnonzero(properties.mask([Condition(name, "=", text)])).astype(np.int32)
            if among is not None:
                rows = np.intersect1d(rows, among)
            if mask is not None:
                rows = rows[mask[rows]]
            if len(rows):
                yield ValueMatch(name, text, rows, is_whole)

    def _inside(self, query: str, among: Rows | None, mask: Mask | None) -> Iterator[ValueMatch]:
        """Yield the values that stand in a query, from left to right, the longest at each word; no word is in two."""
        own = query.split()[:_MOST_WORDS]
        at = 0
        while at < len(own):
            end = min(len(own), at + _LONGEST)
            while end > at and not (matches := self._part(own[at:end], among, mask)):
                end -= 1
            if end > at:
                yield from matches
            at = max(end, at + 1)

    def _part(self, own: Sequence[str], among: Rows | None, mask: Mask | None) -> list[ValueMatch]:
        text = " ".join(own).strip(".,;:?!'\"")
        if text.casefold() in STOP:
            return []
        return list(self._of(text, among, mask, is_whole=False))

    def sentence(self, match: ValueMatch) -> str:
        """Return what a value is to the nodes that have it: `it is the country of 7 breweries`."""
        arrays = self._arrays
        numbers, counts = np.unique(arrays.node_types[match.rows], return_counts=True)
        order = np.argsort(-counts, kind="stable")
        nouns = [
            arrays.schema.label(arrays.types.nodes[number]).replace("_", " ") for number in numbers[order].tolist()
        ]
        parts = [
            f"{count:,} {noun if count == 1 else plural(noun)}"
            for noun, count in zip(nouns, counts[order].tolist(), strict=True)
        ]
        if len(parts) > _NAMED:
            parts = [*parts[:_NAMED], f"{sum(counts[order][_NAMED:].tolist()):,} others"]
        listed = parts[0] if len(parts) == 1 else f"{', '.join(parts[:-1])} and {parts[-1]}"
        return f"it is the {match.name.replace('_', ' ')} of {listed}"


# What a query finds by words: what it names first, then texts, then values of properties. No method of a paper.


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
