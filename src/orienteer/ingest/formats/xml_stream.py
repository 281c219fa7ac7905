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
class Owner:
    """A node, an edge or another element with values."""

    tag: str
    attributes: dict[str, str]
    line: int
    around: Owner | None
    """The node that it is in."""
    fields: Fields = field(default_factory=dict)
    inner: list[str] = field(default_factory=list)
    """The nodes in a node."""
    outer: dict[str, None] = field(default_factory=dict)
    """The nodes that a node itself says it is in."""
    label: str = ""
    """What its drawing says."""


@dataclass(slots=True)
class XmlElement:
    """Any element, with what is known of it so far."""

    tag: str
    attributes: dict[str, str]
    above: XmlElement | None
    owner: Owner | None
    """The innermost element with values that it is in, or is."""
    text: str = ""
    """What stands before the first element in it."""
    is_markup: bool = False
    """Elements are in it."""


class ElementReader(GraphReader):
    """Reads the nodes and edges of one XML file. A format says what an element means at its end."""

    root = ""
    """The name of the outermost element."""
    owners: frozenset[str]
    """The elements with values, and those that declare them."""

    def __init__(self, path: Path, tally: Tally) -> None:
        super().__init__(path, tally)
        self.names = Names("")
        self.text: list[str] = []
        """Character data since an element began or ended."""
        self._open = [XmlElement("", {}, None, None)]
        self._declared: dict[tuple[str, str], Attribute] = {}
        """By what has them and their ids."""
        self._defaults: dict[str, Fields] = {"node": {}, "edge": {}}
        self._default_size = self._defaulted = 0
        """Characters of the defaults, and those that elements were given by them: one text for any number of them."""
        self._read = 0
        self._has_begun = False

    @abstractmethod
    def take(self, ended: XmlElement) -> None:
        """Take an element."""

    @abstractmethod
    def value(self, attribute: Attribute, text: str, line: int) -> JsonValue:
        """Return what a text is as the value of an attribute."""

    @property
    def line(self) -> int:
        """Return the line that is being read."""
        return self._parser.CurrentLineNumber

    def elements(self) -> Iterator[NodeElement | EdgeElement]:
        """Read the file. Raises `BadInput` if it is no XML of this format, or not whole."""
        self._parser = parser = expat.ParserCreate(namespace_separator=" ")
        parser.buffer_text = True
        parser.StartElementHandler = self._outermost
        parser.EndElementHandler = self._end
        parser.CharacterDataHandler = self.text.append
        parser.StartNamespaceDeclHandler = self._check_namespace
        parser.StartDoctypeDeclHandler = self._refuse_doctype
        parser.SkippedEntityHandler = self._refuse_entity
        with opened(self.path) as raw:
            while content := raw.read(CHUNK):
                self._read += len(content)
                yield from self._parsed(content)
            yield from self._parsed(b"")

    def declare(self, attribute: Attribute, default: str | None) -> None:
        """Take the declaration of an attribute."""
        self._declared[attribute.domain, attribute.id] = attribute
        domains = [name for name in self._defaults if attribute.domain in (name, "all") and not attribute.is_drawing]
        if "edge" in domains:
            self.edge_names[attribute.name] = None
        if default is not None:
            self._default_size += len(default) + len(attribute.name)
            for domain in domains:
                self._defaults[domain][attribute.name] = self.value(attribute, default, self.line)

    def fields_of(self, owner: Owner) -> Fields:
        """Return the values of a node or an edge. Raises `BadInput` if the defaults come to too much."""
        self._defaulted += self._default_size
        check_ratio(
            self.path, self._read, self._defaulted, remedy="its defaults are long; write them where they belong"
        )
        return self._defaults[owner.tag] | owner.fields

    def take_node(self, owner: Owner, fields: Fields) -> None:
        """Hand out a node, joined to those in it and to those that it says it is in."""
        node_id, around = owner.attributes.get("id", ""), owner.around
        self.add_node(node_id, fields, owner.line)
        pairs = [(inner, node_id) for inner in owner.inner] + [(node_id, outer) for outer in owner.outer]
        for inner, outer in pairs:
            self.add_edge(EdgeElement(inner, outer, PART_OF, True, {}, owner.line))
        if around is not None and around.attributes.get("id") not in owner.outer:
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
        self._parser.StartElementHandler = self._begin
        self._begin(name, attributes)

    def _begin(self, name: str, attributes: dict[str, str]) -> None:
        tag, above = self.names[name], self._open[-1]
        above.is_markup = True
        if self.text:
            above.text = above.text or "".join(self.text)
            self.text.clear()
        owner = above.owner
        if tag in self.owners:
            around = owner if owner is None or owner.tag == "node" else owner.around
            owner = Owner(tag, attributes, self.line, around)
        self._open.append(XmlElement(tag, attributes, above, owner))

    def _end(self, name: str) -> None:
        ended = self._open.pop()
        if self.text:
            ended.text = ended.text or "".join(self.text)
            self.text.clear()
        self.take(ended)

    def _refuse_doctype(self, name: str, system: str | None, public: str | None, has_own: int) -> None:
        if has_own:
            raise BadInput(
                f"{self.path}, line {self.line}: a document type of its own (<!DOCTYPE ... [ ... ]>), "
                "which could declare entities, is not read: remove it"
            )

    def _refuse_entity(self, name: str, is_parameter: bool) -> None:
        raise BadInput(f"{self.path}, line {self.line}: the entity &{name}; is declared nowhere: write its character")
