"""A graph at an address: the files of a graph directory with their names, without pieces that are built on demand.

    ADDRESS/orienteer.json           the pointer, replaced last
    ADDRESS/generations/ID/          the manifest and the files it names
    ADDRESS/pieces/ID/NAME-NUMBER/   vectors and edges of similarity

So a graph directory on any file server is one. An address may be a stranger's: its content is checked before use, and
impossible claims are refused before anything is loaded.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import FIRST_EXCEPTION, ThreadPoolExecutor, wait
from dataclasses import replace
from pathlib import Path
from threading import Event, Lock
from typing import NamedTuple

from orienteer.connect.objects import Content, Objects
from orienteer.display import Count
from orienteer.errors import NotAGraph
from orienteer.graph.builder import Progress
from orienteer.graph.format import (
    BAD_POINTER,
    CHANGED,
    GENERATIONS,
    MANIFEST,
    PIECES,
    POINTER,
    FileRecord,
    Manifest,
    PieceRecord,
    Pointer,
    parse_manifest,
    parse_pointer,
)
from orienteer.graph.pieces import is_free

MOST_POINTER = 1 << 20
"""Bytes of a pointer at most."""
_MOST_MANIFEST, _MOST_FILES = 64 << 20, 10_000
_SHA256 = re.compile("[0-9a-f]{64}")
PUSH_AGAIN = "have it removed there, and the graph pushed again"


class PublishedPointer(NamedTuple):
    """A pointer at an address."""

    pointer: Pointer
    """Without the pieces that are built on demand."""
    content: Content


class PublishedGraph(NamedTuple):
    """A generation at an address, checked."""

    pointer: Pointer
    manifest: Manifest
    manifest_text: bytes
    files: Mapping[str, FileRecord]
    """The files of the generation and its pieces, without the manifest, by their names under the address."""


def kept_at_addresses(pointer: Pointer) -> Pointer:
    """Return a pointer without the pieces that are built on demand: building one is safer than trusting another's."""
    return replace(pointer, pieces={name: piece for name, piece in pointer.pieces.items() if not is_free(name)})


def published_pointer(source: Objects, *, e_tag: str | None = None) -> PublishedPointer | None:
    """Return the pointer at an address, or None if it still has this tag.

    Raises `ObjectMissing` if there is none, `NotAGraph` for a damaged one, `StoreFailed`.
    """
    if (content := source.read_changed(POINTER, MOST_POINTER, e_tag=e_tag)) is None:
        return None
    try:
        pointer = parse_pointer(content.text, str(source.address))
    except BAD_POINTER as error:
        raise _damaged(source, POINTER, _why(error)) from error
    return PublishedPointer(kept_at_addresses(pointer), content)


def published_graph(source: Objects, pointer: Pointer) -> PublishedGraph:
    """Return the generation of a pointer at an address. Raises `NotAGraph`, `ObjectMissing`, `StoreFailed`."""
    folder = f"{GENERATIONS}/{pointer.generation}"
    name = f"{folder}/{MANIFEST}"
    text = source.read(name, _MOST_MANIFEST).text
    if hashlib.sha256(text).hexdigest() != pointer.manifest:
        raise _damaged(source, name, CHANGED)
    try:
        manifest = parse_manifest(text)
    except ValueError as error:
        raise _damaged(source, name, _why(error)) from error
    if manifest.generation != pointer.generation:
        raise _damaged(source, name, f"it is of the generation {manifest.generation}")
    files = files_of(pointer, manifest, str(source.address))
    for file, record in files.items():
        if record.bytes < 0 or not _SHA256.fullmatch(record.sha256):
            raise _damaged(source, file, "its size or its hash is invalid")
    if len(files) > _MOST_FILES:
        raise _damaged(source, name, f"it names {len(files):,} files")
    return PublishedGraph(pointer, manifest, text, files)


def files_of(pointer: Pointer, manifest: Manifest, where: str | Path) -> dict[str, FileRecord]:
    """Return the files of a generation and its pieces, without the manifest, by their names in a graph directory.

    Raises `NotAGraph` for a piece without hashes.
    """
    files = {f"{GENERATIONS}/{pointer.generation}/{name}": record for name, record in manifest.files.items()}
    for name, piece in pointer.pieces.items():
        if piece.files is None:
            why = f"the {name} of {where} are from before hashes were kept, and go to no other machine"
            raise NotAGraph(f"{why}: make them again with the command that made them")
        files |= {f"{folder_of_piece(pointer, piece)}/{file}": record for file, record in piece.files.items()}
    return files


def folder_of_piece(pointer: Pointer, piece: PieceRecord) -> str:
    """Return the name of a piece's folder in a graph directory."""
    return f"{PIECES}/{pointer.generation}/{piece.folder}"


def damaged_at(source: Objects, name: str) -> NotAGraph:
    """Return the error for a file at an address that differs from its manifest."""
    return _damaged(source, name, CHANGED)


def _damaged(source: Objects, name: str, why: str) -> NotAGraph:
    return NotAGraph(f"{source.name(name)} is damaged ({why}): {PUSH_AGAIN}")


def _why(error: Exception) -> str:
    """Return the fault of a file, quoting as little of it as possible."""
    return f"{error}"[:200]


# Several files at once, to an address or from there, with progress in bytes.


_AT_ONCE = 4  # files: more are no faster, for each connection already has a part in flight
_TELL_SECONDS = 0.25


class Meter:
    """Counts the bytes that several threads transfer."""

    def __init__(self) -> None:
        self.moved = 0
        self._adding, self._ended = Lock(), Event()

    def add(self, count: int) -> None:
        """Count bytes. Raises `InterruptedError` if another file has failed, for that ends all."""
        if self._ended.is_set():
            raise InterruptedError
        with self._adding:
            self.moved += count

    def end(self) -> None:
        """Stop all transfers."""
        self._ended.set()


def moved_together(moves: Sequence[Callable[[Meter], None]], total: int, *, stage: str, tell: Progress) -> None:
    """Transfer files, each by a function that counts its bytes with a meter, `total` in all.

    The first failure ends all, and its error is raised.
    """
    meter = Meter()
    with ThreadPoolExecutor(_AT_ONCE, "transfer") as workers:
        waiting = {workers.submit(move, meter) for move in moves}
        try:
            while waiting:
                done, waiting = wait(waiting, _TELL_SECONDS, FIRST_EXCEPTION)
                failures = [error for future in done if (error := future.exception()) is not None]
                if failures:
                    raise next((error for error in failures if not isinstance(error, InterruptedError)), failures[0])
                if meter.moved:
                    tell(stage, Count(meter.moved, of=total))
        finally:
            meter.end()
            workers.shutdown(wait=True, cancel_futures=True)
