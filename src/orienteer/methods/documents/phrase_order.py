"""Puts passages in order by how they say the question: words side by side as it has them, and in their titles."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np

from orienteer.graph.store import Graph
from orienteer.index.arrays import Rows
from orienteer.retrieval.excerpt import Shown
from orienteer.retrieval.graph_text import shown_of
from orienteer.text.function_words import telling_words
from orienteer.text.tokenizer import Tokenizer

_BESIDE = 1.0
"""What having all neighbours among the question's words side by side counts beside the logarithm of a score: 1 to 4 are
level on the open half of the questions of `benchmarks/folders.py`."""
_TITLED = 1.0
"""The same of having all its telling words in the title."""
Pairs = frozenset[tuple[str, str]]


class PhraseOrder:
    """The words of a question as it says them."""

    def __init__(self, graph: Graph, question: str, words_of: Callable[[int], Sequence[str]]) -> None:
        """`words_of` returns the words of a row's text."""
        self._graph, self._shown, self.pairs = graph, shown_of(graph, question), pairs_of(question)
        self._words_of = words_of

    def order(self, rows: Rows, scores: np.ndarray[tuple[int], np.dtype[np.float64]]) -> list[int]:
        """Return the places of some rows, best first; `rows` and `scores`, above 0, are (n,). Ties keep their order."""
        if not len(rows):
            return []
        bonus = np.array([self._bonus(int(row)) for row in rows])
        values = np.log(scores.clip(min=np.finfo(np.float64).tiny)) + bonus
        return [int(place) for place in np.argsort(-values, kind="stable")]

    def _bonus(self, row: int) -> float:
        title = self._graph.arrays.names[row]
        titled = share_of(self._shown, title)
        return _TITLED * titled + _BESIDE * beside([*Tokenizer.words(title), *self._words_of(row)], self.pairs)


def pairs_of(question: str) -> Pairs:
    """Return the neighbours among a question's telling words, two by two; those that carry it part none."""
    words = telling_words(question)
    return frozenset(zip(words, words[1:], strict=False))


def beside(words: Sequence[str], pairs: Pairs) -> float:
    """Return the share of such pairs that stand side by side among the words of a text, in that order."""
    return len(pairs.intersection(zip(words, words[1:], strict=False))) / len(pairs) if pairs else 0.0


def share_of(shown: Shown, text: str) -> float:
    """Return the share of a question's telling words, by their idf, that a text has."""
    total = shown.weight(shown.weights.keys())
    return shown.weight(shown.terms_in(text)) / total if total else 0.0
