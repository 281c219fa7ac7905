"""Elements of a file, or of a database -> nodes, and batches of edges."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace

from orienteer.display import counted
from orienteer.errors import BadOption
from orienteer.graph.builder import GraphBuilder
from orienteer.graph.edges import EdgeBatch
from orienteer.ingest.formats.elements import EdgeElement, ElementGraph, ElementSource, Fields, NodeElement
from orienteer.ingest.formats.table import Batch, columns_of
from orienteer.ingest.portable import PROPERTY
from orienteer.ingest.report import Tally
from orienteer.ingest.tables import mirror
from orienteer.ingest.tables.columns import EDGE_RANKS, NODE_RANKS, Columns, EdgeRoles, check_named, plainly
from orienteer.ingest.tables.edges import EdgeMaker
from orienteer.ingest.tables.labels import Labels
from orienteer.ingest.tables.nodes import MadeNodes, NodeMaker, add_made, explode
from orienteer.records import Node

SOURCE, TARGET, TYPE = "@source", "@target", "@type"
OURS = {SOURCE, TARGET, TYPE}
"""Columns of what the format itself says of an edge."""
LABELS = "labels"
"""The property of the labels that Neo4j gives a node: the first is its type."""


class ElementMaker:
    """Makes nodes and edges of elements."""

    def __init__(self, source: ElementSource, columns: Columns, tally: Tally) -> None:
        # The attributes of nodes are asked for one by one, those of edges have to be known: the source knows them now.
        self._source, self._columns, self._tally = source, columns, tally
        self.nodes = NodeMaker(with_role(columns, "node_type", source.node_type), tally=tally)
        self.direction: dict[str, bool] = {}
        """Of each edge type whether it is directed."""
        self.second: dict[str, int] = {}
        """Edges by the types that were made for the second kind of a type."""
        self._edges, self._type_column = edge_maker(source, columns, tally)
        self._seen: set[str] = set()
        """What earlier makers of edges have seen."""

    def made(self, elements: Sequence[NodeElement]) -> Iterator[MadeNodes]:
        """Make nodes."""
        # LightRAG repeats the id of a node as `entity_id`.
        fields = [
            {name: value for name, value in element.fields.items() if value != element.id or not is_id(name)}
            for element in elements
        ]
        batch = Batch(columns_of(fields), [element.line for element in elements])
        for rows, nodes in self.nodes.named([element.id for element in elements], batch):
            yield MadeNodes(nodes, batch.taking(rows))

    def node(self, element: NodeElement) -> Node:
        """Make one node."""
        return next(node for made in self.made([element]) for node in made.nodes.nodes())

    def edges(self, elements: Sequence[EdgeElement]) -> EdgeBatch:
        """Make a batch of at least one edge."""
        source = self._source
        attributes = dict.fromkeys(name for element in elements for name in element.fields)
        if not source.declares_edges and not attributes.keys() <= source.edge_names.keys():
            self._seen |= self._edges.seen
            source.edge_names |= attributes
            self._edges, self._type_column = edge_maker(source, self._columns, self._tally)
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
        return (self.nodes.seen | self._edges.seen | self._seen | set(self._source.edge_names)) - OURS

    def _type(self, name: str, is_directed: bool) -> str:
        """Return the type of such an edge: a type of its own, if the type has edges of the other kind."""
        if self.direction.setdefault(name, is_directed) == is_directed:
            return name
        own = f"{name} ({'directed' if is_directed else 'undirected'})"
        self.direction[own] = is_directed
        return own


class AttributedGraph(ElementGraph):
    """A graph of the elements of one file, or of one database, by the names of their attributes."""

    def __init__(self, source: ElementSource, columns: Columns, builder: GraphBuilder, tally: Tally) -> None:
        super().__init__(builder)
        self._columns, self._tally, self._file = columns, tally, str(source.path)
        self._maker = ElementMaker(source, columns, tally)

    def add_nodes(self, elements: Sequence[NodeElement]) -> None:
        """Add nodes. Raises `DuplicateNode`."""
        for made in self._maker.made(elements):
            add_made(self.builder, made, self._tally, file=self._file)

    def add_edges(self, elements: Sequence[EdgeElement]) -> None:
        """Add edges, whose nodes were added before."""
        self.builder.add_edges(self._maker.edges(elements))

    def finish(self) -> Labels:
        """Mark the types without direction, and clean the edges."""
        self.flush()
        maker, table = self._maker, self.builder.edges
        explode([maker.nodes], self._columns, self.builder)
        check_named(self._columns, maker.seen)
        table.symmetric |= {name for name, is_directed in maker.direction.items() if not is_directed}
        mirror.align(table)
        mirror.clean(table, self._tally)
        for own, count in maker.second.items():
            kinds = ("directed", "undirected") if maker.direction[own] else ("undirected", "directed")
            some = counted(count, f"{kinds[0]} edge")
            self._tally.notes.append(f"gave {some} of a type that has {kinds[1]} ones, too, the type {own!r}")
        return Labels()


def edge_maker(source: ElementSource, columns: Columns, tally: Tally) -> tuple[EdgeMaker, str]:
    """Return the maker, and the column of the types: an attribute, else what the format itself says."""
    columns = with_role(columns, "edge_type", source.edge_type)
    names = [name for name in source.edge_names if name not in OURS]
    is_told = columns.role("edge_type", "type") is not None or any(
        EDGE_RANKS.get(plainly(name), ("", 0))[0] == "type" for name in names if not source.types_edges
    )
    ours = {"source": SOURCE, "target": TARGET} | ({} if is_told else {"edge_type": TYPE})
    with_ours = replace(columns, roles={**columns.roles, **ours})
    roles = EdgeRoles.of([*ours.values(), *names], with_ours, source.path)
    if source.types_edges:  # a word beside a type, and what rows repeat of their ends, are customs of tables
        roles = replace(roles, display=None, source_sides={}, target_sides={})
    maker = EdgeMaker(roles, columns, tally=tally, file=str(source.path), is_text=False)
    return maker, roles.type or TYPE


def _batch(elements: Sequence[EdgeElement], type_column: str) -> Batch:
    """Turn edges into columns. What the format itself calls an edge fills a lack of a type, else it is a `label`."""
    fields = [
        {"label" if type_column in element.fields else type_column: element.type, **element.fields}
        if element.type
        else element.fields
        for element in elements
    ]
    ends = {
        SOURCE: [element.source for element in elements],
        TARGET: [element.target for element in elements],
    }
    return Batch(ends | columns_of(fields), [element.line for element in elements])


def with_role(columns: Columns, role: str, column: str) -> Columns:
    """Give a role to a column, unless the person has given it to another or wants something else of this one."""
    if not column or columns.role(role, "type") or column in (*columns.private, *columns.explode):
        return columns
    roles: Mapping[str, str] = {role: column, **columns.roles}
    return replace(columns, roles=roles)


def is_id(name: str) -> bool:
    """Return whether an attribute of this name holds ids of nodes."""
    return NODE_RANKS.get(plainly(name), ("", 0))[0] == "id"


def refuse_ids(columns: Columns, source: object) -> None:
    """Raise `BadOption` if the person names what the format itself tells."""
    for role in ("id", "source", "target"):
        if role in columns.roles:
            raise BadOption(f"--column {role} has no meaning for {source}, which tells it: leave it out")


def labelled(properties: Fields, labels: Sequence[str]) -> Fields:
    """Return the fields of a node: its properties and its labels, beside which a property of that name has another."""
    fields = {PROPERTY + name if name == LABELS else name: value for name, value in properties.items()}
    return fields | ({LABELS: [*labels]} if labels else {})


def labels_of(text: str) -> list[str]:
    """Return the labels of a node as Neo4j writes them, a colon before each."""
    return [label for label in text.split(":") if label]
