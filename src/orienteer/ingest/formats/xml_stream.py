"""Nodes and edges as graph formats in XML (GraphML, GEXF) write them, read as a stream.

A document type of the file's own is refused, so that no entity can be declared: entities are how a small file unpacks
to a huge one, or has another file read. A reference to an outer document type is passed over and never followed.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from xml.parsers import expat

from orienteer.errors import BadInput
from orienteer.graph.reserved import PART_OF
from orienteer.ingest.bounds import LONGEST_IRI, MOST_RECORD, check_ratio, too_long
from orienteer.ingest.formats.elements import EdgeElement, Fields, GraphReader, NodeElement
from orienteer.ingest.formats.files import opened
from orienteer.ingest.report import Tally
from orienteer.records import JsonValue

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


@dataclass(slots=True)
class Attribute:
    """An attribute that the file declares."""

    id: str
    name: str
    kind: str = "string"
    domain: str = "all"
    """What has it: `node`, `edge`, `all` of these, or something else."""
    is_drawing: bool = False
    is_json: bool = False


@dataclass(slots=True)
class OpenElement:
    """An element with values whose end has not come yet."""

    tag: str
    attributes: dict[str, str]
    line: int
    fields: Fields
    around: OpenElement | None
    """The node that it is in."""
    inner: list[str] = field(default_factory=list)
    """The nodes in a node."""
    outer: dict[str, None] = field(default_factory=dict)
    """The nodes that a node itself says it is in."""
    label: str = ""
    """What its drawing says."""


class ElementReader(GraphReader):
    """Reads the nodes and edges of one XML file. A format says what the begin and the end of an element mean."""

    root = ""
    """The name of the outermost element."""

    def __init__(self, path: Path, tally: Tally) -> None:
        super().__init__(path, tally)
        self.text: list[str] = []
        """Character data since it was last cleared."""
        self.names = Names("")
        self.open: list[OpenElement] = []
        self.attribute: Attribute | None = None
        """The one whose declaration or value is being read."""
        self._declared: dict[tuple[str, str], Attribute] = {}
        """By what has them and their ids."""
        self._defaults: dict[str, Fields] = {"node": {}, "edge": {}}
        self._default_size = self._defaulted = 0
        """Characters of the defaults, and those that elements were given by them: one text for any number of them."""
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

    def declare(self, attribute: Attribute) -> None:
        """Take the declaration of an attribute, whose default may follow."""
        self.attribute = self._declared[attribute.domain, attribute.id] = attribute
        if attribute.domain in ("edge", "all") and not attribute.is_drawing:
            self.edge_names[attribute.name] = None

    @abstractmethod
    def value(self, attribute: Attribute, text: str, line: int) -> JsonValue:
        """Return what a text is as the value of an attribute."""

    def take_default(self) -> None:
        """Take the text as the default of the attribute that is being declared."""
        attribute, text = self.attribute, "".join(self.text)
        if attribute is not None and not attribute.is_drawing:
            self._default_size += len(text) + len(attribute.name)
            for domain, defaults in self._defaults.items():
                if attribute.domain in (domain, "all"):
                    defaults[attribute.name] = self.value(attribute, text, self.line)

    def begin_element(self, tag: str, attributes: dict[str, str]) -> None:
        """Begin an element with values. Raises `BadInput` if the defaults come to too much."""
        self._defaulted += self._default_size
        check_ratio(
            self.path, self._read, self._defaulted, remedy="its defaults are long; write them where they belong"
        )
        above = self.open[-1] if self.open else None
        around = above.around if above and above.tag != "node" else above
        self.open.append(OpenElement(tag, attributes, self.line, dict(self._defaults.get(tag, ())), around))

    def end_node(self, ended: OpenElement) -> None:
        """Hand out a node, joined to those in it and to those that it says it is in."""
        node_id, around = ended.attributes.get("id", ""), ended.around
        self.add_node(node_id, ended.fields, ended.line)
        pairs = [(inner, node_id) for inner in ended.inner] + [(node_id, outer) for outer in ended.outer]
        for inner, outer in pairs:
            self.add_edge(EdgeElement(inner, outer, PART_OF, True, {}, ended.line))
        if around is not None and around.attributes.get("id") not in ended.outer:
            around.inner.append(node_id)

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
        text = "".join(self.text)
        self.text[:] = [text]
        if len(text) > MOST_RECORD:
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
