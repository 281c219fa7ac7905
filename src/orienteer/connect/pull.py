"""Pulls a graph at an address into the cache: each file once, checked by its hash before it is opened.

An update takes one request, which a store answers with "not modified" if nothing changed. A new generation is published
like any other: processes keep the one that they have opened, and an interrupted pull leaves nothing.
"""

from __future__ import annotations

import hashlib
import os
import re
import shutil
import time
from collections.abc import Mapping
from contextlib import closing, suppress
from dataclasses import replace
from functools import partial
from pathlib import Path

from pydantic import ValidationError

from orienteer.connect.objects import Address, Objects, address_of, endpoint
from orienteer.connect.published import (
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
    Pointer,
    is_graph,
    parse_manifest,
    read_manifest,
    read_pointer,
)
from orienteer.graph.pieces import damaged_among, piece
from orienteer.graph.publication import publishing, remove, replace_pointer, sync
from orienteer.ingest.stores import PulledGraph
from orienteer.records import Record

_WAIT_SECONDS = 0.1
_SPARE = 1 << 20  # bytes that stay free on the disk
_LONGEST_NAME = 50  # characters of a name that a folder takes over
_TRIES = 5  # generations that may be replaced while they are being pulled


class _Origin(Record):
    """The origin of a copy, in a file of its folder."""

    address: str
    e_tag: str | None
    pointer: Pointer


class GraphAtAddress:
    """A `RemoteGraph` (orienteer.ingest.stores), of a bucket or of a server of files."""

    def __init__(self, text: str) -> None:
        """Raises `BadOption` for an address that is not valid."""
        self._address = address_of(text)

    def __str__(self) -> str:
        return str(self._address)

    @staticmethod
    def origin_of(graph: Path) -> str | None:
        """Return the address that a graph was pulled from, or None if it was not, or has been changed since."""
        origin = _origin(graph)
        return None if origin is None else origin.address

    def copy(self, cache: Path) -> Path:
        """Return the path of the copy in the cache; one address at two endpoints is two graphs."""
        store = endpoint() if self._address.is_bucket else ""
        digest = hashlib.sha256(f"{store} {self}".encode()).hexdigest()[:12]
        name = re.sub(r"[^\w.-]+", "_", self._address.name)[:_LONGEST_NAME]
        return cache_folder(cache, "graphs") / f"{name}-{digest}"

    def sound_copy(self, cache: Path) -> Path | None:
        """Return the intact copy, of whatever age, or None."""
        target = self.copy(cache)
        return target if _is_sound(target) else None

    def check(self) -> None:
        """Check that there is a graph at the address. Raises as `pulled` does."""
        with closing(objects_at(self._address)) as source:
            _latest(source, Path())

    def pulled(self, cache: Path, tell: Progress) -> PulledGraph:
        """Return the updated copy, or the existing one if the store does not answer."""
        try:
            return self.updated(cache, tell)
        except StoreFailed as error:
            if (target := self.sound_copy(cache)) is None:
                raise
            generation = read_pointer(target).generation
            tell(f"warning: {error}; what was pulled before is taken: generation {generation}", 0)
            return PulledGraph(target)

    def updated(self, cache: Path, tell: Progress) -> PulledGraph:
        """Return the updated copy. Raises `StoreFailed` if the store does not answer."""
        target, is_waiting = self.copy(cache), False
        with closing(objects_at(self._address)) as source:
            if _latest(source, target) is None:
                return PulledGraph(target)
            make_cache_folder(cache, "graphs")
            locks = make_cache_folder(cache, "locks")
            while True:
                try:
                    with locked(locks / f"{target.name}.lock", busy=f"another process pulls {self}"):
                        # It asks again: another may have pulled it meanwhile.
                        return _pull_latest(source, target, tell)
                except GraphBusy:
                    if not is_waiting:
                        tell(f"waiting for another process that pulls {self}", 0)
                    is_waiting = True
                    time.sleep(_WAIT_SECONDS)


def _pull_latest(source: Objects, target: Path, tell: Progress) -> PulledGraph:
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
    """Return the pointer at an address, or None if it is that of the copy."""
    origin = _origin(target)
    try:
        latest = published_pointer(source, e_tag=None if origin is None else origin.e_tag)
    except ObjectMissing:
        raise NotAGraph(
            f"{source.address} holds no graph: put one there with orienteer push DIR s3://BUCKET/NAME"
        ) from None
    if latest is not None and origin is not None and latest.pointer == origin.pointer:
        return None
    return latest


def _origin(target: Path) -> _Origin | None:
    """Return the origin of a copy, or None if it is not an exact copy."""
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
    """Return whether there is a copy whose files all have their sizes."""
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
    """Publish a generation of an address as the copy, from files that the copy has, and files that are fetched."""
    with publishing(target) as work:
        for folder in {Path(name).parent for name in graph.files}:
            (work / folder).mkdir(parents=True)
        lacking = _taken_over(target, work, graph.files)
        need, free = sum(record.bytes for record in lacking.values()), shutil.disk_usage(target).free
        if need > free - _SPARE:
            why = f"{source.address} needs {need:,} bytes more, and the disk of {target} has {free:,}"
            raise Error(f"{why}: make room, or set ORIENTEER_CACHE to a folder on another", paths=[target])
        moves = [partial(_fetch, source, name, record, work / name) for name, record in lacking.items()]
        stage = f"pulling {counted(len(moves), 'file')} from {source.address}, bytes"
        moved_together(moves, need, stage=stage, tell=tell)
        manifest = work / GENERATIONS / graph.pointer.generation / MANIFEST
        manifest.write_bytes(graph.manifest_text)
        sync(manifest)
        _publish(target, work, graph.pointer, str(source.address), e_tag)


def _taken_over(target: Path, work: Path, files: Mapping[str, FileRecord]) -> dict[str, FileRecord]:
    """Link the files that the copy has already, by their hashes, and return those that it lacks."""
    own: Mapping[str, FileRecord] = {}
    with suppress(NotAGraph, OSError, ValueError):  # without a copy all files are fetched
        pointer = read_pointer(target)
        file = target / GENERATIONS / pointer.generation / MANIFEST
        own = files_of(kept_at_addresses(pointer), parse_manifest(file.read_bytes()), target)
    there = {record.sha256: target / name for name, record in own.items()}
    lacking = dict(files)
    for name, record in files.items():
        known = there.get(record.sha256)
        if known is not None and not damaged_among(known.parent, {known.name: record}):
            try:
                os.link(known, work / name)  # neither is ever changed
            except OSError:
                shutil.copyfile(known, work / name)
                sync(work / name)
            del lacking[name]
    return lacking


def _fetch(source: Objects, name: str, record: FileRecord, file: Path, meter: Meter) -> None:
    """Fetch a file. Raises `NotAGraph` if it differs from the manifest."""
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
    """Move the files of `work` into place. Pieces of this generation that were built here, like Cypher's copy, stay."""
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
    replace_pointer(target, replace(pointer, pieces={**made_here, **pointer.pieces}))
    for parts in (GENERATIONS, PIECES):
        remove(target / parts, GENERATION, keep=pointer.generation)
    for name, record in pointer.pieces.items():
        remove(
            (target / folder_of_piece(pointer, record)).parent, re.compile(f"{name}-[0-9a-f]{{8}}"), keep=record.folder
        )


def objects_at(address: Address) -> Objects:
    """Return the files at an address; no request is sent yet. Raises `MissingExtra`, `BadOption`."""
    if address.is_bucket:
        from orienteer.connect.bucket import Bucket

        return Bucket(address)
    # It loads an HTTP client, which buckets do not need.
    from orienteer.connect.site import Site

    return Site(address)
