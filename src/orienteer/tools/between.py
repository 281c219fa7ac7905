"""`intersect` and `paths`: what lies between several given nodes."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from orienteer.graph.store import distinct
from orienteer.index.arrays import Rows
from orienteer.records import Edge, JsonValue, Observation
from orienteer.retrieval.graph_text import edge_note, title
from orienteer.tools import arguments as given
from orienteer.tools.session import ReplyLines, Session, counted

_INTERSECT = (
    "Find the nodes that touch all of several nodes or sets (a set counts as touched when any of its members is). "
    "Partial matches are shown only where no node touches all."
)
_PATHS = "Find the shortest paths between two nodes, whichever way the edges point. Useful for yes/no questions."
_LONGEST = 4


class Intersect:
    """Common neighbours."""

    def __init__(self, session: Session) -> None:
        self._session = session
        nodes = {**given.NODES, "minItems": 2}
        self.spec = given.spec(
            "intersect",
            _INTERSECT,
            {"nodes": nodes, "node_types": given.NODE_TYPES, "edge_types": given.EDGE_TYPES, "k": given.count(20)},
            ["nodes"],
        )

    def __call__(self, arguments: Mapping[str, JsonValue]) -> Observation:
        """Return full matches with the edges that make them, else the best partial ones."""
        session, graph = self._session, self._session.graph
        notes: list[str] = []
        types, edges = given.texts(arguments, "node_types"), given.texts(arguments, "edge_types")
        mask = graph.mask(session.node_types(types, notes) if types else None)
        kinds = graph.kind_mask(session.edge_types(edges, notes) if edges else None, None)
        references = given.texts(arguments, "nodes") or []
        groups = [session.rows(one, notes, mask=mask, kinds=kinds) for one in references]
        around = [distinct(graph.adjacency.entries(group, kinds).neighbor) for group in groups]
        rows, counts = graph.touching(around, mask)
        reply = ReplyLines(session)
        reply.say_all(notes)
        reply.say(
            "; ".join(f"{one}: {counted(len(near), 'neighbour')}" for one, near in zip(references, around, strict=True))
        )
        if not len(rows):
            reply.say("No node touches two of them under these filters.")
            return Observation(reply.text())
        most = int(counts.max())
        best = rows[counts == most]
        name = session.save(best)
        what = f"all {len(groups)}" if most == len(groups) else f"{most} of {len(groups)}; none touches all"
        touch = "touches" if len(best) == 1 else "touch"
        reply.say(f"{f'{name}: ' if name else ''}{counted(len(best), 'node')} {touch} {what}")
        shown = best[: given.number(arguments, "k", 20)].tolist()
        reply.list(shown, (f"{title(graph, row)} {self._edges(row, groups, kinds)}" for row in shown))
        return Observation(reply.text(), tuple(graph.ids[row] for row in reply.shown))

    def _edges(self, row: int, groups: Sequence[Rows], kinds: NDArray[np.bool_] | None) -> str:
        """Return the edges that join a node to each group, for they decide which match is meant."""
        graph = self._session.graph
        entries = graph.adjacency.entries(np.array([row], np.int32), kinds)
        parts = []
        for group in groups:
            at = np.flatnonzero(_are_in(entries.neighbor, group))
            edges = [
                graph.edge(row, int(entries.neighbor[one]), int(entries.kind[one]), int(entries.at[one]))
                for one in at[:5]
            ]
            if edges:
                other = (
                    graph.names[int(entries.neighbor[at[0]])]
                    if len(at) == 1 or len(group) == 1
                    else f"{len(at)} members"
                )
                notes = dict.fromkeys(edge_note(graph, [edge], _end(edge, graph.ids[row])) for edge in edges)
                parts.append(f"{' '.join(notes)} {other}")
        return "; ".join(parts)


class Paths:
    """Connections between two nodes."""

    def __init__(self, session: Session) -> None:
        self._session = session
        length: dict[str, Any] = {
            "type": "integer",
            "minimum": 1,
            "maximum": _LONGEST,
            "description": f"Edges at the most; default {_LONGEST}",
        }
        properties = {"a": given.NODE, "b": given.NODE, "max_length": length, "k": given.count(10)}
        self.spec = given.spec("paths", _PATHS, properties, ["a", "b"])

    def __call__(self, arguments: Mapping[str, JsonValue]) -> Observation:
        """Return the shortest paths, or that there is none of this length."""
        session, graph = self._session, self._session.graph
        notes: list[str] = []
        ends = [session.rows(given.text(arguments, end) or "", notes) for end in ("a", "b")]
        reply = ReplyLines(session)
        reply.say_all(notes)
        if any(len(end) != 1 for end in ends):
            reply.say("paths joins two single nodes: name one node at each end.")
            return Observation(reply.text(), error="BadOption")
        a, b = (graph.ids[int(end[0])] for end in ends)
        longest = given.number(arguments, "max_length", _LONGEST)
        found = graph.paths(a, b, longest, k=given.number(arguments, "k", 10))
        if not found:
            reply.say(f"There is no path of {counted(longest, 'edge')} or fewer.")
            return Observation(reply.text())
        rows = np.unique(np.array([graph.row(node) for path in found for node in path.nodes], np.int32))
        name = session.save(rows)
        told = f"{counted(len(found), 'shortest path')} of {counted(found[0].length, 'edge')}"
        reply.say(f"{f'{name}: ' if name else ''}{told}")
        for path in found:
            steps = [
                f"{edge_note(graph, edges, node)} {title(graph, graph.row(node))}"
                for edges, node in zip(path.edges, path.nodes[1:], strict=True)
            ]
            if not reply.say(f"{title(graph, graph.row(path.nodes[0]))} {' '.join(steps)}"):
                break
        return Observation(reply.text(), tuple(graph.ids[row] for row in rows.tolist()))


def _are_in(rows: NDArray[np.int32], group: Rows) -> NDArray[np.bool_]:
    """Mark those of some rows that belong to a group."""
    if not len(group):
        return np.zeros(len(rows), np.bool_)
    return np.asarray(group.take(group.searchsorted(rows), mode="clip") == rows)


def _end(edge: Edge, node_id: str) -> str:
    """Return the end of an edge that is not this node."""
    return edge.target if edge.source == node_id else edge.source
