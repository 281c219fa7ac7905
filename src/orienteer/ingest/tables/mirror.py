"""Cleaning of edges: rows that lead nowhere, rows that were written twice, relations that list both directions.

A relation that lists both directions is told by its rows alone: nearly all of them have their reverse. Anything less
is a true mutual statement (two packages that need one another), and stays.
"""

from __future__ import annotations

from collections.abc import Collection
from typing import NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray

from orienteer.graph.edges import EdgeTable
from orienteer.ingest.formats.table import shown
from orienteer.ingest.report import SHOWN, RowPlace, Tally

MIRRORED_PERCENT = 99
"""Rows of a relation, loops apart, that need their reverse before the relation counts as mirrored."""
CHUNK = 1 << 20
"""Keys that are looked up at once, to bound memory."""
END = np.uint64(32)
"""Bits of an end in a key of both."""
FIRST_LOOK = 1 << 16
"""Rows of a relation whose reverses are looked up at once: the first of them tell most that are not mirrored."""

Rows: TypeAlias = NDArray[np.int64]
Keys: TypeAlias = NDArray[np.uint64]
Mask: TypeAlias = NDArray[np.bool_]


class LeftOut(NamedTuple):
    """The rows that cleaning leaves out, ascending."""

    dangling: Rows
    duplicate: Rows
    mirrored: Rows
    differing: int
    """Mirrored rows that carry what no row carries that is kept of their pair."""


def clean(edges: EdgeTable, tally: Tally, *, directed: Collection[str] = ()) -> None:
    """Drop dangling rows, merge duplicates, store mirrored relations once. The first row of each kind is kept.

    Edges of the types that are `directed` are never mirrored: home and away teams may all have met twice.
    """
    left_out = leave_out(edges, directed=directed)
    for rows in edges.by_file(left_out.dangling) if len(left_out.dangling) else ():
        tally.drop("dangling", _places(edges, rows), len(rows))
    for reason, rows in (("duplicate", left_out.duplicate), ("mirrored", left_out.mirrored)):
        tally.merge(reason, _places(edges, rows), len(rows))
    if left_out.differing:
        tally.notes.append(differing_note(left_out.differing))


def differing_note(count: int) -> str:
    """Say how many mirrored rows carry something that is not kept."""
    return (
        f"{count:,} mirrored rows carry another text or other properties than the row that is kept of their pair; "
        "those are not kept"
    )


def leave_out(edges: EdgeTable, *, directed: Collection[str] = ()) -> LeftOut:
    """Clean edges as `clean` does, and return which rows are left out."""
    dangling = np.flatnonzero((edges.source < 0) | (edges.target < 0))
    edges.keep[dangling] = False
    twice, mirrored = [dangling[:0]], [dangling[:0]]
    differing = 0
    for number, rows in _by_type(edges):
        ordered = np.sort(end_keys(edges.source[rows], edges.target[rows]))
        twice.append(_duplicates(edges, rows, ordered))
        if len(twice[-1]):
            edges.keep[twice[-1]] = False
            rows = rows[edges.keep[rows]]
        if edges.type_names[number] not in directed and _is_mirrored(edges.source[rows], edges.target[rows], ordered):
            mirrored.append(_store_once(edges, rows, number))
            differing += _differing(edges, rows)
    return LeftOut(dangling, np.sort(np.concatenate(twice)), np.sort(np.concatenate(mirrored)), differing)


def align(edges: EdgeTable) -> None:
    """Give the edges of symmetric types one direction a pair of nodes, or of node types: that of the first of them."""
    for number, rows in _by_type(edges):
        if edges.type_names[number] in edges.symmetric:
            edges.turn(rows[_against(edges, rows)])


def _by_type(edges: EdgeTable) -> list[tuple[int, Rows]]:
    """Return the rows of each edge type that are kept, in reading order."""
    rows = np.flatnonzero(edges.keep)
    if len(edges.type_names) == 1:
        return [(0, rows)] if len(rows) else []
    types = edges.type[rows]
    order = rows[np.argsort(types, kind="stable")]
    counts = np.bincount(types, minlength=len(edges.type_names))
    parts = np.split(order, np.cumsum(counts)[:-1])
    return [(number, part) for number, part in enumerate(parts) if len(part)]


def end_keys(first: NDArray[np.int32], second: NDArray[np.int32]) -> Keys:
    """Return a number for the two ends of each edge, by which they sort: (edges,)."""
    keys: Keys = first.astype(np.uint64)
    keys <<= END
    keys |= second.astype(np.uint64)
    return keys


def _duplicates(edges: EdgeTable, rows: Rows, ordered: Keys) -> Rows:
    """Return the rows of one edge type that equal an earlier one in every column; `ordered` holds their sorted keys."""
    repeated = np.unique(ordered[1:][ordered[1:] == ordered[:-1]])
    if not len(repeated):
        return rows[:0]
    candidates = rows[are_among(end_keys(edges.source[rows], edges.target[rows]), repeated)]
    keys = end_keys(edges.source[candidates], edges.target[candidates])
    extra = edges.extra[candidates]
    order = np.lexsort((candidates, extra, keys))
    same = (keys[order][1:] == keys[order][:-1]) & (extra[order][1:] == extra[order][:-1])
    return np.sort(candidates[order[1:][same]])


def are_among(keys: Keys, among: Keys) -> Mask:
    """Mark the keys that are among others, which ascend: (keys,)."""
    marks = np.zeros(len(keys), dtype=bool)
    for start in range(0, len(keys) if len(among) else 0, CHUNK):
        part = keys[start : start + CHUNK]
        at = np.minimum(np.searchsorted(among, part), len(among) - 1)
        marks[start : start + CHUNK] = among[at] == part
    return marks


def _is_mirrored(source: NDArray[np.int32], target: NDArray[np.int32], ordered: Keys) -> bool:
    """Say whether at least 99 % of the rows that are no loops have their reverse; `ordered` holds the sorted keys."""
    straight = source != target
    total = int(straight.sum())
    allowed = total * (100 - MIRRORED_PERCENT)  # hundredths of a row
    lacking = 0
    for start in range(0, len(source), FIRST_LOOK):
        part = slice(start, start + FIRST_LOOK)
        reverse = end_keys(target[part][straight[part]], source[part][straight[part]])
        reverse.sort()  # lookups in order are several times faster
        lacking += len(reverse) - int(are_among(reverse, ordered).sum())
        if 100 * lacking > allowed:
            return False
    return total > 0


def _store_once(edges: EdgeTable, rows: Rows, number: int) -> Rows:
    """Keep one row of each pair of reverse rows: symmetric within a node type, in one direction between two.

    Returns the rows that are left out.
    """
    source, target = edges.source[rows], edges.target[rows]
    if np.any((edges.node_type[source] == edges.node_type[target]) & (source != target)):
        edges.symmetric.add(edges.type_names[number])
    against = _against(edges, rows)
    pair = end_keys(np.minimum(source, target), np.maximum(source, target))
    order = np.argsort(pair, kind="stable")
    begins = np.flatnonzero(np.r_[True, pair[order][1:] != pair[order][:-1]])
    group = np.repeat(np.arange(len(begins)), np.diff(np.r_[begins, len(order)]))
    turned = against[order]
    # A row against the direction is what another one says the other way round, as long as there is another one:
    # of parallel edges (two rows one way, three the other) as many stay as the longer side has.
    running = np.cumsum(turned)
    place: Rows = running - (running[begins] - turned[begins])[group]
    along = np.add.reduceat(~turned, begins, dtype=np.int64)
    surplus = turned & (place <= along[group])
    again = rows[order[surplus]]
    edges.keep[again] = False
    edges.turn(rows[order[turned & ~surplus]])
    return again


def _differing(edges: EdgeTable, rows: Rows) -> int:
    """Count those of these rows that are left out and carry what no row carries that is kept of their pair."""
    if not edges.has_extras:
        return 0
    source, target = edges.source[rows], edges.target[rows]
    _, pair = np.unique(end_keys(np.minimum(source, target), np.maximum(source, target)), return_inverse=True)
    _, extra = np.unique(edges.extra[rows], return_inverse=True)
    carried = end_keys(pair.astype(np.int32), extra.astype(np.int32))
    keep = edges.keep[rows]
    return int(np.count_nonzero(~are_among(carried[~keep], np.sort(carried[keep]))))


def _against(edges: EdgeTable, rows: Rows) -> Mask:
    """Say of each row whether it points against the first row of its pair of nodes, or of its pair of node types."""
    source, target = edges.source[rows], edges.target[rows]
    source_type, target_type = edges.node_type[source], edges.node_type[target]
    within = source_type == target_type
    against: Mask = np.zeros(len(rows), dtype=bool)
    for mask, first, second in ((within, source, target), (~within, source_type, target_type)):
        low, high = np.minimum(first[mask], second[mask]), np.maximum(first[mask], second[mask])
        _, leader, group = np.unique(end_keys(low, high), return_index=True, return_inverse=True)
        rising = first[mask] <= second[mask]
        against[mask] = rising != rising[leader][group]
    return against


def _places(edges: EdgeTable, rows: Rows) -> list[RowPlace]:
    """Return where the first of these rows stand."""
    places = []
    for row in rows[:SHOWN].tolist():
        file, line = edges.origin(row)
        places.append(RowPlace(file=file, line=line, value=" -> ".join(map(shown, edges.ids(row)))))
    return places
