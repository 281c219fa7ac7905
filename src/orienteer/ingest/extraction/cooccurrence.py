"""Which names stand together in sentences and chunks, how often, and the strongest ties of each."""

from __future__ import annotations

from array import array
from collections.abc import Callable, Iterator, Sequence
from itertools import combinations, pairwise
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from orienteer.graph.edges import EdgeBatch
from orienteer.ingest.extraction.places import Sentence, distinct
from orienteer.ingest.extraction.records import CO_OCCURS
from orienteer.records import JsonValue

IN_CHUNK = 0.25
"""What two names count for that stand in one chunk and in no sentence of it together; in a sentence it is 1."""
MOST_OF_CHUNK = 60
"""Names of a chunk that are tied to one another; those of a longer list say little of each other."""
LONGEST_BETWEEN = 200
"""Characters between two names that are kept."""
_SHIFT = 32
_BATCH = 20_000


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

    def add(self, part: int, names: Sequence[int], sentences: Sequence[Sentence]) -> None:
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
        ties = self._ties()
        strongest = _strongest(ties, self._most)
        for low in range(0, len(strongest), _BATCH):
            here = strongest[low : low + _BATCH].tolist()
            codes = ties.codes[here].tolist()
            yield EdgeBatch(
                sources=[id_of(code >> _SHIFT) for code in codes],
                types=[CO_OCCURS] * len(codes),
                targets=[id_of(code & (1 << _SHIFT) - 1) for code in codes],
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

    def _ties(self) -> _Ties:
        codes, parts = np.array(self._codes, np.int64), np.array(self._parts, np.int32)
        order = np.lexsort((parts, codes))
        unique, begins = np.unique(codes[order], return_index=True)
        weights = np.add.reduceat(np.array(self._weights)[order], begins) if len(unique) else np.zeros(0)
        return _Ties(unique, weights, np.append(begins, len(codes)), parts[order])


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
