"""What code has printed and the error that ended it, cut to a bound.

This file imports nothing of the package: the second tier's worker loads it by itself.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

_LONGEST_WORD = 500  # characters: a longer word is not an id, and half of it says as much as the whole
# A model reads the errors: these bound them.
_LONGEST_MESSAGE = 2_000  # characters
_LONGEST_LINE = 160  # characters of a line of code
_MOST_LINES = 6


class Excerpt(NamedTuple):
    """The beginning and the end of a text."""

    text: str
    left_out: int
    """Characters of the text that are not in the excerpt."""


class Printout:
    """Collects text piece by piece and keeps at most `characters` of it."""

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
    """Return a text up to its last blank, or all of it if that would leave nothing or cut off a long word."""
    at = max(text.rfind(blank, max(0, len(text) - _LONGEST_WORD)) for blank in " \n\t")
    return text[:at] if at > 0 else text


def trace_line(number: int | None, function: str | None, source: str | None, *, is_earlier: bool) -> str:
    """Return a frame as one line: `line 3 of earlier code, in f: return x / 0`."""
    earlier = " of earlier code" if is_earlier else ""
    within = "" if function in (None, "<module>") else f", in {function}"
    return f"line {number}{earlier}{within}{f': {_cut(source.strip(), _LONGEST_LINE)}' if source else ''}"


def error_text(lines: Sequence[str], message: str) -> str:
    """Return an error with the lines of code that led to it, the outermost first."""
    if len(lines) > _MOST_LINES:
        half = _MOST_LINES // 2
        lines = [*lines[:half], f"... {len(lines) - _MOST_LINES} more ...", *lines[-half:]]
    return "\n".join([*lines, _cut(message, _LONGEST_MESSAGE)])


def _cut(text: str, characters: int) -> str:
    return text if len(text) <= characters else f"{text[:characters]} ... ({len(text):,} characters)"
