"""`bm25`: the nodes whose names and texts match the question's words best. The baseline of all five papers."""

from __future__ import annotations

import time
from dataclasses import dataclass

import numpy as np

from orienteer.graph.store import Graph
from orienteer.protocols import Run
from orienteer.records import Question, Ranked, Result, Usage
from orienteer.strategies.ranked import ranked, why_words
from orienteer.tools.render import Words


@dataclass(frozen=True, slots=True, kw_only=True)
class Bm25Config:
    """What is ranked."""

    k: int = 20
    """Hits at the most. ARK, section 4: Recall is taken at 20."""
    node_types: tuple[str, ...] = ()
    """Node types to keep; empty keeps all."""
    where: tuple[str, ...] = ()
    """Conditions on properties that a hit must meet, such as `year >= 2000`."""


class Bm25:
    """One search of the whole graph with the question as the query. No model, no steps."""

    name = "bm25"

    def __init__(self, graph: Graph, config: Bm25Config | None = None) -> None:
        self._graph = graph
        self.config = config if config is not None else Bm25Config()

    def retrieve(self, question: Question, run: Run) -> Result:
        """Return the nodes that share a word with the question, best first."""
        started = time.perf_counter()
        words = Words(self._graph, question.text)
        return Result(
            question=question.text,
            method=self.name,
            hits=self._hits(question.text, words),
            usage=Usage(seconds=time.perf_counter() - started),
            notes=(f"not in this graph: {', '.join(words.unknown)}",) if words.unknown else (),
        )

    def _hits(self, query: str, words: Words) -> tuple[Ranked, ...]:
        graph, config = self._graph, self.config
        found = graph.search(query, config.k, node_types=config.node_types or None, where=config.where)
        rows = [graph.row(hit.id) for hit in found]
        matches = words.matches(np.array(rows, np.int32))
        return tuple(
            ranked(graph, row, hit.score, words=words, why=why_words(words, match))
            for row, hit, match in zip(rows, found, matches, strict=True)
        )
