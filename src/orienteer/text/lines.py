"""Texts as one line of a reply or a prompt."""

from __future__ import annotations

LONGEST_NAME = 200
"""Characters of a name in a reply; the id beside it is whole."""


def one_line(text: str, longest: int = LONGEST_NAME) -> str:
    """Return a name as a line may hold it: one with line breaks in it could feign lines of its own."""
    text = " ".join(text.splitlines())
    return text if len(text) <= longest else f"{text[: longest - 1]}…"
