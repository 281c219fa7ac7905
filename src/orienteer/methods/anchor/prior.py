"""What speaks for a node where texts cannot tell: how many edges touch it."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np

from orienteer.graph.store import Graph
from orienteer.index.arrays import Rows
from orienteer.index.bm25 import Mask, Posting
from orienteer.reading.answer_type import Understanding
from orienteer.reading.words import SchemaWords
from orienteer.remembered import remembered
from orienteer.text import english

# Tuned on PKG, where questions for a cellular component lie at 0 to .1 and all others at .2 to .6; chosen anew in five
# folds of it, the settings around give .626 Hit@5 against .637 (docs/anchor.md, "Constants").
_TELLING = 0.2  # share of the question's content that one node of the wanted type holds, where texts tell
_SAYING_NOTHING = english.NO_NAMES | english.ASKING | english.FILLING  # no content, whether a node has them or not
_MOST_CONNECTED = 1_000  # nodes of a type that are kept in order: more than are asked for
_MOST_TYPES = 256  # whose order is remembered


class DegreePrior:
    """Tells how little the texts of a graph have to say to a question. Made once a graph; safe to share."""

    def __init__(self, graph: Graph, vocabulary: SchemaWords) -> None:
        self._graph, self._vocabulary = graph, vocabulary

    def unknown(self, question: Understanding) -> bool:
        """Tell whether the question has a word, beyond the names in it and the schema's words, that no node has."""
        return any(posting is None for posting in self._content(question))

    def dullness(self, question: Understanding) -> float:
        """Return how little the texts of the wanted types say of the question: from 0, where they tell, to 1.

        What counts is the greatest share of the question's content, by idf, that one node of these types holds. Names
        that are linked are no part of that content, nor are the schema's words; a word that no node has counts as the
        rarest.
        """
        content = self._content(question)
        postings = sorted((posting for posting in content if posting is not None), key=lambda posting: -posting.idf)
        whole = sum(posting.idf for posting in postings)
        whole += (len(content) - len(postings)) * float(np.log1p(len(self._graph)))
        if not whole:
            return 0.0
        index = self._graph.arrays.text_index
        is_wanted = np.asarray(
            self._graph.arrays.mask([self._graph.arrays.types.nodes[number] for number in question.wanted.types])
        )
        shares = np.zeros(len(self._graph))
        for posting in postings:
            rows = index.rows_of(posting)
            rows = rows[is_wanted[rows]]
            shares[rows] += posting.idf
            if len(rows) and shares[rows].max() >= _TELLING * whole:
                return 0.0
        return 1.0 - float(shares.max(initial=0)) / (_TELLING * whole)

    def _content(self, question: Understanding) -> list[Posting | None]:
        named = {place for anchor in question.anchors for place in anchor.words}
        return [
            self._vocabulary.posting(word.text)
            for place, word in enumerate(question.reading.words)
            if not (place in named or word.text in _SAYING_NOTHING or word.stem in self._vocabulary.stems)
        ]

    def most_connected(self, types: Iterable[int], k: int, mask: Mask | None) -> Rows:
        """Return the `k` nodes of each of these types, at most 1,000, that the most edges touch, in no order."""
        lists = [self._in_order(number) if mask is None else self._marked(number, mask) for number in types]
        return np.concatenate([np.zeros(0, np.int32), *(rows[:k] for rows in lists)])

    @remembered(_MOST_TYPES)
    def _in_order(self, number: int) -> Rows:
        """Return the best connected nodes of a type, the most edges first, ties by id."""
        return self._marked(number, np.ones(len(self._graph), np.bool_))

    def _marked(self, number: int, mask: Mask) -> Rows:
        """Return the same of the marked nodes."""
        rows = np.flatnonzero((self._graph.arrays.node_types == number) & mask).astype(np.int32)
        degree = self._graph.arrays.adjacency.degree(rows)
        return rows[np.lexsort((rows, -degree))[:_MOST_CONNECTED]]
