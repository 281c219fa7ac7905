"""Turns statements into the nodes and edges of a graph, with readable names for its types."""

from __future__ import annotations

import math
from array import array
from collections.abc import Iterable, Iterator, Mapping, Sequence

import numpy as np
from numpy.typing import NDArray

from orienteer.graph.builder import GraphBuilder
from orienteer.graph.edges import CodedColumn, EdgeBatch
from orienteer.ingest.formats.rdf.nodes import Classes, Languages, RdfNodeMaker
from orienteer.ingest.formats.rdf.parser import BASE
from orienteer.ingest.formats.rdf.shapes import Shapes
from orienteer.ingest.formats.rdf.triples import NO_GRAPH, FileRows, Grouped, Literal, Literals, Mask, Rows, Triples
from orienteer.ingest.formats.rdf.vocabulary import OWL, PREFIXES, RDF, RDFS, RESERVED, Prefixes, type_names
from orienteer.ingest.formats.table import EDGE_ROWS, NODE_ROWS, shown
from orienteer.ingest.report import SHOWN, RowPlace, Tally
from orienteer.ingest.tables.labels import Labels
from orienteer.ingest.tables.nodes import DEFAULT_TYPE
from orienteer.records import JsonValue

WEIGHT = "weight"
PLAIN = (f"{RDF}Statement", f"{OWL}Axiom")
"""Classes of reifiers that say nothing else."""
Extra = dict[str, JsonValue]
UNHEARD = "about a value"
CLASS, PROPERTY = "Class", "Property"
"""Node types of what the statements use as such, and say nothing else of."""


class RdfGraph:
    """The graph that the statements make."""

    def __init__(self, triples: Triples, declared: Sequence[Mapping[str, str]]) -> None:
        self._triples, self._texts = triples, triples.close()
        self._iris = list(triples.terms)
        self._own, self._all = Prefixes(declared), Prefixes([*declared, PREFIXES])
        self._shapes = shapes = Shapes(triples)
        self._ids = [self._id(iri) for iri in self._iris]
        ranks = {number: rank for number, (role, rank) in enumerate(triples.roles) if role == "type"}
        self._classes = Classes(triples.edges, self._iris, ranks)
        self._is_node = self._find_nodes(shapes)
        self._names = self._name_predicates(shapes)
        self._class_names = self._name_classes()
        self._has_graphs = bool((triples.edges.graph != NO_GRAPH).any())
        self._plain = {triples.terms[iri] for iri in PLAIN if iri in triples.terms}
        self._remarks = Grouped(triples.edges.subject[shapes.remarks], shapes.remarks)
        self._remark_literals = self._literals(shapes.remark_literals)

    def _id(self, iri: str) -> str:
        """Return the id of a term: prefixed where a file declares it so, an address within a file without the base."""
        if iri.startswith(BASE):
            return iri.removeprefix(BASE) or iri
        short = self._own.short(iri)
        return iri if short in self._triples.terms else short

    def _find_nodes(self, shapes: Shapes) -> Mask:
        """Say which terms are nodes, and leave out the types that lead to none: classes that nothing describes."""
        edges, literals, types = shapes.edges, shapes.literals, self._classes.rows
        joins = edges.keep.copy()
        joins[types] = False
        is_node = shapes.mask(edges.subject[edges.keep], literals.subject[literals.keep], edges.object[joins])
        edges.keep[types[~is_node[edges.object[types]]]] = False
        return is_node

    def _name_predicates(self, shapes: Shapes) -> list[str]:
        """Return the edge type, or the name as a property, of each predicate."""
        edges, roles, iris = shapes.edges, self._triples.roles, list(self._triples.predicates)
        literal = [number for number in np.unique(shapes.literals.predicate).tolist() if roles[number][0] == ""]
        joining = np.unique(np.concatenate([edges.predicate[edges.keep], edges.predicate[shapes.remarks]]))
        used = sorted({*joining.tolist(), *literal})
        names = type_names([iris[predicate] for predicate in used], self._all, taken=RESERVED)
        return [names.get(iri) or self._all.short(iri) for iri in iris]

    def _name_classes(self) -> dict[int, str]:
        """Return the node type of each class; those that no node has as its first give way to those that one has."""
        first: dict[int, None] = {}
        further: dict[int, None] = {}
        for numbers in _parts(np.flatnonzero(self._is_node)):
            for classes in self._classes.of(numbers):
                first.update(dict.fromkeys(classes[:1]))
                further.update(dict.fromkeys(classes[1:]))
        names = type_names([self._iris[number] for number in first], self._all)
        others = [self._iris[number] for number in further if number not in first]
        names |= type_names(others, self._all, taken=set(names.values()))
        return {number: names[self._iris[number]] for number in (*first, *further)}

    def _described_types(self) -> dict[int, list[str]]:
        """Return the terms whose names are labels of types: classes, predicates, Wikidata's items for predicates."""
        terms, iris, edges = self._triples.terms, list(self._triples.predicates), self._triples.edges
        used = np.unique(edges.predicate[edges.keep]).tolist()
        by_predicate = {
            terms[iris[predicate]]: self._names[predicate] for predicate in used if iris[predicate] in terms
        }
        types: dict[int, list[str]] = {}
        for term, name in (*self._class_names.items(), *by_predicate.items()):
            types.setdefault(term, []).append(name)
        for row in edges.rows(f"{PREFIXES['wikibase']}directClaim").tolist():
            meant = by_predicate.get(int(edges.object[row]))
            if meant is not None:
                types.setdefault(int(edges.subject[row]), []).append(meant)
        return types

    def _entailed_types(self) -> dict[int, str]:
        """Return what a term is by its place in statements alone (RDFS, rules 2 to 4): a class, or a property."""
        terms, edges = self._triples.terms, self._triples.edges
        below = edges.rows(f"{RDFS}subClassOf")
        classes = (edges.object[edges.having(f"{RDF}type")], edges.subject[below], edges.object[below])
        properties = dict.fromkeys((terms[iri] for iri in self._triples.predicates if iri in terms), PROPERTY)
        return properties | dict.fromkeys(np.unique(np.concatenate(classes)).tolist(), CLASS)

    def add_nodes(self, builder: GraphBuilder, languages: Languages) -> Labels:
        """Add all nodes, and return the labels of types that they hold."""
        labels, types, entailed = Labels(), self._described_types(), self._entailed_types()
        maker = RdfNodeMaker(self._triples.roles, self._names, self._class_names, languages)
        literals = self._literals(np.flatnonzero(self._triples.literals.keep))
        for numbers in _parts(np.flatnonzero(self._is_node)):
            rows = zip(numbers.tolist(), literals.of(numbers), self._classes.of(numbers), strict=True)
            for number, texts, classes in rows:
                otherwise = entailed.get(number, DEFAULT_TYPE)
                named_node = maker.make(self._ids[number], self._iris[number], texts, classes, otherwise=otherwise)
                builder.add_node(named_node.node)
                if named_node.is_named and number in types:
                    for name in types[number]:
                        labels.add(name, named_node.node.name, named_node.node.aliases)
            self._texts.forget()
        return labels

    def _literals(self, rows: Rows) -> Literals:
        return Literals(self._triples.literals, rows, list(self._triples.kinds), self._texts)

    def add_edges(self, builder: GraphBuilder) -> None:
        """Add all edges, a file at a time."""
        for file in self._triples.files:
            for batch in self._batches(file):
                builder.add_edges(batch)

    def _batches(self, file: FileRows) -> Iterator[EdgeBatch]:
        """Return the edges of one file, then those out of its lists."""
        edges, own = self._triples.edges, file.edges
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
        edges = self._triples.edges
        if not self._has_graphs and not self._shapes.reifiers and rows[-1] < edges.read:
            return None
        extras: list[Extra | None] = []
        for row, graph in zip(rows.tolist(), edges.graph[rows].tolist(), strict=True):
            properties: Extra = {} if graph == NO_GRAPH else {"graph": self._ids[graph]}
            if row >= edges.read:
                properties["position"] = int(edges.position[row - edges.read])
            extra: Extra = {}
            for reifier in self._shapes.reifiers.get(row, ()):
                self._remark(reifier, extra, properties)
            if properties:
                extra["properties"] = properties
            extras.append(extra or None)
        return extras

    def _remark(self, reifier: int, extra: Extra, properties: Extra) -> None:
        """Add the remarks on an edge to its extras."""
        for literal in next(self._remark_literals.of(np.array([reifier], np.int32))):
            self._put(literal, extra, properties)
        for row in self._remarks.of(reifier).tolist():
            target = int(self._triples.edges.object[row])
            if target not in self._plain:
                _append(properties, self._names[self._triples.edges.predicate[row]], self._ids[target])

    def _put(self, literal: Literal, extra: Extra, properties: Extra) -> None:
        name, value = self._names[literal.predicate], literal.value
        if self._triples.roles[literal.predicate][0] == "text" and "text" not in extra:
            extra["text"] = literal.text
        elif name == WEIGHT and isinstance(value, int | float) and math.isfinite(value) and WEIGHT not in extra:
            extra[WEIGHT] = float(value)
        elif value is not None:
            _append(properties, name, value)

    def count_unheard(self, tally: Tally) -> None:
        """Count the remarks on statements that can carry none: those with literals, and types that are no edges."""
        edges, literals, shapes = self._triples.edges, self._triples.literals, self._shapes
        unheard = [(literals, row) for row in shapes.about_values.tolist()]
        unheard += [(edges, row) for row in sorted(shapes.reifiers) if not edges.keep[row]]
        places = []
        for statements, row in unheard[:SHOWN]:
            parts = ((file.path, file.edges if statements is edges else file.literals) for file in self._triples.files)
            path = next(path for path, part in parts if statements.row[row] < part.stop)
            subject = self._ids[int(statements.subject[row])]
            places.append(RowPlace(file=path, line=int(statements.line[row]), value=shown(subject)))
        if unheard:
            tally.drop(UNHEARD, places, len(unheard))


def _parts(numbers: NDArray[np.int64]) -> Iterable[NDArray[np.int32]]:
    """Cut a row of numbers into batches of nodes."""
    for low in range(0, len(numbers), NODE_ROWS):
        yield numbers[low : low + NODE_ROWS].astype(np.int32)


def _append(properties: Extra, name: str, value: JsonValue) -> None:
    """Add a value; a second different one makes a list."""
    if name not in properties:
        properties[name] = value
        return
    there = properties[name]
    several = there if isinstance(there, list) else [there]
    if value not in several:
        properties[name] = [*several, value]
