"""Three ways to rank the nodes of a graph for words, one face: by words, by meaning, by both."""

from __future__ import annotations

import re
import threading
from collections import OrderedDict
from collections.abc import Callable, Hashable
from typing import Generic, Literal, NamedTuple, Protocol, TypeAlias, TypeVar

import numpy as np
from numpy.typing import NDArray

from orienteer.errors import BadOption
from orienteer.index.arrays import Rows
from orienteer.index.bm25 import Mask, Scored, TextIndex
from orienteer.index.quantize import Vector
from orienteer.index.vectors import VectorIndex
from orienteer.text.tokenizer import Tokenizer

Mode: TypeAlias = str
"""How rows are ranked: `lexical`, `dense`, `hybrid`, `hybrid:0.6` or `rrf`; `ranking_of` says what each means."""
Fusion: TypeAlias = Literal["linear", "rrf"]

WEIGHT = 0.4
"""BM25's share of a hybrid score: the best one over four sets of questions. SAGE's is 0.6 (004, section 3)."""
RRF_CONSTANT = 60  # Cormack, Clarke and Buettcher 2009
RRF_DEPTH = 1_000
"""Places of each list that count: the next one would add less than a thousandth."""
_SHARE = re.compile(r"0|1|0?\.[0-9]+|[01]\.0*", re.ASCII)
_REMEMBERED = 256  # queries
_LEAST_DEPTH = 100  # rows that either side of a hybrid search gives at first
_SURE_DEPTH = 300  # rows by meaning: of fewer a scan of signs missed 3 in 2,400 among 46,000 nodes

_K = TypeVar("_K", bound=Hashable)
_T = TypeVar("_T")


class Ranking(NamedTuple):
    """What a mode means."""

    kind: Literal["lexical", "dense", "hybrid"]
    weight: float = WEIGHT
    """BM25's share of a linear hybrid score."""
    fusion: Fusion = "linear"


def ranking_of(mode: Mode) -> Ranking:
    """Return what a mode means: BM25, cosines, both with BM25's share after a colon, both by places.

    Raises `BadOption`.
    """
    name, _, share = mode.partition(":")
    if mode == "lexical":
        return Ranking("lexical")
    if mode == "dense":
        return Ranking("dense")
    if mode == "rrf":
        return Ranking("hybrid", fusion="rrf")
    if name == "hybrid" and (mode == name or _SHARE.fullmatch(share)):
        return Ranking("hybrid", float(share) if share else WEIGHT)
    raise BadOption(f"mode is {mode!r}: it must be lexical, dense, hybrid, hybrid:WEIGHT (BM25's share, 0 to 1) or rrf")


class Searcher(Protocol):
    """Ranks rows for a query. Safe among threads."""

    def search(self, query: str, k: int, *, among: Rows | None = None, mask: Mask | None = None) -> Scored:
        """Return the `k` best rows, of these rows and under this mask where given; ties go to the smaller row."""

    def scores(self, query: str, rows: Rows) -> NDArray[np.float64]:
        """Score each of these rows as `search` would."""


class Recent(Generic[_K, _T]):
    """What was made of the last few things. Each is made once, also where several threads want it at one time.

    Different ones are made side by side; what could not be made is tried again by the next who wants it.
    """

    def __init__(self, make: Callable[[_K], _T]) -> None:
        self._make = make
        self._made: OrderedDict[_K, _Made[_T]] = OrderedDict()
        self._lock = threading.Lock()

    def __call__(self, key: _K, make: Callable[[_K], _T] | None = None) -> _T:
        """Return what was made of a thing, or now is, by `make` where that is given."""
        with self._lock:
            made = self._made.setdefault(key, _Made())
            self._made.move_to_end(key)
            if len(self._made) > _REMEMBERED:
                self._made.popitem(last=False)
        with made.lock:
            if not made.values:
                made.values.append((make or self._make)(key))
            return made.values[0]


class _Made(Generic[_T]):
    """A place for one thing made: empty until it is."""

    def __init__(self) -> None:
        self.values: list[_T] = []
        self.lock = threading.Lock()


class Lexical:
    """BM25: rows that share a word with the query."""

    def __init__(self, tokenizer: Tokenizer, index: TextIndex) -> None:
        self._tokenizer, self.index = tokenizer, index

    def search(self, query: str, k: int, *, among: Rows | None = None, mask: Mask | None = None) -> Scored:
        """Return the `k` best rows by BM25; those without any of the words are left out."""
        return self.index.search(self._tokenizer.query(query), k, among=among, mask=mask)

    def scores(self, query: str, rows: Rows) -> NDArray[np.float64]:
        """Return BM25 of each of these rows."""
        return self.index.scores(self._tokenizer.query(query), rows)


class Dense:
    """Cosines: rows that have a vector, nearest first. A query without any character finds nothing."""

    def __init__(self, index: VectorIndex, encode: Callable[[str], Vector], *, best: int = 1) -> None:
        self.index, self.encode, self.best = index, encode, best

    def search(self, query: str, k: int, *, among: Rows | None = None, mask: Mask | None = None) -> Scored:
        """Return the `k` nearest rows."""
        if not query.strip() or k < 1:
            return _NOTHING
        return self.index.search(self.encode(query), k, among=among, mask=mask, best=self.best)

    def scores(self, query: str, rows: Rows) -> NDArray[np.float64]:
        """Return the cosine of each of these rows, -1 for those without a vector."""
        if not query.strip():
            return np.zeros(len(rows))
        return self.index.scores(self.encode(query), rows, best=self.best)


class Scale(NamedTuple):
    """What a query's scores are measured by: their ends in the whole graph, or among its nodes that are measured."""

    words: float
    """The highest BM25; its lowest is that of a node without any of the words, 0."""
    low: float
    high: float


class Hybrid:
    """BM25 and cosine in one score: a weighted sum, or places added up.

    *linear*: `weight * b + (1 - weight) * d`, where b and d are BM25 and cosine, each moved and stretched so that the
    lowest of the whole graph is 0 and the highest 1 (min-max). The ends are those of the whole graph whatever is
    searched, so that a score in a neighbourhood compares with one outside it. A search is exact as far as that by
    vectors is: it stops where no row that neither list has given could still reach the first `k`.

    *rrf*: `1 / (60 + place)` for each of the two lists of what is searched, added up; places from 1 to 1,000.
    """

    def __init__(self, lexical: Lexical, dense: Dense, *, weight: float = WEIGHT, fusion: Fusion = "linear") -> None:
        if not 0 <= weight <= 1:
            raise BadOption(f"weight is {weight}: BM25's share must be 0 to 1")
        self.lexical, self.dense = lexical, dense
        self.weight, self.fusion = weight, fusion
        self.scale = Recent(self._scale)

    def search(self, query: str, k: int, *, among: Rows | None = None, mask: Mask | None = None) -> Scored:
        """Return the `k` best rows: of those that have a vector, or share a word with the query."""
        if k < 1 or not query.strip():
            return _NOTHING
        if self.fusion == "rrf":
            return _top(self._places_added(query, among, mask, max(RRF_DEPTH, k)), k)
        depth = deep = max(_LEAST_DEPTH, 4 * k)
        words = self.lexical.search(query, depth, among=among, mask=mask)
        near = self.dense.search(query, deep, among=among, mask=mask)
        least = 0.0
        while True:
            ends = [_end(words, depth), _end(near, deep)]
            first = self._reach(query, words.scores, ends[1]) >= least  # of the others none can be among the first `k`
            found = _top(self._joined(query, Scored(words.rows[first], words.scores[first]), near), k)
            least = float(found.scores[-1]) if len(found.rows) == k else 0.0
            if ends == [None, None] or least > self._most(query, *ends):
                return found
            # To go on by words takes little time, by meaning very much: as far as a scan may have missed something, and
            # on from there where no word would be enough.
            if ends[1] is not None and (deep < _SURE_DEPTH or least <= self._most(query, None, ends[1])):
                deep *= 4
                near = self.dense.search(query, deep, among=among, mask=mask)
            depth *= 4
            words = self.lexical.search(query, depth, among=among, mask=mask)

    def scores(self, query: str, rows: Rows) -> NDArray[np.float64]:
        """Return the hybrid score of each of these rows; by places, those that they have in the whole graph."""
        if not query.strip():
            return np.zeros(len(rows))
        if self.fusion == "rrf":
            found = self._places_added(query, None, None, RRF_DEPTH)
            at = found.rows.searchsorted(rows).clip(max=max(len(found.rows) - 1, 0))
            return np.where(found.rows[at] == rows, found.scores[at], 0.0) if len(found.rows) else np.zeros(len(rows))
        words, near = self.shares(query, rows)
        return np.asarray(self.weight * words + (1 - self.weight) * near)

    def shares(self, query: str, rows: Rows) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """Return BM25 and cosine of each row, both from 0 to 1 where it is measured, before they are weighed."""
        return self._stretched(query, self.lexical.scores(query, rows), self.dense.scores(query, rows))

    def _stretched(
        self, query: str, words: NDArray[np.float64], near: NDArray[np.float64]
    ) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        scale = self.scale(query)
        wide = scale.high - scale.low
        # A node that is not measured may be nearer than all that are, and is not as near as the next such one.
        most = 1 if self.lexical.index.measured is None else None
        return (
            words / scale.words if scale.words else np.zeros(len(words)),
            ((near - scale.low) / wide).clip(0, most) if wide else np.zeros(len(near)),
        )

    def _joined(self, query: str, words: Scored, near: Scored) -> Scored:
        """Return every row of either list, in row order, scored by both."""
        rows = np.union1d(words.rows, near.rows).astype(np.int32)
        shares = self._stretched(
            query,
            _filled(rows, words, lambda missing: self.lexical.scores(query, missing)),
            _filled(rows, near, lambda missing: self.dense.scores(query, missing)),
        )
        return Scored(rows, self.weight * shares[0] + (1 - self.weight) * shares[1])

    def _most(self, query: str, words: float | None, near: float | None) -> float:
        """Return the most that a row can have which stands behind the ends of both lists; None is a list's own end."""
        return float(self._reach(query, np.array([words or 0.0]), near)[0])

    def _reach(self, query: str, words: NDArray[np.float64], near: float | None) -> NDArray[np.float64]:
        """Return the most that rows of these BM25 scores can have which stand behind the end of the other list."""
        behind = np.array([self.scale(query).low if near is None else near])
        shares = self._stretched(query, words, behind)
        return np.asarray(self.weight * shares[0] + (1 - self.weight) * shares[1])

    def _scale(self, query: str) -> Scale:
        measured = self.lexical.index.measured
        words = self.lexical.search(query, 1, mask=measured).scores
        ends = self.dense.index.ends(self.dense.encode(query), best=self.dense.best, mask=measured)
        return Scale(float(words[0]) if len(words) else 0.0, *ends)

    def _places_added(self, query: str, among: Rows | None, mask: Mask | None, depth: int) -> Scored:
        """Return every row of either list, in row order."""
        lists = [one.search(query, depth, among=among, mask=mask).rows for one in (self.lexical, self.dense)]
        rows, place = np.unique(np.concatenate(lists), return_inverse=True)
        shares = np.concatenate([1 / (RRF_CONSTANT + 1 + np.arange(len(one))) for one in lists])
        return Scored(rows.astype(np.int32), np.bincount(place, shares, minlength=len(rows)).astype(np.float64))


_NOTHING = Scored(np.zeros(0, np.int32), np.zeros(0, np.float64))


def _end(found: Scored, depth: int) -> float | None:
    """Return the last score of a list that goes on behind this depth; None where it does not."""
    return float(found.scores[-1]) if len(found.rows) == depth else None


def _filled(rows: Rows, found: Scored, score: Callable[[Rows], NDArray[np.float64]]) -> NDArray[np.float64]:
    """Return the scores of some sorted rows, of which a list is a part; those that are not in it are made."""
    scores, is_missing = np.empty(len(rows)), np.ones(len(rows), np.bool_)
    at = rows.searchsorted(found.rows)
    scores[at], is_missing[at] = found.scores, False
    scores[is_missing] = score(rows[is_missing])
    return scores


def _top(found: Scored, k: int) -> Scored:
    order = np.lexsort((found.rows, -found.scores))[:k]
    return Scored(found.rows[order], found.scores[order])
