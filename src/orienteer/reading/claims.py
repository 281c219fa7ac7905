"""Questions to be answered by yes or no: `is X in Y`, `are there X that`, `is X's owner Y`, `are all X stone`."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from orienteer.reading.clauses import property_valued
from orienteer.reading.comparisons import adjective
from orienteer.reading.nouns import names_at
from orienteer.reading.possession import likeness_of_pair
from orienteer.reading.query import Among, ExactQuery, Form, Measure, NodeSet
from orienteer.reading.rules import Context, Found, Parse, Phrases, Rule, part, rules
from orienteer.reading.units import PropertyFacts
from orienteer.reading.vocabulary import ENGLISH, WORDS


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
