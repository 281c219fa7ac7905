"""Exact BM25 of the synthetic queries, from the tokens that were drawn: what every engine is held against."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from synthetic import VOCABULARY, Asked, Synthetic, name_words, neighbors

K1, B = 1.2, 0.75
K = 10
"""How many places of a ranking are looked at."""
_TIE = 1 - 1e-9  # scores this close are equal but for rounding: either order is right


class Best(NamedTuple):
    """What a right answer may hold: these rows, ties at the last place included, and this many of them."""

    rows: frozenset[int]
    places: int


class Postings:
    """The texts that hold each word of the queries, and how often; the whole index would be as large as the texts."""

    def __init__(self, graph: Synthetic) -> None:
        self.nodes = graph.size.nodes
        lengths = np.diff(graph.token_at) + 3  # a name adds three words
        self.weight = K1 * (1 - B + B * lengths / lengths.mean())
        asked = [one for name, queries in graph.queries.items() if name != "path" for one in queries]
        self._words = np.unique([word for one in asked for word in one.words])
        self._rows, self._counts = _collect(graph, self._words)

    def contribution(self, word: int) -> tuple[NDArray[np.int32], NDArray[np.float64]]:
        """Return the rows that have a word and what it adds to the score of each."""
        at = int(self._words.searchsorted(word))
        rows, counts = self._rows[at], self._counts[at]
        idf = np.log1p((self.nodes - len(rows) + 0.5) / (len(rows) + 0.5))
        return rows, idf * counts / (counts + self.weight[rows])

    def scores(self, words: Sequence[int]) -> NDArray[np.float64]:
        """Score every node: one scatter-add a word."""
        total = np.zeros(self.nodes)
        for word in words:
            rows, added = self.contribution(word)
            total[rows] += added
        return total


def _collect(graph: Synthetic, words: NDArray[np.int64]) -> tuple[list[NDArray[np.int32]], list[NDArray[np.uint16]]]:
    number = np.full(VOCABULARY, -1, np.int32)
    number[words] = np.arange(len(words))
    rows: list[list[NDArray[np.int32]]] = [[] for _ in words]
    counts: list[list[NDArray[np.uint16]]] = [[] for _ in words]
    for low, high in graph.batches():
        tokens = number[graph.tokens[graph.token_at[low] : graph.token_at[high]]]
        owners = np.repeat(np.arange(low, high), np.diff(graph.token_at[low : high + 1]))
        names = [number[one] for one in name_words(np.arange(low, high))]
        tokens, owners = np.concatenate([tokens, *names]), np.concatenate([owners, *[np.arange(low, high)] * 2])
        wanted = np.flatnonzero(tokens >= 0)
        keys, times = np.unique(tokens[wanted].astype(np.int64) << 32 | owners[wanted], return_counts=True)
        word = keys >> 32
        bounds = np.searchsorted(word, np.arange(len(words) + 1))
        found, times = (keys & 0xFFFFFFFF).astype(np.int32), times.astype(np.uint16)
        for at in np.flatnonzero(np.diff(bounds)).tolist():
            rows[at].append(found[bounds[at] : bounds[at + 1]])
            counts[at].append(times[bounds[at] : bounds[at + 1]])
    return [np.concatenate(one) for one in rows], [np.concatenate(one) for one in counts]


def best(graph: Synthetic, postings: Postings) -> dict[str, list[Best]]:
    """Return the right answers to all query sets; worked out once, then kept beside the graph."""
    file = graph.folder / "best.json"
    if not file.exists():
        _write(file, graph, postings)
    content = json.loads(file.read_text())
    return {name: [Best(frozenset(one["rows"]), one["places"]) for one in found] for name, found in content.items()}


def _write(file: Path, graph: Synthetic, postings: Postings) -> None:
    sets = {name: asked for name, asked in graph.queries.items() if name != "path"}
    centers = np.array([one.node for asked in sets.values() for one in asked if one.node is not None])
    around = neighbors(graph, centers)
    found = {
        name: [_best(postings, one, None if one.node is None else around[one.node]) for one in asked]
        for name, asked in sets.items()
    }
    content = {
        name: [{"rows": sorted(one.rows), "places": one.places} for one in answers] for name, answers in found.items()
    }
    file.write_text(json.dumps(content))


def _best(postings: Postings, asked: Asked, among: NDArray[np.int32] | None) -> Best:
    scores = postings.scores(asked.words)
    rows = np.flatnonzero(scores) if among is None else among[scores[among] > 0]
    places = min(K, len(rows))
    if not places:
        return Best(frozenset(), 0)
    least = np.sort(scores[rows])[-places]
    return Best(frozenset(rows[scores[rows] >= least * _TIE].tolist()), places)


def agreement(answers: Sequence[Sequence[int]], right: Sequence[Best]) -> float:
    """Return the mean share of right places among the first `K`."""
    shares = [
        len(one.rows.intersection(given[:K])) / one.places if one.places else float(not len(given))
        for given, one in zip(answers, right, strict=True)
    ]
    return float(np.mean(shares))
