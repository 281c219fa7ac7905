"""A thousand users of one graph: measured for a few, and simulated for more of them on more machines than are here.

    python benchmarks/crowd.py GRAPH [--requests N] [--scale FILE] [--json FILE]

Searches of names of the graph's own nodes go to `orienteer serve GRAPH` over 1, 8 and 32 connections that never pause.
The simulation is a closed queue: each user pauses, then asks; a request waits for the first free worker, in order. It
is given the times that one connection saw, and nothing of 8 and 32, which it must foretell. Then 100 to 10,000 users
who pause 10 s come to 1, 8 and 32 workers, a process each, on as many machines as one likes: with searches, with
questions to methods without a model (`--scale`), and as agents, whose questions are 7 calls of a model that takes 2 s a
call, for as many at once as there are, and a search after each. It is assumed that a balancer gives a request to
whoever is free, and that workers do not slow one another down.
"""

from __future__ import annotations

import asyncio
import heapq
import json
import random
from collections.abc import Mapping, Sequence
from itertools import product
from pathlib import Path
from typing import NamedTuple

import numpy as np

from orienteer.graph.store import Graph
from report import Report, command_line, write_json
from scale import METHODS
from serving import CONNECTIONS, Server, search_load

USERS, WORKERS = (100, 1_000, 10_000), (1, 8, 32)
PAUSE, MODEL_SECONDS, CALLS = 10.0, 2.0, 7
LEAST, WARM = 60.0, 4
"""Half of the simulated time: so many seconds, or so many times what it takes to serve each user once."""


class Crowd(NamedTuple):
    """Users who do the same again and again."""

    users: int
    pause: float
    """Seconds between two questions, on the average; they are drawn from an exponential distribution."""
    searches: int = 1
    """That a question needs, one after another."""
    model_seconds: float = 0.0
    """Before each search, as many at once as want to."""


class Seen(NamedTuple):
    """What the users saw."""

    rate: float
    """Questions a second."""
    p50: float
    p99: float
    """Seconds of a question."""
    busy: float
    """The share of the time that the workers worked."""


def simulate(crowd: Crowd, workers: int, times: Sequence[float], *, seed: int = 1) -> Seen:
    """Let a crowd ask `workers`, each of whose searches takes one of `times`.

    What is seen is seen in the second half of the simulated time. By then every user has waited for all others, often.
    """
    choose = random.Random(seed)
    everyone = crowd.users * crowd.searches * float(np.mean(times)) / workers  # seconds to serve each user once
    seconds = max(LEAST, WARM * everyone)

    def pause() -> float:
        return choose.expovariate(1 / crowd.pause) if crowd.pause else 0.0

    free = [0.0] * workers
    coming = [(pause() + crowd.model_seconds, user, 0, -1.0) for user in range(crowd.users)]
    heapq.heapify(coming)
    lasted: list[float] = []
    worked = 0.0
    while coming and coming[0][0] < 2 * seconds:
        now, user, search, began = heapq.heappop(coming)
        began = now - crowd.model_seconds if search == 0 else began
        takes = choose.choice(times)
        end = max(now, heapq.heappop(free)) + takes
        heapq.heappush(free, end)
        worked += max(0.0, min(end, 2 * seconds) - max(end - takes, seconds))
        if search + 1 < crowd.searches:
            heapq.heappush(coming, (end + crowd.model_seconds, user, search + 1, began))
            continue
        if seconds <= end < 2 * seconds:
            lasted.append(end - began)
        heapq.heappush(coming, (end + pause() + crowd.model_seconds, user, 0, -1.0))
    p50, p99 = np.percentile(lasted, [50, 99]).tolist() if lasted else (float("nan"), float("nan"))
    return Seen(len(lasted) / seconds, p50, p99, worked / seconds / workers)


def names(path: Path) -> list[str]:
    """Return the names of some nodes."""
    arrays = Graph.open(path).arrays
    rows = np.random.default_rng(3).integers(0, arrays.manifest.nodes, 500)
    return [arrays.names[row] for row in rows.tolist()]


def measure(report: Report, path: Path, requests: int) -> list[float]:
    """Add what was measured, and beside it what is simulated; return the times of one connection."""
    queries, graph = names(path), path.resolve().name
    server = Server(path)
    alone: list[float] = []
    try:
        asyncio.run(search_load(server.port, 2, 500, graph, queries))
        for connections in CONNECTIONS:
            *seconds, took = asyncio.run(search_load(server.port, connections, requests, graph, queries))
            alone = alone or seconds
            seen = simulate(Crowd(connections, 0), 1, alone)
            p50, p99 = np.percentile(seconds, [50, 99]).tolist()
            name = f"{connections} connection{'s' * (connections > 1)}"
            report.add(f"{name}, a second", len(seconds) / took, "", peer="simulated", peer_value=seen.rate)
            report.add(f"{name}, p50", p50 * 1e3, "ms", peer="simulated", peer_value=seen.p50 * 1e3)
            report.add(f"{name}, p99", p99 * 1e3, "ms", peer="simulated", peer_value=seen.p99 * 1e3)
    finally:
        server.end()
    return alone


def foretell(times: Sequence[float], methods: Mapping[str, float]) -> list[dict[str, float | str]]:
    """Print what more users of more workers would see, and return it.

    `times` are those of a search, `methods` the seconds of a question to some methods without a model.
    """
    kinds = {
        "search": (Crowd(0, PAUSE), times),
        **{f"ask, {method}": (Crowd(0, PAUSE), [seconds]) for method, seconds in methods.items()},
        "agent": (Crowd(0, PAUSE, CALLS, MODEL_SECONDS), times),
    }
    rows: list[dict[str, float | str]] = []
    print(f"\n{'simulated':16}{'users':>8}{'workers':>9}{'a second':>10}{'p50 ms':>10}{'p99 ms':>10}{'busy':>7}")
    for kind, (crowd, takes) in kinds.items():
        for users, workers in product(USERS, WORKERS):
            seen = simulate(crowd._replace(users=users), workers, takes)
            rows.append({"kind": kind, "users": users, "workers": workers, **seen._asdict()})
            milliseconds = f"{seen.p50 * 1e3:10,.1f}{seen.p99 * 1e3:10,.1f}"
            print(f"{kind:16}{users:8,}{workers:9}{seen.rate:10,.1f}{milliseconds}{seen.busy:7.0%}")
    return rows


def main() -> None:
    """Measure, then simulate."""
    parser = command_line(__doc__)
    parser.add_argument("graph", type=Path)
    parser.add_argument("--requests", type=int, default=2_000)
    parser.add_argument(
        "--scale", type=Path, metavar="FILE", help="what scale.py keeps of this graph: times of methods"
    )
    options = parser.parse_args()
    report = Report({})
    times = measure(report, options.graph, options.requests)
    scale = json.loads(options.scale.read_text()) if options.scale else {}
    methods = {method: scale[f"{method}, p50 ms"] / 1e3 for method in METHODS if f"{method}, p50 ms" in scale}
    rows = foretell(times, methods)
    write_json(options.json, {"measured": [row.content() for row in report.rows], "simulated": rows})


if __name__ == "__main__":
    main()
