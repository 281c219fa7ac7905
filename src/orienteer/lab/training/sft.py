"""Distillation: a student learns a teacher's turns, the loss on its own tokens alone (ARK, 001, section 4.3)."""

from __future__ import annotations

import json
import time
from collections import defaultdict
from collections.abc import Sequence
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from orienteer.errors import BadInput, BadOption
from orienteer.files import locked, write_whole
from orienteer.lab.evaluation.datasets import WATCHED
from orienteer.lab.training import runs
from orienteer.lab.training.collect import read_collection, splits_of, trajectories
from orienteer.lab.training.rows import Row, RowCount, learnt_texts, rows
from orienteer.records import Trajectory

SHOWN = "learnt.txt"
_SHOWN_ROWS = 3


def distil(
    collections: Sequence[Path],
    folder: Path,
    student: str,
    config: runs.SftConfig,
    *,
    progress: runs.Progress = lambda stage, count: None,
) -> runs.Training:
    """Train a student on collections, mixed, into a folder; an unfinished training there resumes from its checkpoint.

    All are episodes of one agent. Raises `BadInput` if the collections, the student or the folder do not fit,
    `MissingExtra` without PyTorch.
    """
    agents = {read_collection(collection).agent: collection for collection in collections}
    agent, *others = agents
    if others:
        raise BadInput(
            f"{agents[agent]} has episodes of {agent!r}, {agents[others[0]]} of {others[0]!r}: train on one kind"
        )
    pytorch = runs.torch()
    folder.mkdir(parents=True, exist_ok=True)
    with locked(folder / ".lock", busy=f"another process is training in {folder}: wait for it, or name another"):
        chosen, held = choose_trajectories(collections, config)
        if not chosen:
            kept = "validation leaves none of its trajectories" if held else "it has no trajectory"
            raise BadInput(f"there is nothing to learn from in {', '.join(map(str, collections))}: {kept}")
        dialects = {trajectory.dialect for trajectory in chosen}
        training = runs.begin(
            folder,
            runs.Training(
                kind="sft",
                student=str(runs.source_of(student)),
                collection_sha256=runs.sha256_of(*collections),
                agent=agent,
                dialect=", ".join(sorted(dialects)),
                settings=json.loads(config.model_dump_json()),
            ),
        )
        if training.is_complete:
            return training
        opened = runs.open_student(student, template=config.template)
        count = RowCount()
        as_rows = partial(rows, max_length=config.max_length, learns_failed=config.learns_failed)
        learnt = list(as_rows(chosen, opened.tokenizer, count=count))
        checked = list(as_rows(held, opened.tokenizer))
        if not learnt:
            raise BadInput(f"no row fits {config.max_length} tokens: set a greater max_length")
        _show(folder / SHOWN, learnt, opened)
        progress("rows", count.rows)
        pytorch.manual_seed(config.random_seed)
        began = time.monotonic()
        trainer = _trainer(opened, folder, config, learnt, checked, progress)
        runs.train(trainer, folder)
        return runs.finish(
            folder,
            training,
            opened,
            trainer,
            rows=count.rows,
            tokens=count.tokens,
            learnt=count.learnt,
            left_out=count.left_out,
            seconds=time.monotonic() - began,
            checked_loss=runs.last_of(folder / runs.LOG, "eval_loss"),
            stopped=runs.ended_early(trainer, config),
        )


def choose_trajectories(
    collections: Sequence[Path], config: runs.SftConfig
) -> tuple[list[Trajectory], list[Trajectory]]:
    """Return the trajectories to learn from, and those kept for validation, drawn by question.

    Kept are some of the validation split, where questions of one were asked: none of that is learnt. Raises `BadOption`
    for a split that no question is of.
    """
    by_question: defaultdict[tuple[str, str], list[Trajectory]] = defaultdict(list)
    for graph, trajectory in trajectories(*collections, graphs=config.graphs):
        by_question[graph, trajectory.question.text].append(trajectory)
    chance = np.random.default_rng(config.random_seed)
    keys = [key for _, key in sorted(zip(chance.permutation(len(by_question)).tolist(), by_question, strict=True))]
    wanted = (config.validation_split,) if config.validation_split else WATCHED
    splits = splits_of(collections)
    official = [key for key in keys if not splits.get(key, set()).isdisjoint(wanted)]
    if config.validation_split and not official:
        names = ", ".join(sorted(set().union(*splits.values()))) or "none"
        raise BadOption(f"no question is of the split {config.validation_split!r}; there are: {names}")
    held = official[: config.validation or None] or keys[: config.validation]
    kept = {*official, *held}
    left = [key for key in keys if key not in kept]
    if config.questions:
        counts: defaultdict[str, int] = defaultdict(int)
        some = []
        for key in left:
            counts[key[0]] += 1
            if counts[key[0]] <= config.questions:
                some.append(key)
        left = some
    most = config.samples or None
    return [one for key in left for one in by_question[key][:most]], [one for key in held for one in by_question[key]]


def _trainer(
    student: runs.Student,
    folder: Path,
    config: runs.SftConfig,
    learnt: Sequence[Row],
    checked: Sequence[Row],
    progress: runs.Progress,
) -> Any:  # Any: TRL's trainer
    """Return TRL's trainer over rows that are tokens already, so that nothing is written or masked again."""
    shared = runs.arguments(folder, config, max_steps=config.max_steps or -1)
    import trl
    from datasets import Dataset
    from transformers import EarlyStoppingCallback

    own = trl.SFTConfig(
        **shared,
        num_train_epochs=config.epochs,
        per_device_eval_batch_size=config.micro_batch,
        gradient_accumulation_steps=config.batch // config.micro_batch,
        train_sampling_strategy="group_by_length",
        max_length=None,
        packing=False,
        eval_strategy="steps" if checked else "no",
        eval_steps=config.save_steps,
        load_best_model_at_end=bool(checked),
        metric_for_best_model="eval_loss" if checked else None,
    )
    return trl.SFTTrainer(
        model=student.model,
        args=own,
        train_dataset=Dataset.from_list([row._asdict() for row in learnt]),
        eval_dataset=Dataset.from_list([row._asdict() for row in checked]) if checked else None,
        processing_class=student.tokenizer,
        peft_config=runs.lora_of(config),
        callbacks=[
            runs.step_log(folder / runs.LOG, progress, config.max_minutes),
            *([EarlyStoppingCallback(2)] if checked else []),
        ],
    )


def _show(file: Path, learnt: Sequence[Row], student: runs.Student) -> None:
    """Write what is learnt of the first rows, decoded from their labels: what a person should look at first."""
    blocks = []
    for number, row in enumerate(learnt[:_SHOWN_ROWS], 1):
        texts = "\n---\n".join(learnt_texts(row, student.tokenizer.decode))
        blocks.append(f"=== row {number}, {len(row.input_ids)} tokens; learnt of it:\n{texts}\n")
    write_whole(file, "\n".join(blocks))
