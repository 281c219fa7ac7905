"""`text-rag`: the graph as texts; a model reads the nearest ones and answers. One search, one call.

Paper: TextRAG (Gao et al. 2023), a baseline of GraphScout (003, table 1, appendix A.4): a node's attributes and edges
are linearized as plain text, a dense retriever fetches the texts that are nearest to the question, and they go into
the prompt. The paper gives neither their number nor their size. Here:

1. one search ranks the nodes of the graph, by meaning;
2. the best `documents` are written as text, attributes and edges, each cut to its share of the prompt (`linearized`);
3. a call answers from them, citing.

The ranking holds the nodes in the order of the search; nodes that the answer names come first, be they documents or
neighbours that a document names. `search` ends after 2 and asks no model.

Deviations:
1. The vectors are the graph's own, of names and texts (`orienteer embed`): edges are read, and not searched.
2. `mode=lexical` ranks by words, for a graph without vectors; dense is the paper's, and hybrid is ours.
3. A document that is longer than its share keeps what the question speaks of, and says how much it leaves out.
4. The model is to answer from the texts alone, and may say that they do not hold the answer; the prompt is our own.
"""

from __future__ import annotations

from pydantic import Field

from orienteer.agents.answer import answer_from
from orienteer.agents.workflow import Workflow
from orienteer.graph.store import Graph
from orienteer.index.searchers import Mode, ranking_of
from orienteer.lab.baselines.linearized import LEAST, LinearConfig, Linearizer, named_first, render_nodes
from orienteer.protocols import LanguageModel, Run
from orienteer.records import Question, Ranked, Result
from orienteer.tools.parameters import LARGEST_K

_REASONS = {
    "lexical": "its words fit the question",
    "dense": "near to the question in meaning",
    "hybrid": "fits the question in words and meaning",
}


class TextRagConfig(LinearConfig):
    """TextRAG's settings."""

    mode: Mode = "dense"
    """How texts are ranked: dense (the paper's), hybrid, hybrid:0.6 or rrf, which need vectors, or lexical."""
    documents: int = Field(default=10, ge=1, le=LARGEST_K)
    """Nodes whose text the model reads, at the most; the number is ours."""


class TextRag:
    """The nearest texts of nodes, and an answer from them."""

    name = "text-rag"

    def __init__(self, graph: Graph, config: TextRagConfig | None = None) -> None:
        """Raise `BadOption` where the mode needs vectors and there are none."""
        self._graph, self.config = graph, config if config is not None else TextRagConfig()
        graph.arrays.searcher(self.config.mode)

    def retrieve(self, question: Question, run: Run) -> Result:
        """Return the nodes whose texts are nearest to the question. No model is asked."""
        return self._search(self._workflow(question, run))

    def retrieve_and_answer(self, question: Question, run: Run, model: LanguageModel) -> Result:
        """Answer in one call from the best of them, as text."""
        config, graph, workflow = self.config, self._graph, self._workflow(question, run)
        result = self._search(workflow)
        rows = [graph.arrays.row(hit.id) for hit in result.hits[: config.documents]]
        linearizer, share = Linearizer(graph, question.text), max(config.context_tokens // max(len(rows), 1), LEAST)
        written = [linearizer.write(row, share) for row in rows]
        evidence = render_nodes(graph, written, config.context_tokens)
        result = answer_from(result, evidence, model=model, run=run, temperature=config.temperature)
        return named_first(result, workflow, written)

    def _workflow(self, question: Question, run: Run) -> Workflow:
        return Workflow(self._graph, None, run, question=question, method=self.name, config=self.config)

    def _search(self, workflow: Workflow) -> Result:
        question = workflow.question
        node_types = question.node_types or self._graph.arrays.text_types
        reason = _REASONS[ranking_of(self.config.mode).kind]

        def search() -> tuple[Ranked, ...]:
            rows = workflow.search(question.text, question.k, node_types=node_types, where=question.where)
            return workflow.present(dict.fromkeys(rows, reason))

        return workflow.follow(search)
