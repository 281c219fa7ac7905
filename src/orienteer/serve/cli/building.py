"""`build`: documents and tables to a graph of chunks."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

import typer

from orienteer.errors import MissingExtra, UsageError
from orienteer.serve.cli.arguments import file_trouble, settings
from orienteer.serve.cli.output import Output

if TYPE_CHECKING:
    from orienteer.build.documents.run import BuildOptions
    from orienteer.protocols import Embedder
    from orienteer.settings import Settings

GROUPS: Mapping[str, str] = {}

Documents = Annotated[
    list[Path] | None,
    typer.Argument(
        metavar="SOURCE", help="Folders of documents, or documents: text, Markdown, HTML, PDF, Word, tables."
    ),
]


def build(
    out: Output,
    sources: Documents = None,
    target: Annotated[Path, typer.Option("--output", "-o", metavar="DIR", help="Where the graph will be.")] = ...,  # type: ignore[assignment]  # typer's way to say that it must be given
    force: Annotated[bool, typer.Option("--force", help="Replace what stands there.")] = False,
    update: Annotated[
        bool, typer.Option("--update", help="Read only what has changed since the graph was made; the rest stays.")
    ] = False,
    strict: Annotated[bool, typer.Option("--strict", help="Fail where a document cannot be read.")] = False,
    chunks: Annotated[
        Literal["semantic", "tokens"] | None,
        typer.Option(metavar="semantic|tokens", help="Where prose is cut: where its meaning turns, or by length."),
    ] = None,
    embedder: Annotated[
        str | None,
        typer.Option(metavar="minilm|openai:NAME|PATH|none", help="What tells meanings; none joins by names alone."),
    ] = None,
    set_options: Annotated[
        list[str] | None, typer.Option("--set", metavar="NAME=VALUE", help="An option of the build. Repeatable.")
    ] = None,
) -> None:
    """Make a graph of documents and tables: chunks, joined by order, links, titles and names."""
    from orienteer.build.documents.config import BuildConfig
    from orienteer.build.documents.run import BuildOptions, build_graph
    from orienteer.options import check, pairs_of

    if not sources and not update:
        raise UsageError("nothing to read: name a folder of documents, or a document")
    config = BuildConfig(**check(BuildConfig, pairs_of(set_options or ())))
    options = BuildOptions(force=force, strict=strict, update=update, chunks=chunks, config=config)
    configured = settings()
    opened = _embedder(configured, embedder, options)
    with file_trouble("name a folder that can be written with -o"):
        report = build_graph(
            sources or (), target, options=options, embedder=opened, cache=configured.cache, progress=out.progress
        )
    if out.as_json:
        out.json(report)
    else:
        out.print(report.render(is_verbose=bool(out.verbosity)))


def _embedder(configured: Settings, named: str | None, options: BuildOptions) -> Embedder | None:
    """Return what tells meanings, None where nothing does: a served one is never taken unless it is named here."""
    if named == "none":
        return None
    name = named or configured.embedder
    if named is None and ":" in name and options.chunks != "semantic":
        return None  # every text would go to a server, and may cost money
    try:
        return configured.open_embedder(name)
    except MissingExtra:
        if named is not None or options.chunks == "semantic":
            raise
        return None


COMMANDS = {"build": (build, "build docs -o DIR")}
