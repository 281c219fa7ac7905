"""The rows of delimited text with their lines. A quote left open costs the lines up to the next row that fits."""

from __future__ import annotations

import csv
from collections import deque
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Any, NamedTuple

from orienteer.ingest.bounds import MOST_RECORD

OPEN_QUOTE, SWALLOWED = "quote left open", "swallowed by a quote left open"
"""Why a line is not a row: a quote begins in it that does not end where one may; it follows such a line."""

_TOO_LARGE, _ENDS_OPEN = "field larger than field limit", "unexpected end of data"
"""What the csv module says."""


@dataclass(frozen=True, slots=True)
class FieldDialect:
    """How a file separates and quotes its fields."""

    delimiter: str
    is_quoted: bool
    skips_blanks: bool = False
    """Blanks after a delimiter are no part of the field."""
    has_escapes: bool = False
    """A quote within quotes has a backslash before it."""

    @property
    def is_usual(self) -> bool:
        """Return whether fields are quoted as spreadsheets quote them."""
        return not (self.skips_blanks or self.has_escapes)

    def reader(self, text: Iterable[str], *, is_strict: bool = True) -> Any:
        """Return a reader of rows that refuses quotes left open."""
        # Any: the csv module does not export the type of its readers.
        csv.field_size_limit(MOST_RECORD)
        if not self.is_quoted:
            return csv.reader(text, delimiter=self.delimiter, quoting=csv.QUOTE_NONE)
        return csv.reader(
            text,
            delimiter=self.delimiter,
            strict=is_strict,
            skipinitialspace=self.skips_blanks,
            escapechar="\\" if self.has_escapes else None,
        )


class RowRecord(NamedTuple):
    """A row of a file, or a line that is not one."""

    line: int
    cells: list[str]
    """Empty for a blank line."""
    fault: str = ""
    """Why it is not a row."""
    text: str = ""
    """What is there instead."""
    is_unended: bool = False
    """The file ends within its line."""


def records(
    lines: Iterable[str], dialect: FieldDialect, *, before: int = 0, width: int = 0, is_sample: bool = False
) -> Iterator[RowRecord]:
    """Yield the rows of some lines, the first of them after `before` others; blank lines have no cells.

    `width` is the usual number of cells, 0 if it is unknown: a row over several lines that has another number begins
    with a quote left open, and after one no line is a row until one fits. A sample may end within a row, which is then
    left out. Raises `csv.Error` for a field that is too large.
    """
    source, again, taken = iter(lines), deque[str](), list[str]()
    reader = dialect.reader(_noted(source, again, taken))
    is_lost = False
    while True:
        taken.clear()
        try:
            cells = next(reader)
        except StopIteration:
            return
        except csv.Error as error:
            if _TOO_LARGE in str(error):
                raise csv.Error(f"line {before + 1}: {error}") from error
            if is_sample and _ENDS_OPEN in str(error):
                return
            cells = _read_leniently(taken, dialect, width)
        if cells is not None and len(taken) == 1 and not is_lost:  # as nearly all are
            before += 1
            yield RowRecord(before, cells, "", "", taken[0][-1] not in "\r\n")
            continue
        if cells is None or (width and len(taken) > 1 and len(cells) != width):
            again.extendleft(reversed(taken[1:]))
            reader = dialect.reader(_noted(source, again, taken))
            yield RowRecord(before + 1, [], SWALLOWED if is_lost else OPEN_QUOTE, taken[0])
            is_lost = bool(width)
            before += 1
            continue
        if is_lost and len(cells) != width:
            yield RowRecord(before + 1, [], SWALLOWED, taken[0])
        else:
            is_lost = False
            yield RowRecord(before + 1, cells, is_unended=not taken[-1].endswith(("\n", "\r")))
        before += len(taken)


def _noted(lines: Iterator[str], again: deque[str], taken: list[str]) -> Iterator[str]:
    """Yield lines, those again first, and note what is taken."""
    while (line := again.popleft() if again else next(lines, None)) is not None:
        taken.append(line)
        yield line


def _read_leniently(taken: list[str], dialect: FieldDialect, width: int) -> list[str] | None:
    """Return the cells of one line with quotes inside a quoted field, as spreadsheets read it; None if none fit."""
    if len(taken) != 1 or taken[0].count('"') % 2 or not width:
        return None
    cells: list[str] = next(dialect.reader(taken, is_strict=False), [])
    return cells if len(cells) == width else None
