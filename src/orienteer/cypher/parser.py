"""The guard: it parses one statement of reading clauses. Everything that is not listed here is refused."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from functools import lru_cache
from typing import NamedTuple, TypeAlias

from orienteer.cypher.compiler import ExpressionCompiler
from orienteer.cypher.expressions import read_expression
from orienteer.cypher.kinds import Value, ValueKind, list_of
from orienteer.cypher.names import View
from orienteer.cypher.patterns import Scope, read_paths
from orienteer.cypher.syntax import (
    CallClause,
    Clause,
    CypherStatement,
    Direction,
    EdgePattern,
    MatchClause,
    NodePattern,
    OrderItem,
    PathPattern,
    Projection,
    ProjectionItem,
    Unwind,
    made_up,
)
from orienteer.cypher.tokens import TokenReader
from orienteer.elements import Triple
from orienteer.errors import BadQuery
from orienteer.query.expressions import Binary, Expression, Property, Variable, parts

MOST_CLAUSES = 20  # of a statement: a bound on the engine's planning
TOO_DEEP = "the query is nested too deep to be read here: write it flatter, and name parts of it by WITH ... AS x"
_BEGINNINGS = "MATCH, OPTIONAL MATCH, UNWIND, CALL { }, WITH or RETURN"
_WRITES = frozenset({"CREATE", "MERGE", "SET", "DELETE", "DETACH", "REMOVE", "DROP", "ALTER", "FOREACH", "INSERT"})


@lru_cache(maxsize=256)  # a statement with parameters is asked many times
def parse(text: str, view: View | None = None) -> CypherStatement:
    """Return a statement as a tree. Raises `BadQuery` for anything but one reading statement."""
    try:
        return _statement(text, view)
    except RecursionError:
        # Other bounds come long before, but the caller may be deep in calls.
        raise BadQuery(TOO_DEEP) from None


def _statement(text: str, view: View | None) -> CypherStatement:
    reader = TokenReader(text, None if view is None else view.label)
    reader.read_clauses = _query
    if reader.peek().kind == "end":
        raise BadQuery("the query is empty: write MATCH ... RETURN ...")
    queries, keeps_repeats = _united(reader)
    if reader.peek().kind != "end":
        raise _no_clause(reader)
    inner = sum(len(query) for call in parts(queries, CallClause) for query in call.queries)
    if sum(map(len, queries)) + inner > MOST_CLAUSES:
        raise BadQuery(f"the query has more than {MOST_CLAUSES} clauses: ask for less at a time")
    return CypherStatement(queries, keeps_repeats, frozenset(reader.parameters), view, text)


def _united(reader: TokenReader) -> tuple[tuple[tuple[Clause, ...], ...], bool]:
    """Return the queries that UNION joins, and whether UNION ALL does."""
    queries, all_ = [_query(reader)], set[bool]()
    while reader.takes_word("UNION"):
        all_.add(reader.takes_word("ALL"))
        queries.append(_query(reader))
    if len(all_) > 1:
        raise BadQuery("UNION and UNION ALL cannot be mixed: use one of them throughout")
    names = [[item.name for item in query[-1].items] for query in queries if isinstance(query[-1], Projection)]
    if any(columns != names[0] for columns in names):
        raise BadQuery(f"the parts of a UNION return different columns, {names}: name them alike with AS")
    return tuple(queries), all_ == {True}


def _called(reader: TokenReader) -> CallClause:
    """Read a subquery after CALL: `{ WITH x ... RETURN y }`, or `(x) { ... RETURN y }`."""
    given: list[tuple[Variable, ...] | None] = []
    if reader.takes("("):
        if reader.takes("*"):
            reader.expect(")", "after *")
            given.append(None)
        else:
            given.append(tuple(Variable(reader.variable()) for _ in reader.items(")", "between variables")))
    reader.expect("{", "after CALL: procedures are not available")
    with reader.nested():
        queries, keeps_repeats = _united(reader)
    reader.expect("}", "after CALL { ...")
    if not all(isinstance(query[-1], Projection) for query in queries):
        raise BadQuery("CALL { } returns nothing: end it with RETURN")
    if given:
        return CallClause(queries, tuple(given * len(queries)), keeps_repeats)
    imports = tuple(map(_imported, queries))
    own = (query if names == () else query[1:] for query, names in zip(queries, imports, strict=True))
    return CallClause(tuple(own), imports, keeps_repeats)


def _imported(query: tuple[Clause, ...]) -> tuple[Variable, ...] | None:
    """Return the variables of a WITH that begins a subquery and names nothing else; None for `WITH *`."""
    first = query[0]
    if len(query) < 2 or not isinstance(first, Projection) or first.distinct or first.order:
        return ()
    if first.where is not None or first.skip is not None or first.limit is not None:
        return ()
    names = tuple(item.expression for item in first.items if isinstance(item.expression, Variable) and not item.named)
    return () if len(names) < len(first.items) else None if first.star else names


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
        elif reader.is_word("CALL") and reader.is_sign("{", "(", ahead=1):
            reader.next()
            clauses.append(_called(reader))
        elif reader.takes_word("WITH"):
            clauses.append(_projection(reader, is_with=True))
        elif reader.takes_word("RETURN"):
            return (*clauses, _projection(reader, is_with=False))
        elif clauses and reader.is_sign("}"):  # a subquery needs no RETURN
            return (*clauses,)
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
        return BadQuery("procedures are not available: CALL takes a subquery in { }")
    if word in ("EXPLAIN", "PROFILE"):
        return BadQuery(f"{word} is not supported: leave it out")
    return reader.wrong(f"only reading clauses are allowed, {_BEGINNINGS}: something else comes")


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
    has_order = reader.takes_word("ORDER", "BY")
    while has_order and (not order or reader.takes(",")):
        expression, descending = read_expression(reader), reader.is_word("DESC", "DESCENDING")
        if descending or reader.is_word("ASC", "ASCENDING"):
            reader.next()
        order.append(OrderItem(expression, descending))
    skip = read_expression(reader) if reader.takes_word("SKIP") or reader.takes_word("OFFSET") else None
    limit = read_expression(reader) if reader.takes_word("LIMIT") else None
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


# The patterns of one clause as nodes and edges with their possible types, for any engine.

Keyed: TypeAlias = tuple[str, ValueKind, tuple[tuple[str, Expression], ...]]
"""The properties in braces, with the value and the kind of their owner."""

_MOST_ROUNDS = 20  # of narrowing; a cycle over a chain of n types would take n / 2, and types that are left do no harm


@dataclass(slots=True)
class PatternNode:
    """A node of a pattern."""

    value: str
    """Its variable in the engine's text."""
    types: frozenset[str]
    """Its possible types."""
    is_new: bool
    """No earlier clause has introduced it."""
    name: str | None = None
    is_drawn: bool = False
    """It has been written once; later parts of the text use its variable."""


@dataclass(slots=True)
class PatternEdge:
    """An edge of a pattern, or several in a row."""

    pattern: EdgePattern
    value: str
    triples: frozenset[Triple]
    all_triples: bool
    """The pattern names no type."""
    start: PatternNode
    end: PatternNode
    direction: Direction
    is_shortest: bool

    @property
    def types(self) -> list[str]:
        """Its edge types, sorted."""
        return sorted({triple.type for triple in self.triples})


class ReadPath(NamedTuple):
    """A path whose nodes and edges were read."""

    pattern: PathPattern
    value: str
    """Its variable in the engine's text; empty if it has none."""
    nodes: list[PatternNode]
    edges: list[PatternEdge]


@dataclass(slots=True)
class PatternReader:
    """Reads the patterns of one clause; a subclass writes or compiles them."""

    compiler: ExpressionCompiler
    nodes: list[PatternNode] = field(default_factory=list)
    edges: list[PatternEdge] = field(default_factory=list)
    wanted: dict[str, frozenset[str]] = field(default_factory=dict)
    """The types that the patterns of the clause name, by node."""
    variables: dict[str, Value] = field(default_factory=dict)
    keyed: list[Keyed] = field(default_factory=list)

    @property
    def scope(self) -> Scope:
        """The scope of the clause."""
        return self.compiler.scope

    @property
    def named(self) -> dict[str, PatternNode]:
        """The nodes by their names. Those without one have only a value, since any name may be a variable's."""
        return {node.name: node for node in self.nodes if node.name is not None}

    def require_new(self, name: str) -> None:
        """Raise `BadQuery` for a variable that is already in use."""
        if name in self.variables or name in self.named or name in self.scope.variables:
            raise BadQuery(f"the variable {name!r} is used twice for different things: give one of them another name")

    def read(self, pattern: PathPattern) -> ReadPath:
        """Return a path, and introduce its variables. Raises `BadQuery`, `UnknownType`."""
        value = ""
        if pattern.variable is not None:
            self.require_new(pattern.variable)
            value = self.scope.fresh()
            self.variables[pattern.variable] = Value(value, ValueKind("path"))
        nodes = [self.read_node(node) for node in pattern.nodes]
        edges = [
            self.read_edge(edge, start, end, is_shortest=bool(pattern.shortest))
            for edge, start, end in zip(pattern.edges, nodes, nodes[1:], strict=False)
        ]
        return ReadPath(pattern, value, nodes, edges)

    def read_node(self, pattern: NodePattern) -> PatternNode:
        """Return a node of a pattern. Raises `BadQuery`, `UnknownType`."""
        names, name = self.scope.names, pattern.variable
        wanted = frozenset[str]().union(*map(names.node_types, pattern.types)) if pattern.types else None
        self._note_partial(wanted or ())
        node = self.named.get(name) if name is not None else None
        if node is None:
            node = self._first(name, wanted)
        elif wanted is not None:
            node.types &= wanted
        if wanted is not None:
            self.wanted[node.value] = self.wanted.get(node.value, wanted) & wanted
        if pattern.properties:
            self.keyed.append((node.value, ValueKind("node"), pattern.properties))
        return node

    def _first(self, name: str | None, wanted: frozenset[str] | None) -> PatternNode:
        """Return a node at its first occurrence in this clause; an earlier clause may have introduced it."""
        scope = self.scope
        if name is not None and name in self.variables:
            self.require_new(name)
        before = scope.variables.get(name) if name is not None else None
        if before is None:
            types = frozenset(scope.names.schema.node_types) if wanted is None else wanted
            node = PatternNode(scope.fresh(), types, True, name=name)
        else:
            if before.kind.name not in ("node", ""):
                raise BadQuery(f"{name!r} is {before.kind.description}, not a node: give the node another name")
            types = before.kind.types or frozenset(scope.names.schema.node_types)
            node = PatternNode(before.text, types if wanted is None else types & wanted, False, name=name)
        self.nodes.append(node)
        return node

    def read_edge(
        self, pattern: EdgePattern, start: PatternNode, end: PatternNode, *, is_shortest: bool
    ) -> PatternEdge:
        """Return an edge of a pattern. Raises `BadQuery`, `UnknownType`."""
        names = self.scope.names
        everything = frozenset(names.triples)
        triples = frozenset[Triple]().union(*map(names.edge_triples, pattern.types)) if pattern.types else everything
        if pattern.hops and pattern.properties:
            raise BadQuery(
                "properties in a pattern of variable length are not supported: use all(r IN relationships(p)"
            )
        types = frozenset(triple.type for triple in triples)
        self._note_partial(types if pattern.types else ())
        fitting = set(types)
        if not pattern.hops and names.view is None:  # a note on types that cannot stand here concerns nobody
            ways = ((start.types, end.types), (end.types, start.types))
            fitting = {edge.type for edge in triples if any(edge.source in a and edge.target in b for a, b in ways)}
        direction = self.direction(pattern, fitting)
        value = self.scope.fresh()
        edge = PatternEdge(pattern, value, triples, not pattern.types, start, end, direction, is_shortest)
        self.edges.append(edge)
        if pattern.variable is not None:
            self.require_new(pattern.variable)
            kind = ValueKind("edge", types)
            self.variables[pattern.variable] = Value(value, list_of(kind) if pattern.hops else kind)
        if pattern.properties:
            self.keyed.append((value, ValueKind("edge", types), pattern.properties))
        return edge

    def _note_partial(self, types: Iterable[str]) -> None:
        """Note the types of a pattern that are incomplete in the graph: a count of them is too low."""
        schema = self.scope.names.schema
        for name in sorted(schema.partial.intersection(types)):
            self.scope.note(f"{schema.label(name)} is incomplete here: a count of it is too low")

    def direction(self, pattern: EdgePattern, types: set[str]) -> Direction:
        """Return the direction of an edge for the engine: a symmetric edge is stored once and has none."""
        scope, names, schema = self.scope, self.scope.names, self.scope.names.schema
        symmetric = types & names.undirected
        if pattern.direction == "both" or not symmetric:
            return pattern.direction
        if names.view is not None:
            if directed := ", ".join(sorted(map(schema.label, types - symmetric))):
                scope.note(f"{directed} keeps its direction only if it is named alone: it was followed both ways")
            return "both"
        shown = ", ".join(sorted(map(schema.label, symmetric)))
        if symmetric == types:
            scope.note(f"{shown} has no direction: the arrow was left out")
            return "both"
        scope.note(f"{shown} has no direction and is stored one way: leave the arrow out to follow it both ways")
        return pattern.direction

    def narrow(self) -> None:
        """Narrow the types of all nodes to those that edges of this graph can join, until nothing changes.

        Raises `BadQuery` if no edge fits.
        """
        for _ in range(_MOST_ROUNDS):
            before = sum(len(node.types) for node in self.nodes)
            for edge in self.edges:
                starts, ends = _joined(edge)
                if not starts or not ends:
                    raise self._impossible(edge)
                edge.start.types &= starts
                edge.end.types &= ends  # both ends may be one node
            if sum(len(node.types) for node in self.nodes) == before:
                break
        for node in self.nodes:
            if not node.types:
                raise BadQuery(f"no node has all the types of {node.name or 'a node'}")

    def _impossible(self, edge: PatternEdge) -> BadQuery:
        label = self.scope.names.schema.label
        around = edge.start.types | edge.end.types
        fitting = [triple for triple in self.scope.names.triples if triple in edge.triples] or list(
            self.scope.names.triples
        )
        near = [triple for triple in fitting if triple.source in around or triple.target in around] or fitting
        shown = "; ".join(
            f"{label(triple.source)} -{label(triple.type)}-> {label(triple.target)}" for triple in near[:6]
        )
        arrow = {"out": "->", "in": "<-", "both": "-"}[edge.direction]
        return BadQuery(f"No edge of this graph fits the pattern (its direction is {arrow}). There are: {shown}.")

    def node_value(self, node: PatternNode) -> Value:
        """Return a node as a value with its types."""
        return Value(node.value, ValueKind("node", node.types))

    def is_whole(self, edge: PatternEdge) -> bool:
        """Return whether an edge may join whatever its types join: a query may name types with their end types.

        Raises `BadQuery` for a pattern with a length that may not.
        """
        types = {triple.type for triple in edge.triples}
        is_whole = edge.all_triples or edge.triples == {t for t in self.scope.names.triples if t.type in types}
        if edge.pattern.hops and not is_whole:
            raise BadQuery("in a pattern of variable length an edge type is named without the types that it joins")
        return is_whole

    @property
    def owners(self) -> dict[str, Value]:
        """The nodes and edges with properties in braces, by names that no statement can write."""
        nodes = {node.value: node for node in self.nodes}
        return {
            made_up(value): self.node_value(nodes[value]) if value in nodes else Value(value, kind)
            for value, kind, _ in self.keyed
        }

    @property
    def equalities(self) -> list[Expression]:
        """The properties in braces as conditions on `owners`."""
        return [
            Binary("=", Property(Variable(made_up(value)), key), wanted)
            for value, _, items in self.keyed
            for key, wanted in items
        ]


def _joined(edge: PatternEdge) -> tuple[frozenset[str], frozenset[str]]:
    """Return the types of both ends that an edge can join."""
    pairs = {(triple.source, triple.target) for triple in edge.triples}
    back = {(target, source) for source, target in pairs}
    pairs = {"out": pairs, "in": back, "both": pairs | back}[edge.direction]
    hops = edge.pattern.hops
    if hops is None:
        fitting = [
            (source, target) for source, target in pairs if source in edge.start.types and target in edge.end.types
        ]
        return frozenset(source for source, _ in fitting), frozenset(target for _, target in fitting)
    forward = _reach(edge.start.types, pairs, hops.least, hops.most)
    backward = _reach(edge.end.types, {(target, source) for source, target in pairs}, hops.least, hops.most)
    return edge.start.types & backward, edge.end.types & forward


def _reach(types: frozenset[str], pairs: set[tuple[str, str]], least: int, most: int | None) -> frozenset[str]:
    """Return the types that can be reached in `least` to `most` steps; None is any number."""
    reached, rim = types if not least else frozenset[str](), types
    # Within `least` steps and one for each pair every type is reached that ever is.
    enough = least + len(pairs)
    for hop in range(1, (enough if most is None else min(most, enough)) + 1):
        rim = frozenset(target for source, target in pairs if source in rim)
        if hop >= least:
            reached |= rim
    return reached
