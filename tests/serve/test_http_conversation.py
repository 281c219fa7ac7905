"""Questions that follow others, trajectories, and what whoever runs a server chooses: the log, `/metrics`, places."""

import json
import logging

import pytest

pytest.importorskip("fastapi", reason="needs the extra serve")

from hypothesis import HealthCheck, given, settings, strategies as st

from fakes.http_site import serving
from orienteer.errors import BadOption
from orienteer.llm import ScriptedModel
from orienteer.records import Trajectory, Usage
from orienteer.serve import QuestionSlots, ServeOptions, served_budget
from orienteer.settings import Settings

PAST = [{"question": "Who designed Erlang?", "answer": "Joe Armstrong"}]
FOLLOWED = {"question": "And Ruby?", "history": PAST, "method": "bm25", "k": 3}


@pytest.fixture
def conversing(languages):
    """Give a client of a server whose model puts follow-ups in words, and what the model was asked."""
    asked = []

    def say(messages, tools, sampling):
        asked.append(str(messages[-1].content))
        if "Its last question:" in asked[-1]:
            return json.dumps({"question": "Who designed Ruby?"})
        return "Answer: Yukihiro Matsumoto [person:yukihiro-matsumoto]"

    model = ScriptedModel(say, usage=Usage(calls=1, prompt_tokens=10, completion_tokens=2))
    with serving({"languages": languages}, model=model) as client:
        yield client, asked


def test_a_follow_up_is_put_in_words_and_the_reply_tells(conversing):
    client, asked = conversing
    result = client.post("/api/ask", FOLLOWED).json
    assert result["question"] == "Who designed Ruby?"
    assert result["notes"][0] == "asked as: Who designed Ruby?"
    assert result["usage"]["calls"] == 2
    assert "user: Who designed Erlang?\nassistant: Joe Armstrong" in asked[0]
    assert "orienteer_model_calls_total 2.0" in client.get("/metrics").body.decode()


def test_a_follow_up_is_told_in_a_stream_at_its_beginning_and_at_its_end(conversing):
    client, _ = conversing
    events = client.events(FOLLOWED)
    assert [event["event"] for event in events[:2]] == ["begin", "note"]
    assert events[1]["data"]["text"] == "asked as: Who designed Ruby?"
    assert [event["id"] for event in events] == [str(number) for number in range(len(events))]
    done = events[-1]["data"]["result"]
    assert (done["question"], done["notes"][0]) == ("Who designed Ruby?", "asked as: Who designed Ruby?")
    assert done["usage"]["calls"] == 2


def test_putting_a_follow_up_in_words_is_paid_from_its_budget(conversing):
    client, asked = conversing
    one = client.post("/api/ask", {**FOLLOWED, "budget": {"calls": 1}}).json
    assert one["question"] == "And Ruby?"
    assert one["notes"][0].startswith("asked as it stands: its budget has one call")
    assert one["usage"]["calls"] == len(asked) == 1
    two = client.post("/api/ask", {**FOLLOWED, "budget": {"calls": 2}}).json
    assert (two["question"], two["usage"]["calls"]) == ("Who designed Ruby?", 2)


@pytest.mark.parametrize(
    "wrong", [{"node_types": ["langage"]}, {"where": ["colour=red"]}, {"reading": "read as: x"}, {"where": ["?"]}]
)
def test_what_is_refused_costs_nothing(conversing, wrong):
    client, asked = conversing
    assert client.post("/api/ask", {**FOLLOWED, **wrong}).status == 400
    assert asked == []


def test_without_a_model_a_follow_up_is_asked_as_it_stands(client):
    result = client.post("/api/ask", {**FOLLOWED, "graph": "languages"}).json
    assert result["question"] == "And Ruby?"
    assert result["notes"][0] == "asked as it stands: without a model, what was said before is not read"


@pytest.mark.parametrize("path", ["/api/ask", "/api/search"])
def test_top_k_is_k(client, path):
    body = {"graph": "languages", **({"question": "Rust"} if path == "/api/ask" else {"query": "language"})}
    assert len(client.post(path, {**body, "top_k": 2}).json["hits"]) == 2
    assert len(client.post(path, {**body, "k": 2, "top_k": 2}).json["hits"]) == 2


# ------------------------------------------------------------------------------------------------------- trajectories


def test_trajectories_come_where_they_are_asked_for(client):
    ask = {"graph": "languages", "question": "Who designed Python?", "method": "anchor"}
    assert "trajectories" not in client.post("/api/ask", ask).json
    whole = client.post("/api/ask", {**ask, "trajectories": True}).json
    done = client.events({**ask, "trajectories": True})[-1]["data"]["result"]
    assert "hits" not in done
    for told in (whole, done):
        (trajectory,) = (Trajectory.model_validate(told) for told in told["trajectories"])
        assert trajectory.steps
        assert trajectory.question.text == ask["question"]


@settings(deadline=None, max_examples=12, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    method=st.sampled_from(["auto", "anchor", "bm25", "ark"]),
    question=st.sampled_from(["Who designed Ruby?", "Rust", "what is there?", "\x00 ?"]),
    is_stream=st.booleans(),
)
def test_no_path_of_the_machine_is_in_a_trajectory(leaky, method, question, is_stream):
    client, path = leaky
    body = {"question": question, "method": method, "trajectories": True, "k": 3}
    accept = "text/event-stream" if is_stream else "application/json"
    reply = client.post("/api/ask", body, accept=accept).body.decode()
    assert str(path.parent) not in reply
    assert str(path) not in reply


@pytest.fixture(scope="module")
def leaky(languages):
    """Give a client of a server whose model fails with a sentence about a file, and where its graph lies."""
    from orienteer.errors import ModelError

    def say(messages, tools, sampling):
        turns = sum(message.role == "assistant" for message in messages)
        if tools and turns < 2:
            return [("search_in_graph", {"query": "Ruby"})]
        raise ModelError(f"the model in {languages.path}/model.gguf ended", paths=[languages.path / "model.gguf"])

    with serving({"languages": languages}, model=ScriptedModel(say)) as client:
        yield client, languages.path


# ------------------------------------------------------------------------------------------------ what a server has


def test_the_log_has_questions_where_it_was_asked_for(languages, caplog):
    caplog.set_level(logging.INFO, logger="orienteer.serve")
    hostile = 'who "is"\nGET /admin 200 \x1b[2J\u202eit?'
    chat = {"model": "orienteer/languages", "messages": [{"role": "user", "content": "Who designed Go?"}]}

    def logged(**options):
        caplog.clear()
        with serving({"languages": languages}, **options) as client:
            client.post("/api/ask", {"question": hostile, "method": "bm25"})
            client.post("/api/search", {"query": "borrow checker"})
            client.post("/v1/chat/completions", chat)
            client.get("/health")
        return [record.getMessage() for record in caplog.records if record.name.endswith("guard")]

    quiet = "\n".join(logged())
    assert not any(words in quiet for words in ("who", "borrow", "Go?"))
    ask, search, said, health = logged(logs_questions=True)
    assert ask.endswith(r' "who \"is\" GET /admin 200  [2Jit?"')
    assert search.endswith(' "borrow checker"')
    assert said.endswith(' "Who designed Go?"')
    assert health.split()[-1].isalnum()


def test_a_server_without_metrics_has_none(languages):
    with serving({"languages": languages}, has_metrics=False) as client:
        assert client.get("/metrics").status == 404
        assert "/metrics" not in client.get("/openapi.json").json["paths"]
        assert client.post("/api/search", {"query": "Rust"}).status == 200


def test_places_have_a_thread_each(languages):
    with serving({"languages": languages}, slots=QuestionSlots(7, 0)) as client:
        assert client.site.question_pool._max_workers == 7


def test_the_settings_of_a_server_have_bounds():
    chosen = ServeOptions.read(
        {"running": "2", "waiting": 0, "budget": {"calls": 3}, "metrics": "false", "log_questions": True},
        where="[serve] ",
    )
    assert (chosen.running, chosen.waiting, chosen.metrics, chosen.log_questions) == (2, 0, False, True)
    for name, value in (("running", 0), ("running", 65), ("waiting", -1), ("waiting", 1_001), ("budget", {"calls": 0})):
        with pytest.raises(BadOption, match=name if name != "budget" else "calls"):
            ServeOptions.read({name: value}, where="[serve] ")


def test_a_servers_own_budget_wins_over_that_of_the_settings_and_flags_over_both():
    allowed, own = Settings(budget={"calls": 5, "tokens": 9}), ServeOptions.read({"budget": {"calls": 90}}).budget
    limits = served_budget(allowed, own)
    assert (limits.calls, limits.seconds, limits.tokens) == (90, 45.0, 9)
    assert served_budget(allowed, own, calls=2).calls == 2
