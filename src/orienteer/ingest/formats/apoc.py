"""The CSV that APOC, Neo4j's library of procedures, exports: nodes, then relationships, in one table.

Its header is `_id,_labels,PROPERTY...,_start,_end,_type,PROPERTY...`: a row is a node, or a relationship. What
`apoc.export.csv` writes with `bulkImport` is neo4j-admin's; `node_link` reads APOC's JSON.
"""

from __future__ import annotations

import csv
from collections.abc import Iterator, Sequence
from typing import Any

from orienteer.errors import BadInput
from orienteer.ingest.bounds import MOST_RECORD, parsed
from orienteer.ingest.formats.delimited import named
from orienteer.ingest.formats.element_maker import LABELS, labelled
from orienteer.ingest.formats.elements import EdgeElement, GraphReader, NodeElement
from orienteer.ingest.formats.files import READ, measured, opened_text
from orienteer.ingest.formats.table import is_unicode
from orienteer.ingest.report import BAD_ENCODING
from orienteer.ingest.tables.values import number

FIRST = ("_id", "_labels")
"""What the header of a CSV begins with."""
ENDS = ("_start", "_end", "_type")
"""What parts the properties of nodes from those of relationships."""


def is_csv(head: str) -> bool:
    """Return whether a file is such a CSV, by its beginning."""
    names = [name.strip('"\r\n ') for name in head.split("\n", 1)[0].split(",")]
    return tuple(names[:2]) == FIRST and all(name in names for name in ENDS)


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
                for names in (header[:parting], header[parting:]):
                    named(names, self.path)
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
        node, edge = (
            dict(zip(header[part], row[part], strict=False)) for part in (slice(parting), slice(parting, None))
        )
        source, target, kind = (edge.pop(name, "") for name in ENDS)
        is_edge = bool(source or target or kind)
        cells = (edge if is_edge else node).items()
        fields = {name: _value(cell) for name, cell in cells if cell and name not in FIRST}
        if is_edge:
            self.add_edge(EdgeElement(source, target, kind, True, fields, self.place))
        elif row:
            labels = [label for label in node.get("_labels", "").split(":") if label]
            self.add_node(node["_id"], labelled(fields, labels), self.place)


def _value(cell: str) -> Any:  # Any: JSON
    """Return what a cell spells: a list, a number, else its text."""
    if cell[0] in "[{":
        try:
            return parsed(cell)
        except ValueError:
            return cell
    return number(cell)
