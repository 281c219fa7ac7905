"""A checked plan run as sets of the query algebra, step by step, under limits of rows and time.

Searches and Cypher are tool calls; the caller records them. Every other step is one operation on the sets before it.
"""

from __future__ import annotations

import time
from collections import defaultdict
from collections.abc import Callable, Collection, Mapping, Sequence
from typing import NamedTuple, cast

import numpy as np
from numpy.typing import NDArray

from orienteer.errors import BadOption, QueryStopped
from orienteer.graph.store import Graph
from orienteer.methods.spark.plan import (
    Aggregate,
    CombineStep,
    CypherStep,
    ErrorKind,
    FilterStep,
    FindStep,
    LimitStep,
    MatchStep,
    OrderStep,
    PlanFault,
    PlanStep,
    Refused,
    SparkPlan,
    in_words,
    meaning,
    needed,
    puts_in_order,
    reads,
    walks,
)
from orienteer.query.budget import Budget
from orienteer.query.columns import Numbers
from orienteer.query.likeness import ORDERED, is_date, quantity, sort_places
from orienteer.query.plan import Among, Both, Either, Every, Hop, Leads, Meets, NodeSet, Without
from orienteer.query.proof import Witness, witness
from orienteer.query.sets import Sets, both, turned
from orienteer.query.store import Store
from orienteer.records import Direction, JsonValue, Observation
from orienteer.text.sentences import one_line, value_text
from orienteer.tools.session import Session, aside

MOST_ROWS = 100_000
"""Nodes that a step may leave."""
OVER_RETRIEVAL = 500
"""Nodes of an unordered answer up to which it is a selection; above it the paper's code ranks without the plan."""
HNSW_CANDIDATES = 25
"""Nodes of which `cut` keeps the first ones; the paper's code."""
_JUMP_PERCENTILE, _LEAST_JUMP = 95, 0.01  # the same
_SHOWN = 60  # characters of a query in a proof

Use = Callable[..., Observation]
_ERRORS: Mapping[str, ErrorKind] = {
    "UnknownType": "structure",
    "UnknownProperty": "constraint",
    "UnknownNode": "semantic",
    "AmbiguousNode": "semantic",
}


class PlanOutcome(NamedTuple):
    """The result of a plan."""

    rows: Sequence[int] | None
    """The nodes of the set that answers, best first; None if the plan came to no end."""
    is_ordered: bool = False
    """The order of the rows is the plan's own."""
    has_edges: bool = False
    """The plan went along edges that it names."""
    trail: str = ""
    """Its steps in words."""
    faults: tuple[PlanFault, ...] = ()
    set_joins: int = 0
    is_whole: bool = False
    """No search for the best so many, and no limit without an order, has cut the set or what it was made of."""


class _Made(NamedTuple):
    """What a step has made."""

    nodes: NodeSet
    rows: Numbers
    """The same set, (n,), in its order."""
    is_ordered: bool = False
    """The order is one that the plan asks for."""


class Execution:
    """One run of a plan in one session. `use` runs a tool, so that the caller records the calls."""

    def __init__(
        self,
        graph: Graph,
        session: Session,
        use: Use,
        *,
        seconds: float,
        has_vectors: bool,
        cut: bool = False,
    ) -> None:
        self._graph, self._session, self._use = graph, session, use
        self._seconds, self._has_vectors, self._cut = seconds, has_vectors, cut
        self._sets = Sets(Store.of(graph), Budget(seconds=seconds))
        self._made: dict[str, _Made] = {}
        self._whole: set[str] = set()
        self._said: dict[NodeSet, str] = {}
        self._answer: NodeSet = Every()
        self._joins = 0

    def run(self, plan: SparkPlan) -> PlanOutcome:
        """Run the steps that the answer comes from, to the end or to the first that leaves nothing."""
        steps, may_be_empty = needed(plan), _may_be_empty(plan)
        has_edges, trail = any(map(walks, steps)), ", ".join(map(in_words, steps))
        for step in steps:
            try:
                self._made[step.into] = self._timed(step, may_be_empty)
                if self._is_whole(step):
                    self._whole.add(step.into)
            except Refused as refused:
                fault = PlanFault(refused.kind, f"step {plan.steps.index(step) + 1} ({step.op}): {refused}")
                return PlanOutcome(None, has_edges=has_edges, trail=trail, faults=(fault,), set_joins=self._joins)
        made = self._made[plan.answer]
        self._answer = made.nodes
        faults: tuple[PlanFault, ...] = ()
        # The first of an order are a selection, however many follow; and a number needs none.
        if len(made.rows) > OVER_RETRIEVAL and not made.is_ordered and plan.give == "nodes":
            text = f"the plan's answer holds {len(made.rows):,} nodes, more than {OVER_RETRIEVAL}"
            faults = (PlanFault("over-retrieval", text),)
        is_whole = plan.answer in self._whole
        return PlanOutcome(made.rows.tolist(), made.is_ordered, has_edges, trail, faults, self._joins, is_whole)

    def proof(self, row: int) -> Witness:
        """Return why a node is in the answer of the plan that ran. Raises `QueryStopped`."""
        return witness(self._sets, row, self._answer)

    def allow(self) -> None:
        """Give what follows the time of one step."""
        self._sets.budget = Budget(seconds=self._seconds)

    def said(self, nodes: NodeSet) -> str:
        """Return in words what a step has found or left out, for a proof."""
        return self._said.get(nodes, "named in the plan")

    def _timed(self, step: PlanStep, may_be_empty: Collection[str]) -> _Made:
        started = time.monotonic()
        self.allow()
        try:
            made = self._run(step)
        except (QueryStopped, BadOption) as stopped:
            raise Refused("plan", stopped.public) from stopped
        spent = time.monotonic() - started
        # Cypher has a limit of its own, and the turns of other questions do not count.
        if spent > self._seconds and not isinstance(step, CypherStep):
            raise Refused("plan", f"it took {spent:.1f} s, more than {self._seconds:g}")
        size = len(made.rows)
        if size > MOST_ROWS:
            raise Refused("over-retrieval", f"it leaves {size:,} nodes, more than {MOST_ROWS:,}")
        if not size and step.into not in may_be_empty:
            raise Refused(_kind_of_nothing(step), "it leaves no node")
        return made

    def _run(self, step: PlanStep) -> _Made:
        """Run a step. Raises `Refused`, `QueryStopped`, `BadOption`."""
        if isinstance(step, FindStep):
            return self._leaf(step, self._find(step))
        if isinstance(step, CypherStep):
            ids = self._graph.arrays.ids
            params: dict[str, JsonValue] = {name: [ids[row] for row in self._set(name).rows] for name in reads(step)}
            rows = self._call(step, "cypher", query=step.query, k=1, **({"params": params} if params else {}))
            return self._leaf(step, rows)._replace(is_ordered=puts_in_order(step))
        if isinstance(step, MatchStep):
            return self._match(step)
        if isinstance(step, CombineStep):
            return self._combined(step)
        base = self._base(step.of)
        if isinstance(step, OrderStep):
            return base._replace(rows=self._ordered(base.rows, step), is_ordered=True)
        if isinstance(step, LimitStep):
            first = self._leaf(step, base.rows[: step.k].tolist())
            self._said[first.nodes] = f"one of the first {step.k}"
            return first._replace(nodes=Both((base.nodes, first.nodes)), is_ordered=base.is_ordered)
        # True is no 1 here, as it would be in the key of a set.
        is_text = isinstance(step.value, bool) or step.comparison == "contains"
        wanted = value_text(step.value) if is_text else step.value
        return self._kept(base, Both((base.nodes, Meets(step.property, step.comparison, wanted))))

    def _is_whole(self, step: PlanStep) -> bool:
        """Return whether the set that a step has made is cut nowhere: a search may give all of a name, and no more."""
        made = self._made[step.into]
        if isinstance(step, FindStep):
            return set(self._named(step)) == set(made.rows.tolist())
        if isinstance(step, CypherStep):
            return self._session.are_whole([f"@{len(self._session.sets)}"])
        if isinstance(step, LimitStep) and not made.is_ordered:
            return False
        return all(name in self._whole or name not in self._made for name in reads(step))

    def _named(self, step: FindStep) -> list[int]:
        """Return the nodes of just the name that a search by words asks for, of its types, in its set."""
        if step.op != "lexical_search":
            return []
        types = self._types(step.node_types) or None
        within = None if step.of is None else set(self._made[step.of].rows.tolist())
        node_types = self._graph.arrays.node_types
        named = [row for row in self._graph.arrays.candidates(step.query) if within is None or row in within]
        return [row for row in named if types is None or int(node_types[row]) in types]

    def _kept(self, base: _Made, nodes: NodeSet) -> _Made:
        """Return a part of a set, in its order."""
        return _Made(nodes, base.rows[np.isin(base.rows, self._sets.rows(nodes))], base.is_ordered)

    def _leaf(self, step: PlanStep, rows: Sequence[int]) -> _Made:
        """Return rows that are there already as what a step has made."""
        nodes = Among(tuple(rows))
        self._said[nodes] = " ".join(filter(None, (step.op, one_line(getattr(step, "query", ""), _SHOWN))))
        return _Made(nodes, np.array(rows, np.int64))

    def _find(self, step: FindStep) -> Sequence[int]:
        is_dense = step.op == "vector_search" and self._has_vectors
        wants_cut = self._cut and is_dense
        arguments: dict[str, JsonValue] = {"query": step.query, "k": HNSW_CANDIDATES if wants_cut else step.k}
        if step.node_types:
            arguments["node_types"] = list(step.node_types)
        if self._has_vectors:
            arguments["mode"] = "dense" if is_dense else "lexical"
        if step.of is None:
            rows = self._call(step, "search_in_graph", **arguments)
        else:
            with aside(self._session, np.sort(self._made[step.of].rows).astype(np.int32)) as among:
                rows = self._call(step, "search_in_graph", **arguments, among=among)
        if named := self._named(step):
            rows = tuple(dict.fromkeys((*named, *rows)))[: max(step.k, len(named))]
        # Without a budget to embed the query there is nothing to cut by.
        if not wants_cut or self._session.payment.unpaid or not rows:
            return rows
        scores = self._graph.arrays.searcher("dense").scores(step.query, np.array(rows, np.int32)).tolist()
        return rows[: before_jump(scores)]

    def _call(self, step: PlanStep, tool: str, **arguments: JsonValue) -> Sequence[int]:
        """Run a tool and return the rows that it found, best first. Raises `Refused` if it failed."""
        sets = len(self._session.sets)
        observation = self._use(tool, **arguments)
        if observation.error is not None:
            raise Refused(_ERRORS.get(observation.error, "plan"), f"{observation.text.splitlines()[0][:300]}")
        if len(self._session.sets) == sets:
            return []
        name = f"@{len(self._session.sets)}"
        if self._graph.arrays.ids.find(name) is not None:
            raise Refused("plan", f"a node of this graph is called {name}, as its set would be")
        return self._session.ranked(name, [])

    def _match(self, step: MatchStep) -> _Made:
        start, hop = self._set(step.start), self._hop(step.edge_types, step.direction)
        reached = Leads(turned(hop), start.nodes)
        self._sets.rows(reached)  # before the types: a database in place has to send all nodes of those
        nodes = both(Every(self._types(step.node_types)), reached)
        rows = self._sets.rows(nodes)
        if len(step.edge_types) > 1 or len(step.node_types) > 1:
            return _Made(nodes, rows)
        _, far, edges = self._pairs(start.rows, hop)
        size = int(max(rows.max(initial=0), far.max(initial=0))) + 1
        touching, walked = np.bincount(far, minlength=size), np.bincount(far, edges, minlength=size)
        # What most nodes of the start lead to comes first, then what most edges do.
        return _Made(nodes, rows[np.lexsort((-walked[rows], -touching[rows]))])

    def _combined(self, step: CombineStep) -> _Made:
        first, *others = (self._set(name) for name in step.of)
        self._joins += len(others)
        parts = tuple(other.nodes for other in others)
        if step.op == "union":
            rows = np.concatenate([first.rows, *(other.rows for other in others)])
            return _Made(Either((first.nodes, *parts)), rows[np.sort(np.unique(rows, return_index=True)[1])])
        if step.op == "intersect":
            return self._kept(first, Both((first.nodes, *parts)))
        nodes = Without(first.nodes, Either(parts))
        self._said[nodes] = f"not in {', '.join(step.of[1:])}"
        return self._kept(first, nodes)

    def _base(self, name: str) -> _Made:
        """Return the set that a name means; a type or a node is one."""
        kind = meaning(self._graph, name, self._made)
        if kind == "set":
            return self._made[name]
        named = Among(tuple(self._graph.arrays.candidates(name)))
        nodes = Every(self._types(self._session.node_types([name], []))) if kind == "type" else named
        return _Made(nodes, self._sets.rows(nodes))

    def _set(self, name: str) -> _Made:
        """Return what a name means, unless it is a type of too many nodes. Raises `Refused`."""
        made = self._base(name)
        if len(made.rows) > MOST_ROWS:
            text = f"{name!r} is {len(made.rows):,} nodes, more than {MOST_ROWS:,}: begin with a search"
            raise Refused("over-retrieval", text)
        return made

    def _types(self, names: Collection[str]) -> frozenset[int]:
        return frozenset(self._graph.arrays.types.node_numbers(names))

    def _hop(self, edge_types: Collection[str], direction: Direction | None) -> Hop:
        """Return edges of these types, seen from where they are walked from."""
        kinds = self._graph.arrays.kind_mask(edge_types or None, direction)
        return Hop(frozenset() if kinds is None else frozenset(np.flatnonzero(kinds).tolist()))

    def _pairs(self, rows: Numbers, hop: Hop) -> tuple[Numbers, Numbers, Numbers]:
        """Return the distinct pairs of a place among the rows and a node that a hop leads to, each with its edges.

        Three aligned arrays, (pairs,).
        """
        parts = [walked.near << 32 | walked.far for walked in self._sets.store.around(rows, hop, self._sets.budget)]
        pairs, edges = np.unique(np.concatenate([np.zeros(0, np.int64), *parts]), return_counts=True)
        return pairs >> 32, pairs & 0xFFFFFFFF, edges

    def _ordered(self, rows: Numbers, step: OrderStep) -> Numbers:
        store, budget = self._sets.store, self._sets.budget
        if step.aggregate is None:
            values = store.values(cast(str, step.property), rows, budget)
            return rows[np.array(sort_places(values, descending=step.descending), np.intp)]
        near, far, _ = self._pairs(rows, self._hop(step.edge_types, step.direction))
        if step.node_types:
            keep = np.isin(store.node_types[far], list(self._types(step.node_types)))
            near, far = near[keep], far[keep]
        numbers = np.zeros(len(far))
        if step.property:
            distinct, place = np.unique(far, return_inverse=True)
            numbers = np.array(
                [quantity(value) for value in store.values(step.property, distinct, budget)], np.float64
            )[place]
        found = aggregated(near, numbers, len(rows), step.aggregate)
        lowest = np.nan_to_num(-found if step.descending else found, nan=np.inf, posinf=np.inf, neginf=-np.inf)
        return rows[np.argsort(lowest, kind="stable")]


def _may_be_empty(plan: SparkPlan) -> frozenset[str]:
    """Return the sets that may hold no node: what is united or taken away, and whatever is counted but a search."""
    steps = needed(plan)
    if plan.give != "nodes":
        return frozenset(step.into for step in steps if not isinstance(step, FindStep))
    are_needed: dict[str, bool] = defaultdict(bool, {plan.answer: True})
    for step in steps:
        for place, name in enumerate(reads(step)):
            are_needed[name] |= step.op != "union" and (step.op != "difference" or place == 0)
    return frozenset(name for name, is_needed in are_needed.items() if not is_needed)


def aggregated(
    owners: NDArray[np.int64], numbers: NDArray[np.float64], size: int, how: Aggregate
) -> NDArray[np.float64]:
    """Return the aggregate of each owner's numbers: (size,). Without numbers it is NaN, and a count is 0.

    `owners` and `numbers` are (n,) and aligned; an owner is a place from 0 to `size`.
    """
    is_number = ~np.isnan(numbers)
    owners, numbers = owners[is_number], numbers[is_number]
    counts = np.bincount(owners, minlength=size).astype(np.float64)
    if how == "count":
        return counts
    if how in ("sum", "mean"):
        sums = np.bincount(owners, numbers, minlength=size)
        results = sums if how == "sum" else np.divide(sums, counts, out=np.zeros(size), where=counts > 0)
    else:
        results = np.full(size, np.inf if how == "min" else -np.inf)
        (np.minimum if how == "min" else np.maximum).at(results, owners, numbers)
    return np.where(counts > 0, results, np.nan)


def before_jump(scores: list[float]) -> int:
    """Return the number of scores, best first, before the first wide gap, or of all scores.

    A gap is wide from 0.01 and from the 95th percentile of all gaps on, as in the paper's code.
    """
    gaps = -np.diff(np.array(scores))
    if not len(gaps):
        return len(scores)
    wide = np.flatnonzero((gaps >= np.percentile(gaps, _JUMP_PERCENTILE)) & (gaps >= _LEAST_JUMP))
    return int(wide[0]) + 1 if len(wide) else len(scores)


def _kind_of_nothing(step: PlanStep) -> ErrorKind:
    """Return the likely kind of error of an empty step. After the paper's table 7."""
    if isinstance(step, FindStep):
        return "semantic"
    if isinstance(step, MatchStep):
        return "structure"
    if isinstance(step, FilterStep):
        is_measured = step.comparison in ORDERED or not isinstance(step.value, str)
        is_measured = is_measured or is_date(step.value) or not np.isnan(quantity(step.value))
        return "constraint" if is_measured else "semantic"
    return "constraint"
