"""What a picture of an answer needs: some nodes with all edges among them, and facets of a set of hits."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import islice
from typing import TYPE_CHECKING, NamedTuple

from orienteer.errors import BadOption, UsageError
from orienteer.patience import check_patience
from orienteer.records import WalkedEdge
from orienteer.serve.views.records import DrawnNode, Facet, Facets, Group, Subgraph

if TYPE_CHECKING:
    from orienteer.graph.listing import ListedGroup
    from orienteer.graph.store import Graph
    from orienteer.index.arrays import Rows

MOST_NODES = 2_000
"""Nodes of a picture: a browser draws so many with ease, and nobody reads more."""
MOST_EDGES = 20_000
"""Edges of a picture."""
MOST_PROPERTIES = 40
"""Properties that facets show."""
MOST_VALUES = 20
"""Values of a property that facets show."""


def subgraph(graph: Graph, nodes: Sequence[str], *, around: int = 0) -> Subgraph:
    """Return some nodes and all edges among them, loops left out, and of their neighbours up to `around`.

    Of the neighbours those come first that the most edges join to the nodes.
    A node is its id, a name, or what replies show: `name (Type)`, `[id]`. What names no node, or several, is `unknown`.
    Nodes beyond `MOST_NODES` and edges beyond `MOST_EDGES` are left out, and `truncated` says so.
    """
    import numpy as np

    if isinstance(nodes, str):
        raise BadOption(f"nodes is the text {nodes!r}: write a list, [{nodes!r}]")
    if around < 0:
        raise BadOption(f"around is {around}: it must be 0 or more")
    drawn = _drawn(graph, nodes)
    rows = drawn.rows + _joined(graph, drawn.rows, around)
    kept = rows[:MOST_NODES]
    edges = list(islice(_among(graph, np.unique(np.array(kept, np.int32))), MOST_EDGES + 1))
    arrays = graph.arrays
    degrees = arrays.adjacency.degree(np.array(kept, np.int32)).tolist()
    return Subgraph(
        nodes=tuple(
            DrawnNode(id=arrays.ids[row], type=arrays.type_at(row), name=arrays.names[row], degree=degree)
            for row, degree in zip(kept, degrees, strict=True)
        ),
        edges=tuple(edges[:MOST_EDGES]),
        truncated=len(kept) < len(rows) or len(edges) > MOST_EDGES,
        unknown=drawn.unknown,
    )


class _Drawn(NamedTuple):
    rows: list[int]
    unknown: tuple[str, ...]


def _drawn(graph: Graph, nodes: Sequence[str]) -> _Drawn:
    """Return the rows of what is asked for, each once, in this order."""
    from orienteer.tools.session import Session

    session = Session(graph)  # which reads what agents write, as an answer has it
    rows: dict[int, None] = {}
    unknown: list[str] = []
    for node in nodes:
        try:
            rows |= dict.fromkeys(session.rows(node, []).tolist())
        except UsageError:
            unknown.append(node)
    return _Drawn(list(rows), tuple(unknown))


def _joined(graph: Graph, rows: Sequence[int], most: int) -> list[int]:
    """Return as many neighbours of some nodes as `most`, those first that the most edges join to them."""
    import numpy as np

    if not most or not rows:
        return []
    inside = np.unique(np.array(rows, np.int32))
    reached, counts = np.unique(graph.arrays.adjacency.entries(inside).neighbor, return_counts=True)
    outside = ~np.isin(reached, inside)
    reached, counts = reached[outside], counts[outside]
    best: list[int] = reached[np.lexsort((reached, -counts))][:most].tolist()
    return best


def _among(graph: Graph, rows: Rows) -> Iterator[WalkedEdge]:
    """Yield the edges among some rows, (n,) int32, ascending: each kind once between two of them."""
    import numpy as np

    arrays = graph.arrays
    entries = arrays.adjacency.entries(rows)
    is_inside = np.isin(entries.neighbor, rows) & (entries.kind & 1 == 0)  # an edge stands at both of its ends
    places = zip(entries.owner[is_inside], entries.kind[is_inside] >> 1, entries.neighbor[is_inside], strict=True)
    for source, edge_type, target in dict.fromkeys((int(a), int(kind), int(b)) for a, kind, b in places):
        yield WalkedEdge(source=arrays.ids[source], type=arrays.types.edges[edge_type], target=arrays.ids[target])


# ------------------------------------------------------------------------------------------------------------ facets


def facets(graph: Graph, nodes: Sequence[str]) -> Facets:
    """Return some nodes, by their ids, counted by type and by the values of their properties.

    Properties that the most nodes have come first, and of each its most frequent values. Raises `UnknownNode`.
    """
    from orienteer.graph.listing import group_values

    if isinstance(nodes, str):
        raise BadOption(f"nodes is the text {nodes!r}: write a list, [{nodes!r}]")
    arrays = graph.arrays
    rows = arrays.rows(nodes)
    counted = []
    for name in arrays.properties.names:
        check_patience()
        facet = _facet(name, group_values(arrays.properties.values(name, rows)))
        if facet.groups:
            counted.append(facet)
    counted.sort(key=lambda facet: facet.missing)  # stable: else in the order of the graph
    types = group_values(arrays.type_at(row) for row in rows.tolist())
    return Facets(total=len(rows), types=_shown(types), properties=tuple(counted[:MOST_PROPERTIES]))


def _facet(name: str, groups: Sequence[ListedGroup]) -> Facet:
    having = [group for group in groups if group.value is not None]
    missing = sum(group.count for group in groups if group.value is None)
    return Facet(name=name, groups=_shown(having[:MOST_VALUES]), distinct=len(having), missing=missing)


def _shown(groups: Sequence[ListedGroup]) -> tuple[Group, ...]:
    return tuple(Group(value=group.value, count=group.count) for group in groups)
