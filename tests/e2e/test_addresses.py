"""Graphs at an address: any server of files, faults and lies of one, and a real S3 server where there is one."""

import json
import os
import resource
import subprocess
import sys
import time
from contextlib import closing
from dataclasses import replace
from pathlib import Path

import pytest

pytest.importorskip("obstore", reason="needs the extra s3")

from fakes.inside import inside
from fakes.stores import KEYS, FileServer, PlainStore
from orienteer import Graph, Retriever
from orienteer.connect import Content, address_of, objects_at, push_graph
from orienteer.errors import BadOption, GraphBusy, StoreFailed
from orienteer.graph import POINTER, read_pointer
from orienteer.ingest import demo_records, drop_orphans


@pytest.fixture
def published(tmp_path):
    """Give a server of a folder in which the graph `languages` lies, as a copy of a pushed one does."""
    path = tmp_path / "site" / "languages"
    nodes, edges = demo_records()
    Graph.from_records(nodes, edges, path=path)
    server = FileServer(tmp_path / "site")
    yield server
    server.close()


def _files(folder):
    return [path for path in folder.rglob("*") if path.is_file() and path.name != ".lock"]


def _copy(home):
    return next((Path(os.environ["ORIENTEER_CACHE"]) / "graphs").iterdir())


def _publish(server, note):
    """Publish the next generation: one more property, all else as before."""
    nodes, edges = demo_records()
    nodes = [replace(node, properties={**node.properties, "note": note}) for node in nodes]
    return Graph.from_records(nodes, edges, path=server.folder / "languages", force=True).generation


def test_graph_at_a_server_of_files_is_that_graph(published, home):
    address = f"{published.url}/languages"
    local, far = Graph.open(published.folder / "languages"), Graph.open(address)
    assert list(far.node_ids()) == list(local.node_ids())
    assert far.search("borrow checker", 9) == local.search("borrow checker", 9)
    assert published.asked()[0] == f"/languages/{POINTER}"
    hits = Retriever(address).search("Which language did Matz design?").hits
    assert hits[0].name == "Ruby"
    assert published.asked() == [f"/languages/{POINTER}"]  # one request that says: as it was


@pytest.mark.parametrize("has_tags", [True, False])
def test_next_generation_costs_only_what_is_new(published, home, has_tags):
    published.has_tags = has_tags
    address = f"{published.url}/languages"
    before = Graph.open(address)
    published.asked()
    generation = _publish(published, "new")
    after = Graph.open(address)
    asked = published.asked()
    assert after.generation == generation != before.generation
    assert after.node("language:rust").properties["note"] == "new"
    assert not [path for path in asked if path.endswith(("/neighbor.i4", "/id.utf8", "/text.utf8"))]
    assert before.search("borrow checker", 3) == after.search("borrow checker", 3)  # what is open stays open
    assert [folder.name for folder in (_copy(home) / "generations").iterdir()] == [generation]


def test_command_line_takes_an_address_where_it_takes_a_folder(published, cli, home):
    address = f"{published.url}/languages"
    result = cli("search", address, "borrow checker", "-k", "1", "--json")
    assert result.code == 0, result.err
    assert result.json["hits"][0]["id"] == "language:rust"
    ran = cli("info", address, "--json")
    assert ran.json["stale"] is False
    assert published.url not in json.dumps(ran.json)
    assert cli("doctor", address).code == 0
    assert cli("cache", "clear", address).out.startswith("removed 1 graph")
    assert cli("cache", "info", "--json").json["graphs"] == []


def test_copy_answers_while_the_server_is_away(published, cli, home):
    address = f"{published.url}/languages"
    assert cli("info", address).code == 0
    published.close()
    ran = cli("search", address, "borrow checker", "-k", "1")
    assert ran.code == 0
    assert ran.err.startswith(f"warning: {address} does not answer")
    assert "Rust" in ran.out
    assert cli("info", f"{published.url}/others").code == 1


def test_copy_is_no_orphan_and_no_leftover(published, home):
    Graph.open(f"{published.url}/languages")
    assert list(drop_orphans(Path(os.environ["ORIENTEER_CACHE"]))) == []
    assert (_copy(home) / POINTER).exists()


def test_damaged_copy_is_pulled_again_in_part(published, home):
    address = f"{published.url}/languages"
    Graph.open(address)
    copy = _copy(home)
    damaged = copy / "generations" / read_pointer(copy).generation / "neighbor.i4"
    damaged.write_bytes(damaged.read_bytes()[:-4])
    published.asked()
    assert len(Graph.open(address)) == 169
    fetched = [path.rpartition("/")[2] for path in published.asked()]
    assert set(fetched) == {POINTER, "manifest.json", "neighbor.i4"}


def test_two_processes_pay_once(published, home):
    program = f"from orienteer import Graph; print(len(Graph.open({published.url + '/languages'!r})))"
    started = [subprocess.Popen([sys.executable, "-c", program], stdout=subprocess.PIPE, text=True) for _ in range(3)]
    assert [process.communicate(timeout=60)[0].strip() for process in started] == ["169"] * 3
    files = [path for path in published.asked() if not path.endswith(POINTER)]
    assert len(files) == len(set(files))


def test_full_disk_leaves_nothing(published, home):
    program = f"from orienteer import Graph; Graph.open({published.url + '/languages'!r})"

    def allow_little():
        resource.setrlimit(resource.RLIMIT_FSIZE, (9_000, 9_000))

    ran = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, preexec_fn=allow_little)
    assert "File too large" in ran.stderr
    cache = Path(os.environ["ORIENTEER_CACHE"])
    assert [file for file in _files(cache) if "locks" not in file.parts] == []


def _lie(server, name, change):
    file = next(file for file in (server.folder / "languages").rglob(name))
    content = change(file.read_bytes())
    server.instead[f"/{name}"] = (content, len(content))


LIES = {
    "a byte": ("neighbor.i4", lambda text: text[:-1] + bytes([text[-1] ^ 1])),
    "a byte of a text": ("text.utf8", lambda text: b"X" + text[1:]),
    "shorter": ("neighbor.i4", lambda text: text[:-4]),
    "longer": ("neighbor.i4", lambda text: text + b"0" * 5_000_000),
    "empty": ("id.utf8", lambda text: b""),
    "a byte of the manifest": ("manifest.json", lambda text: text + b" "),
    "no pointer": (POINTER, lambda text: b"<html>hello</html>"),
    "an endless pointer": (POINTER, lambda text: b" " * 3_000_000),
    "a folder above": (POINTER, lambda text: _pointed(text, generation="../../../../tmp/x")),
    "a generation with a line": (POINTER, lambda text: _pointed(text, generation="20261126T115735-fd17a6cf\n")),
    "a format to come": (POINTER, lambda text: _pointed(text, format=99)),
    "deep": (POINTER, lambda text: b"[" * 200_000),
    "a piece elsewhere": (POINTER, lambda text: _pointed(text, pieces={"vectors": {"folder": "../x-00000000"}})),
    "a piece without hashes": (POINTER, lambda text: _pointed(text, pieces={"vectors": "vectors-00000000"})),
}


def _pointed(text, **changes):
    return json.dumps({**json.loads(text), **changes}).encode()


@pytest.mark.parametrize("lie", LIES)
def test_lie_is_one_sentence_and_leaves_nothing(published, cli, home, lie):
    name, change = LIES[lie]
    _lie(published, name, change)
    ran = cli("search", f"{published.url}/languages", "ruby")
    assert ran.code == 2, ran.err
    assert ran.err.startswith("error: ")
    assert ran.err.count("\n") == 1
    assert f"{published.url}/languages" in ran.err
    if name not in (POINTER, "manifest.json"):
        assert f"{name} is damaged (it is not what was written)" in ran.err
    cache = Path(os.environ["ORIENTEER_CACHE"])
    assert [file for file in _files(cache) if "locks" not in file.parts] == []


@pytest.mark.parametrize("number", [-1, 0, "1", True, 1.0, 1e400, None, [1]])
def test_format_that_is_no_number_of_a_format_is_damage_here_and_at_an_address(published, cli, home, number):
    _lie(published, POINTER, lambda text: _pointed(text, format=number))
    ran = cli("info", f"{published.url}/languages")
    assert (ran.code, "is damaged" in ran.err, ran.err.count("\n")) == (2, True, 1)
    here = published.folder / "languages"
    (here / POINTER).write_bytes(published.instead[f"/{POINTER}"][0])
    ran = cli("info", here)
    assert (ran.code, "is damaged" in ran.err, ran.err.count("\n")) == (2, True, 1)


PLACES = (POINTER, "manifest.json", "neighbor.i4")


@pytest.mark.parametrize(("status", "place"), [*zip((301, 302, 303, 307, 308), PLACES * 2, strict=False)])
def test_redirect_elsewhere_is_refused_and_not_asked(published, tmp_path, cli, home, status, place):
    other = FileServer(tmp_path / "site")
    for to in (f"{other.url}/languages/{POINTER}", "https://169.254.169.254/x", "//ada:hunter2@127.0.0.2/x", "file:/x"):
        published.behaving[f"/{place}"] = _moved(status, to)
        ran = cli("info", f"{published.url}/languages")
        assert ran.code == 1, ran.err
        assert "only https on the same host is followed" in ran.err
        assert "hunter2" not in ran.err
    assert other.asked() == []
    other.close()


@pytest.mark.parametrize(
    "broken", ["[", "[::1", "[127.0.0.1]", "[v1.x]", "127.0.0.1:x", "127.0.0.1:-1", "127.0.0.1:99999"]
)
@pytest.mark.parametrize("scheme", ["http", "https"])
def test_redirect_to_no_address_is_refused(published, scheme, broken):
    published.behaving[f"/{POINTER}"] = _moved(302, f"{scheme}://{broken}/x")
    source = objects_at(address_of(f"{published.url}/languages"))
    with closing(source), pytest.raises(StoreFailed, match="only https on the same host is followed"):
        source.read(POINTER, 1 << 20)


def test_endless_redirects_on_the_same_host_end(published):
    port = published.url.rpartition(":")[2]
    source = objects_at(address_of(f"{published.url}/languages"))
    published.behaving[f"/{POINTER}"] = _moved(302, f"https://127.0.0.1:{port}/x")
    with closing(source), pytest.raises(StoreFailed, match="does not answer"):  # it is asked, and speaks no TLS
        source.read(POINTER, 1 << 20)


def _moved(status, to):
    def answer(handler):
        handler.send_response(status)
        handler.send_header("Location", to)
        handler.send_header("Content-Length", "0")
        handler.end_headers()

    return answer


def _drips(begin):
    def answer(handler):
        handler.wfile.write(begin)
        while True:
            handler.wfile.write(b" ")
            time.sleep(0.05)

    return answer


@pytest.mark.parametrize(
    ("begin", "place"),
    [
        (b"HTTP/1.1 200 O", POINTER),
        (b"HTTP/1.1 200 OK\r\nX-A: ", "neighbor.i4"),
        (b"HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 200 OK\r\nX-A: ", "manifest.json"),
        *((b"HTTP/1.1 200 OK\r\nContent-Length: 100000\r\n\r\n", place) for place in PLACES),
        (b"HTTP/1.1 200 OK\r\n\r\n", "neighbor.i4"),
    ],
)
def test_store_that_drips_ends_with_a_sentence(published, cli, home, monkeypatch, begin, place):
    monkeypatch.setattr(inside(Content), "SMALL_SECONDS", 0.5)
    monkeypatch.setattr(inside(Content), "PART_SECONDS", 0.5)
    published.behaving[f"/{place}"] = _drips(begin)
    began = time.monotonic()
    ran = cli("info", f"{published.url}/languages")
    assert time.monotonic() - began < 10
    assert ran.code == 1, ran.err
    assert f"{place} comes too slowly" in ran.err
    assert ran.err.count("\n") == 1
    assert [file for file in _files(Path(os.environ["ORIENTEER_CACHE"])) if "locks" not in file.parts] == []


def test_bucket_that_drips_ends_with_a_sentence(published, cli, home, monkeypatch):
    monkeypatch.setattr(inside(Content), "SMALL_SECONDS", 0.5)
    for name, value in {**KEYS, "AWS_ENDPOINT_URL": published.url}.items():
        monkeypatch.setenv(name, value)
    head = b"HTTP/1.1 200 OK\r\nContent-Length: 9000\r\nLast-Modified: Fri, 27 Nov 2026 00:00:00 GMT\r\nETag: x\r\n\r\n"
    published.behaving[f"/{POINTER}"] = _drips(head)
    ran = cli("info", "s3://graphs/languages")
    assert (ran.code, f"{POINTER} comes too slowly" in ran.err) == (1, True), ran.err


def test_slow_line_that_goes_on_is_waited_for(published, home, monkeypatch):
    monkeypatch.setattr(inside(Content), "PART_SECONDS", 0.5)
    monkeypatch.setattr(inside(Content), "PART_BYTES", 1_000)

    def answer(handler):
        handler.wfile.write(b"HTTP/1.1 200 OK\r\nContent-Length: 8000\r\n\r\n")
        for _ in range(8):
            handler.wfile.write(b"x" * 1_000)
            time.sleep(0.1)

    published.behaving["/long"] = answer
    with closing(objects_at(address_of(f"{published.url}/languages"))) as source:
        assert sum(map(len, source.stream("long"))) == 8_000


@pytest.mark.parametrize(
    ("head", "told"),
    [
        (b"HTTP/1.1 304 Not Modified\r\n\r\n", None),
        (b"HTTP/1.1 200 OK\r\nContent-Encoding: gzip\r\n\r\n", "comes compressed"),
        (b"HTTP/1.1 206 Partial Content\r\n\r\n", "fails (206)"),
        (b"HTTP/1.1 403 Forbidden\r\n\r\n", "refuses the request (403)"),
        (b"HTTP/1.1 503 Away\r\n\r\n", "fails (503)"),
        (b"HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\n1", "does not answer"),
        (b"SSH-2.0-x\r\n", "does not answer"),
    ],
)
def test_reply_that_is_none_is_a_sentence(published, cli, home, head, told):
    for place in PLACES:
        published.behaving = {f"/{place}": lambda handler: handler.wfile.write(head)}
        ran = cli("info", f"{published.url}/languages")
        assert ran.code in (1, 2)
        assert (told or "") in ran.err
        assert ran.err.count("\n") == 1


def test_tag_of_any_bytes_is_sent_back_as_it_came(published, home):
    for _ in range(2):
        file = published.folder / "languages" / POINTER
        text = file.read_bytes()
        published.behaving[f"/{POINTER}"] = lambda handler, text=text: handler.wfile.write(
            b'HTTP/1.1 200 OK\r\nETag: "\xe9\xff"\r\nContent-Length: %d\r\n\r\n%s' % (len(text), text)
        )
        assert len(Graph.open(f"{published.url}/languages")) == 169


def test_server_that_is_away_for_a_moment_is_asked_again(published, home):
    replies = [503, 503]

    def answer(handler):
        if replies:
            handler.send_error(replies.pop())
        else:
            published.behaving.clear()
            handler.do_GET()

    published.behaving[f"/{POINTER}"] = answer
    assert len(Graph.open(f"{published.url}/languages")) == 169


def _manifest_that(server, change):
    """Have the server give out another manifest, with the hash that it then has."""
    import hashlib

    file = next((server.folder / "languages").rglob("manifest.json"))
    values = json.loads(file.read_bytes())
    change(values)
    text = json.dumps(values).encode()
    server.instead["/manifest.json"] = (text, len(text))
    _lie(server, POINTER, lambda pointer: _pointed(pointer, manifest=hashlib.sha256(text).hexdigest()))


@pytest.mark.parametrize(
    ("change", "told"),
    [
        (lambda manifest: manifest["files"]["neighbor.i4"].update(bytes=1 << 50), "bytes more, and the disk of"),
        (lambda manifest: manifest["files"]["neighbor.i4"].update(bytes=-1), "its size or its hash is invalid"),
        (lambda manifest: manifest["files"]["neighbor.i4"].update(sha256="../../x"), "its size or its hash is invalid"),
        (lambda manifest: manifest["files"].update({"../../x": {"bytes": 1, "sha256": "0" * 64}}), "is damaged"),
        (lambda manifest: manifest["files"].update({"/etc/x": {"bytes": 1, "sha256": "0" * 64}}), "is damaged"),
        (lambda manifest: manifest["files"].update({"gone.i4": {"bytes": 1, "sha256": "0" * 64}}), "is not there"),
        (
            lambda manifest: manifest["files"].update(
                {f"f{n}": {"bytes": 1, "sha256": "0" * 64} for n in range(10_001)}
            ),
            "files",
        ),
        (lambda manifest: manifest.update(generation="20000101T000000-00000000"), "it is of the generation"),
    ],
)
def test_claim_of_a_manifest_is_checked_before_it_is_believed(published, cli, home, change, told):
    _manifest_that(published, change)
    ran = cli("search", f"{published.url}/languages", "ruby")
    assert ran.code in (1, 2)
    assert told in ran.err
    assert ran.err.count("\n") == 1
    assert told == "is not there" or not [path for path in published.asked() if path.endswith(".i4")]
    assert [file for file in _files(Path(os.environ["ORIENTEER_CACHE"])) if "locks" not in file.parts] == []


@pytest.mark.parametrize(
    "address",
    [
        "s3://key:hunter2@graphs/x",
        "https://ada:hunter2@example.org/x",
        "https://example.org/x?X-Amz-Signature=hunter2",
        "https://hunter2@example.org/x",
    ],
)
def test_address_with_a_secret_is_refused_and_not_repeated(address, cli, home):
    for words in (("info", address), ("serve", address), ("push", ".", address), ("doctor", address)):
        ran = cli(*words)
        assert ran.code == 2
        assert "hunter2" not in ran.out + ran.err
    with pytest.raises(BadOption) as caught:
        Graph.open(address)
    assert "hunter2" not in str(caught.value)


@pytest.mark.parametrize(
    ("address", "told"),
    [
        ("http://example.org/x", "unprotected"),
        ("s3://graphs", "write s3://BUCKET/NAME"),
        ("s3://graphs/../x", "the part '..'"),
        ("s3://graphs/%2e%2e/x", "nothing escaped"),
        ("https://exa mple.org/x", "the part"),
        ("https://example.org:99999/x", "not an address of a server"),
    ],
)
def test_address_of_another_form_is_refused(address, told):
    with pytest.raises(BadOption, match=told):
        Retriever(address)


def test_offline_allows_this_machine_alone(published, cli, home, monkeypatch):
    monkeypatch.setenv("ORIENTEER_OFFLINE", "1")
    assert cli("info", f"{published.url}/languages").code == 0
    assert "ORIENTEER_OFFLINE is set" in cli("info", "https://example.org/x").err
    monkeypatch.delenv("AWS_ENDPOINT_URL", raising=False)
    assert "ORIENTEER_OFFLINE is set" in cli("info", "s3://graphs/x").err


def test_nothing_is_pushed_to_a_server_of_files(published, cli, home):
    ran = cli("push", published.folder / "languages", f"{published.url}/languages")
    assert (ran.code, "only read from" in ran.err) == (2, True)


@pytest.fixture
def plain(home, monkeypatch):
    """Give an S3 server without conditions and copies, which the environment names."""
    store = PlainStore()
    for name, value in {**KEYS, "AWS_ENDPOINT_URL": store.url}.items():
        monkeypatch.setenv(name, value)
    yield store
    store.close()


def test_store_without_conditions_is_asked_just_before(plain, published, home):
    address, path = address_of("s3://graphs/languages"), published.folder / "languages"
    told = []
    report = push_graph(path, address, tell=lambda stage, count: told.append((stage, count)))
    assert told[-1] == (f"pushing {report.files} files to {address}, bytes", report.bytes)
    assert told[-1][1].of == report.bytes
    generation = _publish(published, "new")
    assert push_graph(path, address, tell=_silent).copied == 0  # it sends what the store cannot copy
    assert Graph.open(str(address)).generation == generation
    nodes, edges = demo_records()
    other = Graph.from_records(nodes, edges, path=home / "other")
    _publish(published, "newer")
    once = []

    def outrun(stage, count):
        if not once:
            once.append(push_graph(other.path, address, tell=_silent))

    with pytest.raises(GraphBusy):
        push_graph(path, address, tell=outrun)
    assert Graph.open(str(address)).generation == other.generation


def test_push_removes_what_nothing_names_and_nothing_else(plain, published, home):
    address, path = address_of("s3://graphs/languages"), published.folder / "languages"
    generations = [read_pointer(path).generation]
    push_graph(path, address, tell=_silent)
    plain.files["/graphs/languages/generations/notes/mine.txt"] = b"1"
    plain.files["/graphs/languages/mine.txt"] = b"1"
    generations.append(_publish(published, "young"))
    assert push_graph(path, address, tell=_silent).removed == 0
    generations.append(_publish(published, "younger"))
    assert push_graph(path, address, tell=_silent).removed == 0
    plain.age = 2 * 60 * 60
    for number in range(2):
        generations.append(_publish(published, f"{number}"))
        push_graph(path, address, tell=_silent)
    there = {name.split("/")[4] for name in plain.files if name.startswith("/graphs/languages/generations/")}
    assert there == {*generations[-2:], "notes"}
    assert "/graphs/languages/mine.txt" in plain.files


def _silent(stage, count):
    """Take no notice."""
