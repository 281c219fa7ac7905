"""A graph on disk, opened in milliseconds: text search, neighbourhoods, intersections, paths; its nodes are `nodes`."""

from __future__ import annotations

import json
import shutil
import tempfile
import weakref
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from functools import cached_property, lru_cache
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from orienteer.errors import BadOption, NotAGraph
from orienteer.graph import format, properties
from orienteer.graph.adjacency import Adjacency, EdgeWeights, Entries, KindMask, distinct, span
from orienteer.graph.connections import Meeting, meet, shortest_paths
from orienteer.graph.damage import damage_told, tell_damage, telling_damage
from orienteer.graph.format import Manifest
from orienteer.graph.nodes import Nodes
from orienteer.graph.searchers import Searchers
from orienteer.index.arrays import Folder, Rows
from orienteer.index.bm25 import Mask
from orienteer.index.searchers import LexicalSearcher, Mode
from orienteer.protocols import OpenEmbedder
from orienteer.records import (
    Common,
    Direction,
    Edge,
    Hit,
    Kind,
    Neighbor,
    Neighborhood,
    Node,
    Ranking,
)
from orienteer.records import (
    Path as GraphPath,
)

__all__ = ["LONGEST_PATH", "Graph", "distinct"]

LONGEST_PATH = 8  # edges: at a larger distance, everything is connected to everything


class Graph(Nodes):
    """A graph directory, opened for reading. Safe to share among threads and to open in many processes.

    Outside, a node is its id; inside, its row, a number in the order of the ids. Methods that take rows are for the
    tools and methods of this package.
    """

    def __init__(
        self,
        path: Path,
        folder: Path,
        manifest: Manifest,
        *,
        compiled: bool = False,
        embedder: OpenEmbedder | None = None,
    ) -> None:
        super().__init__(path, Folder(folder, manifest.files), manifest, compiled=compiled)
        self.adjacency = Adjacency(self._folder)
        if not manifest.edges <= len(self.adjacency.neighbor) <= 2 * manifest.edges:
            raise ValueError(f"{len(self.adjacency.neighbor)} ends of {manifest.edges} edges")
        self._extras = self._folder.strings("edge_extra") if self._folder.has("edge_extra.utf8") else None
        # Everything is mapped now: another process may replace this generation, and remove its files, at any time.
        lexical = LexicalSearcher(self.tokenizer, self.text_index)
        self.searcher = Searchers(path, manifest.generation, lexical, embedder)
        """The searchers that rank nodes by words, by meaning, or by both."""

    @classmethod
    def open(cls, path: str | Path, *, compiled: bool = False, embedder: OpenEmbedder | None = None) -> Graph:
        """Open a graph directory. Raises `NotAGraph`.

        Compiled searches give the same results in less time, but take a second to load, and about ten seconds once on a
        machine: they are for processes that live long. They need the extra `fast`; without it, `MissingExtra` is
        raised. `embedder` opens the embedder of queries by its name; without it, `open_embedder` does.
        """
        path = Path(path)
        pointer = format.read_pointer(path)
        while True:
            try:
                manifest, folder = format.read_manifest(path, pointer), format.generation_of(path, pointer)
                return cls(path, folder, manifest, compiled=compiled, embedder=embedder)
            except FileNotFoundError as error:
                # Another process may have published, and removed what this one was about to open.
                latest = format.read_pointer(path)
                if latest.generation == pointer.generation:
                    raise NotAGraph(f"{path} lacks {error.filename}: import the graph again with --force") from error
                pointer = latest
            except Exception as error:
                tell_damage(path, pointer.generation, error)
                if isinstance(error, ValueError):  # somebody has written other files, and their hashes
                    raise format.damaged(path, error) from error
                raise

    @classmethod
    def from_records(
        cls,
        nodes: Iterable[Node | Mapping[str, Any]],
        edges: Iterable[Edge | Mapping[str, Any]],
        *,
        path: str | Path | None = None,
        force: bool = False,
    ) -> Graph:
        """Make a graph of records, or of mappings with the same keys, and open it.

        Without a path it is in a temporary folder as long as the object lives. Edges stay as they are, parallel ones
        too. Raises `BadInput` for two nodes with the same id or an edge to a missing node.
        """
        from orienteer.graph.from_records import write_records  # here: readers do not need the builder

        if path is not None:
            write_records(Path(path), nodes, edges, force=force)
            return cls.open(path)
        folder = Path(tempfile.mkdtemp(prefix="orienteer-"))
        try:
            write_records(folder / "graph", nodes, edges)
            graph = cls.open(folder / "graph")
        except BaseException:
            shutil.rmtree(folder, ignore_errors=True)
            raise
        weakref.finalize(graph, shutil.rmtree, folder, ignore_errors=True)
        return graph

    def __repr__(self) -> str:
        return f"Graph({str(self.path)!r}, {self.manifest.nodes:,} nodes, {self.manifest.edges:,} edges)"

    # ------------------------------------------------------------------------------------------------------- search

    @telling_damage
    def search(
        self,
        query: str,
        k: int = 20,
        *,
        node_types: Collection[str] | None = None,
        where: Sequence[str] = (),
        mode: Mode = "lexical",
    ) -> Ranking:
        """Return the `k` nodes that match a query best; a lexical search leaves out nodes that share no word with it.

        `where` has conditions on properties, such as `year >= 2000`. Raises `UnknownType`, `UnknownProperty`,
        `BadOption`.
        """
        _check(k)
        if not isinstance(query, str):
            raise BadOption(f"the query must be text, is {query!r}")
        ranked = self.searcher(mode).search(query, k, mask=self.mask(node_types, where))
        return tuple(Hit(self.ids[row], float(score)) for row, score in zip(ranked.rows, ranked.scores, strict=True))

    @telling_damage
    def mask(self, node_types: Collection[str] | None, where: Sequence[str] = ()) -> Mask | None:
        """Mark the nodes of these types that meet these conditions: (nodes,); None without types and conditions.

        Raises `UnknownType`, `UnknownProperty`, `BadOption`.
        """
        for name, names in (("node_types", node_types), ("where", where)):
            if isinstance(names, str):
                raise BadOption(f"{name} is the text {names!r}: write a list, [{names!r}]")
        mask = None if node_types is None else self._type_mask(tuple(sorted(node_types)))
        if where:
            is_met = self.properties.mask(properties.parse(where))
            mask = is_met if mask is None else mask & is_met
        return mask

    @cached_property
    def _type_mask(self) -> Any:  # Any: a cached function
        """Return a function that marks the nodes of some types and remembers the last few masks."""

        def mask(names: tuple[str, ...]) -> Mask:
            return self.types.node_mask(names)[self.node_types]

        return lru_cache(maxsize=16)(mask)

    # ------------------------------------------------------------------------------------------------ neighbourhoods

    @telling_damage
    def neighbors(
        self,
        nodes: str | Sequence[str],
        query: str | None = None,
        *,
        node_types: Collection[str] | None = None,
        edge_types: Collection[str] | None = None,
        direction: Direction | None = None,
        where: Sequence[str] = (),
        k: int = 20,
        offset: int = 0,
        mode: Mode = "lexical",
    ) -> Neighborhood:
        """Return a page of the neighbours of a node, or of several, that pass the filters.

        A query ranks them; neighbours that do not match it come last, by id, so that words never empty a
        neighbourhood. Without a query they come by id. ARK, section 3.1. Raises `UnknownNode`, `UnknownType`,
        `UnknownProperty`, `BadOption`.
        """
        _check(k, offset)
        entries = self.entries(
            self.rows([nodes] if isinstance(nodes, str) else nodes), node_types, edge_types, direction, where
        )
        rows = distinct(entries.neighbor)
        ranked, scores = self.rank(rows, query, k, offset=offset, mode=mode)
        return Neighborhood(
            total=len(rows),
            counts=self.counts(entries),
            offset=offset,
            hits=tuple(
                Neighbor(self.ids[row], float(score), self.edges_to(entries, int(row)))
                for row, score in zip(ranked, scores, strict=True)
            ),
        )

    def rows(self, nodes: Iterable[str]) -> Rows:
        """Return the distinct rows of several nodes: (n,) int32, ascending. Raises `UnknownNode`, `AmbiguousNode`."""
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
        hits = searcher.search(query, offset + k, among=rows)
        missing = offset + k - len(hits.rows)
        ranked, scores = hits
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
            # A single node's edges are sorted by neighbour and kind: parallel ones stand together.
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
        """Tell whether any edge has a text, a weight or properties."""
        return self._extras is not None

    def extras(self, at: int) -> dict[str, Any]:
        """Return the text, weight and properties of the edge at a place of the adjacency arrays, where it has them."""
        number = self.adjacency.extra(at)
        if self._extras is None or number is None:
            return {}
        carried: dict[str, Any] = json.loads(self._extras.raw(number))  # Any: JSON
        return carried

    @cached_property
    def weights(self) -> EdgeWeights:
        """Return the reader of weights, by the places of edges in the adjacency arrays."""
        return EdgeWeights(self.adjacency, self._extras)

    def iter_edges(self) -> Iterator[Edge]:
        """Yield every edge once, by source."""
        with damage_told(self.path, self.manifest.generation):
            for row in range(len(self)):
                for at in range(*self.adjacency.ends(row)):
                    kind = int(self.adjacency.kind[at])
                    if not kind & 1:
                        yield self.edge(row, int(self.adjacency.neighbor[at]), kind, at)

    # ----------------------------------------------------------------------------------- between several given nodes

    @telling_damage
    def intersect(
        self, nodes: Sequence[str], *, node_types: Collection[str] | None = None, k: int = 20
    ) -> tuple[Common, ...]:
        """Return the neighbours of all these nodes; if there are none, of two or more of them, the most first."""
        _check(k)
        if not nodes:
            return ()
        rows = self.rows(nodes)
        common, members = self.touching([self.adjacency.neighbors(row) for row in rows.tolist()], self.mask(node_types))
        order = np.lexsort((common, -members))[:k]
        return tuple(
            Common(self.ids[row], int(count), self.edges_between(int(row), rows))
            for row, count in zip(common[order], members[order], strict=True)
        )

    def touching(self, groups: Sequence[NDArray[np.int32]], mask: Mask | None = None) -> Meeting:
        """Return the rows that are in all of these groups, or else in two or more, with the number of groups.

        Each group is (n,), ascending; `mask`, (nodes,), restricts the rows.
        """
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

    @telling_damage
    def paths(self, a: str, b: str, max_length: int = 4, *, k: int = 10) -> tuple[GraphPath, ...]:
        """Return up to `k` of the shortest paths between two nodes, in any direction of edges, ordered by their nodes.

        Empty if the distance is more than `max_length` edges. Raises `UnknownNode`, `AmbiguousNode`, `BadOption`.
        """
        _check(k)
        if not 1 <= max_length <= LONGEST_PATH:
            raise BadOption(f"max_length is {max_length}: it must be 1 to {LONGEST_PATH}")
        walks = shortest_paths(self.adjacency, self.row(a), self.row(b), most_edges=max_length, k=k)
        return tuple(
            GraphPath(
                nodes=tuple(self.ids[row] for row in walk),
                edges=tuple(
                    self.edges_between(row, np.array([after], np.int32))
                    for row, after in zip(walk, walk[1:], strict=False)
                ),
            )
            for walk in walks
        )


def _check(k: int, offset: int = 0) -> None:
    if k < 0 or offset < 0:
        raise BadOption(f"k is {k} and offset is {offset}: both must be 0 or more")
