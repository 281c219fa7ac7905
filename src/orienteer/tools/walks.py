"""`follow`, `intersect` and `paths`: walks along named edges, and the nodes between several nodes."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, NamedTuple, cast

import numpy as np
from numpy.typing import NDArray

from orienteer.graph.adjacency import KindMask, distinct
from orienteer.graph.store import Graph
from orienteer.index.arrays import Rows, runs
from orienteer.index.bm25 import Mask
from orienteer.records import Direction, JsonValue, Observation, Path
from orienteer.retrieval.graph_text import counts_line, edge_note, title
from orienteer.text.sentences import one_line
from orienteer.tools import texts
from orienteer.tools.session import ReplyLines, Session, counted, shown_range, type_filters

_FOLLOW = (
    "Walk several typed steps from a node, a list of nodes or a saved set, and rank what is reached by how many "
    "distinct members of the last set touch it. Each step keeps its own set. Use it for questions of two hops and for "
    "'which X has the most Y'."
)
_FOLLOW_STATELESS = (
    "Walk several typed steps from a node or a list of nodes, and rank what is reached by how many distinct nodes of "
    "the step before touch it. Use it for questions of two hops and for 'which X has the most Y'."
)
_OF_KINDS = " Where no node is named, begin with all nodes of a type, `all TYPE`."
_STEP = {
    "type": "object",
    "properties": {
        "edge": {"type": "string", "description": "Edge type; any where left out"},
        "type": {"type": "string", "description": "Node type to arrive at; any where left out"},
        "direction": texts.DIRECTION,
    },
    "additionalProperties": False,
}
_INTERSECT = (
    "Find the nodes that touch all of several nodes or sets (a set counts as touched when any of its members is). "
    "Partial matches are shown only where no node touches all."
)
_INTERSECT_STATELESS = (
    "Find the nodes that touch all of several nodes. Partial matches are shown only where no node touches all."
)
_PATHS = "Find the shortest paths between two nodes, whichever way the edges point. Useful for yes/no questions."
_NAMED = 3  # members of a set that are named: of more, how many there are says enough
_LONGEST_PATH = 4
LONGEST_WALK = 4
"""Steps of a walk at the most."""


class StepResult(NamedTuple):
    """The nodes that a step reaches: three arrays of (n,), by row ascending."""

    rows: Rows
    members: NDArray[np.int64]
    """How many distinct nodes of the set before touch each row."""
    paths: NDArray[np.float64]
    """How many walks from the start end at each row."""


def step(
    graph: Graph, rows: Rows, paths: NDArray[np.float64], *, mask: Mask | None, kinds: KindMask | None
) -> StepResult:
    """Walk one step from a set. `paths` is (n,): how many walks end at each of `rows`, which are ascending."""
    entries = graph.arrays.adjacency.entries(rows, kinds)
    if mask is not None:
        entries = entries.where(mask[entries.neighbor])
    owner, neighbor = entries.owner, entries.neighbor
    # The neighbours of a single node are sorted, those of parallel edges next to one another.
    if len(rows) == 1:
        reached, edges = runs(neighbor)
        return StepResult(reached, np.ones(len(reached), np.int64), edges * paths[0])
    pairs = neighbor.astype(np.int64) << 32 | owner
    pairs.sort()
    reached, members = runs(runs(pairs)[0] >> 32)
    walks = np.bincount(reached.searchsorted(neighbor), paths[rows.searchsorted(owner)], minlength=len(reached))
    return StepResult(reached.astype(np.int32), members, walks.astype(np.float64))


class Follow:
    """A walk of several steps along edges of given types."""

    def __init__(self, session: Session) -> None:
        self._session = session
        steps = {"type": "array", "items": _STEP, "minItems": 1, "maxItems": LONGEST_WALK}
        properties: dict[str, Any] = {
            "start": texts.node_or_nodes(saves_sets=session.saves_sets, takes_kinds=session.takes_kinds),
            "steps": steps,
            "k": texts.count(texts.NEIGHBORS_K),
        }
        description = (_FOLLOW if session.saves_sets else _FOLLOW_STATELESS) + _OF_KINDS * session.takes_kinds
        self.spec = texts.spec("follow", description, properties, ["start", "steps"])

    def __call__(self, arguments: Mapping[str, JsonValue]) -> Observation:
        """Return the size of each step's set, then the last set ranked by distinct members, with its ties."""
        session, graph = self._session, self._session.graph
        notes: list[str] = []
        steps = cast(list[dict[str, str]], arguments["steps"])  # checked against the schema before the tool runs
        references = texts.parameter_references(arguments, "start")
        start: Rows | None = None
        walked: list[WalkedStep] = []
        reached = StepResult(np.zeros(0, np.int32), np.zeros(0, np.int64), np.zeros(0))
        for hop in steps:
            named, by = ([hop[name]] if hop.get(name) else None for name in ("type", "edge"))
            types, edges = type_filters(session, named, by, notes, around=references if start is None else reached.rows)
            direction = cast(Direction | None, hop.get("direction"))  # checked against the schema
            mask, kinds = graph.arrays.mask(types), graph.arrays.kind_mask(edges, direction)
            if start is None:
                start = session.all_rows(references, notes, mask=mask, kinds=kinds)
                reached = StepResult(start, np.ones(len(start), np.int64), np.ones(len(start)))
            before, reached = reached.rows, step(graph, reached.rows, reached.paths, mask=mask, kinds=kinds)
            walked.append(WalkedStep(before, reached.rows, hop))
        assert start is not None  # the schema asks for a step
        # A stable sort: ties stay in the order of rows.
        order = np.lexsort((-reached.paths, -reached.members))
        reply = ReplyLines(session, notes)
        is_one = len(references) == 1 and len(start) == 1
        began = references[0] if is_one else f"{counted(len(start), 'node')}{self._members(start)}"
        is_whole = session.are_whole(references)
        reply.say(" -> ".join([began, *self._trail(walked, reached.rows[order], is_whole=is_whole)]))
        if not len(reached.rows):
            reply.say(f"0 nodes are reached. {self._around_the_end(walked)}")
            return reply.observation()
        return self._ranked(reply, reached, order[: texts.number(arguments, "k", texts.NEIGHBORS_K)], start)

    def _trail(self, walked: Sequence[WalkedStep], best: Rows, *, is_whole: bool) -> Iterator[str]:
        """Save the set of each step, the last with its best rows first, and yield its description."""
        for place, (before, rows, hop) in enumerate(walked, 1):
            is_last = place == len(walked)
            name = self._session.save(rows, first=best if is_last else None, is_whole=is_whole)
            members = "" if is_last else self._members(rows)  # those of the last are listed
            why = ""
            if len(before) and not len(rows):
                # The filters say which to leave out: `none of the 3 has any film neighbour by directed (out)`.
                whose = "it has no" if len(before) == 1 else f"none of the {len(before)} has any"
                by = f" by {hop['edge']}" if hop.get("edge") else ""
                way = f" ({hop['direction']})" if hop.get("direction") else ""
                why = f": {whose} {hop.get('type') or ''} neighbour{by}{way}".replace("  ", " ")
            size = f"{len(rows)} {hop['type']}" if hop.get("type") else counted(len(rows), "node")
            yield f"{f'{name} ' if name else ''}{size}{members}{why}"

    def _members(self, rows: Rows) -> str:
        """Return the names of a set of a few."""
        names = self._session.graph.arrays.names
        return f" ({'; '.join(one_line(names[row], 60) for row in rows.tolist())})" if 0 < len(rows) <= _NAMED else ""

    def _around_the_end(self, walked: Sequence[WalkedStep]) -> str:
        """Describe the edges of the nodes where a walk stopped."""
        graph = self._session.graph
        last = next(walk.before for walk in walked if not len(walk.rows))
        if not len(last):
            return "The set that it begins with is empty."
        counts = counts_line(graph, graph.arrays.counts(graph.arrays.adjacency.entries(last)))
        has = "it has" if len(last) == 1 else "they have"
        return f"Without filters {has}: {counts}" if counts else f"{has.capitalize()} no edges."

    def _ranked(self, reply: ReplyLines, reached: StepResult, order: NDArray[np.int64], start: Rows) -> Observation:
        """List the first nodes that are reached, in this order; those where the walk began are marked."""
        graph = self._session.graph
        best = int((reached.members == reached.members.max()).sum())
        if best > 1 and best < len(reached.rows):
            reply.say(f"{best} are tied for the first place")
        if back := int(_are_in(reached.rows, start).sum()):
            reply.say(f"{back} of these {'is' if back == 1 else 'are'} where the walk began, marked (start)")
        shown = reached.rows[order]
        reply.list(
            shown.tolist(),
            (
                f"{members} ({paths:g} path{'' if paths == 1 else 's'}) {title(graph, row)}{' (start)' * is_start}"
                for members, paths, row, is_start in zip(
                    reached.members[order].tolist(),
                    reached.paths[order].tolist(),
                    shown.tolist(),
                    _are_in(shown, start).tolist(),
                    strict=True,
                )
            ),
        )
        return reply.observation()


class WalkedStep(NamedTuple):
    """One step of a walk."""

    before: Rows
    """(n,): the set that it left, ascending."""
    rows: Rows
    """(m,): the set that it reached, ascending."""
    hop: Mapping[str, str]
    """Its filters: edge, type, direction."""


class IntersectNodes:
    """The nodes that touch all of several nodes or sets."""

    def __init__(self, session: Session) -> None:
        self._session = session
        nodes = {**texts.nodes(saves_sets=session.saves_sets, takes_kinds=session.takes_kinds), "minItems": 2}
        self.spec = texts.spec(
            "intersect",
            _INTERSECT if session.saves_sets else _INTERSECT_STATELESS,
            {
                "nodes": nodes,
                "node_types": texts.NODE_TYPES,
                "edge_types": texts.EDGE_TYPES,
                "k": texts.count(20),
                **({"offset": texts.offset()} if session.offers_offset else {}),
            },
            ["nodes"],
        )

    def __call__(self, arguments: Mapping[str, JsonValue]) -> Observation:
        """Return the nodes that touch all groups, with the edges; if there are none, those that touch most."""
        session, graph = self._session, self._session.graph
        notes: list[str] = []
        nodes, by = texts.texts(arguments, "node_types"), texts.texts(arguments, "edge_types")
        types, edges = type_filters(session, nodes, by, notes)
        mask, kinds = graph.arrays.mask(types), graph.arrays.kind_mask(edges, None)
        references = texts.texts(arguments, "nodes") or []
        groups = [session.rows(reference, notes, mask=mask, kinds=kinds) for reference in references]
        around = [distinct(graph.arrays.adjacency.entries(group, kinds).neighbor) for group in groups]
        if mask is not None:
            around = [near[mask[near]] for near in around]
        rows, counts = graph.arrays.touching(around)
        reply = ReplyLines(session, notes)
        reply.say(
            "; ".join(
                f"{reference}: {counted(len(near), 'neighbour')}"
                for reference, near in zip(references, around, strict=True)
            )
        )
        if not len(rows):
            reply.say("No node touches two of them under these filters.")
            return reply.observation()
        most = int(counts.max())
        best = rows[counts == most]
        name = session.save(best, is_whole=most == len(groups) and session.are_whole(references))
        what = f"all {len(groups)}" if most == len(groups) else f"{most} of {len(groups)}; none touches all"
        touch = "touches" if len(best) == 1 else "touch"
        head = f"{f'{name}: ' if name else ''}{counted(len(best), 'node')} {touch} {what}"
        offset = texts.number(arguments, "offset", 0)
        rows_shown = best[offset : offset + texts.number(arguments, "k", 20)].tolist()
        lines = (f"{title(graph, row)} {self._edges(row, groups, kinds)}" for row in rows_shown)
        if session.offers_offset:
            reply.page(rows_shown, lines, lambda shown: f"{head}. {shown_range(offset, shown, len(best))}")
        else:
            reply.say(head)
            reply.list(rows_shown, lines)
        return reply.observation()

    def _edges(self, row: int, groups: Sequence[Rows], kinds: NDArray[np.bool_] | None) -> str:
        """Return the edges that join a node to each group: they distinguish one match from another."""
        graph = self._session.graph
        entries = graph.arrays.adjacency.entries(np.array([row], np.int32), kinds)
        parts = []
        for group in groups:
            at = np.flatnonzero(_are_in(entries.neighbor, group))
            edges = [
                graph.arrays.edge(row, int(entries.neighbor[place]), int(entries.kind[place]), int(entries.at[place]))
                for place in at[:5]
            ]
            if edges:
                other = (
                    one_line(graph.arrays.names[int(entries.neighbor[at[0]])])
                    if len(at) == 1 or len(group) == 1
                    else f"{len(at)} members"
                )
                ends = (edge.target if edge.source == graph.arrays.ids[row] else edge.source for edge in edges)
                notes = dict.fromkeys(edge_note(graph, [edge], end) for edge, end in zip(edges, ends, strict=True))
                parts.append(f"{' '.join(notes)} {other}")
        return "; ".join(parts)


class FindPaths:
    """The shortest paths between two nodes."""

    def __init__(self, session: Session) -> None:
        self._session = session
        length: dict[str, Any] = {
            "type": "integer",
            "minimum": 1,
            "maximum": _LONGEST_PATH,
            "description": f"Edges at the most; default {_LONGEST_PATH}",
        }
        node = texts.node(saves_sets=session.saves_sets)
        properties = {"a": node, "b": node, "max_length": length, "k": texts.count(10)}
        self.spec = texts.spec("paths", _PATHS, properties, ["a", "b"])

    def __call__(self, arguments: Mapping[str, JsonValue]) -> Observation:
        """Return the shortest paths, or a sentence that there are none of this length."""
        session, graph = self._session, self._session.graph
        notes: list[str] = []
        ends = [session.rows(texts.text(arguments, end) or "", notes) for end in ("a", "b")]
        reply = ReplyLines(session, notes)
        if any(len(end) != 1 for end in ends):
            reply.say("paths joins two single nodes: name one node at each end.")
            return Observation(reply.text(), error="BadOption")
        a, b = (graph.arrays.ids[int(end[0])] for end in ends)
        longest = texts.number(arguments, "max_length", _LONGEST_PATH)
        k = texts.number(arguments, "k", 10)
        paths = graph.paths(a, b, longest, k=k + session.offers_offset)  # one too many tells whether there are more
        if not paths:
            reply.say(f"There is no path of {counted(longest, 'edge')} or fewer.")
            return reply.observation()
        has_more, paths = len(paths) > k, paths[:k]
        rows = np.unique(np.array([graph.arrays.row(node) for path in paths for node in path.nodes], np.int32))
        name = session.save(rows)
        count = f"{counted(len(paths), 'shortest path')} of {counted(paths[0].length, 'edge')}"
        more = f"; there are more: k={min(2 * k, texts.LARGEST_K)} shows them" if has_more else ""
        reply.say(f"{f'{name}: ' if name else ''}{count}{more}")
        reply.list(range(len(paths)), map(self._line, paths))
        return Observation(reply.text(), tuple(graph.arrays.ids[row] for row in rows.tolist()))

    def _line(self, path: Path) -> str:
        """Return a path: its nodes, and between them the edges."""
        graph = self._session.graph
        steps = (
            f"{edge_note(graph, edges, node)} {title(graph, graph.arrays.row(node))}"
            for edges, node in zip(path.edges, path.nodes[1:], strict=True)
        )
        return f"{title(graph, graph.arrays.row(path.nodes[0]))} {' '.join(steps)}"


def _are_in(rows: NDArray[np.int32], group: Rows) -> NDArray[np.bool_]:
    """Mark the rows that belong to a group. `group` is ascending; returns (len(rows),) of bool."""
    if not len(group):
        return np.zeros(len(rows), np.bool_)
    return np.asarray(group.take(group.searchsorted(rows), mode="clip") == rows)
