"""Tables read for what their rows give: hashes of rows, nodes of rows, ends of edges as numbers."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray

from orienteer.graph.edges import EdgeBatch, encode_extra, extra_hash, id_hashes, type_numbers
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
from orienteer.ingest.update.ledger import EdgeRows, LedgerFile, NodeRows, Numbers, stamped
from orienteer.ingest.update.row_hashes import row_hashes
from orienteer.records import Node


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
