"""What the tests of servers share: the demo graph, and a model that is watched."""

import pytest

from fakes.talks import Searcher
from orienteer.graph.store import Graph
from orienteer.ingest.demo import demo_records
from orienteer.serve.served import ServedGraphs


@pytest.fixture(scope="session")
def languages(scratch):
    """Give the directory of a graph about programming languages; who writes makes a copy."""
    path = scratch() / "languages"
    path.parent.mkdir(parents=True)
    Graph.from_records(*demo_records(), path=path)
    return path


@pytest.fixture
def served(languages):
    """Give the graph about programming languages as a server has it, without a model."""
    return ServedGraphs({"languages": languages})


@pytest.fixture
def searcher():
    return Searcher
