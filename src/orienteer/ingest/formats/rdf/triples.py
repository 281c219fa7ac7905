"""Statements as columns of numbers, and literals on disk: what has to be known before the first node can be made.

What is said of one node may stand anywhere in any of the files. Memory holds the IRIs once and 25 bytes for a
statement; the literals wait in files and are taken up in the order of nodes.
"""

from __future__ import annotations

import re
from array import array
from collections.abc import Callable, Iterator, Mapping, Sequence
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray

from orienteer.index.arrays import Folder, Strings, StringWriter, decode, encode
from orienteer.ingest.bounds import check_ratio
from orienteer.ingest.formats.elements import TRUTH
from orienteer.ingest.formats.rdf.parser import PREFIXES, QuadBatch, RdfDocument
from orienteer.ingest.formats.rdf.vocabulary import RDF, XSD, PredicateRoles
from orienteer.ingest.report import Tally
from orienteer.ingest.tables.values import numeric, plain
from orienteer.records import JsonValue

if TYPE_CHECKING:
    import pyoxigraph

Numbers: TypeAlias = NDArray[np.int32]
Rows: TypeAlias = NDArray[np.int64]
Mask: TypeAlias = NDArray[np.bool_]
BLANK = "_:"
NO_GRAPH = -1
Statement: TypeAlias = tuple[int, int, int, int, int]
"""Subject, predicate, object, graph, line. The object is a term, or the kind of a literal."""


_WHOLE_NAMES = (
    *("integer", "int", "long", "short", "byte", "unsignedInt", "unsignedLong", "unsignedShort", "unsignedByte"),
    *("nonNegativeInteger", "positiveInteger", "nonPositiveInteger", "negativeInteger", "gYear"),
)
WHOLE = frozenset(XSD + name for name in _WHOLE_NAMES)
BROKEN = frozenset(XSD + name for name in ("decimal", "double", "float"))
DATED = frozenset(XSD + name for name in ("date", "gYearMonth"))
BOOLEAN = f"{XSD}boolean"
STRING = f"{XSD}string"
_ZONE = re.compile(r"(?<=\d)(?:Z|[+-]\d\d:\d\d)$")


class Literal(NamedTuple):
    """One literal: its predicate's number, its text, and `@en`, or the IRI of its datatype."""

    predicate: int
    text: str
    kind: str

    @property
    def is_text(self) -> bool:
        """Return whether it is words, not a number or a date or a thing of a private datatype."""
        return self.kind[:1] == "@" or self.kind == STRING

    @property
    def language(self) -> str:
        """Return its language, empty if it has none."""
        return self.kind[1:] if self.kind[:1] == "@" else ""

    @property
    def value(self) -> JsonValue:
        """Return the JSON value; a literal that does not fit its datatype stays text, an empty text is None."""
        text, kind = self.text, self.kind
        if kind in WHOLE:
            whole_number = numeric(text)
            return whole_number if isinstance(whole_number, int) else text
        if kind in BROKEN:
            try:
                return plain(float(text)) if "_" not in text else text
            except ValueError:
                return text
        if kind == BOOLEAN:
            return TRUTH.get(text.strip(), text)
        if kind in DATED:
            return _ZONE.sub("", text)  # a day is compared as a day
        return text or None


class FileRows(NamedTuple):
    """A file and its statements."""

    path: str
    edges: range
    literals: range


class Statements:
    """Statements of one sort as columns: those that join nodes, or those with a literal.

    After those that were read come members of lists, each in place of the statement that leads to its list.
    """

    def __init__(self, predicates: Mapping[str, int]) -> None:
        self._predicates = predicates
        self._taken = [array(code) for code in "iiiiI"]
        self.read = 0
        """The number of those that were read."""

    def extend(self, statements: Sequence[Statement]) -> None:
        """Take statements in."""
        if statements:
            for there, more in zip(self._taken, zip(*statements, strict=True), strict=True):
                there.extend(more)
            self.read += len(statements)

    def close(self) -> None:
        """Have all be read as columns."""
        self.subject, self.predicate, self.object, self.graph, self.line = map(np.asarray, self._taken)
        self._taken.clear()
        self.keep: Mask = np.ones(self.read, np.bool_)
        self.row: Numbers = np.arange(self.read, dtype=np.int32)
        """Where each was read; of a member of a list, where what leads to the list was, or its literal."""
        self.position: Numbers = np.zeros(0, np.int32)
        """The places of members in their lists."""

    def append(self, members: array[int]) -> None:
        """Add members of lists: five numbers each, subject, predicate, object, row and position."""
        *numbers, row, self.position = np.asarray(members).reshape(-1, 5).T
        columns = (self.subject, self.predicate, self.object)
        self.subject, self.predicate, self.object = map(np.concatenate, zip(columns, numbers, strict=True))
        self.graph, self.line = (np.concatenate([column, column[row]]) for column in (self.graph, self.line))
        self.row, self.keep = np.concatenate([self.row, row]), np.concatenate([self.keep, np.ones(len(row), np.bool_)])

    def having(self, *iris: str) -> Mask:
        """Say of each whether it has one of these predicates."""
        numbers = [self._predicates[iri] for iri in iris if iri in self._predicates]
        return np.isin(self.predicate, numbers) if numbers else np.zeros(len(self.predicate), np.bool_)

    def rows(self, *iris: str) -> Rows:
        """Return those with one of these predicates that are still kept."""
        return np.flatnonzero(self.having(*iris) & self.keep)


class Triples:
    """Takes statements in. Terms, predicates and kinds of literals are numbered as they come."""

    def __init__(self, folder: Path, roles: PredicateRoles, tally: Tally) -> None:
        self.terms: dict[str, int] = {}
        self.predicates: dict[str, int] = {}
        self.roles: list[tuple[str, int]] = []
        """Role and rank of each predicate."""
        self.kinds: dict[str, int] = {}
        self.edges, self.literals = Statements(self.predicates), Statements(self.predicates)
        self.files: list[FileRows] = []
        from pyoxigraph import BlankNode

        self._blank_type = BlankNode
        self._folder, self._known_roles, self._tally = folder, roles, tally
        self._texts = StringWriter(folder, "rdf")
        self._characters = 0
        """Of the terms that the file has brought so far."""
        self._blanks: dict[str, int] = {}
        self._blank_count = 0
        self._private: set[int] = set()

    def take_file(self, document: RdfDocument, tell: Callable[[int], None]) -> None:
        """Take the statements of a file in, and tell how many there are. Raises `BadInput`."""
        path, size = document.path, document.path.stat().st_size
        edges, literals = self.edges.read, self.literals.read
        self._blanks, self._characters = {}, 0
        for batch in document.batches(self._tally.dropping(str(path))):
            self._add(batch, document.prefixes)
            check_ratio(path, size, self._characters, remedy=PREFIXES)
            tell(self.edges.read + self.literals.read)
        self.files.append(FileRows(str(path), range(edges, self.edges.read), range(literals, self.literals.read)))

    def _add(self, batch: QuadBatch, declared: Mapping[str, str]) -> None:
        """Take statements in; `declared` holds the prefixes known so far."""
        from pyoxigraph import DefaultGraph, Literal, Triple

        term, terms_before = self._term, len(self.terms)
        edges, literals, texts = list[Statement](), list[Statement](), list[bytes]()
        for (subject, predicate, value, graph), line in zip(batch.quads, batch.lines, strict=True):
            number = self.predicates.get(predicate.value)
            if number is None:
                number = self.predicate_number(predicate.value, declared)
            if number in self._private:
                self._tally.leave_out(self._known_roles.spelled[predicate.value])
                continue
            kind = type(value)
            if kind is Literal:
                literals.append((term(subject), number, self._kind(value), NO_GRAPH, line))
                texts.append(encode(value.value))
            elif kind is Triple:
                self._reify(term(subject), value, line)
            else:
                named = NO_GRAPH if type(graph) is DefaultGraph else term(graph)
                edges.append((term(subject), number, term(value), named, line))
        self.edges.extend(edges)
        self.literals.extend(literals)
        self._texts.extend(texts)
        self._characters += sum(map(len, islice(reversed(self.terms), len(self.terms) - terms_before)))

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
            self._characters += len(kind)
        return number

    def _reify(self, reifier: int, triple: pyoxigraph.Triple, line: int) -> None:
        """Take a quoted statement in as RDF has always written them: a subject, a predicate and an object."""
        from pyoxigraph import Literal

        ends = {"subject": triple.subject, "predicate": triple.predicate, "object": triple.object}
        for name, end in ends.items():
            number = self.predicate_number(RDF + name)
            if isinstance(end, Literal):
                self.literals.extend([(reifier, number, self._kind(end), NO_GRAPH, line)])
                self._texts.extend([encode(end.value)])
            elif hasattr(end, "value"):
                self.edges.extend([(reifier, number, self._term(end), NO_GRAPH, line)])

    def predicate_number(self, iri: str, declared: Mapping[str, str] | None = None) -> int:
        """Return the number of a predicate, the next one for a new one."""
        number = self.predicates.get(iri)
        if number is None:
            number = self.predicates[iri] = len(self.predicates)
            self._characters += len(iri)
            self.roles.append(self._known_roles.of(iri, declared or {}))
            if self.roles[number][0] == "private":
                self._private.add(number)
        return number

    def close(self) -> Strings:
        """Have all be read; return the texts of the literals."""
        self.edges.close()
        self.literals.close()
        self._texts.close()
        return Folder(self._folder).strings("rdf")

    def clear(self) -> None:
        """Remove the files."""
        for path in self._texts.files:
            path.unlink(missing_ok=True)


class Grouped:
    """Rows of statements by a key of each; those of one key keep their order."""

    def __init__(self, keys: NDArray[Any], rows: Rows) -> None:  # Any: whole numbers of any width
        order = np.argsort(keys, kind="stable")
        self._keys, self._rows = keys[order], rows[order]

    def of(self, key: int) -> Rows:
        """Return the rows of a key."""
        own = self._keys.dtype.type(key)  # of any other width, all keys would be widened first
        low, high = (int(np.searchsorted(self._keys, own, side)) for side in ("left", "right"))
        return self._rows[low:high]

    def of_all(self, keys: Numbers) -> tuple[Rows, list[int]]:
        """Return the rows of several keys one after another, and how many each has."""
        starts, ends = (np.searchsorted(self._keys, keys, side) for side in ("left", "right"))
        counts = ends - starts
        # Where each row lies: the starts, each with the places that follow it.
        at = np.repeat(starts - np.concatenate([[0], np.cumsum(counts)[:-1]]), counts) + np.arange(counts.sum())
        return self._rows[at], counts.tolist()


class Literals:
    """Some literals by subject."""

    def __init__(self, statements: Statements, rows: Rows, kinds: Sequence[str], texts: Strings) -> None:
        self._statements, self._kinds, self._texts = statements, kinds, texts
        self._rows = Grouped(statements.subject[rows], rows)

    def of(self, subjects: Numbers) -> Iterator[list[Literal]]:
        """Return the literals of each of these subjects."""
        (rows, counts), statements = self._rows.of_all(subjects), self._statements
        literals = map(
            Literal,
            statements.predicate[rows].tolist(),
            map(decode, self._texts.take(statements.row[rows])),
            [self._kinds[kind] for kind in statements.object[rows].tolist()],
        )
        return (list(islice(literals, count)) for count in counts)
