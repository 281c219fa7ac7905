"""The common nodes of several sets."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from orienteer.graph.adjacency import distinct
from orienteer.index.arrays import Rows

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
