"""The patterns of a clause for the engine, with an order for its joins: the engine's own order loses rows.

Without a hint, ladybug 0.22 walks several edges in one go. It then leaves the rows of an edge narrowed to the last row
that the next edge was walked from, so that a condition on these rows, or a further edge, reads one row instead of all.
With a hint, the engine reads each edge separately, joins it by the nodes that it shares with the rows so far, and
checks conditions after the join. (HINT is the engine's own word, not Cypher's.)
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

from orienteer.cypher.kinds import Value

# Guesses that order the joins: a bad one costs time, never a row.
_KNOWN_BEFORE = 10.0  # nodes that a variable of an earlier clause stands for
_NAMED = 3.0  # nodes of the same name
_OF_EQUAL = 0.05  # share of the nodes with the same value of a property
_FEW = 0.01  # share of the nodes at one end below which an edge is read from the other end
UNSURE = (
    "a condition inside OPTIONAL MATCH, EXISTS or COUNT of several edges reads what was known before: "
    "the engine loses rows of some of these; to be sure match first and compare behind a WITH"
)
_NAME = re.compile(r"\bv\d+\b")  # a variable in the engine's text
_QUOTED = re.compile(r"'(?:[^'\\]|\\.)*'|`(?:[^`]|``)*`", re.DOTALL)  # people's texts, types and properties
_READS_ENDS = re.compile(r"\b(struct_extract|rels|nodes)\(")  # calls that read the nodes at an edge's ends as well


class NodeEstimate(NamedTuple):
    """The estimates for a node of a pattern."""

    size: float
    """How many nodes may match it, by its types and conditions."""
    total: float
    """How many nodes have its types."""


class EdgeJoin(NamedTuple):
    """An edge of a pattern between the values of two nodes."""

    edge: str
    start: str
    end: str
    forward: float
    """How many edges a node at its start has, on average."""
    backward: float
    is_long: bool
    """It has a variable length."""
    is_narrowed: bool
    """Its nodes have fewer types than its edge type joins."""


class PathText(NamedTuple):
    """A path in the engine's text."""

    text: str
    names: frozenset[str]
    """The variables of its nodes, its edges and itself."""


class MatchPlan(NamedTuple):
    """The patterns of a clause in the engine's text, and the edges to join."""

    paths: Sequence[PathText]
    conditions: list[str]
    variables: dict[str, Value]
    """The variables that the patterns introduce."""
    narrowed: dict[str, Value]
    """The earlier variables in the patterns, with their remaining types."""
    nodes: Mapping[str, NodeEstimate]
    joins: Sequence[EdgeJoin]
    apart: Sequence[tuple[EdgeJoin, EdgeJoin]]
    """Pairs of edges that must differ."""
    can_be_ordered: bool


def names_in(text: str) -> frozenset[str]:
    """Return the variables in the engine's text; a type, a property or a text may be called `v0` as well."""
    return frozenset(_NAME.findall(_QUOTED.sub("", text)))


def matches(clauses: Sequence[MatchPlan]) -> str:
    """Write successive MATCH clauses as one; as one for each part where parts have no variable in common."""
    parts = parts_of(path.names for clause in clauses for path in clause.paths)
    if len(parts) < 2:
        return f"MATCH {joined(clauses)}"
    written = []
    for place in range(len(parts)):
        written.append(f"MATCH {joined([_of_part(clause, parts, place) for clause in clauses])}")
    return " ".join(written)


def joined(clauses: Sequence[MatchPlan], *, reads_outside: bool = True) -> str:
    """Write the patterns of successive clauses with their conditions and an order.

    `reads_outside` is false for OPTIONAL MATCH, EXISTS and COUNT: there the engine takes no order if a condition reads
    a variable from outside.
    """
    order = _order(clauses)
    if not reads_outside and any(_looks_outside(clause) for clause in clauses):
        order = ""
    conditions = [_differ(*pair, by_number=bool(order)) for clause in clauses for pair in clause.apart]
    conditions += [condition for clause in clauses for condition in clause.conditions]
    where = f" WHERE {' AND '.join(conditions)}" if conditions else ""
    return f"{', '.join(path.text for clause in clauses for path in clause.paths)}{where}{order}"


def is_unsure(matched: MatchPlan) -> bool:
    """Return whether an OPTIONAL MATCH, EXISTS or COUNT needs an order but has to be left to the engine's own."""
    return _looks_outside(matched) and bool(_order([matched]))


def parts_of(groups: Iterable[Collection[str]]) -> list[frozenset[str]]:
    """Return groups of names; groups with a name in common become one."""
    parts: list[frozenset[str]] = []
    for group in groups:
        touched = [part for part in parts if not part.isdisjoint(group)]
        parts = [part for part in parts if part.isdisjoint(group)] + [frozenset(group).union(*touched)]
    return parts


def estimate(total: float, keys: Iterable[tuple[str, int]], *, is_new: bool) -> NodeEstimate:
    """Estimate how many of `total` nodes have the wanted values; `keys` are properties with their number of values."""
    size = total if is_new else min(total, _KNOWN_BEFORE)
    for key, values in keys:
        nodes_of_value = {"id": 1.0, "name": _NAMED}.get(key, max(1.0, total * _OF_EQUAL))
        size = min(size, nodes_of_value * values)
    return NodeEstimate(size, max(total, 1.0))


def _of_part(clause: MatchPlan, parts: Sequence[frozenset[str]], place: int) -> MatchPlan:
    """Return the share of a clause that belongs to a part; a condition on several parts belongs to the last one."""
    everything = frozenset[str]().union(*parts)

    def belongs(names: Iterable[str]) -> bool:
        own = everything.intersection(names)
        return place == next((at for at, part in enumerate(parts) if own <= part), len(parts) - 1)

    return clause._replace(
        paths=[path for path in clause.paths if belongs(path.names)],
        conditions=[condition for condition in clause.conditions if belongs(names_in(condition))],
        nodes={name: node for name, node in clause.nodes.items() if belongs([name])},
        joins=[join for join in clause.joins if belongs([join.edge])],
        apart=[pair for pair in clause.apart if belongs(join.edge for join in pair)],
    )


def _differ(join: EdgeJoin, other: EdgeJoin, *, by_number: bool) -> str:
    """Write the condition that two edges of the pattern are different edges of the graph."""
    # The engine evaluates conditions on a list's items wrongly if they read an outside variable: no lambdas here.
    if join.is_long and other.is_long:
        return f"NOT list_has_any({_numbers(join)}, {_numbers(other)})"
    many, single = (join, other) if join.is_long else (other, join)
    if many.is_long:
        return f"NOT list_contains({_numbers(many)}, {_number(single, by_number)})"
    return f"{_number(join, by_number)} <> {_number(other, by_number)}"


def _number(join: EdgeJoin, by_number: bool) -> str:
    # Without an order the engine may take id() from other edges; reading the whole edge makes that rarer.
    return f"id({join.edge})" if by_number else f"struct_extract({join.edge}, '_ID')"


def _numbers(join: EdgeJoin) -> str:
    return f"properties(rels({join.edge}), '_ID')"


def _looks_outside(clause: MatchPlan) -> bool:
    """Return whether conditions read variables that the clause does not introduce."""
    own = set(clause.nodes) - {value.text for value in clause.narrowed.values()} | {join.edge for join in clause.joins}
    text = _QUOTED.sub("", " ".join(clause.conditions))
    is_long = any(join.is_long for join in clause.joins)
    return is_long or bool(_READS_ENDS.search(text)) or not names_in(text) <= own


def _order(clauses: Sequence[MatchPlan]) -> str:
    """Return the hint with the order of joins; empty where the engine needs none or takes none."""
    nodes: dict[str, NodeEstimate] = {}
    for clause in clauses:
        for name, (size, total) in clause.nodes.items():
            earlier = nodes.get(name, NodeEstimate(size, total))
            nodes[name] = NodeEstimate(min(size, earlier.size), min(total, earlier.total))
    joins = [join for clause in clauses for join in clause.joins]
    plain = [join for join in joins if not join.is_long]
    is_bare = not any(clause.conditions or clause.apart for clause in clauses) and not any(
        join.is_narrowed for join in joins
    )
    if len(plain) < 2 or (is_bare and len(joins) == 2):
        return ""
    if not all(clause.can_be_ordered for clause in clauses) or any(join.start == join.end for join in joins):
        return ""
    return _JoinOrder(nodes, joins).written()


@dataclass(slots=True)
class _JoinOrder:
    """Grows an order of joins from the node with the fewest matches."""

    nodes: Mapping[str, NodeEstimate]
    left: list[EdgeJoin]
    text: str = ""
    reached: set[str] = field(default_factory=set)
    read: set[str] = field(default_factory=set)
    """Nodes that the order reads themselves; of the others only an edge's end is known."""

    def written(self) -> str:
        begin = min(self.nodes, key=lambda name: self.nodes[name].size)
        self.text, self.reached, self.read = begin, {begin}, {begin}
        while self.left:
            join = min(self.left, key=self._cost)
            if not {join.start, join.end} & self.reached:
                return ""  # the engine takes no order for two patterns without a node in common
            self.left.remove(join)
            self._add(join)
        if self.reached != set(self.nodes):
            return ""
        self._read(*sorted(self.reached - self.read))
        return f" HINT {self.text}"

    def _cost(self, join: EdgeJoin) -> float:
        """Estimate by how much an edge multiplies the rows; an edge that closes a ring comes first."""
        if join.start in self.reached and join.end in self.reached:
            return -1.0
        if join.start not in self.reached and join.end not in self.reached:
            return float("inf")
        fan, other = (join.forward, join.end) if join.start in self.reached else (join.backward, join.start)
        return fan * self.nodes[other].size / self.nodes[other].total

    def _add(self, join: EdgeJoin) -> None:
        here, other, back = join.start, join.end, join.backward
        if here not in self.reached:
            here, other, back = join.end, join.start, join.forward
        if other in self.reached:  # both nodes must be read: otherwise the engine compares only one of them
            self._read(join.start, join.end)
            self._join(join.edge)
        elif self.text != here and self.nodes[other].size * max(back, 1.0) < self.nodes[here].total * _FEW:
            self._read(here)
            self._join(f"({other} JOIN {join.edge})")
            self.read.add(other)
        elif here in self.read:
            if len(self.reached) == 2:  # or the engine would walk both edges of the first node in one go
                self._read(*self.reached)
            self._join(join.edge)
        else:
            self._join(f"({here} JOIN {join.edge})")
            self.read.add(here)
        self.reached.add(other)

    def _read(self, *names: str) -> None:
        for name in names:
            if name not in self.read:
                self._join(name)
                self.read.add(name)

    def _join(self, what: str) -> None:
        self.text = f"({self.text} JOIN {what})"
