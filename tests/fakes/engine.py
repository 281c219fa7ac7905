"""An engine for models in files that loads none: a package `xllamacpp` whose server is one that was started before."""

from __future__ import annotations

import contextlib
import json
import os
import struct
import sys
from pathlib import Path

import pytest

_ENGINE = """
import json
import os
from pathlib import Path
from types import SimpleNamespace

TOLD = os.open(Path(__file__).with_name("started"), os.O_WRONLY)  # the server may open nothing


class CommonParams:
    def __init__(self):
        self.model, self.cpuparams, self.cpuparams_batch = SimpleNamespace(), SimpleNamespace(), SimpleNamespace()


class Server:
    def __init__(self, wanted):
        if b"broken" in Path(wanted.model.path).read_bytes():
            raise RuntimeError("failed to load the model")
        told = {key: value for key, value in vars(wanted).items() if not isinstance(value, SimpleNamespace | set)}
        told |= {"path": wanted.model.path, "model_alias": sorted(wanted.model_alias)}
        told |= {"threads": [wanted.cpuparams.n_threads, wanted.cpuparams_batch.n_threads]}
        os.write(TOLD, json.dumps(told).encode() + b"\\n")
        self.listening_address = {address!r}
"""
_TRYING = """
import json
import os


class CommonParams:
    def __init__(self):
        self.model = self.cpuparams = self.cpuparams_batch = self


class Server:
    def __init__(self, wanted):
        done = dict()
        for name, function in ATTEMPTS.items():
            try:
                done[name] = repr(function(wanted))
            except (OSError, MemoryError, RuntimeError) as error:
                done[name] = type(error).__name__
        raise RuntimeError(json.dumps(done))


{attempts}
"""
_TEXT, _NUMBER = 8, 4
_TOLD: dict[Path, tuple[int, bytearray]] = {}


def install_engine(monkeypatch: pytest.MonkeyPatch, folder: Path, url: str) -> None:
    """Put such a package before any other, for this process and those that it starts; `started` tells what was."""
    folder.mkdir()
    os.mkfifo(folder / "started")
    _TOLD[folder] = (os.open(folder / "started", os.O_RDWR | os.O_NONBLOCK), bytearray())
    _install(monkeypatch, folder, _ENGINE.replace("{address!r}", repr(url.removesuffix("/v1"))))


def install_trying_engine(monkeypatch: pytest.MonkeyPatch, folder: Path, attempts: str) -> None:
    """Put an engine in its place that tries the functions of the table ATTEMPTS, and fails with what they return."""
    folder.mkdir()
    _install(monkeypatch, folder, _TRYING.replace("{attempts}", attempts))


def _install(monkeypatch: pytest.MonkeyPatch, folder: Path, program: str) -> None:
    (folder / "xllamacpp.py").write_text(program)
    monkeypatch.setitem(sys.modules, "xllamacpp", None)  # so that what stood there, or nothing, stands there again
    del sys.modules["xllamacpp"]
    monkeypatch.syspath_prepend(folder)
    others = [os.environ["PYTHONPATH"]] if os.environ.get("PYTHONPATH") else []
    monkeypatch.setenv("PYTHONPATH", os.pathsep.join([str(folder), *others]))
    monkeypatch.setattr(sys, "dont_write_bytecode", True)


def started(folder: Path) -> list[dict[str, object]]:
    """Return what the engine of a folder was started with, one after another."""
    pipe, told = _TOLD[folder]
    with contextlib.suppress(BlockingIOError):
        told += os.read(pipe, 1 << 16)
    return [json.loads(line) for line in told.splitlines()]


def write_gguf(path: Path, *, context: int = 4096, tail: bytes = b"") -> Path:
    """Write the head of a model: a list and a number that nobody asks for stand before what is asked for."""
    entries = [
        entry("general.quantization_version", _NUMBER, struct.pack("<I", 2)),
        entry("tokenizer.ggml.tokens", 9, struct.pack("<IQ", _TEXT, 2) + text("a") + text("b")),
        entry("tokenizer.ggml.scores", 9, struct.pack("<IQ", 6, 2) + struct.pack("<ff", 0.5, 1.5)),
        entry("general.architecture", _TEXT, text("llama")),
        entry("llama.context_length", _NUMBER, struct.pack("<I", context)),
    ]
    path.write_bytes(b"GGUF" + struct.pack("<IQQ", 3, 0, len(entries)) + b"".join(entries) + tail)
    return path


def entry(key: str, kind: int, value: bytes) -> bytes:
    """Return a key with its value, as the format has them."""
    return text(key) + struct.pack("<I", kind) + value


def text(words: str) -> bytes:
    """Return a text as the format has it."""
    written = words.encode()
    return struct.pack("<Q", len(written)) + written
