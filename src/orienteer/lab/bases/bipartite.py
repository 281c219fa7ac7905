"""Facts and the entities that they tie together, in each form of graph: HyperGraphRAG expands over them.

    facts       `fact` nodes and their members, as an n-ary extraction stores them
    passages    without those, a passage is a fact that ties together what it names: its entities, or in a graph of
                passages alone names by statistics (`orienteer.retrieval.expansion.incidence`)
    nodes       in a graph that a person brings, a node is a fact of itself and its neighbours

Both ways each side shares out its score, so that a hub gives little to each and gets no more than its part.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray

from orienteer.graph.adjacency import KindMask
from orienteer.graph.store import Graph
from orienteer.graph.titles import TitleFinder
from orienteer.index.bm25 import Mask, ScoredRows
from orienteer.index.searchers import Mode, TitleBonus
from orienteer.lab.bases.flow import MOST_ENDS, affordable, ranges
from orienteer.retrieval.expansion.incidence import Incidence
from orienteer.retrieval.query import Spaces

TITLED = 0.7
"""Share of an entity that goes to the passages it titles, or to its own node; the rest goes to what else holds it."""

Floats = NDArray[np.float64]
Numbers = NDArray[np.int64]


class SparseScores(NamedTuple):
    """The shares of things, by ascending number or row; each more than 0."""

    items: Numbers
    values: Floats

    def first(self, k: int) -> Numbers:
        """Return the indexes of the `k` highest scores, best first; ties are broken by number."""
        return np.lexsort((self.items, -self.values))[:k]

    def most(self, k: int) -> SparseScores:
        """Return the `k` highest scores, by number or row."""
        places = np.sort(self.first(k))
        return SparseScores(self.items[places], self.values[places])


def added(parts: Sequence[SparseScores]) -> SparseScores:
    """Return the sums of scores."""
    items, place = np.unique(np.concatenate([part.items for part in parts]), return_inverse=True)
    values = np.bincount(place, np.concatenate([part.values for part in parts]), len(items)).astype(np.float64)
    return SparseScores(items[values > 0], values[values > 0])


class Bipartite(Protocol):
    """Hands shares from facts to entities and back."""

    def to_entities(self, facts: SparseScores) -> SparseScores:
        """Share out what each fact, by row, has among its entities."""

    def to_facts(self, entities: SparseScores) -> SparseScores:
        """Share out what each entity has among the facts about it, by row."""


class NamesInPassages:
    """Passages as facts: their entities by row, or names by number where these are no nodes."""

    def __init__(self, incidence: Incidence) -> None:
        self._incidence = incidence
        self._weights = incidence.weights().astype(np.float64)
        count = len(self._weights)
        self._names = np.arange(count) if incidence.rows is None else incidence.rows.astype(np.int64)

    def weights(self, names: Numbers) -> Floats:
        """Return the weights of some names: rare ones weigh more."""
        return self._weights[self._names.searchsorted(names)]

    def of(self, passage: int) -> Numbers:
        """Return the names that a passage, by row, holds."""
        return self._names[self._incidence.held.of(int(self._incidence.passages.searchsorted(passage)))]

    def to_entities(self, facts: SparseScores) -> SparseScores:
        """Share out what each passage has among its names, by how rare they are."""
        held = self._incidence.held
        which, at = ranges(held.begins, self._incidence.passages.searchsorted(facts.items))
        names = held.members[at].astype(np.int64)
        return _shared_out(facts.values, which, self._names[names], self._weights[names])

    def to_facts(self, entities: SparseScores) -> SparseScores:
        """Share out what each name has: most of it among what it titles, the rest among all that hold it."""
        holders, titled = self._incidence.holders, self._incidence.titled
        names = self._names.searchsorted(entities.items)
        to_titled = np.where(titled.counts()[names] > 0, TITLED, 0.0)
        parts = []
        for lists, share in ((holders, 1 - to_titled), (titled, to_titled)):
            which, at = ranges(lists.begins, names)
            rows = self._incidence.passages[lists.members[at]].astype(np.int64)
            parts.append(_shared_out(entities.values * share, which, rows, np.ones(len(which))))
        return added(parts)


class EdgesAsFacts:
    """Facts by the edges of a graph: to their members, or of any node to its neighbours; entities are rows."""

    def __init__(self, graph: Graph, spaces: Spaces, kinds: KindMask | None, *, is_own: bool) -> None:
        """`kinds` are the edges that lead to members; with `is_own` a fact is a node that is its own entity too."""
        self._graph, self._spaces, self._kinds, self._is_own = graph, spaces, kinds, is_own

    def to_entities(self, facts: SparseScores) -> SparseScores:
        """Share out what each fact has among its members, by their weights."""
        return self._over(facts, self._spaces.entities)

    def to_facts(self, entities: SparseScores) -> SparseScores:
        """Share out what each entity has among the facts about it."""
        return self._over(entities, self._spaces.entities if self._is_own else self._spaces.facts)

    def _over(self, given: SparseScores, keep: Mask) -> SparseScores:
        # A hub ties all to all: edges of nodes with few are read first.
        adjacency = self._graph.arrays.adjacency
        entries = adjacency.entries(affordable(adjacency, given.items.astype(np.int32), MOST_ENDS), self._kinds)
        entries = entries.where(keep[entries.neighbor])
        which = given.items.searchsorted(entries.owner)
        weights = self._graph.arrays.weights(entries.at).clip(min=0)
        if not self._is_own:
            return _shared_out(given.values, which, entries.neighbor.astype(np.int64), weights)
        has_others = np.bincount(which, weights, len(given.items)) > 0
        own = SparseScores(given.items, given.values * np.where(has_others, TITLED, 1.0))
        others = _shared_out(given.values * (1 - TITLED), which, entries.neighbor.astype(np.int64), weights)
        return added([own, others])


def _shared_out(values: Floats, which: Numbers, targets: Numbers, weights: Floats) -> SparseScores:
    """Share out values, each among the targets of its number in `which`, by weight."""
    whole = np.bincount(which, weights, len(values))
    taken = whole[which] > 0
    which, targets, weights = which[taken], targets[taken], weights[taken]
    return added([SparseScores(targets, values[which] * weights / whole[which])])


# Votes weighed against what a search finds.


TRUST = 0.3
"""Power of the votes next to the search score: best on MuSiQue's and 2Wiki's development questions, and SAGE's here."""
FLOOR = 0.02
"""The vote of a passage that has none, of at most 1: the search fills the places that votes leave."""
LEAST_FIT = 0.1
"""Least H of a passage with votes: a walk leads to it all the same. The walk of `hippo` has the same."""
TITLES = 0.2
"""Bonus of what has its title in the query, as `sage` has it: 1 to 3 points of the first five passages."""


def titled_spaces(graph: Graph, mode: Mode, titles: float) -> Spaces:
    """Return a graph's spaces; if it has passages, named nodes get a bonus, a share of the best score."""
    spaces = Spaces(graph, mode)
    if titles and spaces.has_passages:
        spaces.searcher = TitleBonus(spaces.searcher, TitleFinder(graph.arrays), titles)
    return spaces


def shares(scores: Floats) -> Floats:
    """Return scores as shares of the best one, at least 0."""
    most = float(scores.max(initial=0.0))
    return scores.clip(min=0) / most if most > 0 else np.zeros(len(scores))


def searched(spaces: Spaces, text: str, k: int, mask: Mask) -> ScoredRows:
    """Return the `k` marked rows that a search finds, the best 1."""
    hits = spaces.search(text, k, mask)
    return ScoredRows(hits.rows, shares(hits.scores))


def fused(spaces: Spaces, text: str, voted: SparseScores, found: ScoredRows, k: int, *, among: Mask) -> ScoredRows:
    """Return the `k` of the marked rows that are best by search and votes: `H * (v + floor)^trust`, best first.

    H is the search score as a share of the best one, v the votes for rows as a share of the most. `found` is what the
    search has given; of what has votes, the ten times `k` that have most are looked at. Ties go to the smaller row.
    """
    allowed = among[voted.items]
    few = SparseScores(voted.items[allowed], voted.values[allowed]).most(10 * k)
    every = np.union1d(few.items, found.rows[among[found.rows]]).astype(np.int32)
    share = np.zeros(len(every))
    share[every.searchsorted(few.items)] = shares(few.values)
    fit = np.maximum(shares(spaces.scores(text, every)), np.where(share > 0, LEAST_FIT, 0.0))
    scores = fit * (share + FLOOR) ** TRUST
    order = np.lexsort((every, -scores))[:k]
    order = order[scores[order] > 0]
    return ScoredRows(every[order], scores[order])
