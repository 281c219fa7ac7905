"""What a query gives back."""

from __future__ import annotations

from typing import NamedTuple

from orienteer.records import JsonValue, Record


class Table(Record):
    """Rows of values. A node is a map of id, type, name and properties; an edge has source, type and target."""

    columns: tuple[str, ...]
    rows: tuple[tuple[JsonValue, ...], ...]
    total: int
    """How many rows the query has, shown or not."""
    truncated: bool
    """There are more rows than are here: the limit, or the characters allowed, were reached."""
    notes: tuple[str, ...] = ()
    """What was read otherwise than it was written."""


class Bounds(NamedTuple):
    """What an answer may take at the most."""

    rows: int
    characters: int
    """Of all rows, as JSON."""
    seconds: float
