"""Statements that join two nodes -> edges, with their named graph, their place in a list, and remarks on them."""

from __future__ import annotations

import math
from array import array
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from orienteer.graph.edges import CodedColumn, EdgeBatch
from orienteer.ingest.formats.rdf.shapes import Shapes
from orienteer.ingest.formats.rdf.triples import NO_GRAPH, Literals, Triples, column
from orienteer.ingest.formats.rdf.values import Literal
from orienteer.ingest.formats.rdf.vocabulary import OWL, RDF
from orienteer.ingest.formats.table import EDGE_ROWS
from orienteer.records import JsonValue

WEIGHT = "weight"
PLAIN = (f"{RDF}Statement", f"{OWL}Axiom")
"""Classes of reifiers that say nothing else."""
Extra = dict[str, JsonValue]


@dataclass(frozen=True, slots=True)
class FileRows:
    """A file, and how many edges and literals there were before it and after it."""

    path: str
    begin: tuple[int, int]
    end: tuple[int, int]


class RdfEdgeMaker:
    """Makes batches of edges."""

    def __init__(self, triples: Triples, shapes: Shapes, ids: Sequence[str], names: Mapping[int, str]) -> None:
        """Take the ids of all terms and the edge types by predicate."""
        self._shapes, self._ids, self._roles = shapes, ids, triples.roles
        self._names = [names.get(number, "") for number in range(len(triples.predicates))]
        self._graph = column(triples.graph)
        self._has_graphs = bool((self._graph != NO_GRAPH).any())
        self._line = np.frombuffer(triples.line, np.uint32) if triples.line else np.zeros(0, np.uint32)
        self._plain = {triples.terms[iri] for iri in PLAIN if iri in triples.terms}
        rows = shapes.remark_literals
        self._literals = Literals(triples, shapes.subject[rows], shapes.literal_predicate[rows], rows)
        self._remarks = shapes.remarks[np.argsort(shapes.source[shapes.remarks], kind="stable")]
        self._by = shapes.source[self._remarks]

    def batches(self, source: FileRows) -> Iterator[EdgeBatch]:
        """Return the edges of one file, then those out of its lists."""
        shapes, list_edges = self._shapes, self._shapes.list_edges
        first, end = source.begin[0], source.end[0]
        rows = np.flatnonzero(shapes.keep[first:end]) + first
        for low in range(0, len(rows), EDGE_ROWS):
            part = rows[low : low + EDGE_ROWS]
            ends = (shapes.source[part], shapes.predicate[part], shapes.target[part])
            yield self._batch(source, ends, part, None)
        row = column(list_edges.row)
        low, high = (int(np.searchsorted(row, row_number)) for row_number in (first, end))
        columns = [column(numbers) for numbers in (list_edges.source, list_edges.predicate, list_edges.target)]
        for start in range(low, high, EDGE_ROWS):
            at = slice(start, min(start + EDGE_ROWS, high))
            yield self._batch(source, tuple(numbers[at] for numbers in columns), row[at], list_edges.position[at])

    def _batch(
        self, source: FileRows, ends: Sequence[NDArray[Any]], rows: NDArray[Any], positions: Sequence[int] | None
    ) -> EdgeBatch:  # Any: numbers of any width
        lines = array("I")
        lines.frombytes(self._line[rows].tobytes())
        return EdgeBatch(
            sources=CodedColumn(self._ids, ends[0]),
            types=CodedColumn(self._names, ends[1]),
            targets=CodedColumn(self._ids, ends[2]),
            extras=self._extras(rows, positions),
            file=source.path,
            lines=lines,
        )

    def _extras(self, rows: NDArray[Any], positions: Sequence[int] | None) -> list[Extra | None] | None:
        if not self._has_graphs and positions is None and not self._shapes.reifiers:
            return None
        extras: list[Extra | None] = []
        for at, (row, graph) in enumerate(zip(rows.tolist(), self._graph[rows].tolist(), strict=True)):
            properties: Extra = {} if graph == NO_GRAPH else {"graph": self._ids[graph]}
            if positions is not None:
                properties["position"] = positions[at]
            extra: Extra = {}
            for reifier in self._shapes.reifiers.get(row, ()):
                self._remark(reifier, extra, properties)
            if properties:
                extra["properties"] = properties
            extras.append(extra or None)
        return extras

    def _remark(self, reifier: int, extra: Extra, properties: Extra) -> None:
        """Add the remarks on an edge to its extras."""
        for literal in next(self._literals.of(np.array([reifier], np.int32))):
            self._put(literal, extra, properties)
        low, high = (int(np.searchsorted(self._by, reifier, side)) for side in ("left", "right"))
        for row in self._remarks[low:high].tolist():
            target = int(self._shapes.target[row])
            if target not in self._plain:
                _append(properties, self._names[self._shapes.predicate[row]], self._ids[target])

    def _put(self, literal: Literal, extra: Extra, properties: Extra) -> None:
        name, value = self._names[literal.predicate], literal.value
        if self._roles[literal.predicate][0] == "text" and "text" not in extra:
            extra["text"] = literal.text
        elif name == WEIGHT and isinstance(value, int | float) and math.isfinite(value) and WEIGHT not in extra:
            extra[WEIGHT] = float(value)
        elif value is not None:
            _append(properties, name, value)


def _append(properties: Extra, name: str, value: JsonValue) -> None:
    """Add a value; a second different one makes a list."""
    if name not in properties:
        properties[name] = value
        return
    there = properties[name]
    several = there if isinstance(there, list) else [there]
    if value not in several:
        properties[name] = [*several, value]
