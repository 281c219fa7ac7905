"""The search by words: names first, then texts, then values of properties. No method of a paper."""

from __future__ import annotations

import time
from collections.abc import Iterator
from shlex import quote

from orienteer.graph.search import WHY, Rank, ValueSearch, WordRanking, WordSearch, phrases, shared_name
from orienteer.graph.store import Graph
from orienteer.index.bm25 import Mask
from orienteer.methods.flat import why
from orienteer.methods.table import MethodCard
from orienteer.protocols import Run
from orienteer.records import Question, Ranked, Result, Usage
from orienteer.retrieval.graph_text import Presentation


class Search:
    """Ranks nodes with matching names, then nodes with matching texts, then nodes with the words as a value."""

    name = "search"

    def __init__(self, graph: Graph) -> None:
        self._graph = graph
        self._search, self._values = WordSearch(graph.arrays), ValueSearch(graph.arrays)

    def retrieve(self, question: Question, run: Run) -> Result:
        """Return the nodes whose names, texts or values match the words."""
        started = time.perf_counter()
        arrays = self._graph.arrays
        mask = arrays.mask(question.node_types or arrays.text_types or None, question.where)
        ranking = self._search.search(question.text, question.k, mask=mask)
        return Result(
            question=question.text,
            method=self.name,
            hits=tuple(self._hits(question.text, ranking)),
            usage=Usage(seconds=time.perf_counter() - started),
            notes=tuple(self._notes(ranking, mask)),
        )

    def _hits(self, query: str, ranking: WordRanking) -> Iterator[Ranked]:
        reasons = {match.row: WHY[match.rank] for match in ranking.names}
        conditions = [(set(value.rows.tolist()), f"{value.name} = {value.value}") for value in ranking.values]
        coverages = ranking.words.coverages(ranking.rows)
        show = Presentation(self._graph, query)
        for row, score, coverage in zip(ranking.rows.tolist(), ranking.scores.tolist(), coverages, strict=True):
            having = (condition for rows, condition in conditions if row in rows)
            parts = (reasons.get(row), *having, why(ranking.words, coverage))
            yield show(row, score=score, why="; ".join(filter(None, parts)))

    def _notes(self, ranking: WordRanking, mask: Mask | None) -> Iterator[str]:
        """Yield notes: words that the graph lacks, names of several nodes, and a command if the query is a value."""
        arrays, names, values = self._graph.arrays, ranking.names, ranking.values
        of_values = {word for value in values for word in arrays.tokenizer.words(value.value)}
        if unknown := [word for word in ranking.words.unknown if word not in of_values]:
            yield f"not in this graph: {', '.join(unknown)}"
        yield from filter(None, (shared_name(arrays, phrase, mask) for phrase in phrases(ranking.words.query)))
        if not names or names[0].rank > Rank.STEM:
            for value in values:
                if value.is_whole:
                    command = f"orienteer list {quote(str(self._graph.path))} --where {quote(value.condition)}"
                    yield f"no node has this name; {self._values.sentence(value)}: {command}"


CARD = MethodCard(name="search", target="orienteer.serve.word_search:Search", summary="names first, then words")
"""Its card. It is in no table: the command `search` uses it."""
PATH = "orienteer.serve.word_search:CARD"
