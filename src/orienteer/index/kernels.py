"""Compiled loops for large builds, where they can be had."""

from __future__ import annotations

from importlib.util import find_spec
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

WORTH_BYTES = 50_000_000
"""Text from which on compiled loops earn back the seconds that loading or compiling them takes."""


class Kernels(Protocol):
    """What `orienteer.index.compiled.postings` has; each function does what the numpy beside its use does."""

    def hash_words(
        self,
        buffer: NDArray[np.uint8],
        ends: NDArray[np.int64],
        hashes: NDArray[np.uint64],
        starts: NDArray[np.int64],
        lengths: NDArray[np.int64],
        /,
    ) -> NDArray[np.int64]:
        """Find and hash the words of texts, folding ASCII letters in place."""

    def number_words(
        self,
        hashes: NDArray[np.uint64],
        keys: NDArray[np.uint64],
        values: NDArray[np.int32],
        count: int,
        numbers: NDArray[np.int32],
        new: NDArray[np.int64],
        /,
    ) -> tuple[int, int]:
        """Number words by a table, adding new ones while it has room."""

    def insert(
        self,
        keys: NDArray[np.uint64],
        values: NDArray[np.int32],
        table_keys: NDArray[np.uint64],
        table_values: NDArray[np.int32],
        /,
    ) -> None:
        """Put words into a table that lacks them and has room."""

    def count_terms(
        self,
        numbers: NDArray[np.int32],
        firsts: NDArray[np.int64],
        expansion: NDArray[np.int32],
        buckets: NDArray[np.uint8],
        state: NDArray[np.int32],
        lengths: NDArray[np.int32],
        /,
    ) -> tuple[NDArray[np.int32], NDArray[np.int32], NDArray[np.int32], NDArray[np.int32]]:
        """Count the terms of each text."""

    def block_maxima(
        self,
        begins: NDArray[np.int64],
        blocks: NDArray[np.int64],
        size: int,
        rows: NDArray[np.int32],
        frequencies: NDArray[np.uint8],
        saturation: NDArray[np.float64],
        best: NDArray[np.float32],
        /,
    ) -> None:
        """Take the largest share of each block of postings."""


def kernels(text_bytes: int) -> Kernels | None:
    """Return the compiled loops where numba is installed and this much text is worth them, else None."""
    if text_bytes < WORTH_BYTES or find_spec("numba") is None:
        return None
    from orienteer.index.compiled import postings

    return postings
