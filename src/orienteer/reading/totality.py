"""Whether something is so of all: `is every hall in X made of stone`, `all X halls stone?`, `the X, are they all Y`."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from orienteer.reading.clauses import Clauses
from orienteer.reading.context import Context, Parse
from orienteer.reading.function_words import phrases_of
from orienteer.reading.openings import ASKING
from orienteer.reading.query import ExactQuery, NodeSet

_ALL = phrases_of(
    """every one of the, every single one of the, each of the, each one of the, all of the, all the, every single"""
)
_ARE_ALL = phrases_of(
    """are all of them, are they all, is each of them, is every one of them, is each one, do all of them, do they all,
    does each of them, does every one of them, are all, have all of them, have they all, were they all,
    were all of them"""
)


class Totality:
    """Reads questions whether something is so of all nodes of a set, in one question."""

    def __init__(self, context: Context, clauses: Clauses) -> None:
        self._context, self._clauses = context, clauses

    def queries(self, begin: int) -> Iterator[Parse[ExactQuery]]:
        """Yield the queries that begin at a place."""
        context = self._context
        whether = context.starts(begin, "whether", "if", "check whether", "check if", "is it true that")
        is_asked = context.at(begin) in ASKING or whether is not None
        begin = begin if whether is None else whether - 1
        start = self._behind_all(begin + is_asked)
        if start is not None and (is_asked or self._is_question()):
            for nodes in context.nodes(start):
                yield from self._claimed(nodes, context.skip(nodes.last, ASKING if not is_asked else ()))
                if whether is not None:
                    yield from self._claimed(nodes, context.skip(nodes.last, ASKING))
        for nodes in context.nodes(begin) if self._is_question() else ():
            are_all = context.starts(nodes.last, *_ARE_ALL)
            if are_all is not None:
                yield from self._claimed(nodes, are_all)

    def _behind_all(self, place: int) -> int | None:
        """Return where a kind begins behind `all`, `every`; None where nothing says that all are meant."""
        all_of = self._context.starts(place, *_ALL)
        if all_of is None and self._context.at(place) in ("all", "every", "each"):
            return place + 1
        return all_of

    def _is_question(self) -> bool:
        return self._context.reading.text.rstrip().endswith("?")

    def _claimed(self, nodes: Parse[NodeSet], place: int) -> Iterator[Parse[ExactQuery]]:
        """Yield what is asked of all nodes of a set: the last thing that is said."""
        if nodes.value.named or nodes.value.best is not None:
            return
        for claimed in self._clauses.modifiers(place, nodes.value):
            is_kept = claimed.value.conditions[: len(nodes.value.conditions)] == nodes.value.conditions
            if claimed.value.best is None and is_kept and len(claimed.value.conditions) > len(nodes.value.conditions):
                base = replace(nodes.value, types=nodes.value.types or claimed.value.types)
                query = ExactQuery("every", base, other=replace(claimed.value, types=base.types))
                yield Parse(claimed.last, query, nodes.cost + claimed.cost - 0.3)
