"""A graph on disk, opened in milliseconds: text search, neighbourhoods, intersections, paths."""

from __future__ import annotations

import shutil
import tempfile
import weakref
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, Self

import numpy as np

from orienteer.display import counted
from orienteer.elements import (
    Common,
    Direction,
    Edge,
    Hit,
    Neighbor,
    Neighborhood,
    Node,
    Path as GraphPath,
    Ranking,
    Schema,
)
from orienteer.errors import BadOption, NotAGraph
from orienteer.graph import format
from orienteer.graph.adjacency import distinct
from orienteer.graph.arrays import GraphArrays
from orienteer.graph.damage import damage_told, tell_damage, telling_damage
from orienteer.graph.search import WordSearch
from orienteer.index.arrays import decode
from orienteer.index.searchers import Mode, ranking_of

if TYPE_CHECKING:
    from orienteer.graph.listing import NodeListing
    from orienteer.protocols import OpenEmbedder

LONGEST_PATH = 8  # edges: at a larger distance, everything is connected to everything


class Graph:
    """A graph directory, opened for reading. Safe to share among threads and to open in many processes.

        >>> from orienteer import Graph
        >>> graph = Graph.open("languages")
        >>> len(graph), "language:rust" in graph
        (169, True)

    A node is given by its id, or by a name or an alias that no other node has. Results name nodes by their ids.
    `graph.arrays` is the same graph by rows, for your own methods and tools.
    """

    def __init__(self, arrays: GraphArrays) -> None:
        self.arrays = arrays
        """The nodes and edges by row."""
        self.generation = arrays.manifest.generation
        """The version of the graph that is open: another process may have published a later one."""

    @classmethod
    def open(cls, path: str | Path, *, embedder: OpenEmbedder | None = None) -> Self:
        """Open the graph directory at `path`, made by `orienteer import` or `orienteer build`.

            >>> Graph.open("languages")
            Graph('languages', 169 nodes, 504 edges)

        `embedder` opens the embedder of queries by its name, if the graph has vectors; by default, Orienteer's own are
        opened.

        Raises `NotAGraph` if `path` is not a graph or a damaged one.
        """
        path = Path(path)
        pointer = format.read_pointer(path)
        while True:
            try:
                manifest, folder = format.read_manifest(path, pointer), format.generation_of(path, pointer)
                return cls(GraphArrays(path, folder, manifest, embedder=embedder))
            except FileNotFoundError as error:
                # Another process may have published, and removed the files that this one was about to open.
                latest = format.read_pointer(path)
                if latest.generation == pointer.generation:
                    message = f"{path} lacks {error.filename}: import the graph again with --force"
                    raise NotAGraph(message, paths=[path]) from error
                pointer = latest
            except Exception as error:
                tell_damage(path, pointer.generation, error)
                # The files do not fit one another, but their hashes are right.
                if isinstance(error, ValueError):
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
    ) -> Self:
        """Create a graph of `nodes` and `edges`, records or mappings with the same keys, and open it.

            >>> films = Graph.from_records(
            ...     nodes=[{"id": "ada", "type": "person", "name": "Ada Holm"}, {"id": 7, "year": 2011}],
            ...     edges=[{"source": "ada", "type": "directed", "target": 7}],
            ... )
            >>> films.node("Ada Holm").type, films.node(7).properties
            ('person', {'year': 2011})

        An id is a text or a whole number. Other keys of a mapping are properties; times are stored in ISO 8601, NaN as
        null. The graph is stored at `path`; `force` replaces an existing graph. Without a path it is in a temporary
        folder and is removed with the object. All edges are kept, parallel ones too.

        Raises `BadInput` for two nodes with the same id or an edge to a missing node, `NotAGraph` if `path` has other
        content, `BadOption` for a value that is not a list.
        """
        from orienteer.graph.from_records import write_records  # here: readers do not need the builder

        return cls._made(lambda target: write_records(target, nodes, edges, force=force), path)

    @classmethod
    def _made(cls, write: Callable[[Path], None], path: str | Path | None) -> Self:
        """Write a graph to a path and open it; without a path, in a temporary folder that is removed with the graph."""
        if path is not None:
            write(Path(path))
            return cls.open(path)
        folder = Path(tempfile.mkdtemp(prefix="orienteer-"))
        try:
            write(folder / "graph")
            graph = cls.open(folder / "graph")
        except BaseException:
            shutil.rmtree(folder, ignore_errors=True)
            raise
        weakref.finalize(graph.arrays, shutil.rmtree, folder, ignore_errors=True)
        return graph

    def __repr__(self) -> str:
        return f"Graph({str(self.path)!r}, {counted(len(self), 'node')}, {counted(self.arrays.manifest.edges, 'edge')})"

    def __len__(self) -> int:
        """Return the number of nodes."""
        return len(self.arrays)

    def __contains__(self, node: object) -> bool:
        """Return whether there is a node with this id."""
        return node in self.arrays

    @property
    def path(self) -> Path:
        """The directory of the graph.

        >>> graph.path.name
        'languages'
        """
        return self.arrays.path

    @property
    def is_in_place(self) -> bool:
        """Whether the graph is in a database, and only what agents' tools ask for is read.

        >>> graph.is_in_place
        False
        """
        return False

    @property
    def place(self) -> str:
        """The graph's directory, or the address of its database.

        >>> graph.place == str(graph.path)
        True
        """
        return str(self.path)

    @property
    def schema(self) -> Schema:
        """The types of nodes and edges, with their counts, and the node types that each edge type joins.

        >>> graph.schema.node_types["language"], graph.schema.edge_types["designed_by"]
        (45, 62)
        """
        return self.arrays.schema

    def node(self, node: str) -> Node:
        """Return the node whose id is `node`, or else the node with this exact name or alias.

            >>> graph.node("Rust").id
            'language:rust'

        Raises `UnknownNode` with near names, `AmbiguousNode` with the ids of all nodes of that name.
        """
        return self.arrays.node_at(self.arrays.row(node))

    def node_ids(self) -> Iterator[str]:
        """Yield the ids of all nodes, in order.

        >>> next(graph.node_ids())
        'award:acm-software-system-award'
        """
        with damage_told(self.path, self.generation):
            yield from self.arrays.ids

    def iter_edges(self) -> Iterator[Edge]:
        """Yield every edge once, by source.

        >>> sum(edge.type == "designed_by" for edge in graph.iter_edges())
        62
        """
        arrays = self.arrays
        with damage_told(self.path, self.generation):
            for row in range(len(self)):
                for at in range(*arrays.adjacency.ends(row)):
                    kind = int(arrays.adjacency.kind[at])
                    if not kind & 1:
                        yield arrays.edge(row, int(arrays.adjacency.neighbor[at]), kind, at)

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
        """Return the `k` nodes that match `query` best, as hits with an id and a score.

            >>> graph.search("borrow checker", 1)[0].id
            'language:rust'
            >>> [hit.id for hit in graph.search("go", 2)]
            ['language:go', 'person:edsger-dijkstra']

        `node_types` keeps nodes of these types, `where` those whose properties meet conditions such as `year >= 2000`.
        `mode` is `lexical`, `dense`, `hybrid`, `hybrid:0.6` with that share of words, or `rrf`; all but the first need
        vectors. A lexical search ranks like `orienteer search`: nodes with the query as id, name or alias, then names
        that begin with it or contain it, phrases in texts, texts that share words with it, by BM25, and nodes with its
        words as the value of a property. BM25 alone is the method `bm25`.

        Raises `UnknownType`, `UnknownProperty`, `BadOption`.
        """
        _check(k)
        if not isinstance(query, str):
            raise BadOption(f"the query must be text, is {query!r}")
        arrays = self.arrays
        mask = arrays.mask(node_types, where)
        if ranking_of(mode).kind == "lexical":
            ranking = WordSearch(arrays).search(query, k, mask=mask)
            rows, scores = ranking.rows, ranking.scores
        else:
            rows, scores = arrays.searcher(mode).search(query, k, mask=mask)
        return tuple(map(Hit, map(decode, arrays.ids.take(rows)), scores.tolist()))

    @telling_damage
    def list(
        self,
        *,
        node_types: Collection[str] | None = None,
        where: Sequence[str] = (),
        sort: str | None = None,
        descending: bool = False,
        group_by: str | None = None,
        k: int = 20,
        offset: int = 0,
    ) -> NodeListing:
        """Return the number of nodes that pass filters, and a page of them, or of their groups.

            >>> first = graph.list(node_types=["language"], where=["year >= 2000"], sort="year", k=1)
            >>> first.total, first.hits[0].name, first.hits[0].properties["year"]
            (9, 'C#', 2000)
            >>> graph.list(group_by="type", k=2).groups[0]
            ListedGroup(value='person', count=60)

        `node_types` keeps nodes of these types, `where` those whose properties meet conditions such as `year >= 2000`.
        `sort` is a property, or `name`, `id`, `type` or `degree`: the smallest value first, the largest if
        `descending`; nodes without a value come last, and `missing` counts them. The page has `k` nodes, from `offset`
        on, in the order of their ids unless they are sorted.

        `group_by` is such a field too: instead of nodes the page then has groups, each a value with the number of its
        nodes, the largest first and the nodes without a value last. A node with a list is in several groups. `sort` is
        then `count` or the field.

        Raises `UnknownType` and `UnknownProperty` with near names, `BadOption`.
        """
        from orienteer.graph import listing  # here: most questions list nothing

        _check(k, offset)
        arrays = self.arrays
        rows = listing.matching(arrays, node_types, where)
        if group_by is not None:
            groups = listing.grouped(arrays, rows, group_by, sort=sort, descending=descending)
            missing = groups[-1].count if groups and groups[-1].value is None else 0
            return listing.NodeListing(len(rows), offset, (), groups[offset : offset + k], missing, len(groups))
        order = listing.ordered(arrays, rows, sort, descending=descending)
        hits = tuple(map(arrays.node_at, order.rows[offset : offset + k].tolist()))
        return listing.NodeListing(len(rows), offset, hits, missing=order.missing)

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
        """Return the neighbours of one of the `nodes`, or of several: their number, their kinds, and a page of them.

            >>> around = graph.neighbors("Erlang", "telephone", node_types=["person"], k=1)
            >>> around.total, around.hits[0].id, around.hits[0].edges[0].type
            (3, 'person:robert-virding', 'designed_by')

        `node_types`, `edge_types`, `direction` (`out` or `in`) and `where` filter them. `query` ranks them, by `mode`
        as in `search`; neighbours that do not match it come last, by id, so that words never empty a neighbourhood.
        Without a query they are sorted by id. The page has `k` of them, from `offset` on. ARK, section 3.1.

        Raises `UnknownNode`, `AmbiguousNode`, `UnknownType`, `UnknownProperty`, `BadOption`.
        """
        _check(k, offset)
        arrays = self.arrays
        entries = arrays.entries(arrays.rows(nodes), node_types, edge_types, direction, where)
        rows = distinct(entries.neighbor)
        ranked, scores = arrays.rank(rows, query, k, offset=offset, mode=mode)
        return Neighborhood(
            total=len(rows),
            counts=arrays.counts(entries),
            offset=offset,
            hits=tuple(
                Neighbor(arrays.ids[row], float(score), arrays.edges_to(entries, int(row)))
                for row, score in zip(ranked, scores, strict=True)
            ),
        )

    @telling_damage
    def intersect(
        self, nodes: Sequence[str], *, node_types: Collection[str] | None = None, k: int = 20
    ) -> tuple[Common, ...]:
        """Return up to `k` neighbours of all these `nodes`; or else of two or more of them, the most first.

            >>> graph.intersect(["Erlang", "Ruby"], node_types=["language"], k=1)[0].id
            'language:elixir'

        `node_types` keeps neighbours of these types. Each has the number of the nodes that it joins, and the edges.

        Raises `UnknownNode`, `AmbiguousNode`, `UnknownType`, `BadOption`.
        """
        _check(k)
        if not nodes:
            return ()
        arrays = self.arrays
        rows = arrays.rows(nodes)
        groups = [arrays.adjacency.neighbors(row) for row in rows.tolist()]
        common, members = arrays.touching(groups, arrays.mask(node_types))
        order = np.lexsort((common, -members))[:k]
        return tuple(
            Common(arrays.ids[row], int(count), arrays.edges_between(int(row), rows))
            for row, count in zip(common[order], members[order], strict=True)
        )

    @telling_damage
    def paths(self, a: str, b: str, max_length: int = 4, *, k: int = 10) -> tuple[GraphPath, ...]:
        """Return up to `k` of the shortest paths between the nodes `a` and `b`, in any direction of edges.

            >>> graph.paths("Niklaus Wirth", "Go", k=1)[0].nodes
            ('person:niklaus-wirth', 'language:modula-2', 'language:go')

        They are ordered by their nodes. Empty if the distance is more than `max_length` edges, at most 8.

        Raises `UnknownNode`, `AmbiguousNode`, `BadOption`.
        """
        _check(k)
        if not 1 <= max_length <= LONGEST_PATH:
            raise BadOption(f"max_length is {max_length}: it must be 1 to {LONGEST_PATH}")
        arrays = self.arrays
        walks = arrays.shortest_walks(arrays.row(a), arrays.row(b), most_edges=max_length, k=k)
        return tuple(
            GraphPath(
                nodes=tuple(arrays.ids[row] for row in walk),
                edges=tuple(
                    arrays.edges_between(row, np.array([after], np.int32))
                    for row, after in zip(walk, walk[1:], strict=False)
                ),
            )
            for walk in walks
        )


def _check(k: int, offset: int = 0) -> None:
    if k < 0 or offset < 0:
        raise BadOption(f"k is {k} and offset is {offset}: both must be 0 or more")
