"""GRBench's `graph.json`: `{"TYPE_nodes": {id: {"features": {...}, "neighbors": {edge_type: [ids]}}}}`.

The file is read twice, a node at a time: once for the nodes, once for the edges, whose ends have to be known. An edge
stands at both of its nodes. Where both call it the same (Hetionet's `Disease-downregulates-Gene`), cleaning stores it
once; where each calls it by its own name (`reference` and `cited_by`, `author` and `paper`), the two names are told to
be one relation by their edges, and the name that comes first in the file is kept.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import combinations
from pathlib import Path
from typing import Any, NamedTuple, TextIO

import numpy as np
from numpy.typing import NDArray

from orienteer.errors import BadInput
from orienteer.graph.builder import GraphBuilder
from orienteer.graph.edges import EdgeBatch, EdgeTable
from orienteer.ingest.bounds import DEEPEST, MOST_RECORD, is_deep, too_long
from orienteer.ingest.formats.files import opened_text
from orienteer.ingest.formats.table import EDGE_ROWS
from orienteer.ingest.layouts import KnownLayout
from orienteer.ingest.report import Tally
from orienteer.ingest.tables import mirror
from orienteer.ingest.tables.labels import Labels
from orienteer.ingest.tables.nodes import node_of_fields
from orienteer.ingest.tables.values import identifier

NAME, SUFFIX = "graph.json", "_nodes"
FIRST = re.compile(r'\s*\{\s*"[^"]+_nodes"\s*:\s*\{')
"""How such a file begins."""
CHUNK = 1 << 20
"""Characters that are read at once."""
INVERSE_PERCENT = 99
"""Edges of each of two types that need their reverse in the other before the two are one relation."""
SPACE = re.compile(r"[\s,]*")


class Entry(NamedTuple):
    """One node as it is written."""

    type: str
    id: str
    features: dict[str, Any]  # Any: JSON
    neighbors: dict[str, list[Any]]


@dataclass(frozen=True, slots=True)
class GrbenchGraph:
    """One `graph.json`."""

    file: Path
    tally: Tally

    @property
    def files(self) -> tuple[Path, ...]:
        """Return the file."""
        return (self.file,)

    def read(self, builder: GraphBuilder) -> Labels:
        """Read the graph into the builder, every relation once."""
        for entry in entries(self.file):
            builder.add_node(node_of_fields(entry.id, entry.type, entry.features))
        batch: list[tuple[str, str, str]] = []
        for entry in entries(self.file):
            batch += [
                (entry.id, name, identifier(neighbor)) for name, ids in entry.neighbors.items() for neighbor in ids
            ]
            if len(batch) >= EDGE_ROWS:
                self._add(builder, batch)
                batch = []
        if batch:
            self._add(builder, batch)
        if builder.edges.type_names:
            self.tally.notes += _join_inverses(builder.edges)
            mirror.clean(builder.edges, self.tally)
        return Labels()

    def _add(self, builder: GraphBuilder, batch: list[tuple[str, str, str]]) -> None:
        sources, types, targets = zip(*batch, strict=True)
        builder.add_edges(EdgeBatch(sources, types, targets, file=str(self.file)))


def recognize(source: Path, tally: Tally) -> GrbenchGraph | None:
    """Return the graph where a file, or the one `graph.json` of a folder, begins as such; None if none does."""
    file = source / NAME if source.is_dir() else source
    if not file.is_file() or file.suffix != ".json":
        return None
    with opened_text(file, has_lines=False) as text:
        return GrbenchGraph(file, tally) if FIRST.match(text.read(CHUNK)) else None


def entries(file: Path) -> Iterator[Entry]:
    """Return the nodes of a file, one at a time. Raises `BadInput` that says where it breaks."""
    with opened_text(file, has_lines=False) as text:
        reader = _EntryReader(text, file)
        reader.open()
        while (group := reader.key()) is not None:
            if not group.endswith(SUFFIX):
                raise BadInput(f"{file}: {group!r} is no group of nodes; those end in {SUFFIX}")
            reader.open()
            while (node_id := reader.key()) is not None:
                yield _entry(group.removesuffix(SUFFIX), node_id, reader.value(), file)
        reader.end()


def _entry(node_type: str, node_id: str, value: Any, file: Path) -> Entry:  # Any: JSON
    features = value.get("features", {}) if isinstance(value, dict) else None
    neighbors = value.get("neighbors", {}) if isinstance(value, dict) else None
    if not isinstance(features, dict) or not isinstance(neighbors, dict):
        raise BadInput(f"{file}: the node {node_id!r} has no features and neighbors")
    if not all(isinstance(ids, list) for ids in neighbors.values()):
        raise BadInput(f"{file}: the neighbors of the node {node_id!r} are no lists of ids")
    return Entry(node_type, node_id, features, neighbors)


class _EntryReader:
    """Reads a JSON object of objects without holding more than one member."""

    def __init__(self, text: TextIO, file: Path) -> None:
        self._text, self._file = text, file
        self._decoder = json.JSONDecoder()
        self._buffer, self._at, self._is_whole = "", 0, False

    def _fill(self) -> bool:
        """Read on, as much again as is waiting; False where there is no more."""
        waiting = self._buffer[self._at :]
        more = self._text.read(max(CHUNK, len(waiting)))
        self._buffer, self._at, self._is_whole = waiting + more, 0, not more
        return bool(more)

    def _next(self) -> str:
        """Pass over spaces and commas, and return the next character."""
        while True:
            if spaces := SPACE.match(self._buffer, self._at):
                self._at = spaces.end()
            if self._at < len(self._buffer):
                return self._buffer[self._at]
            if not self._fill():
                raise BadInput(f"{self._file} ends before its last object: it is cut short; fetch it again")

    def _skip(self, wanted: str) -> None:
        if self._next() != wanted:
            raise BadInput(f"{self._file}: {wanted!r} is expected before {self._buffer[self._at : self._at + 40]!r}")
        self._at += 1

    def open(self) -> None:
        """Go into an object."""
        self._skip("{")

    def key(self) -> str | None:
        """Return the next key, None at the end of the object."""
        if self._next() == "}":
            self._at += 1
            return None
        key = self.value()
        self._skip(":")
        return str(key)

    def end(self) -> None:
        """Raise `BadInput` if something follows."""
        rest = self._buffer[self._at :]
        while not rest.strip() and (more := self._text.read(CHUNK)):
            rest = more
        if rest.strip():
            raise BadInput(f"{self._file} goes on after its last object, and that would be lost: fetch it again")

    def value(self) -> Any:  # Any: JSON
        """Return the next value."""
        self._next()
        while True:
            try:
                entry, end = self._decoder.raw_decode(self._buffer, self._at)
            except ValueError as error:
                if len(self._buffer) - self._at > MOST_RECORD:
                    raise too_long(self._file, "one of its nodes") from error
                if self._fill():
                    continue
                raise BadInput(f"{self._file} is no whole JSON file ({error}); fetch it again") from error
            if is_deep(entry):
                raise BadInput(f"{self._file}: one of its nodes has more than {DEEPEST} values within values")
            if end < len(self._buffer) or not self._fill():  # a number at the end of the buffer may go on
                self._at += end - self._at
                return entry


class _TypedEdges(NamedTuple):
    """The edges of one type between one pair of node types."""

    type: int
    source: int
    target: int
    rows: NDArray[np.int64]


def _join_inverses(edges: EdgeTable) -> list[str]:
    """Turn the edges of a type that is another's reverse, so that cleaning merges them. Returns what was joined."""
    joined: list[str] = []
    turned: set[tuple[int, int, int]] = set()
    for first, second in combinations(_groups(edges), 2):
        are_opposite = (first.source, first.target) == (second.target, second.source) and first.type != second.type
        if are_opposite and not {first[:3], second[:3]} & turned and _are_inverse(edges, first.rows, second.rows):
            edges.turn(second.rows)
            edges.type[second.rows] = first.type
            turned.add(second[:3])
            stays, gone = edges.type_names[first.type], edges.type_names[second.type]
            joined.append(f"{gone!r} is {stays!r} the other way round: both are stored as {stays!r}")
    return joined


def _groups(edges: EdgeTable) -> list[_TypedEdges]:
    """Return the edges by type and by the types of their ends, in the order in which they come."""
    rows = np.flatnonzero(edges.keep)
    ends = [edges.node_type[end[rows]].astype(np.int64) for end in (edges.source, edges.target)]
    codes = (edges.type[rows].astype(np.int64) << 32) | (ends[0] << 16) | ends[1]
    order = np.argsort(codes, kind="stable")
    parts = np.split(rows[order], np.flatnonzero(np.diff(codes[order])) + 1) if len(rows) else []
    by_appearance = sorted(parts, key=lambda part: int(part[0]))
    return [
        _TypedEdges(
            int(edges.type[part[0]]),
            int(edges.node_type[edges.source[part[0]]]),
            int(edges.node_type[edges.target[part[0]]]),
            part,
        )
        for part in by_appearance
    ]


def _are_inverse(edges: EdgeTable, first: NDArray[np.int64], second: NDArray[np.int64]) -> bool:
    """Say whether nearly all edges of either type are edges of the other in reverse; rows: (edges,) each."""
    forth = _keys(edges.source[first], edges.target[first])
    back = _keys(edges.target[second], edges.source[second])
    both = len(np.intersect1d(forth, back))
    return bool(both) and 100 * both >= INVERSE_PERCENT * max(len(np.unique(forth)), len(np.unique(back)))


def _keys(source: NDArray[np.int32], target: NDArray[np.int32]) -> NDArray[np.int64]:
    return source.astype(np.int64) << 32 | target


LAYOUT = KnownLayout(graph=lambda source, columns, tally: recognize(source, tally))
