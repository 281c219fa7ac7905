"""Cypher over hetionet: milliseconds of a dozen shapes beside DuckDB, and eight callers of whom one never ends.

    python benchmarks/cypher.py --data FOLDER [--json FILE] [--work FOLDER]

FOLDER holds `hetionet`; it is imported once. Times are medians of 15, parsing and the way to the worker process
included. DuckDB (`pip install duckdb`) holds the same nodes and edges in memory, one thread, edges sorted by type; rows
of both must be equal.
"""

from __future__ import annotations

import contextlib
import json
import threading
import time
from collections.abc import Callable, Iterable
from functools import partial
from pathlib import Path
from statistics import median
from typing import Any

import numpy as np

from orienteer.cypher.session import Cypher
from orienteer.errors import QueryStopped
from orienteer.graph.store import Graph
from orienteer.ingest.importer import import_graph
from report import Report, command_line

SHAPES = [json.loads(line) for line in (Path(__file__).parent / "data" / "cypher.jsonl").read_text().splitlines()]
ROUNDS, CALLERS, SECONDS = 15, 7, 10.0
ENDLESS = "RETURN reduce(s = '', x IN range(1, 60) | s + 'a') =~ '(a*)*b'"


def main() -> None:
    """Run all measurements."""
    options = command_line(__doc__, ("--data", "--json", "--work")).parse_args()
    path: Path = options.work / "cypher-hetionet"
    if not path.exists():
        import_graph([options.data / "hetionet"], path)
    graph, report = Graph.open(path), Report({})
    report.add("the first statement", _timed(lambda: Cypher(graph).query("RETURN 1")), "ms")
    peer = _duckdb(graph)
    for shape in SHAPES:
        ours = partial(Cypher(graph).query, shape["cypher"], limit=None)
        theirs = partial(_rows, peer, shape["sql"]) if peer is not None and shape["sql"] else None
        if theirs is not None and _sorted(ours().rows) != _sorted(theirs()):
            raise SystemExit(f"{shape['name']}: the rows differ")
        others: dict[str, Any] = {} if theirs is None else {"peer": "DuckDB", "peer_value": _median(theirs)}
        report.add(shape["name"], _median(ours), "ms", **others)
    waits = _beside_endless(graph)
    report.add("beside a statement without end, answered", len(waits), "")
    report.add("beside a statement without end, p50", median(waits), "ms")
    report.add("beside a statement without end, most", max(waits), "ms")
    report.write(options.json)


def _duckdb(graph: Graph) -> Any:  # Any: it may not be installed
    """Return a database with the tables n (id, name, type) and e (s, t, ty); None without DuckDB."""
    try:
        import duckdb
        import pyarrow as pa
    except ImportError:
        return None
    arrays, adjacency = graph.arrays, graph.arrays.adjacency
    size = len(arrays)
    kind = np.asarray(adjacency.kind)
    leaves = (kind & 1) == 0
    owner = np.repeat(np.arange(size), np.diff(adjacency.indptr))
    types = np.array([str(name) for name in arrays.types.nodes], object)[arrays.node_types]
    edge_types = np.array([str(name) for name in arrays.types.edges], object)[kind[leaves] >> 1]
    nodes = pa.table({"id": np.arange(size), "name": list(arrays.names), "type": types})
    edges = pa.table({"s": owner[leaves], "t": np.asarray(adjacency.neighbor)[leaves], "ty": edge_types})
    database = duckdb.connect()
    database.execute("SET threads = 1")
    database.register("nodes", nodes)
    database.register("edges", edges)
    database.execute("CREATE TABLE n AS SELECT * FROM nodes")
    database.execute("CREATE TABLE e AS SELECT * FROM edges ORDER BY ty, s")
    return database


def _rows(database: Any, sql: str) -> list[Any]:  # Any: as above
    rows: list[Any] = database.execute(sql).fetchall()
    return rows


def _beside_endless(graph: Graph) -> list[float]:
    """Return the milliseconds of seven callers' statements while another's does not end."""
    waits: list[float] = []

    def run_away() -> None:
        with contextlib.suppress(QueryStopped):
            Cypher(graph).query(ENDLESS, seconds=SECONDS)

    def ask() -> None:
        while away.is_alive():
            waits.append(_timed(lambda: Cypher(graph).query(SHAPES[0]["cypher"], seconds=60)))

    away = threading.Thread(target=run_away)
    callers = [threading.Thread(target=ask) for _ in range(CALLERS)]
    for thread in (away, *callers):
        thread.start()
    for thread in (away, *callers):
        thread.join()
    return waits


def _sorted(rows: Iterable[Any]) -> list[str]:
    return sorted(str(tuple(row)) for row in rows)


def _timed(ask: Callable[[], object]) -> float:
    began = time.perf_counter()
    ask()
    return (time.perf_counter() - began) * 1_000


def _median(ask: Callable[[], object]) -> float:
    return median(_timed(ask) for _ in range(ROUNDS))


if __name__ == "__main__":
    main()
