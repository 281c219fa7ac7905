"""Texts in a reply or a prompt: as one line, and what room they take."""

from __future__ import annotations

CHARACTERS_A_TOKEN = 4
"""A token of English or JSON, about: for limits of requests, where `sentences.tokens` would take too long."""
LONGEST_NAME = 200
"""Characters of a name in a reply; the id beside it is never cut."""


def one_line(text: str, longest: int = LONGEST_NAME) -> str:
    """Return a text as one line of at most `longest` characters: a name with line breaks could forge lines."""
    text = " ".join(text.splitlines())
    return text if len(text) <= longest else f"{text[: longest - 1]}…"
