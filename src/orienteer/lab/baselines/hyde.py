"""`hyde`: search with a passage that a model makes up, since it resembles the true one more than the question does.

Paper: Gao, Ma, Lin and Callan 2023, Precise zero-shot dense retrieval without relevance labels; a baseline of SAGE
(004, section 3). Its samples are 8, at a temperature of 0.7 (the authors' code).

Deviations:
1. `mode=dense` is the paper's: the mean of the vectors of the passages and of the question, which the authors' code
   includes (its equation 8). Vectors have length 1 before they are averaged. `hybrid` adds BM25 to that.
2. By default BM25 stands in for the dense encoder. Words cannot be averaged as vectors can: question and passages are
   put one after another, and a word counts once, however many of them hold it.
3. One passage by default, not 8: each costs a call. `passages=8` is the authors' code.
4. One prompt, in our own words and with the graph's node types, for the paper's one for each task.
"""

from __future__ import annotations

from collections.abc import Iterator

from pydantic import Field

from orienteer.agents.workflow import Workflow, WorkflowConfig
from orienteer.graph.store import Graph
from orienteer.lab.baselines.expansion import expanded
from orienteer.protocols import LanguageModel, Run
from orienteer.records import Question, Result
from orienteer.retrieval.graph_text import type_names
from orienteer.tools.toolbox import Toolbox

MOST_PASSAGES = 63
"""With the question they are what a server embeds in one request: one call of the budget."""


class HydeConfig(WorkflowConfig):
    """HyDE's settings."""

    passages: int = Field(default=1, ge=1, le=MOST_PASSAGES)
    """Passages that are made up, a call each. The authors' code takes 8."""
    temperature: float = 0.7
    """Temperature of the passages, as in the authors' code: 0 would make them all alike."""


class Hyde:
    """Hypothetical document embeddings, or with words in place of embeddings: n calls, one search."""

    name = "hyde"

    def __init__(self, graph: Graph, model: LanguageModel, config: HydeConfig | None = None) -> None:
        self._graph, self._model, self.config = graph, model, config or HydeConfig()

    def retrieve(self, question: Question, run: Run) -> Result:
        """Make passages up, then search with them and the question."""
        config, are_means = self.config, self.config.mode != "lexical"
        self._graph.arrays.searcher(config.mode)  # raises without vectors, before a model is paid
        toolbox = Toolbox.full(self._graph, mode=config.mode, offers_passages=are_means, names_first=False)
        workflow = Workflow(
            self._graph, self._model, run, question=question, method=self.name, config=config, toolbox=toolbox
        )
        return expanded(workflow, self._write(workflow), are_means=are_means)

    def _write(self, workflow: Workflow) -> Iterator[tuple[str, ...]]:
        """Yield the passages so far, after each."""
        written: tuple[str, ...] = ()
        for _ in range(self.config.passages):
            passage = workflow.ask("hyde", question=workflow.question.text, node_types=type_names(self._graph))
            written = (*written, passage)
            yield written
