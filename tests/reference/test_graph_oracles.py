"""Neighbours, intersections, paths and degrees against networkx; edges out against edges in; any Unicode at all."""

import json
from collections import Counter
from contextlib import suppress
from itertools import pairwise

import networkx
import numpy as np
import pytest
from hypothesis import given, strategies as st

from orienteer.errors import AmbiguousNode, BadInput, UnknownNode
from orienteer.graph import EdgeBatch, Graph, GraphBuilder
from orienteer.records import Edge, Kind, Node

TYPES = ("gene", "drug")
EDGE_TYPES = ("binds", "treats", "is a")
IDS = [f"n{at}" for at in range(9)]
EDGES = st.lists(
    st.builds(
        Edge,
        st.sampled_from(IDS),
        st.sampled_from(EDGE_TYPES),
        st.sampled_from(IDS),
        st.sampled_from(("", "why", "é\u2028\U0001f9ec\0")),
        st.sampled_from((1.0, 0.1, -2.5, 1e-300, float("inf"))),
        st.sampled_from(({}, {"role": "x"}, {"z": [1, None], "a": {"b": 0.1}})),
    ),
    max_size=30,
).map(lambda edges: [*edges, *(Edge("n8", name, "n8") for name in EDGE_TYPES)])  # every type is there, as a loop


def type_of(node):
    """Nodes of these tests are of two types in turn."""
    return TYPES[int(node[1:]) % 2]


def make(build, edges, ids=IDS):
    """Return our graph and the same as a multigraph of networkx."""
    theirs = networkx.MultiDiGraph()
    theirs.add_nodes_from(ids)
    for edge in edges:
        theirs.add_edge(edge.source, edge.target, type=edge.type)
    return build([Node(one, type_of(one), text="word") for one in ids], edges), theirs


def around(theirs, node, edge_types=EDGE_TYPES, direction=None):
    """Return how each neighbour is reached: (neighbour, type, direction) without repeats."""
    out = {(other, kind, "out") for _, other, kind in theirs.out_edges(node, data="type")}
    into = {(other, kind, "in") for other, _, kind in theirs.in_edges(node, data="type")}
    ways = {"out": out, "in": into, None: out | into}[direction]
    return {way for way in ways if way[0] != node and way[1] in edge_types}


def key(edge):
    """Return an edge as something that can be counted, to the last byte."""
    return (
        edge.source,
        edge.type,
        edge.target,
        edge.text,
        repr(edge.weight),
        json.dumps(edge.properties, sort_keys=True),
    )


# ------------------------------------------------------------------------------------------------------- neighbourhoods


@given(EDGES)
def test_neighbors_and_their_counts(build, edges):
    ours, theirs = make(build, edges)
    for node in IDS:
        for types in (EDGE_TYPES, ("treats",), ("binds", "is a"), ()):
            for direction in (None, "out", "in"):
                ways = around(theirs, node, types, direction)
                page = ours.neighbors(node, edge_types=types, direction=direction, k=99)
                assert [hit.id for hit in page.hits] == sorted({other for other, _, _ in ways})
                assert page.total == len(page.hits)
                kinds = Counter(Kind(kind, where, type_of(other)) for other, kind, where in ways)
                assert page.counts == kinds
                assert list(page.counts.values()) == sorted(kinds.values(), reverse=True)


@given(EDGES, st.sampled_from((*TYPES, None)))
def test_a_neighbor_brings_every_edge_that_passes(build, edges, node_type):
    ours, _ = make(build, edges)
    for node in IDS[:4]:
        page = ours.neighbors(node, node_types=node_type and [node_type], edge_types=("binds", "treats"), k=99)
        wanted = Counter(
            key(edge)
            for edge in edges
            if node in (edge.source, edge.target)
            and edge.source != edge.target
            and edge.type != "is a"
            and (node_type in (None, type_of(edge.source if edge.target == node else edge.target)))
        )
        assert Counter(key(edge) for hit in page.hits for edge in hit.edges) == wanted
        assert all(
            node in (e.source, e.target) and hit.id in (e.source, e.target) for hit in page.hits for e in hit.edges
        )


@given(EDGES, st.lists(st.sampled_from(IDS), min_size=1, max_size=4))
def test_neighbors_of_several_nodes(build, edges, nodes):
    ours, theirs = make(build, edges)
    page = ours.neighbors(nodes, k=99)
    ways = [(way, node) for node in set(nodes) for way in around(theirs, node)]
    assert [hit.id for hit in page.hits] == sorted({other for (other, _, _), _ in ways})
    assert page.counts == Counter(Kind(kind, where, type_of(other)) for other, kind, where in {way for way, _ in ways})


@given(EDGES)
def test_degrees(build, edges):
    ours, theirs = make(build, edges)
    degrees = ours.arrays.adjacency.degree(np.arange(len(IDS), dtype=np.int32)).tolist()
    loops = Counter(edge.source for edge in edges if edge.source == edge.target)
    assert degrees == [theirs.degree(node) - loops[node] for node in IDS]  # a loop counts once


# --------------------------------------------------------------------------------------------------- between some nodes


@given(EDGES, st.lists(st.sampled_from(IDS), min_size=1, max_size=4), st.sampled_from((None, *TYPES)))
def test_intersect_gives_what_touches_all_or_else_most(build, edges, nodes, node_type):
    ours, theirs = make(build, edges)
    given_nodes = sorted(set(nodes))
    touched = {node: {other for other, _, _ in around(theirs, node)} for node in given_nodes}
    members = Counter(other for others in touched.values() for other in others if node_type in (None, type_of(other)))
    most = [one for one in members if members[one] == len(given_nodes)]
    wanted = most or [one for one in members if members[one] >= 2]
    found = ours.intersect(nodes, node_types=node_type and [node_type], k=99)
    assert [common.id for common in found] == sorted(wanted, key=lambda one: (-members[one], one))
    for common in found:
        assert common.members == members[common.id]
        joining = [e for e in edges if common.id in (e.source, e.target) and e.source != e.target]
        assert Counter(map(key, common.edges)) == Counter(
            key(e) for e in joining if {e.source, e.target} - {common.id} <= set(given_nodes)
        )


@given(EDGES, st.sampled_from(IDS), st.sampled_from(IDS), st.integers(1, 8))
def test_paths_are_all_the_shortest_ones(build, edges, start, end, most):
    ours, theirs = make(build, edges)
    plain = networkx.Graph(theirs)
    wanted = set()
    if networkx.has_path(plain, start, end) and networkx.shortest_path_length(plain, start, end) <= most:
        wanted = {tuple(path) for path in networkx.all_shortest_paths(plain, start, end)}
    found = ours.paths(start, end, most, k=10_000)
    assert [path.nodes for path in found] == sorted(wanted)
    for path in found:
        assert path.length == len(path.nodes) - 1
        for (a, b), between in zip(pairwise(path.nodes), path.edges, strict=True):
            assert Counter(map(key, between)) == Counter(key(e) for e in edges if {e.source, e.target} == {a, b})
    for k in (0, 1, 3):
        few = [path.nodes for path in ours.paths(start, end, most, k=k)]
        assert len(few) == min(k, len(wanted))
        assert set(few) <= wanted
        assert few == sorted(few)


@pytest.mark.parametrize("number", range(3))
def test_paths_in_a_larger_graph(build, number):
    theirs = networkx.gnm_random_graph(400, 620, seed=number)
    ids = [f"n{at:03}" for at in range(400)]
    graph = build([Node(one) for one in ids], [Edge(ids[a], "x", ids[b]) for a, b in theirs.edges])
    random = np.random.default_rng(number)
    lengths = set()
    for a, b in random.integers(0, 400, (60, 2)).tolist():
        wanted = list(networkx.all_shortest_paths(theirs, a, b)) if networkx.has_path(theirs, a, b) else []
        short = sorted(tuple(ids[at] for at in path) for path in wanted if len(path) <= 9)
        assert [path.nodes for path in graph.paths(ids[a], ids[b], 8, k=10**6)] == short
        lengths.update(len(path) - 1 for path in short)
    assert len(lengths) > 5


# ----------------------------------------------------------------------------------------------------- edges out and in


@given(EDGES)
def test_edges_come_back_byte_for_byte(build, edges):
    ours, _ = make(build, edges)
    assert Counter(map(key, ours.iter_edges())) == Counter(map(key, edges))
    assert ours.schema.edge_types == {
        **dict.fromkeys(ours.schema.edge_types, 0),
        **Counter(edge.type for edge in edges),
    }


def test_edges_come_back_from_several_batches(scratch):
    path = scratch()
    with GraphBuilder(path) as builder:
        for name in ("b", "a", "c"):
            builder.add_node(Node(name))
        builder.add_edges(EdgeBatch(["a", "a"], ["x", "y"], ["b", "b"]))
        builder.add_edges(EdgeBatch(["a", "c"], ["x", "x"], ["b", "a"], extras=[{"text": "one"}, None]))
        builder.add_edges(EdgeBatch(["a"], ["x"], ["b"], extras=[{"weight": 2.5, "properties": {"p": 1}}]))
        builder.publish()
    wanted = [
        Edge("a", "x", "b"), Edge("a", "y", "b"), Edge("a", "x", "b", "one"), Edge("c", "x", "a"),
        Edge("a", "x", "b", "", 2.5, {"p": 1}),
    ]  # fmt: skip
    assert Counter(map(key, Graph.open(path).iter_edges())) == Counter(map(key, wanted))


def test_a_symmetric_edge_has_no_direction(scratch):
    path = scratch()
    with GraphBuilder(path) as builder:
        for name in ("a", "b", "c"):
            builder.add_node(Node(name))
        builder.add_edges(EdgeBatch(["a", "c", "a", "b"], ["meets", "meets", "tells", "tells"], ["b", "a", "b", "a"]))
        builder.edges.symmetric.add("meets")
        builder.publish()
    graph = Graph.open(path)
    assert graph.schema.symmetric == {"meets"}
    for direction in (None, "in", "out"):
        page = graph.neighbors("a", edge_types=["meets"], direction=direction)
        assert [hit.id for hit in page.hits] == ["b", "c"]
        assert page.counts == {Kind("meets", "out", "node"): 2}
    assert [hit.id for hit in graph.neighbors("a", direction="in").hits] == ["b", "c"]
    assert graph.neighbors("a").counts == {
        Kind("meets", "out", "node"): 2, Kind("tells", "in", "node"): 1, Kind("tells", "out", "node"): 1,
    }  # fmt: skip
    assert graph.neighbors(["a", "c"]).counts[Kind("meets", "out", "node")] == 3
    assert Counter(edge.type for edge in graph.iter_edges()) == {"meets": 2, "tells": 2}


def test_what_cleaning_leaves_out_is_not_in_the_graph(scratch):
    path = scratch()
    with GraphBuilder(path) as builder:
        for name in ("a", "b"):
            builder.add_node(Node(name))
        builder.add_edges(
            EdgeBatch(["a", "b", "a"], ["x", "y", "x"], ["b", "gone", "b"], lines=[2, 3, 4], file="e.csv")
        )
        table = builder.edges
        assert table.keep.tolist() == [True, False, True]
        assert table.ids(1) == ("b", "y", "gone")
        assert table.origin(2) == ("e.csv", 4)
        table.keep[2] = False
        table.turn(np.array([0]))
        builder.publish()
    graph = Graph.open(path)
    assert list(graph.iter_edges()) == [Edge("b", "x", "a")]
    assert graph.arrays.manifest.edges == 1


# ---------------------------------------------------------------------------------------------------------- any Unicode

ANY_TEXT = st.text(st.characters(codec=None), max_size=25)
CLEAN = st.text(max_size=15)


@pytest.fixture(scope="module")
def babel(build):
    texts = (
        "",
        "plain words",
        "Straße 10ms p53",
        "東京都の地図",
        "हिन्दी किताब",
        "\U0001f9ec\u200d\u0301",
        "العربية \u202e x",
    )
    nodes = [Node(f"n{at}", TYPES[at % 2], text[::-1], text, (text[:3],)) for at, text in enumerate(texts)]
    return build([*nodes, Node("hub")], [Edge("hub", "x", node.id) for node in nodes])


@given(ANY_TEXT)
def test_any_query_is_answered(babel, query):
    assert len(babel.search(query, 99)) <= len(babel)
    assert babel.neighbors("hub", query).total == 7
    babel.arrays.near_names(query)
    with suppress(UnknownNode, AmbiguousNode):
        babel.node(query)


@given(st.lists(ANY_TEXT, max_size=4), st.integers(0, 9))
def test_words_never_empty_a_neighborhood_nor_change_what_is_in_it(babel, words, k):
    silent = babel.neighbors("hub", k=99)
    spoken = babel.neighbors("hub", " ".join(words), k=99)
    assert (spoken.total, spoken.counts) == (silent.total, silent.counts)
    assert sorted(hit.id for hit in spoken.hits) == [hit.id for hit in silent.hits]
    page = babel.neighbors("hub", " ".join(words), k=k)
    assert page.hits == spoken.hits[:k]


@given(
    st.lists(
        st.builds(Node, CLEAN.filter(bool), CLEAN, CLEAN, CLEAN, st.lists(CLEAN, max_size=3).map(tuple)),
        unique_by=lambda node: node.id,
        min_size=1,
        max_size=8,
    )
)
def test_names_ids_and_texts_come_back_byte_for_byte(build, nodes):
    graph = build(nodes, [Edge(nodes[0].id, nodes[0].text, node.id, node.name) for node in nodes])
    assert list(graph.arrays.ids) == sorted(node.id for node in nodes)
    for node in nodes:
        back = graph.node(node.id)
        assert (back.id, back.type, back.text, back.aliases) == (node.id, node.type, node.text, node.aliases)
        assert back.name == (node.name or node.id)
    assert Counter((edge.target, edge.text) for edge in graph.iter_edges()) == Counter(
        (one.id, one.name) for one in nodes
    )
    assert {edge.type for edge in graph.iter_edges()} == {nodes[0].text}


@given(
    st.lists(
        st.builds(Node, ANY_TEXT.filter(bool), text=ANY_TEXT), unique_by=lambda node: node.id, min_size=1, max_size=6
    )
)
def test_lone_surrogates_are_refused_or_kept_apart(build, nodes):
    """They have no place in UTF-8; two ids that differ must not become one for that."""
    try:
        graph = build(nodes)
    except BadInput:
        return
    assert len(set(graph.arrays.ids)) == len(nodes)
    assert list(graph.arrays.ids) == sorted(graph.arrays.ids)


def test_sorting_of_ids_is_by_code_point(build):
    ids = ["\U00010000", "\uffff", "z", "Z", "é", "e\u0301", "10", "9", " ", "\0"]
    graph = build([Node(one) for one in ids])
    assert list(graph.arrays.ids) == sorted(ids)
    assert [graph.arrays.ids[graph.arrays.row(one)] for one in ids] == ids
