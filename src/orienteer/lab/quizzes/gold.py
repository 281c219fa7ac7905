"""The answers of a plan, all of them, read off the adjacency arrays without Cypher.

A node answers if it has the asked type, every condition leads to it, and it satisfies the constraint. On a walk no node
comes twice and no other given node comes at all. Parallel edges count once, loops never.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from orienteer.graph.adjacency import KindMask, distinct
from orienteer.graph.properties import Condition as PropertyCondition
from orienteer.graph.store import Graph
from orienteer.index.arrays import Rows
from orienteer.lab.evaluation.examples import AnswerType
from orienteer.lab.quizzes.plan import Constraint, EdgeStep, QuestionPlan, WalkCondition
from orienteer.records import Direction

MOST_ANSWERS = 20
"""An open question with more gold nodes is oversized: Recall@20 could not be 1."""
MOST_IN_SET = 10  # 003, B.3.3: "a predefined threshold (e.g., 10)"
MOST_COUNTED = 100
"""A count above this is no number that a reader could check."""
MANY = 10**9
"""More answers than any plan has."""
MOST_WALKS = 20_000
"""Walks of one condition; nobody could check a question that needs more by hand."""
Walks = NDArray[np.int32]
"""(walks, nodes of each): the rows that a walk comes to, its anchor first."""


class Sizes(NamedTuple):
    """The number of nodes that may answer."""

    least: int
    most: int

    @classmethod
    def of(cls, answer_type: AnswerType, is_true: bool) -> Sizes:
        """Return the sizes for a type of answer; for a boolean, for the answer `is_true`."""
        if answer_type == "boolean":
            return cls(1, MANY) if is_true else cls(0, 0)
        return {"entity": cls(1, 1), "set": cls(2, MOST_IN_SET), "number": cls(2, MOST_COUNTED)}[answer_type]

    def hold(self, number: int) -> bool:
        """Return whether `number` nodes may answer."""
        return self.least <= number <= self.most

    def fault(self, number: int) -> str | None:
        """Return the reason against `number` answers, by `proof.REASONS`, or None."""
        return "empty" if number < self.least else "oversized" if number > self.most else None


@dataclass(frozen=True, slots=True)
class Solution:
    """The answers of a plan, and the walks that lead to them."""

    rows: Rows
    """The rows that answer, ascending."""
    walks: tuple[Walks, ...]
    """The walks of each condition, also those that end elsewhere."""

    def witnesses(self, row: int) -> list[int]:
        """Return the rows on one walk of each condition to a row, in order, each once."""
        firsts = (walks[np.flatnonzero(walks[:, -1] == row)[0]] for walks in self.walks)
        return list(dict.fromkeys(int(place) for walk in firsts for place in walk))


def solve(graph: Graph, plan: QuestionPlan) -> Solution | None:
    """Return the answers of a plan, or None if there are more walks than `MOST_WALKS`."""
    walks_by_condition = list[Walks]()
    for condition in plan.conditions:
        banned = [row for row in plan.fixed if row not in (condition.anchor, plan.target)]
        walks: Walks = np.array([[condition.anchor]], np.int32)
        for step in condition.steps:
            # Parallel edges count once: a walk is its nodes and types.
            entries = graph.arrays.adjacency.entries(np.unique(walks[:, -1]), kinds(graph, step))
            is_right = graph.arrays.node_types[entries.neighbor] == graph.arrays.types.nodes.index(step.end)
            is_right &= is_other(entries.neighbor, banned)
            owner, neighbor = entries.owner[is_right], entries.neighbor[is_right]
            is_first = first_of_runs(owner, neighbor)
            owner, neighbor = owner[is_first], neighbor[is_first]
            pairs = joined(walks[:, -1], owner, MOST_WALKS)
            if pairs is None:
                return None
            before, onward = walks[pairs.left], neighbor[pairs.right]
            is_fresh = (before != onward[:, None]).all(axis=1)
            walks = np.concatenate([before, onward[:, None]], axis=1)[is_fresh]
        walks_by_condition.append(walks)
    rows = _common([np.unique(walks[:, -1]) for walks in walks_by_condition])
    if plan.target is not None:
        rows = rows[rows == plan.target]
    if plan.constraint is not None:
        rows = holding(graph, plan.constraint, rows)
    return Solution(rows, tuple(walks_by_condition))


def holding(graph: Graph, constraint: Constraint, rows: Rows) -> Rows:
    """Keep the rows that satisfy a constraint. Rows go in and come out ascending.

    Each of its terms must stand in the node's name, aliases or text, as the index has them. Its property must have the
    constraint's value, case aside, or a list that holds it.
    """
    if constraint.property is not None:
        condition = PropertyCondition(constraint.property, "=", constraint.phrase)
        return rows[graph.arrays.properties.mask((condition,))[rows]]
    for term in constraint.terms:
        posting = graph.arrays.text_index.posting(term)
        rows = graph.arrays.text_index.filter_rows(posting, rows) if posting is not None else rows[:0]
    return rows


def loosely(graph: Graph, plan: QuestionPlan) -> Rows:
    """Return the answers, ascending, if a node may come twice on the way: how a hasty reader takes the question.

    The nodes that the plan's own conditions start from are left out, for there the question says `other`; nodes that
    only the first plan names are not.
    """
    rows = _all_ends(graph, plan)
    is_right = rows == plan.target if plan.target is not None else is_other(rows, plan.anchors)
    return np.asarray(rows[is_right])


def meets_itself(graph: Graph, plan: QuestionPlan) -> bool:
    """Return whether a hasty reader would take a node that a condition starts from for an answer."""
    return bool(np.isin(plan.anchors, _all_ends(graph, plan)).any())


def ends(graph: Graph, condition: WalkCondition) -> Rows:
    """Return the rows in which a condition can end, by any walk, without its anchor, ascending."""
    rows = _ends(graph, condition)
    return np.asarray(rows[rows != condition.anchor])


def take(graph: Graph, rows: Rows, step: EdgeStep) -> Rows:
    """Return the rows that a step leads to from some rows, ascending, loops left out."""
    entries = graph.arrays.adjacency.entries(rows, kinds(graph, step))
    is_right = graph.arrays.node_types[entries.neighbor] == graph.arrays.types.nodes.index(step.end)
    return distinct(np.asarray(entries.neighbor[is_right]))


def kinds(graph: Graph, step: EdgeStep) -> KindMask | None:
    """Mark the kinds of edge that a step may take, or return None for all."""
    direction: Direction | None = None if step.is_forward is None else "out" if step.is_forward else "in"
    return graph.arrays.kind_mask(None if step.edge_type is None else [step.edge_type], direction)


def of_type(graph: Graph, node_type: str) -> Rows:
    """Return the rows of a node type, ascending."""
    return np.flatnonzero(graph.arrays.node_types == graph.arrays.types.nodes.index(node_type)).astype(np.int32)


def first_of_runs(owner: Rows, neighbor: Rows) -> NDArray[np.bool_]:
    """Mark each edge that does not repeat the one before it, (edges,). A node's edges are sorted by neighbour."""
    is_first = np.ones(len(owner), np.bool_)
    is_first[1:] = (owner[1:] != owner[:-1]) | (neighbor[1:] != neighbor[:-1])
    return is_first


def is_other(rows: Rows, excluded: Iterable[int]) -> NDArray[np.bool_]:
    """Mark the rows that are not among a few excluded ones, (rows,)."""
    mask = np.ones(len(rows), np.bool_)
    for row in excluded:
        mask &= rows != row
    return mask


def _ends(graph: Graph, condition: WalkCondition) -> Rows:
    rows = np.array([condition.anchor], np.int32)
    for step in condition.steps:
        rows = take(graph, rows, step)
    return rows


def _all_ends(graph: Graph, plan: QuestionPlan) -> Rows:
    return _common([_ends(graph, condition) for condition in plan.conditions])


def _common(sets: Sequence[Rows]) -> Rows:
    """Return the rows that are in every set; the sets are ascending."""
    rows = sets[0]
    for others in sets[1:]:
        rows = np.intersect1d(rows, others, assume_unique=True)
    return rows


class Pairs(NamedTuple):
    """Two aligned arrays of shape (pairs,): indexes into the left and the right side of a join."""

    left: NDArray[np.int64]
    right: NDArray[np.int64]


def joined(rows: Rows, owner: Rows, most: int) -> Pairs | None:
    """Join rows to the edges that start at them, or return None if there are more than `most` pairs.

    `owner` are the start rows of the edges, ascending. This is the one join over the graph's arrays: plans and gold
    queries are answered by it.
    """
    begins, stops = np.searchsorted(owner, rows, "left"), np.searchsorted(owner, rows, "right")
    counts = stops - begins
    if counts.sum() > most:
        return None
    offsets = np.arange(int(counts.sum())) - np.repeat(np.cumsum(counts) - counts, counts)
    return Pairs(np.repeat(np.arange(len(rows)), counts), np.repeat(begins, counts) + offsets)
