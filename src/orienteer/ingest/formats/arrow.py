"""Columns of Arrow as columns of ours, and rows of delimited text read by Arrow where that is installed.

Arrow reads a gigabyte of fields in some seconds, and makes no Python object of any. It takes only what it reads as
Python's `csv` does: whole blocks of lines in UTF-8 whose quotes stand where the rules of spreadsheets put them. From
the first block of another kind on, `delimited` reads the file with `csv`, which tells what is wrong and where.
"""

from __future__ import annotations

from array import array
from codecs import BOM_UTF8
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from importlib.util import find_spec
from typing import Any, BinaryIO, NamedTuple, TypeVar

import numpy as np
from numpy.typing import NDArray

from orienteer.graph.edges import CodedColumn
from orienteer.index.arrays import Strings
from orienteer.ingest.bounds import MOST_RECORD
from orienteer.ingest.formats.records import FieldDialect

BLOCK = 1 << 20
"""Bytes of lines that are parsed at once."""
CODED_FROM = 1_000
"""Texts of a column that are looked at, to tell whether they repeat."""
_QUOTE, _NEWLINE, _RETURN = b'"', b"\n", b"\r"
_NONE = np.zeros(0, np.int64)
Part = TypeVar("Part")


def has_arrow() -> bool:
    """Return whether Arrow is there."""
    return find_spec("pyarrow") is not None


def texts_of(column: Any) -> Strings | CodedColumn:  # Any: a pyarrow array
    """Return a column of texts, none of them null and all of them UTF-8; coded if they repeat."""
    if repeats(column):
        column = column.dictionary_encode()
        codes = np.asarray(np.from_dlpack(column.indices), np.int32)  # its own way to numpy loads pandas
        return CodedColumn(texts_of(column.dictionary), codes)
    _, at, texts = column.buffers()
    width = np.dtype(np.int64 if str(column.type) == "large_string" else np.int32)
    if not len(column) or texts is None:
        return Strings(np.zeros(len(column) + 1, np.int64), b"")
    ends = np.frombuffer(at, width, len(column) + 1, offset=column.offset * width.itemsize).astype(np.int64)
    first, last = int(ends[0]), int(ends[-1])
    return Strings(ends - first, texts[first:last].to_pybytes())


def scalar_of(text: str) -> Any:  # Any: a pyarrow scalar
    """Return a text for Arrow to compare with: its own way from Python loads pandas, which takes half a second."""
    import pyarrow

    content = text.encode()
    ends, letters = pyarrow.py_buffer(np.array([0, len(content)], np.int32)), pyarrow.py_buffer(content)
    return pyarrow.StringArray.from_buffers(1, ends, letters)[0]


def columns_of(table: Any, first: int, count: int) -> Iterator[Any]:  # Any: a pyarrow table, and its arrays
    """Yield the columns of some rows of a table."""
    for column in table.slice(first, count).columns:
        yield column.chunk(0) if column.num_chunks == 1 else column.combine_chunks()


def repeats(column: Any) -> bool:  # Any: a pyarrow array
    """Return whether a column's first texts are few different ones; coding other columns costs more than it saves."""
    from pyarrow import compute

    if len(column) < CODED_FROM or column.null_count or not is_text(column.type):
        return False
    return bool(compute.count_distinct(column.slice(0, CODED_FROM)).as_py() * 10 <= CODED_FROM)


def is_text(kind: Any) -> bool:  # Any: a pyarrow type
    """Return whether a column holds texts."""
    from pyarrow import types

    return bool(types.is_string(kind) or types.is_large_string(kind))


def values_of(column: Any) -> Sequence[Any]:  # Any: a pyarrow array
    """Return a column as Python values; texts that repeat come coded.

    Raises Arrow's own error for texts that are no UTF-8.
    """
    from pyarrow import types

    kind = column.type
    if is_text(kind) and not column.null_count:
        column.validate(full=True)  # its UTF-8
        return texts_of(column)
    if types.is_dictionary(kind):
        words = [*values_of(column.dictionary), None]
        return [words[place] for place in np.from_dlpack(column.indices.fill_null(len(words) - 1)).tolist()]
    values: list[Any] = column.to_pylist()
    return values


def ahead(parts: Iterator[Part]) -> Iterator[Part]:
    """Yield the parts of something, each made while the one before is used."""
    with ThreadPoolExecutor(1, "reader") as thread:
        coming = thread.submit(next, parts, None)
        while (part := coming.result()) is not None:
            coming = thread.submit(next, parts, None)
            yield part


class ParsedBlock(NamedTuple):
    """The rows of a block of lines."""

    table: Any  # Any: a pyarrow table, all its columns texts
    lines: Sequence[int]
    """On which line of the file each row begins, from 1."""
    line_count: int
    size: int
    """Bytes of the file."""
    has_blanks: bool = False
    """Some lines belong to no row."""


class ParsedRows:
    """The rows of delimited text in UTF-8, a block parsed while the one before is used; up to the first unusual block.

    The columns are named by their places, and the first row is a row like others.
    """

    def __init__(self, raw: BinaryIO, width: int, dialect: FieldDialect, *, before: int = 0) -> None:
        """Take a file of which `before` lines have been read, all of whose rows should have `width` fields."""
        self._raw, self._width, self._dialect, self._line = raw, width, dialect, before + 1
        self.is_whole = False
        """The last block was the end of the file."""

    def __iter__(self) -> Iterator[ParsedBlock]:
        return ahead(self._blocks())

    def _blocks(self) -> Iterator[ParsedBlock]:
        for content, quotes in self._parts():
            block = self._parsed(content, quotes)
            if block is None:
                return
            yield block
            self._line += block.line_count

    def _parts(self) -> Iterator[tuple[bytes, NDArray[np.int64]]]:
        """Yield the file in parts that end with a row, if its quotes are regular, and where the quotes of each stand.

        It ends where a row is nearly as long as any may be.
        """
        waiting = b""
        while content := self._raw.read(BLOCK):
            waiting += content
            if len(waiting) > MOST_RECORD:
                return
            quotes = self._quotes(waiting)
            if end := _end_of_rows(waiting, quotes):
                yield waiting[:end], quotes[quotes < end]
                waiting = waiting[end:]
        if waiting:
            yield waiting, self._quotes(waiting)
        self.is_whole = True

    def _quotes(self, content: bytes) -> NDArray[np.int64]:
        return _places(content, _QUOTE) if self._dialect.is_quoted else _NONE

    def _parsed(self, content: bytes, quotes: NDArray[np.int64]) -> ParsedBlock | None:
        """Parse a block; None where it is unusual."""
        if content.count(_RETURN) != content.count(_RETURN + _NEWLINE):
            return None
        if content.startswith(BOM_UTF8):  # a letter here, which Arrow would drop
            return None
        if not _are_regular(content, quotes, self._dialect.delimiter):
            return None
        table = _table(content, self._width, self._dialect)
        if table is None:
            return None
        count = content.count(_NEWLINE) + (content[-1:] != _NEWLINE)
        if table.num_rows == count:
            return ParsedBlock(table, range(self._line, self._line + count), count, len(content))
        begins = np.concatenate([[0], _places(content, _NEWLINE) + 1])[:count]
        letters = np.frombuffer(content + _NEWLINE, np.uint8)
        ends = (letters[begins] == _NEWLINE[0]) | (letters[begins] == _RETURN[0]) & (letters[begins + 1] == _NEWLINE[0])
        is_outside = np.searchsorted(quotes, begins) % 2 == 0
        places = np.flatnonzero(is_outside & ~ends)
        lines = array("q", (places + self._line).tobytes())
        has_blanks = bool((is_outside & ends).any())
        return ParsedBlock(table, lines, count, len(content), has_blanks) if len(lines) == table.num_rows else None


def _places(content: bytes, letter: bytes) -> NDArray[np.int64]:
    return np.flatnonzero(np.frombuffer(content, np.uint8) == letter[0]) if letter in content else _NONE


def _end_of_rows(content: bytes, quotes: NDArray[np.int64]) -> int:
    """Return where the last row ends that ends in some lines; 0 where none does."""
    end = content.rfind(_NEWLINE) + 1
    if not len(quotes) or np.searchsorted(quotes, end) % 2 == 0:
        return end
    ends = _places(content, _NEWLINE)
    outside = np.flatnonzero(np.searchsorted(quotes, ends) % 2 == 0)
    return int(ends[outside[-1]]) + 1 if len(outside) else 0


def _are_regular(content: bytes, quotes: NDArray[np.int64], delimiter: str) -> bool:
    """Return whether every quoted field is quoted from its first letter to its last, quotes in it doubled."""
    if not len(quotes):
        return True
    if len(quotes) % 2:
        return False
    letters = np.frombuffer(_NEWLINE + content + _NEWLINE, np.uint8)
    opening, closing = quotes[0::2], quotes[1::2]
    begins_field = np.isin(letters[opening], np.frombuffer(delimiter.encode() + _NEWLINE, np.uint8))
    ends_field = np.isin(letters[closing + 2], np.frombuffer(delimiter.encode() + _RETURN + _NEWLINE, np.uint8))
    doubled = opening[1:] == closing[:-1] + 1
    begins_field[1:] |= doubled
    ends_field[:-1] |= doubled
    return bool(begins_field.all() and ends_field.all())


def _table(content: bytes, width: int, dialect: FieldDialect) -> Any:  # Any: a pyarrow table, or None
    """Return the fields of some lines as texts; None where Arrow refuses them."""
    import pyarrow
    from pyarrow import csv

    names = [str(place) for place in range(width)]
    try:
        return csv.read_csv(
            pyarrow.BufferReader(content),
            csv.ReadOptions(use_threads=False, block_size=len(content) + 1, column_names=names),
            csv.ParseOptions(
                delimiter=dialect.delimiter,
                quote_char='"' if dialect.is_quoted else False,
                newlines_in_values=dialect.is_quoted,
            ),
            csv.ConvertOptions(
                column_types=dict.fromkeys(names, pyarrow.string()), null_values=[], strings_can_be_null=False
            ),
        )
    except (pyarrow.ArrowException, UnicodeDecodeError):
        return None
