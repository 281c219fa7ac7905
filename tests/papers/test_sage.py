"""SAGE (paper 004): seeds, one hop, pruning, union; sections 2.2 and 3.2, appendix C.7. Brute force is the oracle."""

import json
from dataclasses import replace

import numpy as np
import pytest

from fakes.embedder import embedded
from fakes.limits import limits_in
from orienteer.errors import BadInput, BadOption
from orienteer.graph import EdgeWeights, Graph
from orienteer.lab.evaluation import Example, Gold, QuestionSet, evaluate, read_run
from orienteer.lab.replay import replay as replay_trajectory
from orienteer.llm import Allowance, ScriptedModel
from orienteer.methods import (
    METHODS,
    SAGE_TOTALS,
    EdgeWeight,
    OneHop,
    Sage,
    SageConfig,
    method_of,
    names_an_edge,
    seeds_of,
)
from orienteer.records import Edge, Message, Node, Observed, Question, Ranked, Reply, Result, Step, ToolCall, Trajectory
from orienteer.retriever import Retriever
from orienteer.settings import Settings

WORDS = ["river", "town", "bridge", "tower", "king", "war", "ship", "grain", "stone", "mill"]
QUESTION = "river town bridge"


@pytest.fixture(scope="module", params=[0, 1])
def graph(request, tmp_path_factory):
    """Sixty nodes of random words, joined at random by weighted edges of two types and plain ones of a third."""
    random = np.random.default_rng(request.param)
    nodes = [
        Node(f"n{at:02}", "chunk" if at % 3 else "note", f"Node {at}", " ".join(random.choice(WORDS, 12)))
        for at in range(60)
    ]
    edges = []
    for kind, weighted in (("mentions", True), ("similar", True), ("next", False)):
        for _ in range(90):
            a, b = random.integers(0, 60, 2).tolist()
            weight = round(float(random.uniform(0.1, 9)), 3) if weighted else 1.0
            edges.append(Edge(f"n{a:02}", kind, f"n{b:02}", weight=weight))
    folder = tmp_path_factory.mktemp("sage")
    return embedded(Graph.from_records(nodes, edges, path=folder / "graph"), folder / "cache")


def ask(graph, text=QUESTION, seeds=None, **options):
    limits = limits_in(options)
    return Sage(graph, SageConfig(**options), seeds).retrieve(Question(text=text, **limits), Allowance())


def ids(result):
    return [hit.id for hit in result.hits]


def hybrid(graph, text=QUESTION, **options):
    rows = np.arange(len(graph), dtype=np.int32)
    return dict(
        zip(graph.arrays.ids, graph.arrays.searcher("hybrid", **options).scores(text, rows).tolist(), strict=True)
    )


def best(scores, count):
    return sorted(scores, key=lambda node: (-scores[node], node))[:count]


def weighed(graph, seeds, *, sharpness=4.0, similar=0.01, kinds=("mentions", "similar", "next")):
    """The evidence for each neighbour, edge by edge: the sum of H(seed)^p * weight / greatest of the type, by its most.

    The random graph does not tell its greatest weights, so they are those of the edges at the seeds.
    """
    scores = hybrid(graph)
    touching = [
        (a, b, edge)
        for edge in graph.iter_edges()
        for a, b in ((edge.source, edge.target), (edge.target, edge.source))
        if a in seeds and a != b and edge.type in kinds
    ]
    greatest = {kind: max((edge.weight for _, _, edge in touching if edge.type == kind), default=1) for kind in kinds}
    found = {}
    for seed, node, edge in touching:
        share = similar if edge.type == "similar" else 1
        found[node] = found.get(node, 0) + share * scores[seed] ** sharpness * edge.weight / greatest[edge.type]
    most = max(found.values())
    return {node: value / most for node, value in found.items()}


# ------------------------------------------------------------------------------------------------- what edges weigh


def test_the_weights_of_many_edges_are_those_of_each(graph):
    places = np.arange(len(graph.arrays.adjacency.neighbor))
    one_by_one = [graph.arrays.extras(int(at)).get("weight", 1.0) for at in places]
    assert graph.arrays.weights(places).tolist() == pytest.approx(one_by_one)
    shuffled = np.random.default_rng(0).permutation(places)
    read = EdgeWeights(graph.arrays.adjacency, graph.arrays.edge_extras)
    for part in np.array_split(shuffled, 7):  # what is read piece by piece is the same, also the second time
        assert read(part).tolist() == pytest.approx([one_by_one[at] for at in part])
        assert read(part).tolist() == pytest.approx([one_by_one[at] for at in part])


def test_edges_that_carry_nothing_weigh_one():
    graph = Graph.from_records([Node("a"), Node("b")], [Edge("a", "knows", "b")])
    assert graph.arrays.weights(np.arange(2)).tolist() == [1, 1]


def test_one_hop_finds_all_neighbours_with_the_evidence_of_all_edges(graph):
    seeds = best(hybrid(graph), 5)
    rows = np.array([graph.arrays.row(node) for node in seeds], np.int32)
    strength = np.array([hybrid(graph)[node] ** 4 for node in seeds])
    found = OneHop(graph, SageConfig(similar=1.0)).from_(rows, strength, QUESTION)
    expected = weighed(graph, seeds, similar=1)
    assert [graph.arrays.ids[row] for row in found.rows] == sorted(expected)
    assert found.evidence.tolist() == pytest.approx([expected[node] for node in sorted(expected)])
    assert found.evidence.max() == 1
    for row, through, at, kind in zip(found.rows, found.through, found.edge, found.kind, strict=True):
        edge = graph.arrays.edge(int(through), int(row), int(kind), int(at))
        assert {edge.source, edge.target} == {graph.arrays.ids[through], graph.arrays.ids[row]}
        assert graph.arrays.ids[through] in seeds


def test_without_neighbours_nothing_is_reached():
    graph = Graph.from_records([Node("a", text="river"), Node("b")], [])
    found = OneHop(graph, SageConfig()).from_(np.array([0], np.int32), np.ones(1), "river")
    assert len(found.rows) == len(found.evidence) == len(found.through) == 0
    assert ids(ask(graph, "river")) == ["a"]


def chunks(*edges, greatest, texts=None):
    """A graph as `build` makes it: four chunks that hold a word each, and how much edges weigh at the most."""
    texts = texts or {"a": "river", "b": "stone", "c": "stone", "d": "stone"}
    nodes = [Node(name, "chunk", f"Name {at}", text) for at, (name, text) in enumerate(texts.items())]
    graph = Graph.from_records(nodes, edges)
    about = {"made_by": "build", "greatest_weights": greatest}
    graph.arrays.manifest = replace(graph.arrays.manifest, provenance=about)
    return graph


def test_weights_compare_by_the_greatest_of_their_type_and_mentions_count_half_backwards():
    graph = chunks(
        Edge("a", "mentions", "b", weight=4.0),
        Edge("c", "mentions", "a", weight=4.0),
        Edge("a", "shares_names", "d", weight=30.0),
        Edge("a", "next", "b"),
        greatest={"mentions": 8.0, "shares_names": 300.0},
    )
    entries = graph.arrays.adjacency.entries(np.array([graph.arrays.row("a")], np.int32))
    said = EdgeWeight(graph, SageConfig(backwards=0.5, unweighted=0.2)).of(entries, "river")
    by_edge = {
        (graph.arrays.ids[row], graph.arrays.types.edges[kind >> 1]): value
        for row, kind, value in zip(entries.neighbor.tolist(), entries.kind.tolist(), said.tolist(), strict=True)
    }
    assert by_edge == pytest.approx(
        {("b", "mentions"): 0.5, ("c", "mentions"): 0.25, ("d", "shares_names"): 0.1, ("b", "next"): 0.2}
    )


# ---------------------------------------------------------------------------------------------- pruning and union


def test_edges_count_in_full_but_in_a_graph_of_documents(graph):
    assert ids(ask(graph, k=20)) == ids(ask(graph, k=20, trust=1.0))
    assert ids(ask(graph, k=20)) != ids(ask(graph, k=20, trust=0.3))
    made = chunks(
        Edge("a", "mentions", "b", weight=8.0),
        Edge("a", "mentions", "c", weight=1.0),
        greatest={"mentions": 8.0},
        texts={"a": "river stone cliff", "b": "stone", "c": "stone cliff"},
    )
    found = [ids(ask(made, "river stone cliff", k=3, trust=trust)) for trust in (None, 0.3, 1.0)]
    assert found == [["a", "c", "b"], ["a", "c", "b"], ["a", "b", "c"]]


@pytest.mark.parametrize("k", [2, 5, 10, 20])
@pytest.mark.parametrize("pruning", ["hybrid", "weighed"])
def test_seeds_first_then_the_best_neighbours(graph, k, pruning):
    """Section 2.2.B: k1 seeds, all their neighbours, the best k2 of them, by brute force."""
    scores = hybrid(graph)
    seeds = best(scores, seeds_of(k))
    evidence = weighed(graph, seeds)
    power = 1 if pruning == "weighed" else 0  # of a graph that is not made of documents
    neighbours = {node: scores[node] * evidence[node] ** power for node in evidence if node not in seeds}
    kept = best(neighbours, k - len(seeds))
    flat = [node for node in best(scores, 60) if node not in {*seeds, *kept}]
    found = ids(ask(graph, k=k, pruning=pruning, order="seeds"))
    assert found == [*seeds, *kept, *flat][:k]


def test_half_of_a_result_are_seeds():
    """The splits of the authors' code: 5 = 2 + 3, 10 = 5 + 5, and so on."""
    assert [seeds_of(total) for total in (1, 2, 5, 10, 20, 40, 50, 80, 100)] == [1, 1, 2, 5, 10, 20, 25, 40, 50]
    assert list(SAGE_TOTALS) == sorted(SAGE_TOTALS)


def test_each_beginning_of_the_union_is_a_union_of_that_size(graph):
    found = ids(ask(graph, k=20))
    assert len(found) == len(set(found)) == 20
    for total in (2, 5, 10):
        assert found[:total] == ids(ask(graph, k=total))
        assert set(best(hybrid(graph), seeds_of(total))) <= set(found[:total])


def test_one_list_by_score_under_faithful(graph):
    """The order of the union is one by hybrid score, with 0.6 BM25 (appendix E), without the edges of names."""
    scores = hybrid(graph, weight=0.6)
    found = ids(ask(graph, k=10, faithful=True, order="seeds", weight=0.1))
    assert found == best({node: scores[node] for node in found}, 10)
    seeds = best(scores, 5)
    reached = set(weighed(graph, seeds, kinds=("similar", "next"))) - set(seeds)
    assert found == best({node: scores[node] for node in {*seeds, *best({n: scores[n] for n in reached}, 5)}}, 10)


def test_faithful_over_edges_of_names_alone_says_that_it_cannot_expand():
    graph = Graph.from_records([Node("a", text="river"), Node("b", text="stone")], [Edge("a", "mentions", "b")])
    found = ask(graph, "river", faithful=True)
    assert ids(found) == ["a"]
    assert any("no edges but those of names" in note for note in found.notes)
    assert ids(ask(graph, "river stone")) == ["a", "b"]


def test_joint_order_lets_a_strong_neighbour_pass_a_weak_seed(graph):
    first, joint = (ids(ask(graph, k=20, order=order)) for order in ("seeds", "joint"))
    assert set(first) == set(joint)
    assert first != joint


def test_the_extended_baseline_is_as_many_nodes_by_the_seeds_method_alone(graph):
    assert ids(ask(graph, k=20, policy="none")) == best(hybrid(graph), 20)


def test_a_trust_of_nothing_is_the_hybrid_score_alone(graph):
    assert ids(ask(graph, trust=0.0)) == ids(ask(graph, pruning="hybrid"))


def test_edge_types_bound_the_walk(graph):
    scores = hybrid(graph)
    seeds = best(scores, 5)
    reached = weighed(graph, seeds, kinds=("next",))
    found = ids(ask(graph, k=10, edge_types=("next",), order="seeds", pruning="hybrid"))
    assert found[5:] == best({node: scores[node] for node in reached if node not in seeds}, 5)


def test_filters_bind_answers_and_not_seeds(tmp_path):
    nodes = [Node("a", "river", "Rhine", "long river"), Node("b", "town", "Basel", "old stones"), Node("c", "town")]
    graph = embedded(Graph.from_records(nodes, [Edge("a", "crosses", "b")], path=tmp_path / "g"), tmp_path / "cache")
    found = ask(graph, "long river", k=2, node_types=("town",))
    assert {hit.type for hit in found.hits} == {"town"}
    assert next(hit for hit in found.hits if hit.id == "b").why


def test_without_vectors_words_stand_in_and_it_is_said():
    nodes = [Node("a", text="river town"), Node("b", text="river"), Node("c", text="stone"), Node("d", text="town")]
    graph = Graph.from_records(nodes, [Edge("a", "next", "d")])
    found = ask(graph, "river town", k=2)
    assert ids(found) == ["a", "d"]
    assert any("BM25 stands in" in note for note in found.notes)


def test_hits_say_which_edge_led_there(graph):
    found = ask(graph, order="seeds", k=20)
    assert all(hit.why.startswith("seed") for hit in found.hits[:10])
    assert any("mentions" in hit.why or "similar" in hit.why for hit in found.hits[10:])


# ------------------------------------------------------------------------------------------------- seeds by others


def trail(*calls, error=None):
    steps = []
    for number, (tool, arguments) in enumerate(calls):
        call = ToolCall(id=f"c{number}", name=tool, arguments=arguments)
        seen = Observed(call_id=call.id, text="", error=error)
        steps.append(Step(reply=Reply(message=Message(role="assistant", tool_calls=(call,))), observations=(seen,)))
    return Trajectory(question=Question(text=QUESTION), method="spark", steps=tuple(steps))


class Planned:
    """A method that gives fixed nodes, by a fixed search."""

    name = "planned"

    def __init__(self, nodes, *calls, stopped_by="finish"):
        self.nodes, self.calls, self.stopped_by = nodes, calls, stopped_by

    def retrieve(self, question, run):
        hits = [Ranked(id=node, type="chunk", name=node, score=1, why="planned") for node in self.nodes]
        return Result(
            question=question.text,
            method=self.name,
            hits=tuple(hits),
            trajectories=(trail(*self.calls),),
            stopped_by=self.stopped_by,
            notes=("by plan",),
        )


EDGE = json.dumps({"query": "MATCH (a)-[:mentions]->(b) RETURN b"})
NO_EDGE = json.dumps({"query": "MATCH (a) WHERE a.name = '-[x]->' RETURN a"})
SEEDS = ["n10", "n20", "n30"]


def test_seeds_of_another_method_are_expanded(graph):
    found = ask(graph, seeds=Planned(SEEDS, ("cypher", NO_EDGE)), k=6, order="seeds")
    assert ids(found)[:3] == SEEDS
    reached = {
        edge.target if edge.source in SEEDS else edge.source
        for edge in graph.iter_edges()
        if {edge.source, edge.target} & set(SEEDS)
    }
    assert set(ids(found)[3:]) <= reached
    assert found.method == "sage:planned"
    assert "by plan" in found.notes
    assert found.trajectories[1].method == "spark"


@pytest.mark.parametrize(("policy", "expands"), [("-edge", False), ("+edge", True), ("none", False)])
def test_the_policies_where_a_plan_named_an_edge(graph, policy, expands):
    """Section 3.2: -Edge skips expansion when the Cypher query includes explicit edges, +Edge always expands."""
    found = ask(graph, seeds=Planned(SEEDS, ("cypher", EDGE)), k=6, policy=policy)
    assert (len(found.hits) > 3) == expands
    assert (ids(found) == SEEDS) != expands
    assert any("named an edge" in note for note in found.notes) == (policy == "-edge")


@pytest.mark.parametrize(
    ("call", "named"),
    [
        (("cypher", EDGE), True),
        (("cypher", NO_EDGE), False),
        (("cypher", json.dumps({"query": "MATCH (a) WHERE EXISTS { (a)-->(b) } RETURN a"})), True),
        (("cypher", json.dumps({"query": "no Cypher -[x]->"})), False),
        (("cypher", "no JSON"), False),
        (("cypher", "[]"), False),
        (("cypher", "{}"), False),
        (("follow", json.dumps({"start": "a", "steps": [{"edge": "mentions"}]})), True),
        (("follow", json.dumps({"start": "a", "steps": [{"type": "chunk"}]})), False),
        (("follow", json.dumps({"start": "a", "steps": "mentions"})), False),
        (("search_in_neighborhood", json.dumps({"node": "a", "edge_types": ["mentions"]})), True),
        (("search_in_neighborhood", json.dumps({"node": "a"})), False),
        (("search_in_graph", json.dumps({"query": "a"})), False),
    ],
)
def test_a_search_names_an_edge_in_cypher_or_by_its_type(call, named):
    assert names_an_edge([trail(call)]) == named
    assert not names_an_edge([trail(call, error="BadQuery")])


def test_the_marks_of_a_plan_tell_it_before_its_calls():
    """A plan with an edge that found nothing falls back to a search, whose hits are worth expanding."""
    named, fell = (trail(("cypher", EDGE)).model_copy(update={"marks": marks}) for marks in (("edges",), ("fallback",)))
    assert names_an_edge([fell, named])
    assert not names_an_edge([fell])


@pytest.mark.slow
def test_over_spark_the_policies_follow_the_plan(graph):
    """One call writes the plan; -Edge expands what a plan without edges has found, and not what one along edges has."""
    search = {"op": "lexical_search", "into": "alike", "query": QUESTION}
    walk = {"op": "match", "into": "near", "start": "alike", "edge_types": ["mentions"]}

    def asked(steps, policy):
        model = ScriptedModel(
            lambda messages, tools, sampling: json.dumps({"steps": steps, "answer": steps[-1]["into"]})
        )
        options = {"policy": policy, "order": "seeds"}
        return Retriever(graph, "sage:spark", model=model, settings=Settings(), **options).search(QUESTION, 10)

    for steps, policy, expands in (
        ([search], "-edge", True),
        ([search, walk], "-edge", False),
        ([search, walk], "+edge", True),
    ):
        found = asked(steps, policy)
        assert found.usage.calls == 1
        assert any(call.name == "search_in_neighborhood" for call in calls_of(found.trajectories[0])) == expands


def calls_of(trajectory):
    return [call for step in trajectory.steps for call in step.reply.message.tool_calls]


def test_a_failed_method_of_seeds_gives_nothing(graph):
    found = ask(graph, seeds=Planned(SEEDS, stopped_by="error"))
    assert (found.hits, found.stopped_by) == ((), "error")


def test_seeds_that_are_none_leave_the_flat_list(graph):
    found = ask(graph, seeds=Planned([]), k=5)
    assert ids(found) == best(hybrid(graph), 5)


def test_a_spent_budget_is_handed_on_with_what_was_found(graph):
    found = ask(graph, seeds=Planned(SEEDS, stopped_by="calls"), k=5)
    assert found.stopped_by == "calls"
    assert set(ids(found)) > set(SEEDS[:2])


# --------------------------------------------------------------------------------------------------------- by name


@pytest.mark.parametrize("inner", ["bm25", "dense", "anchor"])
def test_a_method_over_another_is_written_with_a_colon(graph, inner):
    found = Retriever(graph, f"sage:{inner}", settings=Settings(), order="seeds", policy="+edge").search(QUESTION)
    assert found.method == f"sage:{inner}"
    alone = Retriever(graph, inner, settings=Settings()).search(QUESTION)
    assert ids(found)[:10] == ids(alone)[:10]
    assert ids(Retriever(graph, "sage", settings=Settings(), seeds=inner).search(QUESTION)) == ids(
        Retriever(graph, f"sage:{inner}", settings=Settings()).search(QUESTION)
    )


def test_over_a_method_with_a_model_it_needs_one(graph):
    assert METHODS["sage"].needs_model is False
    assert method_of("sage:ark").needs_model
    with pytest.raises(BadOption, match="needs a model"):
        Retriever(graph, "sage:ark", settings=Settings())


@pytest.mark.parametrize("name", ["bm25:sage", "sage:nothing", "sage:", "sage:auto", "sage:sage", "sage:sage:bm25"])
def test_names_that_mean_nothing_are_refused(name):
    with pytest.raises(BadOption):
        method_of(name)


def test_over_ark_the_agents_are_counted_and_the_budget_is_kept(graph):
    def policy(messages, tools, sampling):
        turn = sum(message.role == "assistant" for message in messages)
        calls = [("search_in_graph", {"query": QUESTION}), ("add_to_answer", {"nodes": ["n10"]}), ("finish", {})]
        return [calls[min(turn, 2)]]

    found = Retriever(graph, "sage:ark", model=ScriptedModel(policy), settings=Settings()).search(QUESTION, 5)
    assert found.hits[0].id == "n10"
    assert found.usage.calls == sum(len(one.steps) for one in found.trajectories if one.model)


@pytest.mark.process
def test_a_run_knows_the_method_that_finds_seeds(graph, tmp_path):
    """Its options and its prompts are conditions of the run, as far as the settings set them."""
    example = Example(question=Question(id="q", text=QUESTION), gold=Gold(nodes={"n01": 1.0}))
    model = ScriptedModel(lambda messages, tools, sampling: "a town by the river")
    settings = Settings(methods={"sage": {"weight": 0.6}, "hyde": {"passages": 2}})

    def run(settings):
        asked = QuestionSet("jsonl", (example,), "s")
        evaluate(graph, asked, ["sage:hyde trust=0.2"], tmp_path / "run", settings=settings, model=model)
        return read_run(tmp_path / "run").manifest

    manifest = run(settings)
    assert set(manifest.prompts) - {"listwise.md"} == {"hyde.md"}
    options = manifest.methods["sage:hyde trust=0.2"]
    assert (options["weight"], options["trust"], options["hyde.passages"]) == (0.6, 0.2, 2)
    with pytest.raises(BadInput, match=r"hyde\.passages was 2 and is 3"):
        run(Settings(methods={"sage": {"weight": 0.6}, "hyde": {"passages": 3}}))


def test_auto_says_which_seeds_it_takes_and_why(graph):
    found = Retriever(graph, "sage", settings=Settings()).search(QUESTION)
    assert any(note.startswith("seeds by hybrid: ") for note in found.notes)


def test_a_method_has_to_be_given_where_it_is_named(graph):
    with pytest.raises(BadOption, match="write sage:ark"):
        Sage(graph, SageConfig(seeds="ark"))


@pytest.mark.parametrize(
    "options",
    [{"weight": 1.5}, {"trust": -1.0}, {"sharpness": 65.0}, {"backwards": float("nan")}]
    + [{"titles": 2.0}, {"rows": -1.0}, {"similar": 1.1}],
)
def test_options_out_of_range_are_refused(options):
    with pytest.raises(BadOption):
        SageConfig(**options)


# ------------------------------------------------------------------------------------------------------- the trail


def test_the_work_is_in_the_trail_and_replays(graph):
    """Table 4 counts two retrievals and no iteration: the seeds, and the neighbourhood."""
    found = ask(graph)
    (walked,) = found.trajectories
    tools = [call.name for step in walked.steps for call in step.reply.message.tool_calls]
    assert tools == ["search_in_graph", "search_in_neighborhood"]
    assert found.usage.calls == 0
    again = list(replay_trajectory(walked, graph))
    assert again
    assert all(one.is_equal for one in again)


def test_no_observation_of_the_trail_is_an_error(graph):
    for options in ({}, {"faithful": True}, {"weight": 0.6}, {"edge_types": ("next",)}, {"node_types": ("note",)}):
        for step in ask(graph, **options).trajectories[0].steps:
            assert all(one.error is None for one in step.observations)
