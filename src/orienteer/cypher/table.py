"""The answer to a query, and its bounds."""

from __future__ import annotations

from typing import NamedTuple

from orienteer.records import JsonValue, Record

MOST_ROWS = 100_000
"""Of an answer, whatever limit is asked for."""


class QueryTable(Record):
    """Rows of values. A node is a map of id, type, name and properties; an edge has source, type and target."""

    columns: tuple[str, ...]
    rows: tuple[tuple[JsonValue, ...], ...]
    total: int
    """How many rows the query has, including those that are not here."""
    truncated: bool
    """There are more rows than these: the limit of rows or of characters was reached."""
    notes: tuple[str, ...] = ()
    """Where the query was read in another way than it was written."""


class Bounds(NamedTuple):
    """The bounds of an answer."""

    rows: int
    characters: int
    """Of all rows, as JSON."""
    seconds: float
