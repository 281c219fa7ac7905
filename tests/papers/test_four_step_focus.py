"""4StepFocus: SUBSTITUTE of SAGE (004), appendix C.1, against its definition, and the four steps around it."""

import itertools
import json

import numpy as np
import pytest

from fakes.limits import limits_in
from orienteer.errors import BadOption
from orienteer.lab.baselines import (
    FourStepFocus,
    FourStepFocusConfig,
    Triplet,
    TripletPattern,
    TripletSymbol,
    ground_pattern,
    mixed_rows,
    resolved_pattern,
)
from orienteer.lab.evaluation import work_of
from orienteer.llm import Allowance, Budget, ScriptedModel
from orienteer.records import Edge, Node, Question

TYPES, KINDS = ("Stone", "Tree", "Bird"), ("near", "feeds", "shades")


def world(seed, *, nodes=24, edges=60):
    """Return a random graph with parallel edges, mutual ones and loops."""
    random = np.random.default_rng(seed)
    some = [Node(f"n{at:02}", str(random.choice(TYPES)), f"thing {at}") for at in range(nodes)]
    ends = random.integers(0, nodes, size=(edges, 2)).tolist()
    return some, [Edge(f"n{a:02}", str(random.choice(KINDS)), f"n{b:02}") for a, b in ends]


NODES, EDGES = world(3)


@pytest.fixture(scope="module")
def graph(build):
    return build(NODES, EDGES)


def are_joined(a, triplet, b):
    """Tell by the list of edges alone whether a triplet holds for two nodes; a loop joins nothing."""
    ends = {(edge.source, edge.target) for edge in EDGES if not triplet.edge_types or edge.type in triplet.edge_types}
    return a != b and ((a, b) in ends or (not triplet.is_directed and (b, a) in ends))


def substitute(candidates, triplets):
    """SUBSTITUTE as it is printed, on sets of ids, one membership at a time."""
    sets = {name: set(ids) for name, ids in candidates.items()}
    while True:
        before = {name: set(ids) for name, ids in sets.items()}
        for one in triplets:
            sets[one.head] &= {a for a in sets[one.head] if any(are_joined(a, one, b) for b in sets[one.tail])}
            sets[one.tail] &= {b for b in sets[one.tail] if any(are_joined(a, one, b) for a in sets[one.head])}
        if sets == before:
            return sets


def pattern_of(random, names, *, is_tree):
    """Return random triplets over these names, each joined to an earlier one, and perhaps some that make circles."""
    pairs = [(names[int(random.integers(at))], name) for at, name in enumerate(names) if at]
    if not is_tree:
        pairs += [tuple(random.choice(names, 2, replace=False).tolist()) for _ in range(2)]
    return [
        Triplet(
            *(pair[0], tuple(random.choice(KINDS, int(random.integers(3)), replace=False).tolist()), pair[1])
            if random.random() < 0.5
            else (pair[1], tuple(random.choice(KINDS, int(random.integers(3)), replace=False).tolist()), pair[0]),
            is_directed=bool(random.random() < 0.7),
        )
        for pair in pairs
    ]


def first_sets(random, names):
    """Return candidate sets: all of a type, or a few nodes, as constants have."""
    sets = {}
    for name in names:
        kind = str(random.choice(TYPES))
        of_type = [node.id for node in NODES if node.type == kind]
        few = random.choice([node.id for node in NODES], 4, replace=False).tolist()
        sets[name] = sorted(few if random.random() < 0.3 else of_type)
    return sets


def grounded_ids(graph, triplets, sets):
    rows = {name: np.array([graph.arrays.row(one) for one in ids], np.int32) for name, ids in sets.items()}
    result = ground_pattern(graph, triplets, rows)
    return {name: {graph.arrays.ids[int(row)] for row in found} for name, found in result.candidates.items()}


@pytest.mark.parametrize("seed", range(60))
def test_substitute_gives_what_its_listing_gives(graph, seed):
    random = np.random.default_rng(seed)
    names = list("wxyz")[: int(random.integers(2, 5))]
    triplets, sets = pattern_of(random, names, is_tree=False), first_sets(random, names)
    assert grounded_ids(graph, triplets, sets) == substitute(sets, triplets)


@pytest.mark.parametrize("seed", range(25))
def test_without_circles_what_is_left_is_what_some_whole_match_has(graph, seed):
    random = np.random.default_rng(100 + seed)
    names = ["x", "y", "z"]
    triplets, sets = pattern_of(random, names, is_tree=True), first_sets(random, names)
    matches = [
        found
        for values in itertools.product(*(sets[name] for name in names))
        if all(are_joined((found := dict(zip(names, values, strict=True)))[t.head], t, found[t.tail]) for t in triplets)
    ]
    assert grounded_ids(graph, triplets, sets) == {name: {one[name] for one in matches} for name in names}


@pytest.mark.parametrize("seed", range(10))
def test_the_order_of_the_triplets_does_not_matter(graph, seed):
    random = np.random.default_rng(seed)
    names = ["w", "x", "y", "z"]
    triplets, sets = pattern_of(random, names, is_tree=False), first_sets(random, names)
    assert grounded_ids(graph, triplets, sets) == grounded_ids(graph, triplets[::-1], sets)


def test_the_sets_that_go_in_are_left_alone_and_joins_are_two_a_triplet_and_round(small):
    sets = {"x": np.arange(len(small), dtype=np.int32), "c": np.array([small.arrays.row("p1")], np.int32)}
    result = ground_pattern(small, [Triplet("c", ("directed",), "x")], sets)
    assert [small.arrays.ids[row] for row in result.candidates["x"]] == ["f1", "f2"]
    assert len(sets["x"]) == len(small)
    assert result.rounds == 2  # the second finds nothing to change
    assert result.joins == 2 * result.rounds
    assert ground_pattern(small, [], sets).joins == 0


# ------------------------------------------------------------------------------------------------ the schema check


def check(graph, *triplets, **symbols):
    notes = []
    return resolved_pattern(TripletPattern(next(iter(symbols)), symbols, triplets), graph, notes), notes


def test_a_pattern_that_fits_the_schema_is_left_as_it_is(small):
    triplet = Triplet("c", ("directed",), "x")
    found, notes = check(small, triplet, x=TripletSymbol(("film",)), c=TripletSymbol(("person",), "Ada Holm"))
    assert found.triplets == (triplet,)
    assert notes == []


def test_near_forms_of_types_are_taken_and_said(small):
    found, notes = check(
        small, Triplet("c", ("direct",), "x"), x=TripletSymbol(("Films",)), c=TripletSymbol(("person",))
    )
    assert found.symbols["x"].node_types == ("film",)
    assert found.triplets[0].edge_types == ("directed",)
    assert len(notes) == 2


def test_a_reversed_edge_is_turned(small):
    found, notes = check(
        small, Triplet("x", ("directed",), "c"), x=TripletSymbol(("film",)), c=TripletSymbol(("person",))
    )
    assert found.triplets == (Triplet("c", ("directed",), "x"),)
    assert "turned" in notes[0]


def test_an_edge_that_never_joins_these_types_stands_for_any(small):
    found, notes = check(
        small, Triplet("c", ("set in",), "x"), x=TripletSymbol(("film",)), c=TripletSymbol(("person",))
    )
    assert found.triplets == (Triplet("c", (), "x", is_directed=False),)
    assert "any edge" in notes[0]


def test_types_that_nothing_joins_and_names_that_are_no_symbols_are_left_out_and_said(small):
    symbols = {"x": TripletSymbol(("film",)), "c": TripletSymbol(("film",))}
    found, notes = check(small, Triplet("c", ("set in",), "x"), Triplet("c", (), "q"), Triplet("x", (), "x"), **symbols)
    assert found.triplets == ()
    assert len(notes) == 3


def test_unknown_types_and_conditions_are_said(small):
    x = TripletSymbol(("galaxy",), where=("year >= 2000", "budget > 5", "year > soon"))
    found, notes = check(small, x=x)
    assert found.symbols["x"] == TripletSymbol((), "", ("year >= 2000",))
    assert len(notes) == 3


def test_equality_with_what_is_no_property_is_searched_for(small):
    found, notes = check(small, x=TripletSymbol(("film",), where=("genre = thriller",)))
    assert found.symbols["x"].text == "thriller"
    assert notes


# ------------------------------------------------------------------------------------------------- the four steps


def triplets(target="x", *, variables=(("x", "film"),), constants=(), edges=()):
    return {
        "target": target,
        "variables": [{"name": name, "type": kind} for name, kind in variables],
        "constants": [{"name": name, "text": text, "type": kind} for name, text, kind in constants],
        "triplets": [{"head": head, "edge": edge, "tail": tail} for head, edge, tail in edges],
    }


BY_ADA = triplets(constants=[("c", "Ada Holm", "person")], edges=[("c", "directed", "x")])
BY_ADA_WITH_NOOR = triplets(
    constants=[("c", "Ada Holm", "person"), ("d", "Noor Vik", "person")],
    edges=[("c", "directed", "x"), ("d", "acted in", "x")],
)


def model(first, order=None, seen=None):
    """Return a model that gives the triplets, and for a rerank an order of ids."""

    def policy(messages, tools, sampling):
        if seen is not None:
            seen.append(messages)
        if "Documents:" in messages[1].content:
            return order if isinstance(order, str) else json.dumps({"ids": order or []})
        return first if isinstance(first, str) else json.dumps(first)

    return ScriptedModel(policy)


def ask(graph, first, *, order=None, seen=None, budget=None, question="Which film did she direct?", **options):
    limits = limits_in(options)
    method = FourStepFocus(graph, model(first, order, seen), FourStepFocusConfig(**options))
    return method.retrieve(Question(text=question, **limits), Allowance(budget, reserve=0))


def ids(result):
    return [hit.id for hit in result.hits]


def test_two_calls_of_the_model_and_a_retrieval_for_each_constant_and_the_free_list(small):
    result = ask(small, BY_ADA_WITH_NOOR, question="Which frozen film did Ada Holm direct with Noor Vik?")
    assert result.usage.calls == 2
    work = work_of(result.trajectories)
    assert work.tools == {"search_in_graph": 3}
    assert work.set_joins == 2 * 2 * 2  # two triplets, two rounds


def test_what_satisfies_all_triplets_comes_before_what_matches_the_words(small):
    result = ask(small, BY_ADA_WITH_NOOR, rerank_first=False, question="two sisters sell salt on the frozen coast")
    assert ids(result)[0] == "f1"
    assert result.hits[0].why == "<-directed- Ada Holm; <-acted in- Noor Vik"


def test_what_is_left_is_ordered_by_text(small):
    for question, best in (("the ferry captain at night", "f1"), ("sisters on the frozen coast", "f2")):
        assert ids(ask(small, BY_ADA, rerank_first=False, question=question))[:1] == [best]


def test_free_hits_of_the_wanted_type_follow(small):
    result = ask(small, BY_ADA_WITH_NOOR, rerank_first=False, question="salt")
    assert ids(result) == ["f1", "f2"]
    assert result.hits[1].why == "found by plain search"


def test_a_name_that_two_types_share_is_told_apart_by_its_type(small):
    found = triplets(constants=[("c", "Salt", "place")], edges=[("x", "set in", "c")])
    assert set(ids(ask(small, found, rerank_first=False, question="salt"))) == {"f1", "f2"}


def test_a_constant_that_is_not_there_is_left_out_and_said(small):
    found = triplets(
        constants=[("c", "Ada Holm", "person"), ("d", "Zzyzx", "person")],
        edges=[("c", "directed", "x"), ("d", "directed", "x")],
    )
    result = ask(small, found, rerank_first=False)
    assert {"f1", "f2"} <= set(ids(result))
    assert any("Zzyzx" in note for note in result.notes)


def test_the_last_call_reranks(small):
    result = ask(small, BY_ADA, order=["[f2]", "invented", "f1"])
    assert ids(result)[:2] == ["f2", "f1"]
    assert [hit.score for hit in result.hits] == sorted((hit.score for hit in result.hits), reverse=True)


def test_the_prompt_has_schema_and_question_and_the_rerank_sees_relations(small):
    seen = []
    ask(small, BY_ADA, seen=seen)
    assert "person -directed-> film" in seen[0][1].content
    assert "Which film did she direct?" in seen[0][1].content
    assert "<-directed- Ada Holm" in seen[1][1].content
    assert "$" not in seen[0][1].content + seen[1][1].content


def test_a_spent_budget_leaves_the_order_before_the_rerank(small):
    result = ask(small, BY_ADA, budget=Budget(calls=1), question="the ferry captain")
    assert result.stopped_by == "calls"
    assert ids(result)[0] == "f1"
    assert result.usage.calls == 1


def test_filters_keep_answers(small):
    assert ids(ask(small, BY_ADA, rerank_first=False, where=("year > 2000",))) == ["f2"]
    assert set(ids(ask(small, BY_ADA, rerank_first=False, node_types=("place",), question="coast town"))) <= {
        "c1",
        "c2",
        "alone",
    }


@pytest.mark.parametrize(
    "garbage",
    [
        "",
        "I cannot do that.",
        "[]",
        "{}",
        '{"target": 3}',
        json.dumps({**BY_ADA, "triplets": [["c", "directed", "x"]]}),
        json.dumps({**BY_ADA, "target": "nobody"}),
        json.dumps({**BY_ADA, "variables": [{"name": "x", "type": "x" * 100}] * 100}),
    ],
)
def test_without_triplets_that_can_be_read_plain_search_stands_in(small, garbage):
    result = ask(small, garbage, rerank_first=False, question="ferry captain")
    assert ids(result)[0] == "f1"
    assert result.notes
    assert result.stopped_by == "finish"


def test_options_that_cannot_be_are_refused(small):
    with pytest.raises(BadOption, match="candidates is 0"):
        FourStepFocusConfig(candidates=0)
    with pytest.raises(BadOption, match="k is 101: it must be 1 to 100"):
        ask(small, BY_ADA, k=101)
    assert FourStepFocusConfig(rerank_first=False).rerank_first is False


def test_mixed_fills_and_repeats_nothing():
    best = {1: "a", 2: "b", 3: "c"}
    assert list(mixed_rows(best, [9, 3, 1, 8], first=2, k=4)) == [1, 2, 9, 3]
    assert list(mixed_rows(best, [9], first=1, k=9)) == [1, 9, 2, 3]
    assert mixed_rows(best, [2], first=1, k=2) == {1: "a", 2: "b"}
