"""The graph directory: immutable generations and one small pointer file.

    DIR/orienteer.json           the pointer: which generation is current; replaced as a whole
    DIR/generations/ID/          manifest.json and the arrays; never changed once published
    DIR/pieces/ID/NAME-NUMBER/   what is made from a generation later (vectors, a Cypher copy, similarity edges)
    DIR/.lock                    held by whoever publishes
    DIR/.new-*/                  work in progress; what a killed process left is removed by the next one

A reader follows the pointer once and maps what it finds; a writer never touches what a reader may hold.
"""

from __future__ import annotations

import errno
import hashlib
import json
import os
import re
import shutil
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import contextmanager
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, TypeVar

from pydantic import ValidationError

from orienteer.errors import BadInput, GraphBusy, NotAGraph
from orienteer.locks import locked
from orienteer.records import Record

FORMAT = 1
POINTER = "orienteer.json"
MANIFEST = "manifest.json"
_READ_ONLY = (errno.EACCES, errno.EPERM, errno.EROFS)  # what the system says where nothing may be written
_BETWEEN_TRIES = 0.1  # seconds
Found = TypeVar("Found")
_GENERATION = re.compile(r"\d{8}T\d{6}-[0-9a-f]{8}")


class FileRecord(Record):
    """A file of a generation as it was published."""

    bytes: int
    sha256: str


class EdgeCount(Record):
    """How many edges of a type join two node types."""

    source: str
    type: str
    target: str
    count: int


TEXT_TYPES = "text_types"
"""What the provenance calls the node types that all others were made of."""


class Manifest(Record):
    """What a generation says of itself."""

    format: int = FORMAT
    generation: str
    created: str
    made_by: str
    """The version of Orienteer that wrote it."""
    tokenizer: str
    nodes: int
    edges: int
    node_types: dict[str, int]
    """In the order of their numbers in the arrays."""
    edge_types: dict[str, int]
    triples: tuple[EdgeCount, ...]
    symmetric: tuple[str, ...] = ()
    labels: dict[str, str] = {}
    also_called: dict[str, tuple[str, ...]] = {}
    text: dict[str, float] = {}
    """Statistics of the text index: terms, postings, mean length, k1, b."""
    properties: tuple[str, ...] = ()
    """Property names in the order of their files."""
    provenance: dict[str, Any] = {}
    files: dict[str, FileRecord] = {}


class Pointer(Record):
    """The one file that changes."""

    format: int = FORMAT
    generation: str
    manifest: str
    """Hash of the generation's manifest, which holds those of all other files."""
    pieces: dict[str, str] = {}


def is_graph(path: Path) -> bool:
    """Tell whether a path is a graph directory."""
    return (path / POINTER).is_file()


def is_broken_off(path: Path) -> bool:
    """Tell whether a path holds no graph, only what a writer leaves that was killed before it could publish one."""
    return path.is_dir() and not is_graph(path) and (path / ".lock").exists() and all(map(_is_ours, path.iterdir()))


def broken_off(path: Path) -> NotAGraph:
    """Return the error for such a path."""
    return NotAGraph(f"{path} is no graph: what was to make it was broken off, or is under way still: run it again")


def read_pointer(path: Path) -> Pointer:
    """Return what the pointer file says. Raises `NotAGraph` for anything that is not a graph this version reads."""
    file = path / POINTER
    if not file.is_file():
        if is_broken_off(path):
            raise broken_off(path)
        if path.exists():
            raise NotAGraph(
                f"{path} is not a graph directory: make one of it with: orienteer import {path} -o FOLDER, "
                "or with orienteer build where it holds documents"
            )
        raise NotAGraph(f"{path} does not exist: make a graph with: orienteer import SOURCE -o {path}")
    try:
        content = json.loads(file.read_bytes())
        if int(content["format"]) > FORMAT:
            raise NotAGraph(
                f"{path} has format {content['format']}, this version reads up to {FORMAT}: upgrade orienteer"
            )
        return Pointer.model_validate(content)
    except (ValueError, KeyError, TypeError, OverflowError, ValidationError) as error:
        raise NotAGraph(f"{file} is damaged ({error}): import the graph again with --force") from error


def read_manifest(folder: Path) -> Manifest:
    """Return the manifest of a generation, having checked that every file is there in its full size."""
    try:
        manifest = Manifest.model_validate_json((folder / MANIFEST).read_bytes())
    except ValidationError as error:
        raise NotAGraph(f"{folder / MANIFEST} is damaged: import the graph again with --force") from error
    for name, record in manifest.files.items():
        size = (folder / name).stat().st_size
        if size != record.bytes:
            raise NotAGraph(
                f"{folder / name} has {size} bytes where {record.bytes} were written: import it again with --force"
            )
    return manifest


def damaged_files(path: Path) -> list[str]:
    """Return the files of a graph's current generation whose content is not what was published."""
    pointer = read_pointer(path)
    folder = path / "generations" / pointer.generation
    hashes = {MANIFEST: pointer.manifest}
    try:
        manifest = Manifest.model_validate_json((folder / MANIFEST).read_bytes())
        hashes |= {name: record.sha256 for name, record in manifest.files.items()}
    except (FileNotFoundError, ValidationError):
        return [MANIFEST]
    return [name for name, hash_ in hashes.items() if not (folder / name).is_file() or _sha256(folder / name) != hash_]


def check_target(path: Path, *, force: bool) -> None:
    """Refuse to publish where something else lies, or a graph that nobody allowed to replace."""
    for place in (path, *path.parents):
        if place.exists() and not place.is_dir():
            raise BadInput(f"{place} is a file: name a folder that does not exist yet")
    if is_graph(path):
        if not force:
            raise BadInput(f"{path} holds a graph already: replace it with --force, or name another folder")
    elif path.is_dir() and not all(map(_is_ours, path.iterdir())):
        raise BadInput(f"{path} is not empty and not a graph: name a folder that does not exist yet")


def _is_debris(entry: Path) -> bool:
    return entry.name.startswith(".new-")


def _is_ours(entry: Path) -> bool:
    """Tell whether a writer that was killed before it could publish may have left this."""
    if entry.name == "generations" and entry.is_dir():
        return all(_GENERATION.fullmatch(one.name) for one in entry.iterdir())
    return entry.name == ".lock" or _is_debris(entry)


@contextmanager
def publishing(path: Path) -> Iterator[Path]:
    """Give a folder to write in, under the directory's lock; remove it afterwards, and the directory if it is new.

    Raises `GraphBusy` where another process holds the lock.
    """
    is_new = not path.exists()
    path.mkdir(parents=True, exist_ok=True)
    with locked(path / ".lock", busy=f"another process is writing to {path}: wait for it, or write elsewhere"):
        for entry in path.iterdir():
            if _is_debris(entry):
                shutil.rmtree(entry) if entry.is_dir() else entry.unlink()
        work = Path(tempfile.mkdtemp(prefix=".new-", dir=path))
        try:
            yield work
        finally:
            shutil.rmtree(work, ignore_errors=True)
            if is_new and not is_graph(path):  # only who holds the lock may take the folder away
                shutil.rmtree(path, ignore_errors=True)


class Digests:
    """Checksums of files, taken while others are still being written; each file is on the disk once it has one."""

    def __init__(self) -> None:
        self._worker = ThreadPoolExecutor(2, "digests")
        self._taken: dict[Path, Future[str]] = {}

    def __enter__(self) -> Digests:
        return self

    def __exit__(self, *_: object) -> None:
        self._worker.shutdown(cancel_futures=True)

    def add(self, *files: Path) -> None:
        """Take the checksums of files that are written and closed."""
        for file in files:
            if file not in self._taken:
                self._taken[file] = self._worker.submit(_settled, file)

    def of(self, file: Path) -> str:
        """Return the checksum of a file, waiting for it."""
        self.add(file)
        return self._taken[file].result()


def publish(path: Path, work: Path, manifest: Manifest, digests: Digests) -> Manifest:
    """Make the files of `work` the current generation. Readers see the old one or the new one, never a mixture."""
    written = sorted(file for file in work.iterdir() if file.name != MANIFEST)
    digests.add(*written)
    files = {file.name: FileRecord(bytes=file.stat().st_size, sha256=digests.of(file)) for file in written}
    manifest = manifest.model_copy(update={"files": files})
    (work / MANIFEST).write_text(manifest.model_dump_json(indent=1), encoding="utf-8")
    _sync(work / MANIFEST)
    generations = path / "generations"
    generations.mkdir(exist_ok=True)
    target = generations / manifest.generation
    work.rename(target)
    _sync(generations)
    pointer = Pointer(generation=manifest.generation, manifest=_sha256(target / MANIFEST))
    _replace(path / POINTER, pointer.model_dump_json())
    for old in generations.iterdir():
        if old != target:
            shutil.rmtree(old, ignore_errors=True)  # readers that hold its files keep them until they close
    shutil.rmtree(path / "pieces", ignore_errors=True)
    return manifest


def publish_piece(path: Path, name: str, write: Callable[[Path], None]) -> Path:
    """Make something of the current generation, such as vectors, and publish it beside it; return its folder.

    `write` fills the folder it is given. A piece is immutable and belongs to one generation: the next one starts
    without. Raises `GraphBusy`, `NotAGraph`.
    """
    with publishing(path) as work:
        pointer = read_pointer(path)
        write(work)
        for file in work.iterdir():
            _sync(file)
        target = path / "pieces" / pointer.generation / f"{name}-{os.urandom(4).hex()}"
        target.parent.mkdir(parents=True, exist_ok=True)
        work.rename(target)
        old = pointer.pieces.get(name)
        pieces = {**pointer.pieces, name: target.name}
        _replace(path / POINTER, pointer.model_copy(update={"pieces": pieces}).model_dump_json())
        if old:
            shutil.rmtree(target.parent / old, ignore_errors=True)
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

    Where it cannot be kept, for nothing may be written there or another generation has come, that is None with the
    reason. While another process makes it, this one waits some seconds, then raises `GraphBusy`.
    """
    deadline = time.monotonic() + patience
    while read_pointer(path).generation == generation:
        folder = piece(path, name)
        found = read(folder) if folder is not None and folder.is_dir() else None
        if found is not None:
            return found, ""
        try:
            publish_piece(path, name, write)
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
    """Return the folder of a piece of the current generation, None where it has none of this name."""
    pointer = read_pointer(path)
    folder = pointer.pieces.get(name)
    return path / "pieces" / pointer.generation / folder if folder else None


def new_generation() -> tuple[str, str]:
    """Return an id for a generation and the time it carries."""
    now = datetime.now(UTC)
    return f"{now:%Y%m%dT%H%M%S}-{os.urandom(4).hex()}", now.isoformat(timespec="seconds")


def _replace(file: Path, text: str) -> None:
    fresh = file.with_name(f".new-{os.urandom(4).hex()}")
    fresh.write_text(text, encoding="utf-8")
    _sync(fresh)
    fresh.replace(file)
    _sync(file.parent)


def _sync(path: Path) -> None:
    """Ask the system to have a file, or the names in a folder, on the disk before going on."""
    if path.is_dir() and sys.platform == "win32":
        return  # folders cannot be opened there
    handle = os.open(path, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)


def _sha256(file: Path) -> str:
    with file.open("rb") as stream:
        return hashlib.file_digest(stream, "sha256").hexdigest()


def _settled(file: Path) -> str:
    """Return a file's checksum once its content is on the disk."""
    digest = _sha256(file)
    _sync(file)
    return digest
