"""Noun phrases by the statistics of a corpus: words in lower case that stand together far more often than by chance.

Pairs of such words, then pairs of pairs that overlap, so that `heart valve replacement` is one phrase. Measured by
normalised pointwise mutual information (Bouma 2009).
"""

from __future__ import annotations

import re
from array import array
from collections import Counter
from collections.abc import Iterable

import numpy as np
from numpy.typing import NDArray

from orienteer.text.proper_names import most_chunks

LEAST_CHUNKS = 3
"""Chunks that a phrase stands in."""
COMMON = 0.1
"""A word in more than this share of the texts is no part of a phrase, as in `text.phrases`."""
LEAST_COMMON = 5  # texts in which a word may stand however few there are
LEAST_LETTERS = 3
TOGETHER = 0.5
"""Normalised pointwise mutual information of two words from which on they are a phrase; 1 where neither goes alone."""
_TOKEN = re.compile(r"\w+|[^\w\s]")
_GAP = -1


def collocations(texts: Iterable[str], *, share: float) -> frozenset[str]:
    """Return the phrases of a corpus: two words or three, folded. None stands in more than this share of the texts."""
    words, begins, count = _numbered(texts)
    if not words.written:
        return frozenset()
    numbers = np.array(words.codes, np.int64)
    owner = np.repeat(np.arange(count), np.diff(begins))
    apart = 1 + len(words.written)
    spread = np.bincount(np.unique(owner * apart + numbers + 1) % apart, minlength=apart)[1:]  # texts of each word
    is_word = np.array([len(word) >= LEAST_LETTERS and word.isalpha() for word in words.written], np.bool_)
    is_part = (spread <= max(LEAST_COMMON, COMMON * count)) & is_word
    numbers = np.where((numbers >= 0) & is_part[numbers], numbers, _GAP)
    first, second = numbers[:-1], numbers[1:]
    at = np.flatnonzero((first >= 0) & (second >= 0) & (owner[:-1] == owner[1:]))
    codes = first[at] * len(spread) + second[at]
    unique, inverse = np.unique(codes, return_inverse=True)
    together = np.bincount(np.unique(inverse * count + owner[at]) // count, minlength=len(unique))
    chance = spread[unique // len(spread)] * spread[unique % len(spread)] / count**2
    rate = together / count
    mutual = np.log(rate / chance) / -np.log(np.minimum(rate, 1 - 1e-9))
    is_phrase = (together >= LEAST_CHUNKS) & (together <= most_chunks(count, share)) & (mutual >= TOGETHER)
    pairs = {
        (words.written[int(code) // len(spread)], words.written[int(code) % len(spread)]) for code in unique[is_phrase]
    }
    marked = at[is_phrase[inverse]]  # where a phrase of two begins
    threes = _threes(numbers, marked, words.written)
    return frozenset([" ".join(pair) for pair in pairs] + threes)


def _threes(numbers: NDArray[np.int64], marked: NDArray[np.int64], written: list[str]) -> list[str]:
    """Return the phrases of three words: two phrases that share their middle, often enough."""
    both = marked[np.isin(marked + 1, marked)]
    counts = Counter(zip(*(numbers[both + place].tolist() for place in range(3)), strict=True))
    return [" ".join(written[word] for word in three) for three, count in counts.items() if count >= LEAST_CHUNKS]


class _Numbers:
    """Words by number, as they come."""

    def __init__(self) -> None:
        self.written: list[str] = []
        self.codes = array("q")
        self._numbers: dict[str, int] = {}

    def add(self, word: str) -> None:
        if not word[0].islower():
            self.codes.append(_GAP)
            return
        number = self._numbers.setdefault(word, len(self._numbers))
        if number == len(self.written):
            self.written.append(word)
        self.codes.append(number)


def _numbered(texts: Iterable[str]) -> tuple[_Numbers, NDArray[np.int64], int]:
    words, begins = _Numbers(), array("q", [0])
    for text in texts:
        for word in _TOKEN.findall(text):
            words.add(word)
        begins.append(len(words.codes))
    return words, np.array(begins, np.int64), len(begins) - 1
