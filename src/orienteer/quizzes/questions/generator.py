"""Questions from a graph: drafts drawn, judged and put into words, the same for the same seed."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from itertools import islice

import numpy as np

from orienteer.errors import BadOption
from orienteer.evaluation.examples import AnswerType
from orienteer.evaluation.grid import Difficulty
from orienteer.evaluation.running.manifest import graph_hash
from orienteer.graph.store import Graph
from orienteer.index.arrays import Rows
from orienteer.quizzes.questions import constraints, gold, rejection
from orienteer.quizzes.questions.draft import PATTERNS, Draft, Pattern, difficulty, pattern_of
from orienteer.quizzes.questions.phrasing import Phrasing
from orienteer.quizzes.questions.sampler import Sampler
from orienteer.quizzes.questions.steps import Steps
from orienteer.records import JsonValue, Record

_CONSTRAINTS = 4  # that are tried on a draft
Progress = Callable[[str, int], None]


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
    """Edges from the answer to the anchor that is furthest from it."""
    anchor_count: int
    anchors: tuple[str, ...]
    """The ids of the nodes that the question names."""
    edge_types: tuple[str, ...]
    """What leads from the anchors to the answers; empty where any edge does."""
    gold_query: str
    """Cypher that returns the ids of the answers; with a constraint on words, of the nodes it chooses from."""
    constraint: dict[str, JsonValue] | None = None
    """`phrase` with the `terms` that an answer's name, aliases or text hold, or with the `property` it is of."""
    plain: str | None = None
    """The question as the rules put it, where a model has put it in other words."""
    random_seed: int
    graph_sha256: str
    """As a run's manifest has it."""


@dataclass(frozen=True, slots=True)
class Generated:
    """The questions that were found, and why others were not."""

    questions: tuple[GeneratedQuestion, ...]
    drafts: tuple[Draft, ...]
    """What each question was made of, for whoever makes more of it."""
    asked: int
    """How many were wanted."""
    rejected: Counter[str]
    """Drafts that became no question, by `rejection.REASONS`."""
    exhausted: tuple[str, ...]
    """Patterns of which the graph gave no more."""


def generate(
    graph: Graph,
    count: int,
    *,
    random_seed: int = 0,
    patterns: Sequence[str] = (),
    answer_types: Sequence[str] = (),
    progress: Progress = lambda stage, count: None,
) -> Generated:
    """Return questions of all patterns in turn, or of those named; fewer where the graph gives no more.

    The same graph, count, seed and filters give the same questions, in any process. Raises `BadOption` for an unknown
    pattern, a negative count or a negative seed, `UnknownType` for a node type that is not there.
    """
    if count < 0 or random_seed < 0:
        raise BadOption(f"the number of questions is {count} and the seed {random_seed}: both must be 0 or more")
    wanted = [pattern_of(name) for name in dict.fromkeys(patterns)] or list(PATTERNS.values())
    types = {graph.types.nodes[number] for number in graph.types.node_numbers(answer_types)} if answer_types else None
    drawer = _Drawer(graph, random_seed, types)
    sha256 = graph_hash(graph)
    open_, questions, drafts = list(wanted), list[GeneratedQuestion](), list[Draft]()
    while open_ and len(questions) < count:
        for pattern in list(open_):
            if len(questions) == count:
                break
            found = drawer.draw(pattern)
            if found is None:
                open_.remove(pattern)
                continue
            drafts.append(found.draft)
            questions.append(_line(graph, found, len(questions) + 1, random_seed, sha256))
            progress("questions", len(questions))
    exhausted = tuple(pattern.name for pattern in wanted if pattern not in open_)
    return Generated(tuple(questions), tuple(drafts), count, drawer.rejected, exhausted)


@dataclass(frozen=True, slots=True)
class _Found:
    draft: Draft
    question: str
    gold: tuple[int, ...]


class _Drawer:
    """Draws until a draft is a question, and remembers what was asked."""

    def __init__(self, graph: Graph, random_seed: int, answer_types: set[str] | None) -> None:
        self._graph = graph
        self._chance = np.random.default_rng(random_seed)
        self._sampler = Sampler(graph, Steps(graph), self._chance, answer_types)
        self._phrasing = Phrasing(graph, self._chance)
        self._asked = set[str]()
        self._drafted = set[tuple[object, ...]]()
        self.rejected = Counter[str]()

    def draw(self, pattern: Pattern) -> _Found | None:
        """Return the next question of a pattern; None where there are no more."""
        while (drawn := self._sampler.draw(pattern)) is not None:
            step, draft = drawn
            judged = "no anchors" if draft is None else self._judge(draft)
            if isinstance(judged, _Found):
                self._sampler.keep(judged.draft)
                self._asked.add(_folded(judged.question))
                self._drafted.add(_identity(judged.draft))
                return judged
            self.rejected[judged] += 1
            self._sampler.drop(pattern, step)
        return None

    def _judge(self, draft: Draft) -> _Found | str:
        """Return the question of a draft, or the reason why it makes none."""
        graph = self._graph
        faults = (rejection.anchor_fault(graph, row) for row in draft.anchors)
        if (fault := next(filter(None, faults), None)) is not None:
            return fault
        found = gold.structural(graph, draft.conditions)
        if draft.pattern.is_constrained:
            constrained = self._constrained(draft, found)
            if isinstance(constrained, str):
                return constrained
            draft, found = constrained, gold.answers(graph, constrained)
        elif (fault := rejection.size_fault(graph, draft, found)) is not None:
            return fault
        elif rejection.is_redundant(graph, draft, found):
            return "redundant"
        rows = tuple(found.tolist())
        question = self._phrasing.question(draft)
        if rejection.is_leaking(graph, question, rows):
            return "leaking"
        if _identity(draft) in self._drafted or _folded(question) in self._asked:
            return "repeated"
        return _Found(draft, question, rows)

    def _constrained(self, draft: Draft, candidates: Rows) -> Draft | str:
        """Return a draft with a constraint that it needs, as it needs its conditions, or why there is none."""
        if not len(candidates):
            return "empty"
        if len(candidates) > constraints.MOST_CANDIDATES:
            return "oversized"
        if rejection.is_redundant(self._graph, draft, candidates):
            return "redundant"
        fault = "no text"
        ways = constraints.fitting(self._graph, candidates, self._chance, anchors=draft.anchors)
        for constraint in islice(ways, _CONSTRAINTS):
            full = replace(draft, constraint=constraint)
            if not rejection.is_redundant(self._graph, full, gold.holding(self._graph, constraint, candidates)):
                return full
            fault = "redundant"
        return fault


def _identity(draft: Draft) -> tuple[object, ...]:
    return (frozenset(draft.conditions), draft.constraint)


def _folded(question: str) -> str:
    return " ".join(question.casefold().split())


def _line(graph: Graph, found: _Found, number: int, random_seed: int, sha256: str) -> GeneratedQuestion:
    draft = found.draft
    steps = [step for condition in draft.conditions for step in condition.steps]
    constraint: dict[str, JsonValue] | None = None
    if draft.constraint is not None:
        how = (
            {"property": draft.constraint.property}
            if draft.constraint.property
            else {"terms": [*draft.constraint.terms]}
        )
        constraint = {"phrase": draft.constraint.phrase, **how}
    return GeneratedQuestion(
        id=f"{draft.pattern.name}-{random_seed}-{number:04}",
        question=found.question,
        nodes=tuple(graph.ids[row] for row in found.gold),
        answers=tuple(dict.fromkeys(graph.names[row] or graph.ids[row] for row in found.gold)),
        answer_type="entity" if len(found.gold) == 1 else "set",
        node_type=draft.answer_type,
        pattern=draft.pattern.name,
        difficulty=difficulty(draft, len(found.gold)),
        hops=max(draft.pattern.hops),
        anchor_count=len(draft.anchors),
        anchors=tuple(graph.ids[row] for row in draft.anchors),
        edge_types=tuple(dict.fromkeys(step.edge_type for step in steps if step.edge_type is not None)),
        gold_query=gold.gold_query(graph, draft),
        constraint=constraint,
        random_seed=random_seed,
        graph_sha256=sha256,
    )


def as_lines(questions: Iterable[GeneratedQuestion]) -> str:
    """Return questions as JSON lines, what does not apply left out."""
    return "".join(
        json.dumps(one.model_dump(mode="json", exclude_none=True), ensure_ascii=False) + "\n" for one in questions
    )
