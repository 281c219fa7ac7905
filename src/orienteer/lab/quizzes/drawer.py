"""The drawer of quiz plans: a seed, then walks out of it that end in a number of nodes which fits the question.

003, section 3.3.2: a node type is drawn uniformly, then a node of it, the seed. From there every step is drawn among
those that the schema knows, each equally likely, so that rare edge types are asked about as often as common ones.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from itertools import islice
from typing import TypeAlias, TypeVar

import numpy as np

from orienteer.graph.store import Graph
from orienteer.index.arrays import Rows
from orienteer.lab.evaluation.examples import Cell, Difficulty, QuizPattern
from orienteer.lab.quizzes.gold import MANY, MOST_ANSWERS, Sizes, ends, of_type, solve, take
from orienteer.lab.quizzes.plan import EdgeStep, QuestionPattern, QuestionPlan, WalkCondition, fits
from orienteer.lab.quizzes.proof import anchor_fault, is_hub, node_fault
from orienteer.lab.quizzes.steps import MOST_CANDIDATES, Steps, StepTable

_T = TypeVar("_T")
_MOST_BETWEEN = 200  # nodes halfway along a walk
_MOST_ENDS = 50_000  # edges that are looked at in one step
_SEEDS = 20  # nodes of a type that are looked at for one that can be named
_LOOKS = 6  # second nodes that are tried for one first walk
_WAYS = 12  # steps that are tried for the end of one walk

Shape: TypeAlias = tuple[int, ...]
"""The length of each walk; a second walk of 0 is a node that the first has to end in."""
SHAPES: Mapping[tuple[QuizPattern, Difficulty], tuple[Shape, ...]] = {
    ("<h,_,_>", "simple"): ((1,),),
    ("<h,_,_>", "medium"): ((2,),),
    ("<h,_,_>", "hard"): ((3,),),
    ("<h,r,_>", "simple"): ((1,), (2,)),
    ("<h,r,_>", "medium"): ((2,), (3,)),
    ("<h,r,_>", "hard"): ((3,), (4,)),
    ("<h,*,t>", "simple"): ((1, 1),),
    ("<h,*,t>", "medium"): ((1, 2),),
    ("<h,*,t>", "hard"): ((2, 2),),
    ("<h,r,t>", "simple"): ((1, 1),),
    ("<h,r,t>", "medium"): ((1, 1), (1, 2)),
    ("<h,r,t>", "hard"): ((1, 2), (2, 2)),
}
OF_BOOLEANS: Mapping[tuple[QuizPattern, Difficulty], tuple[Shape, ...]] = {
    **SHAPES,
    ("<h,*,t>", "simple"): ((1, 0),),
    ("<h,*,t>", "medium"): ((1, 1), (1, 2)),
    ("<h,r,t>", "simple"): ((1, 0),),
}
"""Booleans ask whether two nodes are joined, not for the nodes between them."""
FIRSTS: Mapping[QuizPattern, tuple[Shape, ...]] = {
    "<h,_,_>": ((1,), (2,)),
    "<h,r,_>": ((1,), (2,)),
    "<h,*,t>": ((1, 1),),
    "<h,r,t>": ((1, 1),),
}
"""The walks that describe the first node of a hybrid."""
SECONDS = {**FIRSTS, "<h,*,t>": ((1, 1), (1, 2)), "<h,r,t>": ((1, 1), (1, 2))}
"""The walks that go on from there."""


class Drawer:
    """Draws plans of one graph. The same generator state gives the same ones."""

    def __init__(self, graph: Graph, chance: np.random.Generator, avoid: Collection[int] = ()) -> None:
        self._graph, self._chance = graph, chance
        self._avoid = frozenset(avoid)
        self._steps = Steps(graph)
        self._types = [of_type(graph, name) for name in graph.arrays.types.nodes]
        self._types = [rows for rows in self._types if len(rows)]
        self._named = _by_start(self._steps.named)
        self._unnamed = _by_start(self._steps.unnamed)

    def draw(self, cell: Cell, is_true: bool) -> QuestionPlan | str:
        """Return a plan for a place in the grid, or why the seed gave none, by `proof.REASONS`.

        `is_true` is the answer that a boolean should have.
        """
        seed, fault = self.seed()
        if fault is not None:
            return fault
        sizes = Sizes.of(cell.answer_type, is_true)
        if cell.pattern == "hybrid":
            plan = self._hybrid(seed, cell, sizes)
        else:
            shapes = OF_BOOLEANS if cell.answer_type == "boolean" else SHAPES
            shape = self._one_of(shapes[cell.pattern, cell.difficulty])
            plan = self._shaped(seed, cell.pattern, shape, sizes, is_plain=cell.difficulty == "simple")
        if plan is None:
            return "no way"
        return plan if fits(plan, cell) else "illegal"

    def seed(self) -> tuple[int, str | None]:
        """Return a node that can be named, its type drawn first, or else the last node drawn and its fault."""
        rows = self._one_of(self._types)
        *others, last = (int(row) for row in self._chance.choice(rows, _SEEDS))
        for seed in others:
            if node_fault(self._graph, seed, self._avoid) is None:
                return seed, None
        return last, node_fault(self._graph, last, self._avoid)

    # ------------------------------------------------------------------------------------------------------- shapes

    def _shaped(
        self, start: int, pattern: QuizPattern, shape: Shape, sizes: Sizes, *, is_plain: bool
    ) -> QuestionPlan | None:
        is_named = pattern in ("<h,r,_>", "<h,r,t>")
        if len(shape) == 1:
            condition = self._chain(start, shape[0], sizes, is_named=is_named, is_plain=is_plain)
            return None if condition is None else QuestionPlan(pattern, (condition,))
        if shape[1] == 0:  # two nodes that one step joins, or nearly joins if the answer is to be false
            condition = self._chain(start, 1, Sizes(1, MANY), is_named=is_named, is_plain=True)
            if condition is None:
                return None
            target = self._nameable(self._common(start, condition, sizes))
            return None if target is None else QuestionPlan(pattern, (condition,), target=target)
        first = self._chain(start, shape[0], Sizes(min(2, sizes.least) or 1, MANY), is_named=is_named, is_plain=True)
        if first is None:
            return None
        reached, common = ends(self._graph, first), self._common(start, first, sizes)
        for _ in range(_LOOKS if len(common) else 0):
            middle = int(common[int(self._chance.integers(len(common)))])
            only = first.steps[-1].turned if is_plain and is_named else None
            second = self._second(middle, shape[1], only, is_named=is_named)
            if second is None or second.anchor in (start, middle):
                continue
            both = np.intersect1d(reached, ends(self._graph, second), assume_unique=True)
            if sizes.hold(len(both[(both != start) & (both != second.anchor)])):
                return QuestionPlan(pattern, (first, second))
        return None

    def _chain(self, start: int, length: int, sizes: Sizes, *, is_named: bool, is_plain: bool) -> WalkCondition | None:
        """Draw a walk that ends in a fitting number of nodes."""
        rows, steps = np.array([start], np.int32), list[EdgeStep]()
        for hop in range(1, length + 1):
            fitting = sizes if hop == length else Sizes(1, _MOST_BETWEEN)
            for step in islice(self._onward(rows, is_named=is_named), _WAYS):
                if is_plain and steps and step.edge_type != steps[0].edge_type:
                    continue
                onward = take(self._graph, rows, step)
                onward = onward[onward != start]
                if fitting.hold(len(onward)):
                    break
            else:
                return None
            rows, steps = onward, [*steps, step]
        return WalkCondition(start, tuple(steps))

    def _onward(self, rows: Rows, *, is_named: bool) -> Iterator[EdgeStep]:
        """Yield the schema's steps from these nodes, in chance order, or none if they have many edges."""
        if int(self._graph.arrays.adjacency.degree(rows).sum()) > _MOST_ENDS:
            return
        steps_by_start = self._named if is_named else self._unnamed
        steps = steps_by_start.get(self._graph.arrays.type_at(int(rows[0])), ())
        for at in self._chance.permutation(len(steps)).tolist():
            yield steps[at]

    def _common(self, start: int, condition: WalkCondition, sizes: Sizes) -> Rows:
        """Return the ends of a walk, or near misses if nothing is to answer: nodes that its last step might reach."""
        step, reached = condition.steps[-1], ends(self._graph, condition)
        if sizes.most > 0:
            return reached
        some = reached[:_MOST_BETWEEN]
        alike = take(self._graph, some, step.turned)[:_MOST_BETWEEN]
        sources = self._steps.table(step.turned).rows
        near = np.intersect1d(self._graph.arrays.adjacency.other_ends(some), sources) if len(some) else sources
        # The nearest misses first: nodes that the step reaches from a node which shares an end with `start`, then
        # neighbours of an end that it reaches from anywhere, then any node that it reaches.
        ways = (take(self._graph, alike, step), near, sources)
        misses = (np.setdiff1d(way, [*reached, start]).astype(np.int32) for way in ways)
        return next((rows for rows in misses if len(rows)), np.array([], np.int32))

    def _second(self, middle: int, length: int, only: EdgeStep | None, *, is_named: bool) -> WalkCondition | None:
        """Draw a walk out of a node, one node after another, and return it reversed, so that it ends there."""
        row, steps = middle, list[EdgeStep]()
        for _ in range(length):
            here = np.array([row], np.int32)
            ways = [only] if only is not None else islice(self._onward(here, is_named=is_named), _WAYS)
            for step in ways:
                around = take(self._graph, here, step)
                after = self._nameable(around[around != middle])
                if after is not None:
                    break
            else:
                return None
            row, steps = after, [step.turned, *steps]
        return WalkCondition(row, tuple(steps))

    def _hybrid(self, seed: int, cell: Cell, sizes: Sizes) -> QuestionPlan | None:
        """Draw a plan that one node answers, and go on from that node by another pattern."""
        patterns = list(FIRSTS)
        own = self._one_of(patterns)
        other = self._one_of([pattern for pattern in patterns if pattern != own])
        first = self._shaped(seed, own, self._one_of(FIRSTS[own]), Sizes(1, 1), is_plain=False)
        if first is None:
            return None
        solution = solve(self._graph, first)
        if solution is None or len(solution.rows) != 1 or is_hub(self._graph, int(solution.rows[0])):
            return None
        is_joined = cell.answer_type == "boolean" and len(SECONDS[other][0]) == 2
        shapes = ((1, 0), *SECONDS[other]) if is_joined else SECONDS[other]
        plan = self._shaped(int(solution.rows[0]), other, self._one_of(shapes), sizes, is_plain=False)
        if plan is None or set(first.named) & {*plan.named[1:]}:
            return None
        return QuestionPlan(plan.pattern, plan.conditions, plan.target, first)

    # ------------------------------------------------------------------------------------------------------ chances

    def _nameable(self, rows: Rows) -> int | None:
        """Return a row that a question can name, or None if a few looks find none."""
        if not len(rows):
            return None
        for row in self._chance.choice(rows, _LOOKS).tolist():
            if node_fault(self._graph, row, self._avoid) is None:
                return int(row)
        return None

    def _one_of(self, ways: Sequence[_T]) -> _T:
        return ways[int(self._chance.integers(len(ways)))]


def _by_start(steps: Sequence[EdgeStep]) -> dict[str, list[EdgeStep]]:
    steps_by_start = dict[str, list[EdgeStep]]()
    for step in steps:
        steps_by_start.setdefault(step.start, []).append(step)
    return steps_by_start


# The sampler of plans for `orienteer questions`: steps that have served least come first, hubs are kept apart.
#
# Nothing is proportional to counts. Each step (a triple of types, in one direction) gets its turn, so that a rare edge
# type is asked about as often as a common one; the nodes from which a step can be taken are drawn by size class, so
# that neither the many nodes with one edge nor the few with thousands fill the file. After ten failures in a row under
# a pattern, that pattern no longer takes the step.


_PATIENCE = 10  # drafts in a row that a step may fail under one pattern
_SIZES = (1, 5, 20, 100, 500)  # upper ends of the size classes
_MOST_BETWEEN_SAMPLES = 50  # nodes halfway along two hops
_MOST_AROUND = 2_000  # nodes that an anchor of an intersection may lead to
_SAMPLE_LOOKS = 8  # nodes that are looked at for one that has a name, and narrows an intersection


class Sampler:
    """Draws plans of a graph. The same generator state and the same answers to `keep` and `drop` give the same ones.

    A plan has its structure only: its constraint is drawn among the nodes that meet its conditions.
    """

    def __init__(
        self, graph: Graph, steps: Steps, chance: np.random.Generator, answer_types: Collection[str] | None = None
    ) -> None:
        self.graph, self.steps, self.chance, self._answer_types = graph, steps, chance, answer_types
        self._successes = Counter[tuple[str, EdgeStep]]()
        self._failures = Counter[tuple[str, EdgeStep]]()  # since the last success
        self._uses = Counter[EdgeStep]()

    def draw(self, pattern: QuestionPattern) -> tuple[EdgeStep, QuestionPlan | None] | None:
        """Return the step whose turn it is, and a plan that ends in it, if it gives one.

        Returns None alone if no step can serve the pattern any more.
        """
        # The step with the fewest successes under the pattern, then the fewest uses in all, ties by chance.
        name = pattern.name
        steps = self.steps.named if pattern.names_edges else self.steps.unnamed
        fitting = [step for step in steps if self._answer_types is None or step.end in self._answer_types]
        fresh = [step for step in fitting if self._failures[name, step] < _PATIENCE]
        step = self._rarest(fresh, lambda step: (self._successes[name, step], self._uses[step]))
        if step is None:
            return None
        if len(pattern.hops) > 1:
            conditions = self._intersection(pattern, step)
        else:
            walk: tuple[EdgeStep, ...] = (step,)
            table, (least, most) = self.steps.table(step), (2, MOST_CANDIDATES)
            if not pattern.is_constrained:
                least, most = 1, MOST_ANSWERS
            if pattern.hops == (2,):
                before = [first for first in self.steps.named if first.end == step.start]
                first = self._rarest(before, lambda first: (self._uses[first],))
                if first is None:
                    return step, None
                walk, table, (least, most) = (first, step), self.steps.table(first), (1, _MOST_BETWEEN_SAMPLES)
            anchor = self._by_size(table, least, most)
            conditions = None if anchor is None else (WalkCondition(anchor, walk),)
        return step, QuestionPlan(name, conditions) if conditions is not None else None

    def keep(self, pattern: QuestionPattern, plan: QuestionPlan) -> None:
        """Note that a plan became a question."""
        key = pattern.name, plan.conditions[0].steps[-1]
        self._successes[key] += 1
        self._failures[key] = 0
        self._uses.update(plan.steps)

    def drop(self, pattern: QuestionPattern, step: EdgeStep) -> None:
        """Note that a step served in vain."""
        self._failures[pattern.name, step] += 1

    def _rarest(self, steps: Sequence[EdgeStep], uses: Callable[[EdgeStep], tuple[int, ...]]) -> EdgeStep | None:
        if not steps:
            return None
        least = min(map(uses, steps))
        rarest = [step for step in steps if uses(step) == least]
        return rarest[int(self.chance.integers(len(rarest)))]

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
            further = self._next_condition(answer, common, used, least=least + len(pattern.hops) - len(conditions) - 1)
            if further is None:
                return None
            conditions.append(further)
            common = np.intersect1d(common, ends(self.graph, further), assume_unique=True)
        return tuple(conditions)

    def _next_condition(self, answer: int, common: Rows, used: Collection[int], *, least: int) -> WalkCondition | None:
        """Return a condition of a new anchor that the answer and some of the common rows meet, and not all of them."""
        arrays = self.graph.arrays
        # The steps that end in the answer, the least used first, ties by chance.
        entries = arrays.adjacency.entries(np.array([answer], np.int32))
        codes = (entries.kind.astype(np.int64) >> 1) * len(arrays.types.nodes) + arrays.node_types[entries.neighbor]
        pairs = (divmod(code, len(arrays.types.nodes)) for code in np.unique(codes).tolist())
        types = {(arrays.types.edges[edge], arrays.types.nodes[node]) for edge, node in pairs}
        end = arrays.type_at(answer)
        steps = [step for step in self.steps.named if step.end == end and (step.edge_type, step.start) in types]
        order = self.chance.permutation(len(steps)).tolist()
        for step in sorted((steps[at] for at in order), key=lambda step: self._uses[step]):
            table = self.steps.table(step)
            around = take(self.graph, np.array([answer], np.int32), step.turned)
            for row in self.chance.permutation(around)[:_SAMPLE_LOOKS].tolist():
                is_narrow = row not in used and 2 <= table.count(row) <= _MOST_AROUND
                if not is_narrow or anchor_fault(self.graph, row) is not None:
                    continue
                further = WalkCondition(row, (step,))
                if least <= len(np.intersect1d(common, ends(self.graph, further), assume_unique=True)) < len(common):
                    return further
        return None

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
        # A few looks for a node that can be named; if there is none, the plan is rejected for it and counted.
        for row in table.rows[self.chance.choice(places, _SAMPLE_LOOKS)].tolist():
            if anchor_fault(self.graph, row) is None:
                break
        return int(row)
