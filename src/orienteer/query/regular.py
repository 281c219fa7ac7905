"""Regular expressions that take no more time than the text is long."""

from __future__ import annotations

import re
from functools import lru_cache

from orienteer.errors import BadQuery


class TextPattern:
    """A regular expression for whole texts."""

    def __init__(self, text: str) -> None:
        """Raises `BadQuery` for a text that is not a regular expression."""
        try:
            self._expression = re.compile(text)
        except (re.error, RecursionError, OverflowError) as error:
            raise BadQuery(f"{text!r} is not a regular expression: {error}") from error

    @staticmethod
    @lru_cache(maxsize=64)
    def of(text: str) -> TextPattern:
        """Return a regular expression, kept for the next call."""
        return TextPattern(text)

    def matches(self, text: str) -> bool:
        """Return whether the whole text matches."""
        return self._expression.fullmatch(text) is not None
