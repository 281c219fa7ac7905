"""What a triple's predicate means in a graph: which edge types it fits and which way round, and which texts say it.

A predicate fits an edge type by the words of its name, label and further names: the share of stems that both have,
where stems that only begin alike count less. A phrase that ends in `by` or `of` has the opposite direction of one that
does not (`influenced` and `influenced_by`, `director of` and `director`). The direction counts less for an edge type
that never joins two node types both ways: turned, it can hardly mean anything else.

In a graph with passages no predicate fits the edge types that say how passages were joined, or that names stand
together: `shares border with` is no `shares_names`.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from orienteer.graph.reserved import (
    CO_OCCURS,
    LINKS_TO,
    MENTIONS,
    NEXT,
    PART_OF,
    PASSAGES,
    RESERVED,
    SHARES_NAMES,
    SIMILAR,
    SYNONYM,
)
from orienteer.graph.store import Graph
from orienteer.retrieval.expansion.relations import HELD
from orienteer.retrieval.mentions import SHARED, is_akin, type_phrases
from orienteer.text.english import STOP
from orienteer.text.tokenizer import Tokenizer

FITTING = 0.45
"""The least share of words that makes an edge type fit a predicate."""
AGAINST = 0.7
"""What an edge counts that points the other way than its triple."""
ONE_WAY = 0.9
"""The same for an edge type that joins no two node types both ways."""
STRUCTURAL = frozenset({LINKS_TO, MENTIONS, NEXT, PART_OF, SHARES_NAMES, SIMILAR, CO_OCCURS, SYNONYM, *HELD})
"""Edge types that a build makes, and that state nothing of what they join.

Entities may be joined by relations that are called so; there these are edge types like any other.
"""
_AKIN = 0.7  # two stems that begin alike: `director` and `directed`
_TURNING = ("by", "of")


def stating_types(graph: Graph) -> frozenset[str]:
    """Return the edge types that state something of what they join: in a graph without passages all of them."""
    types = graph.arrays.types
    if PASSAGES.isdisjoint(types.nodes):
        return frozenset(types.edges)
    related = {edge.type for edge in graph.schema.edges if RESERVED.isdisjoint((edge.source, edge.target))}
    return frozenset(types.edges) - (STRUCTURAL - (related - {CO_OCCURS, SYNONYM}))


class _EdgeTypeLabel(NamedTuple):
    number: int
    stems: tuple[str, ...]
    turn: str


@dataclass(frozen=True, slots=True)
class PredicateFit:
    """What one predicate means in one graph."""

    written: str
    stems: tuple[str, ...]
    kinds: NDArray[np.float64]
    """By kind of edge as seen from the subject (edge type * 2, + 1 where it comes in): how well it fits, 0 to 1."""
    is_open: bool
    """No predicate is named: every edge that states something fits."""
    _tokenizer: Tokenizer

    def kinds_from(self, is_subject: bool) -> NDArray[np.float64]:
        """Return how well each kind of edge fits, (kinds,), as seen from the subject or from the object."""
        return self.kinds if is_subject else self.kinds.reshape(-1, 2)[:, ::-1].ravel()

    def share_in(self, text: str) -> float:
        """Return the share of the predicate that a text says, 0 to 1."""
        if self.is_open or not text:
            return float(self.is_open)
        others = self._tokenizer.terms_of(text)
        return sum(max((_alike(stem, other) for other in others), default=0.0) for stem in self.stems) / len(self.stems)


class Predicates:
    """The edge types of a graph by their words. Safe to share among threads."""

    def __init__(self, graph: Graph) -> None:
        self._tokenizer, schema = graph.arrays.tokenizer, graph.schema
        joined: dict[str, set[str]] = {}
        for triple in schema.edges:
            ends = (
                phrase
                for end in (triple.source, triple.target)
                for phrase in type_phrases(end, schema, self._tokenizer)
            )
            joined.setdefault(triple.type, set()).update(self._tokenizer.stem(word) for end in ends for word in end)
        self._types = graph.arrays.types.edges
        stating = stating_types(graph)
        self._states = np.array([name in stating for name in self._types], np.bool_)
        both_ways = {
            triple.type for triple in schema.edges if (triple.target, triple.type, triple.source) in schema.edges
        }
        self._against = np.array(
            [1.0 if name in schema.symmetric else AGAINST if name in both_ways else ONE_WAY for name in self._types]
        )
        self._labels = [
            _EdgeTypeLabel(number, self._stems(phrase, joined.get(name, ())), _turn(phrase))
            for number, name in enumerate(self._types)
            if self._states[number]
            for phrase in type_phrases(name, schema, self._tokenizer)
        ]
        self._places: dict[str, list[int]] = {}  # labels by the beginning of a stem: there may be thousands of types
        for place, label in enumerate(self._labels):
            for beginning in dict.fromkeys(stem[:SHARED] for stem in label.stems):
                self._places.setdefault(beginning, []).append(place)

    def _stems(self, words: Sequence[str], ends: Iterable[str] = ()) -> tuple[str, ...]:
        """Return the stems that say something: of the types that an edge joins only where there are no others."""
        content = [word for word in words if word not in STOP] or list(words)
        stems = dict.fromkeys(map(self._tokenizer.stem, content))
        return tuple(stem for stem in stems if stem not in ends) or tuple(stems)

    def fit(self, predicate: str) -> PredicateFit:
        """Return what a predicate means; one that is empty, a variable or without words fits all."""
        text = predicate.strip()
        words = self._tokenizer.words(text.replace("_", " "))
        is_open = not words or text.startswith("?")
        stems = () if is_open else self._stems(words)
        kinds = np.zeros((len(self._types), 2))
        if is_open:
            kinds[:, 0], kinds[:, 1] = self._states, self._states * self._against
        places = {place for stem in stems for place in self._places.get(stem[:SHARED], ())}
        for label in (self._labels[place] for place in sorted(places)):
            share = 1.0 if text == self._types[label.number] else _share(stems, label.stems)
            if share >= FITTING:
                against = share * self._against[label.number]
                ways = (share, against) if label.turn == _turn(words) else (against, share)
                kinds[label.number] = np.maximum(kinds[label.number], ways)
        return PredicateFit(predicate, stems, kinds.ravel(), is_open, self._tokenizer)


def _turn(words: Sequence[str]) -> str:
    return words[-1] if words[-1] in _TURNING else ""


def _share(stems: Sequence[str], others: Sequence[str]) -> float:
    """Return the share of stems that two phrases have in common."""
    both = sum(max(_alike(stem, other) for other in others) for stem in stems)
    both += sum(max(_alike(stem, own) for own in stems) for stem in others)
    return both / (len(stems) + len(others))


def _alike(stem: str, other: str) -> float:
    """Return 1 for the same stem, less for one that begins alike, else 0."""
    return 1.0 if stem == other else _AKIN * is_akin(stem, other)
