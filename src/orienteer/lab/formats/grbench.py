"""GRBench's `graph.json`: `{"TYPE_nodes": {id: {"features": {...}, "neighbors": {edge_type: [ids]}}}}`.

The file is read twice, a node at a time: once for the nodes, then for the edges, whose ends must be known. An edge
is written at both of its nodes. If both call it the same (Hetionet's `Disease-downregulates-Gene`), cleaning stores it
once. If each has its own name for it (`reference` and `cited_by`, `author` and `paper`), their edges show that the two
names are one relation, and the name that comes first in the file is kept. Questions may say the other one as well: a
paper *cites* its `reference`, for it is there that this is `cited_by`.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import combinations, islice
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
from orienteer.ingest.tables.values import identifier
from orienteer.lab.formats.fields import node_of_fields

NAME, SUFFIX = "graph.json", "_nodes"
# How such a file begins.
FIRST = re.compile(r'\s*\{\s*"[^"]+_nodes"\s*:\s*\{')
# Characters that are read at once.
CHUNK = 1 << 20
# Edges of each of two types that need their reverse in the other before the two are one relation.
INVERSE_PERCENT = 99
# What GRBench's questions call types of its graphs besides; those of edges, in their direction.
CALLED = {
    "author": ("written by", "researcher"),
    "paper": ("academic work", "scholarly paper", "article"),
    "publisher": ("published by",),
    "venue": ("published in",),
}
# What a relation is called from its other end, where no node type says it.
FROM_THE_OTHER_END = {"cited_by": ("cites",), "reference": ("reference of",)}
SPACE = re.compile(r"[\s,]*")


class Entry(NamedTuple):
    """One node of the file."""

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
        labels, kinds = Labels(), set[str]()
        for entry in entries(self.file):
            builder.add_node(node_of_fields(entry.id, entry.type, entry.features))
            kinds.add(entry.type)
        edges = (
            (entry.id, name, identifier(neighbor))
            for entry in entries(self.file)
            for name, ids in entry.neighbors.items()
            for neighbor in ids
        )
        while batch := list(islice(edges, EDGE_ROWS)):
            sources, types, targets = zip(*batch, strict=True)
            builder.add_edges(EdgeBatch(sources, types, targets, file=str(self.file)))
        if builder.edges.type_names:
            joined: list[str] = []
            turned: set[tuple[int, int, int]] = set()
            for (first, rows), (second, others) in combinations(_groups(builder.edges), 2):
                are_opposite = first[1:] == (second[2], second[1]) and first[0] != second[0]
                if are_opposite and not {first, second} & turned and _are_inverse(builder.edges, rows, others):
                    builder.edges.turn(others)
                    builder.edges.type[others] = first[0]
                    turned.add(second)
                    stays, gone = builder.edges.type_names[first[0]], builder.edges.type_names[second[0]]
                    labels.add(stays, stays, FROM_THE_OTHER_END.get(gone, ()))
                    joined.append(f"{gone!r} is {stays!r} the other way round: both are stored as {stays!r}")
            self.tally.notes += joined
            mirror.clean(builder.edges, self.tally)
        for name in {*kinds, *builder.edges.type_names}:
            labels.add(name, name, CALLED.get(name, ()))
        return labels


def recognize(source: Path, tally: Tally) -> GrbenchGraph | None:
    """Return the graph if a file, or the `graph.json` of a folder, begins as such, else None."""
    file = source / NAME if source.is_dir() else source
    if not file.is_file() or file.suffix != ".json":
        return None
    with opened_text(file, has_lines=False) as text:
        return GrbenchGraph(file, tally) if FIRST.match(text.read(CHUNK)) else None


def entries(file: Path) -> Iterator[Entry]:
    """Yield the nodes of a file, one at a time. Raises `BadInput` with the place where it breaks."""
    with opened_text(file, has_lines=False) as text:
        reader = _JsonReader(text, file)
        reader.skip("{")
        while (group := reader.key()) is not None:
            if not group.endswith(SUFFIX):
                raise BadInput(f"{file}: {group!r} is not a group of nodes; those end in {SUFFIX}")
            reader.skip("{")
            while (node_id := reader.key()) is not None:
                value = reader.value()
                features = value.get("features", {}) if isinstance(value, dict) else None
                neighbors = value.get("neighbors", {}) if isinstance(value, dict) else None
                if not isinstance(features, dict) or not isinstance(neighbors, dict):
                    raise BadInput(f"{file}: the node {node_id!r} has no features and neighbors")
                if not all(isinstance(ids, list) for ids in neighbors.values()):
                    raise BadInput(f"{file}: the neighbors of the node {node_id!r} are not lists of ids")
                yield Entry(group.removesuffix(SUFFIX), node_id, features, neighbors)
        reader.end()


class _JsonReader:
    """Reads a JSON object of objects without holding more than one member."""

    def __init__(self, text: TextIO, file: Path) -> None:
        self._text, self._file = text, file
        self._decoder = json.JSONDecoder()
        self._buffer, self._at = "", 0

    def _fill(self) -> bool:
        """Read on, at least as much as is waiting; return whether there was more."""
        waiting = self._buffer[self._at :]
        more = self._text.read(max(CHUNK, len(waiting)))
        self._buffer, self._at = waiting + more, 0
        return bool(more)

    def _next(self) -> str:
        """Skip spaces and commas, and return the next character."""
        while True:
            if spaces := SPACE.match(self._buffer, self._at):
                self._at = spaces.end()
            if self._at < len(self._buffer):
                return self._buffer[self._at]
            if not self._fill():
                raise BadInput(f"{self._file} ends before its last object: it is incomplete; fetch it again")

    def skip(self, wanted: str) -> None:
        """Go past a character. Raises `BadInput` if another one follows."""
        if self._next() != wanted:
            raise BadInput(f"{self._file}: {wanted!r} is expected before {self._buffer[self._at : self._at + 40]!r}")
        self._at += 1

    def key(self) -> str | None:
        """Return the next key, None at the end of the object."""
        if self._next() == "}":
            self._at += 1
            return None
        key = self.value()
        self.skip(":")
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
                raise BadInput(f"{self._file} is incomplete or invalid JSON ({error}); fetch it again") from error
            if is_deep(entry):
                raise BadInput(f"{self._file}: one of its nodes has more than {DEEPEST} values within values")
            if end < len(self._buffer) or not self._fill():  # a number at the end of the buffer may go on
                self._at += end - self._at
                return entry


def _groups(edges: EdgeTable) -> list[tuple[tuple[int, int, int], NDArray[np.int64]]]:
    """Return the rows of the edges by their type and the types of their ends, in the order of the file."""
    rows = np.flatnonzero(edges.keep)
    kinds = np.stack([
        edges.type[rows].astype(np.int64),
        *(edges.node_type[end[rows]].astype(np.int64) for end in (edges.source, edges.target)),
    ])  # fmt: skip  # (3, edges)
    order = np.lexsort(kinds[::-1])  # stable
    differs = (np.diff(kinds[:, order]) != 0).any(axis=0)
    parts = np.split(order, np.flatnonzero(differs) + 1) if len(rows) else []
    groups = [((int(a), int(b), int(c)), rows[part]) for part in parts for a, b, c in [kinds[:, part[0]]]]
    return sorted(groups, key=lambda group: int(group[1][0]))


def _are_inverse(edges: EdgeTable, first: NDArray[np.int64], second: NDArray[np.int64]) -> bool:
    """Return whether nearly all edges of either type are edges of the other in reverse; rows: (edges,) each."""
    forth = edges.source[first].astype(np.int64) << 32 | edges.target[first]
    back = edges.target[second].astype(np.int64) << 32 | edges.source[second]
    both = len(np.intersect1d(forth, back))
    return bool(both) and 100 * both >= INVERSE_PERCENT * max(len(np.unique(forth)), len(np.unique(back)))


LAYOUT = KnownLayout(graph=lambda source, columns, tally: recognize(source, tally))
