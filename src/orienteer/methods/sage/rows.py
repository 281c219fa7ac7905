"""How well the table row that an edge comes from fits the question: a table names many things, one row a few."""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from orienteer.graph.adjacency import Entries
from orienteer.graph.reserved import TABLE
from orienteer.graph.store import Graph
from orienteer.index.searchers import Memo
from orienteer.records import JsonValue

_REMEMBERED = 4096  # tables whose words are kept at hand


class LinkingRows:
    """The words of the rows in which edges stand. Safe to share among threads."""

    def __init__(self, graph: Graph) -> None:
        self._graph = graph
        self._number = graph.types.nodes.index(TABLE) if TABLE in graph.types.nodes else None
        self._words = lru_cache(_REMEMBERED)(self._words_of)
        self._fits: Memo[str, _RowFits] = Memo(lambda query: _RowFits(self._weights(query), self._words))

    def shares(self, query: str, entries: Entries) -> NDArray[np.float64]:
        """Return, (edges,), the share of the question that the row of each edge holds; NaN for an edge without a row.

        The share is of the question's terms, each by its idf; of several rows the best one counts.
        """
        shares = np.full(len(entries.at), np.nan)
        if self._number is None:
            return shares
        fits = self._fits(query)
        for index, rows in self._graph.weights.rows(entries.at).items():
            table = self._table(entries, index)
            if table is not None:
                shares[index] = max(fits.of(table, row) for row in rows)
        return shares

    def _table(self, entries: Entries, index: int) -> int | None:
        """Return the end of an edge that is a table: where it begins, or else where it leads."""
        ends = int(entries.owner[index]), int(entries.neighbor[index])
        if entries.kind[index] & 1:
            ends = ends[::-1]
        return next((end for end in ends if self._graph.node_types[end] == self._number), None)

    def _weights(self, query: str) -> dict[str, float]:
        index = self._graph.text_index
        terms = self._graph.tokenizer.query(query)
        return {term: posting.idf for term in terms if (posting := index.posting(term)) is not None}

    def _words_of(self, table: int) -> dict[int, frozenset[str]]:
        """Return the terms of each row of a table, by its number in the table's file."""
        properties = self._graph.properties.of(table)
        first, count = _whole(properties.get("first_row")), _whole(properties.get("rows"))
        lines = self._graph.texts[table].split("\n")
        body = lines[len(lines) - count :] if 0 < count <= len(lines) else []
        return {first + at: frozenset(self._graph.tokenizer.terms(line)) for at, line in enumerate(body)}


class _RowFits:
    """How well rows fit one question; each is read once. Two threads that read the same row come to the same."""

    def __init__(self, weights: dict[str, float], words: Callable[[int], dict[int, frozenset[str]]]) -> None:
        self._weights, self._words, self._total = weights, words, sum(weights.values())
        self._shares: dict[tuple[int, int], float] = {}

    def of(self, table: int, row: int) -> float:
        """Return the share of the question that a row of a table holds."""
        share = self._shares.get((table, row))
        if share is None:
            words = self._words(table).get(row, frozenset())
            weight = sum(weight for term, weight in self._weights.items() if term in words)
            share = self._shares[table, row] = weight / self._total if self._total else 0.0
        return share


def _whole(value: JsonValue) -> int:
    return value if isinstance(value, int) else 0
