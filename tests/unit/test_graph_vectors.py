"""The vectors of a graph: made once, kept, gone on with, refused where they do not fit."""

import json

import numpy as np
import pytest

from fakes.embedder import WordEmbedder, embedded
from orienteer.errors import BadInput, BadOption, ModelError, NotAGraph, UnknownNode
from orienteer.graph import VECTORS_PIECE, Graph, embed_graph, give_vectors, piece_folder
from orienteer.index import CacheWriter, VectorCache, vector_folder_of, vector_keys_of
from orienteer.records import Node

pytestmark = pytest.mark.slow

NODES = [Node(f"n{number:03}", "thing", f"name{number}", f"word{number % 7} text") for number in range(200)]


@pytest.fixture
def graph(scratch):
    return Graph.from_records(NODES, [], path=scratch())


def test_what_is_embedded_is_name_and_text_and_nothing_else(scratch):
    nodes = [
        Node("a", "t", "Name", "Text.", ("Alias",), {"secret": "property"}),
        Node("b", "t", "Name alone"),
        Node("c", "t", "Name", "Text.", (), {"secret": "another"}),
    ]
    embedder = WordEmbedder()
    made = embed_graph(Graph.from_records(nodes, [], path=scratch()), embedder, cache=scratch())
    assert embedder.embedded == ["Name. Text.", "Name alone"]
    assert (made.about.vectors, made.about.nodes, made.embedded, made.cached) == (3, 3, 2, 0)


def test_a_graph_made_anew_pays_only_for_texts_that_changed(graph, scratch):
    cache, embedder = scratch(), WordEmbedder()
    made = embed_graph(graph, embedder, cache=cache)
    assert (made.embedded, made.about.recall, made.about.is_exact) == (200, 1.0, False)
    changed = [*NODES[:-1], Node("n199", "thing", "name199", "changed"), Node("n200", "thing", "name200", "new")]
    again = Graph.from_records(changed, [], path=graph.path, force=True)
    with pytest.raises(BadOption, match="no vectors"):  # those of the old one went with it
        again.search("word1", mode="dense")
    made = embed_graph(again, embedder, cache=cache)
    assert (made.embedded, made.cached) == (2, 199)
    assert embedder.embedded[200:] == ["name199. changed", "name200. new"]
    fresh = embed_graph(again, WordEmbedder(), cache=scratch())
    assert fresh.embedded == 201
    assert embed_graph(again, embedder, cache=cache).embedded == 0


def test_vectors_are_those_of_their_nodes_whatever_came_from_the_cache(graph, scratch):
    cache = scratch()
    embed_graph(Graph.from_records(NODES[50:120], [], path=scratch()), WordEmbedder(), cache=cache)
    opened = embedded(graph, cache)
    for node in NODES[::17]:
        hit = opened.search(f"{node.name}. {node.text}", 1, mode="dense")[0]
        assert (hit.id, hit.score) == (node.id, pytest.approx(1.0, abs=1e-3))


@pytest.mark.parametrize("concurrency", [1, 3])
def test_after_a_failure_the_same_call_goes_on(graph, scratch, concurrency):
    cache = scratch()

    class Failing(WordEmbedder):
        def embed(self, texts, *, kind):
            if "name150. word3 text" in texts:
                raise ModelError("down")
            return super().embed(texts, kind=kind)

    failing = Failing(concurrency=concurrency)
    with pytest.raises(ModelError, match="down"):
        embed_graph(graph, failing, cache=cache)
    assert not graph.arrays.searcher.has_vectors
    paid = len(failing.embedded)
    assert paid >= 64
    made = embed_graph(graph, WordEmbedder(), cache=cache)
    assert (made.cached, made.embedded) == (paid, 200 - paid)


def test_what_a_killed_process_left_half_written_is_passed_over(scratch):
    folder = vector_folder_of(scratch(), "a" * 64)
    keys, vectors = vector_keys_of(["a", "b"]), np.eye(2, 8, dtype=np.float32)
    CacheWriter(folder).add(keys, vectors)
    (file,) = folder.iterdir()
    with file.open("ab") as stream:
        stream.write(b"half of a record")
    CacheWriter(folder).add(vector_keys_of(["c"]), vectors[:1])
    cache = VectorCache(folder)
    assert len(cache) == 3
    places = cache.find(vector_keys_of(["b", "c", "d", "a"]))
    assert (places >= 0).tolist() == [True, True, False, True]
    assert cache.take(places[[0, 1, 3]]).tolist() == vectors[[1, 0, 0]].tolist()


def test_a_cache_of_nothing(scratch):
    cache = VectorCache(scratch())
    assert cache.find(vector_keys_of(["a", "b"])).tolist() == [-1, -1]


def test_a_long_text_has_a_vector_for_each_part_or_is_said_to_be_cut(scratch):
    long = " ".join([*["filler"] * 60, "captain", *["filler"] * 60])
    nodes = [Node("long", "t", "Long", long), Node("short", "t", "Short", "a captain of a ship"), Node("c", "t", "C")]
    graph = Graph.from_records(nodes, [], path=scratch())
    cache = scratch()
    made = embed_graph(graph, WordEmbedder(), cache=cache)
    assert (made.about.vectors, made.cut) == (3, 1)
    made = embed_graph(graph, WordEmbedder(), cache=cache, is_parts=True)
    assert (made.about.vectors, made.about.nodes, made.cut, made.about.is_parts) == (6, 3, 0, True)
    opened = embedded(graph, cache, is_parts=True)
    row = np.array([opened.arrays.row("long")], np.int32)
    cosines = sorted(
        (
            float(
                opened.arrays.searcher.vectors.encode("captain")
                @ WordEmbedder().embed([part], kind="document")[0].astype(np.float16)
            )
            for part in WordEmbedder().parts(f"Long. {long}")
        ),
        reverse=True,
    )
    for best, expected in [(1, cosines[0]), (2, np.mean(cosines[:2])), (0, np.mean(cosines))]:
        found = opened.arrays.searcher("dense", best=best).scores("captain", row)
        assert found[0] == pytest.approx(expected, abs=1e-4)


def test_given_vectors_are_searched_as_any(graph, scratch):
    random = np.random.default_rng(0)
    vectors = random.standard_normal((5, 48))
    about = give_vectors(graph, ["n003", "n001", "n003", "n002", "n007"], vectors, embedder="words")
    assert (about.nodes, about.vectors) == (4, 5)
    opened = Graph.open(graph.path, embedder=lambda _: WordEmbedder())
    query = WordEmbedder().embed(["word1"], kind="query")[0]
    cosines = vectors @ query / np.linalg.norm(vectors, axis=1)
    expected = {"n003": max(cosines[0], cosines[2]), "n001": cosines[1], "n002": cosines[3], "n007": cosines[4]}
    found = {hit.id: hit.score for hit in opened.search("word1", 10, mode="dense")}
    assert found == pytest.approx(expected, abs=2e-3)
    everything = opened.search("word1", 200, mode="hybrid")  # nodes without a vector by their words
    by_words = {opened.arrays.ids[row] for row in opened.arrays.searcher("lexical").search("word1", 200).rows.tolist()}
    assert {hit.id for hit in everything} == set(found) | by_words


def test_given_vectors_without_an_embedder_take_no_words(graph):
    give_vectors(graph, ["n001"], [[1.0, 2.0]], embedder=None)
    with pytest.raises(BadOption, match="without an embedder"):
        graph.search("word1", mode="dense")
    assert graph.arrays.searcher.vectors.index.search(np.array([1, 0], np.float32), 3).rows.tolist() == [1]


@pytest.mark.parametrize(
    ("ids", "vectors"),
    [(["n001"], [[1.0], [2.0]]), (["n001"], [1.0]), ([], []), (["n001"], [[float("nan")]]), (["n001"], [[0.0, 0.0]])],
)
def test_vectors_that_are_none_are_refused(graph, ids, vectors):
    with pytest.raises(BadInput):
        give_vectors(graph, ids, vectors, embedder=None)
    assert piece_folder(graph.path, VECTORS_PIECE) is None


def test_vectors_of_a_node_that_is_not_there_are_refused(graph):
    with pytest.raises(UnknownNode, match="n999"):
        give_vectors(graph, ["n999"], [[1.0]], embedder=None)


def test_without_vectors_the_error_names_the_command(graph):
    for search in (
        lambda: graph.search("word1", mode="dense"),
        lambda: graph.neighbors("n001", "word1", mode="hybrid"),
        lambda: graph.arrays.searcher("dense"),
    ):
        with pytest.raises(BadOption, match="orienteer embed"):
            search()


def test_another_embedder_than_the_one_that_made_them_is_refused(graph, scratch):
    embed_graph(graph, WordEmbedder(), cache=scratch())
    other = WordEmbedder()
    other.fingerprint = "words-2"
    with pytest.raises(BadOption, match="orienteer embed"):
        Graph.open(graph.path, embedder=lambda _: other).search("word1", mode="dense")
    smaller = WordEmbedder(dimension=8)
    with pytest.raises(ModelError, match="8 dimensions"):
        Graph.open(graph.path, embedder=lambda _: smaller).search("word1", mode="dense")


def test_a_graph_that_was_replaced_is_neither_embedded_nor_read_as_another(graph, scratch):
    cache = scratch()
    Graph.from_records(NODES[:9], [], path=graph.path, force=True)
    with pytest.raises(NotAGraph, match="replaced"):
        embed_graph(graph, WordEmbedder(), cache=cache)
    embed_graph(Graph.open(graph.path), WordEmbedder(), cache=cache)
    assert not graph.arrays.searcher.has_vectors
    with pytest.raises(NotAGraph, match="open it again"):
        graph.search("word1", mode="dense")


def test_open_vectors_outlive_those_that_replace_them(graph, scratch):
    cache = scratch()
    opened = embedded(graph, cache)
    before = opened.search("word1 text", 5, mode="dense")
    embed_graph(graph, WordEmbedder(), cache=cache)
    assert opened.search("word1 text", 5, mode="dense") == before
    assert Graph.open(graph.path, embedder=lambda _: WordEmbedder()).search("word1 text", 5, mode="dense") == before
    assert len(list((graph.path / "pieces" / graph.arrays.manifest.generation).iterdir())) == 1


def test_vectors_that_are_cut_off_are_told(graph, scratch):
    embed_graph(graph, WordEmbedder(), cache=scratch())
    folder = piece_folder(graph.path, VECTORS_PIECE)
    (folder / "half.f2").write_bytes(b"")
    with pytest.raises(NotAGraph, match="half.f2"):
        graph.search("word1", mode="dense")
    (folder / "vectors.json").write_text("{}", encoding="utf-8")
    with pytest.raises(NotAGraph, match="orienteer embed"):
        graph.search("word1", mode="dense")


def test_the_recall_stands_in_the_manifest_and_a_low_one_makes_searches_exact(scratch):
    random = np.random.default_rng(1)
    drawn = random.standard_normal((5_000, 96)) * np.where(np.arange(96) < 3, 1.0, 0.02)  # signs tell nothing
    nodes = [Node(f"n{number:04}", "t", str(number)) for number in range(5_000)]
    graph = Graph.from_records(nodes, [], path=scratch())
    about = give_vectors(graph, [node.id for node in nodes], drawn, embedder=None)
    written = json.loads((piece_folder(graph.path, VECTORS_PIECE) / "vectors.json").read_text(encoding="utf-8"))
    assert written["recall"] == about.recall < 0.97
    assert written["is_exact"] is True
    index = graph.arrays.searcher.vectors.index
    unit = (drawn / np.linalg.norm(drawn, axis=1, keepdims=True)).astype(np.float16).astype(np.float64)
    query = unit[17].astype(np.float32)
    assert index.search(query, 10).rows.tolist() == np.argsort(-(unit @ query), kind="stable")[:10].tolist()


def test_a_cache_folder_is_of_one_embedder(tmp_path):
    assert vector_folder_of(tmp_path, "a" * 64) != vector_folder_of(tmp_path, "b" * 64)
    folder = vector_folder_of(tmp_path, "a" * 64)
    CacheWriter(folder).add(vector_keys_of(["a"]), np.ones((1, 3), np.float32))
    CacheWriter(folder).add(vector_keys_of(["b"]), np.ones((1, 4), np.float32))
    with pytest.raises(ModelError, match="remove the folder"):
        VectorCache(folder)
