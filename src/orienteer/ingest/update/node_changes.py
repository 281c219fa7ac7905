"""Which nodes come and go when tables of nodes change: rows are told by their hashes, and only new ones are read."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray

from orienteer.graph.edges import EdgeBatch, NodeNumbers, encode_extra, extra_hash, id_hashes, type_numbers
from orienteer.graph.store import Graph
from orienteer.index.arrays import Rows
from orienteer.index.postings import Layout
from orienteer.ingest.formats.table import EDGE_ROWS, NODE_ROWS, Batch
from orienteer.ingest.report import EMPTY_ID, Tally
from orienteer.ingest.tables.assignment import value_columns
from orienteer.ingest.tables.cells import holds, is_text
from orienteer.ingest.tables.columns import Columns, EdgeRoles
from orienteer.ingest.tables.edges import EdgeMaker, Extra
from orienteer.ingest.tables.mapping import FileMapping
from orienteer.ingest.tables.nodes import NodeMaker
from orienteer.ingest.tables.plan import Table
from orienteer.ingest.tables.profile import NULL_WORDS
from orienteer.ingest.tables.values import identifier
from orienteer.ingest.update.ledger import EdgeRows, LedgerFile, NodeRows, Numbers, row_hashes, stamped
from orienteer.records import Node

MOST_CHANGED = 0.25
"""Of the nodes of a graph: when more come, an import of everything takes no longer, and less memory."""
LEAST_CHANGED = 5_000
"""Nodes that may always come."""


class NodeChange(NamedTuple):
    """The nodes that come and go. Those of the graph keep their rows as numbers; the n-th that comes has size + n."""

    size: int
    """Nodes of the graph before."""
    gone: Rows
    nodes: list[Node]
    """Those that come, by id; one has the id of a row that goes where its type is another."""
    renewed: dict[int, Node]
    """Nodes by number that say something else, and keep their id, their type and their edges."""

    @property
    def is_empty(self) -> bool:
        """Say whether no node comes or goes, so that all ends of edges are as they were."""
        return not len(self.gone) and not self.nodes

    @property
    def gone_rows(self) -> Rows:
        """Return the rows of the graph that are written anew, or no more, ascending."""
        return np.union1d(self.gone, np.array([*self.renewed], np.int32)).astype(np.int32)

    def place(self, layout: Layout) -> Numbers:
        """Return the new row of each number."""
        written = sorted([*self.nodes, *self.renewed.values()], key=lambda node: node.id)
        rows = dict(zip((node.id for node in written), layout.new.tolist(), strict=True))
        place = np.concatenate([layout.old, np.array([rows[node.id] for node in self.nodes], np.int32)])
        place[[*self.renewed]] = [rows[node.id] for node in self.renewed.values()]
        return place

    @property
    def stays(self) -> NDArray[np.bool_]:
        """Mark the nodes of the graph that stay: (size,)."""
        stays = np.ones(self.size, np.bool_)
        stays[self.gone] = False
        return stays

    def numbering(self, graph: Graph) -> NodeNumbers:
        """Return what finds the numbers of all nodes that are there afterwards. Raises `ImportWhole`."""
        stays = self.stays
        hashes = [id_hashes(graph.arrays.ids)[stays], id_hashes(node.id for node in self.nodes)]
        coming = np.arange(self.size, self.size + len(self.nodes), dtype=np.int32)
        numbers = NodeNumbers(np.concatenate(hashes), np.concatenate([np.flatnonzero(stays).astype(np.int32), coming]))
        if not numbers.is_exact:
            raise ImportWhole("two ids have the same hash")
        return numbers


@dataclass(slots=True)
class _Coming:
    """The nodes that come, in the order of reading; numbered from the size of the graph on."""

    size: int
    nodes: list[Node] = field(default_factory=list)
    ids: set[str] = field(default_factory=set)
    by_row: dict[tuple[str, int], int] = field(default_factory=dict)
    """The number of each by its file and the hash of its row."""

    def number(self, path: str, row_hash: int, node: Node) -> int:
        """Return the number of a node; that of the first where a row is there several times."""
        number = self.by_row.setdefault((path, row_hash), self.size + len(self.nodes))
        if number == self.size + len(self.nodes):
            if node.id in self.ids:
                raise ImportWhole(f"several rows that are new say what {node.id!r} is")
            self.ids.add(node.id)
            self.nodes.append(node)
            check_count(len(self.nodes), self.size)
        return number


class NodeComparison:
    """Compares tables of nodes with what a graph was made of."""

    def __init__(self, graph: Graph) -> None:
        self._graph = graph
        self._coming = _Coming(len(graph))

    def read(self, source: SourceTable, before: NodeRows | None, tally: Tally) -> NodeRows:
        """Read a table that changed, or is new; rows that it had before are not looked into. Raises `ImportWhole`."""
        known = _KnownRows(before)
        hashes, numbers = [np.zeros(0, np.uint64)], [np.zeros(0, np.int32)]
        for batch, hashed in hashed_batches(source, tally):
            nodes = known.find(hashed)
            new = np.flatnonzero(nodes < 0)
            if len(new):
                made = nodes_in(source, chosen(batch, new), tally)
                for row in new.tolist():
                    node = made.get(batch.lines[row])
                    if node is not None:
                        nodes[row] = self._coming.number(source.path, int(hashed[row]), node)
            hashes.append(hashed)
            numbers.append(nodes)
        return NodeRows(np.concatenate(hashes), np.concatenate(numbers))

    def change(self, tables: Mapping[str, NodeRows]) -> tuple[NodeChange, dict[str, NodeRows]]:
        """Return what comes and goes, and all tables with the numbers of that. Raises `ImportWhole`."""
        size, coming, arrays = len(self._graph), self._coming.nodes, self._graph.arrays
        is_named = np.zeros(size + len(coming) + 1, np.bool_)  # the last is for rows without a node
        for rows in tables.values():
            is_named[rows.nodes] = True
        place = np.arange(size + len(coming), dtype=np.int32)
        renewed: dict[int, Node] = {}
        others: list[int] = []
        for at, node in enumerate(coming):
            row = arrays.ids.find(node.id)
            if row is not None and is_named[row]:
                raise ImportWhole(f"a row that is new says again what {node.id!r} is")
            if row is not None and arrays.types.nodes[arrays.node_types[row]] == node.type:
                renewed[row], place[size + at] = node, row
            else:
                others.append(at)
        others.sort(key=lambda at: coming[at].id)
        place[size + np.array(others, np.int64)] = np.arange(size, size + len(others), dtype=np.int32)
        is_named[[*renewed]] = True
        gone = np.flatnonzero(~is_named[:size]).astype(np.int32)
        change = NodeChange(size, gone, [coming[at] for at in others], renewed)
        return change, {path: rows.placed(place) if coming else rows for path, rows in tables.items()}


class _KnownRows:
    """The nodes of the rows that a table had, by hash."""

    def __init__(self, before: NodeRows | None) -> None:
        hashes = np.zeros(0, np.uint64) if before is None else before.hashes
        nodes = np.zeros(0, np.int32) if before is None else before.nodes
        self._hashes, firsts = np.unique(hashes, return_index=True)
        self._nodes = nodes[firsts]

    def find(self, hashes: NDArray[np.uint64]) -> Numbers:
        """Return the node of each row: (rows,), -1 for rows that are new or had none."""
        if not len(self._hashes):
            return np.full(len(hashes), -1, np.int32)
        at = np.minimum(np.searchsorted(self._hashes, hashes), len(self._hashes) - 1)
        return np.where(self._hashes[at] == hashes, self._nodes[at], np.int32(-1)).astype(np.int32)


class EndNodes:
    """The nodes that edges alone tell of: a table of edges without one of nodes makes each end a node."""

    def __init__(self, graph: Graph) -> None:
        self._graph = graph
        self._numbers = NodeChange(len(graph), np.zeros(0, np.int32), [], {}).numbering(graph)
        self._coming: dict[str, int] = {}

    def find(self, ids: Sequence[str]) -> Numbers:
        """Return the number of each node, (ids,); a new one gets the next number."""
        numbers = self._numbers.find(ids)
        for at in np.flatnonzero(numbers < 0).tolist():
            numbers[at] = self._coming.setdefault(ids[at], len(self._graph) + len(self._coming))
        check_count(len(self._coming), len(self._graph))
        return numbers

    def change(self, tables: Mapping[str, EdgeRows], node_of: SourceTable) -> tuple[NodeChange, dict[str, EdgeRows]]:
        """Return what comes and goes, and all tables with the numbers of that."""
        size, ids = len(self._graph), list(self._coming)
        is_named = np.zeros(size + len(ids), np.bool_)
        for rows in tables.values():
            is_named[rows.sources] = True
            is_named[rows.targets] = True
        order = sorted(range(len(ids)), key=ids.__getitem__)
        place = np.arange(size + len(ids), dtype=np.int32)
        place[size + np.array(order, np.int64)] = np.arange(size, size + len(ids), dtype=np.int32)
        maker = node_of.end_maker(Tally())
        nodes = [maker.node(ids[at], {}) for at in order]
        change = NodeChange(size, np.flatnonzero(~is_named[:size]).astype(np.int32), nodes, {})
        return change, {path: rows.placed(place) if ids else rows for path, rows in tables.items()}


def check_count(coming: int, size: int) -> None:
    """Raise `ImportWhole` where too many nodes come."""
    if coming > max(LEAST_CHANGED, MOST_CHANGED * size):
        raise ImportWhole(f"more than {MOST_CHANGED:.0%} of the nodes are new or changed")


# Tables read for what their rows give: hashes of rows, nodes of rows, ends of edges as numbers.


class Numbering(Protocol):
    """Finds the numbers of nodes."""

    def find(self, ids: Sequence[str]) -> Numbers:
        """Return the number of each id, -1 for unknown ones."""


class HasNullWords(Exception):  # it is no error: the caller looks at the table, and reads it again
    """A table that nobody has looked at has words that may say that there is no value."""


@dataclass(frozen=True, slots=True)
class SourceTable:
    """A table with its mapping, and what a person says of columns."""

    table: Table
    mapping: FileMapping
    columns: Columns
    has_nodes: bool = True
    """Nodes have a table of their own."""
    is_looked_at: bool = True
    """The table knows its null words."""

    def stamp(self) -> LedgerFile:
        """Return the table as it is now, before its rows are read."""
        about = stamped(self.table.path.resolve())
        return about.model_copy(update={"columns": self.table.columns, "mapping": self.mapping})

    @property
    def path(self) -> str:
        """Return the path by which the ledger knows it."""
        return str(self.table.path.resolve())

    def batches(self, rows: int, tally: Tally) -> Iterator[Batch]:
        """Read the table in batches. Raises `HasNullWords` where it would have to know them."""
        watched = [] if self.is_looked_at else value_columns(self.table, self.columns)
        for batch in self.table.batches(rows=rows, drop=tally.dropping(self.table.file)):
            if any(holds(batch.columns[name], NULL_WORDS) for name in watched):
                raise HasNullWords
            yield batch

    @property
    def id_column(self) -> str:
        """Return the column of the ids of its nodes."""
        return self.mapping.having("id", "prefixed id")[0]

    def maker(self, tally: Tally) -> NodeMaker:
        """Return what makes nodes of its rows."""
        return NodeMaker(self.columns, tally=tally, is_text=self.table.format.is_text, mapping=self.mapping)

    def edge_maker(self, tally: Tally) -> EdgeMaker:
        """Return what makes edges of its rows."""
        maker = EdgeMaker(
            EdgeRoles.of_mapping(self.mapping),
            self.columns,
            tally=tally,
            file=self.table.file,
            is_text=self.table.format.is_text,
            mapping=self.mapping,
        )
        maker.has_nodes = self.has_nodes
        return maker

    def end_maker(self, tally: Tally) -> NodeMaker:
        """Return what makes nodes of ends that no table of nodes tells of."""
        return NodeMaker(self.columns, tally=tally, is_text=self.table.format.is_text)


# ------------------------------------------------------------------------------------------------------------- nodes


class HashedBatch(NamedTuple):
    """Some rows of a table of nodes."""

    batch: Batch
    hashes: NDArray[np.uint64]
    """(rows,)"""


def hashed_batches(source: SourceTable, tally: Tally) -> Iterator[HashedBatch]:
    """Yield the rows of a table with their hashes. Raises `HasNullWords`."""
    for batch in source.batches(NODE_ROWS, tally):
        yield HashedBatch(batch, row_hashes(batch))


def chosen(batch: Batch, rows: NDArray[np.int64]) -> Batch:
    """Return some rows of a batch."""
    if len(rows) == len(batch):
        return batch
    places = rows.tolist()
    columns: dict[str, Sequence[Any]] = {name: [cells[row] for row in places] for name, cells in batch.columns.items()}
    return Batch(columns, [batch.lines[row] for row in places])


def nodes_in(source: SourceTable, batch: Batch, tally: Tally) -> dict[int, Node]:
    """Return the nodes of a batch by the line of their row; rows without an id are counted."""
    made = source.maker(tally).of_batch(batch, id_column=source.id_column, file=source.table.file)
    return {line: node for node, line in made}


def read_nodes(source: SourceTable, numbering: Numbering, tally: Tally) -> NodeRows:
    """Read a table all of whose nodes have a number; rows without an id are counted."""
    hashes, nodes = [np.zeros(0, np.uint64)], [np.zeros(0, np.int32)]
    before = f"{source.mapping.type}:" if source.mapping.having("prefixed id") else ""
    for batch, hashed in hashed_batches(source, tally):
        ids = batch.columns.get(source.id_column, (None,) * len(batch))
        if before or not is_text(ids):
            written = map(identifier, ids)
            ids = [f"{before}{node_id}" if node_id.strip() else "" for node_id in written]
        nodes.append(numbering.find(ids))  # a blank id is none
        hashes.append(hashed)
    rows = NodeRows(np.concatenate(hashes), np.concatenate(nodes))
    tally.drop(EMPTY_ID, [], int(np.count_nonzero(rows.nodes < 0)))
    return rows


# ------------------------------------------------------------------------------------------------------------- edges


def edge_batches(source: SourceTable, tally: Tally) -> Iterator[EdgeBatch]:
    """Yield the edges of a table, as an import has them before they are cleaned. Raises `HasNullWords`."""
    maker = source.edge_maker(tally)
    for batch in source.batches(EDGE_ROWS, tally):
        if len(batch):
            yield maker.of_batch(batch)


@dataclass(slots=True)
class EdgeColumns:
    """Columns of edges, batch by batch."""

    sources: list[Numbers] = field(default_factory=lambda: [np.zeros(0, np.int32)])
    targets: list[Numbers] = field(default_factory=lambda: [np.zeros(0, np.int32)])
    kinds: list[NDArray[np.uint16]] = field(default_factory=lambda: [np.zeros(0, np.uint16)])
    extras: list[NDArray[np.uint64] | int] = field(default_factory=list)
    """Of a batch whose edges carry nothing how many they are."""
    stray: list[NDArray[np.int64]] = field(default_factory=lambda: [np.zeros(0, np.int64)])
    stray_sources: list[NDArray[np.uint64]] = field(default_factory=lambda: [np.zeros(0, np.uint64)])
    stray_targets: list[NDArray[np.uint64]] = field(default_factory=lambda: [np.zeros(0, np.uint64)])
    count: int = 0

    def add(self, batch: EdgeBatch, sources: Numbers, targets: Numbers, kinds: NDArray[np.uint16]) -> None:
        """Add a batch, whose ends have these numbers."""
        stray = np.flatnonzero((sources < 0) | (targets < 0))
        self.sources.append(sources)
        self.targets.append(targets)
        self.kinds.append(kinds)
        self.extras.append(len(sources) if batch.extras is None else extra_hashes(batch))
        self.stray.append(stray + self.count)
        for column, hashes in ((batch.sources, self.stray_sources), (batch.targets, self.stray_targets)):
            hashes.append(id_hashes([column[row] for row in stray.tolist()]))
        self.count += len(sources)

    def rows(self, types: Sequence[str]) -> EdgeRows:
        """Return all rows so far."""
        is_plain = all(isinstance(part, int) for part in self.extras)
        extras = [np.zeros(part, np.uint64) if isinstance(part, int) else part for part in self.extras if not is_plain]
        return EdgeRows(
            np.concatenate(self.sources),
            np.concatenate(self.targets),
            np.concatenate(self.kinds),
            tuple(types),
            np.concatenate(extras) if extras else None,
            np.concatenate(self.stray),
            np.concatenate(self.stray_sources),
            np.concatenate(self.stray_targets),
        )


def extra_hashes(batch: EdgeBatch) -> NDArray[np.uint64]:
    """Return the hash of what each edge carries: (edges,), 0 for nothing."""
    hashes = np.zeros(len(batch.sources), np.uint64)
    for row, extra in enumerate(batch.extras or ()):
        if extra:
            hashes[row] = extra_hash(encode_extra(extra))
    return hashes


def read_edges(source: SourceTable, numbering: Numbering, tally: Tally) -> EdgeRows:
    """Read a table of edges, the ends of which get the numbers of their nodes. Raises `HasNullWords`."""
    columns, types = EdgeColumns(), dict[str, int]()
    for batch in edge_batches(source, tally):
        columns.add(
            batch, numbering.find(batch.sources), numbering.find(batch.targets), type_numbers(batch.types, types)
        )
    return columns.rows(tuple(types))


def read_extras(source: SourceTable, rows: NDArray[np.int64]) -> dict[int, Extra]:
    """Return what some rows of a table of edges carry, by row; rows are counted as `read_edges` does."""
    carried: dict[int, Extra] = {}
    wanted, first = np.sort(rows), 0
    for batch in edge_batches(source, Tally()):
        last = first + len(batch.sources)
        low, high = np.searchsorted(wanted, [first, last])
        for row in wanted[low:high].tolist():
            extra = batch.extras[row - first] if batch.extras else None
            if extra:
                carried[row] = dict(extra)
        first = last
    return carried


# Why an update is an import of everything.


class ImportWhole(Exception):  # it is no error: the caller imports everything
    """Rows alone do not tell what an import would give; the message says why, as the end of a sentence."""
