"""Cypher as people write it, over the arrays: forms that the engine before refused, with answers found by hand."""

import pytest

from orienteer.cypher import ArraysEngine, Cypher
from orienteer.errors import BadQuery, UnknownProperty, UnknownType
from orienteer.graph import Graph
from orienteer.records import Edge, Node

NODES = [
    Node("a", "Person", "Anna", properties={"born": 1901, "tags": ["x", "y"]}),
    Node("b", "Person", "Bea", properties={"born": 1903}),
    Node("c", "Person", "Carl"),
    Node("k", "Club", "Kayak", properties={"fee": 2.5}),
]
EDGES = [
    Edge("a", "knows", "b", properties={"since": 1920}),
    Edge("b", "knows", "c", properties={"since": 1930}),
    Edge("c", "knows", "c"),
    Edge("a", "member", "k"),
]


@pytest.fixture(scope="module")
def cypher(scratch):
    return Cypher(Graph.from_records(NODES, EDGES, path=scratch()), ArraysEngine)


@pytest.mark.parametrize(
    ("query", "right"),
    [
        # WHERE may read what its WITH drops: the usual anti-join.
        ("MATCH (p:Person) OPTIONAL MATCH (p)-[r:member]->() WITH p WHERE r IS NULL RETURN count(p)", [2]),
        # Lengths without an end, and none; a loop is an edge, which a walk follows once.
        ("MATCH (a {id: 'a'})-[:knows*]->(x) RETURN x.id ORDER BY x.id", ["b", "c", "c"]),
        ("MATCH (a {id: 'a'})-[:knows*2..]->(x) RETURN x.id", ["c", "c"]),
        ("MATCH (a {id: 'a'})-[:knows*0..1]->(x) RETURN x.id ORDER BY x.id", ["a", "b"]),
        ("MATCH (c {id: 'c'})-[:knows]-(x) RETURN x.id ORDER BY x.id", ["b", "c"]),
        # An edge that is known.
        ("MATCH (a)-[r:member]->(k) MATCH (k)<-[r]-(x) RETURN x.id", ["a"]),
        # Null, and values of several kinds, in lists.
        ("UNWIND [1, null, 'a'] AS x RETURN x", [1, None, "a"]),
        ("RETURN 1 IN [2, null]", [None]),
        ("RETURN null IN []", [False]),
        ("RETURN {k: null} = {k: 1}", [None]),
        # Keys.
        ("MATCH (n {id: 'a'}) RETURN n['bo' + 'rn']", [1901]),
        ("MATCH (n {id: 'a'}) RETURN keys(n)", [["born", "tags"]]),
        ("MATCH (n {id: 'k'}) RETURN properties(n)", [{"fee": 2.5}]),
        ("RETURN {a: 1}.b", [None]),
        ("RETURN {Num: 1}.num", [None]),
        ("MATCH ()-[r:member]->() RETURN startNode(r).name + endNode(r).name", ["AnnaKayak"]),
        # Names from outside in a list's condition.
        ("MATCH (n:Person) WHERE any(y IN [1901, 1902] WHERE y = n.born) RETURN n.id", ["a"]),
        ("MATCH (n {id: 'a'}) RETURN [t IN n.tags | t + n.name]", [["xAnna", "yAnna"]]),
        # Slices from the end, and with places that are not constants.
        ("RETURN [1, 2, 3][-2..]", [[2, 3]]),
        ("RETURN [1, 2, 3][..-1]", [[1, 2]]),
        ("WITH 1 AS i RETURN [1, 2, 3][i..i + 1]", [[2]]),
        ("RETURN [1] + 2", [[1, 2]]),
        # Subqueries.
        ("MATCH (p) WHERE EXISTS { (p)-[:knows]->(q) WHERE EXISTS { (q)-[:knows]->(q) } } RETURN count(p)", [2]),
        ("MATCH (p:Person) WHERE COUNT { (p)-->() } > 1 RETURN p.id", ["a"]),
        ("MATCH (p) WHERE EXISTS { MATCH (p)-[:knows]->(q) WITH q.id AS i WHERE i = 'b' RETURN i } RETURN p.id", ["a"]),
        ("MATCH (k:Club) RETURN [p = (k)<--() | length(p)]", [[1]]),
        # Aggregations.
        ("MATCH (n:Person) RETURN percentileCont(n.born, 0.5)", [1902.0]),
        ("MATCH (n:Person) RETURN percentileDisc(n.born, 0.5)", [1901]),
        ("RETURN reduce(s = 0, x IN [1, 2, 3] | s + x)", [6]),
        ("RETURN 0x1F + 0o17", [46]),
        ("MATCH (n) RETURN sum(n.missed_by_all)", UnknownProperty),
        ("MATCH (n:Nobody) RETURN n", UnknownType),
        ("MATCH (k:Club)-[:knows]->() RETURN k", BadQuery),
        ("RETURN reduce(s = [], x IN [1, 2] | [s, s])", BadQuery),
    ],
)  # fmt: skip
def test_it_is_answered(cypher, query, right):
    if isinstance(right, type):
        with pytest.raises(right):
            cypher.query(query)
    else:
        assert [row[0] for row in cypher.query(query).rows] == right


@pytest.mark.parametrize(
    ("query", "right", "note"),
    [
        ("MATCH (k:Club) OPTIONAL MATCH (k)-[:knows]->(x) RETURN x", [(None,)], "No edge of this graph fits"),
        ("MATCH (k:Club) WHERE NOT EXISTS { (k)-[:owns]->() } RETURN k.id", [("k",)], "No edge type 'owns'"),
        ("MATCH (k:Club) RETURN k.born", [(None,)], "it belongs to Person"),
    ],
)
def test_what_is_not_there_is_null_with_a_note(cypher, query, right, note):
    found = cypher.query(query)
    assert list(found.rows) == right
    assert any(note in told for told in found.notes)


def test_names_that_end_as_they_begin_are_found(scratch):
    names = ["aXa", "a", "Xaa", "aaXaaXa", ""]
    graph = Graph.from_records([Node(str(at), "T", name) for at, name in enumerate(names)], [], path=scratch())
    cypher = Cypher(graph, ArraysEngine)
    for text in ("a", "aa", "aXa", "Xaa"):
        for sign, test in (("CONTAINS", str.__contains__), ("STARTS WITH", str.startswith), ("=", str.__eq__)):
            found = cypher.query(f"MATCH (n) WHERE n.name {sign} $text RETURN n.id ORDER BY n.id", {"text": text})
            assert [row[0] for row in found.rows] == [str(at) for at, name in enumerate(names) if test(name, text)]
