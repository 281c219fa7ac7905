"""The tool `cypher`: rows for the model, a set for its next calls."""

import pytest

from clinic import EDGES, NODES, ask, members
from orienteer.tools import RunCypher, Session, Toolbox

pytestmark = pytest.mark.process


@pytest.fixture(scope="module")
def graph(make):
    return make(NODES, EDGES)


@pytest.fixture
def toolbox(graph):
    return Toolbox.full(graph, offers_cypher=True)


def test_it_is_offered_where_it_is_asked_for(graph, toolbox):
    assert "cypher" in [spec.name for spec in toolbox.specs]
    assert "cypher" not in [spec.name for spec in Toolbox.full(graph).specs]


def test_nodes_of_the_first_column_that_has_any_are_a_set(toolbox):
    query = "MATCH (c:Compound)-[:treats|palliates]->(d) RETURN count(*) AS k, d, collect(c.name) AS by ORDER BY k DESC"
    found = ask(toolbox, "cypher", query=query)
    first, second, third, *_ = found.text.split("\n")
    assert first == "@1: 2 nodes in 2 rows: k | d | by"
    assert second.startswith("3 | [d3] Headache (Disease) | [")
    assert third.startswith("2 | [d2] Malaria (Disease)")
    assert found.nodes == ("d3", "d2")
    assert members(toolbox, "@1") == {"d2", "d3"}


def test_ids_are_nodes_too_and_a_set_can_be_walked_on(toolbox):
    ask(toolbox, "cypher", query="MATCH (d:Disease)<-[:treats]-() RETURN DISTINCT d.id")
    found = ask(toolbox, "follow", start="@1", steps=[{"edge": "presents"}])
    assert {"s1", "s2"} == set(found.nodes)


def test_rows_without_nodes_make_no_set(toolbox):
    found = ask(toolbox, "cypher", query="MATCH (c:Compound) RETURN count(c) AS k")
    assert found.text.startswith("1 row: k\n3\n")
    assert not found.nodes
    assert not toolbox.session.sets


def test_rows_are_shown_up_to_k_and_edges_as_arrows(toolbox):
    found = ask(toolbox, "cypher", query="MATCH (c)-[r:treats]->() RETURN r, c.name ORDER BY c.name", k=2)
    lines = found.text.split("\n")
    assert lines[1:3] == ["[c1] -treats-> [d3] | Aspirin", "[c2] -treats-> [d3] | Ibuprofen"]
    assert "[c3]" not in found.text


def test_mistakes_come_back_as_text(toolbox):
    found = ask(toolbox, "cypher", query="MATCH (d:Diseas) RETURN d")
    assert found.error == "UnknownType"
    assert "Near: Disease" in found.text
    assert ask(toolbox, "cypher", query="MATCH (d) DELETE d").error == "BadQuery"


def test_a_long_answer_keeps_the_budget(graph):
    tool = RunCypher(Session(graph, 60))
    assert len(tool({"query": "MATCH (a), (b) RETURN a, b", "k": 100}).text) <= 60 * 4
