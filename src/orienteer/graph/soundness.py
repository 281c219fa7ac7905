"""Checks whether the files of a generation fit one another, on request or after a failure.

Hashes reveal damage but not malice: the maker of a graph made its hashes too. Wrong content, such as a row without a
node or a text that is not UTF-8, fails when it is read, as damage does. Then all files are checked, so that the error
blames the graph and not our code.
"""

from __future__ import annotations

import json
import math
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np

from orienteer.graph.format import MANIFEST, Manifest
from orienteer.graph.properties import Properties
from orienteer.index.arrays import Array, Folder, Strings
from orienteer.index.bm25 import BLOCK
from orienteer.index.names import NameKind

_EXTRA = frozenset(("text", "weight", "properties"))


def contradiction(folder: Path, manifest: Manifest) -> tuple[str, str] | None:
    """Return a file of a generation with impossible content, and the reason; None if all files fit."""
    files = Folder(folder, manifest.files)
    checks = {
        MANIFEST: _manifest,
        "id.utf8": _nodes,
        "aliases.utf8": _aliases,
        "neighbor.i4": _edges,
        "edge_extra.utf8": _extras,
        "row.i4": _postings,
        "exact.u8": _names,
        "property_value.utf8": _properties,
    }
    for name, check in checks.items():
        try:
            if wrong := next(check(files, manifest), None):
                return name, wrong
        except (ValueError, LookupError, OverflowError, RecursionError, OSError) as error:
            return name, str(error)
    return None


def _manifest(files: Folder, manifest: Manifest) -> Iterator[str]:
    for counts, total in ((manifest.node_types, manifest.nodes), (manifest.edge_types, manifest.edges)):
        if sum(counts.values()) != total:
            yield f"{sum(counts.values())} of all types, of {total}"
    for triple in manifest.triples:
        if not {triple.source, triple.target} <= manifest.node_types.keys() or triple.type not in manifest.edge_types:
            yield f"it has no type {triple.source!r}, {triple.type!r} or {triple.target!r}"
    if len(set(manifest.properties)) < len(manifest.properties):
        yield "two properties of one name"
    if not 0 < manifest.text["mean_length"] < math.inf:
        yield "its texts have no length"


def _nodes(files: Folder, manifest: Manifest) -> Iterator[str]:
    ids = files.strings("id")
    for strings in (ids, files.strings("name"), files.strings("text")):
        yield from _ascending(strings, manifest.nodes)
        for _ in strings:  # each is UTF-8, or raises
            pass
    raw = [ids.raw(row) for row in range(len(ids))]
    if any(node_id >= other for node_id, other in zip(raw, raw[1:], strict=False)):
        yield "ids that are out of order or repeated"
    yield from _within(files.array("node_type", "u2"), len(manifest.node_types))


def _aliases(files: Folder, manifest: Manifest) -> Iterator[str]:
    """Check that each node's aliases are a list of texts."""
    for value in _values(files.strings("aliases"), manifest.nodes, empty=[]):
        if not isinstance(value, list) or not all(isinstance(alias, str) for alias in value):
            yield "aliases that are not a list of texts"


def _edges(files: Folder, manifest: Manifest) -> Iterator[str]:
    begins, neighbor = files.array("indptr", "i8"), files.array("neighbor", "i4")
    yield from _parts(begins, manifest.nodes, len(neighbor))
    yield from _within(neighbor, manifest.nodes)
    yield from _within(files.array("kind", "u1", "u2"), 2 * len(manifest.edge_types))
    starts = begins[1:-1]
    apart = np.ones(max(len(neighbor) - 1, 0), np.bool_)
    apart[starts[(starts > 0) & (starts < len(neighbor))] - 1] = False
    if (np.diff(neighbor)[apart] < 0).any():
        yield "neighbours that are out of order"


def _extras(files: Folder, manifest: Manifest) -> Iterator[str]:
    if not files.has("edge_extra.utf8"):
        return
    extras = files.strings("edge_extra")
    if files.has("extra_number.i4"):
        yield from _within(files.array("extra_number", "i4"), len(extras), least=-1)
    for value in _values(extras, len(extras)):
        if not isinstance(value, dict) or not value.keys() <= _EXTRA:
            yield "an edge with unknown fields"
        elif not isinstance(value.get("text", ""), str) or not isinstance(value.get("properties", {}), dict):
            yield "an edge with a wrong text or wrong properties"
        elif not isinstance(value.get("weight", 1.0), int | float):
            yield "an edge whose weight is not a number"


def _postings(files: Folder, manifest: Manifest) -> Iterator[str]:
    terms, begins, blocks = files.array("term", "u8"), files.array("posting", "i8"), files.array("block", "i8")
    rows, large_at = files.array("row", "i4"), files.array("large_at", "i8")
    yield from _parts(begins, len(terms), len(rows))
    yield from _within(rows, manifest.nodes)
    if not np.array_equal(np.diff(blocks), -(-np.diff(begins) // BLOCK)):
        yield "blocks that are not those of the postings"
    if len(large_at) != len(files.array("large", "i4")):
        yield "large frequencies without a place"
    if not np.array_equal(large_at, np.flatnonzero(files.array("frequency", "u1") == 255)):
        yield "large frequencies that are not those of the postings"
    if (terms[1:] <= terms[:-1]).any():
        yield "terms that are out of order"
    if len(files.array("length", "i4")) != manifest.nodes or (files.array("length", "i4") < 0).any():
        yield "impossible lengths of texts"


def _names(files: Folder, manifest: Manifest) -> Iterator[str]:
    for name in ("exact", "stem"):
        yield from _within(files.array(f"{name}_row", "i4"), manifest.nodes)
        yield from _within(files.array(f"{name}_kind", "u1"), len(NameKind))
    spelling = files.strings("spelling")
    yield from _ascending(spelling, len(spelling))
    for _ in spelling:
        pass


def _properties(files: Folder, manifest: Manifest) -> Iterator[str]:
    for column in Properties(files, manifest.properties, manifest.nodes).columns.values():  # raises for wrong parts
        yield from _within(column.rows, manifest.nodes)
        yield from _within(column.codes, column.values)
        yield from _within(column.entries, column.values)
    values = files.strings("property_value")
    for _ in _values(values, len(values)):
        pass


def _values(strings: Strings, count: int, *, empty: Any = None) -> Iterator[Any]:  # Any: JSON
    """Yield the values of strings in JSON. Raises `ValueError` for other text, `IndexError` for wrong offsets."""
    for wrong in _ascending(strings, count):
        raise IndexError(wrong)
    for row in range(len(strings)):
        yield json.loads(strings.raw(row) or json.dumps(empty))


def _ascending(strings: Strings, count: int) -> Iterator[str]:
    if len(strings) != count:
        yield f"{len(strings)} texts for {count}"
    for row in range(len(strings)):  # raises unless each string ends where the next one begins
        strings.raw(row)


def _parts(begins: Array, parts: int, entries: int) -> Iterator[str]:
    if len(begins) != parts + 1 or begins[0] != 0 or begins[-1] != entries or (begins[1:] < begins[:-1]).any():
        yield f"parts that do not fit {entries} entries"


def _within(values: Array, end: int, *, least: int = 0) -> Iterator[str]:
    if len(values) and not least <= int(values.min()) <= int(values.max()) < end:
        yield f"numbers from {values.min()} to {values.max()}, of {end}"
