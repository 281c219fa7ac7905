"""What only a process of its own shows: how `serve` and `open` begin and end, and what they write."""

import json
import os
import shutil
import signal
import socket
import subprocess
import sys
import threading
import time
import urllib.error
import urllib.request
from pathlib import Path

import pytest

pytest.importorskip("fastapi", reason="needs the extra serve")
if sys.platform == "win32":
    pytest.skip("signals as POSIX has them", allow_module_level=True)

from fakes import Answer, FakeServer
from fakes.http_site import events_of
from fakes.inside import inside
from orienteer.serve import listening_socket, main, serve_command


class Process:
    """A command of ours that serves, and where."""

    def __init__(self, *words, folder, **environment):
        set_before = {name: value for name, value in os.environ.items() if not name.startswith(("ORIENTEER", "OPENAI"))}
        settings = {
            "ORIENTEER_CACHE": str(folder / "cache"),
            "ORIENTEER_VECTORS": "off",
            "XDG_CONFIG_HOME": str(folder),
        }
        self.popen = subprocess.Popen(
            [sys.executable, "-X", "dev", "-m", "orienteer", *map(str, words)],
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            cwd=folder,
            env={**set_before, **settings, **environment},
        )
        self.lines = []
        self._reading = threading.Thread(target=self._read)
        self._reading.start()

    def _read(self):
        for line in self.popen.stderr:
            self.lines.append(line)

    @property
    def url(self):
        end = time.monotonic() + 60
        while time.monotonic() < end:
            for line in list(self.lines):
                if line.startswith("serving "):
                    return line.split(" at ")[1].split()[0]
            assert self.popen.poll() is None, "".join(self.lines)
            time.sleep(0.02)
        raise AssertionError("".join(self.lines))

    def ask(self, path, values=None, **headers):
        body = None if values is None else json.dumps(values).encode()
        sent = {"content-type": "application/json", **headers}
        return urllib.request.urlopen(urllib.request.Request(self.url + path, body, sent), timeout=30)

    def end(self, number=signal.SIGTERM):
        if self.popen.poll() is None:
            self.popen.send_signal(number)
        code = self.popen.wait(30)
        self._reading.join()
        out = self.popen.stdout.read()
        self.popen.stdout.close()
        self.popen.stderr.close()
        return code, out, "".join(self.lines)


@pytest.fixture
def run(tmp_path):
    """Give a function that starts a command which serves; all are ended after the test."""
    running = []

    def start(*words, **environment):
        running.append(Process(*words, folder=tmp_path, **environment))
        return running[-1]

    yield start
    for process in running:
        if not process.popen.stdout.closed:
            process.popen.kill()
            process.end()


def test_a_server_ends_by_sigterm_and_writes_no_question(run, languages):
    process = run("serve", languages.path, "--port", 0)
    question = {"question": "Who designed Python?", "k": 1}
    assert json.load(process.ask("/api/ask", question))["answer"] == "Guido van Rossum"
    assert json.load(process.ask("/ready")) == {"status": "ready"}
    with pytest.raises(urllib.error.HTTPError) as refused:
        process.ask("/api/node?id=secret-id")
    refused.value.close()
    code, out, err = process.end()
    assert code == -signal.SIGTERM
    assert out == ""
    assert "POST /api/ask 200" in err
    assert not any(word in err for word in ("designed", "secret-id", "Traceback", "Warning"))


def test_a_stream_under_way_ends_in_order_and_new_ones_are_refused(run, languages):
    said = [
        Answer(calls=[("search_in_graph", {"query": "Python"})], delay=0.4),
        Answer(calls=[("add_to_answer", {"nodes": ["person:guido-van-rossum"], "reasoning": "x"})], delay=0.4),
        Answer(calls=[("finish", {})], delay=0.4),
        Answer(content="Answer: Guido van Rossum", delay=0.2),
    ]

    def policy(body, before):
        turns = sum(message["role"] == "assistant" for message in body["messages"])
        return said[min(turns, 2)] if body.get("tools") else said[3]

    with FakeServer(policy) as model:
        process = run("serve", languages.path, "--port", 0, "--model", "fake", "--base-url", model.url)
        ask = {"question": "Who designed Python?", "method": "ark", "k": 2}
        with process.ask("/api/ask", ask, accept="text/event-stream") as stream:
            lines = iter(stream.readline, b"")
            events = events_of(lines)
            assert next(events)["event"] == "begin"
            assert next(events)["event"] == "step"
            process.popen.send_signal(signal.SIGTERM)
            time.sleep(0.3)
            with pytest.raises(urllib.error.URLError):
                process.ask("/health")
            assert [event["event"] for event in events][-1] == "done"
        code, _, err = process.end()
        assert code == -signal.SIGTERM
        assert "Traceback" not in err


def test_control_c_ends_it_as_it_ends_every_command(run, languages):
    process = run("serve", languages.path, "--port", 0)
    process.ask("/health").close()
    code, out, err = process.end(signal.SIGINT)
    assert (code, out) == (130, "")
    assert "Traceback" not in err


@pytest.mark.skipif(shutil.which("curl") is None, reason="curl is not installed")
def test_curl_asks(run, languages):
    process = run("serve", "--name", f"tongues={languages.path}", "--port", 0, "--cypher")
    command = ["curl", "-sS", f"{process.url}/api/search", "--json", '{"query": "borrow checker", "k": 1}']
    told = json.loads(subprocess.run(command, capture_output=True, check=True).stdout)
    assert told["hits"][0]["name"] == "Rust"
    listed = json.loads(subprocess.run(["curl", "-sS", f"{process.url}/api/graphs"], capture_output=True).stdout)
    assert [graph["name"] for graph in listed["graphs"]] == ["tongues"]
    assert listed["has_cypher"]
    stream = ["curl", "-sSN", f"{process.url}/api/ask", "-H", "accept: text/event-stream"]
    stream += ["--json", '{"question": "Who designed Python?"}']
    lines = subprocess.run(stream, capture_output=True, check=True, text=True).stdout.splitlines()
    assert [line for line in lines if line.startswith("event: ")][-1] == "event: done"


def test_open_serves_a_folder_while_it_is_read_and_opens_the_browser(run, tmp_path):
    folder = tmp_path / "notes"
    folder.mkdir()
    for number in range(5):
        (folder / f"note-{number}.md").write_text(f"# Note {number}\n\nThe ferry leaves at {number} o'clock.\n")
    seen = tmp_path / "address"
    script = tmp_path / "browser.py"
    script.write_text("import sys; open(sys.argv[1], 'w').write(sys.argv[2])")
    process = run("open", folder, BROWSER=f"{sys.executable} {script} {seen} %s")
    assert json.load(process.ask("/health")) == {"status": "ok"}
    end = time.monotonic() + 60
    while True:
        try:
            process.ask("/ready").close()
            break
        except urllib.error.HTTPError as refused:
            refused.close()
            assert time.monotonic() < end
            time.sleep(0.05)
    result = json.load(process.ask("/api/search", {"query": "ferry leaves at 3"}))
    assert result["hits"][0]["source"]["file"] == "note-3.md"
    assert json.load(process.ask("/api/graphs"))["graphs"][0]["name"] == "notes"
    while not (seen.exists() and seen.read_text()):
        assert time.monotonic() < end
        time.sleep(0.05)
    assert seen.read_text().rstrip("/") == process.url
    code, _, err = process.end()
    assert code == -signal.SIGTERM
    assert "is being read: until that is done, answers say from how much of it they come" in err
    assert "made in the cache at " in err
    assert "Traceback" not in err


# -------------------------------------------------------------------------------------- what is refused at the start


@pytest.fixture
def refused(capsys, monkeypatch, tmp_path):
    """Give a function that returns the one line of a command that does not begin."""
    monkeypatch.setenv("ORIENTEER_CACHE", str(tmp_path / "cache"))

    def run(*words):
        assert main(list(map(str, words))) == 2
        out, err = capsys.readouterr()
        assert out == ""
        return err

    return run


def test_what_cannot_be_served_is_refused_in_a_line(refused, languages, small, tmp_path, monkeypatch):
    assert "no graph is named: give the directory of one" in refused("serve")
    assert "does not exist" in refused("serve", tmp_path / "nothing", "-q")
    assert "does not exist" in refused("open", tmp_path / "nothing", "-q")
    assert "write NAME=DIR" in refused("serve", "--name", "x")
    twice = refused("serve", languages.path, "--name", f"languages={small.path}")
    assert "are both called 'languages': name one with --name NAME=" in twice
    assert "opens the server to others: set ORIENTEER_SERVE_KEYS" in refused(
        "serve", languages.path, "--host", "0.0.0.0", "--port", 0
    )
    notes = tmp_path / "notes"
    notes.mkdir()
    assert "no document in" in refused("serve", notes, "-q")
    (notes / "one.md").write_text("# One\n\nIt is one.\n")
    assert "opens the server to others" in refused("serve", notes, "--host", "0.0.0.0", "--port", 0)
    assert not list((tmp_path / "cache" / "graphs").iterdir())  # nothing was begun
    monkeypatch.setenv("ORIENTEER_SERVE_KEYS", "tooshort-key")
    told = refused("serve", languages.path, "--host", "0.0.0.0", "--port", 0)
    assert "has 12 characters: it must have 16 or more" in told
    assert "tooshort-key" not in told


def test_the_settings_say_who_may_ask_and_by_which_methods(run, languages, tmp_path):
    folder = tmp_path / "orienteer"  # of the person's own settings
    folder.mkdir()
    (folder / "orienteer.toml").write_text(
        '[serve]\nport = 0\nkeys = ["a-key-of-the-settings"]\nmethods = ["auto", "bm25"]\nallow_hosts = ["box.local"]\n'
    )
    process = run("serve", languages.path)
    with pytest.raises(urllib.error.HTTPError, match="401") as refused:
        process.ask("/api/graphs")
    refused.value.close()
    key = {"authorization": "Bearer a-key-of-the-settings", "host": "box.local"}
    assert json.load(process.ask("/api/graphs", **key))["methods"] == ["auto", "bm25"]
    process.end()
    again = run("serve", languages.path, ORIENTEER_SERVE_KEYS="another-key-of-the-run,x-and-a-second-one")
    told = again.ask("/api/graphs", authorization="Bearer x-and-a-second-one")
    assert told.status == 200
    told.close()


def test_the_key_of_a_server_is_shown_nowhere(tmp_path, monkeypatch, capsys):
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path))
    (tmp_path / "orienteer").mkdir()
    (tmp_path / "orienteer" / "orienteer.toml").write_text('[serve]\nkeys = ["a-secret-of-the-server"]\nport = 70000\n')
    monkeypatch.chdir(tmp_path)
    assert main(["doctor"]) == 0
    assert main(["serve", "x"]) == 2
    out, err = capsys.readouterr()
    assert "[serve] port is 70000: it must be a whole number, 0 to 65,535" in err
    assert "secret" not in out + err


def test_a_folder_that_came_from_elsewhere_opens_no_server(tmp_path, monkeypatch, capsys):
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "config"))
    (tmp_path / "orienteer.toml").write_text('[serve]\nhost = "0.0.0.0"\n')
    monkeypatch.chdir(tmp_path)
    assert main(["serve", "x"]) == 2
    assert "serve cannot be set in orienteer.toml of the working directory" in capsys.readouterr().err


def test_a_reply_is_sent_at_once():
    """asyncio turns off the system's waiting for more only for sockets that name TCP; else a reply takes 40 ms."""
    with listening_socket("127.0.0.1", 0) as listener:
        assert listener.proto == socket.IPPROTO_TCP


def test_a_port_that_is_taken_is_told(refused, languages):
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        assert "take another with --port" in refused("serve", languages.path, "--port", port, "-q")


def test_without_the_extra_the_command_says_how_to_get_it(refused, languages, monkeypatch):
    monkeypatch.setattr(inside(serve_command), "find_spec", lambda name: None)
    told = refused("serve", languages.path)
    assert told == "error: serving over HTTP needs the extra 'serve': pip install 'orienteer[serve]'\n"


def test_the_command_line_loads_no_server(languages):
    arguments = ["search", str(languages.path), "rust", "-q"]
    code = (
        "import sys; from orienteer.serve import main; "
        f"main({arguments!r}); print([name for name in ('fastapi', 'uvicorn', 'starlette') if name in sys.modules])"
    )
    ran = subprocess.run([sys.executable, "-c", code], capture_output=True, check=True, text=True)
    assert ran.stdout.splitlines()[-1] == "[]"


# ------------------------------------------------------------------------------------------------------ several workers


def children(process):
    """Return the processes that a process has started."""
    listed = Path(f"/proc/{process.popen.pid}/task/{process.popen.pid}/children")
    if not listed.exists():
        pytest.skip("this system does not list the children of a process")
    return [int(pid) for pid in listed.read_text().split()]


def is_there(pid):
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z"


def until(condition):
    end = time.monotonic() + 20
    while not condition():
        assert time.monotonic() < end
        time.sleep(0.02)


def test_a_worker_that_dies_is_started_again_and_all_end_in_order(run, languages):
    process = run("serve", languages.path, "--port", "0", "--workers", "2", "-v")
    assert process.ask("/ready").status == 200
    before = children(process)
    assert len(before) == 2
    os.kill(before[0], signal.SIGKILL)
    until(lambda: len(children(process)) == 2 and before[0] not in children(process))
    for _ in range(6):
        assert json.load(process.ask("/api/search", {"query": "Python", "k": 1}))["hits"][0]["name"] == "Python"
    with pytest.raises(urllib.error.HTTPError, match="404"):
        process.ask("/metrics")
    assert_a_session_is_that_of_all(process)
    workers = children(process)
    code, _, told = process.end()
    assert code == -signal.SIGTERM
    assert "a worker has ended (SIGKILL): another is started" in told
    assert not any(map(is_there, workers))


def assert_a_session_is_that_of_all(process):
    """Call a tool on a new connection each time, in one session of an agent."""
    pytest.importorskip("mcp", reason="the extra mcp is not installed")
    forms = {"accept": "application/json, text/event-stream"}
    client = {"protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": {"name": "a test", "version": "1"}}
    begun = process.ask("/mcp", {"jsonrpc": "2.0", "id": 0, "method": "initialize", "params": client}, **forms)
    session = {"mcp-session-id": begun.headers["mcp-session-id"]}
    for number in range(1, 13):
        call = {"jsonrpc": "2.0", "id": number, "method": "tools/call", "params": {"name": "schema", "arguments": {}}}
        with process.ask("/mcp", call, **forms, **session) as reply:
            assert b"node types" in reply.read()


def test_workers_end_when_whoever_started_them_is_gone(run, languages):
    process = run("serve", languages.path, "--port", "0", "--workers", "2")
    assert process.ask("/ready").status == 200
    workers = children(process)
    process.end(signal.SIGKILL)
    until(lambda: not any(map(is_there, workers)))


def test_workers_are_not_for_what_is_still_to_be_made(tmp_path, capsys):
    (tmp_path / "notes").mkdir()
    (tmp_path / "notes" / "a.md").write_text("# A\n\nText.\n")
    assert main(["serve", str(tmp_path / "notes"), "--workers", "2"]) == 2
    assert "is not a graph yet, and several workers serve only finished graphs" in capsys.readouterr().err
