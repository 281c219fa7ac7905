"""Aggregations, functions of nodes, edges and paths, and conditions on types, for any engine."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Collection
from contextlib import AbstractContextManager
from dataclasses import dataclass

from orienteer.cypher import syntax
from orienteer.cypher.checks import check_count, check_graph_kind
from orienteer.cypher.functions import kind_of_aggregate
from orienteer.cypher.kinds import BOOLEAN, INTEGER, TEXT, Value, ValueKind, list_of, rendered
from orienteer.cypher.parser import Write
from orienteer.cypher.patterns import Scope, is_domain
from orienteer.cypher.syntax import Expression, FunctionCall
from orienteer.errors import BadQuery

OF_GRAPH = frozenset({"nodes", "edges", "length", "id"})


def inside_aggregation(name: str, scope: Scope) -> AbstractContextManager[None]:
    """Forbid further aggregations inside the block. Raises `BadQuery` if this one is not allowed."""
    if not scope.may_aggregate or scope.local:
        raise BadQuery(
            f"{name}() is allowed only in WITH and RETURN, and not inside another: "
            f"write WITH a, {name}(b) AS k WHERE k > 1, or RETURN a, {name}(b) AS k ORDER BY k"
        )
    return scope.aggregating(False)


def aggregated(call: FunctionCall, scope: Scope, write: Write) -> tuple[Value, ValueKind]:
    """Return an aggregation's argument and the kind of its result. Raises `BadQuery`."""
    check_count(call.name, call.arguments, 1, 1)
    with inside_aggregation(call.name, scope):
        value = write(call.arguments[0])
    return value, kind_of_aggregate(call.name, value)


def of_graph(call: FunctionCall, scope: Scope, write: Write) -> tuple[Value, ValueKind]:
    """Return the argument of nodes(), edges(), length() or id(), and the kind of the result. Raises `BadQuery`."""
    check_count(call.name, call.arguments, 1, 1)
    value = write(call.arguments[0])
    return value, kind_of_graph_call(call.name, value, scope)


def kind_of_graph_call(name: str, value: Value, scope: Scope) -> ValueKind:
    """Return the kind of nodes(), edges(), length() or id() of a value. Raises `BadQuery`.

    The length of a list or a text is its size.
    """
    schema = scope.names.schema
    if name == "id" and value.kind.name == "node":
        scope.note("id(n) is the node's id, a text: n.id")
        return TEXT
    if name == "length" and value.kind.name in ("list", "text"):
        return INTEGER
    check_graph_kind(f"{name}()", value, "edge" if name == "id" else "path")
    kinds = {
        "id": TEXT,
        "length": INTEGER,
        "nodes": list_of(ValueKind("node", frozenset(schema.node_types))),
        "edges": list_of(ValueKind("edge", frozenset(schema.edge_types))),
    }
    return kinds[name]


# Types in expressions, by any name of a type: `n:Gene`, `type(r)`, `labels(n)` and conditions on them.

TYPE_CALLS = frozenset({"type", "nodetype"})


@dataclass(frozen=True, slots=True)
class TypeTests(ABC):
    """Types of nodes and edges, and conditions on them; a subclass writes them for its engine."""

    scope: Scope
    write: Write

    @abstractmethod
    def is_of(self, value: Value, types: Collection[str]) -> Value:
        """Write the condition that a node or an edge has one of these types."""

    @abstractmethod
    def is_there(self, value: Value) -> Value:
        """Write the condition that an optional node is not null."""

    @abstractmethod
    def compares_type(self, value: Value, types: Collection[str]) -> str:
        """Write the condition that the type of a node or an edge is one of these, which is null for null."""

    @abstractmethod
    def type_text(self, value: Value) -> str:
        """Write the type of a node or an edge by its name in results, which is null for null."""

    def has_type(self, expression: syntax.HasType) -> Value:
        """Write the condition `n:Type`. Raises `UnknownType`."""
        base, names = self.scope.variable(expression.variable), self.scope.names
        if base.kind.name == "edge":
            types = frozenset(triple.type for name in expression.types for triple in names.edge_triples(name))
            if not expression.types:
                raise BadQuery(f"{expression.variable!r} is an edge: only nodes have the domain's label")
            return self.is_of(base, types)
        check_graph_kind(f"{expression.variable}:TYPE", base, "node")
        if not expression.types:
            return self.is_there(base)
        types = frozenset(node_type for name in expression.types for node_type in names.node_types(name))
        return self.is_of(base, types)

    def condition(self, expression: syntax.Binary) -> Value | None:
        """Write a condition on a type, such as `type(r) = 'TREATS'` or `'Gene' IN labels(n)`.

        Returns None for any other expression. Raises `UnknownType`.
        """
        view = self.scope.names.view
        if view is not None and expression.operator == "IN" and _is_labels(expression.right):
            domain = self.scope.constant(expression.left)
            if isinstance(domain, str) and is_domain(view.label, domain):
                # `'domain' IN labels(n)`, which is true for every node in a view
                assert isinstance(expression.right, syntax.FunctionCall)
                check_count("labels", expression.right.arguments, 1, 1)
                node = self.write(expression.right.arguments[0])
                check_graph_kind("labels()", node, "node")
                return self.is_there(node)
        operator, left, right = _type_first(expression, is_only_label=not self._domain)
        if not _is_type(left) or operator not in ("=", "<>", "IN"):
            return None
        items = [self.scope.constant(item) for item in right.items] if isinstance(right, syntax.ListOf) else None
        value: object = self.scope.constant(right) if items is None else items
        if isinstance(value, list) != (operator == "IN"):
            return None
        wanted = value if isinstance(value, list) else [value]
        if not wanted or not all(isinstance(name, str) for name in wanted):
            return None
        names = self.scope.names
        if self.write(left).kind.name == "edge type":
            types = frozenset(triple.type for word in wanted for triple in names.edge_triples(str(word)))
        else:
            types = frozenset(node_type for word in wanted for node_type in names.node_types(str(word)))
        # The node or edge whose type it is: in `head(labels(n))` and `labels(n)[0]` too.
        while not isinstance(left, syntax.FunctionCall) or left.name not in (*TYPE_CALLS, "labels"):
            assert isinstance(left, syntax.Item | syntax.FunctionCall)
            left = left.base if isinstance(left, syntax.Item) else left.arguments[0]
        check_count(left.name, left.arguments, 1, 1)
        condition = self.compares_type(self.write(left.arguments[0]), types)
        return Value(f"(NOT {condition})" if operator == "<>" else condition, BOOLEAN)

    def labels_of(self, arguments: tuple[Expression, ...]) -> Value:
        """Write the labels of a node as a list, its type first, which is null for null."""
        value = self.type_of(arguments, "node")
        labels = ", ".join([value.text, *self._domain])
        return Value(f"CASE WHEN {value.text} IS NOT NULL THEN [{labels}] END", list_of(value.kind))

    def label_of(self, arguments: tuple[Expression, ...], place: Expression) -> Value:
        """Write one label of a node by its index. Raises `BadQuery` for an index without a label."""
        if place == syntax.Literal_(0):
            return self.type_of(arguments, "node")
        if place != syntax.Literal_(1) or not self._domain:
            raise BadQuery("a node has one type here: labels(n)[0]")
        value = self.write(arguments[0])
        check_graph_kind("labels()", value, "node")
        return Value(f"CASE WHEN {self.is_there(value).text} THEN {self._domain[0]} END", TEXT)

    @property
    def _domain(self) -> list[str]:
        """The label that every node has in a view, in the engine's text; empty without one."""
        view = self.scope.names.view
        return [] if view is None or view.label is None else [rendered(view.label)]

    def type_of(self, arguments: tuple[Expression, ...], what: str) -> Value:
        """Return the type of a node or an edge. Raises `BadQuery` for anything else."""
        name = "type" if what == "edge" else "labels"
        check_count(name, arguments, 1, 1)
        value = self.write(arguments[0])
        check_graph_kind(f"{name}()", value, what)
        return Value(self.type_text(value), ValueKind(f"{what} type"))


def _type_first(expression: syntax.Binary, *, is_only_label: bool) -> tuple[str, Expression, Expression]:
    """Return a comparison with the type on its left side, if either side is a type."""
    operator, left, right = expression.operator, expression.left, expression.right
    if operator == "IN" and _is_labels(right):
        assert isinstance(right, syntax.FunctionCall)
        return "=", syntax.Item(right, syntax.Literal_(0)), left
    if isinstance(left, syntax.FunctionCall) and left.name == "labels" and isinstance(right, syntax.ListOf):
        is_one = operator in ("=", "<>") and len(right.items) == 1 and is_only_label  # labels(n) = ['Gene']
        return (operator, syntax.Item(left, syntax.Literal_(0)), right.items[0]) if is_one else (operator, left, right)
    return (operator, right, left) if not _is_type(left) and _is_type(right) else (operator, left, right)


def _is_labels(expression: Expression) -> bool:
    return isinstance(expression, syntax.FunctionCall) and expression.name == "labels"


def _is_type(expression: Expression) -> bool:
    """Return whether an expression is the type of an edge or the first label of a node."""
    if isinstance(expression, syntax.Item):
        return _is_labels(expression.base) and expression.at == syntax.Literal_(0)
    if isinstance(expression, syntax.FunctionCall) and expression.name == "head" and expression.arguments:
        return isinstance(expression.arguments[0], syntax.FunctionCall) and expression.arguments[0].name == "labels"
    return isinstance(expression, syntax.FunctionCall) and expression.name in TYPE_CALLS
