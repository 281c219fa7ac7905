"""The engine's values as records: nodes and edges with their names in the graph or in a view."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from orienteer.cypher.names import Identifiers, NameMap
from orienteer.records import JsonValue

if TYPE_CHECKING:
    from orienteer.graph.store import Graph


class Results:
    """Reads the values of one copy. It has no reference to the graph, which would stay open with the engine."""

    def __init__(self, graph: Graph, names: NameMap, identifiers: Identifiers | None = None) -> None:
        self.names, self._identifiers = names, identifiers
        self._ids, self._node_types, self._type_names = (
            graph.arrays.ids,
            graph.arrays.node_types,
            graph.arrays.types.nodes,
        )

    def value(self, value: Any) -> JsonValue:  # Any: JSON, with the engine's own keys
        """Return a value with nodes, edges and paths as maps."""
        if not isinstance(value, list | dict):
            plain: JsonValue = value
            return plain
        if isinstance(value, list):
            return [self.value(item) for item in value]
        if "_NODES" in value:
            return {"nodes": self.value(value["_NODES"]), "edges": self.value(value["_RELS"])}
        if "_SRC" in value:
            return self._edge(value)
        if "_ID" in value:
            return self._node(value)
        return {key: self.value(item) for key, item in value.items()}

    def _node(self, value: dict[str, Any]) -> JsonValue:
        columns = self._node_keys
        return {
            "id": self._id(value["_ID"]) if self._identifiers is not None else value["id"],
            "type": self._table_types[value["_LABEL"]],
            "name": value["name"],
            "properties": {columns[key]: item for key, item in value.items() if key in columns and item is not None},
        }

    def _edge(self, value: dict[str, Any]) -> JsonValue:
        columns = self._edge_keys
        record: dict[str, JsonValue] = {
            "source": self._id(value["_SRC"]),
            "type": self._edge_types[value["_LABEL"]],
            "target": self._id(value["_DST"]),
        }
        if carried := {columns[key]: item for key, item in value.items() if key in columns and item is not None}:
            record["properties"] = carried
        return record

    def _id(self, place: Mapping[str, int]) -> str:
        node_type = self.names.catalog.table_numbers[str(place["table"])]
        row = int(self._rows[node_type][place["offset"]])
        return self._identifiers.of(row) if self._identifiers is not None else str(self._ids[row])

    @cached_property
    def _rows(self) -> dict[str, NDArray[np.int64]]:
        """Return the rows of each node type, ascending: the place in this array is the place in the engine's table."""
        return {name: np.flatnonzero(self._node_types == number) for number, name in enumerate(self._type_names)}

    @cached_property
    def _table_types(self) -> dict[str, str]:
        """Return the node type of each table, by its name in results."""
        return {table: self.names.called(name) for name, table in self.names.catalog.node_tables.items()}

    @cached_property
    def _edge_types(self) -> dict[str, str]:
        """Return the edge type of each table, by its name in results."""
        return {table: self.names.called(name) for name, table in self.names.catalog.edge_tables.items()}

    @cached_property
    def _node_keys(self) -> dict[str, str]:
        """Return the property of each column of nodes."""
        return {column.column: name for name, column in self.names.catalog.node_columns.items()}

    @cached_property
    def _edge_keys(self) -> dict[str, str]:
        """Return the property of each column of edges."""
        return {column.column: name for name, column in self.names.catalog.edge_columns.items()}
