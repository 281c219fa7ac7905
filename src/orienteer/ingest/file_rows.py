"""The rows of files that a node was imported from, as they are in their files.

They are found by the mappings that the graph keeps: by the node's id, or by the values that it is made of. A file is
read only while it is as it was at the import: to the first row that is too many, or to its end.
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
from orienteer.ingest.tables.mapping import IGNORED, FileMapping
from orienteer.ingest.tables.mapping_file import table_by
from orienteer.ingest.tables.nodes import DEFAULT_TYPE
from orienteer.ingest.tables.plan import Table, unreadable
from orienteer.ingest.tables.values import cell_text, opened, parts_of, plain
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
    private = private_columns(manifest)
    found: list[FileRow] = []
    notes: list[str] = []
    for is_own in (True, False):
        for mapping, path in pairs if not found else ():
            if namings := _own(mapping, node, mappings, found) if is_own else _others(mapping, node):
                try:
                    table = _table(mapping, _stamp(mapping, path, stamps)).joining(mapping.columns)
                    found += islice(_rows(table, mapping, namings, private), MOST + 1 - len(found))
                except BadInput as why:
                    notes.append(without_paths(str(why), [Path(stamp.path) for stamp in stamps]))
    if len(found) > MOST:
        notes.append(f"these are the first {MOST}")
    elif not found and not notes:
        notes.append("no row of a table was read as this node")
    return FileRows(rows=tuple(found[:MOST]), notes=tuple(dict.fromkeys(notes)))


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


def _own(mapping: FileMapping, node: Node, mappings: Sequence[FileMapping], found: Sequence[FileRow]) -> list[_Naming]:
    """Return how the rows of a table may be a node, or extend its own, which have been found."""
    if mapping.kind == IGNORED or not mapping.columns or mapping.is_of_edges:
        return []
    if mapping.same is None:
        value = _own_id(mapping, node)
        return [] if value is None else [_Naming(mapping.id_column, value)]
    column, link = mapping.same
    extended = [each for each in mappings if each.type == link.node_type and link.key in each.columns]
    extended = [each for each in extended if each.same is None and not each.is_of_edges]
    # The value of another key, or of the key of several tables, is not surely known.
    if [each.id_column for each in extended] != [link.key] or all(row.file != extended[0].file for row in found):
        return []
    value = _own_id(extended[0], node)
    return [] if value is None else [_Naming(column, value.strip(), "")]


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


def _rows(
    table: Table, mapping: FileMapping, namings: Sequence[_Naming], private: Collection[str]
) -> Iterator[FileRow]:
    hidden = {*table.joined, *mapping.having(IGNORED), *private}
    for batch in table.batches():
        check_patience()
        for row in sorted({row for naming in namings for row in naming.places(batch)}):
            cells = {
                name: cut(cell_text(cells[row]), _LONGEST_CELL)
                for name, cells in batch.columns.items()
                # What is within an object may be private, too.
                if name not in hidden and cells[row] is not None and not (private and _is_nested(cells[row]))
            }
            yield FileRow(file=mapping.file, line=batch.lines[row], cells=dict(islice(cells.items(), _MOST_CELLS)))


def _is_nested(cell: Any) -> bool:  # Any: whatever a file format can hold
    return isinstance(cell, list | tuple) or opened(cell) is not None
