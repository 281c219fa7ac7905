"""Sources that are known as a whole: a folder or a file in a layout that some program or benchmark writes.

Packages register layouts as entry points of the group `orienteer.layouts`, the annex `lab` those of benchmarks.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Protocol

from orienteer.errors import BadOption
from orienteer.ingest.formats.files import suffix
from orienteer.plugins import load, refused, registered

if TYPE_CHECKING:
    from orienteer.graph.builder import GraphBuilder
    from orienteer.ingest.documents.read.blocks import Document
    from orienteer.ingest.documents.read.files import File
    from orienteer.ingest.tables.labels import Labels

PLAIN = frozenset([".csv", ".tsv", ".tab", ".psv"])
"""Suffixes of tables that no layout uses: a source of these alone is not offered to any."""


class Layout(Protocol):
    """A source that is read as a whole."""

    @property
    def files(self) -> tuple[Path, ...]:
        """Return the files that the graph is made of."""

    def read(self, builder: GraphBuilder) -> Labels:
        """Read everything into the builder, and return the labels of types."""


@dataclass(frozen=True, slots=True)
class KnownSource:
    """A source in a layout of its own. A passage is one chunk under its own id."""

    files: tuple[File, ...]
    documents: Callable[[], Iterator[Document]]


@dataclass(frozen=True, slots=True)
class KnownLayout:
    """A layout: how its sources are recognised. Each function returns None for a source in another layout."""

    graph: Callable[..., Layout | None]
    """Opens a source as a graph, of (source, columns, tally) and the options that it takes: `split="dev"`."""
    documents: Callable[..., KnownSource | None] | None = None
    """Opens a source as documents, of (source) and the same options; None for a layout that holds none."""
    takes: frozenset[str] = frozenset()
    """Options that choose among what its sources hold, by name: private, explode, or its own. Others are refused."""

    def among(self, chosen: Mapping[str, str]) -> dict[str, str]:
        """Return the options that it takes, of those that a person chose."""
        return {name: value for name, value in chosen.items() if name in self.takes}


def layouts_of(source: Path) -> Iterator[KnownLayout]:
    """Yield the registered layouts, unless a source holds nothing but plain tables. Raises `BadOption`."""
    files = source.iterdir() if source.is_dir() else [source]
    if not all(suffix(file) in PLAIN for file in files):
        for name in registered("layouts"):
            known = load("layouts", name)
            if not isinstance(known, KnownLayout):
                raise refused("layouts", name, f"{known!r} is not a KnownLayout")
            yield known


def refuse_untaken(given: Iterable[str], takes: Collection[str], source: str) -> None:
    """Raise `BadOption` for an option that a source does not take: it would have no effect."""
    for name in given:
        if name not in takes:
            raise BadOption(f"--{name} has no meaning for {source}: leave it out")
