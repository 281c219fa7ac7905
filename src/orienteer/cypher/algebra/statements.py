"""Statements in the algebra: clause by clause, each a table over the one before."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from orienteer.cypher import syntax
from orienteer.cypher.algebra.expressions import Expressions
from orienteer.cypher.algebra.patterns import matched
from orienteer.cypher.functions import AGGREGATES, aggregate_signature, kind_of_aggregate
from orienteer.cypher.kinds import INTEGER, Value
from orienteer.cypher.parser import TOO_DEEP
from orienteer.cypher.projections import aggregates, items_of, mixed, page_number, with_columns
from orienteer.cypher.syntax import CypherStatement, Expression, MatchClause, Projection, ProjectionItem, Unwind
from orienteer.errors import BadQuery
from orienteer.query import plan
from orienteer.query.plan import Call, Table, Unit
from orienteer.query.tables import names_in


def inner_clauses(compiler: Expressions, table: Table, clauses: tuple[syntax.Clause, ...]) -> Table:
    """Return the table of the clauses of a subquery over the table before them."""
    return _Query(compiler, is_inner=True).table(table, clauses)


class CompiledStatement(NamedTuple):
    """The table of a statement."""

    table: Table
    names: tuple[str, ...]
    """The names of the columns of the answer."""
    columns: tuple[str, ...]
    """Their columns in the table."""


def compiled_statement(statement: CypherStatement, compiler: Expressions) -> CompiledStatement:
    """Return the table of a statement. Raises `BadQuery`, `UnknownType`, `UnknownProperty`."""
    try:
        return _compiled(statement, compiler)
    except RecursionError:
        raise BadQuery(TOO_DEEP) from None


def _compiled(statement: CypherStatement, compiler: Expressions) -> CompiledStatement:
    tables, names = list[Table](), tuple[str, ...]()
    columns = tuple[str, ...]()
    for query in statement.queries:
        compiler.scope.variables = {}
        table = _Query(compiler).table(Unit(), query)
        names = tuple(compiler.scope.variables)
        own = [value.text for value in compiler.scope.variables.values()]
        columns = tuple(f"c{number}" for number in range(len(own)))  # in a table of several parts all are called alike
        items = tuple((column, syntax.Variable(name)) for column, name in zip(columns, own, strict=True))
        tables.append(plan.Projected(table, items))
    table = tables[0] if len(tables) == 1 else plan.United(tuple(tables))
    if len(tables) > 1 and not statement.keeps_repeats:
        table = plan.Distinct(table, columns)
    return CompiledStatement(table, names, columns)


@dataclass(slots=True)
class _Query:
    """Compiles one query of a UNION, or the clauses of a subquery."""

    compiler: Expressions
    is_inner: bool = False

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
            else:
                table = self._projection(table, clause)
        return table

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
        if self.is_inner and (clause.skip is not None or clause.limit is not None):
            raise BadQuery("SKIP and LIMIT are not supported inside { }: they would count the rows of all patterns")
        items = items_of(clause, list(scope.variables))
        visible, columns = dict(scope.variables), dict[Expression, str]()
        is_grouped = any(aggregates(item.expression) for item in items)
        if is_grouped:
            table, visible, columns = self._grouped(table, items)
        made, after = list[tuple[str, Expression]](), dict[str, Value]()
        scope.variables = visible
        for item in items:
            value = self.compiler.compiled(with_columns(item.expression, columns))
            column = value.tree.name if isinstance(value.tree, syntax.Variable) else scope.fresh()
            made.append((column, value.tree))
            after[item.name] = Value(column, value.kind)
        scope.variables = after if clause.distinct or is_grouped else visible | after
        columns |= {item.expression: item.name for item in items if not isinstance(item.expression, syntax.Variable)}
        table = plan.Projected(table, tuple(made), keeps=True)
        if clause.distinct:
            table = plan.Distinct(table, tuple(dict(made)))
        table = self._paged(table, clause, columns, visible if is_grouped else {})
        if clause.where is not None:
            table = plan.Filtered(table, self.compiler.condition(with_columns(clause.where, {})))
        scope.variables = after
        return plan.Projected(table, tuple((value.text, syntax.Variable(value.text)) for value in after.values()))

    def _paged(
        self, table: Table, clause: Projection, columns: Mapping[Expression, str], groups: Mapping[str, Value]
    ) -> Table:
        """Return a table in the order, and with the rows, that a clause asks for."""
        scope = self.compiler.scope
        skip, limit = page_number(scope, clause.skip, "SKIP") or 0, page_number(scope, clause.limit, "LIMIT")
        order = list[tuple[Expression, bool]]()
        with scope.inner({name: value for name, value in groups.items() if name not in scope.variables}):
            for part in clause.order:
                value = self.compiler.compiled(with_columns(part.expression, columns))
                if value.kind.name in ("node", "edge", "path", "map"):
                    raise BadQuery(
                        f"ORDER BY takes texts, numbers or dates, not {value.kind.description}: name a property"
                    )
                order.append((value.tree, part.descending))
        if order:
            table = plan.Sorted(table, tuple(order), None if limit is None else skip + limit)
        return plan.Paged(table, skip, limit) if skip or limit is not None else table

    def _grouped(
        self, table: Table, items: Sequence[ProjectionItem]
    ) -> tuple[Table, dict[str, Value], dict[Expression, str]]:
        """Return a table of groups, its variables, and the names of the expressions that are its columns."""
        scope, compiler = self.compiler.scope, self.compiler
        keys = [item.expression for item in items if not aggregates(item.expression)]
        for item in items:
            if aggregates(item.expression) and mixed(item.expression, keys):
                raise BadQuery(
                    f"{item.name[:60]} mixes count(), collect() and the like with values of one row: "
                    "gather first by WITH"
                )
            for part in syntax.parts(item.expression, syntax.Comprehension | syntax.Quantifier):  # type: ignore[arg-type]
                if aggregates(part.where) or aggregates(getattr(part, "result", None)):
                    raise BadQuery("count(), collect() and the like are not allowed for the items of a list")
        made, visible, columns = list[tuple[str, Expression]](), dict[str, Value](), dict[Expression, str]()
        for place, key in enumerate(dict.fromkeys(keys)):
            value = compiler.compiled(key)
            if isinstance(key, syntax.Variable):
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

    def _call(self, call: syntax.FunctionCall) -> tuple[Call, Value]:
        name = self.compiler.scope.fresh()
        if call.star:
            return Call(name, "count"), Value(name, INTEGER)
        aggregate_signature(call)
        if any(inner.name == "rand" for inner in syntax.parts(call.arguments, syntax.FunctionCall)):
            raise BadQuery(f"{call.name}() takes values of the graph, not rand()")
        arguments = [self.compiler.compiled(part) for part in call.arguments]
        is_list = call.name in ("min", "max") and arguments[0].kind.name == "list"
        kind = arguments[0].kind if is_list else kind_of_aggregate(call.name, arguments[0].value)
        fraction = arguments[1].tree if len(arguments) > 1 else None
        return Call(name, call.name, arguments[0].tree, call.distinct, fraction), Value(name, kind)


def _aggregations(expressions: Iterable[Expression]) -> Iterable[syntax.FunctionCall]:
    """Yield the aggregations in some expressions, but not those in a subquery."""
    for expression in expressions:
        yield from (call for call in syntax.parts(expression, syntax.FunctionCall) if call.name in AGGREGATES)


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
