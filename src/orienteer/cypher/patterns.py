"""The parser's part for patterns of nodes and edges."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Literal

from orienteer.cypher.syntax import Direction, EdgePattern, Expression, Hops, NodePattern, PathPattern
from orienteer.cypher.tokens import TokenReader
from orienteer.errors import BadQuery

MOST_HOPS = 4  # edges of a variable-length pattern: at a larger distance, everything is connected to everything
MOST_EDGES = 8  # in a clause, a variable-length one counted with its most hops: planning more takes an engine seconds
_SHORTEST: dict[str, Literal["SHORTEST", "ALL SHORTEST"]] = {
    "shortestpath": "SHORTEST",
    "allshortestpaths": "ALL SHORTEST",
}
_ReadExpression = Callable[[TokenReader], Expression]


def read_paths(reader: TokenReader, read: _ReadExpression) -> tuple[PathPattern, ...]:
    """Return the paths of a clause. Raises `BadQuery`, also for more edges than an engine plans in time."""
    paths = [read_path(reader, read)]
    while reader.takes(","):
        paths.append(read_path(reader, read))
    edges = sum(edge.hops.most if edge.hops else 1 for path in paths for edge in path.edges)
    if edges > MOST_EDGES or len(paths) > MOST_EDGES:
        raise BadQuery(f"a pattern has {edges} edges: {MOST_EDGES} are allowed; put WITH between two MATCH")
    return tuple(paths)


def read_path(reader: TokenReader, read: _ReadExpression) -> PathPattern:
    """Return the path that comes next; `read` reads the values in its braces. Raises `BadQuery`."""
    variable = None
    if reader.is_variable() and reader.is_sign("=", ahead=1):
        variable = reader.variable()
        reader.expect("=", "after a path's name")
    word = reader.peek().value.casefold()
    if reader.is_call() and word in _SHORTEST:
        return _shortest(reader, read, variable, _SHORTEST[word])
    nodes, edges = [_node(reader, read)], list[EdgePattern]()
    while reader.is_sign("-", "<"):
        edges.append(_edge(reader, read))
        nodes.append(_node(reader, read))
    return PathPattern(variable, tuple(nodes), tuple(edges))


def _shortest(
    reader: TokenReader, read: _ReadExpression, variable: str | None, kind: Literal["SHORTEST", "ALL SHORTEST"]
) -> PathPattern:
    name = reader.next().value
    reader.expect("(", f"after {name}")
    path = read_path(reader, read)
    reader.expect(")", f"after {name}(...")
    if len(path.edges) != 1 or path.edges[0].hops is None or path.edges[0].hops.least > 1:
        raise BadQuery(f"{name} takes one pattern such as (a)-[:TYPE*..{MOST_HOPS}]-(b); else use the `paths` tool")
    hops = Hops(1, path.edges[0].hops.most)
    return PathPattern(variable, path.nodes, (replace(path.edges[0], hops=hops),), kind)


def _node(reader: TokenReader, read: _ReadExpression) -> NodePattern:
    reader.expect("(", "of a node")
    variable = reader.variable() if reader.is_variable() else None
    types = node_labels(reader)
    properties = _properties(reader, read)
    if reader.is_word("WHERE"):
        raise BadQuery("WHERE inside a node is not supported: write it after the pattern, as MATCH (n) WHERE n.x = 1")
    reader.expect(")", "after a node")
    return NodePattern(variable, types, properties)


def _edge(reader: TokenReader, read: _ReadExpression) -> EdgePattern:
    points_back = reader.takes("<")
    reader.expect("-", "of an edge")
    variable: str | None = None
    types: tuple[str, ...] = ()
    hops: Hops | None = None
    properties: tuple[tuple[str, Expression], ...] = ()
    if reader.takes("["):
        variable = reader.variable() if reader.is_variable() else None
        types = _edge_types(reader)
        hops = _hops(reader) if reader.takes("*") else None
        properties = _properties(reader, read)
        if reader.is_word("WHERE"):
            raise BadQuery("WHERE inside an edge is not supported: write it after the pattern")
        reader.expect("]", "after an edge")
    reader.expect("-", "after an edge")
    points_on = reader.takes(">")
    if reader.is_sign("+", "*", "{"):
        raise BadQuery(f"quantified patterns are not supported: write -[:TYPE*1..{MOST_HOPS}]-")
    direction: Direction = "both" if points_back == points_on else "in" if points_back else "out"
    return EdgePattern(variable, types, direction, hops, properties)


def node_labels(reader: TokenReader) -> tuple[str, ...]:
    """Read `:A|B`, in a view also `:A:domain`; return the alternative types, empty for any type.

    Raises `BadQuery` for more labels than a node has.
    """
    alternatives: list[list[str]] = []
    while reader.takes(":") or (alternatives and reader.takes("|")):
        if alternatives:
            reader.takes(":")
        _refuse_signs(reader, "node type")
        together = [reader.name("node type")]
        while reader.is_sign("&") or (reader.domain is not None and reader.is_sign(":")):
            reader.next()
            _refuse_signs(reader, "node type")
            together.append(reader.name("node type"))
        alternatives.append([label for label in together if not is_domain(reader.domain, label)])
        if len(alternatives[-1]) > 1 or (len(together) > 1 and reader.domain is None) or reader.is_sign(":"):
            beside = f" beside the label {reader.domain}" if reader.domain is not None else ""
            raise BadQuery(f"a node has one type here{beside}, and node types are alternatives: write :A|B")
    types = [label for together in alternatives for label in together]
    return () if any(not together for together in alternatives) else tuple(types)


def is_domain(domain: str | None, name: str) -> bool:
    """Tell whether a name is the label that every node has in a view."""
    return domain is not None and name.casefold() == domain.casefold()


def _refuse_signs(reader: TokenReader, what: str) -> None:
    if reader.is_sign("!", "%", "("):
        raise BadQuery(f"only alternatives of {what}s are supported: write :A|B")


def _edge_types(reader: TokenReader) -> tuple[str, ...]:
    """Read `:A|B` or the older `:A|:B`; return the alternative types."""
    types: list[str] = []
    while reader.takes(":") or (types and reader.takes("|")):
        if types:
            reader.takes(":")
        _refuse_signs(reader, "edge type")
        types.append(reader.name("edge type"))
        if reader.is_sign(":", "&"):
            raise BadQuery("an edge has one type here, and edge types are alternatives: write :A|B")
    return tuple(types)


def _hops(reader: TokenReader) -> Hops:
    least = int(reader.next().value) if reader.peek().kind == "integer" else None
    has_range = reader.takes("..")
    most = int(reader.next().value) if has_range and reader.peek().kind == "integer" else None
    if not has_range:
        most = least
    if most is None:
        raise BadQuery(f"a pattern of any length is not supported: give the most hops, as in *1..{MOST_HOPS}")
    least = 1 if least is None else least
    if not least:  # with *0 the engine loses nodes that no edge of the pattern's types could reach
        raise BadQuery(f"no hop at all, *0..{most}, is not supported: write *1..{max(most, 1)}, and UNION the start")
    if most > MOST_HOPS or least > most:
        raise BadQuery(f"*{least}..{most} is not supported: hops go from 1 to {MOST_HOPS}; for paths use `paths`")
    return Hops(least, most)


def _properties(reader: TokenReader, read: _ReadExpression) -> tuple[tuple[str, Expression], ...]:
    if reader.peek().kind == "parameter":
        raise BadQuery(f"properties cannot be one parameter: write {{key: ${reader.peek().value}}}")
    if not reader.takes("{"):
        return ()
    items: list[tuple[str, Expression]] = []
    while not reader.takes("}"):
        key = reader.name("property")
        reader.expect(":", f"after the property {key!r}")
        items.append((key, read(reader)))
        if not reader.is_sign("}"):
            reader.expect(",", "between properties")
    return tuple(items)
