"""doctor --probe: what a model's server does is asked when a person says so, kept, shown, and heeded by ask."""

import json

import pytest

from fakes import Answer, FakeServer
from fakes.engine import install_engine, write_gguf
from fakes.servers import FAULTY, SOUND

COURSE = (
    [("search_in_graph", {"query": "leads the Choir"})],
    [("add_to_answer", {"nodes": ["ann"]})],
    [("finish", {"comment": "Ann leads it."})],
)


@pytest.fixture
def server():
    """Give a server that passes over tools without a word, and keeps a schema."""
    with FAULTY[0].serve(COURSE) as served:
        yield served


@pytest.fixture
def named(server, monkeypatch):
    """Name its model in the environment, with a key."""
    monkeypatch.setenv("ORIENTEER_MODEL", "fake")
    monkeypatch.setenv("ORIENTEER_BASE_URL", server.url)
    monkeypatch.setenv("ORIENTEER_API_KEY", "sk-very-secret")
    return server


def kept(home):
    return [path.read_text() for path in (home.parent / "cache" / "servers").glob("*.json")]


def test_nothing_is_asked_unless_a_person_says_so(cli, named):
    ran = cli("doctor")
    assert ran.code == 0
    assert f"fake at {named.url}: doctor --probe asks what its server does" in ran.out
    assert cli("doctor", "--json").json["server"] is None
    assert named.requests == []


def test_without_a_model_doctor_says_how_to_ask(cli):
    ran = cli("doctor", "--probe")
    assert ran.code == 0
    assert "no model is named: doctor --probe --model NAME --base-url URL asks what a server does" in ran.out


def test_what_a_server_does_is_asked_once_and_kept(cli, home, named):
    ran = cli("doctor", "--probe")
    assert ran.code == 0
    assert f"asking fake at {named.url} what it does, by seven short requests" in ran.err
    for line in (
        "native tools                  ignored: taken, and not heeded",
        "JSON schema of a reply        kept",
        "token ids                     not given",
        "context                       4,096 tokens",
        "so calls are forced by a JSON schema, for tools are not heeded",
        "asking took 7 calls, ",
        "at no known price",
    ):
        assert line in ran.out, line
    asked = len(named.requests)
    again = cli("doctor")
    assert "so calls are forced by a JSON schema" in again.out
    assert "today; doctor --probe asks again" in again.out
    assert len(named.requests) == asked
    (text,) = kept(home)
    assert "sk-very-secret" not in text + ran.out + ran.err
    facts = cli("doctor", "--json").json["server"]
    assert {**json.loads(text), "dialect": "schema", "adaptation": facts["adaptation"]} == facts


def test_ask_heeds_what_was_found_and_says_so(cli, clubs, named):
    assert cli("doctor", "--probe", "-q").code == 0
    asked = len(named.requests)
    ran = cli(
        "ask", clubs, "Who leads the Choir?", "--method", "ark", "--agents", "1", "--no-answer", "--trace", "t.jsonl"
    )
    assert ran.code == 0
    assert "calls are forced by a JSON schema, for tools are not heeded (asked on 20" in ran.err
    assert [("tools" in body, "response_format" in body) for body in named.bodies[asked:]] == [(False, True)] * 3
    requests = cli("trace", "requests", "t.jsonl", "--json").json
    assert [request["body"] for request in requests] == named.bodies[asked:]
    replayed = cli("trace", "replay", "t.jsonl", clubs, "--json")
    assert (replayed.code, replayed.json["equal"]) == (0, replayed.json["calls"])


def test_another_model_or_server_was_not_asked(cli, named):
    assert cli("doctor", "--probe", "-q").code == 0
    assert "doctor --probe asks what" in cli("doctor", "--model", "other").out
    with SOUND.serve() as other:
        assert "doctor --probe asks what" in cli("doctor", "--base-url", other.url).out


def test_a_mode_that_is_set_is_what_doctor_tells(cli, named, users_file):
    users_file.write_text('[server]\nmode = "text"\n')
    assert "so calls are asked for as [server] says: mode = text" in cli("doctor", "--probe", "-q").out


@pytest.mark.parametrize("options", [(), ("--json",)])
def test_a_server_that_fails_is_told_after_all_else(cli, home, monkeypatch, options):
    with FakeServer(lambda body, before: Answer(status=401)) as server:
        ran = cli("doctor", "--probe", "--model", "fake", "--base-url", server.url, *options)
    assert ran.code == 1
    assert ran.err.count("error:") == 1
    assert "does not accept the API key" in ran.err
    assert "extra" in ran.out
    assert kept(home) == []
    if options:
        assert "does not accept the API key" in ran.json["server"]["error"]


def test_what_cannot_be_kept_is_told_and_shown(cli, home, named):
    (home.parent / "cache").mkdir(exist_ok=True)
    (home.parent / "cache" / "servers").write_text("a file stands here")
    ran = cli("doctor", "--probe")
    assert ran.code == 0
    assert "it cannot be kept for later" in ran.err
    assert "so calls are forced by a JSON schema" in ran.out


def test_a_model_in_a_file_is_asked_too(cli, home, server, monkeypatch):
    install_engine(monkeypatch, home / "engine", server.url)
    write_gguf(home / "small.gguf")
    ran = cli("doctor", "--probe", "--model", "local:small.gguf")
    assert ran.code == 0
    assert "local:small.gguf at local, asked on " in ran.out
    assert "so calls are forced by a JSON schema" in ran.out
    (home / "small.card.json").write_text('{"dialect": "qwen"}')
    assert "so its card names the dialect qwen" in cli("doctor", "--model", "local:small.gguf").out
    (home / "small.gguf").unlink()
    gone = cli("doctor", "--model", "local:small.gguf")
    assert gone.code == 2
    assert "error: small.gguf does not exist" in gone.err


def test_ask_by_a_model_in_a_file(cli, home, clubs, server, monkeypatch):
    install_engine(monkeypatch, home / "engine", server.url)
    write_gguf(home / "small.gguf")
    ran = cli(
        "ask",
        clubs,
        "Who leads the Choir?",
        "--model",
        "local:small.gguf",
        "--method",
        "ark",
        "--agents",
        "1",
        "--json",
    )
    assert ran.code == 0
    assert [hit["id"] for hit in ran.json["hits"]] == ["ann"]
    assert ran.json["method"] == "ark"
    assert ran.json["usage"]["usd"] == 0.0
    assert any("calls are forced by a JSON schema" in note for note in ran.json["notes"])
