"""Mapped tables -> the nodes and edges of a graph."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from functools import partial
from itertools import chain, repeat
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
SEVERAL = -1
"""In place of the number of a node: not one node alone."""


class _More(NamedTuple):
    """The properties that a row adds to a row of another table."""

    properties: Mapping[str, JsonValue]
    file: str
    line: int


class TableReader:
    """Reads mapped tables into a builder: the nodes first, then the edges that lead to them."""

    def __init__(self, plan: ImportPlan, columns: Columns, tally: Tally, labels: Labels) -> None:
        self._plan, self._columns, self._tally, self._labels = plan, columns, tally, labels
        self._seen: set[str] = set()
        links = [link for mapped in plan.tables for link in mapped.mapping.links.values()]
        self._keys: dict[tuple[str, str], dict[str, int]] = {
            (link.node_type, link.key): {} for link in links if link.key
        }
        """Of each key that a link leads to, the number of the node of each value; SEVERAL where it is of several."""
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
        for mapped, maker in makers:
            self._link(mapped.mapping, maker, builder)
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
                    numbers = add_made(builder, made, self._tally, file=table.file)
                except DuplicateNode as error:
                    node_id, line = made.nodes.ids[error.place], made.rows.lines[error.place]
                    raise DuplicateNode(self._two_nodes(mapped, node_id, line)) from error
                maker.number(numbers)
                for column, nodes in keys.items():
                    _remember(nodes, made.rows.columns[column], made.nodes.ids, numbers)

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

    def _link(self, mapping: FileMapping, maker: NodeMaker, builder: GraphBuilder) -> None:
        """Add the edges of the columns of a table of nodes that name others, and make nodes where a link says so."""
        own = self._keys[mapping.same[1].node_type, mapping.same[1].key] if mapping.same else None
        for name, batches in maker.links.items():
            link = mapping.links[name]
            named = self._named(link, builder)
            for cells in () if link.end else batches:
                cells = cells if own is None else _of_other_rows(cells, own)
                lines, places = cells.lines, named.places(cells.values)
                rows, ends = named.edges(places)
                batch = EdgeBatch(
                    sources=(),
                    types=CodedColumn([link.edge_type], np.zeros(len(rows), np.int8)),
                    targets=(),
                    file=mapping.file,
                    lines=lines if len(rows) == len(lines) else [lines[row] for row in rows.tolist()],
                    numbers=(np.asarray(cells.nodes)[rows], ends),
                )
                if len(rows):
                    builder.add_edges(batch)
                self._tell_missing(named, places, lines, mapping.file, name)
            batches.clear()

    def _tell_missing(
        self, named: NamedNodes, places: NDArray[np.int32], lines: Sequence[int], file: str, column: str
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
    ) -> tuple[list[int], list[str]]:  # Any: whatever a file format can hold
        """Return the nodes that a value names, made if the link says so, and a reason for each part without a node."""
        nodes = self._keys.get((link.node_type, link.key), {})
        parts = list(dict.fromkeys(parts_of(plain(value), link.separator)))
        if not link.key:
            made = [Node(f"{link.node_type}:{part}", link.node_type, part) for part in parts]
            for node in made:
                if not builder.has(node.id):
                    builder.add_node(node)
            return [builder.number(node.id) for node in made], []
        found, missing = [], []
        for part in parts:
            key = key_value(part, nodes)
            if key is not None and nodes[key] != SEVERAL:
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
            places = named.places(values)
            self._tell_missing(named, places, batch.lines, mapping.file, column)
            rows, ends = named.edges(places)
            if not np.array_equal(rows, np.arange(len(batch))):
                batch = batch.taking(rows.tolist())
            used, codes = np.unique(ends, return_inverse=True)
            batch = Batch({**batch.columns, column: CodedColumn(builder.ids(used), codes)}, batch.lines)
        return batch


class NamedNodes:
    """The nodes that the cells of a column name; each value that is no text of a key is looked up once."""

    def __init__(
        self, find: Callable[[Any], tuple[Sequence[int], Sequence[str]]], nodes: Mapping[str, int]
    ) -> None:  # Any: whatever a file format can hold
        """Take what returns the numbers of the nodes that a value names, and its parts that name none, and why.

        `nodes` has the node of each text that names just one.
        """
        self._find, self._nodes = find, nodes
        self._known: dict[str | int | None, int] = {}
        self._several: list[Sequence[int]] = []
        """The nodes of each value that does not name just one, or that has a part that names none."""
        self.missing: dict[int, Sequence[str]] = {}
        """By a value's place, the parts of it that name no node."""

    def places(self, values: Sequence[Any]) -> NDArray[np.int32]:  # Any: whatever a file format can hold
        """Return a place for each value, (values,): the number of the one node that it names, else a number below 0."""
        if isinstance(values, CodedColumn):
            used, codes = np.unique(values.codes, return_inverse=True)
            return self.places([values.values[code] for code in used.tolist()])[codes]
        types = {str} if is_text(values) else set(map(type, values))
        if not types <= {int, str, NoneType}:
            return np.array(list(map(self._placed, values)), np.int32)
        texts = map(str, values) if int in types else values
        found = np.fromiter(map(self._nodes.get, texts, repeat(SEVERAL)), np.int32, len(values))
        rest = np.flatnonzero(found < 0)
        others = taking(values, rest.tolist())
        for value in dict.fromkeys(others):
            if value not in self._known:
                self._known[value] = self._placed(value)
        found[rest] = list(map(self._known.__getitem__, others))
        return found

    def _placed(self, value: Any) -> int:  # Any: whatever a file format can hold
        nodes, missing = self._find(value)
        if len(nodes) == 1 and not missing:
            return nodes[0]
        self._several.append(nodes)
        if missing:
            self.missing[-len(self._several)] = missing
        return -len(self._several)

    def edges(self, places: NDArray[np.int32]) -> tuple[NDArray[np.int64], NDArray[np.int32]]:
        """Return the row and the node of each edge that cells stand for: two arrays (edges,)."""
        counts = np.ones(len(places), np.int64)
        others = [self._several[~place] for place in places[places < 0].tolist()]
        counts[places < 0] = list(map(len, others))
        ends = np.repeat(places, counts)
        ends[ends < 0] = list(chain.from_iterable(others))
        return np.repeat(np.arange(len(places)), counts), ends


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


def _of_other_rows(cells: LinkCells, own: Mapping[str, int]) -> LinkCells:
    """Return cells with the nodes that their rows extend. Rows without a node are skipped; others count them."""
    nodes = np.array([own.get(str(each).strip(), SEVERAL) for each in cells.nodes], np.int32)
    rows = np.flatnonzero(nodes >= 0)
    return LinkCells(nodes[rows], taking(cells.values, rows.tolist()), taking(cells.lines, rows.tolist()))


def _remember(
    nodes: dict[str, int], values: Sequence[Any], ids: Sequence[str], numbers: NDArray[np.int32]
) -> None:  # Any: as files hold them
    """Note the node of each value of a key; SEVERAL for a value of several nodes."""
    texts = list(map(str.strip, texts_of(values)))
    for text, node_id, number in zip(texts, ids, numbers.tolist(), strict=True):
        if nodes.setdefault(node_id if text == node_id else text, number) != number:  # one text in memory, not two
            nodes[text] = SEVERAL
