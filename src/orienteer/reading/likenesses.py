"""What nodes have as another one has it: `the same brewery as Duvel`, `more beers than X`, `shares a style with X`."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Literal, NamedTuple, TypeAlias

from orienteer.reading.comparisons import of_same_year
from orienteer.reading.context import Context, Parse
from orienteer.reading.edge_labels import Voice
from orienteer.reading.kinds import heads_at
from orienteer.reading.others import another, but_not, measured_as, openings, valued_as
from orienteer.reading.phrases import noun_had
from orienteer.reading.properties import properties_named
from orienteer.reading.query import Among, Condition, Extent, Joined, NodeSet
from orienteer.reading.rankings import measures_at
from orienteer.reading.relations import Relation
from orienteer.reading.verbs import Action, actions_at
from orienteer.reading.vocabulary import WORDS

Sameness: TypeAlias = Literal["plain", "whole", "every", "some"]
"""How much is the same: all of it and nothing else where it is `whole`; `plain` is told by singular and plural."""
_Relate: TypeAlias = Callable[[NodeSet], Iterable[Relation]]

_SAME: Mapping[str, Sameness] = {
    "same whole": "whole",
    "same every": "every",
    "same some": "some",
    "same plain": "plain",
}
"""By keys of phrases, how much is the same."""
_SHARED: Mapping[str, Sameness] = {**_SAME, "one of it": "some"}


class Partner(NamedTuple):
    """The node that others are compared with, where it was named before: of two, the second."""

    row: int


def likeness_said(
    context: Context, place: int, nodes: NodeSet, partner: Partner | None = None
) -> Iterator[Parse[NodeSet]]:
    """Yield `brewed by the same brewery as X`, `has more beers than X`, `shares a style with X`."""
    for action in actions_at(context, place):
        by_verb = _by_verb(context, action, nodes)
        yield from _same(context, action.begin, nodes, by_verb, partner)
        if partner is None:
            yield from _as_many(context, action.begin, by_verb)
            yield from _where_another(context, action, by_verb)
    word = context.at(place)
    if word in WORDS["having"] or word in WORDS["sharing"]:
        yield from _had(context, place, nodes, partner, is_shared=word in WORDS["sharing"])
    elif word == "same" and nodes.types:  # "customers same town as X"
        yield from _had(context, place - 1, nodes, partner, is_shared=False)
    elif word in WORDS["all prepositions"]:

        def by_place(target: NodeSet) -> Iterator[Relation]:
            return context.relations.unnamed(nodes, word, target)

        yield from _same(context, place + 1, nodes, by_place, partner)
        yield from _same_value(context, place + 1, nodes, partner, _SAME, "same as")


def _by_verb(context: Context, action: Action, nodes: NodeSet) -> _Relate:
    """Return what finds the relation of a set to others that a verb says."""

    def relate(target: NodeSet) -> Iterator[Relation]:
        edges = action.verbs.units[0].edges
        return context.relations.named(nodes, edges, action.frame, target, is_strict=action.is_strict)

    return relate


def _had(
    context: Context, place: int, nodes: NodeSet, partner: Partner | None, *, is_shared: bool
) -> Iterator[Parse[NodeSet]]:
    """Yield `has the same brewery as X`, `shares a brewery with X`, `has more beers than X`."""
    sames, joints = (_SHARED, "shared with") if is_shared else (_SAME, "same as")

    def by_having(target: NodeSet) -> Iterator[Relation]:
        return context.relations.unnamed(nodes, "with", target)

    yield from _same(context, place + 1, nodes, by_having, partner, sames, joints)
    yield from _same_noun(context, place + 1, nodes, partner, sames, joints)
    yield from _same_value(context, place + 1, nodes, partner, sames, joints)
    if partner is None and not is_shared:
        yield from _more_had(context, place + 1, nodes)
    if partner is None and is_shared:
        yield from _shared_with_owner(context, place + 1, nodes)


def _shared_with_owner(context: Context, place: int, nodes: NodeSet) -> Iterator[Parse[NodeSet]]:
    """Yield `[share] X's home town`."""
    for other in another(context, place, context.relations.types_of(nodes)):
        if context.possessive(other.last) is None and context.at(other.last - 1) != "s":
            continue
        for named in properties_named(context, other.last, nodes):
            conditions = valued_as(context, named.facts, other.value)
            if conditions:
                yield Parse(named.last, nodes.that(*conditions), named.cost + other.cost + 0.1)
        for unit in context.units.edges.get(other.last, ()):
            for relation in noun_had(context, nodes, unit, NodeSet()):
                conditions = _as_another(relation, other.value, "some")
                yield Parse(unit.last, relation.nodes.that(*conditions), other.cost + relation.cost)
        for head in heads_at(context, other.last):
            for relation in context.relations.unnamed(nodes, "with", head.value) if not head.value.named else ():
                conditions = _as_another(relation, other.value, "some")
                yield Parse(head.last, relation.nodes.that(*conditions), other.cost + relation.cost + head.cost)


def likeness_whose(context: Context, place: int, nodes: NodeSet) -> Iterator[Parse[NodeSet]]:
    """Yield `[whose] brewery is the same as that of X`, `[whose] universities are those of X`."""
    heads = [
        (head.last, relation)
        for head in heads_at(context, place)
        for relation in context.relations.unnamed(nodes, "with", head.value, Voice.HAS_NOUN)
    ]
    heads += [
        (unit.last, relation)
        for unit in context.units.edges.get(place, ())
        for relation in noun_had(context, nodes, unit, NodeSet())
    ]
    for last, relation in heads:
        begin = context.skip(last, WORDS["be"])
        same = context.end_of(begin, "equal") if begin > last else None
        if same is not None:
            sameness: Sameness = "whole" if _is_plural(context, last - 1) else "some"
            for other in another(context, same, context.relations.types_of(relation.nodes)):
                conditions = _as_another(relation, other.value, sameness)
                yield Parse(other.last, relation.nodes.that(*conditions), other.cost + relation.cost)


def likeness_of_pair(
    context: Context, place: int, first: Parse[NodeSet], second: Parse[NodeSet]
) -> Iterator[Parse[NodeSet]]:
    """Yield what two have alike: `[do X and Y] share a brewery`, `[are X and Y] in the same country`."""
    node_types = context.lexicon.graph.arrays.node_types
    kinds = {int(node_types[row]) for row in first.value.named}
    rows = [row for row in second.value.named if int(node_types[row]) in kinds]
    if len(rows) == 1:
        begin = context.skip(place, WORDS["both or all"])
        for start in range(begin, min(begin + 2, context.end)):
            if start == begin or context.at(begin) in WORDS["be"]:
                yield from likeness_said(context, start, first.value, Partner(rows[0]))
                yield from _in_common(context, start, first.value, Partner(rows[0]))
                yield from _in_same_year(context, start, first.value, rows[0])


def _in_common(context: Context, place: int, nodes: NodeSet, partner: Partner) -> Iterator[Parse[NodeSet]]:
    """Yield `[do X and Y] have any Z in common`."""
    for had in _had(context, place, nodes, partner, is_shared=True) if context.at(place) in WORDS["having"] else ():
        last = context.starts(had.last, "in common")
        if last is not None:
            yield had._replace(last=last)


def _in_same_year(context: Context, place: int, nodes: NodeSet, row: int) -> Iterator[Parse[NodeSet]]:
    """Yield `[were X and Y] born in the same year`."""
    for named in properties_named(context, place, nodes):
        last = context.starts(named.last, "in the same year", "the same year")
        conditions = of_same_year(context, named.facts, row) if last is not None else ()
        if conditions and last is not None:
            yield Parse(last, nodes.that(*conditions), named.cost)


# -------------------------------------------------------------------------------------------------- the same things
def _same(
    context: Context,
    place: int,
    nodes: NodeSet,
    relate: _Relate,
    partner: Partner | None,
    sames: Mapping[str, Sameness] = _SAME,
    joints: str = "same as",
) -> Iterator[Parse[NodeSet]]:
    """Yield `the same brewery as X`, `exactly the same paradigms as X`."""
    for begin, sameness in _openings(context, place, sames):
        heads = list(heads_at(context, begin)) if begin < context.end else []
        if context.at(begin) in WORDS["some place"] and not heads:
            heads.append(Parse(begin + 1, NodeSet(), 0.1))
        for head in heads:
            for relation in relate(head.value) if not head.value.named else ():
                yield from _alike(context, head.last, relation, sameness, partner, joints)


def _same_noun(
    context: Context,
    place: int,
    nodes: NodeSet,
    partner: Partner | None,
    sames: Mapping[str, Sameness],
    joints: str,
) -> Iterator[Parse[NodeSet]]:
    """Yield `the same supervisor as X`: a noun that names edges."""
    for begin, sameness in _openings(context, place, sames):
        for unit in context.units.edges.get(begin, ()):
            for relation in noun_had(context, nodes, unit, NodeSet()):
                yield from _alike(context, unit.last, relation, sameness, partner, joints)


def _alike(
    context: Context,
    last: int,
    relation: Relation,
    sameness: Sameness,
    partner: Partner | None,
    joints: str,
) -> Iterator[Parse[NodeSet]]:
    """Yield the nodes of a relation with those things that another one has, behind the word for the things."""
    if sameness == "plain":
        sameness = "whole" if _is_plural(context, last - 1) else "some"
    for other in _others(context, last, relation.nodes, partner, joints):
        conditions = _as_another(relation, other.value, sameness)
        yield Parse(other.last, relation.nodes.that(*conditions), other.cost + relation.cost)


def _same_value(
    context: Context,
    place: int,
    nodes: NodeSet,
    partner: Partner | None,
    sames: Mapping[str, Sameness],
    joints: str,
) -> Iterator[Parse[NodeSet]]:
    """Yield `the same colour as X`: the value of a property."""
    for begin, _ in _openings(context, place, sames):
        for named in properties_named(context, begin, nodes):
            for other in _others(context, named.last, nodes, partner, joints):
                conditions = valued_as(context, named.facts, other.value)
                if conditions:
                    yield Parse(other.last, nodes.that(*conditions), named.cost + other.cost)


def _openings(context: Context, place: int, sames: Mapping[str, Sameness]) -> Iterator[tuple[int, Sameness]]:
    """Yield where words end that say how much is the same; of those that begin alike, the longest."""
    ends = [(end, sameness) for key, sameness in sames.items() for end in context.ends_of(place, key)]
    if ends:
        yield max(ends, key=lambda item: item[0])
    elif sames is _SHARED:
        yield place, "some"


def _others(context: Context, last: int, nodes: NodeSet, partner: Partner | None, joints: str) -> Iterator[Parse[int]]:
    """Yield the node that others are compared with: `as X`; the partner where it was named before."""
    if partner is not None:
        yield Parse(last, partner.row, 0.0)
        return
    for begin in context.ends_of(last, joints):
        yield from another(context, begin, context.relations.types_of(nodes))


def _is_plural(context: Context, place: int) -> bool:
    word = context.at(place)
    return word in WORDS["plurals"] or (word.endswith("s") and not word.endswith(("ss", "us", "is")))


def _where_another(context: Context, action: Action, relate: _Relate) -> Iterator[Parse[NodeSet]]:
    """Yield `[studied] where X studied`, and `[studied] where X studied and nowhere else`."""
    edges = set(action.verbs.units[0].edges)
    only = context.starts(action.begin, "only")
    begin = context.starts(action.begin if only is None else only, "where", "at the place where", "wherever")
    if begin is None:
        return
    for relation in relate(NodeSet()):
        for other in another(context, begin, context.relations.types_of(relation.nodes)):
            for unit in context.units.edges.get(other.last, ()):
                if not edges & set(unit.edges):
                    continue
                last = unit.last + (context.at(unit.last) in WORDS["all prepositions"])
                closed = context.starts(last, "and nowhere else", "but nowhere else", "only")
                extents: tuple[Extent, ...] = ("only",) if only is not None else ("some",)
                whole = ("every", "only") if closed is not None else extents
                conditions = _joined_as(relation, other.value, whole)
                yield Parse(closed or last, relation.nodes.that(*conditions), other.cost)


# ------------------------------------------------------------------------------------------------- as many, or more
def _as_many(context: Context, place: int, relate: _Relate) -> Iterator[Parse[NodeSet]]:
    """Yield `[brews] more beers than X`, `[brews] as many beers as X`."""
    for opening in openings(context, place):
        for head in heads_at(context, opening.last):
            begin = context.starts(head.last, opening.value.joint)
            if begin is None or head.value.named:
                continue
            for relation in relate(head.value):
                for other in another(context, begin, context.relations.types_of(relation.nodes)):
                    conditions = measured_as(context, relation.measure, opening.value, other.value)
                    if conditions:
                        yield Parse(other.last, relation.nodes.that(*conditions), head.cost + other.cost)


def _more_had(context: Context, place: int, nodes: NodeSet) -> Iterator[Parse[NodeSet]]:
    """Yield `[has] more beers than X`, `[has] a higher salary than X`, `[has] the same number of beers as X`."""
    for opening in openings(context, place):
        for measure in measures_at(context, opening.last, nodes):
            begin = context.starts(measure.last, opening.value.joint)
            able = context.relations.able(nodes, measure.value)
            if begin is None:
                continue
            for other in another(context, begin, context.relations.types_of(able)):
                conditions = measured_as(context, measure.value, opening.value, other.value)
                if conditions:
                    yield Parse(other.last, able.that(*conditions), measure.cost + other.cost)


def _as_another(relation: Relation, row: int, sameness: Sameness) -> tuple[Condition, ...]:
    """Return what it means that a relation leads to what it leads to from a node: to all of it, or to some."""
    if sameness == "whole":
        return _joined_as(relation, row, ("every", "only"))
    return _joined_as(relation, row, ("every",) if sameness == "every" else ("some",))


def _joined_as(relation: Relation, row: int, extents: tuple[Extent, ...]) -> tuple[Condition, ...]:
    back = tuple(sorted(kind ^ 1 for kind in relation.kinds))
    target = relation.target.that(Joined(back, NodeSet(conditions=(Among((row,)),))))
    joined = (Joined(relation.kinds, target, extent=extent) for extent in extents)
    return (*joined, but_not(row))
