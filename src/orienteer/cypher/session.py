"""Cypher over one graph: the guard, and the engine behind it."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Protocol

from orienteer.cypher.confined import ConfinedEngine
from orienteer.cypher.names import MOST_ROWS, Bounds, NameMap, QueryTable, View
from orienteer.cypher.parser import parse
from orienteer.cypher.syntax import CypherStatement
from orienteer.errors import BadOption
from orienteer.graph.damage import damage_told
from orienteer.graph.store import Graph
from orienteer.records import JsonValue

LIMIT = 100  # rows
SECONDS = 10.0
MOST_CHARACTERS = 400_000  # of all rows of an answer, as JSON: a bound on memory, like the next


class Engine(Protocol):
    """Answers statements over a graph. It receives trees of allowed parts, never a text."""

    @property
    def names(self) -> NameMap:
        """The map from the names in queries to the engine's names of types and properties."""

    def answer(self, statement: CypherStatement, parameters: Mapping[str, JsonValue], bounds: Bounds) -> QueryTable:
        """Return the answer to a statement: a node has `id`, `type`, `name`, `properties`, an edge its ends and type.

        Names are those of the statement's view, if it has one. Raises `BadQuery` for a form that it cannot answer
        correctly, with the form to use; `UnknownType`; `UnknownProperty`; `QueryStopped` if a bound is exceeded.
        """

    def check(self, statement: CypherStatement, parameters: Mapping[str, JsonValue]) -> None:
        """Raise the errors of `answer` that need no look at the graph."""

    def close(self) -> None:
        """Free the engine's resources; the next statement acquires them again."""


class Cypher:
    """Read-only Cypher over a graph, by worker processes or, over a database in place, by its server.

    Another engine may be passed. It is created once for a graph and is shared by all callers.
    """

    def __init__(self, graph: Graph, engine: Callable[[Graph], Engine] | None = None) -> None:
        self._graph = graph
        make: Callable[[Graph], Engine] = engine or graph.arrays.cypher_engine or ConfinedEngine
        self.engine: Engine = graph.arrays.once(("cypher", make), lambda: make(graph))

    def check(self, text: str, parameters: Mapping[str, JsonValue] | None = None) -> None:
        """Raise the errors of `query` that need no look at the graph."""
        self.engine.check(parse(text), dict(parameters or {}))

    @property
    def names(self) -> NameMap:
        """The map of the names of types and properties."""
        return self.engine.names

    def query(
        self,
        text: str,
        parameters: Mapping[str, JsonValue] | None = None,
        *,
        limit: int | None = LIMIT,
        seconds: float = SECONDS,
        view: View | None = None,
    ) -> QueryTable:
        """Return at most `limit` rows of the answer to a statement; None means as many as an answer may have.

        Through a view, nodes and types have the view's names. Raises `BadQuery`, `UnknownType` and `UnknownProperty`
        for a statement that is not allowed or not understood, with the form to use; `QueryStopped` if it takes more
        than `seconds` or too much memory, or waits that long for other queries.
        """
        limit = MOST_ROWS if limit is None else limit
        if not 0 <= limit <= MOST_ROWS:
            raise BadOption(f"limit is {limit}: it must be 0 to {MOST_ROWS:,}")
        if not 0 < seconds <= 3_600:
            raise BadOption(f"seconds is {seconds:g}: it must be above 0, up to 3,600")
        bounds = Bounds(rows=limit, characters=MOST_CHARACTERS, seconds=seconds)
        with damage_told(self._graph.path, self._graph.arrays.manifest.generation):
            return self.engine.answer(parse(text, view), dict(parameters or {}), bounds)

    def close(self) -> None:
        """Free the engine's resources; the next query acquires them again."""
        self.engine.close()
