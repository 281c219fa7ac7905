"""Training by reward: groups of episodes on real tools, each measured against its group (GraphScout, 003, section 3.4).

3.4.1  an episode    our own agent's loop on a question, the student as its model (`Policy`); many at once
3.4.2  its reward    `evaluation`'s: the answer's value, clues below a threshold (equations 2 to 5)
3.4.3  a step        A = (r - mean) / std within a group; the smaller of rho A and clip(rho, 1 - low, 1 + high) A, less
                     the divergence from the student at the beginning (equations 6 to 10), on the student's tokens alone

TRL has the arithmetic. It takes rho by token where equation 9 has one for the episode, as the paper's own trainer does,
and adds 1e-4 to the deviation, without which a group of equal rewards would divide by nothing. The paper names one
bound of rho in equation 6 and two in table 3, which are the ones here. It does not say in which order its 2,000
questions are asked, nor whether they are renewed: `order` and `refresh` are ours (`Deck`).
"""

from __future__ import annotations

import json
import os
import time
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import numpy as np

from orienteer.errors import BadOption
from orienteer.files import locked, write_whole
from orienteer.graph.store import Graph
from orienteer.settings import Settings
from orienteer.training.collection import read_collection, trajectories
from orienteer.training.curves import CURVES, write_curves
from orienteer.training.policy import Policy
from orienteer.training.recipes import GrpoConfig
from orienteer.training.rollouts import TERMS, Episodes, row_of
from orienteer.training.rows import IGNORED
from orienteer.training.runs import (
    LOG,
    TRAINING,
    Progress,
    Training,
    arguments,
    begin,
    last_checkpoint,
    last_of,
    lora_of,
    save,
    sha256_of,
    step_log,
    train,
)
from orienteer.training.student import Student, open_student, source_of, torch

COLLAPSED = "rewards collapsed"


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
    manifest = read_collection(collection)
    pytorch = torch()
    source = source_of(student)
    if source.is_file() and config.kl and not config.lora:
        raise BadOption("kl compares with the student at the beginning, which has to be a folder: set lora, or kl=0")
    folder.mkdir(parents=True, exist_ok=True)
    with locked(folder / ".lock", busy=f"another process is training in {folder}: wait for it, or name another"):
        training = begin(
            folder,
            Training(
                kind="grpo",
                student=str(source),
                collection_sha256=sha256_of(collection),
                agent=manifest.agent,
                dialect=_dialect_of(collection),
                settings=json.loads(config.model_dump_json()),
            ),
        )
        if training.is_complete:
            return training
        episodes = Episodes(collection, graphs, config, settings, folder)
        last = last_checkpoint(folder)
        episodes.take_up(int(last.name.rpartition("-")[2]) if last is not None else 0)
        opened = open_student(student, template=config.template)
        pytorch.manual_seed(config.random_seed)
        began = time.monotonic()
        policy = Policy(
            opened.model,
            opened.tokenizer,
            name="student",
            temperature=config.temperature,
            most_tokens=config.most_tokens,
        )
        collapse = Collapse(config.patience)
        with policy:
            trainer = _trainer(opened, folder, config, episodes, policy, collapse, progress)
            train(trainer, folder)
        save(opened, trainer.model, folder, training)
        write_curves(folder / CURVES, {folder.name: folder})
        training = training.model_copy(
            update={
                "steps": trainer.state.global_step,
                "seconds": training.seconds + time.monotonic() - began,
                "loss": last_of(folder / LOG, "loss"),
                "reward": last_of(folder / LOG, "reward"),
                "stopped": COLLAPSED if collapse.has_happened else None,
                "is_complete": True,
            }
        )
        write_whole(folder / TRAINING, training.model_dump_json(indent=1) + "\n")
    return training


def _trainer(
    student: Student,
    folder: Path,
    config: GrpoConfig,
    episodes: Episodes,
    policy: Policy,
    collapse: Collapse,
    progress: Progress,
) -> Any:  # Any: TRL's trainer
    """Return TRL's trainer, with our episodes in place of its own and a step to each batch of them."""
    shared = arguments(folder, config, max_steps=config.max_steps)
    os.environ["TRL_EXPERIMENTAL_SILENCE"] = "1"
    import trl
    from datasets import Dataset

    of_step = config.batch * config.group
    own = trl.GRPOConfig(
        **shared,
        generation_batch_size=of_step,
        gradient_accumulation_steps=max(1, of_step // config.micro_batch),
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
        use_vllm=False,
    )
    trainer = trl.GRPOTrainer(
        model=student.model,
        args=own,
        reward_funcs=[term(name) for name in TERMS],
        # Places, no questions: which ones a step asks, the deck says when it comes to it.
        train_dataset=Dataset.from_list([{"prompt": str(place)} for place in range(config.batch)]),
        processing_class=student.tokenizer,
        peft_config=lora_of(config),
        rollout_func=rollouts(episodes, policy, config),
        callbacks=[step_log(folder / LOG, progress, config.max_minutes), _ending(collapse)],
    )
    policy.use(trainer.model)
    return trainer


def _ending(collapse: Collapse) -> Any:  # Any: a callback of transformers
    """Return a callback that ends training once rewards have collapsed."""
    from transformers import TrainerCallback

    class Ending(TrainerCallback):  # type: ignore[misc]  # it has no types
        def on_log(self, args: Any, state: Any, control: Any, logs: Any = None, **more: Any) -> None:
            if logs and "reward" in logs and collapse.is_reached(logs["reward"]):
                control.should_training_stop = True

    return Ending()


def _dialect_of(collection: Path) -> str:
    """Return how the teacher of a collection wrote its calls, which the student is asked in too."""
    return next((trajectory.dialect for _, trajectory in trajectories(collection)), "native")


class Collapse:
    """Tells when rewards have collapsed: under half of the best mean so far, for some steps on end."""

    def __init__(self, patience: int) -> None:
        self._patience, self._means = patience, list[float]()
        self.has_happened = False

    def is_reached(self, reward: float) -> bool:
        """Take a step's mean reward, and say whether training should end."""
        self._means.append(reward)
        window = self._patience
        if not window or len(self._means) < 2 * window:
            return False
        means = np.convolve(self._means, np.ones(window) / window, mode="valid")
        self.has_happened = bool(means[-1] < means.max() / 2)
        return self.has_happened


def rollouts(
    episodes: Episodes, policy: Policy, config: GrpoConfig
) -> Callable[[list[str], Any], dict[str, Any]]:  # Any: TRL's trainer, and what it takes
    """Return what TRL calls for the episodes of a step (`rollout_func`)."""

    def roll(prompts: list[str], trainer: Any) -> dict[str, Any]:  # Any: as above
        step = trainer.state.global_step + 1
        played, rewards = episodes.play(policy, step)
        rows = [row_of(episode, max_length=config.max_length) for episode in played]
        return {
            "prompt_ids": [row.input_ids[:first] for first, row in rows],
            "completion_ids": [row.input_ids[first:] for first, row in rows],
            "env_mask": [[int(label != IGNORED) for label in row.labels[first:]] for first, row in rows],
            "logprobs": None,  # one step to a batch: TRL's own pass gives the old probabilities
            **{term: [float(getattr(got, term)) for got in rewards] for term in TERMS},
        }

    return roll


def term(name: str) -> Callable[..., list[float]]:
    """Return a function that gives TRL one term of each episode's reward, as `rollouts` handed it over."""

    def given(**fields: Any) -> list[float]:  # Any: what TRL hands to a reward
        return list(fields[name])

    given.__name__ = name
    return given
