"""What every retriever has around its own search: analysis, vectors that are paid for, the record of what it asked."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterable
from dataclasses import replace
from functools import cached_property
from typing import ClassVar, Generic, TypeVar

from orienteer.errors import BudgetExhausted, Error
from orienteer.graph.store import Graph
from orienteer.protocols import LanguageModel, Run
from orienteer.retrieval.analysis import AnalyzedConfig, open_analyzer
from orienteer.retrieval.evidence import Evidence, unpaid
from orienteer.retrieval.query import Analyzer, GatherConfig, Query
from orienteer.retrieval.spaces import Spaces

_C = TypeVar("_C", bound=GatherConfig)


class Gatherer(ABC, Generic[_C]):
    """A retriever over a graph. Safe to share among threads."""

    name: ClassVar[str]

    def __init__(
        self, config: _C, spaces: Spaces, analyzer: Analyzer | None = None, *, model: LanguageModel | None = None
    ) -> None:
        self.graph, self.config, self.spaces = spaces.graph, config, spaces
        self._analyzer, self._model = analyzer, model

    def gather(self, query: Query, run: Run) -> Evidence:
        """Return what the graph holds about a query, best first; evidence of nothing says why.

        Where the budget cannot pay for vectors it goes by words, and says so. Raises `BudgetExhausted`, `ModelError`
        where a model is asked.
        """
        original, query = query, self._analyzed(query, run)
        try:
            evidence = self._found(query, run)
        except Error as error:
            if query is not original:
                error.trajectories = (*query.trajectories, *error.trajectories)
            raise
        trajectories = [
            trajectory.model_copy(update={"method": f"{self.name}: {trajectory.method}"})
            for trajectory in (*query.trajectories, *evidence.trajectories)
        ]
        return replace(evidence, trajectories=tuple(trajectories))

    def _found(self, query: Query, run: Run) -> Evidence:
        """Return what the graph holds about an analyzed query; by words where vectors cannot be paid for."""
        try:
            self.spaces.pay(run, dict.fromkeys(self._embedded(query)))
        except BudgetExhausted:
            return unpaid(self._by_words._search(query, run))
        return self._search(query, run)

    def _analyzed(self, query: Query, run: Run) -> Query:
        """Return a query with its analysis, as far as this retriever has any."""
        if query.low or query.high or query.answer_types or query.trajectories or self.analyzer is None:
            return query
        return query.analyzed(self.analyzer, run)

    @cached_property
    def analyzer(self) -> Analyzer | None:
        """Return what analyzes questions, None where their text alone counts. Raises `BadOption` without a model."""
        if self._analyzer is not None or not isinstance(self.config, AnalyzedConfig):
            return self._analyzer
        return open_analyzer(self.graph, self.config.analysis, self._model)

    def require_model(self) -> None:
        """Raise `BadOption` where the options want a model and there is none.

        Otherwise nothing is raised before it is asked: what was once gathered with a model is read again without one.
        """
        _ = self.analyzer

    @cached_property
    def _by_words(self) -> Gatherer[_C]:
        return self._again(self.config.model_copy(update={"mode": "lexical"}))

    @abstractmethod
    def _again(self, config: _C) -> Gatherer[_C]:
        """Return the same retriever with another configuration."""

    @abstractmethod
    def _embedded(self, query: Query) -> Iterable[str]:
        """Return the texts whose vectors a search for an analyzed query takes."""

    @abstractmethod
    def _search(self, query: Query, run: Run) -> Evidence:
        """Return what the graph holds about an analyzed query."""


# `naive`: passages by words and meaning, nothing of the graph. The floor that every other retriever stands on.


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
