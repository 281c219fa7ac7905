"""What joins nodes: the nodes that several sets share, and the shortest paths between two.

For paths two circles of nodes grow towards each other, always the one that is cheaper to grow.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from orienteer.graph.adjacency import Adjacency, distinct
from orienteer.index.arrays import Rows
from orienteer.patience import check_patience

_FEW = 16  # if one set is this many times smaller, looking up each of its nodes beats marking all


class Meeting(NamedTuple):
    """Common rows, with the number of sets that each is in."""

    rows: Rows
    """(n,): ascending."""
    members: NDArray[np.int64]
    """(n,): the number of sets."""


def meet(groups: Sequence[NDArray[np.int32]], nodes: int, mask: NDArray[np.bool_] | None = None) -> Meeting:
    """Return the rows that are in all of these groups; without any, the rows that are in two or more.

    Each group is (n,), ascending; repetitions within a group do not count. `mask`, (nodes,), restricts the rows.
    """
    first, *others = sorted(groups, key=len)
    common = first if mask is None else first[mask[first]]
    for other in others:
        common = _both(common, other, nodes)
    if len(common):
        common = distinct(common)
        return Meeting(common, np.full(len(common), len(groups)))
    together = np.concatenate([distinct(group) for group in groups])
    rows, counts = np.unique(together if mask is None else together[mask[together]], return_counts=True)
    several = counts > 1
    return Meeting(rows[several].astype(np.int32), counts[several])


def _both(few: NDArray[np.int32], many: NDArray[np.int32], nodes: int) -> NDArray[np.int32]:
    """Return the rows that are in both, ascending; repetitions may remain."""
    if len(few) * _FEW < len(many):
        return few[many.take(many.searchsorted(few), mode="clip") == few] if len(few) else few
    marked = np.zeros(nodes, np.bool_)
    marked[few.astype(np.intp)] = True
    return many[marked.take(many).nonzero()[0]]  # few rows are marked: reading their places is faster than a mask


def shortest_paths(adjacency: Adjacency, start: int, end: int, *, most_edges: int, k: int) -> list[tuple[int, ...]]:
    """Return up to `k` of the shortest paths as rows, in row order; none if all have more than `most_edges` edges."""
    if start == end:
        return [(start,)] if k > 0 else []
    circles = (_Circle(adjacency, start), _Circle(adjacency, end))
    while circles[0].depth + circles[1].depth < most_edges:
        check_patience()
        near, far = sorted(circles, key=lambda circle: circle.cost())
        if not len(near.rim):
            return []
        near.grow()
        meeting = near.rim[far.seen[near.rim]]
        if len(meeting):
            return _join(circles[0], circles[1], meeting, k)
    return []


class _Circle:
    """The nodes around a center, ring by ring."""

    def __init__(self, adjacency: Adjacency, center: int) -> None:
        self._adjacency = adjacency
        self.rings: list[Rows] = [np.array([center], np.int32)]
        self.seen = np.zeros(len(adjacency.indptr) - 1, np.bool_)  # pages of zeros cost nothing until they are touched
        self.seen[center] = True

    @property
    def depth(self) -> int:
        return len(self.rings) - 1

    @property
    def rim(self) -> Rows:
        return self.rings[-1]

    def cost(self) -> int:
        """Count the edges that `grow` would read."""
        return int(self._adjacency.degree(self.rim).sum())

    def grow(self) -> None:
        """Add the next ring."""
        around = self._adjacency.around(self.rim)
        ring = np.unique(around[~self.seen[around]])
        self.seen[ring] = True
        self.rings.append(ring)

    def back(self, row: int, depth: int) -> Iterator[tuple[int, ...]]:
        """Yield the paths from the center to a node of a ring, center first."""
        if depth == 0:
            yield (row,)
            return
        around, ring = self._adjacency.around(np.array([row], np.int32)), self.rings[depth - 1]
        before = ring[_among(ring, around)]  # both are sorted
        for nearer in before.tolist():
            for way in self.back(nearer, depth - 1):
                yield (*way, row)


def _among(values: NDArray[np.int32], rows: Rows) -> NDArray[np.bool_]:
    """Mark the values that are among ascending rows: (values,)."""
    if not len(rows):
        return np.zeros(len(values), np.bool_)
    at = rows.searchsorted(values)
    at[at == len(rows)] = 0
    return np.asarray(rows[at] == values)


def _join(left: _Circle, right: _Circle, meeting: Rows, k: int) -> list[tuple[int, ...]]:
    """Join halves of paths at each meeting node. Every shortest path has exactly one node in both rims."""
    paths: list[tuple[int, ...]] = []
    for row in meeting.tolist():
        for first in left.back(row, left.depth):
            for second in right.back(row, right.depth):
                if len(paths) == k:
                    return sorted(paths)
                paths.append(first + second[-2::-1])
    return sorted(paths)
