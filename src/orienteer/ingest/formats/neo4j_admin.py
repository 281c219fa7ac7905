"""CSV files as `neo4j-admin database import` takes them (Neo4j operations manual, import).

A header is a file's first row, or a file of its own: `persons-header.csv` is that of `persons.csv` and of
`persons-part1.csv`, `persons_2.csv`, ... Ids of an id space become `SPACE:ID`, for they are unique inside of it only;
others stay as they are. The first label of a node is its type, the others are its property `labels`. Where labels or
types are missing, which neo4j-admin then takes from its command line, columns tell them as in any table.
"""

from __future__ import annotations

import csv
import re
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import chain
from pathlib import Path
from typing import Any

import numpy as np

from orienteer.errors import BadInput
from orienteer.graph.builder import GraphBuilder
from orienteer.graph.edges import CodedColumn
from orienteer.ingest.formats.delimited import DelimitedText
from orienteer.ingest.formats.element_maker import (
    LABELS,
    OURS,
    SOURCE,
    TARGET,
    TYPE,
    edge_maker,
    is_id,
    refuse_ids,
    with_role,
)
from orienteer.ingest.formats.elements import BOOLEANS, NUMBERS, ElementSource, TypedValues
from orienteer.ingest.formats.files import opened_text, stem, suffix
from orienteer.ingest.formats.records import FieldDialect
from orienteer.ingest.formats.sniffer import DELIMITERS
from orienteer.ingest.formats.table import EDGE_ROWS, NODE_ROWS, Batch
from orienteer.ingest.report import Tally
from orienteer.ingest.tables import mirror
from orienteer.ingest.tables.cells import prefixed
from orienteer.ingest.tables.columns import Columns, check_named
from orienteer.ingest.tables.labels import Labels
from orienteer.ingest.tables.nodes import NodeMaker, add_made, explode
from orienteer.ingest.tables.plan import listing

ROLES = frozenset({"ID", "LABEL", "START_ID", "END_ID", "TYPE", "IGNORE"})
MOMENTS = frozenset({"date", "time", "localtime", "datetime", "localdatetime", "duration"})
KINDS = NUMBERS | BOOLEANS | MOMENTS | {"char", "string", "point"}
FIELD = re.compile(
    r"(?P<name>.*?)(?::(?P<kind>\w+)(?:\((?P<space>[^)]*)\))?(?P<array>\[\])?)?(?:(?<!\s)\s+)?(?:\{[^{}]*\})?",
    re.DOTALL,
)
TELLING = re.compile(r":(?:ID|START_ID|END_ID)(?=\(|\{|\s*$)")
"""What a first row has only in such a file."""
SEPARATORS = ",;\t|"
"""What may part the fields; neo4j-admin is told, here the header says it."""
LONGEST_HEADER = 1 << 20
"""Characters."""
HEADER_WORD = re.compile(r"[-_. ]?headers?$|(?<![^-_. ])headers?[-_. ]", re.IGNORECASE)
"""What says in the stem of a file that it is a header alone."""
PART = re.compile(r"[-_. \d]*(?:(?:part|data|chunk|shard)[-_. \d]*)?", re.IGNORECASE)
"""What may follow the name of a table in the name of one of its parts."""
NODE = "@id"
ENDS = {"ID": NODE, "START_ID": SOURCE, "END_ID": TARGET, "TYPE": TYPE}
"""What the columns of these roles are called here."""


@dataclass(frozen=True, slots=True)
class Column:
    """One column. `role` is empty for a property."""

    name: str
    role: str = ""
    kind: str = "string"
    """The type of a property, in lower case."""
    is_array: bool = False
    space: str = ""
    """The id space that an id is of; empty for the one that all share."""

    @property
    def is_property(self) -> bool:
        """Return whether its values are properties; ids with a name of their own are, too."""
        return not self.role or (self.role == "ID" and bool(self.name) and bool(self.space or not is_id(self.name)))


@dataclass(frozen=True, slots=True)
class Header:
    """The columns of a file of nodes or of relationships."""

    columns: tuple[Column, ...]

    def has(self, *roles: str) -> bool:
        """Return whether a column has one of these roles."""
        return any(column.role in roles for column in self.columns)


def is_header(fields: Sequence[str]) -> bool:
    """Return whether a first row is such a header."""
    return any(TELLING.search(field) for field in fields)


def header_of(fields: Sequence[str], path: Path) -> Header:
    """Return the header of some fields. Raises `BadInput` that names what it lacks or has twice."""
    header = Header(tuple(map(_column, fields)))
    shown = ", ".join(fields)
    for role in ("START_ID", "END_ID") if header.has("START_ID", "END_ID") else ("ID",):
        count = sum(column.role == role for column in header.columns)
        if count != 1:
            raise BadInput(f"{path} has {count} columns :{role}, where one is expected: {shown}")
    if any(not column.name for column in header.columns if not column.role):
        raise BadInput(f"{path} has a column without a name: {shown}")
    names = [column.name for column in header.columns if column.name and column.role in ("", "ID")]
    names += [LABELS] if header.has("LABEL") else []
    twice = min((name for name, count in Counter(names).items() if count > 1), default=None)
    if twice is not None:
        raise BadInput(f"{path} has two columns named {twice!r}: rename one of them")
    return header


def _column(field: str) -> Column:
    field = field.strip()
    parts = FIELD.fullmatch(field)
    if parts is None or parts["kind"] is None:
        return Column(field)
    kind, name = parts["kind"], parts["name"].strip()
    if kind.upper() in ROLES:
        return Column(name, kind.upper(), space=(parts["space"] or "").strip())
    if kind.lower() not in KINDS:
        return Column(field)  # a name with a colon of its own
    return Column(name, "", kind.lower(), parts["array"] is not None)


@dataclass(frozen=True, slots=True)
class TablePart:
    """One file of rows."""

    path: Path
    header: Header
    dialect: FieldDialect
    has_header: bool

    def batches(self, rows: int, tally: Tally) -> Iterator[Batch]:
        """Read the rows, with values of their types. Raises `BadInput` if they do not fit the header."""
        is_first, drop, typed = self.has_header, tally.dropping(str(self.path)), TypedValues()
        for batch in DelimitedText(self.dialect).batches(self.path, rows=rows, drop=drop, header=False):
            if len(batch.columns) != len(self.header.columns):
                raise BadInput(
                    f"{self.path}, line {batch.lines[0]}: {len(batch.columns)} fields where the header names "
                    f"{len(self.header.columns)}; is it the header of another file?"
                )
            yield self._typed(batch.without({0}) if is_first else batch, typed)
            is_first = False
        typed.tell(tally, self.path)

    def _typed(self, batch: Batch, typed: TypedValues) -> Batch:
        """Return the columns under the names that they have here; all labels of a row are one value."""
        separator = ";" if self.dialect.delimiter != ";" else "|"
        columns: dict[str, Sequence[Any]] = {}  # Any: JSON
        labels = []
        for column, values in zip(self.header.columns, batch.columns.values(), strict=True):
            if column.role == "LABEL":
                labels.append(values)
            elif column.role in ENDS:
                columns[ENDS[column.role]] = prefixed(values, f"{column.space}:") if column.space else values
            if column.is_array:
                several = [_members(text, separator) for text in values]
                lines = zip(several, batch.lines, strict=True)
                columns[column.name] = [
                    typed.values(members, column.kind, name=column.name, lines=[line] * len(members))
                    for members, line in lines
                ]
            elif column.is_property:
                columns[column.name] = typed.values(values, column.kind, name=column.name, lines=batch.lines)
        codes: dict[tuple[str, ...], int] = {}
        rows = [codes.setdefault(texts, len(codes)) for texts in zip(*labels, strict=True)]
        of_rows: list[Any] = [[label for text in texts for label in _members(text, separator)] for texts in codes]
        return Batch(columns | ({LABELS: CodedColumn(of_rows, np.array(rows))} if any(of_rows) else {}), batch.lines)


def _members(text: str, separator: str) -> list[str]:
    return [member for part in text.split(separator) if (member := part.strip())]


@dataclass(frozen=True, slots=True)
class Database:
    """Files of nodes and of relationships that belong together."""

    parts: tuple[TablePart, ...]
    headers: tuple[Path, ...]
    """Files that are headers alone."""
    columns: Columns
    tally: Tally

    @property
    def files(self) -> tuple[Path, ...]:
        """Return all files."""
        return (*(part.path for part in self.parts), *self.headers)

    def read(self, builder: GraphBuilder) -> Labels:
        """Read nodes, then relationships. Raises `BadInput`, and `BadOption` for a role that headers fill."""
        refuse_ids(self.columns, self.files[0])
        nodes = NodeMaker(with_role(self.columns, "node_type", LABELS), tally=self.tally)
        seen: set[str] = set()
        nodes.only_counts = builder.only_counts
        for part in self.parts:
            for batch in part.batches(NODE_ROWS, self.tally) if not part.header.has("START_ID") else ():
                for made in nodes.of_batch(batch, id_column=NODE, file=str(part.path)):
                    add_made(builder, made, self.tally, file=str(part.path))
        for part in self.parts:
            if part.header.has("START_ID"):
                source = ElementSource(part.path, (column.name for column in part.header.columns if not column.role))
                source.types_edges = part.header.has("TYPE")
                maker, _ = edge_maker(source, self.columns, self.tally)
                for batch in part.batches(EDGE_ROWS, self.tally):
                    builder.add_edges(maker.of_batch(batch))
                seen |= maker.seen
        explode([nodes], self.columns, builder)
        check_named(self.columns, (nodes.seen | seen) - OURS)
        mirror.clean(builder.edges, self.tally)
        return Labels()


def recognize(sources: Sequence[Path], columns: Columns, tally: Tally) -> Database | None:
    """Return the files as one database where one of them has such a header, else None.

    Raises `BadInput` for a header without rows of its own, and for a named file that is no part of the database.
    """
    files = [path for source in sources for path in listing(source) if suffix(path) in DELIMITERS]
    parts = {path: part for path in files if (part := _part(path))}
    if not parts:
        return None
    headers = {name: part for path, part in parts.items() if (name := _named(path)) and _is_alone(path)}
    rows: dict[str, list[TablePart]] = {name: [] for name in headers}
    for path in files:
        starts = [name for name in headers if path not in parts and stem(path).startswith(name)]
        fitting = [name for name in starts if PART.fullmatch(stem(path).removeprefix(name))]
        if fitting:
            name = max(fitting, key=len)
            rows[name].append(replace(headers[name], path=path, has_header=False))
    missing = next((name for name, some in rows.items() if not some), None)
    if missing is not None:
        path = headers[missing].path
        raise BadInput(f"{path} is a header, but its rows are nowhere: {missing}.csv or {missing}-part1.csv, say")
    headed = tuple(part.path for part in headers.values())
    every = [*(part for path, part in parts.items() if path not in headed), *chain.from_iterable(rows.values())]
    strange = {path for path in sources if not path.is_dir()} - {part.path for part in every} - set(headed)
    if strange:
        raise BadInput(f"{min(strange)} has no header of neo4j-admin, as others here have, and no file is its header")
    return Database(tuple(every), headed, columns, tally)


def _part(path: Path) -> TablePart | None:
    """Return a file that begins with a header, None for any other, also for one that cannot be read."""
    try:
        with opened_text(path) as text:
            first = text.readline(LONGEST_HEADER).rstrip("\r\n")
    except BadInput:
        return None  # whoever reads it as a table says so
    fields, separator = max(
        ((_split(first, separator), separator) for separator in SEPARATORS), key=lambda pair: len(pair[0])
    )
    return TablePart(path, header_of(fields, path), FieldDialect(separator, True), True) if is_header(fields) else None


def _split(line: str, separator: str) -> list[str]:
    try:
        return next(csv.reader([line], delimiter=separator), [])
    except csv.Error:
        return []


def _named(path: Path) -> str:
    """Return the name of the table that a file is the header of, empty if its name does not say that it is one."""
    name, count = HEADER_WORD.subn("", stem(path), count=1)
    return name if count else ""


def _is_alone(path: Path) -> bool:
    """Return whether a file has no line after the first."""
    with opened_text(path) as text:
        text.readline()
        return not text.readline().strip()
