"""A corpus of a few passages, and a model behind a real server that says what a policy makes of a request."""

import pytest

from coast import BORN, MENTIONS, OTHERS, PASSAGES
from fakes import Answer, FakeServer
from orienteer.llm import OpenAIConfig, OpenAIModel
from orienteer.retriever import Retriever
from orienteer.settings import Settings


@pytest.fixture(scope="session")
def coast(build):
    """Give a graph of documents with passages, a table, entities and one relation."""
    return build((*PASSAGES, *OTHERS), (BORN, *MENTIONS))


@pytest.fixture
def asking(coast):
    """Give a function that makes a retriever whose model sits behind a server, and that server."""
    opened = []

    def make(method, say, *, graph=coast, budget=None, random_seed=0, **options):
        def policy(body, _):
            said = say(body["messages"][0]["content"], body["messages"][-1]["content"])
            return said if isinstance(said, Answer) else Answer(content=said)

        server = FakeServer(policy)
        server.__enter__()
        model = OpenAIModel("fake", OpenAIConfig(base_url=server.url, retries=0))
        opened.append((server, model))
        given = {} if budget is None else {"budget": budget}
        retriever = Retriever(
            graph, method, model=model, settings=Settings(), random_seed=random_seed, **given, **options
        )
        return retriever, server

    yield make
    for server, model in opened:
        model.close()
        server.__exit__()
