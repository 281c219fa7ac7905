"""Executes a query of an exact reading over the arrays of a graph, by the algebra of `query`."""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterator, Mapping
from dataclasses import dataclass, replace
from functools import reduce
from itertools import product

import numpy as np
from numpy.typing import NDArray

from orienteer.graph.adjacency import Way, circles_between, shortest_paths
from orienteer.graph.properties import COMPARE, number_of
from orienteer.graph.store import LONGEST_PATH, Graph
from orienteer.index.arrays import Rows
from orienteer.index.bm25 import Mask
from orienteer.query import plan
from orienteer.query.budget import Budget
from orienteer.query.columns import Numbers
from orienteer.query.proof import WalkedStep, Witness, witness
from orienteer.query.sets import Sets, both
from orienteer.query.store import Store, Walked
from orienteer.reading.query import (
    MOST_ENDS,
    PERIODS,
    TEXT,
    Among,
    Best,
    Between,
    Comparison,
    Condition,
    Either,
    ExactQuery,
    Filled,
    Joined,
    Measure,
    NodeSet,
    Told,
    Valued,
    is_of_edges,
    is_of_texts,
    negated,
    path_kinds,
    sets_within,
)
from orienteer.records import JsonValue


def _ordered(condition: Condition) -> Iterator[str]:
    """Yield the properties whose values are to be less or more than a number, or earlier or later than a date."""
    if isinstance(condition, Valued) and isinstance(condition.value, float) and condition.comparison not in ("=", "!="):
        yield condition.property
    for option in condition.options if isinstance(condition, Either) else ():
        for part in option:
            yield from _ordered(part)


_CONTRARY: Mapping[Comparison, Comparison] = {"=": "!=", "!=": "=", "<": ">=", ">=": "<", ">": "<=", "<=": ">"}
_TOTALS: Mapping[str, Callable[[NDArray[np.float64]], np.float64]] = {
    "average": np.mean,
    "sum": np.sum,
    "median": np.median,
}
_DATE = re.compile(r"(?!999[89])\d{4}(-\d\d(-\d\d([T ].*)?)?)?", re.ASCII)  # the last years stand for no date
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
    table: tuple[tuple[JsonValue, float], ...] = ()
    """For each group its value or what it is called, and its number; the largest first, periods in their order."""
    ends: tuple[int, ...] = ()
    """For each group the row of its node, -1 for a value."""


class Executor:
    """Executes queries over one graph."""

    def __init__(self, graph: Graph, mask: Mask | None = None) -> None:
        """Execute over a graph; of what is asked for keep the rows that `mask`, (nodes,), marks."""
        self._graph, self._mask = graph, mask
        self._sets = Sets(Store.of(graph), Budget())
        self.conditions: dict[plan.NodeSet, Condition] = {}
        """The conditions that were compiled, by what they became: a proof is put in words by them."""
        self._compiled: dict[Condition, plan.NodeSet] = {}

    def run(self, query: ExactQuery) -> QueryOutcome:
        """Return the outcome of a query."""
        if query.form == "compare":
            return self._compare(query)
        if query.form == "path":
            return self._path(query)
        rows, missing = self._asked(query.nodes)
        if query.group is not None:
            return self._grouped(query, rows)
        if query.form in ("every", "share", "majority"):
            return self._claimed(query, rows)
        if query.form == "count":
            return _outcome(rows, len(rows))
        if query.form == "test":
            is_untold = not len(rows) and self._is_untold(query.nodes)
            return _outcome(rows, None if is_untold else bool(len(rows)), int(is_untold))
        if query.form in _TOTALS:
            return self._total(query, rows)
        return _outcome(rows, None, missing)

    def measured(self, rows: Collection[int], measure: Measure) -> NDArray[np.float64]:
        """Return what is measured of each row: (rows,); NaN where it has no value."""
        return self._sets.measured(np.array(rows, np.int64), self._measure(measure))

    def incomparable(self, query: ExactQuery) -> Iterator[tuple[str, int]]:
        """Yield the properties whose values are to be less or more than others, and how many of them cannot be.

        Of the nodes that meet whatever else is said, those count whose value is a text beside numbers or dates.
        """
        for nodes in sets_within(query if query.other is None else replace(query, nodes=query.other)):
            for name in dict.fromkeys(name for condition in nodes.conditions for name in _ordered(condition)):
                others = tuple(one for one in nodes.conditions if name not in _ordered(one))
                rows = self._sets.rows(self._set(replace(nodes, conditions=others, best=None)))
                having = self._sets.keep(rows, plan.Has(name))
                if count := int(np.isnan(self._sets.measured(having, plan.Measure(name))).sum()):
                    yield name, count

    def proof(self, row: int, nodes: NodeSet) -> Witness:
        """Return why a node is in a set, its place in a ranking left aside."""
        return witness(self._sets, row, self._set(replace(nodes, best=None)))

    def _asked(self, nodes: NodeSet) -> tuple[Numbers, int]:
        """Return the rows that are asked for, of a superlative those in front, and how many have no value for it."""
        rows = self._sets.rows(self._set(replace(nodes, best=None)))
        if self._mask is not None:
            rows = rows[self._mask[rows]]
        if nodes.best is None:
            return rows, 0
        front, missing = self._sets.front(rows, self._best(plan.Every(), nodes.best))
        if missing and nodes.named and len(rows) <= _PAIR:  # of two, one is not told: nobody can say
            front = rows[:0]
        return front, missing

    def _total(self, query: ExactQuery, rows: Numbers) -> QueryOutcome:
        """Return the average or the sum of a measure, over the nodes that have it."""
        assert query.measure is not None
        _, values = self._numbers(rows, query.measure)
        present = values[~np.isnan(values)]
        if not len(present):
            return _outcome(rows, 0 if query.measure.are_edges else None, len(values))
        total = float(_TOTALS[query.form](present))
        return _outcome(rows, int(total) if total == int(total) else total, len(values) - len(present))

    def _numbers(self, rows: Numbers, measure: Measure) -> tuple[Numbers, NDArray[np.float64]]:
        """Return rows with what is measured of them; where edges have it, a row for each edge: (rows,) or (edges,)."""
        if not is_of_edges(measure):
            return rows, self._sets.measured(rows, self._measure(measure))
        edges = self.edge_values(rows, measure)
        numbers = np.array([number_of(value) for _, value in edges], np.float64)
        return np.array([row for row, _ in edges], np.int64), numbers

    def edge_values(self, rows: Numbers, measure: Measure) -> list[tuple[int, JsonValue]]:
        """Return what edges have for a property that lead from rows to a set, each with its row; None for nothing."""
        assert measure.property is not None
        found = list[tuple[int, JsonValue]]()
        for walked in self._around(rows, _hop(measure), measure.target or NodeSet()):
            values = self._sets.store.read("edge", measure.property, walked.at).values()
            found += zip(rows[walked.near].tolist(), values, strict=True)
        return found

    def _around(self, rows: Numbers, hop: plan.Hop, nodes: NodeSet) -> Iterator[Walked]:
        """Yield the edges of rows that lead to nodes of a set, in parts of about a batch."""
        is_met = self._sets.mask(self._set(nodes))
        for walked in self._sets.store.around(rows, hop, self._sets.budget):
            yield Walked(*(part[is_met[walked.far]] for part in walked))

    def _is_untold(self, nodes: NodeSet) -> bool:
        """Return whether named nodes have no value for a property that they are asked about."""
        named = next((c for c in nodes.conditions if isinstance(c, Among) and not c.negated), None)
        having = (self._sets.rows(plan.Has(one.property)) for one in nodes.conditions if isinstance(one, Valued))
        return named is not None and not all(np.isin(named.rows, rows).any() for rows in having)

    def _groups(self, group: Measure, rows: Numbers) -> dict[str, tuple[JsonValue, int, list[int]]]:
        """Return groups of rows by their names: the value or the node that each has, the node or -1, the members."""
        groups: dict[str, tuple[JsonValue, int, list[int]]] = {}
        if group.property is not None:
            values = self._graph.arrays.properties.values(group.property, rows.astype(np.int32))
            for row, value in zip(rows.tolist(), values, strict=True):
                for item in value if isinstance(value, list) else [value]:
                    if (item := _in_period(item, group.period)) is not None:
                        groups.setdefault(str(item), (item, -1, []))[2].append(row)
        elif group.target is None:
            groups = {(name := self._called(row)): (name, row, [row]) for row in rows.tolist()}
        else:
            pairs = {
                pair
                for walked in self._around(rows.astype(np.int64), _hop(group), group.target)
                for pair in zip(walked.far.tolist(), rows[walked.near].tolist(), strict=True)
            }
            for far, row in sorted(pairs):
                groups.setdefault(name := self._called(far), (name, far, []))[2].append(row)
        return groups

    def _grouped(self, query: ExactQuery, rows: Numbers) -> QueryOutcome:
        """Return a number for each group: of its distinct nodes, or the average or sum of what they have."""
        assert query.group is not None
        groups = self._groups(query.group, rows)
        table, told = [], set[int]()
        for name, (_, end, own) in groups.items():
            if (measure := _of_group(query, end)) is None:
                told.update(own)
                table.append((name, float(len(set(own)))))
                continue
            having, numbers = self._numbers(np.unique(own).astype(np.int64), measure)
            told.update(having[~np.isnan(numbers)].tolist())
            numbers = numbers[~np.isnan(numbers)]
            if len(numbers) and not (measure.are_edges and not numbers.any()):
                table.append((name, float(_TOTALS[query.form](numbers))))
        ordered = sorted(table, key=lambda group: (-group[1] if query.descending else group[1], group[0]))
        missing = len(rows) - len(told)
        if query.group.period and query.first is None:
            ordered.sort()
        if query.first is not None:
            ordered = [
                one for at, one in enumerate(ordered) if at < query.first or one[1] == ordered[query.first - 1][1]
            ]
            rows = np.unique([row for name, _ in ordered for row in groups[name][2]])
        numbered = tuple((groups[name][0], number) for name, number in ordered)
        ends = tuple(groups[name][1] for name, _ in ordered)
        return QueryOutcome(rows.astype(np.int32), None, missing, numbered, ends)

    def _called(self, row: int) -> str:
        """Return a node's name, with its id where others of its type are called so."""
        arrays = self._graph.arrays
        name, kind = arrays.names[row], arrays.node_types[row]
        namesakes = [link.row for link in arrays.name_index.called(name) if arrays.node_types[link.row] == kind]
        return name if len(namesakes) < 2 else f"{name} ({arrays.ids[row]})"

    def _path(self, query: ExactQuery) -> QueryOutcome:
        """Return the nodes of a shortest path between two sets, in its order; none if all are too long."""
        assert query.other is not None
        found = (
            path
            for start, end in self._ends(query.nodes, query.other)
            for path in shortest_paths(
                self._sets.store.adjacency, start, end, most_edges=LONGEST_PATH, k=1, step=self._step(start, end)
            )
        )
        return _outcome(np.array(min(found, key=len, default=()), np.int64))

    def _ends(self, near: NodeSet, far: NodeSet) -> Iterator[tuple[int, int]]:
        """Return the ends of paths between two sets."""
        return product(*(self._sets.rows(self._set(nodes)).tolist()[:MOST_ENDS] for nodes in (near, far)))

    def _step(self, *ends: int) -> Way:
        """Return how paths between ends go on."""
        adjacency = self._sets.store.adjacency
        mask = np.isin(np.arange(2 * len(self._graph.arrays.types.edges)), path_kinds(self._graph, ends))
        return adjacency.other_ends if mask.all() else lambda rows: adjacency.entries(rows, mask).neighbor

    def _compare(self, query: ExactQuery) -> QueryOutcome:
        assert query.other is not None
        assert query.measure is not None
        sides = [self._sets.rows(self._set(nodes)) for nodes in (query.nodes, query.other)]
        measured = [self._sets.measured(rows, self._measure(query.measure)) for rows in sides]
        values, others = (numbers[~np.isnan(numbers)] for numbers in measured)  # of namesakes, those that have it
        rows = np.union1d(*sides)
        if len(values) != 1 or len(others) != 1:
            return _outcome(rows, None, 1)
        return _outcome(rows, bool(values[0] > others[0] if query.descending else values[0] < others[0]))

    def _claimed(self, query: ExactQuery, rows: Numbers) -> QueryOutcome:
        """Return whether all nodes of a set meet further conditions, or most of them; or how many in a hundred do.

        Where not all do, the rows are those that do not. Nothing is told where the nodes that have no value might
        decide it; nor of a set without nodes.
        """
        meeting, failed = rows, rows[:0]
        for condition in query.claimed:
            meeting = self._sets.keep(meeting, self._condition(condition))
            failed = np.union1d(failed, self._sets.keep(rows, self._condition(negated(condition))))
        untold = len(rows) - len(np.union1d(meeting, failed))
        if query.form == "share":
            return _outcome(meeting, 100 * len(meeting) / len(rows) if len(rows) else None, untold)
        if query.form == "majority" and len(rows):
            is_most, may_be = 2 * len(meeting) > len(rows), 2 * (len(meeting) + untold) > len(rows)
            return _outcome(meeting, is_most if is_most == may_be else None, untold)
        if len(failed):
            return _outcome(failed, False)
        if not len(rows) or len(meeting) < len(rows):
            return _outcome(rows, None, len(rows) - len(meeting))
        return _outcome(rows, True)

    # What the records of a reading are in the algebra.

    def _set(self, nodes: NodeSet) -> plan.NodeSet:
        base = both(plan.Every(nodes.types), *map(self._condition, nodes.conditions))
        return base if nodes.best is None else self._best(base, nodes.best)

    def _best(self, base: plan.NodeSet, best: Best) -> plan.Best:
        return plan.Best(base, self._measure(best.measure), best.descending, best.first, best.skipped)

    def _measure(self, measure: Measure) -> plan.Measure:
        if measure.target is None:
            return plan.Measure(measure.property)
        return plan.Measure(None, _hop(measure), self._set(measure.target), measure.are_edges)

    def _condition(self, condition: Condition) -> plan.NodeSet:
        """Return the nodes that meet a condition; of one that is denied, those that are known not to meet it."""
        if condition not in self._compiled:  # a proof asks anew for each hit
            self._compiled[condition] = self._denied(condition) if condition.negated else self._met(condition)
        nodes = self._compiled[condition]
        self.conditions[nodes] = condition
        return nodes

    def _met(self, condition: Condition) -> plan.NodeSet:
        match condition:
            case Among(rows=rows):
                return plan.Among(tuple(rows))
            case Filled(property=name):
                return plan.Has(name)
            case Valued(property=name, comparison="contains", value=str(value)):
                return plan.Meets(name, "contains", value)
            case Valued(value=Told()):
                return self._beside(condition)
            case Valued():
                return _compared(condition)
            case Between():
                return plan.Among(tuple(self._between(condition)))
            case Either(options=options):
                return plan.Either(tuple(both(*map(self._condition, option)) for option in options))
        return self._led(condition)

    def _led(self, condition: Joined) -> plan.NodeSet:
        """Return the nodes that a relation leads from, as it says."""
        if condition.also:  # edges of several sorts lead to one node
            near = self._sets.rows(plan.Leads(_hop(condition), self._set(condition.target)))
            places = np.unique(self._shared(near, condition) // len(self._graph.arrays.names))
            return plan.Among(tuple(near[places].tolist()))
        hop, target = _hop(condition), self._set(condition.target)
        if condition.extent != "some":
            within = plan.Every(condition.target.types) if condition.extent == "only" else None
            return plan.Covering(hop, target, within)
        if condition.comparison is not None:
            return plan.Counted(hop, target, condition.comparison, condition.number, condition.are_edges)
        return plan.Leads(hop, target, most=0 if condition.is_far else 1)

    def _denied(self, condition: Condition) -> plan.NodeSet:
        if isinstance(condition, Either):
            # Some part of every option does not hold.
            options = (plan.Either(tuple(self._condition(negated(part)) for part in o)) for o in condition.options)
            return both(*options)
        if isinstance(condition, Joined) and condition.comparison is not None:
            # `not fewer than 2` has edges to show, as `at least 2` has.
            return self._met(replace(condition, negated=False, comparison=_CONTRARY[condition.comparison]))
        # A node without a value is not known to differ; nor is one whose value is a text beside numbers or dates.
        if isinstance(condition, Valued) and any(_ordered(condition)):
            either = (self._condition(replace(condition, comparison=one, negated=False)) for one in ("<", ">="))
            return plan.Without(plan.Either(tuple(either)), self._met(negated(condition)))
        if isinstance(condition, Valued) and isinstance(condition.value, Told):
            is_text = is_of_texts(self._graph, condition.value.property)
            ways: tuple[Comparison, ...] = ("=", "!=") if is_text else ("<", ">=")  # whatever is told of both
            told = plan.Either(tuple(self._beside(replace(condition, comparison=one)) for one in ways))
            return plan.Without(told, self._beside(condition))
        base: plan.NodeSet = plan.Every()
        if isinstance(condition, Valued) and condition.property in self._graph.arrays.properties.names:
            base = plan.Has(condition.property)
        elif isinstance(condition, Valued) and condition.property == TEXT:
            base = plan.Meets(TEXT, "contains", "")  # all nodes with texts
        return plan.Without(base, self._met(negated(condition)))

    def _between(self, condition: Between) -> list[int]:
        """Return the rows on the shortest paths between two sets, those of the sets left out."""
        adjacency, found = self._sets.store.adjacency, dict[int, set[int]]()
        for start, end in self._ends(condition.near, condition.far):
            step = self._step(start, end)
            circles = circles_between(adjacency, start, end, on=step, back=step, most=LONGEST_PATH)
            if circles is None:
                continue
            passed = [circles.meeting]
            for rings in circles.rings:
                nodes = circles.meeting
                for ring in reversed(rings[:-1]):
                    nodes = np.intersect1d(step(nodes), ring)
                    passed.append(nodes)
            length = len(circles.rings[0]) + len(circles.rings[1])
            found.setdefault(length, set()).update({row for nodes in passed for row in nodes.tolist()} - {start, end})
        return sorted(found[min(found)]) if found else []

    def _shared(self, near: Numbers, condition: Joined) -> NDArray[np.int64]:
        """Return the place of a row times the number of nodes, + a node that all sorts of edges lead to; ascending."""
        size, ways = len(self._graph.arrays.names), list[NDArray[np.int64]]()
        for hop in _hops(condition):
            parts = self._around(near, hop, condition.target)
            ends = [walked.near.astype(np.int64) * size + walked.far for walked in parts]
            ways.append(np.concatenate([np.zeros(0, np.int64), *ends]))
        return reduce(np.intersect1d, ways)

    def shared(self, row: int, condition: Joined) -> list[WalkedStep]:
        """Return the edges from a node to one node that all sorts of a condition lead to; none where there are."""
        near, store = np.array([row], np.int64), self._sets.store
        shared, steps = self._shared(near, condition)[:1], list[WalkedStep]()
        for hop in _hops(condition) if len(shared) else ():
            for walked in store.around(near, hop, self._sets.budget):
                at = walked.at[walked.far == shared[0]][:1].tolist()
                steps += (WalkedStep(int(store.adjacency.kind[one]), one, int(shared[0])) for one in at)
        return steps

    def _beside(self, condition: Valued) -> plan.NodeSet:
        """Return the nodes whose value compares so with one that the graph tells; none of those without either."""
        told = condition.value
        assert isinstance(told, Told)
        rows, properties = self._sets.rows(self._set(told.nodes)), self._sets.store.properties
        if not told.kinds:
            values = self._sets.measured(rows, plan.Measure(told.property))
            values = values[~np.isnan(values)]
            if not len(values) and told.form == "value":
                texts = {_text(one) for one in properties.values(told.property, rows.astype(np.int32))} - {""}
                if len(texts) == 1:
                    return _compared(replace(condition, value=texts.pop()))
            if not len(values) or (told.form == "value" and len(np.unique(values)) > 1):
                return plan.Among(())
            value = float(_TOTALS["average" if told.form == "value" else told.form](values))
            return _compared(replace(condition, value=value))
        own, hop = self._sets.rows(plan.Has(condition.property)), plan.Hop(frozenset(told.kinds))
        codes = dict[str, float]({"": np.nan})

        def read(name: str, rows: Numbers) -> NDArray[np.float64]:
            if not is_of_texts(self._graph, told.property):
                return properties.numbers(name, rows.astype(np.int32))
            texts = map(_text, properties.values(name, rows.astype(np.int32)))
            return np.array([codes.setdefault(text, len(codes)) for text in texts], np.float64)

        numbers = read(condition.property, own)
        meeting = np.zeros(len(own), np.bool_)
        for walked in self._around(own, hop, told.nodes):
            others = read(told.property, walked.far)
            with np.errstate(invalid="ignore"):
                is_met = COMPARE[condition.comparison](numbers[walked.near], others) & ~np.isnan(numbers[walked.near])
            meeting[walked.near[is_met & ~np.isnan(others)]] = True
        return plan.Among(tuple(own[meeting].tolist()))


def _in_period(value: JsonValue, period: str) -> JsonValue:
    """Return the year, month or day of a date, or a value as it is; None for what tells no such."""
    if not period or value is None:
        return value
    text = str(int(value)) if isinstance(value, float) and value == int(value) else str(value)
    is_told = _DATE.fullmatch(text) is not None and not np.isnan(number_of(value))
    return text[: PERIODS[period]] if is_told and len(text) >= PERIODS[period] else None


def _of_group(query: ExactQuery, end: int) -> Measure | None:
    """Return what is measured for a group: the fees of a club's members are those for it, not for their other clubs."""
    group, measure = query.group, query.measure
    if group is None or measure is None or not is_of_edges(measure) or set(group.kinds).isdisjoint(measure.kinds):
        return measure
    return replace(measure, target=(measure.target or NodeSet()).that(Among((end,))))


def _text(value: JsonValue) -> str:
    """Return a text as it is compared; empty for what is none."""
    return str(value).casefold() if isinstance(value, str | bool) else ""


def _hops(condition: Joined) -> list[plan.Hop]:
    """Return the sorts of edges that lead to one node, as they are said."""
    return [*(plan.Hop(frozenset(kinds)) for kinds in condition.also), _hop(condition)]


def _hop(edges: Joined | Measure) -> plan.Hop:
    """Return the edges that a relation goes by, with what they are to meet."""
    where = (plan.Without(plan.Every(), _compared(one)) if one.negated else _compared(one) for one in edges.where)
    return plan.Hop(frozenset(edges.kinds), tuple(where))


def _compared(condition: Valued) -> plan.Compared:
    assert condition.comparison != "contains", "texts within texts are met, and not compared"
    assert not isinstance(condition.value, Told), "a value that is told is compared by the rows"
    return plan.Compared(condition.property, condition.comparison, condition.value)


def _outcome(rows: Numbers, value: int | float | bool | None = None, missing: int = 0) -> QueryOutcome:
    return QueryOutcome(rows.astype(np.int32), value, missing)
