"""Similarity edges for an imported graph, as a layer beside it (SAGE, section 2.1.B: semi-structured nodes)."""

from __future__ import annotations

import time

import numpy as np
from pydantic import Field

from orienteer.errors import BadInput
from orienteer.graph.builder import Progress
from orienteer.graph.pieces.similar import LayerAbout, SimilarPairs, publish_layer
from orienteer.graph.pieces.vectors import open_vectors
from orienteer.graph.store import Graph
from orienteer.index.arrays import Rows
from orienteer.ingest.documents.join.similarity import Candidates, cosines, distinct_pairs, nearest, percentile_table
from orienteer.ingest.provenance import is_chunk_graph
from orienteer.options import Options
from orienteer.text.tokenizer import Tokenizer


class LinkConfig(Options):
    """Which nodes of a graph are joined by how they are described."""

    percentile: float = Field(default=95.0, gt=0, lt=100)
    """Candidates above this percentile of all of them are joined. SAGE, section 2.1.B."""
    threshold: float | None = None
    """A fixed cosine in place of the percentile."""
    near: int = Field(default=50, ge=1)
    """Nearest nodes that each node has as candidates."""
    least_words: int = 20
    """Words of text that a node needs to be joined by it: names alone say too little. SAGE, section 3."""
    node_types: tuple[str, ...] = ()
    """Join nodes of these types only; of all where none is named."""


def link_graph(graph: Graph, config: LinkConfig | None = None, *, progress: Progress | None = None) -> LayerAbout:
    """Join the nodes of a graph whose texts are alike, and publish the edges beside it, in place of earlier ones.

    Needs the graph's vectors. Raises `BadOption` if it has none, `BadInput` for a graph that `build` made, whose
    similarity edges are in it, or one with too few texts; `UnknownType`, `GraphBusy`.
    """
    started = time.perf_counter()
    config = config or LinkConfig()
    tell = progress or (lambda stage, count: None)
    if is_chunk_graph(graph.arrays.manifest):
        raise BadInput(f"{graph.path} was made by build: its edges of similarity are in it already")
    vectors = open_vectors(graph.path, graph.arrays.manifest.generation)
    rows = _rows_with_text(graph, config)
    if len(rows) < 2:
        raise BadInput(f"{graph.path} has {len(rows)} nodes with {config.least_words} words of text: nothing to join")
    tell(f"comparing {len(rows):,} nodes", 0)
    matrix = vectors.index.means(rows)
    pairs = distinct_pairs([nearest(matrix, matrix, config.near, is_same=True)], is_same=True)
    pool = Candidates(pairs, {"content": cosines(matrix, pairs)})
    threshold = config.threshold if config.threshold is not None else pool.thresholds(config.percentile)["content"]
    stays = pool.signals["content"] > threshold
    about = LayerAbout(
        generation=graph.arrays.manifest.generation,
        embedder=vectors.about.embedder,
        nodes=len(rows),
        candidates=len(stays),
        threshold=round(float(threshold), 6),
        edges=int(stays.sum()),
        mean_degree=2 * int(stays.sum()) / len(rows),
        density=float(stays.mean()) if len(stays) else 0.0,
        percentiles=tuple(row for row in percentile_table([pool], len(rows)) if row["logic"] == "or"),
    )
    about = about.model_copy(update={"seconds": round(time.perf_counter() - started, 3)})
    weight = pool.signals["content"][stays].astype(np.float32)
    publish_layer(graph, about, SimilarPairs(rows[pool.pairs.first[stays]], rows[pool.pairs.second[stays]], weight))
    return about


def _rows_with_text(graph: Graph, config: LinkConfig) -> Rows:
    """Return the nodes with text enough."""
    tokenizer = Tokenizer(stem=False)
    mask = graph.arrays.mask(config.node_types or None)
    rows = [
        row
        for row in range(len(graph))
        if (mask is None or mask[row]) and len(tokenizer.words(graph.arrays.texts[row])) >= config.least_words
    ]
    return np.array(rows, np.int32)
