"""Printed text under a bound: its beginning and its end, and how much stood between."""

from __future__ import annotations

_HEAD = 0.6  # of the bound is for the beginning


class Printed:
    """Takes text piece by piece and keeps no more than the bound, however much comes."""

    def __init__(self, characters: int) -> None:
        self._head_room = int(characters * _HEAD)
        self._tail_room = characters - self._head_room
        self._head, self._tail = "", ""
        self.characters = 0
        """That came in all."""

    def add(self, text: str) -> None:
        """Take the next piece."""
        self.characters += len(text)
        room = self._head_room - len(self._head)
        self._head += text[:room]
        rest = text[room:]
        if rest:
            self._tail = (self._tail + rest)[-self._tail_room :] if self._tail_room else ""

    @property
    def left_out(self) -> int:
        """Characters that were not kept."""
        return self.characters - len(self._head) - len(self._tail)

    @property
    def text(self) -> str:
        """What was kept, with a line in the gap where there is one."""
        if not self.left_out:
            return self._head + self._tail
        return f"{self._head}\n... {self.left_out:,} characters left out ...\n{self._tail}"
