"""Jupyter notebooks as blocks: Markdown cells, code cells and text output."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

from orienteer.errors import BadInput
from orienteer.ingest.bounds import parsed
from orienteer.ingest.documents.read.blocks import Page
from orienteer.ingest.documents.read.markdown import read_markdown

MOST_OUTPUT = 2_000
"""Maximum characters of a cell's output; the rest is cut off."""
_TICKS = re.compile("`+")


def read_notebook(text: str) -> Page:
    """Return the title and the blocks of a notebook. Raises `BadInput` if the text is not a notebook."""
    try:
        notebook = parsed(text)
    except ValueError as error:
        raise BadInput(f"no whole JSON, as a notebook is ({error}): save it again") from error
    sheets = notebook.get("worksheets") if isinstance(notebook, dict) else None  # up to version 3
    holders = [notebook, *(sheets if isinstance(sheets, list) else [])]
    cells = [cell for holder in holders for cell in _list(holder, "cells")]
    if not cells:
        raise BadInput("no cells: it is no notebook, or an empty one")
    page = read_markdown("\n\n".join(part for cell in cells for part in _markdown(cell)))
    page.blocks = [replace(block, place=replace(block.place, span=None, line=None)) for block in page.blocks]
    return page


def _markdown(cell: Any) -> Iterator[str]:  # Any: JSON
    """Yield a cell as Markdown, with code and output between fences."""
    kind = cell.get("cell_type") if isinstance(cell, dict) else None
    if kind in ("markdown", "heading", "raw"):
        yield ("#" * max(1, min(6, _whole(cell.get("level")))) + " " if kind == "heading" else "") + _source(cell)
    elif kind == "code":
        yield _fenced(_source(cell, "input") or _source(cell))
        for output in _list(cell, "outputs"):
            yield _fenced(_output(output)[:MOST_OUTPUT])


def _output(output: Any) -> str:  # Any: JSON
    if not isinstance(output, dict):
        return ""
    if output.get("output_type") in ("error", "pyerr"):
        return f"{output.get('ename', '')}: {output.get('evalue', '')}"
    data = output.get("data")
    return _source(data, "text/plain") if isinstance(data, dict) else _source(output, "text")


def _source(holder: Mapping[str, Any], name: str = "source") -> str:  # Any: JSON
    """Return a text that is stored whole or as a list of lines."""
    value = holder.get(name)
    if isinstance(value, list):
        return "".join(line for line in value if isinstance(line, str))
    return value if isinstance(value, str) else ""


def _fenced(text: str) -> str:
    """Return a text in a code fence longer than any in it, or "" if it is blank."""
    ticks = "`" * (max(map(len, _TICKS.findall(text)), default=0) + 3)
    return f"{ticks}\n{text}\n{ticks}" if text.strip() else ""


def _list(holder: Any, name: str) -> Sequence[Any]:  # Any: JSON
    value = holder.get(name) if isinstance(holder, dict) else None
    return value if isinstance(value, list) else ()


def _whole(value: Any) -> int:  # Any: JSON
    return value if isinstance(value, int) else 1
