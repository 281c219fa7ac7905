"""A document as the graph holds it: its parts in order, around one of them."""

from __future__ import annotations

from typing import TYPE_CHECKING

from orienteer.graph.reserved import DOCUMENT, PART_OF, PASSAGES
from orienteer.records import Direction, Source
from orienteer.serve.views.pages import node_named
from orienteer.serve.views.records import View

if TYPE_CHECKING:
    from orienteer.graph.arrays import GraphArrays
    from orienteer.graph.store import Graph

PARTS = 20
"""Parts of a page unless asked otherwise."""


class DocumentPart(View):
    """A piece of prose or of a table."""

    id: str
    type: str
    name: str
    text: str
    source: Source | None


class DocumentPage(View):
    """Some parts of a document in their order. What a reader sees was read from the graph, never from a file."""

    id: str
    name: str
    file: str | None
    """Beneath the folder that was read."""
    total: int
    """Parts in all."""
    offset: int
    """The place of the first one that is here."""
    place: int
    """The place of the part that was asked for; that of the first one for a document."""
    parts: tuple[DocumentPart, ...]
    notes: tuple[str, ...] = ()


def document(graph: Graph, node: str, *, k: int = PARTS, offset: int | None = None) -> DocumentPage:
    """Return the document that a node is, or is a part of: `k` parts from `offset` on, else around the node.

    A node of another kind is a document of one part. Raises `UnknownNode`, `AmbiguousNode`.
    """
    from orienteer.retrieval.graph_text import source_of

    arrays = graph.arrays
    asked = arrays.row(node_named(graph, node).id)
    owners = _joined(arrays, asked, direction="out")
    owner = owners[0] if owners else asked
    rows = sorted(_joined(arrays, owner, direction="in"), key=lambda row: (_order(arrays, row), row)) or [owner]
    place = rows.index(asked) if asked in rows else 0
    start = max(0, min(place - k // 2, len(rows) - k)) if offset is None else offset
    whole = arrays.node_at(owner)
    file = whole.properties.get("file")
    return DocumentPage(
        id=whole.id,
        name=whole.name,
        file=file if isinstance(file, str) else None,
        total=len(rows),
        offset=start,
        place=place,
        parts=tuple(
            DocumentPart(id=part.id, type=part.type, name=part.name, text=part.text, source=source_of(graph, row))
            for row in rows[start : start + k]
            for part in (arrays.node_at(row),)
        ),
    )


def _joined(arrays: GraphArrays, row: int, *, direction: Direction) -> list[int]:
    """Return the rows at the other ends of a node's edges to its document, or from its parts."""
    import numpy as np

    here, there = (PASSAGES, {DOCUMENT}) if direction == "out" else ({DOCUMENT}, PASSAGES)
    if PART_OF not in arrays.types.edges or arrays.type_at(row) not in here:
        return []
    entries = arrays.entries(np.array([row], np.int32), edge_types=[PART_OF], direction=direction)
    rows: list[int] = entries.neighbor.tolist()
    return [other for other in rows if arrays.type_at(other) in there]


def _order(arrays: GraphArrays, row: int) -> int:
    order = arrays.properties.of(row).get("order")
    return order if isinstance(order, int) else 0
