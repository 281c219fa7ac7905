"""The shape of a gold query: the nodes that it is given, the edges that it walks, how far it goes.

The guard's tree is read (cypher/parser.py), never the text: what a query is said to walk is what is run.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass, fields, is_dataclass
from functools import cached_property
from typing import NamedTuple, TypeVar

from orienteer.cypher.parser import parse
from orienteer.cypher.session import Cypher
from orienteer.cypher.syntax import (
    Binary,
    Call,
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
    Unary,
    Unwind,
    Variable,
)
from orienteer.graph.store import Graph

_NAMING = ("id", "name")
_OF_TYPES = frozenset({"type", "labels", "nodetype"})
_LARGE = 100
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
    edge: EdgePattern


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
        """Edges of its patterns that hang together with a given node, each once; one of several steps is its most.

        So many have to be walked; what must not be there is not. It is what `plan.Plan.hops` counts of an item that
        templates made.
        """
        there = self._reached()
        steps = {
            (frozenset((start, end)), edge.types, edge.hops) for start, end, edge in self._steps() if start in there
        }
        return sum(hops.most if hops is not None else 1 for _, _, hops in steps)

    @cached_property
    def is_whole(self) -> bool:
        """Whether all that has to be found hangs together with a given node."""
        there = self._reached()
        return all(node in there for names, path in self._paths if path not in self._denied for node in names)

    @cached_property
    def compared(self) -> tuple[str, ...]:
        """What it compares with, each once: texts, and numbers of three digits or more; not names of types."""
        about_types = {
            literal
            for one in _all(self.statement, Binary)
            if any(called.name in _OF_TYPES for called in _all(one, Call)) and not list(_all(one, Binary))[1:]
            for literal in _all(one, Literal_)
        }
        literals = (one for one in _all(self.statement, Literal_) if one not in about_types)
        return tuple(dict.fromkeys(str(one.value) for one in literals if _tells(one.value)))

    @cached_property
    def _paths(self) -> tuple[tuple[tuple[str, ...], PathPattern], ...]:
        """The patterns, each with a name for each of its nodes: a nameless one is another everywhere."""
        found = []
        for number, path in enumerate(_all(self.statement, PathPattern)):
            names = tuple(node.variable or f"#{number}.{place}" for place, node in enumerate(path.nodes))
            found.append((names, path))
        return tuple(found)

    @cached_property
    def _denied(self) -> frozenset[PathPattern]:
        """The patterns that must not be found."""
        denials = (one for one in _all(self.statement, Unary) if one.operator == "NOT")
        return frozenset(path for one in denials for path in _all(one, PathPattern))

    @cached_property
    def _nodes(self) -> tuple[tuple[str, NodePattern], ...]:
        return tuple(pair for names, path in self._paths for pair in zip(names, path.nodes, strict=True))

    def _reached(self) -> set[str]:
        """Return what hangs together with a given node, by edges or by a new name for the same."""
        joined = defaultdict[str, set[str]](set)
        for start, end in (*((start, end) for start, end, _ in self._steps()), *self._renamed()):
            joined[start].add(end)
            joined[end].add(start)
        waiting = [one.variable for one in self.given]
        found = set(waiting)
        while waiting:
            further = joined[waiting.pop()] - found
            found |= further
            waiting += further
        return found

    def _steps(self) -> Iterator[_Walked]:
        """Return the edges that have to be found; not those that must not be."""
        for names, path in self._paths:
            if path in self._denied:
                continue
            for start, end, edge in zip(names, names[1:], path.edges, strict=False):
                yield _Walked(start, end, edge)

    def _renamed(self) -> Iterator[tuple[str, str]]:
        pairs = [(one.expression, one.name) for one in _all(self.statement, Projected)]
        pairs += [(one.source, one.variable) for one in _all(self.statement, Unwind)]
        for expression, name in pairs:
            for variable in _all(expression, Variable):
                if variable.name != name:
                    yield variable.name, name


def read_shape(text: str) -> Shape:
    """Return what a query walks. Raises `BadQuery` where it is not one reading statement."""
    return Shape(parse(text))


def edge_types_of(graph: Graph, shape: Shape) -> tuple[str, ...]:
    """Return the edge types that a query names, as the graph spells them. Raises `UnknownType`."""
    names = Cypher(graph).names
    asked = dict.fromkeys(one for edge in shape.edges for one in edge.types)
    return tuple(dict.fromkeys(triple.type for one in asked for triple in sorted(names.edge_triples(one))))


def node_types_of(graph: Graph, shape: Shape) -> tuple[str, ...]:
    """Return the node types that a query names, or that edges which it names join. Raises `UnknownType`."""
    names = Cypher(graph).names
    named = [found for one in shape.labels for found in sorted(names.node_types(one))]
    joined = [triple for edge in shape.edges for one in edge.types for triple in sorted(names.edge_triples(one))]
    return tuple(dict.fromkeys([*named, *(end for triple in joined for end in (triple.source, triple.target))]))


def rows_of(graph: Graph, given: Given) -> list[int]:
    """Return the rows of the nodes that a query is given by one value; none where it is no node's."""
    if given.key == "id":
        row = graph.ids.find(given.value)
        return [] if row is None else [row]
    names = Cypher(graph).names
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


def _tells(value: None | bool | int | float | str) -> bool:
    """Tell whether a value is one that a question would have to say: a text, or a number that is no mere count."""
    if isinstance(value, str):
        return bool(value.strip())
    return isinstance(value, int) and not isinstance(value, bool) and value >= _LARGE


def _texts(value: Expression) -> list[str]:
    parts = value.items if isinstance(value, ListOf) else (value,)
    return [one.value for one in parts if isinstance(one, Literal_) and isinstance(one.value, str)]
