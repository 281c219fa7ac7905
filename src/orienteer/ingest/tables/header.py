"""Whether the first row of a table of text names its columns, told by what stands below it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from itertools import islice

from orienteer.ingest.formats.delimited import numbered
from orienteer.ingest.formats.shape import YEAR
from orienteer.ingest.formats.table import NODE_ROWS
from orienteer.ingest.tables.columns import EDGE_RANKS, NODE_RANKS, Columns, plainly
from orienteer.ingest.tables.plan import Table
from orienteer.ingest.tables.values import numeric

TRIPLE = 3
_ENDS = frozenset({"source", "target", "subject", "object", "from", "to", "head", "tail", "src", "dst"})


def bare(table: Table, columns: Columns) -> Table | None:
    """Return the table as bare triples: three columns, and a first row that does not name them; else None."""
    if not table.format.is_text or len(table.columns) != TRIPLE or _names_columns(table.columns, columns):
        return None
    return None if _has_header(table) else headless(table)


def headless(table: Table) -> Table:
    """Return the table with numbered columns: its first row is data."""
    return replace(table, columns=tuple(numbered(len(table.columns))), has_header=False)


def is_headless(table: Table) -> bool:
    """Return whether a first row is data: two numbers or more, not all of them years, above nothing but numbers."""
    numbers = [place for place, name in enumerate(table.columns) if numeric(name) is not None]
    if not table.format.is_text or len(numbers) < 2 or all(YEAR.fullmatch(table.columns[place]) for place in numbers):
        return False
    below = [row[place] for row in _first_rows(table) for place in numbers]
    return all(numeric(cell) is not None for cell in below if cell)


def with_header_checked(table: Table) -> Table:
    """Return a table, headless if its first row has numbers where the rows below have them, and texts beside them.

    A table of nothing but numbers stays as it is: without names nobody knows what they are.
    """
    if not table.format.is_text or all(numeric(name) is not None for name in table.columns):
        return table
    return headless(table) if table.notes.is_headless else table


def _names_columns(first: Sequence[str], columns: Columns) -> bool:
    """Return whether a first row of three holds names of columns; one known word alone may be data."""
    names = [name for name in map(plainly, first) if name in EDGE_RANKS or name in NODE_RANKS or name in _ENDS]
    return len(names) > 1 or bool(set(first) & set(columns.roles.values()))


def _has_header(table: Table) -> bool:
    """Return whether the first row of three differs from all rows below: triples repeat their predicates and ends."""
    rows = _first_rows(table)
    if not rows:
        return False  # a header alone would be an empty table
    subject, predicate, target = table.columns
    predicates = {row[1] for row in rows}
    ends = {row[place] for row in rows for place in (0, 2)}
    is_resource = any("://" in name or name.startswith("<") for name in table.columns)
    return not (predicate in predicates or {subject, target} & ends or is_resource)


def _first_rows(table: Table) -> list[tuple[str, ...]]:
    """Return the first rows below the first one, which may hold anything."""
    batches = headless(table).batches(rows=NODE_ROWS, drop=lambda reason, line, value: None)
    batch = next(islice(batches, 1), None)
    return [] if batch is None else list(zip(*batch.columns.values(), strict=True))[1:]
