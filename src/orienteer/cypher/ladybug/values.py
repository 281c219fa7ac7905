"""Expressions in the engine's text."""

from __future__ import annotations

from dataclasses import dataclass
from functools import singledispatchmethod

from orienteer.cypher import syntax
from orienteer.cypher.calls import OF_GRAPH, TYPE_CALLS, aggregated, inside_aggregation, of_graph
from orienteer.cypher.checks import check_kind, check_text_condition, condition_of, conjuncts, plain_bounds
from orienteer.cypher.functions import AGGREGATES
from orienteer.cypher.kinds import (
    BOOLEAN,
    DATE,
    DATE_PARTS,
    FLOAT,
    INTEGER,
    NULL,
    UNKNOWN,
    Value,
    ValueKind,
    common,
    constant,
    list_of,
    map_of,
    quoted,
    repeated,
)
from orienteer.cypher.ladybug import functions, texts
from orienteer.cypher.ladybug.arithmetic import LIST_ADVICE, calculated, total
from orienteer.cypher.ladybug.comparisons import compared
from orienteer.cypher.ladybug.functions import LAST, item
from orienteer.cypher.ladybug.joins import UNSURE, is_unsure, joined, parts_of
from orienteer.cypher.ladybug.matcher import Matcher
from orienteer.cypher.ladybug.pattern_lists import ELSEWHERE
from orienteer.cypher.ladybug.types import EngineTypes
from orienteer.cypher.patterns import Scope
from orienteer.cypher.syntax import Expression
from orienteer.errors import BadQuery

_NEVER_NULL = (syntax.Literal_, syntax.Parameter, syntax.ListOf, syntax.MapOf)  # null itself is refused in lists
_COMPARISONS = frozenset({"=", "<>", "<", "<=", ">", ">="})
LONGEST_WRITTEN = 100_000  # characters of the engine's text: a bound on its parser's time
TOO_LONG = "the query becomes too long for the engine: name what stands in it several times by WITH ... AS x"


@dataclass(slots=True)
class Writer:
    """Writes the expressions of one query."""

    scope: Scope

    @property
    def _types(self) -> EngineTypes:
        return EngineTypes(self.scope, self.write)

    def write(self, expression: Expression) -> Value:
        """Write an expression for the engine. Raises `BadQuery`, `UnknownType`, `UnknownProperty`."""
        value: Value = _WRITERS(type(expression))(self, expression)
        if len(value.text) > LONGEST_WRITTEN:
            raise BadQuery(TOO_LONG)
        if _has_unknown_keys(value.kind):  # the engine makes them alike
            raise BadQuery("maps of different keys stand for one value here: give all of them the same keys")
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
        return constant(expression.value)

    @_written.register
    def _(self, expression: syntax.Parameter) -> Value:
        value = self.scope.parameter(expression.name)
        if type(value.known) is not int:
            return value
        # Else the engine takes 151 for a number of one byte, and -$a is 105.
        return value._replace(text=f"cast({value.text}, 'INT64')")

    @_written.register
    def _(self, expression: syntax.Variable) -> Value:
        value = self.scope.variable(expression.name)
        if self.scope.local and expression.name not in self.scope.local:
            # The engine reads such a variable from the wrong row.
            raise BadQuery(
                f"{expression.name!r} comes from outside the list that [ ] or any() goes through: {LIST_ADVICE}"
            )
        return value

    @_written.register
    def _(self, expression: syntax.Property) -> Value:
        base = self.write(expression.base)
        if base.kind == DATE and expression.key in DATE_PARTS:
            return Value(f"date_part('{expression.key}', {base.text})", INTEGER)
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
        text = f"id({value.text})" if value.kind.name in ("node", "edge") else self.scope.optional.get(value.text)
        return Value(f"({text or value.text} {expression.operator})", BOOLEAN)

    @_written.register
    def _(self, expression: syntax.Binary) -> Value:
        operator = expression.operator
        if operator in ("AND", "OR", "XOR"):
            conditions = map(self.condition, _operands(expression))
            return Value(f"({f' {operator} '.join(conditions)})", BOOLEAN)
        if operator == "+":
            return total(map(self.write, _operands(expression)), may_join_texts=not self.scope.local)
        if (about_types := self._types.condition(expression)) is not None:
            return about_types
        left, right = self.write(expression.left), self.write(expression.right)
        if operator in _COMPARISONS:
            return compared(operator, left, right)
        if operator == "IN":
            return self._in(left, right)
        if operator in ("CONTAINS", "STARTS WITH", "ENDS WITH", "=~"):
            return self._text_condition(expression, left, right)
        return calculated(operator, left, right)

    def _in(self, left: Value, right: Value) -> Value:
        check_kind("IN", right, "list")
        if right.kind.item is not None and left.kind.name in ("node", "edge"):
            raise BadQuery("IN with nodes is not supported: collect ids, as in a.id IN collect(b.id)")
        if left.kind.name == "map":  # the engine takes null for equal to null in them
            raise BadQuery("IN with maps is not supported: compare their values, as in m.key IN collect(b.key)")
        if right.kind.item is not None and right.kind.item.name:
            compared("=", left, Value("item", right.kind.item))  # only to check their kinds
        if right.kind.name == "null":
            return Value("NULL", NULL)
        test = f"{left.text} IN {right.text}"
        if right.text == "[]":
            return Value(f"coalesce({test}, false)", BOOLEAN)  # null IN [] is false, but null for the engine
        if right.kind.may_hold_null:  # 1 IN [2, null] is null, but false for the engine
            repeated("IN", right)
            name = self.scope.fresh()
            test = f"({test} OR CASE WHEN size(list_filter({_afresh(right)}, {name} -> ({name} IS NULL))) > 0 "
            test += "THEN NULL ELSE false END)"
        if right.text[0] in "[$":  # a literal or a parameter that is not empty: an index may serve it
            return Value(f"({test})", BOOLEAN)
        repeated("IN", right)
        return Value(f"({test} AND size({right.text}) > 0)", BOOLEAN)

    def _text_condition(self, expression: syntax.Binary, left: Value, right: Value) -> Value:
        operator = expression.operator
        if "null" in (left.kind.name, right.kind.name):
            return Value("NULL", NULL)
        check_text_condition(operator, left, right, self.scope.constant(expression.right))
        if operator == "CONTAINS":
            repeated(operator, left, right)
            return Value(texts.contains(left, right), BOOLEAN)
        return Value(f"({left.text} {operator} {right.text})", BOOLEAN)

    # --------------------------------------------------------------------------------------------- lists, cases

    @_written.register
    def _(self, expression: syntax.ListOf) -> Value:
        values = [self.write(part) for part in expression.items]
        if any(value.kind.name == "null" for value in values):
            raise BadQuery("a list with null in it is not supported: leave the null out")
        kind = common([value.kind for value in values], "a list")
        is_known = all(isinstance(part, _NEVER_NULL) for part in expression.items)
        text = f"[{', '.join(value.text for value in values)}]"
        return Value(text, list_of(kind, may_hold_null=not is_known))

    @_written.register
    def _(self, expression: syntax.MapOf) -> Value:
        items, kinds = [], []
        for key, part in expression.items:
            if key.startswith("_") or not key.isprintable():
                raise BadQuery(f"{key!r} cannot be a key of a map: begin it with a letter")
            value = self.write(part)
            items.append(f"{quoted(key)}: {value.text}")
            kinds.append((key, value.kind))
        if len({key.casefold() for key, _ in expression.items}) < len(items) or not items:
            raise BadQuery("a map needs keys, and they must differ by more than case")
        return Value(f"{{{', '.join(items)}}}", map_of(kinds))

    @_written.register
    def _(self, expression: syntax.Item) -> Value:
        if isinstance(expression.base, syntax.FunctionCall) and expression.base.name == "labels":
            return self._types.label_of(expression.base.arguments, expression.at)
        return item(self.write(expression.base), self.write(expression.at))

    @_written.register
    def _(self, expression: syntax.Slice) -> Value:
        base = self.write(expression.base)
        check_kind("a slice", base, "list")
        begin, end = plain_bounds(expression)
        # The engine counts from 1, and its slice from 1 to 0 is not empty.
        first, last = (2, 1) if end == 0 else ((begin or 0) + 1, LAST if end is None else end)
        return Value(f"list_slice({base.text}, {first}, {last})", base.kind)

    @_written.register
    def _(self, expression: syntax.CaseExpression) -> Value:
        tests = [self._test(condition) for condition, _ in expression.whens]
        results = [self.write(result) for _, result in expression.whens]
        if expression.otherwise is not None:
            results.append(self.write(expression.otherwise))
        kind = common([value.kind for value in results], "CASE")
        if self.scope.local and kind.is_text:
            raise BadQuery(f"CASE cannot make texts inside [ ] or any(): {LIST_ADVICE}")
        # If the results mix whole numbers and floats, the engine rounds to the kind of the first.
        branches = [
            f"cast({result.text}, 'DOUBLE')" if kind == FLOAT != result.kind else result.text for result in results
        ]
        whens = " ".join(f"WHEN {test} THEN {text}" for test, text in zip(tests, branches, strict=False))
        otherwise = "" if expression.otherwise is None else f" ELSE {branches[-1]}"
        return Value(f"CASE {whens}{otherwise} END", kind)

    def _test(self, condition: Expression) -> str:
        """Write a condition of a CASE; if it is a CASE itself, the engine would read it from other rows."""
        test = self.condition(condition)
        return f"({test}) = true" if test.startswith("CASE ") else test

    @_written.register
    def _(self, expression: syntax.Comprehension) -> Value:
        source = self.write(expression.source)
        check_kind("a list comprehension", source, "list")
        if source.kind.name == "null":
            return source
        text, kind = _afresh(source), source.kind.item or UNKNOWN
        name = self.scope.fresh()
        local = {expression.variable: Value(name, kind)}
        if expression.where is not None:
            with self.scope.inner(local, local=local):
                text = f"list_filter({text}, {name} -> {self.condition(expression.where)})"
        if expression.result is None:
            return Value(text, source.kind)
        result = self._item_result(expression, local)
        kind = list_of(result.kind, may_hold_null=source.kind.may_hold_null or not is_never_null(expression.result))
        return Value(f"list_transform({text}, {name} -> {result.text})", kind)

    def _item_result(self, expression: syntax.Comprehension, local: dict[str, Value]) -> Value:
        """Write the result of a comprehension. Raises `BadQuery` for texts that the engine would lose."""
        result = expression.result
        assert result is not None
        with self.scope.inner(local):
            plain = isinstance(result, syntax.Property) and isinstance(result.base, syntax.Variable)
            if plain or (isinstance(result, syntax.FunctionCall) and result.name in TYPE_CALLS):
                return self.write(result)
        with self.scope.inner(local, local=local):
            value = self.write(result)
        if value.kind.name not in ("integer", "float", "boolean") and not isinstance(result, syntax.Variable):
            raise BadQuery(f"[x IN list | ...] can give a property, a type, a number or a condition: {LIST_ADVICE}")
        return value

    @_written.register
    def _(self, expression: syntax.PatternComprehension) -> Value:
        raise BadQuery(ELSEWHERE)  # the others were taken out of their clause before

    @_written.register
    def _(self, expression: syntax.Quantifier) -> Value:
        source = self.write(expression.source)
        check_kind(f"{expression.kind}()", source, "list")
        name = self.scope.fresh()
        local = {expression.variable: Value(name, source.kind.item or UNKNOWN)}
        with self.scope.inner(local, local=local):
            where = self.condition(expression.where)
        repeated(f"{expression.kind}()", source, Value(where))

        def count(condition: str) -> str:
            return f"size(list_filter({_afresh(source)}, {name} -> {condition}))"

        # If a condition is null for some item, the answer may be null as well.
        certain, unsure = count(f"(NOT {where})" if expression.kind == "all" else where), count(f"({where} IS NULL)")
        if expression.kind == "single":
            return Value(f"CASE WHEN {certain} > 1 THEN false WHEN {unsure} = 0 THEN {certain} = 1 END", BOOLEAN)
        result, missing = ("true", "false") if expression.kind == "any" else ("false", "true")
        return Value(f"CASE WHEN {certain} > 0 THEN {result} WHEN {unsure} = 0 THEN {missing} END", BOOLEAN)

    @_written.register
    def _(self, expression: syntax.Subquery) -> Value:
        if self.scope.local:
            raise BadQuery(f"patterns inside [ ] or any() are not supported: {LIST_ADVICE}")
        if len(parts_of(path.variables for path in expression.paths)) > 1:
            kind = expression.kind
            raise BadQuery(f"{kind} {{ }} must hold one pattern, the engine loses rows of several parts: write several")
        matched = Matcher(self.scope, self.write).match(expression.paths, expression.where)
        if expression.where is not None:
            with self.scope.inner({**matched.variables, **matched.narrowed}):
                matched.conditions.extend(map(self.condition, conjuncts(expression.where)))
        if is_unsure(matched):
            self.scope.note(UNSURE)
        text = f"{expression.kind} {{ MATCH {joined([matched], reads_outside=False)} }}"
        if expression.kind == "EXISTS":
            return Value(text, BOOLEAN)
        # The engine drops nodes with a count of 0 if nothing else of them is read.
        missing = " OR ".join(f"{node.text}.id IS NULL" for node in matched.narrowed.values())
        return Value(f"CASE WHEN {missing} THEN 0 ELSE {text} END" if missing else text, INTEGER)

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
        arguments = [self.write(argument) for argument in expression.arguments]
        if self.scope.local and name != "size" and any(argument.kind.is_text for argument in arguments):
            # Two such calls in one RETURN corrupt each other's texts.
            raise BadQuery(f"{name}() of a text is not supported inside [ ] or any(): {LIST_ADVICE}")
        return functions.call(name, arguments)

    def _aggregate(self, expression: syntax.FunctionCall) -> Value:
        value, kind = aggregated(expression, self.scope, self.write)
        call = f"{expression.name}({'DISTINCT ' if expression.distinct else ''}{self.or_null(value)})"
        if expression.name == "sum":
            # The engine's sum of whole numbers is a decimal, and its sum of nothing is null; Cypher's is 0.
            call = f"coalesce({call}, {'0.0' if kind == FLOAT else '0'})"
            call = f"cast({call}, 'INT64')" if kind == INTEGER else call
        return Value(call, kind)

    def _of_graph(self, expression: syntax.FunctionCall) -> Value:
        value, kind = of_graph(expression, self.scope, self.write)
        name = expression.name
        if name == "id":
            is_node = value.kind.name == "node"
            return Value(self.scope.names.identifier(value) if is_node else f"cast(id({value.text}), 'STRING')", kind)
        if value.kind.name != "path":
            return functions.call("size", [value])
        return Value(self.or_null(value, f"{'rels' if name == 'edges' else name}({value.text})"), kind)

    def or_null(self, value: Value, text: str | None = None) -> str:
        """Return the text of a value, or `text` made from it; null for a missing path."""
        text = value.text if text is None else text
        part = self.scope.optional.get(value.text)
        return text if part is None else f"CASE WHEN {part} IS NOT NULL THEN {text} END"


# The dispatch of `self._written`, without the wrapper that functools makes at each call.
_WRITERS = vars(Writer)["_written"].dispatcher.dispatch


def _has_unknown_keys(kind: ValueKind) -> bool:
    """Return whether a value may be one of several maps with different keys, or a list of them."""
    return (kind.name == "map" and kind.entries is None) or (kind.item is not None and _has_unknown_keys(kind.item))


def is_never_null(expression: Expression) -> bool:
    """Return whether an expression is an id, a name or a type, of what is there, or no null by itself."""
    if isinstance(expression, syntax.FunctionCall):
        return expression.name == "type"
    if isinstance(expression, syntax.Property):
        return expression.key in ("id", "name")
    return isinstance(expression, _NEVER_NULL)


def _operands(expression: syntax.Binary) -> list[Expression]:
    """Return the operands of a chain of one operator: the engine reads a flat chain several times as fast."""
    operands = [expression.right]
    left = expression.left
    while isinstance(left, syntax.Binary) and left.operator == expression.operator:
        operands.append(left.right)
        left = left.left
    return [left, *reversed(operands)]


def _afresh(source: Value) -> str:
    """Write a list as a new one for a condition on its items: the engine may read a matched list from other rows."""
    return f"list_concat({source.text}, [])"
