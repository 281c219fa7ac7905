"""GraphML (graphdrawing.org), with the customs of those who write it.

    networkx, igraph       attributes by declared keys, with types and defaults
    LightRAG               entity_type, description, keywords; what it joined by `<SEP>` becomes lines, or a list
    Neo4j (APOC)           `labels` of a node (`:Person:Actor`), `label` of an edge are the types; `attr.list` a list
    TinkerPop              labelV and labelE are
    yEd                    the first label in the drawing of a node or an edge; the rest of the drawing is left out

A graph inside of a node is read as part of the graph, its nodes joined to the outer one by `part_of`. Hyperedges, ports
and values that are XML themselves cannot be stored, and are counted.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path

from orienteer.ingest import portable
from orienteer.ingest.formats.elements import EdgeElement, Fields
from orienteer.ingest.formats.xml_stream import ElementReader
from orienteer.ingest.portable import JSON, from_json
from orienteer.ingest.report import Tally
from orienteer.ingest.tables.columns import NODE_NAMES, plainly
from orienteer.records import JsonValue

CUSTOMS = (("labels", "label"), ("labelV", "labelE"))
"""Attributes that hold the types of nodes and of edges where both are declared: Neo4j's, TinkerPop's."""
LABELLED = frozenset({"labels", "type"})
"""Attributes in which Neo4j writes the labels of a node, a colon before each."""
JOINT = "<SEP>"
"""What LightRAG writes between the texts, and between the sources, of one entity or relation."""
OWNERS = frozenset({"graph", "node", "edge", "hyperedge", "port"})
"""Elements that have values."""
DRAWN = frozenset({":NodeLabel", ":EdgeLabel"})
TEXTS = DRAWN | {"default", "desc"}
"""Elements that are read for their text; `data` apart, which is read most."""


@dataclass(slots=True)
class _Key:
    """What one key declares."""

    id: str
    name: str
    kind: str = "string"
    domain: str = "all"
    is_drawing: bool = False
    is_json: bool = False
    default: str | None = None


@dataclass(slots=True)
class _GraphMlElement:
    """An element whose end has not come yet."""

    tag: str
    attributes: dict[str, str]
    line: int
    fields: Fields
    around: _GraphMlElement | None
    """The node that it is in."""
    inner: list[str] = field(default_factory=list)
    """The nodes inside of a node."""
    label: str = ""
    """What its drawing says."""


class GraphMl(ElementReader):
    """Reads GraphML."""

    root = "graphml"

    def __init__(self, path: Path, tally: Tally) -> None:
        super().__init__(path, tally)
        self._keys: dict[tuple[str, str], _Key] = {}
        """By what they are for and their ids; by `all` for any other use."""
        self._node_names: set[str] = set()
        self._defaults: dict[str, Fields] = {"node": {}, "edge": {}}
        self._default_size = 0
        self._open: list[_GraphMlElement] = []
        self._key: _Key | None = None
        """Of the declaration or the value that is being read."""
        self._is_markup = False

    def begin(self, name: str, attributes: dict[str, str]) -> None:
        """Take the begin of an element."""
        tag = self.names[name]
        if tag == "data":
            self._key, self._is_markup = self._key_of(attributes.get("key", "")), False
            self.text.clear()
        elif tag in OWNERS:
            self.text.clear()
            self.default(self._default_size)
            above = self._open[-1] if self._open else None
            around = above.around if above and above.tag != "node" else above
            self._open.append(_GraphMlElement(tag, attributes, self.line, dict(self._defaults.get(tag, ())), around))
        elif tag == "key":
            self._key = _declared(attributes)
        elif tag in TEXTS:
            self.text.clear()
            self._is_markup = True
        else:
            self._is_markup = True

    def end(self, name: str) -> None:
        """Take the end of an element."""
        tag = self.names[name]
        if tag == "data":
            self._end_value()
        elif tag in OWNERS:
            self._end_owner(self._open.pop())
        elif tag == "key":
            self._end_key()
        elif tag == "default" and self._key:
            self._key.default = "".join(self.text)
        elif tag == "desc":
            self._describe("".join(self.text))
        elif tag in DRAWN and self._open:
            self._open[-1].label = self._open[-1].label or "".join(self.text).strip()

    def _key_of(self, key_id: str) -> _Key:
        tag = self._open[-1].tag if self._open else ""
        return self._keys.get((tag, key_id)) or self._keys.get(("all", key_id)) or _Key(key_id, key_id)

    def _end_key(self) -> None:
        key, self._key = self._key, None
        if key is None:
            return
        self._keys[key.domain, key.id] = key
        self._keys.setdefault(("all", key.id), key)
        if key.is_drawing:
            return
        domains = [owner for owner in ("node", "edge") if key.domain in (owner, "all")]
        if "node" in domains:
            self._node_names.add(key.name)
        if "edge" in domains:
            self.edge_names[key.name] = None
        if key.default is not None:
            value = self._value(key, key.default, self.line)
            self._default_size += len(key.default) + len(key.name)
            for domain in domains:
                self._defaults[domain][key.name] = value
        for node_type, edge_type in CUSTOMS:
            if node_type in self._node_names and edge_type in self.edge_names:
                self.node_type, self.edge_type = node_type, edge_type

    def _end_value(self) -> None:
        key, self._key = self._key, None
        if key is None or not self._open or key.is_drawing:
            return
        owner = self._open[-1]
        text = "".join(self.text)
        if self._is_markup:
            self.drop("markup", key.name)
        elif owner.tag == "node" and self.meta is None and text.startswith(":") and key.name.casefold() in LABELLED:
            owner.fields[key.name] = _labels(text)
        else:
            owner.fields[key.name] = self._value(key, text, owner.line)

    def _end_owner(self, ended: _GraphMlElement) -> None:
        if ended.tag == "node":
            self._end_node(ended)
        elif ended.tag == "edge":
            self._end_edge(ended)
        elif ended.tag != "graph":
            self.drop(ended.tag, ended.attributes.get("id") or ended.attributes.get("name", ""))

    def _end_node(self, ended: _GraphMlElement) -> None:
        fields = ended.fields
        if ended.label:
            fields.setdefault("label", ended.label)
        if "labels" in ended.attributes:
            fields.setdefault("labels", _labels(ended.attributes["labels"]))
        node_id = ended.attributes.get("id", "")
        self.add_node(node_id, fields, ended.line)
        for inner in ended.inner:
            self.add_part(inner, node_id, ended.line)
        if ended.around is not None:
            ended.around.inner.append(node_id)

    def _end_edge(self, ended: _GraphMlElement) -> None:
        attributes = ended.attributes
        if "directed" in attributes:
            is_directed = attributes["directed"] in ("true", "1")
        else:
            is_directed = not self._open or self._open[-1].attributes.get("edgedefault") != "undirected"
        source, target = attributes.get("source", ""), attributes.get("target", "")
        label = attributes.get("label", "") or ended.label
        self.add_edge(EdgeElement(source, target, label, is_directed, ended.fields, ended.line))

    def _describe(self, text: str) -> None:
        """Take a description: of the file, which our own export begins with, of a key, of a node or an edge."""
        if self._key is not None:
            self._key.is_json |= self.meta is not None and text == JSON
        elif self._open:
            self._open[-1].fields.setdefault("description", text)
        elif text.startswith("{"):
            meta = from_json(text)
            self.meta = meta if isinstance(meta, dict) and meta.get("format") == portable.KIND else None

    def _value(self, key: _Key, text: str, line: int) -> JsonValue:
        if key.is_json:
            value: JsonValue = from_json(text)
            return value
        if key.kind != "string":
            return self.typed.value(text, key.kind, name=key.name, line=line)
        if JOINT in text and self.meta is None:
            parts = [part for part in text.split(JOINT) if part.strip()]
            return "\n".join(parts) if plainly(key.name) in NODE_NAMES["text"] else list(parts)
        return text


def _declared(attributes: dict[str, str]) -> _Key:
    """Return what the attributes of a key declare; one of yEd's that has no name is a drawing."""
    key_id = attributes.get("id", "")
    return _Key(
        id=key_id,
        name=attributes.get("attr.name") or key_id,
        kind=attributes.get("attr.type", "string"),
        domain=attributes.get("for", "all"),
        is_drawing="yfiles.type" in attributes,
        is_json="attr.list" in attributes,
    )


def _labels(text: str) -> list[str]:
    return [label for label in text.split(":") if label]
