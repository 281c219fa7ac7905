"""`cypher`: nodes are retrieved, the model writes one Cypher query, it is run, the model answers from its rows.

Paper: Cypher as a baseline of GraphScout (003, table 1, appendix A.4, after PolyG); the node retrieval was added by
003. Neither gives a prompt.

1. nodes are retrieved for the question: those that it names, then what one search finds (`core_entities`);
2. a call writes one query from the schema and these nodes;
3. it is executed read-only, behind our guard, for ten seconds at the most;
4. a call answers from the rows.

A refused query goes back to the model with the reason, up to `repair` times; the paper's number is 0.

The ranking holds the nodes of the rows, in their order, then the retrieved ones; nodes that the answer names come
first. Where no query was accepted there is nothing to answer from: no call is made, and the answer is *not in the
evidence*. `search` ends after 3.

Deviations:
1. The guard refuses what changes a graph, runs without end or is not understood, and says what to write instead.
2. Nodes are retrieved by BM25 unless `mode` says otherwise, and by exact name before that.
3. The model sees as many rows as 6,000 tokens hold, at most 100, and their total number.
4. The prompts are our own.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field

from pydantic import Field

from orienteer.agents.answer import NOT_THERE, AnswerParts, ask, citations, parted, without
from orienteer.agents.workflow import Workflow, WorkflowConfig
from orienteer.cypher.session import Cypher
from orienteer.graph.store import Graph
from orienteer.lab.baselines.action import split
from orienteer.lab.baselines.core_entities import CoreEntities
from orienteer.protocols import LanguageModel, Run
from orienteer.records import Observation, Question, Ranked, Result, Sampling
from orienteer.retrieval.graph_text import schema_lines, title
from orienteer.retrieval.mentions import named_in, occurrences
from orienteer.text.lines import flat, single_spaced
from orienteer.tools.parameters import LARGEST_K
from orienteer.tools.toolbox import open_grounding

NO_QUERY = "the model wrote no query"
_BLOCK = re.compile(r"```[^\S\n]*(?:\w+[^\S\n]*\n|\n)?(.*?)(?:```|\Z)", re.DOTALL)
_BEGINS = re.compile(r"^[ \t]*(?:OPTIONAL[ \t]+MATCH|MATCH|UNWIND|WITH|RETURN)\b", re.IGNORECASE | re.MULTILINE)
_MOST_REPAIRS = 5
_JOINED = re.compile(r";|(?:^|\s)(?:and|or)(?:\s|$)")
_NO_NAMES = frozenset({"true", "false", "yes", "no", "none"})
_SHOWN = 2_000  # characters of a refused query that the model is shown again


class CypherConfig(WorkflowConfig):
    """Cypher's settings."""

    candidates: int = Field(default=10, ge=1, le=LARGEST_K)
    """Nodes that the model is shown, at the most; the number is ours."""
    repair: int = Field(default=0, ge=0, le=_MOST_REPAIRS)
    """How often a query that was refused goes back to the model with the reason, up to 5; the paper's does not."""


class CypherAnswer:
    """Retrieve nodes, write a query, run it, answer from its rows."""

    name = "cypher"

    def __init__(self, graph: Graph, model: LanguageModel, config: CypherConfig | None = None) -> None:
        """Raise `MissingExtra` without the extra `cypher`, before a model is paid."""
        self._graph, self._model, self.config = graph, model, config or CypherConfig()
        Cypher.require(graph)
        self._cores = CoreEntities(graph)

    def retrieve(self, question: Question, run: Run) -> Result:
        """Return what the query found, then what was retrieved for it."""
        return self._follow(question, run)[0]

    def retrieve_and_answer(self, question: Question, run: Run, model: LanguageModel) -> Result:
        """Answer from the rows of the query."""
        result, course = self._follow(question, run)
        if course.rows is None:
            return without(result)
        user = f"Query:\n{course.query}\n\nRows:\n{course.rows.text}\n\nQuestion: {question.text}"
        sampling = Sampling(temperature=self.config.temperature, random_seed=run.random_seed)
        result = ask(result, "cypher-answer", user, course.read, model=model, run=run, sampling=sampling)
        return course.named_first(result)

    def _follow(self, question: Question, run: Run) -> tuple[Result, _CypherCourse]:
        config, graph = self.config, self._graph
        tools = open_grounding(graph, config.mode, offers_cypher=True)
        workflow = Workflow(graph, self._model, run, question=question, method=self.name, config=config, toolbox=tools)
        course = _CypherCourse(graph, workflow, config, self._cores)
        return workflow.follow_and_rank(course.run, course.ranking), course


@dataclass(slots=True)
class _CypherCourse:
    """One question's query and its rows."""

    graph: Graph
    workflow: Workflow
    config: CypherConfig
    cores: CoreEntities
    query: str = ""
    rows: Observation | None = None
    """The observation of the query; None where none was run to its end."""
    retrieved: dict[int, str] = field(default_factory=dict)

    def run(self) -> None:
        """Retrieve, have a query written, run it."""
        self.retrieved = self.cores.named(self.workflow)
        for row, why in self.cores.found(self.workflow, max(self.workflow.question.k, self.config.candidates)).items():
            self.retrieved.setdefault(row, why)
        attempts = ""
        for _ in range(1 + self.config.repair):
            refusal = self._attempt(attempts)
            if refusal is None:
                return
            self.workflow.notes.append(f"the model's query was refused: {refusal}")
            attempts = f"\nYou wrote:\n{self.query[:_SHOWN]}\nIt was refused: {refusal}\nWrite another one."
        self.workflow.notes.append("no query was run: there are no rows to answer from")

    def _attempt(self, attempts: str) -> str | None:
        """Have a query written and run it; return why it was refused, None where it was not."""
        graph = self.graph
        candidates = [title(graph, row) for row in list(self.retrieved)[: self.config.candidates]]
        reply = self.workflow.ask(
            "cypher",
            schema="\n".join(map(flat, schema_lines(graph))),
            candidates="\n".join(map(flat, candidates)) or "none",
            question=self.workflow.question.text,
            attempts=attempts,
        )
        self.query = query_in(reply)
        if not self.query:
            return NO_QUERY
        rows = self.workflow.use("cypher", query=self.query, k=LARGEST_K)
        if rows.error is not None:
            return single_spaced(rows.text)
        self.rows = rows
        return None

    def ranking(self) -> tuple[Ranked, ...]:
        """Return the nodes of the rows, then the retrieved ones."""
        return self.workflow.present(self._reasons())

    def _reasons(self) -> dict[int, str]:
        nodes = self.rows.nodes if self.rows is not None else ()
        reasons = dict.fromkeys(map(self.graph.arrays.row, nodes), "in the rows of the query")
        for row, why in self.retrieved.items():
            reasons.setdefault(row, why)
        return reasons

    def read(self, reply: str) -> AnswerParts:
        """Read a reply: the answer, and which nodes of the rows it cites."""
        answer = parted(reply)
        ids = self.rows.nodes if self.rows is not None else ()
        cited = citations(f"{answer.reasoning} {answer.text}", ids)
        others = tuple(node for node in cited.notes if self._is_shown(node))
        strange = [node for node in cited.notes if node not in others]
        notes = (f"the answer cites what is not in the rows: {', '.join(strange)}",) if strange else ()
        return AnswerParts(answer.text, (*cited.cited, *others), (*answer.notes, *notes), answer.reasoning)

    def _is_shown(self, node_id: str) -> bool:
        """Return whether rows show a node's id: also in a later column, in a list or in a path."""
        if self.rows is None or self.graph.arrays.ids.find(node_id) is None:
            return False
        return any(occurrences(node_id, self.rows.text))

    def named_first(self, result: Result) -> Result:
        """Return an answered result whose ranking begins with what its answer names, then cites."""
        if result.answer in (None, NOT_THERE):
            return result
        answer, ranked = str(result.answer), self._reasons()
        named = named_in(self.graph, ranked, answer)
        reasons = dict.fromkeys((*named, *self._called(answer, named)), "named in the answer")
        for node in result.trajectories[-1].selected:
            reasons.setdefault(self.graph.arrays.row(node), "cited in the answer")
        for row, why in ranked.items():
            reasons.setdefault(row, why)
        return result.model_copy(update={"hits": self.workflow.present(reasons)})

    def _called(self, answer: str, named: Iterable[int]) -> Iterator[int]:
        """Yield the nodes whose names stand in the rest of an answer: rows may hold names and no nodes."""
        names = sorted((self.graph.arrays.names[row] for row in named), key=len, reverse=True)
        rest = re.sub("|".join(map(re.escape, names)), ",", answer, flags=re.IGNORECASE) if names else answer
        for part in split(rest):
            yield from self._candidates(part) or (row for name in _JOINED.split(part) for row in self._candidates(name))

    def _candidates(self, name: str) -> list[int]:
        is_name = any(map(str.isalpha, name)) and name.casefold().strip(" .") not in _NO_NAMES
        return self.graph.arrays.candidates(name.strip()) if is_name else []


def query_in(reply: str) -> str:
    """Return the query of a reply: its last code block that holds a clause, else all from the first clause on."""
    blocks = [block.strip() for block in _BLOCK.findall(reply)]
    text = next((block for block in reversed(blocks) if _BEGINS.search(block)), reply)
    begins = _BEGINS.search(text)
    return text[begins.start() :].strip().removesuffix(";").strip() if begins else ""
