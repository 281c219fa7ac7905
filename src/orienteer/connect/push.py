"""Pushes a graph directory to an address: the missing files, and the pointer last.

Readers see the previous generation or this one, complete. An interrupted push is resumed by the next one. A file that
the previous generation has too, by its hash, is copied within the store.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Collection, Iterator, Mapping
from contextlib import suppress
from datetime import UTC, datetime, timedelta
from functools import partial
from pathlib import Path
from time import monotonic
from typing import Annotated

import typer

from orienteer.connect.bucket import CHUNK, Bucket, ListedFile
from orienteer.connect.objects import Address, address_of
from orienteer.connect.published import (
    Meter,
    PublishedPointer,
    files_of,
    folder_of_piece,
    kept_at_addresses,
    moved_together,
    published_graph,
    published_pointer,
)
from orienteer.display import counted
from orienteer.errors import BadInput, BadOption, GraphBusy, NotAGraph, ObjectMissing, StoreFailed
from orienteer.graph.builder import Progress
from orienteer.graph.format import (
    CHANGED,
    GENERATION,
    GENERATIONS,
    MANIFEST,
    PIECES,
    POINTER,
    FileRecord,
    Pointer,
    damaged,
    read_manifest,
    read_pointer,
    size_of,
    to_json,
)
from orienteer.records import Record
from orienteer.serve.cli.arguments import Directory, graph_of
from orienteer.serve.cli.output import Output

# Bytes: a larger file goes in parts.
_AT_ONCE = 2 * CHUNK
# Unused folders stay this long after their last file came, for a reader or another push may use them.
_KEPT = timedelta(hours=1)
# The folders of a push; nothing else is ever removed.
_FOLDER = re.compile(f"{GENERATIONS}/{GENERATION.pattern}|{PIECES}/{GENERATION.pattern}/[a-z]+-[0-9a-f]{{8}}")


class PushReport(Record):
    """The result of a push."""

    address: str
    generation: str
    is_new: bool
    """The address had another generation before, or none."""
    files: int
    bytes: int
    """The size of the graph with its manifest."""
    sent: int
    """Files that were sent."""
    sent_bytes: int
    copied: int
    """Files that the store copied from the previous generation."""
    removed: int
    """Files of unused generations."""
    seconds: float


def push_graph(path: Path, address: Address, *, tell: Progress) -> PushReport:
    """Push the current generation of a graph directory to an address.

    Raises `BadOption` for a read-only address, `BadInput` if it has other files, `NotAGraph` for a damaged graph,
    `GraphBusy` if another push was faster or the graph was replaced meanwhile, `StoreFailed`.
    """
    if not address.is_bucket:
        raise BadOption(f"{address} is only read from: push to s3://BUCKET/NAME")
    began, target = monotonic(), Bucket(address, is_written=True)
    pointer = kept_at_addresses(read_pointer(path))
    files = _files(path, pointer)
    before: PublishedPointer | None = None
    # The first push finds no graph.
    with suppress(ObjectMissing):
        before = published_pointer(target)
    total = sum(record.bytes for record in files.values())
    report = partial(PushReport, address=str(address), generation=pointer.generation, files=len(files), bytes=total)
    there = target.list()
    others = [name for name in there if name == POINTER or not name.startswith((f"{GENERATIONS}/", f"{PIECES}/"))]
    # Nobody wants a graph among other files.
    if before is None and others:
        raise BadInput(f"{address} holds {others[0]!r}, which is not of a graph: name a place with nothing in it")
    lacking = {name: record for name, record in files.items() if not _is_there(there.get(name), record)}
    is_new = before is None or before.pointer != pointer
    if not (is_new or lacking):
        return report(is_new=False, sent=0, sent_bytes=0, copied=0, removed=0, seconds=monotonic() - began)
    copied = _copied(target, lacking, before, there)
    left = {name: record for name, record in lacking.items() if name not in copied}
    sent_bytes = sum(record.bytes for record in left.values())
    moves = [partial(_send, target, path, name, record) for name, record in left.items()]
    try:
        moved_together(moves, sent_bytes, stage=f"pushing {counted(len(moves), 'file')} to {address}, bytes", tell=tell)
    except FileNotFoundError as error:
        raise GraphBusy(f"{path} was replaced while it was pushed: push again") from error
    there_now = target.list()
    for name, record in files.items():
        # Another push may have removed it as unused.
        if not _is_there(there_now.get(name), record):
            raise StoreFailed(f"{target.name(name)} is gone again: push again, and it is sent again")
    if is_new:
        target.put_over(POINTER, to_json(pointer).encode(), None if before is None else before.content)
    removed = _removed(target, there, [pointer, *([before.pointer] if before is not None else [])])
    return report(
        is_new=is_new,
        sent=len(left),
        sent_bytes=sent_bytes,
        copied=len(copied),
        removed=removed,
        seconds=monotonic() - began,
    )


def _files(path: Path, pointer: Pointer) -> dict[str, FileRecord]:
    """Return all files of a graph except its pointer, by their names in it; the manifest comes last."""
    try:
        manifest = read_manifest(path, pointer)
        name = f"{GENERATIONS}/{pointer.generation}/{MANIFEST}"
        return {
            **files_of(pointer, manifest, path),
            name: FileRecord(bytes=size_of(path / name), sha256=pointer.manifest),
        }
    except FileNotFoundError as error:
        raise NotAGraph(f"{path} lacks {error.filename}: import the graph again with --force", paths=[path]) from error


def _is_there(listed: ListedFile | None, record: FileRecord) -> bool:
    """Return whether a file is at the address; stores write atomically, so that its size is proof enough."""
    return listed is not None and listed.size == record.bytes


def _copied(
    target: Bucket, lacking: Mapping[str, FileRecord], before: PublishedPointer | None, there: Mapping[str, ListedFile]
) -> set[str]:
    """Copy the files that the previous generation has too, and return their names."""
    if before is None or not lacking:
        return set()
    try:
        known = published_graph(target, before.pointer).files
    except (NotAGraph, StoreFailed):
        # The graph there is damaged, and this push repairs it.
        return set()
    named = {record.sha256: name for name, record in known.items() if _is_there(there.get(name), record)}
    copied: set[str] = set()
    for name, record in sorted(lacking.items(), key=lambda item: item[1].bytes):
        if record.bytes and record.sha256 in named:
            if not target.copy(named[record.sha256], name):
                # The store cannot copy files of this size, and the others are larger.
                break
            copied.add(name)
    return copied


def _send(target: Bucket, path: Path, name: str, record: FileRecord, meter: Meter) -> None:
    """Send a file. Raises `NotAGraph` for a damaged one, which then does not appear at the address."""
    # This refuses links.
    size_of(path / name)

    def checked() -> Iterator[bytes]:
        digest = hashlib.sha256()
        with (path / name).open("rb") as stream:
            while part := stream.read(CHUNK):
                digest.update(part)
                meter.add(len(part))
                yield part
        if digest.hexdigest() != record.sha256:
            raise damaged(path / name, CHANGED)

    target.put(name, checked() if record.bytes > _AT_ONCE else b"".join(checked()))


def _removed(target: Bucket, there: Mapping[str, ListedFile], kept: Collection[Pointer]) -> int:
    """Remove unused files from before this push, and return their number."""
    folders = {f"{GENERATIONS}/{pointer.generation}" for pointer in kept}
    folders |= {folder_of_piece(pointer, piece) for pointer in kept for piece in pointer.pieces.values()}
    idle: dict[str, list[str]] = {}
    for name in there:
        folder = name.rpartition("/")[0]
        if _FOLDER.fullmatch(folder) and folder not in folders:
            idle.setdefault(folder, []).append(name)
    latest = datetime.now(UTC) - _KEPT
    names = [name for held in idle.values() if max(there[name].modified for name in held) < latest for name in held]
    try:
        if names:
            target.remove(names)
    except StoreFailed:
        # The graph is published all the same, and the next push retries.
        return 0
    return len(names)


def push(
    out: Output,
    directory: Directory,
    to: Annotated[str, typer.Argument(metavar="ADDRESS", help="Where to put it: s3://BUCKET/NAME.")],
) -> None:
    """Upload a graph to a bucket, where any command and server can read it; send only what is new."""
    address = address_of(to)
    report = push_graph(graph_of(directory, out), address, tell=out.progress)
    if out.as_json:
        out.json(report)
    elif not (report.is_new or report.sent):
        out.print(f"{address} has generation {report.generation} already")
    else:
        copied = f", {counted(report.copied, 'file')} copied there" if report.copied else ""
        sent = f"{counted(report.sent, 'file')} sent, {counted(report.sent_bytes, 'byte')}"
        out.print(f"{address} is at generation {report.generation}: {sent} in {report.seconds:.1f} s{copied}")


COMMANDS = {"push": (push, "push hetionet s3://graphs/hetionet")}
