"""Words that name edge types: by the schema's labels, by synonyms, and by irregular forms of verbs."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import NamedTuple

from orienteer.reading.units import LIGHT_FIT, ConverseEdges, EdgeUnit, KindVerb
from orienteer.reading.vocabulary import ENGLISH, WORDS
from orienteer.reading.words import Label, QuestionWords, SchemaWords, alike
from orienteer.remembered import cached_method

SYNONYM = 0.6  # likeness, below every likeness of the same word
_LEAST_FIT = 0.3  # the share of a label that words must be like


class _LabelPlace(NamedTuple):
    """A word of a label that a word may be, and how alike they are."""

    edge: int
    label: Label
    at: int
    likeness: float
    is_converse: bool = False
    """The word says it from the other end."""


class EdgeWords:
    """Finds the edge types of one graph by words. Safe to share among threads."""

    def __init__(self, vocabulary: SchemaWords) -> None:
        self._vocabulary = vocabulary
        self._groups = [self._stems(group) for group in ENGLISH.groups["relations"]]
        self._converses = [tuple(map(self._stems, pair)) for pair in ENGLISH.converses]
        self._light = self._stems(WORDS["light verbs"])
        self._deeds = [self._stems(group) for group in ENGLISH.groups["deeds"]]
        kind = Label(("kind",), (vocabulary.stem("kind"),))
        self._labels = [
            [kind if " ".join(label.words) in ENGLISH.phrases["is a kind of"] else label for label in labels]
            for labels in vocabulary.edge_labels
        ]
        self._any = dict.fromkeys(range(len(vocabulary.edge_labels)), LIGHT_FIT)

    def _stems(self, words: Iterable[str]) -> frozenset[str]:
        """Return words and their stems."""
        return frozenset(words) | frozenset(map(self._vocabulary.stem, words))

    def units(self, reading: QuestionWords, place: int) -> Iterator[EdgeUnit]:
        """Yield the words from a place on that name edge types, with how much of each label they are."""
        if reading.words[place].is_quoted:
            return
        spans: dict[tuple[int, bool], dict[int, float]] = {}
        for like in self._likest(reading, place):
            last, fit = self._fit(reading, place, like)
            if fit >= _LEAST_FIT:
                edges = spans.setdefault((last, like.is_converse), ConverseEdges() if like.is_converse else {})
                edges[like.edge] = max(fit, edges.get(like.edge, 0.0))
        for (last, _), edges in spans.items():
            yield EdgeUnit(last, edges, place)
        word = reading.words[place]
        if (verb := self._kind_verb(reading, place)) is not None:
            yield EdgeUnit(place + 1, verb, place)
        if word.stem in self._light or ENGLISH.verb_of.get(word.text) in WORDS["light verbs"]:
            yield EdgeUnit(place + 1, self._any, place)

    def _kind_verb(self, reading: QuestionWords, place: int) -> KindVerb | None:
        """Return a verb by the kinds that stand for what it does, or for who does it: `order`, `supplier`."""
        word = reading.words[place]
        is_asked = any(before.text in WORDS["before bare verbs"] for before in reading.words[:place])
        is_verb = word.text.endswith(("ed", "ing")) or word.text in ENGLISH.verb_of
        stem = self._vocabulary.stem(ENGLISH.verb_of.get(word.text, word.text))
        if not is_verb and (not is_asked or word.text.endswith("s")):
            return None
        nouns = {stem}.union(*(group for group in self._deeds if stem in group))

        def called(nouns: set[str]) -> frozenset[int]:
            return frozenset(
                kind
                for kind, labels in enumerate(self._vocabulary.node_labels)
                for label in labels
                if label.stems[-1] in nouns and (word.text != label.words[-1] or is_asked)
            )

        types = called(nouns.union(*(group for group in self._groups if stem in group)))
        return KindVerb(self._any, types, called(nouns)) if types else None

    def _likest(self, reading: QuestionWords, place: int) -> Iterator[_LabelPlace]:
        """Yield what words of labels a word may be; one that says little by itself, only a whole label."""
        word = reading.words[place]
        if word.text.endswith("ly"):  # "formerly" is no `former_club`
            return
        verb = ENGLISH.verb_of.get(word.text) or self._verb_of_agent(word.text)
        places = self._like(word.stem) or self._like(word.text)
        before = reading.text[reading.words[place - 1].end : word.start] if place else ","
        # in "pictures that show a horse" it does not ask
        is_said = before.isspace() and word.text.startswith(ENGLISH.phrases["asking verbs"])
        for like in (*places, *(self._like(self._vocabulary.stem(verb)) if verb is not None else ())):
            if is_said or not word.is_stop or (len(like.label.stems) == 1 and like.likeness == 1):
                yield like

    def _verb_of_agent(self, word: str) -> str | None:
        """Return the irregular verb whose agent a noun is: `lend` of `lender`, which edges called `lent_by` say."""
        verb = word.removesuffix("s").removesuffix("er")
        return verb if verb != word and verb in ENGLISH.verb_of.values() else None

    def _fit(self, reading: QuestionWords, place: int, like: _LabelPlace) -> tuple[int, float]:
        """Return where the words end that are a label from one of its words on, and the share of it that they are."""
        last, total = place + 1, like.likeness
        for own in like.label.stems[like.at + 1 :]:
            near = range(last, min(len(reading.words), last + 2))
            after = next((at for at in near if alike(reading.words[at].stem, own)), None)
            if after is None:
                break
            total += alike(reading.words[after].stem, own)
            last = after + 1
        return last, total / len(like.label.stems)

    @cached_method(8_192)
    def _like(self, stem: str) -> tuple[_LabelPlace, ...]:
        """Return the words of labels that a stem may be."""
        groups = [group for group in self._groups if stem in group]
        forms = frozenset(form for form, verb in ENGLISH.verb_of.items() if verb == stem)
        others = [other for pair in self._converses for one, other in (pair, pair[::-1]) if stem in one]
        places = []
        for edge, labels in enumerate(self._labels):
            for label in labels:
                for at, own in enumerate(label.stems):
                    likeness = alike(stem, own) if min(len(stem), len(own)) > 2 or stem == own else 0.0
                    is_converse = likeness < 1 and any(own in group for group in others)  # a mentee is no mentor
                    likeness = 0.0 if is_converse else likeness
                    if not likeness and own in forms:
                        likeness = 0.9
                    if not likeness and any(own in group for group in groups):
                        likeness = SYNONYM
                    if likeness:
                        places.append(_LabelPlace(edge, label, at, likeness))
                    elif any(own in group for group in others) and "by" not in label.words:
                        # of what is `bought_by` somebody nobody is told who sold it
                        places.append(_LabelPlace(edge, label, at, SYNONYM, is_converse=True))
        return tuple(places)
