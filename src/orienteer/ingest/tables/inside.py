"""Files that hold several tables: databases, workbooks, JSON and YAML, family trees."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from orienteer.errors import BadInput
from orienteer.ingest.formats import gedcom, objects, workbook
from orienteer.ingest.formats.files import require, suffix
from orienteer.ingest.formats.nested import NestedTable
from orienteer.ingest.formats.sqlite import SqliteTable, StoredTable, is_database, stored_tables
from orienteer.ingest.formats.table import Format
from orienteer.ingest.tables.plan import CORPUS_WORDS, EDGE_WORDS, NODE_WORDS, Table, names_of, words_in
from orienteer.ingest.tables.type_names import node_type_of


def is_container(path: Path) -> bool:
    """Return whether a file may hold several tables, by its name, or by its first bytes if it is a database."""
    kinds = (*workbook.SUFFIXES, *objects.SUFFIXES, *gedcom.SUFFIXES)
    return suffix(path) in kinds or _is_of_lines(path) or is_database(path)


def _is_of_lines(path: Path) -> bool:
    """Return whether a file has lines of JSON that may be rows with rows within; nodes and edges keep their objects."""
    return suffix(path) in objects.LINES and not words_in(path) & (NODE_WORDS | EDGE_WORDS | CORPUS_WORDS)


def holds_tables(path: Path) -> bool:
    """Return whether a file holds tables that `tables_in` returns."""
    try:
        return is_container(path) and bool(tables_in(path))
    except (BadInput, OSError):
        return False


def tables_in(path: Path) -> list[Table]:
    """Return the tables in a file, each with its name in it; empty for JSON and YAML without rows, or lines of JSON
    without rows within rows.

    Raises `BadInput` for a damaged file, and for a database, a workbook or a family tree without tables.
    """
    if is_database(path):
        stored = stored_tables(path)
        if not stored:
            raise BadInput(f"{path} is a database without tables: is it the right file?")
        return [Table(path, Format("SQLite", (), SqliteTable(one)), one.columns, called=one.name) for one in stored]
    kind = suffix(path)
    require(path)
    if kind in workbook.SUFFIXES:
        names = workbook.sheets(path)
        if not names:
            raise BadInput(f"{path} has no sheet with rows below a header: is it the right file?")
        forms = {name: Format("workbook", (), workbook.SheetTable(name), is_text=True) for name in names}
        return [Table(path, form, names_of(path, form), called=name) for name, form in forms.items()]
    if kind in gedcom.SUFFIXES:
        return [_nested(path, table, "GEDCOM") for table in gedcom.tables_of(path)]
    if kind in objects.LINES:
        return [_nested(path, table, "JSON lines") for table in objects.tables_of_lines(path)]
    name = "JSON" if kind in objects.JSON else "YAML"
    return [_nested(path, table, name) for table in objects.tables_of(path)]


def stated_links(table: Table) -> dict[str, tuple[str, str]]:
    """Return the file and the key that columns lead to because rows were within rows, or as a format says."""
    links = table.format.reader.links if isinstance(table.format.reader, NestedTable) else {}
    return {
        column: (f"{table.path}#{called}", key) for column, (called, key) in links.items() if column in table.columns
    }


def _nested(path: Path, table: NestedTable, form: str) -> Table:
    return Table(path, Format(form, (), table), table.columns(path), called=table.called, label=table.name)


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
