"""Questions that ask for no ranking: compare two nodes, what a graph is about, a statement in Cypher."""

import random

import pytest

from orienteer import Graph, Retriever
from orienteer.errors import BadQuery, UnknownType
from orienteer.ingest import demo_records
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
