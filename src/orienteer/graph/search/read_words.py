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

    def longest_runs(self, phrase: Sequence[str], weights: Sequence[int]) -> NDArray[np.int64]:
        """Return for each node the most that words of a phrase weigh which stand in it as they do there: (n,).

        They stand in a row, in one text, in the phrase's order. `weights` are those of its words.
        """
        heaviest = np.zeros(self._count, np.int64)
        run = np.zeros(len(self._hashes), np.int64)  # (words,): what the run that ends here weighs
        for word, weight in zip(phrase, weights, strict=True):
            before = np.roll(run, 1)
            before[self._begins] = 0  # a run does not go on from one text to the next
            is_here = self._hashes == np.uint64(words.word_hash(word.encode()))
            run = np.where(is_here, before + weight, 0)
            np.maximum.at(heaviest, self._nodes[is_here], run[is_here])
        return heaviest

    def having(self, phrase: Sequence[str]) -> Mask:
        """Mark the nodes in which a phrase stands, word by word: (n,)."""
        return np.asarray(self.longest_runs(phrase, [1] * len(phrase)) == len(phrase))
