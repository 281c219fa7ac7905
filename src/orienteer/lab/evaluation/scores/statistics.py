"""Intervals of means, and tests of a difference between two methods on the same questions.

Everything is seeded, deterministic and vectorised. The scores of a method are mostly 0, 1 and a few shares, so the
bootstrap draws how often each value comes up: the same experiment as drawing the questions one by one, and far cheaper.
If there are many values, one draw of questions serves all columns; the figures of a column do not depend on the
others.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray

RESAMPLES = 10_000  # the ends of a 95 % interval then move by about a twentieth of its width between seeds
CONFIDENCE = 0.95
EXACT = 14  # with no more questions than this on which two methods differ, every assignment of signs is tried
_BATCH = 2_000_000  # numbers held at once
_REPEATED = 10  # with this many questions for each distinct value, drawing counts of values is cheaper
_NORMAL_975, _NORMAL_80 = 1.959964, 0.841621  # quantiles of the normal distribution

# Several lists of scores of the same questions: (columns, questions).
Columns: TypeAlias = Sequence[Sequence[float]] | Sequence[NDArray[np.float64]]


class Interval(NamedTuple):
    """A mean and its interval."""

    mean: float
    low: float
    high: float


def mean_interval(values: Sequence[float], *, random_seed: int = 0, resamples: int = RESAMPLES) -> Interval:
    """Return the mean with its percentile bootstrap interval (Efron and Tibshirani 1993, chapter 13).

    Values that are all equal, a single one included, give an interval without width: the bootstrap knows nothing beyond
    its sample, so read it together with n. Raises `ValueError` without values.
    """
    return mean_intervals([values], random_seed=random_seed, resamples=resamples)[0]


def mean_intervals(columns: Columns, *, random_seed: int = 0, resamples: int = RESAMPLES) -> list[Interval]:
    """Return the `mean_interval` of each column of scores: (columns, questions). Raises `ValueError` without values."""
    if not columns:
        return []
    table = np.array(columns, np.float64)  # (columns, questions)
    if not table.shape[1]:
        raise ValueError("the mean of no values is not defined")
    n = table.shape[1]
    tail = 100 * (1 - CONFIDENCE) / 2
    intervals: list[Interval] = []
    for row, totals in zip(table, _resampled_totals(table, random_seed, resamples), strict=True):
        mean = float(row[0]) if (row == row[0]).all() else math.fsum(row) / n
        low, high = np.percentile(totals / n, (tail, 100 - tail)) if (row != row[0]).any() else (mean, mean)
        intervals.append(Interval(mean, min(mean, float(low)), max(mean, float(high))))
    return intervals


def permutation_ps(columns: Columns, *, random_seed: int = 0, resamples: int = RESAMPLES) -> list[float]:
    """Return the two-sided p of the paired sign-flip test: how often chance alone gives so large a difference.

    `columns` are differences between two methods, question by question: (columns, questions). Exact if at most
    `EXACT` of them are not 0; else from random flips, the observed one counted among them, so that p is never 0
    (Phipson and Smyth 2010). 1 if all are 0.
    """
    if not columns:
        return []
    table = np.array(columns, np.float64)  # (columns, questions)
    ps = np.zeros(len(table))
    drawn = np.count_nonzero(table, axis=1) > EXACT
    for place in np.flatnonzero(~drawn):
        # Few enough differences that every assignment of signs can be tried.
        gains = table[place][table[place] != 0]
        signs = 1 - 2 * ((np.arange(2 ** len(gains))[:, None] >> np.arange(len(gains))) & 1)  # (assignments, questions)
        ps[place] = float(np.mean(np.abs(signs @ gains) >= _observed(gains)))
    if drawn.any():
        # Flips of signs are the same for all columns, so that their ps can be compared.
        table = table[drawn]
        n = table.shape[1]
        observed = np.array([_observed(row) for row in table])  # (columns,)
        as_large = np.zeros(len(table), np.int64)
        generator = np.random.default_rng(random_seed)
        for size in _batches(resamples, n):
            bits = np.frombuffer(generator.bytes(size * ((n + 7) // 8)), np.uint8).reshape(size, -1)
            flips = 1.0 - 2.0 * np.unpackbits(bits, axis=1, count=n)  # (flips, questions)
            as_large += np.count_nonzero(np.abs(flips @ table.T) >= observed, axis=0)
        ps[drawn] = (1 + as_large) / (1 + resamples)
    return [float(p) for p in ps]


def holm(p_values: Sequence[float]) -> list[float]:
    """Correct p values for their number, in the order given (Holm 1979)."""
    corrected = [0.0] * len(p_values)
    highest = 0.0
    for rank, place in enumerate(sorted(range(len(p_values)), key=p_values.__getitem__)):
        highest = max(highest, min(1.0, p_values[place] * (len(p_values) - rank)))
        corrected[place] = highest
    return corrected


def questions_needed(ours: Sequence[float], theirs: Sequence[float], *, smallest: float) -> int | None:
    """Estimate the number of questions that would separate two methods, if their difference is as large as it seems.

    With that many, the 95 % interval leaves out 0 in four of five experiments, by the normal approximation. A
    difference below `smallest` counts as that large. None for fewer than two questions, or differences without spread.
    """
    gains = np.asarray(differences(ours, theirs), np.float64)
    if len(gains) < 2 or not (spread := float(gains.std(ddof=1))):
        return None
    size = max(smallest, abs(float(gains.mean())))
    return math.ceil(((_NORMAL_975 + _NORMAL_80) * spread / size) ** 2)


def differences(ours: Sequence[float], theirs: Sequence[float]) -> list[float]:
    """Return ours - theirs, question by question. Raises `ValueError` if the two have different lengths."""
    return [our - their for our, their in zip(ours, theirs, strict=True)]


def _resampled_totals(table: NDArray[np.float64], random_seed: int, resamples: int) -> NDArray[np.float64]:
    """Return the sum of each resample of the questions: (columns, resamples) from (columns, questions)."""
    n = table.shape[1]
    totals = np.zeros((len(table), resamples))
    varied: list[int] = []  # columns of many distinct values
    for place, row in enumerate(table):
        distinct, counts = np.unique(row, return_counts=True)
        if n < _REPEATED * len(distinct):
            varied.append(place)
            continue
        generator = np.random.default_rng(random_seed)
        totals[place] = np.concatenate(
            [
                generator.multinomial(n, counts / n, size=size) @ distinct  # (resamples of this batch,)
                for size in _batches(resamples, len(distinct))
            ]
        )
    if varied:
        generator = np.random.default_rng(random_seed)
        chosen = table[varied].T  # (questions, columns)
        weights = (_times_drawn(generator, size, n) for size in _batches(resamples, n))
        totals[varied] = np.concatenate([batch @ chosen for batch in weights]).T
    return totals


def _times_drawn(generator: np.random.Generator, resamples: int, n: int) -> NDArray[np.float64]:
    """Draw n questions for each resample, and count how often each was drawn: (resamples, questions)."""
    drawn = generator.integers(0, n, (resamples, n)) + n * np.arange(resamples)[:, None]
    return np.bincount(drawn.ravel(), minlength=resamples * n).reshape(resamples, n).astype(np.float64)


def _observed(gains: NDArray[np.float64]) -> float:
    """Return the observed sum, without its last bits: equal sums in another order may differ there."""
    return abs(math.fsum(gains)) * (1 - 1e-9) - 1e-9


def _batches(total: int, width: int) -> list[int]:
    """Cut a number of rows into batches that fit into memory at this width."""
    most = max(1, _BATCH // max(1, width))
    return [min(most, total - start) for start in range(0, total, most)]
