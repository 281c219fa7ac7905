"""Cypher over one graph: the guard, and the engine behind it."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Protocol

from orienteer.cypher.ladybug.engine import Ladybug
from orienteer.cypher.names import Names
from orienteer.cypher.parser import parse
from orienteer.cypher.syntax import Statement
from orienteer.cypher.table import Bounds, Table
from orienteer.cypher.view import View
from orienteer.errors import BadOption
from orienteer.graph.damage import damage_told
from orienteer.graph.store import Graph
from orienteer.records import JsonValue

LIMIT = 100  # rows
SECONDS = 10.0
MOST_CHARACTERS = 400_000  # of all rows of an answer, as JSON
MOST_ROWS = 100_000


class Engine(Protocol):
    """What answers statements over one graph. It is given trees of what is allowed, never a text."""

    @property
    def names(self) -> Names:
        """The graph's types and properties by whatever name they are given, and what the engine calls them."""

    def answer(self, statement: Statement, parameters: Mapping[str, JsonValue], bounds: Bounds) -> Table:
        """Return what a statement finds: a node has `id`, `type`, `name`, `properties`, an edge its ends and type.

        All by the names of the statement's view, where it has one. Raises `BadQuery` for a form that it cannot answer
        rightly, with the one to use, `UnknownType`, `UnknownProperty`, and `QueryStopped` where a bound is passed.
        """

    def close(self) -> None:
        """Let go of what the engine holds; the next statement takes it again."""


class Cypher:
    """Read-only Cypher over a graph. As safe among threads as its engine, which is ladybug where none is given.

    The engine is made once for a graph, with the copy that it reads, and is shared by all that ask over it. Raises
    `MissingExtra` where it is not installed.
    """

    def __init__(self, graph: Graph, engine: Callable[[Graph], Engine] = Ladybug) -> None:
        self._graph = graph
        self.engine: Engine = graph.once(("cypher", engine), lambda: engine(graph))

    @property
    def names(self) -> Names:
        """The graph's types and properties by whatever name they are given."""
        return self.engine.names

    def query(
        self,
        text: str,
        parameters: Mapping[str, JsonValue] | None = None,
        *,
        limit: int | None = LIMIT,
        seconds: float = SECONDS,
        view: View | None = None,
    ) -> Table:
        """Return what a statement finds, at most `limit` rows of it; None means as many as an answer may hold.

        Through a view, nodes and types have the names that it gives them. Raises `BadQuery`, `UnknownType` and
        `UnknownProperty` for what is not allowed or not understood, with the form to use; `QueryStopped` where it takes
        longer than `seconds` or more memory than it may, or waits as long for others' queries.
        """
        limit = MOST_ROWS if limit is None else limit
        if not 0 <= limit <= MOST_ROWS:
            raise BadOption(f"limit is {limit}: it must be 0 to {MOST_ROWS:,}")
        if not 0 < seconds <= 3_600:
            raise BadOption(f"seconds is {seconds:g}: it must be above 0, up to 3,600")
        bounds = Bounds(rows=limit, characters=MOST_CHARACTERS, seconds=seconds)
        with damage_told(self._graph.path, self._graph.manifest.generation):
            return self.engine.answer(parse(text, view), dict(parameters or {}), bounds)

    def close(self) -> None:
        """Let go of what the engine holds; the next query takes it again."""
        self.engine.close()
