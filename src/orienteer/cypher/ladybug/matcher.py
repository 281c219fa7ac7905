"""Patterns for the engine: the types that edges can join, the edges that must differ, conditions instead of braces.

The engine differs from Cypher in three ways. It lets one edge of the graph match two edges of a pattern. Inside
OPTIONAL MATCH and EXISTS it gives wrong answers for patterns that no edge can match. It needs the word TRAIL in a
pattern of variable length.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import combinations

from orienteer.cypher.ladybug.comparisons import compared
from orienteer.cypher.ladybug.joins import NAME, EdgeJoin, MatchPlan, NodeEstimate, PathText, compared_keys, estimate
from orienteer.cypher.ladybug.kinds import TEXT, Value, ValueKind, list_of, quoted, rendered
from orienteer.cypher.ladybug.scope import Scope
from orienteer.cypher.names import NameMap
from orienteer.cypher.syntax import Direction, EdgePattern, Expression, NodePattern, PathPattern
from orienteer.errors import BadQuery
from orienteer.records import Triple

_Write = Callable[[Expression], Value]


@dataclass(slots=True)
class _PatternNode:
    value: str
    types: frozenset[str]
    is_new: bool
    written: str = ""
    """Its types in the engine's text, for its first occurrence."""
    name: str | None = None


@dataclass(slots=True)
class _PatternEdge:
    pattern: EdgePattern
    value: str
    triples: frozenset[Triple]
    all_triples: bool
    start: _PatternNode
    end: _PatternNode
    direction: Direction
    is_shortest: bool


@dataclass(slots=True)
class Matcher:
    """Writes the patterns of one clause."""

    scope: Scope
    write: _Write
    nodes: dict[str, _PatternNode] = field(default_factory=dict)
    edges: list[_PatternEdge] = field(default_factory=list)
    conditions: list[str] = field(default_factory=list)
    variables: dict[str, Value] = field(default_factory=dict)
    _keyed: list[tuple[str, ValueKind, tuple[tuple[str, Expression], ...]]] = field(default_factory=list)

    def match(self, paths: Sequence[PathPattern], where: Expression | None) -> MatchPlan:
        """Return the patterns with the conditions of their braces; `where` only serves the estimates here.

        Raises `BadQuery`, `UnknownType`, `UnknownProperty`.
        """
        drawn = [self._path(path) for path in paths]
        self._flow()
        texts = ["".join(piece() for piece in pieces) for pieces in drawn]
        values = {name: self._node_value(node) for name, node in self.nodes.items()}
        self.variables |= {name: value for name, value in values.items() if self.nodes[name].is_new}
        narrowed = {name: value for name, value in values.items() if not self.nodes[name].is_new}
        self._restrict()
        with self.scope.inner({**self.variables, **narrowed}):
            for owner, items in self._pending():
                self.conditions += [self._equal(owner, key, value) for key, value in items]
        nodes = self._fits(compared_keys(where))
        joins = [self._way(edge, nodes) for edge in self.edges]
        return MatchPlan(
            [PathText(text, frozenset(NAME.findall(text))) for text in texts],
            self.conditions,
            self.variables,
            narrowed,
            nodes,
            joins,
            self._apart(joins),
            can_be_ordered=not any(edge.is_shortest for edge in self.edges),
        )

    # -------------------------------------------------------------------------------------------------- drawing

    def _path(self, path: PathPattern) -> list[Callable[[], str]]:
        """Read a path; return functions that write its pieces once all types are known."""
        if path.shortest:
            self._check_shortest()
        nodes = [self._node(node) for node in path.nodes]
        pieces: list[Callable[[], str]] = [self._name_of(path)]
        pieces.append(self._writer(nodes[0]))
        for at, pattern in enumerate(path.edges):
            edge = self._edge(pattern, nodes[at], nodes[at + 1], is_shortest=bool(path.shortest))
            pieces.append(lambda edge=edge, path=path: self._drawn(edge, path.shortest))  # type: ignore[misc]  # defaults bind
            pieces.append(self._writer(nodes[at + 1]))
        return pieces

    def _name_of(self, path: PathPattern) -> Callable[[], str]:
        if path.variable is None:
            return lambda: ""
        self._check_new(path.variable)
        value = self.scope.fresh()
        self.variables[path.variable] = Value(value, ValueKind("path"))
        return lambda: f"{value} = "

    def _check_shortest(self) -> None:
        edges = sum(self.scope.names.schema.edges.values())
        if edges > self.scope.largest_for_shortest:
            raise BadQuery(
                f"shortestPath takes the engine too long in a graph of {edges:,} edges: use the `paths` tool "
                "(orienteer paths, Graph.paths)"
            )

    def _check_new(self, name: str) -> None:
        if name in self.variables or name in self.nodes or name in self.scope.variables:
            raise BadQuery(f"the variable {name!r} is used twice for different things: give one of them another name")

    def _node(self, pattern: NodePattern) -> _PatternNode:
        names, name = self.scope.names, pattern.variable
        wanted = frozenset[str]().union(*map(names.node_types, pattern.types)) if pattern.types else None
        self._tell_partial(wanted or ())
        node = self.nodes.get(name) if name is not None else None
        if node is None:
            node = self._first(name, wanted)
        elif wanted is not None:
            node.types &= wanted
            self.conditions.append(_is_one_of(node.value, self._tables(wanted)))
        if pattern.properties:
            self._keyed.append((node.value, ValueKind("node"), pattern.properties))
        return node

    def _first(self, name: str | None, wanted: frozenset[str] | None) -> _PatternNode:
        """Return a node at its first occurrence in this clause; an earlier clause may have introduced it."""
        scope = self.scope
        if name is not None and name in self.variables:
            self._check_new(name)
        before = scope.variables.get(name) if name is not None else None
        if before is None:
            types = frozenset(scope.names.schema.node_types) if wanted is None else wanted
            node = _PatternNode(
                scope.fresh(), types, True, "" if wanted is None else _written(self._tables(wanted)), name
            )
        else:
            if before.kind.name not in ("node", ""):
                raise BadQuery(f"{name!r} is {before.kind.shown}, not a node: give the node another name")
            types = before.kind.types or frozenset(scope.names.schema.node_types)
            node = _PatternNode(before.text, types if wanted is None else types & wanted, False, name=name)
            if wanted is not None and not types <= wanted:
                self.conditions.append(_is_one_of(node.value, self._tables(wanted)))
        self.nodes[name or node.value] = node
        return node

    def _tables(self, types: Iterable[str]) -> list[str]:
        return [self.scope.names.catalog.node_tables[node_type] for node_type in sorted(types)]

    def _writer(self, node: _PatternNode) -> Callable[[], str]:
        """Return a function that writes a node: with its types at the first occurrence, by its name afterwards."""
        written, node.written = node.written, ""
        return lambda: f"({node.value}{written})"

    def _edge(self, pattern: EdgePattern, start: _PatternNode, end: _PatternNode, *, is_shortest: bool) -> _PatternEdge:
        names = self.scope.names
        everything = frozenset(names.triples)
        triples = frozenset[Triple]().union(*map(names.edge_triples, pattern.types)) if pattern.types else everything
        if pattern.hops and pattern.properties:
            raise BadQuery(
                "properties in a pattern of variable length are not supported: use all(r IN relationships(p)"
            )
        types = frozenset(triple.type for triple in triples)
        self._tell_partial(types if pattern.types else ())
        direction = self._direction(pattern, set(types))
        value = self.scope.fresh()
        edge = _PatternEdge(pattern, value, triples, not pattern.types, start, end, direction, is_shortest)
        self.edges.append(edge)
        if pattern.variable is not None:
            self._check_new(pattern.variable)
            kind = ValueKind("edge", types)
            self.variables[pattern.variable] = (
                Value(f"rels({value})", list_of(kind)) if pattern.hops else Value(value, kind)
            )
        if pattern.properties:
            self._keyed.append((value, ValueKind("edge", types), pattern.properties))
        return edge

    def _tell_partial(self, types: Iterable[str]) -> None:
        """Note which of the types that a pattern names the graph holds only in part: a count of them is too low."""
        schema = self.scope.names.schema
        for name in sorted(schema.partial.intersection(types)):
            self.scope.note(f"{schema.label(name)} is held in part here: a count of it is too low")

    def _direction(self, pattern: EdgePattern, types: set[str]) -> Direction:
        """Return the direction of an edge in the engine's text: a symmetric edge is stored once and has none."""
        scope, names, schema = self.scope, self.scope.names, self.scope.names.schema
        for edge_type in sorted(types & set(scope.names.catalog.loops)):
            scope.note(f"{schema.label(edge_type)}: edges from a node to itself are left out")
        symmetric = types & names.undirected
        if pattern.direction == "both" or not symmetric:
            return pattern.direction
        if names.view is not None:
            if directed := ", ".join(sorted(map(schema.label, types - symmetric))):
                scope.note(f"{directed} keeps its direction only where it is named alone: it was walked both ways")
            return "both"
        shown = ", ".join(sorted(map(schema.label, symmetric)))
        if symmetric == types:
            scope.note(f"{shown} has no direction: the arrow was left out")
            return "both"
        scope.note(f"{shown} has no direction and is stored one way: leave the arrow out to walk it both ways")
        return pattern.direction

    def _drawn(self, edge: _PatternEdge, shortest: str) -> str:
        hops, types = edge.pattern.hops, ""
        if not edge.all_triples:
            tables = self.scope.names.catalog.edge_tables
            types = _written([tables[edge_type] for edge_type in sorted({triple.type for triple in edge.triples})])
        length = f"* {shortest or 'TRAIL'} {hops.least}..{hops.most}" if hops else ""
        direction = edge.direction if self.scope.names.view is None else _only_way(edge)
        left, right = ("<-", "-") if direction == "in" else ("-", "->" if direction == "out" else "-")
        return f"{left}[{edge.value}{types}{length}]{right}"

    # ---------------------------------------------------------------------------------------------------- types

    def _flow(self) -> None:
        """Narrow the types of all nodes to those that edges of this graph can join, until nothing changes."""
        changed = True
        while changed:
            changed = False
            for edge in self.edges:
                starts, ends = _joined(edge)
                if not starts or not ends:
                    raise self._impossible(edge)
                changed |= starts != edge.start.types or ends != edge.end.types
                edge.start.types, edge.end.types = starts, ends
        for node in self.nodes.values():
            if not node.types:
                raise BadQuery(f"no node can be of all types that {node.name or 'a node'} is given")

    def _impossible(self, edge: _PatternEdge) -> BadQuery:
        label = self.scope.names.schema.label
        around = edge.start.types | edge.end.types
        fitting = [triple for triple in self.scope.names.triples if triple in edge.triples] or list(
            self.scope.names.triples
        )
        near = [triple for triple in fitting if triple.source in around or triple.target in around] or fitting
        shown = "; ".join(
            f"{label(triple.source)} -{label(triple.type)}-> {label(triple.target)}" for triple in near[:6]
        )
        arrow = {"out": "->", "in": "<-", "both": "-"}[edge.direction]
        return BadQuery(f"No edge of this graph fits the pattern (its direction is {arrow}). There are: {shown}.")

    def _node_value(self, node: _PatternNode) -> Value:
        return Value(node.value, ValueKind("node", node.types))

    def _restrict(self) -> None:
        """Add conditions for edge types that were named with their end types, where the pattern allows more."""
        names = self.scope.names
        tables = names.catalog.node_tables
        for edge in self.edges:
            types = {triple.type for triple in edge.triples}
            if edge.all_triples or edge.triples == frozenset(
                triple for triple in names.triples if triple.type in types
            ):
                continue
            if edge.pattern.hops:
                raise BadQuery("in a pattern of variable length an edge type is named without the types that it joins")
            ways = []
            for triple in sorted(edge.triples):
                type_ = f"label({edge.value}) = {rendered(names.catalog.edge_tables[triple.type])}"
                ends = [(edge.start.value, edge.end.value), (edge.end.value, edge.start.value)]
                for source, target in {"out": ends[:1], "in": ends[1:], "both": ends}[edge.direction]:
                    source_type, target_type = rendered(tables[triple.source]), rendered(tables[triple.target])
                    begins = f"struct_extract({edge.value}, '_SRC') = id({source})"  # not start_node(): the pattern's
                    ends_are = f"label({source}) = {source_type} AND label({target}) = {target_type}"
                    ways.append(f"({type_} AND {begins} AND {ends_are})")
            self.conditions.append(f"({' OR '.join(ways)})")

    # ------------------------------------------------------------------------------------------------- joining

    def _fits(self, wanted: Mapping[str, list[tuple[str, int]]]) -> dict[str, NodeEstimate]:
        """Return the estimates for each node by its value; `wanted` are the keys that a condition compares."""
        counts, fits = self.scope.names.schema.node_types, {}
        for node in self.nodes.values():
            keys = list(wanted.get(node.name, ())) if node.name is not None else []
            keys += [(key.casefold(), 1) for value, _, items in self._keyed if value == node.value for key, _ in items]
            fits[node.value] = estimate(sum(counts[node_type] for node_type in node.types), keys, is_new=node.is_new)
        return fits

    def _way(self, edge: _PatternEdge, nodes: Mapping[str, NodeEstimate]) -> EdgeJoin:
        starts, ends, count, is_narrowed = edge.start.types, edge.end.types, 0, False
        for triple in edge.triples:
            goes, comes = (
                triple.source in starts and triple.target in ends,
                triple.target in starts and triple.source in ends,
            )
            fits = (goes and edge.direction != "in") + (comes and edge.direction != "out")
            count += fits * self.scope.names.schema.edges[triple]
            is_narrowed |= fits < 1 + (edge.direction == "both")
        hops = edge.pattern.hops.most if edge.pattern.hops else 1
        forward, backward = ((count / nodes[node.value].total) ** hops for node in (edge.start, edge.end))
        is_long = edge.pattern.hops is not None
        return EdgeJoin(edge.value, edge.start.value, edge.end.value, forward, backward, is_long, is_narrowed)

    def _apart(self, joins: Sequence[EdgeJoin]) -> list[tuple[EdgeJoin, EdgeJoin]]:
        """Return the pairs of edges that the same edge of the graph could match."""
        return [
            (join, other)
            for (edge, join), (other_edge, other) in combinations(zip(self.edges, joins, strict=True), 2)
            if edge.triples & other_edge.triples and not edge.is_shortest and not other_edge.is_shortest
        ]

    # ---------------------------------------------------------------------------------------------- properties

    def _pending(self) -> Iterable[tuple[Value, tuple[tuple[str, Expression], ...]]]:
        """Yield the properties in braces with their owners, whose types are known by now."""
        by_value = {node.value: node for node in self.nodes.values()}
        for value, kind, items in self._keyed:
            node = by_value.get(value)
            yield (self._node_value(node) if node is not None else Value(value, kind)), items

    def _equal(self, owner: Value, key: str, expression: Expression) -> str:
        """Write `{key: expression}` as a condition. Raises `BadQuery` for a literal null."""
        value = self.write(expression)
        if value.kind.name == "null":
            raise BadQuery(f"{{{key}: null}} never fits: write WHERE ... IS NULL")
        return compared("=", property_of(self.scope.names, owner, key), value).text


def property_of(names: NameMap, owner: Value, key: str) -> Value:
    """Return a property of a node or an edge. Raises `UnknownProperty`."""
    is_own = key.casefold() in ("id", "name") and key not in names.catalog.node_columns
    if owner.kind.name == "node" and is_own:
        return Value(names.identifier(owner) if key.casefold() == "id" else f"{owner.text}.name", TEXT)
    column = (names.node_column if owner.kind.name == "node" else names.edge_column)(key, owner.kind.types)
    return Value(f"{owner.text}.{quoted(column.column)}", column.value_kind)


def _joined(edge: _PatternEdge) -> tuple[frozenset[str], frozenset[str]]:
    """Return the types of both ends that an edge can join."""
    pairs = {(triple.source, triple.target) for triple in edge.triples}
    back = {(target, source) for source, target in pairs}
    pairs = {"out": pairs, "in": back, "both": pairs | back}[edge.direction]
    hops = edge.pattern.hops
    if hops is None:
        fitting = [
            (source, target) for source, target in pairs if source in edge.start.types and target in edge.end.types
        ]
        return frozenset(source for source, _ in fitting), frozenset(target for _, target in fitting)
    forward = _reach(edge.start.types, pairs, hops.least, hops.most)
    backward = _reach(edge.end.types, {(target, source) for source, target in pairs}, hops.least, hops.most)
    return edge.start.types & backward, edge.end.types & forward


def _only_way(edge: _PatternEdge) -> Direction:
    """Return the only direction that the types of both ends allow an edge, or the pattern's own."""
    if edge.direction != "both" or edge.pattern.hops is not None:
        return edge.direction
    starts, ends = edge.start.types, edge.end.types
    goes = any(triple.source in starts and triple.target in ends for triple in edge.triples)
    comes = any(triple.target in starts and triple.source in ends for triple in edge.triples)
    return "both" if goes == comes else "out" if goes else "in"


def _reach(types: frozenset[str], pairs: set[tuple[str, str]], least: int, most: int) -> frozenset[str]:
    """Return the types that can be reached in `least` to `most` steps."""
    reached, rim = frozenset[str](), types
    for hop in range(1, most + 1):
        rim = frozenset(target for source, target in pairs if source in rim)
        if hop >= least:
            reached |= rim
    return reached


def _written(tables: Sequence[str]) -> str:
    return f":{'|'.join(map(quoted, tables))}"


def _is_one_of(value: str, tables: Sequence[str]) -> str:
    return f"label({value}) IN [{', '.join(map(rendered, tables))}]"
