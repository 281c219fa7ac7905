"""The guard: it reads one statement of reading clauses as a tree. Everything that is not listed here is refused."""

from __future__ import annotations

from functools import lru_cache

from orienteer.cypher.expressions import read_expression
from orienteer.cypher.patterns import read_paths
from orienteer.cypher.syntax import (
    Clause,
    CypherStatement,
    MatchClause,
    OrderItem,
    Parameter,
    Projection,
    ProjectionItem,
    Unwind,
    Variable,
)
from orienteer.cypher.tokens import TokenReader
from orienteer.cypher.view import View
from orienteer.errors import BadQuery

MOST_CLAUSES = 20  # of a statement: a bound on the engine's planning
TOO_DEEP = "the query is nested too deep to be read here: write it flatter, and name parts of it by WITH ... AS x"
_BEGINNINGS = "MATCH, OPTIONAL MATCH, UNWIND, WITH or RETURN"
_WRITES = frozenset({"CREATE", "MERGE", "SET", "DELETE", "DETACH", "REMOVE", "DROP", "ALTER", "FOREACH", "INSERT"})


@lru_cache(maxsize=256)  # a statement with parameters is asked many times
def parse(text: str, view: View | None = None) -> CypherStatement:
    """Return a statement as a tree. Raises `BadQuery` for anything but one reading statement."""
    try:
        return _statement(text, view)
    except RecursionError:  # other bounds come long before, but the caller may be deep in calls
        raise BadQuery(TOO_DEEP) from None


def _statement(text: str, view: View | None) -> CypherStatement:
    reader = TokenReader(text, None if view is None else view.label)
    if reader.peek().kind == "end":
        raise BadQuery("the query is empty: write MATCH ... RETURN ...")
    queries = [_query(reader)]
    all_ = set[bool]()
    while reader.takes_word("UNION"):
        all_.add(reader.takes_word("ALL"))
        queries.append(_query(reader))
    if reader.peek().kind != "end":
        raise _no_clause(reader)
    if len(all_) > 1:
        raise BadQuery("UNION and UNION ALL cannot be mixed: use one of them throughout")
    names = [[item.name for item in query[-1].items] for query in queries if isinstance(query[-1], Projection)]
    if any(columns != names[0] for columns in names):
        raise BadQuery(f"the parts of a UNION return different columns, {names}: name them alike with AS")
    if sum(map(len, queries)) > MOST_CLAUSES:
        raise BadQuery(f"the query has more than {MOST_CLAUSES} clauses: ask for less at a time")
    return CypherStatement(tuple(queries), all_ == {True}, frozenset(reader.parameters), view)


def _query(reader: TokenReader) -> tuple[Clause, ...]:
    clauses: list[Clause] = []
    while True:
        if reader.takes_word("OPTIONAL", "MATCH"):
            clauses.append(_match(reader, optional=True))
        elif reader.takes_word("MATCH"):
            clauses.append(_match(reader, optional=False))
        elif reader.takes_word("UNWIND"):
            source = read_expression(reader)
            reader.expect_word("AS", "after what UNWIND takes apart")
            clauses.append(Unwind(source, reader.variable()))
        elif reader.takes_word("WITH"):
            clauses.append(_projection(reader, is_with=True))
        elif reader.takes_word("RETURN"):
            return (*clauses, _projection(reader, is_with=False))
        else:
            raise _no_clause(reader, ends=bool(clauses))


def _no_clause(reader: TokenReader, *, ends: bool = False) -> BadQuery:
    token = reader.peek()
    word = token.value.upper() if token.kind == "word" else ""
    if token.kind == "end" and ends:
        return BadQuery("the query returns nothing: end it with RETURN")
    if word in _WRITES:
        return BadQuery(f"{word} is not allowed: the graph can only be read, by {_BEGINNINGS}")
    if word == "CALL":
        return BadQuery("CALL is not supported: use EXISTS { }, COUNT { }, or OPTIONAL MATCH and collect()")
    if word in ("EXPLAIN", "PROFILE"):
        return BadQuery(f"{word} is not supported: leave it out")
    return reader.wrong(f"only reading clauses are allowed, {_BEGINNINGS}: something else stands")


def _match(reader: TokenReader, *, optional: bool) -> MatchClause:
    paths = read_paths(reader, read_expression)
    where = read_expression(reader) if reader.takes_word("WHERE") else None
    return MatchClause(paths, where, optional)


def _projection(reader: TokenReader, *, is_with: bool) -> Projection:
    distinct = reader.takes_word("DISTINCT")
    star = reader.takes("*")
    items: list[ProjectionItem] = []
    while not star or reader.takes(","):
        items.append(_projected(reader, is_with=is_with))
        if not star and not reader.takes(","):
            break
    order: list[OrderItem] = []
    if reader.takes_word("ORDER", "BY"):
        order.append(_order(reader))
        while reader.takes(","):
            order.append(_order(reader))
    skip = _count(reader, "SKIP") if reader.takes_word("SKIP") or reader.takes_word("OFFSET") else None
    limit = _count(reader, "LIMIT") if reader.takes_word("LIMIT") else None
    where = read_expression(reader) if is_with and reader.takes_word("WHERE") else None
    names = [item.name for item in items]
    if len(set(names)) < len(names):
        raise BadQuery(f"two columns have one name, {names}: name them apart with AS")
    return Projection(tuple(items), star, distinct, tuple(order), skip, limit, where)


def _projected(reader: TokenReader, *, is_with: bool) -> ProjectionItem:
    start = reader.peek()
    expression = read_expression(reader)
    text = reader.text(start)
    if reader.takes_word("AS"):
        return ProjectionItem(expression, reader.name("column"), True)
    if is_with and not isinstance(expression, Variable):
        raise BadQuery(f"WITH needs a name for {text[:60]!r}: write {text[:60]} AS name")
    return ProjectionItem(expression, expression.name if isinstance(expression, Variable) else text, False)


def _order(reader: TokenReader) -> OrderItem:
    expression = read_expression(reader)
    if reader.is_word("DESC", "DESCENDING"):
        reader.next()
        return OrderItem(expression, True)
    if reader.is_word("ASC", "ASCENDING"):
        reader.next()
    return OrderItem(expression, False)


def _count(reader: TokenReader, what: str) -> int | Parameter:
    token = reader.next()
    if token.kind == "integer":
        return int(token.value)
    if token.kind == "parameter":
        reader.parameters.add(token.value)
        return Parameter(token.value)
    raise BadQuery(f"{what} takes a whole number or a parameter, not {token.shown}")
