"""Parquet, through pyarrow, a batch of rows at a time.

What a file packs is bounded before it is read, by what it says of its parts; texts that repeat are read as the texts
once and a number for each row, and are weighed before they are written out: a value of a megabyte may stand for a
million rows in a few bytes.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from orienteer.errors import BadInput, MissingExtra
from orienteer.graph.edges import CodedColumn
from orienteer.ingest.bounds import check_ratio, memory_told
from orienteer.ingest.formats.files import require
from orienteer.ingest.formats.parquet_columns import MOST_BATCH, SPLIT, checked, fitting, weight
from orienteer.ingest.formats.table import Batch, Drop, shown

_UNREADABLE = (ValueError, OverflowError, LookupError)
"""What Arrow raises for a text that is none, a time that Python has not, a zone that nobody knows."""
CODED_FROM = 1_000
"""Texts of a column that are looked at, to tell whether they repeat."""


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
            kinds = file.schema_arrow.types
            for records in _parts(path, rows):
                bad: set[int] = set()
                columns = {}
                for name, kind, column in zip(file.schema_arrow.names, kinds, records.columns, strict=True):
                    try:
                        columns[name], undecoded = _values(column, kind)
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


def _parts(path: Path, rows: int) -> Iterator[Any]:  # Any: pyarrow has no types
    """Return the file's rows, in batches of so many or fewer. Raises `BadInput` where they come to too much."""
    import pyarrow.parquet

    packed = checked(path)
    size, unpacked = path.stat().st_size, 0
    with pyarrow.parquet.ParquetFile(path, read_dictionary=packed.repeating) as coded:
        for records in coded.iter_batches(batch_size=fitting(packed.groups, rows)):
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
        return _list(column), set()
    except (*_UNREADABLE, pyarrow.ArrowException):  # of a text, or of a time that Python has not
        values, bad = [], set()
        for row, value in enumerate(column):
            try:
                values.append(value.as_py())
            except UnicodeDecodeError as error:
                values.append(error.object.decode("utf-8", "replace"))
                bad.add(row)
            except _UNREADABLE:
                values.append(_time(value))
        return values, bad


def _time(value: Any) -> str:  # Any: a pyarrow scalar
    """Return a time that is finer, or further off, than Python's as Arrow writes it. Raises `ValueError`."""
    from pyarrow import types

    if not types.is_temporal(value.type):
        raise ValueError(f"values of the type {value.type} cannot be read")
    text = "" if types.is_duration(value.type) else str(value.cast("string").as_py())
    is_told = text and not text.startswith("<")  # else Arrow says that it is out of range
    return text.replace(" ", "T", 1) if is_told else f"{value.value} {value.type.unit}"


def _list(column: Any) -> Sequence[Any]:  # Any: a pyarrow array
    """Return a column as Python values, by way of numpy where that is the same and several times faster.

    Texts that repeat come as `Coded`.
    """
    from pyarrow import types

    kind = column.type
    if _repeats(column):
        column = column.dictionary_encode()
        return CodedColumn(_list(column.dictionary), column.indices.to_numpy())
    if types.is_dictionary(kind):
        words = [*_list(column.dictionary), None]
        return [words[place] for place in column.indices.fill_null(len(words) - 1).to_numpy().tolist()]
    is_whole = column.null_count == 0 and (types.is_integer(kind) or types.is_boolean(kind))
    if is_whole or types.is_string(kind) or types.is_large_string(kind):
        column = column.to_numpy(zero_copy_only=False)
    values: list[Any] = column.tolist()
    return values


def _repeats(column: Any) -> bool:  # Any: a pyarrow array
    """Say whether a column's first texts are few different ones; coding other columns costs more than it saves."""
    from pyarrow import compute, types

    if not (types.is_string(column.type) or types.is_large_string(column.type)):
        return False
    if len(column) < CODED_FROM or column.null_count:
        return False
    return bool(compute.count_distinct(column.slice(0, CODED_FROM)).as_py() * 10 <= CODED_FROM)
