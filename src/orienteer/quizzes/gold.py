"""Who answers a plan: all nodes, read off the adjacency arrays, the path that Cypher has no part in.

A node answers where it is of the asked type, every condition leads to it, and the constraint holds of it. On a walk no
node comes twice and no other given node comes at all. Parallel edges count once, loops never.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from orienteer.evaluation.examples import AnswerType
from orienteer.graph.adjacency import KindMask
from orienteer.graph.properties import Condition as PropertyCondition
from orienteer.graph.store import Graph, distinct
from orienteer.index.arrays import Rows
from orienteer.quizzes.plan import Constraint, EdgeStep, QuestionPlan, WalkCondition
from orienteer.records import Direction

MOST_ANSWERS = 20
"""An open question with more gold nodes is oversized: Recall@20 could not be 1."""
MOST_IN_SET = 10  # 003, B.3.3: "a predefined threshold (e.g., 10)"
MOST_COUNTED = 100
"""A count above this is no number that a reader could check."""
MANY = 10**9
"""More than ever answer."""
MOST_WALKS = 20_000
"""Walks of one condition; what needs more is no question that could be checked by hand."""
Walks = NDArray[np.int32]
"""(walks, nodes of each): the rows that a walk comes to, its anchor first."""


class Sizes(NamedTuple):
    """How many nodes may answer."""

    least: int
    most: int

    @classmethod
    def of(cls, answer_type: AnswerType, is_true: bool) -> Sizes:
        """Return how many may answer a question of a type; of a boolean, for its answer to be so."""
        if answer_type == "boolean":
            return cls(1, MANY) if is_true else cls(0, 0)
        return {"entity": cls(1, 1), "set": cls(2, MOST_IN_SET), "number": cls(2, MOST_COUNTED)}[answer_type]

    def hold(self, number: int) -> bool:
        """Tell whether so many may answer."""
        return self.least <= number <= self.most

    def fault(self, number: int) -> str | None:
        """Return why so many may not answer, by `checks.REASONS`; None where they may."""
        return "empty" if number < self.least else "oversized" if number > self.most else None


@dataclass(frozen=True, slots=True)
class Solution:
    """Who answers a plan."""

    rows: Rows
    """The rows that `x` may be, ascending."""
    walks: tuple[Walks, ...]
    """The walks of each condition, those too that end in none of them."""

    def witnesses(self, row: int) -> list[int]:
        """Return the rows on one walk of each condition to a row, in order, each once."""
        firsts = (walks[np.flatnonzero(walks[:, -1] == row)[0]] for walks in self.walks)
        return list(dict.fromkeys(int(place) for walk in firsts for place in walk))


def solve(graph: Graph, plan: QuestionPlan) -> Solution | None:
    """Return who answers; None where there are more walks than `MOST_WALKS`."""
    walks_by_condition = list[Walks]()
    for condition in plan.conditions:
        banned = [row for row in plan.given if row not in (condition.anchor, plan.target)]
        walks = _walks(graph, condition, banned)
        if walks is None:
            return None
        walks_by_condition.append(walks)
    rows = _common([np.unique(walks[:, -1]) for walks in walks_by_condition])
    if plan.target is not None:
        rows = rows[rows == plan.target]
    if plan.constraint is not None:
        rows = holding(graph, plan.constraint, rows)
    return Solution(rows, tuple(walks_by_condition))


def holding(graph: Graph, constraint: Constraint, rows: Rows) -> Rows:
    """Return those of some ascending rows of which a constraint holds.

    Of terms: each stands in what the index holds of the node, its name, aliases and text. Of a property: its value,
    or one of its values, is the constraint's, case aside.
    """
    if constraint.property is not None:
        condition = PropertyCondition(constraint.property, "=", constraint.phrase)
        return rows[graph.properties.mask((condition,))[rows]]
    for term in constraint.terms:
        posting = graph.text_index.posting(term)
        rows = graph.text_index.having(posting, rows) if posting is not None else rows[:0]
    return rows


def loosely(graph: Graph, plan: QuestionPlan) -> Rows:
    """Return who answers where a node may come twice on the way: how a hasty reader takes the question.

    What the plan's own conditions start from is left out, for there the question says `other`; what only the first
    plan names is not.
    """
    rows = _all_ends(graph, plan)
    is_right = rows == plan.target if plan.target is not None else is_other(rows, plan.anchors)
    return np.asarray(rows[is_right])


def meets_itself(graph: Graph, plan: QuestionPlan) -> bool:
    """Tell whether a hasty reader would count a node that a condition starts from among those that answer."""
    return bool(np.isin(plan.anchors, _all_ends(graph, plan)).any())


def ends(graph: Graph, condition: WalkCondition) -> Rows:
    """Return the rows in which a condition can end, whatever it comes by, its anchor left out, ascending."""
    rows = _ends(graph, condition)
    return np.asarray(rows[rows != condition.anchor])


def take(graph: Graph, rows: Rows, step: EdgeStep) -> Rows:
    """Return the rows that a step leads to from some rows, ascending, loops left out."""
    entries = graph.adjacency.entries(rows, kinds(graph, step))
    is_right = graph.node_types[entries.neighbor] == graph.types.nodes.index(step.end)
    return distinct(np.asarray(entries.neighbor[is_right]))


def kinds(graph: Graph, step: EdgeStep) -> KindMask | None:
    """Mark the kinds of edge that a step may take; None where it may take any."""
    direction: Direction | None = None if step.is_forward is None else "out" if step.is_forward else "in"
    return graph.kind_mask(None if step.edge_type is None else [step.edge_type], direction)


def of_type(graph: Graph, node_type: str) -> Rows:
    """Return the rows of a node type, ascending."""
    return np.flatnonzero(graph.node_types == graph.types.nodes.index(node_type)).astype(np.int32)


def first_of_runs(owner: Rows, neighbor: Rows) -> NDArray[np.bool_]:
    """Mark each edge but for the repeats of the one before it: a node's edges are sorted by neighbour."""
    is_first = np.ones(len(owner), np.bool_)
    is_first[1:] = (owner[1:] != owner[:-1]) | (neighbor[1:] != neighbor[:-1])
    return is_first


def is_other(rows: Rows, given: Iterable[int]) -> NDArray[np.bool_]:
    """Mark the rows that are none of a few given ones."""
    mask = np.ones(len(rows), np.bool_)
    for row in given:
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
    """Return the rows that all of some ascending sets have."""
    rows = sets[0]
    for others in sets[1:]:
        rows = np.intersect1d(rows, others, assume_unique=True)
    return rows


def _walks(graph: Graph, condition: WalkCondition, banned: Sequence[int]) -> Walks | None:
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


def _edges(graph: Graph, rows: Rows, step: EdgeStep, banned: Sequence[int]) -> tuple[Rows, Rows]:
    """Return from which of some rows a step leads, sorted, and to which, parallel edges once."""
    entries = graph.adjacency.entries(rows, kinds(graph, step))
    is_right = graph.node_types[entries.neighbor] == graph.types.nodes.index(step.end)
    is_right &= is_other(entries.neighbor, banned)
    owner, neighbor = entries.owner[is_right], entries.neighbor[is_right]
    is_first = first_of_runs(owner, neighbor)
    return owner[is_first], neighbor[is_first]
