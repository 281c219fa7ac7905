"""Values that the graph tells and others are compared with: `taller than average`, `before their father was born`."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Literal

from orienteer.reading.comparisons import sign
from orienteer.reading.context import Context, Parse
from orienteer.reading.edge_labels import Voice
from orienteer.reading.kinds import heads_at
from orienteer.reading.lexicon import PropertyFacts
from orienteer.reading.phrases import noun_had
from orienteer.reading.query import Comparison, NodeSet, Told, Valued
from orienteer.reading.relations import Relation
from orienteer.reading.vocabulary import ENGLISH, WORDS

FORMS: tuple[Literal["average", "median"], ...] = ("average", "median")


def beside_told(context: Context, place: int, facts: PropertyFacts, nodes: NodeSet) -> Iterator[Parse[NodeSet]]:
    """Yield `before their father was born`, `above the average`, of a property that was named before."""
    if not facts.is_measured:
        return
    for before in sign(context, place, of_dates=facts.kind != "number"):
        if " ".join(context.words[place : before.last]) in ENGLISH.phrases["of others"]:
            yield from than_told(context, before.last, facts, nodes, before.value)


def than_told(
    context: Context, place: int, facts: PropertyFacts, nodes: NodeSet, comparison: Comparison
) -> Iterator[Parse[NodeSet]]:
    """Yield `[taller than] the average`, `[older than] their boss`."""
    told_by = (_average, _of_theirs, _of_another)
    for told in (told for by in told_by for told in by(context, place, facts, nodes)):
        yield Parse(told.last, nodes.that(Valued(facts.name, comparison, told.value)), told.cost)


def _average(context: Context, place: int, facts: PropertyFacts, nodes: NodeSet) -> Iterator[Parse[Told]]:
    """Yield `the average`, `the median height`, `the average tower`; of which things is to be known."""
    begin = context.skip(place)
    for form in FORMS:
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
        if not nodes.conditions and nodes.best is None and len(types) == 1:
            yield Parse(end, Told(facts.name, NodeSet(types), form), 0.1)


def _of_theirs(context: Context, place: int, facts: PropertyFacts, nodes: NodeSet) -> Iterator[Parse[Told]]:
    """Yield `their boss`, `that of their boss`, `their father was born`: what an edge leads to from each of them."""
    begin = context.end_of(place, "that of") or place
    if context.at(begin) not in WORDS["theirs"] or _is_of_two(context, begin, facts):
        return
    for last, relation in _had(context, begin + 1, nodes):
        for name, end, cost in _others(context, last, facts, relation.target):
            yield Parse(end, Told(name, relation.target, kinds=relation.kinds), cost)
        if facts.types & context.relations.types_of(relation.target):
            end = context.possessive(last) or context.skip(last, WORDS["asking"])
            yield Parse(end, Told(facts.name, relation.target, kinds=relation.kinds), 0.05)


def _is_of_two(context: Context, place: int, facts: PropertyFacts) -> bool:
    """Return whether `their` may be of two things: `employees whose boss earns more than their father`."""
    owned = [at + 1 for at in range(place) if context.end_of(at, "whose") is not None]
    return any(all(unit.property != facts.name for unit in context.units.properties.get(at, ())) for at in owned)


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
