"""A line of a query as tokens, which are taken from left to right."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from itertools import pairwise
from typing import NamedTuple, NoReturn

from orienteer.errors import BadOption
from orienteer.text.sentences import one_line

_TOKEN = re.compile(
    r"""\s*(?:(?P<text>"[^"]*")|(?P<arrow><-[^<>"]+?-(?=\s|$)|<-[^<>"]+?->|-[^<>"]+?->"""
    r"""|<?-[^<>"[]+\[(?:[^]"]|"[^"]*")*\]->?(?=\s|$))|(?P<sign>!=|<=|>=|=|<|>)|(?P<mark>[()|])"""
    r"""|(?P<word>[^\s"()|<>=!]+))"""
)
_LONGEST = 4_000  # characters
_LONGEST_SHOWN = 300  # characters of a reading that a refusal repeats
_MOST_NESTED = 50  # brackets and denials, which may stand within one another


class Token(NamedTuple):
    """A token: its kind is `text` (in quotation marks), `arrow`, `sign`, `mark`, `word`, or `end`."""

    kind: str
    text: str


class Tokens:
    """The tokens of one line, and the place up to which they were taken."""

    def __init__(self, line: str) -> None:
        """Split a line. Raises `BadOption` where it is too long or too deep, or something in it is no token."""
        if len(line) > _LONGEST:
            raise BadOption(f"a reading of {len(line)} characters is too long: {_LONGEST:,} are allowed")
        self._line = line
        self._tokens = list(_split(line))
        nested = sum(token.text.casefold() in ("(", "not") for token in self._tokens)
        if nested > _MOST_NESTED:
            raise BadOption(f"a reading with {nested:,} brackets and denials is too deep: {_MOST_NESTED} are allowed")
        self.place = 0

    def peek(self, ahead: int = 0) -> Token:
        """Return a token without taking it."""
        at = self.place + ahead
        return self._tokens[at] if at < len(self._tokens) else Token("end", "")

    def take(self) -> Token:
        """Take a token."""
        token = self.peek()
        self.place += 1
        return token

    def takes(self, *words: str) -> bool:
        """Take these words if they stand here."""
        if [self.peek(ahead).text.casefold() for ahead in range(len(words))] != list(words):
            return False
        self.place += len(words)
        return True

    def is_before_arrow(self, word: str) -> bool:
        """Return whether such a word stands before an arrow from here on."""
        pairs = pairwise(self._tokens[self.place :])
        return any(one.text.casefold() == word and other.kind == "arrow" for one, other in pairs)

    def has(self, word: str) -> bool:
        """Return whether a word stands anywhere in the line, outside quotation marks."""
        return any(token.kind == "word" and token.text.casefold() == word for token in self._tokens)

    def takes_longest(self, names: Iterable[str]) -> str | None:
        """Take the longest of some names that stands here, and return it; None where none does."""
        longest, length = None, 0
        for name in names:
            words = name.casefold().split()
            if len(words) > length and [self.peek(at).text.casefold() for at in range(len(words))] == words:
                longest, length = name, len(words)
        self.place += length
        return longest

    def fail(self, wanted: str) -> NoReturn:
        """Raise `BadOption` naming the token that stands here, and what may."""
        here = one_line(self.peek().text, _LONGEST_SHOWN) or "its end"
        raise BadOption(f"the reading {one_line(self._line, _LONGEST_SHOWN)!r} cannot be read at {here!r}: {wanted}")


def _split(line: str) -> Iterator[Token]:
    place = 0
    while place < len(line.rstrip()):
        match = _TOKEN.match(line, place)
        if match is None or match.end() == place:
            raise BadOption(f"the reading cannot be read at {line[place : place + 30]!r}")
        assert match.lastgroup is not None
        yield Token(match.lastgroup, match[match.lastgroup])
        place = match.end()
