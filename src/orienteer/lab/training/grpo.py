"""Training by reward: groups of episodes on real tools, each measured against its group (GraphScout, 003, section 3.4).

3.4.1  an episode    our own agent's loop on a question, the student as its model (`Policy`); many at once
3.4.2  its reward    `evaluation`'s: the answer's value, clues below a threshold (equations 2 to 5)
3.4.3  a step        A = (r - mean) / std within a group; the smaller of rho A and clip(rho, 1 - low, 1 + high) A, less
                     the divergence from the student at the beginning (equations 6 to 10), on the student's tokens alone

TRL has the arithmetic. It differs from the paper in this:
1. rho is by token, as in the paper's own trainer; equation 9 has one for the episode.
2. The deviation is that of a sample, plus 1e-4, without which a group of equal rewards would divide by nothing.
3. A batch of episodes is one step, so rho is 1 when it is taken, and its bounds, the two of table 3, do not act. They
   are handed on for a trainer that takes several steps to a batch.
4. The order of questions and their renewal are ours (`Deck`): the paper gives neither for its 2,000.
Episodes are sampled by transformers, or by vLLM in the trainer (`sampler`), which TRL gives the weights of each
step; one process either way.
"""

from __future__ import annotations

import json
import os
import time
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from importlib.util import find_spec
from pathlib import Path
from typing import Any, Literal, NamedTuple

import numpy as np

from orienteer.errors import BadInput, BadOption
from orienteer.files import append_line, locked, mend, read_lines, write_whole
from orienteer.graph.store import Graph
from orienteer.lab.evaluation.datasets import read_questions
from orienteer.lab.evaluation.examples import Example, QuizItem
from orienteer.lab.evaluation.running.runs import graph_hash
from orienteer.lab.evaluation.running.sweep import variants
from orienteer.lab.evaluation.scores.rewards import Reward, item_of, node_reward, reward, spellings_of
from orienteer.lab.training import runs
from orienteer.lab.training.collect import QUESTIONS, READER, read_collection, trajectories
from orienteer.lab.training.rows import IGNORED, Policy, Row, Sampler
from orienteer.records import Dialect, Manner, Trajectory
from orienteer.retriever import Retriever
from orienteer.settings import Settings


def reinforce(
    collection: Path,
    folder: Path,
    student: str,
    config: runs.GrpoConfig,
    graphs: Mapping[str, Graph],
    *,
    settings: Settings,
    progress: runs.Progress = lambda stage, count: None,
) -> runs.Training:
    """Train a student by reward on the questions of a collection, into a folder; an unfinished training resumes.

    `graphs` are those of the collection, by name. Raises `BadInput` if the collection, the student or the folder do
    not fit, `MissingExtra` without PyTorch.
    """
    manifest = read_collection(collection)
    if manifest.agent.split()[0] == READER:
        raise BadInput(f"{collection} has single calls of reader, and no episodes to play: distil them with train sft")
    # The dialect of the teacher's calls is the one that the student is asked in.
    dialect: Dialect = next((trajectory.dialect for _, trajectory in trajectories(collection)), "native")
    pytorch = runs.torch()
    source = runs.source_of(student)
    if source.is_file() and config.kl and not config.lora:
        raise BadOption("kl compares with the student at the beginning, which has to be a folder: set lora, or kl=0")
    has_vllm = samples_by_vllm(config.sampler, source, can_compute=pytorch.cuda.is_available())
    folder.mkdir(parents=True, exist_ok=True)
    with locked(folder / ".lock", busy=f"another process is training in {folder}: wait for it, or name another"):
        training = runs.begin(
            folder,
            runs.Training(
                kind="grpo",
                student=str(source),
                collection_sha256=runs.sha256_of(collection),
                agent=manifest.agent,
                dialect=dialect,
                graphs=tuple(sorted(graphs)),
                sampled_by="vllm" if has_vllm else "transformers",
                settings=json.loads(config.model_dump_json()),
            ),
        )
        if training.is_complete:
            return training
        episodes = Episodes(collection, graphs, config, settings, folder)
        episodes.take_up(runs.step_of(runs.last_checkpoint(folder)))
        opened = runs.open_student(student, template=config.template)
        pytorch.manual_seed(config.random_seed)
        began = time.monotonic()
        policy = Policy(
            opened.model,
            opened.tokenizer,
            name="student",
            manner=Manner(dialect=dialect, why="as the collection was written"),
            temperature=config.temperature,
            most_tokens=config.most_tokens,
            most_prompt_tokens=config.max_length,
        )
        with policy:
            trainer = grpo_trainer(opened, folder, config, episodes, policy, progress, has_vllm=has_vllm)
            runs.train(trainer, folder)
        return runs.finish(
            folder,
            training,
            opened,
            trainer,
            seconds=time.monotonic() - began,
            reward=runs.last_of(folder / runs.LOG, "reward"),
            stopped=episodes.collapse.reason or runs.ended_early(trainer, config) or episodes.why_nothing_learnt,
        )


def grpo_trainer(
    student: runs.Student,
    folder: Path,
    config: runs.GrpoConfig,
    episodes: Episodes,
    policy: Policy,
    progress: runs.Progress,
    *,
    has_vllm: bool = False,
) -> Any:  # Any: TRL's trainer
    """Return TRL's trainer, with our episodes in place of its own and a step to each batch of them."""
    shared = runs.arguments(folder, config, max_steps=config.max_steps)
    os.environ["TRL_EXPERIMENTAL_SILENCE"] = "1"
    os.environ |= {"VLLM_NO_USAGE_STATS": "1", "VLLM_LOGGING_LEVEL": "ERROR"}  # else it tells its makers of each start
    import trl
    from datasets import Dataset

    own = trl.GRPOConfig(
        **shared,
        generation_batch_size=config.of_step,
        gradient_accumulation_steps=config.of_step // config.micro_batch,
        num_generations=config.group,
        max_completion_length=None,
        temperature=config.temperature,
        beta=config.kl,
        epsilon=config.clip_low,
        epsilon_high=config.clip_high,
        loss_type="grpo",  # the mean over an episode's tokens, then over the group: equation 6
        scale_rewards="group",  # equation 8
        importance_sampling_level="token",
        reward_weights=[1.0, *(0.0 for _ in TERMS[1:])],
        num_iterations=1,
        remove_unused_columns=False,
        use_vllm=has_vllm,
        vllm_mode="colocate",
        vllm_max_model_length=config.max_length + config.most_tokens,
        vllm_gpu_memory_utilization=config.vllm_memory,
        vllm_importance_sampling_correction=False,  # it needs the log-probabilities of each token as it was sampled
    )
    trainer = trl.GRPOTrainer(
        model=student.model,
        args=own,
        reward_funcs=[reward_term(name) for name in TERMS],
        # Places, no questions: which ones a step asks, the deck says when it comes to it.
        train_dataset=Dataset.from_list([{"prompt": str(place)} for place in range(config.batch)]),
        processing_class=student.tokenizer,
        peft_config=runs.lora_of(config),
        rollout_func=rollout_func(episodes, policy, config, end=student.tokenizer.eos_token_id),
        callbacks=[runs.step_log(folder / runs.LOG, progress, config.max_minutes), _ending(episodes)],
    )
    policy.use(trainer.model)
    if has_vllm:
        policy.sample_by(vllm_sampler(trainer.vllm_generation))
    return trainer


def samples_by_vllm(sampler: Literal["auto", "transformers", "vllm"], student: Path, *, can_compute: bool) -> bool:
    """Return whether vLLM samples. Raises `BadOption` if it is asked for and cannot."""
    is_installed, is_folder = find_spec("vllm") is not None, student.is_dir()
    if sampler == "vllm" and not is_installed:
        raise BadOption("sampler=vllm: vLLM is not installed (pip install 'trl[vllm]'); transformers samples too")
    if sampler == "vllm" and not is_folder:
        raise BadOption(f"sampler=vllm: vLLM reads a folder of transformers, {student.name} is a file")
    return sampler == "vllm" or (sampler == "auto" and is_installed and is_folder and can_compute)


def vllm_sampler(generation: Any) -> Sampler:  # Any: TRL's `VLLMGeneration`
    """Return a sampler by the vLLM of a trainer, which gives it the weights before each step."""

    def sample(prompts: Sequence[list[int]], temperature: float, most: int) -> Sequence[list[int]]:
        generation.temperature, generation.max_completion_length = temperature, most
        _, replies, _, _ = generation.generate(prompts=list(prompts), images=None, num_generations=1)
        return [list(reply) for reply in replies]

    return sample


def _ending(episodes: Episodes) -> Any:  # Any: a callback of transformers
    """Return a callback that ends training once rewards have collapsed."""
    from transformers import TrainerCallback

    class Ending(TrainerCallback):  # type: ignore[misc]  # it has no types
        def on_step_end(self, args: Any, state: Any, control: Any, **more: Any) -> None:
            if episodes.collapse.reason is not None:
                control.should_training_stop = True

    return Ending()


def rollout_func(
    episodes: Episodes, policy: Policy, config: runs.GrpoConfig, *, end: int
) -> Callable[[list[str], Any], dict[str, Any]]:  # Any: TRL's trainer, and what it takes
    """Return the function that TRL calls for the episodes of a step (`rollout_func`)."""

    def roll(prompts: list[str], trainer: Any) -> dict[str, Any]:  # Any: as above
        step = trainer.state.global_step + 1
        played, rewards = episodes.play(policy, step)
        rows = [row_of(episode, max_length=config.max_length, end=end) for episode in played]
        return {
            "prompt_ids": [one.row.input_ids[: one.prompt] for one in rows],
            "completion_ids": [one.row.input_ids[one.prompt :] for one in rows],
            "env_mask": [[int(label != IGNORED) for label in one.row.labels[one.prompt :]] for one in rows],
            "logprobs": None,  # one step to a batch: TRL's own pass gives the old probabilities
            **{term: [float(getattr(got, term)) for got in rewards] for term in TERMS},
        }

    return roll


def reward_term(name: str) -> Callable[..., list[float]]:
    """Return a function that gives TRL one term of each episode's reward, as `rollouts` handed it over."""

    def given(**fields: Any) -> list[float]:  # Any: what TRL hands to a reward
        return list(fields[name])

    given.__name__ = name
    return given


# Episodes that a student plays on real tools, each with its reward: the steps of training by reward.


# A file of trajectories for each step, and a line for each episode with the terms of its reward.
ROLLOUTS, REWARDS = "rollouts", "rewards.jsonl"
# Of a reward; only the first is trained on, and all are logged.
TERMS = ("total", "answer", "clues", "cost")
_LEVELS = ("simple", "medium", "hard")


class GraphQuestion(NamedTuple):
    """A question of a graph."""

    graph: str
    example: Example

    @property
    def key(self) -> str:
        """Its name, which no other question has."""
        return f"{self.graph}/{self.example.question.id}"


class Deck:
    """Which questions a step asks."""

    def __init__(self, questions: Sequence[GraphQuestion], config: runs.GrpoConfig) -> None:
        chance = np.random.default_rng(config.random_seed)
        shuffled = [questions[place] for place in chance.permutation(len(questions))]
        if config.order == "difficulty":  # questions without one come last
            levels = [one.example.fields.get("difficulty") for one in shuffled]
            ranks = [_LEVELS.index(level) if level in _LEVELS else len(_LEVELS) for level in levels]
            shuffled = [shuffled[place] for place in np.argsort(ranks, kind="stable")]
        self._waiting = shuffled
        self._refresh = config.refresh
        self._same: Counter[str] = Counter()
        """By question, how often in a row its episodes all had one reward: such a group teaches nothing."""

    def draw(self, count: int) -> list[GraphQuestion]:
        """Return the next questions, which go to the end of the deck; the same ones again if it is short."""
        drawn = [self._waiting[place % len(self._waiting)] for place in range(count)]
        taken = {asked.key for asked in drawn}
        self._waiting = [asked for asked in self._waiting if asked.key not in taken]
        self._waiting += list({asked.key: asked for asked in drawn}.values())
        return drawn

    def learn(self, key: str, rewards: Sequence[float]) -> None:
        """Take out a question whose groups each had one reward throughout, `refresh` in a row; never the last one."""
        self._same[key] = self._same[key] + 1 if max(rewards) == min(rewards) else 0
        if self._refresh and self._same[key] >= self._refresh and len(self._waiting) > 1:
            self._waiting = [asked for asked in self._waiting if asked.key != key]


class Collapse:
    """Notices a collapse of rewards: under half of the best mean so far of like questions, for some steps."""

    def __init__(self, patience: int) -> None:
        self._patience = patience
        self._means: defaultdict[str, list[float]] = defaultdict(list)
        self.reason: str | None = None
        """What happened, for a person; None if rewards hold."""

    def learn(self, level: str, rewards: Sequence[float]) -> None:
        """Take the rewards of a step's questions of one difficulty: hard ones after easy ones are not a collapse."""
        means, window = self._means[level], self._patience
        means.append(float(np.mean(rewards)))
        if window and len(means) >= 2 * window:
            smooth = np.convolve(means, np.ones(window) / window, mode="valid")
            if smooth[-1] < smooth.max() / 2:
                self.reason = f"rewards of {level} questions collapsed from {smooth.max():.2f} to {smooth[-1]:.2f}"


@dataclass
class Episodes:
    """Plays the episodes of one step after another."""

    collection: Path
    graphs: Mapping[str, Graph]
    config: runs.GrpoConfig
    settings: Settings
    folder: Path

    def __post_init__(self) -> None:
        """Open the questions and the deck."""
        manifest = read_collection(self.collection)
        self._agent = manifest.agent
        hashes = {part.name: part.graph_sha256 for part in manifest.parts}
        for name, graph in self.graphs.items():
            if hashes.get(name) != graph_hash(graph):
                raise BadInput(f"{graph.path} is not the graph {name!r} that {self.collection} was collected over")
        self._names = {name: _names_of(graph) for name, graph in self.graphs.items()}
        questions = list(self._questions())
        if not questions:
            other = "nodes" if self.config.reward != "nodes" else "paper"
            raise BadInput(
                f"{self.collection} has no questions with gold that reward={self.config.reward} can judge: try "
                f"--set reward={other}"
            )
        self._deck = Deck(questions, self.config)
        self._levels = {asked.key: str(asked.example.fields.get("difficulty")) for asked in questions}
        self.collapse = Collapse(self.config.patience)
        self._differed = 0
        """Groups whose episodes had not all one reward: nothing is learnt of the others."""

    @property
    def why_nothing_learnt(self) -> str | None:
        """Return a reason why nothing was learnt, or None if something was."""
        return None if self._differed else "no group of episodes differed in its reward, so nothing was learnt"

    def take_up(self, steps: int) -> None:
        """Forget everything after these steps, and draw again what they drew: training resumes from a checkpoint."""
        mend(self.folder / REWARDS)
        lines = [line for line in map(json.loads, read_lines(self.folder / REWARDS)) if line["step"] <= steps]
        write_whole(self.folder / REWARDS, "".join(f"{json.dumps(line)}\n" for line in lines))
        by_step: defaultdict[int, defaultdict[str, list[float]]] = defaultdict(lambda: defaultdict(list))
        for line in lines:
            by_step[line["step"]][line["question"]].append(line["total"])
        for _, groups in sorted(by_step.items()):
            self._deck.draw(self.config.batch)
            self._learn(groups)

    def play(self, policy: Policy, step: int) -> tuple[list[Trajectory], list[Reward]]:
        """Return the episodes of a step, those of one question one after another, and their rewards."""
        [variant] = variants([self._agent], settings=self.settings)
        turns = self.config.turns
        sampled = {"temperature": self.config.temperature, "max_steps": turns, "max_calls": turns, "agents": 1}
        known = variant.all_options()
        options = {**variant.options, **{name: value for name, value in sampled.items() if name in known}}
        agents = {
            name: Retriever(
                graph,
                variant.method.name,
                model=policy,
                random_seed=step,
                settings=replace(self.settings, model=None, options=options),
            )
            for name, graph in self.graphs.items()
        }
        asked = [one for one in self._deck.draw(self.config.batch) for _ in range(self.config.group)]

        def episode(one: GraphQuestion) -> Trajectory:
            question = one.example.question
            trajectory = agents[one.graph].search(question.text).trajectories[0]
            return trajectory.model_copy(update={"question": question})

        with ThreadPoolExecutor(len(asked)) as threads:
            episodes = list(threads.map(episode, asked))
        rewards = [self._reward(one, episode) for one, episode in zip(asked, episodes, strict=True)]
        self._keep(step, asked, episodes, rewards)
        return episodes, rewards

    def _learn(self, groups: Mapping[str, Sequence[float]]) -> None:
        """Take in the rewards of a step's groups, by question."""
        by_level: defaultdict[str, list[float]] = defaultdict(list)
        for key, rewards in groups.items():
            self._deck.learn(key, rewards)
            self._differed += max(rewards) > min(rewards)
            by_level[self._levels.get(key, "")] += rewards
        for level, rewards in by_level.items():
            self.collapse.learn(level, rewards)

    def _questions(self) -> Iterable[GraphQuestion]:
        """Yield the questions of the collection, of all its graphs, that the reward can judge."""
        for name, graph in self.graphs.items():
            for example in read_questions(self.collection / name / QUESTIONS, graph=graph).examples:
                is_known = bool(example.gold.nodes) if self.config.reward == "nodes" else _item(example) is not None
                if is_known:
                    yield GraphQuestion(name, example)

    def _reward(self, asked: GraphQuestion, episode: Trajectory) -> Reward:
        config, example = self.config, asked.example
        if config.reward == "nodes":
            names = self._names[asked.graph]
            anchors = example.fields.get("anchors")
            own = [node for node in anchors if isinstance(node, str)] if isinstance(anchors, list) else []
            clues = {node: names(node) for node in (*own, *example.gold.nodes)} if config.clues else {}
            return node_reward(episode, tuple(example.gold.nodes), clues, threshold=config.threshold)
        item = _item(example)
        if item is None:
            raise BadInput(f"question {asked.key} is of no quiz: reward=nodes judges it")
        return reward(
            episode,
            item,
            mode=config.reward,
            threshold=config.threshold,
            clues=config.clues,
            spellings=spellings_of(episode, item),
        )

    def _keep(
        self, step: int, asked: Sequence[GraphQuestion], episodes: Sequence[Trajectory], rewards: Sequence[Reward]
    ) -> None:
        """Write the episodes and a line for each reward; teach the deck."""
        lines, groups = [], defaultdict[str, list[float]](list)
        for one, episode, got in zip(asked, episodes, rewards, strict=True):
            terms = {term: round(float(getattr(got, term)), 4) for term in TERMS}
            learnt = row_of(episode, max_length=self.config.max_length, end=0).turns
            turns = {"turns": len(episode.steps), "learnt": learnt}
            append_line(self.folder / REWARDS, json.dumps({"step": step, "question": one.key, **terms, **turns}))
            note = f"reward {', '.join(f'{term} {value:.2f}' for term, value in terms.items())}"
            steps = []
            for seen in episode.steps:  # without their token ids
                raw = seen.reply.raw
                bare = raw and raw.model_copy(update={"token_ids": None, "prompt_token_ids": None})
                steps.append(seen.model_copy(update={"reply": seen.reply.model_copy(update={"raw": bare})}))
            lines.append(episode.model_copy(update={"steps": tuple(steps), "notes": (*episode.notes, note)}))
            groups[one.key].append(got.total)
        self._learn(groups)
        file = self.folder / ROLLOUTS / f"step-{step:05}.jsonl"
        file.parent.mkdir(exist_ok=True)
        write_whole(file, "".join(f"{line.model_dump_json()}\n" for line in lines))


class EpisodeRow(NamedTuple):
    """An episode as tokens."""

    row: Row
    """Its labels are the tokens that were sampled."""
    prompt: int
    """How many are the first prompt's."""
    turns: int
    """Replies that are learnt."""


def row_of(episode: Trajectory, *, max_length: int, end: int) -> EpisodeRow:
    """Return an episode as tokens.

    It has the turns until a prompt does not continue the last one and its reply, or the whole exceeds `max_length`. A
    dialect in words writes earlier calls in one form, so a reply that spelt its call otherwise is the last one. An
    episode without a reply is the mark of an `end`, which nothing is learnt of.
    """
    ids: list[int] = []
    labels: list[int] = []
    first = turns = 0
    for step in episode.steps:
        raw = step.reply.raw
        if raw is None or raw.prompt_token_ids is None or raw.token_ids is None:
            break
        prompt, said = list(raw.prompt_token_ids), list(raw.token_ids)
        is_going_on = prompt[: len(ids)] == ids
        if not is_going_on or (ids and len(prompt) + len(said) > max_length):
            break
        first = first or len(prompt)
        labels += [IGNORED] * (len(prompt) - len(ids)) + said
        ids = prompt + said
        turns += 1
    if not turns:
        return EpisodeRow(Row([end, end], [IGNORED, IGNORED]), 1, 0)
    return EpisodeRow(Row(ids, labels), first, turns)


def _item(example: Example) -> QuizItem | None:
    """Return a question as the item of a quiz, or None if it is not of one."""
    return item_of(example.question.id, example.question.text, example.gold, example.fields)


def _names_of(graph: Graph) -> Callable[[str], tuple[str, ...]]:
    """Return a function that gives the names of a node in calls: alone, and with its type."""
    arrays = graph.arrays

    def names(node: str) -> tuple[str, ...]:
        row = arrays.row(node)
        own = [name for name in (arrays.names[row], *arrays.aliases_at(row)) if name]
        return (*own, *(f"{name} ({arrays.type_at(row)})" for name in own))

    return names
