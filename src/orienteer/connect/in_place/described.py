"""The types and properties that statements may use in a database, from its labels and a sample of its nodes and edges.

All keys of nodes are counted; the kinds of their values, and which keys are names or texts, come from the sample.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np

from orienteer.connect.bolt import Server, is_point, is_time, quoted
from orienteer.connect.in_place.seen import NODE_COLUMNS, NodeFacts, SeenNodes, type_of
from orienteer.connect.opencypher.names import Fields, NameProperties, ServerNames, TypeLabels
from orienteer.connect.source import MARK, DatabaseCounts
from orienteer.cypher.kinds import kind_of_values
from orienteer.cypher.names import Catalog, PropertyColumn
from orienteer.errors import QueryStopped
from orienteer.index.arrays import Rows
from orienteer.ingest.formats.apoc import LABELS
from orienteer.ingest.tables.columns import Columns, NodeRoles
from orienteer.ingest.tables.nodes import DEFAULT_TYPE
from orienteer.ingest.tables.values import plain
from orienteer.records import JsonValue, Schema

LOOKED_AT = 300
"""The sample of each node type, and of each edge type."""
FEW = 20
"""The sample of the nodes with a property that no sampled node has."""
MOST_SELDOM = 200
"""Properties with such a sample; further ones are left out."""
OWN = ("id", "name")


class Described(NamedTuple):
    """The properties of a database."""

    names: ServerNames
    """For statements."""
    having: Mapping[str, Mapping[str, Rows]]
    """Rows of some nodes with a property, by property and node type."""
    shown: frozenset[str]
    """Properties that answers show of a node."""


def describe(server: Server, schema: Schema, facts: NodeFacts, seen: SeenNodes) -> Described:
    """Examine a database. Raises `DatabaseAway`, `DatabaseRefused`."""
    look = _Look(server, schema, facts, seen, type_labels(facts.counts))
    names = look.names()
    having = {
        name: {node_type: np.array(rows, np.int32) for node_type, rows in by_type.items()}
        for name, by_type in sorted(look.having.items())
    }
    return Described(names, having, frozenset(look.shown))


def type_labels(counts: DatabaseCounts) -> TypeLabels:
    """Return the mapping from labels to node types."""
    types = {labels: type_of(labels, counts) for labels in counts.sets}
    rivals: dict[str, set[str]] = {}
    for labels, own in types.items():
        for label in labels:
            if label != own:
                rivals.setdefault(label, set()).add(own)
    named = {own for labels, own in types.items() if own in labels}
    order = sorted(named, key=lambda name: (name.startswith(MARK), counts.labels[name], name))
    unlabelled = DEFAULT_TYPE if () in types else None
    return TypeLabels(
        (*order, *([unlabelled] if unlabelled else ())),
        {label: tuple(sorted(others)) for label, others in rivals.items() if label in named},
        unlabelled,
    )


class _Look:
    """One examination of a database."""

    def __init__(self, server: Server, schema: Schema, facts: NodeFacts, seen: SeenNodes, labels: TypeLabels) -> None:
        self._server, self._schema, self._facts, self._seen, self._labels = server, schema, facts, seen, labels
        self._tests = ServerNames(
            schema, _catalog(schema, {}, {}, {}), labels, Fields("", False, {}, frozenset(), None)
        )
        self._keys: dict[str, dict[str, None]] = {node_type: {} for node_type in schema.node_types}
        """The database's properties by node type."""
        self._values: dict[str, dict[str, list[JsonValue]]] = {}
        """Values by property and node type, as an import has them; so are the rows below."""
        self.having: dict[str, dict[str, list[int]]] = {}
        self.shown: set[str] = set()
        """Properties that answers show: their values are of one kind, and short."""
        self._times: set[str] = set()
        self._no_texts: set[str] = set()
        """Properties with values other than texts."""
        self._others: dict[str, str] = {"text": "texts are for search"}
        """Properties that statements cannot use, with the reasons."""

    def names(self) -> ServerNames:
        """Return the names for statements."""
        for node_type in self._schema.node_types:
            self._look_at(node_type, "", LOOKED_AT)
        self._look_for_seldom_ones()
        edges, edge_left_out = self._edges()
        columns = self._columns()
        catalog = _catalog(self._schema, columns, edges, edge_left_out).model_copy(update={"left_out": self._others})
        roles = NodeRoles(Columns())
        held = {node_type: _name_properties(keys, roles) for node_type, keys in self._keys.items()}
        called = {name for properties in held.values() for name in (*properties.whole, *properties.parts)}
        texts = frozenset(self._times | (called & self._no_texts))
        facts = self._facts
        is_indexed = facts.id_property and not facts.has_numbers  # of a number a statement compares the text
        whole = facts.whole if is_indexed else None
        fields = Fields(facts.id_property, facts.has_numbers, held, texts, whole)
        return ServerNames(self._schema, catalog, self._labels, fields)

    def _look_at(self, node_type: str, condition: str, most: int) -> None:
        """Sample the nodes of a type."""
        is_plain = self._tests.is_plain(node_type)
        pattern = f"(n:{quoted(node_type)})" if is_plain else "(n)"
        tests = [*([] if is_plain else [self._tests.has_type("n", [node_type])]), *([condition] if condition else [])]
        where = f" WHERE {' AND '.join(tests)}" if tests else ""
        records = self._server.rows(f"MATCH {pattern}{where} RETURN {NODE_COLUMNS} LIMIT $most", most=most)
        self._keep(node_type, records, self._seen.take(records))

    def _keep(self, node_type: str, records: Sequence[Sequence[Any]], rows: Rows) -> None:  # Any: of the database
        for record, row in zip(records, rows.tolist(), strict=True):
            raw, node = record[2], self._seen.nodes[row]
            self._keys[node_type] |= dict.fromkeys(raw)
            self._no_texts |= {name for name, value in raw.items() if not isinstance(value, str)}
            for name, value in node.properties.items():
                self.having.setdefault(name, {}).setdefault(node_type, []).append(row)
                self._values.setdefault(name, {}).setdefault(node_type, []).append(value)
                if name == LABELS and name not in raw:
                    self._others[name] = "it is the other labels of a node: n:LABEL asks for a type"
                elif name not in raw or plain(raw[name]) != value:
                    self._others[name] = "it is a part of another value in the database"
                elif is_point(raw[name]):
                    self._others[name] = "it holds points"
                elif is_time(raw[name]):
                    self._times.add(name)

    def _look_for_seldom_ones(self) -> None:
        """Sample nodes with properties that no sampled node has."""
        counted = "MATCH (n) UNWIND keys(n) AS key RETURN labels(n) AS labels, key, count(*) AS count"
        try:
            found = [(type_of(labels, self._facts.counts), key) for labels, key, _ in self._server.rows(counted)]
        except QueryStopped:  # too many nodes for the server's time limit: the sample must do
            return
        seldom = [(node_type, key) for node_type, key in dict.fromkeys(found) if key not in self._keys[node_type]]
        for node_type, key in seldom[:MOST_SELDOM]:
            self._look_at(node_type, f"n.{quoted(key)} IS NOT NULL", FEW)
        self._others |= dict.fromkeys((key for _, key in seldom[MOST_SELDOM:]), "few nodes have it")

    def _columns(self) -> dict[str, PropertyColumn]:
        """Return the properties of nodes with values of one kind."""
        columns = {}
        for name, by_type in self._values.items():
            if name in OWN:
                continue
            kind, reason = kind_of_values([value for values in by_type.values() for value in values])
            if reason:
                self._others[name] = reason
                continue
            self.shown.add(name)
            if name not in self._others:
                types = tuple(node_type for node_type in self._schema.node_types if node_type in by_type)
                columns[name] = PropertyColumn(column=name, kind=kind, types=types)
        return columns

    def _edges(self) -> tuple[dict[str, PropertyColumn], dict[str, str]]:
        """Return the properties of edges, and the reasons why others are left out."""
        values: dict[str, dict[str, list[JsonValue]]] = {}
        for edge_type in self._schema.edge_types:
            statement = f"MATCH ()-[r:{quoted(edge_type)}]->() RETURN properties(r) AS properties LIMIT $most"
            for (properties,) in self._server.rows(statement, most=LOOKED_AT):
                for name, raw in properties.items():
                    if (value := plain(raw)) is not None and not is_point(raw):
                        values.setdefault(name, {}).setdefault(edge_type, []).append(value)
                        if is_time(raw):
                            self._times.add(name)
        columns, left_out = {}, {}
        for name, by_type in values.items():
            kind, reason = kind_of_values([value for found in by_type.values() for value in found])
            if reason:
                left_out[name] = reason
            else:
                columns[name] = PropertyColumn(column=name, kind=kind, types=tuple(by_type))
        return columns, left_out


def _catalog(
    schema: Schema,
    nodes: Mapping[str, PropertyColumn],
    edges: Mapping[str, PropertyColumn],
    edge_left_out: Mapping[str, str],
) -> Catalog:
    return Catalog(
        version=0,
        engine="bolt",
        node_tables={name: name for name in schema.node_types},
        edge_tables={name: name for name in schema.edge_types},
        table_numbers={},
        node_columns=dict(nodes),
        edge_columns=dict(edges),
        left_out={},
        edge_left_out=dict(edge_left_out),
    )


def _name_properties(keys: Iterable[str], roles: NodeRoles) -> NameProperties:
    """Return the properties that an import would read as names of nodes of a type."""
    found = [(*roles.of(key), key) for key in keys]
    whole = sorted((rank, key) for role, rank, key in found if role == "name")
    parts = sorted((rank, key) for role, rank, key in found if role == "name part")
    return NameProperties(tuple(key for _, key in whole), tuple(key for _, key in parts))
