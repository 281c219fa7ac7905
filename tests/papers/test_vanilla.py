"""The bare model (GraphSearch 002, tables 1 and 4, appendix B): the question in, an answer out, nothing retrieved."""

import pytest

from coast import QUESTION, prompts
from fakes import Answer
from orienteer.errors import BudgetExhausted, ModelError
from orienteer.lab.baselines import VANILLA_NOTE, Vanilla
from orienteer.llm import Allowance, Budget, ScriptedModel
from orienteer.records import Question
from orienteer.retriever import failure

pytestmark = pytest.mark.server


def test_the_model_is_asked_the_question_and_nothing_else(asking):
    retriever, server = asking("vanilla", lambda system, user: "It lies on a river. Answer: Orsova.")
    result = retriever.ask(QUESTION)
    assert prompts(server) == [f"Question: {QUESTION}"]
    assert server.bodies[0]["temperature"] == 0
    assert "tools" not in server.bodies[0]
    assert (result.answer, result.long_answer, result.hits) == ("Orsova.", "It lies on a river.", ())
    assert result.usage.calls == 1


def test_that_nothing_was_retrieved_is_told(asking):
    retriever, _ = asking("vanilla", lambda system, user: "Orsova [C1] [d#0].")
    result = retriever.ask(QUESTION)
    [trajectory] = result.trajectories
    assert result.notes == (VANILLA_NOTE,)
    assert (trajectory.selected, trajectory.tools) == ((), ())
    assert trajectory.answer == result.answer == "Orsova [C1] [d#0]."


def test_a_ranking_of_it_is_empty_free_and_told(asking):
    retriever, server = asking("vanilla", lambda system, user: "never")
    result = retriever.search(QUESTION)
    assert (result.hits, result.answer, result.notes) == ((), None, (VANILLA_NOTE,))
    assert (result.usage.calls, server.bodies) == (0, [])


def test_what_a_model_thinks_aloud_is_no_answer(asking):
    retriever, _ = asking("vanilla", lambda system, user: "<think>Paris? No.</think>\nOrsova.")
    assert retriever.ask(QUESTION).answer == "Orsova."


def test_an_answer_that_is_not_parted_from_its_reasoning_is_all_that_was_said(asking):
    retriever, _ = asking("vanilla", lambda system, user: "It lies on a river. It is Orsova.")
    result = retriever.ask(QUESTION)
    assert result.answer == "It lies on a river. It is Orsova."
    assert result.notes[1:] == ("the answer is not parted from its reasoning",)


def test_a_model_that_says_nothing_has_no_answer(asking):
    retriever, _ = asking("vanilla", lambda system, user: "")
    result = retriever.ask(QUESTION)
    assert result.answer is None
    assert "no answer: the model said nothing" in result.notes


def test_an_answer_that_was_cut_off_is_told(asking):
    retriever, _ = asking("vanilla", lambda system, user: Answer(content="Answer: Ors", finish_reason="length"))
    result = retriever.ask(QUESTION)
    told = "no answer: the model's reply was cut off at the length limit"
    assert (result.answer, result.notes[1:]) == (None, (told,))


def test_a_dead_server_is_an_error(asking):
    retriever, _ = asking("vanilla", lambda system, user: Answer(status=500))
    result = retriever.ask(QUESTION)
    assert result.answer is None
    assert isinstance(failure(result), ModelError)


def test_a_spent_budget_is_an_error_and_no_empty_answer(coast):
    model, run = ScriptedModel(lambda *_: "never"), Allowance(Budget(calls=1), reserve=0)
    run.check()
    result = Vanilla(coast, model).retrieve_and_answer(Question(text=QUESTION), run, model)
    assert (result.answer, result.stopped_by) == (None, "calls")
    assert isinstance(failure(result), BudgetExhausted)


@pytest.mark.parametrize("budget", [Budget(calls=1), Budget(tokens=5), Budget(seconds=60)])
def test_one_call_is_within_every_budget(asking, budget):
    retriever, _ = asking("vanilla", lambda system, user: "Orsova.", budget=budget)
    assert retriever.ask(QUESTION).answer == "Orsova."


def test_the_seed_of_the_run_is_the_models(asking):
    retriever, server = asking("vanilla", lambda system, user: "x", random_seed=7)
    assert retriever.ask(QUESTION).trajectories[0].sampling.random_seed == 7
    assert server.bodies[0]["seed"] == 7
