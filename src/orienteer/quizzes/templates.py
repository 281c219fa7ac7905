"""A quiz without a model: the grid from templates and the graph's own statistics, every item proved twice.

What answers is read off the adjacency arrays (`plan.solve`) and asked of Cypher (`proving.prove`): an item on which the
two do not agree is never kept, and is counted as a `mismatch`.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Collection
from typing import get_args

import numpy as np

from orienteer.errors import BadOption
from orienteer.evaluation.examples import AnswerType
from orienteer.evaluation.grid import CELLS, Cell
from orienteer.evaluation.quiz_item import QuizItem
from orienteer.evaluation.running.manifest import graph_hash
from orienteer.graph.store import Graph
from orienteer.index.arrays import Rows
from orienteer.quizzes.drawer import Drawer, Sizes
from orienteer.quizzes.gold_query import gold_query
from orienteer.quizzes.plan import Found, Plan, loosely, solve
from orienteer.quizzes.proof import Proof
from orienteer.quizzes.questions.rejection import anchor_fault, is_leaking
from orienteer.quizzes.quiz import Quiz
from orienteer.quizzes.rules import Kept, faults
from orienteer.quizzes.wording import Wording

_PATIENCE = 1_500  # plans in a row that a cell may fail
_PATIENCE_OF_A_NODE = 50  # the same, of a graph that has been looked through sooner
_TURNS = tuple(
    cell
    for turn in zip(*([cell for cell in CELLS if cell.answer_type == one] for one in get_args(AnswerType)), strict=True)
    for cell in turn
)
"""The cells in the order of their turns, the answer types one after another: a short quiz is balanced too."""
_MOST_CLUES = 10  # counted nodes that are clues: more are no trail to follow
Progress = Callable[[str, int], None]


def generate(
    graph: Graph,
    count: int,
    *,
    random_seed: int = 0,
    avoid: Collection[str] = frozenset(),
    progress: Progress = lambda stage, count: None,
) -> Quiz:
    """Return items of all legal cells in turn; fewer where the graph gives no more.

    The same graph, count, seed and ids to avoid give the same items, in any process. Raises `BadOption` for a negative
    count or seed, `MissingExtra` without Cypher.
    """
    if count < 0 or random_seed < 0:
        raise BadOption(f"the number of questions is {count} and the seed {random_seed}: both must be 0 or more")
    writer = _Writer(graph, random_seed, avoid)
    open_, items = list(_TURNS), list[QuizItem]()
    while open_ and len(items) < count:
        for cell in list(open_):
            if len(items) == count:
                break
            item = writer.write(cell, len(items) + 1)
            if item is None:
                open_.remove(cell)
                continue
            items.append(item)
            progress("questions", len(items))
    exhausted = tuple(cell for cell in CELLS if cell not in open_)
    return Quiz(tuple(items), count, writer.rejected, exhausted)


class _Writer:
    """Draws until a plan is an item, and remembers what was kept."""

    def __init__(self, graph: Graph, random_seed: int, avoid: Collection[str]) -> None:
        self._graph, self._random_seed = graph, random_seed
        self._avoid = frozenset(avoid)
        self._sha256 = graph_hash(graph)
        chance = np.random.default_rng(random_seed)
        rows = {row for node in self._avoid if (row := graph.ids.find(node)) is not None}
        self._drawer = Drawer(graph, chance, rows)
        self._wording = Wording(graph, chance)
        self._kept = Kept()
        self.rejected = Counter[str]()

    def write(self, cell: Cell, number: int) -> QuizItem | None:
        """Return the next item of a cell; None where there are no more."""
        for _ in range(min(_PATIENCE, _PATIENCE_OF_A_NODE * len(self._graph))):
            plan = self._drawer.draw(cell, self._kept.wanted(cell))
            written = plan if isinstance(plan, str) else self._item(cell, plan, number)
            if isinstance(written, QuizItem):
                self._kept.keep(written)
                return written
            self.rejected[written] += 1
        return None

    def _item(self, cell: Cell, plan: Plan, number: int) -> QuizItem | str:
        """Return the item of a plan, or the reason why it makes none."""
        found = solve(self._graph, plan)
        if found is None:
            return "oversized"
        reason = self._size_fault(cell, found.rows) or self._plan_fault(cell, plan, found)
        if reason is not None:
            return reason
        question = self._wording.question(plan, cell.answer_type)
        if plan.first is not None and is_leaking(self._graph, question, [plan.conditions[0].anchor]):
            return "leaking"
        item = self._written(cell, plan, found, question, number)
        wrong = next(iter(faults(self._graph, item, avoid=self._avoid)), None) or self._kept.fault(item)
        return item if wrong is None else wrong.reason

    def _size_fault(self, cell: Cell, rows: Rows) -> str | None:
        sizes = Sizes.of(cell.answer_type, self._kept.wanted(cell))
        if sizes.hold(len(rows)):
            return None
        if cell.answer_type == "boolean":
            return "unbalanced"
        if len(rows) < sizes.least:
            return "empty"
        return "not unique" if cell.answer_type == "entity" else "oversized"

    def _plan_fault(self, cell: Cell, plan: Plan, found: Found) -> str | None:
        """Return why a plan is no good question, whatever its words."""
        graph = self._graph
        if not np.array_equal(loosely(graph, plan), found.rows):
            return "two readings"
        if len(found.rows) and self._is_easy(plan, found.rows):
            return "easy"
        if cell.answer_type not in ("entity", "set"):
            return None
        answer_faults = {anchor_fault(graph, int(row)) for row in found.rows}
        return "unwritable" if "unwritable" in answer_faults else None

    def _is_easy(self, plan: Plan, rows: Rows) -> bool:
        """Tell whether all nodes of the type answer, or the same ones without one of the conditions."""
        graph = self._graph
        if plan.target is not None:
            return False
        answered = plan.conditions[0].steps[-1].end
        given = sum(graph.type_at(row) == answered for row in plan.given)
        if len(rows) >= graph.schema.node_types[answered] - given:
            return True
        alone = [solve(graph, Plan(plan.pattern, (one,))) for one in plan.conditions if len(plan.conditions) > 1]
        given_rows = np.array(plan.given)
        return any(one is not None and len(one.rows[~np.isin(one.rows, given_rows)]) <= len(rows) for one in alone)

    def _written(self, cell: Cell, plan: Plan, found: Found, question: str, number: int) -> QuizItem:
        graph = self._graph
        nodes = tuple(graph.ids[row] for row in found.rows.tolist()) if cell.answer_type in ("entity", "set") else ()
        query = gold_query(graph, plan, cell.answer_type)
        proof = Proof(len(found.rows), nodes)
        return QuizItem(
            id=f"quiz-{self._random_seed}-{number:04}",
            question=question,
            nodes=nodes,
            answers=proof.answers(graph, cell.answer_type),
            answer_type=cell.answer_type,
            pattern=cell.pattern,
            difficulty=cell.difficulty,
            hops=plan.hops,
            anchors=tuple(graph.ids[row] for row in plan.named),
            edge_types=tuple(dict.fromkeys(step.edge_type for step in plan.steps if step.edge_type is not None)),
            clue_nodes=tuple(graph.ids[row] for row in _clues(graph, plan, found)),
            gold_query=query.text,
            gold_parameters=query.parameters,
            random_seed=self._random_seed,
            graph_sha256=self._sha256,
        )


def _clues(graph: Graph, plan: Plan, found: Found) -> list[int]:
    """Return the rows that question and answer are made of: what is given, and what leads to what answers."""
    clues = list(plan.named)
    if plan.first is not None:
        first = solve(graph, plan.first)
        assert first is not None
        clues += first.witnesses(plan.conditions[0].anchor)
    shown = found.rows.tolist() if len(found.rows) <= _MOST_CLUES else found.rows.tolist()[:1]
    for row in shown:
        clues += found.witnesses(row)
    return list(dict.fromkeys(clues))
