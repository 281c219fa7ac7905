"""ROUGE over words: runs of n in common, and the longest common subsequence, each as F1. Lin 2004.

Graph-CoT's evaluation of GRBench (its eval.py) prints Rouge-1, Rouge-2 and Rouge-L of the `rouge` metric that Hugging
Face's `evaluate` loads. That is Google's rouge-score without stemming: texts in lower case, words of the letters a to z
and of digits, everything else a gap. Words of other scripts are none there; the lenient measures of `answers` know
them.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence

_WORD = re.compile("[a-z0-9]+")


def rouge_words(text: str) -> list[str]:
    """Return the words of a text as rouge-score cuts it."""
    return _WORD.findall(text.lower())


def rouge_n(words: Sequence[str], gold: Sequence[str], n: int) -> float:
    """Return F1 over the runs of n words; 0 where either text is shorter than that."""
    ours, theirs = _runs(words, n), _runs(gold, n)
    return _f1((ours & theirs).total(), ours.total(), theirs.total())


def rouge_l(words: Sequence[str], gold: Sequence[str]) -> float:
    """Return F1 by the longest common subsequence of words."""
    return _f1(common_subsequence(words, gold), len(words), len(gold))


def common_subsequence(words: Sequence[str], other: Sequence[str]) -> int:
    """Return how long the longest sequence is that stands in both, in order but not necessarily together."""
    longest = [0] * (len(other) + 1)
    for word in words:
        before = 0  # of the words so far, and of the other's up to the one before
        for place, theirs in enumerate(other, 1):
            above = longest[place]
            longest[place] = before + 1 if word == theirs else max(above, longest[place - 1])
            before = above
    return longest[-1]


def _runs(words: Sequence[str], n: int) -> Counter[tuple[str, ...]]:
    return Counter(tuple(words[start : start + n]) for start in range(len(words) - n + 1))


def _f1(common: int, ours: int, theirs: int) -> float:
    return 2 * common / (ours + theirs) if common else 0.0
