"""Imports tables, and files and folders in known layouts, as a graph directory with a report."""

from __future__ import annotations

import tempfile
import time
from collections import Counter
from collections.abc import Callable, Collection, Mapping, Sequence
from contextlib import AbstractContextManager, nullcontext
from pathlib import Path
from typing import Any, Literal, NamedTuple

import numpy as np

from orienteer.errors import BadInput, BadOption, UnreadableFile
from orienteer.graph.builder import GraphBuilder, Progress, RepeatedNode
from orienteer.ingest import bounds, portable
from orienteer.ingest.bounds import check_readable, memory_told
from orienteer.ingest.formats.table import is_unicode, shown
from orienteer.ingest.layouts import Layout, layouts_of, refuse_untaken
from orienteer.ingest.provenance import MAPPED, describe_import, settled
from orienteer.ingest.report import SHOWN, Cut, Ignored, Report, Tally, peak_bytes
from orienteer.ingest.tables import mirror
from orienteer.ingest.tables.assignment import Assignment, ImportPlan, emptied
from orienteer.ingest.tables.columns import Columns, without_private
from orienteer.ingest.tables.inside import is_container
from orienteer.ingest.tables.kept import Decision, kept_plan
from orienteer.ingest.tables.kinds import sort_tables
from orienteer.ingest.tables.labels import Labels
from orienteer.ingest.tables.mapping import FileMapping, rendered
from orienteer.ingest.tables.mapping_file import plan_of, read_mappings
from orienteer.ingest.tables.nodes import DEFAULT_TYPE
from orienteer.ingest.tables.plan import (
    EDGE_WORDS,
    NODE_WORDS,
    asks,
    folders_within,
    is_candidate,
    left_over,
    links_out,
    listing,
    misnamed,
    refuse_links,
    table_of,
    words_in,
)
from orienteer.ingest.tables.reader import TableReader
from orienteer.ingest.tables.spec import TableSpec, nodes_line
from orienteer.ingest.tables.type_names import singular, stem_of, thing_in, words_of
from orienteer.options import Options

SOME = 10
"""Names that a message lists."""


class ImportOptions(Options):
    """Options of an import. Files and columns with known names need none of them."""

    force: bool = False
    """Replace a graph at the target."""
    replan: bool = False
    """Have an update plan anew how each table is read, where it would keep the graph's plan."""
    strict: bool = False
    """Fail if any row would be dropped or merged."""
    nodes: tuple[Path | TableSpec, ...] = ()
    """Tables of nodes: a path replaces all recognised tables, a `TableSpec` adds one."""
    edges: tuple[Path | TableSpec, ...] = ()
    """Tables of edges, likewise."""
    mapping: Path | None = None
    """A file with the mapping of each table, as `validate` drafts it."""
    columns: Mapping[str, str] = {}
    """Column by role: id, name, text, aliases, type, node_type, edge_type, source, target, weight."""
    labels: Path | None = None
    """A table of codes, their labels, and further words."""
    private: tuple[str, ...] = ()
    """Columns, or keys of objects in columns, that are never stored."""
    explode: Mapping[str, str] = {}
    """Edge type by list column: each member becomes a node and an edge to it."""
    text_from: tuple[str, ...] = ()
    """Columns whose values are the text of nodes, by which they are ranked, in place of the column of the texts."""
    text: Literal["", "documents", "tables"] = ""
    """The texts of STaRK's nodes: its documents, the default, or prose, with lists as nodes of their own."""
    partial: tuple[str, ...] = ()
    """Types of nodes or edges that are incomplete in the graph: counts over them say so."""
    changed_by: str = ""
    """A property of a database that rises whenever a node or an edge changes, for `update_database`."""
    language: str = "en"
    """The preferred language of RDF's names and texts."""
    split: str = ""
    """The split of a benchmark's tables to read; None for all."""

    @property
    def chosen(self) -> dict[str, str]:
        """Return the options that a layout may take, beside those about columns: those that a person gave."""
        return {name: value for name, value in {"split": self.split, "text": self.text}.items() if value}


def import_graph(
    sources: Sequence[Path],
    target: Path | None,
    *,
    options: ImportOptions | None = None,
    progress: Progress | None = None,
) -> Report:
    """Import tables and publish the graph at the target; without a target only report.

    An unreadable file of a folder is skipped and reported first, unless it is the only one. Raises `BadInput`, and
    leaves nothing behind, if a source cannot be read as a graph.
    """
    return imported(sources, target, options=options or ImportOptions(), progress=progress).report


Beside = Callable[[GraphBuilder, Sequence[Ignored]], Mapping[str, Any]]  # Any: JSON
"""Adds documents to a graph of tables that is being built, given the files that are not part of it so far; returns
entries for its provenance."""


class Imported(NamedTuple):
    """A finished import."""

    report: Report
    importer: Importer


def imported(
    sources: Sequence[Path],
    target: Path | None,
    *,
    options: ImportOptions,
    progress: Progress | None = None,
    beside: Beside | None = None,
    open_layout: OpenLayout | None = None,
    tells_plan: bool = True,
    kept: Sequence[FileMapping] = (),
) -> Imported:
    """Import tables as `import_graph` does, and documents by `beside`; with `open_layout` that source alone.

    `tells_plan` reports the plan of each table as progress, before any is read. Mappings that are `kept` stay as far
    as their tables and columns are there.
    """
    named = [spec.path for spec in _specs((*options.nodes, *options.edges))]
    check_readable(*sources, *named, *(path for path in (options.labels, options.mapping) if path is not None))
    started = time.perf_counter()
    unreadable: dict[Path, str] = {}
    only_counts = target is None
    while True:
        try:
            importer = Importer(sources, options, unreadable, open_layout, kept=kept)
            report = _imported(
                importer, target, options, progress, beside, tells_plan=tells_plan, only_counts=only_counts
            )
        except RepeatedNode:
            tells_plan = only_counts = False  # what the first one holds tells whether it is the same
            continue
        except UnreadableFile as error:
            if options.strict:
                raise BadInput(f"--strict: {error}; mend the file, or leave out --strict") from error
            if not _can_do_without(error.path, sources, {*unreadable, *named}):
                raise
            unreadable[error.path] = str(error).removeprefix(str(error.path)).lstrip(" ,:")
            continue
        costs = {"seconds": time.perf_counter() - started, "peak_bytes": peak_bytes()}
        return Imported(report.model_copy(update=costs), importer)


def _can_do_without(path: Path, sources: Sequence[Path], others: Collection[Path]) -> bool:
    """Return whether a file is in a given folder with tables that are not among `others`."""
    inside = [file for source in sources if source.is_dir() for file in listing(source)]
    rest = [file for file in inside if file not in (path, *others) and (is_candidate(file) or is_container(file))]
    kinds = [kind for kind in (NODE_WORDS, EDGE_WORDS) if words_in(path) & kind]
    # The only table with a name for nodes, or for edges, is indispensable.
    is_last = not all(any(words_in(file) & kind for file in rest) for kind in kinds)
    return path in inside and path not in others and bool(rest) and not is_last


def _imported(
    importer: Importer,
    target: Path | None,
    options: ImportOptions,
    progress: Progress | None,
    beside: Beside | None,
    *,
    tells_plan: bool,
    only_counts: bool,
) -> Report:
    """Import all but the unreadable files. Raises `UnreadableFile` for a further one, `BadInput`."""
    scratch: AbstractContextManager[Any] = tempfile.TemporaryDirectory() if target is None else nullcontext()
    with scratch as folder:
        path = Path(folder) / "graph" if target is None else target
        if options.strict and importer.guesses:
            raise BadInput(
                f"--strict: these were guessed: {'; '.join(importer.guesses)}. Settle them: write them down with "
                "orienteer validate --write-mapping FILE, change what is wrong, and import with --mapping FILE."
            )
        provenance = importer.provenance
        with GraphBuilder(
            path, force=options.force, provenance=provenance, progress=progress, only_counts=only_counts
        ) as builder:
            for line in rendered(importer.mapping) if tells_plan else ():
                builder.tell(line, 0)
            importer.into(builder)
            types = importer.name_types(builder.edges.type_names, builder.edges.node_type_names)
            builder.describe({**provenance, "not_read": importer.not_read, "dropped": importer.tally.lost})
            more = {} if beside is None else beside(builder, importer.left_out)
            report = importer.report(builder, types)
            builder.describe(settled({**builder.provenance, **more}))
            if options.strict and (cuts := _cuts((*report.dropped, *report.merged))):
                raise BadInput(f"--strict: {cuts}. Mend the sources, or leave out --strict.")
            if not builder.node_count:
                raise BadInput(f"The sources hold no node: {_cuts(report.dropped) or 'is one of the files empty?'}")
            if target is not None:
                labels = importer.labels
                builder.publish(
                    labels=labels.labels,
                    also_called=labels.also_called,
                    text_types=labels.text_types,
                    partial=importer.partial(types),
                )
    return report


def validate(
    sources: Sequence[Path], *, options: ImportOptions | None = None, progress: Progress | None = None
) -> Report:
    """Return the report of an import, without writing anything that stays."""
    return import_graph(sources, None, options=options, progress=progress)


def holds_graph(path: Path) -> bool:
    """Return whether a path is a graph in a known layout, or has tables with names for nodes and edges.

    Names of columns are read, but hardly any rows: tables that are recognised by their values do not count.
    """
    columns = Columns()
    try:
        if recognize([path], columns, Tally()) is not None:
            return True
        tables = sort_tables([path], columns)
    except BadInput:
        return False
    return bool(tables.nodes or tables.edges)


class TypeNames(NamedTuple):
    """The types of a graph that is being built."""

    edges: frozenset[str]
    nodes: frozenset[str]


class Importer:
    """One import: the plan for each file, and the counts."""

    def __init__(
        self,
        sources: Sequence[Path],
        options: ImportOptions,
        unreadable: Mapping[Path, str],
        open_layout: OpenLayout | None = None,
        *,
        kept: Sequence[FileMapping] = (),
        knows_nulls: bool = True,
    ) -> None:
        """Plan the import, around mappings that are kept. Tables may know their null words only when they are read."""
        self._sources, self._options = sources, options
        self.columns = Columns(options.columns, options.private, options.explode, options.text_from)
        self.tally = Tally(hides_rows=bool(self._options.private))
        if options.mapping and (options.nodes or options.edges or options.columns or options.text_from):
            raise BadOption("--mapping says how every table is read: leave out --nodes, --edges, --column, --text-from")
        self._nodes, self._edges = _specs(options.nodes), _specs(options.edges)
        by_hand = options.nodes or options.edges or options.mapping
        self.layout: Layout | None = None
        self.knows_nulls = knows_nulls or options.mapping is not None
        self.became: tuple[str, ...] = ()
        self.otherwise: tuple[Decision, ...] = ()
        """What became of the plan that is kept, and what a new one would decide otherwise."""
        if open_layout is not None:
            self.layout = open_layout(self.columns, self.tally)
        elif not by_hand:
            self.layout = recognize(sources, self.columns, self.tally, options)
        if by_hand or open_layout is not None:
            refuse_untaken(options.chosen, (), "tables that are named, and for databases")
        if self.layout is not None:
            self.plan = ImportPlan(ignored=left_over(sources, self.layout.files))
        elif options.mapping is not None:
            mappings = [without_private(mapping, options.private) for mapping in read_mappings(options.mapping)]
            self.plan = plan_of(mappings, sources, options.mapping)
        else:
            assignment = Assignment(
                sources, self.columns, nodes=self._nodes, edges=self._edges, without=unreadable.keys()
            )
            if kept:
                made, self.became, self.otherwise = kept_plan(kept, assignment)
            else:
                made = assignment.around({})
            self.plan = emptied(made, assignment.drafts) if knows_nulls else made
        self.tally.notes += self.plan.notes
        self._file_notes = {mapped.table.file: mapped.table.notes for mapped in self.plan.tables}
        self.tally.notes += [f"{file}: {note}" for file, found in self._file_notes.items() for note in found.notes]
        refuse_links(sources, self.layout.files if self.layout else ())
        within = [] if self.layout else [(source, below) for source in sources if (below := folders_within(source))]
        self.tally.notes += [
            f"{source}: folders within are not read ({', '.join(below[:SOME])}): name them as sources, too"
            for source, below in within
        ]
        if left_out := links_out(sources):
            names = ", ".join(str(path) for path in left_out[:SHOWN]) + (" and others" if len(left_out) > SHOWN else "")
            self.tally.notes.append(f"links out of the folder: {len(left_out):,} left out ({names})")
        self.unreadable = tuple(Ignored(file=str(file), reason=reason) for file, reason in unreadable.items())
        self.ignored = [Ignored(file=name, reason="its name is no UTF-8: rename it") for name in misnamed(sources)]
        self.labels = Labels()

    @property
    def mapping(self) -> tuple[FileMapping, ...]:
        """Return the mapping of each file, including ignored files."""
        if self.layout:
            why = "a graph of its own, read as a whole"
            return tuple(FileMapping(file=str(path), kind="both", why=why) for path in self.layout.files)
        ignored = [
            FileMapping(file=table.file, kind="ignored", why="no part of the graph") for table in self.plan.others
        ]
        mappings = (
            mapped.mapping.model_copy(update={"encoding": encoding})
            if (encoding := self._file_notes[mapped.table.file].encoding)
            else mapped.mapping
            for mapped in self.plan.tables
        )
        return (*mappings, *ignored)

    @property
    def guesses(self) -> tuple[str, ...]:
        """Return the decisions that come from values instead of names, and from bytes instead of marks."""
        letters = (f"{file}: {guess}" for file, found in self._file_notes.items() for guess in found.guesses)
        return (*self.plan.guesses, *letters)

    @property
    def files(self) -> tuple[Path, ...]:
        """Return the files of the graph."""
        named = (self._options.labels, self._options.mapping)
        by_hand = tuple(path for path in named if path is not None)
        return (*(self.layout.files if self.layout else self.plan.files), *by_hand)

    def into(self, builder: GraphBuilder) -> None:
        """Read everything into the builder, and clean it. Raises `BadInput` if there is no memory for it."""
        with memory_told(", ".join(map(str, self.files[:SHOWN]))):
            if self.layout:
                self.labels = self.layout.read(builder)
            else:
                TableReader(self.plan, self.columns, self.tally, self.labels).into(builder)
                mirror.clean(builder.edges, self.tally, directed=self.plan.directed)

    def name_types(self, edge_types: Collection[str], node_types: Collection[str]) -> TypeNames:
        """Read labels for the types of the graph, and return the types. Raises `BadInput` for a table without any."""
        types = TypeNames(frozenset(edge_types), frozenset(node_types))
        with memory_told(", ".join(map(str, self.files[:SHOWN]))):
            if self._options.labels is not None:
                table = table_of(self._options.labels, is_named=True)
                was_read = [self.labels.read(table, names, by_hand=True) for names in types]
                if not any(was_read):
                    names = ", ".join(sorted(types.edges)[:SOME]) + (" and others" if len(types.edges) > SOME else "")
                    raise BadInput(f"{table.path} names no edge type and no node type of the sources: {names}.")
            self.ignored += self.plan.ignored
            for table in self.plan.others:
                if not any([self.labels.read(table, names) for names in types]):
                    reason = "questions, no part of the graph" if asks(table) else f"not clear: {nodes_line(table)}"
                    reason = f"ignored by {self._options.mapping}" if self._options.mapping else reason
                    self.ignored.append(Ignored(file=str(table.path), reason=reason))
        self._call_by_nouns(types.nodes)
        # Nodes without a type are also called by the folder: `disease` in `disease_ontology`.
        folders = [source for source in self._sources if source.is_dir()]
        if types.nodes == {DEFAULT_TYPE} and len(folders) == 1 == len(self._sources):
            thing = thing_in(folders[0].resolve().name)
            if thing is not None and DEFAULT_TYPE not in self.labels.also_called:
                self.labels.also_called[DEFAULT_TYPE] = (thing,)
                note = f"nodes have no type: they are called {DEFAULT_TYPE}, and {thing} by the folder's name"
                self.tally.notes.append(note)
        return types

    def _call_by_nouns(self, types: Collection[str]) -> None:
        """Label `statement_2026` as statement, and a `clubs_activity` with the id `Club` as a club, too."""
        own = {one.type: one for one in self.mapping if one.type in types and not one.is_of_edges}
        plain = {name: "_".join(word for word in name.split("_") if not word.isdigit()) for name in own if name}
        for name, label in plain.items():
            if label and label not in types and Counter(plain.values())[label] == 1:
                self.labels.add(name, label)
            noun = stem_of(own[name].id_column or "")
            if noun and "_".join(noun) not in types and {*noun} < {*map(singular, words_of(name))}:
                self.labels.add(name, "", ["_".join(noun)])

    def partial(self, types: TypeNames) -> tuple[str, ...]:
        """Return the types marked partial. Raises `BadInput` for an unknown type."""
        there = types.edges | types.nodes
        for name in self._options.partial:
            if name not in there:
                raise BadInput(f"--partial: no node and no edge has the type {name!r}: {', '.join(sorted(there))}")
        return tuple(sorted({*self._options.partial, *self.labels.partial}))

    @property
    def provenance(self) -> dict[str, Any]:  # Any: JSON
        """Return the provenance of the graph without skipped files."""
        given = given_paths(self._sources, self._options)
        described = describe_import(given, self.files, written_options(self._options))
        described["mapping"] = [mapping.model_dump(mode="json") for mapping in self.mapping]
        mapped = self.layout.files if self.layout else [table.path for table in self.plan.all_tables]
        described[MAPPED] = [str(path.resolve()) for path in mapped]
        described["unreadable"] = [unread.model_dump() for unread in self.unreadable]
        if self.otherwise:
            described["otherwise"] = [decision.model_dump() for decision in self.otherwise]
        return described

    @property
    def left_out(self) -> tuple[Ignored, ...]:
        """Return the files that are not part of the graph, without mere companions of tables."""
        return (*self.unreadable, *(file for file in self.ignored if file.is_telling))

    @property
    def not_read(self) -> list[dict[str, Any]]:  # Any: JSON
        """Return the skipped files by reason, for the provenance."""
        return [group._asdict() for group in bounds.grouped(self.left_out, self._sources)]

    def report(self, builder: GraphBuilder, types: TypeNames) -> Report:
        """Return the report."""
        edges = builder.edges
        counts = np.bincount(edges.type[edges.keep], minlength=len(edges.type_names)).tolist()
        nodes = np.bincount(edges.node_type, minlength=len(edges.node_type_names)).tolist()
        return Report(
            nodes=builder.node_count,
            edges=sum(counts),
            node_types=dict(zip(edges.node_type_names, nodes, strict=True)),
            edge_types={name: count for name, count in zip(edges.type_names, counts, strict=True) if count},
            symmetric=tuple(sorted(edges.symmetric)),
            partial=self.partial(types),
            labels=self.labels.labels,
            dropped=self.tally.dropped,
            merged=self.tally.merged,
            private={column: self.tally.private.get(column, 0) for column in self.columns.private},
            unreadable=self.unreadable,
            ignored=tuple(self.ignored),
            mapping=self.mapping,
            notes=tuple(self.tally.notes),
        )


def _cuts(cuts: Sequence[Cut]) -> str:
    return "; ".join(
        f"{cut.count:,} {cut.reason} (first: {cut.first[0].file}, line {cut.first[0].line}: {cut.first[0].value})"
        for cut in cuts
    )


def _specs(tables: Sequence[Path | TableSpec]) -> list[TableSpec]:
    return [table if isinstance(table, TableSpec) else TableSpec(path=table) for table in tables]


def given_paths(sources: Sequence[Path], options: ImportOptions) -> list[Path]:
    """Return the sources and the named tables."""
    return [*sources, *(spec.path for spec in _specs((*options.nodes, *options.edges)))]


def written_options(options: ImportOptions) -> dict[str, Any]:
    """Return the options that shaped the graph, as JSON."""
    written = {
        "nodes": list(map(str, options.nodes)),
        "edges": list(map(str, options.edges)),
        "columns": dict(options.columns),
        "mapping": str(options.mapping) if options.mapping else None,
        "labels": str(options.labels) if options.labels else None,
        "private": list(options.private),
        "explode": dict(options.explode),
        "text_from": list(options.text_from),
        "partial": list(options.partial),
        "strict": options.strict,
        "language": options.language if options.language != "en" else None,
        **options.chosen,
    }
    return {name: value for name, value in written.items() if value and (name, value) != ("text", "documents")}


# Files and folders in known layouts: dumps, graph files, RDF, benchmarks, the output of other tools.


OpenLayout = Callable[[Columns, Tally], Layout]
"""Opens a source that is not a file, given the roles of columns and a tally for dropped rows."""


def recognize(
    sources: Sequence[Path], columns: Columns, tally: Tally, options: ImportOptions | None = None
) -> Layout | None:
    """Return the layout of the only source, or None if it is read table by table.

    Raises `BadInput` for a missing source, `BadOption` for an option without meaning there.
    """
    missing = next((source for source in sources if not source.exists()), None)
    if missing is not None:
        raise BadInput(f"{missing} does not exist: name a folder of tables, a table, or the file of a graph")
    unnamed = next((source for source in sources if not is_unicode(str(source))), None)
    if unnamed is not None:
        raise BadInput(f"{shown(unnamed)} has a name that is not UTF-8: rename it")
    options, name = options or ImportOptions(), ", ".join(map(str, sources[:SHOWN]))
    fields = {"private": columns.private, "explode": columns.explode, "text-from": columns.text_from}
    own = [*options.chosen, *(option for option, value in ({"column": columns.roles} | fields).items() if value)]
    layout: Layout | None = portable.recognize(sources)
    if layout is not None:
        refuse_untaken(own, (), name)
    else:
        # Opening a graph needs none of them.
        from orienteer.ingest.formats import graph_file, lightrag, msgraphrag, neo4j_admin
        from orienteer.ingest.formats.rdf import files

        # Roles of columns are for plain tables.
        if len(sources) == 1 and not columns.roles:
            layout = lightrag.recognize(sources[0], tally) or msgraphrag.recognize(sources[0], tally)
            if layout is not None:
                refuse_untaken(own, (), name)
        layout = (
            layout or graph_file.recognize(sources, columns, tally) or neo4j_admin.recognize(sources, columns, tally)
        )
        layout = layout or files.recognize(sources, columns, tally, language=options.language)
    for known in layouts_of(sources[0]) if layout is None and len(sources) == 1 else ():
        layout = known.graph(sources[0], columns, tally, **known.among(options.chosen))
        if layout is not None:
            refuse_untaken(own, known.takes, name)
            return layout
    refuse_untaken(options.chosen, (), name)
    return layout
