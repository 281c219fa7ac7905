"""`orienteer embed`, and the searches that it makes possible, against a server on loopback."""

import json
import os
import signal
import time

import pytest

from fakes import Answer, FakeServer
from fakes.embedder import WordEmbedder

WORDS = WordEmbedder()


def answer(body, _):
    vectors = WORDS.embed(body["input"], kind="document").tolist()
    return Answer(vectors=vectors, usage={"prompt_tokens": len(body["input"])})


@pytest.fixture
def server(home, monkeypatch):
    with FakeServer(answer) as fake:
        monkeypatch.setenv("ORIENTEER_EMBEDDER_URL", fake.url)
        yield fake


def test_a_graph_is_embedded_and_searched_by_meaning(cli, clubs, server):
    ran = cli("embed", clubs, "--embedder", "openai:fake", "--json")
    assert ran.code == 0, ran.err
    facts = ran.json
    assert (facts["embedder"], facts["nodes"], facts["vectors"], facts["dimension"]) == ("openai:fake", 7, 7, 48)
    assert (facts["embedded"], facts["cached"], facts["recall"], facts["exact"]) == (7, 0, 1.0, False)
    assert (facts["usage"]["calls"], facts["usage"]["prompt_tokens"], facts["usage"]["usd"]) == (1, 7, None)
    assert cli("info", clubs, "--json").json["indexes"] == ["lexical", "names", "vectors"]

    result = cli("search", clubs, "plays chess", "--mode", "dense", "-k", "2", "--json").json
    assert {hit["id"] for hit in result["hits"]} == {"ann", "bob"}
    assert (result["method"], result["usage"]["calls"], result["usage"]["prompt_tokens"]) == ("dense", 1, 1)
    assert result["hits"][0]["why"].startswith("cosine 0.")
    hybrid = cli("search", clubs, "plays chess", "--mode", "hybrid", "-t", "club", "--json").json
    assert [hit["id"] for hit in hybrid["hits"]][0] == "chess"
    assert {hit["type"] for hit in hybrid["hits"]} == {"club"}
    for mode, options in (("hybrid:1", ("weight=1",)), ("rrf", ("fusion=rrf",))):
        short = cli("search", clubs, "plays chess", "--mode", mode, "--json").json
        long = cli("ask", clubs, "plays chess", "--method", "hybrid", "--no-answer", "--json", "--set", *options).json
        assert [(hit["id"], hit["score"]) for hit in short["hits"]] == [
            (hit["id"], hit["score"]) for hit in long["hits"]
        ]
    assert cli("search", clubs, "chess", "--mode", "hybrid:2").code == 2
    near = cli("neighbors", clubs, "ann", "--query", "meets mondays", "--mode", "dense", "--json").json
    assert [hit["id"] for hit in near["hits"]] == ["chess", "choir"]
    answered = cli("ask", clubs, "plays chess", "--method", "hybrid", "--set", "fusion=rrf", "--json")
    assert answered.json["hits"][0]["id"] in ("ann", "bob")


def test_a_second_run_pays_nothing(cli, clubs, server):
    assert cli("embed", clubs, "--embedder", "openai:fake").code == 0
    calls = len(server.requests)
    ran = cli("embed", clubs, "--embedder", "openai:fake")
    assert (ran.code, len(server.requests)) == (0, calls)
    assert "0 texts embedded, 7 from the cache" in ran.out


def test_a_private_column_is_in_no_vector(cli, tables, server):
    graph = tables.parent / "graph"
    assert cli("import", tables, "-o", graph, "--private", "text").code == 0
    assert cli("embed", graph, "--embedder", "openai:fake").code == 0
    sent = json.dumps(server.bodies)
    assert "chess" in sent.casefold()
    assert "violin" not in sent


def test_without_vectors_one_line_names_the_command(cli, clubs):
    for arguments in (
        ("search", clubs, "chess", "--mode", "dense"),
        ("neighbors", clubs, "ann", "--query", "chess", "--mode", "hybrid"),
        ("ask", clubs, "chess", "--method", "hybrid"),
    ):
        ran = cli(*arguments)
        assert ran.code == 2
        assert "orienteer embed" in ran.err.splitlines()[-1]


def test_what_is_wrong_is_told_before_anything_is_embedded(cli, clubs, server, monkeypatch):
    assert cli("embed", clubs, "--embedder", "mini").code == 2
    monkeypatch.setenv("ORIENTEER_EMBEDDER_URL", "https://embeddings.example.org/v1")
    monkeypatch.setenv("ORIENTEER_OFFLINE", "1")
    ran = cli("embed", clubs, "--embedder", "openai:fake")
    assert ran.code == 2
    assert "ORIENTEER_OFFLINE" in ran.err
    assert not server.requests


def test_a_server_that_fails_ends_it_with_what_was_paid_kept(cli, home, server):
    (home / "nodes.csv").write_text("id,name\n" + "".join(f"n{at},name {at}\n" for at in range(200)), encoding="utf-8")
    assert cli("import", home / "nodes.csv", "-o", "graph").code == 0
    server.policy = lambda body, before: (
        Answer(status=400, message="no more") if "name 150" in body["input"] else answer(body, before)
    )
    ran = cli("embed", "graph", "--embedder", "openai:fake")
    assert (ran.code, ran.err.splitlines()[-1].partition(": ")[0]) == (1, "error")
    assert "no more" in ran.err
    sent = {text for body in server.bodies for text in body["input"] if "name 150" not in body["input"]}
    server.policy = answer
    report = cli("embed", "graph", "--embedder", "openai:fake", "--json").json
    assert (report["cached"], report["embedded"]) == (len(sent), 200 - len(sent))


@pytest.mark.skipif(not hasattr(signal, "SIGKILL"), reason="needs SIGKILL")
def test_after_a_kill_it_goes_on_where_it_was(cli, process, home, server, users_file):
    (home / "nodes.csv").write_text("id,name\n" + "".join(f"n{at},name {at}\n" for at in range(640)), encoding="utf-8")
    users_file.write_text("[server]\nconcurrency = 1\n", encoding="utf-8")
    assert cli("import", home / "nodes.csv", "-o", "graph").code == 0
    server.policy = lambda body, before: Answer(
        vectors=WORDS.embed(body["input"], kind="document").tolist(), delay=0.05
    )
    running = process("embed", "graph", "--embedder", "openai:fake", env=dict(os.environ))
    until = time.monotonic() + 30
    while len(server.requests) < 4 and time.monotonic() < until:
        time.sleep(0.01)
    running.send_signal(signal.SIGKILL)
    running.communicate()
    before = len(server.requests)
    assert 4 <= before < 10, "the kill did not fall into the work"
    assert cli("search", "graph", "name", "--mode", "dense").code == 2  # nothing was published
    report = cli("embed", "graph", "--embedder", "openai:fake", "--json").json
    assert report["embedded"] + report["cached"] == 640
    assert report["cached"] >= 64 * (before - 1)  # at the most the request under way was paid twice
    assert cli("search", "graph", "name 7", "--mode", "dense").code == 0


def test_a_question_of_agents_counts_what_their_searches_embed(cli, clubs, server, monkeypatch):
    assert cli("embed", clubs, "--embedder", "openai:fake").code == 0

    def chat(body, before):
        if "input" in body:
            return answer(body, before)
        if not any(message["role"] == "tool" for message in body["messages"]):
            return Answer(calls=[("search_in_graph", {"query": "plays chess", "mode": "dense"})])
        return Answer(calls=[("add_to_answer", {"nodes": ["ann"]}), ("finish", {})])

    server.policy = chat
    monkeypatch.setenv("ORIENTEER_BASE_URL", server.url)
    server.requests.clear()
    ran = cli("ask", clubs, "who plays chess?", "--method", "ark", "--model", "m", "--no-answer", "--json", "-q")
    assert ran.code == 0, ran.err
    chats = sum("input" not in body for body in server.bodies)
    assert (chats, len(server.bodies)) == (6, 7)  # three agents of two turns, and one query
    usage = ran.json["usage"]
    assert (usage["calls"], usage["prompt_tokens"], usage["usd"]) == (7, 6 * 100 + 1, None)
