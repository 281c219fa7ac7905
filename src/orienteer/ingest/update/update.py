"""`import --update`: what a graph is made of is compared with its sources, and as little as possible is read again."""

from __future__ import annotations

import time
from collections.abc import Collection, Mapping, Sequence
from pathlib import Path

import numpy as np

from orienteer.errors import BadInput
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
from orienteer.ingest.report import Ignored, Tally, peak_bytes
from orienteer.ingest.tables.mapping import FileMapping
from orienteer.ingest.tables.mirror import differing_note
from orienteer.ingest.tables.plan import listing
from orienteer.ingest.update.by_rows import Amended, RowUpdate, carried_pieces
from orienteer.ingest.update.edge_changes import NodeTypes, count_rows
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
from orienteer.ingest.update.node_changes import ImportWhole, SourceTable, read_edges, read_nodes
from orienteer.ingest.update.report import FilesCompared, UpdateReport, compared, graph_facts, tally_of
from orienteer.version import __version__


def update_graph(
    sources: Sequence[Path], target: Path, *, options: ImportOptions, progress: Progress | None = None
) -> UpdateReport:
    """Bring the graph at the target up to date with its sources: it holds what an import of these would give.

    What rows alone cannot tell is imported as a whole, and the report says why; so is everything where the target
    is no graph yet. Raises `BadInput` for a graph that was made of something else, unless `options.force` is set, and
    as `import_graph` does.
    """
    started = time.perf_counter()
    if not is_graph(target):
        return _whole(sources, target, options, progress, f"{target} was no graph")
    manifest = read_manifest(target, read_pointer(target))
    other = _other_than_before(manifest, sources, options, target)
    if other and not options.force:
        raise BadInput(f"{other}: --force imports it whole, or name another folder with -o")
    if other:
        return _whole(sources, target, options, progress, other)
    if manifest.made_by == __version__ and not is_stale(manifest):
        report = _unchanged(manifest, read_ledger(target, manifest.generation))
    else:
        try:
            report = _amended(sources, target, options)
        except (ImportWhole, BadInput) as why:  # what is wrong with the sources, an import tells best
            return _whole(sources, target, options, progress, str(why))
    return report.model_copy(update={"seconds": time.perf_counter() - started, "peak_bytes": peak_bytes()})


def _other_than_before(manifest: Manifest, sources: Sequence[Path], options: ImportOptions, target: Path) -> str:
    """Return how a graph was made of something else than these sources, by these options; empty if it was not."""
    if is_chunk_graph(manifest):
        return f"{target} was made of documents, which orienteer build --update follows"
    given = sources_of(manifest)
    if not given:
        return f"{target} was made of no files"
    if [path.resolve() for path in given_paths(sources, options)] != given:
        return f"{target} was made of {', '.join(map(str, given))}"
    return options_differ(manifest, options, target)


# ------------------------------------------------------------------------------------------------------------- whole


def _whole(
    sources: Sequence[Path], target: Path, options: ImportOptions, progress: Progress | None, why: str
) -> UpdateReport:
    """Import everything, and note what each row gave."""
    started = time.perf_counter()
    before = _stamps(read_manifest(target, read_pointer(target))) if is_graph(target) else {}
    made = imported(sources, target, options=options.model_copy(update={"force": True}), progress=progress)
    note_rows(target, made.importer, options)
    files = _compared(before, _stamps(read_manifest(target, read_pointer(target))))
    costs = {"seconds": time.perf_counter() - started, "peak_bytes": peak_bytes()}
    return UpdateReport(**{**dict(made.report), **costs, "whole": why, "files": files})


def _stamps(manifest: Manifest) -> dict[str, TableStamp]:
    """Return the files that a graph was imported from, by path."""
    return {} if is_chunk_graph(manifest) else {stamp.path: stamp for stamp in listed(manifest, "sources", TableStamp)}


def _compared(before: Mapping[str, TableStamp], now: Mapping[str, TableStamp]) -> FilesCompared:
    """Compare files by their sizes and times."""
    return FilesCompared(
        unchanged=sum(now.get(path) == stamp for path, stamp in before.items()),
        changed=tuple(path for path, stamp in now.items() if path in before and before[path] != stamp),
        new=tuple(path for path in now if path not in before),
        gone=tuple(path for path in before if path not in now),
    )


def note_rows(target: Path, importer: Importer, options: ImportOptions) -> None:
    """Write the ledger of a graph that an importer has just made; its tables are read once more.

    Without it the next update imports everything. None is written where the sources have changed meanwhile.
    """
    graph = Graph.open(target)
    manifest = graph.arrays.manifest
    try:
        about, rows = _read_again(graph, importer, options)
    except ImportWhole as why:
        files = [stamped(Path(stamp.path)) for stamp in listed(manifest, "sources", TableStamp)]
        about, rows = LedgerAbout(generation=manifest.generation, tables=tuple(files), why_whole=str(why)), []
    if not is_stale(manifest):
        pieces.publish_piece(target, PIECE, lambda folder: write_ledger(folder, about, rows))


def _read_again(
    graph: Graph, importer: Importer, options: ImportOptions
) -> tuple[LedgerAbout, list[NodeRows | EdgeRows]]:
    """Read the tables of a graph, and return what the ledger says of them. Raises `ImportWhole`."""
    tables, manifest = tables_by_rows(importer, options), graph.arrays.manifest
    numbers = NodeNumbers(id_hashes(graph.arrays.ids), np.arange(len(graph), dtype=np.int32))
    if not numbers.is_exact:
        raise ImportWhole("two ids have the same hash")
    files: list[LedgerFile] = []
    rows: list[NodeRows | EdgeRows] = []
    for source in tables:
        file, tally = source.stamp(), Tally()
        if source.mapping.is_of_edges:
            edges = read_edges(source, numbers, tally)
            rows.append(edges)
            file = file.model_copy(update={"edge_types": edges.types, "has_extras": edges.extras is not None})
        else:
            rows.append(read_nodes(source, numbers, tally))
        files.append(file.model_copy(update={"dropped": {cut.reason: cut.count for cut in tally.dropped}}))
    types = NodeTypes(graph.arrays.node_types, list(manifest.node_types))
    counts = count_rows([each for each in rows if isinstance(each, EdgeRows)], types)
    if {name: count.edges for name, count in counts.items()} != dict(manifest.edge_types):
        raise ImportWhole("what is noted of the rows does not fit the graph")
    of_nodes = [each for each in rows if isinstance(each, NodeRows)]
    about = LedgerAbout(
        generation=manifest.generation,
        tables=tuple(files),
        repeated=sum(int(np.count_nonzero(each.nodes >= 0)) for each in of_nodes) - len(graph) if of_nodes else 0,
        cuts={name: count.cuts for name, count in counts.items() if count.cuts != TypeCuts()},
    )
    return about, rows


# ------------------------------------------------------------------------------------------------------------ by rows


def _amended(sources: Sequence[Path], target: Path, options: ImportOptions) -> UpdateReport:
    """Make the next generation of a graph out of the last one. Raises `ImportWhole`, and nothing is changed then."""
    with publication.publishing(target) as work:
        graph = Graph.open(target)
        before = graph.arrays.manifest
        ledger = read_ledger(target, before.generation)
        if before.made_by != __version__:
            raise ImportWhole(f"version {before.made_by} made the graph, and this is {__version__}")
        if ledger is None:
            raise ImportWhole("nothing was noted of its rows yet, which the next update will know")
        unchanged = {path for path, file in ledger.tables.items() if file.is_as_before(Path(path))}
        if ledger.about.why_whole:
            return _touched(graph, ledger, unchanged, work)
        later = [path for source in sources for path in listing(source)] if options.mapping is None else []
        importer = Importer(sources, options, {}, as_before=later)
        tables = tables_by_rows(importer, options, not_looked_at=later)
        amended = RowUpdate(graph, ledger, importer, tables, unchanged, strict=options.strict).publish(work)
    return _report(graph, ledger, unchanged, amended, importer)


def _touched(graph: Graph, ledger: Ledger, unchanged: Collection[str], work: Path) -> UpdateReport:
    """Note the new times of files that hold what they held. Raises `ImportWhole` if others do not, or are new."""
    manifest = graph.arrays.manifest
    if unchanged != ledger.tables.keys() or new_files(manifest):
        raise ImportWhole(ledger.about.why_whole)
    stamps = [table_stamp(Path(path))._asdict() for path in ledger.tables]
    noted = list(zip(ledger.about.tables, stamps, strict=True))
    notes: list[str] = []
    about, revision = ledger.about, Revision(edge_types=list(manifest.edge_types))

    def write(folder: Path, generation: str, layout: Layout) -> None:
        tables = [file.model_copy(update={"modified": stamp["modified"]}) for file, stamp in noted]
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


# ------------------------------------------------------------------------------------------------------------ reports


def _unchanged(manifest: Manifest, ledger: Ledger | None) -> UpdateReport:
    """Return the report of a graph all whose sources are as they were."""
    facts = graph_facts(manifest, Tally() if ledger is None else tally_of(ledger.about, {}))
    count = len(listed(manifest, "sources", TableStamp))
    return UpdateReport(
        **facts,
        mapping=tuple(listed(manifest, "mapping", FileMapping)),
        unreadable=tuple(Ignored(file=name, reason=reason) for name, reason in unread_files(manifest)),
        files=FilesCompared(unchanged=count),
    )


def _report(
    graph: Graph, ledger: Ledger, unchanged: Collection[str], amended: Amended, importer: Importer
) -> UpdateReport:
    """Return the report of an update by rows."""
    known, now = set(ledger.tables), [table.path for table in amended.about.tables]
    count = sum(cuts.differing for cuts in amended.about.cuts.values())
    differing = [differing_note(count)] if count else []
    return UpdateReport(
        **graph_facts(amended.manifest, tally_of(amended.about, amended.tallies)),
        ignored=tuple(importer.ignored),
        mapping=importer.mapping,
        notes=(*amended.notes, *differing),
        files=FilesCompared(
            unchanged=len(unchanged),
            changed=tuple(path for path in now if path in known and path not in unchanged),
            new=tuple(path for path in now if path not in known),
            gone=tuple(path for path in ledger.tables if path not in now),
        ),
        **compared(graph, amended.nodes, amended.edges),
    )


# The tables of an import whose rows can be followed, and why those of another cannot.


def tables_by_rows(
    importer: Importer, options: ImportOptions, *, not_looked_at: Collection[Path] = ()
) -> list[SourceTable]:
    """Return the tables of an import in the order in which they are read. Raises `ImportWhole`.

    The files that are `not_looked_at` may have null words that their tables do not know.

    What a row of these gives depends on the row alone, and on which other nodes and edges there are.
    """
    plan = importer.plan
    if importer.layout is not None:
        raise ImportWhole("the source is read as a whole, not by rows")
    if importer.unreadable:
        raise ImportWhole(f"{importer.unreadable[0].file} cannot be read")
    if plan.by_values:
        raise ImportWhole(f"{plan.by_values[0]}: its values tell what its columns are, and every row may change that")
    tables = [
        SourceTable(
            mapped.table, mapped.mapping, importer.columns, bool(plan.nodes), mapped.table.path not in not_looked_at
        )
        for mapped in (*plan.nodes, *plan.edges)
    ]
    for source in tables:
        if why := _why_not(source.mapping, has_nodes=source.has_nodes):
            raise ImportWhole(f"{source.mapping.file}: {why}")
    if len({source.path for source in tables}) < len(tables):
        raise ImportWhole("one file holds several tables")
    named = {*options.columns.values(), *options.private, *options.explode}
    if missing := named - {column for source in tables for column in source.table.columns}:
        raise ImportWhole(f"{min(missing)} is a key within cells, not a column")
    return tables


def _why_not(mapping: FileMapping, *, has_nodes: bool) -> str:
    """Return why a table's rows cannot be followed; empty where they can."""
    if mapping.links:
        return f"{next(iter(mapping.links))} leads to rows of other tables"
    if mapping.having("label"):
        return f"the first rows of each type tell its label ({mapping.having('label')[0]})"
    if mapping.is_of_edges and not has_nodes and mapping.having("about source", "about target"):
        return "the first row that names a node describes it"
    if not mapping.is_of_edges and not mapping.having("id", "prefixed id"):
        return "ids are numbers of lines"
    return ""


def options_differ(manifest: Manifest, options: ImportOptions, target: Path) -> str:
    """Return how a graph was made by other options; empty if it was not."""
    before, now = manifest.provenance.get("options", {}), written_options(options)
    if not (names := sorted(name for name in {*before, *now} if before.get(name) != now.get(name))):
        return ""
    name = names[0]
    return f"{target} was made with other options: {name} was {before.get(name)!r}, and is {now.get(name)!r}"
