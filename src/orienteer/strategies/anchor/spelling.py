"""What a word that no node has may have been meant for."""

from __future__ import annotations

from collections.abc import Iterator
from difflib import SequenceMatcher
from functools import lru_cache

from orienteer.graph.store import Graph
from orienteer.index.names import SHORTEST_SPELLED
from orienteer.strategies.anchor.vocabulary import Vocabulary, best_alike

_RARE = 2  # nodes; a word that only so few have may itself be a typing error
_SHORTEST = 3  # letters
_LONGEST = 9  # letters of a symbol; longer ones are spelled as words are, or not at all
_MOST = 6  # corrections of a short word or a symbol; with more, nobody can tell
_LETTERS = "abcdefghijklmnopqrstuvwxyz"
_DIGITS = "0123456789"
_ONE_EDIT = 0.75  # how likely a short word is one of those a single letter away
_LIKELY = 0.9


class Speller:
    """Corrects words against the names of one graph."""

    def __init__(self, graph: Graph, vocabulary: Vocabulary) -> None:
        self._graph, self._vocabulary = graph, vocabulary
        self._known = lru_cache(maxsize=4096)(self._correct)

    def corrections(self, word: str) -> tuple[tuple[str, float], ...]:
        """Return the words that a mistyped one may stand for, with how likely each is; none for a known word."""
        return self._known(word)

    def _correct(self, word: str) -> tuple[tuple[str, float], ...]:
        if len(word) < _SHORTEST or word.isdigit() or not word.isascii():
            return ()
        posting = self._vocabulary.posting(word)
        if posting is not None and posting.nodes > _RARE:
            return ()
        if best_alike(self._vocabulary.stem(word), self._vocabulary.edge_words):
            return ()
        if word.isalpha() and len(word) >= SHORTEST_SPELLED:
            others = self._graph.name_index.spellings(word)
            if word in others:
                return ()
            if others:
                best = SequenceMatcher(None, word, others[0], autojunk=False).ratio()
                return tuple(
                    (other, _LIKELY * SequenceMatcher(None, word, other, autojunk=False).ratio() / best)
                    for other in others
                )
        if posting is not None or (word.isalpha() and len(word) >= SHORTEST_SPELLED) or len(word) > _LONGEST:
            return ()
        near = list(dict.fromkeys(other for other in _one_edit_away(word) if self._is_known(other)))
        return tuple((other, _ONE_EDIT) for other in near) if len(near) <= _MOST else ()

    def _is_known(self, word: str) -> bool:
        return self._graph.text_index.posting(self._graph.tokenizer.expand(word)[0]) is not None


def _one_edit_away(word: str) -> Iterator[str]:
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
