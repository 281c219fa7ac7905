"""Aggregations. Batches are reduced as they come, wherever what is asked for allows it."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from orienteer.errors import BadQuery
from orienteer.query.budget import BATCH, Budget
from orienteer.query.columns import Batch, Col, Numbers, column, constant, objects, stacked
from orienteer.query.expressions import Expression
from orienteer.query.plan import Call, Grouped
from orienteer.query.values import equal, is_number, rank, shown, whole

_EXACT = 2**53  # sums of whole numbers below are exact as floats
_REPEATS = ("count", "sum", "avg", "collect", "percentilecont", "percentiledisc")  # functions that repeats change


class Groups:
    """The groups of one table: `add` each batch, projected by `items`; then `result`."""

    def __init__(self, table: Grouped, marks: list[str], budget: Budget) -> None:
        """`marks` are the columns that say which row outside a row belongs to: each has its own groups."""
        self._table, self._budget, self._marks = table, budget, marks
        self._names = [*marks, *(name for name, _ in table.keys)]
        self.items: tuple[tuple[str, Expression], ...] = (
            *table.keys,
            *((_argument(call), call.argument) for call in table.calls if call.argument is not None),
            *((_fraction(call), call.fraction) for call in table.calls if call.fraction is not None),
        )
        self._batches: list[Batch] = []
        self._size = 0
        # Rows that are equal may be kept once, or only be counted.
        self._is_once = all(call.distinct or call.function not in _REPEATS for call in table.calls)
        self._is_counted = all(call.function == "count" and not call.distinct for call in table.calls)

    def add(self, batch: Batch) -> None:
        """Take in a projected batch."""
        if not batch.size and self._batches:
            return
        self._batches.append(self._reduced(batch) if batch.size else batch)
        self._size += self._batches[-1].size
        if self._size > 4 * BATCH and (self._is_counted or self._is_once):
            merged = self._reduced(stacked([part for part in self._batches if part.size]))
            self._batches, self._size = [merged], merged.size
        self._budget.hold(self._size)

    def _reduced(self, batch: Batch) -> Batch:
        if self._is_counted:
            return self._counted(batch)
        return batch.once(list(batch.columns)) if self._is_once else batch

    def _counted(self, batch: Batch) -> Batch:
        """Return a row for each group, with its counts so far."""
        first, group = self._groups(batch)
        made: dict[str, Col] = {}
        for call in self._table.calls:
            name = f"n:{call.name}"
            weights = None
            if name in batch.columns:
                weights = batch.columns[name].data
            elif call.argument is not None:
                weights = ~batch.columns[_argument(call)].nulls
            made[name] = Col("int", np.bincount(group, weights, len(first)).astype(np.int64))
        return Batch(len(first), {**batch.take(first).only(self._names).columns, **made})

    def _groups(self, batch: Batch) -> tuple[Numbers, Numbers]:
        """Return the first row of each group, and each row's group. Without keys all rows are one."""
        if not self._names:
            return np.zeros(1, np.int64), np.zeros(batch.size, np.int64)
        return batch.groups(self._names)

    def result(self) -> Batch:
        """Return a row for each group, in the order of their first rows."""
        filled = [part for part in self._batches if part.size]
        if not filled:
            return self._empty()
        batch = stacked(filled)
        if self._is_counted:
            batch = self._counted(batch)
            return Batch(batch.size, {name.removeprefix("n:"): part for name, part in batch.columns.items()})
        first, group = self._groups(batch)
        made = {call.name: self._called(call, batch, group, len(first)) for call in self._table.calls}
        return Batch(len(first), {**batch.take(first).only(self._names).columns, **made})

    def _empty(self) -> Batch:
        """Return the result for no rows: no groups, or without keys one row."""
        if self._names:
            return Batch(0, {name: objects([]) for name in [*self._names, *(call.name for call in self._table.calls)]})
        nothing: dict[str, Any] = {"count": 0, "sum": 0, "collect": []}
        return Batch(1, {call.name: constant(nothing.get(call.function), 1) for call in self._table.calls})

    def _called(self, call: Call, batch: Batch, group: Numbers, number: int) -> Col:
        if call.argument is None:
            return Col("int", np.bincount(group, minlength=number))
        columns = {"g": Col("int", group), "v": batch.columns[_argument(call)]}
        if call.fraction is not None:
            columns["f"] = batch.columns[_fraction(call)]
        pairs = Batch(batch.size, columns)
        pairs = pairs.take(~pairs.columns["v"].nulls)
        if call.distinct:
            pairs = pairs.once(["g", "v"])
        group, values = pairs.columns["g"].data, pairs.columns["v"]
        counts = np.bincount(group, minlength=number)
        if call.function == "count":
            return Col("int", counts)
        if values.kind in ("int", "float") and call.function in ("sum", "avg", "min", "max") and len(values):
            return _of_numbers(call.function, values, group, counts)
        order = np.argsort(group, kind="stable")
        every, ends = values.take(order).values(), np.cumsum(counts).tolist()
        fractions = pairs.columns["f"].take(order).values() if call.fraction is not None else []
        parts = [slice(begin, end) for begin, end in zip([0, *ends[:-1]], ends, strict=True)]
        if call.function == "collect":
            return objects([every[part] for part in parts])
        return column([_of_list(call.function, every[part], fractions[part]) for part in parts])


def _argument(call: Call) -> str:
    return f"a:{call.name}"


def _fraction(call: Call) -> str:
    return f"f:{call.name}"


def _of_numbers(function: str, values: Col, group: Numbers, counts: Numbers) -> Col:
    missing = counts == 0
    null = missing if missing.any() else None
    if function in ("min", "max"):
        made = np.zeros(len(counts), values.data.dtype)
        order = np.argsort(values.data, kind="stable")
        # The last to be written stays: of ascending values the largest. NaN is last, as the largest number.
        order = order if function == "max" else order[::-1]
        made[group[order]] = values.data[order]
        return Col(values.kind, made, null)
    totals = np.bincount(group, values.data.astype(float), len(counts))
    if function == "avg":
        with np.errstate(invalid="ignore"):
            return Col("float", totals / counts, null)
    if values.kind == "float":
        return Col("float", totals)
    if np.abs(totals).max() < _EXACT:
        return Col("int", np.rint(totals).astype(np.int64))
    exact = [0] * len(counts)
    for place, value in zip(group.tolist(), values.data.tolist(), strict=True):
        exact[place] += value
    return column([whole(total) for total in exact])


def _of_list(function: str, values: list[Any], fractions: list[Any]) -> Any:  # Any: Cypher's values
    if function in ("min", "max"):
        return (min if function == "min" else max)(values, key=rank) if values else None
    for value in values:
        if not is_number(value):
            raise BadQuery(f"{function}() takes numbers and not {shown(value)}")
    if function == "sum":
        total = sum(values)
        return whole(total) if isinstance(total, int) else total
    if not values:
        return None
    return sum(values) / len(values) if function == "avg" else _percentile(function, sorted(values), fractions)


def _percentile(function: str, values: list[Any], fractions: list[Any]) -> Any:  # Any: numbers
    fraction = fractions[0]
    if not is_number(fraction) or not 0 <= fraction <= 1 or any(equal(fraction, one) is not True for one in fractions):
        raise BadQuery(f"{function}() takes one number from 0 to 1 as its second argument, not {shown(fraction)}")
    if function == "percentiledisc":
        return values[max(math.ceil(fraction * len(values)) - 1, 0)]
    place = fraction * (len(values) - 1)
    low = math.floor(place)
    high = min(low + 1, len(values) - 1)
    return float(values[low] + (values[high] - values[low]) * (place - low))
