"""Parquet, through pyarrow, a batch of rows at a time.

The size of a file's content is bounded before it is read, by the headers of its parts. Texts that repeat are read once,
with a number for each row, and weighed before they are written out: a few bytes may stand for a million rows of a
megabyte each.
"""

from __future__ import annotations

import mmap
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from orienteer.errors import BadInput, MissingExtra
from orienteer.ingest.bounds import MOST_HELD, MOST_RECORD, check_ratio, memory_told, too_long
from orienteer.ingest.formats.arrow import is_text, values_of
from orienteer.ingest.formats.files import require
from orienteer.ingest.formats.parquet_pages import Chunk, Group, directory, pages
from orienteer.ingest.formats.table import Batch, Drop

_UNREADABLE = (ValueError, OverflowError, LookupError)
"""What Arrow raises for broken texts, times that Python cannot hold, and unknown time zones."""
NANOSECONDS = "[ns"
"""What is in the name of a type of times that are finer than Python's."""
SPLIT = "write it again as CSV, or in parts, if that is what it should hold"
WIDTH = 8
"""Bytes of a number, the least that a member of a list takes."""
MOST_BATCH = 4 * MOST_HELD
"""Bytes of a batch of rows; texts that repeat count as often as they stand there."""


class Parquet:
    """Reads columns; a row's line is its number, from 1."""

    def columns(self, path: Path) -> tuple[str, ...]:
        """Return the names of the file's columns."""
        with _opened(path) as file:
            names = tuple(file.schema_arrow.names)
        if len(set(names)) < len(names):
            raise BadInput(f"{path} has two columns of one name ({', '.join(names)}): rename one of them")
        return names

    def batches(self, path: Path, *, rows: int, drop: Drop, header: bool) -> Iterator[Batch]:
        """Read the table in batches."""
        before = 0
        with _opened(path) as file:
            days = _columns_of_days(path, file.schema_arrow, rows)
            for records in _parts(path, rows):
                bad: set[int] = set()
                columns = {}
                for field, column in zip(file.schema_arrow, records.columns, strict=True):
                    name = field.name
                    try:
                        cells = column.cast("date32") if name in days else column
                        columns[name], undecoded = _values(cells, cells.type if name in days else field.type)
                    except _UNREADABLE as error:
                        raise BadInput(f"{path}, column {name!r}: {error}; write that column as text") from error
                    bad |= undecoded
                batch = Batch(columns, range(before + 1, before + 1 + records.num_rows))
                before += records.num_rows
                yield batch.dropping(bad, drop)


@contextmanager
def _opened(path: Path) -> Iterator[Any]:  # Any: pyarrow has no types
    try:
        import pyarrow
        import pyarrow.parquet
    except ImportError as error:
        raise MissingExtra(f"reading {path.name}", "parquet") from error
    require(path)
    try:
        with memory_told(path), pyarrow.parquet.ParquetFile(path) as file:
            yield file
    except (pyarrow.ArrowException, OSError, UnicodeDecodeError) as error:
        reason = str(error).splitlines()[0] if str(error) else type(error).__name__
        raise BadInput(f"{path} is no whole Parquet file ({reason}); fetch the file again") from error
    finally:
        pyarrow.default_memory_pool().release_unused()  # hundreds of megabytes, which indexing wants


def _columns_of_days(path: Path, schema: Any, rows: int) -> set[str]:  # Any: pyarrow has no types
    """Return the columns of times that are all midnight: pandas has no dates. Raises `BadInput` as `_parts` does."""
    from pyarrow import compute, types

    fields = [field for field in schema if types.is_timestamp(field.type) and field.type.tz is None]
    days = {field.name for field in fields}
    for records in _parts(path, rows, sorted(days)) if days else ():
        for name in days & set(records.schema.names):
            column = records.column(name)
            if compute.any(compute.not_equal(compute.floor_temporal(column, unit="day"), column)).as_py():
                days.discard(name)
    return days


def _parts(path: Path, rows: int, names: list[str] | None = None) -> Iterator[Any]:  # Any: pyarrow has no types
    """Return the file's rows, or some of their columns, in batches of `rows` at most.

    Raises `BadInput` if they come to too much.
    """
    import pyarrow.parquet

    groups = checked(path)
    repeating = {chunk.path for group in groups for chunk in group.chunks if chunk.is_text and chunk.has_dictionary}
    size, unpacked = path.stat().st_size, 0
    with pyarrow.parquet.ParquetFile(path, read_dictionary=sorted(repeating)) as coded:
        for records in coded.iter_batches(batch_size=fitting(groups, rows), columns=names):
            total = sum(weight(column, path) for column in records.columns)
            unpacked += total
            check_ratio(path, size, unpacked, remedy=SPLIT)
            step = max(1, records.num_rows // (1 + total // MOST_BATCH))
            for first in range(0, records.num_rows, step):
                yield records.slice(first, step)


def _values(column: Any, kind: Any) -> tuple[Sequence[Any], set[int]]:  # Any: a pyarrow array, and a type
    """Return a column's values and the rows whose text is no UTF-8 (those come with replacement characters)."""
    from pyarrow import ArrowException, types

    if column.type != kind and types.is_dictionary(column.type):
        column = column.dictionary_decode()
    try:
        return values_of(column.cast(_coarse(kind)) if NANOSECONDS in str(kind) else column), set()
    except (*_UNREADABLE, ArrowException):  # of a text, or of a time that Python has not
        values, bad = [], set()
        for row, value in enumerate(column):
            try:
                values.append(_time(value) if types.is_temporal(kind) else value.as_py())
            except UnicodeDecodeError as error:
                values.append(error.object.decode("utf-8", "replace"))
                bad.add(row)
        if NANOSECONDS in str(kind) and types.is_nested(kind):
            raise ValueError(f"values of the type {kind} cannot be read") from None
        return values, bad


def _coarse(kind: Any) -> Any:  # Any: pyarrow's types
    """Return a type with Python's microseconds for nanoseconds: pandas, where it is, has times of its own for these."""
    from pyarrow import duration, field, list_, struct, time64, timestamp, types

    if types.is_list(kind) or types.is_large_list(kind):
        return list_(_coarse(kind.value_type))
    if types.is_struct(kind):
        return struct([field(part.name, _coarse(part.type)) for part in kind.fields])
    if types.is_timestamp(kind):
        return timestamp("us", kind.tz)
    return time64("us") if types.is_time(kind) else duration("us") if types.is_duration(kind) else kind


def _time(value: Any) -> Any:  # Any: a pyarrow scalar, and what it holds
    """Return a time as Python's own, or as Arrow writes it where it is finer, or further off, than Python's."""
    from pyarrow import ArrowException, types

    try:
        return value.cast(_coarse(value.type)).as_py()
    except (*_UNREADABLE, ArrowException):
        text = "" if types.is_duration(value.type) else str(value.cast("string").as_py())
        is_told = text and not text.startswith("<")  # else Arrow says that it is out of range
        unit = str(value.type).partition("[")[2].rstrip("]").partition(",")[0]
        return text.replace(" ", "T", 1) if is_told else f"{value.value} {unit}"


def checked(path: Path) -> list[Group]:
    """Return the groups of rows of a file, none of whose columns unpacks to more than it may.

    It goes by the headers of the pages, which are what is read: the directory may claim anything. Raises
    `BadInput` for a column that comes to too much, also in lists of too many members, and for a damaged file.
    """
    with path.open("rb") as raw, mmap.mmap(raw.fileno(), 0, access=mmap.ACCESS_READ) as mapped:
        try:
            groups = directory(mapped)
            return [
                group._replace(chunks=[_measured(chunk, mapped, path) for chunk in group.chunks]) for group in groups
            ]
        except ValueError as error:
            raise BadInput(f"{path} is no whole Parquet file ({error}); fetch the file again") from error


def _measured(chunk: Chunk, mapped: mmap.mmap, path: Path) -> Chunk:
    """Return a column with whether values are stored once for many rows. Raises `BadInput` if it comes to too much."""
    size = min(chunk.packed, len(mapped) - chunk.start)
    unpacked, values, has_dictionary = 0, 0, False
    for page in pages(mapped, chunk.start, size):
        unpacked += page.unpacked
        values += page.values
        has_dictionary = has_dictionary or page.is_dictionary
        most = max(unpacked, WIDTH * values if chunk.has_lists else 0)
        check_ratio(f"{path}, column {chunk.path!r},", size, most, remedy=SPLIT)
    return chunk._replace(has_dictionary=has_dictionary)


def fitting(groups: Sequence[Group], rows: int) -> int:
    """Return how many rows a batch may have: `rows` at most, fewer if the rows are large."""
    widths = (sum(chunk.width for chunk in group.chunks) for group in groups)
    sizes = (group.bytes // max(1, group.rows) for group in groups)
    return max(1, min(rows, MOST_BATCH // max([1, *widths, *sizes])))


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
    if not is_text(kind) and not types.is_binary(kind) and not types.is_large_binary(kind):
        return None
    lengths = compute.binary_length(column)
    if (compute.max(lengths).as_py() or 0) > MOST_RECORD:
        raise too_long(path, "one of its rows", "text")
    return lengths
