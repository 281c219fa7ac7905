"""What an opened graph keeps: its content while others replace it, names, filters, and clear errors."""

import gc
import subprocess
import sys
import threading
from concurrent.futures import ThreadPoolExecutor
from itertools import count

import pytest

from orienteer.errors import AmbiguousNode, BadInput, BadOption, UnknownNode, UnknownProperty, UnknownType
from orienteer.graph import EdgeBatch, Graph, GraphBuilder
from orienteer.records import Edge, Hit, Kind, Node, Triple

# --------------------------------------------------------------------------------------- a graph that is being replaced


def versions(path):
    """Return a function that replaces the graph by the next version of it."""
    numbers = count()

    def publish():
        version = next(numbers)
        node = Node("a", name="alpha", text=f"version{version}", aliases=("other",), properties={"version": version})
        return Graph.from_records([node, Node("b")], [Edge("a", "x", "b", "t")], path=path, force=True)

    return publish


USES = {
    "search": lambda graph: [hit.id for hit in graph.search("version0", 5)] == ["a"],
    "where": lambda graph: [hit.id for hit in graph.search("version0", 5, where=["version = 0"])] == ["a"],
    "node": lambda graph: graph.node("a").properties == {"version": 0},
    "name": lambda graph: graph.arrays.row("other") == 0,
    "edges": lambda graph: next(graph.iter_edges()).text == "t",
    "neighbors": lambda graph: graph.neighbors("a", "anything").total == 1,
    "near": lambda graph: graph.arrays.near_names("alphha") == ["alpha"],
    "paths": lambda graph: graph.paths("a", "b")[0].edges[0][0].text == "t",
}


@pytest.mark.slow
@pytest.mark.parametrize("use", USES)
@pytest.mark.parametrize("replacements", [1, 3])
def test_an_open_graph_stays_whole_when_it_is_first_used_after_its_replacement(scratch, use, replacements):
    path = scratch()
    publish = versions(path)
    publish()
    graph = Graph.open(path)
    for _ in range(replacements):
        publish()
    assert USES[use](graph)


@pytest.mark.slow
def test_opening_again_gives_the_newest(scratch):
    path = scratch()
    publish = versions(path)
    for version in range(3):
        publish()
        assert Graph.open(path).node("a").text == f"version{version}"


@pytest.mark.slow
def test_a_temporary_graph_ends_with_its_object_and_silently(small_records):
    graph = Graph.from_records(*small_records)
    path = graph.path
    assert path.exists()
    assert graph.search("captain", 1)
    del graph
    gc.collect()
    assert not path.exists()


# ---------------------------------------------------------------------------------------------- records in, records out


def test_nodes_come_back_as_they_were_given(small, small_records):
    nodes = small_records.nodes
    assert [small.node(node.id) for node in nodes] == list(nodes)
    assert len(small) == len(nodes)
    assert list(small.node_ids()) == sorted(node.id for node in nodes)


def test_the_schema_counts_types_and_what_edges_join(small, small_records):
    schema = small.schema
    assert schema.node_types == {"film": 2, "person": 3, "place": 3}
    assert schema.edges[Triple("person", "wrote", "film")] == 2
    assert schema.edges[Triple("place", "twinned with", "place")] == 1
    assert sum(schema.edges.values()) == len(small_records.edges) == small.arrays.manifest.edges
    assert schema.edge_types["admires"] == 2


def test_mappings_are_taken_like_records(scratch):
    graph = Graph.from_records(
        [
            {"id": "a", "type": "t", "name": "A", "aliases": ["x", "y"], "properties": {"p": [1, None, {"q": "é"}]}},
            {"id": "b"},
        ],
        [{"source": "a", "type": "e", "target": "b", "text": "why", "weight": 2, "properties": {"p": 1}}],
        path=scratch(),
    )
    assert graph.node("a") == Node("a", "t", "A", "", ("x", "y"), {"p": [1, None, {"q": "é"}]})
    assert graph.node("b") == Node("b", name="b")
    assert list(graph.iter_edges()) == [Edge("a", "e", "b", "why", 2, {"p": 1})]


@pytest.mark.parametrize(
    "node",
    [
        {"id": 1.5}, {"id": None}, {"name": "no id"}, {"id": "a", "properties": 5}, {"id": "a", "type": 1},
        {"id": "a", "aliases": "one string"}, {"id": "a", "aliases": [1]}, {"id": "a", "properties": {"p": {1, 2}}},
        {"id": "a", "text": 5}, {"id": ""},
    ],
    ids=str,
)  # fmt: skip
def test_a_node_that_cannot_be_is_bad_input(scratch, node):
    path = scratch()
    with pytest.raises(BadInput):
        Graph.from_records([node], [], path=path)
    assert not path.exists()


@pytest.mark.parametrize(
    "edge",
    [
        {"source": "a", "target": "a"}, {"source": "a", "type": None, "target": "a"},
        {"source": "a", "type": 5, "target": "a"}, {"source": "a", "type": "t", "target": "missing"},
        {"source": "a", "type": "t", "target": "a", "properties": {"p": {1, 2}}},
        {"source": 1, "type": "t", "target": "a"},
    ],
    ids=str,
)  # fmt: skip
def test_an_edge_that_cannot_be_is_bad_input(scratch, edge):
    with pytest.raises(BadInput):
        Graph.from_records([Node("a")], [edge], path=scratch())


def test_the_very_same_node_twice_is_one_node(build):
    assert len(build([Node("a", properties={"p": 1, "q": [2]}), Node("a", properties={"p": 1, "q": [2]})])) == 1


def test_a_lone_surrogate_does_not_make_two_ids_one(scratch):
    try:
        graph = Graph.from_records([Node("b\ud800"), Node("b?"), Node("bA"), Node("b\ud801")], [], path=scratch())
    except BadInput:
        return  # to refuse them is as good as to keep them
    assert len(set(graph.arrays.ids)) == 4
    assert list(graph.arrays.ids) == sorted(graph.arrays.ids)


# ------------------------------------------------------------------------------------------------------- names to nodes


@pytest.mark.parametrize(
    ("said", "meant"),
    [
        ("p1", "p1"), ("Ada Holm", "p1"), ("ada  holm", "p1"), ("A. Holm", "p1"), ("a holm", "p1"), ("Lodz", "c2"),
        ("łódź", "c2"), ("ŁÓDŹ", "c2"), ("林檎", "p3"), ("sól", "f2"), ("NIGHT FERRY", "f1"),
        ("\uff4eight ferry", "f1"),
    ],
)  # fmt: skip
def test_a_node_is_named_by_id_name_or_alias(small, said, meant):
    assert small.node(said).id == meant
    assert small.arrays.ids[small.arrays.row(said)] == meant


def test_a_name_of_several_nodes_is_ambiguous(small):
    with pytest.raises(AmbiguousNode, match=r"c1 \(place\); f2 \(film\).*id") as error:
        small.node("salt")
    assert error.value.near == ("c1", "f2")


def test_an_id_goes_before_a_name_and_a_name_before_an_alias(build):
    graph = build([Node("a", name="b"), Node("b", name="c"), Node("d", name="e", aliases=("c",))])
    assert graph.node("b").id == "b"
    assert graph.node("c").id == "b"


def test_an_exact_name_goes_before_one_that_only_has_its_words(build):
    graph = build(
        [Node("1", name="C"), Node("2", name="C++"), Node("3", name="C#"), Node("4", name="c", aliases=("++C",))]
    )
    assert graph.node("C++").id == "2"
    assert graph.node("C#").id == "3"
    assert graph.node("C").id == "1"
    assert graph.node("++C").id == "4"


@pytest.mark.parametrize("name", ["+", "???", "\U0001f9ec", "→", "%", "☃"])
def test_a_name_without_words_names_its_node(build, name):
    assert build([Node("a", name=name), Node("b", name="b")]).node(name).id == "a"


@pytest.mark.parametrize("said", ["nobody at all", "", " ", "\0", "\ud800", "x" * 10_000])
def test_an_unknown_node_is_told(small, said):
    with pytest.raises(UnknownNode):
        small.node(said)


def test_near_names_are_offered(small):
    with pytest.raises(UnknownNode, match="Ada Holm") as error:
        small.node("Ada Holmes")
    assert "Ada Holm" in error.value.near
    assert "Night Ferry" in small.arrays.near_names("nigth ferrry")


# -------------------------------------------------------------------------------------------------------------- filters


def test_types_are_taken_by_code_and_label_in_any_case(scratch):
    with GraphBuilder(scratch()) as builder:
        builder.add_node(Node("a", "G", text="x"))
        builder.add_node(Node("b", "D", text="x"))
        builder.publish(labels={"G": "Gene", "D": "Disease"})
    graph = Graph.open(builder._path)
    for name in ("G", "Gene", "gene", "GENE", "g"):
        assert [hit.id for hit in graph.search("x", 5, node_types=[name])] == ["a"]
    with pytest.raises(UnknownType, match="Gene") as error:
        graph.search("x", 5, node_types=["Genes"])
    assert "Gene" in error.value.near


@pytest.mark.parametrize(
    ("ask", "error"),
    [
        (lambda graph: graph.search("x", node_types=["nothing"]), UnknownType),
        (lambda graph: graph.neighbors("p1", node_types=["nothing"]), UnknownType),
        (lambda graph: graph.neighbors("p1", edge_types=["nothing"]), UnknownType),
        (lambda graph: graph.intersect(["p1"], node_types=["nothing"]), UnknownType),
        (lambda graph: graph.search("x", where=["nothing = 1"]), UnknownProperty),
        (lambda graph: graph.neighbors("p1", where=["nothing = 1"]), UnknownProperty),
        (lambda graph: graph.search("x", -1), BadOption),
        (lambda graph: graph.neighbors("p1", k=-1), BadOption),
        (lambda graph: graph.neighbors("p1", offset=-1), BadOption),
        (lambda graph: graph.neighbors("p1", direction="sideways"), BadOption),
        (lambda graph: graph.intersect(["p1", "p2"], k=-1), BadOption),
        (lambda graph: graph.paths("p1", "p2", 0), BadOption),
        (lambda graph: graph.paths("p1", "p2", 99), BadOption),
        (lambda graph: graph.paths("p1", "p2", k=-1), BadOption),
        (lambda graph: graph.neighbors(["p1", "nobody"]), UnknownNode),
        (lambda graph: graph.intersect(["p1", "nobody"]), UnknownNode),
        (lambda graph: graph.paths("p1", "nobody"), UnknownNode),
    ],
)
def test_what_cannot_be_asked_is_told(small, ask, error):
    with pytest.raises(error):
        ask(small)


def test_counts_tell_kinds_of_all_neighbors_whatever_the_page(small):
    page = small.neighbors("p1", k=1)
    assert page.total == 4
    assert len(page.hits) == 1
    assert page.counts == {
        Kind("admires", "in", "person"): 1,
        Kind("admires", "out", "person"): 1,
        Kind("born in", "out", "place"): 1,
        Kind("directed", "out", "film"): 2,
        Kind("wrote", "out", "film"): 1,
    }
    assert next(iter(page.counts)) == Kind("directed", "out", "film")


def test_every_edge_to_a_neighbor_is_given(build):
    edges = [Edge("a", "said", "b", f"letter {at}") for at in range(30)]
    (hit,) = build([Node("a"), Node("b")], edges).neighbors("a").hits
    assert sorted(hit.edges, key=repr) == sorted(edges, key=repr)


def test_a_loop_makes_no_neighbor_and_joins_no_others(small, build):
    assert "c1" not in {hit.id for hit in small.neighbors("c1").hits}
    graph = build([Node("a"), Node("b"), Node("c")], [Edge("a", "x", "b"), Edge("c", "x", "a"), Edge("a", "x", "a")])
    (common,) = [one for one in graph.intersect(["a", "b", "c"]) if one.id == "a"]
    assert sorted(common.edges, key=repr) == [Edge("a", "x", "b"), Edge("c", "x", "a")]


# -------------------------------------------------------------------------------------------------------------- threads


@pytest.mark.slow
def test_threads_share_a_graph(build):
    size = 5_000
    nodes = [Node(f"n{at:04}", text=f"common word{at % 10} only{at}") for at in range(size)]
    graph = build([*nodes, Node("hub")], [Edge("hub", "x", node.id) for node in nodes])
    start = threading.Barrier(8, timeout=30)

    def ask(number):
        start.wait()
        for at in range(number, size, 397):
            assert graph.search(f"only{at}", 3)[0].id == f"n{at:04}"
            page = graph.neighbors("hub", f"common word{at % 10} only{at}", k=2)
            assert [hit.id for hit in page.hits][0] == f"n{at:04}"
            assert graph.node(f"n{at:04}") == Node(f"n{at:04}", name=f"n{at:04}", text=nodes[at].text)
        return number

    with ThreadPoolExecutor(8) as pool:
        assert list(pool.map(ask, range(8))) == list(range(8))


WIDE = """
import resource, sys
from orienteer.graph import Graph
from orienteer.records import Node
_, most = resource.getrlimit(resource.RLIMIT_NOFILE)
resource.setrlimit(resource.RLIMIT_NOFILE, (256, most))
properties = {f"p{number}": number for number in range(300)}
graph = Graph.from_records([Node("a", text="x", properties=properties)], [], path=sys.argv[1])
assert graph.node("a").properties == properties
assert len(graph.search("x", 5, where=[f"p{number} = {number}" for number in range(300)])) == 1
"""


@pytest.mark.process
@pytest.mark.skipif(sys.platform == "win32", reason="needs a limit of open files")
def test_a_table_may_have_hundreds_of_columns(scratch):
    """Systems allow a process 256 to 1,024 open files, and each file that is mapped counts as one."""
    program = subprocess.run([sys.executable, "-c", WIDE, str(scratch())], capture_output=True, text=True, check=False)
    assert program.returncode == 0, program.stderr


def test_hits_are_plain_values(small):
    (hit, *_) = small.search("captain", 5)
    assert isinstance(hit, Hit)
    assert type(hit.id) is str
    assert type(hit.score) is float


def test_nothing_has_nothing_in_common(small):
    assert small.intersect([]) == ()


@pytest.mark.parametrize(
    "ask",
    [
        lambda graph: graph.search("x", mode="dense"),
        lambda graph: graph.neighbors("p1", mode="hybrid"),
        lambda graph: graph.search("x", where="year = 2001"),
        lambda graph: graph.search("x", node_types="paper"),
        lambda graph: graph.search(3),
        lambda graph: graph.search("x", where=["a" + " " * 100_000 + "b"]),
    ],
)
def test_what_cannot_be_done_yet_or_is_no_list_is_told(small, ask):
    with pytest.raises(BadOption):
        ask(small)


def test_an_edge_to_an_empty_id_joins_nothing(scratch):
    with GraphBuilder(scratch()) as builder:
        builder.add_node(Node("a"))
        builder.add_node(Node("b"))
        builder.add_edges(EdgeBatch(sources=["a", "", "b"], types=["t", "t", "t"], targets=["", "b", "a"]))
        assert builder.edges.source.tolist() == [0, -1, 1]
        assert builder.edges.target.tolist() == [-1, 1, 0]


def test_nodes_may_come_between_edges(scratch):
    path = scratch()
    with GraphBuilder(path) as builder:
        builder.add_node(Node("a"))
        builder.add_edges(EdgeBatch(sources=["a"], types=["t"], targets=["a"]))
        builder.add_node(Node("b"))
        builder.add_edges(EdgeBatch(sources=["a"], types=["t"], targets=["b"]))
        builder.publish()
    assert [edge.target for edge in Graph.open(path).iter_edges()] == ["a", "b"]


def test_a_graph_holds_its_ids_and_nothing_else(small):
    assert "p1" in small
    assert "no such node" not in small
    assert 1 not in small
