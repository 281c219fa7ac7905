"""Servers that several test files share."""

import pytest

from orienteer.graph.store import Graph
from orienteer.ingest.demo import demo_records


@pytest.fixture(scope="session")
def languages(scratch):
    """Give the demo graph, in a folder of its name."""
    nodes, edges = demo_records()
    return Graph.from_records(nodes, edges, path=scratch() / "languages")


@pytest.fixture(scope="module")
def client(languages, small):
    """Give a client of a server with two graphs and no model."""
    pytest.importorskip("fastapi", reason="needs the extra serve")
    from fakes.http_site import serving

    with serving({"languages": languages, "small": small}) as client:
        yield client
