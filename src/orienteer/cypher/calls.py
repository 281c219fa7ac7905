"""What aggregations and the functions of nodes, edges and paths are asked of, whatever engine is told it."""

from __future__ import annotations

from contextlib import AbstractContextManager

from orienteer.cypher.checks import check_count, check_graph_kind
from orienteer.cypher.functions import kind_of_aggregate
from orienteer.cypher.kinds import INTEGER, TEXT, Value, ValueKind, list_of
from orienteer.cypher.pattern_reader import Write
from orienteer.cypher.scope import Scope
from orienteer.cypher.syntax import FunctionCall
from orienteer.errors import BadQuery

OF_GRAPH = frozenset({"nodes", "edges", "length", "id"})


def inside_aggregation(name: str, scope: Scope) -> AbstractContextManager[None]:
    """Forbid further aggregations inside the block. Raises `BadQuery` where this one may not stand."""
    if not scope.may_aggregate or scope.local:
        raise BadQuery(
            f"{name}() may stand in WITH and RETURN only, and not inside another: "
            f"write WITH a, {name}(b) AS k WHERE k > 1, or RETURN a, {name}(b) AS k ORDER BY k"
        )
    return scope.aggregating(False)


def aggregated(call: FunctionCall, scope: Scope, write: Write) -> tuple[Value, ValueKind]:
    """Return what an aggregation is asked of, and the kind of what it gives. Raises `BadQuery`."""
    check_count(call.name, call.arguments, 1, 1)
    with inside_aggregation(call.name, scope):
        value = write(call.arguments[0])
    return value, kind_of_aggregate(call.name, value)


def of_graph(call: FunctionCall, scope: Scope, write: Write) -> tuple[Value, ValueKind]:
    """Return what nodes(), edges(), length() or id() is asked of, and the kind of what it gives. Raises `BadQuery`.

    The length of a list or a text is its size.
    """
    name, schema = call.name, scope.names.schema
    check_count(name, call.arguments, 1, 1)
    value = write(call.arguments[0])
    if name == "id" and value.kind.name == "node":
        scope.note("id(n) is the node's id, a text: n.id")
        return value, TEXT
    if name == "length" and value.kind.name in ("list", "text"):
        return value, INTEGER
    check_graph_kind(f"{name}()", value, "edge" if name == "id" else "path")
    kinds = {
        "id": TEXT,
        "length": INTEGER,
        "nodes": list_of(ValueKind("node", frozenset(schema.node_types))),
        "edges": list_of(ValueKind("edge", frozenset(schema.edge_types))),
    }
    return value, kinds[name]
