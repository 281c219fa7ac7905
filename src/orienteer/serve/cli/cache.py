"""Commands on the cache: cache info, cache clear, cache stop."""

from __future__ import annotations

import os
from collections.abc import Collection, Mapping
from pathlib import Path
from typing import Annotated

import typer

from orienteer.display import counted
from orienteer.errors import BadInput, UsageError, nearest
from orienteer.graph.format import is_link
from orienteer.serve.cli.arguments import file_trouble, settings
from orienteer.serve.cli.background import VectorsProcess, running_note
from orienteer.serve.cli.output import Output

_KINDS = ("graphs", "vectors", "replies")


def info(out: Output) -> None:
    """Show the folder of the cache and its content: graphs of sources, vectors of texts, replies of models."""
    folder = settings().cache
    sizes = _sizes(folder)
    total = sum(sum(paths.values()) for paths in sizes.values())
    running = VectorsProcess(folder, folder / "locks").running() if os.name == "posix" else None
    if out.as_json:
        facts = {kind: [{"path": str(path), "bytes": size} for path, size in sizes[kind].items()] for kind in _KINDS}
        told = None if running is None else running.model_dump(include={"graph", "process", "began"})
        out.json({"path": str(folder), "bytes": total, **facts, "running": told})
        return
    out.print(f"{folder}: {_summary(sizes)}, {counted(total, 'byte')}")
    out.table([[f"  {kind}/{path.name}", f"{size:,}"] for kind in _KINDS for path, size in sizes[kind].items()])
    if note := running_note(folder):
        out.print(note)


def clear(
    out: Output,
    source: Annotated[
        Path | None,
        typer.Argument(metavar="[DIR]", help="Only the graphs of this folder, file or address, or of this name."),
    ] = None,
    vectors: Annotated[
        bool, typer.Option("--vectors", help="Also remove vectors of texts; those from a server cost money.")
    ] = False,
    replies: Annotated[
        bool, typer.Option("--replies", help="Also remove replies of models, which cost money.")
    ] = False,
) -> None:
    """Remove the cached graphs, or one; they are rebuilt when needed. Vectors and replies stay unless named.

    Only what Orienteer put there is removed. The folder that a graph was made of may be gone.
    """
    # The code that reads folders is not loaded for every command.
    from orienteer.ingest.cached import remove_cached

    folder = settings().cache
    if source is not None and (vectors or replies):
        raise UsageError("vectors and replies are kept for all graphs together: leave out DIR to remove them")
    kinds = ["graphs", *(["vectors"] if vectors else []), *(["replies"] if replies else [])]
    sizes = _sizes(folder)
    for kind in kinds:
        if is_link(folder / kind):
            raise BadInput(f"{folder / kind} is a link, and nothing is removed through links: empty it by hand")
    if source is not None:
        sizes["graphs"] = {path: sizes["graphs"][path] for path in _graphs_of(source, folder, sizes["graphs"])}
    removed = {path: size for kind in kinds for path, size in sizes[kind].items()}
    for path in removed:
        with file_trouble("remove it by hand"):
            remove_cached(path)
    rest = {kind: sum(sizes[kind].values()) for kind in _KINDS if kind not in kinds and sizes[kind]}
    facts = {"path": str(folder), "removed": len(removed), "bytes": sum(removed.values()), "kept": rest}
    summary = _summary({kind: sizes[kind] for kind in kinds})
    out.show(facts, f"removed {summary}, {counted(sum(removed.values()), 'byte')}")
    for kind, size in rest.items() if not out.as_json else ():
        out.note(f"kept: {kind}, {counted(size, 'byte')}; --{kind} removes them")


def stop(out: Output) -> None:
    """End the process that makes vectors in the background. It does not start again until the folder changes."""
    folder = settings().cache
    with file_trouble("end it by hand"):
        is_stopped = os.name == "posix" and VectorsProcess(folder, folder / "locks").stop()
    facts = {"path": str(folder), "stopped": is_stopped}
    out.show(facts, "stopped" if is_stopped else "no vectors are being made")


def _graphs_of(source: Path, cache: Path, graphs: Collection[Path]) -> list[Path]:
    """Return the cached graphs that were made from a source, or have this name. Raises `BadInput`."""
    from orienteer.ingest.cached import cached_graphs
    from orienteer.ingest.stores import remote_graph

    published = remote_graph(source)
    if published is not None and (copy := published.copy(cache)) in graphs:
        return [copy]
    if made := cached_graphs(source, graphs):
        return made
    if (named := cache / "graphs" / source.name) in graphs:
        return [named]
    names = [path.name for path in graphs]
    near = nearest(source.name, names)
    hint = f" Near: {', '.join(near)}." if near else " orienteer cache info lists what is there."
    raise BadInput(f"the cache holds no graph of {source}, and none of that name.{hint}")


def _sizes(cache: Path) -> dict[str, dict[Path, int]]:
    """Return the folders of each kind in the cache with their bytes, without folders that are not ours."""
    from orienteer.index.vector_cache import is_vectors
    from orienteer.ingest.cached import is_cached
    from orienteer.ingest.documents.cut.replies import is_replies

    sizes: dict[str, dict[Path, int]] = {}
    for kind, is_ours in (("graphs", is_cached), ("vectors", is_vectors), ("replies", is_replies)):
        within = cache if kind == "replies" else cache / kind
        sizes[kind] = {
            path: sum(file.stat().st_size for file in path.rglob("*") if file.is_file())
            for path in (sorted(within.iterdir()) if within.is_dir() else ())
            if path.is_dir() and not path.is_symlink() and is_ours(path)
        }
    return sizes


def _summary(folders: Mapping[str, Collection[Path]]) -> str:
    """Return a summary: the number of graphs, and the other kinds in the cache."""
    parts = [counted(len(folders["graphs"]), "graph")]
    if vectors := folders.get("vectors"):
        parts.append(f"vectors of {counted(len(vectors), 'embedder')}")
    if folders.get("replies"):
        parts.append("replies of models")
    return ", ".join(parts)


COMMANDS = {
    "cache info": (info, "cache info"),
    "cache clear": (clear, "cache clear"),
    "cache stop": (stop, "cache stop"),
}
