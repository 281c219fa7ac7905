"""Turns a document into its nodes, which depend on this document alone."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import groupby
from typing import TYPE_CHECKING

from orienteer.errors import BadInput
from orienteer.graph.reserved import CHUNK, CONTENTS, DOCUMENT, INNER, SEPARATOR, TABLE
from orienteer.ingest.documents.config import BuildConfig
from orienteer.ingest.documents.cut.chunks import ProseChunk, prose_chunks
from orienteer.ingest.documents.cut.contents import is_contents
from orienteer.ingest.documents.cut.segments import Segment, line, segments
from orienteer.ingest.documents.read.blocks import Block, Document, Grid, Place, Prose
from orienteer.records import JsonValue, Node
from orienteer.text.sentences import tokens

if TYPE_CHECKING:
    from orienteer.protocols import Embedder


OUTLINE = 50
"""Headings that the text of a document lists at the most."""


@dataclass(slots=True)
class DocumentNodeMaker:
    """Makes nodes of documents, and counts those that enter the graph."""

    config: BuildConfig
    embedder: Embedder | None = None
    cut_cells: int = 0
    """Cells of tables that were cut off."""
    documents: int = 0
    chunks: int = 0
    segments: int = 0
    empty: list[str] = field(default_factory=list)
    """Rows of collections in which there was nothing to read."""

    def nodes(self, document: Document, tell: Callable[[int], None] | None = None) -> list[Node]:
        """Return the node of a document, then those of its parts in order; nothing for a document without text.

        `tell` is told how many more characters have been read, on the way. Raises `BadInput` if the nodes come to far
        more than was read.
        """
        ration = Ration(document, tell or _untold)
        parts = list(ration.given(self._parts(document, ration.blocks())))
        if not parts:
            self.empty += [document.id] * document.is_row
            return []
        is_alone = document.is_row and len(parts) == 1
        return [_alone(document, parts[0])] if is_alone else [_document(document, parts), *parts]

    def count(self, nodes: Sequence[Node]) -> None:
        """Count nodes that are taken into the graph."""
        self.documents += sum(node.type == DOCUMENT or "document" not in node.properties for node in nodes)
        self.chunks += sum(node.type == CHUNK for node in nodes)
        self.segments += sum(node.type == TABLE for node in nodes)

    def _parts(self, document: Document, blocks: Iterable[Block]) -> Iterator[Node]:
        if document.is_whole and not (self.config.faithful and self.embedder is not None):
            text = "\n".join(block.text for block in blocks if isinstance(block, Prose))
            yield _chunk(document, 0, ProseChunk(text, (), tokens(text), None, None, (), ()))
            return
        order = 0
        table = 0
        for is_prose, group in groupby(blocks, key=lambda block: isinstance(block, Prose)):
            if is_prose:
                prose = (block for block in group if isinstance(block, Prose))
                for chunk in prose_chunks(prose, self.config, self.embedder):
                    if chunk.text.strip():
                        yield _chunk(document, order, chunk)
                        order += 1
                continue
            for grid in group:
                assert isinstance(grid, Grid)  # what is no prose
                for segment in segments(grid.header, grid.rows, self.config, rest_joins=grid.rest_joins):
                    self.cut_cells += segment.cut
                    yield _segment(document, order, table, grid, segment)
                    order += 1
                table += 1


def part_id(document: str, order: int) -> str:
    """Return the id of a part of a document, numbered from 0."""
    return f"{document}#{order}"


def _chunk(document: Document, order: int, chunk: ProseChunk) -> Node:
    properties: dict[str, JsonValue] = {
        **_source(document, order, Place(chunk.headings, chunk.page, chunk.span, chunk.anchors), chunk.links),
        "tokens": chunk.tokens,
        **({"lines": chunk.lines} if chunk.lines else {}),
        **({INNER: [list(one) for one in chunk.inner]} if chunk.inner else {}),
        **({CONTENTS: True} if chunk.is_navigation or is_contents(chunk.text, chunk.links, chunk.headings) else {}),
    }
    return Node(part_id(document.id, order), CHUNK, _name(document.title, chunk.headings), chunk.text, (), properties)


def _segment(document: Document, order: int, table: int, grid: Grid, segment: Segment) -> Node:
    place = grid.place
    above = [grid.caption, line(grid.header)]
    text = "\n".join([*filter(None, above), *map(line, segment.rows)])
    properties: dict[str, JsonValue] = {
        **_source(document, order, place, grid.links if segment.first == 1 else ()),
        "table": table,
        "first_row": segment.first,
        "rows": len(segment.rows),
        "header": list(grid.header),
        "columns": list(segment.columns),
    }
    return Node(part_id(document.id, order), TABLE, _name(document.title, place.headings), text, (), properties)


def _source(document: Document, order: int, place: Place, links: Sequence[str]) -> dict[str, JsonValue]:
    """Return where a part comes from, without what is not known."""
    origin: dict[str, JsonValue] = {
        **document.properties,
        "document": document.id,
        "order": order,
        "file": document.file,
        "page": place.page,
        "heading": SEPARATOR.join(place.headings) or None,
        "span": None if place.span is None else [place.span.start, place.span.end],
        "line": place.line,
        "anchors": list(place.anchors) or None,
        "links": list(links) or None,
    }
    return {name: value for name, value in origin.items() if value is not None}


def _name(title: str, headings: Sequence[str]) -> str:
    return SEPARATOR.join(filter(None, (title, *headings)))


def _alone(document: Document, part: Node) -> Node:
    """Return the one part of a row of a collection as the node of that row."""
    properties = {name: value for name, value in part.properties.items() if name not in ("document", "order")}
    return Node(document.id, part.type, document.title, part.text, document.aliases, properties)


def _document(document: Document, parts: Sequence[Node]) -> Node:
    headings = dict.fromkeys(str(part.properties["heading"]) for part in parts if "heading" in part.properties)
    outline = "\n".join(list(headings)[:OUTLINE])
    properties: dict[str, JsonValue] = {**document.properties, "parts": len(parts)}
    if document.file is not None:
        properties["file"] = document.file
    if not document.has_title:
        properties["untitled"] = True
    return Node(document.id, DOCUMENT, document.title, outline, document.aliases, properties)


MOST_SAID = 20
"""Characters that one character of a document may come to. Manuals, papers and tables come to 2 to 4."""
FREE = 1 << 20
"""Characters that any document may come to."""


def _untold(characters: int) -> None:
    """Take no notice of what is read."""


@dataclass(slots=True)
class Ration:
    """Holds what the parts of a document come to against what was read of it.

    A title, the headings above a part, the header of a table and the fields of a row are repeated in every part beneath
    them, and a short row is filled up: out of two megabytes, one of them repeated, terabytes could be made.
    """

    document: Document
    _tell: Callable[[int], None]
    _taken: int = 0
    _given: int = 0

    def __post_init__(self) -> None:
        self._taken = len(self.document.title) + _size(self.document.properties)

    def blocks(self) -> Iterator[Block]:
        """Return the blocks of the document, and count their characters on the way."""
        for block in self.document.blocks:
            before = self._taken
            if block.links or block.place.anchors:
                self._taken += sum(map(len, (*block.links, *block.place.anchors)))
            if isinstance(block, Prose):
                self._taken += len(block.text)
                self._tell(self._taken - before)
                yield block
            else:
                self._taken += len(block.caption) + sum(map(len, block.header))
                yield replace(block, rows=self._rows(block))

    def _rows(self, grid: Grid) -> Iterator[tuple[str, ...]]:
        for row in grid.rows:
            size = sum(map(len, row))
            self._taken += size
            self._tell(size)
            yield row

    def given(self, parts: Iterable[Node]) -> Iterator[Node]:
        """Return the parts, and count their characters on the way. Raises `BadInput` when there are too many."""
        for part in parts:
            self._given += len(part.name) + len(part.text) + _size(part.properties)
            if self._given > FREE + MOST_SAID * self._taken:
                raise BadInput(
                    f"its parts come to more than {MOST_SAID} times its text ({self._given:,} characters of "
                    f"{self._taken:,}): shorten the title, headings, table headers or fields that all of them repeat"
                )
            yield part


def _size(value: JsonValue | Mapping[str, JsonValue]) -> int:
    if isinstance(value, str):
        return len(value)
    if isinstance(value, Mapping):
        return sum(map(_size, value.values()))
    return sum(map(_size, value)) if isinstance(value, list) else 0
