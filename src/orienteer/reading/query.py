"""What an exact reading is: a set of nodes described by conditions, and what is asked of it.

    how many compounds treat migraine but not epilepsy
    Query("count", Nodes(types={Compound}, conditions=(Joined(treats, migraine), Joined(treats, epilepsy, negated))))

Rows, types and kinds are numbers of one open graph. A kind is an edge type * 2, + 1 where it is walked against its
direction, as in `Adjacency`.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator
from dataclasses import dataclass, replace
from typing import Literal, TypeAlias

Comparison: TypeAlias = Literal["=", "!=", "<", "<=", ">", ">="]
ValueComparison: TypeAlias = Comparison | Literal["contains"]
NAME = "name"
"""What the name of a node is called where no property is called so."""
Extent: TypeAlias = Literal["some", "every", "only"]
Form: TypeAlias = Literal[
    "list", "count", "test", "value", "average", "median", "sum", "compare", "every", "share", "majority", "path"
]


@dataclass(frozen=True, slots=True)
class Among:
    """The node is one of these."""

    rows: tuple[int, ...]
    negated: bool = False


@dataclass(frozen=True, slots=True)
class Joined:
    """An edge of one of these kinds leads from the node to a node of a set; or so many distinct ones do."""

    kinds: tuple[int, ...]
    target: NodeSet
    negated: bool = False
    comparison: Comparison | None = None
    number: float = 0
    """How many nodes of the set are to be reached; at least one where there is no comparison."""
    extent: Extent = "some"
    """Whether edges lead to `some` of the set, to `every` one of them, or to `only` these; to one of them at least."""
    where: tuple[Valued, ...] = ()
    """What the edges' own properties are to meet, all of it on one edge."""
    are_edges: bool = False
    """With a comparison: edges are counted, and not the nodes that they lead to."""


@dataclass(frozen=True, slots=True)
class Told:
    """A value that the graph tells: what a node has for a property, or the average or median of what nodes have."""

    property: str
    nodes: NodeSet
    form: Literal["value", "average", "median"] = "value"
    kinds: tuple[int, ...] = ()
    """Of a `value`, the edges that lead to the nodes from what is compared: to any of them."""


@dataclass(frozen=True, slots=True)
class Valued:
    """A property of the node compares so with a value: a text, a number in the property's own unit, or what is told.

    One that `contains` a text may be `name`, where no property is called so.
    """

    property: str
    comparison: ValueComparison
    value: str | float | Told
    negated: bool = False


@dataclass(frozen=True, slots=True)
class Filled:
    """The node has a value for a property."""

    property: str
    negated: bool = False


@dataclass(frozen=True, slots=True)
class Either:
    """All conditions of one of the options hold."""

    options: tuple[tuple[Condition, ...], ...]
    negated: bool = False


Condition: TypeAlias = Among | Joined | Valued | Filled | Either


@dataclass(frozen=True, slots=True)
class Measure:
    """What nodes are compared by: a property, or the number of distinct nodes of a set that edges lead to.

    With both, what is measured is a property of those edges; with neither, as a group, it is the node itself.
    """

    property: str | None = None
    kinds: tuple[int, ...] = ()
    target: NodeSet | None = None
    where: tuple[Valued, ...] = ()
    """What the edges' own properties are to meet."""
    are_edges: bool = False
    """The edges are counted, and not the nodes that they lead to."""


@dataclass(frozen=True, slots=True)
class Best:
    """Keep the nodes with the most or the least of a measure: the first places, and all that tie with the last."""

    measure: Measure
    descending: bool = True
    first: int = 1
    skipped: int = 0
    """How many places in front are left out: one where the second is asked for."""


@dataclass(frozen=True, slots=True)
class NodeSet:
    """A set of nodes: of one of these types, or of any where there is none; all conditions hold."""

    types: frozenset[int] = frozenset()
    conditions: tuple[Condition, ...] = ()
    best: Best | None = None
    is_between: bool = False
    """No word names it: it joins what is named on either side of it. What leads to it is not counted."""

    def that(self, *conditions: Condition) -> NodeSet:
        """Return the set with further conditions."""
        return replace(self, conditions=(*self.conditions, *conditions))

    @property
    def named(self) -> tuple[int, ...]:
        """Return the rows of the nodes that it names; empty for a set that is described."""
        if len(self.conditions) == 1 and isinstance(self.conditions[0], Among) and not self.conditions[0].negated:
            return self.conditions[0].rows
        return ()


@dataclass(frozen=True, slots=True)
class ExactQuery:
    """What is asked of a set of nodes."""

    form: Form
    nodes: NodeSet
    measure: Measure | None = None
    """What `value`, `average`, `sum` and `compare` read of them."""
    other: NodeSet | None = None
    """With `compare`: whether `nodes` have more of the measure than these, or less. With `path`: where it leads to.
    With `every`, `share` and `majority`: `nodes` with the conditions that all, some or most of them are to meet."""
    descending: bool = True
    group: Measure | None = None
    """With `count`, `average`, `median` and `sum`: what they are told for each of: a property's values, or the nodes of
    a set that edges lead to."""

    @property
    def claimed(self) -> tuple[Condition, ...]:
        """Return the conditions that all, some or most nodes are to meet: those that `other` has beyond `nodes`."""
        return self.other.conditions[len(self.nodes.conditions) :] if self.other is not None else ()


def is_of_edges(measure: Measure | None) -> bool:
    """Return whether a measure is a property of edges."""
    return measure is not None and measure.property is not None and measure.target is not None


def negated(condition: Condition) -> Condition:
    """Return the contrary of a condition."""
    return replace(condition, negated=not condition.negated)


def placed(query: ExactQuery, skipped: int) -> ExactQuery | None:
    """Return a query for the node behind so many others; None where no superlative asks for one, or several do."""
    bests = [nodes.best for nodes in _sets_of(query.nodes) if nodes.best is not None]
    if len(bests) != 1 or bests[0].first != 1 or bests[0].skipped:
        return None
    return replace(query, nodes=_placed(query.nodes, skipped))


def _sets_of(nodes: NodeSet) -> Iterator[NodeSet]:
    yield nodes
    for joined in joined_of(nodes):
        yield joined.target


def _placed(nodes: NodeSet, skipped: int) -> NodeSet:
    best = replace(nodes.best, skipped=skipped) if nodes.best is not None else None
    conditions = tuple(
        replace(condition, target=_placed(condition.target, skipped)) if isinstance(condition, Joined) else condition
        for condition in nodes.conditions
    )
    return replace(nodes, best=best, conditions=conditions)


def without(query: ExactQuery, rows: Collection[int]) -> ExactQuery:
    """Return a query in which these nodes are not named, wherever others are by the same name."""
    other = None if query.other is None else _without(query.other, rows)
    return replace(query, nodes=_without(query.nodes, rows), other=other)


def _without(nodes: NodeSet, rows: Collection[int]) -> NodeSet:
    return replace(nodes, conditions=tuple(_left_of(condition, rows) for condition in nodes.conditions))


def _left_of(condition: Condition, rows: Collection[int]) -> Condition:
    if isinstance(condition, Among):
        kept = tuple(row for row in condition.rows if row not in rows)
        return replace(condition, rows=kept or condition.rows)
    if isinstance(condition, Joined):
        return replace(condition, target=_without(condition.target, rows))
    if isinstance(condition, Either):
        options = tuple(tuple(_left_of(part, rows) for part in option) for option in condition.options)
        return replace(condition, options=options)
    return condition


def joined_of(nodes: NodeSet) -> Iterator[Joined]:
    """Yield all relations of a set, at any depth."""
    for condition in nodes.conditions:
        if isinstance(condition, Joined):
            yield condition
            yield from joined_of(condition.target)
        elif isinstance(condition, Either):
            for option in condition.options:
                yield from joined_of(NodeSet(conditions=option))


def edges_of(query: ExactQuery) -> Iterator[int]:
    """Yield the kinds of all edges that a query goes by, at any depth."""
    for measure in (query.measure, query.nodes.best.measure if query.nodes.best is not None else None):
        if measure is not None:
            yield from measure.kinds
    yield from _edges_of(query.nodes.conditions)


def _edges_of(conditions: Iterable[Condition]) -> Iterator[int]:
    for condition in conditions:
        if isinstance(condition, Joined):
            yield from condition.kinds
            yield from _edges_of(condition.target.conditions)
        elif isinstance(condition, Either):
            for option in condition.options:
                yield from _edges_of(option)
