"""What a graph was made of, so that it can be told when its sources have changed."""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Mapping
from functools import lru_cache
from pathlib import Path
from typing import Any, NamedTuple, TypeVar, cast

from pydantic import TypeAdapter, ValidationError

from orienteer.graph.format import GENERATIONS, MANIFEST, Manifest, damaged
from orienteer.ingest.formats import RDF, format_of
from orienteer.ingest.formats.files import suffix
from orienteer.ingest.tables.plan import listing
from orienteer.version import __version__

_T = TypeVar("_T")


def describe(paths: Iterable[Path], files: Iterable[Path], options: Mapping[str, Any]) -> dict[str, Any]:
    """Return the provenance of an import: what was given, the files with size and time, the options."""
    paths = [path.resolve() for path in paths]
    return {
        "made_by": "import",
        "version": __version__,
        "given": list(map(str, paths)),
        "sources": [
            _stamp(path)._asdict() for path in sorted({*_readable(paths), *(file.resolve() for file in files)})
        ],
        "options": dict(options),
    }


def is_stale(manifest: Manifest) -> bool:
    """Say whether a source of the graph has changed, is gone, or has been joined by another since it was made.

    For a graph that an import made; one that was not made from files is never stale.
    """
    recorded = listed(manifest, "sources", _Stamp)
    paths = {Path(stamp.path) for stamp in recorded}
    if any(not path.is_file() for path in paths):
        return True
    if any(_stamp(Path(stamp.path)) != stamp for stamp in recorded):
        return True
    return any(path not in paths for path in _readable(given_of(manifest)))


def listed(manifest: Manifest, name: str, kind: type[_T]) -> list[_T]:
    """Return a list from a graph's provenance. Raises `NotAGraph` for any other value there."""
    try:
        records: list[_T] = _lists(cast(Hashable, kind)).validate_python(manifest.provenance.get(name) or [])
        return records
    except ValidationError as error:
        raise damaged(Path(GENERATIONS, manifest.generation, MANIFEST), error) from error


@lru_cache
def _lists(kind: Any) -> TypeAdapter[Any]:  # Any: a type that is known when it is called
    return TypeAdapter(list[kind])


def given_of(manifest: Manifest) -> list[Path]:
    """Return the sources that a graph was made of, as they were given. Raises `NotAGraph`."""
    return [Path(path) for path in listed(manifest, "given", str)]


def _readable(sources: Iterable[Path]) -> list[Path]:
    """Return the files that importing these would look at."""
    inside = [path for source in sources for path in listing(source)]
    return [path for path in inside if format_of(path) is not None or suffix(path) in RDF]


class _Stamp(NamedTuple):
    """A file as it was when it was read."""

    path: str
    bytes: int
    modified: int


def _stamp(path: Path) -> _Stamp:
    status = path.stat()
    return _Stamp(str(path), status.st_size, status.st_mtime_ns)
