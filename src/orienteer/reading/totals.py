"""Averages and sums: `average height of the towers in X`, `the total mass of X`, `average salary in Engineering`."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Literal, TypeAlias

from orienteer.reading.clauses import Clauses
from orienteer.reading.context import Context, Parse
from orienteer.reading.function_words import phrases_of
from orienteer.reading.openings import ends
from orienteer.reading.phrases import PhraseRules
from orienteer.reading.query import ExactQuery, Measure, NodeSet, joined_of
from orienteer.reading.relations import SchemaRelations
from orienteer.reading.values import scopes

_Total: TypeAlias = Literal["average", "sum"]

_WHAT_IS = phrases_of("what is, what s, what was, how much is, what are, which is, how high is, how large is, what")
_TOTALS: tuple[tuple[_Total, tuple[str, ...]], ...] = (
    ("average", phrases_of("average, mean, the average, the mean, avg, on average")),
    (
        "sum",
        phrases_of(
            """total number of, total amount of, total, sum of, the sum of, combined, summed, overall, the total,
                the combined, sum, aggregate, cumulative, sum up, add up, all told"""
        ),
    ),
)


class Totals:
    """Reads questions for the average or the sum of a property."""

    def __init__(self, context: Context, relations: SchemaRelations, phrases: PhraseRules, clauses: Clauses) -> None:
        self._context, self._relations, self._phrases, self._clauses = context, relations, phrases, clauses

    def queries(self, begin: int) -> Iterator[Parse[ExactQuery]]:
        """Yield the queries that begin at a place."""
        start = self._context.starts(begin, *_WHAT_IS) or begin
        for form, words in _TOTALS:
            for last in ends(self._context, start, words):
                of = self._context.skip(last, ("of", "the", "value", "all", "for"))
                yield from self._of_kind(of, form)
                yield from self._of_property(of, form)
            yield from self._behind_nodes(start, form, words)

    def _of_kind(self, place: int, form: _Total) -> Iterator[Parse[ExactQuery]]:
        """Yield `captain salary` behind `average`."""
        for head in self._phrases.heads(place):
            yield from self._total(form, head, head.last)

    def _of_property(self, place: int, form: _Total) -> Iterator[Parse[ExactQuery]]:
        """Yield `salary in Engineering`, `height of the towers` behind `average`."""
        context = self._context
        units = context.units.properties.get(place, ())
        having = {kind for unit in units for kind in context.lexicon.properties[unit.property].types}
        for unit in units:
            facts = context.lexicon.properties[unit.property]
            measure = Measure(property=facts.name)
            if facts.kind == "number":
                for scope in self._clauses.described(Parse(unit.last, NodeSet(facts.types), 0.15)):
                    if any(self._relations.types_of(of.target) & having for of in joined_of(scope.value)):
                        continue  # the "total gold of" two guilds is theirs, and not their members'
                    yield Parse(scope.last, ExactQuery(form, scope.value, measure), scope.cost + unit.cost)
            for scope in scopes(context, unit.last):
                if facts.types & self._relations.types_of(scope.value):
                    yield Parse(scope.last, ExactQuery(form, scope.value, measure), scope.cost + unit.cost)

    def _behind_nodes(self, start: int, form: _Total, words: tuple[str, ...]) -> Iterator[Parse[ExactQuery]]:
        """Yield `X average height`, `X's total mass`."""
        for scope in self._context.nodes(start):
            end = self._context.possessive(scope.last) or scope.last
            for last in ends(self._context, end, words):
                yield from self._total(form, scope, last)

    def _total(self, form: _Total, nodes: Parse[NodeSet], place: int) -> Iterator[Parse[ExactQuery]]:
        """Yield the total of a property that is named at a place."""
        for facts, last, cost in self._clauses.named_property(place, nodes.value):
            yield Parse(last, ExactQuery(form, nodes.value, Measure(property=facts.name)), nodes.cost + cost)
