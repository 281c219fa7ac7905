"""`polyg`: the unknown parts of a question decide how the graph is asked: a neighbourhood, paths, or Cypher.

Paper: Liu et al. 2025, PolyG, as GraphScout (003) describes it: sections 2.2, 3.3.1 and A.4. PolyG's own paper and code
were not read; the list under "ours" fills in what 003 only names.

    <s,*,*>   a subject alone              its own text and what surrounds it, which the program gathers
    <s,p,*>   a subject and a relation     one Cypher query, which the model writes
    <s,*,o>   a subject and an object      the shortest paths between them, which the program looks for
    <s,p,o>   all three                    one Cypher query, which the model writes
    nested    several of these             in turn; a later one starts from the result of an earlier one

1. nodes are retrieved for the question (003, A.4 adds this), and the model is shown them;
2. a call classifies the question, a nested one as several basic questions;
3. each basic question is asked of the graph, one query each; Cypher passes our guard and changes nothing;
4. a call answers from what they gave (`ask`; `search` ends before it).

Ours:
1. The names that the classification gives are looked up: by id, name or alias, else by one search.
2. A refused query goes back to the model once, with the reason; `repair=False` leaves it at that.
3. The ranking holds the nodes of the last basic question, then those of earlier ones, then the nodes looked up by name.
4. A later question refers to an earlier result as #1; the first nodes stand for it: ten in a query, three where a
   neighbourhood is read or paths are sought.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from textwrap import indent
from typing import Any, Literal, NamedTuple

import numpy as np
from pydantic import Field

from orienteer.agents.answer import ask, parted, without
from orienteer.agents.workflow import Workflow, WorkflowConfig
from orienteer.cypher.ladybug.database import engine
from orienteer.graph.store import Graph
from orienteer.protocols import LanguageModel, Run
from orienteer.records import JsonValue, Observation, Question, Result, Sampling
from orienteer.retrieval.graph_text import schema_lines, title
from orienteer.text.sentences import CHARACTERS_A_TOKEN
from orienteer.tools.texts import LARGEST_K
from orienteer.tools.toolbox import Toolbox

BasicPattern = Literal["<s,*,*>", "<s,p,*>", "<s,*,o>", "<s,p,o>"]
PLAN = {
    "type": "object",
    "properties": {
        "questions": {
            "type": "array",
            "minItems": 1,
            "items": {
                "type": "object",
                "properties": {
                    "question": {"type": "string"},
                    "pattern": {"enum": ["<s,*,*>", "<s,p,*>", "<s,*,o>", "<s,p,o>"]},
                    "subject": {"type": "string"},
                    "object": {"type": "string"},
                },
                "required": ["question", "pattern", "subject"],
                "additionalProperties": False,
            },
        }
    },
    "required": ["questions"],
    "additionalProperties": False,
}
"""What the classification gives: one basic question, or several where the question is nested."""
NO_PLAN = "the model's classification cannot be read: found by plain search"
_ENDS = 3  # nodes of either kind that a neighbourhood is read of, or that paths are sought between
_FENCE = re.compile(r"```(?:cypher)?\s*\n?(.*?)```", re.DOTALL | re.IGNORECASE)
_REFERENCE = re.compile(r"#(\d+)\Z")


class PolyGConfig(WorkflowConfig):
    """PolyG's settings."""

    candidates: int = Field(default=10, ge=1, le=LARGEST_K)
    """Nodes that are retrieved for the question and shown to the model; the number is ours."""
    questions: int = Field(default=4, ge=1, le=LARGEST_K)
    """Basic questions that a nested one is taken apart into, at the most; the number is ours."""
    neighbors: int = Field(default=20, ge=1, le=LARGEST_K)
    """Neighbours of a subject, or rows of a query, that are read; the number is ours."""
    carried: int = Field(default=10, ge=1, le=LARGEST_K)
    """Nodes of an earlier result that a later question starts from; the number is ours."""
    context_tokens: int = Field(default=10_000, ge=1)
    """Length of what the model that answers reads; each basic question has its share. The number is ours."""
    repair: bool = True
    """Whether a refused query goes back to the model, once."""


class BasicQuestion(NamedTuple):
    """A basic question, as the classification gives it."""

    question: str
    pattern: BasicPattern
    subject: str
    object: str


class PolyG:
    """Classify, ask the graph in the way of the class, answer."""

    name = "polyg"

    def __init__(self, graph: Graph, model: LanguageModel, config: PolyGConfig | None = None) -> None:
        """Raise `MissingExtra` without the extra `cypher`, before a model is paid."""
        self._graph, self._model, self.config = graph, model, config or PolyGConfig()
        engine()

    def retrieve(self, question: Question, run: Run) -> Result:
        """Return what the basic questions found, the last one's first."""
        return self._follow(question, run)[0]

    def retrieve_and_answer(self, question: Question, run: Run, model: LanguageModel) -> Result:
        """Answer from what each basic question gave."""
        result, course = self._follow(question, run)
        if not course.results or result.stopped_by == "error":
            return without(result)
        user = f"{course.in_words()}\n\nQuestion: {question.text}"
        sampling = Sampling(temperature=self.config.temperature, random_seed=run.random_seed)
        return ask(result, "polyg-answer", user, parted, model=model, run=run, sampling=sampling)

    def _follow(self, question: Question, run: Run) -> tuple[Result, _PolyGCourse]:
        config = self.config
        toolbox = Toolbox.full(self._graph, mode=config.mode, offers_cypher=True, names_first=False)
        workflow = Workflow(
            self._graph, self._model, run, question=question, method=self.name, config=config, toolbox=toolbox
        )
        course = _PolyGCourse(self._graph, workflow, config)
        result = workflow.follow_and_rank(
            course.run, lambda: workflow.present(course.reasons() or workflow.plain_search())
        )
        return result, course


class _BasicResult(NamedTuple):
    """The nodes and the text that a basic question gave."""

    basic: BasicQuestion
    rows: tuple[int, ...]
    text: str


@dataclass(slots=True)
class _PolyGCourse:
    """One question's basic questions."""

    graph: Graph
    workflow: Workflow
    config: PolyGConfig
    results: list[_BasicResult] = field(default_factory=list)
    looked_up: dict[int, str] = field(default_factory=dict)

    def in_words(self) -> str:
        """Return what the answering model reads: the results, each cut to an equal share of the room."""
        share = self.config.context_tokens * CHARACTERS_A_TOKEN // max(len(self.results), 1)
        texts = []
        for number, result in enumerate(self.results, 1):
            text = indent(result.text, "  ")  # so that a node's text can pass for no line of ours
            text = text if len(text) <= share else f"{text[:share]} …"
            texts.append(f"#{number} {result.basic.pattern} {result.basic.question}\n{text}")
        return "\n\n".join(texts)

    def run(self) -> None:
        """Classify, and ask each basic question in turn."""
        for basic in self._classified():
            ask = {"<s,*,*>": self._around, "<s,*,o>": self._between}.get(basic.pattern, self._queried)
            self.results.append(ask(basic))

    def reasons(self) -> dict[int, str]:
        """Return the rows of the ranking: those of the last basic question come first."""
        reasons: dict[int, str] = {}
        for number, result in reversed(list(enumerate(self.results, 1))):
            for row in result.rows:
                reasons.setdefault(row, f"answers {result.basic.pattern} #{number}: {result.basic.question}")
        return reasons | {row: why for row, why in self.looked_up.items() if row not in reasons}

    def _classified(self) -> list[BasicQuestion]:
        workflow = self.workflow
        question = workflow.question.text
        shown = workflow.search(question, self.config.candidates)
        plan = workflow.ask_for(
            "polyg-classify",
            PLAN,
            _order_faults,
            True,
            schema="\n".join(schema_lines(self.graph)),
            candidates="\n".join(title(self.graph, row) for row in shown) or "none",
            question=question,
        )
        if plan is None or _order_faults(plan):
            workflow.notes.append(NO_PLAN)
            return []
        basics = [
            BasicQuestion(item["question"], item["pattern"], item["subject"], item.get("object", ""))
            for item in _items(plan)
        ]
        most = self.config.questions
        if len(basics) > most:
            workflow.notes.append(f"of {len(basics)} basic questions the first {most} are asked")
        workflow.marks += [basics[0].pattern if len(basics) == 1 else "nested"]
        return basics[:most]

    # ------------------------------------------------------------------------------------------ a way for each class

    def _around(self, basic: BasicQuestion) -> _BasicResult:
        """Read a subject and what surrounds it."""
        rows, texts = [], []
        for row in self._rows(basic.subject, _ENDS):
            node = f"[{self.graph.arrays.ids[row]}]"
            read = self.workflow.use("read_node", node=node)
            near = self.workflow.use("search_in_neighborhood", node=node, query=basic.question, k=self.config.neighbors)
            rows += [row, *map(self.graph.arrays.row, near.nodes)]
            texts += [read.text, near.text]
        return self._result(basic, rows, texts)

    def _between(self, basic: BasicQuestion) -> _BasicResult:
        """Look for the shortest paths between a subject and an object."""
        rows: list[int] = []
        texts: list[str] = []
        starts, ends = self._rows(basic.subject, _ENDS), self._rows(basic.object, _ENDS)
        for row in starts:
            for end in ends:
                paths = self.workflow.use(
                    "paths", a=f"[{self.graph.arrays.ids[row]}]", b=f"[{self.graph.arrays.ids[end]}]"
                )
                rows += map(self.graph.arrays.row, paths.nodes)
                texts.append(paths.text)
        inner = [row for row in rows if row not in (*starts, *ends)]  # comes before the ends, which the question names
        return self._result(basic, [*inner, *rows], texts)

    def _queried(self, basic: BasicQuestion) -> _BasicResult:
        """Have one Cypher query written, and run it."""
        most = self.config.carried
        ends = [*self._rows(basic.subject, most), *(self._rows(basic.object, most) if basic.object else ())]
        query = self._query(basic, ends, "")
        rows = self.workflow.use("cypher", query=query, k=self.config.neighbors)
        if rows.error and self.config.repair:
            query = self._query(basic, ends, f"This query was refused:\n{query}\n{_first_line(rows)}")
            rows = self.workflow.use("cypher", query=query, k=self.config.neighbors)
        if rows.error:
            self.workflow.notes.append(f"no query for {basic.question!r}: {_first_line(rows)}")
        return self._result(basic, list(map(self.graph.arrays.row, rows.nodes)), [rows.text])

    def _query(self, basic: BasicQuestion, ends: Sequence[int], refused: str) -> str:
        """Return the query that the model writes; `refused` tells it of an earlier one."""
        nodes = [f"{title(self.graph, row)}, id {self.graph.arrays.ids[row]!r}" for row in ends]
        reply = self.workflow.ask(
            "polyg-cypher",
            schema="\n".join(schema_lines(self.graph)),
            nodes="\n".join(nodes) or "none",
            pattern=basic.pattern,
            question=basic.question,
            refused=refused,
        )
        fenced = _FENCE.search(reply)
        return (fenced[1] if fenced else reply).strip()

    # ------------------------------------------------------------------------------------------------ nodes by name

    def _rows(self, name: str, most: int) -> tuple[int, ...]:
        """Return the rows that a name means: a node, or for `#1` up to `most` nodes of that basic question's result."""
        if reference := _REFERENCE.match(name.strip()):
            earlier = self.results[int(reference[1]) - 1].rows
            if len(earlier) > most:
                notes = self.workflow.notes
                notes.append(f"of the {len(earlier)} nodes of {reference[0]} the first {most} are taken")
            return earlier[:most]
        if not name.strip():
            self.workflow.notes.append("a basic question names nothing to start from")
            return ()
        rows = self.graph.arrays.candidates(name.strip())
        if len(rows) > 1:
            best, _ = self.workflow.rank(np.unique(np.array(rows, np.int32)), 1)
            rows = [int(row) for row in best]
        why = f"named as {name!r}"
        if not rows:
            rows = list(self.workflow.search(name, 1))
            why = f"fits the name {name!r} best"
            seen = title(self.graph, rows[0]) if rows else "nothing"
            self.workflow.notes.append(f"no node is called {name!r}: read as {seen}")
        self.looked_up |= {row: why for row in rows if row not in self.looked_up}
        return tuple(rows)

    def _result(self, basic: BasicQuestion, rows: Sequence[int], texts: Sequence[str]) -> _BasicResult:
        if not texts:
            self.workflow.notes.append(f"nothing to start from for {basic.question!r}")
        return _BasicResult(basic, tuple(dict.fromkeys(rows)), "\n".join(texts) or "nothing was found")


def _items(plan: dict[str, Any]) -> list[dict[str, Any]]:  # Any: JSON that fits PLAN
    questions: list[dict[str, Any]] = plan["questions"]
    return questions


def _order_faults(plan: JsonValue) -> Sequence[str]:
    """Return the faults of a plan: a question that refers to itself or a later one, or that lacks its object."""
    assert isinstance(plan, dict)
    faults = []
    for number, item in enumerate(_items(plan), 1):
        for end in ("subject", "object"):
            reference = _REFERENCE.match(item.get(end, "").strip())
            if reference and reference[1] not in map(str, range(1, number)):  # as text: no number is too long for that
                faults.append(
                    f"question {number} takes its {end} from {reference[0][:20]}, which is no earlier question"
                )
        if item["pattern"].endswith("o>") and not item.get("object", "").strip():
            faults.append(f"question {number} is {item['pattern']} and names no object")
    return faults


def _first_line(observation: Observation) -> str:
    return observation.text.partition("\n")[0]
