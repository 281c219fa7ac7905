"""The name map of a view: from the types and ids of a statement in a view to the engine's copy."""

from __future__ import annotations

import re
from collections.abc import Iterable

from orienteer.cypher.ladybug.kinds import Value, quoted, rendered
from orienteer.cypher.names import Catalog, NameMap
from orienteer.cypher.view import Identifiers, View, viewed_schema
from orienteer.errors import UnknownType
from orienteer.records import Schema


class ViewedNames(NameMap):
    """Looks up the names of a view; the graph's own names of types work too."""

    def __init__(self, schema: Schema, catalog: Catalog, view: View, identifiers: Identifiers) -> None:
        """Raises `BadOption` for a domain label that is a node type, `UnknownType` for an unknown directed type."""
        super().__init__(viewed_schema(schema, view), catalog)
        self.view, self._identifiers = view, identifiers
        directed = {triple.type for name in view.directed for triple in self.edge_triples(name)}
        self.undirected = (frozenset(schema.edge_types) - directed) | schema.symmetric

    def node_types(self, name: str) -> frozenset[str]:
        """Return the node types that a name means. Raises `UnknownType`, also for the domain label."""
        try:
            return super().node_types(name)
        except UnknownType:
            if self.view is None or self.view.label is None or name.casefold() != self.view.label.casefold():
                raise
            raise UnknownType(
                f"{name!r} is no node type but the label of every node: write (n:{name}), or {name!r} IN labels(n)."
            ) from None

    def called(self, type_name: str) -> str:
        """Return the name of a type in results: with underscores, an edge type with its end types."""
        return self.schema.label(type_name)

    def _joined_words(self) -> list[str]:
        return []  # a view's names of edge types contain the end types already

    def identifier(self, node: Value) -> str:
        """Return the engine's expression for a node's id in the view: its property, else its id without the type."""
        types, identifiers = node.kind.types or frozenset(self.schema.node_types), self._identifiers
        column = self.catalog.node_columns.get(identifiers.property) if identifiers.property is not None else None
        if column is None or not types & set(column.types):
            return self._behind_type(node.text, types)
        text = f"{node.text}.{quoted(column.column)}"
        rest = types - identifiers.complete
        return f"coalesce({text}, {self._behind_type(node.text, rest)})" if rest else text

    def _behind_type(self, node: str, types: Iterable[str]) -> str:
        cases = []
        for node_type in sorted(types):
            if prefix := self._identifiers.prefixes.get(node_type):
                table = rendered(self.catalog.node_tables[node_type])
                # No substring(): the engine counts grapheme clusters there. Its patterns lose one of two backslashes.
                begins = "^" + re.escape(prefix).replace("\\\\", r"\x5C")
                rest = f"regexp_replace({node}.id, {rendered(begins)}, '')"
                cases.append(f"WHEN label({node}) = {table} THEN {rest}")
        return f"CASE {' '.join(cases)} ELSE {node}.id END" if cases else f"{node}.id"
