"""What a word that no node has may have been meant for."""

from __future__ import annotations

from collections.abc import Iterator
from difflib import SequenceMatcher
from functools import lru_cache
from typing import NamedTuple

from orienteer.graph.store import Graph
from orienteer.index.names import SHORTEST_SPELLED
from orienteer.methods.anchor.vocabulary import Vocabulary, best_alike

_RARE = 2  # nodes; a word that only so few have may itself be a typing error
_SHORTEST = 3  # letters
_LONGEST = 9  # letters of a symbol; longer ones are spelled as words are, or not at all
_MOST = 6  # corrections of a short word or a symbol; with more, nobody can tell
_LETTERS = "abcdefghijklmnopqrstuvwxyz"
_DIGITS = "0123456789"
_ONE_EDIT = 0.75  # how likely a short word is one of those a single letter away
_LIKELY = 0.9


class Corrections(NamedTuple):
    """The words that a mistyped one may stand for, with how likely each is."""

    words: tuple[tuple[str, float], ...] = ()
    alone: bool = True
    """Each may be a name by itself; else only a name of several words bears it out."""


class Speller:
    """Corrects words against the names of one graph."""

    def __init__(self, graph: Graph, vocabulary: Vocabulary) -> None:
        self._graph, self._vocabulary = graph, vocabulary
        self._remembered = lru_cache(maxsize=4096)(self._correct)

    def corrections(self, word: str, *, is_name: bool) -> Corrections:
        """Return what a word may stand for that no node has, or, written as a name (`is_name`), that no name has."""
        return self._remembered(word, is_name)

    def _correct(self, word: str, is_name: bool) -> Corrections:
        if len(word) < _SHORTEST or word.isdigit() or not word.isascii():
            return Corrections()
        posting = self._vocabulary.posting(word)
        is_used = posting is not None and posting.nodes > _RARE
        if (is_used and not is_name) or best_alike(self._vocabulary.stem(word), self._vocabulary.edge_words):
            return Corrections()
        if word.isalpha() and len(word) >= SHORTEST_SPELLED:
            return self._spelled(word)
        return Corrections() if posting is not None or len(word) > _LONGEST else self._one_edit_away(word)

    def _spelled(self, word: str) -> Corrections:
        others = self._graph.name_index.spellings(word)
        if not others or word in others:
            return Corrections()
        alike = [SequenceMatcher(None, word, other, autojunk=False).ratio() for other in others]
        return Corrections(tuple((other, _LIKELY * one / alike[0]) for other, one in zip(others, alike, strict=True)))

    def _one_edit_away(self, word: str) -> Corrections:
        near = [other for other in dict.fromkeys(_edits(word)) if self._vocabulary.posting(other) is not None]
        if len(near) > _MOST:
            named = [other for other in near if self._graph.name_index.stem_links([other])]
            near, alone = (named, True) if 0 < len(named) <= _MOST else (near, False)
            return Corrections(tuple((other, _ONE_EDIT) for other in near), alone)
        return Corrections(tuple((other, _ONE_EDIT) for other in near))


def _edits(word: str) -> Iterator[str]:
    """Return the words that one dropped, doubled, swapped or wrong letter turns into this one."""
    letters = _LETTERS if word.isalpha() else _LETTERS + _DIGITS
    for place in range(len(word) + 1):
        for letter in letters:
            yield word[:place] + letter + word[place:]
    for place in range(len(word)):
        yield word[:place] + word[place + 1 :]
        yield word[:place] + word[place + 1 : place + 2] + word[place] + word[place + 2 :]
        for letter in letters:
            yield word[:place] + letter + word[place + 1 :]
