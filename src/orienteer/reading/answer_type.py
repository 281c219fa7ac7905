"""Step 2: what kind of thing the question asks for, and which kinds lie between.
Likenesses are the prototype's, tuned on GRBench, PKG and DEB (docs/explanations/anchor.md, "Constants").
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import NamedTuple

import numpy as np

from orienteer.graph.store import Graph
from orienteer.reading.linker import Candidate, LinkedPhrase
from orienteer.reading.vocabulary import ALIKE, Label, QuestionWords, SchemaWords, abbreviates, alike
from orienteer.text import english

_HEAD, _MODIFIER = 0.6, 0.5  # one word of a type name of several: its last, another
_SURE = 0.65  # a mention that is at least this good may stand between, or beside an anchor
_FIRST, _FIRST_BESIDE_UNKNOWN = 0.75, 0.35  # the first type named anywhere, where the phrase that asks names none
_LEARNED = 0.6  # a type that only texts teach; learning is worth .10 Hit@1 on PKG and .045 on DEB
_BESIDE = 3  # words before a name that may say which of several nodes is meant
_NOT_BESIDE = 0.8  # what is left of a namesake's quality that lacks those words; it stays, for the words may mislead
_LONGEST_PHRASE = 4  # content words that say the kind of answer


class TypeMention(NamedTuple):
    """Words of the question, `first` up to `last`, that name a node type."""

    first: int
    last: int
    type: int
    likeness: float


@dataclass(frozen=True, slots=True)
class Wanted:
    """What the question asks for."""

    types: Mapping[int, float]
    """Node types that the answer may have, with how sure that is; empty where nothing says."""
    via: tuple[int, ...] = ()
    """Node types that are named besides: the way to the answer leads through them."""
    yes_or_no: bool = False
    about: bool = False
    """It asks for nothing but what it names."""
    counts: bool = False
    """It asks how many there are."""
    superlative: bool = False
    """It asks for what has the most of something."""
    said_by: tuple[int, ...] = ()
    """Places of the words that say the kind of answer."""
    kinds_at: frozenset[int] = frozenset()
    """Places of all the words that name types, the types between among them."""


@dataclass(frozen=True, slots=True)
class Understanding:
    """A question as it was understood: its words, what they name, and what it asks for."""

    reading: QuestionWords
    anchors: tuple[LinkedPhrase, ...]
    wanted: Wanted


def understand(
    reading: QuestionWords,
    anchors: tuple[LinkedPhrase, ...],
    graph: Graph,
    vocabulary: SchemaWords,
    *,
    node_types: Sequence[str],
    most_nodes: int,
) -> Understanding:
    """Return a question with its anchors told apart by the types beside them, and what it asks for."""
    named_types = mentions(reading, anchors, vocabulary)
    anchors, named_types = apposed(anchors, named_types, reading, graph)
    anchors = tuple(anchor for anchor in anchors if len(anchor.candidates) <= most_nodes)
    anchors = tuple(_told_apart(anchor, reading, graph, vocabulary) for anchor in anchors)
    anchors = coordinated(anchors, reading, graph)
    goal = wanted(reading, anchors, named_types, vocabulary)
    if not graph.schema.edges:  # types of a mere collection are forms, such as passage and table
        goal = replace(goal, types={})
    if node_types:
        goal = replace(goal, types=dict.fromkeys(graph.arrays.types.node_numbers(node_types), 1.0))
    named = {place for anchor in anchors for place in anchor.words}
    rest = {word.text for place, word in enumerate(reading.words) if place not in named}
    is_about = len(anchors) == 1 and not goal.types and rest <= english.INTRODUCING
    return Understanding(reading, anchors, replace(goal, about=is_about))


def mentions(reading: QuestionWords, anchors: Sequence[LinkedPhrase], vocabulary: SchemaWords) -> list[TypeMention]:
    """Return the places where node types are named outside of anchors, in order; of adjacent ones the better."""
    taken = {place for anchor in anchors for place in anchor.words}
    free = [place not in taken for place in range(len(reading.words))]
    places = (place for place, is_free in enumerate(free) if is_free)
    matches = [mention for place in places for mention in _at(reading, place, free, vocabulary)]
    better: list[TypeMention] = []
    for mention in sorted(matches, key=lambda match: (-match.likeness, -(match.last - match.first), -match.last)):
        beside = [other for other in better if other.first <= mention.last and mention.first <= other.last]
        if all((other.first, other.last) == (mention.first, mention.last) == _span(other) for other in beside):
            better.append(mention)
    return sorted(better)


def _span(mention: TypeMention) -> tuple[int, int]:
    return mention.first, mention.last


def _at(reading: QuestionWords, place: int, free: Sequence[bool], vocabulary: SchemaWords) -> Iterator[TypeMention]:
    for number, labels in enumerate(vocabulary.node_labels):
        best = max((type_likeness(reading, place, free, label, vocabulary) for label in labels), default=(0.0, place))
        if best[0] > 0:
            yield TypeMention(place, best[1], number, best[0])


def type_likeness(
    reading: QuestionWords, place: int, free: Sequence[bool], label: Label, vocabulary: SchemaWords
) -> tuple[float, int]:
    """Return how well the words from a place on name a type, and where they end."""
    stems = label.stems
    last = place + len(stems)
    if last <= len(free) and all(free[place:last]):
        likeness = [_word(reading, place + at, stem, label, vocabulary) for at, stem in enumerate(stems)]
        if min(likeness) > 0:
            return sum(likeness) / len(likeness), last
    if len(stems) == 1 or reading.words[place].is_stop:
        return 0.0, place
    head = _HEAD * _word(reading, place, stems[-1], label, vocabulary)
    modifier = max(_MODIFIER * _word(reading, place, stem, label, vocabulary) for stem in stems[:-1])
    return max(head, modifier), place + 1


def _word(reading: QuestionWords, place: int, stem: str, label: Label, vocabulary: SchemaWords) -> float:
    word = reading.words[place]
    likeness = max(alike(word.stem, stem), float(english.IRREGULAR.get(word.text) in label.words))
    if not likeness and abbreviates(stem, word.stem):
        return ALIKE
    # "maintained" is the edge, not the maintainer; "section" may be both.
    is_edge = word.stem in vocabulary.edge_words if likeness < 1 else word.text in vocabulary.edge_literals
    return 0.0 if is_edge and word.text not in label.words else likeness


def apposed(
    anchors: Sequence[LinkedPhrase], named_types: Sequence[TypeMention], reading: QuestionWords, graph: Graph
) -> tuple[tuple[LinkedPhrase, ...], list[TypeMention]]:
    """Return the anchors cut down to the types named right beside them, and the mentions that are left."""
    left = list(named_types)
    anchors = list(anchors)
    for at, anchor in enumerate(anchors):
        for mention in named_types:
            if mention not in left or mention.likeness < _SURE or not _is_apposed(mention, anchor, reading):
                continue
            of_type = _of_types(anchor, {mention.type}, graph)
            if of_type.candidates:
                anchors[at] = anchor = of_type
                left.remove(mention)
    return tuple(anchors), left


def _is_apposed(mention: TypeMention, anchor: LinkedPhrase, reading: QuestionWords) -> bool:
    if mention.first == anchor.last:
        return not reading.words[mention.first].after_comma
    follows_question_word = mention.first > 0 and reading.words[mention.first - 1].text in ("which", "what", "many")
    return mention.last == anchor.first and not follows_question_word and not reading.words[anchor.first].after_comma


def coordinated(anchors: Sequence[LinkedPhrase], reading: QuestionWords, graph: Graph) -> tuple[LinkedPhrase, ...]:
    """Return the anchors with those that are named in one breath cut down to the types they share."""
    anchors = list(anchors)
    for at in range(len(anchors) - 1):
        before, after = anchors[at], anchors[at + 1]
        between = reading.words[before.last : after.first]
        joined = all(word.text in english.JOINING for word in between)
        if not joined or not (between or reading.words[after.first].after_comma):
            continue
        types = [{int(graph.arrays.node_types[node.row]) for node in anchor.candidates} for anchor in (before, after)]
        if shared := types[0] & types[1]:
            anchors[at : at + 2] = [_of_types(anchor, shared, graph) for anchor in (before, after)]
    return tuple(anchors)


def _of_types(anchor: LinkedPhrase, types: Collection[int], graph: Graph) -> LinkedPhrase:
    kept = (node for node in anchor.candidates if int(graph.arrays.node_types[node.row]) in types)
    return replace(anchor, candidates=tuple(kept))


def _told_apart(anchor: LinkedPhrase, reading: QuestionWords, graph: Graph, vocabulary: SchemaWords) -> LinkedPhrase:
    """Return an anchor with those nodes first whose texts have the words right beside: `the city Paris`."""
    if len(anchor.candidates) == 1:
        return anchor
    beside: list[str] = []
    for place in range(anchor.first - 1, max(-1, anchor.first - 1 - _BESIDE), -1):
        word = reading.words[place]
        if word.is_stop or word.stem in vocabulary.edge_words or reading.words[place + 1].after_comma:
            break
        beside.append(word.text)
    rows = np.array(sorted(node.row for node in anchor.candidates), np.int32)
    having = dict.fromkeys(rows.tolist(), 0)
    for posting in filter(None, map(vocabulary.posting, beside)):
        for row in graph.arrays.text_index.filter_rows(posting, rows).tolist():
            having[row] += 1
    most = max(having.values())
    candidates = [
        Candidate(row, quality if having[row] == most else _NOT_BESIDE * quality) for row, quality in anchor.candidates
    ]
    return replace(anchor, candidates=tuple(sorted(candidates, key=lambda node: (-node.quality, node.row))))


class _Asking(NamedTuple):
    """The phrase that says the kind of answer."""

    places: tuple[int, ...]
    content: tuple[int, ...]
    is_existence: bool = False
    """It follows "is there": without a type it names a connection, as "is there a link between"."""


def wanted(
    reading: QuestionWords, anchors: Sequence[LinkedPhrase], named_types: Sequence[TypeMention], vocabulary: SchemaWords
) -> Wanted:
    """Return what the question asks for, by the phrase that asks, by what texts teach, by the first type named."""
    taken = {place for anchor in anchors for place in anchor.words}
    typed = {place for mention in named_types if mention.likeness == 1 for place in range(mention.first, mention.last)}
    verbs = {at for at, word in enumerate(reading.words) if word.stem in vocabulary.edge_words and at not in typed}
    phrases = [phrase for phrase in _asking(reading, taken, verbs) if phrase.content]
    texts = _texts(reading)
    counts = any(pair in english.COUNTING for pair in pairwise(texts))
    superlative = any(text in english.SUPERLATIVE for place, text in enumerate(texts) if place not in taken)
    chosen = _named(phrases, named_types, reading)
    types = {mention.type: mention.likeness for mention in chosen}
    said_by = tuple(place for mention in chosen for place in range(mention.first, mention.last))
    if not types:
        phrases = [phrase for phrase in phrases if not phrase.is_existence]
        types, said_by = _learned(phrases, reading, vocabulary)
    is_denying = len(texts) > 1 and texts[0] in english.DENYING and texts[1] != "you"  # "could you ..." is a request
    if not types and not phrases and is_denying:
        return Wanted({}, yes_or_no=True)
    if not types and named_types:
        chosen = [mention for mention in named_types if mention.first == named_types[0].first]
        factor = _FIRST_BESIDE_UNKNOWN if phrases else _FIRST
        types = {mention.type: factor * mention.likeness for mention in chosen}
        said_by = tuple(range(*_span(chosen[0])))
    sure = [mention for mention in named_types if mention.likeness >= _SURE]
    named = frozenset(at for mention in sure for at in range(*_span(mention))) | set(said_by)
    via = dict.fromkeys(mention.type for mention in sure if mention not in chosen)
    return Wanted(types, tuple(via), counts=counts, superlative=superlative, said_by=said_by, kinds_at=named)


def _texts(reading: QuestionWords) -> list[str]:
    return [word.text for word in reading.words]


def _asking(reading: QuestionWords, taken: set[int], verbs: set[int]) -> list[_Asking]:
    """Return the phrases after the words that ask, those after which, what and who first."""
    texts = _texts(reading)
    phrases: list[tuple[int, _Asking]] = []
    for place, text in enumerate(texts):
        before = texts[place - 1] if place else ""
        if (before, text) in english.COUNTING:
            phrases.append((0, _phrase(reading, place + 1, taken, verbs, english.STOP)))
        elif text == "there" and before in ("is", "are"):
            phrase = _phrase(reading, place + 1, taken, verbs, english.STOP)
            phrases.append((2, phrase._replace(is_existence=True)))
        elif text in ("what", "which"):
            skip = english.DETERMINERS | {"is", "are", "was", "were", "s", "of", "kind", "kinds", "other"}
            phrases.append((1, _phrase(reading, place + 1, taken, verbs, skip)))
        elif text in english.ASKING:
            phrases.append((2, _phrase(reading, place + 1, taken, verbs, english.FILLING)))
    return [phrase for _, phrase in sorted(phrases, key=lambda ranked: ranked[0])]


def _phrase(reading: QuestionWords, start: int, taken: set[int], verbs: set[int], skip: Collection[str]) -> _Asking:
    words = reading.words
    while start < len(words) and words[start].text in skip and start not in taken:
        start += 1
    places: list[int] = []
    content: list[int] = []
    for place in range(start, len(words)):
        word = words[place]
        before = words[place - 1].text
        ends = word.text in english.ENDING or (word.text in english.DETERMINERS and before != "of")
        ends |= word.text in english.PRONOUNS and (place + 1 == len(words) or words[place + 1].text != "of")
        ends |= bool(content) and (word.after_comma or word.text in english.SUPERLATIVE or place in verbs)
        if place in taken or ends or len(content) == _LONGEST_PHRASE:
            break
        places.append(place)
        if not word.is_stop and word.text not in english.SUPERLATIVE:
            content.append(place)
    return _Asking(tuple(places), tuple(content))


def _named(phrases: Sequence[_Asking], named_types: Sequence[TypeMention], reading: QuestionWords) -> list[TypeMention]:
    """Return the mentions of the first phrase that holds any: the head, before an "of" where there is one."""
    for phrase in phrases:
        sure = (mention for mention in named_types if mention.likeness >= _MODIFIER)
        inside = [mention for mention in sure if mention.first in phrase.places]
        if not inside:
            continue
        of = next((place for place in phrase.places if reading.words[place].text == "of"), len(reading.words))
        pool = [mention for mention in inside if mention.first < of] or inside
        best = max(pool, key=lambda mention: (mention.likeness, -mention.first))
        return [mention for mention in pool if _span(mention) == _span(best)]
    return []


def _learned(
    phrases: Sequence[_Asking], reading: QuestionWords, vocabulary: SchemaWords
) -> tuple[dict[int, float], tuple[int, ...]]:
    """Return the type that texts teach for a word of the phrase that asks."""
    best, place = (0, 0.0), -1
    for phrase in phrases[:1]:
        for at in phrase.content:
            stem = reading.words[at].stem
            learned = None if stem in vocabulary.edge_words else vocabulary.learned(stem)
            if learned is not None and learned[1] > best[1]:
                best, place = learned, at
    return ({best[0]: _LEARNED * best[1]}, (place,)) if best[1] else ({}, ())
