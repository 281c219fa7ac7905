"""Expressions as openCypher. A text of the statement goes as a parameter, never as text."""

from __future__ import annotations

from dataclasses import dataclass
from functools import singledispatchmethod

from orienteer.connect.opencypher.functions import call
from orienteer.connect.opencypher.patterns import ServerPatterns
from orienteer.connect.opencypher.types import ServerTypes
from orienteer.cypher import syntax
from orienteer.cypher.calls import OF_GRAPH, aggregated, inside_aggregation, of_graph
from orienteer.cypher.checks import check_kind, check_place, condition_of, kind_of_calculation
from orienteer.cypher.comparisons import check_compared, check_text_condition
from orienteer.cypher.functions import AGGREGATES
from orienteer.cypher.kinds import (
    BOOLEAN,
    DATE,
    DATE_PARTS,
    INTEGER,
    NULL,
    TEXT,
    UNKNOWN,
    Value,
    common,
    constant,
    list_of,
    map_of,
    quoted,
)
from orienteer.cypher.scope import Scope
from orienteer.cypher.syntax import Expression
from orienteer.cypher.type_tests import TYPE_CALLS
from orienteer.errors import BadQuery

_COMPARISONS = frozenset({"=", "<>", "<", "<=", ">", ">="})
_MOST_PARTS = 1_000  # texts or lists put together: WITH x + x AS x doubles them each time


@dataclass(slots=True)
class ServerExpressions:
    """Writes the expressions of one query."""

    scope: Scope

    @property
    def _types(self) -> ServerTypes:
        return ServerTypes(self.scope, self.write)

    def write(self, expression: Expression) -> Value:
        """Write an expression. Raises `BadQuery`, `UnknownType`, `UnknownProperty`."""
        value: Value = _WRITERS(type(expression))(self, expression)
        if value.parts > _MOST_PARTS:
            raise BadQuery(
                f"the query puts more than {_MOST_PARTS:,} texts or lists together: use collect() of what MATCH finds"
            )
        return value

    @singledispatchmethod
    def _written(self, expression: Expression) -> Value:
        raise AssertionError(expression)

    def condition(self, expression: Expression) -> str:
        """Write a condition. Raises `BadQuery` for a value that cannot be true or false."""
        return condition_of(self.write(expression))

    # --------------------------------------------------------------------------------------------------- leaves

    @_written.register
    def _(self, expression: syntax.Literal_) -> Value:
        value = constant(expression.value)
        return value._replace(text=self.scope.hold(value.known)) if value.kind == TEXT else value

    @_written.register
    def _(self, expression: syntax.Parameter) -> Value:
        return self.scope.parameter(expression.name)

    @_written.register
    def _(self, expression: syntax.Variable) -> Value:
        return self.scope.variable(expression.name)

    @_written.register
    def _(self, expression: syntax.Property) -> Value:
        base = self.write(expression.base)
        if base.kind == DATE and expression.key in DATE_PARTS:
            return Value(f"({base.text}).{expression.key}", INTEGER)
        return self.scope.names.property(base, expression.key)

    @_written.register
    def _(self, expression: syntax.HasType) -> Value:
        return self._types.has_type(expression)

    # ------------------------------------------------------------------------------------------------ operators

    @_written.register
    def _(self, expression: syntax.Unary) -> Value:
        if expression.operator == "NOT":
            return Value(f"(NOT {self.condition(expression.operand)})", BOOLEAN)
        value = self.write(expression.operand)
        if expression.operator == "-":
            check_kind("a minus sign", value, "number")
            return Value(f"(-{value.text})", value.kind)
        return Value(f"({value.text} {expression.operator})", BOOLEAN)

    @_written.register
    def _(self, expression: syntax.Binary) -> Value:
        operator = expression.operator
        if operator in ("AND", "OR", "XOR"):
            left, right = self.condition(expression.left), self.condition(expression.right)
            return Value(f"({left} {operator} {right})", BOOLEAN)
        if (about_types := self._types.condition(expression)) is not None:
            return about_types
        first, second = self.write(expression.left), self.write(expression.right)
        if operator in _COMPARISONS:
            check_compared(operator, first, second)
            return Value(f"({first.text} {operator} {second.text})", BOOLEAN)
        if operator == "IN":
            return self._in(first, second)
        if operator in ("CONTAINS", "STARTS WITH", "ENDS WITH", "=~"):
            return self._text_condition(expression, first, second)
        return _calculated(operator, first, second)

    def _in(self, left: Value, right: Value) -> Value:
        check_kind("IN", right, "list")
        if right.kind.item is not None and right.kind.item.name:
            check_compared("=", left, Value("item", right.kind.item))
        return Value(f"({left.text} IN {right.text})", BOOLEAN)

    def _text_condition(self, expression: syntax.Binary, left: Value, right: Value) -> Value:
        operator = expression.operator
        check_text_condition(operator, left, right, self.scope.constant(expression.right))
        return Value(f"({left.text} {operator} {right.text})", BOOLEAN)

    # --------------------------------------------------------------------------------------------- lists, cases

    @_written.register
    def _(self, expression: syntax.ListOf) -> Value:
        values = [self.write(part) for part in expression.items]
        kind = common([value.kind for value in values], "a list")
        parts = sum(value.parts for value in values if value.parts > 1)
        return Value(f"[{', '.join(value.text for value in values)}]", list_of(kind), parts=max(parts, 1))

    @_written.register
    def _(self, expression: syntax.MapOf) -> Value:
        items, kinds, parts = [], [], 1
        for key, part in expression.items:
            if not key.isprintable():
                raise BadQuery(f"{key!r} cannot be a key of a map: begin it with a letter")
            value = self.write(part)
            items.append(f"{quoted(key)}: {value.text}")
            kinds.append((key, value.kind))
            parts += value.parts - 1
        return Value(f"{{{', '.join(items)}}}", map_of(kinds), parts=parts)

    @_written.register
    def _(self, expression: syntax.Item) -> Value:
        if isinstance(expression.base, syntax.FunctionCall) and expression.base.name == "labels":
            return self._types.label_of(expression.base.arguments, expression.at)
        base, at = self.write(expression.base), self.write(expression.at)
        check_place(base, at)
        return Value(f"({base.text})[{at.text}]", base.kind.item or UNKNOWN, parts=base.parts)

    @_written.register
    def _(self, expression: syntax.Slice) -> Value:
        base = self.write(expression.base)
        check_kind("a slice", base, "list")
        begin = "" if expression.begin is None else expression.begin
        end = "" if expression.end is None else expression.end
        return Value(f"({base.text})[{begin}..{end}]", base.kind, parts=base.parts)

    @_written.register
    def _(self, expression: syntax.CaseExpression) -> Value:
        tests = [self.condition(condition) for condition, _ in expression.whens]
        results = [self.write(result) for _, result in expression.whens]
        if expression.otherwise is not None:
            results.append(self.write(expression.otherwise))
        kind = common([value.kind for value in results], "CASE")
        whens = " ".join(f"WHEN {test} THEN {value.text}" for test, value in zip(tests, results, strict=False))
        otherwise = "" if expression.otherwise is None else f" ELSE {results[-1].text}"
        return Value(f"CASE {whens}{otherwise} END", kind, parts=max(value.parts for value in results))

    @_written.register
    def _(self, expression: syntax.Comprehension) -> Value:
        source, name = self._source(expression.source, "a list comprehension"), self.scope.fresh()
        with self.scope.inner({expression.variable: Value(name, source.kind.item or UNKNOWN, parts=source.parts)}):
            where = f" WHERE {self.condition(expression.where)}" if expression.where is not None else ""
            result = self.write(expression.result) if expression.result is not None else None
        if result is None:
            return Value(f"[{name} IN {source.text}{where}]", source.kind, parts=source.parts)
        parts = source.parts * result.parts
        return Value(f"[{name} IN {source.text}{where} | {result.text}]", list_of(result.kind), parts=parts)

    def _source(self, expression: Expression, what: str) -> Value:
        source = self.write(expression)
        check_kind(what, source, "list")
        return source

    @_written.register
    def _(self, expression: syntax.Quantifier) -> Value:
        source, name = self._source(expression.source, f"{expression.kind}()"), self.scope.fresh()
        with self.scope.inner({expression.variable: Value(name, source.kind.item or UNKNOWN, parts=source.parts)}):
            where = self.condition(expression.where)
        return Value(f"{expression.kind}({name} IN {source.text} WHERE {where})", BOOLEAN)

    @_written.register
    def _(self, expression: syntax.PatternComprehension) -> Value:
        if expression.path.shortest or expression.path.variable is not None:
            raise BadQuery("[p = (a)-[..]->(b) | p] is not supported: MATCH the path, and collect() what is wanted")
        matched = ServerPatterns(self.scope, self.write).match([expression.path], expression.where)
        with self.scope.inner(matched.variables):
            result = self.write(expression.result)
        return Value(f"[{matched.text} | {result.text}]", list_of(result.kind))

    @_written.register
    def _(self, expression: syntax.Subquery) -> Value:
        matched = ServerPatterns(self.scope, self.write).match(expression.paths, expression.where)
        text = f"{expression.kind} {{ MATCH {matched.text} }}"
        return Value(text, BOOLEAN if expression.kind == "EXISTS" else INTEGER)

    # ---------------------------------------------------------------------------------------------------- calls

    @_written.register
    def _(self, expression: syntax.FunctionCall) -> Value:
        name = expression.name
        if expression.star:
            with inside_aggregation(name, self.scope):
                return Value("count(*)", INTEGER)
        if name in AGGREGATES:
            return self._aggregate(expression)
        if name in TYPE_CALLS:
            return self._types.type_of(expression.arguments, "edge" if name == "type" else "node")
        if name == "labels":
            return self._types.labels_of(expression.arguments)
        if name in OF_GRAPH:
            return self._of_graph(expression)
        return call(name, [self.write(argument) for argument in expression.arguments])

    def _aggregate(self, expression: syntax.FunctionCall) -> Value:
        value, kind = aggregated(expression, self.scope, self.write)
        written = f"{expression.name}({'DISTINCT ' if expression.distinct else ''}{value.text})"
        return Value(written, kind, parts=value.parts if expression.name == "collect" else 1)

    def _of_graph(self, expression: syntax.FunctionCall) -> Value:
        value, kind = of_graph(expression, self.scope, self.write)
        name = expression.name
        if name == "id":
            is_node = value.kind.name == "node"
            return Value(self.scope.names.identifier(value) if is_node else f"elementId({value.text})", kind)
        if value.kind.name != "path":
            return call("size", [value])
        return Value(f"{'relationships' if name == 'edges' else name}({value.text})", kind)


# The dispatch of `self._written`, without the wrapper that functools makes at each call.
_WRITERS = vars(ServerExpressions)["_written"].dispatcher.dispatch


def _calculated(operator: str, left: Value, right: Value) -> Value:
    """Return `left operator right` for numbers, texts or two lists. Raises `BadQuery` for other values."""
    is_text = left.kind.is_text or right.kind.is_text
    if operator == "+" and is_text and not {left.kind.name, right.kind.name} & {"list", "null"}:
        texts = [value.text if value.kind.is_text else f"toString({value.text})" for value in (left, right)]
        return Value(f"({' + '.join(texts)})", TEXT, parts=left.parts + right.parts)
    kind = kind_of_calculation(operator, left, right)
    if kind == NULL:
        return constant(None)
    parts = left.parts + right.parts if kind.name == "list" else 1
    return Value(f"({left.text} {operator} {right.text})", kind, parts=parts)
