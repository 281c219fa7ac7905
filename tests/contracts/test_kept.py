"""What earlier versions wrote still opens: `tests/kept` has a graph, trajectories and a run, never written anew.

When a format changes, add what the new version writes beside these, and keep these. If a version can no longer be
read, its test says which error names the one command that makes it again.
"""

import json
import shutil
from pathlib import Path

import pytest

from orienteer import Graph, Retriever, read_run
from orienteer.agents import read_trajectories
from orienteer.errors import BadInput, NotAGraph
from orienteer.lab.replay import replay as replay_trajectory

KEPT = Path(__file__).parents[1] / "kept"


@pytest.fixture
def graph(tmp_path):
    return Graph.open(shutil.copytree(KEPT / "graph", tmp_path / "graph"))


def test_a_graph_opens_and_answers(graph):
    assert Retriever(graph).ask("Who directed Salt?").answer == "Ada Holm"
    assert graph.node("ada").properties == {"born": 1961}


def test_trajectories_are_read_and_replay(graph):
    [trajectory] = read_trajectories(KEPT / "trajectories.jsonl")
    assert trajectory.selected
    assert all(call.is_equal for call in replay_trajectory(trajectory, graph))


def test_a_run_is_read():
    run = read_run(KEPT / "run")
    assert [line.hits[0].id for line in run.lines] == ["ada"]


def test_a_graph_of_a_later_format_is_refused_with_the_remedy(tmp_path):
    path = shutil.copytree(KEPT / "graph", tmp_path / "graph")
    pointer = json.loads((path / "orienteer.json").read_text(encoding="utf-8"))
    (path / "orienteer.json").write_text(json.dumps({**pointer, "format": 99}), encoding="utf-8")
    with pytest.raises(NotAGraph, match="99.*(upgrade|make it again|import)"):
        Graph.open(path)


def test_a_run_of_a_later_version_is_refused_with_the_remedy(tmp_path):
    path = shutil.copytree(KEPT / "run", tmp_path / "run")
    manifest = json.loads((path / "manifest.json").read_text(encoding="utf-8"))
    (path / "manifest.json").write_text(json.dumps({**manifest, "version": 99}), encoding="utf-8")
    with pytest.raises(BadInput, match="run it again"):
        read_run(path)
