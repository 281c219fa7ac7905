"""A question as retrievers read it, the roles of a graph's nodes for them, and their protocols."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Literal, Protocol, TypeAlias, runtime_checkable

import numpy as np
from numpy.typing import NDArray
from pydantic import Field, field_validator

from orienteer.graph.reserved import COMMUNITY, FACT, PASSAGES, RESERVED
from orienteer.graph.store import Graph
from orienteer.index.arrays import Rows
from orienteer.index.bm25 import Mask, ScoredRows
from orienteer.index.searchers import Mode, checked_mode, ranking_of
from orienteer.options import Options
from orienteer.protocols import Run
from orienteer.records import Edge, Node, Question, Trajectory
from orienteer.retrieval.evidence import Evidence, Scored

AUTO = "auto"
"""The mode of retrievers: hybrid if the graph has vectors, else by words."""
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
    """The model calls that analyzed it this time; none if the analysis was remembered."""
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
        """Return the query. Raises `BudgetExhausted`, `ModelError` if a model is asked."""


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

        Raises `BudgetExhausted` and `ModelError` if it asks the server of an embedder or a model.
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


class Spaces:
    """Passages, entities, facts and communities of a graph. Safe to share among threads.

    In a graph without passages the nodes are read instead: all but facts and communities, which are made of the others,
    unless there are no others.
    """

    def __init__(self, graph: Graph, mode: Mode = AUTO, *, telling: bool = False) -> None:
        self.graph = graph
        has_vectors = graph.arrays.searcher.has_vectors
        self.mode = mode if mode != AUTO else ("hybrid" if has_vectors else "lexical")
        types = graph.arrays.types.nodes
        self.has_passages = any(name in PASSAGES for name in types)
        self.searcher = graph.arrays.searcher(self.mode, telling=telling and self.has_passages)
        """Ranks rows for a text; of passages by its telling words alone if it says so."""
        self.entities = self._of([name for name in types if name not in RESERVED])
        self.facts, self.communities = self._of([FACT]), self._of([COMMUNITY])
        others = ~(self.facts | self.communities)
        nodes = others if others.any() else np.ones(len(graph), np.bool_)
        self.passages: Mask = self._of(PASSAGES) if self.has_passages else nodes

    def answers(self, node_types: Sequence[str] = (), where: Sequence[str] = ()) -> Mask:
        """Mark the rows that may be answers: passages that meet the conditions, or nodes of the types asked for.

        Returns (nodes,) of bool. Raises `UnknownType`, `UnknownProperty`, `BadOption`.
        """
        mask = self.graph.arrays.mask(node_types or None, where)
        if mask is None:
            return self.passages
        return mask if node_types else mask & self.passages

    def _of(self, names: Collection[str]) -> Mask:
        here = [name for name in names if name in self.graph.arrays.types.nodes]
        mask = self.graph.arrays.mask(here) if here else None
        return np.zeros(len(self.graph), np.bool_) if mask is None else mask

    def pay(self, run: Run, texts: Iterable[str]) -> None:
        """Embed texts that are about to be searched for; a server's work is charged to the run.

        Raises `BudgetExhausted` before a call, `ModelError`.
        """
        if ranking_of(self.mode).kind == "lexical":
            return
        for text in texts:
            if text.strip():
                self.graph.arrays.searcher.vectors.pay(run, text)

    def nearness(self, run: Run, texts: Sequence[str], rows: Rows) -> NDArray[np.float64]:
        """Return the cosine of several short texts with each row: (texts, rows), 0 if negative or without a vector.

        A server's work is charged to the run. Raises `BudgetExhausted` before a call, `ModelError`.
        """
        vectors = self.graph.arrays.searcher.vectors
        near = [vectors.index.scores(vector, rows) for vector in vectors.encode_together(run, tuple(texts))]
        return np.array(near).reshape(len(texts), len(rows)).clip(min=0)

    def search(self, text: str, k: int, mask: Mask) -> ScoredRows:
        """Return the `k` best marked rows for a text, best first; of ties the smaller row first. `mask` is (nodes,)."""
        return self.searcher.search(text, k, mask=mask)

    def scores(self, text: str, rows: Rows) -> NDArray[np.float64]:
        """Return the scores that `search` would give rows, (n,) and ascending, for a text: (n,) float64."""
        return self.searcher.scores(text, rows)

    def node(self, row: int, score: float, why: str = "") -> Scored[Node]:
        """Return a row as evidence."""
        return Scored(self.graph.arrays.node_at(int(row)), float(score), why)

    def edge(self, owner: int, neighbor: int, kind: int, at: int, score: float, why: str = "") -> Scored[Edge]:
        """Return an entry of the adjacency arrays as evidence."""
        return Scored(self.graph.arrays.edge(int(owner), int(neighbor), int(kind), int(at)), float(score), why)

    def joining(self, rows: Rows, scores: NDArray[Any], most: int) -> tuple[Scored[Edge], ...]:
        """Return the edges among rows as evidence, best first: each has the score of its worse end.

        `rows` and `scores` are (n,) and aligned, in any order.
        """
        order = np.argsort(rows)
        rows, scores = rows[order], scores[order]
        entries = self.graph.arrays.adjacency.entries(rows)
        entries = entries.where((entries.kind & 1 == 0) & np.isin(entries.neighbor, rows))
        worse = np.minimum(scores[rows.searchsorted(entries.owner)], scores[rows.searchsorted(entries.neighbor)])
        best = np.lexsort((entries.at, -worse))[:most]
        columns = (column[best].tolist() for column in (*entries, worse))
        return tuple(
            self.edge(owner, neighbor, kind, at, score, "joins two that were found")
            for owner, neighbor, kind, at, score in zip(*columns, strict=True)
        )
