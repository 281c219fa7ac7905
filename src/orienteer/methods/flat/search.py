"""What `orienteer search` ranks by words: names first, then texts, then values of properties. No method of a paper."""

from __future__ import annotations

import time

import numpy as np

from orienteer.graph.store import Graph
from orienteer.methods.card import MethodCard
from orienteer.methods.flat.bm25 import why
from orienteer.protocols import Run
from orienteer.records import Question, Ranked, Result, Usage
from orienteer.retrieval.graph_text import present
from orienteer.tools.name_search import WHY, NameSearch, Rank
from orienteer.tools.query_words import QueryWords


class Search:
    """Nodes that the words name, then nodes that share words with them by BM25."""

    name = "search"

    def __init__(self, graph: Graph) -> None:
        self._graph = graph

    def retrieve(self, question: Question, run: Run) -> Result:
        """Return the nodes that the words name, then those whose texts have them, best first."""
        started = time.perf_counter()
        words = QueryWords(self._graph, question.text)
        return Result(
            question=question.text,
            method=self.name,
            hits=self._hits(question, words),
            usage=Usage(seconds=time.perf_counter() - started),
            notes=(f"not in this graph: {', '.join(words.unknown)}",) if words.unknown else (),
        )

    def _hits(self, question: Question, words: QueryWords) -> tuple[Ranked, ...]:
        arrays = self._graph.arrays
        mask = arrays.mask(question.node_types or arrays.text_types or None, question.where)
        names = NameSearch(arrays)
        matches = names.matches(question.text, mask=mask)[: question.k]
        whole = names.whole_words(question.text)
        both = mask if whole is None else whole if mask is None else mask & whole
        ranked = arrays.text_index.search(words.terms, question.k, mask=both)
        best = float(ranked.scores[0]) if len(ranked.scores) else 1.0
        # A step is more than any score by words, so that scores descend as ranks do.
        step = 1 + max([best, *(match.score for match in matches)])
        scores = {match.row: match.score + step * (len(Rank) - match.rank) for match in matches}
        reasons = {match.row: WHY[match.rank] for match in matches}
        for row, score in zip(ranked.rows.tolist(), ranked.scores.tolist(), strict=True):
            scores.setdefault(row, score)
        rows = list(scores)[: question.k]
        coverages = words.coverages(np.array(rows, np.int32))
        return tuple(
            present(
                self._graph,
                row,
                score=scores[row],
                query=question.text,
                why="; ".join(filter(None, (reasons.get(row), why(words, coverage)))),
            )
            for row, coverage in zip(rows, coverages, strict=True)
        )


CARD = MethodCard(name="search", target="orienteer.methods.flat.search:Search", summary="names first, then words")
"""Its card. It stands in no table: the command `search` names it here."""
PATH = "orienteer.methods.flat.search:CARD"
