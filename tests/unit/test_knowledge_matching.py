"""Triples executed on a graph: linking, predicates, joins against an oracle, what is soft, and what is said of it."""

import itertools
import json
from collections import Counter

import numpy as np
import pytest

from fakes.embedder import embedded
from orienteer.graph import Graph
from orienteer.ingest import demo_records, import_graph
from orienteer.lab.replay import replay as replay_trajectory
from orienteer.llm import Allowance
from orienteer.records import Edge, Message, Node, Observed, Question, Reply, Step, ToolboxSpec, ToolCall, Trajectory
from orienteer.retrieval import (
    AGAINST_DIRECTION,
    MISSED_COST,
    MOST_PARTNERS,
    MOST_STATES,
    MOST_UNFIT,
    ONE_WAY_SHARE,
    UNMATCHED_COST,
    Predicates,
    Spaces,
    TripleMatcher,
    TriplePattern,
)
from orienteer.tools import MatchTriples, matching_arguments

pytestmark = pytest.mark.slow


def match(graph, *triples):
    patterns = [TriplePattern(*one) for one in triples]
    return TripleMatcher(graph, Spaces(graph)).match(patterns, run=Allowance())


def bound(found, variable, *, least=0.0):
    return [binding[variable] for binding, score in found.bindings if variable in binding and score >= least]


def ends_of(found):
    return [(one.item.source, one.item.type, one.item.target) for one in found.evidence.edges]


# ------------------------------------------------------------------------------------------------- against an oracle


def assignments(nodes, edges, triples):
    """Every way to put nodes for variables so that each triple is an edge."""
    there = {(edge.source, edge.type, edge.target) for edge in edges}
    names = sorted({end for s, _, o in triples for end in (s, o) if end.startswith("?")})
    for chosen in itertools.product([node.id for node in nodes], repeat=len(names)):
        known = dict(zip(names, chosen, strict=True))
        if all((known.get(s, s), p, known.get(o, o)) in there for s, p, o in triples):
            yield known


SHAPES = [
    [("?x", "zimp", "n0")],
    [("n0", "zimp", "?x"), ("?x", "quav", "?y")],
    [("n0", "zimp", "?x"), ("?x", "quav", "?y"), ("?y", "zimp", "?z")],
    [("n0", "zimp", "?x"), ("n1", "quav", "?x")],
    [("n0", "zimp", "?x"), ("?x", "quav", "?y"), ("?y", "zimp", "n0")],
    [("?x", "zimp", "?y"), ("?y", "quav", "?x"), ("?x", "quav", "n2")],
    [("?x", "zimp", "?y"), ("?y", "quav", "n1"), ("?x", "zimp", "?z"), ("?z", "quav", "n1")],
    [("n0", "zimp", "n1"), ("n1", "quav", "?x")],
    [("n0", "zimp", "?x"), ("n1", "quav", "?y")],
]


@pytest.mark.parametrize("shape", SHAPES, ids=str)
def test_edges_of_just_the_types_give_just_the_assignments_there_are(shape, build):
    sizes = Counter()
    for seed in range(6):
        random = np.random.default_rng(seed)
        nodes = [Node(f"n{number}") for number in range(7)]
        pairs = [(a, b) for a in range(7) for b in range(7) if a != b]
        edges = [
            Edge(f"n{a}", edge_type, f"n{b}")
            for edge_type in ("zimp", "quav")
            for a, b in (pairs[at] for at in random.permutation(len(pairs))[:14])
        ]
        graph = build(nodes, edges)
        expected = {tuple(sorted(one.items())) for one in assignments(nodes, edges, shape)}
        found = match(graph, *shape)
        exact = {tuple(sorted(binding.items())) for binding, score in found.bindings if score == 1.0}
        assert exact == expected, seed
        assert len(found.bindings) == len({tuple(sorted(one.items())) for one, _ in found.bindings})
        sizes[bool(expected)] += 1
    assert sizes[True]


def test_scores_descend_and_a_second_run_gives_the_same(small):
    once, again = (match(small, ("Ada Holm", "directed", "?f"), ("?f", "set in", "?c")) for _ in range(2))
    assert once == again
    scores = [score for _, score in once.bindings]
    assert scores == sorted(scores, reverse=True)


# ------------------------------------------------------------------------------------------------------------ linking


def test_a_chain_binds_each_variable_with_the_edges_for_it(small):
    found = match(small, ("Ada Holm", "directed", "?f"), ("?f", "set in", "?town"))
    assert [binding for binding, _ in found.bindings] == [{"?f": "f1", "?town": "c1"}, {"?f": "f2", "?town": "c1"}]
    assert not found.reason
    assert set(ends_of(found)) == {
        ("p1", "directed", "f1"),
        ("p1", "directed", "f2"),
        ("f1", "set in", "c1"),
        ("f2", "set in", "c1"),
    }
    whys = {one.item.id: one.why for one in found.evidence.nodes}
    assert whys == {"p1": "named 'Ada Holm'", "f1": "bound to ?f", "f2": "bound to ?f", "c1": "bound to ?town"}


@pytest.mark.parametrize("variable", ["?f", "Entity#2", "#1", "entity # 3", "a film", "The film", "film#4"])
def test_what_is_a_variable(small, variable):
    found = match(small, ("Ada Holm", "directed", variable))
    assert bound(found, variable) == ["f1", "f2"]


def test_the_same_unknown_is_one_in_all_triples(small):
    found = match(small, ("Ada Holm", "directed", "a film"), ("林檎", "scored", "the film"))
    assert found.bindings[0] == ({"a film": "f1"}, 1.0)


def test_a_node_of_just_that_name_is_no_variable(build):
    graph = build([Node("a", "person", "A"), Node("t", "team", "Team #7")], [Edge("a", "leads", "t")])
    assert match(graph, ("?who", "leads", "Team #7")).bindings == (({"?who": "a"}, 1.0),)


def test_a_variable_without_a_name_is_not_told(small):
    assert match(small, ("Noor Vik", "acted in", "")).bindings == (({}, 1.0),)
    found = match(small, ("", "acted in", "?f"), ("Ada Holm", "directed", "?f"))
    assert found.bindings[0] == ({"?f": "f1"}, 1.0)


def test_the_structure_tells_nodes_of_one_name_apart(small):
    assert match(small, ("Ada Holm", "directed", "Salt")).bindings == (({}, 1.0),)
    assert ends_of(match(small, ("Ada Holm", "directed", "Salt"))) == [("p1", "directed", "f2")]
    assert bound(match(small, ("?f", "set in", "Salt")), "?f", least=1.0) == ["f1", "f2"]


@pytest.mark.parametrize(
    ("name", "node"),
    [("lodz", "c2"), ("A. Holm", "p1"), ("ADA HOLM", "p1"), ("“Ada Holm”", "p1"), ("Ada Holm (director)", "p1")],
)
def test_a_name_is_known_by_alias_capitals_and_without_what_brackets_say(small, name, node):
    assert match(small, (name, "?", "?x")).evidence.nodes[0].item.id == node


def test_a_name_that_no_node_bears_is_linked_to_the_one_most_like_it(small):
    found = match(small, ("Ada Holmm", "directed", "?f"))
    assert bound(found, "?f") == ["f1", "f2"]
    assert 0.5 < found.bindings[0][1] < 1.0


def test_other_numbers_are_other_names(build):
    planes = [Node("a", "plane", "Boeing 737-800"), Node("b", "plane", "Boeing 747-400"), Node("m", "maker", "Maker")]
    graph = build(planes, [Edge("m", "built", "a"), Edge("m", "built", "b")])
    assert [one.item.id for one in match(graph, ("Maker", "built", "Boeing 747-400")).evidence.nodes] == ["m", "b"]
    assert "a" not in {one.item.id for one in match(graph, ("?", "built", "Boeing 747-401")).evidence.nodes}


@pytest.mark.parametrize("text", ["$1,363.00", "波音公司", "شركة بوينغ", "C++", "1969"])
def test_digits_symbols_and_all_scripts_are_kept(build, text):
    nodes = [Node("x", "thing", text), Node("y", "thing", "other"), Node("z", "thing", "C"), Node("w", "thing", "1363")]
    graph = build(nodes, [Edge("x", "価格", "y"), Edge("z", "価格", "w")])
    found = match(graph, (text, "価格", "?v"))
    assert found.bindings[0] == ({"?v": "y"}, 1.0)


def test_names_that_are_not_there_are_said(small):
    found = match(small, ("Zorblax", "directed", "?f"))
    assert not found.bindings
    assert not found.evidence
    assert found.reason == found.evidence.reason == "nothing in the graph is named 'Zorblax'"


def test_other_triples_are_matched_beside_one_that_is_not(small):
    found = match(small, ("?f", "directed by", "Ada Holm"), ("?f", "filmed at", "Zorblax"))
    assert bound(found, "?f") == ["f1", "f2"]
    assert found.bindings[0][1] == pytest.approx(MISSED_COST)
    assert found.reason == "nothing in the graph is named 'Zorblax'"


def test_nothing_is_matched_without_an_end_that_is_known(small):
    found = match(small, ("?x", "directed", "?y"))
    assert (found.bindings, found.reason) == ((), "(?x, directed, ?y) has no end that is known")
    assert match(small).reason == "there is no triple to match"


def test_what_is_linked_is_evidence_where_nothing_else_is(small):
    found = match(small, ("Nowhere", "twinned with", "?x"))
    assert not found.bindings
    assert [one.item.id for one in found.evidence.nodes] == ["alone"]
    assert found.reason == "(Nowhere, twinned with, ?x) is matched by nothing"


def test_a_name_is_linked_by_what_a_text_tells_and_better_by_meaning(build, scratch):
    nodes = [Node("a", "drug", "ASA", "aspirin tablet"), Node("b", "disease", "headache")]
    graph = build(nodes, [Edge("a", "treats", "b")])
    told = match(graph, ("aspirin tablet", "treats", "?d")).bindings
    meant = match(embedded(graph, scratch()), ("aspirin tablet", "treats", "?d")).bindings
    assert told[0][0] == meant[0][0] == {"?d": "b"}
    assert 0 < told[0][1] < meant[0][1] < 1


# --------------------------------------------------------------------------------------------- predicates, directions


def test_a_predicate_fits_by_stems_and_turns_by_its_ending(small):
    predicates = Predicates(small)

    def ways(predicate, edge_type):
        return predicates.fit(predicate).kinds.reshape(-1, 2)[small.arrays.types.edges.index(edge_type)].tolist()

    assert ways("admires", "admires") == [1.0, AGAINST_DIRECTION]
    assert ways("was admired by", "admires") == [AGAINST_DIRECTION, 1.0]
    assert ways("is the director of", "directed")[0] > 0.45
    assert ways("flavour", "directed") == [0.0, 0.0]
    # A person directs a film and no film a person: turned round it can hardly mean anything else.
    assert ways("directed", "directed") == [1.0, ONE_WAY_SHARE]


def test_direction_is_a_preference_and_no_filter(build):
    nodes = [Node(name, "person", name) for name in ("Ann", "Bob", "Cy")]
    graph = build(nodes, [Edge("Ann", "admires", "Bob"), Edge("Cy", "admires", "Ann")])
    assert match(graph, ("Ann", "admires", "?x")).bindings == (({"?x": "Bob"}, 1.0), ({"?x": "Cy"}, AGAINST_DIRECTION))
    assert match(graph, ("Ann", "admired by", "?x")).bindings[0] == ({"?x": "Cy"}, 1.0)
    whys = {one.item.source: one.why for one in match(graph, ("Ann", "admires", "?x")).evidence.edges}
    assert whys == {"Ann": "(Ann, admires, ?x)", "Cy": "(Ann, admires, ?x); against its direction"}


def test_an_edge_of_another_type_counts_little_and_only_where_none_fits(small):
    found = match(small, ("Ada Holm", "flavoured", "Noor Vik"))
    assert len(found.bindings) == 1
    assert 0 < found.bindings[0][1] <= UNMATCHED_COST
    assert all(one.why.endswith("predicate unmatched") for one in found.evidence.edges)
    assert "p2" not in bound(match(small, ("Ada Holm", "directed", "?x")), "?x")


def test_what_fits_nothing_does_not_lead_back(build):
    graph = build([Node(name, "thing", name) for name in "AB"], [Edge("A", "holds", "B")])
    found = match(graph, ("A", "holds", "?x"), ("?x", "flavours", "?y"))
    assert found.bindings == (({"?x": "B"}, pytest.approx(MISSED_COST)),)
    assert found.reason == "(?x, flavours, ?y) is matched by nothing"


def test_two_ends_that_nothing_joins_directly_are_joined_by_a_short_path(small):
    found = match(small, ("Noor Vik", "acted in", "Łódź"))
    assert not found.evidence.edges
    walks = [[{edge.source, edge.target} for edge in one.item] for one in found.evidence.paths]
    assert walks == [[{"p1", "p2"}, {"p1", "c2"}]]
    assert found.bindings[0][1] < UNMATCHED_COST


def test_parallel_edges_are_all_evidence(small):
    found = match(small, ("Ada Holm", "wrote", "?f"))
    assert sorted(one.item.text for one in found.evidence.edges) == ["final draft", "first draft"]


def test_a_variables_words_choose_among_types(build):
    nodes = [Node("g", "gene", "G"), Node("p", "pathway", "P"), Node("c", "cellular_component", "C")]
    graph = build(nodes, [Edge("g", "participates", "c"), Edge("g", "participates", "p")])
    assert bound(match(graph, ("G", "participates", "?pathway")), "?pathway") == ["p"]
    assert bound(match(graph, ("G", "participates", "a cellular component")), "a cellular component") == ["c"]
    assert sorted(bound(match(graph, ("G", "participates", "?x")), "?x")) == ["c", "p"]


# ------------------------------------------------------------------------------------- what edges and facts say


def test_the_text_of_an_edge_says_its_predicate(build):
    nodes = [Node(name, "name", name) for name in ("Ann", "Bob", "Cy")]
    edges = [
        Edge("Ann", "co_occurs", "Bob", "married in 1916 to"),
        Edge("Ann", "related_to", "Cy", "", properties={"keywords": ["employer", "wages"]}),
    ]
    graph = build(nodes, edges)
    assert bound(match(graph, ("Ann", "was married to", "?x")), "?x") == ["Bob"]
    found = match(graph, ("Ann", "employer", "?x"))
    assert bound(found, "?x") == ["Cy"]
    assert found.evidence.edges[0].why == "(Ann, employer, ?x); by its text"


FACTS = (
    [Node("ann", "name", "Ann"), Node("acme", "name", "Acme"), Node("oslo", "name", "Oslo")]
    + [Node("f1", "fact", "", "Ann founded Acme in Oslo."), Node("f2", "fact", "", "Ann left Oslo in winter.")]
    + [Node("d#0", "chunk", "Ann", "Ann founded Acme in Oslo. Ann left Oslo in winter.")],
    [Edge("f1", "member", one) for one in ("ann", "acme", "oslo")]
    + [Edge("f2", "member", one) for one in ("ann", "oslo")]
    + [Edge("d#0", "states", "f1"), Edge("d#0", "states", "f2"), Edge("d#0", "titled", "ann")],
)


def test_facts_join_their_members(build):
    graph = build(*FACTS)
    found = match(graph, ("Ann", "founded", "?x"))
    assert sorted(bound(found, "?x")) == ["acme", "oslo"]
    said = [one.item.id for one in found.evidence.nodes if one.item.type == "fact"]
    assert said == ["f1"]
    assert bound(match(graph, ("Ann", "left", "?x")), "?x") == ["oslo"]


def test_a_fact_that_says_something_else_is_not_said_to_state_a_triple(build):
    found = match(build(*FACTS), ("Ann", "hated", "Acme"))
    assert found.sound == ()
    [why] = [one.why for one in found.evidence.nodes if one.item.type == "fact"]
    assert why == "has both ends of (Ann, hated, Acme); predicate unmatched"


def test_facts_are_evidence_beside_edges_and_passages_are_no_ends(build):
    nodes, edges = FACTS
    graph = build(nodes, [*edges, Edge("ann", "founded", "acme", "founded")])
    found = match(graph, ("Ann", "founded", "?x"))
    assert found.bindings[0] == ({"?x": "acme"}, 1.0)
    assert [one.item.id for one in found.evidence.nodes if one.item.type == "fact"] == ["f1"]
    anything = match(graph, ("Ann", "", "?x"))
    assert sorted(bound(anything, "?x")) == ["acme", "oslo"]
    assert "chunk" not in {one.item.type for one in anything.evidence.nodes}


def test_a_graph_of_passages_alone_is_walked_by_titles(build):
    nodes = [
        Node("1", "chunk", "Night Ferry", "A film by Ada Holm with Noor Vik."),
        Node("2", "chunk", "Ada Holm", "A director, born in Oslo."),
        Node("3", "chunk", "Noor Vik", "An actor."),
    ]
    graph = build(nodes, [Edge("1", "mentions", "2"), Edge("1", "mentions", "3")])
    found = match(graph, ("Night Ferry", "director", "?d"))
    assert bound(found, "?d")[0] == "2"
    assert found.bindings[0][1] == pytest.approx(UNMATCHED_COST)
    assert "born in Oslo" in found.evidence.semantic().nodes[1].item.text


def test_among_passages_a_name_that_stands_in_one_leads_further_than_likeness(build):
    nodes = [
        Node("1", "chunk", "Night Ferry", "By Ada Holm."),
        Node("2", "chunk", "Day Ferry"),
        Node("3", "chunk", "Ada Holm"),
    ]
    graph = build(nodes, [Edge("1", "similar", "2", weight=0.9), Edge("1", "mentions", "3")])
    assert bound(match(graph, ("Night Ferry", "director", "?d")), "?d") == ["3", "2"]


# ---------------------------------------------------------------------------------------------------------- bounds


def test_of_a_hub_those_are_kept_that_the_words_of_the_triple_speak_for(build):
    spokes = [Node(f"s{number:04}", "thing", f"spoke {number}") for number in range(3 * MOST_PARTNERS)]
    nodes = [Node("hub", "thing", "Hub"), *spokes, Node("z", "thing", "the engine"), Node("far", "thing", "Far")]
    edges = [Edge("hub", "touches", one.id) for one in nodes if one.id not in ("hub", "far")]
    graph = build(nodes, [*edges, Edge("z", "drives", "far"), Edge(spokes[-1].id, "drives", "far")])
    found = match(graph, ("Hub", "touches", "?engine"))
    assert len(found.bindings) == min(MOST_PARTNERS, MOST_STATES)
    assert "z" in bound(found, "?engine")
    assert len(match(graph, ("Hub", "flavours", "?engine")).bindings) <= MOST_UNFIT
    # A second triple narrows down what the first may give before anything is cut off.
    narrowed = match(graph, ("Hub", "touches", "?x"), ("?x", "drives", "Far"))
    assert bound(narrowed, "?x", least=1.0) == [spokes[-1].id, "z"]


# ------------------------------------------------------------------------------------------------------------ a tool


def test_a_trajectory_that_holds_the_call_is_replayed(small):
    triples = [TriplePattern("Ada Holm", "directed", "?f"), TriplePattern("?f", "set in", "?c")]
    said = matching_arguments(triples)
    found = MatchTriples(small)(json.loads(said))
    assert set(found.nodes) == {"p1", "f1", "f2", "c1"}
    step = Step(
        reply=Reply(
            message=Message(role="assistant", tool_calls=(ToolCall(id="1", name="match_triples", arguments=said),))
        ),
        observations=(Observed(call_id="1", text=found.text, nodes=found.nodes),),
    )
    toolbox = ToolboxSpec(name="gathering", options={"offers_triples": True})
    trajectory = Trajectory(
        question=Question(text="?"), method="x", toolbox=toolbox, tools=(MatchTriples.spec,), steps=(step,)
    )
    assert [one.is_equal for one in replay_trajectory(trajectory, small)] == [True]


# -------------------------------------------------------------------------------------------------------- real graphs


@pytest.mark.parametrize(
    ("triples", "variable", "names"),
    [
        ([("Niklaus Wirth", "designed", "?l")], "?l", {"Modula-2", "Oberon", "Pascal"}),
        (
            [("?p", "worked at", "Bell Labs"), ("?p", "works at", "Google")],
            "?p",
            {"Ken Thompson", "Peter Weinberger", "Rob Pike"},
        ),
        (
            [("Bjarne Stroustrup", "designed", "?l"), ("an implementation", "written in", "?l")],
            "an implementation",
            {"Clang", "GCC", "OpenJDK", "SpiderMonkey", "V8"},
        ),
    ],
)
def test_questions_of_the_demo_as_triples(build, triples, variable, names):
    graph = build(*demo_records())
    found = match(graph, *triples)
    assert {graph.node(node).name for node in bound(found, variable)} == names


def test_chains_of_2wikis_evidences_end_where_they_should(data_folder, build):
    parquet = pytest.importorskip("pyarrow.parquet")
    path = data_folder / "2wikimultihopqa" / "questions.parquet"
    if not path.is_file():
        pytest.skip(f"{path} is not here")
    evidences = [
        [tuple(one.split("\t")) for one in said] for said in parquet.read_table(path).column("evidences").to_pylist()
    ]
    stated = {one for several in evidences for one in several}
    names = sorted({end for s, _, o in stated for end in (s, o)})
    graph = build(
        [Node(name, "name", name) for name in names],
        [Edge(s, p.replace(" ", "_"), o, p) for s, p, o in sorted(stated)],
    )
    matcher = TripleMatcher(graph)
    chains = [(a, b) for several in evidences for a in several for b in several if a[2] == b[0] and a != b]
    right = 0
    for (s, p, _), (_, q, last) in chains:
        found = matcher.match([TriplePattern(s, p, "?x"), TriplePattern("?x", q, "?y")], run=Allowance())
        right += found.bindings[0][0].get("?y") == last
    assert len(chains) > 80
    assert right >= 0.97 * len(chains)


def test_hetionets_edges_of_a_chain_are_those_of_its_tables(data_folder, tmp_path):
    parquet = pytest.importorskip("pyarrow.parquet")
    folder = data_folder / "hetionet"
    if not folder.is_dir():
        pytest.skip(f"{folder} is not here")
    import_graph([folder], tmp_path / "graph")
    graph = Graph.open(tmp_path / "graph")
    columns = parquet.read_table(folder / "edges.parquet").to_pydict()
    rows = list(zip(columns["source"], columns["metaedge"], columns["target"], strict=True))
    asthma = next(row for row in graph.arrays.candidates("asthma") if graph.arrays.type_at(row) == "Disease")
    genes = {o for s, e, o in rows if e == "DaG" and s == graph.arrays.ids[asthma]}
    found = match(graph, ("?gene", "associates", "asthma"))
    assert set(bound(found, "?gene")) == genes
    pathways = {(s, o) for s, e, o in rows if e == "GpPW" and s in genes}
    found = match(graph, ("?gene", "associates", "asthma"), ("?gene", "participates", "?pathway"))
    pairs = {(one["?gene"], one["?pathway"]) for one, _ in found.bindings}
    assert len(pairs) == MOST_STATES
    assert pairs <= pathways
