"""Documents as readers return them: blocks in reading order, each prose or a table."""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import NamedTuple, TypeAlias

from orienteer.errors import BadInput
from orienteer.records import JsonValue

MOST_COLUMNS = 1_000
"""Maximum columns of a table."""
MOST_BLOCKS = 1_000_000
"""Maximum blocks of a document. A book has some ten thousand."""

LONGEST_HEAD = 1_000
"""Maximum characters of a value of the metadata; a list of thousands of receivers adds nothing."""
MID = "mid:"
"""Before the identifier of a mail, in the anchor of its heads and in links to it (RFC 2392)."""


class Span(NamedTuple):
    """A position in the text of a file: character indexes, the end excluded."""

    start: int
    end: int


# Not frozen, for a file has hundreds of thousands of places and blocks, and a frozen one takes four times as long to
# make. Nothing changes one: several blocks may share a place.


@dataclass(slots=True, unsafe_hash=True)
class Place:
    """Where in its document a block is."""

    headings: tuple[str, ...] = ()
    """The headings above it, outermost first; the document's own title is not among them."""
    page: int | None = None
    span: Span | None = None
    anchors: tuple[str, ...] = ()
    """Names by which links refer to this place: `#anchor`."""
    line: int | None = None
    """Its first line in the file, from 1, or None if the file has no lines, like a PDF."""
    is_navigation: bool = False
    """Its text only links elsewhere: a menu, a table of contents, an index."""

    def beneath(self, headings: tuple[str, ...]) -> Place:
        """Return the same place beneath other headings: `dataclasses.replace` takes six times as long."""
        return Place(headings, self.page, self.span, self.anchors, self.line, self.is_navigation)


@dataclass(slots=True, unsafe_hash=True)
class Prose:
    """A paragraph, a list item or a piece of code."""

    text: str
    place: Place = Place()
    links: tuple[str, ...] = ()
    """The targets of its hyperlinks, as written."""
    is_code: bool = False
    """Its lines are not sentences."""


@dataclass(frozen=True, slots=True)
class Grid:
    """A table. Its rows may be an iterator, which is read once."""

    header: tuple[str, ...]
    rows: Iterable[tuple[str, ...]]
    place: Place = Place()
    caption: str = ""
    links: tuple[str, ...] = ()
    rest_joins: bool = False
    """If the last segment would have too few rows, they join the one before instead of sharing its rows."""


Block: TypeAlias = Prose | Grid


def moved(block: Block, place: Place) -> Block:
    """Return a block at another place."""
    if isinstance(block, Prose):
        return Prose(block.text, place, block.links, block.is_code)
    return replace(block, place=place)


class Blocks(list[Block]):
    """The blocks of a document. Raises `BadInput` for too many: each takes some hundred bytes."""

    def append(self, block: Block) -> None:
        """Add a block."""
        if len(self) == MOST_BLOCKS:
            raise BadInput(f"more than {MOST_BLOCKS:,} paragraphs and tables: part it")
        super().append(block)


@dataclass(slots=True)
class Page:
    """The title and the blocks of one text; the title is empty if it has none."""

    title: str = ""
    blocks: list[Block] = field(default_factory=Blocks)
    notes: list[str] = field(default_factory=list)
    """Notes for the user about the reading: `pages 1 to 140 of 311`."""
    heads: dict[str, JsonValue] = field(default_factory=dict)
    """Its metadata, such as the headers of a mail, which `--where` can filter by."""

    @property
    def properties(self) -> dict[str, JsonValue]:
        """The metadata, each value cut to `LONGEST_HEAD`: properties of its nodes."""
        return {
            name: [str(one)[:LONGEST_HEAD] for one in value] if isinstance(value, list) else str(value)[:LONGEST_HEAD]
            for name, value in self.heads.items()
        }

    @property
    def top(self) -> str:
        """The one heading above all blocks, or ""."""
        tops = {block.place.headings[:1] for block in self.blocks}
        return next(iter(tops))[0] if len(tops) == 1 and tops != {()} else ""

    def lift_title(self) -> None:
        """Drop the one heading above all blocks from their paths if it is the title, or the page has no other."""
        top = self.top
        if top and self.title in ("", top):
            self.title = top
            self.blocks = [moved(block, block.place.beneath(block.place.headings[1:])) for block in self.blocks]


def lined(blocks: Iterable[Block], text: str) -> list[Block]:
    """Return the blocks of a text, each with the first line of its span."""
    ends = [match.start() for match in re.finditer("\n", text)]
    return [block if block.place.span is None else moved(block, _lined(block.place, ends)) for block in blocks]


def _lined(place: Place, ends: Sequence[int]) -> Place:
    line = place.span and 1 + bisect_right(ends, place.span.start - 1)
    return Place(place.headings, place.page, place.span, place.anchors, line, place.is_navigation)


def filled(rows: Iterable[Sequence[str]], width: int) -> Iterator[tuple[str, ...]]:
    """Return rows of equal width: short rows are padded, long ones cut."""
    nothing = ("",) * width
    return ((*row, *nothing[len(row) :])[:width] for row in rows)


@dataclass(frozen=True, slots=True)
class Document:
    """One document."""

    id: str
    title: str
    blocks: Iterable[Block]
    file: str | None = None
    """Its file, as a path relative to the source folder."""
    aliases: tuple[str, ...] = ()
    properties: Mapping[str, JsonValue] = field(default_factory=dict)
    is_whole: bool = False
    """Whether it is one chunk, as a passage of a corpus is. Only `faithful` cuts it, as the paper does."""
    is_row: bool = False
    """A row of a collection. If it is one chunk, the chunk is its only node."""
    has_title: bool = True
    """Its title was found in it, and is not just the name of its file."""
    notes: Sequence[str] = ()
    """Notes for the user about the reading."""
