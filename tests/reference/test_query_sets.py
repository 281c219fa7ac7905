"""Random sets of the query algebra over random multigraphs, by the definitions of docs/reference/query.md; and proofs.

Lists and facets lie below the algebra, over the store's own masks: they are to give the same sets and counts.
"""

import random
from collections import defaultdict

import pytest

import towns
from orienteer import Retriever
from orienteer.cypher import ArraysEngine, Cypher
from orienteer.graph import Graph
from orienteer.query import (
    Among,
    Both,
    Compared,
    Counted,
    Covering,
    Either,
    Every,
    Has,
    Hop,
    Leads,
    QueryBudget,
    QuerySets,
    QueryStore,
    Without,
    proof_of,
)
from orienteer.records import Edge
from orienteer.serve import facets_page

KINDS, EDGES = ("town", "river", "road"), ("crosses", "feeds", "near")
SIGNS = {
    "=": lambda a, b: a == b,
    "!=": lambda a, b: a != b,
    "<": lambda a, b: a < b,
    "<=": lambda a, b: a <= b,
    ">": lambda a, b: a > b,
    ">=": lambda a, b: a >= b,
}


class World:
    """A random graph, and what each set over it is, by rows."""

    def __init__(self, seed):
        nodes, edges = towns.records(seed, KINDS, EDGES, nodes=40, edges=90)
        chance = random.Random(seed)
        self.edges = [
            Edge(edge.source, edge.type, edge.target, properties={"since": chance.randrange(1900, 1910)})
            for edge in edges
        ]
        self.graph = Graph.from_records(nodes, self.edges)
        arrays = self.graph.arrays
        self.rows = range(len(arrays))
        row = {node.id: arrays.row(node.id) for node in nodes}
        self.nodes = {row[node.id]: node for node in nodes}
        self.types = {name: number for number, name in enumerate(arrays.types.nodes)}
        self.beside = defaultdict(list)
        for edge in self.edges:
            kind = 2 * arrays.types.edges.index(edge.type)
            if edge.source != edge.target:
                self.beside[row[edge.source]].append((kind, row[edge.target], edge))
                self.beside[row[edge.target]].append((kind + 1, row[edge.source], edge))

    def around(self, row, hop):
        """Return the nodes that a hop leads to."""
        return {
            other
            for kind, other, edge in self.beside[row]
            if (not hop.kinds or kind in hop.kinds)
            and all(SIGNS[one.comparison](edge.properties[one.property], one.value) for one in hop.where)
        }

    def walks(self, row, hop, least, most, target):
        """Return whether some walk of `least` to `most` hops ends in the target; 0 is any number."""
        ring, step = {row}, 0
        while step <= (most or least + len(self.rows)):
            if step >= least and ring & target:
                return True
            ring = {other for one in ring for other in self.around(one, hop)}
            step += 1
        return False

    def of(self, nodes):  # noqa: C901 (a case for each set)
        """Return the rows of a set."""
        every = set(self.rows)
        match nodes:
            case Every(types=types):
                return {row for row in every if not types or self.types[self.nodes[row].type] in types}
            case Among(rows=rows):
                return set(rows)
            case Has(property=name):
                return {row for row in every if name in self.nodes[row].properties}
            case Compared(property=name, comparison=sign, value=value):
                having = {row: self.nodes[row].properties[name] for row in self.of(Has(name))}
                return {row for row, own in having.items() if SIGNS[sign](own, value)}
            case Both(parts=parts):
                return set.intersection(*map(self.of, parts))
            case Either(parts=parts):
                return set.union(*map(self.of, parts))
            case Without(base=base, part=part):
                return self.of(base) - self.of(part)
            case Leads(hop=hop, target=target, least=least, most=most):
                ends = self.of(target)
                return {row for row in every if self.walks(row, hop, least, most, ends)}
            case Counted(hop=hop, target=target, comparison=sign, number=number):
                ends = self.of(target)
                return {row for row in every if SIGNS[sign](len(self.around(row, hop) & ends), number)}
            case Covering(hop=hop, target=target, within=within):
                ends, around = self.of(target), {row: self.around(row, hop) for row in every}
                wanted = {row: ends if within is None else around[row] & self.of(within) for row in every}
                return {row for row in every if around[row] & ends and len(around[row] & ends) == len(wanted[row])}
        raise AssertionError(nodes)


def drawn(chance, depth):
    """Return a random set."""
    types = frozenset(chance.sample(range(3), chance.choice((0, 1, 1, 2))))
    plain = (
        Every(types),
        Among(tuple(chance.sample(range(40), 3))),
        Has("area"),
        Compared("area", chance.choice(("=", "!=")), chance.choice(("northern", "southern"))),
    )
    if depth == 0:
        return chance.choice(plain)
    one, other = drawn(chance, depth - 1), drawn(chance, depth - 1)
    since = (Compared("since", chance.choice((">=", "<")), 1904.0),) if chance.random() < 0.4 else ()
    hop = Hop(frozenset(chance.sample(range(6), chance.choice((0, 1, 1, 2)))), since)
    least, most = chance.choice(((1, 1), (1, 1), (1, 2), (2, 3), (1, 0), (2, 0), (0, 1), (0, 0)))
    return chance.choice(
        (
            Both((one, other)),
            Either((one, other)),
            Without(one, other),
            Leads(hop, one, least, most),
            Leads(hop, one),
            Counted(hop, one, chance.choice(tuple(SIGNS)), chance.choice((0, 1, 2))),
            Covering(hop, one, Every(types) if chance.random() < 0.5 else None),
        )
    )


@pytest.mark.parametrize("seed", range(12))
def test_sets_are_what_their_definitions_say(seed):
    world, chance = World(seed), random.Random(seed)
    for _ in range(60):
        nodes = drawn(chance, chance.choice((1, 2, 3)))
        sets = QuerySets(QueryStore.of(world.graph), QueryBudget())
        wanted = world.of(nodes)
        assert sets.rows(nodes).tolist() == sorted(wanted), nodes
        some = sorted(chance.sample(world.rows, 5))
        fresh = QuerySets(QueryStore.of(world.graph), QueryBudget())
        kept = fresh.keep(fresh.store.all_of(frozenset())[some], nodes)
        assert kept.tolist() == [row for row in some if row in wanted], nodes
        for row in sorted(wanted)[:3]:
            for near, step in proof_of(sets, row, nodes).steps():
                assert any(kind == step.kind and other == step.row for kind, other, _ in world.beside[near])


@pytest.mark.parametrize("seed", range(4))
def test_lists_and_facets_are_what_the_algebra_gives(seed):
    world, chance = World(seed), random.Random(seed)
    graph, cypher = world.graph, Cypher(world.graph, ArraysEngine)
    sets = QuerySets(QueryStore.of(graph), QueryBudget())
    for _ in range(20):
        names = chance.sample(KINDS, chance.choice((1, 2, 3)))
        sign, area = chance.choice(("=", "!=")), chance.choice(("northern", "southern"))
        kinds = Every(frozenset(map(world.types.__getitem__, names)))
        listed = graph.list(node_types=names, where=[f"area {sign} {area}"], k=40)
        wanted = sets.rows(Both((kinds, Compared("area", sign, area))))
        assert [node.id for node in listed.hits] == [graph.arrays.ids[row] for row in wanted.tolist()]
        asked = cypher.query(f"MATCH (n:{'|'.join(names)}) RETURN n.area, count(*)")
        counts = {value: count for value, count in asked.rows}
        grouped = graph.list(node_types=names, group_by="area", k=40)
        assert {group.value: group.count for group in grouped.groups} == counts
        ids = [graph.arrays.ids[row] for row in sets.rows(kinds).tolist()]
        facets = facets_page(Retriever(graph, "anchor"), nodes=ids)
        shown = next(facet for facet in facets.properties if facet.name == "area")
        assert {group.value: group.count for group in shown.groups} | {None: shown.missing} == {None: 0} | counts
        by_type = cypher.query(f"MATCH (n:{'|'.join(names)}) RETURN labels(n)[0], count(*)")
        assert {group.value: group.count for group in facets.types} == dict(by_type.rows)
