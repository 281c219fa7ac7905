"""Patterns as the copy answers them, against brute force over the same records: every way to lay a pattern on a graph.

The brute force knows what Cypher says: no edge twice in one MATCH, parallel edges are different edges, an undirected
edge is walked both ways once. Names are longer than twelve characters where it matters to the engine.
"""

import re
from collections import Counter, defaultdict
from itertools import count
from typing import NamedTuple

import numpy as np
import pytest

from orienteer.cypher import Cypher
from orienteer.errors import BadQuery
from orienteer.graph import Graph
from orienteer.ingest import demo_records
from orienteer.records import Edge, Node

NODE_TYPES = ("Gene", "biological process", "Side/effect")
EDGE_TYPES = {"binds": (0, 0), "gene": (0, 1), "takes part in": (0, 1), "causes/makes": (2, 0), "REGULATES": None}


class Hop(NamedTuple):
    """An edge of a pattern: from the node before to the next one."""

    types: tuple[str, ...]
    arrow: str  # ->, <- or --
    least: int = 1
    most: int = 1

    @property
    def text(self):
        types = ":" + "|".join(f"`{one}`" for one in self.types) if self.types else ""
        hops = f"*{self.least}..{self.most}" if (self.least, self.most) != (1, 1) else ""
        left, right = ("<-", "-") if self.arrow == "<-" else ("-", self.arrow[-2:] if self.arrow == "->" else "-")
        return f"{left}[{types}{hops}]{right}"


@pytest.fixture(scope="module")
def made(scratch):
    """Give a graph with parallel edges, mutual ones, and types that differ by case or hold spaces and slashes."""
    chance = np.random.default_rng(5)
    nodes = [
        Node(f"n{at:02}", NODE_TYPES[at % 3], f"a rather long name {at % 7}", properties={"year": int(1990 + at % 9)})
        for at in range(24)
    ]
    edges = []
    for name, ends in EDGE_TYPES.items():
        for _ in range(22):
            source, target = (int(one) for one in chance.integers(0, 24, 2))
            if source == target or (ends and (source % 3, target % 3) != ends):
                continue
            edges += [Edge(nodes[source].id, name, nodes[target].id)] * int(1 + (chance.random() < 0.2))
    return Graph.from_records(nodes, edges, path=scratch()), nodes, edges


class Brute:
    """All ways to lay a chain of hops on a graph."""

    def __init__(self, nodes, edges):
        self.types = {node.id: node.type for node in nodes}
        self.around = defaultdict(list)
        for number, edge in enumerate(edges):
            self.around[edge.source].append((number, edge.type, edge.target, "->"))
            self.around[edge.target].append((number, edge.type, edge.source, "<-"))

    def step(self, node, hop, used):
        """Return each end of a hop with the edges that it uses."""
        rim = [(node, used)]
        for length in count(0):
            if length >= hop.least:
                yield from rim
            if length == hop.most:
                return
            rim = [
                (other, seen | {number})
                for at, seen in rim
                for number, edge_type, other, arrow in self.around[at]
                if number not in seen and (not hop.types or edge_type in hop.types) and hop.arrow in ("--", arrow)
            ]

    def walks(self, start, hops, types, used=frozenset()):
        """Return the nodes of each walk, its types kept to."""
        if not hops:
            yield (start,)
            return
        for end, seen in self.step(start, hops[0], used):
            if types[0] is None or self.types[end] == types[0]:
                for rest in self.walks(end, hops[1:], types[1:], seen):
                    yield (start, *rest)

    def laid(self, pattern):
        """Yield the nodes by name for each way to lay paths of named nodes."""
        paths = [re.split(r"(<?-\[.*?\]->?)", path) for path in pattern.split(", ")]
        steps = [(path[at - 1], path[at], path[at + 1]) for path in paths for at in range(1, len(path), 2)]
        ways = [({}, frozenset())]
        for start, edge, end in steps:
            arrow = "<-" if edge[0] == "<" else "->" if edge[-1] == ">" else "--"
            hop = Hop((), arrow, 1, 3 if "*" in edge else 1)
            ways = [
                ({**names, start[1]: begin, end[1]: stop}, seen)
                for names, used in ways
                for begin in ([names[start[1]]] if start[1] in names else self.types)
                for stop, seen in self.step(begin, hop, used)
                if {**names, start[1]: begin}.get(end[1], stop) == stop
            ]
        return (names for names, _ in ways)


def random_pattern(chance):
    """Return the hops, and the type of each node or None."""
    hops = []
    for _ in range(int(chance.integers(1, 4))):
        types = tuple(str(one) for one in chance.choice(list(EDGE_TYPES), int(chance.integers(0, 3)), replace=False))
        least, most = (1, 1) if chance.random() < 0.75 else [(1, 2), (2, 2), (1, 3)][int(chance.integers(3))]
        hops.append(Hop(types, str(chance.choice(["->", "<-", "--"])), least, most))
    types = [str(chance.choice(NODE_TYPES)) if chance.random() < 0.4 else None for _ in range(len(hops) + 1)]
    return hops, types


def written(hops, types, *, first="a"):
    """Return a pattern as Cypher, its nodes named first, n1, n2 ..."""
    label = [f":`{one}`" if one else "" for one in types]
    text = f"({first}{label[0]})"
    for at, hop in enumerate(hops, 1):
        text += f"{hop.text}(n{at}{label[at]})"
    return text


def is_impossible(error, right):
    """Tell whether a pattern was refused because no edge fits, and rightly so."""
    return "No edge of this graph fits" in str(error) and not right


def queries(how_many, seed):
    chance = np.random.default_rng(seed)
    return [random_pattern(chance) for _ in range(how_many)]


def check_chains(made, how_many, seed):
    graph, nodes, edges = made
    brute = Brute(nodes, edges)
    answered = refused = 0
    for hops, types in queries(how_many, seed):
        names = ["a", *(f"n{at}" for at in range(1, len(hops) + 1))]
        text = f"MATCH {written(hops, types)} RETURN {', '.join(f'{one}.id' for one in names)}"
        right = Counter(
            walk for node in nodes if types[0] in (None, node.type) for walk in brute.walks(node.id, hops, types[1:])
        )
        if right.total() > 20_000:
            continue
        try:
            found = Cypher(graph).query(text, limit=100_000, seconds=60)
        except BadQuery as error:
            if not is_impossible(error, right):
                raise
            refused += 1
            continue
        assert Counter(found.rows) == right, text
        assert found.total == right.total()
        answered += 1
    return answered, refused


def check_anchored(made, how_many, seed):
    """Chains of which some nodes are named: the engine then starts from these, and joins in another way."""
    graph, nodes, edges = made
    brute, chance, answered = Brute(nodes, edges), np.random.default_rng(seed), 0
    for hops, types in queries(how_many, seed):
        walks = [
            walk for node in nodes if types[0] in (None, node.type) for walk in brute.walks(node.id, hops, types[1:])
        ]
        if not 0 < len(walks) < 20_000:
            continue
        names = ["a", *(f"n{at}" for at in range(1, len(hops) + 1))]
        chosen = walks[int(chance.integers(len(walks)))]
        places = chance.permutation(len(names))[: int(chance.integers(1, 3))].tolist()
        conditions = [f"{names[place]}.id = '{chosen[place]}'" for place in places]
        other = int(chance.integers(len(names)))
        if chance.random() < 0.5:
            conditions.append(f"{names[other]}.id <> 'n00'")
            walks = [walk for walk in walks if walk[other] != "n00"]
        right = Counter(walk for walk in walks if all(walk[place] == chosen[place] for place in places))
        asked = ", ".join(f"{one}.id" for one in names)
        text = f"MATCH {written(hops, types)} WHERE {' AND '.join(conditions)} RETURN {asked}"
        assert Counter(Cypher(graph).query(text, limit=100_000, seconds=60).rows) == right, text
        answered += 1
    return answered


def check_conditions(made, how_many, seed):
    """EXISTS, NOT, COUNT and OPTIONAL MATCH from every node, whatever its type."""
    graph, nodes, edges = made
    brute = Brute(nodes, edges)
    answered, chance = 0, np.random.default_rng(seed)
    for hops, types in queries(how_many, seed):
        outer = [str(one) for one in chance.choice(NODE_TYPES, int(chance.integers(1, 4)), replace=False)]
        start = f"(a:{'|'.join(f'`{one}`' for one in outer)})"
        types = [None, *types[1:]]
        pattern = written(hops, types)
        walks = {
            node.id: [walk[1:] for walk in brute.walks(node.id, hops, types[1:])]
            for node in nodes
            if node.type in outer
        }
        if sum(map(len, walks.values())) > 20_000:
            continue
        try:
            having = Cypher(graph).query(
                f"MATCH {start} WHERE {pattern.replace('n1', '').replace('n2', '').replace('n3', '')} RETURN a.id"
            )
        except BadQuery as error:
            if not is_impossible(error, any(walks.values())):
                raise
            continue
        assert Counter(having.rows) == Counter((one,) for one, found in walks.items() if found), pattern
        lacking = Cypher(graph).query(f"MATCH {start} WHERE NOT EXISTS {{ MATCH {pattern} }} RETURN a.id")
        assert Counter(lacking.rows) == Counter((one,) for one, found in walks.items() if not found), pattern
        counted = Cypher(graph).query(f"MATCH {start} RETURN a.id, COUNT {{ {pattern} }} AS k")
        assert dict(counted.rows) == {one: len(found) for one, found in walks.items()}, pattern
        last = f"n{len(hops)}"
        optional = Cypher(graph).query(f"MATCH {start} OPTIONAL MATCH {pattern} RETURN a.id, {last}.id", limit=100_000)
        right = Counter((one, walk[-1]) for one, found in walks.items() for walk in found)
        right.update((one, None) for one, found in walks.items() if not found)
        assert Counter(optional.rows) == right, pattern
        answered += 1
    return answered


def check_lists(made, how_many, seed):
    """Patterns in [ ], from every node, once for each of its edges: a row that is there twice stays there twice."""
    graph, nodes, edges = made
    brute = Brute(nodes, edges)
    year = {node.id: node.properties["year"] for node in nodes}
    answered, chance = 0, np.random.default_rng(seed)
    for hops, types in queries(how_many, seed):
        outer = str(chance.choice(NODE_TYPES))
        pattern, last = written(hops, [None, *types[1:]]), f"n{len(hops)}"
        text = (
            f"MATCH (a:`{outer}`)-[]-() RETURN a.id, [{pattern} | {last}.id] AS ends, "
            f"[{pattern} WHERE {last}.year > 1993 | [{last}.year, 1]] AS late, [(a)-[]-() | 1] AS ones"
        )
        right = {}
        for node in nodes:
            if node.type == outer:
                ends = [walk[-1] for walk in brute.walks(node.id, hops, types[1:])]
                around = len(brute.around[node.id])
                late = sorted([year[end], 1] for end in ends if year[end] > 1993)
                right[node.id] = (sorted(ends), late, [1] * around, around)
        if sum(len(row[0]) * row[3] for row in right.values()) > 3_000:
            continue
        try:
            found = Cypher(graph).query(text, limit=100_000, seconds=60)
        except BadQuery as error:
            if not is_impossible(error, any(ends for ends, *_ in right.values())):
                raise
            continue
        assert not found.truncated
        rows = Counter((node, repr((sorted(ends), sorted(late), ones))) for node, ends, late, ones in found.rows)
        assert rows == Counter({(node, repr(row[:3])): row[3] for node, row in right.items() if row[3]}), text
        answered += 1
    return answered


def test_patterns_in_a_list_from_every_node(made):
    assert check_lists(made, 60, seed=7) > 20


def test_chains_are_laid_as_brute_force_lays_them(made):
    answered, refused = check_chains(made, 60, seed=1)
    assert answered > 30
    assert refused > 3


def test_chains_from_named_nodes(made):
    assert check_anchored(made, 120, seed=3) > 60


@pytest.mark.parametrize("condition", ["true", "a.name <> 'zzz'"])
def test_no_edge_stands_twice_whatever_way_the_engine_joins(scratch, condition):
    """The engine compared the wrong edges where a pattern has a named node two edges away."""
    graph = Graph.from_records(*demo_records(), path=scratch())
    pattern = (
        "MATCH (:paradigm {id: 'paradigm:array'})<-[:supports]-(a:language)-[:developed_at]->(b:organization)"
        "<-[:developed_at]-(c:language)-[:designed_by]->(x:person)"
    )
    _, edges = demo_records()
    ends = defaultdict(set)
    for edge in edges:
        ends[edge.type].add((edge.source, edge.target))
    right = {
        (a, c, x)
        for a, paradigm in ends["supports"]
        if paradigm == "paradigm:array"
        for one, b in ends["developed_at"]
        if one == a
        for c, other in ends["developed_at"]
        if other == b and c != a
        for designed, x in ends["designed_by"]
        if designed == c
    }
    found = Cypher(graph).query(f"{pattern} WHERE {condition} RETURN a.id, c.id, x.id")
    assert sorted(found.rows) == sorted(right)
    assert len(right) == 6


def test_conditions_and_optional_patterns(made):
    assert check_conditions(made, 20, seed=2) > 8


# Types that lead to themselves, to one another and in a ring; `one` and `other` are nodes of A and of B.
RINGS = {
    "A to A and B": "AA AB",
    "both ways": "AB BA",
    "all ways": "AA AB BA BB",
    "around": "AB BC CA",
    "away": "AB BC",
}
CYCLES = [
    pattern
    for arrow in ("-[{}]->", "<-[{}]-", "-[{}]-")
    for hops in ("", "*1..3")
    for edge in (arrow.format(hops),)
    for pattern in (
        f"(a){edge}(a)",
        f"(a){edge}(b){edge}(a)",
        f"(a){edge}(b), (b)-[{hops}]->(a)",
        f"(a){edge}(a){edge}(b)",
    )
]


@pytest.mark.parametrize("ways", RINGS.values(), ids=RINGS)
def test_cycles_of_one_or_two_names_end_and_are_laid_as_brute_force_lays_them(scratch, ways):
    nodes = [Node(f"{node_type}{number}", node_type, "x") for node_type in "ABC" for number in (1, 2)]
    edges = [
        Edge(f"{source}{one}", "R", f"{target}{other}")
        for source, target in ways.split()
        for one, other in ((1, 2), (2, 1), (1, 1))
        if (source, one) != (target, other)
    ]
    graph, brute = Graph.from_records(nodes, edges, path=scratch()), Brute(nodes, edges)
    for pattern in CYCLES:
        names = sorted(set(pattern) & {"a", "b"})
        right = Counter(tuple(laid[name] for name in names) for laid in brute.laid(pattern))
        text = f"MATCH {pattern} RETURN {', '.join(f'{name}.id' for name in names)}"
        try:
            found = Cypher(graph).query(text, limit=None)
        except BadQuery as error:
            if not is_impossible(error, right):
                raise
            continue
        assert Counter(found.rows) == right, text
