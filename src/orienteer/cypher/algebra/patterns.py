"""The patterns of a MATCH, an EXISTS or a COUNT in the algebra."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace

from orienteer.cypher.algebra.expressions import Expressions
from orienteer.cypher.kinds import NULL, UNKNOWN, ValueKind
from orienteer.cypher.parser import PatternEdge, PatternNode, PatternReader, ReadPath
from orienteer.cypher.syntax import Direction, EdgePattern, NodePattern, PathPattern
from orienteer.elements import Triple
from orienteer.errors import BadQuery, UnknownType
from orienteer.query import expressions as ex
from orienteer.query.expressions import Expression, FunctionCall, conjuncts, parts
from orienteer.query.plan import Among, Every, Inner, Match, Meeting, NodeSet, Step, Table, Unit
from orienteer.query.sets import both
from orienteer.query.tables import names_in

_NOWHERE = Among(())


@dataclass(slots=True)
class Patterns(PatternReader):
    """Reads the patterns of one clause."""

    is_lenient: bool = False
    """A type or a triple that is not in the graph matches nothing, with a note; else it is refused."""

    def read_node(self, pattern: NodePattern) -> PatternNode:
        """Return a node of a pattern. Raises `BadQuery`, `UnknownType`."""
        types = self._known_types(pattern.types, self.scope.names.node_types)
        known = self.scope.variables.get(pattern.variable or "")
        if known is not None and known.kind == NULL and pattern.variable is not None:
            self.scope.variables = {**self.scope.variables, pattern.variable: known._replace(kind=UNKNOWN)}
        node = super(Patterns, self).read_node(replace(pattern, types=types))
        if pattern.types and not types:
            self.wanted[node.value] = frozenset()
        return node

    def read_edge(
        self, pattern: EdgePattern, start: PatternNode, end: PatternNode, *, is_shortest: bool
    ) -> PatternEdge:
        """Return an edge of a pattern; an earlier clause may have bound it. Raises `BadQuery`, `UnknownType`."""
        types = self._known_types(pattern.types, self.scope.names.edge_triples)
        known = self.scope.variables.get(pattern.variable or "")
        is_known = known is not None and known.kind.name in ("edge", "") and not pattern.hops
        asked = replace(pattern, types=types, variable=None if is_known else pattern.variable, properties=())
        edge = super(Patterns, self).read_edge(asked, start, end, is_shortest=is_shortest)
        if known is not None and is_known:
            edge.value = known.text
        if pattern.properties:
            if pattern.hops:
                raise BadQuery("properties of a pattern with a length: use all(r IN relationships(p) WHERE r.key = 1)")
            self.keyed.append((edge.value, ValueKind("edge", frozenset(edge.types)), pattern.properties))
        if pattern.types and not types:
            self.wanted[start.value] = frozenset()
        return edge

    def _known_types(self, names: Sequence[str], look_up: object) -> tuple[str, ...]:
        """Return the types that are in the graph; the others are refused or noted."""
        known = []
        for name in names:
            try:
                look_up(name)  # type: ignore[operator]  # a method of NameMap
                known.append(name)
            except UnknownType as error:
                if not self.is_lenient:
                    raise
                self.scope.note(f"{error} It matches nothing.")
        return tuple(known)

    def direction(self, pattern: EdgePattern, types: set[str]) -> Direction:
        """Return `both` if an edge of one of the types has no direction; `_kinds` decides it type by type."""
        undirected = types & self.scope.names.undirected
        if pattern.direction == "both" or not undirected:
            return pattern.direction
        if self.scope.names.view is not None:
            return super(Patterns, self).direction(pattern, types)
        shown = ", ".join(sorted(map(self.scope.names.schema.label, undirected)))
        self.scope.note(f"{shown} has no direction: the arrow was left out")
        return "both"


def inner_match(
    compiler: Expressions,
    paths: Sequence[PathPattern],
    where: Expression | None,
    *,
    is_set: bool,
    reads_all: bool = False,
) -> Match:
    """Return the table of a pattern inside an expression; `is_set` if only its emptiness counts."""
    read = None if reads_all else frozenset[str]()
    return matched(compiler, Unit(), paths, where, read, is_distinct=is_set, is_lenient=True)


def matched(
    compiler: Expressions,
    source: Table,
    paths: Sequence[PathPattern],
    where: Expression | None,
    read: frozenset[str] | None,
    *,
    is_distinct: bool,
    is_lenient: bool,
) -> Match:
    """Return the table of some patterns; their variables are in scope from then on.

    `read` are the variables that later clauses read, None for all. Raises `BadQuery`, `UnknownType`.
    """
    scope = compiler.scope
    outside = {value.text for value in scope.variables.values()}
    reader = Patterns(compiler, is_lenient=is_lenient)
    read_paths = [reader.read(path) for path in paths]
    is_possible = _narrow(reader, is_lenient=is_lenient)
    scope.variables = {
        **scope.variables,
        **reader.variables,
        **{name: reader.node_value(node) for name, node in reader.named.items()},
    }
    sets: dict[str, list[NodeSet]] = {node.value: [] for node in reader.nodes}
    for value, types in reader.wanted.items():
        sets[value].append(Every(frozenset(map(compiler.node_numbers.__getitem__, types))) if types else _NOWHERE)
    if not is_possible:
        sets[reader.nodes[0].value].append(_NOWHERE)
    steps = [_step(reader, compiler, edge, path, is_possible) for path in read_paths for edge in path.edges]
    named_paths = [
        (path.value, tuple(node.value for node in path.nodes), tuple(edge.value for edge in path.edges))
        for path in read_paths
        if path.value
    ]
    conditions = list[tuple[Expression, frozenset[str]]]()
    columns = {*outside, *sets, *(step.edge for step in steps), *(name for name, _, _ in named_paths)}
    with scope.inner(reader.owners):
        compiled = [compiler.condition(part) for part in (*reader.equalities, *conjuncts(where))]
    for condition in compiled:
        names = names_in(condition) & columns
        only = next(iter(names)) if len(names) == 1 else ""
        if only in sets and only not in outside and _is_of_node(condition):
            sets[only].append(_listed(compiler, only, condition) or Meeting(only, condition))
        else:
            conditions.append((condition, frozenset(names)))
    kept = None
    if read is not None:
        kept = frozenset(value.text for name, value in scope.variables.items() if name in read)
    tested = frozenset[str]().union(*(names for _, names in conditions))
    kept_paths = tuple(path for path in named_paths if kept is None or path[0] in kept | tested)
    return Match(
        source,
        tuple((name, both(*nodes)) for name, nodes in sets.items()),
        tuple(steps),
        tuple(conditions),
        kept_paths,
        kept,
        is_distinct and kept is not None,
    )


def _narrow(reader: Patterns, *, is_lenient: bool) -> bool:
    """Narrow the types of nodes; return whether any edges of the graph fit. Raises `BadQuery` if they have to."""
    before = [(node, node.types) for node in reader.nodes]
    if not all(reader.wanted.values()):
        return False
    try:
        reader.narrow()
    except BadQuery as error:
        if not is_lenient:
            raise
        reader.scope.note(f"{error} It matches nothing.")
        for node, types in before:
            node.types = types or frozenset(reader.scope.names.schema.node_types)
        return False
    return True


def _step(reader: Patterns, compiler: Expressions, edge: PatternEdge, path: ReadPath, is_possible: bool) -> Step:
    """Return the step of an edge. Raises `BadQuery` for end types that a length cannot have."""
    names, hops, shortest = compiler.scope.names, edge.pattern.hops, path.pattern.shortest
    is_whole = reader.is_whole(edge)
    kinds, ends = set[int](), set[tuple[int, int, int]]()
    for triple in edge.triples:
        for kind, start, end in _ways(compiler, triple, edge.direction if names.view else edge.pattern.direction):
            fits = start in edge.start.types and end in edge.end.types
            if fits or hops or not is_possible:
                kinds.add(kind)
                ends.add((kind, compiler.node_numbers[start], compiler.node_numbers[end]))
    least, most = (hops.least, hops.most) if hops else (1, 1)
    return Step(
        edge.start.value,
        edge.end.value,
        frozenset(kinds),
        edge.value,
        max(least, 1) if shortest else least,
        most,
        hops is not None,
        None if is_whole else frozenset(ends),
        {"SHORTEST": "one", "ALL SHORTEST": "all"}.get(shortest, ""),  # type: ignore[arg-type]  # one of three
    )


def _ways(compiler: Expressions, triple: Triple, direction: Direction) -> Iterable[tuple[int, str, str]]:
    """Yield the kinds of a triple that a direction allows, with the types of start and end."""
    is_undirected = direction == "both" or triple.type in compiler.scope.names.undirected
    number = compiler.edge_numbers[triple.type]
    if is_undirected or direction == "out":
        yield 2 * number, triple.source, triple.target
    if is_undirected or direction == "in":
        yield 2 * number + 1, triple.target, triple.source


def _is_of_node(condition: Expression) -> bool:
    """Return whether a condition depends on the node alone: on no table, and not on chance."""
    if any(True for _ in parts(condition, Inner)):
        return False
    return all(call.name != "rand" for call in parts(condition, FunctionCall))


def _listed(compiler: Expressions, name: str, condition: Expression) -> Among | None:
    """Return the nodes that a condition names by id or by name; None for another condition."""
    if not isinstance(condition, ex.Binary) or condition.operator not in ("=", "IN"):
        return None
    left, right = condition.left, condition.right
    if condition.operator == "=" and not isinstance(left, ex.Property):
        left, right = right, left
    if not isinstance(left, ex.Property) or left.base != ex.Variable(name) or left.key not in ("id", "name"):
        return None
    value: object = compiler.scope.constant(right)
    if isinstance(right, ex.ListOf):
        value = [compiler.scope.constant(item) for item in right.items]
    words = value if condition.operator == "IN" else [value]
    if not isinstance(words, list) or not all(isinstance(word, str) for word in words):
        return None
    look_up = compiler.rows_with_id if left.key == "id" else compiler.store.called
    return Among(tuple(sorted({row for word in words for row in look_up(word)})))
