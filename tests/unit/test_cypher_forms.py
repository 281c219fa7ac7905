"""Cypher as people write it, over the arrays: forms that the engine before refused, with answers found by hand."""

import random

import pytest

from orienteer.cypher import ArraysEngine, Cypher
from orienteer.errors import BadQuery, UnknownProperty, UnknownType
from orienteer.graph import Graph
from orienteer.ingest import demo_records
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


def test_a_subquery_makes_its_rows_for_each_row_outside(scratch):
    """COLLECT, COUNT, EXISTS and CALL page and gather the rows of each row outside, as a loop over the records does."""
    nodes, edges = demo_records()
    cypher = Cypher(Graph.from_records(nodes, edges, path=scratch()), ArraysEngine)
    named = {node.id: node for node in nodes}
    made = {node.id: [] for node in nodes if node.type == "person"}
    for edge in edges:
        if edge.type == "designed_by":
            made[edge.target].append(named[edge.source].name)
    pattern = "MATCH (l:language)-[:designed_by]->(p)"
    for skip, limit in ((0, 1), (1, 1), (1, 5), (0, 0)):
        page = f"ORDER BY l.name SKIP {skip} LIMIT {limit}"
        right = {one: sorted(names)[skip : skip + limit] for one, names in made.items()}
        rows = [(one, name) for one, names in right.items() for name in names]
        called = f"MATCH (p:person) CALL {{ WITH p {pattern} RETURN l.name AS name {page} }} RETURN p.id, name"
        assert sorted(cypher.query(called, limit=None).rows) == sorted(rows)
        newer = called.replace("{ WITH p", "(p) {")
        assert cypher.query(newer, limit=None).rows == cypher.query(called, limit=None).rows
        collected = f"MATCH (p:person) RETURN p.id, COLLECT {{ {pattern} RETURN l.name {page} }}"
        assert dict(cypher.query(collected, limit=None).rows) == right
        counted = f"MATCH (p:person) RETURN p.id, COUNT {{ {pattern} RETURN l.name {page} }}"
        assert dict(cypher.query(counted, limit=None).rows) == {one: len(names) for one, names in right.items()}
        there = f"MATCH (p:person) WHERE EXISTS {{ {pattern} RETURN l.name {page} }} RETURN p.id"
        assert {row[0] for row in cypher.query(there, limit=None).rows} == {
            one for one, names in right.items() if names
        }
    grouped = (
        f"MATCH (p:person) CALL {{ WITH p {pattern} RETURN count(l) AS k, max(l.name) AS top }} RETURN p.id, k, top"
    )
    right = {(one, len(names), max(names, default=None)) for one, names in made.items()}
    assert set(cypher.query(grouped, limit=None).rows) == right
    united = (
        "CALL { MATCH (p:person) RETURN p.type AS x UNION MATCH (l:language) RETURN 'language' AS x } RETURN count(*)"
    )
    assert cypher.query(united.replace("p.type", "'person'")).rows == ((2,),)
    for fault in ("CALL { RETURN a AS b } RETURN b", "CALL { WITH a RETURN a } RETURN a", "RETURN a LIMIT a"):
        with pytest.raises(BadQuery):
            cypher.query(f"UNWIND [1] AS a {fault}")
    assert cypher.query("UNWIND [1, 2, 3] AS a RETURN a SKIP 2 - $one LIMIT toInteger(1.9)", {"one": 1}).rows == ((2,),)


@pytest.mark.parametrize("seed", range(3))
def test_pages_of_many_rows_outside_hold_across_batches(cypher, seed):
    """More than one batch of rows, whose pages are counted from batch to batch."""
    rng = random.Random(seed)
    sizes = [rng.randrange(900) for _ in range(400)]
    query = "UNWIND range(0, size($n) - 1) AS a CALL { WITH a UNWIND range(1, $n[a]) AS x WITH x SKIP 5 LIMIT 700 "
    found = cypher.query(query + "RETURN count(*) AS k, sum(x) AS s } RETURN k, s", {"n": sizes}, limit=None).rows
    pages = [range(1, size + 1)[5:705] for size in sizes]
    assert list(found) == [(len(page), sum(page)) for page in pages]
