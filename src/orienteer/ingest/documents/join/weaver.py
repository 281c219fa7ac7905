"""Adds the nodes of a shelf, and the edges between them, to a graph."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import cached_property
from itertools import chain, islice
from pathlib import Path
from typing import TYPE_CHECKING, Any

from orienteer.errors import DuplicateNode
from orienteer.graph.builder import GraphBuilder, Progress
from orienteer.graph.edges import CodedColumn, EdgeBatch, NodeBatch
from orienteer.graph.names import CorpusNames, find_names
from orienteer.graph.pieces import publish_piece
from orienteer.graph.pieces.incidence import PIECE, write_names
from orienteer.graph.reserved import SYMMETRIC, WEIGHTED
from orienteer.graph.store import Graph
from orienteer.ingest.documents.config import BuildConfig
from orienteer.ingest.documents.join.pairs import (
    PlainEdge,
    Targets,
    link_edges,
    mention_edges,
    order_edges,
    shared_edges,
)
from orienteer.ingest.documents.join.similar_chunks import compare, compared, figures_of, similar_edges
from orienteer.records import Edge, Node

if TYPE_CHECKING:
    from orienteer.protocols import Embedder

_BATCH = 20_000
_NODES = 4_096  # nodes that are added at once


class Weaver:
    """Adds nodes, which it iterates several times, then what joins them, to a graph that is being built."""

    def __init__(
        self,
        builder: GraphBuilder,
        shelf: Iterable[Node],
        config: BuildConfig,
        *,
        progress: Progress,
    ) -> None:
        self.builder, self._shelf, self._config, self._progress = builder, shelf, config, progress
        self.counts: Counter[str] = Counter()
        """Edges by type."""
        self.greatest: dict[str, float] = {}
        """The greatest weight of each type whose weights say something."""
        self.similarity: dict[str, Any] | None = None  # Any: JSON
        """Figures of the similarities, None if there were no vectors."""

    def add_nodes(self) -> None:
        """Add the nodes. Raises `DuplicateNode` if two corpora share ids."""
        stream = iter(self._shelf)
        while nodes := list(islice(stream, _NODES)):
            try:
                self.builder.add_nodes(_columns(nodes))
            except DuplicateNode as error:
                twice = nodes[error.place].id
                raise DuplicateNode(
                    f"two passages have the id {twice!r}: build the corpora one by one, or give each its own ids"
                ) from error

    @cached_property
    def names(self) -> CorpusNames:
        """The names of the corpus, found once."""
        return find_names(self._shelf, progress=self._progress, share=self._config.name_share)

    def publish_names(self, target: Path) -> None:
        """Publish the names beside the graph, if its edges needed them.

        Otherwise the first question that needs them finds them. Raises `GraphBusy`.
        """
        if "names" in vars(self):
            graph = Graph.open(target)
            publish_piece(target, PIECE, lambda work: write_names(graph, self.names, work))

    def add_extracted_edges(self, edges: Iterable[EdgeBatch], *, symmetric: frozenset[str]) -> None:
        """Add what joins such nodes. Their weights are no measure for edges between chunks."""
        for batch in edges:
            self.builder.add_edges(batch)
            self.counts.update(batch.types)
        self.builder.edges.symmetric.update(symmetric & self.counts.keys())

    def add_edges(self, embedder: Embedder | None) -> None:
        """Add the edges of order and links, of names if the options ask for them, of vectors with an embedder."""
        for batch in chain.from_iterable(self._joined(embedder)):
            self.builder.add_edges(batch)
            self.counts.update(batch.types)
            self.greatest = greatest_weights(self.greatest, [batch])
        self.builder.edges.symmetric.update(SYMMETRIC & self.counts.keys())

    def _joined(self, embedder: Embedder | None) -> Iterator[Iterable[EdgeBatch]]:
        shelf, config = self._shelf, self._config
        targets = Targets()
        yield batches(order_edges(targets.noted(shelf)))
        yield batches(link_edges(shelf, targets))
        is_similar = config.similar and embedder is not None
        if not config.has_names and not is_similar:
            return
        if config.has_names:
            yield batches(mention_edges(self.names))
            yield shared_edges(self.names, config)
        if embedder is not None and is_similar:
            parts = compared(shelf, self.names)
            several = compare(parts, self.names, embedder, config)
            self.similarity = figures_of(several, parts, config)
            yield batches(similar_edges(several, parts, self.names, config))


def _columns(nodes: Sequence[Node]) -> NodeBatch:
    names = dict.fromkeys(name for node in nodes for name in node.properties)
    return NodeBatch(
        ids=[node.id for node in nodes],
        types=[node.type for node in nodes],
        names=[node.name or node.id for node in nodes],
        texts=[node.text for node in nodes],
        properties={name: [node.properties.get(name) for node in nodes] for name in names},
        aliases=[node.aliases for node in nodes],
    )


def greatest_weights(before: Mapping[str, float], edges: Iterable[EdgeBatch]) -> dict[str, float]:
    """Return the greatest weight of each type whose weights say how strong an edge is: of those before and of these."""
    greatest = dict(before)
    for batch in edges:
        types, extras = batch.types, batch.extras
        if isinstance(types, CodedColumn) and isinstance(extras, CodedColumn) and len(types.values) == 1:
            types, extras = [*types.values] * len(extras.values), extras.values
        for kind, extra in zip(types, extras or (), strict=False):
            weight = (extra or {}).get("weight", 1.0)
            if kind in WEIGHTED and isinstance(weight, float):
                greatest[kind] = max(greatest.get(kind, 0.0), weight)
    return greatest


def batches(edges: Iterable[Edge | PlainEdge]) -> Iterator[EdgeBatch]:
    """Return edges as the builder takes them."""
    stream = iter(edges)
    while some := list(islice(stream, _BATCH)):
        extras = [edge.extras if isinstance(edge, Edge) else {} for edge in some]
        yield EdgeBatch(
            sources=[edge.source for edge in some],
            types=[edge.type for edge in some],
            targets=[edge.target for edge in some],
            extras=extras if any(extras) else None,
        )
