"""What a graph was made of, so that it can be told when its sources have changed."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

import orienteer
from orienteer.build.importers import RDF, format_of
from orienteer.build.importers.files import suffix
from orienteer.build.plan import listing
from orienteer.graph.format import Manifest


def describe(given: Iterable[Path], files: Iterable[Path], options: Mapping[str, Any]) -> dict[str, Any]:
    """Return the provenance of an import: what was given, the files with size and time, the options."""
    given = [path.resolve() for path in given]
    return {
        "made_by": "import",
        "version": orienteer.__version__,
        "given": list(map(str, given)),
        "sources": [_stamp(path) for path in sorted({*_readable(given), *(file.resolve() for file in files)})],
        "options": dict(options),
    }


def is_stale(manifest: Manifest) -> bool:
    """Say whether a source of the graph has changed, is gone, or has been joined by another since it was made.

    A graph that was not made from files is never stale.
    """
    if manifest.provenance.get("made_by") == "build":
        from orienteer.build.documents import sources  # of documents; whoever opens a graph of tables needs none of it

        return sources.is_stale(manifest)
    recorded = manifest.provenance.get("sources") or []
    paths = {Path(one["path"]) for one in recorded}
    if any(not path.is_file() for path in paths):
        return True
    if any(_stamp(Path(one["path"])) != one for one in recorded):
        return True
    given: Sequence[Path] = [Path(one) for one in manifest.provenance.get("given") or []]
    return any(path not in paths for path in _readable(given))


def _readable(given: Iterable[Path]) -> list[Path]:
    """Return the files that importing these would look at."""
    inside = [path for source in given for path in listing(source)]
    return [path for path in inside if format_of(path) is not None or suffix(path) in RDF]


def _stamp(path: Path) -> dict[str, Any]:
    status = path.stat()
    return {"path": str(path), "bytes": status.st_size, "modified": status.st_mtime_ns}
