"""Finds the nodes that a text names: their titles occur in it, whole or without a trailing `(...)`."""

from __future__ import annotations

import re
from functools import cache
from itertools import chain
from typing import NamedTuple

import numpy as np

from orienteer.graph.arrays import GraphArrays
from orienteer.index.arrays import Rows

LONGEST = 12  # words of the longest title that is looked up: bounds the time
_LEAST_COMMON, _COMMON = 20, 0.02  # a title of one word: nodes, or the share of all, that may have the word
_WORD = re.compile(r"\w+")


class TitlePlace(NamedTuple):
    """A name in a text, with the nodes that it names."""

    begin: int
    """Its first character."""
    end: int
    """The character after its last."""
    rows: tuple[int, ...]


class TitleFinder:
    """Finds the nodes whose name, alias or identifier occurs in a text. Safe to share among threads.

    A name must begin with a capital or a digit in the text, unless `lower` is true. A one-word name must be rare.
    """

    def __init__(self, graph: GraphArrays, *, lower: bool = False) -> None:
        self._graph, self._lower = graph, lower

    def __call__(self, text: str) -> Rows:
        """Return the rows of all names in a text: (n,) int32, ascending. Longer names win; no word counts twice."""
        return np.array(sorted({row for place in self.places(text) for row in place.rows}), np.int32)

    def places(self, text: str) -> list[TitlePlace]:
        """Return the names in the order of the text: at each word the longest name; no word is part of two."""
        tokenizer = self._graph.tokenizer
        written = list(_WORD.finditer(text))
        words = [tokenizer.words(word[0]) for word in written]
        firsts = [at for at, word in enumerate(written) if self._lower or not word[0][0].islower()]
        runs, shorter = self._graph.name_index.runs(words, firsts, LONGEST), self._graph.shorter_names
        places: list[TitlePlace] = []
        if not runs and not shorter:
            return places
        named = cache(self._named)  # texts repeat words
        end = 0
        for at in firsts:
            for last in range(min(len(words), at + LONGEST), at, -1) if at >= end else ():
                phrase = tuple(chain(*words[at:last])) if shorter or (at, last) in runs else ()
                if ((at, last) in runs or phrase in shorter) and (rows := named(phrase)):
                    end = last
                    places.append(TitlePlace(written[at].start(), written[end - 1].end(), tuple(dict.fromkeys(rows))))
                    break
        return places

    def _named(self, phrase: tuple[str, ...]) -> list[int]:
        """Return the rows of a name; none for a word that too many nodes have."""
        if not phrase:
            return []
        index = self._graph.text_index
        if len(phrase) == 1:
            most = max(_LEAST_COMMON, _COMMON * index.count)
            postings = map(index.posting, self._graph.tokenizer.expand(phrase[0]))
            if any(posting is not None and posting.nodes > most for posting in postings):
                return []
        exact = [link.row for link in self._graph.name_index.exact_links(phrase)]
        return [*exact, *self._graph.shorter_names.get(phrase, ())]
