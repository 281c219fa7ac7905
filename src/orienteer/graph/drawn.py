"""A page of a node's neighbours, for a picture in a notebook."""

from __future__ import annotations

from typing import Any

from orienteer.graph.store import Graph
from orienteer.page.notebook import DrawnNode, drawn_edges

_PAGE = 20  # neighbours; the page adds as many
_TEXT = 300  # characters of a node's text on its card


def drawn_neighbours(graph: Graph, node: str, offset: int) -> dict[str, Any]:  # Any: JSON
    """Return `nodes`, their `edges` to the node, and the `total` of neighbours. Raises `UnknownNode`, `BadOption`."""
    page = graph.neighbors(node, k=_PAGE, offset=offset)
    arrays = graph.arrays
    rows = arrays.rows([hit.id for hit in page.hits])
    nodes = []
    for row, degree in zip(rows.tolist(), arrays.adjacency.degree(rows).tolist(), strict=True):
        text = arrays.texts[row]
        about = (text if len(text) <= _TEXT else f"{text[:_TEXT]}…",) if text else ()
        nodes.append(DrawnNode(arrays.ids[row], arrays.type_at(row), arrays.names[row], degree, about))
    edges = [(edge.source, edge.type, edge.target) for hit in page.hits for edge in hit.edges]
    return {"nodes": [drawn._asdict() for drawn in nodes], "edges": drawn_edges(edges), "total": page.total}
