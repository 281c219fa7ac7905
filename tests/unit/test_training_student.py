"""Whose weights a student is read from, without the libraries that read them."""

from __future__ import annotations

import sys
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

from orienteer.lab.training import open_student


def test_folder_is_read_from_safetensors_alone(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A folder may be anyone's, and other weights are pickles."""
    asked = list[dict[str, Any]]()

    class Reader:
        chat_template, pad_token_id = "{{ messages }}", 0

        @classmethod
        def from_pretrained(cls, place: Path, **options: Any) -> Reader:
            asked.append(options)
            return cls()

    for name in ("torch", "transformers", "safetensors"):
        monkeypatch.setitem(sys.modules, name, ModuleType(name))
    torch, transformers, safetensors = (sys.modules[name] for name in ("torch", "transformers", "safetensors"))
    torch.float32 = "float32"  # type: ignore[attr-defined]
    for name in ("AutoModelForCausalLM", "AutoTokenizer", "GgufConfig"):
        setattr(transformers, name, Reader)
    quiet = ModuleType("quiet")
    quiet.set_verbosity_error = quiet.disable_progress_bar = lambda: None  # type: ignore[attr-defined]
    transformers.logging = transformers.utils = quiet  # type: ignore[attr-defined]
    quiet.logging = quiet  # type: ignore[attr-defined]
    safetensors.SafetensorError = type("SafetensorError", (Exception,), {})  # type: ignore[attr-defined]
    (tmp_path / "config.json").write_text("{}")
    open_student(str(tmp_path))
    assert [options.get("use_safetensors") for options in asked] == [None, True]
