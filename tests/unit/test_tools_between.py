"""What lies between several given nodes."""

from clinic import ask, members
from orienteer.records import Edge, Node
from orienteer.tools import Toolbox


def test_full_matches_only_with_the_edges_that_make_them(toolbox):
    found = ask(toolbox, "intersect", nodes=["Aspirin", "Ibuprofen"])
    assert found.nodes == ("d3",)
    line = next(line for line in found.text.splitlines() if "[d3]" in line)
    assert "<-treats- <-palliates- Aspirin" in line or "<-palliates- <-treats- Aspirin" in line
    assert "<-treats- Ibuprofen" in line
    assert "1 node touches all 2" in found.text
    assert "[d2]" not in found.text  # Malaria touches one of them only


def test_partial_matches_only_where_there_is_no_full_one(toolbox):
    found = ask(toolbox, "intersect", nodes=["Aspirin", "Quinine", "Jaundice (Disease)"])
    assert found.nodes == ("d2",)
    assert "1 node touches 2 of 3; none touches all" in found.text


def test_a_set_counts_as_touched_when_any_member_is(toolbox):
    ask(toolbox, "search_in_graph", query="relieves")
    assert members(toolbox, "@1") == {"c1", "c2"}
    found = ask(toolbox, "intersect", nodes=["@1", "Quinine"])
    assert found.nodes == ("d2",)
    assert "1 node touches all 2" in found.text


def test_a_member_of_a_set_counts_once(toolbox):
    ask(toolbox, "search_in_graph", query="relieves")
    found = ask(toolbox, "intersect", nodes=["@1", "HBB"])
    assert found.nodes == ("d2",)  # Headache is touched by two members of one set


def test_edges_to_several_members_keep_their_direction(make):
    graph = make([Node(one, "T") for one in "abcm"], [Edge("m", "to", one) for one in "abc"])
    toolbox = Toolbox.full(graph)
    ask(toolbox, "search_in_neighborhood", node="m")
    found = ask(toolbox, "intersect", nodes=["@1", "a"])
    line = next(line for line in found.text.splitlines() if line.startswith("[m]"))
    assert "-to-> 3 members" in line
    assert "<-to-" not in line


def test_filters_hold_for_nodes_and_edges(toolbox):
    assert ask(toolbox, "intersect", nodes=["c1", "c2"], edge_types=["treats"]).nodes == ("d3",)
    assert ask(toolbox, "intersect", nodes=["c1", "c3"], node_types=["Disease"]).nodes == ("d2",)
    assert ask(toolbox, "intersect", nodes=["c1", "c3"], node_types=["Gene"]).nodes == ()


def test_neighbours_are_counted_under_the_filters(toolbox):
    """Malaria touches Aspirin and Quinine, HBB and two symptoms; Aspirin touches Malaria and Headache."""
    head = ask(toolbox, "intersect", nodes=["Malaria", "Aspirin"]).text.splitlines()[0]
    assert head == "Malaria: 5 neighbours; Aspirin: 2 neighbours"
    head = ask(toolbox, "intersect", nodes=["Malaria", "Aspirin"], node_types=["Gene"]).text.splitlines()[0]
    assert head == "Malaria: 1 neighbour; Aspirin: 0 neighbours"
    both = ask(toolbox, "intersect", nodes=["c1", "d2"], node_types=["Disease"], edge_types=["treats"])
    assert both.text.splitlines()[0] == "c1: 1 neighbour; d2: 0 neighbours"


def test_the_whole_result_is_saved(toolbox):
    ask(toolbox, "intersect", nodes=["d1", "d2"], k=1)
    assert members(toolbox, "@1") == {"s2"}


def test_nothing_at_all_is_said(toolbox):
    found = ask(toolbox, "intersect", nodes=["x1", "x1"])
    assert (found.nodes, found.error) == ((), None)
    assert "No node touches two" in found.text


def test_one_node_alone_is_no_intersection(toolbox):
    assert ask(toolbox, "intersect", nodes=["c1"]).error == "BadCall"


def test_paths_show_every_edge_whichever_way_it_points(toolbox):
    found = ask(toolbox, "paths", a="Aspirin", b="HBB")
    assert "[c1] Aspirin (Compound) -palliates-> [d2] Malaria (Disease) -associates-> [g2] HBB (Gene)" in found.text
    assert set(found.nodes) == {"c1", "d2", "g2"}
    back = ask(toolbox, "paths", a="HBB", b="Aspirin")
    assert "[g2] HBB (Gene) <-associates- [d2] Malaria (Disease) <-palliates- [c1] Aspirin (Compound)" in back.text


def test_only_the_shortest_paths_are_shown(toolbox):
    assert "1 shortest path of 1 edge\n" in ask(toolbox, "paths", a="c1", b="d2").text


def test_no_path_is_said_with_its_length(toolbox):
    assert "no path of 4 edges or fewer" in ask(toolbox, "paths", a="c1", b="x1").text
    assert "no path of 1 edge or fewer" in ask(toolbox, "paths", a="c1", b="g2", max_length=1).text


def test_paths_need_one_node_at_each_end(toolbox):
    ask(toolbox, "search_in_graph", query="relieves")
    assert ask(toolbox, "paths", a="@1", b="c3").error == "BadOption"
    assert ask(toolbox, "paths", a="c3").error == "BadCall"


def test_a_set_of_one_is_one_node(toolbox):
    ask(toolbox, "search_in_graph", query="quinine")
    assert "[c3] Quinine (Compound) -treats->" in ask(toolbox, "paths", a="@1", b="d2").text
