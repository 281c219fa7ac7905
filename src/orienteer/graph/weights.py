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
        told = self._extras.take(missing.astype(np.int64))
        found = [_plain(one) for one in told]
        whole = [at for at, weight in enumerate(found) if weight is None]
        every = json.loads(b"[%b]" % b",".join(told[at] for at in whole))  # one call: half the time
        for at, carried in zip(whole, every, strict=True):
            rows = carried.get("properties", {}).get("rows")
            if isinstance(rows, list) and rows and all(isinstance(row, int) for row in rows):
                self._rows[int(missing[at])] = tuple(rows)
            found[at] = carried.get("weight", 1.0)
        known[missing] = np.array(found, np.float32)
        return known


def _plain(carried: bytes) -> float | None:
    """Return the weight in what an edge carries, as JSON, where the end tells it and there are no rows; else None."""
    if b'"rows"' in carried:
        return None
    if b'"weight"' not in carried:
        return 1.0
    try:
        # What ends in a number and one bracket ends in a value of its own, not in one of a property or of a text.
        return float(carried.rpartition(b'"weight": ')[2].removesuffix(b"}"))
    except ValueError:
        return None
