"""Questions to be answered by yes or no, and which of two names it is: `is X in Y`, `which is taller, X or Y`."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import NamedTuple

from orienteer.reading.clauses import property_valued
from orienteer.reading.comparisons import adjective, compared_by, stated_by
from orienteer.reading.forms import Grade
from orienteer.reading.nouns import names_at
from orienteer.reading.objects import one
from orienteer.reading.possession import likeness_of_pair
from orienteer.reading.properties import properties_named
from orienteer.reading.query import Among, Best, ExactQuery, Form, Measure, NodeSet
from orienteer.reading.relations import Voice
from orienteer.reading.rules import Context, Found, Parse, Phrases, Rule, part, part_of_words, rules
from orienteer.reading.units import EdgeUnit, PropertyFacts
from orienteer.reading.vocabulary import ENGLISH, WORDS

# =============================================================================================================== claims
# Whether something is so: `is X in Y`, `are there X that`, `is X's owner Y`, `are all X stone`.


def _test(nodes: NodeSet) -> ExactQuery:
    return ExactQuery("test", nodes)


@part
def asks(context: Context) -> bool:
    """Read nothing where the text ends as a question, or with `yes or no`."""
    text = context.reading.text.rstrip(" .").casefold()
    return text.endswith(("?", *ENGLISH.phrases["yes or no"]))


@part
def is_claim(context: Context, place: int) -> bool:
    """Read nothing where a question begins and has no word that asks: `X depth over 10 m?`."""
    return place == 0 and asks(context) and WORDS["question words"].isdisjoint(context.words)


# ------------------------------------------------------------------------------------------------ claims about a thing


@part
def is_so(context: Context, place: int, facts: PropertyFacts, name: NodeSet) -> Phrases:
    """Read `over 60,000 euros`: what is said of the property of a name."""
    if facts.types & context.relations.types_of(name):
        yield from property_valued(context, facts, place, name)


@part
def is_single(context: Context, place: int) -> bool:
    """Read nothing where one thing is described: behind `is`, behind `the` of a singular, or `X's designer`."""
    at = context.at(place)
    if at in WORDS["all"]:
        return False
    if at in WORDS["some"] or context.at(place - 1) in WORDS["of one"]:
        return True
    if at in WORDS["the"] and not _is_plural(context.at(place + 1)):
        return True
    owned = (context.possessive(named.last) for named in names_at(context, place))
    return any(place is not None and not _is_plural(context.at(place)) for place in owned)


def _is_plural(word: str) -> bool:
    return word == "people" or (word.endswith("s") and not word.endswith("ss"))


def _identical(context: Context, first: NodeSet, second: NodeSet) -> ExactQuery | None:
    """Return whether a named node is the described one."""
    named, other = (first, second) if first.named else (second, first)
    rows = context.relations.cut(named, context.relations.types_of(other)).named
    is_described = not other.named and bool(other.conditions) and not other.best
    return _test(other.that(Among(rows))) if rows and is_described else None


def _exists(context: Context, nodes: NodeSet, found: Found) -> ExactQuery | None:
    """Return whether there is something so described; of "the designer of X" alone nothing is claimed."""
    is_some = context.at(found["0"].last) in WORDS["some"]
    is_told = len(nodes.conditions) > (0 if is_some else 1) and not nodes.named and not nodes.best
    return _test(nodes) if is_told else None


@part
def greater(context: Context, place: int, facts: PropertyFacts) -> Parse[bool] | None:
    """Read `bigger than`, `over`, `below`: that a property is more than another's, or less."""
    meant = next(iter(adjective(context, place)), None)
    is_more = ENGLISH.more.get(context.at(place), None if meant is None else meant.value[0].ascending == meant.value[1])
    than = context.end_of(place + 1 if meant is None else meant.last, "than")
    if is_more is None or than is None or not facts.is_measured:
        return None
    return Parse(context.end_of(than, "that of") or than, is_more, 0.0)


def _of_property(facts: PropertyFacts, one: NodeSet, other: NodeSet, greater: bool) -> ExactQuery:
    return ExactQuery("compare", one, Measure(property=facts.name), other, greater)


rules(
    "claims",
    Rule("[is] the height of X greater than that of Y", "- facts 'of or for' one greater other=one", _of_property),
    Rule("[is] X's owner Y", "^<be> first=nodes second=nodes ~bare", _identical),
    Rule("[whether] X's owner is Y", "^<that> first=nodes 'be' second=nodes ~bare", _identical),
    Rule(
        "[is] X a lighthouse",
        "^<is of one> named 'a' kind over ~bare",
        lambda named, kind: _test(NodeSet(kind, named.conditions)) if kind else None,
    ),
    Rule("[is] the salary of X over 60,000", "- facts 'of or for' name is_so => test is_so"),
    Rule("[is] X's hull steel", "name possessive facts is_so => test is_so"),
    Rule("[did] the designer of X receive Y", "0 is_single nodes ~bare", _exists),
)


# -------------------------------------------------------------------------------------------------- claims about all


def _of_all(form: Form) -> Callable[[NodeSet, NodeSet], ExactQuery | None]:
    """Return what asks whether all nodes of a set meet what is said last, or most of them, or how many."""

    def asked(some: NodeSet, claimed: NodeSet) -> ExactQuery | None:
        old, new = claimed.conditions[: len(some.conditions)], claimed.conditions[len(some.conditions) :]
        if some.best or claimed.best or old != some.conditions or not new:
            return None
        base = replace(some, types=some.types or claimed.types)
        return ExactQuery(form, base, other=replace(claimed, types=base.types))

    return asked


_every, _share, _majority = _of_all("every"), _of_all("share"), _of_all("majority")


rules(
    "totality",
    Rule(
        "what share of the halls in X is of stone",
        "'share of' some -<relative> -<asking> claimed=said(some) ~certain",
        _share,
    ),
    Rule("are most halls in X of stone", "<asking> 'most of the' some claimed=said(some) ~certain", _majority),
    Rule(
        "whether most halls in X are of stone",
        "'whether' 'most of the' some -<relative> -<asking> claimed=said(some) ~certain",
        _majority,
    ),
    Rule(
        "most halls in X are of stone?",
        "is_question 'most of the' some <asking> claimed=said(some) ~certain",
        _majority,
    ),
    Rule("is every hall in X of stone", "<asking> 'all of the'|<all> some claimed=said(some) ~certain", _every),
    Rule(
        "whether every hall in X is of stone",
        "'whether every' 'all of the'|<all> some be=0|<asking> claimed=said(some) ~certain",
        _every,
    ),
    Rule("all X halls are stone?", "is_question 'all of the'|<all> some -<asking> claimed=said(some) ~certain", _every),
)


# ------------------------------------------------------------------------------------------------------------- checks


@part
def alike(context: Context, place: int, found: Found) -> Phrases:
    """Read `share a brewery`, `in the same country`, of two names."""
    return likeness_of_pair(context, place, found["named"], found["name"])


@part
def of_either(place: int, first: NodeSet, second: NodeSet) -> Parse[NodeSet]:
    """Read nothing: the nodes of two names."""
    return Parse(place, NodeSet(conditions=(Among(tuple(sorted({*first.named, *second.named}))),)), 0.0)


def _told(claimed: NodeSet) -> ExactQuery | None:
    """Return whether something is so; None where nothing is said but the name."""
    return _test(claimed) if len(claimed.conditions) > 1 or claimed.types else None


rules(
    "checks",
    Rule("any beers by X?", "asks ?<any> nodes => test nodes ~sure"),
    Rule("X weighs more than Y?", "is_claim nodes=name more_than => more_than"),
    Rule(
        "X depth over 10 m?",
        "is_claim name said(name) ~bare",
        lambda said: _test(said) if len(said.conditions) > 1 else None,
    ),
    Rule("are there beers that X brews", "'whether'|<asking> 'there any' nodes => test nodes"),
    Rule("do X and Y share a brewery", "'whether'|<asking> -<both> named 'and only' name alike => test alike"),
    Rule(
        "is either X or Y in Z",
        "'whether'|<asking> 'either' first=named 'or only' second=named of_either claimed=described(of_either)",
        _told,
    ),
    Rule("is X in Y", "'whether'|<asking> 0|<not> !<all> one claimed=described(one)", _told),
    Rule("is X taller than Y", "'whether'|<asking> 0|<not> !<all> nodes=one more_than => more_than"),
    Rule("is X's owner Y", "'whether'|<asking> 0|<not> !<all> claims => claims"),
)


# ================================================================================================================ pairs
# What two things are compared by: `taller than Y`, `more Z than Y`, and which of two names it is.

_FAR = 0.3  # what a part of a name costs more than a whole name of the same words
_ORDER = {"first": False, "earlier": False, "last": True, "later": True, "earliest": False, "latest": True}
"""By word that follows `born`, whether later is meant."""
part_of_words("order", _ORDER)
part_of_words("more", ENGLISH.more)
# `longer` before the name of a property
part_of_words("longer", {word: one.ascending for word, one in ENGLISH.comparatives.items() if word not in ENGLISH.more})


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
        "does X weigh more, or Y",
        "asking=<asking> nodes=likeliest contrast 'or' second=likeliest over",
        lambda context, nodes, second, contrast: (
            (both := _both(context, nodes, second)) and _more_of(context, both, contrast)
        ),
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
