"""Commands on texts: build makes a graph from documents; link and embed add to any graph."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

import typer

from orienteer.display import counted
from orienteer.errors import Error, UsageError
from orienteer.serve.cli import arguments
from orienteer.serve.cli.output import Output

if TYPE_CHECKING:
    from orienteer.executors import Executor
    from orienteer.ingest.documents.build_report import BuildEstimate, BuildReport
    from orienteer.ingest.documents.run import BuildOptions
    from orienteer.protocols import Embedder
    from orienteer.settings import Settings


def build(
    out: Output,
    sources: Annotated[
        list[Path] | None,
        typer.Argument(
            metavar="SOURCE", help="Folders of documents, or documents: text, code, HTML, PDF, Office, e-mail, tables."
        ),
    ] = None,
    target: Annotated[
        Path | None,
        typer.Option("--output", "-o", metavar="DIR", help="Where to write the graph; not needed with --dry-run."),
    ] = None,
    force: arguments.Force = False,
    update: Annotated[
        bool, typer.Option("--update", help="Read only what has changed since the graph was built.")
    ] = False,
    strict: Annotated[bool, typer.Option("--strict", help="Fail if a document cannot be read.")] = False,
    chunks: Annotated[
        Literal["semantic", "tokens"] | None,
        typer.Option(
            metavar="semantic|tokens", help="How to cut prose: by changes of meaning, or by length, the default."
        ),
    ] = None,
    embedder: Annotated[
        str | None,
        typer.Option(
            metavar="minilm|openai:NAME|PATH|none",
            help="A model that compares meanings, and joins chunks that are alike; by default only names join them.",
        ),
    ] = None,
    extract: Annotated[
        Literal["triples", "entities", "hyper"] | None,
        typer.Option(
            metavar="triples|entities|hyper",
            help="Also extract entities and facts by the --model. Without one: names, and the words between them.",
        ),
    ] = None,
    model: Annotated[
        str | None,
        typer.Option(
            metavar="NAME",
            help="A model that reads every chunk: with --extract it extracts, without it writes metadata.",
        ),
    ] = None,
    metadata: Annotated[
        bool, typer.Option("--metadata", help="Also have the model write metadata when it extracts.")
    ] = False,
    base_url: arguments.BaseUrl = None,
    dry_run: Annotated[
        bool,
        typer.Option(
            "--dry-run", help="Read and cut the documents, estimate what the model would cost, write no graph."
        ),
    ] = False,
    include: arguments.Include = None,
    exclude: arguments.Exclude = None,
    split: arguments.Split = None,
    watch: arguments.Watch = False,
    ray: arguments.RayAddress = None,
    set_options: Annotated[
        list[str] | None,
        typer.Option(
            "--set", metavar="NAME=VALUE", help="An option of the build; an unknown name lists all of them. Repeatable."
        ),
    ] = None,
) -> None:
    """Make a graph from documents and tables: chunks, joined by order, links, titles, names and meaning."""
    from orienteer.ingest.documents.config import EXTRACTING, BuildConfig
    from orienteer.ingest.documents.previous import Previous
    from orienteer.ingest.documents.run import BuildOptions, build_graph, estimate_build
    from orienteer.options import pairs_of

    if not sources and not update:
        raise UsageError("nothing to read: name a folder of documents, or a document")
    if target is None and (update or not dry_run):
        raise UsageError("no place for the graph is named: add -o DIR")
    if metadata and model is None:
        raise UsageError("--metadata needs a model: name one with --model")
    values = pairs_of(set_options or ())
    usual: Mapping[str, Any] = EXTRACTING if extract is not None and chunks != "semantic" else {}  # Any: of any field
    # An update continues with the graph's own configuration and embedder.
    if update and target is not None:
        previous = Previous(target)
        usual = previous.config.chosen
        embedder = embedder or str(previous.options.get("embedder", "none"))
    options = BuildOptions(
        force=force,
        strict=strict,
        update=update,
        chunks=chunks,
        extract=extract,
        metadata=metadata,
        include=tuple(include or ()),
        exclude=tuple(exclude or ()),
        split=split or "",
        config=BuildConfig.read({**usual, **values}) if values else None,
    )
    configured = arguments.settings().with_flags(base_url=base_url)
    # A cluster is held no longer than a build takes; the embedder that compares is opened once.
    opened = _open_embedder(configured, embedder, options)

    def run(paths: Sequence[Path], options: BuildOptions) -> BuildReport | BuildEstimate:
        with (
            arguments.executor_at(ray, configured) as executor,
            arguments.file_trouble("name a folder that can be written with -o"),
        ):
            by = _with_room(configured, executor).open_model(model) if model is not None else None
            # Any: the arguments of an estimate and of a build
            shared: dict[str, Any] = {"options": options, "embedder": opened, "model": by}
            shared |= {"cache": configured.cache, "progress": out.progress}
            if dry_run or target is None:
                return estimate_build(paths, target=target, **shared)
            return build_graph(paths, target, executor=executor, **shared)

    _print_build(out, run(sources or (), options))
    if watch and target is not None and not dry_run:
        from orienteer.graph.store import Graph

        out.done()
        for _ in arguments.watched(out, Graph.open(target)):
            try:
                _print_build(out, run((), options.model_copy(update={"update": True})))
            except Error as error:
                # A file may be incomplete: the next change is tried.
                out.note(f"error: {error}")
            out.done()


def _with_room(configured: Settings, executor: Executor) -> Settings:
    """Return settings with room for the parallel calls of many machines, unless a number is set."""
    if executor.places is None:
        return configured
    return configured.with_flags(server={"concurrency": executor.places, **configured.server})


def _print_build(out: Output, report: BuildReport | BuildEstimate) -> None:
    """Print the report or the estimate of a build, and its notes."""
    out.show(report, report.render(is_verbose=bool(out.verbosity)))
    out.notes(report.notes)


def _open_embedder(configured: Settings, named: str | None, options: BuildOptions) -> Embedder | None:
    """Return the embedder that is named, or that of the settings if the build needs one; else None.

    Embedding takes minutes where reading takes seconds: nobody waits for it who did not ask.
    """
    config = options.config
    needs = options.chunks == "semantic" or (
        config is not None and (config.faithful or config.synonyms or config.vectors)
    )
    if named == "none" or not (named or needs):
        return None
    return configured.open_embedder(named or configured.embedder)


def link(
    out: Output,
    directory: arguments.Directory,
    set_options: Annotated[
        list[str] | None, typer.Option("--set", metavar="NAME=VALUE", help="An option of the links. Repeatable.")
    ] = None,
) -> None:
    """Add a rebuildable layer of edges between similar texts."""
    from orienteer.ingest.documents.join.similar_nodes import LinkConfig, link_graph
    from orienteer.options import pairs_of

    config = LinkConfig.read(pairs_of(set_options or ()))
    graph = arguments.open_graph(directory, out)
    with arguments.file_trouble("check the path and its permissions"):
        about = link_graph(graph, config, progress=out.progress)
    out.show(
        about,
        f"{counted(about.edges, 'edge')} between {counted(about.nodes, 'node')} with text: cosine above "
        f"{about.threshold:.3f}, {about.density:.1%} of {counted(about.candidates, 'candidate pair')}, "
        f"mean degree {about.mean_degree:.1f}, {about.seconds:.1f} s",
    )


def embed(
    out: Output,
    directory: arguments.Directory,
    embedder: Annotated[
        str | None,
        typer.Option(
            metavar="minilm|openai:NAME|PATH",
            help="minilm runs on this machine; openai:NAME sends every text to a server; PATH is your own ONNX model.",
        ),
    ] = None,
    parts: Annotated[
        bool, typer.Option("--parts", help="Embed long texts in parts, with a vector for each part.")
    ] = False,
    threads: Annotated[
        int, typer.Option(metavar="N", min=1, help="Threads for a model that runs on this machine.")
    ] = 1,
    ray: arguments.RayAddress = None,
) -> None:
    """Embed every node, so that search, tools and methods can compare meanings.

    Vectors are kept in the cache as they come: after an interruption, or after making the graph again, run the command
    again and only what is missing is embedded.
    """
    from orienteer.graph.embedding import embed_graph

    configured = arguments.settings()
    with arguments.executor_at(ray, configured) as executor:
        configured = _with_room(configured, executor)
        opened = configured.open_embedder(embedder or configured.embedder, threads=threads)
        graph = arguments.open_graph(directory, out)
        with arguments.file_trouble("set ORIENTEER_CACHE to a folder that can be written"):
            report = embed_graph(
                graph, opened, cache=configured.cache, is_parts=parts, progress=out.progress, executor=executor
            )
    about = report.about
    if out.as_json:
        facts = {name: getattr(about, name) for name in ("embedder", "dimension", "nodes", "vectors", "recall")}
        facts |= {name: getattr(report, name) for name in ("embedded", "cached", "cut", "seconds", "usage")}
        out.json({**facts, "parts": about.is_parts, "exact": about.is_exact})
        return
    usage = report.usage
    out.print(
        f"{counted(about.vectors, 'vector')} of {about.dimension} dimensions for {counted(about.nodes, 'node')} by "
        f"{about.embedder}: {counted(report.embedded, 'text')} embedded, {report.cached:,} from the cache, "
        f"{report.seconds:.1f} s"
    )
    scan = "every vector is compared" if about.is_exact else "their signs are scanned first"
    out.print(f"on sampled vectors the index finds {about.recall:.1%} of the nearest ten: {scan}")
    if usage.calls:
        usd = "" if usage.usd is None else f", {usage.usd:.4f} USD"
        out.print(f"{counted(usage.calls, 'call')}, {counted(usage.prompt_tokens, 'token')}{usd}")
    if report.cut:
        cut = counted(report.cut, "text")
        out.note(f"note: {cut} too long to embed at once: only the beginning was embedded, --parts embeds all")


COMMANDS = {
    "build": (build, "build docs -o DIR"),
    "link": (link, "link DIR"),
    "embed": (embed, "embed hetionet --embedder minilm"),
}
