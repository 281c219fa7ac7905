"""The shape of a gold query: the nodes that it is given, the edges that it walks, how far it goes.

The guard's tree is read (graph/cypher/parser.py), never the text: what a query is said to walk is what is run.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, fields, is_dataclass
from functools import cached_property
from typing import NamedTuple, TypeAlias, TypeVar

from orienteer.graph.cypher.parser import parse
from orienteer.graph.cypher.syntax import (
    Binary,
    EdgePattern,
    Expression,
    ListOf,
    Literal_,
    NodePattern,
    PathPattern,
    Projected,
    Projection,
    Property,
    Statement,
    Unwind,
    Variable,
)
from orienteer.graph.store import Graph

_NAMING = ("id", "name")
_FAR = 1_000  # edges: further than any pattern goes
_Ways: TypeAlias = Mapping[str, Mapping[str, int]]
_Part = TypeVar("_Part")


class Given(NamedTuple):
    """A node that a query is given: by which property, and by what value of it."""

    variable: str
    key: str
    value: str
    types: tuple[str, ...]
    """The labels that its pattern has."""


class _Walked(NamedTuple):
    start: str
    end: str
    edges: int


@dataclass(frozen=True)
class Shape:
    """What one gold query walks."""

    statement: Statement

    @cached_property
    def is_cut(self) -> bool:
        """Whether it asks for a part of its rows: then it proves neither that a node is the only one nor a count."""
        return any(one.limit is not None or one.skip is not None for one in _all(self.statement, Projection))

    @cached_property
    def edges(self) -> tuple[EdgePattern, ...]:
        """The edges of all its patterns."""
        return tuple(edge for path in _all(self.statement, PathPattern) for edge in path.edges)

    @cached_property
    def labels(self) -> tuple[str, ...]:
        """The labels that it names, each once, as they are written."""
        return tuple(dict.fromkeys(label for node in _all(self.statement, NodePattern) for label in node.types))

    @cached_property
    def is_open(self) -> bool:
        """Whether it walks edges of any type."""
        return any(not edge.types for edge in self.edges)

    @cached_property
    def given(self) -> tuple[Given, ...]:
        """The nodes that it is given by id or name."""
        labels = defaultdict[str, tuple[str, ...]](tuple)
        found: list[tuple[str, str, str]] = []
        for variable, node in self._nodes:
            labels[variable] = node.types or labels[variable]
            found += [(variable, key, value) for key, given in node.properties for value in _texts(given)]
        for one in _all(self.statement, Binary):
            found += _compared(one)
        kept = dict.fromkeys(one for one in found if one[1] in _NAMING)
        return tuple(Given(variable, key, value, labels[variable]) for variable, key, value in kept)

    @cached_property
    def hops(self) -> int:
        """Edges on the longest of the shortest ways from a given node to any node of its patterns.

        An edge of several steps counts as its most.
        """
        ways = self._ways()
        starts = {one.variable for one in self.given}
        walked = {variable for variable, _ in self._nodes}
        far = (distance for start in starts for node, distance in _distances(ways, start).items() if node in walked)
        return max(far, default=0)

    @cached_property
    def _paths(self) -> tuple[tuple[tuple[str, ...], PathPattern], ...]:
        """The patterns, each with a name for each of its nodes: a nameless one is another everywhere."""
        found = []
        for number, path in enumerate(_all(self.statement, PathPattern)):
            names = tuple(node.variable or f"#{number}.{place}" for place, node in enumerate(path.nodes))
            found.append((names, path))
        return tuple(found)

    @cached_property
    def _nodes(self) -> tuple[tuple[str, NodePattern], ...]:
        return tuple(pair for names, path in self._paths for pair in zip(names, path.nodes, strict=True))

    def _ways(self) -> _Ways:
        """Return how many edges lie between what is joined, by either; a new name for the same is no edge away."""
        ways = defaultdict[str, dict[str, int]](dict)
        for start, end, edges in (*self._steps(), *self._renamed()):
            for one, other in ((start, end), (end, start)):
                ways[one][other] = min(edges, ways[one].get(other, _FAR))
        return ways

    def _steps(self) -> Iterator[_Walked]:
        for names, path in self._paths:
            for start, end, edge in zip(names, names[1:], path.edges, strict=False):
                yield _Walked(start, end, edge.hops.most if edge.hops is not None else 1)

    def _renamed(self) -> Iterator[_Walked]:
        pairs = [(one.expression, one.name) for one in _all(self.statement, Projected)]
        pairs += [(one.source, one.variable) for one in _all(self.statement, Unwind)]
        for expression, name in pairs:
            for variable in _all(expression, Variable):
                if variable.name != name:
                    yield _Walked(variable.name, name, 0)


def read_shape(text: str) -> Shape:
    """Return what a query walks. Raises `BadQuery` where it is not one reading statement."""
    return Shape(parse(text))


def edge_types_of(graph: Graph, shape: Shape) -> tuple[str, ...]:
    """Return the edge types that a query names, as the graph spells them. Raises `UnknownType`."""
    names = graph.cypher_session.names
    asked = dict.fromkeys(one for edge in shape.edges for one in edge.types)
    return tuple(dict.fromkeys(triple.type for one in asked for triple in sorted(names.edge_triples(one))))


def node_types_of(graph: Graph, shape: Shape) -> tuple[str, ...]:
    """Return the node types that a query names, or that edges which it names join. Raises `UnknownType`."""
    names = graph.cypher_session.names
    named = [found for one in shape.labels for found in sorted(names.node_types(one))]
    joined = [triple for edge in shape.edges for one in edge.types for triple in sorted(names.edge_triples(one))]
    return tuple(dict.fromkeys([*named, *(end for triple in joined for end in (triple.source, triple.target))]))


def rows_of(graph: Graph, given: Given) -> list[int]:
    """Return the rows of the nodes that a query is given by one value; none where it is no node's."""
    if given.key == "id":
        row = graph.ids.find(given.value)
        return [] if row is None else [row]
    names = graph.cypher_session.names
    types = {found for one in given.types for found in names.node_types(one)}
    called = [link.row for link in graph.name_index.called(given.value) if graph.names[link.row] == given.value]
    return sorted({row for row in called if not types or graph.type_at(row) in types})


def _all(tree: object, kind: type[_Part]) -> Iterator[_Part]:
    """Return the parts of a tree that are of a kind, as they stand in it."""
    if isinstance(tree, kind):
        yield tree
    if isinstance(tree, tuple):
        for one in tree:
            yield from _all(one, kind)
    elif is_dataclass(tree) and not isinstance(tree, type):
        for field in fields(tree):
            yield from _all(getattr(tree, field.name), kind)


def _compared(one: Binary) -> list[tuple[str, str, str]]:
    """Return the variable, key and texts of a comparison that gives a node: `n.id = 'x'`, `n.id IN ['x', 'y']`."""
    if one.operator not in ("=", "IN"):
        return []
    sides = [(one.left, one.right), *([(one.right, one.left)] if one.operator == "=" else [])]
    return [
        (held.base.name, held.key, text)
        for held, value in sides
        if isinstance(held, Property) and isinstance(held.base, Variable)
        for text in _texts(value)
    ]


def _texts(value: Expression) -> list[str]:
    parts = value.items if isinstance(value, ListOf) else (value,)
    return [one.value for one in parts if isinstance(one, Literal_) and isinstance(one.value, str)]


def _distances(ways: _Ways, start: str) -> dict[str, int]:
    """Return the fewest edges to everything that is joined to a start."""
    found = {start: 0}
    waiting = [start]
    while waiting:
        here = min(waiting, key=found.__getitem__)
        waiting.remove(here)
        for there, edges in ways.get(here, {}).items():
            if found[here] + edges < found.get(there, _FAR):
                found[there] = found[here] + edges
                waiting.append(there)
    return found
