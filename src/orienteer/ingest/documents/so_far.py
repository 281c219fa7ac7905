"""Graphs of what a build has read so far: words answer while the rest is read, and an interrupted build goes on there.

Each has the passages that were read until then, in their order and with their links, without the names that join them:
what is quickly made. While the rest is read they take a share of the time at the most, so a folder that is read within
seconds pays nothing.
"""

from __future__ import annotations

import logging
import shutil
import time
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple, TypeAlias

from orienteer.display import Count, counted
from orienteer.errors import Error
from orienteer.graph.builder import GraphBuilder, Progress
from orienteer.graph.format import is_graph, read_manifest, read_pointer
from orienteer.ingest.documents.config import BuildConfig
from orienteer.ingest.documents.intake import Intake, Shelf, ShelvedNodes
from orienteer.ingest.documents.join.weaver import Weaver
from orienteer.ingest.provenance import INTERRUPTED, describe_build, is_chunk_graph, sources_of

if TYPE_CHECKING:
    from orienteer.ingest.documents.previous import Previous
    from orienteer.ingest.documents.recipe import BuildRecipe

logger = logging.getLogger(__name__)

FIRST_SECONDS = 4.0
"""Of reading, before which nobody needs a part."""
MOST_SHARE = 0.2
"""Of the time that reading has taken and joining will take, which all parts together take at the most."""
MOST_SHARE_AT_THE_END = 0.25
"""The same once all is read: that part is the last, and joining takes the longest."""
LEAST_GROWTH = 1.5
"""Of the nodes, from part to part."""
SECONDS_A_NODE = 1e-4
"""That a part takes, about: measured on 413,000 nodes of 4,500 files of documentation, on one core."""
JOINING = 3
"""Times as long as a part takes what joins all nodes, at the least; six times in the same measurement."""


class Interim(NamedTuple):
    """A graph that answers while the one that was asked for is being made."""

    path: Path
    """To be opened at once: it goes with the next one, or with the build."""
    files: int | None = None
    """Files, or documents of one file, that were read for it; None for the graph as it was before its files changed."""
    of: int | None = None
    """Files in all, None where that is not known."""


HearInterim: TypeAlias = Callable[[Interim], None]


class SoFar:
    """Makes graphs of what a build has read so far, and tells of each."""

    def __init__(
        self,
        folder: Path,
        sources: Sequence[Path],
        config: BuildConfig,
        options: Mapping[str, Any],  # Any: JSON
        hear: HearInterim,
        *,
        clock: Callable[[], float] = time.perf_counter,
    ) -> None:
        self._folder, self._hear, self._clock = folder, hear, clock
        self._config = config
        self._provenance = describe_build(sources, (), options)  # of no files: nobody asks whether it is stale
        self._began, self._spent = clock(), 0.0
        self._number = self._nodes = 0
        self._seconds_a_node = SECONDS_A_NODE
        self._has_failed = False
        self._latest: Path | None = None

    def __call__(self, shelf: Shelf, count: int) -> None:
        """Make a part of what has been read, and tell of it, where that is worth its time."""
        whole = count.of / count if isinstance(count, Count) else 1.0
        if not self._has_failed and self._is_due(len(shelf), whole, is_last=isinstance(count, Count) and whole == 1):
            self._make(shelf, count)

    def _is_due(self, nodes: int, whole: float, *, is_last: bool) -> bool:
        """Return whether a part of so many nodes is worth its time; `whole` is how many times as many there will be."""
        reading = self._clock() - self._began - self._spent
        if reading < FIRST_SECONDS or nodes <= (1 if is_last else LEAST_GROWTH) * self._nodes:
            return False
        part = nodes * self._seconds_a_node
        work, all_parts = reading + JOINING * part, self._spent + part
        if is_last:
            return all_parts <= MOST_SHARE_AT_THE_END * work
        # The last part is worth the most, so room is left for it.
        return all_parts <= MOST_SHARE * work and all_parts + part * whole <= MOST_SHARE_AT_THE_END * work * whole

    def _make(self, shelf: Shelf, count: int) -> None:
        started = self._clock()
        self._number += 1
        path = self._folder / f"part-{self._number}"
        try:
            publish_read(path, shelf.so_far(), self._config, self._provenance)
            self._hear(Interim(path, int(count), count.of if isinstance(count, Count) else None))
        except (Error, OSError) as error:  # of two files with one id, or a full disk, the build tells
            logger.info("no graph of what is read so far: %s", error)
            self._has_failed = True
        if self._latest is not None:  # whoever answers from it keeps its files
            shutil.rmtree(self._latest, ignore_errors=True)
        self._latest = path
        took = self._clock() - started
        self._spent += took
        self._nodes = len(shelf)
        self._seconds_a_node = took / self._nodes


def publish_read(path: Path, nodes: ShelvedNodes, config: BuildConfig, provenance: Mapping[str, Any]) -> None:
    """Publish a graph of what was read, with the edges of order and links alone."""  # Any: JSON
    with GraphBuilder(path, force=True, provenance=provenance) as builder:
        plain = config.model_copy(update={"names": False, "similar": False})
        weaver = Weaver(builder, nodes, plain, progress=lambda stage, count: None)
        weaver.add_nodes()
        weaver.add_edges(None)
        builder.publish()


def is_unwoven(target: Path, sources: Sequence[Path]) -> bool:
    """Return whether a graph is what an interrupted build of these sources had read."""
    if not is_graph(target):
        return False
    manifest = read_manifest(target, read_pointer(target))
    is_alike = is_chunk_graph(manifest) and sources_of(manifest) == [source.resolve() for source in sources]
    return is_alike and INTERRUPTED in manifest.provenance


class Unwoven(NamedTuple):
    """The files that were read to their end."""

    intake: Intake
    nodes: ShelvedNodes
    recipe: BuildRecipe

    @classmethod
    def of(cls, intake: Intake, shelf: Shelf, previous: Previous | None, recipe: BuildRecipe) -> Unwoven | None:
        """Return what was read; None where that is nothing, or less than the graph that is updated has."""
        files, nodes = intake.whole
        had = frozenset[str]() if previous is None else previous.stamps.keys()
        if not nodes or not had <= {stamp.name for stamp in intake.stamps[:files]}:
            return None
        return cls(intake, shelf.so_far(nodes), recipe)

    def publish(self, target: Path, progress: Progress) -> None:
        """Publish it, unless another graph stands there. An interrupt ends this, and keeps nothing."""
        intake = self.intake
        if is_graph(target) and not is_unwoven(target, intake.sources):
            return
        stamps = intake.stamps[: intake.whole[0]]
        read = f"{len(stamps):,} of {counted(intake.files, 'file')}"
        progress(f"interrupted: what was read is being kept: {read}; interrupt again to drop it", 0)
        note = f"its build was interrupted: it has {read}, and the next build goes on from there"
        more = {**intake.left_out, "notes": [note], INTERRUPTED: True}
        provenance = describe_build(intake.sources, stamps, self.recipe.options, **more)
        publish_read(target, self.nodes, self.recipe.config, provenance)
        progress(f"kept: {read}; the next build of the same sources goes on from there", 0)
