"""A checked plan run step by step, each step a tool call, under limits of rows and time."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from typing import NamedTuple

import numpy as np

from orienteer.graph.store import Graph
from orienteer.methods.spark.plan import (
    CypherStep,
    ErrorKind,
    FilterStep,
    FindStep,
    IntersectStep,
    LimitStep,
    MatchStep,
    OrderStep,
    PlanFault,
    PlanStep,
    SparkPlan,
    in_words,
    meaning,
    needed,
    puts_in_order,
    reads,
    walks,
)
from orienteer.records import JsonValue, Observation
from orienteer.tools.session import Session
from orienteer.tools.walks import ORDERED, is_date, quantity

MOST_ROWS = 100_000
"""Nodes that a step may leave."""
OVER_RETRIEVAL = 500
"""Nodes of an unordered answer up to which it is a selection; above it the paper's code ranks without the plan."""
HNSW_CANDIDATES = 25
"""Nodes of which `cut` keeps the first ones; the paper's code."""
_JUMP_PERCENTILE, _LEAST_JUMP = 95, 0.01  # the same

Use = Callable[..., Observation]
_ERRORS: Mapping[str, ErrorKind] = {
    "UnknownType": "structure",
    "UnknownProperty": "constraint",
    "UnknownNode": "semantic",
    "AmbiguousNode": "semantic",
}


class PlanOutcome(NamedTuple):
    """The result of a plan."""

    set_name: str | None
    """The session's name of the set that answers; None if the plan gave nothing."""
    rows: tuple[int, ...] = ()
    is_ordered: bool = False
    """The order of the rows is the plan's own."""
    has_edges: bool = False
    """The plan went along edges that it names."""
    trail: str = ""
    """Its steps in words."""
    faults: tuple[PlanFault, ...] = ()
    set_joins: int = 0


class _Ended(Exception):
    """Ends a plan at a step with an empty result."""

    def __init__(self, kind: ErrorKind, text: str) -> None:
        super().__init__(text)
        self.kind = kind


class Execution:
    """One run of a plan in one session. `use` runs a tool, so that the caller records the calls."""

    def __init__(
        self, graph: Graph, session: Session, use: Use, *, seconds: float, has_vectors: bool, cut: bool = False
    ) -> None:
        self._graph, self._session, self._use = graph, session, use
        self._seconds, self._has_vectors, self._cut = seconds, has_vectors, cut
        self._sets: dict[str, str] = {}
        """The session's name of each set of the plan."""
        self._ordered: dict[str, bool] = {}
        self._joins = 0

    def run(self, plan: SparkPlan) -> PlanOutcome:
        """Run the steps that the answer comes from, to the end or to the first that leaves nothing."""
        steps = needed(plan)
        has_edges, trail = any(map(walks, steps)), ", ".join(map(in_words, steps))
        for step in steps:
            try:
                self._timed(step)
            except _Ended as ended:
                fault = PlanFault(ended.kind, f"step {plan.steps.index(step) + 1} ({step.op}): {ended}")
                return PlanOutcome(None, has_edges=has_edges, trail=trail, faults=(fault,), set_joins=self._joins)
        name = self._sets[plan.answer]
        rows = tuple(self._session.ranked(name, []))
        is_ordered = self._ordered[plan.answer]
        faults: tuple[PlanFault, ...] = ()
        # The first of an order are a selection, however many follow.
        if len(rows) > OVER_RETRIEVAL and not is_ordered:
            text = f"the plan's answer holds {len(rows):,} nodes, more than {OVER_RETRIEVAL}"
            faults = (PlanFault("over-retrieval", text),)
        return PlanOutcome(name, rows, is_ordered, has_edges, trail, faults, self._joins)

    def _timed(self, step: PlanStep) -> None:
        started = time.monotonic()
        name = self._run(step)
        spent = time.monotonic() - started
        # The engine stops Cypher at a limit of its own; the copy made first, and other questions' turns, do not count.
        if spent > self._seconds and not isinstance(step, CypherStep):
            raise _Ended("plan", f"it took {spent:.1f} s, more than {self._seconds:g}")
        size = len(self._session.rows(name, []))
        if size > MOST_ROWS:
            raise _Ended("over-retrieval", f"it leaves {size:,} nodes, more than {MOST_ROWS:,}")
        if not size:
            raise _Ended(_kind_of_nothing(step), "it leaves no node")
        self._sets[step.into] = name
        keeps_order = isinstance(step, FilterStep | LimitStep | IntersectStep)  # that of the first set it reads
        self._ordered[step.into] = puts_in_order(step) or (keeps_order and self._ordered.get(reads(step)[0], False))

    def _run(self, step: PlanStep) -> str:
        """Run a step and return the session's name of its result. Raises `_Ended`."""
        if isinstance(step, FindStep):
            return self._find(step)
        if isinstance(step, CypherStep):
            return self._call(step, "cypher", query=step.query, k=1)
        if isinstance(step, MatchStep):
            return self._match(step)
        if isinstance(step, IntersectStep):
            self._joins += len(step.of) - 1
            return self._call(step, "select", of=[self._set(step, name) for name in step.of])
        if isinstance(step, FilterStep):
            condition = {"property": step.property, "comparison": step.comparison, "value": step.value}
            return self._call(step, "select", **self._base(step.of), where=[condition])
        if isinstance(step, OrderStep):
            order: dict[str, JsonValue] = {"descending": step.descending}
            order |= _options(step, "property", "aggregate", "direction", "edge_types", "node_types")
            return self._call(step, "select", **self._base(step.of), order=order)
        return self._call(step, "select", **self._base(step.of), limit=step.k)

    def _find(self, step: FindStep) -> str:
        is_dense = step.op == "vector_search" and self._has_vectors
        wants_cut = self._cut and is_dense
        arguments: dict[str, JsonValue] = {"query": step.query, "k": HNSW_CANDIDATES if wants_cut else step.k}
        arguments |= _options(step, "node_types")
        if step.of is not None:
            arguments["among"] = self._sets[step.of]
        if self._has_vectors:
            arguments["mode"] = "dense" if is_dense else "lexical"
        name = self._call(step, "search_in_graph", **arguments)
        # Without a budget to embed the query there is nothing to cut by.
        if not wants_cut or self._session.payment.unpaid:
            return name
        rows = np.array(self._session.ranked(name, []), np.int32)
        count = before_jump(self._graph.arrays.searcher("dense").scores(step.query, rows).tolist())
        return name if count == len(rows) else self._call(step, "select", of=[name], limit=count)

    def _match(self, step: MatchStep) -> str:
        start = self._set(step, step.start)
        if len(step.edge_types) > 1 or len(step.node_types) > 1:
            options = _options(step, "edge_types", "node_types", "direction")
            return self._call(step, "search_in_neighborhood", node=start, k=1, **options)
        types = {"edge": step.edge_types, "type": step.node_types}
        hop: dict[str, JsonValue] = {name: names[0] for name, names in types.items() if names}
        return self._call(step, "follow", start=start, steps=[hop | _options(step, "direction")], k=1)

    def _base(self, name: str) -> dict[str, JsonValue]:
        """Return the arguments with which a `select` begins."""
        kind = meaning(self._graph, name, self._sets)
        if kind == "set":
            return {"of": [self._sets[name]]}
        return {"node_types": [name]} if kind == "type" else {"named": name}

    def _set(self, step: PlanStep, name: str) -> str:
        """Return the session's name of the set that a name means; a type or a node becomes a set here."""
        if name in self._sets:
            return self._sets[name]
        start = self._call(step, "select", **self._base(name))
        size = len(self._session.rows(start, []))
        if size > MOST_ROWS:
            raise _Ended("over-retrieval", f"{name!r} is {size:,} nodes, more than {MOST_ROWS:,}: begin with a search")
        return start

    def _call(self, step: PlanStep, tool: str, **arguments: JsonValue) -> str:
        """Run a tool and return the session's name of the set that it made. Raises `_Ended` if it made none."""
        sets = len(self._session.sets)
        observation = self._use(tool, **arguments)
        if observation.error is not None:
            raise _Ended(_ERRORS.get(observation.error, "plan"), f"{observation.text.splitlines()[0][:300]}")
        if len(self._session.sets) == sets:
            raise _Ended(_kind_of_nothing(step), "it finds nothing")
        name = f"@{len(self._session.sets)}"
        if self._graph.arrays.ids.find(name) is not None:
            raise _Ended("plan", f"a node of this graph is called {name}, as its set would be")
        return name


def before_jump(scores: list[float]) -> int:
    """Return the number of scores, best first, before the first wide gap, or of all scores.

    A gap is wide from 0.01 and from the 95th percentile of all gaps on, as in the paper's code.
    """
    gaps = -np.diff(np.array(scores))
    if not len(gaps):
        return len(scores)
    wide = np.flatnonzero((gaps >= np.percentile(gaps, _JUMP_PERCENTILE)) & (gaps >= _LEAST_JUMP))
    return int(wide[0]) + 1 if len(wide) else len(scores)


def _options(step: PlanStep, *names: str) -> dict[str, JsonValue]:
    """Return the fields of a step that are set, as a tool takes them."""
    values = ((name, getattr(step, name)) for name in names)
    return {name: list(value) if isinstance(value, tuple) else value for name, value in values if value}


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
