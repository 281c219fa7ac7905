"""Shapes of statements over hetionet: CPU milliseconds of the algebra beside ladybug, medians of 15.

    python benchmarks/cypher_shapes.py --data FOLDER [--work FOLDER]

FOLDER holds `hetionet`; it is imported once. Parsing and the worker process are counted. The first answers of both
engines are compared.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable
from functools import partial
from pathlib import Path
from statistics import median

from orienteer.cypher.algebra.engine import Arrays
from orienteer.cypher.ladybug.engine import Ladybug
from orienteer.cypher.session import Cypher
from orienteer.errors import Error
from orienteer.graph.store import Graph
from orienteer.ingest.importer import import_graph
from report import command_line

ROUNDS = 15
SHAPES = {
    "one hop by name": "MATCH (c:Compound {name: 'Metformin'})-[:treats]->(d:Disease) RETURN d.name",
    "two hops, distinct": (
        "MATCH (c:Compound {name: 'Metformin'})-[:treats]->(d:Disease)-[:associates]->(g:Gene) RETURN DISTINCT g.id"
    ),
    "three hops and a filter": (
        "MATCH (c:Compound {name: 'Metformin'})-[:treats]->(:Disease)-[:associates]->(g:Gene)<-[:binds]-(o:Compound) "
        "WHERE o.name STARTS WITH 'A' RETURN DISTINCT o.name"
    ),
    "count per group": "MATCH (g:Gene)-[:participates]->(p) RETURN p.id AS p, count(*) AS k ORDER BY k DESC, p LIMIT 5",
    "count per group by degree": (
        "MATCH (c:Compound)-[:binds]->(g:Gene) RETURN c.id AS c, count(g) AS k ORDER BY k DESC, c LIMIT 5"
    ),
    "not exists": "MATCH (c:Compound) WHERE NOT EXISTS { (c)-[:treats]->(:Disease) } RETURN count(c)",
    "walks of 1..3, distinct ends": (
        "MATCH (d:Disease {name: 'asthma'})-[:resembles*1..3]-(e:Disease) RETURN DISTINCT e.name"
    ),
    "shortest path, any edge": (
        "MATCH (a {name: 'Metformin'}), (b {name: 'asthma'}) MATCH p = shortestPath((a)-[*..4]-(b)) RETURN length(p)"
    ),
    "triangle through a node": (
        "MATCH (c:Compound {name: 'Metformin'})-[:treats]->(d:Disease)-[:associates]->(g:Gene)<-[:binds]-(c) "
        "RETURN d.name, g.name"
    ),
    "optional, per row": (
        "MATCH (c:Compound)-[:treats]->(d:Disease {name: 'asthma'}) OPTIONAL MATCH (c)-[:palliates]->(e:Disease) "
        "RETURN c.name, count(e) AS k"
    ),
    "text contains": "MATCH (g:Gene) WHERE g.name CONTAINS 'PTG' RETURN g.name",
}


def main() -> None:
    """Print a line for each shape."""
    options = command_line(__doc__, ("--data", "--work")).parse_args()
    path: Path = options.work / "cypher-hetionet"
    if not path.exists():
        import_graph([options.data / "hetionet"], path)
    graph = Graph.open(path)
    arrays, ladybug = Cypher(graph, Arrays), Cypher(graph, Ladybug)
    print(f"{'':32}{'algebra':>10}{'ladybug':>10}  CPU ms")
    for name, text in SHAPES.items():
        ours, theirs = _rows(arrays, text), _rows(ladybug, text)
        process = ladybug.engine.processes[0].worker  # type: ignore[attr-defined]  # it is ladybug's
        here = _median(partial(_rows, arrays, text), [])
        there = _median(partial(_rows, ladybug, text), [process.pid] if process is not None else [])
        note = "" if ours == theirs else f"  other answers: {str(ours)[:60]} / {str(theirs)[:60]}"
        print(f"{name:32}{here:10.2f}{there:10.2f}{note}")
    ladybug.close()


def _rows(cypher: Cypher, text: str) -> object:
    try:
        return sorted(map(repr, cypher.query(text, limit=None, seconds=20).rows))
    except Error as error:
        return f"{type(error).__name__}: {error}"


def _median(ask: Callable[[], object], processes: Iterable[int]) -> float:
    """Return the CPU milliseconds of a question, with those of other processes."""
    taken = []
    for _ in range(ROUNDS):
        before = time.process_time_ns() + sum(map(_cpu, processes))
        ask()
        taken.append((time.process_time_ns() + sum(map(_cpu, processes)) - before) / 1e6)
    return median(taken)


def _cpu(process: int) -> int:
    """Return the nanoseconds that all threads of a process have run."""
    threads = Path(f"/proc/{process}/task").iterdir()
    return sum(int((thread / "schedstat").read_text().split()[0]) for thread in threads)


if __name__ == "__main__":
    main()
