"""The component of Haystack, by Haystack."""

import asyncio

import pytest

pytest.importorskip("haystack", reason="haystack-ai is not installed: pip install 'orienteer[haystack]'")

from haystack import Pipeline
from haystack.components.builders import PromptBuilder
from haystack.tools import create_tool_from_function

from adapters.conftest import QUESTION, RUBY
from orienteer.adapters.haystack import OrienteerRetriever
from orienteer.errors import NotAGraph


@pytest.fixture
def pipeline(languages):
    """Give a pipeline that writes a prompt of what was found."""
    made = Pipeline()
    made.add_component("graph", OrienteerRetriever(str(languages), method="anchor", top_k=3))
    made.add_component("prompt", PromptBuilder("{% for document in documents %}{{ document.content }}\n{% endfor %}"))
    made.connect("graph.documents", "prompt.documents")
    return made


def asked(pipeline, **more):
    return pipeline.run({"graph": {"query": QUESTION, **more}}, include_outputs_from={"graph"})


def test_documents_are_the_hits(pipeline, retriever):
    given = asked(pipeline)
    hits = retriever.search(QUESTION, 3).hits
    documents = given["graph"]["documents"]
    assert [(document.id, document.score) for document in documents] == [(hit.id, hit.score) for hit in hits]
    assert documents[0].meta["why"] == "Yukihiro Matsumoto <-designed_by- Ruby"
    assert given["prompt"]["prompt"].startswith("Ruby (language)\nYukihiro Matsumoto <-designed_by- Ruby")
    assert len(asked(pipeline, top_k=1)["graph"]["documents"]) == 1


def test_a_pipeline_is_written_and_read_again(pipeline):
    again = Pipeline.loads(pipeline.dumps(), allowed_modules=["orienteer.adapters.haystack"])
    assert asked(again)["graph"]["documents"][0].id == RUBY


def test_it_runs_beside_others(languages, retriever):
    component = OrienteerRetriever(str(languages), method="anchor", top_k=3)
    given = asyncio.run(component.run_async(QUESTION, top_k=2))
    assert [document.id for document in given["documents"]] == [hit.id for hit in retriever.search(QUESTION, 2).hits]


def test_it_is_made_without_its_graph():
    component = OrienteerRetriever("nowhere")
    assert OrienteerRetriever.from_dict(component.to_dict()).graph == "nowhere"
    with pytest.raises(NotAGraph):
        component.run(QUESTION)


def test_plain_functions_are_tools(retriever):
    search, neighbors, ask = map(create_tool_from_function, retriever.as_functions())
    assert RUBY in search.invoke(query="Ruby", k=1)
    assert neighbors.invoke(node="rubby").startswith("error: ")
    assert list(ask.parameters["properties"]) == ["question"]
