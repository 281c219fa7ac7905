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

from pathlib import Path

from orienteer.ingest import portable
from orienteer.ingest.formats.element_maker import labels_of
from orienteer.ingest.formats.elements import EdgeElement
from orienteer.ingest.formats.xml_stream import Attribute, ElementReader, OpenElement
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


class GraphMl(ElementReader):
    """Reads GraphML."""

    root = "graphml"

    def __init__(self, path: Path, tally: Tally) -> None:
        super().__init__(path, tally)
        self._node_names: set[str] = set()
        self._is_markup = False

    def begin(self, name: str, attributes: dict[str, str]) -> None:
        """Take the begin of an element."""
        tag = self.names[name]
        if tag == "data":
            self.attribute, self._is_markup = self._attribute_of(attributes.get("key", "")), False
            self.text.clear()
        elif tag in OWNERS:
            self.text.clear()
            self.begin_element(tag, attributes)
        elif tag == "key":
            self._declare_key(attributes)
        else:
            self._is_markup = True
            if tag in TEXTS:
                self.text.clear()

    def end(self, name: str) -> None:
        """Take the end of an element."""
        tag = self.names[name]
        if tag == "data":
            self._end_value()
        elif tag in OWNERS:
            self._end_owner(self.open.pop())
        elif tag == "key":
            self.attribute = None
        elif tag == "default":
            self.take_default()
        elif tag == "desc":
            self._describe("".join(self.text))
        elif tag in DRAWN and self.open:
            self.open[-1].label = self.open[-1].label or "".join(self.text).strip()

    def _attribute_of(self, key: str) -> Attribute:
        tag = self.open[-1].tag if self.open else ""
        return self._declared.get((tag, key)) or self._declared.get(("all", key)) or Attribute(key, key)

    def _declare_key(self, attributes: dict[str, str]) -> None:
        """Declare an attribute; one of yEd's that has no name is a drawing."""
        key, domain = attributes.get("id", ""), attributes.get("for", "all")
        name, kind = attributes.get("attr.name") or key, attributes.get("attr.type", "string")
        attribute = Attribute(key, name, kind, domain, "yfiles.type" in attributes, "attr.list" in attributes)
        self.declare(attribute)
        self._declared.setdefault(("all", key), attribute)
        if domain in ("node", "all") and not attribute.is_drawing:
            self._node_names.add(name)
        for node_type, edge_type in CUSTOMS:
            if node_type in self._node_names and edge_type in self.edge_names:
                self.node_type, self.edge_type = node_type, edge_type

    def _end_value(self) -> None:
        key, self.attribute = self.attribute, None
        if key is None or not self.open or key.is_drawing:
            return
        owner = self.open[-1]
        text = "".join(self.text)
        if self._is_markup:
            self.drop("markup", key.name)
        elif owner.tag == "node" and self.meta is None and text.startswith(":") and key.name.casefold() in LABELLED:
            owner.fields[key.name] = labels_of(text)
        else:
            owner.fields[key.name] = self.value(key, text, owner.line)

    def _end_owner(self, ended: OpenElement) -> None:
        if ended.tag == "node":
            if ended.label:
                ended.fields.setdefault("label", ended.label)
            if "labels" in ended.attributes:
                ended.fields.setdefault("labels", labels_of(ended.attributes["labels"]))
            self.end_node(ended)
        elif ended.tag == "edge":
            self._end_edge(ended)
        elif ended.tag != "graph":
            self.drop(ended.tag, ended.attributes.get("id") or ended.attributes.get("name", ""))

    def _end_edge(self, ended: OpenElement) -> None:
        attributes = ended.attributes
        if "directed" in attributes:
            is_directed = attributes["directed"] in ("true", "1")
        else:
            is_directed = not self.open or self.open[-1].attributes.get("edgedefault") != "undirected"
        source, target = attributes.get("source", ""), attributes.get("target", "")
        label = attributes.get("label", "") or ended.label
        self.add_edge(EdgeElement(source, target, label, is_directed, ended.fields, ended.line))

    def _describe(self, text: str) -> None:
        """Take a description: of the file, which our own export begins with, of a key, of a node or an edge."""
        if self.attribute is not None:
            self.attribute.is_json |= self.meta is not None and text == JSON
        elif self.open:
            self.open[-1].fields.setdefault("description", text)
        elif text.startswith("{"):
            meta = from_json(text)
            self.meta = meta if isinstance(meta, dict) and meta.get("format") == portable.KIND else None

    def value(self, attribute: Attribute, text: str, line: int) -> JsonValue:
        """Return the value that the text spells; of what LightRAG has joined, its parts."""
        if attribute.is_json:
            value: JsonValue = from_json(text)
            return value
        if attribute.kind != "string":
            return self.typed.value(text, attribute.kind, name=attribute.name, line=line)
        if JOINT in text and self.meta is None:
            parts = [part for part in text.split(JOINT) if part.strip()]
            return "\n".join(parts) if plainly(attribute.name) in NODE_NAMES["text"] else list(parts)
        return text
