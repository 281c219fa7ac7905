"""Expressions of a statement in the algebra, with the kinds of their values as far as they are known."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from functools import singledispatchmethod
from typing import NamedTuple, TypeGuard

from orienteer.cypher import syntax
from orienteer.cypher.checks import (
    check_compared,
    check_contained,
    check_count,
    check_graph_kind,
    check_kind,
    check_text_condition,
    condition_of,
    kind_of_calculation,
)
from orienteer.cypher.functions import (
    AGGREGATES,
    OF_GRAPH,
    TYPE_CALLS,
    calls,
    kind_of_call,
    kind_of_graph_call,
    no_aggregation,
    type_test,
)
from orienteer.cypher.kinds import (
    BOOLEAN,
    DURATION,
    INTEGER,
    NULL,
    TEXT,
    UNKNOWN,
    Value,
    ValueKind,
    common_or_unknown,
    constant,
    kind_of_entry,
    list_of,
    map_of,
)
from orienteer.cypher.patterns import Scope, kind_of_parameter
from orienteer.errors import BadQuery, UnknownProperty
from orienteer.query.expressions import Expression, Variable
from orienteer.query.plan import Hop, Inner, IsIn, IsOf, Leads, Match, Reduce, Table
from orienteer.query.sets import both
from orienteer.query.store import Store
from orienteer.query.temporal import CLOCKS, MOMENTS, now

_COMPARISONS = frozenset({"=", "<>", "<", "<=", ">", ">="})
_TEXT_CONDITIONS = frozenset({"CONTAINS", "STARTS WITH", "ENDS WITH", "=~"})


class Compiled(NamedTuple):
    """An expression of the algebra."""

    tree: Expression
    value: Value
    """Its kind, and its value if it is a constant; the text of a variable is its column."""

    @property
    def kind(self) -> ValueKind:
        """The kind of its values."""
        return self.value.kind


@dataclass(slots=True)
class Expressions:
    """Compiles the expressions of one query. Variables become columns with names that no statement can write."""

    scope: Scope
    store: Store
    node_numbers: Mapping[str, int]
    edge_numbers: Mapping[str, int]
    rows_with_id: Callable[[str], Iterable[int]]
    """Returns the nodes with an id, as the statement's view writes it."""
    clauses: Callable[[Expressions, Table, tuple[syntax.Clause, ...]], Table]
    """Compiles the clauses of a subquery over the table before them."""
    pattern: Callable[..., Match]
    """Compiles a pattern inside an expression, as `patterns.inner_match` does."""

    def tree(self, expression: Expression) -> Expression:
        """Return an expression of the algebra. Raises `BadQuery`, `UnknownType`, `UnknownProperty`."""
        return self.compiled(expression).tree

    def condition(self, expression: Expression) -> Expression:
        """Return a condition. Raises `BadQuery` for a value that cannot be true or false."""
        made = self.compiled(expression)
        condition_of(made.value)
        return made.tree

    def value(self, expression: Expression) -> Value:
        """Return the kind of an expression."""
        return self.compiled(expression).value

    def compiled(self, expression: Expression) -> Compiled:
        """Return an expression with its kind. Raises `BadQuery`, `UnknownType`, `UnknownProperty`."""
        made: Compiled = _COMPILERS(type(expression))(self, expression)
        return made

    @singledispatchmethod
    def _compiled(self, expression: Expression) -> Compiled:
        raise AssertionError(expression)

    # Leaves.

    @_compiled.register
    def _(self, expression: syntax.Literal_) -> Compiled:
        return Compiled(expression, constant(expression.value))

    @_compiled.register
    def _(self, expression: syntax.Parameter) -> Compiled:
        value = self.scope.value(expression.name)
        kind = kind_of_parameter(expression.name, value)
        return Compiled(expression, Value("", kind, None if isinstance(value, list | dict) else value))

    @_compiled.register
    def _(self, expression: syntax.Variable) -> Compiled:
        value = self.scope.variable(expression.name)
        return Compiled(syntax.Variable(value.text), value)

    @_compiled.register
    def _(self, expression: syntax.Property) -> Compiled:
        base, key = self.compiled(expression.base), expression.key
        if base.kind.is_temporal:
            is_text = key in ("timezone", "offset")
            return Compiled(syntax.Property(base.tree, key), Value("", TEXT if is_text else INTEGER))
        if base.kind.name == "null":
            return base
        names, own = self.scope.names, key.casefold()
        if base.kind.name not in ("node", "edge"):
            return Compiled(syntax.Property(base.tree, key), Value("", kind_of_entry(base.kind, key)))
        if base.kind.name == "node" and own in ("id", "name") and key not in names.catalog.node_columns:
            return Compiled(syntax.Property(base.tree, own), Value("", TEXT))
        try:
            column = names.column(base.kind.name, key, base.kind.types)
        except UnknownProperty as error:
            schema = names.schema
            everything = schema.node_types if base.kind.name == "node" else schema.edge_types
            try:
                column = names.column(base.kind.name, key, frozenset(everything))
            except UnknownProperty:
                raise error from None  # no node or edge of the graph has it
            self.scope.note(f"{error} It is null here.")
        return Compiled(syntax.Property(base.tree, column.column), Value("", column.value_kind))

    def is_id(self, expression: Expression) -> TypeGuard[syntax.Property]:
        """Return whether an expression is the id of a node in a variable; a view may show one id for several nodes."""
        if not isinstance(expression, syntax.Property) or not isinstance(expression.base, syntax.Variable):
            return False
        base, names = self.scope.variables.get(expression.base.name), self.scope.names
        is_own = expression.key.casefold() == "id" and expression.key not in names.catalog.node_columns
        return is_own and base is not None and base.kind.name == "node" and names.view is None

    # Operators.

    @_compiled.register
    def _(self, expression: syntax.Unary) -> Compiled:
        if expression.operator == "NOT":
            return _boolean(syntax.Unary("NOT", self.condition(expression.operand)))
        operand = self.compiled(expression.operand)
        if expression.operator == "-":
            check_kind("a minus sign", operand.value, "number")
            return Compiled(syntax.Unary("-", operand.tree), Value("", operand.kind))
        return _boolean(syntax.Unary(expression.operator, operand.tree))

    @_compiled.register
    def _(self, expression: syntax.Binary) -> Compiled:
        operator = expression.operator
        if operator in ("AND", "OR", "XOR"):
            return _boolean(syntax.Binary(operator, self.condition(expression.left), self.condition(expression.right)))
        if (tested := self._type_condition(expression)) is not None:
            return tested
        left, right = self.compiled(expression.left), self.compiled(expression.right)
        tree = syntax.Binary(operator, left.tree, right.tree)
        if operator in _COMPARISONS:
            if not left.kind.name == right.kind.name == "list":  # lists are compared item by item
                check_compared(operator, left.value, right.value)
            return _boolean(tree)
        if operator == "IN":
            check_contained(left.value, right.value)
            return _boolean(tree)
        if operator in _TEXT_CONDITIONS:
            if "null" not in (left.kind.name, right.kind.name):
                check_text_condition(operator, left.value, right.value, self.scope.constant(expression.right))
            return _boolean(tree)
        return Compiled(tree, Value("", _kind_of_result(operator, left.value, right.value)))

    # Lists, maps, CASE.

    @_compiled.register
    def _(self, expression: syntax.ListOf) -> Compiled:
        items = [self.compiled(part) for part in expression.items]
        kind = common_or_unknown([item.kind for item in items])
        return Compiled(syntax.ListOf(tuple(item.tree for item in items)), Value("", list_of(kind)))

    @_compiled.register
    def _(self, expression: syntax.MapOf) -> Compiled:
        items = [(key, self.compiled(part)) for key, part in expression.items]
        kind = map_of((key, item.kind) for key, item in items)
        return Compiled(syntax.MapOf(tuple((key, item.tree) for key, item in items)), Value("", kind))

    @_compiled.register
    def _(self, expression: syntax.Item) -> Compiled:
        base, at = self.compiled(expression.base), self.compiled(expression.at)
        if calls(expression.base, "labels") and at.value.known not in (0, *([1] if self._label else []), None):
            raise BadQuery("a node has one type here: labels(n)[0]")
        if at.kind.is_text or base.kind.name in ("node", "edge", "map"):
            check_kind("a key in brackets", at.value, "text")
            if base.kind.name in ("node", "edge") and isinstance(at.value.known, str):
                return self.compiled(syntax.Property(expression.base, at.value.known))
            kind = dict(base.kind.entries or ()).get(str(at.value.known), UNKNOWN)
        else:
            check_kind("a place in brackets", base.value, "list")
            check_kind("a place in a list", at.value, "integer")
            kind = base.kind.item or UNKNOWN
        return Compiled(syntax.Item(base.tree, at.tree), Value("", kind))

    @_compiled.register
    def _(self, expression: syntax.Slice) -> Compiled:
        base = self.compiled(expression.base)
        check_kind("a slice", base.value, "list")
        bounds = []
        for bound in (expression.begin, expression.end):
            made = None if bound is None else self.compiled(bound)
            if made is not None:
                check_kind("a place in a list", made.value, "integer")
            bounds.append(None if made is None else made.tree)
        return Compiled(syntax.Slice(base.tree, bounds[0], bounds[1]), Value("", base.kind))

    @_compiled.register
    def _(self, expression: syntax.CaseExpression) -> Compiled:
        whens = [(self.condition(condition), self.compiled(result)) for condition, result in expression.whens]
        otherwise = None if expression.otherwise is None else self.compiled(expression.otherwise)
        kinds = [result.kind for _, result in whens] + ([] if otherwise is None else [otherwise.kind])
        tree = syntax.CaseExpression(
            tuple((condition, result.tree) for condition, result in whens),
            None if otherwise is None else otherwise.tree,
        )
        return Compiled(tree, Value("", common_or_unknown(kinds)))

    def _items(self, source: Expression, variable: str, what: str) -> tuple[Compiled, Value]:
        """Return a list, and the value of the variable for its items."""
        made = self.compiled(source)
        check_kind(what, made.value, "list")
        return made, Value(self.scope.fresh(), made.kind.item or UNKNOWN)

    @_compiled.register
    def _(self, expression: syntax.Comprehension) -> Compiled:
        source, item = self._items(expression.source, expression.variable, "a list comprehension")
        where = result = None
        with self.scope.inner({expression.variable: item}):
            if expression.where is not None:
                where = self.condition(expression.where)
            if expression.result is not None:
                result = self.compiled(expression.result)
        tree = syntax.Comprehension(item.text, source.tree, where, None if result is None else result.tree)
        return Compiled(tree, Value("", list_of(item.kind if result is None else result.kind)))

    @_compiled.register
    def _(self, expression: syntax.Quantifier) -> Compiled:
        source, item = self._items(expression.source, expression.variable, f"{expression.kind}()")
        with self.scope.inner({expression.variable: item}):
            where = self.condition(expression.where)
        return _boolean(syntax.Quantifier(expression.kind, item.text, source.tree, where))

    @_compiled.register
    def _(self, expression: syntax.Reduction) -> Compiled:
        source, item = self._items(expression.source, expression.variable, "reduce()")
        initial = self.compiled(expression.initial)
        total = Value(self.scope.fresh(), initial.kind)
        value, total = self._next_total(expression, total, item)
        before = total.kind
        value, total = self._next_total(expression, total, item)
        if total.kind.deep > before.deep:
            raise BadQuery("reduce() nests each total in the next: join lists by +, as in total + [x]")
        tree = Reduce(total.text, initial.tree, item.text, source.tree, value.tree)
        return Compiled(tree, Value("", total.kind))

    def _next_total(self, expression: syntax.Reduction, total: Value, item: Value) -> tuple[Compiled, Value]:
        """Return the next total of a reduction, with the kind that it may have after one more item."""
        with self.scope.inner({expression.total: total, expression.variable: item}):
            value = self.compiled(expression.value)
        return value, Value(total.text, common_or_unknown([total.kind, value.kind]))

    # Patterns.

    @_compiled.register
    def _(self, expression: syntax.Subquery) -> Compiled:
        outside = {value.text for value in self.scope.variables.values()}
        with self.scope.inner({}):
            is_set, has_more = expression.kind == "EXISTS", bool(expression.clauses)
            match: Table = self.pattern(self, expression.paths, expression.where, is_set=is_set, reads_all=has_more)
            if has_more:
                match = self.clauses(self, match, expression.clauses)
            returned = list(self.scope.variables.values())
        if expression.kind == "EXISTS":
            return _boolean(_as_set(match, outside, self.store) or Inner("exists", match))
        if expression.kind == "COLLECT":
            value = Variable(returned[0].text)
            return Compiled(Inner("list", match, value), Value("", list_of(returned[0].kind)))
        return Compiled(Inner("count", match), Value("", INTEGER))

    @_compiled.register
    def _(self, expression: syntax.PatternComprehension) -> Compiled:
        with self.scope.inner({}):
            match = self.pattern(self, (expression.path,), expression.where, is_set=False, reads_all=True)
            result = self.compiled(expression.result)
        return Compiled(Inner("list", match, result.tree), Value("", list_of(result.kind)))

    # Functions.

    @_compiled.register
    def _(self, expression: syntax.FunctionCall) -> Compiled:
        name = expression.name
        if name in AGGREGATES:
            raise no_aggregation(name)
        if name in (*TYPE_CALLS, "labels"):
            return self._type_call(expression)
        kind_of_now, _, clock = name.partition(".")
        if kind_of_now in MOMENTS and (clock in CLOCKS or not (clock or expression.arguments)):
            given = [self.compiled(part).kind for part in expression.arguments]
            if given and given != [NULL]:
                raise BadQuery(f"{name}() takes nothing: it is the time of the statement, in UTC")
            return self.compiled(
                syntax.FunctionCall(kind_of_now, (syntax.Literal_(None if given else now(kind_of_now)),))
            )
        arguments = [self.compiled(part) for part in expression.arguments]
        values = [argument.value for argument in arguments]
        tree = syntax.FunctionCall(name, tuple(argument.tree for argument in arguments))
        if name in OF_GRAPH:
            check_count(name, values, 1, 1)
            kind = NULL if values[0].kind == NULL else kind_of_graph_call(name, values[0], self.scope)
        else:
            kind = kind_of_call(name, values)
            if name == "properties" and values[0].kind.name in ("map", ""):
                kind = values[0].kind
            if name in ("startnode", "endnode"):
                kind = ValueKind("node", frozenset(self.scope.names.schema.node_types))
        return Compiled(tree, Value("", kind))

    def _type_call(self, expression: syntax.FunctionCall) -> Compiled:
        name, what = expression.name, "edge" if expression.name == "type" else "node"
        check_count(name, expression.arguments, 1, 1)
        argument = self.compiled(expression.arguments[0])
        if argument.kind.name not in ("null", ""):
            check_graph_kind(f"{name}()", argument.value, what)
        kind = ValueKind(f"{what} type")
        tree = syntax.FunctionCall(name, (argument.tree,))
        return Compiled(tree, Value("", list_of(TEXT if self._label else kind) if name == "labels" else kind))

    # Conditions on types, by any name of a type.

    @property
    def _label(self) -> str | None:
        view = self.scope.names.view
        return None if view is None else view.label

    def _node_types(self, names: Iterable[str]) -> frozenset[int]:
        return frozenset(self.node_numbers[one] for name in names for one in self.scope.names.node_types(name))

    def _edge_types(self, names: Iterable[str]) -> frozenset[int]:
        return frozenset(self.edge_numbers[one.type] for name in names for one in self.scope.names.edge_triples(name))

    @_compiled.register
    def _(self, expression: syntax.HasType) -> Compiled:
        base = self.compiled(syntax.Variable(expression.variable))
        if base.kind.name == "edge":
            if not expression.types:
                raise BadQuery(f"{expression.variable!r} is an edge: only nodes have the domain's label")
            return _boolean(IsOf(base.tree, self._edge_types(expression.types)))
        if base.kind.name not in ("", "null"):
            check_graph_kind(f"{expression.variable}:TYPE", base.value, "node")
        if not expression.types:
            return _boolean(syntax.Unary("IS NOT NULL", base.tree))
        return _boolean(IsOf(base.tree, self._node_types(expression.types)))

    def _type_condition(self, expression: syntax.Binary) -> Compiled | None:
        """Return a test of types for `type(r) = 'TREATS'` and the like; None for another condition."""
        test = type_test(expression, self.scope.constant, self._label)
        if test is None:
            return None
        self._type_call(test.call)
        base = self.tree(test.call.arguments[0])
        if test.words is None:
            return _boolean(syntax.Unary("IS NOT NULL", base))
        types = self._edge_types(test.words) if test.call.name == "type" else self._node_types(test.words)
        return _boolean(syntax.Unary("NOT", IsOf(base, types)) if test.is_negated else IsOf(base, types))


_COMPILERS = Expressions.__dict__["_compiled"].dispatcher.dispatch


def _boolean(tree: Expression) -> Compiled:
    return Compiled(tree, Value("", BOOLEAN))


def _kind_of_result(operator: str, left: Value, right: Value) -> ValueKind:
    """Return the kind of `left operator right`. Raises `BadQuery` for values that the operator does not take."""
    kinds = [left.kind, right.kind]
    if any(kind.name == "null" for kind in kinds):
        return NULL
    if any(kind.is_temporal for kind in kinds) and not any(kind.is_text or kind.name == "list" for kind in kinds):
        return _kind_of_moved(operator, left, right)
    if operator == "+":
        if any(kind.name == "list" for kind in kinds):
            items = [kind.item or UNKNOWN if kind.name == "list" else kind for kind in kinds]
            return list_of(common_or_unknown(items))
        if any(kind.name in ("node", "edge", "path", "map", "boolean") for kind in kinds):
            check_kind("+", left if kinds[0].name in ("node", "edge", "path", "map", "boolean") else right, "number")
        if any(kind.is_text for kind in kinds):
            return TEXT
        if any(not kind.name for kind in kinds):
            return UNKNOWN
    return kind_of_calculation(operator, left, right)


def _kind_of_moved(operator: str, left: Value, right: Value) -> ValueKind:
    """Return the kind of a calculation with a date, a time or a duration. Raises `BadQuery` for an impossible one."""
    first, second = left.kind, right.kind
    if not first.name or not second.name:
        return UNKNOWN
    if operator == "+" and first == DURATION:
        first, second = second, first
    if second == DURATION and operator in ("+", "-") and first.is_temporal:
        return first
    are_number = DURATION in (first, second) and (first.is_number or second.is_number)
    if are_number and (operator == "*" or (operator == "/" and first == DURATION)):
        return DURATION
    raise BadQuery(
        f"{left.kind.description} {operator} {right.kind.description} is not possible: add a duration to a date, or "
        "take duration.between(a, b)"
    )


def _as_set(match: Table, outside: set[str], store: Store) -> IsIn | None:
    """Return `EXISTS { (n)-[:TYPE]->(:Type) }` as the membership of a set, which makes no rows; None for others.

    One step from an outer name to a new one: of several steps no two may take one edge, which sets do not keep apart.
    """
    if not isinstance(match, Match) or len(match.steps) != 1 or len(match.nodes) != 2 or store.has_loops:
        return None
    [step], nodes = match.steps, dict(match.nodes)
    outer = [name for name in nodes if name in outside]
    is_plain = not (step.is_long or step.ends is not None or step.edge in outside or match.conditions or match.paths)
    if not is_plain or len(outer) != 1:
        return None
    is_forward = step.start == outer[0]
    kinds = step.kinds if is_forward else frozenset(kind ^ 1 for kind in step.kinds)
    leads = Leads(Hop(kinds), nodes[step.end if is_forward else step.start])
    return IsIn(Variable(outer[0]), both(nodes[outer[0]], leads))
