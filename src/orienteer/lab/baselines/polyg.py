"""`polyg`: the unknown parts of a question select the way to ask: a neighbourhood, paths, or Cypher.

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
1. Names in the classification are looked up: by id, name or alias, else by one search.
2. A refused query goes back to the model once, with the reason; `repair=False` leaves it at that.
3. The ranking holds the nodes of the last basic question, then those of earlier ones, then the nodes looked up by name.
4. A later question refers to an earlier result as #1; its first nodes are taken: ten in a query, three for a
   neighbourhood or paths.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from textwrap import indent
from typing import Any, Literal, NamedTuple

import numpy as np
from pydantic import Field

from orienteer.agents.answer import ask, parted, without
from orienteer.agents.workflow import Workflow, WorkflowConfig
from orienteer.graph.store import Graph
from orienteer.lab.baselines.baseline import TEXT, Baseline, refusal
from orienteer.llm.schema import object_of
from orienteer.protocols import LanguageModel, Run
from orienteer.records import JsonValue, Question, Result
from orienteer.retrieval.graph_text import schema_lines, title
from orienteer.text.sentences import CHARACTERS_A_TOKEN
from orienteer.tools.texts import LARGEST_K
from orienteer.tools.toolbox import Toolbox

BasicPattern = Literal["<s,*,*>", "<s,p,*>", "<s,*,o>", "<s,p,o>"]
_PATTERNS = {"enum": ["<s,*,*>", "<s,p,*>", "<s,*,o>", "<s,p,o>"]}
_BASIC = object_of({"question": TEXT, "pattern": _PATTERNS, "subject": TEXT, "object": TEXT}, optional=["object"])
PLAN = object_of({"questions": {"type": "array", "minItems": 1, "items": _BASIC}})
"""The classification: one basic question, or several if the question is nested."""
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


class BasicResult(NamedTuple):
    """The nodes and the text that a basic question gave."""

    basic: BasicQuestion
    rows: tuple[int, ...]
    text: str


class PolyG(Baseline[PolyGConfig]):
    """Classify, ask the graph in the way of the class, answer."""

    name = "polyg"
    settings = PolyGConfig

    def retrieve(self, question: Question, run: Run) -> Result:
        """Return the nodes of the basic questions, the last one's first."""
        return self._follow(question, run)[0]

    def retrieve_and_answer(self, question: Question, run: Run, model: LanguageModel) -> Result:
        """Answer from the results of all basic questions."""
        result, found = self._follow(question, run)
        if not found or result.stopped_by == "error":
            return without(result)
        share = self.config.context_tokens * CHARACTERS_A_TOKEN // len(found)
        texts = []
        for number, (basic, _, text) in enumerate(found, 1):
            text = indent(text, "  ")  # so that a node's text can pass for no line of ours
            text = text if len(text) <= share else f"{text[:share]} …"
            texts.append(f"#{number} {basic.pattern} {basic.question}\n{text}")
        user = "\n\n".join([*texts, f"Question: {question.text}"])
        return ask(result, "polyg-answer", user, parted, model=model, run=run, temperature=self.config.temperature)

    def _follow(self, question: Question, run: Run) -> tuple[Result, list[BasicResult]]:
        toolbox = Toolbox.full(self._graph, mode=self.config.mode, offers_cypher=True, names_first=False)
        workflow = self.start(question, run, toolbox)
        course = _Course(self._graph, workflow, self.config)
        result = workflow.follow_and_rank(
            course.run, lambda: workflow.present(course.reasons() or workflow.plain_search())
        )
        return result, course.results


class _Course:
    """One question's basic questions."""

    def __init__(self, graph: Graph, workflow: Workflow, config: PolyGConfig) -> None:
        self._graph, self._workflow, self._config = graph, workflow, config
        self._schema = "\n".join(schema_lines(graph))
        self._named: dict[int, str] = {}
        self.results: list[BasicResult] = []

    def run(self) -> None:
        """Classify, and ask each basic question in turn."""
        for basic in self._classified():
            ask = {"<s,*,*>": self._neighborhood, "<s,*,o>": self._between}.get(basic.pattern, self._queried)
            rows, texts = ask(basic)
            if not texts:
                self._workflow.notes.append(f"nothing to start from for {basic.question!r}")
            text = "\n".join(texts) or "nothing was found"
            self.results.append(BasicResult(basic, tuple(dict.fromkeys(rows)), text))

    def reasons(self) -> dict[int, str]:
        """Return the rows of the ranking: those of the last basic question come first, the named ones last."""
        reasons: dict[int, str] = {}
        for number, (basic, rows, _) in reversed(list(enumerate(self.results, 1))):
            for row in rows:
                reasons.setdefault(row, f"answers {basic.pattern} #{number}: {basic.question}")
        return reasons | {row: why for row, why in self._named.items() if row not in reasons}

    def _classified(self) -> list[BasicQuestion]:
        workflow, most = self._workflow, self._config.questions
        question = workflow.question.text
        shown = workflow.search(question, self._config.candidates)
        plan = workflow.ask_for(
            "polyg-classify",
            PLAN,
            _order_faults,
            True,
            schema=self._schema,
            candidates="\n".join(title(self._graph, row) for row in shown) or "none",
            question=question,
        )
        if plan is None or _order_faults(plan):
            workflow.notes.append(NO_PLAN)
            return []
        items = plan["questions"]
        basics = [
            BasicQuestion(item["question"], item["pattern"], item["subject"], item.get("object", "")) for item in items
        ]
        if len(basics) > most:
            workflow.notes.append(f"of {len(basics)} basic questions the first {most} are asked")
        workflow.marks += [basics[0].pattern if len(basics) == 1 else "nested"]
        return basics[:most]

    # ------------------------------------------------- a way for each class: rows, and texts for whoever answers

    def _neighborhood(self, basic: BasicQuestion) -> tuple[list[int], list[str]]:
        """Read a subject and what surrounds it."""
        arrays, rows, texts = self._graph.arrays, list[int](), list[str]()
        for row in self._rows(basic.subject, _ENDS):
            node, k = f"[{arrays.ids[row]}]", self._config.neighbors
            read = self._workflow.use("read_node", node=node)
            near = self._workflow.use("search_in_neighborhood", node=node, query=basic.question, k=k)
            rows += [row, *map(arrays.row, near.nodes)]
            texts += [read.text, near.text]
        return rows, texts

    def _between(self, basic: BasicQuestion) -> tuple[list[int], list[str]]:
        """Look for the shortest paths between a subject and an object."""
        arrays, rows, texts = self._graph.arrays, list[int](), list[str]()
        starts, ends = self._rows(basic.subject, _ENDS), self._rows(basic.object, _ENDS)
        for row in starts:
            for end in ends:
                paths = self._workflow.use("paths", a=f"[{arrays.ids[row]}]", b=f"[{arrays.ids[end]}]")
                rows += map(arrays.row, paths.nodes)
                texts.append(paths.text)
        inner = [row for row in rows if row not in (*starts, *ends)]  # comes before the ends, which the question names
        return [*inner, *rows], texts

    def _queried(self, basic: BasicQuestion) -> tuple[list[int], list[str]]:
        """Have one Cypher query written, and run it; a refused one is written once more."""
        graph, workflow, most = self._graph, self._workflow, self._config.carried
        ends = [*self._rows(basic.subject, most), *(self._rows(basic.object, most) if basic.object else ())]
        nodes = [f"{title(graph, row)}, id {graph.arrays.ids[row]!r}" for row in ends]
        refused, repairs = "", self._config.repair
        while True:
            reply = workflow.ask(
                "polyg-cypher",
                schema=self._schema,
                nodes="\n".join(nodes) or "none",
                pattern=basic.pattern,
                question=basic.question,
                refused=refused,
            )
            fenced = _FENCE.search(reply)
            query = (fenced[1] if fenced else reply).strip()
            found = workflow.use("cypher", query=query, k=self._config.neighbors)
            if not found.error or not repairs:
                break
            repairs = False
            refused = f"This query was refused:\n{query}\n{refusal(found)}"
        if found.error:
            workflow.notes.append(f"no query for {basic.question!r}: {refusal(found)}")
        return list(map(graph.arrays.row, found.nodes)), [found.text]

    def _rows(self, name: str, most: int) -> tuple[int, ...]:
        """Return the rows that a name means: a node, or for `#1` up to `most` nodes of that basic question's result."""
        notes, name = self._workflow.notes, name.strip()
        if reference := _REFERENCE.match(name):
            earlier = self.results[int(reference[1]) - 1].rows
            if len(earlier) > most:
                notes.append(f"of the {len(earlier)} nodes of {reference[0]} the first {most} are taken")
            return earlier[:most]
        if not name:
            notes.append("a basic question names nothing to start from")
            return ()
        rows, why = self._graph.arrays.candidates(name), f"named as {name!r}"
        if len(rows) > 1:
            best, _ = self._workflow.rank(np.unique(np.array(rows, np.int32)), 1)
            rows = [int(row) for row in best]
        if not rows:
            rows, why = list(self._workflow.search(name, 1)), f"fits the name {name!r} best"
            seen = title(self._graph, rows[0]) if rows else "nothing"
            notes.append(f"no node is called {name!r}: read as {seen}")
        self._named |= {row: why for row in rows if row not in self._named}
        return tuple(rows)


def _order_faults(plan: JsonValue) -> Sequence[str]:
    """Return the faults of a plan: a question that refers to itself or a later one, or that lacks its object."""
    assert isinstance(plan, dict)
    items: Any = plan["questions"]  # Any: JSON that fits PLAN
    faults = []
    for number, item in enumerate(items, 1):
        for end in ("subject", "object"):
            reference = _REFERENCE.match(item.get(end, "").strip())
            if reference and reference[1] not in map(str, range(1, number)):  # as text: no number is too long for that
                faults.append(
                    f"question {number} takes its {end} from {reference[0][:20]}, which is no earlier question"
                )
        if item["pattern"].endswith("o>") and not item.get("object", "").strip():
            faults.append(f"question {number} is {item['pattern']} and names no object")
    return faults
