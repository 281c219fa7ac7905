"""Exact BM25 in compiled loops: the same rows and the same scores, bit for bit, as `index.bm25` finds with numpy.

Scores are summed in float64, in the order in which the terms are given. A row is left out as soon as an upper bound
proves that it cannot reach the first `k` (Turtle and Flood's MaxScore, with a maximum for each block of postings as in
Ding and Suel). Code is compiled at the first call and kept in a file for later processes.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple, ParamSpec, TypeVar, cast

import numba
import numpy as np
from numpy.typing import NDArray

_P = ParamSpec("_P")
_R = TypeVar("_R")
_SLACK = 1 - 1e-9  # bounds are float32 rounded up and sums round: leave room before anything is dropped
_ROUNDED = 1 - 2.0**-22  # the most that rounding a float32 up adds
_END = np.iinfo(np.int32).max  # stands after every row: a graph has fewer nodes
_LOAD = -1  # stands after the postings of a block that are at hand


class Index(NamedTuple):
    """The arrays of a text index, and what its scores are made of. The arrays are mapped, so read-only."""

    rows: NDArray[np.int32]
    frequencies: NDArray[np.uint8]
    large_at: NDArray[np.int64]
    large: NDArray[np.int32]
    block_best: NDArray[np.float32]
    lengths: NDArray[np.int32]
    block: int
    """Postings under one maximum."""
    flat: float
    slope: float
    """A hit scores idf * tf / (tf + flat + slope * length)."""


class QueryTerms(NamedTuple):
    """The terms of a query, (terms,) each, the term that can add most first: where its postings and blocks are, and
    what they add."""

    begins: NDArray[np.int64]
    ends: NDArray[np.int64]
    blocks: NDArray[np.int64]
    idfs: NDArray[np.float64]
    bounds: NDArray[np.float64]


class BestRows(NamedTuple):
    """The best rows in no particular order."""

    rows: NDArray[np.int32]
    scores: NDArray[np.float64]


class _Walk(NamedTuple):
    """How far each term is: the first place not passed, its block, and that block's postings with what they add."""

    at: NDArray[np.int64]
    blocks: NDArray[np.int64]
    heads: NDArray[np.int32]
    """The next row; `_LOAD` at the end of a block, `_END` after the last."""
    places: NDArray[np.int64]
    near_at: NDArray[np.int64]  # (terms, block + 1)
    near_rows: NDArray[np.int32]  # (terms, block + 1)
    near_scores: NDArray[np.float64]  # (terms, block + 1)


def _compiled(function: Callable[_P, _R]) -> Callable[_P, _R]:
    return cast(Callable[_P, _R], numba.njit(cache=True, nogil=True, error_model="numpy")(function))


# ------------------------------------------------------------------------------------------------- what is called


@_compiled
def few(index: Index, query: QueryTerms, among: NDArray[np.int32], k: int) -> BestRows:
    """Return the `k` best of some ascending rows. A row's terms are looked up until it cannot reach the first k."""
    rest = _rest(query.bounds)
    at = query.begins.copy()
    scores, rows = np.empty(k), np.empty(k, np.int32)
    size, floor = 0, 0.0
    for row in among:
        score = 0.0
        for term in range(len(at)):
            if score + rest[term] < floor:
                score = 0.0
                break
            at[term] = place = _gallop(index.rows, at[term], query.ends[term], row)
            if place < query.ends[term] and index.rows[place] == row:
                score += _contribution(index, query.idfs[term], place, row)
        if score > 0 and (size < k or score > scores[0]):
            size = _keep(scores, rows, size, score, row)
            floor = _raised(floor, scores, size)
    return BestRows(rows[:size], scores[:size])


@_compiled
def many(index: Index, query: QueryTerms, among: NDArray[np.int32], marks: NDArray[np.bool_], k: int) -> BestRows:
    """Return the `k` best of some rows. `marks` is scratch: (nodes,), all False before and after."""
    for row in among:
        marks[row] = True
    best = everywhere(index, query, marks, k)
    for row in among:
        marks[row] = False
    return best


@_compiled
def everywhere(index: Index, query: QueryTerms, mask: NDArray[np.bool_], k: int) -> BestRows:
    """Return the `k` best rows under a mask, (nodes,); an empty mask hides nothing.

    The postings of the terms that can add most are walked in row order. As soon as the other terms together cannot
    lift a row to the first k, they are only looked up for the rows of the former.
    """
    rest = _rest(query.bounds)
    walk = _start(query, index.block)
    scores, rows = np.empty(k), np.empty(k, np.int32)
    size, floor = 0, _seed(index, query, mask, k)
    leading = _leading(rest, floor, len(query.idfs))
    at = walk.at
    heads, places, near_rows, near_scores = walk.heads, walk.places, walk.near_rows, walk.near_scores
    while True:
        row = heads[0]
        for term in range(1, leading):
            row = min(row, heads[term])
        if row == _END:
            return BestRows(rows[:size], scores[:size])
        if row == _LOAD:
            _load(index, query, walk, leading, floor - rest[0], mask)
            continue
        score = 0.0
        for term in range(leading):
            # No branch: which term has the next row is a coin toss, and a processor pays for each wrong guess.
            is_here = heads[term] == row
            place = places[term]
            score += near_scores[term, place] * is_here
            place += is_here
            places[term], heads[term] = place, near_rows[term, place]
        for term in range(leading, len(at)):
            if score + rest[term] < floor:
                score = 0.0
                break
            at[term] = place = _gallop(index.rows, at[term], query.ends[term], row)
            if place < query.ends[term] and index.rows[place] == row:
                score += _contribution(index, query.idfs[term], place, row)
        if score > 0 and (size < k or score > scores[0]):
            size = _keep(scores, rows, size, score, row)
            floor = _raised(floor, scores, size)
            leading = _leading(rest, floor, leading)


# --------------------------------------------------------------------------------------------------------- scores


@_compiled
def _contribution(index: Index, idf: float, at: int, row: int) -> float:
    """Return what a posting adds to the score of its row."""
    stored = index.frequencies[at]
    frequency = np.float64(stored)
    if stored == 255 and len(index.large_at):
        frequency = np.float64(index.large[np.searchsorted(index.large_at, at)])
    return idf * frequency / (frequency + (index.flat + index.slope * np.float64(index.lengths[row])))


@_compiled
def _rest(bounds: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return the most that each term and those after it add together; 0 after the last."""
    rest = np.zeros(len(bounds) + 1)
    for term in range(len(bounds) - 1, -1, -1):
        rest[term] = rest[term + 1] + bounds[term]
    return rest


@_compiled
def _leading(rest: NDArray[np.float64], floor: float, leading: int) -> int:
    """Return how many terms have to be walked: the others together stay below the floor."""
    while leading > 1 and rest[leading - 1] < floor:
        leading -= 1
    return leading


@_compiled
def _seed(index: Index, query: QueryTerms, mask: NDArray[np.bool_], k: int) -> float:
    """Return a score that k rows reach by one term alone: the best posting of each of its blocks is one row.

    A mask may hide just those: then 0.
    """
    floor = 0.0
    if len(mask):
        return floor
    best, no_rows = np.empty(k), np.empty(k, np.int32)
    for term in range(len(query.idfs)):
        first = query.blocks[term]
        end = first + -(-(query.ends[term] - query.begins[term]) // index.block)
        if end - first < k or query.bounds[term] <= floor:
            continue
        size = 0
        for block in range(first, end):
            top = index.block_best[block]
            if top < 1 and (size < k or top > best[0]):  # 1 bounds frequencies beyond a byte: none reaches it
                size = _keep(best, no_rows, size, top, 0)
        if size == k:
            floor = max(floor, best[0] * query.idfs[term])
    return floor * _ROUNDED * _SLACK


# ------------------------------------------------------------------------------------------------------ postings


@_compiled
def _gallop(rows: NDArray[np.int32], at: int, end: int, row: int) -> int:
    """Return the first place from `at` on whose row is not smaller. A near place takes fewer steps than a far one."""
    if at >= end or rows[at] >= row:
        return at
    step = 1
    while at + step < end and rows[at + step] < row:
        at += step
        step *= 2
    high = min(at + step, end)
    at += 1
    while at < high:
        middle = (at + high) // 2
        if rows[middle] < row:
            at = middle + 1
        else:
            high = middle
    return at


@_compiled
def _start(query: QueryTerms, block: int) -> _Walk:
    """Return a walk that stands before the first block of every term."""
    terms = len(query.begins)
    return _Walk(
        query.begins.copy(),
        np.full(terms, -1),
        np.full(terms, _LOAD, np.int32),
        np.zeros(terms, np.int64),
        np.empty((terms, block + 1), np.int64),
        np.empty((terms, block + 1), np.int32),
        np.zeros((terms, block + 1)),
    )


@_compiled
def _load(index: Index, query: QueryTerms, walk: _Walk, leading: int, short: float, mask: NDArray[np.bool_]) -> None:
    """Read the next block of each leading term that is at the end of one, leaving out blocks that add too little.

    A row is `short` of the floor even if each term adds its most, where this is positive.
    """
    for term in range(leading):
        if walk.heads[term] != _LOAD:
            continue
        begin, end, idf = query.begins[term], query.ends[term], query.idfs[term]
        blocks = -(-(end - begin) // index.block)
        block = walk.blocks[term] + 1
        while block < blocks and idf * index.block_best[query.blocks[term] + block] < short + query.bounds[term]:
            block += 1
        walk.places[term], walk.blocks[term] = 0, block
        if block >= blocks:
            walk.near_rows[term, 0] = _END
        else:
            walk.at[term] = first = begin + block * index.block
            end = min(first + index.block, end)
            _read(index, idf, first, end, mask, walk.near_at[term], walk.near_rows[term], walk.near_scores[term])
        walk.heads[term] = walk.near_rows[term, 0]


@_compiled
def _read(
    index: Index,
    idf: float,
    first: int,
    end: int,
    mask: NDArray[np.bool_],
    near_at: NDArray[np.int64],
    near_rows: NDArray[np.int32],
    near_scores: NDArray[np.float64],
) -> None:
    """Copy the rows of postings under a mask, with their places and what they add."""
    count = 0
    for at in range(first, end):
        near_at[count], near_rows[count] = at, index.rows[at]
        count += 1 if not len(mask) else mask[index.rows[at]]
    for place in range(count):
        frequency = np.float64(index.frequencies[near_at[place]])
        length = np.float64(index.lengths[near_rows[place]])
        near_scores[place] = idf * frequency / (frequency + (index.flat + index.slope * length))
    if len(index.large_at):
        for place in range(count):
            if index.frequencies[near_at[place]] == 255:
                near_scores[place] = _contribution(index, idf, near_at[place], near_rows[place])
    near_rows[count], near_scores[count] = _LOAD, 0.0


# --------------------------------------------------------------------------------------------------- the best k


@_compiled
def _keep(scores: NDArray[np.float64], rows: NDArray[np.int32], size: int, score: float, row: int) -> int:
    """Put a row into a heap whose first entry is the worst; return the heap's new size.

    Rows come in ascending order. Of two equal scores, the larger row is the worse. A full heap drops its worst entry.
    """
    if size < len(scores):
        at = size
        while at > 0 and scores[(at - 1) // 2] >= score:
            above = (at - 1) // 2
            scores[at], rows[at] = scores[above], rows[above]
            at = above
        scores[at], rows[at] = score, row
        return size + 1
    at = 0
    while 2 * at + 1 < size:
        below = 2 * at + 1
        if below + 1 < size and _is_worse(scores, rows, below + 1, below):
            below += 1
        if scores[below] >= score:  # the new row is larger: of equal ones it is the worse
            break
        scores[at], rows[at] = scores[below], rows[below]
        at = below
    scores[at], rows[at] = score, row
    return size


@_compiled
def _raised(floor: float, scores: NDArray[np.float64], size: int) -> float:
    """Return the floor below which no row is wanted: the worst of a full heap, or what it was."""
    return max(floor, scores[0] * _SLACK) if size == len(scores) else floor


@_compiled
def _is_worse(scores: NDArray[np.float64], rows: NDArray[np.int32], place: int, other: int) -> bool:
    """Tell whether an entry of the heap is worse than another: a lower score, or an equal one and a larger row."""
    return bool(scores[place] < scores[other] or (scores[place] == scores[other] and rows[place] > rows[other]))
