"""Commands between files and graphs: import, validate, export."""

from __future__ import annotations

import shutil
import sys
import tempfile
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

import typer

from orienteer.display import counted
from orienteer.errors import BadOption, UsageError
from orienteer.serve.cli.arguments import Directory, file_trouble, open_graph
from orienteer.serve.cli.output import Output

if TYPE_CHECKING:
    from orienteer.ingest.importer import ImportOptions
    from orienteer.ingest.report import Report

GROUPS: Mapping[str, str] = {}
STANDARD = Path("-")

Sources = Annotated[
    list[Path] | None,
    typer.Argument(metavar="SOURCE", help="Folders of tables, or tables: parquet, CSV, TSV, JSON lines."),
]
NodeTables = Annotated[list[Path] | None, typer.Option("--nodes", metavar="F", help="A table of nodes. Repeatable.")]
EdgeTables = Annotated[list[Path] | None, typer.Option("--edges", metavar="F", help="A table of edges. Repeatable.")]
ColumnNames = Annotated[
    list[str] | None,
    typer.Option(
        "--column",
        metavar="ROLE=COL",
        help="Which column is which: id, name, text, aliases, type, node_type, edge_type, source, target, weight.",
    ),
]
LabelsFile = Annotated[
    Path | None, typer.Option("--labels", metavar="F", help="A table of codes, their labels, and further words.")
]
Private = Annotated[
    list[str] | None, typer.Option("--private", metavar="COL", help="A column that is stored nowhere. Repeatable.")
]
Explode = Annotated[
    list[str] | None,
    typer.Option("--explode", metavar="COL=EDGE_TYPE", help="Turn the members of a list column into nodes and edges."),
]
Language = Annotated[
    str, typer.Option("--language", metavar="L", help="Of names and texts, where RDF has them in several: en, de, ...")
]
Strict = Annotated[bool, typer.Option("--strict", help="Fail where any row would be dropped or merged.")]
Force = Annotated[bool, typer.Option("--force", help="Replace what stands there.")]


def import_(
    out: Output,
    sources: Sources = None,
    target: Annotated[Path, typer.Option("--output", "-o", metavar="DIR", help="Where the graph will be.")] = ...,  # type: ignore[assignment]  # typer's way to say that it must be given
    force: Force = False,
    strict: Strict = False,
    nodes: NodeTables = None,
    edges: EdgeTables = None,
    columns: ColumnNames = None,
    labels: LabelsFile = None,
    private: Private = None,
    explode: Explode = None,
    language: Language = "en",
) -> None:
    """Make a graph of tables of nodes and edges, and say what was left out and why."""
    from orienteer.ingest.importer import import_graph

    options = _options(
        force=force,
        strict=strict,
        tables=(nodes, edges),
        columns=columns,
        labels=labels,
        private=private,
        explode=explode,
        language=language,
    )
    with file_trouble("name a folder that can be written with -o"):
        report = import_graph(_given(sources, options), target, options=options, progress=out.progress)
    _report(out, report)


def validate(
    out: Output,
    sources: Sources = None,
    strict: Strict = False,
    nodes: NodeTables = None,
    edges: EdgeTables = None,
    columns: ColumnNames = None,
    labels: LabelsFile = None,
    private: Private = None,
    explode: Explode = None,
    language: Language = "en",
) -> None:
    """Give the report that an import would give, and write nothing."""
    from orienteer.ingest.importer import validate

    options = _options(
        force=False,
        strict=strict,
        tables=(nodes, edges),
        columns=columns,
        labels=labels,
        private=private,
        explode=explode,
        language=language,
    )
    with file_trouble("check the path and its permissions"):
        report = validate(_given(sources, options), options=options, progress=out.progress)
    _report(out, report)


def export(
    out: Output,
    directory: Directory,
    to: Annotated[
        Literal["jsonl", "graphml"],
        typer.Option(metavar="jsonl|graphml", help="jsonl is what import gives back exactly."),
    ],
    target: Annotated[
        Path, typer.Option("--output", "-o", metavar="PATH", help="A folder for jsonl, a file for graphml, or -.")
    ],
    force: Force = False,
) -> None:
    """Write a graph as files that other programs read."""
    from orienteer.ingest.export import export_graph

    graph = open_graph(directory, out)
    if target != STANDARD:
        with file_trouble("name a path that can be written with -o"):
            export_graph(graph, to, target, force=force)
        out.note(f"{counted(graph.manifest.nodes, 'node')} and {counted(graph.manifest.edges, 'edge')} are in {target}")
        if out.as_json:
            out.json({"nodes": graph.manifest.nodes, "edges": graph.manifest.edges, "path": str(target)})
        return
    if to == "jsonl":
        raise BadOption("jsonl is a folder of files: name it with -o FOLDER, or take --to graphml")
    with tempfile.TemporaryDirectory() as folder:
        made = Path(folder) / "graph"
        export_graph(graph, to, made)
        with made.open("rb") as stream:
            shutil.copyfileobj(stream, sys.stdout.buffer)


def _given(sources: Iterable[Path] | None, options: ImportOptions) -> list[Path]:
    if not sources and not options.nodes and not options.edges:
        raise UsageError("nothing to read: name a folder of tables or a table, or use --nodes F --edges F")
    return list(sources or ())


def _options(
    *,
    force: bool,
    strict: bool,
    tables: tuple[list[Path] | None, list[Path] | None],
    columns: list[str] | None,
    labels: Path | None,
    private: list[str] | None,
    explode: list[str] | None,
    language: str,
) -> ImportOptions:
    from orienteer.ingest.importer import ImportOptions
    from orienteer.options import pairs_of

    return ImportOptions(
        force=force,
        strict=strict,
        nodes=tuple(tables[0] or ()),
        edges=tuple(tables[1] or ()),
        columns=pairs_of(columns or (), form="--column ROLE=COL"),
        labels=labels,
        private=tuple(private or ()),
        explode=pairs_of(explode or (), form="--explode COL=EDGE_TYPE"),
        language=language,
    )


def _report(out: Output, report: Report) -> None:
    if out.as_json:
        out.json(report)
    else:
        out.print(report.render(is_verbose=bool(out.verbosity)))


COMMANDS = {
    "import": (import_, "import FOLDER -o DIR"),
    "validate": (validate, "validate FOLDER"),
    "export": (export, "export DIR --to jsonl -o FOLDER"),
}
