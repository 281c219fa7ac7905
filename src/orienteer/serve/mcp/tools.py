"""The tools as data, and their replies. This module loads no graph, so that tools are listed at once.

Each wraps one of the stateless tools of agents, with its own name and a short description for a model that has forty
other tools. Replies are lines with ids in brackets; texts of nodes are indented.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, NamedTuple

from orienteer.errors import BadOption
from orienteer.llm.schema import arguments_meant
from orienteer.serve.door import LONGEST_QUERY, LONGEST_QUESTION

if TYPE_CHECKING:
    from orienteer.graph.store import Graph
    from orienteer.records import JsonValue

ASK = "ask"
CYPHER = "cypher"
GRAPH = "graph"
"""The parameter that names the graph if several are served."""
ASK_K = 10
"""Hits of a question by default."""
MOST_ROWS = 100
"""The most rows of a call."""
_MOST_NODES = 50  # nodes that are intersected
_BOUNDS = frozenset({"additionalProperties", "minimum", "maximum", "minItems", "maxItems"})


_TEXT: dict[str, Any] = {"type": "string"}


def _text(description: str) -> dict[str, Any]:
    return {**_TEXT, "description": description}


def _texts(description: str = "", **bounds: int) -> dict[str, Any]:
    about = {"description": description} if description else {}
    return {"type": "array", "items": _TEXT, **bounds, **about}


def _count(default: int, most: int = MOST_ROWS) -> dict[str, Any]:
    return {"type": "integer", "minimum": 1, "maximum": most, "default": default}


_OFFSET: dict[str, Any] = {"type": "integer", "minimum": 0}
_NODE = _text("Id, exact name, or `name (Type)`")
_TYPES = _texts()
_WHERE = _texts("Such as `year >= 2000`")


def _without_bounds(schema: Mapping[str, Any]) -> dict[str, Any]:
    """Return a schema without the keywords that only refuse."""
    return {keyword: rule for keyword, rule in schema.items() if keyword not in _BOUNDS}


@dataclass(frozen=True, slots=True, kw_only=True)
class McpTool:
    """A tool for a host's model."""

    name: str
    description: str
    properties: Mapping[str, Any]  # Any: a JSON schema nests without end
    required: tuple[str, ...] = ()
    inner: str = ""
    """The stateless tool that it wraps; empty for `ask`."""
    defaults: Mapping[str, JsonValue] = field(default_factory=dict)
    """Default arguments of the inner tool."""

    def parameters(self, graphs: Sequence[str]) -> dict[str, Any]:
        """Return the JSON schema that calls are checked against; with several graphs the caller names one."""
        properties, required = dict(self.properties), self.required
        if len(graphs) > 1:
            properties, required = {GRAPH: {**_TEXT, "enum": list(graphs)}, **properties}, (GRAPH, *required)
        return {
            "type": "object",
            "properties": properties,
            **({"required": list(required)} if required else {}),
            "additionalProperties": False,
        }

    def published_schema(self, graphs: Sequence[str]) -> dict[str, Any]:
        """Return the schema sent to hosts: `parameters` without bounds, which our errors explain better.

        Some hosts refuse a call by its schema themselves, in fewer words than ours ("params must NOT have additional
        properties", Gemini CLI 0.61). The graphs are listed only in the schema of `ask`.
        """
        full = self.parameters(graphs)
        properties = {name: _without_bounds(schema) for name, schema in full["properties"].items()}
        if GRAPH in properties and self.name != ASK:
            properties[GRAPH] = _TEXT
        return {**_without_bounds(full), "properties": properties}


_TABLE = (
    McpTool(
        name=ASK,
        description="Answer a question from the graph: ranked nodes, each with the edges or words that support it. "
        "Start here for how things are connected.",
        properties={"question": _text("In whole words"), "k": _count(ASK_K), "node_types": _TYPES},
        required=("question",),
    ),
    McpTool(
        name="search",
        description="Find nodes by words of their names and texts. Use it to look up things by name. Edges are not "
        "searched.",
        properties={"query": _TEXT, "node_types": _TYPES, "where": _WHERE, "k": _count(10), "offset": _OFFSET},
        required=("query",),
        inner="search_in_graph",
        defaults={"k": 10},
    ),
    McpTool(
        name="neighbors",
        description="List what is one edge away from a node, counted by edge type first. A query ranks them.",
        properties={
            "node": _NODE,
            "query": _TEXT,
            "node_types": _TYPES,
            "edge_types": _TYPES,
            "k": _count(20),
            "offset": _OFFSET,
        },
        required=("node",),
        inner="search_in_neighborhood",
    ),
    McpTool(
        name="intersect",
        description="Find the nodes joined to every one of several nodes.",
        properties={
            "nodes": _texts(_NODE["description"], minItems=2, maxItems=_MOST_NODES),
            "node_types": _TYPES,
            "edge_types": _TYPES,
            "k": _count(20),
            "offset": _OFFSET,
        },
        required=("nodes",),
        inner="intersect",
    ),
    McpTool(
        name="paths",
        description="Find the shortest paths between two nodes, whichever way edges point.",
        properties={"a": _NODE, "b": _TEXT, "max_length": _count(4, 4), "k": _count(10)},
        required=("a", "b"),
        inner="paths",
    ),
    McpTool(
        name="node",
        description="Read one node in full: text, properties, and its edges counted by type.",
        properties={"node": _NODE, "offset": {**_OFFSET, "description": "Characters of the text to skip"}},
        required=("node",),
        inner="read_node",
    ),
    McpTool(
        name="schema",
        description="List the node types, and which edge types join which of them.",
        properties={},
        inner="schema",
    ),
    McpTool(
        name="list",
        description="List nodes by type and property, without words: how many, the largest, or counted by value.",
        properties={
            "node_types": _TYPES,
            "where": _WHERE,
            "sort": _text("A property, or name, id, type or degree"),
            "descending": {"type": "boolean"},
            "group_by": _text("Count by the values of it"),
            "k": _count(20),
            "offset": _OFFSET,
        },
        inner="list_nodes",
    ),
)
_CYPHER = McpTool(
    name=CYPHER,
    description="Run one read-only Cypher statement: MATCH, WHERE, WITH, RETURN, ORDER BY, SKIP, LIMIT. Node types are "
    "labels; every node has id and name. Texts are not in it.",
    properties={"query": _TEXT, "k": _count(20)},
    required=("query",),
    inner="cypher",
)


def tools_of(*, offers_cypher: bool) -> dict[str, McpTool]:
    """Return the tools by name, with Cypher only if the operator enables it."""
    return {tool.name: tool for tool in (*_TABLE, *((_CYPHER,) if offers_cypher else ()))}


class Checked(NamedTuple):
    """A call that can be made."""

    graph: str
    arguments: dict[str, JsonValue]
    note: str
    """How arguments were read that do not follow the schema; else empty."""


def checked(tool: McpTool, arguments: Mapping[str, JsonValue], graphs: Sequence[str]) -> Checked:
    """Return the graph of a call and its other arguments. Raises `BadOption` for wrong ones."""
    try:
        read = arguments_meant(tool.name, arguments, tool.parameters(graphs))
    except ValueError as error:
        raise BadOption(str(error)) from None
    given = read.value
    for name, value in given.items():
        most = LONGEST_QUESTION if name == "question" else LONGEST_QUERY
        for text in value if isinstance(value, list) else (value,):
            if isinstance(text, str) and len(text) > most:
                raise BadOption(f"{name} has {len(text):,} characters: at most {most:,} are read.")
    return Checked(str(given.pop(GRAPH, graphs[0])), given, read.note)


def look_up(tool: McpTool, graph: Graph, arguments: Mapping[str, JsonValue]) -> str:
    """Return the reply of a tool other than `ask`.

    Raises `Error` if the arguments cannot be used, `NotAGraph` if the graph is damaged.
    """
    from orienteer.graph.damage import damage_told
    from orienteer.tools.toolbox import open_stateless

    with damage_told(graph.path, graph.generation):
        toolbox = open_stateless(graph, offers_cypher=tool.name == CYPHER)
        return toolbox.call(tool.inner, {**tool.defaults, **arguments}).text
