"""`import --update`: a graph of tables follows its sources; only files and rows that changed are read."""

from __future__ import annotations

import time
from collections.abc import Collection, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import NamedTuple

import numpy as np

from orienteer.errors import BadInput, BadOption, DuplicateNode
from orienteer.graph import pieces, publication
from orienteer.graph.builder import Progress
from orienteer.graph.edges import NodeNumbers, id_hashes
from orienteer.graph.format import Manifest, is_graph, read_manifest, read_pointer
from orienteer.graph.revision import Revision, revise
from orienteer.graph.store import Graph
from orienteer.index.postings import Layout
from orienteer.ingest.importer import Importer, ImportOptions, given_paths, imported, written_options
from orienteer.ingest.provenance import (
    TableStamp,
    is_chunk_graph,
    is_stale,
    listed,
    new_files,
    settled,
    sources_of,
    table_stamp,
    unread_files,
)
from orienteer.ingest.report import EMPTY_ID, Ignored, Tally, peak_bytes
from orienteer.ingest.tables.edges import Extra
from orienteer.ingest.tables.kept import Decision
from orienteer.ingest.tables.mapping import IGNORED, FileMapping
from orienteer.ingest.tables.mirror import differing_note
from orienteer.ingest.tables.profile import with_nulls
from orienteer.ingest.update.difference import (
    Difference,
    FullImportRequired,
    NodeChange,
    NodeTypes,
    TypeChange,
    carried_pieces,
    check_edge_count,
    count_rows,
    cuts_after,
    edge_changes,
    publish,
    resolved,
)
from orienteer.ingest.update.ledger import (
    PIECE,
    EdgeRows,
    Ledger,
    LedgerAbout,
    LedgerFile,
    NodeRows,
    TypeCuts,
    read_ledger,
    stamped,
    write_ledger,
)
from orienteer.ingest.update.report import FilesCompared, UpdateReport, changed_counts, graph_facts, tally_of
from orienteer.ingest.update.rows import (
    EndNodes,
    HasNullWords,
    NodeComparison,
    SourceTable,
    read_edges,
    read_extras,
    read_nodes,
    tables_by_rows,
)
from orienteer.version import __version__


def update_graph(
    sources: Sequence[Path], target: Path, *, options: ImportOptions, progress: Progress | None = None
) -> UpdateReport:
    """Update the graph at the target: afterwards it is what an import of these sources would make.

    What rows alone cannot tell is imported in full, and the report says why; so is everything if the target is not a
    graph yet. Raises `BadInput` for a graph of other sources or options, unless `options.force` is set, and as
    `import_graph` does.
    """
    started = time.perf_counter()
    if options.replan and options.mapping is not None:
        raise BadOption("--mapping says how every table is read: leave out --replan")
    if not is_graph(target):
        return _import_all(sources, target, options, progress, f"{target} was no graph")
    manifest = read_manifest(target, read_pointer(target))
    given, other = sources_of(manifest), ""
    if is_chunk_graph(manifest):
        other = f"{target} was made of documents, which orienteer build --update follows"
    elif not given:
        other = f"{target} was made of no files"
    elif [path.resolve() for path in given_paths(sources, options)] != given:
        other = f"{target} was made of {', '.join(map(str, given))}"
    options = as_made(manifest, options)
    if other := other or options_differ(manifest, options, target):
        if not options.force:
            raise BadInput(f"{other}: --force imports it whole, or name another folder with -o")
        return _import_all(sources, target, options.model_copy(update={"replan": True}), progress, other)
    if manifest.made_by == __version__ and not is_stale(manifest) and not options.replan:
        report = _unchanged(manifest, read_ledger(target, manifest.generation))
    else:
        try:
            report = _update_by_rows(sources, target, options)
        except (FullImportRequired, BadInput) as why:
            # A full import explains best what is wrong with the sources.
            return _import_all(sources, target, options, progress, str(why))
    return report.model_copy(update={"seconds": time.perf_counter() - started, "peak_bytes": peak_bytes()})


def as_made(manifest: Manifest, options: ImportOptions) -> ImportOptions:
    """Return options with those that made the texts of a graph, where they say nothing else and do not replace it."""
    made = {} if options.force else manifest.provenance.get("options", {})
    text, text_from = made.get("text", ""), tuple(made.get("text_from", ()))
    return options.model_copy(update={"text": options.text or text, "text_from": options.text_from or text_from})


def options_differ(manifest: Manifest, options: ImportOptions, target: Path) -> str:
    """Return the difference from the options that made a graph, or an empty text."""
    before, now = manifest.provenance.get("options", {}), written_options(options)
    if not (names := sorted(name for name in {*before, *now} if before.get(name) != now.get(name))):
        return ""
    name = names[0]
    return f"{target} was made with other options: {name} was {before.get(name)!r}, and is {now.get(name)!r}"


# ------------------------------------------------------------------------------------------------------- full import


def _import_all(
    sources: Sequence[Path], target: Path, options: ImportOptions, progress: Progress | None, why: str
) -> UpdateReport:
    """Import everything, and write the ledger."""
    started = time.perf_counter()
    manifest = read_manifest(target, read_pointer(target)) if is_graph(target) else None
    before = _stamps(manifest) if manifest is not None else {}
    kept = kept_mappings(manifest, options) if manifest is not None else []
    forced = options.model_copy(update={"force": True})
    try:
        made = imported(sources, target, options=forced, progress=progress, kept=kept)
    except DuplicateNode as error:
        if not kept:
            raise
        raise DuplicateNode(f"{error} The ids are those of the graph's plan: --replan makes a new one.") from error
    _write_ledger(target, made.importer, options)
    now = _stamps(read_manifest(target, read_pointer(target)))
    files = FilesCompared(
        unchanged=sum(now.get(path) == stamp for path, stamp in before.items()),
        changed=tuple(path for path, stamp in now.items() if path in before and before[path] != stamp),
        new=tuple(path for path in now if path not in before),
        gone=tuple(path for path in before if path not in now),
    )
    costs = {"seconds": time.perf_counter() - started, "peak_bytes": peak_bytes()}
    plan = {"became": made.importer.became, "otherwise": made.importer.otherwise}
    return UpdateReport(**{**dict(made.report), **costs, **plan, "whole": why, "files": files})


def kept_mappings(manifest: Manifest, options: ImportOptions) -> list[FileMapping]:
    """Return the plan of a graph that an update keeps; none if it makes a new one, or a person's file is the plan."""
    if options.replan or options.mapping is not None or is_chunk_graph(manifest):
        return []
    return [
        mapping for mapping in listed(manifest, "mapping", FileMapping) if mapping.columns or mapping.kind == IGNORED
    ]


def _stamps(manifest: Manifest) -> dict[str, TableStamp]:
    """Return the files that a graph was imported from, by path."""
    return {} if is_chunk_graph(manifest) else {stamp.path: stamp for stamp in listed(manifest, "sources", TableStamp)}


def _write_ledger(target: Path, importer: Importer, options: ImportOptions) -> None:
    """Write the ledger of a graph that an importer has just made; its tables are read once more."""
    graph = Graph.open(target)
    manifest = graph.arrays.manifest
    rows: list[NodeRows | EdgeRows]
    try:
        about, rows = _read_again(graph, importer, options)
    except FullImportRequired as why:
        files = [stamped(Path(stamp.path)) for stamp in listed(manifest, "sources", TableStamp)]
        about, rows = LedgerAbout(generation=manifest.generation, tables=tuple(files), why_whole=str(why)), []
    # If the sources have changed meanwhile, a ledger would be wrong: the next update imports everything.
    if not is_stale(manifest):
        pieces.publish_piece(target, PIECE, lambda folder: write_ledger(folder, about, rows))


def _read_again(
    graph: Graph, importer: Importer, options: ImportOptions
) -> tuple[LedgerAbout, list[NodeRows | EdgeRows]]:
    """Read the tables of a graph for its ledger. Raises `FullImportRequired`."""
    tables, manifest = tables_by_rows(importer, options), graph.arrays.manifest
    numbers = NodeNumbers(id_hashes(graph.arrays.ids), np.arange(len(graph), dtype=np.int32))
    if not numbers.is_exact:
        raise FullImportRequired("two ids have the same hash")
    files: list[LedgerFile] = []
    of_nodes: list[NodeRows] = []
    of_edges: list[EdgeRows] = []
    for source in tables:
        file, tally = _stamp(source), Tally()
        if source.mapping.is_of_edges:
            of_edges.append(read_edges(source, numbers.find, tally))
            files.append(_noted(file, of_edges[-1], tally))
        else:
            of_nodes.append(read_nodes(source, numbers.find, tally))
            files.append(_noted(file, of_nodes[-1], tally))
    counts = count_rows(of_edges, NodeTypes(graph.arrays.node_types, list(manifest.node_types)))
    if {name: count.edges for name, count in counts.items()} != dict(manifest.edge_types):
        raise FullImportRequired("what is noted of the rows does not fit the graph")
    about = LedgerAbout(
        generation=manifest.generation,
        tables=tuple(files),
        repeated=_count_nodes(of_nodes) - len(graph) if of_nodes else 0,
        cuts={name: count.cuts for name, count in counts.items() if count.cuts != TypeCuts()},
    )
    # Tables of nodes come first.
    return about, [*of_nodes, *of_edges]


def _stamp(source: SourceTable) -> LedgerFile:
    """Return the state of a table before its rows are read."""
    about = stamped(source.table.path.resolve())
    return about.model_copy(update={"mapping": source.mapping})


def _noted(file: LedgerFile, rows: NodeRows | EdgeRows, tally: Tally) -> LedgerFile:
    """Return a table with the ledger's facts about its rows."""
    facts: dict[str, object] = {"dropped": {cut.reason: cut.count for cut in tally.dropped}}
    if isinstance(rows, EdgeRows):
        facts |= {"edge_types": rows.types, "has_extras": rows.extras is not None}
    return file.model_copy(update=facts)


def _count_nodes(tables: Collection[NodeRows]) -> int:
    """Count the rows that gave a node."""
    return sum(int(np.count_nonzero(rows.nodes >= 0)) for rows in tables)


# ----------------------------------------------------------------------------------------------------- update by rows


def _update_by_rows(sources: Sequence[Path], target: Path, options: ImportOptions) -> UpdateReport:
    """Publish the next generation of a graph. Raises `FullImportRequired`, and then nothing has changed."""
    with publication.publishing(target) as work:
        graph = Graph.open(target)
        before = graph.arrays.manifest
        ledger = read_ledger(target, before.generation)
        if before.made_by != __version__:
            raise FullImportRequired(f"version {before.made_by} made the graph, and this is {__version__}")
        if ledger is None:
            raise FullImportRequired("nothing was noted of its rows yet, which the next update will know")
        unchanged = {path for path, file in ledger.tables.items() if file.is_as_before(Path(path))}
        if ledger.about.why_whole:
            if options.replan:
                raise FullImportRequired(ledger.about.why_whole)
            return _restamp(graph, ledger, unchanged, work)
        importer = Importer(sources, options, {}, kept=kept_mappings(before, options), knows_nulls=False)
        tables = tables_by_rows(importer, options)
        return _RowUpdate(graph, ledger, importer, tables, unchanged, strict=options.strict).publish(work)


def _restamp(graph: Graph, ledger: Ledger, unchanged: Collection[str], work: Path) -> UpdateReport:
    """Write the new times of files with the same content. Raises `FullImportRequired` if any differ, or are new."""
    manifest, about = graph.arrays.manifest, ledger.about
    if unchanged != ledger.tables.keys() or new_files(manifest):
        raise FullImportRequired(about.why_whole)
    stamps = [table_stamp(Path(path))._asdict() for path in ledger.tables]
    tables = [
        file.model_copy(update={"modified": stamp["modified"]})
        for file, stamp in zip(about.tables, stamps, strict=True)
    ]
    notes: list[str] = []
    revision = Revision(edge_types=list(manifest.edge_types))

    def write(folder: Path, generation: str, layout: Layout) -> None:
        facts = {"generation": generation, "tables": tuple(tables)}
        write_ledger(folder, about.model_copy(update=facts), [])

    made = revise(
        graph,
        revision,
        work,
        provenance=settled({**manifest.provenance, "sources": stamps}),
        pieces={PIECE: write, **carried_pieces(graph, revision, notes)},
    )
    return _unchanged(made, ledger).model_copy(update={"notes": tuple(notes)})


def _unchanged(manifest: Manifest, ledger: Ledger | None) -> UpdateReport:
    """Return the report of a graph whose sources are unchanged."""
    return UpdateReport(
        **graph_facts(manifest, Tally() if ledger is None else tally_of(ledger.about, {})),
        mapping=tuple(listed(manifest, "mapping", FileMapping)),
        unreadable=tuple(Ignored(file=name, reason=reason) for name, reason in unread_files(manifest)),
        files=FilesCompared(unchanged=len(listed(manifest, "sources", TableStamp))),
        otherwise=tuple(listed(manifest, "otherwise", Decision)),
    )


@dataclass(slots=True)
class _Table:
    """A table of today."""

    source: SourceTable
    file: LedgerFile
    is_unchanged: bool
    tally: Tally

    @property
    def path(self) -> str:
        return self.source.path


class _Compared(NamedTuple):
    """The rows of all tables of today, by path."""

    change: NodeChange
    nodes: Mapping[str, NodeRows]
    edges: Mapping[str, EdgeRows]


class _RowUpdate:
    """One update: tables are compared with the ledger of the graph."""

    def __init__(
        self,
        graph: Graph,
        ledger: Ledger,
        importer: Importer,
        tables: Sequence[SourceTable],
        unchanged: Collection[str],
        *,
        strict: bool,
    ) -> None:
        """Take the tables of today, and the paths of the unchanged ones. Raises `FullImportRequired`."""
        self._graph, self._ledger, self._importer = graph, ledger, importer
        self._manifest, self._strict, self._unchanged = graph.arrays.manifest, strict, unchanged
        self._tables = [self._table(source) for source in tables]
        self._of_edges = [table for table in self._tables if table.source.mapping.is_of_edges]
        self._of_nodes = [table for table in self._tables if not table.source.mapping.is_of_edges]
        self._undirected = {
            table.source.mapping.type or "" for table in self._of_edges if table.source.mapping.undirected
        }
        paths = {table.path for table in self._tables}
        for path, file in ledger.tables.items():
            if file.mapping is not None and file.mapping.undirected and path not in paths:
                raise FullImportRequired(f"{path}, whose edges have no direction, is gone")

    def _table(self, source: SourceTable) -> _Table:
        """Return a table of today. Raises `FullImportRequired` if it is now read in another way."""
        before, tally = self._ledger.tables.get(source.path), Tally(hides_rows=bool(source.columns.private))
        if before is None:
            return _Table(source, _stamp(source), False, tally)
        if before.mapping is None or not before.mapping.reads_as(source.mapping):
            raise FullImportRequired(f"{source.mapping.file} is read in another way")
        if source.path not in self._unchanged:
            return _Table(source, _stamp(source), False, tally)
        today = {"modified": source.table.path.stat().st_mtime_ns, "mapping": source.mapping}
        return _Table(source, before.model_copy(update=today), True, tally)

    def publish(self, work: Path) -> UpdateReport:
        """Publish the next generation. Raises `FullImportRequired`, and then nothing has changed."""
        provenance = self._importer.provenance
        change, nodes, edges = self._compare()
        before = {path: self._ledger.edges(path) for path, file in self._ledger.tables.items() if file.is_of_edges}
        types, cuts = change.types(self._graph), self._ledger.about.cuts
        changes = edge_changes(before, edges, types, cuts, self._manifest.edge_types)
        check_edge_count(changes, self._manifest)
        edge_types = list(dict.fromkeys(name for rows in edges.values() for name in rows.types))
        facts = self._facts(change, edge_types)
        rows: dict[str, NodeRows | EdgeRows] = {**nodes, **edges}
        count = int(np.count_nonzero(change.stays)) + len(change.nodes)
        of_nodes = [of_table for of_table in rows.values() if isinstance(of_table, NodeRows)]
        about = LedgerAbout(
            generation=self._manifest.generation,
            tables=tuple(
                table.file if table.is_unchanged else _noted(table.file, rows[table.path], table.tally)
                for table in (*self._of_nodes, *self._of_edges)
            ),
            repeated=_count_nodes(of_nodes) - count if of_nodes else 0,
            cuts=cuts_after(self._ledger.about.cuts, changes),
        )
        if self._strict and (about.repeated or about.cuts or any(file.dropped for file in about.tables)):
            raise FullImportRequired("--strict, and some row would be dropped or merged")
        symmetric = {name for name, each in changes.items() if each.is_symmetric} | self._undirected
        difference = Difference(change, changes, edge_types, symmetric, self._extras(changes))
        notes = list(self._importer.tally.notes)
        tally = self._dropped(about, edges)
        manifest = publish(
            self._graph,
            difference,
            work,
            about=about,
            rows=[*nodes.values(), *edges.values()],
            provenance=settled({**provenance, "not_read": self._importer.not_read, "dropped": tally.lost}),
            facts=facts,
            notes=notes,
        )
        return self._report(manifest, difference, tally, about, notes)

    def _dropped(self, about: LedgerAbout, edges: Mapping[str, EdgeRows]) -> Tally:
        """Return the counts of dropped and merged rows."""
        dangling = {table.source.mapping.file: len(edges[table.path].stray) for table in self._of_edges}
        return tally_of(about, {table.path: table.tally for table in self._tables}, dangling)

    def _facts(self, change: NodeChange, edges: Sequence[str]) -> dict[str, object]:
        """Return the fields of the manifest that depend on types. Raises `FullImportRequired`, `BadInput`."""
        if missing := self._undirected - {*edges}:
            raise FullImportRequired(f"no edge is of the type {min(missing)!r}, which has no direction")
        stay = np.bincount(self._graph.arrays.node_types[change.stays], minlength=len(self._manifest.node_types))
        nodes = {name for name, count in zip(self._manifest.node_types, stay.tolist(), strict=True) if count}
        types = self._importer.name_types(edges, {*nodes, *(node.type for node in change.nodes)})
        labels = self._importer.labels
        return {
            "labels": dict(labels.labels),
            "also_called": {name: tuple(words) for name, words in labels.also_called.items()},
            "partial": self._importer.partial(types),
        }

    def _report(
        self,
        manifest: Manifest,
        difference: Difference,
        tally: Tally,
        about: LedgerAbout,
        notes: Sequence[str],
    ) -> UpdateReport:
        known, now = self._ledger.tables.keys(), [table.path for table in about.tables]
        count = sum(cuts.differing for cuts in about.cuts.values())
        return UpdateReport(
            **graph_facts(manifest, tally),
            ignored=tuple(self._importer.ignored),
            mapping=self._importer.mapping,
            became=self._importer.became,
            otherwise=self._importer.otherwise,
            notes=(*notes, *([differing_note(count)] if count else [])),
            files=FilesCompared(
                unchanged=len(self._unchanged),
                changed=tuple(path for path in now if path in known and path not in self._unchanged),
                new=tuple(path for path in now if path not in known),
                gone=tuple(path for path in self._ledger.tables if path not in now),
            ),
            **changed_counts(self._graph, difference),
        )

    # -------------------------------------------------------------------------------------------------------- reading

    def _compare(self) -> _Compared:
        """Read what changed, and compare nodes."""
        while True:
            for table in self._tables:
                table.tally = Tally(hides_rows=bool(table.source.columns.private))
            try:
                return self._compare_nodes() if self._of_nodes else self._compare_ends()
            except HasNullWords:
                # The table was profiled meanwhile, and all is read once more.
                continue

    def _compare_nodes(self) -> _Compared:
        comparison = NodeComparison(self._graph)
        nodes: dict[str, NodeRows] = {}
        for table in self._of_nodes:
            before = self._ledger.nodes(table.path) if table.path in self._ledger.tables else None
            if table.is_unchanged and before is not None:
                nodes[table.path] = before
                continue
            with self._profiling(table):
                nodes[table.path] = comparison.read(table.source, before, table.tally)
        change, nodes = comparison.change(nodes)
        if change.is_empty and all(table.is_unchanged for table in self._of_edges):
            return _Compared(change, nodes, {table.path: self._ledger.edges(table.path) for table in self._of_edges})
        numbers, edges = change.numbering(self._graph), dict[str, EdgeRows]()
        for table in self._of_edges:
            if table.is_unchanged:
                edges[table.path] = resolved(self._ledger.edges(table.path), change, numbers, self._graph)
                continue
            with self._profiling(table):
                edges[table.path] = read_edges(table.source, numbers.find, table.tally)
        return _Compared(change, nodes, edges)

    def _compare_ends(self) -> _Compared:
        ends = EndNodes(self._graph)
        edges: dict[str, EdgeRows] = {}
        for table in self._of_edges:
            if table.is_unchanged:
                edges[table.path] = self._ledger.edges(table.path)
                dropped = {*table.file.dropped}
            else:
                with self._profiling(table):
                    edges[table.path] = read_edges(table.source, ends.find, table.tally)
                dropped = {cut.reason for cut in table.tally.dropped}
            if EMPTY_ID in dropped:
                raise FullImportRequired("a row names one end alone, and no table has the nodes")
        change, edges = ends.change(edges, self._of_edges[0].source)
        return _Compared(change, {}, edges)

    def _extras(self, changes: Mapping[str, TypeChange]) -> dict[int, Mapping[int, Extra]]:
        """Return texts, weights and properties of the edges that come, by table and row: the tables are read again."""
        carried: dict[int, Mapping[int, Extra]] = {}
        for number, table in enumerate(self._of_edges):
            rows = [each.row[(each.table == number) & (each.extras != 0)] for each in changes.values()]
            wanted = np.concatenate([np.zeros(0, np.int64), *rows])
            if not len(wanted):
                continue
            try:
                with self._profiling(table):
                    carried[number] = read_extras(table.source, wanted)
            except HasNullWords:
                carried[number] = read_extras(table.source, wanted)
        return carried

    @contextmanager
    def _profiling(self, table: _Table) -> Iterator[None]:
        """Find the null words of a table that turns out to have some. Raises `HasNullWords` then."""
        try:
            yield
        except HasNullWords:
            known = with_nulls(table.source.table, table.source.value_columns, self._importer.tally.notes)
            table.source = replace(table.source, table=known, is_profiled=True)
            raise
