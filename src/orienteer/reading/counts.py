"""Questions for a number of nodes: `how many beers are brewed by X`, `of the beers that X brews, how many are Y`."""

from __future__ import annotations

from collections.abc import Iterator

from orienteer.reading.clauses import Clauses
from orienteer.reading.context import Context, Parse
from orienteer.reading.function_words import phrases_of
from orienteer.reading.openings import COUNTING, ends
from orienteer.reading.query import ExactQuery, NodeSet

_NUMBERS = ("number of", "count of", "tally of", "amount of", "headcount of")
_BEHIND = phrases_of(
    """how many, count, how many are there, how many of them, total number, number, in number, total count,
    how many in total"""
)
_AMONG = phrases_of(
    """of, among, out of, from among, from, looking at, considering, taking, given, amongst, in the set of,
    if you look at, when it comes to"""
)
_WHICH_OF_THEM = phrases_of(
    """which one of them, which of them, which ones, which one, which, what, who, name those, list those,
    show those"""
)


class Counts:
    """Reads questions for a number of nodes."""

    def __init__(self, context: Context, clauses: Clauses) -> None:
        self._context, self._clauses = context, clauses

    def queries(self, begin: int) -> Iterator[Parse[ExactQuery]]:
        """Yield the queries that begin at a place."""
        yield from self._numbers(begin)
        yield from self._numbers_behind(begin)
        yield from self._parts(begin)

    def _numbers(self, begin: int) -> Iterator[Parse[ExactQuery]]:
        """Yield `how many beers are there`, `what is the exact number of beers`."""
        context = self._context
        asked = context.starts(begin, "what is", "what s", "which is", "tell me") or begin
        number = context.starts(context.skip(asked, ("the", "total", "overall", "exact", "full", "a")), *_NUMBERS)
        lasts = set(ends(context, begin, COUNTING)) | ({number} if number is not None else set())
        for last in sorted(last for last in lasts if not self._is_property(last - 2)):
            for nodes in context.nodes(last):
                if not nodes.value.named:
                    yield Parse(nodes.last, ExactQuery("count", nodes.value), nodes.cost)

    def _is_property(self, place: int) -> bool:
        """Tell whether a word is a property's name, and counts nothing: `the total amount of the orders`."""
        return any(unit.cost == 0 for unit in self._context.units.properties.get(place, ()))

    def _numbers_behind(self, begin: int) -> Iterator[Parse[ExactQuery]]:
        """Yield `beers by X, how many`, `beers by X: count`."""
        yield from self._numbers_of_name(begin)
        for nodes in self._context.nodes(begin):
            last = self._context.starts(nodes.last, *_BEHIND)
            if last is not None and not nodes.value.named:
                yield Parse(last, ExactQuery("count", nodes.value), nodes.cost)

    def _numbers_of_name(self, begin: int) -> Iterator[Parse[ExactQuery]]:
        """Yield `X number of side effects`, `X: number of side effects`."""
        for named in self._clauses.named_at(begin):
            number = self._context.starts(named.last, "number of", "count of", "how many")
            for kind in self._context.units.types.get(number, ()) if number is not None else ():
                for counted in self._clauses.had_by_name(named, NodeSet(kind.types)):
                    yield Parse(kind.last, ExactQuery("count", counted.value), named.cost + counted.cost + 0.1)

    def _parts(self, begin: int) -> Iterator[Parse[ExactQuery]]:
        """Yield `of the beers that X brews, how many are Y`, `among the beers of X, which are Y`."""
        of = self._context.starts(begin, *_AMONG)
        for nodes in self._context.nodes(of) if of is not None else ():
            yield from self._numbers_of_part(nodes)
            yield from self._parts_of(nodes)

    def _numbers_of_part(self, nodes: Parse[NodeSet]) -> Iterator[Parse[ExactQuery]]:
        last = self._context.starts(nodes.last, "how many of them", "how many")
        if last is not None:
            for part in [*self._clauses.modifiers(last, nodes.value), Parse(last, nodes.value, 0.0)]:
                yield Parse(part.last, ExactQuery("count", part.value), nodes.cost + part.cost)

    def _parts_of(self, nodes: Parse[NodeSet]) -> Iterator[Parse[ExactQuery]]:
        which = self._context.starts(nodes.last, *_WHICH_OF_THEM)
        if which is not None:
            for part in self._clauses.modifiers(which, nodes.value):
                yield Parse(part.last, ExactQuery("list", part.value), nodes.cost + part.cost)
