"""`kar`: expand the question by what the graph holds around the things that it names: two calls, e + 3 retrievals.

Paper: Xia et al. 2024, Knowledge-aware query expansion with large language models for textual and relational
retrieval; after SAGE (004), appendix C.4 and table 4. With e entities that the graph holds:

1. a call names the entities of the question;
2. one search gives the question's own documents, for the question counts as an entity too;
3. e + 1 neighbourhoods, of these documents and of each entity, each cut to the neighbours nearest to the question;
4. triples of entity, relation and document;
5. a call writes the expansion from them;
6. one last search.

Deviations:
1. BM25 against the question takes the place of the cosine in steps 2, 3 and 6 unless `mode` says otherwise, and of each
   neighbourhood the best n are kept.
2. An entity is found by its exact name or alias, else by the nearest name, and not by a search; so SAGE's e + 3 holds.
3. One edge, where the paper lets relations spread over several.
4. A document's text stands once below the triples, not in each: hubs would repeat it.
5. The prompts are our own.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np
from pydantic import Field

from orienteer.agents.workflow import Workflow, WorkflowConfig
from orienteer.graph.search.query_words import QueryWords
from orienteer.graph.store import Graph
from orienteer.lab.baselines.expansion import expanded
from orienteer.protocols import LanguageModel, Run
from orienteer.records import Question, Result
from orienteer.retrieval.graph_text import edge_note, title
from orienteer.retrieval.mentions import near_name
from orienteer.tools.parameters import LARGEST_K

ENTITIES = {
    "type": "object",
    "properties": {"entities": {"type": "array", "items": {"type": "string"}}},
    "required": ["entities"],
    "additionalProperties": False,
}
"""What the first call gives."""


class KarConfig(WorkflowConfig):
    """KAR's settings."""

    entities: int = Field(default=5, ge=1, le=LARGEST_K)
    """Entities that are looked up at the most, a retrieval each; the number is ours."""
    documents: int = Field(default=5, ge=1, le=LARGEST_K)
    """Documents of the question whose neighbours are gathered; the number is ours."""
    neighbors: int = Field(default=10, ge=1, le=LARGEST_K)
    """Documents that the relation filter keeps of each neighbourhood; the number is ours."""


class Kar:
    """Knowledge-aware retrieval: the graph tells the model what to add to the question."""

    name = "kar"

    def __init__(self, graph: Graph, model: LanguageModel, config: KarConfig | None = None) -> None:
        self._graph, self._model, self.config = graph, model, config or KarConfig()

    def retrieve(self, question: Question, run: Run) -> Result:
        """Gather triples around what the question names, have an expansion written from them, search with it."""
        workflow = Workflow(self._graph, self._model, run, question=question, method=self.name, config=self.config)
        return expanded(workflow, self._write(workflow))

    def _write(self, workflow: Workflow) -> Iterator[tuple[str, ...]]:
        question = workflow.question.text
        entities = self._entities(workflow)
        triples: list[str] = []
        documents: dict[int, None] = dict.fromkeys(entities)
        own = workflow.search(question, self.config.documents)
        around: list[tuple[str, tuple[int, ...]]] = [(self._graph.arrays.ids[row], (row,)) for row in entities]
        if own and (name := workflow.last_set):
            around.insert(0, (name, own))
        for reference, starts in around:
            near = self._filtered(workflow, reference)
            triples += self._triples(starts, near)
            documents |= dict.fromkeys((*starts, *near))
        words = QueryWords(self._graph.arrays, question)
        texts = [(row, words.snippet(row)) for row in documents]
        expansion = workflow.ask(
            "kar-expand",
            question=question,
            triples="\n".join(dict.fromkeys(triples)) or "none",
            documents="\n".join(f"{title(self._graph, row)}: {text}" for row, text in texts if text) or "none",
        )
        yield (expansion,)

    def _entities(self, workflow: Workflow) -> tuple[int, ...]:
        """Return the rows of what the question names, each once."""
        reply = workflow.ask_for("kar-entities", ENTITIES, question=workflow.question.text)
        if reply is None:
            workflow.notes.append("the model named no entities in a form that can be read: none are looked up")
            return ()
        named = list(dict.fromkeys(name.strip() for name in reply["entities"] if name.strip()))
        most = self.config.entities
        if len(named) > most:
            workflow.notes.append(f"of {len(named)} entities the first {most} are looked up")
        rows = (self._linked(workflow, name) for name in named[:most])
        return tuple(dict.fromkeys(row for row in rows if row is not None))

    def _linked(self, workflow: Workflow, name: str) -> int | None:
        """Return the node that a name means, of several the one whose text is nearest to the question."""
        graph = self._graph
        rows = graph.arrays.candidates(name)
        if not rows and (near := near_name(graph, name)):
            rows = graph.arrays.candidates(near)
            workflow.notes.append(f"{name!r} is read as {near!r}")
        if not rows:
            workflow.notes.append(f"not in this graph: {name!r}")
            return None
        best, _ = workflow.rank(np.unique(np.array(rows, np.int32)), 1)
        return int(best[0])

    def _filtered(self, workflow: Workflow, reference: str) -> tuple[int, ...]:
        """Return the neighbours of a node or of a set that match the question best: the relation filter."""
        near = workflow.use(
            "search_in_neighborhood", node=reference, query=workflow.question.text, k=self.config.neighbors
        )
        return tuple(map(self._graph.arrays.row, near.nodes))

    def _triples(self, starts: Sequence[int], near: Sequence[int]) -> Iterator[str]:
        """Yield each edge between a start and a neighbour as a line, seen from the start."""
        graph = self._graph
        for start in starts:
            for row in near:
                if edges := graph.arrays.edges_between(row, np.array([start], np.int32)):
                    yield f"{title(graph, start)} {edge_note(graph, edges, graph.arrays.ids[row])} {title(graph, row)}"
