"""Against a real server on loopback that misbehaves on purpose."""

import json
import logging
import subprocess
import sys
import threading
from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime, timedelta
from email.utils import format_datetime
from urllib.parse import urlsplit

import pytest

from fakes import Answer, FakeServer
from orienteer.errors import BadOption, ModelError, ModelRefused
from orienteer.llm import OpenAIConfig, OpenAIModel
from orienteer.records import Message, Price, Sampling, ToolCall, ToolSpec

pytestmark = pytest.mark.server

SEARCH = ToolSpec(
    name="search",
    description="Find nodes.",
    parameters={"type": "object", "properties": {"query": {"type": "string"}}, "required": ["query"]},
)
QUESTION = (Message(role="system", content="Be brief."), Message(role="user", content="Which gene?"))
SOON = {"retry-after": "0.01"}
IN_WORDS = '{"name": "search", "arguments": {"query": "a"}}'


@pytest.fixture
def served():
    """Start a server for a policy, and return it with a model that asks it."""
    opened = []

    def serve(policy, *, refuses=None, ignores=(), name="fake", **config):
        server = FakeServer(policy, refuses=refuses, ignores=ignores)
        server.__enter__()
        model = OpenAIModel(name, OpenAIConfig(base_url=server.url, **{"retries": 1, **config}))
        opened.append((server, model))
        return server, model

    yield serve
    for server, model in opened:
        model.close()
        server.__exit__()


def says(text):
    return lambda body, before: Answer(content=text)


def first(fault, then=None):
    """Answer a request with the fault when it comes first, soundly when it comes again."""
    return lambda body, before: (then or Answer(content="fine")) if before else fault


# ------------------------------------------------------------------------------------------------- the plain road


def test_prose_comes_back_with_what_it_took(served):
    usage = {"prompt_tokens": 100, "completion_tokens": 10, "prompt_tokens_details": {"cached_tokens": 40}}
    price = Price(prompt=2.0, cached=1.0, completion=8.0)
    _, model = served(lambda body, before: Answer(content="BRCA1", usage=usage), price=price)
    reply = model.chat(QUESTION)
    assert reply.message == Message(role="assistant", content="BRCA1")
    spent = reply.usage
    assert (spent.calls, spent.prompt_tokens, spent.cached_tokens, spent.completion_tokens) == (1, 100, 40, 10)
    assert spent.usd == pytest.approx((60 * 2 + 40 * 1 + 10 * 8) / 1e6)
    assert spent.seconds > 0


def test_a_conversation_with_calls_goes_out_exactly(served):
    server, model = served(says("ok"))
    raw = '{"query":  "caf\\u00e9" '  # not even JSON: it is what the model wrote
    history = (
        *QUESTION,
        Message(role="assistant", tool_calls=(ToolCall(id="x1", name="search", arguments=raw),)),
        Message(role="tool", tool_call_id="x1", content="no JSON"),
    )
    sampling = Sampling(temperature=0.7, top_p=0.9, max_tokens=50, random_seed=3)
    model.chat(history, tools=(SEARCH,), sampling=sampling)
    assert server.bodies == [
        {
            "model": "fake",
            "messages": [
                {"role": "system", "content": "Be brief."},
                {"role": "user", "content": "Which gene?"},
                {
                    "role": "assistant",
                    "content": None,
                    "tool_calls": [{"id": "x1", "type": "function", "function": {"name": "search", "arguments": raw}}],
                },
                {"role": "tool", "content": "no JSON", "tool_call_id": "x1"},
            ],
            "tools": [{"type": "function", "function": SEARCH.model_dump()}],
            "temperature": 0.7,
            "top_p": 0.9,
            "max_tokens": 50,
            "seed": 3,
        }
    ]


def test_calls_come_back_with_their_arguments_as_written(served):
    raw = '{"query":   "b" , "extra": 1}'
    calls = [("search", {"query": "a"}), ("search", raw)]
    _, model = served(lambda body, before: Answer(calls=calls))
    message = model.chat(QUESTION, tools=(SEARCH,)).message
    assert [call.arguments for call in message.tool_calls] == ['{"query": "a"}', raw]
    assert message.content is None


def test_a_schema_is_asked_for_and_its_object_comes_back(served):
    server, model = served(says('```json\n{"answer": "x"}\n```'))
    schema = {"type": "object", "properties": {"answer": {"type": "string"}}}
    assert model.chat(QUESTION, schema=schema).message.content == '{"answer": "x"}'
    assert server.bodies[0]["response_format"]["json_schema"]["schema"] == schema


# ----------------------------------------------------------------------------------------- faults of the transport


def test_retry_after_is_honoured(served):
    server, model = served(first(Answer(status=429, headers={"Retry-After": "0.05"})))
    assert model.chat(QUESTION).message.content == "fine"
    waited = server.requests[1].at - server.requests[0].at
    assert 0.05 <= waited < 0.37  # the first wait of our own is 0.375 s or more


@pytest.mark.parametrize("status", [408, 429, 500, 502, 503])
def test_what_passes_is_tried_again_and_counted_once(served, status):
    server, model = served(first(Answer(status=status, headers=SOON)))
    reply = model.chat(QUESTION)
    assert reply.message.content == "fine"
    assert reply.usage.calls == 1
    assert len(server.requests) == 2


@pytest.mark.parametrize(("status", "words"), [(429, "limits the rate"), (500, "failed with 500"), (503, "503")])
def test_what_does_not_pass_is_a_model_error(served, status, words):
    server, model = served(lambda body, before: Answer(status=status, headers=SOON), retries=2)
    with pytest.raises(ModelError, match=f"{words}.*3 attempts.*scripted") as caught:
        model.chat(QUESTION)
    assert not isinstance(caught.value, ModelRefused)
    assert len(server.requests) == 3


@pytest.mark.parametrize("status", [429, 503])
@pytest.mark.parametrize("headers", [{"Retry-After": "3600"}, {"Retry-After": "20"}, {"retry-after-ms": "20000"}])
def test_no_pause_is_kept_that_is_longer_than_an_attempt_may_take(served, status, headers):
    server, model = served(lambda body, before: Answer(status=status, headers=headers), timeout_seconds=10, retries=4)
    with pytest.raises(ModelError, match=rf"{status} and asks to wait (3600|20) s, longer than the 10 s.*scripted"):
        model.chat(QUESTION)
    assert len(server.requests) == 1


def test_a_pause_may_be_asked_for_until_a_date(served):
    date = format_datetime(datetime.now(UTC) + timedelta(seconds=60), usegmt=True)
    server, model = served(lambda body, before: Answer(status=429, headers={"Retry-After": date}), timeout_seconds=10)
    with pytest.raises(ModelError, match=r"asks to wait (59|60)[\d.]* s"):
        model.chat(QUESTION)
    assert len(server.requests) == 1


@pytest.mark.parametrize("value", ["soon", "-1", "nan", ""])
def test_a_pause_that_is_none_is_passed_over(served, value):
    server, model = served(first(Answer(status=429, headers={"Retry-After": value})))
    assert model.chat(QUESTION).message.content == "fine"
    assert len(server.requests) == 2


@pytest.mark.parametrize("where", ["before", "within"])
def test_what_was_sent_is_not_sent_again_where_the_connection_drops(served, where):
    server, model = served(first(Answer(content="lost", dropped=where)), retries=4)
    with pytest.raises(ModelError, match=r"cut the connection before it had answered.*not asked again") as caught:
        model.chat(QUESTION)
    assert server.url in str(caught.value)
    assert len(server.requests) == 1


def test_a_slow_reply_is_not_asked_for_twice(served):
    server, model = served(lambda body, before: Answer(content="late", delay=5), timeout_seconds=0.05, retries=4)
    with pytest.raises(ModelError, match=r"did not answer within 0\.05 s.*not asked again.*raise timeout_seconds"):
        model.chat(QUESTION)
    assert len(server.requests) == 1


@pytest.mark.parametrize("status", [504, 524])
def test_what_a_gateway_waited_for_in_vain_is_not_asked_for_twice(served, status):
    server, model = served(lambda body, before: Answer(status=status), retries=4)
    with pytest.raises(ModelError, match=rf"answered {status}: the server behind it was too slow.*scripted"):
        model.chat(QUESTION)
    assert len(server.requests) == 1


def test_a_gateway_that_asks_to_be_asked_again_is(served):
    server, model = served(first(Answer(status=504, headers=SOON)))
    assert model.chat(QUESTION).message.content == "fine"
    assert len(server.requests) == 2


def test_a_server_that_comes_up_late_is_found(served):
    """No connection was made at first, so that nothing was sent: that is tried again."""
    with FakeServer(says("")) as gone:
        port = urlsplit(gone.url).port
    model = OpenAIModel("fake", OpenAIConfig(base_url=f"http://127.0.0.1:{port}/v1", retries=4))
    came = []

    def come_up():
        came.append(FakeServer(says("up"), port=port))
        came[0].__enter__()

    waking = threading.Timer(0.3, come_up)
    waking.start()
    try:
        assert model.chat(QUESTION).message.content == "up"
    finally:
        waking.join()
        came[0].__exit__()
        model.close()
    assert len(came[0].requests) == 1


def test_no_server_is_a_model_error():
    with FakeServer(says("")) as server:
        url = server.url
    with pytest.raises(ModelError, match="is the server running"):
        OpenAIModel("fake", OpenAIConfig(base_url=url, retries=0)).chat(QUESTION)


# -------------------------------------------------------------------------------------------------------- refusals


@pytest.mark.parametrize(
    ("status", "code", "words"),
    [
        (400, None, "refused the request.*400.*scripted"),
        (401, None, "ORIENTEER_API_KEY or OPENAI_API_KEY"),
        (403, None, "'fake'.*scripted"),
        (404, None, "no model 'fake'.*base URL"),
        (422, None, "422"),
        (429, "insufficient_quota", "no credit"),
    ],
)
def test_a_refusal_says_what_to_do(served, status, code, words):
    server, model = served(lambda body, before: Answer(status=status, code=code, headers=SOON), retries=0)
    with pytest.raises(ModelRefused, match=words) as caught:
        model.chat(QUESTION)
    assert server.url in str(caught.value)
    assert len(server.requests) == 1


def test_openai_is_not_asked_without_a_key():
    with pytest.raises(ModelRefused, match="ORIENTEER_API_KEY or OPENAI_API_KEY"):
        OpenAIModel("gpt-4.1").chat(QUESTION)


def test_a_key_in_the_environment_is_never_taken(served, monkeypatch):
    monkeypatch.setenv("OPENAI_API_KEY", "sk-from-the-shell")
    monkeypatch.setenv("OPENAI_BASE_URL", "http://127.0.0.1:9/v1")
    server, model = served(says("ok"))
    model.chat(QUESTION)
    assert "sk-from-the-shell" not in json.dumps(server.requests[0].headers)
    with pytest.raises(ModelRefused, match="No API key"):
        OpenAIModel("gpt-4.1").chat(QUESTION)


@pytest.mark.parametrize("status", [400, 401, 403])
def test_the_key_is_sent_and_never_shown(served, status):
    refusal = Answer(status=status, message="the key sk-secret is wrong")
    server, model = served(lambda body, before: refusal, api_key="sk-secret")
    with pytest.raises(ModelRefused) as caught:
        model.chat(QUESTION)
    assert server.requests[0].headers["authorization"] == "Bearer sk-secret"
    assert "sk-secret" not in f"{caught.value} {model.config!r}"


# ---------------------------------------------------------------------------------------------- faults in content


@pytest.mark.parametrize(
    "body",
    [
        "<html>hello</html>",
        "[]",
        "{}",
        '{"choices": []}',
        '{"choices": [{"message": null}]}',
        '{"error": {"message": "overloaded"}}',
        "[" * 100_000,
        "",
    ],
)
def test_what_is_no_completion_is_a_model_error(served, body):
    _, model = served(lambda _, before: Answer(body=body))
    with pytest.raises(ModelError, match="base URL right"):
        model.chat(QUESTION)


def test_empty_content_is_a_reply(served):
    _, model = served(lambda body, before: Answer(content=None))
    assert model.chat(QUESTION, tools=(SEARCH,)).message == Message(role="assistant")


def test_a_reply_that_was_cut_says_so(served):
    _, model = served(lambda body, before: Answer(calls=[("search", '{"query": "as')], finish_reason="length"))
    reply = model.chat(QUESTION, tools=(SEARCH,))
    assert reply.truncated
    assert reply.message.tool_calls[0].arguments == '{"query": "as'


def test_a_reply_that_was_cut_inside_an_emoji_can_be_stored(served):
    body = '{"choices": [{"message": {"content": "hi \\ud83d"}, "finish_reason": "length"}]}'
    _, model = served(lambda _, before: Answer(body=body))
    reply = model.chat(QUESTION)
    assert reply.message.content == "hi \ufffd"
    assert reply.model_dump_json().encode()


@pytest.mark.parametrize("usage", [None, {}, {"prompt_tokens": "many"}])
def test_usage_that_is_not_told_is_never_a_silent_zero_price(served, usage):
    _, model = served(lambda body, before: Answer(content="x", usage=usage), price=Price(prompt=1, completion=1))
    spent = model.chat(QUESTION).usage
    assert (spent.calls, spent.tokens, spent.usd) == (1, 0, None)


@pytest.mark.parametrize(
    ("sent", "ids", "arguments"),
    [
        ([{"function": {"name": "search", "arguments": {"query": "a"}}}], ["call_2_0"], ['{"query": "a"}']),
        ([{"id": "", "function": {"name": "search", "arguments": "{}"}}], ["call_2_0"], ["{}"]),
        ([{"id": "a", "function": {"name": "search"}}] * 2, ["a", "call_2_1"], ["{}", "{}"]),
        ([{"id": "a"}, None, 3, {"function": {"name": None}}], [], []),
        ("nonsense", [], []),
    ],
)
def test_careless_calls_are_read_as_far_as_they_go(served, sent, ids, arguments):
    body = json.dumps({"choices": [{"message": {"tool_calls": sent}, "finish_reason": "tool_calls"}]})
    _, model = served(lambda _, before: Answer(body=body))
    calls = model.chat(QUESTION, tools=(SEARCH,)).message.tool_calls
    assert [call.id for call in calls] == ids
    assert [call.arguments for call in calls] == arguments


# ------------------------------------------------------------------------------------------ three ways to ask


def either(body, before):
    """A small local model behind whatever server: calls natively where it may, in words elsewhere."""
    return Answer(calls=[("search", {"query": "a"})]) if "tools" in body else Answer(content=IN_WORDS)


def test_a_server_without_tools_is_asked_by_schema_ever_after(served, caplog):
    server, model = served(either, refuses={"tools": "fake does not support tools"})
    with caplog.at_level(logging.WARNING):
        for _ in range(2):
            (call,) = model.chat(QUESTION, tools=(SEARCH,)).message.tool_calls
            assert (call.name, call.arguments) == ("search", '{"query": "a"}')
    assert ["tools" in body for body in server.bodies] == [True, False, False]
    form = server.bodies[1]["response_format"]["json_schema"]["schema"]["oneOf"][0]
    assert form["properties"]["name"] == {"const": "search"}
    assert form["properties"]["arguments"]["additionalProperties"] is False
    assert "search: Find nodes." in server.bodies[1]["messages"][0]["content"]
    assert "does not take tools" in caplog.text


def test_a_server_with_neither_is_asked_in_words(served):
    server, model = served(either, refuses={"tools": "unknown field", "response_format": "unknown field"})
    for _ in range(2):
        assert model.chat(QUESTION, tools=(SEARCH,)).message.tool_calls[0].name == "search"
    assert [{"tools", "response_format"} & body.keys() for body in server.bodies] == [
        {"tools"},
        {"response_format"},
        set(),
        set(),
    ]


@pytest.mark.parametrize("status", [404, 500])
def test_a_refusal_of_tools_is_known_by_its_words_too(served, status):
    def policy(body, before):
        refusal = Answer(status=status, message="tools param requires --jinja", headers=SOON)
        return refusal if "tools" in body else Answer(content=IN_WORDS)

    _, model = served(policy)
    assert model.chat(QUESTION, tools=(SEARCH,)).message.tool_calls


def test_a_schema_that_is_refused_is_asked_for_in_words(served):
    server, model = served(says('Sure: {"answer": 1}'), refuses={"response_format": "no"})
    assert model.chat(QUESTION, schema={"type": "object"}).message.content == '{"answer": 1}'
    assert "JSON schema" in server.bodies[1]["messages"][0]["content"]


def test_a_server_that_ignores_tools_is_asked_another_way_after_the_repair(served):
    def policy(body, before):
        return Answer(content=IN_WORDS) if "response_format" in body else Answer(content="Let me think.")

    server, model = served(policy, ignores=("tools",))
    replies = [model.chat(QUESTION, tools=(SEARCH,)) for _ in range(3)]
    assert [len(reply.message.tool_calls) for reply in replies] == [0, 0, 1]
    assert "tools" not in server.bodies[-1]


def test_a_server_that_ignores_everything_ends_in_words(served):
    server, model = served(says("Let me think."), ignores=("tools", "response_format"))
    for _ in range(6):
        model.chat(QUESTION, tools=(SEARCH,))
    assert [sorted({"tools", "response_format"} & body.keys()) for body in server.bodies] == [
        *[["tools"]] * 2,
        *[["response_format"]] * 2,
        *[[]] * 2,
    ]


def test_a_server_that_ignores_schemas_is_asked_for_objects_in_words(served):
    """It takes the parameter and passes it over: the model would never see what object is wanted."""

    def policy(body, before):
        is_told = "JSON schema" in body["messages"][0]["content"]
        return Answer(content='{"answer": 1}' if is_told else "It is one.")

    server, model = served(policy, ignores=("response_format",))
    replies = [model.chat(QUESTION, schema={"type": "object"}).message.content for _ in range(3)]
    assert replies == ["It is one.", "It is one.", '{"answer": 1}']
    assert ["response_format" in body for body in server.bodies] == [True, True, False]


def test_a_server_that_has_given_objects_is_not_doubted_for_prose(served):
    server, model = served(lambda body, before: Answer(content="No." if before else 'Sure: {"answer": 1}'))
    for _ in range(5):
        model.chat(QUESTION, schema={"type": "object"})
    assert all("response_format" in body for body in server.bodies)


def test_a_server_that_has_given_calls_is_not_doubted_for_prose(served):
    def policy(body, before):
        return Answer(content="Done.") if before else Answer(calls=[("search", {"query": "a"})])

    server, model = served(policy)
    for _ in range(5):
        model.chat(QUESTION, tools=(SEARCH,))
    assert all("tools" in body for body in server.bodies)


def test_one_bad_conversation_does_not_cost_a_server_its_tools(served):
    def policy(body, before):
        is_bad = any("bad" in (message["content"] or "") for message in body["messages"])
        return Answer(status=400, message="no") if is_bad and "tools" in body else either(body, before)

    server, model = served(policy)
    bad = (Message(role="user", content="bad"),)
    for messages in (QUESTION, bad, QUESTION):
        assert model.chat(messages, tools=(SEARCH,)).message.tool_calls
    assert "tools" in server.bodies[-1]


def test_a_refusal_that_no_other_way_cures_is_told_as_it_came(served):
    def policy(body, before):
        return Answer(status=400, message="first" if "tools" in body else "later")

    server, model = served(policy)
    for _ in range(2):
        with pytest.raises(ModelRefused, match="first"):
            model.chat(QUESTION, tools=(SEARCH,))
    assert "tools" in server.bodies[-3]  # the second request began with tools again


def test_a_conversation_that_is_too_long_is_not_asked_in_longer_ways(served):
    words = "This model's maximum context length is 4096 tokens."
    server, model = served(lambda body, before: Answer(status=400, message=words))
    with pytest.raises(ModelRefused, match="4096"):
        model.chat(QUESTION, tools=(SEARCH,))
    assert len(server.requests) == 1


@pytest.mark.parametrize(("mode", "keys"), [("tools", {"tools"}), ("schema", {"response_format"}), ("text", set())])
def test_a_way_that_is_set_is_kept_to(served, mode, keys):
    server, model = served(says("Let me think."), mode=mode)
    for _ in range(3):
        model.chat(QUESTION, tools=(SEARCH,))
    assert all({"tools", "response_format"} & body.keys() == keys for body in server.bodies)


def test_a_way_that_is_set_and_refused_is_an_error(served):
    _, model = served(either, refuses={"tools": "does not support tools"}, mode="tools")
    with pytest.raises(ModelRefused, match="does not support tools"):
        model.chat(QUESTION, tools=(SEARCH,))


def test_earlier_calls_are_told_in_words_where_there_are_no_tools(served):
    server, model = served(either, mode="text")
    message = model.chat(QUESTION, tools=(SEARCH,)).message
    result = Message(role="tool", tool_call_id=message.tool_calls[0].id, content="n1")
    model.chat((*QUESTION, message, result), tools=(SEARCH,))
    model.chat((*QUESTION, message, result))  # the last turn, without tools
    for body in server.bodies[1:]:
        assert [one["role"] for one in body["messages"]] == ["system", "user", "assistant", "user"]
        assert body["messages"][2]["content"] == IN_WORDS


def test_a_model_that_takes_neither_max_tokens_nor_temperature_is_asked_without(served):
    refuses = {
        "max_tokens": "Unsupported parameter: 'max_tokens'. Use 'max_completion_tokens' instead.",
        "temperature": "Unsupported value: 'temperature' does not support 0.7 with this model.",
    }
    server, model = served(says("ok"), refuses=refuses)
    for _ in range(2):
        model.chat(QUESTION, tools=(SEARCH,), sampling=Sampling(temperature=0.7, max_tokens=9, random_seed=1))
    assert len(server.bodies) == 4
    assert server.bodies[-1]["max_completion_tokens"] == 9
    assert server.bodies[-1]["seed"] == 1
    assert not {"max_tokens", "temperature"} & server.bodies[-1].keys()
    assert "tools" in server.bodies[-1]


# -------------------------------------------------------------------------------------------------- width, settings


def test_no_more_calls_are_under_way_than_allowed(served):
    lock, under_way, most = threading.Lock(), [0], [0]

    def policy(body, before):
        with lock:
            under_way[0] += 1
            most[0] = max(most[0], under_way[0])
        threading.Event().wait(0.02)
        with lock:
            under_way[0] -= 1
        return Answer(content=body["messages"][0]["content"])

    _, model = served(policy, concurrency=3)
    with ThreadPoolExecutor(9) as pool:
        asked = [str(number) for number in range(18)]
        replies = pool.map(lambda text: model.chat((Message(role="user", content=text),)), asked)
        assert [reply.message.content for reply in replies] == asked
    assert most[0] == 3


@pytest.mark.parametrize("name", ["HTTP_PROXY", "http_proxy", "ALL_PROXY"])
def test_a_server_on_this_machine_is_not_sought_behind_a_proxy(served, monkeypatch, name):
    for other in ("NO_PROXY", "no_proxy"):
        monkeypatch.delenv(other, raising=False)
    monkeypatch.setenv(name, "http://127.0.0.1:9")
    _, model = served(says("ok"), retries=0)
    assert model.chat(QUESTION).message.content == "ok"


def test_a_closed_model_opens_again(served):
    _, model = served(says("ok"))
    model.chat(QUESTION)
    model.close()
    assert model.chat(QUESTION).message.content == "ok"


@pytest.mark.parametrize(
    ("name", "base_url", "is_known"),
    [
        ("gpt-4.1", None, True),
        ("gpt-4.1", "https://api.openai.com/v1/", True),
        ("gpt-4.1", "http://localhost:8000/v1", False),
        ("gpt-4.1", "https://api.openai.com.example.org/v1", False),
        ("qwen3", None, False),
    ],
)
def test_a_list_price_holds_on_the_server_that_lists_it(name, base_url, is_known):
    assert (OpenAIModel(name, OpenAIConfig(base_url=base_url)).price is not None) == is_known


def test_a_server_of_ones_own_is_free_when_one_says_so(served):
    _, model = served(says("ok"), price=Price(prompt=0.0, completion=0.0))
    assert model.chat(QUESTION).usage.usd == 0.0
    _, model = served(says("ok"))
    assert model.chat(QUESTION).usage.usd is None


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"base_url": "localhost:8000"}, "http://localhost:8000/v1"),
        ({"base_url": "http://"}, "base URL"),
        ({"base_url": "http://[::1"}, "base URL"),
        ({"base_url": "http://a:b/v1"}, "base URL"),
        ({"api_key": "sk-…"}, "copied whole"),
        ({"api_key": "sk-a\n"}, "copied whole"),
        ({"api_key": 4711}, "^OpenAIConfig.api_key cannot be used: it must be text, or none$"),
        ({"timeout_seconds": 0}, "timeout_seconds"),
        ({"timeout_seconds": float("nan")}, "timeout_seconds"),
        ({"retries": -1}, "retries"),
        ({"concurrency": 0}, "concurrency"),
    ],
)
def test_a_setting_that_cannot_be_is_refused(options, words):
    with pytest.raises(BadOption, match=words):
        OpenAIConfig(**options)


@pytest.mark.process
def test_no_http_client_is_imported_before_the_first_call():
    script = (
        "import sys; from orienteer.llm import OpenAIModel; OpenAIModel('x'); "
        "from orienteer.llm import RecordedModel, ScriptedModel, ask_model; sys.exit('httpx2' in sys.modules)"
    )
    assert subprocess.run([sys.executable, "-c", script], check=False).returncode == 0


# ------------------------------------------------------------------------------------------------------- the raw reply


def completion(message, **choice):
    """Return the body of a completion."""
    return json.dumps({"choices": [{"index": 0, "message": message, **choice}], "prompt_token_ids": [1, 2, 3]})


def test_a_reply_is_kept_as_the_server_sent_it(served):
    said = f"<think>Hm.</think>I look. {IN_WORDS} And so on."
    body = completion(
        {"content": said, "reasoning_content": "Which one?"},
        finish_reason="stop",
        token_ids=[7, 8],
        logprobs={"content": [{"token": "a", "logprob": -0.5}, {"token": "b", "logprob": 0}]},
    )
    _, model = served(lambda *_: Answer(body=body))
    reply = model.chat(QUESTION, tools=(SEARCH,))
    assert reply.message.tool_calls[0].name == "search"
    assert "And so on" not in reply.message.content
    raw = reply.raw
    assert (raw.text, raw.reasoning, raw.calls, raw.finish_reason) == (said, "Which one?", None, "stop")
    assert (raw.prompt_token_ids, raw.token_ids, raw.logprobs) == ((1, 2, 3), (7, 8), (-0.5, 0.0))


def test_native_calls_are_kept_as_they_came(served):
    calls = [{"function": {"name": "search", "arguments": {"query": "\ud83d"}}}, {"id": "x"}, 5]
    _, model = served(lambda *_: Answer(body=completion({"content": None, "tool_calls": calls})))
    reply = model.chat(QUESTION, tools=(SEARCH,))
    assert len(reply.message.tool_calls) == 1
    assert json.loads(reply.raw.calls) == calls
    assert reply.model_dump_json().encode()


@pytest.mark.parametrize(
    "choice",
    [
        {"token_ids": "many", "logprobs": 5},
        {"token_ids": [1, "2"], "logprobs": {"content": [{"logprob": None}]}},
        {"token_ids": [True], "logprobs": {"content": [{"logprob": -1e300}]}},
        {"token_ids": [1.5], "logprobs": {"content": {}}},
        {"logprobs": {"content": [5]}},
    ],
)
def test_tokens_that_cannot_be_are_none(served, choice):
    _, model = served(lambda *_: Answer(body=completion({"content": "x"}, **choice)))
    raw = model.chat(QUESTION).raw
    assert (raw.text, raw.token_ids, raw.logprobs) == ("x", None, None)


def test_tokens_are_asked_for_where_the_settings_say_so_and_the_server_takes_it(served):
    server, model = served(
        lambda *_: Answer(content="x"),
        records_tokens=True,
        refuses={"return_token_ids": "Unrecognized request argument supplied: return_token_ids"},
    )
    replies = [model.chat(QUESTION, tools=(SEARCH,)) for _ in range(2)]
    assert [("return_token_ids" in body, body["logprobs"], "tools" in body) for body in server.bodies] == [
        (True, True, True),
        (False, True, True),
        (False, True, True),
    ]
    assert [(reply.wanted_tokens, reply.lacks, reply.refused) for reply in replies] == [
        (True, ("return_token_ids",), ((),)),
        (True, ("return_token_ids",), ()),
    ]
