"""Expressions of a statement in the form of an engine, with the kinds of their values as far as they are known.

Every engine walks the same tree by the same rules of kinds. Only names, types, patterns and calls differ, and whether
values of several kinds may stand together: a subclass says so.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import ClassVar, NamedTuple

from orienteer.cypher import syntax
from orienteer.cypher.checks import (
    check_compared,
    check_contained,
    check_count,
    check_graph_kind,
    check_kind,
    check_text_condition,
    condition_of,
)
from orienteer.cypher.functions import (
    AGGREGATES,
    OF_GRAPH,
    TYPE_CALLS,
    calls,
    kind_of_call,
    kind_of_graph_call,
    type_test,
)
from orienteer.cypher.kinds import (
    BOOLEAN,
    NULL,
    UNKNOWN,
    Value,
    ValueKind,
    common,
    common_or_unknown,
    constant,
    list_of,
    map_of,
)
from orienteer.cypher.patterns import Scope
from orienteer.errors import BadQuery
from orienteer.query import expressions as ex
from orienteer.query.expressions import Expression

_COMPARISONS = frozenset({"=", "<>", "<", "<=", ">", ">="})
_TEXT_CONDITIONS = frozenset({"CONTAINS", "STARTS WITH", "ENDS WITH", "=~"})


class Compiled(NamedTuple):
    """An expression in the form of an engine."""

    tree: Expression
    value: Value
    """Its kind, and its value if it is a constant; the text of a variable is its column."""

    @property
    def kind(self) -> ValueKind:
        """The kind of its values."""
        return self.value.kind


@dataclass(slots=True)
class ExpressionCompiler:
    """Compiles the expressions of one query."""

    scope: Scope

    is_strict: ClassVar[bool] = False
    """The items of a list and the results of CASE must be of one kind, lists have no order, and keys follow a dot."""

    def tree(self, expression: Expression) -> Expression:
        """Return an expression in the engine's form. Raises `BadQuery`, `UnknownType`, `UnknownProperty`."""
        return self.compiled(expression).tree

    def condition(self, expression: Expression) -> Expression:
        """Return a condition. Raises `BadQuery` for a value that cannot be true or false."""
        made = self.compiled(expression)
        condition_of(made.value)
        return made.tree

    def value(self, expression: Expression) -> Value:
        """Return the value of an expression, as far as it is known."""
        return self.compiled(expression).value

    def compiled(self, expression: Expression) -> Compiled:
        """Return an expression with its kind. Raises `BadQuery`, `UnknownType`, `UnknownProperty`."""
        made: Compiled = getattr(self, _METHODS[type(expression)])(expression)
        return made

    def sort_key(self, expression: Expression) -> Compiled:
        """Return what ORDER BY sorts by. Raises `BadQuery` for values without an order."""
        made = self.compiled(expression)
        if made.kind.name in ("node", "edge", "path", "map", *(["list"] if self.is_strict else [])):
            raise BadQuery(f"ORDER BY takes texts, numbers or dates, not {made.kind.description}: name a property")
        return made

    # What an engine says.

    def made(self, tree: Expression, kind: ValueKind, parts: int = 1) -> Compiled:
        """Return a part of the statement whose own parts are in the engine's form already."""
        return Compiled(tree, Value("", kind, parts=parts))

    def literal(self, expression: ex.Literal_) -> Compiled:
        """Return a value that stands in the statement."""
        return Compiled(expression, constant(expression.value))

    def parameter(self, expression: ex.Parameter) -> Compiled:
        """Return a parameter. Raises `BadQuery` for values that the engine does not take."""
        raise NotImplementedError

    def entry(self, expression: ex.Property) -> Compiled:
        """Return a property of a node or an edge, an entry of a map, or a part of a date."""
        raise NotImplementedError

    def is_of(self, owner: Compiled, names: Sequence[str], *, is_edge: bool) -> Compiled:
        """Return the condition that the type of a node or an edge has one of some names; null for null."""
        raise NotImplementedError

    def calculated(self, operator: str, left: Compiled, right: Compiled) -> Compiled:
        """Return `left operator right` of numbers, texts, lists or dates."""
        raise NotImplementedError

    def subquery(self, expression: syntax.Subquery) -> Compiled:
        """Return EXISTS, COUNT or COLLECT."""
        raise NotImplementedError

    def pattern_comprehension(self, expression: syntax.PatternComprehension) -> Compiled:
        """Return the list that a pattern makes."""
        raise NotImplementedError

    def reduction(self, expression: syntax.Reduction) -> Compiled:
        """Return reduce()."""
        raise NotImplementedError

    def aggregation(self, expression: ex.FunctionCall) -> Compiled:
        """Return count(), collect() and the like."""
        raise NotImplementedError

    def type_call(self, expression: ex.FunctionCall) -> Compiled:
        """Return type(), labels() or nodeType()."""
        raise NotImplementedError

    def called(self, name: str, arguments: Sequence[Compiled], kind: ValueKind) -> Compiled:
        """Return the call of another function, whose result is of a kind."""
        raise NotImplementedError

    @property
    def label(self) -> str | None:
        """The label that every node has in a view, or None."""
        view = self.scope.names.view
        return None if view is None else view.label

    # What is the same for all.

    def boolean(self, tree: Expression) -> Compiled:
        """Return a condition."""
        return self.made(tree, BOOLEAN)

    def _common(self, kinds: list[ValueKind], where: str) -> ValueKind:
        return common(kinds, where) if self.is_strict else common_or_unknown(kinds)

    def _variable(self, expression: ex.Variable) -> Compiled:
        value = self.scope.variable(expression.name)
        return Compiled(self.made(ex.Variable(value.text), value.kind).tree, value)

    def _unary(self, expression: ex.Unary) -> Compiled:
        if expression.operator == "NOT":
            return self.boolean(ex.Unary("NOT", self.condition(expression.operand)))
        operand = self.compiled(expression.operand)
        if expression.operator == "-":
            check_kind("a minus sign", operand.value, "number")
            return self.made(ex.Unary("-", operand.tree), operand.kind)
        return self.boolean(ex.Unary(expression.operator, operand.tree))

    def _binary(self, expression: ex.Binary) -> Compiled:
        operator = expression.operator
        if operator in ("AND", "OR", "XOR"):
            left, right = self.condition(expression.left), self.condition(expression.right)
            return self.boolean(ex.Binary(operator, left, right))
        if (tested := self._type_condition(expression)) is not None:
            return tested
        first, second = self.compiled(expression.left), self.compiled(expression.right)
        tree = ex.Binary(operator, first.tree, second.tree)
        if operator in _COMPARISONS:
            if self.is_strict or not first.kind.name == second.kind.name == "list":  # they are compared item by item
                check_compared(operator, first.value, second.value)
            return self.boolean(tree)
        if operator == "IN":
            check_contained(first.value, second.value)
            return self.boolean(tree)
        if operator in _TEXT_CONDITIONS:
            if self.is_strict or "null" not in (first.kind.name, second.kind.name):
                check_text_condition(operator, first.value, second.value, self.scope.constant(expression.right))
            return self.boolean(tree)
        return self.calculated(operator, first, second)

    # Lists, maps, CASE.

    def _list(self, expression: ex.ListOf) -> Compiled:
        items = [self.compiled(part) for part in expression.items]
        kind = self._common([item.kind for item in items], "a list")
        parts = sum(item.value.parts for item in items if item.value.parts > 1)
        return self.made(ex.ListOf(tuple(item.tree for item in items)), list_of(kind), max(parts, 1))

    def _map(self, expression: ex.MapOf) -> Compiled:
        items = [(key, self.compiled(part)) for key, part in expression.items]
        kind = map_of((key, item.kind) for key, item in items)
        parts = 1 + sum(item.value.parts - 1 for _, item in items)
        return self.made(ex.MapOf(tuple((key, item.tree) for key, item in items)), kind, parts)

    def item(self, expression: ex.Item) -> Compiled:
        """Return an item of a list, or an entry by its key."""
        base, at = self.compiled(expression.base), self.compiled(expression.at)
        if calls(expression.base, "labels") and at.value.known not in (0, *([1] if self.label else []), None):
            raise BadQuery("a node has one type here: labels(n)[0]")
        if at.kind.is_text or base.kind.name in ("node", "edge", "map"):
            if self.is_strict:
                raise BadQuery("a property is named after a dot, as in n.name")
            check_kind("a key in brackets", at.value, "text")
            if base.kind.name in ("node", "edge") and isinstance(at.value.known, str):
                return self.compiled(ex.Property(expression.base, at.value.known))
            kind = dict(base.kind.entries or ()).get(str(at.value.known), UNKNOWN)
        else:
            check_kind("a place in brackets", base.value, "list")
            check_kind("a place in a list", at.value, "integer")
            kind = base.kind.item or UNKNOWN
        return self.made(ex.Item(base.tree, at.tree), kind, base.value.parts)

    def _slice(self, expression: ex.Slice) -> Compiled:
        base = self.compiled(expression.base)
        check_kind("a slice", base.value, "list")
        bounds = list[Expression | None]()
        for bound in (expression.begin, expression.end):
            made = None if bound is None else self.compiled(bound)
            if made is not None:
                check_kind("a place in a list", made.value, "integer")
            bounds.append(None if made is None else made.tree)
        return self.made(ex.Slice(base.tree, bounds[0], bounds[1]), base.kind, base.value.parts)

    def _case(self, expression: ex.CaseExpression) -> Compiled:
        whens = [(self.condition(condition), self.compiled(result)) for condition, result in expression.whens]
        otherwise = None if expression.otherwise is None else self.compiled(expression.otherwise)
        results = [result for _, result in whens] + ([] if otherwise is None else [otherwise])
        tree = ex.CaseExpression(
            tuple((condition, result.tree) for condition, result in whens),
            None if otherwise is None else otherwise.tree,
        )
        kind = self._common([result.kind for result in results], "CASE")
        return self.made(tree, kind, max(result.value.parts for result in results))

    def items(self, source: Expression, what: str) -> tuple[Compiled, Value]:
        """Return a list, and the value of the variable for its items. Raises `BadQuery` for what is not a list."""
        made = self.compiled(source)
        check_kind(what, made.value, "list")
        return made, Value(self.scope.fresh(), made.kind.item or UNKNOWN, parts=made.value.parts)

    def _comprehension(self, expression: ex.Comprehension) -> Compiled:
        source, item = self.items(expression.source, "a list comprehension")
        where = result = None
        with self.scope.inner({expression.variable: item}):
            if expression.where is not None:
                where = self.condition(expression.where)
            if expression.result is not None:
                result = self.compiled(expression.result)
        tree = ex.Comprehension(item.text, source.tree, where, None if result is None else result.tree)
        parts = source.value.parts * (1 if result is None else result.value.parts)
        return self.made(tree, list_of(item.kind if result is None else result.kind), parts)

    def _quantifier(self, expression: ex.Quantifier) -> Compiled:
        source, item = self.items(expression.source, f"{expression.kind}()")
        with self.scope.inner({expression.variable: item}):
            where = self.condition(expression.where)
        return self.boolean(ex.Quantifier(expression.kind, item.text, source.tree, where))

    # Functions, and conditions on types.

    def call(self, expression: ex.FunctionCall) -> Compiled:
        """Return a call of a function. Raises `BadQuery` for wrong arguments."""
        name = expression.name
        if name in AGGREGATES:
            return self.aggregation(expression)
        if name in TYPE_CALLS or name == "labels":
            return self.type_call(expression)
        arguments = [self.compiled(part) for part in expression.arguments]
        values = [argument.value for argument in arguments]
        if name not in OF_GRAPH:
            return self.called(name, arguments, kind_of_call(name, values))
        check_count(name, values, 1, 1)
        kind = NULL if values[0].kind == NULL else kind_of_graph_call(name, values[0], self.scope)
        return self.called(name, arguments, kind)

    def owner(self, call: ex.FunctionCall) -> Compiled:
        """Return the argument of type(), labels() or nodeType(). Raises `BadQuery` unless it is an edge or a node."""
        check_count(call.name, call.arguments, 1, 1)
        made = self.compiled(call.arguments[0])
        self._check_owner(f"{call.name}()", made.value, "edge" if call.name == "type" else "node")
        return made

    def _check_owner(self, what: str, value: Value, wanted: str) -> None:
        if self.is_strict or value.kind.name not in ("", "null"):
            check_graph_kind(what, value, wanted)

    def _has_type(self, expression: syntax.HasType) -> Compiled:
        owner = self.compiled(ex.Variable(expression.variable))
        if owner.kind.name != "edge":
            self._check_owner(f"{expression.variable}:TYPE", owner.value, "node")
        elif not expression.types:
            raise BadQuery(f"{expression.variable!r} is an edge: only nodes have the domain's label")
        return self.is_of(owner, expression.types, is_edge=owner.kind.name == "edge")

    def _type_condition(self, expression: ex.Binary) -> Compiled | None:
        """Return a test of types for `type(r) = 'TREATS'` and the like; None for another condition."""
        test = type_test(expression, self.scope.constant, self.label)
        if test is None:
            return None
        condition = self.is_of(self.owner(test.call), test.words or (), is_edge=test.call.name == "type")
        return self.boolean(ex.Unary("NOT", condition.tree)) if test.is_negated else condition


_METHODS: Mapping[type, str] = {
    ex.Literal_: "literal",
    ex.Parameter: "parameter",
    ex.Variable: "_variable",
    ex.Property: "entry",
    syntax.HasType: "_has_type",
    ex.Unary: "_unary",
    ex.Binary: "_binary",
    ex.ListOf: "_list",
    ex.MapOf: "_map",
    ex.Item: "item",
    ex.Slice: "_slice",
    ex.CaseExpression: "_case",
    ex.Comprehension: "_comprehension",
    ex.Quantifier: "_quantifier",
    syntax.Reduction: "reduction",
    syntax.Subquery: "subquery",
    syntax.PatternComprehension: "pattern_comprehension",
    ex.FunctionCall: "call",
}
