"""Graphs in JSON, as programs for networks in browsers and notebooks, and Neo4j's APOC, write them.

    networkx, d3         {"nodes": [{"id": ...}], "links" or "edges": [{"source": ..., "target": ...}], "directed": ...}
    vis.js               edges with `from` and `to`
    JSON Graph Format    {"graph": {"nodes": {ID: {...}}, "edges": [{"source": ..., "relation": ..., ...}]}}
    Cytoscape            {"elements": {"nodes": [{"data": {"id": ...}}], "edges": [{"data": {...}}]}}
    Neo4j (APOC)         {"nodes": [{"type": "node", ...}], "rels": [...]}, whose members say what they are:
                         {"type": "node", "id", "labels", "properties"}
                         {"type": "relationship", "label", "start": {"id"}, "end": {"id"}, "properties"}

APOC writes such members also a line each, in a list, or as rows of one CSV, each a node or a relationship:
`_id,_labels,PROPERTY...,_start,_end,_type,PROPERTY...`. Their ids are those of the database, anew with every export.
What `apoc.export.csv` writes with `bulkImport` is neo4j-admin's.
Where the ends of edges are numbers that are no ids, they count the nodes from 0. In a graph with parallel edges the key
of an edge is its type, if it is a text and no attribute says one. Edges have a direction unless the file denies it.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, TextIO

from orienteer.errors import BadInput
from orienteer.ingest.bounds import MOST_RECORD, parsed, too_long
from orienteer.ingest.formats.delimited import named, rows_of
from orienteer.ingest.formats.element_maker import LABELS, labelled, labels_of
from orienteer.ingest.formats.elements import EdgeElement, Fields, GraphReader, NodeElement
from orienteer.ingest.formats.files import measured, opened_text, tell_no_numbers, whole_json
from orienteer.ingest.formats.jsonl import parse
from orienteer.ingest.formats.records import FieldDialect
from orienteer.ingest.formats.table import is_unicode, shown
from orienteer.ingest.report import BAD_ENCODING
from orienteer.ingest.tables.values import identifier, number

LINKS = ("links", "edges", "rels")
"""What the list of edges is called."""
ENDS = (("source", "target"), ("from", "to"))
NODES_KEY = re.compile(r'"nodes"\s*:\s*[\[{]')
LINKS_KEY = re.compile(r'"(?:links|edges|rels)"\s*:\s*\[')
NODE_FIELDS, EDGE_FIELDS = ("_id", "_labels"), ("_start", "_end", "_type")
"""What the header of APOC's CSV begins with, and what parts the properties of nodes from those of relationships."""
MEMBERS: Mapping[str, frozenset[str]] = {
    "node": frozenset({"type", "id", "labels", "properties"}),
    "relationship": frozenset({"type", "id", "label", "start", "end", "properties"}),
}
"""What a member of the JSON says, by what it is. A row of other people's has further columns."""
MEMBER = re.compile(r'\s*+(?:\[\s*+)?\{[^{}]*"type"\s*:\s*"(?:node|relationship)"')


def is_node_link(head: str, *, is_whole: bool) -> bool:
    """Return whether a JSON file is such a graph, by its beginning, which may be all of it."""
    nodes, links = NODES_KEY.search(head), LINKS_KEY.search(head)
    return head.lstrip()[:1] == "{" and bool(nodes and links if is_whole else nodes or links)


def is_json(head: str) -> bool:
    """Return whether a file is such JSON, by its beginning: a member says what it is before or after it says more."""
    first = head.split("\n", 1)[0].strip().removeprefix("[").rstrip(",]")
    try:
        member = parsed(first)
    except ValueError:
        return bool(MEMBER.match(head))
    keys = MEMBERS.get(str(member.get("type"))) if isinstance(member, dict) else None
    return keys is not None and member.keys() <= keys


def is_csv(head: str) -> bool:
    """Return whether a file is such a CSV, by its beginning."""
    names = [name.strip('"\r\n ') for name in head.split("\n", 1)[0].split(",")]
    return tuple(names[:2]) == NODE_FIELDS and all(name in names for name in EDGE_FIELDS)


class ApocJson(GraphReader):
    """Reads nodes and relationships, a line each, or all of them in one list."""

    def elements(self) -> Iterator[NodeElement | EdgeElement]:
        """Read the file. Raises `BadInput` for a line that is neither."""
        with opened_text(self.path) as text:
            is_list = text.read(1) == "["
        if is_list:
            yield from self.of_members(enumerate(whole_json(self.path, self._drop), 1))
        else:
            with opened_text(self.path) as text:
                yield from self.of_members(self._lines(text))

    def _lines(self, text: TextIO) -> Iterator[tuple[int, Any]]:  # Any: JSON
        for self.place, line in enumerate(text, 1):
            if not is_unicode(line):
                self.drop(BAD_ENCODING, line)
            elif line.strip():
                yield self.place, parse(line, self.path, self.place)
                tell_no_numbers(line, self.place, self._drop)

    def of_members(self, members: Iterable[tuple[int, Any]]) -> Iterator[NodeElement | EdgeElement]:  # Any: JSON
        """Read nodes and relationships that say themselves which they are, and the place of each."""
        self.types_edges, self.node_type = True, LABELS
        for self.place, member in members:
            if self.is_sound(member):
                self.take(member)
                yield from self.taken()

    def is_sound(self, member: Any) -> bool:  # Any: JSON
        """Return whether all texts can be kept. Raises `BadInput` for a member that is too large."""
        written = json.dumps(member, ensure_ascii=False)
        if len(written) > MOST_RECORD:
            raise too_long(self.path, f"element {self.place:,}", "node or edge")
        if is_unicode(written):
            return True
        self.drop(BAD_ENCODING, next(iter(member.values()), "") if isinstance(member, dict) else member)
        return False

    def take(self, member: Any) -> None:  # Any: JSON
        """Hand out what a member is. Raises `BadInput` for neither node nor relationship."""
        kind = member.get("type") if isinstance(member, dict) else None
        properties = (member.get("properties") if kind else None) or {}
        if kind not in ("node", "relationship") or not isinstance(properties, dict):
            raise BadInput(f"{self.path}, line {self.line}: {shown(member)} is no node and no relationship of APOC's")
        if kind == "node":
            labels = member.get("labels") or []
            labels = [*map(str, labels)] if isinstance(labels, list) else [str(labels)]
            self.add_node(identifier(member.get("id")), labelled(properties, labels), self.line)
            return
        start, end = member.get("start"), member.get("end")
        source = identifier(start.get("id") if isinstance(start, dict) else start)
        target = identifier(end.get("id") if isinstance(end, dict) else end)
        if not properties.keys() <= self.edge_names.keys():
            self.edge_names |= dict.fromkeys(properties)
        label = member.get("label")
        self.add_edge(EdgeElement(source, target, label if isinstance(label, str) else "", True, properties, self.line))


class ApocCsv(ApocJson):
    """Reads the rows of one CSV. A value is a number where it spells one, a list where it is one in JSON."""

    def elements(self) -> Iterator[NodeElement | EdgeElement]:
        """Read the file. Raises `BadInput` for a row with more fields than the header."""
        self.types_edges, self.node_type = True, LABELS
        with opened_text(self.path) as text:
            rows = rows_of(self.path, text, measured(text), FieldDialect(",", is_quoted=True))
            header = next(rows).cells
            parting = header.index(EDGE_FIELDS[0])
            halves = header[:parting], header[parting:]
            for names in halves:
                named(names, self.path)
            self.edge_names = dict.fromkeys(header[parting + len(EDGE_FIELDS) :])
            for row in rows:
                self.place = row.line
                if row.fault:
                    raise BadInput(f"{self.path}, line {row.line}: {row.fault}; is the file cut short?")
                if not is_unicode("".join(row.cells)):
                    self.drop(BAD_ENCODING, ",".join(row.cells))
                elif row.cells:
                    self.take(self._member(row.cells, *halves))
                    yield from self.taken()

    def _member(self, row: Sequence[str], of_node: Sequence[str], of_edge: Sequence[str]) -> Fields:
        """Return a row as a member of APOC's JSON; what it lacks at its end is empty."""
        parting = len(of_node)
        if len(row) > parting + len(of_edge):
            raise BadInput(
                f"{self.path}, line {self.place}: {len(row)} fields where {parting + len(of_edge)} are expected; "
                "is a comma not quoted?"
            )
        is_edge = any(row[parting : parting + len(EDGE_FIELDS)])
        cells = dict(zip(of_edge, row[parting:], strict=False) if is_edge else zip(of_node, row, strict=False))
        first, second, *more = (cells.pop(name, "") for name in (EDGE_FIELDS if is_edge else NODE_FIELDS))
        properties = {name: _spelled(cell) for name, cell in cells.items() if cell}
        if is_edge:
            return {"type": "relationship", "start": first, "end": second, "label": more[0], "properties": properties}
        return {"type": "node", "id": first, "labels": labels_of(second), "properties": properties}


class NodeLink(ApocJson):
    """Reads the members of the two lists. A member's line is its number, from 1."""

    def elements(self) -> Iterator[NodeElement | EdgeElement]:
        """Read the file. Raises `BadInput` if it is no JSON, or holds no such lists."""
        whole = whole_json(self.path, self._drop)
        if not isinstance(whole, dict):
            raise BadInput(f"{self.path} holds no graph that is known: one JSON object is expected")
        within = [whole[name] for name in ("elements", "graph") if isinstance(whole.get(name), dict)]
        graph = next((part for part in (whole, *within) if "nodes" in part), whole)
        self._is_wrapped = graph is whole.get("elements")
        nodes, links = graph.get("nodes"), next((graph[name] for name in LINKS if name in graph), None)
        if not isinstance(nodes, list | dict) or not isinstance(links, list):
            raise BadInput(
                f"{self.path} holds no graph that is known: 'nodes' and one of {', '.join(map(repr, LINKS))} "
                "have to be lists of objects"
            )
        if isinstance(nodes, dict):
            nodes = [{**self._member(fields), "id": key} for key, fields in nodes.items()]
        nodes, links = list(map(self._member, nodes)), list(map(self._member, links))
        if "rels" in graph:
            yield from self.of_members(enumerate([*nodes, *links], 1))
            return
        self.edge_names = dict.fromkeys(key for link in links for key in link)
        ids = [node.get("id", place) for place, node in enumerate(nodes)]
        for self.place, (node_id, fields) in enumerate(zip(ids, nodes, strict=True), 1):
            if self.is_sound(fields):
                self.add_node(_id(node_id), {key: value for key, value in fields.items() if key != "id"}, self.place)
                yield from self.taken()
        counted = ids if _count_nodes(links, set(map(_id, ids))) else []
        for self.place, fields in enumerate(links, 1):
            if self.is_sound(fields):
                self.add_edge(self._edge(fields, counted, graph))
                yield from self.taken()

    def _edge(self, fields: Fields, counted: list[Any], graph: Fields) -> EdgeElement:  # Any: JSON
        """Return an edge, whose ends are ids, or places among the ids that are counted."""
        names = next((pair for pair in ENDS if pair[0] in fields and pair[1] in fields), ENDS[0])
        source, target = (
            _id(counted[end] if isinstance(end, int) and 0 <= end < len(counted) else end)
            for end in map(fields.get, names)
        )
        key = fields.get("key") if graph.get("multigraph") else None
        left_out = {*names, "id", "directed"} | ({"key"} if graph.get("multigraph") else set())
        is_directed = fields.get("directed", graph.get("directed", True)) is not False
        rest = {name: value for name, value in fields.items() if name not in left_out}
        return EdgeElement(source, target, key if isinstance(key, str) else "", is_directed, rest, self.place)

    def _member(self, value: Any) -> Fields:  # Any: JSON
        """Return the fields of a node or of an edge. Raises `BadInput` for what has none."""
        if self._is_wrapped and isinstance(value, dict):
            value = value.get("data")  # what stands beside it is how the element is drawn
        if not isinstance(value, dict):
            raise BadInput(f"{self.path}: {shown(value)} is no node and no edge; each has to be an object")
        return value


def _id(value: Any) -> str:  # Any: JSON
    """Return an id as text; a pair of numbers, as grids have, as Python writes it."""
    return str(tuple(value)) if isinstance(value, list) else identifier(value)


def _count_nodes(links: list[Fields], ids: set[str]) -> bool:
    """Return whether the ends of edges are places in the list of nodes: numbers that are no ids."""
    ends = (end for link in links for pair in ENDS for name in pair if (end := link.get(name)) is not None)
    return any(isinstance(end, int) and str(end) not in ids for end in ends)


def _spelled(cell: str) -> Any:  # Any: JSON
    """Return what a cell spells: a list, a number, else its text."""
    if cell[0] in "[{":
        try:
            return parsed(cell)
        except ValueError:
            return cell
    return number(cell)
