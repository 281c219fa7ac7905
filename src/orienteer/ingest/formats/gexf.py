"""GEXF (gexf.net), versions 1.1 to 1.3, as Gephi and networkx write it.

The type of an edge is its `kind`, else its `label`, unless an attribute names it. networkx writes it in place of the
direction, and the key of a parallel edge as an attribute: a key that is a text is a type. A mutual edge is two. A node
inside of another one, or with parents, is joined to them by `part_of`. Drawings (viz) are left out; times of dynamic
graphs cannot be stored and are counted: of an attribute with several values over time the last is kept.
"""

from __future__ import annotations

import csv
from dataclasses import dataclass, field
from pathlib import Path

from orienteer.ingest.bounds import MOST_RECORD
from orienteer.ingest.formats.elements import EdgeElement, Fields
from orienteer.ingest.formats.xml_stream import ElementReader
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


@dataclass(slots=True)
class _GexfElement:
    """A node or an edge whose end has not come yet."""

    attributes: dict[str, str]
    line: int
    fields: Fields = field(default_factory=dict)
    outer: list[str] = field(default_factory=list)
    """The nodes that hold a node."""


@dataclass(slots=True)
class _Attribute:
    title: str
    kind: str
    domain: str


class Gexf(ElementReader):
    """Reads GEXF."""

    root = "gexf"

    def __init__(self, path: Path, tally: Tally) -> None:
        super().__init__(path, tally)
        self._default_type = "undirected"
        self._domain = "node"
        self._declared: dict[tuple[str, str], _Attribute] = {}
        self._defaults: dict[str, Fields] = {"node": {}, "edge": {}}
        self._default_size = 0
        self._attribute: _Attribute | None = None
        """The one that is being declared."""
        self._open: list[_GexfElement] = []
        self.edge_names, self.declares_edges = {"weight": None}, True

    def begin(self, name: str, attributes: dict[str, str]) -> None:
        """Take the begin of an element."""
        tag = self.names[name]
        self.text.clear()
        if tag == "attvalue":
            self._take_value(attributes)
        elif tag in ("node", "edge"):
            self._open.append(_GexfElement(attributes, self.line))
            self.default(self._default_size)
        elif tag == "parent" and self._open:
            self._open[-1].outer.append(attributes.get("for", ""))
        elif tag == "graph":
            self._default_type = attributes.get("defaultedgetype", "undirected")
        elif tag == "attributes":
            self._domain = attributes.get("class", "node")
        elif tag == "attribute":
            self._declare(attributes)
        if tag in SPANS or (tag in ("node", "edge", "attvalue") and not TIMES.isdisjoint(attributes)):
            self.drop("time", next((value for name, value in attributes.items() if name in TIMES), ""))

    def end(self, name: str) -> None:
        """Take the end of an element."""
        tag = self.names[name]
        if tag == "node":
            self._end_node(self._open.pop())
        elif tag == "edge":
            self._end_edge(self._open.pop())
        elif tag == "default" and self._attribute:
            attribute, text = self._attribute, "".join(self.text)
            self._defaults[attribute.domain][attribute.title] = self._value(attribute, text)
            self._default_size += len(text) + len(attribute.title)
        elif tag == "attribute":
            self._attribute = None

    def _declare(self, attributes: dict[str, str]) -> None:
        key = attributes.get("id", "")
        if self._domain not in self._defaults:
            return  # of the graph itself
        title = attributes.get("title") or key
        self._attribute = _Attribute(title, attributes.get("type", "string"), self._domain)
        self._declared[self._domain, key] = self._attribute
        if self._domain == "edge":
            self.edge_names[title] = None

    def _take_value(self, attributes: dict[str, str]) -> None:
        if not self._open:
            return
        owner = self._open[-1]
        domain = "edge" if "source" in owner.attributes else "node"
        key = attributes.get("for") or attributes.get("id", "")
        declared = self._declared.get((domain, key)) or _Attribute(key, "string", domain)
        owner.fields[declared.title] = self._value(declared, attributes.get("value", ""))

    def _value(self, attribute: _Attribute, text: str) -> JsonValue:
        kind = attribute.kind.lower()
        if kind.startswith(LIST):
            inner = kind.removeprefix(LIST)
            return [self.typed.value(member, inner, name=attribute.title, line=self.line) for member in _members(text)]
        return self.typed.value(text, kind, name=attribute.title, line=self.line)

    def _end_node(self, ended: _GexfElement) -> None:
        attributes = ended.attributes
        node_id = attributes.get("id", "")
        fields = {**self._defaults["node"], **ended.fields}
        if attributes.get("label"):
            fields.setdefault("label", attributes["label"])
        self.add_node(node_id, fields, ended.line)
        around = (element.attributes.get("id", "") for element in self._open[-1:])
        for group in dict.fromkeys(filter(None, (*ended.outer, attributes.get("pid", ""), *around))):
            self.add_part(node_id, group, ended.line)

    def _end_edge(self, ended: _GexfElement) -> None:
        attributes = ended.attributes
        fields = {**self._defaults["edge"], **ended.fields}
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
