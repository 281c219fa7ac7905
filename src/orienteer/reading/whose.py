"""Clauses about what nodes have: `whose height is over 5 m`, `whose brewery is in Belgium`, `whose supervisor is X`."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from orienteer.reading.comparisons import count
from orienteer.reading.context import Context, Parse
from orienteer.reading.edge_labels import Voice
from orienteer.reading.joints import complain_of_many, joined
from orienteer.reading.kinds import heads_at
from orienteer.reading.objects import objects_at
from orienteer.reading.phrases import noun_had
from orienteer.reading.properties import properties_named, property_said
from orienteer.reading.query import Among, Best, Filled, Joined, NodeSet
from orienteer.reading.rankings import measures_at
from orienteer.reading.vocabulary import ENGLISH, WORDS


def whose_said(context: Context, place: int, nodes: NodeSet) -> Iterator[Parse[NodeSet]]:
    """Yield `whose height is over 5 m`, `whose brewery is in Belgium`, `whose supervisor is X`."""
    yield from _unknown_to_us(context, place, nodes)
    begin = context.end_of(place, "whose value")
    if begin is None:
        return
    yield from _measure(context, begin, nodes)
    for named in properties_named(context, begin, nodes):
        yield from property_said(context, named, nodes)
    yield from _kind(context, begin, nodes)
    yield from _edge_noun(context, begin, nodes)


def _unknown_to_us(context: Context, place: int, nodes: NodeSet) -> Iterator[Parse[NodeSet]]:
    """Yield `[for which X] is the height missing`, `[for which X] do we not have a height`."""
    begin = context.end_of(context.skip(place, WORDS["auxiliaries"]), "we lack")
    if begin is not None:
        begin = context.end_of(begin, "figures") or begin
        for named in properties_named(context, begin, nodes):
            yield Parse(named.last, nodes.that(Filled(named.facts.name, negated=True)), named.cost)
    if context.at(place) in ("is", "are", "was"):
        for named in properties_named(context, place + 1, nodes):
            last = context.end_of(named.last, "missing")
            if last is not None:
                yield Parse(last, nodes.that(Filled(named.facts.name, negated=True)), named.cost)


def _measure(context: Context, place: int, nodes: NodeSet) -> Iterator[Parse[NodeSet]]:
    """Yield `[whose] number of genes is 5`, `[whose] height is the largest`."""
    for measure in measures_at(context, context.skip(place, ("the",)), nodes):
        begin = context.skip(measure.last, ("is", "are", "was", "were", "of"))
        target = measure.value.target
        if target is not None:
            for amount in count(context, begin):
                condition = Joined(measure.value.kinds, target, False, *amount.value)
                yield Parse(amount.last, nodes.that(condition), measure.cost + amount.cost)
        most = context.skip(begin)
        is_more = ENGLISH.most.get(context.at(most))
        if is_more is not None and nodes.best is None:
            yield Parse(most + 1, replace(nodes, best=Best(measure.value, is_more)), measure.cost)


def _kind(context: Context, place: int, nodes: NodeSet) -> Iterator[Parse[NodeSet]]:
    """Yield `[whose] brewery is in Belgium`: a kind of things that one relation leads to."""
    for head in heads_at(context, place):
        relation = next(context.relations.unnamed(nodes, "", head.value, Voice.HAS_NOUN), None)
        if relation is None:
            complain_of_many(context, nodes, head.value, place)
            continue
        for described in _own_clause(context, head.last, relation.target):
            if described.value.best is None:
                cost = head.cost + described.cost
                yield joined(relation._replace(target=described.value), described.last, cost)


def _edge_noun(context: Context, place: int, nodes: NodeSet) -> Iterator[Parse[NodeSet]]:
    """Yield `[whose] supervisor is X`: a noun that names edges."""
    for unit in context.units.edges.get(place, ()):
        relation = next(noun_had(context, nodes, unit, NodeSet()), None)
        if relation is None:
            continue
        for described in _own_clause(context, unit.last, relation.target):
            cut = next(noun_had(context, nodes, unit, described.value), None)
            if cut is not None:
                yield joined(cut, described.last, described.cost)
        denied = context.starts(unit.last, "is not", "are not", "was not", "were not")
        for other in context.nodes(denied) if denied is not None else ():
            cut = next(noun_had(context, nodes, unit, other.value), None)
            if cut is not None and other.value.named:
                yield joined(cut, other.last, other.cost, is_denied=True)


def _own_clause(context: Context, place: int, nodes: NodeSet) -> Iterator[Parse[NodeSet]]:
    """Yield what a clause says of its own subject: `is X`, `is in Y`, `treats Z`, `took place at X`."""
    yield from context.modifiers(place, nodes)
    begin = context.skip(place, WORDS["auxiliaries"])
    begin = context.skip(context.end_of(begin, "adverbial") or begin, WORDS["all prepositions"])
    for named in context.nodes(begin):
        if named.value.named:
            yield named
    for objects in objects_at(context, begin):
        rows = tuple(row for member in objects.value.members for row in member.nodes.named)
        if objects.value.any and len(objects.value.members) > 1 and all(m.nodes.named for m in objects.value.members):
            yield Parse(objects.last, NodeSet(conditions=(Among(rows),)), objects.cost)
