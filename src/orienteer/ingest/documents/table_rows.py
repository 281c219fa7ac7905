"""The tables that stand in documents, planned as all tables are, so that a question can be answered from their rows.

Segments of a table are put together again, tables of one header become one, and the plan of a folder of tables tells
what each column holds. A row's id is its place, so that nothing is merged and each answer leads to its document.
"""

from __future__ import annotations

import csv
import re
import tempfile
from collections import Counter, defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import NamedTuple

import numpy as np

from orienteer.elements import Node
from orienteer.errors import BadInput
from orienteer.graph.pieces import publish_piece
from orienteer.graph.pieces.tables import PIECE, RowPlace, id_of, write_rows
from orienteer.graph.reserved import CELLS, CONTENTS, SEPARATOR, TABLE
from orienteer.graph.store import Graph
from orienteer.ingest.formats.records import RowRecord
from orienteer.ingest.formats.shape import LOOKED_AT, TOTAL, TOTAL_WORD, RowSieve, TableShape, shape_of
from orienteer.ingest.importer import ImportOptions, import_graph
from orienteer.ingest.report import MEANING
from orienteer.ingest.tables.spec import TableSpec
from orienteer.ingest.tables.type_names import header_words, node_type_of, words_of
from orienteer.text.tokenizer import plural

LEAST_ROWS, LEAST_NAMED = 5, 2
"""Of a table, and of one whose first column says what its rows are: fewer are a form or a layout, and are read as a
passage."""
LEAST_COLUMNS = 3
"""Of a table whose first column says what its rows are: a form has two, and its first line is one of its fields."""
MOST_ROWS = 200_000
"""Of all tables of one header. More are a table to be imported, not documents."""
_PLACE = "place of the row"
_NAME = re.compile(r"(?!column_\d+$).*?[^\W\d_]")
_NUMBER = re.compile(r"\W{0,3}\d[\d.,:/ -]*\W?(?:[^\W\d]{0,3})$")
"""A number, a date or a time, with a sign or a unit."""
_NO_WORD = re.compile(r"[\W\d_]+")
_IN_NAME = re.compile(r"[/\\\\\0]+")
_LONGEST_NAME = 80
_SUMMARY = re.compile(
    TOTAL_WORD[:-1] + r"|averages?|mean|median|durchschnitt|mittelwert|moyenne|promedio|gemiddelde)\s*:?", re.IGNORECASE
)
"""What a row is called that adds up those above it."""
_REPEATED = "a table whose rows all stand in another one too"
_MOST_ALIKE = 1_000
"""Tables that a table is compared with."""


def publish_rows(target: Path) -> list[str]:
    """Publish the rows of a graph's tables as a piece of it; return notes on rows that are left out.

    The piece is empty if no table can be asked. A missing piece then means that the build ended before this step.
    Raises `GraphBusy`.
    """
    graph = Graph.open(target)
    if TABLE not in graph.arrays.types.nodes:
        return []
    tables = [table for table in tables_of(graph) if table.is_askable]
    left_out, notes = Counter[str](), list[str]()

    def write(work: Path) -> None:
        # Within the graph, where the next writer removes what a killed one left: it is people's text.
        with tempfile.TemporaryDirectory(dir=work) as scratch:
            folder, made = Path(scratch, "tables"), Path(scratch, "graph")
            folder.mkdir()
            specs = tuple(table.written(folder) for table in tables)
            try:
                report = import_graph([folder], made, options=ImportOptions(nodes=specs))
            except BadInput as error:
                notes.append(f"tables are read as passages alone: {error}")
                return
            write_rows(made, work)
        left_out.update({cut.reason: cut.count for cut in report.dropped})

    publish_piece(target, PIECE, write if tables else lambda work: None)
    for table in tables if not notes else ():
        left_out += table.left_out
    return notes + [
        f"rows of tables in documents: left out {count:,}: {MEANING.get(reason, reason)}"
        for reason, count in left_out.items()
    ]


@dataclass(slots=True)
class DocumentTable:
    """All rows under one header, of one document or of several."""

    header: tuple[str, ...]
    segments: list[Node] = field(default_factory=list)
    left_out: Counter[str] = field(default_factory=Counter)
    """The number of rows left out, by reason; complete after `written`."""

    @property
    def place(self) -> str:
        """The column of the places of its rows, which none of its own is called."""
        return _PLACE + "_" * sum(name.rstrip("_") == _PLACE for name in self.header)

    @property
    def is_askable(self) -> bool:
        """Whether a question can compare or count its rows: columns named in words, one of numbers or repeats.

        A table of options with their meanings has neither: a quoted row answers a question about it.
        """
        rows = sum(map(_count, self.segments))
        is_named = all(map(_NAME.match, self.header)) and len(set(self.header)) == len(self.header)
        if not is_named or len(self.header) < 2 or not LEAST_NAMED <= rows <= MOST_ROWS:
            return False
        if rows < LEAST_ROWS and not self.is_named:
            return False
        for cells in zip(*(line.split(CELLS) for node in self.segments for line in _lines(node)), strict=False):
            filled = [cell for cell in cells if cell.strip()]
            numbers = sum(_NUMBER.match(cell) is not None for cell in filled)
            if filled and (2 * numbers > len(filled) or 2 * len(set(filled)) <= len(filled)):
                return True
        return False

    @property
    def is_named(self) -> bool:
        """Whether its first column tells the rows apart, and its header is one word for what they are: `Boat`."""
        words = words_of(self.header[0])
        if (
            len(self.header) < LEAST_COLUMNS
            or len(words) != 1
            or words[0] in header_words("names") | header_words("keys")
        ):
            return False
        first = [line.split(CELLS)[0].strip() for node in self.segments for line in _lines(node)]
        return len(set(first)) == len(first) and all(first) and not any(map(_NUMBER.match, first))

    @property
    def name(self) -> str:
        """The name of its rows: of their first column, or the caption, heading or title that all its segments share."""
        if self.is_named:
            return self.header[0][:_LONGEST_NAME]
        titles = [node.name.split(SEPARATOR) for node in self.segments]
        lines = [_above(node) for node in self.segments]
        for words in (lines, [title[-1] for title in titles], [title[0] for title in titles]):
            plain = {_NO_WORD.sub(" ", text).strip() for text in words}
            if len(plain) == 1 and (name := plain.pop()):
                return name[:_LONGEST_NAME]
        return self.header[0]

    def written(self, folder: Path) -> TableSpec:
        """Write it as a CSV file into a folder; return the roles of its columns. Tables of one name have one type."""
        whole = self.name
        name = _IN_NAME.sub(" ", whole).strip(" .") or "rows"
        path, number = folder / f"{name}.csv", 1
        while path.exists():
            number += 1
            path = folder / f"{name} {number}.csv"
        with path.open("w", encoding="utf-8", newline="") as file:
            columns = dict.fromkeys([self.place, *self.header, *_WHERE])
            writer = csv.DictWriter(file, list(columns), restval="", quoting=csv.QUOTE_ALL)
            writer.writeheader()
            writer.writerows(self.rows())
        kind = node_type_of(whole)
        kind = plural(kind) if kind in columns else kind  # else it would name the column
        return TableSpec(path=path, columns={"id": self.place, "type": kind})

    def rows(self) -> Iterator[Mapping[str, str]]:
        """Yield its rows by column, each with its place; if its documents or headings differ, with these as well."""
        titles = {node.id: node.name.split(SEPARATOR) for node in self.segments}
        own = {name.casefold() for name in self.header}
        differ = [
            column
            for column, where in _WHERE.items()
            if column not in own and len({where(title) for title in titles.values()}) > 1
        ]
        for row in self._once():
            title = titles[row.place.segment]
            yield {
                self.place: id_of(row.place),
                **dict(zip(self.header, row.cells, strict=True)),
                **{column: _WHERE[column](title) for column in differ},
            }

    def _once(self) -> Iterator[_Row]:
        """Yield the rows of its tables. A table contributes none if another one has all its rows."""
        parts = defaultdict[tuple[str, object], list[Node]](list)
        for node in self.segments:
            parts[str(node.properties.get("document", node.id)), node.properties.get("table")].append(node)
        self.left_out.clear()
        tables = [list(self._sifted(nodes)) for nodes in parts.values()]
        lines = [Counter(row.cells for row in rows) for rows in tables]
        by_line = defaultdict[tuple[str, ...], list[int]](list)
        for at, counts in enumerate(lines):
            for cells in counts:
                by_line[cells].append(at)
        for at, counts in enumerate(lines):
            rarest = min(counts, key=lambda cells: len(by_line[cells]), default=())
            if any(
                counts <= lines[other] and (counts < lines[other] or other < at)
                for other in by_line[rarest][:_MOST_ALIKE]
                if other != at
            ):
                self.left_out[_REPEATED] += counts.total()
            else:
                yield from tables[at]

    def _sifted(self, nodes: Sequence[Node]) -> Iterator[_Row]:
        """Yield the rows of one table: none of totals, no header again, none with other cells than the header."""
        places = [RowPlace(node.id, number) for node in nodes for number in range(_count(node))]
        rows = [line.split(CELLS) for node in nodes for line in _lines(node)]
        last = next((at for at in range(len(rows), 0, -1) if not _is_summary(rows[at - 1])), 0)
        records = [RowRecord(line, cells) for line, cells in enumerate(rows[:last], 2)]
        shape = shape_of([RowRecord(1, list(self.header)), *records[:LOOKED_AT]])
        numeric = frozenset() if shape is None else shape.numeric
        self.left_out += Counter({TOTAL: len(rows) - last})
        sieve = RowSieve(Path(), TableShape(1, self.header, numeric), self._drop, self.header)
        for record in sieve.rows(records):
            yield _Row(places[record.line - 2], tuple(record.cells))

    def _drop(self, reason: str, line: int, text: str) -> None:
        self.left_out[reason] += 1


class _Row(NamedTuple):
    place: RowPlace
    cells: tuple[str, ...]


def _is_summary(cells: Sequence[str]) -> bool:
    """Return whether a row at a table's end tells of those above it: `Total | 7 boats | 127.5 m`, merged or not."""
    filled = [cell.strip() for cell in cells if cell.strip()]
    return bool(filled) and _SUMMARY.fullmatch(filled[0]) is not None and any(map(_NUMBER.match, filled))


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


def _lines(node: Node) -> Sequence[str]:
    """Return the lines of a segment's rows."""
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
