"""Small networks as SVG: well-formed, without scripts, everything escaped, nothing outside its picture."""

import re
import xml.etree.ElementTree as ET

import pytest
from hypothesis import given, strategies as st

from orienteer import Graph, Retriever
from orienteer.ingest import demo_records
from orienteer.page import draw_evidence, draw_ring
from orienteer.records import Ranked, Result, WalkedEdge
from orienteer.settings import Settings

SVG = "{http://www.w3.org/2000/svg}"
HOSTILE = '"><svg onload=alert(1)><script>alert(2)</script>\x1b]0;x\x07\u202e'


def drawn(picture):
    """Return a picture as XML, of which nothing but shapes and texts is made, and all boxes lie within it."""
    root = ET.fromstring(str(picture))
    assert {element.tag for element in root.iter()} <= {SVG + name for name in ("svg", "rect", "path", "text", "title")}
    assert not [name for element in root.iter() for name in element.attrib if name.startswith("on") or "href" in name]
    width, height = float(root.get("width")), float(root.get("height"))
    for box in root.iter(f"{SVG}rect"):
        assert float(box.get("x")) >= 0
        assert float(box.get("x")) + float(box.get("width")) <= width
        assert float(box.get("y")) >= 0
        assert float(box.get("y")) + float(box.get("height")) <= height
    return root


def names_of(root):
    """Return the texts of the boxes."""
    return [box.find(f"{SVG}title").text for box in root.iter(f"{SVG}rect")]


def labels_of(root):
    """Return the small texts: those of lines, and of what was left out."""
    return [text.text for text in root.iter(f"{SVG}text") if text.get("font-size") == "10"]


def test_hits_stand_before_what_their_edges_lead_to():
    root = drawn(draw_evidence(["a"], [("a", "made by", "b"), ("c", "knows", "b")], {"a": "Alpha", "b": "Beta"}))
    assert names_of(root) == ["Alpha", "Beta", "c"]
    lefts = [float(box.get("x")) for box in root.iter(f"{SVG}rect")]
    assert lefts == sorted(set(lefts))
    assert labels_of(root) == ["made by →", "← knows"]


def test_parallel_edges_are_one_line():
    edges = [("a", "wrote", "b"), ("b", "knows", "a"), ("a", "wrote", "b")]
    root = drawn(draw_evidence(["a"], edges, {}))
    assert labels_of(root) == ["wrote →, ← knows"]
    assert len(list(root.iter(f"{SVG}path"))) == 1


def test_edges_among_hits_and_loops():
    root = drawn(draw_evidence(["a", "b"], [("a", "near", "b"), ("a", "is", "a")], {}))
    assert names_of(root) == ["a", "b"]
    assert labels_of(root) == ["near →"]


@pytest.mark.parametrize("edges", [[], [("x", "near", "y")]])
def test_without_edges_of_hits_there_is_no_picture(edges):
    assert draw_evidence(["a"], edges, {}) == ""


def test_what_is_not_drawn_is_counted():
    edges = [(f"h{n}", "near", f"o{m}") for n in range(40) for m in range(40)]
    root = drawn(draw_evidence([f"h{n}" for n in range(40)], edges, {}))
    assert names_of(root) == [*(f"h{n}" for n in range(12)), "+ 28 more", *(f"o{n}" for n in range(12)), "+ 28 more"]
    assert labels_of(root) == ["near →"]  # once, for all lines are called so


def test_columns_follow_the_layers_and_long_lines_pass_between_nodes():
    edges = [
        ("a", "treats", "d"),
        ("d", "shows", "g"),
        ("a", "binds", "g"),
        ("d", "kind of", "x"),
        ("x", "kind of", "y"),
    ]
    layers = {"d": 1.0, "g": 3.0, "x": 2.5, "y": 3.0}
    root = drawn(draw_evidence(["a"], edges, {}, {}, layers))
    across = {text.text: float(text.get("x")) for text in root.iter(f"{SVG}text")}
    assert across["a"] < across["d"] < across["x"] < min(across["g"], across["y"])
    assert sorted(label for label in labels_of(root) if label) == [
        "binds →",
        "kind of →",
        "kind of →",
        "shows →",
        "treats →",
    ]


def test_hostile_texts_stay_texts():
    for picture in (
        draw_evidence([HOSTILE], [(HOSTILE, HOSTILE, "b")], {HOSTILE: HOSTILE, "b": HOSTILE}),
        draw_ring({"a": HOSTILE, "b": HOSTILE}, [("a", HOSTILE, "b"), ("a", HOSTILE, "a")]),
    ):
        drawn(picture)
        assert "<script" not in picture
        assert not re.search("[\x00-\x08\x0b-\x1f\x7f-\x9f\u202e]", picture)


NODES = st.sampled_from([f"n{number}" for number in range(60)])


@given(st.lists(NODES, unique=True), st.lists(st.tuples(NODES, st.text(max_size=60), NODES), max_size=80))
def test_any_network_is_drawn(hits, edges):
    if picture := draw_evidence(hits, edges, {"n1": "x" * 300}):
        drawn(picture)
    drawn(draw_ring({f"n{number}": "" for number in range(60)}, edges))


def test_a_ring_names_lines_where_there_is_room():
    root = drawn(draw_ring({"a": "A 5", "b": "B 3"}, [("a", "knows", "b"), ("a", "near", "a")], symmetric=["near"]))
    assert names_of(root) == ["A 5", "B 3"]
    assert sorted(label.strip("← →") for label in labels_of(root)) == ["knows", "near"]
    many = {f"t{n}": f"T{n}" for n in range(20)}
    root = drawn(draw_ring(many, [(a, "joins", b) for a in many for b in many]))
    assert labels_of(root) == ["4 types more not drawn"]
    assert draw_ring({}, []) == ""


def test_notebooks_show_a_graph_its_schema_and_what_speaks_for_hits(scratch):
    graph = Graph.from_records(*demo_records(), path=scratch())
    page = graph._repr_html_()
    assert "169 nodes, 504 edges" in page
    assert ">supports</td>" in page
    page = graph.schema._repr_html_()
    assert "7 node types, 9 edge types" in page
    assert "person 60" in names_of(drawn(re.search("<svg.*</svg>", page)[0]))
    page = Retriever(graph, "anchor", settings=Settings()).ask("Which language did Matz design?")._repr_html_()
    named = names_of(drawn(re.search("<svg.*</svg>", page)[0]))
    assert named == ["Ruby", "named in the question: Yukihiro Matsumoto"]
    assert "<script" not in page


def test_a_result_without_edges_has_no_picture():
    hit = Ranked(id="a", type="t", name="A", score=1.0)
    assert "<svg" not in Result(question="q", method="m", hits=(hit,))._repr_html_()
    walked = hit.model_copy(update={"edges": (WalkedEdge(source="a", type="near", target="b"),)})
    assert "<svg" in Result(question="q", method="m", hits=(walked,))._repr_html_()


def test_a_graph_of_many_types_is_cut(build):
    from orienteer import Node

    graph = build([Node(f"n{n}", f"type {n:02}", f"node {n}") for n in range(50)])
    shown = Graph.open(graph.path)._repr_html_()
    assert "and 20 more" in shown
    assert "type 29" in shown
    assert "type 30" not in shown


def test_a_nodes_title_says_its_role_in_the_question() -> None:
    picture = draw_evidence(["a"], [("a", "treats", "b")], {"a": "Aspirin", "b": "migraine"}, {"b": "Disease"})
    assert "<title>Disease: migraine</title>" in str(picture)
    assert "<title>Aspirin</title>" in str(picture)
