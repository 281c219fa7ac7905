"""Finds similar pairs: candidates among nearest neighbours, kept above a percentile (SAGE, section 2.1.B).

A *signal* is one way in which two things may be similar: the cosine of two fields, or the number of names in both.
Candidates of two kinds are, for each cosine, the `near` nearest of each thing among the other kind, and as many that
share most names. **Every signal is then computed for every candidate pair, and its percentile over all of them.** The
paper does not define the population of its percentiles; its counts imply some 137 candidates a node. Similar systems
that use only nearest neighbours move the percentile upward, and those that use all pairs cannot be run.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from itertools import product
from typing import Literal, NamedTuple, TypeAlias, get_args

import numpy as np
from numpy.typing import NDArray

from orienteer.graph.pieces.incidence import Lists

Matrix: TypeAlias = NDArray[np.float32]
Logic: TypeAlias = Literal["or", "and"]
PERCENTILES = (80, 85, 90, 95, 97, 99)
"""Those of the paper's table 5."""
_BLOCK = 1024  # rows whose neighbours are sought at once
_PAIRS = 1 << 15  # pairs that are compared at once, to bound memory


class RowPairs(NamedTuple):
    """Pairs of things by number: two columns of shape (pairs,)."""

    first: NDArray[np.int64]
    second: NDArray[np.int64]

    def __len__(self) -> int:
        return len(self.first)


@dataclass(frozen=True, slots=True)
class Candidates:
    """Pairs that may become edges, and each signal of each pair: (pairs,)."""

    pairs: RowPairs
    signals: Mapping[str, NDArray[np.float64]]
    measured: Mapping[str, NDArray[np.float64]] = field(default_factory=dict)
    """More similarities, for figures alone: no edge rests on them."""

    @property
    def every(self) -> dict[str, NDArray[np.float64]]:
        """Return the signals, and the similarities that are only measured."""
        return {**self.signals, **self.measured}

    def thresholds(self, percentile: float) -> dict[str, float]:
        """Return the percentile of each signal over all candidates."""
        return {
            name: float(np.percentile(values, percentile)) if len(values) else 0.0
            for name, values in self.signals.items()
        }

    def kept(self, thresholds: Mapping[str, float], *, logic: Logic = "or") -> NDArray[np.bool_]:
        """Mark the pairs that exceed the threshold of any signal, or with `and` of every signal: (pairs,)."""
        marks = [values > thresholds[name] for name, values in self.signals.items() if name in thresholds]
        if not marks:
            return np.zeros(len(self.pairs), np.bool_)
        return np.asarray(np.logical_or.reduce(marks) if logic == "or" else np.logical_and.reduce(marks))


def nearest(queries: Matrix, keys: Matrix, k: int, *, is_same: bool = False) -> RowPairs:
    """Return each query with its `k` nearest keys by inner product, the nearest first; ties go to the earlier key.

    With `is_same` queries and keys are the same things, and none is its own neighbour. Exact: every product is taken.
    """
    k = min(k, len(keys) - is_same)
    if k < 1 or not len(queries):
        return RowPairs(np.zeros(0, np.int64), np.zeros(0, np.int64))
    seconds = np.empty((len(queries), k), np.int64)
    for low in range(0, len(queries), _BLOCK):
        products = queries[low : low + _BLOCK] @ keys.T
        if is_same:
            rows = np.arange(len(products))
            products[rows, low + rows] = -np.inf
        kth = np.partition(products, products.shape[1] - k, axis=1)[:, products.shape[1] - k]
        for row, least in enumerate(kth):
            near = np.flatnonzero(products[row] >= least)
            seconds[low + row] = near[np.lexsort((near, -products[row, near]))[:k]]
    return RowPairs(np.repeat(np.arange(len(queries)), k), seconds.reshape(-1))


def distinct_pairs(near: Sequence[RowPairs], *, is_same: bool) -> RowPairs:
    """Return the pairs of several lists, each once, in ascending order; with `is_same` the lower number first."""
    first = np.concatenate([np.zeros(0, np.int64), *(pairs.first for pairs in near)])
    second = np.concatenate([np.zeros(0, np.int64), *(pairs.second for pairs in near)])
    if is_same:
        first, second = np.minimum(first, second), np.maximum(first, second)
    wide = 1 + int(second.max(initial=0))
    key = np.unique(first * wide + second)
    return RowPairs(key // wide, key % wide)


def cosines(vectors: Matrix, pairs: RowPairs) -> NDArray[np.float64]:
    """Return the cosines of pairs of vectors of length 1: (pairs,), to six places, so that equal texts tie."""
    values = np.empty(len(pairs))
    for low in range(0, len(pairs), _PAIRS):
        part = slice(low, low + _PAIRS)
        values[part] = np.einsum("ij,ij->i", vectors[pairs.first[part]], vectors[pairs.second[part]])
    return values.round(6)


def overlaps(sets: Lists, pairs: RowPairs) -> NDArray[np.float64]:
    """Return how many members the two sets of each pair share: (pairs,)."""
    wide = 1 + int(sets.members.max(initial=-1))
    owner = np.repeat(np.arange(len(sets.begins) - 1), sets.counts())
    keys = owner * wide + sets.members  # ascending
    shared = np.zeros(len(pairs))
    for low in range(0, len(pairs) if len(keys) else 0, _PAIRS):
        part = slice(low, low + _PAIRS)
        first, second = pairs.first[part], pairs.second[part]
        counts = sets.counts()[first]
        place = np.repeat(np.arange(len(first)), counts)
        within = np.arange(len(place)) - np.repeat(np.cumsum(counts) - counts, counts)
        wanted = second[place] * wide + sets.members[sets.begins[first][place] + within]
        is_shared = keys[keys.searchsorted(wanted).clip(max=len(keys) - 1)] == wanted
        shared[part] = np.bincount(place, is_shared, minlength=len(first))
    return shared


def percentile_table(several: Sequence[Candidates], nodes: int) -> list[dict[str, float | str]]:
    """Return how many edges each percentile and logic keeps, over all pairs of kinds: a row for each. SAGE, table 5.

    `share` is of the candidates, `density` of all pairs of nodes.
    """
    total = max(1, sum(len(pool.pairs) for pool in several))
    every = max(1, nodes * (nodes - 1) // 2)
    rows: list[dict[str, float | str]] = []
    for logic, percentile in product(get_args(Logic), PERCENTILES):
        count = sum(int(pool.kept(pool.thresholds(percentile), logic=logic).sum()) for pool in several)
        row: dict[str, float | str] = {"percentile": percentile, "logic": logic, "edges": count, "share": count / total}
        rows.append({**row, "mean_degree": 2 * count / max(1, nodes), "density": count / every})
    return rows


def correlations(pool: Candidates) -> dict[str, dict[str, float]]:
    """Return Pearson's r of each two signals over the candidates: SAGE, tables 17 to 19. 0 where one never varies."""
    names = list(pool.every)
    table: dict[str, dict[str, float]] = {name: {} for name in names}
    for first in names:
        for second in names:
            a, b = pool.every[first], pool.every[second]
            varies = len(a) > 1 and float(a.std()) > 0 and float(b.std()) > 0
            table[first][second] = round(float(np.corrcoef(a, b)[0, 1]), 4) if varies else float(first == second)
    return table
