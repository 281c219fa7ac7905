"""Verbs with what they lead to: `treat X and Y`, `brewed by X`, `treats the most diseases`, `in Belgium`."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import replace
from functools import partial
from typing import NamedTuple, TypeAlias

from orienteer.reading.comparisons import compared, compared_twice, count, is_age, openings, superlatives_at
from orienteer.reading.edges import (
    all_joined,
    any_of,
    are_single,
    as_rows,
    complain_of_many,
    condition,
    contrary,
    denied,
    joined,
    joined_together,
    measured,
    most,
    rows_done,
)
from orienteer.reading.nouns import heads_at, names_at, noun_had
from orienteer.reading.objects import Objects, objects_at
from orienteer.reading.properties import any_value, dated_property, kind_behind, properties_named, values_at
from orienteer.reading.query import Best, Comparison, Condition, Extent, Joined, Measure, NodeSet
from orienteer.reading.relations import Relation, Voice
from orienteer.reading.rules import Context, Found, Parse, Phrases, Rule, part, rules
from orienteer.reading.units import LIGHT_FIT, SYNONYM, EdgeUnit, KindVerb, ValueUnit
from orienteer.reading.vocabulary import ENGLISH, WORDS

# ============================================================================================================= rankings
# What nodes are ranked by: `treats the most diseases`, `with the highest fee`, `do the most packages depend on`.

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
        for counted in context.described(head):  # "genes", "genes that cause X", "genes they have"
            last = context.starts(counted.last, "count", "they have", "it has") or counted.last
            for relation in context.relations.direct(nodes, "with", counted.value):
                yield measured(relation, last, counted.cost)
        yield from _things_done(context, head, nodes)
    for relation, last, are_edges in _nouns_counted(context, begin, nodes):
        yield measured(relation, last, 0.1, are_edges=are_edges)


def _related_kinds(context: Context, place: int, nodes: NodeSet) -> Iterator[Parse[Measure]]:
    """Yield `associated genes`."""
    for unit in context.units.edges.get(place, ()):
        for head in heads_at(context, unit.last):
            for relation in noun_had(context, nodes, unit, head.value):
                yield measured(relation, head.last, head.cost)


def _nouns_counted(context: Context, place: int, nodes: NodeSet) -> Iterator[tuple[Relation, int, bool]]:
    """Yield the relations that nouns for edges name, where the noun ends, and whether it counts the edges: `goals`."""
    for unit in context.units.edges.get(place, ()):
        for relation in noun_had(context, nodes, unit, NodeSet()):
            yield relation, unit.last, context.relations.are_rows(relation.kinds, context.at(unit.last - 1))


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
@part
def most_done(context: Context, place: int, nodes: NodeSet, action: Action) -> Phrases:
    """Read `[treats] the most diseases`, `[depends on] the fewest packages`, `[treats] more X than any other`."""
    verb, frame, begin = action.lone, action.frame, context.skip(place)
    is_most, counts = context.at(begin) in ENGLISH.most, _most_counted(context, begin)
    if verb is None or counts is None or nodes.best is not None:
        return
    is_more, begin = counts
    for noun in rows_done(context, begin, nodes, verb, frame):
        yield most(noun.value, noun.last, noun.cost, descending=is_more, are_edges=True)
    heads = heads_at(context, begin)
    counted = [further for head in heads for further in context.described(head)]
    if not heads and not any(unit.fit > LIGHT_FIT for unit in context.units.edges.get(begin, ())):
        counted = [Parse(begin, NodeSet(), 0.2)]  # "acted in the most reviewed films" counts those, or none
    for head in counted:
        last = head.last if is_most else _than_others(context, head.last)
        if last is not None:
            for relation in context.relations.named(nodes, verb.edges, frame, head.value):
                yield most(relation, last, head.cost, descending=is_more)


def _most_counted(context: Context, place: int, *numbers: str) -> tuple[bool, int] | None:
    """Return whether `most`, `fewer`, `the highest number of` asks for more, and where what it counts begins.

    None where nothing is counted: "the largest ship" is one, and no number of ships.
    """
    word = context.at(place)
    number = context.starts(place + 1, "number of", "count of", *numbers)
    is_more = ENGLISH.most.get(word, ENGLISH.more.get(word))
    return (
        None if is_more is None or not (number or word in WORDS["counting things"]) else (is_more, number or place + 1)
    )


def _than_others(context: Context, place: int) -> int | None:
    """Return where `than any other company` ends; None where nothing is compared with all others."""
    others = [f"than {other}" for key in ("all others", "anyone else") for other in ENGLISH.phrases[key]]
    last = context.starts(place, *others)
    return None if last is None else context.skip(kind_behind(context, last), ("does", "has", "did", "do", "is"))


@part
def most_doers(context: Context, place: int, nodes: NodeSet) -> Phrases:
    """Read `[do] the most packages depend on`, `[do] most genes that X binds participate in`."""
    begin = context.skip(place)
    counts = _most_counted(context, begin)
    if counts is None or context.at(begin) not in ENGLISH.most or nodes.best is not None:
        return
    is_more, begin = counts
    for counted in [further for head in heads_at(context, begin) for further in context.described(head)]:
        for unit in context.units.edges.get(context.skip(counted.last, WORDS["auxiliaries"]), ()):
            last = unit.last + (context.at(unit.last) in WORDS["all prepositions"])
            for relation in context.relations.named(nodes, unit.edges, Voice.OBJECT, counted.value):
                yield most(relation, last, counted.cost, descending=is_more)


def most_had(context: Context, place: int, nodes: NodeSet) -> Phrases:
    """Yield `[with] the most X`, `[has] the highest PROPERTY`, `[with] the largest number of X`."""
    begin = context.skip(place)
    word = context.at(begin)
    if nodes.best is not None:
        return
    yield from _property_had(context, begin, nodes)
    if word in ENGLISH.more and word not in ENGLISH.most:  # "more ships than any other company"
        for measure in measures_at(context, begin + 1, nodes):
            last = _than_others(context, measure.last)
            if last is not None:
                yield _ranked(context, nodes, measure._replace(last=last), descending=ENGLISH.more[word])
        return
    counts = _most_counted(context, begin, "amount of")
    if counts is None:
        return
    is_more, begin = counts
    for measure in _related_kinds(context, begin, nodes):
        yield _ranked(context, nodes, measure, descending=is_more)
    for head in heads_at(context, begin):
        yield from _most_things_had(context, head, nodes, descending=is_more)
        yield from _most_things_behind(context, head, nodes, descending=is_more)
    for relation, last, are_edges in _nouns_counted(context, begin, nodes):
        yield most(relation, last, 0.1, descending=is_more, are_edges=are_edges)


def _ranked(context: Context, nodes: NodeSet, measure: Parse[Measure], *, descending: bool) -> Parse[NodeSet]:
    """Return the nodes with the most of a measure, of those that may have it."""
    able = context.relations.able(nodes, measure.value)
    return Parse(measure.last, replace(able, best=Best(measure.value, descending)), measure.cost)


@part
def most_in(context: Context, place: int, nodes: NodeSet) -> Phrases:
    """Read `in the most orders`, `part of the most teams`: the only edge between them is meant."""
    begin = context.skip(context.end_of(place, "part of") or place)
    is_more = ENGLISH.most.get(context.at(begin))
    if begin == place or nodes.best is not None or context.at(begin) not in WORDS["counting things"]:
        return
    if is_more is None or context.at(begin - 1) == "at":  # "at least one" is no superlative
        return
    for head in heads_at(context, begin + 1):
        yield from _most_things_had(context, head, nodes, descending=is_more)


@part
def most_bare(context: Context, place: int, nodes: NodeSet) -> Phrases:
    """Read `[department] most vehicles`: words for a search, without a verb, at the end."""
    if context.at(place) in ENGLISH.most and nodes.types:
        for parse in most_had(context, place, nodes):
            if context.is_over(parse.last):  # "pathway most genes that are ... participate in" counts those
                yield parse._replace(cost=parse.cost + 0.2)


def _property_had(context: Context, place: int, nodes: NodeSet) -> Phrases:
    """Yield `[with the] highest PROPERTY`, `[with the] oldest PROPERTY`."""
    meant = next((parse.value[0] for parse in superlatives_at(context, place)), None)
    is_more = ENGLISH.most.get(context.at(place), None if meant is None else meant.ascending)
    if is_more is None:
        return
    begin = context.starts(place + 1, "number of", "count of", "amount of", "total of") or place + 1
    for facts, last, cost in properties_named(context, begin, nodes):
        if facts.is_measured:  # "the biggest stadium" is no text
            is_turned = meant is not None and meant.is_age and is_age(context, facts)  # the oldest age is the highest
            best = Best(Measure(property=facts.name), is_more != is_turned)
            yield Parse(last, replace(nodes, best=best), cost)


def _most_things_had(context: Context, head: Parse[NodeSet], nodes: NodeSet, *, descending: bool) -> Phrases:
    """Yield `the most genes`, `the most genes that cause X`."""
    for counted in context.described(head):
        relation = next(context.relations.direct(nodes, "with", counted.value), None)
        if relation is not None:
            yield most(relation, counted.last, counted.cost - 0.1, descending=descending)
        else:
            complain_of_many(context, nodes, counted.value, counted.last)


def _most_things_behind(context: Context, head: Parse[NodeSet], nodes: NodeSet, *, descending: bool) -> Phrases:
    """Yield `the most genes participating in it`, `the most diseases associated with them`, `the most X brewed`."""
    begin = context.skip(head.last, WORDS["auxiliaries"] | WORDS["relative"])
    for unit in context.units.edges.get(begin, ()):
        last = context.skip(context.skip(unit.last, WORDS["all prepositions"]), WORDS["them"])
        frame = Voice.PASSIVE_OBJECT if context.at(unit.last) == "by" else Voice.OBJECT
        for relation in context.relations.named(nodes, unit.edges, frame, head.value):
            yield most(relation, last, head.cost, descending=descending)


# ================================================================================================================ verbs
# Verbs with what they lead to: `treat X and Y`, `brewed by X`, `treat or palliate X`, `bind more than 8 genes`.

_MOST_VERBS = 4  # that commas join, before the last
_FRAMES = {"by": Voice.PASSIVE, "of": Voice.NOUN_OF}


class Verbs(NamedTuple):
    """One verb, or several that `or` or `and` joins."""

    units: tuple[EdgeUnit, ...]
    last: int
    are_any: bool = False


class Action(NamedTuple):
    """Verbs with their preposition: where what they lead to begins, and how they are said."""

    verbs: Verbs
    begin: int
    frame: Voice
    is_strict: bool
    """Only as who does it to whom."""

    @property
    def lone(self) -> EdgeUnit | None:
        """Return the verb; None where there are several, of which no rule may take one and leave the others."""
        return self.verbs.units[0] if len(self.verbs.units) == 1 else None


@part
def edges_named(context: Context, place: int) -> Iterator[Parse[Verbs]]:
    """Read verbs or nouns for edges: `treat`, `treat or palliate`."""
    for unit in context.units.edges.get(place, ()):
        is_said_of = context.at(place - 1) in WORDS["be"] | {"a", "an", "the", "be", "been", "as"}
        if not is_said_of and context.relations.labels.is_agent(unit, context.at(unit.last - 1)):
            continue
        yield Parse(unit.last, Verbs((unit,), unit.last), 0.0)
        yield from _verbs_behind(context, (unit,))


def _verbs_behind(context: Context, units: tuple[EdgeUnit, ...]) -> Iterator[Parse[Verbs]]:
    """Yield verbs with those that follow: `[wrote] and directed`, `[wrote], directed or produced`."""
    begin = context.skip(units[-1].last, WORDS["all prepositions"])
    joint = context.starts(begin, "or", "and")
    for other in context.units.edges.get(context.skip(joint or begin, WORDS["auxiliaries"]), ()):
        if joint is not None:
            yield Parse(other.last, Verbs((*units, other), other.last, context.at(joint - 1) == "or"), 0.0)
        elif context.is_behind_comma(begin) and len(units) < _MOST_VERBS:
            yield from _verbs_behind(context, (*units, other))


@part
def deed(context: Context, place: int, nodes: NodeSet) -> Phrases:
    """Read `[have never] ordered`, `gave nothing`, `planted anything`: with no thing that stands for the deed."""
    for unit in context.units.edges.get(place, ()):
        if not isinstance(unit.edges, KindVerb) or not unit.edges.deeds:
            continue
        last = context.end_of(unit.last, "anything")
        nothing = context.end_of(unit.last, "nothing")
        for relation in context.relations.direct(nodes, "with", NodeSet(unit.edges.deeds)):
            if nothing or last or context.is_over(unit.last):
                yield joined(relation, nothing or last or unit.last, 0.1, is_denied=nothing is not None)


@part
def done(context: Context, nodes: NodeSet, action: Action) -> Phrases:
    """Read nothing: nodes `[that were never] exhibited`, by anybody, or to which it was done."""
    verbs = action.verbs
    is_passive = context.at(verbs.units[0].first - 1) in WORDS["be"] | {"been", "being", "never", "not"}
    participle = context.at(verbs.last - 1)
    is_lone = action.lone is not None and context.is_over(verbs.last)
    if is_passive and participle.endswith(("ed", "en", "wn", "ung")) and is_lone:
        for relation in context.relations.named(nodes, verbs.units[0].edges, Voice.PASSIVE, NodeSet()):
            yield joined(relation, verbs.last, 0.2)


@part
def event_noun(context: Context, place: int, nodes: NodeSet, action: Action) -> Iterator[Parse[Relation]]:
    """Read `goals` behind `scored`: the noun for what a verb does."""
    return rows_done(context, place, nodes, action.lone, action.frame) if action.lone is not None else iter(())


@part
def led_to(context: Context, place: int, nodes: NodeSet, action: Action, objects: Objects) -> Phrases:
    """Read nothing: the nodes that verbs join to things; no `prize winning films`, which are no prizes."""
    first, last = action.verbs.units[0].first, action.verbs.last
    is_singular = context.units.types.get(first - 1) and not context.at(first - 1).endswith("s")
    plurals = (unit for unit in context.units.types.get(last, ()) if context.at(unit.last - 1).endswith("s"))
    if is_singular and context.at(last - 1).endswith("ing") and any(plurals):
        return iter(())
    things = Parse(place, objects, 0.0)
    return verb_joined(context, nodes, action.verbs, action.frame, things, is_strict=action.is_strict)


@part
def the_same(context: Context, place: int) -> int | None:
    """Read `the same` before a singular, which nothing is compared with: no `same film as X`."""
    last = context.end_of(place, "one and the same")
    heads = heads_at(context, last) if last is not None else []
    is_one = any(not context.at(head.last - 1).endswith("s") and context.at(head.last) != "as" for head in heads)
    return last if is_one else None


@part
def both_led_to(context: Context, place: int, nodes: NodeSet, action: Action, head: NodeSet) -> Phrases:
    """Read what is said of one thing that two verbs lead to: `wrote and directed the same film [released in 1990]`."""
    verbs, named = action.verbs, context.relations.named
    if len(verbs.units) < 2 or verbs.are_any or head.named or not head.types:
        return
    for target in context.described(Parse(place, head, 0.0)):
        ways = [
            next(named(nodes, unit.edges, action.frame, target.value, is_strict=True), None) for unit in verbs.units
        ]
        if any(isinstance(said, Joined) and said.where for said in target.value.conditions):
            continue  # "reviewed and directed the same film with a rating over 90": who rated it?
        relations = [way for way in ways if way is not None and not way.target.is_between]
        kinds = [kind for relation in relations for kind in relation.kinds]
        if len(relations) < len(ways) or len(set(kinds)) < len(kinds):
            continue
        *others, one = relations
        if all(other.nodes.types == one.nodes.types for other in others):
            said = Joined(one.kinds, one.target, also=tuple(other.kinds for other in others))
            yield Parse(target.last, one.nodes.that(said), target.cost + sum(way.cost for way in relations))


def _so_many(context: Context, place: int, event_noun: Relation, count: tuple[Comparison, float]) -> NodeSet:
    return as_rows(context, joined(event_noun, place, amount=count)).value


VERBS = rules(
    "verbs",
    Rule("members who never ordered", "deed"),
    Rule("paintings that were never exhibited", "action done"),
    Rule("compounds that treat the most diseases", "action most_done"),
    Rule("players who scored more than 2 goals", "action count event_noun", _so_many),
    Rule("players who scored a goal", "action - event_noun", lambda event_noun: event_noun.joined),
    Rule(
        "players who scored no goals",
        "action <no> - event_noun",
        lambda event_noun: event_noun.nodes.that(condition(event_noun, is_denied=True)),
    ),
    Rule("people who wrote and directed the same film", "-<both> action the_same head both_led_to"),
    Rule("beers brewed by X and Y", "action objects led_to"),
)


@part
def neither_verb(context: Context, place: int, nodes: NodeSet, first: Action, second: Action, found: Found) -> Phrases:
    """Read nothing: the nodes that two verbs join to none of the same things: `neither lent by nor sold to X`."""
    objects = found["objects"]
    # "neither treated nor healed by X" share their preposition
    frame = second.frame if first.begin == first.verbs.last else first.frame
    for one in verb_joined(context, nodes, first.verbs, frame, objects._replace(cost=0.0)):
        for both in verb_joined(context, one.value, second.verbs, second.frame, objects):
            new = both.value.conditions[len(nodes.conditions) :]
            denials = [one_denied for said in new for one_denied in contrary((said,))]
            yield Parse(place, nodes.that(*denials), one.cost + both.cost)


@part
def action(context: Context, place: int) -> list[Parse[Action]]:
    """Read verbs with their prepositions."""
    return context.once(("action", place), lambda: [Parse(one.begin, one, 0.0) for one in _actions(context, place)])


def _actions(context: Context, place: int) -> Iterator[Action]:
    for _, all_verbs, _ in edges_named(context, place):
        begin = all_verbs.last
        while is_particle(context, begin, all_verbs) and not any((*count(context, begin), *openings(context, begin))):
            begin += 1  # "over 5", "as many as X" are no prepositions
        preposition = context.at(all_verbs.last) if begin > all_verbs.last else _behind_both(context, begin)
        verbs = fitting(context, all_verbs, preposition)
        if verbs is not None:
            frame = _FRAMES.get(preposition, Voice.SUBJECT)
            labels = context.relations.labels
            if preposition == "of" and all(labels.is_agent(one, context.at(one.last - 1)) for one in verbs.units):
                frame = Voice.SUBJECT  # "a pupil of X" studies under X
            if preposition == "for" and context.at(all_verbs.last - 1) in ("required", "needed", "necessary"):
                frame = Voice.PASSIVE  # what is required for X is what X requires
            is_passive = preposition == "" and context.at(place - 1) in WORDS["be"]  # "are brewed there"
            if is_passive or (begin > all_verbs.last and context.at(begin - 1) == "by"):  # "depended on by"
                frame = Voice.PASSIVE
            yield Action(verbs, begin, frame, is_strict=preposition in ("", "by"))


def is_particle(context: Context, place: int, verbs: Verbs) -> bool:
    """Return whether a word behind verbs is a preposition, or a word of their label: `named after`."""
    word = context.at(place)
    if word in WORDS["all prepositions"]:
        return True
    edges = [edge for unit in verbs.units for edge in unit.edges]
    return word in WORDS["particles"] and word in context.relations.labels.words(edges)


def _behind_both(context: Context, place: int) -> str:
    """Return the preposition of `brewed neither by X nor by Y`; empty where there is none."""
    behind = context.starts(place, "neither", "either", "both", "not")
    word = context.at(behind) if behind is not None else ""
    return word if word in WORDS["all prepositions"] - {"of"} else ""


def fitting(context: Context, verbs: Verbs, preposition: str) -> Verbs | None:
    """Return verbs with the edge types that their preposition may belong to; None where one of them has none.

    Nobody works *for* what they work in.
    """
    if preposition not in WORDS["telling"] and preposition != "by":
        return verbs
    units = []
    for unit in verbs.units:
        edges = [
            edge
            for edge, fit in unit.edges.items()
            if _may_follow(context, edge, preposition) or (preposition in ("to", "under") and fit <= SYNONYM)
        ]
        if not edges:
            return None
        units.append(unit.cut(edges))
    return verbs._replace(units=tuple(units))


def _may_follow(context: Context, edge: int, preposition: str) -> bool:
    """Return whether a preposition is of an edge type's label, or the label has none of its own."""
    words = context.relations.labels.words([edge])
    if preposition == "by":
        return "to" not in words  # "sold by" is not `sold_to`
    if preposition == "to" and "by" in words:
        return False  # nor is "lent to" `lent_by`
    return preposition in words or not words & (WORDS["all prepositions"] - {"by"})


def verb_joined(
    context: Context, nodes: NodeSet, verbs: Verbs, frame: Voice, objects: Parse[Objects], *, is_strict: bool = False
) -> Phrases:
    """Yield the set of those that verbs join to the things of a list; nothing where they cannot."""
    conditions: list[Condition] = []
    cost = 0.0
    for member in objects.value.members:
        options: list[Joined] = []
        member_cost = 0.0
        for verb in verbs.units:
            relation = next(context.relations.named(nodes, verb.edges, frame, member.nodes, is_strict=is_strict), None)
            if relation is None or (relation.target.is_between and objects.value.both):
                return
            if not nodes.named:
                nodes = replace(nodes, types=relation.nodes.types)
            options.append(condition(relation, is_denied=member.negated, amount=objects.value.amount))
            member_cost = relation.cost
        conditions += (any_of(options),) if verbs.are_any else options
        cost += member_cost
    if objects.value.both and len(conditions) > 1 and are_single(context, conditions):
        return  # museums with "works by both X and Y": no work is by both
    together = joined_together(context, objects.value, conditions)
    yield Parse(objects.last, nodes.that(*together), objects.cost + cost)


def so_or_denied(parses: Iterable[Parse[NodeSet]], before: NodeSet, *, is_denied: bool) -> Phrases:
    """Yield sets; where `is_denied`, with the contrary of what was said last, if it can be denied."""
    for parse in parses:
        value = denied(parse.value, before) if is_denied else parse.value
        if value is not None:
            yield parse._replace(value=value)


# ============================================================================================================== extents
# All of a set, or nothing beside it: `support every paradigm that X supports`, `treat only migraine`.


Relate: TypeAlias = Callable[[NodeSet], Iterable[Relation]]
Extents: TypeAlias = tuple[Extent, ...]
_EXTENTS: Mapping[str, Extents] = {
    "every one": ("every",),
    "only those": ("only",),
    "exactly those": ("every", "only"),
}
"""By keys of phrases, how much of a set is meant."""


@part
def by_verb(context: Context, place: int, nodes: NodeSet, action: Action) -> Parse[Relate] | None:
    """Read nothing: what finds the relation of a set to others that a verb says, with a `by` behind `only` too."""
    if action.lone is None:
        return None
    is_by = any(context.at(said.last) == "by" for said in extent(context, place))  # "depended on only by"
    frame, is_strict = (Voice.PASSIVE, True) if is_by else (action.frame, action.is_strict)
    return Parse(place, partial(context.relations.named, nodes, action.lone.edges, frame, is_strict=is_strict), 0.0)


@part
def by_having(context: Context, place: int, nodes: NodeSet) -> Parse[Relate]:
    """Read nothing: what finds the relation of a set to what it has."""
    return Parse(place, partial(context.relations.unnamed, nodes, "with"), 0.0)


@part
def by_place(context: Context, place: int, nodes: NodeSet) -> Parse[Relate] | None:
    """Read a preposition: what finds the relation that it says."""
    word = context.at(place)
    if word not in WORDS["all prepositions"] or word in WORDS["having"] or word in WORDS["sharing"]:
        return None
    return Parse(place + 1, partial(context.relations.unnamed, nodes, word), 0.0)


@part
def extent(context: Context, place: int) -> Iterator[Parse[Extents]]:
    """Read `every`, `only`, `exactly the`: how much of a set is meant. `All their X` is nothing beside it."""
    for key, extents in _EXTENTS.items():
        begin = context.end_of(place, key)
        if begin is not None and begin not in context.units.quantities:
            theirs = context.starts(begin, "their", "its") if extents == ("every",) else None
            yield Parse(begin, extents, 0.0) if theirs is None else Parse(theirs, ("only",), 0.0)


@part
def covering(context: Context, place: int, relate: Relate, extent: Extents, target: NodeSet) -> Phrases:
    """Read nothing: the nodes that a relation leads from to all of a set, or to nothing else.

    Nothing where no node has two such neighbours: nothing is in every one of several.
    """
    is_described = not target.named and target.best is None
    for relation in relate(target):
        if relation.target.is_between:
            continue  # all of what?
        if "every" in extent and (not is_described or context.relations.is_single(relation.kinds)):
            continue
        if extent == ("every", "only") and not target.conditions:
            continue
        conditions = (Joined(relation.kinds, relation.target, extent=one) for one in extent)
        yield Parse(place, relation.nodes.that(*conditions), relation.cost + 0.05)


rules(
    "extent_said",
    Rule("", "action relate=by_verb extent -<all prepositions> target=nodes covering"),
    Rule("", "<having> relate=by_having extent target=nodes covering"),
    Rule("", "relate=by_place extent target=nodes covering"),
)


# =============================================================================================================== places
# Prepositions without a verb, and names without either: `in Belgium`, `for asthma or migraine`, `telescopes X`.


@part
def lying(context: Context, place: int, nodes: NodeSet) -> Phrases:
    """Read `lies in Ardony`, `outside Ardony`: of a property or by edges."""
    begin = context.skip(place, WORDS["lying"])
    word, begin = context.at(begin), context.skip(begin + 1, ("of", "the"))
    is_denied = word == "outside"
    for unit, owners in values_at(context, begin, nodes) if word in ("outside", "in", "within") else ():
        if _is_past(unit) and not is_denied:
            continue  # where things are is no edge, and not where they began
        yield from so_or_denied(any_value(context, unit, owners, unit.cost + 0.1), owners, is_denied=is_denied)
    for objects in objects_at(context, begin) if is_denied else ():
        others = all_joined(context, nodes, objects, _related_by(context, "in"), is_denied=True)
        if others is not None and objects.value.amount is None:
            yield others


def _related_by(
    context: Context, preposition: str, frame: Voice = Voice.SUBJECT
) -> Callable[[NodeSet, NodeSet], Relation | None]:
    """Return what finds the relation of a set to another that a preposition says."""
    return lambda nodes, target: next(context.relations.unnamed(nodes, preposition, target, frame), None)


@part
def preposition(context: Context, place: int) -> Parse[str] | None:
    """Read `in`, `for`, `of the`, and no `by` behind a participle, of which it is the doer."""
    word = context.at(place)
    is_behind_participle = word == "by" and context.at(place - 1).endswith("ed")
    if word not in WORDS["all prepositions"] or word in WORDS["saying more"] or is_behind_participle:
        return None
    return Parse(context.skip(place, WORDS["all prepositions"]), word, 0.0)


@part
def at_things(
    context: Context, place: int, nodes: NodeSet, preposition: str, objects: Objects
) -> Parse[NodeSet] | None:
    """Read nothing: the nodes that a preposition joins to things."""
    if objects.amount is not None and preposition not in WORDS["before counted"]:
        return None
    frame = Voice.PASSIVE if preposition == "by" else Voice.SUBJECT
    return all_joined(context, nodes, Parse(place, objects, 0.0), _related_by(context, preposition, frame))


@part
def value_there(context: Context, place: int, nodes: NodeSet, preposition: str) -> Phrases:
    """Read `[in] Ardony`: a value of a property that tells a place."""
    for unit, owners in values_at(context, context.skip(place), nodes):
        if preposition not in WORDS["within"] or not _is_past(unit):
            yield from any_value(context, unit, owners, unit.cost + 0.1)


@part
def dated_place(context: Context, place: int, nodes: NodeSet) -> Phrases:
    """Read `in 1990`, `before 1800`, of the only property that says when something was."""
    facts = dated_property(context, nodes)
    word = context.at(place)
    is_said = word in WORDS["all prepositions"] and word not in WORDS["saying more"] and word not in WORDS["of sizes"]
    if facts is not None and not nodes.conditions and is_said:
        for parse in (*compared(context, place, facts, default=None), *compared_twice(context, place, facts)):
            yield Parse(parse.last, nodes.that(*parse.value), parse.cost + 0.2)


PLACES = rules(
    "whereabouts",
    Rule("harbours that lie in X", "lying"),
    Rule("beers from X or Y", "preposition objects at_things"),
    Rule("beers of colour X", "preposition own_property"),
    Rule("harbours in X", "preposition value_there"),
    Rule("films in 1990", "dated_place"),
    Rule("regions in X", "<in places> one inside_it"),
)


def _is_past(unit: ValueUnit) -> bool:
    """Return whether a property says where a thing began, and not where it is: `birth_town`."""
    return not WORDS["ages"].isdisjoint(unit.property.casefold().split("_"))


@part
def name_beside(context: Context, place: int, nodes: NodeSet) -> Phrases:
    """Read `[telescopes] Plainwater`: a name right behind a kind that it is not of."""
    is_denied = context.at(place) == "not" and context.reading.words[place].after_comma
    if place == 0 or not nodes.types or (nodes.conditions and not is_denied):
        return
    before = context.at(place - 1)
    if before in WORDS["all prepositions"] or before in ("has", "have", "had"):
        return  # "drugs for X": the preposition says by which edges
    if context.at(place) in WORDS["determiners"] or context.at(place) in WORDS["all prepositions"]:
        return
    for named in names_at(context, place + is_denied):
        if before in WORDS["do"] and context.end_of(named.last, "have or make") is None:
            continue  # "matches did X score in": the verb says by which
        if not context.relations.types_of(named.value) & nodes.types:
            for relation in context.relations.direct(nodes, "", named.value):
                yield joined(relation, named.last, named.cost + 0.1, is_denied=is_denied)
