"""`--ray` on two nodes of loopback and a real HTTP server: nothing lost or doubled, calls counted, a node killed."""

from __future__ import annotations

import json
import os
import shutil
import signal
import subprocess
import sys
import threading
import time
from collections import Counter
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest

from fakes import Answer, FakeServer
from orienteer.graph import Graph
from orienteer.records import Edge, Node

pytestmark = [
    pytest.mark.slow,
    pytest.mark.timeout(300),
    pytest.mark.skipif(not os.access("/proc/self/stat", os.R_OK), reason="finds processes in /proc"),
]
SECRET = "sk-of-the-node"
COUNT = 40
SEARCHES = 3
DELAY = 0.2


@pytest.fixture(scope="module")
def cluster(tmp_path_factory):
    """Give a cluster of two nodes, whose environment has the key of the model."""
    pytest.importorskip("ray", reason="needs the extra ray: two raylets are started on loopback")
    from fakes.ray_nodes import RayCluster

    folder = tmp_path_factory.mktemp("nodes")
    environment = {
        "ORIENTEER_API_KEY": SECRET,
        "ORIENTEER_CACHE": str(folder / "cache"),
        "XDG_CONFIG_HOME": str(folder / "config"),
        "PYTHONPATH": os.pathsep.join(str(Path(path).resolve()) for path in sys.path if path),
    }
    with RayCluster(environment) as started:
        started.join()
        started.cache = folder / "cache"
        yield started


@pytest.fixture
def folder(home):
    """Give a graph of novels, and a file of questions about them."""
    nodes = [Node(f"n{at}", "novel", f"Novel {at}", f"A story of ship{at} and a storm.") for at in range(8)]
    Graph.from_records(nodes, [Edge("n0", "before", "n1")], path=home / "novels")
    rows = [
        {"id": f"q{at:02}", "question": f"Which novel is of ship{at % 8}? {at}", "nodes": [f"n{at % 8}"]}
        for at in range(COUNT)
    ]
    (home / "questions.jsonl").write_text("".join(f"{json.dumps(row)}\n" for row in rows))
    return home


def policy(delay=DELAY):
    """Return a model that searches three times, then chooses what it found, and takes its time over each turn."""

    def answer(body, before):
        turns = sum(message["role"] == "assistant" for message in body["messages"])
        question = body["messages"][1]["content"].rpartition(": ")[2]
        if turns < SEARCHES:
            return Answer(calls=[("search_in_graph", {"query": f"{question} {turns}"})], delay=delay)
        return Answer(calls=[("add_to_answer", {"nodes": ["@1"]}), ("finish", {})], delay=delay)

    return answer


def asked(server):
    """Return how often each request came."""
    return Counter(json.dumps(seen.body, sort_keys=True) for seen in server.requests)


def run_of(folder, server, *more, target="run"):
    asked_of = ("eval", "run", folder / "novels", folder / "questions.jsonl", "--method", "ark agents=1")
    return (*asked_of, "-o", folder / target, "--model", "fake", "--base-url", server.url, *more)


def timeless_lines(file):
    """Return the records of a file, without what a clock has written."""

    def timeless(value):
        if isinstance(value, dict):
            return {name: timeless(part) for name, part in value.items() if name not in ("seconds", "created")}
        return [timeless(part) for part in value] if isinstance(value, list) else value

    return [json.dumps(timeless(json.loads(line)), sort_keys=True) for line in file.read_text().splitlines()]


def lines_of(run):
    """Return the records of a run's files in an order of their own."""
    names = ("results.jsonl", "trajectories.jsonl", "questions.jsonl")
    return {name: sorted(timeless_lines(run / name)) for name in names}


def finished(process, seconds=120):
    out, err = process.communicate(timeout=seconds)
    assert process.returncode == 0, err
    return out, err


def wait_until(is_so, seconds=60):
    ends = time.monotonic() + seconds
    while not is_so():
        assert time.monotonic() < ends, "it has not come to that"
        time.sleep(0.02)


def test_a_run_over_two_nodes_is_that_of_threads_and_no_key_travels(cluster, folder, cli, process):
    with FakeServer(policy(0.05)) as server:
        assert cli(*run_of(folder, server, target="here")).code == 0
        here, calls = lines_of(folder / "here"), asked(server)
        server.requests.clear()
        finished(process(*run_of(folder, server, "--ray", cluster.address), stdin=subprocess.DEVNULL))
        assert lines_of(folder / "run") == here
        assert asked(server) == calls, "each request once, and the same ones"
        assert {seen.headers["authorization"] for seen in server.requests} == {f"Bearer {SECRET}"}
    assert not (folder / "run" / "replies").exists()
    assert not [file for file in cluster.logs if SECRET.encode() in file.read_bytes()]


def test_a_node_that_is_killed_loses_nothing_and_only_calls_under_way_are_paid_again(cluster, folder, cli, process):
    with FakeServer(policy()) as server:
        assert cli(*run_of(folder, server, target="here")).code == 0
        here, calls = lines_of(folder / "here"), asked(server)
        assert calls.total() == COUNT * (SEARCHES + 1)
        server.requests.clear()
        running = process(*run_of(folder, server, "--ray", cluster.address, "--json"), stdin=subprocess.DEVNULL)
        wait_until(lambda: len(server.requests) > 2 * (SEARCHES + 1) * 8)
        cluster.nodes.pop().kill()
        out, _ = finished(running)
        assert json.loads(out), "what Ray says of the dead node is no part of the output"
        again = asked(server) - calls
        assert lines_of(folder / "run") == here
        assert not calls - asked(server)
        assert again.total() <= 8, "what one process had under way: replies that had come are found again"
        assert max(again.values(), default=0) <= 1
    cluster.join()


def test_ctrl_c_ends_the_work_on_all_nodes_and_the_same_command_goes_on(cluster, folder, cli, process):
    with FakeServer(policy()) as server:
        command = run_of(folder, server, "--ray", cluster.address)
        running = process(*command, stdin=subprocess.DEVNULL)
        wait_until(lambda: len(server.requests) > (SEARCHES + 1) * 8)
        running.send_signal(signal.SIGINT)
        _, err = running.communicate(timeout=60)
        assert running.returncode == 130, err
        calls = len(server.requests)
        time.sleep(1)
        assert len(server.requests) == calls, "no call is made after the end"
        finished(process(*command, stdin=subprocess.DEVNULL))
        assert cli(*run_of(folder, server, target="here")).code == 0
        assert lines_of(folder / "run") == lines_of(folder / "here")
        assert asked(server).most_common(1)[0][1] == 2, "once over the nodes, once here: no reply was paid twice"


def test_a_question_keeps_its_budget_wherever_it_is_asked(cluster, folder, cli, process):
    with FakeServer(policy(0.0)) as server:
        finished(
            process(*run_of(folder, server, "--ray", cluster.address, "--budget-calls", "2"), stdin=subprocess.DEVNULL)
        )
        assert len(server.requests) == 2 * COUNT
        assert cli(*run_of(folder, server, "--budget-calls", "2", target="here")).code == 0
    assert lines_of(folder / "run") == lines_of(folder / "here")


def test_calls_under_way_are_no_more_than_workers(cluster, folder, process):
    most, under_way, lock = [0], [0], threading.Lock()
    answer = policy(0.0)

    def counting(body, before):
        with lock:
            under_way[0] += 1
            most[0] = max(most[0], under_way[0])
        time.sleep(0.02)
        with lock:
            under_way[0] -= 1
        return answer(body, before)

    with FakeServer(counting) as server:
        finished(process(*run_of(folder, server, "--ray", cluster.address, "--workers", "3"), stdin=subprocess.DEVNULL))
    assert most[0] == 3


def test_methods_without_a_model_rank_over_nodes_as_here(cluster, folder, cli, process):
    command = ("eval", "run", folder / "novels", folder / "questions.jsonl", "-m", "bm25", "-m", "anchor")
    finished(process(*command, "-o", folder / "run", "--ray", cluster.address, stdin=subprocess.DEVNULL))
    assert cli(*command, "-o", folder / "here").code == 0
    assert lines_of(folder / "run") == lines_of(folder / "here")


def test_a_graph_at_an_address_is_pulled_by_the_nodes_themselves(cluster, folder, process):
    pytest.importorskip("obstore", reason="needs the extra s3")
    files = partial(SimpleHTTPRequestHandler, directory=folder)
    with ThreadingHTTPServer(("127.0.0.1", 0), files) as store, FakeServer(policy(0.01)) as server:
        threading.Thread(target=store.serve_forever, daemon=True).start()
        address = f"http://127.0.0.1:{store.server_port}/novels"
        run = ("eval", "run", address, folder / "questions.jsonl", "--method", "ark agents=1", "-o", folder / "run")
        model = ("--model", "fake", "--base-url", server.url, "--ray", cluster.address)
        finished(process(*run, *model, stdin=subprocess.DEVNULL))
        store.shutdown()
    assert len((folder / "run" / "results.jsonl").read_text().splitlines()) == COUNT
    assert [path.name for path in (cluster.cache / "graphs").iterdir() if path.name.startswith("novels-")]


def test_a_teacher_is_asked_over_nodes_as_here(cluster, folder, cli, process):
    with FakeServer(policy(0.0)) as server:
        command = (
            "train",
            "collect",
            folder / "novels",
            folder / "questions.jsonl",
            "--teacher",
            "ark agents=1",
            "-n",
            "2",
        )
        more = ("--model", "fake", "--base-url", server.url)
        finished(process(*command, *more, "-o", folder / "there", "--ray", cluster.address, stdin=subprocess.DEVNULL))
        calls = asked(server)
        server.requests.clear()
        assert cli(*command, *more, "-o", folder / "here").code == 0
        assert asked(server) == calls
    there, here = (folder / name / "novels" / "trajectories.jsonl" for name in ("there", "here"))
    assert len(there.read_text().splitlines()) == 2 * COUNT
    assert timeless_lines(there) == timeless_lines(here)


def extracting(body, before):
    """Name the boat that a text is of, as triples."""
    boat = body["messages"][-1]["content"].split()[-1].strip(".")
    entities = [{"name": name, "type": "boat", "description": ""} for name in (boat, "Ada Holm")]
    triples = [{"subject": "Ada Holm", "predicate": "sails", "object": boat}]
    return Answer(content=json.dumps({"entities": entities, "triples": triples}), delay=0.1)


def test_chunks_are_read_over_nodes_as_here_also_when_one_is_killed(cluster, folder, cli, process):
    docs = folder / "docs"
    docs.mkdir()
    for at in range(120):
        (docs / f"{at:03}.txt").write_text(f"The ferry of Ada Holm crosses the sound and meets boat{at}.")
    command = ("build", docs, "--extract", "triples", "--embedder", "none", "--model", "fake")
    with FakeServer(extracting) as server:
        running = process(
            *(*command, "--base-url", server.url, "-o", folder / "there", "--ray", cluster.address),
            stdin=subprocess.DEVNULL,
        )
        wait_until(lambda: len(server.requests) > 40)
        cluster.nodes.pop().kill()
        finished(running)
        calls = asked(server)
        assert len(calls) == 120
        assert calls.total() <= 128, "what one process had under way is asked again"
        shutil.rmtree(os.environ["ORIENTEER_CACHE"])
        assert cli(*command, "--base-url", server.url, "-o", folder / "here").code == 0
    cluster.join()
    assert content(folder / "there") == content(folder / "here")


def content(path):
    graph = Graph.open(path)
    return [graph.arrays.node_at(row) for row in range(len(graph))], sorted(map(repr, graph.iter_edges()))


def vector_of(text):
    return [1.0 + len(text) % 7, float(sum(map(ord, text)) % 11), 1.0]


def embedding(body, before):
    return Answer(vectors=[vector_of(text) for text in body["input"]], usage={"prompt_tokens": 5}, delay=0.1)


def test_nodes_of_a_graph_are_embedded_over_nodes_as_here(cluster, folder, cli, process):
    nodes = [Node(f"n{at:04}", "novel", f"Novel {at}", f"A story of ship{at}.") for at in range(1000)]
    for name in ("there", "here"):
        Graph.from_records(nodes, (), path=folder / name)
    with FakeServer(embedding) as server:
        os.environ["ORIENTEER_BASE_URL"] = server.url
        try:
            out, _ = finished(
                process(
                    *("embed", folder / "there", "--embedder", "openai:e", "--json", "--ray", cluster.address),
                    stdin=subprocess.DEVNULL,
                )
            )
            assert {seen.headers["authorization"] for seen in server.requests} == {f"Bearer {SECRET}"}
            shutil.rmtree(os.environ["ORIENTEER_CACHE"])
            here = cli("embed", folder / "here", "--embedder", "openai:e", "--json").json
        finally:
            del os.environ["ORIENTEER_BASE_URL"]
    there = json.loads(out)
    assert (there["embedded"], there["usage"]["calls"], there["usage"]["prompt_tokens"]) == (1000, 16, 80)
    assert {**there, "seconds": 0, "usage": 0} == {**here, "seconds": 0, "usage": 0}
    halves = [next((folder / name).rglob("half*")).read_bytes() for name in ("there", "here")]
    assert halves[0] == halves[1]


def test_what_a_node_lacks_is_told_with_its_name(cluster, folder, process):
    elsewhere = Path("/proc/self/cwd/novels")  # a path that is another one in every process
    with FakeServer(policy(0.0)) as server:
        command = [elsewhere if part == folder / "novels" else part for part in run_of(folder, server)]
        ran = process(*command, "--ray", cluster.address, stdin=subprocess.DEVNULL)
        _, err = ran.communicate(timeout=60)
        assert (ran.returncode, server.requests) == (2, [])
    assert "/proc/self/cwd/novels" in err
    assert "on the node " in err
    assert "must be there, by the same path, on every node" in err
    assert "Traceback" not in err


def test_no_process_is_left_after_a_command(cluster, folder, process):
    with FakeServer(policy(0.0)) as server:
        finished(process(*run_of(folder, server, "--ray", cluster.address), stdin=subprocess.DEVNULL))

    def names():
        living = [number for node in cluster.nodes for number in node.processes]
        return [Path(f"/proc/{number}/cmdline").read_text() for number in living if Path(f"/proc/{number}").exists()]

    wait_until(lambda: not [name for name in names() if "NodeProcess" in name or "ReplyKeeper" in name])
