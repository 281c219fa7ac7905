"""Patterns for the engine: which edges can join which nodes, which must differ, conditions outside the braces.

The engine lets one edge stand for two of a pattern, where Cypher does not; it answers patterns that no edge of the
graph fits wrongly inside OPTIONAL MATCH and EXISTS; and it asks for TRAIL where a pattern has a variable length.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import combinations

from orienteer.cypher.ladybug.comparisons import compared
from orienteer.cypher.ladybug.joins import NAME, Drawn, Fit, Matched, Way, asked, fit
from orienteer.cypher.ladybug.kinds import TEXT, Kind, Value, list_of, quoted, rendered
from orienteer.cypher.ladybug.scope import Scope
from orienteer.cypher.names import Names
from orienteer.cypher.syntax import Direction, EdgePattern, Expression, NodePattern, PathPattern
from orienteer.errors import BadQuery
from orienteer.records import Triple

_Write = Callable[[Expression], Value]


@dataclass(slots=True)
class _Node:
    value: str
    types: frozenset[str]
    is_new: bool
    written: str = ""
    """Its types as they are written where it first stands."""
    name: str | None = None


@dataclass(slots=True)
class _Edge:
    pattern: EdgePattern
    value: str
    triples: frozenset[Triple]
    all_triples: bool
    start: _Node
    end: _Node
    direction: Direction
    is_shortest: bool


@dataclass(slots=True)
class Matcher:
    """Writes the patterns of one clause."""

    scope: Scope
    write: _Write
    nodes: dict[str, _Node] = field(default_factory=dict)
    edges: list[_Edge] = field(default_factory=list)
    conditions: list[str] = field(default_factory=list)
    variables: dict[str, Value] = field(default_factory=dict)
    _keyed: list[tuple[str, Kind, tuple[tuple[str, Expression], ...]]] = field(default_factory=list)

    def match(self, paths: Sequence[PathPattern], where: Expression | None) -> Matched:
        """Return patterns and their conditions; `where`, not yet among them, tells which nodes are named.

        Raises `BadQuery`, `UnknownType`, `UnknownProperty`.
        """
        drawn = [self._path(path) for path in paths]
        self._flow()
        texts = ["".join(piece() for piece in pieces) for pieces in drawn]
        known = {name: self._node_value(node) for name, node in self.nodes.items()}
        self.variables |= {name: value for name, value in known.items() if self.nodes[name].is_new}
        narrowed = {name: value for name, value in known.items() if not self.nodes[name].is_new}
        self._restrict()
        with self.scope.inner({**self.variables, **narrowed}):
            for owner, items in self._pending():
                self.conditions += [self._equal(owner, key, value) for key, value in items]
        nodes = self._fits(asked(where))
        ways = [self._way(edge, nodes) for edge in self.edges]
        return Matched(
            [Drawn(text, frozenset(NAME.findall(text))) for text in texts],
            self.conditions,
            self.variables,
            narrowed,
            nodes,
            ways,
            self._apart(ways),
            can_be_ordered=not any(edge.is_shortest for edge in self.edges),
        )

    # -------------------------------------------------------------------------------------------------- drawing

    def _path(self, path: PathPattern) -> list[Callable[[], str]]:
        """Take a path in, and return what writes its pieces once all types are known."""
        if path.shortest:
            self._check_shortest()
        nodes = [self._node(one) for one in path.nodes]
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
        self.variables[path.variable] = Value(value, Kind("path"))
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

    def _node(self, pattern: NodePattern) -> _Node:
        names, name = self.scope.names, pattern.variable
        wanted = frozenset[str]().union(*map(names.node_types, pattern.types)) if pattern.types else None
        node = self.nodes.get(name) if name is not None else None
        if node is None:
            node = self._first(name, wanted)
        elif wanted is not None:
            node.types &= wanted
            self.conditions.append(_is_one_of(node.value, self._tables(wanted)))
        if pattern.properties:
            self._keyed.append((node.value, Kind("node"), pattern.properties))
        return node

    def _first(self, name: str | None, wanted: frozenset[str] | None) -> _Node:
        """Return a node that this clause has not named yet; an earlier one may have."""
        scope = self.scope
        if name is not None and name in self.variables:
            self._check_new(name)
        before = scope.variables.get(name) if name is not None else None
        if before is None:
            types = frozenset(scope.names.schema.node_types) if wanted is None else wanted
            node = _Node(scope.fresh(), types, True, "" if wanted is None else _written(self._tables(wanted)), name)
        else:
            if before.kind.name not in ("node", ""):
                raise BadQuery(f"{name!r} is {before.kind.shown}, not a node: give the node another name")
            types = before.kind.types or frozenset(scope.names.schema.node_types)
            node = _Node(before.text, types if wanted is None else types & wanted, False, name=name)
            if wanted is not None and not types <= wanted:
                self.conditions.append(_is_one_of(node.value, self._tables(wanted)))
        self.nodes[name or node.value] = node
        return node

    def _tables(self, types: Iterable[str]) -> list[str]:
        return [self.scope.names.catalog.node_tables[one] for one in sorted(types)]

    def _writer(self, node: _Node) -> Callable[[], str]:
        """Return what writes a node: with its types where it first stands, by its name alone afterwards."""
        written, node.written = node.written, ""
        return lambda: f"({node.value}{written})"

    def _edge(self, pattern: EdgePattern, start: _Node, end: _Node, *, is_shortest: bool) -> _Edge:
        names = self.scope.names
        everything = frozenset(names.triples)
        triples = frozenset[Triple]().union(*map(names.edge_triples, pattern.types)) if pattern.types else everything
        if pattern.hops and pattern.properties:
            raise BadQuery(
                "properties in a pattern of variable length are not supported: use all(r IN relationships(p)"
            )
        direction = self._direction(pattern, {one.type for one in triples})
        value = self.scope.fresh()
        edge = _Edge(pattern, value, triples, not pattern.types, start, end, direction, is_shortest)
        self.edges.append(edge)
        types = frozenset(one.type for one in triples)
        if pattern.variable is not None:
            self._check_new(pattern.variable)
            kind = Kind("edge", types)
            self.variables[pattern.variable] = (
                Value(f"rels({value})", list_of(kind)) if pattern.hops else Value(value, kind)
            )
        if pattern.properties:
            self._keyed.append((value, Kind("edge", types), pattern.properties))
        return edge

    def _direction(self, pattern: EdgePattern, types: set[str]) -> Direction:
        """Return the way to walk: a symmetric edge is stored once and has none."""
        scope, names, schema = self.scope, self.scope.names, self.scope.names.schema
        for one in sorted(types & set(scope.names.catalog.loops)):
            scope.note(f"{schema.label(one)}: edges from a node to itself are left out")
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

    def _drawn(self, edge: _Edge, shortest: str) -> str:
        hops, types = edge.pattern.hops, ""
        if not edge.all_triples:
            tables = self.scope.names.catalog.edge_tables
            types = _written([tables[one] for one in sorted({triple.type for triple in edge.triples})])
        length = f"* {shortest or 'TRAIL'} {hops.least}..{hops.most}" if hops else ""
        direction = edge.direction if self.scope.names.view is None else _only_way(edge)
        left, right = ("<-", "-") if direction == "in" else ("-", "->" if direction == "out" else "-")
        return f"{left}[{edge.value}{types}{length}]{right}"

    # ---------------------------------------------------------------------------------------------------- types

    def _flow(self) -> None:
        """Narrow the types of all nodes to what edges of this graph can join, until nothing changes."""
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

    def _impossible(self, edge: _Edge) -> BadQuery:
        label = self.scope.names.schema.label
        around = edge.start.types | edge.end.types
        fitting = [one for one in self.scope.names.triples if one in edge.triples] or list(self.scope.names.triples)
        near = [one for one in fitting if one.source in around or one.target in around] or fitting
        shown = "; ".join(f"{label(one.source)} -{label(one.type)}-> {label(one.target)}" for one in near[:6])
        arrow = {"out": "->", "in": "<-", "both": "-"}[edge.direction]
        return BadQuery(f"No edge of this graph fits the pattern (its direction is {arrow}). There are: {shown}.")

    def _node_value(self, node: _Node) -> Value:
        return Value(node.value, Kind("node", node.types))

    def _restrict(self) -> None:
        """Keep to the end types that an edge type was named with, where the pattern leaves more."""
        names = self.scope.names
        tables = names.catalog.node_tables
        for edge in self.edges:
            types = {one.type for one in edge.triples}
            if edge.all_triples or edge.triples == frozenset(one for one in names.triples if one.type in types):
                continue
            if edge.pattern.hops:
                raise BadQuery("in a pattern of variable length an edge type is named without the types that it joins")
            ways = []
            for triple in sorted(edge.triples):
                type_ = f"label({edge.value}) = {rendered(names.catalog.edge_tables[triple.type])}"
                ends = [(edge.start.value, edge.end.value), (edge.end.value, edge.start.value)]
                for source, target in {"out": ends[:1], "in": ends[1:], "both": ends}[edge.direction]:
                    source_type, target_type = rendered(tables[triple.source]), rendered(tables[triple.target])
                    begins = f"struct_extract({edge.value}, '_SRC') = id({source})"  # start_node() is the pattern's
                    ends_are = f"label({source}) = {source_type} AND label({target}) = {target_type}"
                    ways.append(f"({type_} AND {begins} AND {ends_are})")
            self.conditions.append(f"({' OR '.join(ways)})")

    # ------------------------------------------------------------------------------------------------- joining

    def _fits(self, found: Mapping[str, list[tuple[str, int]]]) -> dict[str, Fit]:
        """Return each node by its value; `found` are the keys that a condition asks of variables."""
        counts, fits = self.scope.names.schema.node_types, {}
        for node in self.nodes.values():
            keys = list(found.get(node.name, ())) if node.name is not None else []
            keys += [(key.casefold(), 1) for value, _, items in self._keyed if value == node.value for key, _ in items]
            fits[node.value] = fit(sum(counts[one] for one in node.types), keys, is_new=node.is_new)
        return fits

    def _way(self, edge: _Edge, nodes: Mapping[str, Fit]) -> Way:
        starts, ends, count, is_narrowed = edge.start.types, edge.end.types, 0, False
        for one in edge.triples:
            goes, comes = one.source in starts and one.target in ends, one.target in starts and one.source in ends
            fits = (goes and edge.direction != "in") + (comes and edge.direction != "out")
            count += fits * self.scope.names.schema.edges[one]
            is_narrowed |= fits < 1 + (edge.direction == "both")
        hops = edge.pattern.hops.most if edge.pattern.hops else 1
        forward, backward = ((count / nodes[one.value].total) ** hops for one in (edge.start, edge.end))
        is_long = edge.pattern.hops is not None
        return Way(edge.value, edge.start.value, edge.end.value, forward, backward, is_long, is_narrowed)

    def _apart(self, ways: Sequence[Way]) -> list[tuple[Way, Way]]:
        """Return the edges for which one edge might stand twice."""
        return [
            (one, other)
            for (edge, one), (other_edge, other) in combinations(zip(self.edges, ways, strict=True), 2)
            if edge.triples & other_edge.triples and not edge.is_shortest and not other_edge.is_shortest
        ]

    # ---------------------------------------------------------------------------------------------- properties

    def _pending(self) -> Iterable[tuple[Value, tuple[tuple[str, Expression], ...]]]:
        by_value = {node.value: node for node in self.nodes.values()}
        for value, kind, items in self._keyed:
            node = by_value.get(value)
            yield (self._node_value(node) if node is not None else Value(value, kind)), items

    def _equal(self, owner: Value, key: str, expression: Expression) -> str:
        value = self.write(expression)
        if value.kind.name == "null":
            raise BadQuery(f"{{{key}: null}} never fits: write WHERE ... IS NULL")
        return compared("=", property_of(self.scope.names, owner, key), value).text


def property_of(names: Names, owner: Value, key: str) -> Value:
    """Return a property of a node or an edge. Raises `UnknownProperty`."""
    is_own = key.casefold() in ("id", "name") and key not in names.catalog.node_columns
    if owner.kind.name == "node" and is_own:
        return Value(names.identifier(owner) if key.casefold() == "id" else f"{owner.text}.name", TEXT)
    column = (names.node_column if owner.kind.name == "node" else names.edge_column)(key, owner.kind.types)
    return Value(f"{owner.text}.{quoted(column.column)}", column.value_kind)


def _joined(edge: _Edge) -> tuple[frozenset[str], frozenset[str]]:
    """Return which of the types of both ends an edge can join."""
    pairs = {(one.source, one.target) for one in edge.triples}
    back = {(target, source) for source, target in pairs}
    pairs = {"out": pairs, "in": back, "both": pairs | back}[edge.direction]
    hops = edge.pattern.hops
    if hops is None:
        fitting = [(one, two) for one, two in pairs if one in edge.start.types and two in edge.end.types]
        return frozenset(one for one, _ in fitting), frozenset(two for _, two in fitting)
    forward = _reach(edge.start.types, pairs, hops.least, hops.most)
    backward = _reach(edge.end.types, {(two, one) for one, two in pairs}, hops.least, hops.most)
    return edge.start.types & backward, edge.end.types & forward


def _only_way(edge: _Edge) -> Direction:
    """Return the one way in which the types of both ends let an edge point, where there is one."""
    if edge.direction != "both" or edge.pattern.hops is not None:
        return edge.direction
    starts, ends = edge.start.types, edge.end.types
    goes = any(one.source in starts and one.target in ends for one in edge.triples)
    comes = any(one.target in starts and one.source in ends for one in edge.triples)
    return "both" if goes == comes else "out" if goes else "in"


def _reach(types: frozenset[str], pairs: set[tuple[str, str]], least: int, most: int) -> frozenset[str]:
    """Return the types that between `least` and `most` steps lead to."""
    reached, rim = frozenset[str](), types
    for hop in range(1, most + 1):
        rim = frozenset(two for one, two in pairs if one in rim)
        if hop >= least:
            reached |= rim
    return reached


def _written(tables: Sequence[str]) -> str:
    return f":{'|'.join(map(quoted, tables))}"


def _is_one_of(value: str, tables: Sequence[str]) -> str:
    return f"label({value}) IN [{', '.join(map(rendered, tables))}]"
