"""GEXF (gexf.net), versions 1.1 to 1.3, as Gephi and networkx write it.

The type of an edge is its `kind`, else its `label`, unless an attribute names it. networkx writes it in place of the
direction, and the key of a parallel edge as an attribute: a key that is a text is a type. A mutual edge is two. A node
inside of another one, or with parents, is joined to them by `part_of`. Drawings (viz) are left out; times of dynamic
graphs cannot be stored and are counted: of an attribute with several values over time the last is kept.
"""

from __future__ import annotations

import csv
from pathlib import Path

from orienteer.ingest.bounds import MOST_RECORD
from orienteer.ingest.formats.elements import EdgeElement
from orienteer.ingest.formats.xml_stream import Attribute, ElementReader, Owner, XmlElement
from orienteer.ingest.report import Tally
from orienteer.records import JsonValue

LIST = "list"
"""What the type of an attribute begins with whose values are lists."""
SEPARATORS = "|;,"
"""What may part the members of a list, in the order in which they are looked for."""
TIMES = frozenset({"start", "end", "startopen", "endopen", "timestamp", "timestamps", "interval", "intervals"})
SPANS = frozenset({"spell", "slice"})
DIRECTIONS = frozenset({"directed", "undirected", "mutual"})
KEY = "networkx_key"


class Gexf(ElementReader):
    """Reads GEXF."""

    root = "gexf"
    owners = frozenset({"attribute", "node", "edge"})

    def __init__(self, path: Path, tally: Tally) -> None:
        super().__init__(path, tally)
        self.edge_names, self.declares_edges = {"weight": None}, True

    def take(self, ended: XmlElement) -> None:
        """Take an element."""
        tag, attributes, owner, above = ended.tag, ended.attributes, ended.owner, ended.above
        if tag in SPANS or (tag in ("node", "edge", "attvalue") and not TIMES.isdisjoint(attributes)):
            self.drop("time", next((value for name, value in attributes.items() if name in TIMES), ""))
        if owner is None or above is None:
            return
        if tag == "attvalue":
            key = attributes.get("for") or attributes.get("id", "")
            declared = self._declared.get((owner.tag, key)) or Attribute(key, key)
            owner.fields[declared.name] = self.value(declared, attributes.get("value", ""), self.line)
        elif tag == "parent":
            owner.outer[attributes.get("for", "")] = None
        elif tag == "default":
            owner.fields[tag] = ended.text
        elif tag == "attribute":
            key, domain = attributes.get("id", ""), above.attributes.get("class", "node")
            name, kind = attributes.get("title") or key, attributes.get("type", "string").lower()
            self.declare(Attribute(key, name, kind, domain), owner.fields.get("default"))
        elif tag == "node":
            fields = self.fields_of(owner)
            if attributes.get("label"):
                fields.setdefault("label", attributes["label"])
            owner.outer[attributes.get("pid", "")] = None
            owner.outer.pop("", None)
            self.take_node(owner, fields)
        elif tag == "edge":
            graph = above.above or above
            self._take_edge(owner, graph.attributes.get("defaultedgetype", "undirected"))

    def value(self, attribute: Attribute, text: str, line: int) -> JsonValue:
        """Return the value that the text spells, of a list those of its members."""
        kind, name = attribute.kind, attribute.name
        if kind.startswith(LIST):
            inner = kind.removeprefix(LIST)
            return [self.typed.value(member, inner, name=name, line=line) for member in _members(text)]
        return self.typed.value(text, kind, name=name, line=line)

    def _take_edge(self, owner: Owner, default_type: str) -> None:
        attributes, fields = owner.attributes, self.fields_of(owner)
        key, said = fields.pop(KEY, None), attributes.get("type") or default_type
        direction = said if said in DIRECTIONS else default_type
        kind, label = attributes.get("kind", "") or (said if said != direction else ""), attributes.get("label", "")
        if kind and label:
            fields.setdefault("label", label)
        if "weight" in attributes:
            fields["weight"] = self.typed.value(attributes["weight"], "double", name="weight", line=owner.line)
        source, target = attributes.get("source", ""), attributes.get("target", "")
        edge = EdgeElement(
            source,
            target,
            kind or label or (key if isinstance(key, str) else ""),
            direction != "undirected",
            fields,
            owner.line,
        )
        self.add_edge(edge)
        if direction == "mutual" and source != target:
            self.add_edge(edge._replace(source=target, target=source))


def _members(text: str) -> list[str]:
    """Return the members of a list: in brackets and parted by commas, as Gephi writes it, or parted alone."""
    text = text.strip()
    if text.startswith("[") and text.endswith("]"):
        csv.field_size_limit(MOST_RECORD)
        inside = " ".join(text[1:-1].splitlines())  # a break of lines would end the row
        return [member for member in next(csv.reader([inside], skipinitialspace=True), []) if member]
    separator = next((character for character in SEPARATORS if character in text), SEPARATORS[0])
    return [member.strip() for member in text.split(separator) if member.strip()]
