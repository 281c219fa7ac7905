"""`agr`: analyse the question, write an expansion that answers it, refine that, then search: three calls.

Paper: Chen, Chen, He, Wen and Sun 2024, Analyze, generate and refine: query expansion with LLMs for zero-shot
open-domain QA; a baseline of SAGE (004, section 3). We know the abstract alone: an analysis of what the query needs to
know, expansions that aim at the answer, and a refinement for their quality.

Deviations, or rather our reading of what the abstract leaves open:
1. The refining call sees the draft and the nodes that question and draft find together. It is to keep what they
   support, to take up their words, and to drop the rest.
2. One draft, not several to choose among.
3. BM25 for the paper's retrievers; question and expansion make one query, in which a word counts once.
4. The prompts are our own.
"""

from __future__ import annotations

from collections.abc import Iterator

from pydantic import Field

from orienteer.agents.workflow import Workflow, WorkflowConfig
from orienteer.graph.store import Graph
from orienteer.lab.baselines.expansion import LONGEST, expanded, passages
from orienteer.protocols import LanguageModel, Run
from orienteer.records import Question, Result
from orienteer.retrieval.graph_text import type_names
from orienteer.tools.parameters import LARGEST_K


class AgrConfig(WorkflowConfig):
    """AGR's settings."""

    documents: int = Field(default=5, ge=1, le=LARGEST_K)
    """Nodes that the refining call is shown; ours, the paper's number is not known to us."""


class Agr:
    """Analyse, generate, refine: three calls, two searches."""

    name = "agr"

    def __init__(self, graph: Graph, model: LanguageModel, config: AgrConfig | None = None) -> None:
        self._graph, self._model, self.config = graph, model, config or AgrConfig()

    def retrieve(self, question: Question, run: Run) -> Result:
        """Write an expansion in three steps, then search with it and the question."""
        workflow = Workflow(self._graph, self._model, run, question=question, method=self.name, config=self.config)
        return expanded(workflow, self._write(workflow))

    def _write(self, workflow: Workflow) -> Iterator[tuple[str, ...]]:
        """Yield the draft, then the refined text."""
        question, filters = workflow.question.text, workflow.question
        types = type_names(self._graph)
        analysis = workflow.ask("agr-analyze", question=question, node_types=types)
        draft = workflow.ask("agr-generate", question=question, node_types=types, analysis=analysis or "none")
        yield (draft,)
        query = f"{question}\n{draft[:LONGEST]}"
        rows = workflow.search(query, self.config.documents, node_types=filters.node_types, where=filters.where)
        shown = passages(workflow, rows)
        refined = workflow.ask("agr-refine", question=question, analysis=analysis or "none", draft=draft, found=shown)
        if not refined:
            workflow.notes.append("refining gave nothing: the draft stands")
        yield (refined or draft,)
