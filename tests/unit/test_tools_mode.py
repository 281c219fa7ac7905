"""Searches of an agent by meaning: an argument where the graph has vectors, none where it has not."""

import pytest

from clinic import EDGES, NODES, ask
from fakes.embedder import embedded
from orienteer.graph import Graph
from orienteer.tools import PLAIN_PARAMETERS, Toolbox, open_plain

TOOLS = ("search_in_graph", "search_in_neighborhood")


@pytest.fixture(scope="module")
def vectors(scratch):
    return embedded(Graph.from_records(NODES, EDGES, path=scratch()), scratch())


@pytest.fixture
def near(vectors):
    return Toolbox.full(vectors)


def options(tools, name):
    return next(spec for spec in tools.specs if spec.name == name).parameters["properties"]


@pytest.mark.parametrize("name", TOOLS)
def test_the_argument_is_there_where_there_are_vectors(toolbox, near, name):
    assert "mode" not in options(toolbox, name)
    assert options(near, name)["mode"]["enum"] == ["lexical", "dense", "hybrid"]


def test_the_papers_tools_have_no_such_argument(vectors):
    for spec in open_plain(vectors, "hybrid", PLAIN_PARAMETERS).specs:
        assert "mode" not in spec.parameters["properties"]


@pytest.mark.parametrize("mode", ["dense", "hybrid"])
def test_the_whole_graph_and_a_set_are_ranked_as_the_store_ranks_them(vectors, near, mode):
    query = "yellow zebra"
    expected = [hit.id for hit in vectors.search(query, 4, mode=mode)]
    assert list(ask(near, "search_in_graph", query=query, mode=mode, k=4).nodes) == expected
    typed = ask(near, "search_in_graph", query=query, mode=mode, node_types=["Symptom"]).nodes
    assert list(typed) == [hit.id for hit in vectors.search(query, 5, mode=mode, node_types=["Symptom"])]
    neighbours = ask(near, "search_in_neighborhood", node="Malaria", query=query, mode=mode).nodes
    assert list(neighbours) == [hit.id for hit in vectors.neighbors("Malaria", query, mode=mode).hits]
    saved = next(f"@{place}" for place, rows in enumerate(near.session.sets, 1) if len(rows) == len(neighbours))
    within = ask(near, "search_in_graph", query=query, mode=mode, among=saved, k=100).nodes
    assert set(within) == set(neighbours)


def test_the_mode_of_the_session_is_what_is_not_said(vectors, near):
    near.session.mode = "dense"
    expected = [hit.id for hit in vectors.search("yellow", 5, mode="dense")]
    assert list(ask(near, "search_in_graph", query="yellow").nodes) == expected
    assert ask(near, "search_in_graph", query="yellow", mode="lexical").nodes == ("d1", "s1")
    found = ask(near, "search_in_neighborhood", node="Malaria", query="pain").nodes
    assert list(found) == [hit.id for hit in vectors.neighbors("Malaria", "pain", mode="dense").hits]


@pytest.mark.parametrize(
    ("mode", "options"), [("hybrid:0.9", {"weight": 0.9}), ("hybrid:.1", {"weight": 0.1}), ("rrf", {"fusion": "rrf"})]
)
def test_a_session_can_have_any_weight_and_reciprocal_places(vectors, near, mode, options):
    near.session.mode = mode
    rows = vectors.arrays.searcher("hybrid", **options).search("yellow pain", 5).rows
    assert list(ask(near, "search_in_graph", query="yellow pain").nodes) == [
        vectors.arrays.ids[row] for row in rows.tolist()
    ]
    found = ask(near, "search_in_neighborhood", node="Malaria", query="yellow pain").nodes
    assert list(found) == [hit.id for hit in vectors.neighbors("Malaria", "yellow pain", mode=mode).hits]


def test_a_mode_that_there_is_not_comes_back_as_text(near):
    assert ask(near, "search_in_graph", query="yellow", mode="sparse").error == "BadCall"
