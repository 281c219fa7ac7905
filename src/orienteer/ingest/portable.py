"""Our own portable dump, read back exactly: a folder with meta.json, nodes.jsonl and edges.jsonl.

Its fields mean what they say: nothing is guessed, nothing cleaned, parallel edges stay.
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
from orienteer.ingest.formats.files import require
from orienteer.ingest.formats.jsonl import JsonLines
from orienteer.ingest.formats.table import EDGE_ROWS, NODE_ROWS, Batch
from orienteer.ingest.tables.labels import Labels
from orienteer.records import Node

KIND = "orienteer-dump"
VERSION = 1
META, NODES, EDGES = "meta.json", "nodes.jsonl", "edges.jsonl"


@dataclass(frozen=True, slots=True)
class Dump:
    """A folder that `export` wrote."""

    folder: Path
    meta: dict[str, Any]  # Any: JSON

    @property
    def files(self) -> tuple[Path, ...]:
        """Return its three files."""
        return tuple(self.folder / name for name in (META, NODES, EDGES))

    def read(self, builder: GraphBuilder) -> Labels:
        """Read the dump into the builder, and return its labels."""
        nodes, edges = self.folder / NODES, self.folder / EDGES
        for batch in _batches(nodes, NODE_ROWS):
            for row, line in _rows(batch):
                builder.add_node(_node(row, nodes, line))
        for batch in _batches(edges, EDGE_ROWS):
            builder.add_edges(_edge_batch(batch, edges))
        return finished(self.meta, builder.edges)


def finished(meta: Mapping[str, Any], edges: EdgeTable) -> Labels:  # Any: JSON
    """Mark symmetric edge types; return the labels of types. Raises `BadInput` for an edge that leads to no node."""
    dangling = np.flatnonzero((edges.source < 0) | (edges.target < 0))
    if len(dangling):
        row = int(dangling[0])
        (file, line), edge = edges.origin(row), " -> ".join(edges.ids(row))
        raise BadInput(f"{file}, line {line}: {edge} has an end that is no node; export the graph again")
    edges.symmetric.update(meta.get("symmetric", ()))
    also_called = {name: tuple(words) for name, words in meta.get("also_called", {}).items()}
    return Labels(dict(meta.get("labels", {})), also_called, tuple(meta.get("text_types", ())))


def recognize(sources: Sequence[Path]) -> Dump | None:
    """Return the dump where the one source is one. Raises `BadInput` for a newer version or a lost part."""
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

    def refuse(reason: str, line: int, value: str) -> None:
        raise BadInput(f"{path}, line {line}: {reason} ({value}); export the graph again")

    return JsonLines().batches(path, rows=rows, drop=refuse, header=True)


def _rows(batch: Batch) -> Iterator[tuple[dict[str, Any], int]]:
    for line, values in zip(batch.lines, zip(*batch.columns.values(), strict=True), strict=True):
        yield dict(zip(batch.columns, values, strict=True)), line


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
