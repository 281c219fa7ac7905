"""Cells of other people's tables, and texts of a declared type, -> JSON values."""

from __future__ import annotations

import ast
import json
import math
from collections.abc import Mapping
from decimal import Decimal
from typing import Any

from orienteer.graph.properties import scalar
from orienteer.ingest.bounds import is_deep, parsed
from orienteer.records import JsonValue

LONGEST_NUMBER = 18
"""Characters. A longer run of digits is an identifier, and would not fit a 64-bit integer."""
LONGEST_SPELLED = 400
"""Characters of a number: a double spelled out has 325."""
PROSE_WORDS = 6
"""Words from which on a value is prose, and not a name or a code."""


def plain(value: Any) -> JsonValue:  # Any: whatever a file format can hold
    """Return the value as JSON has it; None for an empty value: empty text, NaN, an empty list or object."""
    if value is None or isinstance(value, str):
        return value or None
    if isinstance(value, bool | int):
        return value
    if isinstance(value, float | Decimal):
        value = float(value)
        return None if math.isnan(value) else value if math.isfinite(value) else str(value)  # JSON has no infinity
    if isinstance(value, Mapping):
        members = {str(key): plain(member) for key, member in value.items()}
        return {key: member for key, member in members.items() if member is not None} or None
    if isinstance(value, list | tuple):
        return [member for member in map(plain, value) if member is not None] or None
    if isinstance(value, bytes):
        return value.decode("utf-8", "replace") or None
    try:
        return plain(scalar(value))
    except TypeError:
        return str(value)


def finite(value: Any) -> float | None:  # Any: whatever a file format can hold
    """Return a number as a float, or None if it is not a number or too large for a float."""
    try:
        number = float(value) if isinstance(value, str | int | float) else math.nan
    except (OverflowError, ValueError):
        return None
    return number if math.isfinite(number) else None


def number(text: str) -> int | float | str:
    """Return the number of a cell if printing it gives the cell back (7, 1.5), else its text (007, 1.50)."""
    if len(text) > LONGEST_NUMBER or not text[-1:].isdigit() or not text.isascii():
        return text
    for kind in (int, float):
        try:
            value = kind(text)
        except ValueError:
            continue
        if str(value) == text:
            return value
    return text


def identifier(value: Any) -> str:  # Any: whatever a file format can hold
    """Return an id as text: a whole number as its decimal digits, nothing as an empty text."""
    if isinstance(value, str):
        return value
    if isinstance(value, float):
        if math.isnan(value):
            return ""
        return str(int(value)) if value.is_integer() else str(value)
    return "" if value is None else str(value)


def without_decimal(text: str) -> str:
    """Return `12` for `12.0` or `12,0`: data frames write whole numbers so if a column has empty cells."""
    return text[:-2] if text.endswith((".0", ",0")) else text


def text_of(value: JsonValue) -> str:
    """Return a value as text: a list joined by commas, an object as JSON."""
    if isinstance(value, str):
        return value
    if isinstance(value, list):
        return ", ".join(map(text_of, value))
    return str(value) if value.__class__ is int else json.dumps(value, ensure_ascii=False)


def cell_text(value: Any) -> str:  # Any: whatever a file format can hold
    """Return a cell as text, empty for an empty one."""
    cell = value if isinstance(value, str) else plain(value)
    return "" if cell is None else text_of(cell)


def is_prose(text: str) -> bool:
    """Return whether a text is prose, and not a name or a code."""
    return len(text.split(None, PROSE_WORDS)) >= PROSE_WORDS


def items(value: JsonValue) -> list[str]:
    """Return the members of a list, of a list written as text, or of text split at `|`; blank ones are left out."""
    if isinstance(value, str):
        value = _written_list(value) or [part.strip() for part in value.split("|")]
    if not isinstance(value, list):
        value = [] if value is None else [value]
    return [text for text in map(text_of, value) if text.strip()]


def parts_of(value: Any, separator: str) -> list[str]:  # Any: whatever a file format can hold
    """Return the values of a cell, stripped; one if there is no separator."""
    if isinstance(value, list | tuple) or separator == "json":
        return [text.strip() for text in items(list(value) if isinstance(value, tuple) else value)]
    text = identifier(value)
    parts = text.split(separator) if separator else [text]
    return [part.strip() for part in parts if part.strip()]


def opened(value: Any) -> dict[str, Any] | None:  # Any: whatever a file format can hold
    """Return the object in a cell, also if it is written as JSON text; None if there is none."""
    if isinstance(value, dict):
        return value
    if isinstance(value, str) and value[:1] == "{" and value[-1:] == "}":
        try:
            members = parsed(value)
        except ValueError:
            return None
        return members if isinstance(members, dict) else None
    return None


def _written_list(text: str) -> list[Any] | None:
    """Return a list that was written as JSON or by a data frame (`['a', 'b']`)."""
    if not (text.startswith("[") and text.endswith("]")):
        return None
    try:
        members = parsed(text)
    except ValueError:
        try:
            members = ast.literal_eval(text)
        except (ValueError, TypeError, SyntaxError, MemoryError, RecursionError):
            return None
    return [plain(member) for member in members] if isinstance(members, list) and not is_deep(members) else None


def numeric(text: str) -> int | float | None:
    """Return the number that a text spells, an integer if it is spelled as one, or None."""
    if len(text) > LONGEST_SPELLED or "_" in text:
        return None
    kind = int if text.strip().lstrip("+-").isdecimal() else float
    try:
        return kind(text)
    except ValueError:
        return None
