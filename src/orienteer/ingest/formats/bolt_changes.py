"""What has changed in a database since it was read, told by a property that rises with every change.

The property is a number, a text or a time. What does not have it, or has another kind of value, cannot tell, and is
read every time: so a condition asks for all that is not certainly older.
"""

from __future__ import annotations

import math
from collections.abc import Collection, Iterator
from typing import Any, Literal, NamedTuple, TypeAlias

from orienteer.connect.bolt.server import Server, quoted
from orienteer.connect.bolt.values import is_time
from orienteer.connect.source import Database, DatabaseCounts
from orienteer.errors import BadInput, BadOption
from orienteer.ingest.formats.elements import EdgeElement, NodeElement
from orienteer.ingest.tables.values import identifier
from orienteer.records import Record

TimeFunction: TypeAlias = Literal["", "date", "datetime", "localdatetime"]
"""The function of openCypher that makes such a time of a text; empty for numbers and texts."""


class Mark(Record):
    """The highest value of the property when the database was read."""

    function: TimeFunction
    value: int | float | str

    @property
    def term(self) -> str:
        """Return what gives the value in a statement, whose parameter `mark` it is."""
        return f"{self.function}($mark)" if self.function else "$mark"


class DatabaseMarks(Record):
    """What is remembered of a database, so that its changes can be told."""

    changed_by: str
    """The property."""
    nodes: Mark
    edges: Mark | None
    """None where no edge has the property."""
    id_property: str
    labels: dict[str, int]
    """Nodes by label."""
    sets: tuple[tuple[tuple[str, ...], int], ...]
    """Nodes by all their labels."""
    unsure: tuple[str, ...] = ()
    """Types of edges some of which led to nodes that were not there when nodes were read: their counts tell nothing."""
    edge_names: tuple[str, ...] = ()
    """The properties of edges, in the order in which they were met."""

    @property
    def counts(self) -> DatabaseCounts:
        """Return the nodes as they were counted; edges are counted by type elsewhere."""
        return DatabaseCounts(sum(count for _, count in self.sets), 0, self.labels, dict(self.sets))


class Newest(NamedTuple):
    """The highest value of a property among nodes, and among edges; None where no edge has it."""

    nodes: Mark
    edges: Mark | None


def newest(server: Server, name: str) -> Newest:
    """Return the highest values of a property.

    Raises `BadOption` where no node has it, or its values have no order, `BadInput` where there is no node.
    """
    value = quoted(name)
    nodes = server.rows(f"MATCH (n) RETURN max(n.{value}) AS newest")[0][0]
    if nodes is None:
        if not server.rows("MATCH (n) RETURN count(n) AS count")[0][0]:
            raise BadInput(f"{server.address} holds no node: check the name of the database")
        raise BadOption(f"--changed-by {name}: no node in {server.address} has such a property", value=name)
    edges = server.rows(f"MATCH ()-[r]->() RETURN max(r.{value}) AS newest")[0][0]
    return Newest(_mark(nodes, server, name), None if edges is None else _mark(edges, server, name))


def _mark(value: Any, server: Server, name: str) -> Mark:  # Any: a value of the database
    is_number = isinstance(value, int | float) and not isinstance(value, bool) and math.isfinite(value)
    if is_number or isinstance(value, str):
        return Mark(function="", value=value)
    functions: dict[str, TimeFunction] = {
        "Date": "date",
        "DateTime": "localdatetime",
        "date": "date",
        "datetime": "localdatetime",
    }
    function = functions.get(type(value).__name__) if is_time(value) else None
    if function is None:
        raise BadOption(
            f"--changed-by {name}: {server.address} has the value {value!r}; name a property of numbers, texts, "
            "dates or dates with times that rise with every change",
            value=name,
        )
    if function == "localdatetime" and value.tzinfo is not None:
        function = "datetime"
    return Mark(function=function, value=value.iso_format() if hasattr(value, "iso_format") else value.isoformat())


class EdgeCounts(NamedTuple):
    """The edges of a type in a database."""

    edges: int
    telling: int
    """Those that have the property."""
    newer: int
    """Those that may be new or changed."""


class DatabaseChanges:
    """Asks a database what has changed since it was read."""

    def __init__(self, database: Database, marks: DatabaseMarks) -> None:
        self._database, self._marks = database, marks

    def nodes(self, counts: DatabaseCounts) -> Iterator[NodeElement]:
        """Yield the nodes that may be new or changed."""
        mark = self._marks.nodes
        return self._database.chosen_nodes(counts, self._is_not_older("n", mark), mark=mark.value)

    def ids(self) -> Iterator[str]:
        """Yield the ids of all nodes."""
        for (node_id,) in self._database.server.stream(f"MATCH (n) RETURN {self._database.id_of('n')} AS id"):
            yield identifier(node_id)

    def edge_counts(self) -> dict[str, EdgeCounts]:
        """Count the edges by type."""
        value, mark = f"r.{quoted(self._marks.changed_by)}", self._marks.edges
        newer = "count(r)" if mark is None else f"sum(CASE WHEN {self._is_not_older('r', mark)} THEN 1 ELSE 0 END)"
        statement = (
            f"MATCH ()-[r]->() RETURN type(r) AS type, count(r) AS edges, count({value}) AS telling, {newer} AS newer"
        )
        rows = self._database.server.stream(statement, **({} if mark is None else {"mark": mark.value}))
        return {name: EdgeCounts(*counts) for name, *counts in rows}

    def edges(self, types: Collection[str]) -> Iterator[EdgeElement]:
        """Yield the edges of these types that may be new or changed, and others of the type between the same nodes."""
        mark = self._marks.edges
        if mark is None or not types:
            return iter(())
        match = (
            f"MATCH (a)-[c]->(b) WHERE type(c) IN $types AND {self._is_not_older('c', mark)} "
            "WITH DISTINCT a, b, type(c) AS kind MATCH (a)-[r]->(b) WHERE type(r) = kind"
        )
        return self._database.chosen_edges(match, types=sorted(types), mark=mark.value)

    def edges_of(self, name: str) -> Iterator[EdgeElement]:
        """Yield all edges of a type."""
        return self._database.chosen_edges(f"MATCH (a)-[r:{quoted(name)}]->(b)")

    def _is_not_older(self, what: str, mark: Mark) -> str:
        return f"NOT coalesce({what}.{quoted(self._marks.changed_by)} < {mark.term}, false)"
