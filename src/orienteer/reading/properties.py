"""What is said of properties: `height over 5 m`, `founded before 1800`, `taller than average`."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import replace
from typing import Literal, NamedTuple

from orienteer.reading.comparisons import (
    adjective,
    best_of,
    compared,
    compared_by,
    compared_or_twice,
    compared_twice,
    factor,
    properties_of,
    said_behind,
    sign,
    stated_by,
    superlatives_at,
    than_another,
)
from orienteer.reading.edges import contrary
from orienteer.reading.nouns import heads_at, noun_had
from orienteer.reading.quantities import Quantity
from orienteer.reading.query import Best, Comparison, Condition, Either, Filled, Measure, NodeSet, Told, Valued
from orienteer.reading.relations import Relation, Voice
from orienteer.reading.rules import Context, Parse, Phrases, Rule, part, rules
from orienteer.reading.units import PropertyFacts, ValueUnit
from orienteer.reading.vocabulary import ENGLISH, WORDS
from orienteer.text.units import UNITS

# ================================================================================================================= told
# Values that the graph tells and others are compared with: `taller than average`, `before their father was born`.

AVERAGES: tuple[Literal["average", "median"], ...] = ("average", "median")


def beside_told(context: Context, place: int, facts: PropertyFacts, nodes: NodeSet) -> Phrases:
    """Yield `before their father was born`, `above the average`, of a property that was named before."""
    if not facts.is_measured:
        return
    for before in sign(context, place, of_dates=facts.kind != "number"):
        if " ".join(context.words[place : before.last]) in ENGLISH.phrases["of others"]:
            yield from than_told(context, before.last, facts, nodes, before.value)


def than_told(context: Context, place: int, facts: PropertyFacts, nodes: NodeSet, comparison: Comparison) -> Phrases:
    """Yield `[taller than] the average`, `[older than] their boss`."""
    told_by = (_average, _of_theirs, _of_another)
    for told in (told for by in told_by for told in by(context, place, facts, nodes)):
        yield Parse(told.last, nodes.that(Valued(facts.name, comparison, told.value)), told.cost)


def _average(context: Context, place: int, facts: PropertyFacts, nodes: NodeSet) -> Iterator[Parse[Told]]:
    """Yield `the average`, `the median height`, `the average tower`; of which things is to be known."""
    begin = context.skip(place)
    for form in AVERAGES:
        last = context.end_of(begin, form)
        if last is None:
            continue
        own = [unit.last for unit in context.units.properties.get(last, ()) if unit.property == facts.name]
        end = max(own, default=last)
        of = context.end_of(end, "of all the") if end > last else None
        for head in heads_at(context, end if of is None else of):
            if head.value.types & facts.types and not head.value.named and head.value.best is None:
                yield Parse(head.last, Told(facts.name, head.value, form), head.cost)
        types = context.relations.types_of(nodes) & facts.types
        is_bare = not any(own.get(end) for own in (context.units.values, context.units.names, context.units.types))
        if is_bare and not nodes.conditions and nodes.best is None and len(types) == 1:  # no "average brewer"
            yield Parse(end, Told(facts.name, NodeSet(types), form), 0.1)


def _of_theirs(context: Context, place: int, facts: PropertyFacts, nodes: NodeSet) -> Iterator[Parse[Told]]:
    """Yield `their boss`, `that of their boss`, `their father was born`: what an edge leads to from each of them."""
    begin = context.end_of(place, "that of") or place
    # "employees whose boss earns more than their father": whose?
    owned = [at + 1 for at in range(begin) if context.end_of(at, "whose") is not None]
    said = [{unit.property for unit in context.units.properties.get(at, ())} for at in owned]
    if context.at(begin) not in WORDS["theirs"] or any(facts.name not in own for own in said):
        return
    for last, relation in _had(context, begin + 1, nodes):
        for name, end, cost in _others(context, last, facts, relation.target):
            yield Parse(end, Told(name, relation.target, kinds=relation.kinds), cost)
        if facts.types & context.relations.types_of(relation.target):
            end = context.possessive(last) or context.skip(last, WORDS["asking"])
            yield Parse(end, Told(facts.name, relation.target, kinds=relation.kinds), 0.05)


def _of_another(context: Context, place: int, facts: PropertyFacts, nodes: NodeSet) -> Iterator[Parse[Told]]:
    """Yield `[before] X was born`: what a named node has for another property."""
    for named in context.nodes(place):
        for name, end, cost in _others(context, named.last, facts, named.value) if len(named.value.named) == 1 else ():
            if name != facts.name:
                yield Parse(end, Told(name, named.value), named.cost + cost)


def _others(context: Context, place: int, facts: PropertyFacts, nodes: NodeSet) -> Iterator[tuple[str, int, float]]:
    """Yield the properties of nodes that are named behind them and can be compared: `was born`, `died`, `'s salary`."""
    behind = context.possessive(place) or context.skip(place, WORDS["asking"])
    for unit in context.units.properties.get(behind, ()):
        other = context.lexicon.properties[unit.property]
        is_alike = other.kind == facts.kind or {other.kind, facts.kind} <= {"year", "date"}
        if is_alike and other.types & context.relations.types_of(nodes) and (behind > place or other.kind != "number"):
            yield other.name, unit.last, unit.cost


def _had(context: Context, place: int, nodes: NodeSet) -> Iterator[tuple[int, Relation]]:
    """Yield where words end for what each of some nodes has, and how it is joined to them: `boss`, `department`."""
    for unit in context.units.edges.get(place, ()):
        for relation in noun_had(context, nodes, unit, NodeSet()):
            yield unit.last, relation
    for head in heads_at(context, place):
        if head.value.types and not head.value.conditions and head.value.best is None:
            for relation in context.relations.unnamed(nodes, "", head.value, Voice.HAS_NOUN):
                if not relation.target.is_between:
                    yield head.last, relation


# =========================================================================================================== properties
# Properties with what is said of them: `height over 5 m`, `country is not Belgium`, `capacity unknown`.

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
    dated = _begins([facts for facts in properties_of(context, nodes) if facts.kind in ("year", "date")])
    return dated[0] if len(dated) == 1 else None


def _begins(dated: list[PropertyFacts]) -> list[PropertyFacts]:
    """Return the date by which something began where others tell its end: an incident is of when it was opened."""
    begins = [facts for facts in dated if WORDS["event ends"].isdisjoint(facts.name.casefold().split("_"))]
    return begins if len(begins) == 1 else dated


# ------------------------------------------------------------------------------------------- behind its name
def property_said(context: Context, named: NamedProperty, nodes: NodeSet, *, is_denied: bool = False) -> Phrases:
    """Yield what is said of a property behind its name: `is X`, `over 5`, `of 8 m`, `unknown`."""
    begin = context.skip(named.last, WORDS["before values"])
    yield from _beyond_others(context, named, begin, nodes)
    yield from property_ordered(context, named, begin, nodes)
    if context.at(begin) == "not":
        is_denied, begin = not is_denied, begin + 1
    facts, _, cost = named
    behind = context.skip(begin, WORDS["within"]) if facts.kind == "text" else begin  # "born in X", of a `birth_town`
    for unit in context.units.values.get(context.skip(behind, ("the", "a", "an")), ()):
        if facts.name in (unit.property, context.lexicon.beside.get(unit.property)):
            valued = Valued(unit.property, "=", unit.value, is_denied)
            yield Parse(unit.last, nodes.that(valued), cost + unit.cost - 0.05)
    if not is_denied:
        yield from (told._replace(cost=told.cost + cost) for told in beside_told(context, begin, facts, nodes))
    for parse in compared(context, begin, facts):
        conditions = contrary(parse.value) if is_denied else parse.value
        yield Parse(parse.last, nodes.that(*conditions), cost + parse.cost - 0.05)
    if not is_denied:
        yield from meeting(nodes, compared_twice(context, begin, facts), cost - 0.1)
    for key, is_known in (("unknown", False), ("known", True)):
        last = context.end_of(begin, key)
        if last is not None:
            yield Parse(last, nodes.that(Filled(facts.name, negated=is_denied == is_known)), cost)


def meeting(nodes: NodeSet, parses: Iterable[Parse[tuple[Condition, ...]]], cost: float = 0.0) -> Phrases:
    """Yield the nodes that meet what was read."""
    return (Parse(parse.last, nodes.that(*parse.value), cost + parse.cost) for parse in parses)


@part
def own_property(context: Context, place: int, nodes: NodeSet) -> Phrases:
    """Read a property with what is said of it: `[in] the country X`, `height over 5 m`."""
    for named in properties_named(context, place, nodes):
        yield from property_said(context, named, nodes)


def property_ordered(context: Context, named: NamedProperty, place: int, nodes: NodeSet) -> Phrases:
    """Yield `[launched] first`, `[founded] most recently`: a superlative."""
    for is_later, key in ((True, "later than all"), (False, "earlier than all")):
        last = context.end_of(context.skip(place, ("the",)), key)
        if last is not None and nodes.best is None and named.facts.kind in ("year", "date"):
            best = Best(Measure(property=named.facts.name), is_later)
            yield Parse(context.skip(last, ("of", "all")), replace(nodes, best=best), named.cost)


def _beyond_others(context: Context, named: NamedProperty, place: int, nodes: NodeSet) -> Phrases:
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
) -> Phrases:
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
    is_comma = context.is_behind_comma(unit.last)
    goes_on = ((either, False), (both, is_list), (unit.last if is_comma else None, are_all))
    for begin, mode in goes_on if len(values) < _MOST_VALUES else ():
        for other in context.units.values.get(context.skip(begin), ()) if begin is not None else ():
            if other.property == unit.property and are_all in (None, mode):
                yield from any_value(context, other, nodes, cost, values, are_all=mode)


# ============================================================================================================== amounts
# Amounts of a property that is not named: `over 100 MB`, `before 1800`, `between 5 and 8 m tall`, `over 8 abv`.


@part
def amount_said(context: Context, place: int, nodes: NodeSet) -> Phrases:
    """Read `over 100 MB`, where one property alone is told in such a unit; `before 1800` where one tells years."""
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
def _bare(context: Context, place: int, nodes: NodeSet) -> Phrases:
    """Yield `20 m deep`, `20 m deep or more`, `38 berths or more`: nothing stands before the amount."""
    amount = context.units.quantities.get(place)
    if amount is None:
        return
    named = list(properties_named(context, amount.last, nodes))
    adjective = ENGLISH.adjectives.get(context.at(amount.last))
    facts = compared_by(context, adjective, nodes, amount.last) if adjective is not None else None
    if facts is not None and amount.unit is not None:
        named.append(NamedProperty(facts, amount.last + 1, 0.0))
    for facts, last, cost in named:
        for parse in compared(context, place, facts):
            valued = parse.value[0]
            if parse.last != amount.last or len(parse.value) > 1 or not isinstance(valued, Valued):
                continue
            if facts.kind == "number":
                yield Parse(last, nodes.that(valued), cost + 0.1)
            if (behind := said_behind(context, last)) is not None:
                yield Parse(behind[1], nodes.that(replace(valued, comparison=behind[0])), cost)


def _unnamed(context: Context, place: int, nodes: NodeSet, amount: Quantity, *, is_own: bool = False) -> Phrases:
    """Yield `over 100 MB`, `before 1800`; complain where several properties are told so.

    "Who received it before 1984" is not about when they were born; `from before 1984` is about their own time.
    """
    fitting = _told_in(context, place, amount, replace(nodes, conditions=()) if is_own and nodes.types else nodes)
    begin = context.starts(amount.last, "in", "of", "for") or amount.last
    if not fitting or any(properties_named(context, begin, nodes)):
        return
    if len(fitting) == 1:
        for parse in compared_or_twice(context, place, fitting[0]):
            context.bare_dates |= dict.fromkeys(parse.value, place)
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
        return _begins([facts for facts in own if facts.kind in ("year", "date")])
    return []


def _with_adjective(context: Context, place: int, nodes: NodeSet, amount: Quantity) -> Phrases:
    """Yield `over 300 metres long`, `between 5 and 8 m tall`: an adjective is behind the last amount."""
    adjective = ENGLISH.adjectives.get(context.at(amount.last))
    facts = compared_by(context, adjective, nodes, amount.last) if adjective is not None else None
    for parse in compared(context, place, facts) if facts is not None else ():
        if parse.last == amount.last:
            yield Parse(amount.last + 1, nodes.that(*parse.value), parse.cost)


def _named_behind(context: Context, place: int, nodes: NodeSet, amount: Quantity) -> Phrases:
    """Yield `over 8 abv`, `more than 300 m high`: a property is named behind the amount."""
    begin = context.starts(amount.last, "in", "of", "for") or amount.last
    for facts, last, cost in properties_named(context, begin, nodes):
        for parse in compared(context, place, facts):
            if parse.last == amount.last:
                yield Parse(last, nodes.that(*parse.value), cost + parse.cost)


# ---------------------------------------------------------------------------------------------------- two amounts
def _range(context: Context, place: int, nodes: NodeSet) -> Phrases:
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
        context.bare_dates |= dict.fromkeys(ranges[0].value, place)
        yield Parse(ranges[0].last, nodes.that(*ranges[0].value), 0.15)


def _from_to(context: Context, place: int, middle: int, nodes: NodeSet, facts: PropertyFacts) -> Phrases:
    """Yield `1890 to 1899`, where no word says that it is a range."""
    said = [next(compared(context, begin, facts), None) for begin in (place, middle)]
    ends = [parse.value[0] for parse in said if parse is not None]
    values = [end.value for end in ends if isinstance(end, Valued)]
    if len(values) == 2:
        limits = (Valued(facts.name, ">=", values[0]), Valued(facts.name, "<=", values[1]))
        context.bare_dates |= dict.fromkeys(limits, place)
        yield Parse(context.units.quantities[middle].last, nodes.that(*limits), 0.25)


# =============================================================================================================== traits
# Values that nodes have: `founded before 1800`, `taller than 50 m`, `weighs over 5 kg`, `is the oldest`.

_BEGINNING = WORDS["ages"] | WORDS["begun"]


@part
def flag(context: Context, place: int, nodes: NodeSet) -> Phrases:
    """Read `organic`, of a property that is so or not; harbours that freeze are not `ice_free`."""
    for named in properties_named(context, place, nodes):
        if named.facts.kind == "boolean" and named.cost == 0:
            yield Parse(named.last, nodes.that(Valued(named.facts.name, "=", named.facts.true)), 0.0)


@part
def value_of_them(context: Context, place: int, nodes: NodeSet) -> Phrases:
    """Read `[made of] wood`, `a green`, `green or red`."""
    begin = context.end_of(place, "made of") or context.skip(place, ("a", "an", "the", "either", "both"))
    for unit, owners in values_at(context, begin, nodes):
        if context.lexicon.properties[unit.property].kind != "number":
            yield from any_value(context, unit, owners, unit.cost + 0.15)


# ------------------------------------------------------------------------------------------------- adjectives
@part
def beyond(context: Context, place: int, nodes: NodeSet) -> Phrases:
    """Read `taller than 50 m`, `older than X`, `more expensive than any other`, `go faster than 30 knots`."""
    place = context.skip(place, WORDS["moving"])
    for parse in adjective(context, place):
        meant, is_more = parse.value
        facts = compared_by(context, meant, nodes, place)
        than = context.starts(parse.last, "than")
        if facts is None or than is None:
            continue
        ascending = meant.ascending == is_more
        comparison: Comparison = ">" if ascending else "<"
        others = context.end_of(than, "all others")
        if others is not None and nodes.best is None:  # taller "than all other towers": a superlative
            best = Best(Measure(property=facts.name), ascending)
            yield Parse(kind_behind(context, others), replace(nodes, best=best), 0.0)
        if context.skip(than, ("the", "year", "a")) in context.units.quantities:
            for amount in compared(context, than, facts, default=comparison):
                yield Parse(amount.last, nodes.that(*amount.value), amount.cost)
        types = context.relations.types_of(nodes) & facts.types
        yield from meeting(nodes, than_another(context, than, facts, comparison, types), 0.05)
        yield from than_told(context, than, facts, nodes, comparison)


@part
def as_much(context: Context, place: int, nodes: NodeSet) -> Phrases:
    """Read `as tall as X`, `at least as tall as X`; what is not as tall as X is less tall."""
    begin = context.starts(place, "at least as", "exactly as", "precisely as", "just as", "equally as", "as")
    word = context.at(begin) if begin is not None else ""
    than = context.starts(begin + 1, "as") if begin is not None and word in ENGLISH.adjectives else None
    facts = compared_by(context, ENGLISH.adjectives[word], nodes, place) if than is not None else None
    if than is None or facts is None:
        return
    is_denied = context.at(place - 1) in WORDS["denials"]
    is_least = context.at(place) == "at" or (is_denied and context.at(place) == "as")
    comparison: Comparison = "=" if not is_least else ">=" if ENGLISH.adjectives[word].ascending else "<="
    types = context.relations.types_of(nodes) & facts.types
    yield from meeting(nodes, than_another(context, than, facts, comparison, types, but_it=not is_denied))


@part
def times_another(context: Context, place: int, nodes: NodeSet) -> Phrases:
    """Read `more than twice as long as X`, `over double the duration of X`."""
    times = factor(context, place)
    for facts in properties_of(context, nodes) if times is not None else ():
        if times is not None and facts.kind == "number":
            said = compared(context, place, facts, default=None)
            yield from meeting(nodes, (parse for parse in said if parse.last > times.last), 0.05)


@part
def in_a_way(context: Context, place: int, nodes: NodeSet) -> Phrases:
    """Read `write in a serialist style`: a verb that says no more than the property behind it."""
    for unit in context.units.edges.get(place, ()):
        begin = context.starts(unit.last, "in a", "in an", "in the", "with a", "with an")
        for value, owners in values_at(context, begin, nodes) if begin is not None else ():
            for named in properties_named(context, value.last, owners):
                if named.facts.name == value.property:
                    valued = Valued(value.property, "=", value.value)
                    yield Parse(named.last, owners.that(valued), named.cost + value.cost + 0.1)


@part
def superlative_of_them(context: Context, place: int, nodes: NodeSet) -> Phrases:
    """Read `the oldest`, `tallest`, `the most expensive one`."""
    if not nodes.types and not nodes.conditions:
        return  # of what it is the largest has to be told
    begin = context.skip(context.skip(place, WORDS["moving"]))
    for parse in superlatives_at(context, begin):
        best = best_of(context, nodes, parse.value, 1, begin)
        if best is not None:
            yield Parse(context.skip(parse.last, ("one", "of", "all", "them", "these")), best, 0.0)


# ------------------------------------------------------------------------------------------------------ verbs
@part
def stated(context: Context, place: int, nodes: NodeSet) -> Phrases:
    """Read `weighs over 5 kg`, `earns the most`: verbs that state a property."""
    if place >= context.end:
        return
    stem = context.lexicon.vocabulary.stem
    if context.reading.words[place].stem == stem("measure"):
        yield from amount_said(context, place + 1, nodes)
    for verb in ENGLISH.stating:
        word = context.at(place)
        if context.reading.words[place].stem != stem(verb) and ENGLISH.verb_of.get(word) != verb:
            continue
        if verb == "pay" and context.at(place - 1) not in WORDS["before paid"]:
            continue  # who paid the most is not who is paid
        facts = stated_by(context, verb, nodes)
        if facts is None:
            continue
        for parse in compared_or_twice(context, place + 1, facts):
            last = property_again(context, parse.last, facts)
            last = context.skip(last, WORDS["occupants"])  # "hold over a hundred people"
            yield Parse(last, nodes.that(*parse.value), parse.cost)
        yield from beside_told(context, place + 1, facts, nodes)
        most = context.skip(place + 1)
        is_more = ENGLISH.most.get(context.at(most))
        if is_more is not None and nodes.best is None:
            best = Best(Measure(property=facts.name), is_more)
            yield Parse(context.skip(most + 1, WORDS["occupants"]), replace(nodes, best=best), 0.0)


@part
def begun(context: Context, place: int, nodes: NodeSet) -> Phrases:
    """Read `appeared before 1960`, `came out in 1990`; since when somebody does something is no date of theirs."""
    dated, word = dated_property(context, nodes), context.at(place)
    if dated is not None and word in _BEGINNING and not (word == "since" and nodes.conditions):
        begin = context.skip(place + 1, WORDS["behind beginning"])
        named = NamedProperty(dated, begin, 0.1)
        yield from property_ordered(context, named, begin, nodes)
        yield from meeting(nodes, compared_or_twice(context, begin, dated, default=None), 0.1)


TRAITS = rules(
    "traits",
    Rule("doors showing a height over 5 m", "<showing> own_property"),
    Rule("ships of height over 5 m", "-<stating> own_property"),
    Rule("farms that are organic", "-<stating> flag"),
    Rule("towers taller than X", "beyond"),
    Rule("towers as tall as X", "as_much"),
    Rule("works more than twice as long as X", "times_another"),
    Rule("ships that weigh over 5 kg", "stated"),
    Rule("people who write in a serialist style", "in_a_way"),
    Rule("packages over 100 MB", "amount_said"),
    Rule("ships that are green or red", "value_of_them"),
    Rule("which tower is the oldest", "superlative_of_them"),
    Rule("films that appeared before 1960", "begun"),
)
