"""Hybrid searches against their definition, worked out over every node of the graph."""

import numpy as np
import pytest

from fakes.embedder import WordEmbedder, embedded
from orienteer.errors import BadOption
from orienteer.graph import Graph
from orienteer.index import DenseSearcher, HybridSearcher
from orienteer.records import Edge, Node

WORDS = [f"word{number}" for number in range(60)]
NODES = 700
QUERIES = ["word1", "word3 word7 word40", "word59 word58 word2 word2", "unknown words only"]


@pytest.fixture(scope="module")
def graph(scratch):
    random = np.random.default_rng(4)
    common = 1 / np.arange(1, len(WORDS) + 1)
    nodes = []
    for number in range(NODES):
        text = " ".join(random.choice(WORDS, random.integers(1, 9), p=common / common.sum()))
        nodes.append(Node(f"n{number:03}", "thing" if number % 3 else "other", f"name{number % 40}", text))
    nodes[5] = Node("n005", "thing", nodes[4].name, nodes[4].text)  # a tie
    edges = [Edge("n000", "to", f"n{number:03}") for number in range(1, NODES, 2)]
    return embedded(Graph.from_records(nodes, edges, path=scratch()), scratch())


@pytest.fixture(scope="module")
def vectors(graph):
    texts = [f"{name}. {text}" for name, text in zip(graph.arrays.names, graph.arrays.texts, strict=True)]
    return WordEmbedder().embed(texts, kind="document").astype(np.float16).astype(np.float64)


def words_and_cosines(graph, vectors, query):
    lexical = np.zeros(NODES)
    found = graph.arrays.text_index.search(graph.arrays.tokenizer.query(query), NODES)
    lexical[found.rows] = found.scores
    return lexical, vectors @ WordEmbedder().embed([query], kind="query")[0].astype(np.float64)


def stretched(values, low):
    wide = values.max() - low
    return (values - low) / wide if wide else np.zeros(len(values))


def best(scores, k, allowed):
    rows = np.flatnonzero(allowed)
    return rows[np.lexsort((rows, -np.round(scores[rows], 6)))][:k]


def restrictions():
    random = np.random.default_rng(9)
    mask = random.random(NODES) < 0.3
    among = np.flatnonzero(random.random(NODES) < 0.2).astype(np.int32)
    everything = np.ones(NODES, bool)
    of_among = np.isin(np.arange(NODES), among)
    yield {}, everything
    yield {"mask": mask}, mask
    yield {"among": among}, of_among
    yield {"among": among, "mask": mask}, of_among & mask


@pytest.mark.parametrize("query", QUERIES)
@pytest.mark.parametrize("weight", [0.0, 0.4, 0.6, 1.0])
def test_a_linear_search_is_the_weighed_sum_after_min_max_over_the_whole_graph(graph, vectors, query, weight):
    lexical, cosines = words_and_cosines(graph, vectors, query)
    scores = weight * stretched(lexical, 0) + (1 - weight) * stretched(cosines, cosines.min())
    searcher = graph.arrays.searcher("hybrid", weight=weight)
    for given, allowed in restrictions():
        for k in (1, 10, 300):
            found = searcher.search(query, k, **given)
            assert found.scores == pytest.approx(scores[best(scores, k, allowed)], abs=1e-5)
            assert found.scores == pytest.approx(scores[found.rows], abs=1e-5)
            assert allowed[found.rows].all()
            assert len(set(found.rows.tolist())) == min(k, allowed.sum())
    rows = np.arange(NODES, dtype=np.int32)
    assert searcher.scores(query, rows) == pytest.approx(scores, abs=1e-5)


class Without:
    """The vectors of a graph without those of some rows, as after an edit."""

    def __init__(self, index, lost):
        self.index, self.lost = index, lost
        self.rows = np.setdiff1d(index.rows, lost)
        self.ends = index.ends

    def scores(self, vector, rows, **options):
        return np.where(np.isin(rows, self.lost), -1.0, self.index.scores(vector, rows, **options))

    def search(self, vector, k, *, among=None, mask=None, best=1):
        mask = (np.ones(NODES, bool) if mask is None else mask) & ~np.isin(np.arange(NODES), self.lost)
        return self.index.search(vector, k, among=among, mask=mask, best=best)


@pytest.mark.parametrize("query", QUERIES)
@pytest.mark.parametrize("k", [1, 10, 300])
def test_a_row_without_a_vector_is_ranked_by_its_words(graph, vectors, query, k):
    lexical, cosines = words_and_cosines(graph, vectors, query)
    lost = np.arange(3, NODES, 4, dtype=np.int32)
    by_words = stretched(lexical, 0)
    scores = 0.4 * by_words + 0.6 * stretched(cosines, cosines.min())
    scores[lost] = by_words[lost]
    whole = graph.arrays.searcher("hybrid", weight=0.4)
    searcher = HybridSearcher(whole.lexical, DenseSearcher(Without(whole.dense.index, lost), whole.dense.encode))
    found = searcher.search(query, k)
    found_rows = np.flatnonzero(~np.isin(np.arange(NODES), lost) | (lexical > 0))
    order = found_rows[np.lexsort((found_rows, -np.round(scores[found_rows], 6)))][:k]
    assert found.scores == pytest.approx(scores[order], abs=1e-5)
    assert searcher.scores(query, np.arange(NODES, dtype=np.int32)) == pytest.approx(scores, abs=1e-5)


@pytest.mark.parametrize("query", QUERIES)
def test_rrf_adds_the_reciprocals_of_the_places(graph, vectors, query):
    """Cormack, Clarke and Buettcher 2009: the sum of 1 / (60 + rank)."""
    lexical, cosines = words_and_cosines(graph, vectors, query)
    for given, allowed in restrictions():
        scores = np.zeros(NODES)
        for one, kept in ((lexical, allowed & (lexical > 0)), (np.round(cosines, 7), allowed)):
            ranked = best(one, NODES, kept)
            scores[ranked] += 1 / (60 + np.arange(1, len(ranked) + 1))
        found = graph.arrays.searcher("hybrid", fusion="rrf").search(query, 25, **given)
        assert found.scores == pytest.approx(scores[best(scores, 25, allowed)], abs=1e-9)
        assert allowed[found.rows].all()


def test_equal_nodes_stand_in_the_order_of_their_ids(graph):
    query = graph.arrays.texts[4]
    for mode in ("dense", "hybrid"):
        found = graph.arrays.searcher(mode).search(query, NODES)
        places = {row: place for place, row in enumerate(found.rows.tolist())}
        assert places[5] == places[4] + 1
        assert found.scores[places[4]] == found.scores[places[5]]


@pytest.mark.parametrize("mode", ["lexical", "dense", "hybrid"])
def test_a_neighbourhood_is_ranked_whole(graph, mode):
    page = graph.neighbors("n000", "word3 word7", mode=mode, k=NODES)
    assert page.total == len(page.hits) == NODES // 2
    assert [hit.score for hit in page.hits] == sorted((hit.score for hit in page.hits), reverse=True)
    first = graph.neighbors("n000", "word3 word7", mode=mode, k=7)
    second = graph.neighbors("n000", "word3 word7", mode=mode, k=7, offset=7)
    assert [*first.hits, *second.hits] == list(page.hits[:14])


def test_a_hybrid_score_is_the_same_wherever_it_is_asked_for(graph):
    everywhere = {hit.id: hit.score for hit in graph.search("word3 word7", NODES, mode="hybrid")}
    inside = graph.neighbors("n000", "word3 word7", mode="hybrid", k=NODES).hits
    assert {hit.id: hit.score for hit in inside} == pytest.approx({hit.id: everywhere[hit.id] for hit in inside})


@pytest.mark.parametrize("mode", ["dense", "hybrid"])
def test_nothing_is_asked_and_nothing_is_found(graph, mode):
    assert graph.search("", 5, mode=mode) == graph.search("word1", 0, mode=mode) == ()
    assert graph.search(" \n", 5, mode=mode) == ()
    only = graph.search("word1", 9, mode=mode, node_types=["other"])
    assert {graph.node(hit.id).type for hit in only} == {"other"}


def test_what_cannot_be_is_refused(graph):
    with pytest.raises(BadOption, match="weight is 1.5"):
        graph.arrays.searcher("hybrid", weight=1.5)
    with pytest.raises(BadOption, match="sparse"):
        graph.arrays.searcher("sparse")
    with pytest.raises(BadOption, match="borda"):
        graph.arrays.searcher("hybrid", fusion="borda")


def test_a_query_is_embedded_once(scratch):
    embedder = WordEmbedder()
    asked = []
    embed = embedder.embed
    embedder.embed = lambda texts, *, kind: asked.extend(texts) or embed(texts, kind=kind)
    path, cache = scratch(), scratch()
    embedded(
        Graph.from_records([Node("a", "t", "one"), Node("b", "t", "two")], [Edge("a", "e", "b")], path=path), cache
    )
    graph = Graph.open(path, embedder=lambda _: embedder)
    for _ in range(3):
        graph.search("one", mode="dense")
        graph.search("one", mode="hybrid")
        graph.neighbors("a", "one", mode="hybrid")
    assert asked == ["one"]
