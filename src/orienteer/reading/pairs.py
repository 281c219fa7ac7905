"""Which of two: `which is taller, X or Y`, `which of X and Y has more Z`, `X or Y: who earns more`."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import NamedTuple

from orienteer.reading.clauses import Clauses
from orienteer.reading.comparisons import adjective
from orienteer.reading.context import Context, Parse
from orienteer.reading.contrasts import Contrast, Contrasts
from orienteer.reading.function_words import phrases_of, words_of
from orienteer.reading.openings import ASKING, LISTING
from orienteer.reading.phrases import PhraseRules
from orienteer.reading.query import Among, Best, ExactQuery, Measure, NodeSet
from orienteer.reading.relations import SchemaRelations
from orienteer.reading.thesaurus import MORE, MOST, VERBS

_WHICH = phrases_of(
    """which of the two, which one of, which of, which one, which, who, what, between, of, out of, comparing, compare,
    if you compare, if i compare, if we compare"""
)
_JOINED = phrases_of("or, and, versus, vs, or is it, and the, or the, with, against, or does, to")
_BEHIND_PAIR = words_of("which one is who was are what of them the two")
_BEFORE_PAIR = words_of("between of out the one among here two is it")
_ORDER = {"first": False, "earlier": False, "last": True, "later": True, "earliest": False, "latest": True}
"""By word that follows `born`, whether later is meant."""
_FAR = 0.3  # what a part of a name costs more than a whole name of the same words


class _Pair(NamedTuple):
    """Two named things, and where the words that compare them stand."""

    names: Parse[NodeSet]
    start: int
    until: int | None = None
    """Where the names begin, if they stand behind what compares them."""


class NamedPairs:
    """Reads questions for one of two named things."""

    def __init__(
        self, context: Context, relations: SchemaRelations, phrases: PhraseRules, clauses: Clauses, contrasts: Contrasts
    ) -> None:
        self._context, self._relations, self._phrases = context, relations, phrases
        self._clauses, self._contrasts = clauses, contrasts

    def queries(self, begin: int) -> Iterator[Parse[ExactQuery]]:
        """Yield the queries that begin at a place."""
        context = self._context
        for listed in context.ends(begin, LISTING):
            yield from self._grade_of(listed)
        which = context.starts(begin, *_WHICH)
        which = begin if which is None else which
        if context.at(begin) in ASKING:  # "do X or Y weigh more"
            which = begin + 1
        for names in self._names(which):
            yield from self._chosen(_Pair(names, context.skip(names.last, _BEHIND_PAIR)))
        yield from self._around(begin)
        yield from self._grade_of(which)
        start = context.starts(which, "one is", "one was", "one", "is", "was", "are") or which
        yield from self._names_last(start)
        for head in self._phrases.heads(which):  # "which tower is taller, X or Y"
            yield from self._names_last(context.skip(head.last, ("is", "was", "are")))

    def _grade_of(self, begin: int) -> Iterator[Parse[ExactQuery]]:
        """Yield `the longer of X and Y`, `the larger of the rooms X and Y by capacity`."""
        context = self._context
        for meant in adjective(context, context.skip(begin)):
            word, is_more = meant.value
            of = context.starts(context.starts(meant.last, "one") or meant.last, "of the two", "of")
            of = context.starts(of, "the") or of if of is not None else None
            places = (of, *(kind.last for kind in context.units.types.get(of, ()))) if of is not None else ()
            for names in (names for place in places for names in self._names(place)):
                by = context.starts(names.last, "by", "in", "in terms of")
                named = self._clauses.named_property(by, names.value) if by is not None else ()
                choices = [(facts, last) for facts, last, _ in named if facts.kind != "text"]
                if not choices and (facts := self._phrases.compared_by(word, names.value, begin)) is not None:
                    choices = [(facts, names.last)]
                for facts, last in choices:
                    measure = Measure(property=facts.name)
                    able = self._relations.able(names.value, measure)
                    nodes = replace(able, best=Best(measure, word.ascending == is_more, 1))
                    yield Parse(last, ExactQuery("list", nodes), names.cost)

    def _around(self, begin: int) -> Iterator[Parse[ExactQuery]]:
        """Yield `does X weigh more, or Y`: what compares them stands between the names."""
        context = self._context
        for first in self._likeliest(begin + 1) if context.at(begin) in ASKING else ():
            for contrast in self._contrasted(_Pair(first, first.last, None), is_whole=False):
                joined = context.starts(contrast.last, *_JOINED)
                for second in self._likeliest(joined) if joined is not None else ():
                    rows = self._of_one_kind(first.value, second.value)
                    if rows and context.is_over(second.last):
                        able = self._relations.able(NodeSet(conditions=(Among(rows),)), contrast.value.measure)
                        nodes = replace(able, best=Best(contrast.value.measure, contrast.value.is_more, 1))
                        cost = first.cost + second.cost + contrast.cost
                        yield Parse(second.last, ExactQuery("list", nodes), cost)

    def _names_last(self, start: int) -> Iterator[Parse[ExactQuery]]:
        """Yield `taller, X or Y`: the names stand at the end, and what compares them before."""
        for middle in range(start + 1, self._context.end):
            for names in self._names(middle):
                if self._context.is_over(names.last):
                    yield from self._chosen(_Pair(names, start, middle))

    def _names(self, place: int) -> Iterator[Parse[NodeSet]]:
        """Yield two names of one kind of things: `X or Y`, `either X and Y`."""
        context = self._context
        starts = context.skips(place, ("either", "between", "the", "of", "both"))  # "The Last Gaucho" begins so
        for first in (named for start in starts for named in self._likeliest(start)):
            joined = context.starts(first.last, *_JOINED)
            for second in self._likeliest(joined) if joined is not None else ():
                rows = self._of_one_kind(first.value, second.value)
                if rows:
                    yield Parse(second.last, NodeSet(conditions=(Among(rows),)), first.cost + second.cost)

    def _likeliest(self, place: int) -> list[Parse[NodeSet]]:
        """Return the named nodes here; not those of which the words are a part of the name, where others are so called.

        "Which is older, Duvel or Rodenbach?" asks for the brewery, and for none of the beers that begin so.
        """
        named = [parse for parse in self._context.nodes(place) if parse.value.named]
        least = {parse.last: parse.cost for parse in sorted(named, key=lambda parse: -parse.cost)}
        return [parse for parse in named if parse.cost < least[parse.last] + _FAR]

    def _of_one_kind(self, first: NodeSet, second: NodeSet) -> tuple[int, ...]:
        """Return the rows that two sets name, ascending, of the types that both have."""
        types = self._relations.types_of(first) & self._relations.types_of(second)
        node_types = self._context.lexicon.graph.arrays.node_types
        return tuple(sorted({row for row in (*first.named, *second.named) if int(node_types[row]) in types}))

    def _chosen(self, pair: _Pair) -> Iterator[Parse[ExactQuery]]:
        """Yield the queries for the one of two that has more of something, or less."""
        for contrast in self._contrasted(pair):
            if self._is_all(pair, contrast.last):
                able = self._relations.able(pair.names.value, contrast.value.measure)
                nodes = replace(able, best=Best(contrast.value.measure, contrast.value.is_more, 1))
                last = contrast.last if pair.until is None else pair.names.last
                yield Parse(last, ExactQuery("list", nodes), pair.names.cost + contrast.cost)

    def _is_all(self, pair: _Pair, last: int) -> bool:
        """Tell whether what compares two names ends here: where they begin, or where the question ends."""
        if pair.until is None:
            return self._context.is_over(last)
        return self._context.skip(last, _BEFORE_PAIR) == pair.until

    def _contrasted(self, pair: _Pair, *, is_whole: bool = True) -> Iterator[Parse[Contrast]]:
        yield from self._by_adjective(pair, is_whole=is_whole)
        yield from self._by_verb(pair)
        yield from self._by_order(pair)
        yield from self._contrasts.measures(pair.start, pair.names.value)
        yield from self._by_most(pair)

    def _by_adjective(self, pair: _Pair, *, is_whole: bool) -> Iterator[Parse[Contrast]]:
        """Yield `taller`, `the tallest one`."""
        begin = self._context.skip(pair.start)
        meanings = [(parse.last, *parse.value) for parse in adjective(self._context, begin)]
        meanings += [
            (parse.last, parse.value.adjective, parse.value.is_more)
            for parse in self._phrases.superlative(begin)
            if parse.value.adjective is not None
        ]
        for end, word, is_more in meanings:
            last = self._context.starts(end, "one") or end
            is_all = not is_whole or self._is_all(pair, last)
            facts = self._phrases.compared_by(word, pair.names.value, begin) if is_all else None
            if facts is not None:
                yield Parse(last, Contrast(Measure(property=facts.name), word.ascending == is_more), 0.0)

    def _by_verb(self, pair: _Pair) -> Iterator[Parse[Contrast]]:
        """Yield `earns more`, `weighs the most`."""
        begin = self._context.skip(pair.start)
        grades = {**MORE, **MOST}
        grade = self._context.at(begin + 1)
        for verb in VERBS:
            if self._context.at(begin) in (verb, f"{verb}s") and grade in grades:
                facts = self._phrases.stated_by(verb, pair.names.value)
                if facts is not None:
                    yield Parse(begin + 2, Contrast(Measure(property=facts.name), grades[grade]), 0.0)

    def _by_order(self, pair: _Pair) -> Iterator[Parse[Contrast]]:
        """Yield `was born first`."""
        begin = self._context.skip(pair.start)
        for facts, last, cost in self._clauses.named_property(begin, pair.names.value):
            is_later = _ORDER.get(self._context.at(last))
            if is_later is not None:
                yield Parse(last + 1, Contrast(Measure(property=facts.name), is_later), cost)

    def _by_most(self, pair: _Pair) -> Iterator[Parse[Contrast]]:
        """Yield `has the most Z`, `the highest PROPERTY`."""
        start = self._context.skip(pair.start, ("has", "have", "had", "with", "the", "a"))
        word = self._context.at(start)
        if word in MOST:
            for measure in self._clauses.measures(start + 1, pair.names.value):
                yield Parse(measure.last, Contrast(measure.value, MOST[word]), measure.cost)
