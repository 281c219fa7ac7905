"""The retrievers of graph knowledge bases as methods.

GraphSearch plugs on the same ones (002, section 4.1). With a model each answers in one round, from the whole evidence
or a part of it (figure 2).
"""

from __future__ import annotations

import time
from dataclasses import replace
from functools import partial
from typing import NamedTuple

from orienteer.agents.answer import answer_from
from orienteer.errors import BudgetExhausted, Error, ModelError
from orienteer.llm.conversation import recorded_by
from orienteer.protocols import LanguageModel, Run
from orienteer.records import (
    Message,
    Question,
    Ranked,
    Result,
    Step,
    StoppedBy,
    ToolboxSpec,
    ToolCall,
    Trajectory,
    Usage,
)
from orienteer.retrieval.evidence import Evidence, render
from orienteer.retrieval.graph_text import Presentation, bare_hit
from orienteer.retrieval.query import Analyzer, KnowledgeBase, Query, Spaces
from orienteer.tools.evidence import GATHER, GatherEvidence, arguments_of, observed


class _Gathered(NamedTuple):
    result: Result
    evidence: Evidence


class KnowledgeBaseMethod:
    """A knowledge base as a method: a query is made of the question, evidence gathered and ranked."""

    def __init__(self, base: KnowledgeBase, analyzer: Analyzer | None = None) -> None:
        self.name, self.base, self.analyzer = base.name, base, analyzer
        self._spaces = Spaces(base.graph, base.config.mode)

    def retrieve(self, question: Question, run: Run) -> Result:
        """Return the passages of the evidence, best first; in a graph without passages its nodes."""
        return self._gathered(question, run).result

    def ranked(self, question: Question, run: Run) -> Result:
        """Return the same without the hits' texts, which take most of the time."""
        return self._gathered(question, run, shows=False).result

    def retrieve_and_answer(self, question: Question, run: Run, model: LanguageModel) -> Result:
        """Gather once, and answer from the evidence, or the part of it that the options name, in one call."""
        result, evidence = self._gathered(question, run)
        wanted = self.base.config.answer_from
        part = {"all": evidence, "text": evidence.semantic(), "graph": evidence.relational()}[wanted]
        if evidence and not part:
            result = result.model_copy(update={"notes": (*result.notes, f"nothing of the evidence is {wanted}")})
        return answer_from(result, render(part, self.base.graph, self.base.config.answer_tokens), model=model, run=run)

    def _gathered(self, question: Question, run: Run, *, shows: bool = True) -> _Gathered:
        started = time.perf_counter()
        stopped_by: StoppedBy = "finish"
        query, evidence = Query.of(question), Evidence()
        steps: tuple[Step, ...] = ()
        error: str | None = None
        try:
            query = query.analyzed(self.analyzer, run) if self.analyzer is not None else query
            # The calls that were made are recorded even if what comes after fails.
            evidence = Evidence(trajectories=query.trajectories)
            evidence = self.base.gather(query, run)
            reasons = (*(note for trajectory in evidence.trajectories for note in trajectory.notes), evidence.reason)
            notes = tuple(dict.fromkeys(filter(None, reasons)))
            call = ToolCall(id="call_1", name=GATHER, arguments=arguments_of(self.name, query, self.base.config))
            steps = (Step.of(call, observed(evidence, self.base.graph)),)
            run.tell(steps[0])
        except BudgetExhausted as spent:
            stopped_by, notes = spent.limit, (f"stopped by the budget: {spent}",)  # type: ignore[assignment]
            evidence = _with(evidence, spent)
        except ModelError as failed:
            stopped_by, notes, error = "error", (f"the model failed: {failed}",), str(failed)
            evidence = _with(evidence, failed)
        hits = self._hits(evidence, question, shows=shows)
        gathered = Trajectory(
            question=question,
            method=self.name,
            toolbox=ToolboxSpec(name="gathering"),
            tools=(GatherEvidence.spec,),
            opening=(Message(role="user", content=question.text),),
            steps=steps,
            selected=tuple(hit.id for hit in hits),
            stopped_by=stopped_by,
            error=error,
        )
        result = Result(
            question=question.text,
            method=self.name,
            hits=hits,
            trajectories=(gathered, *evidence.trajectories),
            usage=Usage(seconds=time.perf_counter() - started),
            stopped_by=stopped_by,
            notes=notes,
        )
        return _Gathered(result, evidence)

    def _hits(self, evidence: Evidence, question: Question, *, shows: bool) -> tuple[Ranked, ...]:
        graph, answers = self.base.graph, self._spaces.answers(question.node_types, question.where)
        # A community that was made for the question is no node of the graph.
        rows = [(graph.arrays.row(scored.item.id), scored) for scored in evidence.nodes if scored.item.id in graph]
        hits = [(row, scored) for row, scored in rows if answers[row]][: question.k]
        hit_of = Presentation(graph, question.text) if shows else partial(bare_hit, graph)
        return tuple(hit_of(row, score=scored.score, why=scored.why) for row, scored in hits)


def _with(evidence: Evidence, error: Error) -> Evidence:
    """Return evidence with the calls of a model that led to an error."""
    return replace(evidence, trajectories=(*evidence.trajectories, *recorded_by(error)))
