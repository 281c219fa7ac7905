"""Words as they stand in texts: runs of a phrase, and words with digits, which are one thing each."""

import numpy as np
import pytest
from hypothesis import given, strategies as st

from clinic import ask
from orienteer.graph import QueryWords, ReadWords
from orienteer.records import Node
from orienteer.tools import Toolbox

pytestmark = pytest.mark.slow

LETTERS = st.lists(st.sampled_from("abc"), max_size=7)


def heaviest(phrase, weights, words, least):
    """Return the weight of the heaviest run of words that stands in both, by trying them all."""
    runs = [
        sum(weights[begin:end])
        for begin in range(len(phrase))
        for end in range(begin + 1, len(phrase) + 1)
        for at in range(len(words))
        if words[at : at + end - begin] == phrase[begin:end] and sum(map(bool, weights[begin:end])) >= least
    ]
    return max(runs, default=0)


@given(texts=st.lists(st.tuples(LETTERS, LETTERS, LETTERS), min_size=1, max_size=4), phrase=LETTERS, data=st.data())
def test_runs_are_those_of_a_brute_force_and_none_goes_on_from_text_to_text(build, texts, phrase, data):
    weights = [data.draw(st.integers(0, 3)) for _ in phrase]
    nodes = [
        Node(f"n{at}", name=" ".join(name) or "-", aliases=(" ".join(alias),), text=" ".join(text))
        for at, (name, alias, text) in enumerate(texts)
    ]
    rows = np.arange(len(nodes), dtype=np.int32)[::-1]
    least = data.draw(st.integers(1, 3))
    found = ReadWords(build(nodes).arrays, rows).heaviest_runs(phrase, weights, least=least)
    expected = [max(heaviest(phrase, weights, words, least) for words in parts) for parts in texts]
    assert found.tolist() == expected[::-1]


BLANK = [Node(f"y{at:02}", text="of nothing at all") for at in range(20)]
NODES = [
    Node("jak1", "gene", "JAK1", "a kinase"),
    Node("jak-1", "page", "Kinases", "such as JAK-1"),
    Node("apart", "pathway", "signalling by JAK-STAT", "of type 1"),
    Node("mst1", "gene", "MST1", "prss of another kind"),
    Node("acid", "drug", "(8E,10S,12Z)-10-hydroxy-6-oxooctadeca-8,12-dienoic acid", "of 12.5 mg"),
    Node("hours", "drug", "Slow", "a half-life of 12 hours"),
    Node("joined", "drug", "Quick", "a half-life of 12h"),
    Node("alias", "drug", "Third", aliases=("C-12",)),
    *BLANK,
]


@pytest.fixture(scope="module")
def graph(build):
    return build(NODES)


def having(graph, query, word):
    """Return the ids of the nodes that are told to have a word of a query."""
    rows = np.arange(len(NODES), dtype=np.int32)
    coverages = QueryWords(graph.arrays, query).coverages(rows)
    return {graph.arrays.ids[row] for row, coverage in enumerate(coverages) if word not in coverage.missing}


@pytest.mark.parametrize(
    ("query", "word", "nodes"),
    [
        ("JAK1", "jak1", {"jak1", "jak-1"}),
        ("jak 1", "1", {"jak1", "jak-1", "apart"}),
        ("PRSS1", "prss1", set()),
        ("half-life 12 hours", "12", {"hours", "alias"}),
        ("12 h", "12", {"hours", "alias", "joined"}),
        ("12.5 mg", "12", {"hours", "alias", "acid"}),
        ("12.5 mg", "5", {"acid"}),
        ("8,12-dienoic", "8", {"acid"}),
        ("12Z", "12z", {"acid"}),
        ("kinase", "kinase", {"jak1", "jak-1"}),
    ],
)
def test_a_word_with_digits_stands_whole(graph, query, word, nodes):
    assert having(graph, query, word) == nodes


def test_nodes_with_all_words_have_them_whole(graph):
    rows = QueryWords(graph.arrays, "half-life 12").full_in(None)
    assert [graph.arrays.ids[row] for row in rows] == ["hours"]
    rows = QueryWords(graph.arrays, "JAK1").full_in(None)
    assert {graph.arrays.ids[row] for row in rows} == {"jak1", "jak-1"}


def test_a_word_of_which_there_are_only_parts_is_not_in_the_graph(graph):
    assert QueryWords(graph.arrays, "PRSS7 kinase zebra").absent == ("zebra", "prss7")
    assert QueryWords(graph.arrays, "JAK1 12Z").absent == ()
    text = ask(Toolbox.full(graph), "search_in_graph", query="PRSS7 kinase").text
    assert text.startswith("Not in this graph: prss7.")


def test_a_search_leaves_out_nodes_that_have_only_parts_and_says_how_many(graph):
    found = ask(Toolbox.full(graph), "search_in_graph", query="JAK1", k=20)
    assert set(found.nodes) == {"jak1", "jak-1"}
    assert "@1: 2 best nodes, 2 with all words. 1 more, with none of them, left out." in found.text


def test_a_search_leaves_out_nodes_with_one_of_many_words_where_others_have_more(build):
    nodes = [Node("two", text="amber basalt"), *(Node(f"one{at}", text="amber") for at in range(3))]
    toolbox = Toolbox.full(build([*nodes, Node("fir", text="fir"), Node("elm", "tree", "elm fjord"), *BLANK]))
    found = ask(toolbox, "search_in_graph", query="amber basalt cedar delta", k=20)
    assert found.nodes == ("two",)
    assert "1 best node, 0 with all words. 3 more, with one of them or none, left out." in found.text
    assert members_of_last(toolbox) == {"two"}
    assert len(ask(toolbox, "search_in_graph", query="amber basalt cedar", k=20).nodes) == 4  # three are not many
    assert ask(toolbox, "search_in_graph", query="fir basalt2 cedar2 delta2", k=20).nodes == ("fir",)  # none has more
    assert "elm" in ask(toolbox, "search_in_graph", query="elm fjord amber basalt cedar", k=20).nodes  # it is named
    plain = Toolbox.full(toolbox.session.graph, names_first=False)
    assert len(ask(plain, "search_in_graph", query="amber basalt cedar delta", k=20).nodes) == 4


def test_nodes_with_common_words_alone_are_found_where_none_has_others(build):
    nodes = [*(Node(f"t{at}", text="a town by the sea") for at in range(9)), Node("k", text="a king")]
    toolbox = Toolbox.full(build(nodes))
    found = ask(toolbox, "search_in_graph", query="town blorp", k=20)
    assert len(found.nodes) == 9
    assert found.text.startswith("Not in this graph: blorp.\n@1: 9 best nodes, 0 with all words.\n")
    assert ask(toolbox, "search_in_graph", query="town king", k=20).nodes == ("k",)


def members_of_last(toolbox):
    return {toolbox.session.graph.arrays.ids[row] for row in toolbox.session.sets[-1]}


def test_a_phrase_of_the_query_that_few_texts_hold_comes_first(build):
    apart = "depression of the endogenous kind, with a tricyclic"
    nodes = [Node(f"a{at}", text=apart) for at in range(8)]
    nodes += [Node("z", text=f"against endogenous depression {'and so on ' * 30}"), Node("y", text="drug depression")]
    nodes += [Node(f"c{at}", text=f"tricyclic drug {'and so on ' * 30}") for at in range(9)]
    graph = build([*nodes, *(Node(f"x{at:02}", text="of nothing") for at in range(60))])
    query = "which tricyclic drug for endogenous depression"
    found = ask(Toolbox.full(graph), "search_in_graph", query=query, k=4).nodes
    assert found[0] == "z"  # with fewer words than the others; nine hold "tricyclic drug", which weighs less
    assert set(found[1:]) < {f"a{at}" for at in range(8)}
    by_words = ask(Toolbox.full(graph, names_first=False), "search_in_graph", query=query, k=4)
    assert "z" not in by_words.nodes  # a long text: methods rank by BM25 alone
    many = build([*nodes, *(Node(f"z{at}", text=f"endogenous depression {'and so on ' * 30}") for at in range(4))])
    found = ask(Toolbox.full(many), "search_in_graph", query=query, k=4)
    assert not [node for node in found.nodes if node.startswith("z")]  # five hold it: it says little
