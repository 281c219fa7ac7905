"""Elements of a file, or of a database -> nodes, and batches of edges."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any, Protocol

from orienteer.graph.edges import EdgeBatch
from orienteer.ingest.formats.elements import EdgeElement, NodeElement
from orienteer.ingest.formats.table import Batch
from orienteer.ingest.report import Tally
from orienteer.ingest.tables.columns import EDGE_RANKS, NODE_RANKS, Columns, EdgeRoles, plainly
from orienteer.ingest.tables.edges import EdgeMaker
from orienteer.ingest.tables.nodes import NodeMaker
from orienteer.records import Node

SOURCE, TARGET, TYPE = "@source", "@target", "@type"
"""Columns of what the format itself says of an edge."""


class ElementSource(Protocol):
    """What has to be known of the file, or the database, that elements come from."""

    @property
    def path(self) -> object:
        """Return what it is called in messages."""

    @property
    def node_type(self) -> str:
        """Return the attribute that holds the type of every node; empty for none."""

    @property
    def edge_type(self) -> str:
        """Return the attribute that holds the type of every edge; empty for none."""

    @property
    def declares_edges(self) -> bool:
        """Return whether every attribute of edges is known from the start."""

    @property
    def types_edges(self) -> bool:
        """Return whether every edge has a type of its own, beside its attributes."""

    edge_names: dict[str, None]
    """Attributes of edges that are known so far, in order."""


class ElementMaker:
    """Makes nodes and edges of elements."""

    def __init__(self, reader: ElementSource, columns: Columns, tally: Tally) -> None:
        # The attributes of nodes are asked for one by one, those of edges have to be known: `reader` knows them now.
        self._reader, self._columns, self._tally = reader, columns, tally
        self.nodes = NodeMaker(with_role(columns, "node_type", reader.node_type), tally=tally)
        self.direction: dict[str, bool] = {}
        """Of each edge type whether it is directed."""
        self.second: dict[str, int] = {}
        """Edges by the types that were made for the second kind of a type."""
        self._edges, self._type_column = self._edge_maker()
        self._seen: set[str] = set()
        """What earlier makers of edges have seen."""

    def node(self, element: NodeElement) -> Node:
        """Make a node."""
        # LightRAG repeats the id of a node as `entity_id`.
        fields = {name: value for name, value in element.fields.items() if value != element.id or not is_id(name)}
        return self.nodes.node(element.id, fields)

    def edges(self, elements: Sequence[EdgeElement]) -> EdgeBatch:
        """Make a batch of at least one edge."""
        reader = self._reader
        attributes = {name for element in elements for name in element.fields}
        if not reader.declares_edges and not attributes <= reader.edge_names.keys():
            self._seen |= self._edges.seen
            reader.edge_names |= dict.fromkeys(name for element in elements for name in element.fields)
            self._edges, self._type_column = self._edge_maker()
        batch = self._edges.of_batch(_batch(elements, self._type_column))
        pairs = [(name, element.is_directed) for name, element in zip(batch.types, elements, strict=True)]
        names = {pair: self._type(*pair) for pair in dict.fromkeys(pairs)}
        for pair, count in Counter(pairs).items():
            if (own := names[pair]) != pair[0]:
                self.second[own] = self.second.get(own, 0) + count
        return replace(batch, types=[names[pair] for pair in pairs])

    @property
    def seen(self) -> set[str]:
        """Every attribute that said anything, or was declared."""
        return (self.nodes.seen | self._edges.seen | self._seen | set(self._reader.edge_names)) - {SOURCE, TARGET, TYPE}

    def _edge_maker(self) -> tuple[EdgeMaker, str]:
        """Return the maker, and the column of the types: an attribute, else what the format itself says."""
        reader = self._reader
        columns = with_role(self._columns, "edge_type", reader.edge_type)
        names = [name for name in reader.edge_names if name not in (SOURCE, TARGET, TYPE)]
        is_told = columns.role("edge_type", "type") is not None or any(
            EDGE_RANKS.get(plainly(name), ("", 0))[0] == "type" for name in names if not reader.types_edges
        )
        ours = {"source": SOURCE, "target": TARGET} | ({} if is_told else {"edge_type": TYPE})
        with_ours = replace(columns, roles={**columns.roles, **ours})
        roles = EdgeRoles.of([*ours.values(), *names], with_ours, reader.path)
        if reader.types_edges:  # a word beside a type, and what rows repeat of their ends, are customs of tables
            roles = replace(roles, display=None, source_sides={}, target_sides={})
        maker = EdgeMaker(roles, columns, tally=self._tally, file=str(reader.path), is_text=False)
        return maker, roles.type or TYPE

    def _type(self, name: str, is_directed: bool) -> str:
        """Return the type of such an edge: a type of its own, if the type has edges of the other kind."""
        if self.direction.setdefault(name, is_directed) == is_directed:
            return name
        own = f"{name} ({'directed' if is_directed else 'undirected'})"
        self.direction[own] = is_directed
        return own


def _batch(elements: Sequence[EdgeElement], type_column: str) -> Batch:
    """Turn edges into columns. What the format itself calls an edge fills a lack of a type, else it is a `label`."""
    fields = [
        {"label" if type_column in element.fields else type_column: element.type, **element.fields}
        if element.type
        else element.fields
        for element in elements
    ]
    columns: dict[str, list[Any]] = {  # Any: JSON
        SOURCE: [element.source for element in elements],
        TARGET: [element.target for element in elements],
    }
    for name in dict.fromkeys(name for row in fields for name in row):
        columns[name] = [row.get(name) for row in fields]
    return Batch(columns, [element.line for element in elements])


def with_role(columns: Columns, role: str, column: str) -> Columns:
    """Give a role to a column, unless the person has given it to another or wants something else of this one."""
    if not column or columns.role(role, "type") or column in (*columns.private, *columns.explode):
        return columns
    roles: Mapping[str, str] = {role: column, **columns.roles}
    return replace(columns, roles=roles)


def is_id(name: str) -> bool:
    """Return whether an attribute of this name holds ids of nodes."""
    return NODE_RANKS.get(plainly(name), ("", 0))[0] == "id"
