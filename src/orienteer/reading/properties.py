"""Properties with what is said of them: `height over 5 m`, `country is not Belgium`, `capacity unknown`."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import NamedTuple

from orienteer.reading.adjectives import properties_of
from orienteer.reading.comparisons import compared, compared_twice
from orienteer.reading.context import Context, Parse
from orienteer.reading.joints import contrary
from orienteer.reading.lexicon import PropertyFacts, ValueUnit
from orienteer.reading.query import Best, Either, Filled, Measure, NodeSet, Valued
from orienteer.reading.told import beside_told
from orienteer.reading.vocabulary import WORDS

_MOST_VALUES = 5  # in a row: `green, red or blue`


class NamedProperty(NamedTuple):
    """A property that is named, where its words end, and how far-fetched that is."""

    facts: PropertyFacts
    last: int
    cost: float


def properties_named(context: Context, place: int, nodes: NodeSet) -> Iterator[NamedProperty]:
    """Yield the properties of a set's nodes that are named here."""
    types = context.relations.types_of(nodes)
    for begin in context.skips(place):
        for unit in context.units.properties.get(begin, ()):
            facts = context.lexicon.properties[unit.property]
            if facts.types & types:
                yield NamedProperty(facts, unit.last, unit.cost)


def dated_property(context: Context, nodes: NodeSet) -> PropertyFacts | None:
    """Return the property that says when something of a set's nodes was; None where several or none do."""
    dated = [facts for facts in properties_of(context, nodes) if facts.kind in ("year", "date")]
    return dated[0] if len(dated) == 1 else None


# ------------------------------------------------------------------------------------------- behind its name
def property_said(
    context: Context, named: NamedProperty, nodes: NodeSet, *, is_denied: bool = False
) -> Iterator[Parse[NodeSet]]:
    """Yield what is said of a property behind its name: `is X`, `over 5`, `of 8 m`, `unknown`."""
    begin = context.skip(named.last, WORDS["before values"])
    yield from _beyond_others(context, named, begin, nodes)
    yield from property_ordered(context, named, begin, nodes)
    if context.at(begin) == "not":
        is_denied, begin = not is_denied, begin + 1
    facts, _, cost = named
    behind = context.skip(begin, WORDS["within"]) if facts.kind == "text" else begin  # "born in X", of a `birth_town`
    for unit in context.units.values.get(context.skip(behind, ("the", "a", "an")), ()):
        if unit.property == facts.name:
            valued = Valued(facts.name, "=", unit.value, is_denied)
            yield Parse(unit.last, nodes.that(valued), cost + unit.cost - 0.05)
    yield from _compared(context, named, begin, nodes, is_denied=is_denied)
    unknown = context.end_of(begin, "unknown")
    if unknown is not None:
        yield Parse(unknown, nodes.that(Filled(facts.name, negated=not is_denied)), cost)
    known = context.end_of(begin, "known")
    if known is not None:
        yield Parse(known, nodes.that(Filled(facts.name, negated=is_denied)), cost)


def _compared(
    context: Context, named: NamedProperty, begin: int, nodes: NodeSet, *, is_denied: bool
) -> Iterator[Parse[NodeSet]]:
    """Yield `over 5`, `between 5 and 8`, `over 5 and below 8`."""
    facts, _, cost = named
    if not is_denied:
        yield from (told._replace(cost=told.cost + cost) for told in beside_told(context, begin, facts, nodes))
    for parse in compared(context, begin, facts):
        conditions = contrary(parse.value) if is_denied else parse.value
        yield Parse(parse.last, nodes.that(*conditions), cost + parse.cost - 0.05)
    for twice in compared_twice(context, begin, facts) if not is_denied else ():
        yield Parse(twice.last, nodes.that(*twice.value), cost + twice.cost - 0.1)


def property_ordered(context: Context, named: NamedProperty, place: int, nodes: NodeSet) -> Iterator[Parse[NodeSet]]:
    """Yield `[launched] first`, `[founded] most recently`: a superlative."""
    for is_later, key in ((True, "later than all"), (False, "earlier than all")):
        last = context.end_of(context.skip(place, ("the",)), key)
        if last is not None and nodes.best is None and named.facts.kind in ("year", "date"):
            best = Best(Measure(property=named.facts.name), is_later)
            yield Parse(context.skip(last, ("of", "all")), replace(nodes, best=best), named.cost)


def _beyond_others(context: Context, named: NamedProperty, place: int, nodes: NodeSet) -> Iterator[Parse[NodeSet]]:
    """Yield `born later than all others`, `first light before any other`: a superlative."""
    is_more = context.end_of(place, "more than others") is not None
    if nodes.best is not None or not (is_more or context.end_of(place, "less than others")):
        return
    others = context.end_of(place + 1 + (context.at(place + 1) == "than"), "anyone else")
    if others is not None:
        best = Best(Measure(property=named.facts.name), is_more)
        yield Parse(kind_behind(context, others), replace(nodes, best=best), named.cost)


def property_again(context: Context, place: int, facts: PropertyFacts) -> int:
    """Return where `in height`, `in total length` ends that says of what an amount is; the place without it."""
    begin = context.starts(place, "in total", "in overall", "in")
    units = context.units.properties.get(begin, ()) if begin is not None else ()
    return max((unit.last for unit in units if unit.property == facts.name), default=place)


def kind_behind(context: Context, place: int) -> int:
    """Return where the kind of things ends that begins here; the place itself where there is none."""
    return max((kind.last for kind in context.units.types.get(place, ())), default=place)


# -------------------------------------------------------------------------------------------- values without a name
def values_at(context: Context, place: int, nodes: NodeSet) -> Iterator[tuple[ValueUnit, NodeSet]]:
    """Yield the values that begin here of properties that a set's nodes may have, and those that have them."""
    types = context.relations.types_of(nodes)
    for unit in context.units.values.get(place, ()):
        own = context.lexicon.properties[unit.property].types & types
        if own:
            yield unit, nodes if nodes.named else replace(nodes, types=own)


def any_value(
    context: Context,
    unit: ValueUnit,
    nodes: NodeSet,
    cost: float,
    before: tuple[Valued, ...] = (),
    *,
    are_all: bool | None = None,
) -> Iterator[Parse[NodeSet]]:
    """Yield the nodes with a value, and with any of several: `green`, `green or red`; or all, if nodes have several.

    Of `green, red or blue` the last word between them tells.
    """
    values = (*before, Valued(unit.property, "=", unit.value))
    if len(values) == 1 or are_all is not None:
        said = values if are_all or len(values) == 1 else (Either(tuple((value,) for value in values)),)
        yield Parse(unit.last, nodes.that(*said), cost)
        behind = context.starts(unit.last, "in", "by") or unit.last  # "green in colour", "statically typed"
        for named in context.units.properties.get(behind, ()):
            if named.property == unit.property:
                yield Parse(named.last, nodes.that(*said), cost)
    is_list = context.lexicon.properties[unit.property].is_list
    either, both = (context.end_of(unit.last, key) for key in ("or of values", "and of values"))
    is_comma = unit.last < context.end and context.reading.words[unit.last].after_comma
    goes_on = ((either, False), (both, is_list), (unit.last if is_comma else None, are_all))
    for begin, mode in goes_on if len(values) < _MOST_VALUES else ():
        for other in context.units.values.get(context.skip(begin), ()) if begin is not None else ():
            if other.property == unit.property and are_all in (None, mode):
                yield from any_value(context, other, nodes, cost, values, are_all=mode)
