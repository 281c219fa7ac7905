"""Any method seen as a knowledge base: its hits are the evidence, with the edges that join them."""

from __future__ import annotations

from orienteer.graph.store import Graph
from orienteer.protocols import Method, Run
from orienteer.records import Edge, Question
from orienteer.retrieval.evidence import Evidence, Scored
from orienteer.retrieval.query import GatherConfig, Query

_BETWEEN = 30
"""Hits whose edges to one another are looked up."""


class RankedBase:
    """The hits of a method as evidence."""

    def __init__(self, graph: Graph, method: Method) -> None:
        self.graph, self._method = graph, method
        self.name = method.name
        self.config = GatherConfig()  # the method's own options are none of a retriever

    def gather(self, query: Query, run: Run) -> Evidence:
        """Return what the method finds; where it was cut short or failed, the reason says so."""
        question = Question(text=query.text, k=query.k, node_types=query.node_types, where=query.where)
        result = self._method.retrieve(question, run)
        nodes = tuple(Scored(self.graph.node(hit.id), hit.score, hit.why) for hit in result.hits)
        cut = "" if result.stopped_by in ("finish", "steps") else f"{self.name} was stopped by {result.stopped_by}"
        reason = "; ".join(filter(None, (cut, *(result.notes if not nodes else ()))))
        return Evidence(
            nodes=nodes,
            edges=self._between([hit.id for hit in result.hits[:_BETWEEN]]),
            reason=reason or ("" if nodes else f"{self.name} found nothing"),
            trajectories=result.trajectories,
        )

    def _between(self, ids: list[str]) -> tuple[Scored[Edge], ...]:
        """Return the edges among some nodes, each once, scored by the worse place of its two ends."""
        rows = self.graph.rows(ids)
        place = {self.graph.row(node): at for at, node in enumerate(ids)}
        found: list[Scored[Edge]] = []
        for row in rows.tolist():
            for edge in self.graph.edges_between(row, rows[rows > row]):
                worse = max(place[self.graph.row(edge.source)], place[self.graph.row(edge.target)])
                found.append(Scored(edge, 1 / (1 + worse), "joins two hits"))
        return tuple(sorted(found, key=lambda one: -one.score))
