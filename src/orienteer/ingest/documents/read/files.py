"""Finds the documents among the files of the sources, names each, and says why others are left out."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from contextlib import suppress
from pathlib import Path
from typing import NamedTuple

from orienteer.errors import BadInput
from orienteer.graph.format import is_graph
from orienteer.ingest.bounds import SkippedFile
from orienteer.ingest.documents.read.kinds import Kind, kind_of, why_left_out
from orienteer.ingest.documents.read.selection import ALL, GIT, IgnoredNames, Selection
from orienteer.ingest.formats import WORKBOOKS
from orienteer.ingest.formats.files import stray, suffix
from orienteer.ingest.formats.table import is_unicode
from orienteer.ingest.tables.plan import is_beside_tables

IGNORED = "ignored by .gitignore"


class File(NamedTuple):
    """A file that is read."""

    path: Path
    name: str
    """Its path beneath the folder that was given, with forward slashes: the id of its document."""
    kind: Kind


class Listing(NamedTuple):
    """The files of some sources."""

    files: tuple[File, ...]
    skipped: tuple[SkippedFile, ...]
    """Files that are no document, links that lead out; hidden files are not even these."""


def listing(sources: Sequence[Path], selection: Selection = ALL) -> Listing:
    """Return the documents of some files and folders, by name. Raises `BadInput` for a source that cannot be one."""
    names = [source.resolve().name for source in sources]
    double = next((name for name in names if names.count(name) > 1), None)
    if double is not None:
        raise BadInput(f"two sources are called {double!r}: give the folder that holds both, or rename one")
    _check_apart(sources)
    files: list[File] = []
    skipped: list[SkippedFile] = []
    for source, called in zip(sources, names, strict=True):
        if not source.exists():
            raise BadInput(f"{source} does not exist: name a folder of documents, or a document")
        if is_graph(source):
            raise BadInput(f"{source} is a graph already: give the documents that it was made from")
        if source.is_dir():
            before = "" if len(sources) == 1 else f"{called}/"
            walk = FolderWalk(source, selection)
            for path in walk:
                sort(path, before + path.relative_to(source).as_posix(), files, skipped)
            skipped += walk.skipped
        else:
            sort(source, called, files, skipped)
    return Listing(
        tuple(sorted(files, key=lambda file: file.name)), tuple(sorted(skipped, key=lambda left_out: left_out.file))
    )


def _check_apart(sources: Sequence[Path]) -> None:
    """Raise `BadInput` if a source lies in another: its documents would be read twice, under two names."""
    whole = [source.resolve() for source in sources]
    for source, path in zip(sources, whole, strict=True):
        outer = next((other for other in whole if other != path and path.is_relative_to(other)), None)
        if outer is not None:
            raise BadInput(f"{source} lies in {outer}, which is read whole: leave one of the two out")


def folders_of(folder: Path, selection: Selection = ALL) -> list[Path]:
    """Return the folders that are looked into for documents, and the `.gitignore` files that are heeded there."""
    walk = FolderWalk(folder, selection)
    for _ in walk:
        pass
    return [*walk.folders, *walk.ignored.read]


def holds_prose(folder: Path, selection: Selection = ALL) -> bool:
    """Return whether a folder holds a document that is asked about."""
    kinds = ((path, kind_of(path)) for path in FolderWalk(folder, selection))
    return any(kind is not None and lies_beside_tables(File(path, "", kind)) for path, kind in kinds)


def lies_beside_tables(file: File) -> bool:
    """Return whether a file is a document that is asked about where it lies beside a graph in tables.

    A README, a table named .txt, a workbook, and what only its bytes tell to be text, as scripts are, belong to the
    tables.
    """
    is_workbook = suffix(file.path) in WORKBOOKS
    return file.kind not in ("table", "unknown") and not is_workbook and not is_beside_tables(file.path)


class FolderWalk:
    """The files of a folder and all below that are meant: the visible ones that no `.gitignore` names, by default."""

    def __init__(self, folder: Path, selection: Selection = ALL) -> None:
        self._folder, self._selection = folder, selection
        self._root = folder.resolve()
        self.ignored = IgnoredNames(folder)
        self.folders = [folder]
        """Those that were gone into, or could not be."""
        self._taken: set[tuple[str, ...]] = set()
        """Folders that a person included, and those within them."""
        self.skipped: list[SkippedFile] = []
        """What was left out on the way, links, graphs, folders that cannot be read."""

    def __iter__(self) -> Iterator[Path]:
        for where, folders, files in os.walk(self._folder, onerror=self._unreadable):
            here = Path(where)
            names = here.relative_to(self._folder).parts
            self.ignored.enter(here, names)
            folders[:] = [name for name in sorted(folders) if self._takes(here, name, names, is_folder=True)]
            for name in sorted(files):
                if self._takes(here, name, names, is_folder=False):
                    yield here / name

    def _unreadable(self, error: OSError) -> None:
        self._skip(error.filename, f"cannot be read: {error.strerror}")

    def _skip(self, path: object, reason: str) -> bool:
        name = str(path).encode("utf-8", "replace").decode()  # with a question mark for each byte that is no UTF-8
        self.skipped.append(SkippedFile(file=name, reason=reason))
        return False

    def _takes(self, here: Path, name: str, above: tuple[str, ...], *, is_folder: bool) -> bool:
        """Return whether a file is read, or a folder gone into."""
        names, path = (*above, name), here / name
        if not is_unicode(name):
            return self._skip(path, "its name is no UTF-8: rename it")
        if (is_folder and name == GIT) or self._selection.leaves_out(names, is_folder=is_folder):
            return False
        is_named, is_taken = self._selection.names(names, is_folder=is_folder), above in self._taken
        if not is_named and not (is_folder and self._selection.included.lead_to(names)):
            if name.startswith(".") or not (is_folder or is_taken or not self._selection.include):
                return False
            if self.ignored.hold(names, is_folder=is_folder):
                return self._skip(path, IGNORED)
        if reason := self._why_not(path, is_folder=is_folder):
            return self._skip(path, reason)
        if is_folder:
            self.folders.append(path)
        if is_folder and (is_named or is_taken):
            self._taken.add(names)
        return True

    def _why_not(self, path: Path, *, is_folder: bool) -> str:
        """Return why a link, or a graph, is not read; one in a folder that cannot be entered is told when it is."""
        with suppress(OSError):
            if path.is_symlink():
                return "a link to a folder" if is_folder else stray(path, self._root) or self._hidden_target(path)
            if is_folder and is_graph(path):
                return "a graph"
        return ""

    def _hidden_target(self, link: Path) -> str:
        """Say why what a link within the folder leads to is not read under its own name; empty where it is."""
        try:
            names = link.resolve().relative_to(self._root).parts
        except (OSError, ValueError):
            return ""
        is_hidden = any(name.startswith(".") for name in names)
        is_ignored = any(self.ignored.hold(names[:at], is_folder=at < len(names)) for at in range(1, len(names) + 1))
        return "a link to a file that is hidden or ignored" if is_hidden or is_ignored else ""


def sort(path: Path, name: str, files: list[File], skipped: list[SkippedFile]) -> None:
    """Put a file among those that are read, under this name, or among those that are left out."""
    kind = kind_of(path)
    try:
        reason = why_left_out(path) if kind is None else ""
        reason = reason if path.is_file() else "no regular file"
    except OSError as error:  # its folder may be listed and not entered
        reason = f"cannot be read: {error.strerror}"
    if kind is None or reason:
        skipped.append(SkippedFile(file=str(path), reason=reason))
    else:
        files.append(File(path, name, kind))
