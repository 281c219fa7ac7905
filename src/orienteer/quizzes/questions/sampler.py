"""Drawing drafts: in turn over the patterns, the steps that have served least first, hubs kept apart.

Nothing is proportional to counts. Each step (a triple of types, in one direction) gets its turn, so that a rare edge
type is asked about as often as a common one; the nodes from which a step can be taken are drawn by size class, so that
neither the many nodes with one edge nor the few with thousands fill the file. A step that has served a pattern ten
times in vain, one after another, is left alone by that pattern.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass, field

import numpy as np

from orienteer.graph.store import Graph
from orienteer.index.arrays import Rows
from orienteer.quizzes.questions.constraints import MOST_CANDIDATES
from orienteer.quizzes.questions.draft import MOST_ANSWERS, Condition, Draft, Pattern, Step
from orienteer.quizzes.questions.gold import reached, take
from orienteer.quizzes.questions.rejection import anchor_fault
from orienteer.quizzes.questions.steps import Steps, Table

_PATIENCE = 10  # drafts in a row that a step may fail under one pattern
_SIZES = (1, 5, 20, 100, 500)  # upper ends of the size classes
_MOST_BETWEEN = 50  # nodes halfway along two hops
_MOST_AROUND = 2_000  # nodes that an anchor of an intersection may lead to
_LOOKS = 8  # nodes that are looked at for one that has a name, and narrows an intersection


@dataclass(slots=True)
class _Tally:
    """How a step has served under one pattern."""

    kept: int = 0
    failed: int = 0
    """Since it was last kept."""


@dataclass(slots=True)
class Sampler:
    """Draws drafts of a graph. The same generator state and the same answers to `keep` and `drop` give the same ones.

    A draft has its structure only: its constraint is drawn among the nodes that meet its conditions.
    """

    graph: Graph
    steps: Steps
    chance: np.random.Generator
    answer_types: Collection[str] | None = None
    _tallies: dict[tuple[str, Step], _Tally] = field(default_factory=dict)
    _uses: Counter[Step] = field(default_factory=Counter)

    def draw(self, pattern: Pattern) -> tuple[Step, Draft | None] | None:
        """Return the step whose turn it is with a draft that ends in it, None where it gave none.

        None alone where no step can serve the pattern any more.
        """
        step = self._next(pattern)
        if step is None:
            return None
        conditions = self._shape(pattern)(pattern, step)
        return step, Draft(pattern, conditions) if conditions is not None else None

    def keep(self, draft: Draft) -> None:
        """Note that a draft became a question."""
        tally = self._tally(draft.pattern, draft.conditions[0].steps[-1])
        tally.kept, tally.failed = tally.kept + 1, 0
        self._uses.update(step for condition in draft.conditions for step in condition.steps)

    def drop(self, pattern: Pattern, step: Step) -> None:
        """Note that a step served in vain."""
        self._tally(pattern, step).failed += 1

    def _tally(self, pattern: Pattern, step: Step) -> _Tally:
        return self._tallies.setdefault((pattern.name, step), _Tally())

    def _next(self, pattern: Pattern) -> Step | None:
        """Return the step that has been kept least under a pattern, and least in all, equals by chance."""
        known = self.steps.named if pattern.names_edges else self.steps.unnamed
        fitting = [step for step in known if self.answer_types is None or step.end in self.answer_types]
        fresh = [step for step in fitting if self._tally(pattern, step).failed < _PATIENCE]
        return self._rarest(fresh, lambda step: (self._tally(pattern, step).kept, self._uses[step]))

    def _rarest(self, steps: Sequence[Step], uses: Callable[[Step], tuple[int, ...]]) -> Step | None:
        if not steps:
            return None
        least = min(map(uses, steps))
        rarest = [step for step in steps if uses(step) == least]
        return rarest[int(self.chance.integers(len(rarest)))]

    def _shape(self, pattern: Pattern) -> Callable[[Pattern, Step], tuple[Condition, ...] | None]:
        if len(pattern.hops) > 1:
            return self._intersection
        return self._one_hop if pattern.hops == (1,) else self._two_hops

    # ------------------------------------------------------------------------------------------------------- shapes

    def _one_hop(self, pattern: Pattern, step: Step) -> tuple[Condition, ...] | None:
        least, most = (2, MOST_CANDIDATES) if pattern.is_constrained else (1, MOST_ANSWERS)
        anchor = self._by_size(self.steps.table(step), least, most)
        return None if anchor is None else (Condition(anchor, (step,)),)

    def _two_hops(self, pattern: Pattern, step: Step) -> tuple[Condition, ...] | None:
        before = [one for one in self.steps.named if one.end == step.start]
        first = self._rarest(before, lambda one: (self._uses[one],))
        anchor = None if first is None else self._by_size(self.steps.table(first), 1, _MOST_BETWEEN)
        if first is None or anchor is None:
            return None
        return (Condition(anchor, (first, step)),)

    def _intersection(self, pattern: Pattern, step: Step) -> tuple[Condition, ...] | None:
        """Draw an anchor, a node that it leads to, and that node's further neighbours as further anchors."""
        least = 2 if pattern.is_constrained else 1
        anchor = self._by_size(self.steps.table(step), least + 1, _MOST_AROUND)
        if anchor is None:
            return None
        conditions = [Condition(anchor, (step,))]
        common = reached(self.graph, conditions[0])
        answer = int(common[int(self.chance.integers(len(common)))])
        while len(conditions) < len(pattern.hops):
            used = {condition.anchor for condition in conditions}
            further = self._further(answer, common, used, least=least + len(pattern.hops) - len(conditions) - 1)
            if further is None:
                return None
            conditions.append(further)
            common = np.intersect1d(common, reached(self.graph, further), assume_unique=True)
        return tuple(conditions)

    def _further(self, answer: int, common: Rows, used: Collection[int], *, least: int) -> Condition | None:
        """Return a condition of a new anchor that some of those in common meet, the answer one of them, and not all."""
        for step in self._steps_to(answer):
            table = self.steps.table(step)
            around = take(self.graph, np.array([answer], np.int32), step.turned)
            for row in self.chance.permutation(around)[:_LOOKS].tolist():
                if (
                    row in used
                    or not 2 <= table.count(row) <= _MOST_AROUND
                    or anchor_fault(self.graph, row) is not None
                ):
                    continue
                further = Condition(row, (step,))
                if least <= len(np.intersect1d(common, reached(self.graph, further), assume_unique=True)) < len(common):
                    return further
        return None

    def _steps_to(self, answer: int) -> list[Step]:
        """Return the steps that end in a node, those used least first, equals by chance."""
        graph = self.graph
        entries = graph.adjacency.entries(np.array([answer], np.int32))
        codes = np.unique(
            (entries.kind.astype(np.int64) >> 1) * len(graph.types.nodes) + graph.node_types[entries.neighbor]
        )
        there = {divmod(code, len(graph.types.nodes)) for code in codes.tolist()}
        met = {(graph.types.edges[edge], graph.types.nodes[node]) for edge, node in there}
        end = graph.type_at(answer)
        steps = [one for one in self.steps.named if one.end == end and (one.edge_type, one.start) in met]
        order = self.chance.permutation(len(steps)).tolist()
        return sorted((steps[at] for at in order), key=lambda one: self._uses[one])

    def _by_size(self, table: Table, least: int, most: int) -> int | None:
        """Return a row that leads to a fitting number of nodes, from a size class drawn first."""
        ends = [*(size for size in _SIZES if least <= size < most), most]
        begins = [least, *(end + 1 for end in ends[:-1])]
        classes = [
            np.flatnonzero((table.counts >= low) & (table.counts <= high))
            for low, high in zip(begins, ends, strict=True)
        ]
        classes = [one for one in classes if len(one)]
        if not classes:
            return None
        places = classes[int(self.chance.integers(len(classes)))]
        # A few looks for a node that can be named; where there is none, the draft is rejected for it and counted.
        for row in table.rows[self.chance.choice(places, _LOOKS)].tolist():
            if anchor_fault(self.graph, row) is None:
                break
        return int(row)
