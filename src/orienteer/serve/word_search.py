"""What a person's search ranks by words: names first, then texts, then values of properties. No method of a paper."""

from __future__ import annotations

import time
from collections.abc import Iterator
from shlex import quote

import numpy as np

from orienteer.graph.store import Graph
from orienteer.index.bm25 import Mask
from orienteer.methods.card import MethodCard
from orienteer.methods.flat.bm25 import why
from orienteer.protocols import Run
from orienteer.records import Question, Ranked, Result, Usage
from orienteer.retrieval.graph_text import present
from orienteer.tools.name_search import WHY, Match, NameSearch, Rank
from orienteer.tools.query_words import QueryWords
from orienteer.tools.value_search import ValueMatch, ValueSearch


class Search:
    """Nodes that the words name, then nodes that share words with them, then nodes with the words as a value."""

    name = "search"

    def __init__(self, graph: Graph) -> None:
        self._graph = graph
        self._names, self._values = NameSearch(graph.arrays), ValueSearch(graph.arrays)

    def retrieve(self, question: Question, run: Run) -> Result:
        """Return the nodes that the words name, those whose texts have them, and those with them as a value."""
        started = time.perf_counter()
        arrays = self._graph.arrays
        mask = arrays.mask(question.node_types or arrays.text_types or None, question.where)
        words = QueryWords(self._graph, question.text)
        names = self._names.matches(question.text, mask=mask)
        values = self._values.matches(question.text, mask=mask)
        return Result(
            question=question.text,
            method=self.name,
            hits=self._hits(question, words, names[: question.k], values, mask),
            usage=Usage(seconds=time.perf_counter() - started),
            notes=tuple(self._notes(words, names, values)),
        )

    def _hits(
        self, question: Question, words: QueryWords, names: list[Match], values: list[ValueMatch], mask: Mask | None
    ) -> tuple[Ranked, ...]:
        whole = self._names.whole_words(question.text)
        both = mask if whole is None else whole if mask is None else mask & whole
        ranked = self._graph.arrays.text_index.search(words.terms, question.k, mask=both)
        # A step is more than any score by words, so that scores descend as ranks do.
        step = 1 + max([0.0, *ranked.scores[:1].tolist(), *(match.score for match in names)])
        scores = {match.row: match.score + step * (1 + len(Rank) - match.rank) for match in names}
        valued = [row for value in values for row in value.rows[: question.k].tolist()]
        if not any(coverage.is_full for coverage in words.coverages(ranked.rows)):
            scores = {
                **dict.fromkeys(
                    (row for value in values if value.is_whole for row in value.rows[: question.k].tolist()), step
                ),
                **scores,
            }
        for row, score in zip(ranked.rows.tolist(), ranked.scores.tolist(), strict=True):
            scores.setdefault(row, score)
        for row in valued:
            scores.setdefault(row, 0.0)
        scores = dict(sorted(scores.items(), key=lambda item: -item[1]))
        rows = list(scores)[: question.k]
        reasons = {match.row: WHY[match.rank] for match in names}
        conditions = [(set(value.rows.tolist()), f"{value.name} = {value.value}") for value in values]
        coverages = words.coverages(np.array(rows, np.int32))
        return tuple(
            present(
                self._graph,
                row,
                score=scores[row],
                query=question.text,
                why="; ".join(
                    filter(
                        None,
                        (
                            reasons.get(row),
                            *(condition for having, condition in conditions if row in having),
                            why(words, coverage),
                        ),
                    )
                ),
            )
            for row, coverage in zip(rows, coverages, strict=True)
        )

    def _notes(self, words: QueryWords, names: list[Match], values: list[ValueMatch]) -> Iterator[str]:
        """Yield the words that stand nowhere in the graph, and what the query is where it is no name."""
        tokenizer = self._graph.arrays.tokenizer
        of_values = {word for value in values for word in tokenizer.words(value.value)}
        if unknown := [word for word in words.unknown if word not in of_values]:
            yield f"not in this graph: {', '.join(unknown)}"
        if not names or names[0].rank > Rank.STEM:
            for value in values:
                if value.is_whole:
                    command = f"orienteer list {quote(str(self._graph.path))} --where {quote(value.condition)}"
                    yield f"no node has this name; {self._values.sentence(value)}: {command}"


CARD = MethodCard(name="search", target="orienteer.serve.word_search:Search", summary="names first, then words")
"""Its card. It stands in no table: the command `search` names it here."""
PATH = "orienteer.serve.word_search:CARD"
