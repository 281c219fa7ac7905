"""What words of a question may be, each with where it ends and how far-fetched that is."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass, field
from typing import Literal, NamedTuple, TypeAlias

from orienteer.reading.quantities import Quantity

LIGHT_FIT = 0.25
"""How alike a verb is to any edge type that says no more than that there is an edge."""
PropertyKind: TypeAlias = Literal["number", "year", "date", "boolean", "text"]


class TypeUnit(NamedTuple):
    """Words that name node types: any of them where there are several."""

    last: int
    types: frozenset[int]
    cost: float


class NameUnit(NamedTuple):
    """Words that name nodes."""

    last: int
    rows: tuple[int, ...]
    cost: float


class ConverseEdges(dict[int, float]):
    """Edge types that words say from the other end, with how alike they are: `taught` of `studied_under`."""


class KindVerb(dict[int, float]):
    """All edge types, for a verb of what things of some kinds stand for: who ordered something has an order of it."""

    def __init__(self, edges: Mapping[int, float], types: frozenset[int], deeds: frozenset[int]) -> None:
        """Take every edge type, with how alike the verb is to it, and the kinds; `deeds` are those of what is done."""
        super().__init__(edges)
        self.types, self.deeds = types, deeds


class EdgeUnit(NamedTuple):
    """Words that name edge types, with how alike each is."""

    last: int
    edges: Mapping[int, float]
    first: int

    @property
    def fit(self) -> float:
        """Return how alike the best of its edge types is."""
        return max(self.edges.values(), default=0.0)

    def cut(self, kept: Collection[int]) -> EdgeUnit:
        """Return the same words for some of their edge types, from the same end."""
        edges = {edge: fit for edge, fit in self.edges.items() if edge in kept}
        if isinstance(self.edges, KindVerb):
            return self._replace(edges=KindVerb(edges, self.edges.types, self.edges.deeds))
        return self._replace(edges=ConverseEdges(edges) if isinstance(self.edges, ConverseEdges) else edges)


class PropertyUnit(NamedTuple):
    """Words that name a property."""

    last: int
    property: str
    cost: float


class ValueUnit(NamedTuple):
    """Words that are the value of a property for some nodes."""

    last: int
    property: str
    value: str
    cost: float


@dataclass(frozen=True, slots=True)
class PropertyFacts:
    """What a property is called and holds."""

    name: str
    stems: tuple[str, ...]
    unit: str | None
    kind: PropertyKind
    types: frozenset[int]
    true: str
    """The value that means yes: `true`, or `yes`."""
    is_list: bool = False
    """Some node has several values: of such, `a and b` are both."""
    edges: frozenset[int] = frozenset()
    """Of a property of edges, the edge types that have it."""

    @property
    def is_measured(self) -> bool:
        """Return whether its values are more or less than one another."""
        return self.kind in ("number", "year", "date")


@dataclass(slots=True)
class Units:
    """What the words of one question may be, by the place where they begin."""

    types: dict[int, list[TypeUnit]] = field(default_factory=dict)
    names: dict[int, list[NameUnit]] = field(default_factory=dict)
    edges: dict[int, list[EdgeUnit]] = field(default_factory=dict)
    properties: dict[int, list[PropertyUnit]] = field(default_factory=dict)
    values: dict[int, list[ValueUnit]] = field(default_factory=dict)
    quantities: dict[int, Quantity] = field(default_factory=dict)
    edge_properties: dict[int, list[PropertyUnit]] = field(default_factory=dict)
    edge_values: dict[int, list[ValueUnit]] = field(default_factory=dict)

    def covered(self) -> set[int]:
        """Return the places of words that may be something."""
        edges = {first: [unit for unit in units if unit.fit > LIGHT_FIT] for first, units in self.edges.items()}
        places = {
            place
            for units in (
                *(self.types, self.names, edges, self.properties, self.values),
                *(self.edge_properties, self.edge_values),
            )
            for first, spans in units.items()
            for span in spans
            for place in range(first, span.last)
        }
        return places | {place for first, span in self.quantities.items() for place in range(first, span.last)}
