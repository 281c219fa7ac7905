"""Nodes and edges as the file of a graph writes them, whatever the file's format."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple, TypeAlias

from orienteer.display import counted
from orienteer.graph.builder import GraphBuilder
from orienteer.ingest.bounds import MOST_HELD
from orienteer.ingest.formats.table import EDGE_ROWS, NODE_ROWS, full_parts, shown
from orienteer.ingest.report import EMPTY_ID, Tally
from orienteer.ingest.tables.labels import Labels
from orienteer.ingest.tables.values import numeric
from orienteer.records import JsonValue

Fields: TypeAlias = dict[str, Any]  # Any: JSON


NUMBERS = frozenset(
    {"int", "integer", "long", "short", "byte", "float", "double", "decimal", "biginteger", "bigdecimal"}
)
BOOLEANS = frozenset({"boolean", "bool"})
"""What GraphML, GEXF and Neo4j call the types that JSON has; everything else stays text."""
TRUTH = {"true": True, "1": True, "false": False, "0": False}


class TypedValues:
    """Reads values by their declared types. What does not fit its type stays text, and is counted."""

    def __init__(self) -> None:
        self._misfits = 0
        self._first = (0, "")
        """The line of the first of them, and what is there."""

    def value(self, text: str, kind: str, *, name: str, line: int) -> JsonValue:
        """Return the value that the text spells, the text itself where it spells none of that type."""
        if kind in NUMBERS:
            value = numeric(text)
        elif kind in BOOLEANS:
            value = TRUTH.get(text.strip().casefold())
        else:
            return text
        if value is None and text.strip():
            if not self._misfits or line < self._first[0]:
                self._first = line, f"line {line}, {name}: {text[:60]!r} is no {kind}"
            self._misfits += 1
            return text
        return value

    def values(self, texts: Sequence[str], kind: str, *, name: str, lines: Sequence[int]) -> Sequence[JsonValue]:
        """Return the values of a column."""
        if kind not in NUMBERS and kind not in BOOLEANS:
            return texts
        return [self.value(text, kind, name=name, line=line) for text, line in zip(texts, lines, strict=True)]

    def tell(self, tally: Tally, file: object) -> None:
        """Note how many values did not fit."""
        if self._misfits:
            left = counted(self._misfits, "value")
            tally.notes.append(f"{file}: left {left} as text, not of the type declared (first: {self._first[1]})")


class NodeElement(NamedTuple):
    """A node as it is written."""

    id: str
    fields: Fields
    line: int
    own_id: str = ""
    """The id by which a database knows it, whatever its properties are."""


class EdgeElement(NamedTuple):
    """An edge as it is written. `type` is empty if the format itself names none."""

    source: str
    target: str
    type: str
    is_directed: bool
    fields: Fields
    line: int


class ElementSource:
    """What is known of a file, or of a database, before its first node or edge."""

    node_type = ""
    """The attribute that holds the type of every node, if the source follows a known custom; else empty."""
    edge_type = ""
    declares_edges = False
    """The format declares every attribute of edges that may name their type; others are mere attributes."""
    types_edges = False
    """The format itself gives every edge a type, so that an attribute of such a name is a mere attribute."""

    def __init__(self, path: object, edge_names: Iterable[str] = ()) -> None:
        self.path = path
        """What it is called in messages."""
        self.edge_names = dict.fromkeys(edge_names)
        """Attributes of edges that are known so far, in order."""


class GraphReader(ElementSource, ABC):
    """Reads the nodes and edges of one file."""

    def __init__(self, path: Path, tally: Tally) -> None:
        super().__init__(path)
        self.path: Path = path
        self.batch: list[NodeElement | EdgeElement] = []
        """What has been read and not yet been handed out."""
        self.typed = TypedValues()
        self.meta: Mapping[str, Any] | None = None  # Any: JSON
        """What our own export says of the graph; None in a file by others."""
        self.place = 0
        self._drop = tally.dropping(str(path))

    @abstractmethod
    def elements(self) -> Iterator[NodeElement | EdgeElement]:
        """Read the file. Raises `BadInput` if it is not of this format, or not whole."""

    @property
    def line(self) -> int:
        """Return the line that is being read, the number of the element where the format has no lines."""
        return self.place

    def drop(self, reason: str, value: object) -> None:
        """Tell the report of something on this line that cannot be stored."""
        self._drop(reason, self.line, shown(value))

    def add_node(self, node_id: str, fields: Fields, line: int) -> None:
        """Hand out a node, unless it has no id."""
        if node_id.strip():
            self.batch.append(NodeElement(node_id, fields, line))
        else:
            self.drop(EMPTY_ID, next((value for value in fields.values() if value), ""))

    def add_edge(self, edge: EdgeElement) -> None:
        """Hand out an edge, unless it lacks an end."""
        if edge.source.strip() and edge.target.strip():
            self.batch.append(edge)
        else:
            self.drop(EMPTY_ID, f"{edge.source} -> {edge.target}")

    def taken(self) -> list[NodeElement | EdgeElement]:
        """Return what has been read since the last time."""
        elements, self.batch = self.batch, []
        return elements


class ElementGraph(ABC):
    """Puts elements into a builder, many together, nodes before the edges that follow them."""

    def __init__(self, builder: GraphBuilder) -> None:
        self.builder = builder
        self._nodes: list[NodeElement] = []
        self._edges: list[EdgeElement] = []
        """The elements that wait."""
        self._ids: set[str] = set()
        """The ids of the nodes that wait."""
        self._size = 0
        """The characters of their texts."""

    @abstractmethod
    def add_nodes(self, elements: Sequence[NodeElement]) -> None:
        """Add nodes. Raises `DuplicateNode`, and `BadInput` for one that is not whole."""

    @abstractmethod
    def add_edges(self, elements: Sequence[EdgeElement]) -> None:
        """Add at least one edge."""

    @abstractmethod
    def finish(self) -> Labels:
        """Add what waits, clean the edges, and return the labels of types."""

    def has(self, node_id: str) -> bool:
        """Return whether a node with this id was added."""
        return node_id in self._ids or self.builder.has(node_id)

    def add(self, element: NodeElement | EdgeElement) -> None:
        """Add a node, or an edge whose nodes were added before."""
        if isinstance(element, NodeElement):
            self._ids.add(element.id)
            self._nodes.append(element)
        else:
            self._edges.append(element)
        self._size += sum([len(value) for value in element.fields.values() if isinstance(value, str)])
        if len(self._nodes) == NODE_ROWS or len(self._edges) == EDGE_ROWS or self._size > MOST_HELD:
            self.flush()

    def flush(self) -> None:
        """Add the nodes and the edges so far."""
        for part in full_parts([node.fields for node in self._nodes]):
            self.add_nodes(self._nodes[part])
        for part in full_parts([edge.fields for edge in self._edges]):
            self.add_edges(self._edges[part])
        self._nodes, self._edges, self._size = [], [], 0
        self._ids.clear()
