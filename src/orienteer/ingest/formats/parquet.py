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
from typing import Any, NamedTuple

from orienteer.errors import BadInput, MissingExtra
from orienteer.ingest.bounds import MOST_HELD, MOST_RECORD, check_ratio, memory_told, too_long
from orienteer.ingest.formats.arrow import is_text, values_of
from orienteer.ingest.formats.files import require
from orienteer.ingest.formats.parquet_pages import Chunk, Group, directory, pages
from orienteer.ingest.formats.table import Batch, Drop, shown

_UNREADABLE = (ValueError, OverflowError, LookupError)
"""What Arrow raises for broken texts, times that Python cannot hold, and unknown time zones."""
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
            days, kinds = _columns_of_days(path, file.schema_arrow, rows), file.schema_arrow.types
            for records in _parts(path, rows):
                bad: set[int] = set()
                columns = {}
                for name, kind, column in zip(file.schema_arrow.names, kinds, records.columns, strict=True):
                    try:
                        columns[name], undecoded = _values(column.cast("date32") if name in days else column, kind)
                    except _UNREADABLE as error:
                        raise BadInput(f"{path}, column {name!r}: {error}; write that column as text") from error
                    bad |= undecoded
                batch = Batch(columns, range(before + 1, before + 1 + records.num_rows))
                before += records.num_rows
                for row in sorted(bad):
                    first = next(iter(columns.values()))[row]
                    drop("bad encoding", batch.lines[row], shown(first))
                yield batch.without(bad)


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

    packed = checked(path)
    size, unpacked = path.stat().st_size, 0
    with pyarrow.parquet.ParquetFile(path, read_dictionary=packed.repeating) as coded:
        for records in coded.iter_batches(batch_size=fitting(packed.groups, rows), columns=names):
            total = sum(weight(column, path) for column in records.columns)
            unpacked += total
            check_ratio(path, size, unpacked, remedy=SPLIT)
            step = max(1, records.num_rows // (1 + total // MOST_BATCH))
            for first in range(0, records.num_rows, step):
                yield records.slice(first, step)


def _values(column: Any, kind: Any) -> tuple[Sequence[Any], set[int]]:  # Any: a pyarrow array, and a type
    """Return a column's values and the rows whose text is no UTF-8 (those come with replacement characters)."""
    import pyarrow

    if column.type != kind and pyarrow.types.is_dictionary(column.type):
        column = column.dictionary_decode()
    try:
        if "[ns" in str(column.type):  # as Python's own times, value by value: pandas, where it is, has others
            return [_python(value) for value in column], set()
        return values_of(column), set()
    except (*_UNREADABLE, pyarrow.ArrowException):  # of a text, or of a time that Python has not
        values, bad = [], set()
        for row, value in enumerate(column):
            try:
                values.append(_python(value))
            except UnicodeDecodeError as error:
                values.append(error.object.decode("utf-8", "replace"))
                bad.add(row)
            except _UNREADABLE:
                values.append(_time(value))
        return values, bad


def _python(value: Any) -> Any:  # Any: a pyarrow scalar, and what it holds
    """Return a value as Python's own. Raises `ValueError` for a time that is finer or further off than Python's."""
    from pyarrow import ArrowException, duration, time64, timestamp, types

    kind = value.type
    if types.is_nested(kind) or "[ns" not in str(kind):
        content = value.as_py()
        if isinstance(content, list) and any(type(part).__module__.startswith("pandas") for part in content):
            raise ValueError(f"values of the type {kind} cannot be read")  # with pandas, they are its own times
        return content
    coarse = (
        timestamp("us", kind.tz)
        if types.is_timestamp(kind)
        else time64("us")
        if types.is_time(kind)
        else duration("us")
    )
    try:
        return value.cast(coarse).as_py()
    except ArrowException as error:
        raise ValueError(f"{value} is finer than Python's times") from error


def _time(value: Any) -> str:  # Any: a pyarrow scalar
    """Return a time that is finer, or further off, than Python's as Arrow writes it. Raises `ValueError`."""
    from pyarrow import types

    if not types.is_temporal(value.type):
        raise ValueError(f"values of the type {value.type} cannot be read")
    text = "" if types.is_duration(value.type) else str(value.cast("string").as_py())
    is_told = text and not text.startswith("<")  # else Arrow says that it is out of range
    if is_told:
        return text.replace(" ", "T", 1)
    unit = str(value.type).partition("[")[2].rstrip("]")
    return f"{value.value} {unit.partition(',')[0]}"


class PackedColumns(NamedTuple):
    """What a file packs."""

    groups: list[Group]
    repeating: list[str]
    """Columns in which one text may stand for many rows."""


def checked(path: Path) -> PackedColumns:
    """Return what a file packs, none of whose columns unpacks to more than it may.

    It goes by the headers of the pages, which are what is read: the directory may claim anything. Raises
    `BadInput` for a column that comes to too much, also in lists of too many members, and for a damaged file.
    """
    repeating = set()
    with path.open("rb") as raw, mmap.mmap(raw.fileno(), 0, access=mmap.ACCESS_READ) as mapped:
        try:
            groups = directory(mapped)
            for chunk in (chunk for group in groups for chunk in group.chunks):
                if _has_dictionary(chunk, mapped, f"{path}, column {chunk.path!r},") and chunk.is_text:
                    repeating.add(chunk.path)
        except ValueError as error:
            raise BadInput(f"{path} is no whole Parquet file ({error}); fetch the file again") from error
    return PackedColumns(groups, sorted(repeating))


def _has_dictionary(chunk: Chunk, mapped: mmap.mmap, name: str) -> bool:
    """Return whether values of a column are stored once for many rows. Raises `BadInput` if it comes to too much."""
    size = min(chunk.packed, len(mapped) - chunk.start)
    unpacked, values, has_dictionary = 0, 0, False
    for page in pages(mapped, chunk.start, size):
        unpacked += page.unpacked
        values += page.values
        has_dictionary = has_dictionary or page.is_dictionary
        check_ratio(name, size, max(unpacked, WIDTH * values if chunk.has_lists else 0), remedy=SPLIT)
    return has_dictionary


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
