"""Training by reward: groups of episodes on real tools, each measured against its group (GraphScout, 003, section 3.4).

3.4.1  an episode    our own agent's loop on a question, the student as its model (`Policy`); many at once
3.4.2  its reward    `evaluation`'s: the answer's value, clues below a threshold (equations 2 to 5)
3.4.3  a step        A = (r - mean) / std within a group; the smaller of rho A and clip(rho, 1 - low, 1 + high) A, less
                     the divergence from the student at the beginning (equations 6 to 10), on the student's tokens alone

TRL has the arithmetic. Where it and the paper differ:
1. rho is by token where equation 9 has one for the episode, as in the paper's own trainer.
2. The deviation is that of a sample, plus 1e-4, without which a group of equal rewards would divide by nothing.
3. A batch of episodes is one step, so rho is 1 when it is taken, and its bounds, the two of table 3, do not act. They
   are handed on for a trainer that takes several steps to a batch.
4. The order of questions and their renewal are ours (`Deck`): the paper says of its 2,000 neither.
Episodes are sampled by transformers, or by vLLM beside the trainer (`sampler`), which TRL gives the weights of each
step; one process either way.
"""

from __future__ import annotations

import json
import os
import time
from collections.abc import Callable, Mapping, Sequence
from importlib.util import find_spec
from pathlib import Path
from typing import Any, Literal

from orienteer.errors import BadOption
from orienteer.files import locked
from orienteer.graph.store import Graph
from orienteer.lab.training.collection import read_collection, trajectories
from orienteer.lab.training.policy import Policy, Sampler
from orienteer.lab.training.recipes import GrpoConfig
from orienteer.lab.training.rollouts import TERMS, Episodes, row_of
from orienteer.lab.training.rows import IGNORED
from orienteer.lab.training.runs import (
    LOG,
    Progress,
    Training,
    arguments,
    begin,
    ended_early,
    finish,
    last_checkpoint,
    last_of,
    lora_of,
    sha256_of,
    step_log,
    step_of,
    train,
)
from orienteer.lab.training.student import Student, open_student, source_of, torch
from orienteer.records import Dialect, Manner
from orienteer.settings import Settings


def reinforce(
    collection: Path,
    folder: Path,
    student: str,
    config: GrpoConfig,
    graphs: Mapping[str, Graph],
    *,
    settings: Settings,
    progress: Progress = lambda stage, count: None,
) -> Training:
    """Train a student by reward on the questions of a collection, into a folder; an unfinished training goes on.

    `graphs` are those of the collection, by name. Raises `BadInput` where the collection, the student or the folder do
    not fit, `MissingExtra` without PyTorch.
    """
    manifest, dialect = read_collection(collection), _dialect_of(collection)
    pytorch = torch()
    source = source_of(student)
    if source.is_file() and config.kl and not config.lora:
        raise BadOption("kl compares with the student at the beginning, which has to be a folder: set lora, or kl=0")
    has_vllm = samples_by_vllm(config.sampler, source, can_compute=pytorch.cuda.is_available())
    folder.mkdir(parents=True, exist_ok=True)
    with locked(folder / ".lock", busy=f"another process is training in {folder}: wait for it, or name another"):
        training = begin(
            folder,
            Training(
                kind="grpo",
                student=str(source),
                collection_sha256=sha256_of(collection),
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
        episodes.take_up(step_of(last_checkpoint(folder)))
        opened = open_student(student, template=config.template)
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
            train(trainer, folder)
        return finish(
            folder,
            training,
            opened,
            trainer,
            seconds=time.monotonic() - began,
            reward=last_of(folder / LOG, "reward"),
            stopped=episodes.collapse.reason or ended_early(trainer, config) or episodes.why_nothing_learnt,
        )


def grpo_trainer(
    student: Student,
    folder: Path,
    config: GrpoConfig,
    episodes: Episodes,
    policy: Policy,
    progress: Progress,
    *,
    has_vllm: bool = False,
) -> Any:  # Any: TRL's trainer
    """Return TRL's trainer, with our episodes in place of its own and a step to each batch of them."""
    shared = arguments(folder, config, max_steps=config.max_steps)
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
        peft_config=lora_of(config),
        rollout_func=rollout_func(episodes, policy, config, end=student.tokenizer.eos_token_id),
        callbacks=[step_log(folder / LOG, progress, config.max_minutes), _ending(episodes)],
    )
    policy.use(trainer.model)
    if has_vllm:
        policy.sample_by(vllm_sampler(trainer.vllm_generation))
    return trainer


def samples_by_vllm(sampler: Literal["auto", "transformers", "vllm"], student: Path, *, can_compute: bool) -> bool:
    """Return whether vLLM samples. Raises `BadOption` where it is asked for, and cannot."""
    is_installed, is_folder = find_spec("vllm") is not None, student.is_dir()
    if sampler == "vllm" and not is_installed:
        raise BadOption("sampler=vllm: vLLM is not installed (pip install 'trl[vllm]'); transformers samples too")
    if sampler == "vllm" and not is_folder:
        raise BadOption(f"sampler=vllm: vLLM reads a folder of transformers, {student.name} is a file")
    return sampler == "vllm" or (sampler == "auto" and is_installed and is_folder and can_compute)


def vllm_sampler(generation: Any) -> Sampler:  # Any: TRL's `VLLMGeneration`
    """Return how replies are sampled by the vLLM of a trainer, which gives it the weights before each step."""

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


def _dialect_of(collection: Path) -> Dialect:
    """Return how the teacher of a collection wrote its calls, which the student is asked in too."""
    return next((trajectory.dialect for _, trajectory in trajectories(collection)), "native")


def rollout_func(
    episodes: Episodes, policy: Policy, config: GrpoConfig, *, end: int
) -> Callable[[list[str], Any], dict[str, Any]]:  # Any: TRL's trainer, and what it takes
    """Return what TRL calls for the episodes of a step (`rollout_func`)."""

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
