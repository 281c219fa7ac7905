"""Expressions over a batch of rows, by the logic of three values: true, false, null."""

from __future__ import annotations

import operator
from collections.abc import Callable, Mapping
from datetime import date
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from orienteer.errors import BadQuery, UnknownProperty, nearest
from orienteer.query import expressions as forms
from orienteer.query import plan
from orienteer.query.budget import Budget
from orienteer.query.columns import Batch, Col, ColumnKind, EdgeRef, NodeRef, Numbers, column, constant, objects
from orienteer.query.sets import Sets
from orienteer.query.store import Store
from orienteer.query.values import calculated, called, contained, ordered, shown, whole
from orienteer.records import JsonValue

_NUMBERS: tuple[ColumnKind, ...] = ("int", "float")
_COMPARISONS = {
    "=": operator.eq,
    "<>": operator.ne,
    "<": operator.lt,
    "<=": operator.le,
    ">": operator.gt,
    ">=": operator.ge,
}
_TEXTS: Mapping[str, Callable[[str, str], bool]] = {
    "CONTAINS": lambda text, part: part in text,
    "STARTS WITH": str.startswith,
    "ENDS WITH": str.endswith,
}
_FEW = 1_000  # rows: fewer names are read one by one
_EXACT = 2**53  # whole numbers below are exact as floats
Matcher = Callable[[str, str], bool]
"""Whether a text matches a regular expression as a whole."""


class Tables(Protocol):
    """What expressions need of the tables: subqueries."""

    def inner(self, expression: plan.Inner, batch: Batch) -> Col:
        """Return an inner table's answer for each row."""


class Evaluator:
    """Evaluates the expressions of one query."""

    def __init__(
        self,
        store: Store,
        parameters: Mapping[str, JsonValue],
        budget: Budget,
        matches: Matcher | None,
        view: Mapping[str, Any],
    ) -> None:
        """`matches` answers `=~`, if the caller allows it. `view` names ids and types otherwise than the store."""
        self._store, self._parameters, self._budget, self._matches = store, parameters, budget, matches
        self._view = view
        self.tables: Tables
        self.sets: Sets

    def true(self, expression: forms.Expression, batch: Batch) -> NDArray[np.bool_]:
        """Mark the rows for which a condition is true: (rows,)."""
        return self._truth(self.column(expression, batch))[0]

    def column(self, expression: forms.Expression, batch: Batch) -> Col:
        """Return the values of an expression: (rows,). Raises `BadQuery`, and what `Budget.check` raises."""
        self._budget.check()
        values: Col = _EVALUATE[type(expression)](self, expression, batch)
        return values

    def _truth(self, values: Col) -> tuple[NDArray[np.bool_], NDArray[np.bool_]]:
        """Mark where a condition is true, and where it is false."""
        if values.kind == "bool":
            nulls = values.nulls
            return values.data & ~nulls, ~values.data & ~nulls
        items = values.values()
        for item in items:
            if item is not None and not isinstance(item, bool):
                raise BadQuery(
                    f"a condition must be true or false, and {shown(item)} is not: compare it with something"
                )
        return np.array([item is True for item in items], np.bool_), np.array(
            [item is False for item in items], np.bool_
        )

    # Leaves.

    def _literal(self, expression: forms.Literal_, batch: Batch) -> Col:
        return constant(expression.value, batch.size)

    def _parameter(self, expression: forms.Parameter, batch: Batch) -> Col:
        if expression.name not in self._parameters:
            names = ", ".join(self._parameters) or "none"
            raise BadQuery(f"The parameter ${expression.name} was not given. Given: {names}.")
        return constant(self._parameters[expression.name], batch.size)

    def _variable(self, expression: forms.Variable, batch: Batch) -> Col:
        if expression.name in batch.columns:
            return batch.columns[expression.name]
        # Without rows a subquery may not have bound its names.
        assert not batch.size, f"{expression.name!r} is bound by no clause"
        return objects([])

    def _property(self, expression: forms.Property, batch: Batch) -> Col:
        base, key = self.column(expression.base, batch), expression.key
        if base.kind in ("node", "edge"):
            return self._of_entity(base, key)
        return column([self._of_value(value, key) for value in base.values()])

    def _of_entity(self, base: Col, key: str) -> Col:
        if base.kind == "node" and key.casefold() in ("id", "name"):
            return self.identity(base.data) if key.casefold() == "id" else self._store.texts("name", base.data)
        names = self._store.properties.names if base.kind == "node" else self._store.edge_properties
        if key in names:
            return self._store.read(base.kind, key, base.data)
        same = [name for name in names if name.casefold() == key.casefold()]
        if len(same) == 1:
            return self._store.read(base.kind, same[0], base.data)
        near = nearest(key, names, most=3)
        hint = f" Near: {', '.join(near)}." if near else ""
        raise UnknownProperty(f"No {base.kind} has a property {key!r}.{hint}", near)

    def identity(self, rows: Numbers) -> Col:
        """Return the ids of nodes as the query names them: (rows,)."""
        identifiers = self._view.get("id")
        return self._store.texts("id", rows) if identifiers is None else identifiers(rows)

    def _of_value(self, value: Any, key: str) -> Any:
        if value is None:
            return None
        if isinstance(value, NodeRef | EdgeRef):
            return self._of_entity(column([value]), key).values()[0]
        if isinstance(value, date) and key in ("year", "month", "day"):
            return getattr(value, key)
        if isinstance(value, dict):
            return value.get(key)
        raise BadQuery(f"{shown(value)} has no property {key!r}: nodes, edges and maps have")

    # Operators.

    def _unary(self, expression: forms.Unary, batch: Batch) -> Col:
        values = self.column(expression.operand, batch)
        if expression.operator == "NOT":
            true, false = self._truth(values)
            return Col("bool", false, _or_none(~true & ~false))
        if expression.operator == "-":
            return column([None if value is None else _negative(value) for value in values.values()])
        nulls = values.nulls
        return Col("bool", nulls if expression.operator == "IS NULL" else ~nulls)

    def _binary(self, expression: forms.Binary, batch: Batch) -> Col:
        sign = expression.operator
        if sign in ("AND", "OR", "XOR"):
            return self._logical(sign, expression, batch)
        if sign in _TEXTS and (found := self._names_with(sign, expression, batch)) is not None:
            return found
        left, right = self.column(expression.left, batch), self.column(expression.right, batch)
        if sign in _COMPARISONS:
            return _compared(sign, left, right)
        if sign == "IN":
            return _contained(left, right)
        pairs = zip(left.values(), right.values(), strict=True)
        if sign in _TEXTS:
            test = _TEXTS[sign]
            # As openCypher has it, what is not a text contains nothing.
            return column([test(a, b) if isinstance(a, str) and isinstance(b, str) else None for a, b in pairs])
        if sign == "=~":
            matches = self._matches
            if matches is None:
                raise BadQuery("=~ is not answered here: use CONTAINS, STARTS WITH or ENDS WITH")
            return column([matches(a, b) if isinstance(a, str) and isinstance(b, str) else None for a, b in pairs])
        if left.kind in _NUMBERS and right.kind in _NUMBERS and sign in "+-*" and "float" in (left.kind, right.kind):
            with np.errstate(all="ignore"):
                data = {"+": np.add, "-": np.subtract, "*": np.multiply}[sign](left.data, right.data, dtype=float)
            return Col("float", data, _or_none(left.nulls | right.nulls))
        return column([calculated(sign, a, b) for a, b in pairs])

    def _names_with(self, sign: str, expression: forms.Binary, batch: Batch) -> Col | None:
        """Return `n.name CONTAINS 'text'` for nodes, found in all names at once; None for any other condition."""
        left = expression.left
        if not isinstance(left, forms.Property) or left.key.casefold() != "name" or batch.size < _FEW:
            return None
        base, part = self.column(left.base, batch), self.column(expression.right, batch)
        text = part.data[0] if part.kind == "any" and part.is_constant else None
        if base.kind != "node" or not isinstance(text, str) or not text:
            return None
        mask = self._store.names_with(sign, text)
        return Col("bool", mask[np.maximum(base.data, 0)], _or_none(base.nulls))

    def _logical(self, sign: str, expression: forms.Binary, batch: Batch) -> Col:
        true, false = self._truth(self.column(expression.left, batch))
        undecided = np.ones(batch.size, np.bool_) if sign == "XOR" else ~false if sign == "AND" else ~true
        # The right side is asked only where the left decides nothing: `n.x <> 0 AND 1 / n.x > 2`.
        at = np.flatnonzero(undecided)
        other_true, other_false = np.zeros((2, batch.size), np.bool_)
        part = batch if len(at) == batch.size else batch.take(at)
        other_true[at], other_false[at] = self._truth(self.column(expression.right, part))
        if sign == "AND":
            true, false = true & other_true, false | other_false
        elif sign == "OR":
            true, false = true | other_true, false & other_false
        else:
            true, false = (true & other_false) | (false & other_true), (true & other_true) | (false & other_false)
        return Col("bool", true, _or_none(~true & ~false))

    # Lists, maps and CASE.

    def _list(self, expression: forms.ListOf, batch: Batch) -> Col:
        if all(isinstance(item, forms.Literal_) for item in expression.items):
            return constant([item.value for item in expression.items if isinstance(item, forms.Literal_)], batch.size)
        columns = [self.column(item, batch).values() for item in expression.items]
        return objects([list(row) for row in zip(*columns, strict=True)])

    def _map(self, expression: forms.MapOf, batch: Batch) -> Col:
        columns = [self.column(item, batch).values() for _, item in expression.items]
        keys = [key for key, _ in expression.items]
        rows = zip(*columns, strict=True) if columns else [()] * batch.size
        return objects([dict(zip(keys, row, strict=True)) for row in rows])

    def _item(self, expression: forms.Item, batch: Batch) -> Col:
        bases, places = self.column(expression.base, batch), self.column(expression.at, batch)
        return column([self._item_at(a, b) for a, b in zip(bases.values(), places.values(), strict=True)])

    def _item_at(self, items: Any, at: Any) -> Any:
        if items is None or at is None:
            return None
        if isinstance(at, str):
            return self._of_value(items, at)
        if not isinstance(items, list) or not isinstance(at, int) or isinstance(at, bool):
            raise BadQuery(f"list[n] takes a list and a whole number, and not {shown(items)} and {shown(at)}")
        return items[at] if -len(items) <= at < len(items) else None

    def _slice(self, expression: forms.Slice, batch: Batch) -> Col:
        part = slice(expression.begin, expression.end)
        return objects(
            [None if items is None else items[part] for items in self.column(expression.base, batch).values()]
        )

    def _case(self, expression: forms.CaseExpression, batch: Batch) -> Col:
        values: list[Any] = [None] * batch.size
        rest = np.arange(batch.size)
        for condition, result in (*expression.whens, (None, expression.otherwise)):
            here = batch.take(rest)
            true = np.ones(len(rest), np.bool_) if condition is None else self.true(condition, here)
            if true.any() and result is not None:
                made = self.column(result, here.take(true)).values()
                for place, value in zip(rest[true].tolist(), made, strict=True):
                    values[place] = value
            rest = rest[~true]
        return column(values)

    def _each(self, variable: str, source: forms.Expression, batch: Batch) -> tuple[Batch, list[int | None]]:
        """Return a row for each item of a list of each row, and how many items each row has; None for a null."""
        lists = self.column(source, batch).values()
        sizes = [None if items is None else len(items) for items in lists]
        index = np.repeat(np.arange(batch.size), [size or 0 for size in sizes])
        self._budget.walk(len(index))
        items = column([item for items in lists if items is not None for item in items])
        return batch.take(index).beside({variable: items}), sizes

    def _comprehension(self, expression: forms.Comprehension, batch: Batch) -> Col:
        inner, sizes = self._each(expression.variable, expression.source, batch)
        keep = self.true(expression.where, inner) if expression.where is not None else np.ones(inner.size, np.bool_)
        result = expression.result if expression.result is not None else forms.Variable(expression.variable)
        values, keeps = iter(self.column(result, inner.take(keep)).values()), iter(keep.tolist())
        return objects([None if size is None else [next(values) for _ in range(size) if next(keeps)] for size in sizes])

    def _quantifier(self, expression: forms.Quantifier, batch: Batch) -> Col:
        inner, sizes = self._each(expression.variable, expression.source, batch)
        true, false = self._truth(self.column(expression.where, inner))
        answers = iter(np.where(true, 1, np.where(false, 0, -1)).tolist())
        return column(
            [
                None if size is None else _quantified(expression.kind, [next(answers) for _ in range(size)])
                for size in sizes
            ]
        )

    # Functions, types, sets and tables.

    def _call(self, expression: forms.FunctionCall, batch: Batch) -> Col:
        name = expression.name
        columns = [self.column(argument, batch) for argument in expression.arguments]
        if name == "coalesce":
            rows = zip(*(part.values() for part in columns), strict=True)
            return column([next((value for value in row if value is not None), None) for row in rows])
        if name in ("type", "nodetype", "labels", "id"):
            return self._of_graph(name, columns[0])
        if name == "size" and columns[0].kind == "trail":
            return Col("int", (columns[0].data >= 0).sum(axis=1), _or_none(columns[0].nulls))
        # A function of constants is called once.
        if batch.size and all(part.is_constant for part in columns):
            return constant(called(name, tuple(part.take(slice(1)).values()[0] for part in columns)), batch.size)
        return column([called(name, row) for row in zip(*(part.values() for part in columns), strict=True)])

    def _of_graph(self, name: str, values: Col) -> Col:
        """Return the id, the type or the labels of nodes or edges."""
        if values.kind not in ("node", "edge"):
            return column(
                [
                    None if value is None else self._of_graph(name, _entity(value, name)).values()[0]
                    for value in values.values()
                ]
            )
        if name == "id":
            if values.kind == "node":
                return self.identity(values.data)
            return column([None if at < 0 else f"e{at}" for at in values.data.tolist()])
        safe = np.maximum(values.data, 0)
        if values.kind == "edge":
            numbers, names = self._store.adjacency.kind[safe].astype(np.int64) >> 1, self._store.types.edges
        else:
            numbers, names = self._store.node_types[safe].astype(np.int64), self._store.types.nodes
        written = self._view.get("type", str)
        told = np.array([written(name) for name in names], object)[numbers]
        if name == "labels":
            labels = self._view.get("labels", lambda label: [label])
            return objects(
                [None if is_null else labels(label) for label, is_null in zip(told, values.nulls.tolist(), strict=True)]
            )
        return Col("any", np.where(values.nulls, np.array(None, object), told))

    def _is_of(self, expression: plan.IsOf, batch: Batch) -> Col:
        base = self.column(expression.base, batch)
        base = base if base.kind in ("node", "edge") else column(base.values())
        if base.kind not in ("node", "edge"):
            return Col("bool", np.zeros(batch.size, np.bool_), np.ones(batch.size, np.bool_))
        safe, wanted = np.maximum(base.data, 0), list(expression.types)
        numbers = self._store.node_types[safe] if base.kind == "node" else self._store.adjacency.kind[safe] >> 1
        return Col("bool", np.isin(numbers, wanted), _or_none(base.nulls))

    def _is_in(self, expression: plan.IsIn, batch: Batch) -> Col:
        base = self.column(expression.base, batch)
        base = base if base.kind == "node" else column(base.values())
        if base.kind != "node":  # null, or no node at all
            return Col("bool", np.zeros(batch.size, np.bool_))
        # EXISTS is false for a null, and never null.
        return Col("bool", (base.data >= 0) & self.sets.mask(expression.nodes)[np.maximum(base.data, 0)])

    def _inner(self, expression: plan.Inner, batch: Batch) -> Col:
        return self.tables.inner(expression, batch)


def _compared(sign: str, left: Col, right: Col) -> Col:
    """Return a comparison: over arrays if both sides have one kind of numbers, nodes or edges, else value by value."""
    is_same = left.kind == right.kind and left.kind in ("node", "edge") and sign in ("=", "<>")
    are_numbers = left.kind in _NUMBERS and right.kind in _NUMBERS
    if (
        is_same
        or left.kind == right.kind == "bool"
        or (are_numbers and (left.kind == right.kind or _is_exact(left, right)))
    ):
        return Col("bool", _COMPARISONS[sign](left.data, right.data), _or_none(left.nulls | right.nulls))
    if (
        sign == "="
        and left.kind == "any"
        and right.kind == "any"
        and right.is_constant
        and isinstance(right.data[0], str)
    ):
        text, known = right.data[0], left.data
        return Col("bool", known == text, _or_none(left.nulls))
    return column([ordered(sign, a, b) for a, b in zip(left.values(), right.values(), strict=True)])


def _contained(left: Col, right: Col) -> Col:
    items = right.data[0] if right.kind == "any" and right.is_constant else None
    if isinstance(items, list) and items and all(isinstance(item, str) for item in items):
        known = frozenset(items)
        return column([None if value is None else isinstance(value, str) and value in known for value in left.values()])
    return column([contained(a, b) for a, b in zip(left.values(), right.values(), strict=True)])


def _is_exact(left: Col, right: Col) -> bool:
    """Return whether the whole numbers of one side compare exactly as floats."""
    numbers = (left if left.kind == "int" else right).data
    return not len(numbers) or int(np.abs(numbers).max()) < _EXACT


def _negative(value: Any) -> Any:
    if isinstance(value, bool) or not isinstance(value, int | float):
        raise BadQuery(f"- takes a number and not {shown(value)}")
    return whole(-value) if isinstance(value, int) else -value


def _entity(value: Any, name: str) -> Col:
    made = column([value])
    if made.kind not in ("node", "edge"):
        raise BadQuery(f"{name}() takes a node or an edge and not {shown(value)}")
    return made


def _or_none(null: NDArray[np.bool_]) -> NDArray[np.bool_] | None:
    return null if null.any() else None


def _quantified(kind: str, answers: list[int]) -> bool | None:
    """Return any, all, none or single of answers: 1 for true, 0 for false, -1 for null."""
    true, unsure = answers.count(1), answers.count(-1)
    if kind == "any":
        return True if true else None if unsure else False
    if kind == "none":
        return False if true else None if unsure else True
    if kind == "all":
        return False if 0 in answers else None if unsure else True
    return False if true > 1 else None if unsure else true == 1


_EVALUATE: Mapping[type, Callable[[Evaluator, Any, Batch], Col]] = {
    forms.Literal_: Evaluator._literal,
    forms.Parameter: Evaluator._parameter,
    forms.Variable: Evaluator._variable,
    forms.Property: Evaluator._property,
    forms.Unary: Evaluator._unary,
    forms.Binary: Evaluator._binary,
    forms.ListOf: Evaluator._list,
    forms.MapOf: Evaluator._map,
    forms.Item: Evaluator._item,
    forms.Slice: Evaluator._slice,
    forms.CaseExpression: Evaluator._case,
    forms.Comprehension: Evaluator._comprehension,
    forms.Quantifier: Evaluator._quantifier,
    forms.FunctionCall: Evaluator._call,
    plan.IsOf: Evaluator._is_of,
    plan.IsIn: Evaluator._is_in,
    plan.Inner: Evaluator._inner,
}
