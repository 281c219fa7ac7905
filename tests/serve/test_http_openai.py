"""OpenAI's form, asked by the SDK."""

import json

import pytest

pytest.importorskip("fastapi", reason="needs the extra serve")

import openai

from fakes.http_site import serving
from orienteer.errors import ModelError
from orienteer.llm import ScriptedModel
from orienteer.records import Usage
from orienteer.serve import chore_reply

ASKED = [{"role": "user", "content": "Who designed Python?"}]
FOLLOWED = [*ASKED, {"role": "assistant", "content": "Guido van Rossum"}, {"role": "user", "content": "And Ruby?"}]


@pytest.fixture(scope="module")
def sdk(client):
    with openai.OpenAI(base_url=f"{client.url}/v1", api_key="none", max_retries=0) as sdk:
        yield sdk


def test_graphs_are_models_and_each_method_that_can_answer_is_one(sdk):
    names = [model.id for model in sdk.models.list()]
    assert names[0] == "orienteer/languages"
    assert "orienteer/small:anchor" in names
    assert not any(name.endswith((":ark", ":dense", ":graphscout")) for name in names)  # a model, vectors, a sandbox


def test_a_whole_answer_has_its_evidence_and_the_result(sdk, client):
    whole = sdk.chat.completions.create(model="orienteer/languages", messages=ASKED, temperature=0.3)
    choice = whole.choices[0]
    assert (choice.finish_reason, choice.message.role) == ("stop", "assistant")
    answer, _, hits = choice.message.content.partition("\n\n")
    assert answer == "Guido van Rossum"
    first, second = hits.splitlines()[:2]
    assert first == ("[1] Guido van Rossum (person, `person:guido-van-rossum`): Python -designed_by-> Guido van Rossum")
    assert second.startswith("[2]")
    assert ": nearby; " in second
    assert whole.usage.total_tokens == 0
    result = client.post("/api/ask", {"graph": "languages", "question": ASKED[0]["content"], "k": 10}).json
    result["usage"]["seconds"] = whole.model_extra["orienteer"]["usage"]["seconds"] = 0
    assert whole.model_extra["orienteer"] == result


def test_a_stream_is_the_same_text_and_ends_with_the_result(sdk):
    whole = sdk.chat.completions.create(model="orienteer/languages:anchor", messages=ASKED)
    stream = sdk.chat.completions.create(model="orienteer/languages:anchor", messages=ASKED, stream=True)
    chunks = list(stream)
    assert chunks[0].choices[0].delta.role == "assistant"
    assert len({chunk.id for chunk in chunks}) == 1
    text = "".join(chunk.choices[0].delta.content or "" for chunk in chunks)
    assert text == whole.choices[0].message.content
    assert chunks[-1].choices[0].finish_reason == "stop"
    assert chunks[-1].model_extra["orienteer"]["answer"] == "Guido van Rossum"
    assert not any(chunk.usage for chunk in chunks)
    assert not any("event" in chunk.model_extra for chunk in chunks)


def test_usage_comes_last_where_it_is_wanted_and_steps_for_who_shows_them(sdk):
    chunks = list(
        sdk.chat.completions.create(
            model="orienteer/languages:anchor",
            messages=[{"role": "user", "content": [{"type": "text", "text": "Who designed"}, TEXT, PICTURE]}],
            stream=True,
            stream_options={"include_usage": True},
            extra_headers={"X-OpenWebUI-Chat-Id": "1"},
        )
    )
    assert chunks[-1].choices == []
    assert chunks[-1].usage.total_tokens == 0
    events = [chunk.model_extra["event"] for chunk in chunks if "event" in (chunk.model_extra or {})]
    kinds = [event["type"] for event in events]
    assert "source" in kinds
    assert kinds[-1] == "status"
    assert events[-1]["data"]["done"]
    assert next(event for event in events if event["type"] == "source")["data"]["source"]["name"] == (
        "Guido van Rossum (person)"
    )


TEXT = {"type": "text", "text": "Python?"}
PICTURE = {"type": "image_url", "image_url": {"url": "data:image/png;base64,AAAA"}}


@pytest.mark.parametrize("is_stream", [False, True])
def test_chores_are_done_without_a_question_to_the_graph(sdk, client, is_stream):
    history = "### Task:\nGenerate a title.\n<chat_history>\nUSER: Who designed\tPython?\nASSISTANT: X\n</chat_history>"
    reply = sdk.chat.completions.create(
        model="orienteer/languages", messages=[{"role": "user", "content": history}], stream=is_stream
    )
    text = (
        "".join(chunk.choices[0].delta.content or "" for chunk in reply)
        if is_stream
        else reply.choices[0].message.content
    )
    assert json.loads(text) == {"title": "Who designed Python?", "tags": [], "follow_ups": [], "queries": []}
    told = sdk.chat.completions.create(
        model="orienteer/languages", messages=ASKED, extra_headers={"X-OpenWebUI-Task": "title_generation"}
    )
    assert json.loads(told.choices[0].message.content)["tags"] == []


def test_a_chore_without_a_history_has_a_title_too():
    assert json.loads(chore_reply("### Task: something else"))["title"] == "A question to the graph"


@pytest.mark.parametrize("model", ["gpt-5", "orienteer/nope", "orienteer/languagesx"])
def test_an_unknown_model_is_not_found(sdk, model):
    with pytest.raises(openai.NotFoundError, match="GET /v1/models lists them"):
        sdk.chat.completions.create(model=model, messages=ASKED)


def test_an_unknown_method_and_a_bad_shape_are_refused(sdk):
    with pytest.raises(openai.BadRequestError, match="'this:Zen' is not served here"):
        sdk.chat.completions.create(model="orienteer/languages:this:Zen", messages=ASKED)
    with pytest.raises(openai.UnprocessableEntityError, match="messages is"):
        sdk.chat.completions.create(model="orienteer/languages", messages=[])


def test_without_a_model_a_follow_up_is_asked_as_it_stands_and_a_note_says_so(sdk):
    reply = sdk.chat.completions.create(model="orienteer/languages:anchor", messages=FOLLOWED)
    assert reply.model_extra["orienteer"]["question"] == "And Ruby?"
    assert reply.choices[0].message.content.endswith(
        "(asked as it stands: without a model, what was said before is not read)"
    )


def test_with_a_model_a_follow_up_is_put_in_words_of_its_own(languages):
    seen = []

    def reword(messages, tools, sampling):
        seen.append(messages[-1].content)
        return '{"question": "Who designed Ruby?"}'

    model = ScriptedModel(reword, usage=Usage(calls=1, prompt_tokens=40, completion_tokens=5))
    with (
        serving({"languages": languages}, model=model) as client,
        openai.OpenAI(base_url=f"{client.url}/v1", api_key="none", max_retries=0) as sdk,
    ):
        reply = sdk.chat.completions.create(model="orienteer/languages:anchor", messages=FOLLOWED)
        assert reply.model_extra["orienteer"]["question"] == "Who designed Ruby?"
        assert reply.choices[0].message.content.endswith("(asked as: Who designed Ruby?)")
        assert reply.model_extra["orienteer"]["hits"][0]["name"] == "Yukihiro Matsumoto"
        assert reply.usage.prompt_tokens == 40
        assert "user: Who designed Python?\nassistant: Guido van Rossum" in seen[0]
        assert len(seen) == 1
        sdk.chat.completions.create(model="orienteer/languages:anchor", messages=ASKED)
        assert len(seen) == 1  # the first question follows nothing, and anchor answers without a model


def test_a_model_that_cannot_reword_leaves_the_question_as_it_is(languages):
    def fail(messages, tools, sampling):
        raise ModelError("dead")

    with (
        serving({"languages": languages}, model=ScriptedModel(fail)) as client,
        openai.OpenAI(base_url=f"{client.url}/v1", api_key="none", max_retries=0) as sdk,
    ):
        reply = sdk.chat.completions.create(model="orienteer/languages:anchor", messages=FOLLOWED)
        assert reply.model_extra["orienteer"]["question"] == "And Ruby?"
        stream = sdk.chat.completions.create(model="orienteer/languages:ark", messages=ASKED, stream=True)
        with pytest.raises(openai.APIError, match="dead"):
            list(stream)


def test_cited_nodes_become_the_numbers_of_hits(languages):
    def say(messages, tools, sampling):
        if tools:
            turns = sum(message.role == "assistant" for message in messages)
            calls = [("add_to_answer", {"nodes": ["person:guido-van-rossum"], "reasoning": "x"})]
            return [calls, [("finish", {})]][min(turns, 1)]
        return "He designed it [person:guido-van-rossum]. Answer: Guido van Rossum"

    with (
        serving({"languages": languages}, model=ScriptedModel(say)) as client,
        openai.OpenAI(base_url=f"{client.url}/v1", api_key="none", max_retries=0) as sdk,
    ):
        text = sdk.chat.completions.create(model="orienteer/languages:ark", messages=ASKED).choices[0].message.content
        assert text.startswith("Guido van Rossum\n\nHe designed it [1].")
