"""`import --update` of a database: what has changed is read, or everything where that cannot be told."""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from orienteer.connect.bolt.server import Server
from orienteer.connect.source import Database
from orienteer.connect.update.by_marks import MarkUpdate
from orienteer.errors import BadInput, BadOption
from orienteer.graph import pieces, publication
from orienteer.graph.builder import Progress
from orienteer.graph.edges import EdgeTable, NodeNumbers, id_hashes
from orienteer.graph.format import Manifest, is_graph, read_manifest, read_pointer
from orienteer.graph.store import Graph
from orienteer.ingest.database import imported_database
from orienteer.ingest.formats.bolt_changes import DatabaseMarks, newest
from orienteer.ingest.importer import ImportOptions
from orienteer.ingest.report import peak_bytes
from orienteer.ingest.update.edge_changes import NodeTypes, count_rows
from orienteer.ingest.update.edge_rows import rows_of
from orienteer.ingest.update.ledger import (
    PIECE,
    EdgeRows,
    Ledger,
    LedgerAbout,
    NodeRows,
    TypeCuts,
    read_ledger,
    tables_of,
    write_ledger,
)
from orienteer.ingest.update.report import DatabaseRead, UpdateReport
from orienteer.ingest.update.sources import options_differ
from orienteer.ingest.update.whole import ImportWhole
from orienteer.version import __version__


def update_database(
    server: Server, target: Path, *, options: ImportOptions, progress: Progress | None = None
) -> UpdateReport:
    """Bring the graph at the target up to date with the database that it was imported from.

    `options.changed_by` is a property that rises with every change; where it is empty, it is that of the last time.
    What it cannot tell is imported as a whole, and the report says why. Raises `BadOption` where no property is known,
    `BadInput` for a graph that was made of something else, unless `options.force` is set, and as `import_database`.
    """
    started = time.perf_counter()
    manifest = read_manifest(target, read_pointer(target)) if is_graph(target) else None
    ledger = None if manifest is None else read_ledger(target, manifest.generation)
    marks = None if ledger is None else ledger.about.database
    origin = {} if manifest is None else manifest.provenance.get("database", {})
    changed_by = options.changed_by or origin.get("changed_by", "")
    if not changed_by:
        raise BadOption(
            f"--update of {server.address} needs --changed-by PROPERTY, a property that rises whenever a node or an "
            "edge changes; without one leave out --update, and import everything with --force"
        )
    options = options.model_copy(update={"changed_by": changed_by})
    if manifest is None:
        return _whole(server, target, options, progress, f"{target} was no graph")
    if other := _other_than_before(manifest, server, options, target):
        if not options.force:
            raise BadInput(f"{other}: --force imports it whole, or name another folder with -o")
        return _whole(server, target, options, progress, other)
    try:
        if manifest.made_by != __version__:
            raise ImportWhole(f"version {manifest.made_by} made the graph, and this is {__version__}")
        if ledger is None or marks is None:
            raise ImportWhole("nothing was noted of its edges yet, which the next update will know")
        if marks.changed_by != changed_by:
            raise ImportWhole(f"its changes were told by {marks.changed_by!r}, and are to be told by {changed_by!r}")
        if ledger.about.why_whole:
            raise ImportWhole(ledger.about.why_whole)
        report = _amended(server, target, ledger, marks, options, progress)
    except ImportWhole as why:
        return _whole(server, target, options, progress, str(why))
    return report.model_copy(update={"seconds": time.perf_counter() - started, "peak_bytes": peak_bytes()})


def _other_than_before(manifest: Manifest, server: Server, options: ImportOptions, target: Path) -> str:
    """Return how a graph was made of something else than this database, by these options; empty if it was not."""
    address = manifest.provenance.get("database", {}).get("address")
    if address is None:
        return f"{target} was made of files, and not of {server.address}"
    if address != str(server.address):
        return f"{target} was made of {address}"
    return options_differ(manifest, options, target)


# ------------------------------------------------------------------------------------------------------------- whole


@dataclass(slots=True)
class _ImportedEdges:
    """The edges of an import between its nodes, before equal ones are merged; their ends are numbers of these."""

    ids: Sequence[str] = ()
    rows: EdgeRows | None = None
    unsure: tuple[str, ...] = ()
    """Types of edges some of which join no two nodes."""

    def take(self, table: EdgeTable) -> None:
        """Copy the edges that join two nodes."""
        is_there = (table.source >= 0) & (table.target >= 0)
        self.unsure = tuple(table.type_names[kind] for kind in np.unique(table.type[~is_there]).tolist())
        there = np.flatnonzero(is_there)
        self.ids = table.node_ids
        self.rows = rows_of(
            table.source[there],
            table.target[there],
            table.type[there],
            table.type_names,
            table.extra[there] if table.has_extras else None,
        )


def _whole(server: Server, target: Path, options: ImportOptions, progress: Progress | None, why: str) -> UpdateReport:
    """Import everything, and note what each edge gave."""
    started = time.perf_counter()
    newest_values = newest(server, options.changed_by)  # before anything is read: what changes meanwhile is read again
    seen = _ImportedEdges()
    made, database = imported_database(
        server, target, options=options.model_copy(update={"force": True}), progress=progress, see_rows=seen.take
    )
    assert database.counts is not None  # it was read
    marks = DatabaseMarks(
        changed_by=options.changed_by,
        nodes=newest_values.nodes,
        edges=newest_values.edges,
        id_property=database.id_property,
        labels=dict(database.counts.labels),
        sets=tuple(database.counts.sets.items()),
        unsure=seen.unsure,
        edge_names=tuple(database.edge_names),
    )
    _note(target, marks, seen, database, _why_whole(options))
    costs = {"seconds": time.perf_counter() - started, "peak_bytes": peak_bytes()}
    return UpdateReport(
        **{**dict(made), **costs, "whole": why},
        database=DatabaseRead(address=str(server.address), nodes=database.counts.nodes, edges=database.counts.edges),
    )


def _why_whole(options: ImportOptions) -> str:
    """Return why a database is imported as a whole whatever changed; empty where it is not."""
    if options.explode:
        return "--explode makes nodes of the members of lists"
    if {"type", "edge_type"} & options.columns.keys():
        return "the types of edges are told by a property"
    return "--labels names types by a table" if options.labels is not None else ""


def _note(target: Path, marks: DatabaseMarks, seen: _ImportedEdges, database: Database, why_whole: str) -> None:
    """Write the ledger of a graph that was just imported."""
    graph = Graph.open(target)
    manifest = graph.arrays.manifest
    numbers = NodeNumbers(id_hashes(graph.arrays.ids), np.arange(len(graph), dtype=np.int32))
    if not numbers.is_exact:
        why_whole = "two ids have the same hash"
    assert seen.rows is not None  # the import has shown them
    rows = seen.rows.placed(numbers.find(seen.ids))
    nodes = NodeRows(id_hashes(database.own_ids), numbers.find(database.node_ids))
    counts = count_rows([rows], NodeTypes(graph.arrays.node_types, list(manifest.node_types)))
    about = LedgerAbout(
        generation=manifest.generation,
        tables=tables_of(str(database.server.address), rows),
        why_whole=why_whole,
        cuts={name: count.cuts for name, count in counts.items() if count.cuts != TypeCuts()},
        database=marks,
    )
    pieces.publish_piece(target, PIECE, lambda folder: write_ledger(folder, about, [] if why_whole else [rows, nodes]))


# -------------------------------------------------------------------------------------------------------- what changed


def _amended(
    server: Server,
    target: Path,
    ledger: Ledger,
    marks: DatabaseMarks,
    options: ImportOptions,
    progress: Progress | None,
) -> UpdateReport:
    """Make the next generation of a graph out of the last one. Raises `ImportWhole`, and nothing is changed then."""
    with publication.publishing(target) as work:
        graph = Graph.open(target)
        if graph.generation != ledger.about.generation:
            raise ImportWhole("the graph was published anew meanwhile")
        return MarkUpdate(server, graph, ledger, marks, options, progress).publish(work)
