"""`bm25`: the nodes whose names and texts match the question's words best. The baseline of all five papers."""

from __future__ import annotations

import time

from orienteer.graph.search.query_words import Coverage, QueryWords
from orienteer.graph.store import Graph
from orienteer.protocols import Run
from orienteer.records import Question, Ranked, Result, Usage
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
        words = QueryWords(self._graph.arrays, question.text)
        return Result(
            question=question.text,
            method=self.name,
            hits=self._hits(question, words),
            usage=Usage(seconds=time.perf_counter() - started),
            notes=(f"not in this graph: {', '.join(words.unknown)}",) if words.unknown else (),
        )

    def _hits(self, question: Question, words: QueryWords) -> tuple[Ranked, ...]:
        graph = self._graph
        node_types = question.node_types or graph.arrays.text_types or None
        mask = graph.arrays.mask(node_types, question.where)
        rows, scores = graph.arrays.text_index.search(words.terms, question.k, mask=mask)
        hit_of = Presentation(graph, question.text)
        return tuple(
            hit_of(row, score=score, why=why(words, coverage))
            for row, score, coverage in zip(rows.tolist(), scores.tolist(), words.coverages(rows), strict=True)
        )


def why(words: QueryWords, coverage: Coverage) -> str:
    """Say which words of a query a node has, and which it lacks."""
    present_words = [word for word in words.postings if word not in coverage.missing]
    has = f"has {', '.join(present_words[:_NAMED])}" if present_words else ""
    lacks = f"lacks {', '.join(coverage.missing[:_NAMED])}" if coverage.missing else ""
    return "; ".join(filter(None, (has, lacks)))
