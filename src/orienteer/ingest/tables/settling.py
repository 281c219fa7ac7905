"""The lines that settle what is not clear about a table."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from orienteer.errors import BadInput
from orienteer.ingest.formats import suffixes
from orienteer.ingest.tables.plan import Table
from orienteer.ingest.tables.type_names import edge_type_of, node_type_of


def nodes_line(table: Table, columns: Sequence[str] = ()) -> str:
    """Return the flag that makes nodes of a table."""
    names = columns or table.columns
    second = f",name={names[1]}" if len(names) > 1 else ""
    return f"--nodes {quoted(f'{table.file}:id={names[0]}{second},type={node_type_of(table.name)}')}"


def edges_line(table: Table) -> str:
    """Return the flag that makes edges of a table."""
    first, second = (*table.columns, "COLUMN", "COLUMN")[:2]
    return f"--edges {quoted(f'{table.file}:source={first},target={second},type={edge_type_of(table.name)}')}"


def quoted(text: str) -> str:
    """Return an argument as a shell takes it."""
    import shlex

    return shlex.quote(text)


def unclear(tables: Sequence[Table]) -> str:
    """Say which tables are not clear, and which line settles each."""
    if not tables:
        return f"There is no table of nodes or edges to read. What is read: {suffixes()}."
    seen = "; ".join(
        f"{table.file} (its columns are: {', '.join(table.columns)}): {nodes_line(table)} or {edges_line(table)}"
        for table in tables
    )
    return f"It is not clear whether the rows are nodes or edges. Say so, with the columns that fit: {seen}"


def no_header(table: Table) -> str:
    """Say that a table has no row of names, and how to name its columns."""
    numbers = [f"column_{place}" for place in range(1, len(table.columns) + 1)]
    return (
        f"{table.file} has no row with the names of its columns: it begins with {', '.join(table.columns[:4])}. "
        f"Add one, or name columns by their places: {nodes_line(table, numbers)}"
    )


def check_columns(table: Table, names: Mapping[str, str] | Sequence[str]) -> None:
    """Raise `BadInput` if a table lacks a column that a person named."""
    for name in names:
        for absent in table.lacks(name):
            part = f", a part of {name!r}" if absent != name else ""
            raise BadInput(f"{table.file} has no column {absent!r}{part}. Its columns are: {', '.join(table.columns)}.")
