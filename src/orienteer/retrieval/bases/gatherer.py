"""The common parts of retrievers: analysis, payment of vectors, the record of model calls; and `naive`."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterable
from dataclasses import replace
from functools import cached_property
from typing import ClassVar, Generic, TypeVar, cast

from orienteer.errors import BudgetExhausted, Error
from orienteer.graph.store import Graph
from orienteer.protocols import LanguageModel, Run
from orienteer.retrieval.analysis import AnalyzedConfig, open_analyzer
from orienteer.retrieval.evidence import Evidence, unpaid
from orienteer.retrieval.query import Analyzer, GatherConfig, Query, Spaces

_C = TypeVar("_C", bound=GatherConfig)


class Gatherer(ABC, Generic[_C]):
    """A retriever over a graph. Safe to share among threads."""

    name: ClassVar[str]

    config_class: ClassVar[type[GatherConfig]]
    """The class of its options."""

    def __init__(
        self,
        graph: Graph,
        config: _C | None = None,
        analyzer: Analyzer | None = None,
        *,
        model: LanguageModel | None = None,
    ) -> None:
        self.graph, self._analyzer, self._model = graph, analyzer, model
        self.config = cast(_C, self.config_class()) if config is None else config
        self.spaces = self._open_spaces()
        self._prepare()

    def _open_spaces(self) -> Spaces:
        """Return the rows that it reads by their roles, and how they are searched."""
        return Spaces(self.graph, self.config.mode)

    def _prepare(self) -> None:  # a retriever may need nothing
        """Open what its searches need, once a graph."""

    def gather(self, query: Query, run: Run) -> Evidence:
        """Return the evidence for a query, best first; without any, its `reason` says why.

        If the budget cannot pay for vectors it goes by words, and says so. Raises `BudgetExhausted`, `ModelError`
        if a model is asked.
        """
        original = query
        if not (query.low or query.high or query.answer_types or query.trajectories) and self.analyzer is not None:
            query = query.analyzed(self.analyzer, run)
        try:
            try:
                self.spaces.pay(run, dict.fromkeys(self._embedded(query)))
            except BudgetExhausted:
                evidence = unpaid(self._by_words._search(query, run))
            else:
                evidence = self._search(query, run)
        except Error as error:
            if query is not original:
                error.trajectories = (*query.trajectories, *error.trajectories)
            raise
        trajectories = [
            trajectory.model_copy(update={"method": f"{self.name}: {trajectory.method}"})
            for trajectory in (*query.trajectories, *evidence.trajectories)
        ]
        return replace(evidence, trajectories=tuple(trajectories))

    @cached_property
    def analyzer(self) -> Analyzer | None:
        """Return the analyzer of questions, or None if only their text counts. Raises `BadOption` without a model."""
        if self._analyzer is not None or not isinstance(self.config, AnalyzedConfig):
            return self._analyzer
        return open_analyzer(self.graph, self.config.analysis, self._model)

    def require_model(self) -> None:
        """Raise `BadOption` if the options need a model and there is none.

        Otherwise nothing is raised before it is asked: what was once gathered with a model is read again without one.
        """
        _ = self.analyzer

    @cached_property
    def _by_words(self) -> Gatherer[_C]:
        config = self.config.model_copy(update={"mode": "lexical"})
        return type(self)(self.graph, config, self._analyzer, model=self._model)

    @abstractmethod
    def _embedded(self, query: Query) -> Iterable[str]:
        """Return the texts whose vectors a search for an analyzed query needs."""

    @abstractmethod
    def _search(self, query: Query, run: Run) -> Evidence:
        """Return the evidence for an analyzed query."""


# `naive`: passages by words and meaning, nothing of the graph. The floor that every other retriever stands on.


class NaiveConfig(GatherConfig):
    """What every retriever lets choose; nothing else."""


class Naive(Gatherer[NaiveConfig]):
    """One search over passages."""

    name, config_class = "naive", NaiveConfig

    def _embedded(self, query: Query) -> Iterable[str]:
        return (query.text,)

    def _search(self, query: Query, run: Run) -> Evidence:
        """Return the passages that words and meaning speak for."""
        hits = self.spaces.search(query.text, query.k, self.spaces.answers(query.node_types, query.where))
        nodes = [self.spaces.node(row, score, self.spaces.mode) for row, score in zip(*hits, strict=True)]
        return Evidence(nodes=tuple(nodes), reason="" if nodes else "no passage shares a word with the query")
