"""Patterns for the engine: the types that edges can join, the edges that must differ, conditions instead of braces.

The engine differs from Cypher in three ways. It lets one edge of the graph match two edges of a pattern. Inside
OPTIONAL MATCH and EXISTS it gives wrong answers for patterns that no edge can match. It needs the word TRAIL in a
pattern of variable length.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations

from orienteer.cypher.checks import compared_keys
from orienteer.cypher.kinds import quoted, rendered
from orienteer.cypher.ladybug.comparisons import compared
from orienteer.cypher.ladybug.joins import EdgeJoin, MatchPlan, NodeEstimate, PathText, estimate, names_in
from orienteer.cypher.parser import PatternEdge, PatternNode, PatternReader
from orienteer.cypher.patterns import check_lengths
from orienteer.cypher.syntax import Direction, Expression, PathPattern
from orienteer.errors import BadQuery


@dataclass(slots=True)
class Matcher(PatternReader):
    """Writes the patterns of one clause."""

    def match(self, paths: Sequence[PathPattern], where: Expression | None) -> MatchPlan:
        """Return the patterns with the conditions of their braces; `where` only serves the estimates here.

        Raises `BadQuery`, `UnknownType`, `UnknownProperty`.
        """
        check_lengths(paths)
        drawn = [self._path(path) for path in paths]
        self.narrow()
        texts = ["".join(piece() for piece in pieces) for pieces in drawn]
        self.variables |= {name: self.node_value(node) for name, node in self.named.items() if node.is_new}
        narrowed = {name: self.node_value(node) for name, node in self.named.items() if not node.is_new}
        self._restrict()
        with self.scope.inner({**self.variables, **narrowed}):
            self.conditions += [compared("=", own, value).text for own, value in self.equalities(self.keyed)]
        nodes = self._fits(compared_keys(where))
        joins = [self._way(edge, nodes) for edge in self.edges]
        return MatchPlan(
            [PathText(text, names_in(text)) for text in texts],
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
        nodes = [self.read_node(node) for node in path.nodes]
        begin = self.begin(path)
        pieces: list[Callable[[], str]] = [lambda: begin, self._writer(nodes[0])]
        for at, pattern in enumerate(path.edges):
            edge = self.read_edge(pattern, nodes[at], nodes[at + 1], is_shortest=bool(path.shortest))
            pieces.append(lambda edge=edge, path=path: self._drawn(edge, path.shortest))  # type: ignore[misc]  # defaults bind
            pieces.append(self._writer(nodes[at + 1]))
        return pieces

    def _check_shortest(self) -> None:
        edges, most = sum(self.scope.names.schema.edges.values()), self.scope.largest_for_shortest
        if most is not None and edges > most:
            raise BadQuery(
                f"shortestPath takes the engine too long in a graph of {edges:,} edges: use the `paths` tool "
                "(orienteer paths, Graph.paths)"
            )

    def is_of(self, value: str, types: Iterable[str]) -> str:
        """Write the condition that a node has one of these types."""
        return f"label({value}) IN [{', '.join(map(rendered, self._tables(types)))}]"

    def edges_of(self, value: str) -> str:
        """Write the list of the edges that a pattern of variable length has walked."""
        return f"rels({value})"

    def _tables(self, types: Iterable[str]) -> list[str]:
        return [self.scope.names.catalog.node_tables[node_type] for node_type in sorted(types)]

    def _writer(self, node: PatternNode) -> Callable[[], str]:
        """Return a function that writes a node: with its types at the first occurrence, by its name afterwards."""
        written = "" if node.is_drawn or node.asked is None else _written(self._tables(node.asked))
        node.is_drawn = True
        return lambda: f"({node.value}{written})"

    def _drawn(self, edge: PatternEdge, shortest: str) -> str:
        hops, types = edge.pattern.hops, ""
        if not edge.all_triples:
            tables = self.scope.names.catalog.edge_tables
            types = _written([tables[edge_type] for edge_type in edge.types])
        length = f"* {shortest or 'TRAIL'} {hops.least}..{hops.most}" if hops else ""
        direction = edge.direction if self.scope.names.view is None else _only_way(edge)
        left, right = ("<-", "-") if direction == "in" else ("-", "->" if direction == "out" else "-")
        return f"{left}[{edge.value}{types}{length}]{right}"

    # ---------------------------------------------------------------------------------------------------- types

    def _restrict(self) -> None:
        """Add conditions for edge types that were named with their end types, where the pattern allows more."""
        names = self.scope.names
        tables = names.catalog.node_tables
        for edge in self.edges:
            ways = []
            for triple, source, target in self.narrower(edge):
                type_ = f"label({edge.value}) = {rendered(names.catalog.edge_tables[triple.type])}"
                source_type, target_type = rendered(tables[triple.source]), rendered(tables[triple.target])
                begins = f"struct_extract({edge.value}, '_SRC') = id({source.value})"  # not start_node(): the pattern's
                ends_are = f"label({source.value}) = {source_type} AND label({target.value}) = {target_type}"
                ways.append(f"({type_} AND {begins} AND {ends_are})")
            if ways:
                self.conditions.append(f"({' OR '.join(ways)})")

    # ------------------------------------------------------------------------------------------------- joining

    def _fits(self, wanted: Mapping[str, list[tuple[str, int]]]) -> dict[str, NodeEstimate]:
        """Return the estimates for each node by its value; `wanted` are the keys that a condition compares."""
        counts, fits = self.scope.names.schema.node_types, {}
        for node in self.nodes:
            keys = list(wanted.get(node.name, ())) if node.name is not None else []
            keys += [(key.casefold(), 1) for value, _, items in self.keyed if value == node.value for key, _ in items]
            fits[node.value] = estimate(sum(counts[node_type] for node_type in node.types), keys, is_new=node.is_new)
        return fits

    def _way(self, edge: PatternEdge, nodes: Mapping[str, NodeEstimate]) -> EdgeJoin:
        starts, ends, count, is_narrowed = edge.start.types, edge.end.types, 0, False
        for triple in edge.triples:
            goes, comes = (
                triple.source in starts and triple.target in ends,
                triple.target in starts and triple.source in ends,
            )
            fits = (goes and edge.direction != "in") + (comes and edge.direction != "out")
            count += fits * self.scope.names.schema.edges[triple]
            is_narrowed |= fits < 1 + (edge.direction == "both")
        hops = (edge.pattern.hops.most or 1) if edge.pattern.hops else 1
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


def _only_way(edge: PatternEdge) -> Direction:
    """Return the only direction that the types of both ends allow an edge, or the pattern's own."""
    if edge.direction != "both" or edge.pattern.hops is not None:
        return edge.direction
    starts, ends = edge.start.types, edge.end.types
    goes = any(triple.source in starts and triple.target in ends for triple in edge.triples)
    comes = any(triple.target in starts and triple.source in ends for triple in edge.triples)
    return "both" if goes == comes else "out" if goes else "in"


def _written(tables: Sequence[str]) -> str:
    return f":{'|'.join(map(quoted, tables))}"
