"""The documents and parts of a graph in the order in which a build shelves them, without their texts."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from orienteer.graph.arrays import GraphArrays
from orienteer.graph.names import whole_number
from orienteer.graph.reserved import DOCUMENT, READ
from orienteer.index.arrays import Rows, decode
from orienteer.records import JsonValue, Node

_PROPERTIES = ("file", "row", "document", "order")


class ShelfMark(NamedTuple):
    """Where a node stands on the shelf: marks sort as a build reads the nodes."""

    file: str
    row: int
    """Of a collection."""
    document: str
    is_part: bool
    order: int

    @classmethod
    def of(cls, node: Node) -> ShelfMark:
        """Return the mark of a node."""
        values = [node.properties.get(name) for name in _PROPERTIES]
        return cls.made(node.id, node.type == DOCUMENT, *values)

    @classmethod
    def made(
        cls, node_id: str, is_document: bool, file: JsonValue, row: JsonValue, owner: JsonValue, order: JsonValue
    ) -> ShelfMark:
        """Return the mark of a node with these properties."""
        document = owner if isinstance(owner, str) and not is_document else node_id
        return cls(str(file), whole_number(row, 0), document, not is_document, whole_number(order, 0))


class Shelved:
    """The nodes of a graph that were read from files, as columns."""

    def __init__(self, arrays: GraphArrays) -> None:
        self.arrays = arrays
        numbers = [number for number, name in enumerate(arrays.types.nodes) if name in READ]
        self.rows: Rows = np.flatnonzero(np.isin(arrays.node_types, numbers)).astype(np.int32)
        """(n,): ascending."""
        self.is_document = np.array([name == DOCUMENT for name in arrays.types.nodes])[arrays.node_types[self.rows]]
        """(n,)"""
        columns = [arrays.properties.every(name, self.rows) for name in _PROPERTIES]
        self.ids = [decode(utf8) for utf8 in arrays.ids.take(self.rows)]
        """(n,)"""
        self.marks = [ShelfMark.made(*mark) for mark in zip(self.ids, self.is_document.tolist(), *columns, strict=True)]
        """(n,)"""

    def of_files(self, files: frozenset[str] | None = None) -> dict[str, list[int]]:
        """Return the places of the nodes of some files, or of all, among the rows, in the order of the shelf."""
        places: dict[str, list[int]] = {}
        here = [place for place, mark in enumerate(self.marks) if files is None or mark.file in files]
        for place in sorted(here, key=lambda place: (self.marks[place], place)):
            places.setdefault(self.marks[place].file, []).append(place)
        return places

    def node(self, place: int) -> Node:
        """Return the node at a place."""
        return self.arrays.node_at(int(self.rows[place]))
