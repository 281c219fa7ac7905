"""The steps that a graph allows, and the nodes from which each can be taken. Plans are drawn evenly over steps."""

from __future__ import annotations

from functools import cached_property
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from orienteer.graph.reserved import NEXT, PART_OF, SHARES_NAMES, SIMILAR
from orienteer.graph.store import Graph
from orienteer.index.arrays import Rows
from orienteer.lab.quizzes.english import MUTUAL, words_of
from orienteer.lab.quizzes.gold import first_of_runs, kinds
from orienteer.lab.quizzes.plan import EdgeStep
from orienteer.remembered import remembered

UNASKED = frozenset({NEXT, PART_OF, SHARES_NAMES, SIMILAR})
"""Edge types of a graph of documents that no question asks for: a program made them, nobody stated them."""
_REMEMBERED = 256  # steps whose table is kept


class StepTable(NamedTuple):
    """The rows from which a step can be taken, ascending, and the number of nodes that it leads to from each."""

    rows: Rows
    counts: NDArray[np.int64]

    def count(self, row: int) -> int:
        """Return the number of nodes that the step leads to from a row."""
        at = int(self.rows.searchsorted(row))
        return int(self.counts[at]) if at < len(self.rows) and self.rows[at] == row else 0


class Steps:
    """The steps of one graph: each triple of types both ways, once where its edges have no direction."""

    def __init__(self, graph: Graph) -> None:
        self._graph = graph

    @cached_property
    def named(self) -> tuple[EdgeStep, ...]:
        """Return the steps along edges of one type, sorted by their names."""
        steps = set[EdgeStep]()
        silent = UNASKED if self._graph.arrays.is_made_of_documents else ()
        schema = self._graph.schema
        for triple in schema.edges:
            if triple.type in silent:
                continue
            is_mutual = triple.type in schema.symmetric
            if triple.source == triple.target and not MUTUAL.isdisjoint(words_of(schema.label(triple.type))):
                is_mutual = True  # a table may list each pair once
            is_forward = None if is_mutual else True
            step = EdgeStep(triple.source, triple.type, is_forward, triple.target)
            steps |= {step, step.turned}
        return tuple(sorted(steps, key=_key))

    @cached_property
    def unnamed(self) -> tuple[EdgeStep, ...]:
        """Return the steps along any edge, sorted by the node types they join."""
        pairs = {(triple.source, triple.target) for triple in self._graph.schema.edges}
        both = {EdgeStep(start, None, None, end) for pair in pairs for start, end in (pair, pair[::-1])}
        return tuple(sorted(both, key=_key))

    @remembered(_REMEMBERED)
    def table(self, step: EdgeStep) -> StepTable:
        """Return the nodes that a step leads away from, each with the number of those that it leads to."""
        graph, adjacency = self._graph, self._graph.arrays.adjacency
        mask = kinds(graph, step)
        at = np.arange(len(adjacency.kind)) if mask is None else np.flatnonzero(mask[adjacency.kind])
        neighbor = adjacency.neighbor[at]
        is_right = graph.arrays.node_types[neighbor] == graph.arrays.types.nodes.index(step.end)
        at, neighbor = at[is_right], neighbor[is_right]
        owner = (np.searchsorted(adjacency.indptr, at, side="right") - 1).astype(np.int32)
        keep = (graph.arrays.node_types[owner] == graph.arrays.types.nodes.index(step.start)) & (owner != neighbor)
        owner, neighbor = owner[keep], neighbor[keep]
        rows, counts = np.unique(owner[first_of_runs(owner, neighbor)], return_counts=True)
        return StepTable(rows, counts)


def _key(step: EdgeStep) -> tuple[str, str, int, str]:
    return step.start, step.edge_type or "", -1 if step.is_forward is None else int(step.is_forward), step.end
