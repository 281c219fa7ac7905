"""Queries that a server embeds are calls of the question that they serve: claimed from its budget, charged to it."""

import time
from concurrent.futures import ThreadPoolExecutor
from threading import Barrier

import numpy as np
import pytest

from clinic import EDGES, NODES
from fakes import Answer, FakeServer
from fakes.embedder import WordEmbedder
from orienteer.agents import Workflow, WorkflowConfig
from orienteer.errors import BadOption, BudgetExhausted
from orienteer.graph import Graph, embed_graph
from orienteer.index import ServedEmbedder
from orienteer.lab.baselines import MOST_PASSAGES, Hyde, HydeConfig, Kar, KarConfig, React, ReactConfig
from orienteer.lab.replay import replay as replay_trajectory
from orienteer.llm import Allowance, Budget, OpenAIConfig, ScriptedModel
from orienteer.methods import Ark, ArkConfig
from orienteer.records import Price, Question, Usage

pytestmark = pytest.mark.server

WORDS = WordEmbedder()
QUESTION = Question(text="yellow zebra")
TOKENS = 7  # that the server counts, each call
PRICE = Price(prompt=2.0, completion=9.0)
END = [("add_to_answer", {"nodes": ["d2"]}), ("finish", {})]
PICKS = {"answer_nodes": [{"node_index": "d2", "reasoning": "it fits"}]}


@pytest.fixture
def server():
    with FakeServer(
        lambda body, _: Answer(
            vectors=WORDS.embed(body["input"], kind="query").tolist(), usage={"prompt_tokens": TOKENS}
        )
    ) as fake:
        yield fake


@pytest.fixture
def graph(server, scratch):
    """An embedded graph, just opened: no query is among the last few."""
    opened = []

    def embedder(_):
        opened.append(ServedEmbedder("fake", OpenAIConfig(base_url=server.url, price=PRICE, retries=0)))
        return opened[-1]

    made = Graph.from_records(NODES, EDGES, path=scratch())
    embed_graph(made, embedder("openai:fake"), cache=scratch())
    server.requests.clear()
    yield Graph.open(made.path, embedder=embedder)
    for one in opened:
        one.close()


def agent(*queries):
    """Search for one text a turn, then answer with Malaria."""

    def policy(messages, tools, sampling):
        turn = sum(message.role == "assistant" for message in messages)
        if turn < len(queries):
            return [("search_in_graph", {"query": queries[turn]})]
        is_plain = any("answer_nodes" in tool.parameters["properties"] for tool in tools)
        return [("add_to_answer", PICKS), END[1]] if is_plain else END

    return ScriptedModel(policy)


def ask_ark(graph, model, run, **options):
    return Ark(graph, model, ArkConfig(mode="dense", **{"agents": 1, **options})).retrieve(QUESTION, run)


def sent(server):
    return [body["input"] for body in server.bodies]


def test_the_searches_of_an_agent_are_charged_each_query_once(graph, server):
    run = Allowance()
    result = ask_ark(graph, agent("yellow skin", "a stripe", "yellow skin"), run)
    assert sent(server) == [["yellow skin"], ["a stripe"]]
    model_calls = sum(len(one.steps) for one in result.trajectories)
    spent = run.usage()
    assert (model_calls, spent.calls, result.usage.calls) == (4, 4 + 2, 4 + 2)
    embedding = result.trajectories[0].embedding
    assert (embedding.calls, embedding.prompt_tokens) == (2, 2 * TOKENS)
    assert embedding.usd == spent.usd == pytest.approx(2 * TOKENS * PRICE.prompt / 1e6)  # the scripted model is free


def test_neighbourhoods_and_words_cost_what_they_do(graph, server):
    def policy(messages, tools, sampling):
        turn = sum(message.role == "assistant" for message in messages)
        calls = [
            ("search_in_neighborhood", {"node": "Malaria", "query": "pain"}),
            ("search_in_neighborhood", {"node": "Malaria"}),
            ("search_in_graph", {"query": "fever", "mode": "lexical"}),
            ("search_in_graph", {"query": "pain", "mode": "hybrid"}),
        ]
        return [calls[turn]] if turn < len(calls) else END

    run = Allowance()
    ask_ark(graph, ScriptedModel(policy), run)
    assert sent(server) == [["pain"]]
    assert run.usage().calls == 5 + 1


def test_agents_side_by_side_pay_for_one_query_once(graph, server):
    run = Allowance()
    ask_ark(graph, agent("one text", "another"), run, agents=4)
    assert sorted(sent(server)) == [["another"], ["one text"]]
    assert run.usage().calls == 4 * 3 + 2


@pytest.mark.parametrize("make", [
    lambda graph, model: React(graph, model, ReactConfig(mode="dense")),
    lambda graph, model: Ark(graph, model, ArkConfig(mode="dense", agents=1)),
])  # fmt: skip
def test_a_budget_without_a_call_for_it_leaves_words_and_says_so(graph, server, make):
    run = Allowance(Budget(calls=2), reserve=1)
    result = make(graph, agent("yellow zebra")).retrieve(QUESTION, run)
    assert not sent(server)
    assert (run.usage().calls, result.stopped_by) == (2, "calls")
    assert [hit.id for hit in result.hits] == ["d2"]
    (trajectory,) = result.trajectories
    assert any(note.startswith("1 search went by words") for note in trajectory.notes)
    seen = trajectory.steps[0].observations[0]
    assert (seen.nodes, seen.error) == (("d1", "s1"), None)  # those that have yellow
    assert "no call left" in seen.text


def test_a_course_pays_for_its_searches(graph, server):
    run = Allowance()
    result = Hyde(graph, ScriptedModel(lambda *_: "A passage."), HydeConfig(mode="dense", passages=2)).retrieve(
        QUESTION, run
    )
    assert sent(server) == [["yellow zebra", "A passage.", "A passage."]]
    assert result.usage.calls == run.usage().calls == 2 + 1
    server.requests.clear()
    run = Allowance()
    said = ScriptedModel(lambda messages, *_: '{"entities": ["Malaria"]}' if '"entities"' in str(messages) else "More.")
    result = Kar(graph, said, KarConfig(mode="hybrid")).retrieve(QUESTION, run)
    assert sent(server) == [["yellow zebra"], ["yellow zebra\nMore."]]  # of its five searches
    assert result.usage.calls == run.usage().calls == 4


def test_a_course_that_cannot_pay_is_ranked_by_words(graph, server):
    run = Allowance(Budget(calls=1), reserve=0)
    result = Hyde(graph, ScriptedModel(lambda *_: "robots"), HydeConfig(mode="dense")).retrieve(QUESTION, run)
    assert not sent(server)
    assert {hit.id for hit in result.hits} == {"d1", "s1", "x1"}  # those that have yellow, or robots
    assert "1 search went by words: the budget had no call left to embed what was searched for" in result.notes


def test_a_server_that_is_down_is_no_weak_method(graph, server):
    server.policy = lambda *_: Answer(status=500, message="on fire")
    run = Allowance()
    result = ask_ark(graph, agent("yellow"), run)
    assert (result.stopped_by, result.hits) == ("error", ())
    assert "on fire" in result.trajectories[0].error
    assert run.usage().calls == 1  # the model's, whose search failed
    course = Hyde(graph, ScriptedModel(lambda *_: "robots"), HydeConfig(mode="dense")).retrieve(QUESTION, Allowance())
    assert (course.stopped_by, course.hits) == ("error", ())
    assert any("on fire" in note for note in course.notes)


def test_what_an_embedder_takes_says_nothing_of_the_next_call_of_a_model():
    run = Allowance(Budget(tokens=1_205), reserve=1)
    run.check()
    run.charge(Usage(calls=1, prompt_tokens=400))
    run.check()
    run.charge(Usage(calls=1, prompt_tokens=10), is_typical=False)
    with pytest.raises(BudgetExhausted, match="410 used"):  # 400 more, and 400 for the last turn, do not fit
        run.check()


def test_each_thread_is_told_what_its_own_call_has_spent(server):
    embedder = ServedEmbedder("fake", OpenAIConfig(base_url=server.url, price=PRICE))
    with ThreadPoolExecutor(4) as pool:
        found = list(pool.map(lambda at: embedder.embed_metered([f"text {at}"], kind="query").usage, range(12)))
    embedder.close()
    assert {(one.calls, one.prompt_tokens, one.usd) for one in found} == {(1, TOKENS, TOKENS * 2 / 1e6)}
    assert embedder.usage.calls == 12


def test_a_price_is_known_on_openais_own_server_only():
    assert ServedEmbedder("text-embedding-3-small").price == Price(prompt=0.02, completion=0.0)
    assert ServedEmbedder("text-embedding-3-small", OpenAIConfig(base_url="http://localhost:1/v1")).price is None


def test_a_query_that_failed_is_asked_again(graph, server):
    working, server.policy = server.policy, lambda *_: Answer(status=400, message="no")
    run = Allowance()
    assert ask_ark(graph, agent("yellow"), run).stopped_by == "error"
    server.policy = working
    assert ask_ark(graph, agent("yellow"), run).stopped_by == "finish"


def test_who_waits_for_the_query_of_another_claims_no_call(graph, server):
    """Of agents that race for one query one has a call less, the others none: its budget has just that one."""
    working, asked = server.policy, Barrier(5, timeout=30)

    def slow(body, before):
        time.sleep(0.2)  # the others come meanwhile
        return working(body, before)

    server.policy = slow
    run, vectors = Allowance(Budget(calls=2), reserve=0), graph.arrays.searcher.vectors

    def pay(_):
        asked.wait(10)
        return vectors.pay(run, "yellow").calls

    with ThreadPoolExecutor(5) as pool:
        assert sorted(pool.map(pay, range(5))) == [0, 0, 0, 0, 1]
    assert (len(server.requests), run.usage().calls) == (1, 1)
    run.check()  # the other call of the budget is still there


def test_what_is_ranked_for_nothing_costs_nothing(graph, server):
    run = Allowance()
    workflow = Workflow(graph, None, run, question=QUESTION, method="any", config=WorkflowConfig(mode="dense"))
    rows, scores = workflow.rank(np.zeros(0, np.int32), 5)
    assert (len(rows), len(scores), len(server.requests), run.usage().calls) == (0, 0, 0, 0)


def test_an_embedder_that_cannot_be_had_is_told_before_a_model_is_paid(graph):
    def moved(_):
        return ServedEmbedder("fake", OpenAIConfig(base_url="http://127.0.0.1:9/v1"))

    opened = Graph.open(graph.path, embedder=moved)
    model = ScriptedModel(lambda *_: pytest.fail("the model was asked"))
    with pytest.raises(BadOption, match="has changed since the graph was embedded"):
        ask_ark(opened, model, Allowance())
    hyde = Hyde(opened, model, HydeConfig(mode="dense"))
    with pytest.raises(BadOption, match="has changed since the graph was embedded"):
        hyde.retrieve(QUESTION, Allowance())


def test_vectors_of_another_length_end_a_question_as_a_failed_server_does(graph, server):
    server.policy = lambda body, _: Answer(vectors=[[1.0, 0.0]] * len(body["input"]), usage={"prompt_tokens": TOKENS})
    run = Allowance()
    result = ask_ark(graph, agent("yellow"), run)
    assert (result.stopped_by, result.hits) == ("error", ())
    assert "vectors of 2 dimensions, the graph's have 48" in result.trajectories[0].error


def test_a_step_whose_search_failed_is_kept_for_it_was_paid(graph, server):
    server.policy = lambda *_: Answer(status=500, message="on fire")
    calls = [("search_in_graph", {"query": "fever", "mode": "lexical"}), ("search_in_graph", {"query": "yellow"})]
    model, run = ScriptedModel(lambda *_: calls, usage=Usage(calls=1, prompt_tokens=100)), Allowance()
    (trajectory,) = ask_ark(graph, model, run).trajectories
    assert (trajectory.usage.calls, trajectory.usage.tokens) == (run.usage().calls, run.usage().tokens) == (1, 100)
    (step,) = trajectory.steps
    assert [one.call_id for one in step.observations] == [step.reply.message.tool_calls[0].id]


def test_searches_that_went_by_words_replay_as_they_were(graph, server):
    run = Allowance(Budget(calls=2), reserve=1)
    (trajectory,) = ask_ark(graph, agent("yellow zebra"), run).trajectories
    assert all(one.is_equal for one in replay_trajectory(trajectory, graph))
    assert not sent(server)


def test_all_passages_are_embedded_in_the_one_request_that_was_claimed(graph, server):
    run = Allowance(Budget(calls=MOST_PASSAGES + 1), reserve=0)
    config = HydeConfig(mode="dense", passages=MOST_PASSAGES)
    Hyde(graph, ScriptedModel(lambda *_: "A passage."), config).retrieve(QUESTION, run)
    assert len(server.requests) == 1
    assert run.usage().calls == MOST_PASSAGES + 1
