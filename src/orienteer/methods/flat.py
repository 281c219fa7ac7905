"""`bm25`, the baseline of all five papers, `dense` and `hybrid`: one search of the whole graph."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Literal

from pydantic import Field

from orienteer.errors import BudgetExhausted
from orienteer.graph.search import Coverage, QueryWords
from orienteer.graph.store import Graph
from orienteer.graph.titles import TitleFinder
from orienteer.index.arrays import Rows
from orienteer.index.searchers import WEIGHT, Searcher, TitleBonus
from orienteer.options import Options
from orienteer.protocols import Run
from orienteer.records import Question, Result, Usage
from orienteer.retrieval.graph_text import Presentation

_NAMED = 8  # words that a reason names


class Bm25:
    """One search of the whole graph with the question as the query. No model, no steps."""

    name = "bm25"

    def __init__(self, graph: Graph) -> None:
        self._graph = graph

    def retrieve(self, question: Question, run: Run) -> Result:
        """Return the nodes that share a word with the question, best first."""
        started = time.perf_counter()
        graph = self._graph
        words = QueryWords(graph.arrays, question.text)
        mask = graph.arrays.mask(question.node_types or graph.arrays.text_types or None, question.where)
        rows, scores = graph.arrays.text_index.search(words.terms, question.k, mask=mask)
        ranked = zip(rows.tolist(), scores.tolist(), words.coverages(rows), strict=True)
        hit_of = Presentation(graph, question.text)
        return Result(
            question=question.text,
            method=self.name,
            hits=tuple(hit_of(row, score=score, why=why(words, coverage)) for row, score, coverage in ranked),
            usage=Usage(seconds=time.perf_counter() - started),
            notes=(f"not in this graph: {', '.join(words.unknown)}",) if words.unknown else (),
        )


def why(words: QueryWords, coverage: Coverage) -> str:
    """Return the words of a query that a node has, and those that it lacks."""
    present_words = [word for word in words.postings if word not in coverage.missing]
    has = f"has {', '.join(present_words[:_NAMED])}" if present_words else ""
    lacks = f"lacks {', '.join(coverage.missing[:_NAMED])}" if coverage.missing else ""
    return "; ".join(filter(None, (has, lacks)))


# `dense`: the nodes nearest to the question in meaning. A baseline of STaRK and of SAGE (004, section 3).


Explain = Callable[[str, Rows], list[str]]
"""Says for each of some rows why it fits a query."""


class NearnessConfig(Options):
    """What is ranked, and how a node's vectors make one score."""

    pooling: Literal["max", "mean", "top"] = "max"
    """Of a node with several vectors its best one, the mean of all, or that of its best few. STaRK, section 4."""
    top: int = Field(default=3, ge=1)
    """How many of a node's vectors `pooling=top` takes."""

    @property
    def best(self) -> int:
        """How many of a node's vectors count, 0 for all."""
        return {"max": 1, "mean": 0, "top": self.top}[self.pooling]


def nearest_nodes(
    graph: Graph, searcher: Searcher, *, method: str, question: Question, run: Run, why: Explain
) -> Result:
    """Return the best nodes. A question that a server has to embed costs a call, claimed and charged."""
    started = time.perf_counter()
    try:
        spent = graph.arrays.searcher.vectors.pay(run, question.text) if question.text.strip() else Usage()
    except BudgetExhausted as error:
        return Result(
            question=question.text,
            method=method,
            stopped_by=error.limit,  # type: ignore[arg-type]  # its limits are endings
            notes=(f"the question could not be embedded: {error}",),
        )
    mask = graph.arrays.mask(question.node_types or graph.arrays.text_types or None, question.where)
    nearest = searcher.search(question.text, question.k, mask=mask)
    ranked = zip(nearest.rows.tolist(), nearest.scores.tolist(), why(question.text, nearest.rows), strict=True)
    hit_of = Presentation(graph, question.text)
    return Result(
        question=question.text,
        method=method,
        hits=tuple(hit_of(row, score=score, why=reason) for row, score, reason in ranked),
        usage=spent.model_copy(update={"seconds": time.perf_counter() - started}),
    )


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


# `hybrid`: BM25 and vectors in one ranking. SAGE's seeds (004, section 3), and a strong baseline by itself.
#
# Deviations: 1. `weight` is 0.4 and not the paper's 0.6: over four sets of questions the better one. `weight=0.6` is
# the paper's.


class HybridConfig(NearnessConfig):
    """How the two rankings become one."""

    weight: float = Field(default=WEIGHT, ge=0, le=1)
    """BM25's share of a linear score; the rest is the vectors'. SAGE's is 0.6 (section 3)."""
    fusion: Literal["linear", "rrf"] = "linear"
    """Scores weighed after min-max over the whole graph, or reciprocal places added (Cormack et al. 2009)."""
    titles: float = Field(default=0.0, ge=0, le=1)
    """Bonus of a node whose title stands in the question, as a share of the best score. Over passages 0.2 is good."""


class Hybrid:
    """One search by words and vectors of the whole graph. No language model, no steps. Raises `BadOption`."""

    name = "hybrid"

    def __init__(self, graph: Graph, config: HybridConfig | None = None) -> None:
        self._graph = graph
        self.config = config if config is not None else HybridConfig()
        best, weight = self.config.best, self.config.weight
        plain = graph.arrays.searcher("hybrid", weight=weight, fusion=self.config.fusion, best=best)
        self._titled = TitleBonus(plain, TitleFinder(graph.arrays), self.config.titles) if self.config.titles else None
        self._searcher: Searcher = self._titled or plain
        self._dense = graph.arrays.searcher("dense", best=best)

    def retrieve(self, question: Question, run: Run) -> Result:
        """Return the nodes that words and vectors together speak for, best first."""
        return nearest_nodes(self._graph, self._searcher, method=self.name, question=question, run=run, why=self._why)

    def _why(self, query: str, rows: Rows) -> list[str]:
        graph = self._graph
        words = QueryWords(graph.arrays, query)
        named = set(self._titled.titled(query).tolist()) if self._titled is not None else set()
        reasons = []
        for row, near, coverage in zip(
            rows.tolist(), self._dense.scores(query, rows), words.coverages(rows), strict=True
        ):
            had = [word for word in words.postings if word not in coverage.missing]
            has = f"has {', '.join(had[:_NAMED])}; " if had else ""
            reasons.append(f"{'title in the question; ' if row in named else ''}{has}cosine {near:.2f}")
        return reasons
