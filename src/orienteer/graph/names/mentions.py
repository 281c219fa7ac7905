"""The names in each chunk: the incidence that link edges and name edges are made from."""

from __future__ import annotations

from array import array
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from itertools import compress

import numpy as np
from numpy.typing import NDArray

from orienteer.display import Count
from orienteer.graph.names.chunk_titles import DocumentPart, parts_of
from orienteer.graph.reserved import CELLS, CHUNK, TABLE
from orienteer.records import JsonValue, Node
from orienteer.text.proper_names import CaseCounts, Finder, TextNames, idf, most_chunks, surfaces

Progress = Callable[[str, int], None]
_EVERY = 2_000  # chunks between two reports of progress
NAME_SHARE = 0.02
"""Of the chunks: a name in more of them says little about any. A common word is often above it, a name seldom."""


@dataclass(frozen=True, slots=True)
class Mention:
    """A title that occurs in a chunk."""

    part: int
    """The number of the chunk."""
    name: int
    """The number of the title."""
    row: int | None = None
    """In a table, the number of the row, counted from 1 as in the file."""
    column: int | None = None


@dataclass(frozen=True, slots=True)
class CorpusNames:
    """The telling names of a corpus, and the parts that they occur in."""

    parts: tuple[DocumentPart, ...]
    names: tuple[str, ...]
    """The names by number, as they are first written."""
    weights: NDArray[np.float64]
    """(names,): the idf of each, ln(1 + chunks / chunks with the name)."""
    begins: NDArray[np.int64]
    """(parts + 1,): where the names of each part begin in `members`."""
    members: NDArray[np.int32]
    """The numbers of names, part after part, ascending within a part."""
    titled: dict[int, tuple[int, ...]]
    """By name, the parts that have it as a title."""
    mentions: tuple[Mention, ...]
    keys: tuple[str, ...] = ()
    """By number, the form that is compared: `key_of` the name, for a title also without its bracket."""
    case: CaseCounts | None = None
    """How often the parts write each word with and without a capital."""

    def of(self, part: int) -> NDArray[np.int32]:
        """Return the numbers of the names of a part: (n,), ascending."""
        return self.members[self.begins[part] : self.begins[part + 1]]


def find_names(nodes: Iterable[Node], *, progress: Progress, share: float = NAME_SHARE) -> CorpusNames:
    """Read all nodes twice, first to count words in both cases, then for names. `nodes` is iterated several times.

    A name in more than this share of the chunks, and in more than 20 chunks, is left out.
    """
    case = CaseCounts()
    parts: list[DocumentPart] = []
    for part, node in parts_of(nodes):
        case.add(node.text)
        parts.append(part)
        _tell(progress, "counting words", len(parts))
    case.settle()
    name_untitled(nodes, parts, case)
    finder = Finder((surface for part in parts for title in part.titles for surface in surfaces(title)), case)
    gathered = NameCollector()
    for number, (_, node) in enumerate(parts_of(nodes)):
        gathered.part(number, node, finder, parts[number].titles)
        _tell(progress, "finding names", Count(number + 1, of=len(parts)))
    return replace(gathered.settled(parts, share), case=case)


def name_untitled(nodes: Iterable[Node], parts: Sequence[DocumentPart], case: CaseCounts) -> None:
    """Take the first name in an untitled text for its title: right nearly every second time, and worth it."""
    if not any(part.is_untitled for part in parts):
        return
    finder = Finder((), case)
    for part, (_, node) in zip(parts, parts_of(nodes), strict=True):
        if part.is_untitled and node.type == CHUNK and (first := next(iter(finder.find(node.text).runs.values()), "")):
            part.titles = (*part.titles, first)


class NameCollector:
    """Collects the names of text after text."""

    def __init__(self) -> None:
        self._numbers: dict[str, int] = {}
        self._written: list[str] = []
        self._begins = array("q", [0])
        self._members = array("i")
        self._mentions: list[Mention] = []
        self._titled: dict[int, list[int]] = {}

    def part(self, part: int, node: Node, finder: Finder, titles: Sequence[str]) -> None:
        """Add the names of a chunk or of a table segment."""
        if node.type == TABLE:
            self.table(part, node, finder, titles)
        else:
            self.add(part, finder.find(f"{node.name}\n{node.text}"), titles)

    def add(self, part: int, names: TextNames, titles: Sequence[str]) -> None:
        """Add the names of a piece of prose."""
        numbers = self._title(part, titles)
        for folded, written in names.titles.items():
            number = self._number(folded, written)
            numbers.add(number)
            self._mentions.append(Mention(part, number))
        numbers.update(self._number(folded, written) for folded, written in names.runs.items())
        self._close(numbers)

    def table(self, part: int, node: Node, finder: Finder, titles: Sequence[str]) -> None:
        """Add the names of a table segment, cell by cell."""
        numbers = self._title(part, titles)
        lines = [node.name, *node.text.split("\n")]
        first = whole(node.properties.get("first_row"), 1)
        body = len(lines) - whole(node.properties.get("rows"), 0)
        seen: set[tuple[int, int]] = set()
        for at, line in enumerate(lines):
            row = first + at - body if at >= body else None
            for column, cell in enumerate(line.split(CELLS)):
                names = finder.cell(cell) if row is not None else finder.find(cell)
                for folded, written in names.titles.items():
                    number = self._number(folded, written)
                    numbers.add(number)
                    if (number, row or 0) not in seen:
                        seen.add((number, row or 0))
                        self._mentions.append(Mention(part, number, row, column if row is not None else None))
                numbers.update(self._number(folded, written) for folded, written in names.runs.items())
        self._close(numbers)

    def _title(self, part: int, titles: Sequence[str]) -> set[int]:
        numbers = set()
        for title in titles:
            for surface in surfaces(title):
                number = self._number(surface, title)
                if part not in self._titled.setdefault(number, []):
                    self._titled[number].append(part)
                numbers.add(number)
        return numbers

    def _number(self, folded: str, written: str) -> int:
        number = self._numbers.setdefault(folded, len(self._numbers))
        if number == len(self._written):
            self._written.append(" ".join(written.split()))
        return number

    def _close(self, numbers: set[int]) -> None:
        self._members.extend(sorted(numbers))
        self._begins.append(len(self._members))

    def settled(self, parts: Sequence[DocumentPart], share: float | None) -> CorpusNames:
        """Return the telling names: those in at least two chunks or a title, and not in too many.

        Without a share, return all.
        """
        members = np.frombuffer(self._members, np.int32) if self._members else np.zeros(0, np.int32)
        counts = np.bincount(members, minlength=len(self._numbers))
        is_title = np.zeros(len(counts), np.bool_)
        is_title[list(self._titled)] = True
        keep = (counts > 0) if share is None else is_telling(counts, is_title, len(parts), share)
        renumbered = np.where(keep, np.cumsum(keep) - 1, -1)
        remains = keep[members]
        begins = np.concatenate([[0], np.cumsum(remains)])[np.frombuffer(self._begins, np.int64)]
        new = {old: int(renumbered[old]) for old in self._titled if keep[old]}
        return CorpusNames(
            parts=tuple(parts),
            names=tuple(name for name, is_kept in zip(self._written, keep.tolist(), strict=True) if is_kept),
            weights=np.array([idf(int(count), len(parts)) for count in counts[keep]], np.float64),
            begins=begins,
            members=renumbered[members[remains]].astype(np.int32),
            titled={number: tuple(self._titled[old]) for old, number in new.items()},
            mentions=tuple(
                Mention(mention.part, int(renumbered[mention.name]), mention.row, mention.column)
                for mention in self._mentions
                if keep[mention.name]
            ),
            keys=tuple(compress(self._numbers, keep.tolist())),
        )


def is_telling(counts: NDArray[np.int64], is_title: NDArray[np.bool_], parts: int, share: float) -> NDArray[np.bool_]:
    """Mark the names in at least two of so many chunks, or a title, and not in too many: all of shape (names,)."""
    return ((counts >= 2) | is_title) & (counts > 0) & (counts <= most_chunks(parts, share))


def whole(value: JsonValue, default: int) -> int:
    """Return a property that is a whole number; for any other value, the default."""
    return value if isinstance(value, int) else default


def _tell(progress: Progress, stage: str, count: int) -> None:
    if count % _EVERY == 0:
        progress(stage, count)
