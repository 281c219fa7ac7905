"""One node in full, and what a graph is made of."""

import pytest

from clinic import ask, members
from orienteer.records import Edge, Node
from orienteer.tools import Toolbox


def test_a_node_is_shown_with_everything(make):
    node = Node(
        "n1", "Drug", "Name", "The text.", aliases=("Other", "Third"), properties={"year": 1999, "tags": ["a", "ä"]}
    )
    found = ask(
        Toolbox.full(make([node, Node("m")], [Edge("n1", "to", "m"), Edge("m", "by", "n1")])), "read_node", node="n1"
    )
    first, also, *others, last = found.text.splitlines()
    assert (first, also, last) == ("[n1] Name (Drug)", "also: Other; Third", "answer: 0 nodes")
    [edges] = [line for line in others if line.startswith("edges: ")]
    assert set(edges.removeprefix("edges: ").split("; ")) == {"-to-> node 1", "<-by- node 1"}
    assert set(others) == {edges, "year: 1999", 'tags: ["a", "ä"]', "text: The text."}
    assert found.nodes == ("n1",)


def read_whole(toolbox, node, pages=100):
    """Return the text as an agent gets it, page after page, at the offsets that it is told."""
    text, offset = "", 0
    for _ in range(pages):
        found = ask(toolbox, "read_node", node=node, offset=offset).text
        assert len(found) <= toolbox.session.reply_tokens * 4
        [page] = [line.removeprefix("text: ") for line in found.splitlines() if line.startswith("text: ")]
        body, more, rest = page.partition(" ... ")
        text += body
        if not more:
            return text
        offset = int(rest.rpartition("offset=")[2])
    raise AssertionError("the text has no end")


WORDS = " ".join(f"word{at}" for at in range(3_000))


def test_a_long_text_can_be_read_to_its_end(make):
    assert read_whole(Toolbox.full(make([Node("a", text=WORDS)])), "a") == WORDS


def test_a_long_text_can_be_read_also_where_there_are_many_properties(make):
    many = {f"property {at}": f"value {at} " * 40 for at in range(40)}
    assert read_whole(Toolbox.full(make([Node("a", text=WORDS, properties=many)])), "a") == WORDS


def test_names_come_back_byte_for_byte(make):
    name = 'α-Synuclein ("SNCA")  [x] <e\u0301> 5\'-UTR'
    assert f"[a] {name} (node)" in ask(Toolbox.full(make([Node("a", name=name)])), "read_node", node="a").text


def test_a_set_is_read_node_by_node_best_first(toolbox):
    shown = ask(toolbox, "search_in_graph", query="relieves fever").nodes
    found = ask(toolbox, "read_node", node="@1")
    assert found.nodes == shown
    assert found.text.startswith(f"@1: {len(shown)} nodes\n")
    assert all(f"[{node}]" in found.text for node in shown)
    ask(toolbox, "search_in_graph", query="quinine")
    assert ask(toolbox, "read_node", node="@2").nodes == ("c3",)
    assert len(toolbox.session.sets) == 2  # they are sets already


def test_a_list_is_read_and_kept_as_a_set_of_chosen_nodes(toolbox):
    found = ask(toolbox, "read_node", node=["Malaria", "c1", "nobody", "Malaria"])
    assert found.nodes == ("d2", "c1")
    head, first, *_ = found.text.partition("@1: ")[2].splitlines()
    assert (head, first) == ("2 nodes", "[d2] Malaria (Disease)")
    assert "Not in this graph: 'nobody'" in found.text
    assert "text: relieves pain and fever" in found.text
    assert members(toolbox, "@1") == {"d2", "c1"}
    ask(toolbox, "add_to_answer", nodes=["@1"])
    assert toolbox.session.answer == [toolbox.session.graph.arrays.row(node) for node in ("d2", "c1")]
    assert ask(toolbox, "read_node", node=["nobody"]).error == "UnknownNode"
    assert ask(toolbox, "read_node", node=[]).error == "BadCall"


def test_a_text_is_not_cut_for_its_last_few_hundred_characters(make):
    texts = {"short": "s" * 2_839, "long": "l" * 3_200}
    toolbox = Toolbox.full(make([Node(one, text=text) for one, text in texts.items()]))
    assert f"text: {texts['short']}\n" in ask(toolbox, "read_node", node="short").text
    assert "... 800 more; offset=2400" in ask(toolbox, "read_node", node="long").text


def test_of_several_nodes_none_is_cut_below_600_characters(make):
    nodes = [Node(f"n{at}", text=f"{at}" * 599, properties={"note": "p" * 150}) for at in range(9)]
    toolbox = Toolbox.full(make(nodes))
    found = ask(toolbox, "read_node", node=[node.id for node in nodes])
    assert len(found.text) <= toolbox.session.reply_tokens * 4
    assert 5 <= len(found.nodes) < 9
    assert all(f"text: {f'{at}' * 599}\n" in found.text for at in range(len(found.nodes)))
    assert f"... {9 - len(found.nodes)} more did not fit" in found.text
    assert members(toolbox, "@1") == {node.id for node in nodes}  # the set is whole


def test_properties_that_do_not_fit_are_told_of(make):
    many = {f"property {at:02}": f"value {at} " * 40 for at in range(40)}
    text = ask(Toolbox.full(make([Node("a", properties=many)])), "read_node", node="a").text
    assert text.splitlines()[-2] == "... more properties did not fit"


def test_an_offset_beyond_the_end_is_no_error(toolbox):
    assert ask(toolbox, "read_node", node="c1", offset=10**30).error is None


def test_the_schema_says_what_joins_what_and_how_often(toolbox):
    lines = ask(toolbox, "schema").text.splitlines()
    assert lines[0] == "node types: Compound 3; Disease 3; Gene 2; Symptom 2; Film 1"
    assert "Compound -treats-> Disease 3" in lines
    assert "Disease -presents-> Symptom 3" in lines


@pytest.mark.slow
def test_a_schema_too_long_for_a_reply_says_that_it_goes_on(make):
    nodes = [Node(f"n{at}", f"Some rather long node type {at}") for at in range(200)]
    edges = [Edge(f"n{at}", f"edge type {at}", f"n{at + 1}") for at in range(199)]
    toolbox = Toolbox.full(make(nodes, edges))
    text = ask(toolbox, "schema").text
    assert len(text) <= toolbox.session.reply_tokens * 4
    assert "more" in text or "..." in text
