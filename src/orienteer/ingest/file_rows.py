"""The rows of files that a node was imported from, as they stand there.

They are found by the mappings that the graph keeps: by the node's id, or by the values that it is made of. A file is
read only while it is as it was at the import, and no further than to the last row that is shown.
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
from orienteer.ingest.provenance import TableStamp, is_chunk_graph, listed, stamp_unread
from orienteer.ingest.tables.cells import texts_of
from orienteer.ingest.tables.kinds import tables_of
from orienteer.ingest.tables.mapping import IGNORED, FileMapping
from orienteer.ingest.tables.mapping_file import table_by
from orienteer.ingest.tables.plan import Table
from orienteer.ingest.tables.values import cell_text, opened, parts_of
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
    mappings = [] if is_chunk_graph(manifest) else listed(manifest, "mapping", FileMapping)
    stamps = listed(manifest, "sources", TableStamp)
    private = manifest.provenance.get("options", {}).get("private", ())
    found: list[FileRow] = []
    notes: list[str] = []
    for is_own in (True, False):
        for mapping in mappings if not found else ():
            if namings := _namings(mapping, node, is_own=is_own):
                try:
                    table = _table(mapping, stamps).joining(mapping.columns)
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
    separator: str = ""

    def places(self, batch: Batch) -> list[int]:
        """Return the rows of a batch that name it."""
        cells = batch.lines if self.column is None else batch.columns.get(self.column, ())
        texts = enumerate(texts_of(cells))
        return [
            row
            for row, text in texts
            if self.value in text and (self.value == text or self.value in parts_of(cells[row], self.separator))
        ]


def _namings(mapping: FileMapping, node: Node, *, is_own: bool) -> list[_Naming]:
    """Return how the rows of a table may name a node: by its own id, or as an end of an edge."""
    if mapping.kind == IGNORED or not mapping.columns or (is_own and mapping.is_of_edges):
        return []
    value = node.id.removeprefix(f"{node.type}:")
    if is_own:
        is_prefixed = mapping.id_column is None or mapping.id_column in mapping.having("prefixed id")
        named = _Naming(mapping.id_column, value if is_prefixed else node.id)
        return [named] if mapping.type in (None, "", node.type) else []
    ends = [_Naming(column, node.id) for column in mapping.having("source", "target")]
    links = mapping.links.items()
    made = [(column, link) for column, link in links if not link.key and link.node_type == node.type]
    return [*ends, *(_Naming(column, value, link.separator) for column, link in made)]


def _table(mapping: FileMapping, stamps: Sequence[TableStamp]) -> Table:
    """Return the table of a mapping. Raises `BadInput` if its file is not as it was."""
    # The path is relative to where the import ran, and `PATH#TABLE` for one of several in a file.
    names = {name for name in (mapping.file, mapping.file.rpartition("#")[0]) if name}
    endings = tuple("/" + Path(name).as_posix().lstrip("./") for name in names)
    fitting = [stamp for stamp in stamps if Path(stamp.path).as_posix().endswith(endings)]
    stamp = min(fitting, key=lambda stamp: len(stamp.path), default=None)
    if stamp is None or not Path(stamp.path).is_file():
        raise BadInput(f"{Path(mapping.file).name} is gone, so that its rows cannot be shown")
    if stamp_unread(Path(stamp.path)) != stamp:
        changed = f"{Path(mapping.file).name} has changed since it was read, so that its rows cannot be shown"
        raise BadInput(f"{changed}: import it again")
    called = mapping.file.rpartition("#")[2]
    tables = tables_of([Path(stamp.path)])[0]
    table = next((table for table in tables if table.called == called), tables[0])
    return table_by(table, mapping)


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
