"""What is said of edges themselves: `joined X before 2010`, `in X as captain`, `with a fee over 5`, `captain of X`.

A date beside an edge that has dates is the edge's. Where it may mean several things nothing is read.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import cast

from orienteer.reading.comparisons import compared, compared_twice, compared_with, sign
from orienteer.reading.context import Context, Parse
from orienteer.reading.edge_labels import Voice
from orienteer.reading.lexicon import EdgeUnit, PropertyFacts
from orienteer.reading.objects import objects_at
from orienteer.reading.query import Condition, Either, ExactQuery, Joined, Measure, NodeSet, Valued
from orienteer.reading.relations import Relation
from orienteer.reading.rules import Found, Rule, part, rules
from orienteer.reading.units import LIGHT_FIT
from orienteer.reading.vocabulary import WORDS

_NEAR = 7  # words before a date, among which its verb is
_BEHIND_NAME = WORDS["stating"] | WORDS["before values"]


def facts_of_edges(context: Context, kinds: Sequence[int]) -> list[PropertyFacts]:
    """Return the properties that edges of these kinds have."""
    edges = {kind >> 1 for kind in kinds}
    return [facts for facts in context.lexicon.edge_properties.values() if facts.edges & edges]


def edge_said(context: Context, place: int, nodes: NodeSet) -> Iterator[Parse[NodeSet]]:
    """Yield `before 2010`, `since 1990`, `as captain`, `with a fee over 50`, of the edge that was spoken of last."""
    last = nodes.conditions[-1] if nodes.conditions else None
    options = [option for (option,) in last.options] if isinstance(last, Either) and _are_single(last) else [last]
    joined = [option for option in options if isinstance(option, Joined)]
    facts = facts_of_edges(context, [kind for one in joined for kind in one.kinds])
    if not facts or last is None or len(joined) < len(options):
        return
    for parse in _told(context, place, facts):
        if any(one.negated for one in joined) or last.negated or _are_several(nodes.conditions):
            context.complain(place, "of what this is said is not clear: say it in two questions")
            return
        told = tuple(replace(one, where=(*one.where, *parse.value)) for one in joined)
        new: Condition = replace(last, options=tuple((one,) for one in told)) if isinstance(last, Either) else told[0]
        yield Parse(parse.last, replace(nodes, conditions=(*nodes.conditions[:-1], new)), parse.cost)


def _are_single(either: Either) -> bool:
    return all(len(option) == 1 for option in either.options)


def _are_several(conditions: Sequence[Condition]) -> bool:
    """Return whether the last two conditions are of one relation: of both, or of the last?"""
    kinds = [condition.kinds if isinstance(condition, Joined) else None for condition in conditions[-2:]]
    return len(kinds) == 2 and kinds[0] is not None and kinds[0] == kinds[1]


def lone_edge(context: Context, place: int, nodes: NodeSet) -> Iterator[Parse[NodeSet]]:
    """Yield `joined before 2010`, `scored by header`: a verb with what is said of it, and nothing that it leads to."""
    for unit in context.units.edges.get(place, ()):
        is_told = unit.fit > LIGHT_FIT and bool(facts_of_edges(context, [2 * edge for edge in unit.edges]))
        for relation in context.relations.named(nodes, unit.edges, Voice.SUBJECT, NodeSet()) if is_told else ():
            if any(relation.kinds == one.kinds for one in nodes.conditions if isinstance(one, Joined)):
                # "members of Rowing who joined before 2010": joined it, and nothing else
                yield from edge_said(context, unit.last, nodes)
                continue
            for parse in _told(context, unit.last, facts_of_edges(context, relation.kinds)):
                yield Parse(parse.last, _carrying(relation, parse.value), relation.cost + parse.cost + 0.1)


def _carrying(relation: Relation, where: tuple[Valued, ...]) -> NodeSet:
    """Return the nodes that a relation joins by edges that meet conditions."""
    return relation.nodes.that(Joined(relation.kinds, relation.target, where=where))


def value_said(context: Context, place: int, nodes: NodeSet) -> Iterator[Parse[NodeSet]]:
    """Yield `captain of X`, `captains at X and Y`: those whom an edge with a value joins to things."""
    for unit in context.units.edge_values.get(context.skip(place), ()):
        of = unit.last + (context.at(unit.last) in WORDS["all prepositions"])
        facts = context.lexicon.edge_properties[unit.property]
        where = (Valued(facts.name, "=", unit.value),)
        for objects in objects_at(context, of) if of > unit.last and facts.kind == "text" else ():
            (member, *others) = objects.value.members
            if others or member.negated or objects.value.amount is not None:
                continue
            frame = Voice.NOUN_OF
            for relation in context.relations.named(nodes, dict.fromkeys(facts.edges, 1.0), frame, member.nodes):
                yield Parse(objects.last, _carrying(relation, where), objects.cost + unit.cost + relation.cost + 0.1)


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
def edges_told(context: Context, place: int, edge_noun: EdgeUnit) -> Iterator[Parse[tuple[Valued, ...]]]:
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
def edge_value(place: int, edge_facts: PropertyFacts, said: NodeSet) -> Parse[ExactQuery] | None:
    """Read nothing: what a property is of the edges that were spoken of last."""
    return _value(place, edge_facts, said)


@part
def edge_time(context: Context, place: int, said: NodeSet) -> Parse[ExactQuery] | None:
    """Read nothing: when the edges were, or began, that were spoken of last; when they ended, behind `leave`."""
    last = said.conditions[-1] if said.conditions else None
    facts = facts_of_edges(context, last.kinds) if isinstance(last, Joined) else []
    is_end = not WORDS["end to be"].isdisjoint(context.words)
    dated = [own for own in facts if own.kind in ("year", "date") and _is_called(own, WORDS["edge ends"]) == is_end]
    return _value(place, dated[0], said) if len(dated) == 1 else None


def _value(place: int, facts: PropertyFacts, said: NodeSet) -> Parse[ExactQuery] | None:
    last, nodes = said.conditions[-1] if said.conditions else None, replace(said, conditions=said.conditions[:-1])
    is_one = isinstance(last, Joined) and not last.negated and {kind >> 1 for kind in last.kinds} <= facts.edges
    if not is_one or not nodes.named:
        return None
    return Parse(place, ExactQuery("value", nodes, _measured(facts, said)), 0.05)


def _measured(facts: PropertyFacts, said: NodeSet) -> Measure:
    """Return a property of the edges that nodes are joined by."""
    joined = said.conditions[-1]
    assert isinstance(joined, Joined), "the edges were said last"
    return Measure(facts.name, joined.kinds, joined.target, joined.where)


# ------------------------------------------------------------------------------------------------- what is said
def _told(context: Context, place: int, facts: Sequence[PropertyFacts]) -> Iterator[Parse[tuple[Valued, ...]]]:
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
                    yield Parse(parse.last, cast(tuple[Valued, ...], parse.value), unit.cost + parse.cost)
    begin = context.skip(place, WORDS["all prepositions"] | {"as"})
    for value in context.units.edge_values.get(context.skip(begin), ()) if begin > place else ():
        if any(own.name == value.property and own.kind == "text" for own in facts):
            behind = context.units.edge_properties.get(value.last, ())  # "as captain", "in the captain role"
            last = max((unit.last for unit in behind if unit.property == value.property), default=value.last)
            yield Parse(last, (Valued(value.property, "=", value.value),), value.cost + 0.1)


def _named(context: Context, place: int, facts: PropertyFacts, cost: float) -> Iterator[Parse[tuple[Valued, ...]]]:
    """Yield what is said of a property behind its name: `captain`, `over 5`, `between 5 and 8`."""
    for unit in context.units.edge_values.get(context.skip(place), ()):
        if unit.property == facts.name:
            yield Parse(unit.last, (Valued(facts.name, "=", unit.value),), cost + unit.cost)
    for parse in (*compared(context, place, facts), *compared_twice(context, place, facts)):
        yield Parse(parse.last, cast(tuple[Valued, ...], parse.value), cost + parse.cost)


def _dated(context: Context, place: int, facts: Sequence[PropertyFacts]) -> Iterator[Parse[tuple[Valued, ...]]]:
    """Yield `before 2010`, `in the 1990s`, `since before 2018`, `as of 2005`: when edges were, or began."""
    dated = [own for own in facts if own.kind in ("year", "date")]
    ends = [own for own in dated if _is_called(own, WORDS["edge ends"])]
    begins = [own for own in dated if own not in ends and _is_called(own, WORDS["edge begins"])]
    events = [own for own in dated if own not in ends and own not in begins]
    as_of, since = context.end_of(place, "as of"), context.end_of(place, "since")
    if as_of is not None and len(begins) == 1 and len(ends) <= 1:
        yield from _as_of(context, as_of, begins[0], ends)
        return
    spoken = WORDS["begin to be"].intersection(context.words[max(0, place - _NEAR) : place])
    if len(events) == 1 and not begins:
        yield from _plainly(context, place, events[0])
    elif len(begins) == 1 and not events and (spoken or since is not None):
        yield from _since(context, place, since, begins[0])
    elif len(begins) == 1 and not events and context.end_of(place, "before") is not None:
        yield from _plainly(context, place, begins[0])  # who was there before began before
    elif any(any(compared(context, place, own, default=None)) for own in dated):
        names = ", ".join(own.name for own in dated)
        context.complain(place, f"the time of an edge may be meant in several ways: name one of {names}")


def _plainly(context: Context, place: int, facts: PropertyFacts) -> Iterator[Parse[tuple[Valued, ...]]]:
    """Yield what a comparison says of a date."""
    for parse in (*compared_twice(context, place, facts), *compared(context, place, facts, default=None)):
        yield Parse(parse.last, cast(tuple[Valued, ...], parse.value), parse.cost)


def _since(
    context: Context, place: int, since: int | None, facts: PropertyFacts
) -> Iterator[Parse[tuple[Valued, ...]]]:
    """Yield `since before 2018`, `[joined] in 2005`, `[members] since 1990`.

    Who "has been a member since 1990" began in that year.
    """
    if since is not None and any(compared(context, since, facts, default=None)):
        yield from _plainly(context, since, facts)
    elif since is not None and not WORDS["so far"].isdisjoint(context.words[:place]):
        amount = context.units.quantities.get(context.skip(since, ("the", "year")))
        for parse in compared_with(context, since, facts, amount, "=") if amount is not None else ():
            yield Parse(parse.last, cast(tuple[Valued, ...], parse.value), parse.cost)
    else:
        yield from _plainly(context, place, facts)


def _as_of(
    context: Context, place: int, begin: PropertyFacts, ends: Sequence[PropertyFacts]
) -> Iterator[Parse[tuple[Valued, ...]]]:
    """Yield `[as of] 2005`: it had begun by then, and not ended before."""
    amount = context.units.quantities.get(context.skip(place, ("the", "year")))
    if amount is None:
        return
    for parse in compared_with(context, place, begin, amount, "<="):
        ended = [
            replace(one, negated=True)
            for own in ends
            for before in compared_with(context, place, own, amount, "<")
            for one in cast(tuple[Valued, ...], before.value)
        ]
        yield Parse(parse.last, (*cast(tuple[Valued, ...], parse.value), *ended), parse.cost)


def _is_called(facts: PropertyFacts, words: frozenset[str]) -> bool:
    return not words.isdisjoint(facts.name.casefold().replace("_", " ").replace(".", " ").split())
