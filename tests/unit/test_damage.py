"""Damage and hostile files: whatever byte of a graph is wrong, that is told, or the answer is what it was."""

import json
import os
import shutil

import numpy as np
import pytest

from damages import KINDS, damaged
from orienteer.errors import Error, NotAGraph
from orienteer.graph import damage, format
from orienteer.graph.store import Graph
from orienteer.records import Edge, Node
from orienteer.retriever import Retriever

TIMES = 1  # damages of each kind a file


@pytest.fixture(scope="module")
def records(small_records):
    many = [
        Node(f"n{at:03}", "ship", f"Ship {at} of the Line", f"salt {'sail ' * (at * 9)}and ferry {at % 7}", ("Łódka",))
        for at in range(60)
    ]
    edges = [Edge(f"n{at:03}", "follows", f"n{(at * 7 + 1) % 60:03}", weight=at / 3) for at in range(60)]
    return [*small_records.nodes, *many], [*small_records.edges, *edges, Edge("n001", "carries", "f2", "in a crate")]


@pytest.fixture(scope="module")
def whole(build, records):
    """Give the folder of a graph in which every file holds something."""
    graph = build(*records)
    assert not [name for name, one in graph.manifest.files.items() if not one.bytes]
    return graph.path


@pytest.fixture
def copy(whole, tmp_path):
    """Give a copy of its own of the folder."""
    return shutil.copytree(whole, tmp_path / "graph")


READINGS = {
    "search": lambda graph: [graph.search(words, 5) for words in ("salt ferry", "sail", "captain", "林檎", "line")],
    "typed": lambda graph: graph.search("salt", 50, node_types=["film", "ship"], where=["year>1990"]),
    "where": lambda graph: [graph.search("salt", where=[one]) for one in ("year!=1998", "awards=x", "born>1970-01-01")],
    "node": lambda graph: [graph.node(name) for name in ("Night Ferry", "Lodz", "n007", "Ship 9 of the Line", "p1")],
    "near": lambda graph: [graph.near_names(name) for name in ("Nigth Fery", "Shipp", "Sall")],
    "neighbors": lambda graph: [graph.neighbors(name, "ferry") for name in ("p1", "n001", "f2", "c1")],
    "several": lambda graph: graph.neighbors(["p1", "n001", "f2"], edge_types=["wrote", "follows"], k=50),
    "intersect": lambda graph: graph.intersect(["f1", "f2"]),
    "paths": lambda graph: [graph.paths("p3", "c1"), graph.paths("n000", "n001", 8)],
    "edges": lambda graph: list(graph.iter_edges()),
    "ids": lambda graph: list(graph.node_ids()),
    "anchor": lambda graph: Retriever(graph, "anchor", settings=None).search("which films did Ada Holm direct?", 5).hits,
    "sage": lambda graph: Retriever(graph, "sage").search("ships that follow a ferry", 5).hits,
}


def read(path):
    """Return what every reading gives, or the error of ours that it ends in; any other error is raised."""
    found = {}
    for name, reading in READINGS.items():
        try:
            found[name] = reading(Graph.open(path))
        except Error as error:
            found[name] = error
    return found


@pytest.mark.parametrize("kind", KINDS)
def test_any_damage_is_told_or_changes_an_answer_and_nothing_else(copy, kind, record_property):
    random = np.random.default_rng(KINDS.index(kind))
    right = read(copy)
    assert not [one for one in right.values() if isinstance(one, Error)]
    (generation,) = (copy / "generations").iterdir()
    held = told = 0
    for file in sorted(generation.iterdir()):
        content = file.read_bytes()
        for _ in range(TIMES):
            other = damaged(content, kind, random)
            if other == content:
                continue
            file.write_bytes(other)
            assert file.name in damage.damaged_files(copy)
            found = read(copy)
            assert found.keys() == right.keys()
            told += sum(isinstance(one, NotAGraph) and "damaged" in str(one) for one in found.values())
            held += 1
        file.write_bytes(content)
    assert held > 50
    assert told > 20
    record_property("corpus", f"damage: {kind}")
