"""The chunk vote: what was picked of a graph, best first, votes for the passages that hold it.

After LightRAG's weighted polling: the first item sends five of its passages, the last one, those between in a straight
line. What an item says is worth as much as it may send, and is shared among the passages that it sends:

    votes(p) = sum over items i that send p of quota(i) / 5 * share(i, p)
    score(p) = (0.1 + fit(p)) * votes(p)^0.5

Deviations:
1. The public code has no score: a passage stands where the first item that sent it put it. Here its votes are added up,
   and it is asked whether the passage fits the query.
2. A passage that an item titles is sent first, and all of those together get `TITLED` of the item's vote: what is about
   a thing says more of it than what mentions it. The others share the rest, or all where it titles none.
3. Of the others an item sends those that fit the query best; the public code takes those that most items hold, or, in
   its other setting, the nearest of all items' passages together.
4. What may send no more passages leaves the rest of its quota; the public code deals it out again.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import zip_longest
from typing import NamedTuple, TypeVar

import numpy as np
from numpy.typing import NDArray

from orienteer.graph.store import Graph
from orienteer.index.arrays import Rows
from orienteer.index.bm25 import ScoredRows
from orienteer.retrieval.spaces import Spaces

MOST, LEAST = 5, 1
"""Passages that the first and the last item may send. LightRAG's related_chunk_number."""
TITLED = 0.7
"""Share of the vote for passages that an item titles. As tau in the walk over passages and names."""
_DAMPING = 0.5
"""Power of the votes: between 0.3 and 1 it makes little difference on musique and 2WikiMultiHopQA; ours."""
_FLOOR = 0.1
"""What any passage fits, so that one that shares no word with the query is still told apart by its votes; ours."""
_TITLE = "titled"
HOLDING = ("mentions", _TITLE, "states")
"""Edge types from a passage to what it holds."""

_T = TypeVar("_T")
Fits = Callable[[Rows], NDArray[np.float64]]
"""Says how well sorted rows fit a query, 0 to 1."""


class PassageMembership(NamedTuple):
    """Passages by what they hold: one entry a pair."""

    item: NDArray[np.int64]
    """Place of the item in its list."""
    passage: NDArray[np.int32]
    """Row of the passage."""
    is_title: NDArray[np.bool_]
    """Whether the item is what the passage is about: its title names it, or it is the item itself."""


class MembershipIndex:
    """Tells which passages hold an entity, a fact or a relation. Safe to share among threads.

    A passage holds itself; so does every node of a graph that has no passages.
    """

    def __init__(self, graph: Graph, spaces: Spaces) -> None:
        self._graph, self._passages = graph, spaces.passages
        types = [name for name in HOLDING if name in graph.arrays.types.edges]
        self._kinds = graph.arrays.kind_mask(types, "in") if types and spaces.has_passages else None
        self._titling = [graph.arrays.types.edges.index(name) for name in types if name == _TITLE]

    def of(self, rows: Sequence[int]) -> PassageMembership:
        """Return the passages of each row of a list, in the order of the list."""
        wanted = np.array(rows, np.int64)
        own = self._passages[wanted] if len(wanted) else np.zeros(0, np.bool_)
        item, passage = np.flatnonzero(own), wanted[own].astype(np.int32)
        others = np.unique(wanted[~own]).astype(np.int32)
        if self._kinds is None or not len(others):
            return PassageMembership(item, passage, np.ones(len(item), np.bool_))
        pairs = self._pairs(others)
        begin, end = pairs.item.searchsorted(wanted), pairs.item.searchsorted(wanted, "right")
        counts = np.where(own, 0, end - begin)
        at = np.repeat(begin - np.cumsum(counts) + counts, counts) + np.arange(counts.sum())
        return PassageMembership(
            np.concatenate([item, np.repeat(np.arange(len(wanted)), counts)]),
            np.concatenate([passage, pairs.passage[at]]),
            np.concatenate([np.ones(len(item), np.bool_), pairs.is_title[at]]),
        )

    def _pairs(self, rows: Rows) -> PassageMembership:
        """Return the passages of sorted rows, each pair once, by row."""
        entries = self._graph.arrays.adjacency.entries(rows, self._kinds)
        entries = entries.where(self._passages[entries.neighbor])
        size = len(self._graph)
        key, place = np.unique(entries.owner.astype(np.int64) * size + entries.neighbor, return_inverse=True)
        is_title = np.zeros(len(key), np.bool_)
        is_title[place[np.isin(entries.kind >> 1, self._titling)]] = True
        return PassageMembership(key // size, (key % size).astype(np.int32), is_title)

    def of_groups(self, groups: Sequence[Sequence[int]]) -> PassageMembership:
        """Return for each group of rows the passages that hold all of it; in a graph without passages each of the rows.

        A relation between two entities is held where both are. Where no passage holds all, none holds the group; a
        passage of a group that is made of passages holds itself.
        """
        members = [np.unique(np.array(group, np.int64)) for group in groups]
        every = np.unique(np.concatenate([_NONE.item, *members]))
        pairs = self._pairs(every[~self._passages[every]].astype(np.int32)) if self._kinds is not None else _NONE
        parts = [_NONE]
        for number, rows in enumerate(members):
            own = rows[self._passages[rows]].astype(np.int32)
            if len(own):
                parts.append(PassageMembership(np.full(len(own), number), own, np.ones(len(own), np.bool_)))
            elif len(rows):
                parts.append(_held_by_all(pairs, rows, number))
        return PassageMembership(*(np.concatenate(columns) for columns in zip(*parts, strict=True)))


_NONE = PassageMembership(np.zeros(0, np.int64), np.zeros(0, np.int32), np.zeros(0, np.bool_))


def _held_by_all(pairs: PassageMembership, rows: NDArray[np.int64], number: int) -> PassageMembership:
    """Return the passages that hold each of some rows, as those of one item; the rows that few hold come first."""
    begins, ends = pairs.item.searchsorted(rows), pairs.item.searchsorted(rows, "right")
    first, *others = np.argsort(ends - begins, kind="stable").tolist()
    shared = pairs.passage[begins[first] : ends[first]]
    is_title = pairs.is_title[begins[first] : ends[first]]
    for other in others:
        theirs = slice(begins[other], ends[other])
        at = pairs.passage[theirs].searchsorted(shared)
        is_there = np.append(pairs.passage[theirs], -1)[at] == shared
        shared, at = shared[is_there], at[is_there]
        is_title = is_title[is_there] | pairs.is_title[theirs][at]
    return PassageMembership(np.full(len(shared), number), shared, is_title)


def vote(held: PassageMembership, items: int, fits: Fits) -> ScoredRows:
    """Return the passages that some items, best first, vote for, with their scores, best first; ties by row.

    `items` is how many there are, those that no passage holds too.
    """
    if not len(held.item):
        return ScoredRows(np.zeros(0, np.int32), np.zeros(0, np.float64))
    rows, place = np.unique(held.passage, return_inverse=True)
    fit = fits(rows)
    quota = np.linspace(MOST, LEAST, items) if items > 1 else np.full(1, float(MOST))
    order = np.lexsort((place, -fit[place], ~held.is_title, held.item))
    item, place, is_title = held.item[order], place[order], held.is_title[order]
    turn = np.arange(len(item)) - item.searchsorted(item)  # the item's own first, second, ...
    is_sent = turn < np.rint(quota[item])
    item, place, is_title = item[is_sent], place[is_sent], is_title[is_sent]
    strength = quota[item] / MOST * _share(item, is_title, items)
    votes = np.bincount(place, strength, minlength=len(rows)).astype(np.float64)
    scores = damped(votes, fit)
    best = np.lexsort((rows, -votes, -scores))
    best = best[votes[best] > 0]
    return ScoredRows(rows[best], scores[best])


def damped(votes: NDArray[np.float64], fit: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return scores of what has so many votes and fits so well."""
    return np.asarray((_FLOOR + fit) * votes**_DAMPING)


def _share(item: NDArray[np.int64], is_title: NDArray[np.bool_], items: int) -> NDArray[np.float64]:
    """Return the part of its item's vote that each passage gets that is sent."""
    titles = np.bincount(item[is_title], minlength=items)
    others = np.bincount(item[~is_title], minlength=items)
    both = (titles[item] > 0) & (others[item] > 0)
    part = np.where(both, np.where(is_title, TITLED, 1 - TITLED), 1.0)
    return part / np.where(is_title, titles[item], others[item])


def in_turns(*lists: Iterable[_T]) -> Iterator[_T]:
    """Yield the first of each list, then the second of each, and so on; lists that have ended are passed over."""
    for turn in zip_longest(*(((item,) for item in some) for some in lists), fillvalue=()):
        for item in turn:
            yield from item


def first_of(pairs: Iterable[tuple[int, _T]], most: int) -> dict[int, _T]:
    """Return the first so many distinct rows, each with what it first came with."""
    first: dict[int, _T] = {}
    for row, value in pairs:
        if len(first) == most:
            break
        first.setdefault(row, value)
    return first
