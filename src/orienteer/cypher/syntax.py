"""The parts of a statement. A part without a class here cannot reach the engine."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Literal, TypeAlias

from orienteer.cypher.names import View
from orienteer.query.expressions import (
    MOST_DEEP as MOST_DEEP,
)
from orienteer.query.expressions import (
    Binary as Binary,
)
from orienteer.query.expressions import (
    CaseExpression as CaseExpression,
)
from orienteer.query.expressions import (
    Comprehension as Comprehension,
)
from orienteer.query.expressions import (
    Expression as Expression,
)
from orienteer.query.expressions import (
    FunctionCall as FunctionCall,
)
from orienteer.query.expressions import (
    Item as Item,
)
from orienteer.query.expressions import (
    ListOf as ListOf,
)
from orienteer.query.expressions import (
    Literal_ as Literal_,
)
from orienteer.query.expressions import (
    MapOf as MapOf,
)
from orienteer.query.expressions import (
    Parameter as Parameter,
)
from orienteer.query.expressions import (
    Property as Property,
)
from orienteer.query.expressions import (
    Quantifier as Quantifier,
)
from orienteer.query.expressions import (
    Slice as Slice,
)
from orienteer.query.expressions import (
    Tree as Tree,
)
from orienteer.query.expressions import (
    Unary as Unary,
)
from orienteer.query.expressions import (
    Variable as Variable,
)
from orienteer.query.expressions import (
    measured as measured,
)
from orienteer.query.expressions import (
    parts as parts,
)

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
