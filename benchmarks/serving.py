"""The server over HTTP: when it is ready, searches a second and p99 beside direct calls, and a soak.

    python benchmarks/serving.py GRAPH [--requests N] [--soak MINUTES] [--json FILE]

GRAPH is a graph directory, as Hetionet's. Client and server share the machine, a process each. Connections are kept
alive and each sends its next search when it has the last one's reply. The server's processor time a search is what the
system counts of its process, so a busy machine does not distort it.

The soak mixes 16 clients (searches, questions, streams that are cut at the first step, pictures) over GRAPH and a small
graph that is published anew every 20 s; questions of `ark` go to a model of the script's own, which takes 50 ms a call.
Any reply but 200 and 503 is a failure. Memory, descriptors and threads are read of the server's process: after a warm
minute, and when all clients have left.
"""

from __future__ import annotations

import asyncio
import contextlib
import json
import os
import random
import re
import signal
import subprocess
import sys
import tempfile
import threading
import time
from collections import Counter
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from orienteer.graph.store import Graph
from orienteer.ingest.demo import demo_records
from orienteer.serve.views import pages
from report import Report, Target, command_line
from scripted import served

ASKED = json.loads((Path(__file__).parent / "data" / "serving.json").read_text(encoding="utf-8"))
WORDS, QUESTIONS = ASKED["searches"], ASKED["questions"]
K = 10
CONNECTIONS = (1, 8, 32)
CLIENTS = 16
RELOAD_SECONDS = 20.0
WARM_SECONDS = 60.0
MODEL_SECONDS = 0.05
MEGABYTE = 1 << 20
TARGETS = {
    "ready after": Target(2_000),
    "search, 8 connections, p99": Target(25),
    "processor time of a search, server": Target(0.8),
    "soak, failed requests": Target(0),
    "soak, growth of memory": Target(10),
    "soak, descriptors left over": Target(0),
    "soak, threads left over": Target(0),
}


# ----------------------------------------------------------------------------------------------------------- processes


class Process:
    """A process, and what the system says of it."""

    def __init__(self, number: int) -> None:
        self._place = Path("/proc") / str(number)

    def cpu_seconds(self) -> float:
        """Return the processor time so far."""
        user, system = (self._place / "stat").read_text().rpartition(")")[2].split()[11:13]
        return (int(user) + int(system)) / os.sysconf("SC_CLK_TCK")

    def state(self) -> State:
        """Return memory, descriptors and threads as they are."""
        status = (self._place / "status").read_text()
        kept = next(int(line.split()[1]) for line in status.splitlines() if line.startswith("RssAnon"))
        return State(
            kept * 1024, len(list((self._place / "fd").iterdir())), len(list((self._place / "task").iterdir()))
        )


class Server(Process):
    """Our server in a process of its own."""

    def __init__(self, *words: object, logs: bool = True) -> None:
        options = ["--port", "0", *(["--verbose"] if logs else [])]
        command = [sys.executable, "-m", "orienteer", "serve", *map(str, words), *options]
        began = time.perf_counter()
        self._process = subprocess.Popen(command, stderr=subprocess.PIPE, stdout=subprocess.DEVNULL, text=True)
        assert self._process.stderr is not None  # it was asked for
        line = next(line for line in self._process.stderr if line.startswith("serving "))
        self.ready_seconds = time.perf_counter() - began
        self.port = int(re.findall(r":(\d+)\b", line)[0])
        self.errors: list[str] = []
        threading.Thread(target=self._drain, args=(self._process.stderr,), daemon=True).start()
        super().__init__(self._process.pid)

    def _drain(self, lines: Any) -> None:  # Any: a stream of text
        for line in lines:
            if not line.startswith("orienteer.serve.http.guard:") and " is at generation " not in line:
                self.errors.append(line)

    def end(self) -> None:
        """End it in order."""
        self._process.send_signal(signal.SIGTERM)
        self._process.wait(30)


class State(NamedTuple):
    """What a process holds."""

    memory: int
    """Bytes that are its own: mapped files of graphs come and go with the system."""
    descriptors: int
    threads: int


def answer(body: Mapping[str, Any]) -> str | Mapping[str, Any]:  # Any: JSON
    """Search once, add what was seen, and end, as a model would that takes its time; without tools, answer."""
    time.sleep(MODEL_SECONDS)
    turns = sum(message["role"] == "assistant" for message in body["messages"])
    calls: tuple[Mapping[str, Any], ...] = (  # Any: JSON
        {"name": "search_in_graph", "arguments": {"query": "Python"}},
        {"name": "add_to_answer", "arguments": {"nodes": ["person:guido-van-rossum"], "reasoning": "its designer"}},
        {"name": "finish", "arguments": {}},
    )
    return calls[min(turns, 2)] if body.get("tools") else "Answer: Guido van Rossum"


# -------------------------------------------------------------------------------------------------------------- clients


class Connection:
    """A connection that is kept alive."""

    reply = b""
    """The last body that was read whole."""

    def __init__(self, port: int) -> None:
        self._port = port
        self._streams: tuple[asyncio.StreamReader, asyncio.StreamWriter] | None = None

    async def post(self, path: str, values: dict[str, Any], *, cut_after: bytes | None = None) -> int:  # Any: JSON
        """Return the status of a reply that was read whole, or, with `cut_after`, up to these bytes and cut off."""
        if self._streams is None:
            self._streams = await asyncio.open_connection("127.0.0.1", self._port)
        reader, writer = self._streams
        body = json.dumps(values).encode()
        accept = b"" if cut_after is None else b"accept: text/event-stream\r\n"
        head = f"POST {path} HTTP/1.1\r\nhost: 127.0.0.1\r\ncontent-type: application/json\r\n".encode() + accept
        writer.write(head + f"content-length: {len(body)}\r\n\r\n".encode() + body)
        top = (await reader.readuntil(b"\r\n\r\n")).lower()
        status = int(top.split()[1])
        if cut_after is not None and status == 200:
            with contextlib.suppress(asyncio.IncompleteReadError):  # it ended before
                await reader.readuntil(cut_after)
            await self.close()
        else:
            self.reply = await reader.readexactly(int(top.split(b"content-length:")[1].split(b"\r\n")[0]))
        return status

    async def close(self) -> None:
        """Hang up."""
        if self._streams is not None:
            self._streams[1].close()
            with contextlib.suppress(OSError):
                await self._streams[1].wait_closed()
            self._streams = None


async def search_load(
    port: int, connections: int, requests: int, graph: str, queries: Sequence[str] = WORDS
) -> list[float]:
    """Return the seconds of each search, over so many connections, and how long all of them took, last."""
    seconds: list[float] = []
    choose = random.Random(1)

    async def client() -> None:
        connection = Connection(port)
        for _ in range(requests // connections):
            began = time.perf_counter()
            body = {"query": choose.choice(queries), "k": K, "graph": graph}
            assert await connection.post("/api/search", body) == 200
            seconds.append(time.perf_counter() - began)
        await connection.close()

    began = time.perf_counter()
    await asyncio.gather(*(client() for _ in range(connections)))
    return [*seconds, time.perf_counter() - began]


def direct(graph: Graph, requests: int) -> list[float]:
    """Return the same of the same calls in this process, one after another, written as JSON."""
    seconds = []
    choose = random.Random(1)
    searcher = pages.searcher(graph)
    began = time.perf_counter()
    for _ in range(requests):
        at = time.perf_counter()
        pages.search(searcher, choose.choice(WORDS), K).model_dump_json()
        seconds.append(time.perf_counter() - at)
    return [*sorted(seconds), time.perf_counter() - began]


def measure(report: Report, path: Path, requests: int) -> None:
    """Add the rows of searches."""
    graph = Graph.open(path)
    direct(graph, 50)
    before = time.process_time()
    *alone, whole = direct(graph, requests)
    direct_cpu = (time.process_time() - before) * 1_000 / requests
    server = Server(path)
    try:
        report.add("ready after", server.ready_seconds * 1_000, "ms")
        report.add("memory when ready", server.state().memory / MEGABYTE, "MB")
        asyncio.run(search_load(server.port, 2, 100, path.resolve().name))
        for connections in CONNECTIONS:
            at = server.cpu_seconds()
            *seconds, took = asyncio.run(search_load(server.port, connections, requests, path.resolve().name))
            seconds.sort()
            spent = (server.cpu_seconds() - at) * 1_000 / len(seconds)
            name = f"search, {connections} connection{'s' * (connections > 1)}"
            report.add(f"{name}, a second", len(seconds) / took, "", peer="direct", peer_value=requests / whole)
            for share, label in ((0.5, "p50"), (0.99, "p99")):
                ours, peer = (times[int(share * (len(times) - 1))] * 1_000 for times in (seconds, alone))
                report.add(f"{name}, {label}", ours, "ms", peer="direct", peer_value=peer)
            if connections == 1:
                report.add("processor time of a search, server", spent, "ms", peer="direct", peer_value=direct_cpu)
        assert not server.errors, server.errors
    finally:
        server.end()


# ----------------------------------------------------------------------------------------------------------------- soak


async def soaked(port: int, large: str, minutes: float) -> Counter[str]:
    """Return how often each client's each request had which status."""
    counts: Counter[str] = Counter()
    end = time.monotonic() + 60 * minutes

    async def client(number: int) -> None:
        connection, choose = Connection(port), random.Random(number)
        while time.monotonic() < end:
            kind = choose.choice(("search", "search", "search", "picture", "ask", "agent", "cut"))
            question = {"question": choose.choice(QUESTIONS), "k": 5, "graph": "languages"}
            if kind == "search":
                status = await connection.post("/api/search", {"query": choose.choice(WORDS), "graph": large})
            elif kind == "picture":
                nodes = {"nodes": ["Python", "Rust", "Ruby"], "around": 30, "graph": "languages"}
                status = await connection.post("/api/subgraph", nodes)
            elif kind == "cut":
                asked = {**question, "method": "ark"}
                status = await connection.post("/api/ask", asked, cut_after=b"event: step")
            else:
                status = await connection.post(
                    "/api/ask", {**question, "method": "ark" if kind == "agent" else "anchor"}
                )
            counts[f"{kind} {status}"] += 1
            if status == 503:
                await asyncio.sleep(0.5)
        await connection.close()

    await asyncio.gather(*(client(number) for number in range(CLIENTS)))
    return counts


def soak(report: Report, path: Path, minutes: float) -> None:
    """Add the rows of a soak."""
    with tempfile.TemporaryDirectory() as folder, served(answer) as address:
        nodes, edges = demo_records()
        languages = Path(folder) / "languages"
        Graph.from_records(nodes, edges, path=languages)
        server = Server(path, languages, "--model", "scripted", "--base-url", address)
        ended = threading.Event()

        def publish() -> None:
            while not ended.wait(RELOAD_SECONDS):
                Graph.from_records(nodes, edges, path=languages, force=True)

        try:
            asyncio.run(soaked(server.port, path.resolve().name, min(minutes, WARM_SECONDS / 60)))
            before = _settled(server)
            threading.Thread(target=publish, daemon=True).start()
            counts = asyncio.run(soaked(server.port, path.resolve().name, minutes))
            ended.set()
            after = _settled(server)
        finally:
            server.end()
        for name, number in sorted(counts.items()):
            report.add(f"soak, {name}", number, "")
        failed = sum(number for name, number in counts.items() if not name.endswith((" 200", " 503")))
        report.add("soak, failed requests", failed, "")
        report.add("soak, memory before", before.memory / MEGABYTE, "MB")
        report.add("soak, memory after", after.memory / MEGABYTE, "MB")
        report.add("soak, growth of memory", 100 * (after.memory / before.memory - 1), "%")
        report.add("soak, descriptors left over", after.descriptors - before.descriptors, "")
        report.add("soak, threads left over", after.threads - before.threads, "")
        assert not server.errors, server.errors[:20]


def _settled(server: Server) -> State:
    """Return the state once nothing is under way."""
    time.sleep(3)
    asyncio.run(search_load(server.port, 1, 5, "languages"))  # takes the last generation
    time.sleep(2)
    return server.state()


def main() -> None:
    parser = command_line(__doc__)
    parser.add_argument("graph", type=Path)
    parser.add_argument("--requests", type=int, default=2_000)
    parser.add_argument("--soak", type=float, metavar="MINUTES", default=0.0)
    options = parser.parse_args()
    report = Report(TARGETS)
    measure(report, options.graph, options.requests)
    if options.soak:
        soak(report, options.graph, options.soak)
    report.write(options.json)


if __name__ == "__main__":
    main()
