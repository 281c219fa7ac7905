"""The tables that stand in documents, planned as tables are everywhere: their rows are asked exactly.

Segments of a table are put together again, tables of one header become one, and the plan of a folder of tables tells
what each column holds. A row's id is its place, so that nothing is merged and each answer leads to its document.
"""

from __future__ import annotations

import csv
import re
import tempfile
from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np

from orienteer.elements import Node
from orienteer.errors import BadInput
from orienteer.graph.pieces import publish_piece
from orienteer.graph.pieces.tables import PIECE, RowPlace, id_of, write_rows
from orienteer.graph.reserved import CELLS, CONTENTS, SEPARATOR, TABLE
from orienteer.graph.store import Graph
from orienteer.ingest.importer import ImportOptions, import_graph
from orienteer.ingest.tables.spec import TableSpec

LEAST_ROWS = 5
"""Of a table: fewer are a form or a layout, and are read as a passage."""
MOST_ROWS = 200_000
"""Of all tables of one header. More are a table to be imported, not documents."""
_PLACE = "place of the row"
_NAME = re.compile(r"(?!column_\d+$).*?[^\W\d_]")
_NUMBER = re.compile(r"\W{0,3}\d[\d.,:/ -]*\W?(?:[^\W\d]{0,3})$")
"""A number, a date or a time, with a sign or a unit."""
_NO_WORD = re.compile(r"[\W\d_]+")
_IN_NAME = re.compile(r"[/\\\\\0]+")
_LONGEST_NAME = 80


def publish_rows(target: Path) -> list[str]:
    """Publish the rows of a graph's tables beside it, where it has any; return what is to be said of them.

    Raises `GraphBusy`.
    """
    graph = Graph.open(target)
    tables = [table for table in tables_of(graph) if table.is_told]
    if not tables:
        return []
    with tempfile.TemporaryDirectory(prefix="orienteer-") as scratch:
        folder, made = Path(scratch, "tables"), Path(scratch, "graph")
        folder.mkdir()
        files = [table.written(folder) for table in tables]
        specs = tuple(TableSpec(path=file, columns={"id": _PLACE}) for file in files)
        try:
            report = import_graph([folder], made, options=ImportOptions(nodes=specs))
        except BadInput as error:
            return [f"tables are read as passages alone: {error}"]
        publish_piece(target, PIECE, lambda work: write_rows(made, work))
    return [f"rows of tables in documents: left out {cut.count:,} {cut.reason}" for cut in report.dropped]


@dataclass(slots=True)
class DocumentTable:
    """All rows under one header, of one document or of several."""

    header: tuple[str, ...]
    segments: list[Node] = field(default_factory=list)

    @property
    def is_told(self) -> bool:
        """Whether its rows can be compared or counted: columns named in words, one of numbers or repeats.

        Of others, as options with their meanings, a row is all that can be asked, and is quoted.
        """
        rows = sum(map(_count, self.segments))
        is_named = all(map(_NAME.match, self.header)) and len(set(self.header)) == len(self.header)
        if not is_named or len(self.header) < 2 or not LEAST_ROWS <= rows <= MOST_ROWS:
            return False
        for cells in zip(*(line.split(CELLS) for node in self.segments for line in _lines(node)), strict=False):
            filled = [cell for cell in cells if cell.strip()]
            numbers = sum(_NUMBER.match(cell) is not None for cell in filled)
            if filled and (2 * numbers > len(filled) or 2 * len(set(filled)) <= len(filled)):
                return True
        return False

    @property
    def name(self) -> str:
        """What its rows are called: what all its places have in common, a caption, a heading, a title."""
        titles = [node.name.split(SEPARATOR) for node in self.segments]
        lines = [_above(node) for node in self.segments]
        for words in (lines, [title[-1] for title in titles], [title[0] for title in titles]):
            plain = {_NO_WORD.sub(" ", text).strip() for text in words}
            if len(plain) == 1 and (name := plain.pop()):
                return name[:_LONGEST_NAME]
        return self.header[0]

    def written(self, folder: Path) -> Path:
        """Write it into a folder as a table of texts, whose values tell what they are; return the path."""
        name = _IN_NAME.sub(" ", self.name).strip(" .") or "rows"
        path, number = folder / f"{name}.csv", 1
        while path.exists():
            number += 1
            path = folder / f"{name} {number}.csv"
        with path.open("w", encoding="utf-8", newline="") as file:
            writer = csv.DictWriter(file, [_PLACE, *self.header, *_WHERE], restval="", quoting=csv.QUOTE_ALL)
            writer.writeheader()
            writer.writerows(self.rows())
        return path

    def rows(self) -> Iterator[Mapping[str, str]]:
        """Yield its rows by column, each with its place, and with its document and heading where these differ."""
        titles = {node.id: node.name.split(SEPARATOR) for node in self.segments}
        differ = {
            column: len({where(title) for title in titles.values()}) > 1
            for column, where in _WHERE.items()
            if column not in self.header
        }
        for node in _once(self.segments):
            beside = {column: _WHERE[column](titles[node.id]) for column, is_told in differ.items() if is_told}
            for number, line in enumerate(_lines(node)):
                cells = line.split(CELLS)
                if len(cells) == len(self.header):
                    row = dict(zip(self.header, cells, strict=True))
                    yield {_PLACE: id_of(RowPlace(node.id, number)), **row, **beside}


_WHERE: Mapping[str, Callable[[list[str]], str]] = {
    "document": lambda title: title[0],
    "heading": lambda title: SEPARATOR.join(title[1:]),
}


def tables_of(graph: Graph) -> Sequence[DocumentTable]:
    """Return the tables of a graph of documents, by their headers, in the order of their documents."""
    tables = defaultdict[tuple[str, ...], list[Node]](list)
    mask = graph.arrays.mask([TABLE]) if TABLE in graph.arrays.types.nodes else None
    rows = [] if mask is None else np.flatnonzero(mask).tolist()
    segments = [graph.node(graph.arrays.ids[row]) for row in rows]
    for node in sorted(segments, key=_order):
        header = node.properties.get("header")
        if isinstance(header, list) and not node.properties.get(CONTENTS):
            tables[tuple(map(str, header))].append(node)
    return [DocumentTable(header, nodes) for header, nodes in tables.items()]


def _once(segments: Sequence[Node]) -> Iterator[Node]:
    """Yield the segments of tables, of tables with the same rows in several documents those of the first."""
    tables = defaultdict[tuple[str, object], list[Node]](list)
    for node in segments:
        tables[str(node.properties.get("document", node.id)), node.properties.get("table")].append(node)
    seen = set[tuple[str, ...]]()
    for parts in tables.values():
        lines = tuple(line for node in parts for line in _lines(node))
        if lines not in seen:
            seen.add(lines)
            yield from parts


def _lines(node: Node) -> Sequence[str]:
    """Return the rows of a segment as they are written."""
    return node.text.split("\n")[-_count(node) :]


def _order(node: Node) -> tuple[str, int]:
    order = node.properties.get("order")
    return str(node.properties.get("document", node.id)), order if isinstance(order, int) else 0


def _count(node: Node) -> int:
    rows = node.properties.get("rows")
    return rows if isinstance(rows, int) else 0


def _above(node: Node) -> str:
    """Return the caption of a table."""
    lines = node.text.split("\n")[: -_count(node) or None]
    return lines[0] if len(lines) > 1 else ""
