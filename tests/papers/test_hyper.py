"""HyperGraphRAG's retrieval: facts and entities expanded both ways, on each kind of graph."""

import numpy as np
import pytest

from fakes.embedder import embedded
from orienteer.errors import BadOption
from orienteer.index import ScoredRows
from orienteer.lab.bases import (
    FUSION_FLOOR,
    FUSION_TRUST,
    LEAST_FIT,
    EdgesAsFacts,
    Hyper,
    HyperConfig,
    NamesInPassages,
    SparseScores,
    added_scores,
    fused_rows,
    score_shares,
    searched_rows,
)
from orienteer.lab.replay import replay as replay_trajectory
from orienteer.llm import Allowance
from orienteer.methods import METHODS
from orienteer.records import Edge, Node, Question
from orienteer.retrieval import Query, Spaces, open_base, open_incidence
from orienteer.text import count_tokens

ENTITIES = [
    Node("drug:ada", "drug", "Adalin", "A sedative."),
    Node("drug:bro", "drug", "Brolin", "An antacid."),
    Node("person:kim", "person", "Doctor Kim", "A physician."),
    Node("place:ull", "place", "Ulla clinic", "A clinic in the north."),
]
FACTS = [
    Node("f1", "fact", "trial", "A trial of Adalin was led by a physician at the clinic."),
    Node("f2", "fact", "harm", "The antacid weakens what calms."),
    Node("f3", "fact", "founding", "The clinic opened in spring."),
]
CHUNKS = [
    Node("c1", "chunk", "Report", "Of thirty people most slept."),
    Node("c2", "chunk", "Leaflet", "Not to be taken together."),
    Node("c3", "chunk", "History", "It opened in a warm April."),
    Node("c4", "chunk", "Other", "Boats stayed in."),
]
EDGES = [
    Edge("f1", "member", "drug:ada", weight=3.0, properties={"role": "subject"}),
    Edge("f1", "member", "person:kim"),
    Edge("f1", "member", "place:ull", weight=2.0),
    Edge("f2", "member", "drug:ada"),
    Edge("f2", "member", "drug:bro"),
    Edge("f3", "member", "place:ull"),
    Edge("c1", "states", "f1"),
    Edge("c2", "states", "f2"),
    Edge("c3", "states", "f3"),
]


@pytest.fixture(scope="module")
def facts(build):
    return build([*ENTITIES, *FACTS, *CHUNKS], EDGES)


def gathered(graph, query, **options):
    return Hyper(graph, HyperConfig(**options)).gather(query, Allowance())


def ids(found):
    return [one.item.id for one in found]


def handed(graph, **values):
    """Return nodes, by id with underscores for colons, with what each has."""
    given = sorted((graph.arrays.row(name.replace("_", ":")), value) for name, value in values.items())
    return SparseScores(np.array([row for row, _ in given]), np.array([value for _, value in given], np.float64))


def told(graph, found):
    return {
        graph.arrays.ids[row]: value for row, value in zip(found.items.tolist(), found.values.tolist(), strict=True)
    }


# ---------------------------------------------------------------------------------------------------------- both ways


def test_facts_hand_to_their_members_by_weight_and_entities_to_their_facts_evenly(facts):
    sides = EdgesAsFacts(facts, Spaces(facts), facts.arrays.kind_mask(["member"], None), is_own=False)
    assert told(facts, sides.to_entities(handed(facts, f1=0.6, f2=0.4))) == pytest.approx(
        {"drug:ada": 0.3 + 0.2, "person:kim": 0.1, "place:ull": 0.2, "drug:bro": 0.2}
    )
    assert told(facts, sides.to_facts(handed(facts, drug_bro=0.5, place_ull=0.5))) == pytest.approx(
        {"f2": 0.5, "f1": 0.5 * 2 / 3, "f3": 0.5 / 3}
    )


def test_a_node_is_a_fact_of_itself_and_its_neighbours(small):
    sides = EdgesAsFacts(small, Spaces(small), None, is_own=True)
    found = told(small, sides.to_facts(handed(small, c2=1.0, alone=0.5)))
    assert found == pytest.approx({"c2": 0.7, "p1": 0.3, "alone": 0.5})  # what has no neighbour keeps all of it


@pytest.fixture(scope="module")
def passages(build):
    nodes = [
        Node("a", "chunk", "Anna Berg", "Anna Berg went to Ulla Fjord with Kim Moe."),
        Node("b", "chunk", "Ulla Fjord", "Ulla Fjord is deep. Kim Moe drew it."),
        Node("c", "chunk", "Kim Moe", "Kim Moe paints."),
        Node("d", "chunk", "Rain", "Kim Moe walks in the rain."),
    ]
    return build(nodes, [Edge("a", "mentions", "b"), Edge("a", "mentions", "c")])


def test_passages_hand_to_their_names_by_rarity_and_names_mostly_to_what_they_title(passages):
    incidence = open_incidence(passages, Spaces(passages))
    sides = NamesInPassages(incidence)
    number = {incidence.written(one): one for one in range(len(incidence.weights()))}
    found = sides.to_entities(handed(passages, b=1.0))
    shared = {incidence.written(one): value for one, value in zip(found.items.tolist(), found.values, strict=True)}
    rare, common = np.log1p(4 / 2), np.log1p(4 / 4)
    assert shared == pytest.approx({"Ulla Fjord": rare / (rare + common), "Kim Moe": common / (rare + common)})
    back = sides.to_facts(SparseScores(np.array([number["Kim Moe"]]), np.ones(1)))
    assert told(passages, back) == pytest.approx({"a": 0.075, "b": 0.075, "c": 0.7 + 0.075, "d": 0.075})


def test_entities_of_passages_are_told_by_row(build):
    nodes = [
        Node("a", "chunk", "A", "x"),
        Node("b", "chunk", "B", "y"),
        Node("e", "person", "Eve"),
        Node("f", "person"),
    ]
    graph = build(nodes, [Edge("a", "mentions", "e"), Edge("b", "mentions", "e"), Edge("b", "titled", "e")])
    sides = NamesInPassages(open_incidence(graph, Spaces(graph)))
    assert told(graph, sides.to_entities(handed(graph, a=1.0))) == {"e": 1.0}
    assert told(graph, sides.to_facts(handed(graph, e=1.0))) == pytest.approx({"a": 0.15, "b": 0.85})


def test_what_things_are_handed_adds_up_and_the_most_stay():
    both = added_scores(
        [SparseScores(np.array([1, 3]), np.array([0.5, 0.0])), SparseScores(np.array([1, 2]), np.array([0.5, 1.0]))]
    )
    assert both.items.tolist() == [1, 2]
    assert both.values.tolist() == [1.0, 1.0]
    assert both.first(1).tolist() == [0]  # a tie: the smaller
    assert both.most(1).items.tolist() == [1]


# -------------------------------------------------------------------------------------------------- votes and searches


def test_votes_weigh_against_the_search(facts):
    spaces = Spaces(facts, "lexical")
    found = searched_rows(spaces, "boats slept", 9, spaces.passages)
    assert {facts.arrays.ids[row] for row in found.rows.tolist()} == {"c1", "c4"}
    fit = dict(zip((facts.arrays.ids[row] for row in found.rows.tolist()), found.scores.tolist(), strict=True))
    votes = handed(facts, c2=2.0, c4=1.0, f1=9.0)
    best = fused_rows(spaces, "boats slept", votes, found, 3, among=spaces.passages)
    assert {facts.arrays.ids[row]: score for row, score in zip(*map(list, best), strict=True)} == pytest.approx(
        {
            "c1": fit["c1"] * FUSION_FLOOR**FUSION_TRUST,
            "c2": LEAST_FIT * (1 + FUSION_FLOOR) ** FUSION_TRUST,
            "c4": fit["c4"] * (0.5 + FUSION_FLOOR) ** FUSION_TRUST,
        }
    )
    assert best.scores.tolist() == sorted(best.scores.tolist(), reverse=True)


def test_shares_are_of_the_best_and_never_below_nothing():
    assert score_shares(np.array([4.0, -1.0, 2.0])).tolist() == [1.0, 0.0, 0.5]
    assert score_shares(np.array([-1.0])).tolist() == [0.0]
    assert len(score_shares(np.zeros(0))) == 0


def test_nothing_found_and_nothing_voted_for_is_nothing(facts):
    spaces = Spaces(facts)
    none = ScoredRows(np.zeros(0, np.int32), np.zeros(0))
    voted = SparseScores(np.zeros(0, np.int64), np.zeros(0))
    assert not len(fused_rows(spaces, "zzyzx", voted, none, 5, among=spaces.passages).rows)


# ------------------------------------------------------------------------------------------------------ n-ary facts


def test_an_entity_leads_to_its_facts_and_to_the_passages_that_state_them(facts):
    found = gathered(facts, Query("Is Brolin safe?", low=("Brolin",)))
    assert ids(one for one in found.nodes if one.item.type == "fact")[0] == "f2"
    assert ids(found.semantic().nodes)[0] == "c2"  # with no word of the query
    assert "drug:bro" in ids(found.relational().nodes)


def test_a_fact_leads_to_its_members_and_these_to_other_facts(facts):
    found = gathered(facts, Query("who led the trial?"))
    nodes = ids(found.nodes)
    assert {"f1", "drug:ada", "person:kim", "place:ull"} <= set(nodes)
    assert {"f2", "f3"} <= set(nodes)  # over Adalin and the clinic
    assert nodes.index("f1") < nodes.index("f3")
    assert ids(found.semantic().nodes)[0] == "c1"


def test_entities_and_facts_have_room_for_so_many_tokens(facts):
    query = Query("who led the trial at the clinic?")
    whole = gathered(facts, query)
    room = count_tokens(f"{FACTS[0].name} {FACTS[0].text}")
    found = gathered(facts, query, tokens=room)
    assert ids(one for one in found.nodes if one.item.type == "fact") == ["f1"]
    assert found.semantic() == whole.semantic()
    assert gathered(facts, query, entities=1, facts=1).relational().nodes < whole.relational().nodes


def test_entities_of_passages_count_where_no_fact_says_so(build):
    mentions = [Edge("c4", "mentions", "place:ull"), Edge("c4", "titled", "place:ull")]
    graph = build([*ENTITIES, *FACTS, *CHUNKS], [*EDGES, *mentions])
    assert "c4" in ids(gathered(graph, Query("Ulla clinic", low=("Ulla clinic",))).semantic().nodes)


# --------------------------------------------------------------------------------------- passages, and given graphs


def test_names_lead_from_passage_to_passage(passages):
    found = gathered(passages, Query("Where did Anna Berg go?"))
    order = ids(found.nodes)
    assert order[0] == "a"
    assert set(order) == {"a", "b", "c", "d"}  # by Ulla Fjord and Kim Moe
    assert order.index("b") < order.index("d")  # titled by a name that stands in a; d is not
    assert {(one.item.source, one.item.target) for one in found.edges} == {("a", "b"), ("a", "c")}


def test_entities_of_passages_are_evidence(build):
    nodes = [
        Node("a", "chunk", "Log", "Eve met Mallory."),
        Node("b", "chunk", "Note", "Mallory left."),
        Node("c", "chunk"),
    ]
    people = [Node("p1", "person", "Eve"), Node("p2", "person", "Mallory")]
    mentions = [Edge("a", "mentions", "p1"), Edge("a", "mentions", "p2"), Edge("b", "mentions", "p2")]
    found = gathered(build([*nodes, *people], mentions), Query("What of Eve?", low=("Eve",)))
    assert ids(found.semantic().nodes) == ["a", "b"]
    assert set(ids(found.relational().nodes)) == {"p1", "p2"}


def test_a_given_graph_answers_with_its_nodes(small):
    found = gathered(small, Query("what did Noor Vik play in?", low=("Noor Vik",)))
    assert ids(found.nodes)[0] == "p2"
    assert "f1" in ids(found.nodes)
    assert found.semantic().nodes == found.nodes
    assert {"p2"} <= {end for one in found.edges for end in (one.item.source, one.item.target)}
    kept = METHODS["hyper"].make(small).retrieve(Question(text="Noor Vik", node_types=("film",)), Allowance())
    assert {hit.type for hit in kept.hits} == {"film"}


# ---------------------------------------------------------------------------------------------------------- in general


def test_a_query_that_nothing_matches_has_a_reason(facts, passages, small):
    for graph in (facts, passages, small):
        found = gathered(graph, Query("zzyzx"))
        assert not found
        assert "shares a word" in found.reason


def test_vectors_take_part(build, tmp_path):
    graph = embedded(build([*ENTITIES, *FACTS, *CHUNKS], EDGES), tmp_path)
    found = gathered(graph, Query("antacid weakens"), mode="dense")
    assert ids(one for one in found.nodes if one.item.type == "fact")[0] == "f2"
    assert {"drug:ada", "drug:bro", "c2"} <= set(ids(found.nodes))


def test_a_trajectory_can_be_replayed(facts):
    result = METHODS["hyper"].make(facts, options={"facts": 2}).retrieve(Question(text="Is Brolin safe?"), Allowance())
    recorded = result.trajectories[0].steps[0].observations[0].nodes
    assert [one.now.nodes for one in replay_trajectory(result.trajectories[0], facts)] == [recorded]
    query = Query("Is Brolin safe?", low=("Brolin",))
    assert open_base("hyper", facts).gather(query, Allowance()) == gathered(facts, query)


@pytest.mark.parametrize("options", [{"names": -0.1}, {"names": 1.5}, {"facts": 0}, {"titles": 2.0}])
def test_what_cannot_be_is_said(facts, options):
    with pytest.raises(BadOption, match="must be"):
        Hyper(facts, HyperConfig(**options))


def test_a_reason_names_the_facts_that_a_passage_states(facts):
    why = {one.item.id: one.why for one in gathered(facts, Query("A trial of Adalin", low=("Adalin",))).nodes}
    assert why["c1"] == 'states "trial"'
    assert why["c2"] == 'states "harm"'
