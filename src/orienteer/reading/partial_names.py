"""Names of which a question says a part: `Russian River` of "Russian River Brewing Company"."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import NamedTuple

from orienteer.graph.names import named_in_part
from orienteer.graph.store import Graph
from orienteer.reading.vocabulary import ENGLISH, WORDS
from orienteer.reading.words import QuestionWords

MOST_NAMESAKES = 8  # nodes; words in the names of more name none of them
_LONGEST = 5  # words of a part that is not written as a name
_MOST_SEARCHED = 2_000  # nodes that have all the words somewhere


_NO_NAMES = (
    WORDS["general"]
    | WORDS["no names"]
    | ENGLISH.adjectives.keys()
    | ENGLISH.superlatives.keys()
    | ENGLISH.comparatives.keys()
    | ENGLISH.most.keys()
)
"""Words of English that name nothing, though a name may have one of them: a "fair referee" is no Anna Fair."""


class PartialName(NamedTuple):
    """Words that are a part of the names of some nodes."""

    first: int
    last: int
    rows: tuple[int, ...]


class PartialNames:
    """Finds the nodes of one graph by parts of their names. Safe to share among threads."""

    def __init__(self, graph: Graph) -> None:
        self._arrays = graph.arrays

    def of(self, reading: QuestionWords, covered: set[int]) -> Iterator[PartialName]:
        """Yield the parts of names among words that are written as names, or that are not `covered` by anything."""
        place = 0
        while place < len(reading.words):
            last = place
            while last < len(reading.words) and self._may_be_part(reading, last, covered):
                last += 1
            names = [self._longest(reading, place, last), self._with_covered(reading, place, covered)]
            name = max((name for name in names if name is not None), key=lambda name: name.last, default=None)
            if name is not None:
                yield name
            place = name.last if name is not None else place + 1

    def _longest(self, reading: QuestionWords, first: int, last: int) -> PartialName | None:
        """Return the longest beginning of words that is a part of names; its last word may be their plural."""
        for end in range(last, first, -1):
            if all(word.is_stop for word in reading.words[first:end]):
                return None  # "and" alone is no part of "Knots and Prayers"
            words = reading.folded(first, end)
            rows = self.having(words) or (self.having([*words[:-1], words[-1][:-1]]) if words[-1].endswith("s") else ())
            if rows:
                return PartialName(first, end, rows)
        return None

    def _with_covered(self, reading: QuestionWords, first: int, covered: set[int]) -> PartialName | None:
        """Return the longest part of names that also has words which may be something else: `octave group`."""
        for end in range(min(len(reading.words), first + _LONGEST), first + 1, -1):
            places = range(first, end)
            is_new = any(place not in covered and not reading.words[place].is_stop for place in places)
            if is_new and not reading.words[first].is_stop and not reading.words[end - 1].is_stop:
                rows = self.having(reading.folded(first, end))
                if rows:
                    return PartialName(first, end, rows)
        return None

    def _may_be_part(self, reading: QuestionWords, place: int, covered: set[int]) -> bool:
        word = reading.words[place]
        if reading.is_written_as_name(place) or word.is_quoted:
            return True
        if place not in covered and not word.is_stop and word.text not in _NO_NAMES:
            # who writes "Marta Zielinska at the wheel" would write a name otherwise
            return not any(map(reading.is_written_as_name, range(1, len(reading.words))))
        # "of" in "Bank of England"
        is_inside = 0 < place < len(reading.words) - 1 and len(word.text) <= 3
        behind = range(place + 1, min(len(reading.words), place + 3))
        return is_inside and reading.is_written_as_name(place - 1) and any(map(reading.is_written_as_name, behind))

    def having(self, phrase: Sequence[str]) -> tuple[int, ...]:
        """Return the rows of nodes whose name holds these folded words in a row; none where too many do."""
        rows = named_in_part(self._arrays, phrase, _MOST_SEARCHED)
        return tuple(rows) if len(rows) <= MOST_NAMESAKES else ()
