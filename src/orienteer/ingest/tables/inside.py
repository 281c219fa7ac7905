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


def is_container(path: Path) -> bool:
    """Return whether a file may hold several tables, by its name, or by its first bytes if it is a database."""
    kinds = (*workbook.SUFFIXES, *objects.SUFFIXES, *gedcom.SUFFIXES)
    # Lines of JSON may be rows with rows within; nodes and edges keep their objects.
    is_of_lines = suffix(path) in objects.LINES and not words_in(path) & (NODE_WORDS | EDGE_WORDS | CORPUS_WORDS)
    return suffix(path) in kinds or is_of_lines or is_database(path)


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
        name, nested = "GEDCOM", gedcom.tables_of(path)
    elif kind in objects.LINES:
        name, nested = "JSON lines", objects.tables_of_lines(path)
    else:
        name, nested = "JSON" if kind in objects.JSON else "YAML", objects.tables_of(path)
    return [Table(path, Format(name, (), t), t.columns(path), called=t.called, label=t.name) for t in nested]


def stated_links(table: Table, tables: Sequence[Table]) -> dict[str, tuple[str, str]]:
    """Return the file and the key that columns lead to as a database declares, or because rows were within rows."""
    reader = table.format.reader
    stored = stored_as(table)
    links = reader.links if isinstance(reader, NestedTable) else stored.references if stored is not None else {}
    files = {other.file.casefold(): other.file for other in tables}
    found = {column: (files.get(f"{table.path}#{called}".casefold()), key) for column, (called, key) in links.items()}
    return {column: (file, key) for column, (file, key) in found.items() if file is not None and table.has(column)}


def stored_as(table: Table) -> StoredTable | None:
    """Return a database's declaration of a table, or None for any other table."""
    return table.format.reader.table if isinstance(table.format.reader, SqliteTable) else None


def declares_keys(table: Table, tables: Sequence[Table]) -> bool:
    """Return whether a table is of a database that declares foreign keys.

    Without any, columns that lead to other tables are told by their values, as in other tables.
    """
    inside = [stored_as(other) for other in tables if other.path == table.path]
    return stored_as(table) is not None and any(stored is not None and stored.references for stored in inside)
