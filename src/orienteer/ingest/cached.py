"""Graphs in the cache: their paths, and their removal by a person or after their sources are gone."""

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
from orienteer.graph.pieces.tables import lacks_rows
from orienteer.graph.publication import remove
from orienteer.ingest.bounds import check_readable
from orienteer.ingest.documents.read.selection import ALL, Selection
from orienteer.ingest.provenance import is_chunk_graph, is_stale, sources_of

_LOOKED, _PAUSE_SECONDS = "orphans", 3600.0
_LONGEST = 100  # bytes of the readable part of a name
_CACHED = re.compile(r"[\w.-]+-[0-9a-f]{12}")  # what `cached_path` makes


def cached_path(path: Path, *, cache: Path, selection: Selection = ALL) -> Path:
    """Return the path of a source's graph in the cache: a readable name, the selection, a hash of the path."""
    full = path.resolve()
    plain = re.sub(r"[^\w.-]+", "_", full.name).encode("utf-8", "replace")
    name = plain[:_LONGEST].decode("utf-8", "ignore") or "graph"
    chosen = f"-{selection.digest}" if selection.is_given else ""
    return cache_folder(cache, "graphs") / f"{name}{chosen}-{_hash(full)}"


def up_to_date(path: Path, *, cache: Path, selection: Selection = ALL) -> Path | None:
    """Return the path of a graph, or of a source's graph in the cache; None if that has to be built or rebuilt.

    Raises `NotAGraph` if the path does not exist, `BadInput` for a selection of a graph's files, or unreadable files.
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
    return target if manifest is not None and is_ready(target, manifest) else None


def is_ready(target: Path, manifest: Manifest) -> bool:
    """Return whether a graph in the cache is whole, and made of its sources as they are."""
    has_documents = is_chunk_graph(manifest) or "beside" in manifest.provenance
    return not is_stale(manifest) and not (has_documents and lacks_rows(target, manifest))


def require_all_files(path: Path, selection: Selection) -> None:
    """Raise `BadInput` if a selection chooses files of a graph."""
    if selection.is_given:
        raise BadInput(f"{path} is a graph already: --include and --exclude choose files of a folder")


def cached_manifest(target: Path) -> Manifest | None:
    """Return the manifest of a graph in the cache, or None if it has to be rebuilt."""
    if not is_graph(target):
        return None
    try:
        return read_manifest(target, read_pointer(target))
    except (NotAGraph, OSError):
        # A damaged cache is rebuilt.
        return None


def cached_graphs(path: Path, graphs: Collection[Path]) -> list[Path]:
    """Return the graphs of a source among graphs in the cache, one for each selection of its files."""
    ending = f"-{_hash(path.resolve())}"
    return [graph for graph in graphs if graph.name.endswith(ending)]


def _hash(path: Path) -> str:
    return hashlib.sha256(str(path).encode("utf-8", "surrogateescape")).hexdigest()[:12]


def is_cached(folder: Path) -> bool:
    """Return whether a folder is a graph with the name of one in the cache."""
    return _CACHED.fullmatch(folder.name) is not None and is_graph(folder)


def remove_cached(folder: Path) -> None:
    """Remove a folder of the cache; from a graph only our own files, so that other files stay."""
    if not is_graph(folder):
        shutil.rmtree(folder)
        return
    for name in (GENERATIONS, PIECES):
        remove(no_link(folder / name), GENERATION)
        # It does not exist, or has other files.
        with suppress(OSError):
            (folder / name).rmdir()
    remove(folder, DEBRIS)
    for name in (LOCK, ORIGIN):
        (folder / name).unlink(missing_ok=True)
    # Last: after an interruption it still is a graph, and is removed next time.
    (folder / POINTER).unlink()
    with suppress(OSError):
        folder.rmdir()


def drop_orphans(cache: Path) -> Iterator[Path]:
    """Remove the cached graphs whose sources are all gone, with their texts; yield the paths of the sources."""
    folder, looked = cache / "graphs", cache / "locks" / _LOOKED
    # Looking reads a record of each graph: once an hour at most.
    with suppress(OSError):
        if time.time() - looked.stat().st_mtime < _PAUSE_SECONDS:
            return
    with suppress(OSError):
        looked.touch()
    for graph in sorted(folder.iterdir()) if folder.is_dir() else ():
        # Graphs from an address were made elsewhere, and stay.
        if graph.is_symlink() or not is_cached(graph) or is_pulled(graph):
            continue
        try:
            sources = sources_of(read_manifest(graph, read_pointer(graph)))
        except (NotAGraph, OSError):
            # It is being built, or damaged, and then rebuilt at the next question.
            continue
        if not sources or not all(_is_gone(source) for source in sources):
            continue
        with suppress(GraphBusy, OSError), locked(cache / "locks" / f"{graph.name}.lock", busy="another process"):
            # Looked at once more, now that it is locked.
            if all(_is_gone(source) for source in sources):
                remove_cached(graph)
                yield sources[0]


def _is_gone(source: Path) -> bool:
    try:
        if source.exists():
            return False
        above = next(folder for folder in source.parents if folder.exists())
        # The disk of an empty folder may not be mounted: its sources count as there.
        return above.is_dir() and any(above.iterdir()) and not above.is_mount()
    except OSError:
        return False
