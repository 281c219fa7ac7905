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
from orienteer.ingest.formats.xml_stream import Attribute, ElementReader, OpenElement
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

    def __init__(self, path: Path, tally: Tally) -> None:
        super().__init__(path, tally)
        self._default_type = "undirected"
        self._domain = "node"
        """What has the attributes that are being declared."""
        self.edge_names, self.declares_edges = {"weight": None}, True

    def begin(self, name: str, attributes: dict[str, str]) -> None:
        """Take the begin of an element."""
        tag = self.names[name]
        self.text.clear()
        if tag == "attvalue":
            self._take_value(attributes)
        elif tag in ("node", "edge"):
            self.begin_element(tag, attributes)
            self._take_outer(attributes.get("pid", ""))
        elif tag == "parent" and self.open:
            self._take_outer(attributes.get("for", ""))
        elif tag == "graph":
            self._default_type = attributes.get("defaultedgetype", "undirected")
        elif tag == "attributes":
            self._domain = attributes.get("class", "node")
        elif tag == "attribute":
            key = attributes.get("id", "")
            self.declare(
                Attribute(key, attributes.get("title") or key, attributes.get("type", "string").lower(), self._domain)
            )
        if tag in SPANS or (tag in ("node", "edge", "attvalue") and not TIMES.isdisjoint(attributes)):
            self.drop("time", next((value for name, value in attributes.items() if name in TIMES), ""))

    def end(self, name: str) -> None:
        """Take the end of an element."""
        tag = self.names[name]
        if tag == "node":
            ended = self.open.pop()
            if ended.attributes.get("label"):
                ended.fields.setdefault("label", ended.attributes["label"])
            self.end_node(ended)
        elif tag == "edge":
            self._end_edge(self.open.pop())
        elif tag == "default":
            self.take_default()
        elif tag == "attribute":
            self.attribute = None

    def _take_outer(self, node_id: str) -> None:
        if node_id:
            self.open[-1].outer[node_id] = None

    def _take_value(self, attributes: dict[str, str]) -> None:
        if self.open:
            owner, key = self.open[-1], attributes.get("for") or attributes.get("id", "")
            declared = self._declared.get((owner.tag, key)) or Attribute(key, key)
            owner.fields[declared.name] = self.value(declared, attributes.get("value", ""), self.line)

    def value(self, attribute: Attribute, text: str, line: int) -> JsonValue:
        """Return the value that the text spells, of a list those of its members."""
        kind, name = attribute.kind, attribute.name
        if kind.startswith(LIST):
            inner = kind.removeprefix(LIST)
            return [self.typed.value(member, inner, name=name, line=line) for member in _members(text)]
        return self.typed.value(text, kind, name=name, line=line)

    def _end_edge(self, ended: OpenElement) -> None:
        attributes, fields = ended.attributes, ended.fields
        key, said = fields.pop(KEY, None), attributes.get("type") or self._default_type
        direction = said if said in DIRECTIONS else self._default_type
        kind, label = attributes.get("kind", "") or (said if said != direction else ""), attributes.get("label", "")
        if kind and label:
            fields.setdefault("label", label)
        if "weight" in attributes:
            fields["weight"] = self.typed.value(attributes["weight"], "double", name="weight", line=ended.line)
        source, target = attributes.get("source", ""), attributes.get("target", "")
        edge = EdgeElement(
            source,
            target,
            kind or label or (key if isinstance(key, str) else ""),
            direction != "undirected",
            fields,
            ended.line,
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
