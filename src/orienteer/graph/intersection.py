"""Where several sets of nodes meet."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from orienteer.graph.adjacency import distinct
from orienteer.index.arrays import Rows

_FEW = 16  # times smaller: then looking each node up beats marking all


class Meeting(NamedTuple):
    """Rows, and in how many of the sets each stands."""

    rows: Rows
    members: NDArray[np.int64]


def meet(groups: Sequence[NDArray[np.int32]], nodes: int, mask: NDArray[np.bool_] | None = None) -> Meeting:
    """Return the rows that stand in all of these groups, else those in two or more, of a graph of this many nodes.

    Groups are sorted; that a row is repeated in one does not count.
    """
    first, *others = sorted(groups, key=len)
    common = first if mask is None else first[mask[first]]
    for other in others:
        common = _both(common, other, nodes)
    if len(common):
        common = distinct(common)
        return Meeting(common, np.full(len(common), len(groups)))
    together = np.concatenate([distinct(group) for group in groups])
    found, counts = np.unique(together if mask is None else together[mask[together]], return_counts=True)
    several = counts > 1
    return Meeting(found[several].astype(np.int32), counts[several])


def _both(few: NDArray[np.int32], many: NDArray[np.int32], nodes: int) -> NDArray[np.int32]:
    """Return the rows of both."""
    if len(few) * _FEW < len(many):
        return few[many.take(many.searchsorted(few), mode="clip") == few] if len(few) else few
    marked = np.zeros(nodes, np.bool_)
    marked[few.astype(np.intp)] = True
    return many[marked.take(many).nonzero()[0]]  # few are: their places are sooner read than a mask
