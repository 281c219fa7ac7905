"""`cypher`: a read-only statement over the graph, for what the other tools cannot ask in one call."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, cast

import numpy as np

from orienteer.cypher.names import MOST_ROWS, QueryTable
from orienteer.cypher.session import Cypher
from orienteer.records import JsonValue, Observation
from orienteer.retrieval.graph_text import arrow, title
from orienteer.text.sentences import flat, one_line, value_text
from orienteer.tools import texts
from orienteer.tools.session import ReplyLines, Session, counted

_DESCRIPTION = (
    "Run one read-only Cypher query: MATCH, OPTIONAL MATCH, WHERE, WITH, RETURN, ORDER BY, SKIP, LIMIT, UNWIND, UNION. "
    "Node types are labels, edge types relationship types. Every node has id and name; texts are not in it: search "
    "those. No CALL { } and no reduce(): use EXISTS { }, COUNT { }, OPTIONAL MATCH with collect(). RETURN nodes or "
    "their ids, so that the result is a set."
)
_SET_ROWS = 10_000  # rows that are read for the set; what is shown is less
_SECONDS = 10.0
_NODE, _EDGE = frozenset({"id", "type", "name"}), frozenset({"source", "type", "target"})
_CELL = 120  # characters of a value at the least; few values share half of the reply


class RunCypher:
    """A query in Cypher."""

    def __init__(self, session: Session) -> None:
        self._session = session
        properties: dict[str, Any] = {  # Any: JSON schema
            "query": {"type": "string", "description": "The statement"},
            "k": texts.count(texts.NEIGHBORS_K),
        }
        if session.saves_sets:
            properties["params"] = {"type": "object", "description": "The values of its $parameters by name"}
        self.spec = texts.spec("cypher", _DESCRIPTION, properties, ["query"])

    def __call__(self, arguments: Mapping[str, JsonValue]) -> Observation:
        """Return the rows with their total number, and a set of the nodes in the first column that has any."""
        query = texts.text(arguments, "query") or ""
        params = cast(dict[str, JsonValue], arguments.get("params") or {})  # checked against the schema
        table = Cypher(self._session.graph).query(query, params, limit=min(_SET_ROWS, MOST_ROWS), seconds=_SECONDS)
        rows = self._nodes(table)
        reply = ReplyLines(self._session)
        reply.say_all(map(flat, table.notes))
        is_cut = table.truncated or any(word in query.casefold() for word in ("limit", "skip", "offset"))
        name = self._session.save(np.array(rows, np.int32), is_whole=not is_cut) if rows else ""
        about = f"{name}: {counted(len(set(rows)), 'node')} in " if name else ""
        cut = f", of which {len(table.rows)} were read" if table.truncated else ""
        head = f"{about}{counted(table.total, 'row')}{cut}: {flat(' | '.join(table.columns))}"
        shown = table.rows[: texts.number(arguments, "k", texts.NEIGHBORS_K)]
        wide = max(_CELL, self._session.reply_characters // 2 // max(1, len(shown) * len(table.columns)))
        lines = (" | ".join(self._cell(value, wide) for value in row) for row in shown)
        if self._session.offers_offset:
            reply.page(range(len(shown)), lines, lambda rows: f"{head}{_rest(rows, table.total)}")
        else:
            reply.say(head)
            for place, line in enumerate(lines):
                if not reply.say(line):
                    reply.say(f"... {len(shown) - place} more rows did not fit into this reply")
                    break
        ids = dict.fromkeys(self._session.graph.arrays.ids[row] for row in rows)
        return Observation(reply.text(), tuple(ids))

    def _nodes(self, table: QueryTable) -> list[int]:
        """Return the nodes of the first column that holds only nodes or ids, each once, as rows of the graph."""
        for column in range(len(table.columns)):
            cells = [self._row(row[column]) for row in table.rows]
            nodes = [row for row in cells if row is not None]
            if nodes and len(nodes) == sum(row[column] is not None for row in table.rows):
                return list(dict.fromkeys(nodes))
        return []

    def _row(self, value: JsonValue) -> int | None:
        if isinstance(value, dict) and set(value) >= _NODE:
            value = value["id"]
        return self._session.graph.arrays.ids.find(value) if isinstance(value, str) else None

    def _cell(self, value: JsonValue, wide: int) -> str:
        """Return a value as one line, which is cut unless it is a node or an edge."""
        text = self._text(value)
        is_whole = isinstance(value, dict) and (set(value) >= _NODE or set(value) >= _EDGE)
        return flat(text) if is_whole else one_line(text, wide)

    def _text(self, value: JsonValue) -> str:
        """Return a value as text: nodes as every reply shows them, edges as arrows, in lists and paths too."""
        graph = self._session.graph
        if isinstance(value, list) and any(isinstance(item, dict | list) for item in value):
            return f"[{', '.join(map(self._text, value))}]"
        if not isinstance(value, dict):
            return value_text(value)
        if set(value) >= _NODE:
            row = self._row(value)
            return title(graph, row) if row is not None else str(value["id"])
        if set(value) >= _EDGE:
            label = graph.schema.label(str(value["type"]))
            return f"[{value['source']}] {arrow(label, 'out')} [{value['target']}]"
        if isinstance(nodes := value.get("nodes"), list) and isinstance(edges := value.get("edges"), list):
            return ", ".join(map(self._text, [*nodes, *edges]))  # a path
        return value_text(value)


def _rest(shown: int, total: int) -> str:
    """Return the hint for the rows after the first `shown`, because no set keeps them."""
    return f". Shown 1-{shown}; SKIP {shown} in the statement for more." if shown < total else ""
