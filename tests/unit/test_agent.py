"""One agent's loop: it never dies of what the model says, keeps to its budget, and every request can be given back."""

import itertools
import json
import signal
import threading
import time

import pytest

from fakes import Answer, FakeServer
from fakes.limits import limits_in
from orienteer.agents import CALL_A_TOOL, LAST_CALL, LAST_TURN, Agent, ByFinish
from orienteer.errors import BudgetExhausted, ModelError, ModelLate, UnknownType
from orienteer.graph import Graph
from orienteer.lab.replay import requests as requests_of
from orienteer.llm import (
    ELISION,
    MOST_CALLS,
    Allowance,
    Budget,
    ChatRequest,
    OpenAIConfig,
    OpenAIModel,
    ScriptedModel,
    body_of,
)
from orienteer.methods import Ark, ArkConfig
from orienteer.records import Edge, Message, Node, Question, Reply, Sampling, Step, ToolCall, Trajectory, Usage
from orienteer.tools import Toolbox

OPENING = (Message(role="system", content="Find."), Message(role="user", content="Who founded Lund?"))
QUESTION = Question(text="Who founded Lund?")
SEARCH = ("search_in_graph", {"query": "town"})
FINISH = ("finish", {})
TOWNS = [f"t{at:02}" for at in range(30)]
COAST = f"a town {'by the sea ' * 40}"


@pytest.fixture(scope="module")
def graph(tmp_path_factory):
    nodes = [
        Node("lund", "Town", "Lund", "a town with a university"),
        Node("cnut", "Person", "Cnut", "a king"),
        *(Node(one, "Town", f"Town {one}", COAST, properties={"year": at}) for at, one in enumerate(TOWNS)),
    ]
    edges = [Edge("cnut", "founded", "lund"), *(Edge("cnut", "visited", one) for one in TOWNS)]
    return Graph.from_records(nodes, edges, path=tmp_path_factory.mktemp("towns") / "graph")


def add(*nodes):
    return ("add_to_answer", {"nodes": list(nodes)})


def turn_of(messages):
    return sum(message.role == "assistant" for message in messages)


def script(*turns):
    """Return a policy that plays these turns, repeating the last, whoever asks."""
    return lambda messages, tools, sampling: turns[min(turn_of(messages), len(turns) - 1)]


def scripts(*agents):
    """Return a policy with a script for each agent, told apart by their seeds."""
    return lambda messages, tools, sampling: script(*agents[sampling.random_seed])(messages, tools, sampling)


class Watched:
    """A model that notes every request and otherwise is the one it stands before."""

    def __init__(self, policy, usage=None):
        self._model = ScriptedModel(policy, usage=usage)
        self.name, self.price = self._model.name, None
        self.seen = {}

    def chat(self, messages, *, tools=(), schema=None, sampling=None, seconds=None):
        self.seen.setdefault(sampling.random_seed, []).append(tuple(messages))
        return self._model.chat(messages, tools=tools, schema=schema, sampling=sampling)


def explore(
    graph, model, *, run=None, toolbox=None, should_stop=lambda: False, max_steps=20, takes_last_set=True, **limits
):
    toolbox = toolbox or Toolbox.full(graph)
    ending = ByFinish(toolbox.session, max_steps=max_steps, takes_last_set=takes_last_set)
    begun = Trajectory(
        question=QUESTION,
        method="test",
        model=model.name,
        prompt_hash="0",
        sampling=Sampling(temperature=0.5, random_seed=0),
        toolbox=toolbox.spec,
        tools=toolbox.specs,
        opening=OPENING,
        elision=ELISION,
    )
    return Agent(model, toolbox, ending, should_stop=should_stop, **limits).explore(begun, run or Allowance())


def ask(graph, model, *, run=None, rerank=None, **config):
    question = QUESTION.model_copy(update=limits_in(config))
    return Ark(graph, model, ArkConfig(**config), rerank=rerank).retrieve(question, run or Allowance())


def assert_valid(messages):
    """Fail unless each call is answered exactly once, right after the message that made it."""
    waiting = []
    for message in messages:
        if message.role == "tool":
            assert message.tool_call_id in waiting
            waiting.remove(message.tool_call_id)
        else:
            assert not waiting
            waiting = [call.id for call in message.tool_calls]
            assert len(set(waiting)) == len(waiting)
    assert not waiting


def assert_requests(trajectory, seen):
    """Fail unless the trajectory gives back every request, byte for byte."""

    def wire(messages):
        return [json.dumps(body_of(ChatRequest.of("m", one), lacks=frozenset())["messages"]) for one in messages]

    assert wire([request.chat.messages for request in requests_of(trajectory)]) == wire(seen)


# --------------------------------------------------------------------------------------------- what a model may say


def raw(*calls, content=None):
    return Message(
        role="assistant",
        content=content,
        tool_calls=tuple(ToolCall(id=f"c{at}", name=name, arguments=text) for at, (name, text) in enumerate(calls)),
    )


SAID = {
    "prose": "It was Cnut, I think.",
    "empty content": "",
    "no content and no calls": Message(role="assistant", content=None),
    "unknown tool": [("look_up", {"query": "Lund"})],
    "a tool without a name": raw(("", "{}")),
    "broken json": raw(("search_in_graph", '{"query": "Lu')),
    "json that is no object": raw(("search_in_graph", '["Lund"]')),
    "no arguments at all": raw(("search_in_graph", "")),
    "missing arguments": [("search_in_neighborhood", {})],
    "arguments of the wrong type": [("search_in_graph", {"query": 7, "k": "many"})],
    "arguments that nest without end": raw(("search_in_graph", "[" * 100_000)),
    "an argument too many": [("search_in_graph", {"query": "Lund", "size": 30})],
    "half a character": raw(("search_in_graph", '{"query": "\\ud800"}')),
    "not a number": raw(("search_in_graph", '{"query": "Lund", "k": NaN}')),
    "an id that nothing has": [("read_node", {"node": "nobody"})],
    "a set that there is not": [("read_node", {"node": "@7"})],
    "a set with an endless number": [("read_node", {"node": "@" + "9" * 5000})],
    "an offset without end": [("search_in_neighborhood", {"node": "cnut", "query": "sea", "offset": 10**30})],
    "an unknown type": [("search_in_neighborhood", {"node": "cnut", "node_types": ["Zebra"]})],
    "a condition that is none": [("search_in_graph", {"query": "town", "where": ["%%%"]})],
    "two calls, one of them wrong": [("look_up", {}), SEARCH],
    "prose and a call": raw(("search_in_graph", '{"query": "town"}'), content="Let me see."),
}


@pytest.mark.parametrize("said", SAID.values(), ids=SAID)
def test_an_agent_goes_on_after_anything_a_model_says(graph, said):
    model = Watched(script(said, [add("cnut")], [FINISH]))
    trajectory = explore(graph, model)
    assert (trajectory.selected, trajectory.stopped_by, trajectory.error) == (("cnut",), "finish", None)
    for messages in model.seen[0]:
        assert_valid(messages)
    assert_requests(trajectory, model.seen[0])


@pytest.mark.parametrize("said", ["It was Cnut.", "", Message(role="assistant", content=None)])
def test_a_reply_without_a_call_is_asked_for_one(graph, said):
    model = Watched(script(said, [add("cnut"), FINISH]))
    trajectory = explore(graph, model)
    assert model.seen[0][1][-1] == Message(role="user", content=CALL_A_TOOL)
    assert [step.notice for step in trajectory.steps] == [None, CALL_A_TOOL]


def test_a_model_that_never_calls_anything_ends_at_the_last_step(graph):
    trajectory = explore(graph, ScriptedModel(script("Hm.")), max_steps=4)
    assert (len(trajectory.steps), trajectory.stopped_by, trajectory.selected) == (4, "steps", ())


@pytest.mark.parametrize(
    ("turns", "notices"),
    [
        ([[SEARCH], "It was Cnut.", "Cnut, I said.", [add("cnut")]], [None, None, CALL_A_TOOL, LAST_CALL]),
        (["It was Cnut.", "", "Cnut.", [add("cnut"), SEARCH]], [None, CALL_A_TOOL, CALL_A_TOOL, LAST_CALL]),
        ([[add("cnut")], "It was Cnut.", "Cnut, I said."], [None, None, CALL_A_TOOL]),  # nothing is left to ask
        (
            ["Hm.", [SEARCH], "Hm.", [add("cnut")], "Cnut.", "Cnut."],
            [None, CALL_A_TOOL, None, CALL_A_TOOL, None, CALL_A_TOOL],
        ),
    ],
)
def test_a_model_that_only_talks_is_asked_for_its_answer_once_and_paid_no_more(graph, turns, notices):
    model = Watched(script(*turns))
    trajectory = explore(graph, model)
    assert [step.notice for step in trajectory.steps] == notices
    assert (trajectory.selected, trajectory.stopped_by) == (("cnut",), "steps")
    assert any("called no tool any more" in note for note in trajectory.notes)
    assert_requests(trajectory, model.seen[0])


def test_a_model_that_talks_to_its_end_gives_what_it_found_last_and_says_so(graph):
    trajectory = explore(graph, ScriptedModel(script([("search_in_graph", {"query": "town t20"})], "It is t20.")))
    assert len(trajectory.steps) == 4
    assert trajectory.selected[0] == "t20"
    assert [note[:30] for note in trajectory.notes] == [
        "the model called no tool any m",
        "nothing was added to the answe",
    ]


@pytest.mark.parametrize("calls", [2, 3, 4])
def test_the_question_to_a_model_that_only_talks_keeps_to_the_budget(graph, calls):
    model = Watched(script([SEARCH], "It was Cnut."))
    trajectory = explore(graph, model, run=Allowance(Budget(calls=calls)))
    assert len(model.seen[0]) == len(trajectory.steps) == calls
    assert trajectory.stopped_by == ("steps" if calls == 4 else "calls")


def test_a_faithful_agent_is_asked_as_its_paper_has_it(graph):
    trajectory = explore(graph, ScriptedModel(script([SEARCH], "Hm.")), max_steps=9, takes_last_set=False)
    assert [step.notice for step in trajectory.steps] == [None, None, *[CALL_A_TOOL] * 7]


def test_a_client_that_changes_its_way_of_asking_has_time_to(graph):
    """`OpenAIModel` asks in another way after two replies without a call, where a server passes over tools."""

    class Changing(ScriptedModel):
        def chat(self, messages, **more):
            ways = {0: (), 1: (), 2: ("tools",), 3: ("tools",), 4: ("response_format", "tools")}
            lacks = ways.get(turn_of(messages), ("response_format", "tools"))
            return super().chat(messages, **more).model_copy(update={"lacks": lacks})

    trajectory = explore(graph, Changing(script(*["Hm."] * 5, [add("cnut")], [FINISH])))
    assert (trajectory.selected, trajectory.stopped_by, len(trajectory.steps)) == (("cnut",), "finish", 7)


def test_a_call_in_words_that_cannot_be_read_is_told_to_the_model(graph):
    broken = '<tool_call>{"name": "search_in_graph", "arguments": {"query": "Lu}</tool_call>'
    model = Watched(script(broken, broken, broken, broken, [add("cnut"), FINISH]))
    trajectory = explore(graph, model)
    assert model.seen[0][1][-1].content.startswith("A tool call could not be read: it is no JSON")
    assert (trajectory.selected, trajectory.stopped_by) == (("cnut",), "finish")
    assert [step.unread for step in trajectory.steps] == [1, 1, 1, 1, 0]


def test_a_call_that_is_dressed_otherwise_is_run_with_a_note(graph):
    said = raw(("functions.Search-In-Graph", "{'query': 'town', 'k': '3',}"))
    seen = explore(graph, ScriptedModel(script(said, [FINISH], [FINISH]))).steps[0].observations[0]
    assert seen.error is None
    note = "'functions.Search-In-Graph' was read as search_in_graph; the arguments were read as"
    assert seen.text.startswith(f"note: {note}")


@pytest.mark.parametrize("name", ["unknown tool", "broken json", "missing arguments"])
def test_a_wrong_call_comes_back_as_a_tool_message_that_says_why(graph, name):
    model = Watched(script(SAID[name], [FINISH]))
    trajectory = explore(graph, model)
    reply = model.seen[0][1][-1]
    assert reply.role == "tool"
    assert reply.content == trajectory.steps[0].observations[0].text
    assert trajectory.steps[0].observations[0].error == "BadCall"
    expected = {"unknown tool": "search_in_graph", "broken json": "JSON", "missing arguments": "node is missing"}
    assert expected[name] in reply.content


def test_one_wrong_call_does_not_stop_the_others_of_its_step(graph):
    trajectory = explore(graph, ScriptedModel(script([("look_up", {}), add("cnut")], [FINISH])))
    assert [one.error for one in trajectory.steps[0].observations] == ["BadCall", None]
    assert trajectory.selected == ("cnut",)


def test_our_own_mistakes_are_raised(graph):
    class Broken:
        spec = Toolbox.full(graph).specs[0]

        def __call__(self, arguments):
            raise ZeroDivisionError

    toolbox = Toolbox(Toolbox.full(graph).session, [Broken()])
    with pytest.raises(ZeroDivisionError):
        explore(graph, ScriptedModel(script([SEARCH])), toolbox=toolbox)


# --------------------------------------------------------------------------------------------- a real server


def server_policy(*turns):
    def policy(body, before):
        done = sum(message["role"] == "assistant" for message in body["messages"])
        return turns[min(done, len(turns) - 1)]

    return policy


def over_http(graph, *turns, **config):
    with FakeServer(server_policy(*turns)) as server:
        model = OpenAIModel("fake", OpenAIConfig(base_url=server.url, retries=0))
        trajectory = explore(graph, model, **config)
        model.close()
    return trajectory, [body["messages"] for body in server.bodies]


@pytest.mark.server
def test_a_server_gets_exactly_the_requests_that_the_trajectory_gives_back(graph):
    trajectory, sent = over_http(
        graph,
        Answer(calls=[SEARCH, ("look_up", {})]),
        Answer(content="Hm."),
        Answer(calls=[("read_node", "{")]),
        Answer(calls=[add("cnut")]),
        Answer(calls=[FINISH]),
    )
    given = [sent.body()["messages"] for sent in requests_of(trajectory)]
    assert json.dumps(given) == json.dumps(sent)
    assert trajectory.selected == ("cnut",)


@pytest.mark.server
def test_a_reply_cut_at_the_length_limit_is_recorded_and_not_the_end(graph):
    trajectory, _ = over_http(
        graph,
        Answer(calls=[("search_in_graph", '{"query": "to')], finish_reason="length"),
        Answer(content="I think that", finish_reason="length"),
        Answer(calls=[add("cnut"), FINISH]),
    )
    assert [step.reply.truncated for step in trajectory.steps] == [True, True, False]
    assert (trajectory.selected, trajectory.stopped_by) == (("cnut",), "finish")


@pytest.mark.server
def test_calls_are_told_apart_where_a_server_numbers_them_anew_in_every_reply(graph):
    trajectory, sent = over_http(
        graph, *[Answer(calls=[("search_in_graph", {"query": f"sea {at}", "k": 20})]) for at in range(12)],
        Answer(calls=[add("cnut"), FINISH]), context_tokens=4_000,
    )  # fmt: skip
    observed = [[one["content"] for one in messages if one["role"] == "tool"] for messages in sent]
    assert ELISION in observed[-1]  # else there was nothing to leave out
    assert all(contents[-1] != ELISION for contents in observed[1:])
    given = [sent.body()["messages"] for sent in requests_of(trajectory)]
    assert json.dumps(given) == json.dumps(sent)


@pytest.mark.server
def test_a_server_that_fails_for_good_ends_the_agent_and_keeps_its_steps(graph):
    trajectory, _ = over_http(graph, Answer(calls=[SEARCH, add("cnut")]), Answer(status=400, message="no more"))
    assert (trajectory.stopped_by, len(trajectory.steps), trajectory.selected) == ("error", 2, ("cnut",))
    assert [step.error for step in trajectory.steps] == [None, trajectory.error]
    assert "no more" in trajectory.error


# --------------------------------------------------------------------------------------------- the context


def searches(steps):
    return [[("search_in_graph", {"query": f"sea town {at}", "k": 20})] for at in range(steps)]


def long_search(steps):
    return script(*searches(steps), [add("cnut"), FINISH])


def test_old_observations_are_left_out_oldest_first_and_stay_out(graph):
    model = Watched(long_search(12))
    trajectory = explore(graph, model, context_tokens=4_000)
    assert trajectory.stopped_by == "finish"
    kept = [[one.content != ELISION for one in messages if one.role == "tool"] for messages in model.seen[0]]
    assert not all(kept[-1])
    for one in kept:
        assert one == sorted(one)  # what is left out comes first
    for before, after in itertools.pairwise(kept):
        assert all(not later for earlier, later in zip(before, after, strict=False) if not earlier)


def test_a_request_keeps_to_the_size_of_the_context(graph):
    model = Watched(long_search(12))
    explore(graph, model, context_tokens=4_000)
    for messages in model.seen[0]:
        assert_valid(messages)
        assert sum(len(one.content or "") for one in messages) <= 4_000 * 4


def test_requests_give_back_elision_notices_and_the_last_turn(graph):
    model = Watched(script(*searches(8), "Hm.", [SEARCH], [add("cnut")]))
    trajectory = explore(graph, model, run=Allowance(Budget(calls=11)), context_tokens=4_000)
    assert trajectory.steps[-1].notice == LAST_TURN
    assert CALL_A_TOOL in [step.notice for step in trajectory.steps]
    assert any(step.elided for step in trajectory.steps)
    assert_requests(trajectory, model.seen[0])


def test_requests_are_right_also_where_the_budget_ends_after_prose(graph):
    model = Watched(script([SEARCH], "Hm.", [add("cnut")]))
    trajectory = explore(graph, model, run=Allowance(Budget(calls=3)))
    assert trajectory.selected == ("cnut",)
    assert_requests(trajectory, model.seen[0])


def test_requests_survive_being_written_down(graph):
    model = Watched(long_search(12))
    trajectory = explore(graph, model, context_tokens=4_000)
    assert_requests(Trajectory.model_validate_json(trajectory.model_dump_json()), model.seen[0])


def test_a_context_with_room_is_never_cut(graph):
    trajectory = explore(graph, ScriptedModel(long_search(8)))
    assert not any(step.elided for step in trajectory.steps)


# --------------------------------------------------------------------------------------------- budgets and endings


@pytest.mark.parametrize("calls", [1, 2, 3, 4, 10])
def test_calls_are_never_more_than_the_budget_with_three_agents(graph, calls):
    model = Watched(script([SEARCH]))
    result = ask(graph, model, run=Allowance(Budget(calls=calls), reserve=3))
    assert sum(map(len, model.seen.values())) == calls
    assert (result.stopped_by, result.usage.calls) == ("calls", calls)


def test_each_of_three_agents_has_its_last_turn_inside_the_budget(graph):
    def policy(messages, tools, sampling):
        return [add("cnut")] if messages[-1].content == LAST_TURN else [SEARCH]

    result = ask(graph, Watched(policy), run=Allowance(Budget(calls=10), reserve=3))
    assert [one.steps[-1].notice for one in result.trajectories] == [LAST_TURN] * 3
    assert [(hit.id, hit.votes) for hit in result.hits] == [("cnut", 3)]
    assert {one.stopped_by for one in result.trajectories} == {"calls"}


@pytest.mark.parametrize(
    ("limit", "budget", "usage"),
    [
        ("calls", Budget(calls=4), Usage(calls=1)),
        ("tokens", Budget(tokens=1_000), Usage(calls=1, prompt_tokens=150, completion_tokens=50)),
        ("usd", Budget(usd=0.05), Usage(calls=1, usd=0.01)),
    ],
)
def test_stopped_by_says_what_ran_out(graph, limit, budget, usage):
    trajectory = explore(graph, ScriptedModel(script([SEARCH]), usage=usage), run=Allowance(budget))
    assert trajectory.stopped_by == limit
    assert 1 <= len(trajectory.steps) < 20
    assert trajectory.usage.calls == len(trajectory.steps)


@pytest.mark.parametrize("limit", ["tokens", "usd"])
def test_a_budget_that_cannot_be_kept_is_a_failure_of_the_model(graph, limit):
    silent = ScriptedModel(script([SEARCH]), usage=Usage(calls=1, usd=None))
    trajectory = explore(graph, silent, run=Allowance(Budget(**{limit: 1})))
    assert (trajectory.stopped_by, len(trajectory.steps)) == ("error", 1)
    assert f"the budget of {limit} cannot be kept" in trajectory.error


def test_a_budget_of_seconds_begins_no_call_after_it(graph):
    def policy(messages, tools, sampling):
        time.sleep(0.02)
        return [SEARCH]

    run = Allowance(Budget(seconds=0.15))
    assert explore(graph, ScriptedModel(policy), run=run).stopped_by == "seconds"
    assert run.usage().seconds < 0.4


def test_the_last_turn_is_not_asked_for_where_the_agent_has_finished(graph):
    model = Watched(script([add("cnut")], [FINISH]))
    trajectory = explore(graph, model, run=Allowance(Budget(calls=2), reserve=0))
    assert (trajectory.stopped_by, len(model.seen[0])) == ("finish", 2)


def test_a_last_turn_that_the_model_fails_keeps_everything_before(graph):
    def policy(messages, tools, sampling):
        if messages[-1].content == LAST_TURN:
            raise ModelError("gone")
        return [add("cnut")]

    trajectory = explore(graph, ScriptedModel(policy), run=Allowance(Budget(calls=3)))
    assert (trajectory.selected, trajectory.stopped_by, trajectory.error) == (("cnut",), "calls", "gone")


@pytest.mark.parametrize("said", [[SEARCH], "Hm.", [FINISH], [("look_up", {})]])
def test_the_last_turn_may_say_anything(graph, said):
    turns = script([SEARCH], said)
    trajectory = explore(graph, ScriptedModel(turns), run=Allowance(Budget(calls=2)))
    assert (trajectory.stopped_by, len(trajectory.steps)) == ("calls", 2)


def test_a_budget_that_ends_without_an_answer_takes_the_last_result_best_first_and_says_so(graph):
    turns = script([("search_in_graph", {"query": "town t20"})])
    trajectory = explore(graph, ScriptedModel(turns), run=Allowance(Budget(calls=2)))
    shown = trajectory.steps[-1].observations[0].nodes
    assert shown[0] == "t20"
    assert trajectory.selected == shown
    assert any("@" in note for note in trajectory.notes)


def test_the_last_result_is_not_taken_where_something_was_chosen_or_the_agent_is_faithful(graph):
    assert explore(graph, ScriptedModel(script([add("cnut")], [SEARCH])), max_steps=3).selected == ("cnut",)
    assert explore(graph, ScriptedModel(script([SEARCH])), max_steps=3, takes_last_set=False).selected == ()
    assert explore(graph, ScriptedModel(script([SEARCH], [FINISH], [FINISH]))).selected == ()


def failing(after):
    def policy(messages, tools, sampling):
        if sampling.random_seed in after and turn_of(messages) == after[sampling.random_seed]:
            raise ModelError(f"agent {sampling.random_seed} is gone")
        return [[SEARCH], [add(f"t0{sampling.random_seed}", "cnut")], [FINISH]][turn_of(messages)]

    return policy


def test_a_model_error_keeps_the_steps_and_the_selection(graph):
    trajectory = explore(graph, ScriptedModel(failing({0: 2})))
    assert (len(trajectory.steps), trajectory.selected, trajectory.stopped_by) == (3, ("t00", "cnut"), "error")
    assert trajectory.error == "agent 0 is gone"


def test_an_agent_that_fails_costs_its_own_votes_only(graph):
    result = ask(graph, ScriptedModel(failing({1: 0})))
    assert [(hit.id, hit.votes) for hit in result.hits] == [("cnut", 2), ("t00", 1), ("t02", 1)]
    assert [one.stopped_by for one in result.trajectories] == ["finish", "error", "finish"]
    assert any("1 of 3 agents failed: agent 1 is gone" in note for note in result.notes)


def test_where_all_agents_fail_the_result_says_so(graph):
    result = ask(graph, ScriptedModel(failing({0: 0, 1: 0, 2: 0})))
    assert (result.hits, result.stopped_by) == ((), "error")
    assert any("3 of 3 agents failed" in note for note in result.notes)


@pytest.fixture(params=[True, False], ids=["waits end", "waits are taken up again"])
def _interrupts(request):
    """As Python has it, and as polars does: the system takes a wait up again after a signal."""
    signal.siginterrupt(signal.SIGINT, request.param)
    yield
    signal.siginterrupt(signal.SIGINT, True)


@pytest.mark.usefixtures("_interrupts")
def test_an_interrupt_ends_the_agents_after_the_step_they_are_in(graph):
    calls, numbers = [], itertools.count(1)

    def policy(messages, tools, sampling):
        number = next(numbers)  # two agents never have the same
        calls.append(number)
        if number == 6:
            signal.pthread_kill(threading.main_thread().ident, signal.SIGINT)
        time.sleep(0.1)  # the main thread has time to hear of it on a busy machine
        return [SEARCH]

    with pytest.raises(KeyboardInterrupt):
        ask(graph, ScriptedModel(policy), max_steps=20)
    assert len(calls) <= 12  # of 60


# --------------------------------------------------------------------------------------------- what is told and kept


def test_steps_are_told_as_they_happen_and_in_order(graph):
    told = []
    seen_when_asked = []

    def policy(messages, tools, sampling):
        seen_when_asked.append(len(told))
        return [[SEARCH], "Hm.", [add("cnut")], [FINISH]][turn_of(messages)]

    trajectory = explore(graph, ScriptedModel(policy), run=Allowance(listener=told.append))
    assert tuple(told) == trajectory.steps
    assert seen_when_asked == [0, 1, 2, 3]


def test_a_step_says_whose_it_is_in_whatever_order_agents_end(graph):
    """Threads of a pool are used again: the first two agents wait for the end of the last."""
    ended, told = threading.Event(), []

    def policy(messages, tools, sampling):
        if sampling.random_seed < 2:
            assert ended.wait(5)
        elif turn_of(messages) == 1:
            ended.set()
        return [[add("cnut")], [FINISH]][turn_of(messages)]

    result = ask(graph, ScriptedModel(policy), run=Allowance(listener=told.append))
    assert told[0].agent == 2
    assert [[step.agent for step in one.steps] for one in result.trajectories] == [[0, 0], [1, 1], [2, 2]]


def test_an_agent_that_is_stopped_says_so_and_has_no_last_turn(graph):
    class Stopped(Allowance):
        def check(self):
            if self.usage().calls:
                raise BudgetExhausted("interrupted", "enough")
            super().check()

        def claim_final(self):
            self.check()

    trajectory = explore(graph, ScriptedModel(script([SEARCH], [SEARCH])), run=Stopped())
    assert (trajectory.stopped_by, trajectory.error, len(trajectory.steps)) == ("interrupted", None, 1)


def test_steps_of_three_agents_are_told_each_in_its_order(graph):
    told = []
    result = ask(graph, ScriptedModel(failing({})), run=Allowance(listener=told.append))
    assert all(isinstance(one, Step) for one in told)
    for trajectory in result.trajectories:
        mine = [next(at for at, one in enumerate(told) if one is step) for step in trajectory.steps]
        assert mine == sorted(mine)
    assert len(told) == sum(len(one.steps) for one in result.trajectories)


def test_a_trajectory_says_what_was_asked_of_whom_with_what(graph):
    trajectory = explore(graph, ScriptedModel(script([FINISH], [FINISH]), "m"))
    assert (trajectory.question, trajectory.method, trajectory.model, trajectory.prompt_hash) == (
        QUESTION,
        "test",
        "m",
        "0",
    )
    assert trajectory.sampling == Sampling(temperature=0.5, random_seed=0)
    assert trajectory.opening == OPENING
    assert trajectory.tools == Toolbox.full(graph).specs


EVERY_TOOL = [
    [SEARCH, SEARCH],
    [("search_in_neighborhood", {"node": "Cnut", "query": "sea", "k": 5, "offset": 3})],
    [("follow", {"start": "lund", "steps": [{"edge": "founded"}, {"edge": "visited", "type": "Town"}]})],
    [("intersect", {"nodes": ["lund", "t01"]}), ("paths", {"a": "lund", "b": "t01"})],
    [("read_node", {"node": "Town t03"}), ("schema", {}), ("look_up", {}), ("read_node", {"node": "@99"})],
    "Hm.",
    [FINISH],
    [("add_to_answer", {"nodes": ["@1", "Cnut"], "except": ["t02"]}), ("remove_from_answer", {"nodes": ["t01"]})],
    [FINISH],
]


@pytest.mark.parametrize("options", [{}, {"faithful": True}])
def test_every_recorded_call_gives_the_same_again(graph, options):
    ark = Ark(graph, ScriptedModel(script(*EVERY_TOOL)), ArkConfig(**options))
    for trajectory in ark.retrieve(QUESTION, Allowance()).trajectories:
        toolbox = ark._toolbox()  # a fresh one, of the same kind
        for step in trajectory.steps:
            for call, was in zip(step.reply.message.tool_calls, step.observations, strict=True):
                now = toolbox.observe(call)
                assert (now.text, now.nodes, now.error) == (was.text, was.nodes, was.error)
        assert trajectory.selected == tuple(graph.arrays.ids[row] for row in toolbox.session.answer)


# --------------------------------------------------------------------------------------------- ARK's options


def test_early_stop_ends_the_others_once_a_majority_has_finished_alike(graph):
    is_under_way = threading.Event()

    def policy(messages, tools, sampling):
        if sampling.random_seed < 2:
            assert is_under_way.wait(5)
            return [[add("cnut")], [FINISH]][turn_of(messages)]
        if turn_of(messages) == 2:
            is_under_way.set()
        time.sleep(0.005)
        return [SEARCH]

    result = ask(graph, ScriptedModel(policy), early_stop=True, max_steps=150)
    assert 2 <= len(result.trajectories[2].steps) < 150
    assert [hit.id for hit in result.hits] == ["cnut"]  # an agent that was stopped has chosen nothing
    assert ask(graph, ScriptedModel(policy), max_steps=15).trajectories[2].stopped_by == "steps"


def test_early_stop_counts_agents_that_finished_and_not_those_that_failed(graph):
    def policy(messages, tools, sampling):
        if sampling.random_seed < 2:
            if turn_of(messages):
                raise ModelError("gone")
            return [SEARCH]
        time.sleep(0.01)
        return [SEARCH] if turn_of(messages) < 10 else [add("cnut"), FINISH]

    result = ask(graph, ScriptedModel(policy), early_stop=True)
    assert result.trajectories[2].selected == ("cnut",)


def test_type_and_property_filters_keep_answers(graph):
    policy = script([add("cnut", "t03", "t20")], [FINISH])
    assert [hit.id for hit in ask(graph, ScriptedModel(policy), node_types=("Town",)).hits] == ["t03", "t20"]
    result = ask(graph, ScriptedModel(policy), where=("year >= 10",))
    assert [hit.id for hit in result.hits] == ["t20"]
    assert any("2 chosen nodes" in note for note in result.notes)


def test_filters_come_before_the_cut(graph):
    policy = script([add(*TOWNS, "cnut")], [FINISH])
    assert [hit.id for hit in ask(graph, ScriptedModel(policy), node_types=("Person",), k=5).hits] == ["cnut"]


def test_a_filter_that_cannot_be_is_told_before_the_model_is_asked(graph):
    model = Watched(script([FINISH]))
    with pytest.raises(UnknownType):
        ask(graph, model, node_types=("Zebra",))
    assert not model.seen


def test_fill_takes_plain_hits_up_to_k_after_the_chosen_ones(graph):
    policy = script([add("t05", "cnut")], [FINISH])
    question = Question(text="a town with a university", k=8)
    result = Ark(graph, ScriptedModel(policy), ArkConfig(fill=True)).retrieve(question, Allowance())
    plain = [hit.id for hit in graph.search(question.text, 20)]
    expected = ["t05", "cnut", *(one for one in plain if one not in ("t05", "cnut"))][:8]
    assert [hit.id for hit in result.hits] == expected
    assert [hit.votes for hit in result.hits] == [3, 3] + [0] * 6
    assert any("6 hits filled in" in note for note in result.notes)


def test_fill_keeps_to_the_filters(graph):
    result = ask(graph, ScriptedModel(script([FINISH], [FINISH])), fill=True, node_types=("Person",), k=5)
    assert {hit.type for hit in result.hits} <= {"Person"}


def test_rerank_drops_what_it_invents_and_appends_what_it_forgets(graph):
    policy = script([add("t01", "t02", "t03", "t04")], [FINISH])

    def rerank(question, hits):
        assert [hit.id for hit in hits] == ["t01", "t02", "t03", "t04"]
        return ["t03", "invented", "t01", "t03"]

    result = ask(graph, ScriptedModel(policy), rerank=rerank)
    assert [hit.id for hit in result.hits] == ["t03", "t01", "t02", "t04"]
    assert [hit.score for hit in result.hits] == [4, 3, 2, 1]


def test_a_hit_says_why_in_the_words_of_the_first_agent_that_chose_it(graph):
    def policy(messages, tools, sampling):
        words = f"agent {sampling.random_seed} says so"
        return [[("add_to_answer", {"nodes": ["cnut"], "reasoning": words})], [FINISH]][turn_of(messages)]

    assert ask(graph, ScriptedModel(policy)).hits[0].why == "agent 0 says so"


def test_a_scripted_model_sees_what_a_step_records(graph):
    """The reply in a step is the model's own, so that a trajectory can teach another model."""

    class Model:
        name, price = "m", None

        def chat(self, messages, *, tools=(), schema=None, sampling=None, seconds=None):
            return Reply(message=raw(("finish", '{ "comment":"x" }')), usage=Usage(calls=1, prompt_tokens=3))

    trajectory = explore(graph, Model())
    assert trajectory.steps[0].reply.message.tool_calls[0].arguments == '{ "comment":"x" }'
    assert trajectory.usage.prompt_tokens == 3 * len(trajectory.steps)


# ------------------------------------------------------------------------------------- a message of very many calls


@pytest.mark.slow
def test_a_message_of_very_many_calls_is_cut_and_the_model_is_told(graph):
    many = raw(*[("search_in_graph", f'{{"query": "town {at}"}}') for at in range(5_000)])
    model = Watched(script(many, [add("lund"), FINISH]))
    found = explore(graph, model)
    assert len(found.steps[0].observations) == MOST_CALLS
    assert "the others were left out" in found.steps[1].notice
    assert found.selected == ("lund",)
    assert_requests(found, model.seen[0])


def test_calls_are_not_run_once_the_time_is_over(graph):
    run = Allowance(Budget(seconds=0.2), reserve=0)

    class Slow(Watched):
        def chat(self, messages, **options):
            time.sleep(0.25)  # it answers too late, as a model may that does not look at the clock
            return super().chat(messages, **options)

    found = explore(graph, Slow(script([SEARCH] * 5)), run=run)
    assert [one.error for one in found.steps[0].observations] == ["NotRun"] * 5
    assert found.stopped_by == "seconds"


def test_a_model_that_is_cut_off_leaves_what_was_found(graph):
    class Late(Watched):
        def chat(self, messages, *, seconds=None, **options):
            if turn_of(messages):
                raise ModelLate("too late")
            return super().chat(messages, **options)

    found = explore(graph, Late(script([SEARCH])), run=Allowance(Budget(seconds=100)))
    assert (found.stopped_by, found.error) == ("seconds", None)
    assert found.selected
    never = explore(graph, type("Never", (Watched,), {"chat": never_answers})(script([SEARCH])), run=Allowance())
    assert (never.stopped_by, never.error) == ("error", "too late")


def never_answers(self, messages, **options):
    raise ModelLate("too late")
