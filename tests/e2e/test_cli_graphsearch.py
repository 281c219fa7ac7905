"""`--method graphsearch` as a person runs it: both forms, the trace and its replay, a server that is gone."""

import json
import re

import pytest

from fakes import FakeServer
from fakes.deep_search import EDGES, NODES, QUESTION, Script, faithful, lean


@pytest.fixture
def folder(build):
    return build(NODES, EDGES).path


@pytest.mark.parametrize(("options", "calls"), [((), 7), (("--set", "faithful=true"), 23)])
def test_ask_prints_the_short_answer_and_the_long_one_and_its_trace_replays(folder, cli, home, options, calls):
    said = {"answer": "22", "explanation": "Titian died in Venice [R2.E1].", "cited": ["S3.C1"]}
    script = Script({**faithful(answer=said), **lean(lean_answer=said)})
    with FakeServer(script.answer) as server:
        model = ("--model", "m", "--base-url", server.url)
        command = ("ask", folder, QUESTION, "--method", "graphsearch:light", *model, *options)
        ran = cli(*command, "-q", "--trace", "t.jsonl")
        result = cli(*command, "--json").json
    assert ran.code == 0
    assert ran.out.startswith(f"{result['answer']}\n\n{result['long_answer']}\n")
    assert re.fullmatch(r"22 \[c\d\]", result["answer"])
    assert result["usage"]["calls"] == calls
    assert result["long_answer"].startswith("Titian died in Venice [")
    (first, *others) = [json.loads(line) for line in (home / "t.jsonl").read_text().splitlines()]
    assert len(others) == calls
    assert all(method["method"].startswith("graphsearch:light: graphsearch-") for method in others)
    replayed = cli("trace", "replay", "t.jsonl", folder, "--json").json
    assert replayed["calls"] == replayed["equal"] == len(first["steps"]) == 6


def test_a_server_that_is_gone_is_an_error(folder, cli):
    with FakeServer(Script(lean()).answer) as server:
        url = server.url
    ran = cli("ask", folder, QUESTION, "--method", "graphsearch", "--model", "m", "--base-url", url, "-q")
    assert ran.code == 1
    assert ran.out == ""
    assert "cannot be reached" in ran.err
