"""GraphML as networkx, LightRAG, Neo4j, TinkerPop and yEd write it; networkx is the oracle of what a file says."""

import gzip
import re

import networkx
import pytest
from hypothesis import given, settings, strategies as st

from orienteer.errors import BadInput, BadOption, DuplicateNode
from orienteer.graph import Graph
from orienteer.ingest import (
    DropCounts,
    EdgeElement,
    Gexf,
    GraphMl,
    ImportOptions,
    NodeElement,
    export_graph,
    import_graph,
    is_stale,
    validate_sources,
)
from orienteer.records import Edge, Node

pytestmark = pytest.mark.slow

OPENING = '<?xml version="1.0" encoding="UTF-8"?>\n<graphml xmlns="http://graphml.graphdrawing.org/xmlns">'
# What XML can hold; a carriage return comes back as a newline unless it is escaped.
TEXT = st.text(st.characters(exclude_categories=["Cs", "Cc"], exclude_characters="\ufffe\uffff"), max_size=8)


@pytest.fixture
def read(tmp_path):
    """Give a function that imports a GraphML text: the report and the graph."""

    def reading(body, *, name="graph.graphml", opening=OPENING, **options):
        data = (opening + body).encode() if isinstance(body, str) else body
        path = tmp_path / name
        path.write_bytes(gzip.compress(data) if name.endswith(".gz") else data)
        report = import_graph([path], tmp_path / "made", options=ImportOptions(force=True, **options))
        return report, Graph.open(tmp_path / "made")

    return reading


def edges_of(graph):
    return sorted((edge.source, edge.type, edge.target) for edge in graph.iter_edges())


# ------------------------------------------------------------------------------------------------- the oracle

VALUES = {
    "flag": st.booleans(),
    "count": st.integers(-(2**40), 2**40),
    "score": st.floats(-1e9, 1e9),
    "word": TEXT,
}
FIELDS = st.fixed_dictionaries({}, optional=VALUES)


@settings(max_examples=40, deadline=None)
@given(
    nodes=st.lists(FIELDS, min_size=1, max_size=6),
    edges=st.lists(st.tuples(st.integers(0, 5), st.integers(0, 5), FIELDS), max_size=8),
    kind=st.sampled_from([networkx.Graph, networkx.DiGraph, networkx.MultiGraph, networkx.MultiDiGraph]),
)
def test_what_networkx_writes_is_read_as_it_reads_it_itself(nodes, edges, kind, tmp_path_factory):
    made = kind()
    for at, fields in enumerate(nodes):
        made.add_node(f"n{at}", **fields)
    for source, target, fields in edges:
        made.add_edge(f"n{source % len(nodes)}", f"n{target % len(nodes)}", **fields)
    path = tmp_path_factory.mktemp("nx") / "graph.graphml"
    networkx.write_graphml(made, path)
    said = networkx.read_graphml(path, force_multigraph=True)
    elements = list(GraphMl(path, DropCounts()).elements())
    found = [one for one in elements if isinstance(one, EdgeElement)]
    assert {one.id: one.fields for one in elements if isinstance(one, NodeElement)} == dict(said.nodes(data=True))
    assert sorted(repr((*ends(one.source, one.target, made), sorted(one.fields.items()))) for one in found) == sorted(
        repr((*ends(source, target, made), sorted(data.items()))) for source, target, data in said.edges(data=True)
    )
    assert {one.is_directed for one in found} <= {said.is_directed()}


def ends(source, target, graph):
    return (source, target) if graph.is_directed() else tuple(sorted((source, target)))


def test_known_names_make_type_name_text_weight_and_relation(read, tmp_path):
    made = networkx.MultiDiGraph()
    made.add_node("1", label="Erlang", kind="language", description="A language.", year=1986)
    made.add_node("2", label="Ada Holm", kind="person", aliases="A. Holm|Ada")
    made.add_edge("2", "1", relation="designed", weight=0.5, description="with others", since=1986)
    networkx.write_graphml(made, tmp_path / "in.graphml")
    report, graph = read((tmp_path / "in.graphml").read_bytes())
    assert graph.node("1") == Node("1", "language", "Erlang", "A language.", (), {"year": 1986})
    assert graph.node("2").aliases == ("A. Holm", "Ada")
    (edge,) = graph.iter_edges()
    assert edge == Edge("2", "designed", "1", "with others", 0.5, {"since": 1986})
    assert (report.symmetric, report.dropped, report.merged, report.notes) == ((), (), (), ())


def test_defaults_stand_where_a_value_is_missing(read):
    _, graph = read(
        '<key id="c" for="node" attr.name="colour" attr.type="string"><default>yellow</default></key>'
        '<key id="w" for="edge" attr.name="weight" attr.type="double"><default>1.5</default></key>'
        '<key id="a" for="all" attr.name="year" attr.type="int"><default>7</default></key>'
        '<graph edgedefault="directed"><node id="x"><data key="c">green</data></node><node id="y"/>'
        '<edge source="x" target="y"/></graph></graphml>'
    )
    assert graph.node("x").properties == {"colour": "green", "year": 7}
    assert graph.node("y").properties == {"colour": "yellow", "year": 7}
    assert [(edge.weight, edge.properties) for edge in graph.iter_edges()] == [(1.5, {"year": 7})]


# ----------------------------------------------------------------------------------------------- who writes it


def test_lightrag_names_describes_and_types(read, tmp_path):
    made = networkx.Graph()
    made.add_node(
        "SALT BAY",
        entity_id="SALT BAY",
        entity_type="location",
        description="A town.<SEP>It has a port.",
        source_id="chunk-1<SEP>chunk-2",
        file_path="towns.md",
        created_at=1750000000,
    )
    made.add_node("ADA HOLM", entity_id="ADA HOLM", entity_type="person", description="A captain.", source_id="chunk-2")
    made.add_edge(
        "SALT BAY",
        "ADA HOLM",
        weight=2.0,
        description="Ada Holm was born there.<SEP>She left.",
        keywords="birth,origin",
        source_id="chunk-2",
    )
    networkx.write_graphml(made, tmp_path / "in.graphml")
    report, graph = read(
        (tmp_path / "in.graphml").read_bytes(),
        name="graph_chunk_entity_relation.graphml",
    )
    assert graph.node("SALT BAY") == Node(
        "SALT BAY",
        "location",
        "SALT BAY",
        "A town.\nIt has a port.",
        (),
        {"source_id": ["chunk-1", "chunk-2"], "file_path": "towns.md", "created_at": 1750000000},
    )
    (edge,) = graph.iter_edges()
    assert (edge.type, edge.text, edge.weight) == ("edge", "Ada Holm was born there.\nShe left.", 2.0)
    assert edge.properties == {"keywords": "birth,origin", "source_id": "chunk-2"}
    assert report.symmetric == ("edge",)
    assert report.node_types == {"location": 1, "person": 1}


def test_neo4js_labels_and_types_win_over_properties_of_that_name(read):
    _, graph = read(
        '<key id="labels" for="node" attr.name="labels"/><key id="name" for="node" attr.name="name"/>'
        '<key id="type" for="node" attr.name="type"/><key id="label" for="edge" attr.name="label"/>'
        '<key id="type" for="edge" attr.name="type"/><graph id="G" edgedefault="directed">'
        '<node id="n0" labels=":Person:Actor"><data key="labels">:Person:Actor</data><data key="name">Keanu</data>'
        '<data key="type">star</data></node>'
        '<node id="n1" labels=":Movie"><data key="labels">:Movie</data><data key="name">Speed</data></node>'
        '<edge id="e0" source="n0" target="n1" label="ACTED_IN"><data key="label">ACTED_IN</data>'
        '<data key="type">lead</data></edge></graph></graphml>'
    )
    keanu = graph.node("n0")
    assert (keanu.type, keanu.name, keanu.properties) == ("Person", "Keanu", {"labels": ["Actor"], "type": "star"})
    assert graph.node("n1").type == "Movie"
    (edge,) = graph.iter_edges()
    assert (edge.type, edge.properties) == ("ACTED_IN", {"type": "lead"})


def test_a_key_of_nodes_and_one_of_edges_may_share_an_id_as_neo4j_and_tinkerpop_write_them(read):
    report, graph = read(
        '<key id="year" for="node" attr.name="year" attr.type="long"/>'
        '<key id="tags" for="node" attr.name="tags" attr.type="string" attr.list="string"/>'
        '<key id="year" for="edge" attr.name="year" attr.type="string"/>'
        '<graph edgedefault="directed"><node id="a"><data key="year">1964</data><data key="tags">["x","y"]</data>'
        '</node><edge source="a" target="a"><data key="year">MCM</data></edge></graph></graphml>'
    )
    assert graph.node("a").properties == {"year": 1964, "tags": ["x", "y"]}
    assert [edge.properties for edge in graph.iter_edges()] == [{"year": "MCM"}]
    assert report.notes == ()


def test_tinkerpops_labels_are_types(read):
    _, graph = read(
        '<key id="labelV" for="node" attr.name="labelV" attr.type="string"/>'
        '<key id="name" for="node" attr.name="name" attr.type="string"/>'
        '<key id="labelE" for="edge" attr.name="labelE" attr.type="string"/>'
        '<graph id="G" edgedefault="directed"><node id="1"><data key="labelV">person</data>'
        '<data key="name">marko</data></node><node id="3"><data key="labelV">software</data>'
        '<data key="name">lop</data></node>'
        '<edge id="9" source="1" target="3"><data key="labelE">created</data></edge></graph></graphml>'
    )
    assert [(graph.node(one).type, graph.node(one).name) for one in ("1", "3")] == [
        ("person", "marko"),
        ("software", "lop"),
    ]
    assert edges_of(graph) == [("1", "created", "3")]


YED_OPENING = OPENING[:-1] + ' xmlns:y="http://www.yworks.com/xml/graphml">'
YED = """
<key for="node" id="d6" yfiles.type="nodegraphics"/><key for="edge" id="d10" yfiles.type="edgegraphics"/>
<key attr.name="description" attr.type="string" for="node" id="d5"/><key for="graphml" id="d7" yfiles.type="resources"/>
<graph edgedefault="directed" id="G">
<node id="n0" yfiles.foldertype="group"><data key="d6"><y:GroupNode><y:NodeLabel>Plant<y:X/></y:NodeLabel></y:GroupNode>
</data><graph edgedefault="directed" id="n0:"><node id="n0::n0"><data key="d5">It pumps.</data>
<data key="d6"><y:ShapeNode><y:Fill color="#FFCC00"/><y:NodeLabel>Pump</y:NodeLabel></y:ShapeNode></data></node>
</graph></node>
<node id="n1"><port name="north"/><data key="d6"><y:ShapeNode/></data></node>
<edge id="e0" source="n0::n0" target="n1"><data key="d10"><y:PolyLineEdge><y:EdgeLabel> feeds </y:EdgeLabel>
</y:PolyLineEdge></data></edge></graph><data key="d7"><y:Resources/></data></graphml>"""


def test_gephis_edge_labels_are_types(read):
    _, graph = read(
        '<key attr.name="label" attr.type="string" for="node" id="label"/>'
        '<key attr.name="Edge Label" attr.type="string" for="edge" id="edgelabel"/>'
        '<graph edgedefault="directed"><node id="1"><data key="label">Valjean</data></node>'
        '<edge source="1" target="1"><data key="edgelabel">knows</data></edge></graph></graphml>'
    )
    assert (graph.node("1").name, edges_of(graph)) == ("Valjean", [("1", "knows", "1")])


def test_yeds_labels_are_read_and_its_groups_hold_their_nodes(read):
    report, graph = read(YED, opening=YED_OPENING)
    assert {one: graph.node(one).name for one in graph.node_ids()} == {"n0": "Plant", "n0::n0": "Pump", "n1": "n1"}
    assert graph.node("n0::n0").text == "It pumps."
    assert edges_of(graph) == [("n0::n0", "feeds", "n1"), ("n0::n0", "part_of", "n0")]
    assert [(cut.reason, cut.count, cut.first[0].value) for cut in report.dropped] == [("port", 1, "north")]


# ------------------------------------------------------------------------------------------------- directions


def test_an_undirected_graph_has_symmetric_types_and_each_edge_once(read):
    report, graph = read(
        '<key id="t" for="edge" attr.name="type" attr.type="string"/><graph edgedefault="undirected">'
        '<node id="a"/><node id="b"/><node id="c"/><edge source="b" target="a"><data key="t">near</data></edge>'
        '<edge source="a" target="b"><data key="t">near</data></edge>'
        '<edge source="c" target="a"><data key="t">near</data></edge></graph></graphml>'
    )
    assert report.symmetric == ("near",)
    assert edges_of(graph) == [("b", "near", "a"), ("c", "near", "a")]
    assert [(cut.reason, cut.count) for cut in report.merged] == [("duplicate", 1)]


def test_edges_of_both_kinds_have_types_of_their_own(read):
    report, graph = read(
        '<graph edgedefault="undirected"><node id="a"/><node id="b"/><node id="c"/><edge source="a" target="b"/>'
        '<edge source="b" target="c" directed="true"/><edge source="c" target="b" directed="false"/></graph></graphml>'
    )
    assert edges_of(graph) == [("a", "edge", "b"), ("b", "edge (directed)", "c"), ("c", "edge", "b")]
    assert report.symmetric == ("edge",)
    assert report.notes == ("gave 1 directed edge of a type that has undirected ones, too, the type 'edge (directed)'",)


# ---------------------------------------------------------------------------------------- what cannot be stored


def test_edges_may_come_before_their_nodes_and_lead_nowhere(read):
    report, graph = read(
        '<graph edgedefault="directed"><edge source="a" target="b"/>\n<edge source="b" target="gone"/>'
        '<hyperedge id="h1"><endpoint node="a"/></hyperedge><node id="a"/><edge source="a" target=""/>'
        '<node id="b"/><node id="a"/><node id=""/></graph></graphml>'
    )
    assert edges_of(graph) == [("a", "edge", "b")]
    assert {cut.reason: (cut.count, cut.first[0].line, cut.first[0].value) for cut in report.dropped} == {
        "hyperedge": (1, 3, "h1"),
        "empty id": (2, 3, "a -> "),
        "dangling": (1, 3, "b -> edge -> gone"),
    }
    assert [(cut.reason, cut.first[0].value) for cut in report.merged] == [("duplicate", "a")]
    assert report.render().count("joins any number of nodes") == 1


def test_a_value_that_is_xml_is_counted_and_left_out(read):
    report, graph = read(
        '<graph><node id="a"><data key="icon"><s:svg xmlns:s="urn:svg"><s:g>x</s:g></s:svg></data>'
        '<data key="name">A</data></node></graph></graphml>'
    )
    assert graph.node("a") == Node("a", "node", "A")
    assert [(cut.reason, cut.first[0].value) for cut in report.dropped] == [("markup", "icon")]


def test_values_that_do_not_fit_their_type_stay_text_and_are_counted(read):
    report, graph = read(
        '<key id="n" for="node" attr.name="n" attr.type="int"/>'
        '<key id="b" for="node" attr.name="b" attr.type="boolean"/>'
        '<graph edgedefault="directed"><node id="a"><data key="n">many</data><data key="b">maybe</data></node>'
        '<node id="c"><data key="n">12345678901234567890123</data><data key="b">1</data></node>'
        '<node id="d"><data key="n">NaN</data><data key="b"></data></node></graph></graphml>'
    )
    assert graph.node("a").properties == {"n": "many", "b": "maybe"}
    assert graph.node("c").properties == {"n": 12345678901234567890123, "b": True}
    assert graph.node("d").properties == {}
    (note,) = report.notes
    assert "left 2 values as text" in note
    assert "line 2, n: 'many' is no int" in note


def test_two_different_nodes_of_one_id_are_refused_with_the_line(read):
    with pytest.raises(DuplicateNode, match=r"'a'.*graph\.graphml, line 4; remove one"):
        read('<graph>\n<node id="a"/>\n<node id="a"><data key="name">B</data></node></graph></graphml>')


# ------------------------------------------------------------------------------------------------ hostile files

BOMB = (
    '<?xml version="1.0"?><!DOCTYPE graphml [<!ENTITY a "ha">'
    + "".join(f'<!ENTITY {b} "{f"&{a};" * 10}">' for a, b in zip("abcdefgh", "bcdefghi", strict=True))
    + ']><graphml><graph><node id="x"><desc>&i;</desc></node></graph></graphml>'
)
STEAL = (
    '<?xml version="1.0"?><!DOCTYPE graphml [<!ENTITY secret SYSTEM "file:///etc/hostname">]>'
    '<graphml><graph><node id="x"><desc>&secret;</desc></node></graph></graphml>'
)
PARAMETER = '<!DOCTYPE graphml [<!ENTITY % all SYSTEM "file:///etc/hostname"> %all;]><graphml/>'
DEFAULTS = '<!DOCTYPE graphml [<!ATTLIST node id CDATA "same">]><graphml><graph><node/></graph></graphml>'


@pytest.mark.parametrize("body", [BOMB, STEAL, PARAMETER, DEFAULTS])
def test_a_document_type_of_its_own_is_refused(body, read):
    with pytest.raises(BadInput, match=r"graph\.graphml, line 1: a document type of its own .* remove it"):
        read(body, opening="")


def test_an_outer_document_type_is_not_followed_and_its_entities_are_no_text(read):
    opening = '<!DOCTYPE graphml SYSTEM "http://127.0.0.1:9/graphml.dtd">'
    _, graph = read('<graphml><graph><node id="x"/></graph></graphml>', opening=opening)
    assert list(graph.node_ids()) == ["x"]
    with pytest.raises(BadInput, match="entity &nbsp; is declared nowhere"):
        read('<graphml><graph><node id="x"><desc>a&nbsp;b</desc></node></graph></graphml>', opening=opening)


def test_a_tag_without_end_is_refused_before_it_fills_the_memory(tmp_path):
    path = tmp_path / "long.graphml.gz"
    with gzip.open(path, "wb", compresslevel=1) as file:
        file.write(b'<graphml><graph><node id="')
        for _ in range(12):
            file.write(b"x" * (1 << 20))
    with pytest.raises(BadInput, match="a tag or comment of more than 8 MB"):
        validate_sources([path])


@pytest.mark.parametrize(("name", "reader"), [("graph.graphml", GraphMl), ("graph.gexf", Gexf)])
def test_what_stands_between_elements_is_not_kept(name, reader, tmp_path):
    edges = '<edge source="a" target="b"/>\n' * 3_000
    (tmp_path / name).write_text(f"<{reader.root}><graph>\n{edges}</graph></{reader.root}>")
    reading = reader(tmp_path / name, DropCounts())
    assert len(list(reading.elements())) == 3_000
    assert len(reading.text) < 10


@pytest.mark.parametrize(
    ("body", "message"),
    [
        ("<graph><node id='a'/>", r"line 2, column \d+: broken XML \(no element found\); is the file cut short\?"),
        ("<graph><node id='a'></graph>", r"mismatched tag"),
        ("<graph><node id='a' id='b'/></graph></graphml>", r"duplicate attribute"),
        ("<graph><node id='\x01'/></graph></graphml>", r"not well-formed"),
        ("</graphml>", r"The sources hold no node"),
        (b"<graphml><graph><node id='\xff'/></graph></graphml>", r"not well-formed"),
        (b"<gexf/>", r"begins with <gexf> where <graphml> is expected"),
        (b"plain words", r"line 1, column 1: broken XML"),
        (b"", r"is empty"),
        (b'<?xml version="1.0" encoding="klingon"?><graphml/>', r"klingon; save it as UTF-8"),
        (b'<?xml version="1.0" encoding="shift_jis"?><graphml/>', r"multi-byte encodings.*; save it as UTF-8"),
    ],
)
def test_what_is_no_graphml_is_one_clear_error(body, message, read):
    with pytest.raises(BadInput, match=message) as failed:
        read(body)
    assert "graph.graphml" in str(failed.value) or "no node" in str(failed.value)


def test_a_file_cut_anywhere_is_refused(tmp_path):
    whole = (YED_OPENING + YED).encode()
    path = tmp_path / "cut.graphml"
    for length in range(1, len(whole) - 1, 97):
        path.write_bytes(whole[:length])
        with pytest.raises(BadInput, match="is the file cut short"):
            validate_sources([path])


def test_deep_nesting_is_read(read):
    deep = 3_000
    body = "".join(f'<node id="{at}"><graph>' for at in range(deep)) + "</graph></node>" * deep
    report, _ = read(f"<graph>{body}</graph></graphml>")
    assert (report.nodes, report.edge_types) == (deep, {"part_of": deep - 1})


def test_other_encodings_are_what_their_first_line_says(read):
    text = '<?xml version="1.0" encoding="{}"?><graphml><graph><node id="Ångström"/></graph></graphml>'
    for encoding in ("iso-8859-1", "utf-16", "windows-1252"):
        _, graph = read(text.format(encoding).encode(encoding))
        assert list(graph.node_ids()) == ["Ångström"]


# ---------------------------------------------------------------------------------------------------- options


def test_columns_can_be_named_left_out_and_turned_into_edges(read):
    body = (
        '<key id="w" for="node" attr.name="who"/><key id="s" for="node" attr.name="salary" attr.type="int"/>'
        '<key id="t" for="node" attr.name="tags"/><key id="v" for="edge" attr.name="verb"/><graph>'
        '<node id="a"><data key="w">Ann</data><data key="s">5</data><data key="t">x|y</data></node>'
        '<node id="b"><data key="w">Ben</data><data key="t">y</data></node>'
        '<edge source="a" target="b"><data key="v">knows</data></edge></graph></graphml>'
    )
    columns = {"name": "who", "edge_type": "verb"}
    report, graph = read(body, columns=columns, private=("salary",), explode={"tags": "tagged"})
    assert [(graph.node(one).name, graph.node(one).properties) for one in "ab"] == [("Ann", {}), ("Ben", {})]
    assert edges_of(graph) == [("a", "knows", "b"), ("a", "tagged", "tags:x"), ("a", "tagged", "tags:y")] + [
        ("b", "tagged", "tags:y")
    ]
    assert report.private == {"salary": 1}
    with pytest.raises(BadInput, match="no column 'whom'. The columns are: salary, tags, verb, who"):
        read(body, columns={"name": "whom"})
    with pytest.raises(BadOption, match="--column id has no meaning"):
        read(body, columns={"id": "who"})


def test_a_folder_with_one_such_file_is_that_graph_and_knows_when_it_changed(tmp_path):
    folder = tmp_path / "rag_storage"
    folder.mkdir()
    (folder / "kv_store_full_docs.json").write_text("{}")
    (folder / "graph.graphml.gz").write_bytes(gzip.compress(b'<graphml><graph><node id="a"/></graph></graphml>'))
    import_graph([folder], tmp_path / "made")
    manifest = Graph.open(tmp_path / "made").arrays.manifest
    assert not is_stale(manifest)
    (folder / "graph.graphml.gz").write_bytes(gzip.compress(b'<graphml><graph><node id="b"/></graph></graphml>'))
    assert is_stale(manifest)
    (folder / "other.gexf").write_text("<gexf/>")
    with pytest.raises(BadInput, match=r"graph\.graphml\.gz is a graph of its own: import one such file at a time"):
        validate_sources([folder])
    (folder / "triples.tsv").write_text("a\tr\tb\n")  # tables come first
    assert validate_sources([folder]).edges == 1
    (tmp_path / "more.tsv").write_text("a\tr\tc\n")
    assert validate_sources([folder, tmp_path / "more.tsv"]).edges == 2


# ------------------------------------------------------------------------------------------------- round trips

JSON = st.recursive(
    st.none() | st.booleans() | st.integers(-(2**70), 2**70) | st.floats(allow_nan=False, allow_infinity=False) | TEXT,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(TEXT, inner, max_size=3),
    max_leaves=5,
)
# Some of these names have a meaning in other people's files, or in the export's own.
NAMES = st.sampled_from(["kind", "summary", "name", "text", "weight", "type", "symmetric", "property.name", "é", "{"])
PROPERTIES = st.dictionaries(NAMES, JSON | st.sampled_from(["5", "true", '"x', "[1]", "NaN", "{"]), max_size=4)
NODE = st.tuples(TEXT.filter(str.strip), TEXT, TEXT, st.lists(TEXT, max_size=3), PROPERTIES)
EDGE = st.tuples(st.integers(0, 9), st.sampled_from(["r", "s"]), st.integers(0, 9), TEXT, st.floats(0, 9), PROPERTIES)


@settings(max_examples=6, deadline=None)
@given(nodes=st.lists(NODE, min_size=1, max_size=5), edges=st.lists(EDGE, max_size=6))
def test_our_own_export_comes_back_exactly(nodes, edges, tmp_path_factory):
    folder = tmp_path_factory.mktemp("own")
    nodes = [*nodes, (":Person:Actor", "", "", [], {})]
    made = [
        Node(f"n{at}", kind, name, text, tuple(aliases), properties)
        for at, (kind, name, text, aliases, properties) in enumerate(nodes)
    ]
    joined = [
        Edge(f"n{source % len(made)}", kind, f"n{target % len(made)}", text, weight, properties)
        for source, kind, target, text, weight, properties in edges
    ]
    graph = Graph.from_records(made, [*joined, *joined[:2]], path=folder / "graph")
    export_graph(graph, "graphml", folder / "graph.graphml")
    report = import_graph([folder / "graph.graphml"], folder / "again")
    again = Graph.open(folder / "again")
    assert (report.dropped, report.merged, report.notes) == ((), (), ())
    assert [again.node(one) for one in again.node_ids()] == [graph.node(one) for one in graph.node_ids()]
    assert sorted(map(repr, again.iter_edges())) == sorted(map(repr, graph.iter_edges()))
    assert again.schema == graph.schema


def test_symmetric_types_and_labels_come_back_and_options_are_refused(tmp_path):
    (tmp_path / "edges.tsv").write_text("source\ttype\ttarget\na\tGiG\tb\nb\tGiG\ta\n")
    (tmp_path / "codes.tsv").write_text("code\tlabel\nGiG\tGene - interacts - Gene\n")
    import_graph([tmp_path], tmp_path / "graph")
    graph = Graph.open(tmp_path / "graph")
    out = tmp_path / "graph.graphml"
    export_graph(graph, "graphml", out)
    import_graph([out], tmp_path / "again")
    assert Graph.open(tmp_path / "again").schema == graph.schema
    with pytest.raises(BadOption, match="is an export of a graph"):
        validate_sources([out], options=ImportOptions(private=("x",)))
    whole = out.read_text()
    out.write_text(re.sub(r'<node id="b">.*</node>\n', "", whole))
    with pytest.raises(
        BadInput, match=r"graph\.graphml, line \d+: a -> GiG -> b has an end that is not a node; export"
    ):
        validate_sources([out])
    newer = re.sub(r'"version": \d+', '"version": 99', whole)
    out.write_text(newer)
    with pytest.raises(BadInput, match="version 99; this reads 1: upgrade"):
        validate_sources([out])


def test_an_export_that_networkx_wrote_again_is_read_by_its_names(tmp_path):
    graph = Graph.from_records(
        [Node("a", "Gene", "A", "long", ("x", "y"), {"tags": ["p", "q"]}), Node("b", "Drug", "B")],
        [Edge("b", "hits", "a", weight=0.5)],
        path=tmp_path / "graph",
    )
    export_graph(graph, "graphml", tmp_path / "one.graphml")
    networkx.write_graphml(networkx.read_graphml(tmp_path / "one.graphml"), tmp_path / "two.graphml")
    import_graph([tmp_path / "two.graphml"], tmp_path / "again")
    again = Graph.open(tmp_path / "again")
    assert again.node("a") == Node("a", "Gene", "A", "long", ("x", "y"), {"tags": '["p", "q"]'})
    assert list(again.iter_edges()) == [Edge("b", "hits", "a", weight=0.5, properties={"id": "e0"})]
