"""AGR (Chen et al. 2024): analyse the question, generate an expansion, refine it, search."""

import json

import pytest

from fakes.limits import limits_in
from orienteer.errors import BadOption, ModelError
from orienteer.ingest import demo_records
from orienteer.lab.baselines import Agr, AgrConfig
from orienteer.llm import Allowance, Budget, ScriptedModel, prompt_of
from orienteer.records import Message, Question

QUESTION = "Which languages did Niklaus Wirth design?"
ANALYSIS = "Asked for: languages. Named: Niklaus Wirth, also N. Wirth."
DRAFT = "Pascal and Erlang are languages by Wirth."
REFINED = "Pascal, Modula-2 and Oberon are languages by Wirth."
STEPS = ("agr-analyze", "agr-generate", "agr-refine")


@pytest.fixture(scope="module")
def graph(build):
    return build(*demo_records())


def step_of(messages):
    [step] = [name for name in STEPS if prompt_of(name).system == messages[0].content]
    return step


def writes(analysis=ANALYSIS, draft=DRAFT, refined=REFINED):
    said = dict(zip(STEPS, (analysis, draft, refined), strict=True))
    return lambda messages, tools, sampling: said[step_of(messages)]


def ask(graph, policy, *, run=None, **options):
    limits = limits_in(options)
    agr = Agr(graph, ScriptedModel(policy), AgrConfig(**options))
    return agr.retrieve(Question(text=QUESTION, **limits), run or Allowance(random_seed=7))


def ids(result):
    return [hit.id for hit in result.hits]


def searches(result):
    return [
        json.loads(call.arguments) for step in result.trajectories[0].steps for call in step.reply.message.tool_calls
    ]


def plain(graph, query, k=20):
    return [hit.id for hit in graph.search(query, k)]


def watched(graph, **options):
    seen = {}

    def policy(messages, tools, sampling):
        seen[step_of(messages)] = messages[-1].content
        return writes()(messages, tools, sampling)

    return seen, ask(graph, policy, **options)


def test_three_calls_in_this_order_and_two_searches(graph):
    seen, result = watched(graph)
    assert tuple(seen) == STEPS
    assert result.usage.calls == 3
    assert searches(result) == [
        {"query": f"{QUESTION}\n{DRAFT}", "k": 5},
        {"query": f"{QUESTION}\n{REFINED}", "k": 20},
    ]


def test_the_refined_expansion_takes_the_drafts_place_in_the_query(graph):
    result = ask(graph, writes())
    assert ids(result) == plain(graph, f"{QUESTION} {REFINED}")
    assert "language:erlang" in plain(graph, f"{QUESTION} {DRAFT}")
    assert "language:oberon" in ids(result)
    assert "language:oberon" not in plain(graph, f"{QUESTION} {DRAFT}")


def test_each_step_is_shown_what_those_before_it_gave(graph):
    seen, _ = watched(graph)
    assert all(QUESTION in text for text in seen.values())
    assert ANALYSIS not in seen["agr-analyze"]
    assert ANALYSIS in seen["agr-generate"]
    assert ANALYSIS in seen["agr-refine"]
    assert DRAFT in seen["agr-refine"]


@pytest.mark.parametrize("documents", [1, 5])
def test_refining_sees_what_question_and_draft_find(graph, documents):
    seen, _ = watched(graph, documents=documents)
    found = [graph.node(node).name for node in plain(graph, f"{QUESTION} {DRAFT}", documents)]
    listed = [line for line in seen["agr-refine"].splitlines() if line[:1].isdigit()]
    assert [line.partition(". ")[2].partition(" (")[0] for line in listed] == found


def test_an_empty_refinement_leaves_the_draft_and_a_note(graph):
    result = ask(graph, writes(refined=""))
    assert ids(result) == plain(graph, f"{QUESTION} {DRAFT}")
    assert any("the draft stands" in note for note in result.notes)


def test_an_empty_analysis_and_draft_do_not_stop_it(graph):
    assert ids(ask(graph, writes(analysis="", draft=""))) == plain(graph, f"{QUESTION} {REFINED}")


@pytest.mark.parametrize("said", ["", Message(role="assistant"), [("search_in_graph", {"query": "x"})]])
def test_a_model_that_writes_nothing_leaves_the_question_and_a_note(graph, said):
    result = ask(graph, lambda messages, tools, sampling: said)
    assert ids(result) == plain(graph, QUESTION)
    assert any("nothing was written" in note for note in result.notes)


@pytest.mark.parametrize("said", ["{", "$draft ${found}", "@1", "\x00\u202e", "[language:nothing]"])
def test_whatever_the_model_writes_the_hits_are_the_graphs_nodes(graph, said):
    result = ask(graph, lambda messages, tools, sampling: said)
    assert result.hits
    assert set(ids(result)) <= set(graph.node_ids())


@pytest.mark.parametrize(
    ("calls", "searched"), [(1, QUESTION), (2, f"{QUESTION} {DRAFT}"), (3, f"{QUESTION} {REFINED}")]
)
def test_a_spent_budget_leaves_the_best_text_so_far(graph, calls, searched):
    result = ask(graph, writes(), run=Allowance(Budget(calls=calls), reserve=0))
    assert result.usage.calls == calls
    assert result.stopped_by == ("finish" if calls == 3 else "calls")
    assert ids(result) == plain(graph, searched)


def test_a_model_that_fails_half_way_leaves_no_ranking(graph):
    def policy(messages, tools, sampling):
        if step_of(messages) == "agr-refine":
            raise ModelError("down")
        return DRAFT

    result = ask(graph, policy)
    assert (result.hits, result.stopped_by, result.usage.calls) == ((), "error", 2)


def test_filters_hold_in_both_searches(graph):
    seen, result = watched(graph, node_types=("language",))
    listed = [line for line in seen["agr-refine"].splitlines() if line[:1].isdigit()]
    assert listed
    assert all("(language)" in line for line in listed)
    assert {hit.type for hit in result.hits} == {"language"}


def test_a_setting_that_cannot_be_is_named():
    with pytest.raises(BadOption, match="documents is 0"):
        AgrConfig(documents=0)
