"""Aggregations. Batches are reduced as they come if the functions allow it."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from orienteer.errors import BadQuery
from orienteer.query.budget import BATCH, Budget
from orienteer.query.columns import Batch, Col, Numbers, column, constant, marks, stacked
from orienteer.query.expressions import Expression
from orienteer.query.plan import Call, Grouped
from orienteer.query.values import is_number, rank, whole

_NUMBERS = ("int", "float")
_OF_NOTHING: dict[str, Any] = {"count": 0, "sum": 0, "collect": []}


class Groups:
    """The groups of one table: `add` each batch, projected to `items`, then take the `result`."""

    def __init__(self, table: Grouped, budget: Budget) -> None:
        self._calls, self._budget = table.calls, budget
        self._keys = [name for name, _ in table.keys]
        self.items: tuple[tuple[str, Expression], ...] = (
            *table.keys,
            *((_argument(call), call.argument) for call in table.calls if call.argument is not None),
            *((_fraction(call), call.fraction) for call in table.calls if call.fraction is not None),
        )
        """The expressions that are evaluated for each row, by name."""
        self._parts: list[Batch] = []
        self._size = 0
        self._is_counted = all(call.function == "count" and not call.distinct for call in table.calls)
        self._ignores_repeats = all(call.distinct or call.function in ("min", "max") for call in table.calls)

    def add(self, batch: Batch) -> None:
        """Add a batch. Raises `QueryStopped` if too many rows have to be held."""
        if not batch.size:
            return
        self._parts.append(self._reduced(batch))
        self._size += self._parts[-1].size
        if self._size > 4 * BATCH and (self._is_counted or self._ignores_repeats):
            self._parts = [self._reduced(stacked(self._parts))]
            self._size = self._parts[0].size
        self._budget.hold(self._size)

    def _reduced(self, batch: Batch) -> Batch:
        if self._is_counted:
            return self._counted(batch)
        return batch.once(list(batch.columns)) if self._ignores_repeats else batch

    def _counted(self, batch: Batch) -> Batch:
        """Return a row for each group with its counts, of rows or of such rows."""
        first, group, names = self._grouped(batch)
        made = {}
        for call in self._calls:
            weights: Any = None  # Any: an array of counts, or a mask
            if call.name in batch.columns:
                weights = batch.columns[call.name].data
            elif call.argument is not None:
                weights = ~batch.columns[_argument(call)].nulls
            counts = np.bincount(group, weights=weights, minlength=len(first))
            made[call.name] = Col("int", counts.astype(np.int64))
        return Batch(len(first), {**batch.take(first).only(names).columns, **made})

    def _grouped(self, batch: Batch) -> tuple[Numbers, Numbers, list[str]]:
        """Return the first row of each group, (groups,), the group of each row, (n,), and the names of the keys."""
        names = [*marks(batch), *self._keys]
        first, group = batch.groups(names) if names else (np.zeros(1, np.int64), np.zeros(batch.size, np.int64))
        return first, group, names

    def result(self, given: Batch) -> Batch:
        """Return a row for each group; without keys one for each row of the table outside, `given`."""
        outside = marks(given)
        found = self._found(outside)
        if self._keys or not outside:
            return found
        missing = np.ones(given.size, np.bool_)
        if found.size:
            missing[found.columns[outside[-1]].data] = False
        rest = given.only(outside).take(missing)
        rest = rest.beside({call.name: constant(_OF_NOTHING.get(call.function), rest.size) for call in self._calls})
        return stacked([part for part in (found, rest) if part.size] or [found])

    def _found(self, outside: Sequence[str]) -> Batch:
        if self._parts:
            batch = stacked(self._parts)
            if self._is_counted:
                return self._counted(batch)
            first, group, names = self._grouped(batch)
            made = {call.name: self._called(call, batch, first, group) for call in self._calls}
            return Batch(len(first), {**batch.take(first).only(names).columns, **made})
        if self._keys or outside:
            names = [*outside, *self._keys, *(call.name for call in self._calls)]
            return Batch(0, {name: column([]) for name in names})
        return Batch(1, {call.name: constant(_OF_NOTHING.get(call.function), 1) for call in self._calls})

    def _called(self, call: Call, batch: Batch, first: Numbers, group: Numbers) -> Col:
        """Return the value of an aggregation for each group: (groups,)."""
        if call.argument is None:
            return Col("int", np.bincount(group, minlength=len(first)))
        pairs = Batch(batch.size, {"group": Col("int", group), "value": batch.columns[_argument(call)]})
        pairs = pairs.take(~pairs.columns["value"].nulls)
        if call.distinct:
            pairs = pairs.once(["group", "value"])
        group, values = pairs.columns["group"].data, pairs.columns["value"]
        counts = np.bincount(group, minlength=len(first))
        if call.function == "count":
            return Col("int", counts)
        if values.kind in _NUMBERS and call.function in ("sum", "avg", "min", "max") and len(values):
            return _of_numbers(call.function, values, group, counts)
        order = np.argsort(group, kind="stable")
        every, ends = values.take(order).values(), np.cumsum(counts).tolist()
        self._budget.hold(len(every), 8 * len(every))
        lists = [every[begin:end] for begin, end in zip([0, *ends[:-1]], ends, strict=True)]
        if call.fraction is not None:
            fractions = batch.columns[_fraction(call)].take(first).values()
            return column(
                [_percentile(call.function, part, fraction) for part, fraction in zip(lists, fractions, strict=True)]
            )
        return column([_of_list(call.function, part) for part in lists])


def _argument(call: Call) -> str:
    return f"{call.name} of"


def _fraction(call: Call) -> str:
    return f"{call.name} at"


def _of_numbers(function: str, values: Col, group: Numbers, counts: Numbers) -> Col:
    """Return an aggregation of numbers for each group; `group` and `values` are (n,), `counts` is (groups,)."""
    missing = counts == 0
    null = missing if missing.any() else None
    if function in ("min", "max"):
        order = np.lexsort((values.data, group))  # NaN is the largest
        ends = np.cumsum(counts)
        place = ends - counts if function == "min" else ends - 1
        return Col(values.kind, values.data[order[np.clip(place, 0, len(order) - 1)]], null)
    totals = np.bincount(group, weights=values.data.astype(float), minlength=len(counts))
    if function == "avg":
        with np.errstate(invalid="ignore"):
            return Col("float", totals / counts, null)
    if values.kind == "float":
        return (
            Col("float", totals)
            if null is None
            else column([float(t) if n else 0 for t, n in zip(totals, counts, strict=True)])
        )
    if np.bincount(group, weights=np.abs(values.data.astype(float)), minlength=len(counts)).max() < 2**53:
        return Col("int", np.rint(totals).astype(np.int64))
    exact = [0] * len(counts)
    for place, value in zip(group.tolist(), values.data.tolist(), strict=True):
        exact[place] += value
    return column([whole(total) for total in exact])


def _of_list(function: str, values: list[Any]) -> Any:  # Any: Cypher's values
    """Return an aggregation of the values of one group, of which none is null. Raises `BadQuery`."""
    if function == "collect":
        return values
    if function in ("min", "max"):
        return (min if function == "min" else max)(values, key=rank) if values else None
    if not all(map(is_number, values)):
        raise BadQuery(f"{function}() takes numbers: leave other values out by WHERE")
    if function == "sum":
        total = sum(values)
        return whole(total) if isinstance(total, int) else total
    return sum(values) / len(values) if values else None


def _percentile(function: str, values: list[Any], fraction: Any) -> Any:  # Any: Cypher's values
    """Return a percentile: `percentilecont` between two values, `percentiledisc` one of them. Raises `BadQuery`."""
    if not is_number(fraction) or not 0 <= fraction <= 1 or not all(map(is_number, values)):
        raise BadQuery(f"{function}() takes numbers, and a percentile from 0 to 1, as in 0.9")
    if not values:
        return None
    values = sorted(values)
    if function == "percentiledisc":
        return values[max(math.ceil(fraction * len(values)) - 1, 0)]
    place = fraction * (len(values) - 1)
    low = math.floor(place)
    high = min(low + 1, len(values) - 1)
    return values[low] + (values[high] - values[low]) * (place - low)
