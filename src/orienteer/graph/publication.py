"""The graph directory as it is written: all of a generation aside, then in one step. Nothing is removed but our own."""

from __future__ import annotations

import os
import re
import shutil
import sys
import tempfile
from collections.abc import Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import contextmanager, suppress
from datetime import UTC, datetime
from pathlib import Path

from orienteer.errors import BadInput
from orienteer.graph.format import (
    DEBRIS,
    GENERATION,
    GENERATIONS,
    LOCK,
    MANIFEST,
    PIECES,
    POINTER,
    FileRecord,
    Manifest,
    Pointer,
    is_graph,
    is_link,
    is_ours,
    no_link,
    sha256_of,
)
from orienteer.locks import locked


def check_target(path: Path, *, force: bool) -> None:
    """Refuse to publish where something else lies, or a graph that nobody allowed to replace."""
    for place in (path, *path.parents):
        if place.exists() and not place.is_dir():
            raise BadInput(f"{place} is a file: name a folder that does not exist yet")
    if is_graph(path):
        if not force:
            raise BadInput(f"{path} holds a graph already: replace it with --force, or name another folder")
    elif path.is_dir() and not all(map(is_ours, path.iterdir())):
        raise BadInput(f"{path} is not empty and not a graph: name a folder that does not exist yet")


@contextmanager
def publishing(path: Path) -> Iterator[Path]:
    """Give a folder to write in, under the directory's lock; remove it afterwards, and the directory if it is new.

    Raises `GraphBusy` where another process holds the lock, `NotAGraph` where a folder of the graph is a link.
    """
    is_new = not path.exists()
    path.mkdir(parents=True, exist_ok=True)
    with locked(path / LOCK, busy=f"another process is writing to {path}: wait for it, or write elsewhere"):
        for name in (GENERATIONS, PIECES):
            no_link(path / name)
        remove(path, DEBRIS)
        work = Path(tempfile.mkdtemp(prefix=".new-", dir=path))
        try:
            yield work
        finally:
            shutil.rmtree(work, ignore_errors=True)
            if is_new and not is_graph(path):  # only who holds the lock may take the folder away
                _take_away(path)


def remove(folder: Path, names: re.Pattern[str], *, keep: str = "") -> None:
    """Remove what lies in a folder under names that fit, but for one; of a link only the link.

    This is all that ever removes anything of a graph. What cannot be removed stays.
    """
    for entry in folder.iterdir() if folder.is_dir() else ():
        if not names.fullmatch(entry.name) or entry.name == keep:
            continue
        if entry.is_dir() and not is_link(entry):
            shutil.rmtree(entry, ignore_errors=True)  # readers that hold its files keep them until they close
        else:
            with suppress(OSError):
                entry.unlink()


def _take_away(path: Path) -> None:
    """Remove a directory that no graph has come into; what somebody else has put there stays, and it with that."""
    remove(path / GENERATIONS, GENERATION)
    with suppress(OSError):
        (path / GENERATIONS).rmdir()
    with suppress(OSError):
        (path / LOCK).unlink()
        path.rmdir()


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

    def records(self, folder: Path) -> dict[str, FileRecord]:
        """Return the size and the checksum of every file of a folder, by name."""
        written = sorted(file for file in folder.iterdir() if file.name != MANIFEST)
        self.add(*written)
        return {file.name: FileRecord(bytes=file.stat().st_size, sha256=self.of(file)) for file in written}


def publish(path: Path, work: Path, manifest: Manifest, digests: Digests) -> Manifest:
    """Make the files of `work` the current generation. Readers see the old one or the new one, never a mixture."""
    manifest = manifest.model_copy(update={"files": digests.records(work)})
    (work / MANIFEST).write_text(manifest.model_dump_json(indent=1), encoding="utf-8")
    sync(work / MANIFEST)
    generations = path / GENERATIONS
    generations.mkdir(exist_ok=True)
    target = generations / manifest.generation
    work.rename(target)
    sync(generations)
    replace_pointer(path, Pointer(generation=manifest.generation, manifest=sha256_of(target / MANIFEST)))
    remove(generations, GENERATION, keep=target.name)
    remove(path / PIECES, GENERATION)
    with suppress(OSError):  # there are none, or somebody else's
        (path / PIECES).rmdir()
    return manifest


def new_generation() -> tuple[str, str]:
    """Return an id for a generation and the time it carries."""
    now = datetime.now(UTC)
    return f"{now:%Y%m%dT%H%M%S}-{os.urandom(4).hex()}", now.isoformat(timespec="seconds")


def replace_pointer(path: Path, pointer: Pointer) -> None:
    """Put another pointer in place of the one that is there, in one step."""
    fresh = path / f".new-{os.urandom(4).hex()}"
    fresh.write_text(pointer.model_dump_json(), encoding="utf-8")
    sync(fresh)
    fresh.replace(path / POINTER)
    sync(path)


def sync(path: Path) -> None:
    """Ask the system to have a file, or the names in a folder, on the disk before going on."""
    if path.is_dir() and sys.platform == "win32":
        return  # folders cannot be opened there
    handle = os.open(path, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)


def _settled(file: Path) -> str:
    """Return a file's checksum once its content is on the disk."""
    digest = sha256_of(file)
    sync(file)
    return digest
