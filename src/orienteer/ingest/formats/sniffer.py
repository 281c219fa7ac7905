"""How a text is a table: its encoding, what separates and quotes its cells, and where its first row is."""

from __future__ import annotations

import io
import re
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import islice
from pathlib import Path

from orienteer.ingest.formats.files import opened_text, suffix
from orienteer.ingest.formats.letters import encoding_of
from orienteer.ingest.formats.records import FieldDialect, RowRecord, records
from orienteer.ingest.formats.shape import DELIMITING, LOOKED_AT, TableShape, shape_of

SAMPLE = 1 << 20
"""Characters that show how a file is a table."""
DELIMITERS = {".csv": ",;\t|", ".tsv": "\t,;|", ".tab": "\t,;|", ".sif": "\t ", ".txt": "\t,;|"}
"""What may separate the cells, by suffix; of two that fit alike the first."""
LEAST_REGULAR = 0.3
"""Regularity below which a text has one column."""
NOTHING = "\x1f"
"""A delimiter of texts of one column: a character that is made to separate, and that no text has."""
NEVER_FIRST = 0.5
"""What counts of a delimiter that the first line lacks."""
MOST_BLANKS = 0.9
"""Share of delimiters with a blank after them, above which the blanks are no part of the cells."""
SEPARATOR_LINE = re.compile(r'"?sep=(.)"?[;,]*\s*', re.IGNORECASE)
"""The first line by which a program names the delimiter for Excel."""
OPENING_QUOTE = re.compile(r'(?:^|[\t\n])"')
QUOTED_FIELD = re.compile(r'(?:^|[\t\n])"(?:[^"]|"")*"(?=[\t\r\n]|\Z)')


@dataclass(frozen=True, slots=True)
class TextLayout:
    """How a file of text is a table."""

    encoding: str
    dialect: FieldDialect
    shape: TableShape
    title: str = ""
    """The first line above the table that is a title; empty if there is none."""


def layout_of(path: Path, encoding: str = "") -> TextLayout | None:
    """Return how a file is a table, or None for one without a cell; `encoding` is its encoding if it is known."""
    status = path.stat()
    return _layout_of(path, encoding or encoding_of(path), status.st_size, status.st_mtime_ns)


@lru_cache(maxsize=256)  # asked for each reading of a table
def _layout_of(path: Path, encoding: str, size: int, modified: int) -> TextLayout | None:
    with opened_text(path, encoding=encoding) as text:
        sample = text.read(SAMPLE)
    lines = list(islice(io.StringIO(sample, newline=""), LOOKED_AT + 1))
    is_sample = len(lines) > LOOKED_AT or len(sample) == SAMPLE
    if is_sample:
        del lines[max(1, len(lines) - 1) :]  # it may have been cut
    stated = SEPARATOR_LINE.fullmatch(lines[0]) if lines else None
    begin = int(stated is not None)
    best: tuple[float, FieldDialect, list[RowRecord]] | None = None
    for delimiter in stated[1] if stated else DELIMITERS[suffix(path)]:
        is_quoted = suffix(path) != ".sif" or delimiter == "\t"
        for dialect in _dialects(delimiter, lines[begin:], sample, is_quoted=is_quoted):
            rows = list(records(lines[begin:], dialect, before=begin, is_sample=is_sample))
            score = _regularity(rows, delimiter) if any(delimiter in line for line in lines[begin:]) else 0.0
            if best is None or score > best[0]:
                best = (score, dialect, rows)
    if best is None:
        return None
    score, dialect, rows = best
    if score < LEAST_REGULAR and not stated:
        dialect = FieldDialect(NOTHING, is_quoted=True)
        rows = list(records(lines[begin:], dialect, before=begin, is_sample=is_sample))
    shape = shape_of(rows)
    if shape is None:
        return None
    title = next((line.strip() for line in lines[begin : shape.line - 1] if line.strip()), "")
    return TextLayout(encoding, dialect, shape, title)


def _dialects(delimiter: str, lines: Sequence[str], sample: str, *, is_quoted: bool) -> Iterator[FieldDialect]:
    """Yield how fields with this delimiter may be written."""
    if delimiter == "\t":
        opening = len(OPENING_QUOTE.findall(sample))
        whole = len(QUOTED_FIELD.findall(sample))
        # The sample may end inside of one last quoted field.
        yield FieldDialect(delimiter, 0 < opening <= whole + (len(sample) == SAMPLE))
        return
    count = sum(line.count(delimiter) for line in lines)
    blanks = sum(line.count(delimiter + " ") for line in lines)
    first = next((line for line in lines if delimiter in line), "")
    skips = delimiter != " " and delimiter + " " in first and blanks > MOST_BLANKS * count
    yield FieldDialect(delimiter, is_quoted, skips)
    if is_quoted and any('\\"' in line for line in lines):
        yield FieldDialect(delimiter, is_quoted, skips, has_escapes=True)


def _regularity(rows: Sequence[RowRecord], delimiter: str) -> float:
    """Return how regular rows are: how many have the most usual number of cells, and how many cells no delimiter."""
    filled = [row.cells for row in rows if row.fault or row.cells]
    begin = next((place for place, cells in enumerate(filled) if len(cells) > 1), None)
    if begin is None:
        return 0.0
    table = filled[begin:]
    width, count = max(Counter(map(len, table)).items(), key=lambda pair: (pair[1] * (pair[0] > 1), pair[0]))
    if width == 1 or (begin and count == 1):
        return 0.0
    cells = [cell for row in table if len(row) == width for cell in row]
    others = DELIMITING.replace(delimiter, "")
    plain = sum(1 for cell in cells if not any(sign in cell for sign in others)) / len(cells)
    return count / len(table) * (1 - 1 / (width + 1)) * (0.5 + plain / 2) * (NEVER_FIRST if begin else 1)
