"""Text that does not steer a terminal, and results as HTML and as a pandas frame for notebooks."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from importlib import import_module
from typing import Any

from orienteer.errors import UsageError

# Seconds of work before its remaining time is estimated.
_SURE_SECONDS = 1.0
_MINUTES = 100.0  # seconds from which on a time is in minutes
_ROWS = 30  # of a table of types
_LEFT = "text-align:left;vertical-align:top"  # a notebook aligns to the right, as for numbers
# An id or a name may be one long word.
_WORDS = f"{_LEFT};min-width:8em;overflow-wrap:anywhere"
COLUMNS = {
    "rank": _LEFT,
    "name": _WORDS,
    "type": _LEFT,
    "why": _WORDS,
    "text": _WORDS,
    "id": f"{_WORDS};min-width:11em",
}
# The last two end a line, for some programs.
_CONTROLS = (*range(0x20), *range(0x7F, 0xA0), 0x2028, 0x2029)
# Bidirectional controls, which disguise text.
_DIRECTIONS = (*range(0x202A, 0x202F), *range(0x2066, 0x206A))
_CLEAN = {code: " " for code in _CONTROLS if chr(code) != "\n"} | dict.fromkeys(_DIRECTIONS, "")
_ESCAPED = {code: f"\\u{code:04x}" for code in (*_CONTROLS, *_DIRECTIONS) if code >= 0x20}


def clean(text: str) -> str:
    """Return a text without the characters that steer a terminal: a graph's names and texts are not trusted."""
    return text.translate(_CLEAN)


def escape_json(text: str) -> str:
    """Return the same JSON with those characters escaped; JSON itself allows many of them in strings."""
    return text.translate(_ESCAPED)


class Count(int):
    """A number done with the total; a plain number is progress without a total.

    >>> Count(3, of=10) == 3, Count(3, of=10).of
    (True, 10)
    """

    of: int
    share: float
    """Of the work that is done: that of the total unless said otherwise, as of files by their bytes."""

    def __new__(cls, done: int, *, of: int, share: float | None = None) -> Count:
        """Return a count with its total."""
        count = super().__new__(cls, done)
        count.of = of
        count.share = share if share is not None else done / of if of else 0.0
        return count


def seconds_left(count: int, seconds: float) -> float | None:
    """Estimate the remaining time of work that took `seconds` for `count`; None if it is too early or has no total."""
    if not isinstance(count, Count) or not 0 < count.share < 1 or seconds < _SURE_SECONDS:
        return None
    return seconds * (1 - count.share) / count.share


def format_duration(seconds: float) -> str:
    """Return a time in readable form: `40 s`, `3 min`."""
    return f"{seconds / 60:,.0f} min" if seconds >= _MINUTES else f"{max(1.0, seconds):.0f} s"


def counted(number: int, noun: str) -> str:
    """Return a number with its noun: `1 hit`, `1,200 hits`."""
    return f"{number:,} {noun}{'' if number == 1 else 's'}"


def value_cell(value: object, *, has_id: bool = True) -> str:
    """Return a value as text; a node as `name (id)`, or as its name, an edge as `source -type-> target`."""
    if isinstance(value, dict) and {"id", "name"} <= set(value):
        return f"{value['name']} ({value['id']})" if has_id else str(value["name"])
    if isinstance(value, dict) and {"source", "type", "target"} <= set(value):
        return f"{value['source']} -{value['type']}-> {value['target']}"
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False, default=str)


def cut(text: str, length: int) -> str:
    """Return a text cut to `length` characters, with the number of characters that were cut off."""
    return text if len(text) <= length else f"{text[:length]} … ({len(text) - length:,} more characters)"


def result_html(
    title: str,
    paragraphs: Iterable[str],
    rows: Sequence[Sequence[str]],
    lines: Iterable[str],
    *,
    picture: str = "",
) -> str:
    """Return a result as HTML: its question, its answer, a row for each hit, and notes.

    A row has a text for each of `COLUMNS`. `picture` is an SVG of the hits by `page.network`. All texts are escaped.
    Colours are left to the page, which may be dark. Styles are inline, for many pages drop all others.
    """
    parts = [picture, _table(rows, COLUMNS) if rows else "<p>no hits</p>"]
    if answer := "\n\n".join(paragraphs):
        parts.insert(0, f'<p style="white-space:pre-wrap">{_escaped(answer)}</p>')
    parts += [f"<small>{_escaped(line)}</small><br>" for line in lines]
    return _block(title, parts)


def types_html(
    title: str, tables: Iterable[tuple[Sequence[str], Sequence[Sequence[str]]]], *, picture: str = ""
) -> str:
    """Return types as HTML: a title, a picture by `page.network`, and tables, each a header and its rows."""
    return _block(title, [picture, *(_table(rows, dict.fromkeys(header, _LEFT)) for header, rows in tables if rows)])


def most_frequent(counts: Mapping[str, int]) -> list[list[str]]:
    """Return rows of names with their counts, the largest first; the last row counts the omitted ones."""
    rows = [[name, f"{count:,}"] for name, count in sorted(counts.items(), key=lambda item: (-item[1], item[0]))]
    return first_rows(rows)


def first_rows(rows: list[list[str]]) -> list[list[str]]:
    """Return the first rows of a table, and one more with the number of the others."""
    left = len(rows) - _ROWS
    return rows if left <= 0 else [*rows[:_ROWS], [f"and {left:,} more", *[""] * (len(rows[0]) - 1)]]


def _block(title: str, parts: Iterable[str]) -> str:
    # Without these classes, one for each version of MathJax, a notebook takes prices such as $5 for formulas.
    head = f'<div class="mathjax_ignore tex2jax_ignore"><p><b>{_escaped(title)}</b></p>'
    return f"{head}{''.join(parts)}</div>"


def _table(rows: Sequence[Sequence[str]], columns: Mapping[str, str]) -> str:
    """Return rows as a table; `columns` has the style of each column by its header."""
    head = "".join(f'<th style="{_LEFT}">{name}</th>' for name in columns)
    body = ""
    for row in rows:
        cells = zip(columns.values(), row, strict=True)
        body += "<tr>" + "".join(f'<td style="{style}">{_escaped(cell)}</td>' for style, cell in cells) + "</tr>"
    return f"<table><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>"


def _escaped(text: str) -> str:
    from html import escape

    return escape(clean(text))


def frame(rows: Sequence[Mapping[str, Any]], columns: Sequence[str]) -> Any:  # Any: pandas is optional
    """Return rows as a pandas frame with these columns. Raises `UsageError` if pandas is not installed."""
    try:
        pandas = import_module("pandas")
    except ModuleNotFoundError as error:
        if error.name != "pandas":
            raise
        raise UsageError("to_frame needs pandas: pip install pandas. Without it: result.model_dump()['hits']") from None
    return pandas.DataFrame(list(rows), columns=list(columns))
