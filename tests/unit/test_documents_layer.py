"""Similarity edges beside an imported graph: those above the percentile, made again at will, gone with a new graph."""

from __future__ import annotations

import numpy as np
import pytest

from orienteer.errors import BadInput, BadOption
from orienteer.graph import Graph, give_vectors, open_similar_layer
from orienteer.ingest import LinkConfig, build_graph, link_graph
from orienteer.records import Edge, Node

WORDS = "many words that make up one text of twenty words and more so that it counts as rich enough here now"


@pytest.fixture
def graph(build):
    nodes = [Node(f"n{at:02}", "thing" if at % 2 else "place", f"Name {at}", WORDS) for at in range(30)]
    nodes += [Node("poor", "thing", "Poor", "few words")]
    return build(nodes, [Edge("n00", "next to", "n01")])


@pytest.fixture
def vectors(graph):
    random = np.random.default_rng(3)
    raw = random.standard_normal((len(graph), 12)).astype(np.float32)
    give_vectors(graph, list(graph.node_ids()), raw, embedder=None)
    return (raw / np.linalg.norm(raw, axis=1, keepdims=True)).astype(np.float16).astype(np.float64)


def pairs(layer, graph):
    found = layer.neighbors_of(np.arange(len(graph), dtype=np.int32))
    return {
        (int(a), int(b)): float(weight) for a, b, weight in zip(found.owner, found.neighbor, found.weight, strict=True)
    }


def brute(vectors, *, near, percentile):
    """Return the edges by definition: candidates are the nearest of either, the percentile is over all of them."""
    products = vectors[:30] @ vectors[:30].T
    chosen = set()
    for row in range(30):
        others = [at for at in np.argsort(-products[row], kind="stable") if at != row][:near]
        chosen |= {(min(row, int(at)), max(row, int(at))) for at in others}
    values = {pair: products[pair] for pair in chosen}
    least = np.percentile(list(values.values()), percentile)
    return {pair: value for pair, value in values.items() if value > least}, len(chosen)


@pytest.mark.parametrize(("near", "percentile"), [(3, 50.0), (10, 95.0), (99, 80.0)])
def test_edges_are_those_of_brute_force(graph, vectors, near, percentile):
    about = link_graph(graph, LinkConfig(near=near, percentile=percentile))
    expected, count = brute(vectors, near=near, percentile=percentile)
    found = pairs(open_similar_layer(graph), graph)
    assert {pair for pair in found if pair[0] < pair[1]} == set(expected)
    assert {(b, a) for a, b in found} == set(found)
    assert all(found[pair] == pytest.approx(value, abs=1e-3) for pair, value in expected.items())
    assert (about.nodes, about.candidates, about.edges) == (30, count, len(expected))
    assert about.mean_degree == pytest.approx(2 * len(expected) / 30)


def test_it_is_no_part_of_the_graph_and_can_be_made_again(graph, vectors):
    before = graph.schema
    link_graph(graph, LinkConfig(threshold=0.5))
    assert Graph.open(graph.path).schema == before
    first = pairs(open_similar_layer(graph), graph)
    assert all(value > 0.5 for value in first.values())
    link_graph(graph, LinkConfig(threshold=0.2))
    assert set(first) < set(pairs(open_similar_layer(graph), graph))


def test_types_and_short_texts_are_left_out(graph, vectors):
    about = link_graph(graph, LinkConfig(node_types=("thing",), threshold=-1.0))
    rows = {row for pair in pairs(open_similar_layer(graph), graph) for row in pair}
    assert about.nodes == 15
    assert {graph.arrays.ids[row] for row in rows} == {f"n{at:02}" for at in range(1, 30, 2)}


@pytest.mark.slow
def test_a_graph_replaced_has_none(graph, vectors, tmp_path):
    nodes = [Node(f"n{at}", "thing", f"Name {at}", WORDS) for at in range(4)]
    mine = Graph.from_records(nodes, [], path=tmp_path / "graph")
    give_vectors(mine, [node.id for node in nodes], np.eye(4), embedder=None)
    link_graph(mine, LinkConfig(threshold=-1.0))
    assert open_similar_layer(mine) is not None
    again = Graph.from_records(nodes[:2], [], path=tmp_path / "graph", force=True)
    assert open_similar_layer(again) is None


@pytest.mark.slow
def test_what_it_needs(graph, build, tmp_path):
    with pytest.raises(BadOption, match="no vectors"):
        link_graph(graph)
    lone = build([Node("a", text=WORDS), Node("b", text="short")])
    give_vectors(lone, ["a", "b"], np.eye(2), embedder=None)
    with pytest.raises(BadInput, match="1 nodes with 20 words"):
        link_graph(lone)
    (tmp_path / "docs").mkdir()
    (tmp_path / "docs" / "a.md").write_text("# A\n\ntext", encoding="utf-8")
    build_graph([tmp_path / "docs"], tmp_path / "graph")
    with pytest.raises(BadInput, match="made by build"):
        link_graph(Graph.open(tmp_path / "graph"))
    with pytest.raises(BadOption):
        LinkConfig(percentile=100.0)
