"""`read_node` and `schema`: one node in full, and what the graph is made of."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping

from orienteer.graph.store import Graph
from orienteer.records import JsonValue, Node, Observation
from orienteer.tools import arguments as given
from orienteer.tools.rendering import Reply, counts_line, title
from orienteer.tools.session import Session

_READ = "Read one node in full: text, aliases, properties, and its edges by kind, counted. Long texts page by offset."
_SCHEMA = "List what the graph is made of: node types, and which edge types join which of them, with counts."
_PAGE = 3_000  # characters of text
_TYPES = 60  # node types that a schema lists
_TRIPLES = 200  # and ways in which an edge type joins two of them: a prompt has to end


class ReadNode:
    """A node in full."""

    def __init__(self, session: Session) -> None:
        self._session = session
        offset = {"type": "integer", "minimum": 0, "description": "Characters of the text to skip; default 0"}
        self.spec = given.spec("read_node", _READ, {"node": given.NODE, "offset": offset}, ["node"])

    def __call__(self, arguments: Mapping[str, JsonValue]) -> Observation:
        """Return everything about a node that fits."""
        session, graph = self._session, self._session.graph
        notes: list[str] = []
        rows = session.rows(given.text(arguments, "node") or "", notes)
        reply = Reply(session)
        reply.say_all(notes)
        if len(rows) != 1:
            reply.say("read_node reads one node: name one.")
            return Observation(reply.text(), error="BadOption")
        row = int(rows[0])
        node = graph.node_at(row)
        reply.say(title(graph, row))
        if node.aliases:
            reply.say(f"also: {'; '.join(node.aliases)[:400]}")
        reply.say(f"edges: {counts_line(graph, graph.counts(graph.adjacency.entries(rows))) or 'none'}")
        offset = given.number(arguments, "offset", 0)
        page = node.text[offset : offset + min(_PAGE, session.reply_tokens * 2)]
        rest = len(node.text) - offset - len(page)
        reply.say(f"text: {page or 'none'}{f' ... {rest} more; offset={offset + len(page)}' if rest > 0 else ''}")
        if not offset:
            reply.say_all(_properties(node))
        return Observation(reply.text(), (node.id,))


def _properties(node: Node) -> Iterator[str]:
    for name, value in node.properties.items():
        shown = value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
        yield f"{name}: {shown[:200]}"


class ReadSchema:
    """The types."""

    def __init__(self, session: Session) -> None:
        self._session = session
        self.spec = given.spec("schema", _SCHEMA, {})

    def __call__(self, arguments: Mapping[str, JsonValue]) -> Observation:
        """Return the types."""
        reply = Reply(self._session)
        lines = schema_lines(self._session.graph)
        reply.list(range(len(lines)), lines)
        return Observation(reply.text())


def schema_lines(graph: Graph) -> list[str]:
    """Return the schema as a prompt shows it: node types, then each edge type with what it joins, most first."""
    schema = graph.schema
    types = sorted(schema.node_types.items(), key=lambda item: (-item[1], item[0]))
    more = f"; {len(types) - _TYPES} more" if len(types) > _TYPES else ""
    lines = ["node types: " + "; ".join(f"{name} {count}" for name, count in types[:_TYPES]) + more]
    triples = sorted(schema.edges.items(), key=lambda item: (-item[1], item[0]))
    for triple, count in triples[:_TRIPLES]:
        label = schema.label(triple.type)
        code = f" [{triple.type}]" if label != triple.type else ""
        joined = "-" if triple.type in schema.symmetric else "->"
        lines.append(f"{triple.source} -{label}{joined} {triple.target}{code} {count}")
    if len(triples) > _TRIPLES:
        lines.append(f"{len(triples) - _TRIPLES} rarer ones")
    if graph.manifest.properties:
        lines.append("properties: " + ", ".join(graph.manifest.properties[:40]))
    return lines
