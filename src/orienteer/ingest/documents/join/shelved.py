"""The documents and parts of a graph in the order in which a build shelves them, without their texts."""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

import numpy as np

from orienteer.graph.arrays import GraphArrays
from orienteer.graph.reserved import DOCUMENT, READ
from orienteer.index.arrays import Rows
from orienteer.records import JsonValue, Node


class ShelfMark(NamedTuple):
    """Where a node stands on the shelf: marks sort as a build reads the nodes."""

    file: str
    row: int
    """Of a collection."""
    document: str
    is_part: bool
    order: int


def mark_of(node_id: str, kind: str, properties: Mapping[str, JsonValue]) -> ShelfMark:
    """Return the mark of a node."""
    is_part = kind != DOCUMENT
    owner = properties.get("document") if is_part else None
    return ShelfMark(
        str(properties.get("file")),
        _whole(properties.get("row")),
        owner if isinstance(owner, str) else node_id,
        is_part,
        _whole(properties.get("order")),
    )


class Shelved:
    """The nodes of a graph that were read from files, as columns."""

    def __init__(self, arrays: GraphArrays) -> None:
        self.arrays = arrays
        numbers = [number for number, name in enumerate(arrays.types.nodes) if name in READ]
        self.rows: Rows = np.flatnonzero(np.isin(arrays.node_types, numbers)).astype(np.int32)
        """(n,): ascending."""
        self.is_document = np.array([name == DOCUMENT for name in arrays.types.nodes])[arrays.node_types[self.rows]]
        """(n,)"""
        columns = [arrays.properties.every(name, self.rows) for name in ("file", "row", "document", "order")]
        ids = [utf8.decode(errors="surrogatepass") for utf8 in arrays.ids.take(self.rows)]
        self.ids = ids
        """(n,)"""
        self.marks = [
            ShelfMark(str(file), _whole(row), owner if isinstance(owner, str) else own, not is_document, _whole(order))
            for own, is_document, file, row, owner, order in zip(ids, self.is_document.tolist(), *columns, strict=True)
        ]
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


def _whole(value: JsonValue) -> int:
    return value if isinstance(value, int) else 0
