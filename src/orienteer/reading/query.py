"""What an exact reading is: a set of nodes described by conditions, and what is asked of it.

    how many compounds treat migraine but not epilepsy
    Query("count", Nodes(types={Compound}, conditions=(Joined(treats, migraine), Joined(treats, epilepsy, negated))))

Rows, types and kinds are numbers of one open graph. A kind is an edge type * 2, + 1 where it is walked against its
direction, as in `Adjacency`.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator
from dataclasses import dataclass, fields, is_dataclass, replace
from datetime import date, timedelta
from itertools import chain
from typing import Any, Literal, TypeAlias, TypeVar

import numpy as np

from orienteer.graph.properties import number_of
from orienteer.graph.store import Graph
from orienteer.query.expressions import parts

# ================================================================================================================ query
# What an exact reading is: a set of nodes described by conditions, and what is asked of it.

Value = TypeVar("Value")
Comparison: TypeAlias = Literal["=", "!=", "<", "<=", ">", ">="]
ValueComparison: TypeAlias = Comparison | Literal["contains"]
NAME, TEXT = "name", "text"
"""What the name and the text of a node are called where no property is called so."""
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
    is_far: bool = False
    """Without a comparison, of `some`: several edges may lead there, one behind the other."""
    also: tuple[tuple[int, ...], ...] = ()
    """Without a comparison, of `some`: of each of these sorts an edge leads to the same node as well."""


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

    One that `contains` a text may be `name` or `text`, where no property is called so.
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


@dataclass(frozen=True, slots=True)
class Between:
    """The node is on a shortest path between two sets of nodes, and in neither."""

    near: NodeSet
    far: NodeSet
    negated: bool = False


Condition: TypeAlias = Among | Joined | Valued | Filled | Either | Between


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
    period: str = ""
    """Of a group by a property with dates: `year`, `month` or `day`, of which each is a group."""


MOST_ENDS = 5  # nodes of one name between which a path is looked for
PERIODS = {"year": 4, "month": 7, "day": 10}
"""How many characters of a date tell the year, the month and the day that it is in."""


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
    first: int | None = None
    """With `list`: how many of the nodes are asked for, whichever they are. With `group`: how many of the groups, those
    with the most, the least where not `descending`, and those level with the last of them."""

    @property
    def claimed(self) -> tuple[Condition, ...]:
        """Return the conditions that all, some or most nodes are to meet: those that `other` has beyond `nodes`."""
        return self.other.conditions[len(self.nodes.conditions) :] if self.other is not None else ()


def linking_kinds(graph: Graph) -> tuple[int, ...]:
    """Return the kinds of all edges, from either end, but of those to mere values."""
    edges, values = graph.arrays.types.edges, value_types(graph)
    return tuple(kind for kind in range(2 * len(edges)) if edges[kind >> 1] not in values)


def value_types(graph: Graph) -> set[str]:
    """Return the types of mere values, with the edges of one name to them: a property is called so, too."""
    names = graph.arrays.properties.names
    values = {one.type for one in graph.schema.edges if one.type == one.target and one.type in names}
    return values - {one.type for one in graph.schema.edges if one.type != one.target}


def path_kinds(graph: Graph, ends: Collection[int]) -> tuple[int, ...]:
    """Return the kinds of edges over which paths lead: over mere values only if an end is one."""
    are_values = any(graph.arrays.type_at(row) in value_types(graph) for row in ends)
    return tuple(range(2 * len(graph.arrays.types.edges))) if are_values else linking_kinds(graph)


def is_of_texts(graph: Graph, name: str) -> bool:
    """Return whether a property of nodes tells texts, which are the same or not."""
    rows = graph.arrays.properties.rows(name)[:1]
    return any(np.isnan(number_of(value)) for value in graph.arrays.properties.values(name, rows))


def is_of_edges(measure: Measure | None) -> bool:
    """Return whether a measure is a property of edges."""
    return measure is not None and measure.property is not None and measure.target is not None


def negated(condition: Condition) -> Condition:
    """Return the contrary of a condition."""
    return replace(condition, negated=not condition.negated)


def placed(query: ExactQuery, skipped: int) -> ExactQuery | None:
    """Return a query for the node behind so many others; None where no superlative asks for one, or several do."""
    bests = [nodes.best for nodes in sets_within(query) if nodes.best is not None]
    if len(bests) != 1 or bests[0].first != 1 or bests[0].skipped:
        return None
    behind = remade(query.nodes, lambda part: replace(part, skipped=skipped) if isinstance(part, Best) else part)
    return replace(query, nodes=behind)


def without(query: ExactQuery, rows: Collection[int]) -> ExactQuery:
    """Return a query in which these nodes are not named, wherever others are by the same name."""

    def left(part: Any) -> Any:  # Any: whatever a query is made of
        kept = tuple(row for row in part.rows if row not in rows) if isinstance(part, Among) else ()
        return replace(part, rows=kept) if kept else part

    return replace(query, nodes=remade(query.nodes, left), other=remade(query.other, left))


def parts_of(value: object) -> Iterator[object]:
    """Yield a query, or a part of one, and all that it is made of."""
    return parts(value, object)


def remade(value: Value, change: Callable[[Any], Any]) -> Value:
    """Return a query, or a part of one, with what is made of each of its records, of the inner ones first."""
    made: Any = value
    if isinstance(value, tuple):
        made = tuple(remade(part, change) for part in value)
    elif is_dataclass(value) and not isinstance(value, type):
        own = {field.name: remade(getattr(value, field.name), change) for field in fields(value)}
        made = change(replace(value, **own))
    return made  # type: ignore[no-any-return]  # of the same type, as `change` keeps it


def of_one_row(query: ExactQuery) -> ExactQuery:
    """Return a query in which conditions over the same rows, by different edges of theirs, are met by one row.

    The role of Ann in a concert is that of an appearance which is hers and in the concert, and not one of each.
    """

    def merged(part: Any) -> Any:  # Any: whatever a query is made of
        if not isinstance(part, NodeSet):
            return part
        kept: list[Condition] = []
        for one in part.conditions:
            at = next((at for at, other in enumerate(kept) if _are_of_one_row(one, other)), None)
            if at is None:
                kept.append(one)
            elif isinstance(one, Joined) and isinstance(other := kept[at], Joined):
                kept[at] = replace(other, target=other.target.that(*one.target.conditions))
        return replace(part, conditions=tuple(kept))

    return replace(query, nodes=remade(query.nodes, merged), other=remade(query.other, merged))


def _are_of_one_row(one: Condition, other: Condition) -> bool:
    """Return whether two conditions lead to rows of one kind, which no word names, and say different things of them."""
    if not isinstance(one, Joined) or not isinstance(other, Joined) or one.kinds != other.kinds:
        return False
    if not (one.target.is_between and other.target.is_between) or one.negated or other.negated:
        return False
    said = [
        {part.kinds if isinstance(part, Joined) else part for part in own.target.conditions} for own in (one, other)
    ]
    return said[0].isdisjoint(said[1]) and one.comparison is None and other.comparison is None


def joined_of(nodes: NodeSet) -> Iterator[Joined]:
    """Yield all relations of a set, at any depth."""
    for condition in nodes.conditions:
        if isinstance(condition, Joined):
            yield condition
            yield from joined_of(condition.target)
        elif isinstance(condition, Either):
            for option in condition.options:
                yield from joined_of(NodeSet(conditions=option))


def sets_within(query: ExactQuery) -> Iterator[NodeSet]:
    """Yield the set that is asked for, and all sets that its relations lead to."""
    yield query.nodes
    yield from (joined.target for joined in joined_of(query.nodes))


def is_of_anything(condition: Condition) -> bool:
    """Return whether edges lead to anything of a kind: a head, of whatever ward."""
    return isinstance(condition, Joined) and not condition.target.conditions and condition.comparison is None


def edges_of(query: ExactQuery) -> Iterator[int]:
    """Yield the kinds of all edges that a query goes by, at any depth."""
    for measure in (query.measure, query.nodes.best.measure if query.nodes.best is not None else None):
        if measure is not None:
            yield from measure.kinds
    for joined in joined_of(query.nodes):
        yield from chain(joined.kinds, *joined.also)


def span_of(period: str) -> tuple[float, float]:
    """Return when a year, a month or a day begins, and when the next does: of `2024`, `2024-02`, `2024-02-29`."""
    begin = number_of(period)
    if len(period) == PERIODS["day"]:
        return begin, number_of((date.fromisoformat(period) + timedelta(1)).isoformat())
    year, month = int(period[:4]), int(period[5:] or 12)
    return begin, number_of(f"{year:04}-{month + 1:02}" if month < 12 else year + 1)
