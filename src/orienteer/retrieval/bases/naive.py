"""`naive`: passages by words and meaning, nothing of the graph. The floor that every other retriever stands on."""

from __future__ import annotations

from collections.abc import Iterable

from orienteer.graph.store import Graph
from orienteer.protocols import Run
from orienteer.retrieval.bases.gatherer import Gatherer
from orienteer.retrieval.evidence import Evidence
from orienteer.retrieval.query import Analyzer, GatherConfig, Query
from orienteer.retrieval.spaces import Spaces


class NaiveConfig(GatherConfig):
    """What every retriever lets choose; nothing else."""


class Naive(Gatherer[NaiveConfig]):
    """One search over passages."""

    name = "naive"

    def __init__(self, graph: Graph, config: NaiveConfig | None = None, analyzer: Analyzer | None = None) -> None:
        config = config if config is not None else NaiveConfig()
        super().__init__(config, Spaces(graph, config.mode))

    def _again(self, config: NaiveConfig) -> Naive:
        return Naive(self.graph, config)

    def _embedded(self, query: Query) -> Iterable[str]:
        return (query.text,)

    def _search(self, query: Query, run: Run) -> Evidence:
        """Return the passages that words and meaning speak for."""
        hits = self.spaces.search(query.text, query.k, self.spaces.answers(query.node_types, query.where))
        nodes = [self.spaces.node(row, score, self.spaces.mode) for row, score in zip(*hits, strict=True)]
        return Evidence(nodes=tuple(nodes), reason="" if nodes else "no passage shares a word with the query")
