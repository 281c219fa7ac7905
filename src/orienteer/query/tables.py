"""Tables, executed batch by batch: a step holds no more rows than one batch makes, and pays before it makes them."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace
from functools import lru_cache, partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from orienteer.elements import JsonValue
from orienteer.query import plan
from orienteer.query.budget import BATCH, Budget
from orienteer.query.columns import HELD, MARK, Batch, Col, Numbers, column, gathered, marks, runs
from orienteer.query.evaluate import Evaluator, Shown
from orienteer.query.expressions import Expression, Variable, children
from orienteer.query.groups import Groups
from orienteer.query.match import Pattern
from orienteer.query.plan import Hop, NodeSet, Table
from orienteer.query.sets import Sets, turned
from orienteer.query.store import Store
from orienteer.query.values import rank

_ONE_ROW = Batch(1, {})


class Tables:
    """Executes the tables of one query."""

    def __init__(
        self,
        store: Store,
        budget: Budget,
        parameters: Mapping[str, JsonValue] | None = None,
        shown: Shown | None = None,
    ) -> None:
        self.store, self.budget = store, budget
        self.sets = Sets(store, budget, self._bound, self._meeting)
        self.evaluator = Evaluator(store, budget, parameters or {}, self, shown)
        self._depth = 0

    def batches(  # noqa: C901 (a case for each kind of table)
        self, table: Table, given: Batch = _ONE_ROW
    ) -> Iterator[Batch]:
        """Yield the rows of a table, batch by batch; `given` are the rows of the table outside.

        Raises `BadQuery` for values that an expression does not take, and `QueryStopped`.
        """
        match table:
            case plan.Unit():
                yield given
            case plan.Distinct(source=source, names=names):
                yield self._once(self.batches(source, given), names)
            case plan.Grouped(source=source):
                groups = Groups(table, self.budget)
                by_degree = None if marks(given) else self._by_degree(table)
                for batch in self.batches(source, given) if by_degree is None else ():
                    groups.add(self._projected(batch, groups.items))
                if by_degree is not None:
                    groups.add(by_degree)
                yield groups.result(given)
            case plan.Sorted(source=source):
                # A page of the rows of each row outside may hold any of them.
                whole = replace(table, first=None) if marks(given) else table
                yield self._sorted(whole, self.batches(source, given))
            case plan.Paged(source=source, skip=skip, limit=limit):
                page = _paged_by_mark if marks(given) else _paged
                yield from page(self.batches(source, given), skip, limit, given)
            case plan.United(parts=parts):
                for part in parts:
                    yield from self.batches(part, given)
            case _:
                for batch in self.batches(table.source, given):
                    if batch.size:
                        yield from self._each(table, batch)

    def _each(
        self, table: plan.Match | plan.Filtered | plan.Optionally | plan.Unwound | plan.Projected, batch: Batch
    ) -> Iterator[Batch]:
        """Yield the rows that a table makes of one batch of its source."""
        match table:
            case plan.Match():
                yield from Pattern(self.sets, self.evaluator, table, batch).rows()
            case plan.Filtered(condition=condition):
                yield batch.take(self.evaluator.true(condition, batch))
            case plan.Optionally():
                yield from self._optionally(table, batch)
            case plan.Unwound():
                yield from self._unwound(table, batch)
            case plan.Projected(items=items, keeps=keeps):
                yield self._projected(batch, items, keeps=keeps)

    def _projected(self, batch: Batch, items: Iterable[tuple[str, Expression]], *, keeps: bool = False) -> Batch:
        """Return the values of some expressions; the marks of rows outside stay."""
        made = {name: self.evaluator.column(expression, batch) for name, expression in items}
        kept = batch.columns if keeps else batch.only(marks(batch)).columns
        return Batch(batch.size, {**kept, **made})

    def _by_degree(self, table: plan.Grouped) -> Batch | None:
        """Return the keys of groups with their counts, if one step is counted whose far end no key reads; else None.

        `MATCH (a:Anatomy)-[:expresses]->(g) RETURN a.name, count(g)` then makes no row for an edge.
        """
        match = table.source
        if not isinstance(match, plan.Match) or match.source != plan.Unit() or len(match.steps) != 1:
            return None
        [step], nodes = match.steps, dict(match.nodes)
        is_plain = not (step.is_long or step.shortest or step.ends or match.conditions or match.paths)
        bound = {Variable(name) for name in (step.start, step.end, step.edge)}
        counts_rows = all(
            call.function == "count" and not call.distinct and (call.argument is None or call.argument in bound)
            for call in table.calls
        )
        read = names_in(tuple(key for _, key in table.keys)) & {step.start, step.end, step.edge}
        near = next(iter(read), step.start)
        if not is_plain or not counts_rows or len(read) > 1 or near == step.edge or step.start == step.end:
            return None
        far, hop = (step.end, Hop(step.kinds)) if near == step.start else (step.start, turned(Hop(step.kinds)))
        rows = self.sets.rows(nodes[near])
        counts = self.sets.degrees(rows, hop, nodes[far])
        rows, counts = rows[counts > 0], counts[counts > 0]
        keys = self._projected(Batch(len(rows), {near: Col("node", rows)}), table.keys)
        return keys.beside({call.name: Col("int", counts) for call in table.calls})

    def _once(self, batches: Iterable[Batch], names: tuple[str, ...]) -> Batch:
        def once(batch: Batch) -> Batch:
            return batch.once([*names, *marks(batch)])

        return once(gathered(map(once, batches), self.budget, once))

    def _unwound(self, table: plan.Unwound, batch: Batch) -> Iterator[Batch]:
        values = self.evaluator.column(table.items, batch).values()
        lists = [[] if items is None else items if isinstance(items, list) else [items] for items in values]
        sizes = np.fromiter(map(len, lists), np.int64, batch.size)
        self.budget.walk(int(sizes.sum()), are_rows=True)
        for low, high in runs(sizes):
            self.budget.check()
            items = column([item for part in lists[low:high] for item in part])
            index = np.repeat(np.arange(low, high), sizes[low:high])
            yield batch.take(index).beside({table.name: items})

    # Tables inside a table.

    def _given(self, batch: Batch, table: Table) -> tuple[str, Batch]:
        """Return the rows that an inner table begins with: the columns that it reads, and a mark for each row."""
        self._depth += 1
        mark = f"{MARK}{self._depth}"
        read = names_in(table)
        given = batch.only(name for name in batch.columns if name in read or name.startswith(MARK))
        return mark, given.beside({mark: Col("int", np.arange(batch.size))})

    def _optionally(self, table: plan.Optionally, batch: Batch) -> Iterator[Batch]:
        mark, given = self._given(batch, table.inner)
        missing, like = np.ones(batch.size, np.bool_), dict[str, Col]()
        try:
            inner = gathered(self.batches(table.inner, given), self.budget)
        finally:
            self._depth -= 1
        if inner.size:
            order = np.argsort(inner.columns[mark].data, kind="stable")
            at = inner.columns[mark].data[order]
            missing[at] = False
            like = {name: inner.columns[name] for name in table.names}
            yield batch.take(at).beside({name: part.take(order) for name, part in like.items()})
        if missing.any():
            rest = batch.take(missing)
            yield rest.beside({name: _nulls(like.get(name), rest.size) for name in table.names})

    def inner(self, expression: plan.Inner, batch: Batch) -> Col:
        """Return whether an inner table has rows for each row, how many, or the list of a value of them."""
        mark, given = self._given(batch, expression.table)
        counts = np.zeros(batch.size, np.int64)
        lists: list[list[Any]] = [[] for _ in range(batch.size if expression.kind == "list" else 0)]
        held = 0
        try:
            for part in self.batches(expression.table, given) if batch.size else ():
                if not part.size:
                    continue
                at = part.columns[mark].data
                counts += np.bincount(at, minlength=batch.size)
                if expression.value is not None:
                    values = self.evaluator.column(expression.value, part).values()
                    held += 8 * part.size
                    self.budget.hold(batch.size, held)
                    for place, value in zip(at.tolist(), values, strict=True):
                        lists[place].append(value)
                if expression.kind == "exists" and counts.all():
                    break
        finally:
            self._depth -= 1
        if expression.kind == "list":
            return column(lists)
        return Col("bool", counts > 0) if expression.kind == "exists" else Col("int", counts)

    # Order.

    def _sorted(self, table: plan.Sorted, batches: Iterable[Batch]) -> Batch:
        """Return rows in order. If only the first are read, no more than these are held, and some batches."""
        fewer = None if table.first is None else partial(self._ordered, table)
        held = gathered(batches, self.budget, fewer, HELD + (table.first or 0))
        return self._ordered(table, held) if held.size else held

    def _ordered(self, table: plan.Sorted, batch: Batch) -> Batch:
        keys = list[Numbers]()
        for expression, descends in table.keys:
            codes = _ranks(self.evaluator.column(expression, batch))
            keys.append(-codes if descends else codes)
            if len(keys) == 1 and table.first and batch.size > 2 * table.first:
                # What comes after the last row by the first key alone is never read, nor are its other keys.
                near = np.flatnonzero(keys[0] <= np.partition(keys[0], table.first - 1)[table.first - 1])
                batch, keys = batch.take(near), [keys[0][near]]
        order = np.lexsort(keys[::-1])
        return batch.take(order if table.first is None else order[: table.first])

    # Sets that need tables.

    def mask(self, nodes: NodeSet) -> NDArray[np.bool_]:
        """Mark the nodes of a set: (nodes,)."""
        return self.sets.mask(nodes)

    def _bound(self, nodes: plan.Column) -> Numbers:
        """Return the nodes that a name is bound to in a table: (n,), ascending."""
        mask = np.zeros(self.store.size, np.bool_)
        for batch in self.batches(nodes.table):
            if batch.size:
                rows = batch.columns[nodes.name].data
                mask[rows[rows >= 0]] = True
        return np.flatnonzero(mask)

    def _meeting(self, nodes: plan.Meeting, rows: Numbers) -> Numbers:
        kept = []
        for low in range(0, len(rows), BATCH):
            part = rows[low : low + BATCH]
            kept.append(part[self.evaluator.true(nodes.condition, Batch(len(part), {nodes.name: Col("node", part)}))])
        return np.concatenate(kept) if kept else rows


@lru_cache(maxsize=4096)
def names_in(tree: Any) -> frozenset[str]:  # Any: a part of a plan
    """Return every text in a table or an expression: all names that it reads, and perhaps more."""
    if isinstance(tree, str):
        return frozenset([tree])
    return frozenset[str]().union(*map(names_in, tree if isinstance(tree, frozenset) else children(tree)))


def _nulls(like: Col | None, size: int) -> Col:
    """Return a column of nulls, of the kind of another if that can be."""
    if like is not None and like.kind in ("node", "edge"):
        return Col(like.kind, np.full(size, -1, np.int64))
    if like is not None and like.kind == "trail":
        return Col("trail", np.full((size, 1), -2, np.int64))
    return Col("any", np.full(size, None, object))


def _ranks(values: Col) -> Numbers:
    """Return whole numbers in the order of values, (n,), those of nulls last."""
    if values.kind in ("int", "float", "bool"):
        unique, codes = np.unique(values.data, return_inverse=True)
        return np.where(values.nulls, len(unique), codes)
    keys = [rank(value) for value in values.values()]
    order = sorted(range(len(keys)), key=keys.__getitem__)
    codes = np.zeros(len(keys), np.int64)
    for place, (before, at) in enumerate(zip(order, order[1:], strict=False)):
        codes[at] = codes[before] if keys[at] == keys[before] else place + 1
    return codes


def _paged_by_mark(batches: Iterable[Batch], skip: int, limit: int | None, given: Batch) -> Iterator[Batch]:
    """Yield a page of the rows of each row outside."""
    mark, seen = marks(given)[-1], np.zeros(given.size, np.int64)
    end = np.inf if limit is None else skip + limit
    for batch in batches:
        at = batch.columns[mark].data if batch.size else np.zeros(0, np.int64)
        order, counts = np.argsort(at, kind="stable"), np.bincount(at, minlength=given.size)
        place = np.zeros(batch.size, np.int64)
        place[order] = np.arange(batch.size) - np.repeat(np.cumsum(counts) - counts, counts)
        place += seen[at]
        seen += counts
        yield batch.take((place >= skip) & (place < end))
        if (seen >= end).all():
            return


def _paged(batches: Iterable[Batch], skip: int, limit: int | None, given: Batch) -> Iterator[Batch]:
    if limit == 0:
        return
    for batch in batches:
        dropped = min(skip, batch.size)
        skip -= dropped
        end = batch.size if limit is None else min(batch.size, dropped + limit)
        yield batch if not dropped and end == batch.size else batch.take(np.arange(dropped, end))
        if limit is not None:
            limit -= end - dropped
            if not limit:
                return
