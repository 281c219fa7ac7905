"""The patterns of a clause for the engine, with the order to join their edges in: those it takes itself lose rows.

Left to itself ladybug 0.22 walks several edges in one go. There it leaves the rows of an edge narrowed to the last one
that the next edge was walked from: a condition on these rows, or a further edge, then reads one row in place of all.
With a hint each edge is read on its own and joined by the nodes that it shares with what is there, and conditions come
after the join. (Hints are the engine's own word, not Cypher's.)
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

from orienteer.cypher import syntax
from orienteer.cypher.ladybug.kinds import Value
from orienteer.cypher.syntax import Expression

_KNOWN_BEFORE = 10.0  # nodes that a clause before has found, where nothing says how many
_NAMED = 3.0  # nodes of one name
_OF_EQUAL = 0.05  # share of the nodes that have one value of a property
_FEW = 0.01  # share of the nodes at one end: below it an edge is read from the other
UNSURE = (
    "a condition inside OPTIONAL MATCH, EXISTS or COUNT of several edges reads what was known before: "
    "the engine loses rows of some of these; to be sure match first and compare behind a WITH"
)
NAME = re.compile(r"\bv\d+\b")
"""A variable in the engine's text."""
_READS_ENDS = re.compile(r"\b(struct_extract|rels|nodes)\(")  # what reads the nodes at the ends of an edge as well


class Fit(NamedTuple):
    """A node of a pattern."""

    size: float
    """How many nodes may fit it, as its type and conditions tell."""
    total: float
    """How many there are of its types."""


class Way(NamedTuple):
    """An edge of a pattern between the values of two nodes."""

    edge: str
    start: str
    end: str
    forward: float
    """How many edges a node at its start has, on average."""
    backward: float
    is_long: bool
    """Of variable length."""
    is_narrowed: bool
    """Its nodes are of fewer types than its edge type joins."""


class Drawn(NamedTuple):
    """A path as the engine takes it."""

    text: str
    names: frozenset[str]
    """Its nodes, its edges and its own."""


class Matched(NamedTuple):
    """Patterns as the engine takes them, and what there is to join."""

    paths: Sequence[Drawn]
    conditions: list[str]
    variables: dict[str, Value]
    """Those that the patterns introduce."""
    narrowed: dict[str, Value]
    """Those that were known before, with the types that are left to them."""
    nodes: Mapping[str, Fit]
    ways: Sequence[Way]
    apart: Sequence[tuple[Way, Way]]
    """Edges that must differ."""
    can_be_ordered: bool


def matches(clauses: Sequence[Matched]) -> str:
    """Return MATCH clauses that follow each other as one, or as one for each part that has no node in common."""
    parts = parts_of(one.names for clause in clauses for one in clause.paths)
    if len(parts) < 2:
        return f"MATCH {joined(clauses)}"
    written = []
    for place in range(len(parts)):
        written.append(f"MATCH {joined([_of_part(clause, parts, place) for clause in clauses])}")
    return " ".join(written)


def joined(clauses: Sequence[Matched], *, reads_outside: bool = True) -> str:
    """Return the patterns of clauses that follow each other, their conditions and an order.

    `reads_outside` is false for OPTIONAL MATCH, EXISTS and COUNT: in these the engine takes no order where a condition
    reads what they do not introduce themselves.
    """
    order = _order(clauses)
    if not reads_outside and any(_looks_outside(one) for one in clauses):
        order = ""
    conditions = [_differ(*pair, by_number=bool(order)) for one in clauses for pair in one.apart]
    conditions += [condition for one in clauses for condition in one.conditions]
    where = f" WHERE {' AND '.join(conditions)}" if conditions else ""
    return f"{', '.join(path.text for one in clauses for path in one.paths)}{where}{order}"


def is_unsure(matched: Matched) -> bool:
    """Tell whether an OPTIONAL MATCH, EXISTS or COUNT is left to the engine's own order, though it needs another."""
    return _looks_outside(matched) and bool(_order([matched]))


def parts_of(groups: Iterable[Collection[str]]) -> list[frozenset[str]]:
    """Return groups of names, those joined that have a name in common."""
    parts: list[frozenset[str]] = []
    for group in groups:
        touched = [part for part in parts if not part.isdisjoint(group)]
        parts = [part for part in parts if part.isdisjoint(group)] + [frozenset(group).union(*touched)]
    return parts


def conjuncts(where: Expression | None) -> Iterator[Expression]:
    """Return the conditions that all must hold."""
    if isinstance(where, syntax.Binary) and where.operator == "AND":
        yield from conjuncts(where.left)
        yield from conjuncts(where.right)
    elif where is not None:
        yield where


def fit(total: float, keys: Iterable[tuple[str, int]], *, is_new: bool) -> Fit:
    """Return how many of so many nodes may have the values that are asked of their properties."""
    size = total if is_new else min(total, _KNOWN_BEFORE)
    for key, values in keys:
        one = {"id": 1.0, "name": _NAMED}.get(key, max(1.0, total * _OF_EQUAL))
        size = min(size, one * values)
    return Fit(size, max(total, 1.0))


def asked(where: Expression | None) -> dict[str, list[tuple[str, int]]]:
    """Return by variable the properties that a condition asks a value of, with how many values will do."""
    found: dict[str, list[tuple[str, int]]] = {}
    for part in conjuncts(where):
        if not isinstance(part, syntax.Binary) or part.operator not in ("=", "IN"):
            continue
        sides = [(part.left, part.right), (part.right, part.left)]
        for one, other in sides if part.operator == "=" else sides[:1]:
            if not isinstance(one, syntax.Property) or isinstance(other, syntax.Property):
                continue
            if isinstance(one.base, syntax.Variable):
                values = len(other.items) if isinstance(other, syntax.ListOf) else 1
                found.setdefault(one.base.name, []).append((one.key.casefold(), values))
    return found


def _of_part(clause: Matched, parts: Sequence[frozenset[str]], place: int) -> Matched:
    """Return what of a clause belongs to a part; what several parts are asked belongs to the last one."""
    everything = frozenset[str]().union(*parts)

    def belongs(names: Iterable[str]) -> bool:
        known = everything.intersection(names)
        return place == next((at for at, part in enumerate(parts) if known <= part), len(parts) - 1)

    return clause._replace(
        paths=[one for one in clause.paths if belongs(one.names)],
        conditions=[one for one in clause.conditions if belongs(NAME.findall(one))],
        nodes={name: one for name, one in clause.nodes.items() if belongs([name])},
        ways=[way for way in clause.ways if belongs([way.edge])],
        apart=[pair for pair in clause.apart if belongs(way.edge for way in pair)],
    )


def _differ(one: Way, other: Way, *, by_number: bool) -> str:
    """Return the condition that no edge stands for both."""
    # Conditions on the items of a list that name a variable from outside it come out wrong: no lambdas here.
    if one.is_long and other.is_long:
        return f"NOT list_has_any({_numbers(one)}, {_numbers(other)})"
    many, single = (one, other) if one.is_long else (other, one)
    if many.is_long:
        return f"NOT list_contains({_numbers(many)}, {_number(single, by_number)})"
    return f"{_number(one, by_number)} <> {_number(other, by_number)}"


def _number(way: Way, by_number: bool) -> str:
    # Without an order the engine compares other edges' id(): it does less often where it must read the whole edge.
    return f"id({way.edge})" if by_number else f"struct_extract({way.edge}, '_ID')"


def _numbers(way: Way) -> str:
    return f"properties(rels({way.edge}), '_ID')"


def _looks_outside(clause: Matched) -> bool:
    """Tell whether conditions read what the clause does not introduce, its edges apart."""
    own = set(clause.nodes) - {value.text for value in clause.narrowed.values()} | {way.edge for way in clause.ways}
    text = " ".join(clause.conditions)
    is_long = any(way.is_long for way in clause.ways)
    return is_long or bool(_READS_ENDS.search(text)) or not set(NAME.findall(text)) <= own


def _order(clauses: Sequence[Matched]) -> str:
    """Return the order for the engine; empty where it needs none, or takes none."""
    nodes: dict[str, Fit] = {}
    for one in clauses:
        for name, (size, total) in one.nodes.items():
            known = nodes.get(name, Fit(size, total))
            nodes[name] = Fit(min(size, known.size), min(total, known.total))
    ways = [way for one in clauses for way in one.ways]
    plain = [way for way in ways if not way.is_long]
    is_bare = not any(one.conditions or one.apart for one in clauses) and not any(way.is_narrowed for way in ways)
    if len(plain) < 2 or (is_bare and len(ways) == 2):
        return ""
    if not all(one.can_be_ordered for one in clauses) or any(way.start == way.end for way in ways):
        return ""
    return _Order(nodes, ways).written()


@dataclass(slots=True)
class _Order:
    """Grows an order from the node that the fewest fit."""

    nodes: Mapping[str, Fit]
    left: list[Way]
    text: str = ""
    reached: set[str] = field(default_factory=set)
    read: set[str] = field(default_factory=set)
    """Nodes that are read themselves: to others an edge leads, but nothing is known of them yet."""

    def written(self) -> str:
        begin = min(self.nodes, key=lambda name: self.nodes[name].size)
        self.text, self.reached, self.read = begin, {begin}, {begin}
        while self.left:
            way = min(self.left, key=self._cost)
            if not {way.start, way.end} & self.reached:
                return ""  # two patterns without a node in common: the engine takes no order for these
            self.left.remove(way)
            self._add(way)
        if self.reached != set(self.nodes):
            return ""
        self._read(*sorted(self.reached - self.read))
        return f" HINT {self.text}"

    def _cost(self, way: Way) -> float:
        """Return by how much an edge multiplies the rows: one that closes a ring comes first."""
        if way.start in self.reached and way.end in self.reached:
            return -1.0
        if way.start not in self.reached and way.end not in self.reached:
            return float("inf")
        fan, other = (way.forward, way.end) if way.start in self.reached else (way.backward, way.start)
        return fan * self.nodes[other].size / self.nodes[other].total

    def _add(self, way: Way) -> None:
        known, other, back = way.start, way.end, way.backward
        if known not in self.reached:
            known, other, back = way.end, way.start, way.forward
        if other in self.reached:  # both must be read: of two that edges alone lead to, one is compared
            self._read(way.start, way.end)
            self._join(way.edge)
        elif self.text != known and self.nodes[other].size * max(back, 1.0) < self.nodes[known].total * _FEW:
            self._read(known)
            self._join(f"({other} JOIN {way.edge})")
            self.read.add(other)
        elif known in self.read:
            if len(self.reached) == 2:  # else both edges of the first node are walked in one go
                self._read(*self.reached)
            self._join(way.edge)
        else:
            self._join(f"({known} JOIN {way.edge})")
            self.read.add(known)
        self.reached.add(other)

    def _read(self, *names: str) -> None:
        for name in names:
            if name not in self.read:
                self._join(name)
                self.read.add(name)

    def _join(self, what: str) -> None:
        self.text = f"({self.text} JOIN {what})"
