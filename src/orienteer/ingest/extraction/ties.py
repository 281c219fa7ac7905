"""Edges between names that no text states: of names that stand together, and of names that mean nearly the same."""

from __future__ import annotations

import re
from array import array
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from itertools import combinations, pairwise
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from numpy.typing import NDArray

from orienteer.graph.builder import Progress
from orienteer.graph.edges import EdgeBatch
from orienteer.graph.reserved import TABLE
from orienteer.ingest.extraction.records import CO_OCCURS, SYNONYM
from orienteer.records import JsonValue, Node
from orienteer.text.sentences import split

if TYPE_CHECKING:
    from orienteer.protocols import Embedder
IN_CHUNK = 0.25
"""What two names count for that stand in one chunk and in no sentence of it together; in a sentence it is 1."""
MOST_OF_CHUNK = 60
"""Names of a chunk that are tied to one another; those of a longer list say little of each other."""
LONGEST_BETWEEN = 200
"""Characters between two names that are kept."""
_SHIFT = 32
_BATCH = 20_000
LEAST_COSINE = 0.8
"""HippoRAG 2's code."""
NEAR = 100
"""Synonyms that a name has at the most, of those after it. HippoRAG 2's code."""
LEAST_CHARACTERS = 3
"""Letters and digits of a name that has synonyms. HippoRAG 2's code."""
_ROWS = 1024  # names that are compared with all others at once
_EMBEDDED = 2048
_DIGITS = re.compile(r"\d+")
_WORD = re.compile(r"\w+")


# ------------------------------------------------------------------------------------------------- names in sentences


class Spot(NamedTuple):
    """A name in a sentence."""

    number: int
    begin: int
    end: int
    """Its characters, up to but not with this one."""


class SentenceNames(NamedTuple):
    """A sentence, or a row of a table, and the names in it in their order, no word part of two."""

    text: str
    spots: tuple[Spot, ...]


def sentences_of(node: Node) -> Iterator[str]:
    """Return the sentences of a chunk, the lines of a table."""
    if node.type == TABLE:
        yield from filter(None, node.text.split("\n"))
        return
    for line in node.text.split("\n"):
        yield from split(line)


class NamePlaces:
    """Finds names, given as folded words, in sentences: the longest first."""

    def __init__(self, keys: Mapping[str, int], *, lower: frozenset[int] = frozenset()) -> None:
        """Take names by number. Those in `lower` are found wherever they stand, others begin with no small letter."""
        self._keys, self._lower = keys, lower
        lengths: dict[str, set[int]] = {}
        for key in keys:
            lengths.setdefault(key.partition(" ")[0], set()).add(key.count(" ") + 1)
        self._lengths = {first: sorted(several, reverse=True) for first, several in lengths.items()}

    def within(self, sentence: str, among: frozenset[int]) -> SentenceNames:
        """Return the sentence with the names of this set, and those in lower case, that stand in it."""
        words = list(_WORD.finditer(sentence))
        folded = [word[0].casefold() for word in words]
        spots: list[Spot] = []
        at = 0
        while at < len(words):
            spot = self._spot(words, folded, at, among)
            if spot is not None:
                spots.append(spot[0])
            at += 1 if spot is None else spot[1]
        return SentenceNames(sentence, tuple(spots))

    def _spot(
        self, words: list[re.Match[str]], folded: list[str], at: int, among: frozenset[int]
    ) -> tuple[Spot, int] | None:
        """Return the longest name that begins at a word, and how many words it has."""
        for length in self._lengths.get(folded[at], ()):
            number = self._keys.get(" ".join(folded[at : at + length])) if at + length <= len(folded) else None
            if number is None or number not in among and number not in self._lower:
                continue
            if words[at][0][0].islower() and number not in self._lower:
                continue
            return Spot(number, words[at].start(), words[at + length - 1].end()), length
        return None


def distinct(spots: Iterable[Spot]) -> list[int]:
    """Return the names of spots, each once, in their order."""
    return list(dict.fromkeys(spot.number for spot in spots))


# ------------------------------------------------------------------------------------------ names that stand together


class _Ties(NamedTuple):
    codes: NDArray[np.int64]  # (pairs,): the smaller number << 32 | the other, ascending
    weights: NDArray[np.float64]
    begins: NDArray[np.int64]  # (pairs + 1,)
    parts: NDArray[np.int32]  # chunks, pair after pair


class CoOccurrences:
    """Counts pairs of names, given by number, chunk after chunk."""

    def __init__(self, *, most: int) -> None:
        """Keep at most that many ties of each name, and those that the other name keeps: hubs tie all to all."""
        self._most = most
        self._codes, self._parts, self._weights = array("q"), array("i"), array("d")
        self._between: dict[int, str] = {}

    def add(self, part: int, names: Sequence[int], sentences: Sequence[SentenceNames]) -> None:
        """Count the names of a chunk and of its sentences."""
        near: set[int] = set()
        for text, spots in sentences:
            near.update(_code(name, other) for name, other in combinations(distinct(spots)[:MOST_OF_CHUNK], 2))
            for spot, other in pairwise(spots):
                between = " ".join(text[spot.end : other.begin].split())
                if spot.number != other.number and 0 < len(between) <= LONGEST_BETWEEN:
                    self._between.setdefault(_code(spot.number, other.number), between)
        far = {_code(name, other) for name, other in combinations(names[:MOST_OF_CHUNK], 2)} - near
        for codes, weight in ((near, 1.0), (far, IN_CHUNK)):
            self._codes.extend(sorted(codes))
            self._parts.extend([part] * len(codes))
            self._weights.extend([weight] * len(codes))

    def edges(self, id_of: Callable[[int], str], chunks: Sequence[str]) -> Iterator[EdgeBatch]:
        """Return the ties as edges, given the ids of nodes and of chunks by number."""
        codes, parts = np.array(self._codes, np.int64), np.array(self._parts, np.int32)
        order = np.lexsort((parts, codes))
        unique, begins = np.unique(codes[order], return_index=True)
        weights = np.add.reduceat(np.array(self._weights)[order], begins) if len(unique) else np.zeros(0)
        ties = _Ties(unique, weights, np.append(begins, len(codes)), parts[order])
        strongest = _strongest(ties, self._most)
        for low in range(0, len(strongest), _BATCH):
            here = strongest[low : low + _BATCH].tolist()
            pairs = ties.codes[here].tolist()
            yield EdgeBatch(
                sources=[id_of(code >> _SHIFT) for code in pairs],
                types=[CO_OCCURS] * len(pairs),
                targets=[id_of(code & (1 << _SHIFT) - 1) for code in pairs],
                extras=[self._extra(ties, at, chunks) for at in here],
            )

    def _extra(self, ties: _Ties, at: int, chunks: Sequence[str]) -> dict[str, JsonValue]:
        parts = ties.parts[ties.begins[at] : ties.begins[at + 1]].tolist()
        extra: dict[str, JsonValue] = {
            "weight": float(ties.weights[at]),
            "properties": {"sources": [chunks[part] for part in parts]},
        }
        between = self._between.get(int(ties.codes[at]))
        return {**extra, "text": between} if between else extra


def _code(name: int, other: int) -> int:
    return min(name, other) << _SHIFT | max(name, other)


def _strongest(ties: _Ties, most: int) -> NDArray[np.int64]:
    """Return the ties that are among the strongest of either name; ties of one weight by number."""
    low, high = ties.codes >> _SHIFT, ties.codes & (1 << _SHIFT) - 1
    ends = np.concatenate([low, high])
    ranked = np.lexsort((np.tile(ties.codes, 2), -np.tile(ties.weights, 2), ends))
    group = ends[ranked]
    begins = np.searchsorted(group, group, "left")
    first = ranked[np.arange(len(ranked)) - begins < most]
    return np.unique(first % max(1, len(ties.codes)))


# ------------------------------------------------------------------------------------------- names that mean the same


class EntityName(NamedTuple):
    """An entity."""

    id: str
    name: str


def synonym_edges(entities: Sequence[EntityName], embedder: Embedder, progress: Progress) -> Iterator[EdgeBatch]:
    """Return the edges between near names: each pair once, from the earlier entity to the later.

    Names that contain different numbers are never joined: 1969 and 1968 are near for every embedder.
    """
    named = [entity for entity in entities if sum(map(str.isalnum, entity.name)) >= LEAST_CHARACTERS]
    if not named:
        return
    vectors = _unit([entity.name for entity in named], embedder, progress)
    digits = [_DIGITS.findall(entity.name) for entity in named]
    for low in range(0, len(named), _ROWS):
        near = vectors[low : low + _ROWS] @ vectors.T  # (some names, names)
        pairs = [
            (low + row, other, float(near[row, other]))
            for row in range(len(near))
            for other in _nearest(near[row], low + row)
            if digits[low + row] == digits[other]
        ]
        yield EdgeBatch(
            sources=[named[place].id for place, _, _ in pairs],
            types=[SYNONYM] * len(pairs),
            targets=[named[other].id for _, other, _ in pairs],
            extras=[{"weight": round(cosine, 4)} for _, _, cosine in pairs],
        )
        progress("comparing names", low + len(near))


def _unit(names: Sequence[str], embedder: Embedder, progress: Progress) -> NDArray[np.float32]:
    parts = []
    for low in range(0, len(names), _EMBEDDED):
        parts.append(np.asarray(embedder.embed(names[low : low + _EMBEDDED], kind="document"), np.float32))
        progress("embedding names", low + len(parts[-1]))
    vectors = np.concatenate(parts)
    lengths = np.linalg.norm(vectors, axis=1, keepdims=True)
    return np.asarray(vectors / np.where(lengths > 0, lengths, 1.0), np.float32)


def _nearest(cosines: NDArray[np.float32], row: int) -> list[int]:
    """Return the names after this one that are near, the nearest of them, ties by their place."""
    after = row + 1 + np.flatnonzero(cosines[row + 1 :] >= LEAST_COSINE)
    return sorted(after[np.argsort(-cosines[after], kind="stable")][:NEAR].tolist())
