"""Results where people look: a table and a pandas frame in a notebook, and text that does not steer a terminal."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

from orienteer.errors import UsageError

if TYPE_CHECKING:
    from orienteer.records import Ranked, Result

_LEFT = "text-align:left;vertical-align:top"  # a notebook aligns to the right, as for numbers
_WORDS = f"{_LEFT};min-width:8em;overflow-wrap:anywhere"  # an id or a name may be one long word
_COLUMNS = {
    "rank": _LEFT,
    "name": _WORDS,
    "type": _LEFT,
    "why": _WORDS,
    "text": _WORDS,
    "id": f"{_WORDS};min-width:11em",
}
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


def counted(number: int, noun: str) -> str:
    """Return a number with its noun, of which there may be one."""
    return f"{number:,} {noun}{'' if number == 1 else 's'}"


def spent(result: Result) -> str:
    """Return in one line which method ran, what it took, and what ended it."""
    usage = result.usage
    parts = [result.method, f"{usage.seconds:.1f} s" if usage.seconds >= 1 else f"{usage.seconds * 1000:.0f} ms"]
    if usage.calls:
        parts += [counted(usage.calls, "call"), counted(usage.tokens, "token")]
        parts += [f"{usage.usd:.4f} USD"] if usage.usd is not None else []
    if result.stopped_by != "finish":
        parts.append(f"ended by {result.stopped_by}")
    return ", ".join(parts)


def result_html(result: Result) -> str:
    """Return a result as HTML; names and texts are other people's, so everything is escaped.

    Colours are left to the page, which may be dark. Styles stand where they hold, for many a page takes no others.
    """
    parts = [f"<p><b>{_escaped(result.question)}</b></p>"]
    if result.answer is not None:
        said = "\n\n".join(filter(None, (result.answer, result.long_answer)))
        parts.append(f'<p style="white-space:pre-wrap">{_escaped(said)}</p>')
    parts.append(_table(result))
    parts += [f"<small>{_escaped(line)}</small><br>" for line in (spent(result), *result.notes)]
    # A price of $5 is no formula: without these classes, one for each version of MathJax, a notebook sets it as one.
    return f'<div class="mathjax_ignore tex2jax_ignore">{"".join(parts)}</div>'


def _table(result: Result) -> str:
    if not result.hits:
        return "<p>no hits</p>"
    head = "".join(f'<th style="{_LEFT}">{name}</th>' for name in _COLUMNS)
    rows = "".join(f"<tr>{_cells(place, hit)}</tr>" for place, hit in enumerate(result.hits, 1))
    return f"<table><thead><tr>{head}</tr></thead><tbody>{rows}</tbody></table>"


def _cells(place: int, hit: Ranked) -> str:
    votes = counted(hit.votes, "vote") if hit.votes is not None else ""
    cells = (str(place), hit.name, hit.type, "; ".join(filter(None, (votes, hit.why))), hit.text, hit.id)
    styled = zip(_COLUMNS.values(), cells, strict=True)
    return "".join(f'<td style="{style}">{_escaped(cell)}</td>' for style, cell in styled)


def _escaped(text: str) -> str:
    from html import escape

    return escape(clean(text))


def result_frame(result: Result) -> Any:  # Any: pandas is optional, so its types may not be there
    """Return the hits as a pandas frame, a row each, best first. Raises `UsageError` where pandas is not installed."""
    try:
        pandas = import_module("pandas")
    except ModuleNotFoundError as error:
        if error.name != "pandas":
            raise
        raise UsageError("to_frame needs pandas: pip install pandas. Without it: result.model_dump()['hits']") from None
    fields = ("id", "type", "name", "score", "votes", "why", "text")
    rows = [{"rank": place, **hit.model_dump(include=set(fields))} for place, hit in enumerate(result.hits, 1)]
    return pandas.DataFrame(rows, columns=["rank", *fields])
