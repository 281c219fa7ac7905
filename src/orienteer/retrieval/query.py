"""A question as retrievers read it, and the protocols of retrievers and analyzers."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import Literal, Protocol, TypeAlias, runtime_checkable

from pydantic import Field, field_validator

from orienteer.graph.store import Graph
from orienteer.index.searchers import Mode, checked_mode
from orienteer.options import Options
from orienteer.protocols import Run
from orienteer.records import Question, Trajectory
from orienteer.retrieval.evidence import Evidence

AUTO = "auto"
"""The mode of retrievers: hybrid where the graph has vectors, else by words."""
Part: TypeAlias = Literal["all", "text", "graph"]
"""Parts of evidence: all of it, what is semantic, what is relational (002, figures 2 and 7)."""
ANSWER_TOKENS = 24_000
OF_ANSWERS = frozenset({"answer_from", "answer_tokens"})
"""Options that say how evidence is read, not how it is gathered."""


def checked_mode_or_auto(mode: Mode) -> Mode:
    """Return a mode unchanged. Raises `BadOption` unless it is `auto` or a mode of searchers."""
    return mode if mode == AUTO else checked_mode(mode)


@dataclass(frozen=True, slots=True)
class Query:
    """A question or sub-query with what an analyzer finds in it."""

    text: str
    low: tuple[str, ...] = ()
    """Names of particular things. LightRAG's low-level keywords."""
    high: tuple[str, ...] = ()
    """Themes and relations. LightRAG's high-level keywords."""
    answer_types: tuple[str, ...] = ()
    """Node types that the answer may have. MiniRAG's answer types."""
    trajectories: tuple[Trajectory, ...] = field(default=(), compare=False)
    """The model calls that analyzed it this time; none where the analysis was remembered."""
    k: int = 20
    """At most so many passages, or nodes in a graph without passages. GraphSearch takes 30 (002, section 4.1)."""
    node_types: tuple[str, ...] = ()
    """Node types that answers may have; empty for all."""
    where: tuple[str, ...] = ()
    """Conditions on properties that answers must meet."""

    @staticmethod
    def of(question: Question) -> Query:
        """Return a question as a query that is not analyzed yet."""
        return Query(question.text, k=question.k, node_types=question.node_types, where=question.where)

    def analyzed(self, analyzer: Analyzer, run: Run) -> Query:
        """Return the query with what an analyzer finds in its text. Raises `BudgetExhausted`, `ModelError`."""
        analysis = analyzer.analyze(self.text, run)
        return replace(analysis, k=self.k, node_types=self.node_types, where=self.where)


class Analyzer(Protocol):
    """Finds names, themes and answer types in a text, by the graph's names or by a model."""

    def analyze(self, text: str, run: Run) -> Query:
        """Return the query. Raises `BudgetExhausted`, `ModelError` where a model is asked."""


class KnowledgeBase(Protocol):
    """A retriever over a graph, which GraphSearch builds on."""

    @property
    def name(self) -> str:
        """The retriever's one lower-case name."""

    @property
    def config(self) -> GatherConfig:
        """Its options, which the record of a search holds."""

    @property
    def graph(self) -> Graph:
        """The graph that it reads."""

    def gather(self, query: Query, run: Run) -> Evidence:
        """Return the evidence for a query; empty evidence has a reason.

        Raises `BudgetExhausted` and `ModelError` where it asks the server of an embedder or a model.
        """


@runtime_checkable
class OverBase(Protocol):
    """A method that wraps a retriever, which another method can use too."""

    @property
    def base(self) -> KnowledgeBase:
        """The retriever."""

    @property
    def analyzer(self) -> Analyzer | None:
        """Its analyzer of questions, or None if it reads only their text."""


class GatherConfig(Options):
    """What every retriever lets choose."""

    mode: Mode = AUTO
    """How texts are ranked: lexical, dense, hybrid, hybrid:WEIGHT, rrf; auto is hybrid where there are vectors."""
    answer_from: Part = "all"
    """What a model answers from, in one call: text (passages), graph (entities, facts, relations, paths) or all."""
    answer_tokens: int = Field(default=ANSWER_TOKENS, ge=1)
    """Size of the evidence that it reads: an agent's request; 50 passages of 400 tokens fit, figure 6a's most (002)."""

    _check_mode = field_validator("mode")(checked_mode_or_auto)
