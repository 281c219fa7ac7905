"""Reads our own exports exactly: a folder of JSON lines or flat tables, or one GraphML file.

Nothing is guessed, nothing cleaned, parallel edges stay.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from orienteer.errors import BadInput
from orienteer.graph.builder import GraphBuilder
from orienteer.graph.edges import EdgeBatch, EdgeTable
from orienteer.ingest.bounds import parsed
from orienteer.ingest.formats.elements import EdgeElement, ElementGraph, Fields, NodeElement
from orienteer.ingest.formats.files import require, stem
from orienteer.ingest.formats.jsonl import JsonLines
from orienteer.ingest.formats.table import EDGE_ROWS, NODE_ROWS, Batch, Reader, refusing
from orienteer.ingest.tables.labels import Labels
from orienteer.records import JsonValue, Node

KIND = "orienteer-dump"
VERSION = 1
META, NODES, EDGES = "meta.json", "nodes.jsonl", "edges.jsonl"
TABLES = "tables"
"""The key of the metadata for flat tables instead of JSON lines: their format, their columns' kinds."""
FORMS = ("csv", "parquet")
"""The formats of flat tables."""
PROPERTY = "property."
"""The prefix of a property with the name of a field."""
JSON = "JSON"
"""The description of a key with JSON values; a text that is not JSON is a text."""
FLAT_NODE_FIELDS, FLAT_EDGE_FIELDS = (
    ("id", "type", "name", "text", "aliases"),
    ("source", "type", "target", "text", "weight"),
)
"""The first columns of every table of nodes, and of edges; a property with such a name is renamed."""
TEXT, WHOLE, NUMBER, MIXED, TRUTH, TEXTS = "text", "whole", "number", "mixed", "truth", "texts"
"""Kinds of columns: non-empty texts; integers; floats; integers and floats with a fraction; booleans; lists of
non-empty texts."""
_AGAIN = "export the graph again"


@dataclass(frozen=True, slots=True)
class Dump:
    """An export folder."""

    folder: Path
    meta: dict[str, Any]  # Any: JSON

    @property
    def files(self) -> tuple[Path, ...]:
        """Return its three files."""
        names = [f"{name}.{self.tables}" for name in ("nodes", "edges")] if self.tables else [NODES, EDGES]
        return tuple(self.folder / name for name in (META, *names))

    @property
    def tables(self) -> str:
        """Return the format of its flat tables; empty if it is of JSON lines."""
        tables = self.meta.get(TABLES)
        form = tables.get("format") if isinstance(tables, dict) else None
        return form if form in FORMS else ""

    def read(self, builder: GraphBuilder) -> Labels:
        """Read the dump into the builder, and return its labels. Raises `BadInput` if it was edited."""
        _, nodes, edges = self.files
        if self.tables:
            self._read_tables(nodes, edges, builder)
        else:
            for batch in _batches(nodes, NODE_ROWS):
                for row, line in zip(batch.rows(), batch.lines, strict=True):
                    properties = row.pop("properties", None) or {}
                    builder.add_node(_node(row, nodes, line, properties=properties))
            for batch in _batches(edges, EDGE_ROWS):
                builder.add_edges(_edge_batch(batch, edges))
        return finished(self.meta, builder.edges)

    def _read_tables(self, nodes: Path, edges: Path, builder: GraphBuilder) -> None:
        for rows, lines in self._rows(nodes, NODE_ROWS):
            for row, line in zip(rows, lines, strict=True):
                builder.add_node(_node(row, nodes, line))
        for rows, lines in self._rows(edges, EDGE_ROWS):
            ends = [_popped(row, ("source", "target"), edges, line) for row, line in zip(rows, lines, strict=True)]
            builder.add_edges(_edges(ends, rows, edges, lines))

    def _rows(self, path: Path, rows: int) -> Iterator[tuple[list[dict[str, Any]], Sequence[int]]]:  # Any: JSON
        """Yield the rows of a table, without empty cells, and their lines."""
        # JSON lines need neither.
        from orienteer.ingest.formats.delimited import DelimitedText
        from orienteer.ingest.formats.parquet import Parquet
        from orienteer.ingest.formats.records import FieldDialect

        kinds = self.meta[TABLES].get(stem(path))
        if not isinstance(kinds, dict):
            raise BadInput(f"{self.folder / META} does not say what the columns of {path.name} hold; {_AGAIN}")
        reader: Reader = Parquet() if self.tables == "parquet" else DelimitedText(FieldDialect(",", True))
        for batch in reader.batches(path, rows=rows, drop=refusing(path, _AGAIN), header=True):
            filled = [
                {
                    name: _value(cell, str(kinds.get(name, TEXT)))
                    for name, cell in row.items()
                    if cell is not None and cell != ""
                }
                for row in batch.rows()
            ]
            yield filled, batch.lines


def _value(cell: Any, kind: str) -> Any:  # Any: whatever a file format can hold
    """Return the value of a non-empty cell: a text of a CSV file, any value of a Parquet file."""
    if kind == TEXT or (kind == JSON and not isinstance(cell, str)):
        return str(cell)
    value = from_json(cell) if isinstance(cell, str) else cell
    return int(value) if kind == MIXED and isinstance(value, float) and value.is_integer() else value


def finished(meta: Mapping[str, Any], edges: EdgeTable) -> Labels:  # Any: JSON
    """Mark symmetric edge types; return the labels of types. Raises `BadInput` for an edge to a missing node."""
    dangling = np.flatnonzero((edges.source < 0) | (edges.target < 0))
    if len(dangling):
        row = int(dangling[0])
        (file, line), edge = edges.origin(row), " -> ".join(edges.ids(row))
        raise BadInput(f"{file}, line {line}: {edge} has an end that is not a node; {_AGAIN}")
    edges.symmetric.update(meta.get("symmetric", ()))
    also_called = {name: tuple(words) for name, words in meta.get("also_called", {}).items()}
    text_types, partial = tuple(meta.get("text_types", ())), tuple(meta.get("partial", ()))
    return Labels(dict(meta.get("labels", {})), also_called, text_types, partial)


def recognize(sources: Sequence[Path]) -> Dump | None:
    """Return the dump if the only source is one. Raises `BadInput` for a newer version or a missing part."""
    if len(sources) != 1 or not (sources[0] / META).is_file():
        return None
    try:
        meta = parsed((sources[0] / META).read_bytes())
    except ValueError:
        # A third-party file.
        return None
    if not isinstance(meta, dict) or meta.get("format") != KIND:
        return None
    if meta.get("version") != VERSION:
        raise BadInput(
            f"{sources[0]} is a dump of version {meta.get('version')!s:.40}; this reads {VERSION}: upgrade orienteer"
        )
    dump = Dump(sources[0], meta)
    missing = next((path for path in dump.files if not path.is_file()), None)
    if missing is not None:
        raise BadInput(f"{missing} is missing from the dump: export it again")
    return dump


def _batches(path: Path, rows: int) -> Iterator[Batch]:
    if path.stat().st_size == 0:
        # A graph without edges.
        return iter(())
    require(path)
    return JsonLines().batches(path, rows=rows, drop=refusing(path, _AGAIN), header=True)


def _node(
    fields: Fields, path: Path, line: int, *, node_id: str | None = None, properties: Fields | None = None
) -> Node:
    """Return a node of its fields. Those that no node has are properties, unless these are given."""
    node_id = _popped(fields, ("id",), path, line)[0] if node_id is None else node_id
    kind, name = _popped(fields, ("type", "name"), path, line)
    text, aliases = fields.pop("text", None) or "", fields.pop("aliases", None) or ()
    properties = _properties(fields) if properties is None else properties
    return Node(node_id, kind, name, str(text), tuple(map(str, aliases)), properties)


def _popped(fields: Fields, names: Sequence[str], path: Path, line: int) -> list[str]:
    """Take texts out of some fields. Raises `BadInput` if the file was edited, so that one is missing."""
    taken = [fields.pop(name, None) for name in names]
    if None in taken:
        raise BadInput(f"{path}, line {line}: {names[taken.index(None)]!r} is missing; {_AGAIN}")
    return list(map(str, taken))


def _edges(ends: Sequence[Sequence[str]], rows: Sequence[Fields], path: Path, lines: Sequence[int]) -> EdgeBatch:
    """Return edges of their ends and fields. Those that no edge has are properties."""
    sources, targets = ([end[place] for end in ends] for place in (0, 1))
    types = [_popped(row, ("type",), path, line)[0] for row, line in zip(rows, lines, strict=True)]
    extras: list[dict[str, JsonValue]] = []
    for row in rows:
        extra = {name: row.pop(name) for name in ("text", "weight") if name in row}
        extras.append(extra | ({"properties": _properties(row)} if row else {}))
    return EdgeBatch(sources, types, targets, extras if any(extras) else None, str(path), lines)


def _edge_batch(batch: Batch, path: Path) -> EdgeBatch:
    missing = {"source", "type", "target"} - set(batch.columns)
    if missing:
        raise BadInput(f"{path}, line {batch.lines[0]}: {min(missing)!r} is missing; {_AGAIN}")
    columns = batch.columns
    names = [name for name in ("text", "weight", "properties") if name in columns]
    extras = [
        {name: value for name, value in zip(names, values, strict=True) if value is not None}
        for values in zip(*(columns[name] for name in names), strict=True)
    ]
    return EdgeBatch(
        columns["source"], columns["type"], columns["target"], extras if any(extras) else None, str(path), batch.lines
    )


def is_json(text: str) -> bool:
    """Return whether a text could be taken for JSON."""
    return from_json(text) is not text or text[:1] in tuple('"[{')


def from_json(text: str) -> Any:  # Any: JSON
    """Return the value of a JSON text, or the text itself if it is not JSON."""
    try:
        return parsed(text)
    except ValueError:
        return text


class ExportedGraph(ElementGraph):
    """The graph of an exported GraphML file or network."""

    def __init__(self, path: Path, meta: Mapping[str, Any], builder: GraphBuilder) -> None:  # Any: JSON
        if meta.get("version") != VERSION:
            raise BadInput(
                f"{path} is an export of version {meta.get('version')}; this reads {VERSION}: upgrade orienteer"
            )
        super().__init__(builder)
        self._path, self._meta = path, meta

    def add_nodes(self, elements: Sequence[NodeElement]) -> None:
        """Add nodes. Raises `BadInput` if the file was edited, and `DuplicateNode`."""
        for element in elements:
            self.builder.add_node(_node(dict(element.fields), self._path, element.line, node_id=element.id))

    def finish(self) -> Labels:
        """Mark symmetric edge types, and return the labels of types."""
        self.flush()
        return finished(self._meta, self.builder.edges)

    def add_edges(self, elements: Sequence[EdgeElement]) -> None:
        """Add edges, after their nodes. Raises `BadInput` if the file was edited."""
        fields = [{name: value for name, value in each.fields.items() if name != "symmetric"} for each in elements]
        ends = [(element.source, element.target) for element in elements]
        self.builder.add_edges(_edges(ends, fields, self._path, [element.line for element in elements]))


def _properties(fields: Fields) -> dict[str, JsonValue]:
    """Return fields as properties, without the prefix."""
    return {name.removeprefix(PROPERTY): value for name, value in fields.items()}
