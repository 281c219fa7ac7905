"""Between steps 4 and 5: what all anchors together lead to, by node."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from orienteer.graph.store import Graph
from orienteer.index.arrays import Rows
from orienteer.methods.anchor.reach import Reach
from orienteer.reading.answer_type import Understanding

_GUESSED = 0.5  # sureness of a type that only the size of what joins the anchors speaks for; the prototype's


@dataclass(frozen=True, slots=True)
class Connections:
    """What the anchors lead to: by anchor and node the strength, and by node how many nodes lead there."""

    rows: Rows
    strength: NDArray[np.float64]  # (anchors, rows)
    times: NDArray[np.int64]
    """By node, how many anchors lead there."""
    members: NDArray[np.int64]
    leads: bool
    """A way to a wanted type leads somewhere."""
    counts: bool
    """Ways to a wanted type were walked whose last step counts."""

    @property
    def joined(self) -> NDArray[np.bool_]:
        """Mark the nodes that two anchors or more lead to."""
        return np.asarray(self.times > 1)

    @property
    def most_joined(self) -> NDArray[np.bool_]:
        """Mark those of them that the most anchors lead to."""
        return np.asarray(self.joined & (self.times == self.times.max(initial=0)))


def connect(question: Understanding, reached: Sequence[Sequence[Reach]]) -> Connections:
    """Return what the anchors lead to; an anchor's connection to itself is left out."""
    anchors, wanted = question.anchors, question.wanted
    rows, where = unite_sorted([reach.rows for ways in reached for reach in ways])
    following = iter(where)
    strength = np.zeros((len(anchors), len(rows)))
    members = np.zeros(len(rows), np.int64)
    leads = counts = False
    for at, ways in enumerate(reached):
        for reach in ways:
            places = next(following)
            if at < len(anchors):
                mine = strength[at]
                mine[places] = np.maximum(mine[places], reach.strength)
            if reach.way is not None and (at >= len(anchors) or not wanted.via or reach.way.is_guided):
                members[places] = np.maximum(members[places], reach.members)
                leads = True
                counts |= len(reach.way.types) > 1 or at >= len(anchors)
        if at >= len(anchors):
            continue
        own = np.array([candidate.row for candidate in anchors[at].candidates], np.int32)
        strength[at, places_of(rows, own)[0]] = 0.0
    return Connections(rows, strength, np.count_nonzero(strength > 0, axis=0), members, leads, counts)


def smallest_shared(connections: Connections, graph: Graph) -> dict[int, float]:
    """Return the type of which the fewest nodes join the anchors, with how sure it is: what a question can be after."""
    joined = connections.rows[connections.most_joined]
    if not len(joined):
        return {}
    sizes = np.bincount(graph.arrays.node_types[joined])
    best = min(np.flatnonzero(sizes).tolist(), key=lambda number: (sizes[number], number))
    return {best: _GUESSED / float(np.log2(1 + sizes[best]))}


class _United(NamedTuple):
    """The distinct rows of several lists, and by list where its rows stand among them."""

    rows: Rows
    places: list[NDArray[np.intp]]


def unite_sorted(lists: Sequence[Rows]) -> _United:
    """Unite sorted lists in one sort, which merges them: looking the rows of long ones up would cost more."""
    together = np.concatenate([np.zeros(0, np.int32), *lists])
    order = np.argsort(together, kind="stable")
    rows = together[order]
    is_new = np.diff(rows, prepend=-1) > 0
    places = np.empty(len(rows), np.intp)
    places[order] = np.cumsum(is_new) - 1
    return _United(rows[is_new], np.split(places, np.cumsum([len(part) for part in lists])[:-1]) if lists else [])


def places_of(rows: Rows, wanted: Rows) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Return where in `rows` those of `wanted` stand that are there, and which of `wanted` these are."""
    if not len(rows):
        return np.zeros(0, np.int64), np.zeros(0, np.int64)
    at = rows.searchsorted(wanted)
    at[at == len(rows)] = 0
    here = np.flatnonzero(rows[at] == wanted)
    return at[here], here
