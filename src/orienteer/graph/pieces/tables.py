"""The rows of the tables in documents, as a graph of their own beside the graph of the documents.

Its nodes are rows, planned like those of any table. A node's id is the place of its row (`place_of`).
`orienteer build` writes it: the files of one generation, in a piece of the documents' graph.
"""

from __future__ import annotations

import shutil
from pathlib import Path
from typing import NamedTuple

from orienteer.graph import format, pieces
from orienteer.graph.arrays import GraphArrays
from orienteer.graph.reserved import TABLE
from orienteer.graph.store import Graph

PIECE = "tables"
_ROW = "/row "


class RowPlace(NamedTuple):
    """The place of a row in a table."""

    segment: str
    """The id of the passage that has it."""
    row: int
    """Its number among the rows of that passage, from 0."""


def id_of(place: RowPlace) -> str:
    """Return the id of the node of a row."""
    return f"{place.segment}{_ROW}{place.row + 1}"


def place_of(node: str) -> RowPlace | None:
    """Return the place of the row that a node is; None for a node that is no row, as a value that rows share is."""
    segment, mark, row = node.rpartition(_ROW)
    return RowPlace(segment, int(row) - 1) if mark and row.isdecimal() else None


def write_rows(made: Path, folder: Path) -> None:
    """Copy the generation of the graph at `made` into the folder of a piece."""
    shutil.copytree(format.generation_of(made, format.read_pointer(made)), folder, dirs_exist_ok=True)


def lacks_rows(path: Path, manifest: format.Manifest) -> bool:
    """Return whether a graph has tables of documents but no piece of rows: its build was ended before that."""
    return TABLE in manifest.node_types and PIECE not in format.read_pointer(path).pieces


def open_rows(graph: Graph) -> Graph | None:
    """Return the rows of a graph of documents as a graph, or None without any. Raises `NotAGraph` for damage."""
    folder = pieces.piece(graph.path, PIECE)
    if folder is None or not (folder / format.MANIFEST).exists():
        return None
    try:
        manifest = format.parse_manifest((folder / format.MANIFEST).read_bytes())
        return Graph(GraphArrays(folder, folder, manifest, embedder=None))
    except (OSError, ValueError) as error:
        raise format.damaged(folder, error, pieces.remedy(graph.path, folder)) from error
