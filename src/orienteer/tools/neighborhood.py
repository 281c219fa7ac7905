"""`search_in_neighborhood`: one hop from a node or a set, filtered by type, ranked by words."""

from __future__ import annotations

from collections.abc import Collection, Mapping

import numpy as np

from orienteer.errors import UnknownType
from orienteer.graph.adjacency import Entries
from orienteer.graph.store import distinct
from orienteer.index.arrays import Rows
from orienteer.records import Direction, JsonValue, Observation
from orienteer.retrieval.graph_text import counts_line, edge_note, title
from orienteer.tools import arguments as given
from orienteer.tools.rendering import Reply, Words, counted, match_note
from orienteer.tools.session import Session, near_types

_DESCRIPTION = "Look at the nodes one edge away from a node, whichever way the edge points."
_OF_TYPES = " Filter by node types and edge types."
_OF_QUERY = " A query ranks the neighbours by words, and never hides any."
_OF_COUNTS = " Counts by kind of edge come first."
PLAIN = ("node", "query", "node_types", "edge_types")
"""The paper's parameters."""


class SearchInNeighborhood:
    """ARK's neighbourhood exploration (section 3.1)."""

    def __init__(self, session: Session, *, parameters: Collection[str] | None = None) -> None:
        self._session = session
        offset = {"type": "integer", "minimum": 0, "description": "Rows to skip; default 0"}
        properties = {
            "node": given.NODE if parameters is None else given.PLAIN_NODE,
            "query": given.query(session.mode),
            "node_types": given.NODE_TYPES,
            "edge_types": given.EDGE_TYPES,
            "direction": given.DIRECTION,
            "where": given.WHERE,
            "k": given.count(given.NEIGHBORS_K),
            "offset": offset,
        }
        if session.offers_mode:
            properties["mode"] = given.MODE
        kept = {name: one for name, one in properties.items() if parameters is None or name in parameters}
        told = _DESCRIPTION + _OF_TYPES * ("node_types" in kept) + _OF_QUERY * ("query" in kept) + _OF_COUNTS
        self._pages = "offset" in kept
        self.spec = given.spec("search_in_neighborhood", told, kept, ["node"])

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
        reply.say(f"{counted(len(rows), 'neighbour')}: {counts_line(graph, graph.counts(entries))}")
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
            raise near_types(error, session.graph, session.rows(reference, [])) from error

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
        told: list[str] = []
        mode = session.payable(given.mode(arguments, session.mode), query or "", told)
        reply.say_all(told)
        full = words.full(rows) if query else rows[:0]
        # The paper ranks by words alone; and what is near in meaning need not have them.
        ahead = full if self._pages and mode == "lexical" else rows[:0]
        best, _ = graph.rank(ahead, query, offset + k)
        others, _ = graph.rank(np.setdiff1d(rows, ahead), query, max(0, offset + k - len(best)), mode=mode)
        page = np.concatenate([best, others])[offset : offset + k]
        matches = words.matches(page)
        if query and mode == "lexical" and offset == 0 and not len(full):
            reply.say("0 have all words; best partial matches:")
        name = session.save(rows, first=page)
        reply.say(f"{f'{name}: all {len(rows)}. ' if name else ''}{self._shown(offset, len(page), len(rows))}")
        reply.list(
            page.tolist(),
            (
                self._line(row, entries, start, words, note)
                for row, note in zip(page.tolist(), map(match_note, matches), strict=True)
            ),
        )

    def _shown(self, offset: int, count: int, of: int) -> str:
        if not count:
            return f"None from {offset} on."
        more = f"; offset={offset + count} for more" if self._pages and offset + count < of else ""
        return f"Shown {offset + 1}-{offset + count}{more}."

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
