"""Printed text under a bound: its beginning, its end, and the number of characters between them.

This file imports nothing of the package: the second tier's worker loads it by itself.
"""

from __future__ import annotations

from typing import NamedTuple

_LONGEST_WORD = 500  # characters: a longer word is no id, and half of it says as much as the whole


class Excerpt(NamedTuple):
    """The beginning and the end of a text."""

    text: str
    left_out: int
    """Characters of the text that are not in the excerpt."""


class Printout:
    """Takes text piece by piece and holds at most `characters` of it, however much comes."""

    def __init__(self, characters: int) -> None:
        self._tail_room = characters // 2
        self._head_room = characters - self._tail_room
        self._head, self._tail = "", ""
        self._characters = 0

    def add(self, text: str) -> None:
        """Add the next piece."""
        self._characters += len(text)
        room = self._head_room - len(self._head)
        self._head += text[:room]
        if (rest := text[room:]) and self._tail_room:
            self._tail = (self._tail + rest)[-self._tail_room :]

    def excerpt(self) -> Excerpt:
        """Return the excerpt of all text so far."""
        return excerpt(self._head, self._tail, self._characters - len(self._head) - len(self._tail))


def excerpt(head: str, tail: str, left_out: int) -> Excerpt:
    """Join a beginning and an end; a line between them says how many characters are left out.

    Words at the gap that were cut in two are left out as well: half an id would look like another id.
    """
    if not left_out:
        return Excerpt(head + tail, 0)
    whole_head, whole_tail = _to_last_blank(head), _to_last_blank(tail[::-1])[::-1]
    left_out += len(head) - len(whole_head) + len(tail) - len(whole_tail)
    return Excerpt(f"{whole_head}\n... {left_out:,} characters left out ...\n{whole_tail}", left_out)


def _to_last_blank(text: str) -> str:
    """Return a text up to its last blank; the whole text where that would leave nothing or cut off a long word."""
    at = max(text.rfind(blank, max(0, len(text) - _LONGEST_WORD)) for blank in " \n\t")
    return text[:at] if at > 0 else text
