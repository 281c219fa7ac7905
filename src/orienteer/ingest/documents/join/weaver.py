"""Adds the nodes of a shelf, and the edges between them, to a graph."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
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
from orienteer.ingest.documents.join.similar_chunks import compare, fields_of, similar_edges
from orienteer.ingest.documents.join.statistics import statistics
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
        is_measured: bool = False,
    ) -> None:
        self._builder, self._shelf, self._config, self._progress = builder, shelf, config, progress
        self._is_measured = is_measured
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
                self._builder.add_nodes(_columns(nodes))
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

    def add_extracted_nodes(self, nodes: Callable[[Callable[[str], bool]], Iterable[Node]]) -> None:
        """Add nodes that a function makes of the shelf; it is given a test for ids that are taken."""
        for node in nodes(self._builder.has):
            self._builder.add_node(node)

    def add_extracted_edges(self, edges: Iterable[EdgeBatch], *, symmetric: frozenset[str]) -> None:
        """Add what joins such nodes. Their weights are no measure for edges between chunks."""
        for batch in edges:
            self._builder.add_edges(batch)
            self.counts.update(batch.types)
        self._builder.edges.symmetric.update(symmetric & self.counts.keys())

    def add_edges(self, embedder: Embedder | None) -> None:
        """Add the edges of order and links, of names if the options ask for them, of vectors with an embedder."""
        for batch in chain.from_iterable(self._joined(embedder)):
            self._builder.add_edges(batch)
            self.counts.update(batch.types)
            for kind, weight in weights_of(batch):
                self.greatest[kind] = max(self.greatest.get(kind, 0.0), weight)
        self._builder.edges.symmetric.update(SYMMETRIC & self.counts.keys())

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
            kinds = fields_of(shelf)
            several = compare(kinds, self.names, embedder, config, is_measured=self._is_measured)
            self.similarity = statistics(several, kinds, config, is_measured=self._is_measured)
            yield similar_edges(several, self.names, config)


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


def weights_of(batch: EdgeBatch) -> Iterator[tuple[str, float]]:
    """Yield the type and the weight of each edge whose weight says how strong it is; of edges that share it, once."""
    types, extras = batch.types, batch.extras
    if isinstance(types, CodedColumn) and isinstance(extras, CodedColumn) and len(types.values) == 1:
        types, extras = [*types.values] * len(extras.values), extras.values
    for kind, extra in zip(types, extras or (), strict=False):
        weight = (extra or {}).get("weight", 1.0)
        if kind in WEIGHTED and isinstance(weight, float):
            yield kind, weight


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
