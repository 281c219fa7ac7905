"""The algebra as data: sets of nodes, and tables whose rows bind names to nodes, edges and values.

    Both((Every({compound}), Leads({treats}, Among((migraine,)))))       the compounds that treat migraine
    Grouped(Match(Unit(), (("c", Every({compound})), ("d", Every())), (Step("c", "d", {treats}, "t"),)),
            (("c", Variable("c")),), (Call("n", "count"),))              each compound, and how many edges it has

Rows, types and kinds are numbers of one open graph. A kind is an edge type * 2, + 1 if the edge is walked against its
direction, as in `Adjacency`; a kind of a symmetric type stands for both. All records are frozen and hashable, so a
part that occurs twice is evaluated once. docs/reference/query.md defines every operation.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, TypeAlias

from orienteer.query.expressions import Expression, Tree

Comparison: TypeAlias = Literal["=", "!=", "<", "<=", ">", ">="]

# Sets of nodes.


@dataclass(frozen=True, slots=True)
class Every:
    """All nodes of these types; without types, all nodes."""

    types: frozenset[int] = frozenset()


@dataclass(frozen=True, slots=True)
class Among:
    """These nodes."""

    rows: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class Has:
    """The nodes with a value of a property."""

    property: str


@dataclass(frozen=True, slots=True)
class Compared:
    """The nodes whose property compares so, by people's rules: any item of a list, case-folded, dates as numbers."""

    property: str
    comparison: Comparison
    value: str | float


@dataclass(frozen=True, slots=True)
class Meets:
    """The nodes whose property, name or text compares so as people mean it: prices, months and parts of texts too."""

    property: str
    comparison: Comparison | Literal["contains"]
    value: str | float


@dataclass(frozen=True, slots=True)
class Meeting:
    """The nodes for which an expression over one name is true, by Cypher's rules."""

    name: str
    condition: Expression


@dataclass(frozen=True, slots=True)
class Both:
    """The nodes that are in all of these sets."""

    parts: tuple[NodeSet, ...]


@dataclass(frozen=True, slots=True)
class Either:
    """The nodes that are in one of these sets, or in several."""

    parts: tuple[NodeSet, ...]


@dataclass(frozen=True, slots=True)
class Without:
    """The nodes of the first set that are not in the second."""

    base: NodeSet
    part: NodeSet


@dataclass(frozen=True, slots=True)
class Hop:
    """Edges that a set is reached by: of one of these kinds, seen from the near end; without kinds, all edges.

    Loops are left out, and an edge may serve two hops of one query.
    """

    kinds: frozenset[int]
    where: tuple[Compared | Without, ...] = ()
    """Conditions on the edges' own properties; all of them hold. A `Without` is `Every` without what is compared."""


@dataclass(frozen=True, slots=True)
class Leads:
    """The nodes from which a walk of `least` to `most` hops leads into a set; `most` 0 is any number."""

    hop: Hop
    target: NodeSet
    least: int = 1
    most: int = 1


@dataclass(frozen=True, slots=True)
class Counted:
    """The nodes from which hops lead to so many distinct nodes of a set; or from which so many edges do."""

    hop: Hop
    target: NodeSet
    comparison: Comparison
    number: float
    are_edges: bool = False


@dataclass(frozen=True, slots=True)
class Covering:
    """The nodes from which hops lead to all of a set; with `within`, to no other node of `within`. To one at least."""

    hop: Hop
    target: NodeSet
    within: NodeSet | None = None


@dataclass(frozen=True, slots=True)
class Measure:
    """What nodes are ranked by: a number of a property, or the number of distinct nodes of a set that hops lead to."""

    property: str | None = None
    hop: Hop | None = None
    target: NodeSet | None = None
    are_edges: bool = False
    """The edges are counted that lead there, and not the nodes."""


@dataclass(frozen=True, slots=True)
class Best:
    """The nodes of a set with the most, or least, of a measure: the first places, and all that tie with the last."""

    base: NodeSet
    measure: Measure
    descending: bool = True
    first: int = 1
    skipped: int = 0
    """Places in front that are left out: 1 for the second."""


@dataclass(frozen=True, slots=True)
class Column:
    """The nodes that a name is bound to in the rows of a table."""

    table: Table
    name: str


NodeSet: TypeAlias = (
    Every
    | Among
    | Has
    | Compared
    | Meets
    | Meeting
    | Both
    | Either
    | Without
    | Leads
    | Counted
    | Covering
    | Best
    | Column
)

# Tables.


@dataclass(frozen=True, slots=True)
class Unit:
    """One row without columns; in an `Inner` or an `Optionally`, the rows of the table outside."""


@dataclass(frozen=True, slots=True)
class Step:
    """Edges of a pattern between two names."""

    start: str
    end: str
    kinds: frozenset[int]
    """As seen from the start."""
    edge: str
    """The name of the edge, or of the list of edges; every step has one."""
    least: int = 1
    most: int | None = 1
    """None for any number."""
    is_long: bool = False
    """The step has a length, so its name is bound to a list."""
    ends: frozenset[tuple[int, int, int]] | None = None
    """Allowed kinds with the types of start and end; None if the kinds say it all."""
    shortest: Literal["", "one", "all"] = ""


@dataclass(frozen=True, slots=True)
class Match:
    """All ways to lay a pattern on the graph. An edge of the graph serves at most one step; loops fit."""

    source: Table
    nodes: tuple[tuple[str, NodeSet], ...]
    """The names of nodes, each with the set that it may be bound to."""
    steps: tuple[Step, ...] = ()
    conditions: tuple[tuple[Expression, frozenset[str]], ...] = ()
    """Conditions on several names, each with these names."""
    paths: tuple[tuple[str, tuple[str, ...], tuple[str, ...]], ...] = ()
    """Names of whole paths, each with the names of its nodes and of its edges."""
    kept: frozenset[str] | None = None
    """The names that are read later; None for all."""
    distinct: bool = False
    """Repeated rows may be kept once: what reads them ignores repeats."""


@dataclass(frozen=True, slots=True)
class Filtered:
    """The rows for which a condition is true."""

    source: Table
    condition: Expression


@dataclass(frozen=True, slots=True)
class Optionally:
    """The rows of a table, each with all rows that an inner table makes of it, or once with nulls."""

    source: Table
    inner: Table
    names: tuple[str, ...]
    """The names that the inner table adds."""


@dataclass(frozen=True, slots=True)
class Unwound:
    """A row for each item of a list."""

    source: Table
    items: Expression
    name: str


@dataclass(frozen=True, slots=True)
class Projected:
    """The values of some expressions, under new names."""

    source: Table
    items: tuple[tuple[str, Expression], ...]
    keeps: bool = False
    """The columns of the source stay."""


@dataclass(frozen=True, slots=True)
class Distinct:
    """Each row once, by these columns."""

    source: Table
    names: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Call:
    """An aggregation; without an argument, `count` counts rows."""

    name: str
    function: str
    argument: Expression | None = None
    distinct: bool = False
    fraction: Expression | None = None
    """The second argument of a percentile."""


@dataclass(frozen=True, slots=True)
class Grouped:
    """A row for each group of rows with equal keys; without keys, one row."""

    source: Table
    keys: tuple[tuple[str, Expression], ...]
    calls: tuple[Call, ...]


@dataclass(frozen=True, slots=True)
class Sorted:
    """The rows in order; rows with equal keys keep the order in which they came."""

    source: Table
    keys: tuple[tuple[Expression, bool], ...]
    """Expressions, each with whether it descends; nulls are last, or first if it descends."""
    first: int | None = None
    """The number of rows that are read at most; None for all."""


@dataclass(frozen=True, slots=True)
class Paged:
    """The rows after the first `skip`, at most `limit` of them."""

    source: Table
    skip: int = 0
    limit: int | None = None


@dataclass(frozen=True, slots=True)
class United:
    """The rows of several tables with the same columns, one table after another."""

    parts: tuple[Table, ...]


Table: TypeAlias = (
    Unit | Match | Filtered | Optionally | Unwound | Projected | Distinct | Grouped | Sorted | Paged | United
)

# Expressions beside those of `expressions`.


@dataclass(frozen=True, slots=True)
class Inner(Tree):
    """Whether an inner table has a row for this row, how many it has, or the list of a value of them."""

    kind: Literal["exists", "count", "list"]
    table: Table
    value: Expression | None = None


@dataclass(frozen=True, slots=True)
class IsOf(Tree):
    """Whether a node, or an edge, has one of these types."""

    base: Expression
    types: frozenset[int]


@dataclass(frozen=True, slots=True)
class IsIn(Tree):
    """Whether a node is in a set."""

    base: Expression
    nodes: NodeSet


@dataclass(frozen=True, slots=True)
class Reduce(Tree):
    """The last total of a list: a value of the total so far and the next item, item by item."""

    total: str
    initial: Expression
    item: str
    source: Expression
    value: Expression
