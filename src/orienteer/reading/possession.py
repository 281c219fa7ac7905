"""What nodes have: `with no X`, `whose height is over 5 m`, `the same brewery as Duvel`, `more beers than X`."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace
from functools import partial

from orienteer.reading.comparisons import (
    Opening,
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
from orienteer.reading.edges import all_joined, as_rows, complain_of_many, contrary, joined
from orienteer.reading.nouns import heads_at, noun_had
from orienteer.reading.objects import Objects, objects_at
from orienteer.reading.properties import AVERAGES, properties_named, property_said
from orienteer.reading.query import Among, Best, Comparison, Filled, Joined, Measure, NodeSet, Told, Valued
from orienteer.reading.relations import Relation, Voice, turned
from orienteer.reading.rules import Context, Found, Parse, Phrases, Rule, part, rules
from orienteer.reading.units import LIGHT_FIT, EdgeUnit
from orienteer.reading.verbs import Action, Extents, Relate, Verbs, measures_at, most_had, so_or_denied, verb_joined
from orienteer.reading.vocabulary import ENGLISH, WORDS

# ================================================================================================================ whose
# Clauses about what nodes have: `whose height is over 5 m`, `whose brewery is in Belgium`, `whose supervisor is X`.


@part
def unknown(context: Context, place: int, nodes: NodeSet, found: Found) -> Phrases:
    """Read the name of a property: the nodes that have none, or that have one `without an unknown` one."""
    is_lacked = "having_word" not in found or not found["having_word"].value
    for facts, last, cost in properties_named(context, place, nodes):
        yield Parse(last, nodes.that(Filled(facts.name, is_lacked)), cost)


WHOSE = rules(
    "whose it is",
    Rule("harbours for which we have no depth", "-<auxiliaries> 'we lack' ['figures'] unknown"),
    Rule("pathways whose number of genes is 5", "'whose value' measure_told"),
    Rule("towers whose height is over 5 m", "'whose value' own_property"),
    Rule("beers whose brewery is in X", "'whose value' whose_kind"),
    Rule("people whose supervisor is X", "'whose value' whose_noun"),
    Rule("beers whose brewery is the same as that of X", "<whose> likeness_whose"),
)


@part
def measure_told(context: Context, place: int, nodes: NodeSet) -> Phrases:
    """Read `[whose] number of genes is 5`, `[whose] height is the largest`."""
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


@part
def whose_kind(context: Context, place: int, nodes: NodeSet) -> Phrases:
    """Read `[whose] brewery is in Belgium`: a kind of things that one relation leads to."""
    for head in heads_at(context, place):
        relation = next(context.relations.unnamed(nodes, "", head.value, Voice.HAS_NOUN), None)
        if relation is None:
            complain_of_many(context, nodes, head.value, place)
            continue
        for described in _own_clause(context, head.last, relation.target):
            is_one = bool(context.relations.types_of(described.value) & context.relations.types_of(relation.target))
            if described.value.best is None and is_one:
                had = joined(relation._replace(target=described.value), described.last, head.cost + described.cost)
                yield _of_all(context, place, had)


@part
def whose_noun(context: Context, place: int, nodes: NodeSet) -> Phrases:
    """Read `[whose] supervisor is X`, `[whose] every dependency is in X`: a noun that names edges."""
    for unit in context.units.edges.get(context.end_of(place, "every one") or place, ()):
        for relation in noun_had(context, nodes, unit, NodeSet()):
            is_not = context.starts(unit.last, "is not", "are not", "was not", "were not")
            others = [other for other in context.nodes(is_not) if other.value.named] if is_not is not None else []
            said = [(parse, False) for parse in _own_clause(context, unit.last, relation.target)]
            for target, is_denied in (*said, *((other, True) for other in others)):
                for cut in noun_had(context, nodes, unit, target.value):
                    had = joined(cut, target.last, target.cost, is_denied=is_denied)
                    yield had if is_denied else _of_all(context, place, had)


def _of_all(context: Context, place: int, had: Parse[NodeSet]) -> Parse[NodeSet]:
    """Return what was said of what nodes have, of all of it behind `[whose] every`, `[have] all their`."""
    *others, last = had.value.conditions
    if context.end_of(place, "every one") is None or not isinstance(last, Joined):
        return had
    return had._replace(value=replace(had.value, conditions=(*others, replace(last, extent="only"))))


def _own_clause(context: Context, place: int, nodes: NodeSet) -> Phrases:
    """Yield what a clause says of its own subject: `is X`, `is in Y`, `treats Z`, `took place at X`."""
    yield from context.modifiers(place, nodes)
    begin = context.skip(place, WORDS["auxiliaries"])
    begin += context.at(begin) in WORDS["containing"] and not context.units.edges.get(begin)  # "include X"
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


@part
def having_word(context: Context, place: int) -> Parse[bool] | None:
    """Read `with`, `has no`, `without`, `contains`: whether it is denied that something is had."""
    word = context.at(place)
    contains = word in WORDS["containing"] and not context.units.edges.get(place)
    if word not in WORDS["having"] | WORDS["lacking"] and not contains:
        return None
    is_twice = context.at(place + 1) in ("no", "not", "neither")
    return Parse(place + 1 + is_twice, (word in WORDS["lacking"]) != is_twice, 0.0)


@part
def things_had_here(
    context: Context, place: int, nodes: NodeSet, having_word: bool, objects: Objects, found: Found
) -> Phrases:
    """Read nothing, or `as a side effect`: the nodes that have things."""
    word = context.at(found["0"].last)
    if word in ("has", "have", "had") and context.at(place).endswith("ed") and context.units.edges.get(place):
        return  # "has X planted anything" says nothing of what X has
    yield from things_had(context, Parse(place, objects, 0.0), nodes, is_denied=having_word)


@part
def most_of_them(context: Context, place: int, nodes: NodeSet, having_word: bool) -> Phrases:
    """Read `the most X`, `the highest PROPERTY`."""
    return iter(()) if having_word else most_had(context, place, nodes)


HAVING = rules(
    "possessions",
    Rule("ships with a capacity over 50", "having_word property_had"),
    Rule("ships with over 40 berths", "having_word -<determiners> amount_had"),
    Rule("ships with a maximum height of 49 m", "having_word limit_had"),
    Rule("companies with the most ships", "having_word most_of_them"),
    Rule("companies with more than 5 ships", "0 having_word objects things_had_here"),
    Rule("words with X as a part meronym", "having_word objects 'as a noun' [kind] verb had_as"),
    Rule("packages with more than 3 dependencies", "having_word count nouns_had"),
    Rule("people with a supervisor", "having_word - nouns_had"),
    Rule("harbours with no ship calling there", "having_word head -<auxiliaries> -<relative> verb things_doing"),
    Rule("harbours with 3 ships calling there", "having_word count head -<auxiliaries> -<relative> verb things_doing"),
    Rule("ships with an unknown capacity", "having_word 'an unknown' unknown"),
    Rule("films with a rating over 90", "having_word edge_value_had"),
)


# -------------------------------------------------------------------------------------------------- properties
@part
def property_had(context: Context, place: int, nodes: NodeSet, having_word: bool) -> Phrases:
    """Read `a website`, `a capacity over 50`."""
    is_denied, begin = having_word, context.skip(place, WORDS["determiners"] | WORDS["recorded"])
    properties = context.lexicon.graph.arrays.properties
    for named in properties_named(context, begin, nodes):
        if named.facts.kind == "boolean":  # "with a scholarship" of `has_scholarship`
            is_so = Valued(named.facts.name, "=", named.facts.true, is_denied)
            yield Parse(named.last, nodes.that(is_so), named.cost + 0.05)
            continue
        numbers = properties.numbers(named.facts.name, properties.rows(named.facts.name))
        if is_denied and named.facts.kind == "number" and (numbers == 0).any():
            context.complain(named.last, f"{named.facts.name} that is 0, or not known? say which")
            continue
        yield Parse(named.last, nodes.that(Filled(named.facts.name, is_denied)), named.cost + 0.1)
        yield from property_said(context, named, nodes, is_denied=is_denied)


@part
def amount_had(context: Context, place: int, nodes: NodeSet, having_word: bool) -> Phrases:
    """Read `over 100 employees`, `between 20 and 40 berths`."""
    is_denied = having_word
    exactly: Parse[Comparison] = Parse(place, "=", 0.1)
    for comparison in (*sign(context, place), exactly):
        amount = context.units.quantities.get(comparison.last)
        if amount is None or amount.unit is not None:
            continue
        for facts, last, cost in properties_named(context, amount.last, nodes):
            if facts.kind == "number":
                parse = Parse(last, nodes, cost)
                end, (meant, number), _ = or_so(context, parse, (comparison.value, amount.value))
                yield Parse(end, nodes.that(Valued(facts.name, meant, number, is_denied)), cost)

    for beyond in sign(context, place) if not is_denied else ():
        yield from _average(context, beyond.last, nodes, beyond.value)
    for facts in properties_of(context, nodes):
        for amounts in compared(context, place, facts, default=None) if facts.kind == "number" else ():
            for named in properties_named(context, amounts.last, nodes):
                if named.facts == facts:  # "between 20 and 40 berths", "40 or more berths"
                    conditions = contrary(amounts.value) if is_denied else amounts.value
                    yield Parse(named.last, nodes.that(*conditions), named.cost + amounts.cost - 0.05)


def _average(context: Context, place: int, nodes: NodeSet, comparison: Comparison) -> Phrases:
    """Yield `[above] average salary`: the average of all of a kind, of which nothing more was said."""
    for form in AVERAGES if not nodes.conditions and nodes.best is None else ():
        last = context.end_of(place, form)
        for facts, end, cost in properties_named(context, last, nodes) if last is not None else ():
            types = context.relations.types_of(nodes) & facts.types
            if facts.is_measured and len(types) == 1:
                told = Told(facts.name, NodeSet(types), form)
                yield Parse(end, nodes.that(Valued(facts.name, comparison, told)), cost)


@part
def limit_had(context: Context, place: int, nodes: NodeSet, having_word: bool) -> Phrases:
    """Read `a minimum height of 49 m`."""
    begin = context.skip(place)
    comparison = _LIMITS.get(context.at(begin))
    for named in properties_named(context, begin + 1, nodes) if comparison is not None and not having_word else ():
        amount = context.units.quantities.get(context.starts(named.last, "of") or named.last)
        if amount is not None and comparison is not None:
            for parse in compared_with(context, place, named.facts, amount, comparison):
                yield Parse(parse.last, nodes.that(*parse.value), named.cost)


# ------------------------------------------------------------------------------------------------------ things
def things_had(context: Context, objects: Parse[Objects], nodes: NodeSet, *, is_denied: bool = False) -> Phrases:
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


@part
def had_as(
    context: Context, place: int, nodes: NodeSet, having_word: bool, verb: EdgeUnit, objects: Objects
) -> Phrases:
    """Read nothing: the nodes of which things are what a noun says."""
    had = verb_joined(context, nodes, Verbs((verb,), place), Voice.HAS_NOUN, Parse(place, objects, 0.0))
    return so_or_denied(had, nodes, is_denied=having_word)


@part
def counted_had(context: Context, place: int, nodes: NodeSet) -> Phrases:
    """Read `[directors] more than 2 films`, `[films no] award`: words for a search, without a verb."""
    is_behind_no = context.at(place - 1) == "no"  # which the clause denies as a whole
    is_of_role = all(isinstance(one, Joined) and not one.target.conditions for one in nodes.conditions)
    if not nodes.types or not (is_behind_no or is_of_role):
        return
    counts = [(amount.last, amount.value) for amount in count(context, place)]
    for begin, amount in (*counts, (context.skip(place), None)) if is_behind_no else ():
        for parse in edge_noun_had(context, begin, nodes, amount):
            yield parse._replace(cost=parse.cost + 0.2)
    for objects in objects_at(context, place):
        is_counted = objects.value.amount is not None and context.is_over(objects.last)
        if is_counted or (is_behind_no and not objects.value.members[0].nodes.named):
            for parse in things_had(context, objects, nodes):
                yield parse._replace(cost=parse.cost + 0.25)


@part
def role_said(context: Context, place: int, nodes: NodeSet) -> Phrases:
    """Read `lead X`, `[by] director X or Y`: a part that somebody plays, right behind a kind."""
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


@part
def nouns_had(context: Context, place: int, nodes: NodeSet, having_word: bool, found: Found) -> Phrases:
    """Read `dependencies`, `hypernym X`, `supervisor`: a noun that names edges, so many times if it was counted."""
    amount, begin = found["count"].value if "count" in found else None, found["having_word"].last
    is_theirs = context.at(place - 1) in ("their", "its") and not having_word  # "all the dependencies" may be others'
    for had in edge_noun_had(context, place, nodes, amount, is_denied=having_word):
        if is_theirs or context.end_of(begin, "every one") is None:
            yield _of_all(context, begin, had)


def edge_noun_had(
    context: Context,
    place: int,
    nodes: NodeSet,
    amount: tuple[Comparison, float] | None = None,
    *,
    is_denied: bool = False,
) -> Phrases:
    """Yield `dependencies`, `hypernym X`, `supervisor is X`: a noun that names edges, so many times."""
    is_done = context.at(place).endswith("ed") and context.at(place + 1) in WORDS["all prepositions"]
    if is_done and context.at(place - 1) in ("have", "has", "had"):
        return  # who "has worked with X" has no work
    for unit in context.units.edges.get(place, ()):
        for relation in noun_had(context, nodes, unit, NodeSet()):
            had = joined(relation, unit.last, 0.1, is_denied=is_denied, amount=amount)
            yield as_rows(context, had) if amount is not None else had
            for target in context.described(Parse(unit.last, relation.target, 0.1)):
                if target.last > unit.last and not _is_of_many(context, place, target):
                    for cut in noun_had(context, nodes, unit, target.value):
                        yield joined(cut, target.last, target.cost, is_denied=is_denied, amount=amount)
        for target in context.nodes(context.skip(unit.last, WORDS["all prepositions"] | {"is", "are"})):
            for relation in noun_had(context, nodes, unit, target.value):
                yield joined(relation, target.last, target.cost, is_denied=is_denied, amount=amount)


def _is_of_many(context: Context, place: int, target: Parse[NodeSet]) -> bool:
    """Return whether words for one thing run on into what is said of several: `a mentor in X and are tall`."""
    words = context.words[place : target.last]
    is_one = context.at(place - 1) in ("a", "an", "one")
    runs_on = any(words[at] == "and" and words[at + 1] in WORDS["of many"] for at in range(len(words) - 1))
    return target.value.best is not None or (is_one and runs_on)


@part
def things_doing(
    context: Context, place: int, nodes: NodeSet, having_word: bool, head: NodeSet, verb: EdgeUnit, found: Found
) -> Phrases:
    """Read `there` of `more than 8 ships calling there`, `no ship calling there`, or nothing."""
    amount = found["count"].value if "count" in found else None
    last = context.skip(context.skip(place, WORDS["all prepositions"]), ("it", "them", "there"))
    frame = Voice.PASSIVE_OBJECT if context.at(place) == "by" else Voice.OBJECT
    if having_word or amount is not None:
        for relation in context.relations.named(nodes, verb.edges, frame, head):
            yield joined(relation, last, is_denied=having_word, amount=amount)


# =========================================================================================================== likenesses
# What nodes have as another one has it: `the same brewery as Duvel`, `more beers than X`, `shares a style with X`.

_SAME: Mapping[str, Extents] = {
    "same whole": ("every", "only"),
    "same every": ("every",),
    "same some": ("some",),
    "same plain": (),
}
"""By keys of phrases, how much is the same: all of it and nothing else, or some; nothing says it of `plain` ones."""
_SHARED: Mapping[str, Extents] = {**_SAME, "one of it": ("some",)}


@part
def alone(found: Found) -> bool:
    """Read nothing, unless the question is of two nodes, of which the second is what the first is compared with."""
    return "partner" not in found


@part
def alike_word(context: Context, place: int, nodes: NodeSet) -> Parse[bool] | None:
    """Read `has`, `with`, `shares`, or nothing before `same` in words for a search: whether something is shared."""
    word = context.at(place)
    if word in WORDS["having"] or word in WORDS["sharing"]:
        return Parse(place + 1, word in WORDS["sharing"], 0.0)
    return Parse(place, False, 0.0) if word == "same" and nodes.types else None


@part
def both_have(context: Context, place: int, found: Found) -> Parse[bool] | None:
    """Read `have`, of two that have something in common."""
    return Parse(place + 1, True, 0.0) if "partner" in found and context.at(place) in WORDS["having"] else None


def _is_shared(found: Found) -> bool:
    return "alike_word" in found and found["alike_word"].value


@part
def sameness(context: Context, place: int, found: Found) -> Parse[Extents] | None:
    """Read `the same`, `exactly the same`; of those that begin alike, the longest."""
    sames = _SHARED if _is_shared(found) else _SAME
    ends = [(end, extents) for key, extents in sames.items() for end in context.ends_of(place, key)]
    if ends:
        return Parse(*max(ends, key=lambda item: item[0]), 0.0)
    return Parse(place, ("some",), 0.0) if _is_shared(found) else None


part(openings)  # `more`, `as many`, before what another has more of


@part
def owner_shared(context: Context, place: int, nodes: NodeSet, alike_word: bool) -> Phrases:
    """Read `[share] X's home town`."""
    for other in another(context, place, context.relations.types_of(nodes)) if alike_word else ():
        if context.possessive(other.last) is None and context.at(other.last - 1) != "s":
            continue
        for named in properties_named(context, other.last, nodes):
            if conditions := valued_as(context, named.facts, other.value):
                yield Parse(named.last, nodes.that(*conditions), named.cost + other.cost + 0.1)
        for thing in _things_had(context, other.last, nodes):
            alike = _as_another(thing.value, other, ("some",))
            yield Parse(thing.last, alike.value, alike.cost + thing.cost)


@part
def likeness_whose(context: Context, place: int, nodes: NodeSet) -> Phrases:
    """Read `[whose] brewery is the same as that of X`, `[whose] universities are those of X`."""
    for last, relation, _ in _things_had(context, place, nodes, Voice.HAS_NOUN):
        begin = context.skip(last, WORDS["be"])
        same = context.end_of(begin, "equal") if begin > last else None
        for other in another(context, same, context.relations.types_of(relation.nodes)) if same is not None else ():
            yield _as_another(relation, other, _by_number(context, last))


def _things_had(
    context: Context, place: int, nodes: NodeSet, frame: Voice = Voice.SUBJECT
) -> Iterator[Parse[Relation]]:
    """Yield the relations of nodes to what they have: things of a kind, `brewery`, or of a noun for edges."""
    for unit in context.units.edges.get(place, ()):
        for relation in noun_had(context, nodes, unit, NodeSet()):
            yield Parse(unit.last, relation, 0.0)
    for head in heads_at(context, place):
        for relation in context.relations.unnamed(nodes, "with", head.value, frame) if not head.value.named else ():
            yield Parse(head.last, relation, head.cost)


@part
def same_year(context: Context, place: int, nodes: NodeSet, partner: int) -> Phrases:
    """Read `born in the same year`."""
    for named in properties_named(context, place, nodes):
        last = context.starts(named.last, "in the same year", "the same year")
        conditions = of_same_year(context, named.facts, partner) if last is not None else ()
        if conditions and last is not None:
            yield Parse(last, nodes.that(*conditions), named.cost)


# -------------------------------------------------------------------------------------------------- the same things
@part
def same_things(context: Context, place: int, found: Found, sameness: Extents, relate: Relate) -> Phrases:
    """Read `brewery as X`, `paradigms as X`: a kind of things."""
    heads = list(heads_at(context, place)) if place < context.end else []
    if context.at(place) in WORDS["some place"] and not heads:
        heads.append(Parse(place + 1, NodeSet(), 0.1))
    for head in heads:
        for relation in relate(head.value) if not head.value.named else ():
            yield from _alike(context, head.last, relation, sameness, found)


@part
def same_noun(context: Context, place: int, nodes: NodeSet, found: Found, sameness: Extents) -> Phrases:
    """Read `supervisor as X`: a noun that names edges."""
    for unit in context.units.edges.get(place, ()):
        for relation in noun_had(context, nodes, unit, NodeSet()):
            yield from _alike(context, unit.last, relation, sameness, found)


def _alike(context: Context, last: int, relation: Relation, sameness: Extents, found: Found) -> Phrases:
    """Yield the nodes of a relation with those things that another one has, behind the word for the things."""
    for other in _others(context, last, relation.nodes, found):
        yield _as_another(relation, other, sameness or _by_number(context, last))


@part
def same_value(context: Context, place: int, nodes: NodeSet, found: Found) -> Phrases:
    """Read `colour as X`: the value of a property."""
    for named in properties_named(context, place, nodes):
        for other in _others(context, named.last, nodes, found):
            if conditions := valued_as(context, named.facts, other.value):
                yield Parse(other.last, nodes.that(*conditions), named.cost + other.cost)


def _others(context: Context, last: int, nodes: NodeSet, found: Found) -> Iterator[Parse[int]]:
    """Yield the node that others are compared with: `as X`; the partner where it was named before."""
    if "partner" in found:
        yield Parse(last, found["partner"].value, 0.0)
        return
    for begin in context.ends_of(last, "shared with" if _is_shared(found) else "same as"):
        yield from another(context, begin, context.relations.types_of(nodes))


def _by_number(context: Context, last: int) -> Extents:
    """Return how much is the same of what words that end here call: all of a plural, and some of a singular."""
    word = context.at(last - 1)
    is_plural = word in WORDS["plurals"] or (word.endswith("s") and not word.endswith(("ss", "us", "is")))
    return ("every", "only") if is_plural else ("some",)


@part
def where_another(context: Context, action: Action, relate: Relate) -> Phrases:
    """Read `[studied] where X studied`, and `[studied] where X studied and nowhere else`."""
    edges = set(action.lone.edges) if action.lone is not None else set[int]()
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
                extents: Extents = ("only",) if only is not None else ("some",)
                alike = _as_another(relation, other, extents if closed is None else ("every", "only"))
                yield Parse(closed or last, alike.value, other.cost)


# ------------------------------------------------------------------------------------------------- as many, or more
@part
def more_things(context: Context, place: int, relate: Relate, opening: Opening, head: NodeSet) -> Phrases:
    """Read `than X` of `[brews] more beers than X`, `[brews] as many beers as X`."""
    for relation in relate(head) if not head.named else ():
        yield from _than_another(context, place, opening, relation.measure, relation.nodes)


@part
def more_had(
    context: Context, place: int, nodes: NodeSet, alike_word: bool, opening: Opening, ranked: Measure
) -> Phrases:
    """Read `than X` of `beers than X`, `salary than X`, `number of beers as X`."""
    if not alike_word:
        yield from _than_another(context, place, opening, ranked, context.relations.able(nodes, ranked))


def _than_another(context: Context, place: int, opening: Opening, measure: Measure, nodes: NodeSet) -> Phrases:
    """Yield the nodes of which a measure compares with that of another."""
    begin = context.starts(place, opening.joint)
    for other in another(context, begin, context.relations.types_of(nodes)) if begin is not None else ():
        if conditions := measured_as(context, measure, opening, other.value):
            yield Parse(other.last, nodes.that(*conditions), other.cost)


LIKENESSES = rules(
    "likenesses",
    Rule("beers brewed by the same brewery as X", "action relate=by_verb sameness same_things"),
    Rule("companies that brew more beers than X", "alone action relate=by_verb opening=openings head more_things"),
    Rule("people who studied where X studied", "alone action relate=by_verb where_another"),
    Rule("beers with the same brewery as X", "alike_word relate=by_having sameness same_things"),
    Rule("people with the same supervisor as X", "alike_word sameness same_noun"),
    Rule("beers with the same colour as X", "alike_word sameness same_value"),
    Rule("companies with more beers than X", "alone alike_word opening=openings ranked more_had"),
    Rule("people who share X's home town", "alone alike_word owner_shared"),
    Rule("beers in the same country as X", "relate=by_place sameness same_things"),
    Rule("beers of the same colour as X", "by_place sameness same_value"),
)
IN_COMMON = rules(
    "in common",
    LIKENESSES,
    Rule(
        "do X and Y have any Z in common",
        "alike_word=both_have relate=by_having sameness what=same_things|same_noun|same_value 'in common' => what",
    ),
    Rule("were X and Y born in the same year", "same_year"),
)


def likeness_of_pair(context: Context, place: int, first: Parse[NodeSet], second: Parse[NodeSet]) -> Phrases:
    """Yield what two have alike: `[do X and Y] share a brewery`, `[are X and Y] in the same country`."""
    rows = context.relations.cut(second.value, context.relations.types_of(first.value)).named
    if len(rows) == 1:
        begin = context.skip(place, WORDS["both or all"])
        for start in range(begin, min(begin + 2, context.end)):
            if start == begin or context.at(begin) in WORDS["be"]:
                found: Found = {"nodes": first._replace(last=start, cost=0.0), "partner": Parse(start, rows[0], 0.0)}
                yield from IN_COMMON(context, start, found)


def _as_another(relation: Relation, other: Parse[int], extents: Extents) -> Parse[NodeSet]:
    """Return the nodes that a relation leads from to what it leads to from another: to all of it, or to some."""
    target = relation.target.that(Joined(turned(relation.kinds), NodeSet(conditions=(Among((other.value,)),))))
    conditions = (Joined(relation.kinds, target, extent=extent) for extent in extents)
    nodes = relation.nodes.that(*conditions, but_not(other.value))
    return Parse(other.last, nodes, other.cost + relation.cost)
