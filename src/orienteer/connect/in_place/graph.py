"""A graph that stays in its database, opened for questions by a user who can only read."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, NoReturn, Self, cast

import numpy as np
from numpy.typing import NDArray

from orienteer.connect.bolt import Server
from orienteer.connect.in_place import contents
from orienteer.connect.in_place.edges import (
    EVERY,
    Conditions,
    EdgesInPlace,
    MaskInPlace,
    NamesInPlace,
    TextInPlace,
    conditions_of,
    full_text_index,
)
from orienteer.connect.in_place.statements import StatementsInPlace
from orienteer.connect.source import DatabaseCounts, count_all, unique_property
from orienteer.cypher.kinds import quoted
from orienteer.display import counted
from orienteer.errors import BadInput, BadOption, DatabaseRefused, nearest
from orienteer.graph.adjacency import Entries, KindMask, Meeting, meet
from orienteer.graph.arrays import GraphArrays
from orienteer.graph.format import EdgeCount, Manifest
from orienteer.graph.properties import parse, spelling_of
from orienteer.graph.searchers import Searchers
from orienteer.graph.store import Graph
from orienteer.index.arrays import Rows
from orienteer.index.bm25 import Mask
from orienteer.index.searchers import LexicalSearcher
from orienteer.ingest.tables.values import plain
from orienteer.query.budget import Budget
from orienteer.query.columns import Numbers
from orienteer.query.plan import Hop
from orienteer.query.store import Store, Walked
from orienteer.text.tokenizer import Tokenizer
from orienteer.version import __version__

MOST_FIRST = 20
"""Nodes of a type from which examples are chosen."""
MOST_OF_TYPES = 20_000
"""Nodes of some types that are fetched at once."""
_NEW_NODES = 100_000
NO_GENERATION = "00000000T000000-00000000"
"""A database has no generations: it changes under its readers."""


class ArraysInPlace(GraphArrays):
    """A database by rows, with what agents' tools need of `GraphArrays`; anything else raises `BadOption`.

    Safe to share among threads.
    """

    def __init__(self, server: Server) -> None:
        # Without files: the base class opens nothing.
        """Count nodes and edges. Raises `BadInput` without a full-text index, `DatabaseAway`, `DatabaseRefused`."""
        self._server = server
        self._statements: StatementsInPlace | None = None
        self.path = Path(str(server.address))
        counts = count_all(server)
        self.manifest = _manifest(server, counts)
        self.generation = NO_GENERATION
        # A server's index does not stem words.
        self.tokenizer = Tokenizer(stem=False)
        self._once, self._locks = {}, {}
        id_property = unique_property(server)
        has_numbers = False
        if id_property:
            first = server.rows(f"MATCH (n) RETURN n.{quoted(id_property)} AS id LIMIT 1")[0][0]
            has_numbers = isinstance(first, int)
        self.facts = facts = contents.NodeFacts(id_property, has_numbers, counts)
        """The ids and labels of the database."""
        seen = contents.SeenNodes(server, facts, tuple(self.manifest.node_types), self.tokenizer)
        self.seen = seen
        text = TextInPlace(server, seen, full_text_index(server), counts.nodes)
        # Each has the methods of its original that agents' tools call.
        self.ids = cast(Any, contents.SeenColumn(server, seen, "id"))
        self.names = cast(Any, contents.SeenColumn(server, seen, "name"))
        self.texts = cast(Any, contents.SeenColumn(server, seen, "text"))
        self.node_types = cast(Any, contents.SeenTypes(server, seen, "type"))
        self.text_index = cast(Any, text)
        self.name_index = cast(Any, NamesInPlace(server, text, seen, self.tokenizer))
        self.adjacency = cast(Any, EdgesInPlace(server, seen, tuple(self.manifest.edge_types)))
        self.properties = cast(Any, PropertiesInPlace(server, seen, lambda: tuple(self.described.having)))
        self.searcher = Searchers(self.path, NO_GENERATION, LexicalSearcher(self.tokenizer, self.text_index), None)
        self._row_of = cast(Any, seen.find)
        self.once("query", lambda: StoreInPlace(self, counts.nodes))

    def __getattr__(self, name: str) -> NoReturn:
        """Raise `BadOption` for everything that needs an imported graph."""
        if name.startswith("__") or name == "_server":
            raise AttributeError(name)
        raise contents.needs_import(self._server)

    def __len__(self) -> int:
        """Raise `BadOption`: rows cannot be enumerated."""
        raise contents.needs_import(self._server)

    def touching(self, groups: Sequence[NDArray[np.int32]], mask: Mask | None = None) -> Meeting:
        """Return the rows in all of these groups, or else in at least two, as `GraphArrays.touching` does."""
        return meet(groups, len(self.seen), mask)

    def aliases_at(self, row: int) -> tuple[str, ...]:
        """Return the aliases of a row."""
        return tuple(self.seen.nodes[row].aliases)

    def named_in_part(self, name: str) -> int | None:
        """Return None: a full-text index does not know the order of words."""
        return None

    def near_names(self, text: str, *, most: int = 5) -> list[str]:
        """Return at most `most` names that share words with a text, the most similar ones."""
        rows = self.text_index.search(self.tokenizer.query(text), 50).rows
        return nearest(text, dict.fromkeys(self.names[row] for row in rows.tolist()), most=most)

    @property
    def cypher_engine(self) -> Callable[[Any], StatementsInPlace]:  # Any: the graph, which is this one
        """Return the opener of an engine that answers Cypher by the database itself."""
        # Equal at each call: engines are cached by their openers.
        return self._open_statements

    def _open_statements(self, _: Any) -> StatementsInPlace:  # Any: as above
        self._statements = StatementsInPlace(self._server, self.described, self.seen)
        return self._statements

    def close(self) -> None:
        """Close the sessions of statements."""
        if self._statements is not None:
            self._statements.close()

    @property
    def described(self) -> contents.Described:
        """Return the properties of the database, which are examined at first use."""
        return self.once("described", lambda: contents.describe(self._server, self.schema, self.facts, self.seen))

    def _mask(self, node_types: Collection[str] | None, where: Sequence[str]) -> Mask:
        types = None if node_types is None else self.types.node_mask(node_types)
        return cast(Mask, MaskInPlace(self._server, types, self._conditions(where), self.seen))

    def _conditions(self, where: Sequence[str]) -> Conditions:
        if not where:
            return EVERY
        return conditions_of(parse(where), self.described.names, self.properties.names)

    def _entries(self, rows: Rows, kinds: KindMask | None, where: Sequence[str]) -> Entries:
        entries: Entries = cast(Any, self.adjacency).entries(rows, kinds, self._conditions(where))
        return entries

    def first_of(self, node_types: Collection[str], most: int) -> Rows:
        """Return some nodes of these types, fewer than of an imported graph: each may have many edges to send."""
        return self._of_types(node_types, min(most, MOST_FIRST))

    def all_of(self, node_types: Collection[str]) -> Rows:
        """Return all nodes of these types, as `GraphArrays.all_of` does. Raises `BadOption` for too many."""
        count = sum(self.schema.node_types[name] for name in node_types)
        if count > MOST_OF_TYPES:
            raise BadOption(
                f"There are {count:,} nodes of {', '.join(sorted(node_types))}, and of a database in place at most "
                f"{MOST_OF_TYPES:,} are taken at once: begin with a search, or with the nodes of a name."
            )
        return self._of_types(node_types)

    def _of_types(self, node_types: Collection[str], most: int | None = None) -> Rows:
        is_of = self.described.names.has_type("n", list(node_types))
        statement = f"MATCH (n) WHERE {is_of} RETURN {contents.NODE_COLUMNS}{'' if most is None else f' LIMIT {most}'}"
        return np.sort(self.seen.take(self._server.rows(statement)))

    def types_with(self, name: str) -> frozenset[str]:
        """Return the types of the nodes with a property. Raises `UnknownProperty`."""
        return frozenset(self.described.having[spelling_of(name, self.properties.names)])

    def rows_with(self, name: str, most: int) -> dict[str, Rows]:
        """Return some nodes with a property, by type. Raises `UnknownProperty`."""
        having = self.described.having[spelling_of(name, self.properties.names)]
        return {node_type: rows[:most] for node_type, rows in having.items()}

    @property
    def shorter_names(self) -> dict[tuple[str, ...], list[int]]:
        """Return nothing: names cannot be enumerated."""
        return {}

    def by_id(self, rows: Rows) -> Rows:
        """Return rows, which are in the order of fetching, in the order of their ids."""
        return rows[np.argsort(self.seen.places(rows))]

    def shortest_walks(self, start: int, end: int, *, most_edges: int, k: int) -> list[tuple[int, ...]]:
        """Return up to `k` of the shortest paths between two nodes as rows, in the order of ids."""
        if start == end:
            return [(start,)] if k else []
        statement = (
            "MATCH (a), (b) WHERE elementId(a) = $a AND elementId(b) = $b "
            f"MATCH p = allShortestPaths((a)-[*..{most_edges}]-(b)) "
            f"RETURN DISTINCT [n IN nodes(p) | elementId(n)] AS nodes LIMIT {MOST_PATHS}"
        )
        ends = {"a": self.seen.element_ids[start], "b": self.seen.element_ids[end]}
        walks = [tuple(self.seen.rows_of(nodes).tolist()) for (nodes,) in self._server.rows(statement, **ends)]
        return sorted(walks, key=lambda walk: [self.ids[row] for row in walk])[:k]

    @property
    def has_extras(self) -> bool:
        """Return True: any edge may have properties."""
        return True

    def extras(self, at: int) -> dict[str, Any]:  # Any: JSON
        """Return the properties of the edge of an entry."""
        carried = plain(cast(Any, self.adjacency).extras(at))
        return {"properties": carried} if carried else {}


class PropertiesInPlace(contents.UnsupportedInPlace):
    """The properties of fetched nodes, and the names of all properties."""

    def __init__(self, server: Server, seen: contents.SeenNodes, names: Callable[[], tuple[str, ...]]) -> None:
        super().__init__(server)
        self._seen, self._names = seen, names

    @property
    def names(self) -> tuple[str, ...]:
        """Return the names of all properties of nodes."""
        return self._names()

    def of(self, row: int) -> dict[str, Any]:  # Any: JSON
        """Return all properties of a node."""
        return dict(self._seen.nodes[row].properties)

    def values(self, name: str, rows: Rows) -> list[Any]:  # Any: JSON
        """Return the value of a property for each of these nodes, None for none. Raises `UnknownProperty`."""
        own = spelling_of(name, self.names)
        return [self._seen.nodes[row].properties.get(own) for row in rows.tolist()]

    def spelling_of(self, name: str, others: Sequence[str] = ()) -> str:
        """Return the database's spelling of a property, or one of `others`, as `Properties.spelling_of` does."""
        return spelling_of(name, (*self.names, *others))


class StoreInPlace(Store):
    """A database as sets of the query algebra read it, with rows to spare for nodes that are new."""

    def __init__(self, arrays: ArraysInPlace, nodes: int) -> None:
        # Without the arrays that the base class reads.
        self.schema, self.types, self.symmetric = arrays.schema, arrays.types, frozenset()
        self.ids, self.names, self.node_texts, self.properties = (
            arrays.ids,
            arrays.names,
            arrays.texts,
            arrays.properties,
        )
        self.adjacency, self.node_types, self.size = arrays.adjacency, cast(Any, arrays.node_types), nodes + _NEW_NODES
        self._all_of = arrays.all_of

    def around(self, rows: Numbers, hop: Hop, budget: Budget, *, loops: bool = False) -> Iterator[Walked]:
        """Yield the edges of rows that a hop may walk, all in one part. Raises `TooManyEdges`, `QueryStopped`."""
        budget.check()
        entries = self.adjacency.entries(rows.astype(np.int32), self.kind_mask(hop.kinds) if hop.kinds else None)
        order = np.argsort(rows)
        near = order[rows.searchsorted(entries.owner, sorter=order)]
        yield Walked(near, entries.neighbor.astype(np.int64), entries.at)

    def all_of(self, types: frozenset[int]) -> Numbers:
        """Return the nodes of these types: (n,), ascending. Raises `BadOption` for too many."""
        return self._all_of([self.types.nodes[number] for number in types]).astype(np.int64)


def _manifest(server: Server, counts: DatabaseCounts) -> Manifest:
    """Return a manifest with the types of a database."""
    nodes = contents.type_counts(counts)
    joined: dict[tuple[str, str, str], int] = {}
    statement = "MATCH (a)-[r]->(b) RETURN labels(a) AS a, type(r) AS type, labels(b) AS b, count(*) AS count"
    for source, kind, target, count in server.stream(statement):
        ends = [contents.type_of(names, counts) for names in (source, target)]
        triple = (ends[0], kind, ends[1])
        joined[triple] = joined.get(triple, 0) + count
    edges: dict[str, int] = {}
    for (_, kind, _), count in sorted(joined.items()):
        edges[kind] = edges.get(kind, 0) + count
    return Manifest(
        generation=NO_GENERATION,
        created=datetime.now(UTC).isoformat(),
        made_by=__version__,
        tokenizer=Tokenizer(stem=False).id,
        nodes=counts.nodes,
        edges=counts.edges,
        node_types=nodes,
        edge_types=edges,
        triples=tuple(EdgeCount(source=a, type=kind, target=b, count=n) for (a, kind, b), n in sorted(joined.items())),
    )


SECONDS = 60.0
"""Time limit of a statement if the server respects it: Neo4j does, ArcadeDB has a limit of its own."""
MOST_PATHS = 1_000
"""Shortest paths that are fetched: sorted by their nodes, the first ones are the same each time."""


class GraphInPlace(Graph):
    """A database that agents' tools walk over Bolt. Only fetched nodes are kept."""

    arrays: ArraysInPlace

    def __init__(self, arrays: ArraysInPlace, server: Server) -> None:
        super().__init__(arrays)
        self._server = server

    @classmethod
    def of(cls, server: Server) -> Self:
        """Open a database. Raises `DatabaseRefused` if our sessions could write to it, and as `ArraysInPlace`."""
        require_read_only(server)
        return cls(ArraysInPlace(server), server)

    def __repr__(self) -> str:
        return f"Graph({str(self._server.address)!r}, {counted(self.arrays.manifest.nodes, 'node')} in place)"

    def __len__(self) -> int:
        """Return the number of nodes at the time of opening."""
        return self.arrays.manifest.nodes

    @property
    def is_in_place(self) -> bool:
        """Return True."""
        return True

    @property
    def place(self) -> str:
        """Return the address of the database."""
        return str(self._server.address)

    def close(self) -> None:
        """Close the connections."""
        self.arrays.close()
        self._server.close()


def require_read_only(server: Server) -> None:
    """Raise `DatabaseRefused` if the server lets its user write, `BadInput` for a database without nodes."""
    first = server.rows("MATCH (n) RETURN labels(n) AS labels LIMIT 1")
    if not first:
        raise BadInput(f"{server.address} holds no node: check the name of the database")
    # The trial is rolled back, but a new label might survive that: the node has labels of an existing one. Changing an
    # existing node instead would prove nothing: ArcadeDB checks that at commit.
    labels = "".join(f":{quoted(label)}" for label in first[0][0])
    if server.allows_writes(f"CREATE (n{labels}) RETURN 1 AS one"):
        raise DatabaseRefused(
            f"{server.address} would let this user write, and a model's questions must not: name a user who only reads "
            "in NEO4J_USERNAME (docs/guides/databases.md says how to make one)"
        )
