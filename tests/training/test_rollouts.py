"""Episodes on real tools without a trained model: which questions, what reward, which tokens (003, section 3.4)."""

from __future__ import annotations

import itertools
import json
import threading
from collections import Counter, defaultdict
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, strategies as st

from orienteer.agents import read_trajectories
from orienteer.errors import BadInput
from orienteer.lab.evaluation import Example, Gold, node_reward
from orienteer.lab.replay import replay as replay_trajectory
from orienteer.lab.training import (
    IGNORED_TOKEN,
    CollectConfig,
    EpisodePlayer,
    GraphQuestion,
    GrpoConfig,
    QuestionDeck,
    RewardCollapse,
    collect_trajectories,
    row_of_episode,
)
from orienteer.llm import ScriptedModel
from orienteer.records import Message, Observed, Question, Raw, Reply, Step, ToolCall, ToolSpec, Trajectory
from orienteer.settings import Settings


def config(**options):
    return GrpoConfig.read({name: str(value) for name, value in options.items()})


# ---------------------------------------------------------------------------------------------------------- the deck


def questions(count, levels=("hard", "simple", "medium", None)):
    return [
        GraphQuestion("g", Example(question=Question(id=f"q{at}", text="?"), gold=Gold(), fields={"difficulty": level}))
        for at, level in zip(range(count), itertools.cycle(levels), strict=False)
    ]


@given(st.integers(1, 12), st.integers(1, 9), st.integers(0, 5))
def test_simple_questions_come_first_and_each_as_often_as_the_others(count, batch, seed):
    deck = QuestionDeck(questions(count), config(order="difficulty", refresh=0, random_seed=seed))
    drawn = [deck.draw(batch) for _ in range(3 * count)]
    assert all(len(asked) == batch for asked in drawn)
    flat = [one for asked in drawn for one in asked]
    ranks = [("simple", "medium", "hard", None).index(one.example.fields["difficulty"]) for one in flat]
    if batch <= count:
        first = ranks[:count] if count % batch == 0 else ranks[: count - count % batch]
        assert first == sorted(first)
        counts = Counter(one.key for one in flat)
        assert max(counts.values()) - min(counts.get(one.key, 0) for one in questions(count)) <= 1
    else:
        assert all(
            set(Counter(one.key for one in asked).values()) <= {batch // count, batch // count + 1} for asked in drawn
        )


def test_random_order_mixes_the_levels():
    deck = QuestionDeck(questions(40), config(order="random"))
    levels = [one.example.fields["difficulty"] for one in deck.draw(10)]
    assert len(set(levels)) > 1
    assert [one.key for one in QuestionDeck(questions(40), config(order="random")).draw(10)] == [
        one.key for one in QuestionDeck(questions(40), config(order="random")).draw(10)
    ]


def test_what_all_solve_or_none_is_asked_no_more():
    deck = QuestionDeck(questions(4), config(order="difficulty", refresh=2))
    seen = Counter()
    for _ in range(12):
        [one] = deck.draw(1)
        seen[one.key] += 1
        deck.learn(one.key, [1.0, 1.0] if one.key == "g/q1" else [0.0, 0.0] if one.key == "g/q2" else [0.0, 1.0])
    assert (seen["g/q1"], seen["g/q2"]) == (2, 2)
    assert (seen["g/q0"], seen["g/q3"]) == (4, 4)


def test_a_group_that_differs_begins_the_count_anew_and_the_last_question_stays():
    deck = QuestionDeck(questions(2), config(refresh=2))
    for rewards in ([1.0, 1.0], [0.0, 1.0], [1.0, 1.0]):
        deck.learn("g/q0", rewards)
    assert {one.key for one in deck.draw(2)} == {"g/q0", "g/q1"}
    deck.learn("g/q0", [1.0, 1.0])
    assert {one.key for one in deck.draw(3)} == {"g/q1"}
    for _ in range(5):
        deck.learn("g/q1", [0.0, 0.0])
    assert [one.key for one in deck.draw(1)] == ["g/q1"]


@given(st.lists(st.sampled_from([0.0, 0.1, 0.5, 1.0]), max_size=30), st.integers(0, 4))
def test_rewards_have_collapsed_when_they_stay_under_half_of_the_best(rewards, patience):
    """Looked at by hand: the mean of each `patience` steps on end, the last against the best."""
    collapse, has_happened = RewardCollapse(patience), False
    for at, reward in enumerate(rewards, 1):
        means = (
            [sum(rewards[begin : begin + patience]) / patience for begin in range(at - patience + 1)]
            if patience
            else []
        )
        expected = bool(patience) and at >= 2 * patience and means[-1] < max(means) / 2 - 1e-12
        has_happened = has_happened or expected
        collapse.learn("simple", [reward, reward])
        assert (collapse.reason is not None) is has_happened


# ------------------------------------------------------------------------------------------------------- the tokens


def episode_of(turns):
    """Return a trajectory with these turns, each the token ids of its prompt and of its reply, or None."""
    steps = []
    for turn in turns:
        tokens = {} if turn is None else {"prompt_token_ids": tuple(turn[0]), "token_ids": tuple(turn[1])}
        raw = Raw(text="x", **tokens)
        steps.append(Step(reply=Reply(message=Message(role="assistant", content="x"), raw=raw)))
    return Trajectory(question=Question(id="q", text="?"), method="ark", model="student", steps=tuple(steps))


TOKENS = st.lists(st.integers(0, 50), min_size=1, max_size=6)


@given(st.lists(st.tuples(TOKENS, TOKENS), min_size=1, max_size=5), st.integers(1, 60), st.integers(0, 6))
def test_an_episode_is_its_tokens_as_far_as_they_go_on(parts, most, breaks_at):
    """Built up from parts that are known: what was seen between two replies, and the replies."""
    turns, ids, labels = [], [], []
    for at, (seen, said) in enumerate(parts):
        prompt = [*ids, *seen] if at != breaks_at or at == 0 else [99, *ids, *seen]
        turns.append((prompt, said))
        ids, labels = [*ids, *seen, *said], [*labels, *[IGNORED_TOKEN] * len(seen), *said]
    whole = list(zip(ids, labels, strict=True))
    row, first, learnt = row_of_episode(episode_of(turns), max_length=most, end=7)
    ends = list(itertools.accumulate(len(seen) + len(said) for seen, said in parts))
    allowed = ends[: breaks_at or len(ends)]
    fitting = [end for end in allowed if end <= most] or allowed[:1]  # the first turn is what there is to learn
    assert first == len(parts[0][0])
    assert list(zip(row.input_ids, row.labels, strict=True)) == whole[: fitting[-1]]
    assert learnt == len(fitting)


def test_a_turn_without_tokens_ends_the_row():
    row, first, learnt = row_of_episode(episode_of([([1, 2], [3]), None, ([1, 2, 3, 4], [5])]), max_length=100, end=7)
    assert (first, learnt, row.input_ids, row.labels) == (2, 1, [1, 2, 3], [IGNORED_TOKEN, IGNORED_TOKEN, 3])


@pytest.mark.parametrize("turns", [[], [None], [None, ([1], [2])]])
def test_an_episode_without_tokens_is_a_row_of_which_nothing_is_learnt(turns):
    """A trainer needs a prompt and a completion of it, none of them empty."""
    row, first, learnt = row_of_episode(episode_of(turns), max_length=100, end=7)
    assert learnt == 0
    assert 0 < first < len(row.input_ids)
    assert set(row.labels) == {IGNORED_TOKEN}


def test_hard_questions_after_easy_ones_are_no_collapse():
    collapse = RewardCollapse(2)
    for level, reward in (("simple", 1.0),) * 4 + (("hard", 0.1),) * 9:
        collapse.learn(level, [reward])
    assert collapse.reason is None
    for _ in range(3):
        collapse.learn("hard", [0.0])
    assert collapse.reason is not None
    assert "hard" in collapse.reason


# -------------------------------------------------------------------------------------------------------- the reward

NODES = ("a", "b", "c", "d", "e")
NAMES = {node: (f"Name {node}", f"Name {node} (thing)") for node in NODES}
WALK = ToolSpec(name="walk", description="", parameters={"properties": {"start": {}, "nodes": {}}})


@st.composite
def courses(draw):
    """Draw the calls of a course: what each names, what it shows, and whether it failed."""
    calls = []
    for _ in range(draw(st.integers(0, 7))):
        named = draw(st.lists(st.sampled_from([*NODES, *itertools.chain(*NAMES.values()), "x"]), max_size=3))
        shown = draw(st.lists(st.sampled_from(NODES), max_size=3, unique=True))
        padding = draw(st.sampled_from([0, 0, 25]))
        calls.append((named, (*shown, *(f"other{at}" for at in range(padding))), draw(st.booleans())))
    return calls


def walked(calls, selected, stopped_by):
    steps = []
    for at, (named, shown, failed) in enumerate(calls):
        call = ToolCall(id=f"c{at}", name="walk", arguments=json.dumps({"nodes": named, "ignored": "d"}))
        seen = Observed(call_id=f"c{at}", text="", nodes=shown, error="Failed" if failed else None)
        reply = Reply(message=Message(role="assistant", tool_calls=(call,)))
        steps.append(Step(reply=reply, observations=(seen,)))
    return Trajectory(
        question=Question(id="q", text="?"),
        method="ark",
        model="m",
        tools=(WALK,),
        steps=tuple(steps),
        selected=tuple(selected),
        stopped_by=stopped_by,
    )


@given(
    courses(),
    st.lists(st.sampled_from(NODES), max_size=5, unique=True),
    st.lists(st.sampled_from(NODES), min_size=1, max_size=4, unique=True),
    st.lists(st.sampled_from(NODES), max_size=4, unique=True),
    st.sampled_from(["finish", "finish", "steps", "calls"]),
    st.sampled_from([0.0, 0.4, 1.0]),
)
def test_the_reward_of_nodes_is_f1_by_the_case_rule_less_failed_calls(
    calls, selected, gold, clues, stopped_by, threshold
):
    """Equation 5 in fractions, from what was drawn and not from the trajectory."""
    got = node_reward(
        walked(calls, selected, stopped_by), gold, {clue: NAMES[clue] for clue in clues}, threshold=threshold
    )
    right = len(set(selected) & set(gold))
    is_answered = stopped_by == "finish" and bool(selected)
    precision, recall = Fraction(right, len(selected) or 1), Fraction(right, len(gold))
    f1 = 2 * precision * recall / (precision + recall) if right and is_answered else Fraction(0)
    touched = {
        clue
        for clue in clues
        for named, shown, failed in calls
        if not failed and ({clue, *NAMES[clue]} & set(named) or (len(shown) <= 20 and clue in shown))
    }
    share = Fraction(len(touched), len(clues)) if clues else Fraction(0)
    earned = f1 if f1 >= Fraction(threshold) else min(f1 + share, Fraction(threshold))
    cost = min(Fraction(1, 10), Fraction(2, 100) * sum(failed for *_, failed in calls))
    expected = max(Fraction(0), earned - cost) if is_answered else Fraction(0)
    assert got.total == pytest.approx(float(expected), abs=1e-9)
    assert (set(got.touched), got.answer, got.cost) == (touched, pytest.approx(float(f1)), pytest.approx(float(cost)))


# ---------------------------------------------------------------------------------------------------------- episodes


class Mixed:
    """A policy that solves one episode and fails the next, on real tools; safe among threads."""

    name, price = "student", None

    def __init__(self, golds):
        self._golds, self._begun, self._lock = golds, Counter(), threading.Lock()
        self._is_good = threading.local()

    def chat(self, messages, **options):
        question = messages[1].content.partition(": ")[2]
        if len(messages) == 2:
            with self._lock:
                self._begun[question] += 1
                self._is_good.value = self._begun[question] % 2 == 1
        nodes = self._golds[question] if self._is_good.value else ["h0"]
        calls = [("add_to_answer", {"nodes": list(nodes)}), ("finish", {})]
        objects = [json.dumps({"name": name, "arguments": arguments}) for name, arguments in calls]
        said = "\n".join(f"<tool_call>\n{one}\n</tool_call>" for one in objects)
        return ScriptedModel(lambda *_: said).chat(messages, **options)


@pytest.fixture
def begin(lesson, worlds, tmp_path):
    """Give a function that opens the episodes of the lesson in a folder."""

    def made(folder="t", **options):
        (tmp_path / folder).mkdir(exist_ok=True)
        chosen = config(**{"reward": "nodes", "batch": 2, "group": 4, "turns": 3, **options})
        return EpisodePlayer(lesson, {"ships": worlds["ships"]}, chosen, Settings(), tmp_path / folder)

    return made


@pytest.fixture
def golds(lesson):
    rows = map(json.loads, (lesson / "ships" / "questions.jsonl").read_text().splitlines())
    return {row["question"]: row["nodes"] for row in rows}


def rewards_of(folder):
    return [json.loads(line) for line in (folder / "rewards.jsonl").read_text().splitlines()]


def test_rewards_vary_within_a_group_where_the_policy_is_a_mix(begin, golds, tmp_path):
    played, rewards = begin(refresh=0).play(Mixed(golds), 1)
    assert len(played) == len(rewards) == 8
    for first in (0, 4):
        group = played[first : first + 4]
        assert len({one.question.id for one in group}) == 1, "those of one question one after another"
        assert sorted(reward.total for reward in rewards[first : first + 4])[2:] == [1.0, 1.0]
        assert min(reward.total for reward in rewards[first : first + 4]) < 0.5
    assert [row["total"] for row in rewards_of(tmp_path / "t")] == [round(reward.total, 4) for reward in rewards]


def test_every_episode_is_a_trajectory_that_trace_reads(begin, golds, worlds, tmp_path, cli):
    begin().play(Mixed(golds), 7)
    file = tmp_path / "t" / "rollouts" / "step-00007.jsonl"
    kept = list(read_trajectories(file))
    assert len(kept) == 8
    lines = rewards_of(tmp_path / "t")
    for trajectory, line in zip(kept, lines, strict=True):
        again = node_reward(trajectory, golds[trajectory.question.text], {}, threshold=0.4)
        assert again.answer == pytest.approx(line["answer"], abs=1e-4), "its reward can be taken again from the file"
        assert any(f"total {line['total']:.2f}" in note for note in trajectory.notes)
        assert all(call.is_equal for call in replay_trajectory(trajectory, worlds["ships"]))
    ran = cli("trace", "show", file)
    assert ran.code == 0, ran.err
    assert all(question in ran.out.replace("\n", " ") for question in {one.question.text for one in kept})
    assert cli("trace", "replay", file, worlds["ships"].path).code == 0


def test_no_policy_is_shown_gold(begin, golds):
    class Nosy(Mixed):
        def chat(self, messages, **options):
            text = "\n".join(message.content or "" for message in messages[:2])
            assert not any(f"[{node}]" in text or f'"{node}"' in text for nodes in golds.values() for node in nodes)
            return super().chat(messages, **options)

    begin().play(Nosy(golds), 1)


def drawn(lines):
    steps = defaultdict(list)
    for line in lines:
        steps[line["step"]].append(line["question"])
    return dict(steps)


@pytest.mark.parametrize("at", [0, 1, 3, 5])
def test_taken_up_it_draws_what_would_have_been_drawn(begin, golds, tmp_path, at):
    """Some questions are taken out meanwhile: those that the policy always fails."""
    [failing, *_] = sorted(golds)
    steps = 6

    def policy():
        return Mixed({**golds, failing: ["h0"]})

    whole = begin("whole", refresh=1, order="random", batch=1)
    for step in range(1, steps + 1):
        whole.play(policy(), step)
    cut = begin("cut", refresh=1, order="random", batch=1)
    for step in range(1, min(at + 2, steps) + 1):  # two steps more than the checkpoint has
        cut.play(policy(), step)
    with (tmp_path / "cut" / "rewards.jsonl").open("a") as file:
        file.write('{"step": 9, "quest')  # what a kill leaves of a line
    again = begin("cut", refresh=1, order="random", batch=1)
    again.take_up(at)
    assert {line["step"] for line in rewards_of(tmp_path / "cut")} == set(range(1, at + 1))
    for step in range(at + 1, steps + 1):
        again.play(policy(), step)
    expected = drawn(rewards_of(tmp_path / "whole"))
    assert drawn(rewards_of(tmp_path / "cut")) == expected
    assert sum(failing in {key.partition("/")[2] for key in keys} for keys in expected.values()) <= 1


def test_questions_that_the_reward_cannot_judge_are_told(begin):
    with pytest.raises(BadInput, match="has no questions with gold that reward=paper can judge"):
        begin(reward="paper")


def test_a_quiz_is_judged_by_the_reward_of_the_paper(worlds, tmp_path):
    for module in ("pydantic_monty",):
        pytest.importorskip(module)
    collect_trajectories([worlds["books"]], tmp_path / "c", CollectConfig(teacher="quiz", count=4), settings=Settings())
    rows = map(json.loads, (tmp_path / "c" / "books" / "questions.jsonl").read_text().splitlines())
    answers = {
        row["question"]: ", ".join(row["answers"]) if row["answer_type"] == "set" else row["answers"][0] for row in rows
    }

    def said(messages, tools, sampling):
        question = next(question for question in answers if question in messages[1].content)
        return f"\\answer{{{answers[question]}}}"

    (tmp_path / "t").mkdir()
    chosen = config(batch=4, group=2, turns=2)
    episodes = EpisodePlayer(tmp_path / "c", {"books": worlds["books"]}, chosen, Settings(), tmp_path / "t")
    played, rewards = episodes.play(ScriptedModel(said, "student"), 1)
    assert [reward.total for reward in rewards] == [1.0] * 8
    assert {trajectory.method for trajectory in played} == {"graphscout"}


def test_an_episode_whose_model_fails_at_once_is_worth_nothing_and_ends_no_training(begin, golds):
    """A prompt may be longer than the student takes: of that question alone."""
    from orienteer.errors import ModelError

    class Failing(Mixed):
        def chat(self, messages, **options):
            if sorted(golds)[0] in messages[1].content:
                raise ModelError("a prompt of 9000 tokens: student takes 8192")
            return super().chat(messages, **options)

    played, rewards = begin(batch=4).play(Failing(golds), 1)
    assert len(played) == 16
    lost = [reward.total for one, reward in zip(played, rewards, strict=True) if one.question.text == sorted(golds)[0]]
    assert lost == [0.0] * 4
    assert np.mean([reward.total for reward in rewards]) > 0
