"""`follow`: a typed walk of several steps from a set, counting how much of the set stands behind each result."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple, cast

import numpy as np
from numpy.typing import NDArray

from orienteer.errors import UnknownType
from orienteer.graph.adjacency import KindMask
from orienteer.graph.store import Graph
from orienteer.index.arrays import Rows, runs
from orienteer.index.bm25 import Mask
from orienteer.records import JsonValue, Observation
from orienteer.retrieval.graph_text import title
from orienteer.tools import arguments as given
from orienteer.tools.session import ReplyLines, Session, counted, near_types

_DESCRIPTION = (
    "Walk several typed steps from a node or a saved set, and rank what is reached by how many distinct members of the "
    "last set touch it. Each step keeps its own set. Use it for questions of two hops and for 'which X has the most Y'."
)
_STEP = {
    "type": "object",
    "properties": {
        "edge": {"type": "string", "description": "Edge type; any where left out"},
        "type": {"type": "string", "description": "Node type to arrive at; any where left out"},
        "direction": given.DIRECTION,
    },
    "additionalProperties": False,
}
LONGEST_WALK = 4


class Reached(NamedTuple):
    """Where a step leads."""

    rows: Rows
    members: NDArray[np.int64]
    """How many distinct nodes of the set before touch each row."""
    paths: NDArray[np.float64]
    """How many walks from the start end at each row."""


def step(graph: Graph, rows: Rows, paths: NDArray[np.float64], *, mask: Mask | None, kinds: KindMask | None) -> Reached:
    """Walk one step from a set, given how many walks end at each of its rows."""
    entries = graph.adjacency.entries(rows, kinds)
    if mask is not None:
        entries = entries.where(mask[entries.neighbor])
    owner, neighbor = entries.owner, entries.neighbor
    if len(rows) == 1:  # its neighbours are sorted, those of parallel edges side by side
        reached, edges = runs(neighbor)
        return Reached(reached, np.ones(len(reached), np.int64), edges * paths[0])
    pairs = neighbor.astype(np.int64) << 32 | owner
    pairs.sort()
    reached, members = runs(runs(pairs)[0] >> 32)
    walks = np.bincount(reached.searchsorted(neighbor), paths[rows.searchsorted(owner)], minlength=len(reached))
    return Reached(reached.astype(np.int32), members, walks.astype(np.float64))


class Follow:
    """A walk along named edges."""

    def __init__(self, session: Session) -> None:
        self._session = session
        steps = {"type": "array", "items": _STEP, "minItems": 1, "maxItems": LONGEST_WALK}
        properties: dict[str, Any] = {"start": given.NODE, "steps": steps, "k": given.count(given.NEIGHBORS_K)}
        self.spec = given.spec("follow", _DESCRIPTION, properties, ["start", "steps"])

    def __call__(self, arguments: Mapping[str, JsonValue]) -> Observation:
        """Return the size of each step's set, then the last one by distinct members, ties said."""
        session, graph = self._session, self._session.graph
        notes: list[str] = []
        steps = cast(list[dict[str, str]], arguments["steps"])  # checked against the schema before the tool runs
        reference = given.text(arguments, "start") or ""
        start: Rows | None = None
        walked: list[tuple[Rows, str]] = []
        reached = Reached(np.zeros(0, np.int32), np.zeros(0, np.int64), np.zeros(0))
        for one in steps:
            mask, kinds = self._filters(one, notes, reached.rows if start is not None else reference)
            if start is None:
                start = session.rows(reference, notes, mask=mask, kinds=kinds)
                reached = Reached(start, np.ones(len(start), np.int64), np.ones(len(start)))
            reached = step(graph, reached.rows, reached.paths, mask=mask, kinds=kinds)
            walked.append((reached.rows, _what(len(reached.rows), one.get("type"))))
        order = np.lexsort((-reached.paths, -reached.members))  # stable: what is tied stays in the order of rows
        trail = [reference if start is not None and len(start) == 1 else _what(0 if start is None else len(start))]
        for place, (rows, what) in enumerate(walked, 1):
            best = reached.rows[order] if place == len(walked) else None
            trail.append(f"{session.save(rows, first=best)} {what}")
        reply = ReplyLines(session)
        reply.say_all(notes)
        reply.say(" -> ".join(trail))
        return self._ranked(reply, reached, order, given.number(arguments, "k", given.NEIGHBORS_K))

    def _filters(
        self, one: Mapping[str, str], notes: list[str], around: Rows | str
    ) -> tuple[Mask | None, KindMask | None]:
        session, graph = self._session, self._session.graph
        try:
            types = session.node_types([one["type"]], notes) if one.get("type") else None
            edges = session.edge_types([one["edge"]], notes) if one.get("edge") else None
        except UnknownType as error:
            rows = session.rows(around, []) if isinstance(around, str) else around
            raise near_types(error, graph, rows) from error
        direction = one.get("direction")
        return graph.mask(types), graph.kind_mask(edges, "in" if direction == "in" else "out" if direction else None)

    def _ranked(self, reply: ReplyLines, reached: Reached, order: NDArray[np.int64], k: int) -> Observation:
        graph = self._session.graph
        if not len(reached.rows):
            reply.say("0 nodes are reached. Leave a filter out, or look at schema.")
            return Observation(reply.text())
        order = order[:k]
        best = int((reached.members == reached.members.max()).sum())
        if best > 1 and best < len(reached.rows):
            reply.say(f"{best} are tied for the first place")
        shown = reached.rows[order].tolist()
        reply.list(
            shown,
            (
                f"{members} ({paths:g} path{'' if paths == 1 else 's'}) {title(graph, row)}"
                for members, paths, row in zip(
                    reached.members[order].tolist(), reached.paths[order].tolist(), shown, strict=True
                )
            ),
        )
        return Observation(reply.text(), tuple(graph.ids[row] for row in reply.shown))


def _what(count: int, node_type: str | None = None) -> str:
    """Return how many nodes there are, a type by its name as it is."""
    return f"{count} {node_type}" if node_type else counted(count, "node")
