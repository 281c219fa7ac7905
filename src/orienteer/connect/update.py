"""`import --update` of a database: reads the changes, or everything if these are unknown.

A property tells which nodes and edges are new or changed. Counts tell what went: if there are fewer nodes than
expected, all their ids are read, and if the number of edges of a type differs, all edges of that type.
"""

from __future__ import annotations

import time
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import islice
from pathlib import Path
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from orienteer.connect.bolt import Server
from orienteer.connect.source import (
    READING_EDGES,
    READING_NODES,
    TOLD_EVERY,
    Database,
    DatabaseChanges,
    DatabaseCounts,
    DatabaseMarks,
    count_all,
    imported_database,
    newest,
    telling_labels,
)
from orienteer.errors import BadInput, BadOption
from orienteer.graph import pieces, publication
from orienteer.graph.builder import Progress
from orienteer.graph.edges import EdgeTable, NodeNumbers, id_hashes
from orienteer.graph.format import Manifest, is_graph, read_manifest, read_pointer
from orienteer.graph.properties import encode_value
from orienteer.graph.store import Graph
from orienteer.ingest.formats.element_maker import LABELS, ElementMaker
from orienteer.ingest.formats.elements import EdgeElement
from orienteer.ingest.importer import ImportOptions
from orienteer.ingest.report import Tally, peak_bytes
from orienteer.ingest.tables import mirror
from orienteer.ingest.tables.columns import EDGE_RANKS, Columns, plainly
from orienteer.ingest.tables.edges import Extra
from orienteer.ingest.tables.mapping import FileMapping
from orienteer.ingest.tables.mirror import end_keys
from orienteer.ingest.update.difference import (
    MOST_EDGES,
    Difference,
    FullImportRequired,
    NodeChange,
    NodeTypes,
    TypeChange,
    check_edge_count,
    check_node_count,
    count_rows,
    cuts_after,
    edge_changes,
    publish,
    resolved,
    touched_ends,
)
from orienteer.ingest.update.ledger import (
    PIECE,
    EdgeRows,
    Ledger,
    LedgerAbout,
    LedgerFile,
    NodeRows,
    TypeCuts,
    joined,
    read_ledger,
    write_ledger,
)
from orienteer.ingest.update.report import DatabaseRead, UpdateReport, changed_counts, graph_facts, tally_of
from orienteer.ingest.update.rows import edge_rows
from orienteer.ingest.update.update import as_made, options_differ
from orienteer.records import Node
from orienteer.version import __version__


def update_database(
    server: Server, target: Path, *, options: ImportOptions, progress: Progress | None = None
) -> UpdateReport:
    """Update the graph at the target: afterwards it is what an import of the database would make.

    `options.changed_by` is a property that rises with every change; if it is empty, that of the last time. What it
    cannot tell is imported in full, and the report says why. Raises `BadOption` if no property is known, `BadInput` for
    a graph of another source or other options, unless `options.force` is set, and as `import_database`.
    """
    started = time.perf_counter()
    manifest = read_manifest(target, read_pointer(target)) if is_graph(target) else None
    ledger = None if manifest is None else read_ledger(target, manifest.generation)
    origin = {} if manifest is None else manifest.provenance.get("database", {})
    changed_by = options.changed_by or origin.get("changed_by", "")
    if not changed_by:
        raise BadOption(
            f"--update of {server.address} needs --changed-by PROPERTY, a property that rises whenever a node or an "
            "edge changes; without one leave out --update, and import everything with --force"
        )
    options = options.model_copy(update={"changed_by": changed_by})
    if manifest is None:
        return _import_all(server, target, options, progress, f"{target} was no graph")
    options = as_made(manifest, options)
    if other := _other_than_before(manifest, server, options, target):
        if not options.force:
            raise BadInput(f"{other}: --force imports it whole, or name another folder with -o")
        return _import_all(server, target, options, progress, other)
    try:
        report = _update_by_marks(server, target, manifest, ledger, options, progress)
    except FullImportRequired as why:
        return _import_all(server, target, options, progress, str(why))
    return report.model_copy(update={"seconds": time.perf_counter() - started, "peak_bytes": peak_bytes()})


def _other_than_before(manifest: Manifest, server: Server, options: ImportOptions, target: Path) -> str:
    """Return the difference from the source or the options that made a graph, or an empty text."""
    address = manifest.provenance.get("database", {}).get("address")
    if address is None:
        return f"{target} was made of files, and not of {server.address}"
    if address != str(server.address):
        return f"{target} was made of {address}"
    return options_differ(manifest, options, target)


def _update_by_marks(
    server: Server,
    target: Path,
    manifest: Manifest,
    ledger: Ledger | None,
    options: ImportOptions,
    progress: Progress | None,
) -> UpdateReport:
    """Publish the next generation of a graph. Raises `FullImportRequired`, and then nothing has changed."""
    if manifest.made_by != __version__:
        raise FullImportRequired(f"version {manifest.made_by} made the graph, and this is {__version__}")
    if ledger is None or ledger.about.database is None:
        raise FullImportRequired("nothing was noted of its edges yet, which the next update will know")
    marks, now = DatabaseMarks.model_validate(ledger.about.database), options.changed_by
    if marks.changed_by != now:
        raise FullImportRequired(f"the last import followed {marks.changed_by!r}, and this one follows {now!r}")
    if ledger.about.why_whole:
        raise FullImportRequired(ledger.about.why_whole)
    with publication.publishing(target) as work:
        graph = Graph.open(target)
        if graph.generation != ledger.about.generation:
            raise FullImportRequired("the graph was published again meanwhile")
        return _MarkUpdate(server, graph, ledger, marks, options, progress).publish(work)


# ------------------------------------------------------------------------------------------------------- full import


@dataclass(slots=True)
class _ImportedEdges:
    """The edges of an import that join two nodes, before equal ones are merged."""

    ids: Sequence[str] = ()
    """The ids of the nodes by number."""
    rows: EdgeRows | None = None
    unsure: tuple[str, ...] = ()
    """Edge types with an edge to a missing node."""

    def take(self, table: EdgeTable) -> None:
        """Copy the edges."""
        is_there = (table.source >= 0) & (table.target >= 0)
        self.unsure = tuple(table.type_names[kind] for kind in np.unique(table.type[~is_there]).tolist())
        self.ids = table.node_ids
        extras = table.extra if table.has_extras else None
        rows = EdgeRows(table.source[:], table.target[:], table.type[:], tuple(table.type_names), extras)
        self.rows = rows.where(is_there)


def _import_all(
    server: Server, target: Path, options: ImportOptions, progress: Progress | None, why: str
) -> UpdateReport:
    """Import everything, and write the ledger."""
    started = time.perf_counter()
    # Before anything is read: what changes meanwhile is read again.
    newest_values = newest(server, options.changed_by)
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
    why_whole = ""
    if options.explode:
        why_whole = "--explode makes nodes of the members of lists"
    elif {"type", "edge_type"} & options.columns.keys():
        why_whole = "the types of edges come from a property"
    elif options.labels is not None:
        why_whole = "--labels names types by a table"
    graph = Graph.open(target)
    manifest = graph.arrays.manifest
    numbers = NodeNumbers(id_hashes(graph.arrays.ids), np.arange(len(graph), dtype=np.int32))
    # Edges and nodes are found by hashes of their ids.
    if not numbers.is_exact:
        why_whole = "two ids have the same hash"
    assert seen.rows is not None  # the import has shown them
    rows = seen.rows.placed(numbers.find(seen.ids))
    nodes = NodeRows(id_hashes(database.own_ids), numbers.find(database.node_ids))
    counts = count_rows([rows], NodeTypes(graph.arrays.node_types, list(manifest.node_types)))
    about = LedgerAbout(
        generation=manifest.generation,
        tables=_tables_of(str(database.server.address), rows),
        why_whole=why_whole,
        cuts={name: count.cuts for name, count in counts.items() if count.cuts != TypeCuts()},
        database=marks.model_dump(mode="json"),
    )
    pieces.publish_piece(target, PIECE, lambda folder: write_ledger(folder, about, [] if why_whole else [rows, nodes]))
    costs = {"seconds": time.perf_counter() - started, "peak_bytes": peak_bytes()}
    return UpdateReport(
        **{**dict(made), **costs, "whole": why},
        database=DatabaseRead(address=str(server.address), nodes=database.counts.nodes, edges=database.counts.edges),
    )


def _tables_of(address: str, rows: EdgeRows) -> tuple[LedgerFile, LedgerFile]:
    """Return the edges and the nodes of a database as two tables without a file."""
    no_file: dict[str, Any] = {"bytes": 0, "modified": 0, "sha256": ""}  # Any: fields of a record
    edges = FileMapping(file=address, kind="edges", columns={"source": "source", "target": "target"})
    nodes = FileMapping(file=address, kind="nodes", columns={"id": "id"})
    has_extras = rows.extras is not None
    return (
        LedgerFile(**no_file, path=address, mapping=edges, edge_types=rows.types, has_extras=has_extras),
        LedgerFile(**no_file, path=f"{address}#nodes", mapping=nodes),
    )


# -------------------------------------------------------------------------------------------------------- what changed


class _MarkUpdate:
    """One update."""

    def __init__(
        self,
        server: Server,
        graph: Graph,
        ledger: Ledger,
        marks: DatabaseMarks,
        options: ImportOptions,
        progress: Progress | None,
    ) -> None:
        self._server, self._graph, self._ledger, self._marks, self._options = server, graph, ledger, marks, options
        self._progress: Progress = progress or (lambda stage, count: None)
        self._tally = Tally(hides_rows=bool(options.private))
        columns = Columns(options.columns, options.private, text_from=options.text_from)
        self._database = Database(server, columns, self._tally, {}, marks.id_property, dict.fromkeys(marks.edge_names))
        self._maker = ElementMaker(self._database, self._database.columns_but_the_id, self._tally)
        self._changes = DatabaseChanges(self._database, marks)
        self._known = ledger.nodes(ledger.about.tables[1].path)
        # The ids of the nodes that were read, by the database's own.
        self._read: dict[str, str] = {}
        self._edges_read = 0
        self._whole_types: tuple[str, ...] = ()
        self._unsure: set[str] = set()
        # Texts, weights and properties of the edges that may be new or changed.
        self._contents: dict[_Content, Extra] = {}

    def publish(self, work: Path) -> UpdateReport:
        """Publish the next generation. Raises `FullImportRequired`, and then nothing has changed."""
        graph, manifest = self._graph, self._graph.arrays.manifest
        # First: what changes meanwhile is read next time.
        marks = newest(self._server, self._marks.changed_by)
        self._progress("counting", 0)
        counts = self._checked_counts()
        change = self._node_change(counts)
        numbers = change.numbering(graph)
        now, changes = self._edge_changes(change, numbers)
        nodes_now = self._nodes_now(change, numbers)
        check_edge_count(changes, manifest)
        names = self._database.edge_names
        weights = [name for name in names if EDGE_RANKS.get(plainly(name), ("", 0))[0] == "weight"]
        # An import would take the better one.
        if len(weights) > 1 and not {*weights} <= {*self._marks.edge_names}:
            raise FullImportRequired(f"edges have a weight by {weights[-1]!r} now, besides {weights[0]!r}")
        self._check_node_types(change, counts)
        marks_after = self._marks.model_copy(
            update={
                **marks._asdict(),
                "labels": dict(counts.labels),
                "sets": tuple(counts.sets.items()),
                "unsure": tuple(sorted(self._unsure)),
                "edge_names": tuple(names),
            }
        )
        about = LedgerAbout(
            generation=manifest.generation,
            tables=_tables_of(str(self._server.address), now),
            cuts=cuts_after(self._ledger.about.cuts, changes),
            database=marks_after.model_dump(mode="json"),
        )
        if self._options.strict and (about.cuts or self._tally.dropped or self._tally.merged):
            raise FullImportRequired("--strict, and some edge would be dropped or merged")
        symmetric = [name for name, each in changes.items() if each.is_symmetric]
        extras = {0: self._extras(changes, now, numbers)}
        difference = Difference(change, changes, now.types, symmetric, extras)
        differing_rows = sum(cuts.differing for cuts in about.cuts.values())
        notes = [*self._tally.notes, *([mirror.differing_note(differing_rows)] if differing_rows else [])]
        tally = tally_of(about, {})
        for cut in self._tally.dropped:
            tally.drop(cut.reason, cut.first, cut.count)
        made = publish(
            graph,
            difference,
            work,
            about=about,
            rows=[now, nodes_now],
            provenance={**manifest.provenance, "dropped": tally.lost},
            facts={"partial": self._partial(change, now)},
            notes=notes,
        )
        address, nodes = str(self._server.address), len(self._read)
        read = DatabaseRead(address=address, nodes=nodes, edges=self._edges_read, whole_types=self._whole_types)
        return UpdateReport(
            **graph_facts(made, tally), **changed_counts(graph, difference), notes=tuple(notes), database=read
        )

    # --------------------------------------------------------------------------------------------------------- nodes

    def _checked_counts(self) -> DatabaseCounts:
        """Count the nodes. Raises `FullImportRequired` if unchanged nodes may have another id or type now."""
        counts, before = count_all(self._server), self._marks.counts
        if not counts.nodes:
            raise FullImportRequired("it holds no node")
        try:
            id_property = self._database.choose_ids()
        except BadInput as error:
            raise FullImportRequired(str(error)) from error
        if id_property != self._marks.id_property:
            was, is_now = (repr(name) if name else "the database" for name in (self._marks.id_property, id_property))
            raise FullImportRequired(f"the ids of nodes came from {was}, and come from {is_now} now")
        for names in before.sets.keys() & counts.sets.keys():
            labels = telling_labels(names, before), telling_labels(names, counts)
            if labels[0] != labels[1]:
                raise FullImportRequired(
                    f"nodes were read as {', '.join(labels[0])}, and are {', '.join(labels[1])} now"
                )
        return counts

    def _node_change(self, counts: DatabaseCounts) -> NodeChange:
        """Read the nodes that changed, and compare them with the graph. Raises `FullImportRequired`."""
        arrays, size = self._graph.arrays, len(self._graph)
        coming: dict[str, Node] = {}
        renewed: dict[int, Node] = {}
        # Rows of nodes that now have another type.
        turned: set[int] = set()
        for element in self._changes.nodes(counts):
            if len(self._read) % TOLD_EVERY == 0:
                self._progress(READING_NODES, len(self._read))
            self._read[element.own_id] = element.id
            node = self._maker.node(element)
            row = arrays.ids.find(node.id)
            if row is None:
                coming[node.id] = node
            elif arrays.types.nodes[arrays.node_types[row]] != node.type:
                coming[node.id] = node
                turned.add(row)
            elif _content(arrays.node_at(row)) != _content(node):
                renewed[row] = node
            check_node_count(len(coming) + len(renewed), size)
        gone = turned
        if size + len(coming) - len(turned) != counts.nodes:
            gone = turned | self._gone(coming, counts)
        renewed = {row: node for row, node in renewed.items() if row not in gone}
        rows = np.array(sorted(gone), np.int32)
        return NodeChange(size, rows, [coming[node_id] for node_id in sorted(coming)], renewed)

    def _gone(self, coming: Mapping[str, Node], counts: DatabaseCounts) -> set[int]:
        """Return the rows of nodes that the database no longer has. Raises `FullImportRequired` for unknown ids."""
        is_there = np.zeros(len(self._graph), np.bool_)
        unknown: set[str] = set()
        for node_id in self._changes.ids():
            row = self._graph.arrays.ids.find(node_id)
            if row is not None:
                is_there[row] = True
            elif node_id.strip() and node_id not in coming:
                unknown.add(node_id)
        # Nodes that came meanwhile say so, and are read next time.
        if unknown:
            unknown -= {element.id for element in self._changes.nodes(counts)}
        if unknown:
            raise FullImportRequired(
                f"the node {min(unknown)!r} is new, and its {self._marks.changed_by!r} does not say so"
            )
        return set(np.flatnonzero(~is_there).tolist())

    def _nodes_now(self, change: NodeChange, numbers: NodeNumbers) -> NodeRows:
        """Return the nodes of today by the hashes of the database's own ids."""
        came = NodeRows(id_hashes(self._read.keys()), numbers.find(list(self._read.values())))
        stays = change.stays[self._known.nodes] & ~np.isin(self._known.hashes, came.hashes)
        stays &= ~np.isin(self._known.nodes, came.nodes)
        return NodeRows(
            np.concatenate([self._known.hashes[stays], came.hashes]),
            np.concatenate([self._known.nodes[stays], came.nodes]),
        )

    def _moved(self) -> NDArray[np.bool_]:
        """Mark the rows that are another node of the database now, or have another id: (rows,)."""
        known = NodeNumbers(self._known.hashes, self._known.nodes)
        before = known.find(list(self._read))
        find = self._graph.arrays.ids.find
        now = np.array([-1 if (row := find(node_id)) is None else row for node_id in self._read.values()], np.int32)
        # The last is for nodes that the graph lacked.
        moved = np.zeros(len(self._graph) + 1, np.bool_)
        moved[before[before != now]] = True
        moved[now[before != now]] = True
        return moved[:-1]

    def _check_node_types(self, change: NodeChange, counts: DatabaseCounts) -> None:
        """Raise `FullImportRequired` if nodes have other types by their labels: then some changed without saying so."""
        if {"type", "node_type"} & self._options.columns.keys() or LABELS in self._options.private or () in counts.sets:
            # Types do not come from labels alone.
            return
        updated, by_labels = self._count_nodes(change), _count_by_labels(counts)
        if all(updated.get(name, 0) == count for name, count in by_labels.items()):
            return
        # The database may have changed while it was read: any count between the two is right.
        later = _count_by_labels(count_all(self._server))
        for name in sorted(by_labels.keys() | later.keys()):
            low, high = sorted([by_labels.get(name, 0), later.get(name, 0)])
            if not low <= updated.get(name, 0) <= high:
                raise FullImportRequired(
                    f"{later.get(name, 0):,} nodes are of the type {name!r}, and by {self._marks.changed_by!r} "
                    f"{updated.get(name, 0):,} would be"
                )

    # --------------------------------------------------------------------------------------------------------- edges

    def _edge_changes(self, change: NodeChange, numbers: NodeNumbers) -> tuple[EdgeRows, dict[str, TypeChange]]:
        """Read the edges that changed; return all rows of today, and the change of each type."""
        path, cuts, types = self._ledger.about.tables[0].path, self._ledger.about.cuts, change.types(self._graph)
        before = self._ledger.edges(path)
        whole: set[str] = set()
        while True:
            now = self._edges_now(before, change, numbers, whole)
            changes = edge_changes({path: before}, {path: now}, types, cuts, self._graph.arrays.manifest.edge_types)
            mirrored = {name for name, of_type in cuts.items() if of_type.mirrored}
            mirrored |= {name for name, each in changes.items() if each.cuts.mirrored}
            turned = (mirrored & changes.keys()) - {*self._whole_types} - whole
            if not turned:
                return now, changes
            # Which of mirrored rows are kept depends on the order of all of them.
            whole |= turned

    def _edges_now(
        self, before: EdgeRows, change: NodeChange, numbers: NodeNumbers, also_whole: Collection[str]
    ) -> EdgeRows:
        """Return the rows of all edges of today: unchanged ones, changed ones, and types that were read in full."""
        self._edges_read = 0
        counts = self._changes.edge_counts()
        telling = {
            name
            for name, count in counts.items()
            if name not in also_whole
            and name not in self._marks.unsure
            and count.telling == count.edges
            # Beyond this share, reading all of them costs less.
            and count.newer <= MOST_EDGES * count.edges
        }
        types = {name: number for number, name in enumerate(before.types)}
        # Edges of moved nodes still exist, and need not say that they changed.
        moved = self._moved()
        untold = np.bincount(before.kinds[moved[before.sources] | moved[before.targets]], minlength=len(types))
        telling -= {name for name, number in types.items() if untold[number]}
        staying = _between_nodes(resolved(before, change, numbers, self._graph))
        changed = self._read_edges(self._changes.edges(telling), numbers, types, self._contents)
        goes, comes = _differing(staying, changed)
        staying, changed = staying.where(~goes), changed.where(comes)
        there = np.bincount(np.concatenate([staying.kinds, changed.kinds]), minlength=len(types))
        whole = [
            name
            for name in dict.fromkeys([*types, *counts])
            if name not in telling or name not in types or there[types[name]] != counts[name].edges
        ]
        left = [types[name] for name in whole if name in types]
        self._whole_types = tuple(name for name in whole if name in counts)
        read = [self._read_edges(self._changes.edges_of(name), numbers, types) for name in self._whole_types]
        rows = joined([*(rows.where(~np.isin(rows.kinds, left)) for rows in (staying, changed)), *read], tuple(types))
        # Types without an edge are left out, as in an import.
        used = np.flatnonzero(np.bincount(rows.kinds, minlength=len(types)))
        number = np.zeros(len(types), np.uint16)
        number[used] = np.arange(len(used), dtype=np.uint16)
        return replace(rows, kinds=number[rows.kinds], types=tuple(rows.types[kind] for kind in used.tolist()))

    def _read_edges(
        self,
        elements: Iterable[EdgeElement],
        numbers: NodeNumbers,
        types: dict[str, int],
        contents: dict[_Content, Extra] | None = None,
        wanted: Collection[_Content] | None = None,
    ) -> EdgeRows:
        """Read edges; new types get the next numbers. What they carry is put into `contents`, if it is `wanted`."""
        parts: list[EdgeRows] = []
        remaining = iter(elements)
        while some := list(islice(remaining, TOLD_EVERY)):
            self._edges_read += len(some)
            self._progress(READING_EDGES, self._edges_read)
            batch = self._maker.edges(some)
            parts.append(edge_rows(batch, numbers.find, types))
            if contents is not None and batch.extras is not None:
                for key, extra in zip(_contents(parts[-1]), batch.extras, strict=True):
                    if extra and (wanted is None or key in wanted):
                        contents[key] = dict(extra)
        rows = joined(parts, tuple(types))
        self._unsure |= {rows.types[kind] for kind in np.unique(rows.kinds[rows.stray]).tolist()}
        return _between_nodes(rows)

    def _extras(self, changes: Mapping[str, TypeChange], now: EdgeRows, numbers: NodeNumbers) -> dict[int, Extra]:
        """Return the texts, weights and properties of the edges that come, by row."""
        is_wanted = np.zeros(len(now), np.bool_)
        for each in changes.values():
            is_wanted[each.row[each.extras != 0]] = True
        if not is_wanted.any():
            return {}
        wanted = list(_contents(now.where(is_wanted)))
        missing = set(wanted) - self._contents.keys()
        types = {name: number for number, name in enumerate(now.types)}
        read_once = self._edges_read
        # Of types that were read in full no content was kept: it is read again, for the wanted edges alone.
        for name in sorted({name for name, *_ in missing}):
            self._read_edges(self._changes.edges_of(name), numbers, types, self._contents, missing)
        self._edges_read = read_once
        if not missing <= self._contents.keys():
            raise FullImportRequired("it changed while it was read")
        return dict(zip(np.flatnonzero(is_wanted).tolist(), map(self._contents.__getitem__, wanted), strict=True))

    def _partial(self, change: NodeChange, now: EdgeRows) -> tuple[str, ...]:
        """Return the types marked partial. Raises `FullImportRequired` if one is gone."""
        nodes = {name for name, count in self._count_nodes(change).items() if count}
        if missing := {*self._options.partial} - nodes - {*now.types}:
            # A full import follows, and its message explains the remedy.
            raise FullImportRequired(f"nothing is of the type {min(missing)!r}")
        return tuple(sorted({*self._options.partial}))

    def _count_nodes(self, change: NodeChange) -> dict[str, int]:
        """Count the nodes by type after a change."""
        types = change.types(self._graph)
        stays = np.concatenate([change.stays, np.ones(len(change.nodes), np.bool_)])
        counts = np.bincount(types.numbers[stays], minlength=len(types.names)).tolist()
        return dict(zip(types.names, counts, strict=True))


def _content(node: Node) -> tuple[object, ...]:
    """Return a node's content for comparison, without id and type. In Python 1 equals True, so values are encoded."""
    properties = {name: encode_value(value) for name, value in node.properties.items()}
    return node.name or node.id, node.text, node.aliases, properties


def _count_by_labels(counts: DatabaseCounts) -> dict[str, int]:
    """Count the nodes by type, as their labels say; nodes without a label are not counted."""
    types: dict[str, int] = {}
    for names, count in counts.sets.items():
        for name in telling_labels(names, counts)[:1]:
            types[name] = types.get(name, 0) + count
    return types


# The type of an edge, the numbers of its ends, and the hash of its text, weight and properties.
_Content: TypeAlias = tuple[str, int, int, int]


def _contents(rows: EdgeRows) -> Iterator[_Content]:
    names = [rows.types[kind] for kind in rows.kinds.tolist()]
    return zip(names, rows.sources.tolist(), rows.targets.tolist(), rows.extra_hashes.tolist(), strict=True)


def _between_nodes(rows: EdgeRows) -> EdgeRows:
    """Return the rows that join two nodes."""
    return rows.where((rows.sources >= 0) & (rows.targets >= 0))


def _differing(rows: EdgeRows, others: EdgeRows) -> tuple[NDArray[np.bool_], NDArray[np.bool_]]:
    """Mark the rows and the others that differ between the same ends; rows whose ends `others` lacks are unmarked."""
    marks = np.zeros(len(rows), np.bool_), np.zeros(len(others), np.bool_)
    for kind in np.unique(others.kinds).tolist():
        both = (rows, others)
        at = [np.flatnonzero(one.kinds == kind) for one in both]
        keys = [end_keys(one.sources[of_kind], one.targets[of_kind]) for one, of_kind in zip(both, at, strict=True)]
        is_read = np.isin(keys[0], keys[1])
        at[0], keys[0] = at[0][is_read], keys[0][is_read]
        extras = [one.extra_hashes[of_kind] for one, of_kind in zip(both, at, strict=True)]
        touched, _, _ = touched_ends((keys[0], extras[0]), (keys[1], extras[1]))
        for mark, of_kind, ends in zip(marks, at, keys, strict=True):
            mark[of_kind] = np.isin(ends, touched)
    return marks
