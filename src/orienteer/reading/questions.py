"""Whole questions: what is asked of the nodes that a question describes."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from orienteer.reading.antecedents import Antecedents, holds
from orienteer.reading.checks import Checks
from orienteer.reading.claims import Claims
from orienteer.reading.clauses import Clauses
from orienteer.reading.context import Context, Parse, best
from orienteer.reading.contrasts import Contrasts
from orienteer.reading.counts import Counts
from orienteer.reading.function_words import phrases_of
from orienteer.reading.lists import ListForms
from orienteer.reading.nouns import NounPhrases
from orienteer.reading.openings import begins
from orienteer.reading.pairs import NamedPairs
from orienteer.reading.phrases import PhraseRules
from orienteer.reading.query import ExactQuery
from orienteer.reading.relations import SchemaRelations
from orienteer.reading.totality import Totality
from orienteer.reading.totals import Totals
from orienteer.reading.trailers import TrailingQuestions
from orienteer.reading.values import Values

_ALL_NAMES = ("all", "them", "names", "they", "left", "me")
_THEIR_NAMES = phrases_of(
    """which ones are they, which ones, which are they, which, who are they, who is left, who remains, who, what are
    they, what is left, list them all, list them, name them all, name them, show them, show me, give me their names,
    give their names, i d like their names, tell me their names, their names, and which are they, and which ones,
    and who are they, and who, and which, and what are they, and if so which ones, and if so which, if so which ones,
    if so which, if so who, and if so who, and what are their names, what are their names, name names, tell me which,
    tell me who"""
)
"""Sentences that ask for the names of what was asked about before."""


class Questions:
    """Reads one question."""

    def __init__(self, context: Context, relations: SchemaRelations, phrases: PhraseRules, clauses: Clauses) -> None:
        self._context = context
        self._nouns = NounPhrases(context, relations, phrases, clauses)
        context.nodes = self._nouns.nodes
        contrasts = Contrasts(context, relations, phrases, clauses)
        self._trailing = TrailingQuestions(context, relations, phrases)
        self._antecedents = Antecedents(context, relations, phrases, self._trailing)
        self._counts = Counts(context, clauses)
        self._totals = Totals(context, relations, phrases, clauses)
        self._values = Values(context, relations, phrases)
        self._pairs = NamedPairs(context, relations, phrases, clauses, contrasts)
        claims = Claims(context, relations, phrases, clauses)
        self._checks = Checks(context, phrases, clauses, contrasts, claims)
        self._totality = Totality(context, clauses)
        self._lists = ListForms(context, relations, phrases, clauses)
        context.queries = self._queries

    @property
    def is_too_deep(self) -> bool:
        """Tell whether the question has more phrases within phrases than are read."""
        return self._nouns.is_too_deep

    def read(self) -> list[Parse[ExactQuery]]:
        """Return the ways to read the whole question, likeliest first."""
        parses = self._read_from(0)
        self._context.reached = max((parse.last for parse in parses), default=0)
        whole = best(parse for parse in parses if self._context.is_over(parse.last))
        return whole or best(self._with_their_names(parses)) or self._read_behind()

    def _with_their_names(self, parses: list[Parse[ExactQuery]]) -> Iterator[Parse[ExactQuery]]:
        """Yield the questions behind which their answers are asked for by name: `Are there beers by X? Which ones?`"""
        for parse in parses:
            last = self._context.starts(parse.last, *_THEIR_NAMES)
            is_of_nodes = parse.value.form == "test" and not parse.value.nodes.named
            if parse.value.form == "list" and self._context.at(last - 1 if last else 0) in _ALL_NAMES:
                is_of_nodes = True  # "Which ones?" behind "Who made the most?" asks for something else
            if last is not None and self._context.is_over(last) and is_of_nodes:
                yield parse._replace(last=last, value=replace(parse.value, form="list"))

    def _read_from(self, first: int) -> list[Parse[ExactQuery]]:
        return [parse for begin in begins(self._context, first) for parse in self._queries(begin)]

    def _queries(self, begin: int) -> Iterator[Parse[ExactQuery]]:
        # Of two readings at one cost the first stands: what asks for more than a list comes first.
        yield from self._counts.queries(begin)
        yield from self._totals.queries(begin)
        yield from self._values.queries(begin)
        yield from self._pairs.queries(begin)
        yield from self._checks.queries(begin)
        yield from self._totality.queries(begin)
        yield from self._lists.queries(begin)
        yield from self._trailing.queries(begin)

    def _read_behind(self) -> list[Parse[ExactQuery]]:
        """Return the ways to read a question behind a sentence that says what its pronouns stand for."""
        for border in self._antecedents.borders():
            for spoken_of in self._antecedents.spoken_of(border):
                self._context.referents = [spoken_of.value]
                self._nouns.forget()
                parses = best(
                    whole._replace(cost=whole.cost + spoken_of.cost)
                    for whole in self._read_from(border)
                    if self._context.is_over(whole.last) and holds(whole.value.nodes, spoken_of.value)
                )
                if parses:
                    return parses
        return []
