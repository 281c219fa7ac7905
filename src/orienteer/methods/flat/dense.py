"""`dense`: the nodes nearest to the question in meaning. A baseline of STaRK and of SAGE (004, section 3)."""

from __future__ import annotations

from orienteer.graph.store import Graph
from orienteer.index.arrays import Rows
from orienteer.methods.flat.nearness import NearnessConfig, nearest_nodes
from orienteer.protocols import Run
from orienteer.records import Question, Result


class Dense:
    """One search by vectors of the whole graph. No language model, no steps. Raises `BadOption` without vectors."""

    name = "dense"

    def __init__(self, graph: Graph, config: NearnessConfig | None = None) -> None:
        self._graph = graph
        self.config = config if config is not None else NearnessConfig()
        self._searcher = graph.arrays.searcher("dense", best=self.config.best)

    def retrieve(self, question: Question, run: Run) -> Result:
        """Return the nearest nodes, best first; a score is a cosine."""
        return nearest_nodes(self._graph, self._searcher, method=self.name, question=question, run=run, why=self._why)

    def _why(self, query: str, rows: Rows) -> list[str]:
        return [f"cosine {score:.2f}" for score in self._searcher.scores(query, rows)]
