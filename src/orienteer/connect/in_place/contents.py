"""The contents of a database in place: the nodes that were fetched so far, and its types and properties.

Nodes get rows in the order of fetching, and keep them. All keys of nodes are counted; the kinds of their values, and
which keys are names or texts, come from a sample of nodes and edges.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence
from threading import RLock
from typing import Any, NamedTuple, NoReturn

import numpy as np
from numpy.typing import NDArray

from orienteer.connect.bolt import Server, is_point, is_time
from orienteer.connect.opencypher.server_names import Fields, NameProperties, ServerNames, TypeLabels
from orienteer.connect.source import MARK, DatabaseCounts, is_vector, telling_labels
from orienteer.cypher.kinds import quoted
from orienteer.cypher.names import Catalog, PropertyColumn
from orienteer.errors import BadOption, QueryStopped
from orienteer.index.arrays import Rows
from orienteer.ingest.formats.element_maker import LABELS, labelled, with_role
from orienteer.ingest.report import Tally
from orienteer.ingest.tables.columns import Columns, NodeRoles
from orienteer.ingest.tables.nodes import DEFAULT_TYPE, NodeMaker
from orienteer.ingest.tables.values import identifier, plain
from orienteer.records import JsonValue, Node, Schema
from orienteer.text.tokenizer import Tokenizer

FETCHED = 1_000
"""Nodes that are fetched at once."""
NODE_COLUMNS = "elementId(n) AS element, labels(n) AS labels, properties(n) AS properties"
"""The columns that `SeenNodes.take` reads of a node `n`."""
MOST_LABELS = 30
"""Labels by which an id is looked up one after another; in a database with more, all nodes are scanned."""


def needs_import(server: Server) -> BadOption:
    """Return the error for an operation that needs an imported graph."""
    return BadOption(f"this needs a graph of one's own: orienteer import {server.address} -o DIR, and ask DIR")


class NodeFacts(NamedTuple):
    """The ids and labels of a database."""

    id_property: str
    """Empty if element ids are the ids."""
    has_numbers: bool
    """The ids are whole numbers in the database."""
    counts: DatabaseCounts

    @property
    def whole(self) -> str | None:
        """Return a label that all nodes have, or None."""
        return next((name for name, count in self.counts.labels.items() if count == self.counts.nodes), None)

    @property
    def labels(self) -> list[str]:
        """Return labels that together cover all nodes: one that all nodes have, else all labels; none if too many."""
        several = [self.whole] if self.whole is not None else list(self.counts.labels)
        return several if len(several) <= MOST_LABELS else []


class SeenNodes:
    """Nodes by row. Each is fetched once. Safe to share among threads."""

    def __init__(self, server: Server, facts: NodeFacts, types: Sequence[str], tokenizer: Tokenizer) -> None:
        self._server, self._facts, self._tokenizer = server, facts, tokenizer
        self._type_numbers = {name: number for number, name in enumerate(types)}
        self._maker = NodeMaker(with_role(Columns(), "node_type", LABELS), tally=Tally())
        self.nodes: list[Node] = []
        self.element_ids: list[str] = []
        self._types = np.zeros(FETCHED, np.uint16)
        self._row_of_element: dict[str, int] = {}
        self._row_of_id: dict[str, int | None] = {}
        self._terms: dict[int, Counter[str]] = {}
        self._lock = RLock()

    def __len__(self) -> int:
        return len(self.nodes)

    def find(self, node_id: str) -> int | None:
        """Return the row of an id, or None if no node has it."""
        if node_id not in self._row_of_id:
            with self._lock:
                found = self._look_up(node_id)
                self._row_of_id.setdefault(node_id, int(found[0]) if len(found) else None)
        return self._row_of_id[node_id]

    def rows_of(self, element_ids: Sequence[str]) -> Rows:
        """Fetch new nodes by their element ids; return the row of each that exists: (n,) int32."""
        known = self.rows_by_element(element_ids)
        return np.array([known[element] for element in element_ids if element in known], np.int32)

    def rows_by_element(self, element_ids: Sequence[str]) -> dict[str, int]:
        """Return rows by element id. A node that was deleted meanwhile has none."""
        with self._lock:
            new = [element for element in dict.fromkeys(element_ids) if element not in self._row_of_element]
            statement = f"UNWIND $ids AS id MATCH (n) WHERE elementId(n) = id RETURN {NODE_COLUMNS}"
            records = [
                record
                for low in range(0, len(new), FETCHED)
                for record in self._server.rows(statement, ids=new[low : low + FETCHED])
            ]
            self.take(records)
            known = self._row_of_element
            return {element: known[element] for element in element_ids if element in known}

    def take(self, records: Sequence[Sequence[Any]]) -> Rows:  # Any: values of the database
        """Keep nodes, each as element id, labels, properties, and return their rows: (n,) int32."""
        # New nodes of one call get rows in the order of their ids, so that ties are broken by id.
        with self._lock:
            new = {record[0]: self._node(*record[:3]) for record in records if record[0] not in self._row_of_element}
            for element, node in sorted(new.items(), key=lambda pair: pair[1].id):
                row = len(self.nodes)
                if row == len(self._types):
                    self._types = np.concatenate([self._types, np.zeros(row, np.uint16)])
                self._types[row] = self._type_numbers.get(node.type, 0)
                self.nodes.append(node)
                self.element_ids.append(element)
                self._row_of_element[element] = self._row_of_id[node.id] = row
            return np.array([self._row_of_element[record[0]] for record in records], np.int32)

    def places(self, rows: Rows) -> NDArray[np.int64]:
        """Return the rank of each row in the order of ids, which breaks ties: (rows,)."""
        order = np.array(sorted(range(len(rows)), key=lambda at: self.nodes[int(rows[at])].id), np.int64)
        places = np.empty(len(rows), np.int64)
        places[order] = np.arange(len(rows))
        return places

    def types(self, rows: Any) -> Any:  # Any: a row, or an array of rows
        """Return the number of the type of each row."""
        return self._types[rows]

    def terms(self, row: int) -> Counter[str]:
        """Return the terms of a node's name, aliases and text with their counts."""
        if row not in self._terms:
            node = self.nodes[row]
            texts = (node.name, *node.aliases, node.text)
            self._terms[row] = Counter(term for text in texts for term in self._tokenizer.terms(text))
        return self._terms[row]

    def _node(self, element: str, labels: Collection[str], properties: dict[str, Any]) -> Node:
        """Return a node as an import of the database would make it."""
        fields = {
            name: value
            for name, value in properties.items()
            if not isinstance(value, bytes | bytearray) and not is_vector(value)
        }
        node_id = identifier(fields.pop(self._facts.id_property, "")) if self._facts.id_property else element
        return self._maker.node(node_id or element, labelled(fields, telling_labels(list(labels), self._facts.counts)))

    def _look_up(self, node_id: str) -> Rows:
        """Ask the server for a node by its id."""
        facts = self._facts
        if not facts.id_property:
            return self.rows_of([node_id])
        if facts.has_numbers and not (node_id.isdecimal() and len(node_id) < 19):
            return np.zeros(0, np.int32)
        value = int(node_id) if facts.has_numbers else node_id
        statements = [
            f"MATCH (n{f':{quoted(label)}' if label else ''} {{{quoted(facts.id_property)}: $value}}) "
            f"RETURN {NODE_COLUMNS} LIMIT 1"
            for label in facts.labels or [""]
        ]
        records = (self._server.rows(statement, value=value) for statement in statements)
        return self.take(next(filter(None, records), []))


class UnsupportedInPlace:
    """Base of the stand-ins for parts of a graph of our own: a missing attribute raises `needs_import`."""

    def __init__(self, server: Server) -> None:
        self._server = server

    def __getattr__(self, name: str) -> NoReturn:
        """Raise `BadOption` with the import command."""
        if name.startswith("__") or name == "_server":
            raise AttributeError(name)
        raise needs_import(self._server)

    def __array__(self, *_: object, **__: object) -> NoReturn:
        # Else numpy would take it for one value.
        raise needs_import(self._server)


class SeenColumn(UnsupportedInPlace):
    """A field of nodes by row: id, name or text."""

    def __init__(self, server: Server, seen: SeenNodes, name: str) -> None:
        super().__init__(server)
        self._seen, self._name = seen, name

    def __iter__(self) -> NoReturn:
        # Else it would yield what was seen, as if that were all.
        raise needs_import(self._server)

    def __len__(self) -> int:
        raise needs_import(self._server)

    def __getitem__(self, row: int) -> Any:  # Any: a field of a node
        return getattr(self._seen.nodes[row], self._name)

    def find(self, node_id: str) -> int | None:
        """Return the row of an id, or None if no node has it."""
        return self._seen.find(node_id)


class SeenTypes(SeenColumn):
    """Numbers of node types by row."""

    def __getitem__(self, rows: Any) -> Any:  # Any: a row, or an array of rows
        return self._seen.types(rows)


def type_of(labels: Sequence[str], counts: DatabaseCounts) -> str:
    """Return the type of nodes with these labels."""
    return next(iter(telling_labels(labels, counts)), DEFAULT_TYPE)


def type_counts(counts: DatabaseCounts) -> dict[str, int]:
    """Count the nodes by type, in the server's order, as an import does."""
    types: Counter[str] = Counter()
    for labels, count in counts.sets.items():
        types[type_of(labels, counts)] += count
    return dict(types)


# The types and properties that statements may use.


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
        self._tests = ServerNames(schema, Catalog({}, {}), labels, Fields("", False, {}, frozenset(), None))
        # The database's properties by node type.
        self._keys: dict[str, dict[str, None]] = {node_type: {} for node_type in schema.node_types}
        # Values by property and node type, as an import has them; so are the rows below.
        self._values: dict[str, dict[str, list[JsonValue]]] = {}
        self.having: dict[str, dict[str, list[int]]] = {}
        self.shown: set[str] = set()
        """Properties that answers show: their values are of one kind, and short."""
        self._times: set[str] = set()
        # Properties with values other than texts.
        self._no_texts: set[str] = set()
        # Properties that statements cannot use, with the reasons.
        self._others: dict[str, str] = {"text": "texts are for search"}

    def names(self) -> ServerNames:
        """Return the names for statements."""
        for node_type in self._schema.node_types:
            self._look_at(node_type, "", LOOKED_AT)
        self._look_for_seldom_ones()
        edges, edge_left_out = self._edges()
        # Only values of one kind can be compared: a property with several has its reason instead.
        columns = {}
        for name, by_type in self._values.items():
            if name in OWN:
                continue
            kind, reason = _kind_of_values([value for values in by_type.values() for value in values])
            if reason:
                self._others[name] = reason
                continue
            self.shown.add(name)
            if name not in self._others:
                types = tuple(node_type for node_type in self._schema.node_types if node_type in by_type)
                columns[name] = PropertyColumn(column=name, kind=kind, types=types)
        catalog = Catalog(columns, edges, self._others, edge_left_out)
        roles = NodeRoles(Columns())
        held = {node_type: _name_properties(keys, roles) for node_type, keys in self._keys.items()}
        called = {name for properties in held.values() for name in (*properties.whole, *properties.parts)}
        texts = frozenset(self._times | (called & self._no_texts))
        facts = self._facts
        # Statements compare a number by its text.
        is_indexed = facts.id_property and not facts.has_numbers
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
        for record, row in zip(records, self._seen.take(records).tolist(), strict=True):
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
        except QueryStopped:
            # Too many nodes for the server's time limit: the sample must do.
            return
        seldom = [(node_type, key) for node_type, key in dict.fromkeys(found) if key not in self._keys[node_type]]
        for node_type, key in seldom[:MOST_SELDOM]:
            self._look_at(node_type, f"n.{quoted(key)} IS NOT NULL", FEW)
        self._others |= dict.fromkeys((key for _, key in seldom[MOST_SELDOM:]), "few nodes have it")

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
            kind, reason = _kind_of_values([value for found in by_type.values() for value in found])
            if reason:
                left_out[name] = reason
            else:
                columns[name] = PropertyColumn(column=name, kind=kind, types=tuple(by_type))
        return columns, left_out


# The properties that statements can use: those whose values are short and all of one kind.

_LONGEST_VALUE = 200  # characters: a property with a longer value is left to the search as a whole
_KINDS = {str: "text", int: "integer", float: "float", bool: "boolean"}
_LARGEST = 2**63


def _kind_of_values(values: Sequence[JsonValue]) -> tuple[str, str]:
    """Return the kind of all values and an empty reason, or no kind and why statements cannot use them."""
    present = [value for value in values if value is not None]
    is_list = {isinstance(value, list) for value in present}
    items = [item for value in present for item in (value if isinstance(value, list) else (value,))]
    kinds = {type(item) for item in items}
    if reason := next(filter(None, map(_fault, items)), ""):
        return "", reason
    if len(is_list) > 1:
        return "", "it has lists and single values"
    suffix = "[]" if True in is_list else ""
    if kinds == {int, float}:
        return f"float{suffix}", ""
    if len(kinds) > 1:
        return "", f"it mixes {' and '.join(sorted(_KINDS[kind] for kind in kinds))} values"
    longest = max((len(item) for item in items if isinstance(item, str)), default=0)
    if longest > _LONGEST_VALUE:
        return "", f"its longest value has {longest:,} characters"
    return f"{_KINDS[kinds.pop()] if kinds else 'text'}{suffix}", ""


def _fault(item: JsonValue) -> str:
    """Return the reason against a value in statements, or ""."""
    if type(item) not in _KINDS:
        return "it has nested values"
    if isinstance(item, int) and not -_LARGEST <= item < _LARGEST:
        return f"it has {item}, which is too large"
    if isinstance(item, float) and not math.isfinite(item):
        return "it has a number that is not finite"
    return ""


def _name_properties(keys: Iterable[str], roles: NodeRoles) -> NameProperties:
    """Return the properties that an import would read as names of nodes of a type."""
    found = [(*roles.of(key), key) for key in keys]
    whole = sorted((rank, key) for role, rank, key in found if role == "name")
    parts = sorted((rank, key) for role, rank, key in found if role == "name part")
    return NameProperties(tuple(key for _, key in whole), tuple(key for _, key in parts))
