"""Random walks with restart: over passages and the names in them, and over any graph whichever way its edges point.

Each is the vector that stays as it is under `x = (1 - d) r + d P'x`: r is where the walk begins anew, d how often it
goes on instead. What stands at a node without edges is lost to the walk, which leaves all others in the same
proportions. Personalised PageRank: Page, Brin, Motwani and Winograd 1999, section 6.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from orienteer.graph.pieces.incidence import Lists, Numbers
from orienteer.retrieval.expansion.incidence import Incidence

Floats = NDArray[np.float32]
_COLUMNS = 8
"""Members of the longest list that is added column by column. Of up to so many, `reduceat` adds all but the first in
order, and then the first; of more it adds in another order."""


class WalkShares(NamedTuple):
    """How often a walk over passages and names is where, and what each name hands on."""

    passages: Floats
    names: Floats
    by_mention: Floats
    """What a name hands to each passage that holds it, where that fits as well as can be."""
    by_title: Floats
    """What it hands to each passage that it titles, besides."""


class NameWalk:
    """A walk from passages to the names that stand in them, by how much each says, and from names to passages.

    A name that titles passages leads to them with `tau`, and else to those that hold it; any other name leads to its
    holders alone. Among passages it chooses by how well each fits the question. Safe to share among threads.
    """

    def __init__(self, incidence: Incidence, *, tau: float, damping: float, rounds: int) -> None:
        self._damping, self._rounds = np.float32(damping), rounds
        self._weights = incidence.weights()
        self._over_holders, self._over_titled = ListSums(incidence.holders), ListSums(incidence.titled)
        self._over_held = ListSums(incidence.held)
        self._over_titles = ListSums(incidence.titled.turned(len(incidence.passages)))
        self._said = _inverse(self._over_held(self._weights))  # (passages,): 1 / what the names of each say together
        self._to_titled = np.where(incidence.titled.counts() > 0, tau, 0).astype(np.float32)  # (names,)

    def __call__(self, passages: Floats, names: Floats, fit: Floats) -> WalkShares:
        """Return where a walk is that begins anew at these shares of passages and names.

        `fit` is how well each passage fits the question, above 0.
        """
        damping = self._damping
        start_passages, start_names = (1 - damping) * passages, (1 - damping) * names
        to_holders = (1 - self._to_titled) * _inverse(self._over_holders(fit))
        to_titled = self._to_titled * _inverse(self._over_titled(fit))
        at_passages, at_names = start_passages, start_names
        # One kind of node after the other: each round carries as far as two that move both at once.
        for _ in range(self._rounds):
            at_names = start_names + damping * self._weights * self._over_holders(at_passages * self._said)
            handed = self._over_held(at_names * to_holders) + self._over_titles(at_names * to_titled)
            at_passages = start_passages + damping * fit * handed
        return WalkShares(at_passages, at_names, at_names * to_holders, at_names * to_titled)


def carriers(incidence: Incidence, walked: WalkShares, passage: int, most: int) -> Numbers:
    """Return the names that led a walk to a passage, those first that led there most."""
    names = incidence.held.of(passage)
    is_title = [passage in incidence.titled.of(name) for name in names.tolist()]
    carried = walked.by_mention[names] + np.where(is_title, walked.by_title[names], 0)
    order = np.lexsort((names, -carried))[:most]
    return names[order[carried[order] > 0]]


class GraphWalk:
    """A walk over an undirected graph by the weights of its edges, parallel ones added up. Safe among threads."""

    def __init__(self, lists: Lists, weights: Floats) -> None:
        """Take the neighbours of each node, and the weight of each entry of these lists, 0 or more."""
        self._lists, self._weights, self._over = lists, weights, ListSums(lists, weights)
        ones = np.ones(len(lists.begins) - 1, np.float32)
        self._strength = _inverse(self._over(ones))  # (nodes,): 1 / what the edges of each weigh together

    def __call__(self, restart: Floats, *, damping: float, rounds: int) -> Floats:
        """Return where a walk is that begins anew at these shares of the nodes."""
        at = start = (1 - np.float32(damping)) * restart
        for _ in range(rounds):
            at = start + np.float32(damping) * self._over(at * self._strength)
        return at

    def carriers(self, at: Floats, node: int, most: int) -> Numbers:
        """Return the neighbours that led a walk to a node, those first that led there most."""
        here = slice(int(self._lists.begins[node]), int(self._lists.begins[node + 1]))
        near, place = np.unique(self._lists.members[here], return_inverse=True)
        handed = np.bincount(place, self._weights[here], minlength=len(near)) * at[near] * self._strength[near]
        order = np.lexsort((near, -handed))[:most]
        return near[order[handed[order] > 0]]


class ListSums:
    """Adds up, for each of several things, the values of its list, each times a weight where there are any.

    The things are put in order by the length of their lists, the longest first. So the first members of all short lists
    are a column, the second ones a shorter one, and columns are added whole: that takes a third of the time of
    `np.add.reduceat`, which adds up the long lists. A sum is to the last bit the one that `reduceat` gives: where two
    passages nearly tie, it is the last bits that rank them.
    """

    def __init__(self, lists: Lists, weights: Floats | None = None) -> None:
        """`weights`: one for each entry of the lists."""
        order = np.argsort(-lists.counts(), kind="stable")
        begins, counts = lists.begins[:-1][order], lists.counts()[order]
        columns = [*range(1, _COLUMNS), 0]  # the order in which `reduceat` adds
        self._ends = [int(np.count_nonzero(counts > column)) for column in columns]
        long = counts[counts > _COLUMNS]  # (long lists,)
        self._begins = np.cumsum(long) - long
        self._long_entries = int(long.sum())
        of_long = np.repeat(begins[: len(long)] - self._begins, long) + np.arange(self._long_entries)
        of_short = (begins[len(long) : end] + column for column, end in zip(columns, self._ends, strict=True))
        entries = np.concatenate([of_long, *of_short])
        self._members = lists.members[entries].astype(np.intp)
        self._weights = None if weights is None else weights[entries]
        self._places = np.argsort(order)  # (things,): where each stands by length

    def __call__(self, values: Floats) -> Floats:
        """Return the sum of each list, shape (things,), of the values of its members."""
        taken = values.take(self._members, mode="clip")  # the quickest way to take what is surely there
        if self._weights is not None:
            taken *= self._weights
        total = np.zeros(len(self._places), np.float32)
        short, begin = len(self._begins), self._long_entries
        if short:  # `reduceat` takes no empty list
            np.add.reduceat(taken[:begin], self._begins, dtype=np.float32, out=total[:short])
        for end in self._ends:
            column = taken[begin : begin + end - short]
            total[short:end] += column
            begin += len(column)
        return total.take(self._places, mode="clip")


def _inverse(values: NDArray[Any]) -> Floats:  # Any: numbers of any kind
    """Return 1 / value, 0 where it is 0."""
    inverse: Floats = np.divide(1, values, out=np.zeros(len(values), np.float32), where=values > 0)
    return inverse
