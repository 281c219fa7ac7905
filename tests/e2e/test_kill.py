"""A process that is killed while it replaces a graph leaves the old graph or the new one, whole.

The killing is done by this file run as a program: one process without threads, which forks its victims.
"""

import os
import random
import signal
import struct
import subprocess
import sys
import time
from pathlib import Path

import pytest

KILLS = 100
FIRST_KILLS = 20  # of them while no graph is there yet
LATEST = 0.08  # seconds: beyond the longest build, so that a kill may fall into any part of one
LATEST_PUBLISHING = 0.01  # seconds, the same for what is done after all files are written
MESSAGE = "=?I"  # whether a version is finished or only being published, and the version

pytestmark = pytest.mark.skipif(not hasattr(os, "fork"), reason="needs fork and SIGKILL")


def test_a_graph_survives_the_death_of_whoever_replaces_it(scratch):
    program = subprocess.run(
        [sys.executable, __file__, str(scratch()), "7"], capture_output=True, text=True, timeout=100, check=False
    )
    assert program.returncode == 0, program.stderr
    survived, replaced = (int(count) for count in program.stdout.split())
    assert survived + replaced == KILLS
    assert survived > KILLS // 4, "hardly any kill fell into a build"
    assert replaced, "no kill fell between the publishing of a graph and the end of its build"


def content(version):
    """Return nodes and edges that tell which version they belong to, and how many there ought to be."""
    from orienteer.records import Edge, Node

    nodes = [
        Node(f"n{at}", "odd" if at % 2 else "even", f"name {at}", f"version v{version}", (), {"version": version})
        for at in range(200 + version % 7)
    ]
    edges = [Edge(f"n{at}", "next", f"n{at + 1}", properties={"version": version}) for at in range(len(nodes) - 1)]
    return nodes, edges


def build(path, version, *, force=True):
    from orienteer.graph import Graph

    return Graph.from_records(*content(version), path=path, force=force)


def check(path):
    """Return the version of a graph after having read all of it."""
    from orienteer.graph import Graph, damaged_files

    graph = Graph.open(path)
    version = graph.node("n0").properties["version"]
    nodes, edges = content(version)
    assert damaged_files(path) == []
    assert [graph.arrays.node_at(row) for row in range(len(graph))] == sorted(nodes, key=lambda node: node.id)
    assert sorted(map(repr, graph.iter_edges())) == sorted(map(repr, edges))
    assert len(graph.search(f"v{version}", 10**6)) == len(nodes)
    assert graph.neighbors("n5", f"v{version}").total == 2
    return version


def rebuild(path, version, pipe):
    """Replace the graph without end, telling what is being published and what has been."""
    from orienteer.graph import EdgeBatch, GraphBuilder

    def tell(stage, _):
        if stage == "publishing":
            os.write(pipe, struct.pack(MESSAGE, False, version))

    while True:
        version += 1
        nodes, edges = content(version)
        with GraphBuilder(path, force=True, progress=tell) as builder:
            for node in nodes:
                builder.add_node(node)
            columns = ([edge.source for edge in edges], [edge.type for edge in edges], [edge.target for edge in edges])
            builder.add_edges(EdgeBatch(*columns, extras=[{"properties": edge.properties} for edge in edges]))
            builder.publish()
        os.write(pipe, struct.pack(MESSAGE, True, version))


def kill_one(path, version, random_):
    """Let a process replace the graph for a while, kill it, and return the last version that it finished.

    One kill in three falls somewhere in a build, the others right into the publishing at its end.
    """
    read, write = os.pipe()
    child = os.fork()
    if child == 0:
        os.close(read)
        try:
            rebuild(path, version, write)
        finally:
            os._exit(1)  # only a fault gets here
    os.close(write)
    with os.fdopen(read, "rb") as pipe:
        output = b""
        if random_.random() < 1 / 3:
            time.sleep(random_.uniform(0, LATEST))
        else:
            output = pipe.read(struct.calcsize(MESSAGE))
            time.sleep(random_.uniform(0, LATEST_PUBLISHING))
        os.kill(child, signal.SIGKILL)
        _, status = os.waitpid(child, 0)
        assert os.WIFSIGNALED(status), "the victim failed by itself"
        output += pipe.read()
    return max((number for is_done, number in struct.iter_unpack(MESSAGE, output) if is_done), default=version)


def kill_many(path, random_):
    """Kill one process after another over one graph; return how many left the old graph and how many the new."""
    version, survived, replaced = 0, 0, 0
    build(path, version, force=False)
    for _ in range(KILLS - FIRST_KILLS):
        finished = kill_one(path, version, random_)
        version = check(path)
        assert version in (finished, finished + 1), f"{finished} was finished and {version} found"
        survived, replaced = survived + (version == finished), replaced + (version != finished)
    build(path, version + 1)
    assert check(path) == version + 1
    assert_clean(path)
    return survived, replaced


def kill_first(path, random_):
    """Kill one process while it makes a graph where there was none; tell whether the graph was finished."""
    from orienteer.errors import NotAGraph
    from orienteer.graph import Graph, is_graph

    finished = kill_one(path, 0, random_)
    if is_graph(path):
        version = check(path)
        assert version in (finished, finished + 1)
    else:
        version = 0
        assert finished == 0
        with pytest.raises(NotAGraph):
            Graph.open(path)
    build(path, version + 1, force=version > 0)  # what a dead process left needs no force
    assert check(path) == version + 1
    assert_clean(path)
    return version != finished


def assert_clean(path):
    """Check that one generation and nothing of the dead is left."""
    assert {entry.name for entry in path.iterdir()} <= {"orienteer.json", "generations", ".lock"}
    assert len(list((path / "generations").iterdir())) == 1


def main(base, random_seed):
    random_ = random.Random(random_seed)
    base.mkdir()
    survived, replaced = kill_many(base / "graph", random_)
    for at in range(FIRST_KILLS):
        finished = kill_first(base / f"first{at}", random_)
        survived, replaced = survived + (not finished), replaced + finished
    sys.stdout.write(f"{survived} {replaced}\n")


if __name__ == "__main__":
    main(Path(sys.argv[1]), int(sys.argv[2]))
