"""What a model hands in (GraphScout, 003, 3.3.4 and B.3.3): read off its query, proved by the graph, or refused."""

import json

import networkx as nx
import numpy as np
import pytest

from films import CELL, EDGES, ENTITY, FALSE, HARD, NODES, NUMBER, NUMBER_AND_IDS, SET, TRUE, checked
from mutations import mutate
from orienteer.cypher import Cypher
from orienteer.ingest import demo_records
from orienteer.lab.evaluation import QuizCell
from orienteer.lab.quizzes import (
    MOST_EDGES,
    ItemMaker,
    Objectives,
    QuizOrder,
    check_report,
    generate_quiz,
    ids_walked,
    read_shape,
    report_of,
)
from orienteer.records import Edge, Node

pytestmark = pytest.mark.process


@pytest.fixture(scope="module")
def graph(build):
    return build(NODES, EDGES)


# ------------------------------------------------------------------------------------------------ the shape of a query


@pytest.mark.parametrize(
    ("query", "hops"),
    [
        ("MATCH (a {id: 'f1'}) RETURN count(*)", 0),
        ("MATCH (a {id: 'f1'})-[:directed]-(x) RETURN count(x)", 1),
        ("MATCH (a)-[:directed]-(x) WHERE a.id = 'f1' RETURN count(x)", 1),
        ("MATCH (a)-[:directed]-(x) WHERE 'f1' = a.id RETURN count(x)", 1),
        ("MATCH (a)-[:directed]-(x) WHERE a.id IN ['f1', 'f2'] RETURN count(x)", 1),
        ("MATCH (a)-[:directed]-(x) WHERE a.year = 'f1' RETURN count(x)", 0),
        ("MATCH (a {id: 'f1'})--()--(x) RETURN count(x)", 2),
        ("MATCH (a {id: 'f1'})--(x)--(b {id: 'f2'}) RETURN count(x)", 2),
        ("MATCH (a {id: 'f1'})-[*1..3]-(x) RETURN count(x)", 3),
        ("MATCH (a {id: 'f1'})--(m) MATCH (m)--(x) MATCH (x)--(y) RETURN count(y)", 3),
        ("MATCH (a {id: 'f1'})--(m) MATCH (a)--(x) RETURN count(x)", 2),
        ("MATCH (a {id: 'f1'})--(m) MATCH (m)--(a) MATCH (m)--(x) RETURN count(x)", 2),
        ("MATCH (a {id: 'f1'})-[:directed]-(m) MATCH (m)-[:wrote]-(a) RETURN count(m)", 2),
        ("MATCH (a {id: 'f1'})--(m) WITH m AS n MATCH (n)--(x) RETURN count(x)", 2),
        ("MATCH (a {id: 'f1'})--(m) WITH collect(m) AS ms UNWIND ms AS n MATCH (n)--(x) RETURN count(x)", 2),
        ("MATCH (a {id: 'f1'})--(m) WHERE EXISTS { MATCH (m)--(z)--(w) } RETURN count(m)", 3),
        ("MATCH (a {id: 'f1'})--(m) WHERE NOT EXISTS { MATCH (m)--(z)--(w) } RETURN count(m)", 1),
        ("MATCH (a {id: 'f1'})--(m) WHERE NOT (m)--(a)--(m) AND m.id <> 'x' RETURN count(m)", 1),
        ("MATCH (a {id: 'f1'})--(m), (far)--(away) RETURN count(m)", 1),
        ("MATCH (a {name: 'Night Ferry'})--(x) RETURN count(x)", 1),
    ],
)
def test_hops_are_the_edges_that_hang_together_with_a_given_node(query, hops):
    assert read_shape(query).hops == hops


def test_hops_agree_with_networkx_on_random_forests():
    chance = np.random.default_rng(5)
    for _ in range(60):
        size = int(chance.integers(2, 6))  # a query has 20 clauses at the most
        forest = nx.gnp_random_graph(size, 0.4, seed=int(chance.integers(1 << 30)))
        paths = " ".join(f"MATCH (n{one})--(n{other})" for one, other in forest.edges)
        given = int(chance.integers(size))
        query = f"{paths} MATCH (n{given} {{id: 'f1'}}) RETURN count(*)"
        together = forest.subgraph(nx.node_connected_component(forest, given))
        assert read_shape(query).hops == together.number_of_edges()


@pytest.mark.parametrize("cut", ["WITH x ORDER BY x.id LIMIT 1", "WITH x SKIP 2"])
def test_rows_left_out_are_seen_wherever_they_are_left_out(cut):
    assert read_shape(f"MATCH (a {{id: 'f1'}})--(x) {cut} RETURN count(x) AS number").is_cut
    assert not read_shape("MATCH (a {name: 'LIMIT 1'})--(x) RETURN count(x) AS number").is_cut


# --------------------------------------------------------------------------------------------- walked along the edges


@pytest.mark.parametrize(
    ("pattern", "expected"),
    [
        ("MATCH (a {id: 'f1'})<-[:directed]-(x)", {"p1"}),
        ("MATCH (a {id: 'f1'})-[:directed]->(x)", set()),
        ("MATCH (a {id: 'f1'})-[:directed]-(x)", {"p1"}),
        ("MATCH (x)-[:directed]->(a) WHERE a.id = 'f1'", {"p1"}),
        ("MATCH (a {id: 'f1'})--(x:person)", {"p1", "p2", "p4"}),
        ("MATCH (a {id: 'f1'})-[:directed|`acted in`]-(x)", {"p1", "p2", "p4"}),
        ("MATCH (a {id: 'nobody'})--(x)", set()),
        # One edge is not walked twice within a MATCH, and may be in another.
        ("MATCH (a {id: 'f1'})<-[:directed]-(m)-[:directed]->(x)", {"f2"}),
        ("MATCH (a {id: 'f1'})<-[:directed]-(m) MATCH (m)-[:directed]->(x)", {"f1", "f2"}),
        ("MATCH (a {id: 'f1'})<-[:directed]-(m) MATCH (m)-[:directed]->(x) WHERE x.id <> a.id", {"f2"}),
        ("MATCH (a {id: 'f1'})<-[:directed]-(m)-[:directed]->(x) WHERE x.id <> 'f2'", set()),
        ("MATCH (a {id: 'f1'})--(x), (x)--(b {id: 'f3'})", {"p2"}),
        ("MATCH (x:film) WHERE x.id = 'f1' AND EXISTS { MATCH (x)--(p {id: 'p2'}) }", {"f1"}),
        ("MATCH (c {id: 'c1'})<-[:`set in`]-(x) WHERE NOT EXISTS { MATCH (x)<-[:`acted in`]-(p) }", {"f4"}),
        (
            "MATCH (c {id: 'c1'})<-[:`set in`]-(x) WHERE EXISTS { MATCH (x)<-[:`acted in`]-(p) WHERE p.id <> 'p5' }",
            {"f1", "f2"},
        ),
    ],
)
def test_a_query_is_answered_along_the_edges(graph, pattern, expected):
    query = f"{pattern} {NUMBER_AND_IDS}"
    assert ids_walked(graph, query) == expected
    assert set(Cypher(graph).query(query).rows[0][1]) == expected, "the engine says the same"


@pytest.mark.parametrize(
    "query",
    [
        "MATCH (x:film) RETURN count(DISTINCT x) AS number",  # from nowhere
        "MATCH (a {id: 'f1'})-[*1..2]-(x) RETURN count(DISTINCT x) AS number",
        "MATCH (a {id: 'f1'})--(x) RETURN count(x) AS number",
        "MATCH (a {id: 'f1'})--(x) RETURN max(x.name) AS number",
        "MATCH (a {id: 'f1'})--(x) WITH x RETURN count(DISTINCT x) AS number",
        "MATCH (a {id: 'f1'})--(x) OPTIONAL MATCH (x)--(y) RETURN count(DISTINCT y) AS number",
        "MATCH (a {id: 'f1'})--(x) WHERE x.name = 'Orsova' RETURN count(DISTINCT x) AS number",
        "MATCH (a {name: 'Salt Road'})--(x) RETURN count(DISTINCT x) AS number",
        "MATCH (a {id: 'f1'})-[e]-(x) RETURN count(DISTINCT x) AS number",
    ],
)
def test_what_cannot_be_walked_is_left_to_the_engine(graph, query):
    assert ids_walked(graph, query) is None


def test_parallel_edges_are_two(build):
    nodes = (Node("a", "thing", "Alpha"), Node("b", "thing", "Beta"), Node("c", "thing", "Gamma"))
    twice = build(
        nodes, (Edge("a", "meets", "b"), Edge("a", "meets", "b"), Edge("a", "sees", "c"), Edge("c", "sees", "c"))
    )
    back = "MATCH (a {{id: '{}'}})--(m)--(x) " + NUMBER_AND_IDS
    assert ids_walked(twice, back.format("a")) == {"a"}
    assert ids_walked(twice, back.format("b")) == {"b", "c"}
    assert ids_walked(twice, back.format("c")) == {"b"}


@pytest.mark.slow
def test_the_arrays_agree_with_the_records_where_an_edge_type_comes_twice(build):
    """Ladybug 0.22 has given other rows for this very query."""
    nodes, edges = demo_records()
    ends = {
        name: [(one.source, one.target) for one in edges if one.type == name]
        for name in ("supports", "developed_at", "designed_by")
    }
    expected = {
        person
        for first, paradigm in ends["supports"]
        for one, place in ends["developed_at"]
        for second, other in ends["developed_at"]
        for language, person in ends["designed_by"]
        if paradigm == "paradigm:array" and first == one and place == other and language == second and one != second
    }
    path = "(:paradigm {id: 'paradigm:array'})<-[:supports]-(a)-[:developed_at]->(b)"
    path += "<-[:developed_at]-(c)-[:designed_by]->(x)"
    assert ids_walked(build(nodes, edges), f"MATCH {path} {NUMBER_AND_IDS}") == expected


# ------------------------------------------------------------------------------- what a report must keep to (B.3.3)


@pytest.mark.parametrize(
    ("kind", "report", "changes"),
    [
        ("entity", ENTITY, {}),
        ("set", SET, {"seed": "c1"}),
        ("number", NUMBER, {"seed": "p1"}),
        ("boolean", TRUE, {"seed": "p1", "wanted": True}),
        ("boolean", FALSE, {"seed": "p1", "wanted": False}),
        ("hard", HARD, {}),
    ],
)
def test_a_sound_report_is_an_item(graph, kind, report, changes):
    item, faults = checked(graph, report, kind, **changes)
    assert faults == ()
    assert item.cell == CELL[kind]
    assert item.gold_query == report["gold_query"]
    assert item.clue_nodes == tuple(report["clue_nodes"])
    names = [film.name for node in item.nodes for film in NODES if film.id == node]
    assert sorted(names) == sorted(report["answer"] if item.answer_type in ("entity", "set") else [])
    assert set(report["answer"]) <= set(item.answers)


def test_anchors_hops_and_edge_types_are_read_off_the_query(graph):
    item = checked(graph, HARD, "hard").item
    assert (item.anchors, item.hops) == (("c2",), 3)
    assert set(item.edge_types) == {"set in", "directed", "born in"}
    item = checked(graph, TRUE, "boolean", seed="f1", wanted=True).item
    assert item.anchors == ("f1", "p1"), "the seed is the first"


def test_the_answer_may_be_an_alias(graph):
    report = {
        "question": "Who directed Salt Road?",
        "answer": ["A. Holm"],
        "clue_nodes": ["f2", "p1"],
        "gold_query": f"MATCH (x:person)-[:directed]->(f {{name: 'Salt Road'}}) {NUMBER_AND_IDS}",
    }
    item = checked(graph, report).item
    assert item.answers == ("Ada Holm", "A. Holm")
    assert item.anchors == ("f2",)


WRONG = [
    ("mismatch", "entity", ENTITY | {"answer": ["Night Ferry"]}),
    ("mismatch", "entity", ENTITY | {"answer": ["Winter Harbour", "Night Ferry"]}),
    ("mismatch", "set", SET | {"answer": ["Salt Road", "Night Ferry"]}),
    ("mismatch", "set", SET | {"answer": ["Salt Road", "Night Ferry", "Night Ferry"]}),
    ("mismatch", "number", NUMBER | {"answer": ["3"]}),
    ("mismatch", "number", NUMBER | {"answer": ["3 or 4"]}),
    ("mismatch", "boolean", TRUE | {"answer": ["False"]}),
    ("unproved", "entity", ENTITY | {"gold_query": "CREATE (n:film {id: 'f9'}) RETURN n"}),
    ("unproved", "entity", ENTITY | {"gold_query": "MATCH (n) DETACH DELETE n"}),
    ("unproved", "entity", ENTITY | {"gold_query": "not Cypher at all"}),
    ("unproved", "entity", ENTITY | {"gold_query": ENTITY["gold_query"].replace("set in", "plays at")}),
    ("unproved", "entity", ENTITY | {"gold_query": ENTITY["gold_query"].replace(NUMBER_AND_IDS, "RETURN x.id")}),
    ("unproved", "entity", ENTITY | {"gold_query": f"{ENTITY['gold_query']} LIMIT 1"}),
    ("unproved", "set", SET | {"gold_query": SET["gold_query"].replace("RETURN", "WITH x SKIP 0 RETURN")}),
    ("not unique", "entity", ENTITY | {"gold_query": SET["gold_query"], "question": "Which film is set in Orsova?"}),
    (
        "oversized",
        "set",
        {
            "question": "Who is seen in Night Ferry?",
            "answer": [f"Walk-on Number {at}" for at in range(12)],
            "clue_nodes": ["f1", *(f"x{at}" for at in range(12))],
            "gold_query": f"MATCH (x:extra)-[:`seen in`]->(f {{id: 'f1'}}) {NUMBER_AND_IDS}",
        },
    ),
    ("empty", "set", SET | {"gold_query": ENTITY["gold_query"], "question": "Which films are set in Gull Island?"}),
    (
        "empty",
        "number",
        NUMBER
        | {
            "question": "How many people acted in films that Noor Vik directed?",
            "answer": ["0"],
            "clue_nodes": ["p2"],
            "gold_query": NUMBER["gold_query"].replace("p1", "p2"),
        },
    ),
    ("unbalanced", "boolean", FALSE),
    ("unknown clue", "entity", ENTITY | {"clue_nodes": ["c2", "f3", "f99"]}),
    ("unknown clue", "entity", ENTITY | {"clue_nodes": ["f3"]}),
    ("internal id", "entity", ENTITY | {"question": "Which film, as f1 is one, is set in Gull Island?"}),
    ("leaking", "entity", ENTITY | {"question": "Is Winter Harbour the film that is set in Gull Island?"}),
    ("unnamed", "entity", ENTITY | {"question": "Which film is set on an island?"}),
    (
        "unnamed",
        "set",
        SET
        | {
            "answer": ["Night Ferry", "Salt Road", "Winter Harbour", "The Quiet Mill"],
            "clue_nodes": ["c1", "f1", "f2", "f3", "f4"],
            "gold_query": f"MATCH (x:film)-[:`set in`]->(c) {NUMBER_AND_IDS}",
        },
    ),
    (
        "illegal",
        "entity",
        ENTITY
        | {
            "question": "Which film was made where Ada Holm was born?",
            "clue_nodes": ["p1", "f3"],
            "gold_query": (
                "MATCH (p {id: 'p1'})-[:`born in`]->(c), (x:film) WHERE x.name STARTS WITH 'Win' " + NUMBER_AND_IDS
            ),
        },
    ),
    (
        "unnamed",
        "entity",
        ENTITY
        | {
            "question": "Which film is set in Orsova?",
            "answer": ["Salt Road"],
            "clue_nodes": ["c1", "f2"],
            "gold_query": SET["gold_query"].replace("RETURN", "WHERE x.name STARTS WITH 'S' AND x.id <> 'f4' RETURN"),
        },
    ),
    ("illegal", "hard", HARD | ENTITY),
    ("illegal", "entity", HARD),
    ("illegal", "boolean", TRUE | {"gold_query": TRUE["gold_query"].replace("{id: 'f1'}", "")}),
    ("illegal", "entity", ENTITY | {"gold_query": ENTITY["gold_query"].replace("-[:`set in`]->", "--")}),
    (
        "ambiguous",
        "entity",
        {
            "question": "In which film did Kim Roe act?",
            "answer": ["Salt Road"],
            "clue_nodes": ["p5", "f2"],
            "gold_query": f"MATCH (p {{id: 'p5'}})-[:`acted in`]->(x:film) {NUMBER_AND_IDS}",
        },
    ),
    (
        "ambiguous",
        "set",
        {
            "question": "Who acted in Salt Road?",
            "answer": ["Kim Roe", "Kim Roe"],
            "clue_nodes": ["f2", "p5", "p6"],
            "gold_query": f"MATCH (x:person)-[:`acted in`]->(f {{id: 'f2'}}) {NUMBER_AND_IDS}",
        },
    ),
]


@pytest.mark.parametrize(("reason", "kind", "report"), WRONG, ids=[f"{at}-{one[0]}" for at, one in enumerate(WRONG)])
def test_what_is_wrong_is_never_kept_and_told(graph, reason, kind, report):
    wanted = True if kind == "boolean" else None
    item, faults = checked(graph, report, kind, wanted=wanted)
    assert item is None
    assert reason in {one.reason for one in faults}
    assert all(one.detail for one in faults)


@pytest.mark.slow
def test_what_templates_make_passes_as_a_report_too(build):
    """Two readers of one query: the templates know what they put into it, the shape is read off the text."""
    graph = build(*demo_records())
    made = generate_quiz(graph, 16, random_seed=3).items
    assert len({item.cell for item in made}) >= 12
    for one in made:
        text = one.gold_query
        for name, value in sorted(one.gold_parameters.items(), reverse=True):
            text = text.replace(f"${name}", json.dumps(value))
        answer = one.answers[:1] if one.answer_type == "entity" else one.answers
        report = report_of(
            {"question": one.question, "answer": [*answer], "clue_nodes": [*one.clue_nodes], "gold_query": text}
        )
        ordered = QuizOrder(id=one.id, place=0, cell=one.cell, seed=one.anchors[0])
        item, faults = check_report(graph, report, ordered, ItemMaker("model", 3, "sha"), touched=one.clue_nodes)
        assert faults == (), (one.question, text)
        assert (item.hops, item.anchors, set(item.edge_types)) == (one.hops, one.anchors, set(one.edge_types))


def test_what_a_query_compares_with_is_said_in_the_question(graph):
    query = SET["gold_query"].replace("RETURN", "WHERE x.id <> 'f4' AND x.name <> 'Nothing Else' RETURN")
    told = {
        "question": "Besides The Quiet Mill and Nothing Else, which graph are set in Orsova?",
        "answer": ["Night Ferry", "Salt Road"],
        "clue_nodes": ["c1", "f1", "f2"],
        "gold_query": query,
    }
    assert checked(graph, told, "set", seed="c1").faults == ()
    untold = told | {"question": "Which films are set in Orsova?"}
    details = [one.detail for one in checked(graph, untold, "set", seed="c1").faults]
    assert len(details) == 2
    assert "'f4'" in details[0]
    assert "'Nothing Else'" in details[1]


@pytest.mark.parametrize(
    ("query", "values"),
    [
        ("MATCH (a {id: 'f1'})--(x) WHERE x.year > 1990 AND x.kind = 'short' RETURN count(x)", ["f1", "1990", "short"]),
        ("MATCH (a {id: 'f1'})-[e]-(x) WHERE type(e) = 'directed' RETURN count(x)", ["f1"]),
        ("MATCH (a {id: 'f1'})-[e]-(x) WHERE type(e) IN ['set in'] AND x.name = 'B' RETURN count(x)", ["f1", "B"]),
        ("MATCH (a {id: 'f1'})--(x) WITH x, count(*) AS k WHERE k > 2 RETURN count(x)", ["f1"]),
        ("MATCH (a {id: 'f1'})--(x) WHERE coalesce(x.note, '') = '' RETURN count(x)", ["f1"]),
    ],
)
def test_what_a_query_compares_with(query, values):
    assert sorted(read_shape(query).compared) == sorted(values)


def test_all_that_is_wrong_is_told_at_once_also_where_nothing_is_proved(graph):
    report = ENTITY | {"question": "Which film is set on f3?", "gold_query": SET["gold_query"], "clue_nodes": ["f77"]}
    reasons = {one.reason for one in checked(graph, report, touched=set()).faults}
    assert reasons >= {"not unique", "unnamed", "unknown clue", "untouched clue"}


@pytest.mark.parametrize("seed", range(4))
def test_spoiled_queries_are_refused_or_prove_the_same(graph, seed):
    sound = {"entity": ENTITY, "set": SET, "number": NUMBER, "boolean": TRUE, "hard": HARD}
    chance = np.random.default_rng(seed)
    others = [report["gold_query"] for report in sound.values()]
    for kind, report in [*sound.items()] * 15:
        query = mutate(report["gold_query"], chance, others)
        found = checked(graph, report | {"gold_query": query}, kind, wanted=True if kind == "boolean" else None)
        assert (found.item is None) == bool(found.faults)
        if found.item is not None:
            assert set(report["answer"]) <= set(found.item.answers), query


@pytest.mark.parametrize(
    "question",
    ["Gull Island", "Gull Island?", "Film: Gull Island", "\u202eWhich film is set in Gull Island?", "{0}{1}"],
)
def test_what_nobody_would_ask_is_no_question(graph, question):
    said = question.format("Which film is set in Gull Island? ", "Well? " * 200).strip()
    reasons = [one.reason for one in checked(graph, ENTITY | {"question": said}).faults]
    assert reasons == ["unwritable"]


def test_a_relation_that_is_given_is_named_in_the_query(graph):
    query = NUMBER["gold_query"].replace("[:directed]", "[directed]")
    reasons = [one.reason for one in checked(graph, NUMBER | {"gold_query": query}, "number", seed="p1").faults]
    assert reasons == ["illegal"]


@pytest.mark.parametrize(
    ("pattern", "query", "reasons"),
    [
        ("<h,_,_>", "MATCH (x:film)--(c {id: 'c2'})", []),
        ("<h,_,_>", "MATCH (x:film)-[:`set in`]->(c {id: 'c2'})", ["illegal"]),
        ("<h,r,_>", "MATCH (x:film)-[:`set in`]->(c {id: 'c2'})", []),
        ("<h,r,_>", "MATCH (x:film)-[:`set in`]->(c {id: 'c2'}) MATCH (y {id: 'p2'})-[:`set in`]-(x)", ["illegal"]),
        ("<h,_,_>", "MATCH (x:film)--(c {id: 'c2'}) MATCH (y {id: 'p2'})--(x)", ["illegal"]),
        ("<h,*,t>", "MATCH (x:film)--(c {id: 'c2'}) MATCH (y {id: 'p2'})--(x)", []),
        ("<h,*,t>", "MATCH (x:film)--(c {id: 'c2'})", ["illegal"]),
    ],
)
def test_a_pattern_gives_its_things_and_its_relations_and_no_others(graph, pattern, query, reasons):
    anchors, question = ["c2"], "Which film is joined to Gull Island?"
    if "p2" in query:
        anchors, question = ["c2", "p2"], "Which film is joined to both Gull Island and Noor Vik?"
    if "set in" in query and "p2" in query:  # nobody is set in a film: what is asked of the shape is asked all the same
        reasons = ["empty", *reasons]
    report = {
        "question": question,
        "answer": ["Winter Harbour"],
        "clue_nodes": [*anchors, "f3"],
        "gold_query": f"{query} {NUMBER_AND_IDS}",
    }
    ordered = QuizOrder(id="o", place=0, cell=QuizCell("entity", pattern, "simple"), seed="c2")
    found = check_report(graph, report_of(report), ordered, ItemMaker("model", 0, "sha"), touched=report["clue_nodes"])
    assert [one.reason for one in found.faults] == reasons, found.faults


def test_nothing_begins_from_a_hub(build):
    spokes = [Node(f"s{at}", "spoke", f"Spoke Number {at}") for at in range(MOST_EDGES + 1)]
    far = Node("far", "rim", "Far Rim")
    edges = [*(Edge(one.id, "meets", "hub") for one in spokes), Edge("hub", "bears", "far")]
    wheel = build([Node("hub", "hub", "The Hub"), far, *spokes], edges)
    report = {
        "question": "Which rim does The Hub bear?",
        "answer": ["Far Rim"],
        "clue_nodes": ["hub", "far"],
        "gold_query": f"MATCH (h {{id: 'hub'}})-[:bears]->(x:rim) {NUMBER_AND_IDS}",
    }
    assert [one.reason for one in checked(wheel, report, seed="hub").faults] == ["hub"]
    seeds = {Objectives(wheel, 0, "model").order(place, 0).seed for place in range(40)}
    assert "far" in seeds
    assert "hub" not in seeds


def test_a_clue_that_never_came_up_is_a_lie(graph):
    item, faults = checked(graph, HARD, "hard", touched={"c2", "f3", "c1"})
    assert item is None
    assert [(one.reason, "p3" in one.detail) for one in faults] == [("untouched clue", True)]


def test_clues_keep_clear_of_what_is_to_be_avoided(graph):
    faults = checked(graph, HARD, "hard", avoid={"f3"}).faults
    assert [one.reason for one in faults] == ["avoided"]
