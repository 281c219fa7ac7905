"""Why a row is in the answer to a statement: its patterns are laid once more, with the values of the row bound.

A statement is proved from its RETURN back to its first MATCH: the row of a WITH is in its turn a row to prove.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import count

from orienteer.cypher.names import QueryTable
from orienteer.cypher.projections import aggregates
from orienteer.cypher.syntax import (
    CallClause,
    Clause,
    CypherStatement,
    Laid,
    MatchClause,
    PathPattern,
    Projection,
    ProjectionItem,
    Subquery,
    Unwind,
    made_up,
)
from orienteer.elements import JsonValue
from orienteer.query.expressions import Binary, Expression, Literal_, Property, Unary, Variable, conjuncts

EXAMPLES = 3
"""Rows that are laid for a group."""
_BOUND, _UNBOUND = 8, 1_000  # rows that are compared, with scalars bound and without


@dataclass(frozen=True, slots=True)
class _Part:
    """The clauses from one WITH to the next, with all before them."""

    clauses: tuple[Clause, ...]
    start: int
    """The place of its first clause."""

    @property
    def end(self) -> Projection:
        clause = self.clauses[-1]
        assert isinstance(clause, Projection), "the guard lets no other clause end a statement"
        return clause

    @property
    def own(self) -> tuple[Clause, ...]:
        return self.clauses[self.start : -1]

    @property
    def items(self) -> list[ProjectionItem]:
        star = _names(self.clauses[:-1]) if self.end.star else []
        return [*(ProjectionItem(Variable(name), name, False) for name in star), *self.end.items]


def parts_of(statement: CypherStatement, query: int) -> list[_Part]:
    """Return the parts of one query of a statement, the last first."""
    clauses = statement.queries[query]
    ends = [place for place, clause in enumerate(clauses) if isinstance(clause, Projection)]
    starts = [0, *(end + 1 for end in ends[:-1])]
    return [_Part(clauses[: end + 1], start) for start, end in zip(starts, ends, strict=True)][::-1]


def laid_statement(statement: CypherStatement, laid: Laid) -> CypherStatement:
    """Return the statement that lays the patterns of a part: its columns are the names, then the items of its end."""
    part = parts_of(statement, laid.query)[laid.part]
    names, items = _names(part.clauses[:-1]), part.items
    own = _named([*part.own, *_found(part.own, names)], names)
    names = _names([*part.clauses[: part.start], *own])
    if where := _bound(items, laid):
        own = _narrowed(own, where)
    columns = [ProjectionItem(Variable(name), name, True) for name in names]
    columns += [
        ProjectionItem(item.expression, made_up("item", place), True)
        for place, item in enumerate(items)
        if not aggregates(item.expression)
    ]
    columns = columns or [ProjectionItem(Literal_(None), made_up("nothing"), True)]
    limit = _BOUND if laid.binds_scalars else _UNBOUND
    end = Projection(tuple(columns), False, False, (), None, Literal_(limit), None)
    return replace(statement, queries=((*part.clauses[: part.start], *own, end),), laid=laid)


def rows_laid(table: QueryTable, statement: CypherStatement, laid: Laid) -> list[dict[str, JsonValue]]:
    """Return those rows of a laid statement that have the values of the row, by name: one, or some of a group."""
    items = parts_of(statement, laid.query)[laid.part].items
    due = [laid.values[item.name] for item in items if not aggregates(item.expression)]
    names = [name for name in table.columns if not name.startswith("\0")]
    found = [dict(zip(names, row, strict=False)) for row in table.rows if list(row[len(row) - len(due) :]) == due]
    return found[: EXAMPLES if len(due) < len(items) else 1] if names else []


def values_of(statement: CypherStatement, laid: Laid) -> dict[str, JsonValue]:
    """Return the row by the columns of its part."""
    return {item.name: laid.values[item.name] for item in parts_of(statement, laid.query)[laid.part].items}


def absences(statement: CypherStatement, laid: Laid) -> tuple[str, ...]:
    """Return the patterns in a part's NOT EXISTS."""
    wheres = [c.where for c in parts_of(statement, laid.query)[laid.part].own if isinstance(c, MatchClause)]
    return tuple(
        ", ".join(map(_written, part.operand.paths))
        for where in wheres
        for part in conjuncts(where)
        if isinstance(part, Unary) and part.operator == "NOT" and isinstance(part.operand, Subquery)
    )


def _names(clauses: Sequence[Clause]) -> list[str]:
    """Return the names in scope after some clauses."""
    names = dict[str, None]()
    for clause in clauses:
        if isinstance(clause, Projection):
            names = dict.fromkeys([*(names if clause.star else ()), *(item.name for item in clause.items)])
        elif isinstance(clause, Unwind):
            names[clause.variable] = None
        elif isinstance(clause, CallClause):
            names |= dict.fromkeys(_names(clause.queries[0]))
        else:
            for path in clause.paths:
                every = [*(node.variable for node in path.nodes), *(edge.variable for edge in path.edges)]
                names |= dict.fromkeys(name for name in (*every, path.variable) if name is not None)
    return list(names)


def _named(clauses: Sequence[Clause], taken: Sequence[str]) -> list[Clause]:
    """Return clauses whose nodes and edges all have names; of a shortest path, the path has one."""
    fresh = (name for number in count(1) if (name := f"_{number}") not in taken)

    def named(path: PathPattern) -> PathPattern:
        nodes = tuple(node if node.variable else replace(node, variable=next(fresh)) for node in path.nodes)
        if path.shortest:
            return replace(path, nodes=nodes, variable=path.variable or next(fresh))
        edges = tuple(edge if edge.variable else replace(edge, variable=next(fresh)) for edge in path.edges)
        return replace(path, nodes=nodes, edges=edges)

    return [
        replace(clause, paths=tuple(map(named, clause.paths))) if isinstance(clause, MatchClause) else clause
        for clause in clauses
    ]


def _found(clauses: Sequence[Clause], names: Sequence[str]) -> Iterator[MatchClause]:
    """Yield the patterns of EXISTS as clauses, unless two use one name for two things."""
    taken, known = set[str](), set(names)
    for clause in clauses:
        if isinstance(clause, MatchClause) and not clause.optional:
            outer = known & set(_names([clause])) | set(_names(clauses))
            for part in conjuncts(clause.where):
                if isinstance(part, Subquery) and part.kind == "EXISTS" and not part.clauses:
                    match = MatchClause(part.paths, part.where, False)
                    new = set(_names([match])) - outer
                    if not new & (taken | known):
                        taken |= new
                        yield match


def _bound(items: Sequence[ProjectionItem], laid: Laid) -> Expression | None:
    """Return the condition that the items have the values of the row: nodes by id, and scalars unless told not to."""
    where: Expression | None = None
    for item in items:
        part, value = item.expression, laid.values.get(item.name)
        if aggregates(part):
            continue
        if (
            isinstance(value, dict)
            and isinstance(part, Variable)
            and value.keys() == {"id", "type", "name", "properties"}
        ):
            part, value = Property(part, "id"), value["id"]
        elif not laid.binds_scalars or isinstance(value, dict | list):
            continue
        condition = Unary("IS NULL", part) if value is None else Binary("=", part, Literal_(value))
        where = condition if where is None else Binary("AND", where, condition)
    return where


def _narrowed(clauses: list[Clause], where: Expression) -> list[Clause]:
    last = clauses[-1] if clauses else None
    if isinstance(last, MatchClause) and not last.optional:
        return [*clauses[:-1], replace(last, where=where if last.where is None else Binary("AND", where, last.where))]
    return [*clauses, Projection((), True, False, (), None, None, where)] if clauses else clauses


def _written(path: PathPattern) -> str:
    """Return a path as Cypher, without its properties."""
    words = [""]
    for node, edge in zip(path.nodes, (*path.edges, None), strict=True):
        words.append(f"({node.variable or ''}{':' if node.types else ''}{'|'.join(node.types)})")
        if edge is not None:
            hops = "" if edge.hops is None else f"*{edge.hops.least}..{edge.hops.most or ''}"
            inside = f"{edge.variable or ''}{':' if edge.types else ''}{'|'.join(edge.types)}{hops}"
            words.append(f"{'<' if edge.direction == 'in' else ''}-[{inside}]-{'>' if edge.direction == 'out' else ''}")
    return "".join(words)
