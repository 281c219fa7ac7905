"""Tables read for an update. Rows of nodes are compared by their hashes, and only new ones are parsed."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from orienteer.graph.edges import EdgeBatch, encode_extra, extra_hash, id_hashes, type_numbers
from orienteer.graph.store import Graph
from orienteer.ingest.formats.table import EDGE_ROWS, NODE_ROWS, Batch
from orienteer.ingest.importer import Importer, ImportOptions
from orienteer.ingest.report import EMPTY_ID, Tally
from orienteer.ingest.tables.assignment import value_columns
from orienteer.ingest.tables.cells import holds, texts_of
from orienteer.ingest.tables.columns import Columns, EdgeRoles
from orienteer.ingest.tables.edges import EdgeMaker, Extra
from orienteer.ingest.tables.mapping import FileMapping
from orienteer.ingest.tables.nodes import NodeMaker
from orienteer.ingest.tables.plan import Table
from orienteer.ingest.tables.profile import NULL_WORDS
from orienteer.ingest.update.difference import FullImportRequired, NodeChange, check_node_count
from orienteer.ingest.update.ledger import EdgeRows, NodeRows, Numbers, joined, row_hashes
from orienteer.records import Node

FindNodes: TypeAlias = Callable[[Sequence[str]], Numbers]
"""Returns the number of each id, -1 for unknown ones."""


class HasNullWords(Exception):  # not an error: the caller profiles the table, and reads it again
    """A table that was not profiled has words that may mean missing values."""


@dataclass(frozen=True, slots=True)
class SourceTable:
    """A table with its mapping."""

    table: Table
    mapping: FileMapping
    columns: Columns
    has_nodes: bool
    """Nodes have a table of their own."""
    is_profiled: bool
    """The table knows its null words."""

    @property
    def value_columns(self) -> list[str]:
        """Return the columns in which null words may stand."""
        return value_columns(self.table, self.mapping, has_nodes=self.has_nodes)

    @property
    def path(self) -> str:
        """Return its path in the ledger."""
        return str(self.table.path.resolve())

    def batches(self, rows: int, tally: Tally) -> Iterator[Batch]:
        """Read the table in batches. Raises `HasNullWords`."""
        watched = [] if self.is_profiled else self.value_columns
        for batch in self.table.batches(rows=rows, drop=tally.dropping(self.table.file)):
            if any(holds(batch.columns[name], NULL_WORDS) for name in watched):
                raise HasNullWords
            yield batch

    def edge_batches(self, tally: Tally) -> Iterator[EdgeBatch]:
        """Yield the edges, as an import has them before it cleans them. Raises `HasNullWords`."""
        roles, is_text_file = EdgeRoles.of_mapping(self.mapping), self.table.format.is_text
        maker = EdgeMaker(
            roles, self.columns, tally=tally, file=self.table.file, is_text=is_text_file, mapping=self.mapping
        )
        maker.has_nodes = self.has_nodes
        for batch in self.batches(EDGE_ROWS, tally):
            if len(batch):
                yield maker.of_batch(batch)


def tables_by_rows(importer: Importer, options: ImportOptions) -> list[SourceTable]:
    """Return the tables of an import, in the order of reading, if an update can follow their rows.

    It can if what a row gives depends on the row alone, and on which other nodes and edges there are. Raises
    `FullImportRequired`.
    """
    plan = importer.plan
    if importer.layout is not None:
        raise FullImportRequired("the source is read as a whole, not by rows")
    if importer.unreadable:
        raise FullImportRequired(f"{importer.unreadable[0].file} cannot be read")
    has_nodes = bool(plan.nodes)
    tables = [
        SourceTable(mapped.table, mapped.mapping, importer.columns, has_nodes, importer.knows_nulls)
        for mapped in (*plan.nodes, *plan.edges)
    ]
    for mapping in (source.mapping for source in tables):
        if why := _why_not(mapping, has_nodes=has_nodes):
            raise FullImportRequired(f"{mapping.file}: {why}")
    if len({source.path for source in tables}) < len(tables):
        raise FullImportRequired("one file holds several tables")
    named = {*options.columns.values(), *options.private, *options.explode}
    if missing := named - {column for source in tables for column in source.table.columns}:
        raise FullImportRequired(f"{min(missing)} is a key within cells, not a column")
    return tables


def _why_not(mapping: FileMapping, *, has_nodes: bool) -> str:
    """Return the reason against following the rows of a table; empty if an update can."""
    if mapping.links:
        return f"{next(iter(mapping.links))} leads to rows of other tables"
    if mapping.having("label"):
        return f"the first rows of each type tell its label ({mapping.having('label')[0]})"
    if mapping.is_of_edges and not has_nodes and mapping.having("about source", "about target"):
        return "the first row that names a node describes it"
    if not mapping.is_of_edges and not mapping.having("id", "prefixed id"):
        return "ids are numbers of lines"
    return ""


# ------------------------------------------------------------------------------------------------------------- nodes


def read_nodes(source: SourceTable, find: FindNodes, tally: Tally) -> NodeRows:
    """Read a table whose nodes are all in the graph; rows without an id are counted."""
    hashes, nodes = [np.zeros(0, np.uint64)], [np.zeros(0, np.int32)]
    prefix = f"{source.mapping.type}:" if source.mapping.having("prefixed id") else ""
    for batch in source.batches(NODE_ROWS, tally):
        ids = texts_of(batch.columns.get(_id_column(source), (None,) * len(batch)))
        if prefix:
            ids = [f"{prefix}{node_id}" if node_id.strip() else "" for node_id in ids]
        # No node has a blank id.
        nodes.append(find(ids))
        hashes.append(row_hashes(batch))
    rows = NodeRows(np.concatenate(hashes), np.concatenate(nodes))
    tally.drop(EMPTY_ID, [], int(np.count_nonzero(rows.nodes < 0)))
    return rows


def _id_column(source: SourceTable) -> str:
    return source.mapping.having("id", "prefixed id")[0]


class NodeComparison:
    """Compares tables of nodes with the ledger. New nodes are numbered from the graph's size on, in reading order."""

    def __init__(self, graph: Graph) -> None:
        self._graph, self._size = graph, len(graph)
        self._new: list[Node] = []
        self._ids: set[str] = set()
        # The number of each by its file and the hash of its row.
        self._by_row: dict[tuple[str, int], int] = {}

    def read(self, source: SourceTable, before: NodeRows | None, tally: Tally) -> NodeRows:
        """Read a table that changed, or is new; only rows that it did not have are parsed.

        Raises `FullImportRequired`, `HasNullWords`.
        """
        if before is None:
            before = NodeRows(np.zeros(0, np.uint64), np.zeros(0, np.int32))
        known, firsts = np.unique(before.hashes, return_index=True)
        known_nodes = before.nodes[firsts]
        hashes, numbers = [np.zeros(0, np.uint64)], [np.zeros(0, np.int32)]
        for batch in source.batches(NODE_ROWS, tally):
            hashed = row_hashes(batch)
            nodes = np.full(len(hashed), -1, np.int32)
            if len(known):
                at = np.minimum(np.searchsorted(known, hashed), len(known) - 1)
                nodes = np.where(known[at] == hashed, known_nodes[at], np.int32(-1)).astype(np.int32)
            # These, and rows that gave no node before.
            new = np.flatnonzero(nodes < 0).tolist()
            if new:
                made = _nodes_by_line(source, batch, new, tally)
                for row in new:
                    if (node := made.get(batch.lines[row])) is not None:
                        # Equal rows have one number.
                        number = self._by_row.setdefault((source.path, int(hashed[row])), self._size + len(self._new))
                        if number == self._size + len(self._new):
                            if node.id in self._ids:
                                raise FullImportRequired(f"several rows that are new say what {node.id!r} is")
                            self._ids.add(node.id)
                            self._new.append(node)
                            check_node_count(len(self._new), self._size)
                        nodes[row] = number
            hashes.append(hashed)
            numbers.append(nodes)
        return NodeRows(np.concatenate(hashes), np.concatenate(numbers))

    def change(self, tables: Mapping[str, NodeRows]) -> tuple[NodeChange, dict[str, NodeRows]]:
        """Return the change, and all tables with its numbers of nodes. Raises `FullImportRequired`."""
        size, new, arrays = self._size, self._new, self._graph.arrays
        # The last is for rows without a node.
        is_named = np.zeros(size + len(new) + 1, np.bool_)
        for rows in tables.values():
            is_named[rows.nodes] = True
        place = np.arange(size + len(new), dtype=np.int32)
        renewed: dict[int, Node] = {}
        others: list[int] = []
        for at, node in enumerate(new):
            row = arrays.ids.find(node.id)
            if row is not None and is_named[row]:
                raise FullImportRequired(f"a row that is new says again what {node.id!r} is")
            if row is not None and arrays.types.nodes[arrays.node_types[row]] == node.type:
                renewed[row], place[size + at] = node, row
            else:
                others.append(at)
        others.sort(key=lambda at: new[at].id)
        place[size + np.array(others, np.int64)] = np.arange(size, size + len(others), dtype=np.int32)
        is_named[[*renewed]] = True
        gone = np.flatnonzero(~is_named[:size]).astype(np.int32)
        change = NodeChange(size, gone, [new[at] for at in others], renewed)
        return change, {path: rows.placed(place) if new else rows for path, rows in tables.items()}


def _nodes_by_line(source: SourceTable, batch: Batch, rows: list[int], tally: Tally) -> dict[int, Node]:
    """Return the nodes of some rows of a batch by their lines; rows without an id are counted."""
    batch = batch.taking(rows) if len(rows) < len(batch) else batch
    table = source.table
    maker = NodeMaker(
        source.columns, tally=tally, is_text=table.format.is_text, mapping=source.mapping, joined=table.joined
    )
    made = maker.of_batch(batch, id_column=_id_column(source), file=source.table.file)
    return {line: node for nodes, own in made for node, line in zip(nodes.nodes(), own.lines, strict=True)}


class EndNodes:
    """The nodes of tables of edges without a table of nodes: each end is a node."""

    def __init__(self, graph: Graph) -> None:
        self._size = len(graph)
        self._numbers = NodeChange(self._size, np.zeros(0, np.int32), [], {}).numbering(graph)
        self._coming: dict[str, int] = {}

    def find(self, ids: Sequence[str]) -> Numbers:
        """Return the number of each node, (ids,); a new node gets the next number."""
        numbers = self._numbers.find(ids)
        for at in np.flatnonzero(numbers < 0).tolist():
            numbers[at] = self._coming.setdefault(ids[at], self._size + len(self._coming))
        check_node_count(len(self._coming), self._size)
        return numbers

    def change(self, tables: Mapping[str, EdgeRows], source: SourceTable) -> tuple[NodeChange, dict[str, EdgeRows]]:
        """Return the change, and all tables with its numbers of nodes. New nodes are made as of `source`."""
        size, ids = self._size, list(self._coming)
        is_named = np.zeros(size + len(ids), np.bool_)
        for rows in tables.values():
            is_named[rows.sources] = True
            is_named[rows.targets] = True
        order = sorted(range(len(ids)), key=ids.__getitem__)
        place = np.arange(size + len(ids), dtype=np.int32)
        place[size + np.array(order, np.int64)] = np.arange(size, size + len(ids), dtype=np.int32)
        maker = NodeMaker(source.columns, tally=Tally(), is_text=source.table.format.is_text)
        nodes = [maker.node(ids[at], {}) for at in order]
        change = NodeChange(size, np.flatnonzero(~is_named[:size]).astype(np.int32), nodes, {})
        return change, {path: rows.placed(place) if ids else rows for path, rows in tables.items()}


# ------------------------------------------------------------------------------------------------------------- edges


def edge_rows(batch: EdgeBatch, find: FindNodes, types: dict[str, int]) -> EdgeRows:
    """Return the rows of a batch of edges; new types get the next numbers in `types`."""
    sources, targets = find(batch.sources), find(batch.targets)
    kinds = type_numbers(batch.types, types)
    extras = None
    if batch.extras is not None:
        extras = np.array([extra_hash(encode_extra(extra)) if extra else 0 for extra in batch.extras], np.uint64)
    stray = np.flatnonzero((sources < 0) | (targets < 0))
    stray_ends = [id_hashes([ids[row] for row in stray.tolist()]) for ids in (batch.sources, batch.targets)]
    return EdgeRows(sources, targets, kinds, tuple(types), extras, stray, *stray_ends)


def read_edges(source: SourceTable, find: FindNodes, tally: Tally) -> EdgeRows:
    """Read a table of edges. Raises `HasNullWords`."""
    types: dict[str, int] = {}
    parts = [edge_rows(batch, find, types) for batch in source.edge_batches(tally)]
    return joined(parts, tuple(types))


def read_extras(source: SourceTable, rows: NDArray[np.int64]) -> dict[int, Extra]:
    """Return the texts, weights and properties of some rows of a table, by row. Raises `HasNullWords`."""
    carried: dict[int, Extra] = {}
    wanted, first = np.sort(rows), 0
    for batch in source.edge_batches(Tally()):
        last = first + len(batch.sources)
        low, high = np.searchsorted(wanted, [first, last])
        for row in wanted[low:high].tolist():
            extra = batch.extras[row - first] if batch.extras else None
            if extra:
                carried[row] = dict(extra)
        first = last
    return carried
