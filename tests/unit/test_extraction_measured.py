"""A passage is ranked as if what was made of the passages were not there: they alone tell how rare a word is."""

from __future__ import annotations

import tempfile
from pathlib import Path

import numpy as np
import pytest

from fakes.embedder import WordEmbedder
from orienteer.errors import BadInput
from orienteer.graph import EdgeBatch, Graph, GraphBuilder, embed_graph
from orienteer.index import ArrayFolder, VectorIndex, create_halves, write_index
from orienteer.records import Node

CHUNKS = [
    Node("c1", "chunk", "", "the ferry of Ada sails the sound at night with salt and fish"),
    Node("c2", "chunk", "", "salt is sold along the coast and Ada buys salt"),
    Node("c3", "chunk", "", "fish swim"),
]
MADE = [Node(f"f{at}", "fact", "", "Ada sells salt") for at in range(30)] + [Node("e", "name", "Ada", "")]


def graph_of(nodes, path, **options):
    with GraphBuilder(path) as builder:
        for node in nodes:
            builder.add_node(node)
        builder.publish(**options)
    return Graph.open(path)


@pytest.fixture
def graphs(tmp_path):
    plain = graph_of(CHUNKS, tmp_path / "plain")
    return plain, graph_of([*MADE, *CHUNKS], tmp_path / "made", text_types=("chunk", "table"))


@pytest.mark.slow
@pytest.mark.parametrize("query", ["Ada salt", "fish", "the sound at night", "ferry salt fish Ada"])
def test_passages_have_the_scores_that_they_have_alone(graphs, query):
    plain, made = graphs
    found = made.search(query, 5, node_types=["chunk"])
    assert found
    assert found == plain.search(query, 5)
    assert (plain.arrays.text_types, made.arrays.text_types) == ((), ("chunk",))


@pytest.mark.slow
def test_all_others_are_found_by_the_same_measure(graphs):
    _, made = graphs
    found = made.search("Ada sells salt", 100)
    assert {hit.id for hit in found} == {node.id for node in MADE} | {"c1", "c2"}
    assert found[0].id == "f0", "a word that no passage has is the rarest"


def test_types_that_no_node_has_measure_nothing(tmp_path):
    graph = graph_of(CHUNKS, tmp_path / "graph", text_types=("table",))
    assert graph.arrays.text_types == ()
    assert "text_types" not in graph.arrays.manifest.provenance


def test_a_graph_that_states_facts_is_known_by_its_edges(tmp_path):
    with GraphBuilder(tmp_path / "graph") as builder:
        for node in (*CHUNKS, *MADE):
            builder.add_node(node)
        builder.add_edges(EdgeBatch(["c1"], ["states"], ["f0"]))
        builder.publish()
    assert Graph.open(tmp_path / "graph").arrays.text_types == ("chunk",)


def test_a_graph_without_nodes_is_refused_as_before(tmp_path):
    with pytest.raises(BadInput, match="no nodes"):
        graph_of([], tmp_path / "graph", text_types=("chunk",))


@pytest.mark.slow
def test_hybrid_scores_of_passages_are_those_that_they_have_alone(tmp_path):
    found = []
    embedder = WordEmbedder(dimension=16)
    for name, nodes, types in (("plain", CHUNKS, ()), ("made", [*MADE, *CHUNKS], ("chunk",))):
        graph = graph_of(nodes, tmp_path / name, text_types=types)
        embed_graph(graph, embedder, cache=tmp_path / "cache")
        graph = Graph.open(tmp_path / name, embedder=lambda _: embedder)
        mask = graph.arrays.mask(["chunk"])
        scored = graph.arrays.searcher("hybrid").search("Ada sells salt at night", 5, mask=mask)
        found.append(
            [(graph.arrays.ids[int(row)], score) for row, score in zip(scored.rows, scored.scores, strict=True)]
        )
    assert len(found[0]) == 3
    assert [one for one, _ in found[0]] == [one for one, _ in found[1]]
    assert [score for _, score in found[0]] == pytest.approx([score for _, score in found[1]], abs=1e-6)
    assert found[0][0][1] <= 1


@pytest.mark.parametrize("is_exact", [False, True])
def test_the_ends_under_a_mask_are_those_of_its_rows(is_exact):
    random = np.random.default_rng(3)
    vectors = random.normal(size=(5000, 32)).astype(np.float32)
    vectors /= np.linalg.norm(vectors, axis=1, keepdims=True)
    mask = random.random(5000) < 0.7
    with tempfile.TemporaryDirectory() as folder:
        halves = create_halves(Path(folder), 5000, 32)
        halves[:] = vectors
        write_index(Path(folder), np.arange(5001), halves)
        index = VectorIndex(ArrayFolder(Path(folder)), 32, is_exact=is_exact)
        ends = index.ends(vectors[0], mask=mask)
        nothing = index.ends(vectors[0], mask=np.zeros(5000, np.bool_))
    wanted = vectors[mask] @ vectors[0]
    assert ends == pytest.approx((wanted.min(), wanted.max()), abs=1e-2)
    assert nothing == (0.0, 0.0)
