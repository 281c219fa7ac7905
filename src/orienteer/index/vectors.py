"""Nearest vectors, in a whole graph or among some of its nodes: a scan of signs, then of bytes, then of halves.

There is no structure beyond the three forms of the vectors, so any set of candidates can be searched. The signs choose
a thousand vectors, the bytes the best of these, and the halves (16-bit floats) give the score: the cosine, to seven
digits. The recall of the signs is measured when the vectors are written. If it is too low, all bytes are read instead,
and the search is exact: a vector is dropped only if its bytes prove that it cannot be among the first `k`.

A node may have several vectors, one for each part of its text. Its score is the mean of its best `n` cosines: with
n = 1 the maximum, with n = 0 the mean of all (STaRK's multi-vector baseline has both).
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from orienteer.errors import BadOption
from orienteer.index.arrays import Folder, Rows, check_counts, create, save
from orienteer.index.bm25 import Mask, ScoredRows

# Products are taken vector by vector (`np.vecdot`), which one thread does as quickly as the BLAS does a matrix times a
# vector. For that the BLAS wakes a thread on every core: if another process wants the core, they wait for each
# other, and a product of .08 ms was seen to take 8.
#
# Signs and bytes are taken after the mean vector is subtracted. Sentence vectors share a direction, in some models with
# a mean cosine of 0.8, and the sign of a shared part says nothing: without this step a fifth of the neighbours is
# lost.


Vector = NDArray[np.float32]
Halves = NDArray[np.float16]

BLOCK = 4_096  # vectors that are unpacked at a time: they stay in the processor's cache
_SCAN = 16_384  # vectors whose signs are compared at a time: memory at hand against calls
_WORD = 64  # bits
_LARGEST = 127  # of an int8; -128 is left out, so that steps are alike on both sides


def blocks(count: int, size: int = BLOCK) -> Iterator[slice]:
    """Return slices of `size` that cover `count` vectors, the last one shorter."""
    return (slice(start, min(start + size, count)) for start in range(0, count, size))


def signs(vectors: Vector) -> NDArray[np.uint64]:
    """Return the signs of centred vectors, 64 in a word: (vectors, dimension) becomes (words, vectors)."""
    bits = np.packbits(vectors > 0, axis=1)  # (vectors, bytes)
    words = np.zeros((len(vectors), words_of(vectors.shape[1]) * 8), np.uint8)
    words[:, : bits.shape[1]] = bits
    return np.ascontiguousarray(words.view(np.uint64).T)  # (words, vectors): numpy counts along the long side


def words_of(dimension: int) -> int:
    """Return the number of 64-bit words for the signs of one vector."""
    return -(-dimension // _WORD)


LEAST_RECALL = 0.97
"""Recall of the scan of signs below which every search looks at every vector."""
SAMPLE = 200  # vectors whose neighbours are looked up to measure the recall: 2,000 neighbours give it to about 0.01
NEIGHBORS = 10  # of each: the recall is that at 10
_NEAR = 1_000  # vectors that the signs choose: recall@10 is then 0.997 for the models that were tried
_RESCORED = 40  # vectors that the bytes choose of these: 4 times a k of 10, since bytes round
_FEW = 4_000  # vectors among which the bytes are as quick as the signs
_ROUNDING = 1e-4  # the largest error of a float32 sum

Places = NDArray[np.int64]


class _QueryVector(NamedTuple):
    vector: Vector
    steps: Vector
    """(dimension,): the vector times the steps of the bytes."""
    offset: float
    """The product with the mean, which products of bytes lack."""
    slack: float
    """The largest error of a product with bytes."""


class VectorIndex:
    """Ranks rows by the cosine of their vectors with a query's. Safe to share among threads."""

    def __init__(self, folder: Folder, dimension: int, *, is_exact: bool = False) -> None:
        if dimension < 1:
            raise ValueError(f"vectors of {dimension} dimensions")
        self.dimension, self.is_exact = dimension, is_exact
        self._signs = folder.array("sign", "u8").reshape(words_of(dimension), -1)
        self._codes = folder.array("code", "i1").reshape(-1, dimension)
        self._halves: Halves = folder.array("half", "f2").reshape(-1, dimension)
        self._mean: Vector = folder.array("mean", "f4")
        """(dimension,): subtracted from every vector before signs and bytes are taken."""
        self._step: Vector = folder.array("step", "f4")
        """(dimension,): the size of one step of a byte."""
        self._first: NDArray[np.int64] = folder.array("first", "i8")
        """(rows + 1,): where the vectors of each row begin; the last entry is their number."""
        counts = np.diff(self._first)
        check_counts(counts, len(self._halves))
        if self._first[-1] != len(self._halves) or self._first[0]:
            raise IndexError(f"{self._first[-1]} vectors of {len(self._halves)}")
        if not self._signs.shape[1] == len(self._codes) == len(self._halves):
            raise ValueError(
                f"{self._signs.shape[1]} signs and {len(self._codes)} bytes of {len(self._halves)} vectors"
            )
        if not len(self._mean) == len(self._step) == dimension:
            raise ValueError(f"the middle of the vectors has {len(self._mean)} dimensions, of {dimension}")
        if not (np.isfinite(self._mean).all() and np.isfinite(self._step).all()):
            raise ValueError("the middle of the vectors is not finite")
        self.rows = np.flatnonzero(counts).astype(np.int32)
        """(n,): the rows that have a vector, ascending."""
        self._is_plain = len(self) == len(self._first) - 1 == len(self.rows)  # each row has one: row and place agree
        self._owner = self.rows if self._is_plain else np.repeat(self.rows, counts[self.rows])

    def __len__(self) -> int:
        """Count the vectors."""
        return len(self._halves)

    def search(
        self, vector: Vector, k: int, *, among: Rows | None = None, mask: Mask | None = None, best: int = 1
    ) -> ScoredRows:
        """Return the `k` nearest of the rows that have a vector, for a query of shape (dimension,).

        `among`, ascending rows, and `mask`, (nodes,), restrict the rows. A row's score is the mean cosine of its `best`
        vectors. Ties go to the smaller row. Raises `BadOption`.
        """
        query, best = self._query(vector), self._best(best)
        places = self._allowed(among, mask)
        count = len(self) if places is None else len(places)
        if k < 1 or not count:
            return ScoredRows(np.zeros(0, np.int32), np.zeros(0, np.float64))
        if among is not None and count <= _RESCORED:
            rows = self._owner[places] if self._is_plain else np.unique(self._owner[places])
            return _top(rows, self._scores(query, rows, best), k)
        is_scan = best == 1 and not self.is_exact and count > max(_FEW, 4 * k)
        if is_scan:
            # The places whose signs differ least from the query's: enough of them to have `k` rows.
            apart, near, searched = self._sign_distances(query, places), max(_NEAR, 10 * k), places
            while True:
                places = _lowest(apart, near) if searched is None else searched[_lowest(apart, near)]
                if self._is_plain or near >= count or len(np.unique(self._owner[places])) >= 4 * k:
                    break
                near *= 4
        rows, coarse = self._pooled(self._coarse(query, places), places, best)
        floor = _kth(coarse, k) - 2 * query.slack
        if is_scan:
            floor = max(floor, _kth(coarse, max(_RESCORED, 4 * k)))
        rows = rows[coarse >= floor]
        return _top(rows, self._scores(query, rows, best), k)

    def scores(self, vector: Vector, rows: Rows, *, best: int = 1) -> NDArray[np.float64]:
        """Score each of these rows: (rows,), -1, as for an opposite vector, for a row without any."""
        total = np.full(len(rows), -1.0)
        has = self._first[rows] < self._first[rows + 1]
        total[has] = self._scores(self._query(vector), rows[has], self._best(best))
        return total

    def means(self, rows: Rows) -> NDArray[np.float32]:
        """Return the mean vector of each row, scaled to length 1: (rows, dimension), zeros for a row without any."""
        means = np.zeros((len(rows), self.dimension), np.float32)
        for part in blocks(len(rows)):
            places, counts = self._places(rows[part])
            has = counts > 0
            if has.any():
                starts = (np.cumsum(counts) - counts)[has]
                sums = np.add.reduceat(self._halves[places].astype(np.float32), starts, axis=0)
                lengths = np.linalg.norm(sums, axis=1, keepdims=True)
                means[part][has] = sums / np.where(lengths > 0, lengths, 1)
        return means

    def ends(self, vector: Vector, *, best: int = 1, mask: Mask | None = None) -> tuple[float, float]:
        """Return the lowest and the highest score of all rows, or of those under the mask, as exactly as a search."""
        query, best = self._query(vector), self._best(best)
        places = self._allowed(None, mask)
        count = len(self) if places is None else len(places)
        if not count:
            return 0.0, 0.0
        if not self.is_exact and best == 1 and count > _FEW:
            apart = self._sign_distances(query, places)
            farthest = np.uint16(self.dimension)
            extreme = np.concatenate([_lowest(apart, _NEAR), _lowest(farthest - apart, _NEAR)])
            places = self._places(np.unique(self._owner[extreme if places is None else places[extreme]]))[0]
        rows, coarse = self._pooled(self._coarse(query, places), places, best)
        ends = (coarse >= coarse.max() - 2 * query.slack) | (coarse <= coarse.min() + 2 * query.slack)
        scores = self._scores(query, rows[ends], best)
        return float(scores.min()), float(scores.max())

    def measure(self, random: np.random.Generator) -> float:
        """Return the recall at 10: the share of the ten nearest other rows of sampled vectors that a search finds.

        A row as near as the true tenth counts as one of the ten. The recall is 1 if there is nothing to find.
        """
        sample = np.sort(random.choice(len(self), min(SAMPLE, len(self)), replace=False))
        queries = self._halves[sample].astype(np.float32)
        k = min(NEIGHBORS + 1, len(self.rows))
        if k < 2:
            return 1.0
        highest = np.full((k, len(queries)), -np.inf)  # the true scores of each query
        for part in blocks(len(self.rows)):
            places, counts = self._places(self.rows[part])
            products = self._halves[places].astype(np.float32) @ queries.T  # (vectors, queries)
            scores = np.maximum.reduceat(products, np.cumsum(counts) - counts, axis=0)
            highest = np.partition(np.concatenate([highest, scores]), -k, axis=0)[-k:]
        hits = 0
        for query, least in zip(queries, highest[0], strict=True):
            hits += min(int((self.search(query, k).scores >= least - _ROUNDING / 10).sum()), k) - 1
        return hits / (len(sample) * (k - 1))

    def _best(self, best: int) -> int:
        """Return the number of vectors that count for a row's score: 1 if no row has more. Raises `BadOption`."""
        if best < 0:
            raise BadOption(f"best is {best}: give 1 for a node's nearest vector, 0 for the mean of all")
        return 1 if self._is_plain else best

    def _query(self, vector: Vector) -> _QueryVector:
        if vector.shape != (self.dimension,):
            raise BadOption(f"the query's vector has the shape {vector.shape}, those of the graph {self.dimension}")
        vector = vector.astype(np.float32)
        steps = vector * self._step
        return _QueryVector(
            vector,
            steps,
            offset=float(vector @ self._mean),
            slack=float(np.abs(steps).sum()) / 2 + _ROUNDING,
        )

    def _sign_distances(self, query: _QueryVector, places: Places | None = None) -> NDArray[np.uint16]:
        """Count the signs in which vectors differ from a query: (places,), or (vectors,) without places."""
        wanted = signs((query.vector - self._mean)[None])[:, 0]  # (words,)
        count = len(self) if places is None else len(places)
        total = np.zeros(count, np.uint16)
        for part in blocks(count, _SCAN):
            at: slice | Places = part if places is None else places[part]
            for word, wanted_word in zip(self._signs, wanted, strict=True):
                total[part] += np.bitwise_count(word[at] ^ wanted_word)
        return total

    def _allowed(self, among: Rows | None, mask: Mask | None) -> Places | None:
        """Return the places of the vectors that are searched, ascending; None for all."""
        if among is None and mask is None:
            return None
        if among is None:
            assert mask is not None
            return np.flatnonzero(mask[self._owner])
        return self._places(among if mask is None else among[mask[among]])[0]

    def _places(self, rows: Rows) -> tuple[Places, NDArray[np.int64]]:
        """Return the places of the rows' vectors, row by row, and the number of each row's vectors: (rows,)."""
        if self._is_plain:
            return rows.astype(np.int64), np.ones(len(rows), np.int64)
        first = self._first[rows]
        counts = self._first[rows + 1] - first
        starts = np.cumsum(counts) - counts
        return np.repeat(first - starts, counts) + np.arange(counts.sum()), counts

    def _coarse(self, query: _QueryVector, places: Places | None) -> NDArray[np.float32]:
        """Return the dot products of the bytes at these places, or of all, with a query: (places,) or (vectors,)."""
        count = len(self) if places is None else len(places)
        total = np.empty(count, np.float32)
        buffer = np.empty((min(count, BLOCK), self.dimension), np.float32)
        for part in blocks(count):
            some = buffer[: part.stop - part.start]
            some[:] = self._codes[part if places is None else places[part]]
            np.vecdot(some, query.steps, out=total[part])
        return total + np.float32(query.offset)

    def _pooled(
        self, scores: NDArray[np.float32], places: Places | None, best: int
    ) -> tuple[Rows, NDArray[np.float64]]:
        """Return the rows of some vectors, ascending, and each row's score."""
        if self._is_plain:
            rows = self.rows if places is None else places.astype(np.int32)
            return rows, scores.astype(np.float64)
        owner = self._owner if places is None else self._owner[places]
        starts = np.flatnonzero(np.concatenate([[True], owner[1:] != owner[:-1]]))
        return owner[starts], _mean_of_best(scores.astype(np.float64), starts, best)

    def _scores(self, query: _QueryVector, rows: Rows, best: int) -> NDArray[np.float64]:
        """Return the scores of rows that have vectors."""
        places, counts = self._places(rows)
        scores, wide = np.empty(len(places)), query.vector.astype(np.float64)
        for part in blocks(len(places)):
            np.vecdot(self._halves[places[part]].astype(np.float64), wide, out=scores[part])
        # The order of a sum depends on the number of rows multiplied at once. Seven digits are the same in any order,
        # so equal vectors have equal products.
        scores = np.round(scores, 7)
        return scores if self._is_plain or not len(rows) else _mean_of_best(scores, np.cumsum(counts) - counts, best)


def _mean_of_best(scores: NDArray[np.float64], starts: Places, best: int) -> NDArray[np.float64]:
    """Return the mean of the `best` highest scores of each run, or of all if `best` is 0; runs begin at `starts`."""
    counts = np.diff(np.append(starts, len(scores)))
    if best == 1:
        return np.maximum.reduceat(scores, starts)
    if best:
        run = np.repeat(np.arange(len(starts)), counts)
        scores = scores[np.lexsort((-scores, run))]
        counts = np.minimum(counts, best)
        scores = np.where(np.arange(len(scores)) - starts[run] < best, scores, 0.0)
    return np.round(np.add.reduceat(scores, starts) / counts, 7)


def _top(rows: Rows, scores: NDArray[np.float64], k: int) -> ScoredRows:
    order = np.lexsort((rows, -scores))[:k]
    return ScoredRows(rows[order], scores[order])


def _kth(scores: NDArray[np.float64], k: int) -> float:
    """Return the k-th highest score, or the lowest if there are fewer."""
    return float(np.partition(scores, -k)[-k]) if k < len(scores) else float(scores.min())


def _lowest(values: NDArray[np.uint16], count: int) -> Places:
    """Return the places of the `count` lowest values, and of all that equal the last of these."""
    reached = np.cumsum(np.bincount(values)).searchsorted(count)
    return np.flatnonzero(values <= min(int(reached), np.iinfo(np.uint16).max))


def write_index(folder: Path, first: NDArray[np.int64], halves: Halves) -> None:
    """Write signs and bytes of the halves, (vectors, dimension), that `create_halves` has put into the folder.

    `first`, (rows + 1,), has the begin of each row's vectors; its last entry is their number.
    """
    count, dimension = halves.shape
    total, farthest = np.zeros(dimension), np.zeros(dimension, np.float32)
    for part in blocks(count):
        total += halves[part].astype(np.float32).sum(axis=0, dtype=np.float64)
    mean = (total / max(count, 1)).astype(np.float32)
    for part in blocks(count):
        farthest = np.maximum(farthest, np.abs(halves[part].astype(np.float32) - mean).max(axis=0))
    step = np.maximum(farthest / _LARGEST, np.finfo(np.float32).tiny)  # a byte spans every vector
    stored = create(folder, "code", np.int8, count * dimension).reshape(count, dimension)
    words = create(folder, "sign", np.uint64, words_of(dimension) * count).reshape(-1, count)
    for part in blocks(count):
        centred = halves[part].astype(np.float32) - mean
        stored[part] = np.clip(np.rint(centred / step), -_LARGEST, _LARGEST)
        words[:, part] = signs(centred)
    for array in (stored, words):
        if isinstance(array, np.memmap):
            array.flush()
    save(folder, "mean", mean)
    save(folder, "step", step)
    save(folder, "first", first)


def create_halves(folder: Path, count: int, dimension: int) -> Halves:
    """Create the file for vectors of length 1 and map it for writing: (count, dimension)."""
    return create(folder, "half", np.float16, count * dimension).reshape(count, dimension)
