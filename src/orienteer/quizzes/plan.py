"""What an item asks, as data, and who answers it, read off the adjacency arrays: the path that Cypher has no part in.

A plan is one unknown node and the walks that lead to it from the nodes that are given (`docs/graphscout.md`, Quizzer):

    <h,_,_>   one walk along edges of any type
    <h,r,_>   one walk along edges of named types
    <h,*,t>   two walks along edges of any type, from h and from t, that meet; or h and t side by side
    <h,r,t>   the same along edges of named types
    hybrid    a plan whose first node is not named: it is the one answer of another plan, of another pattern

On a walk no node comes twice and no other given node comes at all. Parallel edges count once, loops never.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from orienteer.evaluation.grid import Cell, QuizPattern
from orienteer.graph.store import Graph
from orienteer.index.arrays import Rows
from orienteer.quizzes.questions.draft import Condition, Step
from orienteer.quizzes.questions.gold import kinds, take

MOST_WALKS = 20_000
"""Walks of one condition; what needs more is no question that could be checked by hand."""
HOPS = {"simple": (1, 2), "medium": (2, 4), "hard": (3, 5)}  # 003, B.3.1


@dataclass(frozen=True, slots=True)
class Plan:
    """An unknown node `x`, and what leads to it."""

    pattern: QuizPattern
    """Of its own conditions; never `hybrid`, which is what a plan with a `first` makes."""
    conditions: tuple[Condition, ...]
    target: int | None = None
    """The row that `x` has to be, where the question is whether two nodes are joined."""
    first: Plan | None = None
    """What describes the first condition's anchor, in place of its name."""

    @property
    def named(self) -> tuple[int, ...]:
        """Return the rows that the question names, the seed first."""
        own = [condition.anchor for condition in self.conditions]
        if self.first is not None:
            own = [*self.first.named, *own[1:]]
        return (*own, *(() if self.target is None else (self.target,)))

    @property
    def steps(self) -> tuple[Step, ...]:
        """Return all steps, those of the first plan first."""
        own = tuple(step for condition in self.conditions for step in condition.steps)
        return own if self.first is None else (*self.first.steps, *own)

    @property
    def hops(self) -> int:
        """Return how many edges the path has from the first node named, through `x`, to the last."""
        return len(self.steps)

    @property
    def given(self) -> tuple[int, ...]:
        """Return the rows that no walk may come to: those named, and those described."""
        return self.named if self.first is None else (*self.named, self.conditions[0].anchor)


def fits(plan: Plan, cell: Cell) -> bool:
    """Tell whether a plan has the shape of a place in the grid, by the counts of appendix B.3.1.

    Simple: 1 or 2 hops along one edge type. Medium: 2 to 4 hops, two edge types or node types at the least, and of two
    hops along named edges two edge types: else it would be simple. Hard: 3 to 5 hops, two edge types at the least or,
    where none is named, two node types.
    """
    edge_types = {step.edge_type for step in plan.steps}
    node_types = {node_type for step in plan.steps for node_type in (step.start, step.end)}
    least, most = HOPS[cell.difficulty]
    pattern = "hybrid" if plan.first is not None else plan.pattern
    if pattern != cell.pattern or not least <= plan.hops <= most:
        return False
    if plan.first is not None and (cell.difficulty == "simple" or plan.first.pattern == plan.pattern):
        return False
    if cell.difficulty == "simple":
        return len(edge_types) == 1
    is_named = edge_types != {None}
    if is_named and (cell.difficulty == "hard" or (plan.hops == least and plan.first is None)):
        return len(edge_types) >= 2
    return len(edge_types) >= 2 or len(node_types) >= 2


Walks = NDArray[np.int32]
"""(walks, nodes of each): the rows that a walk comes to, its anchor first."""


@dataclass(frozen=True, slots=True)
class Found:
    """Who answers a plan."""

    rows: Rows
    """The rows that `x` may be, ascending."""
    walks: tuple[Walks, ...]
    """The walks of each condition that end in one of them."""

    def witnesses(self, row: int) -> list[int]:
        """Return the rows on one walk of each condition to a row, in order, each once."""
        met = (walks[np.flatnonzero(walks[:, -1] == row)[0]] for walks in self.walks)
        return list(dict.fromkeys(int(one) for walk in met for one in walk))


def solve(graph: Graph, plan: Plan) -> Found | None:
    """Return who answers; None where there are more walks than `MOST_WALKS`."""
    walks = list[Walks]()
    for condition in plan.conditions:
        banned = [row for row in plan.given if row not in (condition.anchor, plan.target)]
        one = _walks(graph, condition, banned)
        if one is None:
            return None
        walks.append(one)
    rows = np.unique(walks[0][:, -1])
    for other in walks[1:]:
        rows = np.intersect1d(rows, other[:, -1])
    if plan.target is not None:
        rows = rows[rows == plan.target]
    return Found(rows, tuple(one[np.isin(one[:, -1], rows)] for one in walks))


def loosely(graph: Graph, plan: Plan) -> Rows:
    """Return who answers where a node may come twice on the way: how a hasty reader takes the question.

    What the plan's own conditions start from is left out, for there the question says `other`; what only the first
    plan names is not.
    """
    found = _ends(graph, plan)
    if plan.target is not None:
        return np.intersect1d(found, [plan.target]).astype(np.int32)
    return np.setdiff1d(found, _starts(plan)).astype(np.int32)


def meets_itself(graph: Graph, plan: Plan) -> bool:
    """Tell whether a hasty reader would count a node that a condition starts from among those that answer."""
    return bool(np.isin(_starts(plan), _ends(graph, plan)).any())


def _starts(plan: Plan) -> list[int]:
    return [condition.anchor for condition in plan.conditions]


def _ends(graph: Graph, plan: Plan) -> Rows:
    """Return where all conditions can end, whatever they come by."""
    sets = list[Rows]()
    for condition in plan.conditions:
        rows = np.array([condition.anchor], np.int32)
        for step in condition.steps:
            rows = take(graph, rows, step)
        sets.append(rows)
    found = sets[0]
    for other in sets[1:]:
        found = np.intersect1d(found, other, assume_unique=True)
    return found


def _walks(graph: Graph, condition: Condition, banned: Sequence[int]) -> Walks | None:
    walks: Walks = np.array([[condition.anchor]], np.int32)
    for step in condition.steps:
        owner, neighbor = _edges(graph, np.unique(walks[:, -1]), step, banned)
        begins, stops = np.searchsorted(owner, walks[:, -1], "left"), np.searchsorted(owner, walks[:, -1], "right")
        counts = stops - begins
        if counts.sum() > MOST_WALKS:
            return None
        offsets = np.arange(int(counts.sum())) - np.repeat(np.cumsum(counts) - counts, counts)
        onward = neighbor[np.repeat(begins, counts) + offsets]
        before = np.repeat(walks, counts, axis=0)
        is_fresh = (before != onward[:, None]).all(axis=1)
        walks = np.concatenate([before, onward[:, None]], axis=1)[is_fresh]
    return walks


def _edges(graph: Graph, rows: Rows, step: Step, banned: Sequence[int]) -> tuple[Rows, Rows]:
    """Return from which of some rows a step leads, sorted, and to which, parallel edges once."""
    entries = graph.adjacency.entries(rows, kinds(graph, step))
    is_right = graph.node_types[entries.neighbor] == graph.types.nodes.index(step.end)
    is_right &= ~np.isin(entries.neighbor, banned)
    owner, neighbor = entries.owner[is_right], entries.neighbor[is_right]
    # Parallel edges stand together: a node's edges are sorted by neighbour.
    is_new = np.ones(len(owner), np.bool_)
    is_new[1:] = (owner[1:] != owner[:-1]) | (neighbor[1:] != neighbor[:-1])
    return owner[is_new], neighbor[is_new]
