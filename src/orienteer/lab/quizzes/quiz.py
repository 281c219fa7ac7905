"""A quiz without a model: the grid of answer types, patterns and difficulties, every item proved twice.

The answers are read off the adjacency arrays (`gold.solve`) and asked of Cypher (`proof.prove`): an item on which the
two differ is dropped and counted as a `mismatch`. GraphScout (003), section 3.3 and appendix B.3.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Collection, Iterable
from dataclasses import replace
from pathlib import Path
from typing import get_args

import numpy as np
from pydantic import ValidationError

from orienteer.errors import BadInput
from orienteer.graph.store import Graph
from orienteer.index.arrays import Rows
from orienteer.lab.evaluation.examples import CELLS, AnswerType, Cell, Example, QuizItem
from orienteer.lab.evaluation.running.runs import graph_hash
from orienteer.lab.quizzes import proof
from orienteer.lab.quizzes.drawer import Drawer
from orienteer.lab.quizzes.generator import PlannedItem, Progress, Quiz, check_numbers, generate
from orienteer.lab.quizzes.gold import Sizes, Solution, loosely, solve
from orienteer.lab.quizzes.plan import QuestionPlan
from orienteer.lab.quizzes.question_writer import QuestionWriter
from orienteer.records import Record
from orienteer.retrieval.mentions import longest_names

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
    """Return items of all legal cells in turn; fewer if the graph gives no more.

    The same graph, count, seed and ids to avoid give the same items, in any process. Raises `BadOption` for a negative
    count or seed.
    """
    check_numbers(count, random_seed)
    patience = min(_PATIENCE, _PATIENCE_OF_A_NODE * len(graph))
    attempt = _QuizMaker(graph, random_seed, avoid).attempt
    quiz = generate(_TURNS, count, attempt, patience=patience, progress=progress)
    return replace(quiz, exhausted=tuple(sorted(quiz.exhausted, key=CELLS.index)))


def balance(items: Iterable[QuizItem]) -> dict[Cell, int]:
    """Return the number of items of each legal cell, in the order of the grid, zeros too."""
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
        self._ledger = proof.Ledger()

    def attempt(self, cell: Cell, number: int) -> PlannedItem[QuizItem] | str:
        """Return the next item of a cell, or the reason why the plan drawn makes none."""
        graph, is_true = self._graph, self._ledger.wanted(cell)
        plan = self._drawer.draw(cell, is_true)
        if isinstance(plan, str):
            return plan
        solution = solve(graph, plan)
        if solution is None:
            return "oversized"
        if (fault := _fault(graph, cell, plan, solution.rows, is_true)) is not None:
            return fault
        question = self._question_writer.question(plan, cell.answer_type)
        if plan.first is not None and proof.is_leaking(graph, question, [plan.anchors[0]]):
            return "leaking"
        item = self._item(cell, plan, solution, question, number)
        wrong = next(iter(proof.faults(graph, item, avoid=self._avoid)), None) or self._ledger.fault(item)
        if wrong is not None:
            return wrong.reason
        self._ledger.keep(item)
        return PlannedItem(item, plan)

    def _item(self, cell: Cell, plan: QuestionPlan, solution: Solution, question: str, number: int) -> QuizItem:
        graph, rows, ids = self._graph, solution.rows.tolist(), self._graph.arrays.ids
        nodes = tuple(ids[row] for row in rows) if cell.answer_type in ("entity", "set") else ()
        query = proof.gold_query(graph, plan, cell.answer_type)
        # The nodes of question and answer: the named ones, and witnesses on the walks to the answers.
        clues = list(plan.named)
        if plan.first is not None:
            first = solve(graph, plan.first)
            assert first is not None
            clues += first.witnesses(plan.anchors[0])
        for row in rows if len(rows) <= _MOST_CLUES else rows[:1]:
            clues += solution.witnesses(row)
        return QuizItem(
            id=f"quiz-{self._random_seed}-{number:04}",
            question=question,
            nodes=nodes,
            answers=proof.Proof(len(rows), nodes).answers(graph, cell.answer_type),
            answer_type=cell.answer_type,
            pattern=cell.pattern,
            difficulty=cell.difficulty,
            hops=plan.hops,
            anchors=tuple(ids[row] for row in plan.named),
            edge_types=plan.edge_types,
            clue_nodes=tuple(ids[row] for row in dict.fromkeys(clues)),
            gold_query=query.text,
            gold_parameters=query.parameters,
            random_seed=self._random_seed,
            graph_sha256=self._sha256,
        )


def _fault(graph: Graph, cell: Cell, plan: QuestionPlan, rows: Rows, is_true: bool) -> str | None:
    """Return the fault of a plan with these answers, whatever its words, or None."""
    kind = cell.answer_type
    if (fault := Sizes.of(kind, is_true).fault(len(rows))) is not None:
        if kind == "boolean":
            return "unbalanced"
        return "not unique" if fault == "oversized" and kind == "entity" else fault
    if not np.array_equal(loosely(graph, plan), rows):
        return "two readings"
    is_asked = plan.target is None and len(rows) > 0
    if is_asked and (proof.is_trivial(graph, plan, rows) or proof.is_redundant(graph, plan, rows)):
        return "easy"
    if kind in ("entity", "set") and "unwritable" in {proof.anchor_fault(graph, row) for row in rows.tolist()}:
        return "unwritable"
    return None


# Files of questions: their lines, the items read from them, and the nodes that other questions should avoid.


_FIELDS = ("anchors", "clue_nodes")
"""Fields of a question that hold the ids of the nodes it was made of."""
_LONGEST = 12  # words of a name
_SHORT = 3  # letters of a word in small letters that is a word, and no name


def as_lines(items: Iterable[Record]) -> str:
    """Return questions as JSON lines, without fields that do not apply."""
    records = (item.model_dump(mode="json", exclude_none=True) for item in items)
    return "".join(json.dumps(record, ensure_ascii=False) + "\n" for record in records)


def read_quiz(path: Path) -> tuple[QuizItem, ...]:
    """Return the items of a file, in order. Raises `BadInput` with the first bad line, or if two have one id."""
    try:
        text = path.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise BadInput(f"{path} cannot be read as a quiz ({error}): name what orienteer quiz -o wrote") from error
    items: dict[str, QuizItem] = {}
    for number, line in enumerate(text.split("\n"), 1):
        if not line.strip():
            continue
        try:
            item = QuizItem.model_validate_json(line)
        except ValidationError as error:
            first = error.errors()[0]
            place = ".".join(map(str, first["loc"]))
            raise BadInput(f"{path}, line {number}, is no item of a quiz: {place} {first['msg']}") from error
        if item.id in items:
            raise BadInput(f"{path}, line {number}: a second item has the id {item.id!r}")
        items[item.id] = item
    return tuple(items.values())


def nodes_of(graph: Graph, examples: Iterable[Example]) -> frozenset[str]:
    """Return the ids of nodes that questions name, or that answer them.

    Gold nodes and fields of ids are taken as they are. Names in the texts of answers and questions are looked up, the
    longest first, and every node of a name counts.
    """
    return frozenset(node for example in examples for node in nodes_in(graph, example))


def nodes_in(graph: Graph, example: Example) -> set[str]:
    """Return the ids of nodes that a question names, or that answer it, as `nodes_of` does."""
    arrays, nodes = graph.arrays, set[str]()
    lists: list[Iterable[object]] = [example.gold.nodes]
    lists += [value for name in _FIELDS if isinstance(value := example.fields.get(name), list)]
    for ids in lists:
        nodes.update(node for node in ids if isinstance(node, str) and arrays.ids.find(node) is not None)
    for text in (example.question.text, *example.gold.answers):
        words, written = arrays.tokenizer.words(text), set(text.replace(",", " ").replace("?", " ").split())

        def named(begin: int, end: int, words: list[str] = words, written: set[str] = written) -> set[int]:
            name = words[begin:end]
            if len(name) == 1 and len(name[0]) <= _SHORT and name[0] in written:
                return set()
            return {link.row for link in arrays.name_index.called(" ".join(name))}

        spans = longest_names(len(words), _LONGEST, named)  # no word is in two names
        nodes.update(arrays.ids[row] for span in spans for row in span.rows)
    return nodes
