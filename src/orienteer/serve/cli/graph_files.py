"""Commands between files and graphs: import, validate, export."""

from __future__ import annotations

import shutil
import sys
import tempfile
from collections.abc import Iterator
from contextlib import closing, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

import typer

from orienteer.display import counted
from orienteer.errors import BadInput, BadOption, UsageError
from orienteer.serve.cli.arguments import (
    STANDARD,
    Directory,
    Force,
    Split,
    check_writable,
    file_trouble,
    open_graph,
    settings,
)
from orienteer.serve.cli.output import Output

if TYPE_CHECKING:
    from orienteer.ingest.databases import Database
    from orienteer.ingest.importer import ImportOptions
    from orienteer.ingest.report import Report


Sources = Annotated[
    list[str] | None,
    typer.Argument(
        metavar="SOURCE",
        help="Folders of tables, or tables: parquet, CSV, TSV, JSON lines; or a database: bolt://HOST/DB, neo4j://...",
    ),
]


@dataclass(frozen=True, slots=True, kw_only=True)
class TableFlags:
    """The flags that say how tables become a graph."""

    strict: Annotated[bool, typer.Option("--strict", help="Fail if any row would be dropped or merged.")] = False
    nodes: Annotated[
        list[str] | None,
        typer.Option(metavar="F", help="A table of nodes, alone or as F:id=COL,name=COL,type=NAME. Repeatable."),
    ] = None
    edges: Annotated[
        list[str] | None,
        typer.Option(
            metavar="F",
            help="A table of edges, alone or as F:source=COL,target=COL,type=NAME[:undirected]. Repeatable.",
        ),
    ] = None
    mapping: Annotated[
        Path | None,
        typer.Option(metavar="FILE", help="How each table is read: validate --write-mapping drafts it."),
    ] = None
    partial: Annotated[
        list[str] | None,
        typer.Option(metavar="TYPE", help="Mark a type as incomplete: its counts are lower bounds. Repeatable."),
    ] = None
    columns: Annotated[
        list[str] | None,
        typer.Option(
            "--column",
            metavar="ROLE=COL",
            help="Which column is which: id, name, text, aliases, type, node_type, edge_type, source, target, weight.",
        ),
    ] = None
    labels: Annotated[
        Path | None, typer.Option(metavar="F", help="A table of codes with their labels and synonyms.")
    ] = None
    private: Annotated[
        list[str] | None,
        typer.Option(metavar="COL", help="A column to leave out of the graph. Repeatable."),
    ] = None
    explode: Annotated[
        list[str] | None,
        typer.Option(metavar="COL=EDGE_TYPE", help="Turn the members of a list column into nodes and edges."),
    ] = None
    text_from: Annotated[
        str, typer.Option(metavar="COL,...", help="The columns that are the text of nodes, by which search ranks them.")
    ] = ""
    text: Annotated[
        Literal["documents", "tables"] | None,
        typer.Option(metavar="documents|tables", help="STaRK: reviews in its own documents, or as tables beside them."),
    ] = None
    language: Annotated[
        str,
        typer.Option(metavar="L", help="The preferred language of names and texts in RDF: en, de, ..."),
    ] = "en"
    split: Split = None

    def options(self, sources: list[str] | None, *, force: bool = False) -> ImportOptions:
        """Return the options of an import. Raises `UsageError` if there is nothing to read, and `BadOption`."""
        from orienteer.ingest.importer import ImportOptions
        from orienteer.ingest.tables.spec import spec_of
        from orienteer.options import pairs_of

        if not (sources or self.nodes or self.edges):
            raise UsageError("nothing to read: name a folder of tables or a table, or use --nodes F --edges F")
        return ImportOptions(
            force=force,
            strict=self.strict,
            nodes=tuple(spec_of(text, is_edges=False) for text in self.nodes or ()),
            edges=tuple(spec_of(text, is_edges=True) for text in self.edges or ()),
            mapping=self.mapping,
            partial=tuple(self.partial or ()),
            columns=pairs_of(self.columns or (), form="--column ROLE=COL"),
            labels=self.labels,
            private=tuple(self.private or ()),
            explode=pairs_of(self.explode or (), form="--explode COL=EDGE_TYPE"),
            text_from=tuple(filter(None, map(str.strip, self.text_from.split(",")))),
            text=self.text or "",
            language=self.language,
            split=self.split or "",
        )


def import_(
    out: Output,
    sources: Sources = None,
    target: Annotated[
        Path | None, typer.Option("--output", "-o", metavar="DIR", help="Where to write the graph; required.")
    ] = None,
    force: Force = False,
    update: Annotated[
        bool, typer.Option("--update", help="Bring the graph up to date: read only what has changed since.")
    ] = False,
    replan: Annotated[
        bool, typer.Option("--replan", help="With --update: plan anew how each table is read, which else stays.")
    ] = False,
    changed_by: Annotated[
        str,
        typer.Option(
            metavar="PROPERTY",
            help="With --update of a database: a property that rises whenever a node or an edge changes.",
        ),
    ] = "",
    *,
    tables: TableFlags,
) -> None:
    """Make a graph from tables of nodes and edges, or from a database, and report dropped rows with the reasons."""
    if target is None:
        name = f"{Path((sources or ['sources'])[0]).absolute().stem}-graph"
        raise UsageError(f"name the folder of the graph, such as -o {name}")
    if changed_by and not update:
        raise UsageError("--changed-by selects the rows that --update reads again: give both")
    if replan and not update:
        raise UsageError("--replan is about a graph's plan, which --update keeps: give both")
    options = tables.options(sources, force=force).model_copy(update={"changed_by": changed_by, "replan": replan})
    with file_trouble("name a folder that can be written with -o"):
        report = (
            _updated(out, sources or [], target, options) if update else _imported(out, sources or [], target, options)
        )
    out.show(report, report.render(is_verbose=bool(out.verbosity)))


def _updated(out: Output, sources: list[str], target: Path, options: ImportOptions) -> Report:
    """Bring a graph up to date with its files or its database. Raises `UsageError` for several of both."""
    from orienteer.addresses import is_address

    if not any(map(is_address, sources)):
        from orienteer.ingest.update.update import update_graph

        if options.changed_by:
            raise UsageError(
                "--changed-by is about databases: leave it out, for rows of files tell by themselves what changed"
            )
        return update_graph(list(map(Path, sources)), target, options=options, progress=out.progress)
    with _database(sources) as database:
        return database.update_graph(target, options, out.progress)


@contextmanager
def _database(sources: list[str]) -> Iterator[Database]:
    """Open the database that is the only source. Raises `UsageError` if there are others."""
    if len(sources) > 1:
        raise UsageError("a database is imported alone: name its address and nothing else")
    from orienteer.ingest.databases import open_database

    with closing(open_database(sources[0], settings())) as database:
        yield database


def _imported(out: Output, sources: list[str], target: Path | None, options: ImportOptions) -> Report:
    """Make a graph of files or of a database; without a target only report. Raises `UsageError` for several of both."""
    from orienteer.addresses import is_address
    from orienteer.ingest.importer import import_graph

    if not any(map(is_address, sources)):
        return import_graph(list(map(Path, sources)), target, options=options, progress=out.progress)
    from orienteer.graph.publication import check_target

    if target is not None:
        # The target is checked before the database is asked.
        check_target(target, force=options.force)
    with _database(sources) as database:
        return database.import_graph(target, options, out.progress)


def validate(
    out: Output,
    sources: Sources = None,
    write_mapping: Annotated[
        Path | None,
        typer.Option(metavar="FILE", help="Write how each table is read, to change and import."),
    ] = None,
    *,
    tables: TableFlags,
) -> None:
    """Print the report of an import without writing a graph."""
    from orienteer.files import write_whole

    if write_mapping is not None:
        check_writable(write_mapping)
        if write_mapping.exists():
            raise BadInput(f"{write_mapping} is there already: name another file, or remove it")
    with file_trouble("check the path and its permissions"):
        report = _imported(out, sources or [], None, tables.options(sources))
        if write_mapping is not None:
            # This needs the importer to be loaded.
            from orienteer.ingest.tables.mapping_file import written

            write_whole(write_mapping, written(report.mapping, list(map(Path, sources or []))))
            out.note(f"the mapping is in {write_mapping}: change it, and import with --mapping {write_mapping}")
    out.show(report, report.render(is_verbose=bool(out.verbosity)))


def export(
    out: Output,
    directory: Directory,
    to: Annotated[
        Literal["jsonl", "graphml", "csv", "parquet"],
        typer.Option(metavar="jsonl|graphml|csv|parquet", help="Import gives each back as it was."),
    ],
    target: Annotated[
        Path,
        typer.Option(
            "--output", "-o", metavar="PATH", help="A file for graphml, or - for standard output; else a folder."
        ),
    ],
    force: Force = False,
) -> None:
    """Write a graph as files for other programs."""
    from orienteer.ingest.export import export_graph

    graph = open_graph(directory, out)
    out.doing = f"writing {counted(len(graph), 'node')} as {to}"
    if target != STANDARD:
        with file_trouble("name a path that can be written with -o"):
            export_graph(graph, to, target, force=force)
        edges = graph.arrays.manifest.edges
        out.note(f"{counted(len(graph), 'node')} and {counted(edges, 'edge')} are in {target}")
        if out.as_json:
            out.json({"nodes": graph.arrays.manifest.nodes, "edges": graph.arrays.manifest.edges, "path": str(target)})
        return
    if to != "graphml":
        raise BadOption(f"{to} is a folder of files: name it with -o FOLDER, or take --to graphml")
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "graph"
        export_graph(graph, to, file)
        with file.open("rb") as stream:
            shutil.copyfileobj(stream, sys.stdout.buffer)


COMMANDS = {
    "import": (import_, "import FOLDER -o DIR"),
    "validate": (validate, "validate FOLDER"),
    "export": (export, "export DIR --to jsonl -o FOLDER"),
}
