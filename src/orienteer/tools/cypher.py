"""`cypher`: a read-only statement over the graph, for what the other tools cannot ask in one call."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence

import numpy as np

from orienteer.graph.cypher.session import MOST_ROWS
from orienteer.graph.cypher.table import Table
from orienteer.records import JsonValue, Observation
from orienteer.tools import arguments as given
from orienteer.tools.render import Reply, counted, one_line, title
from orienteer.tools.session import Session

_DESCRIPTION = (
    "Run one read-only Cypher query: MATCH, OPTIONAL MATCH, WHERE, WITH, RETURN, ORDER BY, SKIP, LIMIT, UNWIND, UNION. "
    "Node types are labels, edge types relationship types. Every node has id and name; texts are not in it: search "
    "those. No CALL { } and no reduce(): use EXISTS { }, COUNT { }, OPTIONAL MATCH with collect(). RETURN nodes or "
    "their ids, so that the result is a set."
)
_SET_ROWS = 10_000  # rows that are read for the set; what is shown is less
_SECONDS = 10.0
_CELL = 120  # characters


class RunCypher:
    """A query in Cypher."""

    def __init__(self, session: Session) -> None:
        self._session = session
        properties = {"query": {"type": "string", "description": "The statement"}, "k": given.count(given.NEIGHBORS_K)}
        self.spec = given.spec("cypher", _DESCRIPTION, properties, ["query"])

    def __call__(self, arguments: Mapping[str, JsonValue]) -> Observation:
        """Return the rows that fit, how many there are, and a set of the nodes in the first column that has any."""
        query = given.text(arguments, "query") or ""
        table = self._session.graph.cypher(query, limit=min(_SET_ROWS, MOST_ROWS), seconds=_SECONDS)
        rows = self._nodes(table)
        reply = Reply(self._session)
        reply.say_all(table.notes)
        name = self._session.save(np.array(rows, np.int32)) if rows else ""
        about = f"{name}: {counted(len(set(rows)), 'node')} in " if name else ""
        cut = f", of which {len(table.rows)} were read" if table.truncated else ""
        reply.say(f"{about}{counted(table.total, 'row')}{cut}: {' | '.join(table.columns)}")
        shown = table.rows[: given.number(arguments, "k", given.NEIGHBORS_K)]
        for place, row in enumerate(shown):
            if not reply.say(" | ".join(map(self._cell, row))):
                reply.say(f"... {len(shown) - place} more rows did not fit into this reply")
                break
        ids = dict.fromkeys(self._session.graph.ids[row] for row in rows)
        return Observation(reply.text(), tuple(ids))

    def _nodes(self, table: Table) -> list[int]:
        """Return the rows of the nodes, or of the ids, in the first column that holds nothing else; each once."""
        for column in range(len(table.columns)):
            found = [self._row(row[column]) for row in table.rows]
            nodes = [row for row in found if row is not None]
            if nodes and len(nodes) == sum(row[column] is not None for row in table.rows):
                return list(dict.fromkeys(nodes))
        return []

    def _row(self, value: JsonValue) -> int | None:
        if isinstance(value, dict) and {"id", "type", "name"} <= set(value):
            value = value["id"]
        return self._session.graph.ids.find(value) if isinstance(value, str) else None

    def _cell(self, value: JsonValue) -> str:
        graph = self._session.graph
        if isinstance(value, dict) and {"id", "type", "name"} <= set(value):
            row = self._row(value)
            return title(graph, row) if row is not None else str(value["id"])
        if isinstance(value, dict) and {"source", "type", "target"} <= set(value):
            return f"[{value['source']}] -{graph.schema.label(str(value['type']))}-> [{value['target']}]"
        return one_line(value if isinstance(value, str) else _json(value), _CELL)


def _json(value: JsonValue | Sequence[JsonValue]) -> str:
    return json.dumps(value, ensure_ascii=False)
