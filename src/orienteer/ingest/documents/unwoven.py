"""What a build had read when it was interrupted: a graph without names, from which the next build goes on."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

from orienteer.display import counted
from orienteer.graph.builder import Progress
from orienteer.graph.format import is_graph, read_manifest, read_pointer
from orienteer.ingest.documents.intake import Intake, Shelf, ShelvedNodes
from orienteer.ingest.documents.previous import Previous
from orienteer.ingest.documents.recipe import BuildRecipe
from orienteer.ingest.documents.so_far import publish_read
from orienteer.ingest.provenance import INTERRUPTED, describe_build, is_chunk_graph, sources_of


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
