"""Cypher over a graph: names, values, what is refused, and the processes that answer."""

import gc
import json
import os
import re
import signal
import sys
import threading
import time
from contextlib import ExitStack, suppress
from pathlib import Path

import numpy as np
import pytest

from fakes.inside import inside
from mutations import mutate, rewrite
from orienteer.cypher import ConfinedEngine, Cypher, CypherStatement, QueryTable, TableBounds
from orienteer.errors import BadOption, BadQuery, Error, QueryStopped, UnknownProperty, UnknownType
from orienteer.graph import EdgeBatch, Graph, GraphBuilder
from orienteer.records import Edge, Node

pytestmark = pytest.mark.process

CORPUS = Path(__file__).parents[1] / "cypher"
LONG = "a text that is longer than twelve characters"
NODES = [
    Node(
        "g1",
        "Gene",
        LONG + " 1",
        properties={"Year": 1990, "year": "old", "tags": ["x", LONG], "score": 1, "id": "own"},
    ),
    Node("g2", "Gene", LONG + " 2", properties={"Year": 2000, "tags": [], "score": 0.5, "ok": True, "blob": "x" * 201}),
    Node("g3", "Gene", "C", properties={"Year": 2010, "mixed": 1, "nested": {"a": 1}, "big": 2**70, "ok": False}),
    Node("l1", "gene", "lower", properties={"mixed": "one", "order": "first"}),
    Node("s1", "side effect/harm", "Fever", properties={"order": "second", "Name": "a property"}),
    Node("o1", "Order", "Order", "a text of its own"),
    Node("t1", "tick`type", "Tick"),
]
EDGES = [
    Edge("g1", "CbG", "s1", properties={"p": 0.5, "note": "x" * 300}),
    Edge("g1", "CbG", "s1", properties={"p": 0.25}),
    Edge("g2", "CbG", "s1"),
    Edge("g1", "gene", "l1", weight=2.5),
    Edge("g2", "gene", "l1"),
    Edge("g1", "GENE", "g2"),
    Edge("g2", "interacts", "g3"),
    Edge("g3", "interacts", "g1"),
    Edge("g1", "match", "o1"),
    Edge("o1", "match", "t1"),
    Edge("g1", "interacts", "g1"),
]


@pytest.fixture(scope="module")
def graph(scratch):
    path = scratch()
    with GraphBuilder(path) as builder:
        for node in NODES:
            builder.add_node(node)
        builder.add_edges(
            EdgeBatch(
                [e.source for e in EDGES], [e.type for e in EDGES], [e.target for e in EDGES], [e.extras for e in EDGES]
            )
        )
        builder.edges.symmetric.add("interacts")
        builder.publish(labels={"CbG": "causes", "s1": "x"}, also_called={"side effect/harm": ("Adverse event",)})
    return Graph.open(path)


def rows(graph, query, **parameters):
    return list(Cypher(graph).query(query, parameters).rows)


# -------------------------------------------------------------------------------------------------------------- names


@pytest.mark.parametrize(
    ("query", "right"),
    [
        ("MATCH (n:Gene) RETURN n.id", ["g1", "g2", "g3"]),
        ("MATCH (n:gene) RETURN n.id", ["l1"]),
        ("MATCH (n:`side effect/harm`) RETURN n.id", ["s1"]),
        ("MATCH (n:SideEffectHarm) RETURN n.id", ["s1"]),
        ("MATCH (n:ADVERSE_EVENT) RETURN n.id", ["s1"]),
        ("MATCH (n:`tick``type`) RETURN n.id", ["t1"]),
        ("MATCH (n:Order|`tick``type`) RETURN n.id", ["o1", "t1"]),
        ("MATCH (n) WHERE n:Order OR n:gene RETURN n.id", ["l1", "o1"]),
        ("MATCH (n) WHERE 'gene' IN labels(n) RETURN n.id", ["l1"]),
        ("MATCH (n) WHERE labels(n)[0] = 'adverse event' RETURN n.id", ["s1"]),
        ("MATCH (n) WHERE labels(n) = ['Order'] RETURN n.id", ["o1"]),
        ("MATCH (n) WHERE labels(n) = ['Order', 'gene'] RETURN n.id", []),  # a node has one label
        ("MATCH (n:Order) WHERE labels(n) <> ['Order', 'gene'] RETURN n.id", ["o1"]),
        ("MATCH (a)-[:gene]->(b) RETURN a.id", ["g1", "g2"]),
        ("MATCH (a)-[:GENE]->(b) RETURN a.id", ["g1"]),
        ("MATCH (a)-[:CbG]->(b) RETURN DISTINCT a.id", ["g1", "g2"]),
        ("MATCH (a)-[:causes]->(b) RETURN DISTINCT a.id", ["g1", "g2"]),
        ("MATCH (a)-[:CAUSES]->(b) RETURN DISTINCT a.id", ["g1", "g2"]),
        ("MATCH (a)-[:GENE_CAUSES_SIDE_EFFECT_HARM]->(b) RETURN DISTINCT a.id", ["g1", "g2"]),
        ("MATCH (a)-[:GENE_CAUSES_ADVERSE_EVENT]->(b) RETURN DISTINCT a.id", ["g1", "g2"]),
        ("MATCH (a)-[:GENE_MATCH_ORDER]-(b) RETURN a.id", ["g1", "o1"]),
        ("MATCH (a)-[r]->(b) WHERE type(r) = 'causes' RETURN DISTINCT a.id", ["g1", "g2"]),
        ("MATCH (a)-[r]->(b) WHERE type(r) <> 'CAUSES' AND b:gene RETURN DISTINCT a.id", ["g1", "g2"]),
        ("MATCH (a)-[r]->(b) WHERE type(r) IN ['match', 'GENE'] RETURN DISTINCT a.id", ["g1", "o1"]),
        ("MATCH (n:Gene) WHERE n.Year < 2000 RETURN n.id", ["g1"]),
        ("MATCH (n:Gene) WHERE n.year = 'old' RETURN n.id", ["g1"]),
        ("MATCH (n) WHERE n.order = 'second' RETURN n.id", ["s1"]),
        ("MATCH (n {id: 'g1'}) RETURN n.ID", ["g1"]),
        ("MATCH (n {id: 's1'}) RETURN n.Name", ["a property"]),
        ("MATCH (n {id: 's1'}) RETURN n.name", ["Fever"]),
        ("MATCH (n {id: 's1'}) RETURN n.NAME", ["Fever"]),
    ],
)
def test_types_and_properties_by_any_of_their_names(graph, query, right):
    assert sorted(row[0] for row in rows(graph, query)) == right


def test_types_come_back_as_the_graph_spells_them(graph):
    assert sorted(rows(graph, "MATCH (n) RETURN DISTINCT labels(n)[0]")) == sorted(
        (one,) for one in graph.schema.node_types
    )
    assert sorted(rows(graph, "MATCH ()-[r]->() RETURN DISTINCT type(r)")) == sorted(
        (one,) for one in graph.schema.edge_types
    )
    (node,) = rows(graph, "MATCH (n:Order) RETURN n")[0]
    assert node == {"id": "o1", "type": "Order", "name": "Order", "properties": {}}


@pytest.mark.parametrize(
    ("query", "error", "said"),
    [
        ("MATCH (n:Gena) RETURN n", UnknownType, "Near: Gene"),
        ("MATCH (a)-[:cause]->(b) RETURN a", UnknownType, "Near: causes"),
        ("MATCH (a)-[r]->(b) WHERE type(r) = 'nothing like it' RETURN a", UnknownType, "In this graph"),
        ("MATCH (n:Gene) RETURN n.scor", UnknownProperty, "Near: score"),
        ("MATCH (n) RETURN n.text", UnknownProperty, "search"),
        ("MATCH (n)-[:match]->(:gene) RETURN n", BadQuery, "Gene -match-> Order"),
        ("MATCH (n) RETURN m", BadQuery, "Known here: n"),
        ("MATCH (n) RETURN n.name LIMIT $k", BadQuery, "$k was not given"),
    ],
)
def test_errors_name_what_is_near_and_what_to_do(graph, query, error, said):
    with pytest.raises(error) as caught:
        Cypher(graph).query(query)
    assert said in str(caught.value)


ODD = "MATCH (n:`tick``type`)"


@pytest.mark.parametrize(
    ("query", "right"),
    [
        ("MATCH (n:Order) RETURN n.score", [(None,)]),
        ("MATCH (n) WHERE n.blob IS NOT NULL RETURN n.blob", [("x" * 201,)]),
        ("MATCH (n) WHERE n.mixed IS NOT NULL RETURN n.mixed ORDER BY n.id", [(1,), ("one",)]),
        ("MATCH (n) WHERE n.nested IS NOT NULL RETURN n.nested, n.nested.a", [({"a": 1}, 1)]),
        ("MATCH (n) WHERE n.big IS NOT NULL RETURN n.big", [(2**70,)]),
        ("MATCH ()-[r:CbG]->() WHERE r.note IS NOT NULL RETURN r.note", [("x" * 300,)]),
        ("MATCH (n:Order) WHERE NOT (n)-[:gene]->() RETURN n.id", [("o1",)]),
        ("MATCH (n:Order) OPTIONAL MATCH (n)-[:gene]->(m) RETURN m", [(None,)]),
        ("MATCH (n:Order) RETURN [(n)-[:gene]->(m) | m.id]", [([],)]),
        ("MATCH (n) WHERE 'C' IN [(n)--(m) | m.name] RETURN n.id ORDER BY n.id", [("g1",), ("g2",)]),
        (f"{ODD} RETURN [(n)--(m) | size([(m)--(k) | k.name])]", [([2],)]),
        (f"{ODD} WITH n, [1, 2] AS l RETURN [x IN l | [(n)--(m) | m.id]]", [([["o1"], ["o1"]],)]),
        ("RETURN [(a:Gene)-[:gene]->(b) | b.id]", [(["l1", "l1"],)]),
        (f"{ODD} RETURN [(n)-[*1..2]-(m) | 1]", [([1, 1],)]),
        (f"{ODD} RETURN [(n)--(m) | null]", [([None],)]),
        ("MATCH (n:Gene) RETURN CASE WHEN n.ok THEN 1 ELSE 'a' END ORDER BY n.id", [("a",), (1,), ("a",)]),
        ("RETURN [1, 'a'], [1, null], type(null), labels(null)", [([1, "a"], [1, None], None, None)]),
        ("RETURN id(null), nodes(null), rels(null), properties(null)", [(None,) * 4]),
        ("MATCH (n:Gene) RETURN toString(n.score) ORDER BY n.id", [("1",), ("0.5",), (None,)]),
        ("MATCH (n:Order)--(m) WITH n, collect(m) AS l RETURN size([m IN l WHERE m.name <> n.name])", [(2,)]),
        ("MATCH (n:Order)--(m) WITH collect(m) AS l RETURN any(m IN l WHERE toLower(m.name) = 'tick')", [(True,)]),
        (f"{ODD}--(m) WITH n, collect(m) AS l RETURN [m IN l | m.name + n.name]", [(["OrderTick"],)]),
        ("MATCH (:Gene) OPTIONAL MATCH (b:Order) RETURN b.id", [("o1",)] * 3),
        ("MATCH p = shortestPath((a {id: 'g1'})-[*..3]-(b {id: 't1'})) RETURN length(p)", [(2,)]),
    ],
)
def test_values_of_several_kinds_and_patterns_anywhere(graph, query, right):
    assert rows(graph, query) == right


def test_patterns_in_brackets_are_lists(graph):
    """A row that is there twice stays so; an item may be null; a loop is an edge."""
    found = Cypher(graph).query(
        "MATCH (g:Gene)--() RETURN g.id, [(g)-[:CbG]->(s) | s.id] AS s, [(g)-[:gene]->(l) | 1] AS ones, "
        "[(g)-[:interacts]-(o) WHERE o.Year < 2005 | o.year] AS years, size([(g)--(x) | x.year]) AS k ORDER BY g.id"
    )
    g1, g2 = ("g1", ["s1", "s1"], [1], ["old"], 7), ("g2", ["s1"], [1], [], 4)
    assert found.rows[:11] == (g1,) * 7 + (g2,) * 4
    # g3 interacts with g1, and with g2, which has no `year`.
    assert [(*row[:3], sorted(row[3], key=str), row[4]) for row in found.rows[11:]] == [
        ("g3", [], [], [None, "old"], 2)
    ] * 2
    assert found.notes == ()


def test_what_is_held_in_part_is_told_where_a_query_names_it(scratch):
    """Counts over such types are silently wrong otherwise."""
    with GraphBuilder(path := scratch()) as builder:
        for node in NODES:
            builder.add_node(node)
        builder.add_edges(EdgeBatch([e.source for e in EDGES], [e.type for e in EDGES], [e.target for e in EDGES]))
        builder.publish(partial=["gene", "Order"], labels={"gene": "belongs to"})
    cypher = Cypher(Graph.open(path))
    assert cypher.query("MATCH (:Gene)-[:gene]->(b) RETURN count(b)").notes == (
        "belongs to is incomplete here: a count of it is too low",
    )
    assert cypher.query("MATCH (n:Order) RETURN count(n)").notes == (
        "Order is incomplete here: a count of it is too low",
    )
    assert cypher.query("MATCH (:Gene)-[:GENE]->(b) RETURN count(b)").notes == ()


def test_every_property_can_be_read(graph):
    catalog = Cypher(graph).names.catalog
    assert set(catalog.node_columns) == {
        "Year", "year", "tags", "score", "ok", "order", "Name", "mixed", "nested", "big", "blob"
    }  # fmt: skip
    assert rows(graph, "MATCH (n:Gene) RETURN n.Year, n.year, n.tags, n.score, n.ok ORDER BY n.id") == [
        (1990, "old", ["x", LONG], 1.0, None),
        (2000, None, [], 0.5, True),
        (2010, None, None, None, False),
    ]


def test_parallel_edges_their_properties_and_weights(graph):
    assert sorted(rows(graph, "MATCH (a {id: 'g1'})-[r:causes]->(b) RETURN r.p")) == [(0.25,), (0.5,)]
    assert rows(graph, "MATCH ()-[r:CbG]->() WHERE r.p IS NULL RETURN count(r)") == [(1,)]
    assert rows(graph, "MATCH (a)-[r:gene]->() RETURN a.id, r.weight ORDER BY a.id") == [("g1", 2.5), ("g2", 1.0)]
    assert rows(graph, "MATCH (a)-[r:CbG {p: 0.5}]->() RETURN r") == [
        ({"source": "g1", "type": "CbG", "target": "s1", "properties": {"p": 0.5, "note": "x" * 300}},)
    ]


def test_an_edge_keeps_its_direction_whichever_way_it_is_walked(graph):
    right = {"source": "g1", "type": "match", "target": "o1"}
    for query in (
        "MATCH (a:Gene)-[r:match]->(b)",
        "MATCH (b)<-[r:match]-(a:Gene)",
        "MATCH (b:Order)-[r:match]-(a:Gene)",
    ):
        assert rows(graph, f"{query} RETURN r") == [(right,)]
    (path,) = rows(graph, "MATCH p = (a:`tick``type`)-[:match*2]-(b) RETURN p")[0]
    assert [node["id"] for node in path["nodes"]] == ["t1", "o1", "g1"]
    assert path["edges"] == [{"source": "o1", "type": "match", "target": "t1"}, right]


def test_symmetric_edges_have_no_arrow_and_a_loop_is_one_edge(graph):
    for pattern in (
        "(a {id: 'g3'})-[:interacts]->(b)",
        "(a {id: 'g3'})<-[:interacts]-(b)",
        "(a {id: 'g3'})-[:interacts]-(b)",
    ):
        found = Cypher(graph).query(f"MATCH {pattern} RETURN b.id ORDER BY b.id")
        assert list(found.rows) == [("g1",), ("g2",)]
        assert any("arrow" in note for note in found.notes) == ("]-(b)" not in pattern or "<-" in pattern)
    for pattern in ("-[:interacts]->", "<-[:interacts]-", "-[:interacts]-"):
        assert rows(graph, f"MATCH (a){pattern}(a) RETURN a.id") == [("g1",)]


@pytest.mark.parametrize(
    ("pattern", "is_concerned"),
    [
        ("(a:Gene)-[r]->(b:`side effect/harm`)", False),
        ("(a:Order)<-[r]-(b)", False),
        ("(b:`tick``type`)<-[:match|interacts]-(a)", False),
        ("(a:Gene)-[r]->(b:Gene)", True),
        ("(a)-[r]->(b)", True),
        ("(a:Order)-[r*1..2]->(b)", True),
    ],
)
def test_a_note_on_edges_without_direction_is_for_patterns_that_they_can_stand_in(graph, pattern, is_concerned):
    found = Cypher(graph).query(f"MATCH {pattern} RETURN a.id, b.id")
    assert any("interacts has no direction" in note for note in found.notes) == is_concerned


def test_a_graph_that_was_replaced_meanwhile_still_answers_for_itself(scratch):
    path = scratch()
    old = Graph.from_records([Node("a", "T", "old")], (), path=path)
    assert rows(old, "MATCH (n) RETURN n.name") == [("old",)]
    new = Graph.from_records([Node("a", "T", "new")], (), path=path, force=True)
    Cypher(old).close()  # its next worker finds another graph
    assert rows(old, "MATCH (n) RETURN n.name") == [("old",)]
    assert rows(new, "MATCH (n) RETURN n.name") == [("new",)]


def test_a_graph_without_edges_and_one_without_nodes(build):
    lone = build([Node("a", "T", "A")])
    assert rows(lone, "MATCH (n) RETURN n.name") == [("A",)]
    with pytest.raises(BadQuery, match="No edge"):
        Cypher(lone).query("MATCH (a)--(b) RETURN a")


def first(graph):
    """Return the worker that runs first."""
    return next(process._worker for process in Cypher(graph).engine._turns.processes if process._worker is not None)


class Recording:
    """An engine that answers everything with nothing, and keeps what it was given."""

    def __init__(self, graph):
        self.names = None
        self.given = []
        self.is_closed = False

    def answer(self, statement, parameters, bounds):
        self.given.append((statement, parameters, bounds))
        return QueryTable(columns=("n",), rows=(), total=0, truncated=False)

    def close(self):
        self.is_closed = True


def test_another_engine_fills_the_seam_behind_the_same_guard(graph):
    session = Cypher(graph, Recording)
    found = session.query("MATCH (n) WHERE n.id = $id RETURN n", {"id": "a"}, limit=7, seconds=2)
    assert (found.columns, found.total) == (("n",), 0)
    [(statement, parameters, bounds)] = session.engine.given
    assert isinstance(statement, CypherStatement)
    assert statement.parameters == {"id"}
    assert (parameters, bounds) == ({"id": "a"}, TableBounds(rows=7, characters=400_000, seconds=2))
    for line in (CORPUS / "hostile.jsonl").read_text().splitlines():
        case = json.loads(line)
        if case["kind"] == "write":
            with pytest.raises(BadQuery):
                session.query(case["query"])
    for wrong in ({"limit": -1}, {"seconds": 0}):
        with pytest.raises(BadOption):
            session.query("RETURN 1", **wrong)
    assert len(session.engine.given) == 1
    session.close()
    assert session.engine.is_closed


# --------------------------------------------------------------------------------- what the engine alone gets wrong


@pytest.mark.parametrize(
    ("query", "right"),
    [
        ("WITH [1, 2, 3] AS l RETURN l[0], l[2], l[-1], l[3], l[-4]", (1, 3, 3, None, None)),
        (
            "WITH [1, 2, 3] AS l RETURN l[0..2], l[1..], l[..1], l[2..9], l[0..0], l[3..]",
            ([1, 2], [2, 3], [1], [3], [], []),
        ),
        (
            "RETURN substring('abcdef', 0, 2), substring('abcdef', 2), left('abc', 2), right('abc', 2)",
            ("ab", "cdef", "ab", "bc"),
        ),
        ("RETURN head([]), last([1, 2]), tail([1, 2, 3]), size([]), head(['a'])", (None, 2, [2, 3], 0, "a")),
        (
            "RETURN toInteger('4'), toInteger('4.7'), toInteger('x'), toInteger(-4.7), toFloat('1e2'), toFloat('x')",
            (4, 4, None, -4, 100.0, None),
        ),
        (
            "RETURN 7 / 2, 7 / 2.0, -7 % 3, 2 ^ 3, round(2.5), round(-2.5), round(2.567, 1)",
            (3, 3.5, -1, 8.0, 3.0, -2.0, 2.6),
        ),
        ("RETURN log(1.0), sqrt(4), abs(-3), sign(-2.5), ceil(2.1), floor(-2.1)", (0.0, 2.0, 3, -1, 3.0, -3.0)),
        ("RETURN toString(true), toString(12), 'a' + 1, 1 + 'a'", ("true", "12", "a1", "1a")),
        (
            "RETURN null = null, null <> 1, NOT null, null AND false, null OR true, null + 1, size(null)",
            (None, None, None, False, True, None, None),
        ),
        ("RETURN 1 < 2 < 3, 3 > 2 > 2", (True, False)),
        (
            "RETURN date('2020-03-01').year, date('2020-03-01').month, date('2020-03-01') < date('2021-01-01')",
            (2020, 3, True),
        ),
        (
            "RETURN [x IN [1, 2, 3] WHERE x > 1 | x * 2], all(x IN [1] WHERE x = 1), none(x IN [] WHERE x = 1)",
            ([4, 6], True, True),
        ),
        (
            "RETURN 'a' IN ['a', 'b'], 'a' IN [], any(x IN ['a', 'b'] WHERE x = 'b'), single(x IN [1, 1] WHERE x = 1)",
            (True, False, True, False),
        ),
        (
            "RETURN split('a,b', ','), reverse('abc'), reverse([1, 2]), trim('  a '), replace('aXb', 'X', '-')",
            (["a", "b"], "cba", [2, 1], "a", "a-b"),
        ),
        (
            "RETURN CASE 2 WHEN 1 THEN 'a' WHEN 2 THEN 'b' END, CASE WHEN false THEN 1 END, coalesce(null, null, 3)",
            ("b", None, 3),
        ),
        (
            "RETURN isEmpty([]), isEmpty('a'), toBoolean('TRUE'), range(1, 3), range(3, 1, -1), range(3, 1)",
            (True, False, True, [1, 2, 3], [3, 2, 1], []),
        ),
        ("UNWIND [] AS x RETURN count(x), sum(x), collect(x)", (0, 0, [])),
        ("MATCH (n:Gene) RETURN sum(n.Year), sum(n.Year) / 3, avg(n.Year), sum(n.score)", (6000, 2000, 2000.0, 1.5)),
        (
            "MATCH (n:Gene) WHERE n.Year > 3000 RETURN sum(n.Year), avg(n.Year), min(n.name), collect(n.id)",
            (0, None, None, []),
        ),
    ],
)
def test_values_are_cyphers(graph, query, right):
    (found,) = rows(graph, query)
    assert found == right
    assert list(map(type, found)) == list(map(type, right))


@pytest.mark.parametrize(
    ("query", "advice"),
    [
        ("MATCH (n) WHERE n.Year = '1990' RETURN n", "without quotes"),
        ("MATCH (n) WHERE n.name = 5 RETURN n", "'5'"),
        ("MATCH (n {name: 5}) RETURN n", "'5'"),
        ("MATCH (n) WHERE n.name IN [1, 2] RETURN n", "compares a text with a number"),
        ("MATCH (n) WHERE n.tags = 'x' RETURN n", "'x' IN list"),
        ("MATCH (n) WHERE n.tags CONTAINS 'x' RETURN n", "IN list"),
        ("MATCH (n) WHERE n.year > date('2000-01-01') RETURN n", "date()"),
        ("MATCH (n) WHERE n = 'g1' RETURN n", ".id"),
        ("MATCH (a), (b) WHERE a < b RETURN a", "a.id < b.id"),
        ("MATCH (n) WHERE n.name RETURN n", "is not a condition"),
        ("MATCH (n) RETURN n.name ORDER BY count(*)", "ORDER BY k"),
        ("MATCH (n) WHERE n.name =~ '(?!x).*' RETURN n", "regular expression"),
        ("MATCH (n) WHERE n.name =~ '(' RETURN n", "not a regular expression"),
        ("MATCH (n) WHERE n.name =~ 'a{2000}' RETURN n", "1000 are allowed"),
        ("MATCH (n) WHERE count(n) > 1 RETURN n", "WITH a, count(b)"),
        ("MATCH (n) RETURN sum(count(n))", "only in WITH and RETURN"),
        ("MATCH (a)-[r]->(b)-[r]->(c) RETURN a", "used twice"),
        ("MATCH (n)-[r]-(m) RETURN id(n) = 1", "compares a text with a number"),
        ("MATCH (n) RETURN n ORDER BY n", "name a property"),
        ("MATCH (n) RETURN nodes(n)", "a path of a pattern"),
        ("MATCH (n) WHERE head() = 'Gene' RETURN n", "head() takes 1 argument"),
        ("MATCH (n) WHERE labels(n)[0] = ['Gene'] RETURN n", "compares a node type with a list"),
        ("MATCH (n) WHERE labels(n) IN ['Gene'] RETURN n", "never true: write item IN list"),
        ("MATCH ()-[r]->() WHERE type(r) IN 'CbG' RETURN r", "IN takes a list"),
    ],
)
def test_what_would_be_answered_wrongly_is_refused_with_the_form_to_use(graph, query, advice):
    with pytest.raises(BadQuery) as caught:
        Cypher(graph).query(query)
    assert advice in str(caught.value)


def test_variables_are_told_apart_by_case(graph):
    assert rows(graph, "MATCH (N {id: 'g1'}), (n {id: 'g2'}) RETURN N.id, n.id") == [("g1", "g2")]


@pytest.mark.parametrize(
    ("expression", "right"),
    [
        ("count(n) > 5 AND false", False),
        ("NOT (count(n) > 5 OR 1 = 1)", False),
        ("CASE WHEN true THEN 1 ELSE count(n) END", 1),
        ("count(n) + null", None),
        ("{a: count(n)}.b", None),
        ("count(n) IN []", False),
        ("count(n) + size(collect(n.id))", 6),
    ],
)
def test_what_is_known_beforehand_leaves_an_aggregation_one_row(graph, expression, right):
    """The engine drops a count() from what it can reckon without: there was a row for each node."""
    assert rows(graph, f"MATCH (n:Gene) RETURN {expression} AS x") == [(right,)]
    assert rows(graph, f"MATCH (n:Gene) WITH n.ok IS NULL AS k, {expression} AS x RETURN count(*), count(k)") == [
        (2, 2)
    ]


def test_a_node_without_a_name_is_no_variable(graph):
    for text in ("MATCH (a:Gene)-[:match]->() RETURN *", "MATCH (a:Gene)-[:match]->() WITH * RETURN *"):
        found = Cypher(graph).query(text)
        assert found.columns == ("a",)
        assert [row[0]["id"] for row in found.rows] == ["g1"]
    assert rows(graph, "MATCH (g:Gene)-[:gene]->() WITH DISTINCT * RETURN g.id ORDER BY g.id") == [("g1",), ("g2",)]
    with pytest.raises(BadQuery, match="is empty here"):
        Cypher(graph).query("MATCH (:Gene) RETURN *")
    with pytest.raises(BadQuery, match="Known here: none"):
        Cypher(graph).query("MATCH (:Gene)-->() RETURN v0.id")


def test_no_variable_is_taken_for_a_node_in_a_list_of_patterns(graph):
    name = "node 0'"
    pattern = f"MATCH (`{name}`:Gene {{id: 'g1'}})-[:gene]->(l)"
    made = f"{pattern} RETURN `{name}`.id, [()-[:gene]->(l) | 1] AS into, [(`{name}`)-[:gene]-(l) | l.id] AS ends"
    assert rows(graph, made) == [("g1", [1, 1], ["l1"])]
    with pytest.raises(BadQuery, match=r"Known here: l, into\."):
        Cypher(graph).query("MATCH ()-[:gene]->(l) RETURN [()-[:gene]->(l) | 1] AS into ORDER BY size(`list 1`)")


def test_order_lasts_until_it_is_used(graph):
    ordered = "MATCH (n:Gene) WITH n ORDER BY n.Year DESC"
    assert rows(graph, f"{ordered} RETURN collect(n.id)") == [(["g3", "g2", "g1"],)]
    assert rows(graph, f"{ordered} LIMIT 2 RETURN collect(n.id)") == [(["g3", "g2"],)]
    assert rows(graph, f"{ordered} LIMIT 1 RETURN max(n.Year)") == [(2010,)]
    assert rows(graph, f"{ordered} SKIP 1 MATCH (n)-[:gene]->(l) RETURN n.id") == [("g2",), ("g1",)]
    assert rows(graph, f"{ordered} LIMIT 2 WHERE n.Year < 2005 RETURN count(n)") == [(1,)]


def test_many_rows_keep_their_order_in_a_list(build):
    chance = np.random.default_rng(4)
    nodes = [
        Node(f"n{at:04}", "T", f"{LONG} {chance.integers(10**6):06}", properties={"y": at % 7}) for at in range(3_000)
    ]
    graph = build(nodes)
    right = [node.id for node in sorted(nodes, key=lambda node: (node.name, node.id))]
    assert rows(graph, "MATCH (n) WITH n.name AS k, n.id AS i ORDER BY k, i RETURN collect(i)")[0][0] == right
    found = dict(
        rows(
            graph, "MATCH (n) WITH n ORDER BY n.name DESC, n.id DESC WITH n.y AS y, collect(n.id) AS ids RETURN y, ids"
        )
    )
    assert found == {y: [one for one in right[::-1] if int(one[1:]) % 7 == y] for y in range(7)}
    top = rows(graph, "MATCH (n) WITH n ORDER BY n.name DESC, n.id DESC LIMIT 5 RETURN collect(n.id), count(*)")
    assert top == [(right[-5:][::-1], 5)]


# ------------------------------------------------------------------------------------------------- tables, parameters


def test_a_table_says_how_much_there_is(graph):
    found = Cypher(graph).query("MATCH (n) RETURN n.id ORDER BY n.id", limit=2)
    assert (found.columns, list(found.rows), found.total, found.truncated) == (("n.id",), [("g1",), ("g2",)], 7, True)
    assert not Cypher(graph).query("MATCH (n) RETURN n.id", limit=7).truncated
    assert Cypher(graph).query("MATCH (n) RETURN n.id", limit=0).total == 7
    with pytest.raises(BadOption, match="limit"):
        Cypher(graph).query("RETURN 1", limit=-1)
    with pytest.raises(BadOption, match="seconds"):
        Cypher(graph).query("RETURN 1", seconds=0)


def test_characters_are_bounded(graph, monkeypatch):
    monkeypatch.setattr(inside(Cypher), "MOST_CHARACTERS", 15)
    found = Cypher(graph).query("MATCH (n) RETURN n.id")
    assert (len(found.rows), found.total, found.truncated) == (2, 7, True)


def test_parameters_are_values_and_never_text_of_the_query(graph):
    evil = "' OR true RETURN n; CHECKPOINT //"
    assert rows(graph, "MATCH (n) WHERE n.name = $name RETURN n", name=evil) == []
    assert rows(graph, f"RETURN '{evil[1:]}' AS a") == [(evil[1:],)]
    assert rows(graph, "RETURN $a, $b, $c, $d, $e, $f", a=1, b=2.5, c=True, d="x", e=["x", "y"], f=[]) == [
        (1, 2.5, True, "x", ["x", "y"], [])
    ]
    assert rows(graph, "RETURN $a IS NULL, coalesce($a, 1), coalesce($a, 'x')", a=None) == [(True, 1, "x")]
    assert rows(
        graph,
        "MATCH (n) WHERE n.id IN $ids RETURN n.id ORDER BY n.id SKIP $s LIMIT $k",
        ids=["g1", "s1", "zz"],
        s=1,
        k=1,
    ) == [("s1",)]
    for value in ({"a": 1}, [1, "a"], [None], [[1]]):
        assert rows(graph, "RETURN $p", p=value) == [(value,)]
    for value in (float("nan"), 2**64, "a\0", [float("inf")], {"a": [2**64]}):
        with pytest.raises(BadQuery, match=r"\$p|the parameter"):
            Cypher(graph).query("RETURN $p", {"p": value})


# ------------------------------------------------------------------------------------------------------------ process


@pytest.mark.parametrize(
    "line",
    [json.loads(one) for one in (CORPUS / "hostile.jsonl").read_text().splitlines()],
    ids=lambda line: line["id"],
)
def test_every_hostile_statement_is_refused_or_stopped(demo, line, tmp_path):
    before = contents(demo.path)
    with pytest.raises((BadQuery, UnknownType, QueryStopped)):
        Cypher(demo).query(line["query"].replace("{folder}", str(tmp_path)), line.get("parameters"), seconds=0.3)
    assert rows(demo, "MATCH (n:language {name: 'C'}) RETURN count(n)") == [(1,)]
    assert not list(tmp_path.iterdir())
    assert contents(demo.path) == before


def contents(folder):
    """Return all files below a folder, byte for byte."""
    return {str(file.relative_to(folder)): file.read_bytes() for file in folder.rglob("*") if file.is_file()}


@pytest.fixture(scope="module")
def demo(scratch):
    from orienteer.ingest import demo_records

    return Graph.from_records(*demo_records(), path=scratch())


def test_a_dead_worker_is_started_again(demo):
    assert rows(demo, "RETURN 1") == [(1,)]
    worker = first(demo)
    os.kill(worker.popen.pid, signal.SIGKILL)
    with suppress(QueryStopped):  # the request may meet its end
        rows(demo, "RETURN 1")
    assert rows(demo, "RETURN 1") == [(1,)]
    assert not worker.is_running


def test_a_worker_that_is_late_is_not_said_to_have_died(demo, monkeypatch):
    Cypher(demo).close()
    monkeypatch.setattr(inside(ConfinedEngine), "_START", 1e-6)
    with pytest.raises(QueryStopped, match=r"did not start on .* \(it was not ready after 1e-06 s\)"):
        rows(demo, "RETURN 1")


def test_what_takes_too_long_is_stopped(demo):
    begun = time.monotonic()
    with pytest.raises(QueryStopped, match=r"more than 0\.2 s|longer than 0\.2 s"):
        Cypher(demo).query(
            "MATCH (a), (b), (c), (d), (e) WHERE a.name + b.name + c.name + d.name + e.name = 'x' RETURN count(*)",
            seconds=0.2,
        )
    assert time.monotonic() - begun < 3
    assert rows(demo, "RETURN 1") == [(1,)]


def test_the_worker_knows_none_of_our_secrets(demo, monkeypatch):
    monkeypatch.setenv("ORIENTEER_API_KEY", "secret")
    Cypher(demo).close()
    assert rows(demo, "RETURN 1") == [(1,)]
    environment = Path(f"/proc/{first(demo).popen.pid}/environ")
    if not environment.exists() or not os.access(environment, os.R_OK):
        pytest.skip("this system does not show the environment of a process")
    assert b"secret" not in environment.read_bytes()


def test_threads_get_their_own_answers(demo):
    found = []

    def one(number):
        found.extend(rows(demo, "RETURN $n", n=number))

    threads = [threading.Thread(target=one, args=(number,)) for number in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sorted(found) == [(number,) for number in range(8)]


def test_who_waits_for_a_worker_waits_no_longer_than_a_query_may_take(demo):
    turns = Cypher(demo).engine._turns
    with ExitStack() as stack:
        for _ in turns.processes:
            stack.enter_context(turns.turn(1))
        with pytest.raises(QueryStopped, match="other queries kept the Cypher workers busy"):
            Cypher(demo).query("RETURN 1", seconds=0.05)
    assert Cypher(demo).query("RETURN 1").rows == ((1,),)


def test_a_long_query_holds_nobody_up(demo):
    """One caller's query runs away; seven others get all their answers while it still runs."""
    cypher = Cypher(demo)
    cypher.close()
    turns = cypher.engine._turns
    with turns.turn(1) as taken:  # by the one that runs away
        found = []

        def ask(number):
            found.extend(rows(demo, "RETURN $n", n=10 * number + count)[0][0] for count in range(3))

        threads = [threading.Thread(target=ask, args=(number,)) for number in range(7)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert taken._worker is None
    assert sorted(found) == sorted(10 * number + count for number in range(7) for count in range(3))
    assert sum(process._worker is not None for process in turns.processes) <= len(turns.processes) - 1


def test_one_caller_after_another_needs_one_worker(demo):
    cypher = Cypher(demo)
    cypher.close()
    for number in range(5):
        assert rows(demo, "RETURN $n", n=number) == [(number,)]
    assert sum(process._worker is not None for process in cypher.engine._turns.processes) == 1


def test_after_a_query_without_memory_the_next_is_right(demo):
    for text in (
        "UNWIND range(1, 40000000) AS n WITH collect(n) AS many RETURN size(many)",
        "RETURN size(range(0, 2000000000))",
    ):
        with pytest.raises((QueryStopped, BadQuery)) as caught:
            Cypher(demo).query(text, seconds=20)
        assert "longer" not in str(caught.value)
        assert rows(demo, "RETURN 1") == [(1,)]


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="other systems have fewer walls")
def test_the_walls_of_a_worker_hold(demo):
    rows(demo, "RETURN 1")
    process = next(one for one in Cypher(demo).engine._turns.processes if one._worker is not None)
    assert process.held >= {"file size", "memory"}
    limits = Path(f"/proc/{first(demo).popen.pid}/limits").read_text()
    assert re.search(r"Max file size +0 ", limits)
    assert not re.search(r"Max address space +unlimited", limits)


def test_a_process_that_was_forked_has_workers_of_its_own(demo):
    if not hasattr(os, "fork"):
        pytest.skip("there is no fork here")
    rows(demo, "RETURN 1")
    pid = os.fork()
    if not pid:
        os._exit(rows(demo, "MATCH (n) RETURN count(n)") != [(Cypher(demo)._graph.arrays.manifest.nodes,)])
    assert os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]) == 0
    assert rows(demo, "RETURN 1") == [(1,)]


def test_several_may_close_at_once(demo):
    cypher = Cypher(demo)
    rows(demo, "RETURN 1")
    threads = [threading.Thread(target=cypher.close) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(20)
    assert not any(thread.is_alive() for thread in threads)
    assert rows(demo, "RETURN 1") == [(1,)]


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="so many descriptors may not be open elsewhere")
def test_many_descriptors_of_ours_are_no_fault(demo):
    import resource

    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    needed = 4_000  # other tests of this process hold graphs open
    if hard != resource.RLIM_INFINITY and hard < needed:
        pytest.skip("not so many descriptors may be open here")
    resource.setrlimit(resource.RLIMIT_NOFILE, (max(soft, needed), hard))
    held: list[int] = []
    try:
        held += (os.open(os.devnull, os.O_RDONLY) for _ in range(1_100))
        Cypher(demo).close()
        assert rows(demo, "RETURN 1") == [(1,)]
    finally:
        for one in held:
            os.close(one)
        resource.setrlimit(resource.RLIMIT_NOFILE, (soft, hard))


@pytest.mark.parametrize("digits", ["9" * 20, "9" * 5_000, "0" * 5_000 + "1"])
@pytest.mark.parametrize("query", ["RETURN {}", "MATCH (n) RETURN n.id SKIP {}", "MATCH (a)-[*1..{}]->(b) RETURN a.id"])
def test_numbers_of_any_length_are_told(demo, query, digits):
    with pytest.raises(BadQuery, match="too large"):
        Cypher(demo).query(query.format(digits))
    with pytest.raises(BadQuery, match=r"parameter \$x is too large"):
        Cypher(demo).query("RETURN $x", {"x": 10**5_000})


def test_the_worker_ends_with_its_graph(scratch):
    graph = Graph.from_records([Node("a", "T", "A")], (), path=scratch())
    Cypher(graph).query("RETURN 1")
    worker = first(graph)
    del graph
    gc.collect()
    assert not worker.is_running


def test_spoiled_statements_never_break_what_asks(demo):
    """A few hundred here; the benchmark runs thousands."""
    honest = [json.loads(line)["query"] for line in (CORPUS / "honest.jsonl").read_text().splitlines()]
    chance = np.random.default_rng(11)
    given = {"id": "a", "names": ["Go"], "p": 1}
    ran = 0
    for number in range(200):
        query = honest[number % len(honest)]
        query = mutate(query, chance, honest) if number % 4 == 0 else rewrite(query, chance)
        try:
            Cypher(demo).query(query, given, seconds=1)
            ran += 1
        except QueryStopped as error:
            assert "broke" not in str(error), query  # noqa: PT017
        except Error:
            continue
    assert ran > 10
    assert rows(demo, "RETURN 1") == [(1,)]


def test_a_graph_named_by_a_relative_path(scratch, monkeypatch):
    path = scratch()
    Graph.from_records([Node("a", "T", "A")], (), path=path)
    monkeypatch.chdir(path.parent)
    assert rows(Graph.open(path.name), "MATCH (n) RETURN n.name") == [("A",)]


@pytest.mark.parametrize("name", ["foaf.Person", "a.b.c", 'a"b', "a`b", "a'b; RETURN", "1a", "_x", " x ", "日本"])
def test_types_of_any_name_are_copied_and_asked_for(build, name):
    nodes = [Node("1", name, "x", properties={name: 1}), Node("2", "other", "y")]
    graph = build(nodes, [Edge("1", name, "2")])
    quoted = name.replace("`", "``")
    found = Cypher(graph).query(f"MATCH (a:`{quoted}`)-[r:`{quoted}`]->(b) RETURN labels(a), type(r), a.`{quoted}`")
    assert found.rows == (([name], name, 1),)
