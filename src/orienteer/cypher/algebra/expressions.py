"""Expressions of a statement in the algebra."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import TypeGuard

from orienteer.cypher import syntax
from orienteer.cypher.checks import check_kind, kind_of_calculation
from orienteer.cypher.compiler import Compiled, ExpressionCompiler
from orienteer.cypher.functions import no_aggregation
from orienteer.cypher.kinds import (
    DURATION,
    INTEGER,
    NULL,
    TEXT,
    UNKNOWN,
    Value,
    ValueKind,
    common_or_unknown,
    kind_of_entry,
    list_of,
)
from orienteer.cypher.patterns import kind_of_parameter
from orienteer.errors import BadQuery, UnknownProperty
from orienteer.query import expressions as ex
from orienteer.query.expressions import Expression, Variable
from orienteer.query.plan import Hop, Inner, IsIn, IsOf, Leads, Match, Reduce, Table
from orienteer.query.sets import both
from orienteer.query.store import Store
from orienteer.query.temporal import CLOCKS, MOMENTS, now


@dataclass(slots=True)
class Expressions(ExpressionCompiler):
    """Compiles the expressions of one query. Variables become columns with names that no statement can write."""

    store: Store
    node_numbers: Mapping[str, int]
    edge_numbers: Mapping[str, int]
    rows_with_id: Callable[[str], Iterable[int]]
    """Returns the nodes with an id, as the statement's view writes it."""
    clauses: Callable[[Expressions, Table, tuple[syntax.Clause, ...]], Table]
    """Compiles the clauses of a subquery over the table before them."""
    pattern: Callable[..., Match]
    """Compiles a pattern inside an expression, as `patterns.inner_match` does."""

    def parameter(self, expression: ex.Parameter) -> Compiled:
        """Return a parameter."""
        value = self.scope.value(expression.name)
        kind = kind_of_parameter(expression.name, value)
        return Compiled(expression, Value("", kind, None if isinstance(value, list | dict) else value))

    def entry(self, expression: ex.Property) -> Compiled:
        """Return a property; one that other nodes or edges of the graph have is null, with a note."""
        base, key = self.compiled(expression.base), expression.key
        if base.kind.is_temporal:
            return self.made(ex.Property(base.tree, key), TEXT if key in ("timezone", "offset") else INTEGER)
        if base.kind.name == "null":
            return base
        names, own = self.scope.names, key.casefold()
        if base.kind.name not in ("node", "edge"):
            return self.made(ex.Property(base.tree, key), kind_of_entry(base.kind, key))
        if base.kind.name == "node" and own in ("id", "name") and key not in names.catalog.node_columns:
            return self.made(ex.Property(base.tree, own), TEXT)
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
        return self.made(ex.Property(base.tree, column.column), column.value_kind)

    def is_id(self, expression: Expression) -> TypeGuard[ex.Property]:
        """Return whether an expression is the id of a node in a variable; a view may show one id for several nodes."""
        if not isinstance(expression, ex.Property) or not isinstance(expression.base, ex.Variable):
            return False
        base, names = self.scope.variables.get(expression.base.name), self.scope.names
        is_own = expression.key.casefold() == "id" and expression.key not in names.catalog.node_columns
        return is_own and base is not None and base.kind.name == "node" and names.view is None

    def is_of(self, owner: Compiled, names: Sequence[str], *, is_edge: bool) -> Compiled:
        """Return a test of types by any of their names; without a name, of the domain's label."""
        looked_up = self.scope.names
        if not names:
            return self.boolean(ex.Unary("IS NOT NULL", owner.tree))
        if is_edge:
            types = {self.edge_numbers[triple.type] for name in names for triple in looked_up.edge_triples(name)}
        else:
            types = {self.node_numbers[one] for name in names for one in looked_up.node_types(name)}
        return self.boolean(IsOf(owner.tree, frozenset(types)))

    def calculated(self, operator: str, left: Compiled, right: Compiled) -> Compiled:
        """Return `left operator right`."""
        kind = _kind_of_result(operator, left.value, right.value)
        return self.made(ex.Binary(operator, left.tree, right.tree), kind)

    def reduction(self, expression: syntax.Reduction) -> Compiled:
        """Return reduce()."""
        source, item = self.items(expression.source, "reduce()")
        initial = self.compiled(expression.initial)
        total = Value(self.scope.fresh(), initial.kind)
        value, total = self._next_total(expression, total, item)
        before = total.kind
        value, total = self._next_total(expression, total, item)
        if total.kind.deep > before.deep:
            raise BadQuery("reduce() nests each total in the next: join lists by +, as in total + [x]")
        tree = Reduce(total.text, initial.tree, item.text, source.tree, value.tree)
        return self.made(tree, total.kind)

    def _next_total(self, expression: syntax.Reduction, total: Value, item: Value) -> tuple[Compiled, Value]:
        """Return the next total of a reduction, with the kind that it may have after one more item."""
        with self.scope.inner({expression.total: total, expression.variable: item}):
            value = self.compiled(expression.value)
        return value, Value(total.text, common_or_unknown([total.kind, value.kind]))

    def subquery(self, expression: syntax.Subquery) -> Compiled:
        """Return EXISTS, COUNT or COLLECT of a table."""
        outside = {value.text for value in self.scope.variables.values()}
        with self.scope.inner({}):
            is_set, has_more = expression.kind == "EXISTS", bool(expression.clauses)
            match: Table = self.pattern(self, expression.paths, expression.where, is_set=is_set, reads_all=has_more)
            if has_more:
                match = self.clauses(self, match, expression.clauses)
            returned = list(self.scope.variables.values())
        if expression.kind == "EXISTS":
            return self.boolean(_as_set(match, outside, self.store) or Inner("exists", match))
        if expression.kind == "COLLECT":
            value = Variable(returned[0].text)
            return self.made(Inner("list", match, value), list_of(returned[0].kind))
        return self.made(Inner("count", match), INTEGER)

    def pattern_comprehension(self, expression: syntax.PatternComprehension) -> Compiled:
        """Return the list that a pattern makes."""
        with self.scope.inner({}):
            match = self.pattern(self, (expression.path,), expression.where, is_set=False, reads_all=True)
            result = self.compiled(expression.result)
        return self.made(Inner("list", match, result.tree), list_of(result.kind))

    def call(self, expression: ex.FunctionCall) -> Compiled:
        """Return a call; the date and the time are those of the statement. Raises `BadQuery` for wrong arguments."""
        kind_of_now, _, clock = expression.name.partition(".")
        if kind_of_now in MOMENTS and (clock in CLOCKS or not (clock or expression.arguments)):
            given = [self.compiled(part).kind for part in expression.arguments]
            if given and given != [NULL]:
                raise BadQuery(f"{expression.name}() takes nothing: it is the time of the statement, in UTC")
            expression = ex.FunctionCall(kind_of_now, (ex.Literal_(None if given else now(kind_of_now)),))
        return ExpressionCompiler.call(self, expression)

    def aggregation(self, expression: ex.FunctionCall) -> Compiled:
        """Raise the error for an aggregation that no clause has made a column of."""
        raise no_aggregation(expression.name)

    def called(self, name: str, arguments: Sequence[Compiled], kind: ValueKind) -> Compiled:
        """Return a call of a function."""
        if name == "properties" and arguments[0].kind.name in ("map", ""):
            kind = arguments[0].kind
        if name in ("startnode", "endnode"):
            kind = ValueKind("node", frozenset(self.scope.names.schema.node_types))
        return self.made(ex.FunctionCall(name, tuple(argument.tree for argument in arguments)), kind)

    def type_call(self, expression: ex.FunctionCall) -> Compiled:
        """Return type(), labels() or nodeType()."""
        name, owner = expression.name, self.owner(expression)
        kind = ValueKind("edge type" if name == "type" else "node type")
        if name == "labels":
            kind = list_of(kind if self.label is None else TEXT)
        return self.made(ex.FunctionCall(name, (owner.tree,)), kind)


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
