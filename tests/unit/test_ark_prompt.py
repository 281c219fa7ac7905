"""What the prompt of our own agents tells them to do, and that tools do what it says. The paper's has none of it."""

import re

import pytest

from clinic import EDGES, NODES
from orienteer.llm import Allowance, ScriptedModel, prompt_of
from orienteer.methods import Ark, ArkConfig
from orienteer.records import Question
from orienteer.tools import Toolbox

OURS, PAPERS = (" ".join(prompt_of(name).system.split()) for name in ("ark", "ark-faithful"))


@pytest.fixture(scope="module")
def graph(build):
    return build(NODES, EDGES)


def explored(graph, *turns):
    """Return the trajectory of an agent that plays these turns, and its hits."""

    def policy(messages, tools, sampling):
        return turns[sum(message.role == "assistant" for message in messages)]

    result = Ark(graph, ScriptedModel(policy), ArkConfig(agents=1)).retrieve(Question(text="?"), Allowance())
    return result.trajectories[0], [hit.id for hit in result.hits]


@pytest.mark.parametrize(
    "advice",
    [
        "What the question names goes straight to the tools, as an exact name or `name (Type)`",
        "answer from the question's other conditions. If none is left, add what fits best and say so in finish's",
        "How many: add the whole set, and write the number in `reasoning`",
        "Yes or no: add the nodes that decide it, those on the path or in common, also where the question names them",
        "add_to_answer and finish may share a turn",
    ],
)
def test_our_prompt_gives_the_advice_and_the_papers_does_not(advice):
    assert advice in OURS
    assert advice not in PAPERS


def test_the_prompt_names_no_tool_that_is_not_there(graph):
    names = {spec.name for spec in Toolbox.full(graph).specs}
    assert {*re.findall(r"\b[a-z]+(?:_[a-z]+)+\b", OURS)} - {"node_types", "edge_types"} <= names
    assert names >= {"follow", "finish"}


def test_the_search_offers_itself_for_names_in_the_papers_form_alone(graph):
    ours = next(spec for spec in Toolbox.full(graph).specs if spec.name == "search_in_graph")
    assert "find the nodes that a question names" not in ours.description


def test_a_question_of_two_named_things_takes_two_turns(graph):
    trajectory, hits = explored(
        graph,
        [("intersect", {"nodes": ["Aspirin", "Jaundice (Symptom)"]})],
        [("add_to_answer", {"nodes": ["@1"], "reasoning": "both touch it"}), ("finish", {})],
    )
    assert (hits, trajectory.stopped_by, len(trajectory.steps)) == (["d2"], "finish", 2)
    assert not any(one.error for step in trajectory.steps for one in step.observations)


def test_a_yes_or_no_may_be_answered_with_what_the_question_names(graph):
    trajectory, hits = explored(
        graph,
        [("paths", {"a": "Aspirin", "b": "HBB"})],
        [("add_to_answer", {"nodes": ["Malaria", "Aspirin", "HBB"], "reasoning": "yes"}), ("finish", {})],
    )
    assert (hits, trajectory.stopped_by) == (["d2", "c1", "g2"], "finish")
