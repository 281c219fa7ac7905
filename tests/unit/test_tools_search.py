"""BM25 over the whole graph, or over a saved set."""

import math

import numpy as np
import pytest
from hypothesis import given, strategies as st

from clinic import ask
from orienteer.records import Node
from orienteer.tools import Toolbox, open_plain


def test_the_best_come_first_with_coverage_and_text(toolbox):
    found = ask(toolbox, "search_in_graph", query="yellow skin")
    assert found.nodes == ("d1", "s1")
    assert "@1: 2 best nodes, 1 with all words." in found.text
    assert "[d1] Jaundice (Disease) 2/2 words: yellow skin and yellow eyes" in found.text
    assert "[s1] Jaundice (Symptom) 1/2 words, not: skin: a yellow colour" in found.text


def test_what_is_not_in_this_graph_is_said_first(toolbox):
    found = ask(toolbox, "search_in_graph", query="zebra fever")
    assert found.text.splitlines()[0] == "Not in this graph: zebra."
    nothing = ask(toolbox, "search_in_graph", query="zebra")
    assert nothing.text.splitlines()[0] == "Not in this graph: zebra."
    assert nothing.nodes == ()
    assert toolbox.session.last() == "@1"  # nothing found is no result to take


def test_words_are_stemmed(toolbox):
    assert ask(toolbox, "search_in_graph", query="tumours suppressors").nodes == ("g1",)


def test_mixed_words_match_whole_and_split(make):
    toolbox = Toolbox.full(make([Node("a", text="after 10ms"), Node("b", text="after 10 ms"), Node("c", text="later")]))
    assert ask(toolbox, "search_in_graph", query="10ms").nodes[0] == "a"
    assert set(ask(toolbox, "search_in_graph", query="10 ms").nodes) == {"a", "b"}


def test_aliases_are_searched(toolbox):
    assert ask(toolbox, "search_in_graph", query="p53 protein").nodes == ("g1",)


def test_types_and_conditions_filter_before_the_cut(toolbox):
    assert ask(toolbox, "search_in_graph", query="yellow fever", node_types=["Symptom"], k=1).nodes[0] in ("s1", "s2")
    assert ask(toolbox, "search_in_graph", query="yellow", node_types=["Gene"]).nodes == ()
    assert ask(toolbox, "search_in_graph", query="yellow", where=["year > 3"]).error == "UnknownProperty"


def test_a_saved_set_can_be_searched(toolbox):
    ask(toolbox, "search_in_neighborhood", node="Malaria")
    assert set(ask(toolbox, "search_in_graph", query="yellow pain", among="@1").nodes) == {"s1", "c1"}
    assert ask(toolbox, "search_in_graph", query="yellow", among="@9").error == "BadOption"


def test_near_forms_of_types_are_corrected_aloud(toolbox):
    found = ask(toolbox, "search_in_graph", query="yellow", node_types=["diseases"])
    assert found.nodes == ("d1",)
    assert "'diseases' is read as 'Disease'" in found.text


def test_a_type_that_is_like_none_lists_the_valid_ones(toolbox):
    found = ask(toolbox, "search_in_graph", query="yellow", node_types=["Shop"])
    assert found.error == "UnknownType"
    assert all(name in found.text for name in ("Compound", "Disease", "Film", "Gene", "Symptom"))


def test_ties_go_to_the_smaller_id(make):
    toolbox = Toolbox.full(make([Node(one, text="same words") for one in "cab"]))
    assert ask(toolbox, "search_in_graph", query="same").nodes == ("a", "b", "c")


def test_scores_are_not_shown(toolbox):
    assert "core" not in ask(toolbox, "search_in_graph", query="yellow skin").text


@pytest.mark.parametrize(
    "query", ["a / b / c", "TNF/NFkB", "C\\D", "field~2", 'x AND (y OR "z', "+-^:*?[]{}", "name:x", "\x00"]
)
def test_no_character_of_a_query_has_a_meaning(make, query):
    words = [Node("all", text="a b c tnf nfkb c d field 2 x y z name AND OR"), Node("other", text="q")]
    found = ask(Toolbox.full(make(words)), "search_in_graph", query=query)
    assert found.error is None
    assert found.nodes == (("all",) if any(letter.isalnum() for letter in query) else ())


SHARED = {}


@pytest.fixture(scope="module", autouse=True)
def _share(graph):
    SHARED["graph"] = graph
    yield
    SHARED.clear()


@given(st.text(max_size=40))
def test_any_query_is_legal(query):
    assert ask(Toolbox.full(SHARED["graph"]), "search_in_graph", query=query).error is None


@given(st.text(max_size=40))
def test_words_never_empty_a_neighbourhood(query):
    found = ask(Toolbox.full(SHARED["graph"]), "search_in_neighborhood", node="Malaria", query=query)
    assert set(found.nodes) == {"c1", "c3", "g2", "s1", "s2"}


def test_the_order_of_the_papers_tool_is_bm25s(make):
    random = np.random.default_rng(1)
    texts = [list(random.choice(["ash", "elm", "oak", "fir"], int(random.integers(1, 12)))) for _ in range(40)]
    nodes = [Node(f"n{at:02}", name=f"n{at:02}", text=" ".join(text)) for at, text in enumerate(texts)]
    toolbox = open_plain(make(nodes), "lexical")
    terms = [[*toolbox.session.graph.arrays.tokenizer.terms(f"n{at:02}"), *text] for at, text in enumerate(texts)]
    mean = sum(map(len, terms)) / len(terms)
    scores = {}
    for at, text in enumerate(terms):
        for word in ("oak", "fir"):
            having = sum(word in other for other in terms)
            count = text.count(word)
            idf = math.log(1 + (40 - having + 0.5) / (having + 0.5))
            part = idf * count / (count + 1.2 * (0.25 + 0.75 * len(text) / mean))
            scores[f"n{at:02}"] = scores.get(f"n{at:02}", 0) + part
    expected = sorted((one for one in scores if scores[one]), key=lambda one: (-scores[one], one))[:10]
    assert list(ask(toolbox, "search_in_graph", query="oak fir", size=10).nodes) == expected


def test_nodes_with_all_words_come_before_those_with_some(make):
    nodes = [Node(f"a{at}", "T", "alpha alpha alpha") for at in range(9)]
    both = Node("z", "T", "alpha beta " + "filler " * 400)
    nodes += [Node(f"b{at}", "T", "beta beta beta") for at in range(9)]
    nodes += [Node(f"c{at}", "T", "gamma") for at in range(20)]
    toolbox = Toolbox.full(make([*nodes, both]))
    assert ask(toolbox, "search_in_graph", query="alpha beta", k=3).nodes[0] == "z"
    assert ask(toolbox, "search_in_graph", query="alpha beta nothere", k=3).nodes
