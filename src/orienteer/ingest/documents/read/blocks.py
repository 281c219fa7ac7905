"""What a reader makes of a file: documents of blocks, each prose or a table, in reading order."""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import NamedTuple, TypeAlias

from orienteer.errors import BadInput
from orienteer.records import JsonValue

MOST_COLUMNS = 1_000
"""Of a table; anything with more columns is no table."""
MOST_BLOCKS = 1_000_000
"""Of one document. A book has some ten thousand."""

MID = "mid:"
"""Before the identifier of a mail, in the anchor of its heads and in links to it (RFC 2392)."""


class Span(NamedTuple):
    """Where something stands in the text of its file: characters, the end left out."""

    start: int
    end: int


@dataclass(frozen=True, slots=True)
class Place:
    """Where in its document a block stands."""

    headings: tuple[str, ...] = ()
    """The headings above it, outermost first; the document's own title is not among them."""
    page: int | None = None
    span: Span | None = None
    anchors: tuple[str, ...] = ()
    """What a link may call this place: `#anchor`."""
    line: int | None = None
    """The line of its file that it begins on, from 1; None where the file has none, as a PDF."""
    is_navigation: bool = False
    """What stands here only leads elsewhere: a menu, a table of contents, an index."""


@dataclass(frozen=True, slots=True)
class Prose:
    """A paragraph, an item of a list, a piece of code."""

    text: str
    place: Place = Place()
    links: tuple[str, ...] = ()
    """Where its hyperlinks lead, as they are written."""
    is_code: bool = False
    """Its lines are no sentences."""


@dataclass(frozen=True, slots=True)
class Grid:
    """A table. Its rows may come in a stream, and are read once."""

    header: tuple[str, ...]
    rows: Iterable[tuple[str, ...]]
    place: Place = Place()
    caption: str = ""
    links: tuple[str, ...] = ()
    rest_joins: bool = False
    """Rows that are too few for a last segment join the one before, in place of sharing its rows."""


Block: TypeAlias = Prose | Grid


class Blocks(list[Block]):
    """Blocks as a reader finds them. Raises `BadInput` for too many: each takes some hundred bytes."""

    def append(self, block: Block) -> None:
        """Take the next block."""
        if len(self) == MOST_BLOCKS:
            raise BadInput(f"more than {MOST_BLOCKS:,} paragraphs and tables: part it")
        super().append(block)


@dataclass(slots=True)
class Page:
    """The title and the blocks of one text; the title is empty if it has none."""

    title: str = ""
    blocks: list[Block] = field(default_factory=Blocks)
    notes: list[str] = field(default_factory=list)
    """What a person has to know of the reading: `pages 1 to 140 of 311`."""
    heads: dict[str, str] = field(default_factory=dict)
    """What it says of itself, as the heads of a mail: what `--where` can filter by."""

    @property
    def top(self) -> str:
        """The one heading that all blocks stand beneath, empty if there is none."""
        tops = {block.place.headings[:1] for block in self.blocks}
        return next(iter(tops))[0] if len(tops) == 1 and tops != {()} else ""

    def lift_title(self) -> None:
        """Drop the one heading above all blocks from their paths if it is the title, or the page has no other."""
        top = self.top
        if top and self.title in ("", top):
            self.title = top
            self.blocks = [
                replace(block, place=replace(block.place, headings=block.place.headings[1:])) for block in self.blocks
            ]


def lined(blocks: Iterable[Block], text: str) -> list[Block]:
    """Return the blocks of a text, each with the line that its span begins on."""
    ends = [match.start() for match in re.finditer("\n", text)]
    lined_blocks: list[Block] = []
    for block in blocks:
        place = block.place
        if place.span is not None:
            line = 1 + bisect_right(ends, place.span.start - 1)
            place = Place(place.headings, place.page, place.span, place.anchors, line, place.is_navigation)
            if isinstance(block, Prose):  # a file has hundreds of thousands, and `replace` takes long
                block = Prose(block.text, place, block.links, block.is_code)
            else:
                block = replace(block, place=place)
        lined_blocks.append(block)
    return lined_blocks


def filled(rows: Iterable[Sequence[str]], width: int) -> Iterator[tuple[str, ...]]:
    """Return rows of one width: short rows are filled up, long ones cut."""
    nothing = ("",) * width
    return ((*row, *nothing[len(row) :])[:width] for row in rows)


@dataclass(frozen=True, slots=True)
class Document:
    """One document as it was read."""

    id: str
    title: str
    blocks: Iterable[Block]
    file: str | None = None
    """Its file, named by its path beneath the source folder."""
    aliases: tuple[str, ...] = ()
    properties: Mapping[str, JsonValue] = field(default_factory=dict)
    is_whole: bool = False
    """It is one chunk already and is never cut: a passage of a corpus."""
    is_row: bool = False
    """A row of a collection. If it is one chunk, the chunk is its only node."""
    has_title: bool = True
    """Its title was found in it, and is not merely the name of its file."""
    notes: Sequence[str] = ()
    """What a person has to know of the reading."""
