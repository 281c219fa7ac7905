"""The judge: what it is asked, what becomes of its verdicts, what it never becomes, and going on after a stop."""

import json
import time
from threading import Lock

import pytest

from orienteer.errors import BadInput, BadOption, BudgetExhausted, GraphBusy, ModelError
from orienteer.lab.evaluation import (
    JUDGE_CRITERIA,
    JUDGED_FILE,
    Example,
    Gold,
    RunLine,
    RunManifest,
    StoredRun,
    gold_evidence,
    held_run,
    judge_prompt_hashes,
    judge_run,
    read_judgements,
)
from orienteer.llm import Allowance, Budget, ScriptedModel
from orienteer.records import Question, Usage

GOLD = Gold(nodes={"f1": 1.0}, answers=("Night Ferry", "The Night Ferry"), answer_type="entity")


def make_run(path, lines):
    manifest = RunManifest(
        graph="small", graph_sha256="g", nodes=1, edges=0, dataset="jsonl", questions_sha256="q", count=len(lines),
        answers=True, orienteer="0", python="3", created="now",
    )  # fmt: skip
    examples = tuple(Example(question=Question(id=line.id, text=line.question), gold=line.gold) for line in lines)
    return StoredRun(path, manifest, examples, tuple(lines))


def line(number=1, answer="It is Night Ferry.", **other):
    return RunLine(id=f"q{number}", method="ark", question=f"Which film, {number}?", answer=answer, gold=GOLD, **other)


def marks(*values):
    """Say a verdict with these marks for the three criteria of a prompt."""

    def policy(messages, _tools, _sampling):
        names = next(names for names in JUDGE_CRITERIA.values() if names and names[0] in messages[0].content)
        return json.dumps(
            {name: {"reason": f"as {name}", "mark": mark} for name, mark in zip(names, values, strict=True)}
        )

    return policy


def test_the_a_score_keeps_its_three_criteria(tmp_path):
    (verdict,) = judge_run(make_run(tmp_path, [line()]), ScriptedModel(marks(9, 7, 5), "judge"))
    assert verdict.criteria == {"correctness": 9, "coherence": 7, "comprehensiveness": 5}
    assert verdict.mean == 7
    assert verdict.reasons["coherence"] == "as coherence"
    assert (verdict.id, verdict.method, verdict.score, verdict.model, verdict.error) == (
        "q1",
        "ark",
        "A-Score",
        "judge",
        None,
    )
    assert verdict.prompt_sha256 == judge_prompt_hashes()["A-Score"]
    assert read_judgements(tmp_path) == (verdict,)


def test_what_the_judge_sees(tmp_path):
    seen = []

    def policy(messages, _tools, sampling):
        seen.append((messages, sampling))
        return marks(1, 1, 1)(messages, (), sampling)

    judge_run(make_run(tmp_path, [line()]), ScriptedModel(policy))
    ((messages, sampling),) = seen
    assert [message.role for message in messages] == ["system", "user"]
    assert sampling.temperature == 0
    for part in ("Which film, 1?", "Night Ferry\n", "The Night Ferry", "It is Night Ferry."):
        assert part in messages[1].content
    assert "It is Night Ferry." not in messages[0].content


def test_the_e_score_needs_evidence_and_shows_it(tmp_path, small):
    run = make_run(tmp_path, [line()])
    with pytest.raises(BadOption, match="E-Score"):
        judge_run(run, ScriptedModel(marks(1, 1, 1)), scores=["E-Score"])
    seen = []

    def policy(messages, tools, sampling):
        seen.append(messages[1].content)
        return marks(10, 8, 6)(messages, tools, sampling)

    (verdict,) = judge_run(run, ScriptedModel(policy), scores=["E-Score"], evidence=gold_evidence(small))
    assert tuple(verdict.criteria) == ("relevance", "knowledgeability", "factuality")
    assert verdict.mean == 8
    assert "Night Ferry (film): A ferry captain finds a stranger" in seen[0]


def test_evidence_that_the_graph_does_not_hold_is_no_evidence(tmp_path, small):
    lost = line().model_copy(update={"gold": Gold(nodes={"gone": 1.0}, answers=("x",))})
    run = make_run(tmp_path, [lost])
    assert judge_run(run, ScriptedModel(marks(1, 1, 1)), scores=["E-Score"], evidence=gold_evidence(small)) == ()


@pytest.mark.parametrize(("reply_text", "value"), [("yes", 1.0), ("no", 0.0)])
def test_qwenscore(tmp_path, reply_text, value):
    model = ScriptedModel(lambda *_: json.dumps({"verdict": reply_text}))
    (verdict,) = judge_run(make_run(tmp_path, [line()]), model, scores=["QwenScore"])
    assert verdict.mean == value


UNREADABLE = [
    "I would say seven.",
    "{}",
    '{"correctness": 5, "coherence": 5, "comprehensiveness": 5}',
    json.dumps({name: {"reason": "", "mark": 11} for name in JUDGE_CRITERIA["A-Score"]}),
    json.dumps({name: {"reason": "", "mark": 5.5} for name in JUDGE_CRITERIA["A-Score"]}),
    json.dumps({name: {"reason": "", "mark": 5} for name in JUDGE_CRITERIA["A-Score"][:2]}),
    "",
]


@pytest.mark.parametrize("reply_text", UNREADABLE)
def test_a_verdict_that_cannot_be_read_is_an_error_and_no_mark(tmp_path, reply_text):
    prompts = []

    def policy(messages, *_):
        prompts.append(len(messages))
        return reply_text

    run = make_run(tmp_path, [line()])
    (verdict,) = judge_run(run, ScriptedModel(policy))
    assert len(prompts) == 2  # one repair turn
    assert verdict.criteria == {}
    assert "the verdict" in verdict.error
    assert verdict.usage.calls == 2
    assert judge_run(run, ScriptedModel(policy)) == ()  # temperature 0 would say the same again
    assert len(prompts) == 2


def test_a_repaired_verdict_counts(tmp_path):
    def policy(messages, tools, sampling):
        return "seven" if len(messages) == 2 else marks(7, 7, 7)(messages, tools, sampling)

    (verdict,) = judge_run(make_run(tmp_path, [line()]), ScriptedModel(policy))
    assert verdict.mean == 7


def test_what_is_no_answer_or_has_no_gold_is_not_asked_about(tmp_path):
    nothing = [
        line(1, answer=None),
        line(2, answer=""),
        line(3, error="it failed"),
        line(4).model_copy(update={"gold": Gold(nodes={"f1": 1.0})}),
    ]
    assert judge_run(make_run(tmp_path, nothing), ScriptedModel(marks(1, 1, 1))) == ()


class Failing:
    """Answers the first so many calls, then fails."""

    name, price = "judge", None

    def __init__(self, answers):
        self.left, self.asked, self._lock = answers, 0, Lock()
        self._model = ScriptedModel(marks(4, 4, 4))

    def chat(self, messages, **other):
        with self._lock:
            self.asked += 1
            self.left -= 1
            if self.left < 0:
                time.sleep(0.002)  # as long as a refusal takes at least
                raise ModelError("the server is gone")
        return self._model.chat(messages, **other)


def test_judging_goes_on_where_it_stopped_and_pays_nothing_twice(tmp_path):
    run = make_run(tmp_path, [line(number) for number in range(10)])
    first = Failing(4)
    judgements = judge_run(run, first)
    assert sum(judgement.error is None for judgement in judgements) == 4
    assert len(read_judgements(tmp_path)) == 4  # a model that was not reached has given no verdict
    with (tmp_path / JUDGED_FILE).open("ab") as file:
        file.write(b'{"id": "q9", "meth')  # killed in the midst of a line
    second = Failing(100)
    judge_run(run, second)
    assert second.asked == 6
    assert {judgement.id for judgement in read_judgements(tmp_path)} == {line.id for line in run.lines}
    assert judge_run(run, Failing(100)) == ()


def test_two_judges_at_once_do_not_pay_twice(tmp_path):
    run, model = make_run(tmp_path, [line()]), Failing(100)
    with held_run(tmp_path), pytest.raises(GraphBusy):
        judge_run(run, model)
    assert model.asked == 0


def test_side_by_side_is_the_same_as_one_by_one(tmp_path):
    lines = [line(number, answer=f"answer {number}") for number in range(20)]
    judgements_heard = []
    judgements = judge_run(
        make_run(tmp_path, lines), ScriptedModel(marks(1, 2, 3)), workers=8, listener=judgements_heard.append
    )
    assert sorted(judgement.id for judgement in judgements) == sorted(line.id for line in lines)
    assert (
        sorted(judgement.id for judgement in judgements_heard)
        == sorted(judgement.id for judgement in read_judgements(tmp_path))
        == sorted(line.id for line in lines)
    )


def test_another_answer_another_judge_and_another_prompt_are_asked_again(tmp_path):
    run = make_run(tmp_path, [line()])
    assert len(judge_run(run, ScriptedModel(marks(1, 1, 1), "one"))) == 1
    assert len(judge_run(run, ScriptedModel(marks(2, 2, 2), "two"))) == 1
    other = make_run(tmp_path, [line(answer="Salt")])
    (again,) = judge_run(other, ScriptedModel(marks(3, 3, 3), "two"))
    assert again.is_about("Salt")
    assert not again.is_about("It is Night Ferry.")
    assert not again.is_about(None)


@pytest.mark.slow
def test_a_dead_server_ends_it_early(tmp_path):
    dead = Failing(0)
    with pytest.raises(ModelError, match="none of its first 5 calls"):
        judge_run(make_run(tmp_path, [line(number) for number in range(200)]), dead)
    assert dead.asked < 200


def test_a_spent_budget_ends_it_with_what_was_judged_kept(tmp_path):
    run = make_run(tmp_path, [line(number) for number in range(6)])
    with pytest.raises(BudgetExhausted):
        judge_run(
            run, ScriptedModel(marks(1, 1, 1), usage=Usage(calls=1)), allowance=Allowance(Budget(calls=3), reserve=0)
        )
    assert len(read_judgements(tmp_path)) == 3


def test_an_unknown_score_and_a_broken_file_are_errors(tmp_path):
    run = make_run(tmp_path, [line()])
    with pytest.raises(BadOption, match="B-Score"):
        judge_run(run, ScriptedModel(marks(1, 1, 1)), scores=["B-Score"])
    (tmp_path / JUDGED_FILE).write_text('{"id": 1}\n')
    with pytest.raises(BadInput, match="judge again"):
        read_judgements(tmp_path)


def test_nothing_was_judged_in_a_run_without_the_file(tmp_path):
    assert read_judgements(tmp_path) == ()


def test_each_prompt_has_its_own_hash():
    hashes = judge_prompt_hashes()
    assert len(set(hashes.values())) == len(JUDGE_CRITERIA)
