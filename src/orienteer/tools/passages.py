"""`search_passages`: the passages of a collection, whole."""

from __future__ import annotations

from collections.abc import Mapping

from orienteer.records import JsonValue, Observation
from orienteer.retrieval.graph_text import indented, title
from orienteer.retrieval.spaces import Spaces
from orienteer.tools import arguments as given
from orienteer.tools.session import ReplyLines, Session

SEARCH = "search_passages"
REPLY_TOKENS = 16_000
"""Size of an observation of that tool: 30 passages of 400 tokens, the paper's top-k; an agent's request has 24,000."""
_LONGEST = 6_000  # characters of a passage that it shows: a chunk whole, of a long table the beginning
_DESCRIPTION = (
    "Search the passages of the collection: the best ones, with their whole text. Use it for what a passage on the "
    "wanted thing would say."
)


class SearchPassages:
    """A search by somebody who reads texts: passages whole, where `search_in_graph` shows a line of a node."""

    def __init__(self, session: Session, k: int, *, has_filters: bool = False) -> None:
        """Without filters it finds passages alone, in a graph without passages any node."""
        self._session, self._k = session, k
        properties = {"query": given.query(session.mode), "k": {**given.count(k), "default": k}}
        if has_filters:
            properties |= {"node_types": given.NODE_TYPES, "where": given.WHERE}
        self.spec = given.spec(SEARCH, _DESCRIPTION, properties, ["query"])

    def __call__(self, arguments: Mapping[str, JsonValue]) -> Observation:
        """Return the best passages."""
        session, graph = self._session, self._session.graph
        notes: list[str] = []
        query = given.text(arguments, "query") or ""
        k = given.number(arguments, "k", self._k)
        mode = session.payable(session.mode, query, notes)
        node_types, where = (tuple(given.texts(arguments, name) or ()) for name in ("node_types", "where"))
        spaces = Spaces(graph, mode)
        rows = spaces.search(query, k, spaces.answers(node_types, where)).rows.tolist()
        reply = ReplyLines(session)
        reply.say_all(notes)
        if not rows:
            reply.say("No passage has any of these words. Try others.")
        reply.list(rows, ("\n".join([title(graph, row), *indented(graph.texts[row][:_LONGEST])]) for row in rows))
        return Observation(reply.text(), tuple(graph.ids[row] for row in reply.shown))
