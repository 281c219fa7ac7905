"""The report of an update: that of an import, and what came, changed and went."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from orienteer.display import counted
from orienteer.graph.format import Manifest
from orienteer.graph.store import Graph
from orienteer.ingest.report import Report, Tally
from orienteer.ingest.tables.kept import Decision
from orienteer.ingest.update.difference import Difference
from orienteer.ingest.update.ledger import LedgerAbout
from orienteer.records import Record

_NAMED = 3  # files or types that a line names


class FilesCompared(Record):
    """The files of the sources, compared with those that the graph was made of."""

    unchanged: int = 0
    changed: tuple[str, ...] = ()
    new: tuple[str, ...] = ()
    gone: tuple[str, ...] = ()

    @property
    def line(self) -> str:
        """Return the comparison as a line for people."""
        kinds = (("changed", self.changed), ("new", self.new), ("gone", self.gone))
        parts = [f"{len(names):,} {kind} ({_names(names)})" for kind, names in kinds if names]
        return f"files: {', '.join([*parts, f'{self.unchanged:,} as before'])}"


class DatabaseRead(Record):
    """The parts of a database that an update read."""

    address: str
    nodes: int = 0
    edges: int = 0
    whole_types: tuple[str, ...] = ()
    """The edge types that were read in full."""

    @property
    def line(self) -> str:
        """Return it as a line for people."""
        whole = f", among them all of {_names(self.whole_types)}" if self.whole_types else ""
        return f"read from {self.address}: {counted(self.nodes, 'node')}, {counted(self.edges, 'edge')}{whole}"


class Change(Record):
    """Counts of nodes or edges. A changed node keeps its id; a changed edge went and came."""

    came: int = 0
    changed: int = 0
    went: int = 0


class UpdateReport(Report):
    """What an update read and changed."""

    whole: str | None = None
    """Why everything was imported; None if only what changed was read."""
    became: tuple[str, ...] = ()
    """What became of the plan that is kept: tables and columns that came, went, or lead nowhere any more."""
    otherwise: tuple[Decision, ...] = ()
    """What a new plan would decide otherwise."""
    files: FilesCompared = FilesCompared()
    database: DatabaseRead | None = None
    """What was read of the graph's database."""
    nodes_changed: Change = Change()
    edges_changed: dict[str, Change] = {}
    """By type; types without a change are left out."""

    def render(self, *, is_verbose: bool = False) -> str:
        """Return the report as text for people."""
        plan = [*self.became, *(decision.line for decision in self.otherwise)]
        if self.whole is not None:
            return "\n".join([f"imported everything: {self.whole}", *plan, super().render(is_verbose=is_verbose)])
        nodes = self.nodes_changed
        came = sum(change.came for change in self.edges_changed.values())
        went = sum(change.went for change in self.edges_changed.values())
        lines = [
            self.files.line if self.database is None else self.database.line,
            f"nodes: {nodes.came:,} came, {nodes.changed:,} changed, {nodes.went:,} went",
            f"edges: {came:,} came, {went:,} went",
            *(f"  {name}: {change.came:,} came, {change.went:,} went" for name, change in self.edges_changed.items()),
            *plan,
        ]
        return "\n".join([*lines, super().render(is_verbose=is_verbose)])


def tally_of(about: LedgerAbout, tallies: Mapping[str, Tally], dangling: Mapping[str, int] | None = None) -> Tally:
    """Return the counts of dropped and merged rows; of the tables in `tallies`, by path, with their first places.

    `dangling` counts the edges with a missing end by file, if that is known.
    """
    tally = Tally()
    for file in about.tables:
        read = {cut.reason: cut.first for cut in tallies[file.path].dropped} if file.path in tallies else {}
        for reason, count in file.dropped.items():
            tally.drop(reason, read.get(reason, ()), count, file=file.mapping.file if file.mapping else file.path)
    cuts = about.cuts.values()
    for name, count in (dangling or {"": sum(cut.dangling for cut in cuts)}).items():
        tally.drop("dangling", (), count, file=name)
    tally.merge("duplicate", (), about.repeated + sum(cut.duplicate for cut in cuts))
    tally.merge("mirrored", (), sum(cut.mirrored for cut in cuts))
    return tally


def graph_facts(manifest: Manifest, tally: Tally) -> dict[str, Any]:  # Any: the fields of a report
    """Return the fields of a report about the graph, and about dropped and merged rows."""
    return {
        "nodes": manifest.nodes,
        "edges": manifest.edges,
        "node_types": manifest.node_types,
        "edge_types": {name: count for name, count in manifest.edge_types.items() if count},
        "symmetric": manifest.symmetric,
        "partial": manifest.partial,
        "labels": manifest.labels,
        "dropped": tally.dropped,
        "merged": tally.merged,
    }


def changed_counts(graph: Graph, difference: Difference) -> dict[str, Any]:  # Any: as above
    """Return the fields of a report about nodes and edges that came, changed and went."""
    nodes = difference.nodes
    replaced = sum(graph.arrays.ids.find(node.id) is not None for node in nodes.nodes)
    return {
        "nodes_changed": Change(
            came=len(nodes.nodes) - replaced,
            changed=len(nodes.renewed) + replaced,
            went=len(nodes.gone) - replaced,
        ),
        "edges_changed": {
            name: Change(came=each.added, went=each.removed)
            for name, each in difference.edges.items()
            if each.added or each.removed
        },
    }


def _names(names: tuple[str, ...]) -> str:
    more = len(names) - _NAMED
    return ", ".join(names[:_NAMED]) + (f" and {more:,} more" if more > 0 else "")
