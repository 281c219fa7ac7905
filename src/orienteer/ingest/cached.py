"""Graphs in the cache: removed by a person, or with the folder that they were made of."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

from orienteer.errors import GraphBusy, NotAGraph
from orienteer.files import locked
from orienteer.graph.format import (
    DEBRIS,
    GENERATION,
    GENERATIONS,
    LOCK,
    PIECES,
    POINTER,
    is_graph,
    no_link,
    read_manifest,
    read_pointer,
)
from orienteer.graph.publication import remove
from orienteer.ingest.provenance import sources_of


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
    (folder / LOCK).unlink(missing_ok=True)
    (folder / POINTER).unlink()  # last: if removal breaks off before, this still is a graph, and is removed next time
    with suppress(OSError):
        folder.rmdir()


def drop_orphans(cache: Path) -> Iterator[Path]:
    """Remove the graphs of the cache whose sources are all gone, with every text in them; yield where they came from.

    A source counts as gone where its folder is there and it is not: what lies on a disk that is not mounted stays.
    """
    from orienteer.ingest.sources import is_cached

    folder = cache / "graphs"
    for graph in sorted(folder.iterdir()) if folder.is_dir() else ():
        if graph.is_symlink() or not is_cached(graph):
            continue
        try:
            sources = sources_of(read_manifest(graph, read_pointer(graph)))
        except (NotAGraph, OSError):  # being made, or damaged: whoever asks for it makes it anew
            continue
        if not sources or not all(_is_gone(source) for source in sources):
            continue
        with suppress(GraphBusy, OSError), locked(cache / "locks" / f"{graph.name}.lock", busy="another process"):
            remove_cached(graph)
            yield sources[0]


def _is_gone(source: Path) -> bool:
    try:
        return source.parent.is_dir() and not source.exists()
    except OSError:
        return False
