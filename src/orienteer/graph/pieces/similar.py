"""A layer of similarity edges: a piece of a graph's generation, made from its vectors by `orienteer link`.

The edges are not part of the schema: plans see only the graph's own edges, an expansion may walk both.
"""

from __future__ import annotations

from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from numpy.typing import NDArray

from orienteer.errors import NotAGraph
from orienteer.graph import format, pieces
from orienteer.index.arrays import Folder, Rows, begins_of, check_counts, check_ends, save
from orienteer.records import Record

if TYPE_CHECKING:
    from orienteer.graph.store import Graph

PIECE = "similar"
ABOUT = "similar.json"
SIMILAR = "similar"
"""The edge type; in a graph of chunks it is one of the graph's own."""


class LayerAbout(Record):
    """Facts about a layer of similarity edges."""

    format: int = 1
    generation: str
    embedder: str | None
    nodes: int
    """Nodes with enough text to be joined."""
    candidates: int
    """Pairs of nodes that the percentile is taken of."""
    threshold: float
    edges: int
    mean_degree: float
    density: float
    """The share of the candidates that became edges."""
    percentiles: tuple[dict[str, float | str], ...] = ()
    """The numbers of edges with other percentiles: SAGE, table 5."""
    seconds: float = 0.0


class SimilarPairs(NamedTuple):
    """Pairs of similar rows, each pair once, as aligned arrays of shape `(pairs,)`; weights are similarities."""

    first: Rows
    second: Rows
    weight: NDArray[np.float32]


class SimilarNeighbors(NamedTuple):
    """The similar neighbours of some rows, as aligned arrays of shape `(n,)`, in the order of the rows."""

    owner: NDArray[np.int32]
    """The requested row."""
    neighbor: NDArray[np.int32]
    weight: NDArray[np.float32]
    """The cosines."""


class SimilarLayer:
    """The similarity edges of a graph, mapped. Safe to share among threads."""

    def __init__(self, folder: Path, about: LayerAbout, nodes: int) -> None:
        arrays = Folder(folder)
        self.about = about
        self._begins = arrays.array("begin", "i8")
        self._neighbors = arrays.array("neighbor", "i4")
        self._weights = arrays.array("weight", "f4")
        for column in (self._neighbors, self._weights):
            check_ends(self._begins, len(column), "edges")
        lowest, highest = self._neighbors.min(initial=0), self._neighbors.max(initial=0)
        if len(self._begins) != nodes + 1 or not -1 < lowest <= highest < max(nodes, 1):
            raise ValueError(f"edges of {len(self._begins) - 1} nodes, of {nodes}")

    def neighbors_of(self, rows: Rows) -> SimilarNeighbors:
        """Return the neighbours of some rows, at either end of an edge; those of each row ascend."""
        counts = self._begins[rows + 1] - self._begins[rows]
        check_counts(counts, len(self._neighbors))
        ends = np.cumsum(counts)
        at = np.repeat(self._begins[rows] - (ends - counts), counts) + np.arange(int(counts.sum()))
        return SimilarNeighbors(np.repeat(rows, counts), self._neighbors[at], self._weights[at])

    @cached_property
    def greatest(self) -> float:
        """Return the weight of the strongest edge, or 0 without edges."""
        return float(self._weights.max(initial=0.0))


def open_layer(graph: Graph) -> SimilarLayer | None:
    """Open the similarity edges of a graph, or return None without any. Raises `NotAGraph` for damage."""
    folder = pieces.piece(graph.path, PIECE)
    if folder is None:
        return None
    try:
        about = LayerAbout.model_validate_json((folder / ABOUT).read_bytes())
        return SimilarLayer(folder, about, len(graph)) if about.generation == graph.arrays.manifest.generation else None
    except (FileNotFoundError, ValueError) as error:
        raise format.damaged(folder, error, pieces.remedy(graph.path, folder)) from error


def publish_layer(graph: Graph, about: LayerAbout, joined: SimilarPairs) -> None:
    """Publish the similarity edges of a graph; they replace earlier ones. Raises `NotAGraph`, `GraphBusy`."""
    owner, neighbor = np.append(joined.first, joined.second), np.append(joined.second, joined.first)
    order = np.lexsort((neighbor, owner))

    def write(folder: Path) -> None:
        if format.read_pointer(graph.path).generation != about.generation:
            raise NotAGraph(f"{graph.path} was replaced by another graph meanwhile: link it again", paths=[graph.path])
        save(folder, "begin", begins_of(np.bincount(owner, minlength=len(graph))))
        save(folder, "neighbor", neighbor[order].astype(np.int32))
        save(folder, "weight", np.append(joined.weight, joined.weight)[order].astype(np.float32))
        (folder / ABOUT).write_text(about.model_dump_json(indent=1), encoding="utf-8")

    pieces.publish_piece(graph.path, PIECE, write)
