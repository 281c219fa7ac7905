"""What APOC, Neo4j's library of procedures, exports: one CSV of nodes and relationships, or JSON.

    CSV    `_id,_labels,PROPERTY...,_start,_end,_type,PROPERTY...`: a row is a node, or a relationship
    JSON   a line, or a member of a list, is {"type": "node", "id", "labels", "properties"} or
           {"type": "relationship", "label", "start": {"id"}, "end": {"id"}, "properties"}

The first label of a node is its type, the others its property `labels`. Ids are those of the database, which every
export gives anew. What `apoc.export.csv` writes with `bulkImport` is neo4j-admin's.
"""

from __future__ import annotations

import csv
import json
import re
from collections.abc import Iterator, Mapping, Sequence
from itertools import zip_longest
from typing import Any

from orienteer.errors import BadInput
from orienteer.ingest.bounds import MOST_RECORD, parsed
from orienteer.ingest.formats.delimited import named
from orienteer.ingest.formats.elements import EdgeElement, Fields, GraphReader, NodeElement
from orienteer.ingest.formats.files import READ, measured, opened_text, tell_nan, whole_json
from orienteer.ingest.formats.jsonl import parse
from orienteer.ingest.formats.table import is_unicode, shown
from orienteer.ingest.portable import PROPERTY
from orienteer.ingest.report import BAD_ENCODING
from orienteer.ingest.tables.values import identifier, number

LABELS = "labels"
FIRST = ("_id", "_labels")
"""What the header of a CSV begins with."""
ENDS = ("_start", "_end", "_type")
"""What parts the properties of nodes from those of relationships."""
MEMBERS: Mapping[str, frozenset[str]] = {
    "node": frozenset({"type", "id", "labels", "properties"}),
    "relationship": frozenset({"type", "id", "label", "start", "end", "properties"}),
}
"""What a member of the JSON says, by what it is. A row of other people's has further columns."""
MEMBER = re.compile(r'\s*+(?:\[\s*+)?\{[^{}]*"type"\s*:\s*"(?:node|relationship)"')


def is_csv(head: str) -> bool:
    """Return whether a file is such a CSV, by its beginning."""
    names = [name.strip('"\r\n ') for name in head.split("\n", 1)[0].split(",")]
    return tuple(names[:2]) == FIRST and all(name in names for name in ENDS)


def is_json(head: str) -> bool:
    """Return whether a file is such JSON, by its beginning: a member says what it is before or after it says more."""
    first = head.split("\n", 1)[0].strip().removeprefix("[").rstrip(",]")
    try:
        member = parsed(first)
    except ValueError:
        return bool(MEMBER.match(head))
    keys = MEMBERS.get(str(member.get("type"))) if isinstance(member, dict) else None
    return keys is not None and member.keys() <= keys


class ApocCsv(GraphReader):
    """Reads the rows of one CSV. A value is a number where it spells one, a list where it is one in JSON."""

    def elements(self) -> Iterator[NodeElement | EdgeElement]:
        """Read the file. Raises `BadInput` for a row with more fields than the header."""
        self.node_type, self.types_edges = LABELS, True
        csv.field_size_limit(MOST_RECORD)
        with opened_text(self.path) as text:
            measured(text).allow(MOST_RECORD + READ)
            rows = csv.reader(text, strict=True)
            try:
                header = next(rows)
                parting = header.index(ENDS[0])
                named([name for place, name in enumerate(header) if place < parting], self.path)
                named(header[parting:], self.path)
                self.edge_names = dict.fromkeys(header[parting + len(ENDS) :])
                for row in rows:
                    measured(text).allow(MOST_RECORD + READ)
                    self.place = rows.line_num
                    self._take(row, header, parting)
                    yield from self.taken()
            except csv.Error as error:
                raise BadInput(f"{self.path}, line {rows.line_num}: {error}; is the file cut short?") from error

    def _take(self, row: Sequence[str], header: Sequence[str], parting: int) -> None:
        if len(row) > len(header):
            raise BadInput(
                f"{self.path}, line {self.place}: {len(row)} fields where {len(header)} are expected; "
                "is a comma not quoted?"
            )
        if not is_unicode("".join(row)):
            self.drop(BAD_ENCODING, ",".join(row))
            return
        cells = [*zip_longest(header, row, fillvalue="")]  # what a row lacks at its end is empty
        node, ends, rest = cells[:parting], dict(cells[parting : parting + 3]), cells[parting + 3 :]
        if any(ends.values()):
            fields = {name: _value(cell) for name, cell in rest if cell}
            edge = EdgeElement(ends["_start"], ends["_end"], ends["_type"], True, fields, self.place)
            self.add_edge(edge)
        elif row:
            fields = {name: _value(cell) for name, cell in node if cell and name not in FIRST}
            labels = [label for label in dict(node)["_labels"].split(":") if label]
            self.add_node(dict(node)["_id"], labelled(fields, labels), self.place)


class ApocJson(GraphReader):
    """Reads nodes and relationships, a line each, or all of them in one list."""

    def elements(self) -> Iterator[NodeElement | EdgeElement]:
        """Read the file. Raises `BadInput` for a line that is neither."""
        self.node_type, self.types_edges = LABELS, True
        with opened_text(self.path) as text:
            if text.read(1) == "[":
                members: Iterator[tuple[int, Any]] = enumerate(whole_json(self.path, self._drop), 1)  # Any: JSON
                for self.place, member in members:
                    yield from self._of(member)
                return
        with opened_text(self.path) as text:
            for self.place, line in enumerate(text, 1):
                if not is_unicode(line):
                    self.drop(BAD_ENCODING, line)
                elif line.strip():
                    yield from self._of(parse(line, self.path, self.place))
                    tell_nan(line, self.place, self._drop)

    def _of(self, member: Any) -> list[NodeElement | EdgeElement]:  # Any: JSON
        if not is_unicode(json.dumps(member, ensure_ascii=False)):
            self.drop(BAD_ENCODING, member)
        else:
            take(self, member)
        return self.taken()


def take(reader: GraphReader, member: Any) -> None:  # Any: JSON
    """Have a reader hand out what a member of APOC's JSON is. Raises `BadInput` for neither node nor relationship."""
    kind = member.get("type") if isinstance(member, dict) else None
    properties = (member.get("properties") if kind else None) or {}
    if kind not in ("node", "relationship") or not isinstance(properties, dict):
        raise BadInput(f"{reader.path}, line {reader.line}: {shown(member)} is no node and no relationship of APOC's")
    if kind == "node":
        labels = member.get("labels") or []
        labels = [*map(str, labels)] if isinstance(labels, list) else [str(labels)]
        reader.add_node(identifier(member.get("id")), labelled(properties, labels), reader.line)
        return
    source, target = (
        identifier(end.get("id") if isinstance(end, Mapping) else end) for end in map(member.get, ("start", "end"))
    )
    reader.edge_names |= dict.fromkeys(properties)
    kind = member.get("label")
    reader.add_edge(
        EdgeElement(source, target, kind if isinstance(kind, str) else "", True, dict(properties), reader.line)
    )


def labelled(properties: Fields, labels: Sequence[str]) -> Fields:
    """Return the fields of a node: its properties and its labels, beside which a property of that name has another."""
    fields = {PROPERTY + name if name == LABELS else name: value for name, value in properties.items()}
    return fields | ({LABELS: [*labels]} if labels else {})


def _value(cell: str) -> Any:  # Any: JSON
    """Return what a cell spells: a list, a number, else its text."""
    if cell[0] in "[{":
        try:
            return parsed(cell)
        except ValueError:
            return cell
    return number(cell)
