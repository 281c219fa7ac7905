"""Cypher on hetionet: what the guard, the names and the worker cost beside the bare engine, and what they live through.

    python benchmarks/cypher.py --data FOLDER [--json FILE] [--work FOLDER] [--queries N] [--mutations N] [--part PART]

FOLDER holds `hetionet`; it is imported once. Every query is asked with another node each time: as a text that
the engine has not seen, which is what models write, and by a parameter. The bare engine runs in this process and is
given what our guard wrote, so that both do the same work, and both take turns; "on top" is the median difference. What
a message of a few bytes takes to another process and back is measured between them: on a busy machine it is most of it.

The part `crowd` has eight callers at once, one of whom asks what never ends within its 10 seconds; the peer is the same
with one worker alone.
"""

from __future__ import annotations

import contextlib
import json
import os
import subprocess
import sys
import threading
import time
from collections import Counter
from collections.abc import Callable
from functools import partial
from importlib import import_module
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from orienteer.cypher.ladybug.database import DATABASE, is_copy_new
from orienteer.cypher.ladybug.engine import WORKERS, Ladybug
from orienteer.cypher.ladybug.translation import EngineQuery, rewrite
from orienteer.cypher.session import Cypher
from orienteer.errors import Error, QueryStopped
from orienteer.graph.store import Graph
from orienteer.ingest.demo import demo_records
from orienteer.ingest.importer import import_graph
from orienteer.records import JsonValue
from report import Report, Target, command_line

HERE = Path(__file__).parent
TESTS = HERE.parent / "tests"
POOL = 256 << 20  # bytes, as the worker has
ON_TOP = Target(2.0)
RUNAWAY_SECONDS = 10.0


class Asked(NamedTuple):
    """A statement with its parameters."""

    text: str
    parameters: dict[str, JsonValue]


class Query(NamedTuple):
    """A query with a place for a node's id."""

    name: str
    node_type: str
    text: str


QUERIES = [Query(**json.loads(line)) for line in (HERE / "data" / "cypher.jsonl").read_text().splitlines()]


def main() -> None:
    """Run all measurements."""
    parser = command_line(__doc__, ("--data", "--json", "--work"))
    parser.add_argument("--queries", type=int, default=100, metavar="N", help="nodes for each query")
    parser.add_argument("--mutations", type=int, default=5_000, metavar="N", help="spoiled statements")
    parser.add_argument("--part", choices=("all", "crowd"), default="all", help="measure only this")
    options = parser.parse_args()
    work: Path = options.work
    path = work / "cypher-hetionet"
    if not path.exists():
        import_graph([options.data / "hetionet"], path)
    graph = Graph.open(path)
    targets = {f"{one.name}{way}, on top": ON_TOP for one in QUERIES for way in ("", " by parameter")}
    report = Report({**targets, "statements that broke us": Target(0)})
    busy = getattr(os, "getloadavg", lambda: (0.0,))
    report.add("load of the machine at the start", busy()[0], "")
    if options.part == "all":
        measure_copy(report, graph)
        measure_queries(report, graph, options.queries)
        measure_spoiled(report, options.mutations)
    measure_crowd(report, graph)
    report.add("load of the machine at the end", busy()[0], "")
    report.write(options.json)


def measure_copy(report: Report, graph: Graph) -> None:
    """Time the making of the copy, where there is none, and the start of a worker."""
    is_new = is_copy_new(graph.path)
    seconds = timed(lambda: Cypher(graph))[0] / 1_000
    report.add("copy, made" if is_new else "copy, found", seconds, "s")
    report.add("copy, size", (ladybug_of(graph).folder / DATABASE).stat().st_size / 1e6, "MB")
    report.add("worker, started and asked", timed(lambda: Cypher(graph).query("RETURN 1"))[0], "ms")
    Cypher(graph).close()
    report.add("worker, started again", timed(lambda: Cypher(graph).query("RETURN 1"))[0], "ms")


def measure_queries(report: Report, graph: Graph, count: int) -> None:
    """Time every query, ours and the bare engine's in turn."""
    bare, echo = Bare(ladybug_of(graph).folder / DATABASE), Echo()
    chance = np.random.default_rng(3)
    for query in QUERIES:
        rows = np.flatnonzero(graph.arrays.node_types == graph.arrays.types.nodes.index(query.node_type))
        ids = [graph.arrays.ids[int(row)] for row in chance.choice(rows, min(count, len(rows)), replace=False)]
        unseen = [Asked(query.text.replace("ID", json.dumps(one)), {}) for one in ids]
        repeated = [Asked(query.text.replace("ID", "$id"), {"id": one}) for one in ids]
        times = np.zeros((0, 4))
        for way, asked in (("", unseen), (" by parameter", repeated)):
            times = np.array([time_each(graph, bare, echo, one) for one in asked])  # (queries, four times)
            for name, percentile in (("p50", 50), ("p95", 95)):
                ours, theirs, *_ = np.percentile(times, percentile, axis=0)
                report.add(f"{query.name}{way}, {name}", ours, "ms", peer="ladybug", peer_value=theirs)
            report.add(f"{query.name}{way}, on top", float(np.median(times[:, 0] - times[:, 1])), "ms")
        report.add(f"{query.name}, of it guard and names", float(np.median(times[:, 2])), "ms")
        report.add(f"{query.name}, of it there and back", float(np.median(times[:, 3])), "ms")
    echo.close()


def time_each(graph: Graph, bare: Bare, echo: Echo, asked: Asked) -> tuple[float, float, float, float]:
    """Return the milliseconds of a statement through us and the bare engine, of our rewriting, and of an echo."""
    written = rewrite(asked.text, Cypher(graph).names, asked.parameters)
    ours = timed(lambda: Cypher(graph).query(asked.text, asked.parameters))[0]
    theirs = timed(lambda: bare.ask(written))[0]
    rewriting = timed(lambda: rewrite(asked.text, Cypher(graph).names, asked.parameters))[0]
    return ours, theirs, rewriting, timed(echo.ask)[0]


def measure_crowd(report: Report, graph: Graph) -> None:
    """Time seven callers while another's query runs away; with one worker alone, and with all."""
    several = crowded(graph)
    held = [ladybug_of(graph)._idle.get() for _ in range(WORKERS - 1)]
    for process in held:
        process.close()
    one = crowded(graph)
    for process in held:
        ladybug_of(graph)._idle.put(process)
    for name, percentile in (("p50", 50), ("p99", 99)):
        value, peer_value = (float(np.percentile(waits, percentile)) for waits in (several, one))
        report.add(f"beside a runaway, {name}", value, "ms", peer="one worker", peer_value=peer_value)
    report.add("beside a runaway, answered", len(several), "", peer="one worker", peer_value=len(one))


def crowded(graph: Graph) -> list[float]:
    """Return the milliseconds of the queries of seven callers, all that end in the seconds of an eighth's runaway."""
    runaway = "MATCH (a:Gene)-[:GiG*1..4]-(b:Gene)-[:GiG*1..4]-(c:Gene) RETURN count(*)"
    waits: list[float] = []
    chance = np.random.default_rng(5)
    genes = np.flatnonzero(graph.arrays.node_types == graph.arrays.types.nodes.index("Gene"))

    def run_away() -> None:
        with contextlib.suppress(QueryStopped):
            Cypher(graph).query(runaway, seconds=RUNAWAY_SECONDS)

    def ask() -> None:
        while away.is_alive():
            query = QUERIES[0].text.replace("ID", json.dumps(graph.arrays.ids[int(chance.choice(genes))]))
            with contextlib.suppress(QueryStopped):  # it waited too long
                waits.append(timed(partial(Cypher(graph).query, query))[0])

    Cypher(graph).query("RETURN 1")
    away = threading.Thread(target=run_away)
    callers = [threading.Thread(target=ask) for _ in range(7)]
    away.start()
    time.sleep(0.2)
    for caller in callers:
        caller.start()
    for thread in (away, *callers):
        thread.join()
    return waits


def measure_spoiled(report: Report, count: int) -> None:
    """Ask what people might have written, spoiled, and what enemies wrote, and count what comes of it."""
    sys.path.insert(0, str(TESTS))
    spoil: Any = import_module("mutations")  # Any: it stands beside the tests
    nodes, edges = demo_records()
    graph = Graph.from_records(nodes, edges)
    honest = [json.loads(line)["query"] for line in (TESTS / "cypher" / "honest.jsonl").read_text().splitlines()]
    hostile = [json.loads(line) for line in (TESTS / "cypher" / "hostile.jsonl").read_text().splitlines()]
    found = Counter[str](outcome(graph, one["query"], one.get("parameters")) for one in hostile)
    report.add("hostile statements", len(hostile), "")
    report.add("hostile statements that ran", found["answered"], "")
    chance = np.random.default_rng(1)
    found = Counter()
    for number in range(count):
        query = honest[number % len(honest)]
        query = spoil.mutate(query, chance, honest) if number % 4 == 0 else spoil.rewrite(query, chance)
        found[outcome(graph, query, {"id": "a", "names": ["Go"], "p": 1})] += 1
    report.add("spoiled statements", count, "")
    for what in ("answered", "refused", "refused by the engine", "stopped", "broke the engine"):
        report.add(f"spoiled statements {what}", found[what], "")
    report.add("statements that broke us", found["broke us"], "")


def outcome(graph: Graph, query: str, parameters: dict[str, JsonValue] | None) -> str:
    """Return what came of a statement."""
    try:
        Cypher(graph).query(query, parameters, seconds=1)
    except QueryStopped as error:
        return "broke the engine" if "broke" in str(error) else "stopped"
    except Error as error:
        return "refused by the engine" if "the engine cannot" in str(error) else "refused"
    except Exception as error:  # noqa: BLE001  # this is what is counted
        print(f"{type(error).__name__}: {error}: {query}")
        return "broke us"
    return "answered"


def ladybug_of(graph: Graph) -> Ladybug:
    """Return the engine behind a graph's Cypher."""
    engine = Cypher(graph).engine
    assert isinstance(engine, Ladybug)
    return engine


class Bare:
    """The engine in this process, without anything of ours."""

    def __init__(self, file: Path) -> None:
        import ladybug

        database = ladybug.Database(str(file), read_only=True, buffer_pool_size=POOL, max_db_size=1 << 31)
        self._connection = ladybug.Connection(database, num_threads=1)

    def ask(self, written: EngineQuery) -> list[Any]:  # Any: whatever the engine gives
        """Return the first hundred rows."""
        result: Any = self._connection.execute(written.text, written.parameters)
        rows: list[Any] = []
        while len(rows) < 100 and result.has_next():
            rows.append(result.get_next())
        return rows


class Echo:
    """A process that sends back what it is sent: the least that any worker takes here and now."""

    def __init__(self) -> None:
        code = "import os\nwhile data := os.read(0, 100):\n    os.write(1, data)"
        self._process = subprocess.Popen([sys.executable, "-c", code], stdin=subprocess.PIPE, stdout=subprocess.PIPE)
        self.ask()

    def ask(self) -> None:
        """Send a few bytes there and back."""
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        os.write(self._process.stdin.fileno(), b"hello")
        os.read(self._process.stdout.fileno(), 100)

    def close(self) -> None:
        """End the process."""
        self._process.communicate()


def timed(function: Callable[[], Any]) -> tuple[float, Any]:  # Any: whatever it gives
    """Return how many milliseconds a call took, and what it gave."""
    begun = time.perf_counter()
    found = function()
    return (time.perf_counter() - begun) * 1_000, found


if __name__ == "__main__":
    main()
