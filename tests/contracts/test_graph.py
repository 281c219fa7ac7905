"""What every graph keeps, in whatever way it was made."""

import inspect
from dataclasses import replace

import pytest

from orienteer.errors import Error, UnknownNode
from orienteer.graph import EdgeBatch, Graph, GraphBuilder
from orienteer.records import Edge, Kind, Neighborhood, Node


def with_path(records, path):
    return Graph.from_records(*records, path=path)


def temporary(records, _):
    return Graph.from_records(*records)


def reopened(records, path):
    return Graph.open(str(with_path(records, path).path))


def replaced(records, path):
    Graph.from_records([Node("another")], [], path=path)
    return Graph.from_records(*records, path=path, force=True)


def streamed(records, path):
    return Graph.from_records(iter(records.nodes), iter(records.edges), path=path)


def mappings(records, path):
    return Graph.from_records(map(fields, records.nodes), map(fields, records.edges), path=path)


def fields(record):
    return {name: getattr(record, name) for name in record.__slots__}


def unsorted(records, path):
    return Graph.from_records(records.nodes[3:] + records.nodes[:3][::-1], records.edges[::-1], path=path)


def in_batches(records, path):
    with GraphBuilder(path) as builder:
        for node in reversed(records.nodes):
            assert builder.add_node(node)
            assert not builder.add_node(node)  # the very same again is no other node
        for edge in records.edges:
            extra = {"text": edge.text, "weight": edge.weight, "properties": dict(edge.properties)}
            extras = [extra] if edge.text or edge.properties else None
            builder.add_edges(EdgeBatch([edge.source], [edge.type], [edge.target], extras))
        builder.publish()
    return Graph.open(path)


WAYS = [with_path, temporary, reopened, replaced, streamed, mappings, unsorted, in_batches]


@pytest.fixture(scope="module", params=WAYS, ids=lambda way: way.__name__)
def graph(request, scratch, small_records):
    return request.param(small_records, scratch())


def ids(page):
    return [hit.id for hit in (page.hits if isinstance(page, Neighborhood) else page)]


def in_order(hits):
    """Return neighbours with their edges sorted: parallel ones come in the order in which they were given."""
    return [replace(hit, edges=tuple(sorted(hit.edges, key=repr))) for hit in hits]


def test_nodes_and_edges_are_those_that_were_given(graph, small_records):
    nodes, edges = small_records
    assert [graph.node(node.id) for node in nodes] == list(nodes)
    assert sorted(graph.iter_edges(), key=repr) == sorted(edges, key=repr)
    assert len(graph) == len(nodes) == graph.arrays.manifest.nodes


def test_every_way_answers_alike(graph, small, small_records):
    assert graph.schema == small.schema
    for query in ("captain salt coast", "Holm", "音楽", "film"):
        assert graph.search(query, 99) == small.search(query, 99)
        for node in small_records.nodes:
            ours, theirs = graph.neighbors(node.id, query, k=99), small.neighbors(node.id, query, k=99)
            assert (ours.total, ours.counts) == (theirs.total, theirs.counts)
            assert in_order(ours.hits) == in_order(theirs.hits)
    assert in_order(graph.intersect(["f1", "f2"], k=99)) == in_order(small.intersect(["f1", "f2"], k=99))
    assert graph.paths("c2", "p3", k=99) == small.paths("c2", "p3", k=99)


def test_search_is_best_first_and_restricted_by_filters(graph):
    hits = graph.search("salt coast", 99)
    assert ids(hits) == ["c1", "f2"]
    assert [hit.score for hit in hits] == sorted((hit.score for hit in hits), reverse=True)
    assert hits[-1].score > 0
    assert ids(graph.search("salt coast", 99, node_types=["film"])) == ["f2"]
    assert ids(graph.search("captain", 99, where=["year < 2000"])) == ["f1"]
    assert ids(graph.search("captain", 99, where=["born > 1970-01-01"])) == ["p2"]
    assert ids(graph.search("captain", 99, node_types=["film"], where=["born > 1970-01-01"])) == []


@pytest.mark.parametrize("query", ["", " ", "unheard", "?!", "\0", "\ud800"])
def test_a_query_without_matches_is_empty_in_the_graph_and_silent_among_neighbors(graph, query):
    assert graph.search(query, 5) == ()
    page = graph.neighbors("p1", query)
    assert ids(page) == ["c2", "f1", "f2", "p2"]
    assert {hit.score for hit in page.hits} == {0.0}


@pytest.mark.parametrize("k", [0, 1, 2, 99])
def test_k_bounds_what_comes_back(graph, k):
    assert ids(graph.search("salt coast", k)) == ["c1", "f2"][:k]
    assert ids(graph.neighbors("p1", "captain", k=k)) == ["p2", "f1", "c2", "f2"][:k]
    assert graph.neighbors("p1", "captain", k=k).total == 4
    assert ids(graph.intersect(["f1", "f2"], k=k)) == ["c1", "p1"][:k]
    assert len(graph.paths("f1", "f2", k=k)) == min(k, 2)


def test_pages_follow_one_another(graph):
    pages = [graph.neighbors("p1", "captain", k=1, offset=at) for at in range(6)]
    assert [ids(page) for page in pages] == [["p2"], ["f1"], ["c2"], ["f2"], [], []]
    assert [page.offset for page in pages] == list(range(6))


def test_neighbors_by_type_direction_and_property(graph):
    assert ids(graph.neighbors("f1")) == ["c1", "p1", "p2", "p3"]
    assert ids(graph.neighbors("f1", direction="out")) == ["c1"]
    assert ids(graph.neighbors("f1", edge_types=["directed", "scored"])) == ["p1", "p3"]
    assert ids(graph.neighbors("f1", node_types=["place"])) == ["c1"]
    assert ids(graph.neighbors("f1", where=["born < 1970-01-01"])) == ["p1"]
    assert ids(graph.neighbors(["f1", "f2"], node_types=["place"])) == ["c1"]
    assert graph.neighbors("alone") == Neighborhood(total=0, counts={}, offset=0, hits=())
    assert graph.neighbors("c1").counts == {Kind("set in", "in", "film"): 2}


def test_parallel_edges_are_all_there_and_one_neighbor(graph, small_records):
    (hit,) = graph.neighbors("p1", edge_types=["wrote"]).hits
    assert sorted(hit.edges, key=repr) == [
        edge for edge in sorted(small_records.edges, key=repr) if edge.type == "wrote"
    ]


def test_intersect_gives_full_matches_before_partial_ones(graph):
    assert ids(graph.intersect(["f1", "f2"])) == ["c1", "p1"]
    assert ids(graph.intersect(["f1", "f2"], node_types=["person"])) == ["p1"]
    partial = graph.intersect(["f1", "f2", "c2"])
    assert ids(partial) == ["p1"]
    assert partial[0].members == 3
    assert [(one.id, one.members) for one in graph.intersect(["f1", "f2", "alone"])] == [("c1", 2), ("p1", 2)]
    assert graph.intersect(["alone", "f1"]) == ()
    (common,) = [one for one in graph.intersect(["f1", "p2"]) if one.id == "p1"]
    assert sorted(common.edges, key=repr) == [
        Edge("p1", "admires", "p2"),
        Edge("p1", "directed", "f1"),
        Edge("p2", "admires", "p1"),
    ]


def test_paths_ignore_direction_and_stop_at_their_length(graph):
    (path,) = graph.paths("c2", "p3")
    assert path.nodes == ("c2", "p1", "f1", "p3")
    assert [[edge.type for edge in between] for between in path.edges] == [["born in"], ["directed"], ["scored"]]
    assert graph.paths("c2", "p3", 2) == ()
    assert graph.paths("c2", "alone") == ()
    assert [path.length for path in graph.paths("f1", "f1")] == [0]


def test_what_is_not_there_is_told(graph):
    for ask in (
        graph.node,
        graph.arrays.row,
        graph.neighbors,
        lambda name: graph.intersect([name]),
        lambda name: graph.paths("p1", name),
    ):
        with pytest.raises(UnknownNode) as error:
            ask("Ada Holmes")
        assert "Ada Holm" in error.value.near
        assert isinstance(error.value, Error)


def test_the_tests_hold_for_every_public_way_to_make_a_graph():
    """A new way to make one must be added to `WAYS`."""
    makers = {
        name
        for name, one in inspect.getmembers(Graph, inspect.ismethod)
        if one.__self__ is Graph and not name.startswith("_")
    }
    assert makers == {"open", "from_records"}
