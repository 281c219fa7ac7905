"""Questions to be answered by yes or no: `is X in Y`, `does X treat Y`, `are there X that`, `is X taller than Y`."""

from __future__ import annotations

from collections.abc import Iterator

from orienteer.methods.anchor.reading.clauses import Clauses
from orienteer.methods.anchor.reading.context import Context, Parse
from orienteer.methods.anchor.reading.contrasts import Contrasts
from orienteer.methods.anchor.reading.function_words import phrases_of
from orienteer.methods.anchor.reading.openings import ASKING
from orienteer.methods.anchor.reading.phrases import PhraseRules
from orienteer.methods.anchor.reading.query import ExactQuery, NodeSet

_WHETHER = phrases_of("is it true that, whether, if, is it correct that, true or false")
_THERE = phrases_of("there any, there a, there an, there, any")


class Checks:
    """Reads questions to be answered by yes or no."""

    def __init__(self, context: Context, phrases: PhraseRules, clauses: Clauses, contrasts: Contrasts) -> None:
        self._context, self._phrases, self._clauses, self._contrasts = context, phrases, clauses, contrasts

    def queries(self, begin: int) -> Iterator[Parse[ExactQuery]]:
        """Yield the queries that begin at a place."""
        if self._context.reading.text.rstrip().endswith("?"):
            yield from self._any(begin)
            yield from self._claims(begin)
        start = self._start(begin)
        if start is not None:
            yield from self._there(start)
            yield from self._said_of_names(start)

    def _start(self, begin: int) -> int | None:
        """Return where what is to be checked begins: behind `is`, `does`, `is it true that`."""
        if self._context.at(begin) in ASKING:
            return begin + 1
        return self._context.starts(begin, *_WHETHER)

    def _any(self, begin: int) -> Iterator[Parse[ExactQuery]]:
        """Yield `any beers by X?`."""
        if self._context.at(begin) == "any":
            for nodes in self._context.nodes(begin):
                yield Parse(nodes.last, ExactQuery("test", nodes.value), nodes.cost - 0.2)

    def _claims(self, begin: int) -> Iterator[Parse[ExactQuery]]:
        """Yield `X depth over 10 m?`."""
        for named in self._phrases.names(begin) if begin == 0 else ():
            for nodes in self._clauses.modifiers(named.last, named.value):
                if len(nodes.value.conditions) > 1:
                    yield Parse(nodes.last, ExactQuery("test", nodes.value), named.cost + nodes.cost + 0.1)

    def _there(self, start: int) -> Iterator[Parse[ExactQuery]]:
        """Yield `are there beers that X brews`."""
        there = self._context.starts(start, *_THERE)
        for nodes in self._context.nodes(there) if there is not None else ():
            yield Parse(nodes.last, ExactQuery("test", nodes.value), nodes.cost)

    def _said_of_names(self, start: int) -> Iterator[Parse[ExactQuery]]:
        """Yield `is X in Y`, `does X treat Y`, `is X taller than Y`."""
        for named in self._context.nodes(start):
            if named.value.named:
                yield from self._said(named)
                yield from self._contrasts.queries(named)

    def _said(self, named: Parse[NodeSet]) -> Iterator[Parse[ExactQuery]]:
        for nodes in self._clauses.described(named):
            if len(nodes.value.conditions) > 1 or nodes.value.types:
                yield Parse(nodes.last, ExactQuery("test", nodes.value), nodes.cost)
