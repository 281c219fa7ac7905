"""Which nodes a text names: titles that stand in it, as they are or without a trailing `(...)`."""

from __future__ import annotations

import re
from functools import cached_property

import numpy as np

from orienteer.graph.nodes import Nodes
from orienteer.index.arrays import Rows

LONGEST = 12
"""Words of a title that is looked for."""
_LEAST_COMMON, _COMMON = 20, 0.02  # nodes, and the share of them, that may have the one word of a title
_WORD = re.compile(r"\w+")
_BRACKETED = re.compile(r"\s*\([^()]*\)\s*$")


class TitlesIn:
    """Finds the nodes whose name, alias or identifier stands in a text. Safe to share among threads."""

    def __init__(self, graph: Nodes) -> None:
        self._graph = graph

    def __call__(self, text: str) -> Rows:
        """Return the rows, sorted: of the longest names first, no word being part of two.

        A name begins with a capital or a digit where it stands in the text, and one of a single word is in few nodes.
        """
        tokenizer = self._graph.tokenizer
        written = _WORD.findall(text)
        words = [tuple(tokenizer.words(word)) for word in written]
        rows: set[int] = set()
        end = 0
        for at, word in enumerate(written):
            if at < end or word[0].islower():
                continue
            for length in range(min(LONGEST, len(words) - at), 0, -1):
                phrase = tuple(part for one in words[at : at + length] for part in one)
                if found := self._named(phrase):
                    rows.update(found)
                    end = at + length
                    break
        return np.array(sorted(rows), np.int32)

    def _named(self, phrase: tuple[str, ...]) -> list[int]:
        """Return the rows of this name."""
        if not phrase or (len(phrase) == 1 and self._is_common(phrase[0])):
            return []
        exact = [link.row for link in self._graph.name_index.links(phrase) if link.is_exact]
        return [*exact, *self._shorter.get(phrase, ())]

    def _is_common(self, word: str) -> bool:
        most = max(_LEAST_COMMON, _COMMON * len(self._graph))
        found = [self._graph.text_index.posting(term) for term in self._graph.tokenizer.expand(word)]
        return any(posting is not None and posting.end - posting.begin > most for posting in found)

    @cached_property
    def _shorter(self) -> dict[tuple[str, ...], list[int]]:
        """Rows by their name without its bracket, of those that have one."""
        found: dict[tuple[str, ...], list[int]] = {}
        for row, name in enumerate(self._graph.names):
            if name.endswith(")") and (short := _BRACKETED.sub("", name)) != name:
                found.setdefault(tuple(self._graph.tokenizer.words(short)), []).append(row)
        return found
