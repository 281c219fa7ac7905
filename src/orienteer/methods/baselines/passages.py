"""What the agentic text baselines share: they search passages, as `naive` does, and read them whole (002, table 4)."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace
from typing import TypeVar

from orienteer.agents.workflow import Workflow, WorkflowConfig
from orienteer.graph.store import Graph
from orienteer.index.searchers import Mode
from orienteer.protocols import LanguageModel, Run
from orienteer.records import JsonValue, Question
from orienteer.retrieval.evidence import Evidence, Scored
from orienteer.retrieval.query import ANSWER_TOKENS, AUTO
from orienteer.retrieval.rendering import Rendered, render
from orienteer.retrieval.spaces import Spaces
from orienteer.tools.passages import SEARCH
from orienteer.tools.toolboxes import open_passages


@dataclass(frozen=True, slots=True, kw_only=True)
class PassageConfig(WorkflowConfig):
    """What every one of them lets choose."""

    mode: Mode = AUTO
    """How searches rank: lexical, dense, hybrid, hybrid:WEIGHT, rrf; auto is hybrid where there are vectors."""
    context_tokens: int = ANSWER_TOKENS
    """Size of the passages that a prompt shows: that of a retriever's answer, so that both read as much."""

    def __post_init__(self) -> None:
        if self.mode == AUTO:
            replace(self, mode="lexical")  # checks the rest
        else:
            WorkflowConfig.__post_init__(self)


_Config = TypeVar("_Config", bound=PassageConfig)


def settled(graph: Graph, config: _Config) -> _Config:
    """Return the settings with the mode that they come to on a graph. Raises `BadOption` for what it does not have."""
    return replace(config, mode=Spaces(graph, config.mode).mode)


def course(
    graph: Graph, model: LanguageModel, run: Run, *, question: Question, method: str, config: PassageConfig
) -> Workflow:
    """Return a question's course whose one tool is the search of passages."""
    toolbox = open_passages(graph, config.mode, question.k, has_filters=True, has_answer=False)
    return Workflow(graph, model, run, question=question, method=method, config=config, toolbox=toolbox)


def search(workflow: Workflow, query: str, k: int) -> tuple[int, ...]:
    """Return the rows of the best passages that pass the question's filters."""
    question = workflow.question
    filters: dict[str, JsonValue] = {"node_types": list(question.node_types), "where": list(question.where)}
    found = workflow.use(SEARCH, query=query, k=k, **{name: one for name, one in filters.items() if one})
    return tuple(workflow.graph.row(node) for node in found.nodes)


def shown(graph: Graph, rows: Iterable[int], tokens: int) -> Rendered:
    """Return the texts of some rows for a prompt, labelled in their order."""
    return render(Evidence(nodes=tuple(Scored(graph.node_at(row), 1.0) for row in rows)), graph, tokens)
