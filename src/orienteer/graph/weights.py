"""The weights of edges, and the rows of tables that edges belong to, by their places in the adjacency arrays."""

from __future__ import annotations

import json

import numpy as np
from numpy.typing import NDArray

from orienteer.graph.adjacency import Adjacency
from orienteer.index.arrays import Strings


class EdgeWeights:
    """Reads the weight of an edge once, from its extra, and remembers it. Safe among threads."""

    def __init__(self, adjacency: Adjacency, extras: Strings | None) -> None:
        self._adjacency, self._extras = adjacency, extras
        self._known: NDArray[np.float32] | None = None  # (extras,): by the extra's number; NaN before it is read
        self._rows: dict[int, tuple[int, ...]] = {}  # by the extra's number, for edges from rows of a table

    def __call__(self, at: NDArray[np.int64]) -> NDArray[np.float64]:
        """Return the weight of the edge at each place: (places,), 1 for an edge without a weight."""
        weights = np.ones(len(at))
        numbers = self._adjacency.extras(at)
        if self._extras is None or numbers is None:
            return weights
        carrying = np.flatnonzero(numbers >= 0)
        weights[carrying] = self._read(numbers[carrying])[numbers[carrying]]
        return weights

    def rows(self, at: NDArray[np.int64]) -> dict[int, tuple[int, ...]]:
        """Return the table rows of the edges at these places, by index in `at`; edges without any have no entry."""
        numbers = self._adjacency.extras(at)
        if self._extras is None or numbers is None:
            return {}
        self._read(numbers[numbers >= 0])
        table_rows = self._rows
        return {index: table_rows[number] for index, number in enumerate(numbers.tolist()) if number in table_rows}

    def _read(self, numbers: NDArray[np.int32]) -> NDArray[np.float32]:
        """Read the extras with these numbers that are new; return all weights so far, (extras,), by number."""
        assert self._extras is not None  # the callers have checked
        if self._known is None:
            self._known = np.full(len(self._extras), np.nan, np.float32)
        weights = self._known  # two threads may each make an array: the entries that are filled in agree
        missing = np.unique(numbers[np.isnan(weights[numbers])])
        texts = self._extras.take(missing.astype(np.int64))
        values = [_plain(text) for text in texts]
        whole = [at for at, weight in enumerate(values) if weight is None]
        every = json.loads(b"[%b]" % b",".join(texts[at] for at in whole))  # one call: half the time
        for at, carried in zip(whole, every, strict=True):
            rows = carried.get("properties", {}).get("rows")
            if isinstance(rows, list) and rows and all(isinstance(row, int) for row in rows):
                self._rows[int(missing[at])] = tuple(rows)
            values[at] = carried.get("weight", 1.0)
        weights[missing] = np.array(values, np.float32)
        return weights


def _plain(carried: bytes) -> float | None:
    """Return the weight in an extra's JSON if its last characters tell it and it has no table rows; else None."""
    if b'"rows"' in carried:
        return None
    if b'"weight"' not in carried:
        return 1.0
    try:
        # JSON that ends in a number and one bracket ends in a value of the extra itself, not of a property or a text.
        return float(carried.rpartition(b'"weight": ')[2].removesuffix(b"}"))
    except ValueError:
        return None
