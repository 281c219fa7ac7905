"""CSV, TSV, SIF and tables in plain text.

A CSV is quoted as spreadsheets do. A TSV is taken literally, as most of those that are published are, unless every
field of its beginning that starts with a quote is a well-formed quoted one. What people put around a table (titles,
totals, notes, the header again, another table) is no row of it, and is reported.
"""

from __future__ import annotations

import csv
from codecs import BOM_UTF8
from collections import deque
from collections.abc import Iterable, Iterator, Sequence
from itertools import count, islice
from pathlib import Path

from orienteer.errors import BadInput
from orienteer.ingest.bounds import MOST_RECORD
from orienteer.ingest.formats.arrow import ParsedBlock, ParsedRows, columns_of, has_arrow, scalar_of, texts_of
from orienteer.ingest.formats.files import READ, UTF8, MeasuredBytes, measured, opened, opened_text
from orienteer.ingest.formats.letters import NAMES, UNICODE
from orienteer.ingest.formats.records import FieldDialect, RowRecord, records
from orienteer.ingest.formats.shape import TAIL, TOTAL_WORD, RowSieve, TableShape, is_number, outside
from orienteer.ingest.formats.sniffer import TextLayout, layout_of
from orienteer.ingest.formats.table import Batch, Drop, FileNotes, batched, is_unicode, shown


class DelimitedText:
    """Reads rows of fields with a delimiter between them. How they are written is told from each file.

    With a dialect, files are as a program writes them: in UTF-8, from the first line on, all rows of one length.
    """

    def __init__(self, dialect: FieldDialect | None = None, *, encoding: str = "") -> None:
        """Take the dialect or the encoding of the files, if they are known."""
        self._dialect, self._encoding = dialect, encoding

    def columns(self, path: Path) -> tuple[str, ...]:
        """Return the fields of the first row."""
        layout = self._layout(path)
        return layout.shape.first if layout is not None else ()

    def notes(self, path: Path) -> FileNotes:
        """Return what is not a matter of course in the reading of a file: its encoding, lines above, names."""
        layout = self._layout(path)
        if layout is None:
            return FileNotes()
        if layout.encoding in UNICODE or self._encoding:
            return notes_of(layout.shape, layout.title)
        name = NAMES.get(layout.encoding, layout.encoding)
        guess = f"not UTF-8, read as {name}: if names look wrong, save it as UTF-8"
        said = notes_of(layout.shape, layout.title)
        return said._replace(notes=(guess, *said.notes), guesses=(guess,), encoding=layout.encoding)

    def in_encoding(self, encoding: str) -> DelimitedText:
        """Return a reader of files in this encoding."""
        return DelimitedText(self._dialect, encoding=encoding)

    def batches(self, path: Path, *, rows: int, drop: Drop, header: bool) -> Iterator[Batch]:
        """Read the table in batches. Raises `BadInput` if most rows do not have the cells of the others.

        With a dialect that is given, one such row is an error, and so are two columns of one name.
        """
        layout = self._layout(path)
        if layout is not None:
            yield from _Rows(path, layout, drop, header=header, is_exact=self._dialect is not None).batches(rows)

    def _layout(self, path: Path) -> TextLayout | None:
        if self._dialect is None:
            return layout_of(path, self._encoding)
        with opened_text(path) as text:
            first = next(rows_of(path, text, measured(text), self._dialect), RowRecord(1, []))
        if first.fault:
            raise BadInput(f"{path}, line 1: {first.fault}; write the table again with its quotes doubled")
        return TextLayout(UTF8, self._dialect, TableShape(1, tuple(first.cells)))


class _Rows:
    """The rows of a file: by Arrow as far as it goes, then one by one."""

    def __init__(self, path: Path, layout: TextLayout, drop: Drop, *, header: bool, is_exact: bool) -> None:
        self._path, self._layout, self._drop = path, layout, drop
        self._shape, self._dialect = layout.shape, layout.dialect
        first = self._shape.first
        self._header = first if header else ()
        self._names = numbered(len(first))
        if header:
            self._names = named(first, path) if is_exact else checked(column_names(first), path)
        self._sieve = None if is_exact else RowSieve(path, self._shape, drop, self._header)
        self._line, self._byte, self._is_end = self._shape.line - 1, 0, False
        """How far it has been read."""

    def batches(self, rows: int) -> Iterator[Batch]:
        """Read the table in batches."""
        is_usual = self._shape.first and not self._shape.units and self._dialect.is_usual
        if has_arrow() and is_usual and self._layout.encoding == UTF8:
            yield from self._parsed(rows)
        if not self._is_end:
            yield from self._read(rows)

    def _parsed(self, rows: int) -> Iterator[Batch]:
        """Read the blocks that hold nothing but rows of the table.

        The rows before those that are read one by one may be its end, with totals: the last two blocks are held back.
        """
        with opened(self._path, has_lines=True) as raw:
            above = [raw.readline(MOST_RECORD) for _ in range(self._line)]
            if any(b"\r" in line.removesuffix(b"\r\n") for line in above):
                return  # lines that end with CR alone
            if not above and raw.peek(len(BOM_UTF8)).startswith(BOM_UTF8):
                above = [raw.read(len(BOM_UTF8))]
            self._byte = sum(map(len, above))
            parsed = ParsedRows(raw, self._shape.width, self._dialect, before=self._line)
            held, first = deque[ParsedBlock](), int(bool(self._header))
            for block in parsed:
                held.append(block._replace(table=block.table.slice(first), lines=block.lines[first:]))
                first = 0
                if self._sieve is None:
                    yield from self._taken(held.popleft(), rows)
                elif not self._is_plain(held[-1]):
                    return
                elif len(held) > 2:
                    yield from self._taken(held.popleft(), rows)
            self._is_end = parsed.is_whole and not self._has_tail(held)
            while self._is_end and held:
                yield from self._taken(held.popleft(), rows)

    def _taken(self, block: ParsedBlock, rows: int) -> Iterator[Batch]:
        """Yield the rows of a block."""
        for low in range(0, block.table.num_rows, rows):
            columns = map(texts_of, columns_of(block.table, low, rows))
            yield Batch(dict(zip(self._names, columns, strict=True)), block.lines[low : low + rows])
        self._line += block.line_count
        self._byte += block.size
        if self._sieve is not None:
            self._sieve.kept += block.table.num_rows

    def _is_plain(self, block: ParsedBlock) -> bool:
        """Return whether a block holds no blank line, no header again, no total, and no row of nothing or one cell."""
        from pyarrow import compute

        columns = block.table.columns
        is_again = compute.equal(columns[0], scalar_of(self._header[0])) if self._header else None
        if block.has_blanks or (is_again is not None and compute.any(is_again).as_py()):
            return False
        for column in columns[:2]:
            if compute.any(compute.match_substring_regex(column, rf"^\s*{TOTAL_WORD}", ignore_case=True)).as_py():
                return False
        is_empty = None
        for column in columns[1:] or columns:
            is_blank = compute.equal(column, scalar_of(""))
            is_empty = is_blank if is_empty is None else compute.and_(is_empty, is_blank)
            if not compute.any(is_empty).as_py():
                return True
        return False

    def _has_tail(self, last: Iterable[ParsedBlock]) -> bool:
        """Return whether a table ends with totals or notes, by its last blocks."""
        rows: list[tuple[str, ...]] = []
        for block in last:
            end = block.table.slice(max(0, block.table.num_rows - TAIL))
            rows += zip(*(column.to_pylist() for column in end.columns), strict=True)
        return bool(outside(self._shape, rows[-TAIL:]))

    def _read(self, rows: int) -> Iterator[Batch]:
        """Read row by row what is left."""
        layout, width = self._layout, 0 if self._sieve is None else self._shape.width
        with opened_text(self._path, encoding=layout.encoding, after=self._byte) as text:
            lines = text if self._byte else islice(text, self._line, None)
            found = rows_of(self._path, lines, measured(text), self._dialect, before=self._line, width=width)
            if self._header and self._line < self._shape.line:
                next(found, None)
            kept = self._exact(found) if self._sieve is None else self._sieve.rows(found)
            yield from batched(((row.line, row.cells) for row in kept), self._names, rows, self._drop)

    def _exact(self, found: Iterable[RowRecord]) -> Iterator[RowRecord]:
        """Yield rows but blank ones. Raises `BadInput` for one that has not a field for each column."""
        for row in found:
            if row.fault or len(row.cells) not in (0, self._shape.width):
                wrong = row.fault or f"{len(row.cells)} fields where {self._shape.width} are expected"
                remedy = "is the file cut short, or a separator not quoted?"
                raise BadInput(f"{self._path}, line {row.line}: {wrong}; {remedy}")
            if row.cells:
                yield row


def rows_of(
    path: Path, lines: Iterable[str], text: MeasuredBytes, dialect: FieldDialect, *, before: int = 0, width: int = 0
) -> Iterator[RowRecord]:
    """Yield the rows of a text. Raises `BadInput` while one that is too large is read.

    Quoted fields span lines, and a row has any number of those, so that no bound on lines or fields is one on rows.
    """
    text.allow(MOST_RECORD + READ)
    try:
        for row in records(lines, dialect, before=before, width=width):
            yield row
            text.allow(MOST_RECORD + READ)
    except csv.Error as error:
        raise BadInput(f"{path}, {error}; is a quote left open?") from error


def notes_of(shape: TableShape, title: str) -> FileNotes:
    """Return what to say of the first row of a table, and of what is above it."""
    notes = [f"its table begins at line {shape.line}; above: {shown(title)}"] if title else []
    for place, (name, given) in enumerate(zip(shape.first, column_names(shape.first), strict=True), 1):
        if name and name != given and not is_number(name):
            notes.append(f"has two columns named {shown(name)!r}: the one at place {place} is {shown(given)!r}")
    return FileNotes(tuple(notes), is_headless=shape.is_headless)


def numbered(width: int) -> list[str]:
    """Return the names of columns that have none of their own: column_1, column_2 and so on."""
    return [f"column_{place}" for place in range(1, width + 1)]


def column_names(first: Sequence[str]) -> list[str]:
    """Return the names of columns by a first row.

    One without a name (a data frame's index) is named by its place, and one that was there before is with its place:
    `name`, `name_3`.
    """
    taken, names = {name for name in first if name}, dict[str, None]()
    for place, name in enumerate(first, 1):
        name = name or f"column_{place}"
        if name in names:
            numbers = (f"{name}_{number}" for number in count(place))
            name = next(each for each in numbers if each not in taken and each not in names)
        names[name] = None
    return list(names)


def named(first: Sequence[str], path: Path) -> list[str]:
    """Return the header's names as `column_names` does. Raises `BadInput` if two are alike."""
    names = column_names(first)
    twice = next((name for name, given in zip(first, names, strict=True) if name and name != given), None)
    if twice is not None:
        raise BadInput(f"{path} has two columns named {twice!r}: rename one of them")
    return checked(names, path)


def checked(names: list[str], path: Path) -> list[str]:
    """Return the names of columns. Raises `BadInput` if one of them is no text."""
    if not all(map(is_unicode, names)):
        raise BadInput(f"{path} is not UTF-8 (its column names are {shown(' '.join(names))}): save it as UTF-8")
    return names
