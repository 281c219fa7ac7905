"""The nodes of a database that were seen so far. A row is the place at which a node was first seen, and stays."""

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
"""Nodes that are asked for at once."""
NODE_COLUMNS = "elementId(n) AS element, labels(n) AS labels, properties(n) AS properties"
"""What `SeenNodes.take` reads of a node `n`."""
MOST_LABELS = 30
"""Labels under which an id is looked up one by one; in a database of more every node is looked at."""


def needs_import(server: Server) -> BadOption:
    """Return the error of what only a graph of our own can do."""
    return BadOption(f"this needs a graph of one's own: orienteer import {server.address} -o DIR, and ask DIR")


class NodeFacts(NamedTuple):
    """How the nodes of a database are told apart."""

    id_property: str
    """Empty where element ids are the ids."""
    has_numbers: bool
    """Whether those ids are whole numbers there."""
    counts: DatabaseCounts

    @property
    def whole(self) -> str | None:
        """Return a label that all nodes bear; None without one."""
        return next((name for name, count in self.counts.labels.items() if count == self.counts.nodes), None)

    @property
    def labels(self) -> list[str]:
        """Return the labels that together cover all nodes: the one that all bear, else all; none for too many."""
        several = [self.whole] if self.whole is not None else list(self.counts.labels)
        return several if len(several) <= MOST_LABELS else []


class SeenNodes:
    """Nodes by row. Each is asked for once. Safe to share among threads."""

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
        """Return the row of an id, None where no node has it."""
        if node_id not in self._row_of_id:
            with self._lock:
                found = self._look_up(node_id)
                self._row_of_id.setdefault(node_id, int(found[0]) if len(found) else None)
        return self._row_of_id[node_id]

    def rows_of(self, element_ids: Sequence[str]) -> Rows:
        """Return the row of each element id that is there, after asking for those that are new; (n,) int32."""
        known = self.rows_by_element(element_ids)
        return np.array([known[element] for element in element_ids if element in known], np.int32)

    def rows_by_element(self, element_ids: Sequence[str]) -> dict[str, int]:
        """Return rows by element id. A node that went between two questions to the server has none."""
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

        Nodes that are new together get rows in the order of their ids, so that ties among them go by id.
        """
        with self._lock:
            new = {record[0]: self._node(*record[:3]) for record in records if record[0] not in self._row_of_element}
            for element, node in sorted(new.items(), key=lambda pair: pair[1].id):
                self._keep(element, node)
            return np.array([self._row_of_element[record[0]] for record in records], np.int32)

    def places(self, rows: Rows) -> NDArray[np.int64]:
        """Return the place of each row among them in the order of their ids, by which ties go: (rows,)."""
        order = np.array(sorted(range(len(rows)), key=lambda at: self.nodes[int(rows[at])].id), np.int64)
        places = np.empty(len(rows), np.int64)
        places[order] = np.arange(len(rows))
        return places

    def types(self, rows: Any) -> Any:  # Any: a row, or an array of rows
        """Return the number of the type of each row."""
        return self._types[rows]

    def terms(self, row: int) -> Counter[str]:
        """Return the terms of a node's name, aliases and text with how often each occurs."""
        if row not in self._terms:
            node = self.nodes[row]
            texts = (node.name, *node.aliases, node.text)
            self._terms[row] = Counter(term for text in texts for term in self._tokenizer.terms(text))
        return self._terms[row]

    def _keep(self, element: str, node: Node) -> None:
        row = len(self.nodes)
        if row == len(self._types):
            self._types = np.concatenate([self._types, np.zeros(row, np.uint16)])
        self._types[row] = self._type_numbers.get(node.type, 0)
        self.nodes.append(node)
        self.element_ids.append(element)
        self._row_of_element[element] = row
        self._row_of_id[node.id] = row

    def _node(self, element: str, labels: Collection[str], properties: dict[str, Any]) -> Node:
        """Return a node as an import of the database would have it."""
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


class StandIn:
    """Stands for a part of a graph of our own; what it does not have, it says to need an import."""

    def __init__(self, server: Server) -> None:
        self._server = server

    def __getattr__(self, name: str) -> NoReturn:
        """Raise `BadOption`, which names the import."""
        if name.startswith("__") or name == "_server":
            raise AttributeError(name)
        raise needs_import(self._server)

    def __array__(self, *_: object, **__: object) -> NoReturn:
        raise needs_import(self._server)  # else numpy would take it for one value


class SeenColumn(StandIn):
    """What nodes have, by row: an id, a name, a text."""

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
        """Return the row of an id, None where no node has it."""
        return self._seen.find(node_id)


class SeenTypes(StandIn):
    """Numbers of node types by row."""

    def __init__(self, server: Server, seen: SeenNodes) -> None:
        super().__init__(server)
        self._seen = seen

    def __iter__(self) -> NoReturn:
        raise needs_import(self._server)

    def __len__(self) -> int:
        raise needs_import(self._server)

    def __getitem__(self, rows: Any) -> Any:  # Any: a row, or an array of rows
        return self._seen.types(rows)


def type_of(labels: Sequence[str], counts: DatabaseCounts) -> str:
    """Return the type of nodes with these labels."""
    return next(iter(telling_labels(labels, counts)), DEFAULT_TYPE)


def type_counts(counts: DatabaseCounts) -> dict[str, int]:
    """Return the nodes by type, in the order in which the server came upon them, as an import does."""
    types: Counter[str] = Counter()
    for labels, count in counts.sets.items():
        types[type_of(labels, counts)] += count
    return dict(types)
