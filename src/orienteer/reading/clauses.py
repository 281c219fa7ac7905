"""What is said of nodes behind their noun: `that treat X`, `brewed by Y`, `with more than 5 Z`, `but not W`, `in V`."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import NamedTuple

from orienteer.reading.context import Context, Parse, best
from orienteer.reading.edge_labels import Voice
from orienteer.reading.edges_said import edge_said, lone_edge, value_said
from orienteer.reading.extents import extent_said
from orienteer.reading.joints import contrary, denied
from orienteer.reading.kin import kin_had
from orienteer.reading.lexicon import PropertyFacts
from orienteer.reading.likenesses import likeness_said, likeness_whose
from orienteer.reading.membership import excepted, membership_said
from orienteer.reading.objects import Object as Object, Objects as Objects
from orienteer.reading.places import name_beside, place_said
from orienteer.reading.possession import counted_had, had_said, role_said, things_had
from orienteer.reading.properties import NamedProperty, property_said
from orienteer.reading.query import Condition, Either, Filled, Joined, NodeSet, Valued
from orienteer.reading.rankings import most_bare, most_in
from orienteer.reading.subjects import subject_said
from orienteer.reading.texts_said import text_said
from orienteer.reading.traits import trait_said
from orienteer.reading.verbs import neither_verb, verb_said
from orienteer.reading.vocabulary import ENGLISH, WORDS
from orienteer.reading.whose import whose_said
from orienteer.text.english import IRREGULAR
from orienteer.text.tokenizer import singulars

_MOST_MODIFIERS = 5
_MOST_PARSES = 4  # of one end that are followed
_CLAUSE_WORDS = WORDS["relative"] | WORDS["auxiliaries"] | WORDS["all prepositions"] | WORDS["denials"]
"""What begins another clause, as a noun does not."""
_FAR = 0.05  # cost


class Described(NamedTuple):
    """A set with what was said of it so far."""

    parse: Parse[NodeSet]
    before: int
    """How many conditions it had before the last thing that was said."""
    noun: int
    """Where its noun ends."""


class Core(NamedTuple):
    """Where the words of a clause begin that say something, and whether they are denied."""

    place: int
    is_denied: bool


# ------------------------------------------------------------------------------------------------- all that is said
def all_said(context: Context, head: Parse[NodeSet]) -> list[Parse[NodeSet]]:
    """Return a set with nothing, some or all that is said of it behind its noun."""
    results = [head]
    front = [Described(head, len(head.value.conditions), head.last)]
    for _ in range(_MOST_MODIFIERS):
        further: list[Described] = []
        for described in front:
            if context.is_exhausted():
                break
            further += _and_more(context, described)
            further += _or_else(context, described)
        front = _likeliest(further)
        if not front:
            break
        results += [described.parse for described in front]
    return best(results)


def _and_more(context: Context, described: Described) -> Iterator[Described]:
    """Yield a set with one more thing said of it: `that treat X` and `and cause Y`."""
    last, nodes, cost = described.parse
    begin = context.starts(
        last, *(ENGLISH.phrases["and of clauses"] if _has_said(described) else ENGLISH.phrases["asides"])
    )
    if begin is not None and _is_bare_behind_denial(context, begin, described):
        return  # "neither games nor fonts and libs" may mean either
    if begin is not None and not _agrees(context, described.noun, begin):
        return  # "ships of a company that is based in X and were built in Y": the ships were
    # "operators of observatories in Kelmar": without a word between them, what is nearest is spoken of
    far = _FAR if begin is None and nodes.conditions and context.at(last) in WORDS["all prepositions"] else 0.0
    if begin is None and nodes.conditions and not _is_behind_comma(context, last):
        far = _FAR  # "students enrolled in courses taught by X": the courses are
    if begin is None and context.depth > 1 and context.at(last) in WORDS["finite"]:
        far = _FAR  # "which parts of cars are parts of bicycles" says it of the parts
    is_far = begin is None and _has_said(described) and _leads_to_kind(nodes)
    is_far = is_far and context.at(last) in WORDS["of the nearest"]
    for modified in _further(context, last if begin is None else begin, nodes, nodes):
        if is_far and _says_where(modified.value, nodes):
            continue  # "climbed peaks in X": the peaks are there, and nobody is born there
        value = modified.value
        if begin is None and _goes_on_denying(context, described, value):  # "not red, green or blue" is none of them
            new = contrary(value.conditions[len(nodes.conditions) :])
            value = replace(value, conditions=(*nodes.conditions, *new))
        parse = Parse(modified.last, value, cost + modified.cost + far)
        yield Described(parse, len(nodes.conditions), described.noun)


def _agrees(context: Context, noun: int, place: int) -> bool:
    """Return whether a noun that ends before a place and the verb behind `and` are of one number, if both tell it."""
    kinds = (unit for at in range(max(0, noun - 3), noun) for unit in context.units.types.get(at, ()))
    word = context.at(noun - 1)
    if not any(unit.last == noun for unit in kinds):
        return True
    is_plural = word in IRREGULAR or (word.endswith("s") and len(singulars(word)) > 1)
    verb = context.at(context.skip(place, WORDS["relative"]))
    return verb not in WORDS["singular verbs" if is_plural else "plural verbs"]


def _goes_on_denying(context: Context, described: Described, value: NodeSet) -> bool:
    """Return whether bare values behind a comma go on with a list of which the first was denied."""
    nodes = described.parse.value
    said, new = nodes.conditions[described.before :], value.conditions[len(nodes.conditions) :]
    is_denied = bool(said) and all(isinstance(one, Valued) and one.negated for one in said)
    options = [one for c in new for option in (c.options if isinstance(c, Either) else ((c,),)) for one in option]
    same = {one.property if isinstance(one, Valued) else None for one in (*said, *options)}
    return is_denied and bool(new) and len(same) == 1 and _is_behind_comma(context, described.parse.last)


def _is_behind_comma(context: Context, place: int) -> bool:
    return place < context.end and context.reading.words[place].after_comma


def _is_bare_behind_denial(context: Context, place: int, described: Described) -> bool:
    """Return whether a name or a value alone is joined to what is denied: `outside Ardony and Drusk`."""
    units, begin = context.units, context.skip(place)
    said = described.parse.value.conditions[described.before :]
    is_bare = bool(units.values.get(begin) or units.names.get(begin)) and not units.edges.get(begin)
    return is_bare and bool(said) and all(condition.negated for condition in said)


def _further(context: Context, place: int, nodes: NodeSet, spoken_of: NodeSet) -> list[Parse[NodeSet]]:
    """Return a set with one more thing said of it, in which `it` and `there` stand for what was named last."""
    if WORDS["spoken of"].isdisjoint(context.words[place:]):
        return one_said(context, place, nodes)
    before = context.antecedent
    targets = [condition.target for condition in spoken_of.conditions if isinstance(condition, Joined)]
    context.antecedent = targets[-1] if targets and targets[-1].named else before
    modified = one_said(context, place, nodes)
    context.antecedent = before
    return modified


def _or_else(context: Context, described: Described) -> Iterator[Described]:
    """Yield a set with another thing that may be so instead of the last: `that treat X` and `or cause Y`."""
    (last, nodes, cost), before, noun = described
    begin = context.end_of(last, "or of clauses")
    said = nodes.conditions[before:]
    if begin is None or nodes.best is not None or not said or not _agrees(context, noun, begin):
        return
    base = replace(nodes, conditions=nodes.conditions[:before])
    is_denied = all(condition.negated for condition in said)
    goes_on = context.at(last + 1) not in WORDS["auxiliaries"] | WORDS["relative"] | WORDS["denials"]
    for modified in _further(context, begin, base, nodes):
        other = modified.value.conditions[before:]
        if not other or modified.value.best is not None:
            continue
        if len(other) > 1 and context.at(begin) not in _CLAUSE_WORDS:
            continue  # "mages or knights are immortal" says it of both
        conditions: tuple[Condition, ...] = (Either((said, other)),)
        if is_denied and goes_on:  # "not X or Y" denies both
            if not _are_of_one_kind((*said, *other)):
                continue
            conditions = (*said, *contrary(other))
        either = replace(base, types=modified.value.types).that(*conditions)
        yield Described(Parse(modified.last, either, cost + modified.cost), before, noun)


def property_valued(context: Context, facts: PropertyFacts, place: int, nodes: NodeSet) -> Iterator[Parse[NodeSet]]:
    """Yield the nodes of a set with what is said here of a property that was named before."""
    begin = context.starts(place, "made of", "made out of", "made from") or place
    yield from property_said(context, NamedProperty(facts, begin, 0.0), nodes)


def had_by_name(context: Context, owner: Parse[NodeSet], nodes: NodeSet) -> Iterator[Parse[NodeSet]]:
    """Yield the nodes of a set that a named one has."""
    for relation in context.relations.unnamed(nodes, "of", owner.value, Voice.NOUN_OF):
        yield Parse(owner.last, relation.joined, relation.cost)


def had_by(context: Context, owners: Parse[Objects], nodes: Parse[NodeSet]) -> Iterator[Parse[NodeSet]]:
    """Yield the nodes of a set that things have."""
    for parse in things_had(context, owners, nodes.value):
        yield parse._replace(cost=parse.cost + nodes.cost)


# ------------------------------------------------------------------------------------------------------ one clause
def one_said(context: Context, place: int, nodes: NodeSet) -> list[Parse[NodeSet]]:
    """Return a set with one thing said of it that begins here."""
    if place >= context.end or context.is_exhausted():
        return []
    key = ("said", place, nodes, tuple(context.referents), context.antecedent)
    return context.once(key, lambda: best(_all_modifiers(context, place, nodes)))


def _all_modifiers(context: Context, place: int, nodes: NodeSet) -> Iterator[Parse[NodeSet]]:
    """Yield `but not X`, `whose height is 5 m`, `[that] are not brewed by X`, `by which X is suggested`."""
    yield from excepted(context, place, nodes)
    yield from _neither(context, place, nodes)
    yield from whose_said(context, place, nodes)
    if context.at(place) == "whose":
        yield from likeness_whose(context, place + 1, nodes)
    begin = place
    if context.at(begin) in WORDS["all prepositions"] and context.at(begin + 1) in ("which", "whom", "whose"):
        begin += 1
    begin = context.skip(begin, WORDS["relative"])
    if context.at(begin - 2) == "by" and begin - 2 >= place:  # "by which X is suggested"
        yield from subject_said(context, begin, nodes, Voice.PASSIVE_OBJECT)
        return
    yield from edge_said(context, place, nodes)
    yield from text_said(context, place, nodes)
    for core in dict.fromkeys(_cores(context, begin)):
        for parse in _said(context, core.place, nodes):
            value = denied(parse.value, nodes) if core.is_denied else parse.value
            if value is not None:
                yield parse._replace(value=value)


def _neither(context: Context, place: int, nodes: NodeSet) -> Iterator[Parse[NodeSet]]:
    """Yield `[are] neither lent by X nor sold to Y`, `neither treated nor palliated by any X`."""
    begin = context.starts(context.skip(context.skip(place, WORDS["relative"]), WORDS["auxiliaries"]), "neither")
    if begin is None:
        return
    for first in context.modifiers(begin, nodes):
        nor = context.starts(first.last, "nor")
        for second in context.modifiers(nor, nodes) if nor is not None else ():
            denials = [denied(parse.value, nodes) for parse in (first, second)]
            if None not in denials:
                new = (one.conditions[len(nodes.conditions) :] for one in denials if one is not None)
                conditions = tuple(condition for some in new for condition in some)
                yield Parse(second.last, nodes.that(*conditions), first.cost + second.cost)
    yield from neither_verb(context, begin, nodes)


def _cores(context: Context, place: int) -> Iterator[Core]:
    """Yield what may be left out: auxiliaries with a denial, phrases between them and a verb, an article."""
    begin, is_denied = place, False
    having: list[Core] = []
    while context.at(begin) in WORDS["auxiliaries"] | WORDS["denials"]:
        if context.at(begin) in WORDS["having"] or context.at(begin) == "without":
            having.append(Core(begin, is_denied))
            if context.at(begin) not in WORDS["auxiliaries"]:
                break
        if context.at(begin) in WORDS["denials"]:
            is_denied = not is_denied
        begin += 1
    if context.at(begin - 1) not in ("have", "has", "had") or not context.at(begin).endswith("s"):
        yield Core(begin, is_denied)  # who "has mentors" mentors nobody
    yield from having
    finding = context.end_of(place, "finding")
    if finding is not None:
        yield Core(finding, False)
    if context.at(begin) == "there" and context.at(begin - 1) in WORDS["be"]:  # "which beers are there in X"
        yield Core(begin + 1, is_denied)
    adverb = _adverb(context, place, begin)
    if adverb is not None:
        yield Core(adverb, is_denied)
    article = context.end_of(begin, "articles of nouns")
    nouns = context.units.edges.get(article, ()) if article is not None else ()
    if article is not None and any(context.at(noun.last) in WORDS["all prepositions"] for noun in nouns):
        yield Core(article, is_denied)  # "the owner of X"; "the home port of X" is a port


def _adverb(context: Context, place: int, begin: int) -> int | None:
    """Return where words end that stand between an auxiliary and its verb; None where there are none."""
    adverb = context.end_of(begin, "adverbial")
    if adverb is None and (begin == place or context.at(begin - 1) in WORDS["be"] | {"be", "been"}):
        # who "used to work" somewhere does so no longer; what is "used to treat" something does it
        adverb = context.starts(begin, "used to") if context.at(begin - 1) not in WORDS["relative"] else None
    if adverb is None and context.at(begin) == "used" and context.at(begin + 1) in WORDS["behind used"]:
        return begin + 1
    return adverb


def _said(context: Context, place: int, nodes: NodeSet) -> Iterator[Parse[NodeSet]]:
    """Yield what the words of a clause say, by every rule there is."""
    yield from verb_said(context, place, nodes)
    yield from lone_edge(context, place, nodes)
    yield from value_said(context, place, nodes)
    yield from kin_had(context, place, nodes)
    yield from text_said(context, place, nodes)
    yield from subject_said(context, place, nodes)
    yield from had_said(context, place, nodes)
    yield from place_said(context, place, nodes)
    yield from trait_said(context, place, nodes)
    yield from name_beside(context, place, nodes)
    yield from membership_said(context, place, nodes)
    yield from likeness_said(context, place, nodes)
    yield from extent_said(context, place, nodes)
    yield from most_in(context, place, nodes)
    yield from most_bare(context, place, nodes)
    yield from role_said(context, place, nodes)
    yield from counted_had(context, place, nodes)


def _has_said(described: Described) -> bool:
    """Return whether something was said of a set already, which `and` goes on with."""
    nodes = described.parse.value
    return len(nodes.conditions) > described.before or nodes.best is not None


def _leads_to_kind(nodes: NodeSet) -> bool:
    """Return whether what was said last leads to things that are not named, of which more may be said."""
    best = nodes.best.measure.target if nodes.best is not None else None
    last = nodes.conditions[-1] if nodes.conditions else None
    target = best or (last.target if isinstance(last, Joined) else None)
    return target is not None and not target.named and not target.conditions


def _says_where(modified: NodeSet, nodes: NodeSet) -> bool:
    """Return whether a set has one more condition than another, which may tell a place: over an edge, or by a text."""
    last = modified.conditions[-1] if len(modified.conditions) > len(nodes.conditions) else None
    return isinstance(last, Joined) or (isinstance(last, Valued) and isinstance(last.value, str))


def _are_of_one_kind(conditions: Sequence[Condition]) -> bool:
    """Return whether all conditions are of one relation, or of one property."""
    kinds = {
        condition.kinds if isinstance(condition, Joined) else condition.property
        for condition in conditions
        if isinstance(condition, Joined | Valued | Filled)
    }
    return len(kinds) == 1 and all(isinstance(condition, Joined | Valued | Filled) for condition in conditions)


def _likeliest(described: Sequence[Described]) -> list[Described]:
    """Return the likeliest of the sets, each meaning once, a few for each end."""
    by_meaning: dict[tuple[int, NodeSet], Described] = {}
    for item in described:
        key = (item.parse.last, item.parse.value)
        if key not in by_meaning or item.parse.cost < by_meaning[key].parse.cost:
            by_meaning[key] = item
    ends: dict[int, int] = {}
    likeliest = []
    for item in sorted(by_meaning.values(), key=lambda item: item.parse.cost):
        ends[item.parse.last] = ends.get(item.parse.last, 0) + 1
        if ends[item.parse.last] <= _MOST_PARSES:
            likeliest.append(item)
    return likeliest
