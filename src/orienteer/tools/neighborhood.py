"""`search_in_neighborhood`: one hop from a node or a set, filtered by type, ranked by words."""

from __future__ import annotations

from collections.abc import Collection, Mapping

import numpy as np

from orienteer.errors import UnknownType
from orienteer.graph.adjacency import Entries
from orienteer.graph.store import distinct
from orienteer.index.arrays import Rows
from orienteer.records import Direction, JsonValue, Observation
from orienteer.tools import arguments as given
from orienteer.tools.render import Reply, Words, counts_line, edge_note, match_note, title
from orienteer.tools.session import Session, near_types

_DESCRIPTION = (
    "Look at the nodes one edge away from a node, whichever way the edge points. Filter by node types and edge types; "
    "a query ranks the neighbours by words, and never hides any. Counts by kind of edge come first."
)
PLAIN = ("node", "query", "node_types", "edge_types")
"""The paper's parameters."""


class SearchInNeighborhood:
    """ARK's neighbourhood exploration (section 3.1)."""

    def __init__(self, session: Session, *, parameters: Collection[str] | None = None) -> None:
        self._session = session
        offset = {"type": "integer", "minimum": 0, "description": "Rows to skip; default 0"}
        properties = {
            "node": given.NODE,
            "query": given.QUERY,
            "node_types": given.NODE_TYPES,
            "edge_types": given.EDGE_TYPES,
            "direction": given.DIRECTION,
            "where": given.WHERE,
            "k": given.count(given.NEIGHBORS_K),
            "offset": offset,
        }
        kept = {name: one for name, one in properties.items() if parameters is None or name in parameters}
        self.spec = given.spec("search_in_neighborhood", _DESCRIPTION, kept, ["node"])

    def __call__(self, arguments: Mapping[str, JsonValue]) -> Observation:
        """Return the neighbours: counts by kind, then a page, those with all the words first."""
        session, graph = self._session, self._session.graph
        notes: list[str] = []
        reference = given.text(arguments, "node") or ""
        node_types, edge_types = self._types(reference, arguments, notes)
        direction = _direction(arguments)
        mask = graph.mask(node_types, given.texts(arguments, "where") or ())
        kinds = graph.kind_mask(edge_types, direction)
        start = session.rows(reference, notes, mask=mask, kinds=kinds)
        entries = graph.adjacency.entries(start, kinds)
        if mask is not None:
            entries = entries.where(mask[entries.neighbor])
        rows = distinct(entries.neighbor)
        reply = Reply(session)
        reply.say_all(notes)
        if not len(rows):
            self._explain_nothing(reply, start)
            return Observation(reply.text())
        reply.say(f"{len(rows)} neighbours: {counts_line(graph, graph.counts(entries))}")
        self._page(reply, arguments, rows, entries, start)
        return Observation(reply.text(), tuple(graph.ids[row] for row in reply.shown))

    def _types(
        self, reference: str, arguments: Mapping[str, JsonValue], notes: list[str]
    ) -> tuple[list[str] | None, list[str] | None]:
        session = self._session
        nodes, edges = given.texts(arguments, "node_types"), given.texts(arguments, "edge_types")
        try:
            return (
                session.node_types(nodes, notes) if nodes else None,
                session.edge_types(edges, notes) if edges else None,
            )
        except UnknownType as error:
            raise near_types(error, session.graph, session.rows(reference, []), session.graph.types) from error

    def _explain_nothing(self, reply: Reply, start: Rows) -> None:
        graph = self._session.graph
        around = graph.adjacency.entries(start)
        reply.say("0 neighbours pass these filters.")
        if len(around.neighbor):
            reply.say(f"Without filters there are: {counts_line(graph, graph.counts(around))}")

    def _page(
        self, reply: Reply, arguments: Mapping[str, JsonValue], rows: Rows, entries: Entries, start: Rows
    ) -> None:
        session, graph = self._session, self._session.graph
        k, offset = given.number(arguments, "k", given.NEIGHBORS_K), given.number(arguments, "offset", 0)
        query = given.text(arguments, "query")
        words = Words(graph, query or "")
        page, scores = graph.rank(rows, query, k, offset=offset)
        matches = words.matches(page)
        if query and len(page):
            full = [match.is_full and score > 0 for match, score in zip(matches, scores, strict=True)]
            order = sorted(range(len(page)), key=lambda at: not full[at])  # stable: full matches first
            page, matches = page[order], [matches[at] for at in order]
            if offset == 0 and not any(full):
                reply.say("0 have all words; best partial matches:")
        name = session.save(rows)
        more = f"; offset={offset + len(page)} for more" if offset + len(page) < len(rows) else ""
        reply.say(f"{f'{name}: all {len(rows)}. ' if name else ''}Shown {offset + 1}-{offset + len(page)}{more}.")
        reply.list(
            page.tolist(),
            (
                self._line(row, entries, start, words, note)
                for row, note in zip(page.tolist(), map(match_note, matches), strict=True)
            ),
        )

    def _line(self, row: int, entries: Entries, start: Rows, words: Words, note: str) -> str:
        graph = self._session.graph
        edges = graph.edges_to(entries, row)
        if len(start) > 1:
            at = np.flatnonzero(entries.neighbor == row)
            touched = f" touches {len(np.unique(entries.owner[at]))} of {len(start)}"
        else:
            touched = ""
        is_start = " (start)" if row in start else ""
        text = f": {words.snippet(row)}" if words.terms and note else ""
        return f"{edge_note(graph, edges, graph.ids[row])} {title(graph, row)}{is_start}{touched}{note}{text}"


def _direction(arguments: Mapping[str, JsonValue]) -> Direction | None:
    value = arguments.get("direction")
    return "out" if value == "out" else "in" if value == "in" else None
