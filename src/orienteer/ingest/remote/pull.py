"""A graph at an address, as a graph directory in the cache: each file once, checked by its hash before it is opened.

The copy is brought up to date by one request, which a store answers with "not modified". What has come is published
there as any generation is, so processes that have the last one open keep it, and a pull that ends early leaves nothing.
"""

from __future__ import annotations

import hashlib
import os
import re
import shutil
import time
from collections.abc import Mapping
from contextlib import closing
from functools import partial
from pathlib import Path
from typing import NamedTuple

from pydantic import ValidationError

from orienteer.display import counted
from orienteer.errors import Error, GraphBusy, NotAGraph, ObjectMissing, StoreFailed
from orienteer.files import cache_folder, locked, make_cache_folder, write_whole
from orienteer.graph.builder import Progress
from orienteer.graph.format import (
    GENERATION,
    GENERATIONS,
    MANIFEST,
    ORIGIN,
    PIECES,
    FileRecord,
    Manifest,
    Pointer,
    is_graph,
    read_manifest,
    read_pointer,
)
from orienteer.graph.pieces import damaged_among, piece
from orienteer.graph.publication import publishing, remove, replace_pointer, sync
from orienteer.ingest.remote.address import Address, address_of, endpoint
from orienteer.ingest.remote.objects import Objects
from orienteer.ingest.remote.published import (
    PUSH_AGAIN,
    Meter,
    PublishedGraph,
    PublishedPointer,
    damaged_at,
    files_of,
    folder_of_piece,
    kept_at_addresses,
    moved_together,
    published_graph,
    published_pointer,
)
from orienteer.plugins import load
from orienteer.records import Record

_WAIT_SECONDS = 0.1
_SPARE = 1 << 20  # bytes that stay free on the disk
_LONGEST_NAME = 50  # characters of a name that a folder takes over
_TRIES = 5  # generations that may be replaced while they are being pulled


class PulledGraph(NamedTuple):
    """The copy of a graph in the cache."""

    path: Path
    is_new: bool = False
    """Whether something was pulled for it just now."""


class _Origin(Record):
    """Where a copy came from, beside it."""

    address: str
    e_tag: str | None
    pointer: Pointer


def copy_of(address: Address, *, cache: Path) -> Path:
    """Return where the copy of a graph lies in the cache: the same address at another endpoint is another graph."""
    store = endpoint() if address.is_bucket else ""
    digest = hashlib.sha256(f"{store} {address}".encode()).hexdigest()[:12]
    name = re.sub(r"[^\w.-]+", "_", address.name)[:_LONGEST_NAME]
    return cache_folder(cache, "graphs") / f"{name}-{digest}"


def sound_copy_of(address: Address, *, cache: Path) -> Path | None:
    """Return the copy of a graph where there is one, of whatever age; None where there is none, or a damaged one."""
    target = copy_of(address, cache=cache)
    return target if _is_sound(target) else None


def address_of_copy(graph: Path) -> Address | None:
    """Return the address that a graph was pulled from; None where it is not, or no longer, what was pulled."""
    origin = _origin(graph)
    return None if origin is None else address_of(origin.address)


def pulled(address: Address, *, cache: Path, tell: Progress) -> PulledGraph:
    """Return the copy of a graph, brought up to date; the one that is there where the store does not answer.

    Raises `NotAGraph` where the address holds none or a damaged one, `StoreFailed` where there is no copy either,
    `BadOption`, `MissingExtra`.
    """
    try:
        return brought_up(address, cache=cache, tell=tell)
    except StoreFailed as error:
        if (target := sound_copy_of(address, cache=cache)) is None:
            raise
        tell(f"warning: {error}; what was pulled before is taken: generation {read_pointer(target).generation}", 0)
        return PulledGraph(target)


def check_published(address: Address) -> None:
    """Ask whether there is a graph at an address. Raises as `pulled` does."""
    with closing(objects_at(address)) as source:
        _latest(source, Path())


def brought_up(address: Address, *, cache: Path, tell: Progress) -> PulledGraph:
    """Return the copy of a graph as `pulled` does, but raise `StoreFailed` where the store does not answer."""
    with closing(objects_at(address)) as source:
        return _brought_up_once(source, copy_of(address, cache=cache), cache, tell)


def _brought_up_once(source: Objects, target: Path, cache: Path, tell: Progress) -> PulledGraph:
    """Do what `brought_up` does, in one process at a time."""
    if _latest(source, target) is None:
        return PulledGraph(target)
    make_cache_folder(cache, "graphs")
    locks = make_cache_folder(cache, "locks")
    is_waiting = False
    while True:
        try:
            with locked(locks / f"{target.name}.lock", busy=f"another process pulls {source.address}"):
                return _brought_up(source, target, tell)  # which asks again: another may have pulled it meanwhile
        except GraphBusy:
            if not is_waiting:
                tell(f"waiting for another process that pulls {source.address}", 0)
            is_waiting = True
            time.sleep(_WAIT_SECONDS)


def _brought_up(source: Objects, target: Path, tell: Progress) -> PulledGraph:
    for _ in range(_TRIES):
        if (latest := _latest(source, target)) is None:
            return PulledGraph(target)
        try:
            graph = published_graph(source, latest.pointer)
            _pull(source, target, graph, latest.content.e_tag, tell)
            return PulledGraph(target, is_new=True)
        except ObjectMissing as error:
            now = _latest(source, target)
            if now is None or now.pointer == latest.pointer:
                raise NotAGraph(f"{error}, though the graph's own list names it: {PUSH_AGAIN}") from None
    raise StoreFailed(f"{source.address} was replaced {_TRIES} times while it was being pulled: try again later")


def _latest(source: Objects, target: Path) -> PublishedPointer | None:
    """Return the pointer at an address; None where the copy is of that one."""
    origin = _origin(target)
    try:
        latest = published_pointer(source, e_tag=None if origin is None else origin.e_tag)
    except ObjectMissing:
        told = f"{source.address} holds no graph: put one there with orienteer push DIR s3://BUCKET/NAME"
        raise NotAGraph(told) from None
    if latest is not None and origin is not None and latest.pointer == origin.pointer:
        return None
    return latest


def _origin(target: Path) -> _Origin | None:
    """Return where a copy came from; None where it is not wholly that."""
    if not _is_sound(target):
        return None
    try:
        origin = _Origin.model_validate_json((target / ORIGIN).read_bytes())
    except (OSError, ValidationError):
        return None
    pointer, own = origin.pointer, read_pointer(target)
    is_that = (own.generation, own.manifest) == (pointer.generation, pointer.manifest)
    return origin if is_that and pointer.pieces.items() <= own.pieces.items() else None


def _is_sound(target: Path) -> bool:
    """Return whether a copy is there with all its files, as far as their sizes tell."""
    try:
        if not is_graph(target):
            return False
        pointer = read_pointer(target)
        read_manifest(target, pointer)
        for name in kept_at_addresses(pointer).pieces:
            piece(target, name)
    except (NotAGraph, OSError):
        return False
    return True


def _pull(source: Objects, target: Path, graph: PublishedGraph, e_tag: str | None, tell: Progress) -> None:
    """Make a generation at an address the one that the copy has, of files that are there and files that come."""
    with publishing(target) as work:
        for folder in {Path(name).parent for name in graph.files}:
            (work / folder).mkdir(parents=True)
        lacking = _taken_over(target, work, graph.files)
        need, free = sum(record.bytes for record in lacking.values()), shutil.disk_usage(target).free
        if need > free - _SPARE:
            told = f"{source.address} needs {need:,} bytes more, and the disk of {target} has {free:,}"
            raise Error(f"{told}: make room, or set ORIENTEER_CACHE to a folder on another", paths=[target])
        moves = [partial(_fetch, source, name, record, work / name) for name, record in lacking.items()]
        stage = f"pulling {counted(len(moves), 'file')} from {source.address}, bytes"
        moved_together(moves, need, stage=stage, tell=tell)
        manifest = work / GENERATIONS / graph.pointer.generation / MANIFEST
        manifest.write_bytes(graph.manifest_text)
        sync(manifest)
        _publish(target, work, graph.pointer, str(source.address), e_tag)


def _taken_over(target: Path, work: Path, files: Mapping[str, FileRecord]) -> dict[str, FileRecord]:
    """Take over the files that the copy has already, by their hashes, and return those that it lacks."""
    there = {record.sha256: target / name for name, record in _own_files(target).items()}
    lacking = dict(files)
    for name, record in files.items():
        file = there.get(record.sha256)
        if file is not None and not damaged_among(file.parent, {file.name: record}):
            try:
                os.link(file, work / name)  # neither is ever changed
            except OSError:
                shutil.copyfile(file, work / name)
                sync(work / name)
            del lacking[name]
    return lacking


def _own_files(target: Path) -> Mapping[str, FileRecord]:
    try:
        pointer = read_pointer(target)
        file = target / GENERATIONS / pointer.generation / MANIFEST
        return files_of(kept_at_addresses(pointer), Manifest.model_validate_json(file.read_bytes()), target)
    except (NotAGraph, OSError, ValidationError):
        return {}


def _fetch(source: Objects, name: str, record: FileRecord, file: Path, meter: Meter) -> None:
    """Write a file of the address. Raises `NotAGraph` where it is not what the manifest says."""
    size, digest = 0, hashlib.sha256()
    with file.open("xb") as stream:
        for part in source.stream(name):
            size += len(part)
            if size > record.bytes:
                raise damaged_at(source, name)
            digest.update(part)
            stream.write(part)
            meter.add(len(part))
    if size != record.bytes or digest.hexdigest() != record.sha256:
        raise damaged_at(source, name)
    sync(file)


def _publish(target: Path, work: Path, pointer: Pointer, address: str, e_tag: str | None) -> None:
    """Put what lies in `work` in its place. Pieces of this generation that were made here, as Cypher's copy, stay."""
    folders = [f"{GENERATIONS}/{pointer.generation}"]
    folders += [folder_of_piece(pointer, record) for record in pointer.pieces.values()]
    for number, folder in enumerate(folders):
        (target / folder).parent.mkdir(parents=True, exist_ok=True)
        if (target / folder).exists():  # it was damaged
            (target / folder).rename(work / f"replaced-{number}")
        (work / folder).rename(target / folder)
        sync((target / folder).parent)
    own = read_pointer(target) if is_graph(target) else pointer
    made_here = own.pieces if (own.generation, own.manifest) == (pointer.generation, pointer.manifest) else {}
    origin = _Origin(address=address, e_tag=e_tag, pointer=pointer)
    write_whole(target / ORIGIN, origin.model_dump_json())
    replace_pointer(target, pointer.model_copy(update={"pieces": {**made_here, **pointer.pieces}}))
    for parts in (GENERATIONS, PIECES):
        remove(target / parts, GENERATION, keep=pointer.generation)
    for name, record in pointer.pieces.items():
        remove(
            (target / folder_of_piece(pointer, record)).parent, re.compile(f"{name}-[0-9a-f]{{8}}"), keep=record.folder
        )


def objects_at(address: Address) -> Objects:
    """Return the files at an address; nothing is asked yet. Raises `MissingExtra`, `BadOption`."""
    if address.is_bucket:
        bucket: Objects = load("stores", address.scheme)(address)
        return bucket
    from orienteer.ingest.remote.site import Site  # with a client for HTTP, which nothing else here needs

    return Site(address)
