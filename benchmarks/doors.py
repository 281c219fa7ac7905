"""What a request costs the server: a search beside a bare route that sends the same bytes, and `ask` at 8 connections.

    python benchmarks/doors.py GRAPH [--requests N] [--rounds N] [--busy] [--json FILE]

GRAPH is a graph directory, as Hetionet's. The bare route is one of Starlette under uvicorn, with none of ours around
it: it reads a body as JSON and returns fixed bytes, those of our first reply. Neither server logs requests, as ours
does only with `--verbose`. The same requests go to both, a round to the one and a round to the other; a figure is the
median of the rounds' ratios, so a busy machine weighs on both sides. `ask` goes to a graph of programming languages, so
that the door weighs more than the answer; a round at 1 connection, a round at 8. Processor time is what the system
counts of the server's process. `--busy` occupies every core meanwhile.
"""

from __future__ import annotations

import asyncio
import contextlib
import os
import random
import socket
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from orienteer.graph.store import Graph
from orienteer.ingest.demo import demo_records
from report import Report, Target, command_line
from serving import QUESTIONS, WORDS, Connection, K, Process, Server

MANY = 8
TARGETS = {"search": Target(4, times="bare route"), "ask, 8 connections": Target(1.3, times="1 connection")}
_BARE = """
import sys, uvicorn
from starlette.applications import Starlette
from starlette.responses import Response
from starlette.routing import Route
reply = sys.stdin.buffer.read()
async def search(request):
    await request.json()
    return Response(reply, media_type="application/json")
app = Starlette(routes=[Route("/api/search", search, methods=["POST"])])
uvicorn.run(app, fd=int(sys.argv[1]), http="h11", log_level="critical", access_log=False)
"""


@contextlib.contextmanager
def bare_route(reply: bytes) -> Iterator[tuple[Process, int]]:
    """Serve some bytes by one route of Starlette, and yield its process and port."""
    with socket.create_server(("127.0.0.1", 0)) as listener:
        listener.set_inheritable(True)
        number = listener.fileno()
        command = [sys.executable, "-c", _BARE, str(number)]
        with subprocess.Popen(command, stdin=subprocess.PIPE, pass_fds=[number]) as process:
            assert process.stdin is not None  # it was asked for
            process.stdin.write(reply)
            process.stdin.close()
            try:
                yield Process(process.pid), listener.getsockname()[1]
            finally:
                process.terminate()


@contextlib.contextmanager
def busy_cores(count: int) -> Iterator[None]:
    """Keep so many processes that do nothing but work."""
    spinning = [subprocess.Popen([sys.executable, "-c", "while True: pass"]) for _ in range(count)]
    try:
        yield
    finally:
        for process in spinning:
            process.terminate()
            process.wait()


async def load(port: int, connections: int, path: str, bodies: Sequence[dict[str, Any]]) -> None:  # Any: JSON
    """Send bodies over so many connections, each its next one when it has the last one's reply."""
    left = list(bodies)

    async def client() -> None:
        connection = Connection(port)
        while left:
            assert await connection.post(path, left.pop()) == 200
        await connection.close()

    await asyncio.gather(*(client() for _ in range(connections)))


async def body_of(port: int, path: str, body: dict[str, Any]) -> bytes:  # Any: JSON
    """Return the body of one reply."""
    connection = Connection(port)
    assert await connection.post(path, body) == 200
    await connection.close()
    return connection.reply


def cost(process: Process, port: int, connections: int, path: str, bodies: Sequence[dict[str, Any]]) -> float:
    """Return the processor time of a request, in milliseconds."""
    before = process.cpu_seconds()
    asyncio.run(load(port, connections, path, bodies))
    return 1_000 * (process.cpu_seconds() - before) / len(bodies)


def pairs(report: Report, name: str, peer: str, rounds: Sequence[tuple[float, float]]) -> None:
    """Add the round whose ratio is the median."""
    ours, theirs = sorted(rounds, key=lambda pair: pair[0] / pair[1])[len(rounds) // 2]
    report.add(name, ours, "ms", peer=peer, peer_value=theirs)


def measure(report: Report, path: Path, requests: int, rounds: int) -> None:
    """Add the rows."""
    choose = random.Random(1)
    searches = [{"query": choose.choice(WORDS), "k": K, "graph": path.resolve().name} for _ in range(requests)]
    questions = [{"question": choose.choice(QUESTIONS), "k": K, "graph": "languages"} for _ in range(requests // 2)]
    with tempfile.TemporaryDirectory() as folder, contextlib.ExitStack() as stack:
        languages = Path(folder) / "languages"
        nodes, edges = demo_records()
        Graph.from_records(nodes, edges, path=languages)
        server = Server(path, languages, logs=False)
        stack.callback(server.end)
        asyncio.run(load(server.port, MANY, "/api/search", searches[: 5 * MANY]))
        asyncio.run(load(server.port, MANY, "/api/ask", questions[: 5 * MANY]))
        reply = asyncio.run(body_of(server.port, "/api/search", searches[0]))
        bare, port = stack.enter_context(bare_route(reply))
        asyncio.run(load(port, 1, "/api/search", searches[:20]))
        beside_bare, beside_one = [], []
        for _ in range(rounds):
            of_bare = cost(bare, port, 1, "/api/search", searches)
            beside_bare.append((cost(server, server.port, 1, "/api/search", searches), of_bare))
            of_one = cost(server, server.port, 1, "/api/ask", questions)
            beside_one.append((cost(server, server.port, MANY, "/api/ask", questions), of_one))
        pairs(report, "search", "bare route", beside_bare)
        pairs(report, "ask, 8 connections", "1 connection", beside_one)
        report.add("bytes of the reply of a search", len(reply), "")
        assert not server.errors, server.errors


def main() -> None:
    """Measure, with `--busy` on a machine whose cores all work."""
    parser = command_line(__doc__)
    parser.add_argument("graph", type=Path)
    parser.add_argument("--requests", type=int, default=200)
    parser.add_argument("--rounds", type=int, default=11)
    parser.add_argument("--busy", action="store_true", help="occupy every core meanwhile")
    options = parser.parse_args()
    report = Report(TARGETS)
    with busy_cores((os.cpu_count() or 1) if options.busy else 0):
        measure(report, options.graph, options.requests, options.rounds)
    report.write(options.json)


if __name__ == "__main__":
    main()
