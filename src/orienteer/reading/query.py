"""What an exact reading is: a set of nodes described by conditions, and what is asked of it.

    how many compounds treat migraine but not epilepsy
    Query("count", Nodes(types={Compound}, conditions=(Joined(treats, migraine), Joined(treats, epilepsy, negated))))

Rows, types and kinds are numbers of one open graph. A kind is an edge type * 2, + 1 where it is walked against its
direction, as in `Adjacency`.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from typing import Literal, TypeAlias

Comparison: TypeAlias = Literal["=", "!=", "<", "<=", ">", ">="]
Extent: TypeAlias = Literal["some", "every", "only"]
Form: TypeAlias = Literal["list", "count", "test", "value", "average", "sum", "compare", "every", "path"]


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


@dataclass(frozen=True, slots=True)
class Valued:
    """A property of the node compares so with a value: a text, or a number in the property's own unit."""

    property: str
    comparison: Comparison
    value: str | float
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
    """What nodes are compared by: a property, or the number of distinct nodes of a set that edges lead to."""

    property: str | None = None
    kinds: tuple[int, ...] = ()
    target: NodeSet | None = None


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
    """With `compare`: whether `nodes` have more of the measure than these, or less. With `every`: `nodes` with the
    conditions that all of them are to meet. With `path`: the nodes that it leads to."""
    descending: bool = True
    group: Measure | None = None
    """With `count`, `average` and `sum`: what they are told for each of: a property's values, or the nodes of a set
    that edges lead to."""
    first: int | None = None
    """With `list`: how many of the nodes are asked for, whichever they are."""

    @property
    def claimed(self) -> tuple[Condition, ...]:
        """Return the conditions that all nodes are to meet, with `every`: those that `other` has beyond `nodes`."""
        return self.other.conditions[len(self.nodes.conditions) :] if self.other is not None else ()


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
