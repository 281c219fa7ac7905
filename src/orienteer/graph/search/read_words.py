"""The words of a few nodes as they stand in their names, aliases and texts: what an index of terms cannot tell.

A mark between digits joins them to one word: neither 8 nor 12 stands in `8,12-dienoic`, nor 5 in `3.5`.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from orienteer.graph.arrays import GraphArrays
from orienteer.index import words
from orienteer.index.arrays import Rows
from orienteer.index.bm25 import Mask

_MARK = re.compile(r"(?<=\d)[.,](?=\d)")
MARKS = {".": "point", ",": "comma"}
"""What stands in a joined number for its mark: `3.5` is read as the word `3point5`."""


class ReadWords:
    """Some nodes, read: which words stand in them side by side."""

    def __init__(self, arrays: GraphArrays, rows: Rows) -> None:
        """`rows` is (n,), in any order; what is told of them is in this order."""
        parts = [
            (place, text)
            for place, row in enumerate(rows.tolist())
            for text in (arrays.names[row], *arrays.aliases_at(row), arrays.texts[row])
        ]
        joined = [_MARK.sub(lambda mark: MARKS[mark[0]], text) for _, text in parts]
        split = words.split(joined, arrays.tokenizer)
        begins = split.firsts[:-1]
        self._count, self._hashes = len(rows), split.hashes
        self._begins = begins[begins < len(split.hashes)]  # (parts,): where a text's first word stands
        self._nodes = np.array([place for place, _ in parts], np.int64)[split.texts]  # (words,)

    def heaviest_runs(self, phrase: Sequence[str], weights: Sequence[float], *, least: int = 1) -> NDArray[np.float64]:
        """Return for each node the most that words of a phrase weigh which stand in it as they do there: (n,).

        They stand in a row, in one text, in the phrase's order, and at least so many of them weigh something, else it
        is 0. `weights` are those of the phrase's words, none below 0.
        """
        heaviest = np.zeros(self._count)
        run = np.zeros(len(self._hashes))  # (words,): what the run that ends here weighs
        size = np.zeros(len(self._hashes), np.int64)  # (words,): how many words of it weigh something
        for word, weight in zip(phrase, weights, strict=True):
            before, fewer = np.roll(run, 1), np.roll(size, 1)
            before[self._begins] = fewer[self._begins] = 0  # a run does not go on from one text to the next
            is_here = self._hashes == np.uint64(words.word_hash(word.encode()))
            run, size = np.where(is_here, before + weight, 0), np.where(is_here, fewer + (weight > 0), 0)
            ends = size >= least
            np.maximum.at(heaviest, self._nodes[ends], run[ends])
        return heaviest

    def having(self, phrase: Sequence[str]) -> Mask:
        """Mark the nodes in which a phrase stands, word by word: (n,)."""
        return np.asarray(self.heaviest_runs(phrase, [1] * len(phrase)) == len(phrase))
