"""A gold query answered from the adjacency arrays, node by node: a second way, without the Cypher engine.

What is read: `MATCH` of plain patterns, each edge one step; `WHERE` of ids that are equal or not, and of `EXISTS { }`
with or without `NOT`; and a count of distinct nodes at the end, as `proof.FORMS` has it. A query that holds more has
the engine's word alone. As Cypher has it, one edge is not walked twice within a MATCH; loops are never walked.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import groupby
from typing import NamedTuple, NoReturn, TypeAlias

import numpy as np

from orienteer.cypher.parser import parse
from orienteer.cypher.session import Cypher
from orienteer.cypher.syntax import (
    Binary,
    EdgePattern,
    Expression,
    FunctionCall,
    Literal_,
    MatchClause,
    NodePattern,
    PathPattern,
    Projection,
    Property,
    Subquery,
    Unary,
    Variable,
    made_up,
)
from orienteer.graph.store import Graph

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
