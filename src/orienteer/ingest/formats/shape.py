"""Where a table is within rows of cells, and which rows are no part of it: titles, totals, headers, what is below."""

from __future__ import annotations

import re
from collections import Counter, deque
from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from orienteer.errors import BadInput
from orienteer.index.arrays import Strings
from orienteer.ingest.formats.records import RowRecord
from orienteer.ingest.formats.table import Batch, Drop, shown
from orienteer.text.units import measured

LOOKED_AT = 500
"""Rows that tell the shape."""
TAIL = 8
"""Rows at the end that may be totals or notes."""
FEWEST_NUMBERS = 0.6
"""Share of a column's filled cells that are numbers in a column of numbers."""
MOST_NOTES = 3
"""Lines of notes below a table."""
FEWEST_ABOVE = 3
"""Rows above a total that show by their first cells that it is not a row like them."""
LONGEST_TOTAL = 30
"""Characters of a cell that names a row of totals."""
TOTAL, HEADER_AGAIN, BELOW, UNITS = "total", "header again", "another table below", "units"
OTHERWISE = "delimited otherwise"
TOO_MANY, LONE, CUT_SHORT, NOTE = "too many cells", "one cell alone", "cut short", "note below"
"""Why a row is not one of the table."""
AROUND = frozenset({TOTAL, HEADER_AGAIN, BELOW, NOTE, UNITS})
"""Reasons of rows that should not have been rows of the table."""
NUMBER = re.compile(r"[-+(]?\s*[^\w\s.,()-]?\s*\d[\d.,'\u00a0\u202f ]*(?:[eE][-+]?\d+)?\s*[^\w\s.,(]?\)?")
"""A number as tables have it, perhaps with a currency or a percent sign."""
_NOTHING = re.compile(r"(?i)[-\u2013\u2014.?]+|n/?a|null|none|nan")
"""What says in a column of numbers that there is none."""
_UNIT = re.compile(r"^[^\W\d_]{1,4}\.?\s?(?=[-+(\d])|(?<=\d)\s?[^\W\d_]{1,4}[\u00b2\u00b3]?\.?$")
"""The unit or the currency around a number in a row of totals: `kr 12,50`, `7 kg`."""
DELIMITING = ",;\t|"
"""Characters that separate cells."""
YEAR = re.compile("(1[5-9]|20)[0-9]{2}")
TOTAL_WORD = (
    r"(?:grand |sub-?|column |row |overall )?(?:totals?|sum|sums|summe|gesamt\w*|insgesamt|somme|totale|totaal|suma|"
    "toplam|celkem|yhteens\u00e4|\u00f6sszesen|\u0438\u0442\u043e\u0433\u043e|\u0432\u0441\u0435\u0433\u043e|"
    "\u5408\u8a08|\u5408\u8ba1|\u603b\u8ba1|\u7e3d\u8a08)"
)
"""What the name of a row of totals begins with."""
_TOTAL_STEMS = (
    *("total", "sum", "gesamt", "somme", "totaal", "toplam", "celkem", "yhteens", "sszesen"),
    *("\u0442\u043e\u0433\u043e", "\u0432\u0441\u0435\u0433\u043e"),
    *("\u5408\u8a08", "\u5408\u8ba1", "\u603b\u8ba1", "\u7e3d\u8a08"),
)
"""What one of these words has in small letters."""
_TOTAL = re.compile(TOTAL_WORD + r"\s*(?:[:.(\d].*)?", re.IGNORECASE)
_TOTAL_ALONE = re.compile(TOTAL_WORD + r"\s*:?", re.IGNORECASE)
_TOTAL_HEAD = re.compile(r"\s*" + TOTAL_WORD, re.IGNORECASE)
_TOTAL_OF = re.compile(TOTAL_WORD + r"\s+(?P<of>\S.*)", re.IGNORECASE)
FEWEST_UNITS, LONGEST_UNIT = 2, 12
"""Cells above numbers that are their units, and characters of each."""


@dataclass(frozen=True, slots=True)
class TableShape:
    """Where a table begins and how wide it is."""

    line: int
    """The line of its first row, from 1."""
    first: tuple[str, ...]
    """The cells of its first row, which may be a header; as many as the table has columns."""
    numeric: frozenset[int] = frozenset()
    """Columns of numbers."""
    is_headless: bool = False
    """The first row is a row like the others, by its numbers."""
    units: int = 0
    """The line of the row below it, if that has the units of the columns."""

    @property
    def width(self) -> int:
        """Return the number of columns."""
        return len(self.first)


def shape_of(rows: Sequence[RowRecord]) -> TableShape | None:
    """Return the shape of a table by its first rows, or None if none of them has a cell."""
    filled = [row for row in rows if any(row.cells)]
    if not filled:
        return None
    usual = _usual_width([row.cells for row in filled])
    has_row_names = _has_row_names(filled, usual)
    top = filled[0] if has_row_names else _top(filled, usual)
    cells = [""] * has_row_names + top.cells
    width = max(usual, _last_filled(cells))
    first = tuple(cell.strip() for cell in [*cells, *[""] * width][:width])
    is_headless = is_row(first, [row.cells for row in filled if row.line > top.line])
    numeric = _numeric(_below(rows, top.line), width)
    second = next((row for row in rows if row.line > top.line), None)
    units = second.line if second is not None and not is_headless and _has_units(second.cells, numeric) else 0
    return TableShape(top.line, first, numeric, is_headless, units)


def _has_units(cells: Sequence[str], numeric: Collection[int]) -> bool:
    """Return whether a row has units above columns of numbers, no number, and no name."""
    filled = [cell.strip() for cell in cells if cell.strip()]
    above = [place for place, cell in enumerate(cells) if place in numeric and cell.strip()]
    is_short = all(len(cell) <= LONGEST_UNIT and not is_number(cell) for cell in filled)
    known = sum(map(_is_unit, filled))
    return bool(cells) and not cells[0].strip() and len(above) >= FEWEST_UNITS and is_short and 2 * known >= len(filled)


def _is_unit(text: str) -> bool:
    """Return whether a text is a unit: `m`, `g/t`, `%`, `m MGA51`."""
    return bool(re.search(r"[/%°²³€$£]", text)) or measured(f"1 {text.split()[0]}") is not None


def _usual_width(rows: Sequence[Sequence[str]]) -> int:
    """Return the most usual number of cells, without columns at the end that are empty in every row."""
    widths = Counter(map(len, rows))
    first = len(rows[0])
    width = max(widths, key=lambda count: (widths[count] * (count > 1), count == first, count))
    while width > 1 and not any(row[width - 1] for row in rows if len(row) == width):
        width -= 1
        rows = [row[:width] if len(row) == width + 1 else row for row in rows]
    return width


def _last_filled(cells: Sequence[str]) -> int:
    """Return the number of cells without the empty ones at the end."""
    return next((place for place in range(len(cells), 0, -1) if cells[place - 1].strip()), 0)


def _top(rows: Sequence[RowRecord], usual: int) -> RowRecord:
    """Return the first row of the table: the first that is as wide as the others and filled by more than half."""
    wide = [
        (place, row)
        for place, row in enumerate(rows[: LOOKED_AT // 2])
        if _last_filled(row.cells) >= min(usual, 2) and len(row.cells) >= usual and _is_filled(row.cells, usual)
    ]
    if not wide:
        return rows[0]
    place, top = wide[0]
    if len(top.cells) > usual > 1 and len(wide) > 1:
        # A title with commas of its own is longer than the header below it.
        _, second = wide[1]
        below = [row.cells for row in rows[place + 2 :] if len(row.cells) == usual]
        if len(second.cells) == usual and names_columns(second.cells, below):
            return second
    return top


def _is_filled(cells: Sequence[str], usual: int) -> bool:
    """Return whether more than half of the cells are filled; the first one may be empty above the names of rows."""
    return 2 * (sum(1 for cell in cells if cell.strip()) + (not cells[0].strip())) > usual


def _has_row_names(rows: Sequence[RowRecord], usual: int) -> bool:
    """Return whether the first row lacks a cell that all others have, and names the others: as R writes data frames."""
    first, below = rows[0].cells, [row.cells for row in rows[1:]]
    if len(first) != usual - 1 or len(first) < 2 or len(below) < 2 or not all(first):
        return False
    return all(len(cells) == usual for cells in below) and not names_columns(below[0], below[1:])


def names_columns(first: Sequence[str], below: Sequence[Sequence[str]]) -> bool:
    """Return whether the cells of a row are texts where the rows below it have numbers."""
    columns = _numeric(below, len(first))
    return bool(columns) and all(first[place].strip() and not is_number(first[place]) for place in columns)


def is_row(first: Sequence[str], below: Sequence[Sequence[str]]) -> bool:
    """Return whether a first row is a row like those below it: it has numbers wherever they do, not only years."""
    cells = [first[place].strip() for place in _numeric(below, len(first))]
    return bool(cells) and all(map(is_number, cells)) and not all(map(YEAR.fullmatch, cells))


def is_number(text: str) -> bool:
    """Return whether a cell is a number, perhaps with a currency or a percent sign."""
    return NUMBER.fullmatch(text.strip()) is not None


def _numeric(rows: Sequence[Sequence[str]], width: int) -> frozenset[int]:
    """Return the columns of numbers."""
    columns = ([row[place] for row in rows if place < len(row) and row[place].strip()] for place in range(width))
    return frozenset(
        place
        for place, filled in enumerate(columns)
        if filled and sum(map(is_number, filled)) >= FEWEST_NUMBERS * len(filled)
    )


def _below(rows: Sequence[RowRecord], line: int) -> list[list[str]]:
    """Return the rows below a line, up to a blank one."""
    below = [row.cells for row in rows if row.line > line and not row.fault]
    first = next((place for place, cells in enumerate(below) if any(cells)), 0)
    return below[: next((place for place in range(first, len(below)) if not any(below[place])), len(below))]


@dataclass(slots=True)
class RowSieve:
    """Keeps the rows of a table, each as wide as it, and reports the others."""

    path: Path
    shape: TableShape
    drop: Drop
    header: Sequence[str] = ()
    """The names of the columns as the file has them, empty without a header."""
    kept: int = 0
    dropped: int = 0
    """Rows that were faulty."""
    _is_after_blank: bool = False
    _has_short: bool = False
    _below: int = 0
    """Cells of the header of another table that has begun."""
    _first_fault: str = ""
    _last: Sequence[str] = ()
    """The cells of the last row of the table."""

    def rows(self, found: Iterable[RowRecord]) -> Iterator[RowRecord]:
        """Yield the rows of the table. Raises `BadInput` if most of what should be rows is not."""
        tail: deque[RowRecord] = deque()
        for row in found:
            if not self._is_plain(row):
                row = self._judged(row)
            if row.fault:
                self._drop(row)
            elif row.cells:
                self._last = row.cells
                tail.append(row)
                if len(tail) > TAIL:
                    self.kept += 1
                    yield tail.popleft()
        last = len(tail) - outside(self.shape, [row.cells for row in tail])
        for place, row in enumerate(tail):
            if place < last:
                self.kept += 1
                yield row
            else:
                self._drop(row._replace(fault=NOTE if _is_note(row.cells) else TOTAL))
        if self.dropped > self.kept:
            raise BadInput(
                f"{self.path}, {self._first_fault}; {self.dropped:,} of {self.dropped + self.kept:,} rows do not have "
                f"the {self.shape.width} cells of the others: is the file cut short, or a delimiter not quoted?"
            )

    def _is_plain(self, row: RowRecord) -> bool:
        """Return whether a row is clearly one of the table, as most are, so that nothing else has to be asked."""
        cells = row.cells
        return (
            len(cells) == self.shape.width > 1
            and bool(cells[0] and cells[1])
            and _TOTAL_HEAD.match(cells[0]) is None
            and not (row.fault or self._is_after_blank or self._below)
            and not (self.header and cells[0] == self.header[0])
        )

    def _judged(self, row: RowRecord) -> RowRecord:
        """Return a row with a cell for each column; with a fault if it is no row of the table, blank without cells."""
        cells, width = row.cells, self.shape.width
        if row.fault:
            return row
        if not any(cells):
            self._is_after_blank = True
            return row._replace(cells=[])
        is_after_blank, self._is_after_blank = self._is_after_blank, False
        numeric = self.shape.numeric
        if len(cells) == width != self._below and numeric and all(is_number(cells[place]) for place in numeric):
            self._below = 0  # what was taken for a header was a short row
        elif self._below or (is_after_blank and self._begins_another(cells)):
            self._below = self._below or len(cells)
            return row._replace(fault=BELOW)
        if len(cells) != width:
            if fault := self._misfit(row):
                return row._replace(fault=fault)
            self._has_short |= len(cells) < width
            cells = [*cells[:width], *[""] * (width - len(cells))]
        if self.header and cells[0] == self.header[0] and tuple(cells) == tuple(self.header):
            return row._replace(fault=HEADER_AGAIN)
        return row._replace(cells=cells, fault=self._fault(row.line, cells))

    def _fault(self, line: int, cells: Sequence[str]) -> str:
        """Return why a row with a cell for each column is none of the table; empty for one that is."""
        if 0 in self.shape.numeric and _is_note(cells):
            return LONE
        if line == self.shape.units:
            return UNITS
        return TOTAL if _is_subtotal(self.shape, cells, self._last) else ""

    def _misfit(self, row: RowRecord) -> str:
        """Return why a row with too many or too few cells is none; empty if only empty cells are too many or few."""
        width = self.shape.width
        if any(row.cells[width:]):
            return TOO_MANY
        if row.is_unended and len(row.cells) < width and not self._has_short:
            return CUT_SHORT
        text = "".join(row.cells)
        if len(row.cells) < width and any(text.count(sign) >= width - 1 for sign in DELIMITING):
            return OTHERWISE
        return LONE if len(row.cells) == 1 and width > 2 else ""

    def _begins_another(self, cells: Sequence[str]) -> bool:
        """Return whether a row after a blank line is the header of another table."""
        width = self.shape.width
        texts = [cell for cell in cells if cell.strip()]
        if len(set(texts)) < len(texts) or len(texts) < 2:
            return False
        if len(cells) < width and not self._has_short and len(texts) == len(cells) and not any(map(is_number, cells)):
            return True
        last = _last_filled(cells)
        numeric = [cells[place].strip() for place in self.shape.numeric if place < last]
        is_other = bool(numeric) and all(
            cell and not is_number(cell) and not _NOTHING.fullmatch(cell) for cell in numeric
        )
        return is_other and tuple(cells[:width]) != tuple(self.header)

    def _drop(self, row: RowRecord) -> None:
        """Report a row that is none of the table, and count it if it should have been one."""
        if row.fault not in AROUND:
            self.dropped += 1
            self._first_fault = self._first_fault or f"line {row.line}: {row.fault}"
        text = row.text.strip() or ", ".join(cell for cell in row.cells if cell)
        self.drop(row.fault, row.line, shown(text))


def without_totals(batches: Iterable[Batch], names: Sequence[str], drop: Drop) -> Iterator[Batch]:
    """Yield batches of typed cells, as data frames have them, without the rows of totals, and report these."""
    shape, last, held = TableShape(0, tuple(names)), list[list[str]](), None
    for batch in batches:
        if held is None:
            shape = TableShape(
                0, shape.first, _numeric(_texts(batch, names, range(len(batch))[:LOOKED_AT]), shape.width)
            )
        else:
            yield held
            last = _texts(held, names, range(len(held))[-TAIL:])
        heads = batch.columns.get(names[0], ()) if names else ()
        totals = _totals_in(getattr(heads, "values", heads))
        some = [row for row, head in enumerate(heads) if isinstance(head, str) and head in totals] if totals else []
        pairs = (_texts(batch, names, [row, max(row - 1, 0)]) for row in some)
        held = _less(batch, [row for row, two in zip(some, pairs, strict=True) if _is_subtotal(shape, *two)], drop)
    if held is not None:
        tail = [*last, *_texts(held, names, range(len(held))[-TAIL:])][-TAIL:]
        count = outside(shape, tail)
        is_total = not all(map(_is_note, tail[len(tail) - count :]))  # an object with one member is no note
        yield _less(held, range(len(held))[max(len(held) - count, 0) :] if is_total else (), drop)


def _totals_in(heads: Sequence[Any]) -> set[str]:  # Any: whatever the file's format can hold
    """Return the cells that may name a row of totals; all are looked at as one text, for hardly any table has one."""
    if isinstance(heads, Strings):
        text = heads.run(0, len(heads))[0].decode(errors="replace")
    else:
        heads = [head for head in heads if isinstance(head, str)]
        text = "\n".join(heads)
    text = text.lower()
    return set(filter(_TOTAL_HEAD.match, heads)) if any(stem in text for stem in _TOTAL_STEMS) else set()


def _texts(batch: Batch, names: Iterable[str], rows: Sequence[int]) -> list[list[str]]:
    """Return rows as texts; nothing is None, or no number."""
    columns = [batch.columns.get(name, (None,) * len(batch)) for name in names]
    cells = ([column[row] for column in columns] for row in rows)
    return [
        ["" if cell is None or (isinstance(cell, float) and cell != cell) else str(cell) for cell in row]
        for row in cells
    ]


def _less(batch: Batch, rows: Sequence[int], drop: Drop) -> Batch:
    """Leave out rows, and report them."""
    for row, cells in zip(rows, _texts(batch, batch.columns, rows), strict=True):
        drop(NOTE if _is_note(cells) else TOTAL, batch.lines[row], shown(", ".join(filter(None, cells))))
    return batch.without(rows)


def outside(shape: TableShape, last: Sequence[Sequence[str]]) -> int:
    """Return how many of a table's last rows are totals or notes below it."""
    count = notes = 0
    for place in range(len(last) - 1, 0, -1):
        is_note = _is_note(last[place]) and _is_longer(last[place][0], last[:place])
        if not (is_note or _is_total(shape, last[place], last[:place])):
            break
        count, notes = count + 1, notes + is_note
    return count if notes <= MOST_NOTES else 0  # so many are rows with one cell


def _is_total(shape: TableShape, cells: Sequence[str], above: Sequence[Sequence[str]]) -> bool:
    """Return whether a row is one of totals: numbers alone, after a name for totals, or none where others have one."""
    filled = [(place, cell.strip()) for place, cell in enumerate(cells) if cell.strip()]
    if len(cells) < 2 or not filled:
        return False
    (first, name), *sums = filled
    if is_number(name):
        is_bare = first > 0 and 2 * len(filled) <= len(cells) and all(row[0].strip() for row in above)
        return is_bare and all(place in shape.numeric and is_number(cell) for place, cell in filled)
    if not sums or len(name) > LONGEST_TOTAL or not all(is_number(_UNIT.sub("", cell)) for _, cell in sums):
        return False
    is_largest = (_digits(cell) >= max(_digits(row[place]) for row in above) for place, cell in sums)
    return _TOTAL.fullmatch(name) is not None or (_is_called_otherwise(cells, above) and all(is_largest))


def _is_subtotal(shape: TableShape, cells: Sequence[str], above: Sequence[str]) -> bool:
    """Return whether a row between others is a total of some of them: `Total North` below a row of `North`.

    It has numbers, and no other cell.
    """
    filled = [(place, cell.strip()) for place, cell in enumerate(cells) if cell.strip()]
    if not 2 <= len(filled) < len(cells) or len(filled[0][1]) > LONGEST_TOTAL:
        return False
    part = _TOTAL_OF.fullmatch(filled[0][1])
    if _TOTAL_ALONE.fullmatch(filled[0][1]) is None and (part is None or part["of"] not in map(str.strip, above)):
        return False
    return all(place in shape.numeric and is_number(_UNIT.sub("", cell)) for place, cell in filled[1:])


def _digits(text: str) -> int:
    """Return the digits of a number, which are compared; -1 for another text."""
    return int("".join(filter(str.isdecimal, text))) if is_number(_UNIT.sub("", text)) else -1


def _is_called_otherwise(cells: Sequence[str], above: Sequence[Sequence[str]]) -> bool:
    """Return whether a row with few cells begins with words where all rows above it begin with codes or numbers."""
    few = sum(1 for cell in cells if cell.strip())
    is_worded = bool(cells[0].strip()) and not any(map(str.isdigit, cells[0]))
    return (
        is_worded
        and len(above) >= FEWEST_ABOVE
        and all(row and any(map(str.isdigit, row[0])) for row in above)
        and all(2 * few <= sum(1 for cell in row if cell.strip()) for row in above)
    )


def _is_longer(text: str, above: Sequence[Sequence[str]]) -> bool:
    """Return whether a text has more words than the first cells above it, so that it is none of these."""
    return len(text.split()) > max((len(row[0].split()) for row in above if row), default=0)


def _is_note(cells: Sequence[str]) -> bool:
    """Return whether only the first of several cells has something: a text about the table."""
    return len(cells) > 2 and bool(cells[0].strip()) and not is_number(cells[0]) and not any(cells[1:])
