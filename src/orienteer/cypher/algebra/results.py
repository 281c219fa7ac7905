"""Values of the algebra as records: nodes and edges with their names in the graph or in a view."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np

from orienteer.cypher.names import Identifiers, NameMap
from orienteer.elements import JsonValue
from orienteer.query.columns import Col, EdgeRef, NodeRef, Path
from orienteer.query.store import Store
from orienteer.query.temporal import Duration, Moment


class FullAnswer(Exception):
    """The answer has as many characters as it may have."""


class RecordMaker:
    """Makes the records of one graph, or of one view of it."""

    def __init__(self, store: Store, names: NameMap, identifiers: Identifiers | None) -> None:
        self._store, self._names, self._identifiers = store, names, identifiers

    def rows(self, columns: Sequence[Col], most: int) -> Iterator[tuple[tuple[JsonValue, ...], int]]:
        """Yield rows with their characters as JSON, at most `most` in all. Raises `FullAnswer` for more.

        A value may be a thousand times longer than it is in memory, where it shares its parts: it is counted while it
        is made.
        """
        for row in zip(*(column.values() for column in columns), strict=True):
            left = [most]
            record = tuple(self._value(value, left) for value in row)
            length = len(json.dumps(record, ensure_ascii=False))
            most -= length
            if most < 0:
                raise FullAnswer
            yield record, length

    def _value(self, value: Any, left: list[int]) -> Any:  # Any: Cypher's values
        left[0] -= len(value) + 2 if isinstance(value, str) else 1
        if left[0] < 0:
            raise FullAnswer
        if isinstance(value, NodeRef):
            return self._node(value.row, left)
        if isinstance(value, EdgeRef):
            return self._edge(value.at, left)
        if isinstance(value, Path):
            nodes, edges = ([self._value(part, left) for part in parts] for parts in value)
            return {"nodes": nodes, "edges": edges}
        if isinstance(value, list):
            return [self._value(item, left) for item in value]
        if isinstance(value, dict):
            return {key: self._value(item, left) for key, item in value.items()}
        if isinstance(value, float) and value - value != 0:
            return str(value)  # JSON has no such number
        return str(value) if isinstance(value, Moment | Duration) else value

    def _node(self, row: int, left: list[int]) -> JsonValue:
        store = self._store
        record: dict[str, JsonValue] = {
            "id": self._id(row),
            "type": self._names.called(store.types.nodes[store.node_types[row]]),
            "name": store.names[row],
            "properties": self._store.properties_of("node", row),
        }
        left[0] -= 40
        return record

    def _edge(self, at: int, left: list[int]) -> JsonValue:
        source, target, number = (int(part[0]) for part in self._store.ends_of(np.array([at])))
        record: dict[str, JsonValue] = {
            "source": self._id(source),
            "type": self._names.called(self._store.types.edges[number]),
            "target": self._id(target),
        }
        if properties := self._store.properties_of("edge", at):
            record["properties"] = properties
        left[0] -= 40
        return record

    def _id(self, row: int) -> str:
        return str(self._store.ids[row]) if self._identifiers is None else self._identifiers.of(row)
