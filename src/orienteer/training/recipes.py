"""Recipes: how a student is trained, as TOML files; those of the papers are in `recipes/`, each figure with its section."""

from __future__ import annotations

import tomllib
from collections.abc import Mapping
from importlib.resources import files
from pathlib import Path
from typing import Literal, TypeVar

from pydantic import Field

from orienteer.errors import BadInput, BadOption
from orienteer.options import Options

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


class SftConfig(StudentConfig):
    """Distillation (ARK, 001, section 4.3 and appendix A.2)."""

    epochs: float = Field(default=1.0, gt=0)
    """Times that all rows are read."""
    max_length: int = Field(default=2048, ge=16)
    """Tokens of a row; turns beyond are left out."""
    validation: int = Field(default=0, ge=0)
    """Questions whose trajectories are kept for validation; training stops when their loss has risen twice."""
    graphs: tuple[str, ...] = ()
    """Graphs of the collection that are learnt from; all where none is named."""
    questions: int = Field(default=0, ge=0)
    """Questions of each graph that are learnt from, drawn with the seed; 0 for all."""
    samples: int = Field(default=0, ge=0)
    """Trajectories of each question; 0 for all."""


def read_recipe(kind: type[Chosen], recipe: str | None, options: Mapping[str, str]) -> Chosen:
    """Return the settings of a recipe, a file or the name of one that comes along, with options set over it.

    Raises `BadInput` for a file that cannot be read, `BadOption` for a setting that there is not.
    """
    values: dict[str, object] = {}
    if recipe is not None:
        own = {file.name.removesuffix(SUFFIX): file for file in files(__package__).joinpath("recipes").iterdir()}
        path = Path(recipe)
        if not path.exists() and recipe not in own:
            raise BadOption(f"there is no recipe {recipe!r}: name a TOML file, or one of {', '.join(sorted(own))}")
        try:
            text = path.read_text(encoding="utf-8") if path.exists() else own[recipe].read_text(encoding="utf-8")
            values = dict(tomllib.loads(text))
        except (OSError, UnicodeDecodeError, tomllib.TOMLDecodeError) as error:
            raise BadInput(f"the recipe {recipe} cannot be read: {error}") from error
    values.pop("about", None)
    return kind.read({**values, **options})
