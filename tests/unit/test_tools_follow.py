"""A typed walk of several steps, ranked by distinct members."""

import pytest

from clinic import ask, members
from fakes.inside import inside
from orienteer.records import Edge, Node
from orienteer.tools import Session, Toolbox, open_compact, open_plain, open_stateless


def test_each_step_says_its_size_and_keeps_its_set(toolbox):
    found = ask(
        toolbox,
        "follow",
        start="Aspirin",
        steps=[{"edge": "palliates", "type": "Disease"}, {"edge": "presents", "type": "Symptom"}],
    )
    assert "Aspirin -> @1 2 Disease (Malaria; Headache) -> @2 2 Symptom\n" in found.text
    assert members(toolbox, "@1") == {"d2", "d3"}
    assert members(toolbox, "@2") == {"s1", "s2"}


def test_results_are_ranked_by_distinct_members_and_not_by_paths(make):
    # b is reached from one member by three parallel edges, c from two members by one edge each.
    nodes = [Node(one, "T") for one in ("start", "m1", "m2", "b", "c")]
    edges = [Edge("start", "has", "m1"), Edge("start", "has", "m2"), Edge("m1", "to", "c"), Edge("m2", "to", "c")]
    edges += [Edge("m1", kind, "b") for kind in ("to", "of", "by")]
    toolbox = Toolbox.full(make(nodes, edges))
    found = ask(toolbox, "follow", start="start", steps=[{"edge": "has"}, {}])
    assert found.nodes[0] == "c"
    lines = found.text.splitlines()
    assert any(line.startswith("2 (2 paths) [c]") for line in lines)
    assert any(line.startswith("1 (3 paths) [b]") for line in lines)


def test_paths_are_counted_over_all_steps(make):
    # Two ways to m, two from m to the end: four walks, one distinct member.
    nodes = [Node(one, "T") for one in ("start", "a", "b", "m", "end")]
    edges = [Edge("start", "one", "a"), Edge("start", "one", "b"), Edge("a", "two", "m"), Edge("b", "two", "m")]
    edges += [Edge("m", "three", "end"), Edge("m", "four", "end")]
    toolbox = Toolbox.full(make(nodes, edges))
    found = ask(
        toolbox, "follow", start="start", steps=[{"edge": "one"}, {"edge": "two"}, {"type": "T", "direction": "out"}]
    )
    assert "1 (4 paths) [end]" in found.text


def test_parallel_edges_from_one_node_are_paths_to_one_result(make):
    nodes = [Node(one, "T") for one in ("start", "a", "b", "c")]
    edges = [Edge("start", "to", one) for one in "abc"] + [Edge("b", "of", "start"), Edge("start", "start", "start")]
    found = ask(Toolbox.full(make(nodes, edges)), "follow", start="start", steps=[{}])
    assert found.nodes == ("b", "a", "c")  # more paths first, then by id
    lines = found.text.splitlines()
    assert "start -> @1 3 nodes" in lines
    assert any(line.startswith("1 (2 paths) [b]") for line in lines)
    assert any(line.startswith("1 (1 path) [a]") for line in lines)


def test_one_node_is_not_several(make):
    graph = make([Node("a", "T"), Node("b", "T")], [Edge("a", "to", "b")])
    assert "a -> @1 1 node\n" in ask(Toolbox.full(graph), "follow", start="a", steps=[{}]).text
    assert ask(Toolbox.full(graph), "search_in_neighborhood", node="a").text.startswith("1 neighbour: ")
    assert "@1: 1 best node, " in ask(Toolbox.full(graph), "search_in_graph", query="b").text


def test_ties_for_the_first_place_are_said(toolbox):
    ask(toolbox, "search_in_graph", query="Malaria Headache Jaundice", node_types=["Disease"])
    assert members(toolbox, "@1") == {"d1", "d2", "d3"}
    found = ask(toolbox, "follow", start="@1", steps=[{}])
    counts = [int(line.split()[0]) for line in found.text.splitlines() if " paths) " in line]
    assert counts == sorted(counts, reverse=True)
    tied = counts.count(counts[0])
    assert tied == 2  # Aspirin and Fever
    assert "2 are tied for the first place" in found.text


def test_a_saved_set_stands_where_a_node_may(toolbox):
    ask(toolbox, "search_in_graph", query="relieves")
    found = ask(toolbox, "follow", start="@1", steps=[{"edge": "treats"}])
    assert found.nodes == ("d3",)
    assert "2 (2 paths) [d3]" in found.text


def test_direction_is_a_filter_of_a_step(toolbox):
    assert ask(toolbox, "follow", start="d2", steps=[{"direction": "out"}]).nodes == ("g2", "s1", "s2")
    assert ask(toolbox, "follow", start="d2", steps=[{"direction": "in"}]).nodes == ("c1", "c3")


def test_ambiguity_is_resolved_by_the_first_steps_filter_aloud(toolbox):
    found = ask(toolbox, "follow", start="Jaundice", steps=[{"edge": "associates"}])
    assert found.nodes == ("g1",)
    assert "'Jaundice' is read as d1 (Disease)" in found.text


def test_near_forms_of_types_are_taken_and_said(toolbox):
    found = ask(toolbox, "follow", start="d1", steps=[{"edge": "associate", "type": "Genes"}])
    assert found.nodes == ("g1",)
    assert "'associate' is read as 'associates'" in found.text
    assert "'Genes' is read as 'Gene'" in found.text


def test_an_unknown_type_lists_those_of_the_start(toolbox):
    found = ask(toolbox, "follow", start="d1", steps=[{"edge": "buys"}])
    assert found.error == "UnknownType"
    assert "This node has: " in found.text
    assert all(word in found.text for word in ("associates", "presents", "Symptom"))
    assert "no edges" not in found.text


def test_a_call_that_fails_saves_no_sets(toolbox):
    ask(toolbox, "follow", start="d1", steps=[{"edge": "associates"}, {"edge": "buys"}])
    assert toolbox.session.sets == []


def test_a_walk_that_reaches_nothing_says_so(toolbox):
    found = ask(toolbox, "follow", start="x1", steps=[{}, {}])
    assert (found.nodes, found.error) == ((), None)
    assert "x1 -> @1 0 nodes: it has no neighbour -> @2 0 nodes\n0 nodes are reached. It has no edges." in found.text


def test_a_walk_says_where_it_could_not_go_on_and_what_there_is(toolbox):
    steps = [{"edge": "associates"}, {"edge": "treats", "type": "Compound", "direction": "in"}, {}]
    found = ask(toolbox, "follow", start="d2", steps=steps)
    trail, end = found.text.splitlines()[:2]
    assert trail == (
        "d2 -> @1 1 node (HBB) -> @2 0 Compound: it has no Compound neighbour by treats (in) -> @3 0 nodes"
    )
    assert end == "0 nodes are reached. Without filters it has: <-associates- Disease 1"
    several = ask(toolbox, "follow", start="Aspirin", steps=[{"type": "Disease"}, {"type": "Film"}])
    assert "none of the 2 has any Film neighbour" in several.text
    assert "Without filters they have: " in several.text


def test_members_are_named_of_sets_of_up_to_three(make):
    nodes = [Node(one, "T", f"name of {one}") for one in ("a", "m1", "m2", "m3", "m4", "end")]
    edges = [Edge("a", "few", f"m{at}") for at in (1, 2, 3)] + [Edge("a", "many", f"m{at}") for at in (1, 2, 3, 4)]
    edges += [Edge(f"m{at}", "to", "end") for at in (1, 2, 3, 4)]
    toolbox = Toolbox.full(make(nodes, edges))
    few = ask(toolbox, "follow", start="a", steps=[{"edge": "few"}, {"edge": "to"}]).text
    assert few.startswith("a -> @1 3 nodes (name of m1; name of m2; name of m3) -> @2 1 node\n")
    many = ask(toolbox, "follow", start="a", steps=[{"edge": "many"}, {"edge": "to"}]).text
    assert many.startswith("a -> @3 4 nodes -> @4 1 node\n")


def test_where_a_walk_began_is_marked_among_its_results(toolbox):
    found = ask(toolbox, "follow", start="c1", steps=[{"edge": "treats"}, {"edge": "treats"}])
    assert found.nodes == ("c1", "c2")
    lines = found.text.splitlines()
    assert "1 of these is where the walk began, marked (start)" in lines
    assert "1 (1 path) [c1] Aspirin (Compound) (start)" in lines
    assert "1 (1 path) [c2] Ibuprofen (Compound)" in lines
    assert "(start)" not in ask(toolbox, "follow", start="c1", steps=[{"edge": "treats"}]).text


def test_a_walk_may_begin_with_a_list(toolbox):
    found = ask(toolbox, "follow", start=["Aspirin", "c2", "@1"], steps=[{"edge": "treats"}])
    assert found.error == "BadOption"  # there is no set yet
    found = ask(toolbox, "follow", start=["Aspirin", "c2"], steps=[{"edge": "treats"}])
    assert found.text.startswith("2 nodes (Aspirin; Ibuprofen) -> @1 1 node\n2 (2 paths) [d3] Headache (Disease)")
    assert ask(toolbox, "follow", start=[], steps=[{}]).error == "BadCall"


@pytest.mark.parametrize("steps", [[], [{}] * 5, [{"edges": "x"}], "associates"])
def test_steps_that_are_none_come_back(toolbox, steps):
    assert ask(toolbox, "follow", start="d1", steps=steps).error == "BadCall"


@pytest.fixture(scope="module")
def authors(build):
    """People who wrote books, a kind that a person is called after, and books that nobody wrote."""
    nodes = [*(Node(f"p{at}", "person", f"Person {at}") for at in range(4)), Node("odd", "person", "place")]
    nodes += [*(Node(f"b{at}", "book", f"Book {at}") for at in range(9)), Node("x", "place", "Hull")]
    edges = [Edge(f"p{at % 3}", "wrote", f"b{at}") for at in range(7)] + [Edge("p3", "born_in", "x")]
    return build(nodes, edges)


@pytest.mark.parametrize("start", ["all book", "book", "all books", ["all book"]])
def test_a_walk_begins_with_all_nodes_of_a_type(authors, start):
    toolbox = Toolbox.full(authors)
    found = ask(toolbox, "follow", start=start, steps=[{"edge": "wrote", "type": "person"}])
    assert "it begins with 9 nodes, all of the type book" in found.text
    assert "9 nodes -> @1 3 person" in found.text
    assert found.nodes == ("p0", "p1", "p2")
    assert "3 (3 paths) [p0] Person 0" in found.text


def test_a_type_stands_wherever_a_walk_or_an_intersection_begins(authors):
    toolbox = Toolbox.full(authors)
    around = ask(toolbox, "search_in_neighborhood", node="all person", node_types=["book"])
    assert around.text.splitlines()[0] == "it begins with 5 nodes, all of the type person"
    assert "7 neighbours" in around.text
    assert ask(toolbox, "intersect", nodes=["all book", "all place"]).text.count("it begins with") == 2


def test_a_node_of_that_name_comes_before_the_type_and_a_near_name_is_no_type(authors):
    toolbox = Toolbox.full(authors)
    assert "it begins with" not in ask(toolbox, "follow", start="place", steps=[{}]).text
    assert "it begins with 1 node, all of the type place" in ask(toolbox, "follow", start="all place", steps=[{}]).text
    assert "Not in this graph: 'boook'" in ask(toolbox, "follow", start="boook", steps=[{}]).text
    assert "Not in this graph: 'all'" in ask(toolbox, "follow", start="all ", steps=[{}]).text


def test_a_very_large_type_is_refused_with_what_to_do(authors, monkeypatch):
    monkeypatch.setattr(inside(Session), "_MOST_OF_KIND", 8)
    found = ask(Toolbox.full(authors), "follow", start="all book", steps=[{}])
    assert found.error == "BadOption"
    assert "9 nodes of the type book, more than 8: begin with a search" in found.text


def test_the_schema_offers_types_to_agents_and_not_in_the_papers_form(authors):
    told = {spec.name: str(spec.parameters) for spec in Toolbox.full(authors).specs}
    assert {name for name, text in told.items() if "all TYPE" in text} == {
        "follow",
        "intersect",
        "search_in_neighborhood",
    }
    for toolbox in (
        open_plain(authors, "lexical", ("node_index",)),
        open_compact(authors, "lexical"),
        open_stateless(authors),
    ):
        assert not any("all TYPE" in f"{spec.description} {spec.parameters}" for spec in toolbox.specs)
        tool = "follow" if "follow" in {spec.name for spec in toolbox.specs} else "search_in_neighborhood"
        key = "node_index" if toolbox.session.is_plain else "node"
        start = {"start": "all book", "steps": [{}]} if tool == "follow" else {key: "all book"}
        assert "Not in this graph: 'all book'" in ask(toolbox, tool, **start).text
