"""Sets of nodes, evaluated over the arrays: masks and semi-joins, and never a row of a table."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from orienteer.graph.adjacency import distinct
from orienteer.graph.properties import COMPARE
from orienteer.query.budget import Budget
from orienteer.query.columns import Numbers
from orienteer.query.likeness import meets
from orienteer.query.plan import (
    Among,
    Best,
    Both,
    Column,
    Compared,
    Counted,
    Covering,
    Either,
    Every,
    Has,
    Hop,
    Leads,
    Measure,
    Meeting,
    Meets,
    NodeSet,
    Without,
)
from orienteer.query.store import Store, store_condition

# Parts of an intersection are met in this order: what leaves few nodes first, what reads the most edges last.
_ORDER = (Among, Column, Every, Compared, Has, Both, Either, Best, Meets, Meeting, Leads, Without, Counted, Covering)


class Sets:
    """Evaluates the sets of one query; each distinct set once. All rows are (n,) int64, ascending."""

    def __init__(
        self,
        store: Store,
        budget: Budget,
        column: Callable[[Column], Numbers] | None = None,
        meeting: Callable[[Meeting, Numbers], Numbers] | None = None,
    ) -> None:
        """Evaluate over a store; `column` and `meeting` evaluate what needs a table, or an expression."""
        self.store, self.budget = store, budget
        self._column, self._meeting = column, meeting
        self._rows: dict[NodeSet, Numbers] = {}
        self._masks: dict[NodeSet, NDArray[np.bool_]] = {}

    def rows(self, nodes: NodeSet) -> Numbers:
        """Return the rows of a set."""
        if nodes not in self._rows:
            self._rows[nodes] = self._evaluated(nodes)
            self.budget.check()
        return self._rows[nodes]

    def mask(self, nodes: NodeSet) -> NDArray[np.bool_]:
        """Mark the nodes of a set: (nodes,)."""
        if nodes not in self._masks:
            mask = np.zeros(self.store.size, np.bool_)
            mask[self.rows(nodes)] = True
            self._masks[nodes] = mask
        return self._masks[nodes]

    def keep(self, rows: Numbers, nodes: NodeSet) -> Numbers:  # noqa: C901 (a case for each kind of set)
        """Return the rows that are in a set, by the cheaper way: from these rows, or from the set."""
        # To read a value, or an expression, costs as much for a node as all edges around it.
        is_costly = isinstance(nodes, Meeting | Meets)
        if nodes in self._rows or (len(rows) * 4 > self.store.size and not is_costly):
            return rows[self.mask(nodes)[rows]]
        match nodes:
            case Every(types=types):
                return rows[np.isin(self.store.node_types[rows], list(types))] if types else rows
            case Among(rows=named):
                return rows[np.isin(rows, named)]
            case Both(parts=parts):
                for part in sorted(parts, key=self._cost):
                    rows = self.keep(rows, part)
                return rows
            case Without(base=base, part=part):
                rows = self.keep(rows, base)
                return rows[~np.isin(rows, self.keep(rows, part))]
            case Counted() | Covering():
                return rows[self._counted(rows, nodes)]
            case Leads(hop=hop, target=target, least=1, most=1):
                return self.joined(rows, hop, self.rows(target))
            case Meeting():
                assert self._meeting is not None, "an expression is evaluated by tables"
                return self._meeting(nodes, rows)
            case Meets(property=name, comparison=comparison, value=wanted):
                values = self.store.values(name, rows, self.budget)
                are_met = (value is not None and meets(value, comparison, wanted) for value in values)
                return rows[np.fromiter(are_met, np.bool_, len(rows))]
        return rows[self.mask(nodes)[rows]]

    def _evaluated(self, nodes: NodeSet) -> Numbers:  # noqa: C901 (a case for each kind of set)
        match nodes:
            case Every(types=types):
                return self.store.all_of(types)
            case Among(rows=named):
                return distinct(np.array(named, np.int64))
            case Has(property=name):
                return self.store.properties.rows(name).astype(np.int64)
            case Compared():
                return np.flatnonzero(self.store.properties.mask((store_condition(nodes),)))
            case Both(parts=parts):
                first, *others = sorted(parts, key=self._cost)
                rows = self.rows(first)
                for part in others:
                    rows = self.keep(rows, part)
                return rows
            case Either(parts=parts):
                mask = np.zeros(self.store.size, np.bool_)
                for part in parts:
                    mask[self.rows(part)] = True
                return np.flatnonzero(mask)
            case Without(base=base, part=part):
                rows = self.rows(base)
                return rows[~np.isin(rows, self.keep(rows, part))]
            case Leads():
                return self._leading(nodes)
            case Counted() | Covering():
                # Only the nodes around the target can be in it, unless a count of 0 is allowed.
                rows = self._near(nodes)
                return rows[self._counted(rows, nodes)]
            case Best(base=base):
                return np.sort(self.front(self.rows(base), nodes)[0])
            case Column():
                assert self._column is not None, "a column is evaluated by tables"
                return self._column(nodes)
            case Meeting() | Meets():
                return self.keep(self.store.all_of(frozenset()), nodes)

    def _cost(self, nodes: NodeSet) -> int:
        """Return the place of a part in an intersection: what is known comes first."""
        return 0 if nodes in self._rows else _ORDER.index(type(nodes))

    # Edges.

    def _leading(self, nodes: Leads) -> Numbers:
        """Walk back from the target, one ring at a time; if any length will do, each node is walked from once."""
        back = turned(nodes.hop)
        ring, reached = self.rows(nodes.target), np.zeros(self.store.size, np.bool_)
        seen = None
        if nodes.most == 0 or (nodes.least <= 1 and nodes.most > 1):
            seen = np.zeros(self.store.size, np.bool_)
        if nodes.least == 0:
            reached[ring] = True
        step = 0
        while len(ring) and (not nodes.most or step < nodes.most):
            step += 1
            mask = self.image(ring, back)
            if step >= nodes.least:
                reached |= mask
                # Before `least` steps the same node may be reached again at a step that counts.
                if seen is not None:
                    mask &= ~seen
                    seen |= mask
            ring = np.flatnonzero(mask)
        return np.flatnonzero(reached)

    def image(self, rows: Numbers, hop: Hop) -> NDArray[np.bool_]:
        """Mark the nodes that a hop leads to from some rows: (nodes,)."""
        mask = np.zeros(self.store.size, np.bool_)
        for walked in self.store.around(rows, hop, self.budget):
            mask[walked.far] = True
        return mask

    def joined(self, rows: Numbers, hop: Hop, others: Numbers) -> Numbers:
        """Return the rows from which a hop leads to one of the others, walked from the side with fewer edges."""
        degree = self.store.adjacency.degree
        if int(degree(others).sum()) <= int(degree(rows).sum()):
            return rows[self.image(others, turned(hop))[rows]]
        target, keep = np.zeros(self.store.size, np.bool_), np.zeros(len(rows), np.bool_)
        target[others] = True
        for walked in self.store.around(rows, hop, self.budget):
            keep[walked.near[target[walked.far]]] = True
        return rows[keep]

    def counts(
        self, rows: Numbers, hop: Hop, target: NodeSet | None, *, are_edges: bool = False
    ) -> NDArray[np.float64]:
        """Return how many distinct nodes of a set, or of all nodes, or edges to them, a hop leads to: (rows,)."""
        mask = None if target is None or target == Every() else self.mask(target)
        counts = np.zeros(len(rows))
        before = (-1, -1)
        for walked in self.store.around(rows, hop, self.budget):
            near, far = walked.near, walked.far
            if mask is not None:
                keep = mask[far]
                near, far = near[keep], far[keep]
            if not len(near):
                continue
            # Parallel edges stand side by side; those of a hub may lie in two parts.
            is_new = np.ones(len(near), np.bool_)
            if not are_edges:
                is_new[1:] = (near[1:] != near[:-1]) | (far[1:] != far[:-1])
                is_new[0] = (int(near[0]), int(far[0])) != before
            before = int(near[-1]), int(far[-1])
            counts += np.bincount(near[is_new], minlength=len(rows))
        return counts

    def degrees(self, rows: Numbers, hop: Hop, target: NodeSet) -> Numbers:
        """Return how many edges, parallel ones and loops included, lead from each row into a set: (rows,)."""
        mask = None if target == Every() else self.mask(target)
        counts = np.zeros(len(rows), np.int64)
        for walked in self.store.around(rows, hop, self.budget, loops=True):
            near = walked.near if mask is None else walked.near[mask[walked.far]]
            counts += np.bincount(near, minlength=len(rows))
        return counts

    def _near(self, nodes: Counted | Covering) -> Numbers:
        """Return the nodes that a count can hold for: all of them if it holds for 0, else those around the target."""
        if isinstance(nodes, Counted) and COMPARE[nodes.comparison](np.zeros(1), nodes.number)[0]:
            return self.store.all_of(frozenset())
        return self.rows(Leads(nodes.hop, nodes.target))

    def _counted(self, rows: Numbers, nodes: Counted | Covering) -> NDArray[np.bool_]:
        are_edges = isinstance(nodes, Counted) and nodes.are_edges
        counts = self.counts(rows, nodes.hop, nodes.target, are_edges=are_edges)
        if isinstance(nodes, Counted):
            meeting: NDArray[np.bool_] = COMPARE[nodes.comparison](counts, nodes.number)
            return meeting
        wanted = self.counts(rows, nodes.hop, nodes.within) if nodes.within else float(len(self.rows(nodes.target)))
        covered: NDArray[np.bool_] = (counts == wanted) & (counts > 0)
        return covered

    # Measures.

    def measured(self, rows: Numbers, measure: Measure) -> NDArray[np.float64]:
        """Return what is measured of each row: (rows,), NaN if it has no value."""
        if measure.property is not None:
            return self.store.properties.numbers(measure.property, rows.astype(np.int32))
        assert measure.hop is not None, "a measure has a property or a hop"
        return self.counts(rows, measure.hop, measure.target, are_edges=measure.are_edges)

    def front(self, rows: Numbers, best: Best) -> tuple[Numbers, int]:
        """Return the first places of a ranking of these rows, best first, and how many rows have no value.

        All that tie with the last place are in it. A place after `skipped` others is nobody's if the node there ties
        with the one before. Who has none of what is counted is not among those with the most.
        """
        values = self.measured(rows, best.measure)
        if best.descending and best.measure.property is None:
            rows, values = rows[values > 0], values[values > 0]
        is_present = ~np.isnan(values)
        missing = int(len(values) - is_present.sum())
        rows, values = rows[is_present], values[is_present]
        order = np.lexsort((rows, -values if best.descending else values))
        rows, values = rows[order], values[order]
        if best.skipped:
            if len(rows) <= best.skipped or values[best.skipped - 1] == values[best.skipped]:
                return rows[:0], missing
            rows, values = rows[best.skipped :], values[best.skipped :]
        if len(rows) > best.first:
            last = values[best.first - 1]
            rows = rows[values >= last if best.descending else values <= last]
        return rows, missing


def turned(hop: Hop) -> Hop:
    """Return a hop as its far end sees it."""
    return Hop(frozenset(kind ^ 1 for kind in hop.kinds), hop.where)


def both(*parts: NodeSet) -> NodeSet:
    """Return the intersection of some sets, in the fewest records."""
    parts = tuple(part for part in parts if part != Every())
    return Every() if not parts else parts[0] if len(parts) == 1 else Both(parts)
