"""The header of a file for `neo4j-admin database import`: what each column holds, and which are ids, labels, ends.

Neo4j operations manual, import, CSV header format: `name:type`, `:ID(space)`, `:LABEL`, `:START_ID(space)`,
`:END_ID(space)`, `:TYPE`, `:IGNORE`; options in braces (`id:ID(Movie){id-type: int}`, `at:point{crs: WGS-84}`).
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from orienteer.errors import BadInput
from orienteer.ingest.formats.typed import BOOLEANS, NUMBERS

ROLES = frozenset({"ID", "LABEL", "START_ID", "END_ID", "TYPE", "IGNORE"})
MOMENTS = frozenset({"date", "time", "localtime", "datetime", "localdatetime", "duration"})
LABELS = "labels"
"""The property of all labels but the first."""
KINDS = NUMBERS | BOOLEANS | MOMENTS | {"char", "string", "point"}
FIELD = re.compile(
    r"(?P<name>.*?)(?::(?P<kind>\w+)(?:\((?P<space>[^)]*)\))?(?P<array>\[\])?)?\s*(?:\{[^}]*\})?", re.DOTALL
)
TELLING = re.compile(r":(?:ID|START_ID|END_ID)(?=\(|\{|\s*$)")
"""What a first row has only in such a file."""


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


@dataclass(frozen=True, slots=True)
class Header:
    """The columns of a file of nodes or of relationships."""

    columns: tuple[Column, ...]

    @property
    def holds_edges(self) -> bool:
        """Say whether these are relationships."""
        return self.has("START_ID") or self.has("END_ID")

    def has(self, role: str) -> bool:
        """Say whether a column has this role."""
        return any(column.role == role for column in self.columns)


def is_header(fields: Sequence[str]) -> bool:
    """Say whether a first row is such a header."""
    return any(TELLING.search(field) for field in fields)


def header_of(fields: Sequence[str], path: Path) -> Header:
    """Return what the fields of a header say. Raises `BadInput` naming what it lacks or has twice."""
    header = Header(tuple(map(_column, fields)))
    shown = ", ".join(fields)
    for role in ("START_ID", "END_ID") if header.holds_edges else ("ID",):
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
