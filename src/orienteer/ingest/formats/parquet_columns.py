"""What a Parquet file packs, and how heavy its columns are: told by its own directory before anything is read."""

from __future__ import annotations

import mmap
from collections.abc import Sequence
from pathlib import Path
from typing import Any, NamedTuple

from orienteer.errors import BadInput
from orienteer.ingest.bounds import MOST_HELD, MOST_RECORD, check_ratio, too_long
from orienteer.ingest.formats.parquet_pages import Chunk, Group, directory, pages

SPLIT = "write it again as CSV, or in parts, if that is what it should hold"
WIDTH = 8
"""Bytes of a number, the least that a member of a list takes."""
MOST_BATCH = 4 * MOST_HELD
"""Bytes of a batch of rows; texts that repeat count as often as they stand there."""


class PackedColumns(NamedTuple):
    """What a file packs."""

    groups: list[Group]
    repeating: list[str]
    """Columns in which one text may stand for many rows."""


def checked(path: Path) -> PackedColumns:
    """Return what a file packs, none of whose columns unpacks to more than it may.

    By the headers of its pages, which are what is read: what the directory says of them may be anything. Raises
    `BadInput` for a column that comes to too much, also in lists of too many members, and for a damaged file.
    """
    repeating = set()
    with path.open("rb") as raw, mmap.mmap(raw.fileno(), 0, access=mmap.ACCESS_READ) as mapped:
        try:
            groups = directory(mapped)
            for chunk in (chunk for group in groups for chunk in group.chunks):
                if _repeats(chunk, mapped, f"{path}, column {chunk.path!r},") and chunk.is_text:
                    repeating.add(chunk.path)
        except ValueError as error:
            raise BadInput(f"{path} is no whole Parquet file ({error}); fetch the file again") from error
    return PackedColumns(groups, sorted(repeating))


def _repeats(chunk: Chunk, mapped: mmap.mmap, name: str) -> bool:
    """Say whether values of a column stand once for many rows. Raises `BadInput` where it comes to too much."""
    size = min(chunk.packed, len(mapped) - chunk.start)
    unpacked, values, is_found = 0, 0, False
    for page in pages(mapped, chunk.start, size):
        unpacked += page.unpacked
        values += page.values
        is_found = is_found or page.is_dictionary
        check_ratio(name, size, max(unpacked, WIDTH * values if chunk.has_lists else 0), remedy=SPLIT)
    return is_found


def fitting(groups: Sequence[Group], rows: int) -> int:
    """Return how many rows a batch may have, so many at the most: fewer of a table whose rows are large."""
    widths = (sum(chunk.width for chunk in group.chunks) for group in groups)
    sizes = (group.bytes // max(1, group.rows) for group in groups)
    return max(1, min(rows, MOST_BATCH // max(1, *widths, *sizes)))


def weight(column: Any, path: Path) -> int:  # Any: a pyarrow array
    """Return the bytes that a column's values come to, each as often as it stands there.

    Raises `BadInput` for a text that is larger than any may be.
    """
    from pyarrow import compute, types

    kind = column.type
    if types.is_dictionary(kind):
        lengths = _lengths(column.dictionary, path)
        return int(column.nbytes) if lengths is None else compute.sum(lengths.take(column.indices)).as_py() or 0
    if types.is_struct(kind):
        return sum(weight(column.field(place), path) for place in range(kind.num_fields))
    if types.is_map(kind):
        return sum(weight(part, path) for part in (column.keys, column.items))
    if types.is_list(kind) or types.is_large_list(kind) or types.is_fixed_size_list(kind):
        return WIDTH * len(column) + weight(column.flatten(), path)
    _lengths(column, path)
    return int(column.nbytes)


def _lengths(column: Any, path: Path) -> Any:  # Any: pyarrow's arrays
    """Return how long each text is, None of a column of something else. Raises `BadInput` for one that is too long."""
    from pyarrow import compute, types

    kind = column.type
    is_text = types.is_string(kind) or types.is_large_string(kind)
    if not is_text and not types.is_binary(kind) and not types.is_large_binary(kind):
        return None
    lengths = compute.binary_length(column)
    if (compute.max(lengths).as_py() or 0) > MOST_RECORD:
        raise too_long(path, "one of its rows", "text")
    return lengths
