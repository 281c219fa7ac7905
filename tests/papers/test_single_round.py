"""One round of retrieval and generation (GraphSearch 002, figure 2): from text, from the graph, from both."""

import json

import pytest

from coast import BORN, QUESTION, prompts
from fakes import Answer
from fakes.limits import limits_in
from fakes.refusals import answer_of
from orienteer.agents import NOT_THERE
from orienteer.errors import BadOption, BudgetExhausted, ModelError
from orienteer.lab.evaluation import AskTask, Example, Gold, MethodVariant, outcome_of, short_answer
from orienteer.lab.replay import replay as replay_trajectory
from orienteer.llm import Allowance, Budget, ScriptedModel
from orienteer.methods import KnowledgeBaseMethod, method_of
from orienteer.records import Question
from orienteer.retrieval import Evidence, NaiveConfig, Scored
from orienteer.retriever import failure

ANSWER = "Varga drew the light [N1]. She was born there [C1]. **Answer:** Orsova [C1, E1]"


class Fixed:
    """A retriever that always gathers the same."""

    name = "naive"

    def __init__(self, graph, evidence, **options):
        self.graph, self.evidence, self.config = graph, evidence, NaiveConfig(**options)

    def gather(self, query, run):
        if isinstance(self.evidence, Exception):
            raise self.evidence
        return self.evidence


def whole(graph):
    nodes = tuple(Scored(graph.node(one), 1.0) for one in ("d#1", "person:varga", "d#0"))
    return Evidence(nodes, (Scored(BORN, 1.0),), (Scored((BORN,), 1.0),))


def answered(graph, evidence, words=ANSWER, *, run=None, **options):
    limits = limits_in(options)
    seen = []

    def policy(messages, tools, sampling):
        seen.append(messages[-1].content)
        if isinstance(words, Exception):
            raise words
        return words

    method = KnowledgeBaseMethod(Fixed(graph, evidence, **options))
    method.name = "fixed"
    result = method.retrieve_and_answer(
        Question(text=QUESTION, **limits), run or Allowance(reserve=1), ScriptedModel(policy)
    )
    return result, seen


LINES = {"text": "[C1] Ines Varga (chunk)", "entity": "[N1] Ines Varga (person)"}
LINES |= {"relation": "[E1] Ines Varga -born_in-> Orsova: in 1871", "path": "[P1] Ines Varga -born_in-> Orsova"}


@pytest.mark.parametrize(
    ("part", "kept"),
    [("all", set(LINES)), ("text", {"text"}), ("graph", {"entity", "relation", "path"})],
)
def test_the_model_reads_the_part_that_is_asked_for_in_one_call(coast, part, kept):
    _, [prompt] = answered(coast, whole(coast), answer_from=part)
    assert {name for name, line in LINES.items() if line in prompt.splitlines()} == kept
    assert prompt.endswith(f"Question: {QUESTION}")


def test_labels_become_the_ids_that_they_stand_for(coast):
    result, _ = answered(coast, whole(coast))
    assert result.answer == "Orsova [d#1][person:varga][town:orsova]"
    assert result.long_answer == "Varga drew the light [person:varga]. She was born there [d#1]."
    assert result.trajectories[-1].selected == ("d#1", "person:varga", "town:orsova")
    assert result.notes == ()


@pytest.mark.parametrize(
    ("words", "note"),
    [
        ("Orsova [C9].", "cites what is not in the evidence: C9"),
        ("Orsova [d#1].", "cites what is not in the evidence: d#1"),
        ("Orsova.", "cites nothing of the evidence"),
        ("She was born there. Orsova [C1].", "not parted from its reasoning"),
        ("", "the model said nothing"),
    ],
)
def test_what_is_wrong_with_an_answer_is_said(coast, words, note):
    result, _ = answered(coast, whole(coast), words)
    assert result.answer == (words.replace("[C1]", "[d#1]") or None)
    assert len(result.notes) == 1
    assert note in result.notes[0]


def test_not_in_the_evidence_is_a_refusal(coast):
    result, _ = answered(coast, whole(coast), "Not in the evidence.")
    assert (answer_of(result), result.notes) == (NOT_THERE, ())
    result, _ = answered(coast, whole(coast), "Much of gulls [C1]. Answer: not in the evidence.")
    assert (answer_of(result), result.notes) == (NOT_THERE, ())
    assert "; the model says: Much of gulls [" in result.refusal.text


def test_without_evidence_nothing_is_asked_and_nothing_is_claimed(coast):
    result, seen = answered(coast, Evidence(reason="no name is known"))
    assert (answer_of(result), seen, result.notes) == (NOT_THERE, [], ("no name is known",))


def test_a_part_that_holds_nothing_is_told(coast):
    passages = Evidence((Scored(coast.node("d#0"), 1.0),))
    result, seen = answered(coast, passages, answer_from="graph")
    assert (answer_of(result), seen) == (NOT_THERE, [])
    assert result.notes == ("nothing of the evidence is graph",)
    assert [hit.id for hit in result.hits] == ["d#0"]


@pytest.mark.parametrize("error", [ModelError("gone"), BudgetExhausted("calls", "spent")])
def test_evidence_that_could_not_be_gathered_gives_no_answer(coast, error):
    result, seen = answered(coast, error)
    assert (result.answer, seen) == (None, [])
    assert failure(result) is not None


def test_a_budget_of_tokens_cuts_the_evidence_and_says_so(coast):
    result, [prompt] = answered(coast, whole(coast), answer_from="text", answer_tokens=120)
    assert "[C1] Ines Varga (chunk)" in prompt
    assert "Mill Light is" not in prompt
    assert result.notes[0] == "1 of 2 pieces of the evidence had no room in the answer's prompt"


def test_evidence_that_has_no_room_at_all_is_no_missing_evidence(coast):
    result, seen = answered(coast, whole(coast), answer_from="text", answer_tokens=5)
    assert (result.answer, seen) == (None, [])
    assert result.notes == ("2 of 2 pieces of the evidence had no room in the answer's prompt",)


def test_the_answers_call_comes_out_of_the_reserve(coast):
    run = Allowance(Budget(calls=1), reserve=1)
    with pytest.raises(BudgetExhausted):
        run.check()
    result, seen = answered(coast, whole(coast), run=run)
    assert len(seen) == 1
    assert result.answer.startswith("Orsova")


@pytest.mark.server
def test_naive_with_a_model_is_naive_rag(asking):
    retriever, server = asking("naive", lambda system, user: "Orsova [C1].")
    result = retriever.ask("Who was Ines Varga?", 2)
    [prompt] = prompts(server)
    assert "She was born in Orsova." in prompt  # a passage is read whole, also where a hit shows a part
    assert "She was born in Orsova." not in result.hits[0].text
    assert server.bodies[0]["temperature"] == 0
    assert len(result.hits) == 2
    assert prompt.count("[C") == len(result.hits)
    assert result.answer == f"Orsova [{result.hits[0].id}]."
    assert (result.usage.calls, result.stopped_by) == (1, "finish")
    assert [one.method for one in result.trajectories] == ["naive", "answer"]


@pytest.mark.server
def test_a_ranking_alone_asks_no_model(asking):
    retriever, server = asking("naive", lambda system, user: "never")
    assert retriever.search(QUESTION).answer is None
    assert server.bodies == []


@pytest.mark.server
def test_the_way_of_answering_is_no_part_of_the_search(asking, coast):
    retriever, _ = asking("naive", lambda system, user: "x", answer_from="text", answer_tokens=500)
    gathered = retriever.ask(QUESTION, 3).trajectories[0]
    said = json.loads(gathered.steps[0].reply.message.tool_calls[0].arguments)
    assert said["options"] == {"k": 3}
    assert [one.is_equal for one in replay_trajectory(gathered, coast)] == [True]


@pytest.mark.server
@pytest.mark.parametrize("calls", [1, 2])
def test_a_small_budget_still_answers(asking, calls):
    retriever, _ = asking("naive", lambda system, user: "Orsova [C1].", budget=Budget(calls=calls))
    result = retriever.ask(QUESTION)
    assert result.answer.startswith("Orsova [")
    assert result.usage.calls == 1


@pytest.mark.server
def test_a_dead_server_is_an_error_and_no_answer(asking):
    retriever, _ = asking("naive", lambda system, user: Answer(status=500))
    result = retriever.ask(QUESTION)
    assert result.answer is None
    assert result.hits
    assert isinstance(failure(result), ModelError)


def test_what_answers_come_from_is_checked():
    with pytest.raises(BadOption, match="answer_from is 'edges': it must be one of all, text, graph"):
        NaiveConfig(answer_from="edges")


def test_what_an_answer_cites_is_no_part_of_it_to_a_measure(asking, tmp_path, coast):
    """The labels of relations stand for entities, which are no hits of a ranking of passages."""
    relational = KnowledgeBaseMethod(Fixed(coast, whole(coast)))
    relational.name = "naive"
    result = relational.retrieve_and_answer(Question(text=QUESTION), Allowance(), ScriptedModel(lambda *_: ANSWER))
    variant = MethodVariant("naive", method_of("naive"), {})
    asked = Example(question=Question(id="q", text=QUESTION), gold=Gold(answers=("Orsova",)))
    line = outcome_of(AskTask(asked, variant), result).line
    assert line.cited == ("person:varga", "town:orsova")
    assert short_answer(line.answer, line.citations) == "Orsova"
