"""What a graph holds and answers: tuples and dataclasses. Opening a graph loads these, but not the models of `records`.

All are frozen. Ids are strings; higher scores are better; ties are broken by id.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Literal, NamedTuple, TypeAlias

from orienteer.display import counted
from orienteer.page.notebook import Bundle

if TYPE_CHECKING:
    from orienteer.page.network import DrawnTypes

JsonValue: TypeAlias = None | bool | int | float | str | list[Any] | dict[str, Any]  # Any: JSON nests without end
Direction: TypeAlias = Literal["out", "in"]


@dataclass(frozen=True, slots=True)
class Node:
    """A typed node with text. The index has `text`, the name and aliases; edges are never in it."""

    id: str
    type: str = "node"
    name: str = ""
    text: str = ""
    aliases: tuple[str, ...] = ()
    properties: Mapping[str, JsonValue] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Edge:
    """A typed directed edge. Parallel edges, also of one type, are different edges."""

    source: str
    type: str
    target: str
    text: str = ""
    weight: float = 1.0
    properties: Mapping[str, JsonValue] = field(default_factory=dict)

    @property
    def extras(self) -> dict[str, JsonValue]:
        """Return its text, weight and properties, without defaults."""
        extras: dict[str, JsonValue] = {}
        if self.text:
            extras["text"] = self.text
        if self.weight != 1.0:
            extras["weight"] = self.weight
        if self.properties:
            extras["properties"] = dict(self.properties)
        return extras


class Triple(NamedTuple):
    """An edge type with the node types that it joins."""

    source: str
    type: str
    target: str


class Kind(NamedTuple):
    """The kind of a neighbour: the key of the counts in every neighbourhood."""

    edge_type: str
    direction: Direction
    node_type: str


@dataclass(frozen=True, slots=True)
class Schema:
    """The types of a graph, with their counts and readable labels."""

    node_types: Mapping[str, int]
    edges: Mapping[Triple, int]
    symmetric: frozenset[str] = frozenset()
    """Edge types without a direction: each edge is stored once."""
    labels: Mapping[str, str] = field(default_factory=dict)
    """Readable label of a type whose name is a code; either may be given for a type."""
    also_called: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    """Further words for a node type or an edge type."""
    partial: frozenset[str] = frozenset()
    """Types of nodes or edges that the graph contains only in part, so that a count of them is a lower bound."""

    @property
    def edge_types(self) -> dict[str, int]:
        """Count the edges of each edge type."""
        counts: dict[str, int] = {}
        for triple, count in self.edges.items():
            counts[triple.type] = counts.get(triple.type, 0) + count
        return counts

    def label(self, type_name: str) -> str:
        """Return the readable label of a type, or the type itself without one."""
        return self.labels.get(type_name, type_name)

    def _repr_html_(self) -> str:
        return self.drawn.html(self._title, [self.drawn.table()])

    def _repr_mimebundle_(self, **_: object) -> Bundle:
        return self.drawn.view(self._title, [self.drawn.table()])

    @property
    def _title(self) -> str:
        return f"{counted(len(self.node_types), 'node type')}, {counted(len(self.edge_types), 'edge type')}"

    @property
    def drawn(self) -> DrawnTypes:
        """Return what notebooks show of it."""
        from orienteer.page.network import DrawnTypes  # here: only a notebook draws

        return DrawnTypes(self.node_types, self.edges.items(), self.labels, self.symmetric)


class Hit(NamedTuple):
    """An entry of a ranking."""

    id: str
    score: float


Ranking: TypeAlias = tuple[Hit, ...]


@dataclass(frozen=True, slots=True)
class Neighbor:
    """A neighbour with its score and every edge that leads to it."""

    id: str
    score: float
    edges: tuple[Edge, ...]


@dataclass(frozen=True, slots=True)
class Neighborhood:
    """A page of the neighbours of one node or several, best first, and the counts of all of them."""

    total: int
    """The number of neighbours that pass the filters."""
    counts: Mapping[Kind, int]
    """Neighbours by edge type, direction and node type; a neighbour of two kinds counts in both."""
    offset: int
    hits: tuple[Neighbor, ...]


@dataclass(frozen=True, slots=True)
class Common:
    """A neighbour of several of the given nodes."""

    id: str
    members: int
    edges: tuple[Edge, ...]


@dataclass(frozen=True, slots=True)
class Path:
    """A path between two nodes; `edges[i]` has the edges between `nodes[i]` and `nodes[i + 1]`, in either direction."""

    nodes: tuple[str, ...]
    edges: tuple[tuple[Edge, ...], ...]

    @property
    def length(self) -> int:
        """Count the steps."""
        return len(self.edges)
