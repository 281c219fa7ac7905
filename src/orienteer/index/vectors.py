"""Nearest vectors, in a whole graph or among some of its nodes: a scan of signs, then of bytes, then of halves.

Nothing is built but the three forms themselves, and any candidate set is as good as the whole. The signs choose a
thousand vectors, bytes the best of these, halves give the score: the cosine, to seven digits. Where the signs of a
model's vectors do not tell enough (the recall is measured when they are made), every byte is looked at instead, and
that is exact: a vector is left out only where its bytes prove that it cannot be among the first `k`.

A node may have several vectors, of the parts of its text. Its score is the mean of its best `n`: 1 is the maximum,
0 takes all of them (STaRK's multi-vector baseline takes either).
"""

from __future__ import annotations

from pathlib import Path
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from orienteer.errors import BadOption
from orienteer.index.arrays import Folder, Rows, check_counts, create, save
from orienteer.index.bm25 import Mask, Scored
from orienteer.index.quantize import (
    Center,
    Halves,
    Vector,
    blocks,
    byte_products,
    center_of,
    codes,
    distances,
    half_products,
    signs,
    words_of,
)

LEAST_RECALL = 0.97
"""Recall of the scan of signs below which every search looks at every vector."""
SAMPLE = 200  # vectors whose neighbours are looked up to measure the recall
NEIGHBORS = 10
_NEAR = 1_000  # vectors that the signs choose: recall@10 is then 0.997 for the models that were tried
_RESCORED = 40  # vectors that the bytes choose of them
_FEW = 4_000  # vectors among which the bytes are as quick as the signs
_ROUNDING = 1e-4  # what float32 sums may be off by

Places = NDArray[np.int64]


class Ends(NamedTuple):
    """The highest and the lowest score of a query in the whole graph."""

    low: float
    high: float


class _Query(NamedTuple):
    vector: Vector
    steps: Vector
    """The vector times the steps of the bytes."""
    offset: float
    """What every product with centred vectors lacks."""
    slack: float
    """The most by which bytes may be off."""


class VectorIndex:
    """Ranks rows by the cosine of their vectors with a query's. Safe to share among threads."""

    def __init__(self, folder: Folder, dimension: int, *, is_exact: bool = False) -> None:
        if dimension < 1:
            raise ValueError(f"vectors of {dimension} dimensions")
        self.dimension, self.is_exact = dimension, is_exact
        self._signs = folder.array("sign", "u8").reshape(words_of(dimension), -1)
        self._codes = folder.array("code", "i1").reshape(-1, dimension)
        self._halves: Halves = folder.array("half", "f2").reshape(-1, dimension)
        self._center = Center(folder.array("mean", "f4"), folder.array("step", "f4"))
        self._first: NDArray[np.int64] = folder.array("first", "i8")
        """Where the vectors of each row begin; the last entry is their number."""
        counts = np.diff(self._first)
        check_counts(counts, len(self._halves))
        if self._first[-1] != len(self._halves) or self._first[0]:
            raise IndexError(f"{self._first[-1]} vectors of {len(self._halves)}")
        if not self._signs.shape[1] == len(self._codes) == len(self._halves):
            raise ValueError(
                f"{self._signs.shape[1]} signs and {len(self._codes)} bytes of {len(self._halves)} vectors"
            )
        if not len(self._center.mean) == len(self._center.scale) == dimension:
            raise ValueError(f"the middle of the vectors has {len(self._center.mean)} dimensions, of {dimension}")
        if not (np.isfinite(self._center.mean).all() and np.isfinite(self._center.scale).all()):
            raise ValueError("the middle of the vectors is nowhere")
        self.rows = np.flatnonzero(counts).astype(np.int32)
        """The rows that have a vector."""
        self._is_plain = len(self) == len(self._first) - 1 == len(self.rows)  # each row has one: row and place agree
        self._owner = self.rows if self._is_plain else np.repeat(self.rows, counts[self.rows])

    def __len__(self) -> int:
        """Count the vectors."""
        return len(self._halves)

    def search(
        self, vector: Vector, k: int, *, among: Rows | None = None, mask: Mask | None = None, best: int = 1
    ) -> Scored:
        """Return the `k` nearest rows, of these rows and under this mask where given; rows without a vector are not.

        A row's score is the mean of its `best` vectors' cosines. Ties go to the smaller row.
        """
        query, best = self._query(vector), self._best(best)
        places = self._allowed(among, mask)
        count = len(self) if places is None else len(places)
        if k < 1 or not count:
            return Scored(np.zeros(0, np.int32), np.zeros(0, np.float64))
        if among is not None and count <= _RESCORED:
            rows = self._owner[places] if self._is_plain else np.unique(self._owner[places])
            return _top(rows, self._scores(query, rows, best), k)
        is_scan = best == 1 and not self.is_exact and count > max(_FEW, 4 * k)
        if is_scan:
            places = self._near(query, places, k)
        rows, coarse = self._pooled(self._coarse(query, places), places, best)
        floor = _kth(coarse, max(_RESCORED, 4 * k)) if is_scan else _kth(coarse, k) - 2 * query.slack
        rows = rows[coarse >= floor]
        return _top(rows, self._scores(query, rows, best), k)

    def scores(self, vector: Vector, rows: Rows, *, best: int = 1) -> NDArray[np.float64]:
        """Score each of these rows; -1, as of an opposite vector, where a row has none."""
        total = np.full(len(rows), -1.0)
        has = self._first[rows] < self._first[rows + 1]
        total[has] = self._scores(self._query(vector), rows[has], self._best(best))
        return total

    def means(self, rows: Rows) -> NDArray[np.float32]:
        """Return one vector of length 1 for each of these rows, the mean of those it has; zeros where it has none."""
        found = np.zeros((len(rows), self.dimension), np.float32)
        for part in blocks(len(rows)):
            places, counts = self._places(rows[part])
            has = counts > 0
            if has.any():
                starts = (np.cumsum(counts) - counts)[has]
                sums = np.add.reduceat(self._halves[places].astype(np.float32), starts, axis=0)
                lengths = np.linalg.norm(sums, axis=1, keepdims=True)
                found[part][has] = sums / np.where(lengths > 0, lengths, 1)
        return found

    def ends(self, vector: Vector, *, best: int = 1, mask: Mask | None = None) -> Ends:
        """Return the highest and the lowest score of all rows, or of those under the mask, as exactly as a search."""
        query, best = self._query(vector), self._best(best)
        places = self._allowed(None, mask)
        count = len(self) if places is None else len(places)
        if not count:
            return Ends(0.0, 0.0)
        if not self.is_exact and best == 1 and count > _FEW:
            apart = self._apart(query, places)
            farthest = np.uint16(self.dimension)
            found = np.concatenate([_lowest(apart, _NEAR), _lowest(farthest - apart, _NEAR)])
            places = self._places(np.unique(self._owner[found if places is None else places[found]]))[0]
        rows, coarse = self._pooled(self._coarse(query, places), places, best)
        ends = (coarse >= coarse.max() - 2 * query.slack) | (coarse <= coarse.min() + 2 * query.slack)
        scores = self._scores(query, rows[ends], best)
        return Ends(float(scores.min()), float(scores.max()))

    def measure(self, random: np.random.Generator) -> float:
        """Return the recall: which share of the ten nearest rows of sampled vectors, but their own, a search finds.

        A row that is as near as the true tenth counts as found. 1 where there is nothing to find.
        """
        sample = np.sort(random.choice(len(self), min(SAMPLE, len(self)), replace=False))
        queries = self._halves[sample].astype(np.float32)
        k = min(NEIGHBORS + 1, len(self.rows))
        if k < 2:
            return 1.0
        found = 0
        for query, least in zip(queries, self._true_kth(queries, k), strict=True):
            found += min(int((self.search(query, k).scores >= least - _ROUNDING / 10).sum()), k) - 1
        return found / (len(sample) * (k - 1))

    def _true_kth(self, queries: NDArray[np.float32], k: int) -> NDArray[np.float64]:
        """Return the k-th highest score of each query, by the halves of every vector."""
        highest = np.full((k, len(queries)), -np.inf)
        for part in blocks(len(self.rows)):
            places, counts = self._places(self.rows[part])
            products = self._halves[places].astype(np.float32) @ queries.T  # (vectors, queries)
            scores = np.maximum.reduceat(products, np.cumsum(counts) - counts, axis=0)
            both = np.concatenate([highest, scores])
            highest = np.partition(both, -k, axis=0)[-k:]
        return np.asarray(highest[0])

    def _best(self, best: int) -> int:
        """Return how many scores make a row's one: of a single vector they are all the same."""
        if best < 0:
            raise BadOption(f"a node's best {best} vectors are none: give 1 for the maximum, 0 for the mean")
        return 1 if self._is_plain else best

    def _query(self, vector: Vector) -> _Query:
        if vector.shape != (self.dimension,):
            raise BadOption(f"the query's vector has the shape {vector.shape}, those of the graph {self.dimension}")
        vector = vector.astype(np.float32)
        steps = vector * self._center.scale
        return _Query(
            vector,
            steps,
            offset=float(vector @ self._center.mean),
            slack=float(np.abs(steps).sum()) / 2 + _ROUNDING,
        )

    def _apart(self, query: _Query, places: Places | None = None) -> NDArray[np.uint16]:
        """Count the signs in which vectors differ from a query."""
        return distances(self._signs, signs((query.vector - self._center.mean)[None])[:, 0], places)

    def _allowed(self, among: Rows | None, mask: Mask | None) -> Places | None:
        """Return the vectors of the rows that are searched, None for all."""
        if among is None and mask is None:
            return None
        if among is None:
            assert mask is not None
            return np.flatnonzero(mask[self._owner])
        return self._places(among if mask is None else among[mask[among]])[0]

    def _places(self, rows: Rows) -> tuple[Places, NDArray[np.int64]]:
        """Return the vectors of some rows, and how many each has."""
        if self._is_plain:
            return rows.astype(np.int64), np.ones(len(rows), np.int64)
        first = self._first[rows]
        counts = self._first[rows + 1] - first
        starts = np.cumsum(counts) - counts
        return np.repeat(first - starts, counts) + np.arange(counts.sum()), counts

    def _near(self, query: _Query, places: Places | None, k: int) -> Places:
        """Return the places whose signs differ least from the query's: enough of them to be of `k` rows."""
        apart, count = self._apart(query, places), max(_NEAR, 10 * k)
        while True:
            near = _lowest(apart, count) if places is None else places[_lowest(apart, count)]
            if self._is_plain or count >= len(apart) or len(np.unique(self._owner[near])) >= 4 * k:
                return near
            count *= 4

    def _coarse(self, query: _Query, places: Places | None) -> NDArray[np.float32]:
        return byte_products(self._codes, query.steps, places) + np.float32(query.offset)

    def _pooled(
        self, scores: NDArray[np.float32], places: Places | None, best: int
    ) -> tuple[Rows, NDArray[np.float64]]:
        """Return the rows of some vectors, and the scores of their best ones made one."""
        if self._is_plain:
            rows = self.rows if places is None else places.astype(np.int32)
            return rows, scores.astype(np.float64)
        owner = self._owner if places is None else self._owner[places]
        starts = np.flatnonzero(np.concatenate([[True], owner[1:] != owner[:-1]]))
        return owner[starts], _mean_of_best(scores.astype(np.float64), starts, best)

    def _scores(self, query: _Query, rows: Rows, best: int) -> NDArray[np.float64]:
        """Return the scores of rows that have vectors."""
        places, counts = self._places(rows)
        scores = half_products(self._halves, query.vector, places)
        return scores if self._is_plain or not len(rows) else _mean_of_best(scores, np.cumsum(counts) - counts, best)


def _mean_of_best(scores: NDArray[np.float64], starts: Places, best: int) -> NDArray[np.float64]:
    """Return the mean of the `best` scores of each run, of all where it is 0."""
    counts = np.diff(np.append(starts, len(scores)))
    if best == 1:
        return np.maximum.reduceat(scores, starts)
    if best:
        run = np.repeat(np.arange(len(starts)), counts)
        scores = scores[np.lexsort((-scores, run))]
        counts = np.minimum(counts, best)
        scores = np.where(np.arange(len(scores)) - starts[run] < best, scores, 0.0)
    return np.round(np.add.reduceat(scores, starts) / counts, 7)


def _top(rows: Rows, scores: NDArray[np.float64], k: int) -> Scored:
    order = np.lexsort((rows, -scores))[:k]
    return Scored(rows[order], scores[order])


def _kth(scores: NDArray[np.float64], k: int) -> float:
    """Return the k-th highest score, the lowest where there are fewer."""
    return float(np.partition(scores, -k)[-k]) if k < len(scores) else float(scores.min())


def _lowest(values: NDArray[np.uint16], count: int) -> Places:
    """Return where the `count` lowest values stand, with all that equal the last of them."""
    reached = np.cumsum(np.bincount(values)).searchsorted(count)
    return np.flatnonzero(values <= min(int(reached), np.iinfo(np.uint16).max))


def write_index(folder: Path, first: NDArray[np.int64], halves: Halves) -> None:
    """Write the forms of vectors beside the halves, which are in the folder already: see `create_halves`.

    `first` says where the vectors of each row begin, and how many there are.
    """
    count, dimension = halves.shape
    center = center_of(halves)
    stored = create(folder, "code", np.int8, count * dimension).reshape(count, dimension)
    words = create(folder, "sign", np.uint64, words_of(dimension) * count).reshape(-1, count)
    for part in blocks(count):
        centred = halves[part].astype(np.float32) - center.mean
        stored[part] = codes(centred, center.scale)
        words[:, part] = signs(centred)
    for array in (stored, words):
        if isinstance(array, np.memmap):
            array.flush()
    save(folder, "mean", center.mean)
    save(folder, "step", center.scale)
    save(folder, "first", first)


def create_halves(folder: Path, count: int, dimension: int) -> Halves:
    """Make the file that vectors are written to, of length 1 each."""
    return create(folder, "half", np.float16, count * dimension).reshape(count, dimension)
