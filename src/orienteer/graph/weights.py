"""The weights of edges by their places in the adjacency arrays."""

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

    def __call__(self, at: NDArray[np.int64]) -> NDArray[np.float64]:
        """Return the weight of the edge at each of these places; 1 where it has none of its own."""
        weights = np.ones(len(at))
        numbers = self._adjacency.extras(at)
        if self._extras is None or numbers is None:
            return weights
        if self._known is None:
            self._known = np.full(len(self._extras), np.nan, np.float32)
        known = self._known  # two threads may each make one: both hold the same, as far as they hold anything
        carrying = np.flatnonzero(numbers >= 0)
        wanted = numbers[carrying]
        missing = np.unique(wanted[np.isnan(known[wanted])])
        if len(missing):
            known[missing] = [json.loads(raw).get("weight", 1.0) for raw in self._extras.take(missing.astype(np.int64))]
        weights[carrying] = known[wanted]
        return weights
