"""The rows of files that a node was imported from, as they are in their files.

They are found by the mappings that the graph keeps: by the node's id, by the values that it is made of, or by the key
by which rows of another table say more of its own. A file is read only while it is as it was at the import: to the
first row that is too many, or to its end.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from itertools import islice
from pathlib import Path
from typing import Any, NamedTuple

from orienteer.display import cut
from orienteer.errors import BadInput, without_paths
from orienteer.graph.format import is_pulled
from orienteer.graph.store import Graph
from orienteer.ingest.formats.table import Batch
from orienteer.ingest.provenance import (
    MAPPED,
    TableStamp,
    is_chunk_graph,
    listed,
    private_columns,
    table_stamp,
)
from orienteer.ingest.tables.cells import texts_of
from orienteer.ingest.tables.kinds import tables_of
from orienteer.ingest.tables.mapping import IGNORED, ColumnLink, FileMapping
from orienteer.ingest.tables.mapping_file import table_by
from orienteer.ingest.tables.nodes import DEFAULT_TYPE
from orienteer.ingest.tables.plan import Table, unreadable
from orienteer.ingest.tables.values import cell_text, identifier, opened, parts_of, plain
from orienteer.patience import check_patience
from orienteer.records import FileRow, FileRows, Node

MOST = 10
"""Rows of a node: millions may name it."""
_MOST_CELLS, _LONGEST_CELL = 200, 1_000  # of a row, and characters


def file_rows(graph: Graph, node_id: str) -> FileRows:
    """Return the first rows of a node, or else those that name it; notes say why there are none, or where more are.

    Columns that the import left out stay out. Raises `UnknownNode`, `NotAGraph`.
    """
    manifest, node = graph.arrays.manifest, graph.node(node_id)
    if is_pulled(graph.path):
        return FileRows(notes=("the files of this graph are on the machine that made it",))
    stamps = [] if is_chunk_graph(manifest) else listed(manifest, "sources", TableStamp)
    mappings = listed(manifest, "mapping", FileMapping) if stamps else []
    paths = listed(manifest, MAPPED, str)
    if len(paths) != len(mappings):
        paths = [""] * len(mappings)  # an earlier version made the graph
    # Rows that extend others come after these.
    pairs = sorted(zip(mappings, paths, strict=True), key=lambda pair: pair[0].same is not None)
    tables = [_File(mapping, path, stamps) for mapping, path in pairs]
    private = private_columns(manifest)
    found: list[_Found] = []
    notes: list[str] = []
    for is_own in (True, False):
        for file in tables if not found else ():
            try:
                if namings := _own(file, node, tables, found) if is_own else _others(file.mapping, node):
                    found += islice(file.rows(namings), MOST + 1 - len(found))
            except BadInput as why:
                notes.append(without_paths(str(why), [Path(stamp.path) for stamp in stamps]))
    if len(found) > MOST:
        notes.append(f"these are the first {MOST}")
    elif not found and not notes:
        notes.append("no row of a table was read as this node")
    return FileRows(rows=tuple(each.shown(private) for each in found[:MOST]), notes=tuple(dict.fromkeys(notes)))


class _Naming(NamedTuple):
    """A column whose cells may name a node, None for the numbers of the rows, and how they do."""

    column: str | None
    value: str
    separator: str | None = None
    """Between the values of a cell; None where the whole cell, as it is written, is an id."""

    def places(self, batch: Batch) -> list[int]:
        """Return the rows of a batch that name it."""
        cells = batch.lines if self.column is None else batch.columns.get(self.column, ())
        if self.separator is None:
            return [row for row, text in enumerate(texts_of(cells)) if text == self.value]
        return [row for row, cell in enumerate(cells) if self._is_in(cell, self.separator)]

    def _is_in(self, cell: Any, separator: str) -> bool:  # Any: whatever a file format can hold
        # Most cells of a large file are told at once; lists and JSON may have a value in other letters.
        is_surely_not = isinstance(cell, str) and separator != "json" and self.value not in cell
        return not is_surely_not and self.value in parts_of(plain(cell), separator)


class _File(NamedTuple):
    """A table as it was read."""

    mapping: FileMapping
    path: str
    """Its file; empty where an earlier version made the graph."""
    stamps: Sequence[TableStamp]

    def rows(self, namings: Sequence[_Naming]) -> Iterator[_Found]:
        """Yield the rows that name a node. Raises `BadInput` if the file is not as it was."""
        table = _table(self.mapping, _stamp(self.mapping, self.path, self.stamps)).joining(self.mapping.columns)
        for batch in table.batches():
            check_patience()
            for row in sorted({row for naming in namings for row in naming.places(batch)}):
                yield _Found(self.mapping, batch, row, table.joined)


class _Found(NamedTuple):
    """A row of a batch of a table."""

    mapping: FileMapping
    batch: Batch
    row: int
    joined: Sequence[str]
    """Columns that are made of several."""

    @property
    def place(self) -> tuple[str, int]:
        return self.mapping.file, self.batch.lines[self.row]

    def value(self, column: str) -> str:
        """Return a cell as a key has it."""
        return identifier(self.batch.columns[column][self.row]).strip() if column in self.batch.columns else ""

    def shown(self, private: Collection[str]) -> FileRow:
        """Return the row without the columns that nobody may see, or that the import left out."""
        hidden = {*self.joined, *self.mapping.having(IGNORED), *private}
        cells = {name: cells[self.row] for name, cells in self.batch.columns.items() if name not in hidden}
        texts = {
            name: cut(cell_text(cell), _LONGEST_CELL)
            for name, cell in cells.items()
            # What is within an object may be private, too.
            if cell is not None and not (private and _is_nested(cell))
        }
        file, line = self.place
        return FileRow(file=file, line=line, cells=dict(islice(texts.items(), _MOST_CELLS)))


def _own(file: _File, node: Node, tables: Sequence[_File], found: Sequence[_Found]) -> list[_Naming]:
    """Return how the rows of a table may be a node, or say more of its rows that have been found."""
    mapping = file.mapping
    if mapping.kind == IGNORED or not mapping.columns or mapping.is_of_edges:
        return []
    if mapping.same is None:
        value = _own_id(mapping, node)
        return [] if value is None else [_Naming(mapping.id_column, value)]
    column, link = mapping.same
    said = [each for each in found if (each.mapping.type or "") == link.node_type and link.key in each.mapping.columns]
    values = dict.fromkeys(filter(None, (each.value(link.key) for each in said)))
    places = {each.place for each in found}
    return [_Naming(column, value, "") for value in values if _first_place(link, value, tables) in places]


def _first_place(link: ColumnLink, value: str, tables: Sequence[_File]) -> tuple[str, int] | None:
    """Return where the row is that is extended by a value of a key: of several rows that have it, the first."""
    extended = [each for each in tables if (each.mapping.type or "") == link.node_type and each.mapping.same is None]
    for file in extended:
        if link.key in file.mapping.columns and not file.mapping.is_of_edges:
            key = file.mapping.id_column
            for row in file.rows([_Naming(link.key, value, "")]):
                if key is None or row.value(key):  # no other is a node
                    return row.place
    return None


def _own_id(mapping: FileMapping, node: Node) -> str | None:
    """Return what a row of a table has to have as its id, or as its number, to be a node; None if no row can be."""
    # Cells may say other types than the table does, and objects in them where the table says none.
    is_told = mapping.type not in (None, "", DEFAULT_TYPE) and not mapping.having("type")
    if is_told and mapping.type != node.type:
        return None
    if mapping.id_column is not None and mapping.id_column not in mapping.having("prefixed id"):
        return node.id
    return _after(f"{mapping.type or DEFAULT_TYPE}:", node)


def _others(mapping: FileMapping, node: Node) -> list[_Naming]:
    """Return how the rows of a table may name a node that is none of them: as an end of an edge."""
    if mapping.kind == IGNORED:
        return []
    ends = [_Naming(column, node.id) for column in mapping.having("source", "target")]
    made = [(column, link) for column, link in mapping.links.items() if not link.key and link.end != "same"]
    values = [(column, _after(f"{link.node_type}:", node), link.separator) for column, link in made]
    return [*ends, *(_Naming(column, value, separator) for column, value, separator in values if value is not None)]


def _after(prefix: str, node: Node) -> str | None:
    return node.id.removeprefix(prefix) if node.id.startswith(prefix) else None


def _stamp(mapping: FileMapping, path: str, stamps: Sequence[TableStamp]) -> TableStamp:
    """Return the stamp of the file of a mapping; `path` is its own, or empty. Raises `BadInput` if it is not known."""
    # Without its own path a mapping has that from where the import ran, and `PATH#TABLE` for one of several in a file.
    names = {Path(name) for name in (mapping.file, mapping.file.rpartition("#")[0]) if name}
    parts = ([part for part in name.parts if part not in ("..", name.anchor)] for name in names)
    endings = tuple("/" + "/".join(each) for each in parts)
    fitting = [each for each in stamps if (each.path == path if path else _posix(each).endswith(endings))]
    if len(fitting) != 1:
        name = Path(mapping.file).name
        raise BadInput(f"it is not known which file {name} was, so that its rows cannot be shown: import it again")
    return fitting[0]


def _posix(stamp: TableStamp) -> str:
    return Path(stamp.path).as_posix()


def _table(mapping: FileMapping, stamp: TableStamp) -> Table:
    """Return the table of a mapping in its file. Raises `BadInput` if that is not as it was."""
    name, path = Path(mapping.file).name, Path(stamp.path)
    with unreadable(path):
        if not path.is_file():
            raise BadInput(f"{name} is gone, so that its rows cannot be shown")
        if table_stamp(path) != stamp:
            raise BadInput(f"{name} has changed since it was read, so that its rows cannot be shown: import it again")
        tables = tables_of([path])[0]
    called = [table for table in tables if table.called and mapping.file.endswith(f"#{table.called}")]
    return table_by(max(called, key=lambda table: len(table.called), default=tables[0]), mapping)


def _is_nested(cell: Any) -> bool:  # Any: whatever a file format can hold
    return isinstance(cell, list | tuple) or opened(cell) is not None
