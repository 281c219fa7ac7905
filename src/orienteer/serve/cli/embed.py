"""`embed`: vectors for a graph, so that it can be searched by meaning."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Annotated, Any

import typer

from orienteer.display import counted
from orienteer.serve.cli.arguments import Directory, file_trouble, open_graph, settings
from orienteer.serve.cli.output import Output

if TYPE_CHECKING:
    from orienteer.graph.embedding import EmbeddingReport

GROUPS: Mapping[str, str] = {}


def embed(
    out: Output,
    directory: Directory,
    embedder: Annotated[
        str | None,
        typer.Option(
            metavar="minilm|openai:NAME|PATH",
            help="minilm runs here; openai:NAME sends every text to a server; PATH is an ONNX model of yours.",
        ),
    ] = None,
    parts: Annotated[
        bool, typer.Option("--parts", help="A vector for each part of a text that is longer than is read at once.")
    ] = False,
    threads: Annotated[int, typer.Option(metavar="N", min=1, help="Threads of a model that runs here.")] = 1,
) -> None:
    """Embed every node, so that search, tools and methods can go by meaning.

    What is embedded is kept in the cache as it comes: run it again after a break, or after the graph was made anew, and
    only what is missing is embedded.
    """
    from orienteer.graph.embedding import embed_graph

    configured = settings()
    opened = configured.open_embedder(embedder or configured.embedder, threads=threads)
    graph = open_graph(directory, out)
    with file_trouble("set ORIENTEER_CACHE to a folder that can be written"):
        made = embed_graph(graph, opened, cache=configured.cache, is_parts=parts, progress=out.progress)
    if out.as_json:
        out.json(_facts(made))
    else:
        _print(out, made)


def _print(out: Output, made: EmbeddingReport) -> None:
    about = made.about
    out.print(
        f"{counted(about.vectors, 'vector')} of {about.dimension} dimensions for {counted(about.nodes, 'node')} by "
        f"{about.embedder}: {counted(made.embedded, 'text')} embedded, {made.cached:,} from the cache, "
        f"{made.seconds:.1f} s"
    )
    way = "every vector is looked at" if about.is_exact else "signs are scanned"
    out.print(f"recall@10 of sampled vectors {about.recall:.3f}: {way}")
    if made.usage.calls:
        usd = "" if made.usage.usd is None else f", {made.usage.usd:.4f} USD"
        out.print(f"{counted(made.usage.calls, 'call')}, {counted(made.usage.prompt_tokens, 'token')}{usd}")
    if made.cut:
        out.note(f"note: {counted(made.cut, 'text')} longer than is read at once: --parts embeds them whole")


def _facts(made: EmbeddingReport) -> dict[str, Any]:
    about = made.about
    return {
        "embedder": about.embedder,
        "dimension": about.dimension,
        "nodes": about.nodes,
        "vectors": about.vectors,
        "parts": about.is_parts,
        "recall": about.recall,
        "exact": about.is_exact,
        "embedded": made.embedded,
        "cached": made.cached,
        "cut": made.cut,
        "seconds": made.seconds,
        "usage": made.usage,
    }


COMMANDS = {"embed": (embed, "embed hetionet --embedder minilm")}
