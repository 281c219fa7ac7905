"""`cypher` as a model's code calls it: rows as dicts, and what was left out of them told beside."""

from __future__ import annotations

import json
import time
from typing import TYPE_CHECKING

from orienteer.cypher.session import SECONDS, Cypher
from orienteer.cypher.table import QueryTable
from orienteer.errors import BadOption, QueryStopped
from orienteer.graph.store import Graph
from orienteer.records import JsonValue

if TYPE_CHECKING:
    from orienteer.cypher.view import View

_LEAST_SECONDS = 0.05
_SHARE = 0.9  # of the time that is left a query may take: the code has to hear of it
_MOST_NOTES = 4
_MOST_KEPT = 8_000_000  # characters of the answers of a run, as JSON
_NODE, _EDGE = {"id", "type", "name", "properties"}, {"source", "type", "target", "properties"}


class ServedCypher:
    """Answers the queries of one run of code after the other. Not shared among threads."""

    def __init__(self, graph: Graph, *, rows: int, view: View | None) -> None:
        """Raises `MissingExtra` without the extra `cypher`."""
        _ = Cypher(graph)  # before a model is paid; the graph keeps it
        self._graph, self._rows, self._view = graph, rows, view
        self._ends = 0.0
        self._number = self._characters = 0
        self.notes: list[str] = []
        """What the run was not given, or was read otherwise than written."""
        self.returned: list[QueryTable] = []
        """What the run was given, the first of it where that is a great deal."""

    def begin(self, seconds: float) -> None:
        """Forget the run before, and give the next one some seconds."""
        self._ends = time.monotonic() + seconds
        self._number = 0
        self._characters = 0
        self.notes, self.returned = [], []

    def cypher(self, query: str, params: JsonValue = None, limit: JsonValue = None) -> list[JsonValue]:
        """Return the rows, each a dict of values by column; a node is one of its id, type, name and properties.

        Raises as `Cypher.query` does, and `BadOption`.
        """
        self._number += 1
        wanted = self._limit(limit)
        rest = self._ends - time.monotonic()
        if rest < _LEAST_SECONDS:
            raise QueryStopped("the code has no time left for a query")
        table = Cypher(self._graph).query(
            _text(query), _parameters(params), limit=wanted, seconds=min(rest * _SHARE, SECONDS), view=self._view
        )
        self._note(table, wanted, is_own=limit is not None and wanted < self._rows)
        self._keep(table)
        return [dict(zip(table.columns, map(_flat, row), strict=True)) for row in table.rows]

    def _keep(self, table: QueryTable) -> None:
        """Keep an answer, if there is room: a run may ask hundreds of times for the largest that there is."""
        self._characters += len(json.dumps(table.rows))
        if self._characters <= _MOST_KEPT:
            self.returned.append(table)

    def _limit(self, limit: JsonValue) -> int:
        if limit is None:
            return self._rows
        if isinstance(limit, bool) or not isinstance(limit, int) or limit < 0:
            raise BadOption(f"limit is {str(limit)[:40]}: it must be a whole number from 0, or None")
        return min(limit, self._rows)

    def _note(self, table: QueryTable, wanted: int, *, is_own: bool) -> None:
        said = list(table.notes)
        if table.truncated and not (is_own and len(table.rows) == wanted):
            most = f"{self._rows:,} rows" if len(table.rows) == wanted else "the size that a result may have"
            said.append(
                f"the result was cut at {most}: {len(table.rows):,} of {table.total:,} rows were returned; "
                "aggregate in the query, or page with ORDER BY, SKIP and LIMIT"
            )
        room = _MOST_NOTES - len(self.notes)
        self.notes += [f"query {self._number}: {one}" for one in said[: max(room, 0)]]


def _text(query: JsonValue) -> str:
    if not isinstance(query, str):
        raise BadOption(f"cypher(query, params=None, limit=None): query must be text, not {type(query).__name__}")
    return query


def _parameters(params: JsonValue) -> dict[str, JsonValue]:
    if params is None:
        return {}
    if not isinstance(params, dict):
        raise BadOption(f"params must be a dict of values by name, not {type(params).__name__}")
    return params


def _flat(value: JsonValue) -> JsonValue:
    """Return a value whose nodes and edges have their properties beside their names, as Neo4j's drivers give them.

    Code that is written for those asks `row["d"].get("year")`, and would take its own mistake for a missing year.
    """
    if isinstance(value, list):
        return [_flat(one) for one in value]
    if not isinstance(value, dict):
        return value
    if value.keys() == _NODE or value.keys() == _EDGE:
        own = {name: one for name, one in value.items() if name != "properties"}
        return {**own, **{name: one for name, one in value["properties"].items() if name not in own}}
    return {name: _flat(one) for name, one in value.items()}
