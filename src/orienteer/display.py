"""Results where people look: a table and a pandas frame in a notebook, and text that does not steer a terminal."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

from orienteer.errors import UsageError

if TYPE_CHECKING:
    from orienteer.records import Result

_COLUMNS = ("rank", "name", "type", "why", "text", "id")
_CONTROLS = (*range(0x20), *range(0x7F, 0xA0), 0x2028, 0x2029)  # the last two end a line, for some programs
_DIRECTIONS = (*range(0x202A, 0x202F), *range(0x2066, 0x206A))  # bidirectional controls: text reads as what it is not
_CLEAN = {code: " " for code in _CONTROLS if chr(code) != "\n"} | dict.fromkeys(_DIRECTIONS, "")
_ESCAPED = {code: f"\\u{code:04x}" for code in (*_CONTROLS, *_DIRECTIONS) if code >= 0x20}


def clean(text: str) -> str:
    """Return a text without the characters that steer a terminal: names and texts of a graph are other people's."""
    return text.translate(_CLEAN)


def escape_json(text: str) -> str:
    """Return the same JSON with those characters written as escapes; JSON itself lets many of them pass in strings."""
    return text.translate(_ESCAPED)


def result_html(result: Result) -> str:
    """Return a result as HTML; names and texts are other people's, so everything is escaped."""
    from html import escape

    rows = []
    for place, hit in enumerate(result.hits, 1):
        votes = f"{hit.votes} vote{'s' if hit.votes != 1 else ''}; " if hit.votes is not None else ""
        cells = (str(place), hit.name, hit.type, votes + hit.why, hit.text, hit.id)
        rows.append(f"<tr>{''.join(f'<td>{escape(cell)}</td>' for cell in cells)}</tr>")
    head = "".join(f"<th>{name}</th>" for name in _COLUMNS)
    parts = [f"<p><b>{escape(result.question)}</b></p>"]
    parts += [f"<p>{escape(result.answer)}</p>"] if result.answer is not None else []
    parts += [f"<table><thead><tr>{head}</tr></thead><tbody>{''.join(rows)}</tbody></table>"]
    parts += [f"<p><small>{escape(note)}</small></p>" for note in (result.method, *result.notes)]
    return f"<div>{''.join(parts)}</div>"


def result_frame(result: Result) -> Any:  # Any: pandas is optional, so its types may not be there
    """Return the hits as a pandas frame, a row each, best first. Raises `UsageError` where pandas is not installed."""
    try:
        pandas = import_module("pandas")
    except ModuleNotFoundError as error:
        raise UsageError(
            "to_frame needs pandas: pip install pandas. Without it: result.model_dump()['hits']"
        ) from error
    fields = ("id", "type", "name", "score", "votes", "why", "text")
    rows = [{"rank": place, **hit.model_dump(include=set(fields))} for place, hit in enumerate(result.hits, 1)]
    return pandas.DataFrame(rows, columns=["rank", *fields])
