"""Saved sets, and how nodes and types are named."""

import pytest

from clinic import ask
from orienteer import Graph
from orienteer.errors import AmbiguousNode, BadOption, UnknownNode, UnknownType
from orienteer.records import Edge, Node
from orienteer.tools import Session, Toolbox, open_plain


def rows(graph, reference, **filters):
    notes = []
    found = Session(graph).rows(reference, notes, **filters)
    return [graph.arrays.ids[row] for row in found], notes


@pytest.mark.parametrize(
    ("reference", "meant"),
    [
        ("c1", "c1"),
        ("[c1]", "c1"),
        ("Aspirin", "c1"),
        (" aspirin ", "c1"),
        ("ASPIRIN", "c1"),
        ("Aspirin (Compound)", "c1"),
        ("aspirin (compound)", "c1"),
        ("p53 protein", "g1"),
        ("Jaundice (Disease)", "d1"),
        ("Jaundice (Symptom)", "s1"),
        ("[Jaundice (Symptom)]", "s1"),
        ("Blade Runner (1982)", "x1"),
        ("Blade Runner (1982) (Film)", "x1"),
        ("[c1] Aspirin (Compound)", "c1"),
    ],
)
def test_a_node_may_be_named_in_any_way_that_replies_show(graph, reference, meant):
    assert rows(graph, reference) == ([meant], [])


def test_a_name_with_a_type_in_a_near_form_is_corrected_aloud(graph):
    found, notes = rows(graph, "Jaundice (Symptoms)")
    assert found == ["s1"]
    assert any("'Symptoms' is read as 'Symptom'" in note for note in notes)


@pytest.mark.parametrize(
    "reference", ["zebra", "zebra (Disease)", "Total Recall (1990)", "Aspirin (Disease)", "", "()", " ("]
)
def test_what_is_not_there_is_not_in_this_graph(graph, reference):
    with pytest.raises(UnknownNode, match="Not in this graph"):
        rows(graph, reference)


def test_near_names_are_told(graph):
    with pytest.raises(UnknownNode, match="Near names: Ibuprofen"):
        rows(graph, "Ibuprofin")


@pytest.mark.parametrize("reference", ["@", "@x", "@-1", "@1.5", "@²"])
def test_what_is_no_name_of_a_set_is_read_as_a_node(graph, reference):
    session = Session(graph)
    session.save(graph.arrays.rows(["c1"]))
    with pytest.raises(UnknownNode, match="Not in this graph"):
        session.rows(reference, [])


@pytest.mark.parametrize("reference", ["@0", "@2", "@" + "9" * 5_000])
def test_a_set_that_there_is_not(graph, reference):
    session = Session(graph)
    session.save(graph.arrays.rows(["c1"]))
    with pytest.raises(BadOption, match="no saved set"):
        session.rows(reference, [])


def test_sets_are_numbered_from_one_and_last_skips_empty_ones(graph):
    session = Session(graph)
    assert session.last() is None
    assert session.save(graph.arrays.rows(["c1", "d1"])) == "@1"
    assert session.save(graph.arrays.rows([])) == "@2"
    assert session.last() == "@1"
    assert session.rows("@1", []).tolist() == graph.arrays.rows(["c1", "d1"]).tolist()


def test_a_session_without_sets_names_none(graph):
    session = Session(graph, saves_sets=False)
    assert (session.save(graph.arrays.rows(["c1"])), session.last(), session.sets) == ("", None, [])


def test_an_ambiguous_name_without_a_filter_that_decides_lists_its_nodes(make):
    graph = make(
        [Node("a", "X", "Same"), Node("b", "Y", "Same"), Node("c")], [Edge("a", "to", "c"), Edge("b", "to", "c")]
    )
    with pytest.raises(AmbiguousNode, match=r"\[a\] Same \(X\); \[b\] Same \(Y\)"):
        rows(graph, "Same")
    mask = graph.arrays.mask(["X"])
    with pytest.raises(AmbiguousNode):
        rows(graph, "Same", mask=mask)  # neither has such a neighbour


def test_the_filter_keeps_candidates_that_have_an_edge_passing_it(graph):
    found, notes = rows(graph, "Jaundice", kinds=graph.arrays.kind_mask(["associates"], None))
    assert found == ["d1"]
    assert notes == ["'Jaundice' is read as d1 (Disease)"]
    assert rows(graph, "Jaundice", mask=graph.arrays.mask(["Disease"]))[0] == ["s1"]


def test_types_may_be_written_in_near_forms_aloud(graph):
    notes = []
    session = Session(graph)
    found = session.edge_types(["treats", "treat", "ASSOCIATES", "associate"], notes)
    assert found == ["treats", "treats", "ASSOCIATES", "associates"]
    assert notes == ["'treat' is read as 'treats'", "'associate' is read as 'associates'"]


@pytest.mark.parametrize(
    ("written", "meant"),
    [
        ("works", "worked_at"),
        ("works at", "worked_at"),
        ("worksAt", "worked_at"),
        ("target", "targetedGene"),
        ("won", "won by"),
        ("TARGETED_BY", "targetedGene"),
    ],
)
def test_an_edge_type_may_be_written_in_other_forms_of_its_words(tmp_path, written, meant):
    """Most failed calls of a distilled model had `works` for `worked_at`, or `gene` for `gene/protein`."""
    notes = []
    assert typed(tmp_path).edge_types([written], notes) == [meant]
    assert notes == [f"{written!r} is read as {meant!r}"]


@pytest.mark.parametrize(("written", "meant"), [("gene", "gene/protein"), ("Proteins", "gene/protein")])
def test_a_node_type_may_be_one_of_its_words(tmp_path, written, meant):
    assert typed(tmp_path).node_types([written], []) == [meant]


@pytest.mark.parametrize("written", ["by", "process", "paints", "", "works for"])
def test_what_several_types_may_be_is_none_of_them(tmp_path, written):
    with pytest.raises(UnknownType):
        typed(tmp_path).node_types([written], [])


def typed(tmp_path):
    nodes = [("a", "gene/protein"), ("b", "biological_process"), ("c", "cellular_process"), ("d", "person")]
    edges = [("d", "worked_at", "a"), ("a", "targetedGene", "b"), ("a", "won by", "c")]
    graph = Graph.from_records(
        [Node(key, node_type, key.upper(), "") for key, node_type in nodes],
        [Edge(*edge) for edge in edges],
        path=tmp_path / "typed",
    )
    return Session(graph)


def test_several_references_give_each_row_once(graph):
    session = Session(graph)
    session.save(graph.arrays.rows(["c1", "d1"]))
    assert [graph.arrays.ids[row] for row in session.all_rows(["d1", "@1", "Aspirin"], [])] == ["c1", "d1"]
    assert session.all_rows([], []).tolist() == []


@pytest.mark.parametrize("node_id", ["@angular/core", "@1", "@x"])
def test_an_id_may_begin_like_a_saved_set(make, node_id):
    toolbox = Toolbox.full(make([Node(node_id, "Package", "core"), Node("b", "Package", "other")]))
    ask(toolbox, "search_in_graph", query="other")  # makes @1
    assert ask(toolbox, "read_node", node=node_id).nodes == (node_id,)
    assert ask(toolbox, "add_to_answer", nodes=[node_id]).nodes == (node_id,)


def test_a_part_of_one_name_is_read_as_it_aloud(make):
    nodes = [Node("y1", name="Russian River Brewing"), Node("b1", name="Chimay Bleue"), Node("b2", name="Chimay Rouge")]
    graph = make(nodes, [])
    toolbox = Toolbox.full(graph)
    reply = ask(toolbox, "read_node", node="Russian River")
    assert reply.nodes == ("y1",)
    assert reply.text.startswith("'Russian River' is read as Russian River Brewing [y1], the only name that holds it")
    unknown = ask(toolbox, "read_node", node="Chimay")
    assert (unknown.error, unknown.nodes) == ("UnknownNode", ())
    assert "Near names: Chimay" in unknown.text
    assert ask(
        open_plain(graph, "lexical", ("node_index",)), "search_in_neighborhood", node_index="Russian River"
    ).error
