"""Noun phrases with all that is said of their nodes: `Duvel's brewery`, `beers that X brews`, `alumni of X and Y`."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from orienteer.reading.clauses import Objects, all_said, had_by
from orienteer.reading.context import Context, Parse, best
from orienteer.reading.edges_said import value_said
from orienteer.reading.kin import kin_at, kin_of
from orienteer.reading.kinds import heads_at
from orienteer.reading.lexicon import EdgeUnit
from orienteer.reading.names import names_at
from orienteer.reading.objects import objects_at
from orienteer.reading.phrases import noun_of_owner, owned_by, relational_nouns
from orienteer.reading.query import Condition, Either, Joined, NodeSet
from orienteer.reading.shared_things import sharing_owners
from orienteer.reading.vocabulary import WORDS

_DEEPEST = 30  # noun phrases within one another; a question that needs more is refused


def noun_phrases(context: Context, place: int) -> list[Parse[NodeSet]]:
    """Return the noun phrases that begin at a place, likeliest first."""
    key = ("nouns", place)
    if key in context.known:
        return context.known[key]
    if context.depth >= _DEEPEST:
        context.is_too_deep = True
        return []
    context.known[key] = []  # a phrase does not begin with itself
    context.depth += 1
    context.known[key] = best(_all(context, place)) if place < context.end else []
    context.depth -= 1
    return context.known[key]


def _all(context: Context, place: int) -> Iterator[Parse[NodeSet]]:
    if context.is_exhausted():
        return
    for named in names_at(context, place):
        yield from _with_name(context, place, named)
    for head in heads_at(context, place):
        yield from all_said(context, head)
        for owned in owned_by(context, head):
            yield from all_said(context, owned)
    for related in relational_nouns(context, place):
        yield from all_said(context, related)
    for kin in kin_at(context, place):
        yield from all_said(context, kin)
    for valued in value_said(context, place, NodeSet()):
        yield from all_said(context, valued)
    yield from _nouns_of_many(context, place)
    yield from _common(context, place)


def _with_name(context: Context, place: int, named: Parse[NodeSet]) -> Iterator[Parse[NodeSet]]:
    """Yield `Duvel`, `the Night Owl from Ballycrane`, `Duvel's brewery`."""
    yield named
    if not named.value.named or _are_namesakes(context, named.value):
        yield from all_said(context, named)
    asks_what_it_does = context.at(place - 1) in WORDS["do"]  # "who did X mentor"
    for noun in noun_of_owner(context, named.last, named.value, named.cost + 0.2) if not asks_what_it_does else ():
        yield from all_said(context, noun)
    for kin in kin_of(context, named):
        yield from all_said(context, kin)
    for owned in owned_by(context, named):
        yield from all_said(context, owned)


def _are_namesakes(context: Context, nodes: NodeSet) -> bool:
    """Return whether several nodes of one type are called the same."""
    arrays = context.lexicon.graph.arrays
    names = {(int(arrays.node_types[row]), arrays.names[row].casefold()) for row in nodes.named}
    return len(names) == 1 < len(nodes.named)


def _nouns_of_many(context: Context, place: int) -> Iterator[Parse[NodeSet]]:
    """Yield `alumni of X and Y`, `members of either X or Y`."""
    for begin in context.skips(place):
        for unit in context.units.edges.get(begin, ()):
            of = context.starts(unit.last, "of", "both of", "of both", "of either")
            for objects in objects_at(context, of) if of is not None else ():
                if len(objects.value.members) > 1:
                    yield from _noun_of_many(context, unit, objects)
            for owners in sharing_owners(context, context.starts(unit.last, "that", "which") or unit.last):
                yield from _noun_of_many(context, unit, owners)


def _common(context: Context, place: int) -> Iterator[Parse[NodeSet]]:
    """Yield `common symptoms of X and Y`, `shared paradigms of X and Y`: those that all of several have."""
    begin = context.skip(place)
    if context.at(begin) not in WORDS["common"]:
        return
    for nodes in noun_phrases(context, begin + 1):
        if len({condition for condition in nodes.value.conditions if _is_of_name(condition)}) > 1:
            yield nodes
        between = context.starts(nodes.last, "between", "among")
        for objects in objects_at(context, between) if between is not None else ():
            if len(objects.value.members) > 1 and not objects.value.any and not nodes.value.conditions:
                yield from had_by(context, objects._replace(value=objects.value._replace(both=True)), nodes)


def _noun_of_many(context: Context, unit: EdgeUnit, objects: Parse[Objects]) -> Iterator[Parse[NodeSet]]:
    conditions: list[Condition] = []
    nodes = NodeSet()
    for member in objects.value.members:
        relation = next(context.relations.of_noun(unit, context.at(unit.last - 1), member.nodes), None)
        if relation is None:
            return
        nodes = replace(nodes, types=relation.nodes.types)
        conditions.append(Joined(relation.kinds, relation.target, member.negated))
    if objects.value.any:
        conditions = [Either(tuple((condition,) for condition in conditions))]
    yield Parse(objects.last, nodes.that(*conditions), objects.cost)


def _is_of_name(condition: Condition) -> bool:
    """Return whether a condition is that an edge leads to a named node."""
    return isinstance(condition, Joined) and bool(condition.target.named) and not condition.negated
