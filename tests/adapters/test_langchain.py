"""The retriever of LangChain, by LangChain."""

import asyncio
import json

import pytest

pytest.importorskip("langchain_core", reason="langchain-core is not installed: pip install 'orienteer[langchain]'")

from langchain_core.language_models.fake_chat_models import FakeListChatModel
from langchain_core.output_parsers import StrOutputParser
from langchain_core.prompts import ChatPromptTemplate
from langchain_core.runnables import RunnableLambda, RunnablePassthrough
from langchain_core.tools import create_retriever_tool, tool

from adapters.conftest import QUESTION, RUBY
from orienteer.adapters.langchain import OrienteerRetriever


@pytest.fixture
def adapter(retriever):
    return OrienteerRetriever(retriever=retriever, k=3)


def test_documents_are_the_hits(adapter, retriever):
    documents = adapter.invoke(QUESTION)
    assert [document.id for document in documents] == [hit.id for hit in retriever.search(QUESTION, 3).hits]
    first = documents[0]
    assert first.page_content.startswith("Ruby (language)\nYukihiro Matsumoto <-designed_by- Ruby")
    assert (first.metadata["rank"], first.metadata["id"], first.metadata["complete"]) == (1, RUBY, True)
    json.dumps(first.metadata)


def test_batch_and_async(adapter):
    assert [documents[0].id for documents in adapter.batch([QUESTION, QUESTION])] == [RUBY, RUBY]
    assert asyncio.run(adapter.ainvoke(QUESTION))[0].id == RUBY


def test_a_call_says_how_many(adapter):
    assert [document.id for document in adapter.invoke(QUESTION, k=1)] == [RUBY]
    assert len(asyncio.run(adapter.ainvoke(QUESTION, k=1))) == 1


def test_a_chain_over_it_answers(adapter):
    seen = []
    chain = (
        {"context": adapter, "question": RunnablePassthrough()}
        | ChatPromptTemplate.from_template("{context}\n{question}")
        | RunnableLambda(lambda prompt: seen.append(prompt.to_string()) or prompt)
        | FakeListChatModel(responses=["Ruby"])
        | StrOutputParser()
    )
    assert chain.invoke(QUESTION) == "Ruby"
    assert "Yukihiro Matsumoto <-designed_by- Ruby" in seen[0]


def test_it_is_a_tool(adapter):
    made = create_retriever_tool(adapter, "languages", "Finds programming languages.")
    assert "Ruby (language)" in made.invoke({"query": QUESTION})


def test_plain_functions_are_tools(retriever):
    search, neighbors, ask = map(tool, retriever.as_functions())
    assert RUBY in search.invoke({"query": "Ruby", "k": 1})
    assert neighbors.invoke({"node": "rubby"}).startswith("error: ")
    assert ask.invoke({"question": QUESTION}).startswith("read as: ")
