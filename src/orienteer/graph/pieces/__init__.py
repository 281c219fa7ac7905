"""Pieces of a generation: made from it later and stored next to it, such as vectors or Cypher's copy.

A piece is immutable, belongs to one generation, and is either complete or missing. A damaged piece that costs only time
is rebuilt; for the others, the error names the command.
"""

from __future__ import annotations

import errno
import os
import re
import time
from collections.abc import Callable, Mapping
from dataclasses import replace
from pathlib import Path
from typing import TypeVar

from orienteer.errors import GraphBusy, NotAGraph
from orienteer.graph import format
from orienteer.graph.publication import Digests, publishing, remove, replace_pointer

_READ_ONLY = (errno.EACCES, errno.EPERM, errno.EROFS)  # the system's errors for a read-only folder
_BETWEEN_TRIES = 0.1  # seconds
_SMALL = 1 << 16  # bytes: the hash of a smaller file is checked at each opening
_REMOVE = "remove it, and rebuild the pieces that orienteer doctor reports as missing"
_COMMANDS = {"vectors": "embed", "similar": "link", "tables": "build --update --output"}
"""The pieces that are not built on demand, with the command that makes each."""
Content = TypeVar("Content")


def publish_piece(path: Path, name: str, write: Callable[[Path], None]) -> Path:
    """Publish a piece of the current generation, such as vectors, and return its folder.

    `write` fills a folder. The next generation starts without the piece. Raises `GraphBusy`, `NotAGraph`.
    """
    with publishing(path) as work:
        pointer = format.read_pointer(path)
        write(work)
        with Digests() as digests:
            files = digests.records(work)
        target = _folder(path, pointer, f"{name}-{os.urandom(4).hex()}")
        target.parent.mkdir(parents=True, exist_ok=True)
        work.rename(target)
        pieces = {**pointer.pieces, name: format.PieceRecord(folder=target.name, files=files)}
        replace_pointer(path, replace(pointer, pieces=pieces))
        remove(target.parent, re.compile(f"{name}-[0-9a-f]{{8}}"), keep=target.name)
        return target


def piece_or_made(
    path: Path,
    generation: str,
    name: str,
    *,
    read: Callable[[Path], Content | None],
    write: Callable[[Path], None],
    patience: float,
) -> tuple[Content | None, str]:
    """Return the result of `read` for a generation's piece; if that is None, `write` makes the piece first.

    A damaged piece, for which `read` raises `NotAGraph`, is rebuilt once. If the piece cannot be published, because the
    folder is read-only or missing, or has another generation, the result is None with the reason. While another process
    makes the piece, this one waits for `patience` seconds, then raises `GraphBusy`.
    """
    deadline, is_made = time.monotonic() + patience, False
    while format.is_graph(path) and format.read_pointer(path).generation == generation:
        try:
            folder = piece(path, name)
            content = None if folder is None else read(folder)
        except NotAGraph:
            if is_made:
                raise
            content = None
        if content is not None:
            return content, ""
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
    return None, f"{path} was replaced or removed since it was opened"


def piece(path: Path, name: str) -> Path | None:
    """Return the folder of a piece of the current generation, or None without the piece.

    Raises `NotAGraph` for a missing file, a file of another size, and a small file with another content.
    """
    pointer = format.read_pointer(path)
    if name not in pointer.pieces:
        return None
    folder = folder_of(path, pointer, name)
    files, again = pointer.pieces[name].files or {}, remedy(path, folder)
    try:
        format.check_sizes(folder, {file: record.bytes for file, record in files.items()}, again)
        for file, record in files.items():
            if record.bytes <= _SMALL and format.sha256_of(folder / file) != record.sha256:
                raise format.damaged(folder / file, format.CHANGED, again)
    except FileNotFoundError as error:
        raise format.damaged(folder, f"{error.filename} is gone", again) from error
    return folder


def is_damaged(path: Path, folder: Path) -> bool:
    """Return whether an open piece differs from the published one, or cannot be checked because it has no hashes."""
    current = next((entry for entry in format.read_pointer(path).pieces.values() if entry.folder == folder.name), None)
    return current is not None and (current.files is None or bool(damaged_among(folder, current.files)))


def damaged_among(folder: Path, files: Mapping[str, format.FileRecord]) -> list[str]:
    """Return the files of a folder that differ from those published, in size or content."""

    def is_whole(file: Path, record: format.FileRecord) -> bool:
        try:
            return format.size_of(file) == record.bytes and format.sha256_of(file) == record.sha256
        except (OSError, NotAGraph):
            return False

    return [name for name, record in files.items() if not is_whole(folder / name, record)]


def folder_of(path: Path, pointer: format.Pointer, name: str) -> Path:
    """Return the folder of a pointer's piece. Raises `NotAGraph` for a link or a file in its place."""
    folder = _folder(path, pointer, pointer.pieces[name].folder)
    return format.no_link(folder, remedy(path, folder))


def _folder(path: Path, pointer: format.Pointer, folder: str) -> Path:
    return format.no_link(format.no_link(path / format.PIECES, _REMOVE) / pointer.generation, _REMOVE) / folder


def is_free(name: str) -> bool:
    """Return whether the piece is built on demand."""
    return name not in _COMMANDS


def command_of(name: str) -> str:
    """Return the command that makes a piece which is not built on demand."""
    return _COMMANDS[name]


def remedy(path: Path, folder: Path) -> str:
    """Return the advice for a damaged piece."""
    name = folder.name.rpartition("-")[0]
    if is_free(name):
        return f"remove the folder {folder}; it is rebuilt on demand"
    return f"run orienteer {_COMMANDS[name]} {path} again"
