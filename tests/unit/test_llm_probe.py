"""What a server really does is asked once, kept, and heeded by the agents' loop: servers of eight faulty kinds."""

import json

import pytest

from fakes import Answer, FakeServer
from fakes.servers import FAULTY, SOUND, Kind
from orienteer.agents import DIALECTS, dialect_for, room_for
from orienteer.errors import ModelError, ModelRefused
from orienteer.graph import Graph
from orienteer.lab.replay import requests as requests_of
from orienteer.llm import (
    Abilities,
    OpenAIConfig,
    OpenAIModel,
    Probe,
    ScriptedModel,
    keep_abilities,
    recall_abilities,
    schema_faults,
)
from orienteer.protocols import manner_of
from orienteer.records import Edge, Message, Node, ToolSpec
from orienteer.retriever import Retriever
from orienteer.settings import Settings

KINDS = [pytest.param(kind, id=kind.name) for kind in (SOUND, *FAULTY)]
ALL_KEPT = {
    **dict.fromkeys(("tools", "required_tools", "parallel_calls", "json_schema", "grammar", "length_limit"), "kept"),
    **dict.fromkeys(("logprobs", "token_ids", "usage", "seed"), "kept"),
    **{"context_tokens": None, "lacks": ()},
}
COURSE = (
    [("search_in_graph", {"query": "town"})],
    [("add_to_answer", {"nodes": ["lund"]})],
    [("finish", {"comment": "It is a town."})],
)


@pytest.fixture(scope="module")
def graph(tmp_path_factory):
    nodes = [Node("lund", "Town", "Lund", "a town with a university"), Node("cnut", "Person", "Cnut", "a king")]
    path = tmp_path_factory.mktemp("probed") / "graph"
    return Graph.from_records(nodes, [Edge("cnut", "founded", "lund")], path=path)


@pytest.fixture
def opened():
    """Give a function that starts a server and returns it; all are closed at the end."""
    servers = []

    def start(server):
        servers.append(server)
        return server.__enter__()

    yield start
    for server in servers:
        server.__exit__()


def model_at(server, *, abilities=None, **config):
    return OpenAIModel("fake", OpenAIConfig(base_url=server.url, retries=0, **config), abilities=abilities)


def probed(server):
    model = model_at(server)
    try:
        return Probe(model).abilities()
    finally:
        model.close()


# ------------------------------------------------------------------------------------------------- what is found out


def test_there_are_eight_kinds_each_with_another_fault():
    assert len({kind.name for kind in FAULTY}) == len({json.dumps(kind.finds) for kind in FAULTY}) == 8


@pytest.mark.server
@pytest.mark.parametrize("kind", KINDS)
def test_each_kind_is_known(opened, kind):
    server = opened(kind.serve())
    found = probed(server)
    assert {name: getattr(found, name) for name in ALL_KEPT} == ALL_KEPT | kind.finds
    assert found.dialect == kind.dialect
    assert (found.url, found.model) == (server.url, "fake")


@pytest.mark.server
@pytest.mark.parametrize("kind", KINDS)
def test_asking_is_seven_short_requests_that_are_paid_for_openly(opened, kind):
    server = opened(kind.serve())
    found = probed(server)
    left = sum(outcome == "refused" for outcome in (found.tools, found.required_tools, found.grammar))
    assert found.spent.calls == 7 - left
    assert len(server.requests) == 7 + len(found.lacks)
    assert all(body.get("max_tokens", body.get("max_completion_tokens", 0)) in range(1, 401) for body in server.bodies)


@pytest.mark.server
def test_a_limit_that_cuts_a_call_says_nothing_of_tools(opened):
    """A model that thinks first may come to its limit before it calls anything."""

    def policy(body, before):
        return Answer(content="<think> Well,", finish_reason="length")

    found = probed(opened(FakeServer(policy)))
    assert (found.tools, found.json_schema, found.dialect) == ("unknown", "unknown", None)


@pytest.mark.server
def test_replies_that_are_all_equal_say_nothing_of_seeds(opened):
    found = probed(opened(FakeServer(lambda body, before: Answer(content="1 2 3"))))
    assert found.seed == "unknown"


@pytest.mark.server
@pytest.mark.parametrize(
    ("pages", "context"),
    [
        (
            {"/v1/models": {"data": [{"id": "x", "context_window": 9}, {"id": "fake", "context_window": 131072}]}},
            131072,
        ),
        ({"/api/v0/models": {"data": [{"id": "fake", "loaded_context_length": 4096, "max_context_length": 9}]}}, 4096),
        ({"/v1/models": {"data": [{"id": "a", "n_ctx": 1}, {"id": "b", "n_ctx": 2}]}}, None),
        ({"/v1/models": [1, None], "/props": {"default_generation_settings": {"n_ctx": 1e300}}}, None),
        ({"/v1/models": {"data": {"n_ctx": True}}, "/api/ps": "gone"}, None),
    ],
)
def test_a_context_is_taken_from_where_a_server_tells_it(opened, pages, context):
    assert probed(opened(Kind(name="tells its context", pages=pages).serve())).context_tokens == context


@pytest.mark.server
@pytest.mark.parametrize(
    ("policy", "error", "words"),
    [
        (lambda body, before: Answer(status=401), ModelRefused, "does not accept the API key"),
        (lambda body, before: Answer(status=404, message="no such model"), ModelRefused, "has no model 'fake'"),
        (lambda body, before: Answer(dropped="before"), ModelError, "cut the connection"),
        (lambda body, before: Answer(body="<html>"), ModelError, "not a chat completion"),
        (
            lambda body, before: Answer(status=503) if "tools" in body else Answer(content="1"),
            ModelError,
            "failed with 503",
        ),
    ],
)
def test_a_server_that_fails_is_told_in_a_sentence(opened, policy, error, words):
    with pytest.raises(error, match=words) as caught:
        probed(opened(FakeServer(policy)))
    assert "\n" not in str(caught.value)


# ------------------------------------------------------------------------------------------------------ what is kept


def abilities(**found):
    return Abilities(url="http://localhost:1/v1", model="m", probed="2026-11-20T10:00:00+00:00", **found)


def test_what_was_found_out_is_kept_by_server_and_model(tmp_path):
    found = abilities(tools="ignored", json_schema="kept", context_tokens=4096)
    keep_abilities(found, tmp_path)
    assert recall_abilities(tmp_path, found.url, found.model) == found
    assert recall_abilities(tmp_path, found.url, "other") is None
    assert recall_abilities(tmp_path, "http://localhost:2/v1", found.model) is None
    keep_abilities(abilities(tools="kept"), tmp_path)  # the server was mended
    assert recall_abilities(tmp_path, found.url, found.model).tools == "kept"


@pytest.mark.parametrize(
    "text", ["", "{", "[]", '{"version": 2}', '{"url": "http://localhost:1/v1", "model": "m", "probed": "soon"}']
)
def test_a_file_that_is_none_of_ours_is_passed_over(tmp_path, text):
    keep_abilities(abilities(), tmp_path).write_text(text)
    assert recall_abilities(tmp_path, "http://localhost:1/v1", "m") is None


def test_what_was_not_found_out_changes_nothing():
    found = abilities()
    assert (found.dialect, found.unheeded, found.manner.context_tokens) == (None, frozenset(), None)


def test_a_mode_that_is_set_goes_before_what_was_found():
    found = abilities(tools="ignored", json_schema="kept", context_tokens=2048)
    known = OpenAIModel("m", OpenAIConfig(base_url=found.url), abilities=found)
    fixed = OpenAIModel("m", OpenAIConfig(base_url=found.url, mode="tools"), abilities=found)
    assert (dialect_for(known), dialect_for(fixed)) == ("schema", "native")
    assert known.manner.context_tokens == fixed.manner.context_tokens == 2048


# ----------------------------------------------------------------------------------------------- what the loop does


def ask(graph, model):
    """Ask by one agent, keeping to a small course; the answer in words is left out."""
    return Retriever(graph, "ark", model=model, agents=1, max_steps=8).search("Which town has a university?")


@pytest.mark.server
@pytest.mark.parametrize("kind", KINDS)
def test_the_loop_adapts_and_says_so(opened, graph, kind):
    server = opened(kind.serve(COURSE))
    found = probed(server)
    asked = len(server.requests)
    model = model_at(server, abilities=found)
    result = ask(graph, model)
    (trajectory,) = result.trajectories
    assert [hit.id for hit in result.hits] == ["lund"]
    assert len(trajectory.steps) == len(server.bodies) - asked == 3  # not one turn is lost on what is not heeded
    assert trajectory.dialect == (kind.dialect or "native")
    assert any(found.adaptation in note for note in result.notes) == (kind.dialect is not None)
    assert not any(name in body for body in server.bodies[asked:] for name in found.unheeded)
    model.close()


@pytest.mark.server
@pytest.mark.parametrize("kind", KINDS)
def test_adapted_requests_are_given_back_byte_for_byte(opened, graph, kind):
    server = opened(kind.serve(COURSE))
    found = probed(server)
    asked = len(server.requests)
    model = model_at(server, abilities=found)
    (trajectory,) = ask(graph, model).trajectories
    given = [json.dumps(request.body()) for request in requests_of(trajectory)]
    assert given == [json.dumps(body) for body in server.bodies[asked:]]
    model.close()


@pytest.mark.server
def test_calls_are_held_to_a_schema_where_tools_are_passed_over(opened, graph):
    server = opened(FAULTY[0].serve(COURSE))
    model = model_at(server, abilities=abilities(tools="ignored", json_schema="kept"))
    (trajectory,) = ask(graph, model).trajectories
    for body in server.bodies:
        schema = body["response_format"]["json_schema"]["schema"]
        assert not schema_faults({"name": "finish", "arguments": {"comment": "done"}}, schema)
        assert schema_faults({"name": "look_up", "arguments": {}}, schema)
        assert schema_faults({"words": "I am done."}, schema)  # `finish` is there to be called
        assert all(tool.name in body["messages"][0]["content"] for tool in trajectory.tools)
    model.close()


@pytest.mark.server
@pytest.mark.parametrize("refuses", [{}, {"grammar": "failed to parse grammar"}])
def test_only_a_server_that_keeps_a_grammar_is_sent_one(opened, graph, refuses):
    def policy(body, before):
        return Answer(content='{"line": "Town", "unread": []}')

    def asked(server, **found):
        model = model_at(server, abilities=abilities(json_schema="kept", **found))
        result = Retriever(graph, "reader", model=model, settings=Settings()).search("Whatever place with professors?")
        model.close()
        given = [json.dumps(request.body()) for request in requests_of(result.trajectories[0])]
        assert given == [json.dumps(body) for body in server.bodies]
        return model.manner.keeps_grammar

    assert not asked(plain := opened(FakeServer(policy)))
    assert ["grammar" in body for body in plain.bodies] == [False]
    keeps = asked(held := opened(FakeServer(policy, refuses=refuses)), grammar="kept")
    assert held.bodies[0]["grammar"].startswith("root ::= ")
    assert "response_format" not in held.bodies[0]
    assert (len(held.bodies), keeps) == ((2, False) if refuses else (1, True))
    assert ("grammar" in held.bodies[-1], "response_format" in held.bodies[-1]) == (keeps, not keeps)


@pytest.mark.server
def test_a_server_that_was_never_asked_costs_turns(opened, graph):
    """Why to ask: without it two turns of prose go by before calls are asked for in another way."""
    server = opened(FAULTY[0].serve(COURSE))
    model = model_at(server)
    (trajectory,) = ask(graph, model).trajectories
    assert len(trajectory.steps) > 3
    assert [("tools" in body) for body in server.bodies[:3]] == [True, True, False]
    model.close()


# -------------------------------------------------------------------------------------------- the dialect of schemas


def test_words_stand_in_place_of_a_call_where_no_tool_ends_the_course():
    look = ToolSpec(name="look", description="Look.", parameters={"type": "object", "properties": {}})
    schema = DIALECTS["schema"]
    sent = schema.written([Message(role="user", content="Where?")], [look], [look])
    assert not schema_faults({"words": r"\answer{Lund}"}, sent.schema)
    read = schema.read(Message(role="assistant", content='{"words": "\\\\answer{Lund}"}'), turn=0)
    assert (read.message.content, read.message.tool_calls) == (r"\answer{Lund}", ())
    call = schema.read(Message(role="assistant", content='{"name": "look", "arguments": {}}'), turn=0)
    assert [one.name for one in call.message.tool_calls] == ["look"]
    assert schema.written([Message(role="user", content="Where?")], [look], []).schema is None


def test_requests_leave_room_for_tools_and_reply_in_a_small_context():
    tools = [ToolSpec(name="look", description="x" * 4_000, parameters={"type": "object", "properties": {}})]

    class Small(ScriptedModel):
        manner = abilities(context_tokens=8_192).manner

    small, unknown = Small(lambda *_: "hm"), ScriptedModel(lambda *_: "hm")
    assert manner_of(unknown).context_tokens is None
    assert room_for(unknown, tools, 24_000) == 24_000
    room = room_for(small, tools, 24_000)
    assert room * 4 / 2.75 + 1_000 + 1_024 <= 8_192  # even where each token has 2.75 characters, as ids have
    assert room_for(small, tools, 100) == 100
    assert room_for(small, (), None) > room
