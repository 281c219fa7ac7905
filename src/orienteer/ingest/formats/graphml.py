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
from orienteer.ingest.formats.xml_stream import Attribute, ElementReader, Owner, XmlElement
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
DRAWN = frozenset({":NodeLabel", ":EdgeLabel"})


class GraphMl(ElementReader):
    """Reads GraphML."""

    root = "graphml"
    owners = frozenset({"key", "graph", "node", "edge", "hyperedge", "port"})

    def __init__(self, path: Path, tally: Tally) -> None:
        super().__init__(path, tally)
        self._node_names: set[str] = set()

    def take(self, ended: XmlElement) -> None:
        """Take an element."""
        tag, owner = ended.tag, ended.owner
        if owner is None:
            self._take_meta(ended)
        elif tag == "data":
            self._take_value(ended, owner)
        elif tag == "desc":
            owner.fields.setdefault("description", ended.text)
        elif tag == "default":
            owner.fields["default"] = ended.text
        elif tag in DRAWN:
            owner.label = owner.label or ended.text.strip()
        elif tag == owner.tag:
            self._take_owner(ended, owner)

    def _take_meta(self, ended: XmlElement) -> None:
        """Take a description of the file, which our own export begins with."""
        if ended.tag == "desc" and ended.text.startswith("{"):
            meta = from_json(ended.text)
            self.meta = meta if isinstance(meta, dict) and meta.get("format") == portable.KIND else None

    def _take_value(self, ended: XmlElement, owner: Owner) -> None:
        key, text = ended.attributes.get("key", ""), ended.text
        declared = self._declared.get((owner.tag, key)) or self._declared.get(("all", key)) or Attribute(key, key)
        if declared.is_drawing:
            return
        if ended.is_markup:
            self.drop("markup", declared.name)
        elif owner.tag == "node" and self.meta is None and text[:1] == ":" and declared.name.casefold() in LABELLED:
            owner.fields[declared.name] = labels_of(text)
        else:
            owner.fields[declared.name] = self.value(declared, text, owner.line)

    def _take_owner(self, ended: XmlElement, owner: Owner) -> None:
        attributes = owner.attributes
        if owner.tag == "key":
            self._declare_key(owner)
        elif owner.tag == "node":
            fields = self.fields_of(owner)
            if owner.label:
                fields.setdefault("label", owner.label)
            if "labels" in attributes:
                fields.setdefault("labels", labels_of(attributes["labels"]))
            self.take_node(owner, fields)
        elif owner.tag == "edge":
            source, target = attributes.get("source", ""), attributes.get("target", "")
            above = ended.above.attributes if ended.above else {}
            said = attributes.get("directed") or str(above.get("edgedefault") != "undirected")
            is_directed = said.casefold() in ("true", "1")
            label = attributes.get("label", "") or owner.label
            self.add_edge(EdgeElement(source, target, label, is_directed, self.fields_of(owner), owner.line))
        elif owner.tag != "graph":
            self.drop(owner.tag, attributes.get("id") or attributes.get("name", ""))

    def _declare_key(self, owner: Owner) -> None:
        """Declare an attribute; one of yEd's that has no name is a drawing."""
        attributes, fields = owner.attributes, owner.fields
        key, domain = attributes.get("id", ""), attributes.get("for", "all")
        name, kind = attributes.get("attr.name") or key, attributes.get("attr.type", "string")
        is_json = "attr.list" in attributes or (self.meta is not None and fields.get("description") == JSON)
        attribute = Attribute(key, name, kind, domain, "yfiles.type" in attributes, is_json)
        self.declare(attribute, fields.get("default"))
        self._declared.setdefault(("all", key), attribute)
        if domain in ("node", "all") and not attribute.is_drawing:
            self._node_names.add(name)
        for node_type, edge_type in CUSTOMS:
            if node_type in self._node_names and edge_type in self.edge_names:
                self.node_type, self.edge_type = node_type, edge_type

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
