"""Which nodes come and go when tables of nodes change: rows are told by their hashes, and only new ones are read."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from orienteer.graph.edges import NodeNumbers, id_hashes
from orienteer.graph.store import Graph
from orienteer.index.arrays import Rows
from orienteer.index.revision import Layout
from orienteer.ingest.report import Tally
from orienteer.ingest.update.ledger import EdgeRows, NodeRows, Numbers
from orienteer.ingest.update.reading import SourceTable, chosen, hashed_batches, nodes_in
from orienteer.ingest.update.whole import ImportWhole
from orienteer.records import Node

MOST_CHANGED = 0.25
"""Of the nodes of a graph: when more come, an import of everything takes no longer, and less memory."""
LEAST_CHANGED = 5_000
"""Nodes that may always come."""


class NodeChange(NamedTuple):
    """The nodes that come and go. Those of the graph keep their rows as numbers; the n-th that comes has size + n."""

    size: int
    """Nodes of the graph before."""
    gone: Rows
    nodes: list[Node]
    """Those that come, by id; one has the id of a row that goes where its type is another."""
    renewed: dict[int, Node]
    """Nodes by number that say something else, and keep their id, their type and their edges."""

    @property
    def is_empty(self) -> bool:
        """Say whether no node comes or goes, so that all ends of edges are as they were."""
        return not len(self.gone) and not self.nodes

    @property
    def gone_rows(self) -> Rows:
        """Return the rows of the graph that are written anew, or no more, ascending."""
        return np.union1d(self.gone, np.array([*self.renewed], np.int32)).astype(np.int32)

    def place(self, layout: Layout) -> Numbers:
        """Return the new row of each number."""
        written = sorted([*self.nodes, *self.renewed.values()], key=lambda node: node.id)
        rows = dict(zip((node.id for node in written), layout.new.tolist(), strict=True))
        place = np.concatenate([layout.old, np.array([rows[node.id] for node in self.nodes], np.int32)])
        place[[*self.renewed]] = [rows[node.id] for node in self.renewed.values()]
        return place

    @property
    def stays(self) -> NDArray[np.bool_]:
        """Mark the nodes of the graph that stay: (size,)."""
        stays = np.ones(self.size, np.bool_)
        stays[self.gone] = False
        return stays

    def numbering(self, graph: Graph) -> NodeNumbers:
        """Return what finds the numbers of all nodes that are there afterwards. Raises `ImportWhole`."""
        stays = self.stays
        hashes = [id_hashes(graph.arrays.ids)[stays], id_hashes(node.id for node in self.nodes)]
        coming = np.arange(self.size, self.size + len(self.nodes), dtype=np.int32)
        numbers = NodeNumbers(np.concatenate(hashes), np.concatenate([np.flatnonzero(stays).astype(np.int32), coming]))
        if not numbers.is_exact:
            raise ImportWhole("two ids have the same hash")
        return numbers


@dataclass(slots=True)
class _Coming:
    """The nodes that come, in the order of reading; numbered from the size of the graph on."""

    size: int
    nodes: list[Node] = field(default_factory=list)
    ids: set[str] = field(default_factory=set)
    by_row: dict[tuple[str, int], int] = field(default_factory=dict)
    """The number of each by its file and the hash of its row."""

    def number(self, path: str, row_hash: int, node: Node) -> int:
        """Return the number of a node; that of the first where a row is there several times."""
        number = self.by_row.setdefault((path, row_hash), self.size + len(self.nodes))
        if number == self.size + len(self.nodes):
            if node.id in self.ids:
                raise ImportWhole(f"several rows that are new say what {node.id!r} is")
            self.ids.add(node.id)
            self.nodes.append(node)
            check_count(len(self.nodes), self.size)
        return number


class NodeComparison:
    """Compares tables of nodes with what a graph was made of."""

    def __init__(self, graph: Graph) -> None:
        self._graph = graph
        self._coming = _Coming(len(graph))

    def read(self, source: SourceTable, before: NodeRows | None, tally: Tally) -> NodeRows:
        """Read a table that changed, or is new; rows that it had before are not looked into. Raises `ImportWhole`."""
        known = _KnownRows(before)
        hashes, numbers = [np.zeros(0, np.uint64)], [np.zeros(0, np.int32)]
        for batch, hashed in hashed_batches(source, tally):
            nodes = known.find(hashed)
            new = np.flatnonzero(nodes < 0)
            if len(new):
                made = nodes_in(source, chosen(batch, new), tally)
                for row in new.tolist():
                    node = made.get(batch.lines[row])
                    if node is not None:
                        nodes[row] = self._coming.number(source.path, int(hashed[row]), node)
            hashes.append(hashed)
            numbers.append(nodes)
        return NodeRows(np.concatenate(hashes), np.concatenate(numbers))

    def change(self, tables: Mapping[str, NodeRows]) -> tuple[NodeChange, dict[str, NodeRows]]:
        """Return what comes and goes, and all tables with the numbers of that. Raises `ImportWhole`."""
        size, coming, arrays = len(self._graph), self._coming.nodes, self._graph.arrays
        is_named = np.zeros(size + len(coming) + 1, np.bool_)  # the last is for rows without a node
        for rows in tables.values():
            is_named[rows.nodes] = True
        place = np.arange(size + len(coming), dtype=np.int32)
        renewed: dict[int, Node] = {}
        others: list[int] = []
        for at, node in enumerate(coming):
            row = arrays.ids.find(node.id)
            if row is not None and is_named[row]:
                raise ImportWhole(f"a row that is new says again what {node.id!r} is")
            if row is not None and arrays.types.nodes[arrays.node_types[row]] == node.type:
                renewed[row], place[size + at] = node, row
            else:
                others.append(at)
        others.sort(key=lambda at: coming[at].id)
        place[size + np.array(others, np.int64)] = np.arange(size, size + len(others), dtype=np.int32)
        is_named[[*renewed]] = True
        gone = np.flatnonzero(~is_named[:size]).astype(np.int32)
        change = NodeChange(size, gone, [coming[at] for at in others], renewed)
        return change, {path: rows.placed(place) if coming else rows for path, rows in tables.items()}


class _KnownRows:
    """The nodes of the rows that a table had, by hash."""

    def __init__(self, before: NodeRows | None) -> None:
        hashes = np.zeros(0, np.uint64) if before is None else before.hashes
        nodes = np.zeros(0, np.int32) if before is None else before.nodes
        self._hashes, firsts = np.unique(hashes, return_index=True)
        self._nodes = nodes[firsts]

    def find(self, hashes: NDArray[np.uint64]) -> Numbers:
        """Return the node of each row: (rows,), -1 for rows that are new or had none."""
        if not len(self._hashes):
            return np.full(len(hashes), -1, np.int32)
        at = np.minimum(np.searchsorted(self._hashes, hashes), len(self._hashes) - 1)
        return np.where(self._hashes[at] == hashes, self._nodes[at], np.int32(-1)).astype(np.int32)


class EndNodes:
    """The nodes that edges alone tell of: a table of edges without one of nodes makes each end a node."""

    def __init__(self, graph: Graph) -> None:
        self._graph = graph
        self._numbers = NodeChange(len(graph), np.zeros(0, np.int32), [], {}).numbering(graph)
        self._coming: dict[str, int] = {}

    def find(self, ids: Sequence[str]) -> Numbers:
        """Return the number of each node, (ids,); a new one gets the next number."""
        numbers = self._numbers.find(ids)
        for at in np.flatnonzero(numbers < 0).tolist():
            numbers[at] = self._coming.setdefault(ids[at], len(self._graph) + len(self._coming))
        check_count(len(self._coming), len(self._graph))
        return numbers

    def change(self, tables: Mapping[str, EdgeRows], node_of: SourceTable) -> tuple[NodeChange, dict[str, EdgeRows]]:
        """Return what comes and goes, and all tables with the numbers of that."""
        size, ids = len(self._graph), list(self._coming)
        is_named = np.zeros(size + len(ids), np.bool_)
        for rows in tables.values():
            is_named[rows.sources] = True
            is_named[rows.targets] = True
        order = sorted(range(len(ids)), key=ids.__getitem__)
        place = np.arange(size + len(ids), dtype=np.int32)
        place[size + np.array(order, np.int64)] = np.arange(size, size + len(ids), dtype=np.int32)
        maker = node_of.end_maker(Tally())
        nodes = [maker.node(ids[at], {}) for at in order]
        change = NodeChange(size, np.flatnonzero(~is_named[:size]).astype(np.int32), nodes, {})
        return change, {path: rows.placed(place) if ids else rows for path, rows in tables.items()}


def check_count(coming: int, size: int) -> None:
    """Raise `ImportWhole` where too many nodes come."""
    if coming > max(LEAST_CHANGED, MOST_CHANGED * size):
        raise ImportWhole(f"more than {MOST_CHANGED:.0%} of the nodes are new or changed")
