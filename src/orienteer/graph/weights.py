"""What edges carry that expansion goes by, by their places in the adjacency arrays: weights, and rows of tables."""

from __future__ import annotations

import json

import numpy as np
from numpy.typing import NDArray

from orienteer.graph.adjacency import Adjacency
from orienteer.index.arrays import Strings


class EdgeWeights:
    """Reads the weight of an edge once, from what the edge carries, and remembers it. Safe among threads."""

    def __init__(self, adjacency: Adjacency, extras: Strings | None) -> None:
        self._adjacency, self._extras = adjacency, extras
        self._known: NDArray[np.float32] | None = None  # by number of what an edge carries; NaN before it is read
        self._rows: dict[int, tuple[int, ...]] = {}  # by the same number, of edges that stand in rows of a table

    def __call__(self, at: NDArray[np.int64]) -> NDArray[np.float64]:
        """Return the weight of the edge at each of these places; 1 where it has none of its own."""
        weights = np.ones(len(at))
        numbers = self._adjacency.extras(at)
        if self._extras is None or numbers is None:
            return weights
        carrying = np.flatnonzero(numbers >= 0)
        weights[carrying] = self._read(numbers[carrying])[numbers[carrying]]
        return weights

    def rows(self, at: NDArray[np.int64]) -> dict[int, tuple[int, ...]]:
        """Return the rows of a table that the edges at these places stand in, by index; others have no entry."""
        numbers = self._adjacency.extras(at)
        if self._extras is None or numbers is None:
            return {}
        self._read(numbers[numbers >= 0])
        held = self._rows
        return {index: held[number] for index, number in enumerate(numbers.tolist()) if number in held}

    def _read(self, numbers: NDArray[np.int32]) -> NDArray[np.float32]:
        """Read what has one of these numbers, as far as it is new, and return the weights of all that is read."""
        assert self._extras is not None  # what has a number is there
        if self._known is None:
            self._known = np.full(len(self._extras), np.nan, np.float32)
        known = self._known  # two threads may each make one: both hold the same, as far as they hold anything
        missing = np.unique(numbers[np.isnan(known[numbers])])
        found = []
        for number, raw in zip(missing.tolist(), self._extras.take(missing.astype(np.int64)), strict=True):
            carried = json.loads(raw)
            rows = carried.get("properties", {}).get("rows")
            if isinstance(rows, list) and rows and all(isinstance(row, int) for row in rows):
                self._rows[number] = tuple(rows)
            found.append(carried.get("weight", 1.0))
        known[missing] = found
        return known
