"""Questions that ask for no ranking: compare two nodes, what a graph is about, a statement in Cypher."""

import random
import time

import pytest

from orienteer import Edge, Graph, Node, Retriever
from orienteer.errors import BadQuery, UnknownType
from orienteer.ingest import demo_records
from orienteer.llm import Budget
from orienteer.settings import Settings

pytestmark = pytest.mark.slow
NODES, EDGES = demo_records()
NAMES = {node.id: node.name for node in NODES}


@pytest.fixture(scope="module")
def retriever(tmp_path_factory):
    graph = Graph.from_records(NODES, EDGES, path=tmp_path_factory.mktemp("roads") / "languages")
    return Retriever(graph, settings=Settings())


def neighbours(node):
    out = {edge.target for edge in EDGES if edge.source == node}
    return (out | {edge.source for edge in EDGES if edge.target == node}) - {node}


def test_compare_gives_what_the_rows_give(retriever):
    chance = random.Random(5)
    languages = [node for node in NODES if node.type == "language"]
    for _ in range(12):
        a, b = chance.sample(languages, 2)
        result = retriever.ask(f"compare {a.name} and {b.name}", 200)
        shared = neighbours(a.id) & neighbours(b.id)
        assert result.method == result.table.kind == "compare"
        assert {hit.id for hit in result.hits} == shared
        assert f"{len(shared)} neighbour" in result.answer
        for hit in result.hits:  # each is proved by an edge to both
            ends = {end for edge in hit.edges for end in (edge.source, edge.target)}
            assert ends == {hit.id, a.id, b.id}
            assert all((e.source, e.type, e.target) in {(o.source, o.type, o.target) for o in EDGES} for e in hit.edges)
        assert result.table.columns == ("", "both", a.name, b.name)
        rows = {row[0]: row[1:] for row in result.table.rows}
        for name in ("year", "typing"):
            one, other = (str(node.properties.get(name, "")) for node in (a, b))
            assert rows.get(name, ("", "", "")) == ((one, "", "") if one == other else ("", one, other))


def test_a_group_of_a_comparison_names_and_counts(retriever):
    rows = {row[0]: row[1:] for row in retriever.ask("compare Rust with Go").table.rows}
    of = {
        name: {NAMES[edge.target] for edge in EDGES if (NAMES[edge.source], edge.type) == (name, "supports")}
        for name in ("Rust", "Go")
    }
    both, rust, go = (set(filter(None, cell.split(", "))) for cell in rows["supports → paradigm"])
    assert (both, rust, go) == (of["Rust"] & of["Go"], of["Rust"] - of["Go"], of["Go"] - of["Rust"])
    influences = {NAMES[edge.target] for edge in EDGES if (NAMES[edge.source], edge.type) == ("Rust", "influenced_by")}
    own = rows["influenced by → language"][1]
    assert own.endswith(f"{len(influences) - 5} more")  # what is cut off is counted


@pytest.mark.parametrize(
    "question",
    [
        "Compare C and C++",
        "What is the difference between C and C++?",
        "how do C and C++ differ?",
        "Vergleiche C mit C++",
        "compare C to C++.",
    ],
)
def test_ways_to_ask_for_a_comparison(retriever, question):
    result = retriever.ask(question)
    assert result.table.columns[2:] == ("C", "C++")
    assert result.refusal is None


@pytest.mark.parametrize(
    "question",
    [
        "What is in this graph?",
        "what is this graph about?",
        "Was ist in diesem Graphen?",
        "describe the graph",
        "Overview",
    ],
)
def test_ways_to_ask_what_a_graph_is_about(retriever, question):
    result = retriever.ask(question)
    assert result.answer.startswith("169 nodes: 60 people")
    assert [row[0] for row in result.table.rows] == ["hop", "both", "count", "most", "not", "per", "path"]
    assert result.hits == ()


@pytest.mark.parametrize(
    "question",
    [
        "Which language did Matz design?",
        "compare Rust and Nonsense",
        "what is in Unix?",
        "match Rust and Go",
        "Which languages create Unix (and return)?",
        "with whom did Dennis Ritchie work, and did he return?",
        "With which company did Ada work as director before her return?",
        "match (if any) Rust and Go",
    ],
)
def test_other_questions_take_no_road(retriever, question):
    result = retriever.ask(question, 3)
    assert result.table is None
    assert result.method == "anchor"


def test_a_search_or_a_given_reading_takes_no_road(retriever):
    assert retriever.search("compare Rust and Go", 3).table is None
    assert retriever.ask("compare Rust and Go", 3, reading="count language").answer == "45"


def test_a_statement_is_a_table_with_proofs(retriever):
    result = retriever.ask(
        "MATCH (l:language)-[:designed_by]->(p:person {name: 'Niklaus Wirth'}) RETURN l, p ORDER BY l.name"
    )
    wirth = sorted(e.source for e in EDGES if NAMES[e.target] == "Niklaus Wirth" and e.type == "designed_by")
    assert result.table.columns == ("l", "p")
    assert [row[0]["id"] for row in result.table.rows] == sorted(wirth, key=NAMES.get)
    assert result.answer == f"{len(wirth)} rows"
    assert {hit.id for hit in result.hits} == {*wirth, "person:niklaus-wirth"}
    designed = {(edge.source, edge.target) for hit in result.hits for edge in hit.edges if edge.type == "designed_by"}
    assert designed == {(language, "person:niklaus-wirth") for language in wirth}
    assert retriever.ask("match (n:language) return count(n)").answer == "45"


def test_a_statement_that_is_wrong_says_so(retriever):
    with pytest.raises(BadQuery, match="CREATE is not allowed"):
        retriever.ask("CREATE (n:language {id: 'x'})")
    with pytest.raises(UnknownType, match="'lang'"):
        retriever.ask("MATCH (n:lang) RETURN n")


def test_a_retriever_may_run_no_statement(tmp_path):
    graph = Graph.from_records(NODES, EDGES, path=tmp_path / "languages")
    retriever = Retriever(graph, settings=Settings())
    retriever.runs_cypher = False
    result = retriever.ask("MATCH (n) RETURN n")
    assert (result.answer, result.table, result.hits) == (None, None, ())
    assert "--cypher" in result.refusal.text


def test_a_statement_has_the_seconds_of_its_question(retriever):
    heavy = "MATCH (a:language), (b:language), (c:language), (d:language), (e:language) RETURN count(*)"
    result = retriever.ask(heavy, budget=Budget(seconds=0.3))
    assert (result.stopped_by, result.answer, result.table) == ("seconds", None, None)
    assert result.notes


@pytest.mark.parametrize(("name", "question"), [("Data", "Data"), ("Collection", "show me the collection")])
def test_what_a_graph_names_is_no_question_about_the_graph(tmp_path, name, question):
    graph = Graph.from_records([Node(id="a", type="robot", name=name)], [], path=tmp_path / "graph")
    assert Retriever(graph, settings=Settings()).ask(question).method != "overview"
    assert Retriever(graph, settings=Settings()).ask("what is in this graph?").method == "overview"


def test_types_and_conditions_narrow_hits_and_a_note_says_so(retriever):
    result = retriever.ask("MATCH (l:language)-[:designed_by]->(p:person) RETURN l, p LIMIT 3", node_types=["person"])
    assert {hit.type for hit in result.hits} == {"person"}
    assert any("narrow the hits only" in note for note in result.notes)


def test_namesakes_are_told_apart_by_their_ids(tmp_path):
    nodes = [Node(id=f"p{n}", type="person", name="Ada") for n in (1, 2)]
    nodes += [Node(id=f"f{n}", type="firm", name=f"Firm {n}") for n in (1, 2)]
    edges = [Edge(source="p1", type="owns", target="f1"), Edge(source="p2", type="owns", target="f2")]
    graph = Graph.from_records(nodes, edges, path=tmp_path / "graph")
    result = Retriever(graph, settings=Settings()).ask("compare Ada and Ada")
    assert result.answer.startswith(
        "p1 and p2 have 0 neighbours in common; p1 has 1 of its own and p2 has 1 of its own"
    )
    assert len(result.notes) == len(set(result.notes))


def test_a_long_comparison_ends_soon(retriever):
    retriever.search("Rust")
    began = time.monotonic()
    assert retriever.ask("compare " + "x and " * 1_600 + "y", 1).method != "compare"
    assert time.monotonic() - began < 3


def test_an_exact_answer_has_as_many_nearby_as_asked_for(retriever):
    question = "Which languages are designed by Niklaus Wirth?"
    few, many = retriever.search(question, 10), retriever.search(question, 80)
    ids = [hit.id for hit in many.hits]
    assert len(ids) == len(set(ids)) > 60
    assert [hit.id for hit in few.hits] == ids[:10]
    scores = [hit.score for hit in many.hits]
    assert scores == sorted(scores, reverse=True)


def test_a_page_of_none_says_nothing_about_those_behind_it(retriever):
    question = "Which languages are designed by Niklaus Wirth?"
    total = retriever.search(question).total
    assert "none comes after" not in retriever.search(question, 0, offset=1).meeting
    assert "none comes after" in retriever.search(question, 5, offset=total).meeting


def test_questions_about_edges_are_read_where_one_edge_joins_two_types(retriever):
    from orienteer.retriever import overview

    schema = retriever.graph.schema
    asked = dict(zip(schema.edges, overview(retriever.graph).asks, strict=True))
    ends = [{triple.source, triple.target} for triple in schema.edges]
    single = [triple for triple in asked if ends.count({triple.source, triple.target}) == 1 and len({*triple}) == 3]
    assert len(single) > 5
    for triple in (triple for triple in single if triple.source != triple.target):
        read = retriever.search(asked[triple], 1).reading
        assert read.text == f"count {triple.source} per -{triple.type}-> {triple.target}"
