"""A new generation of a graph out of its last one and the rows of its tables that are new."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from itertools import chain
from pathlib import Path
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from orienteer.graph.edges import CodedColumn, EdgeBatch, type_numbers
from orienteer.graph.embedding import carried_vectors
from orienteer.graph.format import Manifest, read_pointer
from orienteer.graph.pieces import command_of, is_free, vectors
from orienteer.graph.revision import Piece, Revision, revise
from orienteer.graph.store import Graph
from orienteer.index.postings import Layout
from orienteer.ingest.importer import Importer
from orienteer.ingest.provenance import settled
from orienteer.ingest.report import EMPTY_ID, Tally
from orienteer.ingest.tables.assignment import with_nulls
from orienteer.ingest.tables.edges import Extra
from orienteer.ingest.tables.profile import cleaned
from orienteer.ingest.update.edge_changes import EdgeComparison, NodeTypes, TypeChange, resolved
from orienteer.ingest.update.ledger import (
    PIECE,
    EdgeRows,
    Ledger,
    LedgerAbout,
    LedgerFile,
    NodeRows,
    Numbers,
    TypeCuts,
    write_ledger,
)
from orienteer.ingest.update.node_changes import (
    EndNodes,
    HasNullWords,
    ImportWhole,
    NodeChange,
    NodeComparison,
    SourceTable,
    read_edges,
    read_extras,
)


class Amended(NamedTuple):
    """A graph that was brought up to date."""

    manifest: Manifest
    nodes: NodeChange
    edges: Mapping[str, TypeChange]
    about: LedgerAbout
    tallies: Mapping[str, Tally]
    """By path, the rows of the tables that were read that could not be used."""
    notes: tuple[str, ...]


@dataclass(slots=True)
class _Table:
    """A table of today."""

    source: SourceTable
    file: LedgerFile
    is_as_before: bool
    tally: Tally

    @property
    def path(self) -> str:
        return self.source.path

    def noted(self, rows: NodeRows | EdgeRows) -> LedgerFile:
        """Return the table with what the ledger says of it."""
        if self.is_as_before:
            return self.file
        facts: dict[str, object] = {"dropped": {cut.reason: cut.count for cut in self.tally.dropped}}
        if isinstance(rows, EdgeRows):
            facts |= {"edge_types": rows.types, "has_extras": rows.extras is not None}
        return self.file.model_copy(update=facts)


class RowUpdate:
    """One update. Each method does one part of it; what is read is compared with the ledger of the graph."""

    def __init__(
        self,
        graph: Graph,
        ledger: Ledger,
        importer: Importer,
        tables: Sequence[SourceTable],
        unchanged: Collection[str],
        *,
        strict: bool = False,
    ) -> None:
        """Take the tables of today, and the paths of those that are as before. Raises `ImportWhole`."""
        self._graph, self._ledger, self._importer = graph, ledger, importer
        self._manifest, self._strict = graph.arrays.manifest, strict
        self._tables = [self._table(source, is_as_before=source.path in unchanged) for source in tables]
        self._of_edges = [table for table in self._tables if table.source.mapping.is_of_edges]
        self._of_nodes = [table for table in self._tables if not table.source.mapping.is_of_edges]
        self._undirected = {
            table.source.mapping.type or "" for table in self._of_edges if table.source.mapping.undirected
        }
        there = {table.path for table in self._tables}
        for path, file in ledger.tables.items():
            if file.mapping is not None and file.mapping.undirected and path not in there:
                raise ImportWhole(f"{path}, whose edges have no direction, is gone")

    def _table(self, source: SourceTable, *, is_as_before: bool) -> _Table:
        """Return a table as it is now. Raises `ImportWhole` for one that is read in another way than it was."""
        before, tally = self._ledger.tables.get(source.path), Tally(hides_rows=bool(source.columns.private))
        if before is None:
            return _Table(source, source.stamp(), False, tally)
        if before.columns != source.table.columns:
            raise ImportWhole(f"{source.mapping.file} has other columns")
        if not before.is_read_as(source.mapping):
            raise ImportWhole(f"{source.mapping.file} is read in another way")
        if not is_as_before:
            return _Table(source, source.stamp(), False, tally)
        today = {"modified": source.table.path.stat().st_mtime_ns, "mapping": source.mapping}
        return _Table(source, before.model_copy(update=today), True, tally)

    def publish(self, work: Path) -> Amended:
        """Publish the next generation. Raises `ImportWhole`, and nothing is changed then."""
        provenance = self._importer.provenance
        change, nodes, edges = self._compared()
        changes = EdgeComparison(
            {path: self._ledger.edges(path) for path, file in self._ledger.tables.items() if file.is_of_edges},
            edges,
            node_types_of(self._graph, change),
            self._ledger.about.cuts,
            self._manifest.edge_types,
        ).changes()
        check_size(changes, self._manifest)
        named = list(dict.fromkeys(name for rows in edges.values() for name in rows.types))
        facts = self._facts(change, named)
        about = self._about(change, changes, {**nodes, **edges})
        if self._strict and (about.repeated or about.cuts or any(file.dropped for file in about.tables)):
            raise ImportWhole("--strict, and some row would be dropped or merged")
        symmetric = {name for name, each in changes.items() if each.is_symmetric} | self._undirected
        revision = revision_of(
            self._graph, change, changes, extras=self._extras(changes), named=named, symmetric=symmetric
        )
        notes = list(self._importer.tally.notes)
        for table in self._tables:
            if not table.is_as_before and not table.source.is_looked_at:
                cleaned(table.source.table, {}, notes)  # notes a foreign encoding

        def write(folder: Path, generation: str, layout: Layout) -> None:
            place = change.place(layout)
            of_nodes = (rows.placed(place) for rows in nodes.values())
            of_edges = (rows.placed(place) for rows in edges.values())
            write_ledger(folder, about.model_copy(update={"generation": generation}), chain(of_nodes, of_edges))

        manifest = revise(
            self._graph,
            revision,
            work,
            provenance=settled({"not_read": self._importer.not_read, **provenance}),
            facts=facts,
            pieces={PIECE: write, **carried_pieces(self._graph, revision, notes)},
        )
        return Amended(
            manifest, change, changes, about, {table.path: table.tally for table in self._tables}, tuple(notes)
        )

    def _about(
        self, change: NodeChange, changes: Mapping[str, TypeChange], rows: Mapping[str, NodeRows | EdgeRows]
    ) -> LedgerAbout:
        """Return the facts of the next ledger."""
        nodes = int(np.count_nonzero(change.stays)) + len(change.nodes)
        of_nodes = sum(
            int(np.count_nonzero(of_table.nodes >= 0)) for of_table in rows.values() if isinstance(of_table, NodeRows)
        )
        return LedgerAbout(
            generation=self._manifest.generation,
            tables=tuple(table.noted(rows[table.path]) for table in (*self._of_nodes, *self._of_edges)),
            repeated=of_nodes - nodes if self._of_nodes else 0,
            cuts=cuts_after(self._ledger.about.cuts, changes),
        )

    # -------------------------------------------------------------------------------------------------------- reading

    def _compared(self) -> tuple[NodeChange, dict[str, NodeRows], dict[str, EdgeRows]]:
        """Read what changed; return which nodes come and go, and the rows of all tables."""
        while True:
            for table in self._tables:
                table.tally = Tally(hides_rows=bool(table.source.columns.private))
            try:
                return self._compared_by_ends() if not self._of_nodes else self._compared_by_nodes()
            except HasNullWords:  # the table knows them now, and all is read once more
                continue

    def _compared_by_nodes(self) -> tuple[NodeChange, dict[str, NodeRows], dict[str, EdgeRows]]:
        comparison = NodeComparison(self._graph)
        read: dict[str, NodeRows] = {}
        for table in self._of_nodes:
            before = self._ledger.nodes(table.path) if table.path in self._ledger.tables else None
            if table.is_as_before and before is not None:
                read[table.path] = before
                continue
            with self._watching(table):
                read[table.path] = comparison.read(table.source, before, table.tally)
        change, nodes = comparison.change(read)
        return change, nodes, self._edges(change)

    def _edges(self, change: NodeChange) -> dict[str, EdgeRows]:
        if change.is_empty and all(table.is_as_before for table in self._of_edges):
            return {table.path: self._ledger.edges(table.path) for table in self._of_edges}
        numbers, edges = change.numbering(self._graph), dict[str, EdgeRows]()
        for table in self._of_edges:
            if table.is_as_before:
                edges[table.path] = resolved(self._ledger.edges(table.path), change, numbers, self._graph)
                continue
            with self._watching(table):
                edges[table.path] = read_edges(table.source, numbers, table.tally)
        return edges

    def _compared_by_ends(self) -> tuple[NodeChange, dict[str, NodeRows], dict[str, EdgeRows]]:
        ends = EndNodes(self._graph)
        read: dict[str, EdgeRows] = {}
        for table in self._of_edges:
            if table.is_as_before:
                read[table.path] = self._ledger.edges(table.path)
                continue
            with self._watching(table):
                read[table.path] = read_edges(table.source, ends, table.tally)
        if any(EMPTY_ID in table.noted(read[table.path]).dropped for table in self._of_edges):
            raise ImportWhole("a row names one end alone, and no table has the nodes")
        change, edges = ends.change(read, self._of_edges[0].source)
        return change, {}, edges

    @contextmanager
    def _watching(self, table: _Table) -> Iterator[None]:
        """Look for the null words of a table that turns out to have some. Raises `HasNullWords` then."""
        try:
            yield
        except HasNullWords:
            known = with_nulls(table.source.table, table.source.columns, self._importer.tally.notes)
            table.source = replace(table.source, table=known, is_looked_at=True)
            raise

    # ------------------------------------------------------------------------------------------------- what is written

    def _facts(self, change: NodeChange, edges: Sequence[str]) -> dict[str, object]:
        """Return the fields of the manifest that the types of edges and nodes tell. Raises `BadInput`."""
        if missing := self._undirected - {*edges}:
            raise ImportWhole(f"no edge is of the type {min(missing)!r}, which has no direction")
        stay = np.bincount(self._graph.arrays.node_types[change.stays], minlength=len(self._manifest.node_types))
        nodes = {name for name, count in zip(self._manifest.node_types, stay.tolist(), strict=True) if count}
        types = self._importer.name_types(edges, {*nodes, *(node.type for node in change.nodes)})
        labels = self._importer.labels
        return {
            "labels": dict(labels.labels),
            "also_called": {name: tuple(words) for name, words in labels.also_called.items()},
            "partial": self._importer.partial(types),
        }

    def _extras(self, changes: Mapping[str, TypeChange]) -> dict[int, dict[int, Extra]]:
        """Return what the edges that come carry, by table and row: these tables are read again."""
        carried: dict[int, dict[int, Extra]] = {}
        for place, table in enumerate(self._of_edges):
            rows = [each.row[(each.table == place) & (each.extras != 0)] for each in changes.values()]
            wanted = np.concatenate([np.zeros(0, np.int64), *rows])
            if len(wanted):
                carried[place] = self._read_extras(table, wanted)
        return carried

    def _read_extras(self, table: _Table, rows: NDArray[np.int64]) -> dict[int, Extra]:
        try:
            with self._watching(table):
                return read_extras(table.source, rows)
        except HasNullWords:
            return read_extras(table.source, rows)


# What an update found, as a revision of the graph.


MOST_EDGES = 0.25
"""Of the edges of a graph: when more come or go, an import of everything takes no longer."""
LEAST_EDGES = 100_000
"""Edges that may always come or go."""


def node_types_of(graph: Graph, change: NodeChange) -> NodeTypes:
    """Return the types of all nodes by their numbers, those that come among them."""
    numbers = {name: number for number, name in enumerate(graph.arrays.manifest.node_types)}
    coming = type_numbers([node.type for node in change.nodes], numbers)
    return NodeTypes(np.concatenate([graph.arrays.node_types, coming]), list(numbers))


def check_size(changes: Mapping[str, TypeChange], manifest: Manifest) -> None:
    """Raise `ImportWhole` where so many edges come or go that an import takes no longer."""
    count = sum(change.added + change.removed for change in changes.values())
    if count > max(LEAST_EDGES, MOST_EDGES * manifest.edges):
        raise ImportWhole(f"more than {MOST_EDGES:.0%} of the edges come or go")


def cuts_after(cuts: Mapping[str, TypeCuts], changes: Mapping[str, TypeChange]) -> dict[str, TypeCuts]:
    """Return the rows by type that are no edges, after the changes."""
    after = {name: of_type for name, of_type in cuts.items() if name not in changes}
    after |= {name: each.cuts for name, each in changes.items()}
    return {name: of_type for name, of_type in after.items() if of_type != TypeCuts()}


def revision_of(
    graph: Graph,
    change: NodeChange,
    changes: Mapping[str, TypeChange],
    *,
    extras: Mapping[int, Mapping[int, Extra]],
    named: Sequence[str],
    symmetric: Collection[str],
) -> Revision:
    """Return the revision of a graph by its changes.

    `extras` has what the edges that come carry, by table and row; `named` are the types of edges that rows name, and
    `symmetric` those without a direction.
    """
    stays = change.stays
    lost = []
    for name, each in changes.items():
        sources, targets = (
            (each.lost >> np.uint64(32)).astype(np.int64),
            (each.lost & np.uint64(0xFFFFFFFF)).astype(np.int64),
        )
        both = stays[sources] & stays[targets]
        lost += [
            (source, name, target)
            for source, target in zip(sources[both].tolist(), targets[both].tolist(), strict=True)
        ]
    return Revision(
        change.gone_rows,
        [*change.nodes, *change.renewed.values()],
        list(_batches(graph, change, changes, extras)),
        lost,
        frozenset(symmetric),
        named,
        frozenset(changes) - frozenset(symmetric),
        [node.id for node in change.renewed.values()],
    )


def _batches(
    graph: Graph, change: NodeChange, changes: Mapping[str, TypeChange], extras: Mapping[int, Mapping[int, Extra]]
) -> Iterator[EdgeBatch]:
    """Yield the edges that come, type by type."""
    for name, each in changes.items():
        if not len(each.sources):
            continue
        carried = [
            extras[table].get(row) if has_extra else None
            for table, row, has_extra in zip(each.table.tolist(), each.row.tolist(), each.extras.tolist(), strict=True)
        ]
        yield EdgeBatch(
            _ids(graph, change, each.sources),
            CodedColumn([name], np.zeros(len(each.sources), np.int32)),
            _ids(graph, change, each.targets),
            carried if any(carried) else None,
        )


def _ids(graph: Graph, change: NodeChange, numbers: Numbers) -> CodedColumn:
    """Return the ids of nodes, each once."""
    distinct, codes = np.unique(numbers, return_inverse=True)
    ids, nodes = graph.arrays.ids, change.nodes
    values = [ids[number] if number < change.size else nodes[number - change.size].id for number in distinct.tolist()]
    return CodedColumn(values, codes)


def carried_pieces(graph: Graph, revision: Revision, notes: list[str]) -> dict[str, Piece]:
    """Return what writes the pieces that go on beside the next generation; note those that a command makes anew."""
    made = read_pointer(graph.path).pieces
    lost = [name for name in made if not is_free(name) and name != vectors.PIECE]
    notes += [f"{name}: made anew by orienteer {command_of(name)} {graph.path}" for name in lost]
    if vectors.read_about(graph.path) is None:
        return {}
    return {vectors.PIECE: carried_vectors(graph, revision, notes.append)}
