"""Questions to be answered by yes or no: `is X in Y`, `does X treat Y`, `are there X that`, `is X taller than Y`."""

from __future__ import annotations

from collections.abc import Iterator

from orienteer.reading.claims import Claims
from orienteer.reading.clauses import Clauses
from orienteer.reading.context import Context, Parse
from orienteer.reading.contrasts import Contrasts
from orienteer.reading.function_words import phrases_of, words_of
from orienteer.reading.openings import ASKING
from orienteer.reading.phrases import PhraseRules
from orienteer.reading.query import Among, ExactQuery, NodeSet

_WHETHER = phrases_of(
    """is it true that, whether, if, is it correct that, true or false, am i right that, am i right in thinking that,
    is it the case that, is it so that, is it right that, can you confirm that, could you confirm that, confirm that,
    can you confirm whether, verify that, verify whether, is it a fact that, would it be true to say that,
    is it right to say that, is it correct to say that, could it be that, is it known whether, true or false that"""
)
_QUESTION_WORDS = words_of("which what who whom whose where when how")
_THERE = phrases_of("there any, there a, there an, there, any")


class Checks:
    """Reads questions to be answered by yes or no."""

    def __init__(
        self,
        context: Context,
        phrases: PhraseRules,
        clauses: Clauses,
        contrasts: Contrasts,
        claims: Claims,
    ) -> None:
        self._context, self._phrases, self._clauses, self._contrasts = context, phrases, clauses, contrasts
        self._claims_of_one = claims

    def queries(self, begin: int) -> Iterator[Parse[ExactQuery]]:
        """Yield the queries that begin at a place."""
        text = self._context.reading.text.rstrip(" .").casefold()
        if text.endswith(("?", "yes or no", "true or false")):
            yield from self._any(begin)
            yield from self._claims(begin)
        start = self._start(begin)
        if start is not None:
            yield from self._there(start)
            yield from self._alike(start)
            yield from self._either(start)
            for behind in (start, start + 1) if self._context.at(start) == "not" else (start,):  # "isn't X in Y?"
                if self._context.at(behind) not in ("all", "every", "each"):
                    yield from self._said_of_names(behind)
                    yield from self._claims_of_one.queries(behind)

    def _start(self, begin: int) -> int | None:
        """Return where what is to be checked begins: behind `is`, `does`, `is it true that`."""
        start = self._context.starts(begin, *_WHETHER)
        if start is None and self._context.at(begin) in ASKING:
            return begin + 1
        return start

    def _any(self, begin: int) -> Iterator[Parse[ExactQuery]]:
        """Yield `any beers by X?`."""
        if self._context.at(begin) == "any":
            for nodes in self._context.nodes(begin):
                yield Parse(nodes.last, ExactQuery("test", nodes.value), nodes.cost - 0.2)

    def _claims(self, begin: int) -> Iterator[Parse[ExactQuery]]:
        """Yield `X depth over 10 m?`; with a word that asks for something, more than yes or no is asked."""
        if not _QUESTION_WORDS.isdisjoint(self._context.words):
            return
        for named in self._phrases.names(begin) if begin == 0 else ():
            yield from self._contrasts.queries(named)
            for nodes in self._clauses.modifiers(named.last, named.value):
                if len(nodes.value.conditions) > 1:
                    yield Parse(nodes.last, ExactQuery("test", nodes.value), named.cost + nodes.cost + 0.1)

    def _there(self, start: int) -> Iterator[Parse[ExactQuery]]:
        """Yield `are there beers that X brews`."""
        there = self._context.starts(start, *_THERE)
        for nodes in self._context.nodes(there) if there is not None else ():
            yield Parse(nodes.last, ExactQuery("test", nodes.value), nodes.cost)

    def _alike(self, start: int) -> Iterator[Parse[ExactQuery]]:
        """Yield `do X and Y share a brewery`, `are X and Y in the same country`."""
        for first in self._phrases.names(self._context.skip(start, ("both",))):
            begin = self._context.starts(first.last, "and")
            for second in self._phrases.names(begin) if begin is not None and first.value.named else ():
                for nodes in self._clauses.likenesses.of_pair(second.last, first, second):
                    cost = first.cost + second.cost + nodes.cost
                    yield Parse(nodes.last, ExactQuery("test", nodes.value), cost)

    def _said_of_names(self, start: int) -> Iterator[Parse[ExactQuery]]:
        """Yield `is X in Y`, `does X treat Y`, `is X taller than Y`."""
        for named in self._context.nodes(start):
            if named.value.named:
                yield from self._said(named)
                yield from self._contrasts.queries(named)

    def _either(self, start: int) -> Iterator[Parse[ExactQuery]]:
        """Yield `either X or Y in Z`."""
        first_at = self._context.starts(start, "either")
        for first in self._phrases.names(first_at) if first_at is not None else ():
            begin = self._context.starts(first.last, "or")
            for second in self._phrases.names(begin) if begin is not None and first.value.named else ():
                rows = tuple(sorted({*first.value.named, *second.value.named}))
                if second.value.named:
                    yield from self._said(Parse(second.last, NodeSet(conditions=(Among(rows),)), first.cost))

    def _said(self, named: Parse[NodeSet]) -> Iterator[Parse[ExactQuery]]:
        for nodes in self._clauses.described(named):
            if len(nodes.value.conditions) > 1 or nodes.value.types:
                yield Parse(nodes.last, ExactQuery("test", nodes.value), nodes.cost)
