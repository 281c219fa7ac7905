"""The graph that an update replaces: the nodes of unchanged files, byte for byte, and the options it was built with."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from orienteer.errors import BadInput, BadOption
from orienteer.graph.format import is_graph, read_pointer
from orienteer.graph.pieces.vectors import PIECE
from orienteer.graph.reserved import DOCUMENT, READ
from orienteer.graph.store import Graph
from orienteer.ingest.documents.config import BuildConfig, Chunking
from orienteer.ingest.documents.read.files import File
from orienteer.ingest.documents.read.selection import Selection
from orienteer.ingest.extraction.forms import FORMS, Form
from orienteer.ingest.provenance import DocumentStamp, is_chunk_graph, selection_of, sources_of, stamps_of
from orienteer.records import JsonValue, Node

_OTHERS = frozenset(["chunks", "model", "embedder", "extract", "extracting_model", *Selection.model_fields])
"""Options that stand beside the configuration."""


class Previous:
    """The graph at the target of an update. Raises `BadInput` without one, and for one that `build` did not make."""

    def __init__(self, path: Path) -> None:
        if not is_graph(path):
            raise BadInput(f"{path} is no graph yet: build it without --update first")
        self._graph = Graph.open(path)
        if not is_chunk_graph(self._graph.arrays.manifest):
            raise BadInput(
                f"{path} was not made by build, so it cannot be updated: build it elsewhere, or with --force"
            )
        self.stamps = stamps_of(self._graph.arrays.manifest)
        """The files that it was made of, by name."""
        self.sources = sources_of(self._graph.arrays.manifest)
        """The sources that a person named for it."""
        self.had_vectors = PIECE in read_pointer(path).pieces
        """It was embedded, by its build or afterwards."""
        self._rows = self._by_file()

    @property
    def options(self) -> Mapping[str, Any]:  # Any: JSON
        """The options that it was made with."""
        return dict(self._graph.arrays.manifest.provenance.get("options", {}))

    @property
    def chunking(self) -> Chunking:
        """How its prose was cut."""
        return "semantic" if self.options.get("chunks") == "semantic" else "tokens"

    @property
    def extract(self) -> Form | None:
        """What was extracted from its chunks; None for nothing."""
        return next((form for form in FORMS if form == self.options.get("extract")), None)

    @property
    def config(self) -> BuildConfig:
        """The configuration that it was made with."""
        return BuildConfig(**{name: value for name, value in self.options.items() if name not in _OTHERS})

    @property
    def selection(self) -> Selection:
        """Which files of its sources were meant."""
        return selection_of(self._graph.arrays.manifest)

    def check(self, options: Mapping[str, Any]) -> None:
        """Raise `BadOption` if it was made with other options: its chunks would not be as those of changed files."""
        mine = self.options
        for name in sorted({*mine, *options}):
            if mine.get(name) != options.get(name):
                had, has = (
                    settings.get(name, "none" if name in _OTHERS else "its default") for settings in (mine, options)
                )
                raise BadOption(
                    f"{self._graph.path} was made with {name} = {had}, not {has}: give the same, or build it again "
                    "with --force"
                )

    def unchanged(self, file: File) -> DocumentStamp | None:
        """Return the stamp of an unchanged file, None for a new or changed one.

        The content decides for a file whose time alone differs.
        """
        old = self.stamps.get(file.name)
        if old is None:
            return None
        if old.path == str(file.path.resolve()) and old.is_of(file.path):
            return old
        status = file.path.stat()
        if status.st_size != old.bytes:
            return None
        with file.path.open("rb") as stream:
            if hashlib.file_digest(stream, "sha256").hexdigest() != old.sha256:
                return None
        return DocumentStamp(file.name, str(file.path.resolve()), status.st_size, status.st_mtime_ns, old.sha256)

    def nodes(self, file: File) -> list[Node]:
        """Return the nodes of a file, in the order in which they were made."""
        return [self._graph.arrays.node_at(row) for row in self._rows.get(file.name, ())]

    def _by_file(self) -> dict[str, list[int]]:
        graph = self._graph
        placed: dict[str, list[tuple[int, str, bool, int, int]]] = {}
        for row in range(len(graph)):
            if graph.arrays.type_at(row) not in READ:
                continue
            properties = graph.arrays.properties.of(row)
            is_document = graph.arrays.type_at(row) == DOCUMENT
            owner = graph.arrays.ids[row] if is_document else str(properties.get("document", graph.arrays.ids[row]))
            key = (_whole(properties.get("row")), owner, not is_document, _whole(properties.get("order")), row)
            placed.setdefault(str(properties.get("file")), []).append(key)
        return {file: [key[-1] for key in sorted(keys)] for file, keys in placed.items()}


def _whole(value: JsonValue) -> int:
    return value if isinstance(value, int) else 0
