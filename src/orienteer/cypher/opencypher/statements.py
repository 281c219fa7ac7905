"""A statement's tree as openCypher text with its parameters."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import NamedTuple

from orienteer.cypher import syntax
from orienteer.cypher.kinds import UNKNOWN, Value
from orienteer.cypher.opencypher.expressions import ServerExpressions
from orienteer.cypher.opencypher.names import ServerNames
from orienteer.cypher.opencypher.patterns import ServerPatterns
from orienteer.cypher.parser import TOO_DEEP
from orienteer.cypher.projections import aggregates, in_two_steps, items_of, page_size, with_columns
from orienteer.cypher.scope import Scope
from orienteer.cypher.syntax import CypherStatement, Expression, MatchClause, OrderItem, Projection, Unwind
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
        projected, page = self._projection(last, is_last=True), self._page(last)
        return _Written(
            f"{before}RETURN {projected}{self._page(last, self.most)}",
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
        if source.kind.name not in ("list", "", "null"):
            raise BadQuery(f"UNWIND takes a list apart, not {source.kind.shown}")
        if clause.variable in self.scope.variables:
            raise BadQuery(
                f"the variable {clause.variable!r} is there already: give what UNWIND takes out another name"
            )
        name = self.scope.fresh()
        self.scope.variables = {
            **self.scope.variables,
            clause.variable: Value(name, source.kind.item or UNKNOWN, parts=source.parts),
        }
        return f"UNWIND {source.text} AS {name}"

    def _projection(self, clause: Projection, *, is_last: bool = False) -> str:
        """Write what stands behind WITH or RETURN; of the last clause without its page, which the caller writes."""
        items = items_of(clause, self.scope.variables)
        before = dict(self.scope.variables)
        is_grouped = any(aggregates(item.expression) for item in items)
        written, after = [], dict[str, Value]()
        for place, item in enumerate(items):
            with self.scope.aggregating(True):
                value = self.expressions.write(item.expression)
            is_kept = isinstance(item.expression, syntax.Variable) and not is_last
            name = value.text if is_kept else f"c{place}" if is_last else self.scope.fresh()
            written.append(value.text if name == value.text else f"{value.text} AS {name}")
            after[item.name] = Value(name, value.kind, parts=value.parts)
        order = self._order(clause, items, before, after, narrow=is_grouped or clause.distinct)
        self.scope.variables = after
        page = "" if is_last else self._page(clause)
        where = f" WHERE {self.expressions.condition(clause.where)}" if clause.where is not None else ""
        return f"{'DISTINCT ' if clause.distinct else ''}{', '.join(written)}{order}{page}{where}"

    def _order(
        self,
        clause: Projection,
        items: list[syntax.ProjectionItem],
        before: dict[str, Value],
        after: dict[str, Value],
        *,
        narrow: bool,
    ) -> str:
        """Write ORDER BY: returned expressions by their column, other expressions with the variables still in scope."""
        if not clause.order:
            return ""
        columns: dict[Expression, str] = {
            item.expression: item.name for item in items if not isinstance(item.expression, syntax.Variable)
        }
        with self.scope.inner(after if narrow else {**before, **after}):
            if narrow:
                self.scope.variables = after
            parts = [
                self._ordered(replace(part, expression=with_columns(part.expression, columns))) for part in clause.order
            ]
        return f" ORDER BY {', '.join(parts)}"

    def _ordered(self, order: OrderItem) -> str:
        """Write one expression of ORDER BY. Raises `BadQuery` for values without an order."""
        value = self.expressions.write(order.expression)
        if value.kind.name in ("node", "edge", "path", "map", "list"):
            raise BadQuery(f"ORDER BY takes texts, numbers or dates, not {value.kind.shown}: name a property")
        return f"{value.text}{' DESC' if order.descending else ''}"

    def _page(self, clause: Projection, most: int | None = None) -> str:
        """Write SKIP and LIMIT, which is `most` at the most."""
        skip, limit = page_size(self.scope, clause.skip, "SKIP"), page_size(self.scope, clause.limit, "LIMIT")
        if most is not None:
            limit = most if limit is None else min(limit, most)
        return (f" SKIP {skip}" if skip is not None else "") + (f" LIMIT {limit}" if limit is not None else "")
