"""Tables -> segments of a few rows, each with title, headers and what its columns hold (SAGE, section 2.1.A)."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

from orienteer.graph.reserved import CELLS
from orienteer.ingest.documents.config import BuildConfig
from orienteer.records import JsonValue
from orienteer.text.proper_names import key_of
from orienteer.text.sentences import tokens

_NUMBER = re.compile(r"[-+−]?\s*(?:[$€£¥]\s*)?\d[\d.,\s]*(?:%|[a-zA-Z]{1,3})?$")
_DATE = re.compile(
    r"(?:\d{4}-\d{1,2}(?:-\d{1,2})?|\d{1,2}[./-]\d{1,2}[./-]\d{2,4}"
    r"|(?:\d{1,2}\s+)?(?:jan|feb|mar|apr|may|jun|jul|aug|sep|oct|nov|dec)[a-z]*\.?(?:\s+\d{1,2})?,?(?:\s+\d{4})?)$",
    re.IGNORECASE,
)
_YEAR = re.compile(r"1[5-9]\d\d|20\d\d$")
_BREAKS = re.compile(r"(?<!\s)[^\S\r\n]*+[\r\n]\s*+")
_MOSTLY = 0.8
"""Share of a column's cells that have to be of one kind."""
_EXAMPLES = 3
LEAST_JOINING = 2
"""Values that join two columns; one alone is chance."""


@dataclass(frozen=True, slots=True)
class Segment:
    """Some rows of a table."""

    rows: tuple[tuple[str, ...], ...]
    first: int
    """Number of its first row, from 1."""
    columns: tuple[str, ...]
    """What each column holds, for a reader and an embedder: `Year (year, 1991 to 2004)`."""
    cut: int
    """Cells that were cut off for their length."""


def segments(
    header: Sequence[str], rows: Iterable[Sequence[str]], config: BuildConfig, *, rest_joins: bool = False
) -> Iterator[Segment]:
    """Cut rows into segments as they come; no rows give one.

    Where fewer than `least_rows`, or than half of `segment_rows`, are left for a last segment, it shares those of the
    one before, half and half: by the defaults no segment has more than ten rows, or fewer than five unless that is all
    there is. With `rest_joins` it joins that one. Rows that come to more than `tokens` are parted before that, unless
    segments are counted by their rows, as with `rest_joins` and by the paper.
    """
    waiting: list[tuple[str, ...]] = []
    first, cut, seen = 1, 0, False
    room = None if rest_joins or config.faithful else config.tokens
    size = 0
    most = config.segment_rows
    least = min(config.least_rows, -(-most // 2))
    for row in rows:
        cells = tuple(_cell(cell, config.cell_characters) for cell in row)
        longer = sum(len(cell) > config.cell_characters for cell in row)
        more = tokens(line(cells)) if room is not None else 0
        if waiting and room is not None and size + more > room:
            yield _segment(header, waiting, first, cut)
            first, waiting, cut, size, seen = first + len(waiting), [], 0, 0, True
        cut, size = cut + longer, size + more
        waiting.append(cells)
        if len(waiting) == most + least:  # so many that the rest is long enough to stand alone
            yield _segment(header, waiting[:most], first, cut)
            first, waiting, cut, seen = first + most, waiting[most:], 0, True
            size = sum(tokens(line(cells)) for cells in waiting) if room is not None else 0
    if len(waiting) > most and not rest_joins:
        half = -(-len(waiting) // 2)
        yield _segment(header, waiting[:half], first, cut)
        first, waiting, cut = first + half, waiting[half:], 0
    if waiting or not seen:
        yield _segment(header, waiting, first, cut)


def line(cells: Sequence[str]) -> str:
    """Return a row as one line of text, its cells apart so that names do not run together."""
    return CELLS.join(cells)


def describe(name: str, values: Sequence[str]) -> str:
    """Say what a column holds, by its cells alone: numbers, dates, years with their range, or words with examples."""
    filled = [value for value in values if value.strip()]
    if not filled:
        return f"{name} (empty)"
    for kind, pattern in (("year", _YEAR), ("date", _DATE), ("number", _NUMBER)):
        if sum(pattern.match(value.strip()) is not None for value in filled) >= _MOSTLY * len(filled):
            low, high = _range(kind, filled)
            return f"{name} ({kind}, {low} to {high})" if low != high else f"{name} ({kind}, {low})"
    some = list(dict.fromkeys(value if len(value) <= 40 else f"{value[:39]}…" for value in filled))[:_EXAMPLES]
    return f"{name} (text, as {'; '.join(some)})"


def _range(kind: str, values: Sequence[str]) -> tuple[str, str]:
    """Return the least and the greatest of some cells; dates come in the order of their rows."""
    if kind == "date":
        return values[0].strip(), values[-1].strip()
    numbers = {value.strip(): _number(value) for value in values}
    numeric = [value for value, number in numbers.items() if number is not None]
    if not numeric:
        return values[0].strip(), values[-1].strip()
    return min(numeric, key=lambda value: numbers[value] or 0.0), max(numeric, key=lambda value: numbers[value] or 0.0)


def _number(text: str) -> float | None:
    number = re.search(r"[-+−]?\d[\d,]*(?:\.\d+)?", text)
    if number is None:
        return None
    try:
        return float(number[0].replace(",", "").replace("−", "-"))
    except ValueError:
        return None


def _segment(header: Sequence[str], rows: Sequence[tuple[str, ...]], first: int, cut: int) -> Segment:
    columns = tuple(
        describe(name, [row[at] for row in rows if at < len(row)]) for at, name in enumerate(header) if name.strip()
    )
    return Segment(tuple(rows), first, columns, cut)


def _cell(text: str, most: int) -> str:
    """Return a cell in one line, cut off if it is too long."""
    if len(text) > most:
        text = f"{text[:most]}…"
    return _BREAKS.sub(" ", text).replace(CELLS, " ¦ ").strip()  # what parts cells stands in none


def joinable_columns(first: str, second: str) -> list[JsonValue]:
    """Return pairs of headers: columns of two tables, given as lines, that share two values or a header."""
    ours, theirs = _columns(first), _columns(second)
    joinable: list[JsonValue] = []
    for (mine, values), (other, others) in ((a, b) for a in ours for b in theirs):
        is_header = key_of(mine) == key_of(other) != ""
        if is_header or len(values & others) >= LEAST_JOINING:
            joinable.append([mine, other])
    return joinable


def _columns(body: str) -> list[tuple[str, set[str]]]:
    """Return the columns of a table with the values that say something: words, not mere numbers."""
    header, *rows = [line.split(CELLS) for line in body.split("\n")]
    columns = [(name, {row[at].casefold() for row in rows if at < len(row)}) for at, name in enumerate(header)]
    return [(name, {value for value in values if any(map(str.isalpha, value))}) for name, values in columns]
