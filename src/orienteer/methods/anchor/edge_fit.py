"""Step 3: how well each type of edge fits what the question says around an anchor."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import NamedTuple

from orienteer.graph.store import Graph
from orienteer.reading.answer_type import Understanding
from orienteer.reading.linker import LinkedPhrase
from orienteer.reading.words import Label, QuestionWords, SchemaHop, SchemaWords, alike
from orienteer.text import english

_ELSEWHERE = 0.6  # a word that does not stand beside the anchor: it may belong to another anchor
_MATCHED = 0.5  # the least fit that tells parallel edge types apart
_ALIKE = 0.1  # edge types this near to the best fit as well
# What an edge type fits, 1 being named by the question. Tuned with the prototype, where the words of edges are worth
# .14 Hit@1 on GRBench and .08 on DEB, directions .05 on DEB (docs/anchor.md, "Constants").
_OTHER_NAMED = 0.3  # another edge type between the same types is named: low, but it still leads somewhere
_NONE_NAMED = 0.8  # no edge type between these types is named: below 1, so that a way with named edges comes first
_BY_EDGE = 0.5  # sureness of a type that only an edge named in the question leads to; no measurement: a type that texts
# teach is surer (.6 of its share)
_PART = 0.6  # another one says all that this says and more; no measurement: between the two above
_AGAINST = 0.6  # the words tell against the direction
_AGAINST_UNNAMED = 0.85  # the same where only the place of a verb tells: a weaker sign costs less


class _Place(NamedTuple):
    """A word of the question that may name an edge."""

    stem: str
    place: int
    weight: float


class _LabelMatch(NamedTuple):
    """How a label fits: the mean over its words, and where its last word stands; -1 for nowhere."""

    fit: float
    place: int


class EdgeFit:
    """The fit of every edge type to the words around one anchor."""

    def __init__(self, question: Understanding, at: int | None, vocabulary: SchemaWords) -> None:
        """Fit edges to the words around the anchor of this place; to all words where `at` is None."""
        reading, anchors = question.reading, question.anchors
        self._reading, self._vocabulary = reading, vocabulary
        self._first = len(reading.words) if at is None else anchors[at].first
        taken = {place for anchor in anchors for place in anchor.words} | set(question.wanted.said_by)
        near = set(range(len(reading.words))) if at is None else _beside(reading, anchors, at)
        self._words = [
            _Place(word.stem, place, 1.0 if place in near else _ELSEWHERE)
            for place, word in enumerate(reading.words)
            if place not in taken and not word.is_stop
        ]
        self._matches = [self._of(labels) for labels in vocabulary.edge_labels]
        near_words = [word.place for word in self._words if word.weight == 1.0]
        self._verb = near_words[-1] if near_words else -1
        """The place of the word that most likely says the relation, where none is an edge type's."""
        self._fits: dict[tuple[int, int], dict[SchemaHop, float]] = {}

    def _of(self, labels: Sequence[Label]) -> _LabelMatch:
        return max((self._match(label) for label in labels), default=_LabelMatch(0.0, -1))

    def _match(self, label: Label) -> _LabelMatch:
        total, last = 0.0, -1
        for stem in label.stems:
            likenesses = ((word.weight * alike(word.stem, stem), word.place) for word in self._words)
            likeness, place = max(likenesses, default=(0.0, -1))
            total += likeness
            last = place if likeness else last
        return _LabelMatch(total / len(label.stems), last)

    def said(self, hops: Sequence[SchemaHop]) -> int | None:
        """Return the place of the word that names the best fitting edges of these; None where none is named."""
        matches = [self._matches[hop.kind >> 1] for hop in hops]
        best = max(matches, key=lambda match: match.fit, default=_LabelMatch(0.0, -1))
        return best.place if best.fit >= _MATCHED else None

    def targets(self, hops: Sequence[SchemaHop]) -> dict[int, float]:
        """Return the node types that the edges named in the question lead to, with how well they are named."""
        types: dict[int, float] = {}
        for hop in hops:
            match = self._matches[hop.kind >> 1]
            if match.fit >= _MATCHED:
                types[hop.target] = max(types.get(hop.target, 0.0), match.fit)
        best = max(types.values(), default=0.0)
        return {target: fit for target, fit in types.items() if fit >= best - _ALIKE}

    def fits(self, source: int, target: int) -> dict[SchemaHop, float]:
        """Return the fit of each of the ways from nodes of a type to nodes of another."""
        if (source, target) not in self._fits:
            self._fits[source, target] = self._fitted(source, self._vocabulary.hops_to[source][target])
        return self._fits[source, target]

    def _fitted(self, source: int, hops: Sequence[SchemaHop]) -> dict[SchemaHop, float]:
        best = max(self._matches[hop.kind >> 1].fit for hop in hops)
        fits: dict[SchemaHop, float] = {}
        for hop in hops:
            fit = _NONE_NAMED
            if best >= _MATCHED:
                fit = 1.0 if self._matches[hop.kind >> 1].fit >= best - _ALIKE else _OTHER_NAMED
            if fit == 1.0 and self._is_part_of_another(hop, hops, best):
                fit = _PART
            fits[hop] = fit * self._direction(hop, source)
        return fits

    def _is_part_of_another(self, hop: SchemaHop, hops: Sequence[SchemaHop], best: float) -> bool:
        """Tell whether another edge type says all that this one does and more: `regulates`, `regulates twice`."""
        mine = self._content(hop.kind)
        return any(
            mine < self._content(other.kind) for other in hops if self._matches[other.kind >> 1].fit >= best - _ALIKE
        )

    def _content(self, kind: int) -> frozenset[str]:
        return frozenset(stem for label in self._vocabulary.edge_labels[kind >> 1][:1] for stem in label.stems)

    def _direction(self, hop: SchemaHop, source: int) -> float:
        """Return 1, or less where both directions join the same types and the words tell against this one."""
        if hop.target != source or self._vocabulary.is_symmetric(hop.kind):
            return 1.0
        place = self._matches[hop.kind >> 1].place
        if self._matches[hop.kind >> 1].fit < _MATCHED:
            return 1.0 if self._towards_anchor(self._verb, ()) == bool(hop.kind & 1) else _AGAINST_UNNAMED
        label = {word for form in self._vocabulary.edge_labels[hop.kind >> 1] for word in form.words}
        if self._next(place) == "with" and "with" not in label:
            return 1.0
        return 1.0 if self._towards_anchor(place, label) == bool(hop.kind & 1) else _AGAINST

    def _towards_anchor(self, place: int, label: Iterable[str]) -> bool:
        """Tell whether edges go from what is asked for to the anchor: the relation is said before the anchor."""
        label = set(label)
        is_before = place < self._first
        after = self._next(place)
        if (after == "by") != ("by" in label):
            return not is_before
        if after == "of" and is_before and not label & english.STOP and self._is_bare(label):
            return False  # "the capital of X": X has it
        return is_before

    def _next(self, place: int) -> str:
        words = self._reading.words
        return words[place + 1].text if 0 <= place < len(words) - 1 else ""

    def _is_bare(self, label: Iterable[str]) -> bool:
        """Tell whether a label is a plain noun, not a verb in the third person or a participle."""
        return bool(label) and all(not word.endswith(("s", "ed", "ing")) for word in label)


def named_by_edges(question: Understanding, graph: Graph, vocabulary: SchemaWords) -> dict[int, float]:
    """Return the node types that the edges named in a question lead to ("who designed X"), with how sure each is."""
    types: dict[int, float] = {}
    for at, anchor in enumerate(question.anchors):
        fit = EdgeFit(question, at, vocabulary)
        for source in {int(graph.arrays.node_types[candidate.row]) for candidate in anchor.candidates}:
            for target, likeness in fit.targets(vocabulary.hops[source]).items():
                types[target] = max(types.get(target, 0.0), _BY_EDGE * likeness)
    best = max(types.values(), default=0.0)
    return {number: sureness for number, sureness in types.items() if sureness == best}


def _beside(reading: QuestionWords, anchors: Sequence[LinkedPhrase], at: int) -> set[int]:
    """Return the places of the words beside an anchor: its own clause, up to the next anchor on either side."""
    anchor = anchors[at]
    low = anchors[at - 1].last if at else 0
    high = anchors[at + 1].first if at + 1 < len(anchors) else len(reading.words)
    before = _back(reading, anchor.first, low)
    if at and not before and all(word.text in english.JOINING for word in reading.words[low : anchor.first]):
        before = _beside(reading, anchors, at - 1)
    after: set[int] = set()
    for place in range(anchor.last, high):
        if reading.words[place].text in english.CLAUSE or reading.words[place].after_comma:
            break
        after.add(place)
    return before | after


def _back(reading: QuestionWords, first: int, low: int) -> set[int]:
    """Return the places before an anchor back to the beginning of its clause."""
    places: set[int] = set()
    for place in range(first - 1, low - 1, -1):
        if reading.words[place].text in english.CLAUSE:
            break
        places.add(place)
        if reading.words[place].after_comma:
            break
    return {place for place in places if not reading.words[place].is_stop}
