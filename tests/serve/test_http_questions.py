"""Questions over HTTP: whole and as events, in their places, within a budget, and ended by who leaves."""

import asyncio
import http.client
import json
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress

import pytest

pytest.importorskip("fastapi", reason="needs the extra serve")

from fakes.http_site import events_of, serving, until
from fakes.inside import inside
from orienteer.errors import BadOption, ModelError, Refused
from orienteer.lab.evaluation import read_jsonl_questions
from orienteer.llm import Budget, ScriptedModel
from orienteer.records import Usage
from orienteer.serve import (
    Answering,
    AskBody,
    FeedbackFile,
    HttpSite,
    QuestionSlots,
    RunningQuestion,
    question_routes,
    smaller_budget,
)
from orienteer.settings import Settings

ASK = {"question": "Who designed Python?", "graph": "languages", "k": 3}


class HeldModel:
    """A model whose calls wait until they are let go; each of its agents searches for ever."""

    def __init__(self):
        self.go_on = threading.Event()
        self.calls = 0
        self._counting = threading.Lock()
        self.model = ScriptedModel(self._say, usage=Usage(calls=1, prompt_tokens=10, completion_tokens=2))

    def _say(self, messages, tools, sampling):
        with self._counting:
            self.calls += 1
        self.go_on.wait(20)
        if tools:
            return [("search_in_graph", {"query": f"python {len(messages)}"})]
        return "Guido van Rossum [person:guido-van-rossum]"


def quick(messages, tools, sampling):
    if not tools:
        return "He did [person:guido-van-rossum]. Answer: Guido van Rossum"
    turns = sum(message.role == "assistant" for message in messages)
    said = [
        [("search_in_graph", {"query": "Python"})],
        [("add_to_answer", {"nodes": ["person:guido-van-rossum"], "reasoning": "its designer"})],
        [("finish", {})],
    ]
    return said[min(turns, 2)]


# --------------------------------------------------------------------------------------------------------- the events


def test_events_come_in_order_and_say_each_thing_once(client):
    events = client.events(ASK)
    kinds = [event["event"] for event in events]
    assert kinds[0] == "begin"
    assert kinds[-1] == "done"
    assert set(kinds) <= {"begin", "step", "observation", "note", "hit", "answer", "done"}
    assert [event["id"] for event in events] == [str(number) for number in range(len(events))]
    assert all(event["data"]["kind"] == event["event"] for event in events)
    assert events[0]["data"]["graph"] == "languages"
    assert events[0]["data"]["method"] == "anchor"
    hits = [event["data"]["hit"]["id"] for event in events if event["event"] == "hit"]
    whole = client.post("/api/ask", ASK).json
    assert hits == [hit["id"] for hit in whole["hits"]]
    assert [event["data"]["answer"] for event in events if event["event"] == "answer"] == ["Guido van Rossum"]
    done = events[-1]["data"]["result"]
    assert "hits" not in done
    assert "trajectories" not in done
    for field in ("question", "method", "answer", "reading", "notes", "citations"):
        assert done[field] == whole[field]
    assert all("observations" not in event["data"]["step"] for event in events if event["event"] == "step")


def test_a_whole_answer_is_what_the_command_prints(client, languages, capsys):
    from orienteer.serve import main

    assert main(["ask", str(languages.path), ASK["question"], "-k", "3", "--json", "-q"]) == 0
    printed, shown = json.loads(capsys.readouterr().out), client.post("/api/ask", ASK).json
    printed["usage"]["seconds"] = shown["usage"]["seconds"] = 0
    assert shown == printed


def test_options_of_a_question_are_those_of_the_command(client):
    typed = client.post("/api/ask", {**ASK, "node_types": ["organization"], "no_answer": True}).json
    assert {hit["type"] for hit in typed["hits"]} <= {"organization"}
    assert typed["answer"] is None
    read = client.post("/api/ask", {**ASK, "reading": 'person that <-designed_by- "Ruby"'}).json
    assert read["answer"] == "Yukihiro Matsumoto"
    assert client.post("/api/ask", {**ASK, "method": "bm25", "k": 2}).json["method"] == "bm25"


def test_what_is_refused_is_refused_before_the_stream_begins(client):
    for body, status in (({**ASK, "node_types": ["persn"]}, 400), ({**ASK, "graph": "no"}, 404)):
        refused = client.post("/api/ask", body, accept="text/event-stream")
        assert refused.status == status
        assert refused.error


def test_with_a_model_the_steps_and_the_answer_are_told(languages):
    model = ScriptedModel(quick, usage=Usage(calls=1, prompt_tokens=10, completion_tokens=2))
    with serving({"languages": languages}, model=model) as client:
        events = client.events({**ASK, "method": "ark"})
        kinds = [event["event"] for event in events]
        assert kinds.count("step") >= 4
        assert (kinds[-1], kinds[-2]) == ("done", "answer")
        done = events[-1]["data"]["result"]
        assert done["answer"] == "Guido van Rossum"
        assert done["citations"][0]["ids"] == ["person:guido-van-rossum"]
        counted = client.get("/metrics").body.decode()
        assert f"orienteer_model_calls_total {float(done['usage']['calls'])}" in counted
        assert f'orienteer_model_tokens_total{{kind="prompt"}} {float(done["usage"]["prompt_tokens"])}' in counted


def test_a_model_that_fails_is_told_as_a_status_or_as_the_last_event(languages):
    def fail(messages, tools, sampling):
        raise ModelError("the model at http://localhost:9 did not answer")

    with serving({"languages": languages}, model=ScriptedModel(fail)) as client:
        refused = client.post("/api/ask", {**ASK, "method": "ark"})
        assert refused.status == 502
        assert "did not answer" in refused.error["message"]
        last = client.events({**ASK, "method": "ark"})[-1]
        assert last["event"] == "error"
        assert last["data"]["error"]["status"] == 502
        assert list(last["data"]["error"]) == ["message", "status", "value"]


def test_a_comment_is_sent_where_nothing_is_said(languages, monkeypatch):
    monkeypatch.setattr(inside(question_routes), "PING_SECONDS", 0.05)
    held = HeldModel()
    with (
        serving({"languages": languages}, model=held.model) as client,
        client.stream("/api/ask", {**ASK, "method": "ark"}) as lines,
    ):
        assert next(line for line in lines if line.startswith(b":")) == b": still here\n"
        held.go_on.set()


# -------------------------------------------------------------------------------------------------------- the budget


def test_a_budget_holds_within_the_servers():
    most = Budget(calls=30, seconds=45.0)
    assert smaller_budget(most, Budget()) == most
    assert smaller_budget(most, Budget(calls=5, tokens=100)) == Budget(calls=5, seconds=45.0, tokens=100)
    assert smaller_budget(most, Budget(calls=500, seconds=500.0)) == most


def test_a_question_spends_no_more_than_the_server_allows(languages):
    held = HeldModel()
    held.go_on.set()
    with serving({"languages": languages}, model=held.model, budget=Budget(calls=6, seconds=45.0)) as client:
        result = client.post("/api/ask", {**ASK, "method": "ark", "budget": {"calls": 1000}}).json
        assert held.calls <= 6
        assert result["error"]["status"] == 503 if "error" in result else result["usage"]["calls"] <= 6
        before = held.calls
        client.post("/api/ask", {**ASK, "method": "ark", "budget": {"calls": 2}})
        assert held.calls - before <= 2


# --------------------------------------------------------------------------------------------------------- who leaves


@pytest.mark.parametrize("accept", ["text/event-stream", "application/json"])
def test_who_leaves_stops_the_question_and_frees_its_place(languages, accept):
    held = HeldModel()
    with serving({"languages": languages}, model=held.model, slots=QuestionSlots(1, 0)) as client:
        connection = http.client.HTTPConnection("127.0.0.1", client.port, timeout=20)
        body = json.dumps({**ASK, "method": "ark"})
        connection.request("POST", "/api/ask", body, {"content-type": "application/json", "accept": accept})
        until(lambda: held.calls >= 1)
        connection.sock.close()
        connection.close()
        time.sleep(0.3)  # that the server hears of it
        calls = held.calls
        held.go_on.set()
        until(lambda: client.site.slots.running == 0)
        time.sleep(0.3)
        assert held.calls == calls
        assert f"orienteer_model_calls_total {float(calls)}" in client.get("/metrics").body.decode()
        assert client.post("/api/ask", ASK).status == 200


def test_who_leaves_in_line_is_forgotten(languages):
    held = HeldModel()
    with serving({"languages": languages}, model=held.model, slots=QuestionSlots(1, 1)) as client:
        with ThreadPoolExecutor() as pool:
            first = pool.submit(client.post, "/api/ask", {**ASK, "method": "ark", "budget": {"calls": 3}})
            until(lambda: held.calls >= 1)
            with pytest.raises(TimeoutError):
                client.post("/api/ask", ASK, timeout=0.5)
            until(lambda: client.site.slots.waiting == 0)
            held.go_on.set()
            assert first.result().status in (200, 503)
        assert client.site.slots.running == 0
        assert client.post("/api/ask", ASK).status == 200


# ---------------------------------------------------------------------------------------------------------- the crowd


def test_of_thirty_at_once_twelve_are_answered_and_the_others_told_when_to_come(languages):
    held = HeldModel()
    with serving({"languages": languages}, model=held.model) as client:
        with ThreadPoolExecutor(30) as pool:
            asked = [
                pool.submit(client.post, "/api/ask", {**ASK, "method": "ark", "budget": {"calls": 3}})
                for _ in range(30)
            ]
            until(lambda: sum(future.done() for future in asked) == 18)
            assert (client.site.slots.running, client.site.slots.waiting) == (4, 8)
            assert client.post("/api/search", {"query": "Rust"}).status == 200  # look-ups have no slots
            held.go_on.set()
            replies = [future.result() for future in asked]
        refused = [reply for reply in replies if "retry-after" in reply.headers and "wait" in reply.error["message"]]
        assert len(refused) == 18
        assert all(int(reply.headers["retry-after"]) >= 1 and reply.status == 503 for reply in refused)
        assert client.site.slots.turned_away == 18
        assert client.site.slots.running == 0


def test_who_waits_too_long_is_turned_away(monkeypatch):
    import asyncio

    monkeypatch.setattr(inside(QuestionSlots), "PATIENCE", 0.01)

    async def crowd():
        slots = QuestionSlots(1, 5)
        slot = await slots.take()
        with pytest.raises(Refused) as refused:
            await slots.take()
        assert refused.value.status == 503
        assert slots.waiting == 0
        slot.free()
        slot.free()
        (await slots.take()).free()
        assert slots.running == 0

    asyncio.run(crowd())


# ------------------------------------------------------------------------------------------------ feedback and Cypher


def test_thumbs_become_questions_that_eval_reads(languages, tmp_path):
    file = tmp_path / "thumbs.jsonl"
    with serving({"languages": languages}, feedback=FeedbackFile(file)) as client:
        good = {"question": "Who designed\nPython?", "nodes": ["Guido van Rossum"], "is_good": True}
        assert client.post("/api/feedback", good).json == {"kept": True}
        assert client.post("/api/feedback", {**good, "nodes": ["Ruby"], "is_good": False}).status == 200
        assert client.post("/api/feedback", {**good, "nodes": ["nobody at all"]}).status == 404
        assert client.get("/api/graphs").json["has_feedback"]
    questions = read_jsonl_questions(file, split=None, graph=languages).examples
    assert [dict(example.gold.nodes) for example in questions] == [{"person:guido-van-rossum": 1.0}, {}]
    assert questions[1].fields["rejected"] == ["language:ruby"]
    assert file.stat().st_mode & 0o777 == 0o600


def test_cypher_answers_where_it_was_asked_for_and_only_reads(small):
    with serving({"small": small}, has_cypher=True) as client:
        body = {"query": "MATCH (f:film) WHERE f.year > $year RETURN f.name", "parameters": {"year": 2000}}
        assert client.post("/api/cypher", body).json["rows"] == [["Salt"]]
        refused = client.post("/api/cypher", {"query": "MATCH (n) DELETE n"})
        assert refused.status == 400
        assert client.post("/api/cypher", {"query": "MATCH (n) RETURN n", "seconds": 1e9}).status == 422


def test_what_takes_long_keeps_its_place_until_it_has_ended():
    site = HttpSite(Answering(Settings(), Budget()), slots=QuestionSlots(1, 0))
    ends = threading.Event()

    def long():
        assert ends.wait(20)
        raise BadOption("nobody hears of it")

    async def leave():
        waiting = asyncio.create_task(site.in_a_slot(long))
        await asyncio.sleep(0.05)
        waiting.cancel()
        await asyncio.gather(waiting, return_exceptions=True)
        assert site.slots.running == 1
        with pytest.raises(Refused, match="1 questions run and 0 wait"):
            await site.in_a_slot(str)
        ends.set()
        while site.slots.running:
            await asyncio.sleep(0.01)
        return await site.in_a_slot(lambda: "done")

    assert asyncio.run(leave()) == "done"


def test_events_are_read_as_they_are_written():
    lines = iter([b": still here\n", b"\n", b"id: 1\n", b"event: hit\n", b'data: {"a": 1}\n', b"\n"])
    assert list(events_of(lines)) == [{"id": "1", "event": "hit", "data": {"a": 1}}]


def test_a_question_that_is_given_up_while_it_begins_is_stopped(languages, searcher):
    model = searcher(turns=400, seconds=0.02)

    async def ask(site):
        question = RunningQuestion(site, await site.slots.take())
        starting = asyncio.create_task(question.start(site.graphs.named(None).current(), AskBody(question="Rust?")))
        await asyncio.sleep(0)
        starting.cancel()
        with suppress(asyncio.CancelledError):
            await starting
        question.close()
        while site.slots.running:
            await asyncio.sleep(0.01)
        calls = model.calls
        await asyncio.sleep(0.2)
        return calls

    with serving({"languages": languages}, model=model.model) as client:
        site = HttpSite(answering=client.site.answering, graphs=client.site.graphs)
        assert asyncio.run(asyncio.wait_for(ask(site), 30)) == model.calls
