"""Paths between some nodes and the flow along each, by which PathRAG prunes, in one pass from each source.

    out(s)        the neighbours of s over which a way of at most three edges goes on to t
    flow(s, n)    1 / |out(s)|; by the weights of the edges, where they have any
    flow(n, m)    alpha * flow(s, n) / |out(n)|, and so on; nothing flows on from where theta or less has come to
    score         the mean flow over the edges of a path

A path lies within the seeds and their neighbours, so the edges among these are read once, whichever pairs they join.
How many ways go on from a node is counted before any is walked: where they are too many for theta, none is.

Deviations from PathRAG's public code:
1. It lists the paths of every pair by a search of its own and prunes after that; here what theta ends is never walked.
2. What flows along one path is its own. There flows of paths that share an edge are added up as they are met, and
   tested on the way, so that the result depends on the order of the edges.
3. out(n) is what follows n at its place in the path; there what follows it at another place counts too, and is lost.
4. Flow is split by the weights of edges. Without weights that is evenly, as in the source.
5. Nodes with very many edges are walked to and not on: see `MOST_ENDS`.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from orienteer.graph.adjacency import Adjacency, Entries, KindMask
from orienteer.index.arrays import Rows
from orienteer.index.bm25 import Mask

ALPHA = 0.8
"""What is left of a flow at each further edge. PathRAG."""
THETA = 0.3
"""Nothing flows on from where this or less has come to. PathRAG."""
HOPS = 3
"""Edges of a path at the most. PathRAG."""
MOST_ENDS = 200_000
"""Edge ends that a question reads, those of nodes with few edges first: a node with very many of them leads from
anywhere to anywhere, and says nothing of a pair. In a graph of passages, which have some fifty each, all are read."""
_LEAST = 1e-9  # weight: an edge that is there is walked

Floats = NDArray[np.float64]
Numbers = NDArray[np.int64]
Weigh = Callable[[Entries], Floats]
"""Gives what each of some edges counts for."""


class PathTable(NamedTuple):
    """Paths by their nodes, each as it was walked: from one seed to another."""

    nodes: NDArray[np.int32]
    """(paths, 4): rows from end to end, -1 after the last one."""
    scores: Floats

    def once(self) -> PathTable:
        """Return each path in its better direction alone, best first; ties by rows."""
        last = (self.nodes >= 0).sum(axis=1) - 1
        back = last[:, None] - np.arange(self.nodes.shape[1])
        turned = np.where(back >= 0, np.take_along_axis(self.nodes, np.abs(back), axis=1), -1)
        upward = np.where((self.nodes[:, 0] > turned[:, 0])[:, None], turned, self.nodes)
        order = np.lexsort((*self.nodes.T[::-1], -self.scores))
        first = np.unique(upward[order], axis=0, return_index=True)[1]
        places = order[np.sort(first)]
        return PathTable(self.nodes[places], self.scores[places])


class SeedSubgraph(NamedTuple):
    """Some seeds, their neighbours, and the edges among all of these, by places in `rows`."""

    rows: Rows
    seeds: Numbers
    """The places of the seeds."""
    begins: Numbers  # (rows + 1,)
    members: Numbers
    """Neighbours of each node, ascending, each once."""
    pairs: Numbers
    """Of each member, the number of the pair of nodes."""
    entries: Entries
    """The edges, those of a pair together."""
    pair_begins: Numbers  # (pairs + 1,)
    weigh: Weigh

    def of(self, nodes: Numbers) -> tuple[Numbers, Numbers]:
        """Return the neighbours of some nodes: for each the index of its node, and its own in `members`."""
        return ranges(self.begins, nodes)

    def weights(self, at: Numbers) -> Floats:
        """Return the weights between nodes and neighbours, by index in `members`; edges of one pair are added up."""
        which, places = ranges(self.pair_begins, self.pairs[at])
        counted = self.weigh(_entries_at(self.entries, places))
        return np.bincount(which, counted, len(at)).clip(min=_LEAST)


def _entries_at(entries: Entries, at: Numbers) -> Entries:
    return Entries(entries.owner[at], entries.neighbor[at], entries.kind[at], entries.at[at])


def ranges(begins: Numbers, things: Numbers) -> tuple[Numbers, Numbers]:
    """Return the indexes in the ranges of some lists: for each the index of its list in `things`, and its own."""
    counts = begins[things + 1] - begins[things]
    which = np.repeat(np.arange(len(things)), counts)
    return which, np.arange(len(which)) + np.repeat(begins[things] - np.cumsum(counts) + counts, counts)


def around(
    adjacency: Adjacency,
    seeds: Rows,
    weigh: Weigh,
    *,
    keep: Mask,
    kinds: KindMask | None = None,
    most_ends: int = MOST_ENDS,
) -> SeedSubgraph:
    """Read the edges of these kinds among sorted seeds and their neighbours, as far as those are marked."""
    reachable = np.zeros(len(keep), np.bool_)
    read = affordable(adjacency, seeds, most_ends)
    near = adjacency.entries(read, kinds)
    near = near.where(keep[near.neighbor])
    reachable[near.neighbor] = True
    reachable[seeds] = False
    left = most_ends - int(adjacency.degree(read).sum())
    others = affordable(adjacency, np.flatnonzero(reachable).astype(np.int32), left)
    reachable[seeds] = True
    further = adjacency.entries(others, kinds)
    further = further.where(reachable[further.neighbor])
    entries = Entries(
        np.concatenate([near.owner, further.owner]),
        np.concatenate([near.neighbor, further.neighbor]),
        np.concatenate([near.kind, further.kind]),
        np.concatenate([near.at, further.at]),
    )
    is_read = np.zeros(len(keep), np.bool_)
    is_read[read] = is_read[others] = True
    # An edge both of whose ends are read stands there twice: it counts where it goes out.
    entries = entries.where(((entries.kind & 1) == 0) | ~is_read[entries.neighbor])
    rows = np.flatnonzero(reachable).astype(np.int32)
    size = len(rows)
    place = np.zeros(int(rows[-1]) + 1 if size else 0, np.int64)
    place[rows] = np.arange(size)
    owner, neighbor = place[entries.owner], place[entries.neighbor]
    keys = np.minimum(owner, neighbor) * size + np.maximum(owner, neighbor)
    order = np.argsort(keys, kind="stable")
    pairs, pair_begins = np.unique(keys[order], return_index=True)
    low, high = pairs // max(size, 1), pairs % max(size, 1)
    both = np.concatenate([pairs, high * size + low])
    turned = np.argsort(both, kind="stable")
    return SeedSubgraph(
        rows=rows,
        seeds=place[seeds],
        begins=np.searchsorted(both[turned], np.arange(size + 1) * size),
        members=np.concatenate([high, low])[turned],
        pairs=turned % max(len(pairs), 1),
        entries=_entries_at(entries, order),
        pair_begins=np.append(pair_begins, len(order)),
        weigh=weigh,
    )


def affordable(adjacency: Adjacency, rows: Rows, most_ends: int) -> Rows:
    """Return the rows, those with few edges first, that have at most `most_ends` edge ends together; in row order."""
    ends = adjacency.degree(rows)
    order = np.lexsort((rows, ends))
    return np.sort(rows[order[np.cumsum(ends[order]) <= most_ends]])


class _Front(NamedTuple):
    """How far flow has come on its way from one seed to another; one entry a way."""

    source: Numbers  # number of a seed
    target: Numbers
    nodes: Numbers  # (ways, edges so far): places of the nodes after the source
    flow: Floats
    total: Floats  # of the flows over the edges so far

    def where(self, keep: NDArray[np.bool_]) -> _Front:
        return _Front(self.source[keep], self.target[keep], self.nodes[keep], self.flow[keep], self.total[keep])


def ways(graph: SeedSubgraph, *, alpha: float = ALPHA, theta: float = THETA) -> PathTable:
    """Return the paths of up to three edges between seeds with a flow above `theta`; below 0, all simple ones."""
    if len(graph.seeds) < 2:
        return PathTable(np.zeros((0, HOPS + 1), np.int32), np.zeros(0))
    is_joined = np.zeros((len(graph.rows), len(graph.seeds)), np.bool_)  # (nodes, seeds)
    which, at = graph.of(graph.seeds)
    is_joined[graph.members[at], which] = True
    front = _first(graph, is_joined)
    walks: list[PathTable] = []
    for length in range(1, HOPS + 1):
        is_there = front.nodes[:, -1] == graph.seeds[front.target]
        done = front.where(is_there)
        walked = np.full((len(done.flow), HOPS + 1), -1, np.int32)
        walked[:, 0] = graph.rows[graph.seeds[done.source]]
        walked[:, 1 : length + 1] = graph.rows[done.nodes]
        walks.append(PathTable(walked, done.total / length))
        if length < HOPS:
            going = front.where(~is_there & (front.flow > theta))
            path_of, entry = graph.of(going.nodes[:, -1])
            after, target = graph.members[entry], going.target[path_of]
            goes = after == graph.seeds[target]
            if length + 1 != HOPS:
                goes |= is_joined[after, target] & (after != graph.seeds[going.source[path_of]])
            path_of, entry, after = path_of[goes], entry[goes], after[goes]
            weights = graph.weights(entry)
            flow = alpha * going.flow[path_of] * weights / np.bincount(path_of, weights, len(going.flow))[path_of]
            nodes = np.column_stack([going.nodes[path_of], after])
            front = _Front(going.source[path_of], going.target[path_of], nodes, flow, going.total[path_of] + flow)
    return PathTable(np.concatenate([ways.nodes for ways in walks]), np.concatenate([ways.scores for ways in walks]))


def _first(graph: SeedSubgraph, is_joined: NDArray[np.bool_]) -> _Front:
    """Return the first edges from each seed, for each target that a way goes on to over them."""
    size, count = is_joined.shape
    middle, seed = np.nonzero(is_joined)
    which, at = graph.of(middle)
    key = graph.members[at] * count + seed[which]
    over = np.bincount(key, minlength=size * count).reshape(size, count)  # nodes between each node and each seed
    source, at = graph.of(graph.seeds)
    cuts = source.searchsorted(np.arange(count + 1))
    near = np.split(graph.members[at], cuts[1:-1])
    goes = [_goes(graph, number, members, is_joined, over) for number, members in enumerate(near)]
    is_needed = np.concatenate([mask.any(axis=1) for mask in goes])
    weights = np.zeros(len(at))
    weights[is_needed] = graph.weights(at[is_needed])  # to read a weight takes longer than all else
    fronts = []
    for number, (members, own, leads) in enumerate(zip(near, np.split(weights, cuts[1:-1]), goes, strict=True)):
        step, target = np.nonzero(leads)
        flow = own[step] / (own @ leads)[target]
        fronts.append(_Front(np.full(len(step), number), target, members[step, None], flow, flow))
    return _Front(*(np.concatenate(columns) for columns in zip(*fronts, strict=True)))


def _goes(
    graph: SeedSubgraph, number: int, members: Numbers, is_joined: NDArray[np.bool_], over: Numbers
) -> NDArray[np.bool_]:
    """Mark the neighbours of a seed over which a path goes on to another seed: (neighbours, seeds)."""
    own = graph.seeds[number]
    onward = over[members] > is_joined[own]  # a way back over the seed itself is none
    goes: NDArray[np.bool_] = (members[:, None] == graph.seeds) | is_joined[members] | onward
    goes &= graph.seeds != own
    return goes
