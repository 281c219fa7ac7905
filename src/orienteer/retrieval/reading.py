"""The part of evidence that is worth a reader's time."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import replace

from orienteer.graph.reserved import PASSAGES
from orienteer.graph.store import Graph
from orienteer.records import Node
from orienteer.retrieval.evidence import Evidence, Scored
from orienteer.retrieval.graph_text import folded
from orienteer.retrieval.matching.predicate import stating_types
from orienteer.text.tokenizer import Tokenizer


def worth_reading(evidence: Evidence, graph: Graph, most: int, *, without: Collection[str] = ()) -> Evidence:
    """Return evidence without what a reader gains nothing from, at most `most` passages of it.

    Left out are the nodes of the ids `without`, passages that nearly repeat a better one, and edges and paths that
    merely say how texts hang together.
    """
    stating = stating_types(graph)
    nodes = [scored for scored in evidence.nodes if scored.item.id not in without]
    return replace(
        evidence,
        nodes=_distinct(nodes, graph, most),
        edges=tuple(scored for scored in evidence.edges if scored.item.type in stating),
        paths=tuple(scored for scored in evidence.paths if all(edge.type in stating for edge in scored.item)),
    )


def _distinct(nodes: list[Scored[Node]], graph: Graph, most: int) -> tuple[Scored[Node], ...]:
    """Return the first passages that differ, contents pages last, and all other nodes behind them."""
    passages = {graph.arrays.row(scored.item.id): scored for scored in nodes if scored.item.type in PASSAGES}
    others = [scored for scored in nodes if scored.item.type not in PASSAGES]
    distinct = folded(graph, list(passages), lambda row: Tokenizer.words(graph.arrays.texts[row])).rows
    return (*(passages[row] for row in distinct[:most]), *others)
