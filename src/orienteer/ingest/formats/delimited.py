"""CSV, TSV, SIF and tables in plain text.

A CSV is quoted as spreadsheets do. A TSV is taken literally, as most of those that are published are, unless every
field of its beginning that starts with a quote is a well-formed quoted one. What people put around a table (titles,
totals, notes, the header again, another table) is no row of it, and is reported.
"""

from __future__ import annotations

import csv
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from typing import Any

from orienteer.errors import BadInput
from orienteer.ingest.bounds import MOST_HELD, MOST_RECORD
from orienteer.ingest.formats.arrow import ParsedBlock, ParsedRows, columns_of, has_arrow, texts_of
from orienteer.ingest.formats.files import READ, UTF8, MeasuredBytes, measured, opened, opened_text
from orienteer.ingest.formats.letters import NAMES, UNICODE
from orienteer.ingest.formats.records import FieldDialect, RowRecord, records
from orienteer.ingest.formats.shape import TAIL, RowSieve, TableShape, is_number, outside
from orienteer.ingest.formats.sniffer import TextLayout, begin_of, is_read_by_arrow, layout_of
from orienteer.ingest.formats.table import Batch, Drop, FileNotes, shown, undecodable

LINE_BREAK = re.compile(r"\r\n|\r|\n")


class DelimitedText:
    """Reads rows of fields with a delimiter between them. How they are written is told from each file.

    With a dialect, files are as a program writes them: in UTF-8, from the first line on, all rows of one length.
    """

    def __init__(self, dialect: FieldDialect | None = None, *, encoding: str = "") -> None:
        """Take the dialect or the encoding of the files, if they are known."""
        self._dialect, self._encoding = dialect, encoding

    def columns(self, path: Path) -> tuple[str, ...]:
        """Return the fields of the first row; if a text comes twice, the second one with its place."""
        if self._dialect is None:
            layout = layout_of(path, self._encoding)
            return distinct(layout.shape.first) if layout is not None else ()
        with opened_text(path, encoding=UTF8) as text:
            return _first_row(path, text, self._dialect)

    def notes(self, path: Path) -> FileNotes:
        """Return what is not a matter of course in the reading of a file: its encoding, lines above, names."""
        layout = layout_of(path, self._encoding) if self._dialect is None else None
        if layout is None:
            return FileNotes()
        guess = ""
        if layout.encoding not in UNICODE and not self._encoding:
            name = NAMES.get(layout.encoding, layout.encoding)
            guess = f"not UTF-8, read as {name}: if names look wrong, save it as UTF-8"
        notes = [guess] if guess else []
        notes += notes_of(layout.shape, layout.title)
        encoding = layout.encoding if guess else ""
        return FileNotes(tuple(notes), (guess,) if guess else (), encoding, layout.shape.is_headless)

    def in_encoding(self, encoding: str) -> DelimitedText:
        """Return a reader of files in this encoding."""
        return DelimitedText(self._dialect, encoding=encoding)

    def batches(self, path: Path, *, rows: int, drop: Drop, header: bool) -> Iterator[Batch]:
        """Read the table in batches. Raises `BadInput` if most rows do not have the cells of the others.

        With a dialect that is given, one such row is an error.
        """
        if self._dialect is not None:
            yield from _Exact(path, self._dialect, header=header).batches(rows, drop)
        elif (layout := layout_of(path, self._encoding)) is not None:
            yield from _Sifted(path, layout, header=header).batches(rows, drop)


@dataclass(slots=True)
class _Place:
    """How far a file has been read."""

    line: int = 0
    byte: int = 0
    names: Sequence[str] | None = None
    """The columns, once the first row is read."""
    is_end: bool = False


class _Exact:
    """The rows of a file that a program wrote."""

    def __init__(self, path: Path, dialect: FieldDialect, *, header: bool) -> None:
        self._path, self._dialect, self._header = path, dialect, header

    def batches(self, rows: int, drop: Drop) -> Iterator[Batch]:
        """Read the table by Arrow, as far as it goes, then row by row."""
        place = _Place()
        if has_arrow():
            yield from self._parsed(rows, place)
        if not place.is_end:
            yield from self._read(rows, place, drop)

    def _parsed(self, rows: int, place: _Place) -> Iterator[Batch]:
        try:
            with opened_text(self._path) as text:
                first = _first_row(self._path, text, self._dialect)
        except BadInput:
            return  # who reads row by row says where
        if not first:
            return
        with opened(self._path, has_lines=True) as raw:
            delimiter, is_quoted = self._dialect.delimiter, self._dialect.is_quoted
            parsed = ParsedRows(raw, len(first), delimiter=delimiter, is_quoted=is_quoted)
            for block in parsed:
                begin = 0
                if place.names is None:
                    place.names = named(first, self._path) if self._header else numbered(len(first))
                    begin = int(self._header)
                yield from _of_block(block, place.names, rows, begin)
                place.line += block.line_count
                place.byte += block.size
            place.is_end = parsed.is_whole

    def _read(self, rows: int, place: _Place, drop: Drop) -> Iterator[Batch]:
        before, names = place.line, place.names
        with opened_text(self._path, after=place.byte) as text:
            reader = self._dialect.reader(text)
            while True:
                try:
                    taken = _taken(reader, rows, measured(text))
                except csv.Error as error:
                    line = place.line + reader.line_num
                    raise BadInput(f"{self._path}, line {line}: {error}; is the file cut short?") from error
                if not taken:
                    return
                lines = _lines(taken, before, place.line + reader.line_num)
                before = place.line + reader.line_num
                if names is None:
                    names = named(taken[0], self._path) if self._header else numbered(len(taken[0]))
                    taken, lines = (taken[1:], lines[1:]) if self._header else (taken, lines)
                yield from _sound(_batch(self._path, names, taken, lines), self._dialect, drop)


class _Sifted:
    """The rows of a file as people have them."""

    def __init__(self, path: Path, layout: TextLayout, *, header: bool) -> None:
        self._path, self._layout, self._header = path, layout, header
        self._first = layout.shape.first
        names = column_names(self._first) if header else numbered(len(self._first))
        if undecodable([names]):
            raise BadInput(f"{path} is not UTF-8 (its column names are {shown(' '.join(names))}): save it as UTF-8")
        self._names = names

    def batches(self, rows: int, drop: Drop) -> Iterator[Batch]:
        """Read the table by Arrow, as far as it goes, then row by row."""
        layout = self._layout
        begin = begin_of(self._path, layout) if is_read_by_arrow(layout) and has_arrow() else None
        sieve = RowSieve(self._path, layout.shape, drop, self._first if self._header else ())
        place = _Place(line=layout.skipped)
        if begin is not None:
            place.byte = begin
            yield from self._parsed(rows, place, sieve)
        if not place.is_end:
            yield from self._read(rows, place, sieve)

    def _parsed(self, rows: int, place: _Place, sieve: RowSieve) -> Iterator[Batch]:
        dialect = self._layout.dialect
        with opened(self._path, has_lines=True) as raw:
            _pass(raw, place.byte)
            parsed = ParsedRows(raw, len(self._first), delimiter=dialect.delimiter, is_quoted=dialect.is_quoted)
            # The rows before those that are read one by one may be the end of the table, with its totals: a block is
            # taken only if the next one is, too.
            plain = _PlainBlocks(parsed, self._layout.shape, has_header=self._header)
            blocks = iter(plain)
            block, following = next(blocks, None), next(blocks, None)
            first = int(self._header)
            while block is not None:
                after = next(blocks, None)
                if after is None and (not plain.is_whole or _has_tail(self._layout.shape, block, following, first)):
                    return
                lines = [line + self._layout.skipped for line in block.lines] if self._layout.skipped else block.lines
                yield from _of_block(block._replace(lines=lines), self._names, rows, first)
                sieve.kept += block.table.num_rows - first
                place.line += block.line_count
                place.byte += block.size
                block, following, first = following, after, 0
            place.is_end = plain.is_whole

    def _read(self, rows: int, place: _Place, sieve: RowSieve) -> Iterator[Batch]:
        layout, begin = self._layout, place.byte
        is_start = place.line == layout.skipped
        with opened_text(self._path, encoding=layout.encoding, after=0 if is_start else begin) as text:
            lines = islice(text, layout.skipped, None) if is_start else text
            found = _bounded(
                records(lines, layout.dialect, before=place.line, width=layout.shape.width), measured(text)
            )
            if is_start:
                found = _with_first(found, layout.shape, is_row=not self._header)
            sifted = sieve.rows(found)
            while taken := self._rows(sifted, rows, measured(text)):
                cells = zip(*(row.cells for row in taken), strict=True)
                batch = Batch(dict(zip(self._names, cells, strict=True)), [row.line for row in taken])
                yield from _sound(batch, layout.dialect, sieve.drop)

    def _rows(self, sifted: Iterator[RowRecord], rows: int, text: MeasuredBytes) -> list[RowRecord]:
        try:
            return _some(sifted, rows, text)
        except csv.Error as error:
            raise BadInput(f"{self._path}, {error}; is a quote left open?") from error


def _with_first(found: Iterator[RowRecord], shape: TableShape, *, is_row: bool) -> Iterator[RowRecord]:
    """Yield the rows with the first one as the shape has it, or without it."""
    first = next(found, None)
    if first is not None and is_row:
        yield first._replace(cells=list(shape.first), fault="")
    yield from found


def _bounded(found: Iterator[RowRecord], text: MeasuredBytes) -> Iterator[RowRecord]:
    """Yield rows. Raises `BadInput` while one that is too large is read."""
    while True:
        text.allow(MOST_RECORD + READ)
        row = next(found, None)
        if row is None:
            return
        yield row


class _PlainBlocks:
    """The blocks of Arrow up to the first that holds anything but rows of the table."""

    def __init__(self, parsed: ParsedRows, shape: TableShape, *, has_header: bool) -> None:
        self._parsed, self._shape, self._has_header = parsed, shape, has_header
        self.is_whole = False
        """The last block was the end of the file."""

    def __iter__(self) -> Iterator[ParsedBlock]:
        first = int(self._has_header)
        for block in self._parsed:
            if not _is_plain(block, self._shape, first, has_header=self._has_header):
                return
            yield block
            first = 0
        self.is_whole = self._parsed.is_whole


def _is_plain(block: ParsedBlock, shape: TableShape, first: int, *, has_header: bool) -> bool:
    """Return whether a block holds no blank line, no header again, and no row of nothing or of one cell."""
    from pyarrow import compute

    columns = [column.slice(first) for column in block.table.columns]
    if not isinstance(block.lines, range) and _has_blank_line(block):
        return False
    if has_header and compute.any(compute.equal(columns[0], shape.first[0])).as_py():
        return False
    is_empty = compute.equal(columns[min(1, len(columns) - 1)], "")
    if not compute.any(is_empty).as_py():
        return True
    for column in columns[2:]:
        is_empty = compute.and_(is_empty, compute.equal(column, ""))
    return not compute.any(is_empty).as_py()


def _has_tail(shape: TableShape, block: ParsedBlock, last: ParsedBlock | None, first: int) -> bool:
    """Return whether a table ends with totals or notes, by its last two blocks."""
    tables = [block.table.slice(first), *([last.table] if last is not None else [])]
    rows: list[tuple[str, ...]] = []
    for table in tables:
        end = table.slice(max(0, table.num_rows - TAIL))
        rows += zip(*(column.to_pylist() for column in end.columns), strict=True)
    return bool(outside(shape, rows[-TAIL:]))


def _has_blank_line(block: ParsedBlock) -> bool:
    """Return whether lines of a block belong to no row."""
    from pyarrow import compute

    within = sum(compute.sum(compute.count_substring(column, "\n")).as_py() or 0 for column in block.table.columns)
    return bool(block.line_count != block.table.num_rows + within)


def _pass(raw: Any, count: int) -> None:  # Any: what measures the bytes
    """Read so many bytes."""
    for passed in range(0, count, READ):
        raw.read(min(READ, count - passed))


def _first_row(path: Path, text: Any, dialect: FieldDialect) -> tuple[str, ...]:  # Any: a text file
    measured(text).allow(MOST_RECORD + READ)
    try:
        first: Sequence[str] = next(dialect.reader(text), [])
    except csv.Error as error:
        raise BadInput(f"{path}, line 1: {error}; write the table again with its quotes doubled") from error
    return tuple(field.encode("utf-8", "replace").decode() for field in first)


def _of_block(block: ParsedBlock, names: Sequence[str], rows: int, begin: int) -> Iterator[Batch]:
    """Yield the rows of a block of Arrow from one on."""
    for low in range(begin, block.table.num_rows, rows):
        columns = map(texts_of, columns_of(block.table, low, rows))
        yield Batch(dict(zip(names, columns, strict=True)), block.lines[low : low + rows])


def _taken(reader: Iterator[Any], rows: int, text: MeasuredBytes) -> list[Any]:  # Any: rows
    """Return the next rows, fewer if they are large. A single one that is too large is refused while it is read.

    Quoted fields span lines, and a row has any number of those, so that no bound on lines or fields is one on rows.
    """
    text.allow(MOST_HELD + MOST_RECORD + READ)
    return _some(reader, rows, text)


def _some(reader: Iterator[Any], rows: int, text: MeasuredBytes) -> list[Any]:  # Any: rows
    """Return the next rows, fewer if they are large."""
    taken: list[Any] = []
    enough = text.unpacked + MOST_HELD
    for row in islice(reader, rows):
        taken.append(row)
        if text.unpacked > enough:
            break
    return taken


def _sound(batch: Batch, dialect: FieldDialect, drop: Drop) -> Iterator[Batch]:
    """Yield a batch without the rows whose bytes are not text, if anything is left."""
    bad = undecodable(batch.columns.values())
    for row in sorted(bad):
        fields = (values[row] for values in batch.columns.values())
        drop("bad encoding", batch.lines[row], shown(dialect.delimiter.join(fields)))
    if len(batch):
        yield batch.without(bad)


def notes_of(shape: TableShape, title: str) -> list[str]:
    """Return what to say of the first row of a table, and of what is above it."""
    notes = [f"its table begins at line {shape.line}; above: {shown(title)}"] if title else []
    for place, (name, given) in enumerate(zip(shape.first, distinct(shape.first), strict=True), 1):
        if name != given:
            notes.append(f"has two columns named {shown(name)!r}: the one at place {place} is {shown(given)!r}")
    return notes


def numbered(width: int) -> list[str]:
    """Return the names of columns that have none of their own: column_1, column_2 and so on."""
    return [f"column_{place}" for place in range(1, width + 1)]


def distinct(first: Sequence[str]) -> tuple[str, ...]:
    """Return the cells of a first row, a text that was there before with its place: `name`, `name_3`."""
    seen: set[str] = set()
    cells = []
    for place, cell in enumerate(first, 1):
        if cell in seen and cell and not is_number(cell):
            cell = next(name for count in range(place, 2 * len(first) + 2) if (name := f"{cell}_{count}") not in first)
        seen.add(cell)
        cells.append(cell)
    return tuple(cells)


def column_names(first: Sequence[str]) -> list[str]:
    """Return the names of columns by a first row. One without a name (a data frame's index) is named by its place."""
    names = [name or number for name, number in zip(distinct(first), numbered(len(first)), strict=True)]
    return [name if name not in names[:place] else f"{name}_{place + 1}" for place, name in enumerate(names)]


def named(first: Sequence[str], path: Path) -> list[str]:
    """Return the header's names as `column_names` does. Raises `BadInput` if two are alike."""
    names = [name or number for name, number in zip(first, numbered(len(first)), strict=True)]
    if undecodable([names]):
        raise BadInput(f"{path} is no UTF-8 (its column names are {shown(' '.join(names))}): save it as UTF-8")
    twice = min((name for name, count in Counter(names).items() if count > 1), default=None)
    if twice is not None:
        raise BadInput(f"{path} has two columns named {twice!r}: rename one of them")
    return names


def _batch(path: Path, names: Sequence[str], rows: list[list[str]], lines: Sequence[int]) -> Batch:
    """Turn rows into columns. Blank lines are passed over; any other row has to have a field for each column."""
    widths = set(map(len, rows))
    if widths - {len(names)}:
        for row, line in zip(rows, lines, strict=True):
            if row and len(row) != len(names):
                raise BadInput(
                    f"{path}, line {line}: {len(row)} fields where {len(names)} are expected; "
                    "is the file cut short, or a separator not quoted?"
                )
        places = [place for place, row in enumerate(rows) if row]
        rows, lines = [rows[place] for place in places], [lines[place] for place in places]
    columns: Iterable[Sequence[str]] = zip(*rows, strict=True) if rows else [()] * len(names)
    return Batch(dict(zip(names, columns, strict=True)), lines)


def _lines(rows: list[list[str]], before: int, after: int) -> Sequence[int]:
    """Return the line on which each row begins."""
    if after - before == len(rows):
        return range(before + 1, after + 1)
    lines = []
    for row in rows:  # some field spans lines
        lines.append(before + 1)
        before += 1 + sum(len(LINE_BREAK.findall(field)) for field in row)
    return lines
