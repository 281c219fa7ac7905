"""Seeds to a ranking: their neighbours, the best of them, one order for both. Keeps no record and calls no model."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from orienteer.graph.names.titles import TitleFinder
from orienteer.graph.reserved import DOCUMENT
from orienteer.graph.store import Graph
from orienteer.index.arrays import Rows
from orienteer.index.bm25 import Mask
from orienteer.index.searchers import Mode, Searcher, TitleBonus
from orienteer.methods.sage.config import TOTALS, SageConfig, seeds_of
from orienteer.methods.sage.hop import Floats, OneHop, SeedNeighbors
from orienteer.records import Question

_TITLES = 0.2  # in graphs of documents: elsewhere what a question names is seldom what it asks for
_TEXT_TRUST, _GRAPH_TRUST = 0.3, 1.0  # of documents, whose edges lead to much that is not meant; of other graphs
_JOINT = 0.1  # evidence that a seed has of itself, in one list by score


class LeadingEdge(NamedTuple):
    """The edge that brought a neighbour into the union."""

    through: int
    """The seed."""
    kind: int
    """As in `Reached`."""


class RankedUnion(NamedTuple):
    """Seeds and neighbours in their order."""

    rows: list[int]
    edges: dict[int, LeadingEdge]
    """The edge that says most for each neighbour, by row; seeds have none."""


class _Hop(NamedTuple):
    """The neighbours of the first few seeds and their scores."""

    reached: SeedNeighbors
    scores: Floats
    """What pruning goes by."""


class _ScoredRows(NamedTuple):
    """The hybrid score of rows, which are sorted."""

    rows: Rows
    scores: Floats

    def of(self, rows: NDArray[np.int32]) -> Floats:
        """Return the scores of some of these rows, in the order given."""
        return self.scores[self.rows.searchsorted(rows)]


class Expander:
    """Expands seeds over a graph and prunes, for any question. Safe to share among threads."""

    def __init__(self, graph: Graph, config: SageConfig) -> None:
        self.graph, self.config = graph, config
        self.mode: Mode = "hybrid" if graph.arrays.searcher.has_vectors else "lexical"
        plain = graph.arrays.searcher(self.mode, weight=config.weight)
        self.searcher: Searcher = plain
        """Gives the hybrid score; BM25 where there are no vectors."""
        titles = config.titles
        if titles is None:
            titles = _TITLES if graph.arrays.is_made_of_documents else 0.0
        self.titled = TitleBonus(plain, TitleFinder(graph.arrays), titles) if titles else None
        """Ranks seeds, where those whose title stands in the question have a bonus."""
        trust = config.trust
        if trust is None:
            trust = _TEXT_TRUST if graph.arrays.is_made_of_documents else _GRAPH_TRUST
        self.trust = trust
        self.walk = OneHop(graph, config)
        self.units = _units(graph)
        """The node types of seeds; empty for all. A document is found by its parts."""
        self.unit_mask: Mask | None = graph.arrays.mask(self.units or None)

    def of(self, question: Question) -> Expansion:
        """Return the expansion for one question. Raises `UnknownType`, `UnknownProperty`, `BadOption`."""
        return Expansion(self, question)


class Expansion:
    """Expands the seeds of one question: seeds may be of any type, what is returned passes the question's filters."""

    def __init__(self, expander: Expander, question: Question) -> None:
        self._expander, self._query, self._k = expander, question.text, question.k
        self.config, self.walk = expander.config, expander.walk
        self.node_types = question.node_types or expander.units
        """The node types of answers."""
        self.mask: Mask | None = expander.graph.arrays.mask(self.node_types or None, question.where)
        """Which nodes pass the filters."""
        self.has_filters = bool(question.node_types or question.where)

    def ranking(self) -> list[int]:
        """Return the k best rows from hybrid seeds: those of `Sage`, without their presentation."""
        k = self._k
        if self.config.policy == "none":
            return self.seeds(k, is_filtered=True)
        seeds = self.seeds(seeds_of(k), is_filtered=False)
        if self.has_filters:
            seeds = list(dict.fromkeys([*seeds, *self.seeds(seeds_of(k), is_filtered=True)]))
        rows = self.union(seeds).rows
        if len(rows) < k:
            rows = list(dict.fromkeys([*rows, *self.seeds(k, is_filtered=True)]))
        return rows[:k]

    def seeds(self, count: int, *, is_filtered: bool) -> list[int]:
        """Return the best rows, best first; with `is_filtered`, among those that pass the filters."""
        searcher = self._expander.titled or self._expander.searcher
        mask = self.mask if is_filtered else self._expander.unit_mask
        return [int(row) for row in searcher.search(self._query, count, mask=mask).rows]

    def scores(self, rows: NDArray[np.int32]) -> Floats:
        """Return the hybrid score of each row, (rows,) in the order given; BM25 where there are no vectors."""
        ordered, place = np.unique(rows, return_inverse=True)
        return self._expander.searcher.scores(self._query, ordered).clip(min=0)[place]

    def passing(self, rows: Sequence[int]) -> list[int]:
        """Return the rows that pass the filters."""
        return [row for row in rows if self.mask is None or self.mask[row]]

    def union(self, seeds: list[int]) -> RankedUnion:
        """Return seeds and the neighbours that stay, in the order that is configured, at most k."""
        edges: dict[int, LeadingEdge] = {}
        if not seeds:
            return RankedUnion([], edges)
        k = self._k
        if self.config.order == "splits":
            return RankedUnion(self._splits(seeds, edges), edges)
        hop = self._hop(seeds, self._around(seeds))
        passing = self.passing(seeds)
        union = [*passing, *self._pruned(hop, seeds, k - len(passing), edges)][:k]
        return RankedUnion(union if self.config.order == "seeds" else self._jointly(union, hop, edges), edges)

    def _around(self, seeds: Sequence[int]) -> _ScoredRows:
        """Return the scores of seeds and their neighbours, which serve every hop from the first few seeds."""
        rows = np.array(seeds, np.int32)
        every = np.union1d(rows, self.walk.around(rows)).astype(np.int32)
        return _ScoredRows(every, self.scores(every))

    def _hop(self, seeds: Sequence[int], around: _ScoredRows) -> _Hop:
        """Return the neighbours of these seeds and the scores that pruning goes by. SAGE, section 2.2.B."""
        rows = np.array(seeds, np.int32)
        own = around.of(rows)
        strength = (own / own.max()) ** self.config.sharpness if own.any() else np.ones(len(rows))
        reached = self.walk.from_(rows, strength, self._query)
        scores = around.of(reached.rows)
        by_score = self.config.pruning == "hybrid"
        return _Hop(reached, scores if by_score else scores * reached.evidence**self._expander.trust)

    def _splits(self, seeds: list[int], edges: dict[int, LeadingEdge]) -> list[int]:
        """Order the nodes so that the first 2, 5, 10, 20 and so on (`TOTALS`) are each the union of that size."""
        union: list[int] = []
        k = self._k
        around = self._around(seeds)
        for total in [*(size for size in TOTALS if size < k), k]:
            some = seeds if total == k else seeds[: seeds_of(total)]
            new = [row for row in self.passing(some) if row not in union]
            union += new[: total - len(union)]
            if len(union) < total:
                hop = self._hop(some, around)
                union += self._pruned(hop, [*some, *union], total - len(union), edges)
        return union

    def _pruned(self, hop: _Hop, but: Sequence[int], count: int, edges: dict[int, LeadingEdge]) -> list[int]:
        """Return the best neighbours that pass the filters, without the rows `but`. Ties go to the smaller row.

        The edges that lead to them are added to `edges`.
        """
        reached = hop.reached
        rows = reached.rows
        stay = ~np.isin(rows, np.array(but, np.int32)) & (hop.scores > 0)
        if self.mask is not None:
            stay &= self.mask[rows]
        places = np.flatnonzero(stay)
        places = places[np.lexsort((rows[places], -hop.scores[places]))][: max(0, count)]
        for place in places.tolist():
            edges.setdefault(int(rows[place]), LeadingEdge(int(reached.through[place]), int(reached.kind[place])))
        return [int(row) for row in rows[places]]

    def _jointly(self, union: list[int], hop: _Hop, edges: dict[int, LeadingEdge]) -> list[int]:
        """Return the rows ordered by one score for seeds and neighbours alike."""
        rows = np.array(union, np.int32)
        scores = self.scores(rows)
        if self.config.pruning == "weighed":
            reached = hop.reached
            evidence = np.full(len(rows), _JOINT)  # what a seed has that no other seed leads to
            at = reached.rows.searchsorted(rows).clip(max=max(0, len(reached.rows) - 1))
            if len(reached.rows):
                is_reached = reached.rows[at] == rows
                floor = np.array([0.0 if row in edges else _JOINT for row in union])
                evidence = np.where(is_reached, np.maximum(reached.evidence[at], floor), evidence)
            scores = scores * evidence**self._expander.trust
        return [int(row) for row in rows[np.lexsort((rows, -scores))]]


def _units(graph: Graph) -> tuple[str, ...]:
    """Return the node types of a graph of documents that hold its text."""
    if graph.arrays.text_types:
        return tuple(name for name in graph.arrays.text_types if name != DOCUMENT)
    types = graph.arrays.types.nodes
    if not graph.arrays.is_made_of_documents or DOCUMENT not in types:
        return ()
    return tuple(name for name in types if name != DOCUMENT)
