"""All of a set, or nothing beside it: `support every paradigm that X supports`, `treat only migraine`."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import TypeAlias

from orienteer.reading.context import Context, Parse
from orienteer.reading.query import Extent, Joined, NodeSet
from orienteer.reading.relations import Relation
from orienteer.reading.verbs import actions_at
from orienteer.reading.vocabulary import WORDS

Relate: TypeAlias = Callable[[NodeSet], Iterable[Relation]]

_EXTENTS: Mapping[str, tuple[Extent, ...]] = {
    "every one": ("every",),
    "only those": ("only",),
    "exactly those": ("every", "only"),
}
"""By keys of phrases, how much of a set is meant."""


def extent_said(context: Context, place: int, nodes: NodeSet) -> Iterator[Parse[NodeSet]]:
    """Yield `support every paradigm that X supports`, `treat only migraine`, `has exactly Java's paradigms`."""
    for action in actions_at(context, place):
        verb, frame = action.verbs.units[0], action.frame
        for extents, begin in _openings(context, action.begin):
            for target in context.nodes(context.skip(begin, WORDS["all prepositions"])):
                relations = context.relations.named(nodes, verb.edges, frame, target.value, is_strict=action.is_strict)
                yield from _covering(context, relations, target, extents)
    word = context.at(place)
    if word in WORDS["having"] or word in WORDS["all prepositions"]:
        for extents, begin in _openings(context, place + 1):
            for target in context.nodes(begin):
                relations = context.relations.unnamed(nodes, "with" if word in WORDS["having"] else word, target.value)
                yield from _covering(context, relations, target, extents)


def _openings(context: Context, place: int) -> Iterator[tuple[tuple[Extent, ...], int]]:
    """Yield where words end that say how much of a set is meant."""
    for key, extents in _EXTENTS.items():
        begin = context.end_of(place, key)
        if begin is not None and begin not in context.units.quantities:
            yield extents, begin


def _covering(
    context: Context, relations: Iterable[Relation], target: Parse[NodeSet], extents: tuple[Extent, ...]
) -> Iterator[Parse[NodeSet]]:
    """Yield the nodes that a relation leads from to all of a set, or to nothing else.

    Nothing where no node has two such neighbours: nothing is in every one of several.
    """
    is_described = not target.value.named and target.value.best is None
    for relation in relations:
        if relation.target.is_between:
            continue  # all of what?
        if "every" in extents and (not is_described or context.relations.is_single(relation.kinds)):
            continue
        if extents == ("every", "only") and not target.value.conditions:
            continue
        conditions = (Joined(relation.kinds, relation.target, extent=extent) for extent in extents)
        yield Parse(target.last, relation.nodes.that(*conditions), target.cost + relation.cost + 0.05)
