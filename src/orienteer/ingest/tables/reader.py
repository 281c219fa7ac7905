"""Mapped tables -> the nodes and edges of a graph."""

from __future__ import annotations

from array import array
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import partial
from itertools import chain
from types import NoneType
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from orienteer.errors import DuplicateNode
from orienteer.graph.builder import GraphBuilder
from orienteer.graph.edges import CodedColumn, EdgeBatch, taking
from orienteer.ingest.bounds import memory_told
from orienteer.ingest.formats.table import EDGE_ROWS, Batch, shown
from orienteer.ingest.report import RowPlace, Tally
from orienteer.ingest.tables.assignment import ImportPlan, MappedTable
from orienteer.ingest.tables.cells import is_text, texts_of
from orienteer.ingest.tables.columns import Columns, EdgeRoles, check_named
from orienteer.ingest.tables.edges import EdgeMaker
from orienteer.ingest.tables.labels import Labels
from orienteer.ingest.tables.links import key_value
from orienteer.ingest.tables.mapping import ColumnLink, FileMapping
from orienteer.ingest.tables.nodes import LinkCells, MadeNodes, NodeMaker, add_made, explode
from orienteer.ingest.tables.plan import Table
from orienteer.ingest.tables.values import identifier, parts_of, plain
from orienteer.records import JsonValue, Node

UNRESOLVED = "unresolved"
"""The reason for a value that no row of the other table has."""


class _More(NamedTuple):
    """The properties that a row adds to a row of another table."""

    properties: Mapping[str, JsonValue]
    file: str
    line: int


class _LinkedColumn(NamedTuple):
    """A column of a table of nodes that names other nodes, and what its cells name."""

    name: str
    edge_type: str
    file: str
    batches: list[LinkCells]
    named: NamedNodes
    places: list[NDArray[np.int64]]


class TableReader:
    """Reads mapped tables into a builder: the nodes first, then the edges that lead to them."""

    def __init__(self, plan: ImportPlan, columns: Columns, tally: Tally, labels: Labels) -> None:
        self._plan, self._columns, self._tally, self._labels = plan, columns, tally, labels
        self._seen: set[str] = set()
        links = [link for mapped in plan.tables for link in mapped.mapping.links.values()]
        self._keys: dict[tuple[str, str], dict[str, str]] = {
            (link.node_type, link.key): {} for link in links if link.key
        }
        """Of each key that a link leads to, the node of each value; empty text where it is of several nodes."""
        self._more: dict[tuple[str, str], dict[str, list[_More]]] = {}
        """Of each key that rows say more of, what they say by value."""

    def into(self, builder: GraphBuilder) -> None:
        """Read all tables. Raises `BadInput`, `DuplicateNode`."""
        makers: list[tuple[MappedTable, NodeMaker]] = []
        # What says more of other rows comes first.
        for mapped in sorted(self._plan.nodes, key=lambda mapped: mapped.mapping.same is None):
            table, mapping = mapped.table, mapped.mapping
            is_text = table.format.is_text
            maker = NodeMaker(self._columns, tally=self._tally, is_text=is_text, mapping=mapping, joined=table.joined)
            with memory_told(table.path):
                if mapping.same is not None:
                    self._read_more(table, maker, *mapping.same)
                else:
                    self._read_nodes(mapped, maker, builder)
            self._seen |= maker.seen | set(table.columns)
            makers.append((mapped, maker))
        for (node_type, key), more in self._more.items():
            for value, rows in more.items():  # those that extend rows that do not exist
                why = f"{key} {shown(value)}: no {node_type} has it"
                for row in rows:
                    self._tally.drop(UNRESOLVED, [RowPlace(file=row.file, line=row.line, value=why)])
        # All nodes are there before the first edge is, for edges number the nodes.
        for column in [
            each for mapped, maker in makers for each in self._linked_columns(mapped.mapping, maker, builder)
        ]:
            self._link(column, builder)
        for mapped in self._plan.edges:
            with memory_told(mapped.table.path):
                self._read_edges(mapped, builder)
        explode([maker for _, maker in makers], self._columns, builder)
        check_named(self._columns, self._seen)

    def _read_more(self, table: Table, maker: NodeMaker, column: str, link: ColumnLink) -> None:
        """Read a table whose rows extend the rows of another, by the values of a key."""
        more = self._more.setdefault((link.node_type, link.key), {})
        for batch in table.batches(drop=self._tally.dropping(table.file)):
            for nodes, rows in maker.of_batch(batch, id_column=column, file=table.file):
                for node, line in zip(nodes.nodes(), rows.lines, strict=True):
                    more.setdefault(node.id.strip(), []).append(_More(node.properties, table.file, line))

    def _read_nodes(self, mapped: MappedTable, maker: NodeMaker, builder: GraphBuilder) -> None:
        table, mapping = mapped.table, mapped.mapping
        own = {column: nodes for (of, column), nodes in self._keys.items() if of == (mapping.type or "")}
        keys = {column: nodes for column, nodes in own.items() if column in mapping.columns}
        maker.only_counts = builder.only_counts
        more = {column: rows for column in keys if (rows := self._more.get((mapping.type or "", column)))}
        for batch in table.batches(drop=self._tally.dropping(table.file)):
            for made in maker.of_batch(batch, id_column=mapping.id_column, file=table.file):
                for column, rows in more.items():
                    made = _with_more(made, made.rows.columns[column], rows)
                try:
                    maker.number(add_made(builder, made, self._tally, file=table.file))
                except DuplicateNode as error:
                    node_id, line = made.nodes.ids[error.place], made.rows.lines[error.place]
                    raise DuplicateNode(self._two_nodes(mapped, node_id, line)) from error
                for column, nodes in keys.items():
                    _remember(nodes, made.rows.columns[column], made.nodes.ids)

    def _two_nodes(self, mapped: MappedTable, node_id: str, line: int) -> str:
        """Return an error that names both rows of a repeated id: the tables are read again up to it."""
        for other in self._plan.nodes:
            column = other.mapping.id_column
            before = f"{other.mapping.type}:" if other.mapping.having("prefixed id") else ""
            for batch in other.table.batches() if column else ():
                for place, value in zip(batch.lines, batch.columns[column or ""], strict=True):
                    if before + identifier(value) == node_id:
                        return (
                            f"Two different nodes have the id {node_id!r}: {other.table.file}, line {place}, and "
                            f"{mapped.table.file}, line {line}. Give one another id, or name another id column with "
                            f"--nodes {mapped.table.file}:id=COLUMN."
                        )
        return f"Two different nodes have the id {node_id!r}: the second is at {mapped.table.file}, line {line}"

    def _linked_columns(self, mapping: FileMapping, maker: NodeMaker, builder: GraphBuilder) -> Iterator[_LinkedColumn]:
        """Look up what the columns of a table of nodes name, and make nodes where a link says so."""
        own = self._keys[mapping.same[1].node_type, mapping.same[1].key] if mapping.same else None
        for name, batches in maker.links.items():
            link = mapping.links[name]
            if not link.end:
                batches[:] = [_of_other_rows(cells, own) for cells in batches] if own is not None else batches
                named = self._named(link, builder)
                places = named.places([cells.values for cells in batches])
                yield _LinkedColumn(name, link.edge_type, mapping.file, batches, named, places)

    def _link(self, column: _LinkedColumn, builder: GraphBuilder) -> None:
        """Add the edges of a column, and count the values that name no node."""
        named, file = column.named, column.file
        for cells, places in zip(column.batches, column.places, strict=True):
            rows, ends = named.edges(places)
            numbers, ids = (cells.nodes, ()) if isinstance(cells.nodes, np.ndarray) else (None, cells.nodes)
            batch = EdgeBatch(
                sources=[ids[row] for row in rows.tolist()] if numbers is None else (),
                types=CodedColumn([column.edge_type], np.zeros(len(rows), np.int8)),
                targets=CodedColumn(named.ids, ends),
                file=file,
                lines=cells.lines if len(rows) == len(cells.lines) else [cells.lines[row] for row in rows.tolist()],
                source_numbers=None if numbers is None else numbers[rows],
            )
            if len(rows):
                builder.add_edges(batch)
            self._tell_missing(named, places, cells.lines, file, column.name)
        column.batches.clear()

    def _tell_missing(
        self, named: NamedNodes, places: NDArray[np.int64], lines: Sequence[int], file: str, column: str
    ) -> None:
        """Count the values that name no node."""
        for row in np.flatnonzero(np.isin(places, list(named.missing))).tolist() if named.missing else ():
            for text in named.missing[int(places[row])]:
                self._tally.drop(UNRESOLVED, [RowPlace(file=file, line=lines[row], value=f"{column} {text}")])

    def _named(self, link: ColumnLink, builder: GraphBuilder) -> NamedNodes:
        """Return the nodes that the cells of a column name."""
        keys = self._keys.get((link.node_type, link.key), {})
        return NamedNodes(partial(self._nodes_of, link=link, builder=builder), {} if link.separator else keys)

    def _nodes_of(
        self, value: Any, *, link: ColumnLink, builder: GraphBuilder
    ) -> tuple[list[str], list[str]]:  # Any: whatever a file format can hold
        """Return the nodes that a value names, made if the link says so, and a reason for each part without a node."""
        nodes = self._keys.get((link.node_type, link.key), {})
        parts = list(dict.fromkeys(parts_of(plain(value), link.separator)))
        if not link.key:
            for part in parts:
                if not builder.has(f"{link.node_type}:{part}"):
                    builder.add_node(Node(f"{link.node_type}:{part}", link.node_type, part))
            return [f"{link.node_type}:{part}" for part in parts], []
        found, missing = [], []
        for part in parts:
            key = key_value(part, nodes)
            if key is not None and nodes[key]:
                found.append(nodes[key])
            else:
                why = "several rows have it" if key is not None else f"no {link.node_type} has it"
                missing.append(f"{shown(part)}: {why}")
        return found, missing

    def _read_edges(self, mapped: MappedTable, builder: GraphBuilder) -> None:
        table, mapping = mapped.table, mapped.mapping
        roles, is_text = EdgeRoles.of_mapping(mapping), table.format.is_text
        maker = EdgeMaker(roles, self._columns, tally=self._tally, file=table.file, is_text=is_text, mapping=mapping)
        maker.has_nodes = bool(self._plan.nodes)
        described = (
            None if maker.has_nodes else NodeMaker(self._columns, tally=self._tally, is_text=table.format.is_text)
        )
        for batch in table.batches(rows=EDGE_ROWS, drop=self._tally.dropping(table.file)):
            batch = self._with_ends(batch, mapping, builder)
            if described is not None:
                for made in maker.nodes(batch, described, present=builder):
                    builder.add_nodes(made)
            if len(batch):
                builder.add_edges(maker.of_batch(batch))
        for type_name, label in maker.labels.items():
            self._labels.add(type_name, label)
        if mapping.undirected:
            builder.edges.symmetric.add(mapping.type or "")
        self._seen |= maker.seen | set(table.columns)

    def _with_ends(self, batch: Batch, mapping: FileMapping, builder: GraphBuilder) -> Batch:
        """Return a batch with the ids of nodes in place of the keys that name them, a row for each pair of a row."""
        for column, link in mapping.links.items():
            values = batch.columns.get(column, ("",) * len(batch))
            for row in (row for row, value in enumerate(values) if not identifier(value).strip()):
                self._tally.drop("empty id", [RowPlace(file=mapping.file, line=batch.lines[row], value=column)])
            named = self._named(link, builder)
            (places,) = named.places([values])
            self._tell_missing(named, places, batch.lines, mapping.file, column)
            rows, ends = named.edges(places)
            if not np.array_equal(rows, np.arange(len(batch))):
                batch = batch.taking(rows.tolist())
            batch = Batch({**batch.columns, column: [named.ids[end] for end in ends.tolist()]}, batch.lines)
        return batch


class NamedNodes:
    """The nodes that the cells of a column name; each value is looked up once."""

    def __init__(
        self, find: Callable[[Any], tuple[Sequence[str], Sequence[str]]], nodes: Mapping[str, str]
    ) -> None:  # Any: whatever a file format can hold
        """Take what returns the ids of the nodes that a value names, and its parts that name none, and why.

        `nodes` has the node of each text that names just one.
        """
        self._find, self._nodes = find, nodes
        self._ends = array("q", [0])
        """Where among `ids` the nodes of each value end, after the place where the first begin."""
        self.ids: list[str] = []
        """The nodes of all values, one after another."""
        self.missing: dict[int, Sequence[str]] = {}
        """By a value's place, the parts of it that name no node."""

    def places(self, columns: Iterable[Sequence[Any]]) -> list[NDArray[np.int64]]:  # Any: whatever a file can hold
        """Return a place for each value of some columns, the same for equal ones: each (values,)."""
        known: dict[str | int | None, int] = {}
        return [self._places(values, known) for values in columns]

    def _places(self, values: Sequence[Any], known: dict[str | int | None, int]) -> NDArray[np.int64]:  # Any: as above
        if isinstance(values, CodedColumn):
            used, codes = np.unique(values.codes, return_inverse=True)
            return self._places([values.values[code] for code in used.tolist()], known)[codes]
        if is_text(values) or set(map(type, values)) <= {int, str, NoneType}:
            for value in dict.fromkeys(values):
                if value not in known:
                    node = self._nodes.get(str(value).strip()) if value is not None else None
                    known[value] = self._placed([node], ()) if node else self._placed(*self._find(value))
            return np.array(list(map(known.__getitem__, values)), np.int64)
        return np.array([self._placed(*self._find(value)) for value in values], np.int64)

    def _placed(self, nodes: Sequence[str], missing: Sequence[str]) -> int:
        """Return the place of a value that names these nodes."""
        place = len(self._ends) - 1
        self.ids += nodes
        self._ends.append(len(self.ids))
        if missing:
            self.missing[place] = missing
        return place

    def edges(self, places: NDArray[np.int64]) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """Return the row and the place among `ids` of each node that cells name: two arrays (edges,)."""
        ends = np.frombuffer(self._ends, np.int64)
        counts = ends[places + 1] - ends[places]
        rows = np.repeat(np.arange(len(places)), counts)
        within = np.arange(len(rows)) - np.repeat(np.cumsum(counts) - counts, counts)
        return rows, ends[places][rows] + within


def _with_more(made: MadeNodes, keys: Sequence[Any], more: dict[str, list[_More]]) -> MadeNodes:
    """Return nodes with the properties from rows of other tables, by key; each row is used once."""
    found = [more.pop(value, ()) for value in (identifier(key).strip() for key in keys)] if more else []
    if not any(found):
        return made
    told = [{name: value for one in several for name, value in one.properties.items()} for several in found]
    properties: dict[str, Sequence[JsonValue]] = {
        name: [said.get(name) for said in told] for name in dict.fromkeys(chain.from_iterable(told))
    }
    for name, cells in made.nodes.properties.items():
        others = properties.get(name, cells)
        properties[name] = [other if own is None else own for own, other in zip(cells, others, strict=True)]
    return made._replace(nodes=replace(made.nodes, properties=properties))


def _of_other_rows(cells: LinkCells, own: Mapping[str, str]) -> LinkCells:
    """Return cells with the nodes that their rows extend. Rows without a node are skipped; others count them."""
    nodes = [own.get(str(each).strip(), "") for each in cells.nodes]
    rows = [row for row, node in enumerate(nodes) if node]
    return LinkCells(*(taking(column, rows) for column in (nodes, cells.values, cells.lines)))


def _remember(nodes: dict[str, str], values: Sequence[Any], ids: Sequence[str]) -> None:  # Any: as files hold them
    """Note the node of each value of a key; empty text for a value of several nodes."""
    texts = list(map(str.strip, texts_of(values)))
    for text, node_id in zip(texts, ids, strict=True):
        if nodes.setdefault(node_id if text == node_id else text, node_id) != node_id:  # one text in memory, not two
            nodes[text] = ""
