"""Replies that are heard while they are written: over a real connection, and as bytes that no server should send."""

import json
import threading

import pytest
from hypothesis import given, strategies as st

from fakes import Answer, FakeServer
from orienteer.errors import ModelError
from orienteer.lab.replay import requests as requests_of
from orienteer.llm import OpenAIConfig, OpenAIModel, PartReader, ScriptedModel, completion_in, is_stream
from orienteer.protocols import Streaming
from orienteer.records import Message, Trajectory
from orienteer.retriever import Retriever
from orienteer.settings import Settings

pytestmark = pytest.mark.server

WORDS = ("The ferry ", "sails at ", "night [f1].", "\nAnswer: Night ", "Ferry")
ASKED = (Message(role="user", content="Which film?"),)


def model_at(server, **config):
    return OpenAIModel("fake", OpenAIConfig(base_url=server.url, api_key="none", retries=0, **config))


def streaming(body, before):
    return Answer(content="".join(WORDS), parts=WORDS)


# ------------------------------------------------------------------------------------------------------------ a model


def test_words_are_heard_while_the_server_writes_and_the_reply_is_whole():
    gate, heard = threading.Event(), []

    def hear(words):
        heard.append(words)
        gate.set()  # the server goes on only once its first words were heard

    with FakeServer(lambda body, before: Answer(content="", parts=WORDS, held=gate)) as server:
        model = model_at(server)
        reply = model.chat_stream(ASKED, hear=hear)
        whole = model.chat(ASKED)
    assert tuple(heard) == WORDS
    assert reply.message.content == "".join(WORDS)
    assert (reply.streamed, reply.usage.prompt_tokens, reply.usage.completion_tokens) == (True, 100, 10)
    assert (reply.model, reply.raw.finish_reason) == ("fake", "stop")
    assert server.bodies[0] == {**server.bodies[1], "stream": True, "stream_options": {"include_usage": True}}
    assert not whole.streamed


def test_a_server_that_does_not_stream_answers_in_one_piece():
    heard = []
    with FakeServer(lambda body, before: Answer(content="at once")) as server:
        reply = model_at(server).chat_stream(ASKED, hear=heard.append)
    assert (reply.message.content, heard) == ("at once", [])


def test_a_server_that_refuses_streams_is_asked_without_and_not_again():
    heard = []
    with FakeServer(streaming, refuses={"stream_options": "stream_options is not supported"}) as server:
        model = model_at(server)
        replies = [model.chat_stream(ASKED, hear=heard.append) for _ in range(2)]
    assert ["stream" in body for body in server.bodies] == [True, False, False]
    assert [(reply.lacks, reply.refused) for reply in replies] == [(("stream",), ((),)), (("stream",), ())]
    assert heard == []


def test_an_upstream_error_is_no_refusal_to_stream():
    unhappy = Answer(status=422, message="the upstream is unhappy")
    with FakeServer(lambda body, before: unhappy) as server, pytest.raises(ModelError, match="unhappy"):
        model_at(server).chat_stream(ASKED, hear=print)
    assert len(server.bodies) == 1


def test_a_stream_that_is_cut_is_not_asked_again():
    heard = []
    cut = Answer(parts=WORDS, dropped="within")
    with FakeServer(lambda body, before: cut) as server:
        model = OpenAIModel("fake", OpenAIConfig(base_url=server.url, api_key="none", retries=3))
        pytest.raises(ModelError, model.chat_stream, ASKED, hear=heard.append).match("it is not asked again")
    assert (heard, len(server.bodies)) == ([WORDS[0]], 1)


def test_what_the_listener_raises_is_raised_and_no_further_request_made():
    def deaf(words):
        raise OverflowError("enough")

    with FakeServer(streaming) as server, pytest.raises(OverflowError, match="enough"):
        model_at(server).chat_stream(ASKED, hear=deaf)
    assert len(server.bodies) == 1


def test_tokens_are_recorded_of_whole_replies_alone():
    heard = []
    with FakeServer(streaming) as server:
        reply = model_at(server, records_tokens=True).chat_stream(ASKED, hear=heard.append)
    assert (heard, reply.streamed, "stream" in server.bodies[0]) == ([], False, False)


# --------------------------------------------------------------------------------------------------------- a question


def test_an_answer_is_told_while_it_is_written_and_its_requests_are_given_back(small):
    heard = []
    with FakeServer(streaming) as server:
        retriever = Retriever(small, "bm25", model=model_at(server), settings=Settings())
        running = retriever.start("ferry", listen=heard.append, hears_parts=True)
        result = running.future.result(30)
        assert retriever.ask("ferry").answer == result.answer == "Night Ferry"
    parts = [event.text for event in heard if event.kind == "answer_part"]
    assert parts == ["The ferry", " sails at", " night [f1].", "\n\nNight", " Ferry"]
    assert "".join(parts) == f"{result.long_answer}\n\n{result.answer}"
    kinds = [event.kind for event in heard]
    assert kinds.index("hit") < kinds.index("answer_part") < kinds.index("answer")
    assert [event.hit for event in heard if event.kind == "hit"] == list(result.hits)  # each once
    (trajectory,) = result.trajectories
    again = Trajectory.model_validate_json(trajectory.model_dump_json())
    assert [request.body() for request in requests_of(again)] == server.bodies[:1]
    assert "stream" not in server.bodies[1]  # nobody listened


def test_requests_that_were_refused_streams_are_given_back(small):
    with FakeServer(streaming, refuses={"stream": "no stream here"}) as server:
        retriever = Retriever(small, "bm25", model=model_at(server), settings=Settings())
        result = retriever.start("ferry", listen=lambda event: None, hears_parts=True).future.result(30)
    assert [request.body() for request in requests_of(result.trajectories[0])] == server.bodies
    assert len(server.bodies) == 2


class Aloud(ScriptedModel):
    """Says its reply letter by letter."""

    def chat_stream(self, messages, *, hear, sampling=None, seconds=None):
        reply = self.chat(messages, sampling=sampling, seconds=seconds)
        for letter in reply.message.content:
            hear(letter)
        return reply


@pytest.mark.parametrize(
    ("said", "told"),
    [
        ("<think>is it [f1]?\nyes</think> Night Ferry [f1]", "Night Ferry [f1]"),
        ("  Night  Ferry ", "Night Ferry"),
        ("<b>Night</b>", "<b>Night</b>"),
        ("It sails. **Answer:** Night\nFerry [f1], an A", "It sails.\n\nNight Ferry [f1], an A"),
        ("A tie [f1", "A tie [f1"),
        ("One. Answer: two. Answer: three", "One.\n\ntwo."),  # the second mark makes `two.` part of the reasoning
        ("Answer:", "Answer:"),
        ("<think>never done", ""),
    ],
)
def test_only_words_that_are_read_are_told(small, said, told):
    heard = []
    model = Aloud(lambda messages, tools, sampling: said)
    assert isinstance(model, Streaming)
    assert not isinstance(ScriptedModel(model.chat), Streaming)
    retriever = Retriever(small, "bm25", model=model, settings=Settings())
    retriever.start("ferry", listen=heard.append, hears_parts=True).future.result(30)
    assert "".join(event.text for event in heard if event.kind == "answer_part") == told


# ------------------------------------------------------------------------------------------------------------ hostile


def chunk(**delta):
    return f"data: {json.dumps({'choices': [{'index': 0, 'delta': delta, 'finish_reason': None}]})}\n\n"


@given(st.lists(st.text(min_size=1, max_size=8), max_size=6), st.integers(1, 7))
def test_words_cross_wherever_the_bytes_are_cut(words, size):
    stream = "".join(chunk(content=part) for part in words).encode()
    heard = []
    reader = PartReader(heard.append)
    for at in range(0, len(stream), size):
        reader.feed(stream[at : at + size])
    assert heard == words
    text = stream.decode() + "data: [DONE]\n\n"
    assert completion_in(text)["choices"][0]["message"].get("content", "") == "".join(words)


@pytest.mark.parametrize(
    "line",
    [
        *(
            "data: {",
            "data: []",
            "data: 3",
            'data: {"choices": 3}',
            'data: {"choices": [3]}',
            "data:",
            ": ping",
            "\x00",
        ),
        *('data: {"choices": [{"delta": 3}]}', 'data: {"choices": [{"delta": {"content": {"a": 1}}}]}', "event: x"),
        f"data: {'[' * 100_000}",
    ],
)
def test_lines_that_are_no_chunks_are_passed_over(line):
    text = f"{chunk(content='a')}{line}\n\n{chunk(content='b')}data: [DONE]\n"
    heard = []
    PartReader(heard.append).feed(text.encode())
    assert heard == ["a", "b"]
    assert completion_in(text)["choices"][0]["message"]["content"] == "ab"


def test_a_stream_without_an_end_is_no_reply():
    with pytest.raises(ValueError, match="broke off"):
        completion_in(chunk(content="a"))
    assert completion_in('data: {"error": {"message": "no"}}\n') == {"error": {"message": "no"}}
    assert [is_stream(text) for text in ("data: {}", "\n: hi", "event: x", '{"choices": []}', "")] == [
        *(True, True, True, False, False)
    ]
