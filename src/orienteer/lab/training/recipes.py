"""Recipes: how a student is trained, as TOML files; those of the papers in `recipes/` name each figure's section."""

from __future__ import annotations

import tomllib
from collections.abc import Mapping
from importlib.resources import files
from pathlib import Path
from typing import Literal, Self, TypeVar

from pydantic import Field, model_validator

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
        """Return how many rows a step takes."""
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
    """Questions whose trajectories are kept for validation; training stops when their loss has risen twice."""
    graphs: tuple[str, ...] = ()
    """Graphs of the collection that are learnt from; all where none is named."""
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
    """What samples them; auto takes vLLM where it is installed beside a GPU, and the student is a folder."""
    vllm_memory: float = Field(default=0.3, gt=0, lt=1)
    """Share of the GPU's memory that vLLM takes."""
    clip_low: float = Field(default=0.20, ge=0)
    """How far a ratio of probabilities may fall below 1."""
    clip_high: float = Field(default=0.28, ge=0)
    """How far it may rise above 1."""
    kl: float = Field(default=1e-4, ge=0)
    """Weight of the divergence from the student that training began with."""
    reward: Literal["paper", "strict", "nodes"] = "paper"
    """The reward (docs/evaluation.md); `nodes` is for agents whose answer is a set of nodes."""
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
        """Return how many episodes a step takes."""
        return self.batch * self.group

    patience: int = Field(default=20, ge=0)
    """Steps that a collapse lasts before training ends: rewards under half of the best so far; 0 never ends it."""


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
