"""PathRAG's retrieval: paths among seeds, the passages that state them, on each kind of graph."""

from dataclasses import replace

import pytest

from fakes.embedder import embedded
from fakes.limits import limits_in
from orienteer.errors import BadOption
from orienteer.lab.bases import Paths, PathsConfig
from orienteer.lab.replay import replay as replay_trajectory
from orienteer.llm import Allowance
from orienteer.methods import METHODS
from orienteer.records import Edge, Node, Question
from orienteer.retrieval import Query, open_base, render_evidence

CHUNKS = [
    Node("c1", "chunk", "Anna Berg", "Anna Berg directed Salt in her youth."),
    Node("c2", "chunk", "Salt", "Salt was filmed among the boats of Tarn."),
    Node("c3", "chunk", "Tarn", "Tarn is a harbour of Norvia."),
    Node("c4", "chunk", "Weather", "Rain fell, and the boats stayed in."),
    Node("c5", "chunk", "Dancing", "Anna Berg danced at night."),
]
ENTITIES = [
    Node("person:anna", "person", "Anna Berg", "A director."),
    Node("film:salt", "film", "Salt", "A film."),
    Node("place:tarn", "place", "Tarn", "A harbour."),
    Node("place:norvia", "place", "Norvia", "A country."),
]
RELATIONS = [
    Edge("person:anna", "directed", "film:salt", "directed"),
    Edge("film:salt", "filmed_in", "place:tarn", "was filmed in"),
    Edge("place:tarn", "located_in", "place:norvia", "lies in"),
]
MENTIONS = [
    Edge(chunk, "mentions", entity)
    for chunk, entities in {
        "c1": ["person:anna", "film:salt"],
        "c2": ["film:salt", "place:tarn"],
        "c3": ["place:tarn", "place:norvia"],
        "c5": ["person:anna"],
    }.items()
    for entity in entities
]
ASKED = Query("In which country was Anna Berg at work: Norvia?", low=("Anna Berg", "Norvia"), high=("country",))


@pytest.fixture(scope="module")
def extracted(build):
    return build([*CHUNKS, *ENTITIES], [*RELATIONS, *MENTIONS])


def gathered(graph, query=ASKED, **options):
    query = replace(query, **limits_in(options))
    return Paths(graph, PathsConfig(**options)).gather(query, Allowance())


def ids(found):
    return [one.item.id for one in found]


# ------------------------------------------------------------------------------------------------ entities and passages


def test_a_path_joins_what_the_query_names_as_its_edges_point(extracted):
    found = gathered(extracted, seeds=2)
    assert [one.item for one in found.paths] == [tuple(RELATIONS)]
    assert {one.item.text for one in found.edges} == {"directed", "was filmed in", "lies in"}
    shown = render_evidence(found, extracted).text
    assert "[P1] Anna Berg -directed-> Salt -filmed_in-> Tarn -located_in-> Norvia" in shown


def test_passages_that_hold_the_path_come_before_those_that_share_a_word(extracted):
    found = gathered(extracted, seeds=2)
    order = ids(found.semantic().nodes)
    assert order.index("c1") < order.index("c5")  # both name her; the one says what the path says
    assert "c2" in order  # on the path, with no word of the query
    assert {node.id for node in ENTITIES} <= set(ids(found.relational().nodes))


def test_fewer_paths_are_the_first_of_more(extracted):
    query = Query("Anna Berg, Salt, Tarn, Norvia", low=("Anna Berg", "Salt", "Tarn", "Norvia"))
    found = gathered(extracted, query)
    assert len(found.paths) > 2
    assert [one.score for one in found.paths] == sorted((one.score for one in found.paths), reverse=True)
    few = gathered(extracted, query, paths=2)
    assert [one.item for one in few.paths] == [one.item for one in found.paths[:2]]


def test_without_a_path_the_seeds_are_given_and_a_reason(build):
    graph = build([*CHUNKS, *ENTITIES], [RELATIONS[0], RELATIONS[2], *MENTIONS])
    found = gathered(graph, seeds=2)
    assert not found.paths
    assert "no path that much flows along joins the 2 nodes" in found.reason
    assert set(ids(found.relational().nodes)) == {"person:anna", "place:norvia"}
    assert "c1" in ids(found.semantic().nodes)


def test_where_one_node_or_none_is_found_there_is_nothing_to_join(build):
    graph = build([*CHUNKS, *ENTITIES], [*RELATIONS, *MENTIONS])
    one = gathered(graph, Query("danced with Anna Berg", low=("Anna Berg",)), seeds=1)
    assert one.reason == "no path: the query finds one node alone, and there is nothing to join"
    none = gathered(graph, Query("night", low=()))
    assert none.reason == "no path: the query finds no node, and there is nothing to join"
    assert [one.why for one in none.nodes] == ["lexical"]


def test_a_reason_names_the_path(extracted, build):
    found = {one.item.id: one.why for one in gathered(extracted, seeds=2).nodes}
    whole = "on a path from Anna Berg to Norvia"
    assert found["c1"] == f"holds Anna Berg, {whole}"
    assert found["c2"] == f"holds Salt, {whole}"
    assert found["c5"] == f"holds Anna Berg, {whole}"
    own = {one.item.id: one.why for one in gathered(build(ENTITIES, RELATIONS), seeds=2).nodes}
    assert own["place:tarn"] == whole


def test_facts_for_the_themes_stand_beside_the_paths_and_have_no_vote(build):
    fact = Node("f1", "fact", "war", "A long war began in winter.")
    said = Node("c9", "chunk", "History", "It began in December.")
    graph = build([*CHUNKS, *ENTITIES, fact, said], [*RELATIONS, *MENTIONS, Edge("c9", "states", "f1")])
    query = Query("Anna Berg and Norvia", low=("Anna Berg", "Norvia"), high=("war in winter",))
    found = gathered(graph, query, seeds=2)
    assert "f1" in ids(found.relational().nodes)
    assert "c9" not in ids(found.semantic().nodes)


@pytest.mark.parametrize("synonyms", [(), (Edge("film:salt", "synonym", "person:anna", weight=0.9),)])
def test_where_facts_alone_join_entities_paths_go_over_them(build, synonyms):
    facts = [Node("f1", "fact", "filming", "Berg filmed it by the sea."), Node("f2", "fact", "borders", "It has none.")]
    members = [Edge("f1", "member", "person:anna"), Edge("f1", "member", "place:tarn")]
    graph = build([*CHUNKS, *ENTITIES, *facts], [*members, *synonyms, *MENTIONS, Edge("c2", "states", "f1")])
    found = gathered(graph, Query("Anna Berg in Tarn", low=("Anna Berg", "Tarn")), seeds=2, facts=1)
    assert [(one.source, one.target) for one in found.paths[0].item] == [("f1", "person:anna"), ("f1", "place:tarn")]
    assert "c2" in ids(found.semantic().nodes)


# ------------------------------------------------------------------------------------------------------- passages alone


@pytest.fixture(scope="module")
def passages(build):
    """Give three passages in a line, the middle one without any word that is asked for; and one that is only alike."""
    nodes = [
        Node("a", "chunk", "Anna Berg", "Anna Berg lives quietly."),
        Node("b", "chunk", "Harbour", "A mild place."),
        Node("c", "chunk", "Norvia", "Norvia is a country."),
        Node("d", "chunk", "Snow", "Nothing else."),
    ]
    edges = [
        Edge("a", "mentions", "b", weight=2.0),
        Edge("b", "shares_names", "c", weight=3.0),
        Edge("a", "similar", "d"),
        Edge("d", "similar", "c"),
    ]
    return build(nodes, edges)


def test_a_passage_between_two_that_are_found_is_found(passages):
    found = gathered(passages, Query("Anna Berg country"), seeds=2)
    assert [[edge.type for edge in one.item] for one in found.paths] == [["mentions", "shares_names"]]
    assert set(ids(found.semantic().nodes)) == {"a", "b", "c"}
    assert not found.relational().nodes


# ----------------------------------------------------------------------------------------------- what a person brings


def test_nodes_of_a_graph_without_passages_are_the_answers(small):
    found = gathered(small, Query("Ada Holm and Noor Vik", low=("Ada Holm", "Noor Vik")), seeds=2)
    walked = [[(edge.source, edge.type, edge.target) for edge in one.item] for one in found.paths]
    assert [("p1", "directed", "f1"), ("p2", "acted in", "f1")] in walked
    assert set(ids(found.nodes)[:3]) == {"p1", "p2", "f1"}
    assert found.semantic().nodes == found.nodes


def test_of_parallel_edges_the_heaviest_is_shown(small):
    found = gathered(small, Query("Ada Holm wrote Salt", low=("Ada Holm", "Sól")), seeds=2)
    assert found.paths[0].item[0].text == "final draft"


def test_answers_can_be_kept_by_type_and_paths_go_over_all(small):
    query = Query("Ada Holm and Noor Vik", low=("Ada Holm", "Noor Vik"))
    found = gathered(small, query, seeds=2, node_types=("film",))
    assert "f1" in ids(found.nodes)
    hits = (
        METHODS["path"]
        .make(small, options={"seeds": 2})
        .retrieve(Question(text="Ada Holm and Noor Vik", node_types=("film",)), Allowance())
    )
    assert {hit.type for hit in hits.hits} == {"film"}


# ---------------------------------------------------------------------------------------------------------- in general


def test_a_query_that_nothing_matches_has_a_reason(extracted, passages, small):
    for graph in (extracted, passages, small):
        found = gathered(graph, Query("zzyzx"))
        assert not found
        assert "shares a word" in found.reason


def test_vectors_take_part(build, tmp_path):
    graph = build([*CHUNKS, *ENTITIES], [*RELATIONS, *MENTIONS])
    found = gathered(embedded(graph, tmp_path), seeds=2)
    assert [one.item for one in found.paths] == [tuple(RELATIONS)]


def test_the_same_query_gives_the_same_evidence(extracted):
    assert gathered(extracted) == gathered(extracted)


def test_a_trajectory_can_be_replayed(extracted):
    method = METHODS["path"].make(extracted, options={"paths": 3})
    result = method.retrieve(Question(text=ASKED.text), Allowance())
    assert [one.now.nodes for one in replay_trajectory(result.trajectories[0], extracted)] == [
        result.trajectories[0].steps[0].observations[0].nodes
    ]
    assert open_base("path", extracted, {"paths": 3}).gather(ASKED, Allowance()) == gathered(extracted, paths=3)


@pytest.mark.parametrize("options", [{"alpha": 0.0}, {"alpha": 1.5}, {"theta": -0.1}, {"theta": 1.0}, {"paths": 0}])
def test_what_cannot_be_is_said(options):
    with pytest.raises(BadOption, match="must be"):
        PathsConfig(**options)
