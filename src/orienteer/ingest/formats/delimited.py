"""CSV, TSV, SIF and tables in plain text.

A CSV is quoted as spreadsheets do. A TSV is taken literally, as most of those that are published are, unless every
field of its beginning that starts with a quote is a well-formed quoted one.
"""

from __future__ import annotations

import csv
import re
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from typing import Any, TextIO

from orienteer.errors import BadInput
from orienteer.ingest.bounds import MOST_HELD, MOST_RECORD
from orienteer.ingest.formats.arrow import ParsedRows, columns_of, has_arrow, texts_of
from orienteer.ingest.formats.files import READ, UTF8, MeasuredBytes, encoding_of, measured, opened, opened_text, suffix
from orienteer.ingest.formats.table import Batch, Drop, shown, undecodable

SAMPLE = 1 << 20
"""Characters from which the quoting is told."""
DELIMITERS = {".csv": ",;\t", ".tsv": "\t,;", ".tab": "\t", ".sif": "\t ", ".txt": "\t,"}
"""What may separate the fields; where several do in the first line the commonest, else the first."""
OPENING_QUOTE = re.compile(r'(?:^|[\t\n])"')
QUOTED_FIELD = re.compile(r'(?:^|[\t\n])"(?:[^"]|"")*"(?=[\t\r\n]|\Z)')
LINE_BREAK = re.compile(r"\r\n|\r|\n")


@dataclass(frozen=True, slots=True)
class FieldDialect:
    """How a file separates and quotes its fields."""

    delimiter: str
    is_quoted: bool

    def reader(self, text: TextIO) -> Any:  # Any: the csv module does not export the type of its readers
        """Return a reader of rows that refuses quotes left open."""
        csv.field_size_limit(MOST_RECORD)
        if self.is_quoted:
            return csv.reader(text, delimiter=self.delimiter, strict=True)
        return csv.reader(text, delimiter=self.delimiter, quoting=csv.QUOTE_NONE)


class DelimitedText:
    """Reads rows of fields with a separator between them, told from each file unless a dialect is given."""

    def __init__(self, dialect: FieldDialect | None = None) -> None:
        self._dialect = dialect

    def columns(self, path: Path) -> tuple[str, ...]:
        """Return the fields of the first row."""
        dialect = self._dialect or _dialect(path)
        with opened_text(path, encoding=self._encoding(path)) as text:
            measured(text).allow(MOST_RECORD + READ)
            try:
                first: Sequence[str] = next(dialect.reader(text), [])
                return tuple(field.encode("utf-8", "replace").decode() for field in first)
            except csv.Error as error:
                raise BadInput(f"{path}, line 1: {error}; write the table again with its quotes doubled") from error

    def _encoding(self, path: Path) -> str:
        """Return the encoding; with a dialect that is given, whose files are written by a program, UTF-8."""
        return encoding_of(path) if self._dialect is None else UTF8

    def batches(self, path: Path, *, rows: int, drop: Drop, header: bool) -> Iterator[Batch]:
        """Read the table in batches; a row that is not as long as the first one is an error."""
        place = _Place()
        if self._encoding(path) == UTF8 and has_arrow():
            yield from self._parsed(path, rows, place, header=header)
        if not place.is_end:
            yield from self._read(path, rows, place, drop=drop, header=header)

    def _parsed(self, path: Path, rows: int, place: _Place, *, header: bool) -> Iterator[Batch]:
        """Read the table by Arrow, as far as it goes; `place` says how far that was."""
        dialect = self._dialect or _dialect(path)
        try:
            first = self.columns(path)
        except BadInput:
            return  # who reads row by row says where
        if not first:
            return
        with opened(path, has_lines=True) as raw:
            parsed = ParsedRows(raw, len(first), delimiter=dialect.delimiter, is_quoted=dialect.is_quoted)
            for block in parsed:
                begin = 0
                if place.names is None:
                    place.names = named(first, path) if header else numbered(len(first))
                    begin = int(header)
                for low in range(begin, block.table.num_rows, rows):
                    columns = map(texts_of, columns_of(block.table, low, rows))
                    yield Batch(dict(zip(place.names, columns, strict=True)), block.lines[low : low + rows])
                place.line += block.line_count
                place.byte += block.size
            place.is_end = parsed.is_whole

    def _read(self, path: Path, rows: int, place: _Place, *, drop: Drop, header: bool) -> Iterator[Batch]:
        """Read the table, or the rest of it, row by row."""
        dialect, before, names = self._dialect or _dialect(path), place.line, place.names
        with opened_text(path, encoding=self._encoding(path), after=place.byte) as text:
            reader = dialect.reader(text)
            while True:
                try:
                    taken = _taken(reader, rows, measured(text))
                except csv.Error as error:
                    line = place.line + reader.line_num
                    raise BadInput(f"{path}, line {line}: {error}; is the file cut short?") from error
                if not taken:
                    return
                lines = _lines(taken, before, place.line + reader.line_num)
                before = place.line + reader.line_num
                if names is None:
                    names = named(taken[0], path) if header else numbered(len(taken[0]))
                    taken, lines = (taken[1:], lines[1:]) if header else (taken, lines)
                batch = _batch(path, names, taken, lines)
                bad = undecodable(batch.columns.values())
                for row in sorted(bad):
                    fields = (values[row] for values in batch.columns.values())
                    drop("bad encoding", batch.lines[row], shown(dialect.delimiter.join(fields)))
                if len(batch):
                    yield batch.without(bad)


@dataclass(slots=True)
class _Place:
    """How far a file has been read."""

    line: int = 0
    byte: int = 0
    names: Sequence[str] | None = None
    """The columns, once the first row is read."""
    is_end: bool = False


def _taken(reader: Iterator[list[str]], rows: int, text: MeasuredBytes) -> list[list[str]]:
    """Return the next rows, fewer if they are large. A single one that is too large is refused while it is read.

    Quoted fields span lines, and a row has any number of those, so that no bound on lines or fields is one on rows.
    """
    taken: list[list[str]] = []
    enough = text.unpacked + MOST_HELD
    text.allow(MOST_HELD + MOST_RECORD + READ)
    for row in islice(reader, rows):
        taken.append(row)
        if text.unpacked > enough:
            break
    return taken


def numbered(width: int) -> list[str]:
    """Return the names of columns that have none of their own: column_1, column_2 and so on."""
    return [f"column_{place}" for place in range(1, width + 1)]


def named(first: Sequence[str], path: Path) -> list[str]:
    """Return the header's names. A column without one (a data frame's index) is named by its place."""
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
    columns = zip(*rows, strict=True) if rows else [()] * len(names)
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


def _dialect(path: Path) -> FieldDialect:
    with opened_text(path, encoding=encoding_of(path)) as text:
        sample = text.read(SAMPLE)
    delimiters = DELIMITERS[suffix(path)]
    first = LINE_BREAK.split(sample, maxsplit=1)[0]
    delimiter = max(delimiters, key=first.count)
    if delimiter != "\t":
        return FieldDialect(delimiter, suffix(path) != ".sif")
    opening = len(OPENING_QUOTE.findall(sample))
    whole = len(QUOTED_FIELD.findall(sample))
    # The sample may end inside of one last quoted field.
    return FieldDialect(delimiter, 0 < opening <= whole + (len(sample) == SAMPLE))
