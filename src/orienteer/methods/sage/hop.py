"""One hop from the seeds, and how much the edges that lead to each neighbour count.

A table names many things and each of its rows only a few: a mention counts by how well its row fits the question.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from orienteer.graph.adjacency import Entries, KindMask
from orienteer.graph.pieces.similar import SIMILAR, open_layer
from orienteer.graph.reserved import TABLE
from orienteer.graph.store import Graph
from orienteer.index.arrays import Rows, runs
from orienteer.index.searchers import Memo
from orienteer.methods.sage.config import NAME_EDGES, SageConfig
from orienteer.records import JsonValue
from orienteer.remembered import remembered

Floats = NDArray[np.float64]

MENTIONS = "mentions"
ONE_WAY = (MENTIONS, "links_to")
"""Edge types of a chunk graph that say less backwards: many chunks mention a country, and it mentions none of them."""
LAYER = -1
"""The kind, and the place, of an edge that lies beside the graph."""
_LEAST_SHARE = 0.1  # of the question, that any row is taken to hold
_REMEMBERED = 4096  # tables whose words are kept at hand


class SeedNeighbors(NamedTuple):
    """The neighbours of some seeds, in row order, the seeds that are neighbours of others among them."""

    rows: Rows
    evidence: Floats
    """How strongly the seeds' edges speak for each, the greatest 1."""
    through: NDArray[np.int32]
    """The seed that speaks most for each."""
    edge: NDArray[np.int64]
    """The place of its edge in the adjacency arrays, `LAYER` for one beside the graph."""
    kind: NDArray[np.int64]
    """The kind of that edge, `LAYER` for one beside the graph."""


class SeedEdges(NamedTuple):
    """Edges from seeds, one entry an edge, and how much each counts."""

    owner: NDArray[np.int32]
    neighbor: NDArray[np.int32]
    at: NDArray[np.int64]
    kind: NDArray[np.int64]
    counted: Floats


class EdgeWeight:
    """How much an edge counts, 0 to 1: its weight by the greatest of its edge type, so that types compare."""

    def __init__(self, graph: Graph, config: SageConfig) -> None:
        self._graph, self._config = graph, config
        greatest: Mapping[str, float] = graph.arrays.manifest.provenance.get("greatest_weights") or {}
        names = graph.arrays.types.edges
        self._greatest = np.array([float(greatest.get(name) or np.nan) for name in names])  # (edge types,)
        self._plain = config.unweighted if greatest else 1.0
        self._share = np.array([config.similar if name == SIMILAR else 1.0 for name in names])  # (edge types,)
        is_one_way = [name in ONE_WAY and graph.arrays.is_made_of_documents for name in names]
        self._backwards = np.where(is_one_way, config.backwards, 1.0)  # (edge types,)
        self._is_mention = np.array([name == MENTIONS for name in names], np.bool_)  # (edge types,)
        self._rows = LinkingRows(graph)

    def of(self, entries: Entries, query: str) -> Floats:
        """Return how much each of these edges counts, (edges,).

        Where the graph does not tell the greatest weight of an edge type, the greatest of these edges stands for it. A
        mention in a row of a table counts the more, the more of the question that row holds.
        """
        types = entries.kind.astype(np.int64) >> 1
        weights = self._graph.arrays.weights(entries.at).clip(min=0)
        greatest = self._greatest[types]
        scale = np.ones(len(types))
        for number in np.unique(types[np.isnan(greatest)]).tolist():
            here = types == number
            most = float(weights[here].max())
            greatest[here] = most or 1.0
            scale[here] = self._plain
        counted = scale * self._share[types] * weights / greatest
        counted = np.where(entries.kind & 1, counted * self._backwards[types], counted).clip(max=1)
        return np.asarray(counted * self._fit(entries, query))

    def _fit(self, entries: Entries, query: str) -> Floats:
        """Return the factor by which each edge counts more for its row, (edges,): 1 for an edge without a row."""
        fit = np.ones(len(entries.at))
        is_mention = self._is_mention[entries.kind.astype(np.int64) >> 1]
        if self._config.rows and is_mention.any():
            shares = self._rows.shares(query, entries.where(is_mention))
            fit[is_mention] = np.where(np.isnan(shares), 1.0, 1 + self._config.rows * (_LEAST_SHARE + shares))
        return fit


class OneHop:
    """Walks one edge from seeds: over the edges of the graph, and over those of similarity that lie beside it."""

    def __init__(self, graph: Graph, config: SageConfig) -> None:
        self._graph, self._similar = graph, config.similar
        wanted = config.edge_types or None
        has_layer = SIMILAR not in graph.arrays.types.edges and (wanted is None or SIMILAR in wanted)
        self._layer = open_layer(graph) if has_layer else None
        self.edge_types = self._own_types(config)
        """The edge types of the graph that are walked; None for all."""
        self._kinds: KindMask | None = graph.arrays.kind_mask(self.edge_types, None)
        self._weight = EdgeWeight(graph, config)
        self._read = graph.arrays.mask(graph.arrays.text_types or None)

    @property
    def has_layer(self) -> bool:
        """Tell whether edges beside the graph are walked, which no tool shows."""
        return self._layer is not None

    def around(self, seeds: NDArray[np.int32]) -> Rows:
        """Return all nodes one edge away from these seeds, ascending."""
        rows = np.unique(seeds)
        own = self._entries(rows).neighbor
        return np.unique(own if self._layer is None else np.append(own, self._layer.around(rows).neighbor))

    def from_(self, seeds: NDArray[np.int32], strength: Floats, query: str) -> SeedNeighbors:
        """Return all nodes one edge away from these seeds: SAGE, section 2.2.B.

        The evidence for a neighbour is the sum, over the edges that lead to it, of the seed's strength times what the
        edge counts, divided by the greatest such sum. `seeds` and `strength` are aligned, in any order.
        """
        order = np.argsort(seeds, kind="stable")
        seeds, strength = seeds[order], strength[order]
        edges = self._edges(seeds, query)
        share = strength[seeds.searchsorted(edges.owner)] * edges.counted  # (edges,)
        by_neighbor = np.lexsort((-edges.owner, share, edges.neighbor))
        rows, counts = runs(edges.neighbor[by_neighbor])
        ends = np.cumsum(counts)
        total = np.add.reduceat(share[by_neighbor], ends - counts) if len(rows) else np.zeros(0)
        best = by_neighbor[ends - 1]
        most = float(total.max(initial=0.0))
        evidence = total / most if most else total
        return SeedNeighbors(rows, evidence, edges.owner[best], edges.at[best], edges.kind[best])

    def _entries(self, rows: NDArray[np.int32]) -> Entries:
        """Return the edges of the graph; where entities were extracted from texts, those between texts alone."""
        entries = self._graph.arrays.adjacency.entries(rows, self._kinds)
        return entries if self._read is None else entries.where(self._read[entries.neighbor])

    def _own_types(self, config: SageConfig) -> list[str] | None:
        wanted = list(config.edge_types) or None
        if wanted is not None and self._layer is not None:
            wanted = [name for name in wanted if name != SIMILAR]
        if not config.faithful:
            return wanted
        return [
            name for name in (self._graph.arrays.types.edges if wanted is None else wanted) if name not in NAME_EDGES
        ]

    def _edges(self, seeds: NDArray[np.int32], query: str) -> SeedEdges:
        entries = self._entries(seeds)
        kinds, counted = entries.kind.astype(np.int64), self._weight.of(entries, query)
        own = SeedEdges(entries.owner, entries.neighbor, entries.at, kinds, counted)
        if self._layer is None:
            return own
        alike = self._layer.around(seeds)
        beside = np.full(len(alike.owner), LAYER, np.int64)
        weights = self._similar * (alike.weight / (self._layer.greatest or 1.0)).astype(np.float64).clip(0, 1)
        return SeedEdges(
            np.concatenate([own.owner, alike.owner]),
            np.concatenate([own.neighbor, alike.neighbor]),
            np.concatenate([own.at, beside]),
            np.concatenate([own.kind, beside]),
            np.concatenate([own.counted, weights]),
        )


class LinkingRows:
    """The words of the rows in which edges stand. Safe to share among threads."""

    def __init__(self, graph: Graph) -> None:
        self._graph = graph
        self._number = graph.arrays.types.nodes.index(TABLE) if TABLE in graph.arrays.types.nodes else None
        self._fits = Memo[str, _RowFits]()

    def shares(self, query: str, entries: Entries) -> NDArray[np.float64]:
        """Return, (edges,), the share of the question that the row of each edge holds; NaN for an edge without a row.

        The share is of the question's terms, each by its idf; of several rows the best one counts.
        """
        shares = np.full(len(entries.at), np.nan)
        if self._number is None:
            return shares
        fits = self._fits(query, lambda query: _RowFits(self._weights(query)))
        for index, rows in self._graph.arrays.weights.rows(entries.at).items():
            table = self._table(entries, index)
            if table is not None:
                shares[index] = max(fits.of(table, row, self._words) for row in rows)
        return shares

    def _table(self, entries: Entries, index: int) -> int | None:
        """Return the end of an edge that is a table: where it begins, or else where it leads."""
        ends = int(entries.owner[index]), int(entries.neighbor[index])
        if entries.kind[index] & 1:
            ends = ends[::-1]
        return next((end for end in ends if self._graph.arrays.node_types[end] == self._number), None)

    def _weights(self, query: str) -> dict[str, float]:
        index = self._graph.arrays.text_index
        terms = self._graph.arrays.tokenizer.query(query)
        return {term: posting.idf for term in terms if (posting := index.posting(term)) is not None}

    @remembered(_REMEMBERED)
    def _words(self, table: int) -> dict[int, frozenset[str]]:
        """Return the terms of each row of a table, by its number in the table's file."""
        properties = self._graph.arrays.properties.of(table)
        first, count = _whole(properties.get("first_row")), _whole(properties.get("rows"))
        lines = self._graph.arrays.texts[table].split("\n")
        body = lines[len(lines) - count :] if 0 < count <= len(lines) else []
        return {first + at: frozenset(self._graph.arrays.tokenizer.terms(line)) for at, line in enumerate(body)}


class _RowFits:
    """How well rows fit one question; each is read once. Two threads that read the same row come to the same."""

    def __init__(self, weights: dict[str, float]) -> None:
        self._weights, self._total = weights, sum(weights.values())
        self._shares: dict[tuple[int, int], float] = {}

    def of(self, table: int, row: int, words_of: Callable[[int], dict[int, frozenset[str]]]) -> float:
        """Return the share of the question that a row of a table holds, whose words a function tells."""
        share = self._shares.get((table, row))
        if share is None:
            words = words_of(table).get(row, frozenset())
            weight = sum(weight for term, weight in self._weights.items() if term in words)
            share = self._shares[table, row] = weight / self._total if self._total else 0.0
        return share


def _whole(value: JsonValue) -> int:
    return value if isinstance(value, int) else 0
