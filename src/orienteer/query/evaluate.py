"""Expressions over a batch of rows, with the logic of three truth values."""

from __future__ import annotations

import random
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import lru_cache
from typing import Any, NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray

from orienteer.elements import JsonValue
from orienteer.errors import BadQuery
from orienteer.graph.properties import COMPARE
from orienteer.query import expressions as ex, plan
from orienteer.query.budget import Budget
from orienteer.query.columns import Batch, Col, EdgeRef, NodeRef, Numbers, column, constant, objects, runs
from orienteer.query.plan import NodeSet
from orienteer.query.store import Store
from orienteer.query.temporal import Duration, Moment
from orienteer.query.values import (
    FUNCTIONS,
    SPELLED,
    calculated,
    contained,
    equal,
    item_of,
    less,
    less_or_equal,
    slice_of,
    text_of,
    whole,
)

_PIECE = 256  # values that are made between two looks at the budget
_LARGE = 1 << 20  # bytes of values that are made between two looks
_NUMBERS = {"int", "float"}
_COMPARED: Mapping[str, Callable[[Any, Any], bool | None]] = {
    "=": equal,
    "<>": lambda a, b: None if (same := equal(a, b)) is None else not same,
    "<": less,
    "<=": less_or_equal,
    ">": lambda a, b: less(b, a),
    ">=": lambda a, b: less_or_equal(b, a),
}
_FEW = 1_000  # rows: fewer names are read one by one
_OF_ARRAYS = {"<>": COMPARE["!="], **COMPARE}


@lru_cache(maxsize=64)
def _expression(text: str) -> re.Pattern[str]:
    """Return a regular expression. Raises `BadQuery` for another text.

    Python's may go back without end: a stranger's statement runs in a process that is killed when its time is over.
    """
    try:
        return re.compile(text)
    except (re.error, RecursionError, OverflowError) as error:
        raise BadQuery(f"{text!r} is not a regular expression: {error}") from error


_OF_TEXTS: Mapping[str, Callable[[str, str], bool]] = {
    "CONTAINS": lambda a, b: b in a,
    "STARTS WITH": str.startswith,
    "ENDS WITH": str.endswith,
    "=~": lambda a, b: _expression(b).fullmatch(a) is not None,
}


class Shown(NamedTuple):
    """The names of a graph in answers: its own, or those of a view."""

    node_types: Sequence[str]
    edge_types: Sequence[str]
    label: str | None = None
    """A label of every node, after its type; None for no such label."""
    identifier: Callable[[int], str] | None = None
    """The id of the node at a row; None for the graph's own ids."""


class Inside(Protocol):
    """Evaluates the parts of expressions that need a table or a set."""

    def inner(self, expression: plan.Inner, batch: Batch) -> Col:
        """Return the value of an inner table for each row."""

    def mask(self, nodes: NodeSet) -> NDArray[np.bool_]:
        """Mark the nodes of a set: (nodes,)."""


class Evaluator:
    """Evaluates the expressions of one query. All columns have a row for each row of the batch."""

    def __init__(
        self, store: Store, budget: Budget, parameters: Mapping[str, JsonValue], inside: Inside, shown: Shown | None
    ) -> None:
        self._store, self._budget, self._parameters, self._inside = store, budget, parameters, inside
        self._shown = Shown(store.types.nodes, store.types.edges) if shown is None else shown

    def true(self, condition: ex.Expression, batch: Batch) -> NDArray[np.bool_]:
        """Mark the rows for which a condition is true."""
        return _truth(self.column(condition, batch))[0]

    def column(self, expression: ex.Expression, batch: Batch) -> Col:
        """Return the values of an expression. Raises `BadQuery` for values of a wrong kind, `QueryStopped`."""
        self._budget.check()
        return _EVALUATE[type(expression)](self, expression, batch)

    def _mapped(self, function: Callable[..., Any], columns: Sequence[Col], size: int) -> Col:
        """Return the results of a function for each row; of constants it is called once."""
        if size and all(part.is_constant for part in columns):
            return constant(function(*(part.take([0]).values()[0] for part in columns)), size)
        rows = zip(*(part.values() for part in columns), strict=True)
        values, held, paid = list[Any](), 0, 0
        for number, row in enumerate(rows):
            value = function(*row)
            values.append(value)
            held += _weight(value)
            if held - paid > _LARGE or number % _PIECE == 0:
                self._budget.hold(number, held)
                paid = held
        return column(values)

    # Leaves.

    def _literal(self, expression: ex.Literal_, batch: Batch) -> Col:
        return constant(expression.value, batch.size)

    def _parameter(self, expression: ex.Parameter, batch: Batch) -> Col:
        return constant(self._parameters[expression.name], batch.size)

    def _variable(self, expression: ex.Variable, batch: Batch) -> Col:
        return batch.columns[expression.name] if batch.size else _NOTHING

    def _property(self, expression: ex.Property, batch: Batch) -> Col:
        return self._entry(self.column(expression.base, batch), expression.key, batch.size)

    def _entry(self, base: Col, key: str, size: int) -> Col:
        """Return a property of nodes or edges, a part of dates, or the value of a key of maps."""
        base = _narrowed(base)
        if base.kind == "node":
            return self._texts(key, base.data) if key in ("id", "name") else self._store.read("node", key, base.data)
        if base.kind == "edge":
            return self._store.read("edge", key, base.data)
        return self._mapped(lambda value: self._entry_of(value, key), [base], size)

    def _entry_of(self, value: Any, key: str) -> Any:  # Any: Cypher's values
        if isinstance(value, NodeRef | EdgeRef):
            return self._entry(column([value]), key, 1).values()[0]
        if isinstance(value, Moment | Duration):
            return value.part(key)
        if value is None or isinstance(value, dict):
            return None if value is None else value.get(key)
        raise BadQuery(f"{text_of(value)[:40]!r} has no property {key!r}: only nodes, edges, maps and dates have any")

    def _texts(self, what: str, rows: Numbers) -> Col:
        identifier = self._shown.identifier
        if what == "name" or identifier is None:
            return self._store.texts(what, rows)
        return objects([None if row < 0 else identifier(row) for row in rows.tolist()])

    # Operators.

    def _unary(self, expression: ex.Unary, batch: Batch) -> Col:
        values = self.column(expression.operand, batch)
        if expression.operator == "NOT":
            true, false = _truth(values)
            return Col("bool", false, _or_none(~true & ~false))
        if expression.operator == "-":
            if values.kind == "float":
                return Col("float", -values.data, values.null)
            return self._mapped(_negative, [values], batch.size)
        nulls = values.nulls
        return Col("bool", nulls if expression.operator == "IS NULL" else ~nulls)

    def _binary(self, expression: ex.Binary, batch: Batch) -> Col:
        operator = expression.operator
        if operator in ("AND", "OR", "XOR"):
            return self._logical(expression, batch)
        if operator in _OF_TEXTS and (found := self._names_with(expression, batch)) is not None:
            return found
        left, right = self.column(expression.left, batch), self.column(expression.right, batch)
        if operator in _OF_ARRAYS:
            return self._compared(operator, left, right, batch.size)
        if operator == "IN":
            return self._in(left, right, batch.size)
        if operator in _OF_TEXTS:
            test = _OF_TEXTS[operator]
            return self._mapped(
                lambda a, b: test(a, b) if isinstance(a, str) and isinstance(b, str) else None,
                [left, right],
                batch.size,
            )
        kinds = {left.kind, right.kind}
        if operator in "+-*" and "float" in kinds and kinds <= _NUMBERS:
            with np.errstate(all="ignore"):
                data = {"+": np.add, "-": np.subtract, "*": np.multiply}[operator](left.data, right.data, dtype=float)
            return Col("float", data, _or_none(left.nulls | right.nulls))
        return self._mapped(lambda a, b: calculated(operator, a, b), [left, right], batch.size)

    def _names_with(self, expression: ex.Binary, batch: Batch) -> Col | None:
        """Return `n.name CONTAINS 'text'` for many nodes, found in all names at once; None for other conditions."""
        left = expression.left
        if batch.size < _FEW or expression.operator == "=~" or not isinstance(left, ex.Property) or left.key != "name":
            return None
        base, part = self.column(left.base, batch), self.column(expression.right, batch)
        text = part.data[0] if part.kind == "any" and part.is_constant else None
        if base.kind != "node" or not isinstance(text, str) or not text:
            return None
        mask = self._store.names_with(expression.operator, text)
        return Col("bool", mask[np.maximum(base.data, 0)], _or_none(base.nulls))

    def _logical(self, expression: ex.Binary, batch: Batch) -> Col:
        operator = expression.operator
        true, false = _truth(self.column(expression.left, batch))
        if operator == "XOR":
            other_true, other_false = _truth(self.column(expression.right, batch))
            true, false = (true & other_false) | (false & other_true), (true & other_true) | (false & other_false)
            return Col("bool", true, _or_none(~true & ~false))
        # What the first operand decides, the second is not asked.
        at = np.flatnonzero(~false if operator == "AND" else ~true)
        other_true, other_false = np.zeros((2, batch.size), np.bool_)
        if len(at):
            other_true[at], other_false[at] = _truth(self.column(expression.right, batch.take(at)))
        if operator == "AND":
            true, false = true & other_true, false | other_false
        else:
            true, false = true | other_true, false & other_false
        return Col("bool", true, _or_none(~true & ~false))

    def _compared(self, operator: str, left: Col, right: Col, size: int) -> Col:
        are_numbers = {left.kind, right.kind} <= _NUMBERS
        are_alike = left.kind == right.kind and left.kind in ("bool", "int", "float")
        are_one = left.kind == right.kind and left.kind in ("node", "edge") and operator in ("=", "<>")
        if are_alike or are_one or (are_numbers and _is_exact(left, right)):
            data = _OF_ARRAYS[operator](left.data, right.data)
            return Col("bool", data, _or_none(left.nulls | right.nulls))
        if operator == "=" and right.is_constant and isinstance(text := right.data[0], str) and left.kind == "any":
            return column([None if value is None else value == text for value in left.data.tolist()])
        return self._mapped(_COMPARED[operator], [left, right], size)

    def _in(self, left: Col, right: Col, size: int) -> Col:
        items = right.data[0] if right.kind == "any" and right.is_constant else None
        if items and isinstance(items, list) and all(isinstance(item, str) for item in items):
            known = frozenset(items)
            return column([None if value is None else value in known for value in left.values()])
        return self._mapped(contained, [left, right], size)

    # Lists, maps, CASE.

    def _list(self, expression: ex.ListOf, batch: Batch) -> Col:
        return self._mapped(lambda *row: list(row), self._columns(expression.items, batch), batch.size)

    def _map(self, expression: ex.MapOf, batch: Batch) -> Col:
        keys = [key for key, _ in expression.items]
        columns = self._columns([part for _, part in expression.items], batch)
        return self._mapped(lambda *row: dict(zip(keys, row, strict=True)), columns, batch.size)

    def _columns(self, parts: Sequence[ex.Expression], batch: Batch) -> list[Col]:
        return [self.column(part, batch) for part in parts]

    def _item(self, expression: ex.Item, batch: Batch) -> Col:
        base, at = self._columns([expression.base, expression.at], batch)
        base = _narrowed(base)
        if base.kind in ("node", "edge"):
            if at.is_constant and isinstance(key := at.data[0], str):
                return self._entry(base, key, batch.size)
            return self._mapped(
                lambda value, key: None if key is None else self._entry_of(value, text_of(key)), [base, at], batch.size
            )
        return self._mapped(item_of, [base, at], batch.size)

    def _slice(self, expression: ex.Slice, batch: Batch) -> Col:
        begin, end = (
            constant(default, batch.size) if bound is None else self.column(bound, batch)
            for bound, default in ((expression.begin, 0), (expression.end, 1 << 62))
        )

        def sliced(items: Any, first: Any, last: Any) -> Any:  # Any: Cypher's values
            return None if first is None or last is None else slice_of(items, first, last)

        return self._mapped(sliced, [self.column(expression.base, batch), begin, end], batch.size)

    def _case(self, expression: ex.CaseExpression, batch: Batch) -> Col:
        values: list[Any] = [None] * batch.size
        rest = np.arange(batch.size)
        for condition, result in expression.whens:
            true = self.true(condition, batch.take(rest))
            self._put(values, rest[true], result, batch)
            rest = rest[~true]
        if expression.otherwise is not None:
            self._put(values, rest, expression.otherwise, batch)
        return column(values)

    def _put(self, values: list[Any], at: Numbers, result: ex.Expression, batch: Batch) -> None:
        if len(at):
            made = self.column(result, batch.take(at)).values()
            for place, value in zip(at.tolist(), made, strict=True):
                values[place] = value

    def _each(self, variable: str, source: ex.Expression, batch: Batch) -> Iterator[tuple[Batch, list[int | None]]]:
        """Yield a row for each item of the list of each row, in parts of about a batch, and the number of items of
        each row of the part; None for a null. Raises `BadQuery` for a value that is not a list."""
        lists = self.column(source, batch).values()
        if any(items is not None and not isinstance(items, list) for items in lists):
            raise BadQuery("a condition on the items of a list takes a list")
        sizes = [None if items is None else len(items) for items in lists]
        for low, high in runs(np.array([size or 0 for size in sizes], np.int64)):
            index = np.repeat(np.arange(low, high), [size or 0 for size in sizes[low:high]])
            items = column([item for part in lists[low:high] if part is not None for item in part])
            self._budget.hold(len(index), 8 * len(index))
            yield batch.take(index).beside({variable: items}), sizes[low:high]

    def _comprehension(self, expression: ex.Comprehension, batch: Batch) -> Col:
        made, held = list[list[Any] | None](), 0
        shown = ex.Variable(expression.variable) if expression.result is None else expression.result
        for inner, sizes in self._each(expression.variable, expression.source, batch):
            keep = np.ones(inner.size, np.bool_)
            if expression.where is not None:
                keep = self.true(expression.where, inner)
            values, keeps = iter(self.column(shown, inner.take(keep)).values()), iter(keep.tolist())
            made += [None if size is None else [next(values) for _ in range(size) if next(keeps)] for size in sizes]
            held += 8 * inner.size
            self._budget.hold(len(made), held)
        return objects(made)

    def _quantifier(self, expression: ex.Quantifier, batch: Batch) -> Col:
        made = list[bool | None]()
        for inner, sizes in self._each(expression.variable, expression.source, batch):
            true, false = _truth(self.column(expression.where, inner))
            answers = iter(np.where(true, 1, np.where(false, 0, -1)).tolist())
            for size in sizes:
                of_row = None if size is None else [next(answers) for _ in range(size)]
                made.append(None if of_row is None else _quantified(expression.kind, of_row))
        return column(made)

    def _reduce(self, expression: plan.Reduce, batch: Batch) -> Col:
        total, lists = self._columns([expression.initial, expression.source], batch)
        items = lists.values()
        sizes = np.array([-1 if part is None else len(part) for part in items], np.int64)
        values = [None if size < 0 else value for size, value in zip(sizes.tolist(), total.values(), strict=True)]
        for step in range(int(sizes.max(initial=0))):
            at = np.flatnonzero(sizes > step)
            inner = batch.take(at).beside(
                {
                    expression.total: column([values[place] for place in at.tolist()]),
                    expression.item: column([items[place][step] for place in at.tolist()]),
                }
            )
            for place, value in zip(at.tolist(), self.column(expression.value, inner).values(), strict=True):
                values[place] = value
        return column(values)

    # Functions.

    def _call(self, expression: ex.FunctionCall, batch: Batch) -> Col:
        name, size = expression.name, batch.size
        if name == "rand":
            return Col("float", np.array([random.random() for _ in range(size)]))  # not for secrets
        columns = self._columns(expression.arguments, batch)
        if name == "coalesce":
            return self._mapped(lambda *row: next((v for v in row if v is not None), None), columns, size)
        if name in _OF_GRAPH:
            return self._of_graph(name, _narrowed(columns[0]), size)
        if name == "size" and columns[0].kind == "trail":
            return Col("int", (columns[0].data >= 0).sum(axis=1), _or_none(columns[0].nulls))
        function = FUNCTIONS[name]

        def called(*row: Any) -> Any:  # Any: Cypher's values
            if None in row:
                return None
            try:
                return function(*row)
            except (TypeError, AttributeError, ValueError, IndexError):
                shown = ", ".join(text_of(value)[:40] for value in row)
                raise BadQuery(f"{SPELLED.get(name, name)}({shown}) is not possible: check the kind of value") from None

        return self._mapped(called, columns, size)

    def _of_graph(self, name: str, values: Col, size: int) -> Col:
        """Return what a function tells of nodes, edges and maps."""
        if values.kind not in ("node", "edge"):
            return self._mapped(lambda value: self._of_value(name, value), [values], size)
        if name == "id" and values.kind == "node":
            return self._texts("id", values.data)
        if name == "type" and values.kind == "edge":
            return self._named(self._shown.edge_types, self._store.adjacency.kind, values, 1)
        if name in ("nodetype", "labels") and values.kind == "node":
            types = self._named(self._shown.node_types, self._store.node_types, values, 0)
            if name == "nodetype":
                return types
            more = [] if self._shown.label is None else [self._shown.label]
            return objects([None if name is None else [name, *more] for name in types.values()])
        return self._mapped(lambda value: self._of_value(name, value), [values], size)

    @staticmethod
    def _named(names: Sequence[str], numbers: Any, values: Col, shift: int) -> Col:  # Any: an array that is mapped
        shown = np.array([*map(str, names)], object)[numbers[np.maximum(values.data, 0)].astype(np.int64) >> shift]
        return Col("any", np.where(values.nulls, _NULL, shown))

    def _of_value(self, name: str, value: Any) -> Any:  # Any: Cypher's values
        if value is None:
            return None
        if name == "keys":
            return sorted(self.properties_of(value))
        if name == "properties":
            return self.properties_of(value)
        if isinstance(value, NodeRef) and name in ("id", "nodetype", "labels"):
            return self._of_graph(name, column([value]), 1).values()[0]
        if isinstance(value, EdgeRef):
            if name == "id":
                return f"e{value.at}"
            if name in ("startnode", "endnode"):
                source, target, _ = self._store.ends_of(np.array([value.at]))
                return NodeRef(int((source if name == "startnode" else target)[0]))
            if name == "type":
                return self._of_graph(name, column([value]), 1).values()[0]
        raise BadQuery(f"{name}() does not take {text_of(value)[:40]!r}")

    def properties_of(self, value: Any) -> dict[str, Any]:  # Any: Cypher's values
        """Return the properties of a node, without id and name, or of an edge, or a map itself. Raises `BadQuery`."""
        if isinstance(value, dict):
            return value
        if not isinstance(value, NodeRef | EdgeRef):
            raise BadQuery("keys() and properties() take a node, an edge or a map")
        return self._store.properties_of("node" if isinstance(value, NodeRef) else "edge", value[0])

    # Types, sets, tables.

    def _is_of(self, expression: plan.IsOf, batch: Batch) -> Col:
        base = _narrowed(self.column(expression.base, batch))
        if base.kind not in ("node", "edge"):
            return constant(None, batch.size)
        safe, wanted = np.maximum(base.data, 0), list(expression.types)
        is_node = base.kind == "node"
        numbers = self._store.node_types[safe] if is_node else self._store.adjacency.kind[safe] >> 1
        return Col("bool", np.isin(numbers, wanted), _or_none(base.nulls))

    def _is_in(self, expression: plan.IsIn, batch: Batch) -> Col:
        base = _narrowed(self.column(expression.base, batch))
        if base.kind != "node":  # nulls alone
            return Col("bool", np.zeros(batch.size, np.bool_))
        # EXISTS is false for a null, and never null.
        return Col("bool", (base.data >= 0) & self._inside.mask(expression.nodes)[np.maximum(base.data, 0)])

    def _inner(self, expression: plan.Inner, batch: Batch) -> Col:
        return self._inside.inner(expression, batch)


_OF_GRAPH = frozenset({"type", "nodetype", "labels", "id", "keys", "properties", "startnode", "endnode"})
_NULL = np.array(None, object)
_NOTHING = Col("any", np.zeros(0, object))


def _truth(values: Col) -> tuple[NDArray[np.bool_], NDArray[np.bool_]]:
    """Return where a condition is true, and where it is false. Raises `BadQuery` for other values."""
    if values.kind == "bool":
        nulls = values.nulls
        return values.data & ~nulls, ~values.data & ~nulls
    items = values.values()
    if any(item is not None and not isinstance(item, bool) for item in items):
        raise BadQuery("a condition must be true or false: compare the value with something")
    return np.array([item is True for item in items], np.bool_), np.array([item is False for item in items], np.bool_)


def _narrowed(values: Col) -> Col:
    """Return the values as a column of nodes, or of edges, if they are."""
    return column(values.values()) if values.kind == "any" and isinstance(_first(values), NodeRef | EdgeRef) else values


def _first(values: Col) -> Any:  # Any: Cypher's values
    return next((value for value in values.data.tolist() if value is not None), None)


def _negative(value: Any) -> Any:  # Any: Cypher's values
    if value is None:
        return None
    if not isinstance(value, int | float) or isinstance(value, bool):
        raise BadQuery("a minus sign takes a number")
    return whole(-value) if isinstance(value, int) else -value


def _weight(value: Any) -> int:  # Any: Cypher's values
    """Return the bytes that a new value takes, without those that it shares with others."""
    if isinstance(value, str):
        return len(value)
    return 56 * len(value) if isinstance(value, list | dict) else 0


def _or_none(null: NDArray[np.bool_]) -> NDArray[np.bool_] | None:
    return null if null.any() else None


def _is_exact(left: Col, right: Col) -> bool:
    """Return whether whole numbers can be compared as floats."""
    numbers = left if left.kind == "int" else right
    return not len(numbers) or int(np.abs(numbers.data).max()) < 2**53


def _quantified(kind: str, answers: list[int]) -> bool | None:
    """Return whether a condition holds for the items of a list; the answers are 1, 0 for false, -1 for null."""
    true, unsure = answers.count(1), answers.count(-1)
    if kind == "any":
        return True if true else None if unsure else False
    if kind == "none":
        return False if true else None if unsure else True
    if kind == "all":
        return False if 0 in answers else None if unsure else True
    return False if true > 1 else None if unsure else true == 1


_EVALUATE: Mapping[type, Callable[[Evaluator, Any, Batch], Col]] = {
    ex.Literal_: Evaluator._literal,
    ex.Parameter: Evaluator._parameter,
    ex.Variable: Evaluator._variable,
    ex.Property: Evaluator._property,
    ex.Unary: Evaluator._unary,
    ex.Binary: Evaluator._binary,
    ex.ListOf: Evaluator._list,
    ex.MapOf: Evaluator._map,
    ex.Item: Evaluator._item,
    ex.Slice: Evaluator._slice,
    ex.CaseExpression: Evaluator._case,
    ex.Comprehension: Evaluator._comprehension,
    ex.Quantifier: Evaluator._quantifier,
    ex.FunctionCall: Evaluator._call,
    plan.Reduce: Evaluator._reduce,
    plan.IsOf: Evaluator._is_of,
    plan.IsIn: Evaluator._is_in,
    plan.Inner: Evaluator._inner,
}
