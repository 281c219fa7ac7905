"""OpenAI's form, asked by the SDK."""

import json
from datetime import datetime

import pytest

pytest.importorskip("fastapi", reason="needs the extra serve")

import openai

from fakes.http_site import serving
from orienteer.errors import ModelError
from orienteer.llm import ScriptedModel
from orienteer.records import Usage
from orienteer.serve import ChatBody, chore_reply

ASKED = [{"role": "user", "content": "Who designed Python?"}]
FOLLOWED = [*ASKED, {"role": "assistant", "content": "Guido van Rossum"}, {"role": "user", "content": "And Ruby?"}]


@pytest.fixture(scope="module")
def sdk(client):
    with openai.OpenAI(base_url=f"{client.url}/v1", api_key="none", max_retries=0) as sdk:
        yield sdk


def test_each_graph_is_a_model_with_the_time_of_its_generation(sdk, languages):
    models = list(sdk.models.list())
    assert [model.id for model in models] == ["orienteer/languages", "orienteer/small"]
    created = datetime.fromisoformat(languages.arrays.manifest.created)
    assert models[0].created == int(created.timestamp())


def test_a_model_is_retrieved_by_its_name(sdk):
    listed = next(iter(sdk.models.list()))
    assert sdk.models.retrieve(listed.id) == listed
    assert sdk.get("/models/orienteer/languages", cast_to=object)["id"] == listed.id
    assert sdk.models.retrieve("orienteer/small:anchor").id == "orienteer/small:anchor"
    with pytest.raises(openai.NotFoundError):
        sdk.models.retrieve("gpt-5")
    with pytest.raises(openai.BadRequestError, match="'ark' is not served here"):
        sdk.models.retrieve("orienteer/small:ark")  # it needs a model


def test_each_method_that_can_answer_is_a_model_by_choice(languages, small):
    with (
        serving({"languages": languages, "small": small}, lists_methods=True) as client,
        openai.OpenAI(base_url=f"{client.url}/v1", api_key="none", max_retries=0) as sdk,
    ):
        names = [model.id for model in sdk.models.list()]
    assert names[0] == "orienteer/languages"
    assert "orienteer/small:anchor" in names
    assert not any(name.endswith((":ark", ":dense", ":graphscout")) for name in names)  # a model, vectors, a sandbox


TOOL = {"type": "function", "function": {"name": "get", "parameters": {"type": "object", "properties": {}}}}
FORCED = {"type": "function", "function": {"name": "get"}}
CANNOT = {
    "n": {"n": 2},
    "tool_choice": {"tools": [TOOL], "tool_choice": "required"},
    "tool_choice.": {"tools": [TOOL], "tool_choice": FORCED},
    "function_call": {"functions": [TOOL["function"]], "function_call": {"name": "get"}},
    "response_format": {"response_format": {"type": "json_object"}},
    "response_format.": {"response_format": {"type": "json_schema", "json_schema": {"name": "a", "schema": {}}}},
    "logprobs": {"logprobs": True},
    "top_logprobs": {"top_logprobs": 3},
    "modalities": {"modalities": ["text", "audio"]},
    "audio": {"audio": {"voice": "alloy", "format": "wav"}},
    "web_search_options": {"web_search_options": {}},
}


@pytest.mark.parametrize("is_stream", [False, True])
@pytest.mark.parametrize("case", CANNOT)
def test_what_cannot_be_done_is_refused_by_name(sdk, case, is_stream):
    with pytest.raises(openai.BadRequestError) as refused:
        sdk.chat.completions.create(model="orienteer/languages", messages=ASKED, stream=is_stream, **CANNOT[case])
    assert refused.value.param == case.rstrip(".")
    assert refused.value.type == "invalid_request_error"
    assert refused.value.body["message"].startswith(f"{case.rstrip('.')} is ")


@pytest.mark.parametrize("kind", ["image_url", "input_audio", "file"])
def test_a_question_is_text_alone_and_what_stands_before_it_may_be_anything(sdk, kind):
    part = {"type": kind, kind: {"url": "data:image/png;base64,AAAA"}}
    shown = {"role": "user", "content": [{"type": "text", "text": "Who designed Python?"}, part]}
    with pytest.raises(
        openai.BadRequestError, match=rf"messages\[0\]\.content\[1\] is of the type '{kind}'"
    ) as refused:
        sdk.chat.completions.create(model="orienteer/languages", messages=[shown])
    assert refused.value.param == "messages"
    told = [shown, {"role": "assistant", "content": "I cannot see it."}, *ASKED]
    assert sdk.chat.completions.create(model="orienteer/languages", messages=told).choices[0].message.content


@pytest.mark.parametrize(
    "last",
    [
        {"role": "assistant", "content": "Guido"},
        {"role": "tool", "tool_call_id": "1", "content": "42"},
    ],
)
def test_a_conversation_that_ends_with_an_answer_asks_nothing(sdk, last):
    with pytest.raises(openai.BadRequestError, match=f"messages end with a turn of the role {last['role']}"):
        sdk.chat.completions.create(model="orienteer/languages", messages=[*ASKED, last])
    messages = [*ASKED, {"role": "system", "content": "Be brief."}]
    assert sdk.chat.completions.create(model="orienteer/languages", messages=messages).choices[0].message.content


def test_what_only_changes_how_words_are_picked_is_ignored(sdk):
    plain = sdk.chat.completions.create(model="orienteer/languages", messages=ASKED)
    options = {"n": 1, "temperature": 0, "top_p": 0.5, "max_tokens": 1, "stop": ["b"], "seed": 1, "user": "u"}
    options |= {"tools": [TOOL], "tool_choice": "auto", "response_format": {"type": "text"}, "logprobs": False}
    options |= {"modalities": ["text"], "logit_bias": {}, "presence_penalty": 1, "reasoning_effort": "low"}
    read = sdk.chat.completions.create(model="orienteer/languages", messages=ASKED, **options)
    assert read.choices[0].message.content == plain.choices[0].message.content


@pytest.mark.parametrize("path", ["/v1/embeddings", "/v1/responses", "/v1/models/nope"])
def test_errors_have_the_form_of_all_and_what_openais_have(client, path):
    reply = client.get(path) if "models" in path else client.post(path, {})
    assert reply.status == 404
    assert {"message", "status", "value", "type", "param", "code"} == set(reply.json["error"])


def test_a_whole_answer_has_its_evidence_and_the_result(sdk, client):
    whole = sdk.chat.completions.create(model="orienteer/languages", messages=ASKED, temperature=0.3)
    choice = whole.choices[0]
    assert (choice.finish_reason, choice.message.role) == ("stop", "assistant")
    answer, _, hits = choice.message.content.partition("\n\n")
    assert answer == "Guido van Rossum"
    first, *others = hits.splitlines()
    assert first == ("[1] Guido van Rossum (person, `person:guido-van-rossum`): Python -designed_by-> Guido van Rossum")
    # What meets only some of the question is counted, not listed below the answer.
    assert others == ["", "(9 more meet only some of it)"]
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
            messages=[{"role": "user", "content": [{"type": "input_text", "text": "Who designed"}, TEXT]}],
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


def test_a_chore_without_a_history_has_a_title_too(sdk):
    reply = sdk.chat.completions.create(
        model="orienteer/languages", messages=[{"role": "user", "content": "### Task: something else"}]
    )
    assert json.loads(reply.choices[0].message.content)["title"] == "A question to the graph"


def said(role, text):
    return {"role": role, "content": text}


LIBRECHAT = (
    "Provide a concise, 5-word-or-less title for the conversation, using title case conventions. Only return the title "
    "itself."
)
LOBECHAT = (
    "You are a professional conversation summarizer. Generate a concise title that captures the essence of the "
    "conversation.\n\nRules:\n- Output ONLY the title text\n- Maximum 10 words"
)
TALK = "User: Who designed Python?\nAI: Guido van Rossum"
TITLES = {
    "LibreChat": [said("user", f"{LIBRECHAT}\n\nConversation:\n{TALK}")],
    "LibreChat, before a question": [said("system", LIBRECHAT), *ASKED],
    "LibreChat, by language": [
        said(
            "user",
            "Analyze this conversation and provide:\n1. The detected language of the conversation\n2. A concise title "
            f"in the detected language (5 words or less, no punctuation or quotation)\n\n{TALK}",
        )
    ],
    "LibreChat, assistants": [
        said(
            "user", f"Please generate a concise title (max 40 characters) for a conversation that starts with:\n{TALK}"
        )
    ],
    "LobeChat": [said("system", LOBECHAT), said("user", TALK.replace("User", "user").replace("AI", "assistant"))],
    "LobeChat, in tags": [
        said("system", LOBECHAT),
        said("user", "<conversation>\n<user>\nWho designed Python?\n</user>\n</conversation>"),
    ],
    "after the conversation": [
        *ASKED,
        said("assistant", "Guido van Rossum"),
        said("user", "Summarize the conversation into a title within 10 words. Output only the title."),
    ],
}


@pytest.mark.parametrize("case", TITLES)
def test_a_title_that_a_client_wants_is_not_searched_for(sdk, case):
    create = sdk.chat.completions.create
    assert create(model="orienteer/languages", messages=TITLES[case]).choices[0].message.content == (
        "Who designed Python?"
    )
    form = {"type": "json_schema", "json_schema": {"name": "title", "schema": {"type": "object"}}}
    reply = create(model="orienteer/languages", messages=TITLES[case], response_format=form)
    assert json.loads(reply.choices[0].message.content) == {"title": "Who designed Python?"}


@pytest.mark.parametrize(
    "question",
    [
        "Suggest a film with a short title about a conversation",
        "Write a brief summary: which film has a title about a chat?",
        "What is the title of the shortest conversation?",
        "Give the title of the film with the conversation of 5 words",
        "Which languages have a short title in a chat of 5 words?",
        "Write down who made Python.",
    ],
)
def test_a_question_about_titles_is_a_question(question):
    body = {"model": "x", "messages": [said("system", "Be brief: give each reply a title."), said("user", question)]}
    assert chore_reply(ChatBody.model_validate(body)) is None


@pytest.mark.parametrize("model", ["gpt-5", "orienteer/nope", "orienteer/languagesx"])
def test_an_unknown_model_is_not_found(sdk, model):
    with pytest.raises(openai.NotFoundError, match="GET /v1/models lists those that are"):
        sdk.chat.completions.create(model=model, messages=ASKED)


def test_an_unknown_method_and_a_bad_shape_are_refused(sdk):
    for method in ("this:Zen", "ark", "graphscout"):  # the second needs a model
        with pytest.raises(openai.BadRequestError, match=f"'{method}' is not served here") as refused:
            sdk.chat.completions.create(model=f"orienteer/languages:{method}", messages=ASKED)
        assert refused.value.param == "model"
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
