"""The mapping of a file: what its rows are, and the role of each column.

A role is text, which a person can read and change: docs/guides/tables.md lists all of them. A column `row+seat` is made
of two, with a blank between their values. Several columns of a role are written best first.
"""

from __future__ import annotations

import itertools
import re
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass
from typing import Literal, TypeAlias, cast

from orienteer.errors import BadInput
from orienteer.ingest.tables.forms import Dates, Form, Numbers
from orienteer.ingest.tables.type_names import words_of
from orienteer.ingest.tables.values import parts_of
from orienteer.records import JsonValue, Record

Kind: TypeAlias = Literal["nodes", "edges", "both", "ignored"]
"""What the rows of a file become; `both` are nodes that have edges, or edges whose rows describe their ends."""
PLAIN = (
    *("id", "prefixed id", "name", "name part", "text", "aliases", "type", "weight", "label", "source", "target"),
    *("about source", "about target"),
)
"""Roles without an object; a column of none of them is a property."""
End: TypeAlias = Literal["", "source", "target", "same"]
PROPERTY, IGNORED = "property", "ignored"
CODE = "code"

_SEPARATORS = r"\||;|,|/|json"
"""The separators of the values of a cell; `json` is a list as JSON or Python writes it."""
_LINK = re.compile(
    r"(?:(?P<end>source|target|same)|edge (?P<type>.+?) ->) (?P<new>new )?(?P<node_type>.+?)"
    rf"(?: split (?P<separator>{_SEPARATORS}))?"
)
_FORMED = re.compile(
    r"(?P<comma>comma )?number(?: (?P<unit>\S+))?|date (?P<order>iso|d/m/y|m/d/y|y/m/d|yyyymmdd|in words)"
    rf"|list (?P<sign>{_SEPARATORS})"
)
"""Roles of columns whose values have a form of their own."""


class FileMapping(Record):
    """How a file, or a table of a database, is read."""

    file: str
    """Its path as it was given; `PATH#TABLE` for a table of a database."""
    kind: Kind
    type: str | None = None
    """The type of its nodes or edges where no column has it."""
    columns: Mapping[str, str] = {}
    """Roles by column, as the head of this module has them."""
    why: str = ""
    questions: tuple[str, ...] = ()
    """What neither values nor names settle, each with the answer that was taken."""
    text_from: tuple[str, ...] = ()
    """The columns whose values are the text of its nodes, a line each; empty for the columns of the role `text`."""
    undirected: bool = False
    """The edges of this type have no direction."""
    encoding: str = ""
    """The encoding of a text whose bytes do not show it."""

    @property
    def what(self) -> str:
        """Return what its rows become, for people."""
        if self.kind == IGNORED:
            return IGNORED
        both = "edges that describe their nodes" if self.is_of_edges else "nodes with edges"
        what = self.kind if self.kind != "both" else both if self.columns else "nodes and edges"
        return f"{what}{f' of type {self.type}' if self.type else ''}{', undirected' if self.undirected else ''}"

    def reads_as(self, other: FileMapping) -> bool:
        """Return whether another mapping makes the same of a table; its path, and what led to it, do not count."""
        roles = set(self.columns.values()) - {PROPERTY}
        is_ordered_alike = all(self.having(role) == other.having(role) for role in roles)
        return self.rows == other.rows and self.columns == other.columns and is_ordered_alike

    @property
    def rows(self) -> tuple[bool, bool, str | None, bool, tuple[str, ...]]:
        """Return the decision about its rows: whether ignored, whether edges, type, whether undirected, text."""
        return self.kind == IGNORED, self.is_of_edges, self.type, self.undirected, self.text_from

    def with_columns(self, columns: Mapping[str, str]) -> FileMapping:
        """Return it with other roles of its columns."""
        changed = self.model_copy(update={"columns": columns})
        has_edges = any(link.edge_type for link in changed.links.values())
        return changed if self.is_of_edges else changed.model_copy(update={"kind": "both" if has_edges else "nodes"})

    @property
    def is_of_edges(self) -> bool:
        """Return whether each row is an edge, and not a node."""
        return any(re.match("(source|target)\\b", role) for role in self.columns.values())

    @property
    def same(self) -> tuple[str, ColumnLink] | None:
        """Return the column whose values name the rows of another table that these rows extend."""
        return next(((column, link) for column, link in self.links.items() if link.end == "same"), None)

    @property
    def id_column(self) -> str | None:
        """Return the column of the ids of its nodes."""
        return next(iter(self.having("id", "prefixed id")), None)

    def having(self, *roles: str) -> list[str]:
        """Return the columns of these plain roles, best first."""
        return [column for column, role in self.columns.items() if role in roles]

    @property
    def formed(self) -> dict[str, FormedColumn]:
        """Return the columns whose values are written in a form of their own."""
        roles = self.columns.items()
        return {name: formed for name, role in roles if (formed := formed_column(name, role, self.columns)) is not None}

    @property
    def links(self) -> dict[str, ColumnLink]:
        """Return the columns whose values name other nodes."""
        return {name: link for name, role in self.columns.items() if (link := link_of(role)) is not None}


@dataclass(frozen=True, slots=True)
class ColumnLink:
    """A column whose values name other nodes: ends of edges, the same node, or targets of an `edge_type`."""

    node_type: str
    """The table's type for a key, else the type of the nodes that are made."""
    key: str = ""
    """The column of the other table that has the value; empty where nodes are made of the values."""
    edge_type: str = ""
    end: End = ""
    separator: str = ""

    def __str__(self) -> str:
        to = f"{self.node_type}.{self.key}" if self.key else f"new {self.node_type}"
        split = f" split {self.separator}" if self.separator else ""
        return f"{self.end or f'edge {self.edge_type} ->'} {to}{split}"


@dataclass(frozen=True, slots=True)
class FormedColumn:
    """A column whose values are written in a form of its own, and how they are kept."""

    column: str
    form: Form | None = None
    separator: str = ""
    columns: Collection[str] = ()
    """The table's columns, of which it takes no name away."""

    @property
    def name(self) -> str:
        """Return the property that keeps the values: a column's name, with the unit of its numbers."""
        unit = self.form.unit_word if isinstance(self.form, Numbers) else ""
        return self.column if not unit or words_of(self.column)[-1:] == (unit,) else f"{self.column}_{unit}"

    @property
    def rest(self) -> str:
        """Return the property that keeps texts of another form, so that the other holds numbers or dates alone."""
        names = (f"{self.column}_text{number or ''}" for number in itertools.count())
        return self.column if self.form is None else next(name for name in names if name not in self.columns)

    def kept(self, cell: JsonValue) -> Mapping[str, JsonValue]:
        """Return the property that a cell is kept as, and its value; a text of another form stays as it is.

        Signs (`---`) among numbers or dates say nothing.
        """
        if not isinstance(cell, str):
            is_number = isinstance(cell, int | float) and not isinstance(cell, bool) and isinstance(self.form, Numbers)
            return {(self.name if is_number else self.rest): cell}
        if self.separator:
            return {self.name: list(parts_of(cell, self.separator))}
        value = self.form.read(cell) if self.form is not None else cell
        if value is not None:
            return {self.name: value}
        return {self.rest: cell} if any(map(str.isalnum, cell)) else {}


def formed_column(column: str, role: str, columns: Collection[str] = ()) -> FormedColumn | None:
    """Return how the values of a column are kept that are written in a form of their own; None for another role."""
    if role == CODE:
        return FormedColumn(column)
    parts = _FORMED.fullmatch(role)
    if parts is None:
        return None
    if parts["sign"]:
        return FormedColumn(column, separator=parts["sign"])
    numbers = Numbers("," if parts["comma"] else ".", parts["unit"] or "")
    return FormedColumn(column, Dates(parts["order"]) if parts["order"] else numbers, columns=columns)


def role_of_form(form: Form) -> str:
    """Return the role of a column of numbers or dates."""
    if isinstance(form, Dates):
        return f"date {form.order}"
    return f"{'comma ' if form.decimal == ',' else ''}number {form.unit_word}".strip()


def link_of(role: str) -> ColumnLink | None:
    """Return the link that a role is, None for a plain role. Raises `BadInput` for text that is no role."""
    if role in (*PLAIN, PROPERTY, IGNORED) or formed_column("", role) is not None:
        return None
    parts = _LINK.fullmatch(role)
    node_type, dot, key = parts["node_type"].partition(".") if parts is not None else ("", "", "")
    if parts is None or bool(parts["new"]) == bool(dot):
        raise BadInput(
            f"{role!r} is no role of a column: write one of {', '.join((*PLAIN, PROPERTY, IGNORED, CODE))}, "
            "'number UNIT', 'comma number UNIT', 'date d/m/y', 'list |', "
            "'edge TYPE -> TABLE.COLUMN', 'edge TYPE -> new TYPE', 'source TABLE.COLUMN' or 'target TABLE.COLUMN'"
        )
    end = cast(End, parts["end"] or "")  # the pattern allows no other
    return ColumnLink(node_type, key, parts["type"] or "", end, parts["separator"] or "")


def rendered(mappings: Iterable[FileMapping]) -> list[str]:
    """Return mappings as lines for people: two a file."""
    lines = []
    for mapping in mappings:
        if mapping.kind == "ignored":
            lines.append(f"{mapping.file}: ignored ({mapping.why})")
            continue
        roles = [f"{column} = {role}" for column, role in mapping.columns.items() if role != PROPERTY]
        properties = mapping.having(PROPERTY)
        roles += [f"properties: {', '.join(properties)}"] if properties else []
        roles += [f"text from: {', '.join(mapping.text_from)}"] if mapping.text_from else []
        lines.append(f"{mapping.file}: {mapping.what}")
        lines += [f"    {'; '.join(roles)}"] if roles else []
        lines += [f"    why: {mapping.why}"] if mapping.why else []
        lines += [f"    question: {question}" for question in mapping.questions]
    return lines
