"""A new generation of a graph out of its last one and what is new in its database.

A property tells which nodes and edges are new or changed. Counts tell what went: where fewer nodes are there than
should be, their ids are read, and where another number of edges of a type, all edges of that type.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import islice
from pathlib import Path

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
    Newest,
    count_all,
    counts_of,
    imported_database,
    newest,
    telling_labels,
)
from orienteer.errors import BadInput, BadOption
from orienteer.graph import pieces, publication
from orienteer.graph.builder import Progress
from orienteer.graph.edges import EdgeBatch, EdgeTable, NodeNumbers, id_hashes, type_numbers
from orienteer.graph.format import Manifest, is_graph, read_manifest, read_pointer
from orienteer.graph.properties import encode_value
from orienteer.graph.revision import revise
from orienteer.graph.store import Graph
from orienteer.index.postings import Layout
from orienteer.ingest.formats.apoc import LABELS
from orienteer.ingest.formats.element_maker import ElementMaker
from orienteer.ingest.formats.elements import EdgeElement
from orienteer.ingest.importer import ImportOptions
from orienteer.ingest.report import Tally, peak_bytes
from orienteer.ingest.tables import mirror
from orienteer.ingest.tables.columns import EDGE_RANKS, Columns, plainly
from orienteer.ingest.tables.edges import Extra
from orienteer.ingest.update.by_rows import (
    MOST_EDGES,
    carried_pieces,
    check_size,
    cuts_after,
    node_types_of,
    revision_of,
)
from orienteer.ingest.update.edge_changes import (
    Content,
    EdgeComparison,
    NodeTypes,
    TypeChange,
    between_nodes,
    chosen_rows,
    contents,
    count_rows,
    count_types,
    differing,
    joined_rows,
    resolved,
    rows_of,
)
from orienteer.ingest.update.ledger import (
    PIECE,
    DatabaseMarks,
    EdgeRows,
    Ledger,
    LedgerAbout,
    NodeRows,
    TypeCuts,
    read_ledger,
    tables_of,
    write_ledger,
)
from orienteer.ingest.update.node_changes import EdgeColumns, ImportWhole, NodeChange, check_count, extra_hashes
from orienteer.ingest.update.report import DatabaseRead, UpdateReport, compared, graph_facts, tally_of
from orienteer.ingest.update.update import options_differ
from orienteer.records import Node
from orienteer.version import __version__


class MarkUpdate:
    """One update. Each method does one part of it."""

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
        columns = Columns(options.columns, options.private)
        self._database = Database(server, columns, self._tally, {}, marks.id_property, dict.fromkeys(marks.edge_names))
        self._maker = ElementMaker(self._database, self._database.columns_but_the_id, self._tally)
        self._changes = DatabaseChanges(self._database, marks)
        self._known = ledger.nodes(ledger.about.tables[1].path)
        self._read: dict[str, str] = {}
        """The ids of the nodes that were read, by the database's own."""
        self._edges_read = 0
        self._whole_types: tuple[str, ...] = ()
        self._unsure: set[str] = set()
        self._contents: dict[Content, Extra] = {}
        """What the edges carry that may be new or changed."""

    def publish(self, work: Path) -> UpdateReport:
        """Publish the next generation. Raises `ImportWhole`, and nothing is changed then."""
        graph, manifest = self._graph, self._graph.arrays.manifest
        marks = newest(self._server, self._marks.changed_by)  # first: what changes meanwhile is read next time
        self._progress("counting", 0)
        counts = self._checked_counts()
        change = self._node_change(counts)
        numbers = change.numbering(graph)
        now, changes = self._edge_changes(change, numbers)
        nodes_now = self._nodes_now(change, numbers)
        check_size(changes, manifest)
        self._check_names()
        self._check_node_types(change, counts)
        about = LedgerAbout(
            generation=manifest.generation,
            tables=tables_of(str(self._server.address), now),
            cuts=cuts_after(self._ledger.about.cuts, changes),
            database=self._marks_after(marks, counts),
        )
        if self._options.strict and (about.cuts or self._tally.dropped or self._tally.merged):
            raise ImportWhole("--strict, and some edge would be dropped or merged")
        revision = revision_of(
            graph,
            change,
            changes,
            extras={0: self._extras(changes, now, numbers)},
            named=now.types,
            symmetric=[name for name, each in changes.items() if each.is_symmetric],
        )
        differing_rows = sum(cuts.differing for cuts in about.cuts.values())
        notes = [*self._tally.notes, *([mirror.differing_note(differing_rows)] if differing_rows else [])]

        def write(folder: Path, generation: str, layout: Layout) -> None:
            place = change.place(layout)
            rows = now.placed(place), nodes_now.placed(place)
            write_ledger(folder, about.model_copy(update={"generation": generation}), rows)

        made = revise(
            graph,
            revision,
            work,
            provenance=manifest.provenance,
            facts={"partial": self._partial(change, now)},
            pieces={PIECE: write, **carried_pieces(graph, revision, notes)},
        )
        return self._report(made, change, changes, about, notes)

    def _marks_after(self, marks: Newest, counts: DatabaseCounts) -> DatabaseMarks:
        """Return what is remembered for the next time."""
        facts = {
            **marks._asdict(),
            "labels": dict(counts.labels),
            "sets": tuple(counts.sets.items()),
            "unsure": tuple(sorted(self._unsure)),
            "edge_names": tuple(self._database.edge_names),
        }
        return self._marks.model_copy(update=facts)

    # --------------------------------------------------------------------------------------------------------- nodes

    def _checked_counts(self) -> DatabaseCounts:
        """Count the nodes. Raises `ImportWhole` where nodes that did not change may have another id or type now."""
        counts, before = count_all(self._server), counts_of(self._marks)
        if not counts.nodes:
            raise ImportWhole("it holds no node")
        try:
            id_property = self._database.choose_ids()
        except BadInput as error:
            raise ImportWhole(str(error)) from error
        if id_property != self._marks.id_property:
            was, is_now = (repr(name) if name else "the database" for name in (self._marks.id_property, id_property))
            raise ImportWhole(f"the ids of nodes were told by {was}, and are told by {is_now} now")
        for names in before.sets.keys() & counts.sets.keys():
            labels = telling_labels(names, before), telling_labels(names, counts)
            if labels[0] != labels[1]:
                raise ImportWhole(f"nodes were read as {', '.join(labels[0])}, and are {', '.join(labels[1])} now")
        return counts

    def _node_change(self, counts: DatabaseCounts) -> NodeChange:
        """Read the nodes that changed, and return which come and go. Raises `ImportWhole`."""
        arrays, size = self._graph.arrays, len(self._graph)
        coming: dict[str, Node] = {}
        renewed: dict[int, Node] = {}
        turned: set[int] = set()
        """Rows of nodes that have another type now."""
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
            elif _written(arrays.node_at(row)) != _written(node):
                renewed[row] = node
            check_count(len(coming) + len(renewed), size)
        gone = turned
        if size + len(coming) - len(turned) != counts.nodes:
            gone = turned | self._gone(coming, counts)
        renewed = {row: node for row, node in renewed.items() if row not in gone}
        rows = np.array(sorted(gone), np.int32)
        return NodeChange(size, rows, [coming[node_id] for node_id in sorted(coming)], renewed)

    def _gone(self, coming: Mapping[str, Node], counts: DatabaseCounts) -> set[int]:
        """Return the rows of the nodes that the database has no longer. Raises `ImportWhole` for ids that are new."""
        is_there = np.zeros(len(self._graph), np.bool_)
        unknown: set[str] = set()
        for node_id in self._changes.ids():
            row = self._graph.arrays.ids.find(node_id)
            if row is not None:
                is_there[row] = True
            elif node_id.strip() and node_id not in coming:
                unknown.add(node_id)
        if unknown:  # those that came meanwhile say so, and are read the next time
            unknown -= {element.id for element in self._changes.nodes(counts)}
        if unknown:
            raise ImportWhole(f"the node {min(unknown)!r} is new, and its {self._marks.changed_by!r} does not say so")
        return set(np.flatnonzero(~is_there).tolist())

    def _nodes_now(self, change: NodeChange, numbers: NodeNumbers) -> NodeRows:
        """Return the nodes by the hashes of the database's own ids, as they are now."""
        came = NodeRows(id_hashes(self._read.keys()), numbers.find(list(self._read.values())))
        stays = change.stays[self._known.nodes] & ~np.isin(self._known.hashes, came.hashes)
        stays &= ~np.isin(self._known.nodes, came.nodes)
        return NodeRows(
            np.concatenate([self._known.hashes[stays], came.hashes]),
            np.concatenate([self._known.nodes[stays], came.nodes]),
        )

    def _moved(self) -> NDArray[np.bool_]:
        """Mark the rows of nodes that are another node of the database now, or have another id: (rows,).

        Their edges are there still, and need not say that they changed.
        """
        known = NodeNumbers(self._known.hashes, self._known.nodes)
        before = known.find(list(self._read))
        find = self._graph.arrays.ids.find
        now = np.array([-1 if (row := find(node_id)) is None else row for node_id in self._read.values()], np.int32)
        moved = np.zeros(len(self._graph) + 1, np.bool_)  # the last is for nodes that were not there
        moved[before[before != now]] = True
        moved[now[before != now]] = True
        return moved[:-1]

    def _check_node_types(self, change: NodeChange, counts: DatabaseCounts) -> None:
        """Raise `ImportWhole` where labels tell other types than the nodes have: some changed without saying so."""
        if {"type", "node_type"} & self._options.columns.keys() or LABELS in self._options.private or () in counts.sets:
            return  # something else than labels tells a type
        updated, by_labels = self._count_nodes(change), _count_by_labels(counts)
        if all(updated.get(name, 0) == count for name, count in by_labels.items()):
            return
        later = _count_by_labels(count_all(self._server))  # it may have changed while it was read
        for name in sorted(by_labels.keys() | later.keys()):
            low, high = sorted([by_labels.get(name, 0), later.get(name, 0)])
            if not low <= updated.get(name, 0) <= high:
                raise ImportWhole(
                    f"{later.get(name, 0):,} nodes are of the type {name!r}, and by {self._marks.changed_by!r} "
                    f"{updated.get(name, 0):,} would be"
                )

    # --------------------------------------------------------------------------------------------------------- edges

    def _edge_changes(self, change: NodeChange, numbers: NodeNumbers) -> tuple[EdgeRows, dict[str, TypeChange]]:
        """Read the edges that changed; return all rows as they are now, and what becomes of the edges by type."""
        table, cuts, types = self._ledger.about.tables[0], self._ledger.about.cuts, node_types_of(self._graph, change)
        before = self._ledger.edges(table.path)
        whole: set[str] = set()
        while True:
            now = self._edges_now(before, change, numbers, whole)
            changes = EdgeComparison(
                {table.path: before}, {table.path: now}, types, cuts, self._graph.arrays.manifest.edge_types
            ).changes()
            mirrored = {name for name, of_type in cuts.items() if of_type.mirrored}
            mirrored |= {name for name, each in changes.items() if each.cuts.mirrored}
            turned = (mirrored & changes.keys()) - {*self._whole_types} - whole
            if not turned:
                return now, changes
            whole |= turned  # it depends on the order of all their rows which are kept

    def _edges_now(
        self, before: EdgeRows, change: NodeChange, numbers: NodeNumbers, also_whole: Collection[str]
    ) -> EdgeRows:
        """Return the rows of all edges as they are now: those that stay, those that changed, and types as a whole."""
        self._edges_read = 0
        counts = self._changes.edge_counts()
        telling = {
            name
            for name, count in counts.items()
            if name not in also_whole
            and name not in self._marks.unsure
            and count.telling == count.edges
            and count.newer <= MOST_EDGES * count.edges  # else all of them cost less
        }
        types = {name: number for number, name in enumerate(before.types)}
        moved = self._moved()
        untold = np.bincount(before.kinds[moved[before.sources] | moved[before.targets]], minlength=len(types))
        telling -= {name for name, number in types.items() if untold[number]}
        staying = between_nodes(resolved(before, change, numbers, self._graph))
        changed = self._read_edges(self._changes.edges(telling), numbers, types, note=self._note_contents)
        goes, comes = differing(staying, changed)
        staying, changed = chosen_rows(staying, ~goes), chosen_rows(changed, comes)
        there = count_types(staying, types) + count_types(changed, types)
        whole = [
            name
            for name in dict.fromkeys([*types, *counts])
            if name not in telling or name not in types or there[types[name]] != counts[name].edges
        ]
        left = [types[name] for name in whole if name in types]
        self._whole_types = tuple(name for name in whole if name in counts)
        read = [self._read_edges(self._changes.edges_of(name), numbers, types) for name in self._whole_types]
        parts = [chosen_rows(rows, ~np.isin(rows.kinds, left)) for rows in (staying, changed)]
        return joined_rows([*parts, *read], list(types))

    def _read_edges(
        self,
        elements: Iterable[EdgeElement],
        numbers: NodeNumbers,
        types: dict[str, int],
        *,
        note: Callable[[EdgeBatch, EdgeRows], None] | None = None,
    ) -> EdgeRows:
        """Read edges; types that are new get the next numbers. `note` is shown each batch with its rows."""
        columns = EdgeColumns()
        for batch in self._batches(elements):
            ends = numbers.find(batch.sources), numbers.find(batch.targets)
            kinds = type_numbers(batch.types, types)
            columns.add(batch, *ends, kinds)
            if note is not None and batch.extras is not None:
                note(batch, rows_of(*ends, kinds, list(types), extra_hashes(batch)))
        rows = columns.rows(tuple(types))
        self._unsure |= {rows.types[kind] for kind in np.unique(rows.kinds[rows.stray]).tolist()}
        return between_nodes(rows)

    def _batches(self, elements: Iterable[EdgeElement]) -> Iterator[EdgeBatch]:
        elements = iter(elements)
        while some := list(islice(elements, TOLD_EVERY)):
            self._edges_read += len(some)
            self._progress(READING_EDGES, self._edges_read)
            yield self._maker.edges(some)

    def _note_contents(self, batch: EdgeBatch, rows: EdgeRows) -> None:
        for key, extra in zip(contents(rows), batch.extras or (), strict=True):
            if extra:
                self._contents[key] = dict(extra)

    def _extras(self, changes: Mapping[str, TypeChange], now: EdgeRows, numbers: NodeNumbers) -> dict[int, Extra]:
        """Return what the edges that come carry, by row; of types that were read as a whole they are read again."""
        is_wanted = np.zeros(len(now), np.bool_)
        for each in changes.values():
            is_wanted[each.row[each.extras != 0]] = True
        if not is_wanted.any():
            return {}
        wanted = list(contents(chosen_rows(now, is_wanted)))
        missing = set(wanted) - self._contents.keys()
        types = {name: number for number, name in enumerate(now.types)}

        def note(batch: EdgeBatch, rows: EdgeRows) -> None:
            for key, extra in zip(contents(rows), batch.extras or (), strict=True):
                if key in missing and extra:
                    self._contents[key] = dict(extra)

        read_once = self._edges_read
        for name in sorted({name for name, *_ in missing}):
            self._read_edges(self._changes.edges_of(name), numbers, types, note=note)
        self._edges_read = read_once
        if not missing <= self._contents.keys():
            raise ImportWhole("it changed while it was read")
        return dict(zip(np.flatnonzero(is_wanted).tolist(), map(self._contents.__getitem__, wanted), strict=True))

    def _check_names(self) -> None:
        """Raise `ImportWhole` where edges have a second property that may give them a weight: the better one does."""
        names = self._database.edge_names
        weights = [name for name in names if EDGE_RANKS.get(plainly(name), ("", 0))[0] == "weight"]
        if len(weights) > 1 and not {*weights} <= {*self._marks.edge_names}:
            raise ImportWhole(f"edges have a weight by {weights[-1]!r} now, besides {weights[0]!r}")

    def _partial(self, change: NodeChange, now: EdgeRows) -> tuple[str, ...]:
        """Return the types that are marked partial. Raises `ImportWhole` where one is gone: an import says how."""
        nodes = {name for name, count in self._count_nodes(change).items() if count}
        if missing := {*self._options.partial} - nodes - {*now.types}:
            raise ImportWhole(f"nothing is of the type {min(missing)!r}")
        return tuple(sorted({*self._options.partial}))

    def _count_nodes(self, change: NodeChange) -> dict[str, int]:
        """Return how many nodes each type has after a change."""
        types = node_types_of(self._graph, change)
        stays = np.concatenate([change.stays, np.ones(len(change.nodes), np.bool_)])
        counts = np.bincount(types.numbers[stays], minlength=len(types.names)).tolist()
        return dict(zip(types.names, counts, strict=True))

    # -------------------------------------------------------------------------------------------------------- report

    def _report(
        self,
        manifest: Manifest,
        change: NodeChange,
        changes: Mapping[str, TypeChange],
        about: LedgerAbout,
        notes: Sequence[str],
    ) -> UpdateReport:
        tally = tally_of(about, {})
        for cut in self._tally.dropped:
            tally.drop(cut.reason, cut.first, cut.count)
        read = DatabaseRead(
            address=str(self._server.address),
            nodes=len(self._read),
            edges=self._edges_read,
            whole_types=self._whole_types,
        )
        return UpdateReport(
            **graph_facts(manifest, tally),
            **compared(self._graph, change, changes),
            notes=tuple(notes),
            database=read,
        )


def _written(node: Node) -> tuple[object, ...]:
    """Return what is written of a node beside its id and type; 1 and true, which are equal, are written otherwise."""
    properties = {name: encode_value(value) for name, value in node.properties.items()}
    return node.name or node.id, node.text, node.aliases, properties


def _count_by_labels(counts: DatabaseCounts) -> dict[str, int]:
    """Return how many nodes have each type by their labels; those without a label have none."""
    types: dict[str, int] = {}
    for names, count in counts.sets.items():
        for name in telling_labels(names, counts)[:1]:
            types[name] = types.get(name, 0) + count
    return types


# `import --update` of a database: what has changed is read, or everything where that cannot be told.


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
