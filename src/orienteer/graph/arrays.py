"""The arrays of a graph: its nodes and edges by row, for methods, tools and importers."""

from __future__ import annotations

import json
from collections.abc import Callable, Collection, Iterable, Sequence
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from orienteer.errors import BadOption
from orienteer.graph import properties
from orienteer.graph.adjacency import Adjacency, EdgeWeights, Entries, KindMask, Meeting, meet, span
from orienteer.graph.damage import telling_damage
from orienteer.graph.format import Manifest
from orienteer.graph.nodes import Nodes
from orienteer.graph.searchers import Searchers
from orienteer.index.arrays import Folder, Rows
from orienteer.index.bm25 import Mask
from orienteer.index.searchers import LexicalSearcher, Mode
from orienteer.patience import check_patience
from orienteer.protocols import OpenEmbedder
from orienteer.records import Direction, Edge, Kind
from orienteer.remembered import cached_method


class GraphArrays(Nodes):
    """A graph by rows: `graph.arrays`. A row is the number of a node in the order of the ids.

        arrays = graph.arrays
        rows = arrays.rows(["Erlang", "Elixir"])
        neighbors = arrays.entries(rows).neighbor
        names = [arrays.names[row] for row in neighbors]

    `Graph` names nodes by ids; methods and tools use rows, which cost no text. Safe to share among threads.
    """

    def __init__(self, path: Path, folder: Path, manifest: Manifest, *, embedder: OpenEmbedder | None) -> None:
        super().__init__(path, Folder(folder, manifest.files), manifest)
        self.adjacency = Adjacency(self._folder)
        if not manifest.edges <= len(self.adjacency.neighbor) <= 2 * manifest.edges:
            raise ValueError(f"{len(self.adjacency.neighbor)} ends of {manifest.edges} edges")
        self._extras = self._folder.strings("edge_extra") if self._folder.has("edge_extra.utf8") else None
        # All files are mapped now: another process may replace this generation, and remove its files, at any time.
        lexical = LexicalSearcher(self.tokenizer, self.text_index)
        self.searcher = Searchers(path, manifest.generation, lexical, embedder)
        """The searchers that rank nodes by words, by meaning, or by both."""

    @property
    def cypher_engine(self) -> Callable[[Any], Any] | None:  # Any: a `Graph`, and an `Engine` of Cypher, layers above
        """The engine that answers Cypher over this graph in place of a copy; None if a copy is made."""
        return None

    @telling_damage
    def mask(self, node_types: Collection[str] | None, where: Sequence[str] = ()) -> Mask | None:
        """Mark the nodes of these types that meet these conditions: (nodes,); None without types and conditions.

        Raises `UnknownType`, `UnknownProperty`, `BadOption`.
        """
        for name, names in (("node_types", node_types), ("where", where)):
            if isinstance(names, str):
                raise BadOption(f"{name} is the text {names!r}: write a list, [{names!r}]")
        check_patience()
        mask = None if node_types is None else self._type_mask(tuple(sorted(node_types)))
        if where:
            is_met = self.properties.mask(properties.parse(where))
            mask = is_met if mask is None else mask & is_met
        return mask

    @cached_method(16)
    def _type_mask(self, names: tuple[str, ...]) -> Mask:
        return self.types.node_mask(names)[self.node_types]

    def all_of(self, node_types: Collection[str]) -> Rows:
        """Return the nodes of these types: (n,) int32, ascending. Raises `UnknownType`."""
        return np.flatnonzero(np.asarray(self.mask(node_types))).astype(np.int32)

    def first_of(self, node_types: Collection[str], most: int) -> Rows:
        """Return the first `most` nodes of these types: (n,) int32, ascending. Raises `UnknownType`."""
        return self.all_of(node_types)[:most]

    def types_with(self, name: str) -> frozenset[str]:
        """Return the node types with a node that has this property. Raises `UnknownProperty`."""
        numbers = np.unique(self.node_types[self.properties.rows(name)])
        return frozenset(self.types.nodes[int(number)] for number in numbers)

    def rows_with(self, name: str, most: int) -> dict[str, Rows]:
        """Return at most `most` nodes that have a property, by type, evenly spread; each is (n,), ascending.

        Raises `UnknownProperty`.
        """
        rows = self.properties.rows(name)
        types = self.node_types[rows]
        spread = {}
        for number in np.unique(types).tolist():
            here = rows[types == number]
            spread[self.types.nodes[number]] = here[np.unique(np.linspace(0, len(here) - 1, most).astype(np.intp))]
        return spread

    def rows(self, nodes: Iterable[str]) -> Rows:
        """Return the distinct rows of several nodes: (n,) int32, ascending. Raises `UnknownNode`, `AmbiguousNode`."""
        if not isinstance(nodes, Iterable) or isinstance(nodes, str):
            nodes = [nodes]
        return np.unique(np.array([self.row(node) for node in nodes], np.int32))

    def entries(
        self,
        rows: Rows,
        node_types: Collection[str] | None = None,
        edge_types: Collection[str] | None = None,
        direction: Direction | None = None,
        where: Sequence[str] = (),
    ) -> Entries:
        """Return the edges of some rows that pass the filters, in the order of `Entries`.

        Raises `UnknownType`, `UnknownProperty`, `BadOption`.
        """
        entries = self.adjacency.entries(rows, self.kind_mask(edge_types, direction))
        if where:
            keep = np.asarray(self.mask(node_types, where))[entries.neighbor]
        elif node_types is not None:
            keep = self.types.node_mask(node_types)[self.node_types[entries.neighbor]]
        else:
            return entries
        return entries.where(keep)

    def kind_mask(self, edge_types: Collection[str] | None, direction: Direction | None) -> KindMask | None:
        """Mark the kinds of edges that pass the filters: (2 * edge types,); None for all. Raises `UnknownType`."""
        return self.types.kind_mask(edge_types, direction)

    def rank(
        self, rows: Rows, query: str | None, k: int, *, offset: int = 0, mode: Mode = "lexical"
    ) -> tuple[Rows, NDArray[np.float64]]:
        """Return a page of ascending rows and their scores: the best match first, then rows without a match, by id."""
        searcher = self.searcher(mode)
        if not query:
            page = rows[offset : offset + k]
            return page, np.zeros(len(page))
        ranked, scores = searcher.search(query, offset + k, among=rows)
        missing = offset + k - len(ranked)
        if missing > 0 and len(rows) > len(ranked):
            rest = np.setdiff1d(rows, ranked, assume_unique=True)[:missing]
            ranked, scores = np.concatenate([ranked, rest]), np.concatenate([scores, np.zeros(len(rest))])
        return ranked[offset : offset + k], scores[offset : offset + k]

    def counts(self, entries: Entries) -> dict[Kind, int]:
        """Count distinct neighbours by edge type, direction and node type, the largest count first."""
        wide = len(self.types.nodes)
        kinds = entries.kind.astype(np.int64)
        if self.schema.symmetric:
            numbers = [number for number, name in enumerate(self.types.edges) if name in self.schema.symmetric]
            kinds = np.where(np.isin(kinds >> 1, numbers), kinds & ~1, kinds)
        code = kinds * wide + self.node_types[entries.neighbor]
        if len(entries.neighbor) and entries.owner[0] == entries.owner[-1]:
            # A single node's edges are sorted by neighbour and kind: parallel ones are adjacent.
            apart = np.concatenate([[True], (code[1:] != code[:-1]) | (entries.neighbor[1:] != entries.neighbor[:-1])])
            code = code[apart]
        else:
            code = np.unique(np.stack([entries.neighbor.astype(np.int64), code]), axis=1)[1]
        counts = np.bincount(code)
        pairs = [
            (self.types.kind(number // wide, number % wide), int(counts[number]))
            for number in np.flatnonzero(counts).tolist()
        ]
        return dict(sorted(pairs, key=lambda item: (-item[1], item[0])))

    def edges_to(self, entries: Entries, row: int) -> tuple[Edge, ...]:
        """Return those of these edges that lead to a neighbour."""
        if len(entries.owner) and entries.owner[0] == entries.owner[-1]:  # a single node's: sorted by neighbour
            at = np.arange(*span(entries.neighbor, row))
        else:
            at = np.flatnonzero(entries.neighbor == row)
        return tuple(
            self.edge(int(entries.owner[entry]), row, int(entries.kind[entry]), int(entries.at[entry])) for entry in at
        )

    def edge(self, owner: int, neighbor: int, kind: int, at: int) -> Edge:
        """Return the edge at a place of the adjacency arrays, in its own direction."""
        source, target = (neighbor, owner) if kind & 1 else (owner, neighbor)
        return Edge(self.ids[source], self.types.edges[kind >> 1], self.ids[target], **self.extras(at))

    @property
    def has_extras(self) -> bool:
        """Return whether any edge has a text, a weight or properties."""
        return self._extras is not None

    def extras(self, at: int) -> dict[str, Any]:
        """Return the text, weight and properties that the edge at a place of the adjacency arrays has."""
        number = self.adjacency.extra(at)
        if self._extras is None or number is None:
            return {}
        extra: dict[str, Any] = json.loads(self._extras.raw(number))  # Any: JSON
        return extra

    @cached_property
    def weights(self) -> EdgeWeights:
        """Return the reader of weights, by the places of edges in the adjacency arrays."""
        return EdgeWeights(self.adjacency, self._extras)

    def touching(self, groups: Sequence[NDArray[np.int32]], mask: Mask | None = None) -> Meeting:
        """Return the rows in all of these groups, (n,), ascending, or else in two or more; as `meet` does."""
        return meet(groups, len(self), mask)

    def edges_between(self, row: int, others: Rows) -> tuple[Edge, ...]:
        """Return all edges between a node and any of some others, in either direction."""
        edges: list[Edge] = []
        for other in others[others != row].tolist():
            entries = self.adjacency.between(row, other)
            edges += [
                self.edge(row, other, int(kind), int(at)) for kind, at in zip(entries.kind, entries.at, strict=True)
            ]
        return tuple(edges)
