"""Prose -> sentences, with the place of each."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from orienteer.ingest.documents.read.blocks import Place, Prose
from orienteer.text.sentences import pieces, split, tokens


@dataclass(frozen=True, slots=True)
class Sentence:
    """A sentence, or a line of code."""

    text: str
    place: Place
    tokens: int
    joint: str
    """What stands between it and the sentence before it: a space, or the end of a line."""
    links: tuple[str, ...] = ()
    """Of its paragraph; on the first sentence alone."""


def sentences(block: Prose, *, most: int) -> Iterator[Sentence]:
    """Return the sentences of a block; one of more than `most` tokens comes in pieces."""
    parts = block.text.split("\n") if block.is_code else list(split(block.text))
    is_first = True
    for part in parts:
        for piece in pieces(part, most):
            if not piece.strip():
                continue
            joint = "\n" if is_first or block.is_code else " "
            links = block.links if is_first else ()
            yield Sentence(piece if block.is_code else piece.strip(), block.place, tokens(piece), joint, links)
            is_first = False
    if is_first and block.links:
        yield Sentence("", block.place, 0, "\n", block.links)
