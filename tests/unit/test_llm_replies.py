import hashlib
import json
from concurrent.futures import ThreadPoolExecutor

import pytest

from fakes import Answer, FakeServer
from orienteer.errors import BadInput, BadOption, ReplayMiss
from orienteer.llm.openai import OpenAIConfig, OpenAIModel
from orienteer.llm.replies import ChatRequest, RecordedModel, Recording
from orienteer.llm.scripted import ScriptedModel
from orienteer.records import Message, Sampling, ToolSpec

SEARCH = ToolSpec(name="search", description="Find.", parameters={"type": "object", "properties": {"query": {}}})
QUESTION = (Message(role="system", content="Be brief."), Message(role="user", content="Which gene?"))


def echo(messages, tools, sampling):
    return f"{messages[-1].content} / {sampling.random_seed}"


def test_what_was_recorded_is_replayed(tmp_path):
    path = tmp_path / "cassette.jsonl"
    recording = Recording(ScriptedModel(echo, "m"), path)
    said = [recording.chat(QUESTION, tools=(SEARCH,)), recording.chat(QUESTION, sampling=Sampling(random_seed=1))]
    replayed = RecordedModel(path)
    assert replayed.name == recording.name == "m"
    assert replayed.chat(QUESTION, sampling=Sampling(random_seed=1)) == said[1]
    assert replayed.chat(QUESTION, tools=(SEARCH,)) == said[0]


def test_repeats_come_back_in_their_order(tmp_path):
    path, count = tmp_path / "cassette.jsonl", iter("abc")
    recording = Recording(ScriptedModel(lambda *_: next(count)), path)
    for _ in range(3):
        recording.chat(QUESTION)
    replayed = RecordedModel(path)
    assert [replayed.chat(QUESTION).message.content for _ in range(3)] == ["a", "b", "c"]
    with pytest.raises(ReplayMiss, match="recorded 3 times"):
        replayed.chat(QUESTION)


BASE = ChatRequest(
    model="m",
    messages=QUESTION,
    tools=(SEARCH,),
    reply_schema={"type": "object"},
    sampling=Sampling(temperature=0.5, top_p=0.9, max_tokens=10, random_seed=1),
)
CHANGES = {
    "model": "n",
    "messages": (*QUESTION[:1], Message(role="user", content="Which gene? ")),
    "tools": (SEARCH.model_copy(update={"description": "Find!"}),),
    "reply_schema": {"type": "array"},
    "sampling": Sampling(temperature=0.5, top_p=0.9, max_tokens=10, random_seed=2),
}


def test_every_field_of_a_request_is_changed_below():
    assert CHANGES.keys() == ChatRequest.model_fields.keys()


@pytest.mark.parametrize("field", CHANGES)
def test_changing_any_field_changes_the_key(field):
    assert BASE.model_copy(update={field: CHANGES[field]}).key != BASE.key
    assert BASE.model_copy(update={field: getattr(BASE, field)}).key == BASE.key


@pytest.mark.parametrize("field", Sampling.model_fields)
def test_changing_any_setting_changes_the_key(field):
    other = BASE.sampling.model_copy(update={field: None})
    assert BASE.model_copy(update={"sampling": other}).key != BASE.key


@pytest.mark.parametrize("field", Message.model_fields)
def test_changing_any_part_of_a_message_changes_the_key(field):
    values = {"role": "user", "content": "x", "tool_calls": (), "tool_call_id": "y"}
    other = QUESTION[0].model_copy(update={field: values[field]})
    if other != QUESTION[0]:
        assert BASE.model_copy(update={"messages": (other, QUESTION[1])}).key != BASE.key


def test_the_key_is_the_same_in_every_process():
    assert ChatRequest(model="m", messages=()).key == ChatRequest(model="m", messages=(), sampling=Sampling()).key
    text = '{"messages":[],"model":"m","reply_schema":null,"sampling":{"max_tokens":null,"random_seed":null,'
    text += '"temperature":null,"top_p":null},"tools":[]}'
    assert ChatRequest(model="m", messages=()).key == hashlib.sha256(text.encode()).hexdigest()


def test_a_miss_names_what_differs_from_the_nearest_recorded_request(tmp_path):
    path = tmp_path / "cassette.jsonl"
    recording = Recording(ScriptedModel(echo), path)
    recording.chat((Message(role="user", content="Something else"),))
    recording.chat(QUESTION, sampling=Sampling(random_seed=1))
    with pytest.raises(ReplayMiss) as caught:
        RecordedModel(path).chat(QUESTION, sampling=Sampling(random_seed=2))
    assert "line 2, sampling.random_seed is 2, was 1" in str(caught.value)
    with pytest.raises(ReplayMiss, match=r'messages\[1\].content is "Which disease\?", was "Which gene\?"'):
        RecordedModel(path).chat(
            (QUESTION[0], Message(role="user", content="Which disease?")), sampling=Sampling(random_seed=1)
        )


def test_threads_record_whole_lines_and_replay_them(tmp_path):
    path = tmp_path / "cassette.jsonl"
    recording = Recording(ScriptedModel(echo), path)
    asked = [(Message(role="user", content=f"{number} \u2028 é" * 50),) for number in range(40)] * 2

    with ThreadPoolExecutor(8) as pool:
        said = list(pool.map(recording.chat, asked))
    assert path.read_text(encoding="utf-8").count("\n") == 80
    replayed = RecordedModel(path)
    with ThreadPoolExecutor(8) as pool:
        assert list(pool.map(replayed.chat, asked)) == said


def test_no_key_is_stored(tmp_path):
    path = tmp_path / "cassette.jsonl"
    with FakeServer(lambda body, before: Answer(content="ok")) as server:
        model = OpenAIModel("fake", OpenAIConfig(base_url=server.url, api_key="sk-secret"))
        Recording(model, path).chat(QUESTION)
        model.close()
        assert "sk-secret" in str(server.requests[0].headers)
        assert server.url not in path.read_text()
    assert "sk-secret" not in path.read_text()


def test_a_recording_does_not_add_to_an_older_one(tmp_path):
    path = tmp_path / "cassette.jsonl"
    Recording(ScriptedModel(echo), path).chat(QUESTION)
    with pytest.raises(BadOption, match="exists"):
        Recording(ScriptedModel(echo), path)


def test_a_file_that_is_no_recording_is_refused(tmp_path):
    path = tmp_path / "cassette.jsonl"
    with pytest.raises(BadInput, match="cannot be read"):
        RecordedModel(path)
    Recording(ScriptedModel(echo), path).chat(QUESTION)
    whole = path.read_text()
    for text, words in [
        ("", "line 1"),
        (whole + whole[:50], "line 2"),
        (whole.replace("Which gene?", "Which?", 1), "changed after"),
        (whole.replace('"version":1', '"version":2'), "line 1"),
    ]:
        path.write_text(text)
        with pytest.raises(BadInput, match=words):
            RecordedModel(path)


def test_one_cassette_holds_one_model(tmp_path):
    one, other = tmp_path / "one.jsonl", tmp_path / "other.jsonl"
    Recording(ScriptedModel(echo, "a"), one).chat(QUESTION)
    Recording(ScriptedModel(echo, "b"), other).chat(QUESTION)
    one.write_text(one.read_text() + other.read_text())
    with pytest.raises(BadInput, match="one model, holds those of a, b"):
        RecordedModel(one)


def test_a_line_is_json_with_a_version(tmp_path):
    path = tmp_path / "cassette.jsonl"
    Recording(ScriptedModel(echo), path).chat(QUESTION)
    line = json.loads(path.read_text())
    assert line.keys() == {"version", "key", "ordinal", "request", "reply"}
