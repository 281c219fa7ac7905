"""FocusedR, also called AF-Retriever: SAGE (004), appendix C.2; reading Cypher, widening, two lists."""

import itertools
import json

import pytest
from hypothesis import given, strategies as st

from fakes.limits import limits_in
from orienteer.errors import BadQuery
from orienteer.lab.baselines import (
    FocusedR,
    FocusedRConfig,
    Triplet,
    TripletSymbol,
    grounding_widths,
    read_cypher_pattern,
)
from orienteer.lab.evaluation import work_of
from orienteer.llm import Allowance, ScriptedModel
from orienteer.records import Edge, Node, Question


@pytest.fixture(scope="module")
def library(build):
    """Give three authors called Smith, of whom only the last in the order of search has written on tides."""
    nodes = [
        Node("a1", "author", "J. Smith", "Smith"),
        Node("a2", "author", "K. Smith", "Smith and other words"),
        Node("a3", "author", "L. Smith", "Smith and a good many other words beside"),
        *(
            Node(
                f"p{at:02}",
                "paper",
                f"Paper {at}",
                "on tides" if at % 2 else "on dunes",
                properties={"year": 2000 + at},
            )
            for at in range(30)
        ),
        Node("t", "topic", "tides", "tides of the sea"),
    ]
    edges = [Edge("a3", "wrote", f"p{at:02}") for at in range(30)]
    edges += [Edge(f"p{at:02}", "is about", "t") for at in range(1, 30, 2)]
    return build(nodes, edges)


def model(query, order=None):
    def policy(messages, tools, sampling):
        return json.dumps({"ids": order or []}) if "Documents:" in messages[1].content else query

    return ScriptedModel(policy)


def ask(graph, query, *, order=None, question="papers on tides", **options):
    limits = limits_in(options)
    options = {"rerank_first": order is not None, **options}
    method = FocusedR(graph, model(query, order), FocusedRConfig(**options))
    return method.retrieve(Question(text=question, **limits), Allowance(reserve=0))


def ids(result):
    return [hit.id for hit in result.hits]


def pattern(query):
    notes = []
    return read_cypher_pattern(query, notes), notes


# ------------------------------------------------------------------------------------------------ reading Cypher


def test_match_where_and_return_become_target_triplets_and_symbols():
    found, notes = pattern(
        'MATCH (a:author {name: "L. Smith"})-[:wrote]->(p:paper), (p)-[r:`is about`]->(t:topic) '
        "WHERE t.name = 'tides' AND p.year >= 2005 AND p.year < 2010.5 RETURN DISTINCT p"
    )
    assert found.target == "p"
    assert found.symbols == {
        "a": TripletSymbol(("author",), "L. Smith"),
        "p": TripletSymbol(("paper",), "", ("year >= 2005", "year < 2010.5")),
        "t": TripletSymbol(("topic",), "tides"),
    }
    assert found.triplets == (Triplet("a", ("wrote",), "p"), Triplet("p", ("is about",), "t"))
    assert notes == []


@pytest.mark.parametrize(
    ("edge", "expected"),
    [
        ("-[:e]->", Triplet("a", ("e",), "b")),
        ("<-[:e]-", Triplet("b", ("e",), "a")),
        ("-[:e]-", Triplet("a", ("e",), "b", is_directed=False)),
        ("<-[:e]->", Triplet("a", ("e",), "b", is_directed=False)),
        ("-->", Triplet("a", (), "b")),
        ("<--", Triplet("b", (), "a")),
        ("--", Triplet("a", (), "b", is_directed=False)),
        ("-[x:e|f]->", Triplet("a", ("e", "f"), "b")),
        ("-[x:e|:f]->", Triplet("a", ("e", "f"), "b")),
        ("-[]->", Triplet("a", (), "b")),
        ("-[x]->", Triplet("a", (), "b")),
        ("- [:e] ->", Triplet("a", ("e",), "b")),
    ],
)
def test_edges_in_every_spelling(edge, expected):
    assert pattern(f"MATCH (a){edge}(b) RETURN a")[0].triplets == (expected,)


def test_chains_paths_anonymous_nodes_and_code_blocks():
    found, _ = pattern("Sure:\n```cypher\nmatch p = (a:x)-[:e]->(:y)<-[:f]-(c) return c.name limit 5\n```\nThis works.")
    assert found.target == "c"
    assert found.symbols["a"].node_types == ("x",)
    middle = next(name for name, one in found.symbols.items() if one.node_types == ("y",))
    assert found.triplets == (Triplet("a", ("e",), middle), Triplet("c", ("f",), middle))


@pytest.mark.parametrize("name", ["_1", "_2", "`node 0`"])
def test_no_variable_is_taken_for_an_anonymous_node(name):
    found, _ = pattern(f"MATCH (:x)-[:e]->({name}:y)<-[:f]-(:z) RETURN {name}")
    assert [one.node_types for one in found.symbols.values()] == [("x",), ("y",), ("z",)]
    first, middle, last = found.symbols
    assert found.target == middle
    assert found.triplets == (Triplet(first, ("e",), middle), Triplet(last, ("f",), middle))


def test_escapes_quotes_and_marks_within_names():
    found, _ = pattern(r"""MATCH (a {name: "the \"Old\" (AND) Mill"}) WHERE a.alias = 'Crohn\'s, it is' RETURN a""")
    assert found.symbols["a"].text == 'the "Old" (AND) Mill'
    assert found.symbols["a"].where == ("alias = Crohn's, it is",)


def test_contains_on_a_name_is_a_search_for_it():
    assert pattern("MATCH (a) WHERE a.name CONTAINS 'mill' RETURN a")[0].symbols["a"].text == "mill"
    assert pattern("MATCH (a) WHERE a.name STARTS WITH 'mill' RETURN a")[0].symbols["a"].text == "mill"


@pytest.mark.parametrize(
    "rest",
    [
        "WHERE a.year = 1 OR a.year = 2 RETURN a",
        "WHERE NOT a.year = 1 RETURN a",
        "WHERE toLower(a.name) = 'x' RETURN a",
        "WHERE a.summary CONTAINS 'x' RETURN a",
        "WHERE q.year = 1 RETURN a",
        "WITH a RETURN a",
        "RETURN a ORDER BY a.year",
    ],
)
def test_what_is_not_understood_is_left_out_and_said(rest):
    found, notes = pattern(f"MATCH (a:x) {rest}")
    assert found.symbols == {"a": TripletSymbol(("x",))}
    assert any("left out" in note for note in notes)


def test_one_bad_condition_does_not_lose_the_others():
    found, notes = pattern("MATCH (a) WHERE a.x = 1 OR a.x = 2 AND a.year >= -3 RETURN a")
    assert found.symbols["a"].where == ("year >= -3",)
    assert len(notes) == 1


def test_steps_of_an_edge_are_left_out_and_said():
    found, notes = pattern("MATCH (a)-[:e*1..3]->(b) RETURN b")
    assert found.triplets == (Triplet("a", ("e",), "b"),)
    assert notes


def test_without_return_the_first_variable_is_the_target():
    found, notes = pattern('MATCH (a {name: "x"})-->(b)')
    assert found.target == "b"
    assert notes


@pytest.mark.parametrize(
    "query",
    [
        "",
        "no query",
        "RETURN 1",
        "MATCH",
        "MATCH (",
        "MATCH (a",
        "MATCH (a)-[:e",
        "MATCH (a)-[:e]->",
        "MATCH (a)-[:]->(b)",
        "MATCH (a {name: [1]})",
        "MATCH (a {name: 'x) RETURN a",
        "MATCH (a)~(b)",
        "MATCH " + ", ".join(f"(v{at})" for at in range(500)) + " RETURN v1",
    ],
)
def test_a_text_without_a_pattern_is_refused(query):
    with pytest.raises(BadQuery):
        read_cypher_pattern(query, [])


PIECES = [
    "MATCH (a:x)",
    "-[:e]->",
    "(b",
    ")",
    "{",
    "name:",
    '"x"',
    "WHERE",
    "a.y",
    ">=",
    "3",
    "AND",
    "OR",
    "RETURN",
    "a",
]
PIECES += ["<", "-", "[", "]", "*", "|", ",", "`", "'", "\\", ";", "$p", "\u0663", "\x00", "é", "=", "."]


@given(st.lists(st.sampled_from(PIECES), max_size=14).map(" ".join))
def test_any_text_is_a_pattern_or_refused(text):
    try:
        found = read_cypher_pattern("MATCH (a)" + text, [])
    except BadQuery:
        return
    assert found.target in found.symbols
    assert all({one.head, one.tail} <= set(found.symbols) for one in found.triplets)


# ----------------------------------------------------------------------------------------------------- widening


def test_the_widths_are_af_retrievers():
    assert list(grounding_widths(3)) == [1, 2, 3]
    assert list(grounding_widths(20)) == [1, 2, 3, 5, 8, 12, 18, 20]
    assert list(grounding_widths(1)) == [1]
    for one, other in itertools.pairwise(itertools.takewhile(lambda width: width < 50, grounding_widths(50))):
        assert other == int(1.5 * one + 0.5)


SMITH = 'MATCH (a:author {name: "Smith"})-[:wrote]->(p:paper) RETURN p'
SMITH_ON_TIDES = (
    'MATCH (a:author {name: "Smith"})-[:wrote]->(p:paper)-[:`is about`]->(t:topic {name: "tides"}) RETURN p'
)


def test_it_widens_until_there_are_enough(library):
    narrow = ask(library, SMITH, candidates=1, question="dunes")
    assert not any("wrote" in hit.why for hit in narrow.hits)
    wide = ask(library, SMITH, candidates=3, question="dunes")
    assert sum("<-wrote- L. Smith" in hit.why for hit in wide.hits) >= 13


def test_each_widening_grounds_anew_and_more_is_not_tried_than_needed(library):
    joins = [work_of(ask(library, SMITH, candidates=most).trajectories).set_joins for most in (1, 2, 3)]
    assert joins[0] < joins[1] < joins[2]
    topic = 'MATCH (p:paper)-[:`is about`]->(t:topic {name: "tides"}) RETURN p'
    once, twice = (work_of(ask(library, topic, candidates=3, enough=most).trajectories) for most in (15, 16))
    assert twice.set_joins == 3 * once.set_joins  # 15 papers are about tides


def test_a_retrieval_for_each_constant_and_one_for_the_free_list(library):
    assert work_of(ask(library, SMITH_ON_TIDES).trajectories).tools == {"search_in_graph": 3}


# --------------------------------------------------------------------------------------------- the two lists


def test_thirteen_grounded_then_seven_free(library):
    tides = 'MATCH (p:paper)-[:`is about`]->(t:topic {name: "tides"}) RETURN p'
    result = ask(library, tides, question="dunes")
    has_edge = ["is about" in hit.why for hit in result.hits]
    assert has_edge == [True] * 13 + [False] * 7
    assert len(result.hits) == 20
    assert all(hit.type == "paper" for hit in result.hits)
    assert [hit.why for hit in result.hits[13:]] == ["found by plain search"] * 7


def test_free_hits_fill_up_where_there_are_few_grounded_ones(library):
    few = 'MATCH (p:paper)-[:`is about`]->(t:topic {name: "tides"}) WHERE p.year >= 2025 RETURN p'
    result = ask(library, few, question="dunes")
    assert set(ids(result)[:3]) == {"p25", "p27", "p29"}
    assert len(result.hits) == 3 + 15  # all papers on dunes


@pytest.mark.parametrize(
    ("comparison", "years"),
    [(">=", {2027, 2028, 2029}), (">", {2028, 2029}), ("=", {2027}), ("<>", set(range(2000, 2030)) - {2027})],
)
def test_comparisons_mean_what_they_say(library, comparison, years):
    query = f"MATCH (a:author)-[:wrote]->(p:paper) WHERE p.year {comparison} 2027 RETURN p"
    result = ask(library, query, k=40, grounded=40, question="zebra")
    assert {library.node(one).properties["year"] for one in ids(result)} == years


def test_grounded_nodes_are_ordered_by_the_questions_words(library):
    result = ask(library, SMITH, question="tides")
    assert all(int(one[1:]) % 2 for one in ids(result)[:13])


def test_the_rerank_orders_the_first_twenty(library):
    before = ids(ask(library, SMITH))
    after = ask(library, SMITH, order=[before[19], "invented", before[3]])
    assert ids(after) == [before[19], before[3], *(one for one in before if one not in (before[19], before[3]))]
    assert after.usage.calls == 2


def test_the_prompt_shows_the_schema_and_five_names_of_each_type(library):
    seen = []

    def policy(messages, tools, sampling):
        seen.append(messages[1].content)
        return SMITH

    FocusedR(library, ScriptedModel(policy), FocusedRConfig(rerank_first=False)).retrieve(
        Question(text="?"), Allowance()
    )
    assert "author -wrote-> paper" in seen[0]
    samples = next(line for line in seen[0].splitlines() if line.startswith("paper: "))
    assert len(samples.split("; ")) == 5
    assert "author: J. Smith; K. Smith; L. Smith" in seen[0]


# --------------------------------------------------------------------------------------------- hostile output


@pytest.mark.parametrize(
    "query",
    [
        "",
        "I would look for papers.",
        "MATCH (a",
        "DROP DATABASE neo4j",
        "MATCH (n) DETACH DELETE n",
        "MATCH (x:galaxy)-[:orbits]->(y:star {name: 'Sol'}) RETURN x",
        "CALL db.labels()",
    ],
)
def test_a_query_that_cannot_be_used_leaves_plain_search(library, query):
    result = ask(library, query, question="papers on tides")
    assert len(result.hits) == 20
    assert result.stopped_by == "finish"
    assert result.notes


def test_a_pattern_that_nothing_fits_is_said(library):
    never = 'MATCH (a:author {name: "J. Smith"})-[:wrote]->(p:paper) RETURN p'
    result = ask(library, never, candidates=1, question="papers on tides")
    assert "no node fits the whole pattern" in result.notes
    assert {hit.why for hit in result.hits} == {"found by plain search"}


def test_nothing_is_executed(library):
    before = library.arrays.manifest
    ask(library, "MATCH (n:paper) DETACH DELETE n RETURN n")
    assert library.arrays.manifest == before
    assert "p00" in library


def test_filters_keep_answers(library):
    result = ask(library, SMITH, where=("year >= 2020",))
    assert result.hits
    assert all(library.node(one).properties["year"] >= 2020 for one in ids(result))
