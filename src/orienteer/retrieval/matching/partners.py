"""What stands at the other end of a triple, of which one end is known: by an edge, by a fact, by a path.

An edge counts by how well its type fits the predicate, or its text says it; a fact that has both ends as members by how
much of the predicate it says. Where nothing does, the edges that are there count little, among passages most where one
names the other, and a path less.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from orienteer.graph.adjacency import Entries, distinct, shortest_paths
from orienteer.graph.reserved import LINKS_TO, MENTIONS
from orienteer.graph.store import Graph
from orienteer.index.arrays import Rows
from orienteer.index.bm25 import Mask
from orienteer.protocols import Run
from orienteer.retrieval.matching.predicate import PredicateFit
from orienteer.retrieval.query import Spaces

PARTNERS = 256
"""Nodes at the other end that are kept: of more, those that the triple's words speak for."""
UNMATCHED = 0.1
"""What an edge counts that does not fit the predicate."""
UNFIT = 20
"""Nodes that are kept of those to which only such edges lead."""
_NAMED_BY, _UNNAMED = 0.085, 0.06  # what it counts that does not lead from a passage to what that names
_SAYING = 0.8  # what an edge or a fact counts at the most whose text says the predicate
_SAID = 0.5  # the least share of a predicate that a text must say
_OTHER_TYPE = 0.5  # what a node counts that is not of the type which a variable's words name
_BESIDE = 0.6  # share of the best that others must have to stand beside it
_READ = 256  # edges of a node whose texts are read
_FACTS = 64  # facts of a node that are read
_WALK, _FURTHER = 0.05, 0.5  # what a path of two edges counts, and each further edge of it
_LONGEST = 3  # edges of a path
_PATHS = 3
_PAIRS = 32  # pairs of nodes between which paths are looked for, a call


class Partners(NamedTuple):
    """Nodes at the other end of a triple."""

    rows: Rows
    shares: NDArray[np.float64]
    at: NDArray[np.int64]
    """Place in the adjacency arrays of the edge that leads there; below 0 the number, inverted, of another way."""
    fits: bool = True
    """Whether something says the predicate; else the nodes are merely joined."""

    def where(self, keep: NDArray[np.bool_]) -> Partners:
        """Return the partners that a mask marks."""
        return Partners(self.rows[keep], self.shares[keep], self.at[keep], self.fits)


class Bridge(NamedTuple):
    """A way between two nodes that no edge joins: through a fact, or along paths."""

    fact: int | None = None
    """Row of the fact that has both as members."""
    paths: tuple[tuple[int, ...], ...] = ()
    """Rows from one to the other."""


class OtherEnd(NamedTuple):
    """The end of a triple that is looked for."""

    fit: PredicateFit
    is_subject: bool
    """Whether the known end is the subject."""
    words: str
    types: Mask | None = None
    """By node type, whether this end should have it."""


NOBODY = Partners(np.zeros(0, np.int32), np.zeros(0), np.zeros(0, np.int64))


class Surroundings:
    """Finds partners during one call, and remembers ways between them. Not shared among threads."""

    def __init__(self, spaces: Spaces, mask: Mask, run: Run) -> None:
        self._spaces, self._mask, self._run = spaces, mask, run
        self._graph: Graph = spaces.graph
        self._has_facts = bool(spaces.facts.any())
        # What edges among passages carry says how they were found, not what they mean.
        self._reads_edges = self._graph.arrays.has_extras and (bool(spaces.entities.any()) or not spaces.has_passages)
        # In a graph without passages an edge is as good as another.
        is_naming = [
            not self._spaces.has_passages or name in (LINKS_TO, MENTIONS) for name in self._graph.arrays.types.edges
        ]
        self._naming = np.array(is_naming, np.bool_)
        self._pairs = 0
        self.ways: list[Bridge] = []
        """Facts and paths, by number."""

    def partners(self, row: int, other: OtherEnd, among: Rows | None) -> Partners:
        """Return the nodes at the other end, best first, ties by row; `among` restricts them to ascending rows."""
        entries = self._graph.arrays.adjacency.entries(np.array([row], np.int32))
        groups = [self._by_edge(entries, other, among)]
        if self._has_facts:
            groups.append(self._by_fact(row, entries, other, among))
        rows, shares, at = (np.concatenate([group[column] for group in groups]) for column in range(3))
        fits = shares > 0
        if fits.any():
            rows, at, shares = rows[fits], at[fits], shares[fits]
        else:
            shares = self._any(at) * (1 + self._likeness(rows, other)) / 2
        if other.types is not None:
            shares = shares * np.where(other.types[self._graph.arrays.node_types[rows]], 1.0, _OTHER_TYPE)
        return self._best(Partners(rows, shares, at, bool(fits.any())), other)

    def _any(self, at: NDArray[np.int64]) -> NDArray[np.float64]:
        """Return how much ways without a fitting predicate count: most where a passage names the other end."""
        kinds = self._graph.arrays.adjacency.kind[np.maximum(at, 0)]
        names = (at >= 0) & self._naming[kinds >> 1]
        return np.where(names, np.where(kinds & 1, _NAMED_BY, UNMATCHED), _UNNAMED)

    def _best(self, partners: Partners, other: OtherEnd) -> Partners:
        """Return each node once, those far behind the best left out, no more than are kept."""
        rows, shares, at, fits = partners
        order = np.lexsort((at, -shares, rows))
        order = order[np.unique(rows[order], return_index=True)[1]]
        order = order[shares[order] >= _BESIDE * shares.max(initial=0.0)]
        likeness = self._likeness(rows[order], other) if len(order) > PARTNERS else np.zeros(len(order))
        order = order[np.lexsort((rows[order], -likeness, -shares[order]))][: PARTNERS if fits else UNFIT]
        return Partners(rows[order], shares[order], at[order], fits)

    def _likeness(self, rows: Rows, other: OtherEnd) -> NDArray[np.float64]:
        """Return how well the words of the triple fit each node, (rows,): 1 for the best, 0 for those not found."""
        likeness = np.zeros(len(rows))
        words = f"{other.fit.written} {other.words}".strip()
        if not words or not len(rows):
            return likeness
        self._spaces.pay(self._run, [words])
        hits = self._spaces.searcher.search(words, PARTNERS, among=distinct(np.sort(rows)))
        if len(hits.rows) and hits.scores[0] > 0:
            order = np.argsort(hits.rows)
            ranked, scores = hits.rows[order], hits.scores[order] / hits.scores[0]
            place = ranked.searchsorted(rows).clip(max=len(ranked) - 1)
            likeness = np.where(ranked[place] == rows, scores[place], 0.0).clip(0, 1)
        return likeness

    # --------------------------------------------------------------------------------------------------------- edges

    def _by_edge(self, entries: Entries, other: OtherEnd, among: Rows | None) -> Partners:
        """Return the neighbours; the share of one whose edge neither fits nor says the predicate is 0."""
        entries = entries.where(self._mask[entries.neighbor] & _stands(entries.neighbor, among))
        shares = other.fit.kinds_from(other.is_subject)[entries.kind]
        if self._reads_edges and not other.fit.is_open:
            silent = np.flatnonzero(shares == 0)
            if len(silent) > _READ:
                likeness = self._likeness(entries.neighbor[silent], other)
                silent = silent[np.lexsort((silent, -likeness))][:_READ]
            shares[silent] = [self.edge_share(int(at), other.fit) for at in entries.at[silent]]
        return Partners(entries.neighbor, shares, entries.at)

    def edge_share(self, at: int, fit: PredicateFit) -> float:
        """Return how much an edge counts by its text and keywords."""
        carried = self._graph.arrays.extras(at) if self._reads_edges else {}
        keywords = carried.get("properties", {}).get("keywords", ())
        listed = keywords if isinstance(keywords, list) else [keywords]
        return _text_share(fit, " ".join(map(str, (carried.get("text", ""), *listed))))

    # --------------------------------------------------------------------------------------------------------- facts

    def _by_fact(self, row: int, entries: Entries, other: OtherEnd, among: Rows | None) -> Partners:
        """Return the nodes that are members of facts together with this one."""
        facts = distinct(np.sort(entries.neighbor[self._spaces.facts[entries.neighbor]]))
        if len(facts) > _FACTS:
            likeness = self._likeness(facts, other)
            facts = np.sort(facts[np.lexsort((facts, -likeness))][:_FACTS])
        members = self._graph.arrays.adjacency.entries(facts)
        members = members.where(
            self._mask[members.neighbor] & _stands(members.neighbor, among) & (members.neighbor != row)
        )
        shares = [
            _text_share(other.fit, self._graph.arrays.texts[fact] or self._graph.arrays.names[fact])
            for fact in facts.tolist()
        ]
        numbers = np.array([self._numbered(Bridge(fact=fact)) for fact in facts.tolist()], np.int64)
        place = facts.searchsorted(members.owner)
        return Partners(members.neighbor, np.array(shares, np.float64)[place], numbers[place])

    def facts(self, row: int, other: int) -> Rows:
        """Return the facts that have both of two nodes as members."""
        first, second = (distinct(self._graph.arrays.adjacency.neighbors(end)) for end in (row, other))
        both = np.intersect1d(first[self._spaces.facts[first]], second, assume_unique=True)
        return np.asarray(both[:_FACTS], np.int32)

    # --------------------------------------------------------------------------------------------------------- paths

    def by_path(self, row: int, others: Rows) -> Partners:
        """Return the nodes, of a few, that a short path leads to."""
        rows, shares, at = [], [], []
        for other in others.tolist():
            if self._pairs >= _PAIRS or other == row:
                continue
            self._pairs += 1
            walks = shortest_paths(self._graph.arrays.adjacency, row, other, most_edges=_LONGEST, k=_PATHS)
            if walks:
                rows.append(other)
                shares.append(_WALK * _FURTHER ** max(0, len(walks[0]) - 3))
                at.append(self._numbered(Bridge(paths=tuple(walks))))
        return Partners(np.array(rows, np.int32), np.array(shares, np.float64), np.array(at, np.int64), False)

    def _numbered(self, way: Bridge) -> int:
        self.ways.append(way)
        return ~(len(self.ways) - 1)


def _text_share(fit: PredicateFit, text: str) -> float:
    share = fit.share_in(text)
    return _SAYING * share if share >= _SAID else 0.0


def _stands(rows: NDArray[np.int32], among: Rows | None) -> Mask:
    """Mark the rows that stand among sorted ones."""
    if among is None:
        return np.ones(len(rows), np.bool_)
    if not len(among):
        return np.zeros(len(rows), np.bool_)
    return np.asarray(among[among.searchsorted(rows).clip(max=len(among) - 1)] == rows)
