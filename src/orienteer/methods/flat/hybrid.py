"""`hybrid`: BM25 and vectors in one ranking. SAGE's seeds (004, section 3), and a strong baseline by itself.

Deviations:
1. `weight` is 0.4 and not the paper's 0.6: over four sets of questions the better one. `weight=0.6` is the paper's.
"""

from __future__ import annotations

from typing import Literal

from pydantic import Field

from orienteer.graph.names.titles import TitleFinder
from orienteer.graph.search.query_words import QueryWords
from orienteer.graph.store import Graph
from orienteer.index.arrays import Rows
from orienteer.index.searchers import WEIGHT, Searcher, TitleBonus
from orienteer.methods.flat.nearness import NearnessConfig, nearest_nodes
from orienteer.protocols import Run
from orienteer.records import Question, Result

_NAMED = 8  # words that a reason names


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
