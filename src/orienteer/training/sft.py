"""Distillation: a student learns a teacher's turns, the loss on its own tokens alone (ARK, 001, section 4.3, A.2)."""

from __future__ import annotations

import hashlib
import json
import os
import time
from collections import defaultdict
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, Literal

import numpy as np
from pydantic import ValidationError

from orienteer.display import Count
from orienteer.errors import BadInput, Error
from orienteer.files import append_line, locked, mend, read_lines, write_whole
from orienteer.records import JsonValue, Record, Trajectory
from orienteer.training.collection import MANIFEST as COLLECTION
from orienteer.training.collection import read_collection, trajectories
from orienteer.training.recipes import SftConfig
from orienteer.training.rows import Row, RowCount, learnt_texts, rows
from orienteer.training.student import MOULD, Student, open_student, source_of, torch

TRAINING, LOG, MODEL, SHOWN = "training.json", "log.jsonl", "model", "learnt.txt"
"""What the folder of a training holds: its conditions, a line for each step, the student, and what it learnt first."""
CARD = "card.json"
_CHECKPOINTS = "checkpoints"
_SHOWN_ROWS = 3
Progress = Callable[[str, int], None]


class Training(Record):
    """The conditions of a training, and what came of it."""

    version: Literal[1] = 1
    kind: Literal["sft", "grpo"]
    student: str
    collection_sha256: str
    agent: str
    """The method whose requests the student answers."""
    dialect: str
    settings: dict[str, JsonValue]
    rows: int = 0
    tokens: int = 0
    learnt: int = 0
    left_out: dict[str, int] = {}
    steps: int = 0
    seconds: float = 0.0
    loss: float | None = None
    is_complete: bool = False


def distil(
    collection: Path,
    folder: Path,
    student: str,
    config: SftConfig,
    *,
    progress: Progress = lambda stage, count: None,
) -> Training:
    """Train a student on a collection into a folder; an unfinished training there goes on from its last checkpoint.

    Raises `BadInput` where the collection, the student or the folder do not fit, `MissingExtra` without PyTorch.
    """
    manifest = read_collection(collection)
    pytorch = torch()
    folder.mkdir(parents=True, exist_ok=True)
    with locked(folder / ".lock", busy=f"another process is training in {folder}: wait for it, or name another"):
        chosen, held = _chosen(collection, config)
        if not chosen:
            raise BadInput(f"{collection} holds no trajectory to learn from: see its {COLLECTION}")
        dialects = {trajectory.dialect for trajectory in chosen}
        training = begin(
            folder,
            Training(
                kind="sft",
                student=str(source_of(student)),
                collection_sha256=hashlib.sha256((collection / COLLECTION).read_bytes()).hexdigest(),
                agent=manifest.agent,
                dialect=", ".join(sorted(dialects)),
                settings=json.loads(config.model_dump_json()),
            ),
        )
        if training.is_complete:
            return training
        opened = open_student(student, template=config.template)
        count = RowCount()
        learnt = list(rows(chosen, opened.tokenizer, max_length=config.max_length, count=count))
        checked = list(rows(held, opened.tokenizer, max_length=config.max_length))
        if not learnt:
            raise BadInput(f"no row fits {config.max_length} tokens: set a greater max_length")
        _show(folder / SHOWN, learnt, opened)
        progress("rows", count.rows)
        pytorch.manual_seed(config.random_seed)
        began = time.monotonic()
        trainer = _trainer(opened, folder, config, learnt, checked, progress)
        _train(trainer, folder)
        save(opened, trainer.model, folder, training)
        training = training.model_copy(
            update={
                "rows": count.rows,
                "tokens": count.tokens,
                "learnt": count.learnt,
                "left_out": count.left_out,
                "steps": trainer.state.global_step,
                "seconds": training.seconds + time.monotonic() - began,
                "loss": _last_loss(folder / LOG),
                "is_complete": True,
            }
        )
        write_whole(folder / TRAINING, training.model_dump_json(indent=1) + "\n")
    return training


def begin(folder: Path, training: Training) -> Training:
    """Write the conditions of a training, or return those that are there. Raises `BadInput` where they differ."""
    file = folder / TRAINING
    if not file.exists():
        if foreign := sorted(entry.name for entry in folder.iterdir() if not entry.name.startswith(".")):
            raise BadInput(f"{folder} holds {foreign[0]} and no training: name a folder that does not exist yet")
        write_whole(file, training.model_dump_json(indent=1) + "\n")
        return training
    try:
        there = Training.model_validate_json(file.read_bytes())
    except ValidationError as error:
        raise BadInput(f"{file} is no training of this version: train anew, in another folder") from error
    conditions = {"kind", "student", "collection_sha256", "settings"}
    old, new = there.model_dump(include=conditions), training.model_dump(include=conditions)
    if differs := [name for name in new if old[name] != new[name]]:
        raise BadInput(f"{folder} holds a training with other conditions ({', '.join(differs)}): train elsewhere")
    return there


def save(
    student: Student, model: Any, folder: Path, training: Training
) -> None:  # Any: a model of transformers or peft
    """Write the student, LoRA merged into it, with its tokenizer, its template and what it is for."""
    place = folder / MODEL
    merged = model.merge_and_unload() if hasattr(model, "merge_and_unload") else model
    merged.save_pretrained(place)
    student.tokenizer.save_pretrained(place)
    if student.mould is not None:
        write_whole(place / MOULD, f"{student.mould}\n")
    card = {"agent": training.agent, "dialect": training.dialect, "student": training.student, "kind": training.kind}
    write_whole(place / CARD, json.dumps(card, indent=1) + "\n")


def _chosen(collection: Path, config: SftConfig) -> tuple[list[Trajectory], list[Trajectory]]:
    """Return the trajectories that are learnt from, and those that are kept for validation, drawn by question."""
    by_question: defaultdict[tuple[str, str], list[Trajectory]] = defaultdict(list)
    for graph, trajectory in trajectories(collection, graphs=config.graphs):
        by_question[graph, trajectory.question.id].append(trajectory)
    chance = np.random.default_rng(config.random_seed)
    keys = [key for _, key in sorted(zip(chance.permutation(len(by_question)).tolist(), by_question, strict=True))]
    held, left = keys[: config.validation], keys[config.validation :]
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
    student: Student,
    folder: Path,
    config: SftConfig,
    learnt: Sequence[Row],
    checked: Sequence[Row],
    progress: Progress,
) -> Any:  # Any: TRL's trainer
    """Return TRL's trainer over rows that are tokens already, so that nothing is written or masked anew."""
    os.environ.setdefault("WANDB_MODE", "disabled")  # reports nothing anywhere
    import trl
    from datasets import Dataset
    from transformers import EarlyStoppingCallback

    pytorch = torch()
    has_gpu = pytorch.cuda.is_available()
    if not has_gpu:
        pytorch.set_num_threads(config.threads or max(1, (os.cpu_count() or 2) - 1))
    arguments = trl.SFTConfig(
        output_dir=str(folder / _CHECKPOINTS),
        num_train_epochs=config.epochs,
        max_steps=config.max_steps or -1,
        learning_rate=config.learning_rate,
        lr_scheduler_type=config.schedule,
        warmup_steps=config.warmup,
        per_device_train_batch_size=config.micro_batch,
        per_device_eval_batch_size=config.micro_batch,
        gradient_accumulation_steps=max(1, config.batch // config.micro_batch),
        train_sampling_strategy="group_by_length",
        max_length=None,
        packing=False,
        bf16=config.bf16,
        use_cpu=not has_gpu,
        gradient_checkpointing=has_gpu,
        logging_steps=1,
        save_strategy="steps",
        save_steps=config.save_steps,
        save_total_limit=2,
        eval_strategy="steps" if checked else "no",
        eval_steps=config.save_steps,
        load_best_model_at_end=bool(checked),
        metric_for_best_model="eval_loss" if checked else None,
        report_to=[],
        dataloader_pin_memory=has_gpu,
        disable_tqdm=True,
        seed=config.random_seed,
    )
    return trl.SFTTrainer(
        model=student.model,
        args=arguments,
        train_dataset=Dataset.from_list([row._asdict() for row in learnt]),
        eval_dataset=Dataset.from_list([row._asdict() for row in checked]) if checked else None,
        processing_class=student.tokenizer,
        peft_config=lora_of(config),
        callbacks=[step_log(folder / LOG, progress), *([EarlyStoppingCallback(2)] if checked else [])],
    )


def lora_of(config: Any) -> Any:  # Any: a config of this package; peft's
    """Return the settings of LoRA, None where all weights are trained."""
    if not config.lora:
        return None
    from peft import LoraConfig

    return LoraConfig(
        r=config.lora,
        lora_alpha=config.lora_alpha or 2 * config.lora,
        lora_dropout=config.lora_dropout,
        target_modules="all-linear",
        task_type="CAUSAL_LM",
    )


def step_log(file: Path, progress: Progress) -> Any:  # Any: a callback of transformers
    """Return a callback that writes a line for each step, and takes up the file where a training was cut off."""
    from transformers import TrainerCallback

    class StepLog(TrainerCallback):
        def __init__(self) -> None:
            self._began = time.monotonic()

        def on_train_begin(self, args: Any, state: Any, control: Any, **more: Any) -> None:
            mend(file)
            kept = [line for line in read_lines(file) if json.loads(line)["step"] <= state.global_step]
            write_whole(file, b"".join(kept).decode())
            self._began = time.monotonic()

        def on_log(self, args: Any, state: Any, control: Any, logs: Any = None, **more: Any) -> None:
            figures = {name: value for name, value in (logs or {}).items() if isinstance(value, int | float)}
            if "loss" in figures or "eval_loss" in figures or "reward" in figures:
                line = {"step": state.global_step, "seconds": round(time.monotonic() - self._began, 1), **figures}
                append_line(file, json.dumps(line))
                progress("steps", Count(state.global_step, of=state.max_steps))

    return StepLog()


def _train(trainer: Any, folder: Path) -> None:  # Any: TRL's trainer
    """Train from the last checkpoint that is whole, or from the beginning."""
    from transformers.trainer_utils import get_last_checkpoint

    place = folder / _CHECKPOINTS
    last = get_last_checkpoint(str(place)) if place.is_dir() else None
    try:
        trainer.train(resume_from_checkpoint=last)
    except OSError as error:
        raise _unsaved(folder, error.strerror or str(error)) from error
    except Exception as error:
        if type(error).__name__ == "SafetensorError":  # of a full disk: it has no class that can be imported
            raise _unsaved(folder, str(error)) from error
        raise


def _unsaved(folder: Path, reason: str) -> Error:
    return Error(
        f"the checkpoint could not be written ({reason}): make room and repeat the command, which goes on from the "
        f"last one in {folder / _CHECKPOINTS}"
    )


def _show(file: Path, learnt: Sequence[Row], student: Student) -> None:
    """Write what is learnt of the first rows, decoded from their labels: what a person should look at first."""
    blocks = []
    for number, row in enumerate(learnt[:_SHOWN_ROWS], 1):
        texts = "\n---\n".join(learnt_texts(row, student.tokenizer.decode))
        blocks.append(f"=== row {number}, {len(row.input_ids)} tokens; learnt of it:\n{texts}\n")
    write_whole(file, "\n".join(blocks))


def _last_loss(file: Path) -> float | None:
    losses = [line["loss"] for line in map(json.loads, read_lines(file)) if "loss" in line]
    return float(losses[-1]) if losses else None
