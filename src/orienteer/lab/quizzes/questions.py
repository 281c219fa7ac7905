"""Open questions of any graph, with complete gold: no labels, no model, the same for the same seed."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from itertools import islice

import numpy as np

from orienteer.graph.store import Graph
from orienteer.index.arrays import Rows
from orienteer.lab.evaluation.examples import AnswerType, Difficulty
from orienteer.lab.evaluation.running.runs import graph_hash
from orienteer.lab.quizzes.drawer import Sampler
from orienteer.lab.quizzes.generator import Generated, PlannedItem, Progress, check_numbers, generate
from orienteer.lab.quizzes.gold import MOST_ANSWERS, Sizes, holding, solve
from orienteer.lab.quizzes.plan import PATTERNS, Constraint, QuestionPlan, difficulty, pattern_of
from orienteer.lab.quizzes.proof import Ledger, anchor_fault, is_leaking, is_redundant, is_trivial, literal_query
from orienteer.lab.quizzes.question_writer import QuestionWriter
from orienteer.lab.quizzes.steps import MOST_CANDIDATES, Steps, fitting
from orienteer.records import JsonValue, Record

_CONSTRAINTS = 4  # that are tried on a plan


class GeneratedQuestion(Record):
    """A line of a question file."""

    id: str
    question: str
    nodes: tuple[str, ...]
    """The ids of all nodes that answer, ascending."""
    answers: tuple[str, ...]
    """Their names, in that order, each once."""
    answer_type: AnswerType
    """`entity` for one node, `set` for several."""
    node_type: str
    """The type of the answers."""
    pattern: str
    difficulty: Difficulty
    hops: int
    """Edges from the answer to the furthest anchor."""
    anchor_count: int
    anchors: tuple[str, ...]
    """The ids of the nodes that the question names."""
    edge_types: tuple[str, ...]
    """The edge types that lead from the anchors to the answers; empty if any edge does."""
    gold_query: str
    """Cypher that returns the ids of the answers; with a constraint on words, of the nodes it chooses from."""
    constraint: dict[str, JsonValue] | None = None
    """`phrase` with the `terms` that an answer's name, aliases or text hold, or with the `property` it is of."""
    plain: str | None = None
    """The question in the words of the rules, if a model has rephrased it."""
    random_seed: int
    graph_sha256: str
    """As a run's manifest has it."""


def generate_questions(
    graph: Graph,
    count: int,
    *,
    random_seed: int = 0,
    patterns: Sequence[str] = (),
    answer_types: Sequence[str] = (),
    progress: Progress = lambda stage, count: None,
) -> Generated[str, GeneratedQuestion]:
    """Return questions of all patterns in turn, or of those named; fewer if the graph gives no more.

    The same graph, count, seed and filters give the same questions, in any process. Raises `BadOption` for an unknown
    pattern, a negative count or a negative seed, `UnknownType` for an unknown node type.
    """
    check_numbers(count, random_seed)
    names = [pattern_of(name).name for name in dict.fromkeys(patterns)] or list(PATTERNS)
    node_types = graph.arrays.types
    types = {node_types.nodes[number] for number in node_types.node_numbers(answer_types)} if answer_types else None
    return generate(names, count, _QuestionMaker(graph, random_seed, types).attempt, progress=progress)


class _QuestionMaker:
    """Makes questions of the plans that are drawn, and remembers them."""

    def __init__(self, graph: Graph, random_seed: int, answer_types: set[str] | None) -> None:
        self._graph, self._random_seed = graph, random_seed
        self._sha256 = graph_hash(graph)
        self._chance = np.random.default_rng(random_seed)
        self._sampler = Sampler(graph, Steps(graph), self._chance, answer_types)
        self._question_writer = QuestionWriter(graph, self._chance)
        self._ledger = Ledger()

    def attempt(self, name: str, number: int) -> PlannedItem[GeneratedQuestion] | str | None:
        """Return the next question of a pattern, why the plan drawn makes none, or None if there are no more."""
        pattern = PATTERNS[name]
        drawn = self._sampler.draw(pattern)
        if drawn is None:
            return None
        step, plan = drawn
        outcome = "no anchors" if plan is None else self._question_of(plan, number)
        if isinstance(outcome, str):
            self._sampler.drop(pattern, step)
        else:
            self._sampler.keep(pattern, outcome.plan)
        return outcome

    def _question_of(self, plan: QuestionPlan, number: int) -> PlannedItem[GeneratedQuestion] | str:
        graph = self._graph
        faults = (anchor_fault(graph, row) for row in plan.anchors)
        if (fault := next(filter(None, faults), None)) is not None:
            return fault
        solution = solve(graph, plan)
        if solution is None:
            return "oversized"
        rows, is_constrained = solution.rows, PATTERNS[plan.pattern].is_constrained
        if (fault := Sizes(1, MOST_CANDIDATES if is_constrained else MOST_ANSWERS).fault(len(rows))) is not None:
            return fault
        if not is_constrained and is_trivial(graph, plan, rows):
            return "trivial"
        if is_redundant(graph, plan, rows):
            return "redundant"
        if is_constrained:
            constraint = self._constraint(plan, rows)
            if isinstance(constraint, str):
                return constraint
            plan, rows = replace(plan, constraint=constraint), holding(graph, constraint, rows)
        question = self._question_writer.open_question(plan)
        if is_leaking(graph, question, rows.tolist()):
            return "leaking"
        identity = frozenset(plan.conditions), plan.constraint
        if self._ledger.has(question, identity):
            return "repeated"
        self._ledger.add(question, identity)
        return PlannedItem(self._line(plan, question, rows, number), plan)

    def _constraint(self, plan: QuestionPlan, candidates: Rows) -> Constraint | str:
        """Return a constraint that narrows the plan's answers, or the reason why none does."""
        graph, fault = self._graph, "no text"
        for constraint in islice(fitting(graph, candidates, self._chance, anchors=plan.anchors), _CONSTRAINTS):
            if not is_redundant(graph, replace(plan, constraint=constraint), holding(graph, constraint, candidates)):
                return constraint
            fault = "redundant"
        return fault

    def _line(self, plan: QuestionPlan, question: str, rows: Rows, number: int) -> GeneratedQuestion:
        arrays, gold, constraint = self._graph.arrays, rows.tolist(), plan.constraint
        described: dict[str, JsonValue] | None = None if constraint is None else {"phrase": constraint.phrase}
        if constraint is not None and described is not None:
            described |= {"property": constraint.property} if constraint.property else {"terms": [*constraint.terms]}
        return GeneratedQuestion(
            id=f"{plan.pattern}-{self._random_seed}-{number:04}",
            question=question,
            nodes=tuple(arrays.ids[row] for row in gold),
            answers=tuple(dict.fromkeys(arrays.names[row] or arrays.ids[row] for row in gold)),
            answer_type="entity" if len(gold) == 1 else "set",
            node_type=plan.answer_type,
            pattern=plan.pattern,
            difficulty=difficulty(plan, len(gold)),
            hops=max(PATTERNS[plan.pattern].hops),
            anchor_count=len(plan.anchors),
            anchors=tuple(arrays.ids[row] for row in plan.anchors),
            edge_types=plan.edge_types,
            gold_query=literal_query(self._graph, plan),
            constraint=described,
            random_seed=self._random_seed,
            graph_sha256=self._sha256,
        )
