"""Writes the graph directory: writes a generation aside, then publishes it in one step. Removes only our files."""

from __future__ import annotations

import os
import re
import shutil
import sys
import tempfile
from collections.abc import Iterator, Mapping
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import contextmanager, suppress
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path

from orienteer.errors import BadInput
from orienteer.files import locked
from orienteer.graph import format


def check_target(path: Path, *, force: bool) -> None:
    """Raise `BadInput` for a path with other files, or with a graph that may not be replaced."""
    for place in (path, *path.parents):
        if place.exists() and not place.is_dir():
            raise BadInput(f"{place} is a file: name a folder that does not exist yet")
    if format.is_graph(path):
        if not force:
            raise BadInput(f"{path} holds a graph already: replace it with --force, or name another folder")
    elif path.is_dir() and not all(map(format.is_ours, path.iterdir())):
        raise BadInput(f"{path} is not empty and not a graph: name a folder that does not exist yet")


@contextmanager
def publishing(path: Path) -> Iterator[Path]:
    """Yield a folder to write in, under the directory's lock; then remove it, and a new directory without a graph.

    Raises `GraphBusy` if another process has the lock, `NotAGraph` if a folder of the graph is a link.
    """
    is_new = not path.exists()
    path.mkdir(parents=True, exist_ok=True)
    with locked(path / format.LOCK, busy=f"another process is writing to {path}: wait for it, or write elsewhere"):
        for name in (format.GENERATIONS, format.PIECES):
            format.no_link(path / name)
        remove(path, format.DEBRIS)
        work = Path(tempfile.mkdtemp(prefix=".new-", dir=path))
        try:
            yield work
        finally:
            shutil.rmtree(work, ignore_errors=True)
            # Only the process with the lock may remove the folder.
            if is_new and not format.is_graph(path):
                remove(path / format.GENERATIONS, format.GENERATION)
                with suppress(OSError):
                    (path / format.GENERATIONS).rmdir()
                with suppress(OSError):  # another process has put files there
                    (path / format.LOCK).unlink()
                    path.rmdir()


def remove(folder: Path, names: re.Pattern[str], *, keep: str = "") -> None:
    """Remove the entries of a folder whose names match, except `keep`; of a link, only the link itself.

    Nothing else ever removes a part of a graph. An entry that cannot be removed stays.
    """
    for entry in folder.iterdir() if folder.is_dir() else ():
        if not names.fullmatch(entry.name) or entry.name == keep:
            continue
        if entry.is_dir() and not format.is_link(entry):
            # Readers keep the files that they have open, so an old generation can go.
            shutil.rmtree(entry, ignore_errors=True)
        else:
            with suppress(OSError):
                entry.unlink()


class Digests:
    """Computes checksums of files while others are still written; a file with a checksum is on the disk."""

    def __init__(self) -> None:
        self._worker = ThreadPoolExecutor(2, "digests")
        self._taken: dict[Path, Future[str]] = {}

    def __enter__(self) -> Digests:
        return self

    def __exit__(self, *_: object) -> None:
        self._worker.shutdown(cancel_futures=True)

    def add(self, *files: Path) -> None:
        """Start computing the checksums of files that are complete and closed."""

        def digest_of(file: Path) -> str:
            digest = format.sha256_of(file)
            sync(file)
            return digest

        for file in files:
            if file not in self._taken:
                self._taken[file] = self._worker.submit(digest_of, file)

    def take_over(self, old: Path, new: Path, digest: str) -> None:
        """Link or copy a published file, which has this checksum."""
        try:
            os.link(old, new)
        except OSError:  # the file system has no hard links
            shutil.copyfile(old, new)
            sync(new)
        self._taken[new] = Future()
        self._taken[new].set_result(digest)

    def of(self, file: Path) -> str:
        """Return the checksum of a file when it is computed."""
        self.add(file)
        return self._taken[file].result()

    def records(self, folder: Path) -> dict[str, format.FileRecord]:
        """Return the size and the checksum of every file of a folder, by name."""
        written = sorted(file for file in folder.iterdir() if file.name != format.MANIFEST)
        self.add(*written)
        return {file.name: format.FileRecord(bytes=file.stat().st_size, sha256=self.of(file)) for file in written}


def publish(
    path: Path, work: Path, manifest: format.Manifest, digests: Digests, *, pieces: Mapping[str, Path] | None = None
) -> format.Manifest:
    """Make the files of `work` the current generation. Readers see the old one or the new one, never a mixture.

    `pieces` are folders with pieces of the new generation, by name: they are published in the same step.
    """
    manifest = replace(manifest, files=digests.records(work))
    (work / format.MANIFEST).write_text(format.to_json(manifest), encoding="utf-8")
    sync(work / format.MANIFEST)
    records = {
        name: format.PieceRecord(folder=f"{name}-{os.urandom(4).hex()}", files=digests.records(folder))
        for name, folder in (pieces or {}).items()
    }
    generations = path / format.GENERATIONS
    generations.mkdir(exist_ok=True)
    target = generations / manifest.generation
    work.rename(target)
    sync(generations)
    for name, record in records.items():
        piece = path / format.PIECES / manifest.generation / record.folder
        piece.parent.mkdir(parents=True, exist_ok=True)
        (pieces or {})[name].rename(piece)
        sync(piece.parent)
    pointer = format.Pointer(
        generation=manifest.generation, manifest=format.sha256_of(target / format.MANIFEST), pieces=records
    )
    replace_pointer(path, pointer)
    remove(generations, format.GENERATION, keep=target.name)
    remove(path / format.PIECES, format.GENERATION, keep=target.name)
    with suppress(OSError):  # it is missing, or has pieces or third-party files
        (path / format.PIECES).rmdir()
    return manifest


def new_generation() -> tuple[str, str]:
    """Return the id of a new generation, and its time."""
    now = datetime.now(UTC)
    return f"{now:%Y%m%dT%H%M%S}-{os.urandom(4).hex()}", now.isoformat(timespec="seconds")


def replace_pointer(path: Path, pointer: format.Pointer) -> None:
    """Replace the pointer file in one step."""
    fresh = path / f".new-{os.urandom(4).hex()}"
    fresh.write_text(format.to_json(pointer), encoding="utf-8")
    sync(fresh)
    fresh.replace(path / format.POINTER)
    sync(path)


def sync(path: Path) -> None:
    """Wait until a file, or the entries of a folder, are on the disk."""
    if path.is_dir() and sys.platform == "win32":
        return  # folders cannot be opened there
    # Windows flushes only what may be written.
    handle = os.open(path, os.O_RDWR if sys.platform == "win32" else os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)
