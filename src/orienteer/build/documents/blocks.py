"""What a reader makes of a file: documents of blocks, each prose or a table, in reading order."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import NamedTuple, TypeAlias

from orienteer.records import JsonValue


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


@dataclass(frozen=True, slots=True)
class Prose:
    """A paragraph, an item of a list, a piece of code."""

    text: str
    place: Place = Place()
    links: tuple[str, ...] = ()
    """Where its hyperlinks lead, as they are written."""
    is_code: bool = False
    """Lines of which no sentence is made."""


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


@dataclass(frozen=True, slots=True)
class Document:
    """One document as it was read."""

    id: str
    title: str
    blocks: Iterable[Block]
    file: str | None = None
    """The file that it stands in, as it is called beneath the folder that was given."""
    aliases: tuple[str, ...] = ()
    properties: Mapping[str, JsonValue] = field(default_factory=dict)
    is_whole: bool = False
    """It is one chunk already and is never cut: a passage of a corpus."""
    is_row: bool = False
    """A row of a collection: where it is one chunk, that chunk is all there is of it."""
    has_title: bool = True
    """Its title was found in it, and is not merely the name of its file."""
