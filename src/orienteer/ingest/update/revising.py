"""What an update found, as a revision of the graph."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence

import numpy as np

from orienteer.graph.edges import CodedColumn, EdgeBatch, type_numbers
from orienteer.graph.embedding import carried_vectors
from orienteer.graph.format import Manifest, read_pointer
from orienteer.graph.pieces import command_of, is_free, vectors
from orienteer.graph.revision import Piece, Revision
from orienteer.graph.store import Graph
from orienteer.ingest.tables.edges import Extra
from orienteer.ingest.update.edge_changes import NodeTypes, TypeChange
from orienteer.ingest.update.ledger import Numbers, TypeCuts
from orienteer.ingest.update.node_changes import NodeChange
from orienteer.ingest.update.whole import ImportWhole

MOST_EDGES = 0.25
"""Of the edges of a graph: when more come or go, an import of everything takes no longer."""
LEAST_EDGES = 100_000
"""Edges that may always come or go."""


def node_types_of(graph: Graph, change: NodeChange) -> NodeTypes:
    """Return the types of all nodes by their numbers, those that come among them."""
    numbers = {name: number for number, name in enumerate(graph.arrays.manifest.node_types)}
    coming = type_numbers([node.type for node in change.nodes], numbers)
    return NodeTypes(np.concatenate([graph.arrays.node_types, coming]), list(numbers))


def check_size(changes: Mapping[str, TypeChange], manifest: Manifest) -> None:
    """Raise `ImportWhole` where so many edges come or go that an import takes no longer."""
    count = sum(change.added + change.removed for change in changes.values())
    if count > max(LEAST_EDGES, MOST_EDGES * manifest.edges):
        raise ImportWhole(f"more than {MOST_EDGES:.0%} of the edges come or go")


def cuts_after(cuts: Mapping[str, TypeCuts], changes: Mapping[str, TypeChange]) -> dict[str, TypeCuts]:
    """Return the rows by type that are no edges, after the changes."""
    after = {name: of_type for name, of_type in cuts.items() if name not in changes}
    after |= {name: each.cuts for name, each in changes.items()}
    return {name: of_type for name, of_type in after.items() if of_type != TypeCuts()}


def revision_of(
    graph: Graph,
    change: NodeChange,
    changes: Mapping[str, TypeChange],
    *,
    extras: Mapping[int, Mapping[int, Extra]],
    named: Sequence[str],
    symmetric: Collection[str],
) -> Revision:
    """Return the revision of a graph by its changes.

    `extras` has what the edges that come carry, by table and row; `named` are the types of edges that rows name, and
    `symmetric` those without a direction.
    """
    stays = change.stays
    lost = []
    for name, each in changes.items():
        sources, targets = (
            (each.lost >> np.uint64(32)).astype(np.int64),
            (each.lost & np.uint64(0xFFFFFFFF)).astype(np.int64),
        )
        both = stays[sources] & stays[targets]
        lost += [
            (source, name, target)
            for source, target in zip(sources[both].tolist(), targets[both].tolist(), strict=True)
        ]
    return Revision(
        change.gone_rows,
        [*change.nodes, *change.renewed.values()],
        list(_batches(graph, change, changes, extras)),
        lost,
        frozenset(symmetric),
        named,
        frozenset(changes) - frozenset(symmetric),
        [node.id for node in change.renewed.values()],
    )


def _batches(
    graph: Graph, change: NodeChange, changes: Mapping[str, TypeChange], extras: Mapping[int, Mapping[int, Extra]]
) -> Iterator[EdgeBatch]:
    """Yield the edges that come, type by type."""
    for name, each in changes.items():
        if not len(each.sources):
            continue
        carried = [
            extras[table].get(row) if has_extra else None
            for table, row, has_extra in zip(each.table.tolist(), each.row.tolist(), each.extras.tolist(), strict=True)
        ]
        yield EdgeBatch(
            _ids(graph, change, each.sources),
            CodedColumn([name], np.zeros(len(each.sources), np.int32)),
            _ids(graph, change, each.targets),
            carried if any(carried) else None,
        )


def _ids(graph: Graph, change: NodeChange, numbers: Numbers) -> CodedColumn:
    """Return the ids of nodes, each once."""
    distinct, codes = np.unique(numbers, return_inverse=True)
    ids, nodes = graph.arrays.ids, change.nodes
    values = [ids[number] if number < change.size else nodes[number - change.size].id for number in distinct.tolist()]
    return CodedColumn(values, codes)


def carried_pieces(graph: Graph, revision: Revision, notes: list[str]) -> dict[str, Piece]:
    """Return what writes the pieces that go on beside the next generation; note those that a command makes anew."""
    made = read_pointer(graph.path).pieces
    lost = [name for name in made if not is_free(name) and name != vectors.PIECE]
    notes += [f"{name}: made anew by orienteer {command_of(name)} {graph.path}" for name in lost]
    if vectors.read_about(graph.path) is None:
        return {}
    return {vectors.PIECE: carried_vectors(graph, revision, notes.append)}
