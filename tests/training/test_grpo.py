"""Training by reward: real episodes, the paper's step, and nothing that is learnt but the policy's own tokens."""

from __future__ import annotations

import inspect
import json
from collections import defaultdict
from types import SimpleNamespace

import pytest

from fakes.inside import inside
from orienteer.agents import read_trajectories
from orienteer.errors import BadInput, BadOption
from orienteer.lab.evaluation import Reward
from orienteer.lab.replay import replay as replay_trajectory
from orienteer.lab.training import (
    GrpoConfig,
    RewardCollapse,
    StudentPolicy,
    grpo_trainer,
    open_student,
    read_training,
    reinforce,
    samples_by_vllm,
    vllm_sampler,
)
from orienteer.records import Message, Question, Raw, Reply, Step, Trajectory
from orienteer.settings import Settings
from training import tiny

torch = pytest.importorskip("torch")
pytest.importorskip("trl")
pytestmark = [pytest.mark.training, pytest.mark.filterwarnings("ignore")]  # what the libraries tell each other

SMALL = {
    **tiny.SETTINGS, "reward": "nodes", "batch": "2", "group": "4", "micro_batch": "8", "turns": "3", "order": "random",
    "most_tokens": "64", "max_length": "1200", "save_steps": "1", "max_steps": "3", "learning_rate": "1e-4",
    "refresh": "1",
}  # fmt: skip


def config(**options):
    return GrpoConfig.read({**SMALL, **{name: str(value) for name, value in options.items()}})


def lines_of(file):
    return [json.loads(line) for line in file.read_text().splitlines()]


def weights(folder):
    from safetensors.torch import load_file

    return load_file(folder / "model.safetensors")


@pytest.fixture(scope="module")
def train(lesson, worlds, pupil):
    """Give a function that trains the pupil by reward in a folder."""

    def run(folder, progress=lambda stage, done: None, student=None, **options):
        with tiny.no_warnings():
            return reinforce(
                *(lesson, folder, str(student or pupil / "model"), config(**options), {"ships": worlds["ships"]}),
                settings=Settings(),
                progress=progress,
            )

    return run


@pytest.fixture(scope="module")
def trained(train, scratch):
    """Give the folder of a training of three steps."""
    folder = scratch()
    train(folder)
    return folder


@pytest.fixture(scope="module")
def varied(train, scratch):
    """Give the folder of a training in which some episodes of a group fail and some do not."""
    folder = scratch()
    train(folder, temperature=0.8, group=8, micro_batch=16)
    return folder


# ------------------------------------------------------------------------------------------------------ on real tools


def test_each_step_has_a_line_with_every_term_of_the_reward(trained):
    log, rewards = lines_of(trained / "log.jsonl"), lines_of(trained / "rewards.jsonl")
    assert [line["step"] for line in log] == [1, 2, 3]
    assert [line["step"] for line in rewards] == [1] * 8 + [2] * 8 + [3] * 8
    for line in log:
        own = [row for row in rewards if row["step"] == line["step"]]
        for term in ("total", "answer", "clues", "cost"):
            assert line[f"rewards/{term}/mean"] == pytest.approx(sum(row[term] for row in own) / 8, abs=1e-4)
        assert line["reward"] == pytest.approx(line["rewards/total/mean"]), "the others are logged, and not trained on"
    assert read_training(trained).reward == log[-1]["reward"]


def test_rewards_vary_within_a_group_and_then_weights_move(varied, pupil):
    groups = defaultdict(list)
    for row in lines_of(varied / "rewards.jsonl"):
        groups[row["step"], row["question"]].append(row["total"])
    assert all(len(group) % 8 == 0 for group in groups.values()), "a short deck asks one question twice"
    uneven = {step for (step, _), group in groups.items() if len(set(group)) > 1}
    assert uneven
    log = {line["step"]: line for line in lines_of(varied / "log.jsonl")}
    assert all((log[step]["grad_norm"] > 0) == (step in uneven) for step in log if step == 1)
    before, after = weights(pupil / "model"), weights(varied / "model")
    assert set(before) == set(after)
    assert any(not torch.equal(before[name], after[name]) for name in before)


def test_every_rollout_is_a_trajectory_that_trace_reads(trained, worlds, cli):
    for step in (1, 2, 3):
        file = trained / "rollouts" / f"step-{step:05}.jsonl"
        kept = list(read_trajectories(file))
        assert len(kept) == 8
        assert all(call.is_equal for one in kept for call in replay_trajectory(one, worlds["ships"]))
        assert cli("trace", "show", file, "-q").code == 0
    assert all(step.reply.raw.token_ids is None for one in kept for step in one.steps), "they would be most of the file"


def test_a_finished_training_is_not_done_again(trained, train):
    told = []
    assert train(trained, lambda *at: told.append(at)) == read_training(trained)
    assert not told
    with pytest.raises(BadInput, match=r"other conditions: kl \("):
        train(trained, kl=0.5)


def test_kl_needs_a_student_to_compare_with(train, tmp_path):
    (tmp_path / "s.gguf").write_bytes(b"GGUF")
    with pytest.raises(BadOption, match="kl compares with the student at the beginning"):
        train(tmp_path / "t", student=tmp_path / "s.gguf")


def test_a_divergence_is_logged_where_it_has_a_weight(train, tmp_path):
    train(tmp_path / "t", kl=0.1, max_steps=2, learning_rate=1e-3)
    first, second = lines_of(tmp_path / "t" / "log.jsonl")
    assert first["kl"] == pytest.approx(0.0, abs=1e-6), "equation 6: from the student at the beginning"
    assert second["kl"] >= 0


def test_lora_trains_too(train, tmp_path, pupil):
    done = train(tmp_path / "t", lora=4, max_steps=1)
    assert done.is_complete
    assert set(weights(tmp_path / "t" / "model")) == set(weights(pupil / "model"))


@pytest.mark.parametrize("micro_batch", [3, 16])
def test_a_step_that_cannot_be_parted_so_is_told_in_a_sentence(train, tmp_path, micro_batch):
    """8 episodes in parts of 3, or of 16."""
    with pytest.raises(BadOption, match="micro_batch"):
        train(tmp_path / "t", micro_batch=micro_batch, max_steps=1)


# ------------------------------------------------------------------------------------------------------------ resuming


class Killed(BaseException):
    """What ends a process, as far as one can be ended within a test."""


@pytest.mark.parametrize("at", [1, 3])
def test_killed_at_any_step_it_goes_on_without_gaps_or_doubles(train, trained, tmp_path, at):
    def progress(stage, done):
        if stage == "steps" and done == at:
            raise Killed

    with pytest.raises(Killed):
        train(tmp_path / "t", progress)
    done = train(tmp_path / "t")
    assert done.steps == 3
    assert [line["step"] for line in lines_of(tmp_path / "t" / "log.jsonl")] == [1, 2, 3]
    rewards = lines_of(tmp_path / "t" / "rewards.jsonl")
    assert [line["step"] for line in rewards] == [1] * 8 + [2] * 8 + [3] * 8
    if at == 1:  # no checkpoint yet: all is drawn anew
        drawn = [line["question"] for line in rewards if line["step"] == 1]
        assert drawn == [line["question"] for line in lines_of(trained / "rewards.jsonl") if line["step"] == 1]
    assert sorted(file.name for file in (tmp_path / "t" / "rollouts").iterdir()) == [
        f"step-{step:05}.jsonl" for step in (1, 2, 3)
    ]


# -------------------------------------------------------------------------------- gradients, by hand (equations 6 to 8)


class Fixed:
    """Episodes that are known, with their rewards: what a trainer is given in place of those that are played."""

    def __init__(self, episodes, rewards, *, patience=0):
        self.episodes, self.rewards, self.collapse = episodes, rewards, RewardCollapse(patience)

    def play(self, policy, step):
        got = self.rewards[(step - 1) % len(self.rewards)]
        self.collapse.learn("simple", got)
        return self.episodes, [
            Reward(
                mode="nodes",
                answer_text=None,
                answer=total,
                clues=0.0,
                touched=(),
                failed_calls=0,
                cost=0.0,
                total=total,
            )
            for total in got
        ]


def known(turns):
    """Return a trajectory of token ids: (what is new in the prompt, what was sampled) of each turn."""
    steps, ids = [], []
    for seen, said in turns:
        ids = [*ids, *seen]
        raw = Raw(text="x", prompt_token_ids=tuple(ids), token_ids=tuple(said))
        steps.append(Step(reply=Reply(message=Message(role="assistant", content="x"), raw=raw)))
        ids = [*ids, *said]
    return Trajectory(question=Question(id="q", text="?"), method="ark", model="student", steps=tuple(steps))


OPENING = [10, 11, 12, 13]
TURNS = (
    ((OPENING, [20, 21, 22]), ([30, 31, 32, 33], [23, 1])),
    ((OPENING, [24]), ([34], [25, 26, 27, 1]), ([35, 36], [28, 1])),
    ((OPENING, [20, 29, 1]),),
    ((OPENING, [40, 41]), ([30, 37, 38], [42, 1])),
)
TOTALS = [1.0, 0.0, 0.4, 0.0]


def gradients_of(student, folder, episodes, rewards, **options):
    """Return the gradients of the one step that TRL takes, as they come to the optimizer."""
    from transformers import TrainerCallback

    caught = {}

    class Catch(TrainerCallback):
        def on_pre_optimizer_step(self, args, state, control, model=None, **more):
            caught.update({name: weight.grad.clone() for name, weight in model.named_parameters()})

    chosen = config(**{"batch": 1, "micro_batch": 4, "max_steps": 1, "kl": 0, **options})
    policy = StudentPolicy(student.model, student.tokenizer, name="student")
    trainer = grpo_trainer(student, folder, chosen, Fixed(episodes, rewards), policy, lambda *at: None)
    trainer.add_callback(Catch())
    trainer.train()
    return caught


def by_hand(student, advantages, turns, *, learns=lambda is_said: is_said):
    """Return the gradients of equation 6 at the first step: the mean over an episode's tokens, then over the group."""
    model = student.model
    model.zero_grad()
    for advantage, episode in zip(advantages, turns, strict=True):
        ids, is_said = [], []
        for seen, said in episode:
            ids += [*seen, *said]
            is_said += [False] * len(seen) + [True] * len(said)
        logits = model(torch.tensor([ids])).logits[0, :-1]
        chances = torch.log_softmax(logits, -1)[torch.arange(len(ids) - 1), torch.tensor(ids[1:])]
        mask = torch.tensor([learns(said) for said in is_said[1:]], dtype=torch.float32)
        mask[: len(OPENING) - 1] = 0
        (-advantage * (chances * mask).sum() / mask.sum() / len(turns)).backward()
    return {name: weight.grad.clone() for name, weight in model.named_parameters()}


def normed(gradients):
    """Return all gradients as one vector of length 1: a trainer clips their length."""
    vector = torch.cat([gradients[name].flatten() for name in sorted(gradients)])
    return vector / vector.norm()


@pytest.fixture
def fresh(base):
    torch.set_num_threads(1)
    return lambda: open_student(str(base))


def advantages(totals):
    """Equation 8, with TRL's guard against groups of equal rewards."""
    mean = sum(totals) / len(totals)
    deviation = (sum((total - mean) ** 2 for total in totals) / (len(totals) - 1)) ** 0.5
    return [(total - mean) / (deviation + 1e-4) for total in totals]


def test_gradients_reach_the_tokens_of_the_policy_alone(fresh, tmp_path):
    got = normed(gradients_of(fresh(), tmp_path, [known(turns) for turns in TURNS], [TOTALS]))
    expected = normed(by_hand(fresh(), advantages(TOTALS), TURNS))
    assert torch.allclose(got, expected, atol=2e-5), (got - expected).abs().max()
    all_tokens = normed(by_hand(fresh(), advantages(TOTALS), TURNS, learns=lambda is_said: True))
    assert (got @ all_tokens).item() < 0.999, "with what the tools said in it, it would have been another step"


def test_parts_of_a_step_make_the_same_step(fresh, tmp_path):
    """Episodes in two passes, for memory."""
    episodes = [known(turns) for turns in TURNS]
    whole = normed(gradients_of(fresh(), tmp_path / "a", episodes, [TOTALS]))
    parted = normed(gradients_of(fresh(), tmp_path / "b", episodes, [TOTALS], micro_batch=2))
    assert torch.allclose(whole, parted, atol=2e-5)


def test_a_group_of_equal_rewards_moves_nothing(fresh, tmp_path):
    got = gradients_of(fresh(), tmp_path, [known(turns) for turns in TURNS], [[0.4] * 4])
    assert all(not gradient.any() for gradient in got.values())


def test_an_episode_without_tokens_takes_no_part_and_stops_nothing(fresh, tmp_path):
    """Its prompt was longer than the student takes, so that nothing was sampled."""
    lost = known(()).model_copy(
        update={"steps": (Step(reply=Reply(message=Message(role="assistant")), error="too long"),)}
    )
    episodes = [known(TURNS[0]), known(TURNS[1]), known(TURNS[2]), lost]
    got = gradients_of(fresh(), tmp_path, episodes, [TOTALS])
    assert any(gradient.any() for gradient in got.values())


def test_the_trainer_is_told_the_figures_of_the_paper(fresh, tmp_path):
    """Table 3 of 003: what TRL calls them."""
    student = fresh()
    chosen = GrpoConfig.read({**tiny.SETTINGS, "batch": "16", "micro_batch": "1", "kl": "0"})
    policy = StudentPolicy(student.model, student.tokenizer, name="student")
    trainer = grpo_trainer(student, tmp_path, chosen, SimpleNamespace(), policy, lambda *at: None)
    args = trainer.args
    assert (args.num_generations, args.generation_batch_size, args.max_steps) == (8, 128, 400)
    assert (args.gradient_accumulation_steps * args.per_device_train_batch_size, args.num_iterations) == (128, 1)
    assert (args.epsilon, args.epsilon_high, args.temperature, args.learning_rate) == (0.20, 0.28, 1.0, 1e-6)
    assert (args.loss_type, args.scale_rewards, args.reward_weights) == ("grpo", "group", [1.0, 0.0, 0.0, 0.0])
    assert GrpoConfig().kl == 1e-4


def test_training_ends_when_rewards_have_collapsed(fresh, tmp_path):
    student = fresh()
    chosen = config(batch=1, micro_batch=4, max_steps=9, kl=0, learning_rate=1e-6, save_steps=100)
    policy = StudentPolicy(student.model, student.tokenizer, name="student")
    rewards = [[1.0, 0.9, 1.0, 1.0], [1.0, 1.0, 1.0, 0.8], *[[0.1, 0.0, 0.0, 0.0]] * 7]
    episodes = Fixed([known(turns) for turns in TURNS], rewards, patience=2)
    trainer = grpo_trainer(student, tmp_path, chosen, episodes, policy, lambda *at: None)
    trainer.train()
    assert episodes.collapse.reason is not None
    assert trainer.state.global_step == 4, "two steps of two are under half of the best two"


# ------------------------------------------------------------------------------------------------------------ by vLLM


def test_vllm_is_asked_through_trl_as_trl_has_it():
    """TRL gives its engine the weights of each step before it asks for episodes; ours only asks."""
    from trl.generation.vllm_generation import VLLMGeneration

    class Engine:
        def generate(self, **arguments):
            inspect.signature(VLLMGeneration.generate).bind(self, **arguments)
            self.seen = (
                arguments["prompts"],
                arguments["num_generations"],
                self.temperature,
                self.max_completion_length,
            )
            return arguments["prompts"], [[5, 6], (7,)], None, None

    engine = Engine()
    assert vllm_sampler(engine)([[1, 2], [3]], 0.7, 9) == [[5, 6], [7]]
    assert engine.seen == ([[1, 2], [3]], 1, 0.7, 9)
    fields = inspect.signature(VLLMGeneration.__init__).parameters
    assert {"temperature", "max_completion_length"} <= set(fields)


@pytest.mark.parametrize(
    ("sampler", "installed", "is_folder", "can_compute", "expected"),
    [
        ("auto", True, True, True, True),
        ("auto", True, True, False, False),
        ("auto", True, False, True, False),
        ("auto", False, True, True, False),
        ("transformers", True, True, True, False),
        ("vllm", True, True, False, True),
        ("vllm", False, True, True, "not installed"),
        ("vllm", True, False, True, "reads a folder"),
    ],
)
def test_vllm_samples_where_there_is_one(monkeypatch, tmp_path, sampler, installed, is_folder, can_compute, expected):
    monkeypatch.setattr(inside(reinforce), "find_spec", lambda name: object() if installed else None)
    student = tmp_path if is_folder else tmp_path / "s.gguf"
    if isinstance(expected, str):
        with pytest.raises(BadOption, match=expected):
            samples_by_vllm(sampler, student, can_compute=can_compute)
    else:
        assert samples_by_vllm(sampler, student, can_compute=can_compute) == expected


def test_what_sampled_is_kept(trained):
    assert read_training(trained).sampled_by == "transformers"
