"""Statements that join two nodes -> edges, with their named graph, their place in a list, and remarks on them."""

from __future__ import annotations

import math
from array import array
from collections.abc import Iterator, Sequence

import numpy as np

from orienteer.graph.edges import CodedColumn, EdgeBatch
from orienteer.ingest.formats.rdf.shapes import Shapes
from orienteer.ingest.formats.rdf.triples import NO_GRAPH, FileRows, Grouped, Literals, Rows, Triples
from orienteer.ingest.formats.rdf.values import Literal
from orienteer.ingest.formats.rdf.vocabulary import OWL, RDF
from orienteer.ingest.formats.table import EDGE_ROWS
from orienteer.records import JsonValue

WEIGHT = "weight"
PLAIN = (f"{RDF}Statement", f"{OWL}Axiom")
"""Classes of reifiers that say nothing else."""
Extra = dict[str, JsonValue]


class RdfEdgeMaker:
    """Makes batches of edges."""

    def __init__(
        self, triples: Triples, shapes: Shapes, ids: Sequence[str], names: Sequence[str], literals: Literals
    ) -> None:
        """Take the ids of all terms, the edge types by predicate and the literals that are remarks."""
        self._edges, self._reifiers = triples.edges, shapes.reifiers
        self._ids, self._names, self._literals, self._roles = ids, names, literals, triples.roles
        self._has_graphs = bool((self._edges.graph != NO_GRAPH).any())
        self._plain = {triples.terms[iri] for iri in PLAIN if iri in triples.terms}
        self._remarks = Grouped(self._edges.subject[shapes.remarks], shapes.remarks)

    def batches(self, file: FileRows) -> Iterator[EdgeBatch]:
        """Return the edges of one file, then those out of its lists."""
        edges, own = self._edges, file.edges
        low, high = np.searchsorted(edges.row[edges.read :], [own.start, own.stop]) + edges.read
        every = np.concatenate([np.arange(own.start, own.stop), np.arange(low, high)])
        every = every[edges.keep[every]]
        for begin in range(0, len(every), EDGE_ROWS):
            rows = every[begin : begin + EDGE_ROWS]
            lines = array("I")
            lines.frombytes(edges.line[rows].tobytes())
            yield EdgeBatch(
                sources=CodedColumn(self._ids, edges.subject[rows]),
                types=CodedColumn(self._names, edges.predicate[rows]),
                targets=CodedColumn(self._ids, edges.object[rows]),
                extras=self._extras(rows),
                file=file.path,
                lines=lines,
            )

    def _extras(self, rows: Rows) -> list[Extra | None] | None:
        edges = self._edges
        if not self._has_graphs and not self._reifiers and rows[-1] < edges.read:
            return None
        extras: list[Extra | None] = []
        for row, graph in zip(rows.tolist(), edges.graph[rows].tolist(), strict=True):
            properties: Extra = {} if graph == NO_GRAPH else {"graph": self._ids[graph]}
            if row >= edges.read:
                properties["position"] = int(edges.position[row - edges.read])
            extra: Extra = {}
            for reifier in self._reifiers.get(row, ()):
                self._remark(reifier, extra, properties)
            if properties:
                extra["properties"] = properties
            extras.append(extra or None)
        return extras

    def _remark(self, reifier: int, extra: Extra, properties: Extra) -> None:
        """Add the remarks on an edge to its extras."""
        for literal in next(self._literals.of(np.array([reifier], np.int32))):
            self._put(literal, extra, properties)
        for row in self._remarks.of(reifier).tolist():
            target = int(self._edges.object[row])
            if target not in self._plain:
                _append(properties, self._names[self._edges.predicate[row]], self._ids[target])

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
