"""A table that a person names, with the roles of its columns: `beer_styles.csv:source=beer_id,target=style_code`.

The flag is also what an error tells the person to write.
"""

from __future__ import annotations

import re
import shlex
from collections.abc import Mapping, Sequence
from pathlib import Path

from orienteer.errors import BadInput, BadOption
from orienteer.ingest.formats import suffixes
from orienteer.ingest.formats.delimited import numbered
from orienteer.ingest.tables.plan import Table
from orienteer.ingest.tables.type_names import edge_type_of, node_type_of
from orienteer.records import Record

NODE_KEYS = ("id", "name", "text", "aliases", "type")
EDGE_KEYS = ("source", "target", "type", "text", "weight")
"""What can be named of a table of nodes, and of one of edges."""
UNDIRECTED = ":undirected"
_PAIRS = re.compile(r":(?=\w+=)")


class TableSpec(Record):
    """A table with the roles that a person gives its columns. `type` is a column, or else the type of all rows."""

    path: Path
    columns: Mapping[str, str] = {}
    """Columns by role. An end may say what it leads to: `style_code@style`, `style_code@style.code`."""
    undirected: bool = False

    def __str__(self) -> str:
        pairs = ",".join(f"{role}={column}" for role, column in self.columns.items())
        return f"{self.path}{f':{pairs}' if pairs else ''}{UNDIRECTED if self.undirected else ''}"


def spec_of(text: str, *, is_edges: bool) -> TableSpec:
    """Return the table that `F` or `F:role=COLUMN,role=COLUMN[:undirected]` names. Raises `BadOption`."""
    flag, keys = ("--edges", EDGE_KEYS) if is_edges else ("--nodes", NODE_KEYS)
    if Path(text).exists():
        return TableSpec(path=Path(text))
    rest, undirected = text.removesuffix(UNDIRECTED), text.endswith(UNDIRECTED)
    path, *pairs = _PAIRS.split(rest, maxsplit=1)
    columns: dict[str, str] = {}
    for pair in re.split(r",(?=\w+=)", pairs[0]) if pairs else ():
        role, _, column = pair.partition("=")
        if role not in keys or not column:
            raise BadOption(f"{flag} {text}: {pair!r} gives no column a role: write {', '.join(keys)}, each =COLUMN")
        columns[role] = column
    if undirected and not is_edges:
        raise BadOption(f"{flag} {text}: nodes have no direction: leave out {UNDIRECTED}")
    missing = [end for end in ("source", "target") if is_edges and columns and end not in columns]
    if missing:
        raise BadOption(f"{flag} {text}: name both ends, source=COLUMN,target=COLUMN")
    return TableSpec(path=Path(path), columns=columns, undirected=undirected)


def nodes_line(table: Table, columns: Sequence[str] = ()) -> str:
    """Return the flag that makes nodes of a table."""
    roles = dict(zip(("id", "name"), columns or table.columns, strict=False))
    return f"--nodes {_quoted(table, {**roles, 'type': node_type_of(table.name)})}"


def edges_line(table: Table) -> str:
    """Return the flag that makes edges of a table."""
    first, second = (*table.columns, "COLUMN", "COLUMN")[:2]
    return f"--edges {_quoted(table, {'source': first, 'target': second, 'type': edge_type_of(table.name)})}"


def _quoted(table: Table, columns: Mapping[str, str]) -> str:
    """Return a table with the roles of its columns as a shell takes it."""
    return shlex.quote(f"{table.file}:{','.join(f'{role}={column}' for role, column in columns.items())}")


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
    return (
        f"{table.file} has no row with the names of its columns: it begins with {', '.join(table.columns[:4])}. "
        f"Add one, or name columns by their places: {nodes_line(table, numbered(len(table.columns)))}"
    )


def check_columns(table: Table, names: Mapping[str, str] | Sequence[str]) -> None:
    """Raise `BadInput` if a table lacks a column that a person named."""
    for name in names:
        for absent in table.lacks(name):
            part = f", a part of {name!r}" if absent != name else ""
            raise BadInput(f"{table.file} has no column {absent!r}{part}. Its columns are: {', '.join(table.columns)}.")
