"""Lists merged by turns, and what a walk votes for weighed against what a search finds."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import zip_longest
from typing import TypeVar

import numpy as np
from numpy.typing import NDArray

from orienteer.graph.store import Graph
from orienteer.graph.titles import TitleFinder
from orienteer.index.bm25 import Mask, ScoredRows
from orienteer.index.searchers import Mode, TitleBonus
from orienteer.retrieval.expansion.bipartite import Handed
from orienteer.retrieval.spaces import Spaces

TRUST = 0.3
"""Power of the votes beside the search score: best on MuSiQue's and 2Wiki's development questions, and SAGE's here."""
FLOOR = 0.02
"""What counts for a passage that has no vote, where the most is 1: the search fills up what votes leave empty."""
LEAST_FIT = 0.1
"""H of what has votes and less of its own: a walk leads to it all the same. The walk of `hippo` has the same."""
TITLES = 0.2
"""Bonus of what has its title in the query, as `sage` has it: 1 to 3 points of the first five passages."""

Floats = NDArray[np.float64]
_T = TypeVar("_T")


def titled_spaces(graph: Graph, mode: Mode, titles: float) -> Spaces:
    """Return a graph's spaces; where it has passages, what a query names gets a bonus, a share of the best score."""
    spaces = Spaces(graph, mode)
    if titles and spaces.has_passages:
        spaces.searcher = TitleBonus(spaces.searcher, TitleFinder(graph.arrays), titles)
    return spaces


def shares(scores: Floats) -> Floats:
    """Return scores as shares of the best one, 0 at the least."""
    most = float(scores.max(initial=0.0))
    return scores.clip(min=0) / most if most > 0 else np.zeros(len(scores))


def searched(spaces: Spaces, text: str, k: int, mask: Mask) -> ScoredRows:
    """Return the `k` marked rows that a search finds, the best 1."""
    hits = spaces.search(text, k, mask)
    return ScoredRows(hits.rows, shares(hits.scores))


def fused(spaces: Spaces, text: str, voted: Handed, found: ScoredRows, k: int, *, among: Mask) -> ScoredRows:
    """Return the `k` of the marked rows that are best by search and votes: `H * (v + floor)^trust`, best first.

    H is the search score as a share of the best one, v the votes for rows as a share of the most. `found` is what the
    search has given; of what has votes, the ten times `k` that have most are looked at. Ties go to the smaller row.
    """
    allowed = among[voted.items]
    few = Handed(voted.items[allowed], voted.values[allowed]).most(10 * k)
    every = np.union1d(few.items, found.rows[among[found.rows]]).astype(np.int32)
    share = np.zeros(len(every))
    share[every.searchsorted(few.items)] = shares(few.values)
    fit = np.maximum(shares(spaces.scores(text, every)), np.where(share > 0, LEAST_FIT, 0.0))
    scores = fit * (share + FLOOR) ** TRUST
    order = np.lexsort((every, -scores))[:k]
    order = order[scores[order] > 0]
    return ScoredRows(every[order], scores[order])


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
