"""The report of an import: its counts, and what was dropped, with reasons and the first rows of each."""

from __future__ import annotations

import sys
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from pydantic import Field

from orienteer.display import counted
from orienteer.ingest.bounds import SkippedFile
from orienteer.ingest.tables.mapping import FileMapping
from orienteer.records import Record

if TYPE_CHECKING:  # a reader of a format imports this module
    from orienteer.ingest.formats.table import Drop

SHOWN = 3
"""Rows that are shown for each reason."""

MEANING: Mapping[str, str] = {
    "dangling": "an edge to a missing node",
    "empty id": "a row without an id",
    "unresolved": "a value that no row, or several rows, of the other table have",
    "bad encoding": "bytes that are not UTF-8",
    "duplicate": "equal to an earlier row in every column",
    "hyperedge": "joins any number of nodes, where an edge has two ends",
    "port": "a place on a node for edges to end at",
    "markup": "a value that is XML itself",
    "bytes": "a value that is bytes, as pictures are, and no text",
    "time": "when something of a dynamic graph is there",
    "NaN": "no value of JSON, read as none",
    "Infinity": "no value of JSON, or a number too large for one, read as the text inf",
    "malformed": "no statement of RDF",
    "about a value": "a remark on a property or on a type, which can carry none",
    "mirrored": "the reverse of an earlier row of a relation that lists both directions",
}


class RowPlace(Record):
    """A row of a source file. `line` is the row's number if the format has no lines."""

    file: str
    line: int
    value: str


class Cut(Record):
    """The rows that were dropped or merged for one reason."""

    reason: str
    count: int
    first: tuple[RowPlace, ...]


class Ignored(SkippedFile):
    """A file in the source folder that was not read as nodes or edges."""

    is_telling: bool = Field(default=True, exclude=True)
    """It may have been meant as a source; other files, such as a README, are listed only on demand."""


class Report(Record):
    """The result of an import, or of a validation."""

    nodes: int
    edges: int
    node_types: dict[str, int]
    edge_types: dict[str, int]
    symmetric: tuple[str, ...] = ()
    partial: tuple[str, ...] = ()
    """Types of nodes and edges that are incomplete."""
    labels: dict[str, str] = {}
    dropped: tuple[Cut, ...] = ()
    merged: tuple[Cut, ...] = ()
    private: dict[str, int] = {}
    """Counts of values that were left out, by column."""
    unreadable: tuple[Ignored, ...] = ()
    """Files of a folder that could not be read, with the reasons."""
    ignored: tuple[Ignored, ...] = ()
    mapping: tuple[FileMapping, ...] = ()
    """How each file was read."""
    notes: tuple[str, ...] = ()
    seconds: float = 0.0
    peak_bytes: int | None = None
    """The peak memory of the process; None if the system does not report it."""

    def render(self, *, is_verbose: bool = False) -> str:
        """Return the report as text for people."""
        lines = [f"warning: left out, for it cannot be read: {file.file}: {file.reason}" for file in self.unreadable]
        lines += [counted(self.nodes, "node"), *_counts(self.node_types, self.labels)]
        lines += [counted(self.edges, "edge"), *_counts(self.edge_types, self.labels, frozenset(self.symmetric))]
        for verb, cuts in (("dropped", self.dropped), ("merged", self.merged)):
            for cut in cuts:
                lines.append(f"{verb} {cut.count:,} {cut.reason}: {MEANING.get(cut.reason, '')}")
                lines += [f"  {place.file}, line {place.line}: {place.value}" for place in cut.first]
        lines += [f"left out {count:,} values of private column {name}" for name, count in self.private.items()]
        lines += [f"ignored {file.file}: {file.reason}" for file in self.ignored if file.is_telling or is_verbose]
        lines += [f"partial: {', '.join(self.partial)}"] if self.partial else []
        lines += [f"question: {mapping.file}: {text}" for mapping in self.mapping for text in mapping.questions]
        lines += self.notes
        memory = f", {self.peak_bytes / 2**20:,.0f} MB at most" if self.peak_bytes is not None else ""
        return "\n".join([*lines, f"{self.seconds:.1f} s{memory}"])


@dataclass(slots=True)
class _Count:
    total: int = 0
    first: list[RowPlace] = field(default_factory=list)


EMPTY_ID, BAD_ENCODING = "empty id", "bad encoding"
"""Reasons to drop a row whose value is a piece of the row itself, whoever drops it."""
_HIDDEN = "(not shown: some columns are private)"


class Tally:
    """Counts the rows that an import drops or merges, and keeps the places of the first ones."""

    def __init__(self, *, hides_rows: bool = False) -> None:
        self._hides_rows = hides_rows
        self._dropped: dict[str, _Count] = {}
        self._merged: dict[str, _Count] = {}
        self._lost: Counter[tuple[str, str]] = Counter()
        self.private: dict[str, int] = {}
        self.notes: list[str] = []

    def drop(self, reason: str, first: Sequence[RowPlace], count: int = 1, *, file: str = "") -> None:
        """Count rows of one file that could not be used; `first` has the places of the first ones.

        `file` names the file if there are no places. If columns are private, the content of an unreadable row is
        hidden.
        """
        self._lost[first[0].file if first else file, reason] += count
        if self._hides_rows and reason in (EMPTY_ID, BAD_ENCODING):
            first = [place.model_copy(update={"value": _HIDDEN}) for place in first]
        _add(self._dropped, reason, first, count)

    def dropping(self, file: str) -> Drop:
        """Return a callback for a reader of this file, for each row that it cannot use, of which it shows a piece."""

        def drop(reason: str, line: int, value: str) -> None:
            self.drop(reason, [RowPlace(file=file, line=line, value=_HIDDEN if self._hides_rows else value)])

        return drop

    def merge(self, reason: str, first: Sequence[RowPlace], count: int = 1) -> None:
        """Count rows that repeat another row."""
        _add(self._merged, reason, first, count)

    def leave_out(self, column: str, values: int = 1) -> None:
        """Count values of a private column."""
        self.private[column] = self.private.get(column, 0) + values

    @property
    def dropped(self) -> tuple[Cut, ...]:
        """Return the dropped rows by reason."""
        return _cuts(self._dropped)

    @property
    def lost(self) -> list[dict[str, str | int]]:
        """Return the number of dropped rows by file and reason, for the provenance."""
        return [
            {"file": file, "reason": reason, "count": count}
            for (file, reason), count in sorted(self._lost.items())
            if count
        ]

    @property
    def merged(self) -> tuple[Cut, ...]:
        """Return the merged rows by reason."""
        return _cuts(self._merged)


def peak_bytes() -> int | None:
    """Return the peak memory of this process, or None if the system does not report it."""
    try:
        import resource
    except ImportError:
        # Windows has no such module.
        return None
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return peak if sys.platform == "darwin" else peak * 1024


def _add(counts: dict[str, _Count], reason: str, first: Sequence[RowPlace], count: int) -> None:
    if count:
        counted = counts.setdefault(reason, _Count())
        counted.total += count
        counted.first += first[: SHOWN - len(counted.first)]


def _cuts(counts: Mapping[str, _Count]) -> tuple[Cut, ...]:
    return tuple(Cut(reason=reason, count=count.total, first=tuple(count.first)) for reason, count in counts.items())


def _counts(types: Mapping[str, int], labels: Mapping[str, str], symmetric: frozenset[str] = frozenset()) -> list[str]:
    width = max((len(f"{count:,}") for count in types.values()), default=0)
    lines = []
    for name, count in sorted(types.items(), key=lambda pair: (-pair[1], pair[0])):
        label = f" ({labels[name]})" if name in labels else ""
        lines.append(f"  {count:>{width},} {name}{label}{', symmetric' if name in symmetric else ''}")
    return lines
