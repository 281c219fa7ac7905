"""Local search of Microsoft's GraphRAG (Edge et al. 2024): entities, relations, communities, shares of the tokens."""

import json

import networkx
import numpy as np
import pytest

from fakes.inside import inside
from orienteer.errors import BadOption
from orienteer.graph import Graph, piece_folder
from orienteer.lab.bases import (
    COMMUNITIES_ABOUT,
    COMMUNITIES_PIECE,
    LARGEST_COMMUNITY,
    MsGraph,
    MsGraphConfig,
    find_communities,
    open_communities,
)
from orienteer.lab.replay import replay as replay_trajectory
from orienteer.llm import Allowance, Budget, ScriptedModel
from orienteer.methods import METHODS
from orienteer.records import Edge, Node, Question
from orienteer.retrieval import Query
from orienteer.retriever import Retriever
from orienteer.settings import Settings
from orienteer.text import count_tokens

SIZE = 4


def clique(letter):
    nodes = [Node(f"{letter}{at}", "thing", f"{letter.upper()}{at} Works", f"Makes {letter}.") for at in range(SIZE)]
    edges = [Edge(a.id, "trades_with", b.id) for at, a in enumerate(nodes) for b in nodes[at + 1 :]]
    return nodes, edges


# Two groups of four in which everything is joined, one bridge, and a node that nothing is joined to.
GROUPS = [clique("k"), clique("l")]
NODES = [*GROUPS[0][0], *GROUPS[1][0], Node("alone", "thing", "Lonely Works")]
EDGES = [*GROUPS[0][1], *GROUPS[1][1], Edge("k0", "owns", "l0", text="since 1912")]
CHUNKS = [Node(f"p_{node.id}", "chunk", node.name, f"A text about {node.name}. " * 5) for node in NODES]
HELD = [Edge(f"p_{node.id}", "titled", node.id) for node in NODES]


@pytest.fixture
def graph(build):
    return build([*NODES, *CHUNKS], [*EDGES, *HELD])


def gather(graph, text, model=None, run=None, **options):
    return MsGraph(graph, MsGraphConfig(**options), model=model).gather(Query(text), run or Allowance())


def of_type(found, node_type):
    return [one.item for one in found.nodes if one.item.type == node_type]


# ------------------------------------------------------------------------------------------------------ communities


def groups_of(graph, level):
    found = {}
    for row, community in enumerate(level.tolist()):
        if community >= 0:
            found.setdefault(community, set()).add(graph.arrays.ids[row])
    return sorted(map(sorted, found.values()))


def test_two_groups_with_a_bridge_are_two_communities(build):
    graph = build(NODES, EDGES)
    found = find_communities(graph, np.ones(len(graph), np.bool_))
    assert groups_of(graph, found[0]) == [sorted(one.id for one in nodes) for nodes, _ in GROUPS]
    assert found[0][graph.arrays.row("alone")] == -1
    assert (found[0] == found[1]).all()  # too small to be cut
    assert all(graph.arrays.ids[one] in ("k0", "l0") for one in found[0] if one >= 0)  # called by the first


def test_large_communities_are_cut_and_each_level_lies_within_the_one_above(build):
    karate = networkx.karate_club_graph()
    nodes = [Node(f"n{node:02}", "member", f"Member {node}") for node in karate]
    graph = build(nodes, [Edge(f"n{a:02}", "knows", f"n{b:02}") for a, b in karate.edges])
    found = find_communities(graph, np.ones(len(graph), np.bool_))
    groups = [groups_of(graph, level) for level in found]
    modularity = networkx.community.modularity(
        karate, [{int(one[1:]) for one in group} for group in groups[0]], weight=None
    )
    assert modularity > 0.4  # the best known of this graph is 0.4198
    assert max(map(len, groups[0])) > LARGEST_COMMUNITY
    assert len(groups[1]) > len(groups[0])
    for above, below in zip(groups, groups[1:], strict=False):
        assert all(any(set(part) <= set(whole) for whole in above) for part in below)
    assert (find_communities(graph, np.ones(len(graph), np.bool_)) == found).all()


def test_they_are_made_once_and_lie_beside_the_graph(build, monkeypatch):
    graph = build(NODES, EDGES)
    mask = np.ones(len(graph), np.bool_)
    first = open_communities(graph, mask).copy()
    monkeypatch.setattr(inside(open_communities), "find_communities", None)
    assert (open_communities(Graph.open(graph.path), mask) == first).all()
    folder = piece_folder(graph.path, COMMUNITIES_PIECE)
    monkeypatch.undo()
    (folder / COMMUNITIES_ABOUT).write_text("{")
    assert (open_communities(graph, mask) == first).all()
    assert piece_folder(graph.path, COMMUNITIES_PIECE) != folder


def test_facts_alone_make_communities(build):
    entities = [Node(one, "thing", one.upper()) for one in ("a", "b", "c", "d")]
    facts = [Node("f1", "fact", "a and b"), Node("f2", "fact", "c and d")]
    members = [
        Edge("f1", "member", "a"),
        Edge("f1", "member", "b"),
        Edge("f2", "member", "c"),
        Edge("f2", "member", "d"),
    ]
    graph = build([*entities, *facts], members)
    assert groups_of(graph, find_communities(graph, np.ones(6, np.bool_))[0]) == [["a", "b", "f1"], ["c", "d", "f2"]]


def test_no_edges_no_communities(build):
    graph = build(NODES, [])
    assert (find_communities(graph, np.ones(len(graph), np.bool_)) == -1).all()
    assert not of_type(gather(graph, "What is K0 Works?"), "community")


# ---------------------------------------------------------------------------------------------------- local search


def test_entities_relations_passages_and_a_report(graph):
    found = gather(graph, "What does K0 Works own?", entities=2)
    assert of_type(found, "chunk")[0].id == "p_k0"
    assert of_type(found, "thing")[0].id == "k0"
    assert found.edges[0].item == Edge("k0", "owns", "l0", text="since 1912")
    report = of_type(found, "community")[0]
    assert report.properties == {"level": 2, "members": SIZE}
    assert report.text.splitlines()[0] == "K0 Works (thing): Makes k."  # the best connected first
    assert "K0 Works -trades_with-> K1 Works" in report.text
    assert "L1" not in report.text
    assert not found.reason


def test_relations_between_two_entities_come_first(graph):
    found = gather(graph, "K0 Works and K1 Works", entities=2)
    first = found.edges[0].item
    assert (first.source, first.target) == ("k0", "k1")


def test_communities_of_most_entities_come_first(graph):
    found = gather(graph, "K0 Works, K1 Works, L3 Works", entities=3)
    reports = of_type(found, "community")
    assert [node.name.split()[0] for node in reports] == ["K0", "L0"]


def test_communities_that_the_graph_holds_are_told_by_rating_and_level(build):
    given = [
        Node("c0", "community", "All", "Everything.", (), {"level": 0, "rating": 3.0}),
        Node("c1", "community", "Makers of k", "They trade.", (), {"level": 1, "rating": 9.0}),
        Node("c2", "community", "Fine", "Too fine.", (), {"level": 5, "rating": 10.0}),
    ]
    members = [Edge(f"k{at}", "in_community", one.id) for one in given for at in range(SIZE)]
    graph = build([*NODES, *given], [*EDGES, *members])
    found = gather(graph, "What is K0 Works?")
    assert [node.id for node in of_type(found, "community")] == ["c1", "c0"]
    assert piece_folder(graph.path, COMMUNITIES_PIECE) is None
    assert [node.id for node in of_type(gather(graph, "What is K0 Works?", levels=1), "community")] == ["c0"]


@pytest.mark.parametrize("budget", [200, 400, 1_000])
def test_each_kind_keeps_to_its_share_of_the_tokens(graph, budget):
    found = gather(graph, "What does K0 Works own?", tokens=budget)
    cost = {
        kind: sum(count_tokens(one.name) + count_tokens(one.text) for one in of_type(found, kind))
        for kind in ("chunk", "community", "thing")
    }
    assert cost["chunk"] <= 0.5 * budget
    assert cost["community"] <= 0.15 * budget
    assert cost["thing"] <= 0.35 * budget / 2
    assert cost["chunk"] > 0


REPORT = json.dumps({"title": "The makers of k", "report": "Four works trade."})


def test_a_model_writes_each_report_once(graph):
    asked = []

    def policy(messages, tools, sampling):
        asked.append(messages[-1].content)
        return REPORT

    base = MsGraph(graph, MsGraphConfig(reports="model", entities=1), model=ScriptedModel(policy))
    run = Allowance()
    for _ in range(2):
        [report] = of_type(base.gather(Query("What is K0 Works?"), run), "community")
        assert (report.name, report.text) == ("The makers of k", "Four works trade.")
    assert len(asked) == run.usage().calls == 1
    assert "K0 Works (thing): Makes k." in asked[0]


def test_where_the_budget_ends_reports_are_lists(graph):
    model = ScriptedModel(lambda *_: REPORT)
    found = gather(graph, "What is K0 Works?", model, Allowance(Budget(calls=1)), reports="model")
    assert "reports are lists" in found.reason
    assert "trades_with" in of_type(found, "community")[0].text


def test_a_report_that_cannot_be_read_is_the_list(graph):
    found = gather(graph, "What is K0 Works?", ScriptedModel(lambda *_: "no json"), reports="model")
    assert "trades_with" in of_type(found, "community")[0].text


def test_options_are_checked(graph):
    with pytest.raises(BadOption, match="reports is 'all'"):
        MsGraphConfig(reports="all")
    with pytest.raises(BadOption, match="there is no model"):
        METHODS["msgraph-local"].make(graph, options={"reports": "model"})


def test_a_persons_graph_and_one_of_passages_alone(small, build):
    found = gather(small, "Who directed Night Ferry?")
    assert {"f1", "p1"} <= {one.item.id for one in found.nodes}
    chunks = [Node("1", "chunk", "Ferry", "A film by Ada."), Node("2", "chunk", "Ada", "Born in Orsova.")]
    found = gather(build(chunks, [Edge("1", "mentions", "2")]), "Who made Ferry?")
    assert [one.item.id for one in found.nodes if one.item.type == "chunk"] == ["1", "2"]


def test_nothing_found_has_a_reason(graph):
    found = gather(graph, "zzz")
    assert not found
    assert "nothing in the graph is named" in found.reason


def test_the_method_ranks_passages_and_replays(graph):
    found = Retriever(graph, "msgraph-local", settings=Settings()).ask("What does K0 Works own?")
    assert found.hits[0].id == "p_k0"
    assert {hit.type for hit in found.hits} == {"chunk"}
    assert all(one.is_equal for one in replay_trajectory(found.trajectories[0], graph))
    assert METHODS["msgraph-local"].make(graph).retrieve(Question(text="zzz"), Allowance()).hits == ()


def test_a_title_is_made_of_members_and_names_none_twice(build):
    nodes = [Node("a", "person", "Peder Lisk"), Node("b", "place", "Quillhaven"), Node("c", "town", "Quillhaven")]
    facts = [Node(f"f{at}", "fact", "Peder Lisk, Quillhaven", f"Peder Lisk {at}.") for at in range(3)]
    members = [Edge(fact.id, "member", one) for fact in facts for one in ("a", "b", "c")]
    near = [Edge("a", "near", "b"), Edge("a", "near", "c"), Edge("b", "near", "c")] * 3
    graph = build([*nodes, *facts], [*members, *near])
    (told,) = of_type(gather(graph, "Peder Lisk"), "community")
    assert told.name == "Peder Lisk, Quillhaven"
