"""The projections of WITH and RETURN, for any engine."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import fields, is_dataclass, replace
from typing import Any

from orienteer.cypher import syntax
from orienteer.cypher.compiler import ExpressionCompiler
from orienteer.cypher.functions import AGGREGATES
from orienteer.cypher.kinds import Value
from orienteer.cypher.patterns import Scope
from orienteer.cypher.syntax import Projection
from orienteer.errors import BadQuery
from orienteer.query import expressions as ex
from orienteer.query.expressions import Expression, FunctionCall, children


def items_of(clause: Projection, variables: Iterable[str]) -> list[syntax.ProjectionItem]:
    """Return the items of a clause, with the variables in scope for `*`. Raises `BadQuery`."""
    star = [syntax.ProjectionItem(ex.Variable(name), name, False) for name in variables]
    items = [*(star if clause.star else ()), *clause.items]
    names = [item.name for item in items]
    if len(set(names)) < len(names):
        raise BadQuery(f"two columns have one name, {names}: name them apart with AS")
    if not items:
        raise BadQuery("* is empty here: no clause before it has named anything")
    return items


def page_of(scope: Scope, clause: Projection, most: int | None = None) -> str:
    """Return SKIP and LIMIT, at most `most`. Raises `BadQuery` for a parameter that is not a number."""
    skip = None if clause.skip is None else checked_page(scope.constant(clause.skip), "SKIP")
    limit = None if clause.limit is None else checked_page(scope.constant(clause.limit), "LIMIT")
    if most is not None:
        limit = most if limit is None else min(limit, most)
    return (f" SKIP {skip}" if skip is not None else "") + (f" LIMIT {limit}" if limit is not None else "")


def checked_page(value: object, what: str) -> int:
    """Return the number of SKIP or LIMIT. Raises `BadQuery` for another value."""
    if type(value) is not int or not 0 <= value < 2**63:
        raise BadQuery(f"{what} takes a whole number of 0 or more, or a parameter, not {str(value)[:40]}")
    return value


def order_of(
    clause: Projection,
    items: Sequence[syntax.ProjectionItem],
    after: Mapping[str, Value],
    compiler: ExpressionCompiler,
) -> str:
    """Return ORDER BY: returned expressions by their column, other expressions with the variables still in scope.

    `after` are the variables after the clause, the only ones that remain of groups. Raises `BadQuery` for values
    without an order.
    """
    if not clause.order:
        return ""
    columns, parts, scope = _columns(items), [], compiler.scope
    with scope.inner(after):
        if clause.distinct or any(aggregates(item.expression) for item in items):
            scope.variables = dict(after)
        for order in clause.order:
            key = compiler.sort_key(with_columns(order.expression, columns))
            parts.append(f"{key.tree}{' DESC' if order.descending else ''}")
    return f" ORDER BY {', '.join(parts)}"


def _columns(items: Iterable[syntax.ProjectionItem]) -> dict[Expression, str]:
    """Return the column of each expression that is not a variable."""
    return {item.expression: item.name for item in items if not isinstance(item.expression, ex.Variable)}


def aggregates(expression: Any) -> bool:  # Any: whatever the fields of an expression hold
    """Return whether an expression contains count(), collect() or another aggregation."""
    if isinstance(expression, syntax.Subquery):
        return False
    return _is_aggregation(expression) or any(map(aggregates, children(expression)))


def mixed(expression: Any, keys: Collection[Expression]) -> bool:  # Any: as above
    """Return whether an expression reads a row's own values, other than `keys`, outside of an aggregation."""
    if expression in keys or _is_aggregation(expression):
        return False
    if isinstance(expression, ex.Variable | syntax.HasType | syntax.Subquery):
        return True
    if isinstance(expression, ex.Comprehension | ex.Quantifier):  # their own variable is not a row's
        return mixed(expression.source, keys)
    return any(mixed(part, keys) for part in children(expression))


def apart(items: Sequence[syntax.ProjectionItem]) -> tuple[list[syntax.ProjectionItem], list[syntax.ProjectionItem]]:
    """Return the items that group and those that aggregate. Raises `BadQuery` for one that does both."""
    gathered = [item for item in items if aggregates(item.expression)]
    keys = [item for item in items if item not in gathered]
    for item in gathered:
        if mixed(item.expression, {key.expression for key in keys}):
            raise BadQuery(
                f"{item.name[:60]} mixes count(), collect() and the like with values of one row: gather first by WITH"
            )
    return keys, gathered


def in_two_steps(clause: Projection, items: Sequence[syntax.ProjectionItem]) -> tuple[Projection, Projection] | None:
    """Split a clause that computes with aggregations into one that gathers and one that computes.

    Servers refuse `RETURN n.name, size(n.name) + count(p)`, or return null. Returns None if no split is needed. Raises
    `BadQuery` for an item that mixes an aggregation with values of one row.
    """
    keys, gathered = apart(items)
    if all(_is_aggregation(item.expression) for item in gathered):
        return None
    calls = (call for item in gathered for call in ex.parts(item.expression, FunctionCall) if _is_aggregation(call))
    expressions: list[Expression] = list(dict.fromkeys([*(key.expression for key in keys), *calls]))
    first = [
        syntax.ProjectionItem(part, part.name if isinstance(part, ex.Variable) else syntax.made_up("part", place), True)
        for place, part in enumerate(expressions)
    ]
    columns = _columns(first)
    second = tuple(replace(item, expression=with_columns(item.expression, columns), named=True) for item in items)
    order = tuple(replace(part, expression=with_columns(part.expression, columns)) for part in clause.order)
    gathering = Projection(tuple(first), False, False, (), None, None, None)
    return gathering, replace(clause, items=second, star=False, order=order)


def _is_aggregation(expression: Expression) -> bool:
    """Return whether an expression is an aggregation and nothing else."""
    return isinstance(expression, FunctionCall) and expression.name in AGGREGATES


def with_columns(expression: Any, columns: Mapping[Expression, str]) -> Any:  # Any: as above
    """Return an expression in which each part that is already a column is replaced by the column's name."""
    if isinstance(expression, tuple):
        return tuple(with_columns(part, columns) for part in expression)
    if not is_dataclass(expression) or isinstance(expression, type | syntax.Subquery):
        return expression
    if isinstance(expression, ex.Literal_ | ex.Parameter | ex.Variable):
        return expression
    if expression in columns:
        return ex.Variable(columns[expression])  # type: ignore[index]  # it is in `columns`
    return replace(
        expression,
        **{field.name: with_columns(getattr(expression, field.name), columns) for field in fields(expression)},
    )
