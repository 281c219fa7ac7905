"""The graph of any path: a graph directory as it is; tables, documents and graphs at an address by way of the cache."""

from __future__ import annotations

import logging
import stat
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import NamedTuple

from orienteer.display import counted
from orienteer.errors import BadInput, GraphBusy, UnclearTables
from orienteer.files import locked, make_cache_folder
from orienteer.graph.builder import Progress
from orienteer.graph.format import is_graph
from orienteer.graph.pieces.vectors import read_about
from orienteer.ingest.cached import cached_manifest, cached_path, drop_orphans, is_ready, require_all_files, up_to_date
from orienteer.ingest.documents.beside import DocumentsBeside
from orienteer.ingest.documents.read.collection import recognize
from orienteer.ingest.documents.read.files import File, FolderWalk, holds_prose, lies_beside_tables
from orienteer.ingest.documents.read.kinds import kind_of
from orienteer.ingest.documents.read.selection import ALL, Selection
from orienteer.ingest.documents.so_far import HearInterim, Interim
from orienteer.ingest.documents.table_rows import publish_rows
from orienteer.ingest.formats import CONTAINERS, DATABASES, GRAPHS, RDF
from orienteer.ingest.formats.files import suffix
from orienteer.ingest.importer import ImportOptions, holds_graph, imported
from orienteer.ingest.provenance import is_chunk_graph, is_stale
from orienteer.ingest.report import Report
from orienteer.ingest.stores import remote_graph
from orienteer.ingest.tables.inside import holds_tables
from orienteer.ingest.tables.plan import listing
from orienteer.text.tokenizer import plural

logger = logging.getLogger(__name__)
WAIT_SECONDS = 0.1
"""Between two looks at a graph that another process is making."""


MANY_FILES, MANY_BYTES = 2_000, 500_000_000
"""A person may have named a folder of this size by mistake: reading it takes minutes, and its graph some space."""


class FoundGraph(NamedTuple):
    """The graph of a path."""

    path: Path
    is_new: bool = False
    """It was built in the cache just now, so that its skipped files have not been reported yet."""


def graph_directory(path: Path, *, cache: Path, progress: Progress | None = None) -> Path:
    """Return the graph directory for a path as `graph_at` does, with all files of a folder, however large."""
    return graph_at(path, cache=cache, progress=progress).path


def graph_at(
    path: Path,
    *,
    cache: Path,
    selection: Selection = ALL,
    progress: Progress | None = None,
    confirm: Callable[[str], None] | None = None,
    hear: HearInterim | None = None,
) -> FoundGraph:
    """Return the graph for a path; from tables or documents it is built in the cache at first use and on change.

    A graph at an address is pulled into the cache, and updated at each call. Each selection of files has its own graph.
    `confirm` is called with a description before a large folder is read for the first time; it raises to decline.
    `hear` receives graphs that answer meanwhile: the previous one if the sources have changed, else partial graphs of
    documents. Raises `NotAGraph` if the path does not exist, `BadInput` if the sources cannot be read.
    """
    if (published := remote_graph(path)) is not None:
        require_all_files(path, selection)
        return FoundGraph(*published.pulled(cache, tell=_logged if progress is None else progress))
    if (ready := graph_that_is_ready(path, cache=cache, selection=selection)) is not None:
        return FoundGraph(ready)
    target = cached_path(path, cache=cache, selection=selection)
    if confirm is not None:
        confirm_large(path, confirm, cache=cache, selection=selection)
    tell = _silent if progress is None else progress
    directory = _up_to_date(path, target, selection, cache, _Listener(tell, hear))
    for gone in drop_orphans(cache):
        tell(f"dropped from the cache the graph of {gone}, which is gone", 0)
    return directory


def graph_that_is_ready(path: Path, *, cache: Path, selection: Selection = ALL) -> Path | None:
    """Return the graph of a path as `graph_at` does, or None if it has to be built; sources are only compared."""
    if (published := remote_graph(path)) is not None:
        require_all_files(path, selection)
        # However old: it answers until a newer one is pulled.
        return published.sound_copy(cache)
    return up_to_date(path, cache=cache, selection=selection)


def may_hold_sources(path: Path, selection: Selection = ALL) -> bool:
    """Return whether there is a file with a readable name; nothing is opened."""
    files = FolderWalk(path, selection) if path.is_dir() else (path,)
    return any(kind_of(file) is not None or _may_hold_graph(file) or suffix(file) in CONTAINERS for file in files)


def confirm_large(path: Path, confirm: Callable[[str], None], *, cache: Path, selection: Selection = ALL) -> None:
    """Call `confirm` as `graph_at` does, if a large folder would be read for the first time."""
    target = cached_path(path, cache=cache, selection=selection)
    if not is_graph(target) and (much := _excess(path, selection)):
        confirm(f"{path} holds {much}: reading all of it takes a while")


def _logged(stage: str, count: int) -> None:
    """Log the messages for a terminal, without progress."""
    if not count:
        logger.warning("%s", stage)


def _silent(stage: str, count: int) -> None:
    """Take no notice of progress."""


class _Listener(NamedTuple):
    """The callbacks of a build."""

    tell: Progress
    hear: HearInterim | None


def _up_to_date(path: Path, target: Path, selection: Selection, cache: Path, listener: _Listener) -> FoundGraph:
    """Return the graph at the target, rebuilt by this process or another one if the sources have changed."""
    tell = listener.tell
    # Its error explains a read-only cache.
    make_cache_folder(cache, "graphs")
    locks = make_cache_folder(cache, "locks")
    is_waiting = False
    while True:
        before = cached_manifest(target)
        if before is not None and is_ready(target, before):
            return FoundGraph(target)
        if before is not None and listener.hear is not None and not is_waiting:
            listener.hear(Interim(target))
        try:
            with locked(locks / f"{target.name}.lock", busy=f"another process makes {target}"):
                now = cached_manifest(target)
                if now is not None and is_ready(target, now):
                    # Another process made it while this one waited for the lock.
                    return FoundGraph(target)
                if not is_waiting:
                    is_changed = now is not None and is_stale(now)
                    why = (
                        "the sources have changed: "
                        if is_changed
                        else ""
                        if now is None
                        else "its tables are not read yet: "
                    )
                    tell(f"{why}making a graph of {path} in the cache", 0)
                tell(_make(path, target, selection, listener), 0)
                return FoundGraph(target, is_new=True)
        except GraphBusy:
            if not is_waiting:
                tell("waiting for another process that makes it", 0)
            is_waiting = True
            time.sleep(WAIT_SECONDS)


def _excess(path: Path, selection: Selection) -> str | None:
    """Return a description of the size of a large source, or None; stops once it is known to be large."""
    files = size = 0
    for file in FolderWalk(path, selection) if path.is_dir() else (path,):
        try:
            status = file.stat()
        except OSError:
            # Reading the file explains the error.
            continue
        if kind_of(file) is None or not stat.S_ISREG(status.st_mode):
            continue
        files, size = files + 1, size + status.st_size
        if files > MANY_FILES:
            return f"more than {MANY_FILES:,} files"
        if size > MANY_BYTES:
            return f"more than {MANY_BYTES // 1_000_000:,} MB"
    return None


def _make(path: Path, target: Path, selection: Selection, listener: _Listener) -> str:
    """Build the graph of tables or documents; return a one-line summary."""
    progress = listener.tell
    if _is_of_documents(path, selection):
        return _build(path, target, selection, listener)
    if selection.is_given and path.is_dir():
        # A part of a graph in tables would be another graph.
        chosen = set(FolderWalk(path, selection))
        if missing := [file for file in FolderWalk(path) if _may_hold_graph(file) and file not in chosen]:
            raise BadInput(
                f"{path} is a graph in tables, and --include and --exclude leave out {missing[0].name}: choose among "
                f"documents, or name the tables: orienteer import {path}/... -o DIR"
            )
    beside = DocumentsBeside(path, selection, progress) if path.is_dir() else None
    options = ImportOptions(force=True)
    try:
        made = imported([path], target, options=options, progress=progress, beside=beside, tells_plan=False)
    except UnclearTables as error:
        try:
            told = _build(path, target, selection, listener)
        except BadInput:
            raise error from None
        return f"{told}; its tables are read row by row, for they are no clear graph: {AS_A_GRAPH.format(path)}"
    if beside is not None and beside.count:
        publish_rows(target)
    return _in_one_line(made.report, path, documents=0 if beside is None else beside.count)


MOST_FILES, MOST_TYPES = 3, 4
"""Files, and types, that one line names."""


def _in_one_line(report: Report, source: Path, *, documents: int) -> str:
    """Return what a graph of tables is: its files, things and links, what was dropped and what is open."""
    files = dict.fromkeys(mapping.file.partition("#")[0] for mapping in report.mapping if mapping.kind != "ignored")
    things = sorted(report.node_types.items(), key=lambda item: (-item[1], item[0]))
    parts = [
        f"{counted(len(things), 'type')} of things ({some([_number_of(*each) for each in things], MOST_TYPES)})",
        f"{counted(len(report.edge_types), 'type')} of links ({some(list(report.edge_types), MOST_TYPES)})"
        if report.edge_types
        else "no links",
    ]
    parts += [f"{counted(documents, 'document')} beside the tables"] if documents else []
    dropped = ", ".join(f"{cut.count:,} {cut.reason}" for cut in report.dropped)
    asked = sum(len(mapping.questions) for mapping in report.mapping)
    rest = [f"dropped {dropped}"] if dropped else []
    rest += [f"{counted(asked, 'question')} open"] if asked else []
    more = f"; {', '.join(rest)} (orienteer info {source})" if rest else ""
    return f"{some([Path(file).name for file in files], MOST_FILES)}: {', '.join(parts)}{more}"


def _number_of(node_type: str, count: int) -> str:
    words = node_type.replace("_", " ")
    return f"{count:,} {words if count == 1 else plural(words)}"


def some(names: Sequence[str], most: int) -> str:
    """Return names as a list in words; those beyond `most` are counted."""
    shown = [*names[:most], *([f"{len(names) - most:,} more"] if len(names) > most else [])]
    return " and ".join([part for part in (", ".join(shown[:-1]), shown[-1]) if part])


BACKGROUND = "minilm"
"""The embedder whose vectors are made in the background, so that their loss need not be reported."""
AS_A_GRAPH = "orienteer validate {} says how to make one of them"


def _build(path: Path, target: Path, selection: Selection, listener: _Listener) -> str:
    """Build a graph of documents; return a one-line summary."""
    from orienteer.ingest.documents.run import VECTORS_GONE, BuildOptions, build_graph

    before = cached_manifest(target)
    is_update = before is not None and is_chunk_graph(before)
    options = BuildOptions(force=True, update=is_update, include=selection.include, exclude=selection.exclude)
    about = read_about(target) if before is not None else None
    build = build_graph([path], target, options=options, progress=listener.tell, hear=listener.hear)
    counts = [counted(build.documents, "document"), counted(build.nodes, "node"), counted(build.edges, "edge")]
    is_lost = VECTORS_GONE in build.notes and about is not None and about.embedder != BACKGROUND
    return f"made in the cache at {target}: {', '.join(counts)}{f'; {VECTORS_GONE}' if is_lost else ''}"


def _is_of_documents(path: Path, selection: Selection) -> bool:
    """Return whether a path is a document, or a folder with documents that is not a graph in tables.

    Tables among documents are read as documents, for nothing is lost then, unless they are more, or their names are
    those of a graph. A README, and a text whose first lines are a table, do not count as documents.
    """
    if not path.is_dir():
        if holds_tables(path):
            return recognize([path]) is not None  # a corpus in one file
        return not _may_hold_graph(path) or (kind_of(path) != "table" and not holds_graph(path))
    if not any(map(_may_hold_graph, FolderWalk(path, selection))):
        return holds_prose(path, selection) or not any(map(holds_tables, listing(path)))
    return holds_prose(path, selection) and not holds_graph(path) and not _has_more_tables(path, selection)


def _has_more_tables(path: Path, selection: Selection) -> bool:
    """Return whether a folder has more tables than documents: a note beside them is one."""
    files = [(file, kind_of(file)) for file in FolderWalk(path, selection)]
    tables = sum(1 for file, _ in files if _may_hold_graph(file) or suffix(file) in CONTAINERS)
    return tables > sum(1 for file, kind in files if kind is not None and lies_beside_tables(File(file, "", kind)))


def _may_hold_graph(file: Path) -> bool:
    """Return whether a file may be a table or have a graph, by its name."""
    return kind_of(file) == "table" or suffix(file) in _GRAPHS


_GRAPHS = frozenset((*GRAPHS, *RDF, *DATABASES, ".sif"))
