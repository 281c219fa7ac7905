"""Columns of a table, and batches of rows."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal, NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray

from orienteer.query.budget import BATCH, Budget

ColumnKind: TypeAlias = Literal["node", "edge", "trail", "int", "float", "bool", "any"]
Numbers = NDArray[np.int64]
MARK = "#"
HELD = 4 * BATCH  # rows that are held before those that are not needed are dropped
_FITS = 1 << 62  # codes of pairs stay below this, inside 64 bits


class NodeRef(NamedTuple):
    """A node as a value."""

    row: int


class EdgeRef(NamedTuple):
    """An edge as a value: the place in the adjacency arrays where it goes out."""

    at: int


class Path(NamedTuple):
    """A path as a value: nodes, and the edges between them."""

    nodes: tuple[NodeRef, ...]
    edges: tuple[EdgeRef, ...]


@dataclass(frozen=True, slots=True)
class Col:
    """A column of n rows.

    `node` and `edge` have rows and places, (n,) int64, -1 for null. `trail` has the edges of walks, (n, longest), -1
    after the last edge, -2 in front for null. `int`, `float` and `bool` have numbers, and a mask of nulls. `any` has
    Python's values, None for null.
    """

    kind: ColumnKind
    data: NDArray[Any]  # Any: each kind has its own type
    null: NDArray[np.bool_] | None = None
    coded: tuple[Numbers, int] | None = None
    """The result of `codes`, if it is known."""

    def __len__(self) -> int:
        return len(self.data)

    def take(self, at: Any) -> Col:  # Any: an array of places, a mask, a slice
        """Return some rows."""
        coded = None if self.coded is None else (self.coded[0][at], self.coded[1])
        return Col(self.kind, self.data[at], None if self.null is None else self.null[at], coded)

    @property
    def is_constant(self) -> bool:
        """Whether the column is one value, repeated."""
        return bool(len(self.data)) and self.data.strides[0] == 0

    @property
    def nulls(self) -> NDArray[np.bool_]:
        """The mask of nulls: (n,)."""
        if self.kind in ("node", "edge"):
            return self.data < 0
        if self.kind == "trail":
            return self.data[:, 0] == -2 if self.data.shape[1] else np.zeros(len(self.data), np.bool_)
        if self.kind == "any":
            return np.fromiter((value is None for value in self.data), np.bool_, len(self.data))
        return np.zeros(len(self.data), np.bool_) if self.null is None else self.null

    def values(self) -> list[Any]:  # Any: Cypher's values
        """Return the rows as Python's values: nodes and edges as references, a walk as a list."""
        if self.kind == "node":
            return [None if row < 0 else NodeRef(row) for row in self.data.tolist()]
        if self.kind == "edge":
            return [None if at < 0 else EdgeRef(at) for at in self.data.tolist()]
        if self.kind == "trail":
            return [
                None if trail and trail[0] == -2 else [EdgeRef(at) for at in trail if at >= 0]
                for trail in self.data.tolist()
            ]
        values: list[Any] = self.data.tolist()
        if self.null is not None and self.null.any():
            values = [None if missing else value for value, missing in zip(values, self.null.tolist(), strict=True)]
        return values

    def codes(self) -> tuple[Numbers, int]:
        """Return whole numbers, (n,), equal for equal values and for nulls, and their bound."""
        if self.coded is not None:
            return self.coded
        if self.kind in ("node", "edge"):
            return self.data.astype(np.int64) + 1, int(self.data.max(initial=-1)) + 2
        if self.kind == "trail":
            codes, bound = np.zeros(len(self.data), np.int64), 1
            for column in self.data.T:
                codes, bound = pair_codes(codes, bound, column + 2, int(column.max(initial=0)) + 3)
            return codes, bound
        if self.kind == "any":
            known: dict[Any, int] = {}
            numbers = (known.setdefault(key_of(value), len(known)) for value in self.data)
            return np.fromiter(numbers, np.int64, len(self.data)), max(len(known), 1)
        data = self.data.astype(np.int64) if self.kind == "bool" else self.data
        if self.kind != "float" and self.null is None and len(data):
            low, high = int(data.min()), int(data.max())
            if high - low < 1 << 40:  # subtracting beats sorting
                return data - low, high - low + 1
        unique, codes = np.unique(data, return_inverse=True)
        if self.null is not None:
            codes = np.where(self.null, len(unique), codes)
        return codes, len(unique) + 1


def key_of(value: Any) -> Any:  # Any: Cypher's values
    """Return a hashable key of a value: 1 and 1.0 are equal, true and 1 are not, NaN equals itself."""
    if isinstance(value, bool):
        return (bool, value)
    if isinstance(value, float) and value != value:
        return (float, "NaN")
    if isinstance(value, list):
        return ("list", *map(key_of, value))
    if isinstance(value, dict):
        return ("map", *((key, key_of(item)) for key, item in sorted(value.items())))
    if isinstance(value, NodeRef | EdgeRef | Path):
        return (type(value), *value)
    return value


def pair_codes(codes: Numbers, bound: int, more: Numbers, more_bound: int) -> tuple[Numbers, int]:
    """Return codes, (n,), of pairs of codes, and their bound."""
    if bound * more_bound >= _FITS:
        unique, codes = np.unique(codes, return_inverse=True)
        bound = len(unique)
        if bound * more_bound >= _FITS:
            unique, more = np.unique(more, return_inverse=True)
            more_bound = len(unique)
    return codes * more_bound + more, bound * more_bound


def groups_of(codes: Numbers, bound: int) -> tuple[Numbers, Numbers]:
    """Return the first place of each code, (groups,) by ascending code, and the group of each place, (n,)."""
    if bound > 8 * len(codes) + 1024:
        _, first, group = np.unique(codes, return_index=True, return_inverse=True)
        return first, group
    # Marking beats sorting. From the end, so that the first place is the one that stays.
    place = np.full(bound, -1, np.int64)
    place[codes[::-1]] = np.arange(len(codes) - 1, -1, -1)
    there = np.flatnonzero(place >= 0)
    first = place[there]
    place[there] = np.arange(len(there))
    return first, place[codes]


def constant(value: Any, size: int) -> Col:  # Any: Cypher's values
    """Return a column of one value, which costs no memory."""
    if isinstance(value, bool):
        return Col("bool", np.broadcast_to(np.bool_(value), size))
    if isinstance(value, int) and -(2**63) <= value < 2**63:
        return Col("int", np.broadcast_to(np.int64(value), size))
    if isinstance(value, float):
        return Col("float", np.broadcast_to(np.float64(value), size))
    one = np.empty((), object)
    one[()] = value
    return Col("any", np.broadcast_to(one, size))


def objects(values: Sequence[Any]) -> Col:  # Any: Cypher's values
    """Return a column of values as they are."""
    data = np.empty(len(values), object)
    for place, value in enumerate(values):  # numpy would take lists of one length for a matrix
        data[place] = value
    return Col("any", data)


def column(values: Sequence[Any]) -> Col:  # Any: Cypher's values
    """Return a column of values, of the narrowest kind that holds them."""
    kinds = {type(value) for value in values}
    null = None
    if type(None) in kinds:
        kinds.discard(type(None))
        null = np.fromiter((value is None for value in values), np.bool_, len(values))
    if kinds == {NodeRef}:
        return Col("node", np.array([-1 if value is None else value.row for value in values], np.int64))
    if kinds == {EdgeRef}:
        return Col("edge", np.array([-1 if value is None else value.at for value in values], np.int64))
    if kinds == {bool}:
        return Col("bool", np.array([value is True for value in values], np.bool_), null)
    if kinds == {int} and all(value is None or -(2**63) <= value < 2**63 for value in values):
        return Col("int", np.array([value or 0 for value in values], np.int64), null)
    if kinds == {float}:
        return Col("float", np.array([value or 0.0 for value in values]), null)
    return objects(values)


def joined(columns: Sequence[Col]) -> Col:
    """Return the rows of several columns, one after another."""
    kinds = {part.kind for part in columns}
    if len(kinds) > 1:
        return column([value for part in columns for value in part.values()])
    kind = columns[0].kind
    if kind == "trail":
        wide = max(part.data.shape[1] for part in columns)
        widened = (np.pad(part.data, ((0, 0), (0, wide - part.data.shape[1])), constant_values=-1) for part in columns)
        return Col(kind, np.concatenate(list(widened)))
    null = None
    if any(part.null is not None for part in columns):
        null = np.concatenate([part.nulls for part in columns])
    return Col(kind, np.concatenate([part.data for part in columns]), null)


def runs(sizes: Numbers) -> Iterator[tuple[int, int]]:
    """Yield the bounds of runs of lists of these sizes, (n,): runs of a batch of items in all, or of a single list."""
    ends, low = np.cumsum(sizes), 0
    while low < len(sizes):
        before = int(ends[low - 1]) if low else 0
        high = max(int(np.searchsorted(ends, before + BATCH, "right")), low + 1)
        yield low, high
        low = high


class Batch(NamedTuple):
    """Rows that are held at once: columns by name.

    A name that begins with `MARK` is no variable: it has the number of the row outside, for a table inside a table.
    """

    size: int
    columns: Mapping[str, Col]

    def take(self, at: Any) -> Batch:  # Any: an array of places, or a mask
        """Return some rows."""
        size = int(np.count_nonzero(at)) if getattr(at, "dtype", None) == np.bool_ else len(at)
        return Batch(size, {name: part.take(at) for name, part in self.columns.items()})

    def only(self, names: Iterable[str]) -> Batch:
        """Return some columns; missing ones are left out."""
        return Batch(self.size, {name: self.columns[name] for name in names if name in self.columns})

    def beside(self, more: Mapping[str, Col]) -> Batch:
        """Return the rows with further columns."""
        return Batch(self.size, {**self.columns, **more})

    def groups(self, names: Iterable[str]) -> tuple[Numbers, Numbers]:
        """Return the first row of each group of rows that are equal in these columns, and each row's group."""
        codes, bound = np.zeros(self.size, np.int64), 1
        for name in names:
            codes, bound = pair_codes(codes, bound, *self.columns[name].codes())
        return groups_of(codes, bound)

    def once(self, names: Sequence[str]) -> Batch:
        """Return the first of the rows that are equal in these columns, in order."""
        if self.size < 2:
            return self
        if not names:
            return self.take(np.array([0]))
        first, _ = self.groups(names)
        return self if len(first) == self.size else self.take(np.sort(first))


def stacked(batches: Sequence[Batch]) -> Batch:
    """Return the rows of several batches with the same columns, one batch after another."""
    if len(batches) == 1:
        return batches[0]
    names = batches[0].columns
    return Batch(
        sum(batch.size for batch in batches),
        {name: joined([batch.columns[name] for batch in batches]) for name in names},
    )


def gathered(
    batches: Iterable[Batch], budget: Budget, fewer: Callable[[Batch], Batch] | None = None, most: int = HELD
) -> Batch:
    """Return the rows of batches as one; `fewer` drops those that are not needed when more than `most` are held."""
    parts, size = list[Batch](), 0
    for batch in batches:
        if batch.size:
            parts.append(batch)
            size += batch.size
            if fewer is not None and size > most:
                parts = [fewer(stacked(parts))]
                size = parts[0].size
            budget.hold(size)
    return stacked(parts) if parts else Batch(0, {})


def marks(batch: Batch) -> list[str]:
    """Return the names of the columns that say which row outside a row belongs to."""
    return [name for name in batch.columns if name.startswith(MARK)]
