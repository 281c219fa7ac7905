"""What nodes have: `with no X`, `has more than 5 X`, `with a capacity over 50`, `without a website`."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import partial

from orienteer.reading.adjectives import properties_of
from orienteer.reading.comparisons import compared, compared_with, count, or_so, sign
from orienteer.reading.context import Context, Parse
from orienteer.reading.edge_labels import Voice
from orienteer.reading.edges_said import as_rows
from orienteer.reading.joints import all_joined, contrary, denied, joined
from orienteer.reading.kinds import heads_at
from orienteer.reading.objects import Objects, objects_at
from orienteer.reading.phrases import noun_had
from orienteer.reading.properties import properties_named, property_said
from orienteer.reading.query import Comparison, Filled, Joined, NodeSet, Told, Valued
from orienteer.reading.rankings import most_had
from orienteer.reading.relations import Relation
from orienteer.reading.told import FORMS
from orienteer.reading.units import LIGHT_FIT
from orienteer.reading.verbs import Verbs, verb_joined
from orienteer.reading.vocabulary import WORDS

_LIMITS: Mapping[str, Comparison] = {"minimum": ">=", "maximum": "<="}


def had_said(context: Context, place: int, nodes: NodeSet) -> Iterator[Parse[NodeSet]]:
    """Yield what is said behind `with`, `has`, `without` and their like."""
    word = context.at(place)
    is_denied = word in WORDS["lacking"]
    contains = word in WORDS["containing"] and not context.units.edges.get(place)
    if word not in WORDS["having"] and not is_denied and not contains:
        return
    begin = place + 1
    if context.at(begin) in ("no", "not", "neither"):
        is_denied, begin = not is_denied, begin + 1
    yield from _property(context, begin, nodes, is_denied=is_denied)
    yield from _limit(context, begin, nodes, is_denied=is_denied)
    if not is_denied:
        yield from most_had(context, begin, nodes)
    for objects in objects_at(context, begin):
        if (
            word in ("has", "have", "had")
            and context.at(objects.last).endswith("ed")
            and context.units.edges.get(objects.last)
        ):
            continue  # "has X planted anything" says nothing of what X has
        yield from things_had(context, objects, nodes, is_denied=is_denied)
    yield from _things_as_noun(context, begin, nodes, is_denied=is_denied)
    yield from _noun(context, begin, nodes, is_denied=is_denied)
    yield from _things_done(context, begin, nodes, is_denied=is_denied)
    yield from _value(context, begin, nodes, is_denied=is_denied)
    yield from _unknown_property(context, begin, nodes, is_denied=is_denied)


# -------------------------------------------------------------------------------------------------- properties
def _property(context: Context, place: int, nodes: NodeSet, *, is_denied: bool) -> Iterator[Parse[NodeSet]]:
    """Yield `a website`, `a capacity over 50`."""
    begin = context.skip(place, WORDS["determiners"] | WORDS["recorded"])
    for named in properties_named(context, begin, nodes):
        if named.facts.kind == "boolean":  # "with a scholarship" of `has_scholarship`
            is_so = Valued(named.facts.name, "=", named.facts.true, is_denied)
            yield Parse(named.last, nodes.that(is_so), named.cost + 0.05)
            continue
        if is_denied and named.facts.kind == "number" and _has_zero(context, named.facts.name):
            context.complain(named.last, f"{named.facts.name} that is 0, or not known? say which")
            continue
        yield Parse(named.last, nodes.that(Filled(named.facts.name, is_denied)), named.cost + 0.1)
        yield from property_said(context, named, nodes, is_denied=is_denied)
    yield from _amount_of_property(context, begin, nodes, is_denied=is_denied)


def _has_zero(context: Context, name: str) -> bool:
    """Return whether some node has nothing of a property: "no stock" may be 0, or not known."""
    properties = context.lexicon.graph.arrays.properties
    return bool((properties.numbers(name, properties.rows(name)) == 0).any())


def _amount_of_property(context: Context, begin: int, nodes: NodeSet, *, is_denied: bool) -> Iterator[Parse[NodeSet]]:
    """Yield `over 100 employees`, `between 20 and 40 berths`."""
    exactly: Parse[Comparison] = Parse(begin, "=", 0.1)
    for comparison in (*sign(context, begin), exactly):
        amount = context.units.quantities.get(comparison.last)
        if amount is None or amount.unit is not None:
            continue
        for facts, last, cost in properties_named(context, amount.last, nodes):
            if facts.kind == "number":
                parse = Parse(last, nodes, cost)
                end, (meant, number), _ = or_so(context, parse, (comparison.value, amount.value))
                yield Parse(end, nodes.that(Valued(facts.name, meant, number, is_denied)), cost)

    for beyond in sign(context, begin) if not is_denied else ():
        yield from _average(context, beyond.last, nodes, beyond.value)
    for facts in properties_of(context, nodes):
        for amounts in compared(context, begin, facts, default=None) if facts.kind == "number" else ():
            for named in properties_named(context, amounts.last, nodes):
                if named.facts == facts:  # "between 20 and 40 berths", "40 or more berths"
                    conditions = contrary(amounts.value) if is_denied else amounts.value
                    yield Parse(named.last, nodes.that(*conditions), named.cost + amounts.cost - 0.05)


def _average(context: Context, place: int, nodes: NodeSet, comparison: Comparison) -> Iterator[Parse[NodeSet]]:
    """Yield `[above] average salary`: the average of all of a kind, of which nothing more was said."""
    for form in FORMS if not nodes.conditions and nodes.best is None else ():
        last = context.end_of(place, form)
        for facts, end, cost in properties_named(context, last, nodes) if last is not None else ():
            types = context.relations.types_of(nodes) & facts.types
            if facts.is_measured and len(types) == 1:
                told = Told(facts.name, NodeSet(types), form)
                yield Parse(end, nodes.that(Valued(facts.name, comparison, told)), cost)


def _limit(context: Context, place: int, nodes: NodeSet, *, is_denied: bool) -> Iterator[Parse[NodeSet]]:
    """Yield `a minimum height of 49 m`."""
    begin = context.skip(place)
    comparison = _LIMITS.get(context.at(begin))
    for named in properties_named(context, begin + 1, nodes) if comparison is not None and not is_denied else ():
        amount = context.units.quantities.get(context.starts(named.last, "of") or named.last)
        if amount is not None and comparison is not None:
            for parse in compared_with(context, place, named.facts, amount, comparison):
                yield Parse(parse.last, nodes.that(*parse.value), named.cost)


def _value(context: Context, place: int, nodes: NodeSet, *, is_denied: bool) -> Iterator[Parse[NodeSet]]:
    """Yield `an aluminium hull`."""
    for unit in context.units.values.get(context.skip(place), ()):
        behind = context.end_of(unit.last, "as a kind") or unit.last
        for facts, last, cost in properties_named(context, behind, nodes):
            if facts.name == unit.property:
                valued = Valued(facts.name, "=", unit.value, is_denied)
                yield Parse(last, nodes.that(valued), cost + unit.cost)


def _unknown_property(context: Context, place: int, nodes: NodeSet, *, is_denied: bool) -> Iterator[Parse[NodeSet]]:
    """Yield `an unknown capacity`, `no known website`."""
    unknown = context.end_of(place, "an unknown")
    if unknown is not None:
        for facts, last, cost in properties_named(context, unknown, nodes):
            yield Parse(last, nodes.that(Filled(facts.name, not is_denied)), cost)


# ------------------------------------------------------------------------------------------------------ things
def things_had(
    context: Context, objects: Parse[Objects], nodes: NodeSet, *, is_denied: bool = False
) -> Iterator[Parse[NodeSet]]:
    """Yield `X`, `more than 5 X`, `nausea as a side effect`."""
    parse = all_joined(context, nodes, objects, partial(_related, context), is_denied=is_denied)
    if parse is not None:
        begin = context.end_of(parse.last, "as a kind")
        kinds = context.units.types.get(begin, ()) if begin is not None else ()
        yield Parse(max((kind.last for kind in kinds), default=parse.last), parse.value, parse.cost - 0.1)


def _related(context: Context, nodes: NodeSet, target: NodeSet) -> Relation | None:
    relation = next(context.relations.unnamed(nodes, "with", target), None)
    is_maker = relation is not None and bool(target.named) and context.relations.labels.are_makers(relation.kinds)
    return None if is_maker else relation  # who has a picture is not its artist


def _things_as_noun(context: Context, place: int, nodes: NodeSet, *, is_denied: bool) -> Iterator[Parse[NodeSet]]:
    """Yield `X as a part meronym`, `X and Y among its hypernyms`."""
    for objects in objects_at(context, place):
        noun = context.end_of(objects.last, "as a noun")
        nouns = (noun, *(kind.last for kind in context.units.types.get(noun, ()))) if noun is not None else ()
        for unit in (unit for start in nouns for unit in context.units.edges.get(start, ())):
            verbs = Verbs((unit,), unit.last)
            for related in verb_joined(context, nodes, verbs, Voice.HAS_NOUN, objects):
                value = denied(related.value, nodes) if is_denied else related.value
                if value is not None:
                    yield Parse(unit.last, value, related.cost)


def counted_had(context: Context, place: int, nodes: NodeSet) -> Iterator[Parse[NodeSet]]:
    """Yield `[directors] more than 2 films`, `[films no] award`: words for a search, without a verb."""
    is_behind_no = context.at(place - 1) == "no"  # which the clause denies as a whole
    if not nodes.types or (nodes.conditions and not is_behind_no and not _is_of_role(context, nodes)):
        return
    if is_behind_no:
        for parse in _noun(context, place, nodes, is_denied=False):
            yield parse._replace(cost=parse.cost + 0.2)
    for objects in objects_at(context, place):
        is_counted = objects.value.amount is not None and context.is_over(objects.last)
        if is_counted or (is_behind_no and not objects.value.members[0].nodes.named):
            for parse in things_had(context, objects, nodes):
                yield parse._replace(cost=parse.cost + 0.25)


def _is_of_role(context: Context, nodes: NodeSet) -> bool:
    return all(isinstance(condition, Joined) and not condition.target.conditions for condition in nodes.conditions)


def role_said(context: Context, place: int, nodes: NodeSet) -> Iterator[Parse[NodeSet]]:
    """Yield `lead X`, `[by] director X or Y`: a part that somebody plays, right behind a kind."""
    begin = context.skip(place, ("by", "with", "of", "from", "the", "its", "their"))
    for unit in context.units.edges.get(begin, ()):
        word = context.at(unit.last - 1)
        is_doer = context.relations.labels.is_agent(unit, word) and unit.fit > LIGHT_FIT
        if nodes.types and (is_doer or context.relations.labels.names_role(unit, word)):
            for objects in objects_at(context, unit.last):
                if all(member.nodes.named for member in objects.value.members):
                    verbs = Verbs((unit,), unit.last)
                    frame = Voice.PASSIVE if is_doer else Voice.HAS_NOUN
                    for parse in verb_joined(context, nodes, verbs, frame, objects):
                        yield parse._replace(cost=parse.cost + 0.1)


def _noun(context: Context, place: int, nodes: NodeSet, *, is_denied: bool) -> Iterator[Parse[NodeSet]]:
    """Yield `more than 3 dependencies`, `hypernym X`, `a supervisor`: a noun that names edges."""
    for amount in count(context, place):
        yield from _edge_noun(context, amount.last, nodes, amount.value, is_denied=is_denied)
    yield from _edge_noun(context, context.skip(place), nodes, None, is_denied=is_denied)


def _edge_noun(
    context: Context, place: int, nodes: NodeSet, amount: tuple[Comparison, float] | None, *, is_denied: bool
) -> Iterator[Parse[NodeSet]]:
    """Yield `dependencies`, `hypernym X`, `supervisor is X`: a noun that names edges, so many times."""
    for unit in context.units.edges.get(place, ()):
        relation = next(noun_had(context, nodes, unit, NodeSet()), None)
        if relation is not None:
            had = joined(relation, unit.last, 0.1, is_denied=is_denied, amount=amount)
            yield as_rows(context, had) if amount is not None else had
            for target in context.described(Parse(unit.last, relation.target, 0.1)):
                cut = next(noun_had(context, nodes, unit, target.value), None)
                if cut is not None and target.last > unit.last and not _is_of_many(context, place, target):
                    yield joined(cut, target.last, target.cost, is_denied=is_denied, amount=amount)
        for target in context.nodes(context.skip(unit.last, WORDS["all prepositions"] | {"is", "are"})):
            relation = next(noun_had(context, nodes, unit, target.value), None)
            if relation is not None:
                yield joined(relation, target.last, target.cost, is_denied=is_denied, amount=amount)


def _is_of_many(context: Context, place: int, target: Parse[NodeSet]) -> bool:
    """Return whether words for one thing run on into what is said of several: `a mentor in X and are tall`."""
    words = context.words[place : target.last]
    is_one = context.at(place - 1) in ("a", "an", "one")
    runs_on = any(words[at] == "and" and words[at + 1] in WORDS["of many"] for at in range(len(words) - 1))
    return target.value.best is not None or (is_one and runs_on)


def _things_done(context: Context, place: int, nodes: NodeSet, *, is_denied: bool) -> Iterator[Parse[NodeSet]]:
    """Yield `more than 8 ships calling there`, `three genes associated`, `no ship calling there`."""
    amounts: list[tuple[int, tuple[Comparison, float] | None]] = [(place, None)] if is_denied else []
    amounts += [(amount.last, amount.value) for amount in count(context, place)]
    for begin_of_kind, amount in amounts:
        for head in heads_at(context, begin_of_kind):
            begin = context.skip(head.last, WORDS["auxiliaries"] | WORDS["relative"])
            for unit in context.units.edges.get(begin, ()):
                last = context.skip(context.skip(unit.last, WORDS["all prepositions"]), ("it", "them", "there"))
                frame = Voice.PASSIVE_OBJECT if context.at(unit.last) == "by" else Voice.OBJECT
                for relation in context.relations.named(nodes, unit.edges, frame, head.value):
                    yield joined(relation, last, head.cost, is_denied=is_denied, amount=amount)
