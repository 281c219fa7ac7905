"""MiniRAG's retrieval (Fan et al. 2025): paths, votes and answer types, reckoned by hand on small graphs."""

from dataclasses import replace

import pytest

from fakes.inside import inside
from fakes.limits import limits_in
from orienteer.lab.bases import Mini, MiniConfig
from orienteer.lab.replay import replay as replay_trajectory
from orienteer.llm import Allowance
from orienteer.records import Edge, Node
from orienteer.retrieval import Query
from orienteer.retriever import Retriever
from orienteer.settings import Settings

# Two ways of two edges lead from Alma to Bern, one to Cork; nothing shares a word with anything.
NODES = [
    Node("a", "person", "Alma"),
    Node("m1", "thing", "Milk"),
    Node("m2", "thing", "Moss"),
    Node("b", "town", "Bern"),
    Node("c", "thing", "Cork"),
]
EDGES = [
    Edge("a", "t", "m1"),
    Edge("a", "t", "m2"),
    Edge("m1", "t", "b"),
    Edge("m2", "t", "b"),
    Edge("m2", "t", "c"),
]
CHUNKS = [Node(f"p_{node.id}", "chunk", node.name, f"About {node.name}.") for node in NODES]
HELD = [Edge(f"p_{node.id}", "titled", node.id) for node in NODES]


@pytest.fixture(scope="module")
def graph(build):
    return build([*NODES, *CHUNKS], [*EDGES, *HELD])


@pytest.fixture(scope="module")
def own(build):
    return build(NODES, EDGES)


def gather(graph, query, **options):
    query = replace(query, **limits_in(options))
    return Mini(graph, MiniConfig(**options)).gather(query, Allowance())


def entities(found):
    """Return what paths give each entity, the start's own 2 being 2."""
    shares = {one.item.id: one.score for one in found.nodes if one.item.type != "chunk"}
    return {node: 2 * share / shares["a"] for node, share in shares.items()}


def test_votes_of_all_paths_are_added_up(graph):
    """Both edges of Alma fit the query, for she is what it names: each counts 1 on every path over it.

    One edge: 1 + 1. Two edges over a middle with n edges: (1 + 1) / n, back to Alma nothing.
    """
    found = entities(gather(graph, Query("Alma", low=("Alma",))))
    assert found == pytest.approx({"a": 2, "m1": 2, "m2": 2, "b": 2 / 2 + 2 / 3, "c": 2 / 3})


def test_a_node_of_the_answers_type_counts_one_more_on_every_path(graph):
    towns = entities(gather(graph, Query("Alma", low=("Alma",), answer_types=("town",))))
    assert towns == pytest.approx({"a": 2, "m1": 2, "m2": 2, "b": 3 / 2 + 3 / 3, "c": 2 / 3})
    things = entities(gather(graph, Query("Alma", low=("Alma",), answer_types=("thing",))))
    assert things == pytest.approx({"a": 2, "m1": 3, "m2": 3, "b": 3 / 2 + 3 / 3, "c": 4 / 3})


def test_types_that_the_graph_lacks_count_nothing(graph):
    query = Query("Alma", low=("Alma",))
    assert entities(gather(graph, Query("Alma", ("Alma",), (), ("planet",)))) == entities(gather(graph, query))


def test_a_hub_in_the_middle_passes_little_on(build):
    """What lies behind a node of two edges gets half of the vote, what lies behind one of 22 a share of 1 / 22."""
    leaves = [Node(f"l{at:02}", "leaf", f"Leaf {at}") for at in range(21)]
    ends = [Node("h", "thing", "Hub"), Node("q", "thing", "Quay"), Node("z", "leaf", "Zoo"), CHUNKS[0]]
    edges = [Edge("a", "t", "h"), Edge("a", "t", "q"), Edge("q", "t", "z"), HELD[0]]
    graph = build([NODES[0], *leaves, *ends], [*edges, *(Edge("h", "t", leaf.id) for leaf in leaves)])
    found = entities(gather(graph, Query("Alma", low=("Alma",))))
    assert found["z"] == pytest.approx(2 / 2)
    assert [found[leaf.id] for leaf in leaves] == pytest.approx([2 / 22] * len(leaves))


def test_passages_are_found_by_paths_and_the_search(graph):
    """Ten times for what the search gives too, twice for what the first name's entities hold."""
    found = gather(graph, Query("About Bern", low=("Alma", "Bern")))
    passages = {one.item.id: one.score for one in found.nodes if one.item.type == "chunk"}
    assert set(passages) == {"p_a", "p_m1", "p_m2", "p_b", "p_c"}
    assert max(passages, key=passages.__getitem__) == "p_b"


def test_answers_of_the_wanted_type_come_first_in_a_persons_graph_and_others_after_them(own):
    """A type that a question names may be that of a clause: it is a preference."""
    asked = gather(own, Query("Alma", low=("Alma",), answer_types=("town",)))
    assert asked.nodes[0].item.id == "b"
    others = gather(own, Query("Alma", low=("Alma",)))
    assert {one.item.id for one in asked.nodes} == {one.item.id for one in others.nodes} == {"a", "b", "c", "m1", "m2"}
    assert [one.score for one in asked.nodes] == sorted((one.score for one in asked.nodes), reverse=True)
    assert [one.item.id for one in gather(own, Query("Alma", low=("Alma",), answer_types=("town",)), k=1).nodes] == [
        "b"
    ]


def test_a_reason_names_what_led_there(graph, own):
    why = {one.item.id: one.why for one in gather(own, Query("Alma", low=("Alma",))).nodes}
    assert why == {
        "a": "near the query's names",
        "m1": "by Alma",
        "m2": "by Alma",
        "b": "by Milk, Moss",
        "c": "by Moss",
    }
    passages = {one.item.id: one.why for one in gather(graph, Query("Alma", low=("Alma",))).nodes}
    assert passages["p_b"] == "paths lead to Bern"


def test_where_none_of_the_type_is_found_all_are_answers(build):
    graph = build([*NODES, Node("far", "planet", "Mars")], EDGES)
    found = gather(graph, Query("Alma", low=("Alma",), answer_types=("planet",)))
    assert "b" in {one.item.id for one in found.nodes}


def test_of_starts_without_an_edge_the_best_fifth_is_kept(build):
    alone = [Node(f"z{at}", "thing", "Zinc" + " ore" * at) for at in range(1, 11)]
    graph = build([*NODES, *alone], EDGES)
    found = gather(graph, Query("zinc", low=("zinc bar",)), node_types=("thing",))
    kept = [one.item.id for one in found.nodes if one.score > 0 and one.why == "near the query's names"]
    base = Mini(graph)
    starts = base._starts(Query("zinc", low=("zinc bar",)))
    assert [graph.arrays.ids[row] for row in starts.rows] == ["z1", "z2"]
    assert kept[:2] == ["z1", "z2"]


def test_middles_and_ends_are_bounded(graph, monkeypatch):
    monkeypatch.setattr(inside(Mini), "MOST_MIDDLES", 1)
    found = entities(gather(graph, Query("Alma", low=("Alma",))))
    assert found == pytest.approx({"a": 2, "m1": 2, "m2": 2, "b": 1})
    monkeypatch.setattr(inside(Mini), "MOST_ENDS", 0)
    assert set(entities(gather(graph, Query("Alma", low=("Alma",))))) == {"a", "m1", "m2"}


def test_a_graph_of_passages_alone(build):
    chunks = [Node("1", "chunk", "Ferry", "A film by Ada."), Node("2", "chunk", "Ada", "Born in Orsova.")]
    third = Node("3", "chunk", "Orsova", "On the Danube.")
    graph = build([*chunks, third], [Edge("1", "mentions", "2"), Edge("2", "mentions", "3")])
    found = gather(graph, Query("Who made Ferry?"))
    assert [one.item.id for one in found.nodes] == ["1", "2", "3"]
    assert found.edges[0].item.type == "mentions"


def test_a_name_that_leads_nowhere_leaves_the_text(graph, own):
    for one in (graph, own):
        assert gather(one, Query("What of Xyzzy and Bern?", low=("Xyzzy",)))


@pytest.mark.parametrize("text", ["zzz", ""])
def test_nothing_found_has_a_reason(graph, own, text):
    for one in (graph, own):
        found = gather(one, Query(text))
        assert not found
        assert "nothing in the graph is named" in found.reason


def test_the_method_ranks_passages_and_replays(graph):
    found = Retriever(graph, "mini", settings=Settings()).ask("Where does Alma live?")
    assert found.hits[0].id == "p_a"
    assert all(one.is_equal for one in replay_trajectory(found.trajectories[0], graph))
