"""What a relation that was found says of the nodes at its one end: that they are joined, or have the most of it."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace

from orienteer.reading.context import Context, Parse
from orienteer.reading.objects import Objects
from orienteer.reading.query import Among, Best, Comparison, Condition, Either, Joined, Measure, NodeSet, negated
from orienteer.reading.relations import Relation


def joined(
    relation: Relation,
    last: int,
    cost: float = 0.0,
    *,
    is_denied: bool = False,
    amount: tuple[Comparison, float] | None = None,
) -> Parse[NodeSet]:
    """Return the set of those that a relation joins to its target, which ends at `last` and is as likely as `cost`."""
    nodes = relation.nodes.that(condition(relation, is_denied=is_denied, amount=amount))
    return Parse(last, nodes, cost + relation.cost)


def condition(relation: Relation, *, is_denied: bool = False, amount: tuple[Comparison, float] | None = None) -> Joined:
    """Return what a relation says: that it leads to some of its target, to so many of them, or to none."""
    comparison, number = amount if amount is not None else (None, 0.0)
    return Joined(relation.kinds, relation.target, is_denied, comparison, number)


def measured(relation: Relation, last: int, cost: float, *, are_edges: bool = False) -> Parse[Measure]:
    """Return the number of those that a relation leads to, or of its edges."""
    return Parse(last, replace(relation.measure, are_edges=are_edges), cost + relation.cost)


def most(relation: Relation, last: int, cost: float, *, descending: bool, are_edges: bool = False) -> Parse[NodeSet]:
    """Return the nodes that a relation joins to the most of its target, or to the fewest; or by the most edges."""
    best = Best(replace(relation.measure, are_edges=are_edges), descending)
    return Parse(last, replace(relation.nodes, best=best), cost + relation.cost)


def any_of(conditions: Sequence[Condition]) -> Either:
    """Return the condition that one of these holds."""
    return Either(tuple((condition,) for condition in conditions))


def denied(nodes: NodeSet, before: NodeSet) -> NodeSet | None:
    """Return a set with the contrary of what was said of it last; None where that cannot be denied."""
    new = nodes.conditions[len(before.conditions) :]
    if not new or nodes.best != before.best:
        return None
    return replace(nodes, conditions=(*before.conditions, *contrary(new)))


def contrary(conditions: Sequence[Condition]) -> tuple[Condition, ...]:
    """Return what holds where conditions do not: none of them where they are one relation to several things.

    A node that is left out stays so: what is not "of the same brewery as X" is not X either.
    """
    left_out = tuple(condition for condition in conditions if isinstance(condition, Among) and condition.negated)
    if left_out and len(left_out) < len(conditions):
        return (*contrary([condition for condition in conditions if condition not in left_out]), *left_out)
    kinds = {condition.kinds if isinstance(condition, Joined) else None for condition in conditions}
    if len(conditions) == 1:
        return (negated(conditions[0]),)
    if len(kinds) == 1 and None not in kinds:  # "not by X and not by Y" denies both
        return tuple(replace(condition, negated=True) for condition in conditions)
    return (Either((tuple(conditions),), negated=True),)


def all_joined(
    context: Context,
    nodes: NodeSet,
    objects: Parse[Objects],
    relate: Callable[[NodeSet, NodeSet], Relation | None],
    *,
    is_denied: bool = False,
) -> Parse[NodeSet] | None:
    """Return the set of those that relations without a name join to the things of a list: to all, or to any.

    `relate` finds the relation of a set to one thing. None, with a complaint where several may be meant.
    """
    conditions: list[Condition] = []
    labels: set[str] = set()
    cost = 0.0
    for member in objects.value.members:
        relation = relate(nodes, member.nodes)
        if relation is not None and relation.target.is_between and _is_unsure(context, objects):
            return None
        if relation is None:
            complain_of_many(context, nodes, member.nodes, objects.last)
            return None
        if member.nodes.named:
            labels |= context.relations.labels.of(relation.kinds)
        nodes = nodes if nodes.named else replace(nodes, types=relation.nodes.types)
        is_negated = member.negated != is_denied
        conditions.append(condition(relation, is_denied=is_negated, amount=objects.value.amount))
        cost += relation.cost
    if len({isinstance(one, Joined) and one.target.is_between for one in conditions}) > 1:
        return None  # museums with "works by X and Y" have no Y
    if len(labels) > 1:  # "for migraine but not Epilepsy": a side effect is no illness that a drug is for
        context.complain(objects.last, f"what is named is joined by different edges: {', '.join(sorted(labels))}")
        return None
    if objects.value.both and len(conditions) > 1 and are_single(context, conditions):
        context.complain(objects.last, "nothing is joined to both: it has one of them at the most")
        return None
    # "without X or Y" is without both
    together = conditions if is_denied else joined_together(context, objects.value, conditions)
    return Parse(objects.last, nodes.that(*together), objects.cost + cost)


def _is_unsure(context: Context, objects: Parse[Objects]) -> bool:
    """Return whether things of a list are no things that other kinds join: counted, or both by the same one.

    Clubs that have "a goalkeeper as captain" have no other.
    """
    is_as = context.at(objects.last) == "as"
    return objects.value.amount is not None or objects.value.both or is_as


def joined_together(context: Context, objects: Objects, conditions: Sequence[Condition]) -> Sequence[Condition]:
    """Return what holds where one condition is for each thing of a list: all of them, or any."""
    if len(conditions) > 1 and (objects.any or _cannot_be_both(context, objects, conditions)):
        so = [condition for condition in conditions if not condition.negated]
        others = [condition for condition in conditions if condition.negated]
        return (any_of(so), *others) if so and others else (any_of(conditions),)
    return conditions


def _cannot_be_both(context: Context, objects: Objects, conditions: Sequence[Condition]) -> bool:
    """Return whether nothing is joined to two: people "in Sales and Support" are in the one or the other."""
    return not objects.both and are_single(context, conditions)


def are_single(context: Context, conditions: Sequence[Condition]) -> bool:
    """Return whether nothing is joined to two by any of these relations."""
    return all(
        isinstance(condition, Joined) and not condition.negated and context.relations.is_single(condition.kinds)
        for condition in conditions
    )


def complain_of_many(context: Context, nodes: NodeSet, target: NodeSet, place: int) -> None:
    """Note that several kinds of edges join two sets, and nothing says which is meant."""
    several = context.relations.ambiguous(nodes, target)
    if several:
        context.complain(place, f"several kinds of edges may be meant, name one: {', '.join(several)}")
