"""Where known names stand in the sentences of a chunk."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from typing import NamedTuple

from orienteer.graph.reserved import TABLE
from orienteer.records import Node
from orienteer.text.sentences import split

_WORD = re.compile(r"\w+")


class Spot(NamedTuple):
    """A name in a sentence."""

    number: int
    begin: int
    end: int
    """Its characters, up to but not with this one."""


class Sentence(NamedTuple):
    """A sentence, or a row of a table, and the names in it in their order, no word part of two."""

    text: str
    spots: tuple[Spot, ...]


def sentences_of(node: Node) -> Iterator[str]:
    """Return the sentences of a chunk, the lines of a table."""
    if node.type == TABLE:
        yield from filter(None, node.text.split("\n"))
        return
    for line in node.text.split("\n"):
        yield from split(line)


class Places:
    """Finds names, given as folded words, in sentences: the longest first."""

    def __init__(self, keys: Mapping[str, int], *, lower: frozenset[int] = frozenset()) -> None:
        """Take names by number. Those in `lower` are found wherever they stand, others begin with no small letter."""
        self._keys, self._lower = keys, lower
        lengths: dict[str, set[int]] = {}
        for key in keys:
            lengths.setdefault(key.partition(" ")[0], set()).add(key.count(" ") + 1)
        self._lengths = {first: sorted(several, reverse=True) for first, several in lengths.items()}

    def within(self, sentence: str, among: frozenset[int]) -> Sentence:
        """Return the sentence with the names of this set, and those in lower case, that stand in it."""
        words = list(_WORD.finditer(sentence))
        folded = [word[0].casefold() for word in words]
        spots: list[Spot] = []
        at = 0
        while at < len(words):
            spot = self._spot(words, folded, at, among)
            if spot is not None:
                spots.append(spot[0])
            at += 1 if spot is None else spot[1]
        return Sentence(sentence, tuple(spots))

    def _spot(
        self, words: list[re.Match[str]], folded: list[str], at: int, among: frozenset[int]
    ) -> tuple[Spot, int] | None:
        """Return the longest name that begins at a word, and how many words it has."""
        for length in self._lengths.get(folded[at], ()):
            number = self._keys.get(" ".join(folded[at : at + length])) if at + length <= len(folded) else None
            if number is None or number not in among and number not in self._lower:
                continue
            if words[at][0][0].islower() and number not in self._lower:
                continue
            return Spot(number, words[at].start(), words[at + length - 1].end()), length
        return None


def distinct(spots: Iterable[Spot]) -> list[int]:
    """Return the names of spots, each once, in their order."""
    return list(dict.fromkeys(spot.number for spot in spots))
