"""What WITH and RETURN project, whatever engine is told it."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import fields, is_dataclass, replace
from typing import Any

from orienteer.cypher import syntax
from orienteer.cypher.ladybug.functions import AGGREGATES
from orienteer.cypher.scope import Scope
from orienteer.cypher.syntax import Expression, Projection
from orienteer.errors import BadQuery


def items_of(clause: Projection, variables: Iterable[str]) -> list[syntax.ProjectionItem]:
    """Return what a clause projects, `*` as the variables in scope. Raises `BadQuery`."""
    star = [syntax.ProjectionItem(syntax.Variable(name), name, False) for name in variables]
    items = [*(star if clause.star else ()), *clause.items]
    names = [item.name for item in items]
    if len(set(names)) < len(names):
        raise BadQuery(f"two columns have one name, {names}: name them apart with AS")
    if not items:
        raise BadQuery("* stands for nothing here: no clause before it has named anything")
    return items


def page_size(scope: Scope, count: int | syntax.Parameter | None, what: str) -> int | None:
    """Return the number of SKIP or LIMIT. Raises `BadQuery` for a parameter that is none."""
    if count is None or isinstance(count, int):
        return count
    value = scope.value(count.name)
    if type(value) is not int or not 0 <= value < 2**63:
        raise BadQuery(f"{what} takes a whole number of 0 or more: ${count.name} is {value!r}")
    return value


def aggregates(expression: Any) -> bool:  # Any: whatever the fields of an expression hold
    """Tell whether an expression contains count(), collect() or another aggregation."""
    if isinstance(expression, syntax.FunctionCall) and expression.name in AGGREGATES:
        return True
    if isinstance(expression, tuple):
        return any(map(aggregates, expression))
    if isinstance(expression, syntax.Subquery) or not is_dataclass(expression):
        return False
    return any(aggregates(getattr(expression, field.name)) for field in fields(expression))


def with_columns(expression: Any, columns: Mapping[Expression, str]) -> Any:  # Any: as above
    """Return an expression in which expressions that are columns already are replaced by the column's name."""
    if isinstance(expression, tuple):
        return tuple(with_columns(part, columns) for part in expression)
    if not is_dataclass(expression) or isinstance(expression, type | syntax.Subquery):
        return expression
    if isinstance(expression, syntax.Literal_ | syntax.Parameter | syntax.Variable):
        return expression
    if expression in columns:
        return syntax.Variable(columns[expression])  # type: ignore[index]  # it stands in `columns`
    return replace(
        expression,
        **{field.name: with_columns(getattr(expression, field.name), columns) for field in fields(expression)},
    )
