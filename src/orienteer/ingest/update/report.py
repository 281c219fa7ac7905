"""What an update did: the report of an import, and what came, changed and went."""

from __future__ import annotations

from collections.abc import Mapping

from orienteer.display import counted
from orienteer.ingest.report import Report, Tally
from orienteer.ingest.update.ledger import LedgerAbout
from orienteer.records import Record

_NAMED = 3  # files of a kind that a line names


class FilesCompared(Record):
    """The files of the sources against those that the graph was made of."""

    unchanged: int = 0
    changed: tuple[str, ...] = ()
    new: tuple[str, ...] = ()
    gone: tuple[str, ...] = ()

    @property
    def line(self) -> str:
        """Return the comparison as a line for people."""
        kinds = (("changed", self.changed), ("new", self.new), ("gone", self.gone))
        told = [f"{len(names):,} {kind} ({_names(names)})" for kind, names in kinds if names]
        return f"files: {', '.join([*told, f'{self.unchanged:,} as before'])}"


class Change(Record):
    """Nodes or edges that came and went; a node that changed kept its id, an edge that changed went and came."""

    came: int = 0
    changed: int = 0
    went: int = 0


class UpdateReport(Report):
    """What an update found and did."""

    whole: str | None = None
    """Why everything was imported; None where files and rows told what had changed."""
    files: FilesCompared = FilesCompared()
    nodes_changed: Change = Change()
    edges_changed: dict[str, Change] = {}
    """By type, those of which some came or went."""

    def render(self, *, is_verbose: bool = False) -> str:
        """Return the report as text for people."""
        if self.whole is not None:
            return f"imported everything: {self.whole}\n{super().render(is_verbose=is_verbose)}"
        nodes = self.nodes_changed
        came = sum(change.came for change in self.edges_changed.values())
        went = sum(change.went for change in self.edges_changed.values())
        lines = [
            self.files.line,
            f"nodes: {nodes.came:,} came, {nodes.changed:,} changed, {nodes.went:,} went",
            f"edges: {came:,} came, {went:,} went",
            *(f"  {name}: {change.came:,} came, {change.went:,} went" for name, change in self.edges_changed.items()),
        ]
        return "\n".join([*lines, super().render(is_verbose=is_verbose)])


def tally_of(about: LedgerAbout, tallies: Mapping[str, Tally]) -> Tally:
    """Return all rows that give nothing: of tables that were read, by path, with their places, of the others counts."""
    tally = Tally()
    for file in about.tables:
        read = {cut.reason: cut.first for cut in tallies[file.path].dropped} if file.path in tallies else {}
        for reason, count in file.dropped.items():
            tally.drop(reason, read.get(reason, ()), count)
    cuts = about.cuts.values()
    tally.drop("dangling", (), sum(cut.dangling for cut in cuts))
    tally.merge("duplicate", (), about.repeated + sum(cut.duplicate for cut in cuts))
    tally.merge("mirrored", (), sum(cut.mirrored for cut in cuts))
    return tally


def _names(names: tuple[str, ...]) -> str:
    more = len(names) - _NAMED
    return ", ".join(names[:_NAMED]) + (f" and {counted(more, 'more file')}" if more > 0 else "")
