"""The shape of a gold query: the nodes that it names, the edges that it walks, how far it goes.

The guard's tree is read (cypher/parser.py), never the text: what a query is said to walk is what is run.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from itertools import groupby
from typing import NamedTuple, NoReturn, TypeAlias

import numpy as np

from orienteer.cypher.parser import parse
from orienteer.cypher.session import Cypher
from orienteer.cypher.syntax import (
    Binary,
    CypherStatement,
    EdgePattern,
    Expression,
    FunctionCall,
    ListOf,
    Literal_,
    MatchClause,
    NodePattern,
    PathPattern,
    Projection,
    ProjectionItem,
    Property,
    Subquery,
    Unary,
    Unwind,
    Variable,
    made_up,
    parts,
)
from orienteer.graph.store import Graph

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


class _PatternStep(NamedTuple):
    start: str
    end: str
    edge: EdgePattern


@dataclass(frozen=True)
class Shape:
    """What a gold query walks."""

    statement: CypherStatement

    @cached_property
    def is_cut(self) -> bool:
        """Whether it asks for a part of its rows only: then it proves neither a single answer nor a count."""
        return any(
            projection.limit is not None or projection.skip is not None
            for projection in parts(self.statement, Projection)
        )

    @cached_property
    def edges(self) -> tuple[EdgePattern, ...]:
        """The edges of all its patterns."""
        return tuple(edge for path in parts(self.statement, PathPattern) for edge in path.edges)

    @cached_property
    def labels(self) -> tuple[str, ...]:
        """The labels that it names, each once, as they are written."""
        return tuple(dict.fromkeys(label for node in parts(self.statement, NodePattern) for label in node.types))

    @cached_property
    def is_open(self) -> bool:
        """Whether it walks edges of any type."""
        return any(not edge.types for edge in self.edges)

    @cached_property
    def given(self) -> tuple[GivenNode, ...]:
        """The nodes that it names by id or name."""
        labels = defaultdict[str, tuple[str, ...]](tuple)
        triples: list[tuple[str, str, str]] = []
        for names, path in self._paths:
            for variable, node in zip(names, path.nodes, strict=True):
                labels[variable] = node.types or labels[variable]
                triples += [(variable, key, text) for key, value in node.properties for text in _texts(value)]
        for comparison in parts(self.statement, Binary):
            triples += _compared(comparison)
        return tuple(
            GivenNode(variable, key, text, labels[variable])
            for variable, key, text in dict.fromkeys(triples)
            if key in _NAMING
        )

    @cached_property
    def hops(self) -> int:
        """Edges of its patterns that hang together with a given node, each once; one of several steps is its most.

        So many have to be walked; what must not be there is not. `QuestionPlan.hops` counts the same of a plan.
        """
        reached = self._reached()
        steps = {
            (frozenset((start, end)), edge.types, edge.hops) for start, end, edge in self._steps() if start in reached
        }
        return sum(hops.most if hops is not None else 1 for _, _, hops in steps)

    @cached_property
    def is_whole(self) -> bool:
        """Whether everything that has to be found is connected to a named node."""
        reached = self._reached()
        return all(node in reached for names, path in self._paths if path not in self._denied for node in names)

    @cached_property
    def compared(self) -> tuple[str, ...]:
        """The values that it compares with, each once: texts and numbers of three digits or more, but no type names."""
        about_types = {
            literal
            for comparison in parts(self.statement, Binary)
            if any(call.name in _OF_TYPES for call in parts(comparison, FunctionCall))
            and not list(parts(comparison, Binary))[1:]
            for literal in parts(comparison, Literal_)
        }
        literals = (literal for literal in parts(self.statement, Literal_) if literal not in about_types)
        return tuple(dict.fromkeys(str(literal.value) for literal in literals if _tells(literal.value)))

    @cached_property
    def _paths(self) -> tuple[tuple[tuple[str, ...], PathPattern], ...]:
        """The patterns, each with a name for each of its nodes: a nameless one is another everywhere."""
        paths = enumerate(parts(self.statement, PathPattern))
        return tuple(
            (tuple(node.variable or made_up("node", number, place) for place, node in enumerate(path.nodes)), path)
            for number, path in paths
        )

    @cached_property
    def _denied(self) -> frozenset[PathPattern]:
        """The patterns that must not be found."""
        denials = (unary for unary in parts(self.statement, Unary) if unary.operator == "NOT")
        return frozenset(path for denial in denials for path in parts(denial, PathPattern))

    def _reached(self) -> set[str]:
        """Return the variables that are connected to a named node, by edges or by renaming."""
        joined = defaultdict[str, set[str]](set)
        for start, end in (*((start, end) for start, end, _ in self._steps()), *self._renamed()):
            joined[start].add(end)
            joined[end].add(start)
        waiting = [node.variable for node in self.given]
        reached = set(waiting)
        while waiting:
            further = joined[waiting.pop()] - reached
            reached |= further
            waiting += further
        return reached

    def _steps(self) -> Iterator[_PatternStep]:
        """Yield the edges that have to be found, without those under NOT."""
        for names, path in self._paths:
            if path in self._denied:
                continue
            for start, end, edge in zip(names, names[1:], path.edges, strict=False):
                yield _PatternStep(start, end, edge)

    def _renamed(self) -> Iterator[tuple[str, str]]:
        pairs = [(projected.expression, projected.name) for projected in parts(self.statement, ProjectionItem)]
        pairs += [(unwind.source, unwind.variable) for unwind in parts(self.statement, Unwind)]
        for expression, name in pairs:
            for variable in parts(expression, Variable):
                if variable.name != name:
                    yield variable.name, name


def read_shape(text: str) -> Shape:
    """Return the shape of a query. Raises `BadQuery` where it is not a single reading statement."""
    return Shape(parse(text))


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
    """Return the rows that a query names by one value; none where no node has the value."""
    if node.key == "id":
        row = graph.arrays.ids.find(node.value)
        return [] if row is None else [row]
    names = Cypher(graph).names
    types = {node_type for label in node.types for node_type in names.node_types(label)}
    rows = [
        link.row for link in graph.arrays.name_index.called(node.value) if graph.arrays.names[link.row] == node.value
    ]
    return sorted({row for row in rows if not types or graph.arrays.type_at(row) in types})


def _compared(comparison: Binary) -> list[tuple[str, str, str]]:
    """Return the variable, key and texts of a comparison that gives a node: `n.id = 'x'`, `n.id IN ['x', 'y']`."""
    sides = [(comparison.left, comparison.right)] if comparison.operator in ("=", "IN") else []
    if comparison.operator == "=":
        sides.append((comparison.right, comparison.left))
    return [
        (side.base.name, side.key, text)
        for side, value in sides
        if isinstance(side, Property) and isinstance(side.base, Variable)
        for text in _texts(value)
    ]


def _tells(value: None | bool | int | float | str) -> bool:
    """Return whether a question would have to mention a value: a text, or a number that is no mere count."""
    if isinstance(value, str):
        return bool(value.strip())
    return isinstance(value, int) and not isinstance(value, bool) and value >= _LARGE


def _texts(value: Expression) -> list[str]:
    items = value.items if isinstance(value, ListOf) else (value,)
    return [item.value for item in items if isinstance(item, Literal_) and isinstance(item.value, str)]


# A gold query answered from the adjacency arrays, node by node: a second way, without the Cypher engine.
#
# What is read: `MATCH` of plain patterns, each edge one step; `WHERE` of ids that are equal or not, and of `EXISTS { }`
# with or without `NOT`; and a count of distinct nodes at the end, as `proof.FORMS` has it. A query that holds more has
# the engine's word alone. As Cypher has it, one edge is not walked twice within a MATCH; loops are never walked.


_MOST_STEPS = 100_000  # a second
_Bound: TypeAlias = Mapping[str, int]
"""The rows of the bound nodes of a pattern, by name."""
_GraphEdge: TypeAlias = tuple[int, int, int, int]
"""An edge: source, target, type, and its number among parallel edges."""


class _Unread(Exception):
    """The query has a part that is not supported here, or takes too many steps."""


class _QueryEdge(NamedTuple):
    start: str
    end: str
    pattern: EdgePattern


def walked(graph: Graph, text: str) -> frozenset[str] | None:
    """Return the ids that a gold query counts; None for a query that is not supported here, or takes too long.

    Raises `BadQuery` and `UnknownType` where it is no query over this graph.
    """
    statement = parse(text)
    try:
        (clauses,) = statement.queries if len(statement.queries) == 1 else _refused()
        *matches, last = clauses
        counted = _counted(last)
        rows: set[int] = set()
        for bound in _PatternWalker(graph).matches([_match(clause) for clause in matches], {}):
            rows.add(bound[counted] if counted in bound else _refused())
    except _Unread:
        return None
    return frozenset(graph.arrays.ids[row] for row in rows)


def _refused() -> NoReturn:
    raise _Unread


def _match(clause: object) -> MatchClause:
    return clause if isinstance(clause, MatchClause) and not clause.optional else _refused()


def _counted(clause: object) -> str:
    """Return the name of the node that a query counts at its end."""
    if not isinstance(clause, Projection) or clause.order or clause.limit is not None or clause.skip is not None:
        _refused()
    first = clause.items[0].expression if clause.items else None
    match first:
        case FunctionCall(name="count", arguments=(Variable(name=name),), distinct=True):
            return name
    return _refused()


@dataclass(slots=True)
class _PatternWalker:
    """Walks patterns from their bound nodes."""

    graph: Graph
    _steps: int = 0
    _around: dict[int, list[tuple[int, int, _GraphEdge]]] = field(default_factory=dict)

    def matches(self, clauses: Sequence[MatchClause], bound: _Bound) -> Iterator[_Bound]:
        """Yield every way to bind the nodes of several clauses."""
        if not clauses:
            yield bound
            return
        first, *others = clauses
        for way in self.ways(first.paths, first.where, bound):
            yield from self.matches(others, way)

    def ways(self, paths: Sequence[PathPattern], where: Expression | None, bound: _Bound) -> Iterator[_Bound]:
        """Yield every way to bind the nodes of one clause."""
        named = [
            (tuple(node.variable or made_up("node", id(path), place) for place, node in enumerate(path.nodes)), path)
            for path in paths
        ]
        nodes: dict[str, list[NodePattern]] = {}
        edges: list[_QueryEdge] = []
        for names, path in named:
            if path.shortest or path.variable is not None:
                _refused()
            for name, node in zip(names, path.nodes, strict=True):
                nodes.setdefault(name, []).append(node)
            edges += map(_QueryEdge, names, names[1:], path.edges)
        conditions = _conjuncts(where)
        fixed = {
            name: row
            for name, patterns in nodes.items()
            if (row := self._given(name, patterns, conditions)) is not None
        }
        if any(row < 0 for row in fixed.values()):
            return
        for name in bound.keys() & fixed.keys():
            if bound[name] != fixed.pop(name):
                return
        start = {**bound, **fixed}
        if all(self._fits(nodes.get(name, ()), row) for name, row in start.items()):
            yield from self._extended(nodes, edges, conditions, start, frozenset())

    def _extended(
        self,
        nodes: Mapping[str, Sequence[NodePattern]],
        edges: Sequence[_QueryEdge],
        conditions: Sequence[Expression],
        bound: _Bound,
        used: frozenset[_GraphEdge],
    ) -> Iterator[_Bound]:
        """Walk the next edge with a bound end in every way, and yield the complete bindings."""
        if not edges:
            if nodes.keys() <= bound.keys() and all(self._holds(condition, bound) for condition in conditions):
                yield bound
            elif not nodes.keys() <= bound.keys():
                _refused()
            return
        edge, is_turned = self._next(edges, bound)
        others = [other for other in edges if other is not edge]
        here, there = (edge.end, edge.start) if is_turned else (edge.start, edge.end)
        for row, passed in self._taken(edge.pattern, bound[here], is_turned=is_turned):
            if passed in used or (there in bound and bound[there] != row) or not self._fits(nodes[there], row):
                continue
            yield from self._extended(nodes, others, conditions, {**bound, there: row}, used | {passed})

    def _next(self, edges: Sequence[_QueryEdge], bound: _Bound) -> tuple[_QueryEdge, bool]:
        """Return the edge to walk next, and whether from its end: from the bound node with the fewest edges."""
        indptr = self.graph.arrays.adjacency.indptr
        ways = [
            (int(indptr[bound[name] + 1] - indptr[bound[name]]), place, is_turned)
            for place, edge in enumerate(edges)
            for is_turned, name in ((False, edge.start), (True, edge.end))
            if name in bound
        ]
        _, place, is_turned = min(ways) if ways else _refused()
        return edges[place], is_turned

    def _taken(self, pattern: EdgePattern, row: int, *, is_turned: bool) -> Iterator[tuple[int, _GraphEdge]]:
        """Yield the rows that an edge leads to from a row, each with the edge walked."""
        if pattern.hops is not None or pattern.properties or pattern.variable is not None:
            _refused()
        names, schema = Cypher(self.graph).names, self.graph.schema
        triples = {triple for name in pattern.types for triple in names.edge_triples(name)}
        for neighbor, kind, passed in self._entries(row):
            self._steps += 1
            if self._steps > _MOST_STEPS:
                _refused()
            source, target, edge_type, _ = passed
            name = self.graph.arrays.types.edges[edge_type]
            ends = self.graph.arrays.type_at(source), name, self.graph.arrays.type_at(target)
            if pattern.types and ends not in triples:
                continue
            goes_out = not kind & 1
            wanted = {"out": not is_turned, "in": is_turned, "both": goes_out}[pattern.direction]
            if goes_out == wanted or name in schema.symmetric:
                yield neighbor, passed

    def _entries(self, row: int) -> list[tuple[int, int, _GraphEdge]]:
        """Return the neighbour, the kind and the edge itself for every edge of a row."""
        if row not in self._around:
            entries = self.graph.arrays.adjacency.entries(np.array([row], np.int32))
            pairs = zip(entries.neighbor.tolist(), entries.kind.tolist(), strict=True)
            around = list[tuple[int, int, _GraphEdge]]()
            for (neighbor, kind), alike in groupby(pairs):  # parallel edges stand together, in one order at both ends
                ends = (neighbor, row) if kind & 1 else (row, neighbor)
                around += [(neighbor, kind, (*ends, kind >> 1, number)) for number, _ in enumerate(alike)]
            self._around[row] = around
        return self._around[row]

    def _fits(self, patterns: Sequence[NodePattern], row: int) -> bool:
        """Return whether a row has the types and the id that all mentions of its node ask for."""
        names = Cypher(self.graph).names
        for pattern in patterns:
            if pattern.types and not any(
                self.graph.arrays.type_at(row) in names.node_types(name) for name in pattern.types
            ):
                return False
            for key, value in pattern.properties:
                if key != "id" or not isinstance(value, Literal_):
                    _refused()
                if value.value != self.graph.arrays.ids[row]:
                    return False
        return True

    def _given(self, name: str, patterns: Sequence[NodePattern], conditions: Sequence[Expression]) -> int | None:
        """Return the row that a node is fixed to, -1 for an unknown id; None where no id is given."""
        values: list[Expression] = [value for pattern in patterns for key, value in pattern.properties if key == "id"]
        for condition in conditions:
            match condition:
                case Binary(
                    operator="=", left=Property(base=Variable(name=other), key="id"), right=Literal_() as right
                ):
                    values += [right] if other == name else []
        for value in values:
            text = value.value if isinstance(value, Literal_) else _refused()
            row = self.graph.arrays.ids.find(text) if isinstance(text, str) else None
            return -1 if row is None else row
        return None

    def _holds(self, condition: Expression, bound: _Bound) -> bool:
        match condition:
            case Binary(operator="=" | "<>" as operator, left=left, right=right):
                return (self._value(left, bound) == self._value(right, bound)) == (operator == "=")
            case Unary(operator="NOT", operand=Subquery() as inner):
                return not self._holds(inner, bound)
            case Subquery(kind="EXISTS", paths=paths, where=where):
                return next(self.ways(paths, where, bound), None) is not None
        return _refused()

    def _value(self, value: Expression, bound: _Bound) -> str:
        match value:
            case Literal_(value=str(text)):
                return text
            case Property(base=Variable(name=name), key="id") if name in bound:
                return str(self.graph.arrays.ids[bound[name]])
        return _refused()


def _conjuncts(where: Expression | None) -> list[Expression]:
    """Return the parts of a condition that are joined by AND."""
    if isinstance(where, Binary) and where.operator == "AND":
        return [*_conjuncts(where.left), *_conjuncts(where.right)]
    return [] if where is None else [where]
