"""What is measured in a process of its own: the memory of a build or an import, and what opening a graph costs.

Run by `store.py`; prints one JSON object.
"""

from __future__ import annotations

import json
import resource
import sys
import time
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator

    from orienteer.graph.edges import EdgeBatch
    from orienteer.records import Node
    from synthetic import Synthetic

_EDGE_BATCH = 500_000
_RSS_UNIT = 1 if sys.platform == "darwin" else 1024


def build(name: str, work: Path, target: Path) -> dict[str, float]:
    """Build the graph of a size; return the seconds and the peak, and the seconds that go into making its input."""
    from synthetic import load

    data = load(name, work)
    _ = data.words  # made at first use: no part of any build
    started = time.perf_counter()
    for _nodes in records(data):
        pass
    for _edges in edge_batches(data):
        pass
    reading = time.perf_counter() - started
    started, used = time.perf_counter(), time.process_time()
    build_graph(data, target)
    return {
        "seconds": time.perf_counter() - started,
        "processor": time.process_time() - used,
        "input": reading,
        "peak": peak(),
    }


def build_graph(data: Synthetic, target: Path) -> None:
    """Build the graph as an importer would: records of nodes, then columns of edges, their ids coded."""
    from orienteer.graph.builder import GraphBuilder

    with GraphBuilder(target, force=True, stem=False) as builder:
        for node in records(data):
            builder.add_node(node)
        for batch in edge_batches(data):
            builder.add_edges(batch)
        builder.publish()


def records(data: Synthetic) -> Iterator[Node]:
    """Make the nodes. Records are imported late here: opening a graph must not pay for it."""
    from orienteer.records import Node

    ids = data.ids
    for low, high in data.batches():
        types, years = data.node_type[low:high].tolist(), data.year[low:high].tolist()
        rows = zip(ids[low:high], types, data.names(low, high), data.texts(low, high), years, strict=True)
        for node_id, kind, node_name, text, year in rows:
            yield Node(id=node_id, type=f"type{kind}", name=node_name, text=text, properties={"year": year})


def edge_batches(data: Synthetic) -> Iterator[EdgeBatch]:
    """Make the edges, in batches."""
    from orienteer.graph.edges import CodedColumn, EdgeBatch

    ids = data.ids
    names = [f"edge{number}" for number in range(data.size.edge_types)]
    for low in range(0, len(data.source), _EDGE_BATCH):
        sources, types, targets = (
            data.read(name, low, min(low + _EDGE_BATCH, len(data.source))) for name in ("source", "edge_type", "target")
        )
        yield EdgeBatch(
            sources=CodedColumn(ids, sources), types=CodedColumn(names, types), targets=CodedColumn(ids, targets)
        )


def import_tables(folder: Path, target: Path) -> dict[str, float]:
    """Import tables with the command line; return the seconds and the peak."""
    from report import run  # late: opening a graph must not pay for it

    done = run(sys.executable, "-m", "orienteer", "import", folder, "-o", target, "--force", "--quiet")
    return {"seconds": done.seconds, "processor": done.processor, "peak": done.peak}


def open_graph(path: Path, query: str) -> dict[str, float]:
    """Open a graph and ask one query."""
    started = time.perf_counter()
    from orienteer.graph.store import Graph

    imported = time.perf_counter()
    graph = Graph.open(path)
    opened = time.perf_counter()
    used = memory()
    asked = time.perf_counter()
    graph.search(query, 10)
    answered = time.perf_counter()
    return {"import": imported - started, "open": opened - imported, "first": answered - asked, **used}


def memory() -> dict[str, float]:
    """Return the bytes that this process holds, and those of them that no file backs; empty where unknown."""
    file = Path("/proc/self/smaps_rollup")
    if not file.exists():
        return {}
    sizes = {line.split(":")[0]: int(line.split()[1]) * 1024 for line in file.read_text().splitlines()[1:]}
    return {"resident": sizes["Rss"], "anonymous": sizes["Anonymous"]}


def peak() -> int:
    """Return the most bytes that this process ever held."""
    # A process starts with its parent's getrusage figure; the kernel's own mark begins anew.
    status = Path("/proc/self/status")
    if status.exists():
        return next(int(line.split()[1]) * 1024 for line in status.read_text().splitlines() if "VmHWM" in line)
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * _RSS_UNIT


if __name__ == "__main__":
    action, *arguments = sys.argv[1:]
    if action == "import":
        print(json.dumps(import_tables(Path(arguments[0]), Path(arguments[1]))))
    elif action == "build":
        print(json.dumps(build(arguments[0], Path(arguments[1]), Path(arguments[2]))))
    else:
        print(json.dumps(open_graph(Path(arguments[0]), arguments[1])))
