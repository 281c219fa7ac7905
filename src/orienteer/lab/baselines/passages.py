"""What the agentic text baselines share: they search passages, as `naive` does, and read them whole (002, table 4)."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TypeVar

from pydantic import Field, field_validator

from orienteer.agents.workflow import Workflow, WorkflowConfig
from orienteer.graph.store import Graph
from orienteer.index.searchers import Mode
from orienteer.protocols import LanguageModel, Run
from orienteer.records import JsonValue, Question
from orienteer.retrieval.evidence import Evidence, EvidenceText, Scored, render
from orienteer.retrieval.query import ANSWER_TOKENS, AUTO, checked_mode_or_auto
from orienteer.retrieval.spaces import Spaces
from orienteer.tools.texts import SEARCH_PASSAGES
from orienteer.tools.toolbox import open_passages


class PassageConfig(WorkflowConfig):
    """What every one of them lets choose."""

    mode: Mode = AUTO
    """How searches rank: lexical, dense, hybrid, hybrid:WEIGHT, rrf; auto is hybrid where there are vectors."""
    context_tokens: int = Field(default=ANSWER_TOKENS, ge=1)
    """Size of the passages that a prompt shows: that of a retriever's answer, so that both read as much."""

    _check_mode = field_validator("mode")(checked_mode_or_auto)


_Config = TypeVar("_Config", bound=PassageConfig)


def settled(graph: Graph, config: _Config) -> _Config:
    """Return the settings with the mode that they come to on a graph. Raises `BadOption` for what it does not have."""
    return config.model_copy(update={"mode": Spaces(graph, config.mode).mode})


def course(
    graph: Graph, model: LanguageModel, run: Run, *, question: Question, method: str, config: PassageConfig
) -> Workflow:
    """Return the course of a question, with the search of passages as its one tool."""
    toolbox = open_passages(graph, config.mode, question.k, has_filters=True, has_answer=False)
    return Workflow(graph, model, run, question=question, method=method, config=config, toolbox=toolbox)


def search(workflow: Workflow, query: str, k: int) -> tuple[int, ...]:
    """Return the rows of the best passages that pass the question's filters."""
    question = workflow.question
    filters: dict[str, JsonValue] = {"node_types": list(question.node_types), "where": list(question.where)}
    observation = workflow.use(
        SEARCH_PASSAGES, query=query, k=k, **{name: value for name, value in filters.items() if value}
    )
    return tuple(workflow.graph.arrays.row(node) for node in observation.nodes)


def shown(graph: Graph, rows: Iterable[int], tokens: int) -> EvidenceText:
    """Return the texts of some rows for a prompt, labelled in their order."""
    return render(Evidence(nodes=tuple(Scored(graph.arrays.node_at(row), 1.0) for row in rows)), graph, tokens)
