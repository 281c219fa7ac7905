"""Exact BM25 (Lucene's formula) over mapped postings, in the whole graph or among some of its nodes.

A document is a node's name, aliases and text. Scores are summed in float64, term by term, the term of the highest
possible contribution first; ties go to the smaller row, which is the smaller id. Nothing is approximated: a posting
or a candidate is left out only when an upper bound proves that it cannot reach the first `k` (Turtle and Flood's
MaxScore, with a maximum for each block of postings as in Ding and Suel's block-max indexes).
"""

from __future__ import annotations

import math
import threading
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from orienteer.index.arrays import Array, Folder, Rows, check_ends
from orienteer.index.words import hashes_of, word_hash

Mask = NDArray[np.bool_]
"""One entry for each node of the graph."""
K1 = 1.2  # Lucene's defaults, as everywhere in the field
B = 0.75
BLOCK = 64  # postings under one maximum: small enough to skip most of a common term, 1 % of the postings' size
# None of the next four changes a ranking. They trade the fixed cost of a method against its cost for each posting.
_VERY_FEW = 256  # nodes among which pruning costs more than it saves
_COSTLY = 16  # times as many postings as nodes: then it pays to know which nodes still count
_FEW = 4_096  # nodes that are scored one by one; beyond, a mask over the whole graph is quicker
_SMALL = 32_768  # postings that are all added up; beyond, pruning pays for itself
_MOST_KNOWN = 100_000  # terms whose postings are remembered: an agent asks the same words again and again
_SLACK = 1 - 1e-9  # upper bounds are float32 rounded up and sums round: leave room before anything is dropped


def saturation(mean_length: float, lengths: NDArray[np.int32]) -> NDArray[np.float64]:
    """Return BM25's K for rows of these lengths, in terms: a posting adds idf * tf / (tf + K) to its row's score."""
    return K1 * (1 - B) + (K1 * B / mean_length) * lengths.astype(np.float64)


class ScoredRows(NamedTuple):
    """Rows with their scores, best first unless a function documents another order."""

    rows: NDArray[np.int32]
    """(n,): distinct."""
    scores: NDArray[np.float64]
    """(n,): the score of each row; higher is better."""


class Posting(NamedTuple):
    """The postings of a query term, in the index's columns."""

    term: str
    idf: float
    begin: int
    end: int
    blocks: int
    bound: float  # the most that this term adds to any score

    @property
    def nodes(self) -> int:
        """Count the nodes that have the term."""
        return self.end - self.begin


class TextIndex:
    """Ranks nodes by BM25. Safe to share among threads."""

    def __init__(self, folder: Folder, mean_length: float, *, measured: Mask | None = None) -> None:
        """Open the index. Counts of the `measured` nodes say how rare a term is; without a mask, those of all nodes."""
        self.mean_length = mean_length
        self.measured = measured
        """(nodes,): the nodes whose terms are counted for `idf`; None for all."""
        self._terms = folder.array("term", "u8")
        self._begins = folder.array("posting", "i8")
        self._best = folder.array("best", "f4")
        self._rows = folder.array("row", "i4")
        self._frequencies = folder.array("frequency", "u1")
        self._large_at = folder.array("large_at", "i8")
        self._large = folder.array("large", "i4")
        self._blocks = folder.array("block", "i8")
        self._block_best = folder.array("block_best", "f4")
        self.lengths = folder.array("length", "i4")
        for offsets, column in (
            (self._begins, self._rows),
            (self._begins, self._frequencies),
            (self._blocks, self._block_best),
        ):
            check_ends(offsets, len(column), "postings")
        if not len(self._terms) == len(self._best) == len(self._begins) - 1 == len(self._blocks) - 1:
            raise ValueError("the columns of the terms are not of one length")
        if not (math.isfinite(mean_length) and mean_length > 0):
            raise ValueError(f"a mean length of {mean_length}")
        self.count = len(self.lengths)
        self._texts = self.count if measured is None else int(np.count_nonzero(measured))
        self._local = threading.local()
        self._known: dict[str, Posting | None] = {}

    def posting(self, term: str) -> Posting | None:
        """Return a term's postings, or None if no node has the term."""
        if term in self._known:
            return self._known[term]
        if len(self._known) >= _MOST_KNOWN:
            self._known.clear()
        wanted = np.uint64(word_hash(term.encode()))
        place = int(self._terms.searchsorted(wanted))
        if place == len(self._terms) or self._terms[place] != wanted:
            self._known[term] = None
            return None
        begin, end = int(self._begins[place]), int(self._begins[place + 1])
        block = int(self._blocks[place])
        # A damaged file: numpy would make room for any number of postings.
        if not (0 <= begin <= end <= len(self._rows) and 0 <= block <= len(self._block_best) + (begin - end) // BLOCK):
            raise IndexError(f"postings {begin} to {end} from block {block}, of {len(self._rows)}")
        count = end - begin if self.measured is None else np.count_nonzero(self.measured[self._rows[begin:end]])
        idf = self.idf(int(count))
        posting = self._known[term] = Posting(term, idf, begin, end, block, idf * float(self._best[place]))
        return posting

    def counts(self, terms: Sequence[str]) -> NDArray[np.int64]:
        """Return how many nodes have each of many terms: (terms,), 0 for none."""
        if not terms or not len(self._terms):
            return np.zeros(len(terms), np.int64)
        wanted = hashes_of(terms)
        places = self._terms.searchsorted(wanted).clip(max=len(self._terms) - 1)
        return np.where(self._terms[places] == wanted, self._begins[places + 1] - self._begins[places], 0)

    def idf(self, count: int) -> float:
        """Return the inverse document frequency of a term that `count` nodes have."""
        return math.log1p((self._texts - count + 0.5) / (count + 0.5))

    def rows_of(self, posting: Posting) -> Rows:
        """Return the nodes that have a term: (n,) int32, ascending."""
        return self._rows[posting.begin : posting.end]

    def filter_rows(self, posting: Posting, rows: Rows) -> Rows:
        """Return the rows that contain the term, ascending like `rows`."""
        if len(rows) > _VERY_FEW:
            return rows[self._meet(posting, rows)[0]]
        theirs = self._rows[posting.begin : posting.end]
        having: Rows = rows[theirs.take(theirs.searchsorted(rows), mode="clip") == rows]
        return having

    def postings(self, terms: Sequence[str]) -> list[Posting]:
        """Return the postings of distinct terms, the term that can add most to a score first."""
        postings = [posting for posting in map(self.posting, dict.fromkeys(terms)) if posting]
        return sorted(postings, key=lambda posting: (-posting.bound, posting.term))

    def search(
        self, terms: Sequence[str], k: int, *, among: Rows | None = None, mask: Mask | None = None
    ) -> ScoredRows:
        """Return the `k` best rows that have a term, of `among`, ascending, and under `mask`, (nodes,)."""
        postings = self.postings(terms)
        if k < 1 or not postings or (among is not None and not len(among)):
            return ScoredRows(np.zeros(0, np.int32), np.zeros(0, np.float64))
        if among is not None and mask is not None:
            among = among[mask[among]]
        if among is None:
            is_small = sum(posting.nodes for posting in postings) <= _SMALL
            return self._exhaustive(postings, k, mask) if is_small else self._pruned(postings, k, mask)
        if len(among) <= _FEW:
            is_cheap = len(among) <= _VERY_FEW
            return _top(among, self._sum(postings, among) if is_cheap else self._some(postings, among, k), k)
        allowed = self._scratch("allowed")
        # Numpy would convert it at each of the two assignments below.
        among = among.astype(np.intp)
        allowed[among] = True
        try:
            return self._pruned(postings, k, allowed)
        finally:
            allowed[among] = False

    def scores(self, terms: Sequence[str], rows: Rows) -> NDArray[np.float64]:
        """Score each of these ascending rows: (rows,) float64, 0 for a row without any of the terms."""
        return self._sum(self.postings(terms), rows)

    def _some(self, postings: Sequence[Posting], rows: Rows, k: int) -> NDArray[np.float64]:
        """Score these rows until the first k are certain: a row that cannot reach them is not looked up again."""
        total = np.zeros(len(rows))
        open_: NDArray[np.int64] | None = None
        remaining = sum(posting.bound for posting in postings)
        for posting in postings:
            if posting.nodes > _COSTLY * len(rows) and (floor := _kth(total, k) * _SLACK) > remaining:
                open_ = (total >= floor - remaining).nonzero()[0]
            here, places = self._meet(posting, rows if open_ is None else rows[open_])
            total[here if open_ is None else open_[here]] += self._contribution(posting.idf, places)
            remaining -= posting.bound
        return total

    def _sum(self, postings: Sequence[Posting], rows: Rows) -> NDArray[np.float64]:
        meetings = [self._meet(posting, rows) for posting in postings]
        here = np.concatenate([_NONE, *(here for here, _ in meetings)])
        places = np.concatenate([_NONE, *(places for _, places in meetings)])
        idf = np.array([posting.idf for posting in postings]).repeat([len(here) for here, _ in meetings])
        return np.bincount(here, self._contribution(idf, places), minlength=len(rows)).astype(np.float64, copy=False)

    def _meet(self, posting: Posting, rows: Rows) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """Return the indexes of the rows that have the term, and the places of their postings."""
        theirs = self._rows[posting.begin : posting.end]
        if len(rows) > _VERY_FEW and len(rows) / 4 < len(theirs) < _COSTLY * len(rows):
            # Neither side is far smaller: marking the rows is quicker than looking each up.
            marked = self._scratch("marked")
            at = rows.astype(np.intp)
            marked[at] = True
            places = marked[theirs].nonzero()[0]
            marked[at] = False
            return rows.searchsorted(theirs[places]), places + posting.begin
        if len(theirs) < len(rows):
            at = rows.searchsorted(theirs)
            places = (rows.take(at, mode="clip") == theirs).nonzero()[0]
            return at[places], places + posting.begin
        at = theirs.searchsorted(rows)
        here = (theirs.take(at, mode="clip") == rows).nonzero()[0]
        return here, at[here] + posting.begin

    def _contribution(self, idf: float | NDArray[np.float64], places: NDArray[np.int64]) -> NDArray[np.float64]:
        """Return the share of each posting in the score of its node: idf * tf / (tf + K)."""
        stored = self._frequencies.take(places)
        frequency = stored.astype(np.float64)
        if len(self._large_at) and (capped := (stored == 255).nonzero()[0]).size:
            # Those that do not fit a byte.
            frequency[capped] = self._large[self._large_at.searchsorted(places[capped])]
        divisor = saturation(self.mean_length, self.lengths.take(self._rows.take(places)))
        divisor += frequency
        frequency *= idf
        frequency /= divisor
        return frequency

    def _exhaustive(self, postings: Sequence[Posting], k: int, mask: Mask | None) -> ScoredRows:
        """Add up every posting: with few of them nothing is quicker."""
        places = np.concatenate([np.arange(posting.begin, posting.end) for posting in postings])
        idf = np.array([posting.idf for posting in postings]).repeat([posting.nodes for posting in postings])
        rows, shares = self._rows.take(places), self._contribution(idf, places)
        if len(rows) > self.count:  # each node once
            scores = np.bincount(rows, shares, minlength=self.count).astype(np.float64, copy=False)
            return _top(np.arange(self.count, dtype=np.int32), scores if mask is None else scores * mask, k)
        total = self._scratch("total", np.float64)
        np.add.at(total, rows, shares)
        scores = total.take(rows)
        total[rows] = 0
        if mask is not None:
            is_allowed = mask[rows]
            rows, scores = rows[is_allowed], scores[is_allowed]
        return _top(rows, scores, k, repeats=len(postings))

    def _pruned(self, postings: Sequence[Posting], k: int, mask: Mask | None) -> ScoredRows:
        """Add the terms one after another, leaving out what can no longer reach the first k."""
        rows, scores = np.zeros(0, np.int32), np.zeros(0, np.float64)
        remaining = sum(posting.bound for posting in postings)
        floor = 0.0  # the k-th best score so far: a lower bound of the final one
        for posting in postings:
            remaining -= posting.bound
            if floor > 0:
                good = scores + (posting.bound + remaining) >= floor * _SLACK
                rows, scores = rows[good], scores[good]
            if len(rows):
                here, places = self._meet(posting, rows)
                scores[here] += self._contribution(posting.idf, places)
            best = self._block_best[posting.blocks : posting.blocks + -(-posting.nodes // BLOCK)]
            if posting.nodes > 8 * BLOCK * k and posting.bound > floor:
                # A first floor: what k nodes reach by this term alone, in its most promising blocks.
                places = self._in_blocks(posting, np.argpartition(best, len(best) - 2 * k)[len(best) - 2 * k :], mask)
                floor = max(floor, _kth(self._contribution(posting.idf, places), k))
            # New are the nodes that may reach the first k by this term and the ones after it.
            least = floor - remaining
            if least <= 0:
                new = np.arange(posting.begin, posting.end)
                new = new if mask is None else new[mask[self._rows[posting.begin : posting.end]]]
            elif least * _SLACK <= posting.bound:
                blocks = np.flatnonzero(best >= np.float32(least * _SLACK / posting.idf))
                new = self._in_blocks(posting, blocks, mask)
            else:
                new = _NONE
            if len(new):
                rows, scores = self._join(posting, rows, scores, new)
            floor = max(floor, _kth(scores, k))
        return _top(rows, scores, k)

    def _in_blocks(self, posting: Posting, blocks: NDArray[np.int64], mask: Mask | None) -> NDArray[np.int64]:
        """Return the places of the postings in some blocks, in no particular order of blocks."""
        places = (blocks[:, None] * BLOCK + (posting.begin + np.arange(BLOCK))).ravel()
        places = places[places < posting.end]  # the last block may be short
        return places if mask is None else places[mask[self._rows[places]]]

    def _join(
        self, posting: Posting, rows: Rows, scores: NDArray[np.float64], places: NDArray[np.int64]
    ) -> tuple[Rows, NDArray[np.float64]]:
        """Add the nodes of new postings to the candidates, without those that are candidates already."""
        fresh = self._rows[places]
        if not len(rows):
            return fresh, self._contribution(posting.idf, places)
        absent = rows.take(rows.searchsorted(fresh), mode="clip") != fresh
        fresh, places = fresh[absent], places[absent]
        added = self._contribution(posting.idf, places)
        rows, scores = np.concatenate([rows, fresh]), np.concatenate([scores, added])
        order = np.argsort(rows, kind="stable")  # two sorted runs: this merges them
        return rows[order], scores[order]

    def _scratch(self, use: str, kind: type[np.generic] = np.bool_) -> Array:
        """Return this thread's own array for a use, (nodes,), all 0; the caller clears the entries that it sets."""
        if not hasattr(self._local, use):
            setattr(self._local, use, np.zeros(self.count, kind))
        array: Array = getattr(self._local, use)
        return array


_NONE = np.zeros(0, np.int64)
_FIRST = np.ones(1, np.bool_)


def _kth(scores: NDArray[np.float64], k: int) -> float:
    """Return the k-th largest score, or 0 if there are fewer."""
    at = len(scores) - k
    return float(np.partition(scores, at)[at]) if at >= 0 else 0.0


def _top(rows: Rows, scores: NDArray[np.float64], k: int, *, repeats: int = 1) -> ScoredRows:
    """Return the k best of the rows that have a score, ties by row. Each may come up to `repeats` times."""
    floor = _kth(scores, k * repeats)
    places = (scores >= floor if floor > 0 else scores > 0).nonzero()[0]
    rows, scores = rows.take(places), scores.take(places)
    order = np.lexsort((rows, -scores))
    if repeats > 1:
        ordered = rows.take(order)
        order = order[np.concatenate([_FIRST[: len(order)], ordered[1:] != ordered[:-1]])]
    order = order[:k]
    return ScoredRows(rows.take(order), scores.take(order))
