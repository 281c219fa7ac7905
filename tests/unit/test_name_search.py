"""A search puts what its words name first, then names that begin with them or hold them, then phrases in texts."""

import re

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st

from clinic import ask
from orienteer.graph import NameRank, NameSearch, quoted_phrases
from orienteer.llm import Allowance
from orienteer.methods import Bm25
from orienteer.records import Hit, Node, Question
from orienteer.serve import WordSearch
from orienteer.tools import Toolbox

pytestmark = pytest.mark.slow

FILLER = [Node(f"z{at}", "page", f"Page {at}", f"gimp gimp gimp {'brush ' * (at % 5)} 1 19 kinase") for at in range(60)]
BLANK = [Node(f"y{at:03}", "blank", f"Blank {at}", "of nothing") for at in range(150)]
NODES = [
    Node("n-gimp", "package", "GIMP", "an editor of pictures with a very long description " + "of many words " * 40),
    Node("n-data", "package", "gimp-data", "files"),
    Node("n-help", "package", "help for gimp", "files"),
    Node("n-print", "package", "gutenprint", "prints", aliases=("gimp",)),
    Node("n-rr", "brewery", "Russian River Brewing Company", "in Santa Rosa"),
    Node("n-blind", "beer", "Blind Pig", "brewed beside the Russian River"),
    Node("n-far", "beer", "Far", "a river that no Russian saw"),
    Node("n-jak1", "gene", "JAK1", "Janus kinase 1"),
    Node("n-jak2", "gene", "JAK2", "kin of jak 2 and 1"),
    Node("n-path", "pathway", "JAK signalling", "of jak"),
    Node("n-il6", "gene", "IL6", "interleukin"),
    Node("n-covid", "disease", "COVID-19", "of 2019"),
    Node("n-virus", "page", "A page", "patients with covid-19 recovered"),
    Node("n-19", "page", "Nineteen", "19 19 19"),
    Node("n-cpp", "language", "C++", "compiled"),
    Node("n-c", "language", "C", "compiled"),
    Node("n-dogs", "animal", "Dogs", "bark"),
    Node("n-dogfood", "food", "dog food", "is eaten"),
    *FILLER,
    *BLANK,
]


@pytest.fixture(scope="module")
def graph(build):
    return build(NODES)


def ids(graph, query, k=10, **filters):
    return [hit.id for hit in WordSearch(graph).retrieve(Question(text=query, k=k, **filters), Allowance()).hits]


def test_names_and_aliases_come_first_then_beginnings_then_parts(graph):
    assert ids(graph, "gimp", 4) == ["n-gimp", "n-print", "n-data", "n-help"]
    hits = WordSearch(graph).retrieve(Question(text="gimp", k=6), Allowance()).hits
    shown = [hit.why.partition(";")[0] for hit in hits]
    assert shown == ["its name", "another name of it", "its name begins so", "in its name", "has gimp", "has gimp"]
    scores = [hit.score for hit in hits]
    assert scores == sorted(scores, reverse=True)
    assert len(set(scores[:5])) == 5


def test_ids_punctuation_and_stems(graph):
    assert ids(graph, "n-jak1")[0] == "n-jak1"
    assert ids(graph, "C++")[:2] == ["n-cpp", "n-c"]
    assert ids(graph, "dog", 2) == ["n-dogs", "n-dogfood"]


def test_a_phrase_counts_in_names_then_in_texts(graph):
    assert ids(graph, "russian river") == ["n-rr", "n-blind", "n-far"]
    assert ids(graph, 'beer "russian river"')[:2] == ["n-rr", "n-blind"]
    assert ids(graph, "is the Blind Pig a good beer?")[0] == "n-blind"
    assert quoted_phrases('a "b c" and “d”') == ["b c", "d"]
    assert quoted_phrases('an open "quote') == ['an open "quote']


def test_a_word_of_letters_and_digits_is_one_term(graph):
    assert ids(graph, "JAK1") == ["n-jak1", "n-jak2"]  # jak and 1 are both in the second; 60 pages have a 1
    assert ids(graph, "COVID-19") == ["n-covid", "n-virus"]
    assert ids(graph, "covid 19", 2) == ["n-covid", "n-virus"]
    assert ids(graph, "JAK-1")[0] == ids(graph, "jak 1")[0] == "n-jak1"
    assert ids(graph, "IL-6") == ["n-il6"]
    assert ids(graph, "TNF-19") == []
    [hit] = [
        hit
        for hit in WordSearch(graph).retrieve(Question(text="kinase JAK1", k=99), Allowance()).hits
        if hit.id == "z0"
    ]  # fmt: skip
    assert hit.why == "has kinase; lacks jak1"


def test_filters_hold_for_names_too(graph):
    assert ids(graph, "gimp", node_types=("page",), k=2) == ["z0", "z10"]
    assert ids(graph, "JAK1", node_types=("brewery",)) == []


def test_the_tool_of_agents_ranks_so_and_the_papers_does_not(graph):
    toolbox = Toolbox.full(graph)
    assert ask(toolbox, "search_in_graph", query="gimp", k=3).nodes == ("n-gimp", "n-print", "n-data")
    assert ask(toolbox, "search_in_graph", query="JAK1").nodes == ("n-jak1",)  # the other has jak and 1 apart
    ask(toolbox, "search_in_graph", query="brush", k=5)
    assert ask(toolbox, "search_in_graph", query="JAK1", among="@3").nodes == ()
    plain = Toolbox.full(graph, names_first=False)
    assert ask(plain, "search_in_graph", query="gimp", k=1).nodes != ("n-gimp",)
    assert Bm25(graph).retrieve(Question(text="gimp", k=1), Allowance()).hits[0].id != "n-gimp"


QUERIES = ("gimp", "n-jak1", "C++", "dog", "russian river", 'beer "russian river"', "JAK1", "covid 19", "of", "", "?!")


@pytest.mark.parametrize("query", QUERIES)
def test_python_the_command_and_the_tool_have_one_order_of_what_is_named(graph, query):
    hits = graph.search(query, 10)
    assert [hit.id for hit in hits] == ids(graph, query, 10)
    assert [hit.score for hit in hits] == sorted((hit.score for hit in hits), reverse=True)
    named = [graph.arrays.ids[match.row] for match in NameSearch(graph.arrays).matches(query)][:10]
    assert [hit.id for hit in hits][: len(named)] == named
    if query:
        assert list(ask(Toolbox.full(graph), "search_in_graph", query=query, k=10).nodes)[: len(named)] == named


def test_python_finds_what_a_name_an_alias_and_an_id_are_and_then_words(graph):
    found = {query: [hit.id for hit in graph.search(query, 3)] for query in ("GIMP", "n-jak1", "russian river")}
    assert found == {
        "GIMP": ["n-gimp", "n-print", "n-data"],
        "n-jak1": ["n-jak1"],
        "russian river": ["n-rr", "n-blind", "n-far"],
    }
    assert [hit.id for hit in graph.search("gimp", 2, node_types=["page"])] == ["z0", "z10"]
    by_words = Bm25(graph).retrieve(Question(text="brush", k=9), Allowance()).hits
    assert graph.search("brush", 9) == tuple(Hit(hit.id, hit.score) for hit in by_words)
    assert graph.search("gimp", 0) == graph.search("zebra") == ()


WORDS = ["ash", "elm", "oak", "fir", "jak1", "ash-2"]
TEXTS = st.lists(st.sampled_from(WORDS), max_size=5).map(" ".join)


@settings(max_examples=30, deadline=None)
@given(names=st.lists(TEXTS, min_size=1, max_size=8), texts=st.lists(TEXTS, min_size=8, max_size=8), query=TEXTS)
def test_ranks_are_those_of_a_brute_force(build, names, texts, query):
    graph = build([Node(f"n{at}", name=name or "?", text=texts[at]) for at, name in enumerate(names)])
    matches = {match.row: match.rank for match in NameSearch(graph.arrays).matches(query)}
    wanted = re.findall("[a-z0-9]+", query)
    for row, name in enumerate(names):
        own, text = (re.findall("[a-z0-9]+", words) for words in (name, texts[row]))
        if not wanted:
            assert row not in matches
        elif own == wanted:
            assert matches[row] <= NameRank.NAME
        elif own[: len(wanted)] == wanted:
            assert matches[row] <= NameRank.BEGINS
        elif place(own, wanted) is not None:
            assert matches[row] <= NameRank.HOLDS
        elif set(wanted) <= set(own):
            assert matches[row] <= NameRank.SCATTERED
        elif len(wanted) > 1 and place(text, wanted) is not None:
            assert matches[row] <= NameRank.PHRASE
        else:
            assert matches.get(row) in (None, NameRank.NAMED, NameRank.NAME, NameRank.BEGINS, NameRank.HOLDS)


def place(words, wanted):
    places = [at for at in range(len(words)) if words[at : at + len(wanted)] == wanted]
    return places[0] if places else None


def test_many_candidates_are_read_in_blocks_of_their_own(build):
    random = np.random.default_rng(3)
    texts = [" ".join(random.choice(WORDS[:4], 6)) for _ in range(1500)]
    graph = build([Node(f"n{at:04}", name=f"n{at}", text=text) for at, text in enumerate(texts)])
    found = {match.row for match in NameSearch(graph.arrays).matches("oak fir ash") if match.rank is NameRank.PHRASE}
    assert found == {at for at, text in enumerate(texts) if "oak fir ash" in text}


# ------------------------------------------------------------------------------------------- values of properties

BREWERIES = [
    Node(f"y{at}", "brewery", f"Brewery {at}", properties={"country": "Belgium" if at < 7 else "Czech Republic"})
    for at in range(9)
]
OTHERS = [
    Node("b1", "beer", "Orval", "a beer from Belgium"),
    Node("b2", "beer", "Duvel", properties={"home_country": "belgium", "year": 1871, "tags": ["strong ale", "blond"]}),
    Node("b3", "beer", "Blond", "pale"),
]


@pytest.fixture(scope="module")
def beers(build):
    return build([*BREWERIES, *OTHERS, *BLANK])


def found(graph, query, k=20, **filters):
    return WordSearch(graph).retrieve(Question(text=query, k=k, **filters), Allowance())


def test_a_value_is_said_and_its_nodes_come_after_the_texts(beers):
    result = found(beers, "Belgium")
    assert [hit.id for hit in result.hits] == ["b1", *(f"y{at}" for at in range(7)), "b2"]
    assert [hit.why.partition(";")[0] for hit in result.hits[:2]] == ["has belgium", "country = Belgium"]
    command = f"orienteer list {beers.path} --where"
    assert result.notes == (
        f"no node has this name; it is the country of 7 breweries: {command} country=Belgium",
        f"no node has this name; it is the home country of 1 beer: {command} home_country=Belgium",
    )
    assert beers.list(where=["country=Belgium"]).total == 7
    scores = [hit.score for hit in result.hits]
    assert scores == sorted(scores, reverse=True)


def test_a_value_of_several_words_comes_before_texts_that_have_one_of_them(build):
    graph = build([*BREWERIES, Node("x", "page", "A republic", "of letters"), *BLANK])
    assert [hit.id for hit in found(graph, "czech republic").hits] == ["y7", "y8", "x"]
    assert "not in this graph" not in "".join(found(graph, "czech republic").notes)


def test_a_name_is_no_mere_value(beers):
    result = found(beers, "blond")
    assert [hit.id for hit in result.hits] == ["b3", "b2"]
    assert result.notes == ()


def test_values_inside_a_longer_query_are_hits_without_a_note(beers):
    result = found(beers, "breweries of the Czech Republic?")
    assert {"y7", "y8"} <= {hit.id for hit in result.hits}
    assert not any("name" in note for note in result.notes)
    assert [hit.id for hit in found(beers, "1871").hits] == ["b2"]


def test_values_keep_to_filters(beers):
    assert [hit.id for hit in found(beers, "Belgium", node_types=("beer",)).hits] == ["b1", "b2"]
    assert len(found(beers, "Belgium", k=3).hits) == 3


def test_agents_are_told_of_values_too(beers):
    toolbox = Toolbox.full(beers)
    reply = ask(toolbox, "search_in_graph", query="czech republic")
    assert reply.nodes == ("y7", "y8")
    assert "czech republic: it is the country of 2 breweries (where: country=czech republic)." in reply.text
    assert "Not in this graph" not in reply.text
    assert ask(toolbox, "search_in_graph", query="zebra").text.startswith("Not in this graph: zebra.")


# ---------------------------------------------------------------------------------------------- names of several nodes

SHARED = [
    Node("d1", "disease", "migraine", "a disease of the brain"),
    Node("s1", "side effect", "Migraine", "migraine migraine"),
    Node("s2", "side effect", "Migraine aggravated"),
    Node("c1", "compound", "Zolm", aliases=("anti-migraine",)),
    Node("g1", "gene", "TP", aliases=("migraine",)),
    Node("migraines", "page", "Migraines!"),
]
SAID = "3 nodes bear the name 'migraine': d1 (disease); g1 (gene); s1 (side effect)"


@pytest.fixture(scope="module")
def shared(build):
    return build([*SHARED, *BLANK])


def test_a_name_of_several_nodes_is_said_with_all_of_them_and_case_decides_their_order(shared):
    result = found(shared, "migraine")
    assert [hit.id for hit in result.hits[:3]] == ["d1", "s1", "g1"]
    assert result.notes == (SAID,)
    assert [hit.id for hit in found(shared, "Migraine").hits[:2]] == ["s1", "d1"]
    assert found(shared, "migraine", node_types=("side effect",)).notes == ()
    assert found(shared, "d1").notes == found(shared, "migraine aggravated").notes == ()
    assert [hit.id for hit in shared.search("Migraine", 2)] == ["s1", "d1"]


def test_agents_are_told_what_else_bears_a_name(shared):
    told = ask(Toolbox.full(shared), "search_in_neighborhood", node="migraine").text
    assert f"{SAID}. Read as d1; for another use its id" in told
    assert "bear the name" not in ask(Toolbox.full(shared), "search_in_neighborhood", node="d1").text


def test_many_nodes_of_one_name_are_counted(build):
    graph = build([Node(f"n{at:04}", "page", "Introduction") for at in range(1200)])
    (note,) = found(graph, "introduction", k=2).notes
    assert note.startswith("1,200 nodes bear the name 'introduction': n0000 (page); ")
    assert note.endswith("; and 1,192 more")
