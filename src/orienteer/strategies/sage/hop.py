"""One hop from the seeds, and how much the edges that lead to each neighbour mean."""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from orienteer.graph.adjacency import Entries, KindMask
from orienteer.graph.store import Graph
from orienteer.index.arrays import Rows, runs

Floats = NDArray[np.float64]

ONE_WAY = ("mentions", "links_to")
"""Edge types of a chunk graph that say less backwards: many chunks mention a country, and it mentions none of them."""

SIMILAR = "similar"


class Reached(NamedTuple):
    """The neighbours of some seeds, in row order, the seeds that are neighbours of others among them."""

    rows: Rows
    evidence: Floats
    """What the seeds' edges say for each, the greatest 1."""
    through: NDArray[np.int32]
    """The seed that says most."""
    edge: NDArray[np.int64]
    """The place of its edge in the adjacency arrays."""
    kind: NDArray[np.int64]
    """The kind of that edge."""


class Meaning:
    """What an edge counts for, 0 to 1: its weight by the greatest of its edge type, so that types compare."""

    def __init__(self, graph: Graph, *, backwards: float = 1.0, unweighted: float = 1.0, similar: float = 1.0) -> None:
        self._graph = graph
        known: Mapping[str, float] = graph.manifest.provenance.get("greatest_weights") or {}
        names = graph.types.edges
        self._greatest = np.array([float(known.get(name) or np.nan) for name in names])  # (edge types,)
        self._plain = unweighted if known else 1.0
        self._share = np.array([similar if name == SIMILAR else 1.0 for name in names])  # (edge types,)
        is_one_way = [name in ONE_WAY and graph.is_made_of_documents for name in names]
        self._backwards = np.where(is_one_way, backwards, 1.0)  # (edge types,)

    def of(self, entries: Entries) -> Floats:
        """Return what each of these edges counts for.

        Of a type whose greatest weight the graph does not tell, the greatest of these edges is taken.
        """
        types = entries.kind.astype(np.int64) >> 1
        weights = self._graph.weights(entries.at).clip(min=0)
        greatest = self._greatest[types]
        scale = np.ones(len(types))
        for one in np.unique(types[np.isnan(greatest)]).tolist():
            here = types == one
            most = float(weights[here].max())
            greatest[here] = most or 1.0
            scale[here] = self._plain
        counted = scale * self._share[types] * weights / greatest
        return np.asarray(np.where(entries.kind & 1, counted * self._backwards[types], counted).clip(max=1))


def one_hop(
    graph: Graph, seeds: NDArray[np.int32], strength: Floats, *, meaning: Meaning, kinds: KindMask | None
) -> Reached:
    """Return all nodes one edge away from these seeds: SAGE, section 2.2.B.

    The evidence for a neighbour is the sum over the edges that lead to it of the strength of the seed and of what the
    edge means, divided by the greatest of all.
    """
    order = np.argsort(seeds, kind="stable")
    seeds, strength = seeds[order], strength[order]
    entries = graph.adjacency.entries(seeds, kinds)
    said = strength[seeds.searchsorted(entries.owner)] * meaning.of(entries)
    by_neighbor = np.lexsort((-entries.owner, said, entries.neighbor))
    rows, counts = runs(entries.neighbor[by_neighbor])
    ends = np.cumsum(counts)
    total = np.add.reduceat(said[by_neighbor], ends - counts) if len(rows) else np.zeros(0)
    best = by_neighbor[ends - 1]
    most = float(total.max(initial=0.0))
    return Reached(
        rows,
        total / most if most else total,
        entries.owner[best],
        entries.at[best],
        entries.kind[best].astype(np.int64),
    )
