"""Prepositions without a verb, and names without either: `in Belgium`, `for asthma or migraine`, `telescopes X`."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial

from orienteer.reading.comparisons import compared, compared_twice
from orienteer.reading.context import Context, Parse
from orienteer.reading.edge_labels import Voice
from orienteer.reading.joints import all_joined, denied, joined
from orienteer.reading.names import names_at
from orienteer.reading.objects import objects_at
from orienteer.reading.properties import (
    any_value,
    dated_property,
    properties_named,
    property_said,
    values_at,
)
from orienteer.reading.query import NodeSet
from orienteer.reading.relations import Relation
from orienteer.reading.units import ValueUnit
from orienteer.reading.vocabulary import WORDS


def place_said(context: Context, place: int, nodes: NodeSet) -> Iterator[Parse[NodeSet]]:
    """Yield `in Belgium`, `for asthma or migraine`, `from Rodenbach`, `of colour X`, `in 1990`."""
    lying = context.skip(place, WORDS["lying"])
    if context.at(lying) in ("outside", "in", "within"):
        yield from _valued_place(context, lying, nodes, is_denied=context.at(lying) == "outside")
    word = context.at(place)
    is_behind_participle = word == "by" and context.at(place - 1).endswith("ed")  # of which it is the doer
    if word not in WORDS["all prepositions"] or word in WORDS["saying more"] or is_behind_participle:
        return
    begin = context.skip(place, WORDS["all prepositions"])
    yield from _things(context, begin, nodes, word)
    for named in properties_named(context, begin, nodes):  # "in the country X", "of colour X"
        yield from property_said(context, named, nodes)
    for unit, owners in values_at(context, context.skip(begin), nodes):
        if word not in WORDS["within"] or not _is_past(unit):
            yield from any_value(context, unit, owners, unit.cost + 0.1)
    dated = dated_property(context, nodes)
    if dated is not None and not nodes.conditions and word not in WORDS["of sizes"]:
        for parse in (*compared(context, place, dated, default=None), *compared_twice(context, place, dated)):
            yield Parse(parse.last, nodes.that(*parse.value), parse.cost + 0.2)


def _is_past(unit: ValueUnit) -> bool:
    """Return whether a property says where a thing began, and not where it is: `birth_town`."""
    return not WORDS["ages"].isdisjoint(unit.property.casefold().split("_"))


def _valued_place(context: Context, place: int, nodes: NodeSet, *, is_denied: bool) -> Iterator[Parse[NodeSet]]:
    """Yield `[lies in] Ardony`, `outside Ardony`, of a property: where things are is no edge."""
    begin = context.skip(place + 1, ("of", "the"))
    for unit, owners in values_at(context, begin, nodes):
        if _is_past(unit) and not is_denied:
            continue
        for parse in any_value(context, unit, owners, unit.cost + 0.1):
            value = denied(parse.value, owners) if is_denied else parse.value
            if value is not None:
                yield parse._replace(value=value)
    for objects in objects_at(context, begin) if is_denied else ():
        others = all_joined(context, nodes, objects, partial(_related_in, context), is_denied=True)
        if others is not None and objects.value.amount is None:
            yield others


def _related_in(context: Context, nodes: NodeSet, target: NodeSet) -> Relation | None:
    return next(context.relations.unnamed(nodes, "in", target), None)


def _things(context: Context, place: int, nodes: NodeSet, preposition: str) -> Iterator[Parse[NodeSet]]:
    """Yield `[in] Belgium`, `[for] asthma or migraine`."""
    frame = Voice.PASSIVE if preposition == "by" else Voice.SUBJECT

    def related(nodes: NodeSet, target: NodeSet) -> Relation | None:
        return next(context.relations.unnamed(nodes, preposition, target, frame), None)

    for objects in objects_at(context, place):
        if objects.value.amount is not None and preposition not in WORDS["before counted"]:
            continue
        parse = all_joined(context, nodes, objects, related)
        if parse is not None:
            yield parse


def name_beside(context: Context, place: int, nodes: NodeSet) -> Iterator[Parse[NodeSet]]:
    """Yield `[telescopes] Plainwater`: a name right behind a kind that it is not of."""
    is_denied = context.at(place) == "not" and context.reading.words[place].after_comma
    if place == 0 or not nodes.types or (nodes.conditions and not is_denied):
        return
    before = context.at(place - 1)
    if before in WORDS["all prepositions"] or before in ("has", "have", "had"):
        return  # "drugs for X": the preposition says by which edges
    if context.at(place) in WORDS["determiners"] or context.at(place) in WORDS["all prepositions"]:
        return
    for named in names_at(context, place + is_denied):
        if not context.relations.types_of(named.value) & nodes.types:
            for relation in context.relations.unnamed(nodes, "", named.value):
                if not relation.target.is_between:  # nor is it one of whatever stands between them
                    yield joined(relation, named.last, named.cost + 0.1, is_denied=is_denied)
