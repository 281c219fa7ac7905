"""Shortest paths along kinds of edges: two circles grow towards each other, always the one that reads fewer edges."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from orienteer.graph.adjacency import distinct
from orienteer.query.budget import Budget
from orienteer.query.columns import Numbers
from orienteer.query.plan import Hop
from orienteer.query.sets import turned
from orienteer.query.store import Store


def shortest(
    store: Store, start: int, end: int, hop: Hop, most: int, budget: Budget, *, every: bool
) -> NDArray[np.int64] | None:
    """Return one shortest path, or every one, as numbers of edges: (paths, length); None if all are above `most`.

    A path from a node to itself is not sought. Raises what `Budget` raises.
    """
    if start == end:
        return None
    near, far = _Circle(store, start, hop, budget), _Circle(store, end, turned(hop), budget)
    meeting = np.zeros(0, np.int64)
    while not len(meeting):
        if near.steps + far.steps >= most or not len(near.ring) or not len(far.ring):
            return None
        growing = min(near, far, key=lambda circle: int(store.adjacency.degree(circle.ring).sum()))
        growing.grow()
        meeting = growing.ring[(near if growing is far else far).distance[growing.ring] >= 0]
    on_way = _on_way(store, near, far, meeting, hop, budget)
    # From the start along the nodes that lie on a shortest path, one ring after another.
    ends, trails = np.array([start]), np.zeros((1, 0), np.int64)
    for ring in on_way[1:]:
        allowed = np.zeros(store.size, np.bool_)
        allowed[ring] = True
        parts = []
        for walked in store.around(ends, hop, budget):
            keep = np.flatnonzero(allowed[walked.far])
            keep = keep if every else keep[:1]
            numbers = store.edge_numbers(ends[walked.near[keep]], walked.far[keep], walked.at[keep])
            parts.append((walked.far[keep], np.concatenate([trails[walked.near[keep]], numbers[:, None]], axis=1)))
            budget.hold(sum(len(part[0]) for part in parts))
        ends, trails = (np.concatenate(part) for part in zip(*parts, strict=True))
        if not every:
            ends, trails = ends[:1], trails[:1]
    return trails


def reached(store: Store, start: int, hop: Hop, least: int, most: int, budget: Budget) -> Numbers | None:
    """Return the ends of all walks of `least` (0 or 1) to `most` edges that take no edge twice: (n,), ascending.

    None if hops lead both ways along some types and one way along others: then walks must be laid one by one. Every
    node within `most` edges is the end of a shortest walk, which takes no edge twice. The start itself is the end of
    one if it is on a cycle that is short enough: the shortest is found by the first edge of each node's walk.
    """
    mask = store.kind_mask(hop.kinds)
    turned_mask = mask.reshape(-1, 2)[:, ::-1].ravel()
    goes_both = bool((mask == turned_mask).all())
    if not goes_both and (mask & turned_mask).any():
        return None
    distance, first = np.full(store.size, -1, np.int64), np.full(store.size, -1, np.int64)
    distance[start], ring, cycle = 0, np.array([start]), most + 1
    for step in range(most):
        following = [ring[:0]]
        for walked in store.around(ring, hop, budget, loops=True):
            near = ring[walked.near]
            edges = store.edge_numbers(near, walked.far, walked.at)
            branch = edges if step == 0 else first[near]
            back = walked.far == start
            if (back & ((branch != edges) | (near == start))).any():
                cycle = min(cycle, step + 1)
            known = distance[walked.far] > 0
            if goes_both and (across := known & (first[walked.far] != branch)).any():
                cycle = min(cycle, step + 1 + int(distance[walked.far[across]].min()))
            new = np.flatnonzero(distance[walked.far] < 0)
            first[walked.far[new]] = branch[new]
            # Of several edges to one node the last has written its branch; another one closes a cycle with it.
            other = new[first[walked.far[new]] != branch[new]]
            if goes_both and len(other):
                cycle = min(cycle, 2 * (step + 1))
            distance[walked.far[new]] = step + 1
            following.append(distinct(walked.far[new]))
        ring = distinct(np.concatenate(following))
    if least and cycle > most:
        distance[start] = -1
    return np.flatnonzero(distance >= 0)


class _Circle:
    """The nodes around a center, with their distances, ring by ring."""

    def __init__(self, store: Store, center: int, hop: Hop, budget: Budget) -> None:
        self._store, self._hop, self._budget = store, hop, budget
        self.distance = np.full(store.size, -1, np.int32)
        self.distance[center] = 0
        self.ring, self.steps = np.array([center]), 0

    def grow(self) -> None:
        self.steps += 1
        self.ring = _beyond(self._store, self.ring, self._hop, self.distance, -1, self._budget)
        self.distance[self.ring] = self.steps


def _on_way(store: Store, near: _Circle, far: _Circle, meeting: Numbers, hop: Hop, budget: Budget) -> list[Numbers]:
    """Return the nodes of all shortest paths by their distance from the start."""
    length = near.steps + far.steps
    rings = [meeting[near.distance[meeting] == near.steps]]
    for step in range(near.steps - 1, -1, -1):
        rings.insert(0, _beyond(store, rings[0], turned(hop), near.distance, step, budget))
    for step in range(near.steps + 1, length + 1):
        rings.append(_beyond(store, rings[-1], hop, far.distance, length - step, budget))
    return rings


def _beyond(store: Store, rows: Numbers, hop: Hop, distance: NDArray[np.int32], wanted: int, budget: Budget) -> Numbers:
    """Return the nodes at a distance that a hop leads to from some rows."""
    mask = np.zeros(store.size, np.bool_)
    for walked in store.around(rows, hop, budget):
        mask[walked.far] = True
    return np.flatnonzero(mask & (distance == wanted))
