"""A page of a node's neighbours, as a picture in a notebook adds them."""

from __future__ import annotations

from typing import Any

from orienteer.graph.store import Graph
from orienteer.page.notebook import DrawnNode, drawn_edges

_PAGE = 20  # neighbours; the page adds as many
_TEXT = 300  # characters of a node's text on its card


def drawn_neighbours(graph: Graph, node: str, offset: int) -> dict[str, Any]:  # Any: JSON
    """Return `nodes`, the `edges` that join them to the node, and how many neighbours it has, as `total`.

    Raises `UnknownNode`, `BadOption`.
    """
    page = graph.neighbors(node, k=_PAGE, offset=offset)
    arrays = graph.arrays
    rows = arrays.rows([hit.id for hit in page.hits])
    degrees = arrays.adjacency.degree(rows).tolist()
    nodes = [
        DrawnNode(arrays.ids[row], arrays.type_at(row), arrays.names[row], degree, _about(arrays.texts[row]))
        for row, degree in zip(rows.tolist(), degrees, strict=True)
    ]
    edges = [(edge.source, edge.type, edge.target) for hit in page.hits for edge in hit.edges]
    return {"nodes": [drawn._asdict() for drawn in nodes], "edges": drawn_edges(edges), "total": page.total}


def _about(text: str) -> tuple[str, ...]:
    return (text if len(text) <= _TEXT else f"{text[:_TEXT]}…",) if text else ()
