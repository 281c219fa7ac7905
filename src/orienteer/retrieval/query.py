"""A question as retrievers read it, and the seam of retrievers."""

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
"""Of evidence: the whole, what is semantic, what is relational (002, figures 2 and 7)."""
ANSWER_TOKENS = 24_000
OF_ANSWERS = frozenset({"answer_from", "answer_tokens"})
"""Options that say how evidence is read, and nothing of how it is gathered."""


def checked_mode_or_auto(mode: Mode) -> Mode:
    """Return a mode as it is. Raises `BadOption` for one that is neither `auto` nor a mode of searchers."""
    return mode if mode == AUTO else checked_mode(mode)


@dataclass(frozen=True, slots=True)
class Query:
    """A question or sub-query, and what an analyzer makes of it."""

    text: str
    low: tuple[str, ...] = ()
    """Names of particular things. LightRAG's low-level keywords."""
    high: tuple[str, ...] = ()
    """Themes and relations. LightRAG's high-level keywords."""
    answer_types: tuple[str, ...] = ()
    """Node types that the answer may have. MiniRAG's answer types."""
    trajectories: tuple[Trajectory, ...] = field(default=(), compare=False)
    """What a model was asked to make it, this time: none where that was known."""
    k: int = 20
    """Passages at the most, or nodes where the graph has no passages. GraphSearch takes 30 (002, section 4.1)."""
    node_types: tuple[str, ...] = ()
    """Keep answers of these node types only."""
    where: tuple[str, ...] = ()
    """Keep answers that meet these conditions on properties only."""

    @staticmethod
    def of(question: Question) -> Query:
        """Return a question as a query that nothing has analyzed."""
        return Query(question.text, k=question.k, node_types=question.node_types, where=question.where)

    def analyzed(self, analyzer: Analyzer, run: Run) -> Query:
        """Return the query with what an analyzer makes of its text. Raises `BudgetExhausted`, `ModelError`."""
        analysis = analyzer.analyze(self.text, run)
        return replace(analysis, k=self.k, node_types=self.node_types, where=self.where)


class Analyzer(Protocol):
    """Makes a query of a text: by names alone, or by a model."""

    def analyze(self, text: str, run: Run) -> Query:
        """Return the query. Raises `BudgetExhausted`, `ModelError` where a model is asked."""


class KnowledgeBase(Protocol):
    """A retriever over a graph: the seam that GraphSearch plugs on."""

    @property
    def name(self) -> str:
        """The retriever's one lower-case name."""

    @property
    def config(self) -> GatherConfig:
        """Its options, as a record of a search tells them."""

    @property
    def graph(self) -> Graph:
        """What it reads."""

    def gather(self, query: Query, run: Run) -> Evidence:
        """Return what the graph holds about a query; evidence of nothing says why.

        Raises `BudgetExhausted` and `ModelError` where a server is asked, of an embedder or a model.
        """


@runtime_checkable
class OverBase(Protocol):
    """A method that is a retriever, which another method can read as well."""

    @property
    def base(self) -> KnowledgeBase:
        """The retriever."""

    @property
    def analyzer(self) -> Analyzer | None:
        """What makes a query of a question for it; None where it reads the text alone."""


class GatherConfig(Options):
    """What every retriever lets choose."""

    mode: Mode = AUTO
    """How texts are ranked: lexical, dense, hybrid, hybrid:WEIGHT, rrf; auto is hybrid where there are vectors."""
    answer_from: Part = "all"
    """What a model answers from, in one call: text (passages), graph (entities, facts, relations, paths) or all."""
    answer_tokens: int = Field(default=ANSWER_TOKENS, ge=1)
    """Size of the evidence that it reads: an agent's request; 50 passages of 400 tokens fit, figure 6a's most (002)."""

    _check_mode = field_validator("mode")(checked_mode_or_auto)
