"""The copy that Cypher reads, damaged: it is made anew, once, and answers as before; a disk that is full is told."""

import json
import os
import subprocess
import sys

import numpy as np
import pytest

from damages import KINDS, damaged
from orienteer.cypher import Cypher, is_copy_new
from orienteer.errors import QueryStopped
from orienteer.graph import Graph, damaged_pieces, piece_folder
from orienteer.records import Edge, Node

pytest.importorskip("ladybug")

pytestmark = pytest.mark.process

QUERY = "MATCH (a:T)-[r:knows]->(b) RETURN a.id, b.name, a.year, r.since ORDER BY a.id"


@pytest.fixture
def graph(scratch):
    nodes = [Node(f"n{at}", "T", f"Node {at}", properties={"year": at}) for at in range(50)]
    edges = [Edge(f"n{at}", "knows", f"n{at * 7 % 50}", properties={"since": at}) for at in range(1, 49)]
    return Graph.from_records(nodes, edges, path=scratch())


def spoil(file, change):
    content = file.read_bytes()
    file.chmod(0o644)
    file.write_bytes(change(content))


DAMAGES = {
    "zeros": lambda content: bytes(len(content)),
    "a page": lambda content: damaged(content, "a page", np.random.default_rng(0)),
    "three pages": lambda content: os.urandom(3 << 12) + content[3 << 12 :],
    "the rear": lambda content: content[: len(content) // 4] + bytes(len(content) - len(content) // 4),
    "cut": lambda content: content[:-4096],
    "empty": lambda _: b"",
}


@pytest.mark.parametrize("name", DAMAGES)
@pytest.mark.parametrize("has_hashes", [True, False])
def test_a_damaged_copy_is_made_anew_and_answers_as_before(graph, name, has_hashes):
    right = Cypher(graph).query(QUERY).rows
    folder = piece_folder(graph.path, "cypher")
    Cypher(graph).close()
    spoil(folder / "cypher.lbug", DAMAGES[name])
    if not has_hashes:  # as it was published before they were kept
        pointer = json.loads((graph.path / "orienteer.json").read_text())
        pointer["pieces"]["cypher"] = folder.name
        (graph.path / "orienteer.json").write_text(json.dumps(pointer))
    opened = Graph.open(graph.path)
    assert Cypher(opened).query(QUERY).rows == right
    assert not folder.exists()
    assert damaged_pieces(graph.path) == {Cypher(opened).engine.folder: []}


@pytest.mark.parametrize("kind", KINDS)
def test_a_damaged_catalog_is_found_when_it_is_opened(graph, kind):
    right = Cypher(graph).query(QUERY).rows
    folder = piece_folder(graph.path, "cypher")
    spoil(folder / "catalog.json", lambda content: damaged(content, kind, np.random.default_rng(1)))
    opened = Graph.open(graph.path)
    assert is_copy_new(opened.path)
    assert Cypher(opened).query(QUERY).rows == right
    assert not folder.exists()


def test_a_copy_that_is_whole_is_not_made_again_for_a_query_that_fails(graph):
    Cypher(graph).query("RETURN 1")
    folder = piece_folder(graph.path, "cypher")
    for _ in range(2):
        with pytest.raises(QueryStopped):
            Cypher(graph).query(
                "UNWIND range(1, 9999) AS x UNWIND range(1, 9999) AS y RETURN sum(x * y % 7)", seconds=0.05
            )
    assert piece_folder(graph.path, "cypher") == folder


def test_a_copy_is_made_anew_once(graph):
    Cypher(graph).query("RETURN 1")
    session = Cypher(graph)
    session.close()
    spoil(session.engine.folder / "cypher.lbug", DAMAGES["zeros"])
    assert Cypher(graph).query("RETURN 1").rows == ((1,),)
    session.close()
    spoil(session.engine.folder / "cypher.lbug", DAMAGES["zeros"])
    with pytest.raises(QueryStopped, match="did not start"):
        Cypher(graph).query("RETURN 1")


FULL = """
import resource, sys
resource.setrlimit(resource.RLIMIT_FSIZE, (1 << 18, 1 << 18))
from orienteer.serve import main
sys.exit(main(["cypher", sys.argv[1], "RETURN 1", "-q"]))
"""


@pytest.mark.skipif(sys.platform == "win32", reason="a limit of the system's")
def test_a_disk_that_takes_no_more_is_told_in_a_line(graph):
    ran = subprocess.run([sys.executable, "-c", FULL, str(graph.path)], capture_output=True, text=True, timeout=60)
    assert (ran.returncode, ran.stdout) == (1, "")
    (line,) = ran.stderr.splitlines()
    assert "cypher.lbug" in line
    assert {one.name for one in graph.path.iterdir()} == {".lock", "generations", "orienteer.json"}
    assert Cypher(graph).query("RETURN 1").rows == ((1,),)
