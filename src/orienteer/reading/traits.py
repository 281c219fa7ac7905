"""Values that nodes have: `founded before 1800`, `taller than 50 m`, `weighs over 5 kg`, `is the oldest`."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from orienteer.reading.adjectives import best_of, compared_by, properties_of, superlatives_at
from orienteer.reading.amounts import amount_said
from orienteer.reading.comparisons import adjective, compared, compared_twice, factor
from orienteer.reading.context import Context, Parse
from orienteer.reading.lexicon import PropertyFacts
from orienteer.reading.others import another, but_not
from orienteer.reading.properties import (
    NamedProperty,
    any_value,
    dated_property,
    kind_behind,
    properties_named,
    property_again,
    property_ordered,
    property_said,
    values_at,
)
from orienteer.reading.query import Best, Condition, Measure, NodeSet, Valued
from orienteer.reading.told import beside_told, than_told
from orienteer.reading.vocabulary import ENGLISH, WORDS

_BEGINNING = WORDS["ages"] | WORDS["begun"]


def trait_said(context: Context, place: int, nodes: NodeSet) -> Iterator[Parse[NodeSet]]:
    """Yield `founded before 1800`, `taller than 50 m`, `over 100 MB`, `is organic`, `is the oldest`, `is green`."""
    if context.at(place) in WORDS["showing"]:
        for named in properties_named(context, place + 1, nodes):
            yield from property_said(context, named, nodes)
    for named in properties_named(context, context.skip(place, WORDS["stating"]), nodes):
        yield from property_said(context, named, nodes)
        if named.facts.kind == "boolean" and named.cost == 0:  # harbours that freeze are not `ice_free`
            yield Parse(named.last, nodes.that(Valued(named.facts.name, "=", named.facts.true)), named.cost)
    yield from _beyond(context, place, nodes)
    yield from _as_much(context, place, nodes)
    yield from _times(context, place, nodes)
    yield from _verb(context, place, nodes)
    yield from _in_a_way(context, place, nodes)
    yield from amount_said(context, place, nodes)
    articles = ("a", "an", "the", "either", "both")
    begin = context.end_of(place, "made of") or context.skip(place, articles)
    for unit, owners in values_at(context, begin, nodes):
        if context.lexicon.properties[unit.property].kind != "number":
            yield from any_value(context, unit, owners, unit.cost + 0.15)
    yield from _superlative(context, place, nodes)
    yield from _begun(context, place, nodes)


# ------------------------------------------------------------------------------------------------- adjectives
def _beyond(context: Context, place: int, nodes: NodeSet) -> Iterator[Parse[NodeSet]]:
    """Yield `taller than 50 m`, `older than X`, `more expensive than any other`, `go faster than 30 knots`."""
    place = context.skip(place, WORDS["moving"])
    for parse in adjective(context, place):
        meant, is_more = parse.value
        facts = compared_by(context, meant, nodes, place)
        than = context.starts(parse.last, "than")
        if facts is None or than is None:
            continue
        ascending = meant.ascending == is_more
        if meant.is_age and facts.kind == "number":
            ascending = not ascending
        yield from _beyond_all(context, than, nodes, facts, ascending=ascending)
        yield from _beyond_amount(context, than, nodes, facts, ascending=ascending)
        yield from _beyond_another(context, than, nodes, facts, ascending=ascending)
        yield from than_told(context, than, facts, nodes, ">" if ascending else "<")


def _beyond_all(
    context: Context, place: int, nodes: NodeSet, facts: PropertyFacts, *, ascending: bool
) -> Iterator[Parse[NodeSet]]:
    """Yield `[taller than] any other`, `[taller than] all other towers`: a superlative."""
    others = context.end_of(place, "all others")
    if others is not None and nodes.best is None:
        best = Best(Measure(property=facts.name), ascending)
        yield Parse(kind_behind(context, others), replace(nodes, best=best), 0.0)


def _beyond_amount(
    context: Context, place: int, nodes: NodeSet, facts: PropertyFacts, *, ascending: bool
) -> Iterator[Parse[NodeSet]]:
    """Yield `[taller than] 50 m`, `[older than] the year 1800`."""
    if context.skip(place, ("the", "year", "a")) in context.units.quantities:
        for parse in compared(context, place, facts):
            condition = _turned(parse.value[0], ascending=ascending)
            yield Parse(parse.last, nodes.that(condition), parse.cost)


def _beyond_another(
    context: Context, place: int, nodes: NodeSet, facts: PropertyFacts, *, ascending: bool
) -> Iterator[Parse[NodeSet]]:
    """Yield `[taller than] X`."""
    for other in another(context, place, context.relations.types_of(nodes) & facts.types):
        value = context.lexicon.number(facts, other.value)
        if value is not None:
            valued = Valued(facts.name, ">" if ascending else "<", value)
            yield Parse(other.last, nodes.that(valued), other.cost + 0.05)


def _as_much(context: Context, place: int, nodes: NodeSet) -> Iterator[Parse[NodeSet]]:
    """Yield `as tall as X`, `at least as tall as X`; what is not as tall as X is less tall."""
    begin = context.starts(place, "at least as", "exactly as", "precisely as", "just as", "equally as", "as")
    word = context.at(begin) if begin is not None else ""
    than = context.starts(begin + 1, "as") if begin is not None and word in ENGLISH.adjectives else None
    facts = compared_by(context, ENGLISH.adjectives[word], nodes, place) if than is not None else None
    if than is None or facts is None:
        return
    is_denied = context.at(place - 1) in WORDS["denials"]
    is_least = context.at(place) == "at" or (is_denied and context.at(place) == "as")
    ascending = ENGLISH.adjectives[word].ascending != (ENGLISH.adjectives[word].is_age and facts.kind == "number")
    for other in another(context, than, context.relations.types_of(nodes) & facts.types):
        value = context.lexicon.number(facts, other.value)
        if value is not None:
            valued = Valued(facts.name, "=" if not is_least else ">=" if ascending else "<=", value)
            excluded = () if is_denied else (but_not(other.value),)
            yield Parse(other.last, nodes.that(valued, *excluded), other.cost)


def _times(context: Context, place: int, nodes: NodeSet) -> Iterator[Parse[NodeSet]]:
    """Yield `more than twice as long as X`, `over double the duration of X`."""
    times = factor(context, place)
    if times is None:
        return
    for facts in properties_of(context, nodes):
        if facts.kind == "number":
            for parse in compared(context, place, facts, default=None):
                if parse.last > times.last:
                    yield Parse(parse.last, nodes.that(*parse.value), parse.cost + 0.05)


def _in_a_way(context: Context, place: int, nodes: NodeSet) -> Iterator[Parse[NodeSet]]:
    """Yield `write in a serialist style`: a verb that says no more than the property behind it."""
    for unit in context.units.edges.get(place, ()):
        begin = context.starts(unit.last, "in a", "in an", "in the", "with a", "with an")
        for value, owners in values_at(context, begin, nodes) if begin is not None else ():
            for named in properties_named(context, value.last, owners):
                if named.facts.name == value.property:
                    valued = Valued(value.property, "=", value.value)
                    yield Parse(named.last, owners.that(valued), named.cost + value.cost + 0.1)


def _superlative(context: Context, place: int, nodes: NodeSet) -> Iterator[Parse[NodeSet]]:
    """Yield `the oldest`, `tallest`, `the most expensive one`."""
    if not nodes.types and not nodes.conditions:
        return  # of what it is the largest has to be told
    begin = context.skip(context.skip(place, WORDS["moving"]))
    for parse in superlatives_at(context, begin):
        best = best_of(context, nodes, parse.value, 1, begin)
        if best is not None:
            yield Parse(context.skip(parse.last, ("one", "of", "all", "them", "these")), best, 0.0)


# ------------------------------------------------------------------------------------------------------ verbs
def _verb(context: Context, place: int, nodes: NodeSet) -> Iterator[Parse[NodeSet]]:
    """Yield `weighs over 5 kg`, `earns the most`: verbs that state a property."""
    if place >= context.end:
        return
    stem = context.lexicon.vocabulary.stem
    if context.reading.words[place].stem == stem("measure"):
        yield from amount_said(context, place + 1, nodes)
    for verb, words in ENGLISH.stating.items():
        word = context.at(place)
        if context.reading.words[place].stem != stem(verb) and ENGLISH.verb_of.get(word) != verb:
            continue
        if verb == "pay" and context.at(place - 1) not in WORDS["before paid"]:
            continue  # who paid the most is not who is paid
        stems = {stem(word) for word in words}
        fitting = [facts for facts in properties_of(context, nodes) if stems.intersection(facts.stems)]
        if len(fitting) != 1:
            continue
        for parse in (
            *compared(context, place + 1, fitting[0]),
            *compared_twice(context, place + 1, fitting[0]),
        ):
            last = property_again(context, parse.last, fitting[0])
            last = context.skip(last, WORDS["occupants"])  # "hold over a hundred people"
            yield Parse(last, nodes.that(*parse.value), parse.cost)
        yield from beside_told(context, place + 1, fitting[0], nodes)
        most = context.skip(place + 1)
        is_more = ENGLISH.most.get(context.at(most))
        if is_more is not None and nodes.best is None:
            best = Best(Measure(property=fitting[0].name), is_more)
            yield Parse(context.skip(most + 1, WORDS["occupants"]), replace(nodes, best=best), 0.0)


def _begun(context: Context, place: int, nodes: NodeSet) -> Iterator[Parse[NodeSet]]:
    """Yield `appeared before 1960`, `came out in 1990`."""
    dated = dated_property(context, nodes)
    if dated is not None and context.at(place) in _BEGINNING:
        begin = context.skip(place + 1, WORDS["behind beginning"])
        named = NamedProperty(dated, begin, 0.1)
        yield from property_ordered(context, named, begin, nodes)
        for parse in (
            *compared(context, begin, dated, default=None),
            *compared_twice(context, begin, dated),
        ):
            yield Parse(parse.last, nodes.that(*parse.value), parse.cost + 0.1)


def _turned(condition: Condition, *, ascending: bool) -> Condition:
    """Return the comparison of `taller than 5` from one that was read without its adjective."""
    if (
        isinstance(condition, Valued)
        and isinstance(condition.value, float)
        and condition.comparison in ("=", ">=", "<")
    ):
        return replace(condition, comparison=">" if ascending else "<")
    return condition
