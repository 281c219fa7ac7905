"""A gold query run, and what it proves. GraphScout (003), appendix B.3.3.

The query of an item has one form an answer type, and gives one row:

- `entity`, `set`: `RETURN count(DISTINCT x) AS number, collect(DISTINCT x.id) AS ids`: the size is counted, never read
  off a list that may have been cut.
- `boolean`: `RETURN count(DISTINCT x) AS number`, with a witness beside it where there is one: `min(x.id) AS witness`.
  It is true where the count is above 0.
- `number`: one aggregate, `RETURN count(DISTINCT x) AS number`.

`LIMIT` stands in none of them.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

from orienteer.cypher.session import Cypher
from orienteer.cypher.table import Table
from orienteer.cypher.tokens import tokenize
from orienteer.errors import BadOption, BadQuery, QueryStopped, Unknown
from orienteer.evaluation.examples import AnswerType
from orienteer.graph.store import Graph
from orienteer.quizzes.gold import MOST_IN_SET
from orienteer.records import JsonValue

SECONDS = 30.0
"""A gold query that takes longer proves nothing."""
FORMS: Mapping[AnswerType, str] = {
    "entity": "RETURN count(DISTINCT x) AS number, collect(DISTINCT x.id) AS ids",
    "set": "RETURN count(DISTINCT x) AS number, collect(DISTINCT x.id) AS ids",
    "boolean": "RETURN count(DISTINCT x) AS number, min(x.id) AS witness",
    "number": "RETURN count(DISTINCT x) AS number",
}
"""How the query of each answer type ends."""
_AGGREGATES = frozenset({"count", "sum", "avg", "min", "max"})


class Fault(NamedTuple):
    """Why an item is not kept."""

    reason: str
    """One of `checks.REASONS`."""
    detail: str
    """What is wrong with this one, for whoever may mend it."""


class Proof(NamedTuple):
    """What a gold query gave when it was run again."""

    number: int | float
    """The count or other aggregate; of an entity or a set, its size."""
    nodes: tuple[str, ...] = ()
    """The ids of an entity or a set, ascending."""
    witness: str | None = None
    """The node that a boolean's query names."""

    def answers(self, graph: Graph, answer_type: AnswerType) -> tuple[str, ...]:
        """Return the answers as an item holds them: names of a set, an entity's name and aliases, else the value."""
        if answer_type == "boolean":
            return (str(self.number > 0),)
        if answer_type == "number":
            return (str(self.number) if isinstance(self.number, int) else f"{self.number:.12g}",)
        rows = [graph.row(node) for node in self.nodes]
        if answer_type == "entity":
            return tuple(dict.fromkeys(name for row in rows for name in (graph.names[row], *graph.aliases_at(row))))
        return tuple(dict.fromkeys(graph.names[row] for row in rows))


def prove(graph: Graph, answer_type: AnswerType, query: str, parameters: Mapping[str, JsonValue]) -> Proof | Fault:
    """Run a gold query and return what it proves, or why it proves nothing. Raises `MissingExtra` without Cypher."""
    try:
        words = [token.value.lower() for token in tokenize(query) if token.kind == "word"]
        if "limit" in words:
            return Fault("unproved", "the gold query has a LIMIT, which makes a count a guess: leave it out")
        table = _asked(graph, query, parameters)
    except (BadOption, BadQuery, QueryStopped, Unknown) as error:
        return Fault("unproved", f"the gold query fails: {error}")
    if table.total != 1 or not table.rows:
        return Fault("unproved", f"the gold query gives {table.total} rows: it must give one, {FORMS[answer_type]}")
    if _AGGREGATES.isdisjoint(words):
        return Fault("unproved", f"the gold query aggregates nothing: let it end in {FORMS[answer_type]}")
    if answer_type in ("entity", "set"):
        return _of_nodes(graph, answer_type, table.rows[0])
    return _of_number(answer_type, table.rows[0])


def _asked(graph: Graph, query: str, parameters: Mapping[str, JsonValue]) -> Table:
    """Return what a query finds; one that was stopped is asked once more, of a fresh engine.

    What the queries before it left behind decides whether the memory is enough, and no item may hang on that.
    """
    try:
        return Cypher(graph).query(query, parameters, limit=2, seconds=SECONDS)
    except QueryStopped:
        Cypher(graph).close()
        return Cypher(graph).query(query, parameters, limit=2, seconds=SECONDS)


def _of_number(answer_type: AnswerType, row: tuple[JsonValue, ...]) -> Proof | Fault:
    number = row[0]
    if isinstance(number, bool) or not isinstance(number, int | float):
        return Fault("unproved", f"the gold query gives {number!r}, no number: let it end in {FORMS[answer_type]}")
    if answer_type == "number":
        return Proof(number)
    witness = next((value for value in row[1:] if isinstance(value, str)), None)
    return Proof(number, witness=witness)


def _of_nodes(graph: Graph, answer_type: AnswerType, row: tuple[JsonValue, ...]) -> Proof | Fault:
    form = FORMS[answer_type]
    number, ids = (row[0], row[1]) if len(row) == 2 else (None, None)
    if isinstance(number, bool) or not isinstance(number, int) or not isinstance(ids, list):
        return Fault("unproved", f"the gold query must give a count and a list of ids: let it end in {form}")
    nodes = tuple(sorted({node for node in ids if isinstance(node, str) and graph.ids.find(node) is not None}))
    if len(nodes) != len(ids) or len(nodes) != number:
        return Fault("unproved", f"the count is {number} and {len(nodes)} of the {len(ids)} are ids of nodes: {form}")
    if answer_type == "entity" and number != 1:
        return Fault("empty" if number == 0 else "not unique", f"{number} nodes answer: exactly one has to")
    if answer_type == "set" and number < 2:
        return Fault("empty", f"{number} nodes answer: a set has 2 to {MOST_IN_SET}")
    if answer_type == "set" and number > MOST_IN_SET:
        return Fault(
            "oversized", f"{number} nodes answer: a set has {MOST_IN_SET} at the most, so ask for more of them"
        )
    return Proof(number, nodes)
