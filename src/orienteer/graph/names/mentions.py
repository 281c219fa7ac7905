"""Which names stand in which chunks: the incidence that link edges and name edges are made of."""

from __future__ import annotations

from array import array
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from itertools import compress

import numpy as np
from numpy.typing import NDArray

from orienteer.graph.names.chunk_titles import Part, parts_of
from orienteer.graph.reserved import CELLS, CHUNK, TABLE
from orienteer.records import JsonValue, Node
from orienteer.text.proper_names import CaseCounts, Finder, TextNames, idf, most_chunks, surfaces

Progress = Callable[[str, int], None]
_EVERY = 2_000
NAME_SHARE = 0.02
"""Of the chunks: a name in more of them says nothing of any. A common word of a corpus is in more, a name seldom is."""


@dataclass(frozen=True, slots=True)
class Mention:
    """A title that stands in a chunk."""

    part: int
    """Number of the chunk."""
    name: int
    """Number of the title."""
    row: int | None = None
    """In a table, the number of the row, from 1 as in the file."""
    column: int | None = None


@dataclass(frozen=True, slots=True)
class Names:
    """The names of a corpus, kept ones alone, and where they stand."""

    parts: tuple[Part, ...]
    names: tuple[str, ...]
    """As they are first written, by number."""
    weights: NDArray[np.float64]
    """idf of each: ln(1 + chunks / chunks that it stands in)."""
    begins: NDArray[np.int64]
    """(parts + 1,): where the names of each part begin in `members`."""
    members: NDArray[np.int32]
    """Numbers of names, part after part, sorted within one."""
    titled: dict[int, tuple[int, ...]]
    """Parts that a name is the title of."""
    mentions: tuple[Mention, ...]
    keys: tuple[str, ...] = ()
    """The names as they are compared: `key_of`, of a title also without its bracket."""

    def of(self, part: int) -> NDArray[np.int32]:
        """Return the numbers of the names of a part."""
        return self.members[self.begins[part] : self.begins[part + 1]]


def find_names(nodes: Iterable[Node], *, progress: Progress, share: float = NAME_SHARE) -> Names:
    """Read all nodes twice: for how words are written, then for names. The nodes can be iterated again.

    A name in more than this share of the chunks, and in more than 20, is left out.
    """
    case = CaseCounts()
    parts: list[Part] = []
    for part, node in parts_of(nodes):
        case.add(node.text)
        parts.append(part)
        _tell(progress, "counting words", len(parts))
    case.settle()
    _name_untitled(nodes, parts, case)
    finder = Finder((surface for part in parts for title in part.titles for surface in surfaces(title)), case)
    gathered = _Gathered()
    for number, (_, node) in enumerate(parts_of(nodes)):
        if node.type == TABLE:
            gathered.table(number, node, finder, parts[number].titles)
        else:
            gathered.add(number, finder.find(f"{node.name}\n{node.text}"), parts[number].titles)
        _tell(progress, "finding names", number + 1)
    return gathered.settled(parts, share)


def _name_untitled(nodes: Iterable[Node], parts: Sequence[Part], case: CaseCounts) -> None:
    """Take the first name of a text for its title where it has none: right nearly every second time, and worth it."""
    if not any(part.is_untitled for part in parts):
        return
    finder = Finder((), case)
    for part, (_, node) in zip(parts, parts_of(nodes), strict=True):
        if part.is_untitled and node.type == CHUNK and (first := next(iter(finder.find(node.text).runs.values()), "")):
            part.titles = (*part.titles, first)


class _Gathered:
    """Collects what is found, text after text."""

    def __init__(self) -> None:
        self._numbers: dict[str, int] = {}
        self._written: list[str] = []
        self._begins = array("q", [0])
        self._members = array("i")
        self._mentions: list[Mention] = []
        self._titled: dict[int, list[int]] = {}

    def add(self, part: int, found: TextNames, titles: Sequence[str]) -> None:
        """Take the names of a piece of prose."""
        held = self._title(part, titles)
        for folded, written in found.titles.items():
            number = self._number(folded, written)
            held.add(number)
            self._mentions.append(Mention(part, number))
        held.update(self._number(folded, written) for folded, written in found.runs.items())
        self._close(held)

    def table(self, part: int, node: Node, finder: Finder, titles: Sequence[str]) -> None:
        """Take the names of a table segment, cell by cell."""
        held = self._title(part, titles)
        lines = [node.name, *node.text.split("\n")]
        first = whole(node.properties.get("first_row"), 1)
        body = len(lines) - whole(node.properties.get("rows"), 0)
        seen: set[tuple[int, int]] = set()
        for at, line in enumerate(lines):
            row = first + at - body if at >= body else None
            for column, cell in enumerate(line.split(CELLS)):
                found = finder.cell(cell) if row is not None else finder.find(cell)
                for folded, written in found.titles.items():
                    number = self._number(folded, written)
                    held.add(number)
                    if (number, row or 0) not in seen:
                        seen.add((number, row or 0))
                        self._mentions.append(Mention(part, number, row, column if row is not None else None))
                held.update(self._number(folded, written) for folded, written in found.runs.items())
        self._close(held)

    def _title(self, part: int, titles: Sequence[str]) -> set[int]:
        held = set()
        for title in titles:
            for surface in surfaces(title):
                number = self._number(surface, title)
                if part not in self._titled.setdefault(number, []):
                    self._titled[number].append(part)
                held.add(number)
        return held

    def _number(self, folded: str, written: str) -> int:
        number = self._numbers.setdefault(folded, len(self._numbers))
        if number == len(self._written):
            self._written.append(" ".join(written.split()))
        return number

    def _close(self, held: set[int]) -> None:
        self._members.extend(sorted(held))
        self._begins.append(len(self._members))

    def settled(self, parts: Sequence[Part], share: float) -> Names:
        """Keep the names that say something: in two chunks at least or a title, and not in too many."""
        members = np.frombuffer(self._members, np.int32) if self._members else np.zeros(0, np.int32)
        counts = np.bincount(members, minlength=len(self._numbers))
        is_title = np.zeros(len(counts), np.bool_)
        is_title[list(self._titled)] = True
        keep = ((counts >= 2) | is_title) & (counts > 0) & (counts <= most_chunks(len(parts), share))
        renumbered = np.where(keep, np.cumsum(keep) - 1, -1)
        kept = keep[members]
        begins = np.concatenate([[0], np.cumsum(kept)])[np.frombuffer(self._begins, np.int64)]
        new = {old: int(renumbered[old]) for old in self._titled if keep[old]}
        return Names(
            parts=tuple(parts),
            names=tuple(name for name, is_kept in zip(self._written, keep.tolist(), strict=True) if is_kept),
            weights=np.array([idf(int(count), len(parts)) for count in counts[keep]], np.float64),
            begins=begins,
            members=renumbered[members[kept]].astype(np.int32),
            titled={number: tuple(self._titled[old]) for old, number in new.items()},
            mentions=tuple(
                Mention(one.part, new[one.name], one.row, one.column) for one in self._mentions if one.name in new
            ),
            keys=tuple(compress(self._numbers, keep.tolist())),
        )


def whole(value: JsonValue, default: int) -> int:
    """Return a property that is a whole number, another value where it is none."""
    return value if isinstance(value, int) else default


def _tell(progress: Progress, stage: str, count: int) -> None:
    if count % _EVERY == 0:
        progress(stage, count)
