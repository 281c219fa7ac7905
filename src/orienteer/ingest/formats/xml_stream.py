"""Nodes and edges as graph formats in XML (GraphML, GEXF) write them, read as a stream.

A document type of the file's own is refused, so that no entity can be declared: entities are how a small file unpacks
to a huge one, or has another file read. A reference to an outer document type is passed over and never followed.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Iterator
from pathlib import Path
from xml.parsers import expat

from orienteer.errors import BadInput
from orienteer.ingest.bounds import LONGEST_IRI, MOST_RECORD, check_ratio, too_long
from orienteer.ingest.formats.elements import EdgeElement, GraphReader, NodeElement
from orienteer.ingest.formats.files import opened
from orienteer.ingest.report import Tally

CHUNK = 1 << 18
"""Bytes that are parsed at once."""
LONGEST_TAG = 1 << 23
"""Bytes of one tag with its attributes, or of one comment: the parser starts on these again with every chunk."""


class Names(dict[str, str]):
    """The names of elements, for comparison: bare in the root's namespace, after a colon in any other."""

    def __init__(self, own: str) -> None:
        self._own = own

    def __missing__(self, name: str) -> str:
        space, _, local = name.rpartition(" ")
        short = self[name] = local if space in ("", self._own) else f":{local}"
        return short


class ElementText(list[str]):
    """Character data in parts as they come, and how much of it has been counted."""

    counted = characters = 0

    def clear(self) -> None:
        """Begin a new text."""
        super().clear()
        self.counted = self.characters = 0


class ElementReader(GraphReader):
    """Reads the nodes and edges of one XML file. A format says what the begin and the end of an element mean."""

    root = ""
    """The name of the outermost element."""

    def __init__(self, path: Path, tally: Tally) -> None:
        super().__init__(path, tally)
        self.text = ElementText()
        """Character data since it was last cleared."""
        self.names = Names("")
        self._defaulted = 0
        """Characters that elements have been given because a default says so: one text for any number of them."""
        self._read = 0
        self._has_begun = False

    @abstractmethod
    def begin(self, name: str, attributes: dict[str, str]) -> None:
        """Take the begin of an element; `self.names[name]` is its name to compare."""

    @abstractmethod
    def end(self, name: str) -> None:
        """Take the end of an element."""

    @property
    def line(self) -> int:
        """Return the line that is being read."""
        return self._parser.CurrentLineNumber

    def elements(self) -> Iterator[NodeElement | EdgeElement]:
        """Read the file. Raises `BadInput` if it is no XML of this format, or not whole."""
        self._parser = parser = expat.ParserCreate(namespace_separator=" ")
        parser.buffer_text = True
        parser.StartElementHandler = self._outermost
        parser.EndElementHandler = self.end
        parser.CharacterDataHandler = self.text.append
        parser.StartNamespaceDeclHandler = self._check_namespace
        parser.StartDoctypeDeclHandler = self._refuse_doctype
        parser.SkippedEntityHandler = self._refuse_entity
        with opened(self.path) as raw:
            while content := raw.read(CHUNK):
                self._read += len(content)
                yield from self._parsed(content)
            yield from self._parsed(b"")

    def default(self, size: int) -> None:
        """Count characters that an element is given by defaults. Raises `BadInput` if they come to too much."""
        self._defaulted += size
        check_ratio(
            self.path, self._read, self._defaulted, remedy="its defaults are long; write them where they belong"
        )

    def _parsed(self, content: bytes) -> list[NodeElement | EdgeElement]:
        parser = self._parser
        try:
            parser.Parse(content, not content)
        except expat.ExpatError as error:
            raise BadInput(
                f"{self.path}, line {error.lineno}, column {error.offset + 1}: broken XML "
                f"({expat.ErrorString(error.code)}); is the file cut short?"
            ) from error
        except (LookupError, ValueError) as error:
            if self._has_begun:
                raise
            # Of the encoding that the first line names.
            raise BadInput(f"{self.path}: {error}; save it as UTF-8") from error
        if self._read - max(parser.CurrentByteIndex, 0) > LONGEST_TAG:
            raise BadInput(f"{self.path}, line {self.line}: a tag or comment of more than {LONGEST_TAG >> 20} MB")
        self._check_text()
        return self.taken()

    def _check_text(self) -> None:
        """Raise `BadInput` if a text goes on too long."""
        text = self.text
        text.characters += sum(map(len, text[text.counted :]))
        text.counted = len(text)
        if text.characters > MOST_RECORD:
            raise too_long(self.path, f"line {self.line:,}", "text")

    def _check_namespace(self, prefix: str | None, address: str | None) -> None:
        """Raise `BadInput` for a namespace that makes every name long."""
        if len(address or "") > LONGEST_IRI:
            raise BadInput(
                f"{self.path}, line {self.line:,}: a namespace of {len(address or ''):,} characters; shorten it"
            )

    def _outermost(self, name: str, attributes: dict[str, str]) -> None:
        space, _, local = name.rpartition(" ")
        if local != self.root:
            raise BadInput(f"{self.path} is XML, but begins with <{local}> where <{self.root}> is expected")
        self.names, self._has_begun = Names(space), True
        self._parser.StartElementHandler = self.begin

    def _refuse_doctype(self, name: str, system: str | None, public: str | None, has_own: int) -> None:
        if has_own:
            raise BadInput(
                f"{self.path}, line {self.line}: a document type of its own (<!DOCTYPE ... [ ... ]>), "
                "which could declare entities, is not read: remove it"
            )

    def _refuse_entity(self, name: str, is_parameter: bool) -> None:
        raise BadInput(f"{self.path}, line {self.line}: the entity &{name}; is declared nowhere: write its character")
