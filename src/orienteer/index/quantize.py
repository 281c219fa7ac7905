"""Vectors in fewer bits: signs for a first scan, bytes for a second look, halves (16-bit floats) for the score.

Products are taken vector by vector (`np.vecdot`), which one thread does as quickly as the BLAS does a matrix times a
vector. For that the BLAS wakes a thread on every core: where another process wants the core, they wait for each other,
and a product of .08 ms was seen to take 8.

Signs and bytes are taken after the mean vector is subtracted. Sentence vectors share a direction, in some models with
a mean cosine of 0.8, and the sign of a shared part tells nothing: without this step a fifth of the neighbours is lost.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

Vector = NDArray[np.float32]
Halves = NDArray[np.float16]

BLOCK = 4_096  # vectors that are unpacked at a time: they stay in the processor's cache
_SCAN = 16_384  # vectors whose signs are compared at a time: memory at hand against calls
_WORD = 64  # bits
_LARGEST = 127  # of an int8; -128 is left out, so that steps are alike on both sides


class Center(NamedTuple):
    """The origin and the unit of signs and bytes."""

    mean: Vector
    """(dimension,): subtracted from every vector."""
    scale: Vector
    """(dimension,): the size of one step of a byte."""


def blocks(count: int, size: int = BLOCK) -> Iterator[slice]:
    """Cut `count` vectors into slices of `size`, the last one shorter."""
    return (slice(start, min(start + size, count)) for start in range(0, count, size))


def center_of(halves: Halves) -> Center:
    """Return the mean of (vectors, dimension), and the steps with which a byte spans the farthest vector in each
    dimension."""
    dimension = halves.shape[1]
    total = np.zeros(dimension)
    for part in blocks(len(halves)):
        total += halves[part].astype(np.float32).sum(axis=0, dtype=np.float64)
    mean = (total / max(len(halves), 1)).astype(np.float32)
    farthest = np.zeros(dimension, np.float32)
    for part in blocks(len(halves)):
        farthest = np.maximum(farthest, np.abs(halves[part].astype(np.float32) - mean).max(axis=0))
    return Center(mean, np.maximum(farthest / _LARGEST, np.finfo(np.float32).tiny))


def signs(vectors: Vector) -> NDArray[np.uint64]:
    """Return the signs of centred vectors, 64 in a word: (vectors, dimension) becomes (words, vectors)."""
    bits = np.packbits(vectors > 0, axis=1)  # (vectors, bytes)
    words = np.zeros((len(vectors), words_of(vectors.shape[1]) * 8), np.uint8)
    words[:, : bits.shape[1]] = bits
    return np.ascontiguousarray(words.view(np.uint64).T)  # (words, vectors): numpy counts along the long side


def words_of(dimension: int) -> int:
    """Return how many 64-bit words the signs of one vector fill."""
    return -(-dimension // _WORD)


def codes(vectors: Vector, scale: Vector) -> NDArray[np.int8]:
    """Return centred vectors as bytes: (vectors, dimension), in steps of `scale`, (dimension,)."""
    return np.asarray(np.clip(np.rint(vectors / scale), -_LARGEST, _LARGEST), np.int8)


def distances(
    words: NDArray[np.uint64], query: NDArray[np.uint64], places: NDArray[np.int64] | None = None
) -> NDArray[np.uint16]:
    """Count the signs in which vectors differ from a query: (vectors,), or (places,) where places are given.

    `words` is (words, vectors), as `signs` makes it; `query` is (words,).
    """
    count = words.shape[1] if places is None else len(places)
    total = np.zeros(count, np.uint16)
    for part in blocks(count, _SCAN):
        at: slice | NDArray[np.int64] = part if places is None else places[part]
        for word, wanted in zip(words, query, strict=True):
            total[part] += np.bitwise_count(word[at] ^ wanted)
    return total


def byte_products(
    stored: NDArray[np.int8], vector: Vector, places: NDArray[np.int64] | None = None
) -> NDArray[np.float32]:
    """Return the dot products of stored bytes, (vectors, dimension), with a vector: (vectors,), or (places,) where
    places are given."""
    count = len(stored) if places is None else len(places)
    total = np.empty(count, np.float32)
    buffer = np.empty((min(count, BLOCK), stored.shape[1]), np.float32)
    for part in blocks(count):
        some = buffer[: part.stop - part.start]
        some[:] = stored[part if places is None else places[part]]
        np.vecdot(some, vector, out=total[part])
    return total


def half_products(stored: Halves, vector: Vector, places: NDArray[np.int64]) -> NDArray[np.float64]:
    """Return the dot products of the stored halves at these places with a vector: (places,), rounded to seven digits.

    The order of a sum depends on how many rows are multiplied at once. Seven digits are the same in any order, so that
    equal vectors have equal products.
    """
    total = np.empty(len(places))
    wide = vector.astype(np.float64)
    for part in blocks(len(places)):
        np.vecdot(stored[places[part]].astype(np.float64), wide, out=total[part])
    return np.round(total, 7)
