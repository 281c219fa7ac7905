"""Printed text under a bound: its beginning and its end, and how much stood between.

It imports nothing of the package: the second tier's worker loads it as a file of its own.
"""

from __future__ import annotations

from typing import NamedTuple

_LONGEST_WORD = 500  # characters: longer ones are no ids, and a half says as much as the whole


class Kept(NamedTuple):
    """What is kept of a text."""

    text: str
    left_out: int
    """Characters that are not in it."""


class Printed:
    """Takes text piece by piece and keeps no more than the bound, however much comes."""

    def __init__(self, characters: int) -> None:
        self._tail_room = characters // 2
        self._head_room = characters - self._tail_room
        self._head, self._tail = "", ""
        self._characters = 0

    def add(self, text: str) -> None:
        """Take the next piece."""
        self._characters += len(text)
        room = self._head_room - len(self._head)
        self._head += text[:room]
        if (rest := text[room:]) and self._tail_room:
            self._tail = (self._tail + rest)[-self._tail_room :]

    def kept(self) -> Kept:
        """Return what was kept of all that came."""
        return kept(self._head, self._tail, self._characters - len(self._head) - len(self._tail))


def kept(head: str, tail: str, left_out: int) -> Kept:
    """Return a beginning and an end with a line between them that says how many characters are left out.

    What the gap has cut in two goes as well: half an id would look like another one.
    """
    if not left_out:
        return Kept(head + tail, 0)
    whole_head, whole_tail = _to_last_blank(head), _to_last_blank(tail[::-1])[::-1]
    left_out += len(head) - len(whole_head) + len(tail) - len(whole_tail)
    return Kept(f"{whole_head}\n... {left_out:,} characters left out ...\n{whole_tail}", left_out)


def _to_last_blank(text: str) -> str:
    """Return a text up to its last blank; all of it where that would leave nothing, or cut off a great deal."""
    at = max(text.rfind(blank, max(0, len(text) - _LONGEST_WORD)) for blank in " \n\t")
    return text[:at] if at > 0 else text
