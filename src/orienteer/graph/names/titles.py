"""Which nodes a text names: titles that stand in it, as they are or without a trailing `(...)`."""

from __future__ import annotations

import re
from typing import NamedTuple

import numpy as np

from orienteer.graph.nodes import Nodes
from orienteer.index.arrays import Rows

LONGEST = 12
"""Words of a title that is looked for."""
_LEAST_COMMON, _COMMON = 20, 0.02  # nodes, and the share of them, that may have the one word of a title
_WORD = re.compile(r"\w+")


class Named(NamedTuple):
    """A name that stands in a text."""

    begin: int
    end: int
    """Its characters, up to but not with this one."""
    rows: tuple[int, ...]


class TitlesIn:
    """Finds the nodes whose name, alias or identifier stands in a text. Safe to share among threads.

    A name begins with a capital or a digit where it stands in the text, unless `lower` lets it be, and one of a single
    word is in few nodes.
    """

    def __init__(self, graph: Nodes, *, lower: bool = False) -> None:
        self._graph, self._lower = graph, lower

    def __call__(self, text: str) -> Rows:
        """Return the rows, sorted: of the longest names first, no word being part of two."""
        return np.array(sorted({row for one in self.places(text) for row in one.rows}), np.int32)

    def places(self, text: str) -> list[Named]:
        """Return the names in their order: from each word on the longest, no word being part of two."""
        tokenizer = self._graph.tokenizer
        written = list(_WORD.finditer(text))
        words = [tuple(tokenizer.words(word[0])) for word in written]
        found: list[Named] = []
        end = 0
        for at, word in enumerate(written):
            if at < end or (word[0][0].islower() and not self._lower):
                continue
            for length in range(min(LONGEST, len(words) - at), 0, -1):
                phrase = tuple(part for one in words[at : at + length] for part in one)
                if rows := self._named(phrase):
                    end = at + length
                    found.append(Named(word.start(), written[end - 1].end(), tuple(dict.fromkeys(rows))))
                    break
        return found

    def _named(self, phrase: tuple[str, ...]) -> list[int]:
        """Return the rows of this name."""
        if not phrase or (len(phrase) == 1 and self._is_common(phrase[0])):
            return []
        exact = [link.row for link in self._graph.name_index.links(phrase) if link.is_exact]
        return [*exact, *self._graph.shorter_names.get(phrase, ())]

    def _is_common(self, word: str) -> bool:
        most = max(_LEAST_COMMON, _COMMON * len(self._graph))
        found = [self._graph.text_index.posting(term) for term in self._graph.tokenizer.expand(word)]
        return any(posting is not None and posting.end - posting.begin > most for posting in found)
