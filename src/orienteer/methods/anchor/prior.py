"""What speaks for a node where texts cannot tell: how many edges touch it."""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from orienteer.errors import BadOption, BudgetExhausted, MissingExtra
from orienteer.graph.store import Graph
from orienteer.index.arrays import Rows
from orienteer.index.bm25 import Mask, Posting
from orienteer.index.searchers import HybridSearcher
from orienteer.protocols import Run
from orienteer.reading.answer_type import Understanding
from orienteer.reading.linker import AnchorConfig
from orienteer.reading.words import SchemaWords
from orienteer.records import Usage
from orienteer.remembered import cached_method
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

    @cached_method(_MOST_TYPES)
    def _in_order(self, number: int) -> Rows:
        """Return the best connected nodes of a type, the most edges first, ties by id."""
        return self._marked(number, np.ones(len(self._graph), np.bool_))

    def _marked(self, number: int, mask: Mask) -> Rows:
        """Return the same of the marked nodes."""
        rows = np.flatnonzero((self._graph.arrays.node_types == number) & mask).astype(np.int32)
        degree = self._graph.arrays.adjacency.degree(rows)
        return rows[np.lexsort((rows, -degree))[:_MOST_CONNECTED]]


# How near nodes are to a question in meaning, where the graph has been embedded.


_BY_MEANING = 100  # nodes that nearness alone brings in; the prototype's, not varied


class Nearness:
    """The nearness of a graph's nodes to one question."""

    def __init__(self, searcher: HybridSearcher, text: str) -> None:
        self._searcher, self._text = searcher, text

    def nearest(self, mask: Mask | None) -> Rows:
        """Return the 100 nearest nodes that the mask allows, (n,), nearest first."""
        return self._searcher.dense.search(self._text, _BY_MEANING, mask=mask).rows

    def shares(self, rows: Rows) -> NDArray[np.float64]:
        """Return the nearness of each of these ascending rows: (rows,), from 0 to 1 over the whole graph."""
        return self._searcher.shares(self._text, rows)[1]

    def cosines(self, rows: Rows) -> NDArray[np.float64]:
        """Return the cosine of each row: (rows,), -1 for a node without a vector."""
        return self._searcher.dense.scores(self._text, rows)


class EmbeddingPayment(NamedTuple):
    """What embedding a question has cost."""

    usage: Usage = Usage()
    lack: str | None = None
    """Why the question is not ranked by meaning though the graph has vectors; None where it is, or has none."""


class Meaning:
    """Nearness over one graph; where it has no vectors, or their embedder cannot be had, there is none."""

    def __init__(self, graph: Graph, config: AnchorConfig) -> None:
        self._graph = graph
        self._searcher: HybridSearcher | None = None
        self._lack: str | None = None
        if config.meaning_weight and graph.arrays.searcher.has_vectors:
            try:
                searcher = graph.arrays.searcher("hybrid")
            except (BadOption, MissingExtra) as error:  # names and edges are still worth an answer
                self._lack = f"not ranked by meaning: {error}"
            else:
                assert isinstance(searcher, HybridSearcher)  # that is what this mode gives
                self._searcher = searcher

    def pay(self, text: str, run: Run) -> EmbeddingPayment:
        """Have a question embedded before it is ranked; a server's work is charged to the run. Raises `ModelError`."""
        if self._searcher is None or not text.strip():
            return EmbeddingPayment(lack=self._lack)
        try:
            return EmbeddingPayment(self._graph.arrays.searcher.vectors.pay(run, text))
        except BudgetExhausted as error:
            return EmbeddingPayment(lack=f"not ranked by meaning, the question could not be embedded: {error}")

    def of(self, text: str) -> Nearness | None:
        """Return the nearness to a question; None where there is none."""
        return None if self._searcher is None or not text.strip() else Nearness(self._searcher, text)
