"""Similarity edges of an imported graph, as a layer beside it (SAGE, section 2.1.B: semi-structured nodes).

A piece of the graph's generation, made from its vectors and removed with it, so that it can be made again with other
options at any time. It is no part of the schema: who plans over a graph sees its own edges alone; who expands may
walk both.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from pydantic import ValidationError

from orienteer.build.documents.similarity import Candidates, candidates, cosines, nearest, percentile_table
from orienteer.build.documents.sources import is_chunk_graph
from orienteer.errors import BadInput, BadOption, NotAGraph
from orienteer.graph import format
from orienteer.graph.store import Graph
from orienteer.graph.vectors import open_vectors
from orienteer.index.arrays import Folder, Rows, save
from orienteer.index.tokenizer import Tokenizer
from orienteer.records import Record

PIECE = "similar"
ABOUT = "similar.json"
Progress = Callable[[str, int], None]


@dataclass(frozen=True, slots=True, kw_only=True)
class LinkConfig:
    """Which nodes of a graph are joined by how they are described."""

    percentile: float = 95.0
    """Candidates above this percentile of all of them are joined. SAGE, section 2.1.B."""
    threshold: float | None = None
    """A fixed cosine in place of the percentile."""
    near: int = 50
    """Nearest nodes that each node has as candidates."""
    least_words: int = 20
    """Words of text that a node needs to be joined by it: names alone say too little. SAGE, section 3."""
    node_types: tuple[str, ...] = ()
    """Join nodes of these types only; of all where none is named."""

    def __post_init__(self) -> None:
        if not 0 < self.percentile < 100:
            raise BadOption(f"percentile is {self.percentile}: it must lie between 0 and 100")
        if self.near < 1:
            raise BadOption(f"near is {self.near}: it must be 1 or more")


class LayerAbout(Record):
    """What a layer of similarity edges says of itself."""

    format: int = 1
    generation: str
    embedder: str | None
    nodes: int
    """Nodes with text enough to be joined."""
    candidates: int
    """Pairs that the percentile is taken over."""
    threshold: float
    edges: int
    mean_degree: float
    density: float
    """Share of the candidates that is kept."""
    percentiles: tuple[dict[str, float | str], ...] = ()
    """How many edges other percentiles would keep: SAGE, table 5."""
    seconds: float = 0.0


class Alike(NamedTuple):
    """Neighbours by similarity: those of all asked for, one after the other."""

    owner: NDArray[np.int32]
    neighbor: NDArray[np.int32]
    weight: NDArray[np.float32]
    """Cosines."""


class SimilarLayer:
    """The similarity edges of a graph, mapped. Safe to share among threads."""

    def __init__(self, folder: Path, about: LayerAbout) -> None:
        arrays = Folder(folder)
        self.about = about
        self._begins = arrays.array("begin", "i8")
        self._neighbors = arrays.array("neighbor", "i4")
        self._weights = arrays.array("weight", "f4")

    def around(self, rows: Rows) -> Alike:
        """Return the neighbours of some rows, both ways, each row's in row order."""
        counts = self._begins[rows + 1] - self._begins[rows]
        ends = np.cumsum(counts)
        at = np.repeat(self._begins[rows] - (ends - counts), counts) + np.arange(int(counts.sum()))
        return Alike(np.repeat(rows, counts), self._neighbors[at], self._weights[at])


def open_layer(graph: Graph) -> SimilarLayer | None:
    """Return the similarity edges of a graph, None where none were made. Raises `NotAGraph` for damage."""
    folder = format.piece(graph.path, PIECE)
    if folder is None:
        return None
    try:
        about = LayerAbout.model_validate_json((folder / ABOUT).read_bytes())
    except (FileNotFoundError, ValidationError) as error:
        raise NotAGraph(f"{folder} is damaged ({error}): run orienteer link {graph.path} again") from error
    return SimilarLayer(folder, about) if about.generation == graph.manifest.generation else None


def link_graph(graph: Graph, config: LinkConfig | None = None, *, progress: Progress | None = None) -> LayerAbout:
    """Join the nodes of a graph whose texts are alike, and publish the edges beside it, in place of earlier ones.

    Needs the graph's vectors. Raises `BadOption` where it has none, `BadInput` for a graph that `build` made, whose
    similarity edges are in it, or one with too few texts; `UnknownType`, `GraphBusy`.
    """
    started = time.perf_counter()
    config = config or LinkConfig()
    tell = progress or _silent
    if is_chunk_graph(graph.manifest):
        raise BadInput(f"{graph.path} was made by build: its edges of similarity are in it already")
    vectors = open_vectors(graph.path, graph.manifest.generation)
    rows = _rows_with_text(graph, config)
    if len(rows) < 2:
        raise BadInput(f"{graph.path} has {len(rows)} nodes with {config.least_words} words of text: nothing to join")
    tell(f"comparing {len(rows):,} nodes", 0)
    matrix = vectors.index.means(rows)
    found = candidates(
        [nearest(matrix, matrix, config.near, is_same=True)],
        {"content": cosines(matrix, matrix)},
        is_same=True,
        wide=len(rows),
    )
    threshold = config.threshold if config.threshold is not None else found.thresholds(config.percentile)["content"]
    kept = found.signals["content"] > threshold
    about = LayerAbout(
        generation=graph.manifest.generation,
        embedder=vectors.about.embedder,
        nodes=len(rows),
        candidates=len(kept),
        threshold=round(float(threshold), 6),
        edges=int(kept.sum()),
        mean_degree=2 * int(kept.sum()) / len(rows),
        density=float(kept.mean()) if len(kept) else 0.0,
        percentiles=tuple(row._asdict() for row in percentile_table([found], len(rows)) if row.logic == "or"),
    )
    about = about.model_copy(update={"seconds": round(time.perf_counter() - started, 3)})
    _publish(graph, about, rows, found, kept)
    return about


def _rows_with_text(graph: Graph, config: LinkConfig) -> Rows:
    """Return the nodes with text enough."""
    tokenizer = Tokenizer(stem=False)
    mask = graph.mask(config.node_types or None)
    rows = [
        row
        for row in range(len(graph))
        if (mask is None or mask[row]) and len(tokenizer.words(graph.texts[row])) >= config.least_words
    ]
    return np.array(rows, np.int32)


def _publish(graph: Graph, about: LayerAbout, rows: Rows, found: Candidates, kept: NDArray[np.bool_]) -> None:
    first, second = rows[found.pairs.first[kept]], rows[found.pairs.second[kept]]
    weight = found.signals["content"][kept].astype(np.float32)
    owner, neighbor, both = np.append(first, second), np.append(second, first), np.append(weight, weight)
    order = np.lexsort((neighbor, owner))
    begins = np.zeros(len(graph) + 1, np.int64)
    np.cumsum(np.bincount(owner, minlength=len(graph)), out=begins[1:])

    def write(folder: Path) -> None:
        if format.read_pointer(graph.path).generation != about.generation:
            raise NotAGraph(f"{graph.path} was replaced by another graph meanwhile: link it again")
        save(folder, "begin", begins)
        save(folder, "neighbor", neighbor[order].astype(np.int32))
        save(folder, "weight", both[order])
        (folder / ABOUT).write_text(about.model_dump_json(indent=1), encoding="utf-8")

    format.publish_piece(graph.path, PIECE, write)


def _silent(stage: str, count: int) -> None:
    """Take no notice of progress."""
