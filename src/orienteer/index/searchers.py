"""Searchers with one interface: they rank the nodes of a graph for a query by words, by meaning, or by both.

`TitleBonus` wraps any of them and favours nodes whose title is in the query.
"""

from __future__ import annotations

import re
import threading
from collections import OrderedDict
from collections.abc import Callable, Hashable, Sequence
from functools import cached_property
from typing import Generic, Literal, NamedTuple, Protocol, TypeAlias, TypeVar

import numpy as np
from numpy.typing import NDArray

from orienteer.errors import BadOption
from orienteer.index.arrays import Rows
from orienteer.index.bm25 import Mask, ScoredRows, TextIndex
from orienteer.index.vectors import Vector, VectorIndex
from orienteer.text.english import telling_words
from orienteer.text.tokenizer import Tokenizer

Mode: TypeAlias = str
"""A ranking: `lexical`, `dense`, `hybrid`, `hybrid:0.6` or `rrf`; `ranking_of` parses it."""
Fusion: TypeAlias = Literal["linear", "rrf"]

WEIGHT = 0.4
"""BM25's share of a hybrid score: the best one over four sets of questions."""
PAPER_WEIGHT = 0.6
"""BM25's share in SAGE: 004, section 3 and appendix E."""
RRF_CONSTANT = 60  # Cormack, Clarke and Buettcher 2009
RRF_DEPTH = 1_000  # places of each list that count: the next one would add less than a thousandth
_SHARE = re.compile(r"0|1|0?\.[0-9]+|[01]\.0*", re.ASCII)
_REMEMBERED = 256  # queries: memory against computing a value twice
_LEAST_DEPTH = 100  # rows that either side of a hybrid search gives at first: most searches need no second round
_SURE_DEPTH = 300  # rows by meaning: with fewer, a scan of signs missed 3 in 2,400 among 46,000 nodes

_K = TypeVar("_K", bound=Hashable)
_T = TypeVar("_T")


class Ranking(NamedTuple):
    """A parsed mode."""

    kind: Literal["lexical", "dense", "hybrid"]
    weight: float = WEIGHT
    """BM25's share of a linear hybrid score."""
    fusion: Fusion = "linear"


def ranking_of(mode: Mode) -> Ranking:
    """Parse a mode. `hybrid:0.6` is BM25 and cosine, with BM25's share after the colon. Raises `BadOption`."""
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


def checked_mode(mode: Mode) -> Mode:
    """Return a mode unchanged. Raises `BadOption` if it is invalid."""
    ranking_of(mode)
    return mode


class Searcher(Protocol):
    """Ranks rows for a query. Safe among threads."""

    def search(self, query: str, k: int, *, among: Rows | None = None, mask: Mask | None = None) -> ScoredRows:
        """Return the `k` best rows of `among`, ascending, and under `mask`, (nodes,); ties go to the smaller row."""

    def scores(self, query: str, rows: Rows) -> NDArray[np.float64]:
        """Score each of these ascending rows as `search` would: (rows,)."""


class KeyedCache(Generic[_K, _T]):
    """A function's values for the last few keys. Each is computed once, even if several threads want it at a time.

    Values of different keys are computed concurrently. After an error, the next caller tries again. Pass a function
    that refers to the cache's owner at each call: stored here, it would make a reference cycle, which only the garbage
    collector frees.
    """

    def __init__(self, make: Callable[[_K], _T] | None = None) -> None:
        self._make = make
        self._slots: OrderedDict[_K, tuple[threading.Lock, list[_T]]] = (
            OrderedDict()
        )  # a list is empty or has the value
        self._lock = threading.Lock()

    def __call__(self, key: _K, make: Callable[[_K], _T] | None = None) -> _T:
        """Return the value of a key, computed by `make`, or else by the cache's own function, if it is missing."""
        make = make or self._make
        assert make is not None
        with self._lock:
            lock, values = self._slots.setdefault(key, (threading.Lock(), []))
            self._slots.move_to_end(key)
            if len(self._slots) > _REMEMBERED:
                self._slots.popitem(last=False)
        with lock:
            if not values:
                values.append(make(key))
            return values[0]


class LexicalSearcher:
    """BM25: rows that share a word with the query; with `telling`, a content word."""

    def __init__(self, tokenizer: Tokenizer, index: TextIndex, *, telling: bool = False) -> None:
        self._tokenizer, self.index, self._telling = tokenizer, index, telling

    @property
    def telling(self) -> LexicalSearcher:
        """Return a searcher by the content words of a query alone."""
        return LexicalSearcher(self._tokenizer, self.index, telling=True)

    def terms(self, query: str) -> list[str]:
        """Return the distinct terms that a query is searched by."""
        if not self._telling:
            return self._tokenizer.query(query)
        return list(dict.fromkeys(term for word in telling_words(query) for term in self._tokenizer.expand(word)))

    def search(self, query: str, k: int, *, among: Rows | None = None, mask: Mask | None = None) -> ScoredRows:
        """Return the `k` best rows by BM25, among those with any of the words."""
        return self.index.search(self.terms(query), k, among=among, mask=mask)

    def scores(self, query: str, rows: Rows) -> NDArray[np.float64]:
        """Return BM25 of each of these ascending rows: (rows,), 0 for a row without any of the words."""
        return self.index.scores(self.terms(query), rows)


class DenseSearcher:
    """Cosines: rows that have a vector, nearest first. A query without any character finds nothing."""

    def __init__(self, index: VectorIndex, encode: Callable[[str], Vector], *, best: int = 1) -> None:
        self.index, self.encode, self.best = index, encode, best

    def search(self, query: str, k: int, *, among: Rows | None = None, mask: Mask | None = None) -> ScoredRows:
        """Return the `k` nearest rows."""
        if not query.strip() or k < 1:
            return _NOTHING
        return self.index.search(self.encode(query), k, among=among, mask=mask, best=self.best)

    def scores(self, query: str, rows: Rows) -> NDArray[np.float64]:
        """Return the cosine of each of these rows: (rows,), -1 for rows without a vector."""
        if not query.strip():
            return np.zeros(len(rows))
        return self.index.scores(self.encode(query), rows, best=self.best)


class Scale(NamedTuple):
    """The range of a query's scores in the whole graph, or among the measured nodes."""

    words: float
    """The highest BM25; the lowest is 0, of a node without any of the words."""
    low: float
    high: float


class HybridSearcher:
    """BM25 and cosine in one score: a weighted sum, or a sum of reciprocal ranks.

    *linear*: `weight * b + (1 - weight) * d`, where b and d are BM25 and cosine, each moved and stretched so that the
    lowest of the whole graph is 0 and the highest 1 (min-max). Of a row without a vector d is b: an edited text is
    found by its words until it is embedded. The range is always that of the whole graph, so that a score in a
    neighbourhood compares with a score outside it. A search is as exact as the search by vectors: it stops as soon as
    no row outside the two lists can still reach the first `k`.

    *rrf*: the sum of `1 / (60 + place)` over the two lists; places from 1 to 1,000.
    """

    def __init__(
        self, lexical: LexicalSearcher, dense: DenseSearcher, *, weight: float = WEIGHT, fusion: Fusion = "linear"
    ) -> None:
        if not 0 <= weight <= 1:
            raise BadOption(f"weight is {weight}: BM25's share must be 0 to 1")
        self.lexical, self.dense = lexical, dense
        self.weight, self.fusion = weight, fusion
        self._scales = KeyedCache[str, Scale]()

    def search(self, query: str, k: int, *, among: Rows | None = None, mask: Mask | None = None) -> ScoredRows:
        """Return the `k` best of the rows that have a vector or share a word with the query."""
        if k < 1 or not query.strip():
            return _NOTHING
        if self.fusion == "rrf":
            return _top(self._places_added(query, among, mask, max(RRF_DEPTH, k)), k)
        depth = deep = max(_LEAST_DEPTH, 4 * k)
        words = self.lexical.search(query, depth, among=among, mask=mask)
        near = self.dense.search(query, deep, among=among, mask=mask)
        is_whole = among is None and (mask is None or bool(mask.all()))
        if is_whole and self.lexical.index.measured is None:
            # The scale, cached for every later step, needs the best score by words in the whole graph: `words` has it.
            self._scales(query, lambda _: self._scale(query, words))
        least = 0.0
        while True:
            # The last scores of lists that may go on beyond their depth; None for a list that holds every row.
            end = float(words.scores[-1]) if len(words.rows) == depth else None
            near_end = float(near.scores[-1]) if len(near.rows) == deep else None
            first = self._reach(query, words.scores, near_end) >= least  # no other row can be among the first `k`
            best = _top(self._joined(query, ScoredRows(words.rows[first], words.scores[first]), near), k)
            least = float(best.scores[-1]) if len(best.rows) == k else 0.0
            # The highest possible scores of a row beyond the ends of both lists, and beyond the end of `near` alone.
            most, most_by_meaning = self._reach(query, np.array([end or 0.0, 0.0]), near_end).tolist()
            if (end is None and near_end is None) or least > most:
                return best
            # A longer list by words costs little, by meaning much. The latter grows while a scan may have missed rows,
            # and after that only if no score by words would be enough.
            if near_end is not None and (deep < _SURE_DEPTH or least <= most_by_meaning):
                deep *= 4
                near = self.dense.search(query, deep, among=among, mask=mask)
            depth *= 4
            words = self.lexical.search(query, depth, among=among, mask=mask)

    def scores(self, query: str, rows: Rows) -> NDArray[np.float64]:
        """Return the hybrid score of each of these ascending rows: (rows,). `rrf` takes places in the whole graph."""
        if not query.strip():
            return np.zeros(len(rows))
        if self.fusion == "rrf":
            fused = self._places_added(query, None, None, RRF_DEPTH)
            at = fused.rows.searchsorted(rows).clip(max=max(len(fused.rows) - 1, 0))
            return np.where(fused.rows[at] == rows, fused.scores[at], 0.0) if len(fused.rows) else np.zeros(len(rows))
        words, near = self.shares(query, rows)
        return np.asarray(self.weight * words + (1 - self.weight) * near)

    def shares(self, query: str, rows: Rows) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """Return BM25 and cosine of each row before they are weighed: (rows,) each, 0 to 1 for a measured row."""
        return self._stretched(query, self.lexical.scores(query, rows), self.dense.scores(query, rows))

    def _stretched(
        self, query: str, words: NDArray[np.float64], near: NDArray[np.float64]
    ) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        scale = self._scales(query, self._scale)
        wide = scale.high - scale.low
        # A node that is not measured may be nearer than all measured ones; clipping would tie all such nodes.
        most = 1 if self.lexical.index.measured is None else None
        by_words = words / scale.words if scale.words else np.zeros(len(words))
        by_meaning = ((near - scale.low) / wide).clip(0, most) if wide else np.zeros(len(near))
        return by_words, np.where(near <= _NO_VECTOR, by_words, by_meaning)

    def _joined(self, query: str, words: ScoredRows, near: ScoredRows) -> ScoredRows:
        """Return every row of either list, in row order, scored by both."""
        rows = np.union1d(words.rows, near.rows).astype(np.int32)
        columns = []
        for searcher, ranked in ((self.lexical, words), (self.dense, near)):
            scores, is_missing = np.empty(len(rows)), np.ones(len(rows), np.bool_)
            at = rows.searchsorted(ranked.rows)
            scores[at], is_missing[at] = ranked.scores, False
            scores[is_missing] = searcher.scores(query, rows[is_missing])
            columns.append(scores)
        shares = self._stretched(query, columns[0], columns[1])
        return ScoredRows(rows, self.weight * shares[0] + (1 - self.weight) * shares[1])

    def _reach(self, query: str, words: NDArray[np.float64], near: float | None) -> NDArray[np.float64]:
        """Return the highest possible scores of rows with these BM25 scores and a cosine of at most `near`.

        If that is None, the list by cosine has every row, and the lowest cosine is meant.
        """
        highest = np.array([self._scales(query, self._scale).low if near is None else near])
        shares = self._stretched(query, words, highest)
        reach = self.weight * shares[0] + (1 - self.weight) * shares[1]
        return np.maximum(reach, shares[0]) if self._is_partial else np.asarray(reach)

    @cached_property
    def _is_partial(self) -> bool:
        """Whether some rows have no vector."""
        return len(self.dense.index.rows) < self.lexical.index.count

    def _scale(self, query: str, words: ScoredRows | None = None) -> Scale:
        """Measure the range of a query's scores by two searches of the whole graph; `words` may be the first."""
        measured = self.lexical.index.measured
        best = (words if words is not None else self.lexical.search(query, 1, mask=measured)).scores
        ends = self.dense.index.ends(self.dense.encode(query), best=self.dense.best, mask=measured)
        return Scale(float(best[0]) if len(best) else 0.0, *ends)

    def _places_added(self, query: str, among: Rows | None, mask: Mask | None, depth: int) -> ScoredRows:
        """Return every row of either list with the sum of its places' shares, in row order."""
        lists = [searcher.search(query, depth, among=among, mask=mask).rows for searcher in (self.lexical, self.dense)]
        rows, place = np.unique(np.concatenate(lists), return_inverse=True)
        shares = np.concatenate([1 / (RRF_CONSTANT + 1 + np.arange(len(ranked))) for ranked in lists])
        return ScoredRows(rows.astype(np.int32), np.bincount(place, shares, minlength=len(rows)).astype(np.float64))


_NO_VECTOR = -1.0  # its cosine
_NOTHING = ScoredRows(np.zeros(0, np.int32), np.zeros(0, np.float64))


class TitleBonus:
    """Adds a bonus to another searcher's score if the query contains the row's title.

    The bonus is a share of the query's best score in the whole graph, so that it means the same on any scale of scores.
    """

    def __init__(self, searcher: Searcher, titled: Callable[[str], Rows], bonus: float) -> None:
        if not 0 <= bonus <= 1:
            raise BadOption(f"titles is {bonus}: it must be 0 to 1")
        self._searcher, self._bonus = searcher, bonus
        self.titled = KeyedCache(titled)
        """The rows with a title that a query contains, sorted."""
        self._best = KeyedCache[str, float]()

    def search(self, query: str, k: int, *, among: Rows | None = None, mask: Mask | None = None) -> ScoredRows:
        """Return the `k` best rows, scored with the bonus."""
        ranked = self._searcher.search(query, k, among=among, mask=mask)
        titled = self.titled(query)
        if among is not None:
            titled = np.intersect1d(titled, among)
        if mask is not None:
            titled = titled[mask[titled]]
        if not len(titled) or k < 1:
            return ranked
        others = np.setdiff1d(titled, ranked.rows).astype(np.int32)
        rows = np.concatenate([ranked.rows, others])
        scores = np.concatenate([ranked.scores, self._searcher.scores(query, others)])
        # A search of the whole graph has its best score in front: no second search is needed.
        is_whole = among is None and len(ranked.scores) > 0 and (mask is None or bool(mask.all()))
        best = self._best(query, (lambda _: max(0.0, float(ranked.scores[0]))) if is_whole else self._best_score)
        scores += self._bonus * best * np.isin(rows, titled)
        order = np.lexsort((rows, -scores))[:k]
        return ScoredRows(rows[order], scores[order])

    def scores(self, query: str, rows: Rows) -> NDArray[np.float64]:
        """Return the score of each of these ascending rows, with the bonus if the query contains its title."""
        scores = self._searcher.scores(query, rows)
        titled = self.titled(query)
        if not len(titled):
            return scores
        return scores + self._bonus * self._best(query, self._best_score) * np.isin(rows, titled)

    def _best_score(self, query: str) -> float:
        """Return the best score in the whole graph, by a search of its own; at least 0."""
        ranked = self._searcher.search(query, 1)
        return max(0.0, float(ranked.scores[0])) if len(ranked.scores) else 0.0


def _top(ranked: ScoredRows, k: int) -> ScoredRows:
    order = np.lexsort((ranked.rows, -ranked.scores))[:k]
    return ScoredRows(ranked.rows[order], ranked.scores[order])


class VoteCount(NamedTuple):
    """An entry of a list fused from several."""

    id: str
    votes: int
    """How many lists hold it."""


def vote(lists: Sequence[Sequence[str]]) -> tuple[VoteCount, ...]:
    """Order ids by how many lists hold them, ties by the earliest place within any list. ARK, section 3.2.

    Remaining ties keep the order of the lists put one after another.
    """
    place: dict[str, int] = {}
    votes: dict[str, int] = {}
    for ids in lists:
        for at, item in enumerate(dict.fromkeys(ids)):
            votes[item] = votes.get(item, 0) + 1
            place[item] = min(at, place.get(item, at))
    fused = sorted(votes, key=lambda item: (-votes[item], place[item]))  # stable: first come, first placed
    return tuple(VoteCount(item, votes[item]) for item in fused)


def concatenate(lists: Sequence[Sequence[str]]) -> tuple[VoteCount, ...]:
    """Put the lists one after another, first appearances only. The ordering of ARK's table 3."""
    votes = {place.id: place.votes for place in vote(lists)}
    return tuple(VoteCount(item, votes[item]) for item in dict.fromkeys(item for ids in lists for item in ids))


def shuffle(lists: Sequence[Sequence[str]], random: np.random.Generator) -> tuple[VoteCount, ...]:
    """Put the union of the lists into a random order. The random merge of ARK's table 3."""
    fused = concatenate(lists)
    return tuple(fused[at] for at in random.permutation(len(fused)))
