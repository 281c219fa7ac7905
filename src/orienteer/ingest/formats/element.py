"""Nodes and edges as graph formats (GraphML, GEXF) write them."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any, NamedTuple, TypeAlias

from orienteer.ingest.formats.table import shown
from orienteer.ingest.formats.typed import TypedValues
from orienteer.ingest.formats.xml_stream import XmlStream
from orienteer.ingest.report import EMPTY_ID, Tally

Fields: TypeAlias = dict[str, Any]  # Any: JSON
PART_OF = "part_of"
"""The type of the edges from an inner node to the one that holds it."""


class NodeElement(NamedTuple):
    """A node as it is written."""

    id: str
    fields: Fields
    line: int


class EdgeElement(NamedTuple):
    """An edge as it is written. `type` is empty where the format itself names none."""

    source: str
    target: str
    type: str
    is_directed: bool
    fields: Fields
    line: int


class ElementReader(XmlStream[NodeElement | EdgeElement]):
    """Reads the elements of one format. What the file says of itself is known before its first element is."""

    def __init__(self, path: Path, tally: Tally) -> None:
        super().__init__(path)
        self.typed = TypedValues()
        self.edge_names: dict[str, None] = {}
        """Attributes that are declared for edges, in order."""
        self.node_type = ""
        """The attribute that holds the type of every node, where the file follows a known custom; else empty."""
        self.edge_type = ""
        self.meta: Mapping[str, Any] | None = None  # Any: JSON
        """What our own export says of the graph; None in a file by others."""
        self._drop = tally.dropping(str(path))

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

    def add_part(self, inner: str, outer: str, line: int) -> None:
        """Hand out the edge from an inner node to the one that holds it."""
        self.add_edge(EdgeElement(inner, outer, PART_OF, True, {}, line))
