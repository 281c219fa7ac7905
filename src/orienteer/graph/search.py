"""Searches by words: first the nodes that a query names or quotes, then those that share words or values with it.

A query is one phrase, or several if parts of it are in double quotes. A word of letters and digits (`JAK1`,
`COVID-19`) is one term: a node with only its parts, not next to one another, does not have it.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from enum import IntEnum
from itertools import pairwise
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from orienteer.graph.adjacency import distinct
from orienteer.graph.arrays import GraphArrays
from orienteer.graph.names import Place, having_terms, having_words, phrase_places
from orienteer.graph.properties import Condition
from orienteer.graph.titles import LONGEST, TitleFinder
from orienteer.index import words
from orienteer.index.arrays import Rows
from orienteer.index.bm25 import Mask, Posting, ScoredRows
from orienteer.index.names import Link, NameKind
from orienteer.patience import check_patience
from orienteer.text.english import STOP
from orienteer.text.sentences import single_spaced, snippet
from orienteer.text.tokenizer import plural

_QUOTED = re.compile(r'["“”„]([^"“”„]+)["“”„]')
_COMPOUND = re.compile(r"(?<!\w)\w++(?:[-\u2010-\u2013]\w++)+")
_HALVES = re.compile(
    r"(?<![^\W\d_])([^\W\d_]++)[-\u2010-\u2013 ]?(\d+)|(?<!\d)(\d++)[-\u2010-\u2013 ]?([^\W\d_]+)"
)  # it begins only at the first letter or digit of a run: from each, a word of n letters would take n * n steps
_DIGIT = re.compile(r"\d")
_READ = 1_000  # texts that are read for a phrase, the best by words first: bounds the time
_LISTED = 8  # nodes of one name that are listed
_LEAST_WORDS = 2  # of a phrase in a text, and of a name inside a longer query: one word alone says too little


class Rank(IntEnum):
    """The rank of a node that a query names, best first."""

    ID = 0
    EXACT = 1
    """The query is its name, to the letter."""
    SPELLED = 2
    """The query is its name, but for case."""
    NAME = 3
    """The query has the words of its name."""
    ALIAS = 4
    """The query is its identifier, an alias, or its name inverted."""
    STEM = 5
    """The query has the stems of its name or of an alias."""
    BEGINS = 6
    """Its name begins with the query, word by word."""
    HOLDS = 7
    """Its name contains the query, word by word."""
    NAMED = 8
    """The query contains its name, of several words."""
    SCATTERED = 9
    """Its name has all the words of the query."""
    PHRASE = 10
    """Its text contains the query, or its quotation, word by word."""


_OF_PLACE: dict[Place, Rank] = {"first": Rank.BEGINS, "inside": Rank.HOLDS, "scattered": Rank.SCATTERED}
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
    """A node that a query names or quotes."""

    row: int
    rank: Rank
    score: float
    """BM25 of the whole query."""


def _restricted(rows: Rows, among: Rows | None, mask: Mask | None) -> Rows:
    """Return the ascending rows that are in `among`, ascending too, and under the mask."""
    rows = rows if among is None else np.intersect1d(rows, among)
    return rows if mask is None else rows[mask[rows]]


class NameSearch:
    """Finds the nodes that a query names. Safe to share among threads."""

    def __init__(self, arrays: GraphArrays) -> None:
        self._arrays = arrays

    def matches(
        self,
        query: str,
        k: int | None = None,
        *,
        among: Rows | None = None,
        mask: Mask | None = None,
        ranked: ScoredRows | None = None,
    ) -> list[Match]:
        """Return the first `k` nodes that a query names or quotes, or all, best first; of one rank by BM25, ties by id.

        `among`, ascending rows, and `mask`, (nodes,), restrict them. `ranked` is what BM25 finds for the query.
        """
        ranks: dict[int, Rank] = {}
        arrays, words_of = self._arrays, self._arrays.tokenizer.words
        own = words_of(query)
        runs = arrays.name_index.runs([[word] for word in own], range(len(own)), LONGEST)
        for phrase in phrases(query):
            check_patience()
            may_be_name = (0, len(own)) in runs or len(own) > LONGEST or phrase != query.strip()
            for row, rank in self._ranked(phrase, may_be_name=may_be_name):
                ranks[row] = min(rank, ranks.get(row, rank))
        # The nodes whose name, of several words, is a part of the query. Not all scripts have spaces between words.
        has_name = any(last - first >= _LEAST_WORDS for first, last in runs)
        if len(own) > _LEAST_WORDS and (has_name or arrays.shorter_names or not query.isascii()):
            for place in TitleFinder(arrays, lower=True).places(query):
                if len(words_of(query[place.begin : place.end])) >= _LEAST_WORDS:
                    ranks |= {row: ranks.get(row, Rank.NAMED) for row in place.rows}
        if not ranks:
            return []
        rows = _restricted(np.array(sorted(ranks), np.int32), among, mask)
        known = dict(zip(ranked.rows.tolist(), ranked.scores.tolist(), strict=True)) if ranked else {}
        if not all(row in known for row in rows.tolist()):
            scores = arrays.text_index.scores(arrays.tokenizer.query(query), rows)
            known = dict(zip(rows.tolist(), scores.tolist(), strict=True))
        best = sorted((ranks[row], -known[row], row) for row in rows.tolist())[:k]
        return [Match(row, rank, -score) for rank, score, row in best]

    def whole_words(self, query: str) -> Mask | None:
        """Mark the nodes with a whole word of a query: (nodes,); None if no word has digits and letters."""
        arrays, expand = self._arrays, self._arrays.tokenizer.expand
        if all(map(str.isalpha, arrays.tokenizer.words(query))):
            return None
        compounds = [arrays.tokenizer.words(match) for match in filter(_is_mixed, _COMPOUND.findall(query))]
        plain = arrays.tokenizer.words(_COMPOUND.sub(lambda m: " " if _is_mixed(m[0]) else m[0], query))
        groups = [*compounds, *([word] for word in plain)]
        if not any(_is_mixed("".join(group)) for group in groups):
            return None
        marked = np.zeros(len(arrays), np.bool_)
        for group in groups:
            # A node has a word if it has the whole, or all its parts.
            terms = [expand(word) for word in group]
            marked[having_terms(arrays, [own[0] for own in terms])] = True
            if len(group) > 1:
                marked[having_terms(arrays, expand("".join(group))[:1])] = True
            elif len(terms[0]) > 1:
                marked[having_terms(arrays, terms[0][1:])] = True
        return marked

    def _ranked(self, phrase: str, *, may_be_name: bool) -> Iterator[tuple[int, Rank]]:
        """Yield the nodes with a phrase as id, name or alias, in their name or text, however letters and numbers join.

        A node may come several times.
        """
        arrays, index = self._arrays, self._arrays.name_index
        if (row := arrays.ids.find(phrase)) is not None:
            yield row, Rank.ID
        for spelling in spellings(phrase):
            own = arrays.tokenizer.words(spelling)
            stems = index.stem_links(own) if own and (may_be_name or spelling != phrase) else []
            for link in (*(index.called(spelling) if stems or not own else ()), *stems):
                yield link.row, self._rank(link, phrase)
            rows = having_words(arrays, own)
            for row, place in phrase_places(arrays, arrays.names, rows, own):
                yield row, _OF_PLACE[place]
            if len(own) < _LEAST_WORDS or spelling != phrase:
                continue
            if len(rows) > _READ:
                rows = np.sort(arrays.text_index.search(arrays.tokenizer.query(phrase), _READ, among=rows).rows)
            yield from ((row, Rank.PHRASE) for row, _ in phrase_places(arrays, arrays.texts, rows, own, in_row=True))

    def _rank(self, link: Link, phrase: str) -> Rank:
        if not link.is_exact:
            return Rank.STEM
        if link.kind is not NameKind.NAME:
            return Rank.ALIAS
        name = self._arrays.names[link.row]
        return Rank.EXACT if name == phrase else Rank.SPELLED if name.casefold() == phrase.casefold() else Rank.NAME


def namesakes(arrays: GraphArrays, name: str, mask: Mask | None = None) -> list[int]:
    """Return the rows with this name or alias, in any case, ascending; none if it is an id. `mask` restricts them."""
    if arrays.ids.find(name) is not None:
        return []
    folded = name.casefold()
    rows = {link.row for link in arrays.name_index.called(name) if mask is None or mask[link.row]}
    own = {row: (arrays.names[row], *arrays.aliases_at(row)) for row in sorted(rows)}
    return [row for row, names in own.items() if folded in map(str.casefold, names)]


def shared_name(arrays: GraphArrays, name: str, mask: Mask | None = None) -> str | None:
    """Return a note listing the nodes with this name, or None if at most one has it."""
    rows = namesakes(arrays, name, mask)
    if len(rows) < 2:
        return None
    listed = "; ".join(f"{arrays.ids[row]} ({arrays.type_at(row)})" for row in rows[:_LISTED])
    more = f"; and {len(rows) - _LISTED:,} more" if len(rows) > _LISTED else ""
    return f"{len(rows):,} nodes bear the name {name!r}: {listed}{more}"


def phrases(query: str) -> list[str]:
    """Return the quotations in a query, or the query if it has none."""
    quoted = dict.fromkeys(map(str.strip, _QUOTED.findall(query)))
    return list(filter(None, quoted)) or [query.strip()]


def _is_mixed(text: str) -> bool:
    """Return whether a text has digits and letters."""
    return any(map(str.isdigit, text)) and any(map(str.isalpha, text))


def spellings(phrase: str) -> list[str]:
    """Return a phrase, and its spellings with letters and numbers joined, or split: `IL6`, `IL 6`."""
    if _DIGIT.search(phrase) is None:
        return [phrase]
    joined = _HALVES.sub(lambda match: "".join(filter(None, match.groups())), phrase)
    split = _HALVES.sub(lambda match: " ".join(filter(None, match.groups())), phrase)
    return list(dict.fromkeys((phrase, joined, split)))


SNIPPET = 160
"""Characters of a snippet at most."""
_COMMON = 0.4  # a missing word that this share of all nodes has says nothing
_NAMED = 3  # missing words that a note lists, the rarest; it counts the others


class Coverage(NamedTuple):
    """The number of a query's words that a node has, of how many, and those that it lacks."""

    number: int
    of: int
    missing: tuple[str, ...]
    """Rarest first."""

    @property
    def is_full(self) -> bool:
        """Return whether no word is missing."""
        return not self.missing


class QueryWords:
    """The words of a query, which explain its hits.

    A word with digits is one word, though the index has its parts too: a node has `JAK1` as `JAK1` or `JAK 1`; a node
    with *JAK* and *1* in different places lacks it, and `12Z` is not `12`. Texts are read for that.
    """

    def __init__(self, arrays: GraphArrays, query: str) -> None:
        self._arrays, self.query = arrays, query
        expand, index = arrays.tokenizer.expand, arrays.text_index
        self.postings: dict[str, list[Posting]] = {}
        unknown: list[str] = []
        common: list[str] = []
        terms: dict[str, None] = {}
        self._words = arrays.tokenizer.words(query)
        for word in dict.fromkeys(self._words):
            own = expand(word)
            terms |= dict.fromkeys(own)
            postings = [posting for term in own if (posting := index.posting(term))]
            if not postings:
                unknown.append(word)
            elif postings[0].nodes <= _COMMON * index.count:
                self.postings[word] = postings
            else:
                common.append(word)
        self.terms, self.unknown, self.common = list(terms), tuple(unknown), tuple(common)

    @property
    def weights(self) -> dict[str, float]:
        """The idf of each term of the words in the graph that are not common."""
        return {posting.term: posting.idf for postings in self.postings.values() for posting in postings}

    @property
    def absent(self) -> tuple[str, ...]:
        """The words that no node has: the unknown ones, and those with only some parts in the graph."""
        expand = self._arrays.tokenizer.expand
        terms = {word: {posting.term for posting in postings} for word, postings in self.postings.items()}
        in_part = (word for word, of in terms.items() if expand(word)[0] not in of and not of >= {*expand(word)[1:]})
        return *self.unknown, *in_part

    def full(self, rows: Rows, *, reads: bool = True) -> Rows:
        """Return the rows that have every word but the common ones. `rows` is (n,), ascending, as is the result.

        Texts are read for words with digits; without `reads`, their parts may be in different places.
        """
        if self.unknown:
            return rows[:0]
        for word in self.postings:
            rows = self._having_terms(word, rows)
        return self._having_whole(self.postings, rows) if reads else rows

    def _having_terms(self, word: str, rows: Rows) -> Rows:
        """Return the rows with the term of a word, or with those of all its parts if it mixes digits and letters."""
        index, expanded = self._arrays.text_index, self._arrays.tokenizer.expand(word)
        of = {posting.term: posting for posting in self.postings[word]}
        whole = index.filter_rows(of[expanded[0]], rows) if expanded[0] in of else rows[:0]
        if len(expanded) == 1 or not of.keys() >= set(expanded[1:]):
            return whole
        for term in expanded[1:]:
            rows = index.filter_rows(of[term], rows)
        return np.union1d(whole, rows)

    def _having_whole(self, sought: Iterable[str], rows: Rows) -> Rows:
        """Return the rows that have all words with digits as whole words; too many rows are returned unread."""
        numbered = [word for word in sought if any(map(str.isdigit, word))]
        if not numbered or not 0 < len(rows) <= _READ:
            return rows
        read = ReadWords(self._arrays, rows)
        keep = np.ones(len(rows), np.bool_)
        for word in numbered:
            # The spellings of a word: with its letters and digits joined or split, or joined to its neighbour.
            pairs = [pair for pair in pairwise(self._words) if word in pair] if word.isdecimal() else []
            joined = [mark.join(pair) for pair in pairs for mark in ("", *MARKS.values())]
            phrases = map(self._arrays.tokenizer.words, dict.fromkeys((*spellings(word), *joined)))
            keep &= np.logical_or.reduce([read.contains(phrase) for phrase in phrases])
        return rows[keep]

    def full_in(self, among: Rows | None, *, reads: bool = True) -> Rows:
        """Return the rows of the whole graph, or of `among`, that have every word but the common ones; as `full`."""
        if among is not None:
            return self.full(among, reads=reads)
        index = self._arrays.text_index
        rarest = min(self.postings.values(), key=lambda postings: sum(posting.nodes for posting in postings))
        rows = distinct(np.concatenate([index.rows_of(posting) for posting in rarest]))
        return self.full(rows, reads=reads)

    def coverages(self, rows: Rows) -> list[Coverage]:
        """Return each row's coverage, in the order of `rows`."""
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
        """Return the weight of the heaviest phrase of the query in each row: (n,).

        It is the sum of its words' idf; common words weigh nothing. A single word is not a phrase, and weighs 0.
        """
        weights = [self.postings[word][0].idf if word in self.postings else 0.0 for word in self._words]
        return ReadWords(self._arrays, rows).heaviest_runs(self._words, weights, least=2)

    def snippet(self, row: int, *, width: int = SNIPPET) -> str:
        """Return the part of a node's text with the query's rarest words, at most `width` characters."""
        return snippet(self._arrays.texts[row], self.weights, self._arrays.tokenizer.terms_of, width=width)


def coverage_note(coverage: Coverage) -> str:
    """Return a note on the words of the query that a node has and lacks."""
    if not coverage.of:
        return ""
    missing = f", not: {', '.join(coverage.missing[:_NAMED])}" if coverage.missing else ""
    more = f" and {len(coverage.missing) - _NAMED} more" if len(coverage.missing) > _NAMED else ""
    return f" {coverage.number}/{coverage.of} words{missing}{more}"


_MARK = re.compile(r"(?<=\d)[.,](?=\d)")
MARKS = {".": "point", ",": "comma"}
"""The words for a delimiter in a number: `3.5` is read as the word `3point5`, so that 5 is not a word of it."""


class ReadWords:
    """The words of some nodes in the order of their names, aliases and texts, which an index of terms lacks."""

    def __init__(self, arrays: GraphArrays, rows: Rows) -> None:
        """`rows` is (n,), in any order; results are in this order."""
        parts = [
            (place, text)
            for place, row in enumerate(rows.tolist())
            for text in (arrays.names[row], *arrays.aliases_at(row), arrays.texts[row])
        ]
        joined = [_MARK.sub(lambda mark: MARKS[mark[0]], text) for _, text in parts]
        split = words.split(joined, arrays.tokenizer)
        begins = split.firsts[:-1]
        self._count, self._hashes = len(rows), split.hashes
        self._begins = begins[begins < len(split.hashes)]  # (parts,): a text's first word
        self._nodes = np.array([place for place, _ in parts], np.int64)[split.texts]  # (words,)

    def heaviest_runs(self, phrase: Sequence[str], weights: Sequence[float], *, least: int = 1) -> NDArray[np.float64]:
        """Return the weight of the heaviest run of a phrase's words in each node: (n,).

        A run is in one text and in the phrase's order, and at least `least` of its words weigh something, else it is 0.
        `weights` are those of the phrase's words, none below 0.
        """
        heaviest = np.zeros(self._count)
        run = np.zeros(len(self._hashes))  # (words,): the weight of the run that ends here
        size = np.zeros(len(self._hashes), np.int64)  # (words,): the number of its words that weigh something
        for word, weight in zip(phrase, weights, strict=True):
            before, fewer = np.roll(run, 1), np.roll(size, 1)
            # A run does not go on from one text to the next.
            before[self._begins] = fewer[self._begins] = 0
            is_here = self._hashes == np.uint64(words.word_hash(word.encode()))
            run, size = np.where(is_here, before + weight, 0), np.where(is_here, fewer + (weight > 0), 0)
            ends = size >= least
            np.maximum.at(heaviest, self._nodes[ends], run[ends])
        return heaviest

    def contains(self, phrase: Sequence[str]) -> Mask:
        """Mark the nodes that contain a phrase, word by word: (n,)."""
        return np.asarray(self.heaviest_runs(phrase, [1] * len(phrase)) == len(phrase))


_LONGEST = 6  # words of a value that is looked up inside a longer query
_MOST_WORDS = 40  # of a query: bounds the time


class ValueMatch(NamedTuple):
    """Words of a query that are the value of a property: `Belgium` is the country of seven breweries."""

    name: str
    """The property."""
    value: str
    """As the query spells it."""
    rows: Rows
    """The nodes with it: (n,), ascending."""
    is_whole: bool
    """Whether the query, or its quotation, is the value."""

    @property
    def condition(self) -> str:
        """The condition that these nodes meet, for `where`."""
        return f"{self.name}={self.value}"


class ValueSearch:
    """Finds the nodes with the words of a query as a value. Safe to share among threads."""

    def __init__(self, arrays: GraphArrays) -> None:
        self._arrays = arrays

    def matches(self, query: str, *, among: Rows | None = None, mask: Mask | None = None) -> list[ValueMatch]:
        """Return the properties with the query as a value, in any case, or else those with the longest parts of it.

        `among`, ascending rows, and `mask`, (nodes,), restrict the nodes.
        """
        own = query.split()[:_MOST_WORDS]
        parts = [
            (at, end, " ".join(own[at:end]).strip(".,;:?!'\"").strip())
            for at in range(len(own))
            for end in range(min(len(own), at + _LONGEST), at, -1)
        ]
        whole = [single_spaced(phrase) for phrase in phrases(query)]
        named = self._arrays.properties.names_with_values({*whole, *(text for _, _, text in parts)} - {""})
        if not named:
            return []
        matches = [match for text in whole for match in self._of(text, named.get(text, ()), among, mask, is_whole=True)]
        free = len(own) if matches else 0
        for at, end, text in parts:
            # From left to right, the longest value at each word; no word is in two.
            if at >= free and text in named and text.casefold() not in STOP:
                part = list(self._of(text, named[text], among, mask, is_whole=False))
                matches += part
                free = end if part else free
        return matches

    def _of(
        self, text: str, names: Iterable[str], among: Rows | None, mask: Mask | None, *, is_whole: bool
    ) -> Iterator[ValueMatch]:
        for name in names:
            rows = np.flatnonzero(self._arrays.properties.mask([Condition(name, "=", text)])).astype(np.int32)
            if len(rows := _restricted(rows, among, mask)):
                yield ValueMatch(name, text, rows, is_whole)

    def sentence(self, match: ValueMatch) -> str:
        """Return a sentence about a value and its nodes: `it is the country of 7 breweries`."""
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


class WordRanking(NamedTuple):
    """The result of a search by words."""

    rows: Rows
    """(n,): the best first."""
    scores: NDArray[np.float64]
    """(n,): descending; those of named nodes are above those by words alone, a step for each rank."""
    words: QueryWords
    names: list[Match]
    """The first `k` nodes that the query names or quotes, best first."""
    values: list[ValueMatch]
    """The values that words of the query are."""


class WordSearch:
    """Ranks nodes by the words of a query. Safe to share among threads."""

    def __init__(self, arrays: GraphArrays) -> None:
        self._arrays = arrays
        self._names, self._values = NameSearch(arrays), ValueSearch(arrays)

    def search(self, query: str, k: int, *, mask: Mask | None = None) -> WordRanking:
        """Return the `k` best nodes under a mask, (nodes,).

        The nodes that the words name come first, then those whose texts have them (BM25), then those with them as a
        value. If no text has all the words, nodes with the whole query as a value come before texts.
        """
        words = QueryWords(self._arrays, query)
        whole = self._names.whole_words(query)
        both = mask if whole is None else whole if mask is None else mask & whole
        ranked = self._arrays.text_index.search(words.terms, k, mask=both)
        names = self._names.matches(query, k, mask=mask, ranked=ranked)
        values = self._values.matches(query, mask=mask)
        if not names and not values:
            return WordRanking(*ranked, words, names, values)
        # A step is more than any score by words, so that scores descend as ranks do.
        step = 1 + max([0.0, *ranked.scores[:1].tolist(), *(match.score for match in names)])
        scores = {match.row: match.score + step * (1 + len(Rank) - match.rank) for match in names}
        whole_values = [value for value in values if value.is_whole]
        if whole_values and not any(coverage.is_full for coverage in words.coverages(ranked.rows)):
            for value in whole_values:
                for row in value.rows[:k].tolist():
                    scores.setdefault(row, step)
        for row, score in zip(ranked.rows.tolist(), ranked.scores.tolist(), strict=True):
            scores.setdefault(row, score)
        for value in values:
            for row in value.rows[:k].tolist():
                scores.setdefault(row, 0.0)
        best = sorted(scores.items(), key=lambda item: -item[1])[:k]
        rows = np.array([row for row, _ in best], np.int32)
        return WordRanking(rows, np.array([score for _, score in best], np.float64), words, names, values)
