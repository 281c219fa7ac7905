"""GML as networkx and others write it; networkx is the oracle of what a file says."""

import networkx
import pytest
from hypothesis import given, settings, strategies as st

from fakes.inside import inside
from orienteer.errors import BadInput
from orienteer.graph import Graph
from orienteer.ingest import DropCounts, EdgeElement, Gml, ImportOptions, NodeElement, import_graph
from orienteer.records import Edge, Node

pytestmark = pytest.mark.slow

TEXT = st.text(st.characters(exclude_categories=["Cs"]), max_size=8)
KEY = st.sampled_from(["flag", "count", "Score", "word", "tags"])
VALUE = st.integers(-(2**31), 2**31 - 1) | st.floats(-9, 9) | TEXT | st.lists(st.integers(0, 9) | TEXT, max_size=3)
FIELDS = st.dictionaries(KEY, VALUE | st.dictionaries(KEY, st.integers(0, 9), min_size=1, max_size=2), max_size=3)


@pytest.fixture
def read(tmp_path):
    """Give a function that imports a GML text: the report and the graph."""

    def reading(text, **options):
        path = tmp_path / "graph.gml"
        path.write_text(text, encoding="utf-8")
        report = import_graph([path], tmp_path / "made", options=ImportOptions(force=True, **options))
        return report, Graph.open(tmp_path / "made")

    return reading


def elements_of(path):
    elements = list(Gml(path, DropCounts()).elements())
    nodes = [element for element in elements if isinstance(element, NodeElement)]
    return nodes, [element for element in elements if isinstance(element, EdgeElement)]


@settings(max_examples=60, deadline=None)
@given(
    nodes=st.lists(FIELDS, min_size=1, max_size=5),
    edges=st.lists(st.tuples(st.integers(0, 4), st.integers(0, 4), FIELDS), max_size=8),
    kind=st.sampled_from([networkx.Graph, networkx.DiGraph, networkx.MultiGraph, networkx.MultiDiGraph]),
)
def test_what_networkx_writes_is_read_as_it_reads_it_itself(nodes, edges, kind, tmp_path_factory):
    made = kind()
    for number, fields in enumerate(nodes):
        made.add_node(f"n{number}", **fields)
    for source, target, fields in edges:
        made.add_edge(f"n{source % len(nodes)}", f"n{target % len(nodes)}", **fields)
    path = tmp_path_factory.mktemp("nx") / "graph.gml"
    networkx.write_gml(made, path)
    oracle = networkx.read_gml(path, label="id")
    found_nodes, found_edges = elements_of(path)
    assert {node.id: node.fields for node in found_nodes} == {
        str(node): _without_empty_tuples(data) for node, data in oracle.nodes(data=True)
    }
    found = [(*_ends(edge.source, edge.target, made), edge.fields) for edge in found_edges]
    expected = [
        (*_ends(str(source), str(target), made), _without_empty_tuples(data))
        for source, target, data in oracle.edges(data=True)
    ]
    assert sorted(map(_written, found)) == sorted(map(_written, expected))
    assert {edge.is_directed for edge in found_edges} <= {oracle.is_directed()}


def _ends(source, target, graph):
    return (source, target) if graph.is_directed() else tuple(sorted((source, target)))


def _written(edge):
    source, target, fields = edge
    return repr((source, target, sorted(fields.items())))


def _without_empty_tuples(data):
    return {key: [] if value == () else value for key, value in data.items()}


def test_what_network_scientists_write_is_read(read):
    report, graph = read(
        """Creator "Mark Newman on Mon Jul 21 12:04:20 2006"
# a comment, with "quotes
graph
[
  comment [ about [ deep "er" ] ]
  directed 0
  node
  [
    id 1
    label "Beethoven &#38; Söhne &amp; Co"
    value 5
    graphics [ x 1.0 y 2.0 ]
  ]
  node [ id 2 label "two
lines" type "place" area [ km 3 miles 2 ] ] node [ id 3 ]
  edge [ source 1 target 2 value 3 weight 2.5 ]
  edge [ source 2 target 3 label "near" ]
]
"""
    )
    assert graph.node("1") == Node("1", "node", "Beethoven & Söhne & Co", "", (), {"value": 5})
    assert graph.node("2") == Node("2", "place", "two\nlines", "", (), {"km": 3, "miles": 2})
    assert sorted(graph.iter_edges(), key=lambda edge: edge.source) == [
        Edge("1", "edge", "2", weight=2.5, properties={"value": 3}),
        Edge("2", "near", "3"),
    ]
    assert (report.symmetric, report.dropped, report.notes) == (("edge", "near"), (), ())


def test_texts_that_are_keys_of_parallel_edges_are_their_types(read, tmp_path):
    made = networkx.MultiDiGraph()
    made.add_edge("Ann", "Ben", key="knows", since=1999)
    made.add_edge("Ann", "Ben", key="likes")
    made.add_edge("Ben", "Ann")
    networkx.write_gml(made, tmp_path / "made.gml")
    _, graph = read((tmp_path / "made.gml").read_text())
    assert sorted((edge.source, edge.type, edge.target, *edge.properties.items()) for edge in graph.iter_edges()) == [
        ("0", "knows", "1", ("since", 1999)),
        ("0", "likes", "1"),
        ("1", "edge", "0"),
    ]


def test_edges_before_their_nodes_and_what_lacks_an_id(read):
    report, graph = read(
        'graph [ directed 1 edge [ source 2 target 1 ] edge [ source 2 ] node [ label "nameless" ] node [ id 1 ] '
        "node [ id 2 ] edge [ source 1 target 9 ] ]"
    )
    assert list(graph.iter_edges()) == [Edge("2", "edge", "1")]
    assert {cut.reason: cut.count for cut in report.dropped} == {"empty id": 2, "dangling": 1}


def test_a_node_that_is_no_utf8_is_dropped_with_its_line(tmp_path):
    path = tmp_path / "latin.gml"
    path.write_bytes('graph [\nnode [ id 1 label "Łódź" ]\n'.encode() + b'node [ id 2 label "K\xf6ln" ]\n]')
    report = import_graph([path], tmp_path / "made")
    assert (report.nodes, report.dropped[0].reason, report.dropped[0].first[0].line) == (1, "bad encoding", 3)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("graph [ node [ id 1 ]", "ends within graph; is it cut short"),
        ('graph [ node [ id 1 label "x', "ends within graph; is it cut short"),
        ("graph [ node [ id ", "is it cut short"),
        ("graph [ node [ id [ ] 3 ] ]", "line 1: 3 stands where a key is expected"),
        ("graph [ node [ id ] ]", "a ] stands where the value of 'id' is expected"),
        ("graph [ ] ]", "a ] stands where a key is expected"),
        ("graph [ ]\ngraph [ ]", "line 2: a second graph begins"),
        ("graph [ node [ id one ] ]", "one stands where the value of 'id' is expected"),
        ("[ graph ]", r"\[ stands where a key is expected"),
        ("<graphml/>", "stands where a key is expected"),
        ("Creator 3\n", "is no GML"),
        ("graph " + "[ a " * 100_000, "more than 100 values within values"),
        ("graph [ node [ id 1 " + "a [ " * 100_000, "more than 100 values within values"),
        ("graph [ ]", "The sources hold no node"),
    ],
)
def test_what_is_no_gml_is_one_clear_error(text, message, read, tmp_path):
    with pytest.raises(BadInput, match=message) as caught:
        read(text)
    assert "\n" not in str(caught.value)
    assert not (tmp_path / "made").exists()


@pytest.mark.corpus("attacks by files")
@pytest.mark.parametrize(
    "tail", ["x 1\n" * 5_000, 'label "' + "x\n" * 9_000, "a [ b 1 ]\n" * 5_000, "graphics [ " + "x [ y 1 ]\n" * 5_000]
)
def test_a_node_has_a_largest_size(tail, read, monkeypatch):
    monkeypatch.setattr(inside(Gml), "MOST_RECORD", 10_000)
    rows = "".join(f'node [ id {number} label "{"x" * 90}" ]\n' for number in range(1_000))
    assert read(f"graph [\n{rows}]")[0].nodes == 1_000
    with pytest.raises(BadInput, match="a node or edge of more than"):
        read(f"graph [\n{rows}node [ id 9999 {tail}")
