"""The difference between a graph and its sources: nodes and edges that come and go, and the graph after them.

Tables (`update`) and databases (`connect.update`) find the difference, each in its way; `publish` applies it. Edges are
compared by type: the rows of a type that changed are cleaned as an import cleans them, as they were and as they are.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from orienteer.graph.edges import CodedColumn, EdgeBatch, EdgeTable, NodeNumbers, id_hashes, type_numbers
from orienteer.graph.embedding import carried_vectors
from orienteer.graph.format import Manifest, read_pointer
from orienteer.graph.pieces import command_of, is_free, vectors
from orienteer.graph.revision import Piece, Revision, revise
from orienteer.graph.store import Graph
from orienteer.index.arrays import Rows
from orienteer.index.postings import Layout
from orienteer.ingest.tables import mirror
from orienteer.ingest.tables.edges import Extra
from orienteer.ingest.tables.mirror import END, Keys, are_among, end_keys
from orienteer.ingest.update.ledger import PIECE, EdgeRows, LedgerAbout, NodeRows, Numbers, TypeCuts, write_ledger
from orienteer.records import Node

MOST_NODES = 0.25
"""Share of a graph's nodes; if more come, a full import takes no longer, and less memory."""
LEAST_NODES = 5_000
"""Nodes that may always come."""
MOST_EDGES = 0.25
"""Share of a graph's edges; if more come or go, a full import takes no longer."""
LEAST_EDGES = 100_000
"""Edges that may always come or go."""
_SLICE = 1 << 16  # rows that are compared at once


class FullImportRequired(Exception):  # not an error: the caller imports everything
    """The update needs a full import. The message says why, as the end of a sentence."""


# ------------------------------------------------------------------------------------------------------------- nodes


class NodeChange(NamedTuple):
    """The nodes that come and go. Nodes of the graph have their rows as numbers, the n-th that comes has size + n."""

    size: int
    """Nodes of the graph before."""
    gone: Rows
    nodes: list[Node]
    """Those that come, by id. One may have the id of a row that goes, if its type is another."""
    renewed: dict[int, Node]
    """Nodes by number that have new content, but keep their id, type and edges."""

    @property
    def is_empty(self) -> bool:
        """Return whether no node comes or goes, so that all ends of edges are unchanged."""
        return not len(self.gone) and not self.nodes

    @property
    def stays(self) -> NDArray[np.bool_]:
        """Mark the nodes of the graph that stay: (size,)."""
        stays = np.ones(self.size, np.bool_)
        stays[self.gone] = False
        return stays

    def place(self, layout: Layout) -> Numbers:
        """Return the new row of each number."""
        written = sorted([*self.nodes, *self.renewed.values()], key=lambda node: node.id)
        rows = dict(zip((node.id for node in written), layout.new.tolist(), strict=True))
        place = np.concatenate([layout.old, np.array([rows[node.id] for node in self.nodes], np.int32)])
        place[[*self.renewed]] = [rows[node.id] for node in self.renewed.values()]
        return place

    def numbering(self, graph: Graph) -> NodeNumbers:
        """Return the numbers of all nodes after the change. Raises `FullImportRequired`."""
        stays = self.stays
        hashes = [id_hashes(graph.arrays.ids)[stays], id_hashes(node.id for node in self.nodes)]
        coming = np.arange(self.size, self.size + len(self.nodes), dtype=np.int32)
        numbers = NodeNumbers(np.concatenate(hashes), np.concatenate([np.flatnonzero(stays).astype(np.int32), coming]))
        if not numbers.is_exact:
            raise FullImportRequired("two ids have the same hash")
        return numbers

    def types(self, graph: Graph) -> NodeTypes:
        """Return the types of all nodes by their numbers, including those that come."""
        numbers = {name: number for number, name in enumerate(graph.arrays.manifest.node_types)}
        coming = type_numbers([node.type for node in self.nodes], numbers)
        return NodeTypes(np.concatenate([graph.arrays.node_types, coming]), list(numbers))


class NodeTypes(NamedTuple):
    """The type of each node by its number."""

    numbers: NDArray[np.uint16]
    names: Sequence[str]


def check_node_count(coming: int, size: int) -> None:
    """Raise `FullImportRequired` if too many nodes come."""
    if coming > max(LEAST_NODES, MOST_NODES * size):
        raise FullImportRequired(f"more than {MOST_NODES:.0%} of the nodes are new or changed")


# ------------------------------------------------------------------------------------------------------------- edges


class TypeChange(NamedTuple):
    """The change of the edges of a type."""

    lost: Keys
    """Pairs of ends between which all edges go; some may come back."""
    sources: Numbers
    """(edges that come,), like the four below."""
    targets: Numbers
    extras: Keys
    table: NDArray[np.int32]
    """The index of the table that has the edge's text, weight and properties."""
    row: NDArray[np.int64]
    """The row there."""
    added: int
    """Edges that the graph did not have."""
    removed: int
    """Edges that the graph no longer has."""
    cuts: TypeCuts
    is_symmetric: bool


def resolved(rows: EdgeRows, change: NodeChange, numbers: NodeNumbers, graph: Graph) -> EdgeRows:
    """Return the rows of an unchanged table with the numbers that their ends have after a change of nodes."""
    # The last is for a missing end.
    stays = np.append(change.stays, True)
    loses = np.flatnonzero(~(stays[rows.sources] & stays[rows.targets])) if len(change.gone) else np.zeros(0, np.int64)
    if not len(loses) and not (len(rows.stray) and change.nodes):
        return rows
    # Rows that lose an end join the rows that have missed one all along: each end is looked up by the hash of its id.
    stray = np.union1d(rows.stray, loses)
    columns: list[Numbers] = []
    hashes: list[Keys] = []
    for ends, before in ((rows.sources, rows.stray_sources), (rows.targets, rows.stray_targets)):
        of_stray = np.zeros(len(stray), np.uint64)
        of_stray[np.searchsorted(stray, rows.stray)] = before
        is_new = ~np.isin(stray, rows.stray)
        of_stray[is_new] = id_hashes([graph.arrays.ids[row] for row in ends[stray[is_new]].tolist()])
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


def edge_changes(
    before: Mapping[str, EdgeRows],
    now: Mapping[str, EdgeRows],
    types: NodeTypes,
    cuts: Mapping[str, TypeCuts],
    counts: Mapping[str, int],
) -> dict[str, TypeChange]:
    """Compare tables of edges, by path in the order of reading; return the change of each type that differs.

    `cuts` and `counts` are those of the graph, by edge type. Raises `FullImportRequired`.
    """
    names = list(dict.fromkeys(name for rows in (*before.values(), *now.values()) for name in rows.types))
    if list(before) == list(now):
        may_differ = set[str]().union(*(_differing_types(rows, now[path]) for path, rows in before.items()))
        names = [name for name in names if name in may_differ]
    changes: dict[str, TypeChange] = {}
    for name in names:
        rows_before, rows_now = (_type_rows([*tables.values()], name) for tables in (before, now))
        if rows_before.is_same(rows_now):
            continue
        clean = _cleaned(rows_before, name, types)
        if len(clean.at) != counts.get(name, 0) or clean.cuts != cuts.get(name, TypeCuts()):
            raise FullImportRequired("what is noted of the rows does not fit the graph")
        # The rows of a large type are hundreds of megabytes.
        del rows_before
        changes[name] = _change(clean, _cleaned(rows_now, name, types), rows_now)
    return changes


def _differing_types(before: EdgeRows, now: EdgeRows) -> set[str]:
    """Return the types of a table's rows from the first to the last that differs; all other types are unchanged."""
    if before is now:
        return set()
    number = {name: number for number, name in enumerate(dict.fromkeys((*before.types, *now.types)))}
    kinds = [np.array([number[name] for name in rows.types], np.uint16)[rows.kinds] for rows in (before, now)]
    columns = [(before.sources, now.sources), (before.targets, now.targets), (kinds[0], kinds[1])]
    if before.extras is not None or now.extras is not None:
        columns.append((before.extra_hashes, now.extra_hashes))
    used = [np.flatnonzero(np.bincount(kind[part])) for kind, part in zip(kinds, _differing_part(columns), strict=True)]
    names = list(number)
    return {names[kind] for kind in np.concatenate(used).tolist()}


def _differing_part(columns: Sequence[tuple[NDArray[Any], NDArray[Any]]]) -> tuple[slice, slice]:
    """Return the rows of each of two tables without the equal ones at the beginning and at the end.

    `columns` pairs each column of one table, (rows,), with that of the other.
    """
    sizes = [len(column) for column in columns[0]]
    head = min(_equal_at_start(old, new) for old, new in columns)
    tail = min(_equal_at_start(old[head:][::-1], new[head:][::-1]) for old, new in columns)
    return slice(head, sizes[0] - tail), slice(head, sizes[1] - tail)


def _equal_at_start(one: NDArray[Any], other: NDArray[Any]) -> int:
    """Return the number of equal values at the beginning."""
    shorter = min(len(one), len(other))
    for low in range(0, shorter, _SLICE):
        high = min(low + _SLICE, shorter)
        differs = one[low:high] != other[low:high]
        if differs.any():
            return low + int(differs.argmax())
    return shorter


class _TypeRows(NamedTuple):
    """All rows of an edge type, in the order of reading."""

    sources: Numbers
    targets: Numbers
    extras: Keys | None
    table: NDArray[np.int32]
    """(rows,): the index of the row's table."""
    row: NDArray[np.int64]
    """(rows,): the row there."""

    def is_same(self, other: _TypeRows) -> bool:
        """Return whether the ends and the extras are equal."""
        if not np.array_equal(self.sources, other.sources) or not np.array_equal(self.targets, other.targets):
            return False
        if self.extras is None or other.extras is None:
            return self.extras is other.extras
        return np.array_equal(self.extras, other.extras)


def _type_rows(tables: Sequence[EdgeRows], name: str) -> _TypeRows:
    chosen: list[NDArray[np.int64]] = []
    for rows in tables:
        if rows.types == (name,):
            chosen.append(np.arange(len(rows)))
        elif name in rows.types:
            chosen.append(np.flatnonzero(rows.kinds == rows.types.index(name)))
        else:
            chosen.append(np.zeros(0, np.int64))
    parts = list(zip(tables, chosen, strict=True))
    has_extras = any(rows.extras is not None and rows.extras[at].any() for rows, at in parts)
    nothing = [np.zeros(0, np.int32)]
    return _TypeRows(
        np.concatenate([*nothing, *(rows.sources[at] for rows, at in parts)]),
        np.concatenate([*nothing, *(rows.targets[at] for rows, at in parts)]),
        np.concatenate([rows.extra_hashes[at] for rows, at in parts]) if has_extras else None,
        np.repeat(np.arange(len(parts), dtype=np.int32), [len(at) for at in chosen]),
        np.concatenate([np.zeros(0, np.int64), *chosen]),
    )


class _CleanEdges(NamedTuple):
    """The rows of a type that are edges."""

    sources: Numbers
    targets: Numbers
    extras: Keys
    at: NDArray[np.int64]
    """(edges,): the index of each among all rows of the type."""
    cuts: TypeCuts
    is_symmetric: bool

    def keys(self, rows: slice | NDArray[np.int64]) -> Keys:
        """Return the keys of some edges."""
        return end_keys(self.sources[rows], self.targets[rows])

    def between(self, ends: Keys) -> NDArray[np.int64]:
        """Return the indexes of the edges whose keys are among these, which ascend: (n,), ascending."""
        found = [np.zeros(0, np.int64)]
        # All keys at once are large.
        for low in range(0, len(self.at), _SLICE):
            found.append(low + np.flatnonzero(are_among(self.keys(slice(low, low + _SLICE)), ends)))
        return np.concatenate(found)


def _cleaned(rows: _TypeRows, name: str, types: NodeTypes) -> _CleanEdges:
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
    return _CleanEdges(table.source[at], table.target[at], extras, at, cuts, name in table.symmetric)


def _change(before: _CleanEdges, now: _CleanEdges, rows: _TypeRows) -> TypeChange:
    """Compare the edges of a type. If one edge between two nodes changed, all of theirs go and come."""
    was, is_now = _differing_part(
        [(before.sources, now.sources), (before.targets, now.targets), (before.extras, now.extras)]
    )
    old, new, extras = before.keys(was), now.keys(is_now), (before.extras[was], now.extras[is_now])
    if any(part.any() for part in extras):
        touched, removed, added = touched_ends((old, extras[0]), (new, extras[1]))
    else:
        # Clean edges without extras are distinct: sorting their keys alone takes half the time.
        old.sort()
        new.sort()
        gone, came = old[~are_among(old, new)], new[~are_among(new, old)]
        touched, removed, added = np.union1d(gone, came), len(gone), len(came)
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
        now.cuts,
        now.is_symmetric,
    )


def touched_ends(before: tuple[Keys, Keys], now: tuple[Keys, Keys]) -> tuple[Keys, int, int]:
    """Return the ends between which edges differ, ascending, and the numbers of edges that went and came.

    Edges are given by their keys and the hashes of their extras, two arrays of (edges,).
    """
    keys, extras = (np.concatenate(columns) for columns in zip(before, now, strict=True))
    sign = np.repeat(np.array([-1, 1]), [len(before[0]), len(now[0])])
    order = np.lexsort((extras, keys))
    keys, extras, sign = keys[order], extras[order], sign[order]
    first = np.flatnonzero(np.concatenate([[True], (keys[1:] != keys[:-1]) | (extras[1:] != extras[:-1])])[: len(keys)])
    change = np.add.reduceat(sign, first) if len(first) else sign
    touched = np.unique(keys[first[change != 0]])
    return touched, -int(change[change < 0].sum()), int(change[change > 0].sum())


def check_edge_count(changes: Mapping[str, TypeChange], manifest: Manifest) -> None:
    """Raise `FullImportRequired` if so many edges come or go that an import takes no longer."""
    count = sum(change.added + change.removed for change in changes.values())
    if count > max(LEAST_EDGES, MOST_EDGES * manifest.edges):
        raise FullImportRequired(f"more than {MOST_EDGES:.0%} of the edges come or go")


class TypeCount(NamedTuple):
    """The rows of an edge type."""

    edges: int
    cuts: TypeCuts


def count_rows(tables: Sequence[EdgeRows], types: NodeTypes) -> dict[str, TypeCount]:
    """Count the edges of each type, and the rows that are not edges."""
    names = dict.fromkeys(name for rows in tables for name in rows.types)
    clean = ((name, _cleaned(_type_rows(tables, name), name, types)) for name in names)
    return {name: TypeCount(len(edges.at), edges.cuts) for name, edges in clean}


def cuts_after(cuts: Mapping[str, TypeCuts], changes: Mapping[str, TypeChange]) -> dict[str, TypeCuts]:
    """Return the counts, by edge type, of rows that are not edges after the changes."""
    after = {name: of_type for name, of_type in cuts.items() if name not in changes}
    after |= {name: each.cuts for name, each in changes.items()}
    return {name: of_type for name, of_type in after.items() if of_type != TypeCuts()}


# ----------------------------------------------------------------------------------------------------- publication


class Difference(NamedTuple):
    """What comes and goes between a graph and its sources."""

    nodes: NodeChange
    edges: Mapping[str, TypeChange]
    edge_types: Sequence[str]
    """The edge types that rows name."""
    symmetric: Collection[str]
    """The changed edge types without a direction."""
    extras: Mapping[int, Mapping[int, Extra]]
    """Texts, weights and properties of the edges that come, by table and row."""


def publish(
    graph: Graph,
    difference: Difference,
    work: Path,
    *,
    about: LedgerAbout,
    rows: Sequence[NodeRows | EdgeRows],
    provenance: Mapping[str, Any],  # Any: JSON
    facts: Mapping[str, Any],  # Any: fields of a manifest
    notes: list[str],
) -> Manifest:
    """Publish the graph after a difference, with the ledger of its tables; `rows` are theirs, by number."""
    change, revision = difference.nodes, _revision(graph, difference)

    def write(folder: Path, generation: str, layout: Layout) -> None:
        place = change.place(layout)
        placed = (of_table.placed(place) for of_table in rows)
        write_ledger(folder, about.model_copy(update={"generation": generation}), placed)

    written = {PIECE: write, **carried_pieces(graph, revision, notes)}
    return revise(graph, revision, work, provenance=provenance, facts=facts, pieces=written)


def carried_pieces(graph: Graph, revision: Revision, notes: list[str]) -> dict[str, Piece]:
    """Return the writers of the pieces that the next generation keeps; note those that a command has to rebuild."""
    made = read_pointer(graph.path).pieces
    lost = [name for name in made if not is_free(name) and name != vectors.PIECE]
    notes += [f"{name}: made anew by orienteer {command_of(name)} {graph.path}" for name in lost]
    if vectors.read_about(graph.path) is None:
        return {}
    return {vectors.PIECE: carried_vectors(graph, revision, notes.append)}


def _revision(graph: Graph, difference: Difference) -> Revision:
    change, stays = difference.nodes, difference.nodes.stays
    lost = []
    for name, each in difference.edges.items():
        sources, targets = ((each.lost >> END).astype(np.int64), (each.lost & np.uint64(0xFFFFFFFF)).astype(np.int64))
        # Edges of a node that goes go with it.
        both = stays[sources] & stays[targets]
        lost += [
            (source, name, target)
            for source, target in zip(sources[both].tolist(), targets[both].tolist(), strict=True)
        ]
    return Revision(
        np.union1d(change.gone, np.array([*change.renewed], np.int32)).astype(np.int32),
        [*change.nodes, *change.renewed.values()],
        list(_batches(graph, difference)),
        lost,
        frozenset(difference.symmetric),
        difference.edge_types,
        frozenset(difference.edges) - frozenset(difference.symmetric),
        [node.id for node in change.renewed.values()],
    )


def _batches(graph: Graph, difference: Difference) -> Iterator[EdgeBatch]:
    """Yield the edges that come, type by type."""
    change, extras = difference.nodes, difference.extras

    def ids(numbers: Numbers) -> CodedColumn:
        distinct, codes = np.unique(numbers, return_inverse=True)
        return CodedColumn(
            [
                graph.arrays.ids[number] if number < change.size else change.nodes[number - change.size].id
                for number in distinct.tolist()
            ],
            codes,
        )

    for name, each in difference.edges.items():
        if not len(each.sources):
            continue
        carried = [
            extras[table].get(row) if has_extra else None
            for table, row, has_extra in zip(each.table.tolist(), each.row.tolist(), each.extras.tolist(), strict=True)
        ]
        yield EdgeBatch(
            ids(each.sources),
            CodedColumn([name], np.zeros(len(each.sources), np.int32)),
            ids(each.targets),
            carried if any(carried) else None,
        )
