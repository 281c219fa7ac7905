"""A quiz without a model: the grid of answer types, patterns and difficulties, every item proved twice.

The answers are read off the adjacency arrays (`gold.solve`) and asked of Cypher (`proof.prove`): an item on which the
two differ is dropped and counted as a `mismatch`. GraphScout (003), section 3.3 and appendix B.3.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable
from dataclasses import replace
from typing import get_args

import numpy as np

from orienteer.graph.store import Graph
from orienteer.lab.evaluation.examples import AnswerType
from orienteer.lab.evaluation.quiz_item import CELLS, Cell, QuizItem
from orienteer.lab.evaluation.running.manifest import graph_hash
from orienteer.lab.quizzes.checks import Ledger, anchor_fault, faults, is_leaking, is_redundant, is_trivial
from orienteer.lab.quizzes.drawer import Drawer
from orienteer.lab.quizzes.generator import PlannedItem, Progress, Quiz, check_numbers, generate
from orienteer.lab.quizzes.gold import Sizes, Solution, loosely, solve
from orienteer.lab.quizzes.plan import QuestionPlan
from orienteer.lab.quizzes.proof import Proof, gold_query
from orienteer.lab.quizzes.question_writer import QuestionWriter

_PATIENCE = 1_500  # plans in a row that a cell may fail
_PATIENCE_OF_A_NODE = 50  # the same, of a graph that has been looked through sooner
_TURNS = tuple(
    cell
    for turn in zip(
        *([cell for cell in CELLS if cell.answer_type == name] for name in get_args(AnswerType)), strict=True
    )
    for cell in turn
)
"""The cells in the order of their turns, the answer types one after another: a short quiz is balanced too."""
_MOST_CLUES = 10  # counted nodes that are clues: more are no trail to follow


def generate_quiz(
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
    check_numbers(count, random_seed)
    patience = min(_PATIENCE, _PATIENCE_OF_A_NODE * len(graph))
    attempt = _QuizMaker(graph, random_seed, avoid).attempt
    quiz = generate(_TURNS, count, attempt, patience=patience, progress=progress)
    return replace(quiz, exhausted=tuple(sorted(quiz.exhausted, key=CELLS.index)))


def balance(items: Iterable[QuizItem]) -> dict[Cell, int]:
    """Return how many items each legal cell has, in the order of the grid, empty ones too."""
    counts = Counter(item.cell for item in items)
    return {cell: counts[cell] for cell in CELLS}


class _QuizMaker:
    """Makes items of the plans that are drawn, and remembers them."""

    def __init__(self, graph: Graph, random_seed: int, avoid: Collection[str]) -> None:
        self._graph, self._random_seed = graph, random_seed
        self._avoid = frozenset(avoid)
        self._sha256 = graph_hash(graph)
        chance = np.random.default_rng(random_seed)
        rows = {row for node in self._avoid if (row := graph.arrays.ids.find(node)) is not None}
        self._drawer = Drawer(graph, chance, rows)
        self._question_writer = QuestionWriter(graph, chance)
        self._ledger = Ledger()

    def attempt(self, cell: Cell, number: int) -> PlannedItem[QuizItem] | str:
        """Return the next item of a cell, or the reason why the plan drawn makes none."""
        is_true = self._ledger.wanted(cell)
        plan = self._drawer.draw(cell, is_true)
        if isinstance(plan, str):
            return plan
        solution = solve(self._graph, plan)
        if solution is None:
            return "oversized"
        fault = _size_fault(cell, len(solution.rows), is_true) or self._fault(cell, plan, solution)
        if fault is not None:
            return fault
        question = self._question_writer.question(plan, cell.answer_type)
        if plan.first is not None and is_leaking(self._graph, question, [plan.anchors[0]]):
            return "leaking"
        item = self._item(cell, plan, solution, question, number)
        wrong = next(iter(faults(self._graph, item, avoid=self._avoid)), None) or self._ledger.fault(item)
        if wrong is not None:
            return wrong.reason
        self._ledger.keep(item)
        return PlannedItem(item, plan)

    def _fault(self, cell: Cell, plan: QuestionPlan, solution: Solution) -> str | None:
        """Return why a plan is no good question, whatever its words."""
        graph, rows = self._graph, solution.rows
        if not np.array_equal(loosely(graph, plan), rows):
            return "two readings"
        is_asked = plan.target is None and len(rows) > 0
        if is_asked and (is_trivial(graph, plan, rows) or is_redundant(graph, plan, rows)):
            return "easy"
        if cell.answer_type not in ("entity", "set"):
            return None
        return "unwritable" if "unwritable" in {anchor_fault(graph, row) for row in rows.tolist()} else None

    def _item(self, cell: Cell, plan: QuestionPlan, solution: Solution, question: str, number: int) -> QuizItem:
        graph, rows = self._graph, solution.rows.tolist()
        nodes = tuple(graph.arrays.ids[row] for row in rows) if cell.answer_type in ("entity", "set") else ()
        query = gold_query(graph, plan, cell.answer_type)
        return QuizItem(
            id=f"quiz-{self._random_seed}-{number:04}",
            question=question,
            nodes=nodes,
            answers=Proof(len(rows), nodes).answers(graph, cell.answer_type),
            answer_type=cell.answer_type,
            pattern=cell.pattern,
            difficulty=cell.difficulty,
            hops=plan.hops,
            anchors=tuple(graph.arrays.ids[row] for row in plan.named),
            edge_types=plan.edge_types,
            clue_nodes=tuple(graph.arrays.ids[row] for row in _clues(graph, plan, solution)),
            gold_query=query.text,
            gold_parameters=query.parameters,
            random_seed=self._random_seed,
            graph_sha256=self._sha256,
        )


def _size_fault(cell: Cell, number: int, is_true: bool) -> str | None:
    """Return why so many nodes may not answer an item of a cell; None where they may."""
    fault = Sizes.of(cell.answer_type, is_true).fault(number)
    if fault is not None and cell.answer_type == "boolean":
        return "unbalanced"
    return "not unique" if fault == "oversized" and cell.answer_type == "entity" else fault


def _clues(graph: Graph, plan: QuestionPlan, solution: Solution) -> list[int]:
    """Return the rows of a question and its answer: the named nodes, and witnesses on the walks to the answers."""
    clues = list(plan.named)
    if plan.first is not None:
        first = solve(graph, plan.first)
        assert first is not None
        clues += first.witnesses(plan.anchors[0])
    rows = solution.rows.tolist()
    for row in rows if len(rows) <= _MOST_CLUES else rows[:1]:
        clues += solution.witnesses(row)
    return list(dict.fromkeys(clues))
