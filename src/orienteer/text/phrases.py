"""Key phrases of a text by the statistics of its corpus: runs of words that are rarer elsewhere than here."""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Iterable

_WORD = re.compile(r"\w+|[^\w\s]")
_COMMON = 0.1
"""A word in a larger share of the texts is no part of a phrase."""
_LONGEST = 3  # words of a phrase
_LEAST_LETTERS = 3  # of a word: shorter ones say little by themselves


class Phrases:
    """Ranks the phrases of texts, once all texts of a corpus are counted."""

    def __init__(self, texts: Iterable[str]) -> None:
        self._counts: Counter[str] = Counter()
        self._texts = 0
        for text in texts:
            self._texts += 1
            self._counts.update({word for word in _words(text) if word.isalpha()})

    def of(self, text: str, most: int = 5) -> list[str]:
        """Return at most `most` key phrases of a text, by the sum of tf · idf of their words, the best first.

        No two phrases share a word.
        """
        words = _words(text)
        weight = {
            word: count * math.log(1 + self._texts / max(1, self._counts[word]))
            for word, count in Counter(words).items()
        }
        ranked: dict[str, float] = {}
        for run in self._runs(words):
            for part in (run[at : at + _LONGEST] for at in range(0, len(run), _LONGEST)):
                ranked.setdefault(" ".join(part), sum(weight[word] for word in part))
        chosen: list[str] = []
        seen: set[str] = set()
        for phrase in sorted(ranked, key=lambda phrase: (-ranked[phrase], phrase)):
            parts = set(phrase.split(" "))
            if not parts & seen:
                chosen.append(phrase)
                seen |= parts
            if len(chosen) == most:
                break
        return chosen

    def _is_telling(self, word: str) -> bool:
        """Tell whether a word may be part of a phrase: letters only, not too short, and not too common."""
        return len(word) >= _LEAST_LETTERS and word.isalpha() and self._counts[word] <= max(2, _COMMON * self._texts)

    def _runs(self, words: Iterable[str]) -> Iterable[list[str]]:
        run: list[str] = []
        for word in words:
            if self._is_telling(word):
                run.append(word)
            elif run:
                yield run
                run = []
        if run:
            yield run


def _words(text: str) -> list[str]:
    return [word.casefold() for word in _WORD.findall(text)]
