"""What two things are compared by: `taller than Y`, `more Z than Y`, and which of two names it is."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import NamedTuple

from orienteer.reading.comparisons import compared_by, stated_by
from orienteer.reading.forms import Grade
from orienteer.reading.objects import one
from orienteer.reading.properties import properties_named
from orienteer.reading.query import Among, Best, ExactQuery, Measure, NodeSet
from orienteer.reading.relations import Voice
from orienteer.reading.rules import Context, Found, Parse, Phrases, Rule, part, rules
from orienteer.reading.units import EdgeUnit
from orienteer.reading.vocabulary import ENGLISH, WORDS

_FAR = 0.3  # what a part of a name costs more than a whole name of the same words
_ORDER = {"first": False, "earlier": False, "last": True, "later": True, "earliest": False, "latest": True}
"""By word that follows `born`, whether later is meant."""


# --------------------------------------------------------------------------------------- contrasts: more of it than Y


class Contrast(NamedTuple):
    """What things are compared by, and whether more of it is asked for."""

    measure: Measure
    is_more: bool


@part
def graded(context: Context, place: int, grade: Grade, nodes: NodeSet) -> Parse[Contrast] | None:
    """Read nothing: the property of the nodes that an adjective compares."""
    facts = compared_by(context, grade.adjective, nodes, grade.place)
    return None if facts is None else Parse(place, Contrast(Measure(property=facts.name), grade.is_descending), 0.0)


@part
def more(context: Context, place: int) -> Parse[bool] | None:
    """Read `more`, `fewer`."""
    return Parse(place + 1, ENGLISH.more[context.at(place)], 0.0) if context.at(place) in ENGLISH.more else None


@part
def longer(context: Context, place: int) -> Parse[bool] | None:
    """Read `longer` before the name of a property."""
    word = context.at(place)
    is_said = word in ENGLISH.comparatives and word not in ENGLISH.more
    return Parse(place + 1, ENGLISH.comparatives[word].ascending, 0.0) if is_said else None


@part
def order(context: Context, place: int) -> Parse[bool] | None:
    """Read `first`, `later`."""
    return Parse(place + 1, _ORDER[context.at(place)], 0.0) if context.at(place) in _ORDER else None


@part
def reached(context: Context, place: int, nodes: NodeSet, verb: EdgeUnit, head: NodeSet) -> Iterator[Parse[Measure]]:
    """Read nothing: how many of a kind a verb leads to from nodes."""
    frame = Voice.PASSIVE if context.at(verb.last) == "by" else Voice.SUBJECT
    for relation in context.relations.named(nodes, verb.edges, frame, head):
        yield Parse(place, relation.measure, relation.cost)


def _compared(context: Context, nodes: NodeSet, other: NodeSet, contrast: Contrast) -> ExactQuery | None:
    ours, theirs = (context.relations.able(those, contrast.measure) for those in (nodes, other))
    if not ours.named or not theirs.named:
        return None
    return ExactQuery("compare", ours, contrast.measure, theirs, contrast.is_more)


_MORE = rules(
    "more_of",
    Rule("has more Z", "-<have a> more ranked", lambda ranked, more: Contrast(ranked, more)),
    Rule("has the longer runtime", "-<have a> longer measured", lambda measured, longer: Contrast(measured, longer)),
    Rule("treats more Z", "verb -<verb preposition> more head reached", lambda reached, more: Contrast(reached, more)),
)
rules(
    "more_than",
    Rule("[is X] taller than Y", "-<asking> grade 'than' contrast=graded other=one", _compared),
    Rule("[does X] have more Z than Y", "-<asking> contrast=more_of -<it> 'than' other=one ['does']", _compared),
)


# -------------------------------------------------------------------------------------- pairs: which of two names it is


class _Ahead(NamedTuple):
    """Two names that stand behind what compares them."""

    begin: int
    last: int


@part
def likeliest(context: Context, place: int) -> list[Parse[NodeSet]]:
    """Read a name; none of which the words are a part, where others are so called.

    "Which is older, Duvel or Rodenbach?" asks for the brewery, and for none of the beers that begin so.
    """
    named = one(context, place)
    least = {parse.last: parse.cost for parse in sorted(named, key=lambda parse: -parse.cost)}
    return [parse for parse in named if parse.cost < least[parse.last] + _FAR]


def _both(context: Context, first: NodeSet, second: NodeSet) -> NodeSet | None:
    """Return the nodes of two names, of the types that both have."""
    types = context.relations.types_of(first) & context.relations.types_of(second)
    rows = tuple(sorted({row for one in (first, second) for row in context.relations.cut(one, types).named}))
    return NodeSet(conditions=(Among(rows),)) if rows else None


_PAIR = rules("pair", Rule("X or Y", "<either of>* first=likeliest 'or' second=likeliest", _both))


@part
def which(context: Context, place: int) -> int:
    """Read `which of the two`, or the verb of `do X or Y weigh more`."""
    is_verb = context.at(place) in WORDS["asking"]
    return place + 1 if is_verb else context.end_of(place, "which of two") or place


@part
def ahead(context: Context, place: int) -> Iterator[Parse[_Ahead]]:
    """Read nothing: where two names stand that end the question."""
    for middle in range(place + 1, context.end):
        for last in {pair.last for pair in _PAIR(context, middle, {})}:
            if context.is_over(last):
                yield Parse(place, _Ahead(middle, last), 0.0)


@part
def pair_ahead(context: Context, place: int, ahead: _Ahead) -> Phrases:
    """Read nothing: the nodes of the two names that stand ahead."""
    for pair in _PAIR(context, ahead.begin, {}):
        if pair.last == ahead.last:
            yield pair._replace(last=place)


@part
def behind_ahead(context: Context, place: int, ahead: _Ahead) -> int | None:
    """Read on to the end of the names that stand ahead."""
    return ahead.last if context.skip(place, WORDS["before pair"]) == ahead.begin else None


@part
def ends(context: Context, place: int, found: Found) -> bool:
    """Read nothing where what compares two names ends: where they begin, or where the question ends."""
    if "ahead" in found:
        return behind_ahead(context, place, found["ahead"].value) is not None
    return "asking" in found or context.is_over(place)


@part
def stated_more(context: Context, place: int, nodes: NodeSet) -> Iterator[Parse[Contrast]]:
    """Read `earns more`, `weighs the most`."""
    is_more = {**ENGLISH.more, **ENGLISH.most}.get(context.at(place + 1))
    if is_more is not None:
        for verb in ENGLISH.stating:
            facts = stated_by(context, verb, nodes) if context.at(place) in (verb, f"{verb}s") else None
            if facts is not None:
                yield Parse(place + 2, Contrast(Measure(property=facts.name), is_more), 0.0)


@part
def by_or_graded(context: Context, place: int, grade: Grade, nodes: NodeSet) -> Iterator[Parse[Contrast]]:
    """Read `by capacity`, or nothing: what `the larger of` compares."""
    by = context.end_of(place, "by property")
    named = properties_named(context, by, nodes) if by is not None else ()
    choices = [(facts, last) for facts, last, _ in named if facts.kind != "text"]
    for facts, last in choices:
        yield Parse(last, Contrast(Measure(property=facts.name), grade.is_descending), 0.0)
    if not choices and (parse := graded(context, place, grade, nodes)) is not None:
        yield parse


def _more_of(context: Context, nodes: NodeSet, contrast: Contrast) -> ExactQuery:
    able = context.relations.able(nodes, contrast.measure)
    return ExactQuery("list", replace(able, best=Best(contrast.measure, contrast.is_more, 1)))


def _more_of_both(context: Context, nodes: NodeSet, second: NodeSet, contrast: Contrast) -> ExactQuery | None:
    both = _both(context, nodes, second)
    return None if both is None else _more_of(context, both, contrast)


rules(
    "contrast",
    Rule("taller", "- grade=grade|superlative ['one'] ends graded => graded"),
    Rule("earns more", "- stated_more => stated_more"),
    Rule("was born first", "- measured order", lambda measured, order: Contrast(measured, order)),
    _MORE,
    Rule("has the most Z", "-<have the> most ranked", lambda ranked, most: Contrast(ranked, most)),
)
rules(
    "pairs",
    Rule("X or Y: which is taller", "which nodes=pair -<behind pair> contrast over", _more_of),
    Rule(
        "does X weigh more, or Y", "asking=<asking> nodes=likeliest contrast 'or' second=likeliest over", _more_of_both
    ),
    Rule(
        "the longer of X and Y",
        "begin='listing'*|which - grade ['one'] 'of the two' ['the'] kind=0|kind nodes=pair contrast=by_or_graded",
        _more_of,
    ),
    Rule("which is taller, X or Y", "which ['one is'] ahead nodes=pair_ahead contrast behind_ahead", _more_of),
    Rule(
        "which tower is taller, X or Y",
        "which head -<is> ahead nodes=pair_ahead contrast behind_ahead",
        _more_of,
    ),
)
