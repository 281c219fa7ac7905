"""The graph of any path: a graph directory as it is, tables and documents by way of the cache."""

from __future__ import annotations

import hashlib
import re
import time
from collections.abc import Callable
from pathlib import Path

from orienteer.display import counted
from orienteer.errors import GraphBusy, NotAGraph
from orienteer.files import locked
from orienteer.graph.builder import Progress
from orienteer.graph.format import Manifest, broken_off, is_broken_off, is_graph, read_manifest, read_pointer
from orienteer.ingest.bounds import check_readable
from orienteer.ingest.documents.read.files import holds_prose, kind_of, visible_files
from orienteer.ingest.formats import format_of
from orienteer.ingest.importer import ImportOptions, holds_graph, import_graph
from orienteer.ingest.provenance import is_stale
from orienteer.ingest.report import Report
from orienteer.ingest.tables.plan import is_beside_tables

_CACHED = re.compile(r"[\w.-]+-[0-9a-f]{12}")  # what `cached_path` makes
WAIT_SECONDS = 0.1
"""Between two looks at a graph that another process is making."""


MANY_FILES, MANY_BYTES = 2_000, 500_000_000
"""A person may have named a folder of this size by mistake: reading it takes minutes, and its graph some space."""


def graph_directory(
    path: Path,
    *,
    cache: Path,
    progress: Progress | None = None,
    confirm: Callable[[str], None] | None = None,
) -> Path:
    """Return the graph directory for a path, made of tables or documents in the cache at first use and on change.

    `confirm` is called before a large folder is read for the first time, with what would be read; it raises where that
    is not meant. Raises `NotAGraph` if there is nothing, `BadInput` where the sources cannot be read.
    """
    if is_graph(path):
        return path
    _require_sources(path)
    tell = (lambda stage, count: None) if progress is None else progress
    target = cached_path(path, cache=cache)
    locks = cache / "locks"
    for folder in (target.parent, locks):
        folder.mkdir(parents=True, exist_ok=True)  # a cache that cannot be written is told as that
    if confirm is not None and _manifest(target) is None and (much := _excess(path)):
        confirm(f"{path} holds {much}: reading all of it takes a while")
    is_waiting = False
    while True:
        before = _manifest(target)
        if before is not None and not is_stale(before):
            return target
        try:
            with locked(locks / f"{target.name}.lock", busy=f"another process makes {target}"):
                now = _manifest(target)
                if now is not None and (before is None or now.generation != before.generation) and not is_stale(now):
                    return target  # made while this process came to the lock
                if not is_waiting:
                    why = "the sources have changed: " if now is not None else ""
                    tell(f"{why}making a graph of {path} in the cache", 0)
                tell(f"made in the cache at {target}: {_make(path, target, progress)}", 0)
                return target
        except GraphBusy:
            if not is_waiting:
                tell("waiting for another process that makes it", 0)
            is_waiting = True
            time.sleep(WAIT_SECONDS)


def _require_sources(path: Path) -> None:
    """Raise `NotAGraph` if there is nothing that a graph could be made of."""
    if not path.exists():
        raise NotAGraph(f"{path} does not exist: give a graph directory, or a folder of tables or documents")
    check_readable(path)
    if is_broken_off(path):
        raise broken_off(path)


def _excess(path: Path) -> str | None:
    """Return how many files a folder has, or bytes, where they are many; None else. Looks no further than that."""
    files = size = 0
    for file in visible_files(path) if path.is_dir() else (path,):
        if (kind_of(file) is None and format_of(file) is None) or not file.is_file():
            continue
        files, size = files + 1, size + file.stat().st_size
        if files > MANY_FILES:
            return f"more than {MANY_FILES:,} files"
        if size > MANY_BYTES:
            return f"more than {MANY_BYTES // 1_000_000:,} MB"
    return None


def _make(path: Path, target: Path, progress: Progress | None) -> str:
    """Make the graph of some tables or documents, and say in one line what was made."""
    if not _is_of_documents(path):
        report = import_graph([path], target, options=ImportOptions(force=True), progress=progress)
        return f"{_summary(report, path)}{_unread(report)}"
    from orienteer.ingest.documents.run import VECTORS_GONE, BuildOptions, build_graph

    is_update = _manifest(target) is not None
    build = build_graph([path], target, options=BuildOptions(force=True, update=is_update), progress=progress)
    left = f"; left out {counted(len(build.unreadable), 'document')}: see orienteer build" if build.unreadable else ""
    gone = f"; {VECTORS_GONE}" if VECTORS_GONE in build.notes else ""
    counts = [counted(build.documents, "document"), counted(build.nodes, "node"), counted(build.edges, "edge")]
    return f"{', '.join(counts)}{left}{gone}"


def _is_of_documents(path: Path) -> bool:
    """Say whether a path is a document, or a folder with documents in it that is no graph in tables.

    Tables beside documents are read as documents, for nothing is lost then, unless their names say that they are a
    graph. A README, and a text that is a table by its first lines, are no documents that anybody asks about.
    """
    return holds_prose(path, apart_from=is_beside_tables) and not holds_graph(path)


def _unread(report: Report) -> str:
    """Say how many documents lie beside the tables of a graph, and are no part of it."""
    from orienteer.ingest.documents.read.files import kind_of

    paths = [Path(file.file) for file in report.ignored]
    paths = [path for path in paths if path.is_file() and kind_of(path) not in (None, "table")]
    unread = [path for path in paths if not is_beside_tables(path)]
    return f"; not read: {counted(len(unread), 'document')}, for which see orienteer build" if unread else ""


def _summary(report: Report, path: Path) -> str:
    """Return one line with the counts and the dropped rows: nobody who asks a question sees the report."""
    dropped = ", ".join(f"{cut.count:,} {cut.reason}" for cut in report.dropped)
    rest = f"; dropped {dropped}: see orienteer validate {path}" if dropped else ""
    return f"{counted(report.nodes, 'node')}, {counted(report.edges, 'edge')}{rest}"


def cached_path(path: Path, *, cache: Path) -> Path:
    """Return where the graph of these tables lies in the cache: a readable name and a hash of the full path."""
    full = path.resolve()
    name = re.sub(r"[^\w.-]+", "_", full.name) or "graph"
    return cache / "graphs" / f"{name}-{hashlib.sha256(str(full).encode()).hexdigest()[:12]}"


def is_cached(folder: Path) -> bool:
    """Tell whether a folder is a graph that was made in the cache, by its name."""
    return _CACHED.fullmatch(folder.name) is not None and is_graph(folder)


def _manifest(target: Path) -> Manifest | None:
    """Return the manifest of a graph in the cache, None if it has to be made again."""
    if not is_graph(target):
        return None
    try:
        return read_manifest(target, read_pointer(target))
    except (NotAGraph, OSError):  # a damaged cache is no one's loss
        return None
