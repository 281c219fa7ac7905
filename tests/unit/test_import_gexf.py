"""GEXF as Gephi and networkx write it; networkx is the oracle of what a file says."""

import networkx
import pytest
from hypothesis import given, settings, strategies as st

from orienteer.errors import BadInput
from orienteer.graph import Graph
from orienteer.ingest import DropCounts, EdgeElement, Gexf, ImportOptions, NodeElement, import_graph
from orienteer.records import Edge, Node

OPENING = '<?xml version="1.0" encoding="UTF-8"?>\n<gexf xmlns="http://gexf.net/1.3" version="1.3">'
TEXT = st.text(st.characters(exclude_categories=["Cs", "Cc", "Z"], exclude_characters="\ufffe\uffff"), max_size=8)


@pytest.fixture
def read(tmp_path):
    """Give a function that imports a GEXF text: the report and the graph."""

    def reading(body, *, opening=OPENING, **options):
        path = tmp_path / "graph.gexf"
        path.write_text(opening + body + "</gexf>", encoding="utf-8")
        report = import_graph([path], tmp_path / "made", options=ImportOptions(force=True, **options))
        return report, Graph.open(tmp_path / "made")

    return reading


def edges_of(graph):
    return sorted((edge.source, edge.type, edge.target) for edge in graph.iter_edges())


FIELDS = st.fixed_dictionaries(
    {}, optional={"flag": st.booleans(), "count": st.integers(-(2**31), 2**31), "score": st.floats(-9, 9), "word": TEXT}
)


@pytest.mark.slow
@settings(max_examples=40, deadline=None)
@given(
    nodes=st.lists(FIELDS, min_size=1, max_size=5),
    edges=st.lists(st.tuples(st.integers(0, 4), st.integers(0, 4), FIELDS), max_size=8),
    version=st.sampled_from(["1.1draft", "1.2draft"]),
    kind=st.sampled_from([networkx.Graph, networkx.DiGraph, networkx.MultiGraph, networkx.MultiDiGraph]),
)
def test_what_networkx_writes_is_read_as_it_reads_it_itself(nodes, edges, version, kind, tmp_path_factory):
    made = kind()
    for at, fields in enumerate(nodes):
        made.add_node(f"n{at}", **fields)
    for source, target, fields in edges:
        made.add_edge(f"n{source % len(nodes)}", f"n{target % len(nodes)}", **fields)
    path = tmp_path_factory.mktemp("nx") / "graph.gexf"
    networkx.write_gexf(made, path, version=version)
    said = networkx.read_gexf(path, version=version)
    elements = list(Gexf(path, DropCounts()).elements())
    found = [one for one in elements if isinstance(one, EdgeElement)]
    assert {one.id: one.fields for one in elements if isinstance(one, NodeElement)} == dict(said.nodes(data=True))
    assert sorted(repr((*ends(one.source, one.target, made), sorted(one.fields.items()))) for one in found) == sorted(
        repr((*ends(source, target, made), sorted((name, value) for name, value in data.items() if name != "id")))
        for source, target, data in said.edges(data=True)
    )
    assert {one.is_directed for one in found} <= {said.is_directed()}


@pytest.mark.parametrize("fields", [{"key": "towed"}, {"type": "towed"}, {"kind": "towed"}, {"label": "towed"}])
def test_a_type_that_networkx_writes_is_one(fields, read, tmp_path):
    made = networkx.MultiDiGraph()
    made.add_edge("a", "b", **fields)
    networkx.write_gexf(made, tmp_path / "made.gexf")
    _, graph = read("", opening=(tmp_path / "made.gexf").read_text().strip().removesuffix("</gexf>"))
    assert [(edge.source, edge.type, edge.target, edge.properties) for edge in graph.iter_edges()] == [
        ("a", "towed", "b", {})
    ]


def ends(source, target, graph):
    return (source, target) if graph.is_directed() else tuple(sorted((source, target)))


def test_what_gephi_writes_is_read(read):
    report, graph = read(
        """<meta lastmodifieddate="2026-11-21"><creator>Gephi 0.10</creator></meta>
<graph defaultedgetype="directed" mode="static">
<attributes class="node" mode="static"><attribute id="kind" title="kind" type="string"/>
<attribute id="1" title="year" type="integer"><default>1990</default></attribute>
<attribute id="2" title="tags" type="liststring"/><attribute id="3" title="marks" type="listinteger"/></attributes>
<attributes class="edge" mode="static"><attribute id="1" title="how" type="string"/></attributes>
<nodes count="3">
<node id="a" label="Ann"><attvalues><attvalue for="kind" value="person"/><attvalue for="2" value='[x, "y, z"]'/>
<attvalue for="3" value="1|2"/></attvalues><viz:size xmlns:viz="http://gexf.net/1.3/viz" value="3"/></node>
<node id="b" label="Ben"><attvalues><attvalue for="1" value="2001"/><attvalue for="9" value="odd"/></attvalues></node>
<node id="c"/>
</nodes>
<edges count="4"><edge id="0" source="a" target="b" kind="knows" label="well" weight="2.5"/>
<edge id="1" source="b" target="c" label="likes"><attvalues><attvalue for="1" value="much"/></attvalues></edge>
<edge id="2" source="c" target="b" type="mutual" label="meets"/>
<edge id="3" source="a" target="c"/></edges></graph>"""
    )
    assert graph.node("a") == Node("a", "person", "Ann", "", (), {"year": 1990, "tags": ["x", "y, z"], "marks": [1, 2]})
    assert graph.node("b") == Node("b", "node", "Ben", "", (), {"year": 2001, "9": "odd"})
    assert graph.node("c") == Node("c", "node", "c", "", (), {"year": 1990})
    assert sorted(graph.iter_edges(), key=lambda edge: (edge.type, edge.source)) == [
        Edge("a", "edge", "c"),
        Edge("a", "knows", "b", weight=2.5, properties={"label": "well"}),
        Edge("b", "likes", "c", properties={"how": "much"}),
        Edge("c", "meets", "b"),
    ]
    assert report.symmetric == ("meets",)  # a mutual edge is both directions
    assert (report.dropped, report.notes) == ((), ())


def test_an_attribute_that_names_the_type_wins_over_the_label(read):
    _, graph = read(
        '<graph defaultedgetype="directed"><attributes class="edge"><attribute id="0" title="relation" type="string"/>'
        '</attributes><nodes><node id="a"/><node id="b"/></nodes><edges><edge source="a" target="b" label="x">'
        '<attvalues><attvalue for="0" value="cites"/></attvalues></edge>'
        '<edge source="b" target="a" label="y"/></edges></graph>'
    )
    assert sorted(graph.iter_edges(), key=lambda edge: edge.type) == [
        Edge("a", "cites", "b", properties={"label": "x"}),
        Edge("b", "y", "a"),
    ]


@pytest.mark.slow
def test_edges_have_no_direction_unless_the_file_says_so(read):
    nodes = '<nodes><node id="a"/><node id="b"/></nodes>'
    report, _ = read(f'<graph>{nodes}<edges><edge source="a" target="b"/></edges></graph>')
    assert report.symmetric == ("edge",)
    report, graph = read(
        f'<graph>{nodes}<edges><edge source="a" target="b" type="directed"/><edge source="b" target="a"/></edges>'
        "</graph>"
    )
    assert report.symmetric == ("edge (undirected)",)
    assert edges_of(graph) == [("a", "edge", "b"), ("b", "edge (undirected)", "a")]


def test_hierarchy_is_part_of(read):
    _, graph = read(
        '<graph defaultedgetype="directed"><nodes><node id="a" pid="top"/><node id="b"><parents><parent for="top"/>'
        '<parent for="a"/></parents></node><node id="top"><nodes><node id="c"/></nodes></node></nodes></graph>'
    )
    assert edges_of(graph) == [
        ("a", "part_of", "top"),
        ("b", "part_of", "a"),
        ("b", "part_of", "top"),
        ("c", "part_of", "top"),
    ]


def test_times_are_counted_and_the_last_value_is_kept(read):
    report, graph = read(
        '<graph mode="dynamic" defaultedgetype="directed"><attributes class="node" mode="dynamic">'
        '<attribute id="0" title="price" type="float"/></attributes><nodes><node id="a" start="1" end="9"><attvalues>'
        '<attvalue for="0" value="1.5" start="1" end="2"/><attvalue for="0" value="2.5" start="2" end="9"/></attvalues>'
        '<spells><spell start="1" end="3"/><spell start="5" end="9"/></spells></node><node id="b"/></nodes>'
        '<edges><edge source="a" target="b" timestamps="[1, 2]"/></edges></graph>'
    )
    assert graph.node("a").properties == {"price": 2.5}
    assert [(cut.reason, cut.count, cut.first[0].value) for cut in report.dropped] == [("time", 6, "1")]
    with pytest.raises(BadInput, match="--strict: 1 time"):
        read('<graph><nodes><node id="a" start="3"/></nodes></graph>', strict=True)


@pytest.mark.parametrize(
    ("body", "message"),
    [
        ("<graph><nodes>", "mismatched tag"),
        ("<graph><nodes/></graph>", "The sources hold no node"),
        ("<!-- <graph> -->", "The sources hold no node"),
    ],
)
def test_what_is_no_gexf_is_one_clear_error(body, message, read):
    with pytest.raises(BadInput, match=message):
        read(body)


def test_a_document_type_of_its_own_is_refused(read):
    with pytest.raises(BadInput, match="a document type of its own"):
        read("", opening='<!DOCTYPE gexf [<!ENTITY a "b">]><gexf>')
    with pytest.raises(BadInput, match="begins with <graphml> where <gexf> is expected"):
        read("", opening="<graphml/>")
