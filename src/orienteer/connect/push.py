"""A graph directory, put at an address: the files that it lacks there, and the pointer last.

Whoever reads the address sees the generation before or this one, whole. A push that ends early has cost what it sent:
the next one finds it there. A file with a hash that the generation before has too is copied there without being sent.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Collection, Iterator, Mapping
from datetime import UTC, datetime, timedelta
from functools import partial
from pathlib import Path
from time import monotonic
from typing import Annotated

import typer

from orienteer.connect.bucket import CHUNK, Bucket, Listed
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
)
from orienteer.ingest.remote.address import Address, address_of
from orienteer.ingest.remote.published import (
    Meter,
    PublishedPointer,
    files_of,
    folder_of_piece,
    kept_at_addresses,
    moved_together,
    published_graph,
    published_pointer,
)
from orienteer.records import Record
from orienteer.serve.cli.arguments import Directory, graph_of
from orienteer.serve.cli.output import Output

_AT_ONCE = 2 * CHUNK  # bytes: a larger file goes in parts
_KEPT = timedelta(hours=1)
"""What nothing names any more stays so long after its last file came: a reader or another push may be at it."""
_FOLDER = re.compile(f"{GENERATIONS}/{GENERATION.pattern}|{PIECES}/{GENERATION.pattern}/[a-z]+-[0-9a-f]{{8}}")
"""The folders that a push makes: nothing else is ever removed."""


class PushReport(Record):
    """What a push did."""

    address: str
    generation: str
    is_new: bool
    """Whether the address had something else before."""
    files: int
    bytes: int
    """Of the files of the graph, with the manifest."""
    sent: int
    """Files that were sent."""
    sent_bytes: int
    copied: int
    """Files that the store copied from the generation before."""
    removed: int
    """Files of generations that nothing names any more."""
    seconds: float


def push_graph(path: Path, address: Address, *, tell: Progress) -> PushReport:
    """Put the current generation of a graph directory at an address.

    Raises `BadOption` for an address that is only read, `BadInput` where it holds something else, `NotAGraph` for a
    damaged graph, `GraphBusy` where another push was faster or the graph was replaced meanwhile, `StoreFailed`.
    """
    if not address.is_bucket:
        raise BadOption(f"{address} is only read from: push to s3://BUCKET/NAME")
    began, target = monotonic(), Bucket(address, is_written=True)
    pointer = kept_at_addresses(read_pointer(path))
    files = _files(path, pointer)
    before = _pointer_before(target)
    total = sum(record.bytes for record in files.values())
    report = partial(PushReport, address=str(address), generation=pointer.generation, files=len(files), bytes=total)
    there = target.list()
    _check_ours(target, there, before)
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
    _require_all(target, files)
    if is_new:
        target.put_over(POINTER, pointer.model_dump_json().encode(), None if before is None else before.content)
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
    """Return all files of a graph but its pointer, by their names beneath it; the manifest comes last."""
    try:
        manifest = read_manifest(path, pointer)
        name = f"{GENERATIONS}/{pointer.generation}/{MANIFEST}"
        return {
            **files_of(pointer, manifest, path),
            name: FileRecord(bytes=size_of(path / name), sha256=pointer.manifest),
        }
    except FileNotFoundError as error:
        raise NotAGraph(f"{path} lacks {error.filename}: import the graph again with --force", paths=[path]) from error


def _pointer_before(target: Bucket) -> PublishedPointer | None:
    """Return the pointer that an address has; None where it has none."""
    try:
        return published_pointer(target)
    except ObjectMissing:
        return None


def _check_ours(target: Bucket, there: Collection[str], before: PublishedPointer | None) -> None:
    """Raise `BadInput` for an address with no graph and other files: a graph among them is nobody's wish."""
    others = [name for name in there if name == POINTER or not name.startswith((f"{GENERATIONS}/", f"{PIECES}/"))]
    if before is None and others:
        raise BadInput(f"{target.address} holds {others[0]!r}, which is no graph's: name a place with nothing in it")


def _is_there(listed: Listed | None, record: FileRecord) -> bool:
    """Tell whether a file is at the address: it came there whole or not at all, under a name of its own generation."""
    return listed is not None and listed.size == record.bytes


def _copied(
    target: Bucket, lacking: Mapping[str, FileRecord], before: PublishedPointer | None, there: Mapping[str, Listed]
) -> set[str]:
    """Copy the files that the generation before has too, and return their names."""
    if before is None or not lacking:
        return set()
    try:
        known = published_graph(target, before.pointer).files
    except (NotAGraph, StoreFailed):  # it is damaged: this push mends that
        return set()
    named = {record.sha256: name for name, record in known.items() if _is_there(there.get(name), record)}
    copied: set[str] = set()
    for name, record in sorted(lacking.items(), key=lambda item: item[1].bytes):
        if record.bytes and record.sha256 in named:
            if not target.copy(named[record.sha256], name):
                break  # the store cannot, or not files of this size: the rest is no smaller
            copied.add(name)
    return copied


def _send(target: Bucket, path: Path, name: str, record: FileRecord, meter: Meter) -> None:
    """Send a file, checked by its hash on the way: what is damaged never gets its name there."""
    size_of(path / name)  # nothing is read through a link
    parts = _checked(path / name, record, meter)
    target.put(name, parts if record.bytes > _AT_ONCE else b"".join(parts))


def _checked(file: Path, record: FileRecord, meter: Meter) -> Iterator[bytes]:
    """Yield the parts of a file. Raises `NotAGraph` at its end where it is not what was written."""
    digest = hashlib.sha256()
    with file.open("rb") as stream:
        while part := stream.read(CHUNK):
            digest.update(part)
            meter.add(len(part))
            yield part
    if digest.hexdigest() != record.sha256:
        raise damaged(file, CHANGED)


def _require_all(target: Bucket, files: Mapping[str, FileRecord]) -> None:
    """Raise `StoreFailed` unless the address has every file now: another push may have removed what it found idle."""
    there = target.list()
    for name, record in files.items():
        if not _is_there(there.get(name), record):
            raise StoreFailed(f"{target.name(name)} is gone again: push again, and it is sent again")


def _removed(target: Bucket, there: Mapping[str, Listed], kept: Collection[Pointer]) -> int:
    """Remove the files that came before this push and that nothing names any more, and return how many."""
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
    except StoreFailed:  # the graph is published all the same, and the next push tries again
        return 0
    return len(names)


def push(
    out: Output,
    directory: Directory,
    to: Annotated[str, typer.Argument(metavar="ADDRESS", help="Where to put it: s3://BUCKET/NAME.")],
) -> None:
    """Put a graph in a bucket, where any command and any server reads it: what is there already is not sent."""
    if (address := address_of(to)) is None:
        raise BadOption(f"{to} is no address: push to s3://BUCKET/NAME")
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
