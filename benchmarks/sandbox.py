"""What it costs to run a model's code: each tier of the sandbox warm and at its start, bare and through the tool.

    python benchmarks/sandbox.py [--calls N] [--json FILE]

A call is warm when the process already runs. All kinds of calls take turns, so that a busy machine is as busy for each
of them; beside them stands what a few bytes take to another process and back, for on a busy machine that is most of it.
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from functools import partial
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from orienteer.cypher.session import Cypher
from orienteer.graph.store import Graph
from orienteer.ingest.demo import demo_records
from orienteer.sandbox.interpreter import Interpreter, Limits, Tier
from orienteer.sandbox.tiers import open_interpreter
from orienteer.tools.code import CodeConfig, CodeInterpreter
from orienteer.tools.session import Session
from report import Report, Target

TIERS: tuple[Tier, ...] = ("monty", "cpython")
TARGETS = {"monty, a line": Target(5.0), "cpython, a line": Target(60.0)}
LINE = "print(sum(range(10)))"
CALL = "print(len(answer(7)))"
QUERY = "MATCH (n) RETURN n.id AS id LIMIT 10"
TOOL = f"rows = cypher({QUERY!r})\nprint(rows)"
STARTS = 10
PIPE = "a message to a process and back"
ECHO = "import sys\nfor line in sys.stdin.buffer: sys.stdout.buffer.write(line); sys.stdout.buffer.flush()"


def main() -> None:
    """Run all measurements."""
    parser = argparse.ArgumentParser(description="Measure the sandboxes of a model's code.")
    parser.add_argument("--calls", type=int, default=300, metavar="N", help="warm calls of each kind (default: 300)")
    parser.add_argument("--json", type=Path, metavar="FILE", help="write the figures there too")
    given = parser.parse_args()
    report = Report(TARGETS)
    with tempfile.TemporaryDirectory() as folder:
        measure(report, Path(folder), given.calls)
    report.add("load of the machine, one minute", os.getloadavg()[0], "")
    if given.json is not None:
        report.write(given.json)


def measure(report: Report, folder: Path, calls: int) -> None:
    """Take all figures, and report them."""
    nodes, edges = demo_records()
    graph = Graph.from_records(nodes, edges, path=folder / "graph")
    tools = {tier: CodeInterpreter(Session(graph), CodeConfig(tier=tier)) for tier in TIERS}
    opened = {tier: opened_as(tier) for tier in TIERS}
    with subprocess.Popen([sys.executable, "-c", ECHO], stdin=subprocess.PIPE, stdout=subprocess.PIPE) as echo:
        kinds: dict[str, Callable[[], object]] = {PIPE: partial(echoed, echo)}
        for tier in TIERS:
            kinds[f"{tier}, a line"] = partial(ran, opened[tier], LINE)
            kinds[f"{tier}, a call of a function"] = partial(ran, opened[tier], CALL)
            kinds[f"{tier}, the tool with a query"] = partial(tools[tier], {"code": TOOL})
        kinds["the query without a sandbox"] = partial(Cypher(graph).query, QUERY, limit=10)
        taken = in_turns(kinds, calls)
        echo.kill()
    pipe = float(np.median(taken[PIPE]))
    for name, found in taken.items():
        report.add(name, float(np.median(found)), "ms", peer=PIPE, peer_value=pipe)
        report.add(f"{name}, 95 of 100", float(np.percentile(found, 95)), "ms")
    for tier in TIERS:
        report.add(f"{tier}, from no process to the first answer", float(np.median(starts(tier))), "ms")
    for tier in TIERS:
        tools[tier].close()
        opened[tier].close()


def opened_as(tier: Tier) -> Interpreter:
    """Return an interpreter with a function that answers at once."""
    return open_interpreter(tier, {"answer": lambda count: [0] * count}, Limits())


def ran(interpreter: Interpreter, code: str) -> None:
    """Run code that ends well."""
    found = interpreter.run(code)
    assert found.error is None, found.error


def echoed(process: subprocess.Popen[bytes]) -> None:
    """Send a line and read it back."""
    assert process.stdin is not None
    assert process.stdout is not None
    process.stdin.write(b"a few bytes\n")
    process.stdin.flush()
    process.stdout.readline()


def in_turns(kinds: dict[str, Callable[[], object]], calls: int) -> dict[str, NDArray[np.float64]]:
    """Return the milliseconds of each kind of call, one of each after the other, the first of each left out."""
    taken: dict[str, list[float]] = {name: [] for name in kinds}
    for _ in range(calls + 1):
        for name, call in kinds.items():
            began = time.perf_counter()
            call()
            taken[name].append((time.perf_counter() - began) * 1000)
    return {name: np.array(found[1:]) for name, found in taken.items()}


def starts(tier: Tier) -> NDArray[np.float64]:
    """Return the milliseconds that a tier takes with its process."""
    taken = []
    for _ in range(STARTS):
        began = time.perf_counter()
        interpreter = opened_as(tier)
        ran(interpreter, LINE)
        taken.append((time.perf_counter() - began) * 1000)
        interpreter.close()
    return np.array(taken)


if __name__ == "__main__":
    main()
