"""What nodes are ranked by: `treats the most diseases`, `with the highest fee`, `do the most packages depend on`."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from orienteer.reading.adjectives import superlatives_at
from orienteer.reading.context import Context, Parse
from orienteer.reading.edge_labels import Voice
from orienteer.reading.edges_said import rows_done
from orienteer.reading.joints import complain_of_many, measured, most
from orienteer.reading.kinds import heads_at
from orienteer.reading.lexicon import EdgeUnit
from orienteer.reading.phrases import noun_had
from orienteer.reading.properties import kind_behind, properties_named
from orienteer.reading.query import Best, Measure, NodeSet
from orienteer.reading.relations import Relation
from orienteer.reading.vocabulary import ENGLISH, WORDS


# ---------------------------------------------------------------------------------------------------- measures
def measures_at(context: Context, place: int, nodes: NodeSet) -> Iterator[Parse[Measure]]:
    """Yield what nodes are ranked by: a property, or a number of things."""
    begin = context.skip(place, WORDS["articles of numbers"])
    for facts, last, cost in properties_named(context, begin, nodes):
        if facts.is_measured:
            yield Parse(last, Measure(property=facts.name), cost)
    begin = context.starts(begin, "number of", "count of", "how many") or begin
    yield from _related_kinds(context, begin, nodes)
    for head in heads_at(context, begin):
        yield from _things_had(context, head, nodes)
        yield from _things_done(context, head, nodes)
    for unit in context.units.edges.get(begin, ()):
        for relation in noun_had(context, nodes, unit, NodeSet()):
            yield measured(
                relation,
                unit.last,
                0.1,
                are_edges=context.relations.are_rows(relation.kinds, context.at(unit.last - 1)),
            )


def _related_kinds(context: Context, place: int, nodes: NodeSet) -> Iterator[Parse[Measure]]:
    """Yield `associated genes`."""
    for unit in context.units.edges.get(place, ()):
        for head in heads_at(context, unit.last):
            for relation in noun_had(context, nodes, unit, head.value):
                yield measured(relation, head.last, head.cost)


def _things_had(context: Context, head: Parse[NodeSet], nodes: NodeSet) -> Iterator[Parse[Measure]]:
    """Yield `genes`, `genes that cause X`, `genes they have`."""
    for counted in context.described(head):
        for relation in _counting(context, nodes, counted.value):
            last = context.starts(counted.last, "count", "they have", "it has") or counted.last
            yield measured(relation, last, counted.cost)


def _counting(context: Context, nodes: NodeSet, counted: NodeSet) -> Iterator[Relation]:
    """Yield the relation of nodes to what they have so many of: an edge joins them."""
    return (one for one in context.relations.unnamed(nodes, "with", counted) if not one.target.is_between)


def _things_done(context: Context, head: Parse[NodeSet], nodes: NodeSet) -> Iterator[Parse[Measure]]:
    """Yield `diseases they treat`, `packages it depends on`."""
    behind = context.skip(head.last, WORDS["auxiliaries"] | WORDS["relative"] | {"they", "it"})
    for unit in context.units.edges.get(behind, ()):
        for relation in context.relations.named(nodes, unit.edges, Voice.SUBJECT, head.value):
            yield measured(relation, unit.last + (context.at(unit.last) in WORDS["behind verbs"]), head.cost)
        there = context.skip(unit.last, WORDS["all prepositions"])
        if context.at(there) in WORDS["there"]:  # "ships that call there"
            for relation in context.relations.named(nodes, unit.edges, Voice.OBJECT, head.value):
                yield measured(relation, there + 1, head.cost)


# ------------------------------------------------------------------------------------------------- superlatives
def most_done(context: Context, place: int, nodes: NodeSet, verb: EdgeUnit, frame: Voice) -> Iterator[Parse[NodeSet]]:
    """Yield `[treats] the most diseases`, `[depends on] the fewest packages`, `[treats] more X than any other`."""
    begin = context.skip(place)
    word = context.at(begin)
    is_more = ENGLISH.most.get(word, ENGLISH.more.get(word))
    if is_more is None or nodes.best is not None:
        return
    number = context.starts(begin + 1, "number of", "count of")
    if number is None and word not in WORDS["counting things"]:
        return  # "the largest ship" is one, and no number of ships
    begin = number or begin + 1
    for noun in rows_done(context, begin, nodes, verb, frame):
        yield most(noun.value, noun.last, noun.cost, descending=is_more, are_edges=True)
    heads = heads_at(context, begin)
    counted = [further for head in heads for further in context.described(head)]
    for head in counted if heads else [Parse(begin, NodeSet(), 0.2)]:
        last = head.last if word in ENGLISH.most else _than_others(context, head.last)
        relation = next(context.relations.named(nodes, verb.edges, frame, head.value), None)
        if relation is not None and last is not None:
            yield most(relation, last, head.cost, descending=is_more)


def _than_others(context: Context, place: int) -> int | None:
    """Return where `than any other company` ends; None where nothing is compared with all others."""
    than = context.starts(place, "than")
    others = (
        context.starts(than, *ENGLISH.phrases["all others"], *ENGLISH.phrases["anyone else"])
        if than is not None
        else None
    )
    last = kind_behind(context, others) if others is not None else None
    return None if last is None else context.skip(last, ("does", "has", "did", "do", "is"))


def most_doers(context: Context, place: int, nodes: NodeSet) -> Iterator[Parse[NodeSet]]:
    """Yield `do the most packages depend on`, `do most genes that X binds participate in`."""
    begin = context.skip(place)
    is_more = ENGLISH.most.get(context.at(begin))
    number = context.starts(begin + 1, "number of", "count of")
    if is_more is None or (number is None and context.at(begin) not in WORDS["counting things"]):
        return
    heads = heads_at(context, number or begin + 1)
    for counted in [further for head in heads for further in context.described(head)]:
        for unit in context.units.edges.get(context.skip(counted.last, WORDS["auxiliaries"]), ()):
            last = unit.last + (context.at(unit.last) in WORDS["all prepositions"])
            relation = next(context.relations.named(nodes, unit.edges, Voice.OBJECT, counted.value), None)
            if relation is not None and nodes.best is None:
                yield most(relation, last, counted.cost, descending=is_more)


def most_had(context: Context, place: int, nodes: NodeSet) -> Iterator[Parse[NodeSet]]:
    """Yield `[with] the most X`, `[has] the highest PROPERTY`, `[with] the largest number of X`."""
    begin = context.skip(place)
    word = context.at(begin)
    is_more = ENGLISH.most.get(word, ENGLISH.more.get(word))
    if nodes.best is not None:
        return
    yield from _property_had(context, begin, nodes)
    if is_more is None:
        return
    if word not in ENGLISH.most:
        yield from _more_had(context, begin + 1, nodes, descending=is_more)
        return
    number = context.starts(begin + 1, "number of", "count of", "amount of")
    if number is None and word not in WORDS["counting things"]:
        return
    begin = number or begin + 1
    for measure in _related_kinds(context, begin, nodes):
        ranked = replace(context.relations.able(nodes, measure.value), best=Best(measure.value, is_more))
        yield Parse(measure.last, ranked, measure.cost)
    for head in heads_at(context, begin):
        yield from _most_things_had(context, head, nodes, descending=is_more)
        yield from _most_things_behind(context, head, nodes, descending=is_more)
    for unit in context.units.edges.get(begin, ()):
        relation = next(noun_had(context, nodes, unit, NodeSet()), None)
        if relation is not None:
            are_edges = context.relations.are_rows(relation.kinds, context.at(unit.last - 1))
            yield most(relation, unit.last, 0.1, descending=is_more, are_edges=are_edges)


def most_in(context: Context, place: int, nodes: NodeSet) -> Iterator[Parse[NodeSet]]:
    """Yield `in the most orders`, `part of the most teams`: the only edge between them is meant."""
    begin = context.skip(context.end_of(place, "part of") or place)
    is_more = ENGLISH.most.get(context.at(begin))
    if begin == place or is_more is None or nodes.best is not None or context.at(begin) not in WORDS["counting things"]:
        return
    for head in heads_at(context, begin + 1):
        yield from _most_things_had(context, head, nodes, descending=is_more)


def most_bare(context: Context, place: int, nodes: NodeSet) -> Iterator[Parse[NodeSet]]:
    """Yield `[department] most vehicles`: words for a search, without a verb, at the end."""
    if context.at(place) in ENGLISH.most and nodes.types:
        for parse in most_had(context, place, nodes):
            if context.is_over(parse.last):  # "pathway most genes that are ... participate in" counts those
                yield parse._replace(cost=parse.cost + 0.2)


def _more_had(context: Context, place: int, nodes: NodeSet, *, descending: bool) -> Iterator[Parse[NodeSet]]:
    """Yield `[has] more ships than any other company`."""
    for measure in measures_at(context, place, nodes):
        last = _than_others(context, measure.last)
        if last is not None:
            ranked = replace(context.relations.able(nodes, measure.value), best=Best(measure.value, descending))
            yield Parse(last, ranked, measure.cost)


def _property_had(context: Context, place: int, nodes: NodeSet) -> Iterator[Parse[NodeSet]]:
    """Yield `[with the] highest PROPERTY`, `[with the] oldest PROPERTY`."""
    is_more = ENGLISH.most.get(context.at(place))
    if is_more is None:
        adjective = next((parse.value[0] for parse in superlatives_at(context, place)), None)
        if adjective is None:
            return
        is_more = adjective.ascending
    numbers = context.starts(place + 1, "number of", "count of", "amount of", "total of")
    for facts, last, cost in properties_named(context, place + 1 if numbers is None else numbers, nodes):
        if facts.is_measured:  # "the biggest stadium" is no text
            yield Parse(last, replace(nodes, best=Best(Measure(property=facts.name), is_more)), cost)


def _most_things_had(
    context: Context, head: Parse[NodeSet], nodes: NodeSet, *, descending: bool
) -> Iterator[Parse[NodeSet]]:
    """Yield `the most genes`, `the most genes that cause X`."""
    for counted in context.described(head):
        relation = next(_counting(context, nodes, counted.value), None)
        if relation is not None:
            yield most(relation, counted.last, counted.cost - 0.1, descending=descending)
        else:
            complain_of_many(context, nodes, counted.value, counted.last)


def _most_things_behind(
    context: Context, head: Parse[NodeSet], nodes: NodeSet, *, descending: bool
) -> Iterator[Parse[NodeSet]]:
    """Yield `the most genes participating in it`, `the most diseases associated with them`, `the most X brewed`."""
    begin = context.skip(head.last, WORDS["auxiliaries"] | WORDS["relative"])
    for unit in context.units.edges.get(begin, ()):
        last = context.skip(context.skip(unit.last, WORDS["all prepositions"]), WORDS["them"])
        frame = Voice.PASSIVE_OBJECT if context.at(unit.last) == "by" else Voice.OBJECT
        relation = next(context.relations.named(nodes, unit.edges, frame, head.value), None)
        if relation is not None:
            yield most(relation, last, head.cost, descending=descending)
