"""The parts of a statement. A part without a class here cannot reach the engine."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal, NamedTuple, TypeAlias

from orienteer.cypher.names import View
from orienteer.elements import JsonValue
from orienteer.query.expressions import Expression, Tree, Variable

Direction: TypeAlias = Literal["out", "in", "both"]


def made_up(what: str, *places: int) -> str:
    """Return a name for a part without one; no variable can have it, since the guard refuses U+0000."""
    return "\0" + " ".join([what, *map(str, places)])


@dataclass(frozen=True, slots=True)
class PatternComprehension(Tree):
    """`[(a)-[..]->(b) WHERE p | e]`."""

    path: PathPattern
    where: Expression | None
    result: Expression


@dataclass(frozen=True, slots=True)
class Subquery(Tree):
    """`EXISTS { pattern WHERE p }`, `COUNT { }` or `COLLECT { }`; a pattern as a condition is read as EXISTS."""

    kind: Literal["EXISTS", "COUNT", "COLLECT"]
    paths: tuple[PathPattern, ...]
    where: Expression | None
    clauses: tuple[Clause, ...] = ()
    """The clauses after its first MATCH."""


@dataclass(frozen=True, slots=True)
class Reduction(Tree):
    """`reduce(total = initial, x IN list | value)`."""

    total: str
    initial: Expression
    variable: str
    source: Expression
    value: Expression


@dataclass(frozen=True, slots=True)
class HasType(Tree):
    """`n:Gene` as a condition."""

    variable: str
    types: tuple[str, ...]
    """Empty if the condition names only the domain label, which every node has in a view."""


@dataclass(frozen=True, slots=True)
class NodePattern(Tree):
    """`(n:Gene|Disease {key: value})`."""

    variable: str | None
    types: tuple[str, ...]
    properties: tuple[tuple[str, Expression], ...]


@dataclass(frozen=True, slots=True)
class Hops:
    """`*least..most`."""

    least: int
    most: int | None
    """None for any number."""


@dataclass(frozen=True, slots=True)
class EdgePattern(Tree):
    """`-[r:treats|palliates*1..2 {key: value}]->`."""

    variable: str | None
    types: tuple[str, ...]
    direction: Direction
    hops: Hops | None
    properties: tuple[tuple[str, Expression], ...]


@dataclass(frozen=True, slots=True)
class PathPattern(Tree):
    """`p = (a)-[r]-(b)`: nodes and edges in turn."""

    variable: str | None
    nodes: tuple[NodePattern, ...]
    edges: tuple[EdgePattern, ...]
    shortest: Literal["", "SHORTEST", "ALL SHORTEST"] = ""

    @property
    def variables(self) -> frozenset[str]:
        """Return the names of its nodes."""
        return frozenset(node.variable for node in self.nodes if node.variable is not None)


@dataclass(frozen=True, slots=True)
class MatchClause:
    """`[OPTIONAL] MATCH paths [WHERE p]`."""

    paths: tuple[PathPattern, ...]
    where: Expression | None
    optional: bool


@dataclass(frozen=True, slots=True)
class Unwind:
    """`UNWIND list AS variable`."""

    source: Expression
    variable: str


@dataclass(frozen=True, slots=True)
class ProjectionItem:
    """`expression AS name`; without AS, the name is the expression's own text."""

    expression: Expression
    name: str
    named: bool


@dataclass(frozen=True, slots=True)
class OrderItem:
    """`expression [DESC]`."""

    expression: Expression
    descending: bool


@dataclass(frozen=True, slots=True)
class Projection:
    """`WITH` or `RETURN`."""

    items: tuple[ProjectionItem, ...]
    star: bool
    distinct: bool
    order: tuple[OrderItem, ...]
    skip: Expression | None
    limit: Expression | None
    where: Expression | None
    """Only of WITH."""


@dataclass(frozen=True, slots=True)
class CallClause:
    """`CALL { query [UNION query] }`, with `imports` from outside, `WITH x` or `CALL (x) { }`."""

    queries: tuple[tuple[Clause, ...], ...]
    imports: tuple[tuple[Variable, ...] | None, ...]
    """For each query; None for all variables."""
    keeps_repeats: bool


Clause: TypeAlias = MatchClause | Unwind | Projection | CallClause


class Laid(NamedTuple):
    """A row to prove, of one part of a statement; see `proof`."""

    query: int
    part: int
    """Counted from the end of the query."""
    values: Mapping[str, JsonValue]
    binds_scalars: bool


@dataclass(frozen=True, slots=True)
class CypherStatement:
    """Queries joined by UNION; the last clause of each is its RETURN."""

    queries: tuple[tuple[Clause, ...], ...]
    keeps_repeats: bool
    """UNION ALL."""
    parameters: frozenset[str]
    view: View | None = None
    """The view that gives the names; None for the graph's own."""
    text: str = field(default="", compare=False)
    """The statement as it was written; empty if our own code made the tree."""
    laid: Laid | None = None
    """Set if this tree lays a part of the statement once more, to prove a row."""
