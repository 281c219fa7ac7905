"""Reads RDF files as batches of statements, by pyoxigraph.

N-Triples and N-Quads have a statement a line: a broken line is dropped and counted, the others stand. In every other
syntax what follows a fault may mean anything, so the file is refused.
"""

from __future__ import annotations

import io
import re
from collections.abc import Iterator, Mapping, Sequence
from itertools import chain, islice
from pathlib import Path
from typing import TYPE_CHECKING, Any, BinaryIO, NamedTuple

from orienteer.errors import BadInput, MissingExtra
from orienteer.ingest.bounds import MOST_HELD, check_ratio
from orienteer.ingest.formats.files import READ, opened, stem, suffix
from orienteer.ingest.formats.table import Drop, shown

if TYPE_CHECKING:
    from pyoxigraph import Quad, RdfFormat

SYNTAXES: Mapping[str, str] = {
    ".nt": "N_TRIPLES",
    ".nq": "N_QUADS",
    ".ttl": "TURTLE",
    ".trig": "TRIG",
    ".rdf": "RDF_XML",
    ".owl": "RDF_XML",
    ".xml": "RDF_XML",
    ".jsonld": "JSON_LD",
}
"""The syntax that a file's suffix tells, as pyoxigraph names it."""
LINES = frozenset({"N_TRIPLES", "N_QUADS"})
"""Syntaxes with one statement a line."""
BASE = "base:///"
"""What relative addresses are resolved against, and stripped of again: a file's own place is nobody's name."""
MALFORMED = "malformed"
TOO_LONG = "a term of more than 16 MB"
"""The parser's own bound, at which it says that there is no more memory."""
PREFIXES = "shorten its prefixes"
TOO_DEEP = "quoted statements are nested too deeply"
BOM = b"\xef\xbb\xbf"
_READ = 1 << 20  # bytes of lines that are parsed at once
_BATCH = 10_000  # statements
_STEP = 16  # statements that are taken before they are weighed
_LONG = 2048  # bytes of a word; no browser has longer addresses
_XML_MARK = b"http://www.w3.org/1999/02/22-rdf-syntax-ns#"
_XML_HEAD = 1 << 16  # bytes of an XML file within which RDF names its namespace
_ENTITY = b"<!ENTITY"
_OVERLAP = len(_ENTITY) - 1  # bytes of it that may end one reading, and go on in the next
_SAFE_ENTITY = re.compile(rb"""<!ENTITY\s+[\w.:-]+\s+(?:"[^"&%<]{0,200}"|'[^'&%<]{0,200}')\s*>""")
_ROOT = re.compile(rb"(?s)(?>\s+|<\?.*?\?>|<!--.*?-->|<!DOCTYPE[^\[>]*(?:\[.*?\]\s*)?>)*+<([^\s/>!?]+)")
_TAIL = 4096  # bytes at a file's end among which its last element closes, whatever comments follow
DEEPEST = 1000
"""Levels of statements quoted within statements. The parser recurses, and far deeper it would end the process."""
_SHOWN = 400  # bytes of a line that is shown
_NESTING = re.compile(rb"<<\(|\)>>")
_PLACE = re.compile(r" (?:at|between) line \d+.*?(?=: )")  # where pyoxigraph says the place, which we say our own way


class QuadBatch(NamedTuple):
    """Statements, and where each stands: its line in N-Triples and N-Quads, else its number in the file."""

    quads: Sequence[Quad]
    lines: Sequence[int]


def is_rdf(path: Path) -> bool:
    """Return whether a file is RDF by its name; one called `.xml` by its first bytes as well."""
    name = suffix(path)
    if name not in SYNTAXES or not path.is_file():
        return False
    if name != ".xml" or path.stat().st_size == 0:
        return name != ".xml"
    with opened(path) as raw:
        return _XML_MARK in raw.read(_XML_HEAD)


class RdfDocument:
    """One RDF file."""

    def __init__(self, path: Path) -> None:
        """Raises `MissingExtra` without the package that parses RDF."""
        try:
            import pyoxigraph  # noqa: F401 (before anything is read)
        except ImportError as error:
            raise MissingExtra(f"reading {path.name}", "rdf") from error
        self.path = path
        self.prefixes: dict[str, str] = {}
        """Namespaces by prefix, as the file declares them; known as far as it has been read."""

    def batches(self, drop: Drop) -> Iterator[QuadBatch]:
        """Read the statements. Raises `BadInput` if they end before the file does."""
        from pyoxigraph import RdfFormat

        syntax = SYNTAXES[suffix(self.path)]
        read = _of_lines if syntax in LINES else self._of_whole
        with opened(self.path, has_lines=syntax in LINES) as raw:
            yield from read(raw, getattr(RdfFormat, syntax), drop)

    def _of_whole(self, raw: BinaryIO, form: RdfFormat, drop: Drop) -> Iterator[QuadBatch]:
        """Read a syntax whose statements span lines; nothing of it can be dropped."""
        from pyoxigraph import RdfFormat

        if form == RdfFormat.JSON_LD:
            form = self._streamed()
        reader, seen = _CheckedBytes(raw, self.path, is_xml=form == RdfFormat.RDF_XML), 0
        try:
            for batch in self._statements(reader, form):
                yield QuadBatch(batch, range(seen + 1, seen + 1 + len(batch)))
                seen += len(batch)
        except SyntaxError as error:
            raise BadInput(self._fault(error)) from error
        except MemoryError as error:
            raise BadInput(f"{self.path}, after statement {seen:,}: {TOO_LONG}; part it, or leave it out") from error
        if seen and not reader.is_closed:
            raise BadInput(f"{self.path} ends before its outermost element does: it is cut short; fetch it again")

    def _statements(self, reader: _CheckedBytes, form: RdfFormat) -> Iterator[list[Quad]]:
        """Yield some statements at a time, fewer if they are heavy, as a letter makes them by a long prefix."""
        from pyoxigraph import parse

        base = BASE + stem(self.path) + suffix(self.path)
        quads = parse(io.BufferedReader(reader, READ), form, base_iri=base, lenient=True)
        while first := list(islice(quads, 1)):
            self.prefixes |= quads.prefixes  # here, too: RDF/XML forgets them at its end
            batch, characters = first, 0
            while len(batch) < _BATCH and characters <= MOST_HELD and (some := list(islice(quads, _STEP))):
                batch += some
                characters += sum(len(str(quad)) for quad in some) if reader.has_long else 0
            reader.weigh(characters)
            yield batch
        self.prefixes |= quads.prefixes

    def _streamed(self) -> RdfFormat:
        """Return the JSON-LD parser that holds no more than it must, if the order of the file's keys allows it."""
        from pyoxigraph import RdfFormat

        with opened(self.path) as raw:
            try:
                for _ in self._statements(_CheckedBytes(raw, self.path), RdfFormat.STREAMING_JSON_LD):
                    pass
            except (SyntaxError, MemoryError):
                return RdfFormat.JSON_LD  # which takes about fifteen times the file in memory
        return RdfFormat.STREAMING_JSON_LD

    def _fault(self, error: SyntaxError) -> str:
        line = f", line {error.lineno}" if error.lineno else ""
        if "LoadDocumentCallback" in error.msg:
            return (
                f"{self.path}: its @context is an address, and no address is ever fetched: "
                "write the context itself into the file, or convert the file to N-Quads"
            )
        if "namespaces are required" in error.msg:
            return f"{self.path} is XML, but not RDF/XML (OWL/XML perhaps): save it as RDF/XML or as Turtle"
        return f"{self.path}{line}: {_reason(error)}; mend it, or name the file with the suffix of its syntax"


def _of_lines(raw: BinaryIO, form: RdfFormat, drop: Drop) -> Iterator[QuadBatch]:
    """Read statements that have a line each, many lines at once."""
    first = 1
    while lines := raw.read(_READ):
        lines += raw.readline()
        if first == 1:
            lines = lines.removeprefix(BOM)
        yield _parsed(lines, first, form, drop)
        first += lines.count(b"\n")


def _parsed(content: bytes, first: int, form: RdfFormat, drop: Drop) -> QuadBatch:
    """Parse lines together, or, if one is broken, each for itself: a quote left open takes those after it along."""
    from pyoxigraph import parse

    lines = content.split(b"\n")
    try:
        if any(line.count(b"<<(") > DEEPEST for line in lines):
            raise SyntaxError(TOO_DEEP)
        quads = list(parse(content, form, lenient=True))
    except (SyntaxError, MemoryError) as error:  # too much memory is the parser's own bound of a term
        if len(lines) > 1:
            batches = [_parsed(line, number, form, drop) for number, line in enumerate(lines, first)]
            return QuadBatch(*(list(chain.from_iterable(parts)) for parts in zip(*batches, strict=True)))
        why = _reason(error) if isinstance(error, SyntaxError) else TOO_LONG
        drop(MALFORMED, first, f"{shown(content[:_SHOWN].decode(errors='replace').rstrip())} ({why})")
        return QuadBatch((), ())
    if len(quads) == len(lines) - 1:
        return QuadBatch(quads, range(first, first + len(quads)))
    numbers = [
        number for number, line in enumerate(lines, first) if line.strip() and not line.lstrip().startswith(b"#")
    ]
    # Where two statements share a line nobody can say which is where: they count from the first of these lines.
    return QuadBatch(quads, numbers if len(numbers) == len(quads) else range(first, first + len(quads)))


def _reason(error: SyntaxError) -> str:
    """Return what the parser found wrong, without the place."""
    return _PLACE.sub("", error.msg).removeprefix("Parser error: ")


class _CheckedBytes(io.RawIOBase):
    """A file as the parser may read it: without a byte order mark, and with no entities that unpack to something huge.

    Ontologies declare entities for their namespaces. The parser expands whatever is declared, without a bound, so
    they have to be short, plain, and near the beginning.
    """

    def __init__(self, raw: BinaryIO, path: Path, *, is_xml: bool = False) -> None:
        self._raw, self._path, self._is_xml = raw, path, is_xml
        self._head = raw.read(_XML_HEAD).removeprefix(BOM)
        root = _ROOT.match(self._head) if is_xml else None
        self._depth = self._given = 0
        self.has_long = False
        """Whether a word was long enough for a namespace that makes every statement heavy."""
        self._follow(self._head)
        self._closing = b"</" + root[1] if root else b""
        self._tail = self._head[-_TAIL:]
        if is_xml:
            self._check(self._head, len(_SAFE_ENTITY.findall(self._head)))

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> int:  # Any: the buffer that io gives
        """Take what comes next. Raises `BadInput` for an entity that is declared after the beginning."""
        if self._head:
            content, self._head = self._head[: len(buffer)], self._head[len(buffer) :]
        else:
            content = self._raw.read(len(buffer))
            self._follow(content)
            if self._is_xml:
                self._check(self._tail[-_OVERLAP:] + content, 0)
                self._tail = (self._tail + content)[-_TAIL:]
        buffer[: len(content)] = content
        return len(content)

    def weigh(self, characters: int) -> None:
        """Count what statements came to. Raises `BadInput` if they come to more than a file of its size may."""
        self._given += characters
        check_ratio(self._path, self._path.stat().st_size, self._given, remedy=PREFIXES)

    @property
    def is_closed(self) -> bool:
        """Return whether the outermost element of XML was closed: the parser stops at the file's end without a word."""
        return self._closing in self._tail

    def _follow(self, content: bytes) -> None:
        """Raise `BadInput` if statements about statements nest too deeply; notice words that are long."""
        self.has_long = self.has_long or max(map(len, content.split()), default=0) > _LONG
        for bracket in _NESTING.findall(content):
            self._depth += 1 if bracket == b"<<(" else -1
            if self._depth > DEEPEST:
                raise BadInput(f"{self._path}: {TOO_DEEP}; leave that statement out")

    def _check(self, content: bytes, allowed: int) -> None:
        if content.count(_ENTITY) > allowed:
            raise BadInput(
                f"{self._path} declares an XML entity that is long, made of others, or far from the beginning: "
                "write out what it stands for, or convert the file to N-Triples"
            )
