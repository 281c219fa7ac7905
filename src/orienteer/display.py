"""Results in a notebook: a table, and a pandas frame where pandas is installed."""

from __future__ import annotations

from html import escape
from importlib import import_module
from typing import TYPE_CHECKING, Any

from orienteer.errors import UsageError

if TYPE_CHECKING:
    from orienteer.records import Result

_COLUMNS = ("rank", "name", "type", "why", "text", "id")


def result_html(result: Result) -> str:
    """Return a result as HTML; names and texts are other people's, so everything is escaped."""
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
