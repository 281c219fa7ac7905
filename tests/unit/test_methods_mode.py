"""Every method that searches can search by meaning: ARK's table 4, and the dense forms of the baselines."""

import json

import numpy as np
import pytest

from clinic import EDGES, NODES
from fakes.embedder import embedded
from orienteer.errors import BadOption
from orienteer.graph import Graph
from orienteer.lab.replay import replay as replay_trajectory
from orienteer.llm import Allowance, ScriptedModel
from orienteer.methods import METHODS
from orienteer.options import options_of
from orienteer.records import Question, Trajectory

WITH_MODE = [
    name
    for name, one in METHODS.items()
    if one.needs_model and "mode" in {option.name for option in options_of(one.config_class())}
]
QUESTION = Question(text="yellow zebra")


@pytest.fixture(scope="module")
def vectors(scratch):
    return embedded(Graph.from_records(NODES, EDGES, path=scratch()), scratch())


def searching(messages, tools, sampling):
    """Search once where there is a tool for it, say nothing of use else."""
    if tools and not any(message.role == "tool" for message in messages):
        return [("search_in_graph", {"query": QUESTION.text})]
    return [("finish", {})] if tools else "Nothing."


def made(name, graph, **options):
    return METHODS[name].make(graph, model=ScriptedModel(searching), options=options)


def test_all_that_have_a_model_have_it():
    searching = {name for name, one in METHODS.items() if one.needs_model} - {"vanilla"}
    assert set(WITH_MODE) == searching


def searches(trajectory: Trajectory):
    for step in trajectory.steps:
        for call, seen in zip(step.reply.message.tool_calls, step.observations, strict=True):
            if call.name in ("search_in_graph", "search_passages", "gather_evidence"):
                yield seen.nodes


@pytest.mark.process
@pytest.mark.parametrize("mode", ["dense", "hybrid:0.6"])
@pytest.mark.parametrize("name", WITH_MODE)
def test_searches_rank_by_it_and_replay_as_they_were(vectors, name, mode):
    result = made(name, vectors, mode=mode).retrieve(QUESTION, Allowance(random_seed=7))
    found = [nodes for one in result.trajectories for nodes in searches(one)]
    assert found
    assert all(len(nodes) > 2 for nodes in found)  # by words two nodes have one of them
    for trajectory in result.trajectories:
        if trajectory.tools:
            assert trajectory.toolbox.options["mode"] == mode
            again = Trajectory.model_validate_json(trajectory.model_dump_json())
            assert all(one.is_equal for one in replay_trajectory(again, vectors))


def test_a_trajectory_of_before_the_vectors_replays_after_them(scratch):
    path = scratch()
    graph = Graph.from_records(NODES, EDGES, path=path)
    trajectory = made("ark", graph).retrieve(QUESTION, Allowance(random_seed=7)).trajectories[0]
    replayed = list(replay_trajectory(trajectory, embedded(graph, scratch())))
    assert replayed
    assert all(one.is_equal for one in replayed)


@pytest.mark.parametrize("name", WITH_MODE)
def test_a_mode_that_there_is_not_is_told_with_those_there_are(name):
    with pytest.raises(BadOption, match="it must be lexical, dense, hybrid, hybrid:WEIGHT"):
        METHODS[name].config_class()(mode="sparse")


def test_the_papers_tools_search_by_meaning_too(vectors):
    """Table 4 replaces the lexical `rel` of the paper's tools and nothing else."""
    result = made("ark", vectors, faithful=True, mode="dense").retrieve(QUESTION, Allowance(random_seed=7))
    expected = tuple(hit.id for hit in vectors.search(QUESTION.text, 5, mode="dense"))
    assert next(searches(result.trajectories[0])) == expected


@pytest.mark.parametrize("name", WITH_MODE)
def test_without_vectors_it_is_told_before_a_model_is_paid(small, name):
    model = ScriptedModel(lambda *_: pytest.fail("the model was asked"))
    with pytest.raises(BadOption, match="orienteer embed"):
        METHODS[name].make(small, model=model, options={"mode": "dense"}).retrieve(QUESTION, Allowance())


TRIPLETS = {"target": "d", "variables": [{"name": "d", "type": "Disease"}], "constants": [], "triplets": []}
PATTERNS = {"4stepfocus": json.dumps(TRIPLETS), "focusedr": "MATCH (d:Disease) RETURN d"}


@pytest.mark.parametrize("mode", ["lexical", "dense", "hybrid", "rrf"])
@pytest.mark.parametrize("name", PATTERNS)
def test_candidates_of_a_pattern_are_ordered_by_it(vectors, name, mode):
    model = ScriptedModel(lambda *_: PATTERNS[name])
    question = Question(text="fever that hurts the eyes", k=3)
    method = METHODS[name].make(vectors, model=model, options={"mode": mode, "rerank_first": False})
    result = method.retrieve(question, Allowance())
    diseases = np.flatnonzero(vectors.arrays.node_types == vectors.arrays.types.nodes.index("Disease")).astype(np.int32)
    expected = vectors.arrays.rank(diseases, question.text, 3, mode=mode)[0]
    assert [hit.id for hit in result.hits] == [vectors.arrays.ids[row] for row in expected.tolist()]


@pytest.mark.parametrize(("mode", "meant"), [("lexical", "s1"), ("dense", "d1")])
@pytest.mark.parametrize(("name", "asked", "place"), [("kar", "entities", 1), ("think-on-graph", "topics", 0)])
def test_of_nodes_with_one_name_the_nearest_is_meant(vectors, name, asked, place, mode, meant):
    """By words the node that has all three, by meaning the one whose text says yellow twice."""
    question = Question(text="jaundice yellow colour")
    reply = json.dumps({asked: ["Jaundice"]})
    named = ScriptedModel(lambda messages, *_: reply if f'"{asked}"' in str(messages) else "")
    result = METHODS[name].make(vectors, model=named, options={"mode": mode}).retrieve(question, Allowance())
    calls = [call for step in result.trajectories[0].steps for call in step.reply.message.tool_calls]
    starts = [json.loads(one.arguments)["node"] for one in calls if one.name == "search_in_neighborhood"]
    rows = np.array(sorted(vectors.arrays.candidates("Jaundice")), np.int32)
    assert (
        starts[place] == vectors.arrays.ids[int(vectors.arrays.rank(rows, question.text, 1, mode=mode)[0][0])] == meant
    )
