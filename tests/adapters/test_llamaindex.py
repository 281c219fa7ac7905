"""The retriever of LlamaIndex, by LlamaIndex."""

import asyncio

import pytest

pytest.importorskip("llama_index.core", reason="llama-index-core is not installed: pip install 'orienteer[llamaindex]'")

from llama_index.core.llms import MockLLM
from llama_index.core.query_engine import RetrieverQueryEngine
from llama_index.core.schema import MetadataMode
from llama_index.core.tools import FunctionTool

from adapters.conftest import QUESTION, RUBY
from orienteer.adapters.llamaindex import OrienteerRetriever


@pytest.fixture
def adapter(retriever):
    return OrienteerRetriever(retriever, k=3)


def test_nodes_are_the_hits(adapter, retriever):
    nodes = adapter.retrieve(QUESTION)
    hits = retriever.search(QUESTION, 3).hits
    assert [(node.node.node_id, node.score) for node in nodes] == [(hit.id, hit.score) for hit in hits]
    first = nodes[0].node
    assert first.metadata["why"] == "Yukihiro Matsumoto <-designed_by- Ruby"
    for mode in (MetadataMode.LLM, MetadataMode.EMBED):
        assert first.get_content(mode).startswith("Ruby (language)\nYukihiro Matsumoto <-designed_by- Ruby")


def test_async(adapter):
    assert asyncio.run(adapter.aretrieve(QUESTION))[0].node.node_id == RUBY


def test_a_query_engine_over_it_answers(adapter):
    answer = RetrieverQueryEngine.from_args(adapter, llm=MockLLM()).query(QUESTION)
    assert "Yukihiro Matsumoto <-designed_by- Ruby" in str(answer)  # the fake model repeats its prompt
    assert answer.source_nodes[0].node.node_id == RUBY


def test_plain_functions_are_tools(retriever):
    search, neighbors, ask = (FunctionTool.from_defaults(function) for function in retriever.as_functions())
    assert RUBY in str(search(query="Ruby", k=1))
    assert str(neighbors(node="rubby")).startswith("error: ")
    assert ask.metadata.name == "ask_graph"
