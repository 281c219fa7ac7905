"""Rows of edges between nodes: choosing some, joining several, telling which differ."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from orienteer.ingest.update.edge_changes import KeyedEdges, end_keys, extras_of, touched_ends
from orienteer.ingest.update.ledger import EdgeRows

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
