"""Types in expressions for the engine, by their names in the copy."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass

from orienteer.cypher.calls import TypeTests
from orienteer.cypher.kinds import BOOLEAN, Value, rendered


@dataclass(frozen=True, slots=True)
class EngineTypes(TypeTests):
    """Writes the types of nodes and edges, and conditions on them."""

    def is_of(self, value: Value, types: Collection[str]) -> Value:
        """Write the condition that a node or an edge has one of these types."""
        return Value(f"(label({value.text}) IN [{self._listed(value, types)}])", BOOLEAN)

    def is_there(self, value: Value) -> Value:
        """Write the condition that an optional node is there."""
        return Value(f"(id({value.text}) IS NOT NULL)", BOOLEAN)

    def compares_type(self, value: Value, types: Collection[str]) -> str:
        """Write the condition that the type of a node or an edge is one of these; null for null."""
        return f"({self._table(value)} IN [{self._listed(value, types)}])"

    def type_text(self, value: Value) -> str:
        """Write the type of a node or an edge by its name in results; null for null."""
        tables, text = self._tables(value), self._table(value)
        types = value.kind.types or frozenset(tables)
        called = {tables[type_name]: self.scope.names.called(type_name) for type_name in sorted(types)}
        renamed = {table: name for table, name in called.items() if table != name}
        if not renamed:
            return text
        cases = " ".join(f"WHEN {rendered(table)} THEN {rendered(name)}" for table, name in renamed.items())
        return f"CASE {text} {cases} ELSE {text} END"

    def _table(self, value: Value) -> str:
        """Write a type by its name in the copy; null for null."""
        if self.scope.local:
            return f"label({value.text})"
        # For a missing optional edge the engine still gives the type, if only one is possible.
        return f"CASE WHEN id({value.text}) IS NOT NULL THEN label({value.text}) END"

    def _tables(self, value: Value) -> Mapping[str, str]:
        catalog = self.scope.names.catalog
        return catalog.edge_tables if value.kind.name == "edge" else catalog.node_tables

    def _listed(self, value: Value, types: Collection[str]) -> str:
        tables = self._tables(value)
        return ", ".join(rendered(table) for table in sorted(tables[type_name] for type_name in types))
