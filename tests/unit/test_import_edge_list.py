"""Edge lists: as networkx writes them, which is the oracle of its own, and as collections of networks publish them."""

import gzip

import networkx
import pytest
from hypothesis import given, settings, strategies as st

from orienteer.errors import BadInput
from orienteer.graph import Graph
from orienteer.ingest import ImportOptions, import_graph, is_edge_list
from orienteer.records import Edge

pytestmark = pytest.mark.slow

SNAP = "# Directed graph (each unordered pair of nodes is saved once): p2p.txt\n# Nodes: 3 Edges: 3\n# From\tTo\n"


@pytest.fixture
def read(tmp_path):
    """Give a function that imports a text under a name: the report and the graph."""

    def reading(text, name, **options):
        path = tmp_path / name
        content = text if isinstance(text, bytes) else text.encode()
        path.write_bytes(gzip.compress(content) if name.endswith(".gz") else content)
        report = import_graph([path], tmp_path / "made", options=ImportOptions(force=True, **options))
        return report, Graph.open(tmp_path / "made")

    return reading


def edges_of(graph):
    return sorted((edge.source, edge.type, edge.target) for edge in graph.iter_edges())


DATA = st.fixed_dictionaries(
    {},
    optional={
        "weight": st.floats(-9, 9),
        "since": st.integers(),
        "how": st.text(st.characters(codec="ascii", exclude_characters="#")),
    },  # networkx reads a comment there
)


@settings(max_examples=25, deadline=None)
@given(
    edges=st.dictionaries(st.tuples(st.integers(0, 5), st.integers(0, 5)), DATA, min_size=1, max_size=8),
    how=st.sampled_from([True, False, ["weight"]]),
    delimiter=st.sampled_from([" ", ",", "\t"]),
)
def test_what_networkx_writes_is_read_as_it_reads_it_itself(edges, how, delimiter, tmp_path_factory):
    made = networkx.DiGraph()
    for (source, target), data in edges.items():
        made.add_edge(f"n{source}", f"n{target}", **({"weight": 2.5} if how == ["weight"] else data))
    folder = tmp_path_factory.mktemp("nx")
    path = folder / "graph.edgelist"
    networkx.write_edgelist(made, path, data=how, delimiter=delimiter)
    kinds = (("weight", float),) if how == ["weight"] else how
    oracle = networkx.read_edgelist(path, create_using=networkx.DiGraph, data=kinds, delimiter=delimiter)
    report = import_graph([path], folder / "made")
    graph = Graph.open(folder / "made")
    assert set(graph.node_ids()) == set(oracle)
    assert report.merged == () or report.merged[0].reason == "mirrored"
    found = {(edge.source, edge.target): edge for edge in graph.iter_edges()}
    for source, target, data in oracle.edges(data=True):
        edge = found.get((source, target))
        if edge is None:  # stored once, for the list has both directions of every edge
            assert (target, source) in found
            continue
        if report.merged == ():
            wanted = {key: value for key, value in data.items() if key != "weight" and value != ""}
            assert (edge.weight, dict(edge.properties)) == (data.get("weight", 1.0), wanted)


@pytest.mark.parametrize(
    ("text", "name"),
    [
        (SNAP + "0\t1\n0\t2\n1\t0\n", "p2p.txt"),
        (SNAP + "0\t1\r\n0\t2\r\n1\t0\r\n", "p2p.txt.gz"),
        ("% asym unweighted\n% 3 3 3\n0 1\n0 2\n1 0\n", "out.tsv"),
        ("0 1\n0 2\n1 0\n", "plain.edges"),
        ("0,1\n0,2\n\n1,0\n", "plain.csv"),
        ("0, 1\n0, 2\n1, 0", "plain.el"),
    ],
)
def test_lists_of_others_are_read(text, name, read):
    report, graph = read(text, name)
    kind = name.partition(".")[0]  # edges are named after their file
    assert edges_of(graph) == [("0", kind, "1"), ("0", kind, "2"), ("1", kind, "0")]
    assert (report.dropped, report.merged) == ((), ())


@pytest.mark.parametrize(
    ("text", "name", "wanted"),
    [
        ("a b\nb c\nc a\n", "words.txt", True),
        ("brewery,country\nDuvel,Belgium\nRodenbach,Belgium\n", "breweries.csv", False),
        ("id,name\n1,a\n2,b\n", "nodes.csv", False),
        ("1,2,3\n1,3,4\n", "triples.csv", False),
        ("source target\na b\n", "words.txt", False),
        ("the cat\nsat down\n", "prose.txt", False),
        ('"1","2"\n"1","3"\n', "quoted.csv", False),
        ("", "empty.txt", False),
    ],
)
def test_two_columns_with_names_are_a_table(text, name, wanted, tmp_path):
    (tmp_path / name).write_text(text)
    assert is_edge_list(tmp_path / name) is wanted


def test_a_list_beside_a_table_of_nodes(tmp_path):
    folder = tmp_path / "folder"
    folder.mkdir()
    (folder / "nodes.csv").write_text("id,name,type\n1,Ann,person\n2,Ben,person\n3,Cid,person\n")
    (folder / "knows.edges").write_text("# who knows whom\n1 2 0.5\n2 3\n2 9\n")
    report = import_graph([folder], tmp_path / "made")
    assert (report.nodes, report.edges) == (3, 2)
    assert [(cut.reason, cut.first[0].line) for cut in report.dropped] == [("dangling", 4)]
    assert next(iter(Graph.open(tmp_path / "made").iter_edges())) == Edge("1", "knows", "2", weight=0.5)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("1\n2\n", "line 1: 1 fields, where an edge list has two ids"),
        ("1 2\n1 2 3 4\n", "line 2: 4 fields, where"),
        ("1 2\n1 2 likes\n", "line 2: likes is no weight"),
        ("a likes b\n", "line 1: b is no weight and no data of an edge; a list of triples"),
        ("1 2 {'a': __import__('os')}\n", "is no weight and no data"),
        ("1 2 {'a': " + "[" * 5_000 + "]" * 5_000 + "}\n", "is no weight and no data"),
        ("1 2 {'a': " + "[" * 150 + "]" * 150 + "}\n", "is no weight and no data"),
        ("1 2 {" + "'a': 1, " * 20_000 + "}\n", "is no weight and no data"),
        ("# nothing\n", "line 1: 0 fields"),
    ],
)
def test_what_is_no_edge_list_is_one_clear_error(text, message, read, tmp_path):
    with pytest.raises(BadInput, match=message) as caught:
        read(text, "bad.edgelist")
    assert "\n" not in str(caught.value)
    assert not (tmp_path / "made").exists()


def test_a_line_that_is_no_utf8_is_dropped(read):
    report, graph = read(b"a b\nK\xf6ln b\nb c\n", "x.edges")
    assert edges_of(graph) == [("a", "x", "b"), ("b", "x", "c")]
    assert [(cut.reason, cut.count, cut.first[0].line) for cut in report.dropped] == [("bad encoding", 1, 2)]
