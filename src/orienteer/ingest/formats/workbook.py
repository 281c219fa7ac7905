"""Workbooks: .xlsx, .xlsm, .xls and .ods. Each sheet that has rows is a table, and its cells are texts.

A sheet is read as a text with delimiters is: titles above the header and totals below are no rows. Dates are written as
ISO 8601 has them, whole numbers without a fraction. No formula and no macro runs: cells hold what was last computed.
"""

from __future__ import annotations

import datetime
import zipfile
import zlib
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple
from xml.parsers import expat

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
MOST_AREA = 1 << 20
"""Cells that any sheet may span, however few say something."""
MOST_TEXT = 1 << 29
"""Characters of a sheet. A file has a text once, and each cell of it becomes one of its own."""
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


class Sheet(NamedTuple):
    """A sheet as it is."""

    name: str
    rows: Rows
    is_hidden: bool
    is_only: bool


def all_sheets(path: Path) -> Iterator[Sheet]:
    """Yield the sheets of a workbook with all their rows, those of titles, too. Raises `BadInput` for a damaged one."""
    from python_calamine import SheetTypeEnum, SheetVisibleEnum

    with _opened(path) as workbook:
        sheets = workbook.sheets_metadata
        for sheet in sheets:
            is_hidden = sheet.visible != SheetVisibleEnum.Visible
            rows = _rows_of(workbook, sheet.name) if sheet.typ == SheetTypeEnum.WorkSheet else ()
            yield Sheet(sheet.name, rows, is_hidden, len(sheets) == 1)


@lru_cache(maxsize=1)  # a table is read several times, one after another
def _rows(path: Path, sheet: str, size: int, modified: int) -> Rows:
    with _opened(path) as workbook:
        return _rows_of(workbook, sheet)


def _rows_of(workbook: CalamineWorkbook, sheet: str) -> Rows:
    """Return the rows of a sheet from its first filled one, each as wide as the sheet."""
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
            with path.open("rb") as content:  # what it is, its bytes say, and not its name
                yield CalamineWorkbook.from_filelike(content)
    except PasswordError as error:
        raise BadInput(f"{path} has a password: save it without one") from error
    except (CalamineError, zipfile.BadZipFile, zlib.error, NotImplementedError, EOFError, expat.ExpatError) as error:
        raise BadInput(f"{path} is no whole workbook ({shown(error)}); save it again") from error
    except BaseException as error:
        if type(error).__name__ != "PanicException":  # the library's own, which no Python class leads to
            raise
        raise BadInput(f"{path} is no workbook that can be read ({shown(error)}); save it as .xlsx or CSV") from error


def _check_size(path: Path) -> None:
    """Raise `BadInput` for a workbook that becomes far larger than it is.

    The library keeps a sheet as a rectangle, in which two cells at opposite corners would fill any memory, and gives
    each cell its text anew, even if a thousand share one in the file.
    """
    if not zipfile.is_zipfile(path):  # an .xls has 65,536 rows of 256 cells at most
        return
    remedy = "save its sheets as CSV, if that is what it should hold"
    with zipfile.ZipFile(path) as packed:
        members = packed.infolist()
        check_ratio(path, path.stat().st_size, sum(member.file_size for member in members), remedy=remedy)
        sheets = [member for member in members if _has_cells(packed, member)]
        sizes = [_Size(packed, member) for member in sheets]
        for size in sizes:
            if size.area > MOST_AREA and is_sparse(size.area, size.filled):
                raise BadInput(f"{path} has {size.filled:,} cells within {size.area:,}, far apart: {remedy}")
        most = max((size.filled for size in sizes), default=0)
        for member in (member for member in members if member.filename.casefold().endswith("sharedstrings.xml")):
            shared = _Size(packed, member, ())
            if shared.announced > member.file_size:  # the library makes room for as many at once
                raise BadInput(f"{path} announces more texts than it has bytes: {remedy}")
            if most * max(shared.lengths, default=0) > MOST_TEXT:
                sizes += [_Size(packed, sheet, shared.lengths) for sheet in sheets]
        if any(size.text > MOST_TEXT for size in sizes):
            raise BadInput(f"{path} has a sheet of more than {MOST_TEXT:,} characters of text: split it")


def _has_cells(packed: zipfile.ZipFile, member: zipfile.ZipInfo) -> bool:
    """Return whether a part may be a sheet, whatever its name and its root: the library asks for neither."""
    content = b""
    with packed.open(member) as parts:
        while part := parts.read(READ):
            content = content[-20:] + part
            if b"sheetData" in content or b"table-cell" in content:
                return True
    return False


class _Size:
    """What a part of a workbook becomes in memory; its characters only if the shared texts are given."""

    def __init__(self, packed: zipfile.ZipFile, member: zipfile.ZipInfo, shared: Sequence[int] | None = None) -> None:
        self.area = self.filled = self.text = 0
        """Cells that the largest sheet spans; cells that say something, and their characters."""
        self.lengths: list[int] = []
        """Characters of each shared text."""
        self.announced = 0
        """Shared texts that the file says it has."""
        self._shared = shared or ()
        self._row = self._column = self._columns = 0
        self._step = self._rows = self._times = 1
        self._words: list[str] = []
        parser = expat.ParserCreate("utf-8")  # as the library has it, whatever the part says
        parser.buffer_text, parser.StartElementHandler = True, self._begin
        if shared is not None or member.filename == "content.xml":
            parser.EndElementHandler, parser.CharacterDataHandler = self._end, self._words.append
        with packed.open(member) as content:
            while part := content.read(READ):
                parser.Parse(part)

    def _begin(self, tag: str, attributes: dict[str, str]) -> None:
        name = tag[tag.find(":") + 1 :]
        if name in ("v", "t", "is", "p"):  # most elements: values and texts
            return
        if name in ("c", "table-cell"):
            times, place = 1, attributes.get("r", "")
            self._words.clear()
            if name == "table-cell":
                times = _whole(attributes.get("table:number-columns-repeated"), 1)
                self._words.append(attributes.get("office:string-value", ""))
            letters = place.rstrip("0123456789")
            self._row = _whole(place[len(letters) :], self._row)
            self._column = _number(letters) or self._column + times
            if name == "c" or "office:value-type" in attributes:
                self.filled, self._step = self.filled + 1, self._rows
                self._columns = max(self._columns, self._column)
                self.area = max(self.area, (self._row + self._rows - 1) * self._columns)
            self._times = times if name == "table-cell" else attributes.get("t") == "s"
        elif name in ("row", "table-row"):  # rows that are repeated and empty are one
            self._row = _whole(attributes.get("r"), self._row + self._step)
            self._column, self._step, self._rows = 0, 1, _whole(attributes.get("table:number-rows-repeated"), 1)
        elif name == "table":
            self._row = self._columns = 0
        elif name == "si":
            self._words.clear()
        elif name == "sst":
            self.announced = max(self.announced, _whole(attributes.get("uniqueCount"), 0))

    def _end(self, tag: str) -> None:
        name = tag[tag.find(":") + 1 :]
        if name == "c" and self._times:
            index = _whole("".join(self._words).strip(), len(self._shared))
            self.text += sum(self._shared[index : index + 1])
        elif name == "table-cell":
            self.text += self._rows * self._times * sum(map(len, self._words))
        elif name == "si":
            self.lengths.append(sum(map(len, self._words)))


@lru_cache(maxsize=1 << 15)
def _number(letters: str) -> int:
    """Return the number of a column by its letters."""
    number = 0
    for letter in letters[:4].upper():
        number = number * 26 + ord(letter) - 64
    return number


def _whole(text: str | None, otherwise: int) -> int:
    text = (text or "").lstrip("+")[:18]
    return int(text) if text.isdecimal() else otherwise
