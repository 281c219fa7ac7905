"""The mapping of a file: what kind of thing it holds, and the role of each of its columns.

A role is written as text, so that a person can read and change it:

    id                          the row's id
    prefixed id                 the row's id with its type before it, `beer:1`: another table has the same ids
    name, text, aliases, type, weight, label
    name part                   the name is made of several columns: first and last name
    about source, about target  a column about an end: where no table has nodes, it describes the node there
    source, target              an end of an edge, as an id
    source style.code           an end of an edge: a value of the column `code` of the table of styles
    target new user             an end of an edge: a node of this type is made of each value
    edge has_style -> style.code
                                each row has an edge to the row of styles whose `code` is the value
    edge country -> new country each row has an edge to a node that is made of the value
    same title.tconst           the row says more of the row of titles whose `tconst` is the value: no node of its own
    number kg                   numbers with their unit, `5400 kg`: kept as the property COLUMN_kg, 5400
    property, ignored           kept with the node or edge; left out

`split |` at the end of a role says what parts the values of a cell. Several columns of a role are written best first.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Literal, TypeAlias, cast

from orienteer.errors import BadInput
from orienteer.ingest.tables.type_names import words_of
from orienteer.records import Record
from orienteer.text.units import UNITS

Kind: TypeAlias = Literal["nodes", "edges", "both", "ignored"]
"""What the rows of a file become; `both` are nodes that have edges, or edges whose rows describe their ends."""
PLAIN = (
    *("id", "prefixed id", "name", "name part", "text", "aliases", "type", "weight", "label", "source", "target"),
    *("about source", "about target"),
)

"""Roles without an object; a column of none of them is a property."""
End: TypeAlias = Literal["", "source", "target", "same"]
PROPERTY, IGNORED = "property", "ignored"
NUMBER = "number "
"""Before a unit, the role of a column of numbers that are written with it."""
SEPARATORS = ("|", ";", ",", "json")
"""What parts the values of a cell; `json` is a list as JSON or Python writes it."""

_LINK = re.compile(
    r"(?:(?P<end>source|target|same)|edge (?P<type>.+?) ->) (?P<new>new )?(?P<node_type>.+?)"
    r"(?: split (?P<separator>\||;|,|json))?"
)


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
    undirected: bool = False
    """The edges of this type have no direction."""
    encoding: str = ""
    """The encoding of a text whose bytes do not show it."""

    @property
    def is_of_edges(self) -> bool:
        """Return whether each row is an edge, and not a node."""
        return any(re.match("(source|target)\\b", role) for role in self.columns.values())

    @property
    def same(self) -> tuple[str, ColumnLink] | None:
        """Return the column whose values name the rows of another table that these rows say more of."""
        return next(((column, link) for column, link in self.links.items() if link.end == "same"), None)

    def having(self, *roles: str) -> list[str]:
        """Return the columns of these plain roles, best first."""
        return [column for column, role in self.columns.items() if role in roles]

    @property
    def links(self) -> dict[str, ColumnLink]:
        """Return the columns whose values name other nodes."""
        links = {column: link_of(role) for column, role in self.columns.items()}
        return {column: link for column, link in links.items() if link is not None}


@dataclass(frozen=True, slots=True)
class ColumnLink:
    """A column whose values name other nodes: an end of an edge, the same node, or where an `edge_type` leads."""

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


def unit_of(role: str) -> str | None:
    """Return the unit of a column of numbers with their unit, None for another role."""
    unit = role.removeprefix(NUMBER)
    return unit if unit != role and unit in UNITS else None


def measured_property(column: str, unit: str) -> str:
    """Return the property that keeps a column's numbers: its name with the unit, where it does not end so."""
    return column if words_of(column)[-1:] == (unit,) else f"{column}_{unit}"


def link_of(role: str) -> ColumnLink | None:
    """Return the link that a role is, None for a plain role. Raises `BadInput` for text that is no role."""
    if role in (*PLAIN, PROPERTY, IGNORED) or unit_of(role) is not None:
        return None
    parts = _LINK.fullmatch(role)
    node_type, dot, key = parts["node_type"].partition(".") if parts is not None else ("", "", "")
    if parts is None or bool(parts["new"]) == bool(dot):
        raise BadInput(
            f"{role!r} is no role of a column: write one of {', '.join((*PLAIN, PROPERTY, IGNORED))}, "
            "'number UNIT', "
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
        both = "edges that describe their nodes" if mapping.is_of_edges else "nodes with edges"
        kind = both if mapping.kind == "both" and mapping.columns else mapping.kind
        what = {"both": "nodes and edges"}.get(kind, kind)
        of_type = f" of type {mapping.type}" if mapping.type else ""
        lines.append(f"{mapping.file}: {what}{of_type}{', undirected' if mapping.undirected else ''}")
        lines += [f"    {'; '.join(roles)}"] if roles else []
        lines += [f"    why: {mapping.why}"] if mapping.why else []
    return lines
