"""A checked plan run step by step, each step a tool call, under limits of rows and time."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from typing import NamedTuple

import numpy as np

from orienteer.graph.store import Graph
from orienteer.methods.spark.check import ErrorKind, Fault, meaning, puts_in_order, walks
from orienteer.methods.spark.plan import (
    CypherStep,
    Filter,
    Find,
    Intersect,
    Limit,
    Match,
    Order,
    Plan,
    Step,
    needed,
    told,
)
from orienteer.records import JsonValue, Observation
from orienteer.tools.comparisons import ORDERED, is_date, quantity
from orienteer.tools.session import Session

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


class Outcome(NamedTuple):
    """What a plan came to."""

    set_name: str | None
    """The session's name of the set that answers; None where the plan gave nothing."""
    rows: tuple[int, ...] = ()
    is_ordered: bool = False
    """The order of the rows is the plan's own."""
    has_edges: bool = False
    """The plan went along edges that it names."""
    trail: str = ""
    faults: tuple[Fault, ...] = ()
    set_joins: int = 0


class _Ended(Exception):
    """A step left nothing to go on with."""

    def __init__(self, kind: ErrorKind, text: str) -> None:
        super().__init__(text)
        self.kind = kind


class Execution:
    """One run of a plan in one session. `use` runs a tool, so that whoever runs the plan records the calls."""

    def __init__(
        self, graph: Graph, session: Session, use: Use, *, seconds: float, has_vectors: bool, cut: bool = False
    ) -> None:
        self._graph, self._session, self._use = graph, session, use
        self._seconds, self._has_vectors, self._cut = seconds, has_vectors, cut
        self._sets: dict[str, str] = {}
        """The session's name of each set of the plan."""
        self._ordered: dict[str, bool] = {}
        self._joins = 0

    def run(self, plan: Plan) -> Outcome:
        """Run the steps that the answer comes from, to the end or to the first that leaves nothing."""
        steps = needed(plan)
        has_edges, trail = any(map(walks, steps)), ", ".join(map(told, steps))
        for step in steps:
            try:
                self._timed(step)
            except _Ended as ended:
                fault = Fault(ended.kind, f"step {plan.steps.index(step) + 1} ({step.op}): {ended}")
                return Outcome(None, has_edges=has_edges, trail=trail, faults=(fault,), set_joins=self._joins)
        name = self._sets[plan.answer]
        rows = tuple(self._session.ranked(name, []))
        is_ordered = self._ordered[plan.answer]
        # The first of an order are a selection, however many come after them.
        faults = () if is_ordered else self._too_many(len(rows))
        return Outcome(name, rows, is_ordered, has_edges, trail, faults, self._joins)

    @staticmethod
    def _too_many(count: int) -> tuple[Fault, ...]:
        if count <= OVER_RETRIEVAL:
            return ()
        return (Fault("over-retrieval", f"the plan's answer holds {count:,} nodes, more than {OVER_RETRIEVAL}"),)

    def _timed(self, step: Step) -> None:
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
        self._ordered[step.into] = puts_in_order(step) or self._keeps_order(step)

    def _keeps_order(self, step: Step) -> bool:
        if isinstance(step, Filter | Limit):
            return self._ordered.get(step.of, False)
        return isinstance(step, Intersect) and self._ordered.get(step.of[0], False)

    def _run(self, step: Step) -> str:
        """Run a step and return the session's name of what it makes. Raises `_Ended`."""
        if isinstance(step, Find):
            return self._find(step)
        if isinstance(step, CypherStep):
            return self._call(step, "cypher", query=step.query, k=1)
        if isinstance(step, Match):
            return self._match(step)
        if isinstance(step, Intersect):
            self._joins += len(step.of) - 1
            return self._call(step, "select", of=[self._set(step, one) for one in step.of])
        if isinstance(step, Filter):
            condition = {"property": step.property, "comparison": step.comparison, "value": step.value}
            return self._call(step, "select", **self._base(step.of), where=[condition])
        if isinstance(step, Order):
            return self._call(step, "select", **self._base(step.of), order=_order(step))
        return self._call(step, "select", **self._base(step.of), limit=step.k)

    def _find(self, step: Find) -> str:
        is_dense = step.op == "vector_search" and self._has_vectors
        wants_cut = self._cut and is_dense
        given: dict[str, JsonValue] = {"query": step.query, "k": HNSW_CANDIDATES if wants_cut else step.k}
        if step.node_types:
            given["node_types"] = list(step.node_types)
        if step.of is not None:
            given["among"] = self._sets[step.of]
        if self._has_vectors:
            given["mode"] = "dense" if is_dense else "lexical"
        name = self._call(step, "search_in_graph", **given)
        if not wants_cut or self._session.unpaid:  # without a budget to embed the query there is nothing to cut by
            return name
        rows = np.array(self._session.ranked(name, []), np.int32)
        kept = before_jump(self._graph.searcher("dense").scores(step.query, rows).tolist())
        return name if kept == len(rows) else self._call(step, "select", of=[name], limit=kept)

    def _match(self, step: Match) -> str:
        start = self._set(step, step.start)
        if len(step.edge_types) > 1 or len(step.node_types) > 1:
            given: dict[str, JsonValue] = {"node": start, "k": 1}
            given |= {name: list(one) for name in ("edge_types", "node_types") if (one := getattr(step, name))}
            if step.direction:
                given["direction"] = step.direction
            return self._call(step, "search_in_neighborhood", **given)
        walk: dict[str, JsonValue] = {"edge": next(iter(step.edge_types), None)}
        walk |= {"type": next(iter(step.node_types), None), "direction": step.direction}
        taken: JsonValue = {name: one for name, one in walk.items() if one}
        return self._call(step, "follow", start=start, steps=[taken], k=1)

    def _base(self, name: str) -> dict[str, JsonValue]:
        """Return what a `select` begins with."""
        kind = meaning(self._graph, name, self._sets)
        if kind == "set":
            return {"of": [self._sets[name]]}
        return {"node_types": [name]} if kind == "type" else {"named": name}

    def _set(self, step: Step, name: str) -> str:
        """Return the session's name of what a reference means, made where it is no set yet."""
        if name in self._sets:
            return self._sets[name]
        made = self._call(step, "select", **self._base(name))
        size = len(self._session.rows(made, []))
        if size > MOST_ROWS:
            raise _Ended("over-retrieval", f"{name!r} is {size:,} nodes, more than {MOST_ROWS:,}: begin with a search")
        return made

    def _call(self, step: Step, tool: str, **given: JsonValue) -> str:
        """Run a tool and return the name of the set that it has kept. Raises `_Ended` where there is none."""
        kept = len(self._session.sets)
        found = self._use(tool, **given)
        if found.error is not None:
            raise _Ended(_ERRORS.get(found.error, "plan"), f"{found.text.splitlines()[0][:300]}")
        if len(self._session.sets) == kept:
            raise _Ended(_kind_of_nothing(step), "it finds nothing")
        name = f"@{len(self._session.sets)}"
        if self._graph.ids.find(name) is not None:
            raise _Ended("plan", f"a node of this graph is called {name}, as its set would be")
        return name


def before_jump(scores: list[float]) -> int:
    """Return how many scores, best first, stand before the first wide gap. The paper's code: 0.01 and 95th percentile.

    All where there is no such gap.
    """
    gaps = -np.diff(np.array(scores))
    if not len(gaps):
        return len(scores)
    wide = np.flatnonzero((gaps >= np.percentile(gaps, _JUMP_PERCENTILE)) & (gaps >= _LEAST_JUMP))
    return int(wide[0]) + 1 if len(wide) else len(scores)


def _order(step: Order) -> dict[str, JsonValue]:
    given: dict[str, JsonValue] = {"descending": step.descending}
    given |= {name: one for name in ("property", "aggregate", "direction") if (one := getattr(step, name))}
    return given | {name: list(one) for name in ("edge_types", "node_types") if (one := getattr(step, name))}


def _kind_of_nothing(step: Step) -> ErrorKind:
    """Return what an empty step speaks for, as far as a program can tell. After the paper's table 7."""
    if isinstance(step, Find):
        return "semantic"
    if isinstance(step, Match):
        return "structure"
    if isinstance(step, Filter):
        is_measured = step.comparison in ORDERED or not isinstance(step.value, str)
        is_measured = is_measured or is_date(step.value) or not np.isnan(quantity(step.value))
        return "constraint" if is_measured else "semantic"
    return "constraint"
