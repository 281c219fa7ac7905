"""`focusedr`, also called AF-Retriever: a small Cypher query, grounded with widening, beside a free list, reranked.

Papers: Boer et al. 2025 (AF-Retriever); FocusedR in SAGE (004), appendix C.2 and table 4.

1. a call writes a small Cypher query, which is read (`cypher_pattern`) and never executed;
2. it gives the target, the triplets, and the constants, each with its best l nodes;
3. GROUND_TRIPLETS prunes the candidates (`triplet_pattern`), with l = 1, 2, 3 until the target has k of them;
4. two lists in the order of the text: grounded nodes, and free ones of the target's type; 13 of the first, then 7;
5. a call reranks the first 20 (`listwise`).

Deviations:
1. BM25 stands in for vectors, for the constants and for both lists, unless `mode` says otherwise; a node of just the
   constant's name comes first. AF-Retriever embeds a constant as `type: T; name: X`; here its text, among its types.
2. The target's type stands in the query; AF-Retriever spends a call of its own on it.
3. Types are checked against the schema first: near forms are taken, a reversed edge is turned, and parts that the graph
   cannot match are left out, each with a note. So is a constant that no node matches; vectors always find a node.
4. A comparison means what it says: AF-Retriever's code takes `>=` for `>`.
5. The prompts are our own. They show five names of each node type, as AF-Retriever's do, spread evenly over the ids.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import cached_property

import numpy as np
from pydantic import Field

from orienteer.agents.workflow import Workflow, WorkflowConfig
from orienteer.errors import BadQuery
from orienteer.graph.store import Graph
from orienteer.lab.baselines import cypher_pattern
from orienteer.lab.baselines.listwise import reranked
from orienteer.lab.baselines.triplet_pattern import TripletPattern, fitting, resolved
from orienteer.protocols import LanguageModel, Run
from orienteer.records import Question, Result
from orienteer.retrieval.graph_text import schema_lines
from orienteer.text.lines import one_line
from orienteer.tools.parameters import LARGEST_K

_SAMPLES = 5  # names of each node type in the prompt; AF-Retriever
_SAMPLED = 40  # node types that are shown with them
_NAME = 80  # characters of such a name


class FocusedRConfig(WorkflowConfig):
    """AF-Retriever's settings."""

    candidates: int = Field(default=3, ge=1, le=LARGEST_K)
    """Nodes that a constant may be, at the widest: AF-Retriever's l_max, reached over l = 1, 2, 3, 5, 8 and so on."""
    enough: int = Field(default=20, ge=1, le=LARGEST_K)
    """Grounded nodes at which the widening ends; AF-Retriever's k."""
    grounded: int = Field(default=13, ge=1, le=LARGEST_K)
    """Places for grounded nodes before free ones follow; AF-Retriever's alpha, of 20."""
    rerank_first: bool = True
    """Let the model order the first 20. Step 6 of SAGE's appendix C.2."""


class FocusedR:
    """Cypher that is read, grounding that widens, two lists, rerank."""

    name = "focusedr"

    def __init__(self, graph: Graph, model: LanguageModel, config: FocusedRConfig | None = None) -> None:
        self._graph, self._model, self.config = graph, model, config or FocusedRConfig()

    def retrieve(self, question: Question, run: Run) -> Result:
        """Ground the query that the model writes, mix in free hits, rerank."""
        config = self.config
        workflow = Workflow(self._graph, self._model, run, question=question, method=self.name, config=config)

        def ranking() -> dict[int, str]:
            return fitting(
                workflow,
                self._pattern(workflow),
                widths=tuple(widths(config.candidates)),
                first=config.grounded,
                enough=config.enough,
            )

        return reranked(workflow, ranking, rerank_first=config.rerank_first)

    def _pattern(self, workflow: Workflow) -> TripletPattern | None:
        """Return what the model's query matches; None where it cannot be read."""
        reply = workflow.ask(
            "focusedr",
            schema="\n".join(schema_lines(self._graph)),
            samples=self._samples,
            question=workflow.question.text,
        )
        try:
            pattern = cypher_pattern.read(reply, workflow.notes)
        except BadQuery as error:
            workflow.notes.append(f"the model's query cannot be read, found by plain search: {error}")
            return None
        return resolved(pattern, self._graph, workflow.notes)

    @cached_property
    def _samples(self) -> str:
        """Names of each node type, for those with the most nodes."""
        graph = self._graph
        counts = graph.schema.node_types
        lines = []
        for name in sorted(counts, key=lambda name: (-counts[name], name))[:_SAMPLED]:
            rows = np.flatnonzero(graph.arrays.types.node_mask([name])[graph.arrays.node_types])
            some = rows[np.unique(np.linspace(0, len(rows) - 1, _SAMPLES).astype(np.int64))] if len(rows) else rows
            lines.append(f"{name}: {'; '.join(one_line(graph.arrays.names[int(row)], _NAME) for row in some)}")
        return "\n".join(lines)


def widths(most: int) -> Iterator[int]:
    """Yield the numbers of candidates that AF-Retriever tries, `l = int(1.5 * l + .5)` from 1 on, up to the most."""
    width = 1
    while width < most:
        yield width
        width = int(1.5 * width + 0.5)
    yield most
