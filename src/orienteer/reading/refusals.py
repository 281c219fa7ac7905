"""Why a question was not read, and the nearest questions that may be."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import partial
from itertools import pairwise
from typing import Any

import numpy as np

from orienteer.reading.context import Context
from orienteer.reading.vocabulary import ENGLISH, WORDS
from orienteer.records import Refusal
from orienteer.text import english

_NEAR = 3  # names that are offered for one that is not there
_MOST_AROUND = 2  # kinds
_SURE = 0.2  # cost of a word that is surely what it is taken for


def unsupported(why: str) -> Refusal:
    """Return the refusal of a question whose words are known, but which asks for something that is not answered."""
    return Refusal(kind="not_here" if why.startswith("nothing here") else "unsupported", text=why)


def not_understood(*words: str) -> Refusal:
    """Return the refusal of a question with words that the graph does not have."""
    return Refusal(kind="not_understood", words=words, text=f"not understood: {_quoted(words)}")


def refusal_of(context: Context) -> Refusal:
    """Return why no rule reads a question: unknown names, unknown words, or known words that say nothing together."""
    names, words = _left(context)
    complaint = max(context.complaints, key=lambda why: context.complaints[why], default=None)
    if names:
        arrays = context.lexicon.graph.arrays
        near = tuple(dict.fromkeys(near for name in names for near in arrays.near_names(name, most=_NEAR)))
        text = f"not in this graph: {_quoted(names)}" + (f" (near: {', '.join(near)})" if near else "")
        return Refusal(kind="unknown_name", words=(*names, *words), near=near, text=text)
    if complaint is not None:
        left = tuple(word for word in words if word.casefold() not in ENGLISH.most)
        refusal = unsupported(complaint + (f"; not understood: {_quoted(left)}" if left else ""))
        return refusal.model_copy(update={"words": words})
    if words:
        return not_understood(*words)
    return Refusal(kind="not_understood", text="each word is known, and not what they say together")


def nearest_questions(context: Context) -> Iterator[str]:
    """Yield questions of the words that were understood, the nearest first; not each of them can be read."""
    units, last = context.units, context.reached
    left = {place for place in range(context.end) if _says_something(context, place) and place not in units.covered()}
    # "Taylor" alone is not who "Taylor Swift" is.
    names = [(first, end) for first, end in _spans(context, units.names) if not {first - 1, end} & left]
    values = _spans(context, units.values, names)
    kinds = _spans(context, units.types, names)
    properties = _spans(context, units.properties, names)
    if any(1 < end == last < context.end for _, end in (*names, *values, *properties)):
        yield context.reading.surface(0, last)
    texts = partial(_texts, context)
    for name in texts(names):
        yield from (f"{kind} of {name}" for kind in texts(kinds))
        yield from (f"{text} of {name}" for text in texts(properties))
    for place, _ in names:
        yield from (f"{kind} of {name}" for kind, name in _around(context, place))
    for value in texts(values):
        yield from (f"{kind} {word} {value}" for kind in texts(kinds) for word in ("in", "with"))
    yield from (f"How are {one} and {other} connected?" for one, other in pairwise(texts(names)))
    yield from (f"How many {kind}?" for kind in texts(kinds))


def _around(context: Context, place: int) -> Iterator[tuple[str, str]]:
    """Yield the kinds that most edges of a named node lead to, each with its name."""
    arrays, unit = context.lexicon.graph.arrays, max(context.units.names[place], key=lambda unit: unit.last)
    joined = arrays.node_types[arrays.adjacency.entries(np.array(unit.rows[:1], np.int32)).neighbor]
    for kind, _ in Counter(joined.tolist()).most_common(_MOST_AROUND):
        label = context.lexicon.graph.schema.label(arrays.types.nodes[kind])
        yield label, context.reading.surface(place, unit.last)


def _spans(
    context: Context, units: Mapping[int, Sequence[Any]], before: Iterable[tuple[int, int]] = ()
) -> list[tuple[int, int]]:
    """Return from where to where units stand that are surely what they are; those within others `before` are left out.

    Any: all kinds of units have `last` and `cost`.
    """
    spans: list[tuple[int, int]] = []
    for place in sorted(units):
        last = max((unit.last for unit in units[place] if getattr(unit, "cost", 0.0) < _SURE), default=place)
        if last > place and not any(place < end and last > start for start, end in (*spans, *before)):
            spans.append((place, last))
    return spans


def _texts(context: Context, spans: Iterable[tuple[int, int]]) -> list[str]:
    return list(dict.fromkeys(context.reading.surface(*span) for span in spans))


def _quoted(words: Sequence[str]) -> str:
    return ", ".join(map(repr, words))


def _left(context: Context) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Return the names that no node has, and the other words that say something and are nothing of the graph."""
    reading, covered = context.reading, context.units.covered()
    names: list[str] = []
    words: list[str] = []
    place = 0
    while place < context.end:
        last = place + 1
        if _says_something(context, place) and place not in covered:
            while _goes_on(context, place, last):
                last += 1
            is_name = reading.is_written_as_name(place) or reading.words[place].is_quoted
            (names if is_name else words).append(reading.surface(place, last))
        place = last
    return tuple(dict.fromkeys(names)), tuple(dict.fromkeys(words))


def _says_something(context: Context, place: int) -> bool:
    word = context.reading.words[place]
    return (
        not word.is_stop and word.text not in WORDS["empty"] | WORDS["determiners"] | english.ASKING | english.NO_NAMES
    )


def _goes_on(context: Context, first: int, place: int) -> bool:
    """Return whether a quoted name that begins at a place goes on with a word: `"Zork Nine"`."""
    if place >= context.end or not context.reading.words[first].is_quoted:
        return False
    between = context.reading.text[context.reading.words[place - 1].end : context.reading.words[place].start]
    return context.reading.words[place].is_quoted and between.isspace()
