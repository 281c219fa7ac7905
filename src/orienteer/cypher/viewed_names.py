"""The names of a graph in a view: what a statement says of types and ids, for the engine."""

from __future__ import annotations

import re
from collections.abc import Iterable

from orienteer.cypher.ladybug.kinds import Value, quoted, rendered
from orienteer.cypher.names import Catalog, Names
from orienteer.cypher.view import Identifiers, View, viewed_schema
from orienteer.errors import UnknownType
from orienteer.records import Schema


class ViewedNames(Names):
    """Looks up the names of a view; those that types have in the graph itself mean the same."""

    def __init__(self, schema: Schema, catalog: Catalog, view: View, identifiers: Identifiers) -> None:
        """Raise `BadOption` where the domain label is a node type, `UnknownType` for a directed type that is none."""
        super().__init__(viewed_schema(schema, view), catalog)
        self.view, self._identifiers = view, identifiers
        directed = {triple.type for one in view.directed for triple in self.edge_triples(one)}
        self.undirected = (frozenset(schema.edge_types) - directed) | schema.symmetric

    def node_types(self, name: str) -> frozenset[str]:
        """Return the node types that a name means. Raises `UnknownType`, for the domain's label too."""
        try:
            return super().node_types(name)
        except UnknownType:
            if self.view is None or self.view.label is None or name.casefold() != self.view.label.casefold():
                raise
            raise UnknownType(
                f"{name!r} is no node type but the label of every node: write (n:{name}), or {name!r} IN labels(n)."
            ) from None

    def called(self, type_name: str) -> str:
        """Return what results call a type: with underscores, an edge type with the types that it joins."""
        return self.schema.label(type_name)

    def _joined_words(self) -> list[str]:
        return []  # the names of a view have the types in them

    def identifier(self, node: Value) -> str:
        """Return the id of a node as the engine takes it: its property, else what its id has behind the type."""
        types, known = node.kind.types or frozenset(self.schema.node_types), self._identifiers
        column = self.catalog.node_columns.get(known.property) if known.property is not None else None
        if column is None or not types & set(column.types):
            return self._behind_type(node.text, types)
        given = f"{node.text}.{quoted(column.column)}"
        rest = types - known.complete
        return f"coalesce({given}, {self._behind_type(node.text, rest)})" if rest else given

    def _behind_type(self, node: str, types: Iterable[str]) -> str:
        cases = []
        for one in sorted(types):
            if prefix := self._identifiers.prefixes.get(one):
                table = rendered(self.catalog.node_tables[one])
                # The engine's substring counts what is seen as one character, and its patterns lose a backslash of two.
                begins = "^" + re.escape(prefix).replace("\\\\", r"\x5C")
                rest = f"regexp_replace({node}.id, {rendered(begins)}, '')"
                cases.append(f"WHEN label({node}) = {table} THEN {rest}")
        return f"CASE {' '.join(cases)} ELSE {node}.id END" if cases else f"{node}.id"
