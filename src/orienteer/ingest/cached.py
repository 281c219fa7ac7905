"""Graphs in the cache: where each lies, and how it goes, by a person or with the folder that it was made of."""

from __future__ import annotations

import hashlib
import re
import shutil
import time
from collections.abc import Collection, Iterator
from contextlib import suppress
from pathlib import Path

from orienteer.errors import BadInput, GraphBusy, NotAGraph
from orienteer.files import cache_folder, locked
from orienteer.graph.format import (
    DEBRIS,
    GENERATION,
    GENERATIONS,
    LOCK,
    ORIGIN,
    PIECES,
    POINTER,
    Manifest,
    broken_off,
    is_broken_off,
    is_graph,
    is_pulled,
    no_link,
    read_manifest,
    read_pointer,
)
from orienteer.graph.publication import remove
from orienteer.ingest.bounds import check_readable
from orienteer.ingest.documents.read.selection import ALL, Selection
from orienteer.ingest.provenance import is_stale, sources_of

_LOOKED, _PAUSE_SECONDS = "orphans", 3600.0
_LONGEST = 100  # bytes of the readable part of a name
_CACHED = re.compile(r"[\w.-]+-[0-9a-f]{12}")  # what `cached_path` makes


def cached_path(path: Path, *, cache: Path, selection: Selection = ALL) -> Path:
    """Return where the graph of some files lies in the cache: a readable name, what chose them, a hash of the path."""
    full = path.resolve()
    plain = re.sub(r"[^\w.-]+", "_", full.name).encode("utf-8", "replace")
    name = plain[:_LONGEST].decode("utf-8", "ignore") or "graph"
    chosen = f"-{selection.digest}" if selection.is_given else ""
    return cache_folder(cache, "graphs") / f"{name}{chosen}-{_hash(full)}"


def up_to_date(path: Path, *, cache: Path, selection: Selection = ALL) -> Path | None:
    """Return a graph as it is, and that of some files from the cache; None if it has to be made, or made again.

    Raises `NotAGraph` if there is nothing, `BadInput` if files of a graph are chosen, or cannot be read.
    """
    if is_graph(path):
        require_all_files(path, selection)
        return path
    if not path.exists():
        raise NotAGraph(f"{path} does not exist: give a graph directory, or a folder of tables or documents")
    check_readable(path)
    if is_broken_off(path):
        raise broken_off(path)
    target = cached_path(path, cache=cache, selection=selection)
    manifest = cached_manifest(target)
    return target if manifest is not None and not is_stale(manifest) else None


def require_all_files(path: Path, selection: Selection) -> None:
    """Raise `BadInput` if only some files of a graph are chosen."""
    if selection.is_given:
        raise BadInput(f"{path} is a graph already: --include and --exclude choose files of a folder")


def cached_manifest(target: Path) -> Manifest | None:
    """Return the manifest of a graph in the cache, None if it has to be made again."""
    if not is_graph(target):
        return None
    try:
        return read_manifest(target, read_pointer(target))
    except (NotAGraph, OSError):  # a damaged cache is no one's loss
        return None


def cached_graphs(path: Path, graphs: Collection[Path]) -> list[Path]:
    """Return those of some graphs in the cache that were made of a source, one for each selection of its files."""
    ending = f"-{_hash(path.resolve())}"
    return [graph for graph in graphs if graph.name.endswith(ending)]


def _hash(path: Path) -> str:
    return hashlib.sha256(str(path).encode("utf-8", "surrogateescape")).hexdigest()[:12]


def is_cached(folder: Path) -> bool:
    """Return whether a folder is a graph that was made in the cache, by its name."""
    return _CACHED.fullmatch(folder.name) is not None and is_graph(folder)


def remove_cached(folder: Path) -> None:
    """Remove a folder of the cache; from a graph only the files that we write, so that anybody else's stay."""
    if not is_graph(folder):
        shutil.rmtree(folder)
        return
    for name in (GENERATIONS, PIECES):
        remove(no_link(folder / name), GENERATION)
        with suppress(OSError):  # there is none, or it holds something else
            (folder / name).rmdir()
    remove(folder, DEBRIS)
    for name in (LOCK, ORIGIN):
        (folder / name).unlink(missing_ok=True)
    (folder / POINTER).unlink()  # last: if removal breaks off before, this still is a graph, and is removed next time
    with suppress(OSError):
        folder.rmdir()


def drop_orphans(cache: Path) -> Iterator[Path]:
    """Remove the graphs of the cache whose sources are all gone, with every text in them; yield where they came from.

    A graph from an address was made elsewhere, and stays. Where the nearest folder above it that is there is empty, a
    source may lie on a disk that is not mounted, and its graph stays. The cache is looked through once in an
    hour at the most: a look reads a record of each graph.
    """
    folder, looked = cache / "graphs", cache / "locks" / _LOOKED
    with suppress(OSError):
        if time.time() - looked.stat().st_mtime < _PAUSE_SECONDS:
            return
    with suppress(OSError):
        looked.touch()
    for graph in sorted(folder.iterdir()) if folder.is_dir() else ():
        if graph.is_symlink() or not is_cached(graph) or is_pulled(graph):
            continue
        try:
            sources = sources_of(read_manifest(graph, read_pointer(graph)))
        except (NotAGraph, OSError):  # being made, or damaged: whoever asks for it makes it anew
            continue
        if not sources or not all(_is_gone(source) for source in sources):
            continue
        with suppress(GraphBusy, OSError), locked(cache / "locks" / f"{graph.name}.lock", busy="another process"):
            if all(_is_gone(source) for source in sources):  # by now too
                remove_cached(graph)
                yield sources[0]


def _is_gone(source: Path) -> bool:
    try:
        if source.exists():
            return False
        above = next(folder for folder in source.parents if folder.exists())
        return above.is_dir() and any(above.iterdir()) and not above.is_mount()
    except OSError:
        return False
