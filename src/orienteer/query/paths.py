"""Shortest paths along some kinds of edges: two circles grow towards each other, always the cheaper one."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from orienteer.graph.adjacency import distinct
from orienteer.query.budget import Budget
from orienteer.query.columns import Numbers
from orienteer.query.plan import Hop
from orienteer.query.sets import turned
from orienteer.query.store import Store


def shortest_paths(
    store: Store, ends: tuple[int, int], hop: Hop, most: int | None, budget: Budget, *, every: bool
) -> Numbers | None:
    """Return the shortest paths from one node to another as edge numbers: (paths, edges); one path, or every one.

    None if both ends are one node, or no path has at most `most` edges; `most` None is any number. Raises
    `QueryStopped`.
    """
    start, end = ends
    near, far = _Circle(store, start, hop, budget), _Circle(store, end, turned(hop), budget)
    meeting = np.zeros(0, np.int64)
    while not len(meeting):
        if start == end or near.steps + far.steps == most or not len(near.rim) or not len(far.rim):
            return None
        (near if near.cost <= far.cost else far).grow()
        meeting = np.flatnonzero((near.distance >= 0) & (far.distance >= 0))
    length = near.steps + far.steps
    # The nodes of shortest paths, by their distance from the start.
    rings = [np.zeros(0, np.int64)] * (length + 1)
    rings[near.steps] = meeting[near.distance[meeting] == near.steps]
    for step in range(near.steps, 0, -1):
        rings[step - 1] = _around(store, rings[step], turned(hop), near.distance == step - 1, budget)
    for step in range(near.steps, length):
        rings[step + 1] = _around(store, rings[step], hop, far.distance == length - step - 1, budget)
    at, trails = np.array([start], np.int64), np.zeros((1, 0), np.int64)
    for ring in rings[1:]:
        allowed = np.zeros(store.size, np.bool_)
        allowed[ring] = True
        reached, longer = [np.zeros(0, np.int64)], [np.zeros((0, trails.shape[1] + 1), np.int64)]
        for walked in store.around(at, hop, budget):
            keep = np.flatnonzero(allowed[walked.far])
            keep = keep if every else keep[:1]
            numbers = store.edge_numbers(at[walked.near[keep]], walked.far[keep], walked.at[keep])
            reached.append(walked.far[keep])
            longer.append(np.concatenate([trails[walked.near[keep]], numbers[:, None]], axis=1))
        at, trails = np.concatenate(reached), np.concatenate(longer)
        at, trails = (at, trails) if every else (at[:1], trails[:1])
        budget.hold(len(at))
    return trails


def ends_of_walks(store: Store, start: int, hop: Hop, least: int, most: int | None, budget: Budget) -> Numbers:
    """Return the ends of all walks of `least` (0 or 1) to `most` edges that take no edge twice: (n,), ascending.

    The hop leads both ways along all of its types; `most` None is any number. Every node within `most` edges is the end
    of a shortest walk, which takes no edge twice. The start itself is an end if a cycle through it is short enough; the
    shortest is where two branches meet, a branch being all that is reached first by one edge of the start.
    """
    distance, branches = np.full(store.size, -1, np.int64), np.full(store.size, -1, np.int64)
    distance[start], ring, steps, cycles = 0, np.array([start]), 0, [store.size + 1]
    while len(ring) and (most is None or steps < most):
        following = [ring[:0]]
        for walked in store.around(ring, hop, budget, loops=True):
            near, far = ring[walked.near], walked.far
            edges = store.edge_numbers(near, far, walked.at)
            branch = edges if steps == 0 else branches[near]
            # Back at the start, by another edge than the first, or by a loop.
            if ((far == start) & ((branch != edges) | (near == start))).any():
                cycles.append(steps + 1)
            across = (distance[far] > 0) & (branches[far] != branch)
            cycles += [steps + 1 + int(distance[far[across]].min())] if across.any() else []
            new = np.flatnonzero(distance[far] < 0)
            branches[far[new]] = branch[new]
            # Of several edges to a new node one has given it its branch, and any other closes a cycle with it.
            cycles += [2 * steps + 2] if (branches[far[new]] != branch[new]).any() else []
            distance[far[new]] = steps + 1
            following.append(distinct(far[new]))
        ring, steps = distinct(np.concatenate(following)), steps + 1
    if least and min(cycles) > (store.size if most is None else most):
        distance[start] = -1
    return np.flatnonzero(distance >= 0)


class _Circle:
    """The nodes around a node, by distance."""

    def __init__(self, store: Store, centre: int, hop: Hop, budget: Budget) -> None:
        self._store, self._hop, self._budget = store, hop, budget
        self.distance = np.full(store.size, -1, np.int32)
        self.distance[centre] = 0
        self.rim, self.steps = np.array([centre], np.int64), 0

    @property
    def cost(self) -> int:
        """The number of edges that the next step reads."""
        return int(self._store.adjacency.degree(self.rim).sum())

    def grow(self) -> None:
        """Add the nodes that are one step farther."""
        self.steps += 1
        self.rim = _around(self._store, self.rim, self._hop, self.distance < 0, self._budget)
        self.distance[self.rim] = self.steps


def _around(store: Store, rows: Numbers, hop: Hop, allowed: NDArray[np.bool_], budget: Budget) -> Numbers:
    """Return the allowed nodes that a hop leads to, ascending."""
    mask = np.zeros(store.size, np.bool_)
    for walked in store.around(rows, hop, budget):
        mask[walked.far] = True
    return np.flatnonzero(mask & allowed)
