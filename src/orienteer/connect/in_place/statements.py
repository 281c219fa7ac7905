"""Cypher over a database in place: the guard's trees, written as openCypher, answered by the server.

A statement has its own session and connection. It ends within its time limit: the server is asked to stop it, and if it
does not, the connection is cut and the server told to end it. One row more than wanted is requested, for some servers
truncate results silently.
"""

from __future__ import annotations

import json
import re
import threading
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import closing, contextmanager
from dataclasses import dataclass
from queue import Empty, LifoQueue
from typing import Any, NamedTuple

from orienteer.connect.bolt import Server, is_edge, is_node, is_path, statement_error
from orienteer.connect.in_place.contents import Described, SeenNodes, needs_import
from orienteer.connect.opencypher.expressions import ServerExpressions, ServerPatterns
from orienteer.connect.opencypher.server_names import ServerNames
from orienteer.cypher import syntax
from orienteer.cypher.functions import check_portable
from orienteer.cypher.kinds import Value
from orienteer.cypher.names import Bounds, QueryTable
from orienteer.cypher.parser import TOO_DEEP
from orienteer.cypher.patterns import Scope
from orienteer.cypher.projections import in_two_steps, items_of, order_of, page_of
from orienteer.cypher.syntax import CypherStatement, MatchClause, Projection, Unwind
from orienteer.errors import BadOption, BadQuery, DatabaseAway, QueryStopped
from orienteer.ingest.tables.values import plain
from orienteer.query import expressions as ex
from orienteer.records import JsonValue

SESSIONS = 3
"""Statements at once. ArcadeDB runs four on two cores, and lets all others wait."""
GRACE = 1.0
"""Seconds beyond its limit that a statement has, so that the server can report that it has stopped it."""
RAW_FACTOR = 10
"""The server may send this many times the characters of an answer, which leaves properties out."""
_TOO_MUCH = "the server could not carry it out, perhaps for its memory; ask for less, with types in the pattern"
# Dropped from messages: it reveals the server's machine.
_SERVER_PATH = re.compile(r"(?:[A-Za-z]:)?(?:[/\\][\w.\-]+){2,}")


class StatementsInPlace:
    """Answers statements over a database. Safe to share among threads: each takes a session, or waits for one."""

    def __init__(self, server: Server, described: Described, seen: SeenNodes) -> None:
        self._server, self._seen = server, seen
        self.names, self._shown = described.names, described.shown
        self._idle: LifoQueue[Server | None] = LifoQueue()  # None: a session that is not open yet
        for _ in range(SESSIONS):
            self._idle.put(None)

    def check(self, statement: CypherStatement, parameters: Mapping[str, JsonValue]) -> None:
        """Raise the errors that `answer` raises without the server."""
        self._server_statement(statement, parameters, 1)

    def answer(self, statement: CypherStatement, parameters: Mapping[str, JsonValue], bounds: Bounds) -> QueryTable:
        """Return the answer to a statement. Raises what `Cypher.query` raises, and `DatabaseAway`."""
        written = self._server_statement(statement, parameters, bounds.rows + 1)
        until = time.monotonic() + bounds.seconds
        fetched = self._fetch(written, until, bounds)
        records = fetched.rows[: bounds.rows]
        elements = [element for record in records for value in record for element in _elements(value)]
        # They came with their labels and properties.
        nodes = dict.fromkeys(filter(is_node, elements))
        self._seen.take([(node.element_id, list(node.labels), dict(node.items())) for node in nodes])
        ends = [end for element in elements for end in ((element,) if is_node(element) else element.nodes)]
        rows_of = self._seen.rows_by_element([end.element_id for end in ends if end is not None])
        rows: list[tuple[JsonValue, ...]] = []
        left = bounds.characters
        for record in records:
            row = tuple(self._json(value, rows_of) for value in record)
            left -= len(json.dumps(row, ensure_ascii=False))
            if left < 0:
                break
            rows.append(row)
        total, notes = len(rows), written.notes
        if fetched.is_cut or len(fetched.rows) > len(rows):
            total, note = self._counted(written, until, at_least=len(fetched.rows))
            notes = (*notes, *note)
        return QueryTable(
            columns=written.columns, rows=tuple(rows), total=total, truncated=len(rows) < total, notes=notes
        )

    def close(self) -> None:
        """Close the sessions once their statements have ended; the next statement opens another."""
        for _ in range(SESSIONS):
            if (server := self._idle.get()) is not None:
                server.close()
        for _ in range(SESSIONS):
            self._idle.put(None)

    def _server_statement(
        self, statement: CypherStatement, parameters: Mapping[str, JsonValue], most: int
    ) -> ServerStatement:
        if statement.view is not None:
            raise BadOption(f"the names of a view need whole columns: {needs_import(self._server)}")
        return written_for_server(statement, self.names, parameters, most=most)

    # -------------------------------------------------------------------------------------------------- sessions

    def _fetch(self, written: ServerStatement, until: float, bounds: Bounds) -> _Fetched:
        most = RAW_FACTOR * bounds.characters
        with self._session_until(until) as server:
            try:
                return _within(server, until, lambda: _fetched(server, written.text, written.parameters, until, most))
            except DatabaseAway as error:
                if (what := statement_error(error)) is not None:
                    what = _SERVER_PATH.sub("...", what)
                    raise BadQuery(
                        f"the database cannot answer this form ({what}): write the query in simpler steps, with WITH"
                    ) from error
                # Raises an error if the server is away, before it is asked a question.
                self._server.rows("RETURN 1")
                raise QueryStopped(f"the query broke off: {_TOO_MUCH}") from error
            except QueryStopped as error:
                raise QueryStopped(
                    f"the query took longer than {bounds.seconds:g} s and was stopped: begin with a node by its id, "
                    "give types to nodes and edges, and use fewer hops"
                ) from error

    def _counted(self, written: ServerStatement, until: float, *, at_least: int) -> tuple[int, tuple[str, ...]]:
        """Return the number of rows, with a note if the server could not count them in the remaining time."""
        if written.counting is not None and until - time.monotonic() > 0:
            text = written.counting
            try:
                with self._session_until(until) as server:
                    counted = _within(server, until, lambda: _fetched(server, text, written.parameters, until, 1_000))
                return max(int(counted.rows[0][0]), at_least), ()
            except (QueryStopped, DatabaseAway):
                # The answer has its rows all the same.
                pass
        return at_least, ("there are more rows; how many, the server did not say",)

    @contextmanager
    def _session_until(self, until: float) -> Iterator[Server]:
        """Wait for a session; one that was cut is reopened. Raises `QueryStopped`, `DatabaseAway`."""
        try:
            server = self._idle.get(timeout=max(0.0, until - time.monotonic()))
        except Empty as fault:
            raise QueryStopped("other queries kept the database busy for too long: ask again") from fault
        try:
            server = server or self._server.another()
            yield server
        except BaseException as error:
            # A late reply would answer the next statement.
            if server is not None and not isinstance(error, BadQuery):
                server.close()
                # Nobody waits until the server has ended the statement.
                if server.mark is not None:
                    end = threading.Thread(target=self._server.end, args=(server.mark,), name="orienteer-end")
                    end.daemon = True
                    end.start()
                server = None
            raise
        finally:
            self._idle.put(server)

    # ---------------------------------------------------------------------------------------------------- values

    def _json(self, value: Any, rows_of: Mapping[str, int]) -> JsonValue:  # Any: a value of the database
        """Return a value as JSON: nodes, edges and paths as maps, times as texts, points as coordinates."""
        if is_node(value):
            node = self._seen.nodes[rows_of[value.element_id]]
            own = {name: item for name, item in node.properties.items() if name in self._shown}
            return {"id": node.id, "type": node.type, "name": node.name, "properties": own}
        if is_edge(value):
            ends = [value.start_node.element_id, value.end_node.element_id]
            source, target = (self._seen.nodes[rows_of[end]].id if end in rows_of else end for end in ends)
            edge: dict[str, JsonValue] = {"source": source, "type": value.type, "target": target}
            carried = {name: plain(item) for name, item in value.items() if name in self.names.catalog.edge_columns}
            if carried := {name: item for name, item in carried.items() if item is not None}:
                edge["properties"] = carried
            return edge
        if is_path(value):
            nodes, edges = (
                [self._json(part, rows_of) for part in parts] for parts in (value.nodes, value.relationships)
            )
            return {"nodes": nodes, "edges": edges}
        if isinstance(value, dict):
            return {str(key): self._json(item, rows_of) for key, item in value.items()}
        if isinstance(value, list):
            return [self._json(item, rows_of) for item in value]
        return value if isinstance(value, str) else plain(value)


class _Fetched(NamedTuple):
    """The reply of a server."""

    rows: list[list[Any]]  # Any: values of the database
    is_cut: bool
    """There would have been more than may be held."""


def _fetched(server: Server, text: str, parameters: Mapping[str, JsonValue], until: float, most: int) -> _Fetched:
    """Fetch rows of a statement, up to `most` characters."""
    rows: list[list[Any]] = []
    with closing(server.ask(text, parameters, max(until - time.monotonic(), 0.001))) as records:
        for record in records:
            rows.append(record)
            most -= _size(record)
            if most < 0:
                return _Fetched(rows, True)
    return _Fetched(rows, False)


def _within(server: Server, until: float, work: Callable[[], _Fetched]) -> _Fetched:
    """Return the result of `work`. Raises what it raises, and `QueryStopped` if it outlasts its time."""
    results: list[_Fetched] = []
    faults: list[BaseException] = []

    def run() -> None:
        try:
            results.append(work())
        except BaseException as error:  # noqa: BLE001  # the waiting thread raises it
            faults.append(error)

    thread = threading.Thread(target=run, name="orienteer-statement", daemon=True)
    thread.start()
    thread.join(max(0.0, until - time.monotonic()) + GRACE)
    if thread.is_alive():
        raise QueryStopped("the server did not end the statement in its time")
    if faults:
        raise faults[0]
    return results[0]


def _elements(value: Any) -> Iterator[Any]:  # Any: values of the database
    """Yield the nodes and edges of a value, including those in paths, lists and maps."""
    if is_node(value) or is_edge(value):
        yield value
    elif is_path(value):
        yield from (*value.nodes, *value.relationships)
    elif isinstance(value, list | dict):
        for item in value.values() if isinstance(value, dict) else value:
            yield from _elements(item)


def _size(value: Any) -> int:  # Any: a value of the database
    """Estimate the number of characters of a value."""
    if isinstance(value, str):
        return len(value)
    if isinstance(value, dict):
        return 8 + sum(len(str(key)) + _size(item) for key, item in value.items())
    if isinstance(value, list | tuple):
        return 8 + sum(map(_size, value))
    if is_path(value):
        return sum(map(_size, (*value.nodes, *value.relationships)))
    return 8 + sum(map(_size, value.values())) if is_node(value) or is_edge(value) else 8


# A statement's tree as openCypher text with its parameters.


# Characters of the server's text: a bound on its parser's time.
LONGEST_WRITTEN = 100_000


class ServerStatement(NamedTuple):
    """A statement as openCypher."""

    text: str
    counting: str | None
    """The statement that counts its rows; None for a UNION."""
    parameters: dict[str, JsonValue]
    columns: tuple[str, ...]
    notes: tuple[str, ...]


def written_for_server(
    statement: CypherStatement, names: ServerNames, parameters: Mapping[str, JsonValue], *, most: int
) -> ServerStatement:
    """Write a statement that gives at most `most` rows. Raises `BadQuery`, `UnknownType`, `UnknownProperty`."""
    check_portable(statement)
    scope, parts = Scope(names, parameters), list[_ServerQuery]()
    try:
        for query in statement.queries:
            scope.variables = {}
            parts.append(_QueryWriter(scope, ServerExpressions(scope), most).write(query))
    except RecursionError:
        raise BadQuery(TOO_DEEP) from None
    text = (" UNION ALL " if statement.keeps_repeats else " UNION ").join(part.text for part in parts)
    if len(text) > LONGEST_WRITTEN:
        raise BadQuery("the query becomes too long for the server: name its repeated parts by WITH ... AS")
    counting = parts[0].counting if len(parts) == 1 else None
    return ServerStatement(text, counting, scope.used, parts[-1].columns, tuple(scope.notes))


class _ServerQuery(NamedTuple):
    """One query of a UNION."""

    text: str
    counting: str
    columns: tuple[str, ...]


@dataclass(slots=True)
class _QueryWriter:
    """Writes one query of a UNION."""

    scope: Scope
    expressions: ServerExpressions
    most: int

    def write(self, clauses: tuple[syntax.Clause, ...]) -> _ServerQuery:
        """Return the query. Raises `BadQuery`, `UnknownType`, `UnknownProperty`."""
        parts = []
        for clause in clauses[:-1]:
            if isinstance(clause, MatchClause):
                parts.append(self._match(clause))
            elif isinstance(clause, Unwind):
                source = self.expressions.value(clause.source)
                parts.append(f"UNWIND {source.text} AS {self.scope.take_apart(source, clause.variable)}")
            elif isinstance(clause, Projection):
                gathering, rest = self._gathered(clause)
                parts.append(f"{gathering}WITH {self._projection(rest)}")
        last = clauses[-1]
        assert isinstance(last, Projection), "the guard lets no other clause end a query"
        gathering, last = self._gathered(last)
        before = "".join(f"{part} " for part in parts) + gathering
        projected, page = self._projection(last, is_last=True), page_of(self.scope, last)
        return _ServerQuery(
            f"{before}RETURN {projected}{page_of(self.scope, last, self.most)}",
            f"{before}WITH {projected}{page} RETURN count(*) AS count",
            tuple(self.scope.variables),
        )

    def _gathered(self, clause: Projection) -> tuple[str, Projection]:
        """Return the WITH that aggregates before a clause computes with the result, and the rest of the clause."""
        steps = in_two_steps(clause, items_of(clause, self.scope.variables))
        return ("", clause) if steps is None else (f"WITH {self._projection(steps[0])} ", steps[1])

    def _match(self, clause: MatchClause) -> str:
        patterns = ServerPatterns(self.expressions)
        matched = patterns.match(clause.paths, clause.where, may_anchor=not clause.optional)
        before = self.scope.variables
        new = {name: value for name, value in matched.variables.items() if not clause.optional or name not in before}
        self.scope.variables = {**before, **new}
        return f"{matched.anchors}{'OPTIONAL ' if clause.optional else ''}MATCH {matched.text}"

    def _projection(self, clause: Projection, *, is_last: bool = False) -> str:
        """Write the body of WITH or RETURN. The last clause omits SKIP and LIMIT, which the caller writes."""
        items = items_of(clause, self.scope.variables)
        written, after = [], dict[str, Value]()
        for place, item in enumerate(items):
            with self.scope.aggregating(True):
                value = self.expressions.value(item.expression)
            is_kept = isinstance(item.expression, ex.Variable) and not is_last
            name = value.text if is_kept else f"c{place}" if is_last else self.scope.fresh()
            written.append(value.text if name == value.text else f"{value.text} AS {name}")
            after[item.name] = Value(name, value.kind, parts=value.parts)
        order = order_of(clause, items, after, self.expressions)
        self.scope.variables = after
        page = "" if is_last else page_of(self.scope, clause)
        where = f" WHERE {self.expressions.condition(clause.where)}" if clause.where is not None else ""
        return f"{'DISTINCT ' if clause.distinct else ''}{', '.join(written)}{order}{page}{where}"
