"""Whatever code tries, in either tier: this machine is afterwards as it was, and the next run works.

attacks.jsonl holds an attack a line: its name, its kind, its code, and the tiers that it is tried in. Where it got what
it wanted it prints what stands in `escaped`, a word that nobody else can know. `@NAMES@` in the code are what it aims
at: a file with a secret, servers that nobody has to call, the process that runs the tests.
"""

import json
import os
import select
import signal
import socket
import sys
import time
import uuid
from importlib.util import find_spec
from pathlib import Path

import pytest

import orienteer
from orienteer.cypher import Cypher
from orienteer.sandbox import Limits, open_interpreter
from orienteer.tools import ServedCypher

LINUX = sys.platform.startswith("linux")
TIERS = [
    pytest.param("monty", marks=pytest.mark.skipif(find_spec("pydantic_monty") is None, reason="needs pydantic-monty")),
    pytest.param("cpython", marks=pytest.mark.skipif(not LINUX, reason="the second tier needs Linux")),
]
ATTACKS = [json.loads(line) for line in Path(__file__).with_name("attacks.jsonl").read_text().splitlines()]
KINDS = list(dict.fromkeys(attack["kind"] for attack in ATTACKS))
LIMITS = Limits(seconds=0.3, memory_mb=96, output_characters=2_000, calls=50)
SLACK = 60.0  # seconds: whoever asks is not held for good, however busy the machine is
SIGNALS = (signal.SIGUSR1, signal.SIGTERM, signal.SIGHUP, signal.SIGIO) if LINUX else ()
SECRET = "sk-" + "5e3c1e7"
CANARY = "canary-" + "c0ffee"
ESCAPED = "esca" + "ped-" + "b16b00b5"
SPOILING = ("tampering", "introspection", "cypher")  # after these the next attack might fail for what they have broken
LARGEST_GROWTH = 120 << 10  # KiB that the tests' own process may have grown by, all attacks together


class Host:
    """What there is to reach, and how to tell whether it was reached."""

    def __init__(self, folder, graph):
        self.folder, self.graph = folder, graph
        self.mark = f"mark_{uuid.uuid4().hex}"
        self.canary = folder / "secret.txt"
        self.canary.write_text(CANARY)
        (folder / "canary_module.py").write_text(f"SECRET = {CANARY!r}\n")
        (folder / "link").symlink_to(self.canary)
        folder.chmod(0o777)
        self.canary.chmod(0o666)
        self.servers = [socket.socket(), socket.socket(type=socket.SOCK_DGRAM)]
        for server in self.servers:
            server.bind(("127.0.0.1", 0))
        self.names = {
            "CANARY": str(self.canary),
            "FOLDER": str(folder),
            "HOME": str(Path.home()),
            "PACKAGE": str(Path(orienteer.__file__).parent),
            "GRAPH": str(graph.path),
            "TCP": str(self.servers[0].getsockname()[1]),
            "UDP": str(self.servers[1].getsockname()[1]),
            "UNIX": str(folder / "socket"),
            "ABSTRACT": self.mark,
            "PARENT": str(os.getpid()),
            "BRACKETS": "(" * 100_000 + ")" * 100_000,
            "MINUSES": "-" * 100_000,
        }
        for place in (str(folder / "socket"), "\0" + self.mark) if LINUX else ():
            self.servers.append(socket.socket(socket.AF_UNIX))
            self.servers[-1].bind(place)
        for server in self.servers:
            if server.type == socket.SOCK_STREAM:
                server.listen()
        self.signals, self.asked = [], []
        self._before = {
            number_: signal.signal(number_, lambda number, _: self.signals.append(number)) for number_ in SIGNALS
        }
        self.begun, self.graph_begun = self.state(), self.graph_state()

    def close(self):
        for server in self.servers:
            server.close()
        for number, handler in self._before.items():
            signal.signal(number, handler)

    def functions(self):
        """Return what the code may call: Cypher as the tool has it, and a name that is found again among processes."""

        served = ServedCypher(self.graph, rows=1_000, view=None)

        def cypher(query, params=None, limit=None):
            self.asked.append(repr((query, params))[:10_000])
            served.begin(LIMITS.seconds)
            return served.cypher(query, params, limit)

        return {"cypher": cypher, self.mark: lambda: None}

    def aimed(self, code):
        for name, value in self.names.items():
            code = code.replace(f"@{name}@", value)
        return code

    def state(self):
        """Return all that an attack on files could change."""
        files = {path.name: (path.lstat().st_mode, path.lstat().st_mtime_ns) for path in self.folder.iterdir()}
        return files, self.canary.read_text()

    def graph_state(self):
        """Return what an attack by Cypher could change."""
        return (
            Cypher(self.graph)
            .query("MATCH (n) OPTIONAL MATCH (n)-[e]->() RETURN n.id, n.name, count(e) ORDER BY n.id")
            .rows
        )

    def called(self):
        """Return the servers that somebody has called, or sent to."""
        return select.select(self.servers, [], [], 0)[0]

    def processes(self):
        """Return the processes that belong to the attacked tier, or that an attack has renamed."""
        contents = {}
        for place in Path("/proc").glob("[0-9]*"):
            try:
                line = (place / "cmdline").read_bytes()
                parent = int((place / "stat").read_text().rpartition(")")[2].split()[1])
            except (OSError, ValueError):  # it has ended meanwhile
                continue
            is_monty = parent == os.getpid() and b"monty" in line
            if self.mark.encode() in line or b"orienteer-attack" in line or is_monty:
                contents[int(place.name)] = line
        return contents


@pytest.fixture(scope="module")
def host(small, tmp_path_factory):
    host_ = Host(tmp_path_factory.mktemp("host"), small)
    yield host_
    host_.close()


@pytest.fixture(autouse=True)
def secret(monkeypatch):
    monkeypatch.setenv("ORIENTEER_API_KEY", SECRET)


def test_the_corpus_is_whole():
    assert len(ATTACKS) == len({attack["name"] for attack in ATTACKS}) >= 80
    asked_for = "files links network processes environment memory time output recursion introspection cypher signals"
    assert set(asked_for.split()) <= set(KINDS)
    assert all(set(attack["tiers"]) == {"monty", "cpython"} for attack in ATTACKS)
    page = Path(__file__).parents[2] / "docs" / "explanations" / "sandbox.md"
    assert f"has {len(ATTACKS)} attacks" in page.read_text(encoding="utf-8")
    assert {"fork", "bomb of forks", "bomb of threads"} <= {attack["name"] for attack in ATTACKS}


@pytest.mark.parametrize("tier", TIERS)
@pytest.mark.parametrize("kind", KINDS)
def test_attacks(kind, tier, host, record_property):
    attacks = [attack for attack in ATTACKS if attack["kind"] == kind and tier in attack["tiers"]]
    tried = Tried(host, tier)
    try:
        for attack in attacks:
            tried.attack(attack)
    finally:
        tried.close()
    if LINUX:
        assert not host.processes(), "a process was left"
    for _ in attacks:
        record_property("corpus", f"attacks on the tier {tier}")


class Tried:
    """An interpreter that is attacked again and again."""

    def __init__(self, host, tier):
        self.host, self.tier = host, tier
        self.memory = memory()
        self.interpreter = self._fresh()

    def close(self):
        self.interpreter.close()

    def attack(self, one):
        """Let the attack run, then look at everything that it could have reached."""
        host, name = self.host, one["name"]
        host.asked.clear()
        self._told()
        begun = time.monotonic()
        ran = self.interpreter.run(host.aimed(one["code"]))
        took = time.monotonic() - begun
        output = f"{ran.printed}\n{ran.error}\n{ran.missing}\n" + "\n".join(host.asked)
        for word, what in ((ESCAPED, "escaped"), (SECRET, "read the key"), (CANARY, "read the file")):
            assert word not in output, f"{name!r} in {self.tier} {what}: {output[:1000]}"
        assert took < LIMITS.seconds + SLACK, f"{name!r} in {self.tier} took {took:.1f} s"
        assert len(ran.printed) < LIMITS.output_characters + 400, name
        assert ran.error is None or len(ran.error) < 8_000, name
        host.asked.clear()
        self._works_on(one, ran)
        assert not any("late" in request for request in host.asked), f"{name!r} in {self.tier} called after its run"
        assert host.state() == host.begun, f"{name!r} in {self.tier} changed something"
        if one["kind"] == "cypher":
            assert host.graph_state() == host.graph_begun, f"{name!r} in {self.tier} changed the graph"
        assert not host.called(), f"{name!r} in {self.tier} reached a server"
        assert host.signals == [], f"{name!r} in {self.tier} sent a signal"
        assert memory() - self.memory < LARGEST_GROWTH, f"{name!r} in {self.tier} filled the parent's memory"
        if LINUX:
            assert len(host.processes()) <= 1, f"{name!r} in {self.tier} left a process: {host.processes()}"
        if one["kind"] in SPOILING:
            self.interpreter.close()
            self.interpreter = self._fresh()

    def _works_on(self, one, ran):
        """Look whether the next run works: an attack may have left a state without `print`, or without memory."""
        after = self.interpreter.run("print(6 * 7)")
        if after.printed == "42\n" and after.error is None:
            return
        is_own = one["kind"] == "tampering" or (one["kind"] == "memory" and "MemoryError" in str(after.error))
        assert ran.is_lost or after.is_lost or is_own, f"{one['name']!r} broke {self.tier}: {after}"
        self._anew("print(6 * 7)", "42\n")

    def _told(self):
        """Tell the code what to print where it escapes; an attack may have taken the name."""
        code = f"escaped = {ESCAPED!r}\nprint(escaped)"
        if self.interpreter.run(code).printed != f"{ESCAPED}\n":
            self._anew(code, f"{ESCAPED}\n")

    def _anew(self, code, printed):
        """Run code in a new interpreter, once more where the machine was too busy to do it in time."""
        for _ in range(3):
            self.interpreter.close()
            self.interpreter = self._fresh()
            ran = self.interpreter.run(code)
            if not ran.is_lost:
                break
        assert ran.printed == printed

    def _fresh(self):
        return open_interpreter(self.tier, self.host.functions(), LIMITS)


def memory():
    """Return the most memory that this process has had, in KiB; 0 where the system does not say."""
    if sys.platform == "win32":
        return 0
    import resource

    most = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return most // 1024 if sys.platform == "darwin" else most
