"""Pieces of a generation: what is made of it later and lies beside it, such as vectors or the copy that Cypher reads.

A piece is immutable, belongs to one generation, and is whole or not there. Those that cost nothing but time are made
anew where they are damaged; of the others the error names the command.
"""

from __future__ import annotations

import errno
import os
import re
import time
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import TypeVar

from orienteer.errors import GraphBusy, NotAGraph
from orienteer.graph.format import (
    CHANGED,
    PIECES,
    FileRecord,
    Piece,
    Pointer,
    check_sizes,
    damaged,
    no_link,
    read_pointer,
    sha256_of,
    size_of,
)
from orienteer.graph.publication import Digests, publishing, remove, replace_pointer

_READ_ONLY = (errno.EACCES, errno.EPERM, errno.EROFS)  # what the system says where nothing may be written
_BETWEEN_TRIES = 0.1  # seconds
_SMALL = 1 << 16  # bytes: what a file may have whose hash is taken each time it is opened
_REMOVE = "remove it, and make again what orienteer doctor says is gone"
_COMMANDS = {"vectors": "embed", "similar": "link"}
"""What makes those pieces that no question makes by itself."""
Found = TypeVar("Found")


def publish_piece(path: Path, name: str, write: Callable[[Path], None]) -> Path:
    """Make something of the current generation, such as vectors, and publish it beside it; return its folder.

    `write` fills the folder it is given. A piece is immutable and belongs to one generation: the next one starts
    without. Raises `GraphBusy`, `NotAGraph`.
    """
    with publishing(path) as work:
        pointer = read_pointer(path)
        write(work)
        with Digests() as digests:
            files = digests.records(work)
        target = _folder(path, pointer, f"{name}-{os.urandom(4).hex()}")
        target.parent.mkdir(parents=True, exist_ok=True)
        work.rename(target)
        pieces = {**pointer.pieces, name: Piece(folder=target.name, files=files)}
        replace_pointer(path, pointer.model_copy(update={"pieces": pieces}))
        remove(target.parent, re.compile(f"{name}-[0-9a-f]{{8}}"), keep=target.name)
        return target


def piece_or_made(
    path: Path,
    generation: str,
    name: str,
    *,
    read: Callable[[Path], Found | None],
    write: Callable[[Path], None],
    patience: float,
) -> tuple[Found | None, str]:
    """Return what `read` gives of a generation's piece, which `write` makes where there is none that it takes.

    One that is damaged, as `read` tells by `NotAGraph`, is made anew, once. Where it cannot be kept, for nothing may
    be written there or another generation has come, that is None with the reason. While another process makes it,
    this one waits some seconds, then raises `GraphBusy`.
    """
    deadline, is_made = time.monotonic() + patience, False
    while read_pointer(path).generation == generation:
        try:
            folder = piece(path, name)
            found = None if folder is None else read(folder)
        except NotAGraph:
            if is_made:
                raise
            found = None
        if found is not None:
            return found, ""
        try:
            publish_piece(path, name, write)
            is_made = True
        except GraphBusy:
            if time.monotonic() > deadline:
                raise
            time.sleep(_BETWEEN_TRIES)
        except OSError as error:
            if error.errno not in _READ_ONLY:
                raise
            return None, f"{path} cannot be written: {error.strerror}"
    return None, f"{path} was replaced since it was opened"


def piece(path: Path, name: str) -> Path | None:
    """Return the folder of a piece of the current generation, None where it has none of this name.

    Raises `NotAGraph` where a file of it is gone or has another size than it was written with, and where a small one
    has another content.
    """
    pointer = read_pointer(path)
    if name not in pointer.pieces:
        return None
    folder = folder_of(path, pointer, name)
    files, again = pointer.pieces[name].files or {}, remedy(path, folder)
    try:
        check_sizes(folder, {file: one.bytes for file, one in files.items()}, again)
        for file, one in files.items():
            if one.bytes <= _SMALL and sha256_of(folder / file) != one.sha256:
                raise damaged(folder / file, CHANGED, again)
    except FileNotFoundError as error:
        raise damaged(folder, f"{error.filename} is gone", again) from error
    return folder


def is_damaged(path: Path, folder: Path) -> bool:
    """Tell whether a piece that was opened is not what was published, or nobody knows: it has no hashes."""
    known = next((one for one in read_pointer(path).pieces.values() if one.folder == folder.name), None)
    return known is not None and (known.files is None or bool(damaged_among(folder, known.files)))


def damaged_among(folder: Path, files: Mapping[str, FileRecord]) -> list[str]:
    """Return those files of a folder that are not what was published."""
    return [name for name, record in files.items() if not _is_whole(folder / name, record)]


def _is_whole(file: Path, record: FileRecord) -> bool:
    try:
        return size_of(file) == record.bytes and sha256_of(file) == record.sha256
    except (OSError, NotAGraph):
        return False


def folder_of(path: Path, pointer: Pointer, name: str) -> Path:
    """Return the folder of a piece that a pointer names. Raises `NotAGraph` where it is a link or a file."""
    folder = _folder(path, pointer, pointer.pieces[name].folder)
    return no_link(folder, remedy(path, folder))


def _folder(path: Path, pointer: Pointer, folder: str) -> Path:
    return no_link(no_link(path / PIECES, _REMOVE) / pointer.generation, _REMOVE) / folder


def is_free(name: str) -> bool:
    """Tell whether a piece is made when it is needed, without a command of anybody's."""
    return name not in _COMMANDS


def remedy(path: Path, folder: Path) -> str:
    """Return how a piece that is damaged is made again."""
    name = folder.name.rpartition("-")[0]
    if is_free(name):
        return f"remove the folder {folder}, and what needs it next makes it again"
    return f"run orienteer {_COMMANDS[name]} {path} again"
