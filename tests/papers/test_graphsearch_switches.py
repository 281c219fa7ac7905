"""GraphSearch's switches, in both forms: each changes just what it should. Paper 002, table 3, figures 5 and 7."""

import threading
from functools import partial

import pytest

from fakes.deep_search import (
    ACCEPT,
    EDGES,
    FOUND,
    NODES,
    QUESTION,
    REJECT,
    Script,
    Shelf,
    ask,
    faithful,
    lean,
    number,
    planned,
    steps_of,
)

pytestmark = pytest.mark.server

OFF = {name: False for name in ("decomposition", "refinement", "grounding", "drafting", "verification", "expansion")}
paper = partial(ask, faithful=True)


@pytest.fixture(scope="module")
def graph(build):
    return build(NODES, EDGES)


# ----------------------------------------------------------------------------------------------------- the paper's form


@pytest.mark.parametrize("source", ["text", "graph", "all"])
@pytest.mark.parametrize("channel", ["semantic", "relational"])
def test_figure_7_a_channels_source_is_text_or_graph_or_all(graph, channel, source):
    script = Script(faithful())
    paper(graph, script, channels=channel, **{f"{channel}_source": source})
    shown = "".join(script.all_shown(f"refine-{channel}"))
    assert ("(chunk)" in shown) == (source != "graph")
    assert ("(person)" in shown) == (source != "text")
    assert ("-died_in->" in shown) == (source != "text")


@pytest.mark.parametrize("channel", ["semantic", "relational"])
def test_figure_5_either_channel_alone(graph, channel):
    script = Script(faithful())
    result = paper(graph, script, channels=channel)
    assert script.calls.total() == 12
    other = {"semantic": "relational", "relational": "semantic"}[channel]
    assert not any(other in name for name in script.calls)
    assert {label[0] for label, *_ in steps_of(result)} == {channel[0].upper()}


def test_with_all_modules_off_a_question_is_one_retrieval_and_one_answer(graph):
    shelf, script = Shelf(graph), Script(faithful())
    result = paper(graph, script, base=shelf, channels="semantic", **OFF)
    assert script.calls == {"answer": 1}
    assert [query.text for query in shelf.queries] == [QUESTION]
    assert "Titian died in Venice in 1576." in script.shown("answer")
    assert result.answer == "22"  # it cited what this search has not shown
    assert any("not in the evidence: 'S3.C1', 'R3.E1'" in note for note in result.notes)


def test_decomposition_and_refinement_alone_run_at_once_without_references(graph):
    free = ["Who made Venus?", "Where did #1 die?", "How often did plague come to Venice?"]
    script = Script(faithful(**{"decompose-semantic": {"sub_queries": free}}))
    script.gates = {"graphsearch-refine": threading.Barrier(3, timeout=30)}
    on = {"decomposition": True, "refinement": True}
    result = paper(graph, script, channels="semantic", **{**OFF, **on})
    assert script.calls == {"decompose-semantic": 1, "refine-semantic": 3, "sub-answer": 3, "answer": 1}
    assert "no references" in script.shown("decompose-semantic")
    assert result.stopped_by == "finish"


def test_decomposition_refinement_and_grounding(graph):
    script = Script(faithful())
    on = {"decomposition": True, "refinement": True, "grounding": True}
    paper(graph, script, channels="semantic", **{**OFF, **on})
    assert script.calls.total() == 1 + 3 * 2 + 2 + 1
    assert "no references" not in script.shown("decompose-semantic")


def test_without_refinement_the_evidence_stands_as_it_was_gathered(graph):
    script = Script(faithful())
    paper(graph, script, channels="semantic", refinement=False)
    assert "refine-semantic" not in script.calls
    assert "Titian died in Venice in 1576." in script.shown("draft")


@pytest.mark.parametrize("off", ["drafting", "verification", "expansion"])
def test_each_module_of_reflection_can_be_off(graph, off):
    script = Script(faithful(verify={"verdict": "Reject"}, expand={"queries": ["How about Venice?"]}))
    result = paper(graph, script, channels="semantic", rounds=1, **{off: False})
    module = {"drafting": "draft", "verification": "verify", "expansion": "expand"}[off]
    assert module not in script.calls
    assert ("expand" in script.calls) == (off == "drafting")
    assert result.answer == "22 [c3]"


# -------------------------------------------------------------------------------------------------------- the lean form


@pytest.mark.parametrize(
    ("source", "calls"),
    [("graph", ["match_triples"]), ("text", ["gather_evidence"]), ("all", ["match_triples", "gather_evidence"])],
)
def test_figure_7_what_the_lean_relational_channel_reads(graph, source, calls):
    plan = planned((1, "Where did Titian die?", [("Titian", "died in", "?place")], []))
    script = Script(lean(lean_decompose=plan))
    result = ask(graph, script, channels="relational", relational_source=source)
    assert [call.name for _, call, _ in steps_of(result)] == calls
    shown = script.shown("lean-study")
    assert ("(chunk)" in shown) == (source != "graph")
    assert ("-died_in->" in shown) == (source != "text")


def test_in_the_lean_form_with_all_modules_off_a_question_is_one_retrieval_and_one_answer(graph):
    shelf, script = Shelf(graph), Script(lean())
    ask(graph, script, base=shelf, channels="semantic", **OFF)
    assert script.calls == {"lean-answer": 1}
    assert [query.text for query in shelf.queries] == [QUESTION]


def test_without_refinement_a_sub_answer_is_read_from_the_evidence_as_it_is(graph):
    answers = {"sub-answer": lambda user: {"answer": FOUND[number(user)], "used": []}}
    script = Script({**lean(), **answers})
    ask(graph, script, refinement=False)
    assert script.calls == {"lean-decompose": 1, "sub-answer": 3, "draft": 1, "lean-verify": 1, "lean-answer": 1}
    assert "Titian died in Venice in 1576." in script.shown("draft")


def test_without_decomposition_the_question_is_refined_and_no_sub_answer_is_read(graph):
    script = Script(lean())
    ask(graph, script, decomposition=False, channels="semantic")
    assert script.calls == {"lean-study": 1, "draft": 1, "lean-verify": 1, "lean-answer": 1}
    assert "Answer:" not in script.shown("draft")


@pytest.mark.parametrize(
    ("off", "gone"),
    [
        (None, {}),
        ("drafting", {"draft": 2}),
        ("verification", {"lean-verify": 2, "lean-expand": 1, "lean-study": 1, "draft": 1}),
        ("expansion", {"lean-verify": 1, "lean-expand": 1, "lean-study": 1, "draft": 1}),
    ],
)
def test_a_module_of_reflection_that_is_off_takes_its_calls_and_what_came_of_them_and_no_other(graph, off, gone):
    verdicts = iter([REJECT])
    script = Script(lean(lean_verify=lambda user: next(verdicts, ACCEPT)))
    result = ask(graph, script, **({off: False} if off else {}))
    whole = {"lean-decompose": 1, "lean-study": 4, "draft": 2, "lean-verify": 2, "lean-expand": 1, "lean-answer": 1}
    assert script.calls == {name: left for name, one in whole.items() if (left := one - gone.get(name, 0))}
    assert result.answer == "22 [c3]"
    assert ("Draft" in script.shown("lean-answer")) == (off != "drafting")


@pytest.mark.parametrize("source", ["text", "graph", "all"])
def test_figure_7_what_the_lean_semantic_channel_reads(graph, source):
    plan = planned((1, "Where did Titian die?", [("Titian", "died in", "?place")], []))
    script = Script(lean(lean_decompose=plan))
    result = ask(graph, script, channels="semantic", semantic_source=source)
    assert [call.name for _, call, _ in steps_of(result)] == ["gather_evidence"]
    shown = script.shown("lean-study")
    assert ("(chunk)" in shown) == (source != "graph")
    assert ("-died_in->" in shown) == (source != "text")


@pytest.mark.parametrize("channel", ["semantic", "relational"])
def test_in_the_lean_form_either_channel_alone(graph, channel):
    script = Script(lean())
    result = ask(graph, script, channels=channel)
    assert script.calls.total() == 7
    assert {label[0] for label, *_ in steps_of(result)} == {channel[0].upper()}
