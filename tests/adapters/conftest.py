"""The demo graph, and a retriever over it that needs no model."""

import pytest

from orienteer import Graph, Retriever
from orienteer.ingest import demo_records
from orienteer.settings import Settings

QUESTION = "Which language did Matz design?"
RUBY = "language:ruby"


@pytest.fixture(scope="session")
def languages(scratch):
    """Give the path of the demo graph."""
    path = scratch()
    Graph.from_records(*demo_records(), path=path)
    return path


@pytest.fixture
def retriever(languages):
    """Give a retriever over the demo graph."""
    return Retriever(languages, "anchor", settings=Settings())
