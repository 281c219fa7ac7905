"""Rows of a graph as a person sees them in a result."""

from __future__ import annotations

from orienteer.graph.store import Graph
from orienteer.records import Ranked, Source
from orienteer.text.lines import snippet


def present(graph: Graph, row: int, *, score: float, query: str, votes: int | None = None, why: str = "") -> Ranked:
    """Return a hit with the part of its text that shows best why it fits a query."""
    index = graph.text_index
    weights = {term: found.idf for term in graph.tokenizer.query(query) if (found := index.posting(term))}
    return Ranked(
        id=graph.ids[row],
        type=graph.type_at(row),
        name=graph.names[row],
        score=score,
        votes=votes,
        why=why,
        text=snippet(graph.texts[row], weights, graph.tokenizer.terms_of),
        source=source_of(graph, row),
    )


def source_of(graph: Graph, row: int) -> Source | None:
    """Return where in a person's files a chunk, a table or a document comes from; None in a graph of another kind."""
    if not graph.is_made_of_documents:
        return None
    known = graph.properties.of(row)
    file, page, heading = known.get("file"), known.get("page"), known.get("heading")
    first, count = known.get("first_row", known.get("row")), known.get("rows", 1)
    rows = None
    if isinstance(first, int) and isinstance(count, int) and count:
        rows = str(first) if count == 1 else f"{first}-{first + count - 1}"
    return Source(
        file=file if isinstance(file, str) else None,
        page=page if isinstance(page, int) else None,
        heading=heading if isinstance(heading, str) else None,
        rows=rows,
    )
