"""Graphs in one JSON object; networkx is the oracle of its own, hand-made graphs stand for those of other programs."""

import json

import networkx
import pytest
from hypothesis import given, settings, strategies as st

from fakes.inside import inside
from orienteer.errors import BadInput
from orienteer.graph import Graph
from orienteer.ingest import DropCounts, EdgeElement, ImportOptions, NodeElement, NodeLink, import_graph
from orienteer.records import Edge, Node

TEXT = st.text(st.characters(exclude_categories=["Cs"]), max_size=6)
JSON = st.integers() | st.booleans() | TEXT | st.lists(st.integers(0, 9), max_size=2) | st.none()
FIELDS = st.dictionaries(st.sampled_from(["flag", "count", "word", "data", "key_"]), JSON, max_size=3)


@pytest.fixture
def read(tmp_path):
    """Give a function that imports a JSON value: the report and the graph."""

    def reading(value, name="graph.json", **options):
        path = tmp_path / name
        path.write_text(value if isinstance(value, str) else json.dumps(value), encoding="utf-8")
        report = import_graph([path], tmp_path / "made", options=ImportOptions(force=True, **options))
        return report, Graph.open(tmp_path / "made")

    return reading


def edges_of(graph):
    return sorted((edge.source, edge.type, edge.target) for edge in graph.iter_edges())


@pytest.mark.slow
@settings(max_examples=60, deadline=None)
@given(
    nodes=st.lists(FIELDS, min_size=1, max_size=5),
    edges=st.lists(st.tuples(st.integers(0, 4), st.integers(0, 4), FIELDS), max_size=8),
    kind=st.sampled_from([networkx.Graph, networkx.DiGraph, networkx.MultiGraph, networkx.MultiDiGraph]),
    links=st.sampled_from(["links", "edges"]),
    named=st.booleans(),
)
def test_what_networkx_writes_is_read_as_it_reads_it_itself(nodes, edges, kind, links, named, tmp_path_factory):
    made = kind()
    name = (lambda number: f"n{number}") if named else (lambda number: 7 * number)
    for number, fields in enumerate(nodes):
        made.add_node(name(number), **fields)
    for source, target, fields in edges:
        made.add_edge(name(source % len(nodes)), name(target % len(nodes)), **fields)
    path = tmp_path_factory.mktemp("nx") / "graph.json"
    path.write_text(json.dumps(networkx.node_link_data(made, edges=links)))
    oracle = networkx.node_link_graph(json.loads(path.read_text()), edges=links)
    elements = list(NodeLink(path, DropCounts()).elements())
    found = [element for element in elements if isinstance(element, EdgeElement)]
    assert {element.id: element.fields for element in elements if isinstance(element, NodeElement)} == {
        str(node): data for node, data in oracle.nodes(data=True)
    }
    assert sorted(repr((*_ends(edge.source, edge.target, made), sorted(edge.fields.items()))) for edge in found) == (
        sorted(
            repr((*_ends(str(source), str(target), made), sorted(data.items())))
            for source, target, data in oracle.edges(data=True)
        )
    )
    assert {edge.is_directed for edge in found} <= {oracle.is_directed()}


def _ends(source, target, graph):
    return (source, target) if graph.is_directed() else tuple(sorted((source, target)))


def test_a_grid_of_networkx_has_its_pairs_for_ids(read):
    report, graph = read(networkx.node_link_data(networkx.grid_2d_graph(2, 2), edges="links"))
    assert list(graph.node_ids()) == ["(0, 0)", "(0, 1)", "(1, 0)", "(1, 1)"]
    assert (report.edges, report.symmetric) == (4, ("edge",))


def test_keys_that_are_texts_are_types(read):
    made = networkx.MultiDiGraph()
    made.add_edge("a", "b", key="knows", since=1999)
    made.add_edge("a", "b", key="likes")
    made.add_edge("b", "a")
    made.add_edge("b", "a", key="x", relation="cites")
    _, graph = read(networkx.node_link_data(made, edges="edges"))
    assert edges_of(graph) == [("a", "knows", "b"), ("a", "likes", "b"), ("b", "cites", "a"), ("b", "edge", "a")]


PEOPLE = [Node("0", "node", "Valjean", "", (), {"group": 1}), Node("1", "node", "Javert", "", (), {"group": 4})]


@pytest.mark.parametrize(
    "value",
    [
        {"nodes": [{"name": "Valjean", "group": 1}, {"name": "Javert", "group": 4}],
         "links": [{"source": 1, "target": 0, "value": 17}]},  # d3, up to version 3
        {"nodes": [{"id": 0, "label": "Valjean", "group": 1}, {"id": 1, "label": "Javert", "group": 4}],
         "edges": [{"from": 1, "to": 0, "value": 17}]},  # vis.js
        {"graph": {"directed": True, "nodes": {"0": {"label": "Valjean", "metadata": {"group": 1}},
                                               "1": {"label": "Javert", "metadata": {"group": 4}}},
                   "edges": [{"source": "1", "target": "0", "metadata": {"value": 17}}]}},  # JSON Graph Format
        {"data": {"name": "x"}, "elements": {
            "nodes": [{"data": {"id": "0", "name": "Valjean", "group": 1}, "position": {"x": 1}},
                      {"data": {"id": "1", "name": "Javert", "group": 4}}],
            "edges": [{"data": {"id": "e", "source": "1", "target": "0", "value": 17}}]}},  # Cytoscape
    ],
    ids=["d3", "vis.js", "jgf", "cytoscape"],
)  # fmt: skip
def test_other_programs_write_the_same_graph(value, read):
    report, graph = read(value)
    assert [graph.node(node_id) for node_id in graph.node_ids()] == PEOPLE
    assert list(graph.iter_edges()) == [Edge("1", "edge", "0", properties={"value": 17})]
    assert (report.dropped, report.symmetric) == ((), ())


def test_numbers_that_are_ids_are_never_places(read):
    value = {"nodes": [{"id": "2"}, {"id": "1"}], "links": [{"source": 1, "target": 2}]}
    assert edges_of(read(value)[1]) == [("1", "edge", "2")]
    value = {"nodes": [{"id": "x"}, {"id": "y"}], "links": [{"source": 1, "target": 0}, {"source": 5, "target": 0}]}
    report, graph = read(value)
    assert edges_of(graph) == [("y", "edge", "x")]
    assert [(cut.reason, cut.count) for cut in report.dropped] == [("dangling", 1)]


def test_apocs_object_of_nodes_and_rels(read):
    _, graph = read(
        {
            "nodes": [
                {"type": "node", "id": "0", "labels": ["User", "Admin"], "properties": {"name": "Ann"}},
                {"type": "node", "id": "1", "labels": ["User"], "properties": {"name": "Ben"}},
            ],
            "rels": [
                {"type": "relationship", "id": "0", "label": "KNOWS", "properties": {"since": 1993},
                 "start": {"id": "0", "labels": ["User"]}, "end": {"id": "1", "labels": ["User"]}},
            ],
        }
    )  # fmt: skip
    assert graph.node("Ann") == Node("0", "User", "Ann", "", (), {"labels": ["Admin"]})
    assert list(graph.iter_edges()) == [Edge("0", "KNOWS", "1", properties={"since": 1993})]


@pytest.mark.parametrize(
    ("number", "reason", "kept"),
    [
        ("NaN", "NaN", {}),
        ("Infinity", "Infinity", {"far": "inf"}),
        ("-Infinity", "Infinity", {"far": "-inf"}),
        ("1e999", "Infinity", {"far": "inf"}),
        ("-2.5E+400", "Infinity", {"far": "-inf"}),
        ("1e300", None, {"far": 1e300}),
        ('"1e999 NaN"', None, {"far": "1e999 NaN"}),
    ],
)
def test_what_is_no_number_in_json_is_told(number, reason, kept, read):
    value = {"nodes": [{"id": "a", "far": "#"}, {"id": "b"}], "links": [{"source": "a", "target": "b"}]}
    apoc = [{"type": "node", "id": "a", "labels": ["Ship"], "properties": {"far": "#"}}]
    by_lines = "".join(json.dumps(member) + "\n" for member in apoc)
    for written, name in ((json.dumps(value), "graph.json"), (json.dumps(apoc), "apoc.json"), (by_lines, "lines.json")):
        report, graph = read(written.replace('"#"', number), name)
        assert [(cut.reason, cut.count) for cut in report.dropped] == ([(reason, 1)] if reason else [])
        assert graph.node("a").properties == kept


def test_a_folder_with_one_such_file_is_that_graph(tmp_path):
    folder = tmp_path / "folder"
    folder.mkdir()
    (folder / "network.json").write_text(json.dumps({"nodes": [{"id": "a"}], "links": []}))
    (folder / "settings.json").write_text('{"nodes": [1, 2]}')
    (folder / "README.md").write_text("A network.")
    report = import_graph([folder], tmp_path / "made")
    assert report.nodes == 1
    assert [(file.file, file.is_telling) for file in report.ignored] == [
        (str(folder / "README.md"), False),
        (str(folder / "settings.json"), True),
    ]


@pytest.mark.parametrize(
    ("value", "message"),
    [
        ({"nodes": [1, 2], "links": []}, "1 is no node and no edge"),
        ({"nodes": [{"id": 1}], "links": [3]}, "3 is no node and no edge"),
        ({"nodes": [{"id": 1}], "links": {"a": 1}, "x": {"edges": []}}, "holds no graph that is known"),
        ('{"nodes": [{"id": 1}], "links": [', "no whole JSON file"),
        ('{"nodes": [{"id": 1, "x": ' + "[" * 200 + "]" * 200 + '}], "links": []}', "more than 100 values"),
        ({"nodes": [], "links": []}, "The sources hold no node"),
        ({"nodes": [{"id": 1, "a": 1}, {"id": "1", "a": 2}], "links": []}, "Two different nodes have the id '1'"),
    ],
)
def test_what_is_no_such_graph_is_one_clear_error(value, message, read, tmp_path):
    with pytest.raises(BadInput, match=message) as caught:
        read(value)
    assert "\n" not in str(caught.value)
    assert not (tmp_path / "made").exists()


@pytest.mark.corpus("attacks by files")
def test_elements_have_a_largest_size_and_texts_are_unicode(read, monkeypatch):
    report, _ = read('{"nodes": [{"id": "a", "x": "\\ud800"}, {"id": "b"}], "links": []}')
    assert (report.nodes, report.dropped[0].reason, report.dropped[0].first[0].line) == (1, "bad encoding", 1)
    monkeypatch.setattr(inside(NodeLink), "MOST_RECORD", 1_000)
    with pytest.raises(BadInput, match="element 2: a node or edge of more than"):
        read({"nodes": [{"id": "a"}, {"id": "b", "x": "y" * 2_000}], "links": []})
