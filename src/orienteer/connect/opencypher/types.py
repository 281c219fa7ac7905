"""Types in expressions as openCypher: `n:Gene`, `type(r)`, `labels(n)` and conditions on them."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass
from typing import cast

from orienteer.connect.opencypher.names import ServerNames
from orienteer.cypher.kinds import BOOLEAN, Value, list_of
from orienteer.cypher.syntax import Expression
from orienteer.cypher.type_tests import TypeTests


@dataclass(frozen=True, slots=True)
class ServerTypes(TypeTests):
    """Writes the types of nodes and edges, and conditions on them."""

    def is_of(self, value: Value, types: Collection[str]) -> Value:
        """Write the condition that a node or an edge has one of these types."""
        if value.kind.name == "edge":
            return Value(self.compares_type(value, types), BOOLEAN)
        return Value(self._names.has_type(value.text, types), BOOLEAN)

    def is_there(self, value: Value) -> Value:
        """Write the condition that an optional node is there."""
        return Value(f"({value.text} IS NOT NULL)", BOOLEAN)

    def compares_type(self, value: Value, types: Collection[str]) -> str:
        """Write the condition that the type of a node or an edge is one of these; null for null."""
        if value.kind.name == "edge":
            return f"(type({value.text}) IN {self.scope.hold(sorted(types))})"
        return self._names.has_type(value.text, types)

    def type_text(self, value: Value) -> str:
        """Write the type of a node or an edge; null for null."""
        if value.kind.name == "edge":
            return f"type({value.text})"
        return self._names.type_of(value.text, self.scope.hold(list(self._names.labels.order)))

    def labels_of(self, arguments: tuple[Expression, ...]) -> Value:
        """Write the labels of a node as a list: its type alone; null for null."""
        value, node = self.type_of(arguments, "node"), self.write(arguments[0])
        return Value(f"CASE WHEN {node.text} IS NOT NULL THEN [{value.text}] END", list_of(value.kind))

    @property
    def _names(self) -> ServerNames:
        return cast(ServerNames, self.scope.names)
