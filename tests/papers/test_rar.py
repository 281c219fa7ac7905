"""RAR, LameR (Shen et al. 2024): search, write answers in the likeness of what was found, search again."""

import json

import pytest

from fakes.limits import limits_in
from orienteer.errors import BadOption, ModelError
from orienteer.ingest import demo_records
from orienteer.lab.baselines import Rar, RarConfig
from orienteer.llm import Allowance, Budget, ScriptedModel
from orienteer.records import Message, Question

QUESTION = "Which languages did Niklaus Wirth design?"
ANSWERS = "Modula-2 added modules to Pascal.\n\nOberon is the smallest of them."


@pytest.fixture(scope="module")
def graph(build):
    return build(*demo_records())


def ask(graph, policy, *, question=QUESTION, run=None, **options):
    limits = limits_in(options)
    rar = Rar(graph, ScriptedModel(policy), RarConfig(**options))
    return rar.retrieve(Question(text=question, **limits), run or Allowance(random_seed=7))


def says(text):
    return lambda messages, tools, sampling: text


def ids(result):
    return [hit.id for hit in result.hits]


def searches(result):
    return [
        json.loads(call.arguments) for step in result.trajectories[0].steps for call in step.reply.message.tool_calls
    ]


def plain(graph, query, k=20):
    return [hit.id for hit in graph.search(query, k)]


def shown_to_the_model(graph, **options):
    seen = []

    def policy(messages, tools, sampling):
        seen.append(messages[-1].content)
        return ANSWERS

    ask(graph, policy, **options)
    [text] = seen
    return text


def test_one_call_stands_between_two_searches(graph):
    result = ask(graph, says(ANSWERS))
    first, second = searches(result)
    assert result.usage.calls == 1
    assert first == {"query": QUESTION, "k": 10}
    assert second == {"query": f"{QUESTION}\n{ANSWERS}", "k": 20}
    assert ids(result) == plain(graph, f"{QUESTION} {ANSWERS}")


@pytest.mark.parametrize("candidates", [1, 3, 10])
def test_the_model_sees_the_question_and_the_top_candidates_of_it_best_first(graph, candidates):
    text = shown_to_the_model(graph, candidates=candidates)
    top = [graph.node(node) for node in plain(graph, QUESTION, candidates)]
    lines = [line for line in text.splitlines() if line[:1].isdigit()]
    assert QUESTION in text
    assert [line.partition(":")[0] for line in lines] == [
        f"{place}. {node.name} ({node.type})" for place, node in enumerate(top, 1)
    ]
    assert all(node.text[:30] in line for node, line in zip(top, lines, strict=True) if len(node.text) <= 300)


def test_the_model_is_told_how_many_answers_are_wanted(graph):
    assert "Passages wanted: 5" in shown_to_the_model(graph)
    assert "Passages wanted: 2" in shown_to_the_model(graph, answers=2)


def test_the_defaults():
    config = RarConfig()
    assert (config.candidates, config.answers) == (10, 5)


def test_answers_that_no_candidate_held_reach_new_nodes(graph):
    result = ask(graph, says("Erlang comes from telephony."), question="Which tongue did telephonists need?")
    assert "language:erlang" in ids(result)
    assert "language:erlang" not in plain(graph, "Which tongue did telephonists need?", 10)


def test_a_question_that_finds_nothing_is_answered_from_what_the_model_knows(graph):
    seen = []

    def policy(messages, tools, sampling):
        seen.append(messages[-1].content)
        return "Erlang"

    result = ask(graph, policy, question="zzzqq?")
    assert "none" in seen[0]
    assert ids(result)[0] == "language:erlang"


@pytest.mark.parametrize("said", ["", Message(role="assistant"), [("finish", {})]])
def test_a_model_that_writes_nothing_leaves_the_first_search(graph, said):
    result = ask(graph, says(said))
    assert ids(result)[:10] == plain(graph, QUESTION, 10)
    assert any("nothing was written" in note for note in result.notes)


@pytest.mark.parametrize("said", ["{", '["a", 1, null]', "@1 @2", "$candidates", "\x00", "[language:nothing] (River)"])
def test_whatever_the_model_writes_the_hits_are_the_graphs_nodes(graph, said):
    result = ask(graph, says(said))
    assert result.hits
    assert set(ids(result)) <= set(graph.node_ids())


def test_a_spent_budget_leaves_the_question_alone(graph):
    result = ask(graph, says(ANSWERS), run=Allowance(Budget(calls=1), reserve=1))
    assert (result.usage.calls, result.stopped_by) == (0, "calls")
    assert set(ids(result)[:10]) == set(plain(graph, QUESTION, 10))


def test_a_failed_model_leaves_no_ranking(graph):
    def policy(messages, tools, sampling):
        raise ModelError("down")

    result = ask(graph, policy)
    assert (result.hits, result.stopped_by) == ((), "error")


def test_candidates_are_of_the_types_that_answers_may_have(graph):
    text = shown_to_the_model(graph, node_types=("language",))
    lines = [line for line in text.splitlines() if line[:1].isdigit()]
    assert lines
    assert all("(language)" in line for line in lines)
    assert {hit.type for hit in ask(graph, says(ANSWERS), node_types=("language",)).hits} == {"language"}


@pytest.mark.parametrize("options", [{"candidates": 0}, {"answers": 0}, {"candidates": 101}])
def test_a_setting_that_cannot_be_is_named(options):
    [(name, value)] = options.items()
    with pytest.raises(BadOption, match=f"{name} is {value}"):
        RarConfig(**options)
