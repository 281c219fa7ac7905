"""The shape of a gold query: the nodes that it names, the edges that it walks, how far it goes.

The guard's tree is read (cypher/parser.py), never the text: what a query is said to walk is what is run.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from typing import NamedTuple, NoReturn

import numpy as np
from numpy.typing import NDArray

from orienteer.cypher.parser import parse
from orienteer.cypher.session import Cypher
from orienteer.cypher.syntax import (
    CypherStatement,
    EdgePattern,
    MatchClause,
    NodePattern,
    PathPattern,
    Projection,
    ProjectionItem,
    Subquery,
    Unwind,
    made_up,
)
from orienteer.graph.store import Graph
from orienteer.lab.quizzes.gold import joined
from orienteer.query.expressions import (
    Binary,
    Expression,
    FunctionCall,
    ListOf,
    Literal_,
    Property,
    Unary,
    Variable,
    conjuncts,
    parts,
)

_NAMING = ("id", "name")
_OF_TYPES = frozenset({"type", "labels", "nodetype"})
_LARGE = 100


class GivenNode(NamedTuple):
    """A node that a query names by the value of a property."""

    variable: str
    key: str
    value: str
    types: tuple[str, ...]
    """The labels of its pattern."""


class Shape(NamedTuple):
    """The shape of a gold query."""

    given: tuple[GivenNode, ...]
    """The nodes that it names by id or name."""
    edges: tuple[EdgePattern, ...]
    """The edges of all its patterns."""
    labels: tuple[str, ...]
    """The labels that it names, each once, unresolved."""
    hops: int
    """Edges of its patterns that are connected to a given node, each once; one of several steps is its most.

    So many have to be walked; edges under NOT do not count. `QuestionPlan.hops` counts the same of a plan.
    """
    compared: tuple[str, ...]
    """The values that it compares with, each once: texts and numbers of three digits or more, but no type names."""
    is_whole: bool
    """Whether everything that has to be found is connected to a named node."""
    is_open: bool
    """Whether it walks edges of any type."""
    is_cut: bool
    """Whether it asks for a part of its rows only: then it proves neither a single answer nor a count."""


def read_shape(text: str) -> Shape:
    """Return the shape of a query. Raises `BadQuery` if it is not a single reading statement."""
    statement = parse(text)
    # A nameless node is another one in each pattern.
    paths = [
        (tuple(node.variable or made_up("node", number, place) for place, node in enumerate(path.nodes)), path)
        for number, path in enumerate(parts(statement, PathPattern))
    ]
    denials = (unary for unary in parts(statement, Unary) if unary.operator == "NOT")
    denied = {path for denial in denials for path in parts(denial, PathPattern)}
    wanted = [(names, path) for names, path in paths if path not in denied]
    given = _given_nodes(statement, paths)
    steps = [step for names, path in wanted for step in zip(names, names[1:], path.edges, strict=False)]
    joined_to = defaultdict[str, set[str]](set)
    for one, other in [*((one, other) for one, other, _ in steps), *_renamed(statement)]:
        joined_to[one].add(other)
        joined_to[other].add(one)
    waiting = [node.variable for node in given]
    reached = set(waiting)
    while waiting:
        further = joined_to[waiting.pop()] - reached
        reached |= further
        waiting += further
    walked_once = {(frozenset((one, other)), edge.types, edge.hops) for one, other, edge in steps if one in reached}
    edges = tuple(edge for _, path in paths for edge in path.edges)
    about_types = {
        literal
        for comparison in parts(statement, Binary)
        if any(call.name in _OF_TYPES for call in parts(comparison, FunctionCall))
        and not list(parts(comparison, Binary))[1:]
        for literal in parts(comparison, Literal_)
    }
    values = [literal.value for literal in parts(statement, Literal_) if literal not in about_types]
    texts = [
        str(value)
        for value in values
        if (isinstance(value, str) and value.strip())
        or (isinstance(value, int) and not isinstance(value, bool) and value >= _LARGE)
    ]
    return Shape(
        given=given,
        edges=edges,
        labels=tuple(dict.fromkeys(label for node in parts(statement, NodePattern) for label in node.types)),
        hops=sum(1 if hops is None else hops.most or max(hops.least, 1) for _, _, hops in walked_once),
        compared=tuple(dict.fromkeys(texts)),
        is_whole=all(node in reached for names, _ in wanted for node in names),
        is_open=any(not edge.types for edge in edges),
        is_cut=any(one.limit is not None or one.skip is not None for one in parts(statement, Projection)),
    )


def _given_nodes(
    statement: CypherStatement, paths: Sequence[tuple[tuple[str, ...], PathPattern]]
) -> tuple[GivenNode, ...]:
    labels = defaultdict[str, tuple[str, ...]](tuple)
    triples: list[tuple[str, str, str]] = []
    for names, path in paths:
        for variable, node in zip(names, path.nodes, strict=True):
            labels[variable] = node.types or labels[variable]
            triples += [(variable, key, text) for key, value in node.properties for text in _texts(value)]
    for comparison in parts(statement, Binary):  # `n.id = 'x'`, `'x' = n.id`, `n.id IN ['x', 'y']`
        sides = [(comparison.left, comparison.right)] if comparison.operator in ("=", "IN") else []
        sides += [(comparison.right, comparison.left)] if comparison.operator == "=" else []
        for side, value in sides:
            if isinstance(side, Property) and isinstance(side.base, Variable):
                triples += [(side.base.name, side.key, text) for text in _texts(value)]
    return tuple(GivenNode(*triple, labels[triple[0]]) for triple in dict.fromkeys(triples) if triple[1] in _NAMING)


def _renamed(statement: CypherStatement) -> Iterator[tuple[str, str]]:
    pairs = [(projected.expression, projected.name) for projected in parts(statement, ProjectionItem)]
    pairs += [(unwind.source, unwind.variable) for unwind in parts(statement, Unwind)]
    for expression, name in pairs:
        for variable in parts(expression, Variable):
            if variable.name != name:
                yield variable.name, name


def edge_types_of(graph: Graph, shape: Shape) -> tuple[str, ...]:
    """Return the edge types that a query names, as the graph spells them. Raises `UnknownType`."""
    names = Cypher(graph).names
    written = dict.fromkeys(name for edge in shape.edges for name in edge.types)
    return tuple(dict.fromkeys(triple.type for name in written for triple in sorted(names.edge_triples(name))))


def node_types_of(graph: Graph, shape: Shape) -> tuple[str, ...]:
    """Return the node types that a query names, and those that its edge types join. Raises `UnknownType`."""
    names = Cypher(graph).names
    labels = [node_type for label in shape.labels for node_type in sorted(names.node_types(label))]
    triples = [triple for edge in shape.edges for name in edge.types for triple in sorted(names.edge_triples(name))]
    return tuple(dict.fromkeys([*labels, *(end for triple in triples for end in (triple.source, triple.target))]))


def rows_of(graph: Graph, node: GivenNode) -> list[int]:
    """Return the rows that a query names by one value."""
    if node.key == "id":
        row = graph.arrays.ids.find(node.value)
        return [] if row is None else [row]
    names = Cypher(graph).names
    types = {node_type for label in node.types for node_type in names.node_types(label)}
    rows = [
        link.row for link in graph.arrays.name_index.called(node.value) if graph.arrays.names[link.row] == node.value
    ]
    return sorted({row for row in rows if not types or graph.arrays.type_at(row) in types})


def _texts(value: Expression) -> list[str]:
    items = value.items if isinstance(value, ListOf) else (value,)
    return [item.value for item in items if isinstance(item, Literal_) and isinstance(item.value, str)]


# A gold query answered from the adjacency arrays, by joins: a second way, without the Cypher engine.
#
# What is read: `MATCH` of plain patterns, each edge one step; `WHERE` of ids that are equal or not, and of `EXISTS { }`
# with or without `NOT`; and a count of distinct nodes at the end, as `proof.FORMS` has it. A query that holds more has
# the engine's word alone. As Cypher has it, one edge is not walked twice within a MATCH; loops are never walked.

_MOST_STEPS = 100_000  # a second


class _Unread(Exception):
    """The query has a part that is not supported here, or takes too many steps."""


class _QueryEdge(NamedTuple):
    start: str
    end: str
    pattern: EdgePattern


class _Bindings(NamedTuple):
    """The ways to bind the nodes of patterns to rows of the graph."""

    names: tuple[str, ...]
    rows: NDArray[np.int32]
    """(ways, names)"""

    def column(self, name: str) -> NDArray[np.int32]:
        return self.rows[:, self.names.index(name)] if name in self.names else _refused()

    def where(self, keep: NDArray[np.bool_]) -> _Bindings:
        return _Bindings(self.names, self.rows[keep])

    def extended(self, name: str, rows: NDArray[np.int32]) -> _Bindings:
        return _Bindings((*self.names, name), np.concatenate([self.rows, rows[:, None]], axis=1))


def walked(graph: Graph, text: str) -> frozenset[str] | None:
    """Return the ids that a gold query counts, or None if the query is not supported here or takes too long.

    Raises `BadQuery` and `UnknownType` if it is not a query over this graph.
    """
    statement = parse(text)
    try:
        (clauses,) = statement.queries if len(statement.queries) == 1 else _refused()
        *matches, last = clauses
        counted = _counted(last)
        bindings = _Bindings((), np.zeros((1, 0), np.int32))
        for clause in matches:
            if not isinstance(clause, MatchClause) or clause.optional:
                _refused()
            bindings = _matched(graph, clause.paths, clause.where, bindings)
        rows = np.unique(bindings.column(counted))
    except _Unread:
        return None
    return frozenset(graph.arrays.ids[row] for row in rows.tolist())


def _refused() -> NoReturn:
    raise _Unread


def _counted(clause: object) -> str:
    """Return the name of the node that a query counts at its end."""
    if not isinstance(clause, Projection) or clause.order or clause.limit is not None or clause.skip is not None:
        _refused()
    match clause.items[0].expression if clause.items else None:
        case FunctionCall(name="count", arguments=(Variable(name=name),), distinct=True):
            return name
    return _refused()


def _matched(graph: Graph, paths: Sequence[PathPattern], where: Expression | None, bound: _Bindings) -> _Bindings:
    """Return the ways to bind the nodes of one clause too."""
    nodes: dict[str, list[NodePattern]] = {}
    edges: list[_QueryEdge] = []
    for path in paths:
        if path.shortest or path.variable is not None:
            _refused()
        names = [node.variable or made_up("node", id(path), place) for place, node in enumerate(path.nodes)]
        for name, node in zip(names, path.nodes, strict=True):
            nodes.setdefault(name, []).append(node)
        edges += map(_QueryEdge, names, names[1:], path.edges)
    conditions = list(conjuncts(where))
    for name, patterns in nodes.items():
        row = _given(graph, name, patterns, conditions)
        if name in bound.names:
            keep = _fitting(graph, patterns, bound.column(name))
            bound = bound.where(keep if row is None else keep & (bound.column(name) == row))
        elif row is not None:
            bound = bound.extended(name, np.full(len(bound.rows), row, np.int32))
            bound = bound.where(_fitting(graph, patterns, bound.column(name)) & (bound.column(name) >= 0))
    bound = _walked_edges(graph, edges, nodes, bound)
    if not nodes.keys() <= set(bound.names):
        _refused()
    for condition in conditions:
        bound = bound.where(_holds(graph, condition, bound))
    return bound


def _walked_edges(
    graph: Graph, edges: list[_QueryEdge], nodes: Mapping[str, Sequence[NodePattern]], bound: _Bindings
) -> _Bindings:
    """Return the ways to bind the ends of edges too, each way with edges of its own."""
    used = np.zeros((len(bound.rows), 0, 4), np.int64)  # (ways, edges so far, parts of an edge's identity)
    while edges:
        # The next edge is the one with the fewest edges of the graph at its bound end.
        costs = [
            (int(graph.arrays.adjacency.degree(np.unique(bound.column(name))).sum()), place, is_turned)
            for place, edge in enumerate(edges)
            for is_turned, name in ((False, edge.start), (True, edge.end))
            if name in bound.names
        ]
        cost, place, is_turned = min(costs) if costs else _refused()
        if cost > _MOST_STEPS:
            _refused()
        edge = edges.pop(place)
        here, there = (edge.end, edge.start) if is_turned else (edge.start, edge.end)
        owner, neighbor, identity = _edges_of(graph, edge.pattern, np.unique(bound.column(here)), is_turned=is_turned)
        pairs = joined(bound.column(here), owner, _MOST_STEPS) or _refused()
        ends, new = neighbor[pairs.right], identity[pairs.right][:, None]
        keep = (used[pairs.left] != new).any(axis=2).all(axis=1)
        if there in bound.names:
            keep &= bound.column(there)[pairs.left] == ends
        else:
            keep &= _fitting(graph, nodes[there], ends)
        used = np.concatenate([used[pairs.left], new], axis=1)[keep]
        is_new, bound = there not in bound.names, bound.where(pairs.left[keep])
        bound = bound.extended(there, ends[keep]) if is_new else bound
    return bound


def _edges_of(
    graph: Graph, pattern: EdgePattern, rows: NDArray[np.int32], *, is_turned: bool
) -> tuple[NDArray[np.int32], NDArray[np.int32], NDArray[np.int64]]:
    """Return the owners, neighbours and identities of the edges of some rows that match a pattern."""
    if pattern.hops is not None or pattern.properties or pattern.variable is not None:
        _refused()
    arrays, names = graph.arrays, Cypher(graph).names
    owner, neighbor, kind, _ = arrays.adjacency.entries(rows)
    edge_type, is_in = kind.astype(np.int64) >> 1, (kind & 1).astype(np.bool_)
    source, target = np.where(is_in, neighbor, owner), np.where(is_in, owner, neighbor)
    ends = np.stack([source, target, edge_type], axis=1)  # (edges, 3)
    # Parallel edges have a number each: they come together, in one order at both ends.
    is_first = np.append(True, (ends[1:] != ends[:-1]).any(axis=1))[: len(ends)]
    starts = np.maximum.accumulate(np.where(is_first, np.arange(len(ends)), 0))
    identity = np.concatenate([ends, (np.arange(len(ends)) - starts)[:, None]], axis=1)
    keep = np.ones(len(ends), np.bool_)
    if pattern.direction != "both":
        symmetric = [number for number, name in enumerate(arrays.types.edges) if name in graph.schema.symmetric]
        keep = (is_in == ((pattern.direction == "in") != is_turned)) | np.isin(edge_type, symmetric)
    if pattern.types:
        triples = {triple for name in pattern.types for triple in names.edge_triples(name)}
        types = arrays.types.nodes.index
        allowed = [(types(one.source), types(one.target), arrays.types.edges.index(one.type)) for one in triples]
        own = np.stack([arrays.node_types[source], arrays.node_types[target], edge_type], axis=1)
        keep &= (own[:, None] == np.array(allowed).reshape(1, -1, 3)).all(axis=2).any(axis=1)
    return owner[keep], neighbor[keep], identity[keep]


def _fitting(graph: Graph, patterns: Sequence[NodePattern], rows: NDArray[np.int32]) -> NDArray[np.bool_]:
    """Mark the rows that have the types and the id that all mentions of a node ask for, (rows,)."""
    keep, names, types = np.ones(len(rows), np.bool_), Cypher(graph).names, graph.arrays.types
    for pattern in patterns:
        if pattern.types:
            allowed = {types.nodes.index(node_type) for name in pattern.types for node_type in names.node_types(name)}
            keep &= np.isin(graph.arrays.node_types[rows], list(allowed))
        for key, value in pattern.properties:
            if key != "id" or not isinstance(value, Literal_):
                _refused()
            keep &= rows == _row_of(graph, value)
    return keep


def _given(graph: Graph, name: str, patterns: Sequence[NodePattern], conditions: Sequence[Expression]) -> int | None:
    """Return the row that a node is fixed to, -1 for an unknown id, or None if no id is given."""
    values: list[Expression] = [value for pattern in patterns for key, value in pattern.properties if key == "id"]
    for condition in conditions:
        match condition:
            case Binary(operator="=", left=Property(base=Variable(name=other), key="id"), right=Literal_() as right):
                values += [right] if other == name else []
    if not values:
        return None
    return _row_of(graph, values[0] if isinstance(values[0], Literal_) else _refused())


def _row_of(graph: Graph, literal: Literal_) -> int:
    row = graph.arrays.ids.find(literal.value) if isinstance(literal.value, str) else None
    return -1 if row is None else row


def _holds(graph: Graph, condition: Expression, bound: _Bindings) -> NDArray[np.bool_]:
    """Mark the ways for which a condition holds, (ways,)."""
    match condition:
        case Binary(operator="=" | "<>" as operator, left=left, right=right):
            sides = [_ids(graph, side, bound) for side in (left, right)]
            return np.asarray((sides[0] == sides[1]) == (operator == "="))
        case Unary(operator="NOT", operand=Subquery() as inner):
            return ~_holds(graph, inner, bound)
        case Subquery(kind="EXISTS", paths=paths, where=where):
            ways = np.arange(len(bound.rows), dtype=np.int32)
            numbered = bound.extended("\0way", ways)
            return np.isin(ways, _matched(graph, paths, where, numbered).column("\0way"))
    return _refused()


def _ids(graph: Graph, value: Expression, bound: _Bindings) -> NDArray[np.str_]:
    """Return the id that an expression gives for each way, (ways,)."""
    match value:
        case Literal_(value=str(text)):
            return np.full(len(bound.rows), text)
        case Property(base=Variable(name=name), key="id"):
            return np.array([graph.arrays.ids[row] for row in bound.column(name).tolist()], np.str_)
    return _refused()
