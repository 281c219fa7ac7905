"""A query executed exactly over the arrays of a graph."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from orienteer.graph.adjacency import distinct
from orienteer.graph.properties import Condition as Compared
from orienteer.graph.store import Graph
from orienteer.index.arrays import Rows
from orienteer.index.bm25 import Mask
from orienteer.reading.query import (
    Among,
    Best,
    Condition,
    Either,
    ExactQuery,
    Filled,
    Joined,
    Measure,
    NodeSet,
    Valued,
    negated,
)

_PAIR = 4  # nodes that a comparison of two names, namesakes among them


@dataclass(frozen=True, slots=True)
class QueryOutcome:
    """What a query gives."""

    rows: Rows
    """The nodes that meet all conditions, ascending; of a superlative those in front, best first."""
    value: int | float | bool | None = None
    """The number, or yes or no, that is asked for; None where nodes are, or where nothing is told."""
    missing: int = 0
    """Nodes that an average, a sum or a superlative leaves out, for they have no value."""


class Executor:
    """Executes queries over one graph."""

    def __init__(self, graph: Graph, mask: Mask | None = None) -> None:
        """Execute over a graph; of what is asked for keep the rows that `mask`, (nodes,), marks."""
        self._graph, self._arrays, self._mask_of_hits = graph, graph.arrays, mask
        self._memo: dict[NodeSet, Rows] = {}

    def run(self, query: ExactQuery) -> QueryOutcome:
        """Return the outcome of a query."""
        if query.form == "compare":
            return self._compare(query)
        if query.form == "every":
            return self._every(query)
        rows, missing = self._asked(query.nodes)
        if query.form == "count":
            return QueryOutcome(rows, len(rows))
        if query.form == "test":
            if not len(rows) and self._is_untold(query.nodes):
                return QueryOutcome(rows, None, missing=1)
            return QueryOutcome(rows, bool(len(rows)))
        if query.form in ("average", "sum"):
            return self._total(query, rows)
        return QueryOutcome(rows, None, missing)

    def _asked(self, nodes: NodeSet) -> tuple[Rows, int]:
        """Return the rows that are asked for, of a superlative those in front, and how many have no value for it."""
        rows = self.rows(replace(nodes, best=None))
        if self._mask_of_hits is not None:
            rows = rows[self._mask_of_hits[rows]]
        if nodes.best is None:
            return rows, 0
        front, missing = self._front(rows, nodes.best)
        if missing and nodes.named and len(rows) <= _PAIR:  # of two, one is not told: nobody can say
            front = rows[:0]
        return front, missing

    def _total(self, query: ExactQuery, rows: Rows) -> QueryOutcome:
        """Return the average or the sum of a measure, over the nodes that have it."""
        assert query.measure is not None
        values = self.measured(rows, query.measure)
        present = values[~np.isnan(values)]
        if not len(present):
            return QueryOutcome(rows, None, missing=len(rows))
        total = float(present.sum() if query.form == "sum" else present.mean())
        return QueryOutcome(rows, _plain(total), missing=len(values) - len(present))

    def _is_untold(self, nodes: NodeSet) -> bool:
        """Return whether named nodes have no value for a property that they are asked about."""
        named = next((c for c in nodes.conditions if isinstance(c, Among) and not c.negated), None)
        if named is None:
            return False
        rows = np.array(sorted(named.rows), np.int32)
        return any(
            isinstance(condition, Valued) and not np.isin(rows, self._arrays.properties.rows(condition.property)).any()
            for condition in nodes.conditions
        )

    def _compare(self, query: ExactQuery) -> QueryOutcome:
        assert query.other is not None
        assert query.measure is not None
        ours, theirs = self.rows(query.nodes), self.rows(query.other)
        values, others = self.measured(ours, query.measure), self.measured(theirs, query.measure)
        rows = np.unique(np.concatenate([ours, theirs])).astype(np.int32)
        values, others = values[~np.isnan(values)], others[~np.isnan(others)]  # of namesakes, those that have it
        if len(values) != 1 or len(others) != 1:
            return QueryOutcome(rows, None, missing=1)
        is_so = values[0] > others[0] if query.descending else values[0] < others[0]
        return QueryOutcome(rows, bool(is_so))

    def _every(self, query: ExactQuery) -> QueryOutcome:
        """Return whether all nodes of a set meet further conditions; the rows are those that do not, where some do not.

        Nothing is told where none is known to fail, and some have no value; nor of a set without nodes.
        """
        rows, _ = self._asked(query.nodes)
        meeting, failing = rows, [rows[:0]]
        for condition in query.claimed:
            meeting = self._meeting(meeting, condition)
            failing.append(self._meeting(rows, negated(condition)))
        failed = np.unique(np.concatenate(failing)).astype(np.int32)
        if len(failed):
            return QueryOutcome(failed, False)
        if not len(rows) or len(meeting) < len(rows):
            return QueryOutcome(rows, None, missing=len(rows) - len(meeting))
        return QueryOutcome(rows, True)

    # ------------------------------------------------------------------------------------------------------------ sets

    def rows(self, nodes: NodeSet) -> Rows:
        """Return the rows of a set, ascending."""
        if nodes not in self._memo:
            self._memo[nodes] = self._rows(nodes)
        return self._memo[nodes]

    def _rows(self, nodes: NodeSet) -> Rows:
        match conditions := sorted(nodes.conditions, key=_costliness):
            case [Among(rows=named, negated=False), *rest]:
                rows, conditions = self._named(named, nodes.types), rest
            case _:
                rows = self._of_types(nodes.types)
        for condition in conditions:
            rows = self._meeting(rows, condition)
        if nodes.best is not None:
            rows = np.sort(self._front(rows, nodes.best)[0])
        return rows

    def _named(self, named: Sequence[int], types: frozenset[int]) -> Rows:
        rows = distinct(np.array(named, np.int32))
        return rows[np.isin(self._arrays.node_types[rows], sorted(types))] if types else rows

    def _of_types(self, types: frozenset[int]) -> Rows:
        if not types:
            return np.arange(len(self._graph), dtype=np.int32)
        names = [str(self._arrays.types.nodes[number]) for number in sorted(types)]
        return np.flatnonzero(np.asarray(self._arrays.mask(names))).astype(np.int32)

    def _meeting(self, rows: Rows, condition: Condition) -> Rows:
        if isinstance(condition, Either) and condition.negated:
            return self._denied(rows, condition)
        if isinstance(condition, Valued) and condition.negated:  # what is not known is not denied
            rows = rows[np.isin(rows, self._arrays.properties.rows(condition.property), assume_unique=True)]
        keep = self._met(rows, condition)
        return rows[~keep if condition.negated else keep]

    def _denied(self, rows: Rows, either: Either) -> Rows:
        """Return the rows for which some part of every option does not hold: what is not known may hold."""
        for option in either.options:
            denied = [self._meeting(rows, negated(part)) for part in option]
            rows = rows[np.isin(rows, np.concatenate(denied))]
        return rows

    def _met(self, rows: Rows, condition: Condition) -> NDArray[np.bool_]:
        """Tell which rows meet a condition, its denial left aside: (rows,)."""
        if isinstance(condition, Among):
            return np.isin(rows, np.array(condition.rows, np.int32))
        if isinstance(condition, Either):
            met = np.zeros(len(rows), np.bool_)
            for option in condition.options:
                kept = rows
                for part in option:
                    kept = self._meeting(kept, part)
                met |= np.isin(rows, kept, assume_unique=True)
            return met
        if isinstance(condition, Filled):
            return np.isin(rows, self._arrays.properties.rows(condition.property), assume_unique=True)
        if isinstance(condition, Valued):
            value = condition.value if isinstance(condition.value, str) else repr(condition.value)
            mask = self._arrays.properties.mask((Compared(condition.property, condition.comparison, value),))
            return np.asarray(mask[rows])
        if condition.extent != "some":
            return self._covered(rows, condition)
        if condition.comparison is not None:
            counts = self.counts(rows, condition.kinds, condition.target)
            is_so: NDArray[np.bool_] = _COMPARE[condition.comparison](counts, condition.number)
            return is_so
        return self._leading(condition)[rows]

    def _covered(self, rows: Rows, condition: Joined) -> NDArray[np.bool_]:
        """Tell which rows edges lead from to every node of a set, or to no node beside it: (rows,)."""
        target = condition.target
        counts = self.counts(rows, condition.kinds, target)
        if condition.extent == "every":
            wanted: NDArray[np.float64] = np.full(len(rows), float(len(self.rows(target))))
        else:
            wanted = self.counts(rows, condition.kinds, NodeSet(target.types))
        covered: NDArray[np.bool_] = (counts == wanted) & (counts > 0)
        return covered

    def _leading(self, condition: Joined) -> NDArray[np.bool_]:
        """Mark the rows from which one of the edges leads to the target: (nodes,)."""
        targets = self.rows(condition.target)
        entries = self._arrays.adjacency.entries(targets, self._mask(tuple(kind ^ 1 for kind in condition.kinds)))
        mask = np.zeros(len(self._graph), np.bool_)
        mask[entries.neighbor] = True
        return mask

    def counts(self, rows: Rows, kinds: tuple[int, ...], target: NodeSet) -> NDArray[np.float64]:
        """Return how many distinct nodes of a set the edges of each row lead to: (rows,)."""
        entries = self._arrays.adjacency.entries(rows, self._mask(kinds))
        owner, neighbor = entries.owner, entries.neighbor
        if target != NodeSet():
            keep = self._is_in(target)[neighbor]
            owner, neighbor = owner[keep], neighbor[keep]
        is_new = np.ones(len(owner), np.bool_)  # parallel edges stand side by side
        is_new[1:] = (owner[1:] != owner[:-1]) | (neighbor[1:] != neighbor[:-1])
        counts = np.bincount(owner[is_new], minlength=len(self._graph))
        return counts[rows].astype(np.float64)

    def _is_in(self, nodes: NodeSet) -> NDArray[np.bool_]:
        mask = np.zeros(len(self._graph), np.bool_)
        mask[self.rows(nodes)] = True
        return mask

    def _mask(self, kinds: tuple[int, ...]) -> NDArray[np.bool_]:
        edges = self._arrays.types.edges
        mask = np.zeros(2 * len(edges), np.bool_)
        mask[list(kinds)] = True
        for kind in kinds:  # an edge without a direction is stored once, and leads both ways
            if edges[kind >> 1] in self._graph.schema.symmetric:
                mask[kind ^ 1] = True
        return mask

    # -------------------------------------------------------------------------------------------------------- measures

    def measured(self, rows: Rows, measure: Measure) -> NDArray[np.float64]:
        """Return what is measured of each row: (rows,); NaN where it has no value."""
        if measure.target is not None:
            return self.counts(rows, measure.kinds, measure.target)
        assert measure.property is not None
        return self._arrays.properties.numbers(measure.property, rows)

    def _front(self, rows: Rows, best: Best) -> tuple[Rows, int]:
        """Return the rows with the most or the least of a measure, all that tie with the last among them."""
        values = self.measured(rows, best.measure)
        is_present = ~np.isnan(values)
        missing = int(len(values) - is_present.sum())
        rows, values = rows[is_present], values[is_present]
        order = np.lexsort((rows, -values if best.descending else values))
        rows, values = rows[order], values[order]
        if best.skipped:
            if len(rows) <= best.skipped or values[best.skipped - 1] == values[best.skipped]:
                return rows[:0], missing  # nobody has that place alone
            rows, values = rows[best.skipped :], values[best.skipped :]
        if len(rows) > best.first:
            last = values[best.first - 1]
            keep = values >= last if best.descending else values <= last
            rows, values = rows[keep], values[keep]
        return rows, missing

    def meets(self, row: int, condition: Condition) -> bool:
        """Return whether a node meets a condition."""
        return bool(len(self._meeting(np.array([row], np.int32), condition)))

    def witness(self, row: int, condition: Joined) -> list[tuple[int, int]]:
        """Return a way from a node to what a condition names: the kinds of edges and the rows they lead to."""
        entries = self._arrays.adjacency.entries(np.array([row], np.int32), self._mask(condition.kinds))
        keep = self._is_in(condition.target)[entries.neighbor]
        if not keep.any():
            return []
        at = int(np.flatnonzero(keep)[0])
        step = (int(entries.kind[at]), int(entries.neighbor[at]))
        for further in condition.target.conditions:
            if isinstance(further, Joined) and leads(further) and not further.negated:
                return [step, *self.witness(step[1], further)]
        return [step]


_COMPARE: Mapping[str, np.ufunc] = {
    "=": np.equal,
    "!=": np.not_equal,
    "<": np.less,
    "<=": np.less_equal,
    ">": np.greater,
    ">=": np.greater_equal,
}


def leads(condition: Joined) -> bool:
    """Return whether one edge is what a condition asks for, and no number of them."""
    return condition.comparison is None and condition.extent == "some"


def _costliness(condition: Condition) -> int:
    """Return the order in which conditions are met: what leaves few nodes first."""
    if isinstance(condition, Among):
        return int(condition.negated)
    if isinstance(condition, Joined):
        return 3 + (not leads(condition))
    return 2


def _plain(value: float) -> int | float:
    return int(value) if value == int(value) else value
