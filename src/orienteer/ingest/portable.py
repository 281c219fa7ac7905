"""Our own exports, read back exactly: a folder with meta.json, nodes.jsonl and edges.jsonl, or one GraphML file.

Their fields mean what they say: nothing is guessed, nothing cleaned, parallel edges stay.
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
from orienteer.ingest.formats.elements import EdgeElement, Fields, NodeElement
from orienteer.ingest.formats.files import require
from orienteer.ingest.formats.jsonl import JsonLines
from orienteer.ingest.formats.table import EDGE_ROWS, NODE_ROWS, Batch, refusing
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
        """Read the dump into the builder, and return its labels."""
        nodes, edges = self.folder / NODES, self.folder / EDGES
        for batch in _batches(nodes, NODE_ROWS):
            for row, line in zip(batch.rows(), batch.lines, strict=True):
                builder.add_node(_node(row, nodes, line))
        for batch in _batches(edges, EDGE_ROWS):
            builder.add_edges(_edge_batch(batch, edges))
        return finished(self.meta, builder.edges)


def finished(meta: Mapping[str, Any], edges: EdgeTable) -> Labels:  # Any: JSON
    """Mark symmetric edge types; return the labels of types. Raises `BadInput` for an edge to a missing node."""
    dangling = np.flatnonzero((edges.source < 0) | (edges.target < 0))
    if len(dangling):
        row = int(dangling[0])
        (file, line), edge = edges.origin(row), " -> ".join(edges.ids(row))
        raise BadInput(f"{file}, line {line}: {edge} has an end that is not a node; export the graph again")
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
        return None  # someone else's file
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
        return iter(())  # a graph without edges
    require(path)
    return JsonLines().batches(path, rows=rows, drop=refusing(path, "export the graph again"), header=True)


def _node(row: dict[str, Any], path: Path, line: int) -> Node:
    try:
        return Node(
            row["id"], row["type"], row["name"], row["text"] or "", tuple(row["aliases"] or ()), row["properties"] or {}
        )
    except KeyError as error:
        raise BadInput(f"{path}, line {line}: {error} is missing; export the graph again") from error


def _edge_batch(batch: Batch, path: Path) -> EdgeBatch:
    missing = {"source", "type", "target"} - set(batch.columns)
    if missing:
        raise BadInput(f"{path}, line {batch.lines[0]}: {min(missing)!r} is missing; export the graph again")
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


class ExportedGraph:
    """Takes the elements of an exported GraphML file or network."""

    def __init__(self, path: Path, meta: Mapping[str, Any], builder: GraphBuilder) -> None:  # Any: JSON
        if meta.get("version") != VERSION:
            raise BadInput(
                f"{path} is an export of version {meta.get('version')}; this reads {VERSION}: upgrade orienteer"
            )
        self._path, self._meta, self._builder = path, meta, builder
        self._waiting: list[EdgeElement] = []

    def add_node(self, element: NodeElement) -> None:
        """Add a node. Raises `BadInput` if the file was edited, and `DuplicateNode`."""
        fields = dict(element.fields)
        try:
            node_type, name = str(fields.pop("type")), str(fields.pop("name"))
        except KeyError as error:
            raise BadInput(f"{self._path}, line {element.line}: {error} is missing; export the graph again") from error
        text, aliases = str(fields.pop("text", "")), fields.pop("aliases", ())
        self._builder.add_node(Node(element.id, node_type, name, text, tuple(aliases), properties_of(fields)))

    def add_edge(self, element: EdgeElement) -> None:
        """Add an edge, after its nodes."""
        self._waiting.append(element)
        if len(self._waiting) == EDGE_ROWS:
            self._flush()

    def finish(self) -> Labels:
        """Mark symmetric edge types, and return the labels of types."""
        self._flush()
        return finished(self._meta, self._builder.edges)

    def _flush(self) -> None:
        elements, self._waiting = self._waiting, []
        missing = next((element for element in elements if "type" not in element.fields), None)
        if missing is not None:
            raise BadInput(f"{self._path}, line {missing.line}: 'type' is missing; export the graph again")
        extras = [_extras(element.fields) for element in elements]
        self._builder.add_edges(
            EdgeBatch(
                [element.source for element in elements],
                [str(element.fields["type"]) for element in elements],
                [element.target for element in elements],
                extras if any(extras) else None,
                str(self._path),
                [element.line for element in elements],
            )
        )


def _extras(fields: Fields) -> dict[str, JsonValue]:
    """Return the text, weight and properties of an edge."""
    rest = {name: value for name, value in fields.items() if name not in ("type", "symmetric")}
    extras: dict[str, JsonValue] = {name: rest.pop(name) for name in ("text", "weight") if name in rest}
    return extras | ({"properties": properties_of(rest)} if rest else {})


def properties_of(fields: Fields) -> dict[str, JsonValue]:
    """Return fields as properties, without the prefix."""
    return {name.removeprefix(PROPERTY): value for name, value in fields.items()}
