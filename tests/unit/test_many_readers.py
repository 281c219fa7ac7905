"""One graph is read by many processes at once, while it is published anew."""

import os
import sys

import pytest

from orienteer.graph import Graph
from orienteer.ingest import demo_records

pytestmark = [pytest.mark.skipif(not hasattr(os, "fork"), reason="needs fork"), pytest.mark.process]
READERS = 16
_READER = """
import sys
from pathlib import Path
from orienteer.graph import Graph

path, stop = Path(sys.argv[1]), Path(sys.argv[2])
seen, searches = set(), 0
while not stop.exists() or searches < 3:
    graph = Graph.open(path)
    seen.add(graph.generation)
    hits = graph.search("Python", 3)
    assert hits[0].id == "language:python", hits
    assert graph.paths("language:python", "person:guido-van-rossum")
    searches += 1
print(searches, len(seen))
"""


def test_sixteen_processes_read_while_the_graph_is_published_anew(tmp_path):
    import subprocess

    path, stop = tmp_path / "graph", tmp_path / "stop"
    nodes, edges = demo_records()
    Graph.from_records(nodes, edges, path=path)
    readers = [
        subprocess.Popen([sys.executable, "-c", _READER, path, stop], stdout=subprocess.PIPE, text=True)
        for _ in range(READERS)
    ]
    try:
        for _ in range(3):
            Graph.from_records(nodes, edges, path=path, force=True)
    finally:
        stop.touch()
        told = [reader.communicate(timeout=120)[0] for reader in readers]
    assert [reader.returncode for reader in readers] == [0] * READERS
    assert all(int(line.split()[0]) >= 3 for line in told)
