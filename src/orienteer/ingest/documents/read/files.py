"""Finds the documents among the files of the sources, names each, and says why others are left out."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Literal, NamedTuple, TypeAlias

from orienteer.errors import BadInput
from orienteer.graph.format import is_graph
from orienteer.ingest.formats import format_of
from orienteer.ingest.formats.files import stray
from orienteer.ingest.formats.table import is_unicode, shown
from orienteer.records import Record

Kind: TypeAlias = Literal["markdown", "html", "text", "table", "converted"]
KINDS: Mapping[str, Kind] = {
    **dict.fromkeys([".md", ".markdown", ".mdx", ".mkd"], "markdown"),
    **dict.fromkeys([".html", ".htm", ".xhtml"], "html"),
    **dict.fromkeys([".txt", ".text", ".rst", ".adoc", ".org"], "text"),
    **dict.fromkeys([".csv", ".tsv", ".tab", ".jsonl", ".ndjson", ".parquet", ".pq"], "table"),
    **dict.fromkeys([".pdf", ".docx", ".pptx", ".xlsx", ".xlsm"], "converted"),
}
"""What a file is by its suffix. Tables in text may be packed with gzip."""


class File(NamedTuple):
    """A file that is read."""

    path: Path
    name: str
    """Its path beneath the folder that was given, with forward slashes: the id of its document."""
    kind: Kind


class SkippedFile(Record):
    """A file that was left out."""

    file: str
    reason: str


class Listing(NamedTuple):
    """The files of some sources."""

    files: tuple[File, ...]
    skipped: tuple[SkippedFile, ...]
    """Files that are no document, links that lead out; hidden files are not even these."""


def listing(sources: Sequence[Path]) -> Listing:
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
            for path in _walk(source, skipped):
                _sort(path, before + path.relative_to(source).as_posix(), files, skipped)
        else:
            _sort(source, called, files, skipped)
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


def kind_of(path: Path) -> Kind | None:
    """Return what a file is by its name, None if it is no document."""
    suffix = path.suffix.lower()
    if suffix == ".gz":
        return "table" if format_of(path) is not None else None
    return KINDS.get(suffix)


def holds_prose(path: Path, *, apart_from: Callable[[Path], bool] = lambda path: False) -> bool:
    """Say whether a path is a document that is no table in text, or a folder with at least one in it.

    Files of a folder that lie `apart_from` its documents do not count.
    """
    if not path.is_dir():
        return kind_of(path) not in (None, "table")
    return any(kind_of(file) not in (None, "table") and not apart_from(file) for file in _walk(path, []))


def visible_files(folder: Path) -> Iterator[Path]:
    """Yield the visible files of a folder and all below that a build looks at."""
    return _walk(folder, [])


def _walk(folder: Path, skipped: list[SkippedFile]) -> Iterator[Path]:
    """Return the visible files of a folder and all below; links that lead out of it are left out."""
    root = folder.resolve()

    def unreadable(error: OSError) -> None:
        skipped.append(SkippedFile(file=shown(error.filename), reason=f"cannot be read: {error.strerror}"))

    for where, folders, names in os.walk(folder, onerror=unreadable):
        here = Path(where)
        bad = [name for name in (*folders, *names) if not is_unicode(name)]
        skipped += [SkippedFile(file=shown(here / name), reason="its name is no UTF-8: rename it") for name in bad]
        names = [name for name in names if name not in bad]
        folders[:] = sorted(name for name in folders if not name.startswith(".") and name not in bad)
        links = [name for name in folders if (here / name).is_symlink()]
        graphs = [name for name in folders if name not in links and _is_graph(here / name)]
        skipped += [SkippedFile(file=str(here / name), reason="a link to a folder") for name in links]
        skipped += [SkippedFile(file=str(here / name), reason="a graph") for name in graphs]
        folders[:] = [name for name in folders if name not in graphs]
        for name in sorted(names):
            path = here / name
            if name.startswith("."):
                continue
            if path.is_symlink() and (reason := stray(path, root)):
                skipped.append(SkippedFile(file=str(path), reason=reason))
            else:
                yield path


def _is_graph(folder: Path) -> bool:
    """Say whether a folder is a graph; one that cannot be read is none, and is told when it is entered."""
    try:
        return is_graph(folder)
    except OSError:
        return False


def _sort(path: Path, name: str, files: list[File], skipped: list[SkippedFile]) -> None:
    kind = kind_of(path)
    if not path.is_file():
        skipped.append(SkippedFile(file=str(path), reason="no regular file"))
    elif kind is None:
        suffix = path.suffix or "a name without a suffix"
        skipped.append(SkippedFile(file=str(path), reason=f"{suffix} is not a format of documents"))
    else:
        files.append(File(path, name, kind))
