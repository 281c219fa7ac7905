"""What nodes have: `with no X`, `whose height is over 5 m`, `the same brewery as Duvel`, `more beers than X`."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import replace
from functools import partial
from typing import Literal, NamedTuple, TypeAlias

from orienteer.reading.comparisons import (
    another,
    but_not,
    compared,
    compared_with,
    count,
    measured_as,
    of_same_year,
    openings,
    or_so,
    properties_of,
    sign,
    valued_as,
)
from orienteer.reading.edges import all_joined, as_rows, complain_of_many, contrary, denied, joined
from orienteer.reading.lexicon import LIGHT_FIT
from orienteer.reading.nouns import Objects, heads_at, noun_had, objects_at
from orienteer.reading.properties import FORMS, properties_named, property_said
from orienteer.reading.query import Among, Best, Comparison, Condition, Extent, Filled, Joined, NodeSet, Told, Valued
from orienteer.reading.relations import Relation, Voice
from orienteer.reading.rules import Context, Parse
from orienteer.reading.verbs import Action, Verbs, actions_at, measures_at, most_had, verb_joined
from orienteer.reading.vocabulary import ENGLISH, WORDS

# ================================================================================================================ whose
# Clauses about what nodes have: `whose height is over 5 m`, `whose brewery is in Belgium`, `whose supervisor is X`.


def whose_said(context: Context, place: int, nodes: NodeSet) -> Iterator[Parse[NodeSet]]:
    """Yield `whose height is over 5 m`, `whose brewery is in Belgium`, `whose supervisor is X`."""
    yield from _unknown_to_us(context, place, nodes)
    begin = context.end_of(place, "whose value")
    if begin is None:
        return
    yield from _measure(context, begin, nodes)
    for named in properties_named(context, begin, nodes):
        yield from property_said(context, named, nodes)
    yield from _kind(context, begin, nodes)
    yield from _edge_noun_whose(context, begin, nodes)


def _unknown_to_us(context: Context, place: int, nodes: NodeSet) -> Iterator[Parse[NodeSet]]:
    """Yield `[for which X] is the height missing`, `[for which X] do we not have a height`."""
    begin = context.end_of(context.skip(place, WORDS["auxiliaries"]), "we lack")
    if begin is not None:
        begin = context.end_of(begin, "figures") or begin
        for named in properties_named(context, begin, nodes):
            yield Parse(named.last, nodes.that(Filled(named.facts.name, negated=True)), named.cost)
    if context.at(place) in ("is", "are", "was"):
        for named in properties_named(context, place + 1, nodes):
            last = context.end_of(named.last, "missing")
            if last is not None:
                yield Parse(last, nodes.that(Filled(named.facts.name, negated=True)), named.cost)


def _measure(context: Context, place: int, nodes: NodeSet) -> Iterator[Parse[NodeSet]]:
    """Yield `[whose] number of genes is 5`, `[whose] height is the largest`."""
    for measure in measures_at(context, context.skip(place, ("the",)), nodes):
        begin = context.skip(measure.last, ("is", "are", "was", "were", "of"))
        target = measure.value.target
        if target is not None:
            for amount in count(context, begin):
                condition = Joined(measure.value.kinds, target, False, *amount.value)
                yield Parse(amount.last, nodes.that(condition), measure.cost + amount.cost)
        most = context.skip(begin)
        is_more = ENGLISH.most.get(context.at(most))
        if is_more is not None and nodes.best is None:
            yield Parse(most + 1, replace(nodes, best=Best(measure.value, is_more)), measure.cost)


def _kind(context: Context, place: int, nodes: NodeSet) -> Iterator[Parse[NodeSet]]:
    """Yield `[whose] brewery is in Belgium`: a kind of things that one relation leads to."""
    for head in heads_at(context, place):
        relation = next(context.relations.unnamed(nodes, "", head.value, Voice.HAS_NOUN), None)
        if relation is None:
            complain_of_many(context, nodes, head.value, place)
            continue
        for described in _own_clause(context, head.last, relation.target):
            if described.value.best is None:
                cost = head.cost + described.cost
                yield joined(relation._replace(target=described.value), described.last, cost)


def _edge_noun_whose(context: Context, place: int, nodes: NodeSet) -> Iterator[Parse[NodeSet]]:
    """Yield `[whose] supervisor is X`: a noun that names edges."""
    for unit in context.units.edges.get(place, ()):
        relation = next(noun_had(context, nodes, unit, NodeSet()), None)
        if relation is None:
            continue
        for described in _own_clause(context, unit.last, relation.target):
            cut = next(noun_had(context, nodes, unit, described.value), None)
            if cut is not None:
                yield joined(cut, described.last, described.cost)
        denied = context.starts(unit.last, "is not", "are not", "was not", "were not")
        for other in context.nodes(denied) if denied is not None else ():
            cut = next(noun_had(context, nodes, unit, other.value), None)
            if cut is not None and other.value.named:
                yield joined(cut, other.last, other.cost, is_denied=True)


def _own_clause(context: Context, place: int, nodes: NodeSet) -> Iterator[Parse[NodeSet]]:
    """Yield what a clause says of its own subject: `is X`, `is in Y`, `treats Z`, `took place at X`."""
    yield from context.modifiers(place, nodes)
    begin = context.skip(place, WORDS["auxiliaries"])
    begin = context.skip(context.end_of(begin, "adverbial") or begin, WORDS["all prepositions"])
    for named in context.nodes(begin):
        if named.value.named:
            yield named
    for objects in objects_at(context, begin):
        rows = tuple(row for member in objects.value.members for row in member.nodes.named)
        if objects.value.any and len(objects.value.members) > 1 and all(m.nodes.named for m in objects.value.members):
            yield Parse(objects.last, NodeSet(conditions=(Among(rows),)), objects.cost)


# =========================================================================================================== possession
# What nodes have: `with no X`, `has more than 5 X`, `with a capacity over 50`, `without a website`.

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


# =========================================================================================================== likenesses
# What nodes have as another one has it: `the same brewery as Duvel`, `more beers than X`, `shares a style with X`.

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
