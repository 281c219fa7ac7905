"""Communities of a graph: groups of nodes with more edges among themselves than chance has it, by Leiden, in levels.

Traag, Waltman and van Eck 2019; the hierarchy of Microsoft's GraphRAG: a community of more than `LARGEST` nodes is cut
into smaller ones, and those again. They are made once a generation and lie beside the graph, as vectors do.

Deviations from the public code:
1. Edges count as one each. Weights of different types of edge do not compare: a number of times, a cosine, an idf.
2. Facts are members too, so that a graph that has facts alone, and no edges between entities, has communities.
3. Nodes without an edge are in none; the public code leaves out all but the largest connected part.
"""

from __future__ import annotations

import logging
import time
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from orienteer.graph import format, pieces
from orienteer.graph.store import Graph
from orienteer.index.arrays import Folder, save
from orienteer.index.bm25 import Mask
from orienteer.records import Record
from orienteer.retrieval.expansion.leiden import Csr, leiden

logger = logging.getLogger(__name__)

PIECE = "communities"
ABOUT = "communities.json"
LEVELS = 3
"""Levels that are made: nano-graphrag and Microsoft's GraphRAG read the first three."""
LARGEST = 10
"""Nodes of a community that is not cut further. Microsoft's max_cluster_size."""
_SEED = 0x0417
_PATIENCE = 60.0  # seconds that another process may take to make the piece


class CommunitiesAbout(Record):
    """What communities that lie beside a graph say of themselves."""

    format: int = 1
    generation: str
    counts: tuple[int, ...]
    """Communities of each level."""
    seconds: float
    """What making them took."""


def open_communities(graph: Graph, mask: Mask) -> NDArray[np.int32]:
    """Return the community of each row at each level, (levels, nodes), -1 for none; those of the marked rows.

    They are made where there are none yet, or damaged ones. Where nothing may be written, they live as long as who
    asked. Raises `GraphBusy`.
    """
    levels, why = pieces.piece_or_made(
        graph.path,
        graph.arrays.manifest.generation,
        PIECE,
        read=lambda folder: _read(folder, len(graph)),
        write=lambda work: write_communities(graph, mask, work),
        patience=_PATIENCE,
    )
    if levels is None:
        logger.warning("communities are made by every process anew, for %s", why)
        return find_communities(graph, mask)
    return levels


def write_communities(graph: Graph, mask: Mask, folder: Path) -> None:
    """Find communities and write them into a folder."""
    started = time.perf_counter()
    levels = find_communities(graph, mask)
    save(folder, "community", levels.ravel())
    about = CommunitiesAbout(
        generation=graph.arrays.manifest.generation,
        counts=tuple(len(np.unique(level[level >= 0])) for level in levels),
        seconds=time.perf_counter() - started,
    )
    (folder / ABOUT).write_text(about.model_dump_json(indent=1), encoding="utf-8")


def _read(folder: Path, size: int) -> NDArray[np.int32]:
    """Map what `write_communities` wrote. Raises `NotAGraph` for damage."""
    try:
        CommunitiesAbout.model_validate_json((folder / ABOUT).read_bytes())
        levels: NDArray[np.int32] = Folder(folder).array("community", "i4").reshape(LEVELS, size)
    except (FileNotFoundError, ValueError) as error:
        raise format.damaged(folder, error) from error
    if levels.size and not -1 <= levels.min() <= levels.max() < size:
        raise format.damaged(folder, "it names nodes that are not there")
    return levels


def find_communities(graph: Graph, mask: Mask) -> NDArray[np.int32]:
    """Return the community of each row at each level, (levels, nodes), -1 for none.

    A community is called by its first row. One that is not cut stands in the levels below as it is.
    """
    levels = np.full((LEVELS, len(graph)), -1, np.int32)
    rows = np.flatnonzero(mask).astype(np.int32)
    csr = _among(graph, rows)
    joined = np.flatnonzero(np.diff(csr.begins))
    if not len(joined):
        return levels
    level = np.full(len(rows), -1, np.int32)  # (rows,): place of the community's first row
    level[joined] = _called(leiden(_part(csr, joined), _SEED), joined)
    for number in range(LEVELS):
        if number:
            level = _cut(csr, level)
        levels[number, rows] = np.where(level >= 0, rows[level], -1)
    return levels


def _cut(csr: Csr, level: NDArray[np.int32]) -> NDArray[np.int32]:
    """Return the level below: communities that are too large in parts."""
    below = level.copy()
    order = np.argsort(level, kind="stable")
    names, begins, counts = np.unique(level[order], return_index=True, return_counts=True)
    for name, begin, count in zip(names.tolist(), begins.tolist(), counts.tolist(), strict=True):
        if name >= 0 and count > LARGEST:
            members = order[begin : begin + count]
            below[members] = _called(leiden(_part(csr, members), _SEED), members)
    return below


def _called(numbers: NDArray[np.int64], members: NDArray[np.int64]) -> NDArray[np.int32]:
    """Return for each member the first of its community."""
    _, first, place = np.unique(numbers, return_index=True, return_inverse=True)
    return members[first][place].astype(np.int32)


def _among(graph: Graph, rows: NDArray[np.int32]) -> Csr:
    """Return the edges among some sorted rows, parallel ones as one, with how many they are."""
    entries = graph.arrays.adjacency.entries(rows)
    place = np.full(len(graph), -1, np.int64)
    place[rows] = np.arange(len(rows))
    is_inside = place[entries.neighbor] >= 0
    key = place[entries.owner[is_inside]] * max(len(rows), 1) + place[entries.neighbor[is_inside]]
    pairs, counts = np.unique(key, return_counts=True)
    begins = np.zeros(len(rows) + 1, np.int64)
    np.cumsum(np.bincount(pairs // max(len(rows), 1), minlength=len(rows)), out=begins[1:])
    return Csr(begins, (pairs % max(len(rows), 1)).astype(np.int32), counts.astype(np.float64))


def _part(csr: Csr, members: NDArray[np.int64]) -> Csr:
    """Return the part of a graph that lies among some sorted nodes."""
    counts = np.diff(csr.begins)[members]
    at = np.repeat(csr.begins[members] - np.cumsum(counts) + counts, counts) + np.arange(counts.sum())
    neighbor = csr.members[at]
    place = members.searchsorted(neighbor).clip(max=len(members) - 1)
    is_inside = members[place] == neighbor
    begins = np.zeros(len(members) + 1, np.int64)
    owners = np.repeat(np.arange(len(members)), counts)[is_inside]
    np.cumsum(np.bincount(owners, minlength=len(members)), out=begins[1:])
    return Csr(begins, place[is_inside].astype(np.int32), csr.weights[at][is_inside])
