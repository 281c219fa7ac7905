"""Which edges come and go: the rows of each type that changed are cleaned as they were and as they are."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray

from orienteer.graph.edges import EdgeTable, NodeNumbers, id_hashes
from orienteer.graph.store import Graph
from orienteer.ingest.tables import mirror
from orienteer.ingest.update.ledger import EdgeRows, Numbers, TypeCuts
from orienteer.ingest.update.node_changes import ImportWhole, NodeChange

_END = np.uint64(32)  # bits of an end in a key of both
_FEW = 64  # types whose rows are found one type after the other: sorting all rows takes longer
_SLICE = 1 << 16  # rows that are compared at once

Keys = NDArray[np.uint64]


def resolved(rows: EdgeRows, change: NodeChange, numbers: NodeNumbers, graph: Graph) -> EdgeRows:
    """Return the rows of a table that did not change with the nodes that its ends lead to now."""
    stays = np.append(change.stays, True)  # the last is for an end that is no node
    loses = np.flatnonzero(~(stays[rows.sources] & stays[rows.targets])) if len(change.gone) else np.zeros(0, np.int64)
    if not len(loses) and not (len(rows.stray) and change.nodes):
        return rows
    stray = np.union1d(rows.stray, loses)
    columns: list[Numbers] = []
    hashes: list[Keys] = []
    for ends, before in ((rows.sources, rows.stray_sources), (rows.targets, rows.stray_targets)):
        of_stray = np.zeros(len(stray), np.uint64)
        of_stray[np.searchsorted(stray, rows.stray)] = before
        is_new = ~np.isin(stray, rows.stray)
        ids = [graph.arrays.ids[row] for row in ends[stray[is_new]].tolist()]
        of_stray[is_new] = id_hashes(ids)
        column = np.array(ends)
        column[stray] = numbers.of_hashes(of_stray)
        columns.append(column)
        hashes.append(of_stray)
    sources, targets = columns
    still = np.flatnonzero((sources[stray] < 0) | (targets[stray] < 0))
    return replace(
        rows,
        sources=sources,
        targets=targets,
        stray=stray[still],
        stray_sources=hashes[0][still],
        stray_targets=hashes[1][still],
    )


@dataclass(frozen=True)
class _ByType:
    """The rows of a table by type."""

    rows: EdgeRows

    @cached_property
    def _order(self) -> NDArray[np.int64]:
        return np.argsort(self.rows.kinds, kind="stable")

    @cached_property
    def _ends(self) -> NDArray[np.int64]:
        return np.cumsum(np.bincount(self.rows.kinds, minlength=len(self.rows.types)))

    def of(self, name: str) -> NDArray[np.int64]:
        """Return the rows of a type, ascending."""
        if name not in self.rows.types:
            return np.zeros(0, np.int64)
        if len(self.rows.types) == 1:
            return np.arange(len(self.rows))
        kind = self.rows.types.index(name)
        if len(self.rows.types) <= _FEW:
            return np.flatnonzero(self.rows.kinds == kind)
        return self._order[self._ends[kind - 1] if kind else 0 : self._ends[kind]]


def types_between(before: EdgeRows, now: EdgeRows) -> set[str]:
    """Return the types of the rows of a table from the first to the last that differs: all others are as they were."""
    if before is now:
        return set()
    name_of = np.array([*before.types, *now.types], object)
    shared = {name: number for number, name in enumerate(dict.fromkeys(name_of.tolist()))}
    kinds = [np.array([shared[name] for name in rows.types], np.uint16)[rows.kinds] for rows in (before, now)]
    columns = [(before.sources, now.sources), (before.targets, now.targets), (kinds[0], kinds[1])]
    if before.extras is not None or now.extras is not None:
        columns.append((extras_of(before), extras_of(now)))
    parts = differing_part(columns)
    return {name for rows, part in zip((before, now), parts, strict=True) for name in _types_in(rows, part)}


def extras_of(rows: EdgeRows) -> Keys:
    """Return the hash of what each row carries: (rows,), 0 for nothing."""
    return np.zeros(len(rows), np.uint64) if rows.extras is None else rows.extras


def _types_in(rows: EdgeRows, part: slice) -> list[str]:
    return [rows.types[kind] for kind in np.flatnonzero(np.bincount(rows.kinds[part])).tolist()]


def differing_part(columns: Sequence[tuple[NDArray[Any], NDArray[Any]]]) -> tuple[slice, slice]:
    """Return the rows of each of two tables without those that are the same at the beginning and at the end.

    `columns` has each column of the one, (rows,), with that of the other.
    """
    sizes = [len(column) for column in columns[0]]
    head = min(_same(old, new) for old, new in columns)
    tail = min(_same(old[head:][::-1], new[head:][::-1]) for old, new in columns)
    return slice(head, sizes[0] - tail), slice(head, sizes[1] - tail)


def _same(one: NDArray[Any], other: NDArray[Any]) -> int:
    """Return how many values are the same at the beginning."""
    shorter = min(len(one), len(other))
    for low in range(0, shorter, _SLICE):
        high = min(low + _SLICE, shorter)
        differs = one[low:high] != other[low:high]
        if differs.any():
            return low + int(differs.argmax())
    return shorter


class _TypeRows(NamedTuple):
    """All rows of a type of edges, in the order of reading."""

    sources: Numbers
    targets: Numbers
    extras: Keys | None
    table: NDArray[np.int32]
    """(rows,): the place of the table that a row is of."""
    row: NDArray[np.int64]
    """(rows,): its place there."""

    def is_same(self, other: _TypeRows) -> bool:
        """Say whether the rows of another time join and carry the same."""
        if not np.array_equal(self.sources, other.sources) or not np.array_equal(self.targets, other.targets):
            return False
        if self.extras is None or other.extras is None:
            return self.extras is other.extras
        return np.array_equal(self.extras, other.extras)


def _type_rows(tables: Sequence[_ByType], name: str) -> _TypeRows:
    chosen = [table.of(name) for table in tables]
    parts = [(table.rows, rows) for table, rows in zip(tables, chosen, strict=True)]
    has_extras = any(table.extras is not None and table.extras[rows].any() for table, rows in parts)
    extras = [np.zeros(len(rows), np.uint64) if table.extras is None else table.extras[rows] for table, rows in parts]
    nothing = [np.zeros(0, np.int32)]
    return _TypeRows(
        np.concatenate([*nothing, *(table.sources[rows] for table, rows in parts)]),
        np.concatenate([*nothing, *(table.targets[rows] for table, rows in parts)]),
        np.concatenate(extras) if has_extras else None,
        np.repeat(np.arange(len(parts), dtype=np.int32), [len(rows) for rows in chosen]),
        np.concatenate([np.zeros(0, np.int64), *chosen]),
    )


def end_keys(sources: Numbers, targets: Numbers) -> Keys:
    """Return a number of both ends of each edge: (edges,)."""
    return np.asarray(sources.astype(np.uint64) << _END | targets.astype(np.uint64))


class _Clean(NamedTuple):
    """The rows of a type that are edges."""

    sources: Numbers
    targets: Numbers
    extras: Keys
    at: NDArray[np.int64]
    """(edges,): the place of each among all rows of the type."""
    cuts: TypeCuts
    is_symmetric: bool
    has_extras: bool

    def keys(self, rows: slice | NDArray[np.int64]) -> Keys:
        """Return a number of both ends of each of some edges: (rows,)."""
        return end_keys(self.sources[rows], self.targets[rows])

    def between(self, ends: Keys) -> NDArray[np.int64]:
        """Return the places of the edges whose numbers are among these, which ascend: (n,), ascending."""
        parts = (slice(low, low + _SLICE) for low in range(0, len(self.at), _SLICE))  # all keys at once are large
        return np.concatenate(
            [np.zeros(0, np.int64), *(part.start + np.flatnonzero(_are_among(self.keys(part), ends)) for part in parts)]
        )


@dataclass(frozen=True, slots=True)
class NodeTypes:
    """The type of each node by its number."""

    numbers: NDArray[np.uint16]
    names: Sequence[str]


def _cleaned(rows: _TypeRows, name: str, types: NodeTypes) -> _Clean:
    """Clean the rows of a type as an import does."""
    table = EdgeTable(len(rows.sources), has_extras=rows.extras is not None)
    table.source[:], table.target[:], table.type[:] = rows.sources, rows.targets, 0
    if rows.extras is not None:
        table.extra[:] = rows.extras
    table.keep[:] = True
    table.type_names, table.node_type, table.node_type_names = [name], types.numbers, list(types.names)
    out = mirror.leave_out(table)
    at = np.flatnonzero(table.keep)
    cuts = TypeCuts(len(out.dangling), len(out.duplicate), len(out.mirrored), out.differing)
    extras = table.extra[at] if rows.extras is not None else np.zeros(len(at), np.uint64)
    return _Clean(
        table.source[at], table.target[at], extras, at, cuts, name in table.symmetric, rows.extras is not None
    )


class TypeChange(NamedTuple):
    """What becomes of the edges of a type."""

    lost: Keys
    """Pairs of ends, the source before the target, all whose edges go."""
    sources: Numbers
    """(edges that come,), and so are the four below."""
    targets: Numbers
    extras: Keys
    table: NDArray[np.int32]
    """The place of the table whose row tells what the edge carries."""
    row: NDArray[np.int64]
    added: int
    """Edges that the graph did not have."""
    removed: int
    """Edges that it has no longer."""
    total: int
    """Edges of the type afterwards."""
    cuts: TypeCuts
    is_symmetric: bool


def _compared(before: _Clean, now: _Clean, rows: _TypeRows) -> TypeChange:
    """Compare the edges of a type: where any edge of two ends changed, all of them go, and come as they are now."""
    was, is_now = differing_part(
        [(before.sources, now.sources), (before.targets, now.targets), (before.extras, now.extras)]
    )
    edges = [KeyedEdges(part.keys(rows), part.extras[rows]) for part, rows in ((before, was), (now, is_now))]
    if not before.has_extras and not now.has_extras:
        gone, new = _not_shared(edges[0].keys, edges[1].keys)
        touched, removed, added = np.union1d(gone, new), len(gone), len(new)
    else:
        touched, removed, added = touched_ends(*edges)
    coming = now.between(touched)
    return TypeChange(
        np.unique(before.keys(before.between(touched))),
        now.sources[coming],
        now.targets[coming],
        now.extras[coming],
        rows.table[now.at[coming]],
        rows.row[now.at[coming]],
        added,
        removed,
        len(now.at),
        now.cuts,
        now.is_symmetric,
    )


class KeyedEdges(NamedTuple):
    """Edges of a type by a number of both ends, (edges,), and the hashes of what they carry, (edges,)."""

    keys: Keys
    extras: Keys


def _not_shared(one: Keys, other: Keys) -> tuple[Keys, Keys]:
    """Return the keys of each that the other lacks, ascending; none is there twice."""
    one, other = np.sort(one), np.sort(other)
    return one[~_are_among(one, other)], other[~_are_among(other, one)]


def touched_ends(before: KeyedEdges, now: KeyedEdges) -> tuple[Keys, int, int]:
    """Return the ends between which the edges differ, ascending, and how many edges went and came."""
    keys = np.concatenate([before.keys, now.keys])
    extras = np.concatenate([before.extras, now.extras])
    sign = np.repeat(np.array([-1, 1]), [len(before.keys), len(now.keys)])
    order = np.lexsort((extras, keys))
    keys, extras, sign = keys[order], extras[order], sign[order]
    first = np.flatnonzero(np.concatenate([[True], (keys[1:] != keys[:-1]) | (extras[1:] != extras[:-1])])[: len(keys)])
    change = np.add.reduceat(sign, first) if len(first) else sign
    touched = np.unique(keys[first[change != 0]])
    return touched, -int(change[change < 0].sum()), int(change[change > 0].sum())


def _are_among(keys: Keys, among: Keys) -> NDArray[np.bool_]:
    """Mark the keys that are among sorted ones: (keys,)."""
    if not len(among):
        return np.zeros(len(keys), np.bool_)
    at = np.minimum(np.searchsorted(among, keys), len(among) - 1)
    return np.asarray(among[at] == keys)


class EdgeComparison:
    """Compares the tables of edges of a graph as they were with those of today."""

    def __init__(
        self,
        before: Mapping[str, EdgeRows],
        now: Mapping[str, EdgeRows],
        types: NodeTypes,
        known: Mapping[str, TypeCuts],
        counts: Mapping[str, int],
    ) -> None:
        """Take what the graph has: cuts and edges by type. Tables are in the order in which they are read."""
        self._types, self._known, self._counts = types, known, counts
        by_type = {id(rows): _ByType(rows) for rows in (*before.values(), *now.values())}
        self._before = [by_type[id(rows)] for rows in before.values()]
        self._now = [by_type[id(rows)] for rows in now.values()]
        self._names = list(dict.fromkeys(name for rows in (*before.values(), *now.values()) for name in rows.types))
        if list(before) == list(now):
            may_differ = set[str]().union(*(types_between(rows, now[path]) for path, rows in before.items()))
            self._names = [name for name in self._names if name in may_differ]

    def changes(self) -> dict[str, TypeChange]:
        """Return the types whose rows changed, with what becomes of their edges. Raises `ImportWhole`."""
        return {name: change for name in self._names if (change := self._change(name)) is not None}

    def _change(self, name: str) -> TypeChange | None:
        before, now = ([table for table in tables if name in table.rows.types] for tables in (self._before, self._now))
        if len(before) == len(now) and all(one is other for one, other in zip(before, now, strict=True)):
            return None
        rows_before, rows_now = _type_rows(self._before, name), _type_rows(self._now, name)
        if rows_before.is_same(rows_now):
            return None
        clean = _cleaned(rows_before, name, self._types)
        if len(clean.at) != self._counts.get(name, 0) or clean.cuts != self._known.get(name, TypeCuts()):
            raise ImportWhole("what is noted of the rows does not fit the graph")
        del rows_before  # of a large type they are hundreds of megabytes
        return _compared(clean, _cleaned(rows_now, name, self._types), rows_now)


class TypeCount(NamedTuple):
    """The rows of a type of edges."""

    edges: int
    cuts: TypeCuts


def count_rows(tables: Sequence[EdgeRows], types: NodeTypes) -> dict[str, TypeCount]:
    """Return how many rows of each type are edges, and why the others are none."""
    by_type = [_ByType(rows) for rows in tables]
    names = dict.fromkeys(name for rows in tables for name in rows.types)
    clean = ((name, _cleaned(_type_rows(by_type, name), name, types)) for name in names)
    return {name: TypeCount(len(edges.at), edges.cuts) for name, edges in clean}


# Rows of edges between nodes: choosing some, joining several, telling which differ.


Content: TypeAlias = tuple[str, int, int, int]
"""The type of an edge, the numbers of its ends, and the hash of what it carries."""


def rows_of(
    sources: NDArray[np.int32],
    targets: NDArray[np.int32],
    kinds: NDArray[np.unsignedinteger[Any]],  # Any: of 8 or 16 bits
    types: Sequence[str],
    extras: NDArray[np.uint64] | None,
) -> EdgeRows:
    """Return rows of edges: four arrays of (rows,), and the names of the types."""
    none = np.zeros(0, np.uint64)
    return EdgeRows(sources, targets, kinds, tuple(types), extras, np.zeros(0, np.int64), none, none)


def between_nodes(rows: EdgeRows) -> EdgeRows:
    """Return the rows whose two ends are nodes."""
    return chosen_rows(rows, (rows.sources >= 0) & (rows.targets >= 0))


def chosen_rows(rows: EdgeRows, mask: NDArray[np.bool_]) -> EdgeRows:
    """Return some rows, all of them between nodes."""
    extras = None if rows.extras is None else rows.extras[mask]
    return rows_of(rows.sources[mask], rows.targets[mask], rows.kinds[mask], rows.types, extras)


def count_types(rows: EdgeRows, types: Mapping[str, int]) -> NDArray[np.int64]:
    """Return how many rows each type has: (types,)."""
    return np.bincount(rows.kinds, minlength=len(types))


def differing(rows: EdgeRows, others: EdgeRows) -> tuple[NDArray[np.bool_], NDArray[np.bool_]]:
    """Mark the rows, and the others, of the types and ends of which one has other rows than the other.

    What `others` has nothing of does not differ.
    """
    marks = np.zeros(len(rows), np.bool_), np.zeros(len(others), np.bool_)
    for kind in np.unique(others.kinds).tolist():
        both = (rows, others)
        at = [np.flatnonzero(one.kinds == kind) for one in both]
        keys = [end_keys(one.sources[of_kind], one.targets[of_kind]) for one, of_kind in zip(both, at, strict=True)]
        is_read = np.isin(keys[0], keys[1])
        at[0], keys[0] = at[0][is_read], keys[0][is_read]
        extras = [extras_of(one)[of_kind] for one, of_kind in zip(both, at, strict=True)]
        touched, _, _ = touched_ends(KeyedEdges(keys[0], extras[0]), KeyedEdges(keys[1], extras[1]))
        for mark, of_kind, ends in zip(marks, at, keys, strict=True):
            mark[of_kind] = np.isin(ends, touched)
    return marks


def contents(rows: EdgeRows) -> Iterator[Content]:
    """Yield what tells the content of each row."""
    assert rows.extras is not None  # the caller has looked
    names = [rows.types[kind] for kind in rows.kinds.tolist()]
    return zip(names, rows.sources.tolist(), rows.targets.tolist(), rows.extras.tolist(), strict=True)


def joined_rows(parts: Sequence[EdgeRows], types: Sequence[str]) -> EdgeRows:
    """Return all rows of several, with the types that some row has; kinds are numbers of `types` in all parts."""
    kinds = np.concatenate([part.kinds.astype(np.uint16) for part in parts])
    used = np.flatnonzero(np.bincount(kinds, minlength=len(types)))
    number = np.zeros(len(types), np.uint16)
    number[used] = np.arange(len(used), dtype=np.uint16)
    extras = [extras_of(part) for part in parts]
    return rows_of(
        np.concatenate([part.sources for part in parts]),
        np.concatenate([part.targets for part in parts]),
        number[kinds],
        [types[kind] for kind in used.tolist()],
        np.concatenate(extras) if any(part.extras is not None for part in parts) else None,
    )
