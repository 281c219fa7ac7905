"""The sampler of plans for `orienteer questions`: steps that have served least come first, hubs are kept apart.

Nothing is proportional to counts. Each step (a triple of types, in one direction) gets its turn, so that a rare edge
type is asked about as often as a common one; the nodes from which a step can be taken are drawn by size class, so that
neither the many nodes with one edge nor the few with thousands fill the file. After ten failures in a row under a
pattern, that pattern no longer takes the step.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass, field

import numpy as np

from orienteer.graph.store import Graph
from orienteer.index.arrays import Rows
from orienteer.lab.quizzes.checks import anchor_fault
from orienteer.lab.quizzes.constraints import MOST_CANDIDATES
from orienteer.lab.quizzes.gold import MOST_ANSWERS, ends, take
from orienteer.lab.quizzes.plan import EdgeStep, QuestionPattern, QuestionPlan, WalkCondition
from orienteer.lab.quizzes.steps import Steps, StepTable

_PATIENCE = 10  # drafts in a row that a step may fail under one pattern
_SIZES = (1, 5, 20, 100, 500)  # upper ends of the size classes
_MOST_BETWEEN = 50  # nodes halfway along two hops
_MOST_AROUND = 2_000  # nodes that an anchor of an intersection may lead to
_LOOKS = 8  # nodes that are looked at for one that has a name, and narrows an intersection


@dataclass(slots=True)
class _Tally:
    """How often a step has served under one pattern."""

    successes: int = 0
    failures: int = 0
    """Since its last success."""


@dataclass(slots=True)
class Sampler:
    """Draws plans of a graph. The same generator state and the same answers to `keep` and `drop` give the same ones.

    A plan has its structure only: its constraint is drawn among the nodes that meet its conditions.
    """

    graph: Graph
    steps: Steps
    chance: np.random.Generator
    answer_types: Collection[str] | None = None
    _tallies: dict[tuple[str, EdgeStep], _Tally] = field(default_factory=dict)
    _uses: Counter[EdgeStep] = field(default_factory=Counter)

    def draw(self, pattern: QuestionPattern) -> tuple[EdgeStep, QuestionPlan | None] | None:
        """Return the step whose turn it is, and a plan that ends in it, or None where it gave no plan.

        Returns None alone where no step can serve the pattern any more.
        """
        step = self._next(pattern)
        if step is None:
            return None
        if len(pattern.hops) > 1:
            conditions = self._intersection(pattern, step)
        elif pattern.hops == (1,):
            conditions = self._one_hop(pattern, step)
        else:
            conditions = self._two_hops(step)
        return step, QuestionPlan(pattern.name, conditions) if conditions is not None else None

    def keep(self, pattern: QuestionPattern, plan: QuestionPlan) -> None:
        """Note that a plan became a question."""
        tally = self._tally(pattern, plan.conditions[0].steps[-1])
        tally.successes, tally.failures = tally.successes + 1, 0
        self._uses.update(plan.steps)

    def drop(self, pattern: QuestionPattern, step: EdgeStep) -> None:
        """Note that a step served in vain."""
        self._tally(pattern, step).failures += 1

    def _tally(self, pattern: QuestionPattern, step: EdgeStep) -> _Tally:
        return self._tallies.setdefault((pattern.name, step), _Tally())

    def _next(self, pattern: QuestionPattern) -> EdgeStep | None:
        """Return the step with the fewest successes under a pattern, then the fewest uses in all, ties by chance."""
        steps = self.steps.named if pattern.names_edges else self.steps.unnamed
        fitting = [step for step in steps if self.answer_types is None or step.end in self.answer_types]
        fresh = [step for step in fitting if self._tally(pattern, step).failures < _PATIENCE]
        return self._rarest(fresh, lambda step: (self._tally(pattern, step).successes, self._uses[step]))

    def _rarest(self, steps: Sequence[EdgeStep], uses: Callable[[EdgeStep], tuple[int, ...]]) -> EdgeStep | None:
        if not steps:
            return None
        least = min(map(uses, steps))
        rarest = [step for step in steps if uses(step) == least]
        return rarest[int(self.chance.integers(len(rarest)))]

    # ------------------------------------------------------------------------------------------------------- shapes

    def _one_hop(self, pattern: QuestionPattern, step: EdgeStep) -> tuple[WalkCondition, ...] | None:
        least, most = (2, MOST_CANDIDATES) if pattern.is_constrained else (1, MOST_ANSWERS)
        anchor = self._by_size(self.steps.table(step), least, most)
        return None if anchor is None else (WalkCondition(anchor, (step,)),)

    def _two_hops(self, step: EdgeStep) -> tuple[WalkCondition, ...] | None:
        before = [first for first in self.steps.named if first.end == step.start]
        first = self._rarest(before, lambda first: (self._uses[first],))
        anchor = None if first is None else self._by_size(self.steps.table(first), 1, _MOST_BETWEEN)
        if first is None or anchor is None:
            return None
        return (WalkCondition(anchor, (first, step)),)

    def _intersection(self, pattern: QuestionPattern, step: EdgeStep) -> tuple[WalkCondition, ...] | None:
        """Draw an anchor, a node that it leads to, and that node's further neighbours as further anchors."""
        least = 2 if pattern.is_constrained else 1
        anchor = self._by_size(self.steps.table(step), least + 1, _MOST_AROUND)
        if anchor is None:
            return None
        conditions = [WalkCondition(anchor, (step,))]
        common = ends(self.graph, conditions[0])
        answer = int(common[int(self.chance.integers(len(common)))])
        while len(conditions) < len(pattern.hops):
            used = {condition.anchor for condition in conditions}
            further = self._further(answer, common, used, least=least + len(pattern.hops) - len(conditions) - 1)
            if further is None:
                return None
            conditions.append(further)
            common = np.intersect1d(common, ends(self.graph, further), assume_unique=True)
        return tuple(conditions)

    def _further(self, answer: int, common: Rows, used: Collection[int], *, least: int) -> WalkCondition | None:
        """Return a condition of a new anchor that the answer and some of the common rows meet, and not all of them."""
        for step in self._steps_to(answer):
            table = self.steps.table(step)
            around = take(self.graph, np.array([answer], np.int32), step.turned)
            for row in self.chance.permutation(around)[:_LOOKS].tolist():
                is_narrow = row not in used and 2 <= table.count(row) <= _MOST_AROUND
                if not is_narrow or anchor_fault(self.graph, row) is not None:
                    continue
                further = WalkCondition(row, (step,))
                if least <= len(np.intersect1d(common, ends(self.graph, further), assume_unique=True)) < len(common):
                    return further
        return None

    def _steps_to(self, answer: int) -> list[EdgeStep]:
        """Return the steps that end in a node, the least used first, ties by chance."""
        graph = self.graph
        entries = graph.arrays.adjacency.entries(np.array([answer], np.int32))
        codes = np.unique(
            (entries.kind.astype(np.int64) >> 1) * len(graph.arrays.types.nodes)
            + graph.arrays.node_types[entries.neighbor]
        )
        pairs = (divmod(code, len(graph.arrays.types.nodes)) for code in codes.tolist())
        types = {(graph.arrays.types.edges[edge], graph.arrays.types.nodes[node]) for edge, node in pairs}
        end = graph.arrays.type_at(answer)
        steps = [step for step in self.steps.named if step.end == end and (step.edge_type, step.start) in types]
        order = self.chance.permutation(len(steps)).tolist()
        return sorted((steps[at] for at in order), key=lambda step: self._uses[step])

    def _by_size(self, table: StepTable, least: int, most: int) -> int | None:
        """Return a row that leads to a fitting number of nodes, from a size class drawn first."""
        highs = [*(size for size in _SIZES if least <= size < most), most]
        lows = [least, *(high + 1 for high in highs[:-1])]
        classes = [
            np.flatnonzero((table.counts >= low) & (table.counts <= high))
            for low, high in zip(lows, highs, strict=True)
        ]
        classes = [places for places in classes if len(places)]
        if not classes:
            return None
        places = classes[int(self.chance.integers(len(classes)))]
        # A few looks for a node that can be named; where there is none, the plan is rejected for it and counted.
        for row in table.rows[self.chance.choice(places, _LOOKS)].tolist():
            if anchor_fault(self.graph, row) is None:
                break
        return int(row)
