"""Turns statements into the nodes and edges of a graph, with readable names for its types."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

import numpy as np
from numpy.typing import NDArray

from orienteer.graph.builder import GraphBuilder
from orienteer.ingest.formats.rdf.edges import FileRows, RdfEdgeMaker
from orienteer.ingest.formats.rdf.nodes import Classes, RdfNodeMaker
from orienteer.ingest.formats.rdf.parser import BASE
from orienteer.ingest.formats.rdf.shapes import ABSENT, Mask, Shapes
from orienteer.ingest.formats.rdf.triples import Literals, Triples, column
from orienteer.ingest.formats.rdf.values import Languages
from orienteer.ingest.formats.rdf.vocabulary import (
    PREFIXES,
    RDF,
    RDFS,
    RESERVED,
    WIKIBASE,
    Prefixes,
    type_names,
)
from orienteer.ingest.formats.table import NODE_ROWS
from orienteer.ingest.tables.labels import Labels
from orienteer.ingest.tables.nodes import DEFAULT_TYPE

CLASS, PROPERTY = "Class", "Property"
"""Node types of what the statements use as such, and say nothing else of."""


class RdfGraph:
    """The graph that the statements make."""

    def __init__(self, triples: Triples, declared: Sequence[Mapping[str, str]]) -> None:
        self._triples = triples
        self._iris = list(triples.terms)
        self._own, self._all = Prefixes(declared), Prefixes([*declared, PREFIXES])
        self.shapes = shapes = Shapes(triples)
        self._ids = [self._id(iri) for iri in self._iris]
        ranks = {number: rank for number, (role, rank) in enumerate(triples.roles) if role == "type"}
        self._classes = Classes(shapes, self._iris, ranks)
        self._is_node = self._find_nodes()
        self._names = self._name_predicates()
        self._class_names = self._name_classes()

    def _id(self, iri: str) -> str:
        """Return the id of a term: prefixed where a file declares it so, an address within a file without the base."""
        if iri.startswith(BASE):
            return iri.removeprefix(BASE) or iri
        short = self._own.short(iri)
        return iri if short in self._triples.terms else short

    def _find_nodes(self) -> Mask:
        """Say which terms are nodes, and leave out the types that lead to none: classes that nothing describes."""
        shapes, types = self.shapes, self._classes.rows
        is_node: Mask = np.zeros(shapes.size, np.bool_)
        is_node[shapes.source[shapes.keep]] = True
        is_node[shapes.subject[shapes.keep_literal]] = True
        is_node[[subject for subject, _, _ in shapes.moved]] = True
        joins = shapes.keep.copy()
        joins[types] = False
        for ends in (shapes.target[joins], column(shapes.list_edges.source), column(shapes.list_edges.target)):
            is_node[ends] = True
        shapes.keep[types[~is_node[shapes.target[types]]]] = False
        return is_node

    # ---- names

    def _name_predicates(self) -> dict[int, str]:
        """Return the edge type, or the name as a property, of each predicate."""
        shapes, roles = self.shapes, self._triples.roles
        iris = list(self._triples.predicates)
        parts = (shapes.predicate[shapes.keep], column(shapes.list_edges.predicate), shapes.predicate[shapes.remarks])
        literal = [predicate for predicate in np.unique(shapes.literal_predicate).tolist() if roles[predicate][0] == ""]
        used = sorted({*np.unique(np.concatenate(parts)).tolist(), *literal})
        names = type_names([iris[predicate] for predicate in used], self._all, taken=RESERVED)
        return {number: names.get(iri) or self._all.short(iri) for number, iri in enumerate(iris)}

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
        terms, iris = self._triples.terms, list(self._triples.predicates)
        shapes = self.shapes
        used = np.unique(np.concatenate([shapes.predicate[shapes.keep], column(shapes.list_edges.predicate)])).tolist()
        by_predicate = {
            terms[iris[predicate]]: self._names[predicate] for predicate in used if iris[predicate] in terms
        }
        types: dict[int, list[str]] = {}
        for term, name in (*self._class_names.items(), *by_predicate.items()):
            types.setdefault(term, []).append(name)
        for row in shapes.rows(f"{WIKIBASE}directClaim").tolist():
            meant = by_predicate.get(int(shapes.target[row]))
            if meant is not None:
                types.setdefault(int(shapes.source[row]), []).append(meant)
        return types

    def _entailed_types(self) -> dict[int, str]:
        """Return what a term is by its place in statements alone (RDFS, rules 2 to 4): a class, or a property."""
        terms, shapes = self._triples.terms, self.shapes
        types, below = (self._triples.predicates.get(iri, ABSENT) for iri in (f"{RDF}type", f"{RDFS}subClassOf"))
        rows = np.flatnonzero(shapes.predicate == types), np.flatnonzero(shapes.keep & (shapes.predicate == below))
        classes = (shapes.target[rows[0]], shapes.source[rows[1]], shapes.target[rows[1]])
        properties = dict.fromkeys((terms[iri] for iri in self._triples.predicates if iri in terms), PROPERTY)
        return properties | dict.fromkeys(np.unique(np.concatenate(classes)).tolist(), CLASS)

    # ---- into the builder

    def add_nodes(self, builder: GraphBuilder, languages: Languages) -> Labels:
        """Add all nodes, and return the labels of types that they hold."""
        labels, types, entailed = Labels(), self._described_types(), self._entailed_types()
        maker = RdfNodeMaker(
            self._triples.roles, self._names, languages=languages, class_name=self._class_names.__getitem__
        )
        literals = self._literals()
        for numbers in _parts(np.flatnonzero(self._is_node)):
            rows = zip(numbers.tolist(), literals.of(numbers), self._classes.of(numbers), strict=True)
            for number, texts, classes in rows:
                otherwise = entailed.get(number, DEFAULT_TYPE)
                named_node = maker.make(self._ids[number], self._iris[number], texts, classes, otherwise=otherwise)
                builder.add_node(named_node.node)
                if named_node.is_named and number in types:
                    for name in types[number]:
                        labels.add(name, named_node.node.name, named_node.node.aliases)
            literals.forget()
        return labels

    def _literals(self) -> Literals:
        """Return the literals of nodes, those out of lists with those whose lists they were."""
        shapes = self.shapes
        rows = np.flatnonzero(shapes.keep_literal)
        moved = np.array(shapes.moved, np.int64).reshape(-1, 3)
        return Literals(
            self._triples,
            np.concatenate([shapes.subject[rows], moved[:, 0].astype(np.int32)]),
            np.concatenate([shapes.literal_predicate[rows], moved[:, 1].astype(np.int32)]),
            np.concatenate([rows, moved[:, 2]]),
        )

    def add_edges(self, builder: GraphBuilder, sources: Sequence[FileRows]) -> None:
        """Add all edges, a file at a time."""
        maker = RdfEdgeMaker(self._triples, self.shapes, self._ids, self._names)
        for source in sources:
            for batch in maker.batches(source):
                builder.add_edges(batch)

    @property
    def unheard(self) -> list[tuple[int, bool]]:
        """Return the statements that something is said of though they carry nothing, and whether each is a literal.

        The others are types that are no edges.
        """
        types = [(row, False) for row in sorted(self.shapes.reifiers) if not self.shapes.keep[row]]
        return [*((row, True) for row in self.shapes.about_values.tolist()), *types]

    def subject_of(self, row: int, is_literal: bool) -> str:
        """Return the id of a statement's subject."""
        subjects = self.shapes.subject if is_literal else self.shapes.source
        return self._ids[int(subjects[row])]


def _parts(numbers: NDArray[np.int64]) -> Iterable[NDArray[np.int32]]:
    """Cut a row of numbers into batches of nodes."""
    for low in range(0, len(numbers), NODE_ROWS):
        yield numbers[low : low + NODE_ROWS].astype(np.int32)
