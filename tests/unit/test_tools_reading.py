"""One node in full, and what a graph is made of."""

from clinic import ask
from orienteer.records import Edge, Node
from orienteer.tools.toolbox import Toolbox


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


def test_a_set_of_several_is_not_one_node(toolbox):
    ask(toolbox, "search_in_graph", query="relieves")
    assert ask(toolbox, "read_node", node="@1").error == "BadOption"
    ask(toolbox, "search_in_graph", query="quinine")
    assert ask(toolbox, "read_node", node="@2").nodes == ("c3",)


def test_an_offset_beyond_the_end_is_no_error(toolbox):
    assert ask(toolbox, "read_node", node="c1", offset=10**30).error is None


def test_the_schema_says_what_joins_what_and_how_often(toolbox):
    lines = ask(toolbox, "schema").text.splitlines()
    assert lines[0] == "node types: Compound 3; Disease 3; Gene 2; Symptom 2; Film 1"
    assert "Compound -treats-> Disease 3" in lines
    assert "Disease -presents-> Symptom 3" in lines


def test_a_schema_too_long_for_a_reply_says_that_it_goes_on(make):
    nodes = [Node(f"n{at}", f"Some rather long node type {at}") for at in range(200)]
    edges = [Edge(f"n{at}", f"edge type {at}", f"n{at + 1}") for at in range(199)]
    toolbox = Toolbox.full(make(nodes, edges))
    text = ask(toolbox, "schema").text
    assert len(text) <= toolbox.session.reply_tokens * 4
    assert "more" in text or "..." in text
