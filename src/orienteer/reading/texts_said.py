"""Texts that hold others: `whose title contains "salt"`, `with the word salt in the name`, `whose name mentions X`."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import NamedTuple

import numpy as np

from orienteer.reading.context import Context, Parse
from orienteer.reading.properties import properties_named
from orienteer.reading.query import NAME, NodeSet, Valued
from orienteer.reading.vocabulary import WORDS
from orienteer.text.sentences import value_text

_LONGEST = 4  # words of a text without quotation marks
_BREAKING = WORDS["relative"] | WORDS["auxiliaries"] | {"and", "or", "but", "not", "with"}
"""Words before which a text without quotation marks ends."""
_EACH = 0.02  # cost of a word


class _Told(NamedTuple):
    """A text that is to be held, and what holds it."""

    property: str
    text: str
    last: int
    cost: float
    is_sure: bool
    """It is known where the text ends; else some node is to have it."""


def text_said(context: Context, place: int, nodes: NodeSet) -> Iterator[Parse[NodeSet]]:
    """Yield `whose title contains X`, `with the word X in the title`."""
    begin = context.end_of(place, "whose text") or place
    for name, behind, cost in _texts_named(context, begin, nodes):
        holds, lacks = context.end_of(behind, "contains"), context.end_of(behind, "does not contain")
        text = holds or lacks
        if text is not None:
            is_word = not WORDS["word of text"].isdisjoint(context.words[behind:text])
            for last, said in _texts(context, text):
                is_sure = " " not in said or context.reading.words[text].is_quoted
                told = _Told(name, said, last, cost + _EACH * (last - text), is_sure)
                yield from _held(context, nodes, told, is_word=is_word, is_denied=lacks is not None)
    word, bare = context.end_of(place, "with word"), context.end_of(place, "with text")
    for first in filter(None, (bare, word)):
        for last, said in _texts(context, first):
            if first == bare and _says_something(context, first, last):
                continue  # "customers with orders in the city"
            where = context.end_of(last, "in text")
            for name, behind, cost in _texts_named(context, where, nodes) if where is not None else ():
                told = _Told(name, said, behind, cost, is_sure=first == word or context.reading.words[first].is_quoted)
                yield from _held(context, nodes, told, is_word=first == word, is_denied=False)


def _held(context: Context, nodes: NodeSet, told: _Told, *, is_word: bool, is_denied: bool) -> Iterator[Parse[NodeSet]]:
    """Yield the nodes that hold a text; nothing where a word is asked for that is a part of longer words as well."""
    word = re.compile(rf"(?<!\w){re.escape(told.text.casefold())}(?!\w)")
    holding = [text for text in _values(context, nodes, told.property) if told.text.casefold() in text]
    if is_word and not all(map(word.search, holding)):
        context.complain(told.last, f"{told.text!r} is a part of longer words as well: write it in quotation marks")
        return
    if not holding and not told.is_sure:
        return  # more than the text may have been taken
    yield Parse(told.last, nodes.that(Valued(told.property, "contains", told.text, is_denied)), told.cost + 0.05)


def _values(context: Context, nodes: NodeSet, name: str) -> list[str]:
    """Return the texts that nodes have for a property, or their names, folded."""
    arrays, types = context.lexicon.graph.arrays, context.relations.types_of(nodes)
    rows = np.flatnonzero(np.isin(arrays.node_types, list(types)))
    if name in arrays.properties.names:
        values = arrays.properties.values(name, rows.astype(np.int32))
    else:
        values = [arrays.names[row] for row in rows.tolist()]
    every = (one for value in values for one in (value if isinstance(value, list) else [value]))
    return [value_text(one).casefold() for one in every if one is not None]


def _says_something(context: Context, first: int, last: int) -> bool:
    """Return whether words that stand in no quotation marks are a kind, an edge or a property."""
    units = context.units
    said = (*units.types.items(), *units.properties.items(), *units.edges.items())
    is_said = any(first <= place < last and own for place, own in said)
    return is_said and not context.reading.words[first].is_quoted


def _texts_named(context: Context, place: int, nodes: NodeSet) -> Iterator[tuple[str, int, float]]:
    """Yield the properties that hold texts and are named here, with where that ends; a node's name is one."""
    begin, is_named = context.skip(place), False
    for facts, last, cost in properties_named(context, begin, nodes):
        if facts.kind == "text":
            is_named = True
            yield facts.name, last, cost
    if not is_named and context.at(begin) in WORDS["name of node"]:
        yield NAME, begin + 1, 0.1


def _texts(context: Context, place: int) -> Iterator[tuple[int, str]]:
    """Yield the texts that begin here: what stands in quotation marks, or a few words."""
    words, last = context.reading.words, place
    if place >= context.end:
        return
    if words[place].is_quoted:
        while last < context.end and words[last].is_quoted:
            last += 1
        yield last, context.reading.surface(place, last)
        return
    for last in range(place + 1, min(context.end, place + _LONGEST) + 1):
        is_over = last - 1 > place and (words[last - 1].after_comma or words[last - 1].text in _BREAKING)
        if words[last - 1].is_quoted or is_over:
            return
        if all(word.is_stop for word in words[place:last]):
            continue  # "have the members": no text
        if '"' not in (text := context.reading.surface(place, last)):
            yield last, text.strip("'“”‘’`")


def said_within(words: list[str], held: frozenset[str]) -> set[str]:
    """Return the words that may be of a text that is to be held: they are written as they are meant."""
    return {word for at, before in enumerate(words) if before in held for word in words[at + 1 : at + 1 + _LONGEST]}
