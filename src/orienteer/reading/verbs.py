"""Verbs with what they lead to: `treat X and Y`, `brewed by X`, `treat or palliate X`, `bind more than 8 genes`."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import NamedTuple

from orienteer.reading.comparisons import count
from orienteer.reading.context import Context, Parse
from orienteer.reading.edge_labels import Voice
from orienteer.reading.edge_words import SYNONYM
from orienteer.reading.edges_said import as_rows, rows_done
from orienteer.reading.joints import any_of, are_single, condition, contrary, joined, joined_together
from orienteer.reading.lexicon import EdgeUnit
from orienteer.reading.objects import Objects, objects_at
from orienteer.reading.others import openings
from orienteer.reading.query import Condition, Joined, NodeSet
from orienteer.reading.rankings import most_done
from orienteer.reading.units import KindVerb
from orienteer.reading.vocabulary import WORDS

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


def verbs_at(context: Context, place: int) -> Iterator[Verbs]:
    """Yield the edge types that are named here: `treat`, `treat or palliate`."""
    for unit in context.units.edges.get(place, ()):
        is_said_of = context.at(place - 1) in WORDS["be"] | {"a", "an", "the", "be", "been", "as"}
        if not is_said_of and context.relations.labels.is_agent(unit, context.at(unit.last - 1)):
            continue
        yield Verbs((unit,), unit.last)
        begin = context.skip(unit.last, WORDS["all prepositions"])
        second = context.starts(begin, "or", "and")
        if second is not None:
            for other in context.units.edges.get(context.skip(second, WORDS["auxiliaries"]), ()):
                yield Verbs((unit, other), other.last, context.at(other.first - 1) == "or")


def verb_said(context: Context, place: int, nodes: NodeSet) -> Iterator[Parse[NodeSet]]:
    """Yield `treat X and Y`, `brewed by X`, `treat or palliate X`, `bind the most genes`."""
    yield from _deeds(context, place, nodes)
    for verbs, begin, frame, is_strict in actions_at(context, place):
        yield from _done(context, place, nodes, verbs)
        yield from most_done(context, begin, nodes, verbs.units[0], frame)
        yield from _rows_done(context, begin, nodes, verbs.units[0], frame)
        for objects in objects_at(context, begin):
            yield from verb_joined(context, nodes, verbs, frame, objects, is_strict=is_strict)


def _deeds(context: Context, place: int, nodes: NodeSet) -> Iterator[Parse[NodeSet]]:
    """Yield `[have never] ordered`, `gave nothing`, `planted anything`: with no thing that stands for the deed."""
    for unit in context.units.edges.get(place, ()):
        if not isinstance(unit.edges, KindVerb) or not unit.edges.deeds:
            continue
        last = context.end_of(unit.last, "anything")
        nothing = context.end_of(unit.last, "nothing")
        for relation in context.relations.unnamed(nodes, "with", NodeSet(unit.edges.deeds)):
            if not relation.target.is_between and (nothing or last or context.is_over(unit.last)):
                yield joined(relation, nothing or last or unit.last, 0.1, is_denied=nothing is not None)


def _done(context: Context, place: int, nodes: NodeSet, verbs: Verbs) -> Iterator[Parse[NodeSet]]:
    """Yield `[have never been] exhibited`: done by anybody, or to anything."""
    is_passive = context.at(place - 1) in WORDS["be"] | {"been", "being", "never", "not"}
    participle = context.at(verbs.last - 1)
    if is_passive and participle.endswith(("ed", "en", "wn", "ung")) and context.is_over(verbs.last):
        for relation in context.relations.named(nodes, verbs.units[0].edges, Voice.PASSIVE, NodeSet()):
            yield joined(relation, verbs.last, 0.2)


def _rows_done(context: Context, place: int, nodes: NodeSet, verb: EdgeUnit, frame: Voice) -> Iterator[Parse[NodeSet]]:
    """Yield `[scored] more than 2 goals`, `[scored] a goal`, `[scored] no goals`: a verb, and the noun for it."""
    for amount in count(context, place):
        for noun in rows_done(context, amount.last, nodes, verb, frame):
            yield as_rows(context, joined(noun.value, noun.last, noun.cost, amount=amount.value))
    is_denied = context.at(place) == "no"
    for noun in rows_done(context, context.skip(place + is_denied), nodes, verb, frame):
        yield joined(noun.value, noun.last, noun.cost, is_denied=is_denied)


def neither_verb(context: Context, place: int, nodes: NodeSet) -> Iterator[Parse[NodeSet]]:
    """Yield `[neither] lent by nor sold to X`: two verbs of the same things, both denied."""
    for first in actions_at(context, place):
        nor = context.starts(first.begin, "nor")
        for second in actions_at(context, nor) if nor is not None else ():
            for objects in objects_at(context, second.begin):
                for one in verb_joined(context, nodes, first.verbs, _frame_of_both(context, first, second), objects):
                    for both in verb_joined(context, one.value, second.verbs, second.frame, objects):
                        new = both.value.conditions[len(nodes.conditions) :]
                        denials = [one_denied for said in new for one_denied in contrary((said,))]
                        yield Parse(both.last, nodes.that(*denials), one.cost + both.cost)


def _frame_of_both(context: Context, first: Action, second: Action) -> Voice:
    """Return how a verb is said that shares its preposition with the next: `neither treated nor healed by X`."""
    return second.frame if first.begin == first.verbs.last else first.frame


def actions_at(context: Context, place: int) -> Iterator[Action]:
    """Yield the verbs that begin here with their prepositions."""
    for all_verbs in verbs_at(context, place):
        begin = all_verbs.last
        while is_particle(context, begin, all_verbs) and not _is_amount(context, begin):
            begin += 1
        preposition = context.at(all_verbs.last) if begin > all_verbs.last else _behind_both(context, begin)
        verbs = fitting(context, all_verbs, preposition)
        if verbs is not None:
            frame = _FRAMES.get(preposition, Voice.SUBJECT)
            if preposition == "of" and _are_doers(context, verbs):
                frame = Voice.SUBJECT
            if preposition == "for" and context.at(all_verbs.last - 1) in ("required", "needed", "necessary"):
                frame = Voice.PASSIVE  # what is required for X is what X requires
            is_passive = preposition == "" and context.at(place - 1) in WORDS["be"]  # "are brewed there"
            if is_passive or (begin > all_verbs.last and context.at(begin - 1) == "by"):  # "depended on by"
                frame = Voice.PASSIVE
            yield Action(verbs, begin, frame, is_strict=preposition in ("", "by"))


def _are_doers(context: Context, verbs: Verbs) -> bool:
    """Return whether the words are a noun for whoever does it: "a pupil of X" studies under X."""
    return all(context.relations.labels.is_agent(unit, context.at(unit.last - 1)) for unit in verbs.units)


def is_particle(context: Context, place: int, verbs: Verbs) -> bool:
    """Return whether a word behind verbs is a preposition, or a word of their label: `named after`."""
    word = context.at(place)
    if word in WORDS["all prepositions"]:
        return True
    labels = context.lexicon.vocabulary.edge_labels
    return word in WORDS["particles"] and any(
        word in label.words for unit in verbs.units for edge in unit.edges for label in labels[edge]
    )


def _is_amount(context: Context, place: int) -> bool:
    """Return whether a preposition begins a number of things: `over 5`, `as many as X`."""
    return any(count(context, place)) or any(openings(context, place))


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
    words = {word for label in context.lexicon.vocabulary.edge_labels[edge] for word in label.words}
    if preposition == "by":
        return "to" not in words  # "sold by" is not `sold_to`
    if preposition == "to" and "by" in words:
        return False  # nor is "lent to" `lent_by`
    return preposition in words or not words & (WORDS["all prepositions"] - {"by"})


def verb_joined(
    context: Context, nodes: NodeSet, verbs: Verbs, frame: Voice, objects: Parse[Objects], *, is_strict: bool = False
) -> Iterator[Parse[NodeSet]]:
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
