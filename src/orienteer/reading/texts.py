"""Texts that hold others: `whose title contains "salt"`, `with rain in the notes`, `reviews that mention "IPA"`."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import NamedTuple

import numpy as np

from orienteer.reading.properties import properties_named
from orienteer.reading.query import NAME, TEXT, Either, NodeSet, Valued
from orienteer.reading.rules import Context, Parse, Phrases, part
from orienteer.reading.vocabulary import WORDS
from orienteer.text.sentences import value_text

_LONGEST = 4  # words of a text without quotation marks
_BREAKING = WORDS["relative"] | WORDS["auxiliaries"] | {"and", "or", "but", "not", "with"}
"""Words before which a text without quotation marks ends."""
_EACH = 0.02  # cost of a word
_OF_OTHERS = WORDS["denials"] | {"no", "without", "none", "every", "each", "all", "most", "only", "share", "percentage"}
"""Words with which a question asks for nodes without a text, too."""


class _Holder(NamedTuple):
    """What holds texts: a property, the name or the text of nodes."""

    name: str
    last: int
    cost: float
    is_column: bool = False
    """The name was read from a column that is called so; where that was empty, the node is called by its id."""
    or_text: bool = False
    """The column is a property of some nodes, and the text of others."""


class _Told(NamedTuple):
    """A text that is to be held."""

    text: str
    last: int
    cost: float
    is_sure: bool
    """It is known where the text ends; else some node is to have it."""
    is_word: bool = False
    is_denied: bool = False


@part
def text_said(context: Context, place: int, nodes: NodeSet) -> Phrases:
    """Read `whose title contains X`, `with the word X in the title`, `that mention "X"`."""
    begin = context.end_of(place, "whose text") or place
    for holder in _holders(context, begin, nodes):
        holds, lacks = context.end_of(holder.last, "contains"), context.end_of(holder.last, "does not contain")
        text = holds or lacks
        if text is not None:
            is_word = not WORDS["word of text"].isdisjoint(context.words[holder.last : text])
            first = _behind_article(context, text, is_mention=is_word)
            for last, said in _texts(context, first):
                is_sure = " " not in said or context.reading.words[first].is_quoted
                cost = holder.cost + _EACH * (last - first)
                told = _Told(said, last, cost, is_sure, is_word, is_denied=lacks is not None)
                yield from _held(context, nodes, holder, told)
    yield from _within(context, place, nodes)
    yield from _mentioning(context, place, nodes)


def _within(context: Context, place: int, nodes: NodeSet) -> Phrases:
    """Yield `with the word X in the title`, `that have X in the title`, `that mention X in their notes`."""
    word, bare = context.end_of(place, "with word"), context.end_of(place, "with text")
    for begin in filter(None, (bare, word)):
        is_word = begin == word or not WORDS["word of text"].isdisjoint(context.words[place:begin])
        first = _behind_article(context, begin, is_mention=is_word)
        for last, said in _texts(context, first):
            if begin == bare and _says_something(context, first, last):
                continue  # "customers with orders in the city"
            where = context.end_of(last, "in text")
            for holder in _holders(context, where, nodes) if where is not None else ():
                is_sure = begin == word or context.reading.words[first].is_quoted
                yield from _held(context, nodes, holder, _Told(said, holder.last, holder.cost, is_sure, is_word))


def _mentioning(context: Context, place: int, nodes: NodeSet) -> Phrases:
    """Yield `[reviews that] mention "X"`, of kinds with one text; it may be in their names as well."""
    begin = context.end_of(place, "mentions")
    if begin is None or begin >= context.end or not nodes.types:
        return
    if context.at(begin - 1) != "word" and context.units.edges.get(place):
        return  # an edge is called so
    own = _texts_of(context, nodes)
    if len(own) != 1 or not context.reading.words[begin].is_quoted:
        return
    types, properties = context.relations.types_of(nodes), context.lexicon.properties.values()
    others = [facts.name for facts in properties if facts.types & types and facts.name not in own]
    are_named = len(_made_names(context, nodes)) < len(_rows(context, nodes))  # and not called by their ids
    fields = [*own, NAME] if NAME not in context.lexicon.properties and are_named else own
    for last, said in _texts(context, begin):
        if any(said.casefold() in value for name in others for value in _values(context, nodes, name)):
            continue  # it is told elsewhere, too
        told = _Told(said, last, 0.1, is_sure=True, is_word=True)
        held = [one for field in fields for one in _held(context, nodes, _Holder(field, last, 0.1), told)]
        if len(held) == len(fields):
            options = tuple(one.value.conditions[len(nodes.conditions) :] for one in held)
            yield Parse(last, nodes.that(Either(options) if len(options) > 1 else options[0][0]), held[0].cost)


def _held(context: Context, nodes: NodeSet, holder: _Holder, told: _Told) -> Phrases:
    """Yield the nodes that hold a text; nothing where a word is asked for that is a part of longer words as well."""
    text = told.text.casefold()
    if holder.is_column or holder.or_text:
        others = _made_names(context, nodes) if holder.is_column else _values(context, nodes, TEXT, but=holder.name)
        is_of_others = told.is_denied or not _OF_OTHERS.isdisjoint(context.words)
        if any(is_of_others or text in value for value in others):
            return  # whether these hold it is not known
    word = re.compile(rf"(?<!\w){re.escape(text)}(?!\w)")
    holding = [value for value in _values(context, nodes, holder.name) if text in value]
    if told.is_word and not all(map(word.search, holding)):
        context.complain(told.last, f'{told.text!r} is a part of longer words as well: ask for what contains "{text}"')
        return
    if not holding and not told.is_sure:
        return  # more than the text may have been taken
    condition = Valued(holder.name, "contains", told.text, told.is_denied)
    yield Parse(told.last, nodes.that(condition), told.cost + 0.05)


# ------------------------------------------------------------------------------------------- what holds texts
def _holders(context: Context, place: int, nodes: NodeSet) -> Iterator[_Holder]:
    """Yield the properties that hold texts and are named here; or else the text of nodes, or their names."""
    begin, types = context.skip(place), context.relations.types_of(nodes)
    properties = list(properties_named(context, begin, nodes))
    columns = [one for one in context.lexicon.columns_at(context.reading, begin) if one.types & types]
    if properties:
        is_either = any(one.role == TEXT for one in columns)
        for facts, last, cost in properties:
            if facts.kind == "text":
                yield _Holder(facts.name, last, cost, or_text=is_either)
        return
    word, names = context.at(begin), context.lexicon.properties
    if word in WORDS["name of node"] and NAME not in names:
        yield _Holder(NAME, begin + 1, 0.1)
        return
    if not nodes.types or context.units.types.get(begin):
        return
    for one in columns:
        is_sole = len(columns) == 1 and types <= one.types and one.role not in names
        if is_sole and not (one.role == TEXT and types & context.lexicon.of_texts):
            yield _Holder(one.role, one.last, 0.1, is_column=one.role == NAME)
    if not columns and word in WORDS["text of node"] and _has_text(context, types):
        yield _Holder(TEXT, begin + 1, 0.1)


def _has_text(context: Context, types: frozenset[int]) -> bool:
    """Return whether nodes of these types have texts, all from one column."""
    lexicon = context.lexicon
    return TEXT not in lexicon.properties and not types.isdisjoint(lexicon.with_texts) and not types & lexicon.of_texts


def _texts_of(context: Context, nodes: NodeSet) -> list[str]:
    """Return what is the text of nodes: their text, and properties that are called as texts are; empty if unsure."""
    types, lexicon = context.relations.types_of(nodes), context.lexicon
    stems = set(map(lexicon.vocabulary.stem, WORDS["text of node"]))
    own = [facts.name for facts in lexicon.properties.values() if facts.types & types and stems & set(facts.stems)]
    if types.isdisjoint(lexicon.with_texts):
        return own
    return [*own, TEXT] if _has_text(context, types) else []


def _rows(context: Context, nodes: NodeSet) -> list[int]:
    types = context.relations.types_of(nodes)
    rows: list[int] = np.flatnonzero(np.isin(context.lexicon.graph.arrays.node_types, list(types))).tolist()
    return rows


def _made_names(context: Context, nodes: NodeSet) -> list[str]:
    """Return the names of nodes that are called by their ids, folded."""
    arrays = context.lexicon.graph.arrays
    names = ((arrays.names[row], arrays.ids[row]) for row in _rows(context, nodes))
    return [name.casefold() for name, id in names if name in (id, id.rpartition(":")[2])]


def _values(context: Context, nodes: NodeSet, name: str, *, but: str | None = None) -> list[str]:
    """Return the texts that nodes have for a property, or their names or texts, folded.

    With `but` those of the nodes that have no value for that property.
    """
    arrays, rows = context.lexicon.graph.arrays, np.array(_rows(context, nodes), np.int32)
    if but is not None:
        rows = rows[[value is None for value in arrays.properties.values(but, rows)]]
    if name in arrays.properties.names:
        values = arrays.properties.values(name, rows)
    else:
        own = arrays.names if name == NAME else arrays.texts
        values = [own[row] for row in rows.tolist()]
    every = (one for value in values for one in (value if isinstance(value, list) else [value]))
    return [value_text(one).casefold() for one in every if one is not None]


# --------------------------------------------------------------------------------------------- texts themselves
def _says_something(context: Context, first: int, last: int) -> bool:
    """Return whether words that stand in no quotation marks are a kind, an edge or a property."""
    units = context.units
    said = (*units.types.items(), *units.properties.items(), *units.edges.items())
    is_said = any(first <= place < last and own for place, own in said)
    return is_said and not context.reading.words[first].is_quoted


def _behind_article(context: Context, place: int, *, is_mention: bool) -> int:
    """Return where a text begins: `an injury` is one without its article, `A Long Way` and `"a cook"` are not."""
    if place + 1 >= context.end or context.reading.words[place].is_quoted:
        return place
    articles = ("a", "an", "any", "the") if is_mention else ("a", "an", "any")
    return place + 1 if context.reading.surface(place, place + 1) in articles else place


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
