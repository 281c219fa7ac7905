"""What all retrievers have in common: calls of a model are recorded, replayed where they can be, vectors are paid."""

import json

import pytest

from clinic import EDGES, NODES
from fakes import Answer, FakeServer
from fakes.embedder import WordEmbedder
from orienteer.errors import BadOption, ModelError
from orienteer.graph import Graph, embed_graph
from orienteer.index import ServedEmbedder
from orienteer.lab.replay import replay as replay_trajectory
from orienteer.llm import Allowance, Budget, OpenAIConfig, ScriptedModel
from orienteer.methods import METHODS
from orienteer.records import Edge, Node, Question
from orienteer.retrieval import BASES, UNPAID_NOTE, Query, open_base
from orienteer.tools import GatherEvidence

QUESTION = "Who founded Acme in Basel?"
WITH_FACTS = [
    Node("c1", "chunk", "Acme", "Acme was founded by Ada Holm in Basel."),
    Node("c2", "chunk", "Basel", "Basel lies on the Rhine."),
    Node("acme", "company", "Acme"),
    Node("ada", "person", "Ada Holm"),
    Node("basel", "city", "Basel"),
    Node("f1", "fact", "founded", "Ada Holm founded Acme."),
]
JOINED = [
    *(Edge("c1", "mentions", one) for one in ("acme", "ada", "basel")),
    Edge("c2", "titled", "basel"),
    Edge("c1", "states", "f1"),
    *(Edge("f1", "member", one) for one in ("ada", "acme")),
    Edge("ada", "founded", "acme"),
]
ANALYSIS = {"low": ["Acme"], "high": ["founder"], "answer_types": ["person"]}
ASKS = {
    "hippo": ({"filter": True}, "hippo-facts"),
    "msgraph-local": ({"reports": "model"}, "community"),
    **{name: ({"analysis": "model"}, "analysis") for name in ("hyper", "light", "mini", "path")},
}


def says(messages, tools, sampling):
    system = messages[0].content
    if "kept" in system:
        return json.dumps({"kept": [1]})
    return json.dumps({"title": "T", "report": "R"} if "report" in system else ANALYSIS)


@pytest.fixture(scope="module")
def graph(build):
    return build(WITH_FACTS, JOINED)


def made(name, graph, options, model=None):
    return METHODS[name].make(graph, model=model, options=options)


@pytest.mark.parametrize("name", ASKS)
def test_each_call_of_a_model_is_recorded_once(graph, name):
    options, prompt = ASKS[name]
    method, told = made(name, graph, options, ScriptedModel(says)), []
    run = Allowance(listener=told.append)
    result = method.retrieve(Question(text=QUESTION), run)
    asked = [one for one in result.trajectories if one.model]
    assert {one.method for one in asked} == {f"{name}: {prompt}"}
    assert {one.question.text for one in asked} == {QUESTION}
    assert len(asked) == run.usage().calls == sum(step.reply.usage.calls for step in told) > 0
    assert all(one.steps[0].reply.message.content == one.answer for one in asked)
    again = method.retrieve(Question(text=QUESTION), Allowance())
    assert len([one for one in again.trajectories if one.model]) == (name == "hippo")  # the others remember
    assert again.hits == result.hits


def test_what_was_asked_before_a_failure_is_recorded(graph):

    def dies_at_the_report(messages, tools, sampling):
        if "report" in messages[0].content:
            raise ModelError("down")
        return says(messages, tools, sampling)

    options = {"analysis": "model", "reports": "model"}
    result = made("msgraph-local", graph, options, ScriptedModel(dies_at_the_report)).retrieve(
        Question(text=QUESTION), Allowance()
    )
    assert result.stopped_by == "error"
    asked = [one for one in result.trajectories if one.model]
    assert [(one.answer, one.stopped_by) for one in asked] == [(json.dumps(ANALYSIS), "finish"), (None, "error")]
    assert [step.error for one in asked for step in one.steps] == [None, "down"]


@pytest.mark.parametrize("name", ASKS)
def test_a_replay_gives_the_same_or_says_that_it_takes_a_model(graph, name):
    options, prompt = ASKS[name]
    gathered = made(name, graph, options, ScriptedModel(says)).retrieve(Question(text=QUESTION), Allowance())
    [replayed] = replay_trajectory(gathered.trajectories[0], graph)
    if prompt == "analysis":
        assert replayed.is_equal
    else:
        assert "took a model" in replayed.now.text
        assert replayed.now.error == "BadOption"


@pytest.mark.parametrize("options", [{"depth": "deep"}, {"unheard_of": 1}, {"k": "ten"}, {"mode": 3}])
def test_options_that_a_trace_should_not_hold_are_told(graph, options):
    with pytest.raises(BadOption):
        GatherEvidence(graph)({"base": "hippo", "query": "Basel", "options": options})


@pytest.fixture
def served(scratch):
    words = WordEmbedder()
    answer = lambda body, _: Answer(vectors=words.embed(body["input"], kind="query").tolist(), usage={})  # noqa: E731
    with FakeServer(answer) as server:
        embedder = ServedEmbedder("fake", OpenAIConfig(base_url=server.url, retries=0))
        graph = Graph.from_records(NODES, EDGES, path=scratch())
        embed_graph(graph, embedder, cache=scratch())
        yield Graph.open(graph.path, embedder=lambda _: embedder)
        embedder.close()


@pytest.mark.server
@pytest.mark.parametrize("name", BASES)
def test_without_a_call_left_for_a_vector_it_goes_by_words_and_says_so(served, name):
    spent = Allowance(Budget(calls=1))  # that one is reserved
    evidence = open_base(name, served).gather(Query("Ada Brandt's drug"), spent)
    assert UNPAID_NOTE in evidence.reason
    assert spent.usage().calls == 0
    by_words = open_base(name, served, {"mode": "lexical"}).gather(Query("Ada Brandt's drug"), Allowance())
    assert evidence.nodes == by_words.nodes


@pytest.mark.server
@pytest.mark.parametrize("text", ["Ada Brandt's drug", "nothing of the kind"])
def test_what_went_by_words_is_replayed_by_words(served, text):
    spent = Allowance(Budget(calls=1))
    result = made("light", served, {}).retrieve(Question(text=text), spent)
    [replayed] = replay_trajectory(result.trajectories[0], served)
    assert replayed.is_equal
    assert UNPAID_NOTE in replayed.now.text
