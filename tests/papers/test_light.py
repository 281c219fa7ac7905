"""LightRAG's retrieval (Guo et al. 2024), and the chunk vote: rules reckoned by hand on small graphs."""

from dataclasses import replace

import numpy as np
import pytest

from fakes.embedder import embedded
from fakes.limits import limits_in
from orienteer.errors import BadOption
from orienteer.index import ScoredRows
from orienteer.lab.replay import replay as replay_trajectory
from orienteer.llm import Allowance
from orienteer.methods import METHODS
from orienteer.records import Edge, Node, Question
from orienteer.retrieval import (
    Light,
    LightConfig,
    MembershipIndex,
    PassageMembership,
    Query,
    Relations,
    ScoredRelation,
    SeedFinder,
    Spaces,
    first_of_lists,
    lists_in_turns,
    open_base,
    vote_for_passages,
)
from orienteer.retriever import Retriever
from orienteer.settings import Settings

LEVELS = ("local", "global", "hybrid", "mix")

# Ada directed Ferry; Ferry is set in Orsova, which is a hub: twelve others are tied to it.
PASSAGES = [
    Node("p1", "chunk", "Ferry", "Ferry is a film by Ada Holm."),
    Node("p2", "chunk", "Ada Holm", "Ada Holm was born to Greta."),
    Node("p3", "chunk", "Orsova", "Orsova lies on the Danube."),
    Node("p4", "chunk", "Greta", "Greta was a singer."),
    Node("p5", "chunk", "Salt", "Nothing to do with it."),
]
ENTITIES = [
    Node("ferry", "film", "Ferry"),
    Node("ada", "person", "Ada Holm"),
    Node("greta", "person", "Greta"),
    Node("orsova", "place", "Orsova"),
]
OTHERS = [Node(f"x{at:02}", "thing", f"Thing {at}") for at in range(12)]
MENTIONS = [
    Edge("p1", "mentions", "ferry"),
    Edge("p1", "titled", "ferry"),
    Edge("p1", "mentions", "ada"),
    Edge("p2", "mentions", "ada"),
    Edge("p2", "titled", "ada"),
    Edge("p2", "mentions", "greta"),
    Edge("p3", "titled", "orsova"),
    Edge("p4", "mentions", "greta"),
    Edge("p4", "titled", "greta"),
]
RELATED = [
    Edge("ada", "directed", "ferry", text="made by", weight=1.0, properties={"keywords": ["director", "film"]}),
    Edge("ada", "child_of", "greta", text="mother"),
    Edge("ferry", "set_in", "orsova"),
    *(Edge(node.id, "near", "orsova") for node in OTHERS),
]
FACTS = [
    Node("f1", "fact", "Ada directed Ferry", "Ada Holm directed Ferry."),
    Node("f2", "fact", "Greta mother of Ada", "Greta is the mother of Ada Holm."),
]
TOLD = [
    Edge("p1", "states", "f1"),
    Edge("p2", "states", "f2"),
    *(Edge("f1", "member", one) for one in ("ada", "ferry")),
    *(Edge("f2", "member", one) for one in ("greta", "ada")),
]
QUESTION = "Who is the mother of the director of Ferry?"


@pytest.fixture(scope="module")
def graph(build):
    return build([*PASSAGES, *ENTITIES, *OTHERS], [*MENTIONS, *RELATED])


@pytest.fixture(scope="module")
def stated(build):
    return build([*PASSAGES, *ENTITIES, *FACTS], [*MENTIONS, *RELATED[:3], *TOLD])


def gather(graph, text, **options):
    query = replace(options.pop("query", Query(text)), **limits_in(options))
    return Light(graph, LightConfig(**options)).gather(query, Allowance())


def of_type(found, *types):
    return [one.item.id for one in found.nodes if one.item.type in types]


def rows(graph, *ids):
    return np.array([graph.arrays.row(one) for one in ids], np.int32)


def fit_of(fits):
    return lambda wanted: np.array([fits.get(int(row), 0.0) for row in wanted])


# ------------------------------------------------------------------------------------------------------- the vote


def test_turns_take_the_first_of_each_list_then_the_second():
    assert list(lists_in_turns("abc", "x", "12")) == ["a", "x", "1", "b", "2", "c"]
    assert first_of_lists([(3, "a"), (1, "b"), (3, "c"), (2, "d")], 2) == {3: "a", 1: "b"}
    assert list(lists_in_turns()) == []


def test_votes_are_shared_by_title_and_others_and_damped():
    """Item 0 titles 10 and mentions 11; item 1, which may send one passage, mentions 11 and 12."""
    held = PassageMembership(
        np.array([0, 0, 1, 1]), np.array([10, 11, 11, 12], np.int32), np.array([True, False, False, False])
    )
    found = vote_for_passages(held, 2, fit_of({10: 1.0, 11: 0.5, 12: 0.25}))
    assert found.rows.tolist() == [10, 11]
    assert found.scores == pytest.approx([1.1 * 0.7**0.5, 0.6 * (0.3 + 1 / 5) ** 0.5])


def test_the_first_item_sends_five_and_the_last_one():
    item = np.repeat([0, 1, 2], 7)
    passage = np.arange(21, dtype=np.int32)
    found = vote_for_passages(
        PassageMembership(item, passage, np.zeros(21, np.bool_)), 3, fit_of(dict.fromkeys(range(21), 1.0))
    )
    assert sorted(found.rows.tolist()) == [0, 1, 2, 3, 4, 7, 8, 9, 14]
    by_row = dict(zip(found.rows.tolist(), found.scores.tolist(), strict=True))
    assert by_row[0] == pytest.approx(1.1 * (1 / 5) ** 0.5)
    assert by_row[7] == pytest.approx(1.1 * (3 / 5 / 3) ** 0.5)
    assert by_row[14] == pytest.approx(1.1 * (1 / 5) ** 0.5)


def test_holders_of_entities_facts_and_relations(stated):
    holders = MembershipIndex(stated, Spaces(stated))
    wanted = [stated.arrays.row(one) for one in ("ada", "p5", "f2", "ada")]
    held = holders.of(wanted)
    found = {
        (int(item), stated.arrays.ids[int(row)], bool(title))
        for item, row, title in zip(held.item, held.passage, held.is_title, strict=True)
    }
    assert found == {
        (0, "p1", False),
        (0, "p2", True),
        (1, "p5", True),
        (2, "p2", False),
        (3, "p1", False),
        (3, "p2", True),
    }
    groups = [rows(stated, "ada", "ferry").tolist(), rows(stated, "ferry", "greta").tolist(), [stated.arrays.row("f1")]]
    held = holders.of_groups(groups)
    pairs = [(int(item), stated.arrays.ids[int(row)]) for item, row in zip(held.item, held.passage, strict=True)]
    assert pairs == [(0, "p1"), (2, "p1")]


# -------------------------------------------------------------------------------------------------------- relations


def relations_of(graph):
    spaces = Spaces(graph)
    return Relations(graph, spaces, SeedFinder(graph, spaces))


def test_a_hub_is_not_preferred(graph):
    """Ferry's edge to Orsova, which thirteen edges touch, comes after the one whose type the query names."""
    found = ScoredRows(rows(graph, "ferry"), np.ones(1))
    ranked = relations_of(graph).near(found, "Who directed Ferry?", 9)
    assert [graph.arrays.edge(*one.entry).type for one in ranked] == ["directed", "set_in"]
    neutral = relations_of(graph).near(found, "zzz", 9)
    assert neutral[0].score == pytest.approx(neutral[1].score) == pytest.approx(0.1)


def test_an_edge_between_two_found_nodes_is_one_relation(graph):
    found = ScoredRows(rows(graph, "ada", "ferry"), np.ones(2))
    ranked = relations_of(graph).near(found, "film", 9)
    edges = [graph.arrays.edge(*one.entry) for one in ranked]
    assert [edge.type for edge in edges].count("directed") == 1
    assert len(edges) == 3
    assert edges[0].type == "directed"  # its keywords say film


def test_parallel_edges_are_relations_of_their_own(small):
    found = ScoredRows(rows(small, "p1"), np.ones(1))
    ranked = [small.arrays.edge(*one.entry) for one in relations_of(small).near(found, "final draft", 20)]
    wrote = [edge.text for edge in ranked if edge.type == "wrote"]
    assert wrote == ["final draft", "first draft"]
    assert {edge.type for edge in ranked} >= {"admires", "directed", "born in"}


def test_the_weight_of_an_edge_counts_within_its_type(build):
    nodes = [Node(one, "thing", one.upper()) for one in "abcd"]
    graph = build(
        nodes, [Edge("a", "t", "b", weight=1), Edge("a", "t", "c", weight=8), Edge("a", "u", "d", weight=0.5)]
    )
    ranked = relations_of(graph).near(ScoredRows(rows(graph, "a"), np.ones(1)), "zzz", 9)
    scores = {graph.arrays.ids[one.ends[1]]: one.score for one in ranked}
    assert scores == pytest.approx({"c": 0.1, "d": 0.1, "b": 0.1 * (1 / 8) ** 0.3})


def test_facts_stand_for_the_edges_that_they_relate(stated):
    relations = relations_of(stated)
    ranked = relations.near(ScoredRows(rows(stated, "ada"), np.ones(1)), "mother", 9)
    assert [stated.arrays.ids[one.fact] if one.fact >= 0 else "edge" for one in ranked] == ["f2", "f1"]
    edges = [one.item for one in relations.edges_of(ranked)]
    assert [edge.type for edge in edges] == ["child_of", "directed"]
    assert edges[1].properties == {"keywords": ["director", "film"]}
    assert edges[1].text == "made by"


# ------------------------------------------------------------------------------------------------------- the method


@pytest.mark.parametrize("level", LEVELS)
def test_each_level_finds_passages_entities_and_relations(graph, level):
    found = gather(graph, QUESTION, level=level)
    passages = of_type(found, "chunk")
    assert "p1" in passages
    assert len(passages) == len(set(passages))
    assert "ferry" in of_type(found, "film")
    assert "directed" in [one.item.type for one in found.edges]
    assert all(0 <= one.score <= 2 for one in found.nodes)
    assert [one.score for one in found.nodes] == sorted((one.score for one in found.nodes), reverse=True)


def test_local_leads_to_the_passage_on_the_far_end(graph):
    """Ada's own passage says nothing of the query: her film leads to it."""
    assert of_type(gather(graph, "Who directed Ferry?", level="local"), "chunk")[:2] == ["p1", "p2"]


def test_global_finds_facts_by_themes(stated):
    query = Query("Whose?", high=("mother",))
    found = gather(stated, "", query=query, level="global")
    assert of_type(found, "fact")[0] == "f2"
    assert of_type(found, "chunk")[0] == "p2"
    assert {"greta", "ada"} <= set(of_type(found, "person"))


def test_mix_takes_turns_with_the_search(graph):
    text = "Nothing to do with Ferry"
    assert "p5" not in of_type(gather(graph, text, level="hybrid"), "chunk")
    assert of_type(gather(graph, text, level="mix"), "chunk")[:2] == ["p5", "p1"]


def test_a_graph_of_passages_alone_follows_its_edges(build):
    edges = [Edge("p1", "mentions", "p2"), Edge("p2", "mentions", "p4")]
    graph = build(PASSAGES, edges)
    found = gather(graph, "Who made Ferry?", level="local")
    assert [one.item.id for one in found.nodes][:2] == ["p1", "p2"]
    assert [one.item.type for one in found.edges] == ["mentions"]


def test_a_persons_graph_gives_its_nodes(small):
    found = gather(small, "Who directed Night Ferry?", level="hybrid")
    assert {"f1", "p1"} <= {one.item.id for one in found.nodes}
    assert "directed" in [one.item.type for one in found.edges]
    only = gather(small, "Who directed Night Ferry?", node_types=("person",))
    assert {one.item.type for one in only.nodes} == {"person"}


@pytest.mark.parametrize("level", LEVELS)
def test_nothing_found_has_a_reason(graph, level):
    found = gather(graph, "zzz qqq", level=level)
    assert not found
    assert "shares a name or a word" in found.reason
    assert not gather(graph, "", level=level)


@pytest.mark.parametrize("level", LEVELS)
def test_a_name_that_leads_nowhere_leaves_the_text(graph, level):
    assert gather(graph, "", query=Query("What of Xyzzy and Ferry?", low=("Xyzzy",)), level=level)


def test_filters_hold_and_k_holds(graph):
    assert len(of_type(gather(graph, QUESTION, k=2), "chunk")) == 2


def test_by_meaning_what_is_far_is_not_found(build, tmp_path):
    near = embedded(build([*PASSAGES, *ENTITIES], RELATED[:3]), tmp_path / "cache")
    spaces = Spaces(near)
    seeds = SeedFinder(near, spaces)
    kept = seeds.search("Ada Holm", 40, spaces.entities)
    assert near.arrays.ids[int(kept.rows[0])] == "ada"
    cosines = near.arrays.searcher("dense").scores("Ada Holm", np.sort(kept.rows))
    assert (cosines >= 0.2).all()
    assert len(kept.rows) < spaces.entities.sum()


def test_a_wrong_level_is_told():
    with pytest.raises(BadOption, match="level is 'naive'"):
        LightConfig(level="naive")
    with pytest.raises(BadOption, match="entities is 0"):
        LightConfig(entities=0)


def test_the_method_ranks_passages_and_replays(graph):
    found = Retriever(graph, "light", settings=Settings(), level="hybrid").ask("Who directed Ferry?")
    assert found.hits[0].id == "p1"
    assert all(one.is_equal for one in replay_trajectory(found.trajectories[0], graph))
    assert METHODS["light"].make(graph).retrieve(Question(text="zzz"), Allowance()).hits == ()


# ------------------------------------------------------------------------------------------------------------- reasons


@pytest.mark.parametrize("method", ["light", "msgraph-local"])
def test_a_reason_names_what_a_passage_holds(stated, method):
    found = open_base(method, stated).gather(Query("Greta", low=("Greta",), k=5), Allowance())
    why = {one.item.id: one.why for one in found.nodes if one.item.type == "chunk"}
    assert "Greta" in why["p4"]
    assert why["p2"].startswith("holds ")
    assert len(set(why.values())) > 1


def test_a_reason_names_relations_by_their_ends_or_their_fact(graph, stated):
    text = "film director of Ferry, Ada Holm"
    relations = Relations(graph, Spaces(graph), SeedFinder(graph, Spaces(graph)))
    best = relations.matching(text, text, 1)
    assert relations.describe(best[0]) == "Ada Holm -directed-> Ferry"
    stating = Relations(stated, Spaces(stated), SeedFinder(stated, Spaces(stated)))
    assert stating.describe(ScoredRelation(1.0, (), stated.arrays.row("f2"))) == '"Greta mother of Ada"'


@pytest.mark.parametrize("method", ["light", "path", "hyper", "mini", "msgraph-local"])
def test_no_reason_speaks_of_passages_where_there_are_none(build, method):
    own = build(ENTITIES, RELATED[:3])
    found = open_base(method, own).gather(Query("Ferry by Ada Holm", low=("Ferry", "Ada Holm")), Allowance())
    why = {one.item.id: one.why for one in found.nodes}
    assert "ada" in why
    assert not any("passage" in said or "holds" in said for said in why.values())
    assert any("Ada Holm" in said or "Ferry" in said for said in why.values())
