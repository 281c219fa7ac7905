"""Both directions of every edge, in compressed sparse rows.

Files:
    indptr.i8            (nodes + 1)
    neighbor.i4          an entry for each end of each edge; sorted within a row, so parallel edges are adjacent
    kind.u1 or kind.u2   edge type * 2, + 1 for an incoming edge
    extra_number.i4      only if edges have text, weight or properties: their place in `edge_extra`, or -1
    edge_extra.utf8/.at  text, weight and properties, as JSON
A loop is stored once, as an outgoing edge, and is not a neighbour.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Sequence
from itertools import islice
from pathlib import Path
from typing import Any, NamedTuple, TypeVar

import numpy as np
from numpy.typing import NDArray

from orienteer.errors import BadInput
from orienteer.index.arrays import Array, Folder, Rows, Strings, check_counts, check_ends, file_name, inserted, save
from orienteer.patience import check_patience

EDGE_FILES = frozenset({"indptr", "neighbor", "kind", "extra_number", "edge_extra"})
"""The names of the files, without their suffixes."""
KindMask = NDArray[np.bool_]
"""(2 * edge types,): marks the kinds of edges (edge type * 2 + incoming) that may be walked."""
_Integer = TypeVar("_Integer", bound=np.integer[Any])
_NO_KEYS = np.zeros(0, np.uint64)
_SLICE = 1 << 16  # edges that are handled at once: their columns stay in a processor's cache


class Entries(NamedTuple):
    """The edges of some rows, as four aligned arrays of shape `(n,)`: one entry for each end of an edge at these rows.

    For example, the edge `a -> b` of type 3 makes the entry (owner a, neighbor b, kind 6) at row a, and (owner b,
    neighbor a, kind 7) at row b. Entries are in the order of the requested rows, and within a row by neighbour and
    kind; parallel edges have an entry each. There are no loops.
    """

    owner: NDArray[np.int32]
    """The requested row at this end of the edge."""
    neighbor: NDArray[np.int32]
    """The row at the other end."""
    kind: Array
    """uint8 or uint16: edge type * 2, + 1 if the edge comes in to the owner."""
    at: NDArray[np.int64]
    """The place in the adjacency arrays; `EdgeWeights` and `Adjacency.extras` take it."""

    def where(self, keep: NDArray[np.bool_]) -> Entries:
        """Return the entries under a mask of shape `(n,)`, in the same order."""
        return Entries(self.owner[keep], self.neighbor[keep], self.kind[keep], self.at[keep])


class Adjacency:
    """The edges of every node, mapped."""

    def __init__(self, folder: Folder) -> None:
        self.indptr = folder.array("indptr", "i8")
        self.neighbor = folder.array("neighbor", "i4")
        self.kind = folder.array("kind", "u1", "u2")
        self._numbers = folder.array("extra_number", "i4") if folder.has("extra_number.i4") else None
        for column in (self.neighbor, self.kind, *([] if self._numbers is None else [self._numbers])):
            check_ends(self.indptr, len(column), "edges")

    def degree(self, rows: NDArray[np.integer[Any]]) -> NDArray[np.int64]:
        """Count the edge ends of each row: (rows,)."""
        counts: NDArray[np.int64] = self.indptr[rows + 1] - self.indptr[rows]
        return counts

    def ends(self, row: int) -> tuple[int, int]:
        """Return the first and the last place (exclusive) of a row's edge ends; different rows never overlap."""
        begin, end = int(self.indptr[row]), int(self.indptr[row + 1])
        if not 0 <= begin <= end <= len(self.neighbor):
            raise IndexError(f"edges {begin} to {end}, of {len(self.neighbor)}")
        return begin, end

    def entries(self, rows: Rows, kinds: KindMask | None = None) -> Entries:
        """Return the edges of these rows, in the order of `rows`, without loops. Raises `IndexError` for damage."""
        if len(rows) == 1:
            row = int(rows[0])
            begin, end = self.ends(row)
            neighbor, kind = self.neighbor[begin:end], self.kind[begin:end]
            entries = Entries(np.broadcast_to(rows, neighbor.shape), neighbor, kind, np.arange(begin, end))
            low, high = span(neighbor, row)
            has_loop = low < high
        else:
            owner, at = self._all(rows)
            entries = Entries(owner, self.neighbor[at], self.kind[at], at)
            has_loop = True
        keep = entries.neighbor != entries.owner if has_loop else None
        if kinds is not None:
            walked = kinds[entries.kind]
            keep = walked if keep is None else keep & walked
        return entries if keep is None else entries.where(keep)

    def of_kind(self, kind: int) -> tuple[NDArray[np.int64], NDArray[np.int32]]:
        """Return the owners and the neighbours of all entries of one kind, without loops: two arrays (entries,)."""
        at = np.flatnonzero(self.kind[:] == kind)
        counts = np.diff(np.searchsorted(at, self.indptr[:]))
        owner, neighbor = np.repeat(np.arange(len(counts)), counts), self.neighbor[at]
        keep = owner != neighbor
        return owner[keep], neighbor[keep]

    def other_ends(self, rows: Rows) -> NDArray[np.int32]:
        """Return the other ends of all edges of these rows: (edge ends,), row by row, with repeats and loops."""
        if len(rows) == 1:
            return self.neighbor[slice(*self.ends(int(rows[0])))]
        return self.neighbor[self._all(rows)[1]]

    def neighbors(self, row: int) -> NDArray[np.int32]:
        """Return the neighbours of a row: (n,), ascending, one entry for each edge, without the row itself."""
        around = self.neighbor[slice(*self.ends(row))]
        own, end = span(around, row)
        return around if own == end else np.concatenate([around[:own], around[end:]])

    def _all(self, rows: Rows) -> tuple[NDArray[np.int32], NDArray[np.int64]]:
        """Return the owner and the place of every edge end of some rows: two arrays of shape (edge ends,)."""
        counts = self.degree(rows)
        check_counts(counts, len(self.neighbor))
        ends = np.cumsum(counts)
        total = int(ends[-1]) if len(ends) else 0
        return np.repeat(rows, counts), np.repeat(self.indptr[rows] - (ends - counts), counts) + np.arange(total)

    def extra(self, at: int) -> int | None:
        """Return the number of an edge's extra (text, weight, properties), or None if it has none."""
        number = -1 if self._numbers is None else int(self._numbers[at])
        return None if number < 0 else number

    def extras(self, at: NDArray[np.int64] | slice) -> NDArray[np.int32] | None:
        """Return the number of the extra of the edge at each place: (places,), -1 for none; None if no edge has any."""
        return None if self._numbers is None else np.asarray(self._numbers[at])

    def between(self, row: int, other: int) -> Entries:
        """Return the edges between a row and another, seen from the first."""
        begin, end = self.ends(row)
        low, high = span(self.neighbor[begin:end], other)
        here = slice(begin + low, begin + high)
        return Entries(
            np.full(high - low, row, np.int32), self.neighbor[here], self.kind[here], np.arange(here.start, here.stop)
        )

    def places(self, rows: NDArray[np.int32], others: NDArray[np.int32], kinds: NDArray[np.int64]) -> NDArray[np.int64]:
        """Return the places, (places,), of all edges of a kind from each row to another; the arguments are (n,).

        One binary search runs over all at once, so a million are found in a few passes.
        """
        first, last = self.bounds(rows, others, kinds)
        counts = last - first
        ends = np.cumsum(counts)
        return np.repeat(first - ends + counts, counts) + np.arange(int(ends[-1]) if len(ends) else 0)

    def bounds(
        self, rows: NDArray[np.integer[Any]], others: NDArray[np.integer[Any]], kinds: NDArray[np.int64] | None = None
    ) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """Return the first and last place (exclusive) of the edges, of a kind or of all, from each row to another.

        All are (n,). A loop is in its row once.
        """
        wanted = others.astype(np.int64) << 16 | (0 if kinds is None else kinds)
        width = 1 << 16 if kinds is None else 1
        return self._bisected(rows, wanted), self._bisected(rows, wanted + width)

    def _bisected(self, rows: NDArray[np.integer[Any]], wanted: NDArray[np.int64]) -> NDArray[np.int64]:
        """Return the first place of each row whose neighbour << 16 | kind is not below the wanted one: (rows,)."""
        low: NDArray[np.int64] = self.indptr[rows].astype(np.int64)
        high = self.indptr[rows.astype(np.int64) + 1].astype(np.int64)
        while len(going := np.flatnonzero(low < high)):
            middle = (low[going] + high[going]) // 2
            is_below = (self.neighbor[middle].astype(np.int64) << 16 | self.kind[middle]) < wanted[going]
            low[going[is_below]] = middle[is_below] + 1
            high[going[~is_below]] = middle[~is_below]
        return low


class EdgeWeights:
    """Reads the weight of an edge from its extra, once, and caches it. Safe among threads."""

    def __init__(self, adjacency: Adjacency, extras: Strings | None) -> None:
        self._adjacency, self._extras = adjacency, extras
        self._known: NDArray[np.float32] | None = None  # (extras,): by the extra's number; NaN before it is read
        self._rows: dict[int, tuple[int, ...]] = {}  # by the extra's number, for edges from rows of a table

    def __call__(self, at: NDArray[np.int64]) -> NDArray[np.float64]:
        """Return the weight of the edge at each place: (places,), 1 for an edge without a weight."""
        weights = np.ones(len(at))
        numbers = self._adjacency.extras(at)
        if self._extras is None or numbers is None:
            return weights
        carrying = np.flatnonzero(numbers >= 0)
        weights[carrying] = self._read(numbers[carrying])[numbers[carrying]]
        return weights

    def rows(self, at: NDArray[np.int64]) -> dict[int, tuple[int, ...]]:
        """Return the table rows of the edges at these places, by index in `at`; edges without any have no entry."""
        numbers = self._adjacency.extras(at)
        if self._extras is None or numbers is None:
            return {}
        self._read(numbers[numbers >= 0])
        return {index: self._rows[number] for index, number in enumerate(numbers.tolist()) if number in self._rows}

    def _read(self, numbers: NDArray[np.int32]) -> NDArray[np.float32]:
        """Read the extras with these numbers that are new; return all weights so far, (extras,), by number."""
        assert self._extras is not None  # the callers have checked
        if self._known is None:
            self._known = np.full(len(self._extras), np.nan, np.float32)
        # Without a lock: two threads may each make an array, but the entries that they fill in agree.
        weights = self._known
        missing = np.unique(numbers[np.isnan(weights[numbers])])
        texts = self._extras.take(missing.astype(np.int64))
        values = [_last_weight(text) for text in texts]
        whole = [at for at, weight in enumerate(values) if weight is None]
        every = json.loads(b"[%b]" % b",".join(texts[at] for at in whole))  # one call: half the time
        for at, carried in zip(whole, every, strict=True):
            rows = carried.get("properties", {}).get("rows")
            if isinstance(rows, list) and rows and all(isinstance(row, int) for row in rows):
                self._rows[int(missing[at])] = tuple(rows)
            values[at] = carried.get("weight", 1.0)
        weights[missing] = np.array(values, np.float32)
        return weights


def _last_weight(carried: bytes) -> float | None:
    """Return the weight in an extra's JSON if that is its last value and it has no table rows; else None."""
    if b'"rows"' in carried:
        return None
    if b'"weight"' not in carried:
        return 1.0
    try:
        # JSON that ends in a number and one bracket ends in a value of the extra itself, not of a property or a text.
        return float(carried.rpartition(b'"weight": ')[2].removesuffix(b"}"))
    except ValueError:
        return None


def span(rows: NDArray[np.int32], row: int) -> tuple[int, int]:
    """Return the first and the last place (exclusive) of a row among ascending rows."""
    # For a Python number numpy would convert all rows first.
    wanted = np.int32(row)
    low = int(rows.searchsorted(wanted))
    if low == len(rows) or rows[low] != wanted:
        return low, low
    return low, int(rows.searchsorted(wanted, "right"))


def distinct(values: NDArray[_Integer]) -> NDArray[_Integer]:
    """Return the distinct values, ascending. Fast for rows that ascend already, as a single node's neighbours do.

    `np.unique` takes far longer for hashes, and loads the module of masked arrays.
    """
    if len(values) < 2:
        return values
    if not (values[1:] >= values[:-1]).all():
        values = np.sort(values)
    is_new = values[1:] != values[:-1]
    return values if is_new.all() else values[np.concatenate([[True], is_new])]


def write(
    folder: Path,
    nodes: int,
    source: NDArray[np.int32],
    target: NDArray[np.int32],
    types: NDArray[np.uint16],
    extra: NDArray[np.int32] | None,
) -> None:
    """Write the arrays of these edges: `source`, `target`, `types` and, if any has an extra, its number (-1: none).

    All four have the shape (edges,), in any order. Raises `BadInput` for more nodes and types than fit.
    """
    bits, width = bit_widths(nodes, int(types.max(initial=0)))
    # Every edge end is packed into a number; sorted numbers are sorted by row, neighbour and kind. First come the
    # outgoing ends, then the incoming ones; a loop has only the former.
    is_apart = source != target
    keys = np.empty(len(source) + int(is_apart.sum()), np.uint64)
    end = len(source)
    for low in range(0, len(source), _SLICE):
        part = slice(low, low + _SLICE)
        kind = types[part] << np.uint16(1)
        keys[: len(source)][part] = _end_keys(source[part], target[part], kind, bits, width)
        incoming = _end_keys(target[part], source[part], kind | np.uint16(1), bits, width)[is_apart[part]]
        keys[end : end + len(incoming)] = incoming
        end += len(incoming)
    if extra is None:
        keys.sort()
    else:
        order = np.argsort(keys, kind="stable")
        keys = keys[order]
        save(folder, "extra_number", np.concatenate([extra, extra[is_apart]])[order])
        del order
    _save_keys(folder, nodes, keys, bits, width)


def bit_widths(nodes: int, last_type: int) -> tuple[int, int]:
    """Return the bits of a row and of a kind in the number that edge ends are sorted by.

    Just under 2 ** 27 nodes fit with 512 edge types, and just under 2 ** 31 with 2. Raises `BadInput` for more.
    """
    bits, width = max(1, nodes.bit_length()), max(1, last_type.bit_length()) + 1
    if 2 * bits + width > 64:
        raise BadInput(
            f"{nodes:,} nodes with {last_type + 1:,} edge types are more than one graph can hold: make several graphs, "
            "or fewer edge types"
        )
    return bits, width


def _save_keys(
    folder: Path, nodes: int, keys: NDArray[np.uint64], bits: int, width: int, more: NDArray[np.uint64] = _NO_KEYS
) -> None:
    """Write the adjacency of sorted keys, (edge ends,), and of `more`, sorted, each after equal ones of `keys`."""
    at = np.searchsorted(keys, more, side="right")
    columns = {
        "neighbor": (np.dtype(np.int32), np.uint64(width), np.uint64((1 << bits) - 1)),
        "kind": (np.dtype(np.uint8 if width <= 8 else np.uint16), np.uint64(0), np.uint64((1 << width) - 1)),
    }
    for name, (kind, shift, mask) in columns.items():
        with (folder / file_name(name, kind)).open("wb") as file:
            # The two are joined slice by slice: a second copy of all keys would take the most memory of a revision.
            for low in range(0, len(keys) + 1, _SLICE):
                first, last = np.searchsorted(at, [low, low + _SLICE])
                part = keys[low : low + _SLICE]
                if first < last:
                    part = inserted(part, at[first:last] - low, more[first:last])
                (part >> shift & mask).astype(kind).tofile(file)
    starts = np.arange(nodes + 1, dtype=np.uint64) << np.uint64(bits + width)
    save(folder, "indptr", np.searchsorted(keys, starts) + np.searchsorted(more, starts))


class EdgeEnds(NamedTuple):
    """Ends of edges as aligned arrays of shape `(n,)`, sorted by row, neighbour and kind."""

    row: NDArray[np.int32]
    neighbor: NDArray[np.int32]
    kind: Array
    """Edge type * 2, + 1 for an incoming edge."""
    extra: NDArray[np.int32] | None
    """The number of the edge's extra, -1 for none; None if no edge has any."""

    def where(self, keep: NDArray[np.bool_]) -> EdgeEnds:
        """Return the ends under a mask of shape `(n,)`, in the same order."""
        extra = None if self.extra is None else self.extra[keep]
        return EdgeEnds(self.row[keep], self.neighbor[keep], self.kind[keep], extra)


def all_ends(adjacency: Adjacency) -> EdgeEnds:
    """Return the ends of all edges of a graph."""
    return EdgeEnds(
        np.repeat(np.arange(len(adjacency.indptr) - 1, dtype=np.int32), np.diff(adjacency.indptr)),
        adjacency.neighbor,
        adjacency.kind,
        adjacency.extras(slice(None)),
    )


def write_joined(folder: Path, nodes: int, stay: EdgeEnds, come: EdgeEnds, *, has_extras: bool) -> None:
    """Write the adjacency of edges that stay, and of new ones, whose ends are in any order.

    Parallel edges of one type are in this order too: those that stay, then the new ones in their order.
    """
    bits, width = bit_widths(nodes, max(int(part.kind.max(initial=0)) >> 1 for part in (stay, come)))
    keys, new = (_end_keys(part.row, part.neighbor, part.kind, bits, width) for part in (stay, come))
    order = np.argsort(new, kind="stable")
    new = new[order]
    if has_extras:
        numbers, more = (
            np.full(len(part.row), -1, np.int32) if part.extra is None else part.extra for part in (stay, come)
        )
        save(folder, "extra_number", inserted(numbers, np.searchsorted(keys, new, side="right"), more[order]))
    _save_keys(folder, nodes, keys, bits, width, new)


def _end_keys(
    row: NDArray[np.int32], neighbor: NDArray[np.int32], kind: Array, bits: int, width: int
) -> NDArray[np.uint64]:
    """Pack each of several edge ends, (n,), into a number that sorts by row, neighbour and kind."""
    keys = row.astype(np.uint64)
    keys <<= np.uint64(bits)
    keys |= neighbor.view(np.uint32)
    keys <<= np.uint64(width)
    keys |= kind
    return keys


_FEW = 16  # if one set is this many times smaller, looking up each of its nodes beats marking all


class Meeting(NamedTuple):
    """Common rows, with the number of sets that each is in."""

    rows: Rows
    """(n,): ascending."""
    members: NDArray[np.int64]
    """(n,): the number of sets."""


def meet(groups: Sequence[NDArray[np.int32]], nodes: int, mask: NDArray[np.bool_] | None = None) -> Meeting:
    """Return the rows that are in all of these groups; without any, the rows that are in two or more.

    Each group is (n,), ascending; repetitions within a group do not count. `mask`, (nodes,), restricts the rows.
    """
    first, *others = sorted(groups, key=len)
    common = first if mask is None else first[mask[first]]
    for other in others:
        if len(common) * _FEW < len(other):
            common = common[other.take(other.searchsorted(common), mode="clip") == common] if len(common) else common
        else:
            marked = np.zeros(nodes, np.bool_)
            marked[common.astype(np.intp)] = True
            # Few rows are marked: reading their places is faster than a mask.
            common = other[marked.take(other).nonzero()[0]]
    if len(common):
        common = distinct(common)
        return Meeting(common, np.full(len(common), len(groups)))
    together = np.concatenate([distinct(group) for group in groups])
    rows, counts = np.unique(together if mask is None else together[mask[together]], return_counts=True)
    several = counts > 1
    return Meeting(rows[several].astype(np.int32), counts[several])


Way = Callable[[Rows], NDArray[Any]]
"""A step of a walk: the nodes one edge away from some nodes, with or without repeats."""


class Circles(NamedTuple):
    """The nodes around two nodes, by distance, as far as their rims have nodes in common."""

    rings: tuple[list[Rows], list[Rows]]
    """Of each end its ring at distance 0, 1, ..."""
    meeting: Rows
    """(n,): the nodes of both rims. Every shortest walk has exactly one of them."""


def circles_between(
    adjacency: Adjacency, start: int, end: int, *, on: Way, back: Way, most: int | None
) -> Circles | None:
    """Return two circles that grew towards each other, always the one that reads fewer edges, until they met.

    `on` steps away from the start and `back` towards it. None if no walk has at most `most` edges; None is any number.
    """
    rings, ways = ([np.array([start], np.int32)], [np.array([end], np.int32)]), (on, back)
    # Pages of zeros cost nothing until they are touched.
    seen = [np.zeros(len(adjacency.indptr) - 1, np.bool_) for _ in rings]
    for side, (ring,) in zip(seen, rings, strict=True):
        side[ring] = True
    meeting = rings[0][0][seen[1][rings[0][0]]]
    while not len(meeting):
        check_patience()
        costs = [int(adjacency.degree(side[-1]).sum()) for side in rings]
        near = int(costs[1] < costs[0])
        if len(rings[0]) + len(rings[1]) - 2 == most or not len(rings[near][-1]):
            return None
        around = ways[near](rings[near][-1])
        rim = distinct(around[~seen[near][around]])
        seen[near][rim] = True
        rings[near].append(rim)
        meeting = rim[seen[1 - near][rim]]
    return Circles(rings, meeting)


def shortest_paths(
    adjacency: Adjacency, start: int, end: int, *, most_edges: int, k: int, step: Way | None = None
) -> list[tuple[int, ...]]:
    """Return up to `k` of the shortest paths as rows, in row order; none if all have more than `most_edges` edges.

    Edges are walked in any direction; `step` may walk only some of them.
    """
    step = step or adjacency.other_ends
    circles = circles_between(adjacency, start, end, on=step, back=step, most=most_edges)
    if circles is None:
        return []

    def from_end(rings: Sequence[Rows], row: int) -> Iterator[tuple[int, ...]]:
        if len(rings) == 1:
            yield (row,)
            return
        around, ring = step(np.array([row], np.int32)), rings[-2]
        for nearer in ring[around.take(around.searchsorted(ring), mode="clip") == ring].tolist():
            for path in from_end(rings[:-1], nearer):
                yield (*path, row)

    left, right = circles.rings
    paths = (
        first + second[-2::-1]
        for row in circles.meeting.tolist()
        for first in from_end(left, row)
        for second in from_end(right, row)
    )
    return sorted(islice(paths, k))
