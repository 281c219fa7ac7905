"""Commands between files and graphs: import, validate, export."""

from __future__ import annotations

import shutil
import sys
import tempfile
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

import typer

from orienteer.display import counted
from orienteer.errors import BadOption, UsageError
from orienteer.serve.cli.arguments import STANDARD, Directory, Force, file_trouble, open_graph
from orienteer.serve.cli.output import Output

if TYPE_CHECKING:
    from orienteer.ingest.importer import ImportOptions
    from orienteer.ingest.report import Report


Sources = Annotated[
    list[Path] | None,
    typer.Argument(metavar="SOURCE", help="Folders of tables, or tables: parquet, CSV, TSV, JSON lines."),
]


@dataclass(frozen=True, slots=True, kw_only=True)
class TableFlags:
    """The flags that say how tables become a graph."""

    strict: Annotated[bool, typer.Option("--strict", help="Fail where any row would be dropped or merged.")] = False
    nodes: Annotated[list[Path] | None, typer.Option("--nodes", metavar="F", help="A table of nodes. Repeatable.")] = (
        None
    )
    edges: Annotated[list[Path] | None, typer.Option("--edges", metavar="F", help="A table of edges. Repeatable.")] = (
        None
    )
    columns: Annotated[
        list[str] | None,
        typer.Option(
            "--column",
            metavar="ROLE=COL",
            help="Which column is which: id, name, text, aliases, type, node_type, edge_type, source, target, weight.",
        ),
    ] = None
    labels: Annotated[
        Path | None, typer.Option("--labels", metavar="F", help="A table of codes with their labels and synonyms.")
    ] = None
    private: Annotated[
        list[str] | None,
        typer.Option("--private", metavar="COL", help="A column to leave out of the graph. Repeatable."),
    ] = None
    explode: Annotated[
        list[str] | None,
        typer.Option(
            "--explode", metavar="COL=EDGE_TYPE", help="Turn the members of a list column into nodes and edges."
        ),
    ] = None
    language: Annotated[
        str,
        typer.Option("--language", metavar="L", help="The preferred language of names and texts in RDF: en, de, ..."),
    ] = "en"

    def options(self, sources: list[Path] | None, *, force: bool = False) -> ImportOptions:
        """Return the options of an import. Raises `UsageError` where there is nothing to read, and `BadOption`."""
        from orienteer.ingest.importer import ImportOptions
        from orienteer.options import pairs_of

        if not (sources or self.nodes or self.edges):
            raise UsageError("nothing to read: name a folder of tables or a table, or use --nodes F --edges F")
        return ImportOptions(
            force=force,
            strict=self.strict,
            nodes=tuple(self.nodes or ()),
            edges=tuple(self.edges or ()),
            columns=pairs_of(self.columns or (), form="--column ROLE=COL"),
            labels=self.labels,
            private=tuple(self.private or ()),
            explode=pairs_of(self.explode or (), form="--explode COL=EDGE_TYPE"),
            language=self.language,
        )


def import_(
    out: Output,
    sources: Sources = None,
    target: Annotated[Path, typer.Option("--output", "-o", metavar="DIR", help="Where to write the graph.")] = ...,  # type: ignore[assignment]  # typer's way to say that it is required
    force: Force = False,
    *,
    tables: TableFlags,
) -> None:
    """Make a graph from tables of nodes and edges, and report what was left out and why."""
    from orienteer.ingest.importer import import_graph

    options = tables.options(sources, force=force)
    with file_trouble("name a folder that can be written with -o"):
        report = import_graph(sources or [], target, options=options, progress=out.progress)
    _print_report(out, report)


def validate(out: Output, sources: Sources = None, *, tables: TableFlags) -> None:
    """Print the report of an import without writing anything."""
    from orienteer.ingest.importer import validate

    with file_trouble("check the path and its permissions"):
        report = validate(sources or [], options=tables.options(sources), progress=out.progress)
    _print_report(out, report)


def _print_report(out: Output, report: Report) -> None:
    if out.as_json:
        out.json(report)
    else:
        out.print(report.render(is_verbose=bool(out.verbosity)))


def export(
    out: Output,
    directory: Directory,
    to: Annotated[
        Literal["jsonl", "graphml"],
        typer.Option(metavar="jsonl|graphml", help="jsonl can be imported again without loss."),
    ],
    target: Annotated[
        Path,
        typer.Option(
            "--output", "-o", metavar="PATH", help="A folder for jsonl, a file for graphml, or - for standard output."
        ),
    ],
    force: Force = False,
) -> None:
    """Write a graph as files for other programs."""
    from orienteer.ingest.export import export_graph

    graph = open_graph(directory, out)
    if target != STANDARD:
        with file_trouble("name a path that can be written with -o"):
            export_graph(graph, to, target, force=force)
        edges = graph.arrays.manifest.edges
        out.note(f"{counted(len(graph), 'node')} and {counted(edges, 'edge')} are in {target}")
        if out.as_json:
            out.json({"nodes": graph.arrays.manifest.nodes, "edges": graph.arrays.manifest.edges, "path": str(target)})
        return
    if to == "jsonl":
        raise BadOption("jsonl is a folder of files: name it with -o FOLDER, or take --to graphml")
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
