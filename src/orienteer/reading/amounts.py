"""Amounts of a property that is not named: `over 100 MB`, `before 1800`, `between 5 and 8 m tall`, `over 8 abv`."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import replace

from orienteer.reading.adjectives import compared_by, properties_of
from orienteer.reading.comparisons import AT_LEAST_OR_MOST, behind, compared, compared_twice, sign
from orienteer.reading.context import Context, Parse
from orienteer.reading.lexicon import PropertyFacts
from orienteer.reading.properties import properties_named
from orienteer.reading.quantities import Quantity
from orienteer.reading.query import Comparison, Condition, NodeSet, Valued
from orienteer.reading.vocabulary import ENGLISH, WORDS
from orienteer.text.units import UNITS


def amount_said(context: Context, place: int, nodes: NodeSet) -> Iterator[Parse[NodeSet]]:
    """Yield `over 100 MB`, where one property alone is told in such a unit; `before 1800` where one tells years."""
    yield from _range(context, place, nodes)
    yield from _bare(context, place, nodes)
    begin = context.starts(place, "of", "dating from", "dating", "from", "dated") or place
    for start in dict.fromkeys((place, begin)):
        for comparison in sign(context, start, of_dates=True):
            amount = context.units.quantities.get(context.skip(comparison.last, ("the", "year")))
            if amount is not None:
                if amount.is_year and amount.unit is None and context.at(start) in WORDS["of sizes"]:
                    context.complain(start, f"{context.at(start)!r} compares what? name the property")
                is_own = context.at(place) in ("from", "dating") and (start > place or context.at(amount.last) == "or")
                yield from _unnamed(context, start, nodes, amount, is_own=is_own)
                yield from _with_adjective(context, start, nodes, amount)
                yield from _named_behind(context, start, nodes, amount)


# ---------------------------------------------------------------------------------------------------- one amount
def _bare(context: Context, place: int, nodes: NodeSet) -> Iterator[Parse[NodeSet]]:
    """Yield `20 m deep`, `20 m deep or more`, `38 berths or more`: nothing stands before the amount."""
    amount = context.units.quantities.get(place)
    if amount is None:
        return
    named = [(facts, last, cost) for facts, last, cost in properties_named(context, amount.last, nodes)]
    adjective = ENGLISH.adjectives.get(context.at(amount.last))
    facts = compared_by(context, adjective, nodes, amount.last) if adjective is not None else None
    if facts is not None and amount.unit is not None:
        named.append((facts, amount.last + 1, 0.0))
    for facts, last, cost in named:
        for parse in compared(context, place, facts):
            valued = parse.value[0]
            if parse.last != amount.last or len(parse.value) > 1 or not isinstance(valued, Valued):
                continue
            if facts.kind == "number":
                yield Parse(last, nodes.that(valued), cost + 0.1)
            for comparison in AT_LEAST_OR_MOST:
                end = behind(context, last, comparison)
                if end is not None:
                    yield Parse(end, nodes.that(replace(valued, comparison=comparison)), cost)


def _unnamed(
    context: Context, place: int, nodes: NodeSet, amount: Quantity, *, is_own: bool = False
) -> Iterator[Parse[NodeSet]]:
    """Yield `over 100 MB`, `before 1800`; complain where several properties are told so.

    "Who received it before 1984" is not about when they were born; `from before 1984` is about their own time.
    """
    fitting = _told_in(context, place, amount, replace(nodes, conditions=()) if is_own and nodes.types else nodes)
    begin = context.starts(amount.last, "in", "of", "for") or amount.last
    if not fitting or any(properties_named(context, begin, nodes)):
        return
    if len(fitting) == 1:
        for parse in (
            *compared(context, place, fitting[0]),
            *compared_twice(context, place, fitting[0]),
        ):
            _note_dates(context, place, parse.value)
            yield Parse(parse.last, nodes.that(*parse.value), parse.cost + 0.15)
    else:
        names = ", ".join(facts.name for facts in fitting)
        context.complain(place, f"{names} may be meant: name one of them")


def _told_in(context: Context, place: int, amount: Quantity, nodes: NodeSet) -> list[PropertyFacts]:
    """Return the properties that are told in the unit of an amount, or in years where it may be one."""
    own = properties_of(context, nodes)
    if amount.unit is not None:
        dimension, _ = UNITS[amount.unit]
        shares = [
            facts for facts in own if dimension == "share" and not WORDS["told in percent"].isdisjoint(facts.stems)
        ]
        return shares or [facts for facts in own if facts.unit is not None and UNITS[facts.unit][0] == dimension]
    if context.at(place) in WORDS["of sizes"]:
        return []  # "under 1000" is no time
    if (amount.is_year or amount.span is not None) and not nodes.conditions:
        return [facts for facts in own if facts.kind in ("year", "date")]
    return []


def _with_adjective(context: Context, place: int, nodes: NodeSet, amount: Quantity) -> Iterator[Parse[NodeSet]]:
    """Yield `over 300 metres long`, `between 5 and 8 m tall`: an adjective is behind the last amount."""
    adjective = ENGLISH.adjectives.get(context.at(amount.last))
    facts = compared_by(context, adjective, nodes, amount.last) if adjective is not None else None
    for parse in compared(context, place, facts) if facts is not None else ():
        if parse.last == amount.last:
            yield Parse(amount.last + 1, nodes.that(*parse.value), parse.cost)


def _named_behind(context: Context, place: int, nodes: NodeSet, amount: Quantity) -> Iterator[Parse[NodeSet]]:
    """Yield `over 8 abv`, `more than 300 m high`: a property is named behind the amount."""
    begin = context.starts(amount.last, "in", "of", "for") or amount.last
    for facts, last, cost in properties_named(context, begin, nodes):
        for parse in compared(context, place, facts):
            if parse.last == amount.last:
                yield Parse(last, nodes.that(*parse.value), cost + parse.cost)


def _note_dates(context: Context, place: int, conditions: Iterable[Condition]) -> None:
    """Note that nothing but an amount said these conditions."""
    context.bare_dates.update(dict.fromkeys(conditions, place))


# ---------------------------------------------------------------------------------------------------- two amounts
def _range(context: Context, place: int, nodes: NodeSet) -> Iterator[Parse[NodeSet]]:
    """Yield `between 5 and 8 m tall`, `between 1890 and 1899`, `1890 to 1899`."""
    quantities = context.units.quantities
    begin = context.starts(place, "between", "from")
    low = quantities.get(begin if begin is not None else place)
    middle = context.starts(low.last, "and", "to") if low is not None else None
    high = quantities.get(middle) if middle is not None else None
    if middle is None or high is None:
        return
    yield from _with_adjective(context, place, nodes, high)
    if not high.is_year and high.unit is None:
        return
    own = properties_of(context, nodes)
    fitting = [facts for facts in own if (facts.kind in ("year", "date")) == high.is_year]
    ranges = [parse for facts in fitting for parse in compared(context, place, facts) if parse.last >= high.last]
    if not ranges and begin is None and len(fitting) == 1:
        yield from _from_to(context, place, middle, nodes, fitting[0])
    if len(ranges) == 1:
        _note_dates(context, place, ranges[0].value)
        yield Parse(ranges[0].last, nodes.that(*ranges[0].value), 0.15)


def _from_to(
    context: Context, place: int, middle: int, nodes: NodeSet, facts: PropertyFacts
) -> Iterator[Parse[NodeSet]]:
    """Yield `1890 to 1899`, where no word says that it is a range."""
    low, high = (next(compared(context, begin, facts), None) for begin in (place, middle))
    if low is None or high is None:
        return
    limits = []
    ends: tuple[tuple[Comparison, Parse[tuple[Condition, ...]]], ...] = ((">=", low), ("<=", high))
    for comparison, parse in ends:
        valued = parse.value[0]
        if not isinstance(valued, Valued):
            return
        limits.append(Valued(facts.name, comparison, valued.value))
    last = context.units.quantities[middle].last
    _note_dates(context, place, limits)
    yield Parse(last, nodes.that(*limits), 0.25)
