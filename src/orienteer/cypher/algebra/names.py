"""Names in a statement and in its answer: properties are read when they are named."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from orienteer.cypher.names import Catalog, Identifiers, NameMap, PropertyColumn, View, ViewedNames
from orienteer.query.columns import Col
from orienteer.query.evaluate import Shown
from orienteer.query.store import Store

_OWN = ("id", "name")
"""Every node's own hide properties of these names."""
_KINDS = {str: "text", int: "integer", float: "float", bool: "boolean"}


class PropertyColumns(Mapping[str, PropertyColumn]):
    """The properties of nodes, or of edges, each described when it is asked for."""

    def __init__(self, store: Store, owner: str) -> None:
        self._store, self._owner = store, owner
        names = store.properties.names if owner == "node" else store.edge_properties
        self._names = [name for name in names if owner == "edge" or name not in _OWN]
        self._columns: dict[str, PropertyColumn] = {}

    def __getitem__(self, name: str) -> PropertyColumn:
        if name not in self._names:
            raise KeyError(name)
        if name not in self._columns:
            _, values = self._store.property(self._owner, name)
            types = self._store.types_with(self._owner, name)
            self._columns[name] = PropertyColumn(column=name, kind=_kind(values), types=types)
        return self._columns[name]

    def __contains__(self, name: object) -> bool:
        return name in self._names

    def __iter__(self) -> Iterator[str]:
        return iter(self._names)

    def __len__(self) -> int:
        return len(self._names)


def _kind(values: Col) -> str:
    """Return the kind of all values of a property; "" if they are of several kinds."""
    if values.kind != "any":
        return {"int": "integer", "float": "float", "bool": "boolean"}[values.kind]
    kinds = set(map(type, values.data.tolist())) - {type(None)}
    if kinds == {list}:
        items = {type(item) for value in values.data.tolist() for item in value or ()}
        return f"{_common(items)}[]"
    return _common(kinds)


def _common(kinds: set[type]) -> str:
    if kinds == {int, float}:
        return "float"
    return _KINDS.get(kinds.pop(), "") if len(kinds) == 1 else ""


def names_of(store: Store, view: View | None) -> NameMap:
    """Return the look-up of the names of a graph, or of a view. Raises `BadOption` for a view that is impossible."""
    catalog = Catalog(PropertyColumns(store, "node"), PropertyColumns(store, "edge"))
    return NameMap(store.schema, catalog) if view is None else ViewedNames(store.schema, catalog, view)


def shown_names(store: Store, names: NameMap, identifiers: Identifiers | None) -> Shown:
    """Return the names in answers."""
    return Shown(
        [names.called(name) for name in store.types.nodes],
        [names.called(name) for name in store.types.edges],
        None if names.view is None else names.view.label,
        None if identifiers is None else identifiers.of,
    )
