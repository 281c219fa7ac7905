"""Another node that nodes are compared with: `than Duvel`, `as that of Duvel`, `as Duvel does`, and what it has."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from orienteer.reading.context import Context, Parse
from orienteer.reading.lexicon import PropertyFacts
from orienteer.reading.query import Among, Comparison, Condition, Joined, Measure, Valued
from orienteer.reading.vocabulary import ENGLISH, WORDS


class Opening(NamedTuple):
    """Words that compare numbers of things or values, and the word that stands before the other node."""

    comparison: Comparison
    words: str
    joint: str
    times: float = 1.0
    """How many times as many as of the other node are asked for."""


_COMPARISONS: tuple[Comparison, ...] = (">=", "<=", "=", ">", "<")
_BEFORE_TIMES: tuple[tuple[Comparison, str], ...] = (
    ("=", ""),
    ("=", "exactly"),
    (">", "more than"),
    (">", "over"),
    (">=", "at least"),
    ("<", "less than"),
    ("<", "fewer than"),
    ("<=", "at most"),
)
_BY_FIRST: dict[str, list[tuple[list[str], Opening]]] = {}
"""The words of openings by their first, in their order."""
for _words, _times in ENGLISH.times.items():
    for _comparison, _before in _BEFORE_TIMES:
        for _many in ENGLISH.phrases["as many"]:
            _all = f"{_before} {_words} {_many}".split()
            _BY_FIRST.setdefault(_all[0], []).append((_all, Opening(_comparison, _words, "as", _times)))
for _joint in ("as", "than"):
    for _comparison in _COMPARISONS:
        for _words in ENGLISH.phrases.get(f"{_comparison} {_joint}", ()):
            _BY_FIRST.setdefault(_words.split()[0], []).append((_words.split(), Opening(_comparison, _words, _joint)))
_DENIED_BEFORE = 4  # words: "do not own as many ships as X"


def openings(context: Context, place: int) -> Iterator[Parse[Opening]]:
    """Yield the words that compare with another node here: `more` of `more beers than X`, `as many` of `as many as`.

    What is not "as many" is less: behind a denial `as many` is read as "at least as many".
    """
    for words, opening in _BY_FIRST.get(context.at(place), ()):
        if context.words[place : place + len(words)] != words:
            continue
        last = place + len(words)
        is_denied = not WORDS["not or never"].isdisjoint(context.words[max(0, place - _DENIED_BEFORE) : place])
        if opening.words in context.language.phrases["as many"] and is_denied:
            opening = opening._replace(comparison=">=")
        yield Parse(last, opening, 0.0)


def another(context: Context, place: int, types: frozenset[int]) -> Iterator[Parse[int]]:
    """Yield the node of one of these types that is named here: `Duvel`, `that of Duvel`, `Duvel has`, `Duvel's`.

    Nothing where several nodes of these types have the name.
    """
    begin = context.end_of(place, "that of another")
    node_types = context.lexicon.graph.arrays.node_types
    for named in context.nodes(place if begin is None else begin):
        rows = [row for row in named.value.named if int(node_types[row]) in types]
        if len(rows) == 1:
            end = context.possessive(named.last)
            last = named.last if end is None else end
            yield Parse(last, rows[0], named.cost)
            if context.at(last) in WORDS["behind another"]:
                yield Parse(last + 1, rows[0], named.cost)


def measured_as(context: Context, measure: Measure, opening: Opening, row: int) -> tuple[Condition, ...]:
    """Return what it means that a measure compares so with that of a node; nothing where it has no value."""
    own, comparison = context.lexicon.measured(row, measure), opening.comparison
    if own is None:
        return ()
    value = opening.times * own
    if measure.property is not None:
        condition: Condition = Valued(measure.property, comparison, value)
    else:
        assert measure.target is not None
        condition = Joined(measure.kinds, measure.target, False, comparison, value)
    return (condition,) if comparison in (">", "<") else (condition, but_not(row))


def valued_as(context: Context, facts: PropertyFacts, row: int) -> tuple[Condition, ...]:
    """Return what it means that nodes have the value that a node has for a property; nothing where it has none."""
    value = context.lexicon.value(facts, row)
    return () if value is None else (Valued(facts.name, "=", value), but_not(row))


def but_not(row: int) -> Among:
    """Return the condition that leaves a node out: `the same brewery as Duvel` asks for other beers."""
    return Among((row,), negated=True)
