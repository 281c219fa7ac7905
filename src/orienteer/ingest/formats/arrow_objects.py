"""Lines of JSON objects read by Arrow, as columns: where it gives what Python's `json` gives, and not otherwise.

Arrow has one type for a column, JSON one for each value; Arrow takes dates for times, has no whole numbers beyond 64
bits, and more lines in a row, and rows in a line, than JSON lines have. It breaks down over deep values. All of that is
looked for, and left to who reads objects: `None` in place of columns.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any

import numpy as np

from orienteer.ingest.formats.arrow import columns_of, values_of
from orienteer.ingest.formats.table import is_sparse

MOST_COLUMNS = 1_000
"""Columns that Arrow may make. Each takes it a kilobyte, and a line of a megabyte has a hundred thousand keys."""
_TEXT = re.compile(rb'"((?:[^"\\]++|\\.)*+)"?([ \t]*:)?', re.DOTALL)
"""A text, and whether it is a key. One without an end goes on to the end of all, so that this never goes back."""
_UNUSUAL = re.compile(rb"[^ \t\r\n][ \t\r]*\{|\[[^\]]*(?:[\[{]|null)|\}[ \t\r]*[^ \t\r\n]")
"""Outside of texts: an object or list within another, or something behind an object; and null in a list, of which Arrow
26 makes what happens to lie in memory."""
_ESCAPED_KEY = re.compile(rb'\\.[^"\\]*"[ \t]*:', re.DOTALL)
"""The end of a key that is not written as it is."""
_PLAIN_NAME = re.compile(r'[^\s,:}\]"\\\0-\x1f][^"\\\0-\x1f]*')
"""A key that may stand between quotes as it is, and nothing that may stand between two texts."""


class ObjectParser:
    """Reads parts of one file, and remembers what columns they had."""

    def __init__(self) -> None:
        self._types: dict[str, Any] = {}  # Any: a pyarrow type

    def columns(self, content: bytes, count: int) -> dict[str, Sequence[Any]] | None:  # Any: JSON values
        """Return the columns of so many lines, in the order in which their keys come; None where they are unusual."""
        import pyarrow

        if not _has_a_flat_object_in_each_line(content, count):
            return None
        try:
            table = self._table(content, count)
            if table is None or table.num_rows != count:
                return None
            columns: dict[str, Sequence[Any]] = {}
            for name, column in zip(table.schema.names, columns_of(table, 0, count), strict=True):
                values = _values(column, name, content)
                if values is None:
                    return None
                columns[name] = values
        except (pyarrow.ArrowException, UnicodeDecodeError, ValueError, OverflowError):
            return None
        filled = sum(count - column.null_count for column in table.columns)
        return None if not columns or is_sparse(len(columns) * count, filled) else columns

    def _table(self, content: bytes, count: int) -> Any:  # Any: a pyarrow table, or None
        """Parse lines by the types that columns had before, and by those that these have where that fails."""
        import pyarrow

        if self._types:
            try:
                table = _read(content, self._types)
            except pyarrow.ArrowException:
                pass  # some column has another type here, or is new
            else:
                if (order := _in_order(table, content)) is not None:
                    return table.select(order)
        keys = {text for text, colon in _TEXT.findall(content) if colon}
        if len(keys) > MOST_COLUMNS or is_sparse(len(keys) * count, content.count(b":")):
            return None
        table = _read(content)
        types = {field.name: _untimed(field.type) for field in table.schema}
        if types != {field.name: field.type for field in table.schema}:
            table = _read(content, types)
        for name, kind in types.items():
            if name not in self._types or "null" not in str(kind):
                self._types[name] = kind
        return table


def _has_a_flat_object_in_each_line(content: bytes, count: int) -> bool:
    """Return whether each line begins and ends as an object, and no value is an object or a list of lists.

    A line that ends with a brace, before one that begins with one, ends a whole object: within one there would be a
    comma.
    """
    if b"\r" in content:
        if content.count(b"\r") != content.count(b"\r\n"):
            return False
        content = content.replace(b"\r\n", b"\n")
    letters = np.frombuffer(content if content.endswith(b"\n") else content + b"\n", np.uint8)
    ends = np.flatnonzero(letters == ord("\n"))
    is_begun, is_ended = letters[ends[:-1] + 1] == ord("{"), letters[ends - 1] == ord("}")
    if len(ends) != count or not content.startswith(b"{") or not is_begun.all() or not is_ended.all():
        return False
    braces = {int(np.count_nonzero(letters == ord(brace))) for brace in "{}"}
    if braces == {count} and b"[" not in content:
        return True
    return not _UNUSUAL.search(_TEXT.sub(b"", content))


def _read(content: bytes, types: dict[str, Any] | None = None) -> Any:  # Any: pyarrow's types, and a table
    """Parse lines, by the types of their columns where they are given; others are an error then."""
    import pyarrow
    from pyarrow import json

    return json.read_json(
        pyarrow.BufferReader(content),
        json.ReadOptions(use_threads=False, block_size=len(content) + 1),
        json.ParseOptions(
            explicit_schema=None if types is None else pyarrow.schema(list(types.items())),
            unexpected_field_behavior="infer" if types is None else "error",
        ),
    )


def _untimed(kind: Any) -> Any:  # Any: a pyarrow type
    """Return the type that a column has without Arrow's own idea that a text may be a time."""
    import pyarrow
    from pyarrow import types

    if types.is_list(kind):
        return pyarrow.list_(_untimed(kind.value_type))
    return pyarrow.string() if types.is_timestamp(kind) else kind


def _in_order(table: Any, content: bytes) -> list[str] | None:  # Any: a pyarrow table
    """Return the columns in the order in which their keys come, without those that have none here.

    None where a key is written so that it is not found.
    """
    if _ESCAPED_KEY.search(content) or not all(map(_PLAIN_NAME.fullmatch, table.schema.names)):
        return None
    places = {}
    for name in table.schema.names:
        key = b'"' + name.encode() + b'"'
        place = re.compile(re.escape(key) + rb"[ \t]*:").search(content) if key in content else None
        if place is not None:
            places[name] = place.start()
    return sorted(places, key=places.__getitem__)


def _values(column: Any, name: str, content: bytes) -> Sequence[Any] | None:  # Any: a pyarrow array, JSON values
    """Return the values of a column; None where Arrow does not tell them all."""
    from pyarrow import types

    numbers = column.flatten() if types.is_list(column.type) else column
    if not types.is_float64(numbers.type) or _are_fractions(numbers):
        return values_of(column)
    return _numbers(column, name, content) if numbers is column else None


def _are_fractions(column: Any) -> bool:  # Any: a pyarrow array
    """Return whether no number of a column is a whole one, which may have been written as such."""
    numbers = column.drop_null().to_numpy()
    return bool(np.isfinite(numbers).all() and (numbers != np.rint(numbers)).all())


def _numbers(column: Any, name: str, content: bytes) -> list[int | float | None] | None:  # Any: a pyarrow array
    """Return numbers as they are written, 1 or 1.0; None where not all of them are found.

    Raises `ValueError` for one of too many digits.
    """
    if not _PLAIN_NAME.fullmatch(name):
        return None
    written = re.findall(rb'"' + re.escape(name.encode()) + rb'"[ \t]*:[ \t]*(-?\d[-+.\deE]*)', content)
    if len(written) != len(column) - column.null_count:
        return None
    numbers = iter([int(text) if text.removeprefix(b"-").isdigit() else float(text) for text in written])
    return [next(numbers) if is_valid else None for is_valid in column.is_valid().to_pylist()]
