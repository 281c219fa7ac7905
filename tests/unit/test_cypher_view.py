"""A graph in Cypher as GraphScout's authors named theirs (paper 003, B.2.2 and B.4.2), and without that as it is."""

import json
from collections import Counter
from pathlib import Path

import numpy as np
import pytest

from mutations import mutate, rewrite
from orienteer.cypher import Cypher, View, ViewIdentifiers, view_identifiers, viewed_schema
from orienteer.errors import BadOption, BadQuery, Error, QueryStopped, UnknownProperty, UnknownType
from orienteer.graph import EdgeBatch, Graph, GraphBuilder
from orienteer.records import Edge, Node

pytestmark = pytest.mark.process

HOSTILE = [
    json.loads(line) for line in (Path(__file__).parents[1] / "cypher" / "hostile.jsonl").read_text().splitlines()
]
VIEW = View(label="clinic")
NODES = (
    Node("Disease::D1", "Disease", "migraine", properties={"identifier": "D1", "code": 7}),
    Node("Disease::D2", "Disease", "vertigo", properties={"identifier": "other:2"}),
    Node("Disease::D3", "Disease", "cold"),  # without the property: what stands behind the type
    Node("Symptom::D1", "Symptom", "headache", properties={"identifier": "D1"}),  # shares it with a disease
    Node("Symptom::S2", "Symptom", "nausea", properties={"identifier": "S2"}),
    Node("Body Part::B1", "Body Part", "head"),
    Node("body part:B2", "Body Part", "neck"),  # its id does not begin as those of its type do
    Node("Disease::B3", "Body Part", "nape"),  # its id begins as those of another type do
    Node("Über-Art::ß1", "Über-Art", "Übel"),
    Node("plain", "Doctor", "Eve"),
)
EDGES = (
    Edge("Disease::D1", "DpS", "Symptom::D1"),
    Edge("Disease::D1", "DpS", "Symptom::D1"),  # a parallel one
    Edge("Disease::D1", "DpS", "Symptom::S2"),
    Edge("Disease::D2", "DpS", "Symptom::S2"),
    Edge("Disease::D1", "located in", "Body Part::B1"),
    Edge("Symptom::D1", "located in", "Body Part::B1"),
    Edge("Symptom::S2", "located in", "body part:B2"),
    Edge("Disease::D1", "resembles", "Disease::D2"),
    Edge("Disease::D3", "resembles", "Disease::D1"),
    Edge("plain", "treats", "Disease::D1"),
    Edge("plain", "treats", "Über-Art::ß1"),
    Edge("Disease::D2", "mentions", "Über-Art::ß1"),
)
IDENTIFIER = {
    "Disease::D1": "D1",
    "Disease::D2": "other:2",
    "Disease::D3": "D3",
    "Symptom::D1": "D1",
    "Symptom::S2": "S2",
    "Body Part::B1": "B1",
    "body part:B2": "body part:B2",
    "Disease::B3": "Disease::B3",
    "Über-Art::ß1": "ß1",
    "plain": "plain",
}
TYPE = {node.id: node.type for node in NODES}
CALLED = {
    "DpS": "DISEASE_DPS_SYMPTOM",
    "located in": "LOCATED_IN",  # joins two pairs of types
    "resembles": "DISEASE_RESEMBLES_DISEASE",
    "treats": "TREATS",
    "mentions": "DISEASE_MENTIONS_ÜBER_ART",
}
LABEL = {"Body Part": "Body_Part", "Über-Art": "Über_Art"}


@pytest.fixture(scope="module")
def graph(build):
    return build(NODES, EDGES)


@pytest.fixture(scope="module")
def demo(scratch):
    from orienteer.ingest import demo_records

    return Graph.from_records(*demo_records(), path=scratch())


def rows(graph, query, parameters=None, view=VIEW, **options):
    return list(Cypher(graph).query(query, parameters, view=view, **options).rows)


# ---------------------------------------------------------------------------------------------------------------- ids


def test_an_id_is_the_property_else_what_the_id_has_behind_the_type(graph):
    found = Counter(row for (row,) in rows(graph, "MATCH (n) RETURN n.id"))
    assert found == Counter(IDENTIFIER.values())
    assert sorted(rows(graph, "MATCH (n) RETURN id(n), n.name")) == sorted(
        (IDENTIFIER[node.id], node.name) for node in NODES
    )


def test_identifiers_lead_to_their_nodes_and_back(graph):
    identifiers = ViewIdentifiers(graph.arrays, VIEW)
    for node in NODES:
        row = graph.arrays.row(node.id)
        assert identifiers.of(row) == IDENTIFIER[node.id]
        same = [one for one, identifier in IDENTIFIER.items() if identifier == IDENTIFIER[node.id]]
        assert [graph.arrays.ids[one] for one in identifiers.rows(IDENTIFIER[node.id])] == sorted(same)
    # A node that shows its property is not found by what its id has behind the type, nor is any by its whole id.
    assert [identifiers.rows(one) for one in ("D2", "Disease::D3", "nothing", "")] == [(), (), (), ()]


def test_an_id_that_two_types_share_means_both(graph):
    assert sorted(rows(graph, "MATCH (n {id: 'D1'}) RETURN labels(n)[0]")) == [("Disease",), ("Symptom",)]
    assert rows(graph, "MATCH (n:Symptom {id: $id}) RETURN n.name", {"id": "D1"}) == [("headache",)]
    assert rows(graph, "MATCH (n) WHERE n.id IN ['D1', 'S2'] RETURN count(n)") == [(3,)]


@pytest.mark.parametrize("node", NODES, ids=lambda node: node.id)
def test_every_node_is_found_by_its_identifier_in_each_form(graph, node):
    given = {"id": IDENTIFIER[node.id]}
    for query in (
        f"MATCH (n:`{node.type}` {{id: $id}}) RETURN n.name",
        f"MATCH (n:`{node.type}`) WHERE n.id = $id RETURN n.name",
        f"MATCH (n:{LABEL.get(node.type, node.type)}) WHERE n.id IN [$id] RETURN n.name",
        f"MATCH (n:`{node.type}`:clinic) WHERE n.id STARTS WITH $id AND size(n.id) = size($id) RETURN n.name",
    ):
        assert rows(graph, query, given) == [(node.name,)], query


def test_the_property_of_a_view_may_be_another_one_or_none(graph):
    by_code = View(identifier="nothing of that name")
    assert rows(graph, "MATCH (n:Disease) RETURN n.id ORDER BY n.id", view=by_code) == [("D1",), ("D2",), ("D3",)]
    numbers = View(identifier="code")  # a number is no identifier
    assert rows(graph, "MATCH (n:Disease {id: 'D2'}) RETURN n.name", view=numbers) == [("vertigo",)]


def test_a_property_that_is_itself_called_id_is_hidden_in_a_view_too(build):
    graph = build([Node("T::1", "T", "one", properties={"id": "own"})])
    view = View(identifier="id")
    assert rows(graph, "MATCH (n) RETURN n.id, n.name", view=view) == [("1", "one")]
    assert (ViewIdentifiers(graph.arrays, view).of(0), ViewIdentifiers(graph.arrays, view).rows("own")) == ("1", ())


def test_ids_of_a_path_are_identifiers_too(graph):
    query = "MATCH p = (a:Symptom {id: 'S2'})-[*1..2]-(b:`Über-Art`) RETURN [x IN nodes(p) | x.id], length(p)"
    assert rows(graph, query) == [(["S2", "other:2", "ß1"], 2)]
    query = "MATCH p = (a:Doctor)-->(b:Disease) UNWIND nodes(p) AS n RETURN n.id, labels(n)"
    assert sorted(rows(graph, query)) == [("D1", ["Disease", "clinic"]), ("plain", ["Doctor", "clinic"])]


def test_an_id_behind_a_type_is_cut_by_code_points(build):
    """What is seen as one character may be several: the engine counts the former."""
    ids = {"Cafe\u0301::x1": "x1", "T::\u0301y": "\u0301y", "T::a": "a", "a.c\\::1": "1", "a.c\\::T::2": "T::2"}
    graph = build([Node(one, one.partition("::")[0]) for one in ids])
    shown = view_identifiers(graph.arrays, VIEW)
    assert {one: shown.of(graph.arrays.row(one)) for one in ids} == ids
    assert sorted(one for (one,) in rows(graph, "MATCH (n) RETURN n.id")) == sorted(ids.values())
    assert view_identifiers(graph.arrays, View(label="other")) is shown


def test_demo_ids_are_short_in_a_view(demo):
    short = {f"{row[0]}" for row in rows(demo, "MATCH (l:language) RETURN l.id", view=View(), limit=None)}
    assert short == {one.removeprefix("language:") for one in demo.arrays.ids if one.startswith("language:")}
    assert "pascal" in short


# ------------------------------------------------------------------------------------------------------------- labels


@pytest.mark.parametrize(
    ("pattern", "types"),
    [
        ("(n:clinic)", set(TYPE.values())),
        ("(n:CLINIC)", set(TYPE.values())),
        ("(n:Disease:clinic)", {"Disease"}),
        ("(n:clinic:Disease)", {"Disease"}),
        ("(n:clinic&Disease)", {"Disease"}),
        ("(n:Body_Part:clinic)", {"Body Part"}),
        ("(n:Disease|Symptom)", {"Disease", "Symptom"}),
        ("(n:Disease|Symptom:clinic)", {"Disease", "Symptom"}),
        ("(n:clinic|Symptom)", set(TYPE.values())),
        ("(n) WHERE n:clinic", set(TYPE.values())),
        ("(n) WHERE n:Symptom:clinic", {"Symptom"}),
        ("(n) WHERE NOT n:clinic", set()),
        ("(n) WHERE 'clinic' IN labels(n)", set(TYPE.values())),
        ("(n) WHERE 'Body_Part' IN labels(n)", {"Body Part"}),
        ("(n) WHERE NOT 'clinic' IN labels(n)", set()),
        ("(n) WHERE labels(n)[0] = 'Über_Art'", {"Über-Art"}),
        ("(n) WHERE any(l IN labels(n) WHERE l = 'Disease')", {"Disease"}),
    ],
)
def test_the_label_of_the_domain_stands_beside_the_type(graph, pattern, types):
    expected = sorted((node.name,) for node in NODES if node.type in types)
    assert sorted(rows(graph, f"MATCH {pattern} RETURN n.name")) == expected


def test_labels_are_the_type_and_the_domain(graph):
    query = "MATCH (n) RETURN n.name, labels(n), labels(n)[0], labels(n)[1], size(labels(n)), head(labels(n))"
    labels = {node.name: LABEL.get(node.type, node.type) for node in NODES}
    assert sorted(rows(graph, query)) == sorted(
        (name, [label, "clinic"], label, "clinic", 2, label) for name, label in labels.items()
    )
    query = "MATCH (n {name: 'head'}) RETURN [l IN labels(n) WHERE l <> 'clinic'][0]"
    assert rows(graph, query) == [("Body_Part",)]
    query = "MATCH (n:Disease {id: 'D3'}) OPTIONAL MATCH (n)--(m:Symptom) RETURN labels(m), labels(m)[1]"
    assert rows(graph, query) == [(None, None)]
    query = "MATCH (n:Disease) OPTIONAL MATCH (n)--(m:Symptom) WITH n, m WHERE m:clinic RETURN count(DISTINCT n)"
    assert rows(graph, query) == [(2,)]  # what is not there has no label
    assert rows(graph, "MATCH (n:Doctor) RETURN labels(n)", view=View()) == [(["Doctor"],)]


def test_a_label_of_the_caller_is_text_and_nothing_else(graph):
    strange = View(label="it's` ] RETURN 1 //", identifier="x` ; DROP")
    assert rows(graph, "MATCH (n:Doctor) RETURN labels(n), n.id", view=strange) == [
        (["Doctor", "it's` ] RETURN 1 //"], "plain")
    ]


@pytest.mark.parametrize("label", ["", "\n", "a\x00b", "\ud800", "x" * 101])
def test_a_label_that_nobody_can_read_is_refused(graph, label):
    with pytest.raises(BadOption, match="cannot be read"):
        rows(graph, "MATCH (n) RETURN labels(n)", view=View(label=label))


def test_a_label_is_compared_with_texts_only(graph):
    none = View(label="None")
    assert rows(graph, "MATCH (n) WHERE n.name IN labels(n) RETURN count(*)", view=none) == [(0,)]
    for condition, number in {
        "labels(n) = ['Disease']": 0,
        "labels(n) <> ['Disease']": len(NODES),
        "labels(n) = ['Disease', 'clinic']": 3,
        "labels(n)[1] = 'clinic'": len(NODES),
        "labels(n)[1] = 'Disease'": 0,
        "labels(n)[0] <> 'Disease'": len(NODES) - 3,
    }.items():
        assert rows(graph, f"MATCH (n) WHERE {condition} RETURN count(*)") == [(number,)], condition
    with pytest.raises(BadQuery, match="one type here"):
        rows(graph, "MATCH (n) WHERE labels(n)[1] = 'Disease' RETURN n", view=None)


@pytest.mark.parametrize("label", ["Disease", "body part", "Body_Part"])
def test_a_domain_label_that_is_a_node_type_is_refused(graph, label):
    with pytest.raises(BadOption, match="is a node type"):
        rows(graph, "MATCH (n) RETURN n", view=View(label=label))


# -------------------------------------------------------------------------------------------------------------- edges


@pytest.mark.parametrize("edge_type", CALLED)
@pytest.mark.parametrize("arrow", [("-", "->"), ("<-", "-"), ("-", "-")])
def test_an_edge_fits_whichever_way_the_arrow_points_and_once(graph, edge_type, arrow):
    ends = [(e.source, e.target) for e in EDGES if e.type == edge_type]
    expected = Counter((IDENTIFIER[a], IDENTIFIER[b]) for one, other in ends for a, b in ((one, other), (other, one)))
    left, right = arrow
    for name in (edge_type, CALLED[edge_type]):
        assert Counter(rows(graph, f"MATCH (a){left}[r:`{name}`]{right}(b) RETURN a.id, b.id")) == expected
    query = f"MATCH (a){left}[r]{right}(b) WHERE type(r) = '{CALLED[edge_type]}' RETURN a.id, b.id"
    assert Counter(rows(graph, query)) == expected


def test_types_that_tell_the_way_make_no_edge_count_twice(graph):
    assert rows(graph, "MATCH (d:Disease)-[r:DISEASE_DPS_SYMPTOM]->(s:Symptom) RETURN count(r)") == [(4,)]
    assert rows(graph, "MATCH (s:Symptom)-[r:DISEASE_DPS_SYMPTOM]->(d) RETURN count(r), count(DISTINCT d)") == [(4, 2)]
    # In the graphs of the paper each edge lay twice and this gave 8.
    assert rows(graph, "MATCH (s:Symptom)-[r:DISEASE_DPS_SYMPTOM]-(d:Disease) RETURN count(r)") == [(4,)]


def test_no_edge_of_a_pattern_is_walked_back(graph):
    """In the graphs of the paper the way back was another edge, and everything was its own neighbour's neighbour."""
    query = "MATCH (a:Disease {id: 'other:2'})-[:DISEASE_DPS_SYMPTOM]->(s)-[:DISEASE_DPS_SYMPTOM]->(b) RETURN b.id"
    assert rows(graph, query) == [("D1",)]


@pytest.mark.parametrize(
    ("query", "expected"),
    [
        ("MATCH (s:Symptom {id: 'S2'})-[:LOCATED_IN]->(b) RETURN b.id", [("body part:B2",)]),
        ("MATCH (b {id: 'B1'})-[:SYMPTOM_LOCATED_IN_BODY_PART]->(s) RETURN labels(s)[0]", [("Symptom",)]),
        ("MATCH (b {id: 'B1'}) RETURN COUNT { (b)-[:LOCATED_IN]->() }", [(2,)]),
        ("MATCH (d:Disease) WHERE (d)<-[:DISEASE_DPS_SYMPTOM]-() RETURN count(d)", [(2,)]),
        ("MATCH (d:Disease) WHERE NOT EXISTS { (d)-[:DISEASE_RESEMBLES_DISEASE]->() } RETURN count(d)", [(0,)]),
        (
            "MATCH (a:Disease {id: 'D3'}), (b:Symptom {id: 'S2'}) MATCH p = shortestPath((a)-[*..4]->(b)) "
            "RETURN length(p)",
            [(2,)],
        ),
        ("MATCH (a:Doctor)-[r]->() RETURN type(r), count(*)", [("TREATS", 2)]),
        (
            "MATCH (a)-[r]-(b:Symptom {id: 'D1'}) RETURN DISTINCT type(r) AS t ORDER BY t",
            [("DISEASE_DPS_SYMPTOM",), ("LOCATED_IN",)],
        ),
        (
            "MATCH (:Doctor)-->(x) RETURN labels(x)[0] AS t UNION MATCH (x:Symptom) RETURN labels(x)[0] AS t",
            [("Disease",), ("Symptom",), ("Über_Art",)],
        ),
    ],
)
def test_forms_in_which_edges_are_asked_for(graph, query, expected):
    assert sorted(rows(graph, query)) == sorted(expected)


def test_a_directed_type_keeps_its_arrow_where_it_is_named_alone(graph):
    view = View(label="clinic", directed=("DISEASE_RESEMBLES_DISEASE",))
    query = "MATCH (a:Disease {id: 'D1'})-[:DISEASE_RESEMBLES_DISEASE]->(b) RETURN b.id"
    assert rows(graph, query, view=view) == [("other:2",)]
    assert sorted(rows(graph, query)) == [("D3",), ("other:2",)]
    mixed = Cypher(graph).query("MATCH (a:Disease {id: 'D1'})-[r]->(b:Disease) RETURN b.id", view=view)
    assert sorted(mixed.rows) == [("D3",), ("other:2",)]
    assert mixed.notes == (
        "DISEASE_RESEMBLES_DISEASE keeps its direction only if it is named alone: it was followed both ways",
    )
    with pytest.raises(UnknownType, match="RESEMBLES"):
        rows(graph, query, view=View(directed=("DISEASE_RESEMBLE",)))


def test_a_type_without_direction_has_none_in_a_view_either(scratch):
    path = scratch()
    with GraphBuilder(path) as builder:
        for one in ("a", "b"):
            builder.add_node(Node(one, "gene"))
        builder.add_edges(EdgeBatch(["a"], ["interacts"], ["b"]))
        builder.edges.symmetric.add("interacts")
        builder.publish()
    graph = Graph.open(path)
    query = "MATCH (:gene {id: 'b'})-[:interacts]->(x) RETURN x.id"
    assert rows(graph, query, view=View(directed=("interacts",))) == [("a",)]


def test_no_two_types_have_one_name_in_a_view(build):
    graph = build(
        [Node("a", "A"), Node("b", "B")],
        [Edge("a", "X", "b")]
        + [Edge(*ends) for name in ("A_X_B", "x") for ends in (("a", name, "b"), ("b", name, "a"))],
    )
    names = [name for (name,) in rows(graph, "MATCH (:A)-[r]-(:B) RETURN type(r)")]
    assert Counter(names) == {"X": 1, "A_X_B": 2, "x": 2}


def test_the_schema_of_a_view_has_its_names(graph):
    schema = viewed_schema(graph.schema, VIEW)
    assert {one: schema.label(one) for one in schema.edge_types} == CALLED
    assert [schema.label(one) for one in ("Body Part", "Disease")] == ["Body_Part", "Disease"]
    assert (schema.node_types, schema.edges) == (graph.schema.node_types, graph.schema.edges)


def test_types_that_a_view_would_call_alike_keep_their_own_names(build):
    graph = build(
        [Node("a", "side effect"), Node("b", "Side_Effect"), Node("c", "Drug")],
        [Edge("c", "may cause", "a"), Edge("c", "may-cause", "a"), Edge("c", "causes", "b")],
    )
    query = "MATCH (c:Drug)-[r]->(s) RETURN type(r), labels(s)[0]"
    assert sorted(rows(graph, query)) == [
        ("DRUG_CAUSES_SIDE_EFFECT", "Side_Effect"),
        ("may cause", "side effect"),
        ("may-cause", "side effect"),
    ]


# ------------------------------------------------------------------------------------------------------------ results


def test_nodes_edges_and_paths_are_shown_by_the_names_of_the_view(graph):
    [(node, edge, path)] = rows(graph, "MATCH p = (d:Doctor)-[r]->(x:`Über-Art`) RETURN x, r, p")
    assert node == {"id": "ß1", "type": "Über_Art", "name": "Übel", "properties": {}}
    assert edge == {"source": "plain", "type": "TREATS", "target": "ß1"}
    doctor = {"id": "plain", "type": "Doctor", "name": "Eve", "properties": {}}
    assert path == {"nodes": [doctor, node], "edges": [edge]}
    # A pattern against the edge shows it as it lies in the graph.
    [(edge,)] = rows(graph, "MATCH (s:Symptom {id: 'D1'})-[r:DISEASE_DPS_SYMPTOM]->(d) RETURN DISTINCT r LIMIT 1")
    assert edge == {"source": "D1", "type": "DISEASE_DPS_SYMPTOM", "target": "D1"}


def test_without_a_view_the_graph_has_its_own_ids_codes_and_directions(graph):
    rows(graph, "MATCH (n:Disease:clinic) RETURN n")  # a view is no state
    [(node, labels, edge)] = rows(
        graph,
        "MATCH (n:Disease)-[r:DpS]->(s {id: 'Symptom::S2'}) WHERE n.name = 'vertigo' RETURN n, labels(s), type(r)",
        view=None,
    )
    assert (node["id"], node["type"], labels, edge) == ("Disease::D2", "Disease", ["Symptom"], "DpS")
    assert rows(graph, "MATCH (n {id: 'D1'}) RETURN n", view=None) == []
    with pytest.raises(BadQuery, match=r"There are: Disease -DpS-> Symptom"):
        rows(graph, "MATCH (s:Symptom)-[:DpS]->(d) RETURN d", view=None)
    with pytest.raises(UnknownType, match="clinic"):
        rows(graph, "MATCH (n:clinic) RETURN n", view=None)
    with pytest.raises(BadQuery, match="one type here"):
        rows(graph, "MATCH (n:Disease:clinic) RETURN n", view=None)


def test_two_views_of_one_graph_do_not_mix(graph):
    assert rows(graph, "MATCH (n:Doctor) RETURN labels(n)", view=View(label="ward")) == [(["Doctor", "ward"],)]
    assert rows(graph, "MATCH (n:Doctor) RETURN labels(n)") == [(["Doctor", "clinic"],)]
    with pytest.raises(UnknownType):
        rows(graph, "MATCH (n:ward) RETURN n")


@pytest.mark.parametrize("view", [None, VIEW], ids=["plain", "view"])
def test_what_is_counted_is_a_whole_number(graph, view):
    query = "MATCH (d:Disease)--(x) RETURN count(*), count(DISTINCT x), sum(size(x.name)), size(collect(x.name))"
    [found] = rows(graph, query, view=view)
    assert [type(one) for one in found] == [int] * 4


def test_no_limit_is_every_row_that_an_answer_may_hold(graph):
    query = "UNWIND range(1, 400) AS i RETURN i"
    assert len(Cypher(graph).query(query).rows) == 100
    everything = Cypher(graph).query(query, limit=None)
    assert (len(everything.rows), everything.total, everything.truncated) == (400, 400, False)
    most = Cypher(graph).query("UNWIND range(1, 9000) AS i UNWIND range(1, 12) AS j RETURN 1", limit=None)
    assert (len(most.rows), most.total, most.truncated) == (100_000, 108_000, True)


# ------------------------------------------------------------------------------------------------------------- errors


@pytest.mark.parametrize(
    ("query", "error", "plain", "viewed"),
    [
        ("MATCH (n:Diseases) RETURN n", UnknownType, "Near: Disease", "Near: Disease"),
        ("MATCH (n:BodyParts) RETURN n", UnknownType, "Near: Body Part", "Near: Body_Part"),
        ("MATCH (n) WHERE n:Diseas RETURN n", UnknownType, "Near: Disease", "Near: Disease"),
        ("MATCH (n) WHERE labels(n)[0] = 'Symptoms' RETURN n", UnknownType, "Near: Symptom", "Near: Symptom"),
        ("MATCH (n)-[:treat]-() RETURN n", UnknownType, "Near: treats", "Near: TREATS"),
        (
            "MATCH (n)-[:DISEASE_RESEMBLE_DISEASE]-() RETURN n",
            UnknownType,
            "Near: DISEASE_RESEMBLES_DISEASE",
            "Near: DISEASE_RESEMBLES_DISEASE",
        ),
        ("MATCH ()-[r]-() WHERE type(r) = 'LOCATED' RETURN r", UnknownType, "Near: located in", "Near: LOCATED_IN"),
        ("MATCH (n:Disease) RETURN n.nam", UnknownProperty, "Near: name", "Near: name"),
        ("MATCH (n:Disease {identifer: 'D1'}) RETURN n", UnknownProperty, "Near: identifier", "Near: identifier"),
        ("MATCH (n:Disease)-[r:DpS]-() RETURN r.score", UnknownProperty, "DpS has: none", "DPS_SYMPTOM has: none"),
        (
            "MATCH (n:Doctor)-[:DpS]-(m) RETURN n",
            BadQuery,
            "Disease -DpS-> Symptom",
            "Disease -DISEASE_DPS_SYMPTOM-> Symptom",
        ),
        ("MATCH (n:Disease {id: 1}) RETURN n", BadQuery, "as a text, '1'", "as a text, '1'"),
    ],
)  # fmt: skip
def test_an_error_names_what_is_near(graph, query, error, plain, viewed):
    for view, expected in ((None, plain), (VIEW, viewed)):
        with pytest.raises(error) as raised:
            rows(graph, query, view=view)
        assert expected in str(raised.value)


@pytest.mark.parametrize(
    ("query", "error", "message"),
    [
        ("MATCH (n:Disease:Symptom) RETURN n", BadQuery, "one type here besides the label clinic"),
        ("MATCH (n:Disease:Symptom:clinic) RETURN n", BadQuery, "one type here"),
        ("MATCH (n:!Disease) RETURN n", BadQuery, "only alternatives"),
        ("MATCH (n:clinic&!Disease) RETURN n", BadQuery, "only alternatives"),
        ("MATCH ()-[r:DPS:TREATS]-() RETURN r", BadQuery, "an edge has one type"),
        ("MATCH ()-[r]-() WHERE r:clinic RETURN r", BadQuery, "'r' is an edge"),
        ("MATCH ()-[r:clinic]-() RETURN r", UnknownType, "No edge type 'clinic'"),
        ("MATCH (n) WHERE labels(n)[0] = 'clinic' RETURN n", UnknownType, "the label of every node"),
        ("MATCH (n) RETURN labels(n)[2]", BadQuery, "labels"),
    ],
)
def test_what_a_view_does_not_allow_says_what_to_write(graph, query, error, message):
    with pytest.raises(error) as raised:
        rows(graph, query)
    assert message in str(raised.value)


# ------------------------------------------------------------------------------------- what the engine takes otherwise


@pytest.mark.parametrize("view", [None, VIEW], ids=["plain", "view"])
def test_a_count_of_none_is_0_and_loses_no_node(graph, view):
    alone = sum(not any(node.id in (edge.source, edge.target) for edge in EDGES) for node in NODES)
    assert rows(graph, "MATCH (n) WHERE COUNT { (n)--() } = 0 RETURN count(*)", view=view) == [(alone,)]
    counted = rows(graph, "MATCH (n:Disease) WITH n, COUNT { (n)-[:DpS]-() } AS k RETURN k, count(*)", view=view)
    assert sorted(counted) == [(0, 1), (1, 1), (3, 1)]
    optional = "MATCH (n:Doctor) OPTIONAL MATCH (n)--(m:Disease {name: 'cold'}) RETURN COUNT { (m)--() }"
    assert rows(graph, optional, view=view) == [(0,)]


@pytest.mark.parametrize("view", [None, VIEW], ids=["plain", "view"])
@pytest.mark.parametrize(
    "pattern",
    ["(n)--(m {name: 'cold'})", "(n)-[*1..1]-(m {name: 'cold'})", "(n)--(:`Über-Art`)--(:Disease)--(m {name: 'cold'})"],
)
def test_a_path_that_is_missing_is_null(graph, view, pattern):
    query = (
        f"MATCH (n:Doctor) OPTIONAL MATCH p = {pattern} "
        "RETURN p, p IS NULL, length(p), nodes(p), [x IN nodes(p) | x.name], [r IN relationships(p) | type(r)], "
        "count(p)"
    )
    if "Disease" in pattern:
        query = query.replace("'cold'", "'nobody'")
    assert rows(graph, query, view=view) == [(None, True, None, None, None, None, 0)]


@pytest.mark.parametrize("view", [None, VIEW], ids=["plain", "view"])
def test_lists_of_types_are_those_of_their_own_rows(graph, view):
    """The engine reads the items of a list that was filtered from other rows, and spoils the texts of two lists."""
    query = (
        "MATCH (a)-[r:DpS*1..2]-(b) WHERE b.name <> 'headache' WITH r, a, b WHERE a.name = b.name "
        "RETURN [x IN r | type(x)] AS one, [x IN r | type(x)] AS other, any(x IN r WHERE type(x) = 'treats') AS treats"
    )
    name = "DpS" if view is None else CALLED["DpS"]
    assert Counter(map(str, rows(graph, query, view=view))) == {str(([name] * 2, [name] * 2, False)): 2}


@pytest.mark.parametrize("view", [None, VIEW], ids=["plain", "view"])
def test_an_optional_match_may_have_several_parts_or_none_that_is_known(graph, view):
    """Eve has two edges: the other part may have any of the others, from either end."""
    other = 2 * (len(EDGES) - 1)
    for pattern, number in (("(n)--(a), (b)--(c)", 2 * other), ("(a)--(b)", 2 * len(EDGES))):
        text = f"MATCH (n:Doctor) OPTIONAL MATCH {pattern} WHERE n.name = 'Eve' RETURN count(a)"
        assert rows(graph, text, view=view) == [(number,)]
    query = "MATCH (n:Doctor) RETURN n.code"
    found = Cypher(graph).query(query, view=view)
    assert found.rows == ((None,),)
    assert any("Doctor has: id, name." in note for note in found.notes)
    whole = "MATCH (n:Doctor) OPTIONAL MATCH (n)--(a), (b)--(n) WHERE n.name = 'Eve' RETURN count(a)"
    assert rows(graph, whole, view=view) == [(2,)]


def test_an_edge_type_named_with_its_ends_keeps_them_both_ways(build):
    graph = build([Node("f", "film"), Node("b", "book")], [Edge("f", "follows", "b"), Edge("b", "follows", "f")] * 2)
    for view in (None, VIEW):
        [[found]] = rows(graph, "MATCH (x:film)-[:FILM_FOLLOWS_BOOK]-(y) RETURN count(*)", view=view)
        assert found == sum(edge.source == "f" for edge in graph.iter_edges()), view


# ------------------------------------------------------------------------------------------------------------ hostile


def test_spoiled_statements_never_break_what_asks_through_a_view(demo):
    honest = [
        "MATCH (n:language:clinic {id:'c'})-[r]->(m:clinic) RETURN labels(m), type(r), labels(m)[1], count(*)",
        "MATCH (n:clinic) WHERE 'clinic' IN labels(n) AND n:clinic RETURN n, n.id, [l IN labels(n) WHERE l <> 'x'][0]",
        "MATCH p = (n:language:clinic)-[*1..2]-(m) RETURN [x IN nodes(p) | x.id], [r IN relationships(p) | type(r)]",
        "MATCH (a:clinic)-[r:LANGUAGE_DESIGNED_BY_PERSON]->(b) WHERE type(r) STARTS WITH 'LANG' RETURN a.id, type(r)",
    ]
    chance = np.random.default_rng(13)
    ran = 0
    for number in range(200):
        query = honest[number % len(honest)]
        query = mutate(query, chance, honest) if number % 8 < 4 else rewrite(query, chance)
        try:
            Cypher(demo).query(query, {"p": 1}, seconds=1, view=VIEW)
            ran += 1
        except QueryStopped as error:
            assert "broke" not in str(error), query  # noqa: PT017
        except Error:
            continue
    assert ran > 5
    assert rows(demo, "RETURN 1") == [(1,)]


@pytest.mark.parametrize("line", HOSTILE, ids=lambda line: line["id"])
def test_every_hostile_statement_is_refused_or_stopped_through_the_view(demo, line, tmp_path, record_property):
    before = [(file, file.read_bytes()) for file in sorted(demo.path.rglob("*")) if file.is_file()]
    with pytest.raises((BadQuery, UnknownType, QueryStopped)):
        Cypher(demo).query(
            line["query"].replace("{folder}", str(tmp_path)), line.get("parameters"), seconds=0.3, view=VIEW
        )
    assert rows(demo, "MATCH (n:language:clinic {name: 'C'}) RETURN count(n)") == [(1,)]
    assert not list(tmp_path.iterdir())
    assert [(file, file.read_bytes()) for file in sorted(demo.path.rglob("*")) if file.is_file()] == before
    record_property("corpus", "hostile Cypher statements through the view")
