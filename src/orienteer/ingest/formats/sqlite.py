"""SQLite databases, read by the standard library as other people's files: tables, their keys, and where those lead.

Nothing in a file runs. It is opened for reading alone; only ordinary tables are read, and of them only columns that are
stored, so that no view, trigger, virtual table or computed column is ever evaluated; an authorizer refuses every
function and everything else. Tables in which a virtual table keeps its own are left out. What comes of a file is
bounded by its size: its pages can be made to lead in circles.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any
from urllib.parse import quote

from orienteer.errors import BadInput
from orienteer.ingest.bounds import MOST_RECORD, check_ratio, memory_told, too_long
from orienteer.ingest.formats.files import require
from orienteer.ingest.formats.table import JOIN, Batch, Drop, batched, is_unicode, shown

SUFFIXES = (".db", ".sqlite", ".sqlite3", ".db3")
MAGIC = b"SQLite format 3\x00"
LONGEST_STATEMENT = 1 << 20
"""Bytes of a statement, also of those that declare the tables."""
WIDTH = 8
"""Bytes that a value counts for at least."""
MOST_TABLES = 10_000
UNWRITTEN = ("-wal", "-journal")
"""What stands after the name of a database in the name of a file with changes that are not in it yet."""
READING = frozenset({sqlite3.SQLITE_SELECT, sqlite3.SQLITE_READ})
PRAGMAS = frozenset({"table_xinfo", "foreign_key_list"})
INTERNAL = "sqlite_"
"""What the names of SQLite's own tables begin with."""


@dataclass(frozen=True, slots=True)
class StoredTable:
    """A table as the database declares it."""

    name: str
    columns: tuple[str, ...]
    """Columns that are stored; computed ones are left out."""
    id: str | None = None
    """The column of the primary key; `a+b` for several."""
    references: Mapping[str, tuple[str, str]] = field(default_factory=dict)
    """The table and the column that a column of foreign keys leads to; `a+b` and `c+d` for keys of several columns."""


def is_database(path: Path) -> bool:
    """Return whether a file is such a database, by its first bytes."""
    try:
        with path.open("rb") as raw:
            return raw.read(len(MAGIC)) == MAGIC
    except (OSError, ValueError):  # the latter for a name that no file can have
        return False


def stored_tables(path: Path) -> list[StoredTable]:
    """Return the tables of a database, in the order of their names. Raises `BadInput`."""
    with _opened(path) as database:
        listed = database.execute("SELECT name, rootpage FROM sqlite_master WHERE type = 'table' ORDER BY name")
        pages = [(str(name), page) for name, page in listed.fetchmany(MOST_TABLES + 1)]
        inner = (INTERNAL, *(f"{name}_" for name, page in pages if not page))  # of SQLite, and of virtual tables
        names = [name for name, page in pages if page and not name.startswith(inner)]
        if len(pages) > MOST_TABLES:
            raise BadInput(f"{path} has more than {MOST_TABLES:,} tables: export those that matter, as CSV")
        bad = next((name for name in names if not is_unicode(name)), None)
        if bad is not None:
            raise BadInput(f"{path} has a table whose name is no UTF-8 ({shown(bad)}): rename it")
        # Names are compared as SQLite does, whatever their case.
        tables = {name.casefold(): _declared(database, name) for name in names}
        found = (replace(table, references=_references(database, table, tables)) for table in tables.values())
        return [table for table in found if table.columns]


def _declared(database: sqlite3.Connection, name: str) -> StoredTable:
    """Return the columns and the key that a database declares of a table."""
    columns, keys = [], {}
    for _, column, _, _, _, place, hidden in database.execute(f"PRAGMA table_xinfo({_quoted(name)})"):
        if not hidden and is_unicode(column):
            columns.append(column)
            if place:
                keys[place] = column
    return StoredTable(name, tuple(columns), JOIN.join(keys[place] for place in sorted(keys)) or None)


def _references(
    database: sqlite3.Connection, table: StoredTable, tables: Mapping[str, StoredTable]
) -> dict[str, tuple[str, str]]:
    """Return where the foreign keys of a table lead, those that lead to columns."""
    keys: dict[int, list[tuple[str, str, str]]] = {}
    for number, _, name, own, other, *_ in database.execute(f"PRAGMA foreign_key_list({_quoted(table.name)})"):
        keys.setdefault(number, []).append((str(name), str(own), str(other or "")))
    references: dict[str, tuple[str, str]] = {}
    for _, pairs in sorted(keys.items(), reverse=True):
        target = tables.get(pairs[0][0].casefold())
        own = _spelled([own for _, own, _ in pairs], table)
        if target is not None and own is not None:
            others = [other for *_, other in pairs]
            key = _spelled(others, target) if any(others) else target.id
            references |= {own: (target.name, key)} if key is not None else {}
    return references


def _spelled(names: Sequence[str], table: StoredTable) -> str | None:
    """Return columns as the table spells them, joined; None if one is not there."""
    spelling = {column.casefold(): column for column in table.columns}
    found = [spelling.get(name.casefold()) for name in names]
    return None if None in found else JOIN.join(filter(None, found))


@dataclass(frozen=True, slots=True)
class SqliteTable:
    """Reads one table; a row's line is its number, from 1. What is stored as bytes is left out."""

    table: StoredTable

    def columns(self, path: Path) -> tuple[str, ...]:
        """Return the columns."""
        return self.table.columns

    def batches(self, path: Path, *, rows: int, drop: Drop, header: bool) -> Iterator[Batch]:
        """Read the table in batches. Raises `BadInput` if it is damaged, or comes to too much for its file."""
        with _opened(path) as database:
            yield from batched(self._rows(path, database, drop), self.table.columns, rows, drop)

    def _rows(
        self, path: Path, database: sqlite3.Connection, drop: Drop
    ) -> Iterator[tuple[int, list[Any]]]:  # Any: what SQLite holds
        """Yield the rows, each after its number."""
        called, size, unpacked = f"{path}#{self.table.name}", path.stat().st_size, 0
        chosen = ", ".join(map(_quoted, self.table.columns))
        cursor = database.execute(f"SELECT {chosen} FROM {_quoted(self.table.name)} NOT INDEXED")
        for number, row in enumerate(cursor, 1):
            weight = sum(WIDTH + (len(cell) if isinstance(cell, str | bytes) else 0) for cell in row)
            if weight > MOST_RECORD:
                raise too_long(called, f"row {number:,}", "row")
            unpacked += weight
            check_ratio(called, size, unpacked, remedy="export the table as CSV, if that is what it should hold")
            for name, cell in zip(self.table.columns, row, strict=True):
                if isinstance(cell, bytes):
                    drop("bytes", number, name)
            yield number, [None if isinstance(cell, bytes) else cell for cell in row]


@contextmanager
def _opened(path: Path) -> Iterator[sqlite3.Connection]:
    """Open a database so that nothing in it runs and no file is written. Raises `BadInput`."""
    require(path)
    for ending in UNWRITTEN:
        beside = path.with_name(path.name + ending)
        if beside.is_file() and beside.stat().st_size:
            raise BadInput(
                f"{path} has changes in {beside.name} that are not in it yet: close the program that has it open, or "
                f"run `sqlite3 {path.name} .tables` once, which writes them"
            )
    try:
        with memory_told(path):
            database = sqlite3.connect(f"file:{quote(str(path.resolve()))}?mode=ro&immutable=1", uri=True)
            try:
                _confine(database)
                yield database
            finally:
                database.close()
    except sqlite3.Error as error:
        raise BadInput(f"{path} is no whole SQLite database ({shown(error)}); fetch the file again") from error


def _confine(database: sqlite3.Connection) -> None:
    """Bound what a statement may take, and refuse everything but reading."""
    for pragma in ("trusted_schema = OFF", "query_only = ON", "cell_size_check = ON", "mmap_size = 0"):
        database.execute(f"PRAGMA {pragma}")
    limits = {
        sqlite3.SQLITE_LIMIT_LENGTH: MOST_RECORD,
        sqlite3.SQLITE_LIMIT_SQL_LENGTH: LONGEST_STATEMENT,
        sqlite3.SQLITE_LIMIT_ATTACHED: 0,
        sqlite3.SQLITE_LIMIT_EXPR_DEPTH: 100,
        sqlite3.SQLITE_LIMIT_TRIGGER_DEPTH: 1,
        sqlite3.SQLITE_LIMIT_WORKER_THREADS: 0,
    }
    for limit, most in limits.items():
        database.setlimit(limit, most)
    # Bytes that are no UTF-8 come as lone surrogates, for the row to be dropped.
    database.text_factory = lambda text: text.decode("utf-8", "surrogateescape")
    database.set_authorizer(_authorize)


def _authorize(action: int, first: str | None, second: str | None, schema: str | None, inner: str | None) -> int:
    """Allow reading of stored columns, and the two statements that list what is declared."""
    if inner is None and (action in READING or (action == sqlite3.SQLITE_PRAGMA and first in PRAGMAS)):
        return sqlite3.SQLITE_OK
    return sqlite3.SQLITE_DENY


def _quoted(name: str) -> str:
    """Return a name as SQL writes it."""
    return '"' + name.replace('"', '""') + '"'
