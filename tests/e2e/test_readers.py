"""Eight processes read a graph while a ninth replaces it: none fails, and no answer mixes two graphs.

The processes are started by this file run as a program, which has no threads and may fork.
"""

import os
import subprocess
import sys
import time
import traceback
from pathlib import Path

import pytest

READERS, REPLACEMENTS = 8, 20
PAUSE = 0.02  # seconds between two replacements, so that readers meet each of them

pytestmark = pytest.mark.skipif(not hasattr(os, "fork"), reason="needs fork")


def test_readers_never_fail_while_the_graph_is_replaced(scratch):
    program = subprocess.run(
        [sys.executable, __file__, str(scratch())], capture_output=True, text=True, timeout=100, check=False
    )
    assert program.returncode == 0, program.stderr
    rounds, versions = (int(count) for count in program.stdout.split())
    assert rounds >= READERS
    assert versions > READERS, "the readers saw hardly more than one graph each"


def build(path, version):
    """Make a graph whose every node and edge tells its version."""
    from orienteer.graph import Graph
    from orienteer.records import Edge, Node

    nodes = [
        Node(f"n{at}", f"type{version}", f"called v{version}", f"text {at} of v{version}", (), {"version": version})
        for at in range(100 + version)
    ]
    edges = [Edge("n0", f"edge{version}", f"n{at}", f"v{version}") for at in range(1, 100 + version)]
    Graph.from_records(nodes, edges, path=path, force=True)


def read_all(graph):
    """Ask a graph everything there is to ask; return the one version that all the answers are of."""
    (node_type,) = graph.schema.node_types
    version = int(node_type.removeprefix("type"))
    size = 100 + version
    assert len(graph) == size
    assert [hit.id for hit in graph.search(f"v{version} 7", 1)] == ["n7"]
    assert len(graph.search(f"v{version}", 10**6, where=[f"version = {version}"])) == size
    page = graph.neighbors("n0", f"v{version}", node_types=[node_type], k=5)
    assert page.total == size - 1
    assert {(edge.type, edge.text) for hit in page.hits for edge in hit.edges} == {(f"edge{version}", f"v{version}")}
    assert graph.node("n3").text == f"text 3 of v{version}"
    assert graph.node("n3").properties == {"version": version}
    assert len(graph.arrays.candidates(f"called v{version}")) == size
    assert len(graph.intersect(["n1", "n2"])) == 1
    assert graph.paths("n1", "n2")[0].length == 2
    return version


def read(path, stop):
    """Open and ask over and over until told to stop; return how often, and how many graphs were seen."""
    from orienteer.graph import Graph

    rounds, versions = 0, set()
    while True:
        is_last = stop.exists()
        graph = Graph.open(path)
        time.sleep(PAUSE * (rounds % 3))  # a graph that is open stays whole, also when it is first used later
        version = read_all(graph)
        assert version >= max(versions, default=0), "an older graph came back"
        assert read_all(graph) == version
        versions.add(version)
        rounds += 1
        if is_last:
            assert version == REPLACEMENTS, "the last graph was not seen"
            return rounds, len(versions)


def start(path, stop, result):
    """Fork a reader that leaves its counts, or the error, in a file."""
    child = os.fork()
    if child:
        return child
    try:
        rounds, versions = read(path, stop)
        result.write_text(f"{rounds} {versions}")
    except BaseException:  # noqa: BLE001  (whatever it is goes into the parent's report)
        result.write_text(traceback.format_exc())
    finally:
        os._exit(0)


def main(base):
    base.mkdir()
    path, stop = base / "graph", base / "stop"
    build(path, 0)
    results = [base / f"reader{number}" for number in range(READERS)]
    children = [start(path, stop, result) for result in results]
    for version in range(1, REPLACEMENTS + 1):
        time.sleep(PAUSE)
        build(path, version)
    stop.touch()
    for child in children:
        os.waitpid(child, 0)
    outputs = [result.read_text() for result in results]
    failed = [text for text in outputs if "Traceback" in text]
    if failed:
        sys.exit(f"{len(failed)} of {READERS} readers failed; the first:\n{failed[0]}")
    rounds, versions = (sum(int(text.split()[place]) for text in outputs) for place in (0, 1))
    sys.stdout.write(f"{rounds} {versions}\n")


if __name__ == "__main__":
    main(Path(sys.argv[1]))
