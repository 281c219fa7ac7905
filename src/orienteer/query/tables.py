"""Tables, executed batch by batch through generators: no more rows are held than one step makes of one batch."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import fields, is_dataclass
from functools import lru_cache
from typing import Any

import numpy as np

from orienteer.query import plan
from orienteer.query.budget import BATCH, Budget
from orienteer.query.columns import Batch, Col, Numbers, column, constant, objects, stacked
from orienteer.query.evaluate import Evaluator, Matcher
from orienteer.query.expressions import Expression, Variable
from orienteer.query.groups import Groups
from orienteer.query.match import Pattern
from orienteer.query.sets import Sets
from orienteer.query.store import Store
from orienteer.query.values import rank
from orienteer.records import JsonValue

_ONE_ROW = Batch(1, {})


class Tables:
    """Executes the tables of one query."""

    def __init__(
        self,
        store: Store,
        budget: Budget,
        parameters: Mapping[str, JsonValue] | None = None,
        *,
        matches: Matcher | None = None,
        view: Mapping[str, Any] | None = None,
    ) -> None:
        """Execute over a store; see `Evaluator` for the rest."""
        self.store, self.budget = store, budget
        self.evaluator = Evaluator(store, parameters or {}, budget, matches, view or {})
        self.sets = Sets(store, budget, self._column, self._meeting)
        self.evaluator.tables, self.evaluator.sets = self, self.sets
        self._depth = 0

    def batches(self, table: plan.Table, given: Batch = _ONE_ROW) -> Iterator[Batch]:  # noqa: C901 (a case for each)
        """Yield the rows of a table, batch by batch. `given` are the rows of the table outside."""
        match table:
            case plan.Unit():
                yield given
            case plan.Match(source=source):
                for batch in self.batches(source, given):
                    yield from Pattern(self.sets, self.evaluator, table, batch).ways()
            case plan.Filtered(source=source, condition=condition):
                for batch in self.batches(source, given):
                    yield batch.take(self.evaluator.true(condition, batch)) if batch.size else batch
            case plan.Optionally(source=source):
                for batch in self.batches(source, given):
                    yield from self._optionally(table, batch)
            case plan.Unwound(source=source):
                for batch in self.batches(source, given):
                    yield from self._unwound(table, batch)
            case plan.Projected(source=source, items=items, keeps=keeps):
                for batch in self.batches(source, given):
                    yield self._projected(batch, items, keeps=keeps)
            case plan.Distinct(source=source, names=names):
                yield self._once(self.batches(source, given), names)
            case plan.Grouped(source=source):
                groups = Groups(table, _marks(given), self.budget)
                for batch in self.batches(source, given):
                    groups.add(self._projected(batch, groups.items))
                yield groups.result()
            case plan.Sorted(source=source):
                yield self._sorted(table, self.batches(source, given))
            case plan.Paged(source=source, skip=skip, limit=limit):
                if _marks(given):
                    yield self._paged_each(self.batches(source, given), skip, limit)
                else:
                    yield from _paged(self.batches(source, given), skip, limit)
            case plan.United(parts=parts):
                for part in parts:
                    yield from self.batches(part, given)

    def _projected(self, batch: Batch, items: Iterable[tuple[str, Expression]], *, keeps: bool = False) -> Batch:
        """Return the values of some expressions. The marks of rows outside stay."""
        made = {name: self.evaluator.column(expression, batch) for name, expression in items}
        kept = batch.columns if keeps else {name: batch.columns[name] for name in _marks(batch)}
        return Batch(batch.size, {**kept, **made})

    def _held(self, batches: Iterable[Batch]) -> Batch:
        parts, size = list[Batch](), 0
        for batch in batches:
            parts.append(batch)
            size += batch.size
            self.budget.hold(size)
        return _joined(parts)

    def _once(self, batches: Iterable[Batch], names: tuple[str, ...]) -> Batch:
        parts, size, every = list[Batch](), 0, list(names)
        for batch in batches:
            every = [*names, *_marks(batch)]
            parts.append(batch.once(every) if batch.size else batch)
            size += parts[-1].size
            if size > 4 * BATCH:
                parts = [_joined(parts).once(every)]
                size = parts[0].size
            self.budget.hold(size)
        found = _joined(parts)
        return found.once(every) if found.size else found

    def _unwound(self, table: plan.Unwound, batch: Batch) -> Iterator[Batch]:
        values = self.evaluator.column(table.items, batch).values()
        # A single value is a list of itself, and null an empty list.
        lists = [[] if value is None else value if isinstance(value, list) else [value] for value in values]
        sizes = np.fromiter(map(len, lists), np.int64, batch.size)
        self.budget.walk(int(sizes.sum()))
        ends = np.cumsum(sizes)
        low = 0
        while low < batch.size:
            before = int(ends[low - 1]) if low else 0
            high = max(int(np.searchsorted(ends, before + BATCH, "right")), low + 1)
            items = [item for some in lists[low:high] for item in some]
            yield batch.take(np.repeat(np.arange(low, high), sizes[low:high])).beside({table.name: column(items)})
            self.budget.check()
            low = high

    # Tables inside of a table: each row outside has a mark, and what comes out says whose row it is.

    def _inside(self, batch: Batch, table: plan.Table) -> tuple[str, Batch]:
        """Return the name of the marks, and what an inner table is given: the columns that it reads, with marks."""
        self._depth += 1
        mark = f"#{self._depth}"
        read = mentioned(table)
        given = batch.only(name for name in batch.columns if name in read or name.startswith("#"))
        return mark, given.beside({mark: Col("int", np.arange(batch.size))})

    def _optionally(self, table: plan.Optionally, batch: Batch) -> Iterator[Batch]:
        mark, given = self._inside(batch, table.inner)
        parts = [part for part in self.batches(table.inner, given) if part.size] if batch.size else []
        missing = np.ones(batch.size, np.bool_)
        added: dict[str, Col] = {}
        if parts:
            found = stacked(parts)
            self.budget.hold(found.size)
            at = found.columns[mark].data
            missing[at] = False
            added = {name: found.columns[name] for name in table.names}
            yield batch.take(at).beside(added)
        rest = batch.take(missing)
        yield rest.beside({name: _nulls(added.get(name), rest.size) for name in table.names})

    def inner(self, expression: plan.Inner, batch: Batch) -> Col:
        """Return whether an inner table has rows for each row, how many, or a list of a value of them: (rows,)."""
        mark, given = self._inside(batch, expression.table)
        counts = np.zeros(batch.size, np.int64)
        lists: list[list[Any]] = [[] for _ in range(batch.size if expression.kind == "list" else 0)]
        for part in self.batches(expression.table, given) if batch.size else ():
            if not part.size:
                continue
            at = part.columns[mark].data
            counts += np.bincount(at, minlength=batch.size)
            if expression.value is not None:
                values = self.evaluator.column(expression.value, part).values()
                for place, value in zip(at.tolist(), values, strict=True):
                    lists[place].append(value)
                self.budget.hold(int(counts.sum()))
            if expression.kind == "exists" and counts.all():
                break
        if expression.kind == "list":
            return objects(lists)
        return Col("bool", counts > 0) if expression.kind == "exists" else Col("int", counts)

    # Order, and what sets need of tables.

    def _sorted(self, table: plan.Sorted, batches: Iterable[Batch]) -> Batch:
        """Return rows in order; of many, those in front are all that is held."""
        parts, size = list[Batch](), 0
        for batch in batches:
            parts.append(batch)
            size += batch.size
            if table.first is not None and size > 4 * BATCH + table.first:
                parts = [self._ordered(table, _joined(parts))]
                size = parts[0].size
            self.budget.hold(size)
        return self._ordered(table, _joined(parts))

    def _ordered(self, table: plan.Sorted, batch: Batch) -> Batch:
        if not batch.size:
            return batch
        keys = []
        for expression, descends in table.keys:
            codes = _ranks(self.evaluator.column(expression, batch))
            keys.append(-codes if descends else codes)
        order = np.lexsort(keys[::-1])
        # In an inner table each row outside has an order of its own: there all are kept.
        return batch.take(order if table.first is None or _marks(batch) else order[: table.first])

    def _paged_each(self, batches: Iterable[Batch], skip: int, limit: int | None) -> Batch:
        """Return the page of each row outside."""
        batch = self._held(batches)
        if not batch.size:
            return batch
        marks = _marks(batch)
        _, group = batch.groups([marks[-1]])
        order = np.argsort(group, kind="stable")
        starts = np.flatnonzero(np.diff(group[order], prepend=-1))
        place = np.arange(batch.size) - np.repeat(starts, np.diff([*starts, batch.size]))
        keep = (place >= skip) if limit is None else (place >= skip) & (place < skip + limit)
        return batch.take(np.sort(order[keep]))

    def _column(self, nodes: plan.Column) -> Numbers:
        mask = np.zeros(self.store.size, np.bool_)
        for batch in self.batches(nodes.table):
            if batch.size:
                rows = batch.columns[nodes.name].data
                mask[rows[rows >= 0]] = True
        return np.flatnonzero(mask)

    def _meeting(self, nodes: plan.Meeting, rows: Numbers) -> Numbers:
        kept = [rows[:0]]
        for low in range(0, len(rows), BATCH):
            part = rows[low : low + BATCH]
            kept.append(part[self.evaluator.true(nodes.condition, Batch(len(part), {nodes.name: Col("node", part)}))])
        return np.concatenate(kept)


@lru_cache(maxsize=4096)
def mentioned(tree: Any) -> frozenset[str]:  # Any: a table, an expression, or a part of one
    """Return every name that a table or an expression mentions, whatever for."""
    if isinstance(tree, str):
        return frozenset([tree])
    if isinstance(tree, Variable):
        return frozenset([tree.name])
    if isinstance(tree, tuple | frozenset):
        return frozenset[str]().union(*map(mentioned, tree))
    if is_dataclass(tree):
        return frozenset[str]().union(*(mentioned(getattr(tree, field.name)) for field in fields(tree)))
    return frozenset()


def _marks(batch: Batch) -> list[str]:
    return [name for name in batch.columns if name.startswith("#")]


def _joined(parts: list[Batch]) -> Batch:
    filled = [part for part in parts if part.size] or parts[:1]
    return stacked(filled) if filled else Batch(0, {})


def _nulls(like: Col | None, size: int) -> Col:
    if like is not None and like.kind in ("node", "edge"):
        return Col(like.kind, np.full(size, -1, np.int64))
    if like is not None and like.kind == "trail":
        return Col("trail", np.full((size, 1), -2, np.int64))
    return constant(None, size)


def _ranks(values: Col) -> Numbers:
    """Return whole numbers, (rows,), in the order of values; nulls are last."""
    if values.kind in ("int", "float", "bool"):
        # NaN is the largest number.
        unique, codes = np.unique(values.data, return_inverse=True)
        return np.where(values.nulls, len(unique), codes)
    items = values.values()
    if all(item is None or isinstance(item, str) for item in items):
        texts = {text: place for place, text in enumerate(sorted({item for item in items if item is not None}))}
        return np.fromiter((len(texts) if item is None else texts[item] for item in items), np.int64, len(items))
    keys = [rank(item) for item in items]
    places = {repr(key): place for place, key in enumerate(sorted(keys))}
    return np.fromiter((places[repr(key)] for key in keys), np.int64, len(keys))


def _paged(batches: Iterable[Batch], skip: int, limit: int | None) -> Iterator[Batch]:
    left = limit
    for batch in batches:
        if skip:
            dropped = min(skip, batch.size)
            batch, skip = batch.take(np.arange(dropped, batch.size)), skip - dropped
        if left is not None and batch.size >= left:
            yield batch.take(np.arange(left))
            return
        left = None if left is None else left - batch.size
        yield batch
