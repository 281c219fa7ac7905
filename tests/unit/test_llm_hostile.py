"""Servers that hold, fill, redirect or fool whoever asks them: every reply ends by a deadline and under a size."""

import gzip
import json
import re
import socket
import threading
import zlib
from base64 import b64decode
from contextlib import closing

import pytest

from fakes.openai_server import Answer, FakeServer
from orienteer.errors import BadOption, BudgetExhausted, ModelError, ModelLate, ModelRefused
from orienteer.index import ServedEmbedder
from orienteer.llm import (
    LARGEST_REPLY,
    MOST_CALLS,
    Allowance,
    Budget,
    Conversation,
    OpenAIConfig,
    OpenAIModel,
    ScriptedModel,
    arguments_of,
    is_model_address,
    object_in,
    read_spoken,
    shown_address,
)
from orienteer.records import Message, ToolSpec, Usage
from orienteer.tools import Toolbox

pytestmark = [pytest.mark.corpus("attacks by servers"), pytest.mark.server, pytest.mark.slow]

ASKED = (Message(role="user", content="hello"),)
HEAD = b"HTTP/1.1 200 OK\r\ncontent-type: application/json\r\n"
CHUNKED = HEAD + b"transfer-encoding: chunked\r\n\r\n"


def chunk(data):
    return b"%x\r\n%s\r\n" % (len(data), data)


def said(content="hi", **more):
    message = {"role": "assistant", "content": content}
    return json.dumps({"choices": [{"message": message, "finish_reason": "stop"}], **more}).encode()


def endless(first, part, pause=0.0):
    def speak(send, is_over):
        send(first)
        while not is_over.wait(pause):
            send(part)

    return speak


def whole(head, body):
    def speak(send, _):
        send(head + b"content-length: %d\r\n\r\n" % len(body) + body)

    return speak


def bomb(size):
    packer = zlib.compressobj(9, zlib.DEFLATED, 31)
    packed = b"".join(packer.compress(b" " * (1 << 20)) for _ in range(size >> 20)) + packer.flush()
    return whole(HEAD + b"content-encoding: gzip\r\n", packed)


SLOW = {
    "a byte now and then": endless(CHUNKED, chunk(b" "), 0.05),
    "a header now and then": endless(HEAD, b"x-a: b\r\n", 0.05),
    "interim answers": endless(b"", b"HTTP/1.1 100 Continue\r\n\r\n", 0.001),
    "nothing": endless(b"", b"", 0.05),
}
LARGE = {
    "a body without end": endless(CHUNKED, chunk(b" " * 65536)),
    "a body of 300 MB": whole(HEAD, b" " * (LARGEST_REPLY + 1)),
    "gzip that unpacks to 300 MB": bomb(300 << 20),
}


def read_request(connection):
    """Read a request whole: a server that closes with a part of it unread takes back what it has sent."""
    seen = b""
    while b"\r\n\r\n" not in seen and (part := connection.recv(1 << 16)):
        seen += part
    head, _, body = seen.partition(b"\r\n\r\n")
    length = re.search(rb"content-length: *(\d+)", head.lower())
    while length and len(body) < int(length[1]) and (part := connection.recv(1 << 16)):
        body += part


@pytest.fixture
def hostile():
    """Give a function that opens a server which speaks as it is told to, and returns its address."""
    is_over, threads, sockets = threading.Event(), [], []

    def serve(speak):
        listener = socket.create_server(("127.0.0.1", 0))
        listener.settimeout(0.05)
        sockets.append(listener)

        def answer(connection):
            with connection:
                connection.settimeout(5)
                try:
                    read_request(connection)
                    speak(connection.sendall, is_over)
                except OSError:  # who asked is gone
                    return

        def listen():
            while not is_over.is_set():
                try:
                    connection, _ = listener.accept()
                except TimeoutError:
                    continue
                threads.append(threading.Thread(target=answer, args=(connection,)))
                threads[-1].start()

        threads.append(threading.Thread(target=listen))
        threads[-1].start()
        return f"http://127.0.0.1:{listener.getsockname()[1]}/v1"

    yield serve
    is_over.set()
    for thread in threads:
        thread.join()
    for one in sockets:
        one.close()


def model_at(url, **config):
    return closing(OpenAIModel("m", OpenAIConfig(base_url=url, **{"retries": 0, "timeout_seconds": 30, **config})))


@pytest.mark.parametrize("way", SLOW)
def test_no_server_holds_a_call_beyond_its_time(hostile, way):
    with model_at(hostile(SLOW[way])) as model, pytest.raises(ModelLate, match="budget"):
        model.chat(ASKED, seconds=0.3)


@pytest.mark.parametrize("way", SLOW)
def test_no_server_holds_an_attempt_beyond_the_time_out(hostile, way):
    with model_at(hostile(SLOW[way]), timeout_seconds=0.3) as model, pytest.raises(ModelError, match="0.3 s"):
        model.chat(ASKED)


@pytest.mark.parametrize("way", SLOW)
def test_no_server_holds_an_embedder(hostile, way):
    config = OpenAIConfig(base_url=hostile(SLOW[way]), retries=0, timeout_seconds=30)
    with closing(ServedEmbedder("m", config)) as embedder, pytest.raises(ModelLate):
        embedder.embed_metered(["a"], kind="query", seconds=0.3)


@pytest.mark.parametrize("way", LARGE)
def test_a_reply_has_a_largest_size(hostile, way):
    with model_at(hostile(LARGE[way]), retries=4) as model, pytest.raises(ModelError, match="more than 16 MB"):
        model.chat(ASKED)


@pytest.mark.parametrize("way", LARGE)
def test_vectors_have_a_largest_size(hostile, way):
    config = OpenAIConfig(base_url=hostile(LARGE[way]), retries=4)
    with closing(ServedEmbedder("m", config)) as embedder, pytest.raises(ModelError, match="more than 16 MB"):
        embedder.embed(["a"], kind="query")


@pytest.mark.parametrize("packing", ["br", "zstd", "deflate", "gzip, gzip"])
def test_a_reply_packed_in_another_way_is_refused_by_name(hostile, packing):
    reply = whole(HEAD + f"content-encoding: {packing}\r\n".encode(), said())
    with model_at(hostile(reply)) as model, pytest.raises(ModelError, match=packing):
        model.chat(ASKED)


def test_gzip_is_read_and_broken_gzip_is_told(hostile):
    packed = gzip.compress(said("packed"))
    with model_at(hostile(whole(HEAD + b"content-encoding: gzip\r\n", packed))) as model:
        assert model.chat(ASKED).message.content == "packed"
    with (
        model_at(hostile(whole(HEAD + b"content-encoding: gzip\r\n", b"no gzip"))) as model,
        pytest.raises(ModelError, match="invalid gzip"),
    ):
        model.chat(ASKED)


@pytest.mark.parametrize("make", [OpenAIModel, ServedEmbedder])
@pytest.mark.parametrize("status", [301, 302, 303, 307, 308])
def test_a_redirect_is_not_followed(status, make):
    with FakeServer(lambda body, before: Answer(content="inner")) as inner:
        away = {"Location": f"http://u:secret@{inner.url.removeprefix('http://')}/chat/completions?token=secret"}
        with (
            FakeServer(lambda body, before: Answer(status=status, headers=away)) as outer,
            closing(make("m", OpenAIConfig(base_url=outer.url, retries=0))) as client,
            pytest.raises(ModelRefused, match="redirects are not followed") as raised,
        ):
            client.chat(ASKED) if make is OpenAIModel else client.embed(["a"], kind="query")
        assert inner.requests == []
        assert "secret" not in str(raised.value)


def test_a_pause_that_is_longer_than_the_time_left_is_not_waited_for():
    with FakeServer(lambda body, before: Answer(status=429, headers={"Retry-After": "20"})) as server:
        with model_at(server.url, retries=4) as model, pytest.raises(ModelLate, match="429"):
            model.chat(ASKED, seconds=5)
        assert len(server.requests) == 1


def test_a_server_that_is_gone_is_not_asked_beyond_the_time():
    # all attempts would take minutes, longer than any test may
    with model_at("http://127.0.0.1:9/v1", retries=30) as model, pytest.raises(ModelLate, match="cannot be reached"):
        model.chat(ASKED, seconds=1.2)


def test_the_wait_for_a_place_ends_with_the_time(hostile):
    with model_at(hostile(SLOW["nothing"]), concurrency=1, timeout_seconds=2) as model:
        other = threading.Thread(target=lambda: pytest.raises(ModelError, model.chat, ASKED))
        other.start()
        while model._slots.acquire(blocking=False):  # until the other call has the only place
            model._slots.release()
        with pytest.raises(ModelLate, match="other calls"):
            model.chat(ASKED, seconds=0.1)
        other.join()


def run_with(seconds, *, calls):
    run = Allowance(Budget(seconds=seconds), reserve=0)
    for _ in range(calls):
        run.check()
        run.charge(Usage(calls=1))
    return run


@pytest.mark.parametrize(("calls", "error"), [(0, ModelLate), (1, BudgetExhausted)])
def test_time_that_ends_within_a_call_is_a_spent_budget_unless_nothing_ever_answered(hostile, calls, error):
    with model_at(hostile(SLOW["nothing"])) as model, pytest.raises(error):
        Conversation(model, ASKED, sampling=None).turn(run_with(0.3, calls=calls))


@pytest.mark.parametrize(
    "usage",
    [
        {"prompt_tokens": -(10**15), "completion_tokens": -(10**15)},
        {"prompt_tokens": 1 << 24, "completion_tokens": 1},
        {"prompt_tokens": True, "completion_tokens": True},
        {"prompt_tokens": "7", "completion_tokens": 7},
        {"prompt_tokens": 1.5, "completion_tokens": 7},
        {"prompt_tokens": 5},
    ],
)
def test_usage_that_cannot_be_is_not_believed(usage):
    with FakeServer(lambda body, before: Answer(content="hi", usage=usage)) as server, model_at(server.url) as model:
        spent = model.chat(ASKED).usage
        assert (spent.calls, spent.tokens, spent.usd) == (1, 0, None)
        run = Allowance(Budget(tokens=50), reserve=0)
        Conversation(model, ASKED, sampling=None).turn(run)
        with pytest.raises(ModelError, match="budget of tokens cannot be kept"):
            run.check()


def test_cached_tokens_that_cannot_be_count_as_none():
    usage = {"prompt_tokens": 5, "completion_tokens": 2, "prompt_tokens_details": {"cached_tokens": -(10**9)}}
    with FakeServer(lambda body, before: Answer(content="hi", usage=usage)) as server, model_at(server.url) as model:
        assert (spent := model.chat(ASKED).usage).cached_tokens == 0
        assert spent.tokens == 7


def test_a_message_makes_a_bounded_number_of_calls():
    calls = [("finish", {}) for _ in range(100_000)]
    model = ScriptedModel(lambda messages, tools, sampling: calls)
    reply = Conversation(model, ASKED, sampling=None).turn(Allowance()).reply
    assert (len(reply.message.tool_calls), reply.calls_left_out) == (MOST_CALLS, 100_000 - MOST_CALLS)


def test_no_tool_runs_once_the_time_is_over(graph):
    toolbox = Toolbox.full(graph)
    call = ScriptedModel(lambda *_: [("search_in_graph", {"query": "a"})]).chat(ASKED).message.tool_calls[0]
    toolbox.session.payment.run = Allowance(Budget(seconds=1000))
    assert toolbox.observe(call).error is None
    toolbox.session.payment.run = Allowance(Budget(seconds=1e-9))
    assert toolbox.observe(call).error == "NotRun"


@pytest.mark.parametrize(
    "text",
    ["{" * 2_000_000, '{"a":' * 400_000, '{"' * 1_000_000, '{"a": [1,2]} ' * 100_000, '{"a":{"a":1' * 100_000],
    ids=["braces", "open objects", "open names", "small objects", "pairs"],
)
def test_a_long_text_is_scanned_for_calls_in_little_time(text):
    assert read_spoken(text).calls == ()
    object_in(text)


def test_a_call_is_found_behind_braces_that_are_none():
    text = "{x} {} {'name': 1} {\"a\": 1} " * 20 + '{"name": "f", "arguments": {"b": {"name": "g", "arguments": {}}}}'
    assert [(one.name, one.arguments) for one in read_spoken(text).calls] == [
        ("f", '{"b": {"name": "g", "arguments": {}}}')
    ]
    inside = '{"calls": [{"name": "f", "arguments": {}}, {"name": "g", "parameters": {"x": 1}}]}'
    assert [one.name for one in read_spoken(inside).calls] == ["f", "g"]
    assert object_in(text) == "{}"


@pytest.mark.parametrize("depth", [65, 900, 100_000])
def test_deep_arguments_are_a_fault_of_the_call(depth):
    tool = ToolSpec(name="f", description="", parameters={"type": "object", "properties": {"a": {}}})
    calls = [("f", f'{{"a": {"[" * depth}{"]" * depth}}}')]
    with FakeServer(lambda body, before: Answer(calls=calls)) as server, model_at(server.url) as model:
        reply = model.chat(ASKED, tools=[tool])
    with pytest.raises(ValueError, match="nests too deeply"):
        arguments_of(reply.message.tool_calls[0], [tool])


@pytest.mark.parametrize("body", ["[" * 1_000_000, '{"choices": [' * 5_000, "9" * 100_000, "", "null"])
def test_a_body_that_is_no_completion_is_told(body):
    with (
        FakeServer(lambda _, before: Answer(body=body)) as server,
        model_at(server.url) as model,
        pytest.raises(ModelError, match="not a chat completion"),
    ):
        model.chat(ASKED)


@pytest.mark.parametrize(
    ("address", "shown"),
    [
        ("http://user:secret@127.0.0.1:9/v1?token=secret#secret", "http://127.0.0.1:9/v1"),
        ("user:secret@host/v1", "host/v1"),
        ("http:/user:secret@host", "host"),
        ("http:user:secret@host?secret", "host"),
        ("http://user:sec@secret@host/v1", "http://host/v1"),
        ("//user:secret@host/v1", "//host/v1"),
        ("http://[secret@host", "host"),
    ],
)
def test_an_address_is_shown_without_what_is_secret_in_it(address, shown):
    assert shown_address(address) == shown
    if not is_model_address(address):
        with pytest.raises(BadOption) as refused:
            OpenAIConfig(base_url=address)
        assert "secret" not in str(refused.value)


def test_a_password_of_an_address_is_sent_and_never_shown(caplog):
    with FakeServer(lambda body, before: Answer(content="hi")) as server, caplog.at_level("DEBUG"):
        address = server.url.replace("http://", "http://user:s%40cret@")
        with model_at(address) as model:
            model.chat(ASKED)
            assert model.base_url == server.url
            assert "cret" not in repr(model.config)
        assert b64decode(server.requests[0].headers["authorization"].removeprefix("Basic ")) == b"user:s@cret"
    assert "cret" not in caplog.text


@pytest.mark.parametrize("address", ["http://127.0.0.1:9/v1?token=secret", "http://127.0.0.1:9/v1#secret"])
def test_an_address_with_a_query_is_refused(address):
    with pytest.raises(BadOption, match="goes on with") as raised:
        OpenAIConfig(base_url=address)
    assert "secret" not in str(raised.value)


@pytest.mark.parametrize("make", [OpenAIModel, ServedEmbedder])
def test_offline_holds_for_every_client(make, monkeypatch):
    monkeypatch.setenv("ORIENTEER_OFFLINE", "1")
    config = OpenAIConfig(base_url="http://192.0.2.1/v1", retries=0, timeout_seconds=5)
    with closing(make("m", config)) as client, pytest.raises(ModelRefused, match="ORIENTEER_OFFLINE"):
        client.chat(ASKED) if make is OpenAIModel else client.embed(["a"], kind="query")


def test_a_proxy_of_the_environment_is_used_elsewhere_and_never_for_this_machine(monkeypatch):
    with FakeServer(lambda body, before: Answer(content="by proxy")) as proxy:
        for name in ("http_proxy", "HTTP_PROXY"):
            monkeypatch.setenv(name, proxy.url.removesuffix("/v1"))
        monkeypatch.setenv("no_proxy", "")
        with model_at("http://192.0.2.1/v1") as model, pytest.raises(ModelRefused):  # the fake knows no whole URLs
            model.chat(ASKED)
        with FakeServer(lambda body, before: Answer(content="straight")) as own, model_at(own.url) as model:
            assert model.chat(ASKED).message.content == "straight"
            assert len(own.requests) == 1


@pytest.mark.parametrize("charset", ["bz2_codec", "rot13", "punycode", "idna", "undefined", "utf-16"])
@pytest.mark.parametrize("status", [b"200 OK", b"400 Bad Request"])
def test_a_reply_is_read_as_utf_8_whatever_it_says_of_itself(hostile, charset, status):
    head = b"HTTP/1.1 %s\r\ncontent-type: text/plain; charset=%s\r\n" % (status, charset.encode())
    with model_at(hostile(whole(head, said("é")))) as model:
        if status.startswith(b"200"):
            assert model.chat(ASKED).message.content == "é"
        else:
            with pytest.raises(ModelRefused, match="400"):
                model.chat(ASKED)


@pytest.mark.parametrize("year", [99999, 10**19])
def test_a_pause_until_no_date_is_none(hostile, year):
    head = b"HTTP/1.1 429 Slow Down\r\nretry-after: Fri, 31 Dec %d 23:59:59 GMT\r\n" % year
    with model_at(hostile(whole(head, b"{}"))) as model, pytest.raises(ModelError, match="limits the rate"):
        model.chat(ASKED)


@pytest.mark.parametrize(
    ("status", "headers"),
    [(400, "x-should-retry: true\r\nretry-after: 59\r\n"), (429, "retry-after-ms: soon\r\nretry-after: 59\r\n")],
)
def test_no_server_decides_when_it_is_asked_again(hostile, status, headers, monkeypatch):
    slept = []
    monkeypatch.setattr("time.sleep", slept.append)
    reply = whole(f"HTTP/1.1 {status} No\r\n{headers}".encode(), b"{}")
    with model_at(hostile(reply), retries=1, timeout_seconds=120) as model, pytest.raises(ModelError):
        model.chat(ASKED, seconds=5)
    assert not slept


def test_gzip_of_several_members_is_read_and_what_follows_them_is_bounded(hostile):
    packed = HEAD + b"content-encoding: gzip\r\n"
    half = len(said()) // 2
    with model_at(hostile(whole(packed, gzip.compress(said()[:half]) + gzip.compress(said()[half:])))) as model:
        assert model.chat(ASKED).message.content == "hi"
    nothing = endless(packed + b"connection: close\r\n\r\n", gzip.compress(b"") * 4000)
    with model_at(hostile(nothing)) as model, pytest.raises(ModelError, match="more than 16 MB"):
        model.chat(ASKED)


@pytest.mark.parametrize("proxy", ["socks5://127.0.0.1:9", "ftp://127.0.0.1:9", "http://[::1", "://"])
def test_a_proxy_that_is_not_spoken_is_refused_by_name(proxy, monkeypatch):
    monkeypatch.setenv("http_proxy", proxy)
    with model_at("http://192.0.2.1/v1") as model, pytest.raises(ModelRefused, match="proxy"):
        model.chat(ASKED)


def test_no_proxy_of_this_machine_carries_a_question_elsewhere_while_offline(monkeypatch):
    with FakeServer(lambda body, before: Answer(content="by proxy")) as server:
        monkeypatch.setenv("http_proxy", server.url.removesuffix("/v1"))
        monkeypatch.setenv("ORIENTEER_OFFLINE", "1")
        with model_at("http://192.0.2.1/v1") as model, pytest.raises(ModelRefused, match="another machine"):
            model.chat(ASKED)
        assert not server.requests


@pytest.mark.parametrize(
    "url",
    ["http://[::1].example.com/v1", "http://[::1%25eth0]/v1", "http://a%2f.localhost/v1", "http://a\\b.localhost/v1"]
    + [f"http://{'x' * 70}.localhost/v1", "http://a..localhost/v1", "http://a b.localhost/v1"],
)
def test_what_readers_of_addresses_differ_about_is_no_address(url):
    with pytest.raises(BadOption, match="base URL"):
        OpenAIConfig(base_url=url)


def test_an_address_that_the_client_does_not_take_is_refused():
    with model_at("http://\ufb00.localhost/v1") as model, pytest.raises(ModelRefused, match="not the address"):
        model.chat(ASKED)


@pytest.mark.parametrize("file", ["/nonexistent", "/dev/null"])
def test_certificates_that_are_none_are_told(file, monkeypatch):
    monkeypatch.setenv("SSL_CERT_FILE", file)
    with model_at("https://192.0.2.1/v1") as model, pytest.raises(ModelRefused, match="SSL_CERT_FILE"):
        model.chat(ASKED)
