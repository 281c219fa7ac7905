"""The parameters that several tools share, as JSON schema, and how the arguments of a call are read.

Defaults stand here once, for schema, prompt and code.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, cast

from orienteer.index.searchers import Mode, ranking_of
from orienteer.records import JsonValue, ToolSpec

SEARCH_K = 5  # ARK, section 3.1: k of the global search unless the agent asks otherwise
NEIGHBORS_K = 20  # ARK, appendix A.2: the fixed budget of a neighbourhood search
LARGEST_K = 100

PLAIN_NODE: dict[str, Any] = {"type": "string", "description": "a node's id or exact name"}
PLAIN_NODES: dict[str, Any] = {
    "type": "array",
    "items": {"type": "string"},
    "minItems": 1,
    "description": "Each one a node's id or exact name",
}
_RANKED: Mapping[str, str] = {
    "lexical": "Words to rank by (BM25)",
    "dense": "Text to rank by, in meaning",
    "hybrid": "Text to rank by, in words (BM25) and in meaning",
}
NODE_TYPES: dict[str, Any] = {
    "type": "array",
    "items": {"type": "string"},
    "description": "Keep nodes of these node types only",
}
EDGE_TYPES: dict[str, Any] = {
    "type": "array",
    "items": {"type": "string"},
    "description": "Walk edges of these edge types only",
}
DIRECTION: dict[str, Any] = {
    "enum": ["out", "in"],
    "description": "Only edges that leave (out) or reach (in) the node. Rarely needed",
}
WHERE: dict[str, Any] = {
    "type": "array",
    "items": {"type": "string"},
    "description": "Conditions on properties, such as `year >= 2000` or `status = approved`",
}

MODE: dict[str, Any] = {
    "enum": ["lexical", "dense", "hybrid"],
    "description": "Rank by words (lexical), by meaning (dense), or by both",
}


def node(*, saves_sets: bool) -> dict[str, Any]:
    """Return the schema of a node, or where sets are saved of one of them."""
    return {"type": "string", "description": _reference(saves_sets)}


def nodes(*, saves_sets: bool) -> dict[str, Any]:
    """Return the schema of a list of nodes, or where sets are saved of these too."""
    return {**PLAIN_NODES, "description": f"Each one {_reference(saves_sets)}"}


def node_or_nodes(*, saves_sets: bool) -> dict[str, Any]:
    """Return the schema of a node or a list of them, or where sets are saved of these too."""
    return {**PLAIN_NODES, "type": ["string", "array"], "description": f"{_reference(saves_sets)}; or a list of them"}


def _reference(saves_sets: bool) -> str:
    own = "a node's id or exact name"
    return f"{own}, `name (Type)`, or a saved set such as @2" if saves_sets else f"{own}, or `name (Type)`"


def query(mode: Mode) -> dict[str, Any]:
    """Return the schema of `query` where searches rank in this way."""
    return {"type": "string", "description": _RANKED[ranking_of(mode).kind]}


def count(default: int) -> dict[str, Any]:
    """Return the schema of `k`."""
    return {"type": "integer", "minimum": 1, "maximum": LARGEST_K, "description": f"Rows to show; default {default}"}


def offset(unit: str = "Rows") -> dict[str, Any]:
    """Return the schema of `offset`, which counts in such units."""
    return {"type": "integer", "minimum": 0, "description": f"{unit} to skip; default 0"}


def spec(name: str, description: str, properties: Mapping[str, Any], required: Sequence[str] = ()) -> ToolSpec:
    """Return a tool as data."""
    parameters: dict[str, Any] = {"type": "object", "properties": dict(properties), "additionalProperties": False}
    if required:
        parameters["required"] = list(required)
    return ToolSpec(name=name, description=description, parameters=parameters)


def texts(arguments: Mapping[str, JsonValue], name: str) -> list[str] | None:
    """Return a list argument; None where it is absent or empty. The schema has checked its items."""
    value = arguments.get(name)
    return cast(list[str], value) if value else None  # checked against the schema before the tool runs


def references(arguments: Mapping[str, JsonValue], name: str) -> list[str]:
    """Return the nodes and sets that an argument names, one or a list. The schema has checked it."""
    value = arguments.get(name)
    return cast(list[str], value) if isinstance(value, list) else [text(arguments, name) or ""]


def text(arguments: Mapping[str, JsonValue], name: str) -> str | None:
    """Return a text argument; None where it is absent or blank."""
    value = arguments.get(name)
    return value if isinstance(value, str) and value.strip() else None


def mode(arguments: Mapping[str, JsonValue], default: Mode) -> Mode:
    """Return how a search is to rank. The schema has checked the name."""
    return cast(Mode, arguments.get("mode") or default)  # checked against the schema before the tool runs


def number(arguments: Mapping[str, JsonValue], name: str, default: int) -> int:
    """Return a whole number argument."""
    value = arguments.get(name)
    return value if isinstance(value, int) else default
