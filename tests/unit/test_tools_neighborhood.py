"""One hop, filtered by type, ranked by words."""

import re

import pytest

from clinic import ask, members
from orienteer.records import Edge, Node
from orienteer.tools import PLAIN_PARAMETERS, Toolbox, open_plain

pytestmark = pytest.mark.slow


def test_counts_by_kind_of_edge_come_first(toolbox):
    lines = ask(toolbox, "search_in_neighborhood", node="Malaria").text.splitlines()
    assert lines[0].startswith("5 neighbours: -presents-> Symptom 2; ")
    assert {"<-palliates- Compound 1", "<-treats- Compound 1", "-associates-> Gene 1"} <= set(lines[0].split("; "))


def test_a_natural_subquery_never_empties_a_neighbourhood(toolbox):
    query = "Which of these are the medicines that people take against it?"
    found = ask(toolbox, "search_in_neighborhood", node="Malaria", query=query)
    assert set(found.nodes) == {"c1", "c3", "g2", "s1", "s2"}
    assert "0 have all words; best partial matches:" in found.text


def test_full_matches_come_before_partial_ones_whatever_page_they_are_on(make):
    # Twenty-five short texts that repeat one word score above the one long text that has both.
    nodes = [Node("v"), Node("z", text=f"delta ember {'reed ' * 300}")]
    nodes += [Node(f"a{at:02}", text="delta delta delta") for at in range(25)]
    nodes += [Node(f"e{at:02}", text="ember") for at in range(25)]
    apart = [Node(f"x{at:02}", text="reed") for at in range(60)]
    graph = make([*nodes, *apart], [Edge("v", "to", node.id) for node in nodes[1:]])
    assert graph.search("delta ember", 20)[-1].id != "z"
    assert ask(Toolbox.full(graph), "search_in_neighborhood", node="v", query="delta ember").nodes[0] == "z"


def test_coverage_names_what_is_missing(toolbox):
    found = ask(toolbox, "search_in_neighborhood", node="Malaria", query="high fever malaria")
    line = next(line for line in found.text.splitlines() if "[s2]" in line)
    assert "2/3 words, not: malaria" in line


def test_words_match_whole_and_not_inside_others(make):
    graph = make(
        [Node("v"), Node("a", text="in general"), Node("b", text="a gene")], [Edge("v", "to", one) for one in "ab"]
    )
    assert ask(Toolbox.full(graph), "search_in_neighborhood", node="v", query="gene").nodes == ("b", "a")


def test_stop_words_in_capitals_decide_nothing(make):
    # A word that most nodes have says nothing: neither as a match, nor where it is missing.
    others = [Node(f"c{at}", text="the") for at in range(9)]
    nodes = [Node("v"), Node("a", text="The the the"), Node("b", text="the network"), *others]
    toolbox = Toolbox.full(make(nodes, [Edge("v", "to", one) for one in "ab"]))
    found = ask(toolbox, "search_in_neighborhood", node="v", query="The Networks")
    assert found.nodes[0] == "b"
    assert "1/1 words" in found.text


def test_a_hub_can_be_read_to_its_end(make):
    nodes = [Node("hub"), *(Node(f"n{at:03}", text="word" if at % 3 else "rare") for at in range(105))]
    toolbox = Toolbox.full(make(nodes, [Edge("hub", "has", node.id) for node in nodes[1:]]))
    for query in ({}, {"query": "rare"}):
        read = []
        for offset in range(0, 120, 20):
            read += ask(toolbox, "search_in_neighborhood", node="hub", offset=offset, **query).nodes
        assert sorted(read) == [node.id for node in nodes[1:]]
    assert "Shown 1-20; offset=20 for more." in ask(toolbox, "search_in_neighborhood", node="hub").text


def test_a_page_names_the_rows_that_fit_and_the_next_ones_begin_after_them(make):
    nodes = [Node("hub"), *(Node(f"n{at:03}", "leaf", f"{'long ' * 30}{at}") for at in range(102))]
    toolbox = Toolbox.full(make(nodes, [Edge("hub", "has", node.id) for node in nodes[1:]]))
    read, offset = [], 0
    for _ in range(20):
        found = ask(toolbox, "search_in_neighborhood", node="hub", k=100, offset=offset)
        read += found.nodes
        head = found.text.splitlines()[1].partition(": all 102. ")[2]
        if len(read) == 102:
            break
        assert head == f"Shown {offset + 1}-{len(read)}; offset={len(read)} for more."
        offset = int(re.search("offset=([0-9]+) for more", found.text)[1])
    assert read == [node.id for node in nodes[1:]]
    assert head == f"Shown {offset + 1}-102."


def test_the_papers_page_is_whole_and_tells_no_numbers(make):
    nodes = [Node("hub"), *(Node(f"n{at:02}", "leaf", "word", f"{'long ' * 300}{at}") for at in range(30))]
    graph = make(nodes, [Edge("hub", "has", node.id) for node in nodes[1:]])
    toolbox = open_plain(graph, "lexical", PLAIN_PARAMETERS)
    found = ask(toolbox, "search_in_neighborhood", node_index="hub", query="long word")
    assert len(found.nodes) == len(found.text.splitlines()) == 20
    assert not any(word in found.text for word in ("Shown", "neighbours", "words"))


def test_the_whole_neighbourhood_is_saved_whatever_the_page(toolbox):
    ask(toolbox, "search_in_neighborhood", node="Malaria", k=1)
    assert members(toolbox, "@1") == {"c1", "c3", "g2", "s1", "s2"}


def test_a_saved_set_stands_where_a_node_may_and_says_how_many_members_touch(toolbox):
    ask(toolbox, "search_in_graph", query="relieves")
    found = ask(toolbox, "search_in_neighborhood", node="@1", edge_types=["treats", "palliates"])
    assert set(found.nodes) == {"d2", "d3"}
    assert next(line for line in found.text.splitlines() if "[d3]" in line).endswith("touches 2 of 2")
    assert next(line for line in found.text.splitlines() if "[d2]" in line).endswith("touches 1 of 2")


def test_start_nodes_are_marked_and_not_hidden(make):
    toolbox = Toolbox.full(
        make([Node("a", text="x"), Node("b", text="x"), Node("c")], [Edge("a", "to", "b"), Edge("a", "to", "c")])
    )
    ask(toolbox, "search_in_graph", query="x")
    lines = ask(toolbox, "search_in_neighborhood", node="@1").text.splitlines()
    assert any("[b]" in line and "(start)" in line for line in lines)
    assert any("[a]" in line and "(start)" in line for line in lines)
    assert not any("[c]" in line and "(start)" in line for line in lines)


def test_filters_are_lists(toolbox):
    found = ask(
        toolbox, "search_in_neighborhood", node="d2", edge_types=["treats", "presents"], node_types=["Compound"]
    )
    assert found.nodes == ("c3",)


def test_an_unknown_type_lists_the_valid_ones_of_this_node(toolbox):
    for arguments in ({"edge_types": ["buys"]}, {"node_types": ["Shop"]}):
        found = ask(toolbox, "search_in_neighborhood", node="TP53", **arguments)
        assert found.error == "UnknownType"
        here = found.text.partition("This node has: ")[2]
        assert "associates (in) Disease" in here
        assert "treats" not in here


def test_filters_that_leave_nothing_say_what_there_is(toolbox):
    found = ask(toolbox, "search_in_neighborhood", node="TP53", node_types=["Compound"])
    assert (found.nodes, found.error) == ((), None)
    assert "0 neighbours pass these filters." in found.text
    assert "<-associates- Disease 1" in found.text


def test_a_node_without_edges_is_no_error(toolbox):
    assert ask(toolbox, "search_in_neighborhood", node="x1").error is None


def test_conditions_on_properties_filter(make):
    nodes = [Node("v"), *(Node(f"n{year}", properties={"year": year}) for year in (1999, 2005, 2010))]
    toolbox = Toolbox.full(make(nodes, [Edge("v", "to", node.id) for node in nodes[1:]]))
    assert ask(toolbox, "search_in_neighborhood", node="v", where=["year > 2000"]).nodes == ("n2005", "n2010")
    assert ask(toolbox, "search_in_neighborhood", node="v", where=["years > 2000"]).error == "UnknownProperty"


def test_ambiguity_is_resolved_by_the_filter_aloud(toolbox):
    for arguments, meant in (
        ({"edge_types": ["associates"]}, "d1 (Disease)"),
        ({"node_types": ["Disease"]}, "s1 (Symptom)"),
    ):
        found = ask(toolbox, "search_in_neighborhood", node="Jaundice", **arguments)
        assert f"'Jaundice' is read as {meant}" in found.text
        assert found.error is None


def test_a_page_beyond_the_end_is_empty_and_says_so_in_sense(toolbox):
    found = ask(toolbox, "search_in_neighborhood", node="Malaria", offset=50)
    assert found.nodes == ()
    assert "Shown 51-50" not in found.text


def test_a_reply_stays_under_its_budget_for_a_hub_of_50_000(make):
    count = 50_000
    nodes = [
        Node("hub", "Hub"),
        *(Node(f"n{at:05}", f"T{at % 7}", f"leaf {at}", "some words of text") for at in range(count)),
    ]
    toolbox = Toolbox.full(make(nodes, (Edge("hub", f"e{at % 30}", f"n{at:05}") for at in range(count))))
    for arguments in ({}, {"query": "leaf 4711 words", "k": 100}, {"offset": 49_000, "k": 100}):
        found = ask(toolbox, "search_in_neighborhood", node="hub", **arguments)
        assert len(found.text) <= toolbox.session.reply_tokens * 4
        assert found.nodes
    assert "50000 neighbours" in found.text
    assert len(ask(toolbox, "follow", start="hub", steps=[{}, {}]).text) <= toolbox.session.reply_tokens * 4
    assert len(ask(toolbox, "intersect", nodes=["hub", "@1"], k=100).text) <= toolbox.session.reply_tokens * 4
    assert (
        len(ask(toolbox, "search_in_neighborhood", node="hub", edge_types=["zz"]).text)
        <= toolbox.session.reply_tokens * 4
    )
