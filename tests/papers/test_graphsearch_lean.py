"""GraphSearch in the lean form: one plan, one call to refine and answer, references by program, triples executed."""

import json
import re
import threading

import pytest

from fakes.deep_search import (
    ACCEPT,
    CHAIN,
    EDGES,
    FOUND,
    NODES,
    QUESTION,
    REJECT,
    Script,
    Shelf,
    ask,
    lean,
    number,
    planned,
    steps_of,
    study,
    sure,
)
from orienteer.agents import NOT_THERE
from orienteer.lab.replay import replay as replay_trajectory
from orienteer.llm import ScriptedModel
from orienteer.records import Trajectory
from orienteer.retrieval import BASES

pytestmark = pytest.mark.server

SIDE_BY_SIDE = planned(
    (1, "Who made The Worship of Venus?", [("The Worship of Venus", "painted by", "?creator")], []),
    (2, "Where did Titian die?", [("Titian", "died in", "?place")], []),
    (3, "How often did plague occur in Venice?", [("plague", "occurred in", "Venice")], []),
)


@pytest.fixture(scope="module")
def graph(build):
    return build(NODES, EDGES)


# -------------------------------------------------------------------------------------------------- calls and width


@pytest.mark.parametrize("plan", [CHAIN, SIDE_BY_SIDE], ids=["a chain", "side by side"])
def test_three_sub_queries_in_both_channels_take_five_calls_where_the_reader_is_sure(graph, plan):
    script = Script(lean(lean_decompose=plan, lean_study=sure))
    result = ask(graph, script)
    assert script.calls == {"lean-decompose": 1, "lean-study": 3, "lean-conclude": 1}
    assert result.usage.calls == script.calls.total() == 5
    assert (result.answer, result.stopped_by, result.notes) == ("22 [c3]", "finish", ())
    assert result.long_answer == "Titian died in Venice [titian][venice]."
    assert result.trajectories[0].marks == ("lean: accepted",)


@pytest.mark.parametrize("plan", [CHAIN, SIDE_BY_SIDE], ids=["a chain", "side by side"])
def test_where_the_reader_doubts_draft_verdict_and_answer_are_a_call_each(graph, plan):
    script = Script(lean(lean_decompose=plan))
    result = ask(graph, script)
    assert script.calls == {"lean-decompose": 1, "lean-study": 3, "draft": 1, "lean-verify": 1, "lean-answer": 1}
    assert (result.answer, result.stopped_by, result.notes) == ("22 [c3]", "finish", ())
    assert result.trajectories[0].marks == ("lean: accepted",)


TRIPLE = ("plague", "occurred in", "Venice")


def further(rounds):
    """Return expansions that each ask something new, of the graph too."""
    return lambda user: planned((1, f"Which plagues were in Venice, {next(rounds)}?", [TRIPLE], []))


@pytest.mark.parametrize("rejections", [1, 2])
def test_a_rejected_round_takes_one_call_one_for_each_new_query_and_two_for_the_draft(graph, rejections):
    verdicts = iter([REJECT] * rejections)
    script = Script(lean(lean_verify=lambda user: next(verdicts, ACCEPT), lean_expand=further(iter(range(9)))))
    result = ask(graph, script)
    assert script.calls.total() == 7 + rejections * (1 + 1 + 2)
    assert script.calls["lean-expand"] == rejections
    assert [label for label, *_ in steps_of(result)][6:] == ["S4", "R4", "S5", "R5"][: 2 * rejections]


def test_after_two_rounds_the_draft_stays_rejected_and_the_answer_knows(graph):
    script = Script(lean(lean_verify=REJECT, lean_expand=further(iter(range(9)))))
    result = ask(graph, script)
    assert script.calls["lean-verify"] == script.calls["draft"] == 3
    assert "lean: rejected still after 2 rounds of expansion" in result.notes
    assert "Draft (lean, rejected):" in script.shown("lean-answer")


def test_what_is_independent_meets_at_one_time(graph):
    script = Script(lean(lean_decompose=SIDE_BY_SIDE))
    script.gates = {"graphsearch-lean-study": threading.Barrier(3, timeout=30)}
    result = ask(graph, script)
    assert (result.stopped_by, script.peak) == ("finish", 3)


def test_the_waves_of_calls_are_as_many_as_the_plan_is_deep_and_not_as_it_is_large(graph):
    """Eight sub-queries in a plan two deep: all of each level meet at a barrier."""
    starts = [(at, f"Who is number {at} of Venice?", [], []) for at in range(1, 5)]
    ends = [(at, f"Where in Venice did #{at - 4} die?", [], [at - 4]) for at in range(5, 9)]
    script = Script(
        lean(lean_decompose=planned(*starts, *ends), lean_study=lambda user: {**study(user), "answer": "he"})
    )
    script.gates = {f"lean-study.*Sub-query: {one}": threading.Barrier(4, timeout=30) for one in ("Who", "Where")}
    result = ask(graph, script)
    assert (result.stopped_by, script.calls["lean-study"], script.peak) == ("finish", 8, 4)


def test_a_sub_query_waits_for_what_it_depends_on_and_for_nothing_else(graph):
    """2 needs 1; 3 needs nothing: 3 is answered while 1 is still under way."""
    plan = planned(
        (1, "Who made The Worship of Venus?", [], []),
        (2, "Where did #1 die?", [], [1]),
        (3, "Plague in Venice?", [], []),
    )
    third = threading.Event()

    def slow(user):
        if "Sub-query: Who made" in user:
            assert third.wait(20)
        if "Sub-query: Plague" in user:
            third.set()
        return study(user)

    script = Script(lean(lean_decompose=plan, lean_study=slow))
    result = ask(graph, script, channels="semantic")
    assert [label for label, *_ in steps_of(result)] == ["S1", "S2", "S3"]
    assert script.shown("lean-study", "Sub-query: Where did Titian die?")


# -------------------------------------------------------------------------------------------------------- the plan


@pytest.mark.parametrize(
    ("plan", "fault"),
    [
        (planned((1, "A Venice?", [], [2]), (2, "B Venice?", [], [1])), "wait for one another in a circle"),
        (planned((1, "A Venice?", [], [1])), "wait for one another in a circle"),
        (planned((1, "A Venice?", [], []), (2, "B Venice?", [], [7])), "depends on 7, which there is not"),
        (planned((1, "A Venice?", [], []), (1, "B Venice?", [], [])), "2 sub-queries have the id 1"),
        (planned((1, "A Venice?", [], []), (2, "B of #1 in Venice?", [], [])), "does not list 1 in deps"),
    ],
)
def test_a_plan_that_cannot_be_is_sent_back_once_and_then_taken_one_after_another(graph, plan, fault):
    script = Script(lean(lean_decompose=plan))
    result = ask(graph, script, channels="semantic")
    assert script.calls["lean-decompose"] == 2
    assert any(fault in note and "one after another" in note for note in result.notes)
    studied = [text.rpartition("Sub-query: ")[2] for text in script.all_shown("lean-study")]
    assert studied == sorted(studied)  # in their order
    mended = Script(lean(lean_decompose=plan), {"lean-decompose": SIDE_BY_SIDE})
    assert ask(graph, mended, channels="semantic").notes == ()


def test_a_plan_may_stand_in_any_order_and_name_its_parts_as_it_likes(graph):
    plan = planned(("b", "Where did #q1 die?", [], ["q1"]), ("q1", "Who made The Worship of Venus?", [], []))
    script = Script(lean(lean_decompose=plan))
    result = ask(graph, script, channels="semantic")
    assert script.shown("lean-study", "Sub-query: Where did Titian die?")
    assert [label for label, *_ in steps_of(result)] == ["S1", "S2"]
    assert not any("one after another" in note for note in result.notes)


def test_more_sub_queries_than_there_may_be_are_left_out_and_that_is_said(graph):
    script = Script(lean())
    result = ask(graph, script, sub_queries=2)
    assert script.calls["lean-study"] == 2
    assert "lean: of 3 sub-queries the first 2 are answered" in result.notes


# -------------------------------------------------------------------------------------------------------- grounding


def test_references_and_variables_are_put_in_by_program(graph):
    script = Script(lean(lean_ground=lambda user: pytest.fail("a model grounded")))
    result = ask(graph, script)
    matched = [json.loads(call.arguments) for _, call, _ in steps_of(result) if call.name == "match_triples"]
    assert [one["triples"] for one in matched] == [
        [["The Worship of Venus", "painted by", "?creator"]],
        [["Titian", "died in", "?place"]],
        [["plague", "occurred in", "Venice"]],
    ]
    gathered = [
        json.loads(call.arguments)["query"] for _, call, _ in steps_of(result) if call.name == "gather_evidence"
    ]
    assert gathered == [
        "Who made The Worship of Venus?",
        "Where did Titian die?",
        "How often did plague occur in Venice?",
    ]


def test_a_variable_is_what_the_graph_has_bound_where_the_model_has_no_answer(graph):
    script = Script(lean(lean_study=lambda user: {**study(user), "answer": None}, lean_expand=planned()))
    result = ask(graph, script)
    matched = [json.loads(call.arguments)["triples"] for _, call, _ in steps_of(result) if call.name == "match_triples"]
    assert matched == [
        [["The Worship of Venus", "painted by", "?creator"]],
        [["Titian", "died in", "?place"]],
        [["plague", "occurred in", "Venice"]],
    ]
    assert script.calls["lean-ground"] == 2  # of the text


def test_an_answer_that_no_binding_bears_out_stands_for_the_unknown_itself(graph):
    script = Script(lean(lean_study=lambda user: {**study(user), "answer": "Tiziano"}))
    result = ask(graph, script)
    matched = [json.loads(call.arguments)["triples"] for _, call, _ in steps_of(result) if call.name == "match_triples"]
    assert matched[1] == [["Tiziano", "died in", "?place"]]


@pytest.mark.parametrize("answer", ["a man " * 20, None, "提香" * 60])
def test_a_model_grounds_where_the_answer_is_long_or_missing(graph, answer):
    long = {**study_of("1"), "answer": answer}
    script = Script(
        lean(
            lean_study=lambda user: long if number(user) == "1" else study(user),
            lean_ground={
                "text": "Where did the painter die?",
                "triples": [{"s": "Titian", "p": "died in", "o": "?place"}],
            },
        )
    )
    result = ask(graph, script)
    assert script.calls["lean-ground"] == 1
    [shown] = script.all_shown("lean-ground")
    assert "Sub-query 1: Who made" in shown
    assert f"Answer: {' '.join(answer.split()) + ' (confidence 0.5)' if answer else NOT_THERE}\n" in shown
    assert "Sub-query 3" not in shown
    assert script.shown("lean-study", "S2.C1")
    assert [json.loads(call.arguments)["query"] for label, call, _ in steps_of(result) if label == "S2"] == [
        "Where did the painter die?"
    ]


def study_of(name):
    return {"summary": f"context {name}", "used": [], "confidence": 0.5, "also": []}


def test_a_number_sign_that_is_no_reference_stays(graph):
    plan = planned(
        (1, "Which #1 hit came from Venice?", [], []), (2, "Who sang #1, the #5 of 1969 in Venice?", [], [1])
    )
    script = Script(lean(lean_decompose=plan))
    ask(graph, script, channels="semantic")
    assert script.shown("lean-study", "Sub-query: Which #1 hit came from Venice?")
    assert script.shown("lean-study", "Sub-query: Who sang Titian, the #5 of 1969 in Venice?")


def test_without_grounding_all_run_at_once_and_the_plan_is_asked_for_without_references(graph):
    script = Script(lean())
    script.gates = {"graphsearch-lean-study": threading.Barrier(3, timeout=30)}
    result = ask(graph, script, grounding=False, channels="semantic")
    assert "no references" in script.shown("lean-decompose")
    assert (result.stopped_by, script.calls["lean-ground"]) == ("finish", 0)


# ------------------------------------------------------------------------------------------------ triples, executed


def test_triples_are_executed_and_what_matches_is_the_evidence(graph):
    shelf, script = Shelf(graph), Script(lean())
    result = ask(graph, script, base=shelf, channels="relational")
    assert not shelf.queries  # the retriever was not needed
    who, where = (script.shown("lean-study", f"Sub-query: {word}") for word in ("Who", "Where"))
    assert "The Worship of Venus -painted_by-> Titian: a canvas of 1518" in who
    assert "Titian -died_in-> Venice: in 1576" in where
    assert result.long_answer == "Titian died in Venice [titian][venice]."


def test_where_nothing_matches_the_retriever_is_asked_by_words_and_that_is_said(graph):
    plan = planned((1, "Who ate in Venice?", [("Zorblax", "ate in", "Qwertz")], []))
    shelf, script = Shelf(graph), Script(lean(lean_decompose=plan))
    result = ask(graph, script, base=shelf, channels="relational")
    assert [query.text for query in shelf.queries] == ["Who ate in Venice?"]
    assert any("R1: matched by nothing" in note and "Zorblax" in note for note in result.notes)
    assert [call.name for _, call, _ in steps_of(result)] == ["match_triples", "gather_evidence"]


def test_where_no_edge_fits_the_retriever_is_asked_too_and_nothing_is_bound(graph):
    """Titian has edges, none of which says what he ate: they are shown, and no later sub-query is filled with them."""
    plan = planned(
        (1, "What did Titian eat in Venice?", [("Titian", "ate", "?dish")], []),
        (2, "Who cooked #1 in Venice?", [("?dish", "cooked by", "?cook")], [1]),
    )
    shelf, script = (
        Shelf(graph),
        Script(lean(lean_decompose=plan, lean_study=lambda user: {**study(user), "answer": None})),
    )
    result = ask(graph, script, base=shelf, channels="relational")
    assert "R1: matched by no edge that fits: the retriever is asked by words too" in result.notes
    matched = [json.loads(call.arguments)["triples"] for _, call, _ in steps_of(result) if call.name == "match_triples"]
    assert matched[1] == [["?dish", "cooked by", "?cook"]]
    assert "What did Titian eat in Venice?" in [query.text for query in shelf.queries]
    assert "-died_in->" in script.shown("lean-study", "What did Titian eat")


def test_a_sub_query_without_triples_is_searched_for_by_words(graph):
    shelf, script = Shelf(graph), Script(lean(lean_decompose=planned((1, "Who was in Venice?", [], []))))
    result = ask(graph, script, base=shelf, channels="relational")
    assert [query.text for query in shelf.queries] == ["Who was in Venice?"]
    assert [call.name for _, call, _ in steps_of(result)] == ["gather_evidence"]


# ------------------------------------------------------------------------------------------------- what modules see


def test_draft_verdict_and_expansion_see_every_query_context_and_answer(graph):
    verdicts = iter([REJECT])
    script = Script(lean(lean_verify=lambda user: next(verdicts, ACCEPT)))
    ask(graph, script)
    draft = script.all_shown("draft")[0]
    for at, grounded in (
        (1, "Who made"),
        (2, "Where did Titian die?"),
        (3, "How often did plague occur in Venice?"),
    ):
        assert f"Sub-query {at}: {grounded}" in draft
        assert f"context S{at} says it" in draft
    assert all(f"Answer: {FOUND[name]} (confidence 0.6)" in draft for name in "123")
    for module in ("lean-verify", "lean-expand"):
        shown = script.all_shown(module)[0]
        assert draft in shown
        assert "draft over 3 turns" in shown
    assert "how often plague came" in script.shown("lean-expand")
    assert "Sub-query 4: How many plagues" in script.all_shown("lean-verify")[1]


def test_expansion_is_on_reject_only_and_from_what_is_missing(graph):
    script = Script(lean(lean_expand=lambda user: pytest.fail("expanded")))
    ask(graph, script)
    empty = Script(
        lean(
            lean_verify={"accept": False, "missing": [], "contradictions": []},
            lean_expand=lambda user: pytest.fail("expanded"),
        )
    )
    result = ask(graph, empty)
    assert "lean: rejected, and nothing new to ask for" in result.notes


def test_expansion_sees_what_is_missing_and_what_contradicts(graph):
    verdicts = iter([{"accept": False, "missing": ["when he died"], "contradictions": ["S1 and R1 name two men"]}])
    script = Script(lean(lean_verify=lambda user: next(verdicts, ACCEPT)))
    ask(graph, script)
    shown = script.shown("lean-expand")
    assert "Missing:\n  - when he died" in shown
    assert "Contradictions:\n  - S1 and R1 name two men" in shown
    assert shown.endswith("Sub-queries at the most: 4")


def test_a_new_sub_query_that_repeats_an_old_one_is_not_asked_again(graph):
    again = planned((1, "who made The Worship of Venus?", [("The Worship of Venus", "painted by", "?creator")], []))
    script = Script(lean(lean_verify=REJECT, lean_expand=again))
    result = ask(graph, script)
    assert script.calls["lean-study"] == 3
    assert "lean: rejected, and nothing new to ask for" in result.notes


def test_numbers_symbols_and_scripts_pass_unchanged(graph):
    text = "波音 $1,363.00 (−5 %) في البندقية Venice?"
    triples = [("波音 747", "cost", "$1,363.00"), ("ابن سينا", "ولد في", "980 م")]
    script = Script(lean(lean_decompose=planned((1, text, triples, []))))
    result = ask(graph, script, text=f"多少 {text}")
    assert f"多少 {text}" in script.shown("lean-decompose")
    assert {json.loads(call.arguments).get("query", text) for _, call, _ in steps_of(result)} == {text}
    matched = [json.loads(call.arguments) for _, call, _ in steps_of(result) if call.name == "match_triples"]
    assert matched[0]["triples"] == [list(one) for one in triples]
    shown = f"Sub-query: {text} (波音 747, cost, $1,363.00); (ابن سينا, ولد في, 980 م)"
    assert all(shown in one for one in script.all_shown("lean-study"))


# ---------------------------------------------------------------------------------------------- record and retrievers


@pytest.mark.parametrize("base", BASES)
def test_over_every_retriever_the_record_replays_without_a_model(graph, base):
    from orienteer.retriever import Retriever
    from orienteer.settings import Settings

    script = Script(lean())
    retriever = Retriever(graph, f"graphsearch:{base}", model=ScriptedModel(script), settings=Settings())
    result = retriever.ask(QUESTION)
    assert result.method == f"graphsearch:{base}"
    assert re.match("22", result.answer)
    walked = Trajectory.model_validate_json(result.trajectories[0].model_dump_json())
    assert {call.name for _, call, _ in steps_of(result)} == {"match_triples", "gather_evidence"}
    assert all(one.is_equal for one in replay_trajectory(walked, graph))
