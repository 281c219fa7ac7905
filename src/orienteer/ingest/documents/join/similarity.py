"""Finds similar pairs: candidates among nearest neighbours, kept above a percentile (SAGE, section 2.1.B).

A *signal* is one way in which two things may be alike: the cosine of two fields, or the number of names in both.
Candidates of a pair of modalities are, for each cosine, the `near` nearest of each thing on the other side, and as many
that share most names. **Every signal is then taken of every candidate pair, and its percentile over all of them**: the
paper does not say what its percentiles are taken over; its counts imply some 137 candidates a node (systems of this
kind that take a percentile of nearest neighbours alone move it upward, and those that take all pairs cannot be run).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal, NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray

Matrix: TypeAlias = NDArray[np.float32]
Logic: TypeAlias = Literal["or", "and"]
PERCENTILES = (80, 85, 90, 95, 97, 99)
"""Those of the paper's table 5."""
_BLOCK = 1024  # rows whose neighbours are sought at once
_PAIRS = 1 << 15  # pairs whose cosines are taken at once, of two vectors each


class RowPairs(NamedTuple):
    """Pairs of rows: of one side and of the other."""

    first: NDArray[np.int64]
    second: NDArray[np.int64]

    def __len__(self) -> int:
        return len(self.first)


@dataclass(frozen=True, slots=True)
class Candidates:
    """Pairs that may become edges, and each signal of each of them."""

    pairs: RowPairs
    signals: Mapping[str, NDArray[np.float64]]

    def thresholds(self, percentile: float) -> dict[str, float]:
        """Return the percentile of each signal over all candidates."""
        return {
            name: float(np.percentile(values, percentile)) if len(values) else 0.0
            for name, values in self.signals.items()
        }

    def passing(self, thresholds: Mapping[str, float]) -> dict[str, NDArray[np.bool_]]:
        """Mark, for each signal that has a threshold, the pairs that exceed it: (pairs,) each."""
        return {name: values > thresholds[name] for name, values in self.signals.items() if name in thresholds}

    def kept(self, thresholds: Mapping[str, float], *, logic: Logic = "or") -> NDArray[np.bool_]:
        """Mark the pairs that exceed the threshold of any signal, or with `and` of every signal: (pairs,)."""
        marks = list(self.passing(thresholds).values())
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


def candidates(
    near: Sequence[RowPairs],
    signals: Mapping[str, Callable[[RowPairs], NDArray[np.float64]]],
    *,
    is_same: bool,
    wide: int,
) -> Candidates:
    """Return all pairs of several lists, each once, with every signal of each; `wide` is the number of second things.

    With `is_same` both sides are the same things, and a pair stands once, the earlier first.
    """
    first = np.concatenate([np.zeros(0, np.int64), *(pairs.first for pairs in near)])
    second = np.concatenate([np.zeros(0, np.int64), *(pairs.second for pairs in near)])
    if is_same:
        first, second = np.minimum(first, second), np.maximum(first, second)
    key = np.unique(first * wide + second)
    pairs = RowPairs(key // max(1, wide), key % max(1, wide))
    return Candidates(pairs, {name: signal(pairs) for name, signal in signals.items()})


def cosines(first: Matrix, second: Matrix) -> Callable[[RowPairs], NDArray[np.float64]]:
    """Return the signal of two fields whose vectors have length 1, to six places, so that equal texts tie."""

    def signal(pairs: RowPairs) -> NDArray[np.float64]:
        values = np.empty(len(pairs))
        for low in range(0, len(pairs), _PAIRS):
            part = slice(low, low + _PAIRS)
            values[part] = np.einsum("ij,ij->i", first[pairs.first[part]], second[pairs.second[part]])
        return values.round(6)

    return signal


class Sets(NamedTuple):
    """A set of numbers for each of several things, in one array."""

    begins: NDArray[np.int64]
    members: NDArray[np.int32]

    def take(self, rows: NDArray[np.int64]) -> Sets:
        """Return the sets of some things."""
        counts = np.diff(self.begins)[rows]
        ends = np.cumsum(counts)
        at = np.repeat(self.begins[rows] - (ends - counts), counts) + np.arange(int(counts.sum()))
        return Sets(np.concatenate([[0], ends]), self.members[at])


def overlaps(first: Sets, second: Sets) -> Callable[[RowPairs], NDArray[np.float64]]:
    """Return the signal of how many members two sets share: (pairs,)."""
    wide = 1 + max(int(sets.members.max(initial=-1)) for sets in (first, second))
    owner = np.repeat(np.arange(len(second.begins) - 1), np.diff(second.begins))
    keys = np.sort(owner * wide + second.members)

    def signal(pairs: RowPairs) -> NDArray[np.float64]:
        shared = np.zeros(len(pairs))
        for low in range(0, len(pairs), _PAIRS):
            part = slice(low, min(low + _PAIRS, len(pairs)))
            members = first.take(pairs.first[part])
            counts = np.diff(members.begins)
            wanted = np.repeat(pairs.second[part], counts) * wide + members.members
            at = keys.searchsorted(wanted).clip(max=max(len(keys) - 1, 0))
            is_here = keys[at] == wanted if len(keys) else np.zeros(len(wanted), np.bool_)
            places = np.repeat(np.arange(len(counts)), counts)
            shared[part] = np.bincount(places, is_here, minlength=len(counts))
        return shared

    return signal


class PercentileRow(NamedTuple):
    """A row of the paper's table 5."""

    percentile: int
    logic: Logic
    edges: int
    share: float
    """The share of the candidate pairs that are kept."""
    mean_degree: float
    density: float
    """Edges as a share of all pairs of nodes."""


def percentile_table(several: Sequence[Candidates], nodes: int) -> tuple[PercentileRow, ...]:
    """Return how many edges each percentile and logic keeps, over all pairs of modalities. SAGE, table 5."""
    total = max(1, sum(len(pool.pairs) for pool in several))
    every = max(1, nodes * (nodes - 1) // 2)
    rows = []
    for logic in ("or", "and"):
        for percentile in PERCENTILES:
            count = sum(int(pool.kept(pool.thresholds(percentile), logic=logic).sum()) for pool in several)
            rows.append(
                PercentileRow(percentile, logic, count, count / total, 2 * count / max(1, nodes), count / every)
            )
    return tuple(rows)


def correlations(pool: Candidates) -> dict[str, dict[str, float]]:
    """Return Pearson's r of each two signals over the candidates: SAGE, tables 17 to 19. 0 where one never varies."""
    names = list(pool.signals)
    table: dict[str, dict[str, float]] = {name: {} for name in names}
    for first in names:
        for second in names:
            a, b = pool.signals[first], pool.signals[second]
            varies = len(a) > 1 and float(a.std()) > 0 and float(b.std()) > 0
            table[first][second] = round(float(np.corrcoef(a, b)[0, 1]), 4) if varies else float(first == second)
    return table
