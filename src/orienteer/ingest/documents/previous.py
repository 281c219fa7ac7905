"""The graph that an update replaces: the nodes of unchanged files, byte for byte, and the options it was built with."""

from __future__ import annotations

import hashlib
import posixpath
from collections.abc import Mapping
from dataclasses import replace
from functools import cached_property
from pathlib import Path
from typing import Any

from orienteer.errors import BadInput, BadOption
from orienteer.graph.format import is_graph, read_pointer
from orienteer.graph.pieces.vectors import PIECE
from orienteer.graph.store import Graph
from orienteer.ingest.documents.config import BuildConfig, Chunking
from orienteer.ingest.documents.join.shelved import Shelved
from orienteer.ingest.documents.read.files import File
from orienteer.ingest.documents.read.kinds import kind_of
from orienteer.ingest.documents.read.selection import Selection
from orienteer.ingest.extraction.by_model import FORMS, Form
from orienteer.ingest.provenance import DocumentStamp, is_chunk_graph, selection_of, sources_of, stamps_of
from orienteer.records import Node

_OTHERS = frozenset(["chunks", "model", "embedder", "extract", "extracting_model", *Selection.model_fields])
"""Options that stand beside the configuration."""


class Previous:
    """The graph at the target of an update. Raises `BadInput` without one, and for one that `build` did not make."""

    def __init__(self, path: Path) -> None:
        if not is_graph(path):
            raise BadInput(f"{path} is no graph yet: build it without --update first")
        self.graph = Graph.open(path)
        """It, open."""
        if not is_chunk_graph(self.graph.arrays.manifest):
            raise BadInput(
                f"{path} was not made by build, so it cannot be updated: build it elsewhere, or with --force"
            )
        self.stamps = stamps_of(self.graph.arrays.manifest)
        """The files that it was made of, by name."""
        self.sources = sources_of(self.graph.arrays.manifest)
        """The sources that a person named for it."""
        self.had_vectors = PIECE in read_pointer(path).pieces
        """It was embedded, by its build or afterwards."""

    @cached_property
    def shelved(self) -> Shelved:
        """What it was made of, in the order in which that was read."""
        return Shelved(self.graph.arrays)

    @cached_property
    def _places(self) -> Mapping[str, list[int]]:
        return self.shelved.of_files()

    @property
    def options(self) -> Mapping[str, Any]:  # Any: JSON
        """The options that it was made with."""
        return dict(self.graph.arrays.manifest.provenance.get("options", {}))

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
        return selection_of(self.graph.arrays.manifest)

    def check(self, options: Mapping[str, Any]) -> None:
        """Raise `BadOption` if it was made with other options: its chunks would not be as those of changed files."""
        mine = self.options
        for name in sorted({*mine, *options}):
            if mine.get(name) != options.get(name):
                had, has = (
                    settings.get(name, "none" if name in _OTHERS else "its default") for settings in (mine, options)
                )
                raise BadOption(
                    f"{self.graph.path} was made with {name} = {had}, not {has}: give the same, or build it again "
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
        if _digest(file.path) != old.sha256:
            return None
        return DocumentStamp(file.name, str(file.path.resolve()), status.st_size, status.st_mtime_ns, old.sha256)

    def moved(self, file: File) -> list[Node]:
        """Return the nodes of a file whose content the graph has from another path; none where the path tells in them.

        So it does in tables, whose rows may be named after it, and where a document has no title of its own.
        """
        if file.kind == "table":
            return []
        size = file.path.stat().st_size
        digest = _digest(file.path) if size in self._sizes else ""
        alike = self._contents.get(digest, ())
        stamp = next((s for s in alike if s.name != file.name and kind_of(Path(s.name)) == file.kind), None)
        nodes = [] if stamp is None else [self.shelved.node(place) for place in self._places.get(stamp.name, ())]
        if stamp is None or not nodes or nodes[0].id != stamp.name or nodes[0].properties.get("untitled"):
            return []
        return [_renamed(node, stamp.name, file) for node in nodes]

    @cached_property
    def _sizes(self) -> frozenset[int]:
        return frozenset(stamp.bytes for stamp in self.stamps.values())

    @cached_property
    def _contents(self) -> dict[str, list[DocumentStamp]]:
        """The files of the graph by the hash of their content."""
        contents: dict[str, list[DocumentStamp]] = {}
        for stamp in self.stamps.values():
            contents.setdefault(stamp.sha256, []).append(stamp)
        return contents

    def nodes(self, file: File) -> list[Node]:
        """Return the nodes of a file, in the order in which they were made."""
        return [self.shelved.node(place) for place in self._places.get(file.name, ())]


def _digest(path: Path) -> str:
    with path.open("rb") as stream:
        return hashlib.file_digest(stream, "sha256").hexdigest()


def _renamed(node: Node, before: str, file: File) -> Node:
    """Return a node of a file as it is under another name: its id, its document's, and the file's name as an alias."""
    properties = {**node.properties, "file": file.name}
    if "document" in properties:
        properties["document"] = file.name
    base = posixpath.basename(before)
    aliases = tuple(file.path.name if alias == base else alias for alias in node.aliases)
    return replace(node, id=f"{file.name}{node.id.removeprefix(before)}", aliases=aliases, properties=properties)
