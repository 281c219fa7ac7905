"""What only a process of its own shows: exit codes, pipes that close, interruptions, standard streams."""

import json
import os
import signal
import subprocess
import sys
import threading

import pytest

from fakes import Answer, FakeServer
from orienteer.agents import StepEvent, read_trajectories
from orienteer.ingest import build_graph, import_graph
from orienteer.llm import OpenAIModel, RecordedModel, ScriptedModel, body_of, read_spoken

posix = pytest.mark.skipif(sys.platform == "win32", reason="signals and pipes as POSIX has them")


def test_json_is_all_that_is_on_standard_output(tables, process):
    ran = process("search", tables, "chess", "--json")
    out, err = ran.communicate(timeout=90)
    assert ran.returncode == 0
    assert {hit["id"] for hit in json.loads(out)["hits"]} == {"ann", "bob", "chess"}
    assert "in the cache" in err
    assert "\x1b" not in err


def test_a_search_loads_no_model_no_tables_and_no_layout(clubs):
    arguments = ("search", str(clubs), "chess", "-q")
    command = [sys.executable, "-X", "importtime", "-m", "orienteer", *arguments]
    ran = subprocess.run(command, capture_output=True, text=True, check=True)
    loaded = {line.rpartition("|")[2].strip() for line in ran.stderr.splitlines()}
    assert "Chess Club" in ran.stdout
    assert {"numpy", "orienteer.retriever"} <= loaded
    assert not loaded & {"httpx2", "rich.table", "pyarrow", "pandas", "asyncio", "tomllib"}
    ours = (OpenAIModel, RecordedModel, ScriptedModel, StepEvent, body_of, read_spoken, read_trajectories)
    assert not loaded & {name.__module__ for name in (*ours, build_graph, import_graph)}


def test_a_wrong_request_gives_one_line_and_no_traceback(clubs, process):
    ran = process("show", clubs, "Nobody")
    out, err = ran.communicate(timeout=90)
    assert (ran.returncode, out) == (2, "")
    assert err.startswith("error: No node 'Nobody'")
    assert err.count("\n") == 1


@posix
def test_a_reader_that_stops_early_ends_it_silently(home, process):
    rows = "".join(json.dumps({"id": f"n{number}", "name": f"word {number}"}) + "\n" for number in range(3000))
    (home / "nodes.jsonl").write_text(rows)
    first = process("search", "nodes.jsonl", "word", "-k", "3000", "--quiet")
    head = subprocess.run(["head", "-1"], stdin=first.stdout, capture_output=True, text=True, check=True)
    first.stdout.close()
    err = first.stderr.read()
    first.stderr.close()
    assert first.wait(30) in (0, 141)
    assert head.stdout.split() == ["rank", "name", "type", "id", "why"]
    assert err == ""


@posix
def test_an_interruption_keeps_the_trace_and_exits_with_130(clubs, home, process):
    started, release = threading.Event(), threading.Event()

    def policy(body, before):
        if any(message["role"] == "assistant" for message in body["messages"]):
            started.set()
            release.wait(10)
        return Answer(calls=[("search_in_graph", {"query": "chess"})])

    with FakeServer(policy) as server:
        ran = process(
            *("ask", clubs, "Who plays chess?", "--model", "fake", "--base-url", server.url),
            *("--method", "ark", "--agents", "1", "--trace", "trace.jsonl"),
        )
        assert started.wait(30)
        ran.send_signal(signal.SIGINT)
        out, err = ran.communicate(timeout=90)
        release.set()
    assert (ran.returncode, out) == (130, "")
    assert "Traceback" not in err
    (line,) = (home / "trace.jsonl").read_text().splitlines()
    trajectory = json.loads(line)
    assert trajectory["stopped_by"] == "interrupted"
    assert trajectory["question"]["text"] == "Who plays chess?"
    assert trajectory["steps"][0]["observations"][0]["nodes"]


@posix
def test_an_interruption_of_three_agents_keeps_all_their_steps(clubs, home, process):
    started, release = threading.Semaphore(0), threading.Event()

    def policy(body, before):
        if any(message["role"] == "assistant" for message in body["messages"]):
            started.release()
            release.wait(10)
        return Answer(calls=[("search_in_graph", {"query": "chess"})])

    with FakeServer(policy) as server:
        ran = process(
            *("ask", clubs, "Who plays chess?", "--model", "fake", "--base-url", server.url),
            *("--method", "ark", "--trace", "trace.jsonl"),
        )
        assert all(started.acquire(timeout=30) for _ in range(3))
        ran.send_signal(signal.SIGINT)
        out, err = ran.communicate(timeout=90)
        release.set()
    assert (ran.returncode, out) == (130, "")
    assert err.splitlines()[-2:] == ["the trace so far is in trace.jsonl", "interrupted"]
    trajectories = [json.loads(line) for line in (home / "trace.jsonl").read_text().splitlines()]
    assert [(trajectory["stopped_by"], len(trajectory["steps"])) for trajectory in trajectories] == [
        ("interrupted", 1)
    ] * 3
    assert sorted(path.name for path in home.iterdir()) == ["clubs", "graph", "trace.jsonl"]


@posix
@pytest.mark.parametrize("arguments", [["import", "people", "-o", "made"], ["search", "people", "word"]])
def test_an_interrupted_import_leaves_nothing(home, process, arguments):
    (home / "people").mkdir()
    rows = "".join(f"n{number},word {number}\n" for number in range(60_000))
    (home / "people" / "nodes.csv").write_text(f"id,name\n{rows}")
    ran = process(*arguments, "-v")
    while "reading nodes" not in ran.stderr.readline():
        pass
    ran.send_signal(signal.SIGINT)
    out, err = ran.communicate(timeout=90)
    assert (ran.returncode, out) == (130, "")
    assert err.splitlines()[-1] == "interrupted"
    assert "Traceback" not in err
    assert [path.name for path in home.iterdir()] == ["people"]
    cached = home.parent / "cache" / "graphs"
    assert not cached.exists() or not list(cached.iterdir())


@posix
def test_a_large_export_into_a_closed_pipe_ends_silently(home, process):
    rows = "".join(json.dumps({"id": f"n{number}", "name": f"word {number}"}) + "\n" for number in range(3000))
    (home / "nodes.jsonl").write_text(rows)
    ran = process("export", "nodes.jsonl", "--to", "graphml", "-o", "-", "--quiet")
    assert ran.stdout.readline().startswith("<?xml")
    ran.stdout.close()
    err = ran.stderr.read()
    ran.stderr.close()
    assert ran.wait(30) in (0, 141)
    assert err == ""


def test_names_of_every_script_are_printed_in_every_locale(home, process):
    (home / "nodes.jsonl").write_text(json.dumps({"id": "l", "name": "Łódź 林檎"}) + "\n", encoding="utf-8")
    environment = {**os.environ, "LC_ALL": "C", "PYTHONUTF8": "0", "PYTHONCOERCECLOCALE": "0"}
    ran = process("show", "nodes.jsonl", "l", "--json", "--quiet", env=environment, encoding="utf-8")
    out, err = ran.communicate(timeout=90)
    assert (ran.returncode, err) == (0, "")
    assert json.loads(out)["name"] == "Łódź 林檎"
    assert "Łódź" in out


@posix
def test_a_narrow_terminal_shows_ids_whole(home, process):
    import pty

    node_id = "http://example.org/" + "".join(chr(ord("a") + number % 26) for number in range(80))
    (home / "nodes.jsonl").write_text(
        json.dumps({"id": node_id, "name": "many words " * 9, "text": "words " * 50}) + "\n"
    )
    controller, terminal = pty.openpty()
    environment = {**os.environ, "TERM": "xterm", "COLUMNS": "60", "NO_COLOR": "1"}
    ran = process("search", "nodes.jsonl", "words", "-q", stdout=terminal, env=environment)
    os.close(terminal)
    ran.communicate(timeout=90)
    lines = os.read(controller, 65536).decode().splitlines()
    os.close(controller)
    assert lines[0].endswith(node_id)
    assert max(map(len, lines[1:])) <= 60


@posix
def test_a_terminal_gets_a_layout_and_no_color_when_it_wants_none(clubs, process):
    import pty

    controller, terminal = pty.openpty()
    environment = {**os.environ, "TERM": "xterm", "COLUMNS": "60", "NO_COLOR": "1"}
    ran = process("search", clubs, "chess violin", stdout=terminal, env=environment)
    os.close(terminal)
    ran.communicate(timeout=90)
    shown = os.read(controller, 65536).decode()
    os.close(controller)
    assert ran.returncode == 0
    assert "\x1b" not in shown
    assert max(len(line) for line in shown.splitlines()) <= 60
