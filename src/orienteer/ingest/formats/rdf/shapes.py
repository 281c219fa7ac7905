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
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from orienteer.ingest.formats.rdf.triples import BLANK, Numbers, Triples, column
from orienteer.ingest.formats.rdf.vocabulary import OWL, RDF, RDFS

Mask: TypeAlias = NDArray[np.bool_]
Rows: TypeAlias = NDArray[np.int64]
ABSENT = -1
SUBJECTS = (f"{RDF}subject", f"{OWL}annotatedSource")
PREDICATES = (f"{RDF}predicate", f"{OWL}annotatedProperty")
OBJECTS = (f"{RDF}object", f"{OWL}annotatedTarget")
FILLERS = (f"{OWL}someValuesFrom", f"{OWL}hasValue")
RESTRICTED = (f"{RDFS}subClassOf", f"{RDF}type")
"""What leads from a node to the restriction that it is under."""


class ListEdges:
    """Edges that stand for others: from the members of lists. `row` is the edge that each comes from."""

    def __init__(self) -> None:
        self.source, self.predicate, self.target, self.row, self.position = (array("i") for _ in range(5))

    def add(self, source: int, predicate: int, target: int, *, row: int, position: int) -> None:
        """Add an edge."""
        for numbers, value in (
            (self.source, source),
            (self.predicate, predicate),
            (self.target, target),
            (self.row, row),
            (self.position, position),
        ):
            numbers.append(value)


class Shapes:
    """The statements, with what was spelled out put back."""

    def __init__(self, triples: Triples) -> None:
        self._triples = triples
        self.source, self.predicate, self.target = map(column, (triples.source, triples.predicate, triples.target))
        self.keep: Mask = np.ones(len(self.source), np.bool_)
        """The statements that are edges."""
        self.subject, self.literal_predicate = map(column, (triples.literal_subject, triples.literal_predicate))
        self.keep_literal: Mask = np.ones(len(self.subject), np.bool_)
        self.list_edges = ListEdges()
        self.moved: list[tuple[int, int, int]] = []
        """Literals out of lists: whose they are now, by which predicate, and their rows."""
        self.reifiers: dict[int, list[int]] = {}
        """By edge the terms that say something of it."""
        self.remarks: Rows = np.zeros(0, np.int64)
        """Edges of reifiers, except those to the statements that they are about."""
        self.remark_literals: Rows = np.zeros(0, np.int64)
        """What they say with literals."""
        self.about_values: Rows = np.zeros(0, np.int64)
        """Literals that were reified: a property's value can carry nothing."""
        self._is_blank = np.fromiter((term.startswith(BLANK) for term in triples.terms), np.bool_)
        self._is_restriction: Mask = np.zeros(self.size, np.bool_)
        self._restricted: Numbers = np.zeros(0, np.int32)
        self._fillers: Numbers = np.zeros(0, np.int32)
        self._join_lists()
        self._join_restrictions()
        self._join_reified()

    @property
    def size(self) -> int:
        """Count the terms."""
        return len(self._is_blank)

    def rows(self, *iris: str) -> Rows:
        """Return the edges with one of these predicates that are still kept."""
        return np.flatnonzero(self._among(self.predicate, iris) & self.keep)

    def _literals(self, *iris: str) -> Rows:
        return np.flatnonzero(self._among(self.literal_predicate, iris) & self.keep_literal)

    def _among(self, predicates: Numbers, iris: tuple[str, ...]) -> Mask:
        numbers = [self._triples.predicates[iri] for iri in iris if iri in self._triples.predicates]
        return np.isin(predicates, numbers) if numbers else np.zeros(len(predicates), np.bool_)

    def _value_of(self, rows: Rows) -> Numbers:
        """Return by term where these edges lead from it; ABSENT for those with none or with several."""
        values = np.full(self.size, ABSENT, np.int32)
        values[self.source[rows]] = self.target[rows]
        values[np.bincount(self.source[rows], minlength=self.size) != 1] = ABSENT
        return values

    def _has_more(self, *iris: str) -> Mask:
        """Say of each term whether it has statements besides those with these predicates."""
        more: Mask = np.zeros(self.size, np.bool_)
        predicates = (*iris, f"{RDF}type")
        more[self.source[self.keep & ~self._among(self.predicate, predicates)]] = True
        more[self.subject[self.keep_literal & ~self._among(self.literal_predicate, predicates)]] = True
        return more

    def _remove(self, terms: Mask) -> None:
        """Leave out everything that is said of these terms."""
        self.keep &= ~terms[self.source]
        self.keep_literal &= ~terms[self.subject]

    # ---- lists

    def _join_lists(self) -> None:
        first, rest, nil = (RDF + name for name in ("first", "rest", "nil"))
        empty = self._triples.terms.get(nil)
        if empty is None:
            return  # no list ends
        following = self._value_of(self.rows(rest))
        is_cell = self._is_blank & (following != ABSENT) & ~self._has_more(first, rest)
        nodes = self._value_of(self.rows(first))
        texts = np.full(self.size, ABSENT, np.int64)
        rows = self._literals(first)
        texts[self.subject[rows]] = rows
        heads = np.flatnonzero(self.keep & is_cell[self.target] & ~is_cell[self.source])
        for row in heads.tolist():
            whose, predicate = int(self.source[row]), int(self.predicate[row])
            for position, cell in enumerate(_cells(int(self.target[row]), following, nodes, is_cell)):
                if nodes[cell] != ABSENT:
                    self.list_edges.add(whose, predicate, int(nodes[cell]), row=row, position=position)
                elif texts[cell] != ABSENT:
                    self.moved.append((whose, predicate, int(texts[cell])))
        self.keep[heads] = False
        self._remove(is_cell)
        self.keep &= ~((self.target == empty) & (self.predicate != self._triples.predicates.get(rest, ABSENT)))

    # ---- restrictions

    def _join_restrictions(self) -> None:
        on = self.rows(f"{OWL}onProperty")
        if not len(on):
            return
        properties, fillers = self._value_of(on), self._value_of(self.rows(*FILLERS))
        is_plain = self._is_blank & (properties != ABSENT) & (fillers != ABSENT)
        is_plain &= ~self._has_more(f"{OWL}onProperty", *FILLERS)
        is_plain[is_plain] = ~self._is_blank[fillers[is_plain]]  # a class made of others has a node of its own
        under = self.rows(*RESTRICTED)
        under = under[is_plain[self.target[under]]]
        restriction = self.target[under]
        iris = list(self._triples.terms)
        numbers = {
            predicate: self._triples.predicate_number(iris[predicate])
            for predicate in np.unique(properties[restriction]).tolist()
        }
        self.predicate[under] = [numbers[predicate] for predicate in properties[restriction].tolist()]
        self.target[under] = fillers[restriction]
        self._is_restriction, self._restricted, self._fillers = is_plain, properties, fillers
        self._remove(is_plain & ~self._is_target())

    def _is_target(self) -> Mask:
        """Say of each term whether an edge leads to it."""
        is_target: Mask = np.zeros(self.size, np.bool_)
        is_target[self.target[self.keep]] = True
        is_target[column(self.list_edges.target)] = True
        return is_target

    # ---- reified statements

    def _join_reified(self) -> None:
        rows = self.rows(*SUBJECTS)
        if not len(rows):
            return
        subjects, predicates = self._value_of(rows), self._value_of(self.rows(*PREDICATES))
        objects = self._value_of(self.rows(*OBJECTS))
        is_reifier = (subjects != ABSENT) & (predicates != ABSENT) & ~self._is_target()
        literals = self._literals(*OBJECTS)
        literals = literals[is_reifier[self.subject[literals]]]
        is_of_value: Mask = np.zeros(self.size, np.bool_)
        is_of_value[self.subject[literals]] = True
        self.about_values = literals
        self._remove(is_of_value)
        reifiers = np.flatnonzero(is_reifier & ~is_of_value & (objects != ABSENT))
        iris = list(self._triples.terms)
        stated = _Statements(self)
        joined: Mask = np.zeros(self.size, np.bool_)
        for reifier in reifiers.tolist():
            named, target = int(predicates[reifier]), int(objects[reifier])
            if self._is_restriction[target]:  # the edge that it has become
                named, target = int(self._restricted[target]), int(self._fillers[target])
            predicate = self._triples.predicates.get(iris[named], ABSENT)
            for row in stated.find(int(subjects[reifier]), predicate, target):
                self.reifiers.setdefault(row, []).append(reifier)
                joined[reifier] = True
        self.remarks = np.flatnonzero(self.keep & joined[self.source] & ~self._among(self.predicate, _STRUCTURE))
        self.remark_literals = np.flatnonzero(self.keep_literal & joined[self.subject])
        self._remove(joined)
        self._remove(self._is_restriction & ~self._is_target())


_STRUCTURE = (*SUBJECTS, *PREDICATES, *OBJECTS, f"{RDF}type")


class _Statements:
    """The edges by their ends."""

    def __init__(self, shapes: Shapes) -> None:
        self._predicate = shapes.predicate
        rows = np.flatnonzero(shapes.keep)
        keys = shapes.source[rows].astype(np.int64) << 32 | shapes.target[rows]
        order = np.argsort(keys, kind="stable")
        self._rows, self._keys = rows[order], keys[order]

    def find(self, source: int, predicate: int, target: int) -> Iterator[int]:
        """Return the edges that are this statement; one in several named graphs is there as often."""
        key = source << 32 | target
        low, high = (int(np.searchsorted(self._keys, key, side)) for side in ("left", "right"))
        return (row for row in self._rows[low:high].tolist() if self._predicate[row] == predicate)


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
