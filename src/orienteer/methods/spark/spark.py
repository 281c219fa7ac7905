"""`spark`: one call of the model writes a plan of searches and steps along edges; a program checks it and runs it.

Paper: SAGE (004), section 2.2.A and appendix H; table 4: one call, one iteration. The planner sees the schema and
examples, and the plan alternates candidates by search with steps along typed edges. If it gives nothing, a search
with the question's own words answers (BM25 + cosine).

`SparkConfig` lists what deviates from it.

Nothing here looks at gold, and nothing runs again because of a poor score, as in the paper's evaluation code.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import cached_property
from typing import Any, NamedTuple, Self

import numpy as np
from pydantic import Field, field_validator, model_validator

from orienteer.agents.workflow import Workflow, WorkflowConfig
from orienteer.errors import BadOption, QueryStopped
from orienteer.graph.store import Graph
from orienteer.index.searchers import PAPER_WEIGHT, Mode
from orienteer.methods.spark.examples import PlanPrompt, examples_of, prompt_for
from orienteer.methods.spark.execution import Execution
from orienteer.methods.spark.plan import PAPER_SCHEMA, SCHEMA, CheckedPlan, PlanFault, SparkPlan, check
from orienteer.options import Options
from orienteer.protocols import LanguageModel, Run
from orienteer.reading.answer import ProofWording
from orienteer.records import JsonValue, Question, Ranked, Result
from orienteer.retrieval.graph_text import ends_of
from orienteer.retrieval.query import checked_mode_or_auto
from orienteer.tools.session import aside
from orienteer.tools.toolbox import Toolbox

EDGES = "edges"
"""Mark of a ranking that a plan came to along edges that it names: SAGE's policy `-Edge` expands no such one."""
FALLBACK = "fallback"
"""Mark of a ranking that no plan came to."""
_LEAST_TOKENS = 1_500
_LONGEST_STEP = 600.0  # seconds


class SparkConfig(Options):
    """SPARK's settings."""

    deviations = (
        "The plan is a JSON object of up to 16 named steps, a vector search or a read-only Cypher statement each. In "
        "a statement `$NAME` is the list of the ids that an earlier step found. No code is run. The plan is asked to "
        "end in Cypher, as in appendix H; any set that it names is taken.",
        "The prompt is in our own words, the same for every graph, with labels and the formats of properties, and no "
        "words of what a relation means; the paper's three are written by hand, with hints and such words. Beyond "
        "`prompt_tokens` types are only counted.",
        "Up to four Cypher examples are made from the graph, run, and shown each with a question. They return nodes, "
        "the paper's ids; a plan may return either. Words such as "
        "`<name of a city>` stand for values, as the planner sees no node (ethical statement); the paper's have some.",
        "Texts of nodes are not in Cypher, where the paper's examples search abstracts and descriptions: vector "
        "searches read them. Without vectors these, the fallback and the ranking are by words. Vectors are compared "
        "without HNSW, and a search has at most 100 nodes.",
        "An answer in an order of the plan keeps it; else it is ranked by 0.6 BM25 and 0.4 cosine, however many nodes "
        "it has. The paper is silent; its code ranks 10 to 499 and drops more.",
        "Near forms of node types and of the answer's set are read as the nearest; case says nothing in Cypher. A "
        "step may take 10 seconds and leave "
        "100,000 nodes, a statement read 10,000 rows. A step that is refused or finds nothing ends the plan.",
        "The paper gives no temperature and no seed; here it is 0, as in its code, and seeds are recorded.",
        "`ask` writes an answer from the ranking in one more call; `search` and `ask --no-answer` do not.",
    )

    temperature: float = 0.0
    """Temperature of the call; 0 in the paper's code."""
    mode: Mode = "auto"
    """How the answer and the fallback are ranked: auto is hybrid where the graph has vectors, else lexical."""
    cypher: bool = True
    """Offer Cypher steps."""
    prompt_tokens: int = Field(default=4_000, ge=_LEAST_TOKENS)
    """Size of the prompt before the question, 1,500 or more: what does not fit of the schema is left out."""
    samples: bool = True
    """Show a few values of nodes in the prompt. The paper's planner sees the schema only (ethical statement)."""
    seconds: float = Field(default=10.0, gt=0, le=_LONGEST_STEP)
    """Time that a step of the plan may take; Cypher has a limit of its own, 10 seconds."""
    cut: bool = False
    """Cut a vector search of 25 nodes at its first wide gap, as the paper's code does."""
    fill: bool = True
    """Let plain search fill the ranking up to `k` behind what the plan has found."""
    faithful: bool = False
    """The paper's course: vector searches and Cypher alone, one call, no values, nothing filled up, 0.6 BM25."""

    _check_mode = field_validator("mode")(checked_mode_or_auto)

    @model_validator(mode="after")
    def _check_cypher(self) -> Self:
        if self.faithful and not self.cypher:
            raise BadOption("the paper's plan is in Cypher: leave out cypher=false, or faithful")
        return self

    def workflow(self, graph: Graph) -> WorkflowConfig:
        """Return the part that every method with a fixed course has, the mode settled for a graph."""
        has_vectors = graph.arrays.searcher.has_vectors
        hybrid = f"hybrid:{PAPER_WEIGHT}" if self.faithful else "hybrid"
        mode: Mode = self.mode if self.mode != "auto" else hybrid if has_vectors else "lexical"
        return WorkflowConfig(temperature=self.temperature, mode=mode)


class _Found(NamedTuple):
    """What a plan has found."""

    reasons: Mapping[int, str] = {}
    """The rows with the reason of each, best first."""
    answer: Mapping[str, str] = {}
    """The fields of a result that is asked for a number, or for yes or no."""
    execution: Execution | None = None
    """What proves the rows."""
    total: int | None = None  # of rows that the question allows; None if the set was cut, and in the paper's course


class Spark:
    """One planned call. Safe to share among threads."""

    name = "spark"

    def __init__(self, graph: Graph, model: LanguageModel, config: SparkConfig | None = None) -> None:
        self._graph, self._model, self.config = graph, model, config or SparkConfig()
        # A graph without vectors is refused here, before a model is paid.
        graph.arrays.searcher(self.config.workflow(graph).mode)

    def retrieve(self, question: Question, run: Run) -> Result:
        """Have a plan written, run it, and rank what it finds; else what a plain search finds."""
        offers = self.config.cypher
        config = self.config.workflow(self._graph)
        toolbox = Toolbox.full(self._graph, mode=config.mode, offers_cypher=offers, names_first=False)
        workflow = Workflow(
            self._graph, self._model, run, question=question, method=self.name, config=config, toolbox=toolbox
        )

        def plain() -> dict[int, str]:
            workflow.marks.append(FALLBACK)
            return workflow.plain_search()

        answer: dict[str, Any] = {}  # Any: fields of a result

        def course() -> Any:  # Any: hits
            plan = self._plan(workflow)
            found = self._run(workflow, plan) if plan is not None else _Found()
            hits = workflow.present(found.reasons)
            answer.update(found.answer, total=found.total if hits or found.answer else None)
            if (hits or found.answer) and (len(hits) == question.k or not self.config.fill or self.config.faithful):
                return self._proved(found, hits)
            if not hits and not found.answer:
                workflow.notes.append("the plan gave nothing: found by plain search")
                # A plan that failed has no edges to its credit.
                workflow.marks = [mark for mark in workflow.marks if mark != EDGES]
                return workflow.present(plain())
            more = {row: why for row, why in workflow.plain_search().items() if row not in found.reasons}
            return self._proved(found, workflow.present({**found.reasons, **more}))

        return workflow.follow(course, instead=lambda: workflow.present(plain())).model_copy(update=answer)

    @cached_property
    def _prompt(self) -> PlanPrompt:
        """Made once a graph, at the first question."""
        return prompt_for(
            self._graph,
            examples_of(self._graph, offers_cypher=self.config.cypher, faithful=self.config.faithful),
            tokens=self.config.prompt_tokens,
            samples=self.config.samples and not self.config.faithful,
            has_vectors=self._graph.arrays.searcher.has_vectors,
            offers_cypher=self.config.cypher,
            faithful=self.config.faithful,
        )

    def _plan(self, workflow: Workflow) -> SparkPlan | None:
        """Return the model's plan, or None if it cannot run even after its one repair."""
        attempts: list[CheckedPlan] = []

        def faults(reply: JsonValue) -> list[str]:
            assert isinstance(reply, dict), "it fits the schema"
            attempts.append(self._checked(reply))
            return [fault.text for fault in attempts[-1].faults]

        values = {**self._prompt._asdict(), "question": workflow.question.text}
        schema = PAPER_SCHEMA if self.config.faithful else SCHEMA
        name = "spark-faithful" if self.config.faithful else "spark"
        reply = workflow.ask_for(name, schema, faults, not self.config.faithful, **values)
        if reply is None:
            self._blame(workflow, (PlanFault("plan", "the model's reply is no plan"),))
            return None
        checked = self._checked(reply)
        if attempts and attempts[0].faults and checked.plan is not None:
            workflow.notes.append(f"the plan was sent back once: {attempts[0].faults[0].text}")
        workflow.notes += checked.notes
        self._blame(workflow, checked.faults)
        return checked.plan

    def _checked(self, reply: dict[str, Any]) -> CheckedPlan:  # Any: JSON
        return check(self._graph, reply, offers_cypher=self.config.cypher)

    def _run(self, workflow: Workflow, plan: SparkPlan) -> _Found:
        """Return what a plan finds."""
        execution = Execution(
            self._graph,
            workflow.session,
            workflow.use,
            seconds=self.config.seconds,
            has_vectors=self._graph.arrays.searcher.has_vectors,
            cut=self.config.cut,
        )
        outcome = execution.run(plan)
        workflow.set_joins += outcome.set_joins
        self._blame(workflow, outcome.faults)
        if outcome.rows is None:
            return _Found()
        if outcome.has_edges:
            workflow.marks.append(EDGES)
        rows, question = outcome.rows, workflow.question
        if not outcome.is_ordered and rows:
            # Nodes that the search does not find stay in the answer, last: the plan found them.
            with aside(workflow.session, np.array(sorted(rows), np.int32)) as among:
                best = workflow.search(
                    question.text, question.k, node_types=question.node_types, where=question.where, among=among
                )
            rows = tuple(dict.fromkeys((*best, *rows)))
        order = "in the plan's order" if outcome.is_ordered else "ranked against the question"
        by = f"by the plan ({outcome.trail})"
        reasons = dict.fromkeys(rows, f"{by}, {order}")
        mask = self._graph.arrays.mask(question.node_types or None, question.where)
        count = len(rows) if mask is None else int(mask[np.array(rows, np.int32)].sum())
        total = count if outcome.is_whole and not self.config.faithful else None
        is_cut = plan.give == "count" and total is None
        workflow.notes += ["a search for the best or a limit cut the plan's set: its number is not told"] * is_cut
        if plan.give == "nodes" or is_cut:
            return _Found(reasons, execution=execution, total=total)
        text, kind = (str(count), "number") if plan.give == "count" else ("yes" if count else "no", "boolean")
        answer = {"answer": text, "answer_kind": kind, "long_answer": f"{text}, {by}"}
        return _Found(reasons, answer, execution, total)

    def _proved(self, found: _Found, hits: tuple[Ranked, ...]) -> tuple[Ranked, ...]:
        """Return hits, those that the plan has found with their proofs, as many as the time of one step allows."""
        if found.execution is None:
            return hits
        if not self.config.faithful:
            own = {self._graph.arrays.ids[row] for row in found.reasons}
            hits = tuple(hit.model_copy(update={"complete": hit.id in own}) for hit in hits)
        found.execution.allow()
        wording, proved = ProofWording(self._graph, found.execution.said), list(hits)
        for place, hit in enumerate(hits):
            row = self._graph.arrays.row(hit.id)
            if row not in found.reasons:
                continue
            try:
                proof = found.execution.proof(row)
                texts, edges, parts, meets = wording.written(proof)
            except (QueryStopped, BadOption):
                break
            why = "; ".join(dict.fromkeys((hit.why, *texts)))
            ends = ends_of(self._graph, hit.id, edges, parts)
            proved[place] = hit.model_copy(update={"why": why, "edges": edges, "ends": ends, "meets": meets})
        return tuple(proved)

    @staticmethod
    def _blame(workflow: Workflow, faults: tuple[PlanFault, ...]) -> None:
        """Record what went wrong: in words for a person, and as marks to be counted."""
        for fault in faults:
            workflow.notes.append(f"{fault.kind}: {fault.text}")
            workflow.marks.append(fault.kind)
