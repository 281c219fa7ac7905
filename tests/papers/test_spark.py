"""SPARK (paper 004, section 2.2.A, appendix H, table 4): one planned call, checked, run, and a fallback."""

import json
import math
import re

import pytest
from hypothesis import HealthCheck, given, settings, strategies as st

from fakes import Answer, FakeServer
from fakes.embedder import embedded
from fakes.inside import inside
from fakes.limits import limits_in
from orienteer.errors import BadOption, ModelError
from orienteer.graph import EdgeBatch, Graph, GraphBuilder
from orienteer.ingest import demo_records
from orienteer.lab.replay import replay as replay_trajectory
from orienteer.llm import Allowance, Budget, OpenAIConfig, OpenAIModel, ScriptedModel, prompt_of
from orienteer.methods import (
    AGGREGATES,
    COMPARISONS,
    PLAN_KINDS,
    PLAN_SCHEMA,
    Spark,
    SparkConfig,
    before_jump,
    check_plan,
    examples_of,
    property_uses,
)
from orienteer.records import Edge, Node, Question
from orienteer.retriever import Retriever
from orienteer.settings import Settings

QUESTION = "Who worked at both Bell Labs and Google?"
BOTH = [
    {"op": "lexical_search", "query": "Bell Labs", "node_types": ["organization"], "k": 1, "into": "labs"},
    {"op": "match", "start": "labs", "edge_types": ["worked_at"], "node_types": ["person"], "into": "first"},
    {"op": "match", "start": "Google", "edge_types": ["worked_at"], "node_types": ["person"], "into": "second"},
    {"op": "intersect", "of": ["first", "second"], "into": "both"},
]
PAPERS = [
    {"op": "vector_search", "query": "Bell Labs", "node_types": ["organization"], "k": 1, "into": "labs"},
    {
        "op": "cypher",
        "query": "MATCH (o:organization)<-[:worked_at]-(p:person)-[:worked_at]->(:organization {name: 'Google'}) "
        "WHERE o.id IN $labs RETURN DISTINCT p",
        "into": "both",
    },
]
"""The same in the paper's steps."""


@pytest.fixture(scope="module")
def graph(build):
    return build(*demo_records())


@pytest.fixture(scope="module")
def shop(build):
    """Products with prices and dates as catalogues write them, and reviews of them."""
    nodes = [
        Node("p1", "Product", "Red knife", "a knife", properties={"price": "$11.80", "on": "2016-02-11", "ok": True}),
        Node("p2", "Product", "Blue knife", "a knife", properties={"price": "$1,299.00", "on": "2017-05-01"}),
        Node("p3", "Product", "Green knife", "a knife", properties={"price": "EUR 20", "tags": ["Steel", "wood"]}),
        Node("p4", "Product", "Old knife", "a knife with no price", properties={"on": "2015-12-31"}),
        *(Node(f"r{at}", "Review", f"Review {at}", properties={"stars": stars}) for at, stars in enumerate([5, 4, 1])),
    ]
    edges = [Edge("p1", "has_review", "r0"), Edge("p1", "has_review", "r1"), Edge("p2", "has_review", "r2")]
    return build(nodes, edges)


def replies(*plans):
    """Return a policy that gives these replies in turn; a list is a plan's steps, answered by the last of them."""
    given = iter(plans)

    def policy(messages, tools, sampling):
        plan = next(given)
        if isinstance(plan, list):
            plan = {"steps": plan, "answer": plan[-1]["into"]}
        return plan if isinstance(plan, str) else json.dumps(plan)

    return policy


def ask(graph, *plans, question=QUESTION, run=None, **options):
    limits = limits_in(options)
    options = {"cypher": bool(options.get("faithful")), "fill": False, **options}
    spark = Spark(graph, ScriptedModel(replies(*plans)), SparkConfig(**options))
    return spark.retrieve(Question(text=question, **limits), run or Allowance(random_seed=7))


def ids(result):
    return [hit.id for hit in result.hits]


def marks(result):
    return set(result.trajectories[0].marks)


def found(graph, steps, **options):
    result = ask(graph, steps, **options)
    assert "fallback" not in marks(result), result.notes
    return ids(result)


def faults(graph, steps, answer=None):
    return check_plan(graph, {"steps": steps, "answer": answer or steps[-1]["into"]}).faults


def fallback(graph, question=QUESTION):
    return ids(ask(graph, "no plan", "no plan", question=question))


def around(graph, node, edge_type, node_type):
    """Return the neighbours as the records have them: nothing of ours is asked."""
    edges = [edge for edge in demo_records()[1] if edge.type == edge_type]
    ends = {edge.source for edge in edges if edge.target == node} | {
        edge.target for edge in edges if edge.source == node
    }
    return {end for end in ends if graph.node(end).type == node_type}


def prompt(graph, question=QUESTION, **options):
    """Return what the model is shown."""
    seen = []

    def policy(messages, tools, sampling):
        seen.append("\n---\n".join(message.content for message in messages))
        return "no plan"

    config = SparkConfig(**{"cypher": bool(options.get("faithful")), "faithful": False, **options})
    Spark(graph, ScriptedModel(policy), config).retrieve(Question(id="gold", text=question), Allowance())
    return seen[0]


# ---------------------------------------------------------------------------------------------------- one call


def test_a_plan_is_one_call_and_its_answer_the_result(graph):
    result = ask(graph, BOTH)
    assert result.usage.calls == 1
    labs, google = (around(graph, f"organization:{one}", "worked_at", "person") for one in ("bell-labs", "google"))
    assert set(ids(result)) == labs & google
    assert len(labs & google) > 1
    assert all("match worked_at" in hit.why for hit in result.hits)


@pytest.mark.parametrize(
    ("plans", "faithful", "calls"),
    [
        ([BOTH], False, 1),
        pytest.param([PAPERS], True, 1, marks=pytest.mark.process),
        (["no plan", BOTH], False, 2),
        (["no plan", "nor this"], False, 2),
        pytest.param(["no plan"], True, 1, marks=pytest.mark.process),
        ([[{"op": "match", "start": "nobody", "into": "a"}], BOTH], False, 2),
        ([[{"op": "match", "start": "nobody", "into": "a"}]] * 2, False, 2),
        pytest.param([[{"op": "match", "start": "nobody", "into": "a"}]], True, 1, marks=pytest.mark.process),
        ([[{"op": "lexical_search", "query": "xyzzyplugh", "into": "a"}]], False, 1),  # valid, and gives nothing
        pytest.param(
            [[{"op": "cypher", "query": "MATCH (p:person) WHERE p.born < 3 RETURN p", "into": "a"}]],
            True,
            1,
            marks=pytest.mark.process,
        ),
    ],
)
def test_never_more_than_one_call_but_for_the_one_repair(graph, plans, faithful, calls):
    """Table 4: one call, one iteration; section 3.2: no loop. A further call would raise StopIteration here."""
    result = ask(graph, *plans, faithful=faithful)
    assert result.usage.calls == calls
    assert result.hits


def test_a_repair_is_told_what_is_wrong_and_what_is_near(graph):
    seen = []

    def policy(messages, tools, sampling):
        seen.append(messages[-1].content)
        wrong = [{**BOTH[0]}, {**BOTH[1], "edge_types": ["employs"]}]
        return json.dumps({"steps": BOTH, "answer": "both"} if len(seen) > 1 else {"steps": wrong, "answer": "first"})

    spark = Spark(graph, ScriptedModel(policy), SparkConfig(cypher=False))
    result = spark.retrieve(Question(text=QUESTION), Allowance())
    assert "step 2 (match)" in seen[1]
    assert "No edge type 'employs'" in seen[1]
    assert "worked_at" in seen[1]
    assert any("sent back once" in note for note in result.notes)
    assert "fallback" not in marks(result)


def test_a_spent_budget_leaves_the_fallback(graph):
    result = ask(graph, "no plan", run=Allowance(Budget(calls=1), reserve=0))
    assert (result.usage.calls, ids(result)) == (1, fallback(graph))


def test_a_model_that_fails_is_an_error_in_the_result(graph):
    def policy(messages, tools, sampling):
        raise ModelError("down")

    result = Spark(graph, ScriptedModel(policy), SparkConfig(cypher=False)).retrieve(Question(text="?"), Allowance())
    assert (result.stopped_by, result.hits) == ("error", ())


# ---------------------------------------------------------------------------------------------------- fallback


@pytest.mark.parametrize(
    "reply", ["", "I would search.", "[]", "null", "{}", '{"steps": []}', "{" * 5000, '{"a": NaN}']
)
def test_what_is_no_plan_is_answered_by_plain_search_and_said(graph, reply):
    result = ask(graph, reply, reply)
    assert ids(result) == [hit.id for hit in ask(graph, "", "").hits] != []
    assert marks(result) == {"plan", "fallback"}
    assert any("plain search" in note for note in result.notes)


@pytest.mark.slow
def test_the_fallback_is_hybrid_where_there_are_vectors(tmp_path):
    graph = embedded(Graph.from_records(*demo_records(), path=tmp_path / "graph"), tmp_path / "cache")
    result = ask(graph, "no plan", "no plan")
    assert result.trajectories[0].toolbox.options["mode"] == "hybrid"
    assert ids(result) == [hit.id for hit in graph.search(QUESTION, 20, mode="hybrid")]
    steps = [{"op": "vector_search", "query": "a language for children", "k": 5, "into": "a"}]
    near = ask(graph, steps)
    assert set(ids(near)) == {hit.id for hit in graph.search("a language for children", 5, mode="dense")}
    cut = ask(graph, [{**steps[0], "k": 100}], cut=True, k=100)
    assert 0 < len(cut.hits) <= 25
    with pytest.raises(BadOption, match="vectors"):
        Spark(Graph.from_records([Node("a")], []), ScriptedModel(replies()), SparkConfig(mode="dense"))


def test_a_wide_gap_cuts_a_search():
    assert before_jump([0.9, 0.89, 0.885, 0.5, 0.49]) == 3
    assert before_jump([0.9, 0.899, 0.898]) == 3  # no gap is wide
    assert before_jump([0.9]) == 1
    assert before_jump([]) == 0


# -------------------------------------------------------------------------------------------- ranking of answers


def test_an_answer_is_ranked_against_the_question(graph):
    steps = [{"op": "match", "start": "person", "edge_types": ["worked_at"], "into": "places"}]
    result = ask(graph, steps, question="Bell Labs in Murray Hill")
    assert result.hits[0].id == "organization:bell-labs"
    assert {hit.type for hit in result.hits} == {"organization"}
    assert len(result.hits) == 20  # those that the question says nothing of come too


@pytest.mark.parametrize("descending", [True, False])
def test_an_order_of_the_plan_is_kept_through_filter_intersect_and_limit(graph, descending):
    steps = [
        {"op": "order", "of": "language", "property": "year", "descending": descending, "into": "o"},
        {"op": "filter", "of": "o", "property": "typing", "comparison": "=", "value": "static", "into": "f"},
        {"op": "match", "start": "language", "edge_types": ["supports"], "node_types": ["paradigm"], "into": "p"},
        {"op": "match", "start": "p", "edge_types": ["supports"], "node_types": ["language"], "into": "l"},
        {"op": "intersect", "of": ["f", "l"], "into": "i"},
        {"op": "limit", "of": "i", "k": 6, "into": "answer"},
    ]
    result = ask(graph, steps)
    years = [graph.node(node).properties["year"] for node in ids(result)]
    static = [node for node in demo_records()[0] if node.properties.get("typing") == "static"]
    assert years == sorted((node.properties["year"] for node in static), reverse=descending)[:6]


@pytest.mark.process
def test_the_ranking_is_filled_up_behind_the_plans_answer(graph):
    filled, bare = ask(graph, BOTH, fill=True), ask(graph, BOTH)
    assert ids(filled)[: len(bare.hits)] == ids(bare)
    assert len(filled.hits) == 20
    assert ids(ask(graph, PAPERS, fill=True, faithful=True)) == ids(bare)
    assert [hit.complete for hit in filled.hits] == [place < len(bare.hits) for place in range(20)]


def test_filters_of_the_person_who_asks_hold(graph):
    result = ask(graph, BOTH, where=("born < 1943",), fill=True)
    assert result.hits
    assert all(graph.node(node).properties["born"] < 1943 for node in ids(result))


# ------------------------------------------------------------------------------------------------- each operation


def products(shop, comparison, value, name="price"):
    step = {"op": "filter", "of": "Product", "property": name, "comparison": comparison, "value": value, "into": "a"}
    result = ask(shop, [step], question="knife")
    return set() if "fallback" in marks(result) else set(ids(result))


@pytest.mark.parametrize(
    ("name", "comparison", "value", "expected"),
    [
        ("price", "<", 20, {"p1"}),
        ("price", "<=", "20", {"p1", "p3"}),
        ("price", ">", "$1,000", {"p2"}),
        ("price", "=", "$11.80", {"p1"}),
        ("price", "=", 20, {"p3"}),
        ("price", "!=", 20, {"p1", "p2"}),
        ("on", "=", 2016, {"p1"}),
        ("on", "=", "2016-02", {"p1"}),
        ("on", "<=", 2016, {"p1", "p4"}),
        ("on", ">", 2016, {"p2"}),
        ("on", ">", "2016-01-15", {"p1", "p2"}),
        ("ok", "=", True, {"p1"}),
        ("tags", "=", "steel", {"p3"}),
        ("tags", "contains", "WOO", {"p3"}),
        ("name", "contains", "blue", {"p2"}),
        ("text", "contains", "no price", {"p4"}),
        ("name", "=", "red knife", {"p1"}),
    ],
)
def test_filters_understand_numbers_dates_prices_lists_and_texts(shop, name, comparison, value, expected):
    assert products(shop, comparison, value, name) == expected


@pytest.mark.parametrize(
    ("order", "expected"),
    [
        ({"property": "price"}, ["p2", "p3", "p1", "p4"]),
        ({"property": "price", "descending": False}, ["p1", "p3", "p2", "p4"]),
        ({"property": "on"}, ["p2", "p1", "p4", "p3"]),
        ({"property": "name", "descending": False}, ["p2", "p3", "p4", "p1"]),
        ({"aggregate": "count", "edge_types": ["has_review"]}, ["p1", "p2", "p3", "p4"]),
        ({"aggregate": "mean", "property": "stars"}, ["p1", "p2", "p3", "p4"]),
        ({"aggregate": "mean", "property": "stars", "descending": False}, ["p2", "p1", "p3", "p4"]),
        ({"aggregate": "sum", "property": "stars"}, ["p1", "p2", "p3", "p4"]),
        ({"aggregate": "min", "property": "stars", "descending": False}, ["p2", "p1", "p3", "p4"]),
        ({"aggregate": "max", "property": "stars", "node_types": ["Review"]}, ["p1", "p2", "p3", "p4"]),
    ],
)
def test_orders_by_a_property_or_by_what_is_around(shop, order, expected):
    assert found(shop, [{"op": "order", "of": "Product", "into": "a", **order}]) == expected


def test_a_count_is_of_distinct_neighbours(build):
    nodes = [Node("a", "T", "a"), Node("b", "T", "b"), Node("x", "U", "x"), Node("y", "U", "y")]
    edges = [Edge("a", "e", "x")] * 3 + [Edge("b", "e", "x"), Edge("b", "e", "y")]
    assert found(build(nodes, edges), [{"op": "order", "of": "T", "aggregate": "count", "into": "o"}]) == ["b", "a"]


def test_a_match_takes_several_edge_types_at_once(graph):
    types = ["worked_at", "designed_by"]
    many = {"op": "match", "start": "Rob Pike", "edge_types": types, "into": "a"}
    pike = "person:rob-pike"
    expected = around(graph, pike, "worked_at", "organization") | around(graph, pike, "designed_by", "language")
    assert set(found(graph, [many])) == expected


def test_a_search_may_look_into_a_set(graph):
    steps = [*BOTH[:2], {"op": "lexical_search", "query": "chess", "of": "first", "k": 3, "into": "a"}]
    assert set(found(graph, steps)) <= around(graph, "organization:bell-labs", "worked_at", "person")


def test_all_nodes_of_a_name_are_begun_with(build):
    nodes = [
        Node("s1", "Film", "Salt"),
        Node("s2", "Place", "Salt"),
        Node("x", "Person", "X"),
        Node("y", "Person", "Y"),
    ]
    salt = build(nodes, [Edge("x", "knows", "s1"), Edge("y", "knows", "s2")])
    assert set(found(salt, [{"op": "match", "start": "Salt", "into": "a"}])) == {"x", "y"}


def test_what_the_answer_does_not_need_is_not_run(graph):
    steps = [*BOTH, {"op": "lexical_search", "query": "xyzzyplugh", "into": "unused"}]
    result = ask(graph, {"steps": steps, "answer": "both"})
    assert not any("xyzzyplugh" in step.model_dump_json() for step in result.trajectories[0].steps)


def worked_at(graph, place):
    return around(graph, f"organization:{place}", "worked_at", "person")


def at(place, into):
    return {"op": "match", "start": place, "edge_types": ["worked_at"], "node_types": ["person"], "into": into}


@pytest.mark.parametrize(
    ("op", "expected"),
    [("union", set.union), ("difference", set.difference), ("intersect", set.intersection)],
)
@pytest.mark.parametrize(("give", "kind"), [("nodes", None), ("count", "number"), ("exists", "boolean")])
def test_sets_are_united_taken_away_counted_and_asked_for(graph, op, expected, give, kind):
    steps = [at("Google", "g"), at("Bell Labs", "b"), {"op": op, "of": ["g", "b"], "into": "a"}]
    result = ask(graph, {"steps": steps, "answer": "a", "give": give})
    people = expected(worked_at(graph, "google"), worked_at(graph, "bell-labs"))
    assert set(ids(result)) == people != set()
    answer = {"nodes": None, "count": str(len(people)), "exists": "yes"}[give]
    assert (result.answer, result.answer_kind) == (answer, kind)
    assert "edges" in marks(result)


TOWNS = [Node("rhine", "river", "Rhine"), *(Node(f"t{at:03}", "town", f"Town {at}", "a town") for at in range(252))]


@pytest.fixture(scope="module")
def rhine(build):
    more = [Node(f"h{at:03}", "hill", f"Hill {at}", "a hill by the Rhine, near each town") for at in range(90)]
    return build(TOWNS + more, [Edge("rhine", "passes", f"t{at:03}") for at in range(252)])


def evidence_of(graph, steps, question="Which town does the Rhine pass?", k=100, **options):
    """Return the result of a plan and of the model's answer over its hits, and the evidence that it was shown."""
    seen = []

    def policy(messages, tools, sampling):
        if "You plan" in messages[0].content:
            return json.dumps({"steps": steps, "answer": steps[-1]["into"]})
        seen.append(messages[1].content)
        return "not in the evidence"

    options = {"cypher": False, **options}
    retriever = Retriever(graph, "spark", model=ScriptedModel(policy), settings=Settings(), **options)
    return retriever.ask(question, k), seen[0]


def by_rhine(**search):
    find = {"op": "lexical_search", "query": "Rhine", "node_types": ["river"], "k": 1, "into": "river", **search}
    return [find, {"op": "match", "start": "river", "edge_types": ["passes"], "node_types": ["town"], "into": "towns"}]


@pytest.mark.parametrize(("count", "k"), [(252, 100), (252, 10), (42, 100), (42, 20)])
def test_the_evidence_says_how_many_a_plan_found_and_never_how_many_are_listed(rhine, count, k):
    last = {"op": "filter", "of": "towns", "property": "name", "comparison": "!=", "value": "x", "into": "all"}
    named = {"op": "filter", "of": "towns", "property": "name", "comparison": "contains", "value": "4", "into": "all"}
    steps = [*by_rhine(), last if count == 252 else named]
    expected = 252 if count == 252 else sum("4" in node.name for node in TOWNS)
    result, shown = evidence_of(rhine, steps, k=k)
    assert result.total == expected
    assert [hit.complete for hit in result.hits] == [place < expected for place in range(k)]
    assert f"\n{expected} found in all, {min(20, k)} of them shown" in shown
    assert f"of {k}" not in shown


@pytest.mark.parametrize(
    "steps",
    [
        [{"op": "lexical_search", "query": "town", "node_types": ["town"], "k": 100, "into": "towns"}],
        by_rhine(k=3, node_types=[]),
        [*by_rhine(), {"op": "limit", "of": "towns", "k": 90, "into": "some"}],
    ],
    ids=["the best of a search", "what the best of a search lead to", "a limit without an order"],
)
def test_what_a_search_or_a_limit_has_cut_has_no_number(rhine, steps):
    result, shown = evidence_of(rhine, steps, question="Which towns?")
    assert result.total is None
    assert "found in all" not in shown
    assert "100" not in shown


def test_the_size_of_a_cut_set_is_no_answer_to_how_many(rhine):
    steps = [{"op": "lexical_search", "query": "town", "node_types": ["town"], "k": 100, "into": "towns"}]
    result = ask(rhine, {"steps": steps, "answer": "towns", "give": "count"})
    assert (result.answer, result.total, len(result.hits)) == (None, None, 20)
    assert any("its number is not told" in note for note in result.notes)
    whole = ask(rhine, {"steps": by_rhine(), "answer": "towns", "give": "count"})
    assert (whole.answer, whole.total) == ("252", 252)


def test_the_first_of_an_order_are_as_many_as_were_asked_for(rhine):
    first = [{"op": "order", "of": "towns", "property": "name", "into": "o"}, {"op": "limit", "of": "o", "k": 3}]
    first[-1]["into"] = "three"
    assert evidence_of(rhine, [*by_rhine(), *first])[0].total == 3


def test_the_number_is_of_what_the_question_allows(graph):
    result = ask(graph, [at("Bell Labs", "b")], where=("born >= 1943",))
    assert result.total == len(result.hits) < ask(graph, [at("Bell Labs", "b")]).total


@pytest.mark.process
@pytest.mark.parametrize("options", [{}, {"fill": True}])
def test_the_papers_course_counts_nothing(rhine, options):
    passed = "MATCH (:river {name: 'Rhine'})-[:passes]-(t:town) RETURN t"
    steps = [{"op": "cypher", "query": passed, "into": "towns"}]
    result, shown = evidence_of(rhine, steps, faithful=True, cypher=True, **options)
    assert (result.total, {hit.complete for hit in result.hits}) == (None, {False})
    assert "of 100" not in shown


@pytest.mark.process
def test_a_search_by_words_finds_all_of_just_the_name(build):
    """Of namesakes, and where longer texts have the words of the name more often."""
    nodes = [Node(f"r{at}", "river", "Po") for at in range(2)]
    nodes += [Node(f"x{at}", "river", f"Po Po {at}", "Po Po Po and Po") for at in range(30)]
    graph = build(nodes + [Node("t", "town", "Turin")], [Edge("r0", "passes", "t")])
    step = {"op": "lexical_search", "query": "Po", "node_types": ["river"], "k": 1, "into": "po"}
    assert set(found(graph, [step])) == {"r0", "r1"}
    assert set(found(graph, [{**step, "query": "po", "k": 5}])) > {"r0", "r1"}
    assert len(found(graph, [{**step, "op": "vector_search"}], faithful=True)) == 1


def test_the_prompt_teaches_union_difference_count_and_yes_or_no_by_examples(graph):
    text = prompt(graph).partition("Examples:")[2]
    assert all(word in text for word in ('"op": "union"', '"op": "difference"', '"give": "count"', '"give": "exists"'))
    bare = prompt(graph, samples=False).partition("Examples:")[2]
    assert '"op": "difference"' in bare


def test_none_and_no_are_answers(graph):
    nobody = [{"op": "filter", "of": "person", "property": "born", "comparison": ">", "value": 3000, "into": "n"}]
    for give, answer in (("count", "0"), ("exists", "no")):
        result = ask(graph, {"steps": nobody, "answer": "n", "give": give})
        assert (result.answer, result.hits, marks(result)) == (answer, (), set())
        assert ask(graph, {"steps": nobody, "answer": "n", "give": give}, fill=True).hits
    # What a search does not find may be there under another name: nobody can say.
    lost = [{"op": "lexical_search", "query": "xyzzyplugh", "into": "x"}, {"op": "match", "start": "x", "into": "n"}]
    result = ask(graph, {"steps": lost, "answer": "n", "give": "exists"})
    assert (result.answer, "fallback" in marks(result)) == (None, True)


def test_a_number_counts_what_the_question_allows(graph):
    plan = {"steps": [at("Bell Labs", "b")], "answer": "b", "give": "count"}
    young = [node for node in worked_at(graph, "bell-labs") if graph.node(node).properties.get("born", 0) >= 1943]
    assert ask(graph, plan, where=("born >= 1943",)).answer == str(len(young))


def test_nothing_to_take_away_leaves_the_first_set(graph):
    nobody = {"op": "filter", "of": "person", "property": "born", "comparison": ">", "value": 3000, "into": "n"}
    for op in ("union", "difference"):
        steps = [at("Google", "g"), nobody, {"op": op, "of": ["g", "n"], "into": "a"}]
        assert set(found(graph, steps)) == worked_at(graph, "google")


def test_every_hit_of_a_plan_has_its_proof(graph):
    steps = [*BOTH, {"op": "filter", "of": "both", "property": "born", "comparison": "<", "value": 1960, "into": "a"}]
    steps += [at("Bell Labs", "b"), {"op": "difference", "of": ["b", "a"], "into": "rest"}]
    for answer, places in (
        ("a", {"organization:bell-labs", "organization:google"}),
        ("rest", {"organization:bell-labs"}),
    ):
        result = ask(graph, {"steps": steps, "answer": answer})
        assert result.hits
        for hit in result.hits:
            assert {(edge.source, edge.type, edge.target) for edge in hit.edges} == {
                (hit.id, "worked_at", place) for place in places
            }
            assert {end.id for end in hit.ends} == places
            said = f"born: {graph.node(hit.id).properties['born']}" if answer == "a" else "not in a"
            assert said in hit.why
            assert "Bell Labs <-worked_at- " in hit.why


def test_a_plan_that_would_take_too_long_is_refused_by_its_budget(graph):
    result = ask(graph, [at("Google", "g")], seconds=1e-9)
    assert marks(result) == {"plan", "fallback"}
    assert any("the query took longer than 1e-09 s" in note for note in result.notes)


@pytest.mark.process
def test_the_papers_course_has_the_papers_steps_alone(graph):
    text = prompt(graph, faithful=True)
    assert re.findall(r"^- (\w+): \{", text, re.M) == ["vector_search", "cypher"]
    assert not any(word in text for word in ("intersect", "union", "difference", '"give"'))
    assert all(word in prompt(graph) for word in ("- union", "- difference", '"give": "count"'))
    steps = [at("Google", "g"), at("Bell Labs", "b"), {"op": "union", "of": ["g", "b"], "into": "a"}]
    for plan in (steps, {"steps": steps[:1], "answer": "g", "give": "count"}):
        result = ask(graph, plan, faithful=True)
        assert marks(result) == {"plan", "fallback"}
        assert result.answer is None


def test_a_search_in_a_set_of_the_plan_is_in_the_trail_and_passed_over_by_a_replay(graph):
    steps = [at("Bell Labs", "b"), {"op": "lexical_search", "query": "chess", "of": "b", "k": 3, "into": "a"}]
    trail = ask(graph, steps, fill=True).trajectories[0]
    assert len(trail.steps) == 3  # the search, the ranking of what it found, and plain search
    assert [one.is_equal for one in replay_trajectory(trail, graph)] == [True]


# -------------------------------------------------------------------------------------------- checked before it runs


@pytest.mark.parametrize(
    ("steps", "kind", "said"),
    [
        (
            [{"op": "match", "start": "later", "into": "a"}, {**BOTH[0], "into": "later"}],
            "plan", "'later' is not made before it",
        ),
        ([{"op": "limit", "of": "a", "k": 3, "into": "a"}], "plan", "'a' is not made before it"),
        ([{"op": "limit", "of": "persin", "k": 3, "into": "a"}], "semantic", "Near: person"),
        (
            [{"op": "limit", "of": "b", "k": 3, "into": "a"}, {"op": "limit", "of": "a", "k": 3, "into": "b"}],
            "plan",
            "'b' is not made before it",
        ),
        ([BOTH[0], BOTH[0]], "plan", "another name"),
        ([{**BOTH[0], "into": ""}], "plan", "into is missing"),
        ([{"op": "match", "into": "a"}], "plan", "start is missing"),
        ([{"op": "match", "start": "person", "k": 3, "into": "a"}], "plan", "k cannot stand here"),
        ([{"op": "intersect", "of": ["person"], "into": "a"}], "plan", "of"),
        ([{"op": "intersect", "of": "person", "into": "a"}], "plan", "list two sets"),
        ([{"op": "intersect", "of": ["person", "award"], "into": "a"}], "structure", "at once"),
        (
            [{"op": "filter", "of": ["person"], "property": "born", "comparison": "=", "value": 1, "into": "a"}],
            "plan", "of",
        ),
        ([{**BOTH[0], "node_types": ["zebra"]}], "structure", "No node type 'zebra'"),
        ([{"op": "match", "start": "person", "edge_types": ["eats"], "into": "a"}], "structure", "No edge type 'eats'"),
        (
            [{"op": "match", "start": "person", "edge_types": ["supports"], "into": "a"}],
            "structure",
            "person -worked_at-> organization",
        ),
        (
            [{"op": "filter", "of": "person", "property": "age", "comparison": "=", "value": 1, "into": "a"}],
            "constraint",
            "In this graph: year, typing, born",
        ),
        (
            [{"op": "filter", "of": "person", "property": "typing", "comparison": "=", "value": "x", "into": "a"}],
            "constraint",
            "no person has 'typing'; of language",
        ),
        (
            [{"op": "filter", "of": "person", "property": "born", "comparison": "<", "value": "long ago", "into": "a"}],
            "constraint",
            "'long ago' is no number, date or price",
        ),
        ([{"op": "order", "of": "person", "into": "a"}], "plan", "property"),
        ([{"op": "order", "of": "person", "aggregate": "mean", "into": "a"}], "plan", "needs a `property`"),
        (
            [{"op": "order", "of": "person", "property": "born", "edge_types": ["received"], "into": "a"}],
            "plan", "aggregate",
        ),
        ([{"op": "limit", "of": "person", "k": 0, "into": "a"}], "plan", "k"),
        ([{"op": "lexical_search", "query": "x", "of": "person", "into": "a"}], "plan", "give node_types"),
    ],
)  # fmt: skip
def test_what_cannot_be_is_refused_before_anything_runs(graph, steps, kind, said):
    [fault, *_] = faults(graph, steps)
    assert fault.kind == kind
    assert said in fault.text
    result = ask(graph, steps, steps)
    assert [step.reply.message.tool_calls[0].name for step in result.trajectories[0].steps] == ["search_in_graph"]
    assert {"fallback", kind} <= marks(result)


def test_an_answer_that_no_step_makes_is_refused_or_read_as_the_near_one(graph):
    [fault] = faults(graph, BOTH, "zzz")
    assert "labs, first, second, both" in fault.text
    assert ids(ask(graph, {"steps": BOTH, "answer": "Both"})) == ids(ask(graph, BOTH))


def test_near_forms_are_read_as_they_are_meant_and_said(graph):
    steps = [
        {"op": "match", "start": "Bell Labs", "edge_types": ["WORKED_AT"], "node_types": ["Persons"], "into": "a"},
        {"op": "filter", "of": "a", "property": "Born", "comparison": "<", "value": 1943, "into": "b"},
    ]
    result = ask(graph, steps)
    labs = around(graph, "organization:bell-labs", "worked_at", "person")
    assert set(ids(result)) == {node for node in labs if graph.node(node).properties.get("born", 9999) < 1943} != set()
    assert [note.partition(" is read as ")[2] for note in result.notes[:2]] == ["'person'", "'born'"]


def test_an_edge_against_its_direction_is_turned_and_said(graph):
    turned = ask(graph, [BOTH[0], {**BOTH[1], "direction": "out"}])
    assert set(ids(turned)) == around(graph, "organization:bell-labs", "worked_at", "person")
    assert any("walked the other way" in note for note in turned.notes)


def test_a_huge_k_is_bounded_and_said(graph):
    result = ask(graph, [{"op": "lexical_search", "query": "language", "k": 10**9, "into": "a"}])
    assert any("read as 100" in note for note in result.notes)
    assert len(json.loads(result.model_dump_json())["hits"]) <= 20


@pytest.mark.slow
def test_values_are_data_wherever_they_stand(graph):
    for value in ("' OR 1=1 --", "$question", "@1", "a\nb", '"}]}', "born >= 0", "\\", "\u202e", "x" * 10_000):
        steps = [
            {"op": "filter", "of": "person", "property": "name", "comparison": "=", "value": value, "into": "a"},
        ]
        result = ask(graph, steps)
        assert "semantic" in marks(result)
        assert ids(result) == fallback(graph)
        result = ask(graph, [{"op": "lexical_search", "query": value, "k": 3, "into": value[:60]}])
        assert result.stopped_by == "finish"


NAMES = st.sampled_from(["a", "b", "person", "Google", "Bell Labs", "C", "persom", "@1", "", "language", "x\ny"])
VALUES = st.sampled_from([1943, 0.5, True, "static", "2016-02-11", "$3", "", "nan", "1e999", "\x00", -(10**30)])
TYPES = st.lists(st.sampled_from(["person", "language", "worked_at", "designed_by", "Zebra", ""]), max_size=2)
PARTS = {
    "query": st.sampled_from(["Bell Labs", "", "xyzzyplugh", "\x00"]),
    "start": NAMES,
    "of": NAMES | st.lists(NAMES, max_size=3),
    "node_types": TYPES,
    "edge_types": TYPES,
    "direction": st.sampled_from(["out", "in", None]),
    "property": st.sampled_from(["born", "typing", "year", "name", "text", "borm", "zzz", ""]),
    "comparison": st.sampled_from(COMPARISONS),
    "value": VALUES,
    "aggregate": st.sampled_from(AGGREGATES),
    "descending": st.booleans(),
    "k": st.sampled_from([1, 5, 0, -3, 10**30]),
}


def parts_of(op, *, required):
    known = PLAN_KINDS[op].model_fields
    return {name: part for name, part in PARTS.items() if name in known and known[name].is_required() == required}


STEP = st.sampled_from([kind for kind in PLAN_KINDS if kind != "cypher"]).flatmap(
    lambda op: st.fixed_dictionaries(
        {"op": st.just(op), "into": st.sampled_from(["a", "b", "c", "d"])} | parts_of(op, required=True),
        optional=parts_of(op, required=False),
    )
)


@pytest.mark.slow
@settings(max_examples=50, suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None)
@given(steps=st.lists(STEP, min_size=1, max_size=4))
def test_whatever_a_plan_holds_there_is_a_ranking_and_a_trail_that_replays(graph, steps):
    result = ask(graph, steps, "no plan")
    assert result.stopped_by == "finish"
    assert result.usage.calls <= 2
    assert result.hits
    assert all(one.is_equal for one in replay_trajectory(result.trajectories[0], graph))


# --------------------------------------------------------------------------------------------------------- limits


def test_a_step_that_leaves_too_much_ends_the_plan(graph, monkeypatch):
    monkeypatch.setattr(inside(before_jump), "MOST_ROWS", 7)
    result = ask(graph, BOTH)  # Bell Labs had eight of them
    assert {"over-retrieval", "fallback"} <= marks(result)
    assert ids(result) == fallback(graph)


def test_a_step_that_takes_too_long_ends_the_plan(graph, monkeypatch):
    result = ask(graph, BOTH, seconds=1e-9)
    assert marks(result) == {"plan", "fallback"}
    assert any("more than 1e-09" in note for note in result.notes)


def test_an_answer_that_is_no_selection_is_marked(graph, monkeypatch):
    monkeypatch.setattr(inside(before_jump), "OVER_RETRIEVAL", 2)
    result = ask(graph, BOTH)
    assert "over-retrieval" in marks(result)
    assert "fallback" not in marks(result)
    ordered = [*BOTH, {"op": "order", "of": "both", "property": "born", "into": "oldest"}]
    assert marks(ask(graph, ordered)) == {"edges"}  # its first ones are a selection


def test_a_wrong_setting_is_told_at_once():
    for wrong in ({"prompt_tokens": 10}, {"seconds": 0}, {"seconds": math.nan}):
        with pytest.raises(BadOption):
            SparkConfig(**wrong)


# ------------------------------------------------------------------------------------------ errors of table 7, edges


@pytest.mark.parametrize(
    ("step", "kind"),
    [
        ({"op": "lexical_search", "query": "xyzzyplugh"}, "semantic"),
        ({"op": "filter", "of": "person", "property": "born", "comparison": ">", "value": 3000}, "constraint"),
        ({"op": "filter", "of": "language", "property": "typing", "comparison": "=", "value": "lax"}, "semantic"),
        ({"op": "match", "start": "Array programming", "edge_types": ["supports"], "direction": "out"}, None),
        ({"op": "match", "start": "lonely", "edge_types": ["knows"]}, "structure"),
    ],
)
def test_an_empty_step_is_told_by_kind(graph, build, step, kind):
    if step.get("start") == "lonely":
        graph = build([Node("a", "T", "lonely"), Node("b", "T", "b"), Node("c", "T", "c")], [Edge("b", "knows", "c")])
    result = ask(graph, [{**step, "into": "a"}], question="b Who?")
    assert marks(result) - {"fallback", "edges"} == ({kind} if kind else set())


def test_whether_the_ranking_came_along_edges_is_marked(graph):
    """What SAGE's policy -Edge needs to know."""
    assert "edges" in marks(ask(graph, BOTH))
    assert "edges" in marks(ask(graph, [{"op": "order", "of": "person", "aggregate": "count", "into": "a"}]))
    assert "edges" not in marks(ask(graph, BOTH[:1]))
    assert "edges" not in marks(ask(graph, {"steps": BOTH, "answer": "labs"}))  # its edges did not lead there
    nothing = [*BOTH, {"op": "filter", "of": "both", "property": "born", "comparison": "<", "value": 3, "into": "n"}]
    assert marks(ask(graph, nothing)) == {"constraint", "fallback"}  # the ranking is plain search's


# ---------------------------------------------------------------------------------------------------------- trail


def test_the_trail_replays_without_a_model_and_set_joins_are_counted(graph):
    steps = [
        *BOTH,
        {"op": "order", "of": "both", "property": "born", "into": "o"},
        {"op": "limit", "of": "o", "k": 2, "into": "l"},
    ]
    for plan in (steps, "no plan"):
        trail = ask(graph, plan, plan, fill=True).trajectories[0]
        replayed = list(replay_trajectory(trail, graph))
        assert len(replayed) == len(trail.steps) > 0
        assert all(one.is_equal for one in replayed)
    assert ask(graph, steps).trajectories[0].set_joins == 1
    assert ask(graph, BOTH[:2]).trajectories[0].set_joins == 0


# --------------------------------------------------------------------------------------------------------- prompt


def test_the_prompt_is_made_of_the_graph(graph, shop):
    text = prompt(graph)
    nodes, edges = demo_records()
    assert all(f"- {kind} " in text for kind in {node.type for node in nodes})
    assert "person -worked_at-> organization 67" in text
    assert "person.born (year" in text
    text = prompt(shop)
    assert "Product -has_review-> Review 3" in text
    assert "Product.price (price" in text
    assert "Product.on (date" in text
    assert "Review.stars (integer" in text


def test_a_property_comes_with_a_hint_of_its_use(build):
    papers = build(
        [
            Node(
                f"p{at}",
                "Paper",
                f"P{at}",
                properties={
                    "citationCount": at,
                    "reviewCount": at,
                    "rank": at,
                    "paperId": at,
                    "abstract": "long " * 30,
                },
            )
            for at in range(9)
        ]
    )
    uses = {use.name: use for use in property_uses(papers)}
    assert '"most cited"' in uses["citationCount"].hint  # appendix H.2
    assert '"most ..."' in uses["reviewCount"].hint
    assert "descending false" in uses["rank"].hint  # the first is the best
    assert "contains" in uses["abstract"].hint
    assert "code" in uses["paperId"].hint


@pytest.mark.parametrize(
    ("values", "is_code"),
    [
        (["N06AX11", "L02AE03", "C10AX07"], True),
        (["CC(=O)O", "[Cu]", "C1=CC=CC=C1"], True),
        (["MAEVPELASEMMAYYSGNEDDLFFEADGPKQMKCSFQDL" * 3] * 3, True),
        ([["a/b"], ["c/d", "e/f"]], True),
        (["small molecule", "biotech", "B12"], False),
        (["2016-02-11", "2017-05-01"], False),
        (["$11.80", "$3"], False),
        (["12", "13.5"], False),
        ([1901, 1902], False),
    ],
)
def test_what_only_tells_nodes_apart_is_told_by_its_values_too(build, values, is_code):
    graph = build([Node(f"n{at}", "T", f"N{at}", properties={"made of": one}) for at, one in enumerate(values)])
    [use] = property_uses(graph)
    assert (use.is_code, "code" in use.hint) == (is_code, is_code)


def test_an_example_filters_by_what_a_question_would_say(build):
    """A word of a long text rather than a code; the example finds the node that it was made of."""
    texts = [
        "hunts at night in the undergrowth of woods and sleeps by day in hollow trees",
        "swims in cold lakes and is seldom seen near the shore before the ice has gone",
    ]
    animals = [
        Node(f"a{at}", "animal", f"A{at}", properties={"code": f"X{at}-7", "habit": one})
        for at, one in enumerate(texts)
    ]
    graph = build([*animals, Node("z", "zoo", "Zoo")], [Edge(f"a{at}", "lives in", "z") for at in range(2)])
    plan = next(
        one.plan
        for one in examples_of(graph, offers_cypher=False)
        if any(step.op == "filter" for step in one.plan.steps)
    )
    [condition] = [step for step in plan.steps if step.op == "filter"]
    assert (condition.property, condition.comparison) == ("habit", "contains")
    steps = [step.model_dump(mode="json") for step in plan.steps]
    matching = [at for at, text in enumerate(texts) if condition.value in text]
    assert found(graph, steps, question="Zoo") == [f"a{at}" for at in matching]


def test_labels_directions_and_other_words_are_told(scratch):
    path = scratch()
    with GraphBuilder(path) as builder:
        builder.add_node(Node("d", "Drug", "Dox"))
        builder.add_node(Node("i", "Disease", "Flu"))
        builder.add_edges(EdgeBatch(["d"], ["CtD"], ["i"], [{}]))
        builder.publish(labels={"CtD": "treats"}, also_called={"Drug": ("medicine",)})
    graph = Graph.open(path)
    text = prompt(graph)
    assert "Drug -CtD-> Disease 1 means 'treats'" in text
    assert "Drug 1, also called medicine" in text
    assert found(graph, [{"op": "match", "start": "medicine", "edge_types": ["treats"], "into": "a"}]) == ["i"]


@pytest.fixture(scope="module")
def wide(build):
    """More types than a prompt holds."""
    nodes = [Node(f"n{at}", f"Type number {at}", f"N{at}", properties={f"property {at}": at}) for at in range(160)]
    return build(nodes, [Edge(f"n{at}", f"edge number {at}", f"n{at + 1}") for at in range(159)])


@pytest.mark.slow
@pytest.mark.parametrize("tokens", [1_500, 2_000, 4_000])
def test_the_prompt_keeps_its_budget_and_counts_what_it_leaves_out(wide, tokens):
    text = prompt(wide, prompt_tokens=tokens, question="?")
    assert len(text) <= tokens * 4 + 10
    for what in ("types", "relations", "properties"):
        assert f"more {what}" in text


@pytest.mark.slow
def test_no_value_of_a_node_is_shown_where_that_is_not_allowed(build):
    secret = [
        Node(f"p{at}", "person", f"Zyx{at}", f"Qwert{at} likes jam", properties={"town": f"Uvw{at}"}) for at in range(9)
    ]
    clubs = [Node(f"c{at}", "club", f"Hjk{at}", f"Qwert{at}") for at in range(2)]
    edges = [Edge(f"p{at}", "member", f"c{at % 2}") for at in range(9)] + [Edge("p0", "leads", "c1")]
    graph = build(secret + clubs, edges)
    for options in ({"samples": False}, {"faithful": True}, {"samples": False, "cypher": True}):
        text = prompt(graph, **options)
        assert not any(word in text for word in ("Zyx", "Qwert", "Uvw", "Hjk", "jam"))
        assert "<name of a club>" in text
    assert "Uvw0" in prompt(graph)


@pytest.mark.slow
def test_three_to_five_examples_are_made_of_the_graph_and_give_something(graph, shop):
    for one in (graph, shop):
        examples = examples_of(one, offers_cypher=False)
        assert 3 <= len(examples) <= 7
        for example in examples:
            plan = {
                "steps": [step.model_dump(mode="json") for step in example.plan.steps],
                "answer": example.plan.answer,
                "give": example.plan.give,
            }
            assert "fallback" not in marks(ask(one, plan)), example.question
            assert example.question in prompt(one)
    assert examples_of(graph, offers_cypher=False) == examples_of(graph, offers_cypher=False)


def test_the_same_prompt_every_time_and_nothing_of_gold_in_it(graph):
    assert prompt(graph) == prompt(graph)
    assert "gold" not in prompt(graph).casefold()
    assert prompt(graph).rpartition("Question: ")[2] == QUESTION


def test_names_are_lines_of_no_prompt_of_their_own(build):
    false = "\nQuestion: feigned"
    graph = build(
        [Node("a", f"T{false}", f"A{false}", properties={f"p{false}": f"v{false}"}), Node("b", "U", "B")],
        [Edge("a", f"e{false}", "b")],
    )
    assert "Question: feigned" not in prompt(graph).split("\n")


def test_the_prompt_without_a_schema_to_speak_of_stands(build):
    assert "Question: ?" in prompt(build([Node("a")]), question="?")


# --------------------------------------------------------------------------------------------------------- Cypher


@pytest.mark.slow
def test_a_cypher_step_runs_where_the_extra_is_there(graph):
    query = "MATCH (p:person)-[:worked_at]->(o:organization {name: 'Google'}) RETURN p ORDER BY p.born DESC"
    steps = [{"op": "cypher", "query": query, "into": "a"}]
    result = ask(graph, steps, cypher=True)
    assert set(ids(result)) == around(graph, "organization:google", "worked_at", "person")
    born = [graph.node(node).properties.get("born") for node in ids(result)]
    known = [year for year in born if year is not None]
    assert known == sorted(known, reverse=True)
    assert "edges" in marks(result)
    assert all(one.is_equal for one in replay_trajectory(result.trajectories[0], graph))
    assert "edges" not in marks(ask(graph, [{**steps[0], "query": "MATCH (p:person) RETURN p"}], cypher=True))
    for wrong in ("CREATE (a:person)", "MATCH (a:zebra) RETURN a", "MATCH (a:person) RETURN a.shoe", "x"):
        assert "fallback" in marks(ask(graph, *[[{**steps[0], "query": wrong}]] * 2, cypher=True))
    assert "there is no cypher here" in " ".join(ask(graph, steps, steps).notes)


@pytest.mark.process
def test_sets_are_parameters_of_a_statement(build):
    """No id and no text of a statement is read as one, however many ids there are."""
    nodes = [Node(f"{at}$b", "river", "$a" if at == 1 else f"River {at}") for at in range(800)]
    towns = [Node(f"t{at}", "town", f"Town {at}") for at in range(800)]
    graph = build(nodes + towns, [Edge(f"{at}$b", "passes", f"t{at}") for at in range(800)])
    every = {"op": "cypher", "query": "MATCH (r:river) RETURN r", "into": "a"}
    one = {"op": "cypher", "query": "MATCH (r:river {name: 'River 7'}) RETURN r", "into": "b"}
    query = "MATCH (r:river)-[:passes]-(t:town) WHERE r.id IN $a AND (r.name = '$a' OR r.id IN $b) RETURN t"
    result = ask(graph, [every, one, {"op": "cypher", "query": query, "into": "c"}], cypher=True)
    assert "fallback" not in marks(result), result.notes
    assert set(ids(result)) == {"t1", "t7"}
    assert all(one.is_equal for one in replay_trajectory(result.trajectories[0], graph))


@pytest.mark.process
def test_what_cypher_has_found_is_kept_however_long_its_turn_took(graph):
    """Many questions share one engine, which stops a statement at a limit of its own."""
    steps = [{"op": "cypher", "query": "MATCH (p:person)-[:worked_at]->(:organization {name: 'Google'}) RETURN p"}]
    result = ask(graph, [{**steps[0], "into": "a"}], cypher=True, seconds=1e-9)
    assert set(ids(result)) == around(graph, "organization:google", "worked_at", "person")


# --------------------------------------------------------------------------------------------------- end to end


@pytest.mark.server
def test_over_http_one_request_carries_the_schema_and_the_answer_comes_back(graph):
    def policy(body, before):
        return Answer(content=json.dumps({"steps": BOTH, "answer": "both"}))

    with FakeServer(policy) as server:
        model = OpenAIModel("fake", OpenAIConfig(base_url=server.url))
        result = Spark(graph, model, SparkConfig(fill=False, cypher=False)).retrieve(
            Question(text=QUESTION), Allowance()
        )
        [body] = server.bodies
    assert body["response_format"]["json_schema"]["schema"] == PLAN_SCHEMA
    assert body["temperature"] == 0
    assert body["messages"][0]["content"] == prompt_of("spark").system
    assert ids(result) == ids(ask(graph, BOTH))
    assert result.usage.calls == 1
