"""What the parts of a document come to, against what was read of it.

A title, the headings above a part, the header of a table and the fields of a row are repeated in every part beneath
them, and a short row is filled up: of a megabyte that is repeated and a megabyte that is not, terabytes could be made.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace

from orienteer.errors import BadInput
from orienteer.ingest.documents.read.blocks import Block, Document, Grid, Prose
from orienteer.records import JsonValue, Node

MOST_SAID = 20
"""Characters that one character of a document may come to. Manuals, papers and tables come to 2 to 4."""
FREE = 1 << 20
"""Characters that any document may come to."""


@dataclass(slots=True)
class Ration:
    """Counts one document."""

    document: Document
    _taken: int = 0
    _given: int = 0

    def __post_init__(self) -> None:
        self._taken = len(self.document.title) + _size(self.document.properties)

    def blocks(self) -> Iterator[Block]:
        """Return the blocks of the document, and count their characters on the way."""
        for block in self.document.blocks:
            self._taken += sum(map(len, (*block.links, *block.place.anchors)))
            if isinstance(block, Prose):
                self._taken += len(block.text)
                yield block
            else:
                self._taken += len(block.caption) + sum(map(len, block.header))
                yield replace(block, rows=self._rows(block))

    def _rows(self, grid: Grid) -> Iterator[tuple[str, ...]]:
        for row in grid.rows:
            self._taken += sum(map(len, row))
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
