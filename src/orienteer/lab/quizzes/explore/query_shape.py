"""The shape of a gold query: the nodes that it names, the edges that it walks, how far it goes.

The guard's tree is read (cypher/parser.py), never the text: what a query is said to walk is what is run.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

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
    NodePattern,
    PathPattern,
    Projection,
    ProjectionItem,
    Property,
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
