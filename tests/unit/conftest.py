"""Fixtures of the tests of the tools."""

import pytest

from clinic import EDGES, NODES
from orienteer.graph import Graph
from orienteer.tools import Toolbox


@pytest.fixture(scope="module")
def make(tmp_path_factory):
    return lambda nodes, edges=(): Graph.from_records(nodes, edges, path=tmp_path_factory.mktemp("graph") / "graph")


@pytest.fixture(scope="module")
def graph(make):
    return make(NODES, EDGES)


@pytest.fixture
def toolbox(graph):
    return Toolbox.full(graph)
