"""Patterns as openCypher."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import reduce
from typing import NamedTuple, cast

from orienteer.connect.opencypher.names import ServerNames
from orienteer.cypher.checks import condition_of
from orienteer.cypher.comparisons import check_compared
from orienteer.cypher.conditions import compared_keys, conjuncts
from orienteer.cypher.kinds import Value, quoted
from orienteer.cypher.pattern_reader import Keyed, PatternEdge, PatternNode, PatternReader
from orienteer.cypher.syntax import (
    Binary,
    Expression,
    HasType,
    PathPattern,
    PatternComprehension,
    Subquery,
    Variable,
    parts,
)

_KNOWN, _BY_ID, _BY_NAME, _BY_PROPERTY, _LAST = range(5)
_UNKNOWN = "\0"  # no variable has this name
_SHORTEST: Mapping[str, str] = {"SHORTEST": "shortestPath", "ALL SHORTEST": "allShortestPaths"}


class Matched(NamedTuple):
    """The patterns of a clause as openCypher, with their conditions and variables."""

    anchors: str
    """A MATCH of the nodes that are given by id or name, to stand before; empty without."""
    paths: list[str]
    conditions: list[str]
    variables: dict[str, Value]
    """What they introduce, and earlier variables with the types that are left."""

    @property
    def text(self) -> str:
        """Return them as MATCH takes them."""
        return _joined(self.paths, self.conditions)


def _joined(paths: Sequence[str], conditions: Sequence[str]) -> str:
    return ", ".join(paths) + (f" WHERE {' AND '.join(conditions)}" if conditions else "")


class _Path(NamedTuple):
    """A path that was read, before it is written."""

    pattern: PathPattern
    begin: str
    """What stands before it: its own variable."""
    nodes: list[PatternNode]
    edges: list[PatternEdge]
    is_turned: bool = False
    """It is written from its end."""


@dataclass(slots=True)
class ServerPatterns(PatternReader):
    """Writes the patterns of one clause."""

    @property
    def names(self) -> ServerNames:
        """Return the names that the database has."""
        return cast(ServerNames, self.scope.names)

    def match(self, paths: Sequence[PathPattern], where: Expression | None, *, may_anchor: bool = False) -> Matched:
        """Return the patterns, with the conditions of their braces and of `where`.

        With `may_anchor`, the nodes that are given by id or name are matched before all else: ArcadeDB looks whether
        two known nodes are joined in a hundredth of the time in which it walks from one of them.

        Types are known once all paths are read. Raises `BadQuery`, `UnknownType`, `UnknownProperty`.
        """
        read = [self._read(path) for path in paths]
        self.narrow()
        for edge in self.edges:
            self._restrict(edge)
            if edge.is_shortest:
                # From a node to itself there is none: some servers fail then, others give a path without edges.
                self.conditions.append(f"({edge.start.value} <> {edge.end.value})")
        variables = self.variables | {name: self.node_value(node) for name, node in self.named.items()}
        places, left = self._places(where), list(conjuncts(where))
        with self.scope.inner(variables):
            anchors = self._anchored(left, places) if may_anchor and self.edges else ""
            read = [_turned(path, places) for path in read]
            read.sort(key=lambda path: places[path.nodes[0].value])  # stable: else as they are written
            texts = [self._drawn(path, places) for path in read]
            self.conditions += self._equal(self.keyed)
            self.conditions += [condition_of(self.write(part)) for part in left]
        return Matched(anchors, texts, self.conditions, variables)

    def _anchored(self, left: list[Expression], places: dict[str, int]) -> str:
        """Write the MATCH of nodes that are given by id or name; what it takes of the conditions is left no more."""
        before = set(self.scope.variables) - set(self.named) - set(self.variables)
        texts, own = [], list[str]()
        for node in self.nodes:
            if places[node.value] not in (_BY_ID, _BY_NAME):
                continue
            known = before | ({node.name} if node.name is not None else set())
            taken = [part for part in left if _reads(part) and _reads(part) <= known and _reads(part) - before]
            keyed = [entry for entry in self.keyed if entry[0] == node.value and _reads(entry[2]) <= before]
            keys = {key for key, _ in compared_keys(_together(taken)).get(node.name or "", ())}
            keys |= {key.casefold() for _, _, items in keyed for key, _ in items}
            if not keys & {"id", "name"}:
                continue
            outside, self.conditions = self.conditions, []
            texts.append(self._node(node, places))
            self.conditions += self._equal(keyed)
            self.conditions += [condition_of(self.write(part)) for part in taken]
            own, self.conditions = [*own, *self.conditions], outside
            places[node.value] = _KNOWN
            self.keyed = [entry for entry in self.keyed if entry not in keyed]
            left[:] = [part for part in left if part not in taken]
        return f"MATCH {_joined(texts, own)} " if texts else ""

    def _places(self, where: Expression | None) -> dict[str, int]:
        """Return by node how soon to begin with it: some servers walk a pattern from left to right, as it is written.

        What is known comes first, then a node that is given by its id, by its name, by another property, and the rest.
        """
        compared = compared_keys(where)
        places = {}
        for node in self.nodes:
            keys = {key for key, _ in compared.get(node.name or "", ())}
            keys |= {key.casefold() for value, _, items in self.keyed if value == node.value for key, _ in items}
            ranks = [_BY_ID if key == "id" else _BY_NAME if key == "name" else _BY_PROPERTY for key in keys]
            places[node.value] = min(ranks, default=_LAST) if node.is_new else _KNOWN
        return places

    def is_of(self, value: str, types: Iterable[str]) -> str:
        """Write the condition that a node has one of these types."""
        return self.names.has_type(value, list(types))

    def edges_of(self, value: str) -> str:
        """Write the list of the edges that a pattern of variable length has walked: its variable is that list."""
        return value

    def _read(self, path: PathPattern) -> _Path:
        begin = self.begin(path)
        nodes = [self.read_node(path.nodes[0])]
        edges = []
        for pattern, following in zip(path.edges, path.nodes[1:], strict=True):
            node = self.read_node(following)
            edges.append(self.read_edge(pattern, nodes[-1], node, is_shortest=bool(path.shortest)))
            nodes.append(node)
        return _Path(path, begin, nodes, edges)

    def _drawn(self, path: _Path, places: Mapping[str, int]) -> str:
        pieces = [self._node(path.nodes[0], places)]
        for edge, node in zip(path.edges, path.nodes[1:], strict=True):
            pieces += [self._edge(edge, is_turned=path.is_turned), self._node(node, places)]
        text, shortest = "".join(pieces), path.pattern.shortest
        return f"{path.begin}{_SHORTEST[shortest]}({text})" if shortest else f"{path.begin}{text}"

    def _node(self, node: PatternNode, places: Mapping[str, int]) -> str:
        """Write a node: with its types at its first occurrence, by its name afterwards.

        One that is given by its id goes by the label that all nodes bear, for by that label there is an index of ids.
        """
        if node.is_drawn or not node.is_new:
            return f"({node.value})"
        node.is_drawn = True
        whole = self.names.fields.whole if places[node.value] == _BY_ID else None
        if whole is None and node.asked is not None and all(map(self.names.is_plain, node.asked)):
            return f"({node.value}:{'|'.join(map(quoted, sorted(node.asked)))})"
        if node.asked is not None:
            self.conditions.append(self.is_of(node.value, node.asked))
        return f"({node.value}:{quoted(whole)})" if whole is not None else f"({node.value})"

    def _edge(self, edge: PatternEdge, *, is_turned: bool) -> str:
        types = "" if edge.all_triples else f":{'|'.join(map(quoted, edge.types))}"
        hops = edge.pattern.hops
        length = f"*{hops.least}..{hops.most}" if hops else ""
        left = "<-" if edge.direction == ("out" if is_turned else "in") else "-"
        right = "->" if edge.direction == ("in" if is_turned else "out") else "-"
        return f"{left}[{edge.value}{types}{length}]{right}"

    def _restrict(self, edge: PatternEdge) -> None:
        """Add a condition for an edge type that was named with its end types, where the pattern allows more."""
        ways = []
        for triple, source, target in self.narrower(edge):
            is_type = f"type({edge.value}) = {self.scope.hold(triple.type)}"
            begins = f"startNode({edge.value}) = {source.value}"
            ends = f"{self.is_of(source.value, [triple.source])} AND {self.is_of(target.value, [triple.target])}"
            ways.append(f"({is_type} AND {begins} AND {ends})")
        if ways:
            self.conditions.append(f"({' OR '.join(ways)})")

    def _equal(self, keyed: Iterable[Keyed]) -> list[str]:
        """Write properties in braces as conditions. Raises `BadQuery`, `UnknownProperty`."""
        conditions = []
        for own, value in self.equalities(keyed):
            check_compared("=", own, value)
            conditions.append(f"({own.text} = {value.text})")
        return conditions


def _reads(tree: object) -> frozenset[str]:
    """Return the variables that a part of a statement reads; patterns inside it read what nobody knows."""
    if any(parts(tree, Subquery)) or any(parts(tree, PatternComprehension)):
        return frozenset({_UNKNOWN})
    typed = {test.variable for test in parts(tree, HasType)}
    return frozenset(typed | {variable.name for variable in parts(tree, Variable)})


def _together(conditions: Sequence[Expression]) -> Expression | None:
    return reduce(lambda left, right: Binary("AND", left, right), conditions) if conditions else None


def _turned(path: _Path, places: Mapping[str, int]) -> _Path:
    """Return a path from its other end, where that is better to begin with and nobody asks for its order."""
    is_asked_for = path.pattern.variable is not None or bool(path.pattern.shortest)
    is_list = any(edge.pattern.hops and edge.pattern.variable for edge in path.edges)
    if is_asked_for or is_list or places[path.nodes[-1].value] >= places[path.nodes[0].value]:
        return path
    return path._replace(nodes=path.nodes[::-1], edges=path.edges[::-1], is_turned=True)
