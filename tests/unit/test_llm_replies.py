import hashlib
import json
from concurrent.futures import ThreadPoolExecutor

import pytest

from fakes import Answer, FakeServer
from orienteer.errors import BadInput, BadOption, ReplayMiss
from orienteer.llm import ChatRequest, OpenAIConfig, OpenAIModel, RecordedModel, Recording, ReplyFile, ScriptedModel
from orienteer.records import Message, Reply, Sampling, ToolSpec

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


@pytest.mark.server
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
    assert line.keys() == {"version", "key", "ordinal", "request", "reply", "manner"}


# ------------------------------------------------------------------------------------------------------------- files


def reply(text):
    return Reply(message=Message(role="assistant", content=text))


def test_equal_requests_have_replies_in_the_order_in_which_they_were_made(tmp_path):
    replies = ReplyFile(tmp_path / "f")
    assert replies.get("k") is None
    replies.add("k", reply("second"), ordinal=1)
    replies.add("k", reply("first"), ordinal=0)
    assert [replies.get("k", ordinal).message.content for ordinal in range(2)] == ["first", "second"]
    assert replies.get("k", 2) is None
    assert [replies.count("k") for _ in range(3)] == [0, 1, 2]


def test_lines_without_ordinals_stand_in_their_order(tmp_path):
    """Runs of earlier versions have such lines."""
    lines = [{"key": "k", "reply": reply(text).model_dump(mode="json")} for text in "ab"]
    (tmp_path / "f").write_text("".join(f"{json.dumps(line)}\n" for line in lines))
    replies = ReplyFile(tmp_path / "f")
    assert [replies.get("k", ordinal).message.content for ordinal in range(2)] == ["a", "b"]


@pytest.mark.parametrize("cut", [1, 20, -2])
def test_a_line_that_was_cut_short_is_asked_for_again_and_spoils_no_other(tmp_path, cut):
    file = tmp_path / "f"
    ReplyFile(file).add("a", reply("a"))
    whole = file.read_bytes()
    ReplyFile(file).add("b", reply("b"))
    file.write_bytes(whole + file.read_bytes()[len(whole) :][:cut])
    replies = ReplyFile(file)
    assert (replies.get("a").message.content, replies.get("b")) == ("a", None)
    replies.add("b", reply("again"))
    for read in (replies, ReplyFile(file)):
        assert [read.get(key).message.content for key in "ab"] == ["a", "again"]


def test_two_that_write_one_file_see_what_the_other_added(tmp_path):
    first, second = ReplyFile(tmp_path / "f"), ReplyFile(tmp_path / "f")
    first.add("a", reply("of the first"))
    second.add("b", reply("of the second"))
    assert first.get("b").message.content == "of the second"
    assert second.get("a").message.content == "of the first"
