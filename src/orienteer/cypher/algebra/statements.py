"""Statements in the algebra: clause by clause, each a table over the one before."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from orienteer.cypher import syntax
from orienteer.cypher.algebra.expressions import Expressions
from orienteer.cypher.algebra.patterns import matched
from orienteer.cypher.functions import AGGREGATES, aggregate_signature, kind_of_aggregate
from orienteer.cypher.kinds import INTEGER, Value, ValueKind, common_or_unknown
from orienteer.cypher.parser import TOO_DEEP
from orienteer.cypher.projections import aggregates, apart, checked_page, items_of, with_columns
from orienteer.cypher.syntax import CallClause, CypherStatement, MatchClause, Projection, ProjectionItem, Unwind
from orienteer.errors import BadQuery
from orienteer.query import expressions as ex, plan
from orienteer.query.budget import Budget
from orienteer.query.columns import Batch
from orienteer.query.expressions import Expression
from orienteer.query.plan import Call, Table, Unit
from orienteer.query.tables import Tables, names_in


def inner_clauses(compiler: Expressions, table: Table, clauses: tuple[syntax.Clause, ...]) -> Table:
    """Return the table of the clauses of a subquery over the table before them."""
    return _Query(compiler).table(table, clauses)


class CompiledStatement(NamedTuple):
    """The table of a statement."""

    table: Table
    names: tuple[str, ...]
    """The names of the columns of the answer."""
    columns: tuple[str, ...]
    """Their columns in the table."""


def compiled_statement(statement: CypherStatement, compiler: Expressions) -> CompiledStatement:
    """Return the table of a statement. Raises `BadQuery`, `UnknownType`, `UnknownProperty`."""
    compiler.scope.variables = {}
    try:
        table, returned = _united(compiler, statement.queries, [()] * len(statement.queries), statement.keeps_repeats)
    except RecursionError:
        raise BadQuery(TOO_DEEP) from None
    return CompiledStatement(table, tuple(returned), tuple(value.text for value in returned.values()))


def _united(
    compiler: Expressions,
    queries: Sequence[tuple[syntax.Clause, ...]],
    imports: Sequence[tuple[ex.Variable, ...] | None],
    keeps_repeats: bool,
) -> tuple[Table, dict[str, Value]]:
    """Return the table of queries that UNION joins, each with its variables from outside, and the columns by name."""
    scope, outside = compiler.scope, compiler.scope.variables
    tables, columns, kinds = list[Table](), dict[str, str](), dict[str, list[ValueKind]]()
    for query, own in zip(queries, imports, strict=True):
        names = outside if own is None else [variable.name for variable in own]
        scope.variables = outside
        scope.variables = {name: scope.variable(name) for name in names}
        table, items = _Query(compiler).table(Unit(), query), list[tuple[str, Expression]]()
        for name, value in scope.variables.items():
            items.append((columns.setdefault(name, scope.fresh()), ex.Variable(value.text)))
            kinds.setdefault(name, []).append(value.kind)
        tables.append(plan.Projected(table, tuple(items)))
    scope.variables = outside
    table = tables[0] if len(tables) == 1 else plan.United(tuple(tables))
    if len(tables) > 1 and not keeps_repeats:
        table = plan.Distinct(table, tuple(columns.values()))
    return table, {name: Value(column, common_or_unknown(kinds[name])) for name, column in columns.items()}


@dataclass(slots=True)
class _Query:
    """Compiles one query of a UNION, or the clauses of a subquery."""

    compiler: Expressions

    def table(self, table: Table, clauses: tuple[syntax.Clause, ...]) -> Table:
        """Return the table of some clauses over the table before them. Raises `BadQuery`, `UnknownType`."""
        scope = self.compiler.scope
        for place, clause in enumerate(clauses):
            rest = clauses[place + 1 :]
            if isinstance(clause, MatchClause):
                table = self._match(table, clause, rest)
            elif isinstance(clause, Unwind):
                source = self.compiler.compiled(clause.source)
                table = plan.Unwound(table, source.tree, scope.take_apart(source.value, clause.variable))
            elif isinstance(clause, CallClause):
                table = self._called(table, clause)
            else:
                table = self._projection(table, clause)
        return table

    def _called(self, table: Table, clause: CallClause) -> Table:
        """Return the rows that a subquery makes of each row of a table."""
        scope = self.compiler.scope
        inner, returned = _united(self.compiler, clause.queries, clause.imports, clause.keeps_repeats)
        if known := sorted(scope.variables.keys() & returned.keys()):
            raise BadQuery(f"the variable {known[0]!r} is there already: name what CALL {{ }} returns otherwise by AS")
        scope.variables = scope.variables | returned
        there, columns = scope.fresh(), tuple(value.text for value in returned.values())
        inner = plan.Projected(inner, ((there, ex.Literal_(True)),), keeps=True)
        rows = plan.Optionally(table, inner, (*columns, there))
        return plan.Filtered(rows, ex.Unary("IS NOT NULL", ex.Variable(there)))

    def _match(self, table: Table, clause: MatchClause, rest: Sequence[syntax.Clause]) -> Table:
        read = _read(rest)
        is_distinct, scope = _ignores_repeats(rest), self.compiler.scope
        if not clause.optional:
            return matched(
                self.compiler, table, clause.paths, clause.where, read, is_distinct=is_distinct, is_lenient=False
            )
        before = set(scope.variables)
        known = dict(scope.variables)
        inner = matched(
            self.compiler, Unit(), clause.paths, clause.where, read, is_distinct=is_distinct, is_lenient=True
        )
        added = [value.text for name, value in scope.variables.items() if name not in before]
        scope.variables |= known  # what was known keeps its types: the pattern need not match
        names = tuple(name for name in added if inner.kept is None or name in inner.kept)
        return plan.Optionally(table, inner, names)

    # WITH, RETURN.

    def _projection(self, table: Table, clause: Projection) -> Table:
        scope = self.compiler.scope
        items = items_of(clause, list(scope.variables))
        visible, columns = dict(scope.variables), dict[Expression, str]()
        is_grouped = any(aggregates(item.expression) for item in items)
        if is_grouped:
            table, visible, columns = self._grouped(table, items)
        made, after = list[tuple[str, Expression]](), dict[str, Value]()
        scope.variables = visible
        for item in items:
            value = self.compiler.compiled(with_columns(item.expression, columns))
            column = value.tree.name if isinstance(value.tree, ex.Variable) else scope.fresh()
            made.append((column, value.tree))
            after[item.name] = Value(column, value.kind)
        scope.variables = after if clause.distinct or is_grouped else visible | after
        columns |= {item.expression: item.name for item in items if not isinstance(item.expression, ex.Variable)}
        table = plan.Projected(table, tuple(made), keeps=True)
        if clause.distinct:
            table = plan.Distinct(table, tuple(dict(made)))
        table = self._paged(table, clause, columns, visible if is_grouped else {})
        if clause.where is not None:
            table = plan.Filtered(table, self.compiler.condition(with_columns(clause.where, {})))
        scope.variables = after
        return plan.Projected(table, tuple((value.text, ex.Variable(value.text)) for value in after.values()))

    def _paged(
        self, table: Table, clause: Projection, columns: Mapping[Expression, str], groups: Mapping[str, Value]
    ) -> Table:
        """Return a table in the order, and with the rows, that a clause asks for."""
        scope = self.compiler.scope
        skip, limit = self._number(clause.skip, "SKIP") or 0, self._number(clause.limit, "LIMIT")
        order = list[tuple[Expression, bool]]()
        with scope.inner({name: value for name, value in groups.items() if name not in scope.variables}):
            for part in clause.order:
                key = self.compiler.sort_key(with_columns(part.expression, columns))
                order.append((key.tree, part.descending))
        if order:
            table = plan.Sorted(table, tuple(order), None if limit is None else skip + limit)
        return plan.Paged(table, skip, limit) if skip or limit is not None else table

    def _number(self, count: Expression | None, what: str) -> int | None:
        """Return the number of SKIP or LIMIT. Raises `BadQuery` for an expression of variables, or another value."""
        if count is None:
            return None
        scope = self.compiler.scope
        outside, scope.variables = scope.variables, {}
        try:
            tree = self.compiler.tree(count)
        finally:
            scope.variables = outside
        is_random = any(call.name == "rand" for call in ex.parts(tree, ex.FunctionCall))
        if is_random or any(True for _ in ex.parts(tree, plan.Inner)):
            raise BadQuery(f"{what} takes a constant or a parameter, not a pattern or rand()")
        once = Tables(self.compiler.store, Budget(rows=1_000, size=1 << 20), scope.parameters)
        return checked_page(once.evaluator.column(tree, Batch(1, {})).values()[0], what)

    def _grouped(
        self, table: Table, items: Sequence[ProjectionItem]
    ) -> tuple[Table, dict[str, Value], dict[Expression, str]]:
        """Return a table of groups, its variables, and the names of the expressions that are its columns."""
        scope, compiler = self.compiler.scope, self.compiler
        grouping, gathering = apart(items)
        for item in gathering:
            for part in ex.parts(item.expression, ex.Comprehension | ex.Quantifier):  # type: ignore[arg-type]
                if aggregates(part.where) or aggregates(getattr(part, "result", None)):
                    raise BadQuery("count(), collect() and the like are not allowed for the items of a list")
        made, visible, columns = list[tuple[str, Expression]](), dict[str, Value](), dict[Expression, str]()
        for place, key in enumerate(dict.fromkeys(item.expression for item in grouping)):
            if compiler.is_id(key):  # groups by id are groups by node, and only the ids of groups are read
                key = key.base
            value = compiler.compiled(key)
            if isinstance(key, ex.Variable):
                visible[key.name] = value.value
                made.append((value.value.text, value.tree))
                continue
            columns[key] = syntax.made_up("key", place)
            visible[columns[key]] = Value(scope.fresh(), value.kind)
            made.append((visible[columns[key]].text, value.tree))
        calls = list[Call]()
        for call in _aggregations(item.expression for item in items):
            if call in columns:
                continue
            columns[call] = syntax.made_up("call", len(calls))
            gathered, visible[columns[call]] = self._call(call)
            calls.append(gathered)
        return plan.Grouped(table, tuple(made), tuple(calls)), visible, columns

    def _call(self, call: ex.FunctionCall) -> tuple[Call, Value]:
        name = self.compiler.scope.fresh()
        if call.star:
            return Call(name, "count"), Value(name, INTEGER)
        aggregate_signature(call)
        if any(inner.name == "rand" for inner in ex.parts(call.arguments, ex.FunctionCall)):
            raise BadQuery(f"{call.name}() takes values of the graph, not rand()")
        arguments = [self.compiler.compiled(part) for part in call.arguments]
        is_list = call.name in ("min", "max") and arguments[0].kind.name == "list"
        kind = arguments[0].kind if is_list else kind_of_aggregate(call.name, arguments[0].value)
        fraction = arguments[1].tree if len(arguments) > 1 else None
        return Call(name, call.name, arguments[0].tree, call.distinct, fraction), Value(name, kind)


def _aggregations(expressions: Iterable[Expression]) -> Iterable[ex.FunctionCall]:
    """Yield the aggregations in some expressions, but not those in a subquery."""
    for expression in expressions:
        yield from (call for call in ex.parts(expression, ex.FunctionCall) if call.name in AGGREGATES)


def _read(clauses: Sequence[syntax.Clause]) -> frozenset[str] | None:
    """Return the variables that some clauses read, and perhaps more; None for all."""
    if any(isinstance(clause, Projection) and clause.star for clause in clauses):
        return None
    return names_in(tuple(clauses))


def _ignores_repeats(clauses: Sequence[syntax.Clause]) -> bool:
    """Return whether it makes no difference to some clauses how often a row comes."""
    for clause in clauses:
        if isinstance(clause, Projection):
            calls = list(_aggregations(item.expression for item in clause.items))
            if calls:
                return all(call.distinct or call.name in ("min", "max") for call in calls)
            if clause.distinct:
                return True
            if clause.limit is not None or clause.skip is not None:
                return False
    return False
