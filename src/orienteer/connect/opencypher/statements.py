"""A statement's tree as openCypher text with its parameters."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import NamedTuple

from orienteer.connect.opencypher.expressions import ServerExpressions
from orienteer.connect.opencypher.names import ServerNames
from orienteer.connect.opencypher.patterns import ServerPatterns
from orienteer.cypher import syntax
from orienteer.cypher.kinds import Value
from orienteer.cypher.parser import TOO_DEEP
from orienteer.cypher.projections import in_two_steps, items_of, order_of, page_of
from orienteer.cypher.scope import Scope
from orienteer.cypher.syntax import CypherStatement, MatchClause, Projection, Unwind
from orienteer.errors import BadQuery
from orienteer.records import JsonValue

LONGEST_WRITTEN = 100_000  # characters of the server's text: a bound on its parser's time


class ServerStatement(NamedTuple):
    """A statement as openCypher, and what asks only how many rows it has."""

    text: str
    """It gives at most as many rows as it was asked for."""
    counting: str | None
    """None where a statement of several parts cannot be counted."""
    parameters: dict[str, JsonValue]
    columns: tuple[str, ...]
    notes: tuple[str, ...]


def written_for_server(
    statement: CypherStatement, names: ServerNames, parameters: Mapping[str, JsonValue], *, most: int
) -> ServerStatement:
    """Write a statement that gives at most `most` rows. Raises `BadQuery`, `UnknownType`, `UnknownProperty`."""
    try:
        return _written(statement, Scope(names, parameters), most)
    except RecursionError:
        raise BadQuery(TOO_DEEP) from None


def _written(statement: CypherStatement, scope: Scope, most: int) -> ServerStatement:
    parts = []
    for query in statement.queries:
        scope.variables = {}
        parts.append(_QueryWriter(scope, ServerExpressions(scope), most).written(query))
    text = (" UNION ALL " if statement.keeps_repeats else " UNION ").join(part.text for part in parts)
    if len(text) > LONGEST_WRITTEN:
        raise BadQuery("the query becomes too long for the server: name what stands in it several times by WITH ... AS")
    counting = parts[0].counting if len(parts) == 1 else None
    return ServerStatement(text, counting, scope.used, parts[-1].columns, tuple(scope.notes))


class _Written(NamedTuple):
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

    def written(self, clauses: tuple[syntax.Clause, ...]) -> _Written:
        """Return the query. Raises `BadQuery`, `UnknownType`, `UnknownProperty`."""
        parts = []
        for clause in clauses[:-1]:
            if isinstance(clause, MatchClause):
                parts.append(self._match(clause))
            elif isinstance(clause, Unwind):
                parts.append(self._unwind(clause))
            else:
                gathering, rest = self._gathered(clause)
                parts.append(f"{gathering}WITH {self._projection(rest)}")
        last = clauses[-1]
        assert isinstance(last, Projection), "the guard lets no other clause end a query"
        gathering, last = self._gathered(last)
        before = "".join(f"{part} " for part in parts) + gathering
        projected, page = self._projection(last, is_last=True), page_of(self.scope, last)
        return _Written(
            f"{before}RETURN {projected}{page_of(self.scope, last, self.most)}",
            f"{before}WITH {projected}{page} RETURN count(*) AS count",
            tuple(self.scope.variables),
        )

    def _gathered(self, clause: Projection) -> tuple[str, Projection]:
        """Write what has to be gathered before a clause computes with it; return that and the rest of the clause."""
        steps = in_two_steps(clause, items_of(clause, self.scope.variables))
        return ("", clause) if steps is None else (f"WITH {self._projection(steps[0])} ", steps[1])

    def _match(self, clause: MatchClause) -> str:
        patterns = ServerPatterns(self.scope, self.expressions.write)
        matched = patterns.match(clause.paths, clause.where, may_anchor=not clause.optional)
        before = self.scope.variables
        new = {name: value for name, value in matched.variables.items() if not clause.optional or name not in before}
        self.scope.variables = {**before, **new}
        return f"{matched.anchors}{'OPTIONAL ' if clause.optional else ''}MATCH {matched.text}"

    def _unwind(self, clause: Unwind) -> str:
        source = self.expressions.write(clause.source)
        return f"UNWIND {source.text} AS {self.scope.take_apart(source, clause.variable)}"

    def _projection(self, clause: Projection, *, is_last: bool = False) -> str:
        """Write what stands behind WITH or RETURN; of the last clause without its page, which the caller writes."""
        items = items_of(clause, self.scope.variables)
        written, after = [], dict[str, Value]()
        for place, item in enumerate(items):
            with self.scope.aggregating(True):
                value = self.expressions.write(item.expression)
            is_kept = isinstance(item.expression, syntax.Variable) and not is_last
            name = value.text if is_kept else f"c{place}" if is_last else self.scope.fresh()
            written.append(value.text if name == value.text else f"{value.text} AS {name}")
            after[item.name] = Value(name, value.kind, parts=value.parts)
        order = order_of(clause, items, after, self.scope, self.expressions.write)
        self.scope.variables = after
        page = "" if is_last else page_of(self.scope, clause)
        where = f" WHERE {self.expressions.condition(clause.where)}" if clause.where is not None else ""
        return f"{'DISTINCT ' if clause.distinct else ''}{', '.join(written)}{order}{page}{where}"
