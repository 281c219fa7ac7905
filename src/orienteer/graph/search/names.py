"""What a search puts before the nodes that merely share words with it: names, beginnings and parts of names, phrases.

A query is one phrase, or several where parts of it stand in double quotes. A word that holds digits beside letters
(`JAK1`, `COVID-19`) is one term: a node that has only its parts, apart from one another, has nothing of it.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from enum import IntEnum
from typing import NamedTuple

import numpy as np

from orienteer.graph.arrays import GraphArrays
from orienteer.graph.names.parts import having_terms, having_words, phrase_places
from orienteer.graph.names.titles import TitleFinder
from orienteer.index.arrays import Rows
from orienteer.index.bm25 import Mask
from orienteer.index.names import Link, NameKind
from orienteer.patience import check_patience

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
