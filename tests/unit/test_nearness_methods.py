"""`dense` and `hybrid`: the store's rankings, with reasons, and what a served embedder costs."""

import pytest

from fakes import Answer, FakeServer
from fakes.embedder import WordEmbedder, embedded
from orienteer.errors import BadOption
from orienteer.graph import Graph, embed_graph
from orienteer.index import ServedEmbedder
from orienteer.llm import Allowance, Budget, OpenAIConfig
from orienteer.methods import Anchor, Dense, Hybrid, HybridConfig
from orienteer.reading import AnchorConfig
from orienteer.records import Question
from orienteer.retriever import Retriever
from orienteer.settings import Settings

QUESTION = "salt coast captain"


@pytest.fixture(scope="module")
def graph(scratch, small_records):
    return embedded(Graph.from_records(*small_records, path=scratch()), scratch())


def ids(result):
    return [(hit.id, hit.score) for hit in result.hits]


@pytest.mark.parametrize(
    ("method", "searcher"),
    [
        (lambda graph: Dense(graph), lambda graph: graph.arrays.searcher("dense")),
        (lambda graph: Hybrid(graph), lambda graph: graph.arrays.searcher("hybrid")),
        (
            lambda graph: Hybrid(graph, HybridConfig(weight=0.6, pooling="mean")),
            lambda graph: graph.arrays.searcher("hybrid", weight=0.6, best=0),
        ),
        (
            lambda graph: Hybrid(graph, HybridConfig(fusion="rrf", pooling="top", top=2)),
            lambda graph: graph.arrays.searcher("hybrid", fusion="rrf", best=2),
        ),
    ],
)
def test_it_is_the_stores_ranking(graph, method, searcher):
    result = method(graph).retrieve(Question(text=QUESTION), Allowance())
    found = searcher(graph).search(QUESTION, 20)
    assert ids(result) == [(graph.arrays.ids[row], score) for row, score in zip(found.rows, found.scores, strict=True)]
    assert len(result.hits) == len(graph)
    assert (result.answer, result.trajectories, result.usage.calls) == (None, (), 0)


def test_it_keeps_to_k_types_and_conditions(graph):
    question = Question(text="ferry", k=1, node_types=("film",), where=("year > 2000",))
    for method in (Dense(graph), Hybrid(graph)):
        assert [hit.id for hit in method.retrieve(question, Allowance()).hits] == ["f2"]


def test_a_reason_says_how_near_and_which_words(graph):
    best = Hybrid(graph).retrieve(Question(text="frozen sisters zebra"), Allowance()).hits[0]
    words, cosine = best.why.split("; ")
    assert (best.id, set(words.removeprefix("has ").split(", "))) == ("f2", {"frozen", "sisters"})
    assert float(cosine.removeprefix("cosine ")) > 0.2
    assert "frozen" in best.text
    assert Dense(graph).retrieve(Question(text=QUESTION), Allowance()).hits[0].why.startswith("cosine 0.")


def test_wrong_options_are_refused(graph, small):
    with pytest.raises(BadOption, match="weight is -0.1"):
        HybridConfig(weight=-0.1)
    with pytest.raises(BadOption, match="top is 0"):
        HybridConfig(top=0)
    for method in ("dense", "hybrid"):
        with pytest.raises(BadOption, match="orienteer embed"):
            Retriever(small, method, settings=Settings())
    with pytest.raises(BadOption, match="pooling"):
        Retriever(graph, "hybrid", settings=Settings(), pooling="median")


@pytest.fixture
def served(scratch, small_records):
    words = WordEmbedder()
    with FakeServer(
        lambda body, _: Answer(
            vectors=words.embed(body["input"], kind="query").tolist(), usage={"prompt_tokens": len(body["input"])}
        )
    ) as server:
        embedder = ServedEmbedder("fake", OpenAIConfig(base_url=server.url))
        path = scratch()
        embed_graph(Graph.from_records(*small_records, path=path), embedder, cache=scratch())
        yield Graph.open(path, embedder=lambda _: embedder)
        embedder.close()


@pytest.mark.server
@pytest.mark.parametrize("method", ["anchor", "dense", "hybrid"])
def test_a_question_that_a_server_embeds_is_counted_once(served, method):
    retriever = Retriever(served, method, settings=Settings())
    first, again = retriever.search(QUESTION), retriever.search(QUESTION)
    assert (first.usage.calls, first.usage.prompt_tokens, first.usage.usd) == (1, 1, None)
    assert (again.usage.calls, again.usage.usd) == (0, 0)
    assert first.hits == again.hits


@pytest.mark.server
def test_a_budget_that_allows_no_call_embeds_nothing(served):
    result = Dense(served).retrieve(Question(text=QUESTION), Allowance(Budget(calls=1), reserve=1))
    assert (result.hits, result.stopped_by) == ((), "calls")
    assert "could not be embedded" in result.notes[0]


@pytest.mark.server
def test_anchor_goes_without_vectors_where_the_budget_allows_no_call(served):
    result = Anchor(served).retrieve(Question(text=QUESTION), Allowance(Budget(calls=1), reserve=1))
    assert (
        result.hits
        == Anchor(served, AnchorConfig(meaning_weight=0)).retrieve(Question(text=QUESTION), Allowance()).hits
    )
    assert result.stopped_by == "finish"
    assert result.notes[-1].startswith("not ranked by meaning, the question could not be embedded")


@pytest.mark.server
def test_a_served_graph_needs_to_be_told_where(served, monkeypatch):
    with pytest.raises(BadOption, match="openai:fake"):
        Graph.open(served.path).search("salt", mode="dense")
    monkeypatch.setenv("ORIENTEER_EMBEDDER_URL", served.arrays.searcher.open_embedder("openai:fake").base_url)
    assert Retriever(served.path, "dense").search(QUESTION).hits
