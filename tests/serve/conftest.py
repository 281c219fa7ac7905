"""What the tests of servers share: graphs, a model that is watched, a client."""

import pytest

from fakes.talks import Searcher, graphs_at
from orienteer.graph import Graph
from orienteer.ingest import demo_records


@pytest.fixture(scope="session")
def languages(scratch):
    """Give the graph about programming languages, in a folder of its name; who writes makes a copy."""
    path = scratch() / "languages"
    path.parent.mkdir(parents=True, exist_ok=True)
    return Graph.from_records(*demo_records(), path=path)


@pytest.fixture(scope="module")
def client(languages, small):
    """Give a client of a server with two graphs and no model."""
    pytest.importorskip("fastapi", reason="needs the extra serve")
    from fakes.http_site import serving

    with serving({"languages": languages, "small": small}) as client:
        yield client


@pytest.fixture
def served(languages):
    """Give the graph about programming languages as a server has it, without a model."""
    return graphs_at({"languages": languages.path})


@pytest.fixture
def searcher():
    """Give a model that is watched."""
    return Searcher
