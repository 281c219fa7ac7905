"""A graph as text: how nodes, edges, counts and the schema are written."""

from orienteer.records import Edge, Kind, Node
from orienteer.retrieval import (
    Presentation,
    counts_line,
    edge_arrow,
    edge_note,
    indented_text,
    kind_line,
    node_title,
    present_hit,
    schema_lines,
    type_names,
)


def test_a_node_is_its_id_name_and_type(graph):
    assert node_title(graph, graph.arrays.row("c1")) == "[c1] Aspirin (Compound)"


def test_an_id_is_not_said_twice(make):
    assert node_title(make([Node("solo", "T", "solo")]), 0) == "[solo] (T)"


def test_edges_are_seen_from_the_other_end(graph):
    edge = Edge("c1", "treats", "d3")
    assert edge_note(graph, [edge], "d3") == "-treats->"
    assert edge_note(graph, [edge], "c1") == "<-treats-"


def test_parallel_edges_of_one_type_are_written_once_and_many_types_counted(graph):
    edges = [Edge("c1", kind, "d3") for kind in ("a", "a", "b", "c", "d", "e")]
    assert edge_note(graph, edges, "d3") == "-a-> -b-> -c-> +2"


def test_counts_are_by_edge_type_direction_and_node_type(graph):
    assert kind_line(graph, Kind("treats", "out", "Disease")) == "-treats-> Disease"
    assert kind_line(graph, Kind("treats", "in", "Compound")) == "<-treats- Compound"
    counts = {Kind("treats", "out", f"T{at}"): 9 - at for at in range(5)}
    assert counts_line(graph, counts, most=2) == "-treats-> T0 9; -treats-> T1 8; 3 more kinds"


def test_an_arrow_points_out_in_or_nowhere():
    assert [edge_arrow("treats", way) for way in ("out", "in", None)] == ["-treats->", "<-treats-", "-treats-"]


def test_no_line_of_a_text_can_pass_for_one_of_ours():
    assert indented_text("a\r\n\n[n1]  b\u2028c") == ["  a", "  [n1] b", "  c"]


def test_a_schema_lists_what_is_commonest_first(make):
    nodes = [Node("a", "Rare"), Node("b", "Common"), Node("c", "Common")]
    graph = make(nodes, [Edge("b", "meets", "c"), Edge("c", "meets", "b"), Edge("a", "knows", "b")])
    lines = schema_lines(graph)
    assert lines == ["node types: Common 2; Rare 1", "Common -meets-> Common 2", "Rare -knows-> Common 1"]
    assert type_names(graph) == "Common, Rare"


def test_hits_of_one_query_are_as_each_by_itself(graph):
    rows = [graph.arrays.row(one) for one in ("c1", "d3")]
    together = Presentation(graph, "aspirin for pain")
    assert [together(row, score=row, why="found") for row in rows] == [
        present_hit(graph, row, score=row, query="aspirin for pain", why="found") for row in rows
    ]
