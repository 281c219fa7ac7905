"""What is joined by whatever edge: `neighbours of X`, `the most connected club`, `through whom are X and Y linked`."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from orienteer.reading.edges import condition, joined_together
from orienteer.reading.nouns import heads_at, people_of
from orienteer.reading.objects import Objects
from orienteer.reading.query import Best, Between, ExactQuery, Joined, Measure, NodeSet
from orienteer.reading.relations import Relation
from orienteer.reading.rules import Context, Parse, Phrases, Rule, part, rules
from orienteer.reading.units import LIGHT_FIT


@part
def linked(context: Context, place: int) -> Iterator[Parse[None]]:
    """Read `linked to`, `connected with`, where nothing of the graph is called so."""
    for last in context.ends_of(place, "linked to") if no_own(context, place) else ():
        yield Parse(last, None, 0.1)


@part
def no_own(context: Context, place: int) -> bool:
    """Read nothing where a word calls no edge, kind or property of the graph."""
    units = context.units
    is_edge = any(unit.fit > LIGHT_FIT for unit in units.edges.get(place, ()))
    return not (is_edge or units.types.get(place) or units.properties.get(place))


@part
def linked_with(context: Context, place: int, nodes: NodeSet, objects: Objects) -> Parse[NodeSet]:
    """Read nothing: the nodes that any edge joins to things."""
    conditions = [
        condition(
            Relation(nodes, context.relations.any_kinds, member.nodes, 0.0),
            is_denied=member.negated,
            amount=objects.amount,
        )
        for member in objects.members
    ]
    together = conditions if len(conditions) == 1 or not objects.any else joined_together(context, objects, conditions)
    return Parse(place, nodes.that(*together), 0.1)


@part
def most_linked(context: Context, place: int, nodes: NodeSet, most: bool) -> Phrases:
    """Read nothing or `people`: the nodes that edges join to the most of them, or of all."""
    heads = [head for head in heads_at(context, place) if head.value.types and not head.value.conditions]
    for head in heads or [Parse(place, NodeSet(), 0.0)]:
        measure = Measure(kinds=context.relations.any_kinds, target=head.value)
        if nodes.best is None:
            yield Parse(head.last, replace(nodes, best=Best(measure, most)), head.cost)


@part
def shared_links(context: Context, place: int, objects: Objects) -> Parse[NodeSet] | None:
    """Read nothing: whatever edges join to each of several named nodes."""
    members = [member.nodes for member in objects.members if member.nodes.named and not member.negated]
    if not len(objects.members) == len(members) > 1 or objects.any:
        return None
    kinds = context.relations.any_kinds
    return Parse(place, NodeSet(conditions=tuple(Joined(kinds, nodes) for nodes in members)), 0.2)


@part
def people(context: Context, place: int) -> Parse[NodeSet]:
    """Read nothing: all people."""
    return Parse(place, NodeSet(people_of(context)), 0.0)


@part
def things(context: Context, place: int) -> Phrases:
    """Read nothing, or a kind: all things, or those of the kind."""
    yield Parse(place, NodeSet(), 0.0)
    yield from (head for head in heads_at(context, place) if head.value.types and not head.value.named)


rules("through", Rule("", "'through whom'* people"), Rule("", "'through what'* things"))
LINKS = rules(
    "links",
    Rule("clubs linked to X", "linked objects linked_with"),
    Rule("clubs linked to the most people", "linked - most ['number of'] most_linked"),
    Rule("clubs with the most connections", "<having> - most ['number of'] no_own 'links' most_linked"),
)
LINKED = Rule("what X is linked to", "0 objects being linked linked_with")
COMMON = rules(
    "common links",
    Rule("what do X and Y have in common", "'what do' objects 'have in common' over shared_links => list shared_links"),
    Rule("what is common to X and Y", "'what is' 'shared by' objects over shared_links => list shared_links"),
    Rule(
        "through whom are X and Y connected",
        "through -<is> first=named 'and only' second=named 'connected' over between => list between",
    ),
    Rule(
        "who connects X and Y",
        "'who connects' through=people first=named 'and to' second=named over between => list between",
    ),
    Rule(
        "the most connected club",
        "listing - most no_own 'linked' nodes=head over most_linked",
        lambda nodes, most_linked: ExactQuery("list", most_linked) if nodes.types else None,
    ),
)


@part
def between(place: int, through: NodeSet, first: NodeSet, second: NodeSet) -> Parse[NodeSet]:
    """Read nothing: the nodes on the shortest paths between two named ones."""
    return Parse(place, through.that(Between(first, second)), 0.0)
