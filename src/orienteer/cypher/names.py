"""The map from the names of types and properties in a query to those of the graph.

For example `DISEASE_DOWNREGULATES_GENE` names the edge type `downregulates` between diseases and genes. A query may
name a type by its code, its label, another word for it, or any of these with other capitals, spaces and punctuation.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import NamedTuple

import numpy as np

from orienteer.cypher.kinds import BOOLEAN, FLOAT, INTEGER, TEXT, UNKNOWN, ValueKind, list_of
from orienteer.elements import JsonValue, Schema, Triple
from orienteer.errors import BadOption, UnknownProperty, UnknownType, nearest
from orienteer.graph.arrays import GraphArrays
from orienteer.query.store import Store
from orienteer.records import Record

MOST_ROWS = 100_000
"""Of an answer, even if the limit is higher."""


class RowProof(Record):
    """What one row of an answer rests on."""

    laid: tuple[dict[str, JsonValue], ...]
    """What each name of the patterns is: one row; up to three for a group; none if there is no pattern to lay.

    Parts without a name are called `_1`, `_2`, ...; the patterns of EXISTS are laid as well.
    """
    values: dict[str, JsonValue]
    """The row: its columns, among them the numbers of its group."""
    absent: tuple[str, ...] = ()
    """The patterns of NOT EXISTS: nothing fits them."""
    before: RowProof | None = None
    """The proof of the row of the WITH before, for the first row that is laid."""


class QueryTable(Record):
    """Rows of values. A node is a map of id, type, name and properties; an edge has source, type and target."""

    columns: tuple[str, ...]
    rows: tuple[tuple[JsonValue, ...], ...]
    total: int
    """The number of rows of the query, including those left out."""
    truncated: bool
    """Rows are missing: the limit of rows or of characters was reached."""
    notes: tuple[str, ...] = ()
    """The parts of the query that were read in another way than they were written, and rows that were not proved."""
    proofs: tuple[RowProof, ...] = ()
    """What the first rows rest on, as many as were asked for."""


class Bounds(NamedTuple):
    """The bounds of an answer."""

    rows: int
    characters: int
    """Of all rows, as JSON."""
    seconds: float


# The compatibility view: a graph with names in the style of GraphScout's authors, so that their traces run here.
#
# Paper 003, appendices B.2.2 and B.4.2: a node's `id` is its identifier alone (`DOID:10652`), every node has the
# domain's label as well as its type (`(d:Disease:biomedical)`), types have underscores (`Cellular_Component`), an edge
# type names the types that it joins (`DISEASE_DOWNREGULATES_GENE`), and a pattern's arrow may point either way, because
# their graphs store each edge in both directions. The graph itself does not change.

LONGEST_IDENTIFIER = 200  # characters: a longer value is a text, not an identifier
_LONGEST_LABEL = 100  # characters
_SEPARATORS = ("::", ":")


class View(Record):
    """The names of a graph in Cypher. Each statement names its view; the default is None."""

    label: str | None = None
    """The domain label of every node, as well as its type: `biomedical`. None: types are the only labels."""
    identifier: str = "identifier"
    """The property that is shown as a node's `id`. A node without it shows its id without the type."""
    directed: tuple[str, ...] = ()
    """Edge types whose arrow counts if a pattern names them alone: GRBench has `Gene-regulates-Gene`."""


def viewed_schema(schema: Schema, view: View) -> Schema:
    """Return a schema whose labels are the view's names of types; the former names are other words for them.

    Raises `BadOption` for a domain label that is the name of a node type, or not a name at all.
    """
    nodes = {node_type: _underscored(schema.label(node_type)) for node_type in schema.node_types}
    joined: dict[str, list[Triple]] = {}
    for triple in schema.edges:
        joined.setdefault(triple.type, []).append(triple)
    edges = {}
    for edge_type, triples in joined.items():
        words = [_underscored(schema.label(edge_type))]
        # If all its edges join the same two types, these become part of the name.
        if len(triples) == 1:
            words = [nodes[triples[0].source], *words, nodes[triples[0].target]]
        edges[edge_type] = "_".join(words).upper()
    labels = {**_unambiguous(nodes), **_unambiguous(edges)}
    if view.label is not None and not (view.label.isprintable() and 0 < len(view.label) <= _LONGEST_LABEL):
        raise BadOption(
            f"The label {view.label[:40]!r} cannot be read: it needs 1 to {_LONGEST_LABEL} printable characters."
        )
    if view.label is not None and view.label.casefold() in {name.casefold() for name in (*nodes, *nodes.values())}:
        raise BadOption(f"The label {view.label!r} is a node type of this graph: a domain label needs another name.")
    other_words = {type_name: (schema.label(type_name), *schema.also_called.get(type_name, ())) for type_name in labels}
    return replace(schema, labels=labels, also_called=other_words)


def _underscored(name: str) -> str:
    """Return `Cellular_Component` for `Cellular Component`."""
    return "_".join("".join(character if character.isalnum() else " " for character in name).split()) or name


def _unambiguous(names: dict[str, str]) -> dict[str, str]:
    """Return the view's name of each type, or its own name if the view's would be ambiguous."""
    counts = Counter(key for name, shown in names.items() for key in {shown.casefold(), name.casefold()})
    return {name: shown if counts[shown.casefold()] == 1 else name for name, shown in names.items()}


class Identifiers:
    """The nodes of a graph by the ids that a view shows. Two nodes of different types may share an id.

    They take time to read in a large graph, so `identifiers` caches them.
    """

    def __init__(self, graph: GraphArrays | Store, view: View) -> None:
        self._ids, self._node_types, self._type_names = graph.ids, graph.node_types, graph.types.nodes
        self._by_row: dict[int, str] = {}
        if view.identifier in graph.properties.names and view.identifier not in _OWN:
            rows, values = graph.properties.read(view.identifier)
            if all(isinstance(value, str) and len(value) <= LONGEST_IDENTIFIER for value in values):
                self._by_row = dict(zip(rows.tolist(), map(str, values), strict=True))
        self.prefixes: dict[str, str] = {}
        """By node type, the beginning of ids before the identifier, if there is one."""
        for number, name in enumerate(self._type_names):
            of_type = np.flatnonzero(self._node_types == number)
            first = self._ids[int(of_type[0])] if len(of_type) else ""
            for separator in _SEPARATORS:
                length = len(name) + len(separator)
                if _spaced(first[:length]) == _spaced(f"{name}{separator}") and len(first) > length:
                    self.prefixes[name] = first[:length]
                    break

    def of(self, row: int) -> str:
        """Return the identifier of the node at a row."""
        if (identifier := self._by_row.get(row)) is not None:
            return identifier
        node, prefix = self._ids[row], self.prefixes.get(self._type_names[self._node_types[row]], "")
        return str(node).removeprefix(prefix)

    def rows(self, identifier: str) -> tuple[int, ...]:
        """Return the rows of the nodes with an identifier, ascending."""
        rows = set(self._rows.get(identifier, ()))
        for prefix in ("", *self.prefixes.values()):
            row = self._ids.find(f"{prefix}{identifier}")
            if row is not None and self.of(row) == identifier:
                rows.add(row)
        return tuple(sorted(rows))

    @cached_property
    def _rows(self) -> dict[str, list[int]]:
        """The rows by the values of the property, ascending."""
        rows: dict[str, list[int]] = {}
        for row, identifier in self._by_row.items():
            rows.setdefault(identifier, []).append(row)
        return rows


def identifiers(graph: GraphArrays, view: View) -> Identifiers:
    """Return the cached map between nodes and the ids that a view shows."""
    return graph.once(("identifiers", view.identifier), lambda: Identifiers(graph, view))


def _spaced(text: str) -> str:
    return text.casefold().replace("_", " ").replace("-", " ")


_MOST_SHOWN = 30  # names that an error lists
_OWN = ("id", "name")  # of every node; they hide properties of these names
_KINDS = {"text": TEXT, "integer": INTEGER, "float": FLOAT, "boolean": BOOLEAN}


class PropertyColumn(Record):
    """A property of nodes or edges."""

    column: str
    """Its name in the graph."""
    kind: str
    """text, integer, float or boolean, or a list of these: `text[]`; empty if the values are of several kinds."""
    types: tuple[str, ...]
    """The node types, or edge types, with a node or edge that has it."""

    @property
    def value_kind(self) -> ValueKind:
        """The kind of its values."""
        kind = _KINDS.get(self.kind.removesuffix("[]"), UNKNOWN)
        return list_of(kind) if self.kind.endswith("[]") else kind


@dataclass(frozen=True, slots=True)
class Catalog:
    """The properties that statements can use, by name."""

    node_columns: Mapping[str, PropertyColumn]
    edge_columns: Mapping[str, PropertyColumn]
    left_out: Mapping[str, str] = field(default_factory=dict)
    """The other properties of nodes, each with the reason."""
    edge_left_out: Mapping[str, str] = field(default_factory=dict)


class NameMap:
    """Looks names up in a graph's schema and among its properties."""

    view: View | None = None
    """The view that gives the names; None for the graph's own names."""

    def __init__(self, schema: Schema, catalog: Catalog) -> None:
        self.schema, self.catalog = schema, catalog
        self.triples = tuple(schema.edges)
        self.undirected = schema.symmetric
        """Edge types whose edges match an arrow in either direction."""

    def called(self, type_name: str) -> str:
        """Return the name of a type in results."""
        return type_name

    def node_types(self, name: str) -> frozenset[str]:
        """Return the node types with a name. Raises `UnknownType`."""
        types = _look_up(name, self._type_words[0])
        if not types:
            raise self._unknown("node type", name, list(self.schema.node_types))
        return types

    def edge_triples(self, name: str) -> frozenset[Triple]:
        """Return the triples with a name; a name with end types means only the triples between these.

        Raises `UnknownType`.
        """
        if types := _look_up(name, self._type_words[1]):
            return frozenset(triple for triple in self.triples if triple.type in types)
        triples = self._joining.get(_bare(name), frozenset())
        if not triples:
            raise self._unknown("edge type", name, list(self.schema.edge_types), self._joined_words())
        return triples

    @cached_property
    def _type_words(self) -> tuple[list[Mapping[str, frozenset[str]]], list[Mapping[str, frozenset[str]]]]:
        """The node types, and the edge types, by each name that a query may use."""
        return self._words(self.schema.node_types), self._words(self.schema.edge_types)

    def _words(self, types: Iterable[str]) -> list[Mapping[str, frozenset[str]]]:
        """Return the types by name on three levels: exact, case-folded, and letters and digits only."""
        schema = self.schema
        exact, folded, bare = (dict[str, set[str]]() for _ in range(3))
        for type_name in types:
            exact.setdefault(type_name, set()).add(type_name)
            for word in (type_name, schema.label(type_name)):
                folded.setdefault(word.casefold(), set()).add(type_name)
            for word in (type_name, schema.label(type_name), *schema.also_called.get(type_name, ())):
                if key := _bare(word):
                    bare.setdefault(key, set()).add(type_name)
        return [{word: frozenset(meant) for word, meant in level.items()} for level in (exact, folded, bare)]

    @cached_property
    def _joining(self) -> Mapping[str, frozenset[Triple]]:
        joined: dict[str, set[Triple]] = {}
        for triple in self.triples:
            sources, words, targets = (
                {name, self.schema.label(name), *self.schema.also_called.get(name, ())}
                for name in (triple.source, triple.type, triple.target)
            )
            for source in sources:
                for word in words:
                    for target in targets:
                        joined.setdefault(_bare(f"{source}{word}{target}"), set()).add(triple)
        return {word: frozenset(triples) for word, triples in joined.items()}

    def _joined_words(self) -> list[str]:
        """Return the names of edge types that contain their end types, for the hints of an error."""
        label = self.schema.label
        return ["_".join(map(label, (triple.source, triple.type, triple.target))).upper() for triple in self.triples]

    def _unknown(self, what: str, name: str, names: list[str], further: Sequence[str] = ()) -> UnknownType:
        readable = list(dict.fromkeys(self.schema.label(word) for word in names))
        near = _near(name, [*readable, *names, *further])
        hint = f" Near: {', '.join(near)}." if near else ""
        more = ", ..." if len(readable) > _MOST_SHOWN else ""
        return UnknownType(f"No {what} {name!r}.{hint} In this graph: {', '.join(readable[:_MOST_SHOWN])}{more}.", near)

    def column(self, what: str, key: str, types: frozenset[str]) -> PropertyColumn:
        """Return the column of a property of a node or an edge of some types. Raises `UnknownProperty`."""
        catalog = self.catalog
        columns = catalog.node_columns if what == "node" else catalog.edge_columns
        left_out = catalog.left_out if what == "node" else catalog.edge_left_out
        own = _matching(key, columns)
        if own is not None and types & set(columns[own].types):
            return columns[own]
        properties = [*_OWN] if what == "node" else []
        properties += [name for name, column in columns.items() if types & set(column.types) and name not in properties]
        has = f"{self._list(types)} has: {', '.join(properties[:_MOST_SHOWN]) or 'none'}."
        if own is not None:
            raise UnknownProperty(
                f"No {what} of {self._list(types)} has the property {key!r}: "
                f"it belongs to {self._list(columns[own].types)}. {has}"
            )
        missing = _matching(key, left_out)
        if missing is not None:
            raise UnknownProperty(
                f"Statements cannot use the property {key!r}: {left_out[missing]}. "
                "Find words of it by search, and read it whole by showing the node."
            )
        near = nearest(key, properties, most=3) or nearest(key, columns, most=3)
        hint = f" Near: {', '.join(near)}." if near else ""
        raise UnknownProperty(f"No {what} has a property {key!r}.{hint} {has} Only a search reads texts.", near)

    def _list(self, types: Collection[str]) -> str:
        shown = [self.schema.label(type_name) for type_name in sorted(types)]
        return ", ".join(dict.fromkeys(shown[:6])) + (", ..." if len(shown) > 6 else "")


def _look_up(name: str, levels: list[Mapping[str, frozenset[str]]]) -> frozenset[str]:
    for level, word in zip(levels, (name, name.casefold(), _bare(name)), strict=True):
        if word in level:
            return level[word]
    return frozenset()


def _near(name: str, names: Iterable[str]) -> list[str]:
    """Return up to three similar names; of names that differ only in punctuation, the first."""
    spaced: dict[str, str] = {}
    for word in names:
        spaced.setdefault(word.replace("_", " "), word)
    meanings: dict[str, str] = {}
    for word in nearest(name.replace("_", " "), spaced, most=6):
        meanings.setdefault(_bare(word), spaced[word])
    return list(meanings.values())[:3]


def _matching(key: str, names: Mapping[str, object]) -> str | None:
    if key in names:
        return key
    same = [word for word in names if word.casefold() == key.casefold()]
    return same[0] if len(same) == 1 else None


def _bare(name: str) -> str:
    """Return a name's letters and digits, case-folded."""
    return "".join(character for character in name.casefold() if character.isalnum())


class ViewedNames(NameMap):
    """Looks up the names of a view; the graph's own names of types work too."""

    def __init__(self, schema: Schema, catalog: Catalog, view: View) -> None:
        """Raises `BadOption` for a domain label that is a node type, `UnknownType` for an unknown directed type."""
        super().__init__(viewed_schema(schema, view), catalog)
        self.view = view
        directed = {triple.type for name in view.directed for triple in self.edge_triples(name)}
        self.undirected = (frozenset(schema.edge_types) - directed) | schema.symmetric

    def node_types(self, name: str) -> frozenset[str]:
        """Return the node types with a name. Raises `UnknownType`, also for the domain label."""
        try:
            return super().node_types(name)
        except UnknownType:
            if self.view is None or self.view.label is None or name.casefold() != self.view.label.casefold():
                raise
            raise UnknownType(
                f"{name!r} is not a node type but the label of every node: write (n:{name}), or {name!r} IN labels(n)."
            ) from None

    def called(self, type_name: str) -> str:
        """Return the name of a type in results: with underscores, an edge type with its end types."""
        return self.schema.label(type_name)

    def _joined_words(self) -> list[str]:
        # A view's names of edge types contain the end types already.
        return []
