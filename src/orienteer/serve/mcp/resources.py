"""What a person puts into a conversation by hand: `orienteer://GRAPH/schema` and `orienteer://GRAPH/node/ID`.

Names and ids are percent-encoded, for ids hold `/ ? # ::`.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import NamedTuple
from urllib.parse import quote, unquote

import mcp_types as types

from orienteer.errors import BadOption

PLAIN = "text/plain"
_SCHEME = "orienteer://"


class Place(NamedTuple):
    """What an address means: a tool's reply about a graph."""

    graph: str
    tool: str
    arguments: Mapping[str, str]


def schemas(graphs: Sequence[str]) -> list[types.Resource]:
    """Return the schema of each graph as a resource."""
    return [
        types.Resource(
            uri=f"{_SCHEME}{quote(name, safe='')}/schema",
            name=f"{name}-schema",
            title=f"Schema of {name}",
            description="Node types, and which edge types join which of them",
            mime_type=PLAIN,
        )
        for name in graphs
    ]


def templates() -> list[types.ResourceTemplate]:
    """Return the form of a node's address."""
    return [
        types.ResourceTemplate(
            uri_template=f"{_SCHEME}{{graph}}/node/{{id}}",
            name="node",
            title="A node",
            description="Text, properties and edges of a node, by its id (percent-encoded)",
            mime_type=PLAIN,
        )
    ]


def place_of(uri: str) -> Place:
    """Return what an address means. Raises `BadOption` for one that is not of these forms."""
    graph, _, rest = uri.removeprefix(_SCHEME).partition("/")
    kind, _, node = rest.partition("/")
    if uri.startswith(_SCHEME) and rest == "schema":
        return Place(unquote(graph), "schema", {})
    if uri.startswith(_SCHEME) and kind == "node" and node:
        return Place(unquote(graph), "node", {"node": unquote(node)})
    raise BadOption(f"no resource {uri[:200]!r}: there are {_SCHEME}GRAPH/schema and {_SCHEME}GRAPH/node/ID")
