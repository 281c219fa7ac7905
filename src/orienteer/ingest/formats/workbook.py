"""Workbooks: .xlsx, .xlsm, .xls and .ods. Each sheet that has rows is a table, and its cells are texts.

A sheet is read as a text with delimiters is: titles above the header and totals below are no rows. Dates are written as
ISO 8601 has them, whole numbers without a fraction. No formula and no macro runs: cells hold what was last computed.
"""

from __future__ import annotations

import datetime
import re
import zipfile
import zlib
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import lru_cache, partial
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING, Any

from orienteer.errors import BadInput
from orienteer.ingest.bounds import check_ratio, memory_told
from orienteer.ingest.formats.delimited import column_names, notes_of, numbered
from orienteer.ingest.formats.files import READ, require
from orienteer.ingest.formats.records import RowRecord
from orienteer.ingest.formats.shape import LOOKED_AT, RowSieve, TableShape, shape_of
from orienteer.ingest.formats.table import Batch, Drop, FileNotes, PointedText, batched, is_sparse, is_unicode, shown

if TYPE_CHECKING:
    from python_calamine import CalamineWorkbook

SUFFIXES = (".xlsx", ".xlsm", ".xls", ".ods")
MOST_WHOLE = 1e15
"""Numbers above which a float does not tell every whole number."""
_SHEET = re.compile(r"xl/worksheets/[^/]+\.xml")
_CELL = re.compile(rb'<(?:\w+:)?c [^>]*?\br="([A-Z]{1,3})([0-9]{1,7})"')
LONGEST_TAG = 1 << 12
"""Bytes of a tag that may be parted by two reads."""
_OPEN_TAG = re.compile(rb"<table:(table-row|table-cell|table)\b([^>]*?)/?>")
_REPEATED = re.compile(rb'number-(?:rows|columns)-repeated="([0-9]{1,9})"')
Rows = tuple[RowRecord, ...]


def sheets(path: Path) -> list[str]:
    """Return the names of the sheets with a table, in their order. Raises `BadInput` for a damaged workbook."""
    require(path)
    return [name for name in _names(path) if _layout(path, name) is not None]


@dataclass(frozen=True, slots=True)
class SheetTable:
    """Reads one sheet; a row's line is its number in the sheet."""

    sheet: str

    def columns(self, path: Path) -> tuple[str, ...]:
        """Return the cells of the first row of the table."""
        layout = _layout(path, self.sheet)
        return layout[1].first if layout is not None else ()

    def notes(self, path: Path) -> FileNotes:
        """Return what to say of the table's place in the sheet."""
        layout = _layout(path, self.sheet)
        if layout is None:
            return FileNotes()
        rows, shape = layout
        above = (cell for row in rows if row.line < shape.line for cell in row.cells if cell.strip())
        return notes_of(shape, next(above, ""))

    def batches(self, path: Path, *, rows: int, drop: Drop, header: bool) -> Iterator[Batch]:
        """Read the table in batches. Raises `BadInput` for a damaged workbook."""
        layout = _layout(path, self.sheet)
        if layout is None:
            return
        found, shape = layout
        names = column_names(shape.first) if header else numbered(shape.width)
        sieve = RowSieve(path, shape, drop, shape.first if header else ())
        below = (row for row in found if row.line > shape.line or (row.line == shape.line and not header))
        yield from batched(((row.line, row.cells) for row in sieve.rows(below)), names, rows, drop)


def _layout(path: Path, sheet: str) -> tuple[Rows, TableShape] | None:
    """Return the rows of a sheet and where its table is; None for a sheet without rows below a first one."""
    status = path.stat()
    rows = _rows(path, sheet, status.st_size, status.st_mtime_ns)
    shape = shape_of(rows[:LOOKED_AT])
    has_rows = shape is not None and any(row.line > shape.line and any(row.cells) for row in rows)
    return (rows, shape) if shape is not None and has_rows else None


def _names(path: Path) -> list[str]:
    with _opened(path) as workbook:
        return workbook.sheet_names


@lru_cache(maxsize=1)  # a table is read several times, one after another
def _rows(path: Path, sheet: str, size: int, modified: int) -> Rows:
    """Return the rows of a sheet from its first filled one, each as wide as the sheet."""
    with _opened(path) as workbook:
        read = workbook.get_sheet_by_name(sheet)
        cells = [list(map(_text, row)) for row in read.to_python(skip_empty_area=True)]
        top, left = read.start or (0, 0)
        for (begin, column), (end, last) in read.merged_cell_ranges or ():
            row = begin - top
            if column == last and 0 <= row < len(cells) and 0 <= column - left < len(cells[row]):
                for lower in range(row + 1, min(end - top + 1, len(cells))):
                    cells[lower][column - left] = cells[row][column - left]
    return tuple(RowRecord(top + place, row) for place, row in enumerate(cells, 1))


def _text(value: Any) -> str:  # Any: whatever a cell holds
    """Return a cell as the text that a table of text has."""
    if isinstance(value, str):
        return value if is_unicode(value) else shown(value)
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, float):
        return str(int(value)) if value.is_integer() and abs(value) < MOST_WHOLE else PointedText(repr(value))
    if isinstance(value, datetime.date | datetime.time):
        return value.isoformat().removesuffix("T00:00:00")
    return str(value)


@contextmanager
def _opened(path: Path) -> Iterator[CalamineWorkbook]:
    """Open a workbook. Everything that its library raises becomes `BadInput`."""
    from python_calamine import CalamineError, CalamineWorkbook, PasswordError

    try:
        with memory_told(path):
            _check_size(path)
            yield CalamineWorkbook.from_path(path)
    except PasswordError as error:
        raise BadInput(f"{path} has a password: save it without one") from error
    except (CalamineError, zipfile.BadZipFile, zlib.error, NotImplementedError, EOFError) as error:
        raise BadInput(f"{path} is no whole workbook ({shown(error)}); save it again") from error
    except BaseException as error:
        if type(error).__name__ != "PanicException":  # the library's own, which no Python class leads to
            raise
        raise BadInput(f"{path} is no workbook that can be read ({shown(error)}); save it as .xlsx or CSV") from error


def _check_size(path: Path) -> None:
    """Raise `BadInput` for a workbook that unpacks to far more than it is, or whose cells are far apart.

    The library keeps a sheet as a rectangle: two cells at opposite corners would fill any memory.
    """
    if not zipfile.is_zipfile(path):  # an .xls has 65,536 rows of 256 cells at most
        return
    remedy = "save its sheets as CSV, if that is what it should hold"
    with zipfile.ZipFile(path) as packed:
        check_ratio(path, path.stat().st_size, sum(member.file_size for member in packed.infolist()), remedy=remedy)
        for member in packed.infolist():
            scan = _scan_xlsx if _SHEET.fullmatch(member.filename) else _scan_ods
            if scan is _scan_xlsx or member.filename == "content.xml":
                with packed.open(member) as content:
                    area, filled = scan(iter(partial(content.read, READ), b""))
                if is_sparse(area, filled):
                    raise BadInput(f"{path} has {filled:,} cells within {area:,}, far apart: {remedy}")


def _scan_xlsx(parts: Iterable[bytes]) -> tuple[int, int]:
    """Return the area that the cells of a sheet span, and their number."""
    rows = columns = filled = 0
    for letters, row in _matches(_CELL, parts):
        number = 0
        for letter in letters:
            number = number * 26 + letter - 64
        rows, columns, filled = max(rows, int(row)), max(columns, number), filled + 1
    return rows * columns, filled


def _scan_ods(parts: Iterable[bytes]) -> tuple[int, int]:
    """Return the largest area that the cells of a sheet span, and the number of cells of all."""
    area = filled = rows = columns = place = repeated = 0
    has_cell = False
    for tag, attributes in chain(_matches(_OPEN_TAG, parts), [(b"table", b"")]):
        times = int(number[1]) if (number := _REPEATED.search(attributes)) else 1
        if tag == b"table-cell":
            place += times
            if b"value-type" in attributes:
                columns, filled, has_cell = max(columns, place), filled + 1, True
            continue
        rows += repeated if has_cell else min(repeated, 1)
        place, repeated, has_cell = 0, times, False
        if tag == b"table":
            area, rows, columns, repeated = max(area, rows * columns), 0, 0, 0
    return area, filled


def _matches(pattern: re.Pattern[bytes], parts: Iterable[bytes]) -> Iterator[tuple[bytes, ...]]:
    """Yield the groups of what matches in a text that comes in parts."""
    rest = b""
    for part in parts:
        content, end = rest + part, 0
        for found in pattern.finditer(content):
            end = found.end()
            yield found.groups()
        rest = content[max(end, len(content) - LONGEST_TAG) :]
