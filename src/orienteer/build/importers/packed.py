"""What a Parquet file packs, and how heavy its columns are: told by its own directory before anything is read."""

from __future__ import annotations

import mmap
from pathlib import Path
from typing import Any

from orienteer.build.bounds import MOST_HELD, MOST_RECORD, ratio, too_long
from orienteer.build.importers.pages import pages

SPLIT = "write it again as CSV, or in parts, if that is what it should hold"
WIDTH = 8
"""Bytes of a number, the least that a member of a list takes."""
MOST_BATCH = 4 * MOST_HELD
"""Bytes of a batch of rows; texts that repeat count as often as they stand there."""


def check(metadata: Any, path: Path) -> None:  # Any: pyarrow has no types
    """Raise `BadInput` where a column unpacks to more than it may, or has lists of more members than it may.

    By the headers of its pages, which are what is read: what the directory says of them may be anything.
    """
    with path.open("rb") as raw, mmap.mmap(raw.fileno(), 0, access=mmap.ACCESS_READ) as data:
        for place in range(metadata.num_columns):
            column = metadata.schema.column(place)
            for group in map(metadata.row_group, range(metadata.num_row_groups)):
                name, has_lists = f"{path}, column {column.path!r},", column.max_repetition_level > 0
                _check_chunk(group.column(place), data, name, has_lists=has_lists)


def _check_chunk(chunk: Any, data: mmap.mmap, name: str, *, has_lists: bool) -> None:  # Any: pyarrow has no types
    start = min(chunk.data_page_offset, chunk.dictionary_page_offset or chunk.data_page_offset)
    size = min(chunk.total_compressed_size, len(data) - start)
    unpacked = values = 0
    for page in pages(data, start, size):
        unpacked += page.unpacked
        values += page.values
        ratio(name, size, max(unpacked, WIDTH * values if has_lists else 0), remedy=SPLIT)


def repeating(metadata: Any) -> list[str]:  # Any: pyarrow has no types
    """Return the columns of texts that may hold one text for many rows."""
    found = set()
    for group in map(metadata.row_group, range(metadata.num_row_groups)):
        for column in map(group.column, range(metadata.num_columns)):
            if column.physical_type == "BYTE_ARRAY" and any("DICTIONARY" in one for one in column.encodings):
                found.add(column.path_in_schema)
    return sorted(found)


def fitting(metadata: Any, rows: int) -> int:  # Any: pyarrow has no types
    """Return how many rows a batch may have, so many at the most: fewer of a table whose rows are large."""
    widths = (metadata.schema.column(place).length for place in range(metadata.num_columns))
    fixed: int = sum(width for width in widths if width and width > 0)
    groups = map(metadata.row_group, range(metadata.num_row_groups))
    row: int = max((group.total_byte_size // max(1, group.num_rows) for group in groups), default=0)
    return max(1, min(rows, MOST_BATCH // max(1, row, fixed)))


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
