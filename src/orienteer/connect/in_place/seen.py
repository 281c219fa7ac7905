"""The nodes of a database that were fetched so far. Nodes get rows in the order of fetching, and keep them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Sequence
from threading import RLock
from typing import Any, NamedTuple, NoReturn

import numpy as np
from numpy.typing import NDArray

from orienteer.connect.bolt import Server, quoted
from orienteer.connect.source import DatabaseCounts, is_vector, telling_labels
from orienteer.errors import BadOption
from orienteer.index.arrays import Rows
from orienteer.ingest.formats.apoc import LABELS, labelled
from orienteer.ingest.formats.element_maker import with_role
from orienteer.ingest.report import Tally
from orienteer.ingest.tables.columns import Columns
from orienteer.ingest.tables.nodes import DEFAULT_TYPE, NodeMaker
from orienteer.ingest.tables.values import identifier
from orienteer.records import Node
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
        """Keep nodes, each as element id, labels, properties, and return their rows: (n,) int32.

        New nodes of one call get rows in the order of their ids, so that ties are broken by id.
        """
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
        raise needs_import(self._server)  # else numpy would take it for one value


class SeenColumn(UnsupportedInPlace):
    """A field of nodes by row: id, name or text."""

    def __init__(self, server: Server, seen: SeenNodes, name: str) -> None:
        super().__init__(server)
        self._seen, self._name = seen, name

    def __iter__(self) -> NoReturn:
        raise needs_import(self._server)  # else it would yield what was seen, as if that were all

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
