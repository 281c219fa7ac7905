"""Triples of a sub-query executed on a graph: ends linked, predicates matched, variables bound hop by hop.

GraphSearch (002), section 3.1.2, sends the words of a triple to a retriever. Here, and this is a deviation, a triple is
a pattern that edges, facts and paths match:

1. Ends are linked to nodes (`slots`), predicates to edge types and to what edges and facts say (`predicate`,
   `partners`). Nothing is strict: a share from 0 to 1 says how well each fits, and a binding's score is their product.
   An edge whose type does not fit still counts a little where it leads from a known node to a new one; a direction is
   preferred, not required.
2. Before variables are bound, the candidates of each are narrowed down to nodes that edges of fitting types join,
   triple by triple until nothing changes; a step that would leave no candidate is not made.
3. Triples are taken one after another: next the one with most ends known, and of those the most selective. The best
   `STATES` partial answers are kept; of a node with more neighbours than `partners.PARTNERS`, those that the words of
   the triple speak for. Within these bounds the answer is exact and does not depend on chance.
4. Where the two known ends of a triple are joined neither by an edge nor by a fact, a path of at most three edges is
   weak evidence for it. A triple that nothing matches is passed over, at a cost, and named in the reason.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from orienteer.graph.store import Graph
from orienteer.index.arrays import Rows
from orienteer.protocols import Run
from orienteer.query.budget import Budget
from orienteer.query.plan import Hop
from orienteer.query.sets import Sets
from orienteer.query.store import Store
from orienteer.retrieval.matching.bindings import (
    NO_WAY,
    UNBOUND,
    States,
    TripleJoin,
    TripleMatch,
    TriplePattern,
    match_of,
)
from orienteer.retrieval.matching.partners import NOBODY, OtherEnd, Partners, Surroundings
from orienteer.retrieval.matching.predicate import PredicateFit, Predicates, stating_types
from orienteer.retrieval.matching.slots import Slot, SlotLinker
from orienteer.retrieval.mentions import TypeLinker
from orienteer.retrieval.query import Spaces

STATES = 256
"""Partial answers that are kept."""
MISSED = 0.05
"""What a triple counts that nothing matches, where others are matched."""
_EDGES = 500_000  # edge ends that one step of narrowing down may read
_PASSES = 4  # over all triples, while narrowing down


class TripleMatcher:
    """Executes triples on one graph. Safe to share among threads; made in milliseconds, best once a graph."""

    def __init__(self, graph: Graph, spaces: Spaces | None = None) -> None:
        self.graph = graph
        self.spaces = spaces if spaces is not None else Spaces(graph)

    @cached_property
    def _types(self) -> TypeLinker:
        return TypeLinker(self.graph)

    @cached_property
    def _predicates(self) -> Predicates:
        return Predicates(self.graph)

    @cached_property
    def has_relations(self) -> bool:
        """Whether the graph states any relation that a triple could match: by an edge type, or by facts."""
        return bool(stating_types(self.graph)) or bool(self.spaces.facts.any())

    def match(self, triples: Sequence[TriplePattern], *, run: Run) -> TripleMatch:
        """Return what matches these triples together, best first.

        Nothing, with the reason, where no triple is matched; where some are, the bindings are those of the others.
        Raises `BudgetExhausted` and `ModelError` where a server is asked, of an embedder.
        """
        linker = SlotLinker(self.spaces, self._types, run)
        slots, numbers = linker.slots([text for triple in triples for text in (triple.subject, triple.object)])
        fits = [self._predicates.fit(triple.predicate) for triple in triples]
        ends = list(zip(numbers[::2], numbers[1::2], strict=True))
        join = _Join(self.graph, Surroundings(self.spaces, linker.mask, run), slots, ends, fits)
        states, missed = join.run(self._narrowed(slots, ends, fits, linker))
        return match_of(self.spaces, join.surroundings, TripleJoin(triples, slots, ends, fits, states, missed))

    def _narrowed(
        self, slots: Sequence[Slot], ends: Sequence[tuple[int, int]], fits: Sequence[PredicateFit], linker: SlotLinker
    ) -> list[Rows | None]:
        """Return the candidates of each end, ascending; None where any node may be one."""
        domains = [slot.rows if len(slot.rows) else None for slot in slots]
        seen: dict[tuple[int, bool], int] = {}  # nodes at the end that a triple was last walked from
        steps = [
            (triple, is_subject, *(ends[triple] if is_subject else ends[triple][::-1]))
            for triple in range(len(ends))
            if not (fits[triple].is_open and self.spaces.facts.any())  # facts may join what no edge does
            for is_subject in (True, False)
        ]
        for triple, is_subject, start, end in steps * _PASSES:
            rows, candidates = domains[start], domains[end]
            if rows is None or slots[end].is_unlinked or start == end or seen.get((triple, is_subject)) == len(rows):
                continue
            seen[triple, is_subject] = len(rows)
            image = self._image(rows, fits[triple].kinds_from(is_subject) > 0, linker)
            narrowed = image if candidates is None else np.intersect1d(candidates, image, assume_unique=True)
            if len(narrowed):
                domains[end] = narrowed
        return domains

    def _image(self, rows: Rows, kinds: NDArray[np.bool_], linker: SlotLinker) -> Rows:
        """Return the nodes that edges of these kinds lead to, ascending; nothing where there are too many to read."""
        if not kinds.any() or int(self.graph.arrays.adjacency.degree(rows).sum()) > _EDGES:
            return np.zeros(0, np.int32)
        query = Sets(Store.of(self.graph), Budget())
        reached = query.image(rows.astype(np.int64), Hop(frozenset(np.flatnonzero(kinds).tolist())))
        return np.flatnonzero(reached & linker.mask).astype(np.int32)


class _Join:
    """Binds the slots of triples, one triple after another."""

    def __init__(
        self,
        graph: Graph,
        surroundings: Surroundings,
        slots: Sequence[Slot],
        ends: Sequence[tuple[int, int]],
        fits: Sequence[PredicateFit],
    ) -> None:
        self._graph, self.surroundings = graph, surroundings
        self._slots, self._ends, self._fits = slots, ends, fits
        self._domains: list[Rows | None] = []
        self._partners_by_key: dict[tuple[int, int, int, int], Partners] = {}

    def run(self, domains: list[Rows | None]) -> tuple[States, list[int]]:
        """Return the states after all triples, and the triples that nothing matches."""
        self._domains = domains
        states = States(
            np.full((1, len(self._slots)), UNBOUND, np.int32),
            np.ones(1),
            np.full((1, len(self._ends)), NO_WAY, np.int64),
            np.ones(1, np.bool_),
        )
        waiting, missed = list(range(len(self._ends))), list[int]()
        while waiting:
            triple = min(waiting, key=lambda number: (*self._order(number, states), number))
            waiting.remove(triple)
            after = self._step(triple, states)
            if after is None:
                missed.append(triple)
                after = states._replace(scores=states.scores * MISSED, sound=np.zeros_like(states.sound))
            states = after
        return states, sorted(missed)

    def _order(self, triple: int, states: States) -> tuple[int, int, int]:
        """Return the key by which triples are taken: most bound ends, most linked ends, then fewest nodes."""
        ends = self._ends[triple]
        bound = [end for end in ends if states.rows[0, end] != UNBOUND]
        linked = [end for end in ends if len(self._slots[end].rows)]
        sizes = [len(np.unique(states.rows[:, end])) for end in bound]
        sizes += [len(domain) for end in linked if (domain := self._domains[end]) is not None]
        return -len(bound), -len(linked), min(sizes, default=len(self._graph))

    def _step(self, triple: int, states: States) -> States | None:
        """Return the states that match one more triple; None where none does."""
        ends = self._ends[triple]
        if ends[0] == ends[1] or any(self._slots[end].is_unlinked for end in ends):
            return None
        if all(states.rows[0, end] == UNBOUND for end in ends):
            linked = [end for end in ends if len(self._slots[end].rows)]
            if not linked:
                return None
            states = self._bound(states, min(linked, key=lambda end: (len(self._candidates(end)), end)))
        parts, enough = list[States](), 0
        for number in range(len(states.scores)):
            if enough >= STATES:  # no later state can do better: a share is 1 at the most
                break
            parts.append(self._from(triple, states, number))
            following = states.scores[number + 1] if number + 1 < len(states.scores) else 0.0
            enough += int((parts[-1].scores >= following).sum())
        if not any(len(part.scores) for part in parts):
            return None
        return States(*map(np.concatenate, zip(*parts, strict=True))).best(STATES)

    def _candidates(self, end: int) -> Rows:
        domain = self._domains[end]
        assert domain is not None  # a linked end has one
        return domain

    def _bound(self, states: States, end: int) -> States:
        """Return the states with each candidate of a linked end."""
        rows = self._candidates(end)
        count = len(states.scores)
        wider = States(
            np.repeat(states.rows, len(rows), axis=0),
            np.repeat(states.scores, len(rows)) * np.tile(self._linked(end, rows), count),
            np.repeat(states.ways, len(rows), axis=0),
            np.repeat(states.sound, len(rows)),
        )
        wider.rows[:, end] = np.tile(rows, count)
        return wider.best(STATES)

    def _linked(self, end: int, rows: Rows) -> NDArray[np.float64]:
        """Return how surely an end names each of these rows, (rows,)."""
        slot = self._slots[end]
        return slot.shares[slot.rows.searchsorted(rows)] if len(slot.rows) else np.ones(len(rows))

    def _from(self, triple: int, states: States, number: int) -> States:
        """Return the states that one state becomes, one for each match of a triple."""
        row = states.rows[number]
        start, end = self._sides(triple, row)
        is_new = row[end] == UNBOUND
        partners = self._partners(triple, int(row[start]), start, end, UNBOUND if is_new else int(row[end]))
        if is_new and not partners.fits:  # what fits nothing leads nowhere by going back
            partners = partners.where(~np.isin(partners.rows, row))
        size = len(partners.rows)
        rows, ways = np.repeat(row[None], size, axis=0), np.repeat(states.ways[number][None], size, axis=0)
        rows[:, end], ways[:, triple] = partners.rows, partners.at
        scores = states.scores[number] * partners.shares
        sound = np.full(size, states.sound[number] and partners.fits)
        return States(rows, scores * self._linked(end, partners.rows) if is_new else scores, ways, sound)

    def _sides(self, triple: int, row: NDArray[np.int32]) -> tuple[int, int]:
        """Return the end to start from, and the other: of two that are bound the one with fewer edges."""
        subject, other = self._ends[triple]
        if row[other] == UNBOUND:
            return subject, other
        if row[subject] == UNBOUND:
            return other, subject
        degrees = self._graph.arrays.adjacency.degree(row[[subject, other]])
        return (subject, other) if degrees[0] <= degrees[1] else (other, subject)

    def _partners(self, triple: int, row: int, start: int, end: int, bound: int) -> Partners:
        key = (triple, row, start, bound)
        if key not in self._partners_by_key:
            slot = self._slots[end]
            among = self._domains[end] if bound == UNBOUND else np.array([bound], np.int32)
            about = OtherEnd(self._fits[triple], start == self._ends[triple][0], slot.words, slot.types)
            partners = self.surroundings.partners(row, about, among)
            if not len(partners.rows) and (bound != UNBOUND or len(slot.rows)):
                partners = self.surroundings.by_path(row, among if among is not None else NOBODY.rows)
            self._partners_by_key[key] = partners
        return self._partners_by_key[key]
