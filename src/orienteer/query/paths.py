"""Shortest paths and ends of walks along some kinds of edges."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from orienteer.graph.adjacency import Way, circles_between, distinct
from orienteer.index.arrays import Rows
from orienteer.query.budget import Budget
from orienteer.query.columns import Numbers
from orienteer.query.plan import Hop
from orienteer.query.sets import Sets, turned
from orienteer.query.store import Store


def shortest_paths(sets: Sets, ends: tuple[int, int], hop: Hop, most: int | None, *, every: bool) -> Numbers | None:
    """Return the shortest paths from one node to another as edge numbers: (paths, edges); one path, or every one.

    None if both ends are one node, or no path has at most `most` edges; `most` None is any number. Raises
    `QueryStopped`.
    """
    (start, end), store, budget = ends, sets.store, sets.budget

    def way(hop: Hop) -> Way:
        return lambda rows: np.flatnonzero(sets.image(rows.astype(np.int64), hop))

    on, back = way(hop), way(turned(hop))
    circles = None if start == end else circles_between(store.adjacency, start, end, on=on, back=back, most=most)
    if circles is None:
        return None
    meeting = circles.meeting if every else circles.meeting[:1]

    def passed(rings: list[Rows], step: Way) -> Iterator[Rows]:
        nodes = meeting
        for ring in reversed(rings[:-1]):
            nodes = np.intersect1d(step(nodes), ring, assume_unique=True)
            yield nodes

    left, right = circles.rings
    # The nodes of the paths, by their distance from the start.
    rings = [*reversed(list(passed(left, back))), meeting, *passed(right, on)]
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
