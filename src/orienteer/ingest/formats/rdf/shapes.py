"""Undoes what RDF spells out with nodes in between: lists, restrictions, reified statements.

    x p (a b)                               x p a, position 0; x p b, position 1; literals in it are values of x
    x subClassOf [onProperty p; some y]     x p y: so ontologies in OWL write nearly all of their relations
    r subject x; predicate p; object y      x p y carries what else is said of r: rdf:Statement, rdf:reifies (RDF 1.2,
                                            RDF-star), owl:Axiom; where x p y is not itself stated, r stays a node

The nodes in between go with them, as long as nothing else is said of them or leads to them.
"""

from __future__ import annotations

from array import array
from collections.abc import Iterator
from typing import Any

import numpy as np

from orienteer.ingest.formats.rdf.triples import BLANK, Grouped, Mask, Numbers, Rows, Triples
from orienteer.ingest.formats.rdf.vocabulary import OWL, RDF, RDFS

ABSENT = -1
SUBJECTS = (f"{RDF}subject", f"{OWL}annotatedSource")
PREDICATES = (f"{RDF}predicate", f"{OWL}annotatedProperty")
OBJECTS = (f"{RDF}object", f"{OWL}annotatedTarget")
STRUCTURE = (*SUBJECTS, *PREDICATES, *OBJECTS, f"{RDF}type")
"""What says what a reified statement is; all else is said of it."""
FILLERS = (f"{OWL}someValuesFrom", f"{OWL}hasValue")
RESTRICTED = (f"{RDFS}subClassOf", f"{RDF}type")
"""What leads from a node to the restriction that it is under."""


class Shapes:
    """The statements, with what was spelled out put back."""

    def __init__(self, triples: Triples) -> None:
        self._triples = triples
        self.edges, self.literals = triples.edges, triples.literals
        self.reifiers: dict[int, list[int]] = {}
        """By edge the terms that say something of it."""
        self.remarks: Rows = np.zeros(0, np.int64)
        """Edges of reifiers, except those to the statements that they are about."""
        self.remark_literals: Rows = np.zeros(0, np.int64)
        """What they say with literals."""
        self.about_values: Rows = np.zeros(0, np.int64)
        """Literals that were reified: a property's value can carry nothing."""
        self._is_blank: Mask = np.fromiter((term.startswith(BLANK) for term in triples.terms), np.bool_)
        self._is_restriction = self.mask()
        self._restricted = self._fillers = np.zeros(0, np.int32)
        self._join_lists()
        self._join_restrictions()
        self._join_reified()

    def mask(self, *terms: Numbers) -> Mask:
        """Say of each term whether it is one of these."""
        mask: Mask = np.zeros(len(self._is_blank), np.bool_)
        for some in terms:
            mask[some] = True
        return mask

    def _object_of(self, *iris: str) -> Numbers:
        """Return by term where its edge with one of these predicates leads; ABSENT for none, and for several."""
        subjects, rows = self.edges.subject, self.edges.rows(*iris)
        objects = np.full(len(self._is_blank), ABSENT, np.int32)
        objects[subjects[rows]] = self.edges.object[rows]
        objects[np.bincount(subjects[rows], minlength=len(objects)) != 1] = ABSENT
        return objects

    def _has_more(self, *iris: str) -> Mask:
        """Say of each term whether it has statements besides those with these predicates."""
        both = (self.edges, self.literals)
        return self.mask(*(some.subject[some.keep & ~some.having(*iris, f"{RDF}type")] for some in both))

    def _remove(self, terms: Mask) -> None:
        """Leave out everything that is said of these terms."""
        for some in (self.edges, self.literals):
            some.keep &= ~terms[some.subject]

    def _is_target(self) -> Mask:
        """Say of each term whether an edge leads to it."""
        return self.mask(self.edges.object[self.edges.keep])

    def _join_lists(self) -> None:
        first, rest, nil = (RDF + name for name in ("first", "rest", "nil"))
        empty = self._triples.terms.get(nil)
        if empty is None:
            return  # no list ends
        edges, literals = self.edges, self.literals
        following, nodes = self._object_of(rest), self._object_of(first)
        is_cell = self._is_blank & (following != ABSENT) & ~self._has_more(first, rest)
        texts = np.full(len(is_cell), ABSENT, np.int64)
        rows = literals.rows(first)
        texts[literals.subject[rows]] = rows
        members, literal_members = array("i"), array("i")
        heads = np.flatnonzero(edges.keep & is_cell[edges.object] & ~is_cell[edges.subject])
        for row in heads.tolist():
            whose, predicate = int(edges.subject[row]), int(edges.predicate[row])
            for position, cell in enumerate(_cells(int(edges.object[row]), following, nodes, is_cell)):
                node, text = int(nodes[cell]), int(texts[cell])
                if node != ABSENT:
                    members.extend((whose, predicate, node, row, position))
                elif text != ABSENT:
                    literal_members.extend((whose, predicate, int(literals.object[text]), text, position))
        edges.keep[heads] = False
        self._remove(is_cell)
        edges.keep &= ~((edges.object == empty) & ~edges.having(rest))
        edges.append(members)
        literals.append(literal_members)

    def _join_restrictions(self) -> None:
        edges = self.edges
        properties, fillers = self._object_of(f"{OWL}onProperty"), self._object_of(*FILLERS)
        is_plain = self._is_blank & (properties != ABSENT) & (fillers != ABSENT)
        if not is_plain.any():
            return
        is_plain &= ~self._has_more(f"{OWL}onProperty", *FILLERS)
        is_plain[is_plain] = ~self._is_blank[fillers[is_plain]]  # a class made of others has a node of its own
        under = edges.rows(*RESTRICTED)
        under = under[is_plain[edges.object[under]]]
        restriction = edges.object[under]
        iris = list(self._triples.terms)
        numbers = {
            predicate: self._triples.predicate_number(iris[predicate])
            for predicate in np.unique(properties[restriction]).tolist()
        }
        edges.predicate[under] = [numbers[predicate] for predicate in properties[restriction].tolist()]
        edges.object[under] = fillers[restriction]
        self._is_restriction, self._restricted, self._fillers = is_plain, properties, fillers
        self._remove(is_plain & ~self._is_target())

    def _join_reified(self) -> None:
        edges, literals = self.edges, self.literals
        subjects, predicates, objects = (self._object_of(*iris) for iris in (SUBJECTS, PREDICATES, OBJECTS))
        is_reifier = (subjects != ABSENT) & (predicates != ABSENT) & ~self._is_target()
        if not is_reifier.any():
            return
        about_values = literals.rows(*OBJECTS)
        self.about_values = about_values[is_reifier[literals.subject[about_values]]]
        is_of_value = self.mask(literals.subject[self.about_values])
        self._remove(is_of_value)
        iris = list(self._triples.terms)
        kept = np.flatnonzero(edges.keep)
        stated = Grouped(_key(edges.subject[kept], edges.object[kept]), kept)
        joined = self.mask()
        for reifier in np.flatnonzero(is_reifier & ~is_of_value & (objects != ABSENT)).tolist():
            named, target = int(predicates[reifier]), int(objects[reifier])
            if self._is_restriction[target]:  # the edge that it has become
                named, target = int(self._restricted[target]), int(self._fillers[target])
            predicate = self._triples.predicates.get(iris[named], ABSENT)
            for row in stated.of(_key(int(subjects[reifier]), target)).tolist():  # one in each named graph that says it
                if edges.predicate[row] == predicate:
                    self.reifiers.setdefault(row, []).append(reifier)
                    joined[reifier] = True
        self.remarks = np.flatnonzero(edges.keep & joined[edges.subject] & ~edges.having(*STRUCTURE))
        self.remark_literals = np.flatnonzero(literals.keep & joined[literals.subject])
        self._remove(joined)
        self._remove(self._is_restriction & ~self._is_target())


def _key(source: Numbers | int, target: Numbers | int) -> Any:  # Any: what the ends are, one number or many
    """Return one number for two ends."""
    return np.asarray(source, np.int64) << 32 | target


def _cells(head: int, following: Numbers, nodes: Numbers, is_cell: Mask) -> Iterator[int]:
    """Return the cells of a list that hold its members, those of lists within it in their place."""
    waiting, seen = [head], set[int]()
    while waiting:
        cell = waiting.pop()
        if not is_cell[cell] or cell in seen:
            continue
        seen.add(cell)
        waiting.append(int(following[cell]))
        inner = int(nodes[cell])
        if inner != ABSENT and is_cell[inner]:
            waiting.append(inner)
        else:
            yield cell
