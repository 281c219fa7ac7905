"""Cypher over one graph: the guard, and the engine behind it."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from typing import Protocol

from orienteer.cypher.confined import ConfinedEngine
from orienteer.cypher.names import MOST_ROWS, Bounds, NameMap, QueryTable, RowProof, View
from orienteer.cypher.parser import parse
from orienteer.cypher.proof import absences, laid_statement, parts_of, rows_laid, values_of
from orienteer.cypher.syntax import CypherStatement, Laid
from orienteer.elements import JsonValue
from orienteer.errors import BadOption, BadQuery, QueryStopped
from orienteer.graph.damage import damage_told
from orienteer.graph.store import Graph

LIMIT = 100  # rows
SECONDS = 10.0
_LEAST = 0.05  # seconds that proofs have, also at the end of the time
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
        proofs: int = 0,
    ) -> QueryTable:
        """Return at most `limit` rows of the answer to a statement; None means as many as an answer may have.

        Through a view, nodes and types have the view's names. The first `proofs` rows come with what they rest on,
        as many as `seconds` allow; a note says if they are fewer.

        Raises `BadQuery`, `UnknownType` and `UnknownProperty` for a statement that is not allowed or not understood,
        with the form to use; `QueryStopped` if it takes more than `seconds` or too much memory, or waits that long for
        other queries.
        """
        limit = MOST_ROWS if limit is None else limit
        if not 0 <= limit <= MOST_ROWS:
            raise BadOption(f"limit is {limit}: it must be 0 to {MOST_ROWS:,}")
        if not 0 < seconds <= 3_600:
            raise BadOption(f"seconds is {seconds:g}: it must be above 0, up to 3,600")
        bounds = Bounds(rows=limit, characters=MOST_CHARACTERS, seconds=seconds)
        with damage_told(self._graph.path, self._graph.arrays.manifest.generation):
            statement, given, deadline = parse(text, view), dict(parameters or {}), time.monotonic() + seconds
            table = self.engine.answer(statement, given, bounds)
            return self._proved(table, statement, given, deadline, proofs) if proofs else table

    def _proved(
        self,
        table: QueryTable,
        statement: CypherStatement,
        parameters: Mapping[str, JsonValue],
        deadline: float,
        most: int,
    ) -> QueryTable:
        """Return an answer with the proofs of its first rows; a note says which a bound has left out."""
        proofs, notes = list[RowProof](), table.notes
        deadline = max(deadline, time.monotonic() + _LEAST)
        try:
            for row in table.rows[:most]:
                values = dict(zip(table.columns, row, strict=True))
                for query in range(len(statement.queries)):
                    # A row of a UNION is of the first query that it can be proved of: their columns are named alike.
                    proof = self._proof(statement, Laid(query, 0, values, True), parameters, deadline)
                    if proof.laid or query + 1 == len(statement.queries):
                        proofs.append(proof)
                        break
        except QueryStopped as stopped:  # the answer is there, whatever its proofs cost
            asked = min(most, len(table.rows))
            notes = (*notes, f"only {len(proofs)} of {asked} rows are proved: {stopped.public}")
        return table.model_copy(update={"proofs": tuple(proofs), "notes": notes})

    def _proof(
        self, statement: CypherStatement, laid: Laid, parameters: Mapping[str, JsonValue], deadline: float
    ) -> RowProof:
        rows = list[dict[str, JsonValue]]()
        for binds_scalars in (True, False):  # some values are not equal to their form as JSON: dates
            laid = laid._replace(binds_scalars=binds_scalars)
            left = deadline - time.monotonic()
            if left <= 0:
                raise QueryStopped("the statement's time is over: allow more seconds")
            try:
                table = self.engine.answer(
                    laid_statement(statement, laid), parameters, Bounds(MOST_ROWS, MOST_CHARACTERS, left)
                )
            except BadQuery:  # nothing fits a pattern, where 0 was counted; or a value has another kind as JSON
                continue
            if rows := rows_laid(table, statement, laid):
                break
        before = None
        if rows and laid.part + 1 < len(parts_of(statement, laid.query)):
            before = self._proof(statement, Laid(laid.query, laid.part + 1, rows[0], True), parameters, deadline)
        return RowProof(
            laid=tuple(rows), values=values_of(statement, laid), absent=absences(statement, laid), before=before
        )

    def close(self) -> None:
        """Free the engine's resources; the next query acquires them again."""
        self.engine.close()
