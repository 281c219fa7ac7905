"""What `dense` and `hybrid` share: one search of an embedded graph with the question as the query."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Literal

from pydantic import Field

from orienteer.errors import BudgetExhausted
from orienteer.graph.store import Graph
from orienteer.index.arrays import Rows
from orienteer.index.searchers import Searcher
from orienteer.options import Options
from orienteer.protocols import Run
from orienteer.records import Question, Ranked, Result, Usage
from orienteer.retrieval.graph_text import Presentation

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
        spent = embedded(graph, question.text, run)
    except BudgetExhausted as error:
        return Result(
            question=question.text,
            method=method,
            stopped_by=error.limit,  # type: ignore[arg-type]  # its limits are endings
            notes=(f"the question could not be embedded: {error}",),
        )
    mask = graph.arrays.mask(question.node_types or graph.arrays.text_types or None, question.where)
    nearest = searcher.search(question.text, question.k, mask=mask)
    return Result(
        question=question.text,
        method=method,
        hits=_hits(graph, nearest.rows, nearest.scores.tolist(), question.text, why),
        usage=spent.model_copy(update={"seconds": time.perf_counter() - started}),
    )


def _hits(graph: Graph, rows: Rows, scores: list[float], query: str, why: Explain) -> tuple[Ranked, ...]:
    hit_of = Presentation(graph, query)
    return tuple(
        hit_of(row, score=score, why=reason)
        for row, score, reason in zip(rows.tolist(), scores, why(query, rows), strict=True)
    )


def embedded(graph: Graph, query: str, run: Run) -> Usage:
    """Have the question embedded, and return what that has spent. Raises `BudgetExhausted` before a served call."""
    return graph.arrays.searcher.vectors.pay(run, query) if query.strip() else Usage()
