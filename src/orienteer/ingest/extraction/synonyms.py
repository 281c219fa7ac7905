"""Entities whose names mean nearly the same, told by an embedder: HippoRAG 2's edges of synonyms."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from numpy.typing import NDArray

from orienteer.graph.edges import EdgeBatch
from orienteer.ingest.extraction.records import SYNONYM

if TYPE_CHECKING:
    from orienteer.protocols import Embedder

LEAST_COSINE = 0.8
"""HippoRAG 2's code."""
NEAR = 100
"""Synonyms that a name has at the most, of those after it. HippoRAG 2's code."""
LEAST_CHARACTERS = 3
"""Letters and digits of a name that has synonyms. HippoRAG 2's code."""
_ROWS = 1024  # names that are compared with all others at once
_EMBEDDED = 2048
_DIGITS = re.compile(r"\d+")
Progress = Callable[[str, int], None]


class EntityName(NamedTuple):
    """An entity."""

    id: str
    name: str


def synonym_edges(entities: Sequence[EntityName], embedder: Embedder, progress: Progress) -> Iterator[EdgeBatch]:
    """Return the edges between near names: each pair once, from the earlier entity to the later.

    Names with other numbers in them are none: 1969 and 1968 are near to every embedder, and are not the same.
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
