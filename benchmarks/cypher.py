"""Cypher on hetionet: what the guard, the names and the worker cost beside the bare engine, and what they live through.

    python benchmarks/cypher.py --data FOLDER [--json FILE] [--work FOLDER] [--queries N] [--mutations N]

FOLDER holds `hetionet`; it is imported once. Every query is asked with another node each time: as a text that
the engine has not seen, which is what models write, and by a parameter. The bare engine runs in this process and is
given what our guard wrote, so that both do the same work, and both take turns; "on top" is the median difference.
"""

from __future__ import annotations

import argparse
import json
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Callable
from importlib import import_module
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from orienteer.build.demo import demo_records
from orienteer.build.run import import_graph
from orienteer.errors import Error, QueryStopped
from orienteer.graph.cypher.copying import DATABASE
from orienteer.graph.cypher.rewriting import Rewritten, rewrite
from orienteer.graph.store import Graph
from orienteer.records import JsonValue
from report import Report, Target

TESTS = Path(__file__).parents[1] / "tests"
POOL = 256 << 20  # bytes, as the worker has
ON_TOP = Target(2.0)


class Asked(NamedTuple):
    """A statement with its parameters."""

    text: str
    parameters: dict[str, JsonValue]


class Query(NamedTuple):
    """A query with a place for a node's id."""

    name: str
    node_type: str
    text: str


QUERIES = (
    Query("node by id", "Gene", "MATCH (g:Gene {id: ID}) RETURN g.name"),
    Query("one hop, one type", "Disease", "MATCH (d:Disease {id: ID})-[:DaG]->(g:Gene) RETURN g.id, g.name"),
    Query("one hop, upper snake", "Disease", "MATCH (d {id: ID})-[:DISEASE_UPREGULATES_GENE]->(g) RETURN g.name"),
    Query("one hop, any edge", "Gene", "MATCH (g:Gene {id: ID})-[r]-(x) RETURN type(r), labels(x)[0], count(*) AS k"),
    Query("two hops", "Disease", "MATCH (d:Disease {id: ID})-[:DaG]->(g)-[:GpPW]->(p) RETURN DISTINCT p.name LIMIT 50"),
    Query(
        "shared genes",
        "Disease",
        "MATCH (d:Disease {id: ID})-[:DaG]->(g)<-[:DaG]-(e:Disease) RETURN e.name, count(g) AS k "
        "ORDER BY k DESC LIMIT 10",
    ),
    Query("not exists", "Disease", "MATCH (d {id: ID})-[:DlA]->(a) WHERE NOT EXISTS { (a)-[:AuG]->() } RETURN a.name"),
    Query("one or two hops", "Compound", "MATCH (c:Compound {id: ID})-[:CrC*1..2]-(x) RETURN DISTINCT x.name LIMIT 50"),
)


def main() -> None:
    """Run all measurements."""
    parser = argparse.ArgumentParser(description="Measure Cypher beside the bare engine.")
    parser.add_argument("--data", type=Path, required=True, metavar="FOLDER", help="the folder of real graphs")
    parser.add_argument("--json", type=Path, metavar="FILE", help="write the figures there too")
    parser.add_argument("--work", type=Path, metavar="FOLDER", help="where the graph is made and kept")
    parser.add_argument("--queries", type=int, default=100, metavar="N", help="nodes for each query")
    parser.add_argument("--mutations", type=int, default=5_000, metavar="N", help="spoiled statements")
    options = parser.parse_args()
    work: Path = options.work or Path(tempfile.gettempdir()) / "orienteer-benchmark"
    path = work / "cypher-hetionet"
    if not path.exists():
        import_graph([options.data / "hetionet"], path)
    graph = Graph.open(path)
    targets = {f"{one.name}{way}, on top": ON_TOP for one in QUERIES for way in ("", " by parameter")}
    report = Report({**targets, "statements that broke us": Target(0)})
    measure_copy(report, graph)
    measure_queries(report, graph, options.queries)
    measure_spoiled(report, options.mutations)
    if options.json:
        report.write(options.json)


def measure_copy(report: Report, graph: Graph) -> None:
    """Time the making of the copy, where there is none, and the start of a worker."""
    is_new = graph.cypher_is_new
    seconds = timed(lambda: graph.cypher_session)[0] / 1_000
    report.add("copy, made" if is_new else "copy, found", seconds, "s")
    report.add("copy, size", (graph.cypher_session.folder / DATABASE).stat().st_size / 1e6, "MB")
    report.add("worker, started and asked", timed(lambda: graph.cypher("RETURN 1"))[0], "ms")
    graph.cypher_session.close()
    report.add("worker, started again", timed(lambda: graph.cypher("RETURN 1"))[0], "ms")


def measure_queries(report: Report, graph: Graph, count: int) -> None:
    """Time every query, ours and the bare engine's in turn."""
    bare = Bare(graph.cypher_session.folder / DATABASE)
    chance = np.random.default_rng(3)
    for query in QUERIES:
        rows = np.flatnonzero(graph.node_types == graph.types.nodes.index(query.node_type))
        ids = [graph.ids[int(row)] for row in chance.choice(rows, min(count, len(rows)), replace=False)]
        unseen = [Asked(query.text.replace("ID", json.dumps(one)), {}) for one in ids]
        repeated = [Asked(query.text.replace("ID", "$id"), {"id": one}) for one in ids]
        times = np.zeros((0, 3))
        for way, asked in (("", unseen), (" by parameter", repeated)):
            times = np.array([time_both(graph, bare, one) for one in asked])  # (queries, ours and theirs and writing)
            for name, percentile in (("p50", 50), ("p95", 95)):
                ours, theirs, _ = np.percentile(times, percentile, axis=0)
                report.add(f"{query.name}{way}, {name}", ours, "ms", peer="ladybug", peer_value=theirs)
            report.add(f"{query.name}{way}, on top", float(np.median(times[:, 0] - times[:, 1])), "ms")
        report.add(f"{query.name}, of it guard and names", float(np.median(times[:, 2])), "ms")


def time_both(graph: Graph, bare: Bare, asked: Asked) -> tuple[float, float, float]:
    """Return the milliseconds of a statement through us, through the bare engine, and of our rewriting alone."""
    written = rewrite(asked.text, graph.cypher_session.names, asked.parameters)
    ours = timed(lambda: graph.cypher(asked.text, asked.parameters))[0]
    theirs = timed(lambda: bare.ask(written))[0]
    rewriting = timed(lambda: rewrite(asked.text, graph.cypher_session.names, asked.parameters))[0]
    return ours, theirs, rewriting


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
        graph.cypher(query, parameters, seconds=1)
    except QueryStopped as error:
        return "broke the engine" if "broke" in str(error) else "stopped"
    except Error as error:
        return "refused by the engine" if "the engine cannot" in str(error) else "refused"
    except Exception as error:  # noqa: BLE001  # this is what is counted
        print(f"{type(error).__name__}: {error}: {query}")
        return "broke us"
    return "answered"


class Bare:
    """The engine in this process, without anything of ours."""

    def __init__(self, file: Path) -> None:
        import ladybug

        database = ladybug.Database(str(file), read_only=True, buffer_pool_size=POOL, max_db_size=1 << 31)
        self._connection = ladybug.Connection(database, num_threads=1)

    def ask(self, written: Rewritten) -> list[Any]:  # Any: whatever the engine gives
        """Return the first hundred rows."""
        result: Any = self._connection.execute(written.text, written.parameters)
        rows: list[Any] = []
        while len(rows) < 100 and result.has_next():
            rows.append(result.get_next())
        return rows


def timed(function: Callable[[], Any]) -> tuple[float, Any]:  # Any: whatever it gives
    """Return how many milliseconds a call took, and what it gave."""
    begun = time.perf_counter()
    found = function()
    return (time.perf_counter() - begun) * 1_000, found


if __name__ == "__main__":
    main()
