"""`read_node`, `schema` and `search_passages`: whole nodes, the graph's types, whole passages."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, cast

import numpy as np

from orienteer.index.searchers import Mode, ranking_of
from orienteer.records import JsonValue, Observation, ToolSpec
from orienteer.retrieval.graph_text import counts_line, indented, schema_lines, title
from orienteer.retrieval.query import Spaces
from orienteer.text.sentences import value_text
from orienteer.tools.session import ReplyLines, Session, counted

_READ = "Read a node in full: text, aliases, properties, and its edges by kind, counted. Long texts page by offset."
_READ_SET = " A list of nodes is kept as a set."
_SCHEMA = "List what the graph is made of: node types, and which edge types join which of them, with counts."
_PAGE = 3_000  # characters of text
_WHOLE = 600  # characters: no text is cut for so few
_BESIDE = 40  # characters that say how a text goes on
_MORE_PROPERTIES = "... more properties did not fit"
SEARCH_PASSAGES = "search_passages"
PASSAGES_TOKENS = 16_000
"""Size of an observation of that tool: 30 passages of 400 tokens, the paper's top-k; an agent's request has 24,000."""
_LONGEST = 6_000  # characters of a passage that it shows: a chunk whole, of a long table the beginning
_PASSAGES = (
    "Search the passages of the collection: the best ones, with their whole text. Use it for what a passage on the "
    "wanted thing would say."
)


class ReadNode:
    """Nodes in full."""

    def __init__(self, session: Session) -> None:
        self._session = session
        properties = {
            "node": node_or_nodes(saves_sets=session.saves_sets),
            "offset": offset("Characters of the text"),
        }
        description = _READ + _READ_SET * session.saves_sets
        self.spec = spec("read_node", description, properties, ["node"])

    def __call__(self, arguments: Mapping[str, JsonValue]) -> Observation:
        """Return everything about a node that fits; of several, each has an equal share of the reply."""
        session, graph = self._session, self._session.graph
        notes: list[str] = []
        references = parameter_references(arguments, "node")
        rows = list(dict.fromkeys(session.all_ranked(references, notes)))
        offset = number(arguments, "offset", 0)
        reply = ReplyLines(session, notes)
        if len(rows) == 1:
            reply.say_all(self._lines(rows[0], offset, reply.room))
            return Observation(reply.text(), (graph.arrays.ids[rows[0]],))
        order = np.array(rows, np.int32)
        name = session.save(order) if len(references) > 1 else references[0]
        reply.say(f"{f'{name}: ' if name else ''}{counted(len(rows), 'node')}")
        share = reply.room // max(len(rows), 1)
        reply.list(rows, ("\n".join(self._lines(row, offset, share)) for row in rows))
        return reply.observation()

    def _lines(self, row: int, offset: int, room: int) -> Iterator[str]:
        """Yield the lines about a node, in about `room` characters: its text first, then properties."""
        graph = self._session.graph
        node = graph.arrays.node_at(row)
        counts = counts_line(graph, graph.arrays.counts(graph.arrays.adjacency.entries(np.array([row], np.int32))))
        lines = [title(graph, row), f"also: {'; '.join(node.aliases)[:400]}" * bool(node.aliases)]
        lines = [*filter(None, lines), f"edges: {counts or 'none'}"]
        yield from lines
        room -= sum(len(line) + 1 for line in lines)
        text = f"text: {self._page(node.text, offset, room - _BESIDE)}"
        yield text
        room -= len(text)
        for name, value in node.properties.items() if not offset else ():
            line = f"{name}: {value_text(value)[:200]}"
            room -= len(line) + 1
            if room < len(_MORE_PROPERTIES):
                yield _MORE_PROPERTIES
                return
            yield line

    def _page(self, text: str, offset: int, room: int) -> str:
        """Return a text from an offset on, with a hint at the rest if it is cut."""
        most = self._session.reply_characters // 2
        whole = min(_WHOLE, most)
        size, left = max(whole, min(_PAGE, most, room)), len(text) - offset
        if left - size < whole and left <= room:
            size = left
        page = text[offset : offset + size]
        rest = left - len(page)
        # In a server's reply no line of a text may pass for one of ours.
        if self._session.offers_offset:
            page = page.replace("\n", "\n  ")
        return f"{page or 'none'}{f' ... {rest} more; offset={offset + len(page)}' if rest > 0 else ''}"


class ReadSchema:
    """What the graph is made of."""

    def __init__(self, session: Session) -> None:
        self._session = session
        self.spec = spec("schema", _SCHEMA, {})

    def __call__(self, arguments: Mapping[str, JsonValue]) -> Observation:
        """Return the node types and edge types, as many as fit."""
        reply = ReplyLines(self._session)
        lines = schema_lines(self._session.graph)
        reply.list(range(len(lines)), lines)
        return Observation(reply.text())


class SearchPassages:
    """A search for readers: it shows whole passages; `search_in_graph` shows one line of a node."""

    def __init__(self, session: Session, k: int, *, has_filters: bool = False) -> None:
        """Without filters it finds passages only; in a graph without passages, any node."""
        self._session, self._k = session, k
        properties = {"query": query(session.mode), "k": {**count(k), "default": k}}
        if has_filters:
            properties |= {"node_types": NODE_TYPES, "where": WHERE}
        self.spec = spec(SEARCH_PASSAGES, _PASSAGES, properties, ["query"])

    def __call__(self, arguments: Mapping[str, JsonValue]) -> Observation:
        """Return the best passages."""
        session, graph = self._session, self._session.graph
        notes: list[str] = []
        query = text(arguments, "query") or ""
        k = number(arguments, "k", self._k)
        mode = session.payment.payable(session.mode, query, notes)
        node_types, where = (tuple(texts(arguments, name) or ()) for name in ("node_types", "where"))
        spaces = Spaces(graph, mode)
        rows = spaces.search(query, k, spaces.answers(node_types, where)).rows.tolist()
        reply = ReplyLines(session, notes)
        if not rows:
            reply.say("No passage has any of these words. Try others.")
        reply.list(
            rows, ("\n".join([title(graph, row), *indented(graph.arrays.texts[row][:_LONGEST])]) for row in rows)
        )
        return reply.observation()


# The parameters that several tools share, as JSON schema, and how the arguments of a call are read.
#
# Defaults stand here once, for schema, prompt and code.


SEARCH_K = 5  # ARK, section 3.1: k of the global search unless the agent asks otherwise
NEIGHBORS_K = 20  # ARK, appendix A.2: the fixed budget of a neighbourhood search
LARGEST_K = 100

PLAIN_NODE: dict[str, Any] = {"type": "string", "description": "a node's id or exact name"}
PLAIN_NODES: dict[str, Any] = {
    "type": "array",
    "items": {"type": "string"},
    "minItems": 1,
    "description": "Each one a node's id or exact name",
}
_RANKED: Mapping[str, str] = {
    "lexical": "Words to rank by (BM25)",
    "dense": "Text to rank by, in meaning",
    "hybrid": "Text to rank by, in words (BM25) and in meaning",
}
NODE_TYPES: dict[str, Any] = {
    "type": "array",
    "items": {"type": "string"},
    "description": "Keep nodes of these node types only",
}
EDGE_TYPES: dict[str, Any] = {
    "type": "array",
    "items": {"type": "string"},
    "description": "Walk edges of these edge types only",
}
DIRECTION: dict[str, Any] = {
    "enum": ["out", "in"],
    "description": "Only edges that leave (out) or reach (in) the node. Rarely needed",
}
WHERE: dict[str, Any] = {
    "type": "array",
    "items": {"type": "string"},
    "description": "Conditions on properties, such as `year >= 2000` or `status = approved`",
}

MODE: dict[str, Any] = {
    "enum": ["lexical", "dense", "hybrid"],
    "description": "Rank by words (lexical), by meaning (dense), or by both",
}


def node(*, saves_sets: bool, takes_kinds: bool = False) -> dict[str, Any]:
    """Return the schema of a node; if sets are saved, a set may replace it, and where kinds are taken a node type."""
    return {"type": "string", "description": _reference(saves_sets, takes_kinds)}


def nodes(*, saves_sets: bool, takes_kinds: bool = False) -> dict[str, Any]:
    """Return the schema of a list of what `node` takes."""
    return {**PLAIN_NODES, "description": f"Each one {_reference(saves_sets, takes_kinds)}"}


def node_or_nodes(*, saves_sets: bool, takes_kinds: bool = False) -> dict[str, Any]:
    """Return the schema of what `node` takes, or a list of it."""
    own = _reference(saves_sets, takes_kinds)
    return {**PLAIN_NODES, "type": ["string", "array"], "description": f"{own}; or a list of them"}


def _reference(saves_sets: bool, takes_kinds: bool) -> str:
    ways = ["a node's id or exact name", "`name (Type)`"]
    ways += ["a saved set such as @2"] * saves_sets + ["`all TYPE` for all nodes of a type"] * takes_kinds
    return f"{', '.join(ways[:-1])}, or {ways[-1]}"


def query(mode: Mode) -> dict[str, Any]:
    """Return the schema of `query` for searches of this mode."""
    return {"type": "string", "description": _RANKED[ranking_of(mode).kind]}


def count(default: int) -> dict[str, Any]:
    """Return the schema of `k`."""
    return {"type": "integer", "minimum": 1, "maximum": LARGEST_K, "description": f"Rows to show; default {default}"}


def offset(unit: str = "Rows") -> dict[str, Any]:
    """Return the schema of `offset`, which counts in these units."""
    return {"type": "integer", "minimum": 0, "description": f"{unit} to skip; default 0"}


def spec(name: str, description: str, properties: Mapping[str, Any], required: Sequence[str] = ()) -> ToolSpec:
    """Return a tool as data."""
    return ToolSpec(name=name, description=description, parameters=table(properties, required))


def table(properties: Mapping[str, Any], required: Sequence[str] = ()) -> dict[str, Any]:
    """Return the schema of an object with these members."""
    schema: dict[str, Any] = {"type": "object", "properties": dict(properties), "additionalProperties": False}
    return schema | ({"required": list(required)} if required else {})


def texts(arguments: Mapping[str, JsonValue], name: str) -> list[str] | None:
    """Return a list argument, or None if it is absent or empty. The schema has checked its items."""
    value = arguments.get(name)
    return cast(list[str], value) if value else None  # checked against the schema before the tool runs


def parameter_references(arguments: Mapping[str, JsonValue], name: str) -> list[str]:
    """Return the nodes and sets that an argument names, one or a list. The schema has checked it."""
    value = arguments.get(name)
    return cast(list[str], value) if isinstance(value, list) else [text(arguments, name) or ""]


def text(arguments: Mapping[str, JsonValue], name: str) -> str | None:
    """Return a text argument, or None if it is absent or blank."""
    value = arguments.get(name)
    return value if isinstance(value, str) and value.strip() else None


def mode(arguments: Mapping[str, JsonValue], default: Mode) -> Mode:
    """Return the mode of a search. The schema has checked the name."""
    return cast(Mode, arguments.get("mode") or default)  # checked against the schema before the tool runs


def number(arguments: Mapping[str, JsonValue], name: str, default: int) -> int:
    """Return a whole number argument."""
    value = arguments.get(name)
    return value if isinstance(value, int) else default
