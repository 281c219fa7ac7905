"""Statements as columns of numbers, and literals on disk: what has to be known before the first node can be made.

What is said of one node may stand anywhere in any of the files. Memory holds the IRIs once, 20 bytes for a statement
that joins two nodes and 20 for one with a literal; the literals wait in files and are taken up in the order of nodes.
"""

from __future__ import annotations

from array import array
from collections.abc import Iterator, Mapping, Sequence
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from orienteer.index.arrays import Folder, Strings, StringWriter, decode, encode
from orienteer.ingest.formats.rdf.parser import QuadBatch
from orienteer.ingest.formats.rdf.values import Literal
from orienteer.ingest.formats.rdf.vocabulary import RDF, PredicateRoles
from orienteer.ingest.report import Tally

if TYPE_CHECKING:
    import pyoxigraph

Numbers: TypeAlias = NDArray[np.int32]
BLANK = "_:"
NO_GRAPH = -1
_Edge: TypeAlias = tuple[int, int, int, int, int]  # source, predicate, target, graph, line
_Valued: TypeAlias = tuple[int, int, int, int, bytes]  # subject, predicate, kind, line, text


class Triples:
    """Takes statements in. Terms, predicates and kinds of literals are numbered as they come."""

    def __init__(self, folder: Path, roles: PredicateRoles, tally: Tally) -> None:
        self.terms: dict[str, int] = {}
        self.predicates: dict[str, int] = {}
        self.roles: list[tuple[str, int]] = []
        """Role and rank of each predicate."""
        self.kinds: dict[str, int] = {}
        self.source, self.predicate, self.target, self.graph, self.line = (array(code) for code in "iiiiI")
        self.literal_subject, self.literal_predicate, self.literal_kind, self.literal_line = (
            array(code) for code in "iiiI"
        )
        from pyoxigraph import BlankNode

        self._blank_type = BlankNode
        self._folder, self._known_roles, self._tally = folder, roles, tally
        self._texts = StringWriter(folder, "rdf")
        self.characters = 0
        """Of the terms that the file has brought so far."""
        self._blanks: dict[str, int] = {}
        self._blank_count = 0
        self._private: set[int] = set()

    @property
    def counts(self) -> tuple[int, int]:
        """Count the edges and the literals so far."""
        return len(self.source), len(self.literal_subject)

    def begin_file(self) -> tuple[int, int]:
        """Forget the blank nodes of the file before; return the counts before this one."""
        self._blanks = {}
        self.characters = 0
        return self.counts

    def add(self, batch: QuadBatch, declared: Mapping[str, str]) -> None:
        """Take statements in; `declared` holds the prefixes known so far."""
        from pyoxigraph import DefaultGraph, Literal, Triple

        term, edges, literals, terms_before = self._term, list[_Edge](), list[_Valued](), len(self.terms)
        for (subject, predicate, value, graph), line in zip(batch.quads, batch.lines, strict=True):
            number = self.predicates.get(predicate.value)
            if number is None:
                number = self.predicate_number(predicate.value, declared)
            if number in self._private:
                self._tally.leave_out(self._known_roles.spelled[predicate.value])
                continue
            kind = type(value)
            if kind is Literal:
                literals.append((term(subject), number, self._kind(value), line, encode(value.value)))
            elif kind is Triple:
                self._reify(term(subject), value, line)
            else:
                named = NO_GRAPH if type(graph) is DefaultGraph else term(graph)
                edges.append((term(subject), number, term(value), named, line))
        self._extend(edges, literals)
        self.characters += sum(map(len, islice(reversed(self.terms), len(self.terms) - terms_before)))

    def _extend(self, edges: Sequence[_Edge], literals: Sequence[_Valued]) -> None:
        if edges:
            numbers = (self.source, self.predicate, self.target, self.graph, self.line)
            for there, more in zip(numbers, zip(*edges, strict=True), strict=True):
                there.extend(more)
        if literals:
            *columns, texts = zip(*literals, strict=True)
            literal_columns = (self.literal_subject, self.literal_predicate, self.literal_kind, self.literal_line)
            for there, more in zip(literal_columns, columns, strict=True):
                there.extend(more)
            self._texts.extend(texts)

    def _term(self, term: Any) -> int:  # Any: an IRI or a blank node of pyoxigraph's
        if type(term) is not self._blank_type:
            return self.terms.setdefault(term.value, len(self.terms))
        number = self._blanks.get(term.value)
        if number is None:
            self._blank_count += 1
            number = self._blanks[term.value] = len(self.terms)
            self.terms[f"{BLANK}b{self._blank_count}"] = number
        return number

    def _kind(self, literal: pyoxigraph.Literal) -> int:
        kind = f"@{literal.language}" if literal.language else literal.datatype.value
        number = self.kinds.get(kind)
        if number is None:
            number = self.kinds[kind] = len(self.kinds)
            self.characters += len(kind)
        return number

    def _reify(self, reifier: int, triple: pyoxigraph.Triple, line: int) -> None:
        """Take a quoted statement in as RDF has always written them: a subject, a predicate and an object."""
        from pyoxigraph import Literal

        ends: list[tuple[str, Any]] = [("subject", triple.subject), ("predicate", triple.predicate)]
        quoted, literals = triple.object, list[_Valued]()
        if isinstance(quoted, Literal):
            number = self.predicate_number(f"{RDF}object")
            literals.append((reifier, number, self._kind(quoted), line, encode(quoted.value)))
        elif hasattr(quoted, "value"):
            ends.append(("object", quoted))
        edges = [(reifier, self.predicate_number(RDF + name), self._term(end), NO_GRAPH, line) for name, end in ends]
        self._extend(edges, literals)

    def predicate_number(self, iri: str, declared: Mapping[str, str] | None = None) -> int:
        """Return the number of a predicate, the next one for a new one."""
        number = self.predicates.get(iri)
        if number is None:
            number = self.predicates[iri] = len(self.predicates)
            self.characters += len(iri)
            self.roles.append(self._known_roles.of(iri, declared or {}))
            if self.roles[number][0] == "private":
                self._private.add(number)
        return number

    def texts(self) -> Strings:
        """Finish the file of literals and map it."""
        self._texts.close()
        return Folder(self._folder).strings("rdf")

    def clear(self) -> None:
        """Remove the files."""
        for path in self._texts.files:
            path.unlink(missing_ok=True)


class Literals:
    """The literals by subject. `rows` says which text each entry has; entries of a subject keep their order."""

    def __init__(self, triples: Triples, subject: Numbers, predicate: Numbers, rows: NDArray[np.int64]) -> None:
        order = np.argsort(subject, kind="stable")
        self.subject, self._predicate, self._rows = subject[order], predicate[order], rows[order]
        self._kind = column(triples.literal_kind)
        self._kinds = list(triples.kinds)
        self._texts = triples.texts()

    def of(self, subjects: Numbers) -> Iterator[list[Literal]]:
        """Return the literals of each of these subjects."""
        starts, ends = (np.searchsorted(self.subject, subjects, side) for side in ("left", "right"))
        counts = ends - starts
        total = int(counts.sum())
        # Where each entry lies: the starts, each with the places that follow it.
        at = np.repeat(starts - np.concatenate([[0], np.cumsum(counts)[:-1]]), counts) + np.arange(total)
        rows = self._rows[at]
        of_subjects = map(
            Literal,
            self._predicate[at].tolist(),
            map(decode, self._texts.take(rows)),
            [self._kinds[kind] for kind in self._kind[rows].tolist()],
        )
        for count in counts.tolist():
            yield [next(of_subjects) for _ in range(count)]

    def forget(self) -> None:
        """Let go of the texts that were read."""
        self._texts.forget()


def column(numbers: array[int]) -> Numbers:
    """Return an array of whole numbers as one of numpy's, over the same memory."""
    return np.frombuffer(numbers, np.int32) if numbers else np.zeros(0, np.int32)
