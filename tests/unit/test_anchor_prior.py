"""Where names lead nowhere: edges in the stead of texts that cannot tell, nearness in meaning, words had at all."""

import math

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st

from fakes.embedder import WordEmbedder
from orienteer import Edge, Graph, Node, Question, give_vectors
from orienteer.errors import BadOption
from orienteer.graph import embed_graph
from orienteer.llm import Allowance
from orienteer.methods import Anchor
from orienteer.reading import AnchorConfig

pytestmark = pytest.mark.slow

HARBOURS = [Node(f"h{at}", "harbour", name) for at, name in enumerate(("Arne", "Bree", "Colm", "Dorn", "Esk"))]
SHIPS = [
    Node("s0", "ship", "Gannet", "a trawler that was rebuilt with a steam winch"),
    Node("s1", "ship", "Plover", "a yawl that carries slate and timber"),
    Node("s2", "ship", "Dipper", "a trawler that carries herring"),
]
CALLS = [("s0", "h3"), ("s1", "h3"), ("s2", "h3"), ("s0", "h1"), ("s1", "h1"), ("s0", "h2")]
EDGES = [Edge(ship, "calls at", harbour) for ship, harbour in CALLS]
"""h3 has three edges, h1 two, h2 one, h0 and h4 none; s0 has three, s1 two, s2 one."""
SAYS = "no text of type {} says much of this: those with more edges rank higher"


@pytest.fixture(scope="module")
def coast(build):
    return build(HARBOURS + SHIPS, EDGES)


def ask(graph, text, **options):
    return Anchor(graph, AnchorConfig(**options)).retrieve(Question(text=text), Allowance())


def ids(result):
    return [hit.id for hit in result.hits]


def test_where_no_text_of_the_kind_tells_its_best_connected_come_first_and_that_is_said(coast):
    result = ask(coast, "Which harbours shelter zeppelins carrying herring?")
    assert ids(result)[:3] == ["h3", "h1", "h2"]
    assert SAYS.format("harbour") in result.notes
    assert result.hits[0].why.endswith("has 3 edges")
    assert result.hits[2].why.endswith("has 1 edge")


def test_where_a_text_of_the_kind_tells_edges_have_no_say(coast):
    result = ask(coast, "Which ships carry herring caught by zeppelins?")
    assert ids(result)[0] == "s2", "the one with the fewest edges"
    assert not any("more edges" in note for note in result.notes)
    assert " edge" not in result.hits[0].why


def test_where_a_name_leads_to_the_kind_edges_have_no_say(coast):
    result = ask(coast, "Which harbours does the Gannet call at?")
    assert set(ids(result)[:3]) == {"h1", "h2", "h3"}
    assert not any("more edges" in note for note in result.notes)


def test_a_name_that_leads_there_beside_one_that_is_not_in_the_graph_leaves_edges_half_a_say(coast):
    result = ask(coast, "Which harbours do the Gannet and the Zeppelin call at?")
    assert ids(result)[:3] == ["h3", "h1", "h2"], "what the name leads to, the best connected first"
    assert SAYS.format("harbour") in result.notes


def test_without_the_prior_words_alone_rank(coast):
    result = ask(coast, "Which harbours shelter zeppelins carrying herring?", prior_weight=0)
    assert ids(result)[0] == "s2"
    assert not any("more edges" in note for note in result.notes)


def test_the_prior_heeds_filters(coast):
    found = Anchor(coast).retrieve(Question(text="What shelters zeppelins?", node_types=("harbour",), k=2), Allowance())
    assert ids(found) == ["h3", "h1"]


def test_a_collection_without_edges_is_ranked_by_its_words(build):
    graph = build([Node("a", "note", "Salt"), Node("b", "note", "Ferry"), Node("c", "note", "Rope")])
    found = Anchor(graph).retrieve(Question(text="zeppelins and a ferry", node_types=("note",)), Allowance())
    assert ids(found)[0] == "b"


def test_words_of_asking_are_no_content(coast):
    """Whether a graph's texts have the word "list" or not says nothing of what they tell."""
    question = "{} harbours that the Gannet calls at"
    listed, found = (ask(coast, question.format(verb)) for verb in ("List", "Find"))
    assert ids(listed) == ids(found)
    assert not any("more edges" in note for note in (*listed.notes, *found.notes))


WORDS = ("slate", "timber", "herring", "winch", "kelp", "mast")


@settings(max_examples=25)  # each makes a graph
@given(
    st.lists(st.sets(st.sampled_from(WORDS)), min_size=1, max_size=6), st.sets(st.sampled_from((*WORDS, "zeppelin")))
)
def test_dullness_is_the_share_that_the_best_text_lacks_of_a_fifth(tmp_path_factory, texts, asked):
    nodes = [Node(f"n{at}", "ship", f"S{at}", " ".join(sorted(words))) for at, words in enumerate(texts)]
    nodes.append(Node("h", "harbour", "Arne", " ".join(WORDS[:3])))
    graph = Graph.from_records(nodes, [Edge("n0", "calls at", "h")], path=tmp_path_factory.mktemp("g") / "graph")
    method = Anchor(graph)
    finding = method.find(Question(text=f"Which ships have {' '.join(sorted(asked))}?"))
    held = [set(words) for words in (*texts, WORDS[:3])]
    counts = {word: sum(word in words for words in held) for word in asked}

    def idf(word):
        count = counts[word]
        return math.log1p((len(nodes) - count + 0.5) / (count + 0.5)) if count else math.log1p(len(nodes))

    whole = sum(map(idf, asked))
    best = max(sum(idf(word) for word in asked & words) for words in texts)
    expected = max(0.0, 1 - best / whole / 0.2) if whole else 0.0
    assert method._prior.dullness(finding) == pytest.approx(expected)


# -------------------------------------------------------------------------------------------------------- with vectors


@pytest.fixture(scope="module")
def near(scratch):
    """Give the same coast with vectors, and two ships of whose texts only the vectors can tell which is meant."""
    ships = [Node("s8", "ship", "Puffin", "zulu mike"), Node("s9", "ship", "Curlew", "zulu kilo")]
    graph = Graph.from_records(HARBOURS + SHIPS + ships, EDGES, path=scratch())
    embed_graph(graph, _Synonyms(dimension=512), cache=scratch())
    return Graph.open(graph.path, embedder=lambda name: _Synonyms(dimension=512))


class _Synonyms(WordEmbedder):
    """It has one direction for `kilo` and for `lantern`, a word that no text has."""

    def _direction(self, word):
        return super()._direction("kilo" if word == "lantern" else word)


def test_meaning_finds_what_is_said_in_other_words(near):
    result = ask(near, "Which ship has a zulu lantern?")
    assert ids(result)[0] == "s9"
    assert "cosine 0." in result.hits[0].why
    without = ask(near, "Which ship has a zulu lantern?", meaning_weight=0)
    assert ids(without)[0] == "s8", "of equal words the smaller id comes first"
    assert "cosine" not in "".join(hit.why for hit in without.hits)


def test_meaning_brings_in_nodes_of_the_kind_alone(near):
    assert ask(near, "lantern").hits == (), "what is merely near is no answer"


def test_what_a_name_leads_to_stays_before_what_is_near(near):
    assert set(ids(ask(near, "Which harbours does the Gannet call at?"))[:3]) == {"h1", "h2", "h3"}


def test_vectors_without_their_embedder_are_left_out_and_that_is_said(build):
    graph = build(HARBOURS + SHIPS, EDGES)
    question = "Which ships carry herring?"
    before = ask(graph, question)
    give_vectors(graph, [node.id for node in SHIPS], np.eye(3), embedder=None)
    after = ask(Graph.open(graph.path), question)
    assert ids(after) == ids(before)
    assert after.notes == (
        *before.notes,
        "not ranked by meaning: the graph's vectors were given without an embedder: search it by words",
    )


@pytest.mark.parametrize("name", ["prior_weight", "meaning_weight"])
def test_weights_below_zero_are_refused(name):
    with pytest.raises(BadOption, match=name):
        AnchorConfig(**{name: -1})
