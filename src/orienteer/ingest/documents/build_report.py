"""What a build did."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from orienteer.display import counted
from orienteer.ingest import bounds
from orienteer.ingest.bounds import SkippedFile
from orienteer.ingest.documents.cut.replies import CostEstimate
from orienteer.ingest.extraction.records import ExtractionSummary
from orienteer.records import Record, Usage

SHOWN = 3
"""Files that are shown of each reason."""


class _Survey(Record):
    """What was found of documents, whether a graph is made of them or not."""

    documents: int
    """Documents with something to read in them."""
    chunks: int
    """Chunks of prose."""
    tables: int
    """Segments of tables."""
    unreadable: tuple[SkippedFile, ...] = ()
    """Documents that could not be read."""
    skipped: tuple[SkippedFile, ...] = ()
    """Files that are no documents, and links that lead out of the folder."""
    notes: tuple[str, ...] = ()
    unchanged: int | None = None
    """Files that an update takes over as they were; None if it is no update."""
    added: int | None = None
    changed: int | None = None
    removed: int | None = None


class BuildReport(_Survey):
    """What a build made, what it left out and why."""

    nodes: int
    edges: int
    edge_types: dict[str, int]
    chunking: str
    """How prose was cut: semantic or tokens."""
    similarity: dict[str, Any] | None = None  # Any: JSON
    """Figures of the similarities, as the paper's appendix has them; None if there were no vectors."""
    embedded: int | None = None
    """Texts that were embedded, not found in the cache; None if there was no embedder."""
    extracted: ExtractionSummary | None = None
    """What was extracted from the chunks; None if nothing was."""
    usage: Usage | None = None
    """What a model was paid for; None if none was asked."""
    seconds: float = 0.0
    stages: dict[str, float] = {}
    """Seconds by stage."""
    peak_bytes: int | None = None

    @property
    def pace(self) -> float:
        """Chunks and segments a second, over all."""
        return (self.chunks + self.tables) / self.seconds if self.seconds else 0.0

    def render(self, *, is_verbose: bool = False) -> str:
        """Return the report as text for people, without its notes."""
        parts = [counted(self.documents, "document"), f"{counted(self.chunks, 'chunk')} by {self.chunking}"]
        lines = [", ".join([*parts, counted(self.tables, "table segment")]), counted(self.edges, "edge")]
        width = max((len(f"{count:,}") for count in self.edge_types.values()), default=0)
        lines += [f"  {count:>{width},} {name}" for name, count in self.edge_types.items()]
        lines += [self.extracted.render()] if self.extracted is not None else []
        lines += _changes(self)
        lines += _skipped((*self.unreadable, *self.skipped), is_verbose=is_verbose)
        if self.embedded is not None:
            lines.append(f"{counted(self.embedded, 'text')} embedded")
        if self.usage is not None:
            usd = f", {self.usage.usd:.2f} USD" if self.usage.usd is not None else ""
            lines.append(f"{counted(self.usage.calls, 'model call')}, {counted(self.usage.tokens, 'token')}{usd}")
        memory = f", {self.peak_bytes / 2**20:,.0f} MB at most" if self.peak_bytes is not None else ""
        return "\n".join([*lines, f"{self.seconds:.1f} s, {self.pace:,.0f} chunks/s{memory}"])


class BuildEstimate(_Survey):
    """What a build would make, and what its model would take."""

    model: str | None = None
    metadata: CostEstimate | None = None
    """None if no model would write metadata."""
    extraction: CostEstimate | None = None
    """None if no model would extract."""

    def render(self, *, is_verbose: bool = False) -> str:
        """Return the estimate as text for people, without its notes."""
        lines = [
            f"{counted(self.documents, 'document')}, {counted(self.chunks, 'chunk')}, "
            f"{counted(self.tables, 'table segment')}; nothing was written"
        ]
        lines += _changes(self)
        for name, estimate in (("metadata", self.metadata), ("extraction", self.extraction)):
            if estimate is not None:
                lines.append(f"{name} by {estimate.render(str(self.model))}")
        return "\n".join([*lines, *_skipped((*self.unreadable, *self.skipped), is_verbose=is_verbose)])


def _changes(report: _Survey) -> list[str]:
    """Return lines about the files that an update found; nothing for a first build."""
    if report.unchanged is None:
        return []
    return [
        f"{counted(report.unchanged, 'file')} unchanged, {report.changed:,} changed, {report.added:,} added, "
        f"{report.removed:,} removed"
    ]


def _skipped(skipped: Sequence[SkippedFile], *, is_verbose: bool) -> list[str]:
    """Return a line a reason, with its first files; all of them where more is asked for."""
    groups = bounds.grouped(skipped, (), kept=None)
    return bounds.lines(groups, most=None, named=None if is_verbose else SHOWN)
