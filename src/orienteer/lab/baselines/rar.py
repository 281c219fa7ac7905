"""`rar`: search, show a model the hits, and search again with the answers that it writes in their likeness.

Paper: Shen et al. 2024, Retrieval-augmented retrieval: large language models are strong zero-shot retrievers (LameR);
a baseline of SAGE (004, section 3). The paper retrieves by BM25 itself, and says that even wrong candidates help: they
show what the texts look like. Its defaults, ten candidates and five answers, are taken from others' code.

Deviations:
1. One reply holds all answers, where the paper takes several samples of one answer: a call in place of five.
2. The question is put before the answers once, not before each of them: our search counts a distinct word once, so
   that repeating it changes nothing. The question's words weigh less than in the paper.
3. A candidate is shown by name, type and the 300 characters nearest to the question.
4. The prompt is in our own words.
"""

from __future__ import annotations

from collections.abc import Iterator

from pydantic import Field

from orienteer.agents.workflow import Workflow, WorkflowConfig
from orienteer.graph.store import Graph
from orienteer.lab.baselines.expansion import expanded, passages
from orienteer.protocols import LanguageModel, Run
from orienteer.records import Question, Result
from orienteer.tools.parameters import LARGEST_K


class RarConfig(WorkflowConfig):
    """LameR's settings."""

    candidates: int = Field(default=10, ge=1, le=LARGEST_K)
    """Nodes of the first search that the model is shown. LameR takes 10, as others' code has it."""
    answers: int = Field(default=5, ge=1, le=LARGEST_K)
    """Answers that the model is asked for. LameR takes 5, as others' code has it."""


class Rar:
    """Retrieval-augmented retrieval: one call, two searches."""

    name = "rar"

    def __init__(self, graph: Graph, model: LanguageModel, config: RarConfig | None = None) -> None:
        self._graph, self._model, self.config = graph, model, config or RarConfig()

    def retrieve(self, question: Question, run: Run) -> Result:
        """Search with the question, have answers written after what was found, search with both."""
        workflow = Workflow(self._graph, self._model, run, question=question, method=self.name, config=self.config)
        return expanded(workflow, self._write(workflow))

    def _write(self, workflow: Workflow) -> Iterator[tuple[str, ...]]:
        config, question = self.config, workflow.question
        rows = workflow.search(question.text, config.candidates, node_types=question.node_types, where=question.where)
        shown = passages(workflow, rows)
        yield (workflow.ask("rar", question=question.text, candidates=shown, answers=config.answers),)
