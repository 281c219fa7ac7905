"""Rows of a graph as a person sees them in a result."""

from __future__ import annotations

from orienteer.graph.store import Graph
from orienteer.index.snippet import snippet
from orienteer.records import Ranked


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
    )
