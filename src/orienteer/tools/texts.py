"""`read_node`, `schema` and `search_passages`: nodes in full, what the graph is made of, passages whole."""

from __future__ import annotations

from collections.abc import Mapping

from orienteer.records import JsonValue, Observation
from orienteer.retrieval.graph_text import counts_line, indented, schema_lines, title
from orienteer.retrieval.spaces import Spaces
from orienteer.text.lines import value_text
from orienteer.tools import parameters
from orienteer.tools.session import ReplyLines, Session

_READ = "Read one node in full: text, aliases, properties, and its edges by kind, counted. Long texts page by offset."
_SCHEMA = "List what the graph is made of: node types, and which edge types join which of them, with counts."
_PAGE = 3_000  # characters of text
SEARCH_PASSAGES = "search_passages"
PASSAGES_TOKENS = 16_000
"""Size of an observation of that tool: 30 passages of 400 tokens, the paper's top-k; an agent's request has 24,000."""
_LONGEST = 6_000  # characters of a passage that it shows: a chunk whole, of a long table the beginning
_PASSAGES = (
    "Search the passages of the collection: the best ones, with their whole text. Use it for what a passage on the "
    "wanted thing would say."
)


class ReadNode:
    """A node in full."""

    def __init__(self, session: Session) -> None:
        self._session = session
        offset = {"type": "integer", "minimum": 0, "description": "Characters of the text to skip; default 0"}
        self.spec = parameters.spec("read_node", _READ, {"node": parameters.NODE, "offset": offset}, ["node"])

    def __call__(self, arguments: Mapping[str, JsonValue]) -> Observation:
        """Return everything about a node that fits."""
        session, graph = self._session, self._session.graph
        notes: list[str] = []
        rows = session.rows(parameters.text(arguments, "node") or "", notes)
        reply = ReplyLines(session)
        reply.say_all(notes)
        if len(rows) != 1:
            reply.say("read_node reads one node: name one.")
            return Observation(reply.text(), error="BadOption")
        row = int(rows[0])
        node = graph.arrays.node_at(row)
        reply.say(title(graph, row))
        if node.aliases:
            reply.say(f"also: {'; '.join(node.aliases)[:400]}")
        reply.say(f"edges: {counts_line(graph, graph.arrays.counts(graph.arrays.adjacency.entries(rows))) or 'none'}")
        offset = parameters.number(arguments, "offset", 0)
        page = node.text[offset : offset + min(_PAGE, session.reply_tokens * 2)]
        rest = len(node.text) - offset - len(page)
        reply.say(f"text: {page or 'none'}{f' ... {rest} more; offset={offset + len(page)}' if rest > 0 else ''}")
        if not offset:
            reply.say_all(f"{name}: {value_text(value)[:200]}" for name, value in node.properties.items())
        return Observation(reply.text(), (node.id,))


class ReadSchema:
    """What the graph is made of."""

    def __init__(self, session: Session) -> None:
        self._session = session
        self.spec = parameters.spec("schema", _SCHEMA, {})

    def __call__(self, arguments: Mapping[str, JsonValue]) -> Observation:
        """Return the node types and edge types, as many as fit."""
        reply = ReplyLines(self._session)
        lines = schema_lines(self._session.graph)
        reply.list(range(len(lines)), lines)
        return Observation(reply.text())


class SearchPassages:
    """A search for readers: it shows passages whole, where `search_in_graph` shows one line of a node."""

    def __init__(self, session: Session, k: int, *, has_filters: bool = False) -> None:
        """Without filters it finds passages only; in a graph without passages, any node."""
        self._session, self._k = session, k
        properties = {"query": parameters.query(session.mode), "k": {**parameters.count(k), "default": k}}
        if has_filters:
            properties |= {"node_types": parameters.NODE_TYPES, "where": parameters.WHERE}
        self.spec = parameters.spec(SEARCH_PASSAGES, _PASSAGES, properties, ["query"])

    def __call__(self, arguments: Mapping[str, JsonValue]) -> Observation:
        """Return the best passages."""
        session, graph = self._session, self._session.graph
        notes: list[str] = []
        query = parameters.text(arguments, "query") or ""
        k = parameters.number(arguments, "k", self._k)
        mode = session.payment.payable(session.mode, query, notes)
        node_types, where = (tuple(parameters.texts(arguments, name) or ()) for name in ("node_types", "where"))
        spaces = Spaces(graph, mode)
        rows = spaces.search(query, k, spaces.answers(node_types, where)).rows.tolist()
        reply = ReplyLines(session)
        reply.say_all(notes)
        if not rows:
            reply.say("No passage has any of these words. Try others.")
        reply.list(
            rows, ("\n".join([title(graph, row), *indented(graph.arrays.texts[row][:_LONGEST])]) for row in rows)
        )
        return Observation(reply.text(), tuple(graph.arrays.ids[row] for row in reply.shown))
