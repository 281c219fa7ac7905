"""What a chunk graph was made of, written into it, so that it can be told when, and where, its sources have changed."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from orienteer.errors import BadInput, MissingExtra
from orienteer.graph.format import Manifest
from orienteer.ingest import provenance
from orienteer.ingest.documents.read import collection
from orienteer.ingest.documents.read.files import File, listing
from orienteer.version import __version__

MADE_BY = "build"


class Stamp(NamedTuple):
    """A file as it was when it was read."""

    name: str
    path: str
    bytes: int
    modified: int
    sha256: str

    def is_of(self, path: Path) -> bool:
        """Say whether a file has this size and time still."""
        try:
            status = path.stat()
        except (OSError, ValueError):  # it is not there, or no name of a file
            return False
        return (status.st_size, status.st_mtime_ns) == (self.bytes, self.modified)


def stamp(file: File) -> Stamp:
    """Return a file as it is now."""
    status = file.path.stat()
    with file.path.open("rb") as stream:
        digest = hashlib.file_digest(stream, "sha256").hexdigest()
    return Stamp(file.name, str(file.path.resolve()), status.st_size, status.st_mtime_ns, digest)


def describe(
    sources: Iterable[Path], stamps: Iterable[Stamp], options: Mapping[str, Any], **more: Any
) -> dict[str, Any]:  # Any: JSON
    """Return the provenance of a chunk graph."""
    return {
        "made_by": MADE_BY,
        "version": __version__,
        "given": [str(path.resolve()) for path in sources],
        "sources": [stamp._asdict() for stamp in sorted(stamps)],
        "options": dict(options),
        **more,
    }


def is_chunk_graph(manifest: Manifest) -> bool:
    """Say whether a graph was made of documents."""
    return bool(manifest.provenance.get("made_by") == MADE_BY)


def stamps_of(manifest: Manifest) -> dict[str, Stamp]:
    """Return the files that a chunk graph was made of, by name. Raises `NotAGraph`."""
    return {stamp.name: stamp for stamp in provenance.listed(manifest, "sources", Stamp)}


def files_of(sources: Sequence[Path]) -> tuple[File, ...]:
    """Return the files that a build of these sources would look at. Raises `BadInput`."""
    whole = collection.recognize(sources)
    return whole.files if whole is not None else listing(sources).files


def is_stale(manifest: Manifest) -> bool:
    """Say whether a file of a chunk graph has changed, is gone, or has been joined by another since it was made.

    A folder whose layout only a reader can tell, of an extra that is not installed, goes by the files it was made of.
    """
    stamps = {stamp.path: stamp for stamp in stamps_of(manifest).values()}
    if not all(stamp.is_of(Path(path)) for path, stamp in stamps.items()):
        return True
    left_out = frozenset(provenance.listed(manifest, "left_out", str))
    sources = provenance.given_of(manifest)
    if not all(path.exists() for path in sources):
        return True
    paths = stamps.keys() | left_out
    try:
        files = files_of(sources)
    except MissingExtra:  # a graph is opened without what read its sources
        return False
    except BadInput:  # a build could not read what the folder holds now, so it has changed
        return True
    # The sources are kept resolved, so that a file's path is what was stamped unless it is a link.
    return any(str(file.path) not in paths and str(file.path.resolve()) not in paths for file in files)
