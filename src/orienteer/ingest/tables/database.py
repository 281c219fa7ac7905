"""The tables of a SQLite database, and the keys that it declares, for the mapping of tables."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from orienteer.errors import BadInput
from orienteer.ingest.formats.sqlite import SqliteTable, StoredTable, stored_tables
from orienteer.ingest.formats.table import Format
from orienteer.ingest.tables.plan import Table
from orienteer.ingest.tables.type_names import node_type_of


def tables_in(path: Path) -> list[Table]:
    """Return the tables of a database. Raises `BadInput` for one that is damaged, or holds none."""
    stored = stored_tables(path)
    if not stored:
        raise BadInput(f"{path} is a database without tables: is it the right file?")
    return [Table(path, Format("SQLite", (), SqliteTable(table)), table.columns, called=table.name) for table in stored]


def stored_as(table: Table) -> StoredTable | None:
    """Return what a database declares of a table, None of any other table."""
    return table.format.reader.table if isinstance(table.format.reader, SqliteTable) else None


def declared_keys(table: Table, tables: Sequence[Table]) -> dict[str, tuple[str, str]] | None:
    """Return the type and the column that each foreign key leads to; None where the database declares no such keys.

    Without any, columns that lead to other tables are told by their values, as in other tables.
    """
    stored = stored_as(table)
    if stored is None or not any(
        other.path == table.path and declared.references for other in tables if (declared := stored_as(other))
    ):
        return None
    return {column: (node_type_of(name), key) for column, (name, key) in stored.references.items()}
