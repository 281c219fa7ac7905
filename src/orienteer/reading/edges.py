"""What relations say of nodes, and what is said of edges themselves: `joined X before 2010`, `in X as captain`."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace

from orienteer.reading.comparisons import Conditions, compared, compared_or_twice, compared_with, sign
from orienteer.reading.objects import Objects, objects_at
from orienteer.reading.query import (
    Among,
    Best,
    Comparison,
    Condition,
    Either,
    ExactQuery,
    Joined,
    Measure,
    NodeSet,
    Valued,
    edges_of,
    is_of_anything,
    negated,
)
from orienteer.reading.relations import Relation, Voice, turned
from orienteer.reading.rules import Context, Found, Parse, Phrases, Rule, part, rules
from orienteer.reading.units import LIGHT_FIT, EdgeUnit, PropertyFacts, TimedEdges, dates_called
from orienteer.reading.vocabulary import WORDS

# =============================================================================================================== joints
# What a relation that was found says of the nodes at its one end: that they are joined, or have the most of it.


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
    # what is counted, or both by the same one, is no thing that others join; clubs with "a goalkeeper as captain"
    is_unsure = objects.value.amount is not None or objects.value.both or context.at(objects.last) == "as"
    conditions, labels, cost = list[Condition](), set[str](), 0.0
    for member in objects.value.members:
        relation = relate(nodes, member.nodes)
        if relation is not None and relation.target.is_between and is_unsure:
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


def joined_together(context: Context, objects: Objects, conditions: Sequence[Condition]) -> Sequence[Condition]:
    """Return what holds where one condition is for each thing of a list: all of them, or any."""
    is_either = (
        len(objects.members) > 1 and not objects.both and are_single(context, conditions)
    )  # people "in Sales and Support"
    if len(conditions) > 1 and (objects.any or is_either):
        so = [condition for condition in conditions if not condition.negated]
        others = [condition for condition in conditions if condition.negated]
        return (any_of(so), *others) if so and others else (any_of(conditions),)
    return conditions


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


# =========================================================================================================== edges said
# What is said of edges themselves: `joined X before 2010`, `in X as captain`, `with a fee over 5`, `captain of X`.
#
# A date beside an edge that has dates is the edge's. Where it may mean several things nothing is read.

_FIRST_YEAR = 1.0  # what ended at all did so after it
_NEAR = 7  # words before a date, among which its verb is
_BEHIND_NAME = WORDS["stating"] | WORDS["before values"]


def facts_of_edges(context: Context, kinds: Sequence[int]) -> list[PropertyFacts]:
    """Return the properties that edges of these kinds have."""
    edges = {kind >> 1 for kind in kinds}
    return [facts for facts in context.lexicon.edge_properties.values() if facts.edges & edges]


def edge_said(context: Context, place: int, nodes: NodeSet) -> Phrases:
    """Yield `before 2010`, `since 1990`, `as captain`, `with a fee over 50`, of the edge that was spoken of last."""
    best = nodes.best
    if best is not None and best.measure.target is not None and facts_of_edges(context, best.measure.kinds):
        yield from _told_of_counted(context, place, nodes, best)
        return
    last = nodes.conditions[-1] if nodes.conditions else None
    options = (
        [option[0] if len(option) == 1 else None for option in last.options] if isinstance(last, Either) else [last]
    )
    joined = [option for option in options if isinstance(option, Joined)]
    facts = facts_of_edges(context, [kind for one in joined for kind in one.kinds])
    if not facts or last is None or len(joined) < len(options):
        return
    for parse in _told(context, place, facts):
        kinds = [one.kinds if isinstance(one, Joined) else () for one in nodes.conditions[-2:]]
        are_several = len(kinds) == 2 and bool(kinds[0]) and kinds[0] == kinds[1]  # is it said of both, or of the last?
        if any(one.negated for one in joined) or last.negated or are_several:
            context.complain(place, "of what this is said is not clear: say it in two questions")
            return
        told = tuple(replace(one, where=(*one.where, *_valued(parse.value))) for one in joined)
        new: Condition = replace(last, options=tuple((one,) for one in told)) if isinstance(last, Either) else told[0]
        yield Parse(parse.last, replace(nodes, conditions=(*nodes.conditions[:-1], new)), parse.cost)


def _told_of_counted(context: Context, place: int, nodes: NodeSet, best: Best) -> Phrases:
    """Yield `[reviewed the most films] with a rating above 90`, of the edges that are counted."""
    last = nodes.conditions[-1] if nodes.conditions else None
    others = facts_of_edges(context, last.kinds) if isinstance(last, Joined) else []
    for parse in _told(context, place, facts_of_edges(context, best.measure.kinds)):
        are_theirs = {one.property for one in _valued(parse.value)} <= {own.name for own in others}
        if isinstance(last, Joined) and last.kinds != best.measure.kinds and are_theirs:
            context.complain(place, "of what this is said is not clear: say it in two questions")
            return
        measure = replace(best.measure, where=(*best.measure.where, *_valued(parse.value)))
        yield Parse(parse.last, replace(nodes, best=replace(best, measure=measure)), parse.cost)


@part
def lone_edge(context: Context, place: int, nodes: NodeSet) -> Phrases:
    """Read `joined before 2010`, `scored by header`: a verb with what is said of it, and nothing that it leads to."""
    for unit in context.units.edges.get(place, ()):
        if isinstance(unit.edges, TimedEdges) and _have_begun(context):
            continue  # who "joined in 2023": what, or us?
        is_told = unit.fit > LIGHT_FIT and bool(facts_of_edges(context, [2 * edge for edge in unit.edges]))
        for relation in context.relations.named(nodes, unit.edges, Voice.SUBJECT, NodeSet()) if is_told else ():
            if any(relation.kinds == one.kinds for one in nodes.conditions if isinstance(one, Joined)):
                # "members of Rowing who joined before 2010": joined it, and nothing else
                yield from edge_said(context, unit.last, nodes)
                continue
            for parse in _told(context, unit.last, facts_of_edges(context, relation.kinds)):
                yield Parse(parse.last, _carrying(relation, parse.value), relation.cost + parse.cost + 0.1)


def _have_begun(context: Context) -> bool:
    """Return whether people have a date of their own that tells when they began."""
    own = [facts for facts in context.lexicon.properties.values() if facts.types & context.lexicon.people]
    return bool(dates_called(own, "edge begins") or dates_called(own, "edge ends"))


def _carrying(relation: Relation, where: Sequence[Condition]) -> NodeSet:
    """Return the nodes that a relation joins by edges that meet conditions."""
    return relation.nodes.that(Joined(relation.kinds, relation.target, where=_valued(where)))


def is_told_of_others(edges: Joined | Measure) -> bool:
    """Return whether only other edges of a kind tell what edges lead to: who rated the "films with a low rating"?"""
    within = edges.target.conditions if edges.target is not None else ()
    back = [one for one in within if isinstance(one, Joined) and one.where and is_of_anything(one)]
    return any(turned(one.kinds) == tuple(sorted(edges.kinds)) for one in back)


def _valued(conditions: Sequence[Condition]) -> tuple[Valued, ...]:
    """Return conditions on properties of edges, which are compared with values alone."""
    return tuple(one for one in conditions if isinstance(one, Valued))


@part
def value_said(context: Context, place: int, nodes: NodeSet) -> Phrases:
    """Read `captain of X`, `captains at X and Y`, `[who] coaches X`: whom an edge with a value joins to things."""
    for unit in context.units.edge_values.get(context.skip(place), ()):
        of = unit.last + (context.at(unit.last) in WORDS["all prepositions"])
        facts = context.lexicon.edge_properties[unit.property]
        where: tuple[Valued, ...] = (Valued(facts.name, "=", unit.value),)
        does = of == unit.last == place + 1 and context.at(place - 1) == "who" and context.at(place).endswith("s")
        if does:  # who does so now: it has not ended
            ends = dates_called(facts_of_edges(context, [2 * edge for edge in facts.edges]), "edge ends")
            where += tuple(Valued(own.name, ">=", _FIRST_YEAR, negated=True) for own in ends)
        for objects in objects_at(context, of) if (does or of > unit.last) and facts.kind == "text" else ():
            (member, *others) = objects.value.members
            if others or member.negated or objects.value.amount is not None:
                continue
            frame = Voice.NOUN_OF
            for relation in context.relations.named(nodes, dict.fromkeys(facts.edges, 1.0), frame, member.nodes):
                yield Parse(objects.last, _carrying(relation, where), objects.cost + unit.cost + relation.cost + 0.1)


@part
def bound(context: Context, place: int, nodes: NodeSet, edge_noun: EdgeUnit, objects: Objects) -> Phrases:
    """Read nothing: the nodes that an edge joins to one thing: `under contract at X`."""
    (member, *others) = objects.members
    if not others and not member.negated and objects.amount is None:
        for relation in context.relations.named(nodes, edge_noun.edges, Voice.SUBJECT, member.nodes):
            yield joined(relation, place)


@part
def edge_value_had(context: Context, place: int, nodes: NodeSet, having_word: bool) -> Phrases:
    """Read `a rating over 90`, of the edges that lead to nodes: any one of them; `the rating` is not told of one."""
    begin = place + (context.at(place) in WORDS["some"])
    for unit in context.units.edge_properties.get(begin, ()) if not having_word and nodes.types else ():
        facts = context.lexicon.edge_properties[unit.property]
        if len(facts.edges) > 1 or context.units.properties.get(begin):
            continue
        for relation in context.relations.named(nodes, dict.fromkeys(facts.edges, 1.0), Voice.PASSIVE, NodeSet()):
            is_to_them = all(kind & 1 for kind in relation.kinds) and relation.nodes.types == nodes.types
            said = any(isinstance(one, Joined) and one.kinds == relation.kinds for one in nodes.conditions)
            for parse in _named(context, context.skip(unit.last, _BEHIND_NAME), facts, 0.1) if is_to_them else ():
                if not said and context.at(parse.last) not in ("by", "from"):  # else it is said of those edges
                    yield Parse(parse.last, _carrying(relation, parse.value), relation.cost + parse.cost)


# ------------------------------------------------------------------------------------------------- how many they are
def rows_done(context: Context, place: int, nodes: NodeSet, verb: EdgeUnit, frame: Voice) -> Iterator[Parse[Relation]]:
    """Yield `goals` behind `scored`: the noun for what a verb does, where each time counts."""
    for noun in edge_noun(context, place):
        both = {edge: fit for edge, fit in verb.edges.items() if fit > LIGHT_FIT and edge in noun.value.edges}
        for relation in context.relations.named(nodes, both, frame, NodeSet()) if both else ():
            if context.relations.are_rows(relation.kinds, context.at(noun.last - 1)):
                yield Parse(noun.last, relation, relation.cost)


def as_rows(context: Context, had: Parse[NodeSet]) -> Parse[NodeSet]:
    """Return a set whose last condition counts edges, where the noun that ends it counts each of them."""
    last, noun = had.value.conditions[-1], context.at(had.last - 1)
    if not isinstance(last, Joined) or last.comparison is None or not context.relations.are_rows(last.kinds, noun):
        return had
    rows = replace(last, are_edges=True)
    return had._replace(value=replace(had.value, conditions=(*had.value.conditions[:-1], rows)))


@part
def edge_noun(context: Context, place: int) -> Iterator[Parse[EdgeUnit]]:
    """Read a noun for edges: `goals`."""
    for unit in context.units.edges.get(place, ()):
        if unit.fit > LIGHT_FIT and not context.at(unit.last - 1).endswith(("ed", "ing")):
            yield Parse(unit.last, unit, 0.0)


@part
def edge_verb(context: Context, place: int, edge_noun: EdgeUnit) -> int | None:
    """Read a verb for the edges of a noun: `scored` of `goals`."""
    units = context.units.edges.get(place, ())
    last = [unit.last for unit in units if unit.fit > LIGHT_FIT and unit.edges.keys() & edge_noun.edges.keys()]
    return max(last) if last else None


@part
def edges_told(context: Context, place: int, edge_noun: EdgeUnit) -> Conditions:
    """Read `before 2010`, `by header`, of edges that a noun names."""
    return _told(context, place, facts_of_edges(context, [2 * edge for edge in edge_noun.edges]))


@part
def rows(
    context: Context, place: int, edge_noun: EdgeUnit, nodes: NodeSet, found: Found
) -> Iterator[Parse[ExactQuery]]:
    """Read nothing: how many edges lead from nodes; each counts, as a goal does."""
    target = found["target"].value if "target" in found else None
    where = [part for key in ("first", "second") if key in found for part in found[key].value or ()]
    for relation in context.relations.named(nodes, edge_noun.edges, Voice.SUBJECT, target or NodeSet()):
        is_directed = not relation.target.types & context.relations.types_of(relation.nodes)
        if is_directed and context.relations.are_rows(relation.kinds, context.at(edge_noun.last - 1)):
            measure = replace(relation.measure, are_edges=True, where=tuple(where))
            yield Parse(place, ExactQuery("sum", relation.nodes, measure), relation.cost)


@part
def all_rows(context: Context, place: int, edge_noun: EdgeUnit, found: Found) -> Iterator[Parse[ExactQuery]]:
    """Read nothing: how many edges there are."""
    return rows(context, place, edge_noun, NodeSet(), found)


@part
def rows_per(context: Context, place: int, edge_noun: EdgeUnit, head: NodeSet) -> Iterator[Parse[ExactQuery]]:
    """Read nothing: how many edges lead from each node of a kind, or from those that are joined to it."""
    if head.named or head.conditions or head.best is not None:
        return
    own = list(rows(context, place, edge_noun, head, {}))
    for parse in own:
        yield parse._replace(value=replace(parse.value, group=Measure()))
    for parse in all_rows(context, place, edge_noun, {}) if not own else ():
        assert parse.value.measure is not None
        for nodes in (parse.value.nodes, parse.value.measure.target or NodeSet()):
            for each in rows(context, place, edge_noun, nodes, {}):
                for relation in context.relations.unnamed(nodes, "", head):
                    group = Measure(kinds=relation.kinds, target=relation.target)
                    yield each._replace(value=replace(each.value, group=group), cost=each.cost + relation.cost)


EVENTS_COUNTED = rules(
    "events counted",
    Rule(
        "how many goals did X score",
        "counting edge_noun first=[edges_told] -<say nothing> [edge_verb] ['of'] nodes [edge_verb] ['has it']"
        " second=[edges_told] rows => rows ~sure",
    ),
    Rule(
        "how many goals did X score in Y",
        "counting edge_noun -<say nothing> [edge_verb] ['of'] nodes [edge_verb] ['has it'] -<prepositions> target=named"
        " first=[edges_told] rows => rows ~sure",
    ),
    Rule(
        "how many goals were scored",
        "counting edge_noun -<say nothing> [edge_verb] first=[edges_told] ['are there'] over all_rows => all_rows",
    ),
)
EVENTS_PER = rules(
    "events per",
    Rule(
        "goals per player", "'listing'*|counting|0 edge_noun [edge_verb] ['are there'] 'per' head rows_per => rows_per"
    ),
    Rule(
        "how many goals has each player scored",
        "counting edge_noun 'does each' head [edge_verb] ['has it'] rows_per => rows_per",
    ),
)


# ------------------------------------------------------------------------------------------------ what they have
@part
def edge_facts(context: Context, place: int) -> Iterator[Parse[PropertyFacts]]:
    """Read the name of a property of edges."""
    for unit in context.units.edge_properties.get(place, ()):
        yield Parse(unit.last, context.lexicon.edge_properties[unit.property], unit.cost)


@part
def own_verb(context: Context, place: int, edge_facts: PropertyFacts) -> Iterator[Parse[None]]:
    """Read a verb for the edges that have a property: `score`."""
    for unit in context.units.edges.get(place, ()):
        if unit.fit > LIGHT_FIT and edge_facts.edges & unit.edges.keys():
            yield Parse(unit.last, None, 0.0)


@part
def of_edges(context: Context, place: int, edge_facts: PropertyFacts, nodes: NodeSet) -> Iterator[Parse[ExactQuery]]:
    """Read nothing: what a property is of the edges of named nodes."""
    edges = dict.fromkeys(edge_facts.edges, 1.0)
    for relation in context.relations.named(nodes, edges, Voice.SUBJECT, NodeSet()):
        yield Parse(place, ExactQuery("value", nodes, _measured(edge_facts, relation.joined)), 0.1)


@part
def of_all_edges(
    context: Context, place: int, edge_facts: PropertyFacts, scope: NodeSet
) -> Iterator[Parse[ExactQuery]]:
    """Read nothing: what a property is of all edges that lead to the nodes of a set.

    Of films "reviewed by X" it may be that of X's reviews alone, and of "each" film one for each.
    """
    said = {kind >> 1 for kind in edges_of(ExactQuery("list", scope))} & edge_facts.edges
    is_of_each = not {"each", "every"}.isdisjoint(context.words)
    if scope.named or said or is_of_each or edge_facts.kind != "number" or len(edge_facts.edges) > 1:
        return
    for relation in context.relations.named(scope, dict.fromkeys(edge_facts.edges, 1.0), Voice.PASSIVE, NodeSet()):
        is_directed = not relation.target.types & context.relations.types_of(relation.nodes)
        if is_directed and all(kind & 1 for kind in relation.kinds):
            yield Parse(place, ExactQuery("value", scope, _measured(edge_facts, relation.joined)), 0.1)


@part
def edge_value(place: int, edge_facts: PropertyFacts, said: NodeSet) -> Parse[ExactQuery] | None:
    """Read nothing: what a property is of the edges that were spoken of last."""
    last, nodes = said.conditions[-1] if said.conditions else None, replace(said, conditions=said.conditions[:-1])
    is_one = isinstance(last, Joined) and not last.negated and {kind >> 1 for kind in last.kinds} <= edge_facts.edges
    if not is_one or not nodes.named:
        return None
    return Parse(place, ExactQuery("value", nodes, _measured(edge_facts, said)), 0.05)


@part
def edge_time(context: Context, place: int, said: NodeSet) -> Parse[ExactQuery] | None:
    """Read nothing: when the edges were, or began, that were spoken of last; when they ended, behind `leave`."""
    last = said.conditions[-1] if said.conditions else None
    facts = facts_of_edges(context, last.kinds) if isinstance(last, Joined) else []
    ends, is_end = dates_called(facts, "edge ends"), not WORDS["end to be"].isdisjoint(context.words)
    dated = ends if is_end else [own for own in facts if own.kind in ("year", "date") and own not in ends]
    return edge_value(place, dated[0], said) if len(dated) == 1 else None


def _measured(facts: PropertyFacts, said: NodeSet) -> Measure:
    """Return a property of the edges that nodes are joined by."""
    joined = said.conditions[-1]
    assert isinstance(joined, Joined), "the edges were said last"
    return Measure(facts.name, joined.kinds, joined.target, joined.where)


# ------------------------------------------------------------------------------------------------- what is said
def _told(context: Context, place: int, facts: Sequence[PropertyFacts]) -> Conditions:
    yield from _dated(context, place, facts)
    begin = context.skip(context.end_of(place, "with property") or place)
    for unit in context.units.edge_properties.get(begin, ()):
        own = context.lexicon.edge_properties[unit.property]
        if own in facts and context.at(begin) not in WORDS["time prepositions"]:
            yield from _named(context, context.skip(unit.last, _BEHIND_NAME), own, unit.cost)
    for before in sign(context, place, of_dates=True):  # "after minute 80"
        for unit in context.units.edge_properties.get(context.skip(before.last), ()):
            own, amount = context.lexicon.edge_properties[unit.property], context.units.quantities.get(unit.last)
            if own in facts and amount is not None:
                for parse in compared_with(context, place, own, amount, before.value):
                    yield parse._replace(cost=unit.cost + parse.cost)
    begin = context.skip(place, WORDS["all prepositions"] | {"as"})
    for value in context.units.edge_values.get(context.skip(begin), ()) if begin > place else ():
        if any(own.name == value.property and own.kind == "text" for own in facts):
            behind = context.units.edge_properties.get(value.last, ())  # "as captain", "in the captain role"
            last = max((unit.last for unit in behind if unit.property == value.property), default=value.last)
            yield Parse(last, (Valued(value.property, "=", value.value),), value.cost + 0.1)


def _named(context: Context, place: int, facts: PropertyFacts, cost: float) -> Conditions:
    """Yield what is said of a property behind its name: `captain`, `over 5`, `between 5 and 8`."""
    for unit in context.units.edge_values.get(context.skip(place), ()):
        if unit.property == facts.name:
            yield Parse(unit.last, (Valued(facts.name, "=", unit.value),), cost + unit.cost)
    for parse in compared_or_twice(context, place, facts):
        yield parse._replace(cost=cost + parse.cost)


def _dated(context: Context, place: int, facts: Sequence[PropertyFacts]) -> Conditions:
    """Yield `before 2010`, `in the 1990s`, `since before 2018`, `as of 2005`: when edges were, or began."""
    dated, ends = [own for own in facts if own.kind in ("year", "date")], dates_called(facts, "edge ends")
    begins = [own for own in dates_called(facts, "edge begins") if own not in ends]
    events = [own for own in dated if own not in ends and own not in begins]
    as_of, since = context.end_of(place, "as of"), context.end_of(place, "since")
    if as_of is not None and len(begins) == 1 and len(ends) <= 1:
        yield from _as_of(context, as_of, begins[0], ends)
        return
    near = context.words[max(0, place - _NEAR) : place]
    spoken = WORDS["begin to be"].intersection(near)
    if since is None and not WORDS["end to be"].isdisjoint(near):  # "who left X in 2005"
        for own in ends if len(ends) == 1 else ():
            yield from compared_or_twice(context, place, own, default=None)
        return
    if len(events) == 1 and not begins:
        yield from compared_or_twice(context, place, events[0], default=None)
    elif len(begins) == 1 and not events and (spoken or since is not None):
        yield from _since(context, place, since, begins[0])
    elif len(begins) == 1 and not events and context.end_of(place, "before") is not None:
        yield from compared_or_twice(context, place, begins[0], default=None)  # who was there before began before
    elif any(any(compared(context, place, own, default=None)) for own in dated):
        names = ", ".join(own.name for own in dated)
        context.complain(place, f"the time of an edge may be meant in several ways: name one of {names}")


def _since(context: Context, place: int, since: int | None, facts: PropertyFacts) -> Conditions:
    """Yield `since before 2018`, `[joined] in 2005`, `[members] since 1990`.

    Who "has been a member since 1990" began in that year.
    """
    is_compared = since is not None and any(compared(context, since, facts, default=None))
    if since is None or is_compared or WORDS["so far"].isdisjoint(context.words[:place]):
        begin = since if since is not None and is_compared else place
        yield from compared_or_twice(context, begin, facts, default=None)
    elif (amount := context.units.quantities.get(context.skip(since, ("the", "year")))) is not None:
        yield from compared_with(context, since, facts, amount, "=")


def _as_of(context: Context, place: int, begin: PropertyFacts, ends: Sequence[PropertyFacts]) -> Conditions:
    """Yield `[as of] 2005`: it had begun by then, and not ended before."""
    amount = context.units.quantities.get(context.skip(place, ("the", "year")))
    if amount is None:
        return
    for begun in compared_with(context, place, begin, amount, "<="):
        before = [parse for own in ends for parse in compared_with(context, place, own, amount, "<")]
        not_ended = [negated(condition) for parse in before for condition in parse.value]
        yield Parse(begun.last, (*begun.value, *not_ended), begun.cost)


# ============================================================================================================== nesting
# Places within places, and relations over any number of steps: `stadiums in Northshire`, `parts of X at any depth`.


def rows_within(context: Context) -> frozenset[int] | None:
    """Return the nodes whose names stand behind a word for being in a place: `in`, `from`; None of `directly in`."""
    if "directly" in context.words:
        return None
    units = context.units.names
    return frozenset(
        row for place in units for unit in units[place] if _is_behind_in(context, place) for row in unit.rows
    )


def _is_behind_in(context: Context, place: int) -> bool:
    kinds = {last - 1 for units in context.units.types.values() for last in (unit.last for unit in units)}
    at = place - 1
    while at >= 0 and (context.at(at) in WORDS["determiners"] or at in kinds or context.at(at) == "of"):
        if context.at(at) == "of" and at - 1 not in kinds:
            return False
        at -= 1
    if context.at(at) in WORDS["in places"] or context.at(at) == "outside":
        return True
    behind = at + (context.at(at) not in ("and", "or"))
    is_joined = behind == at or context.is_behind_comma(behind)
    firsts = [first for first, units in context.units.names.items() for unit in units if unit.last == behind]
    return is_joined and any(first < place and _is_behind_in(context, first) for first in firsts)


@part
def inside_it(context: Context, place: int, nodes: NodeSet, one: NodeSet) -> Parse[NodeSet] | None:
    """Read nothing: the places of a type that are part of others of it."""
    types = context.relations.types_of(nodes) & context.relations.types_of(one)
    kinds = tuple(sorted({kind for own in types for kind in context.nesting.places.get(own, ())}))
    if not kinds or not (nodes.types or nodes.named):
        return None
    return Parse(place, (nodes if nodes.named else replace(nodes, types=types)).that(Joined(kinds, one)), 0.2)


@part
def around_it(context: Context, place: int, nodes: NodeSet, one: NodeSet) -> Parse[NodeSet] | None:
    """Read nothing: the places that a named one is part of."""
    whole = context.nesting.whole_of(nodes.types, one)
    return None if whole is None or not nodes.types else Parse(place, nodes.that(*whole.conditions), 0.1)


@part
def all_inside(context: Context, place: int, one: NodeSet) -> Parse[NodeSet] | None:
    """Read nothing: whatever is in named places, or in what is in them."""
    types = context.relations.types_of(one)
    kinds = context.nesting.inward(types)
    own = tuple(sorted({kind for kind in kinds for of in types if kind in context.nesting.places.get(of, ())}))
    others = tuple(kind for kind in kinds if kind not in own)
    if len({kind & 1 for kind in kinds}) == 1:  # a line says one direction
        return Parse(place, NodeSet(conditions=(Joined(kinds, one, is_far=True),)), 0.0)
    if not own or len({kind & 1 for kind in others}) != 1:
        return None
    inner = Joined(own, one, is_far=True)
    within = NodeSet(types, (Either(((Among(one.named),), (inner,))),))
    return Parse(place, NodeSet(conditions=(Either(((inner,), (Joined(others, within, is_far=True),))),)), 0.0)
