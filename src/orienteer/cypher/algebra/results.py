"""Values of the algebra as records: nodes and edges with their names in the graph or in a view."""

from __future__ import annotations

from datetime import date
from typing import Any

import numpy as np

from orienteer.cypher.names import Identifiers, NameMap
from orienteer.query.columns import Col, EdgeRef, NodeRef, Path
from orienteer.query.store import Store
from orienteer.records import JsonValue


class Records:
    """Makes the values of answers."""

    def __init__(self, store: Store, names: NameMap, identifiers: Identifiers | None) -> None:
        self._store, self._names, self._identifiers = store, names, identifiers

    def column(self, values: Col) -> list[JsonValue]:
        """Return the values of a column."""
        if values.kind in ("int", "bool"):
            plain: list[JsonValue] = values.values()
            return plain
        return [self._value(value) for value in values.values()]

    def _value(self, value: Any) -> Any:  # Any: Cypher's values
        if isinstance(value, NodeRef):
            return self._node(value.row)
        if isinstance(value, EdgeRef):
            return self._edge(value.at)
        if isinstance(value, Path):
            return {"nodes": [self._value(part) for part in value.nodes], "edges": [*map(self._value, value.edges)]}
        if isinstance(value, list):
            return [*map(self._value, value)]
        if isinstance(value, dict):
            return {key: self._value(item) for key, item in value.items()}
        if isinstance(value, float) and value - value != 0:
            return str(value)  # JSON has no such number
        return value.isoformat() if isinstance(value, date) else value

    def _node(self, row: int) -> JsonValue:
        store = self._store
        at = np.array([row])
        properties = {
            name: column.values()[0]
            for name in store.properties.names
            if not (column := store.read("node", name, at)).nulls[0]
        }
        return {
            "id": self._id(row),
            "type": self._names.called(store.types.nodes[store.node_types[row]]),
            "name": store.names[row],
            "properties": properties,
        }

    def _edge(self, at: int) -> JsonValue:
        store, place = self._store, np.array([at])
        source, target, number = (int(part[0]) for part in store.ends_of(place))
        record: dict[str, JsonValue] = {
            "source": self._id(source),
            "type": self._names.called(store.types.edges[number]),
            "target": self._id(target),
        }
        read = {name: store.read("edge", name, place) for name in store.edge_properties}
        if properties := {name: column.values()[0] for name, column in read.items() if not column.nulls[0]}:
            record["properties"] = properties
        return record

    def _id(self, row: int) -> str:
        return str(self._store.ids[row]) if self._identifiers is None else self._identifiers.of(row)
